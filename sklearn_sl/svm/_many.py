"""Several problems on one Gram matrix: many at once, or one started from the last."""

from dataclasses import replace

import numpy as np
from joblib import effective_n_jobs

from sklearn_sl._threads import in_order
from sklearn_sl.svm import _smo
from sklearn_sl.svm._gram import SLICE, SubGram, flattest
from sklearn_sl.svm._problem import DualSolution
from sklearn_sl.svm._solver import NO_OPTIMUM, PATIENCE, POLISH, Search, polished_violation

# Kernel values of all problems together above which a second thread gains more than it costs.
WORTH_A_THREAD = 10_000_000


def solve_many(problems, places, gram, values, *, n_jobs=None, **options):
    """Return the solutions of problems on the samples ``places`` of a larger set.

    Parameters
    ----------
    problems : list of Problem
        The problems.
    places : list of ndarray of int
        The samples of each of them.
    gram : KernelGram or MatrixGram
        The Gram matrix of all samples.
    values : ndarray of shape (n, n)
        The same in memory: in float64 exact, in float32 good enough to steer by.
    n_jobs : int, default=None
        The number of threads.
    **options
        Those of :func:`~sklearn_sl.svm._solver.solve`.
    """
    worth = sum(len(rows) ** 2 for rows in places) > WORTH_A_THREAD
    threads = min(effective_n_jobs(n_jobs), len(problems)) if worth else 1
    shares = [slice(k, None, threads) for k in range(threads)]
    found = [None] * len(problems)

    def first_steps(share, over):
        part = problems[share], places[share]
        return _first_steps(*part, gram, values, **until(over, options))

    for share, part in zip(shares, in_order(first_steps, shares, threads), strict=True):
        found[share] = part
    if values.dtype != np.float64:
        _correct(found, places, gram)

    def finish(task, over):
        solution, rows = task
        return _finished(solution, SubGram(gram, rows, values), **until(over, options))

    return list(in_order(finish, list(zip(found, places, strict=True)), threads))


def until(over, options):
    """Return the options of a solver that gives up once ``over()`` is true."""
    watch = options["watch"]
    return options | {"watch": lambda violation: over() or watch(violation)}


def _first_steps(problems, places, gram, values, *, tol, polish, watch, slice_size=SLICE, **_):
    """Return what a compiled pass over the problems finds."""
    if polish:
        tol = min(tol, POLISH * (1 + np.abs(gram.diagonal).max(initial=0)))
    state = np.concatenate([_state(p, gram, rows) for p, rows in zip(problems, places)], axis=1)
    rows, stops = np.concatenate(places), np.cumsum([len(rows) for rows in places])
    steps, violations = np.zeros(len(problems), dtype=np.int64), np.full(len(problems), np.inf)
    alone, flat, done = not problems[0].intercept, flattest(gram, values.dtype), 0
    while done < len(problems):
        done = _smo.solve_many(
            values,
            rows,
            stops,
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
    parts = zip(problems, np.split(state[:2], stops[:-1], axis=1), steps, violations, strict=True)
    return [
        DualSolution(problem, b.copy(), v.copy(), int(taken), violation, False)
        for problem, (b, v), taken, violation in parts
    ]


def _state(problem, gram, rows):
    """Return the variables of a problem for the compiled pass."""
    state = np.empty((6, len(rows)))
    state[0], state[1], state[2], state[3] = 0, problem.target, problem.lower, problem.upper
    state[4], state[5] = problem.width, gram.diagonal[rows] + problem.ridge
    return state


def _correct(found, places, gram):
    """Set the exact gradients of many solutions, by one product."""
    b = np.zeros((gram.n, len(found)))
    for column, (solution, rows) in enumerate(zip(found, places, strict=True)):
        b[rows, column] = solution.b
    support = np.flatnonzero(b.any(axis=1))
    product = gram.product(support, b[support])
    for column, (solution, rows) in enumerate(zip(found, places, strict=True)):
        ridge = solution.problem.ridge * solution.b
        solution.v = solution.problem.target - ridge - product[rows, column]
        solution.violation = solution.problem.violation(solution.b, solution.v)


def _finished(solution, gram, **options):
    """Return a solution that is certified, and polished if it should be."""
    problem, goal = solution.problem, options["tol"]
    if not np.isfinite(solution.b).all():
        raise ValueError(NO_OPTIMUM)
    if options["polish"]:
        goal = min(goal, polished_violation(problem, gram, solution.b))
    on_bounds = np.array_equal(problem.settled(solution.b), solution.b)
    if solution.violation <= goal and on_bounds:
        solution.converged = True
        return solution
    search = Search(problem, gram, start=solution, **options)
    search.n_iter = solution.n_iter
    search.approach()
    return search.finish()


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
