"""Probabilities of classes, for learners of the logistic loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, log_expit, logsumexp
from sklearn.utils.metaestimators import available_if

from sklearn_sl.online._protocol import scores_of_query

if TYPE_CHECKING:
    from sklearn_sl._typing import MatrixLike

# The names of ``log(1 + exp(-y s))``: the one of the books, and the one of scikit-learn.
LOGISTIC = ("logistic", "log_loss")


def knows_probabilities(learner):
    """Return whether scores estimate log-odds.

    They do if the logistic loss of every trial is learned from, and each vector separates one
    class from all others: a difference of the scores of two classes says nothing of a third one.
    """
    return (
        isinstance(learner.loss, str)
        and learner.loss in LOGISTIC
        and not learner.conservative
        and getattr(learner, "multi_class", "ovr") == "ovr"
    )


def log_shares(scores):
    """Return the logarithms of probabilities, given the log-odds of one class or of each."""
    if scores.shape[1] == 1:
        return log_expit(np.column_stack([-scores[:, 0], scores[:, 0]]))
    logs = log_expit(scores)
    # All odds may be too small for numbers, but not their logarithms.
    return logs - logsumexp(logs, axis=1, keepdims=True)


class LogisticProbabilitiesMixin:
    """Probabilities of a classifier with the parameters ``loss`` and ``conservative``."""

    @available_if(knows_probabilities)
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Return the probabilities of classes; only for the logistic loss.

        For two classes the score ``s`` is the logarithm of the odds of the second one, and its
        probability ``1 / (1 + exp(-s))``. For more classes these are the probabilities of each
        against all others, divided by their sum, as in scikit-learn's ``SGDClassifier``. Not with
        ``conservative=True`` or ``multi_class="kesler"``, whose scores are no log-odds.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            A column for each class, in the order of ``classes_``.
        """
        scores = scores_of_query(self, X)
        if scores.shape[1] == 1:
            return expit(np.column_stack([-scores[:, 0], scores[:, 0]]))
        return np.exp(log_shares(scores))

    @available_if(knows_probabilities)
    def predict_log_proba(self, X: MatrixLike) -> np.ndarray:
        """Return the logarithms of the probabilities of classes; only for the logistic loss.

        They are finite even where a probability is too small for a number.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            A column for each class, in the order of ``classes_``.
        """
        return log_shares(scores_of_query(self, X))
