"""Scores of predictions that are known already, by any scorer of scikit-learn."""

from inspect import signature

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if


class KnownRegressor(RegressorMixin, BaseEstimator):
    """Stands in for a fitted regressor before a scorer: it returns known predictions."""

    def __init__(self, predictions):
        self.predictions = predictions

    def predict(self, X):
        """Return the predictions, whatever ``X`` is."""
        return self.predictions


class KnownClassifier(ClassifierMixin, BaseEstimator):
    """Stands in for a fitted classifier before a scorer: it returns known predictions.

    Decision values or probabilities that are None are not offered, so that a scorer takes what
    there is, or complains.
    """

    def __init__(self, predictions, classes, *, decisions=None, probabilities=None):
        self.predictions, self.classes = predictions, classes
        self.decisions, self.probabilities = decisions, probabilities

    @property
    def classes_(self):
        return self.classes

    def predict(self, X):
        """Return the predictions, whatever ``X`` is."""
        return self.predictions

    @available_if(lambda self: self.decisions is not None)
    def decision_function(self, X):
        """Return the decision values, whatever ``X`` is."""
        return self.decisions

    @available_if(lambda self: self.probabilities is not None)
    def predict_proba(self, X):
        """Return the probabilities, whatever ``X`` is."""
        return self.probabilities


def score_of(scorer, known, y, weight=None):
    """Return the value of a scorer, weighted if there are weights."""
    if weight is None:
        return scorer(known, None, y)
    if "sample_weight" not in signature(scorer).parameters:
        raise ValueError(
            "sample_weight was given, but the scorer does not accept it: pass one of make_scorer, "
            "or fit without weights."
        )
    return scorer(known, None, y, sample_weight=weight)
