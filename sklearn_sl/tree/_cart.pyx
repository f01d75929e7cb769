# cython: nonecheck=False
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
from libc.math cimport INFINITY, fabs, frexp, isnan, ldexp, log, rint
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

cdef enum:
    QUADRATIC = 0  # the loss in sum_k c_k**2 / W: squared error, and Gini of the class masses c
    ENTROPY = 1
    POISSON = 2
    # A surrogate sends at least so many rows to either side.
    SURROGATE_LEAST = 2

cdef uint32_t MISSING_RANK = 0xFFFFFFFF
cdef uint32_t RIGHT = 0x80000000
cdef double LOG2 = 0.6931471805599453
# Sums stay below it, and are integers.
cdef int EXACT_BITS = 52

MISSING = MISSING_RANK


cdef packed struct Node:
    int64_t start
    int64_t stop
    int64_t depth
    double weight
    double impurity
    uint64_t seed


cdef packed struct Split:
    # A split of node ``node``: ``n_first`` of the cells that are not missing go left.
    int64_t node
    int64_t left
    int64_t right
    int64_t feature
    int64_t n_first
    double threshold
    double gain
    int64_t subset
    uint8_t missing_left
    uint8_t open_left
    uint8_t open_right
    uint8_t reserved[5]


cdef packed struct Rival:
    # A competitor of the split of node ``node``, or a surrogate for it.
    int64_t node
    int64_t feature
    double threshold
    double gain
    double adjusted
    int64_t subset
    uint8_t flipped
    uint8_t reserved[7]


node_dtype = np.dtype([
    ("start", "i8"), ("stop", "i8"), ("depth", "i8"), ("weight", "f8"), ("impurity", "f8"),
    ("seed", "u8"),
])
split_dtype = np.dtype([
    ("node", "i8"), ("left", "i8"), ("right", "i8"), ("feature", "i8"), ("n_first", "i8"),
    ("threshold", "f8"), ("gain", "f8"), ("subset", "i8"), ("missing_left", "u1"),
    ("open_left", "u1"), ("open_right", "u1"), ("reserved", "u1", 5),
])
rival_dtype = np.dtype([
    ("node", "i8"), ("feature", "i8"), ("threshold", "f8"), ("gain", "f8"), ("adjusted", "f8"),
    ("subset", "i8"), ("flipped", "u1"), ("reserved", "u1", 7),
])


# ---------------------------------------------------------------- sorted columns


def rank_cells(const int64_t[::1] order, const double[::1] column, uint64_t[::1] cells):
    """Write the cells of a column; ``order`` sorts it, missing values last. Return how many are missing."""
    cdef Py_ssize_t i, n = order.shape[0], n_missing = 0
    cdef uint64_t rank = 0
    cdef double value, previous = 0
    with nogil:
        for i in range(n):
            value = column[order[i]]
            if isnan(value):
                n_missing += 1
                cells[i] = (<uint64_t> MISSING_RANK) << 32 | <uint64_t> order[i]
                continue
            if i > 0 and value != previous:
                rank += 1
            previous = value
            cells[i] = rank << 32 | <uint64_t> order[i]
    return n_missing


def select_cells(const uint64_t[::1] cells, const int32_t[::1] place, uint64_t[::1] selected):
    """Write the cells of some rows: row ``i`` becomes ``place[i]``, and is left out if that is negative."""
    cdef Py_ssize_t i, n = cells.shape[0], count = 0
    cdef int32_t here
    with nogil:
        for i in range(n):
            here = place[<uint32_t> cells[i]]
            if here >= 0:
                selected[count] = (cells[i] >> 32) << 32 | <uint64_t> here
                count += 1
    return count


# ---------------------------------------------------------------- small tools


cdef inline uint64_t _mix(uint64_t state) noexcept nogil:
    """Return the state's place in a random permutation of all 64-bit numbers (splitmix64)."""
    state += <uint64_t> 0x9E3779B97F4A7C15
    state = (state ^ (state >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    state = (state ^ (state >> 27)) * <uint64_t> 0x94D049BB133111EB
    return state ^ (state >> 31)


cdef inline double _uniform(uint64_t state) noexcept nogil:
    """Return a number in [0, 1)."""
    return (_mix(state) >> 11) * (1.0 / 9007199254740992.0)


cdef inline uint32_t _rank(uint64_t cell) noexcept nogil:
    return <uint32_t> (cell >> 32)


cdef inline double _between(double low, double high) noexcept nogil:
    """Return a threshold with ``low <= threshold < high``, the middle unless rounding forbids."""
    cdef double middle = low / 2 + high / 2
    return middle if low <= middle < high else low


cdef inline int _exponent(double largest, double total, int bits) noexcept nogil:
    """Return k such that ``total`` numbers up to ``largest * 2**k`` sum to less than ``2**bits``."""
    cdef int of_largest = 0, of_total = 0
    if largest <= 0:
        return 0
    frexp(largest, &of_largest)
    frexp(total, &of_total)
    return max(-1000, min(1000, bits - of_largest - of_total))


# ---------------------------------------------------------------- the hot loops


cdef struct Found:
    double score
    Py_ssize_t where


cdef Found _scan_counts(
    const uint64_t* cells, const double* amount, double left, double total, Py_ssize_t n_left,
    Py_ssize_t n, Py_ssize_t first, Py_ssize_t last,
) noexcept nogil:
    """Find the cell in [first, last) after which a split of ``n`` rows of weight one is best.

    With ``L`` of ``n`` rows, whose amounts sum to ``s``, on the left, the score is
    ``(s (n - L) - (total - s) L)**2 / (L (n - L))``, which is the same if left and right change
    places, to the last bit. ``n_left`` rows of sum ``left`` are there to begin with.
    """
    cdef Found found
    cdef Py_ssize_t i
    cdef double all_rows = <double> n, count, rest, deviation, product, score, hurdle = 0
    found.score, found.where = -1.0, -1
    for i in range(first):
        left += amount[<uint32_t> cells[i]]
    for i in range(first, last):
        left += amount[<uint32_t> cells[i]]
        if (cells[i] ^ cells[i + 1]) >> 32 == 0:
            continue
        count = <double> (n_left + i + 1)
        rest = all_rows - count
        deviation = left * rest - (total - left) * count
        deviation *= deviation
        product = count * rest
        # The division is exact in ties, and needed only where there may be a new best.
        if deviation >= hurdle * product:
            score = deviation / product
            if score > found.score:
                found.score, found.where = score, i
                hurdle = score * (1 - 1e-14)
    return found


cdef Found _scan_masses(
    const uint64_t* cells, const double* amount, const double* mass, double left, double total,
    double left_mass, double all_mass, double least_mass, Py_ssize_t first, Py_ssize_t last,
) noexcept nogil:
    """Find the best split like ``_scan_counts``, where rows count by their mass."""
    cdef Found found
    cdef Py_ssize_t i
    cdef uint32_t row
    cdef double rest, deviation, product, score, hurdle = 0
    found.score, found.where = -1.0, -1
    for i in range(first):
        row = <uint32_t> cells[i]
        left += amount[row]
        left_mass += mass[row]
    for i in range(first, last):
        row = <uint32_t> cells[i]
        left += amount[row]
        left_mass += mass[row]
        if (cells[i] ^ cells[i + 1]) >> 32 == 0:
            continue
        if left_mass < least_mass or all_mass - left_mass < least_mass:
            continue
        rest = all_mass - left_mass
        product = left_mass * rest
        if product <= 0:
            continue
        deviation = left * rest - (total - left) * left_mass
        deviation *= deviation
        if deviation >= hurdle * product:
            score = deviation / product
            if score > found.score:
                found.score, found.where = score, i
                hurdle = score * (1 - 1e-14)
    return found


cdef void _partition(
    uint64_t* cells, Py_ssize_t n, const uint32_t* fate, uint64_t* scratch, bint keep_left,
    bint keep_right,
) noexcept nogil:
    """Move the cells of the left child to the front, in order; ``fate`` tells the new rows.

    The cells of a child that nobody keeps are lost.
    """
    cdef Py_ssize_t i, n_left = 0, n_right = 0
    cdef uint32_t row
    cdef uint64_t cell
    cdef Py_ssize_t goes_right
    if not keep_right:
        for i in range(n):
            row = fate[<uint32_t> cells[i]]
            cells[n_left] = (cells[i] >> 32) << 32 | row
            n_left += 1 - <Py_ssize_t> (row >> 31)
        return
    for i in range(n):
        row = fate[<uint32_t> cells[i]]
        cell = (cells[i] >> 32) << 32 | (row & ~RIGHT)
        goes_right = <Py_ssize_t> (row >> 31)
        cells[n_left] = cell
        scratch[n_right] = cell
        n_left += 1 - goes_right
        n_right += goes_right
    memcpy(cells + n_left, scratch, n_right * sizeof(uint64_t))


# ---------------------------------------------------------------- the worker


@cython.final
cdef class Worker:
    """Grows nodes on arrays that it shares with other workers, whose nodes are others.

    ``field`` has the arrays: ``X``, ``cells`` and ``rows``, the targets ``y`` or class ``codes``,
    ``weight`` and ``own_weight``; ``rules`` are the numbers that decide when to stop and what to look at. Node numbers
    are ``(number << 40) + place`` with the number of the worker that made the node.
    """

    # the data
    cdef const double[:, ::1] X
    cdef uint64_t[:, ::1] cells
    cdef int32_t[::1] rows
    cdef const double[:, ::1] y
    cdef const int32_t[:, ::1] codes
    cdef const int32_t[::1] first_channel
    cdef const double[::1] weight
    cdef const double[::1] own_weight
    cdef const int32_t[::1] n_categories
    cdef const double[::1] x_log_x
    cdef bint classify, weighted, simple, counted_logs
    cdef Py_ssize_t n_features, n_outputs, n_channels
    # the rules
    cdef int criterion
    cdef bint random_thresholds, best_first, use_surrogates
    cdef Py_ssize_t max_depth, min_split, min_leaf, max_features, n_competitors, n_surrogates
    cdef double min_weight, min_decrease, root_weight
    cdef Py_ssize_t leaves_left
    # scratch, one entry a row
    cdef double[::1] amount
    cdef int32_t[::1] channel
    cdef double[::1] mass
    cdef uint32_t[::1] fate
    cdef uint64_t[::1] scratch
    cdef uint8_t[::1] side
    # scratch of a node
    cdef double[::1] total, left, right, missing_sum
    cdef double total_mass, unit_score
    cdef int32_t[::1] chosen
    cdef double[:, ::1] group_sum
    cdef double[::1] group_mass, group_key
    cdef int64_t[::1] group_count
    cdef int32_t[::1] group_code, group_order, group_merged
    cdef uint8_t[::1] group_left
    cdef Rival[::1] best_rivals
    cdef Py_ssize_t n_best_rivals
    # results
    cdef readonly Py_ssize_t number, n_nodes, n_splits, n_competing, n_substitutes, n_subset_entries
    cdef readonly Py_ssize_t n_pending, n_ripe, rows_done
    cdef object _nodes, _values, _splits, _competitors, _surrogates, _subsets, _pending, _ripe
    cdef Node[::1] nodes
    cdef double[:, ::1] values
    cdef Split[::1] splits
    cdef Rival[::1] competitors
    cdef Rival[::1] surrogates
    cdef int32_t[::1] subsets
    # nodes to be looked at, by number and place; and nodes whose split is known, a heap
    cdef Node[::1] pending
    cdef int64_t[::1] pending_number
    cdef Split[::1] ripe
    cdef Node[::1] ripe_node
    cdef Split best

    def __init__(self, field, rules, number):
        self.number = number
        self.X, self.cells, self.rows = field.X, field.cells, field.rows
        self.y, self.codes, self.weight = field.y, field.codes, field.weight
        self.own_weight = field.own_weight
        self.first_channel, self.n_categories = field.first_channel, field.n_categories
        self.x_log_x = field.x_log_x
        self.classify = field.codes.shape[0] > 0
        self.weighted = field.weight.shape[0] > 0
        self.n_features, self.n_outputs = field.X.shape[1], field.n_outputs
        self.n_channels = field.n_channels
        self.counted_logs = field.x_log_x.shape[0] > 0
        self.criterion = rules.criterion
        self.random_thresholds, self.best_first = rules.random_thresholds, rules.best_first
        self.max_depth, self.min_split = rules.max_depth, rules.min_samples_split
        self.min_leaf, self.min_weight = rules.min_samples_leaf, rules.min_weight_leaf
        if not field.weight.shape[0]:
            self.min_leaf = max(self.min_leaf, int(np.ceil(self.min_weight)))
        self.max_features, self.min_decrease = rules.max_features, rules.min_impurity_decrease
        self.n_competitors, self.n_surrogates = rules.competitors, rules.surrogates
        self.use_surrogates = rules.surrogates > 0
        self.leaves_left = rules.max_leaf_nodes
        self.root_weight = field.total_weight
        # Two classes are one channel of zeros and ones, like a target.
        self.simple = (
            self.criterion == QUADRATIC
            and self.n_outputs == 1
            and (not self.classify or self.n_channels == 2)
        )
        cdef Py_ssize_t n = self.rows.shape[0]
        self.amount = np.empty(n * self.n_outputs)
        self.channel = np.empty(0 if self.simple else n * self.n_outputs, dtype=np.int32)
        self.mass = np.empty(n if self.weighted else 0)
        self.fate = np.empty(n, dtype=np.uint32)
        self.scratch = np.empty(n, dtype=np.uint64)
        self.side = np.empty(n, dtype=np.uint8)
        self.total = np.zeros(self.n_channels)
        self.left, self.right = np.zeros(self.n_channels), np.zeros(self.n_channels)
        self.missing_sum = np.zeros(self.n_channels)
        self.chosen = np.zeros(self.n_features, dtype=np.int32)
        most = max(field.n_categories.max(initial=0), 1)
        self.group_sum = np.zeros((most, self.n_channels))
        self.group_mass, self.group_key = np.zeros(most), np.zeros(most)
        self.group_count = np.zeros(most, dtype=np.int64)
        self.group_code = np.zeros(most, dtype=np.int32)
        self.group_order = np.zeros(most, dtype=np.int32)
        self.group_merged = np.zeros(most, dtype=np.int32)
        self.group_left = np.zeros(most, dtype=np.uint8)
        self.best_rivals = np.zeros(
            max(self.n_competitors, self.n_surrogates) + 1, dtype=rival_dtype
        )
        self._nodes = np.zeros(0, dtype=node_dtype)
        self._values = np.zeros((0, self.n_channels))
        self._splits = np.zeros(0, dtype=split_dtype)
        self._competitors = np.zeros(0, dtype=rival_dtype)
        self._surrogates = np.zeros(0, dtype=rival_dtype)
        self._subsets = np.zeros(0, dtype=np.int32)
        self._pending = np.zeros(0, dtype=node_dtype), np.zeros(0, dtype=np.int64)
        self._ripe = np.zeros(0, dtype=split_dtype), np.zeros(0, dtype=node_dtype)
        self._make_room()

    # ------------------------------------------------------------ memory, with the GIL

    cdef _make_room(self):
        """Double whatever may be full before the next node is done."""
        cdef Py_ssize_t most = max(self.group_mass.shape[0], 1)
        cdef Py_ssize_t rivals = max(self.n_competitors, self.n_surrogates)
        self._nodes = _longer(self._nodes, self.n_nodes + 4)
        self._values = _longer(self._values, self.n_nodes + 4)
        self._splits = _longer(self._splits, self.n_splits + 2)
        self._competitors = _longer(self._competitors, self.n_competing + rivals + 1)
        self._surrogates = _longer(self._surrogates, self.n_substitutes + rivals + 1)
        self._subsets = _longer(self._subsets, self.n_subset_entries + (most + 1) * (rivals + 1))
        self._pending = tuple(_longer(part, self.n_pending + 4) for part in self._pending)
        self._ripe = tuple(_longer(part, self.n_ripe + 4) for part in self._ripe)
        self.nodes, self.values, self.splits = self._nodes, self._values, self._splits
        self.competitors, self.surrogates = self._competitors, self._surrogates
        self.subsets = self._subsets
        self.pending, self.pending_number = self._pending
        self.ripe, self.ripe_node = self._ripe

    cdef bint _is_full(self) noexcept nogil:
        cdef Py_ssize_t most = max(self.group_mass.shape[0], 1)
        cdef Py_ssize_t rivals = max(self.n_competitors, self.n_surrogates)
        return (
            self.n_nodes + 4 > self.nodes.shape[0]
            or self.n_splits + 2 > self.splits.shape[0]
            or self.n_competing + rivals + 1 > self.competitors.shape[0]
            or self.n_substitutes + rivals + 1 > self.surrogates.shape[0]
            or self.n_subset_entries + (most + 1) * (rivals + 1) > self.subsets.shape[0]
            or self.n_pending + 4 > self.pending.shape[0]
            or self.n_ripe + 4 > self.ripe.shape[0]
        )

    # ------------------------------------------------------------ what Python calls

    @property
    def n_columns(self):
        """The number of features."""
        return self.n_features

    def plant(self, uint64_t seed):
        """Make the root."""
        cdef Node* root
        cdef bint is_open
        self._make_room()
        root = self._new_node(0, self.rows.shape[0], 0, seed)
        is_open = self._measure(root, &self.values[self.n_nodes - 1, 0])
        self.root_weight = root.weight
        if is_open:
            self._push(self.n_nodes - 1, root)
        else:
            self.rows_done += root.stop - root.start
        return root.weight

    def run(self, double budget, double large):
        """Grow the pending nodes until about ``budget`` cells were looked at.

        Returns 0 if no node is left, 1 if the budget is used up, and 2 if the next node has more
        cells than ``large``: it is for the caller to call ``consider``, ``begin`` and ``finish``.
        """
        cdef int status = 1
        cdef Node node
        cdef double cost
        while status == 1 and budget > 0:
            self._make_room()
            with nogil:
                while budget > 0 and not self._is_full():
                    if self.n_pending:
                        node = self.pending[self.n_pending - 1]
                        cost = <double> (node.stop - node.start) * self.n_features
                        if cost > large:
                            status = 2
                            break
                        budget -= cost + 100
                        self._choose(&node)
                        self._prepare(&node)
                        self._search(&node, 0, self._n_chosen(), self._top())
                        if self.best.feature >= 0 and not self.best_first:
                            self._pop()
                            if self._begin(&node):
                                self._partition_features(&node, 0, self.n_features)
                            self._finish(&node)
                        else:
                            self._settle(&node)
                    elif self.n_ripe and self.leaves_left > 1:
                        self._take_ripe(&node)
                        cost = <double> (node.stop - node.start) * self.n_features
                        if cost > large:
                            status = 2
                            break
                        budget -= cost
                        if self._begin(&node):
                            self._partition_features(&node, 0, self.n_features)
                        self._finish(&node)
                    else:
                        status = 0
                        break
        return status

    def chosen_features(self):
        """Return the features that the next pending node may be split by."""
        cdef Node node = self.pending[self.n_pending - 1]
        self._choose(&node)
        return np.asarray(self.chosen[:self._n_chosen()]).copy()

    def top(self):
        """Return number and record of the next pending node; None if a ripe one is next."""
        if not self.n_pending:
            return None
        place = self.n_pending - 1
        return int(self.pending_number[place]), np.asarray(self.pending)[place:place + 1].copy()

    def raise_largest(self):
        """Let the largest pending node be the next one."""
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

    def consider(self, int64_t number, Node[::1] node, const int32_t[::1] features):
        """Return the best split of a node by some of its features, as a record."""
        cdef Py_ssize_t i
        self._make_room()
        for i in range(features.shape[0]):
            self.chosen[i] = features[i]
        with nogil:
            self._prepare(&node[0])
            self._search(&node[0], 0, features.shape[0], number)
        found = np.zeros(1, dtype=split_dtype)
        cdef Split[::1] out = found
        out[0] = self.best
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
                self.best = split[0]
                if self.best.feature < 0 or self.best_first:
                    self._settle(&node)
                    open_ones = False
                else:
                    self._prepare(&node)
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
        return bool(open_ones), record, self.fate, self._current_split()

    def _current_split(self):
        found = np.zeros(1, dtype=split_dtype)
        cdef Split[::1] out = found
        out[0] = self.best
        return found

    def partition(
        self, Node[::1] node, Split[::1] split, const uint32_t[::1] fate, Py_ssize_t first,
        Py_ssize_t last,
    ):
        """Partition the cells of the features [first, last)."""
        cdef Py_ssize_t m = node[0].stop - node[0].start
        with nogil:
            self.best = split[0]
            if m and &fate[0] != &self.fate[0]:
                memcpy(&self.fate[0], &fate[0], m * sizeof(uint32_t))
            self._partition_features(&node[0], first, last)

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
            self._competitors[:self.n_competing],
            self._surrogates[:self.n_substitutes],
            self._subsets[:self.n_subset_entries],
        )

    # ------------------------------------------------------------ nodes

    cdef Node* _new_node(
        self, int64_t start, int64_t stop, int64_t depth, uint64_t seed
    ) noexcept nogil:
        cdef Node* node = &self.nodes[self.n_nodes]
        self.n_nodes += 1
        node.start, node.stop, node.depth, node.seed = start, stop, depth, seed
        return node

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
        if self.best.feature < 0:
            self.rows_done += node.stop - node.start
            return
        cdef Py_ssize_t here = self.n_ripe, above
        self.best.gain *= self.unit_score
        self.n_ripe += 1
        while here > 0:
            above = (here - 1) // 2
            if not _riper(&self.best, &self.ripe[above]):
                break
            self.ripe[here], self.ripe_node[here] = self.ripe[above], self.ripe_node[above]
            here = above
        self.ripe[here], self.ripe_node[here] = self.best, node[0]

    cdef void _take_ripe(self, Node* node) noexcept nogil:
        """Take the node whose split gains most from the heap; it stays just behind its end."""
        cdef Py_ssize_t here = 0, below
        cdef Split last
        cdef Node last_node
        self.best, node[0] = self.ripe[0], self.ripe_node[0]
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
        self.ripe[self.n_ripe], self.ripe_node[self.n_ripe] = self.best, node[0]

    cdef bint _measure(self, Node* node, double* value) noexcept nogil:
        """Set weight, impurity and value of a node; return whether it may be split."""
        cdef Py_ssize_t m = node.stop - node.start
        cdef const int32_t* rows = &self.rows[node.start]
        cdef bint pure
        if self.classify:
            pure = self._measure_classes(rows, m, node, value)
        else:
            pure = self._measure_targets(rows, m, node, value)
        return not (
            pure
            or node.depth >= self.max_depth
            or m < self.min_split
            or m < 2 * self.min_leaf
            or node.weight < 2 * self.min_weight
        )

    cdef bint _measure_classes(
        self, const int32_t* rows, Py_ssize_t m, Node* node, double* value
    ) noexcept nogil:
        """Set the mass of each class; return whether there is one class only, in every output."""
        cdef Py_ssize_t i, k, output
        cdef double share, impurity = 0, of_output, weight = 0
        cdef bint pure
        memset(value, 0, self.n_channels * sizeof(double))
        for output in range(self.n_outputs):
            for i in range(m):
                k = self.first_channel[output] + self.codes[rows[i], output]
                value[k] += self.weight[rows[i]] if self.weighted else 1.0
        for k in range(self.first_channel[0], self.first_channel[1]):
            weight += value[k]
        for output in range(self.n_outputs):
            of_output = 0
            for k in range(self.first_channel[output], self.first_channel[output + 1]):
                share = value[k] / weight
                if share > 0:
                    of_output -= share * (log(share) / LOG2 if self.criterion == ENTROPY else share)
            impurity += of_output + (0 if self.criterion == ENTROPY else 1)
        pure = self._one_class(rows, m)
        node.weight = weight
        node.impurity = 0.0 if pure else impurity / self.n_outputs
        return pure

    cdef bint _one_class(self, const int32_t* rows, Py_ssize_t m) noexcept nogil:
        cdef Py_ssize_t i, output
        for output in range(self.n_outputs):
            for i in range(1, m):
                if self.codes[rows[i], output] != self.codes[rows[0], output]:
                    return False
        return True

    cdef bint _measure_targets(
        self, const int32_t* rows, Py_ssize_t m, Node* node, double* value
    ) noexcept nogil:
        """Set the means; return whether all targets are equal, in every output."""
        cdef Py_ssize_t i, output
        cdef double w = 1.0, weight = 0, loss = 0, target, first, mean, sum_of_output
        cdef bint pure = True, constant
        if not self.weighted:
            weight = <double> m
        else:
            for i in range(m):
                weight += self.weight[rows[i]]
        for output in range(self.n_outputs):
            first, sum_of_output, constant = self.y[rows[0], output], 0, True
            for i in range(m):
                target = self.y[rows[i], output]
                constant = constant and target == first
                if self.weighted:
                    w = self.weight[rows[i]]
                sum_of_output += w * (target - first)
            # Around a target of the node nothing is lost by cancellation, or for equal targets.
            mean = first if constant else first + sum_of_output / weight
            value[output] = mean
            if constant:
                continue
            pure = False
            for i in range(m):
                target = self.y[rows[i], output]
                if self.weighted:
                    w = self.weight[rows[i]]
                if self.criterion != POISSON:
                    loss += w * (target - mean) * (target - mean)
                elif target > 0:
                    loss += w * target * log(target / mean)
        node.weight = weight
        node.impurity = loss / (weight * self.n_outputs)
        return pure

    # ------------------------------------------------------------ the search for a split

    cdef Py_ssize_t _n_chosen(self) noexcept nogil:
        """Return how many features are chosen; the list ends with -1 or is full."""
        cdef Py_ssize_t i
        for i in range(self.n_features):
            if self.chosen[i] < 0:
                return i
        return self.n_features

    cdef void _choose(self, const Node* node) noexcept nogil:
        """Choose the features to look at: all, or so many at random, one of them not constant."""
        cdef Py_ssize_t i, j, n_varying = 0, d = self.n_features
        cdef uint64_t state = _mix(node.seed)
        cdef int32_t other
        for i in range(d):
            self.chosen[i] = <int32_t> i
        if self.max_features >= d:
            return
        for i in range(d):
            if i >= self.max_features and n_varying:
                self.chosen[i] = -1
                return
            state = _mix(state)
            j = i + <Py_ssize_t> (state % <uint64_t> (d - i))
            other = self.chosen[j]
            self.chosen[j] = self.chosen[i]
            self.chosen[i] = other
            n_varying += not self._is_constant(node, other)

    cdef bint _is_constant(self, const Node* node, Py_ssize_t feature) noexcept nogil:
        """Return whether all rows have the same value; where they have, cells are partitioned no more."""
        cdef uint64_t first = self.cells[feature, node.start]
        cdef uint64_t last = self.cells[feature, node.stop - 1]
        return first >> 32 == last >> 32

    cdef void _prepare(self, const Node* node) noexcept nogil:
        """Write the amounts and masses of the rows, as integers in a unit that keeps sums exact."""
        cdef Py_ssize_t i, m = node.stop - node.start
        cdef const int32_t* rows = &self.rows[node.start]
        self.total_mass = <double> m
        if self.weighted:
            self._prepare_masses(rows, m, node.weight)
        memset(&self.total[0], 0, self.n_channels * sizeof(double))
        if self.classify:
            self._prepare_classes(rows, m)
        else:
            self._prepare_targets(rows, m, node.weight)
        for i in range(m * self.n_outputs):
            self.total[0 if self.simple else self.channel[i]] += self.amount[i]

    cdef void _prepare_masses(
        self, const int32_t* rows, Py_ssize_t m, double weight
    ) noexcept nogil:
        cdef Py_ssize_t i
        cdef double unit = ldexp(1.0, _exponent(1.0, weight, EXACT_BITS))
        self.total_mass = 0
        for i in range(m):
            self.mass[i] = rint(self.weight[rows[i]] * unit) / unit
            self.total_mass += self.mass[i]

    cdef void _prepare_classes(self, const int32_t* rows, Py_ssize_t m) noexcept nogil:
        cdef Py_ssize_t i, output, place
        self.unit_score = 2.0 if self.simple else 1 / LOG2 if self.criterion == ENTROPY else 1.0
        if self.simple and not self.weighted:
            for i in range(m):
                self.amount[i] = <double> self.codes[rows[i], 0]
            return
        if self.simple:
            for i in range(m):
                self.amount[i] = self.mass[i] if self.codes[rows[i], 0] else 0.0
            return
        for i in range(m):
            for output in range(self.n_outputs):
                place = i * self.n_outputs + output
                self.channel[place] = self.first_channel[output] + self.codes[rows[i], output]
                self.amount[place] = self.mass[i] if self.weighted else 1.0

    cdef void _prepare_targets(
        self, const int32_t* rows, Py_ssize_t m, double weight
    ) noexcept nogil:
        cdef Py_ssize_t i, output, place
        cdef double low, high, target, reach = 0, unit, middle
        for output in range(self.n_outputs):
            low, high = INFINITY, -INFINITY
            for i in range(m):
                target = self.y[rows[i], output]
                low = target if target < low else low
                high = target if target > high else high
            # The Poisson deviance is not invariant to a shift.
            middle = 0 if self.criterion == POISSON else low / 2 + high / 2
            self.left[output] = middle
            reach = max(reach, high - middle, middle - low)
        unit = ldexp(1.0, _exponent(reach, weight, EXACT_BITS))
        self.unit_score = 1 / unit if self.criterion == POISSON else 1 / unit / unit
        for output in range(self.n_outputs):
            middle = self.left[output]
            for i in range(m):
                place = i * self.n_outputs + output
                target = rint((self.y[rows[i], output] - middle) * unit)
                if self.weighted:
                    target = rint(target * self.weight[rows[i]])
                self.amount[place] = target
                if not self.simple:
                    self.channel[place] = <int32_t> output

    cdef void _search(
        self, const Node* node, Py_ssize_t first, Py_ssize_t last, int64_t number
    ) noexcept nogil:
        """Find the best split by the chosen features [first, last)."""
        cdef Py_ssize_t i, feature
        cdef Split found
        self.best.feature, self.best.gain, self.best.node = -1, -1.0, number
        self.n_best_rivals = 0
        for i in range(first, last):
            feature = self.chosen[i]
            if self._is_constant(node, feature):
                continue
            found.feature, found.gain, found.node = -1, -1.0, number
            found.missing_left, found.subset = 0, -1
            found.open_left, found.open_right, found.left, found.right = 0, 0, -1, -1
            self._best_of_feature(node, feature, &found)
            if found.feature < 0:
                continue
            if self.n_competitors:
                self._keep_competitor(&found)
            if found.gain > self.best.gain:
                self.best = found
        if self.n_competitors:
            self._store_competitors(number)

    cdef Py_ssize_t _n_missing(self, const uint64_t* cells, Py_ssize_t m) noexcept nogil:
        """Return how many of sorted cells are missing."""
        cdef Py_ssize_t low = 0, high = m, middle
        if _rank(cells[m - 1]) != MISSING_RANK:
            return 0
        while low < high:
            middle = (low + high) // 2
            if _rank(cells[middle]) == MISSING_RANK:
                high = middle
            else:
                low = middle + 1
        return m - low

    cdef double _sum(
        self, const uint64_t* cells, Py_ssize_t n, double* sums
    ) noexcept nogil:
        """Add the amounts of cells to ``sums``; return their mass."""
        cdef Py_ssize_t i, output, place
        cdef double mass = 0
        for i in range(n):
            for output in range(self.n_outputs):
                place = <uint32_t> cells[i] * self.n_outputs + output
                sums[0 if self.simple else self.channel[place]] += self.amount[place]
            mass += self.mass[<uint32_t> cells[i]] if self.weighted else 1.0
        return mass

    cdef void _best_of_feature(
        self, const Node* node, Py_ssize_t feature, Split* found
    ) noexcept nogil:
        """Find the best split by a feature, with the missing values on either side."""
        cdef Py_ssize_t m = node.stop - node.start, c
        cdef const uint64_t* cells = &self.cells[feature, node.start]
        cdef Py_ssize_t n_missing = self._n_missing(cells, m), n = m - n_missing
        cdef double missing_mass = 0, all_mass = self.total_mass
        if n == 0:
            return
        memset(&self.missing_sum[0], 0, self.n_channels * sizeof(double))
        memcpy(&self.right[0], &self.total[0], self.n_channels * sizeof(double))
        if n_missing:
            missing_mass = self._sum(cells + n, n_missing, &self.missing_sum[0])
        if n_missing and self.use_surrogates:
            # A split is judged by the rows that it can tell apart.
            for c in range(self.n_channels):
                self.right[c] -= self.missing_sum[c]
                self.missing_sum[c] = 0
            all_mass -= missing_mass
            missing_mass, n_missing = 0, 0
        if self.n_categories[feature] > 0:
            self._best_subset(node, feature, cells, n, n_missing, missing_mass, all_mass, found)
        elif self.random_thresholds:
            self._random_split(node, feature, cells, n, n_missing, missing_mass, all_mass, found)
        else:
            self._best_threshold(node, feature, cells, n, n_missing, missing_mass, all_mass, found)

    cdef bint _accept(
        self, Split* found, Py_ssize_t feature, double gain, Py_ssize_t n_first, bint missing_left
    ) noexcept nogil:
        """Note a split that gains more than the one before."""
        if not gain > found.gain:
            return False
        found.feature, found.gain = feature, gain
        found.n_first, found.missing_left = n_first, missing_left
        return True

    cdef void _best_threshold(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, Py_ssize_t n,
        Py_ssize_t n_missing, double missing_mass, double all_mass, Split* found,
    ) noexcept nogil:
        cdef Py_ssize_t first, last, n_left, all_rows = n + n_missing
        cdef bint missing_left
        cdef Found best
        cdef double gain
        for missing_left in range(2 if n_missing else 1):
            n_left = n_missing if missing_left else 0
            # With i + 1 cells and the missing ones on the left, both sides have enough rows.
            first = max(self.min_leaf - n_left - 1, 0)
            last = min(n - 1, all_rows - self.min_leaf - n_left)
            if self.simple and not self.weighted:
                best = _scan_counts(
                    cells, &self.amount[0], self.missing_sum[0] if missing_left else 0.0,
                    self.right[0], n_left, all_rows, first, last,
                )
            elif self.simple:
                best = _scan_masses(
                    cells, &self.amount[0], &self.mass[0],
                    self.missing_sum[0] if missing_left else 0.0, self.right[0],
                    missing_mass if missing_left else 0.0, all_mass, self.min_weight, first, last,
                )
            else:
                best = self._scan(cells, missing_left, missing_mass, all_mass, first, last)
            if best.where >= 0:
                gain = best.score / all_mass if self.simple else best.score
                self._accept(found, feature, gain, best.where + 1, missing_left)
            if n_missing and not missing_left:
                self._missing_against_the_rest(feature, n, n_missing, missing_mass, all_mass, found)
        if found.feature >= 0:
            self._set_threshold(node, feature, cells, n, found)

    cdef void _missing_against_the_rest(
        self, Py_ssize_t feature, Py_ssize_t n, Py_ssize_t n_missing, double missing_mass,
        double all_mass, Split* found,
    ) noexcept nogil:
        """Look at the split that sends missing values right and all others left."""
        cdef Py_ssize_t c
        cdef double gain
        if n < self.min_leaf or n_missing < self.min_leaf:
            return
        for c in range(self.n_channels):
            self.left[c] = self.right[c] - self.missing_sum[c]
        gain = self._gain(all_mass - missing_mass, all_mass)
        self._accept(found, feature, gain, n, False)

    cdef void _set_threshold(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, Py_ssize_t n,
        Split* found,
    ) noexcept nogil:
        """Set the threshold between the last cell on the left and the next one."""
        if found.n_first == n:
            found.threshold = INFINITY
            return
        cdef int64_t low = self.rows[node.start + <uint32_t> cells[found.n_first - 1]]
        cdef int64_t high = self.rows[node.start + <uint32_t> cells[found.n_first]]
        found.threshold = _between(self.X[low, feature], self.X[high, feature])

    cdef Found _scan(
        self, const uint64_t* cells, bint missing_left, double missing_mass, double all_mass,
        Py_ssize_t first, Py_ssize_t last,
    ) noexcept nogil:
        """Find the best split for any criterion, weights and targets."""
        cdef Found found
        cdef Py_ssize_t i
        cdef double mass = 0, gain
        found.score, found.where = -1.0, -1
        memset(&self.left[0], 0, self.n_channels * sizeof(double))
        if missing_left:
            memcpy(&self.left[0], &self.missing_sum[0], self.n_channels * sizeof(double))
            mass = missing_mass
        if first > 0:
            mass += self._sum(cells, first, &self.left[0])
        for i in range(first, last):
            mass += self._sum(cells + i, 1, &self.left[0])
            if (cells[i] ^ cells[i + 1]) >> 32 == 0:
                continue
            gain = self._gain(mass, all_mass)
            if gain > found.score:
                found.score, found.where = gain, i
        return found

    cdef double _gain(self, double mass, double all_mass) noexcept nogil:
        """Return by how much a split with the sums ``left`` reduces the loss; -1 if not allowed.

        The sums of the node are in ``right``, left and right together. The loss is in the unit of
        the node: ``unit_score`` makes it that of the impurity times the weight.
        """
        cdef double rest = all_mass - mass, gain = 0, deviation, part, other
        cdef Py_ssize_t c
        if mass < self.min_weight or rest < self.min_weight or mass <= 0 or rest <= 0:
            return -1.0
        if self.criterion == QUADRATIC:
            for c in range(1 if self.simple else self.n_channels):
                deviation = self.left[c] * rest - (self.right[c] - self.left[c]) * mass
                gain += deviation * deviation
            return gain / (mass * rest) / all_mass
        if self.criterion == ENTROPY:
            for c in range(self.n_channels):
                part, other = self.left[c], self.right[c] - self.left[c]
                gain += self._x_log_x(part) + self._x_log_x(other) - self._x_log_x(part + other)
            other = self._x_log_x(mass) + self._x_log_x(rest) - self._x_log_x(all_mass)
            gain -= self.n_outputs * other
            return max(gain, 0.0)
        for c in range(self.n_channels):
            part, other = self.left[c], self.right[c] - self.left[c]
            if part <= 0 or other <= 0:
                return -1.0
            gain += part * log(part / mass) + other * log(other / rest)
            gain -= (part + other) * log((part + other) / all_mass)
        return max(gain, 0.0)

    cdef double _x_log_x(self, double x) noexcept nogil:
        if self.counted_logs:
            return self.x_log_x[<Py_ssize_t> x]
        return x * log(x) if x > 0 else 0.0

    cdef void _random_split(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, Py_ssize_t n,
        Py_ssize_t n_missing, double missing_mass, double all_mass, Split* found,
    ) noexcept nogil:
        """Look at one threshold, uniform between the least and the largest value of the node."""
        cdef const int32_t* rows = &self.rows[node.start]
        cdef uint64_t draw = _mix(node.seed ^ _mix(<uint64_t> feature + 1))
        cdef double low = self.X[rows[<uint32_t> cells[0]], feature]
        cdef double high = self.X[rows[<uint32_t> cells[n - 1]], feature]
        cdef double u = _uniform(draw), threshold, mass
        cdef Py_ssize_t here = 0, end = n, middle, n_left
        cdef bint missing_left = n_missing > 0 and _mix(draw + 1) >> 63
        threshold = low * (1 - u) + high * u
        if not low <= threshold < high:
            threshold = low
        while here < end:
            middle = (here + end) // 2
            if self.X[rows[<uint32_t> cells[middle]], feature] <= threshold:
                here = middle + 1
            else:
                end = middle
        n_left = here + (n_missing if missing_left else 0)
        if n_left < self.min_leaf or n + n_missing - n_left < self.min_leaf:
            return
        memset(&self.left[0], 0, self.n_channels * sizeof(double))
        mass = self._sum(cells, here, &self.left[0])
        if missing_left:
            mass += missing_mass
            for middle in range(self.n_channels):
                self.left[middle] += self.missing_sum[middle]
        if self._accept(found, feature, self._gain(mass, all_mass), here, missing_left):
            found.threshold = threshold

    # ------------------------------------------------------------ categories

    cdef Py_ssize_t _group(self, const uint64_t* cells, Py_ssize_t n) noexcept nogil:
        """Sum up the rows of each category; return how many categories there are."""
        cdef Py_ssize_t i = 0, g = 0, begin
        while i < n:
            begin = i
            while i < n and _rank(cells[i]) == _rank(cells[begin]):
                i += 1
            memset(&self.group_sum[g, 0], 0, self.n_channels * sizeof(double))
            self.group_mass[g] = self._sum(cells + begin, i - begin, &self.group_sum[g, 0])
            self.group_count[g] = i - begin
            self.group_code[g] = <int32_t> _rank(cells[begin])
            g += 1
        return g

    cdef void _best_subset(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, Py_ssize_t n,
        Py_ssize_t n_missing, double missing_mass, double all_mass, Split* found,
    ) noexcept nogil:
        """Find the best subset of categories among those of an order.

        For one target or two classes the best of all subsets is a beginning of the categories in
        the order of their means (Breiman et al., 1984). Otherwise the orders of the means of every
        channel, a class against the rest or a target, are tried. ``n_first`` of the split is the
        channel and the number of categories on the left, in one number.
        """
        cdef Py_ssize_t n_groups = self._group(cells, n), pivot, g, c, group, n_left
        cdef Py_ssize_t n_pivots = 1 if self.simple else self.n_channels
        cdef double mass, gain
        cdef bint missing_left
        if self.classify and self.n_channels == 2:
            n_pivots = 1
        for pivot in range(n_pivots):
            self._order_groups(n_groups, pivot)
            for missing_left in range(2 if n_missing else 1):
                memset(&self.left[0], 0, self.n_channels * sizeof(double))
                mass, n_left = 0, 0
                if missing_left:
                    memcpy(&self.left[0], &self.missing_sum[0], self.n_channels * sizeof(double))
                    mass, n_left = missing_mass, n_missing
                for g in range(n_groups - (1 if missing_left or not n_missing else 0)):
                    group = self.group_order[g]
                    for c in range(1 if self.simple else self.n_channels):
                        self.left[c] += self.group_sum[group, c]
                    mass += self.group_mass[group]
                    n_left += self.group_count[group]
                    if n_left < self.min_leaf or n + n_missing - n_left < self.min_leaf:
                        continue
                    gain = self._gain(mass, all_mass)
                    self._accept(
                        found, feature, gain, pivot * (n_groups + 1) + g + 1, missing_left
                    )
        found.threshold = 0.0

    cdef void _order_groups(self, Py_ssize_t n_groups, Py_ssize_t pivot) noexcept nogil:
        """Order the categories by their mean of a channel, those with equal means by their code."""
        cdef Py_ssize_t g, width = 1, begin, middle, end
        for g in range(n_groups):
            self.group_order[g] = <int32_t> g
            self.group_key[g] = 0
            if self.group_mass[g] > 0:
                self.group_key[g] = self.group_sum[g, pivot] / self.group_mass[g]
        while width < n_groups:  # a merge sort keeps the order of the codes
            begin = 0
            while begin < n_groups:
                middle, end = min(begin + width, n_groups), min(begin + 2 * width, n_groups)
                self._merge_groups(begin, middle, end)
                begin = end
            memcpy(&self.group_order[0], &self.group_merged[0], n_groups * sizeof(int32_t))
            width *= 2

    cdef void _merge_groups(
        self, Py_ssize_t begin, Py_ssize_t middle, Py_ssize_t end
    ) noexcept nogil:
        cdef Py_ssize_t left = begin, right = middle, here
        cdef int32_t a, b
        for here in range(begin, end):
            a = self.group_order[left] if left < middle else -1
            b = self.group_order[right] if right < end else -1
            if b < 0 or (a >= 0 and self.group_key[a] <= self.group_key[b]):
                self.group_merged[here] = a
                left += 1
            else:
                self.group_merged[here] = b
                right += 1

    cdef int64_t _store_subset(self, Py_ssize_t n_groups) noexcept nogil:
        """Append the number of categories, and ``code << 1 | left`` for each; return where."""
        cdef int64_t begin = self.n_subset_entries
        cdef Py_ssize_t g
        self.subsets[begin] = <int32_t> n_groups
        for g in range(n_groups):
            self.subsets[begin + 1 + g] = self.group_code[g] << 1 | self.group_left[g]
        self.n_subset_entries += n_groups + 1
        return begin

    # ------------------------------------------------------------ dividing a node

    cdef bint _begin(self, const Node* node) noexcept nogil:
        """Divide the rows of a node by the best split, and make its children.

        Returns whether a child may be split in turn, and needs its cells. The split is given up,
        with a negative feature, if it gains too little.
        """
        cdef Py_ssize_t m = node.stop - node.start, n_left
        cdef Node* left
        cdef Node* right
        cdef Split* split = &self.best
        cdef Py_ssize_t subset_entries = self.n_subset_entries, substitutes = self.n_substitutes
        cdef double decrease
        self._set_sides(node)
        n_left = self._divide_rows(node)
        if n_left == 0 or n_left == m:
            # Surrogates may send all of the missing values to one side, never the others.
            self._give_up(node, subset_entries, substitutes)
            return False
        left = self._new_node(
            node.start, node.start + n_left, node.depth + 1, _mix(node.seed ^ 0x5851F42D)
        )
        split.open_left = self._measure(left, &self.values[self.n_nodes - 1, 0])
        right = self._new_node(
            node.start + n_left, node.stop, node.depth + 1, _mix(node.seed ^ 0x14057B7E)
        )
        split.open_right = self._measure(right, &self.values[self.n_nodes - 1, 0])
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
            split.gain *= self.unit_score
        self.splits[self.n_splits] = split[0]
        self.n_splits += 1
        return split.open_left or split.open_right

    cdef void _give_up(
        self, const Node* node, Py_ssize_t subset_entries, Py_ssize_t substitutes
    ) noexcept nogil:
        """Let the node be a leaf after all."""
        self.n_subset_entries, self.n_substitutes = subset_entries, substitutes
        self.best.feature = -1
        self.rows_done += node.stop - node.start

    cdef void _finish(self, const Node* node) noexcept nogil:
        """Make the open children pending; the other ones are leaves."""
        cdef Split* split = &self.best
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

    cdef void _partition_features(
        self, const Node* node, Py_ssize_t first, Py_ssize_t last
    ) noexcept nogil:
        cdef Py_ssize_t feature, m = node.stop - node.start
        if not (self.best.open_left or self.best.open_right):
            return
        for feature in range(first, last):
            if not self._is_constant(node, feature):
                _partition(
                    &self.cells[feature, node.start], m, &self.fate[0], &self.scratch[0],
                    self.best.open_left, self.best.open_right,
                )

    cdef Py_ssize_t _divide_rows(self, const Node* node) noexcept nogil:
        """Partition the rows by ``side``; write their new places into ``fate``. Return how many go left."""
        cdef Py_ssize_t i, m = node.stop - node.start, n_left = 0, n_right = 0
        cdef int32_t* rows = &self.rows[node.start]
        cdef int32_t* others = <int32_t*> &self.scratch[0]
        cdef int32_t row
        cdef Py_ssize_t goes_right
        for i in range(m):
            row = rows[i]
            goes_right = 1 - self.side[i]
            self.fate[i] = <uint32_t> ((RIGHT | n_right) if goes_right else n_left)
            rows[n_left] = row
            others[n_right] = row
            n_left += 1 - goes_right
            n_right += goes_right
        memcpy(rows + n_left, others, n_right * sizeof(int32_t))
        return n_left

    cdef void _set_sides(self, const Node* node) noexcept nogil:
        """Write 1 for each row that goes left, and 0 for the others."""
        cdef Py_ssize_t m = node.stop - node.start, i, n, n_missing
        cdef Py_ssize_t feature = self.best.feature
        cdef const uint64_t* cells = &self.cells[feature, node.start]
        cdef double left_mass = 0, right_mass = 0, mass
        n_missing = self._n_missing(cells, m)
        n = m - n_missing
        if self.n_categories[feature] > 0:
            self._set_category_sides(node, cells, n)
        else:
            for i in range(n):
                self.side[<uint32_t> cells[i]] = i < self.best.n_first
        if n_missing == 0 or self.use_surrogates:
            # Nothing was learned of missing values: they follow the majority.
            for i in range(n):
                mass = self._row_weight(node, <uint32_t> cells[i])
                if self.side[<uint32_t> cells[i]]:
                    left_mass += mass
                else:
                    right_mass += mass
            self.best.missing_left = left_mass > right_mass
        for i in range(n, m):
            self.side[<uint32_t> cells[i]] = self.best.missing_left
        if self.use_surrogates:
            self._find_surrogates(node, cells, n, left_mass, right_mass)
            if n_missing:
                self._follow_surrogates(node, cells, n, m)

    cdef double _row_weight(self, const Node* node, Py_ssize_t i) noexcept nogil:
        """Return by how much a row counts where sides agree, whatever its class counts."""
        return self.own_weight[self.rows[node.start + i]] if self.own_weight.shape[0] else 1.0

    cdef void _set_category_sides(
        self, const Node* node, const uint64_t* cells, Py_ssize_t n
    ) noexcept nogil:
        """Find the subset of the best split again, store it, and write the sides."""
        cdef Py_ssize_t n_groups, pivot, n_first, g, i
        self._prepare(node)
        n_groups = self._group(cells, n)
        pivot, n_first = (
            self.best.n_first // (n_groups + 1), self.best.n_first % (n_groups + 1)
        )
        self._order_groups(n_groups, pivot)
        for g in range(n_groups):
            self.group_left[self.group_order[g]] = g < n_first
        self.best.subset = self._store_subset(n_groups)
        g = 0
        for i in range(n):
            g += _rank(cells[i]) != <uint32_t> self.group_code[g]
            self.side[<uint32_t> cells[i]] = self.group_left[g]

    # ------------------------------------------------------------ competitors and surrogates

    cdef Py_ssize_t _rank_rival(self, Py_ssize_t most, const Rival* rival) noexcept nogil:
        """Insert a rival into the best of the node, after those as good; return its place or -1."""
        cdef Py_ssize_t here = self.n_best_rivals
        while here > 0 and self.best_rivals[here - 1].gain < rival.gain:
            here -= 1
        if here >= most:
            return -1
        cdef Py_ssize_t i = min(self.n_best_rivals, most - 1)
        while i > here:
            self.best_rivals[i] = self.best_rivals[i - 1]
            i -= 1
        self.best_rivals[here] = rival[0]
        self.n_best_rivals = min(self.n_best_rivals + 1, most)
        return here

    cdef void _keep_competitor(self, const Split* found) noexcept nogil:
        cdef Rival rival
        rival.node, rival.feature, rival.threshold = found.node, found.feature, found.threshold
        rival.gain, rival.adjusted, rival.subset, rival.flipped = found.gain, 0.0, -1, 0
        self._rank_rival(self.n_competitors + 1, &rival)

    cdef void _store_competitors(self, int64_t number) noexcept nogil:
        """Store the best splits of the features; the very best one is among them."""
        cdef Py_ssize_t i
        for i in range(self.n_best_rivals):
            self.competitors[self.n_competing] = self.best_rivals[i]
            self.competitors[self.n_competing].gain *= self.unit_score
            self.n_competing += 1

    cdef void _find_surrogates(
        self, const Node* node, const uint64_t* cells, Py_ssize_t n, double left_mass,
        double right_mass,
    ) noexcept nogil:
        """Store the splits by other features that agree best with the split of the node.

        The agreement of a surrogate is the mass of the rows that both know and send to the same
        side. It must exceed that of sending all rows with the majority.
        """
        cdef Py_ssize_t feature, i, m = node.stop - node.start, place
        cdef double majority = max(left_mass, right_mass), known = left_mass + right_mass
        cdef Rival rival
        # Rows that the split does not know are neither left nor right while surrogates are sought.
        for i in range(n, m):
            self.side[<uint32_t> cells[i]] = 2
        self.n_best_rivals = 0
        for feature in range(self.n_features):
            if feature == self.best.feature or self._is_constant(node, feature):
                continue
            rival.node, rival.feature, rival.gain = self.best.node, feature, -1.0
            rival.subset, rival.flipped, rival.adjusted = -1, 0, 0.0
            if self.n_categories[feature] > 0:
                self._agreeing_subset(node, feature, majority, known, &rival)
            else:
                self._agreeing_threshold(node, feature, majority, known, &rival)
            if rival.gain > 0 and rival.adjusted > 1e-10:
                self._rank_rival(self.n_surrogates, &rival)
        for i in range(self.n_best_rivals):
            place = self.n_substitutes
            self.surrogates[place] = self.best_rivals[i]
            if self.n_categories[self.surrogates[place].feature] > 0:
                self._store_agreeing_subset(node, &self.surrogates[place])
            self.n_substitutes += 1
        for i in range(n, m):
            self.side[<uint32_t> cells[i]] = self.best.missing_left

    cdef void _rate(
        self, Rival* rival, double agreeing, double majority, double known
    ) noexcept nogil:
        """Set agreement and adjusted agreement from the mass of the rows that agree."""
        rival.gain = agreeing / known
        rival.adjusted = (agreeing - majority) / (known - majority) if known > majority else 0.0

    cdef void _agreeing_threshold(
        self, const Node* node, Py_ssize_t feature, double majority, double known, Rival* rival
    ) noexcept nogil:
        """Find the threshold, in either direction, that agrees most with the sides."""
        cdef Py_ssize_t m = node.stop - node.start, i, n, n_left = 0, n_shared = 0
        cdef const uint64_t* cells = &self.cells[feature, node.start]
        cdef double left_of_left = 0, left_of_right = 0, agreeing, opposed, best = -1.0
        cdef double all_left = 0, all_right = 0
        cdef uint8_t side
        cdef Py_ssize_t where = -1, next_known
        cdef double mass
        cdef bint flipped = False
        n = m - self._n_missing(cells, m)
        for i in range(n):
            side = self.side[<uint32_t> cells[i]]
            mass = self._row_weight(node, <uint32_t> cells[i])
            if side == 1:
                all_left += mass
            elif side == 0:
                all_right += mass
            n_shared += side != 2
        for i in range(n - 1):
            side = self.side[<uint32_t> cells[i]]
            if side == 2:
                continue
            mass = self._row_weight(node, <uint32_t> cells[i])
            if side == 1:
                left_of_left += mass
            else:
                left_of_right += mass
            n_left += 1
            next_known = i + 1
            while next_known < n and self.side[<uint32_t> cells[next_known]] == 2:
                next_known += 1
            if next_known == n:
                break
            if _rank(cells[i]) == _rank(cells[next_known]):
                continue
            if n_left < SURROGATE_LEAST or n_shared - n_left < SURROGATE_LEAST:
                continue
            agreeing = left_of_left + (all_right - left_of_right)
            opposed = left_of_right + (all_left - left_of_left)
            if max(agreeing, opposed) > best:
                best, where, flipped = max(agreeing, opposed), i, opposed > agreeing
        if where < 0:
            return
        # The next larger value may be that of a row which the split itself does not know.
        next_known = where + 1
        while _rank(cells[next_known]) == _rank(cells[where]):
            next_known += 1
        rival.threshold = _between(
            self.X[self.rows[node.start + <uint32_t> cells[where]], feature],
            self.X[self.rows[node.start + <uint32_t> cells[next_known]], feature],
        )
        rival.flipped = flipped
        self._rate(rival, best, majority, known)

    cdef Py_ssize_t _side_masses(
        self, const Node* node, Py_ssize_t feature, double* all_left, double* all_right
    ) noexcept nogil:
        """Write which side each category of a node leans to; return the number of categories."""
        cdef Py_ssize_t m = node.stop - node.start, i = 0, n, g = 0, begin
        cdef const uint64_t* cells = &self.cells[feature, node.start]
        cdef double left, right, mass
        cdef uint8_t side
        n = m - self._n_missing(cells, m)
        all_left[0], all_right[0] = 0, 0
        while i < n:
            begin, left, right = i, 0, 0
            while i < n and _rank(cells[i]) == _rank(cells[begin]):
                side = self.side[<uint32_t> cells[i]]
                mass = self._row_weight(node, <uint32_t> cells[i])
                if side == 1:
                    left += mass
                elif side == 0:
                    right += mass
                i += 1
            if left + right > 0:
                self.group_code[g] = <int32_t> _rank(cells[begin])
                self.group_left[g] = 1 if left > right else 0 if left < right else 2
                self.group_mass[g] = max(left, right)
                all_left[0] += left
                all_right[0] += right
                g += 1
        for i in range(g):
            if self.group_left[i] == 2:  # undecided: with the majority
                self.group_left[i] = all_left[0] > all_right[0]
        return g

    cdef void _agreeing_subset(
        self, const Node* node, Py_ssize_t feature, double majority, double known, Rival* rival
    ) noexcept nogil:
        """Send each category to the side that most of its rows go to."""
        cdef double all_left = 0, all_right = 0, agreeing = 0
        cdef Py_ssize_t g, n_groups = self._side_masses(node, feature, &all_left, &all_right)
        for g in range(n_groups):
            agreeing += self.group_mass[g]
        if n_groups == 0:
            return
        rival.threshold = 0.0
        self._rate(rival, agreeing, majority, known)

    cdef void _store_agreeing_subset(self, const Node* node, Rival* rival) noexcept nogil:
        cdef double all_left = 0, all_right = 0
        cdef Py_ssize_t n_groups
        n_groups = self._side_masses(node, rival.feature, &all_left, &all_right)
        rival.subset = self._store_subset(n_groups)

    cdef void _follow_surrogates(
        self, const Node* node, const uint64_t* cells, Py_ssize_t n, Py_ssize_t m
    ) noexcept nogil:
        """Send the rows without a value to the side of the first surrogate that knows them."""
        cdef Py_ssize_t i, s, row
        cdef uint8_t side
        cdef Py_ssize_t first = self.n_substitutes - self.n_best_rivals
        for i in range(n, m):
            row = self.rows[node.start + <uint32_t> cells[i]]
            for s in range(first, self.n_substitutes):
                side = self._surrogate_side(&self.surrogates[s], row)
                if side != 2:
                    self.side[<uint32_t> cells[i]] = side
                    break

    cdef uint8_t _surrogate_side(self, const Rival* rival, Py_ssize_t row) noexcept nogil:
        """Return 1 for left, 0 for right, and 2 if the surrogate does not know."""
        cdef double value = self.X[row, rival.feature]
        if isnan(value):
            return 2
        if rival.subset >= 0:
            return side_of_category(&self.subsets[rival.subset], <int32_t> value)
        return (value <= rival.threshold) != rival.flipped


cdef uint8_t side_of_category(const int32_t* subset, int32_t code) noexcept nogil:
    """Return 1 if a category goes left, 0 if it goes right, and 2 if the subset lacks it."""
    cdef Py_ssize_t low = 1, high = subset[0] + 1, middle
    while low < high:
        middle = (low + high) // 2
        if subset[middle] >> 1 < code:
            low = middle + 1
        else:
            high = middle
    if low <= subset[0] and subset[low] >> 1 == code:
        return subset[low] & 1
    return 2


cdef bint _riper(const Split* split, const Split* other) noexcept nogil:
    """Return whether a node is divided before another: it gains more, or is older."""
    return split.gain > other.gain or (split.gain == other.gain and split.node < other.node)


def _longer(array, needed):
    """Return the array, or a copy of at least twice its length, with room for ``needed`` entries."""
    if len(array) >= needed:
        return array
    longer = np.zeros((max(2 * len(array), needed, 64), *array.shape[1:]), dtype=array.dtype)
    longer[:len(array)] = array
    return longer
