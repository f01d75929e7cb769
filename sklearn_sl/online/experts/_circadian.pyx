"""Trials of experts that are awake or asleep, each task with its own hours."""

cdef extern from "_circadian_loops.h" nogil:
    enum:
        SL_LANES
    void sl_hear(
        Py_ssize_t n, const double* advice, double threshold, double last, double* said
    )
    double sl_behind(
        Py_ssize_t n, double code, const double* said, const double* trust, const double* awake
    )
    void sl_change(
        Py_ssize_t n, double code, double right, double wrong, double theta, double phi,
        const double* said, double* trust, double* awake
    )

# The number of experts, with silent ones at the end, is a multiple of this.
LANES = SL_LANES
# The votes of so many classes are added up one class after the other, of more all at once.
cdef Py_ssize_t FEW = 8


cdef double _vote(
    const double* advice,
    double threshold,
    const double[::1] trust,
    const double* awake,
    double[::1] said,
    double[::1] votes,
) noexcept nogil:
    """Write what the experts say and the weight behind each class; return that of all classes."""
    cdef Py_ssize_t h, k, n = trust.shape[0], n_classes = votes.shape[0]
    cdef double total = 0.0
    sl_hear(n, advice, threshold, n_classes - 1, &said[0])
    for k in range(n_classes):
        votes[k] = sl_behind(n, k, &said[0], &trust[0], awake) if n_classes <= FEW else 0.0
    if n_classes > FEW:
        for h in range(n):
            if said[h] >= 0:
                votes[<Py_ssize_t>said[h]] += trust[h] * awake[h]
    for k in range(n_classes):
        total += votes[k]
    return total


cdef void _share(double total, double[::1] votes) noexcept nogil:
    """Divide votes by their sum; equal shares if there are none."""
    cdef Py_ssize_t k
    for k in range(votes.shape[0]):
        votes[k] = votes[k] / total if total > 0 else 1.0 / votes.shape[0]


def answer(
    const double[:, ::1] advice,
    const Py_ssize_t[::1] tasks,
    double threshold,
    const double[::1] trust,
    const double[:, ::1] awake,
    double[::1] said,
    double[:, ::1] answers,
):
    """Answer without learning; parameters as in :func:`sweep`."""
    cdef Py_ssize_t row
    cdef double total
    with nogil:
        for row in range(advice.shape[0]):
            total = _vote(
                &advice[row, 0], threshold, trust, &awake[tasks[row], 0], said, answers[row]
            )
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
    double[::1] said,
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
            total = _vote(
                &advice[row, 0], threshold, trust, &awake[task, 0], said, answers[row]
            )
            right, wrong = answers[row, codes[row]], 0.0
            for k in range(answers.shape[1]):
                if k != codes[row]:
                    wrong += answers[row, k]
            gain_right = gain_wrong = 1.0
            if right > 0:  # if all are wrong they lose the same, which changes nothing
                gain_right = total / (right + decay * wrong)
                gain_wrong = decay * gain_right
            sl_change(
                trust.shape[0], codes[row], gain_right, gain_wrong, theta, phi, &said[0], &trust[0],
                &awake[task, 0],
            )
            _share(total, answers[row])
