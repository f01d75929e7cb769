"""Regret and loss bounds of online gradient descent and of passive-aggressive learners."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_sl.theory._domain import positive, real, vector, whole
from sklearn_sl.theory._perceptron import least_bound

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


def ogd_bound(norm: ArrayLike, eta: ArrayLike, squared_gradients: ArrayLike) -> float | np.ndarray:
    """Return an upper bound on the regret of online gradient descent with a fixed rate.

    The learner begins with zero weights, and steps from ``w_t`` to ``w_t - eta g_t``, where ``g_t``
    is a subgradient of the convex loss of trial ``t``; it may then project to a convex set. For
    every ``u`` (in the set)::

        sum_t loss_t(w_t) - loss_t(u) <= ||u||^2 / (2 eta) + eta / 2 sum_t ||g_t||^2

    because in a trial ``||w_t - u||^2`` falls by at least ``2 eta (loss_t(w_t) - loss_t(u))``
    minus ``eta^2 ||g_t||^2``.

    Parameters
    ----------
    norm : float or array-like
        The norm of ``u``.

    eta : float or array-like
        The rate.

    squared_gradients : float or array-like
        The sum of the squared norms of the gradients.

    Returns
    -------
    bound : float or ndarray
        The regret is at most this.

    See Also
    --------
    ogd_horizon_bound : With the rate that the number of trials suggests.

    References
    ----------
    .. [1] M. Zinkevich, "Online convex programming and generalized infinitesimal gradient ascent",
       ICML 2003.

    Examples
    --------
    >>> from sklearn_sl.theory import ogd_bound
    >>> float(ogd_bound(norm=2.0, eta=0.1, squared_gradients=400.0))
    40.0
    """
    squares = real("squared_gradients", squared_gradients, low=0)
    eta = positive("eta", eta)
    return real("norm", norm, low=0) ** 2 / (2 * eta) + eta * squares / 2


def ogd_horizon_bound(
    norm: ArrayLike, gradient_norm: ArrayLike, n_trials: ArrayLike
) -> float | np.ndarray:
    """Return an upper bound on the regret of online gradient descent for a known horizon.

    With ``||u|| <= U``, gradients of norms up to ``G`` and ``m`` trials, :func:`ogd_bound` is least
    for ``eta = U / (G sqrt(m))``, where it is ``U G sqrt(m)``. For the hinge loss ``G`` is the
    largest norm ``R`` of a sample.

    Parameters
    ----------
    norm : float or array-like
        The norm ``U``.

    gradient_norm : float or array-like
        The largest norm ``G`` of a gradient.

    n_trials : int or array-like
        The number ``m`` of trials.

    Returns
    -------
    bound : float or ndarray
        The regret is at most this.

    See Also
    --------
    ogd_bound : With any rate.
    ogd_anytime_bound : With a rate that needs to know neither.

    References
    ----------
    .. [1] M. Zinkevich, "Online convex programming and generalized infinitesimal gradient ascent",
       ICML 2003.

    Examples
    --------
    >>> from sklearn_sl.theory import ogd_horizon_bound
    >>> float(ogd_horizon_bound(norm=2.0, gradient_norm=3.0, n_trials=100))
    60.0
    """
    norm, gradient = real("norm", norm, low=0), real("gradient_norm", gradient_norm, low=0)
    return norm * gradient * np.sqrt(whole("n_trials", n_trials, low=0))


def ogd_anytime_bound(
    radius: ArrayLike, squared_gradients: ArrayLike, distance: ArrayLike | None = None
) -> float | np.ndarray:
    """Return an upper bound on the regret of online gradient descent with a falling rate.

    The rate of trial ``t`` is ``sqrt(2) U / sqrt(S_t)``, with the sum ``S_t`` of the squared norms
    of the gradients so far, that of trial ``t`` included. If no weights are farther than ``D`` from
    ``u``, then after ``T`` trials::

        sum_t loss_t(w_t) - loss_t(u) <= (D^2 / (2 sqrt(2) U) + sqrt(2) U) sqrt(S_T)

    Weights that are projected to the ball of radius ``U`` are never farther than ``D = 2 U`` from
    each ``u`` in it: then it is ``2 sqrt(2) U sqrt(S_T)``, for all ``T`` at once.

    Parameters
    ----------
    radius : float or array-like
        The constant ``U`` of the rate, the radius of the ball.

    squared_gradients : float or array-like
        The sum ``S_T``.

    distance : float or array-like, default=None
        The distance ``D``; None is ``2 U``.

    Returns
    -------
    bound : float or ndarray
        The regret is at most this.

    See Also
    --------
    ogd_horizon_bound : With a rate that knows the number of trials.

    References
    ----------
    .. [1] J. Duchi, E. Hazan and Y. Singer, "Adaptive subgradient methods for online learning and
       stochastic optimization", Journal of Machine Learning Research 12, 2011.

    Examples
    --------
    >>> from sklearn_sl.theory import ogd_anytime_bound
    >>> round(float(ogd_anytime_bound(radius=2.0, squared_gradients=900.0)), 3)
    169.706
    """
    radius = positive("radius", radius)
    root = np.sqrt(real("squared_gradients", squared_gradients, low=0))
    far = 2 * radius if distance is None else real("distance", distance, low=0)
    return (far**2 / (2 * np.sqrt(2) * radius) + np.sqrt(2) * radius) * root


def passive_aggressive_bound(
    radius: ArrayLike, norm: ArrayLike, hinge_loss: ArrayLike = 0.0, C: ArrayLike = 1.0
) -> float | np.ndarray:
    """Return an upper bound on the mistakes of the passive-aggressive learner with linear slack.

    The learner (PA-I) steps along ``y_t x_t`` by ``min(C, loss_t / ||x_t||^2)``, where ``loss_t``
    is its hinge loss. For every ``u``, with the hinge loss ``D`` on all trials::

        M <= max(R^2, 1 / C) (||u||^2 + 2 C D)

    Parameters
    ----------
    radius : float or array-like
        The largest norm ``R`` of a sample, with the constant 1 if there is an intercept.

    norm : float or array-like
        The norm of ``u``, with the intercept.

    hinge_loss : float or array-like, default=0.0
        The hinge loss ``D`` of ``u``.

    C : float or array-like, default=1.0
        The longest step.

    Returns
    -------
    bound : float or ndarray
        No more mistakes than these.

    See Also
    --------
    passive_aggressive_loss_bound : The bound on squared losses of the others.

    References
    ----------
    .. [1] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz and Y. Singer, "Online
       passive-aggressive algorithms", Journal of Machine Learning Research 7, 2006, theorem 4.

    Examples
    --------
    >>> from sklearn_sl.theory import passive_aggressive_bound
    >>> float(passive_aggressive_bound(radius=2.0, norm=5.0, hinge_loss=3.0, C=0.5))
    112.0
    """
    norm, loss = real("norm", norm, low=0), real("hinge_loss", hinge_loss, low=0)
    return linear_slack(real("radius", radius, low=0), norm, loss, positive("C", C))


def linear_slack(radius, norm, loss, C):
    """Return the bound of the learner with linear slack."""
    return largest_cost(radius, C) * (norm**2 + 2 * C * loss)


def largest_cost(radius, C):
    """Return what a mistake costs at most with linear slack."""
    return np.maximum(radius**2, 1 / C)


def passive_aggressive_loss_bound(
    radius: ArrayLike,
    norm: ArrayLike,
    squared_loss: ArrayLike = 0.0,
    C: float = np.inf,
    least_norm: ArrayLike | None = None,
) -> float | np.ndarray:
    """Return an upper bound on the squared losses of the other passive-aggressive learners.

    With the hinge losses, or the insensitive losses of a regression, ``loss_t`` of the learner and
    ``D2``, the sum of the squared losses of any ``u``:

    - squared slack (PA-II), steps of ``loss_t / (||x_t||^2 + 1 / (2 C))``::

        sum_t loss_t^2 <= (R^2 + 1 / (2 C)) (||u||^2 + 2 C D2)

    - no slack (PA), steps of ``loss_t / ||x_t||^2``, samples of norms between ``r`` and ``R``::

        sum_t loss_t^2 <= (R ||u|| + 2 R / r sqrt(D2))^2

    A mistake has a hinge loss of at least one, so that these are bounds on mistakes, too.

    Parameters
    ----------
    radius : float or array-like
        The largest norm ``R`` of a sample, with the constant 1 if there is an intercept.

    norm : float or array-like
        The norm of ``u``, with the intercept.

    squared_loss : float or array-like, default=0.0
        The sum ``D2`` of the squared losses of ``u``.

    C : float, default=inf
        The weight of the slack; infinite if there is none.

    least_norm : float or array-like, default=None
        The least norm ``r`` of a sample, positive, if there is no slack; None is ``R``.

    Returns
    -------
    bound : float or ndarray
        The sum of the squared losses is at most this.

    See Also
    --------
    passive_aggressive_bound : The bound on the mistakes with linear slack.

    References
    ----------
    .. [1] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz and Y. Singer, "Online
       passive-aggressive algorithms", Journal of Machine Learning Research 7, 2006, theorems 2, 3
       and 5. Theorem 3 is for samples of norm one; the last formula follows by the same steps.

    Examples
    --------
    >>> from sklearn_sl.theory import passive_aggressive_loss_bound
    >>> float(passive_aggressive_loss_bound(radius=2.0, norm=5.0))
    100.0
    >>> float(passive_aggressive_loss_bound(radius=2.0, norm=5.0, squared_loss=3.0, C=0.5))
    140.0
    """
    radius, norm = real("radius", radius, low=0), real("norm", norm, low=0)
    loss = real("squared_loss", squared_loss, low=0)
    if C == np.inf:
        ratio = 1.0 if least_norm is None else radius / positive("least_norm", least_norm)
        return no_slack(radius, norm, loss, ratio)
    return squared_slack(radius, norm, loss, positive("C", C))


def no_slack(radius, norm, loss, ratio):
    """Return the bound of the learner without slack; ``ratio`` is that of the norms of samples."""
    return (radius * norm + 2 * ratio * np.sqrt(loss)) ** 2


def squared_slack(radius, norm, loss, C):
    """Return the bound of the learner with squared slack."""
    return (radius**2 + 1 / (2 * C)) * (norm**2 + 2 * C * loss)


def best_passive_aggressive_bound(
    margins: ArrayLike,
    radius: float,
    norm: float,
    *,
    C: float = 1.0,
    squared: bool = False,
    least_norm: float | None = None,
    repeats: int = 1,
) -> tuple[float, float]:
    """Return the least bound on mistakes among the multiples ``c u`` of a vector, and ``c``.

    Parameters
    ----------
    margins : array-like of shape (n_trials,)
        The margins ``y_t u.x_t`` of a vector ``u``, with its intercept.

    radius : float
        The largest norm of a sample.

    norm : float
        The norm of ``u``.

    C : float, default=1.0
        The weight of the slack.

    squared : bool, default=False
        Whether the slack is squared.

    least_norm : float, default=None
        The least norm of a sample, if there is no slack; None is the largest one.

    repeats : int, default=1
        How often the trials were gone through.

    Returns
    -------
    bound : float
        No more mistakes than this.

    factor : float
        The multiple ``c`` for which it holds; zero if no positive one gives less than the number
        of trials.

    See Also
    --------
    passive_aggressive_bound : The bound for one vector.

    References
    ----------
    .. [1] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz and Y. Singer, "Online
       passive-aggressive algorithms", Journal of Machine Learning Research 7, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.theory import best_passive_aggressive_bound
    >>> margins = np.linspace(0.5, 1.0, 100)
    >>> bound, factor = best_passive_aggressive_bound(margins, radius=3.0, norm=0.7, C=0.1)
    >>> round(bound, 2), round(factor, 2)
    (16.89, 1.74)
    """
    radius = real("radius", radius, low=0)
    if C == np.inf:
        ratio = 1.0 if least_norm is None else radius / positive("least_norm", least_norm)
    else:
        C = positive("C", C)

    cost = largest_cost(radius, C)

    def bound(norm, lacks):
        if C == np.inf:
            return no_slack(radius, norm, repeats * (lacks**2).sum(), ratio)
        if squared:
            return squared_slack(radius, norm, repeats * (lacks**2).sum(), C)
        return cost * (norm**2 + 2 * C * (repeats * lacks.sum()))

    margins, norm = vector("margins", margins), real("norm", norm, low=0)
    return least_bound(bound, margins, norm, repeats)
