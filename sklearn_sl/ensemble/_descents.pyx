# cython: nonecheck=False
"""Sending samples down many trees, and adding up what the leaves say.

The nodes of a tree are packed for this one purpose: 16 bytes each, siblings side by side, so that
a comparison is an addition to the place, and subtrees close together.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t

import numpy as np

cdef packed struct Node:
    # Values up to the threshold go to the node ``next``, others to the one behind it.
    double threshold
    # The feature, with the bit MISSING_LEFT; LEAF for a leaf, whose ``next`` is its number.
    int32_t feature
    int32_t next


node_dtype = np.dtype([("threshold", "f8"), ("feature", "i4"), ("next", "i4")])

cdef enum:
    LEAF = -1
    MISSING_LEFT = 1 << 30
    # Samples that go down side by side, so that one works while others wait for memory.
    LANES = 8


def pack(
    const int64_t[::1] left, const int64_t[::1] right, const int64_t[::1] feature,
    const double[::1] threshold, const uint8_t[::1] missing_left, const int64_t[::1] columns,
    Node[::1] nodes, int32_t[::1] leaf_nodes, int64_t[:, ::1] stack,
):
    """Write the nodes of a tree whose features are these ``columns`` of the samples.

    ``leaf_nodes`` receives the nodes that are leaves, in the order of their numbers; ``stack`` has
    room for two numbers for each node. Returns the number of leaves.
    """
    cdef int64_t node, place, pending = 1, taken = 1
    cdef int32_t n_leaves = 0
    with nogil:
        stack[0, 0], stack[0, 1] = 0, 0
        while pending:
            pending -= 1
            node, place = stack[pending, 0], stack[pending, 1]
            if left[node] < 0:
                nodes[place].feature, nodes[place].next = LEAF, n_leaves
                leaf_nodes[n_leaves] = <int32_t> node
                n_leaves += 1
                continue
            nodes[place].threshold = threshold[node]
            nodes[place].feature = <int32_t> columns[feature[node]]
            if missing_left[node]:
                nodes[place].feature |= MISSING_LEFT
            nodes[place].next = <int32_t> taken
            stack[pending, 0], stack[pending, 1] = right[node], taken + 1
            stack[pending + 1, 0], stack[pending + 1, 1] = left[node], taken
            pending += 2
            taken += 2
    return n_leaves


def add_answers(
    const double[:, ::1] X, const Node[::1] nodes, const int64_t[::1] roots,
    const double[:, ::1] answers, const int64_t[::1] first_leaves, double[:, ::1] total,
):
    """Add the answers of the leaves of each tree, one tree after the other, to ``total``.

    Tree ``t`` has its root at ``nodes[roots[t]]`` and the answers of its leaves from
    ``answers[first_leaves[t]]`` on.
    """
    cdef Py_ssize_t t
    if not X.shape[0]:
        return
    with nogil:
        for t in range(roots.shape[0]):
            _add_answers(X, &nodes[roots[t]], &answers[first_leaves[t], 0], total)


cdef void _add_answers(
    const double[:, ::1] X, const Node* nodes, const double* answers, double[:, ::1] total
) noexcept nogil:
    cdef Py_ssize_t n = X.shape[0], width = total.shape[1], next_row, lane, active, c
    cdef Py_ssize_t row[LANES]
    cdef int32_t place[LANES]
    cdef const Node* node
    cdef const double* answer
    cdef double value
    active = min(n, <Py_ssize_t> LANES)
    for lane in range(active):
        row[lane], place[lane] = lane, 0
    next_row = active
    while active:
        lane = 0
        while lane < active:
            node = &nodes[place[lane]]
            if node.feature >= 0:
                value = X[row[lane], node.feature & (MISSING_LEFT - 1)]
                place[lane] = node.next + (not (value <= node.threshold))
                if value != value and node.feature & MISSING_LEFT:
                    place[lane] = node.next
                lane += 1
                continue
            answer = answers + node.next * width
            for c in range(width):
                total[row[lane], c] += answer[c]
            if next_row < n:
                row[lane], place[lane] = next_row, 0
                next_row += 1
                lane += 1
            else:
                active -= 1
                row[lane], place[lane] = row[active], place[active]
