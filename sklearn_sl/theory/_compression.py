"""Compression bounds: the error of a classifier that is determined by a few of its samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from sklearn_sl.theory._binomial import log_binomial, upper_at
from sklearn_sl.theory._domain import any_of, plain, probability, real, unwarned, whole
from sklearn_sl.theory._relative_entropy import largest_coin

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


@unwarned
def compression_bound(
    n_samples: ArrayLike,
    n_kept: ArrayLike,
    n_errors: ArrayLike = 0,
    delta: ArrayLike = 0.05,
    *,
    kept: Literal["set", "sequence"] = "set",
    log_messages: ArrayLike = 0.0,
    any_size: bool = True,
    closed_form: bool = False,
) -> float | np.ndarray:
    """Return an upper bound on the error of a classifier that is determined by some of its samples.

    A learner keeps ``k`` of ``m`` independent samples, which alone determine the
    classifier: the support vectors of a machine, the samples on which a perceptron was wrong, the
    prototypes of a condensed nearest-neighbour rule. The others are a test set for it. There are
    ``N = binomial(m, k)`` choices; so with probability ``1 - delta``, for all of them at once, the
    error ``p`` of a classifier with ``e`` errors on the other ``n = m - k`` samples satisfies::

        P(Binomial(n, p) <= e) > delta / (N (m + 1))

    where the factor ``m + 1`` allows for any number ``k``. The bound is the largest such ``p``. If
    there are no errors, it is ``1 - (delta / (N (m + 1)))^(1 / n)``, which is at most
    ``ln(N (m + 1) / delta) / n``.

    ========================================= ====================================================
    learner                                   what is kept, and the errors
    ========================================= ====================================================
    support vector machine                    ``n_support_.sum()`` samples, a set; no errors: all
                                              that are wrong are support vectors
    perceptron, one pass                      the samples with mistakes, a set, whose order is that
                                              of the pass; errors are those on the others
    perceptron, several passes                the sequence of mistakes, which may repeat a sample
    condensed nearest neighbours              the prototypes, a set; no errors
    ========================================= ====================================================

    Parameters
    ----------
    n_samples : int or array-like
        The number ``m`` of samples.

    n_kept : int or array-like
        The number ``k`` of those that determine the classifier, or the length of the sequence.

    n_errors : int or array-like, default=0
        The number ``e`` of errors on the others.

    delta : float or array-like, default=0.05
        The probability of failure, in (0, 1].

    kept : {"set", "sequence"}, default="set"
        Whether the order of the kept samples matters and they may be repeated: then ``N`` is
        ``m^k``.

    log_messages : float or array-like, default=0.0
        The logarithm of the number of messages, if the classifier is determined by the kept samples
        together with a message, such as a bit for each of them.

    any_size : bool, default=True
        Whether ``k`` depends on the samples, so that the factor ``m + 1`` is needed.

    closed_form : bool, default=False
        Whether to use ``kl(e / n || p) <= ln(N (m + 1) / delta) / n`` in place of the binomial
        tail, a looser bound by Chernoff's inequality.

    Returns
    -------
    bound : float or ndarray
        The bound on the error; one if all samples are kept.

    See Also
    --------
    support_vector_bound : A bound in expectation.
    pac_bayes_bound : A bound for weighted votes.

    References
    ----------
    .. [1] N. Littlestone and M. Warmuth, "Relating data compression and learnability", University
       of California at Santa Cruz, 1986.

    .. [2] T. Graepel, R. Herbrich and J. Shawe-Taylor, "PAC-Bayesian compression bounds on the
       prediction error of learning algorithms for classification", Machine Learning 59, 2005.

    .. [3] J. Langford, "Tutorial on practical prediction theory for classification", Journal of
       Machine Learning Research 6, 2005.

    Examples
    --------
    A machine with 20 support vectors of 10,000 samples, and one with 500:

    >>> from sklearn_sl.theory import compression_bound
    >>> compression_bound(10_000, [20, 500]).round(3)
    array([0.015, 0.189])
    """
    m, k = whole("n_samples", n_samples, 1), whole("n_kept", n_kept)
    errors, log_delta = whole("n_errors", n_errors), np.log(probability("delta", delta))
    messages = real("log_messages", log_messages, 0.0)
    if kept not in ("set", "sequence"):
        raise ValueError(f"kept must be 'set' or 'sequence'; got {kept!r}.")
    # A sequence may repeat a sample; then there are more of the others, which do no harm.
    n = m - k if kept == "set" else 0.5 * (m - k + abs(m - k))
    if any_of(n < 0):
        raise ValueError("n_kept must be <= n_samples.")
    if any_of(errors > n):
        raise ValueError("n_errors must be <= n_samples - n_kept.")
    choices = log_binomial(m, k) if kept == "set" else k * np.log(m)
    log_tail = log_delta - choices - messages - (np.log1p(m) if any_size else 0.0)
    if closed_form:
        size = np.maximum(n, 1.0)
        bound = largest_coin(plain(errors / size), plain(-log_tail / size))
        return plain(np.where(np.equal(n, 0), 1.0, bound))
    return upper_at(errors, n, log_tail)
