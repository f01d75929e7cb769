"""Bootstrap samples that do not depend on where the rows stand, with weights as repetitions.

Rows are put into an order that follows from a hash of their content. A row of integer weight ``m``
is ``m`` copies, which are neighbours in this order just as ``m`` equal rows are. Every copy is
drawn independently of the others, as in Breiman's bootstrap, and is in the bag or out of it for
itself. So an integer weight is a number of repetitions, and the order of the rows does not matter,
both exactly and for every random seed.
"""

import copy
from numbers import Integral

import numpy as np

from sklearn_sl._memory import check_memory
from sklearn_sl._rows import GOLDEN, hashed_uniform, scramble
from sklearn_sl._state import CheckedState, check_entries, check_number

# The streams of random numbers of one seed.
ROWS, FEATURES, COPIES = 0, 1, 2
# Integer weights up to this sum are numbers of repetitions.
MOST_REPETITIONS = 2**53
# So many copies of weighted rows can be told apart, at some bytes for each.
MOST_COPIES = 10**7
# With more copies than this for each distinct row, draws are counted by distinct row.
MANY_COPIES = 16
# NumPy's limit for draws without replacement.
MOST_WITHOUT_REPLACEMENT = 10**9 - 1


def random_numbers(seed, stream):
    """Return the generator of one stream of a seed."""
    return np.random.Generator(np.random.PCG64([int(seed), stream]))


def draw_features(seed, n_features, n_drawn, *, replace):
    """Return the features of a base estimator, in their order."""
    if n_drawn == n_features and not replace:
        return np.arange(n_features)
    rng = random_numbers(seed, FEATURES)
    return np.sort(rng.choice(n_features, n_drawn, replace=replace, shuffle=False))


class Resampling(CheckedState):
    """How the base estimators of an ensemble draw rows.

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

    groups : ndarray of int of shape (n_rows,), default=None
        The groups of the rows; a row is out of bag only if no row of its group was drawn. None
        lets every copy be out of bag for itself.

    Attributes
    ----------
    size : int
        The size of the training set: the sum of integer weights, or the number of rows.

    n_draws : int
        The number of draws of a base estimator.

    resamples : bool
        False if every base estimator gets all rows with their weights.

    fingerprint : int
        A hash of the training set, with its weights, in whatever order.
    """

    def __init__(
        self,
        hashes,
        weight=None,
        *,
        bootstrap=True,
        max_samples=None,
        used=None,
        n_given=None,
        groups=None,
    ):
        if weight is not None and np.all(weight == 1):
            weight = None
        self.bootstrap, self.weight, self.groups = bootstrap, weight, groups
        self.used, self.n_given = used, len(hashes) if n_given is None else n_given
        self.integral = weight is None or (
            np.all(weight == np.rint(weight)) and weight.sum() <= MOST_REPETITIONS
        )
        self.n_rows = len(hashes)
        self.size = self.n_rows if weight is None or not self.integral else int(weight.sum())
        self.n_draws = self._count_draws(max_samples)
        # All without replacement is no resampling at all.
        self.resamples = bootstrap or self.n_draws < self.size
        self.order = self._order(hashes)
        self.starts = self._starts(hashes[self.order])
        self.fingerprint = self._fingerprint(hashes)

    def _check_state(self):
        n_rows = check_number(self, "n_rows", 1, len(self.order))
        check_entries(self.order, "order", 0, n_rows - 1)
        if self.starts is not None:
            check_entries(self.starts, "starts", 0, n_rows - 1)
        total = n_rows if self.weight is None or not self.integral else int(self.weight.sum())
        check_number(self, "size", total, total)
        check_number(self, "n_draws", 1)

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
        if not self.bootstrap and n_draws < self.size and self.size > MOST_WITHOUT_REPLACEMENT:
            raise ValueError(
                "sample_weight must sum to less than 10^9 if rows are drawn without replacement, "
                f"got {self.size}: divide sample_weight by a common factor, or set bootstrap=True."
            )
        return n_draws

    def _order(self, hashes):
        """Return the rows in the order of their content.

        Copies that differ in their groups or fractional weights have an order of their own.
        """
        keys = [] if self.groups is None else [self.groups]
        keys += [hashes] if self.integral else [self.weight, hashes]
        return np.lexsort(keys).astype(np.min_scalar_type(-self.n_rows))

    def _starts(self, ordered):
        """Return where the rows of each content begin in the order; None if no row has a copy."""
        is_copy = ordered[1:] == ordered[:-1]
        if not is_copy.any():
            return None
        return np.flatnonzero(np.append(True, ~is_copy)).astype(self.order.dtype)

    @property
    def n_contents(self):
        """The number of distinct rows."""
        return self.n_rows if self.starts is None else len(self.starts)

    def _fingerprint(self, hashes):
        scrambled = scramble(hashes + GOLDEN)
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

    def counts(self, seed):
        """Return how often a base estimator gets each row, as its weights; None if all are one."""
        if not self.resamples:
            return self.weight
        if not self.integral:
            return np.bincount(self._by_weight(seed), minlength=self.n_rows).astype(np.float64)
        if self.weight is None or not self._has_many_copies():
            drawn = self._rows_of(self._drawn_copies(seed))
            return np.bincount(drawn, minlength=self.n_rows).astype(np.float64)
        counts = np.empty(self.n_rows)
        counts[self.order] = self._divided(self._content_counts(seed), seed)
        return counts

    def draw(self, seed):
        """Return the given rows that a base estimator draws, as often, in the order of content."""
        rows = self.order if self.used is None else self.used[self.order]
        rows = rows.astype(np.int32 if self.n_given < 2**31 else np.int64)
        if not self.resamples:
            return rows
        return repeated(rows, self.counts(seed)[self.order])

    def _by_weight(self, seed):
        """Draw rows with probabilities in the proportion of fractional weights."""
        rng, weight = random_numbers(seed, ROWS), self.weight[self.order]
        if self.bootstrap:
            ends = np.cumsum(weight)
            places = np.searchsorted(ends, rng.random(self.n_draws) * ends[-1], side="right")
            return self.order[np.minimum(places, self.n_rows - 1)]
        # The first to arrive, at rates that are the weights: the next one to arrive is each of
        # those on the way with a probability proportional to its weight.
        arrival = rng.exponential(size=self.n_rows) / weight
        return self.order[np.argpartition(arrival, self.n_draws - 1)[: self.n_draws]]

    # Copies are numbered in the order of the rows' content.

    def _has_many_copies(self):
        """Return whether distinct rows have many copies, the same for weighted and for equal rows.

        Then draws are first counted for each distinct row, at a cost that does not depend on
        how large the weights are.
        """
        return self.size > MANY_COPIES * self.n_contents

    def _drawn_copies(self, seed):
        """Return the copies that a base estimator draws, as often as it draws them."""
        if self._has_many_copies():
            return self._copies_within(self._content_counts(seed), seed)
        rng = random_numbers(seed, ROWS)
        if self.bootstrap:
            return rng.integers(self.size, size=self.n_draws)
        return rng.choice(self.size, self.n_draws, replace=False, shuffle=False)

    def _content_sizes(self):
        """Return the number of copies of each distinct row."""
        sizes = np.ones(self.n_rows) if self.weight is None else self.weight[self.order]
        if self.starts is not None:
            sizes = np.add.reduceat(sizes, self.starts)
        return sizes.astype(np.int64)

    def _content_counts(self, seed):
        """Return how often a base estimator draws each distinct row."""
        rng, sizes = random_numbers(seed, ROWS), self._content_sizes()
        if self.bootstrap:
            return rng.multinomial(self.n_draws, sizes / self.size)
        return rng.multivariate_hypergeometric(sizes, self.n_draws, method="marginals")

    def _copies_within(self, counts, seed):
        """Return copies of each distinct row, drawn as often as counted."""
        sizes, base = self._content_sizes(), random_numbers(seed, COPIES).integers(2**63)
        first = np.cumsum(sizes) - sizes
        if self.bootstrap:
            shares = hashed_uniform(base, np.arange(self.n_draws))
            return np.repeat(first, counts) + (shares * np.repeat(sizes, counts)).astype(np.int64)
        # Without replacement: those with the smallest random numbers.
        content = np.repeat(np.arange(len(sizes)), sizes)
        shuffled = np.lexsort([hashed_uniform(base, np.arange(self.size)), content])
        return shuffled[np.arange(self.size) - first[content] < counts[content]]

    def _divided(self, counts, seed):
        """Return the draws of each distinct row divided among its rows, by their weights.

        This is systematic sampling, whose expectations are those of independent draws. Rows of the
        same content are the same to a base estimator, however its draws are divided among them.
        """
        if self.starts is None:
            return counts
        n_rows = np.diff(np.append(self.starts, self.n_rows))
        weight = self.weight[self.order]
        ends = np.cumsum(weight)
        before = np.repeat(ends[self.starts] - weight[self.starts], n_rows)
        sizes, counts = np.repeat(self._content_sizes(), n_rows), np.repeat(counts, n_rows)
        base = random_numbers(seed, COPIES).integers(2**63)
        shift = np.repeat(hashed_uniform(base, np.arange(len(n_rows))), n_rows)
        upper = np.floor((ends - before) / sizes * counts + shift)
        lower = np.floor((ends - weight - before) / sizes * counts + shift)
        return upper - lower

    def _rows_of(self, copies):
        """Return the rows that copies belong to."""
        if self.weight is None:
            return self.order[copies]
        ends = np.cumsum(self.weight[self.order])
        return self.order[np.searchsorted(ends, copies, side="right")]

    # ------------------------------------------------------------ out of bag

    def check_copies(self):
        """Raise an error for weights that stand for too many copies to tell which were drawn."""
        if self.weight is not None and self.integral and self.size > MOST_COPIES:
            raise ValueError(
                "sample_weight, whose integers count repeated rows, must sum to at most "
                f"{MOST_COPIES} for out-of-bag estimates, got {self.size}: divide it by a common "
                "factor, or use cross-validation."
            )

    def copy_rows(self):
        """Return the row that each copy belongs to, in the order of content."""
        if self.weight is None or not self.integral:
            return self.order.astype(np.intp)
        return np.repeat(self.order.astype(np.intp), self.weight[self.order].astype(np.intp))

    def copy_weight(self):
        """Return the weight of each copy; None if all are one."""
        return None if self.integral else self.weight[self.order]

    def out_of_bag(self, seed):
        """Return the copies that are out of bag for a base estimator, in the order of content."""
        if self.groups is not None:
            drawn = np.bincount(self.groups, weights=self.counts(seed))
            return np.flatnonzero((drawn[self.groups] == 0)[self.copy_rows()])
        if not self.integral:
            return np.flatnonzero(self.counts(seed)[self.order] == 0)
        drawn = np.zeros(self.size, dtype=bool)
        drawn[self._drawn_copies(seed)] = True
        return np.flatnonzero(~drawn)

    # ------------------------------------------------------------ distinct rows

    def representatives(self):
        """Return one row of each content, in the order of content."""
        rows = self.order if self.starts is None else self.order[self.starts]
        return rows.astype(np.intp)

    def sum_over_copies(self, counts):
        """Return the sums of numbers of the rows over those of each content, in the same order."""
        ordered = counts[self.order]
        return ordered if self.starts is None else np.add.reduceat(ordered, self.starts)


def repeated(rows, times, row_bytes=0):
    """Return the numbers of rows, each as often as a weight says, if there is memory for them.

    ``row_bytes`` is the memory that each row takes besides its number.
    """
    check_memory(
        (np.dtype(np.intp).itemsize + row_bytes) * times.sum(),
        "Repeating rows as often as sample_weight says",
        "divide sample_weight by a common factor, or choose an estimator that takes sample_weight.",
    )
    return np.repeat(rows, times.astype(np.intp))
