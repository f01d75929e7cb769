"""Trials of Winnow, whose weights are powers of two of sums of samples.

Sums are kept, weights follow from them: they cannot drift, and sums do not overflow. A weight
changes only where a sample has an entry, so that a trial with a sparse row costs its entries.
"""

cimport cython
from libc.math cimport fabs, floor, fmax, isfinite
from libc.stdint cimport int32_t, int64_t

from sklearn_sl.online.linear._rows cimport Rows, column_of

# Numbers below this may be added up for ever.
cdef double HUGE = 1e290


cdef extern from "../_exponentials.h" nogil:
    void sl_exp2(Py_ssize_t n, const double* x, double* out)


cdef extern from "_multiplicative_loops.h" nogil:
    double sl_dot_signs(Py_ssize_t n, const double* x, const double* w, long long* signs)
    bint sl_step_bits(
        Py_ssize_t n,
        const double* x,
        double sign,
        double factor,
        double low,
        double high,
        double* sums,
        double* weights,
    )


# The entries of the tail of Winnow. GIANTS: whether there may be a weight above 2^LIMIT.
cdef enum:
    PROMOTIONS = 0
    DEMOTIONS = 1
    GIANTS = 2

WINNOW_TAIL = 3
# Scores of so small a part of the threshold are differences of rounding.
TIE = 1e-12
cdef double _TIE = TIE
# Weights whose binary logarithm is above this have no double: samples with such a weight are
# scored with weights that are relative to the largest one.
LIMIT = 512.0
cdef double _LIMIT = LIMIT
# Between these, a product with a power of two is exact, and below the limit.
cdef double LOW = 2.0**-1000
cdef double HIGH = 2.0**512


@cython.final
cdef class Weights:
    """The weights of Winnow, one vector or one for each class.

    With the sums ``z`` of signed samples, a weight is ``2^(rate z)``, or
    ``2^(rate z) - 2^(-rate z)`` if balanced.

    Parameters
    ----------
    sums, weights : ndarray of shape (n_vectors, n_weights)
        The sums and the weights, capped at ``2^LIMIT``; both are changed in place. The number of
        weights is that of features, or one more, for a feature that is always one.

    tail : ndarray of shape (WINNOW_TAIL,)
        Changed in place.

    buffers : ndarray of shape (2, n_weights)
        Scratch.

    rate : float
        The binary logarithm of the factor of a promotion.

    balanced : bool
        Whether there are negative weights.

    threshold : float
        What is subtracted from scores.

    powers : ndarray of shape (2 * most + 1,)
        The weights of the sums ``-most, ..., most``, to the last bit; empty if those that are
        computed are exact. Scores that differ from zero by rounding are zero then.
    """

    cdef double[:, ::1] sums
    cdef double[:, ::1] weights
    cdef double[::1] tail
    cdef double[:, ::1] buffers
    cdef double rate
    cdef double factor  # of a promotion, if multiplications are exact; else zero
    cdef double threshold
    cdef const double[::1] powers
    cdef bint balanced
    cdef Py_ssize_t n_vectors

    def __init__(
        self,
        double[:, ::1] sums,
        double[:, ::1] weights,
        double[::1] tail,
        double[:, ::1] buffers,
        double rate,
        bint balanced,
        double threshold,
        const double[::1] powers,
    ):
        self.sums, self.weights, self.tail, self.buffers = sums, weights, tail, buffers
        self.powers = powers
        self.rate, self.balanced, self.threshold = rate, balanced, threshold
        self.n_vectors = sums.shape[0]
        self.factor = 2.0**rate if not balanced and rate == int(rate) and rate < 100 else 0.0
        cdef Py_ssize_t k, j
        if tail[GIANTS]:
            tail[GIANTS] = 0
            for k in range(self.n_vectors):
                for j in range(sums.shape[1]):
                    if self.height(k, j) > _LIMIT:
                        tail[GIANTS] = 1

    cdef inline double height(self, Py_ssize_t k, Py_ssize_t j) noexcept nogil:
        """Return the binary logarithm of a weight, of the larger one if balanced."""
        cdef double log_weight = self.rate * self.sums[k, j]
        return fabs(log_weight) if self.balanced else log_weight

    cdef void exponentiate(self, Py_ssize_t n, double peak) noexcept nogil:
        """Turn the logarithms in the first buffer into weights relative to ``2^peak``."""
        cdef double* logs = &self.buffers[0, 0]
        cdef double* others = &self.buffers[1, 0]
        cdef Py_ssize_t e
        if self.balanced:
            for e in range(n):
                others[e] = min(-logs[e] - peak, _LIMIT)
            sl_exp2(n, others, others)
        for e in range(n):
            logs[e] = min(logs[e] - peak, _LIMIT)
        sl_exp2(n, logs, logs)
        if self.balanced:
            for e in range(n):
                logs[e] -= others[e]

    cdef inline double exact(self, double total, double computed) noexcept nogil:
        """Return the weight of a sum, to the last bit if it is among the powers."""
        cdef Py_ssize_t most = self.powers.shape[0] // 2
        if not fabs(total) <= most or total != floor(total):
            return computed
        if self.balanced:
            return self.powers[most + <Py_ssize_t>total] - self.powers[most - <Py_ssize_t>total]
        return self.powers[most + <Py_ssize_t>total]

    cdef bint score(self, Rows rows, Py_ssize_t row, double* scores) noexcept nogil:
        """Write the score of a row for each vector, in common units of a power of two.

        Return whether all of them are finite, and no entry is negative unless the weights may be.
        """
        cdef const double* values
        cdef const int32_t* narrow
        cdef const int64_t* wide
        cdef Py_ssize_t e, k, last = rows.n_features
        cdef Py_ssize_t n = rows.entries(row, &values, &narrow, &wide)
        cdef bint dense = narrow == NULL and wide == NULL, intercept = self.sums.shape[1] > last
        cdef bint fine = True
        cdef long long signs = 0
        for k in range(self.n_vectors):
            if dense:
                scores[k] = sl_dot_signs(n, values, &self.weights[k, 0], &signs)
            else:
                scores[k] = rows.dot(row, &self.weights[k, 0])
            if intercept:
                scores[k] += self.weights[k, last]
            scores[k] -= self.threshold
            if self.powers.shape[0] > 0 and fabs(scores[k]) <= _TIE * self.threshold:
                scores[k] = 0.0
        if self.tail[GIANTS]:
            self.score_giants(rows, row, scores)
        for k in range(self.n_vectors):
            fine = fine and isfinite(scores[k])
        # The joined sign bits do not tell zeros from minus zeros.
        if not self.balanced and (signs < 0 or not dense):
            for e in range(n):
                fine = fine and not values[e] < 0
        return fine

    cdef bint bears(self, Rows rows, Py_ssize_t row) noexcept nogil:
        """Return whether sums of entries like these stay finite, however many they are."""
        cdef const double* values
        cdef const int32_t* narrow
        cdef const int64_t* wide
        cdef Py_ssize_t e, n = rows.entries(row, &values, &narrow, &wide)
        cdef double largest = 0.0
        for e in range(n):
            largest = max(largest, fabs(values[e]))
        return self.rate * largest < HUGE

    cdef void score_giants(self, Rows rows, Py_ssize_t row, double* scores) noexcept nogil:
        """Correct the scores of a row that has a weight above the limit."""
        cdef const double* values
        cdef const int32_t* narrow
        cdef const int64_t* wide
        cdef Py_ssize_t e, k, last = rows.n_features
        cdef Py_ssize_t n = rows.entries(row, &values, &narrow, &wide)
        cdef bint intercept = self.sums.shape[1] > last
        cdef double peak = 0.0
        for k in range(self.n_vectors):
            for e in range(n):
                if values[e] != 0:
                    peak = fmax(peak, self.height(k, column_of(e, narrow, wide)))
            if intercept:
                peak = fmax(peak, self.height(k, last))
        if not peak > _LIMIT:
            return
        # The largest weight of the row becomes 2^LIMIT: no row without giants scores higher.
        peak -= _LIMIT
        for k in range(self.n_vectors):
            for e in range(n):
                self.buffers[0, e] = self.rate * self.sums[k, column_of(e, narrow, wide)]
            if intercept:
                self.buffers[0, n] = self.rate * self.sums[k, last]
            self.exponentiate(n + intercept, peak)
            scores[k] = self.buffers[0, n] if intercept else 0.0
            for e in range(n):
                scores[k] += values[e] * self.buffers[0, e]
            self.buffers[0, 0] = -peak
            sl_exp2(1, &self.buffers[0, 0], &self.buffers[0, 0])
            scores[k] -= self.threshold * self.buffers[0, 0]

    cdef void step(self, Rows rows, Py_ssize_t row, Py_ssize_t k, double sign) noexcept nogil:
        """Promote (``sign = 1``) or demote a vector along a row."""
        cdef const double* values
        cdef const int32_t* narrow
        cdef const int64_t* wide
        cdef Py_ssize_t e, last = rows.n_features
        cdef Py_ssize_t n = rows.entries(row, &values, &narrow, &wide)
        cdef bint intercept = self.sums.shape[1] > last
        cdef bint dense = narrow == NULL and wide == NULL
        cdef double* sums = &self.sums[k, 0]
        cdef double* weights = &self.weights[k, 0]
        cdef double* logs = &self.buffers[0, 0]
        cdef double highest = 0.0
        self.tail[PROMOTIONS if sign > 0 else DEMOTIONS] += 1
        if dense and self.factor > 0 and not intercept:
            if sl_step_bits(
                n, values, sign, self.factor if sign > 0 else 1 / self.factor, LOW, HIGH, sums,
                weights,
            ):
                return
        elif dense:
            for e in range(n):
                sums[e] += sign * values[e]
        else:
            for e in range(n):
                sums[column_of(e, narrow, wide)] += sign * values[e]
        if intercept:
            sums[last] += sign
            logs[n] = self.rate * sums[last]
        if dense:
            for e in range(n):
                logs[e] = self.rate * sums[e]
        else:
            for e in range(n):
                logs[e] = self.rate * sums[column_of(e, narrow, wide)]
        for e in range(n + intercept):
            highest = max(highest, fabs(logs[e]) if self.balanced else logs[e])
        if highest > _LIMIT:
            self.tail[GIANTS] = 1
        self.exponentiate(n + intercept, 0.0)
        if self.powers.shape[0] > 0:
            for e in range(n):
                logs[e] = self.exact(sums[column_of(e, narrow, wide)], logs[e])
            if intercept:
                logs[n] = self.exact(sums[last], logs[n])
        if dense:
            for e in range(n):
                weights[e] = logs[e]
        else:
            for e in range(n):
                weights[column_of(e, narrow, wide)] = logs[e]
        if intercept:
            weights[last] = logs[n]


def sweep_winnow(
    Rows rows,
    const Py_ssize_t[::1] codes,
    Weights weights,
    bint together,
    bint flipped,
    double[:, ::1] scores,
):
    """Play one trial per row with Winnow.

    One vector says yes to the class 1 if its score is at least zero; several vectors do so each
    to its own class. A vector that says no to its class is promoted, one that says yes to another
    class is demoted.

    Parameters
    ----------
    rows : Rows
        The samples.

    codes : ndarray of shape (n_rows,)
        Their classes.

    weights : Weights
        Changed in place.

    together : bool
        Whether the vector of the true class is promoted and that of the best other class demoted
        if the former has not the larger score, and no others.

    flipped : bool
        Whether a vector says yes to everything but its class: its score is negated.

    scores : ndarray of shape (n_rows, n_vectors)
        The scores before the steps are written here.

    Returns
    -------
    n_played : int
        The number of trials; less than all if a score of the next row is not finite, or if it has
        a negative entry where this is not allowed.
    """
    cdef Py_ssize_t row, k, own, other, n_vectors = weights.n_vectors, played = rows.n_rows
    cdef bint wanted
    cdef double* score
    with nogil:
        for row in range(rows.n_rows):
            score = &scores[row, 0]
            if not weights.score(rows, row, score):
                played = row
                break
            own = codes[row]
            if together:
                other = 1 if own == 0 else 0
                for k in range(n_vectors):
                    if k != own and score[k] > score[other]:
                        other = k
                if score[own] <= score[other]:
                    if not weights.bears(rows, row):
                        played = row
                        break
                    weights.step(rows, row, own, 1.0)
                    weights.step(rows, row, other, -1.0)
                continue
            for k in range(n_vectors):
                wanted = ((own == 1) if n_vectors == 1 else (own == k)) != flipped
                if (score[k] >= 0) != wanted:
                    if not weights.bears(rows, row):
                        played = row
                        break
                    weights.step(rows, row, k, 1.0 if wanted else -1.0)
                if flipped:
                    score[k] = -score[k]
            if played == row:
                break
    return played


def score_winnow(Rows rows, Weights weights, double[:, ::1] scores):
    """Write the scores of all rows, in units of a power of two that is common to a row."""
    cdef Py_ssize_t row
    with nogil:
        for row in range(rows.n_rows):
            weights.score(rows, row, &scores[row, 0])
