"""The best rules for a known law, their errors, and those of the nearest neighbour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from sklearn_sl.theory._domain import plain, probability, real, short, whole
from sklearn_sl.theory._domain import vector as checked_vector
from sklearn_sl.theory._vc import law

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


class BayesRule(NamedTuple):
    """The best rule for a law, and its expected loss; see :func:`bayes_rule`.

    Attributes
    ----------
    predictions : ndarray of shape (n_points,)
        The best prediction for each point.

    risk : float
        Its expected loss: no rule has a smaller one.

    conditional_risk : ndarray of shape (n_points,)
        The expected loss given each point.

    See Also
    --------
    bayes_rule : Computes it.

    Examples
    --------
    >>> from sklearn_sl.theory import bayes_rule
    >>> bayes_rule([[0.4, 0.1], [0.2, 0.3]]).predictions
    array([0, 1])
    """

    predictions: np.ndarray
    risk: float
    conditional_risk: np.ndarray


def bayes_rule(
    joint: ArrayLike,
    loss: Literal["zero_one", "squared", "absolute"] = "zero_one",
    targets: ArrayLike | None = None,
) -> BayesRule:
    """Return the best rule for a law of points and targets that is known.

    ============  =====================================  =================================
    loss          best prediction at ``x``               its expected loss at ``x``
    ============  =====================================  =================================
    "zero_one"    the most likely target                 ``1 - max_c P(c | x)``
    "squared"     the mean ``E[y | x]``                  the variance of ``y``
    "absolute"    the median of ``y``                    the mean distance from the median
    ============  =====================================  =================================

    Ties are broken in favour of the first target, and of the lowest median. At a point of
    probability zero, where all predictions are equally good, it is the best prediction for the
    marginal law of the targets.

    Parameters
    ----------
    joint : array-like of shape (n_points, n_targets)
        The probabilities ``P(x, y)``; the sum is one.

    loss : {"zero_one", "squared", "absolute"}, default="zero_one"
        The loss.

    targets : array-like of shape (n_targets,), default=None
        The targets in the order of the columns, as numbers; ``0, 1, ...`` if None.

    Returns
    -------
    rule : BayesRule
        The ``predictions``, their ``risk``, and the ``conditional_risk`` at each point.

    See Also
    --------
    expected_loss : The expected loss of any rule.
    cover_hart_bound : The error of the nearest neighbour.

    References
    ----------
    .. [1] L. Devroye, L. Gyorfi and G. Lugosi, "A Probabilistic Theory of Pattern Recognition",
       Springer, 1996, chapter 2.

    Examples
    --------
    >>> from sklearn_sl.theory import bayes_rule
    >>> joint = [[0.3, 0.1, 0.1], [0.1, 0.1, 0.3]]
    >>> bayes_rule(joint).predictions, round(bayes_rule(joint).risk, 3)
    (array([0, 2]), 0.4)
    >>> bayes_rule(joint, "squared", targets=[0, 1, 5]).predictions
    array([1.2, 3.2])
    """
    joint, targets = _law_of_pairs(joint, targets)
    mass = joint.sum(axis=1, keepdims=True)
    alone = np.broadcast_to(joint.sum(axis=0), joint.shape)
    given = np.divide(joint, mass, out=alone.copy(), where=mass > 0)
    predictions = _best(given, targets, loss)
    conditional = np.sum(given * _losses(predictions, targets, loss), axis=1)
    return BayesRule(predictions, float(mass[:, 0] @ conditional), conditional)


def _best(given, targets, loss):
    """Return the best prediction for each row of conditional probabilities."""
    if loss == "zero_one":
        return targets[np.argmax(given, axis=1)]
    if loss == "squared":
        return given @ targets
    if loss == "absolute":
        order = np.argsort(targets, kind="stable")
        reached = np.cumsum(given[:, order], axis=1) >= 0.5 - 1e-12
        return targets[order][np.argmax(reached, axis=1)]
    raise ValueError(f'loss must be "zero_one", "squared" or "absolute"; got {loss!r}.')


def expected_loss(
    joint: ArrayLike,
    predictions: ArrayLike,
    loss: Literal["zero_one", "squared", "absolute"] = "zero_one",
    targets: ArrayLike | None = None,
) -> float:
    """Return the expected loss of a rule under a law that is known.

    Parameters
    ----------
    joint : array-like of shape (n_points, n_targets)
        The probabilities ``P(x, y)``; the sum is one.

    predictions : array-like of shape (n_points,)
        What the rule predicts at each point.

    loss : {"zero_one", "squared", "absolute"}, default="zero_one"
        The loss.

    targets : array-like of shape (n_targets,), default=None
        The targets in the order of the columns, as numbers; ``0, 1, ...`` if None.

    Returns
    -------
    risk : float
        The sum of ``P(x, y) loss(y, f(x))``.

    See Also
    --------
    bayes_rule : The rule with the smallest expected loss.

    Examples
    --------
    >>> from sklearn_sl.theory import expected_loss
    >>> round(expected_loss([[0.4, 0.1], [0.2, 0.3]], [0, 0]), 3)
    0.4
    """
    joint, targets = _law_of_pairs(joint, targets)
    predictions = checked_vector("predictions", predictions)
    if len(predictions) != len(joint):
        raise ValueError(
            f"predictions must have one entry for each of {len(joint)} points; got "
            f"{len(predictions)}."
        )
    return float(np.sum(joint * _losses(predictions, targets, loss)))


def _losses(predictions, targets, loss):
    """Return the loss of each prediction for each target."""
    if loss == "zero_one":
        return (predictions[:, None] != targets).astype(np.float64)
    distances = np.abs(predictions[:, None] - targets)
    if loss == "squared":
        return distances**2
    if loss == "absolute":
        return distances
    raise ValueError(f'loss must be "zero_one", "squared" or "absolute"; got {loss!r}.')


def _law_of_pairs(joint, targets):
    """Return a law of points and targets, and the targets, or raise a ValueError."""
    joint = law("joint", joint)
    if joint.ndim != 2:
        raise ValueError(
            "joint must be a matrix with a row for each point and a column for each target; got "
            f"shape {joint.shape}."
        )
    if targets is None:
        return joint, np.arange(joint.shape[1])
    targets = checked_vector("targets", targets)
    if len(targets) != joint.shape[1] or len(np.unique(targets)) != len(targets):
        raise ValueError(
            f"targets must be {joint.shape[1]} different numbers, one for each column of joint; "
            f"got {short(targets)}."
        )
    return joint, targets


# ---------------------------------------------------------------- nearest neighbours


def nearest_neighbor_error(joint: ArrayLike) -> float:
    """Return the error of the nearest neighbour in the limit of many samples.

    When the neighbour is so near that its class has the same law, the two classes differ with
    probability ``sum_x P(x) sum_c P(c | x) (1 - P(c | x))``.

    Parameters
    ----------
    joint : array-like of shape (n_points, n_classes)
        The probabilities ``P(x, c)``; the sum is one.

    Returns
    -------
    error : float
        The probability of an error.

    See Also
    --------
    cover_hart_bound : A bound by the Bayes error alone.

    References
    ----------
    .. [1] T. Cover and P. Hart, "Nearest neighbor pattern classification", IEEE Transactions on
       Information Theory 13, 1967.

    Examples
    --------
    >>> from sklearn_sl.theory import bayes_rule, cover_hart_bound, nearest_neighbor_error
    >>> joint = [[0.45, 0.05], [0.2, 0.3]]
    >>> risk = bayes_rule(joint).risk
    >>> round(risk, 3), round(nearest_neighbor_error(joint), 3), round(cover_hart_bound(risk), 3)
    (0.25, 0.33, 0.375)
    """
    joint, _ = _law_of_pairs(joint, None)
    mass = joint.sum(axis=1, keepdims=True)
    share = np.divide(joint, mass, out=np.zeros_like(joint), where=mass > 0)
    return float(np.sum(joint * (1 - share)))


def cover_hart_bound(bayes_error: ArrayLike, n_classes: ArrayLike = 2) -> float | np.ndarray:
    """Return an upper bound on the limit of the error of the nearest neighbour.

    With the Bayes error ``e`` and ``C`` classes the error of the nearest neighbour tends to at
    most::

        e (2 - e C / (C - 1)) <= 2 e

    Parameters
    ----------
    bayes_error : float or array-like
        The Bayes error ``e``, at most ``1 - 1/C``.

    n_classes : int or array-like of int, default=2
        The number ``C`` of classes.

    Returns
    -------
    bound : float or ndarray
        The bound.

    See Also
    --------
    cover_hart_bracket : From the error of the nearest neighbour to the Bayes error.
    nearest_neighbor_error : The limit itself, for a known law.

    References
    ----------
    .. [1] T. Cover and P. Hart, "Nearest neighbor pattern classification", IEEE Transactions on
       Information Theory 13, 1967.

    Examples
    --------
    >>> from sklearn_sl.theory import cover_hart_bound
    >>> cover_hart_bound([0.0, 0.1, 0.5], 2).round(2)
    array([0.  , 0.18, 0.5 ])
    """
    error, ratio = _error_of_classes("bayes_error", bayes_error, n_classes)
    return plain(error * (2 - error * ratio))


def cover_hart_bracket(
    nearest_neighbor_error: ArrayLike, n_classes: ArrayLike = 2
) -> tuple[Any, Any]:
    """Return bounds on the Bayes error by the error of the nearest neighbour.

    With ``R`` the limit of the error of the nearest neighbour and ``C`` classes::

        (C - 1) / C (1 - sqrt(1 - R C / (C - 1))) <= Bayes error <= R

    Parameters
    ----------
    nearest_neighbor_error : float or array-like
        The error ``R`` of the nearest neighbour with many samples, at most ``1 - 1/C``.

    n_classes : int or array-like of int, default=2
        The number ``C`` of classes.

    Returns
    -------
    lower, upper : float or ndarray
        The bounds.

    See Also
    --------
    cover_hart_bound : From the Bayes error to that of the nearest neighbour.

    References
    ----------
    .. [1] T. Cover and P. Hart, "Nearest neighbor pattern classification", IEEE Transactions on
       Information Theory 13, 1967.

    Examples
    --------
    >>> from sklearn_sl.theory import cover_hart_bracket
    >>> lower, upper = cover_hart_bracket(0.18)
    >>> round(lower, 3), upper
    (0.1, 0.18)
    """
    error, ratio = _error_of_classes("nearest_neighbor_error", nearest_neighbor_error, n_classes)
    # (1 - sqrt(1 - z)) without its cancellation for small z
    lower = error / (1 + np.sqrt(np.maximum(1 - error * ratio, 0.0)))
    return plain(lower), plain(error)


def _error_of_classes(name, error, n_classes):
    """Return an error that is at most that of guessing, and ``C / (C - 1)``."""
    error, classes = real(name, error, 0.0, 1.0), whole("n_classes", n_classes, low=2)
    ratio = classes / (classes - 1)
    if np.any(error * ratio > 1 + 1e-12):
        raise ValueError(f"{name} must be at most 1 - 1 / n_classes; got {short(error)}.")
    return error, ratio


def ball_volume_ratio(n_features: ArrayLike, ratio: ArrayLike = 0.5) -> float | np.ndarray:
    """Return the share of a ball that lies in the ball with the same centre and a smaller radius.

    It is ``ratio^d`` in ``d`` dimensions: the curse of dimensionality. Most of the volume lies
    near the surface, and one sample in the inner ball takes ``ratio^-d`` samples on average.

    Parameters
    ----------
    n_features : int or array-like of int
        The dimension ``d``.

    ratio : float or array-like, default=0.5
        The inner radius as a share of the outer one, in (0, 1].

    Returns
    -------
    share : float or ndarray
        The ratio of the volumes.

    See Also
    --------
    nearest_neighbor_error : What neighbours are good for if there are enough samples.

    Examples
    --------
    >>> from sklearn_sl.theory import ball_volume_ratio
    >>> ball_volume_ratio([1, 2, 10])
    array([0.5       , 0.25      , 0.00097656])
    """
    d, ratio = whole("n_features", n_features, low=1), probability("ratio", ratio)
    return plain(ratio**d)
