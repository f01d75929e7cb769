"""Potentials of a resistor network whose conductances change from system to system."""

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sklearn_sl._laplacians import _sparse_cholesky
from sklearn_sl._laplacians._factor import READ, Limits, least_degree_order
from sklearn_sl.graph import _elimination
from sklearn_sl.graph._sampled_elimination import SampledElimination

# A network is eliminated if that takes no more work than so many steps of conjugate gradients.
# Otherwise these have so many steps with the diagonal as preconditioner, then so many with a
# sampled elimination, and if all fail the network is eliminated after all.
CHEAP, STEPS, MORE_STEPS = 500, 200, 1000
# Conjugate gradients end when every potential is so near to the mean of its neighbours.
ACCURATE = 1e-12
# Operations of one call of the elimination: some 50 ms.
CALL = 10**7
# At least so many random numbers, and entries of a sampled factor, are made at a time.
SAMPLES = 2**18


class Network:
    """Free vertices, joined by conductances to one another and to the ground.

    Parameters
    ----------
    ends : ndarray of shape (n_inner, 2), the free vertices that the inner edges join
    shore : ndarray of shape (n_shore,), the free vertex at each edge to the ground
    n_vertices : int, the number of free vertices
    """

    def __init__(self, ends, shore, n_vertices):
        self.ends, self.shore, self.n_vertices = ends, shore, n_vertices
        self._hard = False  # whether the diagonal has failed as a preconditioner
        limits = Limits(work=CHEAP * (2 * len(ends) + n_vertices))
        try:
            self._elimination = Elimination(ends, n_vertices, limits)
        except (ValueError, MemoryError):  # too much work
            self._elimination = None

    def set_conductances(self, inner, shore):
        """Prepare to solve for the conductances of the inner edges, and of those to the ground."""
        self._inner, self._ground = inner, np.bincount(self.shore, shore, self.n_vertices)
        if self._elimination is not None:
            self._elimination.factorise(inner, self._ground)
            return
        shape = self.n_vertices, self.n_vertices
        a, b = self.ends.T
        half = sp.csr_array((inner, (a, b)), shape=shape)
        adjacency = half + half.T
        self._scale = 1 / np.sqrt(np.asarray(adjacency.sum(axis=1)).ravel() + self._ground)
        scale = sp.diags_array(self._scale)
        self._adjacency = sp.csr_array(scale @ adjacency @ scale)
        self._sampled = None

    def solve(self, current, start=None):
        """Return the potentials for currents into the vertices; ``start`` is a guess of them."""
        if self._elimination is None:
            found = self._solve_iteratively(current, start)
            if found is not None:
                return found
            self._elimination = Elimination(self.ends, self.n_vertices)
            self._elimination.factorise(self._inner, self._ground)
        return self._elimination.solve(current)

    def _solve_iteratively(self, current, start):
        """Return the solution by conjugate gradients, or None.

        Where conductances differ very much, the diagonal is too poor a preconditioner: what is
        found with it is where those with a better one begin, in this system and in all that follow.
        """
        x = np.zeros_like(current) if start is None else start
        if not self._hard:
            x, done = self._iterate(current, x, lambda residual: residual, STEPS)
            if done:
                return x
            self._hard = True
        if self._sampled is None:
            self._sampled = SampledFactor(self.ends, self._inner, self._ground)

        def precondition(residual):
            return self._sampled.solve(residual / self._scale) / self._scale

        x, done = self._iterate(current, x, precondition, MORE_STEPS)
        return x if done else None

    def _iterate(self, current, start, precondition, n_steps):
        """Return where conjugate gradients lead, and whether that is accurate.

        The system is scaled to a unit diagonal, and ``scale * residual`` is how far each potential
        is from the mean of its neighbours.
        """
        load, x = self._scale * current, start / self._scale
        residual = load - x + self._adjacency @ x
        enough = ACCURATE * np.max(np.abs(self._scale * load))
        direction, squared = np.zeros_like(x), np.inf
        for _ in range(n_steps):
            if np.max(np.abs(self._scale * residual)) <= enough:
                return self._scale * x, True
            better = precondition(residual)
            before, squared = squared, residual @ better
            direction = better + (squared / before) * direction
            image = direction - self._adjacency @ direction
            curvature = direction @ image
            if not curvature > 0:
                break
            length = squared / curvature
            x += length * direction
            residual -= length * image
        return self._scale * x, False


def potentials(order, factor, pivot, current):
    """Return the potentials for currents into vertices that were taken out in this order."""
    x = current[order]
    _elimination.potentials(*factor, pivot, x)
    potential = np.empty_like(x)
    potential[order] = x
    return potential


class SampledFactor:
    """A sparse factor of about the matrix of a network; see ``_sampled_elimination.pyx``.

    Parameters
    ----------
    ends, inner, ground : the inner edges, their conductances, and those to the ground
    """

    def __init__(self, ends, inner, ground):
        n, rng = len(ground), np.random.RandomState(0)
        room = SAMPLES + 2 * n
        network = SampledElimination(np.ascontiguousarray(ends, dtype=np.intp), inner, ground)
        rows, joined = [], []
        while network.n_done < n:
            rows.append(np.empty(room, dtype=np.intc))
            joined.append(np.empty(room))
            filled = network.eliminate(rng.random_sample(room), rows[-1], joined[-1])
            rows[-1], joined[-1] = rows[-1][:filled].copy(), joined[-1][:filled].copy()
        self._order = np.asarray(network.order)
        place = np.empty(n, dtype=np.intc)
        place[self._order] = np.arange(n)
        rows = place[np.concatenate(rows)]
        self._factor = np.asarray(network.starts), rows, np.concatenate(joined)
        self._pivot = np.asarray(network.pivot)[:n]

    def solve(self, current):
        """Return about the potentials for currents into the vertices."""
        return potentials(self._order, self._factor, self._pivot, current)


class Elimination:
    """The network with its vertices taken out one by one; see ``_elimination.pyx``."""

    def __init__(self, ends, n_vertices, limits=None):
        limits = Limits() if limits is None else limits
        number = np.arange(1, len(ends) + 1)  # a zero would vanish
        half = sp.csr_array((number, tuple(ends.T)), shape=(n_vertices, n_vertices))
        pattern = sp.csr_array(half + half.T)
        self._order = least_degree_order(pattern, limits)
        pattern = sp.csr_array(pattern[self._order][:, self._order])
        self._edge = pattern.data - 1
        self._pattern = pattern.indptr.astype(np.intp), pattern.indices.astype(np.intp)
        self._parent = np.empty_like(self._order)
        _sparse_cholesky.elimination_tree(*self._pattern, self._parent, np.empty_like(self._order))
        self._starts = np.concatenate([[0], np.cumsum(self._count_entries(limits))])

    def _count_entries(self, limits):
        """Return how many entries each column of the factor has."""
        row, mark, count = 0, np.full_like(self._parent, -1), np.zeros_like(self._parent)
        while row < len(count):
            row = _sparse_cholesky.count_below(*self._pattern, self._parent, row, READ, mark, count)
            limits.check(float(count.sum()), float(np.square(count, dtype=float).sum()))
        return count

    @cached_property
    def _factor(self):
        """Where the columns of the factor start, their rows, and room for the entries."""
        starts, n = self._starts, len(self._order)
        rows, filled, row = np.empty(starts[-1], dtype=np.intc), starts[:-1].copy(), 0
        mark = np.full_like(self._parent, -1)
        while row < n:
            row = _elimination.list_rows(
                *self._pattern, self._parent, row, CALL, mark, filled, rows
            )
        return starts, rows, np.empty(len(rows))

    def factorise(self, inner, ground):
        """Eliminate all vertices."""
        n = len(self._order)
        conductance, ground = inner[self._edge], ground[self._order]
        self._pivot, grounded, column = np.empty(n), np.empty(n), np.zeros(n)
        first, following = np.full((2, n), -1, dtype=np.intp)
        position = np.zeros(n, dtype=np.intp)
        vertex = 0
        while vertex < n:
            vertex = _elimination.eliminate(
                *self._pattern,
                conductance,
                ground,
                *self._factor,
                grounded,
                self._pivot,
                first,
                following,
                position,
                column,
                vertex,
                CALL,
            )

    def solve(self, current):
        """Return the potentials for currents into the vertices."""
        return potentials(self._order, self._factor, self._pivot, current)
