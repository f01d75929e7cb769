"""Potentials of a resistor network whose conductances change from system to system."""

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sklearn_sl.graph import _elimination, _sparse_cholesky
from sklearn_sl.graph._factor import _least_degree, check_size

# A network is eliminated if that takes no more work than so many steps of conjugate gradients.
# Otherwise these have so many steps, and if they fail it is eliminated after all.
CHEAP, STEPS = 500, 3000
# Conjugate gradients end when every potential is so near to the mean of its neighbours.
ACCURATE = 1e-12
# Operations of one call of the elimination: some 50 ms.
CALL = 10**7


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
        self.elimination = Elimination(ends, n_vertices)
        self.eliminates = self.elimination.is_cheaper_than(CHEAP * (2 * len(ends) + n_vertices))

    def set_conductances(self, inner, shore):
        """Prepare to solve for the conductances of the inner edges, and of those to the ground."""
        self._inner, self._ground = inner, np.bincount(self.shore, shore, self.n_vertices)
        if self.eliminates:
            self.elimination.factorise(inner, self._ground)
            return
        shape = self.n_vertices, self.n_vertices
        a, b = self.ends.T
        half = sp.csr_array((inner, (a, b)), shape=shape)
        adjacency = half + half.T
        self._scale = 1 / np.sqrt(np.asarray(adjacency.sum(axis=1)).ravel() + self._ground)
        scale = sp.diags_array(self._scale)
        self._adjacency = sp.csr_array(scale @ adjacency @ scale)

    def solve(self, current, start=None):
        """Return the potentials for currents into the vertices; ``start`` is a guess of them."""
        if not self.eliminates:
            found = self._iterate(current, start)
            if found is not None:
                return found
            self.eliminates = True
            self.elimination.factorise(self._inner, self._ground)
        return self.elimination.solve(current)

    def _iterate(self, current, start):
        """Return the solution by conjugate gradients, or None.

        The system is scaled to a unit diagonal, and ``scale * residual`` is how far each potential
        is from the mean of its neighbours.
        """
        load = self._scale * current
        x = np.zeros_like(load) if start is None else start / self._scale
        residual = load - x + self._adjacency @ x
        enough = ACCURATE * np.max(np.abs(self._scale * load))
        direction, squared = residual.copy(), residual @ residual
        for _ in range(STEPS):
            if np.max(np.abs(self._scale * residual)) <= enough:
                return self._scale * x
            image = direction - self._adjacency @ direction
            curvature = direction @ image
            if not curvature > 0:
                break
            length = squared / curvature
            x += length * direction
            residual -= length * image
            before, squared = squared, residual @ residual
            direction = residual + (squared / before) * direction
        return None


class Elimination:
    """The network with its vertices taken out one by one; see ``_elimination.pyx``."""

    def __init__(self, ends, n_vertices):
        number = np.arange(1, len(ends) + 1)  # a zero would vanish
        half = sp.csr_array((number, tuple(ends.T)), shape=(n_vertices, n_vertices))
        pattern = sp.csr_array(half + half.T)
        # Vertices that are joined to the ground alone count too.
        self._order = _least_degree(sp.csr_array(pattern + sp.eye_array(n_vertices)))
        pattern = sp.csr_array(pattern[self._order][:, self._order])
        self._edge = pattern.data - 1
        self._pattern = pattern.indptr.astype(np.intp), pattern.indices.astype(np.intp)
        n = len(self._order)
        self._parent, self._count = np.empty(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
        _sparse_cholesky.elimination_tree(*self._pattern, self._parent, np.empty_like(self._count))
        self._mark, self._row = np.full(n, -1), 0

    def is_cheaper_than(self, work):
        """Return whether the factorisation takes no more multiplications than that."""
        while self._row < len(self._order) and self._work() <= work:
            self._count_entries()
        return self._work() <= work

    def _work(self):
        return np.sum(self._count.astype(np.float64) ** 2)

    def _count_entries(self):
        """Count some more entries of the factor's columns."""
        self._row = _sparse_cholesky.count_below(
            *self._pattern, self._parent, self._row, CALL, self._mark, self._count
        )

    @cached_property
    def _factor(self):
        """Where the columns of the factor start, their rows, and room for the entries."""
        while self._row < len(self._order):
            self._count_entries()
            check_size(int(self._count.sum()))
        starts = np.concatenate([[0], np.cumsum(self._count)])
        rows, filled, row = np.empty(starts[-1], dtype=np.intc), starts[:-1].copy(), 0
        mark = np.full_like(self._parent, -1)
        while row < len(self._order):
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
        x = current[self._order]
        _elimination.potentials(*self._factor, self._pivot, x)
        potential = np.empty_like(x)
        potential[self._order] = x
        return potential
