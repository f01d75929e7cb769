"""Sequential minimal optimisation on blocks of the Gram matrix that fit, and Newton steps."""

import numpy as np
from scipy.linalg import lapack

from sklearn_sl._threads import one_blas_thread
from sklearn_sl.svm._gram import Block
from sklearn_sl.svm._problem import DualSolution

# Samples up to which blocks are in float64.
EXACT = 2048
# The violation that polishing aims at, relative to the numbers that it is a difference of.
POLISH, POLISH_ROUNDS = 1e-15, 30
# Steps per variable after which Newton steps help along, and from then on between them; how many
# of those at a time, and for how many free variables at most.
PATIENCE, IMPATIENCE, FACES, MOST_FREE = 100, 5, 10, 2000
# Costs on the way up, as parts of the cost asked for.
COST_STEP = 0.1
COSTS = (1e-4, 1e-3, 1e-2, 1e-1)
# Coefficients beyond this are on their way to infinity.
UNBOUNDED = 1e100
NO_OPTIMUM = (
    "The dual problem is unbounded: the kernel matrix is not positive semi-definite on this data, "
    "or its values overflow. Choose another kernel or other parameters, scale the features, or use "
    "a loss that is not squared and a finite C."
)
# Rows of the smallest block, two megabytes whatever the cache size.
SMALLEST_BLOCK = 512
# Below this violation a block that holds all violators is solved to the end at once.
NEAR = 0.05


def solve(
    problem,
    gram,
    *,
    tol,
    max_iter=-1,
    cache_bytes=2e8,
    shrinking=True,
    polish=False,
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
        The maximum number of SMO steps; -1 is ten million, or a hundred per sample if that is more.
    cache_bytes : float
        The maximum memory for blocks of the Gram matrix.
    shrinking : bool
        Whether to leave out, for a while, the variables that violate nothing.
    polish : bool, default=False
        Whether to go on to rounding errors.
    start : DualSolution or ndarray of shape (n,), default=None
        Where to start: feasible coefficients, with their gradient if it is known.
    watch : callable, default=None
        Called with the violation after every slice of the work; a true result ends it.
    """
    search = Search(
        problem,
        gram,
        tol=tol,
        max_iter=max_iter,
        cache_bytes=cache_bytes,
        shrinking=shrinking,
        polish=polish,
        start=start,
        watch=watch,
    )
    with one_blas_thread():
        search.approach()
        return search.finish()


def polished_violation(problem, gram, b):
    """Return the violation that is a rounding error of the numbers whose difference it is."""
    size = np.abs(gram.diagonal).max(initial=0)
    return POLISH * (size * np.abs(b).sum() + np.abs(problem.target).max(initial=0))


def go_on(violation):
    """Let the solver go on after a slice of its work, whatever the violation."""
    return False


class Search:
    """The outer loop of the solver: which block, how far, and how exact the gradient is.

    ``approach`` steers by blocks of float32 where there are many samples; ``finish`` certifies
    and corrects what it found. The parameters are those of :func:`solve`.
    """

    def __init__(
        self,
        problem,
        gram,
        *,
        tol,
        max_iter=-1,
        cache_bytes=2e8,
        shrinking=True,
        polish=False,
        start=None,
        watch=None,
        block=None,
    ):
        self.problem, self.gram, self.tol = problem, gram, tol
        self.budget = max(10_000_000, 100 * gram.n) if max_iter < 0 else max_iter
        self.cache_bytes, self.shrinking = cache_bytes, shrinking
        self._asked = watch or go_on
        self.ridge = problem.ridge
        self.used = np.flatnonzero(problem.lower < problem.upper)
        self.polished = polish
        self.n_iter, self.patience = 0, PATIENCE * len(self.used)
        moderate = 1e-15 < np.abs(gram.diagonal).max(initial=0) < 1e15
        self._plan(np.float32 if len(self.used) > EXACT and moderate else np.float64)
        self.cost_grown = block is not None
        if self.cost_grown:
            block.turn_to(problem)
            self._block, self.dtype = block, block.buffer.dtype
        self._start(start)

    def _plan(self, dtype):
        """Choose the type and the most rows of a block; it is made when it is needed."""
        # A quarter more is for the compact copy that shrinking makes.
        n, fits = len(self.used), int(np.sqrt(self.cache_bytes / (1.25 * np.dtype(dtype).itemsize)))
        self.dtype, self.largest, self._block = dtype, min(n, max(fits, SMALLEST_BLOCK)), None

    @property
    def block(self):
        """The block, made at the first use."""
        if self._block is None:
            self._block = Block(self.problem, self.gram, self.ridge, self.dtype, self.largest)
        return self._block

    def take_over(self, other):
        """Use the block of another search, on the same Gram matrix, from now on."""
        same = (self.dtype, self.largest) == (other.dtype, other.largest)
        if other._block is not None and same and self.problem.intercept == other.problem.intercept:
            self._block = other._block
            self._block.turn_to(self.problem)
            if self.whole:  # as many variables that can move need not be the same ones
                self._block.choose(self.used)

    def watch(self, violation):
        """Call the function that watches; a true result uses up the budget."""
        if not violation < UNBOUNDED:
            raise ValueError(NO_OPTIMUM)
        if self._asked(violation):
            self.budget = 0
        return not self.budget

    @property
    def whole(self):
        """Whether a block holds all variables that can move."""
        return self.largest == len(self.used)

    @property
    def whole_of_gram(self):
        """Whether all samples can move."""
        return len(self.used) == self.gram.n

    @property
    def violation(self):
        """The violation by the gradient as it is known."""
        return self.problem.violation(self.b, self.v)

    @property
    def _reachable(self):
        """The tolerance, unless rounding errors are larger."""
        return max(self.tol, 100 * polished_violation(self.problem, self.gram, self.b))

    def _start(self, start):
        """Set the first coefficients and their gradient."""
        if isinstance(start, DualSolution):
            self.b, self.v = start.b.copy(), start.v.copy()
        else:
            self.b = np.zeros(self.gram.n) if start is None else np.array(start, dtype=np.float64)
            self.v = self.gradient()
        # The size of the first coefficients: those that go to zero leave so large errors behind.
        self.first = np.abs(self.b).max(initial=0)

    def gradient(self):
        """Return ``v = target - (K + ridge) b`` in float64."""
        product = self._product_in_block(self.b)
        if product is not None:
            return self.problem.target - product
        v = self.problem.target - self.ridge * self.b
        support = np.flatnonzero(self.b)
        return v - self.gram.product(support, self.b[support]) if len(support) else v

    @property
    def _resident(self):
        """Whether the block has all variables that can move, in float64."""
        block = self._block
        exact = self.dtype == np.float64
        return block is not None and exact and len(block.rows) == len(self.used)

    def _product_in_block(self, b):
        """Return ``(K + ridge) b`` if the block has the whole matrix in float64, else None."""
        return self.block.product(b) if self._resident and self.whole_of_gram else None

    @np.errstate(over="ignore", invalid="ignore")
    def approach(self):
        """Take steps until the violation is at most ``tol``, as far as float32 can tell."""
        violation = self.violation
        while violation > self._reachable and self.n_iter < self.budget:
            moved, moves, v = self._round(violation)
            if self.whole:
                self.v[self.block.rows] = v
            elif len(moved):
                self._subtract(moved, moves, rough=True)
            if not len(moved):
                break
            violation = self.violation
            if self.patience < 0 and violation > self.tol and self.n_iter < self.budget:
                self._help_along()
                violation = self.violation

    @np.errstate(over="ignore", invalid="ignore")
    def finish(self, gradient=None):
        """Certify and correct what ``approach`` found; its exact gradient may be known."""
        if self.n_iter:
            self.v = self.gradient() if gradient is None else gradient
        self._refine()
        if self.polished:
            self._polish()
        self._settle()
        return self.solution()

    def _settle(self):
        """Put coefficients on the bounds that they missed by a rounding error, if it does no harm.

        The sum of the coefficients is zero only but for such errors.
        """
        b = self.problem.settled(self.b, size=self.first)
        moved = np.flatnonzero(b != self.b)
        if not len(moved):
            return
        before, allowed = (self.b, self.v.copy()), max(self.violation, self.tol)
        self._subtract(moved, (b - self.b)[moved])
        self.b = b
        if self.violation > allowed:
            self.b, self.v = before

    def _refine(self):
        """Correct the solution with exact gradients, until the violation is at most ``tol``."""
        violation, best, stalled = self.violation, np.inf, 0
        while violation > self._reachable and self.n_iter < self.budget:
            stalled = stalled + 1 if violation > 0.7 * best else 0
            best = min(best, violation)
            moved, moves, _ = self._round(violation)
            if len(moved):
                self._subtract(moved, moves)
            if self.patience < 0:
                self._newton_steps()
            if stalled > 3 or not len(moved):
                if self.dtype == np.float64:
                    break
                self._plan(np.float64)
                best, stalled = np.inf, 0
            violation = self.violation

    def _round(self, violation):
        """Take steps in a block; return the variables that moved, how far, and its gradient."""
        rows, complete = self._violators()
        near = self.whole or (complete and violation < NEAR)
        goal = 0.9 * self.tol if near else max(0.1 * violation, 0.9 * self.tol)
        before = self.n_iter
        some = (PATIENCE if self.patience > 0 else IMPATIENCE) * len(rows)
        b, v = self._improve(rows, goal, some, shrinking=self.shrinking)
        self.patience -= self.n_iter - before
        rows = self.block.rows
        moves = b - self.b[rows]
        moved = np.flatnonzero(moves)
        self.b[rows] = b
        return rows[moved], moves[moved], v

    def _improve(self, rows, goal, some, *, shrinking):
        """Take up to ``some`` steps in a block; return coefficients and gradients of its rows."""
        b, v, taken = self.block.improve(
            rows,
            self.b,
            self.v,
            goal,
            shrinking=shrinking,
            max_steps=min(self.budget - self.n_iter, some),
            watch=self.watch,
        )
        self.n_iter += taken
        return b, v

    def _subtract(self, moved, moves, *, rough=False):
        """Let the gradient follow the moves of some coefficients."""
        change = np.zeros(self.gram.n)
        change[moved] = moves
        product = self._product_in_block(change)
        if product is not None:
            self.v -= product
            return
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
        free = problem.free(self.b)[used] & (self.b[used] != 0)
        if np.count_nonzero(free) <= self.largest // 2:  # else they would take turns with none
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

    def _polish(self):
        """Go on to rounding errors: SMO steps find the face of the box, a Newton step its optimum.

        Small problems can afford it, and the solution then depends on nothing but the problem:
        not on the order of the rows, nor on whether a row is repeated or has a weight.
        """
        best = self.solution()
        if best.violation > self._reachable:
            return
        goal = polished_violation(self.problem, self.gram, self.b)
        for _ in range(POLISH_ROUNDS):
            violation = self.violation
            if violation < best.violation:
                best = self.solution()
            if not violation > goal or self.n_iter >= self.budget:
                break
            self._newton()
            near = max(goal, 0.1 * min(violation, self.violation))
            b, v = self._improve(self.used, near, 50 * len(self.used), shrinking=False)
            self.b[self.block.rows], self.v[self.block.rows] = b, v
            self.v = self.gradient()
        if self.violation > best.violation:
            self.b, self.v = best.b, best.v

    def _newton(self):
        """Minimise over the free variables, as far as the box allows; return whether it was hit."""
        problem, b = self.problem, self.b
        free = np.flatnonzero(problem.free(b))
        if not problem.intercept < len(free) <= MOST_FREE:
            return False
        b, lower, upper = b[free], problem.lower[free], problem.upper[free]
        side = np.sign(b)
        step = newton_step(
            self._exact_matrix(free), self.v[free] - problem.width * side, problem.intercept
        )
        if problem.width:
            lower, upper = np.where(side > 0, 0, lower), np.where(side < 0, 0, upper)
        moved = stepped(b, step, lower, upper)
        self._subtract(free, moved - b)
        self.b[free] = moved
        return bool(((moved == lower) | (moved == upper)).any())

    def _help_along(self):
        """Do what helps where SMO is slow: let the cost grow, once, then take Newton steps."""
        if self.whole and not self.cost_grown and np.isfinite(self.problem.cost).all():
            self._grow_cost()
        else:
            self._newton_steps()

    def _grow_cost(self):
        """Restart from a small cost, which makes an easy problem, and let it grow.

        Multiplied by as much, the solution for a cost is a good start for a larger one.
        """
        b = np.zeros(self.gram.n)
        rough = max(self.tol, 1e-3 * np.ptp(self.problem.target))
        for factor in COSTS:
            search = Search(
                self.problem.with_cost(factor),
                self.gram,
                tol=rough,
                max_iter=max(self.budget - self.n_iter, 0),
                cache_bytes=self.cache_bytes,
                shrinking=self.shrinking,
                start=b / COST_STEP,
                watch=self._asked,
                block=self.block,
            )
            search.approach()
            self.n_iter += search.n_iter
            b = search.b
        self.block.turn_to(self.problem)
        self.b, self.cost_grown = self.problem.clipped(b / COST_STEP), True
        self.patience, self.v = PATIENCE * len(self.used), self.gradient()

    def _newton_steps(self):
        """Take Newton steps from face to face of the box."""
        for _ in range(FACES):
            if not self._newton():
                return

    def _exact_matrix(self, rows):
        """Return the Gram matrix of these rows, with the ridge, in float64."""
        if self._resident:
            return self.block.matrix(rows)
        K = np.empty((len(rows), len(rows)))
        self.gram.fill_square(rows, K)
        np.fill_diagonal(K, (self.gram.diagonal + self.ridge)[rows])
        return K

    def solution(self):
        """Return what was found."""
        violation = self.violation
        if not violation < UNBOUNDED or not np.isfinite(self.b).all():
            raise ValueError(NO_OPTIMUM)
        converged = not violation > self.tol
        return DualSolution(
            self.problem, self.b.copy(), self.v.copy(), self.n_iter, violation, converged
        )


def newton_step(K, slope, balanced):
    """Return ``d`` with ``slope - Kd`` constant and ``sum(d) = 0``, or zero if not balanced."""
    if balanced:  # the same problem for every d with sum zero, and a smaller matrix
        K = K - K.mean(axis=0)
        K -= K.mean(axis=1)[:, None]
        K += np.abs(K.diagonal()).max() / len(K)
    jitter = 1e-13 * np.abs(K.diagonal()).max()
    sides = np.column_stack([slope, np.ones(len(K))])
    for _ in range(4):
        shifted = K.copy()
        shifted.flat[:: len(K) + 1] += jitter
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
