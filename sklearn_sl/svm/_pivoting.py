"""Exchange a few variables of a solution, all left-out samples at once.

Leaving out a sample pins its coefficient to zero. Most other coefficients keep their state, at a
bound or free between its bounds; where they all do, the new solution is one linear solve. Where
some do not, they are exchanged between the two states until all optimality conditions hold. The
systems are small and solved side by side.
"""

from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, pairwise

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from sklearn_sl._rows import slices
from sklearn_sl.svm._problem import Problem

# The side of a tile of the response of slopes to coefficients.
SQUARE = 512
# Violations up to this, relative to the size of the numbers, are rounding errors.
ROUNDING = 1e-11
# Pivots below this, relative to the largest, are those of dependent samples.
DEPENDENT = 1e-10
# Rounds of exchanges, and those without progress after which one variable moves at a time.
ROUNDS, PATIENCE = 30, 3
# The most exchanges of a sample that are solved side by side with those of others.
MOST_EXCHANGED = 100


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
