"""Bagging of any estimator."""

from __future__ import annotations

import copy
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._sklearn import HasMethods, Interval, RealNotInt, fit_context
from sklearn_sl._validation import validate_data
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.ensemble._averaged_targets import (
    AveragedClassesMixin,
    AveragedTargetsMixin,
)
from sklearn_sl.ensemble._averaging import AveragingMixin
from sklearn_sl.ensemble._base_estimators import (
    ResampledEstimators,
    ResampledTrees,
    checked_samples,
    features_of,
    is_per_row,
    is_tree,
    rows_of,
)
from sklearn_sl.ensemble._paragraphs import inserted
from sklearn_sl.ensemble._resampling import draw_features
from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_sl._typing import ArrayLike, MatrixLike

# As scikit-learn does: the base estimators themselves look at the values.
ANY_VALUES = {"accept_sparse": ["csr", "csc"], "dtype": None, "ensure_all_finite": False}


class BaggingMixin(AveragingMixin):
    """Base estimators of any kind, on some rows and some features."""

    estimator_: Any
    estimators_features_: list[Any]

    _parameter_constraints = {
        **AveragingMixin._parameter_constraints,
        "estimator": [HasMethods(["fit", "predict"]), None],
        "max_samples": [
            None,
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
        ],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
        ],
        "bootstrap_features": ["boolean"],
    }

    _takes_several_outputs = False

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        estimator = get_tags(self._get_estimator())
        tags.input_tags.sparse = estimator.input_tags.sparse
        tags.input_tags.allow_nan = estimator.input_tags.allow_nan
        tags.input_tags.positive_only = estimator.input_tags.positive_only
        tags.target_tags.positive_only = estimator.target_tags.positive_only
        return tags

    def _get_estimator(self):
        """Return what the base estimators are clones of, as the user gave it or the default."""
        return self._tree_class() if self.estimator is None else self.estimator

    def _route(self, method, params):
        """Return the parameters that the base estimators ask for."""
        if params and not sklearn.get_config()["enable_metadata_routing"]:
            raise ValueError(
                f"Passing extra keyword arguments to {type(self).__name__}.{method} is only "
                "supported if enable_metadata_routing=True, which you can set using "
                "`sklearn.set_config`. See the User Guide "
                "<https://scikit-learn.org/stable/metadata_routing.html> for more details. Extra "
                f"parameters passed are: {set(params)}"
            )
        return process_routing(self, method, **params)

    def get_metadata_routing(self) -> Any:
        """Return which metadata goes to the base estimators, and which to the ensemble itself.

        The ensemble itself takes part if it was asked to, as by ``set_fit_request``.

        Returns
        -------
        routing : MetadataRouter
            The routing.
        """
        router = MetadataRouter(owner=self)
        own = super().get_metadata_routing()
        asked = [*own.fit.requests.values(), *own.score.requests.values()]
        if any(request is not None for request in asked):
            router.add_self_request(own)
        estimator = self._get_estimator()
        proba = "predict_proba" if hasattr(estimator, "predict_proba") else "predict"
        log_proba = "predict_log_proba" if hasattr(estimator, "predict_log_proba") else proba
        mapping = (
            MethodMapping()
            .add(caller="fit", callee="fit")
            .add(caller="decision_function", callee="decision_function")
            .add(caller="predict", callee=proba)
            .add(caller="predict_proba", callee=proba)
            .add(caller="predict_log_proba", callee=log_proba)
        )
        return router.add(estimator=estimator, method_mapping=mapping)

    def _gather(self, X, y, weight, used, fit_params):
        self.estimator_ = clone(self._get_estimator())
        how = {"n_jobs": self.n_jobs, "verbose": self.verbose}
        if is_tree(self.estimator_):
            validate_data(self, X, reset=True, skip_check_array=True)
            group = ResampledTrees(self.estimator_, X, y, **how)
            self.n_features_in_ = group.X.shape[1]
        else:
            X = validate_data(self, X, reset=True, **ANY_VALUES)
            if used is not None:
                fit_params = {
                    name: rows_of(value, used) if is_per_row(value, self._n_given) else value
                    for name, value in fit_params.items()
                }
            group = ResampledEstimators(self.estimator_, X, y, **how, fit_params=fit_params)
        self._reader = nameless(group.reader)
        self._n_drawn_features = self._count_features()
        return group

    def _count_features(self):
        """Return the number of features of a base estimator."""
        if not isinstance(self.max_features, Integral):
            return max(1, int(self.max_features * self.n_features_in_))
        if self.max_features > self.n_features_in_:
            raise ValueError(
                f"max_features must be <= n_features, got {self.max_features} > "
                f"{self.n_features_in_}."
            )
        return self.max_features

    def _draw_columns(self, seeds):
        n_features, n_drawn = self.n_features_in_, self._n_drawn_features
        return [
            draw_features(seed, n_features, n_drawn, replace=self.bootstrap_features)
            for seed in seeds
        ]

    def _keep_columns(self, old, columns):
        self.estimators_features_ = old.get("estimators_features_", []) + columns

    def _estimator_columns(self):
        return self.estimators_features_

    def _sample_reader(self):
        return self._reader

    def _read_query(self, X):
        if self._reader is None:
            return validate_data(self, X, reset=False, **ANY_VALUES)
        return checked_samples(self, self._reader, X)


def nameless(reader):
    """Return a reader of samples, if there is one, that leaves the names of features to us."""
    if reader is not None:
        reader = copy.copy(reader)
        vars(reader).pop("feature_names_in_", None)
    return reader


def _estimators_decide(ensemble):
    """Return whether the base estimators have a decision function, or raise."""
    estimators = getattr(ensemble, "estimators_", None) or [ensemble._get_estimator()]
    estimators[0].decision_function  # noqa: B018  (raises with the name of the base estimator)
    return True


@inserted
class BaggingClassifier(
    EstimatorMixin, AveragedClassesMixin, BaggingMixin, ClassifierMixin, BaseEstimator
):
    """Bagging of classifiers: the mean of base estimators that are fitted to resampled rows.

    Each of ``T`` base estimators ``h_t`` is fitted to rows that are drawn from the training set, by
    default as many as there are, with replacement [1]_; or to other shares of the rows [2]_ and of
    the features [3]_ [4]_. The ensemble is ``H(x) = sum_t h_t(x) / T``: the mean of the
    probabilities of the classes, or with ``voting="vote"`` the shares of the votes, which varies
    less than a base estimator does.

    {independent_draws}

    The parameters, methods and attributes are those of :class:`sklearn.ensemble.BaggingClassifier`,
    and more. What differs:

    {bagging_differences}

    Parameters
    ----------
    estimator : object, default=None
        The base estimator; None is a
        :class:`~sklearn_sl.tree.DecisionTreeClassifier`. An estimator without ``sample_weight`` is
        fitted to the rows themselves.

    {bagging_draws}

    oob_score : bool, callable or str, default=False
        Whether to judge the ensemble by the rows that its base estimators did not draw. A callable
        is a metric of ``(y_true, y_pred)``, a string the name of a scorer of scikit-learn, such as
        "roc_auc" or "neg_log_loss"; True is the accuracy. Rows that are out of bag for no base
        estimator are left out, with a warning.

    {bagging_jobs}

    {verbose}

    voting : {"average", "vote"}, default="average"
        What ``predict_proba`` is the mean of: the probabilities that the base estimators give, or
        ones for the classes that they predict. A base estimator without probabilities always votes.

    Attributes
    ----------
    {estimator}

    estimators_ : list of estimators
        The fitted base estimators, whose classes are indices into ``classes_``.

    {drawn_by_base_estimators}

    {classes_attribute}

    n_classes_ : int
        The number of classes.

    {oob_score}

    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        The means of the answers of the base estimators for which a row is out of bag, for a row of
        integer weight over its copies; NaN for a row that all base estimators drew, and for a row
        of weight zero; only with ``oob_score``.

    oob_curve_ : :class:`~sklearn.utils.Bunch`
        What the first ``n_estimators`` base estimators would have given, for each number of them:
        arrays ``n_estimators``, ``loss`` (the misclassification rate), its ``standard_error``, and
        ``coverage``, the share of the training set that is out of bag for one of them at least;
        only with ``oob_score``.

    {features_in}

    See Also
    --------
    RandomForestClassifier : Trees that differ more from each other.
    BaggingRegressor : For numbers as targets.
    sklearn_sl.inspection.OutOfBagDisplay : Plots ``oob_curve_``.

    References
    ----------
    {bagging_references}

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_sl.ensemble import BaggingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BaggingClassifier(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    >>> round(model.oob_score_, 2)
    0.95
    >>> again = BaggingClassifier(n_estimators=50, random_state=0).fit(X[::-1], y[::-1])
    >>> np.array_equal(again.predict_proba(X), model.predict_proba(X))
    True
    """

    n_classes_: int
    oob_decision_function_: np.ndarray

    _tree_class = DecisionTreeClassifier
    _parameter_constraints = {
        **BaggingMixin._parameter_constraints,
        **AveragedClassesMixin._parameter_constraints,
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = None,
        max_features: int | float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool | Callable[..., Any] | str = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        voting: Literal["average", "vote"] = "average",
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.voting = voting

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        oob_groups: str | None = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the base estimators.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Training samples; sparse ones if the base estimators take them.

        y : array-like of shape (n_samples,)
            Targets; a regressor may have several, of shape (n_samples, n_outputs).

        {drawing_weight}

        {oob_groups}

        {fit_params}

        Returns
        -------
        {fitted}
        """
        routed = self._route("fit", fit_params)
        return self._fit_resampled(X, y, sample_weight, oob_groups, routed.estimator.fit)

    def predict(self, X: MatrixLike, **params: Any) -> np.ndarray:
        """Predict the classes of samples.

        Parameters
        ----------
        {any_X}

        {routed_params}

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The classes of the largest shares, the first among equals.
        """
        return self._labels(self._shares(X, "predict", params))

    def predict_proba(self, X: MatrixLike, **params: Any) -> np.ndarray:
        """Return the shares of the classes, averaged over the base estimators.

        Parameters
        ----------
        {any_X}

        {routed_params}

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            The means of the probabilities that the base estimators give, or with ``voting="vote"``,
            and if they give none, the shares of the base estimators that predict each class.
        """
        return self._shares(X, "predict_proba", params)

    def _shares(self, X, method, params):
        check_is_fitted(self)
        routed = self._route(method, params).estimator
        return self._mean_answers(
            self._read_query(X),
            predict=routed.get("predict"),
            predict_proba=routed.get("predict_proba"),
        )

    def predict_log_proba(self, X: MatrixLike, **params: Any) -> np.ndarray:
        """Return the logarithms of the shares of the classes.

        Parameters
        ----------
        {any_X}

        {routed_params}

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
            The logarithms, minus infinity for a share of zero.
        """
        check_is_fitted(self)
        routed = self._route("predict_log_proba", params).estimator
        packed = self._packed is not None or self.voting == "vote"
        if packed or not hasattr(self.estimators_[0], "predict_log_proba"):
            shares = self._mean_answers(
                self._read_query(X),
                predict=routed.get("predict"),
                predict_proba=routed.get("predict_proba"),
            )
            with np.errstate(divide="ignore"):
                return np.log(shares)
        X, known = self._read_query(X), routed.get("predict_log_proba") or {}

        def log_shares(estimator, columns):
            part = estimator.predict_log_proba(features_of(X, columns), **known)
            logs = np.full((len(part), self.n_classes_), -np.inf)
            logs[:, estimator.classes_.astype(np.intp)] = part
            return logs

        total = -np.inf
        for logs in self._ask(log_shares):
            total = np.logaddexp(total, logs)
        return total - np.log(len(self.estimators_))

    @available_if(_estimators_decide)
    def decision_function(self, X: MatrixLike, **params: Any) -> Any:
        """Return the mean of the base estimators' decision functions.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        **params : dict
            What the base estimators ask for, if ``enable_metadata_routing=True``.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            The mean scores, of the second of two classes or of each class.
        """
        check_is_fitted(self)
        routed = self._route("decision_function", params).estimator.get("decision_function") or {}
        X = self._read_query(X)

        def scores(estimator, columns):
            if 0 < len(getattr(estimator, "classes_", ())) < self.n_classes_:
                raise ValueError(
                    "decision_function needs base estimators that were all fitted to samples of "
                    "every class, and some were not: use predict_proba."
                )
            return estimator.decision_function(features_of(X, columns), **routed)

        return sum(self._ask(scores)) / len(self.estimators_)

    def _set_out_of_bag_answers(self, answers):
        self.oob_decision_function_ = answers


@inserted
class BaggingRegressor(
    EstimatorMixin, AveragedTargetsMixin, BaggingMixin, RegressorMixin, BaseEstimator
):
    """Bagging of regressors: the mean of base estimators that are fitted to resampled rows.

    Each of ``T`` base estimators ``h_t`` is fitted to rows that are drawn from the training set, by
    default as many as there are, with replacement [1]_; or to other shares of the rows [2]_ and of
    the features [3]_ [4]_. The ensemble is ``H(x) = sum_t h_t(x) / T``: the mean of the predictions
    which varies less than a base estimator does.

    {independent_draws}

    The parameters, methods and attributes are those of :class:`sklearn.ensemble.BaggingRegressor`,
    and more. What differs:

    {bagging_differences}

    Parameters
    ----------
    estimator : object, default=None
        The base estimator; None is a
        :class:`~sklearn_sl.tree.DecisionTreeRegressor`. An estimator without ``sample_weight`` is
        fitted to the rows themselves.

    {bagging_draws}

    oob_score : bool, callable or str, default=False
        Whether to judge the ensemble by the rows that its base estimators did not draw. A callable
        is a metric of ``(y_true, y_pred)``, a string the name of a scorer of scikit-learn, such as
        "neg_mean_absolute_error"; True is the coefficient of determination. Rows that are out of
        bag for no base estimator are left out, with a warning.

    {bagging_jobs}

    {verbose}

    Attributes
    ----------
    {estimator}

    estimators_ : list of estimators
        The fitted base estimators.

    {drawn_by_base_estimators}

    {oob_score}

    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        The means of the predictions of the base estimators for which a row is out of bag, for a row
        of integer weight over its copies; NaN for a row that all base estimators drew, and for a
        row of weight zero; only with ``oob_score``.

    oob_curve_ : :class:`~sklearn.utils.Bunch`
        What the first ``n_estimators`` base estimators would have given, for each number of them:
        arrays ``n_estimators``, ``loss`` (the mean squared error), its ``standard_error``, and
        ``coverage``, the share of the training set that is out of bag for one of them at least;
        only with ``oob_score``.

    {features_in}

    See Also
    --------
    RandomForestRegressor : Trees that differ more from each other.
    BaggingClassifier : For classes as targets.
    sklearn_sl.inspection.OutOfBagDisplay : Plots ``oob_curve_``.

    References
    ----------
    {bagging_references}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_sl.ensemble import BaggingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BaggingRegressor(n_estimators=100, oob_score=True, random_state=0).fit(X, y)
    >>> round(model.oob_score_, 2)
    0.43
    >>> ridge = BaggingRegressor(Ridge(alpha=0.1), max_features=5, random_state=0).fit(X, y)
    >>> [features.tolist() for features in ridge.estimators_features_[:2]]
    [[1, 2, 4, 5, 8], [0, 1, 2, 4, 8]]
    """

    oob_prediction_: Any

    _tree_class = DecisionTreeRegressor
    _parameter_constraints = BaggingMixin._parameter_constraints

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = None,
        max_features: int | float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool | Callable[..., Any] | str = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        oob_groups: str | None = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the base estimators.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Training samples; sparse ones if the base estimators take them.

        y : array-like of shape (n_samples,)
            Targets; a regressor may have several, of shape (n_samples, n_outputs).

        {drawing_weight}

        {oob_groups}

        {fit_params}

        Returns
        -------
        {fitted}
        """
        routed = self._route("fit", fit_params)
        return self._fit_resampled(X, y, sample_weight, oob_groups, routed.estimator.fit)

    def predict(self, X: MatrixLike, **params: Any) -> Any:
        """Predict the targets of samples.

        Parameters
        ----------
        {any_X}

        {routed_params}

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The means of what the base estimators predict.
        """
        check_is_fitted(self)
        routed = self._route("predict", params).estimator
        answers = self._mean_answers(self._read_query(X), predict=routed.get("predict"))
        return self._labels(answers)

    def _set_out_of_bag_answers(self, answers):
        self.oob_prediction_ = self._labels(answers)
