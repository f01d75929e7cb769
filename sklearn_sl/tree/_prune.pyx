"""Weakest-link pruning: when does each node become a leaf?

The least cost ``F_t(alpha)`` of the subtree of node ``t``, its risk plus ``alpha`` for each leaf,
is ``min(R_t + alpha, F_left(alpha) + F_right(alpha))``: concave and piecewise linear, its slope
the number of leaves. Node ``t`` becomes a leaf where the two lines meet. The breakpoints of the
subtrees are kept in mergeable heaps, the largest on top; those beyond the meeting point are
dropped for good, so that all nodes together cost O(nodes log nodes).
"""

from libc.stdint cimport int32_t, int64_t

import numpy as np

# Breakpoints closer than this to each other, relatively, are the same but for rounding errors.
cdef double SAME = 1e-11
cdef double NOTHING = 1e-13


def weakest_links(
    const int64_t[::1] left, const int64_t[::1] right, const double[::1] risk,
    double[::1] collapse,
):
    """Write for each node the ``alpha`` from which on it is a leaf; that of a leaf is zero.

    Children must have larger numbers than their parents.
    """
    cdef Py_ssize_t n = left.shape[0], t
    cdef int32_t[::1] first = np.full(n, -1, dtype=np.int32)
    cdef int32_t[::1] second = np.full(n, -1, dtype=np.int32)
    cdef int32_t[::1] length = np.ones(n, dtype=np.int32)
    # What happens at the breakpoint of a node: so much risk more, so many leaves less.
    cdef double[::1] risk_gain = np.zeros(n)
    cdef int64_t[::1] leaf_gain = np.zeros(n, dtype=np.int64)
    # The heap of the breakpoints of each subtree.
    cdef int32_t[::1] heap = np.full(n, -1, dtype=np.int32)
    cdef double below, alpha
    cdef int64_t leaves
    cdef int32_t top
    with nogil:
        for t in range(n - 1, -1, -1):
            collapse[t] = 0
            if left[t] < 0:
                continue
            top = _merge(heap[left[t]], heap[right[t]], collapse, first, second, length)
            # With all below collapsed there are two leaves; undo that from the last one on.
            below, leaves = risk[left[t]] + risk[right[t]], 2
            alpha = risk[t] - below
            while top >= 0 and collapse[top] >= alpha * (1 - SAME):
                below -= risk_gain[top]
                leaves += leaf_gain[top]
                alpha = (risk[t] - below) / (leaves - 1)
                top = _merge(first[top], second[top], collapse, first, second, length)
            # What a split without gain seems to gain is a rounding error.
            collapse[t] = alpha if alpha > NOTHING * risk[t] else 0.0
            risk_gain[t], leaf_gain[t] = risk[t] - below, leaves - 1
            first[t], second[t], length[t] = -1, -1, 1
            heap[t] = _merge(<int32_t> t, top, collapse, first, second, length)


cdef int32_t _merge(
    int32_t a, int32_t b, const double[::1] key, int32_t[::1] first, int32_t[::1] second,
    int32_t[::1] length,
) noexcept nogil:
    """Merge two leftist heaps; the right spine of each has logarithmic length."""
    cdef int32_t other
    if a < 0:
        return b
    if b < 0:
        return a
    if key[a] < key[b]:
        a, b = b, a
    second[a] = _merge(second[a], b, key, first, second, length)
    if first[a] < 0 or length[first[a]] < length[second[a]]:
        other = first[a]
        first[a] = second[a]
        second[a] = other
    length[a] = 1 + (length[second[a]] if second[a] >= 0 else 0)
    return a


def keep_nodes(
    const int64_t[::1] left, const int64_t[::1] right, const double[::1] collapse, double alpha,
    int64_t[::1] place,
):
    """Number the nodes of the tree pruned at ``alpha``; -1 for those that go. Return how many stay.

    The pruned tree ends at the first node with ``collapse <= alpha``.
    """
    cdef Py_ssize_t n = left.shape[0], t, count = 0
    with nogil:
        for t in range(n):
            place[t] = -1
        place[0] = 0
        for t in range(n):
            if place[t] < 0:
                continue
            place[t] = count
            count += 1
            if left[t] >= 0 and collapse[t] > alpha:
                place[left[t]] = 0
                place[right[t]] = 0
    return count


def number_nodes(const int64_t[::1] left, const int64_t[::1] right, int64_t[::1] order):
    """Write the nodes in preorder, left children first."""
    cdef Py_ssize_t n = left.shape[0], count = 0, depth = 1
    cdef int64_t[::1] stack = np.zeros(n + 1, dtype=np.int64)
    cdef int64_t t
    with nogil:
        stack[0] = 0
        while depth:
            depth -= 1
            t = stack[depth]
            order[count] = t
            count += 1
            if left[t] >= 0:
                stack[depth] = right[t]
                stack[depth + 1] = left[t]
                depth += 2
    return count
