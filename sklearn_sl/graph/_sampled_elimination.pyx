"""An approximate elimination of a resistor network, as sparse as the network itself.

Taking out a vertex joins its neighbours to one another (see ``_elimination.pyx``): ``d`` of them by
``d (d - 1) / 2`` edges. Here they are joined by ``d - 1`` edges only, drawn at random such that the
conductances are right on average: with the neighbours in the order of their conductances
``a_1 <= ... <= a_d`` to the vertex, and ``S_i = a_{i+1} + ... + a_d``, neighbour ``i`` is joined to
one of the later ones, ``j`` with the probability ``a_j / S_i``, by ``a_i S_i / D`` for the pivot
``D = a_1 + ... + a_d``. The ground is a neighbour as any other. The factors precondition conjugate
gradients, however much the conductances differ: nothing is ever subtracted.

R. Kyng and S. Sachdeva, "Approximate Gaussian elimination for Laplacians: fast, sparse, and
simple", FOCS 2016.
"""

from cython cimport final

import numpy as np


@final
cdef class SampledElimination:
    """A network whose vertices are taken out one by one, those with the fewest edges first.

    Parameters
    ----------
    ends : the two free vertices of each edge
    conductance : of the edges
    ground : the conductance of each vertex to the ground

    Attributes
    ----------
    order : the vertices in the order of their elimination
    pivot : the sums of the conductances of each, when it was taken out
    starts : where the column of each begins
    ground : what joins those that are left to the ground
    """
    cdef readonly Py_ssize_t n_done
    cdef Py_ssize_t n
    # Edge ``e`` has the ends ``to[2 e]`` and ``to[2 e + 1]``; each vertex links the entries that
    # lead away from it. An entry leads to -1 if its edge is no longer there.
    cdef Py_ssize_t[::1] to, following, first
    cdef double[::1] conductance
    cdef readonly double[::1] ground
    # Vertices with the same number of edges are linked.
    cdef Py_ssize_t[::1] degree, head, after, before
    cdef Py_ssize_t least
    # The neighbours of a vertex, their conductances, one of the entries that lead to each, and
    # where each is in this list.
    cdef Py_ssize_t[::1] neighbour, entry, where
    cdef double[::1] joint, rest
    cdef readonly Py_ssize_t[::1] order, starts
    cdef readonly double[::1] pivot

    def __init__(self, const Py_ssize_t[:, ::1] ends, const double[::1] conductance,
                 const double[::1] ground):
        cdef Py_ssize_t n = ground.shape[0], n_edges = ends.shape[0], e, v
        self.n = n
        self.to, self.following = np.empty((2, 2 * n_edges), dtype=np.intp)
        self.conductance, self.ground = np.array(conductance), np.array(ground)
        self.degree, self.order = np.zeros((2, n), dtype=np.intp)
        self.head, self.after, self.before, self.first = np.full((4, n + 1), -1, dtype=np.intp)
        self.neighbour, self.entry, self.where = np.full((3, n + 1), -1, dtype=np.intp)
        self.joint, self.rest, self.pivot = np.zeros((3, n + 1))
        self.starts = np.zeros(n + 1, dtype=np.intp)
        with nogil:
            for e in range(n_edges):
                self.to[2 * e], self.to[2 * e + 1] = ends[e, 1], ends[e, 0]
                self._attach(2 * e, ends[e, 0])
                self._attach(2 * e + 1, ends[e, 1])
            for v in range(n):
                self._link(v)

    cdef void _attach(self, Py_ssize_t entry, Py_ssize_t v) noexcept nogil:
        """Let an entry lead away from a vertex."""
        self.following[entry] = self.first[v]
        self.first[v] = entry
        self.degree[v] += 1

    cdef void _link(self, Py_ssize_t v) noexcept nogil:
        """Put a vertex into the list of its degree; very large ones have one list."""
        cdef Py_ssize_t d = min(self.degree[v], self.n), other = self.head[d]
        self.after[v], self.before[v] = other, -1
        if other != -1:
            self.before[other] = v
        self.head[d] = v
        self.least = min(self.least, d)

    cdef void _unlink(self, Py_ssize_t v) noexcept nogil:
        """Take a vertex out of the list of its degree."""
        if self.before[v] == -1:
            self.head[min(self.degree[v], self.n)] = self.after[v]
        else:
            self.after[self.before[v]] = self.after[v]
        if self.after[v] != -1:
            self.before[self.after[v]] = self.before[v]

    def eliminate(self, const double[::1] uniform, int[::1] rows, double[::1] joined):
        """Take out vertices, while there are random numbers and room for their columns.

        Writes the later neighbours of each vertex and its conductances to them, as the columns of
        the factor, from the start of the arrays on. Returns how many entries were written. Both
        arrays, and the random numbers in [0, 1), have to be longer than the number of vertices.
        """
        cdef Py_ssize_t used = 0, filled = 0, begin, v, k, d
        with nogil:
            while self.n_done < self.n:
                if used + self.n >= uniform.shape[0] or filled + self.n >= rows.shape[0]:
                    break
                v, begin = self._next(), filled
                d = self._gather(v)
                for k in range(d):
                    if self.neighbour[k] < self.n:
                        rows[filled] = <int> self.neighbour[k]
                        joined[filled] = self.joint[k]
                        filled += 1
                self._sample(d, self.pivot[self.n_done], uniform, used)
                used += max(d - 1, 0)
                self.starts[self.n_done + 1] = self.starts[self.n_done] + filled - begin
                self.n_done += 1
        return filled

    cdef Py_ssize_t _next(self) noexcept nogil:
        """Return a vertex with the fewest edges."""
        cdef Py_ssize_t v
        while self.head[self.least] == -1:
            self.least += 1
        v = self.head[self.least]
        self._unlink(v)
        self.order[self.n_done] = v
        return v

    cdef Py_ssize_t _gather(self, Py_ssize_t v) noexcept nogil:
        """List the neighbours of a vertex, the ground is ``n``, from the faintest on.

        Parallel edges become one. Writes the pivot, and returns how many neighbours there are.
        """
        cdef Py_ssize_t entry = self.first[v], d = 0, u, k
        while entry != -1:
            u = self.to[entry]
            if u != -1:
                if self.where[u] == -1:
                    self.where[u] = d
                    self.neighbour[d], self.entry[d], self.joint[d] = u, entry, 0
                    self._unlink(u)
                    d += 1
                else:
                    self.to[entry ^ 1] = -1
                    self.degree[u] -= 1
                self.joint[self.where[u]] += self.conductance[entry >> 1]
            entry = self.following[entry]
        for k in range(d):
            self.where[self.neighbour[k]] = -1
        if self.ground[v] > 0:
            self.neighbour[d], self.entry[d], self.joint[d] = self.n, -1, self.ground[v]
            d += 1
        self._sort(d)
        # Sums of positive numbers, the largest last: no digit is lost.
        self.pivot[self.n_done] = 0
        for k in range(d):
            self.pivot[self.n_done] += self.joint[k]
        if d:
            self.rest[d - 1] = 0
        for k in range(d - 2, -1, -1):
            self.rest[k] = self.rest[k + 1] + self.joint[k + 1]
        return d

    cdef void _sort(self, Py_ssize_t d) noexcept nogil:
        """Sort the neighbours by their conductances (heap sort, which has no bad cases)."""
        cdef Py_ssize_t k
        for k in range(d // 2 - 1, -1, -1):
            self._sift(k, d)
        for k in range(d - 1, 0, -1):
            self._swap(0, k)
            self._sift(0, k)

    cdef void _sift(self, Py_ssize_t k, Py_ssize_t d) noexcept nogil:
        cdef Py_ssize_t child = 2 * k + 1
        while child < d:
            if child + 1 < d and self.joint[child + 1] > self.joint[child]:
                child += 1
            if self.joint[k] >= self.joint[child]:
                return
            self._swap(k, child)
            k, child = child, 2 * child + 1

    cdef void _swap(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        self.joint[i], self.joint[j] = self.joint[j], self.joint[i]
        self.entry[i], self.entry[j] = self.entry[j], self.entry[i]
        self.neighbour[i], self.neighbour[j] = self.neighbour[j], self.neighbour[i]

    cdef void _sample(self, Py_ssize_t d, double total, const double[::1] uniform,
                      Py_ssize_t used) noexcept nogil:
        """Join each neighbour but the last to a later one, and link them by their degrees."""
        cdef Py_ssize_t i, j
        cdef double threshold
        for i in range(d - 1):
            # The later ones have the sums ``rest[i] - rest[j]``; a binary search finds the one.
            threshold = uniform[used + i] * self.rest[i]
            j = self._later(i, d, threshold)
            self._join(i, j, self.joint[i] * (self.rest[i] / total))
        if d and self.neighbour[d - 1] < self.n:
            self._drop(d - 1)
        for i in range(d):
            if self.neighbour[i] < self.n:
                self._link(self.neighbour[i])

    cdef Py_ssize_t _later(self, Py_ssize_t i, Py_ssize_t d, double threshold) noexcept nogil:
        """Return the last ``j > i`` with more than the threshold from ``j`` on."""
        cdef Py_ssize_t low = i + 1, high = d - 1, middle
        while low < high:
            middle = (low + high + 1) // 2
            if self.rest[middle - 1] > threshold:
                low = middle
            else:
                high = middle - 1
        return low

    cdef void _join(self, Py_ssize_t i, Py_ssize_t j, double value) noexcept nogil:
        """Join two neighbours, by the edge that one of them had to the vertex."""
        cdef Py_ssize_t u = self.neighbour[i], v = self.neighbour[j], away = self.entry[i]
        if u == self.n:
            self.ground[v] += value
        elif v == self.n:
            self.ground[u] += value
            self._drop(i)
        else:
            self.conductance[away >> 1] = value
            self.to[away ^ 1] = v
            self.to[away] = u
            self._attach(away, v)

    cdef void _drop(self, Py_ssize_t i) noexcept nogil:
        """Remove the edge between a neighbour and the vertex."""
        self.to[self.entry[i] ^ 1] = -1
        self.degree[self.neighbour[i]] -= 1
