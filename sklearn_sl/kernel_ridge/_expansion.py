"""What the kernel ridge estimators share: their data and the fitted expansion."""

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._kernel_machine import KernelMachineMixin, precision
from sklearn_sl._sklearn import check_sample_weight
from sklearn_sl._threads import blas_threads_for
from sklearn_sl.base import class_factors, read_labels
from sklearn_sl.kernels._base import encode, gram_product
from sklearn_sl.kernels._dot import Linear


class KernelExpansionMixin(KernelMachineMixin):
    """A fitted function ``f(x) = sum_i dual_coef_i K(x_i, x) + intercept``."""

    def _expand(self, X, kernel, fit, ravel):
        """Set the fitted attributes of the expansion."""
        if isinstance(kernel, Linear) and fit.coef is None:
            fit.coef = self._linear_coef(X, fit)
        check_finite(fit)
        self.X_fit_ = X
        self.kernel_ = kernel
        self.dual_coef_ = squeezed(fit.dual_coef, ravel)
        self.intercept_ = squeezed(fit.intercept, ravel) if self.fit_intercept else 0.0
        if isinstance(kernel, Linear):
            self.coef_ = squeezed(np.asarray(fit.coef), ravel).T

    def _linear_coef(self, X, fit):
        """Return ``X'c``; where ``c`` sums to zero, a near origin keeps its digits."""
        exact = fit.solver not in ("nystrom", "cg")
        if self.fit_intercept and exact and not sp.issparse(X):
            X = X - X.mean(axis=0)
        return X.T @ fit.dual_coef

    def _evaluate(self, X):
        """Return ``f(x)`` for each row of new data."""
        check_is_fitted(self)
        X = self._validate_query(X)
        with blas_threads_for(X):
            return self._values_at(X)

    def _values_at(self, X):
        """Return ``f(x)`` for each validated row, a block of rows at a time."""
        if self.kernel_ is None:
            values = X @ self.dual_coef_
        elif isinstance(self.kernel_, Linear):
            values = X @ self.coef_.T
        else:
            X, X_fit = encode(self.kernel_, X), encode(self.kernel_, self.X_fit_)
            values = gram_product(self.kernel_, X, X_fit, self.dual_coef_, encoded=True)
        return values + np.asarray(self.intercept_, dtype=values.dtype)


class KernelRegressorMixin(KernelExpansionMixin, MultiOutputMixin, RegressorMixin):
    """An expansion that predicts one or several numbers."""

    def predict(self, X):
        """Predict the targets of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or sequence
            Samples; their kernel values with the training samples if the kernel
            is "precomputed".

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            The predictions.
        """
        return self._evaluate(X)

    def _regression_data(self, X, y, sample_weight):
        """Return validated samples, numeric targets and weights or None."""
        X, y = self._validate_training(X, y, multi_output=True, y_numeric=True)
        y = y.astype(precision(X), copy=False)
        return X, y, check_sample_weight(sample_weight, X, dtype=y.dtype)


class KernelClassifierMixin(KernelExpansionMixin, ClassifierMixin):
    """An expansion that regresses the indicators of the classes."""

    def decision_function(self, X):
        """Return the regression of the class indicators.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or sequence
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            One score per class; for two classes one score, positive for
            ``classes_[1]``.
        """
        return self._evaluate(X)

    def predict(self, X):
        """Predict the classes of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or sequence
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The class of each sample.
        """
        return self._classes_of(self.decision_function(X))

    def _labelled_data(self, X, y, sample_weight):
        """Return samples, labels, weights with those of the classes, and weights without.

        Sets ``classes_``: a class whose samples all have weight zero is not there.
        """
        X, y = self._validate_training(X, read_labels(y))
        check_classification_targets(y)
        weight = own_weight = check_sample_weight(sample_weight, X, dtype=precision(X))
        if self.class_weight is not None:
            factors = class_factors(self.class_weight, y, own_weight)
            weight = factors.astype(precision(X))
            if own_weight is not None:
                weight *= own_weight
        self.classes_ = np.unique(y if weight is None else y[weight > 0])
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes, but the data contains "
                f"only one class: {self.classes_[0]!r}."
            )
        return X, y, weight, own_weight

    def _classes_of(self, scores):
        """Return the class of the largest score, or by the sign of a single one."""
        winner = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[winner]


def check_finite(fit):
    """Raise if the coefficients of a fit overflowed."""
    parts = (fit.dual_coef, fit.intercept, 0 if fit.coef is None else fit.coef)
    if not all(np.isfinite(part).all() for part in parts):
        raise ValueError(
            f"The coefficients overflow {fit.dual_coef.dtype}: increase alpha, or scale X and y."
        )


def squeezed(values, ravel):
    """Return ``values`` without the axis of the targets, if there is one target, a vector."""
    return values[..., 0] if ravel else values


def indicators(y, classes, dtype):
    """Return -1 and 1 for two classes, and a column of zeros and ones per class for more."""
    if len(classes) == 2:
        return np.where(y == classes[1], 1, -1).astype(dtype)
    return (y[:, None] == classes).astype(dtype)
