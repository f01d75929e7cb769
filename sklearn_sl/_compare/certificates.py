"""What the fitted models of a comparison say about their own quality."""

import warnings

import numpy as np

from sklearn_sl import _certificates
from sklearn_sl._certificates import READERS

MAX_ROWS_LOO = 1000  # leaving out each row in turn takes a solve for each

LEFT_OUT = "leave-one-out"
# What each certificate means, by its name, in the order of the report.
MEANINGS = {name: meaning for name, _, meaning, estimate in READERS if not estimate} | {
    LEFT_OUT: "The error on each training row by the model without that row: the share of wrong "
    "classes, or the mean absolute error in standard deviations of the target. An estimate of the "
    "error on new rows that needs no test data.",
}


def left_out_error(model, X, y):
    """Return the leave-one-out error: of classes the share, of numbers the mean absolute error."""
    if hasattr(model, "loo_error"):
        return model.loo_error(X, y) if len(y) <= MAX_ROWS_LOO else None
    if hasattr(model, "leave_one_out"):
        answers = model.leave_one_out() if len(y) <= MAX_ROWS_LOO else None
    else:
        answers = getattr(model, "loo_predictions_", getattr(model, "loo_distributions_", None))
    if answers is None:
        return None
    known = np.isfinite(answers if np.ndim(answers) == 1 else answers[:, 0])
    answers, y = np.asarray(answers)[known], np.asarray(y)[known]
    if not hasattr(model, "classes_"):
        return np.mean(np.abs(answers - y))
    best = answers > 0 if answers.ndim == 1 else np.argmax(answers, axis=1)
    return np.mean(model.classes_[best.astype(int)] != y)


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
