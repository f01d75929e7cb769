"""Sending samples down many trees, and adding up what the leaves say.

The nodes of a tree are packed for this one purpose: 16 bytes each, siblings side by side, so that
a comparison is an addition to the place, and subtrees close together. A leaf leads to itself, so
that some samples can go down in step, without a branch that depends on any of them.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

import numpy as np

cdef packed struct Node:
    # Values up to the threshold go to the node ``next``, others to the one behind it. The threshold
    # of a leaf is NaN, to which no value compares, and carries the number of the leaf.
    double threshold
    # The feature, with the bit MISSING_LEFT.
    int32_t feature
    int32_t next


node_dtype = np.dtype([("threshold", "f8"), ("feature", "i4"), ("next", "i4")])

cdef enum:
    MISSING_LEFT = 1 << 30
    # Samples that go down in step, so that one works while others wait for memory.
    LANES = 8
    # Steps between looks whether all of them have arrived.
    STRIDE = 4

cdef uint64_t NUMBERED_NAN = 0x7FF8000000000000


cdef inline uint64_t bits_of(double value) noexcept nogil:
    cdef uint64_t bits
    memcpy(&bits, &value, sizeof(bits))
    return bits


cdef inline double from_bits(uint64_t bits) noexcept nogil:
    cdef double value
    memcpy(&value, &bits, sizeof(value))
    return value


def pack(
    const int64_t[::1] left, const int64_t[::1] right, const int64_t[::1] feature,
    const double[::1] threshold, const uint8_t[::1] missing_left, const int64_t[::1] columns,
    Node[::1] nodes, int32_t[::1] leaf_nodes, int64_t[:, ::1] stack,
):
    """Write the nodes of a tree whose features are these ``columns`` of the samples.

    There is one node more than the tree has: siblings begin at even places, so that they share a
    line of the cache. ``leaf_nodes`` receives the nodes that are leaves, in the order of their
    numbers; ``stack`` has room for two numbers for each node. Returns the number of leaves.
    """
    cdef int64_t node, place, pending = 1, taken = 2
    cdef int32_t n_leaves = 0
    with nogil:
        stack[0, 0], stack[0, 1] = 0, 0
        while pending:
            pending -= 1
            node, place = stack[pending, 0], stack[pending, 1]
            if left[node] < 0:
                nodes[place].threshold = from_bits(NUMBERED_NAN | <uint64_t> n_leaves)
                nodes[place].feature, nodes[place].next = 0, <int32_t> place - 1
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
    bint complete=False,
):
    """Add the answers of the leaves of each tree, one tree after the other, to ``total``.

    ``complete``: whether it is known that no value is missing.

    Tree ``t`` has its root at ``nodes[roots[t]]`` and the answers of its leaves from
    ``answers[first_leaves[t]]`` on.
    """
    cdef Py_ssize_t t, n = X.shape[0], in_step
    cdef bint missing
    if not n:
        return
    with nogil:
        missing = not complete and has_missing(X)
        in_step = 0 if missing else n - n % LANES
        for t in range(roots.shape[0]):
            if in_step:
                add_in_step(
                    &X[0, 0], X.shape[1], in_step, &nodes[roots[t]], &answers[first_leaves[t], 0],
                    total.shape[1], &total[0, 0],
                )
            add_one_by_one(X, in_step, &nodes[roots[t]], &answers[first_leaves[t], 0], total)


cdef bint has_missing(const double[:, ::1] X) noexcept nogil:
    cdef const double* x = &X[0, 0]
    cdef Py_ssize_t i
    cdef int missing = 0
    for i in range(X.shape[0] * X.shape[1]):
        missing |= x[i] != x[i]
    return missing


cdef void add_in_step(
    const double* X, Py_ssize_t n_features, Py_ssize_t n, const Node* nodes, const double* answers,
    Py_ssize_t width, double* total,
) noexcept nogil:
    """Send samples without missing values down one tree, ``LANES`` at a time."""
    cdef int32_t place[LANES]
    cdef int32_t here, moved
    cdef Py_ssize_t group, row, lane, _step, c
    cdef const double* x
    cdef const Node* node
    cdef const double* answer
    for group in range(n // LANES):
        row = group * LANES
        x = X + row * n_features
        for lane in range(LANES):
            place[lane] = 0
        moved = 1
        while moved:
            for _step in range(STRIDE - 1):
                for lane in range(LANES):
                    node = &nodes[place[lane]]
                    place[lane] = node.next + (not (
                        x[lane * n_features + (node.feature & (MISSING_LEFT - 1))] <= node.threshold
                    ))
            moved = 0
            for lane in range(LANES):
                node = &nodes[place[lane]]
                here = node.next + (not (
                    x[lane * n_features + (node.feature & (MISSING_LEFT - 1))] <= node.threshold
                ))
                moved |= here ^ place[lane]
                place[lane] = here
        for lane in range(LANES):
            answer = answers + <Py_ssize_t> (
                bits_of(nodes[place[lane]].threshold) ^ NUMBERED_NAN
            ) * width
            for c in range(width):
                total[(row + lane) * width + c] += answer[c]


cdef void add_one_by_one(
    const double[:, ::1] X, Py_ssize_t first, const Node* nodes, const double* answers,
    double[:, ::1] total,
) noexcept nogil:
    """Send the samples from ``first`` on down one tree."""
    cdef int32_t place, here
    cdef Py_ssize_t row, c, width = total.shape[1]
    cdef const Node* node
    cdef const double* answer
    cdef double value
    for row in range(first, X.shape[0]):
        here, place = 0, -1
        while here != place:
            place = here
            node = &nodes[place]
            value = X[row, node.feature & (MISSING_LEFT - 1)]
            here = node.next + (not (value <= node.threshold))
            if value != value and node.feature & MISSING_LEFT:
                here = node.next
        answer = answers + <Py_ssize_t> (bits_of(nodes[place].threshold) ^ NUMBERED_NAN) * width
        for c in range(width):
            total[row, c] += answer[c]
