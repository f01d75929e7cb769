"""The best split of a node.

Sums over rows are exact, and so do not depend on their order: what is added are integers, the
deviations of the targets from the middle of the node in units of a power of two, small enough
that no sum reaches 2**53. Equal sums give equal scores; between equal scores the first feature
wins that was looked at, and in it the lowest threshold.
"""

from libc.math cimport INFINITY, ldexp, log, rint
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

from sklearn_sl.tree._cells cimport (
    ABSOLUTE,
    ENTROPY,
    POISSON,
    QUADRATIC,
    Found,
    Node,
    Rival,
    Split,
    between,
    exponent,
    is_missing,
    mix,
    rank_of,
    scan_classes,
    scan_counts,
    scan_masses,
    uniform,
)

from sklearn_sl.tree._cells import rival_dtype

cdef double LOG2 = 0.6931471805599453
# Sums stay below 2 to this power, and are integers.
cdef int EXACT_BITS = 52


cdef class SplitSearch:
    """Finds the best split of a node among the features that are chosen for it.

    A feature of sparse samples is searched in its stored cells alone, if the criterion allows it:
    the rows of zeros count by what the others leave of the sums of the node.
    """

    def __init__(self, field, rules, columns, medians):
        self.columns, self.medians = columns, medians
        self.y, self.codes, self.weight = field.y, field.codes, field.weight
        self.first_channel, self.criterion = field.first_channel, rules.criterion
        self.n_outputs, self.n_channels = field.n_outputs, field.n_channels
        self.classify, self.weighted = field.codes.shape[0] > 0, field.weight.shape[0] > 0
        self.x_log_x = field.x_log_x
        # Classes by number, or by integer weights: squares and logarithms of them are at hand.
        self.counted = field.counted and self.n_outputs == 1
        self.random_thresholds, self.use_surrogates = rules.random_thresholds, rules.surrogates > 0
        self.n_competitors = rules.competitors
        self.min_leaf, self.min_weight = rules.min_samples_leaf, rules.min_weight_leaf
        self.monotonic, self.constrained = rules.monotonic, rules.monotonic.shape[0] > 0
        if not self.weighted:
            self.min_leaf = max(self.min_leaf, int(np.ceil(self.min_weight)))
        # Two classes are one channel of zeros and ones, like a target.
        self.simple = (
            self.criterion == QUADRATIC
            and self.n_outputs == 1
            and (not self.classify or self.n_channels == 2)
        )
        cdef Py_ssize_t n = self.columns.rows.shape[0]
        self.amount = np.empty(n * self.n_outputs)
        self.channel = np.empty(0 if self.simple else n * self.n_outputs, dtype=np.int32)
        self.mass = np.empty(n if self.weighted else 0)
        self.level = np.empty(n * self.n_outputs if self.criterion == ABSOLUTE else 0)
        self.total = np.zeros(self.n_channels)
        self.left, self.right = np.zeros(self.n_channels), np.zeros(self.n_channels)
        self.missing_sum = np.zeros(self.n_channels)
        most = max(field.n_categories.max(initial=0), 1)
        self.group_sum = np.zeros((most, self.n_channels))
        self.group_mass, self.group_key = np.zeros(most), np.zeros(most)
        self.group_count, self.group_begin = np.zeros((2, most), dtype=np.int64)
        some = n if self.criterion == ABSOLUTE and field.n_categories.any() else 0
        self.group_of, self.group_seen = np.zeros(some, dtype=np.int32), np.zeros(most)
        self.grouped = np.empty(some, dtype=np.uint64)
        self.group_code, self.group_order, self.group_merged = np.zeros((3, most), dtype=np.int32)
        self.best_rivals = np.zeros(max(rules.competitors, rules.surrogates) + 1, rival_dtype)

    cdef void prepare(self, const Node* node) noexcept nogil:
        """Write the amounts and masses of the rows, as integers in a unit that keeps sums exact."""
        cdef Py_ssize_t i, m = node.stop - node.start
        cdef const int32_t* rows = &self.columns.rows[node.start]
        self.total_mass = <double> m
        if self.weighted:
            self._prepare_masses(rows, m, node.weight)
        memset(&self.total[0], 0, self.n_channels * sizeof(double))
        if self.classify:
            self._prepare_classes(rows, m)
        else:
            self._prepare_targets(rows, m, node.weight)
        if self.criterion == ABSOLUTE:
            self.medians.arrange(
                rows, m, &self.level[0], &self.amount[0],
                &self.mass[0] if self.weighted else NULL,
            )
        for i in range(m * self.n_outputs):
            self.total[0 if self.simple else self.channel[i]] += self.amount[i]

    cdef void _prepare_masses(
        self, const int32_t* rows, Py_ssize_t m, double weight
    ) noexcept nogil:
        cdef Py_ssize_t i
        cdef double unit = ldexp(1.0, exponent(1.0, weight, EXACT_BITS))
        self.total_mass = 0
        for i in range(m):
            self.mass[i] = rint(self.weight[rows[i]] * unit) / unit
            self.total_mass += self.mass[i]

    cdef void _prepare_classes(self, const int32_t* rows, Py_ssize_t m) noexcept nogil:
        cdef Py_ssize_t i, output, place
        self.unit, self.centre = 1.0, 0.0
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
        unit = ldexp(1.0, exponent(reach, weight, EXACT_BITS))
        self.unit, self.centre = unit, self.left[0]
        self.unit_score = 1 / unit / unit if self.criterion == QUADRATIC else 1 / unit
        for output in range(self.n_outputs):
            middle = self.left[output]
            for i in range(m):
                place = i * self.n_outputs + output
                target = rint((self.y[rows[i], output] - middle) * unit)
                if self.criterion == ABSOLUTE:
                    self.level[place] = target
                if self.weighted:
                    target = rint(target * self.weight[rows[i]])
                self.amount[place] = target
                if not self.simple:
                    self.channel[place] = <int32_t> output

    cdef void find(
        self, const Node* node, Py_ssize_t n_chosen, int64_t number
    ) noexcept nogil:
        """Find the best split by the first ``n_chosen`` of the chosen features."""
        cdef Py_ssize_t i, feature
        cdef Split found
        self.best.feature, self.best.gain, self.best.node = -1, -1.0, number
        self.n_best_rivals = 0
        for i in range(n_chosen):
            feature = self.columns.chosen[i]
            if i + 1 < n_chosen:
                self.columns.fetch(node, self.columns.chosen[i + 1])
            if self.columns.is_constant(node, feature):
                continue
            found.feature, found.gain, found.node = -1, -1.0, number
            found.missing_left, found.subset, found.middle = 0, -1, 0.0
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

    cdef Py_ssize_t n_missing(self, const uint64_t* cells, Py_ssize_t m) noexcept nogil:
        """Return how many of sorted cells are missing."""
        cdef Py_ssize_t low = 0, high = m, middle
        if not is_missing(cells[m - 1]):
            return 0
        while low < high:
            middle = (low + high) // 2
            if is_missing(cells[middle]):
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
        cdef Py_ssize_t m = node.stop - node.start, c, n_missing, n
        cdef const uint64_t* cells
        cdef double missing_mass = 0, all_mass = self.total_mass
        memset(&self.missing_sum[0], 0, self.n_channels * sizeof(double))
        memcpy(&self.right[0], &self.total[0], self.n_channels * sizeof(double))
        if self.columns.sparse and self._is_plain(feature):
            self.columns.gather(node, feature)
            if self.random_thresholds:
                self._random_split_of_stored(node, feature, found)
            else:
                self._best_threshold_of_stored(node, feature, found)
            return
        cells = self.columns.column(node, feature)
        n_missing = self.n_missing(cells, m)
        n = m - n_missing
        if n == 0:
            return
        if n_missing:
            missing_mass = self._sum(cells + n, n_missing, &self.missing_sum[0])
        if n_missing and self.use_surrogates:
            # A split is judged by the rows that it can tell apart.
            for c in range(self.n_channels):
                self.right[c] -= self.missing_sum[c]
                self.missing_sum[c] = 0
            all_mass -= missing_mass
            missing_mass, n_missing = 0, 0
        if self.columns.n_categories[feature] > 0:
            self._best_subset(node, feature, cells, n, n_missing, missing_mass, all_mass, found)
        elif self.random_thresholds:
            self._random_split(node, feature, cells, n, n_missing, missing_mass, all_mass, found)
        elif self._skips_least(feature, m):
            self._best_threshold_above_least(node, feature, cells, found)
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

    cdef bint _matters(self, const Split* found) noexcept nogil:
        """Return whether anybody will ask for the threshold: the values are far away in memory."""
        return found.feature >= 0 and (found.gain > self.best.gain or self.n_competitors > 0)

    cdef void _best_threshold(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, Py_ssize_t n,
        Py_ssize_t n_missing, double missing_mass, double all_mass, Split* found,
    ) noexcept nogil:
        cdef Py_ssize_t all_rows = n + n_missing
        cdef bint missing_left
        cdef Found best
        for missing_left in range(2 if n_missing else 1):
            if self.criterion == ABSOLUTE:
                self.medians.scan(cells, n, missing_left, n_missing > 0 and not missing_left)
            if missing_left:
                best = self._scan(
                    node, feature, cells, n, &self.missing_sum[0], n_missing, missing_mass,
                    all_mass, all_rows,
                )
            else:
                best = self._scan(node, feature, cells, n, NULL, 0, 0.0, all_mass, all_rows)
            if best.where >= 0 and self._accept(
                found, feature, self._gain_of(feature, best.score, all_mass), best.where + 1,
                missing_left,
            ):
                found.middle = best.middle
            if n_missing and not missing_left:
                self._missing_against_the_rest(
                    node, feature, cells, n, n_missing, missing_mass, all_mass, found
                )
        if self._matters(found):
            self._set_threshold(node, feature, cells, n, found)

    cdef void _missing_against_the_rest(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, Py_ssize_t n,
        Py_ssize_t n_missing, double missing_mass, double all_mass, Split* found,
    ) noexcept nogil:
        """Look at the split that sends missing values right and all others left."""
        cdef Py_ssize_t c
        cdef double gain, mass = all_mass - missing_mass, middle = 0
        if n < self.min_leaf or n_missing < self.min_leaf:
            return
        for c in range(self.n_channels):
            self.left[c] = self.right[c] - self.missing_sum[c]
        gain = self._gain_at(n - 1, mass, all_mass)
        if gain > found.gain and self._in_order(node, feature, n - 1, mass, all_mass, &middle):
            self._accept(found, feature, gain, n, False)
            found.middle = middle

    cdef void _set_threshold(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, Py_ssize_t n,
        Split* found,
    ) noexcept nogil:
        """Set the threshold between the last cell on the left and the next one."""
        if found.n_first == n:
            found.threshold = INFINITY
            return
        found.threshold = between(
            self.columns.value_of(node, feature, cells[found.n_first - 1]),
            self.columns.value_of(node, feature, cells[found.n_first]),
        )

    cdef void _best_threshold_of_stored(
        self, const Node* node, Py_ssize_t feature, Split* found
    ) noexcept nogil:
        """Find the best threshold among negative values, after the zeros, and among positive ones.

        It is the one that a scan of all rows finds.
        """
        cdef Py_ssize_t m = node.stop - node.start
        cdef Py_ssize_t n_below = self.columns.n_below, n_above = self.columns.n_above
        cdef Py_ssize_t n_left = m - n_above
        cdef const uint64_t* above = &self.columns.gathered[n_below + 1]
        cdef Found best
        best.score, best.where = self._least_score(feature), -1
        if n_below:
            best = self._scan(
                node, feature, &self.columns.gathered[0], n_below + (n_below < m), NULL, 0, 0.0,
                self.total_mass, m,
            )
        if n_above:
            self._scan_above(node, feature, above, n_above, n_below < n_left, &best)
        if best.where < 0:
            return
        self._accept(
            found, feature, self._gain_of(feature, best.score, self.total_mass), best.where + 1,
            False,
        )
        if self._matters(found):
            found.threshold = between(
                self.columns.value_of(node, feature, self.columns.stored_cell(node, best.where)),
                self.columns.value_of(
                    node, feature, self.columns.stored_cell(node, best.where + 1)
                ),
            )

    cdef bint _skips_least(self, Py_ssize_t feature, Py_ssize_t m) noexcept nogil:
        """Return whether it is faster to sum all other cells than to scan those of rank zero."""
        if not self.columns.short_ranks.shape[0] or not self._is_plain(feature):
            return False
        return 2 * self.columns.n_least > m

    cdef void _best_threshold_above_least(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, Split* found
    ) noexcept nogil:
        """Find the best threshold, where most rows have the least value and none is missing.

        It is the one that a scan of all rows finds.
        """
        cdef Py_ssize_t m = node.stop - node.start, n_least = self.columns.n_least
        cdef Found best
        best.score, best.where = self._least_score(feature), -1
        self._scan_above(node, feature, cells + n_least, m - n_least, True, &best)
        if best.where < 0:
            return
        self._accept(
            found, feature, self._gain_of(feature, best.score, self.total_mass), best.where + 1,
            False,
        )
        if self._matters(found):
            self._set_threshold(node, feature, cells, m, found)

    cdef void _scan_above(
        self, const Node* node, Py_ssize_t feature, const uint64_t* above, Py_ssize_t n_above,
        bint before, Found* best,
    ) noexcept nogil:
        """Look for a better split among the last cells of a node, and just ``before`` them."""
        cdef Py_ssize_t m = node.stop - node.start, n_left = m - n_above
        cdef double mass = self._sums_without(above, n_above), score
        cdef Found other
        if before and n_left >= self.min_leaf and n_above >= self.min_leaf:
            memcpy(&self.left[0], &self.missing_sum[0], self.n_channels * sizeof(double))
            score = self._score(mass, self.total_mass)
            if score > best.score:
                best.score, best.where = score, n_left - 1
        other = self._scan(
            node, feature, above, n_above, &self.missing_sum[0], n_left, mass, self.total_mass, m
        )
        if other.score > best.score:
            best.score, best.where = other.score, n_left + other.where

    cdef double _sums_without(self, const uint64_t* cells, Py_ssize_t n) noexcept nogil:
        """Write to ``missing_sum`` the sums of all other rows than these; return their mass."""
        cdef Py_ssize_t c
        cdef double mass
        memset(&self.left[0], 0, self.n_channels * sizeof(double))
        mass = self._sum(cells, n, &self.left[0])
        for c in range(self.n_channels):
            self.missing_sum[c] = self.total[c] - self.left[c]
        return self.total_mass - mass

    cdef Found _scan(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, Py_ssize_t n,
        const double* before, Py_ssize_t n_before, double mass_before, double all_mass,
        Py_ssize_t all_rows,
    ) noexcept nogil:
        """Find the cell, of all but the last one, after which a split has the best score.

        ``n_before`` rows with the sums ``before`` are on the left to begin with; NULL is none.
        """
        cdef Found found
        cdef Py_ssize_t i
        cdef double mass = mass_before, gain, middle = 0
        # The fast loops know of no medians and no constraints.
        cdef bint plain = self._is_plain(feature)
        # With i + 1 cells and the rows before them on the left, both sides have enough rows.
        cdef Py_ssize_t first = max(self.min_leaf - n_before - 1, 0)
        cdef Py_ssize_t last = min(n - 1, all_rows - self.min_leaf - n_before)
        found.score, found.middle, found.where = self._least_score(feature), 0.0, -1
        if first >= last:
            return found
        if plain and self.simple and not self.weighted:
            return scan_counts(
                cells, &self.amount[0], before[0] if before else 0.0, self.right[0], n_before,
                all_rows, first, last,
            )
        if plain and self.simple:
            return scan_masses(
                cells, &self.amount[0], &self.mass[0], before[0] if before else 0.0,
                self.right[0], mass, all_mass, self.min_weight, first, last,
            )
        if before:
            memcpy(&self.left[0], before, self.n_channels * sizeof(double))
        else:
            memset(&self.left[0], 0, self.n_channels * sizeof(double))
        if plain and self.counted:
            return scan_classes(
                cells, &self.channel[0], &self.mass[0] if self.weighted else NULL,
                &self.x_log_x[0] if self.criterion == ENTROPY else NULL, &self.left[0],
                &self.right[0], self.n_channels, mass, all_mass, self.min_weight, first, last,
            )
        if first > 0:
            mass += self._sum(cells, first, &self.left[0])
        for i in range(first, last):
            mass += self._sum(cells + i, 1, &self.left[0])
            if (cells[i] ^ cells[i + 1]) >> 32 == 0:
                continue
            gain = self._gain_at(i, mass, all_mass)
            if gain > found.score and self._in_order(node, feature, i, mass, all_mass, &middle):
                found.score, found.middle, found.where = gain, middle, i
        return found

    cdef bint _is_plain(self, Py_ssize_t feature) noexcept nogil:
        """Return whether sums are all there is to a split: no medians, and no constraint."""
        return self.criterion != ABSOLUTE and not (self.constrained and self.monotonic[feature])

    cdef double _least_score(self, Py_ssize_t feature) noexcept nogil:
        """Return what every score of a split that is allowed exceeds."""
        if self.counted and not self.simple and self._is_plain(feature):
            return -INFINITY
        return -1.0

    cdef double _gain_of(
        self, Py_ssize_t feature, double score, double all_mass
    ) noexcept nogil:
        """Return the gain of a split that ``_scan`` has found."""
        if not self._is_plain(feature):
            return score
        if self.simple:
            return score / all_mass
        if self.counted:
            return max(score - self._score_of_node(all_mass), 0.0)
        return score

    cdef double _score(self, double mass, double all_mass) noexcept nogil:
        """Return what ``_scan`` would call the score of a split with the sums ``left``."""
        cdef double rest = all_mass - mass, deviation
        if mass < self.min_weight or rest < self.min_weight or mass <= 0 or rest <= 0:
            return -INFINITY if self.counted and not self.simple else -1.0
        if self.simple:
            deviation = self.left[0] * rest - (self.right[0] - self.left[0]) * mass
            return deviation * deviation / (mass * rest)
        if self.counted:
            return self._score_of_counts(mass, rest)
        return self._gain(mass, all_mass)

    cdef double _gain_at(self, Py_ssize_t i, double mass, double all_mass) noexcept nogil:
        """Return by how much a split after cell ``i`` reduces the loss; -1 if not allowed."""
        cdef double rest = all_mass - mass
        if self.criterion != ABSOLUTE:
            return self._gain(mass, all_mass)
        if mass < self.min_weight or rest < self.min_weight or mass <= 0 or rest <= 0:
            return -1.0
        return max(
            self.medians.loss - self.medians.left_loss[i] - self.medians.right_loss[i], 0.0
        )

    cdef bint _in_order(
        self, const Node* node, Py_ssize_t feature, Py_ssize_t i, double mass, double all_mass,
        double* middle,
    ) noexcept nogil:
        """Return whether the values of a split after cell ``i`` keep to the constraints.

        They are means, medians, or shares of the second class, between the bounds of the node and
        in the order that the feature demands. Set their ``middle``.
        """
        cdef Py_ssize_t c = 1 if self.classify and not self.simple else 0
        cdef double left, right
        if not self.constrained or self.monotonic[feature] == 0:
            return True
        if self.criterion == ABSOLUTE:
            left, right = self.medians.left_median[i], self.medians.right_median[i]
        else:
            left, right = self.left[c] / mass, (self.right[c] - self.left[c]) / (all_mass - mass)
        left, right = self.centre + left / self.unit, self.centre + right / self.unit
        middle[0] = left / 2 + right / 2
        return (
            node.lower <= min(left, right)
            and max(left, right) <= node.upper
            and (left - right) * self.monotonic[feature] <= 0
        )

    cdef double _gain(self, double mass, double all_mass) noexcept nogil:
        """Return by how much a split with the sums ``left`` reduces the loss; -1 if not allowed.

        The sums of the node are in ``right``, left and right together. The loss is in the unit of
        the node: ``unit_score`` makes it that of the impurity times the weight.
        """
        cdef double rest = all_mass - mass, gain = 0, deviation, part, other
        cdef Py_ssize_t c
        if mass < self.min_weight or rest < self.min_weight or mass <= 0 or rest <= 0:
            return -1.0
        if self.counted:
            return max(self._score_of_counts(mass, rest) - self._score_of_node(all_mass), 0.0)
        if self.criterion == QUADRATIC:
            for c in range(1 if self.simple else self.n_channels):
                deviation = self.left[c] * rest - (self.right[c] - self.left[c]) * mass
                gain += deviation * deviation
            return gain / (mass * rest) / all_mass
        if self.criterion == ENTROPY:
            for c in range(self.n_channels):
                part, other = self.left[c], self.right[c] - self.left[c]
                gain += x_log_x(part) + x_log_x(other) - x_log_x(part + other)
            gain -= self.n_outputs * (x_log_x(mass) + x_log_x(rest) - x_log_x(all_mass))
            return max(gain, 0.0)
        for c in range(self.n_channels):
            part, other = self.left[c], self.right[c] - self.left[c]
            if part <= 0 or other <= 0:
                return -1.0
            gain += part * log(part / mass) + other * log(other / rest)
            gain -= (part + other) * log((part + other) / all_mass)
        return max(gain, 0.0)

    cdef double _score_of_counts(self, double mass, double rest) noexcept nogil:
        """Return the score of ``scan_classes`` for the sums ``left``."""
        cdef double squares_left = 0, squares_right = 0, part, other, score
        cdef Py_ssize_t c
        if self.criterion == ENTROPY:
            score = -(self.x_log_x[<Py_ssize_t> mass] + self.x_log_x[<Py_ssize_t> rest])
            for c in range(self.n_channels):
                part, other = self.left[c], self.right[c] - self.left[c]
                score += self.x_log_x[<Py_ssize_t> part] + self.x_log_x[<Py_ssize_t> other]
            return score
        for c in range(self.n_channels):
            part, other = self.left[c], self.right[c] - self.left[c]
            squares_left += part * part
            squares_right += other * other
        return (squares_left * rest + squares_right * mass) / (mass * rest)

    cdef double _score_of_node(self, double all_mass) noexcept nogil:
        """Return what remains of the score without a split."""
        cdef double score = 0
        cdef Py_ssize_t c
        if self.criterion == ENTROPY:
            for c in range(self.n_channels):
                score += self.x_log_x[<Py_ssize_t> self.right[c]]
            return score - self.x_log_x[<Py_ssize_t> all_mass]
        for c in range(self.n_channels):
            score += self.right[c] * self.right[c]
        return score / all_mass

    cdef void _random_split(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, Py_ssize_t n,
        Py_ssize_t n_missing, double missing_mass, double all_mass, Split* found,
    ) noexcept nogil:
        """Look at one threshold, uniform between the least and the largest value of the node."""
        cdef uint64_t draw = self._draw_of(node, feature)
        cdef double threshold = threshold_between(
            self.columns.value_of(node, feature, cells[0]),
            self.columns.value_of(node, feature, cells[n - 1]),
            uniform(draw),
        )
        cdef double mass, gain, split_middle = 0
        cdef Py_ssize_t c, here = self._count_up_to(node, feature, cells, n, threshold), n_left
        cdef bint missing_left = n_missing > 0 and mix(draw + 1) >> 63
        n_left = here + (n_missing if missing_left else 0)
        if n_left < self.min_leaf or n + n_missing - n_left < self.min_leaf:
            return
        memset(&self.left[0], 0, self.n_channels * sizeof(double))
        mass = self._sum(cells, here, &self.left[0])
        if missing_left:
            mass += missing_mass
            for c in range(self.n_channels):
                self.left[c] += self.missing_sum[c]
        if self.criterion == ABSOLUTE:
            self.medians.scan(cells, n, missing_left, n_missing > 0 and not missing_left)
        gain = self._gain_at(here - 1, mass, all_mass)
        if not self._in_order(node, feature, here - 1, mass, all_mass, &split_middle):
            return
        if self._accept(found, feature, gain, here, missing_left):
            found.threshold, found.middle = threshold, split_middle

    cdef void _random_split_of_stored(
        self, const Node* node, Py_ssize_t feature, Split* found
    ) noexcept nogil:
        """Look at the same threshold where only some of the values are stored."""
        cdef Py_ssize_t m = node.stop - node.start, here, n_above = self.columns.n_above
        cdef const uint64_t* above = &self.columns.gathered[self.columns.n_below + 1]
        cdef double mass, threshold = threshold_between(
            self.columns.value_of(node, feature, self.columns.stored_cell(node, 0)),
            self.columns.value_of(node, feature, self.columns.stored_cell(node, m - 1)),
            uniform(self._draw_of(node, feature)),
        )
        if threshold < 0:
            here = self._count_up_to(
                node, feature, &self.columns.gathered[0], self.columns.n_below, threshold
            )
        else:
            here = m - n_above + self._count_up_to(node, feature, above, n_above, threshold)
        if here < self.min_leaf or m - here < self.min_leaf:
            return
        if threshold < 0:
            memset(&self.left[0], 0, self.n_channels * sizeof(double))
            mass = self._sum(&self.columns.gathered[0], here, &self.left[0])
        else:
            mass = self._sums_without(above + n_above - (m - here), m - here)
            memcpy(&self.left[0], &self.missing_sum[0], self.n_channels * sizeof(double))
        if self._accept(found, feature, self._gain(mass, self.total_mass), here, False):
            found.threshold = threshold

    cdef uint64_t _draw_of(self, const Node* node, Py_ssize_t feature) noexcept nogil:
        return mix(node.seed ^ mix(<uint64_t> feature + 1))

    cdef Py_ssize_t _count_up_to(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, Py_ssize_t n,
        double threshold,
    ) noexcept nogil:
        """Return how many of sorted cells have a value up to the threshold."""
        cdef Py_ssize_t here = 0, end = n, middle
        while here < end:
            middle = (here + end) // 2
            if self.columns.value_of(node, feature, cells[middle]) <= threshold:
                here = middle + 1
            else:
                end = middle
        return here

    cdef Py_ssize_t group(self, const uint64_t* cells, Py_ssize_t n) noexcept nogil:
        """Sum up the rows of each category; return how many categories there are."""
        cdef Py_ssize_t i = 0, g = 0, begin
        if self.criterion == ABSOLUTE:
            for i in range(self.medians.n_rows):
                self.group_of[i] = -1
            i = 0
        while i < n:
            begin = i
            while i < n and rank_of(cells[i]) == rank_of(cells[begin]):
                if self.criterion == ABSOLUTE:
                    self.group_of[<uint32_t> cells[i]] = <int32_t> g
                i += 1
            memset(&self.group_sum[g, 0], 0, self.n_channels * sizeof(double))
            self.group_mass[g] = self._sum(cells + begin, i - begin, &self.group_sum[g, 0])
            self.group_count[g], self.group_begin[g] = i - begin, begin
            self.group_code[g] = <int32_t> rank_of(cells[begin])
            g += 1
        return g

    cdef void _best_subset(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, Py_ssize_t n,
        Py_ssize_t n_missing, double missing_mass, double all_mass, Split* found,
    ) noexcept nogil:
        """Find the best subset of categories among those of an order.

        For one target or two classes the best of all subsets is a beginning of the categories in
        the order of their means (Breiman et al., 1984). Otherwise the orders of the means of every
        channel, a class against the rest or a target, are tried, or the orders of the medians if
        these are what nodes predict. ``n_first`` of the split is the
        channel and the number of categories on the left, in one number.
        """
        cdef Py_ssize_t n_groups = self.group(cells, n), pivot, g, c, group, n_left, n_first
        cdef Py_ssize_t n_pivots = 1 if self.simple else self.n_channels
        cdef double mass, gain
        cdef bint missing_left
        if self.classify and self.n_channels == 2:
            n_pivots = 1
        for pivot in range(n_pivots):
            self.order_groups(n_groups, pivot)
            if self.criterion == ABSOLUTE:
                self._gather_groups(cells, n_groups, n)
            for missing_left in range(2 if n_missing else 1):
                if self.criterion == ABSOLUTE:
                    self.medians.scan(
                        &self.grouped[0], n, missing_left, n_missing > 0 and not missing_left
                    )
                memset(&self.left[0], 0, self.n_channels * sizeof(double))
                mass, n_left, n_first = 0, 0, 0
                if missing_left:
                    memcpy(&self.left[0], &self.missing_sum[0], self.n_channels * sizeof(double))
                    mass, n_left = missing_mass, n_missing
                for g in range(n_groups - (1 if missing_left or not n_missing else 0)):
                    group = self.group_order[g]
                    for c in range(1 if self.simple else self.n_channels):
                        self.left[c] += self.group_sum[group, c]
                    mass += self.group_mass[group]
                    n_left += self.group_count[group]
                    n_first += self.group_count[group]
                    if n_left < self.min_leaf or n + n_missing - n_left < self.min_leaf:
                        continue
                    gain = self._gain_at(n_first - 1, mass, all_mass)
                    self._accept(
                        found, feature, gain, pivot * (n_groups + 1) + g + 1, missing_left
                    )
        found.threshold = 0.0

    cdef void order_groups(self, Py_ssize_t n_groups, Py_ssize_t pivot) noexcept nogil:
        """Order the categories by their mean of a channel, those with equal means by their code."""
        cdef Py_ssize_t g, width = 1, begin, middle, end
        for g in range(n_groups):
            self.group_order[g] = <int32_t> g
        self._set_keys(n_groups, pivot)
        while width < n_groups:  # a merge sort keeps the order of the codes
            begin = 0
            while begin < n_groups:
                middle, end = min(begin + width, n_groups), min(begin + 2 * width, n_groups)
                self._merge_groups(begin, middle, end)
                begin = end
            memcpy(&self.group_order[0], &self.group_merged[0], n_groups * sizeof(int32_t))
            width *= 2

    cdef void _set_keys(self, Py_ssize_t n_groups, Py_ssize_t pivot) noexcept nogil:
        cdef Py_ssize_t g
        if self.criterion == ABSOLUTE:
            self._set_median_keys(n_groups, pivot)
            return
        for g in range(n_groups):
            self.group_key[g] = 0
            if self.group_mass[g] > 0:
                self.group_key[g] = self.group_sum[g, pivot] / self.group_mass[g]

    cdef void _set_median_keys(self, Py_ssize_t n_groups, Py_ssize_t output) noexcept nogil:
        """Set the least target of each category up to which there is half of its mass."""
        cdef Py_ssize_t g, p
        for g in range(n_groups):
            self.group_key[g], self.group_seen[g] = 0, 0
        for p in range(1, self.medians.n_rows + 1):
            g = self.group_of[self.medians.row_at[output, p]]
            if g < 0:
                continue
            if 2 * self.group_seen[g] < self.group_mass[g]:
                self.group_key[g] = self.medians.target[output, p]
            self.group_seen[g] += self.medians.mass[output, p]

    cdef void _gather_groups(
        self, const uint64_t* cells, Py_ssize_t n_groups, Py_ssize_t n
    ) noexcept nogil:
        """Write the cells in the order of their categories, missing ones last."""
        cdef Py_ssize_t g, group
        # No element of the array: where nothing is missing, its place is behind the last one.
        cdef uint64_t* here = &self.grouped[0]
        for g in range(n_groups):
            group = self.group_order[g]
            memcpy(
                here, cells + self.group_begin[group], self.group_count[group] * sizeof(uint64_t)
            )
            here += self.group_count[group]
        memcpy(here, cells + n, (self.medians.n_rows - n) * sizeof(uint64_t))

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

    cdef void _keep_competitor(self, const Split* found) noexcept nogil:
        cdef Rival rival
        rival.node, rival.feature, rival.threshold = found.node, found.feature, found.threshold
        rival.gain, rival.adjusted, rival.subset, rival.flipped = found.gain, 0.0, -1, 0
        self.rank_rival(self.n_competitors + 1, &rival)

    cdef void _store_competitors(self, int64_t number) noexcept nogil:
        """Store the best splits of the features; the very best one is among them."""
        cdef Py_ssize_t i
        for i in range(self.n_best_rivals):
            self.competitors[self.n_competing] = self.best_rivals[i]
            self.competitors[self.n_competing].gain *= self.unit_score
            self.n_competing += 1

    cdef Py_ssize_t rank_rival(self, Py_ssize_t most, const Rival* rival) noexcept nogil:
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


cdef inline double threshold_between(double low, double high, double u) noexcept nogil:
    """Return the threshold at the share ``u`` of the way from the least to the largest value."""
    cdef double threshold = low * (1 - u) + high * u
    return threshold if low <= threshold < high else low


cdef inline double x_log_x(double x) noexcept nogil:
    return x * log(x) if x > 0 else 0.0
