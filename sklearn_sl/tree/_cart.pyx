"""Growing a classification or regression tree on columns that were sorted once.

The rows of a node are a segment ``[start, stop)`` of ``rows``, and in every column the same
segment of ``cells`` lists these rows in the order of their values. A cell is ``rank << 32 | i``:
the rank of the value in its column, and the row as ``rows[start + i]``, so that whatever belongs
to the rows of a small node is close together in memory. A split partitions the segments stably,
which keeps them sorted. Missing values have the highest rank.

Sums over rows are exact, and so do not depend on their order: what is added are integers, the
deviations of the targets from the middle of the node in units of a power of two, small enough
that no sum reaches 2**53. Equal sums give equal scores; between equal scores the first column
wins that was looked at, and in it the lowest threshold.
"""

cimport cython
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

import numpy as np

from sklearn_sl.tree._cells cimport Node, Split, mix
from sklearn_sl.tree._columns cimport Columns
from sklearn_sl.tree._impurity cimport Impurity
from sklearn_sl.tree._sides cimport Division
from sklearn_sl.tree._splits cimport SplitSearch

from sklearn_sl.tree._cells import node_dtype, rival_dtype, split_dtype

# What ``run`` returns.
cdef enum:
    NONE_LEFT = 0
    GO_ON = 1
    TOO_LARGE = 2

# Values of nodes that there is room for from the beginning: some megabytes.
cdef Py_ssize_t ROOM = 500_000
# What a node costs beside its cells, in cells.
cdef double NODE_COST = 100


@cython.final
cdef class Worker:
    """Grows nodes on arrays that it shares with other workers, whose nodes are others.

    ``field`` has the arrays: ``X``, ``cells`` and ``rows``, the targets ``y`` or class ``codes``,
    ``weight`` and ``own_weight``; ``rules`` are the numbers that decide when to stop and what to
    look at. Node numbers are ``(number << 40) + place`` with the number of the worker that made
    the node.
    """

    # what measures nodes, lists their columns, looks for splits, and divides rows
    cdef Impurity impurity
    cdef Columns columns
    cdef SplitSearch search
    cdef Division division
    # the rules
    cdef bint best_first
    cdef Py_ssize_t max_depth, min_split, leaves_left
    cdef double min_decrease, min_weight_split, root_weight
    # results
    cdef readonly Py_ssize_t number, n_nodes, n_splits, n_pending, n_ripe, rows_done
    cdef object _nodes, _values, _splits, _competitors, _surrogates, _subsets, _pending, _ripe
    cdef Node[::1] nodes
    cdef double[:, ::1] values
    cdef Split[::1] splits
    # nodes to be looked at, with their numbers; and nodes whose split is known, a heap
    cdef Node[::1] pending
    cdef int64_t[::1] pending_number
    cdef Split[::1] ripe
    cdef Node[::1] ripe_node

    def __init__(self, field, rules, number):
        self.impurity, self.columns = Impurity(field, rules), Columns(field, rules)
        self.search = SplitSearch(field, rules, self.columns, self.impurity.medians)
        self.division = Division(field, rules, self.columns, self.search)
        self.number = number
        self.best_first, self.leaves_left = rules.best_first, rules.max_leaf_nodes
        self.max_depth, self.min_split = rules.max_depth, rules.min_samples_split
        self.min_weight_split = rules.min_weight_split
        self.min_decrease, self.root_weight = rules.min_impurity_decrease, field.total_weight
        # As many nodes as there can be, unless that is much: zeros take no memory until they are
        # written.
        room = min(2 * len(field.rows), max(64, ROOM // self.impurity.n_channels))
        self._nodes = np.zeros(room, dtype=node_dtype)
        self._values = np.zeros((room, self.impurity.n_channels))
        self._splits = np.zeros(room // 2, dtype=split_dtype)
        self._competitors = np.zeros(0, dtype=rival_dtype)
        self._surrogates = np.zeros(0, dtype=rival_dtype)
        self._subsets = np.zeros(0, dtype=np.int32)
        self._pending = np.zeros(0, dtype=node_dtype), np.zeros(0, dtype=np.int64)
        self._ripe = np.zeros(0, dtype=split_dtype), np.zeros(0, dtype=node_dtype)
        self._make_room()

    cdef _make_room(self):
        """Double whatever may be full before the next node is done."""
        cdef Py_ssize_t most = max(self.search.group_mass.shape[0], 1)
        cdef Py_ssize_t rivals = max(self.search.n_competitors, self.division.n_surrogates)
        self._nodes = _longer(self._nodes, self.n_nodes + 4)
        self._values = _longer(self._values, self.n_nodes + 4)
        self._splits = _longer(self._splits, self.n_splits + 2)
        self._competitors = _longer(self._competitors, self.search.n_competing + rivals + 1)
        self._surrogates = _longer(self._surrogates, self.division.n_substitutes + rivals + 1)
        self._subsets = _longer(
            self._subsets, self.division.n_subset_entries + (most + 1) * (rivals + 1)
        )
        self._pending = tuple(_longer(part, self.n_pending + 4) for part in self._pending)
        self._ripe = tuple(_longer(part, self.n_ripe + 4) for part in self._ripe)
        self.nodes, self.values, self.splits = self._nodes, self._values, self._splits
        self.search.competitors, self.division.surrogates = self._competitors, self._surrogates
        self.division.subsets = self._subsets
        self.pending, self.pending_number = self._pending
        self.ripe, self.ripe_node = self._ripe

    cdef bint _is_full(self) noexcept nogil:
        cdef Py_ssize_t most = max(self.search.group_mass.shape[0], 1)
        cdef Py_ssize_t rivals = max(self.search.n_competitors, self.division.n_surrogates)
        return (
            self.n_nodes + 4 > self.nodes.shape[0]
            or self.n_splits + 2 > self.splits.shape[0]
            or self.search.n_competing + rivals + 1 > self.search.competitors.shape[0]
            or self.division.n_substitutes + rivals + 1 > self.division.surrogates.shape[0]
            or (
                self.division.n_subset_entries + (most + 1) * (rivals + 1)
                > self.division.subsets.shape[0]
            )
            or self.n_pending + 4 > self.pending.shape[0]
            or self.n_ripe + 4 > self.ripe.shape[0]
        )

    @property
    def n_partitioned(self):
        """The number of columns that are partitioned with a node."""
        return 0 if self.columns.on_demand else self.columns.n_features

    def plant(self, uint64_t seed):
        """Make the root."""
        cdef Node* root
        cdef bint is_open
        self._make_room()
        root = self._new_node(0, self.impurity.rows.shape[0], 0, seed)
        is_open = self._may_be_split(root, &self.values[self.n_nodes - 1, 0])
        self.root_weight = root.weight
        if is_open:
            self._push(self.n_nodes - 1, root)
        else:
            self.rows_done += root.stop - root.start
        return root.weight

    def run(self, double budget, double large):
        """Grow the pending nodes until about ``budget`` cells were looked at.

        Returns ``NONE_LEFT``, ``GO_ON`` if the budget is used up, or ``TOO_LARGE`` if the next node
        has more cells than ``large``: it is for the caller to ``consider`` its features and to
        ``begin`` and ``finish`` its division.
        """
        cdef int status = GO_ON
        while status == GO_ON and budget > 0:
            self._make_room()
            with nogil:
                while status == GO_ON and budget > 0 and not self._is_full():
                    status = self._step(large, &budget)
        return status

    cdef int _step(self, double large, double* budget) noexcept nogil:
        """Look at the next pending node, or else divide the ripe node that gains most."""
        cdef Node node
        cdef bint is_pending = self.n_pending > 0
        if is_pending:
            node = self.pending[self.n_pending - 1]
        elif self.n_ripe and self.leaves_left > 1:
            self._take_ripe(&node)
        else:
            return NONE_LEFT
        cdef double cost = self.columns.cost(&node)
        if cost > large:
            return TOO_LARGE
        budget[0] -= cost + NODE_COST
        if is_pending:
            self.columns.choose(&node)
            self.search.prepare(&node)
            self.search.find(&node, self.columns.n_chosen(), self._top())
            if self.search.best.feature < 0 or self.best_first:
                self._settle(&node)
                return GO_ON
            self._pop()
        if self._begin(&node):
            self.division.partition_features(&node, 0, self.columns.n_features)
        self._finish(&node)
        return GO_ON

    def chosen_features(self):
        """Return the features that the next pending node may be split by."""
        cdef Node node = self.pending[self.n_pending - 1]
        self.columns.choose(&node)
        return np.asarray(self.columns.chosen[:self.columns.n_chosen()]).copy()

    def top(self):
        """Return number and record of the next pending node; None if a ripe one is next."""
        cdef Py_ssize_t place = self.n_pending - 1
        if place < 0:
            return None
        return int(self.pending_number[place]), np.asarray(self.pending)[place:place + 1].copy()

    def raise_largest(self):
        """Let the largest pending node be the next one; return how many cells it has, or so."""
        cdef Py_ssize_t i, last = self.n_pending - 1, largest = last
        for i in range(self.n_pending):
            if (
                self.pending[i].stop - self.pending[i].start
                > self.pending[largest].stop - self.pending[largest].start
            ):
                largest = i
        self.pending[largest], self.pending[last] = self.pending[last], self.pending[largest]
        self.pending_number[largest], self.pending_number[last] = (
            self.pending_number[last], self.pending_number[largest]
        )
        cdef Node node = self.pending[last]
        return self.columns.cost(&node)

    def consider(self, int64_t number, Node[::1] node, const int32_t[::1] features):
        """Return the best split of a node by some of its features, as a record."""
        cdef Py_ssize_t i
        self._make_room()
        for i in range(features.shape[0]):
            self.columns.chosen[i] = features[i]
        self.columns.n_drawn = -1
        with nogil:
            self.search.prepare(&node[0])
            self.search.find(&node[0], features.shape[0], number)
        found = np.zeros(1, dtype=split_dtype)
        cdef Split[::1] out = found
        out[0] = self.search.best
        return found

    def begin(self, Split[::1] split=None):
        """Begin to divide the next node by ``split``; the rows are partitioned, the cells are not.

        Without a split the best ripe node is divided. Returns whether the node was divided and has
        children that need their cells, its record, and the fates of its rows.
        """
        cdef Node node
        cdef bint open_ones
        record = np.zeros(1, dtype=node_dtype)
        cdef Node[::1] out = record
        self._make_room()
        with nogil:
            if split is not None:
                node = self.pending[self.n_pending - 1]
                self.search.best = split[0]
                if self.search.best.feature < 0 or self.best_first:
                    self._settle(&node)
                    open_ones = False
                else:
                    self.search.prepare(&node)
                    self._pop()
                    open_ones = self._begin(&node)
                    if not open_ones:
                        self._finish(&node)
            else:
                open_ones = self._begin(&self.ripe_node[self.n_ripe])
                node = self.ripe_node[self.n_ripe]
                if not open_ones:
                    self._finish(&node)
        out[0] = node
        return bool(open_ones), record, self.division.fate, self._current_split()

    def _current_split(self):
        found = np.zeros(1, dtype=split_dtype)
        cdef Split[::1] out = found
        out[0] = self.search.best
        return found

    def partition(
        self, Node[::1] node, Split[::1] split, const uint32_t[::1] fate, Py_ssize_t first,
        Py_ssize_t last,
    ):
        """Partition the cells of the features [first, last)."""
        cdef Py_ssize_t m = node[0].stop - node[0].start
        with nogil:
            self.search.best = split[0]
            if m and &fate[0] != &self.division.fate[0]:
                memcpy(&self.division.fate[0], &fate[0], m * sizeof(uint32_t))
            self.division.partition_features(&node[0], first, last)

    def finish(self, Node[::1] node):
        """Make the children of the node that was divided pending."""
        self._finish(&node[0])

    def give(self):
        """Give away the pending node that was found first, which is the largest or so."""
        record, number = np.asarray(self.pending)[:1].copy(), int(self.pending_number[0])
        cdef Py_ssize_t i
        for i in range(1, self.n_pending):
            self.pending[i - 1] = self.pending[i]
            self.pending_number[i - 1] = self.pending_number[i]
        self.n_pending -= 1
        return number, record

    def take(self, int64_t number, Node[::1] node):
        """Take a node that another worker gave away."""
        self._make_room()
        self._push(number, &node[0])

    def results(self):
        """Return nodes, values, splits, competitors, surrogates and subsets of categories."""
        return (
            self._nodes[:self.n_nodes],
            self._values[:self.n_nodes],
            self._splits[:self.n_splits],
            self._competitors[:self.search.n_competing],
            self._surrogates[:self.division.n_substitutes],
            self._subsets[:self.division.n_subset_entries],
        )

    cdef Node* _new_node(
        self, int64_t start, int64_t stop, int64_t depth, uint64_t seed
    ) noexcept nogil:
        cdef Node* node = &self.nodes[self.n_nodes]
        self.n_nodes += 1
        node.start, node.stop, node.depth, node.seed = start, stop, depth, seed
        node.lower, node.upper = -INFINITY, INFINITY
        return node

    cdef void _bound(
        self, Node* child, const Node* node, const Split* split, bint is_left
    ) noexcept nogil:
        """Set the bounds of a child: the middle of a split that keeps an order parts its values."""
        cdef int sign
        if not self.search.constrained:
            return
        sign = self.search.monotonic[split.feature]
        child.lower, child.upper = node.lower, node.upper
        if sign == 0:
            return
        if is_left == (sign > 0):
            child.upper = split.middle
        else:
            child.lower = split.middle

    cdef int64_t _top(self) noexcept nogil:
        return self.pending_number[self.n_pending - 1]

    cdef void _push(self, int64_t place, const Node* node) noexcept nogil:
        self.pending[self.n_pending] = node[0]
        self.pending_number[self.n_pending] = place
        self.n_pending += 1

    cdef void _pop(self) noexcept nogil:
        self.n_pending -= 1

    cdef void _settle(self, const Node* node) noexcept nogil:
        """Let the top node be a leaf if it has no split, and ripe if it has."""
        self._pop()
        if self.search.best.feature < 0:
            self.rows_done += node.stop - node.start
            return
        cdef Py_ssize_t here = self.n_ripe, above
        self.search.best.gain *= self.search.unit_score
        self.n_ripe += 1
        while here > 0:
            above = (here - 1) // 2
            if not _riper(&self.search.best, &self.ripe[above]):
                break
            self.ripe[here], self.ripe_node[here] = self.ripe[above], self.ripe_node[above]
            here = above
        self.ripe[here], self.ripe_node[here] = self.search.best, node[0]

    cdef void _take_ripe(self, Node* node) noexcept nogil:
        """Take the node whose split gains most from the heap; it stays just behind its end."""
        cdef Py_ssize_t here = 0, below
        cdef Split last
        cdef Node last_node
        self.search.best, node[0] = self.ripe[0], self.ripe_node[0]
        self.n_ripe -= 1
        last, last_node = self.ripe[self.n_ripe], self.ripe_node[self.n_ripe]
        while 2 * here + 1 < self.n_ripe:
            below = 2 * here + 1
            if below + 1 < self.n_ripe and _riper(&self.ripe[below + 1], &self.ripe[below]):
                below += 1
            if not _riper(&self.ripe[below], &last):
                break
            self.ripe[here], self.ripe_node[here] = self.ripe[below], self.ripe_node[below]
            here = below
        self.ripe[here], self.ripe_node[here] = last, last_node
        self.ripe[self.n_ripe], self.ripe_node[self.n_ripe] = self.search.best, node[0]

    cdef bint _may_be_split(self, Node* node, double* value) noexcept nogil:
        """Set weight, impurity and value of a node; return whether it may be split."""
        cdef Py_ssize_t m = node.stop - node.start
        cdef bint pure = self.impurity.measure(node, value)
        return not (
            pure
            or node.depth >= self.max_depth
            or m < self.min_split
            or m < 2 * self.search.min_leaf
            or node.weight < 2 * self.search.min_weight
            or node.weight < self.min_weight_split
        )

    cdef bint _begin(self, const Node* node) noexcept nogil:
        """Divide the rows of a node by the best split, and make its children.

        Returns whether a child may be split in turn, and needs its cells. The split is given up,
        with a negative feature, if it gains too little.
        """
        cdef Py_ssize_t m = node.stop - node.start, n_left
        cdef Node* left
        cdef Node* right
        cdef Split* split = &self.search.best
        cdef Py_ssize_t subset_entries = self.division.n_subset_entries
        cdef Py_ssize_t substitutes = self.division.n_substitutes
        cdef double decrease
        self.division.set_sides(node)
        n_left = self.division.divide_rows(node)
        if n_left == 0 or n_left == m:
            # Surrogates may send all of the missing values to one side, never the others.
            self._give_up(node, subset_entries, substitutes)
            return False
        left = self._new_node(
            node.start, node.start + n_left, node.depth + 1, mix(node.seed ^ 0x5851F42D)
        )
        self._bound(left, node, split, True)
        split.open_left = self._may_be_split(left, &self.values[self.n_nodes - 1, 0])
        right = self._new_node(
            node.start + n_left, node.stop, node.depth + 1, mix(node.seed ^ 0x14057B7E)
        )
        self._bound(right, node, split, False)
        split.open_right = self._may_be_split(right, &self.values[self.n_nodes - 1, 0])
        decrease = (
            node.impurity
            - left.weight / node.weight * left.impurity
            - right.weight / node.weight * right.impurity
        ) * (node.weight / self.root_weight)
        if decrease + 2.220446049250313e-16 < self.min_decrease:
            self.n_nodes -= 2
            self._give_up(node, subset_entries, substitutes)
            return False
        split.left = (<int64_t> self.number << 40) + self.n_nodes - 2
        split.right = split.left + 1
        if self.best_first:
            self.leaves_left -= 1
            if self.leaves_left <= 1:  # nobody will look at the children
                split.open_left = split.open_right = False
        if not self.best_first:  # otherwise it was needed before
            split.gain *= self.search.unit_score
        self.splits[self.n_splits] = split[0]
        self.n_splits += 1
        return split.open_left or split.open_right

    cdef void _give_up(
        self, const Node* node, Py_ssize_t subset_entries, Py_ssize_t substitutes
    ) noexcept nogil:
        """Let the node be a leaf after all."""
        self.division.n_subset_entries, self.division.n_substitutes = subset_entries, substitutes
        self.search.best.feature = -1
        self.rows_done += node.stop - node.start

    cdef void _finish(self, const Node* node) noexcept nogil:
        """Make the open children pending; the other ones are leaves."""
        cdef Split* split = &self.search.best
        cdef Node* left
        cdef Node* right
        if split.feature < 0:
            return
        left, right = &self.nodes[self.n_nodes - 2], &self.nodes[self.n_nodes - 1]
        if split.open_right:
            self._push(split.right, right)
        else:
            self.rows_done += right.stop - right.start
        if split.open_left:
            self._push(split.left, left)
        else:
            self.rows_done += left.stop - left.start


cdef bint _riper(const Split* split, const Split* other) noexcept nogil:
    """Return whether a node is divided before another: it gains more, or is older."""
    return split.gain > other.gain or (split.gain == other.gain and split.node < other.node)


def _longer(array, needed):
    """Return the array, or a copy of twice its length, with room for ``needed`` entries."""
    if len(array) >= needed:
        return array
    longer = np.zeros((max(2 * len(array), needed, 64), *array.shape[1:]), dtype=array.dtype)
    longer[:len(array)] = array
    return longer
