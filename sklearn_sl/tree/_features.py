"""Features of a tree: numbers with missing values, and categories as codes."""

import numpy as np
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils.validation import check_array, validate_data

NUMBERS = {"dtype": np.float64, "order": "C", "ensure_all_finite": "allow-nan"}


class FeatureMixin:
    """Reads samples: the parameter ``categorical_features``, and the codes of the categories."""

    def _read_samples(self, X, *, reset):
        """Return samples as a matrix of numbers; with ``reset`` learn the categories from them.

        Missing values, and categories that are not known, are NaN.
        """
        if reset:
            self.is_categorical_ = None
            by_dtype = isinstance(self.categorical_features, str)
            if hasattr(X, "dtypes") if by_dtype else self.categorical_features is not None:
                validate_data(self, X, reset=True, skip_check_array=True)
                names = getattr(self, "feature_names_in_", None)
                self.is_categorical_ = categorical_mask(X, self.categorical_features, names)
        if self.is_categorical_ is None:
            return validate_data(self, X, reset=reset, **NUMBERS)
        validate_data(self, X, reset=reset, skip_check_array=True)
        if not hasattr(X, "iloc"):
            X = check_array(X, dtype=None, ensure_all_finite=False)
        chosen, others = (
            np.flatnonzero(mask) for mask in (self.is_categorical_, ~self.is_categorical_)
        )
        numbers = np.empty((len(X), len(self.is_categorical_)))
        if len(others):
            numbers[:, others] = check_array(columns_of(X, others), input_name="X", **NUMBERS)
        categories = columns_of(X, chosen)
        if reset:
            self._category_encoder = OrdinalEncoder(
                handle_unknown="use_encoded_value",
                unknown_value=np.nan,
                encoded_missing_value=np.nan,
            ).fit(categories)
        numbers[:, chosen] = self._category_encoder.transform(categories)
        return numbers

    @property
    def categories_(self):
        """The categories of each feature, in the order of their codes; None for a number."""
        found = [None] * self.n_features_in_
        if self.is_categorical_ is not None:
            places = np.flatnonzero(self.is_categorical_)
            for place, categories in zip(places, self._category_encoder.categories_, strict=True):
                # A missing value is none of them.
                known = [c is not None and c == c for c in categories]
                found[place] = categories[np.array(known, dtype=bool)]
        return found

    def _n_categories(self):
        """Return the number of categories of each feature, zero for numbers."""
        return np.array(
            [0 if categories is None else len(categories) for categories in self.categories_],
            dtype=np.int32,
        )


def columns_of(X, places):
    """Return some of the columns of a frame or an array, without their names."""
    if hasattr(X, "iloc"):
        return X.iloc[:, places].set_axis(range(len(places)), axis=1)
    return X[:, places]


def categorical_mask(X, chosen, names):
    """Return which features are categorical; None if none is."""
    n_features = X.shape[1] if hasattr(X, "shape") and len(X.shape) == 2 else None
    if isinstance(chosen, str):
        if chosen != "from_dtype":
            raise ValueError(
                f'categorical_features must not be the string {chosen!r}; "from_dtype" is.'
            )
        if not hasattr(X, "dtypes") or n_features is None:
            return None
        mask = np.array([getattr(dtype, "name", "") == "category" for dtype in np.ravel(X.dtypes)])
        return mask if mask.any() else None
    chosen = np.asarray([] if chosen is None else chosen)
    if chosen.size == 0:
        return None
    if n_features is None:
        n_features = np.shape(X)[1]
    mask = np.zeros(n_features, dtype=bool)
    if chosen.dtype.kind == "b":
        if chosen.shape != mask.shape:
            raise ValueError(
                f"categorical_features has {len(chosen)} truth values for {n_features} features."
            )
        return chosen if chosen.any() else None
    if chosen.dtype.kind in "iu":
        if chosen.min() < -n_features or chosen.max() >= n_features:
            raise ValueError(f"categorical_features are places among {n_features} features.")
        mask[chosen] = True
        return mask
    if names is None:
        raise ValueError("categorical_features has names, but the features have none.")
    unknown = sorted(set(chosen.astype(str)) - set(names))
    if unknown:
        raise ValueError(f"categorical_features has unknown names: {', '.join(unknown)}.")
    return np.isin(names, chosen.astype(str))
