"""Mistake bounds for finite hypothesis classes, and the sizes of some classes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import digamma

from sklearn_sl.theory._domain import log2_count, log_count, real, whole
from sklearn_sl.theory._experts import log_fall

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


def halving_bound(n_hypotheses: ArrayLike, n_restarts: ArrayLike = 0) -> float | np.ndarray:
    """Return an upper bound on the number of mistakes of the halving algorithm.

    On each mistake at least half of the hypotheses that voted are wrong, also with more than two
    classes: those that said the true class are no more than those that said the winning one. So
    after ``M`` mistakes at most ``|H| / 2^M`` of them remain, and if one is always right::

        M <= log2 |H|

    If none is, the algorithm begins again with all hypotheses when none is left. Until then it
    makes at most ``log2 |H| + 1`` mistakes, and each hypothesis makes at least one, so that with
    ``r`` restarts::

        M <= (r + 1) (log2 |H| + 1) - 1,    r <= mistakes of the best hypothesis

    Parameters
    ----------
    n_hypotheses : int or array-like of int
        The number ``|H|`` of hypotheses.

    n_restarts : int or array-like of int, default=0
        The number ``r`` of restarts, or the number of mistakes of the best hypothesis.

    Returns
    -------
    bound : float or ndarray
        No more mistakes than these.

    See Also
    --------
    consistent_bound : For a single hypothesis at a time.
    sklearn_sl.online.Halving : The algorithm.

    References
    ----------
    .. [1] N. Littlestone, "Learning quickly when irrelevant attributes abound: a new
       linear-threshold algorithm", Machine Learning 2, 1988.

    Examples
    --------
    Half-spaces in five dimensions, with weights from ``-1, -0.9, ..., 1``:

    >>> from sklearn_sl.theory import halving_bound
    >>> round(float(halving_bound(21**5)), 2)
    21.96
    """
    bits = log2_count("n_hypotheses", n_hypotheses)
    return (whole("n_restarts", n_restarts, low=0) + 1) * (bits + 1) - 1


def consistent_bound(
    n_hypotheses: ArrayLike, n_restarts: ArrayLike = 0, random_order: bool = False
) -> float | np.ndarray:
    """Return an upper bound on the number of mistakes of the consistent learner.

    It answers as the first hypothesis that has made no mistake. Each mistake removes that one, so
    that ``M <= |H| - 1`` if one hypothesis is always right, and ``M <= (r + 1) |H| - 1`` if the
    learner begins again ``r`` times.

    In a random order, which the trials do not depend on, each of the ``v`` hypotheses that remain
    is the first with the same probability. A trial that removes ``w`` of them costs ``w / v``
    mistakes in expectation, at most ``1/v + 1/(v - 1) + ... + 1/(v - w + 1)``. All trials
    together cost::

        E M <= (r + 1) (1 + 1/2 + ... + 1/|H|) - 1 <= (r + 1) (ln |H| + 1) - 1

    Parameters
    ----------
    n_hypotheses : int or array-like of int
        The number ``|H|`` of hypotheses.

    n_restarts : int or array-like of int, default=0
        The number ``r`` of restarts, or the number of mistakes of the best hypothesis.

    random_order : bool, default=False
        Whether the hypotheses stand in a random order: the bound is on the expectation.

    Returns
    -------
    bound : float or ndarray
        No more mistakes than these.

    See Also
    --------
    halving_bound : For the majority of the hypotheses.
    sklearn_sl.online.ConsistentLearner : The learner.

    References
    ----------
    .. [1] S. Shalev-Shwartz, "Online learning and online convex optimization", Foundations and
       Trends in Machine Learning 4, 2012.

    Examples
    --------
    >>> from sklearn_sl.theory import consistent_bound
    >>> float(consistent_bound(1000))
    999.0
    >>> round(float(consistent_bound(1000, random_order=True)), 2)
    6.49
    """
    if random_order:
        most = _harmonic("n_hypotheses", n_hypotheses)
    else:
        most = whole("n_hypotheses", n_hypotheses, low=1)
    return (whole("n_restarts", n_restarts, low=0) + 1) * most - 1


def _harmonic(name, n):
    """Return ``1 + 1/2 + ... + 1/n``."""
    if np.asarray(n).dtype == object:  # numbers so large that the rest is nothing
        return log_count(name, n) + np.euler_gamma
    return digamma(whole(name, n, low=1) + 1) + np.euler_gamma


def grid_threshold_bound(n_steps: ArrayLike, n_restarts: ArrayLike = 0) -> float | np.ndarray:
    """Return an upper bound on the number of mistakes of halving on the thresholds of a grid.

    On the ``n + 1`` points ``0, 1/n, ..., 1`` there are ``n + 2`` different thresholds: below all
    points, between two neighbours, and above all points. So ``M <= log2(n + 2)``, and
    ``floor(log2(n + 2))`` mistakes can be forced.

    Parameters
    ----------
    n_steps : int or array-like of int
        The number ``n`` of steps.

    n_restarts : int or array-like of int, default=0
        See :func:`halving_bound`.

    Returns
    -------
    bound : float or ndarray
        No more mistakes than these.

    See Also
    --------
    halving_bound : For any finite class.
    sklearn_sl.online.GridThresholdHalving : The algorithm.

    Examples
    --------
    With two steps ``log2(n + 1)``, which one could think of, would be too little: there are
    four thresholds, and two mistakes.

    >>> from sklearn_sl.theory import grid_threshold_bound
    >>> grid_threshold_bound([2, 6, 14])
    array([2., 3., 4.])
    """
    return halving_bound(whole("n_steps", n_steps, low=1) + 2, n_restarts)


def greedy_set_cover_bound(n_elements: ArrayLike) -> float | np.ndarray:
    """Return an upper bound on the approximation ratio of the greedy set cover.

    The greedy algorithm takes the set with the most elements that are not covered yet, time after
    time. If no set has more than ``m`` elements, it takes at most ``1 + 1/2 + ... + 1/m`` times
    as many sets as the smallest cover, which is at most ``1 + ln m``. Unless P = NP, no
    polynomial algorithm has a factor ``(1 - eps) ln m``.

    Parameters
    ----------
    n_elements : int or array-like of int
        The number ``m`` of elements of the largest set, or of all sets together.

    Returns
    -------
    factor : float or ndarray
        The greedy cover is no more than this factor times the smallest one.

    See Also
    --------
    sklearn_sl.online.set_cover : The algorithm.

    References
    ----------
    .. [1] V. Chvatal, "A greedy heuristic for the set-covering problem", Mathematics of Operations
       Research 4, 1979.

    Examples
    --------
    >>> from sklearn_sl.theory import greedy_set_cover_bound
    >>> round(float(greedy_set_cover_bound(12)), 3)
    3.103
    """
    return _harmonic("n_elements", n_elements)


def count_disjunctions(
    n_variables: int, n_literals: int | None = None, monotone: bool = False
) -> int:
    """Return how many disjunctions of boolean variables there are.

    A literal is a variable or its negation; a disjunction has no literal twice and no variable
    together with its negation. Conjunctions are as many.

    Parameters
    ----------
    n_variables : int
        The number ``n`` of variables.

    n_literals : int, default=None
        The number ``k`` of literals; None is any number, the empty disjunction included.

    monotone : bool, default=False
        Whether there are no negations.

    Returns
    -------
    count : int
        ``3^n``, or ``2^n`` without negations; ``2^k binomial(n, k)`` or ``binomial(n, k)`` of
        them have ``k`` literals.

    See Also
    --------
    halving_bound : What one needs it for.

    Examples
    --------
    >>> from sklearn_sl.theory import count_disjunctions
    >>> count_disjunctions(10), count_disjunctions(10, 3), count_disjunctions(10, 3, monotone=True)
    (59049, 960, 120)
    """
    n, signs = int(whole("n_variables", n_variables, low=0)), 1 if monotone else 2
    if n_literals is None:
        return (1 + signs) ** n
    k = int(whole("n_literals", n_literals, low=0))
    return math.comb(n, k) * signs**k


def disjunction_majority_bound(
    n_variables: ArrayLike,
    n_literals: ArrayLike,
    best_mistakes: ArrayLike = 0,
    beta: ArrayLike = 1 / np.e,
) -> float | np.ndarray:
    """Return an upper bound on the number of mistakes of weighted majority over disjunctions.

    The experts are the ``binomial(n, k) <= (n e / k)^k`` monotone disjunctions of ``k`` out of
    ``n`` variables, and the weight of an expert is multiplied by ``beta`` when it is wrong. If
    the best of them makes ``M*`` mistakes::

        M <= (ln(1 / beta) M* + k ln(n e / k)) / ln(2 / (1 + beta))

    Both factors are 2.63 for ``beta = 1 / e``.

    Parameters
    ----------
    n_variables : int or array-like of int
        The number ``n`` of variables; with negations twice that number.

    n_literals : int or array-like of int
        The number ``k`` of literals.

    best_mistakes : int or array-like of int, default=0
        The number ``M*`` of mistakes of the best disjunction.

    beta : float or array-like, default=1/e
        The factor of weights, between 0 and 1.

    Returns
    -------
    bound : float or ndarray
        No more mistakes than these.

    See Also
    --------
    sklearn_sl.online.DisjunctionWeightedMajority : The algorithm.

    References
    ----------
    .. [1] N. Littlestone and M. Warmuth, "The weighted majority algorithm", Information and
       Computation 108, 1994.

    Examples
    --------
    >>> from sklearn_sl.theory import disjunction_majority_bound
    >>> round(float(disjunction_majority_bound(100, 3)), 1)
    35.6
    """
    n, k = whole("n_variables", n_variables, low=1), whole("n_literals", n_literals, low=1)
    if np.any(k > n):
        raise ValueError(f"n_literals must be <= n_variables={n_variables!r}; got {n_literals!r}.")
    best, beta = whole("best_mistakes", best_mistakes, low=0), real("beta", beta, 0, 1)
    if np.any((beta == 0) | (beta == 1)):
        raise ValueError(f"beta must be in (0, 1); got {beta}.")
    return (best * np.log(1 / beta) + k * np.log(n * np.e / k)) / log_fall(1 - beta)


def conjunction_bound(n_variables: ArrayLike) -> float | np.ndarray:
    """Return an upper bound on the number of mistakes of learning a conjunction by elimination.

    The learner begins with all ``2 n`` literals, which are never true together, and removes those
    that are false on a positive sample that it got wrong. The first such sample removes one of
    each pair, each further one at least one of the ``n`` that remain; the literals of the true
    conjunction stay, and negative samples are never got wrong. So ``M <= n + 1``.

    Parameters
    ----------
    n_variables : int or array-like of int
        The number ``n`` of variables.

    Returns
    -------
    bound : float or ndarray
        No more mistakes than these.

    See Also
    --------
    sklearn_sl.online.ConjunctionLearner : The learner.

    References
    ----------
    .. [1] L. Valiant, "A theory of the learnable", Communications of the ACM 27, 1984.

    Examples
    --------
    >>> from sklearn_sl.theory import conjunction_bound
    >>> conjunction_bound([10, 1000])
    array([  11., 1001.])
    """
    return whole("n_variables", n_variables, low=1) + 1
