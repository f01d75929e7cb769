"""Random forests."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn import ensemble as peer
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._rows import as_columns
from sklearn_sl._sklearn import Interval, RealNotInt, StrOptions, fit_context
from sklearn_sl._threads import in_order
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.ensemble._averaged_targets import (
    AveragedClassesMixin,
    AveragedTargetsMixin,
)
from sklearn_sl.ensemble._averaging import AveragingMixin
from sklearn_sl.ensemble._base_estimators import ResampledTrees
from sklearn_sl.ensemble._paragraphs import inserted
from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn_sl.tree._regress import valid_criterion
from sklearn_sl.tree._training_set import categories_of, class_weight_factors, read_samples
from sklearn_sl.tree._tree import normalized

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_sl._typing import ArrayLike, MatrixLike, SparseLike

TREE_PARAMS = (
    "criterion",
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_features",
    "max_leaf_nodes",
    "min_impurity_decrease",
    "ccp_alpha",
    "monotonic_cst",
    "categorical_features",
)


@inserted
class ForestMixin(AveragingMixin):
    """Trees that look at some of the features in each node."""

    estimator_: Any
    n_outputs_: int
    is_categorical_: np.ndarray

    _parameter_constraints = {
        **AveragingMixin._parameter_constraints,
        "max_samples": [
            None,
            Interval(RealNotInt, 0.0, None, closed="neither"),
            Interval(Integral, 1, None, closed="left"),
        ],
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags

    _takes_several_outputs = True
    _what_is_fitted = "trees"

    @property
    def estimator(self) -> Any:
        """A tree with default parameters, of the kind that the forest is made of."""
        return self._tree_class()

    def _gather(self, X, y, weight, used, fit_params):
        self.estimator_ = self._tree_class(**{name: getattr(self, name) for name in TREE_PARAMS})
        self.n_outputs_ = 1 if y.ndim == 1 else y.shape[1]
        return ResampledTrees(
            self.estimator_,
            X,
            y,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            factors=self._factors(y, weight),
            reader=self,
            random_order=True,
        )

    def _factors(self, y, weight):
        """Return the weights of the classes of rows, or a function that does; None is ones."""
        return None

    def _sample_reader(self):
        return self

    def _read_query(self, X):
        return read_samples(self, X, reset=False)

    # ------------------------------------------------------------ what the trees tell

    @property
    def categories_(self) -> list[Any] | None:
        """The categories of each feature, in the order of their codes; None for a number."""
        return categories_of(self)

    @property
    def feature_importances_(self) -> np.ndarray:
        """By how much the splits of each feature reduce the impurity, as shares of one."""
        check_is_fitted(self)
        grown = [estimator for estimator in self.estimators_ if estimator.tree_.node_count > 1]
        if not grown:
            return np.zeros(self.n_features_in_)
        return normalized(np.mean([estimator.feature_importances_ for estimator in grown], axis=0))

    def apply(self, X: MatrixLike) -> np.ndarray:
        """Return the leaves that each sample ends in.

        Parameters
        ----------
        {X}

        Returns
        -------
        leaves : ndarray of shape (n_samples, n_estimators)
            The leaves as nodes of the trees.
        """
        check_is_fitted(self)
        X = self._read_query(X)
        return np.array(list(self._in_trees(lambda tree: tree.apply(X)))).T

    def decision_path(self, X: MatrixLike) -> tuple[SparseLike, np.ndarray]:
        """Return the nodes that each sample passes.

        Parameters
        ----------
        {X}

        Returns
        -------
        indicator : sparse matrix of shape (n_samples, n_nodes)
            Ones, in CSR format, where a sample passes a node of a tree.

        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            The nodes of tree ``t`` are the columns from ``n_nodes_ptr[t]`` to
            ``n_nodes_ptr[t + 1]``.
        """
        check_is_fitted(self)
        X = self._read_query(X)
        paths = list(self._in_trees(lambda tree: tree.decision_path(X)))
        ends = np.cumsum([0] + [path.shape[1] for path in paths])
        return sp.hstack(paths, format="csr"), ends

    def to_sklearn(self) -> Any:
        """Return a forest of scikit-learn that predicts the same.

        What needs trees of scikit-learn, such as SHAP values, can be had of it. See
        :meth:`sklearn_sl.tree.DecisionTreeClassifier.to_sklearn` for what its trees lack.

        Returns
        -------
        forest : :class:`sklearn.ensemble.RandomForestClassifier` or \
                :class:`sklearn.ensemble.RandomForestRegressor`
            A fitted forest.
        """
        check_is_fitted(self)
        model = self._sklearn_class()
        known, params = model.get_params(deep=False), self.get_params(deep=False)
        model.set_params(**{name: params[name] for name in known if name in params})
        learned = ("n_features_in_", "feature_names_in_", "n_outputs_", "classes_", "n_classes_")
        vars(model).update({name: getattr(self, name) for name in learned if hasattr(self, name)})
        model.estimators_ = [tree.to_sklearn() for tree in self.estimators_]
        model.estimator_ = type(model.estimators_[0])()
        return model

    def _in_trees(self, work):
        """Yield ``work(tree)`` of all trees."""
        n_threads = min(effective_n_jobs(self.n_jobs), len(self.estimators_))
        return in_order(lambda estimator, over: work(estimator.tree_), self.estimators_, n_threads)


@inserted
class RandomForestClassifier(
    EstimatorMixin,
    AveragedClassesMixin,
    ForestMixin,
    MultiOutputMixin,
    ClassifierMixin,
    BaseEstimator,
):
    """Random forest: the mean of classification trees on random rows and features.

    {forest_idea}

    {independent_draws}

    The parameters, methods and attributes are those of
    :class:`sklearn.ensemble.RandomForestClassifier`, and more. What differs:

    - The trees are those of this package: values are compared in float64, features may be
      categories.
    - Rows are drawn by ``sample_weight``. With ``bootstrap=False`` the trees get the
      weights, which scikit-learn ignores.
    - Weights of classes do not change what is drawn, but how much it counts in a tree.
    - ``bootstrap=False`` goes together with ``max_samples``: rows are drawn without replacement.
    - ``oob_score`` may be the name of a scorer, leaves out the rows that no tree can judge, and can
      keep groups of rows together (``oob_groups`` of :meth:`fit`).

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees.

    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        The impurity of a node: the Gini index, or the entropy in bits, which has two names.

    {max_depth}

    {least_samples}

    max_features : int, float or {"sqrt", "log2"}, default="sqrt"
        How many features a node looks at, drawn at random; a float is a share, None all of them.
        More are drawn until one of them is not constant in the node.

    max_leaf_nodes : int, default=None
        Grow trees best-first, up to so many leaves.

    {min_impurity_decrease}

    {bootstrap_of_trees}

    oob_score : bool, callable or str, default=False
        Whether to judge the ensemble by the rows that its trees did not draw. A callable
        is a metric of ``(y_true, y_pred)``, a string the name of a scorer of scikit-learn, such as
        "roc_auc" or "neg_log_loss"; True is the accuracy. Rows that are out of bag for no tree are
        left out, with a warning.

    {forest_jobs}

    {verbose}

    {forest_warm_start}

    class_weight : dict, list of dict, "balanced" or "balanced_subsample", default=None
        Weights of the classes; "balanced" gives all classes the same total in the training set,
        "balanced_subsample" in what each tree has drawn. For several outputs a list, one entry for
        each.

    {price_and_draws_of_trees}

    {monotonic_cst}

    voting : {"average", "vote"}, default="average"
        What ``predict_proba`` is the mean of: the probabilities that the trees give, or ones for
        the classes that they predict.

    {categorical_features}

    Attributes
    ----------
    estimator_ : estimator
        The unfitted tree that the forest is made of clones of.

    estimators_ : list of :class:`~sklearn_sl.tree.DecisionTreeClassifier`
        The fitted trees, whose classes are indices into ``classes_``.

    {drawn_by_trees}

    classes_ : ndarray of shape (n_classes,) or list of n_outputs such arrays
        The classes.

    n_classes_ : int or list of int
        The number of classes.

    {n_outputs}

    {impurity_importances}

    {oob_score}

    oob_decision_function_ : ndarray of shape (n_samples, n_classes) or \
            (n_samples, n_classes, n_outputs)
        The means of the answers of the trees for which a row is out of bag, for a row of
        integer weight over its copies; NaN for a row that all trees drew, and for a row
        of weight zero; only with ``oob_score``.

    oob_curve_ : :class:`~sklearn.utils.Bunch`
        What the first ``n_estimators`` trees would have given, for each number of them:
        arrays ``n_estimators``, ``loss`` (the misclassification rate), its ``standard_error``, and
        ``coverage``, the share of the training set that is out of bag for one of them at least;
        only with ``oob_score``.

    {categories_learned}

    {features_in}

    See Also
    --------
    sklearn.ensemble.RandomForestClassifier : The forest of scikit-learn, in single precision.
    BaggingClassifier : Base estimators of any kind.
    RandomForestRegressor : For numbers as targets.
    sklearn_sl.inspection.OutOfBagDisplay : Plots ``oob_curve_``.

    References
    ----------
    .. [1] L. Breiman, "Random forests", Machine Learning, 45(1), 5-32, 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn_sl.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RandomForestClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> round(model.oob_score_, 2)
    0.96
    >>> small = model.truncate(model.choose_n_estimators())  # a new forest; nothing is grown again
    >>> len(small) < len(model)
    True
    >>> importance = model.oob_permutation_importance(X, y, random_state=0).importances_mean
    >>> importance.argmax() in (20, 22, 23, 27)  # size and shape of the worst cells
    True

    Documents are sparse samples:

    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> texts = ["cheap watches", "a cheap loan", "lunch at noon", "the minutes of noon"] * 5
    >>> reader = make_pipeline(CountVectorizer(), RandomForestClassifier(random_state=0))
    >>> reader.fit(texts, ["spam", "spam", "mail", "mail"] * 5).predict(["a loan of watches"])
    array(['spam'], dtype='<U4')
    """

    n_classes_: int | list[Any]
    oob_decision_function_: Any

    _tree_class, _sklearn_class = DecisionTreeClassifier, peer.RandomForestClassifier
    _parameter_constraints = {
        **{name: DecisionTreeClassifier._parameter_constraints[name] for name in TREE_PARAMS},
        **ForestMixin._parameter_constraints,
        **AveragedClassesMixin._parameter_constraints,
        "class_weight": [StrOptions({"balanced", "balanced_subsample"}), dict, list, None],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: Literal["gini", "entropy", "log_loss"] = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | Literal["sqrt", "log2"] = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: bool | Callable[..., Any] | str = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: dict[Any, Any] | list[Any] | str | None = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: ArrayLike | None = None,
        voting: Literal["average", "vote"] = "average",
        categorical_features: ArrayLike | str = "from_dtype",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.voting = voting
        self.categorical_features = categorical_features

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: MatrixLike,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        oob_groups: str | None = None,
    ) -> Self:
        """Grow the forest.

        Parameters
        ----------
        {training_X}

        {targets_y}

        {drawing_weight}

        {oob_groups}

        Returns
        -------
        {fitted}
        """
        return self._fit_resampled(X, y, sample_weight, oob_groups)

    def _factors(self, y, weight):
        chosen = self.class_weight
        if chosen is None:
            return None
        names = as_columns(self._decode(y))
        entries = chosen if isinstance(chosen, list) else [chosen]
        subsample = [entry == "balanced_subsample" for entry in entries]
        entries = ["balanced" if here else entry for entry, here in zip(entries, subsample)]
        chosen = entries if isinstance(chosen, list) else entries[0]
        factors = partial(class_weight_factors, chosen, names)
        return factors if all(subsample) else factors(weight)

    def predict(self, X: MatrixLike) -> Any:
        """Predict the classes of samples.

        Parameters
        ----------
        {X}

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The classes of the largest shares, the first among equals.
        """
        check_is_fitted(self)
        return self._labels(self._mean_answers(self._read_query(X)))

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Return the shares of the classes, averaged over the trees.

        Parameters
        ----------
        {X}

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes) or list of n_outputs such arrays
            The means of the shares in the leaves, or with ``voting="vote"`` the shares of the trees
            that predict each class; classes in the order of ``classes_``.
        """
        check_is_fitted(self)
        answers = self._mean_answers(self._read_query(X))
        parts = [answers[:, place] for place in self._places]
        return parts[0] if self.n_outputs_ == 1 else parts

    def predict_log_proba(self, X: MatrixLike) -> np.ndarray:
        """Return the logarithms of the shares of the classes.

        Parameters
        ----------
        {X}

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes) or list of n_outputs such arrays
            The logarithms, minus infinity for a share of zero.
        """
        proba = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(proba) if self.n_outputs_ == 1 else [np.log(part) for part in proba]

    def _set_out_of_bag_answers(self, answers):
        parts = [answers[:, place] for place in self._places]
        if self.n_outputs_ == 1:
            self.oob_decision_function_ = parts[0]
        elif len({part.shape[1] for part in parts}) == 1:
            self.oob_decision_function_ = np.stack(parts, axis=2)
        else:
            self.oob_decision_function_ = parts


@peer.RandomForestRegressor.register
@inserted
class RandomForestRegressor(
    EstimatorMixin,
    AveragedTargetsMixin,
    ForestMixin,
    MultiOutputMixin,
    RegressorMixin,
    BaseEstimator,
):
    """Random forest: the mean of regression trees on random rows and features.

    {forest_idea}

    {independent_draws}

    The parameters, methods and attributes are those of
    :class:`sklearn.ensemble.RandomForestRegressor`, and more. What differs:

    - The trees are those of this package: values are compared in float64, features may be
      categories.
    - Rows are drawn by ``sample_weight``. With ``bootstrap=False`` the trees get the
      weights, which scikit-learn ignores.
    - ``bootstrap=False`` goes together with ``max_samples``: rows are drawn without replacement.
    - ``oob_score`` may be the name of a scorer, leaves out the rows that no tree can judge, and can
      keep groups of rows together (``oob_groups`` of :meth:`fit`).

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees.

    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        The impurity of a node: the variance, the mean absolute deviation from the median, which
        the node then predicts, or half the mean Poisson deviance, for targets that are not
        negative.

    {max_depth}

    {least_samples}

    max_features : int, float or {"sqrt", "log2"}, default=1.0
        How many features a node looks at, drawn at random; a float is a share, None all of them.
        More are drawn until one of them is not constant in the node.

    max_leaf_nodes : int, default=None
        Grow trees best-first, up to so many leaves.

    {min_impurity_decrease}

    {bootstrap_of_trees}

    oob_score : bool, callable or str, default=False
        Whether to judge the ensemble by the rows that its trees did not draw. A callable
        is a metric of ``(y_true, y_pred)``, a string the name of a scorer of scikit-learn, such as
        "neg_mean_absolute_error"; True is the coefficient of determination. Rows that are out of
        bag for no tree are left out, with a warning.

    {forest_jobs}

    {verbose}

    {forest_warm_start}

    {price_and_draws_of_trees}

    {monotonic_cst}

    {categorical_features}

    Attributes
    ----------
    estimator_ : estimator
        The unfitted tree that the forest is made of clones of.

    estimators_ : list of :class:`~sklearn_sl.tree.DecisionTreeRegressor`
        The fitted trees.

    {drawn_by_trees}

    {n_outputs}

    {impurity_importances}

    {oob_score}

    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        The means of the predictions of the trees for which a row is out of bag, for a row
        of integer weight over its copies; NaN for a row that all trees drew, and for a
        row of weight zero; only with ``oob_score``.

    oob_curve_ : :class:`~sklearn.utils.Bunch`
        What the first ``n_estimators`` trees would have given, for each number of them:
        arrays ``n_estimators``, ``loss`` (the mean squared error), its ``standard_error``, and
        ``coverage``, the share of the training set that is out of bag for one of them at least;
        only with ``oob_score``.

    {categories_learned}

    {features_in}

    See Also
    --------
    sklearn.ensemble.RandomForestRegressor : The forest of scikit-learn, in single precision.
    BaggingRegressor : Base estimators of any kind.
    RandomForestClassifier : For classes as targets.
    sklearn_sl.inspection.OutOfBagDisplay : Plots ``oob_curve_``.

    References
    ----------
    .. [1] L. Breiman, "Random forests", Machine Learning, 45(1), 5-32, 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_sl.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RandomForestRegressor(max_features=3, oob_score=True, random_state=0).fit(X, y)
    >>> round(model.oob_score_, 1), model.oob_prediction_.shape
    (0.5, (442,))
    """

    oob_prediction_: Any

    _tree_class, _sklearn_class = DecisionTreeRegressor, peer.RandomForestRegressor
    _parameter_constraints = {
        **{name: DecisionTreeRegressor._parameter_constraints[name] for name in TREE_PARAMS},
        **ForestMixin._parameter_constraints,
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: Literal["squared_error", "absolute_error", "poisson"] = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | Literal["sqrt", "log2"] = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: bool | Callable[..., Any] | str = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: ArrayLike | None = None,
        categorical_features: ArrayLike | str = "from_dtype",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = valid_criterion(criterion)
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags

    def _encode_targets(self, y, old):
        y = super()._encode_targets(y, old)
        if self.criterion == "poisson" and not y.any(axis=0).all():
            raise ValueError(
                "Sum of y is not strictly positive which is necessary for Poisson regression."
            )
        return y

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: MatrixLike,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        oob_groups: str | None = None,
    ) -> Self:
        """Grow the forest.

        Parameters
        ----------
        {training_X}

        {targets_y}

        {drawing_weight}

        {oob_groups}

        Returns
        -------
        {fitted}
        """
        return self._fit_resampled(X, y, sample_weight, oob_groups)

    def predict(self, X: MatrixLike) -> Any:
        """Predict the targets of samples.

        Parameters
        ----------
        {X}

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The means of what the trees predict.
        """
        check_is_fitted(self)
        return self._labels(self._mean_answers(self._read_query(X)))

    def _set_out_of_bag_answers(self, answers):
        self.oob_prediction_ = self._labels(answers)

    def _compute_partial_dependence_recursion(self, grid, target_features):
        """Return what scikit-learn's partial_dependence asks of a forest."""
        return np.mean(
            [
                estimator._compute_partial_dependence_recursion(grid, target_features)
                for estimator in self.estimators_
            ],
            axis=0,
        )
