"""Several problems on one Gram matrix: many at once, or one started from the last."""

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs

from sklearn_sl._threads import in_order, one_blas_thread
from sklearn_sl.svm import _smo
from sklearn_sl.svm._gram import SLICE, SubGram, flattest, whole_matrix
from sklearn_sl.svm._problem import NEAR_BOUND, DualSolution, Solutions, margin_problem
from sklearn_sl.svm._solver import NO_OPTIMUM, PATIENCE, Search

# Kernel values of all problems together above which a second thread gains more than it costs.
WORTH_A_THREAD = 10_000_000
# Samples up to which a matrix is not worth a thought.
SMALL = 512
# Samples of a group, in the mean, below which slices of the groups cost more than places.
FEW_OF_GROUP = 64
NOBODY = np.empty(0, dtype=np.intp)


class Batch:
    """Problems on parts of one set of samples, one after the other in one array.

    What a problem says of its variables one by one is said of all problems at once; sums and
    extremes are those of segments. With thousands of pairs of classes a Python object for each
    would cost more than the solution.

    Parameters
    ----------
    members : ndarray of int
        Samples, group by group.
    starts : ndarray of int of shape (n_groups + 1,)
        Where the groups begin, and the number of samples.
    pairs : ndarray of int of shape (n_problems, 2)
        The one or two groups that each problem is about; -1 is no second one.
    whole : Problem
        The problems, their variables one after the other.
    """

    def __init__(self, members, starts, pairs, whole=None):
        self.whole, self.members, self.group_starts, self.pairs = whole, members, starts, pairs
        sizes = np.append(np.diff(starts), 0)  # of no group, too
        self.lengths = sizes[pairs].sum(axis=1)
        self.stops = np.cumsum(self.lengths)
        self.starts = self.stops - self.lengths

    @classmethod
    def of(cls, problems, places):
        """Return the batch of problems that differ in their arrays only."""
        names = ("target", "lower", "upper", "cost")
        joined = {name: np.concatenate([getattr(p, name) for p in problems]) for name in names}
        starts = np.append(0, np.cumsum([len(rows) for rows in places]))
        pairs = np.stack([np.arange(len(problems)), np.full(len(problems), -1)], axis=1)
        return cls(np.concatenate(places), starts, pairs, replace(problems[0], **joined))

    def with_costs(self, factors):
        """Return the batch of each problem with all these multiples of its costs, in turn."""
        batch, _ = self.take(np.repeat(np.arange(len(self)), len(factors)))
        batch.whole = batch.whole.with_cost(batch.each(np.tile(factors, len(self))))
        return batch

    @cached_property
    def ridge(self):
        """What a squared loss adds to the diagonal, for each variable."""
        return self.whole.ridge

    @cached_property
    def rows(self):
        """The sample of each variable."""
        if len(self) == 1 and self.stops[0] == len(self.members):
            return self.members
        groups = self.pairs[self.pairs >= 0]
        if len(self.members) < FEW_OF_GROUP * len(self.group_starts):
            sizes = np.diff(self.group_starts)[groups]
            begins = self.group_starts[groups] - np.append(0, np.cumsum(sizes[:-1]))
            return self.members[np.repeat(begins, sizes) + np.arange(sizes.sum())]
        starts, stops = self.group_starts.tolist(), self.group_starts[1:].tolist()
        return np.concatenate([self.members[starts[k] : stops[k]] for k in groups.tolist()])

    @classmethod
    def of_classes(cls, target, cost, pairs, **loss):
        """Return the batch of classifiers of pairs of classes; the samples come class by class."""
        starts = np.append(0, np.cumsum(np.bincount(target)))
        batch = cls(np.arange(len(target)), starts, pairs)
        first = target[batch.rows] == batch.each(pairs[:, 0])
        batch.whole = margin_problem(np.where(first, 1.0, -1.0), cost[batch.rows], **loss)
        return batch

    def starts_of_groups(self):
        """Return where the variables of a group begin: in the problem with each other group.

        For problems of all pairs of groups, in their order.
        """
        first, second = self.pairs.T
        starts = np.empty((len(self.group_starts) - 1, len(self.group_starts) - 2), dtype=np.intp)
        starts[first, second - 1] = self.starts
        starts[second, first] = self.starts + np.diff(self.group_starts)[first]
        return starts

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
        whole = self.whole.of(places)
        return Batch(self.members, self.group_starts, self.pairs[chosen], whole), places

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

    def settled(self, b):
        """Return coefficients that are at zero or a bound, not next to it by a rounding error."""
        near = NEAR_BOUND * self.each(self.largest(np.abs(b)))
        return self.whole.moved_to_bounds(b, near)

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


def solve_many(batch, gram, *, n_jobs=None, solve_hard=None, **options):
    """Return the :class:`~sklearn_sl.svm._problem.Solutions` of a batch of problems.

    Parameters
    ----------
    batch : Batch
        The problems.
    gram : KernelGram or MatrixGram
        The Gram matrix of all samples.
    n_jobs : int, default=None
        The number of threads.
    solve_hard : callable, default=None
        ``solve_hard(problem, gram, **options)`` solves a problem without bounds that SMO alone
        does not solve, or raises if there is no solution.
    **options
        Those of :func:`~sklearn_sl.svm._solver.solve`, ``watch`` included.
    """
    worth = len(batch) > 1 and np.sum(batch.lengths**2.0) > WORTH_A_THREAD
    threads = min(effective_n_jobs(n_jobs), len(batch)) if worth else 1
    options["watch"] = watch = Remembered(options["watch"])
    source = source_of(batch, gram, options["cache_bytes"] / threads)
    if threads == 1 and source is not None:
        b, v, steps, violations = _first_steps(batch, gram, source, **options)
    else:
        b, v = np.zeros((2, len(batch.rows)))
        steps, violations = np.zeros(len(batch), dtype=np.int64), np.full(len(batch), np.inf)
    if threads > 1 and source is not None:

        def first_steps(first, over):
            chosen = np.arange(first, len(batch), threads)
            part, places = batch.take(chosen)
            found = _first_steps(part, gram, source, **until(over, options))
            b[places], v[places], steps[chosen], violations[chosen] = found

        for _ in in_order(first_steps, range(threads), threads):
            pass
    if source is None:
        v[...] = batch.whole.target
    elif solve_hard is not None:
        violations[violations > options["tol"]] = np.inf  # on the way to infinity, or to a bound
    elif not np.isfinite(b).all():
        raise ValueError(NO_OPTIMUM)
    elif source.values.dtype != np.float64:
        v = _exact_gradients(batch, gram, b)
        violations = batch.violations(b, v)
    b = batch.settled(b)
    converged = violations <= options["tol"]
    if not (converged.all() or watch.over):
        options["solve_hard"] = solve_hard
        _finish(batch, gram, source, b, v, steps, violations, converged, threads, options)
    return solutions_of_batch(batch, b, v, steps, violations, converged)


def _finish(batch, gram, source, b, v, steps, violations, converged, threads, options):
    """Solve, in place, what is not solved yet: large problems, and those that SMO is slow for."""
    values = None if source is None or not len(source.members) else source.values
    whole = len(batch) == 1 and len(batch.members) == gram.n
    solve_hard = options.pop("solve_hard")

    def finish(k, over):
        place = batch.segment(k)
        problem, rows = batch.problem(k), batch.rows[place]
        start = DualSolution(problem, b[place], v[place], int(steps[k]), violations[k], False)
        part = gram if whole else SubGram(gram, rows, values)
        if solve_hard is not None:
            return solve_hard(problem, part, among=(rows, gram.n), **until(over, options))
        search = Search(problem, part, start=start, **until(over, options))
        search.n_iter = start.n_iter
        with one_blas_thread():
            search.approach()
            return search.finish()

    rest = np.flatnonzero(~converged)
    for k, solution in zip(rest, in_order(finish, rest, threads), strict=True):
        b[batch.segment(k)], v[batch.segment(k)] = solution.b, solution.v
        steps[k], violations[k] = solution.n_iter, solution.violation
        converged[k] = solution.converged


class Remembered:
    """A function that watches, and whether it has asked for the end."""

    def __init__(self, watch):
        self._watch, self.over = watch, False

    def __call__(self, violation):
        self.over = bool(self._watch(violation)) or self.over
        return self.over


class Source(NamedTuple):
    """Where compiled steps get kernel values from: points and their map, or a matrix in memory."""

    kind: int
    values: np.ndarray
    members: np.ndarray
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 1


def source_of(batch, gram, cache_bytes):
    """Return where the kernel values of a batch come from; None if there is no memory for it."""
    sizes, n = np.diff(batch.group_starts).astype(float), gram.n
    shared = np.sum(sizes * (sizes + _smo.PADDING)) if len(batch) > 1 else 0.0
    largest = float(batch.lengths.max())
    room = 0.9 * cache_bytes / 8 - 1.25 * largest * (largest + _smo.PADDING)
    K = getattr(gram, "K", None)
    if K is None and room >= shared:
        form_of = getattr(gram.kernel, "_row_form", None)
        form = None if form_of is None else form_of(gram.X)
        if form is not None:
            kind = getattr(_smo.Source, form.map)
            points = form.points[batch.members]
            return Source(kind, points, NOBODY, form.gamma, form.coef0, form.degree)
    if room < 0 or (len(batch) == 1 and n > SMALL):
        return None
    if K is None:
        if n * n > 2 * room:
            return None
        K = whole_matrix(gram, np.float64 if n * n <= room else np.float32)
    kind = _smo.Source.MATRIX if K.dtype == np.float64 else _smo.Source.MATRIX_OF_FLOATS
    return Source(kind, K, batch.members)


def solutions_of_batch(batch, b, v, steps, violations, converged):
    """Return the solutions of a batch, with what certifies them."""
    whole, intercept = batch.whole, batch.intercepts(b, v)
    fitted = whole.target - v - batch.ridge * b
    squared_norm = np.maximum(batch.sums(b * fitted), 0.0)
    losses = whole.losses_at(fitted + batch.each(intercept))
    gain = batch.sums(b * (whole.target + v)) / 2
    return Solutions(
        b=b,
        intercept=intercept,
        dual_objective=gain - whole.width * batch.sums(np.abs(b)),
        primal_objective=squared_norm / 2 + batch.sums(losses),
        squared_norm=squared_norm,
        violation=violations,
        n_iter=steps,
        converged=converged,
    )


def until(over, options):
    """Return the options of a solver that gives up once ``over()`` is true."""
    watch = options["watch"]
    return options | {"watch": lambda violation: over() or watch(violation)}


def _first_steps(
    batch, gram, source, *, tol, watch, max_iter=-1, shrinking=True, slice_size=SLICE, **_
):
    """Return ``b, v, steps, violations`` that a compiled pass over the problems finds."""
    whole, state = batch.whole, np.empty((6, len(batch.rows)))
    state[0], state[1], state[2], state[3] = 0, whole.target, whole.lower, whole.upper
    state[4], state[5] = whole.width, gram.diagonal[batch.rows] + batch.ridge
    steps, violations = np.zeros(len(batch), dtype=np.int64), np.full(len(batch), np.inf)
    sizes = np.diff(batch.group_starts)
    padded = -(-sizes // _smo.PADDING) * _smo.PADDING
    evaluated = not len(source.members)
    machines = _smo.Machines(
        source.kind,
        batch.group_starts,
        source.values,
        source.members,
        np.empty(padded.sum() * source.values.shape[1] if evaluated else 0),
        source.gamma,
        source.coef0,
        source.degree,
        np.empty(sizes @ padded if evaluated and len(batch) > 1 else 0),
        batch.pairs,
        not whole.intercept,
        state,
        steps,
        violations,
    )
    flat, most = flattest(gram, source.values.dtype), 2**62 if max_iter < 0 else max_iter
    done = 0
    while done < len(batch):
        # A little below tol, lest the gradient computed anew puts it above again.
        done = machines.advance(0.9999 * tol, flat, shrinking, PATIENCE, most, slice_size)
        if watch(violations[: done + 1].max()) and done < len(batch):
            violations[done:] = batch.violations(state[0], state[1])[done:]
            break
    return state[0], state[1], steps, violations


def _exact_gradients(batch, gram, b):
    """Return the exact gradients of all problems, by one product."""
    column = batch.each(np.arange(len(batch)))
    coef = np.zeros((gram.n, len(batch)))
    coef[batch.rows, column] = b
    support = np.flatnonzero(coef.any(axis=1))
    product = gram.product(support, coef[support])
    return batch.whole.target - batch.ridge * b - product[batch.rows, column]


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
