"""Trials of the learners that keep the hypotheses which have made no mistake.

The hypotheses that remain are the first ``tail[N_LEFT]`` entries of ``left``, in the order in which
they are preferred. A trial costs as many steps as hypotheses remain.
"""

from libc.math cimport isinf, isnan
from libc.stdint cimport int64_t

# The entries of a tail.
cdef enum:
    N_LEFT = 0  # hypotheses that remain
    N_EMPTY = 1  # trials that no hypothesis was left after
    N_PARTIAL = 2  # trials in which a remaining hypothesis abstained
    N_SILENT = 3  # trials in which all of them abstained

TAIL = 4

# What to do when no hypothesis is left: stop, begin again with all, or pass over the trial.
cpdef enum:
    STOP = 0
    RESTART = 1
    KEEP = 2


cdef inline Py_ssize_t _code(double advice, double threshold, Py_ssize_t last) noexcept nogil:
    """Return the class that a number stands for: -1 if it abstains, beyond last for none."""
    cdef double above = advice - threshold
    if isnan(advice):
        return -1
    if isinf(advice):
        return last + 1
    if above < 0:
        return 0
    return last if above >= last - 1 else <Py_ssize_t>above + 1


cdef inline bint _denies(
    int64_t x, bint above, const int64_t[:, ::1] ends, Py_ssize_t k
) noexcept nogil:
    """Return whether all thresholds ``k`` that remain are wrong about a point."""
    return x < ends[k, 0] if above else x > ends[k, 1]


cdef Py_ssize_t _answer(
    const double* advice,
    double threshold,
    Py_ssize_t n_classes,
    bint majority,
    const Py_ssize_t[::1] left,
    Py_ssize_t n_left,
    Py_ssize_t[::1] said,
    Py_ssize_t[::1] votes,
) noexcept nogil:
    """Write what the hypotheses say and how many vote for each class; return the answer.

    ``votes`` has an entry more, for those that say no class. The answer of a majority is the
    class with the most votes, the larger one of a tie; otherwise that of the first hypothesis
    that does not abstain, or the last class.
    """
    cdef Py_ssize_t i, k, winner
    for k in range(n_classes + 1):
        votes[k] = 0
    for i in range(n_left):
        said[i] = _code(advice[left[i]], threshold, n_classes - 1)
        if said[i] >= 0:
            votes[said[i]] += 1
    if majority:
        winner = 0
        for k in range(n_classes):
            if votes[k] >= votes[winner]:
                winner = k
        return winner
    for i in range(n_left):
        if said[i] >= 0:
            return min(said[i], n_classes - 1)
    return n_classes - 1


def sweep(
    const double[:, ::1] advice,
    const Py_ssize_t[::1] codes,
    double threshold,
    bint majority,
    Py_ssize_t when_empty,
    const Py_ssize_t[::1] order,
    Py_ssize_t[::1] left,
    Py_ssize_t[::1] tail,
    Py_ssize_t[::1] said,
    Py_ssize_t[::1] votes,
    Py_ssize_t[::1] answers,
):
    """Play one trial per row; after each, the hypotheses that were wrong are removed.

    Parameters
    ----------
    advice : ndarray of shape (n_rows, n_hypotheses)
        What the hypotheses say: NaN if they abstain, infinite if it is none of the classes.

    codes : ndarray of shape (n_rows,)
        The classes; none at all: only answer.

    threshold : float
        Advice ``a`` is the class ``floor(a - threshold) + 1``, the first or last one if that is
        none.

    majority : bool
        Whether all hypotheses vote; otherwise the first one answers.

    when_empty : int
        STOP, RESTART or KEEP.

    order : ndarray of shape (n_hypotheses,)
        All hypotheses, the preferred ones first.

    left : ndarray of shape (n_hypotheses,)
        Those that remain, changed in place.

    tail : ndarray of shape (TAIL,)
        Changed in place.

    said : ndarray of shape (n_hypotheses,)
        Memory to work with.

    votes : ndarray of shape (n_classes + 1,)
        Memory to work with.

    answers : ndarray of shape (n_rows,)
        The answers before the changes are written here.

    Returns
    -------
    n_played : int
        The number of trials; less than all if no hypothesis is left after the next one.
    """
    cdef Py_ssize_t row, i, n_left, n_voting
    cdef Py_ssize_t n_rows = advice.shape[0], n_classes = votes.shape[0] - 1
    cdef Py_ssize_t played = n_rows
    cdef bint learns = codes.shape[0] > 0
    with nogil:
        for row in range(n_rows):
            answers[row] = _answer(
                &advice[row, 0], threshold, n_classes, majority, left, tail[N_LEFT], said, votes
            )
            if not learns:
                continue
            n_left = n_voting = 0
            for i in range(tail[N_LEFT]):
                n_voting += said[i] >= 0
                n_left += said[i] < 0 or said[i] == codes[row]
            tail[N_PARTIAL] += n_voting < tail[N_LEFT]
            tail[N_SILENT] += n_voting == 0
            if n_left == tail[N_LEFT]:
                continue
            if n_left == 0:
                if when_empty == STOP:
                    played = row
                    break
                tail[N_EMPTY] += 1
                if when_empty == RESTART:
                    left[:] = order
                    tail[N_LEFT] = order.shape[0]
                continue
            n_left = 0
            for i in range(tail[N_LEFT]):
                if said[i] < 0 or said[i] == codes[row]:
                    left[n_left] = left[i]
                    n_left += 1
            tail[N_LEFT] = n_left
    return played


def sweep_grid(
    const int64_t[::1] places,
    const Py_ssize_t[::1] codes,
    Py_ssize_t n_steps,
    Py_ssize_t when_empty,
    int64_t[:, ::1] ends,
    Py_ssize_t[::1] n_empty,
    Py_ssize_t[::1] answers,
):
    """Play one trial per place with the thresholds between the points of a grid.

    In units of half a step the points are ``x = 0, 2, ..., 2 n_steps``, the thresholds are the
    odd numbers from -1 to ``2 n_steps + 1``. Threshold ``k`` says whether the class is above
    ``k``; those that remain are the odd numbers from ``ends[k, 0]`` to ``ends[k, 1]``, and most
    of them lie below ``x`` if ``2 x`` is at least the sum of the ends.

    Parameters
    ----------
    places : ndarray of shape (n_rows,)
        The points ``x / 2``.

    codes : ndarray of shape (n_rows,)
        The classes; none at all: only answer.

    n_steps : int
        The number of steps of the grid.

    when_empty : int
        STOP, RESTART or KEEP.

    ends : ndarray of shape (n_classes - 1, 2)
        Changed in place.

    n_empty : ndarray of shape (n_classes - 1,)
        The number of trials that no threshold was left after, changed in place.

    answers : ndarray of shape (n_rows,)
        The answers before the changes are written here: how many majorities say "above".

    Returns
    -------
    n_played : int
        The number of trials; less than all if no threshold is left after the next one.
    """
    cdef Py_ssize_t row, k, n_rows = places.shape[0], played = n_rows
    cdef int64_t x
    cdef bint above, learns = codes.shape[0] > 0
    with nogil:
        for row in range(n_rows):
            x = 2 * places[row]
            answers[row] = 0
            for k in range(ends.shape[0]):
                answers[row] += 2 * x >= ends[k, 0] + ends[k, 1]
            if not learns:
                continue
            if when_empty == STOP:
                for k in range(ends.shape[0]):
                    if _denies(x, codes[row] > k, ends, k):
                        played = row
                if played == row:
                    break
            for k in range(ends.shape[0]):
                above = codes[row] > k
                if _denies(x, above, ends, k):
                    n_empty[k] += 1
                    if when_empty == RESTART:
                        ends[k, 0], ends[k, 1] = -1, 2 * n_steps + 1
                elif above:
                    ends[k, 1] = min(ends[k, 1], x - 1)
                else:
                    ends[k, 0] = max(ends[k, 0], x + 1)
    return played
