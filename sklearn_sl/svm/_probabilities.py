"""Probabilities of classes for ``probability=True``, which scikit-learn is about to remove."""

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV

from sklearn_sl._warnings import warn

# Folds, as many as in scikit-learn.
FOLDS = 5


def warn_of_probability(model):
    """Warn as scikit-learn does if the parameter is given at all."""
    if model.probability != "deprecated":
        warn(
            "The `probability` parameter was deprecated in scikit-learn 1.9 and will be removed in "
            "version 1.11. Use `CalibratedClassifierCV(SVC(), ensemble=False)` instead of "
            "`SVC(probability=True)`.",
            FutureWarning,
        )


def calibrated(model, X, y, sample_weight):
    """Return the same machine with sigmoids that make probabilities of its scores.

    They are fitted to scores of samples that were left out, in as many folds as the smallest class
    allows; where a class has one sample, to the scores of all.
    """
    machine = clone(model).set_params(probability="deprecated")
    smallest = np.unique(y, return_counts=True)[1].min()
    every = np.arange(len(y))
    folds = min(FOLDS, smallest) if smallest > 1 else [(every, every)]
    model = CalibratedClassifierCV(machine, ensemble=False, cv=folds)
    with warnings.catch_warnings():  # what it has to say of convergence was said of the fit
        warnings.simplefilter("ignore")
        return model.fit(X, y, sample_weight=sample_weight)


def sigmoids(model):
    """Return the slopes and the offsets of the sigmoids; there are none without probabilities."""
    if not hasattr(model, "_calibrated"):
        return np.empty((2, 0))
    (single,) = model._calibrated.calibrated_classifiers_
    return np.array([(sigmoid.a_, sigmoid.b_) for sigmoid in single.calibrators]).T
