"""The inverse of a Laplacian, a few columns or entries at a time and never as a whole.

Small graphs and planar-like ones are factorised. The others, whose factors would be nearly full,
are left as they are and solved with by conjugate gradients.
"""

from functools import cached_property

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from sklearn_sl._laplacians._adjacency import degrees, find_components
from sklearn_sl._laplacians._conjugate_gradients import TINY, ScaledMatrix
from sklearn_sl._laplacians._factor import TOO_FAR_APART, Factor, Limits, pattern_within
from sklearn_sl._warnings import warn

# Graphs with more vertices are factorised only if the factor has at most so many numbers for each
# vertex: it has 40 in the plane, hundreds in ten dimensions.
SMALL, THIN = 10_000, 150
# What a column found by conjugate gradients may be wrong by, in the norm of the energy.
TOLERANCE = 1e-8
# A difference that is smaller by this factor than its terms is wrong in the seventh digit.
LOST = 1e-8
# So many right-hand sides are solved for at once.
WIDTH = 64


class LaplacianInverse:
    """``L^+``, or ``(L + shift I)^-1`` for a positive shift.

    Parameters
    ----------
    W : csr_array of shape (n_vertices, n_vertices)
        The weights of the edges.

    shift : float, default=0.0
        What is added to the diagonal.

    direct : bool, default=None
        Whether the matrix is factorised; None chooses.

    Attributes
    ----------
    component : ndarray of shape (n_vertices,)
        The connected component of each vertex.

    size : ndarray of shape (n_vertices,)
        How many vertices that has.
    """

    def __init__(self, W, shift=0.0, direct=None):
        # A Laplacian of weights up to 1 neither overflows nor vanishes.
        self.unit = max(W.data.max(initial=0.0), shift) or 1.0
        self.n_vertices = W.shape[0]
        self._check_range(W, shift)
        self.W, self.shift = W / self.unit, shift / self.unit
        self.n_components, self.component = find_components(W)
        self.size = np.bincount(self.component)[self.component]
        self.degree = degrees(self.W)
        self._pattern = None
        self.direct = self._is_thin() if direct is None else direct

    def _is_thin(self):
        """Return whether the graph is small, or its factor has few entries."""
        if self.n_vertices <= SMALL or not len(self.free):
            return True
        A = self._matrix
        self._pattern = pattern_within(A, thin(A))
        return self._pattern is not None

    def _check_range(self, W, shift):
        """Raise if weights vanish beside the largest, or if entries of the inverse overflow."""
        least = shift or W.data.min(initial=self.unit)
        if least / self.unit < TINY:
            raise ValueError(TOO_FAR_APART)
        # A resistance is at most a sum over a path, and sums of resistances are over vertices.
        least = shift or least / self.n_vertices**2
        if least < 1 / np.finfo(np.float64).max:
            raise ValueError(
                "The inverse of the Laplacian overflows: multiply the weights of the graph, and "
                "epsilon if there is one, by a large number."
            )

    @cached_property
    def free(self):
        """The vertices that are left when one of each component, of most degree, is grounded.

        None is grounded if there is a shift.
        """
        if self.shift:
            return np.arange(self.n_vertices)
        order = np.lexsort((-self.degree, self.component))
        grounds = order[np.unique(self.component[order], return_index=True)[1]]
        return np.delete(np.arange(self.n_vertices), grounds)

    @cached_property
    def factor(self):
        """The Cholesky factor of the matrix at the free vertices, or None if there are none."""
        if not len(self.free):
            return None
        if self.shift:
            return Factor(self._matrix, self._pattern, slack=np.full(self.n_vertices, self.shift))
        grounds = np.delete(np.arange(self.n_vertices), self.free)
        to_ground = degrees(self.W[:, grounds])[self.free]
        return Factor(self._matrix, self._pattern, slack=to_ground)

    @property
    def _matrix(self):
        """The matrix at the free vertices."""
        A = sp.csr_array(sp.diags_array(self.degree + self.shift) - self.W)
        return A if self.shift else sp.csr_array(A[self.free][:, self.free])

    @cached_property
    def scaled(self):
        """The matrix of all vertices, for conjugate gradients."""
        return ScaledMatrix(self.W, self.degree + self.shift)

    def solve(self, B):
        """Return the inverse times a matrix of columns."""
        mean = self._component_means(B)
        centred = B - mean
        if self.direct:
            X = np.zeros(B.shape)
            if len(self.free):
                X[self.free] = self.factor.solve(centred[self.free])
        else:
            X = settled_solution(self.scaled, centred, TOLERANCE)
        # What is constant in a component is known exactly, and rounding errors there are large.
        X -= self._component_means(X)
        if self.shift:
            X += mean / self.shift
        return X / self.unit

    def columns(self, vertices):
        """Return columns of the inverse, shape (n_vertices, n_columns)."""
        B = np.zeros((self.n_vertices, len(vertices)))
        B[vertices, np.arange(len(vertices))] = 1
        return self.solve(B)

    def slopes(self, vertices):
        """Return columns of the derivative of the inverse by the logarithm of the shift."""
        return -self.solve(self.shift * self.unit * self.columns(vertices))

    def blocks(self, vertices):
        """Iterate over ``(places, columns)`` for a few of the vertices at a time."""
        for begin in range(0, len(vertices), WIDTH):
            places = slice(begin, begin + WIDTH)
            yield places, self.columns(vertices[places])

    def _component_means(self, X):
        """Return the mean of the component of each vertex."""
        if self.n_components == 1:
            return np.broadcast_to(X.mean(axis=0), X.shape)
        numbers = np.ones(self.n_vertices), (self.component, np.arange(self.n_vertices))
        sums = sp.csr_array(numbers) @ X
        return (sums / np.bincount(self.component)[:, None])[self.component]

    def diagonal(self, vertices):
        """Return entries of the diagonal of the inverse."""
        if self.direct:
            return self._whole_diagonal[vertices]
        values = np.empty(len(vertices))
        for places, X in self.blocks(vertices):
            values[places] = X[vertices[places], np.arange(X.shape[1])]
        return values

    @cached_property
    def _whole_diagonal(self):
        """The diagonal ``C Z C``, where ``C`` subtracts the mean of a component."""
        total = np.zeros((self.n_vertices, 1))
        if len(self.free):
            total[self.free] = self.factor.solve(np.ones((len(self.free), 1)))
        total = total[:, 0]
        mean = (np.bincount(self.component, total) / np.bincount(self.component))[self.component]
        constant = 1 / (self.size * self.shift) if self.shift else 0.0
        return (self._grounded_diagonal - (2 * total - mean) / self.size + constant) / self.unit

    @cached_property
    def _grounded_diagonal(self):
        """The diagonal of ``Z``, the inverse at the free vertices, and zero at the grounds."""
        values = np.zeros(self.n_vertices)
        if len(self.free):
            order = np.arange(len(self.free))
            values[self.free] = self.factor.inverse_at(order, order)
        return values

    def resistances_of_edges(self, rows, cols):
        """Return the resistances between vertices that an edge joins; only without a shift."""
        place = np.full(self.n_vertices, -1)
        place[self.free] = np.arange(len(self.free))
        i, j, own = place[rows], place[cols], self._grounded_diagonal
        between = np.zeros(len(rows))
        both = (i >= 0) & (j >= 0)
        if both.any():
            between[both] = self.factor.inverse_at(i[both], j[both])
        values = (own[rows] + own[cols] - 2 * between) / self.unit
        # Where the way to the ground is so much longer than the edge, hardly a digit is left.
        size = np.maximum(own[rows], own[cols]) / self.unit
        doubtful = np.flatnonzero(values < LOST * size)
        values[doubtful] = self.resistances_of_pairs(rows[doubtful], cols[doubtful])
        return values

    def resistances_of_pairs(self, rows, cols):
        """Return the resistances between pairs of vertices of one component, a solve for each.

        The resistance is the squared norm of ``inv(C)(e_p - e_q)`` for a factor ``C C' = L``: a sum
        of squares, in which nothing cancels.
        """
        values = self._solved_pairs(rows, cols)
        if self.direct:
            # Nothing cancels in the sum, but the two columns may: then one end is grounded.
            size = np.maximum(self._grounded_diagonal[rows], self._grounded_diagonal[cols])
            doubtful = np.flatnonzero(values < LOST**2 * size)
            for ground in np.unique(cols[doubtful]):
                chosen = doubtful[cols[doubtful] == ground]
                values[chosen] = self._resistances_to(ground, rows[chosen])
        return values / self.unit

    def _solved_pairs(self, rows, cols):
        """Return the resistances between pairs in units of the largest weight."""
        values = np.empty(len(rows))
        for begin in range(0, len(rows), WIDTH):
            part = slice(begin, begin + WIDTH)
            B, order = np.zeros((self.n_vertices, len(rows[part]))), np.arange(len(rows[part]))
            B[rows[part], order] += 1
            B[cols[part], order] -= 1
            if not self.direct:
                X = settled_solution(self.scaled, B, TOLERANCE)
                values[part] = X[rows[part], order] - X[cols[part], order]
            elif len(self.free):
                values[part] = np.sum(self.factor.half_solve(B[self.free]) ** 2, axis=0)
            else:
                values[part] = 0.0
        return values

    def _resistances_to(self, ground, vertices):
        """Return the resistances from some vertices of a component to one, at a factor's cost.

        They are the diagonal of the inverse without that vertex, in which all numbers are positive:
        right to the last digits however much the weights differ.
        """
        free = np.flatnonzero(self.component == self.component[ground])
        free = free[free != ground]
        among, to_ground = self.W[free][:, free], degrees(self.W[:, [ground]])[free]
        A = sp.csr_array(sp.diags_array(self.degree[free]) - among)
        B = np.zeros((len(free), len(vertices)))
        B[np.searchsorted(free, vertices), np.arange(len(vertices))] = 1
        return np.sum(Factor(A, None, slack=to_ground).half_solve(B) ** 2, axis=0)


def thin(A):
    """Return the limits of a factor with few entries for each row of ``A``."""
    return Limits(n_entries=THIN * A.shape[0])


def settled_solution(scaled, B, tol, max_iter=20_000):
    """Return the solution for columns ``B``, wrong by about ``tol`` in the norm of the energy."""
    X, _, settled = scaled.settle(B, tol, max_iter)
    if not settled:
        warn(
            f"Conjugate gradients did not converge in {max_iter} iterations: the graph has a very "
            "large diameter or very different weights. Use method='exact', which factorises the "
            "Laplacian.",
            ConvergenceWarning,
        )
    return X
