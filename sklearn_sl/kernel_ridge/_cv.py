"""Kernel ridge with the penalty and the kernel chosen in closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from sklearn.base import BaseEstimator
from sklearn.metrics import check_scoring

from sklearn_sl._kernel_machine import labelled_data, numeric_data, precision
from sklearn_sl._scoring import KnownClassifier, KnownRegressor, score_of
from sklearn_sl._sklearn import StrOptions, fit_context
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.kernel_ridge._fit import (
    KernelClassifierMixin,
    KernelRegressorMixin,
    document,
    indicators,
    squeezed,
)
from sklearn_sl.kernel_ridge._selection import (
    SEARCH_PARAMETERS,
    choose_in_closed_form,
    squared_error_score,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from sklearn_sl._typing import ArrayLike, SparseLike


@document
class KernelRidgeCV(EstimatorMixin, KernelRegressorMixin, BaseEstimator):
    """Kernel ridge regression with the penalty and the kernel chosen in closed form.

    One eigendecomposition per kernel gives the exact leave-one-out, or K-fold,
    predictions of :class:`KernelRidge` for every penalty: with ``P = alpha inv(K +
    alpha I)`` the residual left out at sample ``i`` is ``(P y)_i / P_ii``, and on
    a fold ``R`` it is ``inv(P_RR) (P y)_R``. The model with the best score is the
    result, without another fit. See the :ref:`user guide <kernel_ridge_cv>`.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,), default=(0.01, 0.1, 1.0, 10.0, 100.0)
        The penalties to choose from, all positive.

    {ridge_kernel}

    kernel_grid : dict or list of dict, default=None
        Kernel parameters to choose from, as for
        :class:`~sklearn.model_selection.ParameterGrid`: for a named kernel lists
        of ``gamma``, ``degree``, ``coef0`` and even ``kernel``, for a kernel
        object its own parameters.

    {ridge_gamma}

    {degree}

    {ridge_coef0}

    {kernel_params}

    fit_intercept : bool, default=False
        Whether to fit an intercept, which is not penalised. It is fitted
        again without the samples left out.

    cv : int, "gcv", splitter or iterable, default=None
        What is left out. None: each sample once, rows of any weight as a whole,
        and one score of all their predictions. "gcv": generalised
        cross-validation, minus ``mean(r**2) / (1 - dof / n)**2``. Else folds, as
        in :func:`sklearn.model_selection.check_cv`, and the mean of their scores,
        as in :class:`~sklearn.model_selection.GridSearchCV`.

    scoring : str or callable, default=None
        The score of left-out predictions; None is minus the mean squared error.
        Sample weights are passed on to it.

    alpha_per_target : bool, default=False
        Whether every target chooses its own penalty. The kernel is the one with
        the best mean score.

    Attributes
    ----------
    alpha_ : float or ndarray of shape (n_targets,)
        The chosen penalty.

    kernel_ : kernel object or None
        The chosen kernel; None if precomputed.

    best_kernel_params_ : dict
        The chosen point of ``kernel_grid``.

    best_score_ : float or ndarray of shape (n_targets,)
        The score of the choice.

    score_path_ : ndarray of shape (n_kernels, n_alphas) or \
            (n_kernels, n_alphas, n_targets)
        All scores, the kernels in the order of ``ParameterGrid(kernel_grid)``.

    loo_predictions_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        The prediction for each training sample by the chosen model fitted without
        it, whatever ``cv`` is.

    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        The dual coefficients.

    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
        The training data, or the training kernel matrix.

    intercept_ : float or ndarray of shape (n_targets,)
        The intercept, 0.0 without.

    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The weights of the features; for a linear kernel only.

    dof_ : float or ndarray of shape (n_targets,)
        The effective degrees of freedom of the chosen model.

    {features_seen}

    See Also
    --------
    KernelRidge : The model for given parameters.
    sklearn.linear_model.RidgeCV : Leave-one-out for the linear kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.kernel_ridge import KernelRidgeCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 3, (80, 1))
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(80)
    >>> model = KernelRidgeCV(
    ...     alphas=np.logspace(-4, 1, 6), kernel="rbf", kernel_grid={"gamma": [0.1, 1, 10]}
    ... ).fit(X, y)
    >>> model.alpha_, model.best_kernel_params_
    (0.01, {'gamma': 1})
    >>> model.score_path_.shape
    (3, 6)
    >>> bool(np.isclose(-model.best_score_, np.mean((y - model.loo_predictions_) ** 2)))
    True
    """

    alpha_: float | np.ndarray
    best_kernel_params_: dict[Any, Any]
    best_score_: float | np.ndarray
    score_path_: Any
    loo_predictions_: Any
    dual_coef_: Any
    X_fit_: np.ndarray | SparseLike
    intercept_: float | np.ndarray
    coef_: Any
    dof_: float | np.ndarray

    _parameter_constraints = {
        **SEARCH_PARAMETERS,
        "alpha_per_target": ["boolean"],
    }

    def __init__(
        self,
        alphas: ArrayLike = (0.01, 0.1, 1.0, 10.0, 100.0),
        *,
        kernel: str | Any | Callable[..., Any] = "linear",
        kernel_grid: dict[Any, Any] | list[Any] | None = None,
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[Any, Any] | None = None,
        fit_intercept: bool = False,
        cv: Any = None,
        scoring: str | Callable[..., Any] | None = None,
        alpha_per_target: bool = False,
    ) -> None:
        self.alphas = alphas
        self.kernel = kernel
        self.kernel_grid = kernel_grid
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.scoring = scoring
        self.alpha_per_target = alpha_per_target

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the parameters and fit the model.

        Parameters
        ----------
        {training_samples}

        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.

        {fit_and_score_weight}

        Returns
        -------
        self : KernelRidgeCV
            The fitted estimator.
        """
        X, y, weight = numeric_data(self, X, y, sample_weight, multi_output=True)

        def make_score(part):
            return self._regression_score(y[part], None if weight is None else weight[part])

        choose_in_closed_form(self, X, y, weight, make_score, y)
        return self

    def _regression_score(self, y, weight):
        """Return the score of predictions, reduced over targets unless they choose alone."""
        if self.scoring is None:
            per_target = squared_error_score(y.reshape(len(y), -1), weight)
            return per_target if self.alpha_per_target else lambda *a: per_target(*a).mean()
        if isinstance(self.cv, str):
            raise ValueError(f'cv="gcv" requires scoring=None; got scoring={self.scoring!r}.')
        scorer = check_scoring(self, scoring=self.scoring)

        def score(predictions, rows):
            weights = None if weight is None else weight[rows]
            if self.alpha_per_target:
                columns = zip(predictions.T, y.reshape(len(y), -1)[rows].T)
                return [score_of(scorer, KnownRegressor(p), t, weights) for p, t in columns]
            known = KnownRegressor(predictions.reshape(y[rows].shape))
            return score_of(scorer, known, y[rows], weights)

        return score


@document
class KernelRidgeClassifierCV(EstimatorMixin, KernelClassifierMixin, BaseEstimator):
    """:class:`KernelRidgeClassifier` with the penalty and the kernel chosen in closed form.

    The search is that of :class:`KernelRidgeCV`; the score is the accuracy of
    left-out predictions, or any scorer that needs no probabilities.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,), default=(0.01, 0.1, 1.0, 10.0, 100.0)
        The penalties to choose from, all positive.

    {ridge_kernel}

    kernel_grid : dict or list of dict, default=None
        Kernel parameters to choose from, as in :class:`KernelRidgeCV`.

    {ridge_gamma}

    {degree}

    {ridge_coef0}

    {kernel_params}

    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.

    class_weight : dict or "balanced", default=None
        Weights of the classes, as in :class:`KernelRidgeClassifier`. They weigh
        in the fit, not in the score.

    cv : int, splitter or iterable, default=None
        What is left out: each sample once, or stratified folds for a number, as
        in :class:`KernelRidgeCV`.

    scoring : str or callable, default=None
        The score of left-out predictions; None is the accuracy.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.

    alpha_ : float
        The chosen penalty.

    kernel_ : kernel object or None
        The chosen kernel; None if precomputed.

    best_kernel_params_ : dict
        The chosen point of ``kernel_grid``.

    best_score_ : float
        The score of the choice.

    score_path_ : ndarray of shape (n_kernels, n_alphas)
        All scores, the kernels in the order of ``ParameterGrid(kernel_grid)``.

    loo_predictions_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        The decision function at each training sample of the chosen model fitted
        without it.

    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        The dual coefficients.

    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
        The training data, or the training kernel matrix.

    intercept_ : float or ndarray of shape (n_classes,)
        The intercept, 0.0 without.

    coef_ : ndarray of shape (n_features,) or (n_classes, n_features)
        The weights of the features; for a linear kernel only.

    dof_ : float
        The effective degrees of freedom of the chosen model.

    {features_seen}

    See Also
    --------
    KernelRidgeClassifier : The model for given parameters.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_sl.kernel_ridge import KernelRidgeClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelRidgeClassifierCV(kernel="rbf", kernel_grid={"gamma": [0.1, 1.0]})
    >>> round(model.fit(X, y).best_score_, 2)
    0.97
    """

    alpha_: float
    best_kernel_params_: dict[Any, Any]
    best_score_: float
    score_path_: np.ndarray
    loo_predictions_: Any
    dual_coef_: Any
    X_fit_: np.ndarray | SparseLike
    intercept_: float | np.ndarray
    coef_: Any
    dof_: float

    _parameter_constraints = {
        **SEARCH_PARAMETERS,
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "cv": ["cv_object"],
    }

    def __init__(
        self,
        alphas: ArrayLike = (0.01, 0.1, 1.0, 10.0, 100.0),
        *,
        kernel: str | Any | Callable[..., Any] = "linear",
        kernel_grid: dict[Any, Any] | list[Any] | None = None,
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[Any, Any] | None = None,
        fit_intercept: bool = True,
        class_weight: dict[Any, Any] | str | None = None,
        cv: Any = None,
        scoring: str | Callable[..., Any] | None = None,
    ) -> None:
        self.alphas = alphas
        self.kernel = kernel
        self.kernel_grid = kernel_grid
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.cv = cv
        self.scoring = scoring

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the parameters and fit the model.

        Parameters
        ----------
        {training_samples}

        {class_labels}

        {fit_and_score_weight}

        Returns
        -------
        self : KernelRidgeClassifierCV
            The fitted estimator.
        """
        X, y, weight, own_weight = labelled_data(self, X, y, sample_weight)
        targets = indicators(y, self.classes_, precision(X))

        def make_score(part):
            return self._classification_score(
                y[part], None if own_weight is None else own_weight[part]
            )

        choose_in_closed_form(self, X, targets, weight, make_score, y)
        return self

    def _classification_score(self, y, weight):
        """Return the score of left-out decision values."""
        scorer = check_scoring(self, scoring=self.scoring or "accuracy")

        def score(decisions, rows):
            decisions = squeezed(decisions, decisions.shape[1] == 1)
            known = KnownClassifier(self._classes_of(decisions), self.classes_, decisions=decisions)
            return score_of(scorer, known, y[rows], None if weight is None else weight[rows])

        return score
