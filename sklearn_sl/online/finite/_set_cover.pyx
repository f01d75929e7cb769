"""The smallest set cover, by branch and bound."""

import numpy as np

from libc.math cimport ceil

# (A build with checks takes no ``+=`` of attributes without the lock of the interpreter.)

# Bounds are sums of fractions: so much less than an integer is that integer.
cdef double ROUNDING = 1e-9


cdef class CoverSearch:
    """Depth first search for the smallest number of sets that cover all elements.

    A node has taken some sets and given up others. It branches on the element that the fewest
    sets can still cover: one of them must be taken, and those tried before it are given up. A node
    ends if a lower bound shows that it has no smaller cover than the best one known. The bound is
    the value of a feasible dual solution: weights of the elements that are not covered, such that
    no set has more than one in total.

    Parameters
    ----------
    starts, sets : ndarray of shape (n_elements + 1,) and (n_stored,)
        ``sets[starts[e]:starts[e + 1]]`` are the sets that hold element ``e``. Bounds are better
        if elements in few sets come first.

    first, elements : ndarray of shape (n_sets + 1,) and (n_stored,)
        ``elements[first[s]:first[s + 1]]`` are the elements of set ``s``.

    best : ndarray of shape (n_best,)
        A cover.
    """

    cdef const Py_ssize_t[::1] starts, sets, first, elements
    # How many taken sets hold an element; how many sets that are not given up do.
    cdef Py_ssize_t[::1] n_taken, n_open
    # How many elements of a set are not covered; how often it was given up, or taken.
    cdef Py_ssize_t[::1] n_fresh, closed
    # The path: sets taken, and the options of each node.
    cdef Py_ssize_t[::1] taken, n_options, next_option
    cdef Py_ssize_t[:, ::1] options
    cdef double[::1] slack
    cdef Py_ssize_t depth, n_uncovered
    cdef bint arrived
    cdef readonly Py_ssize_t n_nodes, n_best
    cdef readonly object best
    cdef readonly double lower_bound

    def __init__(
        self,
        const Py_ssize_t[::1] starts,
        const Py_ssize_t[::1] sets,
        const Py_ssize_t[::1] first,
        const Py_ssize_t[::1] elements,
        best,
    ):
        cdef Py_ssize_t n_elements = starts.shape[0] - 1, n_sets = first.shape[0] - 1
        cdef Py_ssize_t n_levels = len(best) + 1, widest = 0
        self.starts, self.sets, self.first, self.elements = starts, sets, first, elements
        self.n_taken = np.zeros(n_elements, dtype=np.intp)
        self.n_open = np.diff(starts)
        self.n_fresh = np.diff(first)
        self.closed = np.zeros(n_sets, dtype=np.intp)
        self.taken = np.zeros(n_levels, dtype=np.intp)
        self.n_options = np.zeros(n_levels, dtype=np.intp)
        self.next_option = np.zeros(n_levels, dtype=np.intp)
        if n_elements:
            widest = np.max(np.diff(starts))
        self.options = np.zeros((n_levels, widest), dtype=np.intp)
        self.slack = np.zeros(n_sets)
        self.depth, self.n_uncovered, self.arrived = 0, n_elements, True
        self.n_nodes, self.n_best, self.best = 0, len(best), np.array(best, dtype=np.intp)
        self.lower_bound = ceil(self._dual(True) - ROUNDING)
        self.lower_bound = max(self.lower_bound, ceil(self._dual(False) - ROUNDING))

    def run(self, Py_ssize_t n_nodes):
        """Visit so many more nodes; return whether there are others."""
        cdef Py_ssize_t last = self.n_nodes + n_nodes
        cdef bint more = True
        while more and self.n_nodes < last:
            with nogil:
                more = self._to_better_cover(last)
            if more and self.n_uncovered == 0 and self.depth < self.n_best:
                self.best = np.array(self.taken[:self.depth])
                self.n_best = self.depth
        return more

    cdef bint _to_better_cover(self, Py_ssize_t last) noexcept nogil:
        """Search until a better cover, or node ``last``; return whether there is more to do."""
        cdef Py_ssize_t s
        while True:
            if self.arrived:
                self.arrived = False
                self.n_nodes = self.n_nodes + 1
                self.next_option[self.depth] = self.n_options[self.depth] = 0
                if self.n_uncovered == 0:
                    return True
                if not self._is_hopeless():
                    self._branch()
            if self.next_option[self.depth] < self.n_options[self.depth]:
                if self.n_nodes >= last:
                    return True
                s = self.options[self.depth, self.next_option[self.depth]]
                self.next_option[self.depth] += 1
                self._close(s, 1)
                self._take(s)
                self.taken[self.depth] = s
                self.depth = self.depth + 1
                self.arrived = True
            else:
                # All options were tried: they are open again for the nodes above.
                while self.n_options[self.depth] > 0:
                    self.n_options[self.depth] -= 1
                    self._close(self.options[self.depth, self.n_options[self.depth]], -1)
                if self.depth == 0:
                    return False
                self.depth = self.depth - 1
                self._drop(self.taken[self.depth])

    cdef void _close(self, Py_ssize_t s, Py_ssize_t change) noexcept nogil:
        """Give up a set, or open it again."""
        cdef Py_ssize_t i
        self.closed[s] += change
        for i in range(self.first[s], self.first[s + 1]):
            self.n_open[self.elements[i]] -= change

    cdef void _take(self, Py_ssize_t s) noexcept nogil:
        """Cover the elements of a set."""
        cdef Py_ssize_t i, j, e
        for i in range(self.first[s], self.first[s + 1]):
            e = self.elements[i]
            self.n_taken[e] += 1
            if self.n_taken[e] == 1:
                self.n_uncovered = self.n_uncovered - 1
                for j in range(self.starts[e], self.starts[e + 1]):
                    self.n_fresh[self.sets[j]] -= 1

    cdef void _drop(self, Py_ssize_t s) noexcept nogil:
        """Undo ``_take``."""
        cdef Py_ssize_t i, j, e
        for i in range(self.first[s], self.first[s + 1]):
            e = self.elements[i]
            self.n_taken[e] -= 1
            if self.n_taken[e] == 0:
                self.n_uncovered = self.n_uncovered + 1
                for j in range(self.starts[e], self.starts[e + 1]):
                    self.n_fresh[self.sets[j]] += 1

    cdef bint _is_hopeless(self) noexcept nogil:
        """Return whether no cover with fewer sets than the best one can be found from here."""
        cdef double room = self.n_best - self.depth - 1 + ROUNDING
        return room < 1 or self._dual(False) > room or self._dual(True) > room

    cdef double _dual(self, bint fractions) noexcept nogil:
        """Return a lower bound on how many sets the elements need that are not covered.

        With ``fractions`` the weight of an element begins with one over the largest number of such
        elements in a set that holds it, otherwise with zero. Then one weight after the other is
        raised as far as possible.
        """
        cdef Py_ssize_t e, j, s, most
        cdef double total = 0.0, step
        for s in range(self.slack.shape[0]):
            self.slack[s] = 1.0
        if fractions:
            for e in range(self.n_taken.shape[0]):
                if self.n_taken[e] == 0:
                    most = 1
                    for j in range(self.starts[e], self.starts[e + 1]):
                        s = self.sets[j]
                        if self.closed[s] == 0:
                            most = max(most, self.n_fresh[s])
                    total += 1.0 / most
                    for j in range(self.starts[e], self.starts[e + 1]):
                        self.slack[self.sets[j]] -= 1.0 / most
        for e in range(self.n_taken.shape[0]):
            if self.n_taken[e] == 0:
                step = 1.0
                for j in range(self.starts[e], self.starts[e + 1]):
                    s = self.sets[j]
                    if self.closed[s] == 0:
                        step = min(step, self.slack[s])
                if step > ROUNDING:
                    total += step
                    for j in range(self.starts[e], self.starts[e + 1]):
                        self.slack[self.sets[j]] -= step
        return total

    cdef void _branch(self) noexcept nogil:
        """Let the options be the open sets of the element that the fewest hold, largest first."""
        cdef Py_ssize_t e, j, k, s, chosen = -1, n = 0
        for e in range(self.n_taken.shape[0]):
            if self.n_taken[e] == 0:
                if chosen < 0 or self.n_open[e] < self.n_open[chosen]:
                    chosen = e
        for j in range(self.starts[chosen], self.starts[chosen + 1]):
            s = self.sets[j]
            if self.closed[s] == 0:
                k = n
                while k > 0 and self.n_fresh[self.options[self.depth, k - 1]] < self.n_fresh[s]:
                    self.options[self.depth, k] = self.options[self.depth, k - 1]
                    k -= 1
                self.options[self.depth, k] = s
                n += 1
        self.n_options[self.depth] = n
