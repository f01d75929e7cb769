"""In what order the rows of a pass are presented, and which rows are set aside."""

from functools import lru_cache
from itertools import count
from numbers import Integral
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from sklearn_sl._hashes import random_order
from sklearn_sl._rows import GOLDEN, row_hashes, scramble

# The presentations of a shuffled pass have places of their own up to these numbers, in all or in
# the mean of the rows, whichever is more.
MOST_PLACES = 2**12
PLACES_PER_ROW = 10


def seed_of_orders(random_state):
    """Return the number that all orders of a fit follow from."""
    if isinstance(random_state, Integral):
        return first_draw(random_state)
    return check_random_state(random_state).randint(2**31 - 1)


@lru_cache(maxsize=64)
def first_draw(seed):
    """Return the first number of a random state, which takes longer to make than a small fit."""
    return np.random.RandomState(seed).randint(2**31 - 1)


def shuffled_turns(X, targets, weight, random_state):
    """Yield the turns of the first pass, of the second, and so on, each in a random order.

    An order follows from what the rows hold, wherever they stand. Without weights, and if no two
    rows are equal, the first order shows it and a row has the key that is its hash.
    """
    seed = seed_of_orders(random_state)
    keys, order = row_hashes(X, targets.astype(np.float64)), np.empty(len(targets), dtype=np.intp)
    room = np.empty((6, len(keys)), dtype=np.uint64)
    if weight is None and random_order(keys, seed, 1, room, order):
        for number in count(1):
            yield Turns(order)
            random_order(keys, seed, number + 1, room, order)
    turns, keys = places(keys, weight)
    order, room = np.empty(len(keys), dtype=np.intp), np.empty((6, len(keys)), dtype=np.uint64)
    for number in count(1):
        random_order(keys, seed, number, room, order)
        yield turns.take(order)


class Turns(NamedTuple):
    """In what order rows are presented; None where there is nothing to say.

    ``rows`` are their places in the data, ``shares`` the weights of the presentations, and
    ``times`` how many of them there are, one after the other, before the next turn.
    """

    rows: np.ndarray | None = None
    shares: np.ndarray | None = None
    times: np.ndarray | None = None

    def take(self, order):
        """Return some of these turns, in another order."""
        return Turns(*(values if values is None else values[order] for values in self))

    def weights(self):
        """Return the weight of each turn."""
        ones = np.ones(len(self.rows))
        times = ones if self.times is None else self.times
        return times * (ones if self.shares is None else self.shares)

    def one_by_one(self):
        """Return these turns with one presentation each."""
        rows, shares = (
            values if values is None else np.repeat(values, self.times)
            for values in (self.rows, self.shares)
        )
        return Turns(rows, shares)

    def cut_after(self, n):
        """Return these turns, with one of them in two parts so that a turn ends after ``n``."""
        ends = np.cumsum(self.times)
        place = int(np.searchsorted(ends, n))
        if n <= 0 or n > ends[-1] or ends[place] == n:
            return self
        parts = self.take(np.insert(np.arange(len(ends)), place, place))
        parts.times[place] -= ends[place] - n
        parts.times[place + 1] = ends[place] - n
        return parts


NO_TURNS = Turns()


def simplified(rows, shares, times):
    """Return turns, with None for shares and times that are all one."""
    shares = None if np.all(shares == 1) else shares
    return Turns(rows, shares, None if np.all(times == 1) else times)


def turns_in_order(weight):
    """Return turns of the rows in their order: all presentations of one, and what remains."""
    whole, rest = np.divmod(weight, 1.0)
    rows = np.repeat(np.arange(len(weight)), (whole > 0) * 1 + (rest > 0))
    last = np.append(rows[1:] != rows[:-1], True)
    remains = last & (rest[rows] > 0)
    times = np.where(remains, 1, whole[rows]).astype(np.int64)
    return simplified(rows, np.where(remains, rest[rows], 1.0), times)


def salt(seed, number):
    """Return what makes the hashes of one pass different from those of another."""
    return scramble(np.array([(seed << 32) + number], dtype=np.uint64))


def places(hashes, weight):
    """Return turns of rows that are to be shuffled, and a key for each of them.

    Copy number ``j`` of a row has a key that follows from ``j`` and the hash of the row: so the
    places of copies in a random order are independent, and do not depend on where the copies stand
    in the data. A row of weight ``w`` is ``w`` copies, up to a number; beyond it, runs are copies.
    """
    order = np.argsort(hashes, kind="stable")
    begins = np.append(True, hashes[order][1:] != hashes[order][:-1])
    groups = np.cumsum(begins) - 1
    starts = np.flatnonzero(begins)
    if weight is None:
        return Turns(order), keys_of_copies(hashes[order], np.arange(len(order)) - starts[groups])
    whole, rest = np.divmod(weight[order], 1.0)
    totals = np.add.reduceat(whole, starts).astype(np.int64)
    most = max(MOST_PLACES, PLACES_PER_ROW * len(weight))
    n_runs = -(-totals // max(1, -(-int(totals.sum()) // most)))
    group, copy = numbered(n_runs)
    length, longer = np.divmod(totals[group], n_runs[group])
    times = length + (copy < longer)
    # All copies hold the same: the first presentation of a run says which of them it is.
    rows = np.searchsorted(np.cumsum(whole), np.cumsum(times) - times, side="right")
    # What remains of weights are the last copies, in the order of what remains.
    remains = np.flatnonzero(rest > 0)
    remains = remains[np.lexsort([rest[remains], groups[remains]])]
    n_remains = np.bincount(groups[remains], minlength=len(totals))
    last_group, last_copy = numbered(n_remains)
    turns = simplified(
        order[np.concatenate([rows, remains])],
        np.concatenate([np.ones(len(rows)), rest[remains]]),
        np.concatenate([times, np.ones(len(remains), dtype=np.int64)]),
    )
    copies = np.concatenate([copy, n_runs[last_group] + last_copy])
    return turns, keys_of_copies(hashes[turns.rows], copies)


def numbered(lengths):
    """Return, for groups of these lengths, the group of each member and its number there."""
    group = np.repeat(np.arange(len(lengths)), lengths)
    return group, np.arange(len(group)) - (np.cumsum(lengths) - lengths)[group]


def keys_of_copies(hashes, copies):
    """Return the hashes of copies that have a number; the first one has the hash of its row."""
    others = scramble(hashes + copies.astype(np.uint64) * GOLDEN)
    return np.where(copies == 0, hashes, others)


def take_turns(X, targets, turns, unweighted):
    """Return the samples of some turns, their targets, and the sums of the weights."""
    if unweighted:
        rows = np.sort(turns.rows)
        return X[rows], targets[rows], None
    weight = np.bincount(turns.rows, turns.weights(), minlength=len(targets))
    rows = np.flatnonzero(weight)
    return X[rows], targets[rows], weight[rows]


def set_aside(keys, strata, weight, share):
    """Return which turns to set aside: about a share of each stratum, at random by their keys.

    The turns of a stratum lie on a line, sorted by their keys, each as long as its weight. One is
    set aside if its middle is in the first part of the line; the last one never is.
    """
    order = np.lexsort([keys, strata])
    begins = np.append(True, np.diff(strata[order]) != 0)
    line = np.cumsum(begins) - 1
    # In the mean the length is one, as without weights.
    lengths = weight[order] * (len(weight) / weight.sum())
    totals = np.bincount(line, weights=lengths)
    ends = np.cumsum(lengths) - (np.cumsum(totals) - totals)[line]
    aside = np.empty(len(keys), dtype=bool)
    aside[order] = ends - lengths / 2 < shares_of_strata(totals, share)[line]
    aside[order[np.append(begins[1:], True)]] = False
    if not aside.any():
        raise ValueError(
            f"validation_fraction={share} leaves no sample for validation, or no training sample "
            "of some class: change validation_fraction, or set early_stopping=False."
        )
    return aside


def shares_of_strata(totals, share):
    """Return how much of each stratum is set aside, as a whole number; a share of all, rounded up.

    The strata get what is next below their share, and those that lose most by it one more.
    """
    wanted = np.round(share * totals, 9)
    whole = np.floor(wanted)
    n_more = int(np.ceil(round(share * totals.sum(), 9)) - whole.sum())
    losers = np.lexsort([-totals, whole - wanted])
    whole[losers[:n_more]] += 1
    return whole
