"""Leave-one-out without refitting: exchange a few variables of the solution, all samples at once.

Leaving out a sample pins its coefficient to zero. Most other coefficients keep their state, at a
bound or free between its bounds; where they all do, the new solution is one linear solve. Where
some do not, they are exchanged between the two states until all optimality conditions hold. The
systems are small and solved side by side; the few that do not settle are retrained by SMO.
"""

from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement, pairwise

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from sklearn_sl._memory import check_memory
from sklearn_sl._rows import slices
from sklearn_sl._sklearn import check_sample_weight
from sklearn_sl._threads import one_blas_thread
from sklearn_sl._warnings import warn
from sklearn_sl.svm._gram import MatrixGram, SubGram
from sklearn_sl.svm._problem import Problem, margin_problem
from sklearn_sl.svm._solver import Search, Solution

METHODS = ("exact", "xi-alpha", "span", "n_sv")
# The side of a tile of the response of slopes to coefficients.
SQUARE = 512
# Columns of the Gram matrix that the bounds look at in one go.
TILE = 512
# The violation of the optimality conditions that is left when a sample is left out.
TOL = 1e-6
# Violations up to this, relative to the size of the numbers, are rounding errors.
ROUNDING = 1e-11
# No violation below this, relative to the terms of the gradient, is asked for.
REACHABLE = 1e-14
# Pivots below this, relative to the largest, are those of dependent samples.
DEPENDENT = 1e-10
# Rounds of exchanges, and those without progress after which one variable moves at a time.
ROUNDS, PATIENCE = 30, 3
# The most exchanges of a sample that are solved side by side with those of others.
MOST_EXCHANGED = 100
# The exchanges of the solution of all samples from which on the basis is chosen anew.
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
    solution : Solution
        A solution of the problem, exact or nearly so.
    tol : float
        The largest violation of the optimality conditions without the sample.
    max_iter : int, default=-1
        The most SMO steps for a sample; -1 is a million, or a hundred per sample.

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
                f"SMO stopped before the violation was {self.tol:.1e} for {self.unsolved} of the "
                "left-out samples, whose values are approximate. Scale the features "
                "(StandardScaler) or reduce C.",
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


@dataclass
class Exchanges:
    """Variables that are not in the state in which the basis has them, by problem and sample.

    A pinned variable has the coefficient ``goal``, a free one the slope ``goal``.
    """

    rows: np.ndarray
    cols: np.ndarray
    pinned: np.ndarray
    goal: np.ndarray

    @classmethod
    def none(cls):
        """Return no exchanges."""
        return cls(np.empty(0, int), np.empty(0, int), np.empty(0, bool), np.empty(0))

    def chosen(self, which):
        """Return some of them."""
        return Exchanges(self.rows[which], self.cols[which], self.pinned[which], self.goal[which])

    def joined(self, other):
        """Return these and others, row by row."""
        both = [np.concatenate(pair) for pair in zip(self.fields, other.fields, strict=True)]
        return Exchanges(*both).chosen(np.argsort(both[0], kind="stable"))

    @property
    def fields(self):
        """The four arrays."""
        return self.rows, self.cols, self.pinned, self.goal

    def repeated(self, count):
        """Return the exchanges of one problem for several."""
        rows = np.repeat(np.arange(count), len(self.cols))
        return Exchanges(rows, *(np.tile(field, count) for field in self.fields[1:]))


@dataclass
class Basis:
    """Variables that are free in a solution, and what follows from exchanging some of them.

    The first ``p`` variables are free, with ``slope`` ``v_j - intercept = width sign(b_j)``, all
    others are pinned to ``b``. What follows are the coefficients of the free ones and the slopes
    of the pinned ones, both in ``value``; the solution has them between ``floor`` and ``ceiling``.
    If slopes of free variables fall by ``c_j``, or coefficients of pinned ones grow by ``c_j``,
    ``value`` grows by ``response @ c``. The solution differs from the basis by the exchanges
    ``start``.
    """

    problem: Problem
    response: np.ndarray
    p: int
    b: np.ndarray
    slope: np.ndarray
    value: np.ndarray
    floor: np.ndarray
    ceiling: np.ndarray
    rounding: tuple
    start: Exchanges

    @classmethod
    def at(cls, problem, response, p, b, v):
        """Return the basis of a solution, exact or nearly so."""
        free = np.arange(len(b)) < p
        slope = np.where(free, problem.width * np.sign(b), 0.0)
        misfit = (v - slope)[:p]
        intercept = misfit.mean() if problem.intercept else 0.0
        value = np.where(free, b, v - intercept)
        value += response[:, :p] @ (misfit - intercept)
        size = np.abs(problem.target).max() + np.abs(v).max()
        rounding = ROUNDING * (np.abs(b).max() or 1.0), 100 * ROUNDING * size
        low, high = free_box(problem.lower, problem.upper, slope)
        down, up = pinned_slopes(problem.width, b)
        floor = np.where(free, low, np.where(b > problem.lower, down, -np.inf))
        ceiling = np.where(free, high, np.where(b < problem.upper, up, np.inf))
        slack = np.where(free, *rounding)
        return cls(
            problem=problem,
            response=response,
            p=p,
            b=b,
            slope=slope,
            value=value,
            floor=floor - slack,
            ceiling=ceiling + slack,
            rounding=rounding,
            start=Exchanges.none(),
        )

    def without(self, left):
        """Return the search for the solutions without each of the samples ``left``."""
        search = Pivoting(self, left)
        for _ in range(ROUNDS):
            search.round()
            if not len(search.problems):
                break
        return search


class Pivoting:
    """Block principal pivoting on several problems at once, each without another sample.

    All variables whose conditions are violated are exchanged at once, and one at a time once that
    has made no progress for a while. ``b`` has the coefficients, a row for each problem, which is
    NaN if the exchanges have not settled; -1 for a sample leaves out none.
    """

    def __init__(self, basis, left):
        count = len(left)
        self.basis, self.left = basis, left
        self.b = np.full((count, len(basis.b)), np.nan)
        self.problems = np.arange(count)  # those that have not settled
        self.fewest = np.full(count, len(basis.b) + 1)
        self.patience = np.full(count, PATIENCE)
        self.last = Exchanges.none()
        rows = np.flatnonzero(left >= 0)
        own = Exchanges(rows, left[rows], np.ones(len(rows), dtype=bool), np.zeros(len(rows)))
        start = basis.start.repeated(count)
        self.exchanges = start.chosen(start.cols != left[start.rows]).joined(own)

    def round(self):
        """Solve for the exchanges made so far, and exchange what this violates."""
        self._drop_hopeless()
        c, value = self._solve()
        found, b, slope = self._suspects(c, value)
        wanted, moving = self._wishes(found, b, slope)
        n_moving = np.bincount(found.rows[moving], minlength=len(self.problems))
        self._record(n_moving == 0, found, b, value)
        self._limit(moving, n_moving, found)
        found.pinned[moving] = wanted.pinned[moving]
        found.goal[moving] = wanted.goal[moving]
        self.exchanges = self._not_as_in_basis(found)
        self._keep(n_moving > 0)

    def _drop_hopeless(self):
        """Give up problems with too many exchanges, or without a free variable."""
        exchanges, basis, count = self.exchanges, self.basis, len(self.problems)
        few = np.bincount(exchanges.rows, minlength=count) <= MOST_EXCHANGED
        inside = exchanges.cols < basis.p
        change = (~exchanges.pinned).astype(float) - inside
        free = basis.p + np.bincount(exchanges.rows, weights=change, minlength=count)
        self._keep(few & (free > 0) if basis.problem.intercept else few)

    def _keep(self, which):
        """Go on with some of the problems."""
        if which.all():
            return
        self.exchanges = self.exchanges.chosen(which[self.exchanges.rows])
        self.exchanges.rows = (np.cumsum(which) - 1)[self.exchanges.rows]
        for name in ("problems", "left", "fewest", "patience"):
            setattr(self, name, getattr(self, name)[which])

    def _solve(self):
        """Return the moves ``c`` of the exchanged variables, and what follows from them."""
        exchanges, basis = self.exchanges, self.basis
        rows, cols, count = exchanges.rows, exchanges.cols, len(self.problems)
        inside = cols < basis.p
        unknown = inside == exchanges.pinned
        c = np.where(inside, basis.slope[cols] - exchanges.goal, exchanges.goal - basis.b[cols])
        c[unknown] = 0
        value = basis.value + sparse_rows(c, rows, cols, count, len(basis.b)) @ basis.response
        rows, cols = rows[unknown], cols[unknown]
        missing = exchanges.goal[unknown] - value[rows, cols]
        found = solve_side_by_side(basis.response, rows, cols, missing, count)
        value += sparse_rows(found, rows, cols, count, len(basis.b)) @ basis.response
        c[unknown] = found
        return c, value

    def _suspects(self, c, value):
        """Return the exchanged variables and those that violate, coefficients and slopes.

        The values of the exchanged ones become NaN, which is neither too small nor too large.
        """
        exchanges, basis = self.exchanges, self.basis
        rows, cols, pinned, goal = exchanges.fields
        follows, inside = value[rows, cols], cols < basis.p
        b = np.where(pinned, goal, np.where(inside, follows, basis.b[cols] + c))
        slope = np.where(pinned, np.where(inside, basis.slope[cols] - c, follows), goal)
        value[rows, cols] = np.nan
        rows, cols = np.nonzero((value < basis.floor) | (value > basis.ceiling))
        follows, inside = value[rows, cols], cols < basis.p
        more_b = np.where(inside, follows, basis.b[cols])
        more_slope = np.where(inside, basis.slope[cols], follows)
        more = Exchanges(rows, cols, ~inside, np.where(inside, more_slope, more_b))
        found = [np.concatenate(pair) for pair in zip(exchanges.fields, more.fields, strict=True)]
        return Exchanges(*found), np.concatenate([b, more_b]), np.concatenate([slope, more_slope])

    def _wishes(self, found, b, slope):
        """Return the states that the variables want to be in, and which are in another one."""
        problem, (little, flat) = self.basis.problem, self.basis.rounding
        lower, upper = problem.lower[found.cols], problem.upper[found.cols]
        low, high = free_box(lower, upper, found.goal)
        below, above = ~found.pinned & (b < low - little), ~found.pinned & (b > high + little)
        down, up = pinned_slopes(problem.width, b)
        allowed = found.pinned & (found.cols != self.left[found.rows])
        rising = allowed & (b < upper) & (slope > up + flat)
        falling = allowed & (b > lower) & (slope < down - flat)
        goal = np.select([below, above, rising, falling], [low, high, up, down], found.goal)
        wanted = replace(found, pinned=~found.pinned, goal=goal)
        return wanted, below | above | rising | falling

    def _record(self, settled, found, b, value):
        """Write down the coefficients of the problems that have settled."""
        if not settled.any():
            return
        basis, problem, mine = self.basis, self.basis.problem, settled[found.rows]
        # A system that could not be solved leaves NaN behind, which violates nothing.
        rows = np.tile(basis.b, (np.count_nonzero(settled), 1))
        rows[:, : basis.p] = value[settled, : basis.p]
        place = (np.cumsum(settled) - 1)[found.rows[mine]]
        rows[place, found.cols[mine]] = b[mine]
        rows = np.clip(rows, problem.lower, problem.upper)
        size = np.abs(basis.b).max(initial=0)
        self.b[self.problems[settled]] = problem.settled(rows, ROUNDING, size)
        self.last = found.chosen(mine)

    def _limit(self, moving, n_moving, found):
        """Let one variable move at a time, the last one, where many have not made progress."""
        progress = n_moving < self.fewest
        self.fewest = np.minimum(self.fewest, n_moving)
        self.patience = np.where(progress, PATIENCE, self.patience - 1)
        last = np.full(len(n_moving), -1)
        np.maximum.at(last, found.rows[moving], found.cols[moving])
        single = (self.patience <= 0)[found.rows]
        moving &= ~single | (found.cols == last[found.rows])

    def _not_as_in_basis(self, found):
        """Return the variables whose state is not that of the basis, and those left out."""
        basis, cols = self.basis, found.cols
        usual = np.where(cols < basis.p, basis.slope[cols], basis.b[cols])
        as_in_basis = (found.pinned == (cols >= basis.p)) & (found.goal == usual)
        kept = found.chosen(~as_in_basis | (cols == self.left[found.rows]))
        return kept.chosen(np.argsort(kept.rows, kind="stable"))


def free_box(lower, upper, slope):
    """Return the bounds of free variables: with a tube, their side of zero."""
    return np.where(slope > 0, 0.0, lower), np.where(slope < 0, 0.0, upper)


def pinned_slopes(width, b):
    """Return the slopes below which coefficients go down and above which they go up."""
    return np.where(b > 0, width, -width), np.where(b >= 0, width, -width)


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


def independent_rows(A):
    """Return which rows of a Gram matrix are independent, by pivots in order of their size."""
    independent = np.zeros(len(A), dtype=bool)
    if len(A):
        tol = DEPENDENT * A.diagonal().max()
        _, pivots, rank, _ = lapack.dpstrf(A, tol=tol, lower=1)
        independent[pivots[:rank] - 1] = True
    return independent


def exchange_matrix(Q, p, intercept):
    """Return the response of the first ``p`` coefficients and of the other slopes to exchanges.

    With ``F`` the first ``p`` variables and ``N`` the others it is ``[[G, -W], [-W', W'Q_FN -
    Q_NN]]``, where ``G`` is the inverse of ``Q_FF`` and ``W = G Q_FN``; with an intercept, its
    border with ones. As the coefficients then sum to zero, a constant that is added to ``Q``
    changes nothing, but makes ``Q_FF`` regular. None if it is not.
    """
    n, shift = len(Q), Q.diagonal().mean() if intercept else 0.0
    if not p:
        return None if intercept else -Q
    A = Q[:p, :p] + shift
    L, failed = lapack.dpotrf(A, lower=1, clean=1)
    if failed or L.diagonal().min() ** 2 < DEPENDENT * A.diagonal().max():
        return None
    root = lapack.dtrtri(L, lower=1)[0]
    response, half = np.empty((n, n)), np.empty((p, n))
    response[:p, :p] = root.T @ root
    # In pieces, and one of each pair of tiles that mirror each other: Ctrl-C waits for one.
    pieces = [slice(piece.start + p, piece.stop + p) for piece in slices(n - p, SQUARE)]
    for piece in pieces:
        half[:, piece] = root @ (Q[:p, piece] + shift)
        W = root.T @ half[:, piece]
        response[:p, piece], response[piece, :p] = -W, -W.T
    for r, c in combinations_with_replacement(pieces, 2):
        response[r, c] = half[:, r].T @ half[:, c] - Q[r, c] - shift
        if r != c:
            response[c, r] = response[r, c].T
    if intercept:
        reply = response[:p].sum(axis=0)
        total = reply[:p].sum()
        reply[p:] += 1
        for rows in slices(n, SQUARE):
            response[rows] -= np.outer(reply[rows] / total, reply)
    return response


def sparse_rows(values, rows, cols, n_rows, n_cols):
    """Return a sparse matrix of entries that come row by row."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))])
    return sp.csr_array((values, cols, starts), shape=(n_rows, n_cols))


def solve_side_by_side(matrix, rows, cols, sides, count):
    """Solve with a principal submatrix for each of several problems; NaN where it is singular.

    The entries come row by row. Systems of similar sizes are padded to the same.
    """
    sizes = np.bincount(rows, minlength=count)
    place = np.arange(len(rows)) - (np.cumsum(sizes) - sizes)[rows]
    found = np.empty(len(rows))
    for smaller, largest in pairwise((0, 4, 8, 16, 32, 64, MOST_EXCHANGED)):
        group = (sizes > smaller) & (sizes <= largest)
        if group.any():
            mine = group[rows]
            at = (np.cumsum(group) - 1)[rows[mine]], place[mine]
            found[mine] = _solve_padded(matrix, at, cols[mine], sides[mine], sizes[group].max())
    return found


def _solve_padded(matrix, at, cols, sides, largest):
    """Solve systems of up to ``largest`` unknowns, which are ``at`` problems and places."""
    count = at[0][-1] + 1
    index = np.zeros((count, largest), dtype=np.intp)
    used = np.zeros((count, largest))
    right = np.zeros((count, largest, 1))
    index[at], used[at], right[:, :, 0][at] = cols, 1.0, sides
    systems = matrix[index[:, :, None], index[:, None, :]]
    systems *= used[:, :, None] * used[:, None, :]
    systems[:, np.arange(largest), np.arange(largest)] += 1 - used
    try:
        solved = np.linalg.solve(systems, right)
    except np.linalg.LinAlgError:
        solved = np.stack([_solve_or_nan(*system) for system in zip(systems, right, strict=True)])
    return solved[:, :, 0][at]


def _solve_or_nan(system, right):
    try:
        return np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        return np.full_like(right, np.nan)


def support_suspects(problem, gram, solution):
    """Return which samples are support vectors: without any other the solution is the same."""
    return solution.b != 0


def xi_alpha_suspects(problem, gram, solution):
    """Return which samples may be errors when left out: ``alpha_i D_i**2 + xi_i >= 1``.

    As the coefficient of the sample falls from ``alpha_i`` to zero, the other ones staying
    optimal, its margin ``y_i f(x_i)`` falls at the rate of the squared distance from the sample to
    an affine hull of free vectors, in feature space. The distance to any of them is longer, so
    ``D_i**2 = max_k ||phi_i - phi_k||**2`` bounds the rate, and so does ``2 R**2`` of Joachims
    with ``R**2 = max_i K_ii - min_ij K_ij``. Without an intercept the hull is a subspace, and the
    rate at most ``K_ii``. The ridge of a squared loss belongs to ``K``.
    """
    _need_free_vector(problem, solution.b, "xi-alpha")
    support = np.flatnonzero(solution.b)
    diagonal = gram.diagonal + problem.ridge
    rate = np.zeros(gram.n)
    rate[support] = diagonal[support]
    if problem.intercept:
        for tile in slices(len(support), TILE):
            rows = support[tile]
            K = gram.product(rows, np.eye(len(rows)))  # the columns of these rows
            far = diagonal[:, None] - 2 * K
            far[rows, np.arange(len(rows))] = -np.inf
            rate[rows] += far.max(axis=0)
    margin = problem.target * (problem.target - solution.v + solution.intercept)
    return np.abs(solution.b) * rate >= margin


def span_suspects(problem, gram, solution):
    """Return which samples are errors when left out if no other changes its state.

    That is the span rule of Vapnik and Chapelle, ``alpha_i S_i**2 >= y_i f(x_i)``, where ``S_i``
    is the distance, in feature space, from the sample to the affine hull of the other free
    vectors; without an intercept, to their span.
    """
    _need_free_vector(problem, solution.b, "span")
    support = np.flatnonzero(solution.b)
    free = problem.free(solution.b)[support]
    support, p = support[np.argsort(~free, kind="stable")], np.count_nonzero(free)
    check_memory(16 * len(support) ** 2, "The span rule", 'use method="xi-alpha" or "n_sv".')
    Q = np.empty((len(support), len(support)))
    gram.fill_square(support, Q)
    np.fill_diagonal(Q, (gram.diagonal + problem.ridge)[support])
    response = exchange_matrix(Q, p, problem.intercept)
    if response is None:  # dependent vectors: their spans are nearly zero, as they should be
        Q[np.diag_indices(p)] += 4 * DEPENDENT * Q.diagonal().max()
        response = exchange_matrix(Q, p, problem.intercept)
    reply = response.diagonal()
    squared_span = np.zeros(gram.n)
    # No other vector can take the place of the only free one: there is no hull to be near to.
    alone = problem.intercept and p == 1
    inner = np.full(1, np.inf) if alone else 1 / reply[:p]
    squared_span[support] = np.concatenate([inner, -reply[p:]])
    margin = problem.target * (problem.target - solution.v + solution.intercept)
    return np.abs(solution.b) * squared_span >= margin


def _need_free_vector(problem, b, method):
    if problem.intercept and not problem.free(b).any():
        raise ValueError(
            f'method="{method}" needs a support vector between its bounds: all are at C, and the '
            'intercept is not unique. Use method="exact" or "n_sv", or another C.'
        )


@one_blas_thread()
def classifier_loo_error(model, X, y, sample_weight, method):
    """Return the leave-one-out error of a fitted classifier; see :meth:`SVC.loo_error`."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {METHODS}, got {method!r}.")
    check_is_fitted(model)
    gram, codes, pairs = _fitted_pairs(model, X, y, sample_weight)
    n_classes = len(model.classes_)
    # Without its only sample a class is unknown.
    errors = np.bincount(codes)[codes] == 1
    if method == "exact":
        values = _duels_without_each(model, gram, pairs)
        winners = model._winners(-values if n_classes == 2 else values, n_classes)
        return float(np.mean(errors | (winners != codes)))
    suspects = {"xi-alpha": xi_alpha_suspects, "span": span_suspects, "n_sv": support_suspects}
    for members, problem, b in pairs:
        part = SubGram(gram, members)
        errors[members] |= suspects[method](problem, part, _solution(model, problem, part, b))
    return float(np.mean(errors))


@one_blas_thread()
def regressor_loo_error(model, X, y, sample_weight, method):
    """Return the leave-one-out error of a fitted regression; see :meth:`SVR.loo_error`."""
    if method != "exact":
        raise ValueError(
            f'A regression has no method={method!r}: the bounds "xi-alpha", "span" and "n_sv" '
            'count errors of classification. Use method="exact".'
        )
    check_is_fitted(model)
    X, y, weight = _training_set(model, X, y, sample_weight)
    used = np.flatnonzero(weight)
    y = y[used].astype(np.float64)
    b = np.zeros(len(weight))
    b[model.support_] = _dense(model.dual_coef_)[0]
    problem = model._tube(y, model.C * weight[used])
    gram = model._gram_of(model.kernel_, X, used)
    machine = _resident(model, problem, gram, b[used])
    return float(np.mean(np.abs(y - machine.values_without(machine.support))))


def _training_set(model, X, y, sample_weight):
    """Return validated samples, targets and weights, or raise if their number has changed."""
    X, y = model._validate_query(X), column_or_1d(y)
    check_consistent_length(X, y)
    if X.shape[0] != model.shape_fit_[0]:
        raise _not_the_training_set(f"of {model.shape_fit_[0]} samples, X has {X.shape[0]}")
    weight = check_sample_weight(sample_weight, X, dtype=np.float64)
    return X, y, np.ones(len(y)) if weight is None else weight


def _not_the_training_set(reason):
    return ValueError(
        "Leave-one-out needs the data that the model was fitted to, weights included: the "
        f"training set is one {reason}."
    )


def _fitted_pairs(model, X, y, sample_weight):
    """Return the Gram matrix and the classes of the samples used, and the machines of all pairs.

    A machine is its samples, problem and coefficients. The samples come class by class.
    """
    X, y, weight = _training_set(model, X, y, sample_weight)
    known = np.isin(y, model.classes_)
    if model.class_weight is None and not known[weight > 0].all():
        raise _not_the_training_set(f"with the classes {model.classes_}, y has others")
    codes = np.searchsorted(model.classes_, np.where(known, y, model.classes_[0]))
    used = np.flatnonzero(known & (weight > 0))
    used = used[np.argsort(codes[used], kind="stable")]
    codes = codes[used]
    cost = model.C * weight[used] * model.class_weight_[codes]
    dual = np.zeros((len(model.classes_) - 1, len(weight)))
    dual[:, model.support_] = _dense(model.dual_coef_)
    dual = -dual[:, used] if len(dual) == 1 else dual[:, used]
    pairs = []
    for first, second in combinations(range(len(model.classes_)), 2):
        members = np.flatnonzero((codes == first) | (codes == second))
        ours = codes[members] == first
        problem = margin_problem(
            np.where(ours, 1.0, -1.0),
            cost[members],
            squared=model.loss == "squared_hinge",
            intercept=model.fit_intercept,
        )
        b = np.where(ours, dual[second - 1, members], dual[first, members])
        pairs.append((members, problem, b))
    return model._gram_of(model.kernel_, X, used), codes, pairs


def _dense(coef):
    return coef.toarray() if sp.issparse(coef) else coef


def _duels_without_each(model, gram, pairs):
    """Return the value of each duel at each sample, trained without it; or else just its sign.

    The values matter only where they break ties.
    """
    shared = model._shared_matrix(gram) if len(pairs) > 1 else None
    duels = np.empty((gram.n, len(pairs)))
    for column, (members, problem, b) in enumerate(pairs):
        part = gram if len(pairs) == 1 else SubGram(gram, members, shared)
        machine = _resident(model, problem, part, b)
        if model.break_ties and len(pairs) > 1:
            duels[members, column] = machine.values_without(machine.support)
        else:
            duels[members, column] = machine.decided_values()
        others = np.setdiff1d(np.arange(gram.n), members)
        if len(others):
            support = np.flatnonzero(machine.support)
            values = gram.product(members[support], machine.coef[support], at=others)
            duels[others, column] = values + machine.intercept
    return duels


def _resident(model, problem, gram, b):
    """Return the machine of a fitted model in memory, or raise if it is not that of these data."""
    b = problem.settled(b)
    machine = Resident(problem, gram, b, min(model.tol, TOL))
    _check_distance(model, problem, b, machine.distance)
    return machine.settled()


def _solution(model, problem, gram, b):
    """Return the solution of a fitted model, or raise if it is not that of these data."""
    b = problem.settled(b)
    support = np.flatnonzero(b)
    v = problem.target - problem.ridge * b
    if len(support):
        v = v - gram.product(support, b[support])
    violation = problem.violation(b, v)
    _check_distance(model, problem, b, violation)
    return Solution(problem, b, v, 0, violation, True)


def _check_distance(model, problem, b, violation):
    """Raise if coefficients violate more than they did when the model was fitted."""
    feasible = (b >= problem.lower).all() and (b <= problem.upper).all()
    before = np.max(model.kkt_violation_)
    if not feasible or not violation <= 1.5 * before + 1e-7 * (1 + np.abs(problem.target).max()):
        raise _not_the_training_set(f"at which it is optimal to {before:.1e}, not {violation:.1e}")
