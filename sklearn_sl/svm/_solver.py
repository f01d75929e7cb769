"""Decomposition: SMO on a block of the Gram matrix that fits, until the whole is optimal."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from sklearn_sl.svm import _smo
from sklearn_sl.svm._gram import fill_square
from sklearn_sl.svm._problem import Problem

# Numbers that a slice of compiled work reads: a few hundredths of a second.
SLICE = 30_000_000
# Samples up to which blocks are in float64, and the solution is polished to rounding errors.
EXACT, POLISHED = 2048, 512
# The violation that polishing aims at, relative to the numbers that it is a difference of.
POLISH, POLISH_ROUNDS = 1e-15, 30
# Rows of the smallest block, whatever the cache size.
SMALLEST_BLOCK = 128
# Below this violation a block that holds all violators is solved to the end at once.
NEAR = 0.05


@dataclass
class Solution:
    """A solution of a :class:`Problem`, with what certifies it."""

    problem: Problem
    b: np.ndarray
    v: np.ndarray
    n_iter: int
    violation: float
    converged: bool

    @property
    def intercept(self):
        """The intercept of the machine."""
        return self.problem.best_intercept(self.b, self.v)

    @property
    def dual_objective(self):
        """The dual objective."""
        return self.problem.dual_objective(self.b, self.v)

    @property
    def primal_objective(self):
        """The primal objective."""
        return self.problem.primal_objective(self.b, self.v, self.intercept)

    @property
    def squared_norm(self):
        """The squared norm of the machine in the Hilbert space of the kernel."""
        return self.problem.squared_norm(self.b, self.v)

    @property
    def values(self):
        """The values of the machine at the training samples."""
        return self.problem.values(self.b, self.v, self.intercept)


class Block:
    """A square block of the Gram matrix, and the SMO steps on its variables.

    One buffer holds the block; a new choice of rows keeps what it shares with the last one. A
    problem without an intercept has a variable more, in the first place, whose kernel is zero:
    every other variable can move against it, so that the sum is free.
    """

    def __init__(self, problem, gram, dtype, largest):
        self.problem = problem
        self.gram = gram
        self.extra = 0 if problem.intercept else 1
        self.rows = np.empty(0, dtype=np.intp)
        self.diagonal = gram.diagonal + problem.ridge
        padded = _padded(largest + self.extra)
        self.buffer = np.empty((largest + self.extra) * padded, dtype=dtype)
        scale = np.abs(gram.diagonal).max(initial=0) or 1.0
        self.flat = max(1e-12, 4 * np.finfo(dtype).eps) * scale

    def choose(self, rows):
        """Make the block that of ``rows``; kept rows come first."""
        place = np.full(self.gram.n, -1)
        place[self.rows] = np.arange(len(self.rows))
        known = place[rows] >= 0
        kept = np.sort(place[rows[known]])
        if known.all() and len(kept) == len(self.rows):
            return
        self._compact(kept, len(rows))
        self.rows = np.concatenate([self.rows[kept], rows[~known]])
        e, n, K = self.extra, len(rows), self.K(len(rows))
        inner = K[e:, e : e + n]
        fill_square(self.gram, self.rows, inner, len(kept))
        np.fill_diagonal(inner, self.diagonal[self.rows])
        K[:e], K[:, :e], K[:, e + n :] = 0, 0, 0

    def K(self, n):
        """Return the block of ``n`` rows as a matrix with padded rows."""
        n += self.extra
        return self.buffer[: n * _padded(n)].reshape(n, _padded(n))

    def _compact(self, kept, n):
        """Move the kept rows and columns to the front, in place: they come from behind."""
        e, old, new = self.extra, self.K(len(self.rows)), self.K(n)
        if len(kept) == len(self.rows) and old.shape[1] == new.shape[1]:
            return
        if new.shape[1] <= old.shape[1]:
            for i, source in enumerate(kept):
                new[e + i, e : e + len(kept)] = old[e + source, e + kept]
            return
        small = old[e:, e:][np.ix_(kept, kept)]  # the rows grow: what is kept must step aside
        new[e : e + len(kept), e : e + len(kept)] = small

    def state(self, b, v):
        """Return the state of the variables of the block for the compiled steps."""
        e, n, problem = self.extra, len(self.rows), self.problem
        state = np.zeros((8, _padded(n + e)))
        inner = self.inner(state)
        inner[0], inner[1] = b[self.rows], v[self.rows]
        inner[2], inner[3] = problem.lower[self.rows], problem.upper[self.rows]
        inner[4] = problem.width
        inner[5] = self.diagonal[self.rows]
        if e:
            state[2, 0], state[3, 0] = -np.inf, np.inf
        return state

    def inner(self, state):
        """Return the part of a state that belongs to samples."""
        return state[:, self.extra : self.extra + len(self.rows)]

    def steps(self, state, tol, shrinking, max_steps, watch):
        """Take steps until the violation within the block is at most ``tol``."""
        violation, taken = np.empty(1), 0
        K = self.K(len(self.rows))
        while taken < max_steps:
            steps = _smo.solve(
                K, state, tol, self.flat, shrinking, max_steps - taken, SLICE, violation
            )
            taken += steps
            if watch(violation[0]) or not violation[0] > tol or not steps:
                break
        return taken


def _padded(n):
    return -(-n // _smo.PADDING) * _smo.PADDING


def solve(
    problem,
    gram,
    *,
    tol,
    max_iter=-1,
    cache_bytes=2e8,
    shrinking=True,
    polish=None,
    start=None,
    watch=None,
):
    """Return a solution of ``problem`` whose violation is at most ``tol``.

    Parameters
    ----------
    problem : Problem
        The problem.
    gram : KernelGram or MatrixGram
        The Gram matrix.
    tol : float
        The violation at which to stop, that of the exact gradient in float64.
    max_iter : int
        The most SMO steps; -1 is ten million, or a hundred per sample if that is more.
    cache_bytes : float
        The most memory for blocks of the Gram matrix.
    shrinking : bool
        Whether to leave out, for a while, the variables that violate nothing.
    polish : bool, default=None
        Whether to go on to rounding errors; None does so for a few hundred samples.
    start : Solution or ndarray of shape (n,), default=None
        Where to start: feasible coefficients, with their gradient if it is known.
    watch : callable, default=None
        Called with the violation after every slice of the work; a true answer ends it.
    """
    budget = max(10_000_000, 100 * gram.n) if max_iter < 0 else max_iter
    search = _Search(problem, gram, tol, budget, cache_bytes, shrinking, watch or _look_away)
    search.start(start)
    search.approach()
    search.refine()
    if len(search.used) <= POLISHED if polish is None else polish:
        search.polish()
    return search.solution()


def _look_away(violation):
    return False


class _Search:
    """The outer loop of the solver: which block, how far, and how exact the gradient is."""

    def __init__(self, problem, gram, tol, budget, cache_bytes, shrinking, watch):
        self.problem, self.gram, self.tol, self.budget = problem, gram, tol, budget
        self.cache_bytes, self.shrinking, self._asked = cache_bytes, shrinking, watch
        self.ridge = problem.ridge
        self.used = np.flatnonzero(problem.lower < problem.upper)
        self.n_iter = 0
        exact = len(self.used) <= EXACT or not 1e-15 < np.abs(gram.diagonal).max(initial=0) < 1e15
        self._allocate(np.float64 if exact else np.float32)

    def _allocate(self, dtype):
        # A quarter more is for the compact copy that shrinking makes.
        n, fits = len(self.used), int(np.sqrt(self.cache_bytes / (1.25 * np.dtype(dtype).itemsize)))
        self.largest = min(n, max(fits, SMALLEST_BLOCK))
        self.block = Block(self.problem, self.gram, dtype, self.largest)

    def watch(self, violation):
        """Tell whoever watches; a true answer uses up the budget."""
        if self._asked(violation):
            self.budget = 0
        return not self.budget

    @property
    def whole(self):
        """Whether a block holds all variables that can move."""
        return self.largest == len(self.used)

    @property
    def violation(self):
        """The violation by the gradient as it is known."""
        return self.problem.violation(self.b, self.v)

    def start(self, start):
        """Set the first coefficients and their gradient."""
        if isinstance(start, Solution):
            self.b, self.v = start.b.copy(), start.v.copy()
        else:
            self.b = np.zeros(self.gram.n) if start is None else np.array(start, dtype=np.float64)
            self.v = self.gradient()

    def gradient(self):
        """Return ``v = target - (K + ridge) b`` in float64."""
        v = self.problem.target - self.ridge * self.b
        support = np.flatnonzero(self.b)
        return v - self.gram.product(support, self.b[support]) if len(support) else v

    def approach(self):
        """Take steps until the violation is at most ``tol``, as far as float32 can tell."""
        violation = self.violation
        while violation > self.tol and self.n_iter < self.budget:
            moved, moves, v = self._round(violation)
            if self.whole:
                self.v[self.block.rows] = v
            elif len(moved):
                self._subtract(moved, moves, rough=True)
            if not len(moved):
                break
            violation = self.violation
        if self.n_iter:
            self.v = self.gradient()

    def refine(self):
        """Correct the solution with exact gradients, until the violation is at most ``tol``."""
        violation, best, stalled = self.violation, np.inf, 0
        while violation > self.tol and self.n_iter < self.budget:
            stalled = stalled + 1 if violation > 0.7 * best else 0
            best = min(best, violation)
            moved, moves, _ = self._round(violation)
            if len(moved):
                self._subtract(moved, moves)
            if stalled > 3 or not len(moved):
                if self.block.buffer.dtype == np.float64:
                    break
                self._allocate(np.float64)
                best, stalled = np.inf, 0
            violation = self.violation

    def _round(self, violation):
        """Take steps in a block; return the variables that moved, how far, and its gradient."""
        rows, complete = self._violators()
        self.block.choose(rows)
        near = self.whole or (complete and violation < NEAR)
        goal = 0.9 * self.tol if near else max(0.1 * violation, 0.9 * self.tol)
        state = self.block.state(self.b, self.v)
        self.n_iter += self.block.steps(
            state, goal, self.shrinking, self.budget - self.n_iter, self.watch
        )
        rows, inner = self.block.rows, self.block.inner(state)
        moves = inner[0] - self.b[rows]
        moved = np.flatnonzero(moves)
        self.b[rows] = inner[0]
        return rows[moved], moves[moved], inner[1]

    def _subtract(self, moved, moves, *, rough=False):
        self.v -= self.gram.product(moved, moves, rough=rough)
        self.v[moved] -= self.ridge[moved] * moves

    def _violators(self):
        """Return the rows of the next block, and whether it holds every violating variable."""
        if self.whole:
            return self.used, True
        problem, used = self.problem, self.used
        most, least = problem.extremes(self.b, self.v)
        up, down = problem.slopes(self.b, self.v)
        gain = np.maximum(up - least, most - down)[used]
        violating = np.flatnonzero(gain > 0)
        if len(violating) <= self.largest:
            return used[violating], True
        free = ((self.b > problem.lower) & (self.b < problem.upper) & (self.b != 0))[used]
        gain[free] = np.inf
        # Half of them to go up and half to go down; the shuffle decides between equals.
        order = np.random.default_rng(0).permutation(violating)
        upwards = (up - least)[used] >= (most - down)[used]
        half = self.largest // 2
        groups = [order[upwards[order]], order[~upwards[order]]]
        shorter = min(len(group) for group in groups)
        sizes = [min(len(g), max(half, self.largest - shorter)) for g in groups]
        best = [g[np.argsort(-gain[g], kind="stable")[:size]] for g, size in zip(groups, sizes)]
        return used[np.sort(np.concatenate(best)[: self.largest])], False

    def polish(self):
        """Go on to rounding errors: SMO steps find the face of the box, a Newton step its optimum.

        Small problems can afford it, and the solution then depends on nothing but the problem:
        not on the order of the rows, nor on whether a row is repeated or has a weight.
        """
        best = self.solution()
        if not best.converged:
            return
        K = self._small_matrix()
        scale = np.abs(K).max(initial=0) * np.abs(self.b).sum() + np.abs(self.problem.target).max()
        goal = POLISH * scale
        for _ in range(POLISH_ROUNDS):
            violation = self.violation
            if violation < best.violation:
                best = self.solution()
            if not violation > goal or self.n_iter >= self.budget:
                break
            self._newton(K)
            self._few_steps(max(goal, 0.1 * min(violation, self.violation)))
            self.v = self.gradient()
        if self.violation > best.violation:
            self.b, self.v = best.b, best.v

    def _small_matrix(self):
        self.block.choose(self.used)
        e, n = self.block.extra, len(self.used)
        order = np.argsort(self.block.rows)
        return self.block.K(n)[e:, e : e + n][np.ix_(order, order)]

    def _newton(self, K):
        """Minimise over the free variables, as far as the box allows."""
        problem, b = self.problem, self.b[self.used]
        lower, upper = problem.lower[self.used], problem.upper[self.used]
        free = np.flatnonzero((b > lower) & (b < upper) & ((b != 0) | (problem.width == 0)))
        if len(free) < 1 + problem.intercept:
            return
        side = np.sign(b[free])
        slope = self.v[self.used[free]] - problem.width * side
        step = newton_step(K[np.ix_(free, free)], slope, problem.intercept)
        low, high = lower[free], upper[free]
        if problem.width:
            low, high = np.where(side > 0, 0, low), np.where(side < 0, 0, high)
        moved = stepped(b[free], step, low, high)
        self._subtract(self.used[free], moved - b[free])
        self.b[self.used[free]] = moved

    def _few_steps(self, tol):
        state = self.block.state(self.b, self.v)
        budget = min(self.budget - self.n_iter, 50 * len(self.used))
        self.n_iter += self.block.steps(state, tol, False, budget, self.watch)
        self.b[self.block.rows] = self.block.inner(state)[0]
        self.v[self.block.rows] = self.block.inner(state)[1]

    def solution(self):
        """Return what was found."""
        violation = self.violation
        converged = not violation > self.tol
        return Solution(
            self.problem, self.b.copy(), self.v.copy(), self.n_iter, violation, converged
        )


def newton_step(K, slope, balanced):
    """Return ``d`` with ``slope - Kd`` constant and ``sum(d) = 0``, or zero if not balanced."""
    jitter = 1e-13 * np.abs(K.diagonal()).max()
    sides = np.column_stack([slope, np.ones(len(K))])
    for _ in range(4):
        shifted = K + jitter * np.eye(len(K))
        _, solved, failed = lapack.dposv(shifted, sides, lower=1)
        if not failed:
            break
        jitter *= 1e3
    else:
        return np.zeros(len(K))
    if not balanced:
        return solved[:, 0]
    step = solved[:, 0] - solved[:, 0].sum() / solved[:, 1].sum() * solved[:, 1]
    return step - step.mean()


def stepped(b, step, low, high):
    """Return ``b`` after as much of the step as the box allows; it lands on bounds exactly."""
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(step > 0, (high - b) / step, np.where(step < 0, (low - b) / step, np.inf))
    part = min(1.0, room.min())
    ends = np.where(step > 0, high, low)
    return np.where(room <= part, ends, b + part * step)
