"""Sending samples down a tree.

A tree is an array of packed nodes; a sample goes left if its value is at most the threshold. What
a node does not know, a missing value or a category that it has not seen, goes where the surrogates
say, or else with ``missing_left``. Only such trees need the functions with ``Unknowns``.
"""

from libc.math cimport isnan
from libc.stdint cimport int32_t, int64_t, uint8_t

from sklearn_sl.tree._cells cimport side_of_category

import numpy as np

cdef packed struct Node:
    double threshold
    int32_t feature
    int32_t left
    int32_t right
    uint8_t missing_left
    uint8_t reserved[3]


cdef packed struct Surrogate:
    double threshold
    int64_t subset
    int32_t feature
    uint8_t flipped
    uint8_t reserved[3]


node_dtype = np.dtype([
    ("threshold", "f8"), ("feature", "i4"), ("left", "i4"), ("right", "i4"),
    ("missing_left", "u1"), ("reserved", "u1", 3),
])
surrogate_dtype = np.dtype([
    ("threshold", "f8"), ("subset", "i8"), ("feature", "i4"), ("flipped", "u1"),
    ("reserved", "u1", 3),
])

cdef enum:
    # Samples that go down side by side, so that one works while others wait for memory.
    LANES = 8
    UNKNOWN = 2


def apply(const double[:, ::1] X, const Node[::1] nodes, int32_t[::1] leaf):
    """Write the leaf of each sample in a tree without categories and surrogates."""
    cdef Py_ssize_t n = X.shape[0], next_row = 0, lane, active
    cdef Py_ssize_t row[LANES]
    cdef int32_t place[LANES]
    cdef const Node* node
    cdef int32_t left, right
    cdef double value
    with nogil:
        active = min(n, <Py_ssize_t> LANES)
        for lane in range(active):
            row[lane], place[lane] = lane, 0
        next_row = active
        while active:
            lane = 0
            while lane < active:
                node = &nodes[place[lane]]
                left, right = node.left, node.right
                if left >= 0:
                    value = X[row[lane], node.feature]
                    place[lane] = left if value <= node.threshold else right
                    if isnan(value) and node.missing_left:
                        place[lane] = left
                    lane += 1
                    continue
                leaf[row[lane]] = place[lane]
                if next_row < n:
                    row[lane], place[lane] = next_row, 0
                    next_row += 1
                    lane += 1
                else:
                    active -= 1
                    row[lane], place[lane] = row[active], place[active]


cdef class Unknowns:
    """What decides where unknown values go: subsets of categories, and surrogates.

    ``subset[t]`` is where the subset of node ``t`` begins in ``subsets``, or -1: the number of
    categories, and ``code << 1 | left`` for each, in the order of the codes. The surrogates of node
    ``t`` are those from ``first[t]`` to ``first[t + 1]``.
    """

    cdef const int64_t[::1] subset
    cdef const int32_t[::1] subsets
    cdef const int64_t[::1] first
    cdef const Surrogate[::1] surrogates

    def __init__(self, subset, subsets, first, surrogates):
        self.subset, self.subsets = subset, subsets
        self.first, self.surrogates = first, surrogates

    cdef uint8_t goes_left(
        self, const double* x, const Node* node, Py_ssize_t place
    ) noexcept nogil:
        """Return 1 if a sample goes left at a node, and 0 if it goes right."""
        cdef double value = x[node.feature]
        cdef uint8_t side = UNKNOWN
        cdef Py_ssize_t s
        cdef const Surrogate* surrogate
        if not isnan(value):
            if self.subset[place] < 0:
                return value <= node.threshold
            side = side_of_category(&self.subsets[self.subset[place]], <int32_t> value)
        for s in range(self.first[place], self.first[place + 1]):
            if side != UNKNOWN:
                break
            surrogate = &self.surrogates[s]
            value = x[surrogate.feature]
            if isnan(value):
                continue
            if surrogate.subset >= 0:
                side = side_of_category(&self.subsets[surrogate.subset], <int32_t> value)
            else:
                side = (value <= surrogate.threshold) != surrogate.flipped
        return node.missing_left if side == UNKNOWN else side


def apply_unknown(
    const double[:, ::1] X, const Node[::1] nodes, Unknowns unknowns, int32_t[::1] leaf
):
    """Write the leaf of each sample."""
    cdef Py_ssize_t i
    cdef int32_t place
    with nogil:
        for i in range(X.shape[0]):
            place = 0
            while nodes[place].left >= 0:
                if unknowns.goes_left(&X[i, 0], &nodes[place], place):
                    place = nodes[place].left
                else:
                    place = nodes[place].right
            leaf[i] = place


def apply_path(
    const double[:, ::1] X, const Node[::1] nodes, Unknowns unknowns, const double[::1] collapse,
    const double[::1] alphas, int32_t[:, ::1] leaf,
):
    """Write where each sample ends in the tree pruned at each of ``alphas``, which increase."""
    cdef Py_ssize_t i, left_over
    cdef int32_t place
    with nogil:
        for i in range(X.shape[0]):
            place, left_over = 0, alphas.shape[0]
            while True:
                while left_over and (
                    nodes[place].left < 0 or alphas[left_over - 1] >= collapse[place]
                ):
                    left_over -= 1
                    leaf[i, left_over] = place
                if not left_over:
                    break
                if unknowns.goes_left(&X[i, 0], &nodes[place], place):
                    place = nodes[place].left
                else:
                    place = nodes[place].right


def paths(const int32_t[::1] leaf, const int32_t[::1] parent, const int64_t[::1] indptr,
          int32_t[::1] indices):
    """Write the nodes from the root to the leaf of each sample, as the indices of a CSR matrix."""
    cdef Py_ssize_t i
    cdef int64_t here
    cdef int32_t place
    with nogil:
        for i in range(leaf.shape[0]):
            here, place = indptr[i + 1], leaf[i]
            while place >= 0:
                here -= 1
                indices[here] = place
                place = parent[place]


ctypedef fused Index:
    int32_t
    int64_t


def add_entries(
    const Index[::1] indptr, const Index[::1] indices, const double[::1] data, Py_ssize_t begin,
    const int32_t[::1] place, double[:, ::1] rows,
):
    """Add the entries of sparse rows, from ``begin`` on, to dense rows.

    The columns are at their ``place``, or left out if that is negative.
    """
    cdef Py_ssize_t i
    cdef int32_t here
    cdef Index e
    with nogil:
        for i in range(rows.shape[0]):
            for e in range(indptr[begin + i], indptr[begin + i + 1]):
                here = place[indices[e]]
                if here >= 0:
                    rows[i, here] += data[e]


def clear_entries(
    const Index[::1] indptr, const Index[::1] indices, Py_ssize_t begin,
    const int32_t[::1] place, double[:, ::1] rows,
):
    """Set the entries of sparse rows, from ``begin`` on, to zero in dense rows."""
    cdef Py_ssize_t i
    cdef int32_t here
    cdef Index e
    with nogil:
        for i in range(rows.shape[0]):
            for e in range(indptr[begin + i], indptr[begin + i + 1]):
                here = place[indices[e]]
                if here >= 0:
                    rows[i, here] = 0
