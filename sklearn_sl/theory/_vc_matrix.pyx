"""Sets of points that the rows of a sign matrix shatter, and those with most patterns."""

import numpy as np

from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memchr

# (A build with checks takes no ``+=`` of attributes without the lock of the interpreter.)


cdef class Partition:
    """The hypotheses in cells: one cell for each pattern on the points that were chosen.

    For every depth there is an order of the hypotheses, in which each cell is a segment.
    """

    cdef const uint8_t[:, ::1] columns
    cdef int32_t[:, ::1] order, starts
    cdef int32_t[::1] n_cells

    def __init__(self, const uint8_t[:, ::1] columns, Py_ssize_t n_levels, Py_ssize_t most_cells):
        cdef Py_ssize_t n = columns.shape[1]
        self.columns = columns
        # The rows below the first are written before they are read.
        self.order = np.tile(np.arange(n, dtype=np.int32), (n_levels + 1, 1))
        self.starts = np.empty((n_levels + 1, most_cells + 1), dtype=np.int32)
        self.n_cells = np.empty(n_levels + 1, dtype=np.int32)
        self.starts[0, 0], self.starts[0, 1], self.n_cells[0] = 0, n, 1

    cdef void refine(self, Py_ssize_t depth, Py_ssize_t point) noexcept nogil:
        """Choose a point: split the cells of a depth by its signs, for the depth below."""
        cdef Py_ssize_t c, i, low, high, n = 0
        cdef int32_t row
        for c in range(self.n_cells[depth]):
            low, high = self.starts[depth, c], self.starts[depth, c + 1]
            self.starts[depth + 1, n] = low
            n += 1
            for i in range(self.starts[depth, c], self.starts[depth, c + 1]):
                row = self.order[depth, i]
                if self.columns[point, row]:
                    high -= 1
                    self.order[depth + 1, high] = row
                else:
                    self.order[depth + 1, low] = row
                    low += 1
            if self.starts[depth, c] < low < self.starts[depth, c + 1]:
                self.starts[depth + 1, n] = low
                n += 1
        self.starts[depth + 1, n] = self.columns.shape[1]
        self.n_cells[depth + 1] = n

    cdef bint splits_all(
        self, Py_ssize_t depth, Py_ssize_t point, Py_ssize_t least, Py_ssize_t* work
    ) noexcept nogil:
        """Return whether each cell has so many hypotheses of either sign; add what was read."""
        cdef Py_ssize_t c, i, n, stop
        cdef Py_ssize_t counts[2]
        for c in range(self.n_cells[depth]):
            i, stop = self.starts[depth, c], self.starts[depth, c + 1]
            n = i
            counts[0] = counts[1] = 0
            while i < stop and (counts[0] < least or counts[1] < least):
                counts[self.columns[point, self.order[depth, i]]] += 1
                i += 1
            work[0] += i - n + 1
            if counts[0] < least or counts[1] < least:
                return False
        return True

    cdef Py_ssize_t n_split(
        self, Py_ssize_t depth, Py_ssize_t point, Py_ssize_t* work
    ) noexcept nogil:
        """Return how many cells hold hypotheses of both signs; add what was read to the work."""
        cdef Py_ssize_t c, i, n, stop, total = 0
        cdef uint8_t first
        for c in range(self.n_cells[depth]):
            i, stop = self.starts[depth, c], self.starts[depth, c + 1]
            n = i
            first = self.columns[point, self.order[depth, i]]
            while i < stop and self.columns[point, self.order[depth, i]] == first:
                i += 1
            total += i < stop
            work[0] += i - n + 1
        return total


cdef class PointSearch:
    """What the depth first searches for sets of points share: chosen points and candidates.

    The candidates of a depth are those of the depth above that come after the chosen one, so that
    each set is met once.
    """

    cdef Partition cells
    cdef Py_ssize_t size, depth
    cdef int32_t[:, ::1] candidates
    # For each depth: the candidates not looked at yet, how many were kept, and which is next.
    cdef Py_ssize_t[::1] scan, stop, n_kept, next_kept
    cdef Py_ssize_t[::1] chosen
    cdef readonly Py_ssize_t n_sets

    def __init__(self, const uint8_t[:, ::1] columns, Py_ssize_t size, Py_ssize_t most_cells):
        cdef Py_ssize_t n_points = columns.shape[0]
        self.cells = Partition(columns, size, most_cells)
        self.size, self.depth, self.n_sets = size, 0, 0
        self.candidates = np.tile(np.arange(n_points, dtype=np.int32), (size + 1, 1))
        self.scan = np.zeros(size + 1, dtype=np.intp)
        self.stop = np.zeros(size + 1, dtype=np.intp)
        self.n_kept = np.zeros(size + 1, dtype=np.intp)
        self.next_kept = np.zeros(size + 1, dtype=np.intp)
        self.chosen = np.zeros(size, dtype=np.intp)
        self.stop[0] = n_points

    cdef bint _step(self, Py_ssize_t* work) noexcept nogil:
        """Choose the next candidate of this depth, or go up; return whether there is another."""
        cdef Py_ssize_t k = self.depth, point
        while self.n_kept[k] - self.next_kept[k] < self.size - k:
            if k == 0:
                return False
            k -= 1
        point = self.candidates[k + 1, self.next_kept[k]]
        self.next_kept[k] += 1
        self.chosen[k] = point
        self.cells.refine(k, point)
        work[0] += self.cells.columns.shape[1]
        self.scan[k + 1], self.stop[k + 1] = self.next_kept[k], self.n_kept[k]
        self.n_kept[k + 1] = self.next_kept[k + 1] = 0
        self.depth = k + 1
        return True


cdef class ShatteringSearch(PointSearch):
    """Depth first search for a set of so many points on which all patterns occur.

    After ``k`` of ``d`` points each of the ``2^k`` patterns must occur in at least ``2^(d - k)``
    hypotheses, or some pattern on ``d`` points would be missing.

    Parameters
    ----------
    columns : ndarray of shape (n_points, n_hypotheses)
        The signs of the hypotheses at each point, 0 or 1.

    size : int
        The number ``d`` of points, at least one.
    """

    cdef readonly bint found

    def __init__(self, const uint8_t[:, ::1] columns, Py_ssize_t size):
        PointSearch.__init__(self, columns, size, (<Py_ssize_t> 1) << size)
        self.found = False

    @property
    def points(self):
        """The set that was found."""
        return np.array(self.chosen)

    def run(self, Py_ssize_t n_sets, Py_ssize_t limit):
        """Try so many more sets, reading about ``limit`` signs; return whether there are others."""
        cdef Py_ssize_t work = 0, last = self.n_sets + n_sets
        cdef bint more = True
        with nogil:
            while more and not self.found and work < limit and self.n_sets < last:
                if self.scan[self.depth] < self.stop[self.depth]:
                    self._try(&work)
                else:
                    more = self._step(&work)
        return more and not self.found

    cdef void _try(self, Py_ssize_t* work) noexcept nogil:
        """Keep the next candidate if all patterns occur often enough."""
        cdef Py_ssize_t k = self.depth, point = self.candidates[k, self.scan[k]]
        self.scan[k] += 1
        self.n_sets = self.n_sets + 1
        if not self.cells.splits_all(k, point, (<Py_ssize_t> 1) << (self.size - k - 1), work):
            return
        if k + 1 == self.size:
            self.chosen[k] = point
            self.found = True
        else:
            self.candidates[k + 1, self.n_kept[k]] = point
            self.n_kept[k] += 1


cdef class GrowthSearch(PointSearch):
    """Branch and bound for the set of so many points with the most patterns.

    Each further point at most doubles their number.

    Parameters
    ----------
    columns : ndarray of shape (n_points, n_hypotheses)
        The signs of the hypotheses at each point, 0 or 1.

    size : int
        The number of points, at least one.

    best, ceiling : int
        Bounds from below and above on the number of patterns; the search ends at ``ceiling``.
    """

    cdef readonly Py_ssize_t best
    cdef Py_ssize_t ceiling

    def __init__(
        self, const uint8_t[:, ::1] columns, Py_ssize_t size, Py_ssize_t best, Py_ssize_t ceiling
    ):
        PointSearch.__init__(self, columns, size, columns.shape[1])
        self.best, self.ceiling = best, ceiling

    def run(self, Py_ssize_t n_sets, Py_ssize_t limit):
        """Try so many more sets, reading about ``limit`` signs; return whether there are others."""
        cdef Py_ssize_t work = 0, last = self.n_sets + n_sets
        cdef bint more = True
        with nogil:
            while more and self.best < self.ceiling and work < limit and self.n_sets < last:
                if self.scan[self.depth] < self.stop[self.depth]:
                    self._try(&work)
                else:
                    more = self._step(&work)
        return more and self.best < self.ceiling

    cdef void _try(self, Py_ssize_t* work) noexcept nogil:
        """Keep the next candidate unless doubling can lead to no more patterns than the best."""
        cdef Py_ssize_t k = self.depth, point = self.candidates[k, self.scan[k]], most
        self.scan[k] += 1
        self.n_sets = self.n_sets + 1
        most = self.cells.n_cells[k] + self.cells.n_split(k, point, work)
        if k + 1 == self.size:
            self.best = max(self.best, most)
            return
        for _ in range(self.size - k - 1):
            most = min(2 * most, self.ceiling)
        if most > self.best:
            self.candidates[k + 1, self.n_kept[k]] = point
            self.n_kept[k] += 1


cdef class ProjectionSearch:
    """Depth first search for a set of points on which all patterns occur, by leaving out others.

    For few points and many hypotheses: ``present[p]`` says whether the pattern with the bits of
    ``p`` occurs, and without a point a pattern occurs if it does with either sign. Each
    projection has half as many patterns as the one before.

    Parameters
    ----------
    present : ndarray of shape (2 ** n_points,)
        Whether each pattern occurs, 0 or 1.

    size : int
        The number of points of the set.
    """

    cdef Py_ssize_t n_points, n_left_out, depth
    # The projections one after the other, and where the one of a depth begins.
    cdef uint8_t[::1] present
    cdef Py_ssize_t[::1] begin, next_point, left_out
    cdef readonly bint found
    cdef readonly Py_ssize_t n_sets

    def __init__(self, const uint8_t[::1] present, Py_ssize_t size):
        self.n_points = present.shape[0].bit_length() - 1
        self.n_left_out = self.n_points - size
        self.present = np.empty(2 * present.shape[0], dtype=np.uint8)
        self.present[:present.shape[0]] = present
        sizes = present.shape[0] >> np.arange(self.n_left_out + 1)
        self.begin = np.append(0, np.cumsum(sizes)).astype(np.intp)
        self.next_point = np.empty(self.n_left_out + 1, dtype=np.intp)
        self.left_out = np.empty(self.n_left_out + 1, dtype=np.intp)
        self.next_point[0], self.depth = self.n_points - 1, 0
        self.found, self.n_sets = False, 0

    @property
    def points(self):
        """The set that was found."""
        return np.setdiff1d(np.arange(self.n_points), self.left_out[:self.n_left_out])

    def run(self, Py_ssize_t n_sets, Py_ssize_t limit):
        """Try so many more sets, reading about ``limit`` signs; return whether there are others."""
        cdef Py_ssize_t work = 0, last = self.n_sets + n_sets
        cdef bint more = True
        with nogil:
            while more and not self.found and work < limit and self.n_sets < last:
                more = self._step(&work)
        return more and not self.found

    cdef bint _step(self, Py_ssize_t* work) noexcept nogil:
        """Leave out another point, or go up; return whether there is another set."""
        cdef Py_ssize_t k = self.depth, length
        if k == self.n_left_out:
            self.n_sets = self.n_sets + 1
            length = self.begin[k + 1] - self.begin[k]
            work[0] += length
            self.found = memchr(&self.present[self.begin[k]], 0, length) == NULL
            if self.found:
                return True
            k -= 1
        # Points are left out in falling order: so many lower ones must be there.
        while k >= 0 and self.next_point[k] < self.n_left_out - k - 1:
            k -= 1
        if k < 0:
            return False
        self.left_out[k] = self.next_point[k]
        self.next_point[k] -= 1
        self.next_point[k + 1] = self.next_point[k]
        self._project(k)
        work[0] += self.begin[k + 2] - self.begin[k + 1]
        self.depth = k + 1
        return True

    cdef void _project(self, Py_ssize_t k) noexcept nogil:
        """Write the projection of a depth along the point that it leaves out."""
        cdef Py_ssize_t stride = (<Py_ssize_t> 1) << self.left_out[k], i
        cdef const uint8_t* source = &self.present[self.begin[k]]
        cdef uint8_t* target = &self.present[self.begin[k + 1]]
        for _ in range((self.begin[k + 2] - self.begin[k + 1]) // stride):
            for i in range(stride):
                target[i] = source[i] | source[stride + i]
            source += 2 * stride
            target += stride
