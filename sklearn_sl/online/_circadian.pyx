"""Trials of experts that are awake or asleep, each task with its own hours."""

from libc.math cimport isnan

# No weight falls below this: it could not rise again, and products of two stay above zero.
cdef double FLOOR = 1e-150


cdef Py_ssize_t _code(double advice, double threshold, Py_ssize_t last) noexcept nogil:
    """Return the class that a number stands for; -1 if the expert is silent."""
    cdef double above = advice - threshold
    if isnan(above):
        return -1
    if above < 0:
        return 0
    return last if above >= last - 1 else <Py_ssize_t>above + 1


cdef double _vote(
    const double[::1] advice,
    double threshold,
    const double[::1] trust,
    const double[::1] awake,
    int[::1] said,
    double[::1] votes,
) noexcept nogil:
    """Write what the experts say and the weight behind each class; return that of all classes."""
    cdef Py_ssize_t h, k, n_classes = votes.shape[0]
    cdef double total = 0.0
    for k in range(n_classes):
        votes[k] = 0.0
    for h in range(trust.shape[0]):
        said[h] = <int>_code(advice[h], threshold, n_classes - 1)
        if said[h] >= 0:
            votes[said[h]] += trust[h] * awake[h]
    for k in range(n_classes):
        total += votes[k]
    return total


cdef void _share(double total, double[::1] votes) noexcept nogil:
    """Divide votes by their sum; equal shares if there are none."""
    cdef Py_ssize_t k
    for k in range(votes.shape[0]):
        votes[k] = votes[k] / total if total > 0 else 1.0 / votes.shape[0]


cdef void _learn(
    double gain_right,
    double gain_wrong,
    Py_ssize_t code,
    double theta,
    double phi,
    const int[::1] said,
    double[::1] trust,
    double[::1] awake,
) noexcept nogil:
    cdef Py_ssize_t h
    cdef double gain, after, rest
    for h in range(trust.shape[0]):
        gain = 1.0 if said[h] < 0 else gain_right if said[h] == code else gain_wrong
        after = gain * awake[h]
        rest = 1.0 - awake[h]
        trust[h] = max(trust[h] * (rest + after), FLOOR)
        if rest + after > 0:
            awake[h] = max((phi * rest + theta * after) / (rest + after), FLOOR)
        else:  # awake for sure, but for a loss that leaves nothing
            awake[h] = theta


def answer(
    const double[:, ::1] advice,
    const Py_ssize_t[::1] tasks,
    double threshold,
    const double[::1] trust,
    const double[:, ::1] awake,
    int[::1] said,
    double[:, ::1] answers,
):
    """Answer without learning; parameters as in :func:`sweep`."""
    cdef Py_ssize_t row
    cdef double total
    with nogil:
        for row in range(advice.shape[0]):
            total = _vote(advice[row], threshold, trust, awake[tasks[row]], said, answers[row])
            _share(total, answers[row])


def sweep(
    const double[:, ::1] advice,
    const Py_ssize_t[::1] tasks,
    const Py_ssize_t[::1] codes,
    double threshold,
    double decay,
    double theta,
    double phi,
    double[::1] trust,
    double[:, ::1] awake,
    int[::1] said,
    double[:, ::1] answers,
):
    """Play one trial per row.

    Expert ``h`` has the weight ``trust[h]``, and with probability ``awake[i, h]`` it is awake in
    task ``i``. The shares of the experts in a trial of this task are the products of both. The
    awake part of an expert that is wrong is multiplied by ``decay``, and the awake parts of all
    are multiplied so that their sum stays what it was. Then an expert that is awake stays so
    with probability ``theta``, and one that is asleep wakes up with probability ``phi``.

    Parameters
    ----------
    advice : ndarray of shape (n_rows, n_experts)
        What the experts say; NaN if nothing, and their weights stay as they are.

    tasks : ndarray of shape (n_rows,)
        The task of each trial, a row of ``awake``.

    codes : ndarray of shape (n_rows,)
        The classes.

    threshold : float
        Advice ``a`` is the class ``floor(a - threshold) + 1``, the first or last one if that is
        none.

    decay, theta, phi : float
        See above.

    trust : ndarray of shape (n_experts,)
        Changed in place.

    awake : ndarray of shape (n_tasks, n_experts)
        Changed in place.

    said : ndarray of shape (n_experts,)
        Memory to work with.

    answers : ndarray of shape (n_rows, n_classes)
        The share of the weights behind each class before the changes is written here; equal
        shares if nobody says anything.
    """
    cdef Py_ssize_t row, k, task
    cdef double total, right, wrong, gain_right, gain_wrong
    with nogil:
        for row in range(advice.shape[0]):
            task = tasks[row]
            total = _vote(advice[row], threshold, trust, awake[task], said, answers[row])
            right, wrong = answers[row, codes[row]], 0.0
            for k in range(answers.shape[1]):
                if k != codes[row]:
                    wrong += answers[row, k]
            gain_right = gain_wrong = 1.0
            if right > 0:  # if all are wrong they lose the same, which changes nothing
                gain_right = total / (right + decay * wrong)
                gain_wrong = decay * gain_right
            _learn(gain_right, gain_wrong, codes[row], theta, phi, said, trust, awake[task])
            _share(total, answers[row])
