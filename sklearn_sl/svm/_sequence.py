"""Problems that differ in their costs alone, solved one after the other."""

from dataclasses import replace

import numpy as np

from sklearn_sl.svm._solver import Search


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
