"""Exact leave-one-out: the values of a machine at each sample, trained without that sample.

The solution without a sample follows from that of all by :mod:`~sklearn_sl.svm._pivoting`; the few
that do not settle are retrained by SMO.
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from sklearn_sl._memory import check_memory
from sklearn_sl._rows import slices
from sklearn_sl._warnings import warn
from sklearn_sl.svm._gram import MatrixGram
from sklearn_sl.svm._pivoting import Basis, exchange_matrix, independent_rows
from sklearn_sl.svm._solver import Search

# The violation of the optimality conditions that is left when a sample is left out.
TOL = 1e-6
# No violation below this, relative to the terms of the gradient, is asked for.
REACHABLE = 1e-14
# The exchanges of the solution of all samples from which on the basis is chosen again.
STALE = 8
# Numbers per array of a batch of left-out samples.
BATCH = 1_000_000


def loo_values(problem, gram, solution, *, tol=TOL, max_iter=-1):
    """Return the value of the machine at each sample, trained without that sample.

    Parameters
    ----------
    problem : Problem
        The problem of all samples.
    gram : KernelGram, MatrixGram or SubGram
        The Gram matrix; it must fit into memory three times.
    solution : DualSolution
        A solution of the problem, exact or nearly so.
    tol : float
        The largest violation of the optimality conditions without the sample.
    max_iter : int, default=-1
        The maximum number of SMO steps for a sample; -1 is a million, or a hundred per sample.

    Returns
    -------
    values : ndarray of shape (n_samples,)
        ``f^{-i}(x_i)``. A sample that is not in the problem has the value of the machine of all.
    """
    machine = Resident(problem, gram, solution.b, tol, max_iter).settled()
    return machine.values_without(machine.support)


def loo_signs(problem, gram, solution, *, tol=TOL, max_iter=-1):
    """Return the sign of the machine at each sample, trained without that sample.

    As the signs of :func:`loo_values`, zero counting as negative, for the problem of a
    classifier: training errors need not be left out.
    """
    machine = Resident(problem, gram, solution.b, tol, max_iter).settled()
    return np.where(machine.decided_values() > 0, 1.0, -1.0)


class Resident:
    """A problem with its Gram matrix in memory, solved exactly from coefficients near by.

    The variables are kept in an ``order`` that has those of the basis first. ``distance`` is the
    violation at the given coefficients, ``retrained`` and ``unsolved`` count left-out samples.
    """

    def __init__(self, problem, gram, b, tol=TOL, max_iter=-1):
        self.n = gram.n
        check_memory(
            24 * self.n**2,
            f"Exact leave-one-out of {self.n} samples",
            'use method="xi-alpha" or "n_sv", or cross-validation with a few folds.',
        )
        self.budget = max(1_000_000, 100 * self.n) if max_iter < 0 else max_iter
        self.retrained = self.unsolved = 0
        self.search = None
        self.order = np.argsort(~problem.free(b), kind="stable")
        self.problem, self.b = problem.of(self.order), b[self.order]
        self.diagonal = (gram.diagonal + problem.ridge)[self.order]
        self.Q = np.empty((self.n, self.n))  # the Gram matrix, with the ridge of a squared loss
        gram.fill_square(self.order, self.Q)
        np.fill_diagonal(self.Q, self.diagonal)
        self.v = self.problem.target - self.Q @ self.b
        self.distance = self.problem.violation(self.b, self.v)
        size = np.abs(problem.target).max() + np.abs(self.diagonal).max() * np.abs(b).sum()
        self.tol = max(tol, REACHABLE * size)
        self.basis = None

    def _reorder(self, first):
        """Put the variables of a mask first."""
        order = np.argsort(~first, kind="stable")
        self.order, self.problem = self.order[order], self.problem.of(order)
        self.b, self.v, self.diagonal = self.b[order], self.v[order], self.diagonal[order]
        self.Q, self.search = self.Q[np.ix_(order, order)], None

    def settled(self):
        """Move to the exact solution of all samples, choose a basis for it, and return self."""
        self.basis = self._exchanged_basis()
        if self.basis is not None and len(self.basis.start.rows) > STALE:
            self.basis = self._exchanged_basis()
        if self.problem.violation(self.b, self.v) > self.tol:
            self.b, self.v = self._retrained(-1)
            self.basis = self._exchanged_basis()
        return self

    def _exchanged_basis(self):
        """Return the basis of the free variables with the exchanges that lead to the solution."""
        basis = self._basis()
        if basis is None:
            return None
        search = basis.without(np.array([-1]))
        v = self.problem.target - self.Q @ search.b[0]
        # NaN, of exchanges that did not settle, violates nothing.
        if np.isnan(v).any() or self.problem.violation(search.b[0], v) > self.tol:
            return None
        self.b, self.v = search.b[0], v
        return replace(basis, start=search.last)

    def _basis(self):
        """Return the basis of the free variables, or of those that are independent."""
        free = self.problem.free(self.b)
        if (np.diff(free.astype(int)) > 0).any():
            self._reorder(free)
        p = np.count_nonzero(self.problem.free(self.b))
        response = exchange_matrix(self.Q, p, self.problem.intercept)
        if response is None and p:
            shift = self.diagonal.mean() if self.problem.intercept else 0.0
            independent = np.zeros(self.n, dtype=bool)
            independent[:p] = independent_rows(self.Q[:p, :p] + shift)
            self._reorder(independent)
            p = np.count_nonzero(independent)
            response = exchange_matrix(self.Q, p, self.problem.intercept)
        return None if response is None else Basis.at(self.problem, response, p, self.b, self.v)

    @property
    def intercept(self):
        """The intercept of the machine of all samples."""
        return self.problem.best_intercept(self.b, self.v)

    @property
    def values(self):
        """The values of the machine of all samples, in the order of the samples."""
        return self._as_given(self.problem.values(self.b, self.v, self.intercept))

    @property
    def coef(self):
        """The coefficients of all samples, in the order of the samples."""
        return self._as_given(self.b)

    @property
    def support(self):
        """Which samples are support vectors."""
        return self.coef != 0

    def _as_given(self, vector):
        given = np.empty(self.n)
        given[self.order] = vector
        return given

    def decided_values(self):
        """Return numbers that have the sign of the value at each sample trained without it.

        A training error stays one when it is left out: without it the norm and the other losses
        are as small as can be, so its own loss can only be larger than with it.
        """
        values = self.values
        sign = self._as_given(self.problem.target)
        return self.values_without(self.support & (sign * values >= 0))

    def values_without(self, wanted):
        """Return the value at each sample, for the ``wanted`` ones trained without it."""
        values = self.problem.values(self.b, self.v, self.intercept)
        self._move_ends(values)
        left = np.flatnonzero(wanted[self.order])
        for batch in slices(len(left), max(1, BATCH // self.n)):
            values[left[batch]] = self._batch_without(left[batch])
        if self.unsolved:
            warn(
                f"SMO stopped before the KKT violation fell below tol={self.tol:.1e} for "
                f"{self.unsolved} of the left-out samples, whose values are approximate. Scale "
                "the features (StandardScaler) or reduce C.",
                ConvergenceWarning,
            )
        return self._as_given(values)

    def _move_ends(self, values):
        """Leave out the samples that decide the intercept though they are no support vectors.

        The coefficients stay as they are, but where no vector is free, the intercept is in the
        middle of an interval, whose ends are those of samples.
        """
        problem = self.problem
        inside = (self.b > problem.lower) & (self.b < problem.upper) & (self.b != 0)
        if not problem.intercept or inside.any():
            return
        most, least = problem.extremes(self.b, self.v)
        up, down = problem.slopes(self.b, self.v)
        for i in np.flatnonzero((self.b == 0) & ((up == most) | (down == least))):
            intercept = without(problem, i).best_intercept(self.b, self.v)
            values[i] = problem.target[i] - self.v[i] + intercept

    def _batch_without(self, left):
        """Return the values at the samples ``left``, each trained without it."""
        values = np.full(len(left), np.nan)
        if self.basis is not None:
            b = self.basis.without(left).b
            v = self._gradients(b)
            violation, intercept = certified(self.problem, b, v, left)
            good = (violation <= self.tol) & ~np.isnan(b).any(axis=1)
            at = self.problem.target[left] - v[np.arange(len(left)), left]
            values[good] = (at + intercept)[good]
        for place in np.flatnonzero(np.isnan(values)):
            self.retrained += 1
            i = left[place]
            b, v = self._retrained(i)
            intercept = without(self.problem, i).best_intercept(b, v)
            values[place] = self.problem.target[i] - v[i] + intercept
        return values

    def _gradients(self, b):
        """Return the gradient at the coefficients in each row of ``b``: most equal the solution."""
        moves, p = b - self.b, self.basis.p
        v = self.v - moves[:, :p] @ self.Q[:p]
        v -= sp.csr_array(moves[:, p:]) @ self.Q[p:]
        return v

    def _retrained(self, i):
        """Return coefficients and gradient of the solution without a sample, by SMO."""
        problem = self.problem if i < 0 else without(self.problem, i)
        b = balanced(problem, self.b, self.v - self.intercept)
        search = Search(
            replace(problem, squared=False),  # the ridge is in the matrix
            MatrixGram(self.Q),
            tol=self.tol,
            max_iter=self.budget,
            cache_bytes=16.0 * self.n**2 + 1e6,
            polish=True,
            start=b,
        )
        if self.search is not None:
            search.take_over(self.search)
        search.approach()
        solution, self.search = search.finish(), search
        self.unsolved += not solution.converged
        return solution.b, solution.v


def without(problem, i):
    """Return the problem without a sample."""
    lower, upper = problem.lower.copy(), problem.upper.copy()
    lower[i] = upper[i] = 0
    return replace(problem, lower=lower, upper=upper)


def certified(problem, b, v, left):
    """Return violations and intercepts of coefficients, a row for each left-out sample."""
    # Few rows at a time, which stay in the cache of a core.
    pieces = [_certified(problem, b[rows], v[rows], left[rows]) for rows in slices(len(b), 64)]
    violations, intercepts = zip(*pieces, strict=True) if pieces else ((), ())
    return np.concatenate([[], *violations]), np.concatenate([[], *intercepts])


def _certified(problem, b, v, left):
    up, down = problem.slopes(b, v)
    rows = np.flatnonzero(left >= 0)
    up[rows, left[rows]], down[rows, left[rows]] = -np.inf, np.inf
    most, least = up.max(axis=1), down.min(axis=1)
    if not problem.intercept:
        return np.maximum(most, 0) - np.minimum(least, 0), np.zeros(len(b))
    inside = (b > problem.lower) & (b < problem.upper) & (b != 0)
    counts = inside.sum(axis=1)
    totals = np.where(inside, v - problem.width * np.sign(b), 0).sum(axis=1)
    ends = np.stack([most, least])
    finite = np.isfinite(ends)
    middle = np.where(finite, ends, 0).sum(axis=0) / np.maximum(finite.sum(axis=0), 1)
    with np.errstate(invalid="ignore"):
        return most - least, np.where(counts > 0, totals / np.maximum(counts, 1), middle)


def balanced(problem, b, slope):
    """Return coefficients near ``b`` that are feasible; those of small slopes make up the sum."""
    b = np.clip(b, problem.lower, problem.upper)
    if not problem.intercept:
        return b
    excess = b.sum()
    ends = problem.lower if excess > 0 else problem.upper
    order = np.argsort(np.abs(slope), kind="stable")
    room = np.abs(ends - b)[order]
    before = np.concatenate([[0.0], np.cumsum(room)[:-1]])
    taken = np.clip(abs(excess) - before, 0, room)
    b[order] = np.where(taken < room, b[order] - np.sign(excess) * taken, ends[order])
    return b
