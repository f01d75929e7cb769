"""Regret bounds of bandit algorithms, by the number of rounds and arms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_sl.theory._domain import positive, real, vector, whole

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


def exp3_bound(
    n_rounds: ArrayLike, n_arms: ArrayLike, eta: ArrayLike | None = None, anytime: bool = False
) -> float | np.ndarray:
    """Return an upper bound on the expected regret of Exp3.

    For every sequence of losses in [0, 1] that was fixed before the first of ``m`` rounds, and
    every rate ``eta``, the expected loss of Exp3 with ``n`` arms exceeds that of the best arm by at
    most::

        ln(n) / eta + eta m n / 2

    which is least, ``sqrt(2 m n ln(n))``, for ``eta = sqrt(2 ln(n) / (m n))``. With the rates
    ``eta_t = sqrt(ln(n) / (n t))``, which need no ``m``, it is at most ``2 sqrt(m n ln(n))``.

    Parameters
    ----------
    n_rounds : int or array-like of int
        The number ``m`` of rounds.

    n_arms : int or array-like of int
        The number ``n`` of arms.

    eta : float or array-like, default=None
        The rate; None is the best one.

    anytime : bool, default=False
        Whether the rates are ``eta_t``, which know nothing of ``m``.

    Returns
    -------
    bound : float or ndarray
        The expected regret is no more than this.

    See Also
    --------
    exp3ix_bound : With high probability, not on average.
    sklearn_sl.online.Exp3 : The learner.

    References
    ----------
    .. [1] P. Auer, N. Cesa-Bianchi, Y. Freund and R. Schapire, "The nonstochastic multiarmed
       bandit problem", SIAM Journal on Computing 32, 2002.

    .. [2] S. Bubeck and N. Cesa-Bianchi, "Regret analysis of stochastic and nonstochastic
       multi-armed bandit problems", Foundations and Trends in Machine Learning 5, 2012,
       theorem 3.1.

    Examples
    --------
    >>> from sklearn_sl.theory import exp3_bound
    >>> round(float(exp3_bound(5000, 10)), 1)
    479.9
    """
    m, n = whole("n_rounds", n_rounds, low=0), whole("n_arms", n_arms, low=1)
    if eta is not None:
        eta = positive("eta", eta)
        return np.log(n) / eta + eta * m * n / 2
    return np.sqrt((4 if anytime else 2) * m * n * np.log(n))


def exp3ix_bound(
    n_rounds: ArrayLike,
    n_arms: ArrayLike,
    delta: ArrayLike = 0.05,
    eta: ArrayLike | None = None,
    gamma: ArrayLike | None = None,
    anytime: bool = False,
) -> float | np.ndarray:
    """Return a bound on the regret of Exp3-IX that holds with high probability.

    For every sequence of losses in [0, 1] that was fixed before the first of ``m`` rounds, the
    loss of Exp3-IX with ``n`` arms exceeds that of the best arm, with probability at least
    ``1 - delta``, by at most::

        ln(n) / eta + ln(2 n / delta) / (2 gamma) + (eta / 2 + gamma) m n + c ln(2 / delta)

    where ``c = max(1, (eta / 2 + gamma) / (2 gamma))``, that is one for ``gamma = eta / 2``. With
    this ``gamma`` and ``eta = sqrt(2 ln(n) / (m n))`` it is::

        2 sqrt(2 m n ln(n)) + (sqrt(m n / (2 ln(n))) + 1) ln(2 / delta)

    and with ``eta_t = 2 gamma_t = sqrt(ln(n) / (n t))``, which need no ``m``, it is at most
    ``4 sqrt(m n ln(n)) + (sqrt(m n / ln(n)) + 1) ln(2 / delta)``.

    Parameters
    ----------
    n_rounds : int or array-like of int
        The number ``m`` of rounds.

    n_arms : int or array-like of int
        The number ``n`` of arms.

    delta : float or array-like, default=0.05
        The probability with which the bound may fail.

    eta : float or array-like, default=None
        The rate; None is ``sqrt(2 ln(n) / (m n))``.

    gamma : float or array-like, default=None
        What is added to the probabilities in the estimates; None is ``eta / 2``.

    anytime : bool, default=False
        Whether the rates are ``eta_t``, which know nothing of ``m``.

    Returns
    -------
    bound : float or ndarray
        The regret is no more than this, with probability ``1 - delta``. There is none for one arm.

    See Also
    --------
    exp3_bound : On average.
    sklearn_sl.online.Exp3IX : The learner.

    Notes
    -----
    The estimates ``l = loss / (v + gamma)`` satisfy ``loss = v l + gamma l``, so that the lemma of
    exponential weights bounds the losses minus the estimates of any arm by ``ln(n) / eta`` plus
    ``eta / 2 + gamma`` times the sum of all estimates. With probability ``1 - delta / 2`` no
    arm's estimates exceed its losses by more than ``ln(2 n / delta) / (2 gamma)`` [1]_, and with
    the same probability their sum over all arms exceeds that of the losses by no more than
    ``ln(2 / delta) / (2 gamma)``.

    References
    ----------
    .. [1] G. Neu, "Explore no more: improved high-probability regret bounds for non-stochastic
       bandits", NeurIPS 2015, lemma 1 and theorem 1.

    Examples
    --------
    >>> from sklearn_sl.theory import exp3ix_bound
    >>> round(float(exp3ix_bound(5000, 10, delta=0.01)), 1)
    1517.1
    """
    m, n = whole("n_rounds", n_rounds, low=0), whole("n_arms", n_arms, low=1)
    delta = positive("delta", real("delta", delta, 0, 1))
    log = np.log(np.maximum(n, 2))  # any number will do for one arm
    confidence = np.log(2 / delta)
    if anytime:
        bound = 4 * np.sqrt(m * n * log) + (np.sqrt(m * n / log) + 1) * confidence
    else:
        eta = np.sqrt(2 * log / (np.maximum(m, 1) * n)) if eta is None else positive("eta", eta)
        gamma = eta / 2 if gamma is None else positive("gamma", gamma)
        rate = eta / 2 + gamma
        bound = log / eta + (log + confidence) / (2 * gamma) + rate * m * n
        bound += np.maximum(1, rate / (2 * gamma)) * confidence
    return np.where(n > 1, bound, 0.0)[()]


def ucb1_bound(n_rounds: int, gaps: ArrayLike | None = None, n_arms: int | None = None) -> float:
    """Return an upper bound on the expected regret of UCB1.

    The losses of each arm are independent draws from a distribution on [0, 1] of its own. Let
    ``Delta_i`` be the mean loss of arm ``i`` minus the least one. After ``m`` rounds arm ``i`` was
    chosen at most ``8 ln(m) / Delta_i^2 + 1 + pi^2 / 3`` times on average, so that the mean loss
    of the chosen arms exceeds that of the best arm by at most::

        8 sum_i ln(m) / Delta_i + (1 + pi^2 / 3) sum_i Delta_i

    with sums over the arms with ``Delta_i > 0``. Whatever the gaps, arms with ``Delta_i`` below
    ``e`` cost no more than ``m e``, and the ``n - 1`` others at most the above, so that for
    ``e = sqrt(8 (n - 1) ln(m) / m)`` the regret is at most::

        2 sqrt(8 m (n - 1) ln(m)) + (1 + pi^2 / 3) (n - 1)

    Parameters
    ----------
    n_rounds : int
        The number ``m`` of rounds.

    gaps : array-like of shape (n_arms,), default=None
        The gaps ``Delta_i``, between 0 and 1; None asks for the bound for any gaps.

    n_arms : int, default=None
        The number of arms, if there are no ``gaps``.

    Returns
    -------
    bound : float
        The expected regret is no more than this.

    See Also
    --------
    sklearn_sl.online.UCB1 : The learner.

    References
    ----------
    .. [1] P. Auer, N. Cesa-Bianchi and P. Fischer, "Finite-time analysis of the multiarmed bandit
       problem", Machine Learning 47, 2002, theorem 1.

    Examples
    --------
    >>> from sklearn_sl.theory import ucb1_bound
    >>> round(float(ucb1_bound(10_000, [0.0, 0.2, 0.5])), 1)
    518.8
    >>> round(float(ucb1_bound(10_000, n_arms=3)), 1)
    2436.5
    """
    log = np.log(whole("n_rounds", n_rounds, low=1))
    each = 1 + np.pi**2 / 3
    if gaps is not None:
        gaps = vector("gaps", gaps, 0.0, 1.0)
        gaps = gaps[gaps > 0]
        return float(np.sum(8 * log / gaps) + each * gaps.sum())
    if n_arms is None:
        raise ValueError("ucb1_bound needs either gaps or n_arms.")
    others = whole("n_arms", n_arms, low=1) - 1
    return float(2 * np.sqrt(8 * n_rounds * others * log) + each * others)


def german_tank_estimate(serial: ArrayLike) -> float | np.ndarray:
    """Return the unbiased estimate of the size of a population from one serial number.

    Tanks are numbered 1 to ``n``, and one of them is seen, each with the same chance. Its number
    ``X`` has the mean ``(n + 1) / 2``, so that ``2 X - 1`` has the mean ``n``; the most likely
    number of tanks is ``X``, which is too low by half on average. As the losses that
    :func:`~sklearn_sl.online.importance_weighted_loss` makes up, the estimate is right on average
    and never in a single case.

    Parameters
    ----------
    serial : int or array-like of int
        The number ``X`` that was seen.

    Returns
    -------
    estimate : float or ndarray
        ``2 X - 1``.

    See Also
    --------
    sklearn_sl.online.importance_weighted_loss : Another unbiased estimate.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.theory import german_tank_estimate
    >>> float(german_tank_estimate(np.arange(1, 101)).mean())
    100.0
    """
    return 2 * whole("serial", serial, low=1) - 1
