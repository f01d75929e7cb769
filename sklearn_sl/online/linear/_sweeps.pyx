"""Trials of the learners whose weights are sums of samples.

A trial scores a row ``x`` by ``s = w.x + b``, looks at the slope of a :class:`Loss` there, and adds
``step * (x, 1)`` to ``(w, b)``; a :class:`Rule` says how large the step is. The weights are
``w = scale * v``, so that shrinking them costs one multiplication. The sum of the weights of all
trials is ``age * v + u``, so that an average costs nothing in a trial without a step. What a weight
vector has besides ``v`` and ``u`` is its ``tail``; see ``_steps.pxd``.
"""

from libc.float cimport DBL_MAX
from libc.math cimport isfinite, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

from sklearn_sl.online.linear._rows cimport Rows, column_of
from sklearn_sl.online.linear._steps cimport (
    AGE,
    BIAS,
    BIAS_SUM,
    LARGEST2,
    LOSS,
    N_WRONG,
    NORM2,
    SCALE,
    Loss,
    Rule,
    add_times,
    try_step,
)

# Below these, a scale is multiplied into the weights. The sum of the weights is a difference of
# numbers that are larger by the inverse of the scale.
cdef double SMALL = 1e-100
cdef double SMALL_FOR_SUMS = 1e-3
# How many trials before its own a row is asked for, where rows come in random order.
cdef Py_ssize_t AHEAD = 6

# What one weight vector has.
cdef struct Vector:
    double* v
    double* u  # NULL without an average
    double* tail
    double* owed  # of a penalty, what each weight has paid; NULL without it


cdef class Sweep:
    """Trials of some rows with one or several weight vectors, all of which are changed in place.

    Parameters
    ----------
    rows : Rows
        The samples.

    targets : ndarray of shape (n_rows,) or None
        Numbers that the loss compares the scores with.

    codes : ndarray of shape (n_rows,) or None
        Classes in the place of targets. The target of a vector is one for its class, or, of a
        single vector, for class one, and else minus one.

    factors : ndarray of shape (n_vectors, n_classes)
        The weights that the classes have for each vector; without columns these are ones.

    loss : Loss
        Which way to step.

    rule : Rule
        How far to step.

    intercept : bool
        Whether there is a ``b``.

    radius : float
        Weights are shrunk to this norm after each step; infinite if not.

    shrinkage, penalty : float
        After each trial the weights are multiplied by the one, and then pulled towards zero by the
        other, where the row has an entry.

    v, u : ndarray of shape (n_vectors, n_features)
        Weights and the rest of their sum; no columns in ``u``: no sum is kept.

    tails : ndarray of shape (n_vectors, TAIL)
        Their tails.

    biases : ndarray of shape (2, n_vectors)
        The intercepts and their sums, for vectors that change together.

    owed : ndarray of shape (n_vectors, n_features + 1)
        What each weight has paid of the penalty, and what all of it is; no columns: no penalty.

    norms2 : ndarray of shape (n_rows,)
        The squared norms of the rows, negative as long as they are not known.
    """

    cdef readonly Rows rows
    cdef const double[::1] targets
    cdef const Py_ssize_t[::1] codes
    cdef const double[:, ::1] factors
    cdef Loss loss
    cdef Rule rule
    cdef bint intercept
    cdef double radius, shrinkage, penalty
    cdef double[:, ::1] v, u, tails, biases, owed
    cdef double[::1] norms2
    cdef Vector* vectors

    def __init__(
        self,
        Rows rows,
        const double[::1] targets,
        const Py_ssize_t[::1] codes,
        const double[:, ::1] factors,
        Loss loss,
        Rule rule,
        bint intercept,
        double radius,
        double shrinkage,
        double penalty,
        double[:, ::1] v,
        double[:, ::1] u,
        double[:, ::1] tails,
        double[:, ::1] biases,
        double[:, ::1] owed,
        double[::1] norms2,
    ):
        self.rows, self.targets, self.codes, self.factors = rows, targets, codes, factors
        self.loss, self.rule, self.intercept, self.radius = loss, rule, intercept, radius
        self.shrinkage, self.penalty = shrinkage, penalty
        self.v, self.u, self.tails, self.biases, self.owed = v, u, tails, biases, owed
        self.norms2 = norms2
        self._find_vectors()

    def __dealloc__(self):
        free(self.vectors)

    cdef int _find_vectors(self) except -1:
        """Note where each weight vector is."""
        cdef Py_ssize_t k
        free(self.vectors)
        self.vectors = <Vector*>malloc(max(self.v.shape[0], 1) * sizeof(Vector))
        if self.vectors == NULL:
            raise MemoryError("There is no memory for the addresses of weight vectors.")
        for k in range(self.v.shape[0]):
            self.vectors[k].v, self.vectors[k].tail = &self.v[k, 0], &self.tails[k, 0]
            self.vectors[k].u = &self.u[k, 0] if self.u.shape[1] > 0 else NULL
            self.vectors[k].owed = &self.owed[k, 0] if self.owed.shape[1] > 0 else NULL
        return 0

    # ------------------------------------------------------------ each vector for itself

    def play(
        self,
        const Py_ssize_t[::1] order,
        const double[::1] weight,
        const unsigned char[::1] resting,
        Py_ssize_t n_unheard,
        double[:, ::1] scores,
    ):
        """Play trials in which each weight vector learns its own target.

        Parameters
        ----------
        order : ndarray of shape (n_trials,) or None
            The row of each trial; None is one after the other.

        weight : ndarray of shape (n_trials,)
            The weights of the trials; no entries are ones.

        resting : ndarray of shape (n_vectors,)
            Which vectors are asked, but stay as they are.

        n_unheard : int
            So many trials are left out of the sum of the weights.

        scores : ndarray of shape (n_trials, n_vectors)
            The scores before the steps are written here; no rows: they are not.

        Returns
        -------
        n_played : int
            The number of trials; less than all if a score of the next row, or the weights after
            it, are not finite.

        n_mistakes : int
            In how many trials another class had a score as large as that of the true one.
        """
        cdef Py_ssize_t t, row, k, n_vectors = self.v.shape[0], n_mistakes = 0, code = 0
        cdef Py_ssize_t n_trials = self.rows.n_rows if order is None else order.shape[0]
        cdef Py_ssize_t played = n_trials
        cdef bint ordered = order is not None, classes = self.codes is not None
        cdef bint weighted = weight.shape[0] > 0, by_class = self.factors.shape[1] > 0
        cdef bint kept = scores.shape[0] > 0
        cdef double score, target, factor, own, best, other
        cdef bint is_own
        with nogil:
            for t in range(n_trials):
                row = order[t] if ordered else t
                if ordered and t + AHEAD < n_trials:
                    self.rows.ask_for(order[t + AHEAD])
                own, best = 0.0, -DBL_MAX
                if classes:
                    code = self.codes[row]
                for k in range(n_vectors):
                    is_own = code == (1 if n_vectors == 1 else k)
                    target = 2.0 * is_own - 1.0 if classes else self.targets[row]
                    factor = weight[t] if weighted else 1.0
                    if by_class:
                        factor = self.factors[k, code] * factor
                    if not self._try_row(
                        &self.vectors[k],
                        row,
                        target,
                        factor,
                        resting[k],
                        t >= n_unheard,
                        &self.norms2[row],
                        &score,
                    ):
                        played = t
                        break
                    if kept:
                        scores[t, k] = score
                    # No branches: which class it is cannot be foreseen.
                    own += is_own * score
                    other = (1 - is_own) * score - is_own * DBL_MAX
                    best = other if other > best else best
                if played == t:
                    break
                n_mistakes += own <= best
        return played, n_mistakes

    cdef inline bint _try_row(
        self,
        Vector* vector,
        Py_ssize_t row,
        double target,
        double factor,
        bint rests,
        bint heard,
        double* norm2,
        double* score,
    ) noexcept nogil:
        """Play a trial of one vector; return false, and change nothing, if numbers overflow."""
        cdef double slope, value, step = 0.0
        cdef double* tail = vector.tail
        score[0] = tail[SCALE] * self.rows.dot(row, vector.v) + tail[BIAS]
        if not isfinite(score[0]):
            return False
        slope = self.loss.slope(score[0], target, &value)
        if not isfinite(value):
            return False
        if slope != 0 and not rests and not (self.rule.conservative and target * score[0] > 0):
            if norm2[0] < 0:
                norm2[0] = self.rows.norm2(row) + self.intercept
            if not try_step(self.rule, score[0], slope, value, norm2[0], factor, tail, &step):
                return False
        tail[LOSS] += value
        tail[N_WRONG] += target * score[0] <= 0
        if vector.u != NULL and heard:
            tail[AGE] += tail[SCALE]
            tail[BIAS_SUM] += tail[BIAS]
        if self.shrinkage != 1 and not rests:
            self._shrink(vector)
        if step != 0:
            self._step(vector, row, step)
        if vector.owed != NULL and not rests:
            self._pull(vector, row)
        return True

    cdef inline void _step(self, Vector* vector, Py_ssize_t row, double step) noexcept nogil:
        """Add a multiple of a row, and keep the weights in their ball."""
        cdef double* tail = vector.tail
        self.rows.add(row, step / tail[SCALE], vector.v)
        if vector.u != NULL:
            self.rows.add(row, -tail[AGE] * step / tail[SCALE], vector.u)
        if self.intercept:
            tail[BIAS] += step
        if isfinite(self.radius):
            _project(vector, &tail[BIAS], 1, self.v.shape[1], self.radius)
        tail[LARGEST2] = max(tail[LARGEST2], tail[NORM2])

    cdef inline void _shrink(self, Vector* vector) noexcept nogil:
        """Shrink the weights, but not the intercept."""
        cdef double* tail = vector.tail
        cdef double square = tail[BIAS] * tail[BIAS], factor = self.shrinkage
        tail[SCALE] *= factor
        tail[NORM2] = max(tail[NORM2] - square, 0.0) * factor * factor + square
        _keep_in_range(vector, self.v.shape[1])

    cdef inline void _pull(self, Vector* vector, Py_ssize_t row) noexcept nogil:
        """Pull weights towards zero, as far as they have not paid the penalty, but not beyond it.

        Only those where the row has an entry: the others pay when their turn comes.
        """
        cdef const double* values
        cdef const int32_t* narrow
        cdef const int64_t* wide
        cdef Py_ssize_t place, j, n = self.rows.entries(row, &values, &narrow, &wide)
        cdef double* tail = vector.tail
        cdef double* due = vector.owed + self.v.shape[1]
        cdef double before, after, scale = tail[SCALE]
        due[0] += self.penalty
        for place in range(n):
            j = column_of(place, narrow, wide)
            before = after = vector.v[j]
            if before > 0:
                after = max(0.0, before - (due[0] + vector.owed[j]) / scale)
            elif before < 0:
                after = min(0.0, before + (due[0] - vector.owed[j]) / scale)
            if after == before:
                continue
            vector.v[j] = after
            vector.owed[j] += scale * (after - before)
            tail[NORM2] += scale * scale * (after * after - before * before)
            if vector.u != NULL:
                vector.u[j] -= tail[AGE] * (after - before)
        tail[NORM2] = max(tail[NORM2], 0.0)

    # ------------------------------------------------------------ all vectors together

    def play_together(
        self,
        const Py_ssize_t[::1] order,
        const double[::1] weight,
        const int64_t[::1] times,
        Py_ssize_t n_unheard,
        double[:, ::1] scores,
        double[::1] now,
    ):
        """Play trials with a weight vector for each class (Kesler's construction).

        The sample is compared with the vector that has ``x`` at its class and ``-x`` at the best
        other class: its score is the difference of their scores, its target one, its squared norm
        twice that of ``x``. Parameters as in ``play``. A row is presented as often as ``times``
        says (no times are ones), time after time; there is an end to the steps on the way, for
        which ``now`` has room for the scores of a row. All vectors have the first tail.

        Returns
        -------
        n_played : int
            The number of trials; less than all if a score of the next row, or the weights after
            it, are not finite.
        """
        cdef Py_ssize_t t, row, k
        cdef Py_ssize_t n_trials = self.rows.n_rows if order is None else order.shape[0]
        cdef Py_ssize_t played = n_trials
        cdef bint ordered = order is not None, kept = scores.shape[0] > 0
        cdef bint weighted = weight.shape[0] > 0, by_class = self.factors.shape[1] > 0
        cdef int64_t left, taken
        cdef double factor
        with nogil:
            for t in range(n_trials):
                row = order[t] if ordered else t
                if ordered and t + AHEAD < n_trials:
                    self.rows.ask_for(order[t + AHEAD])
                left = times[t] if times.shape[0] > 0 else 1
                factor = weight[t] if weighted else 1.0
                if by_class:
                    factor = self.factors[0, self.codes[row]] * factor
                while left > 0:
                    taken = self._try_classes(row, left, factor, t >= n_unheard, &now[0])
                    if kept and (times.shape[0] == 0 or left == times[t]):
                        for k in range(now.shape[0]):
                            scores[t, k] = now[k]
                    if taken == 0:
                        break
                    left -= taken
                if left > 0:
                    played = t
                    break
        return played

    cdef int64_t _try_classes(
        self, Py_ssize_t row, int64_t left, double factor, bint heard, double* now
    ) noexcept nogil:
        """Present a row to all classes, and write their scores to ``now``.

        Return how many presentations that was: all that are left if there is no step, so that
        there will be none; and zero if numbers are not finite.
        """
        cdef Py_ssize_t k, own = self.codes[row], other = 1 if own == 0 else 0
        cdef Py_ssize_t n_vectors = self.v.shape[0]
        cdef double score, slope, value, step = 0.0, change
        cdef Vector* first = &self.vectors[0]
        cdef double* tail = first.tail
        cdef double* bias = &self.biases[0, 0]
        for k in range(n_vectors):
            now[k] = tail[SCALE] * self.rows.dot(row, &self.v[k, 0]) + bias[k]
        for k in range(n_vectors):
            if not isfinite(now[k]):
                return 0
            if k != own and now[k] > now[other]:
                other = k
        score = now[own] - now[other]
        slope = self.loss.slope(score, 1.0, &value)
        if not isfinite(value):
            return 0
        if slope != 0 and not (self.rule.conservative and score > 0):
            if not try_step(
                self.rule,
                score,
                slope,
                value,
                2 * (self.rows.norm2(row) + self.intercept),
                factor,
                tail,
                &step,
            ):
                return 0
        if step != 0:
            left = 1
        add_times(&tail[LOSS], value, left)
        tail[N_WRONG] += left * (score <= 0)
        heard = heard and first.u != NULL
        if heard:
            tail[AGE] += left * tail[SCALE]
            for k in range(n_vectors):
                add_times(&self.biases[1, k], bias[k], left)
        if step == 0:
            return left
        change = step / tail[SCALE]
        self.rows.add(row, change, &self.v[own, 0])
        self.rows.add(row, -change, &self.v[other, 0])
        if first.u != NULL:
            self.rows.add(row, -tail[AGE] * change, &self.u[own, 0])
            self.rows.add(row, tail[AGE] * change, &self.u[other, 0])
        if self.intercept:
            bias[own] += step
            bias[other] -= step
        if isfinite(self.radius):
            _project(first, bias, n_vectors, n_vectors * self.v.shape[1], self.radius)
        tail[LARGEST2] = max(tail[LARGEST2], tail[NORM2])
        return left


cdef inline void _project(
    Vector* vector, double* bias, Py_ssize_t n_biases, Py_ssize_t n, double radius
) noexcept nogil:
    """Shrink ``n`` weights, and intercepts, to the ball of a radius."""
    cdef Py_ssize_t k
    cdef double factor
    cdef double* tail = vector.tail
    if tail[NORM2] > radius * radius:
        factor = radius / sqrt(tail[NORM2])
        tail[SCALE] *= factor
        for k in range(n_biases):
            bias[k] *= factor
        tail[NORM2] = radius * radius
    _keep_in_range(vector, n)


cdef inline void _keep_in_range(Vector* vector, Py_ssize_t n) noexcept nogil:
    """Multiply a small scale into the ``n`` weights."""
    cdef Py_ssize_t j
    cdef double* tail = vector.tail
    if tail[SCALE] >= (SMALL_FOR_SUMS if vector.u != NULL else SMALL):
        return
    if vector.u != NULL:
        for j in range(n):
            vector.u[j] += tail[AGE] * vector.v[j]
    for j in range(n):
        vector.v[j] *= tail[SCALE]
    tail[AGE], tail[SCALE] = 0.0, 1.0
