"""The losses of linear models, and the constants that the theorems about them need."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import expit, log_softmax, softmax

from sklearn_sl.theory._domain import LARGEST, plain, real, whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_sl._typing import ArrayLike


class LossConstants(NamedTuple):
    """The constants of a loss as a function of the score; see :func:`loss_constants`.

    Attributes
    ----------
    convex : bool
        Whether the loss is convex.

    lipschitz : float
        ``|L(a) - L(b)| <= lipschitz |a - b|``; infinite if there is none.

    smoothness : float
        ``|L'(a) - L'(b)| <= smoothness |a - b|``; infinite if there is none.

    strong_convexity : float
        ``L(a) - strong_convexity |a|^2 / 2`` is convex; 0 if no larger number will do.

    surrogate_factor : float
        The least ``c`` with ``c L >= 1`` wherever the score gives a wrong class or none; infinite
        if there is no such number.

    See Also
    --------
    loss_constants : Computes them.

    Examples
    --------
    For a score ``<w, x>`` with ``||x|| <= 3`` and the penalty ``0.1 ||w||^2``, in terms of ``w``:

    >>> from sklearn_sl.theory import loss_constants
    >>> constants = loss_constants("log_loss").of_weights(x_norm=3.0, penalty=0.1)
    >>> constants.lipschitz, constants.smoothness, constants.strong_convexity
    (3.0, 2.45, 0.2)
    """

    convex: bool
    lipschitz: float
    smoothness: float
    strong_convexity: float
    surrogate_factor: float

    def of_weights(self, x_norm: float, penalty: float = 0.0) -> LossConstants:
        """Return the constants of the loss as a function of the weights of linear scores.

        The score is ``<w, x>``, or there is one for each class. Then a Lipschitz constant counts
        ``||x||`` times, smoothness ``||x||^2`` times; and the loss does not change along the
        weights that are orthogonal to ``x``, so that strong convexity is that of the penalty.

        Parameters
        ----------
        x_norm : float
            The largest norm of a sample; ``sqrt(||x||^2 + 1)`` if there is an intercept.

        penalty : float, default=0.0
            The factor ``lambda`` of ``||w||^2``, which adds ``2 lambda`` to smoothness and strong
            convexity. The Lipschitz constant is that of the loss alone, as the theorems on
            regularised loss minimisation have it.

        Returns
        -------
        constants : LossConstants
            In terms of the weights.
        """
        x_norm = plain(real("x_norm", x_norm, 0.0))
        penalty = plain(real("penalty", penalty, 0.0))
        return self._replace(
            lipschitz=self.lipschitz * x_norm if x_norm else 0.0,
            smoothness=(self.smoothness * x_norm * x_norm if x_norm else 0.0) + 2 * penalty,
            strong_convexity=2 * penalty,
        )


class _Loss(NamedTuple):
    """A loss of one score: value and slope as functions of ``(y, a, epsilon)``, and constants."""

    value: Callable[..., Any]
    slope: Callable[..., Any]
    constants: Callable[..., LossConstants]
    # Whether targets are -1 and 1, and the radius is that of the score and not of its error.
    labels: bool = True


def _of_margin(value, slope, constants):
    """Return the loss that is a function of ``y a``."""
    return _Loss(
        lambda y, a, _: value(y * a), lambda y, a, _: y * slope(y * a), lambda r, _: constants(r)
    )


def _of_residual(value, slope, constants):
    """Return the loss that is a function of ``a - y`` and of ``epsilon``."""
    return _Loss(
        lambda y, a, epsilon: value(a - y, epsilon),
        lambda y, a, epsilon: slope(a - y, epsilon),
        constants,
        labels=False,
    )


def _outside(r, epsilon):
    """Return by how much the error is larger than ``epsilon``."""
    return np.maximum(0.0, np.abs(r) - epsilon)


def _factor(value):
    """Return the factor that makes a value one."""
    return 1 / value if value > 0 else inf


def _huber_constants(r, epsilon):
    # An error of one is that of a wrong class.
    at_one = 0.5 if epsilon >= 1 else epsilon - epsilon**2 / 2
    within = 1.0 if r <= epsilon else 0.0
    return LossConstants(True, min(r, epsilon), 1.0, within, _factor(at_one))


def _squared_tube_constants(r, epsilon):
    slope, at_one = 2 * max(0.0, r - epsilon), max(0.0, 1 - epsilon) ** 2
    strong = 2.0 if epsilon == 0 else 0.0
    return LossConstants(True, slope, 2.0 if r > epsilon else 0.0, strong, _factor(at_one))


def _exp(r):
    return inf if r > np.log(LARGEST) else float(np.exp(r))


LOSSES = {
    "squared_error": _of_residual(
        lambda r, _: r**2,
        lambda r, _: 2 * r,
        lambda r, _: LossConstants(True, 2 * r, 2.0, 2.0, 1.0),
    ),
    "absolute_error": _of_residual(
        lambda r, _: np.abs(r),
        lambda r, _: np.sign(r),
        lambda r, _: LossConstants(True, 1.0, inf, 0.0, 1.0),
    ),
    "huber": _of_residual(
        lambda r, e: np.where(np.abs(r) <= e, r**2 / 2, e * np.abs(r) - e**2 / 2),
        lambda r, e: np.clip(r, -e, e),
        _huber_constants,
    ),
    "epsilon_insensitive": _of_residual(
        _outside,
        lambda r, e: np.sign(r) * (np.abs(r) > e),
        lambda r, e: LossConstants(
            True, float(r > e), inf if r > e else 0.0, 0.0, _factor(max(0.0, 1 - e))
        ),
    ),
    "squared_epsilon_insensitive": _of_residual(
        lambda r, e: _outside(r, e) ** 2,
        lambda r, e: 2 * np.sign(r) * _outside(r, e),
        _squared_tube_constants,
    ),
    "log_loss": _of_margin(
        lambda t: np.logaddexp(0.0, -t),
        lambda t: -expit(-t),
        lambda r: LossConstants(
            True, float(expit(r)), 0.25, float(expit(r) * expit(-r)), 1 / float(np.log(2))
        ),
    ),
    "perceptron": _of_margin(
        lambda t: np.maximum(0.0, -t),
        lambda t: -1.0 * (t < 0),
        lambda r: LossConstants(True, 1.0, inf, 0.0, inf),
    ),
    "hinge": _of_margin(
        lambda t: np.maximum(0.0, 1 - t),
        lambda t: -1.0 * (t < 1),
        lambda r: LossConstants(True, 1.0, inf if r >= 1 else 0.0, 0.0, 1.0),
    ),
    "squared_hinge": _of_margin(
        lambda t: np.maximum(0.0, 1 - t) ** 2,
        lambda t: -2 * np.maximum(0.0, 1 - t),
        lambda r: LossConstants(True, 2 * (1 + r), 2.0, 2.0 if r <= 1 else 0.0, 1.0),
    ),
    "exponential": _of_margin(
        lambda t: np.exp(-t),
        lambda t: -np.exp(-t),
        lambda r: LossConstants(True, _exp(r), _exp(r), float(np.exp(-r)), 1.0),
    ),
    "zero_one": _of_margin(
        lambda t: 1.0 * (t <= 0),
        lambda t: 0.0 * t,
        lambda r: LossConstants(False, inf, inf, 0.0, 1.0),
    ),
}


def _rival(y, scores):
    """Return which class decides the multi-class hinge, and its loss."""
    rows = np.arange(len(scores))
    loss = 1.0 + scores - scores[rows, y][:, None]
    loss[rows, y] = 0.0
    worst = loss.argmax(axis=1)
    return worst, loss[rows, worst]


def _hinge_slope(y, scores):
    rows, slope = np.arange(len(scores)), np.zeros_like(scores)
    slope[rows, _rival(y, scores)[0]] += 1.0
    slope[rows, y] -= 1.0
    return slope


def _entropy_slope(y, scores):
    slope = softmax(scores, axis=1)
    slope[np.arange(len(scores)), y] -= 1.0
    return slope


# Losses of one score for each class: value, slope and constants.
ROOT_TWO = float(np.sqrt(2))
OF_CLASSES = {
    "multiclass_hinge": (
        lambda y, scores: _rival(y, scores)[1],
        _hinge_slope,
        LossConstants(True, ROOT_TWO, inf, 0.0, 1.0),
    ),
    "cross_entropy": (
        lambda y, scores: -log_softmax(scores, axis=1)[np.arange(len(scores)), y],
        _entropy_slope,
        LossConstants(True, ROOT_TWO, 0.5, 0.0, 1 / float(np.log(2))),
    ),
}


def _known(loss):
    """Raise a ValueError if there is no such loss."""
    if loss not in LOSSES and loss not in OF_CLASSES:
        raise ValueError(f"loss must be one of {sorted({*LOSSES, *OF_CLASSES})}; got {loss!r}.")


def loss_constants(loss: str, radius: float = inf, epsilon: float = 0.1) -> Any:
    """Return the Lipschitz, smoothness and strong-convexity constants of a loss.

    They are those of the loss as a function of the score ``a``, the output of a model before any
    rounding to a class. Bounds on stability, risk and convergence need them.

    ============================== ======================= ============ ===================
    loss                           Lipschitz               smoothness   strong convexity
    ============================== ======================= ============ ===================
    "squared_error"                2 r                     2            2
    "absolute_error"               1                       --           0
    "huber"                        min(r, e)               1            1 if r <= e, else 0
    "epsilon_insensitive"          1                       --           0
    "squared_epsilon_insensitive"  2 max(0, r - e)         2            0 (2 if e = 0)
    "log_loss"                     1 / (1 + exp(-r))       1/4          p (1 - p)
    "perceptron"                   1                       --           0
    "hinge"                        1                       --           0
    "squared_hinge"                2 (1 + r)               2            2 if r <= 1, else 0
    "exponential"                  exp(r)                  exp(r)       exp(-r)
    "zero_one"                     --                      --           not convex
    "multiclass_hinge"             sqrt(2)                 --           0
    "cross_entropy"                sqrt(2)                 1/2          0
    ============================== ======================= ============ ===================

    with the radius ``r``, ``e = epsilon`` and ``p = 1 / (1 + exp(-r))``. The square is not halved;
    the Huber loss is, as scikit-learn has them in its metrics and in ``HuberRegressor``. A loss
    that is linear within the radius has the smoothness zero, and one that is zero there has the
    Lipschitz constant zero as well.

    Parameters
    ----------
    loss : str
        The loss.

    radius : float, default=inf
        For targets that are numbers, the largest absolute error ``|a - y|``; for classes -1 and 1,
        the largest absolute score. The constants are the least that hold there. Those of the
        losses of several classes are the least that hold for all scores, whatever the radius.

    epsilon : float, default=0.1
        Where the Huber loss becomes linear, and the tube of the epsilon-insensitive losses.

    Returns
    -------
    constants : LossConstants
        ``convex``, ``lipschitz``, ``smoothness``, ``strong_convexity`` and ``surrogate_factor``.

    See Also
    --------
    loss_value : The loss itself.
    rlm_stability_bound : Needs the Lipschitz constant.

    References
    ----------
    .. [1] S. Shalev-Shwartz and S. Ben-David, "Understanding machine learning", Cambridge
       University Press, 2014, chapter 12.

    Examples
    --------
    >>> from sklearn_sl.theory import loss_constants
    >>> loss_constants("hinge").lipschitz
    1.0
    >>> loss_constants("squared_error").lipschitz, loss_constants("squared_error", 3).lipschitz
    (inf, 6.0)
    """
    _known(loss)
    radius = plain(real("radius", radius, 0.0, inf))
    epsilon = plain(real("epsilon", epsilon, 0.0))
    if loss in OF_CLASSES:
        return OF_CLASSES[loss][2]
    return LOSSES[loss].constants(radius, epsilon)


def loss_value(
    loss: str, y: ArrayLike, score: ArrayLike, epsilon: float = 0.1
) -> float | np.ndarray:
    """Return the loss of scores.

    Parameters
    ----------
    loss : str
        As in :func:`loss_constants`.

    y : array-like
        The targets: numbers, or classes -1 and 1. For the losses of several classes their
        indices, 0, 1, 2 and so on.

    score : array-like
        The scores, broadcast with ``y``; of shape (n_samples, n_classes) for several classes.

    epsilon : float, default=0.1
        The parameter of the Huber and epsilon-insensitive losses.

    Returns
    -------
    loss : float or ndarray
        The losses.

    See Also
    --------
    loss_gradient : Its derivative.

    Examples
    --------
    >>> from sklearn_sl.theory import loss_value
    >>> loss_value("hinge", 1, [-1.0, 0.5, 2.0])
    array([2. , 0.5, 0. ])
    """
    return _evaluate(loss, y, score, epsilon, 0)


def loss_gradient(
    loss: str, y: ArrayLike, score: ArrayLike, epsilon: float = 0.1
) -> float | np.ndarray:
    """Return a subgradient of the loss with respect to the score.

    Parameters
    ----------
    loss : str
        As in :func:`loss_constants`. The derivative of the zero-one loss is zero wherever it
        exists, and of no use.

    y : array-like
        The targets; see :func:`loss_value`.

    score : array-like
        The scores.

    epsilon : float, default=0.1
        The parameter of the Huber and epsilon-insensitive losses.

    Returns
    -------
    gradient : float or ndarray
        The derivatives; one of the subgradients at a kink. Of the shape of the scores.

    See Also
    --------
    loss_value : The loss.

    Examples
    --------
    >>> from sklearn_sl.theory import loss_gradient
    >>> loss_gradient("squared_error", 1.0, [0.0, 1.0, 3.0])
    array([-2.,  0.,  4.])
    """
    return _evaluate(loss, y, score, epsilon, 1)


def _evaluate(loss, y, score, epsilon, order):
    """Return the loss of scores, or its derivative."""
    _known(loss)
    score = real("score", score)
    epsilon = plain(real("epsilon", epsilon, 0.0))
    if loss in OF_CLASSES:
        return OF_CLASSES[loss][order](_class_indices(y, score), score)
    y = real("y", y)
    if LOSSES[loss].labels and not np.all(np.abs(y) == 1):
        raise ValueError(f"y must be -1 or 1 for the loss {loss!r}; got {y}.")
    # Losses beyond the range of numbers are infinite.
    with np.errstate(over="ignore"):
        return plain(np.asarray(LOSSES[loss][order](y, score, epsilon)))


def _class_indices(y, score):
    """Return the classes as integers, or raise a ValueError if the scores are not theirs."""
    if score.ndim != 2:
        raise ValueError(f"score must be of shape (n_samples, n_classes); got {score.shape}.")
    y = np.asarray(whole("y", y, low=0))
    if y.shape != score.shape[:1] or np.any(y >= score.shape[1]):
        raise ValueError(
            f"y must have an index < {score.shape[1]} for each of {len(score)} rows of score; got "
            f"shape {y.shape} and at most {y.max(initial=0):g}."
        )
    return y.astype(np.intp)


class SurrogateDecomposition(NamedTuple):
    """The parts of a bound on the zero-one risk; see :func:`surrogate_decomposition`.

    Attributes
    ----------
    approximation : float or ndarray
        The least zero-one risk of the class.

    optimization : float or ndarray
        By how much the least risk of the surrogate is larger.

    estimation : float or ndarray
        By how much the surrogate risk of the model is larger than the least.

    bound : float or ndarray
        Their sum.

    See Also
    --------
    surrogate_decomposition : Computes it.

    Examples
    --------
    >>> from sklearn_sl.theory import surrogate_decomposition
    >>> parts = surrogate_decomposition(0.125, 0.25, 0.375)
    >>> parts.approximation, parts.optimization, parts.estimation, parts.bound
    (0.125, 0.125, 0.125, 0.375)
    """

    approximation: float | np.ndarray
    optimization: float | np.ndarray
    estimation: float | np.ndarray
    bound: float | np.ndarray


def surrogate_decomposition(
    best_risk: ArrayLike, best_surrogate_risk: ArrayLike, surrogate_risk: ArrayLike
) -> Any:
    """Return the parts of the risk of a model that was fitted with a surrogate loss.

    Let ``R`` be the risk of a loss that is hard to minimise, such as the zero-one loss, and ``S``
    that of a convex loss which is never smaller, such as the hinge. For a model ``w``::

        R(w) <= min R  +  (min S - min R)  +  (S(w) - min S)

    approximation error, optimisation error and estimation error.

    Parameters
    ----------
    best_risk : float or array-like
        ``min R`` over the class.

    best_surrogate_risk : float or array-like
        ``min S`` over the class.

    surrogate_risk : float or array-like
        ``S(w)`` of the model.

    Returns
    -------
    parts : SurrogateDecomposition
        ``approximation``, ``optimization``, ``estimation`` and their sum, the ``bound``.

    See Also
    --------
    loss_constants : Its ``surrogate_factor`` makes a loss never smaller than the zero-one loss.

    Examples
    --------
    >>> from sklearn_sl.theory import surrogate_decomposition
    >>> surrogate_decomposition(0.0, 0.25, 0.5).bound
    0.5
    """
    best = real("best_risk", best_risk, 0.0)
    surrogate = real("best_surrogate_risk", best_surrogate_risk, 0.0)
    risk = real("surrogate_risk", surrogate_risk, 0.0)
    if np.any(surrogate < best) or np.any(risk < surrogate):
        raise ValueError("best_risk <= best_surrogate_risk <= surrogate_risk must hold.")
    parts = plain(best), plain(surrogate - best), plain(risk - surrogate)
    return SurrogateDecomposition(*parts, plain(risk))
