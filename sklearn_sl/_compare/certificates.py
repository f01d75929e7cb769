"""What the fitted models of a comparison say about their own quality."""

import warnings

import numpy as np

from sklearn_sl import _certificates
from sklearn_sl._certificates import READERS, left_out_error

LEFT_OUT = "leave-one-out"
# What each certificate means, by its name, in the order of the report.
MEANINGS = {name: meaning for name, _, meaning, estimate in READERS if not estimate} | {
    LEFT_OUT: "The error on each training row by the model without that row: the share of wrong "
    "classes, or the mean absolute error in standard deviations of the target. An estimate of the "
    "error on new rows that needs no test data.",
}


def certificates_of(model, X, y):
    """Return the certificates of a fitted estimator, ``{name: number}``.

    The scores of the report are those of left-out rows of its own: estimates of them by the model
    are left out, but for the leave-one-out error.
    """
    found = {c.name: c.value for c in _certificates.certificates_of(model) if not c.estimate}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            error = left_out_error(model, X, y)
        except (AttributeError, TypeError, ValueError):
            error = None  # the model does not have it, or not with these parameters
    if error is not None and np.isfinite(error):
        found[LEFT_OUT] = float(error)
    return found


def worst(all_found):
    """Return the largest of each certificate over the folds."""
    names = dict.fromkeys(name for found in all_found for name in found)
    return {name: max(found[name] for found in all_found if name in found) for name in names}
