"""The few protocol mixins that the estimators of the package share."""

import warnings

import numpy as np
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils.class_weight import compute_sample_weight

from sklearn_sl import __version__
from sklearn_sl._sklearn import CallbackSupportMixin
from sklearn_sl._state import check_state

__all__ = ["EstimatorMixin"]


class EstimatorMixin(CallbackSupportMixin):
    """What every estimator of the package has besides ``BaseEstimator``.

    Callbacks (scikit-learn >= 1.9), and a version stamp: a model that was
    pickled by another version of the package says so when it is loaded. A model
    whose state does not hold together raises a ValueError when it is loaded; hook:
    ``_check_state()``. To be placed first among the bases.
    """

    def __getstate__(self):
        return {**super().__getstate__(), "_sklearn_sl_version": __version__}

    def __setstate__(self, state):
        state = dict(state)
        pickled = state.pop("_sklearn_sl_version", "unknown")
        if pickled != __version__:
            warnings.warn(
                InconsistentVersionWarning(
                    estimator_name=type(self).__name__,
                    current_sklearn_version=f"sklearn_sl {__version__}",
                    original_sklearn_version=f"sklearn_sl {pickled}",
                ),
                stacklevel=2,
            )
        super().__setstate__(state)
        if hasattr(self, "_check_state"):
            check_state(self)


def class_factors(class_weight, y, weight):
    """Return the weight of each sample's class; "balanced" counts the samples by weight."""
    if class_weight != "balanced" or weight is None:
        return compute_sample_weight(class_weight, y)
    codes = np.unique(y, return_inverse=True)[1]
    totals = np.bincount(codes, weights=weight)
    # As scikit-learn does it for repeated rows, to the last bit.
    portions = np.count_nonzero(totals) * totals
    factors = np.divide(weight.sum(), portions, out=np.zeros_like(totals), where=totals > 0)
    return factors[codes]
