"""The samples as a solver sees them: equal ones as one, ordered by what they hold.

So integer weights are repetitions, and the order of the rows does not matter, wherever the solver
stops. In a matrix of kernel values samples have no content but their place: these stay apart.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from sklearn_sl._rows import slices
from sklearn_sl.svm._gram import KernelGram, gram_of

# Numbers that are projected at once, within the cache.
BLOCK = 2**16


@dataclass
class Samples:
    """What a solver sees of a training set.

    Attributes
    ----------
    X : {ndarray, sparse matrix}
        A row of each kind, by their targets; or all samples as they are given, if ``apart``.
    target, cost : ndarray
        Their targets, and the sums of their costs.
    own_weight : ndarray or None
        The weights of the rows of ``X``, if there are any.
    order : ndarray of int
        The rows of positive cost, those of one kind next to each other.
    apart : bool
        Whether all samples stay apart, as rows say nothing about them.
    n_given : int
        The number of rows that were given.
    first : ndarray of int or None
        Where each kind begins in ``order``; None if no two samples are of one kind.
    costs : ndarray or None
        The costs of all rows in that order, unless they are ``cost``.
    """

    X: object
    target: np.ndarray
    cost: np.ndarray
    own_weight: np.ndarray | None
    order: np.ndarray
    apart: bool
    n_given: int
    first: np.ndarray | None = None
    costs: np.ndarray | None = None

    @property
    def kept(self):
        """The rows that stand for the kinds."""
        return self.order if self.first is None else self.order[self.first]

    def gram(self, kernel):
        """Return the Gram matrix of the kinds."""
        return gram_of(kernel, self.X, self.order) if self.apart else KernelGram(kernel, self.X)

    def in_user_order(self, dual, C, *, squared):
        """Return the support vectors by class and row, their targets and columns of a dual matrix.

        Of equal samples the first ones get as much as their costs allow; with a squared loss, each
        its share.
        """
        target = self.target
        if self.first is not None:
            sizes = np.diff(np.append(self.first, len(self.order)))
            kind = np.repeat(np.arange(len(sizes)), sizes)
            dual, target = self._shared_out(dual[:, kind], kind, C, squared), target[kind]
        support = np.flatnonzero(dual.any(axis=0))
        rows = self.order[support]
        by_row = np.lexsort((rows, target[support])) if target.dtype.kind == "i" else rows.argsort()
        support = support[by_row]
        return rows[by_row], target[support], dual[:, support]

    def _shared_out(self, dual, kind, C, squared):
        """Share the coefficient of a kind, given for each of its samples, out among them."""
        if squared:
            return dual * (self.costs / self.cost[kind])
        if np.isinf(C):
            return np.where(np.diff(kind, prepend=-1), dual, 0.0)
        costs = C * self.costs
        before = np.cumsum(costs) - costs
        before -= before[self.first][kind]
        return np.sign(dual) * np.clip(np.abs(dual) - before, 0, costs)


def solver_samples(X, target, cost, own_weight, *, apart):
    """Return the :class:`Samples` of positive cost; none are equal if they are to stay ``apart``.

    Parameters
    ----------
    X : {ndarray, sparse matrix}
        Validated samples.
    target : ndarray of shape (n_samples,)
        Classes as numbers, or the targets of a regression.
    cost, own_weight : ndarray of shape (n_samples,)
        Weights, at least zero, and weights without those of the classes; these may be None.
    apart : bool
        Whether rows say nothing about samples: kernel values, or objects of any kind.
    """
    rows, n_given = np.flatnonzero(cost), len(cost)
    if apart:
        order = rows[np.argsort(target[rows], kind="stable")]
        return Samples(X, target[order], cost[order], own_weight, order, apart, n_given)
    key = projections(X)
    order = rows[np.lexsort((key[rows], target[rows]))]
    X, target, costs, key = X[order], target[order], cost[order], key[order]
    own_weight = None if own_weight is None else unequal(own_weight[order])
    equal = (key[1:] == key[:-1]) & (target[1:] == target[:-1])
    if equal.any():
        places = np.flatnonzero(equal)
        equal[places] = rows_are_equal(X, places, places + 1)
    if not equal.any():
        return Samples(X, target, costs, own_weight, order, apart, n_given)
    first = np.flatnonzero(np.append(True, ~equal))
    # Repetitions are weights.
    own_weight = np.ones(len(order)) if own_weight is None else own_weight
    cost, own_weight = (np.add.reduceat(weight, first) for weight in (costs, own_weight))
    sums = cost, unequal(own_weight)
    return Samples(X[first], target[first], *sums, order, apart, n_given, first, costs)


def unequal(weight):
    """Return weights, or None if they are all the same: then they are as good as none."""
    return None if (weight == weight[0]).all() else weight


@lru_cache
def _direction(n_features):
    return np.random.default_rng(0).standard_normal(n_features)


def projections(X):
    """Return a number for each row that depends on its content alone, not on its place.

    It is a product with a random direction: those of different rows are different. (A matrix
    product of BLAS would depend on the place by a rounding error.)
    """
    direction = _direction(X.shape[1])
    if sp.issparse(X):
        return X @ direction
    if X.size <= BLOCK:
        return (X * direction).sum(axis=1)
    key = np.empty(len(X))
    for piece in slices(len(X), max(1, BLOCK // X.shape[1])):
        np.sum(X[piece] * direction, axis=1, out=key[piece])
    return key


def rows_are_equal(X, left, right):
    """Return whether rows and others have the same numbers."""
    if sp.issparse(X):
        return np.asarray(abs(X[left] - X[right]).sum(axis=1)).ravel() == 0
    return (X[left] == X[right]).all(axis=1)
