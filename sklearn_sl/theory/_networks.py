"""Facts about the weights and the gradients of neural networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import gammaln

from sklearn_sl.theory._domain import plain, real, vector, whole

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

# The largest slopes of activation functions.
SLOPES = {"logistic": 0.25, "tanh": 1.0, "relu": 1.0, "identity": 1.0}


def network_symmetries(n_units: ArrayLike) -> float:
    """Return how many weights make the same network, by the symmetries of its hidden layers.

    The ``M`` units of a layer can be permuted. If their activation function is odd, such as the
    hyperbolic tangent, the signs of all weights into and out of a unit can be changed as well. So
    there are ``2^M M!`` equivalent settings of one layer, and the product over the layers of a
    deeper network: as many global minima, for almost every minimum.

    Parameters
    ----------
    n_units : int or array-like of int
        The number ``M`` of units of the hidden layer, or of each of them.

    Returns
    -------
    n_settings : float
        Their number; infinite beyond the range of floating point numbers.

    Examples
    --------
    >>> from sklearn_sl.theory import network_symmetries
    >>> network_symmetries(3), network_symmetries([2, 3])
    (48.0, 384.0)
    """
    M = np.atleast_1d(whole("n_units", n_units, 1))
    log_size = float(np.sum(M * np.log(2) + gammaln(M + 1)))
    if log_size < 30:
        # Few enough to be a whole number exactly.
        return float(np.round(np.exp(log_size)))
    with np.errstate(over="ignore"):
        return float(np.exp(log_size))


def gradient_gain(
    weight_norms: ArrayLike,
    activation: Literal["logistic", "tanh", "relu", "identity"] = "logistic",
    slope: ArrayLike | None = None,
) -> float:
    """Return how much the backward pass can magnify a gradient, at most.

    From the layer ``t + 1`` to the layer ``t`` the derivatives of the loss with respect to the
    inputs of the units are ``delta_t = s'(a_t) * (W_(t+1) delta_(t+1))``. So with the largest
    slope ``g`` of the activation function and the spectral norms of the weights::

        ||delta_1|| <= ||delta_T|| prod_t g ||W_t||

    With logistic units ``g = 1/4``: unless weights have norms of 4 and more, gradients vanish
    exponentially with the depth. Rectified linear units have ``g = 1``. If the norms are large,
    gradients may explode.

    Parameters
    ----------
    weight_norms : array-like of shape (n_layers,)
        The spectral norms of the weights of the layers 2 to T, without biases.

    activation : {"logistic", "tanh", "relu", "identity"}, default="logistic"
        The activation function, for its largest slope.

    slope : float, default=None
        The largest slope of another activation function.

    Returns
    -------
    gain : float
        ``||delta_1|| / ||delta_T||`` is no larger than this.

    References
    ----------
    .. [1] Y. Bengio, P. Simard and P. Frasconi, "Learning long-term dependencies with gradient
       descent is difficult", IEEE Transactions on Neural Networks 5, 1994.

    Examples
    --------
    >>> from sklearn_sl.theory import gradient_gain
    >>> gradient_gain([1.0] * 10), gradient_gain([1.0] * 10, "relu")
    (9.5367431640625e-07, 1.0)
    """
    norms = vector("weight_norms", weight_norms, 0.0)
    if slope is not None:
        return float(np.prod(plain(real("slope", slope, 0.0)) * norms))
    if activation not in SLOPES:
        raise ValueError(f"activation must be one of {sorted(SLOPES)}; got {activation!r}.")
    return float(np.prod(SLOPES[activation] * norms))
