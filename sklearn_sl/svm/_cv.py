"""Support vector machines that choose ``C`` and the kernel by cross-validation."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from sklearn_sl._kernel_search import kernel_candidates
from sklearn_sl._scoring import KnownClassifier, KnownRegressor
from sklearn_sl._sklearn import Progress, fit_context
from sklearn_sl.base import EstimatorMixin, class_factors
from sklearn_sl.svm._base import document
from sklearn_sl.svm._classify import CLASSIFIER_PARAMETERS, ClassificationMixin
from sklearn_sl.svm._problem import margin_problem
from sklearn_sl.svm._regress import REGRESSION_PARAMETERS, RegressionMixin
from sklearn_sl.svm._search import (
    SEARCH_PARAMETERS,
    Data,
    choose_by_cross_validation,
)
from sklearn_sl.svm._solver import go_on

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_sl._typing import ArrayLike


@document
class SVCCV(EstimatorMixin, ClassificationMixin, ClassifierMixin, BaseEstimator):
    """:class:`SVC` with ``C`` and the kernel chosen by cross-validation.

    The results are those of :class:`~sklearn.model_selection.GridSearchCV`, for a fraction of the
    work: radial kernels share one matrix of distances, all folds and all ``C`` share the Gram
    matrix of a kernel, and the solver for each ``C`` starts from the solution for the ``C``
    before. The values at the held-out samples come with the solution. The best model is fitted to
    all samples.

    Parameters
    ----------
    {search_Cs}

    {svm_kernel}

    {search_kernel_grid}

    {degree}

    {search_gamma}

    {svm_coef0}

    {kernel_params}

    cv : int, "loo", splitter or iterable, default=None
        The folds: stratified if a number, as in :func:`sklearn.model_selection.check_cv`, and the
        score is the mean of the scores of the folds. None is five stratified folds of shuffled
        samples, whatever their order. "loo" leaves out each sample, of whatever
        weight, exactly and without refits; it has one score of all predictions, and the weights
        of "balanced" classes stay those of all samples.

    scoring : str or callable, default=None
        The score of held-out predictions, which needs no probabilities; None is the accuracy.
        Sample weights are passed on to it, the weights of classes are not.

    class_weight : dict or "balanced", default=None
        Weights of the classes, as in :class:`SVC`; "balanced" is computed again for each fold.

    loss : {"hinge", "squared_hinge"}, default="hinge"
        The loss, as in :class:`SVC`.

    fit_intercept : bool, default=True
        Whether to fit the intercept.

    decision_function_shape : {"ovo", "ovr"}, default="ovr"
        Whether ``decision_function`` returns a score for each class or for each pair of classes.

    break_ties : bool, default=False
        Whether ``predict`` follows the scores of "ovr" where several classes win the same number
        of pairwise votes.

    {svm_tol}

    {search_max_iter}

    {shrinking}

    {search_resources}

    Attributes
    ----------
    {search_results}

    classes_ : ndarray of shape (n_classes,)
        The class labels, without classes whose samples all have weight zero.

    {svm_class_weight}

    support_ : ndarray of shape (n_SV,)
        The support vectors as rows of the training set, class by class.

    {support_vectors}

    {class_support}

    dual_coef_ : {ndarray, sparse matrix} of shape (n_classes - 1, n_SV)
        The coefficients, as in :class:`SVC`.

    intercept_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        The intercepts.

    coef_ : {ndarray, sparse matrix} of shape (n_classes * (n_classes - 1) / 2, n_features)
        The weights of the features; for a linear kernel only.

    dual_objective_, primal_objective_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        The two objectives of the fit to all samples, for each pair of classes.

    duality_gap_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        Their difference: a bound on what is missing to the optimum.

    kkt_violation_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        The violation of the optimality conditions.

    margin_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        ``1 / ||f||``, the distance from the separating hyperplane to ``f = 1``.

    n_iter_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        The steps taken.

    converged_ : bool
        Whether the violation of the fit to all samples is at most ``tol``.

    {svm_status}

    {svm_shape}

    {features_seen}

    See Also
    --------
    SVC : The model for given parameters.
    SVRCV : The regression.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_sl.svm import SVCCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVCCV([0.1, 1.0, 10.0], kernel_grid={"gamma": [0.01, 0.1, 1.0]}).fit(X, y)
    >>> model.best_params_
    {'C': 1.0, 'gamma': 1.0}
    >>> round(model.best_score_, 2), len(model.cv_results_["params"])
    (0.97, 9)
    """

    C_: float
    best_params_: dict[Any, Any]
    best_score_: float
    best_index_: int
    cv_results_: dict[Any, Any]

    _parameter_constraints = {
        **CLASSIFIER_PARAMETERS,
        **SEARCH_PARAMETERS,
    }
    del _parameter_constraints["C"]

    def __init__(
        self,
        Cs: ArrayLike = 10,
        *,
        kernel: str | Any | Callable[..., Any] = "rbf",
        kernel_grid: dict[Any, Any] | list[Any] | None = None,
        degree: float = 3,
        gamma: Literal["scale", "auto", "median"] | float = "scale",
        coef0: float = 0.0,
        kernel_params: dict[Any, Any] | None = None,
        cv: Any = None,
        scoring: str | Callable[..., Any] | None = None,
        class_weight: dict[Any, Any] | str | None = None,
        loss: Literal["hinge", "squared_hinge"] = "hinge",
        fit_intercept: bool = True,
        decision_function_shape: Literal["ovo", "ovr"] = "ovr",
        break_ties: bool = False,
        tol: float = 1e-3,
        max_iter: int = -1,
        shrinking: bool = True,
        cache_size: float = 200,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.Cs = Cs
        self.kernel = kernel
        self.kernel_grid = kernel_grid
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.cv = cv
        self.scoring = scoring
        self.class_weight = class_weight
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.tol = tol
        self.max_iter = max_iter
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.verbose = verbose

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
        self : SVCCV
            The fitted estimator.
        """
        X, y, weight, own_weight = self._classes(X, y, sample_weight)
        codes = np.searchsorted(self.classes_, y)
        samples, seen = self._samples(X, codes, weight, own_weight)
        used = np.flatnonzero(weight)
        used = used[np.argsort(codes[used], kind="stable")]
        score_weight = None if own_weight is None else own_weight[used]
        data = Data(X, y, used, codes[used], weight[used], score_weight)
        with Progress(self, name="fold", total=None) as progress:
            C, kernel = choose_by_cross_validation(
                self, data, kernel_candidates(self, *seen), progress
            )
            solved = self._solve_pairs(samples, kernel, C, go_on)
        self._expand(X, kernel, C, samples, *solved)
        return self

    def _weight_of(self, data, trained):
        if self.class_weight != "balanced":
            return np.where(trained, data.weight, 0.0)
        own = None if data.score_weight is None else data.score_weight[trained]
        weight = np.zeros(len(trained))
        weight[trained] = class_factors("balanced", data.target[trained], own)
        return weight if own is None else weight * data.score_weight

    def _machines(self, data, fold):
        codes = data.target
        present = np.unique(codes[fold.weight > 0])
        if len(present) < 2:
            raise ValueError(
                "A training split of cv has samples of one class only: use stratified folds, "
                "or fewer of them."
            )

        def problem_at(C, first, second):
            sign = 1.0 * (codes == first) - 1.0 * (codes == second)
            return margin_problem(
                sign,
                C * np.where(sign, fold.weight, 0.0),
                squared=self.loss == "squared_hinge",
                intercept=self.fit_intercept,
            )

        pairs = combinations(present, 2)
        return [partial(problem_at, first=first, second=second) for first, second in pairs]

    def _known(self, data, fold, values):
        present = np.unique(data.target[fold.weight > 0])
        if len(present) == 2:  # the machine of two classes is positive for the second
            values = -values
        winners = present[self._winners(values, len(present))]
        scores = self._scores(values, len(present))
        return KnownClassifier(self.classes_[winners], self.classes_[present], decisions=scores)


@document
class SVRCV(EstimatorMixin, RegressionMixin, RegressorMixin, BaseEstimator):
    """:class:`SVR` with ``C`` and the kernel chosen by cross-validation.

    The search is that of :class:`SVCCV`: the results are those of
    :class:`~sklearn.model_selection.GridSearchCV`, for a fraction of the work. The best model is
    fitted to all samples.

    Parameters
    ----------
    {search_Cs}

    {svm_kernel}

    {search_kernel_grid}

    {degree}

    {search_gamma}

    {svm_coef0}

    {kernel_params}

    cv : int, "loo", splitter or iterable, default=None
        The folds, as in :func:`sklearn.model_selection.check_cv`; the score is the mean of the
        scores of the folds. None is five folds of shuffled samples, whatever their order. "loo"
        leaves out each sample, of whatever weight, exactly and without refits, and has one score
        of all predictions.

    scoring : str or callable, default=None
        The score of held-out predictions; None is the coefficient of determination. Sample
        weights are passed on to it.

    epsilon : float, default=0.1
        Half the width of the tube within which there is no loss.

    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The loss, as in :class:`SVR`.

    fit_intercept : bool, default=True
        Whether to fit the intercept.

    {svm_tol}

    {search_max_iter}

    {shrinking}

    {search_resources}

    Attributes
    ----------
    {search_results}

    support_ : ndarray of shape (n_SV,)
        The support vectors as rows of the training set.

    {support_vectors}

    n_support_ : ndarray of shape (1,)
        The number of support vectors.

    dual_coef_ : {ndarray, sparse matrix} of shape (1, n_SV)
        The coefficients of the support vectors.

    intercept_ : ndarray of shape (1,)
        The intercept.

    coef_ : {ndarray, sparse matrix} of shape (1, n_features)
        The weights of the features; for a linear kernel only.

    dual_objective_, primal_objective_ : float
        The two objectives of the fit to all samples. The optimum lies between them.

    duality_gap_ : float
        Their difference: a bound on what is missing to the optimum.

    kkt_violation_ : float
        The violation of the optimality conditions.

    margin_ : float
        ``1 / ||f||``.

    n_iter_ : int
        The steps taken.

    converged_ : bool
        Whether the violation of the fit to all samples is at most ``tol``.

    {svm_status}

    {svm_shape}

    {features_seen}

    See Also
    --------
    SVR : The model for given parameters.
    SVCCV : The classifier.
    sklearn_sl.kernel_ridge.KernelRidgeCV : The same with squared errors, in closed form.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.svm import SVRCV
    >>> X = np.linspace(0, 3, 60)[:, None]
    >>> y = np.sin(2 * X[:, 0])
    >>> model = SVRCV([1.0, 100.0], kernel_grid={"gamma": [0.1, 1.0]}, epsilon=0.01, cv="loo")
    >>> model.fit(X, y).best_params_
    {'C': 100.0, 'gamma': 1.0}
    >>> bool(model.best_score_ > 0.999)
    True
    """

    C_: float
    best_params_: dict[Any, Any]
    best_score_: float
    best_index_: int
    cv_results_: dict[Any, Any]

    _parameter_constraints = {
        **REGRESSION_PARAMETERS,
        **SEARCH_PARAMETERS,
    }
    del _parameter_constraints["C"]

    def __init__(
        self,
        Cs: ArrayLike = 10,
        *,
        kernel: str | Any | Callable[..., Any] = "rbf",
        kernel_grid: dict[Any, Any] | list[Any] | None = None,
        degree: float = 3,
        gamma: Literal["scale", "auto", "median"] | float = "scale",
        coef0: float = 0.0,
        kernel_params: dict[Any, Any] | None = None,
        cv: Any = None,
        scoring: str | Callable[..., Any] | None = None,
        epsilon: float = 0.1,
        loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] = "epsilon_insensitive",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = -1,
        shrinking: bool = True,
        cache_size: float = 200,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.Cs = Cs
        self.kernel = kernel
        self.kernel_grid = kernel_grid
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.cv = cv
        self.scoring = scoring
        self.epsilon = epsilon
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the parameters and fit the model.

        Parameters
        ----------
        {training_samples}

        y : array-like of shape (n_samples,)
            Targets.

        {fit_and_score_weight}

        Returns
        -------
        self : SVRCV
            The fitted estimator.
        """
        X, y, weight, own_weight = self._targets(X, y, sample_weight)
        samples, seen = self._samples(X, y, weight, own_weight)
        used = np.flatnonzero(weight)
        score_weight = None if own_weight is None else own_weight[used]
        data = Data(X, y, used, y[used], weight[used], score_weight)
        with Progress(self, name="fold", total=None) as progress:
            C, kernel = choose_by_cross_validation(
                self, data, kernel_candidates(self, *seen), progress
            )
            solution = self._solve_tube(samples, kernel, C, go_on)
        self._expand(X, kernel, C, samples, solution)
        return self

    def _weight_of(self, data, trained):
        return np.where(trained, data.weight, 0.0)

    def _machines(self, data, fold):
        return [lambda C: self._tube(data.target, C * fold.weight)]

    def _known(self, data, fold, values):
        return KnownRegressor(values[:, 0])
