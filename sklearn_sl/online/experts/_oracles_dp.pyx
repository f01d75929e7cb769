"""The best sequence of experts with few shifts, by dynamic programming."""


def extend(
    const double[:, ::1] losses,
    Py_ssize_t trial,
    double[:, ::1] totals,
    Py_ssize_t[:, ::1] starts,
    double[::1] least,
    Py_ssize_t[:, ::1] best_expert,
    Py_ssize_t[:, ::1] best_start,
):
    """Extend the best sequences by one trial for each row of a matrix of losses.

    ``totals[j, i]`` is the least loss of a sequence so far with at most ``j`` shifts that ends
    with expert ``i``, who has been in charge since the trial ``starts[j, i]``. A trial adds its
    loss to the better one of two sequences: the one before that ended with the same expert, and
    the best of all that had one shift less. So only the best sequence for each ``j`` is ever
    continued with another expert, and it is enough to write down who ended it and since when.

    Parameters
    ----------
    losses : ndarray of shape (n_trials, n_experts)
        The losses of the next trials.

    trial : int
        The number of trials before.

    totals, starts : ndarray of shape (n_shifts + 1, n_experts)
        Changed in place; before the first trial they are zeros.

    least : ndarray of shape (n_shifts + 1,)
        Changed in place: the smallest entry of each row of ``totals``.

    best_expert, best_start : ndarray of shape (n_trials, n_shifts + 1)
        For each trial the expert of the smallest entry, and the start of its stretch, are written
        to them.
    """
    cdef Py_ssize_t t, i, j, leader
    cdef Py_ssize_t n_experts = losses.shape[1], n_levels = totals.shape[0]
    cdef double shifted, lowest
    with nogil:
        for t in range(losses.shape[0]):
            # From the largest number of shifts downwards: the level below is still of before.
            for j in range(n_levels - 1, -1, -1):
                if j > 0:
                    shifted = least[j - 1]
                    for i in range(n_experts):
                        if shifted < totals[j, i]:
                            totals[j, i] = shifted
                            starts[j, i] = trial + t
                lowest = totals[j, 0] + losses[t, 0]
                leader = 0
                for i in range(n_experts):
                    totals[j, i] += losses[t, i]
                    if totals[j, i] < lowest:
                        lowest, leader = totals[j, i], i
                least[j] = lowest
                best_expert[t, j] = leader
                best_start[t, j] = starts[j, leader]
