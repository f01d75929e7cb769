"""How many steps gradient descent and stochastic gradient descent need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sklearn_sl.theory._domain import plain, positive, real, unwarned, whole
from sklearn_sl.theory._stability import size_for

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


@unwarned
def gradient_descent_rate(
    n_steps: ArrayLike, lipschitz: ArrayLike, norm: ArrayLike
) -> float | np.ndarray:
    """Return the constant learning rate with which the bound of gradient descent is least.

    It is ``eta = B / (rho sqrt(T))``.

    Parameters
    ----------
    n_steps : int or array-like
        The number ``T`` of steps.

    lipschitz : float or array-like
        The largest norm ``rho`` of a subgradient; of a stochastic one, the root of the largest
        expected square of its norm.

    norm : float or array-like
        The norm ``B`` of the weights with which the learner is compared.

    Returns
    -------
    eta : float or ndarray
        The rate.

    See Also
    --------
    gradient_descent_bound : The bound.

    Examples
    --------
    >>> from sklearn_sl.theory import gradient_descent_rate
    >>> gradient_descent_rate(100, lipschitz=2.0, norm=1.0)
    0.05
    """
    rho, B = positive("lipschitz", lipschitz), real("norm", norm, 0.0)
    return plain(B / (rho * np.sqrt(whole("n_steps", n_steps, 1))))


@unwarned
def gradient_descent_bound(
    n_steps: ArrayLike,
    lipschitz: ArrayLike,
    norm: ArrayLike,
    eta: ArrayLike | None = None,
) -> float | np.ndarray:
    """Return an upper bound on how far the average of gradient descent is from the optimum.

    From ``w_1 = 0`` let ``w_(t+1) = w_t - eta v_t`` with a subgradient ``v_t`` of a convex function
    ``f``, of norm at most ``rho``. Then for the average ``w`` of ``w_1, ..., w_T`` and every ``u``
    of norm at most ``B``::

        f(w) - f(u) <= B^2 / (2 eta T) + eta rho^2 / 2

    and ``B rho / sqrt(T)`` for ``eta = B / (rho sqrt(T))``. If the ``v_t`` are random, with a
    subgradient as their mean and ``E ||v_t||^2 <= rho^2``, the same holds for the expectation of
    ``f(w)``: stochastic gradient descent. It also holds if each step is followed by a projection
    onto a convex set that contains ``u``, such as the ball of radius ``B``.

    Parameters
    ----------
    n_steps : int or array-like
        The number ``T`` of steps.

    lipschitz : float or array-like
        The bound ``rho`` on the norms of subgradients: the Lipschitz constant of ``f``.

    norm : float or array-like
        The norm ``B``.

    eta : float or array-like, default=None
        The learning rate; None is the best one, :func:`gradient_descent_rate`.

    Returns
    -------
    bound : float or ndarray
        ``f(w) - f(u)``, or its expectation, is no larger than this.

    See Also
    --------
    gradient_descent_steps : How many steps make it small.
    ogd_bound : The same as a regret, for any sequence of functions.

    References
    ----------
    .. [1] S. Shalev-Shwartz and S. Ben-David, "Understanding machine learning", Cambridge
       University Press, 2014, theorems 14.1 and 14.8.

    Examples
    --------
    >>> from sklearn_sl.theory import gradient_descent_bound
    >>> gradient_descent_bound(10_000, lipschitz=1.0, norm=1.5)
    0.015
    """
    T = whole("n_steps", n_steps, 1)
    rho, B = real("lipschitz", lipschitz, 0.0), real("norm", norm, 0.0)
    if eta is None:
        return plain(B * rho / np.sqrt(T))
    eta = positive("eta", eta)
    return plain(B * B / (2 * eta * T) + eta * rho * rho / 2)


@unwarned
def gradient_descent_steps(
    epsilon: ArrayLike,
    lipschitz: ArrayLike,
    norm: ArrayLike,
    delta: ArrayLike | None = None,
) -> float | np.ndarray:
    """Return how many steps of gradient descent reach an accuracy.

    The average of ``T >= B^2 rho^2 / epsilon^2`` steps with the rate of
    :func:`gradient_descent_rate` is no farther than ``epsilon`` from the optimum; in expectation,
    if the gradients are random. If each step uses a new sample, it is a learner: the expected
    excess risk after ``T`` samples is at most ``epsilon``, and by Markov's inequality it is at most
    ``epsilon`` with probability ``1 - delta`` after as many steps as ``epsilon delta`` takes.

    Parameters
    ----------
    epsilon : float or array-like
        The accuracy.

    lipschitz : float or array-like
        The bound ``rho`` on the norms of subgradients.

    norm : float or array-like
        The norm ``B`` of the weights with which the learner is compared.

    delta : float or array-like, default=None
        The probability of failure; None is a statement about the expectation.

    Returns
    -------
    n_steps : float or ndarray
        The smallest such number, an integer.

    See Also
    --------
    gradient_descent_bound : The accuracy from the number of steps.

    Examples
    --------
    >>> from sklearn_sl.theory import gradient_descent_steps
    >>> gradient_descent_steps(0.01, lipschitz=1.0, norm=1.5)
    22500.0
    """
    return size_for(1.0, epsilon, lipschitz, norm, delta)


@unwarned
def strongly_convex_descent_bound(
    n_steps: ArrayLike, lipschitz: ArrayLike, strong_convexity: ArrayLike
) -> float | np.ndarray:
    """Return the bound of stochastic gradient descent on a strongly convex function.

    From ``w_1 = 0`` let ``w_(t+1)`` be ``w_t - v_t / (mu t)``, projected onto a convex set or not,
    where ``f`` is ``mu``-strongly convex and the ``v_t`` are random with a subgradient as their
    mean and ``E ||v_t||^2 <= rho^2``. Then for the average ``w`` of ``w_1, ..., w_T``::

        E f(w) - min f <= rho^2 (1 + ln T) / (2 mu T)

    For the objective ``lambda / 2 ||w||^2 + 1/m sum_i max(0, 1 - y_i <w, x_i>)`` and one random
    sample a step, ``mu = lambda``, and the steps never leave the ball of radius
    ``max ||x|| / lambda``, so that ``rho = 2 max ||x||``: the method called Pegasos.

    Parameters
    ----------
    n_steps : int or array-like
        The number ``T`` of steps.

    lipschitz : float or array-like
        The bound ``rho`` on the norms of subgradients of the whole objective.

    strong_convexity : float or array-like
        The constant ``mu``: ``2 lambda`` for a penalty ``lambda ||w||^2``.

    Returns
    -------
    bound : float or ndarray
        ``E f(w) - min f`` is no larger than this.

    See Also
    --------
    gradient_descent_bound : Without strong convexity.

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Singer, N. Srebro and A. Cotter, "Pegasos: primal estimated
       sub-gradient solver for SVM", Mathematical Programming 127, 2011.

    Examples
    --------
    >>> from sklearn_sl.theory import strongly_convex_descent_bound
    >>> round(strongly_convex_descent_bound(100_000, lipschitz=2.0, strong_convexity=0.1), 4)
    0.0025
    """
    T = whole("n_steps", n_steps, 1)
    rho, mu = real("lipschitz", lipschitz, 0.0), positive("strong_convexity", strong_convexity)
    return plain(rho * rho * (1 + np.log(T)) / (2 * mu * T))


@unwarned
def batch_gradient_moment(
    gradients: ArrayLike, batch_size: ArrayLike, replace: bool = True
) -> float | np.ndarray:
    """Return the expected squared norm of the mean gradient of a random batch.

    The mean ``v`` of ``b`` of ``n`` gradients, drawn at random, is unbiased for the mean ``g`` of
    all of them, and::

        E ||v||^2 = ||g||^2 + V / b             with replacement
        E ||v||^2 = ||g||^2 + V / b (n - b) / (n - 1)    without

    where ``V`` is the mean of ``||g_i - g||^2``. Larger batches reduce the second term only.

    Parameters
    ----------
    gradients : array-like of shape (n_samples, n_weights)
        The gradient of the loss of each sample.

    batch_size : int or array-like
        The number ``b`` of samples of a batch.

    replace : bool, default=True
        Whether the samples are drawn with replacement.

    Returns
    -------
    moment : float or ndarray
        ``E ||v||^2``, the ``rho^2`` of :func:`gradient_descent_bound`.

    See Also
    --------
    control_variate : Another way to reduce the variance.

    Examples
    --------
    >>> from sklearn_sl.theory import batch_gradient_moment
    >>> batch_gradient_moment([[1.0, 0.0], [-1.0, 0.0]], batch_size=[1, 2, 4])
    array([1.  , 0.5 , 0.25])
    """
    gradients = real("gradients", gradients)
    if gradients.ndim != 2 or not len(gradients):
        raise ValueError(
            f"gradients must be a non-empty array of shape (n_samples, n_weights); got shape "
            f"{gradients.shape}."
        )
    n, size = len(gradients), whole("batch_size", batch_size, 1)
    if not replace and np.any(size > n):
        raise ValueError(f"batch_size must be <= {n} samples if replace=False; got {batch_size}.")
    mean = gradients.mean(axis=0)
    spread = float(np.mean(np.sum((gradients - mean) ** 2, axis=1))) / size
    share = 1.0 if replace or n == 1 else (n - size) / (n - 1)
    return plain(mean @ mean + spread * share)


class ControlVariate(NamedTuple):
    """The best control variate; see :func:`control_variate`.

    Attributes
    ----------
    coefficient : float
        ``c``.

    variance : float
        The smallest variance.

    See Also
    --------
    control_variate : Computes it.

    Examples
    --------
    >>> from sklearn_sl.theory import control_variate
    >>> result = control_variate([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    >>> result.coefficient, result.variance
    (-0.5, 0.0)
    """

    coefficient: float
    variance: float


def control_variate(values: ArrayLike, control: ArrayLike) -> Any:
    """Return the coefficient with which a control variate reduces the variance most.

    The variable ``v + c (y - E y)`` has the mean of ``v``, and its variance is least for::

        c = -Cov(v, y) / Var(y),    where it is  Var(v) - Cov(v, y)^2 / Var(y)

    Stochastic gradients with variance reduction (SVRG) use the gradient of the same sample at
    earlier weights for ``y``, with ``c = -1``.

    Parameters
    ----------
    values : array-like of shape (n,)
        Values of ``v``, all equally likely.

    control : array-like of shape (n,)
        The corresponding values of ``y``, not all equal.

    Returns
    -------
    best : ControlVariate
        The ``coefficient`` and the ``variance``.

    See Also
    --------
    batch_gradient_moment : The variance of the mean of a batch.

    Examples
    --------
    >>> from sklearn_sl.theory import control_variate
    >>> best = control_variate([1.0, 2.0, 4.0], [1.0, 2.0, 3.0])
    >>> round(best.coefficient, 2), round(best.variance, 3)
    (-1.5, 0.056)
    """
    v, y = real("values", values), real("control", control)
    if v.ndim != 1 or v.shape != y.shape or not len(v):
        raise ValueError(
            f"values and control must be 1-D arrays of one length; got {v.shape} and {y.shape}."
        )
    v, y = v - v.mean(), y - y.mean()
    variance = float(y @ y)
    if not variance:
        raise ValueError("control must have values that differ.")
    coefficient = -float(v @ y) / variance
    return ControlVariate(coefficient, float(np.mean((v + coefficient * y) ** 2)))
