"""Intervals that cover new targets, from what a fitted regressor knows without refitting."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from sklearn_sl._memory import check_memory
from sklearn_sl._rows import slices
from sklearn_sl.kernel_ridge import KernelRidge, KernelRidgeCV
from sklearn_sl.kernel_ridge._left_out import LeaveOneOut
from sklearn_sl.theory._domain import real

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

# The predictions of all left-out fits are made for so many numbers at a time.
BLOCK = 4_000_000


def prediction_interval(
    estimator: Any,
    X: Any,
    *,
    X_train: Any = None,
    y_train: ArrayLike | None = None,
    coverage: float = 0.9,
) -> np.ndarray:
    """Return intervals for the targets of new samples by the jackknife+, without any refit.

    Let ``f_{-i}`` be the fit without training sample ``i``, and ``R_i = |y_i - f_{-i}(x_i)|``.
    The interval at ``x`` reaches from the ``floor(a (n + 1))``-th smallest of ``f_{-i}(x) - R_i``
    to the ``ceil((1 - a) (n + 1))``-th smallest of ``f_{-i}(x) + R_i``, where ``a = 1 -
    coverage``. If the training samples and the new one are exchangeable, it covers the new target
    with a probability of at least ``1 - 2 a``, whatever their distribution and however wrong the
    model, and in practice of about ``1 - a`` [1]_. The probability is over training set and new
    sample together.

    The left-out fits come in closed form: for kernel ridge regression from one inverse matrix,
    exactly; for bagging and forests from the base estimators that did not draw sample ``i``, which
    is the jackknife+ after bootstrap [2]_.

    Parameters
    ----------
    estimator : KernelRidge, KernelRidgeCV, or bagging or forest regressor
        A fitted regressor, of this package or, for bagging and forests, of scikit-learn; or a
        pipeline that ends with one. All training samples have the same weight. What
        :class:`~sklearn_sl.kernel_ridge.KernelRidgeCV` or a search chose counts as given.

    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The new samples.

    X_train : {array-like, sparse matrix} of shape (n_train, n_features), default=None
        The training samples, for bagging and forests, which do not keep them.

    y_train : array-like of shape (n_train,), default=None
        The training targets, for bagging and forests.

    coverage : float, default=0.9
        The nominal coverage ``1 - a``, between 0 and 1.

    Returns
    -------
    interval : ndarray of shape (n_samples, 2) or (n_samples, 2, n_targets)
        The lower and upper ends. Both are infinite if ``coverage > n_train / (n_train + 1)``.

    See Also
    --------
    certify : What is certain of a fitted model.

    References
    ----------
    .. [1] R. F. Barber, E. J. Candès, A. Ramdas and R. J. Tibshirani, "Predictive inference with
       the jackknife+", Annals of Statistics 49, 2021.
    .. [2] B. Kim, C. Xu and R. F. Barber, "Predictive inference is free with the
       jackknife+-after-bootstrap", NeurIPS 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.inspection import prediction_interval
    >>> from sklearn_sl.kernel_ridge import KernelRidge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 6, (200, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=200)
    >>> model = KernelRidge(alpha=0.1, kernel="rbf", gamma=1.0).fit(X, y)
    >>> prediction_interval(model, [[1.0], [4.0]]).round(1)
    array([[ 0.7,  1. ],
           [-0.9, -0.6]])
    """
    miss = 1 - coverage_of(coverage)
    check_is_fitted(estimator)
    if isinstance(estimator, Pipeline):
        before, estimator = estimator[:-1], estimator[-1]
        X = before.transform(X)
        X_train = X_train if X_train is None else before.transform(X_train)
    if isinstance(estimator, KernelRidge | KernelRidgeCV):
        return by_leave_one_out(estimator, X, miss)
    if is_regressor(estimator) and hasattr(estimator, "estimators_samples_"):
        return by_out_of_bag(estimator, X, X_train, y_train, miss)
    raise ValueError(
        "estimator must be a KernelRidge, a KernelRidgeCV, or a bagging or forest regressor, whose "
        f"left-out fits have a closed form; got {type(estimator).__name__}: its intervals take "
        "refits, as in mapie.regression.CrossConformalRegressor."
    )


def coverage_of(coverage):
    """Return the nominal coverage as a float, or raise."""
    coverage = float(real("coverage", coverage, 0.0, 1.0))
    if coverage in (0.0, 1.0):
        raise ValueError(f"coverage must be between 0 and 1, both excluded; got {coverage}.")
    return coverage


def by_leave_one_out(model, X, miss):
    """Return the intervals of a kernel ridge regression, one target at a time."""
    left_out = LeaveOneOut(model)
    fitted, X = model.predict(X), model._validate_query(X)
    ends = []
    for residuals, predictions in left_out.targets():
        parts = slices(len(fitted), max(1, BLOCK // len(residuals)))
        ends.append(
            np.concatenate(
                [
                    jackknife_plus(predictions(X[part], fitted[part]), np.abs(residuals), miss)
                    for part in parts
                ]
            )
        )
    return ends[0] if fitted.ndim == 1 else np.stack(ends, axis=-1)


def by_out_of_bag(ensemble, X, X_train, y_train, miss):
    """Return the intervals of an ensemble, by the base estimators that did not draw a sample."""
    if X_train is None or y_train is None:
        raise ValueError(
            f"X_train and y_train must be given for {type(ensemble).__name__}: pass the data used "
            "in fit."
        )
    y_train = check_array(column_or_1d(y_train), ensure_2d=False, dtype="numeric")
    check_consistent_length(X_train, y_train)
    answers = answers_of_estimators(ensemble, X_train)
    without = np.ones(answers.shape, dtype=bool)
    for row, drawn in zip(without, ensemble.estimators_samples_, strict=True):
        row[drawn] = False
    n_without = without.sum(axis=0)
    if not np.all(n_without):
        raise ValueError(
            f"{np.sum(n_without == 0)} of {len(y_train)} training samples were drawn by all base "
            "estimators, and have no left-out fit: use more estimators, or bootstrap=True."
        )
    residuals = np.abs(y_train - np.sum(answers * without, axis=0) / n_without)
    shares = (without / n_without).T
    new = answers_of_estimators(ensemble, X)
    return np.concatenate(
        [
            jackknife_plus((shares @ new[:, part]).T, residuals, miss)
            for part in slices(new.shape[1], max(1, BLOCK // len(residuals)))
        ]
    )


def answers_of_estimators(ensemble, X):
    """Return the predictions of each base estimator, of shape ``(n_estimators, n_samples)``."""
    X = check_array(X, accept_sparse="csr", ensure_all_finite="allow-nan")
    members = ensemble.estimators_
    check_memory(
        8 * len(members) * X.shape[0],
        f"The predictions of {len(members)} base estimators",
        "ask for fewer samples at a time.",
    )
    columns = getattr(ensemble, "estimators_features_", None) or [slice(None)] * len(members)
    answers = np.stack([member.predict(X[:, own]) for member, own in zip(members, columns)])
    if answers.ndim > 2:
        raise ValueError(
            f"The estimator must have one target; got {answers.shape[2]}: fit one for each column "
            "of y."
        )
    return answers


def jackknife_plus(predictions, residuals, miss):
    """Return the intervals from left-out predictions, ``(n_new, n)``, and ``n`` residuals."""
    n = len(residuals)
    # Of n + 1 ranks; rounding errors of the product do not make it one rank more.
    rank = math.ceil((1 - miss) * (n + 1) * (1 - 1e-12))
    if rank > n:
        return np.tile([-np.inf, np.inf], (len(predictions), 1))
    upper = np.partition(predictions + residuals, rank - 1, axis=1)[:, rank - 1]
    lower = np.partition(predictions - residuals, n - rank, axis=1)[:, n - rank]
    return np.column_stack([lower, upper])
