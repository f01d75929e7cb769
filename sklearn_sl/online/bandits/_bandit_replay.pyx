"""Rounds of the bandits: an arm is chosen, and only its loss is looked at.

A round is two steps, to choose and to learn, which :func:`replay_exp3` and :func:`replay_ucb1`
take in turn: whoever takes them one by one ends with the same bits.
"""

from libc.math cimport exp, log, sqrt

cdef extern from "../_exponentials.h" nogil:
    void sl_exp(Py_ssize_t n, const double* x, double* out)

# The entries of a tail. BASE is what has been subtracted from all estimates in the exponents of
# the weights. PATH is the sum of eta v l^2 / 2 + gamma l over the rounds, with the estimated loss
# l of the chosen arm and its probability v; LOSS is the sum of the losses as they came.
cdef enum:
    BASE = 0
    PATH = 1
    LOSS = 2

TAIL = 3
# A sum of weights below this calls for a new base.
cdef double FADED = 1e-50
# A weight below this is none: its arm could have no finite estimate.
cdef double NOTHING = 1e-200


cdef double _total(const double[::1] weights) noexcept nogil:
    cdef Py_ssize_t i
    cdef double total = 0.0
    for i in range(weights.shape[0]):
        total += weights[i]
    return total


cdef void _weigh(
    double eta, const double[::1] estimates, double[::1] tail, double[::1] weights
) noexcept nogil:
    """Compute all weights anew; the largest one is one."""
    cdef Py_ssize_t i
    tail[BASE] = estimates[0]
    for i in range(1, estimates.shape[0]):
        tail[BASE] = min(tail[BASE], estimates[i])
    for i in range(estimates.shape[0]):
        weights[i] = eta * (tail[BASE] - estimates[i])
    sl_exp(weights.shape[0], &weights[0], &weights[0])
    for i in range(weights.shape[0]):
        if weights[i] < NOTHING:
            weights[i] = 0.0


cdef Py_ssize_t _draw(double uniform, const double[::1] weights) noexcept nogil:
    """Return the arm where the running sum of the weights passes a share of their sum."""
    cdef Py_ssize_t i, arm = 0
    cdef double goal = uniform * _total(weights), running = 0.0
    for i in range(weights.shape[0]):
        if weights[i] > 0:
            arm = i
            running += weights[i]
            if running > goal:
                break
    return arm


cdef void _learn(
    Py_ssize_t arm,
    double loss,
    double low,
    double span,
    double eta,
    double next_eta,
    double gamma,
    double[::1] estimates,
    double[::1] weights,
    double[::1] tail,
    long long[::1] pulls,
) noexcept nogil:
    cdef double chance = weights[arm] / _total(weights)
    cdef double estimate = (loss - low) / span / (chance + gamma)
    estimates[arm] += estimate
    tail[PATH] += estimate * (eta * chance * estimate / 2 + gamma)
    tail[LOSS] += loss
    pulls[arm] += 1
    if next_eta != eta:
        _weigh(next_eta, estimates, tail, weights)
    else:
        weights[arm] = exp(eta * (tail[BASE] - estimates[arm]))
        if weights[arm] < NOTHING:
            weights[arm] = 0.0
        if _total(weights) < FADED:
            _weigh(eta, estimates, tail, weights)


def choose_exp3(double uniform, const double[::1] weights):
    """Return the arm that a number in [0, 1) stands for."""
    return _draw(uniform, weights)


def learn_exp3(
    Py_ssize_t arm,
    double loss,
    double low,
    double span,
    const double[::1] etas,
    const double[::1] gammas,
    double[::1] estimates,
    double[::1] weights,
    double[::1] tail,
    long long[::1] pulls,
):
    """Hear of the loss of an arm; parameters as in :func:`replay_exp3`, for one round."""
    _learn(
        arm, loss, low, span, etas[0], etas[1], gammas[0], estimates, weights, tail, pulls
    )


def replay_exp3(
    const double[:, ::1] losses,
    const double[::1] uniforms,
    double low,
    double span,
    const double[::1] etas,
    const double[::1] gammas,
    double[::1] estimates,
    double[::1] weights,
    double[::1] tail,
    long long[::1] pulls,
    double[::1] totals,
    Py_ssize_t[::1] arms,
):
    """Play one round per row of a matrix of losses with exponential weights.

    The weights are ``exp(-eta * (estimates - base))``. Arm ``i`` is chosen with probability
    ``v_i``, its share of the sum, and ``loss / (v_i + gamma)`` is added to its estimate.

    Parameters
    ----------
    losses : ndarray of shape (n_rounds, n_arms)
        The losses, in ``[low, low + span]``; the estimates are of what is scaled to [0, 1].

    uniforms : ndarray of shape (n_rounds,)
        Random numbers in [0, 1).

    low, span : float
        The range of the losses.

    etas : ndarray of shape (n_rounds + 1,)
        The rate of each round and of the one after the last.

    gammas : ndarray of shape (n_rounds,)
        What is added to the probabilities.

    estimates, weights, totals : ndarray of shape (n_arms,)
        Changed in place: the estimated losses, the weights, the true losses.

    tail : ndarray of shape (TAIL,)
        Changed in place.

    pulls : ndarray of shape (n_arms,)
        Changed in place: how often each arm was chosen.

    arms : ndarray of shape (n_rounds,)
        The chosen arms are written to it.
    """
    cdef Py_ssize_t t, i, arm
    with nogil:
        for t in range(losses.shape[0]):
            arm = _draw(uniforms[t], weights)
            _learn(
                arm, losses[t, arm], low, span, etas[t], etas[t + 1], gammas[t],
                estimates, weights, tail, pulls,
            )
            arms[t] = arm
            for i in range(losses.shape[1]):
                totals[i] += losses[t, i]


cdef Py_ssize_t _most_hopeful(
    long long trial, const double[::1] sums, const long long[::1] pulls
) noexcept nogil:
    cdef Py_ssize_t i, arm = 0
    cdef double width = 2 * log(<double>trial), value, least = 0.0
    for i in range(pulls.shape[0]):
        if pulls[i] == 0:
            return i
        value = sums[i] / pulls[i] - sqrt(width / pulls[i])
        if i == 0 or value < least:
            arm, least = i, value
    return arm


cdef void _see(
    Py_ssize_t arm,
    double loss,
    double low,
    double span,
    double[::1] sums,
    double[::1] tail,
    long long[::1] pulls,
) noexcept nogil:
    sums[arm] += (loss - low) / span
    tail[LOSS] += loss
    pulls[arm] += 1


def choose_ucb1(long long trial, const double[::1] sums, const long long[::1] pulls):
    """Return the arm with the least lower confidence limit of its loss after some trials."""
    return _most_hopeful(trial, sums, pulls)


def learn_ucb1(
    Py_ssize_t arm,
    double loss,
    double low,
    double span,
    double[::1] sums,
    double[::1] tail,
    long long[::1] pulls,
):
    """Hear of the loss of an arm; parameters as in :func:`replay_ucb1`, for one round."""
    _see(arm, loss, low, span, sums, tail, pulls)


def replay_ucb1(
    const double[:, ::1] losses,
    double low,
    double span,
    long long trial,
    double[::1] sums,
    double[::1] tail,
    long long[::1] pulls,
    double[::1] totals,
    Py_ssize_t[::1] arms,
):
    """Play one round per row of a matrix of losses with upper confidence bounds.

    Parameters
    ----------
    losses : ndarray of shape (n_rounds, n_arms)
        The losses, in ``[low, low + span]``.

    low, span : float
        The range of the losses.

    trial : int
        The number of rounds before.

    sums : ndarray of shape (n_arms,)
        Changed in place: the losses that were seen, scaled to [0, 1].

    tail, pulls, totals, arms
        As in :func:`replay_exp3`.
    """
    cdef Py_ssize_t t, i, arm
    with nogil:
        for t in range(losses.shape[0]):
            arm = _most_hopeful(trial + t, sums, pulls)
            _see(arm, losses[t, arm], low, span, sums, tail, pulls)
            arms[t] = arm
            for i in range(losses.shape[1]):
                totals[i] += losses[t, i]
