"""Regression trees."""

from numbers import Real

import numpy as np
from scipy.special import xlogy
from sklearn import tree as peer
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_array, check_consistent_length

from sklearn_sl._sklearn import Interval, StrOptions, fit_context
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.tree._base import Target, TreeMixin

# Squares of larger numbers overflow, or may when they are summed up.
LARGEST_TARGET = 1e150


class RegressionTreeMixin(TreeMixin):
    """Numbers as targets."""

    _sklearn_class = peer.DecisionTreeRegressor
    _parameter_constraints = {
        **TreeMixin._parameter_constraints,
        "criterion": [StrOptions({"squared_error", "poisson"})],
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags

    def _read_targets(self, y, n_samples):
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        y = y.reshape(len(y), -1)
        check_consistent_length(y, np.empty(n_samples))
        if np.abs(y).max() > LARGEST_TARGET:
            raise ValueError(
                f"y has values beyond {LARGEST_TARGET:g}, whose squares overflow: scale it."
            )
        return y

    def _encode(self, y, weight):
        if self.criterion == "poisson":
            if np.any(y < 0):
                raise ValueError(
                    "Some value(s) of y are negative which is not allowed for Poisson regression."
                )
            if not np.all(y.sum(axis=0) > 0):
                raise ValueError(
                    "Sum of y is not positive which is necessary for Poisson regression."
                )
        return Target(y, weight)

    def _losses_of_nodes(self, tree, target):
        return tree.impurity * tree.weighted_n_node_samples

    def _answers(self, tree):
        return tree.value[:, 0, 0] if tree.n_outputs == 1 else tree.value[:, :, 0]

    def _losses(self, tree, nodes, values):
        """Return the losses of targets that end in nodes, one row of nodes for each target."""
        means, values = tree.value[nodes, :, 0], values[:, None]
        if self.criterion == "poisson":
            return np.mean(xlogy(values, values / means) - values + means, axis=2)
        return np.mean((values - means) ** 2, axis=2)

    _training_losses = _losses_of_nodes


class DecisionTreeRegressor(
    EstimatorMixin, RegressionTreeMixin, MultiOutputMixin, RegressorMixin, BaseEstimator
):
    """REGDOC"""

    _parameter_constraints = {
        **RegressionTreeMixin._parameter_constraints,
        "ccp_alpha": [Interval(Real, 0.0, None, closed="left")],
        "monotonic_cst": ["array-like", None],
    }

    def __init__(
        self,
        *,
        criterion="squared_error",
        splitter="best",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        monotonic_cst=None,
        categorical_features="from_dtype",
        surrogates=0,
        competitors=0,
        n_jobs=None,
    ):
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.surrogates = surrogates
        self.competitors = competitors
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, check_input=True):
        """Grow the tree.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            Training samples; NaN is a missing value.

        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples; a sample of weight zero is as if it were not there.

        check_input : bool, default=True
            Has no effect: a fit always looks at its samples.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        _, _, tree = self._fit_tree(X, y, sample_weight)
        self.tree_ = tree.prune(self.ccp_alpha) if self.ccp_alpha > 0 else tree
        return self

    def _compute_partial_dependence_recursion(self, grid, target_features):
        """Return what scikit-learn's partial_dependence asks of a tree."""
        return self.to_sklearn()._compute_partial_dependence_recursion(grid, target_features)


# Whoever asks scikit-learn for its trees, plot_tree and export_text among them, gets ours too.
peer.DecisionTreeRegressor.register(DecisionTreeRegressor)
