"""Kernels for sets and strings."""

import math
import numbers
import sys

import numpy as np
import scipy.sparse as sp
from sklearn.gaussian_process.kernels import Hyperparameter

from sklearn_sl.kernels._base import Kernel, gram
from sklearn_sl.kernels._strings import (
    LANES,
    count_distances,
    instruction_sets,
    sweep_subsequences,
)

# One call of compiled code does about this many elementary steps (a multiply-add of a vectorised
# loop): 5 ms as a rule, and never so long that Ctrl-C has to wait.
SLICE_STEPS = 2**26
# The entry of a sparse product costs as much as so many of a dense one.
SPARSE_COST = 32
# The widest table of counts that a tile makes dense, and of k-mers that are compared pairwise.
DENSE_FEATURES = 2**13
FEW_WINDOWS = 2**11
# Letters are code points: no negative number is one, nor equal to the other.
LEFT_PADDING, RIGHT_PADDING = -1.0, -2.0


class _Structured(Kernel):
    """A kernel that writes itself as its parameters, without their bounds."""

    def __repr__(self):
        params = self.get_params().items()
        text = ", ".join(f"{k}={_short(v)}" for k, v in params if not k.endswith("_bounds"))
        return f"{type(self).__name__}({text})"


def _short(value):
    return f"{value:.3g}" if isinstance(value, float) else repr(value)


def _check_whole(kernel, name, smallest):
    """Raise unless a parameter is a whole number, at least ``smallest``."""
    value = getattr(kernel, name)
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or value < smallest:
        raise ValueError(
            f"{type(kernel).__name__}: {name} must be an integer >= {smallest}, got {value!r}."
        )


def _check_real(kernel, name, valid, interval):
    """Raise unless a parameter is a number for which ``valid`` holds."""
    value = getattr(kernel, name)
    if not isinstance(value, numbers.Real) or not valid(value):
        raise ValueError(
            f"{type(kernel).__name__}: {name} must be a number in {interval}, got {value!r}."
        )


def _items(X, items):
    """Return the samples of a sequence, a column or a 1-D array as a list."""
    if isinstance(X, str | bytes):
        raise TypeError(f"X is a single {type(X).__name__}: pass a list of {items}, such as [X].")
    if isinstance(X, set | frozenset | dict) or sp.issparse(X) or not hasattr(X, "__len__"):
        raise TypeError(f"X must be a sequence of {items}, got {type(X).__name__}.")
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape) != 1:
        X = _column(X, shape, items)
    if len(X) == 0:
        raise ValueError(f"X has 0 samples: at least one of the {items} is needed.")
    return X.tolist() if hasattr(X, "tolist") else list(X)


def _column(X, shape, items):
    """Return the one column of a table."""
    if len(shape) != 2 or shape[1] != 1:
        raise ValueError(
            f"X has the shape {tuple(shape)}: pass a sequence of {items}, or a table of one column."
        )
    return np.asarray(X).ravel()


# ----------------------------------------------------------------------------- counts


def _inner_products(A, B):
    """Return ``fill(rows, cols, out)`` that writes ``A[rows] B[cols]'`` for CSR matrices.

    By a sparse product or by GEMM, whichever has less to do.
    """
    n_features = A.shape[1]
    occurrences = [np.bincount(M.indices, minlength=n_features).astype(float) for M in (A, B)]
    shared = occurrences[0] @ occurrences[1]
    dense_work = float(A.shape[0]) * B.shape[0] * n_features
    dense = n_features <= DENSE_FEATURES and SPARSE_COST * shared > dense_work
    row_work = n_features if dense else SPARSE_COST * shared / (A.shape[0] * B.shape[0])

    def fill(rows, cols, out):
        right = B[cols].toarray().T if dense else B[cols].T.tocsr()
        for part in _parts(rows, row_work * (cols.stop - cols.start)):
            place = slice(part.start - rows.start, part.stop - rows.start)
            product = A[part] @ right if not dense else A[part].toarray() @ right
            out[place] = product if dense else product.toarray()

    return fill


def _parts(rows, work):
    """Return slices of ``rows`` of about ``SLICE_STEPS`` steps, where a row takes ``work``."""
    step = int(np.clip(SLICE_STEPS // (work + 1), 1, 512))
    return [
        slice(start, min(start + step, rows.stop)) for start in range(rows.start, rows.stop, step)
    ]


# ------------------------------------------------------------------------------- sets


class SetList:
    """Sets, encoded: the elements by number in ``names``, and an indicator matrix."""

    def __init__(self, names, indicator):
        self.names = names
        self.indicator = indicator

    def __len__(self):
        return self.indicator.shape[0]

    def columns(self, names):
        """Return the indicator with the columns numbered by ``names``; others are dropped."""
        if names is self.names:
            return self.indicator
        number = np.array([names.get(name, -1) for name in self.names], dtype=np.int64)
        theirs = np.flatnonzero(number >= 0)
        entries = self.indicator[:, theirs].tocoo()
        return sp.csr_array(
            (entries.data, (entries.row, number[theirs][entries.col])),
            shape=(len(self), len(names)),
        )


def encode_sets(X):
    """Return a sequence of sets, encoded, or say what is wrong with it.

    Parameters
    ----------
    X : sequence of sets or of iterables of hashables, or SetList
        The sets.

    Returns
    -------
    encoded : SetList
        The sets, encoded.
    """
    if isinstance(X, SetList):
        return X
    names, columns, ends = {}, [], [0]
    for position, item in enumerate(_items(X, "sets")):
        columns.extend(names.setdefault(name, len(names)) for name in _as_set(item, position))
        ends.append(len(columns))
    if any(name != name for name in names):
        raise ValueError("X has a set that contains nan, which equals nothing: drop it.")
    shape = (len(ends) - 1, len(names))
    return SetList(names, sp.csr_array((np.ones(len(columns)), columns, ends), shape=shape))


def _as_set(item, position):
    if isinstance(item, str | bytes):
        raise TypeError(
            f"X[{position}] is a {type(item).__name__}, not a set: for strings use Spectrum, "
            "GapWeighted or Mismatch; set(x) is the set of the letters of x."
        )
    try:
        return item if isinstance(item, set | frozenset) else dict.fromkeys(item)
    except TypeError as error:
        raise TypeError(
            f"X[{position}] is {item!r}: SetIntersection needs sets of hashable elements; drop or "
            "fill missing values."
        ) from error


class SetIntersection(_Structured):
    """The number of common subsets of two sets, ``K(A, B) = base**|A n B|``.

    With ``base = 2`` it is the inner product of the features ``phi_C(A) = [C is a
    subset of A]`` over all sets C. In general a common subset C counts
    ``(base - 1)**|C|``, so the kernel is valid for ``base >= 1``. ``base=None``
    gives the number of common elements, ``K(A, B) = |A n B|``.

    Parameters
    ----------
    base : float or None, default=2.0
        The base, at least 1.

    base_bounds : pair of floats > 0 or "fixed", default=(1.001, 1e3)
        The range in which a Gaussian process may choose ``base``.

    Examples
    --------
    >>> from sklearn_sl.kernels import SetIntersection
    >>> baskets = [{"bread", "milk"}, {"bread", "milk", "tea"}, {"tea"}]
    >>> SetIntersection()(baskets)
    array([[4., 4., 1.],
           [4., 8., 2.],
           [1., 2., 2.]])
    """

    input_kind = "sets"

    def __init__(self, base=2.0, base_bounds=(1.001, 1e3)):
        self.base = base
        self.base_bounds = base_bounds

    @property
    def hyperparameter_base(self):
        """The base; there is none to choose if it is ``None``."""
        bounds = "fixed" if self.base is None else self.base_bounds
        return Hyperparameter("base", "numeric", bounds)

    def _inputs(self, X):
        return encode_sets(X)

    def _tiles(self, X, Y):
        self._check()
        count = _inner_products(X.indicator, Y.columns(X.names))

        def fill(rows, cols, out):
            count(rows, cols, out)
            self._raise_base(out)

        return fill

    def _diagonal(self, X):
        self._check()
        sizes = np.diff(X.indicator.indptr).astype(np.float64)
        self._raise_base(sizes)
        return sizes

    def _gradient(self, X, K):
        if not self.n_dims:
            return np.empty((*K.shape, 0))
        common = gram(SetIntersection(base=None), X, encoded=True)
        return (common * K)[:, :, None]

    def _check(self):
        if self.base is not None:
            _check_real(self, "base", lambda base: 1 <= base < np.inf, "[1, inf) or None")

    def _raise_base(self, counts):
        """Turn sizes of intersections into kernel values, in place."""
        if self.base is None or not counts.size:
            return
        largest = counts.max()
        if largest * np.log(self.base) >= np.log(np.finfo(np.float64).max):
            raise ValueError(
                f"SetIntersection: two sets share {largest:.0f} elements, and "
                f"{self.base:g}**{largest:.0f} overflows; choose a base nearer to 1, or base=None."
            )
        np.power(float(self.base), counts, out=counts)


# ---------------------------------------------------------------------------- strings


class StringList:
    """Strings, encoded: the code points of all of them, and where each begins and ends."""

    def __init__(self, kind, codes, offsets):
        self.kind = kind
        self.codes = codes
        self.offsets = offsets
        self.lengths = np.diff(offsets)

    def __len__(self):
        return len(self.lengths)

    def letters(self, row):
        """Return the code points of one string."""
        return self.codes[self.offsets[row] : self.offsets[row + 1]]


def encode_strings(X):
    """Return a sequence of strings, encoded, or say what is wrong with it.

    Parameters
    ----------
    X : sequence of str, sequence of bytes or StringList
        The strings.

    Returns
    -------
    encoded : StringList
        The strings, encoded.
    """
    if isinstance(X, StringList):
        return X
    strings = _items(X, "strings")
    kind = bytes if isinstance(strings[0], bytes) else str
    for position, string in enumerate(strings):
        if not isinstance(string, kind):
            raise TypeError(_not_a_string(string, position, kind))
    # UTF-32 has one number per letter; a lone surrogate is a letter like any other.
    joined = kind().join(strings)
    if kind is str:
        codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<i4")
    else:
        codes = np.frombuffer(joined, dtype=np.uint8)
    offsets = np.cumsum([0, *map(len, strings)], dtype=np.int64)
    return StringList(kind, codes.astype(np.int32), offsets)


def _not_a_string(value, position, kind):
    if isinstance(value, str | bytes):
        return (
            f"X mixes str and bytes: X[{position}] is {type(value).__name__}, X[0] is not; decode "
            "the bytes."
        )
    return (
        f"X[{position}] is {value!r} ({type(value).__name__}): string kernels need {kind.__name__};"
        " drop or fill missing values."
    )


class _StringKernel(_Structured):
    """A kernel that compares strings; ``_fill(X, Y)`` is the hook for its tiles."""

    input_kind = "strings"

    def _inputs(self, X):
        return encode_strings(X)

    def _tiles(self, X, Y):
        if X.kind is not Y.kind:
            raise TypeError("X and Y mix str and bytes: decode the bytes.")
        return self._fill(X, Y)


def _windows(strings, width):
    """Return the windows of all strings: the row of each, and where it begins in the codes."""
    per_row = np.maximum(strings.lengths - width + 1, 0)
    rows = np.repeat(np.arange(len(strings)), per_row)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(per_row) - per_row, per_row)
    return rows, strings.offsets[rows] + within


def _window_counts(X, Y, width):
    """Return how often each window occurs in each string of X and Y, and the windows.

    The counts are two CSR matrices over the same columns, a column for each
    distinct window of ``width`` letters; the windows are a matrix of letters.
    """
    parts = [X] if Y is X else [X, Y]
    codes = np.concatenate([part.codes for part in parts])
    located = [_windows(part, width) for part in parts]
    shifts = np.cumsum([0] + [len(part.codes) for part in parts])
    starts = np.concatenate([start + shift for (_, start), shift in zip(located, shifts)])
    places, columns = _number_windows(codes, starts, width)
    ends = np.cumsum([len(rows) for rows, _ in located])[:-1]
    counts = [
        sp.csr_array((np.ones(len(rows)), (rows, column)), shape=(len(part), len(places)))
        for part, (rows, _), column in zip(parts, located, np.split(columns, ends))
    ]
    return counts[0], counts[-1], codes[places[:, None] + np.arange(width)]


def _number_windows(codes, starts, width):
    """Return where each distinct window begins, at one of its places, and every window's number."""
    size, letters = _compact(codes, sys.maxunicode + 1)
    ranks, bound = np.zeros(len(starts), dtype=np.int64), 1
    for shift in range(width):
        # A number for the first letters of a window, in base `size`, renewed before it overflows.
        if bound > np.iinfo(np.int64).max // max(size, 1):
            bound, ranks = _compact(ranks, bound)
        ranks = ranks * size + letters[starts + shift]
        bound *= size
    n_distinct, ranks = _compact(ranks, bound)
    places = np.empty(n_distinct, dtype=np.int64)
    places[ranks] = starts
    return places, ranks


def _compact(values, bound):
    """Return how many distinct ``values`` in [0, bound) there are, and their ranks."""
    if bound <= 4 * len(values):
        present = np.zeros(bound, dtype=bool)
        present[values] = True
        return int(present.sum()), (np.cumsum(present) - 1)[values]
    order = np.argsort(values)
    ascending = values[order]
    steps = np.cumsum(ascending[1:] != ascending[:-1])
    ranks = np.zeros(len(values), dtype=np.int64)
    ranks[order[1:]] = steps
    return (int(steps[-1]) + 1 if len(steps) else len(values)), ranks


class Spectrum(_StringKernel):
    """The spectrum kernel: the substrings of length ``p`` that two strings share.

    ``K(s, t) = sum_u c_u(s) c_u(t)``, where ``c_u(s)`` counts how often the string
    u of length p occurs in s. A string shorter than p shares nothing.

    Parameters
    ----------
    p : int, default=3
        The length of the substrings.

    Examples
    --------
    >>> from sklearn_sl.kernels import Spectrum
    >>> Spectrum(p=2)(["ACGT"], ["CGTA", "CGCG", "A"])
    array([[2., 2., 0.]])
    """

    def __init__(self, p=3):
        self.p = p

    def _fill(self, X, Y):
        _check_whole(self, "p", 1)
        left, right, _ = _window_counts(X, Y, self.p)
        return _inner_products(left, right)

    def _diagonal(self, X):
        _check_whole(self, "p", 1)
        counts, _, _ = _window_counts(X, X, self.p)
        return counts.power(2).sum(axis=1)


class Mismatch(_StringKernel):
    """The mismatch kernel: substrings of length ``k``, up to ``m`` wrong letters.

    ``K(s, t) = sum_u c_u(s) c_u(t)`` over all strings u of length k of an
    alphabet, where ``c_u(s)`` counts the windows of s that differ from u in at
    most m letters. It is computed as the sum of ``N(d(v, w))`` over the windows v
    of s and w of t: d is their Hamming distance, and N(d) the number of strings
    u within m of both.

    Parameters
    ----------
    k : int, default=3
        The length of the substrings.

    m : int, default=1
        The number of mismatches that are forgiven, at most ``k``.

    alphabet_size : int, default=4
        The number of letters of the alphabet: 4 for DNA, 20 for proteins.

    Examples
    --------
    >>> from sklearn_sl.kernels import Mismatch
    >>> Mismatch(k=2, m=1, alphabet_size=4)(["AC"], ["AC", "AG", "GT"])
    array([[7., 4., 2.]])
    """

    def __init__(self, k=3, m=1, alphabet_size=4):
        self.k = k
        self.m = m
        self.alphabet_size = alphabet_size

    def _fill(self, X, Y):
        neighbours = self._neighbours(X, Y)
        n_pairs = len(X.codes) * len(Y.codes)
        left, right, windows = _window_counts(X, Y, self.k)
        if len(windows) <= FEW_WINDOWS and len(windows) ** 2 <= n_pairs:
            return _weighted_products(left, right, neighbours[_distances(windows)])
        return _distance_sums(X, Y, self.k, neighbours)

    def _diagonal(self, X):
        fill = _distance_sums(X, X, self.k, self._neighbours(X, X))
        diagonal = np.empty(len(X))
        for row in range(len(X)):
            fill(slice(row, row + 1), slice(row, row + 1), diagonal[None, row : row + 1])
        return diagonal

    def _neighbours(self, X, Y):
        """Return ``N(d)`` for d = 0..k, once the parameters fit the strings."""
        _check_whole(self, "k", 1)
        _check_whole(self, "m", 0)
        _check_whole(self, "alphabet_size", 1)
        if self.m > self.k:
            raise ValueError(f"Mismatch: m must be at most k, got m={self.m} and k={self.k}.")
        n_letters = len(np.union1d(X.codes, Y.codes))
        if n_letters > self.alphabet_size:
            raise ValueError(
                f"Mismatch: the strings have {n_letters} distinct letters, more than "
                f"alphabet_size={self.alphabet_size}; set alphabet_size to the size of the "
                f"alphabet, at least {n_letters}."
            )
        k, m, size = self.k, self.m, self.alphabet_size
        return np.array([_common_neighbours(k, m, size, d) for d in range(k + 1)], dtype=float)


def _common_neighbours(k, m, size, distance):
    """Return how many strings of length k differ in at most m letters from both of two strings.

    Where the two agree, ``wrong`` letters differ from both. Where they do not,
    ``first`` letters are those of the first, ``second`` those of the second, and
    the rest neither.
    """
    total = 0
    for wrong in range(min(m, k - distance) + 1):
        agreeing = math.comb(k - distance, wrong) * (size - 1) ** wrong
        fewest = max(0, distance + wrong - m)
        for first in range(fewest, distance + 1):
            for second in range(fewest, distance - first + 1):
                rest = distance - first - second
                ways = math.comb(distance, first) * math.comb(distance - first, second)
                total += agreeing * ways * max(size - 2, 0) ** rest
    return total


def _distances(windows):
    """Return the Hamming distances between the rows of a matrix of letters."""
    distances = np.zeros((len(windows), len(windows)), dtype=np.intp)
    for column in windows.T:
        distances += column[:, None] != column
    return distances


def _weighted_products(left, right, weights):
    """Return ``fill(rows, cols, out)`` that writes ``left[rows] weights right[cols]'``."""

    def fill(rows, cols, out):
        others = right[cols]
        for part in _parts(rows, left.nnz / left.shape[0] * len(weights) + others.nnz):
            product = others @ (left[part] @ weights).T
            out[part.start - rows.start : part.stop - rows.start] = product.T

    return fill


def _distance_sums(X, Y, k, weights):
    """Return ``fill(rows, cols, out)`` that sums ``weights[d]`` over all pairs of windows."""
    close = np.trim_zeros(weights, "b")
    distances = np.empty((2, max(Y.lengths.max(initial=0), 1)), dtype=np.int32)

    def fill(rows, cols, out):
        symmetric = Y is X and rows == cols
        for row in range(rows.start, rows.stop):
            first = row if symmetric else cols.start
            counts = np.zeros((cols.stop - first, len(close)), dtype=np.int64)
            n_letters = Y.offsets[cols.stop] - Y.offsets[first]
            begin, end = X.offsets[row], X.offsets[row + 1] - k + 1
            step = int(max(1, SLICE_STEPS // (len(close) * (n_letters + 1))))
            for start in range(begin, end, step):
                stop = min(start + step, end)
                count_distances(
                    X.codes, start, stop, Y.codes, Y.offsets, first, cols.stop, k, distances, counts
                )
            out[row - rows.start, first - cols.start :] = counts @ close
        if symmetric:
            _mirror(out)

    return fill


def _mirror(square):
    """Copy the upper triangle of a matrix to the lower."""
    lower = np.tril_indices(len(square), -1)
    square[lower] = square.T[lower]


class GapWeighted(_StringKernel):
    """The gap-weighted subsequence kernel: common subsequences, gaps at a price.

    ``K(s, t) = sum_u sum_{i: u = s[i]} sum_{j: u = t[j]} decay**(l(i) + l(j))`` over
    all strings u of length p, where i runs over the places of u as a subsequence
    of s, and l(i) is the length of its span in s, gaps included. A dynamic
    programme computes it in ``O(p |s| |t|)``.

    Parameters
    ----------
    p : int, default=2
        The length of the subsequences.

    decay : float, default=0.5
        The price of a letter spanned, in (0, 1]; at 1 gaps are free.

    decay_bounds : pair of floats > 0 or "fixed", default=(1e-3, 1.0)
        The range in which a Gaussian process may choose ``decay``.

    References
    ----------
    J. Shawe-Taylor and N. Cristianini, Kernel Methods for Pattern Analysis,
    Cambridge University Press, 2004, chapter 11.

    Examples
    --------
    >>> from sklearn_sl.kernels import GapWeighted
    >>> GapWeighted(p=2, decay=0.5)(["cat"], ["cat", "car", "bat"])
    array([[0.140625, 0.0625  , 0.0625  ]])
    """

    def __init__(self, p=2, decay=0.5, decay_bounds=(1e-3, 1.0)):
        self.p = p
        self.decay = decay
        self.decay_bounds = decay_bounds

    @property
    def hyperparameter_decay(self):
        """The decay."""
        return Hyperparameter("decay", "numeric", self.decay_bounds)

    def _fill(self, X, Y):
        self._check()

        def fill(rows, cols, out):
            out[...] = self._compare(X, Y, rows, cols)[0]

        return fill

    def _diagonal(self, X):
        self._check()
        order = np.argsort(X.lengths, kind="stable")
        batches = [order[start : start + LANES] for start in range(0, len(order), LANES)]
        diagonal = np.empty(len(X))
        for batch in batches:
            left = _interleave(X, batch, LEFT_PADDING)
            right = _interleave(X, batch, RIGHT_PADDING)
            values = np.zeros((1, 1, LANES))
            self._sweep(left, np.array([0, len(left)]), right, values)
            diagonal[batch] = values[0, 0, : len(batch)]
        return self.decay ** (2 * self.p) * diagonal

    def _gradient(self, X, K):
        if not self.n_dims:
            return np.empty((*K.shape, 0))
        everything = slice(0, len(X))
        return self._compare(X, X, everything, everything, slope=True)[1][:, :, None]

    def _check(self):
        _check_whole(self, "p", 1)
        _check_real(self, "decay", lambda decay: 0 < decay <= 1, "(0, 1]")

    def _compare(self, X, Y, rows, cols, slope=False):
        """Return the kernel of two slices, and on request its derivative in ``log(decay)``."""
        symmetric = Y is X and rows == cols
        # Strings of like length are compared side by side: little is lost to padding.
        row_order = rows.start + np.argsort(X.lengths[rows], kind="stable")
        col_order = cols.start + np.argsort(Y.lengths[cols], kind="stable")
        left, offsets = _concatenate(X, row_order)
        sums = np.zeros((1 + slope, len(row_order), len(col_order)))
        for start in range(0, len(col_order), LANES):
            batch = col_order[start : start + LANES]
            n_rows = min(start + LANES, len(row_order)) if symmetric else len(row_order)
            values = np.zeros((n_rows, 1 + slope, LANES))
            right = _interleave(Y, batch, RIGHT_PADDING)
            self._sweep(left, offsets[: n_rows + 1], right, values)
            block = values[:, :, : len(batch)].transpose(1, 0, 2)
            sums[:, :n_rows, start : start + LANES] = block
        result = np.empty_like(sums)
        result[:, (row_order - rows.start)[:, None], col_order - cols.start] = self._scaled(
            sums, symmetric
        )
        return result

    def _scaled(self, sums, symmetric):
        """Return the kernel, ``decay**2p`` times the sums, and its derivative."""
        if symmetric:
            for square in sums:
                _mirror(square)
        sums[1:] += 2 * self.p * sums[0]
        return self.decay ** (2 * self.p) * sums

    def _sweep(self, left, offsets, right, values):
        """Add the sums of the strings of ``left`` to ``values``, a slice at a time."""
        n_numbers = values.shape[1]
        state = _aligned(max(n_numbers * len(right) * (self.p - 1), 1) * LANES)
        scratch = _aligned(4 * self.p * LANES)
        step = 2 * max(1, SLICE_STEPS // (2 * LANES * n_numbers**2 * self.p * (len(right) + 1)))
        row = 0
        for start in range(0, offsets[-1], step):
            row = sweep_subsequences(
                left,
                offsets,
                row,
                start,
                min(start + step, offsets[-1]),
                right,
                self.p,
                self.decay,
                n_numbers == 2,
                instruction_sets(),
                state,
                scratch,
                values,
            )


def _concatenate(strings, order):
    """Return the letters of strings one after the other, each padded to an even length."""
    lengths = strings.lengths[order]
    offsets = np.concatenate([[0], np.cumsum(lengths + lengths % 2)])
    letters = np.full((offsets[-1], 1), LEFT_PADDING)
    for row, start, length in zip(order, offsets, lengths):
        letters[start : start + length, 0] = strings.letters(row)
    return letters, offsets


def _interleave(strings, batch, padding):
    """Return up to LANES strings side by side, padded to the same, even length."""
    longest = strings.lengths[batch].max(initial=0)
    letters = _aligned((longest + longest % 2) * LANES).reshape(-1, LANES)
    letters[...] = padding
    for lane, row in enumerate(batch):
        letters[: strings.lengths[row], lane] = strings.letters(row)
    return letters


def _aligned(size):
    """Return ``size`` numbers at the start of a cache line, so that no vector crosses one."""
    buffer = np.empty(size + LANES)
    shift = -buffer.ctypes.data % 64 // buffer.itemsize
    return buffer[shift : shift + size]
