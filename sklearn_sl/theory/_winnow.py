"""Mistake and regret bounds of multiplicative updates and of the ellipsoid method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sklearn_sl.theory._domain import positive, real, whole

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


class WinnowBound(NamedTuple):
    """The bounds on the mistakes of Winnow; see :func:`winnow_bound`.

    Attributes
    ----------
    promotions : float or ndarray
        On samples of the disjunction.

    demotions : float or ndarray
        On other samples.

    mistakes : float or ndarray
        Their sum.

    See Also
    --------
    winnow_bound : Computes it.

    Examples
    --------
    >>> from sklearn_sl.theory import winnow_bound
    >>> promotions, demotions, mistakes = winnow_bound(k=4, n=1024)
    >>> float(promotions), float(demotions), float(mistakes)
    (44.0, 90.0, 134.0)
    """

    promotions: np.ndarray
    demotions: np.ndarray
    mistakes: np.ndarray


def winnow_bound(
    k: ArrayLike, n: ArrayLike, alpha: float = 2.0, threshold: ArrayLike | None = None
) -> Any:
    """Return upper bounds on the numbers of mistakes of Winnow on a disjunction.

    Winnow begins with ``n`` weights of one, says yes if ``w.x >= theta``, and on a mistake
    multiplies the weights of the active attributes (``x_i = 1``) by ``alpha``, a promotion, or
    divides them, a demotion. Let the answers be those of a disjunction of ``k`` of the ``n``
    attributes. Then::

        promotions <= k (log_alpha(theta) + 1)
        demotions  <= alpha promotions + alpha n / ((alpha - 1) theta)

    because the weights of the ``k`` attributes are never divided, a promotion multiplies one of
    them, and only while it is less than ``theta``; and because the sum of all weights grows by less
    than ``(alpha - 1) theta`` in a promotion, shrinks by at least ``(1 - 1 / alpha) theta`` in a
    demotion, and stays positive. For ``alpha = 2`` and ``theta = n`` the number of mistakes is at
    most ``3 k (log2(n) + 1) + 2``: the irrelevant attributes count by their logarithm.

    Parameters
    ----------
    k : int or array-like of int
        The number of attributes of the disjunction.

    n : int or array-like of int
        The number of all attributes; that of literals if negations are allowed.

    alpha : float, default=2.0
        The factor of a promotion, above one.

    threshold : float or array-like, default=None
        The threshold ``theta``; None is ``n``.

    Returns
    -------
    bound : WinnowBound
        No more ``promotions``, ``demotions`` and ``mistakes`` than these.

    See Also
    --------
    disjunction_perceptron_bound : Of the perceptron on the same problem.
    disjunction_majority_bound : Of the weighted majority of all disjunctions.

    References
    ----------
    .. [1] N. Littlestone, "Learning quickly when irrelevant attributes abound: a new
       linear-threshold algorithm", Machine Learning 2, 1988.

    Examples
    --------
    >>> from sklearn_sl.theory import winnow_bound
    >>> winnow_bound(k=4, n=[16, 64, 256, 1024]).mistakes
    array([ 62.,  86., 110., 134.])
    """
    k, n = whole("k", k, low=0), whole("n", n, low=1)
    alpha = positive("alpha", alpha)
    if np.any(alpha <= 1):
        raise ValueError(f"alpha must be > 1; got {alpha!r}.")
    threshold = n if threshold is None else positive("threshold", threshold)
    promotions = k * np.maximum(0.0, np.log2(threshold) / np.log2(alpha) + 1)
    demotions = alpha * promotions + alpha * n / ((alpha - 1) * threshold)
    return WinnowBound(promotions, demotions, promotions + demotions)


def balanced_winnow_bound(
    margin: ArrayLike,
    radius: ArrayLike,
    n: ArrayLike,
    alpha: ArrayLike = 2.0,
    hinge_loss: ArrayLike = 0.0,
) -> float | np.ndarray:
    """Return an upper bound on the number of mistakes of the balanced Winnow.

    With ``z`` the sum of ``y_t x_t`` over the mistakes so far, the weights are ``w+_i = alpha^z_i``
    and ``w-_i = alpha^-z_i``, ``n`` in all, and the answer is the sign of ``(w+ - w-).x``. Let
    ``|x_i| <= X``, let ``||u||_1 <= 1``, let ``gamma > 0``, and let ``D`` be the hinge loss
    ``sum_t max(0, 1 - y_t u.x_t / gamma)``. With ``eta = ln(alpha)``, the number of mistakes is at
    most::

        (ln(n) + eta gamma D) / (eta gamma - ln cosh(eta X))

    if the denominator is positive. For the sum of the weights begins with ``n`` and grows by a
    factor of at most ``cosh(eta X)`` in a mistake; and it is at least ``exp(eta u.z)``, where
    ``u.z`` grows by at least ``gamma`` minus the loss. The best factor has
    ``tanh(eta X) = gamma / X``, and without loss it gives at most ``2 ln(n) X^2 / gamma^2``
    mistakes.

    The same holds for weight vectors ``w_k = alpha^z_k`` of several classes, ``n`` weights in all,
    if the answer is the class with the largest ``w_k.x``, and on a mistake ``x`` is added to
    ``z_k`` of the true class and subtracted from that of the best other one. Then ``u`` has a
    vector for each class, nothing negative in it and the sum one, and the margin is the least
    difference between the scores of the true class and of another one.

    Parameters
    ----------
    margin : float or array-like
        The margin ``gamma``, positive.

    radius : float or array-like
        The largest ``|x_i|``, positive.

    n : int or array-like of int
        The number of weights: twice the number of features.

    alpha : float or array-like, default=2.0
        The factor of a promotion, above one.

    hinge_loss : float or array-like, default=0.0
        The hinge loss ``D`` of ``u``, relative to the margin.

    Returns
    -------
    bound : float or ndarray
        No more mistakes than these; infinite where the theorem says nothing, because ``alpha`` is
        too large for the margin.

    See Also
    --------
    winnow_bound : On disjunctions, with a threshold.
    exponentiated_gradient_bound : Of losses instead of mistakes.

    References
    ----------
    .. [1] A. J. Grove, N. Littlestone and D. Schuurmans, "General convergence results for linear
       discriminant updates", Machine Learning 43, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.theory import balanced_winnow_bound
    >>> margin, n = 0.1, 2000
    >>> alpha = np.exp(np.arctanh(margin))
    >>> round(float(balanced_winnow_bound(margin, 1.0, n, alpha)), 1)
    1517.6
    >>> round(float(2 * np.log(n) / margin**2), 1)
    1520.2
    >>> float(balanced_winnow_bound(margin, 1.0, n, alpha=2.0))
    inf
    """
    margin, radius = positive("margin", margin), positive("radius", radius)
    n, loss = whole("n", n, low=1), real("hinge_loss", hinge_loss, low=0)
    alpha = positive("alpha", alpha)
    if np.any(alpha <= 1):
        raise ValueError(f"alpha must be > 1; got {alpha!r}.")
    eta = np.log(alpha)
    gain = eta * margin - log_cosh(eta * radius)
    with np.errstate(divide="ignore", over="ignore"):
        bound = (np.log(n) + eta * margin * loss) / np.maximum(gain, 0.0)
    return np.where(gain > 0, bound, np.inf)[()]


def log_cosh(a):
    """Return the logarithm of the hyperbolic cosine of positive numbers, large or small."""
    small = np.log1p(2 * np.sinh(np.minimum(a, 1.0) / 2) ** 2)
    return np.where(a < 1, small, a + np.log1p(np.exp(-2 * a)) - np.log(2))[()]


def disjunction_perceptron_bound(k: ArrayLike, n: ArrayLike) -> float | np.ndarray:
    """Return an upper bound on the number of mistakes of the perceptron on a disjunction.

    With an intercept, ``||(x, 1)||^2 <= n + 1``, and the weights 2 on the ``k`` attributes, 0 on
    the others, with the intercept -1, have the margin 1 and the squared norm ``4 k + 1``:
    Novikoff's bound is ``(4 k + 1) (n + 1)``.

    Parameters
    ----------
    k : int or array-like of int
        The number of attributes of the disjunction.

    n : int or array-like of int
        The number of all attributes.

    Returns
    -------
    bound : float or ndarray
        No more mistakes than these.

    See Also
    --------
    perceptron_bound : The theorem behind it.
    winnow_bound : Of Winnow, logarithmic in ``n``.

    Examples
    --------
    >>> from sklearn_sl.theory import disjunction_perceptron_bound
    >>> disjunction_perceptron_bound(k=4, n=[16, 64, 256, 1024])
    array([  289.,  1105.,  4369., 17425.])
    """
    return (4 * whole("k", k, low=0) + 1) * (whole("n", n, low=1) + 1)


def exponentiated_gradient_bound(
    n: ArrayLike, radius: ArrayLike, eta: ArrayLike, squared_gradients: ArrayLike
) -> float | np.ndarray:
    """Return an upper bound on the regret of exponentiated gradients with a constant rate.

    The weights ``w_t`` are ``U p_t`` with ``p_{t,i}`` proportional to
    ``exp(-eta sum_{s<t} g_{s,i})``, where ``g_s = l'(w_s.x_s) x_s`` is the gradient of a convex
    loss. For every ``u >= 0`` with the sum ``U``::

        sum_t l_t(w_t) - l_t(u) <= sum_t g_t.(w_t - u) <= U ln(n) / eta + U eta / 2 sum_t ||g_t||^2

    with the norm ``max_i |g_{t,i}|``. For the logarithm of the sum of ``exp(-eta sum_t g_{t,i})``
    is at least the best exponent, and by Hoeffding's lemma it grows in each trial by at most
    ``-eta p_t.g_t + eta^2 ||g_t||^2 / 2``. Weights of both signs are differences of two of these,
    ``n`` is then twice the number of features, and ``u`` any vector with ``||u||_1 <= U``.

    If the learning rate decreases, ``p_t`` with the rate ``eta_t`` of its trial, the bound is
    ``U ln(n) / eta_T + U / 2 sum_t eta_t ||g_t||^2``.

    Parameters
    ----------
    n : int or array-like of int
        The number of weights.

    radius : float or array-like
        The sum ``U`` of the weights.

    eta : float or array-like
        The learning rate.

    squared_gradients : float or array-like
        The sum of the squared largest entries of the gradients; the number of trials times
        ``X^2`` if no gradient has an entry above ``X``.

    Returns
    -------
    bound : float or ndarray
        No more regret than this.

    References
    ----------
    .. [1] J. Kivinen and M. Warmuth, "Exponentiated gradient versus gradient descent for linear
       predictors", Information and Computation 132, 1997.

    .. [2] S. Shalev-Shwartz, "Online learning and online convex optimization", Foundations and
       Trends in Machine Learning 4, 2012.

    Examples
    --------
    The best rate for a thousand trials with gradients up to one:

    >>> import numpy as np
    >>> from sklearn_sl.theory import exponentiated_gradient_bound
    >>> n, m = 200, 1000
    >>> eta = np.sqrt(2 * np.log(n) / m)
    >>> round(float(exponentiated_gradient_bound(n, 1.0, eta, m)), 2)
    102.94
    >>> round(float(np.sqrt(2 * m * np.log(n))), 2)
    102.94
    """
    n, radius = whole("n", n, low=1), positive("radius", radius)
    eta = positive("eta", eta)
    squares = real("squared_gradients", squared_gradients, low=0)
    return radius * (np.log(n) / eta + eta * squares / 2)


def ellipsoid_bound(d: ArrayLike, n: ArrayLike) -> float | np.ndarray:
    """Return an upper bound on the number of mistakes of the ellipsoid on a grid.

    Let the weights ``w`` that are sought and all samples have entries in
    ``{-1, -1 + 1/n, ..., 1}``, with ``||x|| <= 1`` and ``||w|| <= 1 - 1/n^2``. Then
    ``y w.x >= 1/n^2``, so all weights within ``1/n^2`` of ``w`` separate the samples as well. The
    ellipsoids contain them: their volumes are at least ``n^(-2 d)`` times that of the first one,
    the unit ball. By :func:`ellipsoid_volume_ratio` there are at most::

        2 d (2 d + 2) ln(n)

    mistakes.

    Parameters
    ----------
    d : int or array-like of int
        The number of weights.

    n : float or array-like
        The fineness of the grid, at least one.

    Returns
    -------
    bound : float or ndarray
        No more mistakes than these.

    See Also
    --------
    ellipsoid_volume_ratio : How the volume shrinks in a mistake.

    References
    ----------
    .. [1] N. Littlestone, "Learning quickly when irrelevant attributes abound: a new
       linear-threshold algorithm", Machine Learning 2, 1988.

    .. [2] S. Shalev-Shwartz and S. Ben-David, "Understanding machine learning", Cambridge
       University Press, 2014, chapter 21.

    Examples
    --------
    >>> from sklearn_sl.theory import ellipsoid_bound
    >>> ellipsoid_bound([2, 3, 5, 8], [5, 20, 10, 20]).round(1)
    array([ 38.6, 143.8, 276.3, 862.8])
    """
    d = whole("d", d, low=1)
    return 2 * d * (2 * d + 2) * np.log(real("n", n, low=1))


class VolumeRatio(NamedTuple):
    """The volume of an ellipsoid after a mistake; see :func:`ellipsoid_volume_ratio`.

    Attributes
    ----------
    ratio : float or ndarray
        The volume relative to the one before.

    bound : float or ndarray
        A simpler number that is not less.

    See Also
    --------
    ellipsoid_volume_ratio : Computes it.

    Examples
    --------
    >>> from sklearn_sl.theory import ellipsoid_volume_ratio
    >>> ratio, bound = ellipsoid_volume_ratio(2)
    >>> round(float(ratio), 6), round(float(bound), 6)
    (0.7698, 0.846482)
    """

    ratio: np.ndarray
    bound: np.ndarray


def ellipsoid_volume_ratio(d: ArrayLike) -> Any:
    """Return the factor by which a mistake shrinks the volume of the ellipsoid.

    The least ellipsoid around one half of an ellipsoid has an axis that is shorter by the factor
    ``d / (d + 1)``, and ``d - 1`` axes that are longer by ``d / sqrt(d^2 - 1)``. Its volume is the
    old one times::

        (1 + 1 / (d^2 - 1))^((d - 1) / 2) (1 - 1 / (d + 1)) <= exp(-1 / (2 d + 2))

    For ``d = 1`` it is one half.

    Parameters
    ----------
    d : int or array-like of int
        The dimension.

    Returns
    -------
    ratio : VolumeRatio
        The ``ratio`` and the ``bound`` on it.

    See Also
    --------
    ellipsoid_bound : What follows for the number of mistakes.

    Examples
    --------
    >>> from sklearn_sl.theory import ellipsoid_volume_ratio
    >>> ellipsoid_volume_ratio([1, 2, 3, 5, 10, 50]).ratio.round(6)
    array([0.5     , 0.7698  , 0.84375 , 0.904225, 0.95115 , 0.990049])
    """
    d = whole("d", d, low=1)
    others = (d - 1) / 2 * np.log1p(1 / np.maximum(d**2 - 1, 1.0))
    ratio = np.exp(others + np.log1p(-1 / (d + 1)))
    return VolumeRatio(ratio, np.exp(-1 / (2 * d + 2)))
