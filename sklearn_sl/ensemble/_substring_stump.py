"""Weak learners for strings: whether a string occurs in another one."""

from __future__ import annotations

import bisect
import functools
import itertools
import math
import typing
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, maximum_flow
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from sklearn_sl._sklearn import StrOptions, check_sample_weight, fit_context
from sklearn_sl.base import EstimatorMixin, read_labels
from sklearn_sl.ensemble._paragraphs import inserted
from sklearn_sl.kernels._structured import samples_of

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

# Weights are rounded to integers whose sum has so many bits: all sums of them are exact.
WEIGHT_BITS = 50
# The largest capacity and flow that SciPy's maximum flow can hold.
FLOW_BITS = 31


# ---------------------------------------------------------------- strings and their order


def read_strings(X):
    """Return a sequence or a column of strings as a list, or say what is wrong with it."""
    strings = samples_of(X, "strings")
    for position, string in enumerate(strings):
        if isinstance(string, bytes):
            raise TypeError(f"X must be strings, but X[{position}] is bytes: decode it.")
        if not isinstance(string, str):
            raise TypeError(
                f"X must be strings, but X[{position}] is {string!r} ({type(string).__name__}): "
                "drop or fill missing values."
            )
    # Of subclasses, such as np.str_ or an Enum, the text alone.
    return list(map(str.__str__, strings))


def unused_letter(strings):
    """Return a letter that occurs in none of the strings."""
    letters = set().union(*strings)
    return next(letter for letter in map(chr, itertools.count()) if letter not in letters)


def containment(strings):
    """Return which string contains which: a sparse matrix with a one at ``(z, x)`` if x is in z.

    Every string is searched for in one text of all longer ones, from the end of
    one hit's string to the next hit.

    Parameters
    ----------
    strings : sequence of str
        Distinct strings, shortest first.

    Returns
    -------
    contains : csr_array of shape (n_strings, n_strings)
        Ones and zeros; each string contains itself.
    """
    n = len(strings)
    lengths = [len(string) for string in strings]
    starts = [0, *itertools.accumulate(length + 1 for length in lengths)]
    text = unused_letter(strings).join(strings)
    above, below = list(range(n)), list(range(n))
    for x, string in enumerate(strings):
        z = bisect.bisect_right(lengths, lengths[x])
        while z < n and (place := text.find(string, starts[z])) >= 0:
            z = bisect.bisect_right(starts, place)
            above.append(z - 1)
            below.append(x)
    return sp.csr_array((np.ones(len(above)), (above, below)), shape=(n, n))


def occur_in(strings, parts):
    """Return for each string whether it is a substring of one of the parts."""
    if not parts:
        return np.zeros(len(strings), dtype=bool)
    letter = unused_letter(parts)
    text = letter.join(parts)
    return np.array([letter not in string and string in text for string in strings], dtype=bool)


class SubstringOrder:
    """Training strings and the order "is a substring of", for many fits with other weights.

    Parameters
    ----------
    strings : array-like of str of shape (n_samples,)
        The training strings, repeats allowed.

    Attributes
    ----------
    strings : list of str
        The distinct strings, by length and then in alphabetical order.

    rows : ndarray of shape (n_samples,)
        The place of each training string in ``strings``.

    contains : csr_array of shape (n_strings, n_strings)
        A one at ``(z, x)`` if ``strings[z]`` contains ``strings[x]``.
    """

    def __init__(self, strings):
        strings = read_strings(strings)
        self.strings = sorted(set(strings), key=lambda string: (len(string), string))
        places = {string: place for place, string in enumerate(self.strings)}
        self.rows = np.array([places[string] for string in strings], dtype=np.intp)
        self.contains = containment(self.strings)

    @functools.cached_property
    def covers(self):
        """The pairs ``(z, x)`` of the order that follow from no others, as two arrays.

        x is in z, and no third string is between them. The sets of strings are
        integers, a bit for each string.
        """
        sets = []
        for z in range(len(self.strings)):
            bits = np.zeros(len(self.strings), dtype=bool)
            bits[self.contains.indices[slice(*self.contains.indptr[z : z + 2])]] = True
            sets.append(int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little"))
        pairs = []
        for z, contained in enumerate(sets):
            contained ^= 1 << z
            while contained:
                longest = contained.bit_length() - 1
                pairs.append((z, longest))
                contained &= ~sets[longest]
        above, below = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        return above, below

    def masses(self, codes, weight, n_classes):
        """Return the weight of each class at each string as integers, and where there is any.

        The integers are stored as floats. A power of two makes their sum about
        ``2**WEIGHT_BITS``, whatever the order of the rows.
        """
        weight = np.asarray(weight, dtype=np.float64)
        if not weight.any():
            raise ValueError("sample_weight must have a positive entry, but all are zero.")
        weight = np.ldexp(weight, -np.frexp(weight.max())[1])
        rounded = np.rint(np.ldexp(weight, WEIGHT_BITS - math.frexp(math.fsum(weight))[1]))
        cells = self.rows * n_classes + codes
        masses = np.bincount(cells, weights=rounded, minlength=len(self.strings) * n_classes)
        present = np.zeros(len(self.strings), dtype=bool)
        present[self.rows[weight > 0]] = True
        return masses.reshape(-1, n_classes), present


# ---------------------------------------------------------------- the search for z


class Split(typing.NamedTuple):
    """One class for the substrings of some strings, one for all others.

    The strings are places in the order, ascending; ``gain`` is the weight of the
    training strings that get their class.
    """

    gain: int
    parts: tuple
    inside: int
    outside: int

    def rank(self):
        """Return a key that is least for the best split."""
        return -self.gain, len(self.parts), self.parts, self.inside, self.outside


def search_samples(order, masses, present):
    """Return the best split by one training string, or by none."""
    totals = masses.sum(axis=0)
    inside = order.contains @ masses
    outside = totals - inside
    gains = np.where(present, inside.max(axis=1) + outside.max(axis=1), -1)
    z, usual = gains.argmax(), int(totals.argmax())
    constant = Split(int(totals[usual]), (), usual, usual)
    # If both sides had the same class, a constant would do as well.
    single = Split(int(gains[z]), (int(z),), int(inside[z].argmax()), int(outside[z].argmax()))
    return min(constant, single, key=Split.rank)


def search_closures(order, masses, present):
    """Return the best split by any z: a closure of greatest weight for each pair of classes."""
    best = search_samples(order, masses, present)
    masses = masses.astype(np.int64)
    totals = masses.sum(axis=0)
    for inside, outside in itertools.permutations(range(len(totals)), 2):
        value = masses[:, inside] - masses[:, outside]
        hoped = int(value[value > 0].sum())
        if hoped and totals[outside] + hoped >= best.gain:
            chosen = maximum_closure(value, *order.covers)
            gain = int(totals[outside] + value[chosen].sum())
            split = Split(gain, maximal(chosen, *order.covers), inside, outside)
            # The empty set is a constant, and these have been looked at.
            best = min(best, split, key=Split.rank) if split.parts else best
    return best


def maximal(chosen, above, below):
    """Return the places of a down-set that are below no other of its places."""
    covered = np.zeros(len(chosen), dtype=bool)
    covered[below[chosen[above]]] = True
    return tuple(np.flatnonzero(chosen & ~covered).tolist())


def maximum_closure(value, above, below):
    """Return the smallest of the down-sets of greatest total value, as a mask.

    A down-set has with ``above[e]`` also ``below[e]``. It is the source side of a
    minimum cut [1]_: the source feeds the nodes of positive value, the others drain
    into the sink, the pairs carry any flow. SciPy's flows are of 31 bits, so that
    the flow is refined: each stage doubles it ``bits`` times and routes what
    the next ``bits`` of the capacities have room for. That is less than ``2**bits``
    for each terminal, so that no room above ``limit`` is needed.

    References
    ----------
    .. [1] J.-C. Picard, "Maximal closure of a graph and applications to combinatorial
       problems", Management Science 22(11), 1976.
    """
    n = len(value)
    source, sink = n, n + 1
    ends = np.flatnonzero(value)
    feeds = value[ends] > 0
    tails = np.concatenate([above, below, np.where(feeds, source, ends)]).astype(np.int32)
    heads = np.concatenate([below, above, np.where(feeds, ends, sink)]).astype(np.int32)
    size = np.abs(value[ends])
    bits = FLOW_BITS - len(ends).bit_length()
    limit = len(ends) << bits
    n_stages = -(-int(size.max()).bit_length() // bits)
    carried, used = np.zeros(len(above), dtype=np.int64), np.zeros(len(ends), dtype=np.int64)
    for shift in reversed(range(0, n_stages * bits, bits)):
        carried, used = carried << bits, used << bits
        room = np.concatenate([np.full(len(above), limit), carried, (size >> shift) - used])
        room = np.minimum(room, limit).astype(np.int32)
        graph = sp.csr_array((room, (tails, heads)), shape=(n + 2, n + 2))
        flow = maximum_flow(graph, source, sink).flow
        carried += entries(flow, above, below)
        used += entries(flow, tails[-len(ends) :], heads[-len(ends) :])
    # What the source still reaches: down every pair, and up where there is flow to be sent back.
    is_open = np.concatenate([np.ones(len(above), dtype=bool), carried > 0, used < size])
    ones = np.ones(np.count_nonzero(is_open))
    graph = sp.csr_array((ones, (tails[is_open], heads[is_open])), shape=(n + 2, n + 2))
    reached = np.zeros(n + 2, dtype=bool)
    reached[breadth_first_order(graph, source, return_predecessors=False)] = True
    return reached[:n]


def entries(matrix, rows, columns):
    """Return entries of a sparse matrix as a vector."""
    return np.asarray(matrix[rows, columns]).ravel() if len(rows) else np.zeros(0, dtype=np.int64)


SEARCHES = {"samples": search_samples, "closures": search_closures}


# ---------------------------------------------------------------- the estimator


@inserted
class SubstringStump(EstimatorMixin, ClassifierMixin, BaseEstimator):
    """Classify a string by whether it is a substring of z, a weak learner for boosting.

    The classifiers are ``g_z(x) = inside if x is a contiguous substring of z, else outside``,
    and the constants. A fit minimises the weighted training error over z and the two classes.
    Only the training strings that z contains matter. They are a down-set of the order "is a
    substring of", and each down-set is reached by a z that joins some training strings by a letter
    that they do not have: so z is stored as these strings, ``parts_``, and a string
    is a substring of z if it is one of a part.

    The class is weakly universal: if not all weights of the classes are equal at every string,
    above all if no string has two classes, then the error is less than ``1 - 1 / n_classes``,
    one half for two classes, whatever the weights. For if one class has more weight than another,
    a constant is better than a guess; if all have the same, take a shortest string at which they
    differ: what it contains apart from itself is balanced, and it is better to tell it apart.
    Boosting thus drives the training error to zero on all strings without contradictions.
    Since the proof has z a training string, both searches have this property.

    Parameters
    ----------
    search : {"samples", "closures"}, default="samples"
        The candidates for z. "samples" are the single training strings, and the constants: there
        are few, so that a fit is cheap, boosting has something left to do, and a small training
        error means something for new strings, as one string describes the stump [1]_. "closures"
        are all strings: the exact minimum, by minimum cuts [2]_. If no training string contains
        another one, that is an error of zero, by a z that remembers all strings of a class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes; one whose samples all have weight zero is not there.

    parts_ : tuple of str
        The strings that z is made of, by length and then in alphabetical order, none of them
        a substring of another; none at all for a constant.

    inside_ : object
        The class of the substrings of z.

    outside_ : object
        The class of all other strings; the same for a constant.

    error_ : float
        The weighted training error, a share of the weight of all samples.

    edge_ : float
        By how much the error is less than that of a guess, ``1 - 1 / n_classes``. Not positive
        only if the weights of all classes are equal at every string, or if there is but one class.

    See Also
    --------
    sklearn_sl.kernels.Spectrum : A kernel that counts the substrings that two strings share.

    Notes
    -----
    Equally good z are told apart by the number of parts, the fewest first, then by their lengths,
    then in alphabetical order. The weights are rounded to integers, of 50 bits for their sum, in
    which all sums and the minimum cuts are exact: a fit does not depend on the order of the rows,
    and an integer weight is a number of repetitions.

    Which string contains which is found once, by a search for each of n distinct strings in the
    text of all longer ones: n times the length of the text in the worst case, of fast steps. Then
    "samples" costs one product of the sparse containment matrix with n weights for each class, and
    "closures" up to ``n_classes * (n_classes - 1)`` minimum cuts in the graph of the n strings,
    whose arcs are the pairs that no third string is between. Pairs of classes that cannot beat the
    best stump so far are left out. A prediction searches each string in the parts.

    References
    ----------
    .. [1] S. Floyd and M. Warmuth, "Sample compression, learnability, and the
       Vapnik-Chervonenkis dimension", Machine Learning 21, 1995.

    .. [2] J.-C. Picard, "Maximal closure of a graph and applications to combinatorial problems",
       Management Science 22(11), 1976.

    .. [3] Y. Freund and R. Schapire, "A decision-theoretic generalization of on-line learning and
       an application to boosting", Journal of Computer and System Sciences 55(1), 1997.

    Examples
    --------
    >>> from sklearn_sl.ensemble import SubstringStump
    >>> X = ["he", "her", "here", "is", "this", "his"]
    >>> y = ["e", "e", "e", "i", "i", "i"]
    >>> stump = SubstringStump().fit(X, y)
    >>> stump.parts_, stump.inside_, stump.outside_, stump.error_
    (('here',), np.str_('e'), np.str_('i'), 0.0)
    >>> stump.predict(["ere", "hiss"])
    array(['e', 'i'], dtype='<U1')
    """

    classes_: np.ndarray
    parts_: tuple[Any, ...]
    inside_: Any
    outside_: Any
    error_: float
    edge_: float

    _parameter_constraints = {"search": [StrOptions(set(SEARCHES))]}

    def __init__(self, *, search: Literal["samples", "closures"] = "samples") -> None:
        self.search = search

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the best z.

        Parameters
        ----------
        X : array-like of str of shape (n_samples,) or (n_samples, 1)
            Training strings.

        {class_y}

        {sample_weight}

        Returns
        -------
        {fitted}
        """
        strings = read_strings(X)
        y = validate_data(self, y=read_labels(y))
        check_classification_targets(y)
        check_consistent_length(strings, y)
        weight = check_sample_weight(sample_weight, y, dtype=np.float64)
        weight = np.ones(len(y)) if weight is None else weight
        used = np.flatnonzero(weight)
        classes, codes = np.unique(y[used], return_inverse=True)
        order = SubstringOrder([strings[row] for row in used])
        return self._fit_shared(order, classes, codes, weight[used])

    def _fit_shared(self, shared, classes, codes, weight):
        """Fit to the strings of a ``SubstringOrder``, whose classes are ``classes[codes]``."""
        masses, present = shared.masses(codes, weight, len(classes))
        split = SEARCHES[self.search](shared, masses, present)
        total = int(masses.sum())
        self.classes_ = classes
        self.parts_ = tuple(shared.strings[place] for place in split.parts)
        self.inside_, self.outside_ = classes[split.inside], classes[split.outside]
        self.error_ = (total - split.gain) / total
        self.edge_ = (len(classes) * split.gain - total) / (len(classes) * total)
        self._sides = np.array([split.outside, split.inside])
        return self

    def _codes_on(self, shared):
        """Return the predicted classes of the strings of a ``SubstringOrder``, as codes."""
        return self._codes(shared.strings)[shared.rows]

    def _codes(self, strings):
        return self._sides[occur_in(strings, self.parts_).astype(np.intp)]

    def predict(self, X: Any) -> np.ndarray:
        """Return the classes of strings.

        Parameters
        ----------
        X : array-like of str of shape (n_samples,) or (n_samples, 1)
            Strings.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The class of each string.
        """
        check_is_fitted(self)
        return self.classes_[self._codes(read_strings(X))]


class SubstringFitter:
    """Strings that :class:`SubstringStump` is fitted to, again and again."""

    def __init__(self, X, classes, codes):
        self.X, self.classes, self.codes, self.order = X, classes, codes, SubstringOrder(X)

    def fit(self, stump, weight, target=None):
        """Fit a stump; return its answers to the training samples, as codes."""
        codes = self.codes if target is None else target
        stump._fit_shared(self.order, self.classes, codes, weight)
        return self.answers(stump)

    def answers(self, stump):
        """Return what a fitted stump answers to the training samples."""
        return stump._codes_on(self.order)

    def knows(self, stump):
        """Return whether a stump of an earlier fit fits to these samples: it has no features."""
        return True
