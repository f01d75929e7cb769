"""Solving with the Laplacian of a graph some of whose vertices are held, or tied to a ground.

The matrix ``A = diag(a) - W`` has the weights ``W >= 0`` between free vertices beside its diagonal,
and ``a_i`` is at least the sum of row ``i``: the rest leads to held vertices or to the ground.
``A`` is a symmetric M-matrix, so its inverse has no negative entry. That gives a certificate: if
``h`` has ``A h >= g a`` for some ``g > 0``, then ``A^-1 a <= h / g``, and a solution whose residual
is at most ``e a`` in every place is wrong by at most ``e h / g`` there. With ``A h = a`` that ``h``
is the number of steps that the random walk takes on average until it is held.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.exceptions import ConvergenceWarning

from sklearn_sl._laplacians import _sweeps
from sklearn_sl._laplacians._adjacency import degrees
from sklearn_sl._laplacians._conjugate_gradients import CALL, ScaledMatrix
from sklearn_sl._laplacians._factor import Factor, Limits, pattern_within
from sklearn_sl._threads import one_blas_thread
from sklearn_sl._warnings import warn

# A small system is factorised: to the last digit, in no time. The factor of a larger one is looked
# at before conjugate gradients are tried, up to some size or for few edges.
DIRECT_ORDER, ANALYSED_ORDER = 500, 2000
# Conjugate gradients are tried for so many iterations, unless there are so few edges for each
# vertex that the graph is about a tree. If these are not enough, a factor is taken that costs no
# more than so many of them.
TRIAL, FEW_EDGES, ITERATIONS = 100, 2, 1000
# What the hitting times are good for needs no more than this relative residual.
HITTING_TOL = 1e-3
TINY, EPS = np.finfo(np.float64).tiny, np.finfo(np.float64).eps
SOLVERS = ("auto", "lu", "cg", "amg", "consensus")


@dataclass
class Solution:
    """The solution of a grounded system, and how it was obtained.

    Attributes
    ----------
    x : ndarray of shape (n, n_sides)
    hitting_time : ndarray of shape (n,)
        Bounds the steps that the random walk takes from each vertex until it is held.
    solver : str
    n_iter : int
    """

    x: np.ndarray
    hitting_time: np.ndarray
    solver: str
    n_iter: int


def rounding_of_means(W):
    """Return how wrong a computed mean over neighbours can be, in units of the largest value."""
    return (np.diff(W.indptr).max(initial=0) + 4) * EPS


class GroundedSystem:
    """The matrix ``diag(a) - W`` and its solvers.

    Parameters
    ----------
    W : csr_array of shape (n, n)
        Symmetric weights between free vertices.
    ground : ndarray of shape (n,)
        What leads from each vertex to held ones, or to the ground: not all zero in any component.
    """

    def __init__(self, W, ground):
        self.W, self.ground = W, ground
        self.a = degrees(W) + ground
        self.n = len(ground)
        # The pattern of the factor, once that is known to be cheap, and what it costs at least.
        self._cheap_pattern, self._least_work = None, 0

    @cached_property
    def scaled(self):
        """The matrix with a unit diagonal."""
        return ScaledMatrix(self.W, self.a)

    def multiply(self, x):
        """Return ``A x``."""
        return self.a[:, None] * x - self.W @ x

    def violation(self, x, b):
        """Return ``(A x - b) / a``, how far each vertex is from the mean of its neighbours."""
        return (self.multiply(x) - b) / self.a[:, None]

    def solve(
        self, b, *, solver="auto", tol=1e-6, max_iter=10_000, start=None, rng=None, watch=None
    ):
        """Solve ``A x = b`` for all columns of ``b``, and for the hitting times.

        Parameters
        ----------
        b : ndarray of shape (n, n_sides)
        solver : {"auto", "lu", "cg", "amg", "consensus"}
        tol : float
            The relative residual of iterative solvers; of "consensus" the largest distance of a
            vertex from the mean of its neighbours.
        start : ndarray of shape (n_sides,) or None
            What the solution is everywhere, to begin with.
        rng : RandomState
            Chooses the vertices of "consensus".
        watch : callable
            Told ``x`` after each sweep of "consensus"; the end if it returns true.
        """
        start = np.zeros(b.shape[1]) if start is None else start
        sides = np.column_stack([b, self.a])
        x = np.empty_like(sides)
        x[:, :-1], x[:, -1] = start, 0.0
        tols = np.append(np.full(b.shape[1], tol), max(tol, HITTING_TOL))
        if solver == "auto":
            solver, n_iter, converged = self._solve_auto(sides, x, tols, max_iter)
        elif solver == "consensus":
            n_iter, converged = self._solve_consensus(sides, x, tols, max_iter, rng, watch)
        else:
            n_iter, converged = getattr(self, f"_solve_{solver}")(sides, x, tols, max_iter)
        if not converged:
            warn(
                f"The {solver} solver stopped after {n_iter} iterations with a relative residual "
                f"above tol={tol:g}: increase max_iter or tol (residual_ and error_bound_ tell "
                "how good the solution is).",
                ConvergenceWarning,
            )
        return Solution(x[:, :-1], self._bound_hitting(x[:, -1]), solver, n_iter)

    def _bound_hitting(self, h):
        """Return a proven upper bound of the hitting times; infinite if ``h`` proves nothing."""
        gain = self.multiply(h[:, None])[:, 0] / self.a
        least = np.min(gain, initial=1.0) - 2 * rounding_of_means(self.W) * h.max(initial=0.0)
        return h / least if least > 0 else np.full(self.n, np.inf)

    def _solve_auto(self, b, x, tols, max_iter):
        """Return the solver of choice, its iterations, and whether they were enough."""
        tried = 0
        if self.n > ANALYSED_ORDER and self.W.nnz > 2 * FEW_EDGES * self.n:
            tried, converged = self._solve_cg(b, x, tols, min(TRIAL, max_iter))
            if converged:
                return "cg", tried, True
        if self._prefers_factor(b.shape[1]):
            return "lu", *self._solve_lu(b, x, tols, max_iter)
        if tried == max_iter:
            return "cg", tried, False
        n_iter, converged = self._solve_cg(b, x, tols, max_iter - tried)
        return "cg", tried + n_iter, converged

    # ------------------------------------------------------------ direct

    def _solve_lu(self, b, x, tols, max_iter):
        if self.n:
            # Threads of BLAS gain nothing on small blocks, and spin for a while after each.
            with one_blas_thread():
                x[...] = self._factor.solve(b / self._unit)
        return 1, True

    @cached_property
    def _unit(self):
        """In this unit no weight overflows or vanishes."""
        return max(self.a.max(), TINY)

    @cached_property
    def _matrix(self):
        return sp.csr_array(sp.diags_array(self.a / self._unit) - self.W / self._unit)

    @cached_property
    def _factor(self):
        """The Cholesky factor.

        It is made of the weights and of what leads to the ground: nothing is subtracted, so that
        vertices with the thinnest tie to a label have as many digits as all others.
        """
        return Factor(self._matrix, self._cheap_pattern, slack=self.ground / self._unit)

    def _prefers_factor(self, n_sides):
        """Return whether a factor is cheaper than conjugate gradients."""
        if self.n <= DIRECT_ORDER or self._cheap_pattern is not None:
            return True
        most = ITERATIONS * n_sides * self.W.nnz
        if most > self._least_work:
            self._cheap_pattern = pattern_within(self._matrix, Limits(work=most))
            self._least_work = most
        return self._cheap_pattern is not None

    # ------------------------------------------------------------ conjugate gradients

    def _solve_cg(self, b, x, tols, max_iter):
        x[...], n_iter, converged = self.scaled.solve(b, x, tols, max_iter)
        return max(n_iter, 1), converged

    # ------------------------------------------------------------ algebraic multigrid

    def _solve_amg(self, b, x, tols, max_iter):
        try:
            from pyamg import smoothed_aggregation_solver
        except ImportError:
            raise ValueError("solver='amg' needs the package pyamg: pip install pyamg.") from None
        A = sp.csr_matrix(sp.diags_array(self.a) - self.W)
        preconditioner = smoothed_aggregation_solver(A).aspreconditioner()
        most, converged = 1, True
        for column in range(b.shape[1]):
            steps = []
            x[:, column], info = cg(
                A,
                b[:, column],
                x[:, column],
                rtol=tols[column],
                maxiter=max_iter,
                M=LinearOperator(A.shape, preconditioner.matvec, dtype=np.float64),
                callback=steps.append,
            )
            most, converged = max(most, len(steps)), converged and info == 0
        return most, converged

    # ------------------------------------------------------------ consensus

    def _solve_consensus(self, b, x, tols, max_iter, rng, watch):
        """Let vertices chosen at random take the mean of their neighbours, again and again."""
        n_sides = b.shape[1] - 1
        # How long walks last would be seen last of all: it is solved for.
        self._solve_cg(b[:, n_sides:], x[:, n_sides:], tols[n_sides:], max_iter)
        walk = sp.csr_array(sp.diags_array(1 / self.a) @ self.W)
        parts = walk.indptr.astype(np.int64), walk.indices.astype(np.int32), walk.data
        drift = np.divide(b[:, :n_sides], self.a[:, None], order="C")
        u = np.ascontiguousarray(x[:, :n_sides])
        n_sweeps, largest = 0, np.inf if self.n else 0.0
        step = max(1, int(CALL / (n_sides * (len(walk.data) / max(self.n, 1) + 8))))
        while n_sweeps < max_iter and largest > tols[0]:
            order = rng.randint(self.n, size=self.n, dtype=np.int64)
            largest = max(
                _sweeps.relax(*parts, drift, order[start : start + step], u)
                for start in range(0, self.n, step)
            )
            n_sweeps += 1
            if largest <= tols[0]:  # perhaps nobody was chosen who had to move
                largest = np.abs(self.violation(u, b[:, :n_sides])).max(initial=0.0)
            if watch is not None and watch(u):
                break
        x[:, :n_sides] = u
        return max(n_sweeps, 1), bool(largest <= tols[0])
