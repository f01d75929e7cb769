"""Random forests."""

from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn import ensemble as peer
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._sklearn import Interval, RealNotInt, StrOptions, fit_context
from sklearn_sl._threads import in_order
from sklearn_sl.base import EstimatorMixin, class_factors
from sklearn_sl.ensemble._averaging import (
    AveragedClassesMixin,
    AveragedTargetsMixin,
    AveragingMixin,
    read_targets,
)
from sklearn_sl.ensemble._members import TreeMembers
from sklearn_sl.ensemble._resampling import as_columns
from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn_sl.tree._features import FeatureMixin
from sklearn_sl.tree._tree import normalized

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


class ForestMixin(FeatureMixin, AveragingMixin):
    """Trees that look at some of the features in each node."""

    _parameter_constraints = {
        **AveragingMixin._parameter_constraints,
        "max_samples": [
            None,
            Interval(RealNotInt, 0.0, None, closed="neither"),
            Interval(Integral, 1, None, closed="left"),
        ],
        "ccp_alpha": [Interval(Real, 0.0, None, closed="left")],
        "monotonic_cst": ["array-like", None],
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Grow the forest.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            Training samples; NaN is a missing value.

        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples, by which they are drawn; a sample of weight zero is as if it
            were not there.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if sp.issparse(y):
            raise ValueError("sparse multilabel-indicator for y is not supported.")
        return self._fit_members(X, y, sample_weight)

    def _template(self):
        return self._tree_class(**{name: getattr(self, name) for name in TREE_PARAMS})

    def _gather_members(self, X, y, weight, used, fit_params):
        return TreeMembers(
            self.estimator_,
            X,
            y,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            factors=self._factors(y, weight),
            reader=self,
        )

    def _factors(self, y, weight):
        """Return what gives the weights of the classes of rows; None without such weights."""
        return None

    def _read_query(self, X):
        return self._read_samples(X, reset=False)

    # ------------------------------------------------------------ what the trees tell

    @property
    def feature_importances_(self):
        """By how much the splits of each feature reduce the impurity, as shares of one."""
        check_is_fitted(self)
        grown = [member for member in self.estimators_ if member.tree_.node_count > 1]
        if not grown:
            return np.zeros(self.n_features_in_)
        return normalized(np.mean([member.feature_importances_ for member in grown], axis=0))

    def apply(self, X):
        """Return the leaves that each sample ends in.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        leaves : ndarray of shape (n_samples, n_estimators)
            The leaves as nodes of the trees.
        """
        check_is_fitted(self)
        X = self._read_query(X)
        return np.array(list(self._in_trees(lambda tree: tree.apply(X)))).T

    def decision_path(self, X):
        """Return the nodes that each sample passes.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            Samples.

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

    def _in_trees(self, work):
        """Yield ``work(tree)`` of all trees."""
        n_threads = min(effective_n_jobs(self.n_jobs), len(self.estimators_))
        return in_order(lambda member, over: work(member.tree_), self.estimators_, n_threads)


class RandomForestClassifier(
    EstimatorMixin, AveragedClassesMixin, ForestMixin, MultiOutputMixin, ClassifierMixin,
    BaseEstimator,
):  # fmt: skip
    """Random forest of classification trees.

    TODO
    """

    _tree_class = DecisionTreeClassifier
    _parameter_constraints = {
        **DecisionTreeClassifier._parameter_constraints,
        **ForestMixin._parameter_constraints,
        **AveragedClassesMixin._parameter_constraints,
        "class_weight": [StrOptions({"balanced", "balanced_subsample"}), dict, list, None],
    }
    for _name in ("splitter", "risk", "surrogates", "competitors", "priors", "cost_matrix"):
        _parameter_constraints.pop(_name)

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="gini",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features="sqrt",
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=True,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        class_weight=None,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
        voting="average",
        categorical_features="from_dtype",
    ):
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

    def _encode_targets(self, y):
        y = self._encode_classes(read_targets(y, stacklevel=6))
        self.n_outputs_ = len(self._class_names)
        return y

    def _factors(self, y, weight):
        chosen = self.class_weight
        if chosen is None:
            return None
        names = as_columns(self._decode(y))
        if names.shape[1] > 1 and isinstance(chosen, dict):
            raise ValueError("For several outputs class_weight is a list of dicts, one for each.")
        if not isinstance(chosen, list):
            chosen = [chosen] * names.shape[1]
        if len(chosen) != names.shape[1]:
            raise ValueError(
                f"class_weight must have one entry for each of {names.shape[1]} outputs."
            )
        subsample = [entry == "balanced_subsample" for entry in chosen]
        chosen = ["balanced" if entry == "balanced_subsample" else entry for entry in chosen]

        def factors(weight):
            return np.prod(
                [class_factors(entry, col, weight) for entry, col in zip(chosen, names.T)], axis=0
            )

        if all(subsample):
            return factors
        fixed = factors(weight)
        return lambda weight: fixed

    def predict(self, X):
        """Predict the classes of samples.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The classes of the largest shares, the first among equals.
        """
        check_is_fitted(self)
        return self._labels(self._mean_answers(self._read_query(X)))

    def predict_proba(self, X):
        """Return the shares of the classes, averaged over the trees.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            Samples.

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

    def predict_log_proba(self, X):
        """Return the logarithms of the shares of the classes.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            Samples.

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


class RandomForestRegressor(
    EstimatorMixin, AveragedTargetsMixin, ForestMixin, MultiOutputMixin, RegressorMixin,
    BaseEstimator,
):  # fmt: skip
    """Random forest of regression trees.

    TODO
    """

    _tree_class = DecisionTreeRegressor
    _parameter_constraints = {
        **DecisionTreeRegressor._parameter_constraints,
        **ForestMixin._parameter_constraints,
    }
    for _name in ("splitter", "surrogates", "competitors"):
        _parameter_constraints.pop(_name)

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="squared_error",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=1.0,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=True,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
        categorical_features="from_dtype",
    ):
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
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags

    def _encode_targets(self, y):
        y = self._encode_numbers(read_targets(y, dtype=np.float64, stacklevel=6))
        self.n_outputs_ = self._n_targets or 1
        return y

    def predict(self, X):
        """Predict the targets of samples.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            Samples.

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
                member._compute_partial_dependence_recursion(grid, target_features)
                for member in self.estimators_
            ],
            axis=0,
        )


# Whoever asks scikit-learn for its forests, partial_dependence among them, gets ours too.
peer.RandomForestClassifier.register(RandomForestClassifier)
peer.RandomForestRegressor.register(RandomForestRegressor)
