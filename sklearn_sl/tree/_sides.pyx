"""Dividing a node: the side of each row, by its value, by surrogates, or by the majority."""

from libc.math cimport isnan
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

from sklearn_sl.tree._cells cimport (
    Node,
    Rival,
    Split,
    between,
    partition_cells,
    rank_of,
    side_of_category,
)

cdef uint32_t RIGHT = 0x80000000

cdef enum:
    # A surrogate sends at least so many rows to either side.
    SURROGATE_LEAST = 2
    # The side of a row that a split does not know.
    UNKNOWN = 2


cdef class Division:
    """Divides a node by its best split: 1 is the left side, and 0 the right one."""

    def __init__(self, field, rules, columns, search):
        cdef Py_ssize_t n = len(field.rows)
        self.rows, self.columns, self.search = field.rows, columns, search
        self.own_weight, self.n_surrogates = field.own_weight, rules.surrogates
        self.fate = np.empty(n, dtype=np.uint32)
        self.scratch = np.empty(n, dtype=np.uint64)
        self.side = np.empty(n, dtype=np.uint8)
        self.group_left = np.zeros(self.search.group_mass.shape[0], dtype=np.uint8)

    cdef Py_ssize_t divide_rows(self, const Node* node) noexcept nogil:
        """Partition the rows by ``side``, and tell their ``fate``; return how many go left."""
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
        if self.columns.sparse:
            for i in range(m):
                self.columns.position[rows[i]] = <int32_t> (node.start + i)
        return n_left

    cdef void set_sides(self, const Node* node) noexcept nogil:
        """Write 1 for each row that goes left, and 0 for the others."""
        cdef Py_ssize_t m = node.stop - node.start, i, n = m, n_missing = 0
        cdef Py_ssize_t feature = self.search.best.feature
        cdef Py_ssize_t place
        cdef const uint64_t* cells = NULL
        cdef double left_mass = 0, right_mass = 0, mass
        if self.columns.sparse:
            self._set_stored_sides(node)
        else:
            cells = self.columns.column(node, feature)
            n_missing = self.search.n_missing(cells, m)
            n = m - n_missing
            if self.columns.n_categories[feature] > 0:
                self._set_category_sides(node, cells, n)
            else:
                for i in range(n):
                    self.side[<uint32_t> cells[i]] = i < self.search.best.n_first
        if n_missing == 0 or self.search.use_surrogates:
            # Nothing was learned of missing values: they follow the majority.
            for i in range(n):
                place = <uint32_t> cells[i] if cells and self.search.use_surrogates else i
                mass = self._row_weight(node, place)
                if self.side[place]:
                    left_mass += mass
                else:
                    right_mass += mass
            self.search.best.missing_left = left_mass > right_mass
        for i in range(n, m):
            self.side[<uint32_t> cells[i]] = self.search.best.missing_left
        if self.search.use_surrogates:
            self._find_surrogates(node, cells, n, left_mass, right_mass)
            if n_missing:
                self._follow_surrogates(node, cells, n, m)

    cdef void _set_stored_sides(self, const Node* node) noexcept nogil:
        """Write the sides of zeros to all rows, and then those of the stored values."""
        cdef Py_ssize_t m = node.stop - node.start, i, first_above
        cdef const uint64_t* cells = &self.columns.gathered[0]
        self.columns.gather(node, self.search.best.feature)
        first_above = m - self.columns.n_above
        memset(&self.side[0], first_above <= self.search.best.n_first, m)
        for i in range(self.columns.n_below):
            self.side[<uint32_t> cells[i]] = i < self.search.best.n_first
        cells += self.columns.n_below + 1
        for i in range(self.columns.n_above):
            self.side[<uint32_t> cells[i]] = first_above + i < self.search.best.n_first

    cdef double _row_weight(self, const Node* node, Py_ssize_t i) noexcept nogil:
        """Return by how much a row counts where sides agree, whatever its class counts."""
        return self.own_weight[self.rows[node.start + i]] if self.own_weight.shape[0] else 1.0

    cdef void _set_category_sides(
        self, const Node* node, const uint64_t* cells, Py_ssize_t n
    ) noexcept nogil:
        """Find the subset of the best split again, store it, and write the sides."""
        cdef Py_ssize_t n_groups, pivot, n_first, g, i
        self.search.prepare(node)
        n_groups = self.search.group(cells, n)
        pivot, n_first = (
            self.search.best.n_first // (n_groups + 1), self.search.best.n_first % (n_groups + 1)
        )
        self.search.order_groups(n_groups, pivot)
        for g in range(n_groups):
            self.group_left[self.search.group_order[g]] = g < n_first
        self.search.best.subset = self._store_subset(n_groups)
        g = 0
        for i in range(n):
            g += rank_of(cells[i]) != <uint32_t> self.search.group_code[g]
            self.side[<uint32_t> cells[i]] = self.group_left[g]

    cdef int64_t _store_subset(self, Py_ssize_t n_groups) noexcept nogil:
        """Append the number of categories, and ``code << 1 | left`` for each; return where."""
        cdef int64_t begin = self.n_subset_entries
        cdef Py_ssize_t g
        self.subsets[begin] = <int32_t> n_groups
        for g in range(n_groups):
            self.subsets[begin + 1 + g] = self.search.group_code[g] << 1 | self.group_left[g]
        self.n_subset_entries += n_groups + 1
        return begin

    cdef void partition_features(
        self, const Node* node, Py_ssize_t first, Py_ssize_t last
    ) noexcept nogil:
        cdef Py_ssize_t feature, m = node.stop - node.start
        cdef const Split* split = &self.search.best
        if self.columns.on_demand or not (split.open_left or split.open_right):
            return
        for feature in range(first, last):
            if not self.columns.is_constant(node, feature):
                partition_cells(
                    &self.columns.cells[feature, node.start], m, &self.fate[0], &self.scratch[0],
                    self.search.best.open_left, self.search.best.open_right,
                )

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
            self.side[<uint32_t> cells[i]] = UNKNOWN
        self.search.n_best_rivals = 0
        for feature in range(self.columns.n_features):
            if feature == self.search.best.feature or self.columns.is_constant(node, feature):
                continue
            rival.node, rival.feature, rival.gain = self.search.best.node, feature, -1.0
            rival.subset, rival.flipped, rival.adjusted = -1, 0, 0.0
            if self.columns.n_categories[feature] > 0:
                self._agreeing_subset(node, feature, majority, known, &rival)
            else:
                self._agreeing_threshold(node, feature, majority, known, &rival)
            if rival.gain > 0 and rival.adjusted > 1e-10:
                self.search.rank_rival(self.n_surrogates, &rival)
        for i in range(self.search.n_best_rivals):
            place = self.n_substitutes
            self.surrogates[place] = self.search.best_rivals[i]
            if self.columns.n_categories[self.surrogates[place].feature] > 0:
                self._store_agreeing_subset(node, &self.surrogates[place])
            self.n_substitutes += 1
        for i in range(n, m):
            self.side[<uint32_t> cells[i]] = self.search.best.missing_left

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
        cdef const uint64_t* cells = self.columns.column(node, feature)
        cdef double left_of_left = 0, left_of_right = 0, agreeing, opposed, best = -1.0
        cdef double all_left = 0, all_right = 0
        cdef uint8_t side
        cdef Py_ssize_t where = -1, next_known
        cdef double mass
        cdef bint flipped = False
        n = m - self.search.n_missing(cells, m)
        for i in range(n):
            side = self.side[<uint32_t> cells[i]]
            mass = self._row_weight(node, <uint32_t> cells[i])
            if side == 1:
                all_left += mass
            elif side == 0:
                all_right += mass
            n_shared += side != UNKNOWN
        for i in range(n - 1):
            side = self.side[<uint32_t> cells[i]]
            if side == UNKNOWN:
                continue
            mass = self._row_weight(node, <uint32_t> cells[i])
            if side == 1:
                left_of_left += mass
            else:
                left_of_right += mass
            n_left += 1
            next_known = i + 1
            while next_known < n and self.side[<uint32_t> cells[next_known]] == UNKNOWN:
                next_known += 1
            if next_known == n:
                break
            if rank_of(cells[i]) == rank_of(cells[next_known]):
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
        while rank_of(cells[next_known]) == rank_of(cells[where]):
            next_known += 1
        rival.threshold = between(
            self.columns.value_of(node, feature, cells[where]),
            self.columns.value_of(node, feature, cells[next_known]),
        )
        rival.flipped = flipped
        self._rate(rival, best, majority, known)

    cdef Py_ssize_t _side_masses(
        self, const Node* node, Py_ssize_t feature, double* all_left, double* all_right
    ) noexcept nogil:
        """Write which side each category of a node leans to; return the number of categories."""
        cdef Py_ssize_t m = node.stop - node.start, i = 0, n, g = 0, begin
        cdef const uint64_t* cells = self.columns.column(node, feature)
        cdef double left, right, mass
        cdef uint8_t side
        n = m - self.search.n_missing(cells, m)
        all_left[0], all_right[0] = 0, 0
        while i < n:
            begin, left, right = i, 0, 0
            while i < n and rank_of(cells[i]) == rank_of(cells[begin]):
                side = self.side[<uint32_t> cells[i]]
                mass = self._row_weight(node, <uint32_t> cells[i])
                if side == 1:
                    left += mass
                elif side == 0:
                    right += mass
                i += 1
            if left + right > 0:
                self.search.group_code[g] = <int32_t> rank_of(cells[begin])
                self.group_left[g] = 1 if left > right else 0 if left < right else UNKNOWN
                self.search.group_mass[g] = max(left, right)
                all_left[0] += left
                all_right[0] += right
                g += 1
        for i in range(g):
            if self.group_left[i] == UNKNOWN:  # undecided: with the majority
                self.group_left[i] = all_left[0] > all_right[0]
        return g

    cdef void _agreeing_subset(
        self, const Node* node, Py_ssize_t feature, double majority, double known, Rival* rival
    ) noexcept nogil:
        """Send each category to the side that most of its rows go to."""
        cdef double all_left = 0, all_right = 0, agreeing = 0
        cdef Py_ssize_t g, n_groups = self._side_masses(node, feature, &all_left, &all_right)
        for g in range(n_groups):
            agreeing += self.search.group_mass[g]
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
        cdef Py_ssize_t first = self.n_substitutes - self.search.n_best_rivals
        for i in range(n, m):
            row = self.rows[node.start + <uint32_t> cells[i]]
            for s in range(first, self.n_substitutes):
                side = self._surrogate_side(&self.surrogates[s], row)
                if side != UNKNOWN:
                    self.side[<uint32_t> cells[i]] = side
                    break

    cdef uint8_t _surrogate_side(self, const Rival* rival, Py_ssize_t row) noexcept nogil:
        """Return 1 for left, 0 for right, or UNKNOWN."""
        cdef double value = self.columns.X[row, rival.feature]
        if isnan(value):
            return UNKNOWN
        if rival.subset >= 0:
            return side_of_category(&self.subsets[rival.subset], <int32_t> value)
        return (value <= rival.threshold) != rival.flipped
