"""Which differences of scores are more than chance."""

import numpy as np
from scipy import stats

LEVEL = 0.05


def corrected_t_test(scores, others, test_share, n_test=None):
    """Return the two-sided p-value of the corrected resampled t-test for a difference of scores.

    The training parts of cross-validation overlap, and so the variance of the mean difference is
    larger than ``s^2 / k``. It is estimated by ``(1 / k + q) s^2``, with ``q`` the quotient of the
    numbers of test and training rows.

    Parameters
    ----------
    scores, others : sequences of the same length
        The scores of two candidates in the same folds.
    test_share : float
        Test rows per training row: ``1 / (k - 1)`` for ``k`` folds.
    n_test : int, default=None
        The number of test rows in a fold, of scores that are shares of rows. Few folds may by
        chance have nearly equal differences, and ``s^2`` be next to zero. But a difference ``d`` of
        two shares of ``n_test`` rows has at least the variance ``|d| (1 - |d|) / n_test``.

    References
    ----------
    C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52 (2003).
    """
    difference = np.subtract(scores, others)
    count, mean = len(difference), np.mean(difference)
    spread = np.var(difference, ddof=1)
    if n_test is not None:
        spread = max(spread, abs(mean) * (1 - abs(mean)) / n_test)
    variance = (1 / count + test_share) * spread
    # Differences of rounding are none.
    if abs(mean) <= 1e-12 * max(np.max(np.abs(scores)), np.max(np.abs(others))):
        return 1.0
    if variance <= (1e-12 * mean) ** 2:
        return 0.0
    return float(2 * stats.t.sf(abs(mean) / np.sqrt(variance), count - 1))


def against_best(all_scores, test_share, n_test=None):
    """Return for each candidate the p-value against the best one, which has 1."""
    best = max(all_scores, key=np.mean)
    return [corrected_t_test(scores, best, test_share, n_test) for scores in all_scores]
