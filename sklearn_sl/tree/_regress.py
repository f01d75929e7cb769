"""Regression trees."""

from numbers import Real

import numpy as np
from scipy.special import xlogy
from sklearn import tree as peer
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import metadata_routing

from sklearn_sl._sklearn import Interval, StrOptions, fit_context
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.tree._base import TreeMixin
from sklearn_sl.tree._growing import fit_alone
from sklearn_sl.tree._training_set import read_regression


class RegressionTreeMixin(TreeMixin):
    """Numbers as targets."""

    _sklearn_class = peer.DecisionTreeRegressor
    _parameter_constraints = {
        **TreeMixin._parameter_constraints,
        "criterion": [StrOptions({"squared_error", "poisson"})],
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags

    def _answers(self, tree):
        return tree.value[:, 0, 0] if tree.n_outputs == 1 else tree.value[:, :, 0]

    def _losses(self, tree, nodes, values):
        """Return the losses of targets that end in nodes, one row of nodes for each target."""
        means, values = tree.value[nodes, :, 0], values[:, None]
        if self.criterion == "poisson":
            return np.mean(xlogy(values, values / means) - values + means, axis=2)
        return np.mean((values - means) ** 2, axis=2)


@peer.DecisionTreeRegressor.register
class DecisionTreeRegressor(
    EstimatorMixin, RegressionTreeMixin, MultiOutputMixin, RegressorMixin, BaseEstimator
):
    """Regression tree (CART), grown on columns that are sorted once.

    A node of ``W`` weight and mean target ``c`` has the impurity ``sum_i w_i (y_i - c)**2 / W``, or
    ``sum_i w_i y_i log(y_i / c) / W`` for the Poisson deviance. It is split by the feature and
    threshold for which ``W impurity - W_left impurity_left - W_right impurity_right`` is largest:
    of equal splits by the first feature, at the lowest threshold. The search sums integers, the
    targets in small units of the node's range, so that the splits do not depend on the order of
    the rows, on the number of threads, or on whether a sample is repeated or has an integer
    weight. Values and thresholds are compared in float64.

    Weakest-link pruning finds the subtree of least ``risk + alpha * leaves`` for every ``alpha`` at
    once, see ``ccp_path_`` and :meth:`prune`.

    The parameters, methods and attributes are those of
    :class:`sklearn.tree.DecisionTreeRegressor`, and more. Sparse samples and ``monotonic_cst`` are
    not supported, nor is the absolute error.

    Parameters
    ----------
    criterion : {"squared_error", "poisson"}, default="squared_error"
        The impurity: the variance, or half the mean Poisson deviance, for targets that are not
        negative.

    splitter : {"best", "random"}, default="best"
        "best" takes the best of all thresholds of a feature, "random" looks at one for each
        feature, uniform between its least and largest value in the node; of categories always the
        best subset is taken.

    max_depth : int, default=None
        The largest depth of a leaf; None is no limit.

    min_samples_split : int or float, default=2
        The number of samples, or the share of all, that a node needs to be split.

    min_samples_leaf : int or float, default=1
        The number of samples, or the share of all, that every leaf must have. Samples count once,
        whatever their weights.

    min_weight_fraction_leaf : float, default=0.0
        The share of the weight of all samples that every leaf must have.

    max_features : int, float or {"sqrt", "log2"}, default=None
        How many features a node looks at, drawn at random; a float is a share, None all of them.
        More are drawn until one of them is not constant in the node.

    random_state : int, RandomState instance or None, default=None
        The seed of random features and thresholds. For the same seed the tree does not depend on
        the order of the rows or the number of threads.

    max_leaf_nodes : int, default=None
        Grow best-first, the split that reduces the impurity most at a time, up to so many leaves.

    min_impurity_decrease : float, default=0.0
        By how much a split must reduce the impurity of the tree at least.

    ccp_alpha : non-negative float, default=0.0
        The price of a leaf for which the grown tree is pruned; zero is no pruning. See
        :meth:`prune` for pruning after the fit.

    monotonic_cst : array-like of int of shape (n_features,), default=None
        Not supported, must be None.

    categorical_features : array-like or "from_dtype", default="from_dtype"
        Which features are categories: their places, their names, or a truth value for each. By
        default those that have the dtype "category" in a data frame.

    surrogates : int, default=0
        The number of surrogate splits of a node. With zero, missing values go to the side that
        was better for those of the training set (scikit-learn's way). Otherwise a split is judged
        by the samples whose value is known, and the others follow the first surrogate that knows
        them, or else the majority (rpart's way).

    competitors : int, default=0
        How many splits by other features to keep for each node, for information.

    n_jobs : int, default=None
        The number of threads; None is 1 unless in a :obj:`joblib.parallel_backend` context. The
        tree is the same for any number.

    Attributes
    ----------
    tree_ : Tree
        The nodes as arrays, under the names of scikit-learn's ``tree_``, and in addition
        ``improvement``, ``risk``, ``collapse``, ``surrogates`` and ``competitors``.

    ccp_path_ : PruningPath
        The subtrees of weakest-link pruning.

    feature_importances_ : ndarray of shape (n_features,)
        By how much the splits of each feature reduce the impurity, as shares of one.

    surrogate_importances_ : ndarray of shape (n_features,)
        The same among the samples whose value is known, where a surrogate counts by its adjusted
        agreement; only with ``surrogates``.

    max_features_ : int
        The number of features that a node looks at.

    n_outputs_ : int
        The number of outputs.

    is_categorical_ : ndarray of shape (n_features,) or None
        Which features are categories; None if there are none.

    categories_ : list of n_features arrays or None
        The categories of each feature, None for a number.

    n_features_in_ : int
        Number of features seen during :term:`fit`.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during :term:`fit`, if they are all strings.

    See Also
    --------
    sklearn.tree.DecisionTreeRegressor : For sparse samples, constraints, the absolute error.
    DecisionTreeRegressorCV : Chooses the size by cross-validation.
    DecisionTreeClassifier : For classes as targets.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen and C. Stone, "Classification and Regression Trees",
       Wadsworth, 1984.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_sl.tree import DecisionTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = DecisionTreeRegressor(min_samples_leaf=5).fit(X, y)
    >>> model.get_n_leaves()
    69
    >>> pruned = model.prune(alpha=100.0)  # a leaf must reduce the mean squared error by so much
    >>> pruned.get_n_leaves()
    6
    >>> model.predict_path(X[:2], [0.0, 100.0, 1e9]).round(1)  # three trees, one descent
    array([[175.4, 112.9],
           [231.3,  96.3],
           [152.1, 152.1]])
    """

    # Not something to be passed around in a pipeline.
    __metadata_request__fit = {"check_input": metadata_routing.UNUSED}

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
        return fit_alone(self, *read_regression(self, X, y, sample_weight))

    def _compute_partial_dependence_recursion(self, grid, target_features):
        """Return what scikit-learn's partial_dependence asks of a tree."""
        return self.to_sklearn()._compute_partial_dependence_recursion(grid, target_features)
