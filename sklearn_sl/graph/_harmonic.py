"""Interpolation on a graph as functions of numbers: harmonic values, soft ones, leave-one-out.

With the Laplacian ``L``, values ``Y`` at the labelled vertices and their weights ``c``, the values
``U`` of all vertices minimise ::

    alpha = 0    trace(U'LU)  with  U = Y  at the labelled vertices
    alpha > 0    sum over labelled i of c_i |U_i - Y_i|^2 + alpha trace(U'LU)

The first is the limit of the second. Both are systems of a grounded graph: labelled vertices are
held, or tied to their label by an edge of the weight ``c_i / alpha``.

The matrix ``A = diag(a) - W`` of such a system has the weights ``W >= 0`` between free vertices
beside its diagonal, and ``a_i`` is at least the sum of row ``i``: the rest leads to held vertices
or to the ground. ``A`` is a symmetric M-matrix, so its inverse has no negative entry. That gives a
certificate: if ``h`` has ``A h >= g a`` for some ``g > 0``, then ``A^-1 a <= h / g``, and a
solution whose residual is at most ``e a`` in every place is wrong by at most ``e h / g`` there.
With ``A h = a`` that ``h`` is the number of steps that the random walk takes on average until it is
held.
"""

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.exceptions import ConvergenceWarning

from sklearn_sl._laplacians import _sweeps
from sklearn_sl._laplacians._adjacency import degrees
from sklearn_sl._laplacians._conjugate_gradients import CALL, ScaledMatrix
from sklearn_sl._laplacians._factor import TOO_FAR_APART, Factor, Limits, pattern_within
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
# Labels that are left out in one solve.
LEFT_OUT = 64
# How many times larger one weight can be than another, such that sums with a third are safe.
EXTREME = 1e200


# ---------------------------------------------------------------- grounded systems


@dataclass
class GroundedSolution:
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
                f"solver={solver!r} did not converge in {n_iter} iterations: the relative residual "
                f"is above tol={tol:g}. Increase max_iter or tol; see residual_ and error_bound_ "
                "for the accuracy of the solution.",
                ConvergenceWarning,
            )
        return GroundedSolution(x[:, :-1], self._bound_hitting(x[:, -1]), solver, n_iter)

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
            raise ValueError("solver='amg' requires pyamg: pip install pyamg.") from None
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
            if largest <= tols[0]:  # perhaps no vertex was chosen that had to move
                largest = np.abs(self.violation(u, b[:, :n_sides])).max(initial=0.0)
            if watch is not None and watch(u):
                break
        x[:, :n_sides] = u
        return max(n_sweeps, 1), bool(largest <= tols[0])


# ---------------------------------------------------------------- labels on a graph


@dataclass
class LabelledSamples:
    """The samples whose labels are those of the vertices.

    Attributes
    ----------
    vertex : ndarray of shape (n_labelled,)
        The vertex of each sample.
    labels : ndarray of shape (n_labelled, n_values)
    part : ndarray of shape (n_labelled,)
        The weight that is left out with a sample.
    """

    vertex: np.ndarray
    labels: np.ndarray
    part: np.ndarray


@dataclass
class Problem:
    """A graph with labels at some of its vertices.

    Attributes
    ----------
    W : csr_array of shape (n, n)
    Y : ndarray of shape (n, n_values)
        The labels, whatever number where there is none.
    label_mass : ndarray of shape (n,)
        The weights ``c`` of the labels, zero where there is none.
    component : ndarray of shape (n,)
        The connected component of each vertex.
    alpha : float
    """

    W: sp.csr_array
    Y: np.ndarray
    label_mass: np.ndarray
    component: np.ndarray
    alpha: float

    def __post_init__(self):
        self.labelled = self.label_mass > 0
        n_labels = np.bincount(self.component[self.labelled], minlength=self.component.max() + 1)
        self.reached = n_labels[self.component] > 0
        # Labels without which their component has none.
        self.lonely = self.labelled & (n_labels[self.component] == 1)
        self.mean = self.label_mass @ self.Y / self.label_mass.sum()
        self.unit, self.graph = in_units(self.W)
        self.degree = degrees(self.graph)
        self.free = np.flatnonzero(self.reached & (~self.labelled if self.hard else True))
        self.held = np.flatnonzero(self.labelled)
        self.to_held = self.graph[self.held][:, self.free] if self.hard else None
        self.to_ground = degrees(self.to_held.T) if self.hard else self.ground[self.free]

    def with_labels(self, Y):
        """Return the problem with other labels at the same vertices."""
        other = copy(self)
        other.Y, other.mean = Y, self.label_mass @ Y / self.label_mass.sum()
        return other

    def with_alpha(self, alpha):
        """Return the same labels, trusted otherwise."""
        return replace(self, alpha=alpha)

    @property
    def hard(self):
        """Whether the labels are kept to the letter."""
        return self.alpha == 0

    @property
    def ground(self):
        """Return the weights of the edges that tie labelled vertices to their labels."""
        heaviest = self.label_mass.max()
        # Beyond these numbers nothing changes: labels are kept, or their mean is everywhere.
        with np.errstate(over="ignore"):
            distrust = np.clip(self.alpha * (self.unit / heaviest), 1 / EXTREME, EXTREME)
        return self.label_mass / heaviest / distrust

    def system(self):
        """Return the matrix of the free vertices."""
        everything = len(self.free) == self.W.shape[0]
        W = self.graph if everything else self.graph[self.free][:, self.free]
        return GroundedSystem(W, self.to_ground)

    def right_side(self):
        """Return what the labels drive into the free vertices."""
        if self.hard:
            return np.ascontiguousarray(self.to_held.T @ self.Y[self.held])
        return (self.ground[:, None] * np.where(self.labelled[:, None], self.Y, 0))[self.free]

    def complete(self, x):
        """Return the values of all vertices from those of the free ones."""
        U = np.where(self.labelled[:, None], self.Y, self.mean)
        U[self.free] = x
        return U

    def energy(self, U):
        """Return ``trace(U'LU)``."""
        W = self.graph
        return self.unit * _sweeps.energy(
            W.indptr.astype(np.int64), W.indices.astype(np.int32), W.data, np.ascontiguousarray(U)
        )

    def violation(self, U):
        """Return how far free vertices are from what neighbours and labels make of them."""
        pull, total = self.graph @ U, self.degree[:, None]
        if not self.hard:
            ground = self.ground[:, None]
            pull, total = pull + ground * self.Y, total + ground
        return U[self.free] - pull[self.free] / total[self.free]


def in_units(W):
    """Return a power of two about the largest weight, and the graph in this unit."""
    unit = 2.0 ** (np.frexp(W.data.max(initial=0.0))[1] - 1)
    data = W.data / unit
    if not data.all():
        raise ValueError(TOO_FAR_APART)
    return unit, sp.csr_array((data, W.indices, W.indptr), shape=W.shape)


@dataclass
class HarmonicValues:
    """The values of all vertices, and how good they are.

    Attributes
    ----------
    U : ndarray of shape (n, n_values)
    energy : float
        ``trace(U'LU)``.
    residual : float
        The largest distance of a free vertex from what neighbours and labels make of it.
    error_bound : float
        The residual, with what it may be wrong by, times the longest hitting time.
    hitting_time : ndarray of shape (n,)
        Bounds the mean number of steps of the random walk from each vertex to a label. Zero at held
        vertices and infinite where there is no label to be reached.
    solver : str
    n_iter : int
    """

    U: np.ndarray
    energy: float
    residual: float
    error_bound: float
    hitting_time: np.ndarray
    solver: str
    n_iter: int


def harmonic_values(problem, shares=False, **options):
    """Return the :class:`HarmonicValues` of a problem.

    Parameters
    ----------
    problem : Problem
    shares : bool
        Whether the labels are the shares of classes, which add up to one. Then the last class
        follows from the others, but for the solver "consensus".
    **options
        As :func:`interpolate`.
    """
    if shares and problem.Y.shape[1] > 1 and options["solver"] != "consensus":
        U, solution = interpolate(problem.with_labels(problem.Y[:, :-1]), **options)
        U = np.column_stack([U, 1 - U.sum(axis=1)])
    else:
        U, solution = interpolate(problem, **options)
    U = as_distributions(U) if shares else U
    times = np.where(problem.reached, 0.0, np.inf)
    times[problem.free] = solution.hitting_time
    residual, bound = certificates(problem, U, solution)
    return HarmonicValues(
        U, problem.energy(U), residual, bound, times, solution.solver, solution.n_iter
    )


def as_distributions(F):
    """Return rows that are distributions but for rounding as such."""
    F = np.clip(F, 0, 1)
    totals = F.sum(axis=1, keepdims=True)
    return np.where(totals == 0, 1 / F.shape[1], F / np.where(totals == 0, 1, totals))


def interpolate(problem, watch=None, **options):
    """Return the values of all vertices, and the solution of the system that they come from.

    Parameters
    ----------
    problem : Problem
    watch : callable
        Told the energy after each sweep of the solver "consensus"; the end if it returns true.
    **options
        Of :meth:`GroundedSystem.solve`.
    """
    told = watch and (lambda x: watch(problem.energy(problem.complete(x))))
    solution = problem.system().solve(
        problem.right_side(), start=problem.mean, watch=told, **options
    )
    if not np.isfinite(solution.x).all():
        raise ValueError(TOO_FAR_APART)
    return problem.complete(solution.x), solution


def certificates(problem, U, solution):
    """Return the residual of ``U``, which was made of the solution, and a bound of its error.

    The bound is the residual, with what it may be wrong by, times the longest hitting time.
    """
    residual = float(np.abs(problem.violation(U)).max(initial=0.0))
    rounding = 2 * rounding_of_means(problem.W) * np.abs(U).max()
    if residual + rounding == 0:  # however long walks are
        return residual, 0.0
    return residual, float((residual + rounding) * solution.hitting_time.max(initial=0.0))


# ---------------------------------------------------------------- leave-one-out


def leave_samples_out(problem, U, samples, **options):
    """Return the values at labelled samples, each without its own label.

    What other samples say of the same vertex stays: their mean ``Z``, of the share ``s`` of the
    weight. With ``V``, the value at the vertex without any label of its own, the value is ``Z``,
    or, with soft labels, ``(s H_ii Z + (1 - H_ii) V) / (s H_ii + 1 - H_ii)``.

    Parameters
    ----------
    problem : Problem
    U : ndarray of shape (n, n_values)
        The interpolated values.
    samples : LabelledSamples
    **options
        Of :meth:`GroundedSystem.solve`.
    """
    own = _own_response(problem, **options)
    place = np.searchsorted(problem.held, samples.vertex)
    without = _leave_vertices_out(problem, U, own)[place]
    mass, Y = problem.label_mass[samples.vertex], problem.Y[samples.vertex]
    rest = mass - samples.part
    alone = rest <= 1e-12 * mass
    if alone.all():
        return without
    labels, ratio = samples.labels, samples.part / np.where(alone, 1, rest)
    others = Y + ratio[:, None] * (Y - labels)
    others = np.clip(others, labels.min(axis=0), labels.max(axis=0))
    share = np.ones(len(place))
    if not problem.hard:
        away = np.clip(own[place], 0, 1)
        pull = rest / mass * (1 - away)
        share = pull / np.where(alone, 1, pull + away)
    share[alone] = 0
    return without + share[:, None] * (others - without)


def _leave_vertices_out(problem, U, diagonal):
    """Return the values at the labelled vertices, each without its own labels.

    Let ``S = L_ll - L_lu L_uu^-1 L_ul`` be what is left of the Laplacian on the labelled vertices
    ``l`` when the others ``u`` are eliminated. Without its label, vertex ``i`` takes the value at
    which no current flows into it: ``Y_i - (S Y)_i / S_ii``. With soft labels, ``U = H Y`` and the
    value is ``Y_i + (U_i - Y_i) / (1 - H_ii)``. Where no other label is left in the component, the
    value is the mean of all other labels.

    Parameters
    ----------
    problem : Problem
    U : ndarray of shape (n, n_values)
        The interpolated values.
    diagonal : ndarray of shape (n_labelled,)
        What :func:`_own_response` returns.
    """
    held, Y = problem.held, problem.Y[problem.held]
    if problem.hard:
        # Currents that flow out of the labelled vertices.
        flow = problem.degree[held, None] * Y - problem.graph[held] @ U
        left_out = Y - flow / np.where(diagonal > 0, diagonal, 1)[:, None]
    else:
        degree, ground = problem.degree[held, None], problem.ground[held, None]
        # Labels that hold their vertex: U - Y by what neighbours pull, as the two hardly differ.
        pull = problem.graph[held] @ U - degree * U[held]
        away = np.where(degree < ground, pull / ground, U[held] - Y)
        left_out = Y + away / np.where(diagonal > 0, diagonal, 1)[:, None]
    lonely = problem.lonely[held] | (diagonal <= 0)
    left_out[lonely] = _means_of_others(problem)[lonely]
    # What is left out is a mean of the other labels.
    return np.clip(left_out, Y.min(axis=0), Y.max(axis=0))


def _own_response(problem, **options):
    """Return ``S_ii``, or ``1 - H_ii``, of each labelled vertex."""
    system, held = problem.system(), problem.held
    own = problem.degree[held].copy() if problem.hard else np.empty(len(held))
    place = np.full(problem.W.shape[0], -1)
    place[problem.free] = np.arange(len(problem.free))
    for start in range(0, len(held), LEFT_OUT):
        part = slice(start, min(start + LEFT_OUT, len(held)))
        if problem.hard:
            sides = problem.to_held[part].T.toarray()
            x = system.solve(sides, **options).x
            own[part] -= np.einsum("ij,ij->j", sides, x)
        else:
            columns = np.arange(part.stop - start)
            sides = np.tile(problem.ground[problem.free][:, None], len(columns))
            sides[place[held[part]], columns] = 0
            own[part] = system.solve(sides, **options).x[place[held[part]], columns]
    return own


def _means_of_others(problem):
    """Return, for each labelled vertex, the mean of the labels of all others."""
    mass, Y = problem.label_mass[problem.held], problem.Y[problem.held]
    rest = mass.sum() - mass
    others = mass @ Y - mass[:, None] * Y
    alone = rest <= 1e-12 * mass.sum()
    return np.where(alone[:, None], problem.mean, others / np.where(alone, 1, rest)[:, None])
