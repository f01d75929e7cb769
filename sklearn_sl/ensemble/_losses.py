"""Convex losses of margins and of residuals, and the steps along a direction that minimise them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from sklearn_sl.ensemble._weights import exact_sum

# The hinge loss has its kink where the margin is one, up to rounding.
ON_THE_KINK = 1e-12
# A step is looked for up to this power of two.
LARGEST_STEP = 60


@dataclass(frozen=True)
class MarginLoss:
    """A convex loss of the margin ``m = y f(x)``.

    ``slope`` is its derivative; ``proba`` turns ``f`` into the probability of the class +1, where
    the minimiser of the expected loss tells it.
    """

    value: Callable
    slope: Callable
    best_step: Callable
    proba: Callable | None = None


def smooth_step(loss, margins, direction, weight):
    """Return the step of least loss by the root of the derivative, infinite if there is none."""

    def slope(step):
        return exact_sum(weight * direction * loss.slope(margins + step * direction))

    if not np.any(direction < 0):
        return np.inf
    high = 1.0
    for _ in range(LARGEST_STEP):
        if slope(high) >= 0:
            return brentq(slope, 0.0, high, xtol=1e-14, rtol=8.9e-16)
        high *= 2
    return np.inf


def hinge_step(loss, margins, direction, weight):
    """Return the step of least hinge loss: the loss is linear between the kinks ``m + a d = 1``."""
    pull, at_kink = weight * direction, np.abs(margins - 1) <= ON_THE_KINK
    # Samples on the kink lose if they go back, and gain nothing if they go on.
    slope = -exact_sum(np.where(at_kink, np.minimum(pull, 0), pull * (margins < 1)))
    ahead = ~at_kink & ((1 - margins) * direction > 0)
    kinks = (1 - margins[ahead]) / direction[ahead]
    order = np.argsort(kinks, kind="stable")
    slopes = slope + np.cumsum(np.abs(pull[ahead])[order])
    if slope >= 0 or not len(order):
        return 0.0
    # Rounding may leave the last slope, which is none that pulls, just below zero.
    return float(kinks[order][min(np.searchsorted(slopes, 0.0), len(order) - 1)])


def square_step(loss, margins, direction, weight):
    """Return the step of least square loss, in closed form."""
    return exact_sum(weight * (1 - margins) * direction) / exact_sum(weight * direction**2)


def exponential_step(loss, margins, direction, weight):
    """Return half of the log odds of a base estimator that answers -1 and 1, as AdaBoost does."""
    if not np.all(np.abs(direction) == 1):
        return smooth_step(loss, margins, direction, weight)
    share = weight * np.exp(-margins - np.max(-margins))
    right, wrong = exact_sum(share * (direction > 0)), exact_sum(share * (direction < 0))
    return np.inf if wrong == 0 else 0.5 * float(np.log(right / wrong))


def logistic_step(loss, margins, direction, weight):
    return smooth_step(loss, margins, direction, weight)


# Margins are cut off where the exponential overflows; such a loss is far from any minimum.
LOSSES = {
    "exponential": MarginLoss(
        value=lambda m: np.exp(np.minimum(-m, 700)),
        slope=lambda m: -np.exp(np.minimum(-m, 700)),
        best_step=exponential_step,
        proba=lambda f: expit(2 * f),
    ),
    "logistic": MarginLoss(
        value=lambda m: np.logaddexp(0, -m),
        slope=lambda m: -expit(-m),
        best_step=logistic_step,
        proba=expit,
    ),
    "hinge": MarginLoss(
        value=lambda m: np.maximum(0, 1 - m),
        # On the kink half of the slope: so the best base estimator of answers -1 and 1 is the one
        # of steepest descent, where a sample can lose but not gain.
        slope=lambda m: np.where(np.abs(m - 1) <= ON_THE_KINK, -0.5, np.where(m < 1, -1.0, 0.0)),
        best_step=hinge_step,
    ),
    "square": MarginLoss(
        value=lambda m: (1 - m) ** 2,
        slope=lambda m: -2 * (1 - m),
        best_step=square_step,
        proba=lambda f: np.clip((f + 1) / 2, 0, 1),
    ),
}


def kink_of_least_loss(kinks, weight):
    """Return the weighted median, which minimises ``sum_i weight_i |kink_i - a|`` over ``a``."""
    order = np.argsort(kinks, kind="stable")
    below = np.cumsum(weight[order])
    return float(kinks[order][np.searchsorted(below, below[-1] / 2)])
