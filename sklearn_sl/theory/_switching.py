"""Regret bounds for switching experts, by the numbers of switches and of distinct experts."""

from __future__ import annotations

from reprlib import repr as short
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import xlogy

from sklearn_sl.theory._binomial import log_binomial
from sklearn_sl.theory._domain import any_of, positive, real, whole

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


def switching_class_size(
    n_trials: ArrayLike,
    n_experts: ArrayLike,
    n_switches: ArrayLike,
    n_modes: ArrayLike | None = None,
) -> float | np.ndarray:
    """Return the logarithm of the number of sequences of experts with few switches.

    A sequence has one of ``n`` experts for each of ``T`` trials. It switches ``k`` times, and there
    are ``m`` different experts in it, its modes. There are ``binomial(T - 1, k) n (n - 1)^k``
    sequences with ``k`` switches. If there are ``m`` modes, there are no more than::

        binomial(n, m) binomial(T - 1, k) m^(k + 1)

    whose logarithm is at most ``m ln(n / m) + k ln((T - 1) / k) + (k + 1) ln(m) + k + m``. The
    regret of a learner that gives a weight to each sequence grows with this logarithm.

    Parameters
    ----------
    n_trials : int or array-like of int
        The number ``T`` of trials.

    n_experts : int or array-like of int
        The number ``n`` of experts.

    n_switches : int or array-like of int
        The number ``k`` of switches, less than ``T``.

    n_modes : int or array-like of int, default=None
        The number ``m`` of modes, at most ``n``; None: no matter how many.

    Returns
    -------
    log_size : float or ndarray
        The natural logarithm of the number, or of the bound on it if there are modes.

    See Also
    --------
    multitask_bound : The regret bound of an efficient learner.

    Examples
    --------
    In three trials with ten experts there are a thousand sequences, 10 without a switch, 180 with
    one and 810 with two:

    >>> import numpy as np
    >>> from sklearn_sl.theory import switching_class_size
    >>> np.exp(switching_class_size(3, 10, [0, 1, 2])).round()
    array([ 10., 180., 810.])

    Experts that return make long sequences with many switches much fewer:

    >>> round(float(switching_class_size(10_000, 1000, 100)))
    1254
    >>> round(float(switching_class_size(10_000, 1000, 100, n_modes=3)))
    687
    """
    T, n = whole("n_trials", n_trials, low=1), whole("n_experts", n_experts, low=1)
    k = whole("n_switches", n_switches, low=0)
    if np.any(k >= T):
        raise ValueError(
            f"n_switches must be < n_trials={short(n_trials)}; got {short(n_switches)}."
        )
    if n_modes is None:
        return log_binomial(T - 1, k) + np.log(n) + xlogy(k, n - 1)
    m = whole("n_modes", n_modes, low=1)
    if any_of(m > n):
        raise ValueError(f"n_modes must be <= n_experts={short(n_experts)}; got {short(n_modes)}.")
    return log_binomial(n, m) + log_binomial(T - 1, k) + (k + 1) * np.log(m)


def past_posteriors_bound(
    n_trials: int,
    n_experts: int,
    n_shifts: int,
    n_modes: int,
    alpha: float | None = None,
    past: Literal["decaying", "uniform", "start"] = "decaying",
    decay: float = 1.0,
    c: float = 1.0,
) -> float:
    """Return an upper bound on the regret of mixing past posteriors, against sequences that return.

    The weights of a trial are ``1 - alpha`` times those after the last trial, and ``alpha`` times a
    mixture of all those before. If the loss and ``c`` are those of
    :func:`weighted_average_bound`, the loss of the learner exceeds that of any sequence of experts
    with ``k`` shifts between ``m`` different experts in ``T`` trials by at most::

        c (m ln(n) + (T - 1 - k) ln(1 / (1 - alpha)) + k ln(1 / alpha) + K)

    where ``K`` is what the past costs. If all weights of the past count alike, ``K = k ln(T - 1)``.
    If those of age ``a`` count in proportion to ``a^-gamma``, or half as much at least in their
    blocks, ``K = gamma k ln(2 (m - 1) (T - 1) / k) + k ln(sum_a a^-gamma)``, since no more than
    ``m - 1`` of the modes are waiting at any time. If only the weights at the start are mixed in,
    each shift costs ``ln(n)``: then ``K = (k + 1 - m) ln(n)``. The least of these is that of
    ``alpha = k / (T - 1)``.

    Parameters
    ----------
    n_trials : int
        The number ``T`` of trials.

    n_experts : int
        The number ``n`` of experts.

    n_shifts : int
        The number ``k`` of shifts.

    n_modes : int
        The number ``m`` of different experts.

    alpha : float, default=None
        The part of the past; None is the best one.

    past : {"decaying", "uniform", "start"}, default="decaying"
        What is mixed in.

    decay : float, default=1.0
        The exponent ``gamma``, if the past decays.

    c : float, default=1.0
        The constant of the loss, one divided by the learning rate.

    Returns
    -------
    bound : float
        No larger regret than this; infinite if ``alpha`` makes the number of shifts impossible.

    See Also
    --------
    sklearn_sl.online.MixingPastPosteriors : The learner.
    fixed_share_bound : For experts that do not return.

    References
    ----------
    .. [1] O. Bousquet and M. Warmuth, "Tracking a small set of experts by mixing past posteriors",
       Journal of Machine Learning Research 3, 2002.

    Examples
    --------
    Many shifts between three of a thousand experts:

    >>> from sklearn_sl.theory import fixed_share_bound, past_posteriors_bound
    >>> round(past_posteriors_bound(10_000, 1000, 1000, 3))
    9241
    >>> round(float(fixed_share_bound(10_000, 1000, 1000)))
    10164
    """
    T, n = int(whole("n_trials", n_trials, low=1)), whole("n_experts", n_experts, low=1)
    m, k = whole("n_modes", n_modes, low=1), whole("n_shifts", n_shifts, low=0)
    if k >= T:
        raise ValueError(f"n_shifts must be < n_trials={T}; got {k:g}.")
    if not (m <= n and m <= k + 1 and (k == 0 or m > 1)):
        raise ValueError(
            f"n_modes must be in [2, min(n_experts, n_shifts + 1)], or 1 if n_shifts=0; got "
            f"n_modes={m:g}, n_experts={n:g} and n_shifts={k:g}."
        )
    if past not in ("decaying", "uniform", "start"):
        raise ValueError(f'past must be "decaying", "uniform" or "start"; got {past!r}.')
    alpha = k / max(T - 1, 1) if alpha is None else real("alpha", alpha, 0, 1)
    cost = m * np.log(n) + _cost(T - 1 - k, 1 - alpha) + _cost(k, alpha)
    if k and past == "start":
        cost += (k + 1 - m) * np.log(n)
    elif k and past == "uniform":
        cost += k * np.log(T - 1)
    elif k:
        decay = real("decay", decay, low=0)
        cost += decay * k * np.log(2 * (m - 1) * (T - 1) / k)
        cost += k * np.log(np.sum(np.arange(1.0, T) ** -decay))
    return float(positive("c", c) * cost)


def multitask_rates(n_trials, n_tasks, n_modes, n_switches):
    """Return the probabilities of staying active and of becoming active for a number of switches.

    ``theta = 1 - k / (T - s)`` and ``phi = k / ((m - 1) (T - s))``, or one and zero if there is
    nothing to switch to, or no time.
    """
    T, s, m, k = _sizes(n_trials, n_tasks, n_modes, n_switches)
    time = np.where((T > s) & (m > 1), T - s, np.inf)
    return 1 - k / time, k / (np.maximum(m - 1, 1) * time)


def multitask_complexity(
    n_trials: ArrayLike,
    n_experts: ArrayLike,
    n_tasks: ArrayLike,
    n_modes: ArrayLike,
    n_switches: ArrayLike,
    mu: ArrayLike | None = None,
    theta: ArrayLike | None = None,
    phi: ArrayLike | None = None,
) -> float | np.ndarray:
    """Return the complexity of tasks that switch between few experts.

    There are ``s`` tasks with ``T`` trials in all. In each trial of a task an expert is in charge,
    and in the next trial of this task the same one or, ``k`` times in all, another one. No more
    than ``m`` of the ``n`` experts are ever in charge. To a learner for whom an expert is in
    charge of a new task with probability ``mu``, stays in charge with probability ``theta``, and
    otherwise comes in with probability ``phi``, such a sequence costs::

        C = m ln(n / m) + s ln(1 / mu) + s (m - 1) ln(1 / (1 - mu))
            + (T - s - k) ln(1 / theta) + k ln(1 / (1 - theta))
            + ((m - 1) (T - s) - k) ln(1 / (1 - phi)) + k ln(1 / phi)

    For the best ones, which are ``mu = 1 / m``, ``theta = 1 - k / (T - s)`` and
    ``phi = k / ((m - 1) (T - s))``, this is::

        C = m ln(n / m) + s m H(1 / m) + (T - s) H(1 - theta) + (m - 1) (T - s) H(phi)
          <= m ln(n / m) + s (ln(m) + 1) + k (ln(m - 1) + 2 ln((T - s) / k) + 2)

    where ``H(p) = p ln(1 / p) + (1 - p) ln(1 / (1 - p))``.

    Parameters
    ----------
    n_trials : int or array-like of int
        The number ``T`` of trials of all tasks.

    n_experts : int or array-like of int
        The number ``n`` of experts.

    n_tasks : int or array-like of int
        The number ``s`` of tasks.

    n_modes : int or array-like of int
        The number ``m`` of modes.

    n_switches : int or array-like of int
        The number ``k`` of switches of all tasks.

    mu : float or array-like, default=None
        The probability to be in charge at first; None is the best one.

    theta : float or array-like, default=None
        The probability to stay in charge; None is the best one.

    phi : float or array-like, default=None
        The probability to come in; None is the best one.

    Returns
    -------
    complexity : float or ndarray
        The cost ``C``, in nats. Infinite if there are switches where the learner expects none.

    See Also
    --------
    multitask_bound : The regret that follows from it.

    References
    ----------
    .. [1] M. Herbster, S. Pasteris and L. Tse, "Online multitask learning with long-term memory",
       NeurIPS 2020.

    Examples
    --------
    >>> from sklearn_sl.theory import multitask_complexity
    >>> round(float(multitask_complexity(3000, 200, 3, 3, 12)), 1)
    183.1
    """
    T, s, m, k = _sizes(n_trials, n_tasks, n_modes, n_switches)
    n = whole("n_experts", n_experts, low=1)
    if any_of(m > n):
        raise ValueError(f"n_modes must be <= n_experts={short(n_experts)}; got {short(n_modes)}.")
    best = multitask_rates(n_trials, n_tasks, n_modes, n_switches)
    mu = 1 / m if mu is None else real("mu", mu, 0, 1)
    theta = best[0] if theta is None else real("theta", theta, 0, 1)
    phi = best[1] if phi is None else real("phi", phi, 0, 1)
    active = np.maximum(T - s, 0)
    begins = _cost(s, mu) + _cost(s * (m - 1), 1 - mu)
    stays = _cost(active - k, theta) + _cost(k, 1 - theta)
    others = _cost((m - 1) * active - k, 1 - phi) + _cost(k, phi)
    return m * np.log(n / m) + begins + stays + others


def multitask_bound(
    n_trials: ArrayLike,
    n_experts: ArrayLike,
    n_tasks: ArrayLike,
    n_modes: ArrayLike,
    n_switches: ArrayLike,
    eta: ArrayLike | None = None,
    mu: ArrayLike | None = None,
    theta: ArrayLike | None = None,
    phi: ArrayLike | None = None,
) -> float | np.ndarray:
    """Return an upper bound on the expected regret of Markov circadian specialists.

    The learner draws its expert in each of ``T`` trials. The expected number of its mistakes
    exceeds that of any sequence of experts with ``m`` modes and ``k`` switches in ``s`` tasks by at
    most ``C / eta + eta T / 2``, with the complexity ``C`` of such a sequence, and this is
    ``sqrt(2 C T)`` for the best rate ``eta = sqrt(2 C / T)``.

    Parameters
    ----------
    n_trials : int or array-like of int
        The number ``T`` of trials of all tasks.

    n_experts : int or array-like of int
        The number ``n`` of experts.

    n_tasks : int or array-like of int
        The number ``s`` of tasks.

    n_modes : int or array-like of int
        The number ``m`` of modes.

    n_switches : int or array-like of int
        The number ``k`` of switches of all tasks.

    eta : float or array-like, default=None
        The learning rate; None is the best one.

    mu : float or array-like, default=None
        The probability to be in charge at first; None is the best one.

    theta : float or array-like, default=None
        The probability to stay in charge; None is the best one.

    phi : float or array-like, default=None
        The probability to come in; None is the best one.

    Returns
    -------
    bound : float or ndarray
        The expected regret is no more than this.

    See Also
    --------
    multitask_complexity : The complexity ``C``.
    sklearn_sl.online.SwitchingMultitaskExperts : The learner.

    References
    ----------
    .. [1] M. Herbster, S. Pasteris and L. Tse, "Online multitask learning with long-term memory",
       NeurIPS 2020.

    Examples
    --------
    >>> from sklearn_sl.theory import multitask_bound
    >>> round(float(multitask_bound(3000, 200, 3, 3, 12)))
    1048
    """
    C = multitask_complexity(
        n_trials, n_experts, n_tasks, n_modes, n_switches, mu=mu, theta=theta, phi=phi
    )
    if eta is None:
        return np.sqrt(2 * C * n_trials)
    eta = positive("eta", eta)
    return C / eta + eta * np.asarray(n_trials) / 2


def _sizes(n_trials, n_tasks, n_modes, n_switches):
    """Return ``T, s, m, k``, or raise a ValueError if there can be no such sequence."""
    T, s = whole("n_trials", n_trials, low=0), whole("n_tasks", n_tasks, low=1)
    m, k = whole("n_modes", n_modes, low=1), whole("n_switches", n_switches, low=0)
    if any_of((k > 0) & (k > T - s)):
        raise ValueError(
            f"n_switches must be <= n_trials - n_tasks={T - s}; got {short(n_switches)}."
        )
    if any_of((k > 0) & (m < 2)):
        raise ValueError(f"n_modes must be >= 2 if n_switches > 0; got {short(n_modes)}.")
    return T, s, m, k


def _cost(times, probability):
    """Return the cost of events that happen a number of times with a probability."""
    return -xlogy(times, probability)
