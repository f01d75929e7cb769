"""Monotonicity constraints: what the user gave, as a sign for each feature."""

import numpy as np


def monotonic_signs(tree, training_set, target):
    """Return the sign of each feature, of the order of the children of a split; none without.

    For classes it is the order of the shares of the second class.
    """
    constraints = getattr(tree, "monotonic_cst", None)
    if constraints is None:
        return ()
    if target.values.shape[1] > 1:
        raise ValueError(
            "Monotonicity constraints are not supported with multiple outputs: fit one tree or "
            "forest for each output, or set monotonic_cst=None."
        )
    constraints = np.asarray(constraints)
    n_features = training_set.X.shape[1]
    if constraints.shape != (n_features,):
        shape = len(constraints) if constraints.ndim == 1 else constraints.shape
        raise ValueError(
            f"monotonic_cst has shape {shape} but the input data X has {n_features} features. It "
            "must have one entry for each feature."
        )
    if not np.all(np.isin(constraints, (-1, 0, 1))):
        raise ValueError(
            "monotonic_cst must be None or an array-like of -1, 0 or 1, but got "
            f"{np.unique(constraints)}"
        )
    if target.n_classes is not None and target.n_classes[0] > 2:
        raise ValueError(
            "Monotonicity constraints are not supported with multiclass classification: y has "
            f"{target.n_classes[0]} classes, but must have two."
        )
    both = np.flatnonzero(constraints.astype(bool) & (training_set.n_categories > 0))
    if len(both):
        raise ValueError(
            "Categorical features cannot have monotonic constraints, but the features "
            f"{both.tolist()} have: set their entries of monotonic_cst to 0."
        )
    return tuple(int(sign) for sign in constraints)
