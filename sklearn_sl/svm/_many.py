"""Several problems on one Gram matrix: many at once, or one started from the last."""

from dataclasses import replace

import numpy as np
from joblib import effective_n_jobs

from sklearn_sl._threads import in_order
from sklearn_sl.svm import _smo
from sklearn_sl.svm._gram import SLICE, SubGram, flattest
from sklearn_sl.svm._problem import NEAR_BOUND, DualSolution, Solutions
from sklearn_sl.svm._solver import NO_OPTIMUM, PATIENCE, POLISH, Search

# Kernel values of all problems together above which a second thread gains more than it costs.
WORTH_A_THREAD = 10_000_000


class Batch:
    """Problems on parts of one set of samples, one after the other in one array.

    What a problem says of its variables one by one is said of all problems at once; sums and
    extremes are those of segments. With thousands of pairs of classes a Python object for each
    would cost more than the solution.

    Parameters
    ----------
    whole : Problem
        The problems, their variables one after the other.
    rows : ndarray of int
        The sample of each variable.
    lengths : array-like of int
        The number of variables of each problem, at least one.
    """

    def __init__(self, whole, rows, lengths):
        self.whole, self.rows, self.lengths = whole, rows, np.asarray(lengths)
        self.stops = np.cumsum(self.lengths)
        self.starts = self.stops - self.lengths

    @classmethod
    def of(cls, problems, places):
        """Return the batch of problems that differ in their arrays only."""
        names = ("target", "lower", "upper", "cost")
        joined = {name: np.concatenate([getattr(p, name) for p in problems]) for name in names}
        whole = replace(problems[0], **joined)
        return cls(whole, np.concatenate(places), [len(rows) for rows in places])

    def __len__(self):
        return len(self.lengths)

    def segment(self, k):
        """Return where the variables of a problem are."""
        return slice(self.starts[k], self.stops[k])

    def problem(self, k):
        """Return one problem."""
        return self.whole.of(self.segment(k))

    def take(self, chosen):
        """Return the batch of some problems, and where their variables are in this one."""
        places = np.concatenate([np.arange(self.starts[k], self.stops[k]) for k in chosen])
        return Batch(self.whole.of(places), self.rows[places], self.lengths[chosen]), places

    def each(self, numbers):
        """Return a number of each problem for each of its variables."""
        return np.repeat(numbers, self.lengths)

    def sums(self, terms):
        """Return the sum over the variables of each problem."""
        return np.add.reduceat(terms, self.starts)

    def largest(self, terms):
        """Return the largest term of each problem."""
        return np.maximum.reduceat(terms, self.starts)

    def extremes(self, b, v):
        """Return ``Problem.extremes`` of each problem."""
        up, down = self.whole.slopes(b, v)
        most, least = self.largest(up), -self.largest(-down)
        if self.whole.intercept:
            return most, least
        return np.maximum(most, 0.0), np.minimum(least, 0.0)

    def violations(self, b, v):
        """Return the violation of each problem."""
        most, least = self.extremes(b, v)
        return np.maximum(most - least, 0.0)

    def is_settled(self, b):
        """Return which problems have no coefficient next to a bound by a rounding error."""
        near = NEAR_BOUND * self.each(self.largest(np.abs(b)))
        settled = self.whole.moved_to_bounds(b, near)
        return np.logical_and.reduceat(settled == b, self.starts)

    def intercepts(self, b, v):
        """Return ``Problem.best_intercept`` of each problem."""
        whole = self.whole
        if not whole.intercept:
            return np.zeros(len(self))
        free = whole.free(b) & (b != 0)
        total = self.sums(np.where(free, v - whole.width * np.sign(b), 0.0))
        n_free = self.sums(free.astype(np.int64))
        ends = np.stack(self.extremes(b, v))
        known = np.isfinite(ends)
        middle = np.where(known, ends, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        return np.where(n_free > 0, total / np.maximum(n_free, 1), middle)


def solve_many(batch, gram, values, *, n_jobs=None, **options):
    """Return the :class:`~sklearn_sl.svm._problem.Solutions` of a batch of problems.

    Parameters
    ----------
    batch : Batch
        The problems.
    gram : KernelGram or MatrixGram
        The Gram matrix of all samples.
    values : ndarray of shape (n, n)
        The same in memory: in float64 exact, in float32 good enough to steer by.
    n_jobs : int, default=None
        The number of threads.
    **options
        Those of :func:`~sklearn_sl.svm._solver.solve`.
    """
    worth = np.sum(batch.lengths**2.0) > WORTH_A_THREAD
    threads = min(effective_n_jobs(n_jobs), len(batch)) if worth else 1
    b, v = np.empty((2, len(batch.rows)))
    steps, violations = np.zeros(len(batch), dtype=np.int64), np.full(len(batch), np.inf)

    def first_steps(first, over):
        chosen = np.arange(first, len(batch), threads)
        part, places = batch.take(chosen)
        found = _first_steps(part, gram, values, **until(over, options))
        b[places], v[places], steps[chosen], violations[chosen] = found

    for _ in in_order(first_steps, range(threads), threads):
        pass
    if not np.isfinite(b).all():
        raise ValueError(NO_OPTIMUM)
    if values.dtype != np.float64:
        v = _exact_gradients(batch, gram, b)
        violations = batch.violations(b, v)
    goal = np.full(len(batch), options["tol"])
    if options["polish"]:
        goal = np.minimum(goal, _polished_violations(batch, gram, b))
    converged = (violations <= goal) & batch.is_settled(b)

    def finish(k, over):
        place = batch.segment(k)
        problem, rows = batch.problem(k), batch.rows[place]
        start = DualSolution(problem, b[place], v[place], int(steps[k]), violations[k], False)
        part = SubGram(gram, rows, values)
        search = Search(problem, part, start=start, **until(over, options))
        search.n_iter = start.n_iter
        search.approach()
        return search.finish()

    rest = np.flatnonzero(~converged)
    for k, solution in zip(rest, in_order(finish, rest, threads), strict=True):
        b[batch.segment(k)], v[batch.segment(k)] = solution.b, solution.v
        steps[k], violations[k] = solution.n_iter, solution.violation
        converged[k] = solution.converged
    return solutions_of_batch(batch, b, v, steps, violations, converged)


def solutions_of_batch(batch, b, v, steps, violations, converged):
    """Return the solutions of a batch, with what certifies them."""
    whole, intercept = batch.whole, batch.intercepts(b, v)
    squared_norm = np.maximum(batch.sums(b * (whole.target - v - whole.ridge * b)), 0.0)
    slack = whole.slack(whole.values(b, v, batch.each(intercept)))
    gain = batch.sums(b * (whole.target + v)) / 2
    return Solutions(
        b=b,
        intercept=intercept,
        dual_objective=gain - whole.width * batch.sums(np.abs(b)),
        primal_objective=squared_norm / 2 + batch.sums(whole.losses(slack)),
        squared_norm=squared_norm,
        violation=violations,
        n_iter=steps,
        converged=converged,
    )


def until(over, options):
    """Return the options of a solver that gives up once ``over()`` is true."""
    watch = options["watch"]
    return options | {"watch": lambda violation: over() or watch(violation)}


def _first_steps(batch, gram, values, *, tol, polish, watch, slice_size=SLICE, **_):
    """Return ``b, v, steps, violations`` that a compiled pass over the problems finds."""
    if polish:
        tol = min(tol, POLISH * (1 + np.abs(gram.diagonal).max(initial=0)))
    whole, state = batch.whole, np.empty((6, len(batch.rows)))
    state[0], state[1], state[2], state[3] = 0, whole.target, whole.lower, whole.upper
    state[4], state[5] = whole.width, gram.diagonal[batch.rows] + whole.ridge
    steps, violations = np.zeros(len(batch), dtype=np.int64), np.full(len(batch), np.inf)
    alone, flat, done = not whole.intercept, flattest(gram, values.dtype), 0
    while done < len(batch):
        done = _smo.solve_many(
            values,
            batch.rows,
            batch.stops,
            alone,
            state,
            tol,
            flat,
            PATIENCE,
            done,
            slice_size,
            steps,
            violations,
        )
        if watch(violations[:done].max()):
            break
    return state[0], state[1], steps, violations


def _exact_gradients(batch, gram, b):
    """Return the exact gradients of all problems, by one product."""
    column = batch.each(np.arange(len(batch)))
    coef = np.zeros((gram.n, len(batch)))
    coef[batch.rows, column] = b
    support = np.flatnonzero(coef.any(axis=1))
    product = gram.product(support, coef[support])
    return batch.whole.target - batch.whole.ridge * b - product[batch.rows, column]


def _polished_violations(batch, gram, b):
    """Return :func:`~sklearn_sl.svm._solver.polished_violation` of each problem."""
    size = batch.largest(np.abs(gram.diagonal)[batch.rows])
    target = batch.largest(np.abs(batch.whole.target))
    return POLISH * (size * batch.sums(np.abs(b)) + target)


def solve_in_turn(problems, gram, **options):
    """Yield the solutions of problems that differ in their costs, each started from the last.

    The costs ascend, all in the same proportion. The block of the Gram matrix that the first
    solution needs serves all others; ``options`` are those of :func:`solve`.
    """
    last = solution = None
    for problem in problems:
        start = None if solution is None else best_multiple(solution, problem)
        search = Search(problem, gram, start=start, **options)
        if last is not None:
            search.take_over(last)
        search.approach()
        last, solution = search, search.finish()
        yield solution


def best_multiple(solution, problem):
    """Return the best feasible multiple of a solution for a problem with larger costs.

    Of the multiples ``s b`` with ``1 <= s <= growth`` of the costs, the one with the largest dual
    objective ``s (target'b - width ||b||_1) - s**2 b'(K + ridge) b / 2``. Where no sample has a
    loss it is the solution itself; where all have one it stays at the bounds. Its gradient costs
    no product, being linear in ``s`` but for the ridge.
    """
    b, old = solution.b, solution.problem
    fitted = old.target - solution.v + (problem.ridge - old.ridge) * b
    curvature = b @ fitted
    growth = problem.cost.max(initial=0) / max(old.cost.max(initial=0), np.finfo(float).tiny)
    gain = old.target @ b - old.width * np.abs(b).sum()
    s = np.clip(gain / curvature, 1.0, growth) if curvature > 0 else growth
    # The product may exceed the bound by a rounding error.
    b = np.clip(s * b, problem.lower, problem.upper)
    return replace(solution, problem=problem, b=b, v=problem.target - s * fitted)
