"""Losses between outcomes and predictions from zero to one, and predictions that mix experts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import xlogy

from sklearn_sl.theory._experts import RATES, absolute_constant

if TYPE_CHECKING:
    from collections.abc import Callable

# No advice is closer to zero or one than this, for the entropic loss. Closer ones would be too
# coarse: numbers near one are multiples of 1e-16.
CLOSEST = 1e-10
# Larger learning rates would leave no digits of the sums in Vovk's prediction.
LARGEST_RATE = 500.0
# Steps of bisection, each of which gains a bit.
BISECTIONS = 60


class MixableLoss:
    """A loss between outcomes and predictions, both from zero to one.

    A loss is mixable for a learning rate ``eta`` if whatever the advice ``x`` and weights ``w``
    of experts there is a prediction ``p`` that for every outcome ``y`` loses no more than the
    mixture of the experts::

        L(y, p) <= -(1 / eta) ln(sum_i w_i exp(-eta L(y, x_i)))

    Then :class:`WeightedAverage` with ``prediction="vovk"`` has no larger regret than
    ``ln(n) / eta``. It takes the ``p`` for which both sides differ by the same at ``y = 0`` and
    ``y = 1``, which is good for these two outcomes, and for a loss of one's own no bound is given
    if there are others. If the weighted mean of the advice is always such a ``p``, which is so if
    ``exp(-eta L(y, p))`` is concave in ``p``, that holds for ``prediction="average"`` as well.

    Parameters
    ----------
    function : callable
        ``function(y, p)`` returns the losses for arrays, at most one and non-negative. It falls
        with ``p`` for ``y = 1`` and rises for ``y = 0``.

    eta : float, default=None
        The largest learning rate for which the loss is mixable; None: there is none.

    average_eta : float, default=None
        The largest one for which the weighted mean will do; None: there is none.

    See Also
    --------
    WeightedAverage : The learner.

    References
    ----------
    .. [1] V. Vovk, "A game of prediction with expert advice", Journal of Computer and System
       Sciences 56, 1998.

    Examples
    --------
    The square loss by another name:

    >>> import numpy as np
    >>> from sklearn_sl.online import MixableLoss, WeightedAverage
    >>> brier = MixableLoss(lambda y, p: (y - p) ** 2, eta=2.0, average_eta=0.5)
    >>> rng = np.random.default_rng(0)
    >>> advice, y = rng.random((100, 8)), rng.random(100)
    >>> model = WeightedAverage(loss=brier, prediction="vovk", bounds=(0, 1)).fit(advice, y)
    >>> twin = WeightedAverage(loss="square", prediction="vovk", bounds=(0, 1)).fit(advice, y)
    >>> bool(np.isclose(model.cumulative_loss_, twin.cumulative_loss_))
    True
    """

    # The power of the unit of outcomes that the loss is measured in; zero for pure numbers.
    power = 0
    # Whether losses are at most one, and convex in the prediction.
    bounded = convex = False
    # How close predictions may come to zero and one.
    closest = 0.0
    # Whether Vovk's prediction is known to be good for the outcomes zero and one only.
    extremes_only = True

    def __init__(
        self,
        function: Callable[..., Any],
        eta: float | None = None,
        average_eta: float | None = None,
    ) -> None:
        self.function = function
        self.eta = eta
        self.average_eta = average_eta

    def __call__(self, y: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Return the losses of predictions.

        Parameters
        ----------
        y : ndarray
            Outcomes.

        p : ndarray
            Predictions.

        Returns
        -------
        losses : ndarray
            The losses.
        """
        return self.function(y, p)

    def _rate(self, prediction):
        """Return the largest learning rate of a way to predict, None if there is none."""
        return self.eta if prediction == "vovk" else self.average_eta

    def _constant(self, prediction, eta):
        """Return the factor of ``-ln(mixture)`` that bounds the loss, None if there is none."""
        most = self._rate(prediction)
        return 1 / eta if most is not None and eta <= most else None

    def _slack(self, eta):
        """Return by how much a trial can exceed the mixture, for any rate; None if by any."""
        return eta / 8 if self.bounded and self.convex else None

    def _substitute(self, at_zero, at_one):
        """Return the predictions that meet mixed losses for the outcomes zero and one alike."""
        goal = at_zero - at_one
        low, high = np.zeros_like(goal), np.ones_like(goal)
        zeros, ones = np.zeros_like(goal), np.ones_like(goal)
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            above = self(zeros, middle) - self(ones, middle) > goal
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        return (low + high) / 2


class SquareLoss(MixableLoss):
    """``(y - p)^2``."""

    power = 2
    bounded = convex = True
    extremes_only = False

    def __init__(self):
        super().__init__(None, RATES["square"]["vovk"], RATES["square"]["average"])

    def __call__(self, y, p):
        losses = p - y
        return np.multiply(losses, losses, out=losses)

    def _substitute(self, at_zero, at_one):
        return np.clip(0.5 + (at_zero - at_one) / 2, 0, 1)


class EntropicLoss(MixableLoss):
    """The relative entropy ``y ln(y / p) + (1 - y) ln((1 - y) / (1 - p))``."""

    convex = True
    closest = CLOSEST
    extremes_only = False

    def __init__(self):
        super().__init__(None, RATES["entropic"]["vovk"], RATES["entropic"]["average"])

    def __call__(self, y, p):
        losses = xlogy(y, y) + xlogy(1 - y, 1 - y) - y * np.log(p)
        losses -= (1 - y) * np.log1p(-p)
        # The least one, of an exact prediction, is zero.
        return np.maximum(losses, 0, out=losses)

    def _substitute(self, at_zero, at_one):
        return 1 / (1 + np.exp(at_one - at_zero))


class HellingerLoss(MixableLoss):
    """``1 - sqrt(y p) - sqrt((1 - y) (1 - p))``."""

    bounded = convex = True
    extremes_only = False

    def __init__(self):
        super().__init__(None, RATES["hellinger"]["vovk"], RATES["hellinger"]["average"])

    def __call__(self, y, p):
        return np.maximum(1 - np.sqrt(y * p) - np.sqrt((1 - y) * (1 - p)), 0)

    def _substitute(self, at_zero, at_one):
        # sqrt(p) - sqrt(1 - p) is the difference, as sine and cosine of one angle.
        half = np.clip((at_zero - at_one) / np.sqrt(2), -np.sqrt(0.5), np.sqrt(0.5))
        return np.sin(np.pi / 4 + np.arcsin(half)) ** 2


class AbsoluteLoss(MixableLoss):
    """``|y - p|``, for which Vovk's prediction loses a multiple of the mixture."""

    power = 1
    bounded = convex = True

    def __init__(self):
        super().__init__(None)

    def __call__(self, y, p):
        losses = p - y
        return np.abs(losses, out=losses)

    def _constant(self, prediction, eta):
        return absolute_constant(eta) if prediction == "vovk" else None

    def _substitute(self, at_zero, at_one):
        return np.clip(0.5 + (at_zero - at_one) / 2, 0, 1)


LOSSES = {
    "square": SquareLoss(),
    "entropic": EntropicLoss(),
    "hellinger": HellingerLoss(),
    "absolute": AbsoluteLoss(),
}
