"""Interpolation on a graph as functions of numbers: harmonic values, soft ones, leave-one-out.

With the Laplacian ``L``, values ``Y`` at the labelled vertices and their weights ``c``, the values
``U`` of all vertices minimise ::

    alpha = 0    trace(U'LU)  with  U = Y  at the labelled vertices
    alpha > 0    sum over labelled i of c_i |U_i - Y_i|^2 + alpha trace(U'LU)

The first is the limit of the second. Both are systems of a grounded graph: labelled vertices are
held, or tied to their label by an edge of the weight ``c_i / alpha``.
"""

from copy import copy
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from sklearn_sl._laplacians import _sweeps
from sklearn_sl._laplacians._adjacency import degrees
from sklearn_sl._laplacians._factor import TOO_FAR_APART
from sklearn_sl.graph._grounded import GroundedSystem, Solution, rounding_of_means

# Labels that are left out in one solve.
LEFT_OUT = 64
# How many times larger one weight can be than another, such that sums with a third are safe.
EXTREME = 1e200


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
        ground = degrees(self.to_held.T) if self.hard else self.ground[self.free]
        return GroundedSystem(W, ground)

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


def interpolate(problem, **options):
    """Return the values of all vertices, and the solution of the system that they come from."""
    system = problem.system()
    solution = system.solve(problem.right_side(), start=problem.mean, **options)
    if not np.isfinite(solution.x).all():
        raise ValueError(TOO_FAR_APART)
    return problem.complete(solution.x), solution


def certificates(problem, U, solution: Solution):
    """Return the residual of ``U``, which was made of the solution, and a bound of its error.

    The bound is the residual, with what it may be wrong by, times the longest hitting time.
    """
    residual = float(np.abs(problem.violation(U)).max(initial=0.0))
    rounding = 2 * rounding_of_means(problem.W) * np.abs(U).max()
    if residual + rounding == 0:  # however long walks are
        return residual, 0.0
    return residual, float((residual + rounding) * solution.hitting_time.max(initial=0.0))


def hitting_times(problem, solution: Solution):
    """Return the mean number of steps of the random walk from each vertex to a label.

    Zero at held vertices and infinite where there is no label to be reached.
    """
    times = np.where(problem.reached, 0.0, np.inf)
    times[problem.free] = solution.hitting_time
    return times


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
