"""An order of elimination with little fill: approximate minimum degree; connected components.

Eliminating a vertex joins its neighbours to one another. Such a clique is kept as an *element*, the
list of its members, so that the graph never takes more room than at the start (the quotient graph).
A vertex has a list of the elements that it is in, and of the neighbours by edges that are in none.
In each step a vertex of the least degree becomes an element, and absorbs those that it was in.

What makes it fast is due to P. R. Amestoy, T. A. Davis and I. S. Duff, "An approximate minimum
degree ordering algorithm", SIAM Journal on Matrix Analysis and Applications 17, 1996: degrees are
bounded from above by the sizes of other elements outside of the new one, which one pass over the
lists finds for all members; elements that lie within the new one are absorbed, too; members with
the same lists become one vertex that stands for several; and members without any other neighbour
are eliminated together with the pivot.
"""

from cython cimport final

import numpy as np


cdef int _first(int[::1] above, int i) noexcept nogil:
    """Return the first vertex of a tree, and halve the way there."""
    while above[i] != i:
        above[i] = above[above[i]]
        i = above[i]
    return i


def join_neighbours(const Py_ssize_t[::1] indptr, const Py_ssize_t[::1] indices, Py_ssize_t row,
                    Py_ssize_t budget, int[::1] above):
    """Join the trees of neighbours, from a row on, until about so many entries have been read.

    ``above`` leads from each vertex to an earlier one of its tree, or from the first to itself.
    Returns the row to go on with.
    """
    cdef Py_ssize_t place
    cdef int mine, other
    with nogil:
        while row < above.shape[0] and budget >= 0:
            mine = _first(above, row)
            for place in range(indptr[row], indptr[row + 1]):
                other = _first(above, indices[place])
                if other < mine:
                    above[mine] = other
                    mine = other
                else:
                    above[other] = mine
            budget -= 1 + indptr[row + 1] - indptr[row]
            row += 1
    return row


def number_trees(int[::1] above):
    """Replace ``above`` by the number of each vertex's tree; returns how many trees there are."""
    cdef Py_ssize_t i
    cdef int n_trees = 0
    with nogil:
        # All on the way to the first vertex come earlier, and have their numbers.
        for i in range(above.shape[0]):
            if above[i] == i:
                above[i] = n_trees
                n_trees += 1
            else:
                above[i] = above[above[i]]
    return n_trees


@final
cdef class QuotientGraph:
    """A graph whose vertices are eliminated one by one.

    Parameters
    ----------
    indptr, indices : the pattern of a symmetric matrix; its diagonal does not matter
    dense : vertices with more entries in their rows come last, and are not looked at

    Attributes
    ----------
    n_eliminated : how many vertices have been eliminated
    n_entries : how many entries the factor has in their columns, below the diagonal, not counting
        the rows of dense vertices
    work : the sum of the squares of these numbers, column by column
    """
    cdef readonly Py_ssize_t n_eliminated
    cdef readonly double n_entries, work
    cdef Py_ssize_t n, n_dense, n_pivots
    # The lists. That of a vertex begins with ``n_elements`` elements; that of an element, the
    # number of which is the pivot's, has vertices alone. Lists end at ``free``.
    cdef int[::1] entries, length, n_elements
    cdef Py_ssize_t[::1] start
    cdef Py_ssize_t free
    # How many vertices one stands for: zero if it is part of another one (``into``), or an
    # element; negative while it is a member of the new element.
    cdef int[::1] size, into
    # Of a vertex a bound of the number of its neighbours, of an element the number of members.
    cdef int[::1] degree
    # From ``stamp`` on, ``mark - stamp`` is the size of an element outside of the new one. Zero
    # for elements that have been absorbed.
    cdef Py_ssize_t[::1] mark
    cdef Py_ssize_t stamp, largest
    # Vertices with the same degree are linked, and members with the same sum of their lists.
    cdef int[::1] head, following, previous
    cdef int[::1] bucket, alike, key
    cdef int least
    cdef int[::1] pivots

    def __init__(self, const Py_ssize_t[::1] indptr, const Py_ssize_t[::1] indices,
                 Py_ssize_t dense):
        cdef Py_ssize_t n = indptr.shape[0] - 1, n_indices = indices.shape[0]
        self.n, self.stamp = n, 2
        # Room for the lists and for a new element, and some more: lists are rarely moved.
        self.entries = np.empty(n_indices + n_indices // 4 + n, dtype=np.intc)
        self.start, self.mark = np.zeros(n, dtype=np.intp), np.ones(n, dtype=np.intp)
        self.length, self.n_elements, self.degree, self.key = np.zeros((4, n), dtype=np.intc)
        self.size, self.pivots = np.ones((2, n), dtype=np.intc)
        self.head, self.following, self.previous = np.full((3, n), -1, dtype=np.intc)
        self.bucket, self.alike, self.into = np.full((3, n), -1, dtype=np.intc)
        with nogil:
            self._copy(indptr, indices, dense)

    cdef void _copy(self, const Py_ssize_t[::1] indptr, const Py_ssize_t[::1] indices,
                    Py_ssize_t dense) noexcept nogil:
        """Make the lists of neighbours, and sort the vertices by their degrees."""
        cdef Py_ssize_t place
        cdef int i, j
        for i in range(self.n):
            if indptr[i + 1] - indptr[i] > dense:
                self.size[i] = 0
                self.n_dense += 1
        for i in range(self.n):
            if self.size[i] == 0:
                continue
            self.start[i] = self.free
            for place in range(indptr[i], indptr[i + 1]):
                j = <int> indices[place]
                if j != i and self.size[j]:
                    self.entries[self.free] = j
                    self.free += 1
            self.length[i] = self.degree[i] = <int> (self.free - self.start[i])
        for i in range(self.n - 1, -1, -1):  # the first of them is linked last, and found first
            if self.size[i]:
                self._link(i)

    cdef void _link(self, int i) noexcept nogil:
        """Put a vertex into the list of its degree."""
        cdef int after = self.head[self.degree[i]]
        self.following[i], self.previous[i] = after, -1
        if after != -1:
            self.previous[after] = i
        self.head[self.degree[i]] = i
        self.least = min(self.least, self.degree[i])

    cdef void _unlink(self, int i) noexcept nogil:
        """Take a vertex out of the list of its degree."""
        cdef int before = self.previous[i], after = self.following[i]
        if before == -1:
            self.head[self.degree[i]] = after
        else:
            self.following[before] = after
        if after != -1:
            self.previous[after] = before

    def eliminate(self, double budget):
        """Eliminate vertices until about so many entries of lists have been read.

        Returns whether no vertex is left.
        """
        with nogil:
            while self.n_eliminated < self.n - self.n_dense and budget > 0:
                budget -= self._eliminate_next()
        return self.n_eliminated == self.n - self.n_dense

    cdef double _eliminate_next(self) noexcept nogil:
        """Eliminate a vertex of the least degree; returns how many entries were read."""
        cdef int pivot
        cdef double n_read
        while self.head[self.least] == -1:
            self.least += 1
        pivot = self.head[self.least]
        self._unlink(pivot)
        self.pivots[self.n_pivots] = pivot
        self.n_pivots += 1
        self.size[pivot] = -self.size[pivot]
        n_read = 10 + self._make_element(pivot)
        n_read += self._measure_elements(pivot)
        n_read += self._bound_degrees(pivot)
        n_read += self._merge_members(pivot)
        self._finish(pivot)
        return n_read

    # ------------------------------------------------------------ a new element

    cdef double _make_element(self, int pivot) noexcept nogil:
        """Turn the pivot into the element of its neighbours, by edges and by elements."""
        cdef Py_ssize_t k, first
        cdef int n_elements = self.n_elements[pivot], n_others = self.length[pivot] - n_elements, e
        cdef double n_read = self.length[pivot]
        self.degree[pivot] = 0
        if n_elements == 0:  # in the place of the vertex
            first = self.start[pivot]
            self.length[pivot] = self._add_members(pivot, first, n_others, first)
            return n_read
        for k in range(self.start[pivot], self.start[pivot] + n_elements):
            n_read += self.length[self.entries[k]]
        if self.free + min(n_read, <double> self.n) > self.entries.shape[0]:
            self._compress()
        first = self.free
        for k in range(self.start[pivot], self.start[pivot] + n_elements):
            e = self.entries[k]
            self.free += self._add_members(pivot, self.start[e], self.length[e], self.free)
            self._absorb(e)
        k = self.start[pivot] + n_elements
        self.free += self._add_members(pivot, k, n_others, self.free)
        self.start[pivot], self.length[pivot] = first, <int> (self.free - first)
        return n_read

    cdef int _add_members(self, int pivot, Py_ssize_t begin, int length, Py_ssize_t end
                          ) noexcept nogil:
        """Write the vertices of a list, unless they are members already; returns how many."""
        cdef Py_ssize_t k
        cdef int i, added = 0
        for k in range(begin, begin + length):
            i = self.entries[k]
            if self.size[i] > 0:
                self._unlink(i)
                self.degree[pivot] += self.size[i]
                self.size[i] = -self.size[i]
                self.entries[end + added] = i
                added += 1
        return added

    cdef void _absorb(self, int e) noexcept nogil:
        """Drop an element that lies within the new one."""
        self.mark[e] = self.length[e] = 0

    cdef void _compress(self) noexcept nogil:
        """Move all lists to the front."""
        cdef Py_ssize_t place, end = 0, k
        cdef int i
        for i in range(self.n):
            if self.length[i]:  # where a list begins stands its owner, and the entry elsewhere
                place = self.start[i]
                self.start[i] = self.entries[place]
                self.entries[place] = -1 - i
        place = 0
        while place < self.free:
            if self.entries[place] >= 0:
                place += 1
                continue
            i = -1 - self.entries[place]
            self.entries[end] = <int> self.start[i]
            self.start[i] = end
            for k in range(1, self.length[i]):
                self.entries[end + k] = self.entries[place + k]
            end += self.length[i]
            place += self.length[i]
        self.free = end

    # ------------------------------------------------------------ its members

    cdef double _measure_elements(self, int pivot) noexcept nogil:
        """Mark the elements of the members by their sizes outside of the new element."""
        cdef Py_ssize_t k, place
        cdef int i, e
        cdef double n_read = 0
        self.largest = max(self.largest, self.degree[pivot])
        for k in range(self.start[pivot], self.start[pivot] + self.length[pivot]):
            i = self.entries[k]
            n_read += self.length[i]
            for place in range(self.start[i], self.start[i] + self.n_elements[i]):
                e = self.entries[place]
                if self.mark[e] >= self.stamp:
                    self.mark[e] += self.size[i]
                elif self.mark[e]:
                    self.mark[e] = self.stamp + self.degree[e] + self.size[i]
        return n_read

    cdef double _bound_degrees(self, int pivot) noexcept nogil:
        """Tidy the lists of the members, bound their degrees, and eliminate some of them."""
        cdef Py_ssize_t k
        cdef int i, outside
        cdef double n_read = 0
        for k in range(self.start[pivot], self.start[pivot] + self.length[pivot]):
            i = self.entries[k]
            n_read += self.length[i]
            outside = self._tidy(i, pivot)
            if self.n_elements[i] == 1 and self.length[i] == 1:
                self.degree[pivot] += self.size[i]
                self._join(i, pivot)
            else:
                self.degree[i] = min(self.degree[i], outside)
                self.alike[i] = self.bucket[self.key[i]]
                self.bucket[self.key[i]] = i
        # All marks become older than the stamp.
        self.stamp += self.largest + 1
        return n_read

    cdef int _tidy(self, int i, int pivot) noexcept nogil:
        """Put the new element first into the list of a member, and drop what it absorbs.

        Writes the key of the list, and returns a bound of how many neighbours are not members.
        """
        cdef Py_ssize_t begin = self.start[i], end = begin, middle, k
        cdef Py_ssize_t stop = begin + self.length[i], total = pivot, outside = 0
        cdef int j
        for k in range(begin, begin + self.n_elements[i]):
            j = self.entries[k]
            if self.mark[j] > self.stamp:
                outside += self.mark[j] - self.stamp
                total += j
                self.entries[end] = j
                end += 1
            elif self.mark[j] == self.stamp:  # it lies within the new element
                self._absorb(j)
        middle = end
        for k in range(begin + self.n_elements[i], stop):
            j = self.entries[k]
            if self.size[j] > 0:
                outside += self.size[j]
                total += j
                self.entries[end] = j
                end += 1
        # At least the pivot, or an element that it was in, has left the list: there is room.
        self.entries[end] = self.entries[middle]
        self.entries[middle] = self.entries[begin]
        self.entries[begin] = pivot
        self.n_elements[i] = <int> (middle - begin) + 1
        self.length[i] = <int> (end - begin) + 1
        self.key[i] = <int> (total % self.n)
        return <int> min(outside, self.n)

    cdef void _join(self, int i, int j) noexcept nogil:
        """Let the vertex ``j`` stand for ``i``, too."""
        self.size[j] += self.size[i]
        self.size[i] = self.length[i] = 0
        self.into[i] = j

    cdef double _merge_members(self, int pivot) noexcept nogil:
        """Join members whose lists are the same."""
        cdef Py_ssize_t k
        cdef int i, j, before
        cdef double n_read = 0
        for k in range(self.start[pivot], self.start[pivot] + self.length[pivot]):
            if self.size[self.entries[k]] == 0:
                continue
            i = self.bucket[self.key[self.entries[k]]]
            self.bucket[self.key[self.entries[k]]] = -1
            while i != -1 and self.alike[i] != -1:
                self._mark_list(i)
                n_read += self.length[i]
                before, j = i, self.alike[i]
                while j != -1:
                    n_read += 1
                    if self._same_list(i, j, &n_read):
                        self._join(j, i)
                        self.alike[before] = self.alike[j]
                    else:
                        before = j
                    j = self.alike[j]
                self.stamp += 1
                i = self.alike[i]
        return n_read

    cdef void _mark_list(self, int i) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.start[i] + 1, self.start[i] + self.length[i]):
            self.mark[self.entries[k]] = self.stamp

    cdef bint _same_list(self, int i, int j, double *n_read) noexcept nogil:
        """Return whether a list has the entries of another one, which are marked."""
        cdef Py_ssize_t k
        if self.length[i] != self.length[j] or self.n_elements[i] != self.n_elements[j]:
            return False
        for k in range(self.start[j] + 1, self.start[j] + self.length[j]):
            n_read[0] += 1
            if self.mark[self.entries[k]] != self.stamp:
                return False
        return True

    cdef void _finish(self, int pivot) noexcept nogil:
        """Give the members that are left their degrees, and count what the pivot fills."""
        cdef Py_ssize_t k, end = self.start[pivot], stop = end + self.length[pivot]
        cdef int i, most
        cdef double width = -self.size[pivot], below = self.degree[pivot]
        self.n_eliminated -= self.size[pivot]
        self.size[pivot] = 0
        for k in range(self.start[pivot], stop):
            i = self.entries[k]
            if self.size[i] == 0:
                continue
            self.size[i] = -self.size[i]
            most = <int> (self.n - self.n_dense - self.n_eliminated) - self.size[i]
            self.degree[i] = min(self.degree[i] + self.degree[pivot] - self.size[i], most)
            self._link(i)
            self.entries[end] = i
            end += 1
        if self.free == stop:
            self.free = end
        self.length[pivot] = <int> (end - self.start[pivot])
        self.n_entries += width * below + width * (width - 1) / 2
        self.work += width * ((below + (width - 1) / 2) ** 2 + (width**2 - 1) / 12)

    def write_order(self, Py_ssize_t[::1] order):
        """Write the vertices in the order of their elimination; what is left comes last."""
        cdef Py_ssize_t k, end = 0
        cdef int i, root
        cdef int[::1] first = self.bucket, following = self.alike
        with nogil:
            first[:] = -1
            for i in range(self.n - 1, -1, -1):
                root = self._root(i)
                if root != i:
                    following[i] = first[root]
                    first[root] = i
            for i in range(self.n):
                if self.into[i] == -1:  # before those that it stands for
                    following[i] = first[i]
                    first[i] = i
            for k in range(self.n_pivots):
                end = self._write_chain(self.pivots[k], order, end)
            for i in range(self.n):
                end = self._write_chain(i, order, end)

    cdef int _root(self, int i) noexcept nogil:
        """Return the vertex that stands for another one, and shorten the way there."""
        cdef int root = i, above
        while self.into[root] != -1:
            root = self.into[root]
        while i != root:
            above = self.into[i]
            self.into[i] = root
            i = above
        return root

    cdef Py_ssize_t _write_chain(self, int root, Py_ssize_t[::1] order, Py_ssize_t end
                                 ) noexcept nogil:
        """Write the vertices that one stands for, unless they have been written."""
        cdef int i = self.bucket[root]
        self.bucket[root] = -1
        while i != -1:
            order[end] = i
            end += 1
            i = self.alike[i]
        return end
