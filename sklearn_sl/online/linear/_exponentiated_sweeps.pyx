"""Trials of exponentiated gradients, whose weights are exponentials of sums of samples.

Sums are kept, weights follow from them: they cannot drift, and sums do not overflow. A weight
changes only where a sample has an entry, so that a trial with a sparse row costs its entries.
"""

from libc.math cimport fabs, isfinite, sqrt
from libc.stdint cimport int32_t, int64_t

from sklearn_sl.online.linear._rows cimport Rows, column_of
from sklearn_sl.online.linear._steps cimport Loss

# Numbers below this may be added up for ever.
cdef double HUGE = 1e290


cdef extern from "../_exponentials.h" nogil:
    void sl_exp(Py_ssize_t n, const double* x, double* out)


cdef extern from "_multiplicative_loops.h" nogil:
    double sl_weigh(
        Py_ssize_t n,
        double eta,
        bint both,
        const double* sums,
        double* weights,
        double* masses,
        double* shift,
    )


# The entries of the tail of exponentiated gradients. Masses are relative to exp(SHIFT), TOTAL is
# their sum, TOP the largest it was since all of them were computed, WORK the number that changed
# since. LEVEL is the variation for which the learning rate is tuned.
cdef enum:
    ETA = 0
    SHIFT = 1
    TOTAL = 2
    TOP = 3
    WORK = 4
    LEVEL = 5
    VARIATION = 6  # sum of the squared largest entries of the gradients
    RATED_VARIATION = 7  # the same, each times the learning rate of its trial
    PAID = 8  # sum of the gradients times the weights
    LAST_ETA = 9  # the learning rate of the last trial with a gradient
    N_GRADIENTS = 10

GRADIENT_TAIL = 11
# By what the level exceeds the variation when it is set anew.
cdef double HEADROOM = 1.25
# Exponents above this, relative to the shift, call for a new one; so does a total that is less than
# this share of what it was.
cdef double HIGHEST = 300.0
cdef double FADED = 1.0 / 16
# Squared gradients below this are nothing.
cdef double TINY = 1e-290


cdef void _weigh(
    double[::1] sums,
    double[::1] weights,
    double[::1] masses,
    double[::1] tail,
    bint both,
) noexcept nogil:
    """Compute all weights anew; the largest one is one."""
    cdef double* mass = &masses[0] if both else NULL
    tail[TOTAL] = sl_weigh(
        sums.shape[0], tail[ETA], both, &sums[0], &weights[0], mass, &tail[SHIFT]
    )
    tail[TOP] = tail[TOTAL]
    tail[WORK] = 0


def weigh(double[::1] sums, double[::1] weights, double[::1] masses, double[::1] tail, bint both):
    """Compute all weights anew; parameters as in ``sweep_gradient``."""
    _weigh(sums, weights, masses, tail, both)


def sweep_gradient(
    Rows rows,
    const double[:] targets,
    Loss loss,
    bint conservative,
    bint adaptive,
    bint both,
    double radius,
    double log_weights,
    double[::1] sums,
    double[::1] weights,
    double[::1] masses,
    double[::1] tail,
    double[:, ::1] buffers,
    double[:, ::1] scores,
    Py_ssize_t column,
):
    """Play one trial per row with the exponentiated gradient.

    The score is ``radius * weights.x / total``. With the sum ``G`` of the gradients so far, a
    weight is proportional to ``exp(-eta G)``, or to ``exp(-eta G) - exp(eta G)`` if there are
    weights of both signs.

    Parameters
    ----------
    rows : Rows
        The samples.

    targets : ndarray of shape (n_rows,)
        Numbers, or 1 and -1.

    loss : Loss
        Whose gradients are followed.

    conservative : bool
        Whether to learn only where the target times the score is not positive.

    adaptive : bool
        Whether the learning rate follows the variation.

    both : bool
        Whether there are weights of both signs.

    radius : float
        The sum of all weights.

    log_weights : float
        The logarithm of the number of weights.

    sums, weights, masses : ndarray of shape (n_weights,)
        The sums of gradients, and the weights and their absolute sums, relative to a common
        factor; changed in place. The masses are not used unless ``both``. The number of weights is
        that of features, or one more, for a feature that is always one.

    tail : ndarray of shape (GRADIENT_TAIL,)
        Changed in place.

    buffers : ndarray of shape (2, n_weights)
        Scratch.

    scores : ndarray of shape (n_rows, n_scores)
        The scores before the steps are written to one of its columns.

    column : int
        Which one.

    Returns
    -------
    n_played : int
        The number of trials; less than all if the score or the gradient of the next row is not
        finite.
    """
    cdef Py_ssize_t row, e, n, played = rows.n_rows
    cdef Py_ssize_t last = rows.n_features, n_weights = sums.shape[0]
    cdef bint intercept = n_weights > last, anew
    cdef const double* values
    cdef const int32_t* narrow
    cdef const int64_t* wide
    cdef double score, slope, value, largest, square
    with nogil:
        for row in range(rows.n_rows):
            score = rows.dot(row, &weights[0])
            if intercept:
                score += weights[last]
            score *= radius / tail[TOTAL]
            scores[row, column] = score
            if not isfinite(score):
                played = row
                break
            if conservative and targets[row] * score > 0:
                continue
            slope = loss.slope(score, targets[row], &value)
            if slope == 0.0:
                continue
            n = rows.entries(row, &values, &narrow, &wide)
            largest = 1.0 if intercept else 0.0
            for e in range(n):
                largest = max(largest, fabs(values[e]))
            largest *= fabs(slope)
            square = largest * largest
            if not (square < HUGE and tail[ETA] * largest < HUGE):
                played = row
                break
            if square < TINY:
                continue
            for e in range(n):
                sums[column_of(e, narrow, wide)] += slope * values[e]
            if intercept:
                sums[last] += slope
            tail[PAID] += slope * score
            tail[VARIATION] += square
            anew = adaptive and tail[VARIATION] > tail[LEVEL]
            if anew and tail[LEVEL] == 0.0:
                # All weights were equal, with this learning rate as with any other.
                _tune(tail, log_weights)
            tail[RATED_VARIATION] += tail[ETA] * square
            tail[LAST_ETA] = tail[ETA]
            tail[N_GRADIENTS] += 1
            if anew:
                _tune(tail, log_weights)
            # Entries alone, unless as many weights have changed since as there are in all.
            tail[WORK] += n + intercept
            if (
                anew
                or tail[WORK] >= n_weights
                or not _reweigh(rows, row, sums, weights, masses, tail, buffers, both)
            ):
                _weigh(sums, weights, masses, tail, both)
    return played


cdef inline void _tune(double[::1] tail, double log_weights) noexcept nogil:
    """Set the learning rate for the variation so far and somewhat more."""
    if tail[VARIATION] > tail[LEVEL]:
        tail[LEVEL] = HEADROOM * tail[VARIATION]
        tail[ETA] = sqrt(log_weights / tail[LEVEL])


cdef bint _reweigh(
    Rows rows,
    Py_ssize_t row,
    double[::1] sums,
    double[::1] weights,
    double[::1] masses,
    double[::1] tail,
    double[:, ::1] buffers,
    bint both,
) noexcept nogil:
    """Compute the weights of the entries of a row anew, and change the total by as much.

    Return whether this is accurate: whether no weight has become far too large for the shift, and
    the total is no small rest of a larger one.
    """
    cdef const double* values
    cdef const int32_t* narrow
    cdef const int64_t* wide
    cdef Py_ssize_t e, j, last = rows.n_features
    cdef Py_ssize_t n = rows.entries(row, &values, &narrow, &wide)
    cdef bint intercept = sums.shape[0] > last
    cdef double* plus = &buffers[0, 0]
    cdef double* minus = &buffers[1, 0]
    cdef double power, highest = 0.0
    for e in range(n + intercept):
        j = column_of(e, narrow, wide) if e < n else last
        power = tail[ETA] * sums[j]
        plus[e] = -power - tail[SHIFT]
        minus[e] = power - tail[SHIFT]
        highest = max(highest, max(plus[e], minus[e]) if both else plus[e])
    if highest > HIGHEST:
        return False
    sl_exp(n + intercept, plus, plus)
    if both:
        sl_exp(n + intercept, minus, minus)
    for e in range(n + intercept):
        j = column_of(e, narrow, wide) if e < n else last
        if both:
            tail[TOTAL] += (plus[e] + minus[e]) - masses[j]
            masses[j] = plus[e] + minus[e]
            weights[j] = plus[e] - minus[e]
        else:
            tail[TOTAL] += plus[e] - weights[j]
            weights[j] = plus[e]
    tail[TOP] = max(tail[TOP], tail[TOTAL])
    return tail[TOTAL] > FADED * tail[TOP]
