"""No free lunch: without assumptions any learner fails on some problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import bdtrc
from scipy.stats import sem
from sklearn.base import clone
from sklearn.utils import check_random_state

from sklearn_sl.theory._domain import integer, plain, real, single_probability, whole

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


class NoFreeLunch(NamedTuple):
    """The errors of a learner on random labels; see :func:`no_free_lunch`.

    Attributes
    ----------
    errors : ndarray of shape (n_repeats,)
        The share of the domain on which the learner was wrong.

    mean, standard_error : float
        The mean of the errors, and its standard error.

    share : float
        How often the error was 1/8 or more.

    rote : float
        The expected error of learning by rote, the smallest of all learners.

    See Also
    --------
    no_free_lunch : Computes it.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn_sl.theory import no_free_lunch
    >>> no_free_lunch(DummyClassifier(), 5, random_state=0).errors.shape
    (200,)
    """

    errors: np.ndarray
    mean: float
    standard_error: float
    share: float
    rote: float


def no_free_lunch(
    estimator: Any,
    n_samples: int,
    domain_size: int | None = None,
    *,
    n_repeats: int = 200,
    random_state: int | np.random.RandomState | None = None,
) -> NoFreeLunch:
    """Measure the error of any classifier where nothing is known about the labels.

    The domain consists of ``k`` points on the line, all equally likely, and their labels are drawn
    by a fair coin, once for each repeat. The classifier is fitted to ``m`` points drawn with
    replacement, and its error is the share of the domain on which it is wrong. For every learner,
    as it can know the labels of at most ``m`` points::

        E error >= 1/2 (1 - 1/k)^m,          which is >= 1/4 for k >= 2m
        P(error >= 1/8) >= (1/4 - 1/8) / (1 - 1/8) = 1/7

    As this holds for the mean over all labellings, it holds for at least one of them: there is a
    labelling on which some classifier makes no error, and this learner has an error of at least 1/8
    with probability 1/7. That is the theorem, in its first form; see :func:`no_free_lunch_domain`
    for the second one.

    Parameters
    ----------
    estimator : classifier
        The classifier to fit. If only one class was drawn, that class is predicted, as many
        classifiers refuse to be fitted to one class.

    n_samples : int
        The number ``m`` of samples.

    domain_size : int, default=None
        The number ``k`` of points; ``2m`` if None.

    n_repeats : int, default=200
        The number of labellings, at least two.

    random_state : int, RandomState instance or None, default=None
        For the draws.

    Returns
    -------
    found : NoFreeLunch
        The ``errors`` with their ``mean`` and ``standard_error``, the ``share`` of those that are
        1/8 or more, and the expected error of learning by ``rote``.

    See Also
    --------
    rote_learner_error : The smallest possible expected error.

    References
    ----------
    .. [1] S. Shalev-Shwartz and S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press, 2014, theorem 5.1.

    .. [2] D. Wolpert, "The lack of a priori distinctions between learning algorithms", Neural
       Computation 8, 1996.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn_sl.theory import no_free_lunch
    >>> found = no_free_lunch(KNeighborsClassifier(1), 20, random_state=0)
    >>> round(found.mean, 2), found.share, round(found.rote, 2)
    (0.3, 1.0, 0.3)
    """
    m = integer("n_samples", n_samples, low=1)
    k = 2 * m if domain_size is None else integer("domain_size", domain_size, low=1)
    n_repeats = integer("n_repeats", n_repeats, low=2)
    rng = check_random_state(random_state)
    domain, errors = np.arange(float(k))[:, None], np.empty(n_repeats)
    for repeat in range(n_repeats):
        labels, drawn = rng.randint(2, size=k), rng.randint(k, size=m)
        predicted = labels[drawn[0]]
        if np.ptp(labels[drawn]):
            predicted = clone(estimator).fit(domain[drawn], labels[drawn]).predict(domain)
        errors[repeat] = np.mean(predicted != labels)
    share = float(np.mean(errors >= 1 / 8))
    return NoFreeLunch(
        errors, float(errors.mean()), float(sem(errors)), share, rote_learner_error(m, k)
    )


def rote_learner_error(n_samples: ArrayLike, domain_size: ArrayLike) -> float | np.ndarray:
    """Return the expected error of learning by rote, the smallest possible one on random labels.

    On ``k`` equally likely points with labels by a fair coin, a learner that remembers ``m`` of
    them, drawn with replacement, and guesses the others errs with probability::

        1/2 (1 - 1/k)^m

    No learner has a smaller expected error. With ``k = 2m`` it rises to ``exp(-1/2) / 2 = 0.303``.

    Parameters
    ----------
    n_samples : int or array-like of int
        The number ``m`` of samples.

    domain_size : int or array-like of int
        The number ``k`` of points.

    Returns
    -------
    error : float or ndarray
        The error, over all points of the domain.

    See Also
    --------
    no_free_lunch : The error of any classifier, by simulation.

    References
    ----------
    .. [1] S. Shalev-Shwartz and S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press, 2014, chapter 5.

    Examples
    --------
    >>> from sklearn_sl.theory import rote_learner_error
    >>> rote_learner_error([5, 10, 20], [10, 20, 40]).round(3)
    array([0.295, 0.299, 0.301])
    """
    m, k = whole("n_samples", n_samples, low=0), whole("domain_size", domain_size, low=1)
    return plain((1 - 1 / k) ** m / 2)


def reverse_markov(mean: ArrayLike, threshold: ArrayLike) -> float | np.ndarray:
    """Return a lower bound on the probability that a variable between 0 and 1 is large.

    For ``X`` in [0, 1] and a threshold ``a`` below one::

        P(X >= a) >= (E X - a) / (1 - a)

    Parameters
    ----------
    mean : float or array-like
        The expectation, in [0, 1].

    threshold : float or array-like
        The number ``a``, in [0, 1).

    Returns
    -------
    probability : float or ndarray
        The bound, zero where the expectation is smaller than ``a``.

    See Also
    --------
    no_free_lunch : Where it is used.

    References
    ----------
    .. [1] S. Shalev-Shwartz and S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press, 2014, lemma B.1.

    Examples
    --------
    >>> from sklearn_sl.theory import reverse_markov
    >>> reverse_markov(1 / 4, 1 / 8) == 1 / 7
    True
    """
    mean, a = real("mean", mean, 0.0, 1.0), real("threshold", threshold, 0.0, 1.0)
    if np.any(np.asarray(a) == 1):
        raise ValueError("threshold must be < 1; got 1.")
    return plain(np.maximum((mean - a) / (1 - a), 0.0))


def no_free_lunch_domain(n_samples: int, epsilon: float, delta: float) -> int:
    """Return the size of a domain on which any learner fails with a given probability.

    The theorem in its second form: for every learner, every ``m`` and ``delta < 1``, and every
    ``epsilon < 1/2``, there are a law and a labelling such that the error is at least ``epsilon``
    with probability ``delta``. Take ``k`` equally likely points. At least ``k - m`` of them are
    not in the sample, where a random labelling makes any prediction wrong by a fair coin. So it is
    enough that::

        P(Binomial(k - m, 1/2) >= epsilon k) >= delta

    Parameters
    ----------
    n_samples : int
        The number ``m`` of samples.

    epsilon : float
        The error, below 1/2.

    delta : float
        The probability, below one.

    Returns
    -------
    domain_size : int
        A sufficient number ``k`` of points, not necessarily the smallest.

    See Also
    --------
    no_free_lunch : The first form, and a simulation.

    References
    ----------
    .. [1] S. Shalev-Shwartz and S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press, 2014, exercise 5.3.

    Examples
    --------
    >>> from sklearn_sl.theory import no_free_lunch_domain
    >>> no_free_lunch_domain(10, 1 / 8, 1 / 7), no_free_lunch_domain(100, 0.45, 0.99)
    (12, 2011)
    """
    m = integer("n_samples", n_samples, low=0)
    epsilon = single_probability("epsilon", epsilon)
    delta = single_probability("delta", delta)
    if epsilon >= 0.5 or delta >= 1:
        raise ValueError(
            "epsilon must be < 1/2 and delta < 1, or a coin is enough to win; got "
            f"epsilon={epsilon:g} and delta={delta:g}."
        )

    def is_enough(k):
        return bdtrc(np.ceil(epsilon * k) - 1, k - m, 0.5) >= delta

    low, high = m, m + 1
    while not is_enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
