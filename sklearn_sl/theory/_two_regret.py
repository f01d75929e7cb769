"""How to tune the weighted majority against twice the mistakes of the best expert."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_sl.theory._domain import log_count, plain, real, unwarned

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


@unwarned
def two_regret_beta(n_experts: ArrayLike, most_mistakes: ArrayLike) -> float | np.ndarray:
    """Return the factor with which the weighted majority has a sublinear 2-regret.

    The c-regret of a learner is ``M - c min_i M_i``, its mistakes beyond ``c`` times those of the
    best expert. With ``beta = 1 - x`` and ``x <= 1/2`` the bound of the weighted majority is at
    most ``2 (1 + x) M* + 2 ln(n) / x``, least for ``x = sqrt(ln(n) / M*)``.

    Parameters
    ----------
    n_experts : int or array-like of int
        The number ``n`` of experts.

    most_mistakes : float or array-like
        A bound on the mistakes ``M*`` of the best expert, such as the number of trials.

    Returns
    -------
    beta : float or ndarray
        ``1 - sqrt(ln(n) / M*)``, and 1/2 at least.

    See Also
    --------
    two_regret_bound : The regret with it.
    sklearn_sl.datasets.OpposingAdversary : Why no deterministic learner does better than twice.

    References
    ----------
    .. [1] N. Littlestone and M. Warmuth, "The weighted majority algorithm", Information and
       Computation 108, 1994.

    Examples
    --------
    >>> from sklearn_sl.theory import two_regret_beta
    >>> round(two_regret_beta(n_experts=10, most_mistakes=1000), 3)
    0.952
    """
    log_n = log_count("n_experts", n_experts)
    mistakes = real("most_mistakes", most_mistakes, 0.0)
    return plain(1 - np.sqrt(np.minimum(0.25, log_n / np.maximum(mistakes, 4 * log_n + 1e-300))))


@unwarned
def two_regret_bound(n_experts: ArrayLike, most_mistakes: ArrayLike) -> float | np.ndarray:
    """Return an upper bound on the 2-regret of the weighted majority of experts.

    With the factor of :func:`two_regret_beta`, the number of mistakes exceeds twice that of the
    best expert by at most ``4 sqrt(M* ln(n))``, or by ``8 ln(n)`` where that is more. So does no
    deterministic learner against less than twice: an adversary that always says the opposite
    forces ``m`` mistakes in ``m`` trials, while one of two experts that never agree makes ``m / 2``
    at most.

    Parameters
    ----------
    n_experts : int or array-like of int
        The number ``n`` of experts.

    most_mistakes : float or array-like
        A bound on the mistakes ``M*`` of the best expert.

    Returns
    -------
    bound : float or ndarray
        The bound on the 2-regret.

    See Also
    --------
    weighted_majority_bound : For any factor.
    hedge_bound : A learner that draws its predictions has a sublinear regret proper.

    Examples
    --------
    >>> from sklearn_sl.theory import two_regret_bound
    >>> round(two_regret_bound(n_experts=10, most_mistakes=1000), 1)
    191.9
    """
    log_n = log_count("n_experts", n_experts)
    mistakes = real("most_mistakes", most_mistakes, 0.0)
    return plain(4 * np.sqrt(np.maximum(mistakes, 4 * log_n) * log_n))
