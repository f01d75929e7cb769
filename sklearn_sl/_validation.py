"""scikit-learn's checks of samples and labels, which a plain array passes without their cost.

Most calls of a small ``fit`` or ``predict`` are given arrays that need no conversion. To find that
out takes a few microseconds, where the checks take a tenth of a millisecond. Whatever is not
plainly valid goes through them, and has their conversions, warnings and errors.
"""

import numpy as np
from sklearn.utils import multiclass, validation

# Numbers from which on the cost of the checks is that of looking at the numbers.
LARGE = 2**16
_CHECKED = {
    "accept_sparse",
    "dtype",
    "ensure_all_finite",
    "multi_output",
    "order",
    "skip_check_array",
    "y_numeric",
}


def validate_data(model, X="no_validation", y="no_validation", *, reset=True, **checks):
    """Do what :func:`sklearn.utils.validation.validate_data` does."""
    wants_y = not isinstance(y, str)
    if (
        checks.keys() <= _CHECKED
        and _is_valid(X, **checks)
        and (not wants_y or _is_valid_target(y, X.shape[0], **checks))
        and _knows_features(model, X.shape[1], reset)
    ):
        if reset:
            model.n_features_in_ = X.shape[1]
        return (X, y) if wants_y else X
    return validation.validate_data(model, X, y, reset=reset, **checks)


def _is_valid(
    X, *, dtype="numeric", order=None, skip_check_array=False, ensure_all_finite=True, **_
):
    """Return whether scikit-learn would accept samples as they are."""
    if type(X) is not np.ndarray or X.ndim != 2:
        return False
    if skip_check_array:  # only the features are learned or compared
        return True
    if not 0 < X.size < LARGE or X.dtype.kind != "f" or dtype is None or not ensure_all_finite:
        return False
    types = dtype if isinstance(dtype, list | tuple) else [X.dtype if dtype == "numeric" else dtype]
    return (
        X.dtype in types
        and (order is None or X.flags[f"{order}_CONTIGUOUS"])
        and (np.isfinite(X).all() or (ensure_all_finite == "allow-nan" and not np.isinf(X).any()))
    )


def is_plain_target(y, n_samples, *, numbers):
    """Return whether scikit-learn would accept one column of numbers, or of labels, as it is."""
    return _is_valid_target(y, n_samples, y_numeric=numbers) and n_samples > 0


def _is_valid_target(y, n, *, y_numeric=False, multi_output=False, **_):
    """Return whether scikit-learn would accept targets as they are."""
    if type(y) is not np.ndarray or y.ndim != 1 or len(y) != n:
        return False
    if y.dtype.kind == "f":
        return bool(np.isfinite(y).all())
    return y.dtype.kind in ("biu" if y_numeric else "biuU")


def _knows_features(model, n_features, reset):
    """Return whether a model has no names of features, and as many features as these."""
    if "feature_names_in_" in vars(model):
        return False
    return reset or vars(model).get("n_features_in_") == n_features


def distinct_labels(y):
    """Return the labels that occur, sorted, after checking that they are labels of classes.

    Does what :func:`sklearn.utils.multiclass.check_classification_targets` does.
    """
    if type(y) is not np.ndarray or y.ndim != 1 or y.dtype.kind not in "biufU":
        multiclass.check_classification_targets(y)
        return np.unique(y)
    classes = np.unique(y)
    integral = y.dtype.kind != "f" or (np.isfinite(classes).all() and not (classes % 1).any())
    if not integral or len(classes) > len(y) // 2:  # not labels, or many of them for the samples
        multiclass.check_classification_targets(y)
    return classes
