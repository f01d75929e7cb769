"""Bounds for online learning with kernels: mistakes on DNF formulas, and regrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from sklearn_sl.theory._domain import plain, real, vector, whole
from sklearn_sl.theory._online_gradient import ogd_bound, ogd_horizon_bound

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


def dnf_perceptron_bound(n_terms: ArrayLike, n_variables: ArrayLike) -> float | np.ndarray:
    """Return an upper bound on the mistakes of the ANOVA-kernel perceptron on a DNF formula.

    The features of ``K(x, t) = prod_i (1 + x_i t_i)`` are all ``2^n`` monomials of the ``n``
    variables, with values 0 and 1. A disjunction of ``k`` monotone terms is the sign of
    ``u.phi(x)``, where ``u`` is 2 at the terms and -1 at the constant: at least 1 if a term holds,
    else -1. With ``||u||^2 = 4 k + 1`` and ``K(x, x) <= 2^n``, Novikoff's theorem gives::

        M <= (4 k + 1) 2^n

    Literals ``x_i`` and ``1 - x_i`` as variables make it a bound for terms with negations, with the
    same ``n``: one literal of each pair is zero, so that ``K(x, x) = 2^n`` still.

    Parameters
    ----------
    n_terms : int or array-like
        The number ``k`` of terms.

    n_variables : int or array-like
        The number ``n`` of variables, before literals are made of them.

    Returns
    -------
    bound : float or ndarray
        No more mistakes than these; infinite beyond the range of floating point numbers.

    See Also
    --------
    perceptron_bound : Novikoff's theorem.
    sklearn_sl.online.KernelPerceptron : The learner.

    Examples
    --------
    >>> from sklearn_sl.theory import dnf_perceptron_bound
    >>> float(dnf_perceptron_bound(n_terms=3, n_variables=10))
    13312.0
    """
    n_terms = whole("n_terms", n_terms, low=0)
    n_variables = whole("n_variables", n_variables, low=1)
    with np.errstate(over="ignore"):
        return (4 * n_terms + 1) * np.exp2(n_variables)


def kernel_ogd_bound(
    norm: ArrayLike, radius: ArrayLike, n_trials: ArrayLike, eta: ArrayLike | None = None
) -> float | np.ndarray:
    """Return an upper bound on the regret of online gradient descent with random predictions.

    The learner steps down the hinge loss in the space of a kernel with ``K(x, x) <= X^2``, and
    predicts 1 with the probability ``(1 + f(x)) / 2``, cut to [0, 1]. Then the probability of a
    mistake is at most half of the hinge loss. For a function ``h`` with ``h(x_t)`` in {-1, 1} in
    all trials, the hinge loss is twice the number of its mistakes. So the expected number of
    mistakes exceeds that of ``h`` by at most half of the regret in the hinge loss,
    ``(||h||^2 / (2 eta) + eta X^2 T / 2) / 2`` after ``T`` trials, and with the best rate
    ``eta = ||h|| / (X sqrt(T))``::

        E[M] - M(h) <= 1/2 sqrt(||h||^2 X^2 T)

    Parameters
    ----------
    norm : float or array-like
        The norm of ``h``.

    radius : float or array-like
        The root ``X`` of the largest ``K(x, x)``.

    n_trials : int or array-like
        The number ``T`` of trials.

    eta : float or array-like, default=None
        The rate; None is the best one.

    Returns
    -------
    bound : float or ndarray
        The expected number of mistakes exceeds that of ``h`` by no more than this.

    See Also
    --------
    ogd_bound : The regret in the loss.
    sklearn_sl.online.KernelOGD : The learner.

    Examples
    --------
    >>> from sklearn_sl.theory import kernel_ogd_bound
    >>> float(kernel_ogd_bound(norm=4.0, radius=1.0, n_trials=10_000))
    200.0
    """
    if eta is None:
        return ogd_horizon_bound(norm, radius, n_trials) / 2
    squares = real("radius", radius, low=0) ** 2 * whole("n_trials", n_trials, low=0)
    return ogd_bound(norm, eta, squares) / 2


def winnow_dnf_bound(n_terms: ArrayLike, n_variables: ArrayLike) -> float | np.ndarray:
    """Return an upper bound on the mistakes of Winnow on a DNF formula.

    With all ``2^n`` monomials of the ``n`` variables for features, a disjunction of ``k`` monotone
    terms is one of ``k`` attributes. Winnow with the factor two and the threshold ``2^n`` makes at
    most ``3 k (log2(2^n) + 1) + 2`` mistakes on it::

        M <= 3 k (n + 1) + 2

    far fewer than the kernel perceptron, but there is no kernel for products of weights: each
    prediction takes time in proportion to ``2^n``. For terms with negations, let the features be
    the ``3^n`` conjunctions of literals, or count ``2 n`` variables.

    Parameters
    ----------
    n_terms : int or array-like
        The number ``k`` of terms.

    n_variables : int or array-like
        The number ``n`` of variables.

    Returns
    -------
    bound : float or ndarray
        No more mistakes than these.

    See Also
    --------
    dnf_perceptron_bound : Of the kernel perceptron.
    winnow_bound : On disjunctions.
    sklearn_sl.kernels.SubsetFeatures : The monomials.

    Examples
    --------
    >>> from sklearn_sl.theory import dnf_perceptron_bound, winnow_dnf_bound
    >>> winnow_dnf_bound(n_terms=3, n_variables=10)
    101.0
    >>> float(dnf_perceptron_bound(n_terms=3, n_variables=10))
    13312.0
    """
    k, n = whole("n_terms", n_terms), whole("n_variables", n_variables, 1)
    return plain(3 * k * (n + 1) + 2)


def switching_kernel_bound(
    squared_norms: ArrayLike, radius: float, n_trials: int, n_switches: int
) -> float:
    """Return an upper bound on the regret against functions that switch, of a mixture of learners.

    A meta-learner runs online gradient descent in the space of a kernel, one instance for each of
    ``m`` modes, on the trials of its colour. Hedge mixes the meta-learners of all colourings with
    ``k`` switches, of which there are no more than ``N = binomial(T - 1, k) m^k``. Against any
    functions ``h_1, ..., h_m`` with values -1 and 1 on their trials, any one of which holds at a
    time, the expected number of mistakes exceeds theirs by at most::

        1/2 sqrt(sum_i ||h_i||^2 X^2 T) + sqrt(2 T ln N)

    The first term is that of the instances, by Cauchy's inequality; the second that of not knowing
    when to switch. There are too many meta-learners to be run, but an efficient learner is nearly
    as good.

    Parameters
    ----------
    squared_norms : array-like of shape (n_modes,)
        The squares ``||h_i||^2`` of the norms of the functions.

    radius : float
        The root ``X`` of the largest ``K(x, x)``.

    n_trials : int
        The number ``T`` of trials.

    n_switches : int
        The number ``k`` of switches, less than ``T``.

    Returns
    -------
    bound : float
        The expected number of mistakes exceeds that of the functions by no more than this.

    See Also
    --------
    kernel_ogd_bound : One function.
    multitask_kernel_bound : The efficient learner.

    Examples
    --------
    >>> from sklearn_sl.theory import switching_kernel_bound
    >>> round(switching_kernel_bound([4.0, 9.0], radius=1.0, n_trials=1000, n_switches=5))
    315
    """
    squares = vector("squared_norms", squared_norms, 0.0)
    X, T = plain(real("radius", radius, 0.0)), plain(whole("n_trials", n_trials, 1))
    k = plain(whole("n_switches", n_switches))
    if k >= T:
        raise ValueError(f"n_switches must be < n_trials={n_trials}; got {n_switches}.")
    log_size = gammaln(T) - gammaln(k + 1) - gammaln(T - k) + k * np.log(len(squares))
    return float(np.sqrt(squares.sum() * X * X * T) / 2 + np.sqrt(2 * T * log_size))
