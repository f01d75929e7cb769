"""Resampling by content: which rows a member draws depends on what they hold, not on their place.

Rows are put into an order that follows from a hash of their content, and the draws are places in
the weights summed up along this order. A row of weight ``m`` occupies ``m`` neighbouring slots,
just as ``m`` copies of it do, wherever they stand: so an integer weight is a number of
repetitions, and the order of the rows does not matter, both exactly and for every random seed.

Copies of a row are neighbours with the same hash. A row is out of bag only if none of its copies
was drawn: otherwise the member would be judged by what it was fitted to.
"""

import copy
from numbers import Integral

import numpy as np
import scipy.sparse as sp

# The streams of random numbers of one seed.
ROWS, FEATURES = 0, 1
# Integer weights up to this sum are numbers of repetitions.
MOST_SLOTS = 2**53
# Numbers that are hashed at once, within the cache.
BLOCK = 2**15

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)


def scramble(bits):
    """Return 64-bit integers that depend on all bits of others: the end of splitmix64."""
    bits = (bits ^ (bits >> _SHIFTS[0])) * _FACTORS[0]
    bits = (bits ^ (bits >> _SHIFTS[1])) * _FACTORS[1]
    return bits ^ (bits >> _SHIFTS[2])


def entry_hashes(values, columns):
    """Return the hashes of numbers in columns; zero, of either sign, has the hash zero."""
    values = np.where(np.isnan(values), np.nan, values)  # whose bits are always the same
    keys = scramble((columns.astype(np.uint64) + np.uint64(1)) * _GOLDEN)
    return np.where(values != 0, scramble(values.view(np.uint64) ^ keys), np.uint64(0))


def row_hashes(X, y):
    """Return a 64-bit hash of the content of each row of samples and targets.

    Zeros add nothing to it, so that it is the same for dense and sparse samples.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Samples: numbers, or anything that has a name.

    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Targets as numbers.

    Returns
    -------
    hashes : ndarray of shape (n_samples,)
        Unsigned integers.
    """
    y = as_columns(y)
    n_features = X.shape[1]
    places = np.arange(n_features + y.shape[1])
    total = _sparse_sums(X) if sp.issparse(X) else _dense_sums(X, places[:n_features])
    return scramble(total + _dense_sums(y, places[n_features:]))


def as_columns(y):
    """Return targets as a matrix."""
    return y[:, None] if y.ndim == 1 else y


def _dense_sums(X, places):
    if X.dtype.kind not in "biuf":
        X = np.stack([numbers_of(column) for column in X.T], axis=1)
    total = np.empty(len(X), dtype=np.uint64)
    step = max(1, BLOCK // X.shape[1])
    for start in range(0, len(X), step):
        rows = slice(start, start + step)
        total[rows] = entry_hashes(numbers_of(X[rows]), places).sum(axis=1, dtype=np.uint64)
    return total


def _sparse_sums(X):
    X = sp.csr_array(X)
    X.sum_duplicates()
    entries = entry_hashes(numbers_of(X.data), X.indices)
    ends = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(entries, dtype=np.uint64)])
    return ends[X.indptr[1:]] - ends[X.indptr[:-1]]


def numbers_of(column):
    """Return an array as float64; names are numbered in their order."""
    if column.dtype.kind not in "biuf":
        try:
            return column.astype(np.float64)
        except (TypeError, ValueError):
            return np.unique(column.astype(str), return_inverse=True)[1].astype(np.float64)
    return np.ascontiguousarray(column, dtype=np.float64)


def random_numbers(seed, stream):
    """Return the generator of one stream of a seed."""
    return np.random.Generator(np.random.PCG64([int(seed), stream]))


def draw_features(seed, n_features, n_drawn, *, replace):
    """Return the features of a member, in their order."""
    if n_drawn == n_features and not replace:
        return np.arange(n_features)
    rng = random_numbers(seed, FEATURES)
    return np.sort(rng.choice(n_features, n_drawn, replace=replace, shuffle=False))


class Resampling:
    """How the members of an ensemble draw rows.

    Parameters
    ----------
    hashes : ndarray of shape (n_rows,)
        The hashes of the rows, all of which have a positive weight.

    weight : ndarray of shape (n_rows,) or None
        Their weights; None is one.

    bootstrap : bool
        Whether to draw with replacement.

    max_samples : int, float or None
        The number of draws, or their share of the size of the training set; None is all of it.

    used : ndarray of shape (n_rows,), default=None
        The places of these rows among those that were given, some of which had no weight; None if
        these are all of them.

    n_given : int, default=None
        The number of all rows that were given.

    Attributes
    ----------
    size : int
        The size of the training set: the sum of integer weights, or the number of rows.

    n_draws : int
        The number of draws of a member.

    resamples : bool
        False if every member gets all rows with their weights.

    fingerprint : int
        A hash of the training set, with its weights, in whatever order.
    """

    def __init__(
        self, hashes, weight=None, *, bootstrap=True, max_samples=None, used=None, n_given=None
    ):
        if weight is not None and np.all(weight == 1):
            weight = None
        self.bootstrap, self.weight = bootstrap, weight
        self.used, self.n_given = used, len(hashes) if n_given is None else n_given
        self.integral = weight is None or (
            np.all(weight == np.rint(weight)) and weight.sum() <= MOST_SLOTS
        )
        self.n_rows = len(hashes)
        self.size = self.n_rows if weight is None or not self.integral else int(weight.sum())
        self.n_draws = self._count_draws(max_samples)
        # All without replacement is no resampling at all.
        self.resamples = bootstrap or self.n_draws < self.size
        # Copies of different fractional weights have an order of their own.
        keys = [hashes] if self.integral else [weight, hashes]
        self.order = np.lexsort(keys).astype(np.min_scalar_type(-self.n_rows))
        self._set_groups(hashes[self.order])
        self.fingerprint = self._fingerprint(hashes)

    def _count_draws(self, max_samples):
        if max_samples is None:
            n_draws = self.size
        elif isinstance(max_samples, Integral):
            n_draws = int(max_samples)
        else:
            n_draws = max(int(max_samples * self.size), 1)
        if not self.bootstrap and n_draws > self.size:
            raise ValueError(
                f"Effective max_samples={n_draws} must be <= n_samples={self.size} to be able to "
                "sample without replacement."
            )
        return n_draws

    def _set_groups(self, ordered):
        """Number the groups of copies; None if no row has a copy."""
        begins = np.append(True, ordered[1:] != ordered[:-1])
        self.n_groups = int(np.count_nonzero(begins))
        self.group = None
        if self.n_groups < self.n_rows:
            self.group = np.empty_like(self.order)
            self.group[self.order] = np.cumsum(begins) - 1

    def _fingerprint(self, hashes):
        scrambled = scramble(hashes + _GOLDEN)
        if self.weight is not None:
            if self.integral:
                scrambled *= self.weight.astype(np.uint64)
            else:
                scrambled = scramble(scrambled ^ self.weight.view(np.uint64))
        return int(np.sum(scrambled, dtype=np.uint64))

    def drawing_like(self, other):
        """Return the same rows, of which as many are drawn, in the same way, as of others."""
        same = copy.copy(self)
        same.bootstrap, same.n_draws = other.bootstrap, other.n_draws
        same.resamples = other.resamples
        return same

    # ------------------------------------------------------------ draws

    def draw(self, seed):
        """Return the rows that a member draws, as often as it draws them."""
        if not self.resamples:
            return np.arange(self.n_rows)
        rng = random_numbers(seed, ROWS)
        if not self.integral and not self.bootstrap:
            return self._race(rng)
        if self.integral:
            slots = (
                rng.integers(self.size, size=self.n_draws)
                if self.bootstrap
                else rng.choice(self.size, self.n_draws, replace=False, shuffle=False)
            )
        if self.weight is None:
            return self.order[slots].astype(np.intp)
        ends = np.cumsum(self.weight[self.order])
        if not self.integral:
            slots = rng.random(self.n_draws) * ends[-1]
        places = np.searchsorted(ends, slots, side="right")
        return self.order[np.minimum(places, self.n_rows - 1)].astype(np.intp)

    def _race(self, rng):
        """Draw without replacement by weight: the first to arrive, at rates that are the weights.

        The next one to arrive is each of those on the way with a probability proportional to its
        weight.
        """
        arrival = rng.exponential(size=self.n_rows) / self.weight[self.order]
        first = np.argpartition(arrival, self.n_draws - 1)[: self.n_draws]
        return self.order[first].astype(np.intp)

    def counts(self, seed):
        """Return how often a member gets each row, as its weights; None if all are one."""
        if not self.resamples:
            return self.weight
        return np.bincount(self.draw(seed), minlength=self.n_rows).astype(np.float64)

    def out_of_bag(self, counts):
        """Return the rows of which no copy was drawn, by the counts of a member."""
        if self.group is None:
            return np.flatnonzero(counts == 0)
        drawn = np.bincount(self.group, weights=counts, minlength=self.n_groups)
        return np.flatnonzero(drawn[self.group] == 0)

    def out_of_bag_in_order(self, counts):
        """Return the same rows in the order of their content."""
        chosen = np.zeros(self.n_rows, dtype=bool)
        chosen[self.out_of_bag(counts)] = True
        return self.order[chosen[self.order]].astype(np.intp)

    # ------------------------------------------------------------ distinct rows

    def representatives(self):
        """Return one row of each group of copies, in the order of their content."""
        if self.group is None:
            return self.order.astype(np.intp)
        begins = np.append(True, np.diff(self.group[self.order]) > 0)
        return self.order[begins].astype(np.intp)

    def sum_over_copies(self, counts):
        """Return the sums of numbers of the rows over the groups, in the same order."""
        if self.group is None:
            return counts[self.order]
        return np.bincount(self.group, weights=counts, minlength=self.n_groups)
