"""From numeric targets to a fitted expansion ``f(x) = sum_i dual_coef_i K(x_i, x) + intercept``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._docstrings import inserter
from sklearn_sl._kernel_machine import PARAGRAPHS, KernelMachineMixin, check_symmetric_gram
from sklearn_sl._sklearn import Progress
from sklearn_sl._threads import blas_threads_for
from sklearn_sl._warnings import warn
from sklearn_sl.kernel_ridge import _solvers
from sklearn_sl.kernels._base import encode_checked, gram_product
from sklearn_sl.kernels._dot import Linear

if TYPE_CHECKING:
    from sklearn_sl._typing import SparseLike

document = inserter(
    **PARAGRAPHS,
    ridge_kernel="""
    kernel : str, kernel object or callable, default="linear"
        The kernel, as in :class:`KernelRidge`.
    """,
    ridge_gamma="""
    gamma : float or "median", default=None
        The ``gamma`` of the named kernels. None is ``1 / n_features``.
    """,
    ridge_coef0="""
    coef0 : float, default=1
        The constant of "poly" and "sigmoid".
    """,
)


@np.errstate(all="ignore")
def fit_targets(model, X, y, weight):
    """Fit numeric targets, a vector or a matrix, with weights or None."""
    ravel, y = y.ndim == 1, y.reshape(len(y), -1)
    alpha = check_alpha(model.alpha, y.shape[1])
    kernel = model._kernel_object(X, weight)
    if weight is None:
        weight = np.ones(len(y), dtype=y.dtype)
    # Targets of the size of one: nothing over- or underflows, and a power of two is exact.
    scale = power_of_two(np.abs(y).max(axis=0))
    if model.solver in ("nystrom", "cg"):
        X, fit = _solve_landmarks(model, X, y / scale, alpha, weight, kernel)
    else:
        fit = _solve_samples(model, X, y / scale, alpha, weight, kernel)
    fit = fit.scaled(scale)
    expand(model, X, kernel, fit, ravel)
    model.residual_norm_ = squeezed(fit.residual_norm, ravel)
    model.rkhs_norm_ = squeezed(fit.rkhs_norm, ravel)
    model.jitter_ = float(np.max(fit.jitter))
    model.n_iter_ = fit.n_iter
    model.solver_ = fit.solver
    # What the leverages need, whatever becomes of the parameters after the fit.
    model._alpha, model._weight, model._jitter = alpha, weight, fit.jitter
    model._options = {"fit_intercept": model.fit_intercept}
    model._dof, model._leverage = fit.dof, None


def _solve_samples(model, X, y, alpha, weight, kernel):
    """Solve exactly; rows of weight zero are left out and get the coefficient zero."""
    used = np.flatnonzero(weight)
    part = slice(None) if len(used) == len(weight) else used
    X, y_used, weight = X[part], y[part], weight[part]
    options = {"fit_intercept": model.fit_intercept}
    if model.solver == "auto" and isinstance(kernel, Linear) and X.shape[1] < X.shape[0]:
        fit = _solvers.solve_primal(X, y_used, alpha, weight, **options)
    else:
        fill = gram_filler(kernel, X, part)
        fit = _solvers.solve_exact(fill, len(used), y_used, alpha, weight, **options)
    if len(used) < len(y):
        dual_coef = np.zeros_like(y)
        dual_coef[used] = fit.dual_coef
        fit.dual_coef = dual_coef
    return fit


def _solve_landmarks(model, X, y, alpha, weight, kernel):
    """Solve over functions of some samples, the landmarks; return these and the fit."""
    if model._precomputed:
        raise ValueError(
            f'solver="{model.solver}" evaluates the kernel and cannot be combined with '
            'kernel="precomputed": use solver="cholesky".'
        )
    rng = check_random_state(model.random_state)
    rows = _solvers.choose_landmarks(model.n_components, X, weight, rng)
    options = {"fit_intercept": model.fit_intercept}
    landmarks = _solvers.Landmarks(kernel, X[rows], **options)
    problem = (landmarks, encode_checked(kernel, X), y, alpha, weight)
    if model.solver == "nystrom":
        return X[rows], _solvers.solve_nystrom(*problem, **options)
    with Progress(model, name="iteration", total=model.max_iter) as progress:
        options |= {"max_iter": model.max_iter, "tol": model.tol, "progress": progress}
        fit = _solvers.solve_cg(*problem, **options)
    if fit.residual_norm.max() > model.tol:
        warn(
            f"Conjugate gradients stopped after {fit.n_iter} steps at a relative residual of "
            f"{fit.residual_norm.max():.1e}, above tol={model.tol:.1e}: increase max_iter or "
            "alpha.",
            ConvergenceWarning,
        )
    return X[rows], fit


def expand(model, X, kernel, fit, ravel):
    """Set the fitted attributes of the expansion."""
    if isinstance(kernel, Linear) and fit.coef is None:
        fit.coef = linear_coef(model, X, fit)
    check_finite(fit)
    model.X_fit_ = X
    model.kernel_ = kernel
    model.dual_coef_ = squeezed(fit.dual_coef, ravel)
    model.intercept_ = squeezed(fit.intercept, ravel) if model.fit_intercept else 0.0
    if isinstance(kernel, Linear):
        model.coef_ = squeezed(np.asarray(fit.coef), ravel).T


def linear_coef(model, X, fit):
    """Return ``X'c``; where ``c`` sums to zero, a near origin keeps its digits."""
    exact = fit.solver not in ("nystrom", "cg")
    if model.fit_intercept and exact and not sp.issparse(X):
        X = X - X.mean(axis=0)
    return X.T @ fit.dual_coef


def evaluate(model, X):
    """Return ``f(x)`` for each row of new data."""
    check_is_fitted(model)
    X = model._validate_query(X)
    with blas_threads_for(X):
        return values_at(model, X)


def values_at(model, X):
    """Return ``f(x)`` for each validated row, a block of rows at a time."""
    if model.kernel_ is None:
        values = X @ model.dual_coef_
    elif isinstance(model.kernel_, Linear):
        values = X @ model.coef_.T
    else:
        X, X_fit = encode_checked(model.kernel_, X), encode_checked(model.kernel_, model.X_fit_)
        values = gram_product(model.kernel_, X, X_fit, model.dual_coef_, encoded=True)
    return values + np.asarray(model.intercept_, dtype=values.dtype)


class LeverageMixin:
    """The leverages of a fitted model, computed when they are first asked for."""

    dual_coef_: Any
    X_fit_: np.ndarray | SparseLike
    intercept_: float | np.ndarray
    coef_: Any
    residual_norm_: float | np.ndarray
    rkhs_norm_: float | np.ndarray
    jitter_: float
    solver_: str
    n_iter_: int

    @property
    def leverage_(self) -> Any:
        """The leverage of each training sample, ``d prediction_i / d y_i``."""
        return squeezed(self._leverages(), self.dual_coef_.ndim == 1)

    @property
    def dof_(self) -> float | np.ndarray:
        """The effective degrees of freedom, the sum of the leverages."""
        check_is_fitted(self)
        dof = self._leverages().sum(axis=0) if self._dof is None else self._dof
        return squeezed(dof, self.dual_coef_.ndim == 1)

    def _leverages(self):
        check_is_fitted(self)
        if self.solver_ in ("nystrom", "cg"):
            raise AttributeError(
                f'leverage_ is not available with solver="{self.solver_}", which keeps only the '
                'landmarks, and dof_ is not available with solver="cg": use solver="cholesky".'
            )
        if self._leverage is None:
            self._leverage = self._compute_leverages()
        return self._leverage

    def _compute_leverages(self):
        used = np.flatnonzero(self._weight)
        X, weight = self.X_fit_[used], self._weight[used]
        leverages = np.zeros((len(self._weight), len(self._alpha)))
        if self.solver_ == "primal":
            leverages[used] = _solvers.primal_leverages(X, self._alpha, weight, **self._options)
        else:
            fill = gram_filler(self.kernel_, X, used)
            leverages[used] = _solvers.exact_leverages(
                fill, len(used), self._alpha, self._jitter, weight, **self._options
            )
        return leverages


@document
class KernelRegressorMixin(KernelMachineMixin, MultiOutputMixin, RegressorMixin):
    """An expansion that predicts one or several numbers."""

    def predict(self, X: Any) -> Any:
        """Predict the targets of samples.

        Parameters
        ----------
        {new_samples}

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            The predictions.
        """
        return evaluate(self, X)


@document
class KernelClassifierMixin(KernelMachineMixin, ClassifierMixin):
    """An expansion that regresses the indicators of the classes."""

    classes_: np.ndarray

    def decision_function(self, X: Any) -> Any:
        """Return the regression of the class indicators.

        Parameters
        ----------
        {new_samples}

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            One score per class; for two classes one score, positive for
            ``classes_[1]``.
        """
        return evaluate(self, X)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the classes of samples.

        Parameters
        ----------
        {new_samples}

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The class of each sample.
        """
        return self._classes_of(self.decision_function(X))

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


def power_of_two(values):
    """Return the largest power of two up to each value, 1/2 for zero."""
    return np.ldexp(np.ones_like(values), np.frexp(values)[1] - 1)


def gram_filler(kernel, X, columns):
    """Return the function that writes a Gram matrix into a store."""
    if kernel is None:
        K = X[:, columns]
        check_symmetric_gram(K)
        return _solvers.fill_from_matrix(K)
    return _solvers.fill_from_kernel(kernel, encode_checked(kernel, X))


def check_alpha(alpha, n_targets):
    """Return one penalty per target, or raise."""
    alpha = np.asarray(alpha, dtype=np.float64).ravel()
    if len(alpha) not in (1, n_targets):
        raise ValueError(
            f"alpha must be a float or have one value per target; got {len(alpha)} values "
            f"for {n_targets} targets."
        )
    if not (np.isfinite(alpha).all() and (alpha >= 0).all()):
        raise ValueError(f"alpha must be finite and non-negative; got {alpha}.")
    return np.broadcast_to(alpha, (n_targets,)).copy()
