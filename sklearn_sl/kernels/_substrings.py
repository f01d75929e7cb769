"""Kernels for strings that compare their substrings: spectrum and mismatch."""

from __future__ import annotations

import math
import sys

import numpy as np
import scipy.sparse as sp

from sklearn_sl.kernels import _structured
from sklearn_sl.kernels._strings import count_distances
from sklearn_sl.kernels._structured import (
    StructuredKernel,
    check_whole,
    inner_products,
    mirror,
    parts_of,
    samples_of,
)

# The most distinct k-mers that are compared pairwise.
FEW_WINDOWS = 2**11


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
    strings = samples_of(X, "strings")
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
            f"X must be all str or all bytes; got X[{position}] of type "
            f"{type(value).__name__}. Decode the bytes."
        )
    return (
        f"X[{position}] must be a {kind.__name__} for string kernels; got {value!r} of "
        f"type {type(value).__name__}. Remove or impute missing values."
    )


class StringKernel(StructuredKernel):
    """A kernel that compares strings; ``_fill(X, Y)`` is the hook for its tiles."""

    input_kind = "strings"

    def _inputs(self, X):
        return encode_strings(X)

    def _tiles(self, X, Y):
        if X.kind is not Y.kind:
            raise TypeError("X and Y must be all str or all bytes: decode the bytes.")
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


class Spectrum(StringKernel):
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

    def __init__(self, p: int = 3) -> None:
        self.p = p

    def _fill(self, X, Y):
        check_whole(self, "p", 1)
        left, right, _ = _window_counts(X, Y, self.p)
        return inner_products(left, right)

    def _diagonal(self, X):
        check_whole(self, "p", 1)
        counts, _, _ = _window_counts(X, X, self.p)
        return counts.power(2).sum(axis=1)


class Mismatch(StringKernel):
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

    def __init__(self, k: int = 3, m: int = 1, alphabet_size: int = 4) -> None:
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
        check_whole(self, "k", 1)
        check_whole(self, "m", 0)
        check_whole(self, "alphabet_size", 1)
        if self.m > self.k:
            raise ValueError(f"m must be at most k in Mismatch; got m={self.m} and k={self.k}.")
        n_letters = len(np.union1d(X.codes, Y.codes))
        if n_letters > self.alphabet_size:
            raise ValueError(
                f"alphabet_size of Mismatch must be at least {n_letters}, the number of "
                f"distinct letters in X; got {self.alphabet_size}."
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
        for part in parts_of(rows, left.nnz / left.shape[0] * len(weights) + others.nnz):
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
            step = int(max(1, _structured.SLICE_STEPS // (len(close) * (n_letters + 1))))
            for start in range(begin, end, step):
                stop = min(start + step, end)
                count_distances(
                    X.codes, start, stop, Y.codes, Y.offsets, first, cols.stop, k, distances, counts
                )
            out[row - rows.start, first - cols.start :] = counts @ close
        if symmetric:
            mirror(out)

    return fill
