"""Weighted medians of the rows of a node, and the absolute deviations from them.

A median of numbers ``y`` with weights ``w`` minimises the loss ``sum_i w_i |y_i - c|``. With the
sums ``W`` and ``S`` of weights and of ``w y`` over the numbers above and below ``c`` the loss is
``(S_above - c W_above) + (c W_below - S_below)``. The loss of each beginning and of each end of the
rows in the order of a feature is wanted.

If the rows have about the same weight, they are taken out of a list in the order of their targets,
one by one, and the median moves along the list: over no more weight than was taken out, so that
``n`` rows cost O(n). Any other weights are put into a Fenwick tree of sums, for O(n log n).
"""

from libc.math cimport fabs, ldexp, rint
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memset

import numpy as np

from sklearn_sl.tree._cells cimport exponent, sort_cells

cdef int EXACT_BITS = 52


cdef class Medians:
    """The targets of the rows of a node, in their order.

    ``y_ranks`` of the field are the ranks of the targets among all rows, one line for each output.
    """

    def __init__(self, field):
        cdef Py_ssize_t n = field.rows.shape[0]
        self.y, self.weight, self.ranks = field.y, field.weight, field.y_ranks
        self.weighted, self.even = field.weight.shape[0] > 0, field.even
        self.n_outputs, self.n_rows = field.n_outputs, 0
        self.cells, self.spare = np.empty((2, n), dtype=np.uint64)
        self.row_at, self.place_of = np.zeros((2, self.n_outputs, n + 2), dtype=np.int32)
        # The places before the first and after the last one stand for none, and count nothing.
        self.target, self.amount, self.mass = np.zeros((3, self.n_outputs, n + 2))
        self.before, self.after = np.zeros((2, n + 2 if self.even else 0), dtype=np.int32)
        self.mass_sums, self.amount_sums = np.zeros((2, 0 if self.even else n + 2))
        self.left_loss, self.right_loss = np.empty((2, n))
        self.left_median, self.right_median = np.empty((2, n))

    cdef uint32_t sort(
        self, const int32_t* rows, Py_ssize_t m, Py_ssize_t output
    ) noexcept nogil:
        """Write cells of the rows in the order of their targets; return the highest rank."""
        cdef Py_ssize_t i
        cdef uint32_t rank, highest = 0
        for i in range(m):
            rank = self.ranks[output, rows[i]]
            highest = max(highest, rank)
            self.cells[i] = <uint64_t> rank << 32 | <uint64_t> i
        sort_cells(&self.cells[0], &self.spare[0], m, highest)
        return highest

    cdef double measure(
        self, const int32_t* rows, Py_ssize_t m, Py_ssize_t output, double* median
    ) noexcept nogil:
        """Set the median of some rows; return the loss, the sum of their absolute deviations.

        Where a half of the weight lies on either side, the median is in the middle of the gap.
        """
        cdef Py_ssize_t i, here = 0
        cdef double w = 1.0, weight = 0, below = 0, loss = 0, unit = 1.0
        self.sort(rows, m, output)
        if self.weighted:
            for i in range(m):
                weight += self.weight[rows[i]]
            # Sums of integers do not depend on their order.
            unit = ldexp(1.0, exponent(1.0, weight, EXACT_BITS))
            weight = 0
            for i in range(m):
                weight += rint(self.weight[rows[i]] * unit)
        else:
            weight = <double> m
        for here in range(m):
            if self.weighted:
                w = rint(self.weight[rows[<uint32_t> self.cells[here]]] * unit)
            below += w
            if 2 * below >= weight:
                break
        median[0] = self.y[rows[<uint32_t> self.cells[here]], output]
        if 2 * below == weight and here + 1 < m:
            median[0] = median[0] / 2 + self.y[rows[<uint32_t> self.cells[here + 1]], output] / 2
        for i in range(m):
            if self.weighted:
                w = self.weight[rows[<uint32_t> self.cells[i]]]
            else:
                w = 1.0
            loss += w * fabs(self.y[rows[<uint32_t> self.cells[i]], output] - median[0])
        return loss

    cdef void arrange(
        self, const int32_t* rows, Py_ssize_t m, const double* target, const double* amount,
        const double* mass,
    ) noexcept nogil:
        """Take the rows of a node: targets, their products with the masses, and the masses.

        All are integers in some unit, row by row, with one column for each output; ``mass`` is NULL
        if all rows have mass one.
        """
        cdef Py_ssize_t i, p, output
        self.n_rows = m
        for output in range(self.n_outputs):
            self.sort(rows, m, output)
            for p in range(1, m + 1):
                i = <uint32_t> self.cells[p - 1]
                self.row_at[output, p] = <int32_t> i
                self.place_of[output, i] = <int32_t> p
                self.target[output, p] = target[i * self.n_outputs + output]
                self.amount[output, p] = amount[i * self.n_outputs + output]
                self.mass[output, p] = mass[i] if mass else 1.0
            self.target[output, m + 1] = self.amount[output, m + 1] = self.mass[output, m + 1] = 0

    cdef void scan(
        self, const uint64_t* cells, Py_ssize_t n, bint missing_left, bint missing_right
    ) noexcept nogil:
        """Write the losses of the first ``i + 1`` of ``n`` cells, and of those after them.

        The other cells of the node, missing values, are with the ones on the left or right, or
        with neither. The medians are those of the last output, in the unit of the targets.
        """
        cdef Py_ssize_t output
        memset(&self.left_loss[0], 0, n * sizeof(double))
        memset(&self.right_loss[0], 0, n * sizeof(double))
        self.loss = 0
        for output in range(self.n_outputs):
            if self.even:
                self._scan_output(output, cells, n, missing_left, missing_right)
            else:
                self._count_up(output, cells, n, missing_left, missing_right)

    # ------------------------------------------------------------ about the same weights

    cdef void _scan_output(
        self, Py_ssize_t output, const uint64_t* cells, Py_ssize_t n, bint missing_left,
        bint missing_right,
    ) noexcept nogil:
        """Take the cells out from the end, and then from the beginning."""
        cdef Py_ssize_t i
        self._fill(output)
        if not (missing_left or missing_right):
            for i in range(n, self.n_rows):
                self._remove(output, cells[i])
        self.loss += self._loss(output)
        if missing_right:
            for i in range(n, self.n_rows):
                self._remove(output, cells[i])
        for i in range(n - 1, -1, -1):
            self.left_loss[i] += self._loss(output)
            self.left_median[i] = self._median(output)
            self._remove(output, cells[i])
        self._fill(output)
        if not missing_right:
            for i in range(n, self.n_rows):
                self._remove(output, cells[i])
        for i in range(n):
            self._remove(output, cells[i])
            self.right_loss[i] += self._loss(output)
            self.right_median[i] = self._median(output)

    cdef void _fill(self, Py_ssize_t output) noexcept nogil:
        """Put all rows into the list."""
        cdef Py_ssize_t p
        self.all_mass, self.all_amount = 0, 0
        for p in range(1, self.n_rows + 1):
            self.all_mass += self.mass[output, p]
            self.all_amount += self.amount[output, p]
            self.before[p], self.after[p] = <int32_t> p - 1, <int32_t> p + 1
        self.after[0], self.before[self.n_rows + 1] = 1, <int32_t> self.n_rows
        self.at, self.lower_mass, self.lower_amount = 1, 0, 0
        self._step(output)

    cdef void _remove(self, Py_ssize_t output, uint64_t cell) noexcept nogil:
        """Take a row out of the list."""
        cdef int32_t p = self.place_of[output, <uint32_t> cell]
        cdef double mass = self.mass[output, p], amount = self.amount[output, p]
        self.all_mass -= mass
        self.all_amount -= amount
        self.before[self.after[p]], self.after[self.before[p]] = self.before[p], self.after[p]
        if p < self.at:
            self.lower_mass -= mass
            self.lower_amount -= amount
        elif p == self.at:
            self.at = self.after[p]
        self._step(output)

    cdef void _step(self, Py_ssize_t output) noexcept nogil:
        """Move to the first place up to which there is half of the mass."""
        cdef Py_ssize_t last = self.n_rows
        while (
            self.at <= last and 2 * (self.lower_mass + self.mass[output, self.at]) < self.all_mass
        ):
            self.lower_mass += self.mass[output, self.at]
            self.lower_amount += self.amount[output, self.at]
            self.at = self.after[self.at]
        while 2 * self.lower_mass >= self.all_mass and self.before[self.at] > 0:
            self.at = self.before[self.at]
            self.lower_mass -= self.mass[output, self.at]
            self.lower_amount -= self.amount[output, self.at]

    # ------------------------------------------------------------ any weights

    cdef void _count_up(
        self, Py_ssize_t output, const uint64_t* cells, Py_ssize_t n, bint missing_left,
        bint missing_right,
    ) noexcept nogil:
        """Put the cells in from the beginning, and then from the end."""
        cdef Py_ssize_t i
        self._clear()
        if missing_left:
            for i in range(n, self.n_rows):
                self._add(output, cells[i])
        for i in range(n):
            self._add(output, cells[i])
            self.at = self._search(False)
            self.left_loss[i] += self._loss(output)
            self.left_median[i] = self._median(output)
        self._clear()
        self.at = 0
        if missing_right:
            for i in range(n, self.n_rows):
                self._add(output, cells[i])
            self.at = self._search(False)
        for i in range(n - 1, -1, -1):
            self.right_loss[i] += self._loss(output)
            self.right_median[i] = self._median(output)
            self._add(output, cells[i])
            self.at = self._search(False)
        if missing_left:
            for i in range(n, self.n_rows):
                self._add(output, cells[i])
            self.at = self._search(False)
        self.loss += self._loss(output)

    cdef void _clear(self) noexcept nogil:
        memset(&self.mass_sums[0], 0, (self.n_rows + 2) * sizeof(double))
        memset(&self.amount_sums[0], 0, (self.n_rows + 2) * sizeof(double))
        self.all_mass, self.all_amount, self.lower_mass, self.lower_amount = 0, 0, 0, 0

    cdef void _add(self, Py_ssize_t output, uint64_t cell) noexcept nogil:
        cdef Py_ssize_t p = self.place_of[output, <uint32_t> cell], here = p
        cdef double mass = self.mass[output, p], amount = self.amount[output, p]
        self.all_mass += mass
        self.all_amount += amount
        while here <= self.n_rows:
            self.mass_sums[here] += mass
            self.amount_sums[here] += amount
            here += here & -here

    cdef Py_ssize_t _search(self, bint strictly) noexcept nogil:
        """Return the first place up to which there is half of the mass, or more than half.

        What is below that place is summed up unless there must be more.
        """
        cdef Py_ssize_t here = 0, step = 1
        cdef double mass = 0, amount = 0, more
        while 2 * step <= self.n_rows:
            step *= 2
        while step:
            if here + step <= self.n_rows:
                more = 2 * (mass + self.mass_sums[here + step])
                if more < self.all_mass or (strictly and more == self.all_mass):
                    here += step
                    mass += self.mass_sums[here]
                    amount += self.amount_sums[here]
            step //= 2
        if not strictly:
            self.lower_mass, self.lower_amount = mass, amount
        return here + 1

    # ------------------------------------------------------------ both

    cdef double _loss(self, Py_ssize_t output) noexcept nogil:
        """Return the loss of the rows that are looked at."""
        cdef double target = self.target[output, self.at]
        return max(
            (self.all_amount - self.lower_amount)
            - target * (self.all_mass - self.lower_mass)
            + (target * self.lower_mass - self.lower_amount),
            0.0,
        )

    cdef double _median(self, Py_ssize_t output) noexcept nogil:
        """Return the median of the rows that are looked at."""
        cdef double target = self.target[output, self.at], mass = self.mass[output, self.at]
        cdef Py_ssize_t other
        if 2 * (self.lower_mass + mass) != self.all_mass:
            return target
        other = self.after[self.at] if self.even else self._search(True)
        return target if other > self.n_rows else (target + self.target[output, other]) / 2
