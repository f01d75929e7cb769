"""What the trees of the package share: parameters, growing, pruning, predicting."""

import math
from numbers import Integral, Real

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.utils import Bunch, check_random_state, metadata_routing
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_sl._sklearn import (
    Interval,
    Progress,
    RealNotInt,
    StrOptions,
    check_sample_weight,
    make_sklearn_tree,
)
from sklearn_sl.tree._columns import SortedColumns
from sklearn_sl.tree._features import FeatureMixin
from sklearn_sl.tree._growing import CRITERIA, Field, Rules, grow
from sklearn_sl.tree._path import pruning_path
from sklearn_sl.tree._tree import make_tree, set_risk

NO_LIMIT = 2**31 - 1
# What it costs to sort a column of a node, in columns that are kept sorted.
SORTING = 6


class TreeMixin(FeatureMixin):
    """The parameters of a tree and its methods.

    Hooks: ``_read_targets`` and ``_encode`` return a :class:`Target`, ``_losses_of_nodes(tree,
    target)`` what each node would add to the risk as a leaf, ``_answers(tree)`` what it would
    predict.
    """

    # Whether chance decides between equal splits, not the order of the features: for forests, whose
    # trees would be wrong in the same way.
    _random_order = False

    # Whether the least numbers of samples count them by their weights, which are integers: where
    # weights stand for samples that were drawn several times.
    _count_weight = False

    # Not something to be passed around in a pipeline.
    __metadata_request__predict = {"check_input": metadata_routing.UNUSED}

    _parameter_constraints = {
        "splitter": [StrOptions({"best", "random"})],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_split": [
            Interval(Integral, 2, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
        ],
        "min_samples_leaf": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="neither"),
        ],
        "min_weight_fraction_leaf": [Interval(Real, 0.0, 0.5, closed="both")],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
            StrOptions({"sqrt", "log2"}),
            None,
        ],
        "random_state": ["random_state"],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
        "min_impurity_decrease": [Interval(Real, 0.0, None, closed="left")],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "surrogates": [Interval(Integral, 0, None, closed="left")],
        "competitors": [Interval(Integral, 0, None, closed="left")],
        "n_jobs": [Integral, None],
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    # ------------------------------------------------------------ growing

    def _read_training_set(self, X, y, sample_weight):
        """Return samples, targets and weights, of the samples of positive weight only."""
        X = self._read_samples(X, reset=True)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        y = self._read_targets(y, len(X))
        weight = check_sample_weight(sample_weight, X, dtype=np.float64)
        if weight is None or weight.all():
            return X, y, weight
        used = np.flatnonzero(weight)
        return X[used], y[used], weight[used]

    def _fit_tree(self, X, y, sample_weight, *, reuse=True):
        """Return columns, target and the tree grown on them, which may use up the columns."""
        if getattr(self, "monotonic_cst", None) is not None:
            raise ValueError(
                "monotonic_cst is not supported: use the trees of scikit-learn for constraints."
            )
        X, y, weight = self._read_training_set(X, y, sample_weight)
        target = self._encode(y, weight)
        columns = SortedColumns(X, self._n_categories(), self._n_threads)
        with Progress(self, name="slice", total=None) as progress:

            def watch(done):
                with progress.step({"share_of_samples_in_leaves": done}):
                    pass
                return progress.stop

            tree = self._plant(columns, target, n_threads=self._n_threads, watch=watch, reuse=reuse)
        return columns, target, tree

    def _plant(self, columns, target, **how):
        """Return a tree grown on columns that were sorted before; ``how`` is for ``_grow``."""
        self.n_outputs_ = target.values.shape[1]
        self.max_features_ = self._count_features(columns.X.shape[1])
        self._seed = self._draw_seed(columns.X.shape[1])
        return self._grow(columns, target, **how)

    def _sorts_on_demand(self, n_features):
        """Return whether it is faster to sort what a node looks at than to keep all sorted."""
        looked_at = self._count_features(n_features)
        return not self.surrogates and SORTING * looked_at < n_features

    def _draw_seed(self, n_features):
        """Return the number that all random choices of the fit follow from, those of folds too."""
        if self.splitter == "best" and self.max_features_ >= n_features and not self._random_order:
            return 0
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    @property
    def _n_threads(self):
        return effective_n_jobs(self.n_jobs)

    def _grow(self, columns, target, *, times=None, n_threads=1, watch=None, reuse=False):
        """Return a tree with its risks; row ``i`` of the training set counts ``times[i]`` times."""
        weight, own, share = target.weight, target.own, 1.0
        n_features = columns.X.shape[1]
        if times is not None:
            weight, own = (times * (1.0 if part is None else part) for part in (weight, own))
            share = np.average(times, weights=target.own)
        field = Field(
            columns,
            target.values,
            target.n_classes,
            weight,
            own_weight=own,
            entropy=CRITERIA[self.criterion] == CRITERIA["entropy"],
            reuse=reuse,
            on_demand=self._sorts_on_demand(n_features),
        )
        rules = self._rules(len(field.rows), field.total_weight, n_features)
        grown = grow(field, rules, seed=self._seed, n_threads=n_threads, watch=watch)
        tree = make_tree(
            grown,
            field,
            n_classes=target.n_classes,
            preorder=not rules.best_first,
            n_competitors=self.competitors,
        )
        self._restore_shares(tree, target)
        set_risk(tree, self._losses_of_nodes(tree, target) / (share * target.mass))
        return tree

    def _restore_shares(self, tree, target):
        """Let values and masses be those of the classes, not what the splits saw of them."""

    def _rules(self, n_samples, total_weight, n_features):
        """Return the parameters as numbers."""
        if self._count_weight:
            n_samples = total_weight
        min_leaf, min_split = (
            value if isinstance(value, Integral) else math.ceil(value * n_samples)
            for value in (self.min_samples_leaf, self.min_samples_split)
        )
        min_weights = self.min_weight_fraction_leaf * total_weight, 0.0
        if self._count_weight:
            min_weights = max(min_weights[0], float(min_leaf)), float(min_split)
            min_leaf, min_split = 1, 2
        return Rules(
            criterion=CRITERIA[self.criterion],
            random_thresholds=self.splitter == "random",
            random_order=self._random_order,
            best_first=self.max_leaf_nodes is not None,
            max_depth=NO_LIMIT if self.max_depth is None else self.max_depth,
            min_samples_split=max(2, min_split, 2 * min_leaf),
            min_samples_leaf=min_leaf,
            min_weight_leaf=min_weights[0],
            min_weight_split=min_weights[1],
            max_features=min(self.max_features_, n_features),
            max_leaf_nodes=self.max_leaf_nodes or 0,
            min_impurity_decrease=self.min_impurity_decrease,
            competitors=self.competitors,
            surrogates=self.surrogates,
        )

    def _count_features(self, n_features):
        """Return how many features a node looks at."""
        if self.max_features is None:
            return n_features
        if self.max_features == "sqrt":
            return max(1, int(np.sqrt(n_features)))
        if self.max_features == "log2":
            return max(1, int(np.log2(n_features)))
        if isinstance(self.max_features, Integral):
            return self.max_features
        return max(1, int(self.max_features * n_features))

    # ------------------------------------------------------------ what a fitted tree tells

    def get_depth(self):
        """Return the depth of the tree.

        Returns
        -------
        depth : int
            The largest number of splits between the root and a leaf.
        """
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self):
        """Return the number of leaves.

        Returns
        -------
        n_leaves : int
            The number of leaves of the tree.
        """
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self):
        """By how much the splits of each feature reduce the impurity, as shares of one."""
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()

    @property
    def surrogate_importances_(self):
        """The improvements by each feature, those as a surrogate in parts, as shares of one."""
        check_is_fitted(self)
        if not self.surrogates:
            raise AttributeError("surrogate_importances_ needs surrogates > 0")
        return self.tree_.surrogate_importances()

    @property
    def ccp_path_(self):
        """The subtrees of weakest-link pruning: ``alphas``, ``n_leaves`` and ``risks``."""
        check_is_fitted(self)
        return pruning_path(self._whole_tree)

    @property
    def _whole_tree(self):
        """The tree that pruning begins with."""
        return self.tree_

    def apply(self, X, check_input=True):
        """Return the leaf that each sample ends in.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            Samples.

        check_input : bool, default=True
            False skips the validation of samples that are a float64 matrix in C order.

        Returns
        -------
        leaves : ndarray of shape (n_samples,)
            The leaves as nodes of ``tree_``.
        """
        check_is_fitted(self)
        return self.tree_.apply(self._query(X, check_input), self._n_threads)

    def decision_path(self, X, check_input=True):
        """Return the nodes that each sample passes.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            Samples.

        check_input : bool, default=True
            False skips the validation of samples that are a float64 matrix in C order.

        Returns
        -------
        indicator : sparse matrix of shape (n_samples, n_nodes)
            Ones, in CSR format, where a sample passes a node.
        """
        check_is_fitted(self)
        return self.tree_.decision_path(self._query(X, check_input), self._n_threads)

    def _query(self, X, check_input=True):
        """Return samples to be sent down the tree."""
        if check_input:
            return self._read_samples(X, reset=False)
        validate_data(self, X, reset=False, skip_check_array=True)  # counts the features
        return np.ascontiguousarray(X, dtype=np.float64)

    def predict(self, X, check_input=True):
        """Predict the targets of samples.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            Samples.

        check_input : bool, default=True
            False skips the validation of samples that are a float64 matrix in C order.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The classes or means of their leaves.
        """
        check_is_fitted(self)
        leaves = self.tree_._leaves(self._query(X, check_input), self._n_threads)
        return self._answers(self.tree_).take(leaves, axis=0)

    # ------------------------------------------------------------ pruning

    def prune(self, alpha=None, *, n_leaves=None):
        """Return the tree pruned back, without growing it again.

        Parameters
        ----------
        alpha : float, default=None
            The price of a leaf: the tree that minimises ``risk + alpha * leaves``, the smallest
            one if there are several.

        n_leaves : int, default=None
            Instead of ``alpha``: the largest tree of the path with at most so many leaves.

        Returns
        -------
        pruned : estimator
            A new fitted estimator; this one stays as it is. Its ``ccp_alpha`` is ``alpha``, or
            where the tree begins on the path.
        """
        check_is_fitted(self)
        if (alpha is None) == (n_leaves is None):
            raise ValueError("prune takes either alpha or n_leaves.")
        if n_leaves is not None:
            alpha = self._alpha_of(n_leaves)
        if not alpha >= 0:
            raise ValueError(f"alpha must not be negative, got {alpha!r}.")
        pruned = clone(self)
        if "ccp_alpha" in pruned.get_params(deep=False):
            pruned.set_params(ccp_alpha=float(alpha))
        fitted = {name: value for name, value in vars(self).items() if name not in vars(pruned)}
        vars(pruned).update(fitted)
        pruned.tree_ = self._whole_tree.prune(alpha)
        return pruned

    def _alpha_of(self, n_leaves):
        """Return where the largest tree of at most ``n_leaves`` leaves begins on the path."""
        if not isinstance(n_leaves, Integral) or n_leaves < 1:
            raise ValueError(f"n_leaves must be a positive integer, got {n_leaves!r}.")
        path = self.ccp_path_
        return float(path.alphas[np.flatnonzero(path.n_leaves <= n_leaves)[0]])

    def predict_path(self, X, alphas=None):
        """Predict with the trees pruned at several ``alphas``, by one descent.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            Samples.

        alphas : array-like of shape (n_alphas,), default=None
            The prices of a leaf; None is ``ccp_path_.alphas``.

        Returns
        -------
        predictions : ndarray of shape (n_alphas, n_samples) or (n_alphas, n_samples, n_outputs)
            Row ``k`` is what ``prune(alphas[k])`` predicts.
        """
        check_is_fitted(self)
        alphas = self.ccp_path_.alphas if alphas is None else np.asarray(alphas, dtype=np.float64)
        if alphas.ndim != 1 or not np.all(alphas >= 0):
            raise ValueError("alphas must be a list of numbers that are not negative.")
        order = np.argsort(alphas, kind="stable")
        nodes = self._whole_tree.apply_path(self._query(X), alphas[order]).T
        predictions = self._answers(self._whole_tree).take(nodes, axis=0)
        return predictions[np.argsort(order, kind="stable")]

    def cost_complexity_pruning_path(self, X, y, sample_weight=None):
        """Grow a tree and return the path of its pruning, as scikit-learn does.

        A fitted tree has the path in ``ccp_path_``.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            Training samples.

        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        ccp_path : :class:`~sklearn.utils.Bunch`
            ``ccp_alphas``, the values of ``alpha`` where the pruned tree changes, each of them
            once, and ``impurities``, the risks of the trees from there on.
        """
        model = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight=sample_weight)
        path = model.ccp_path_
        return Bunch(ccp_alphas=path.alphas, impurities=path.risks)

    # ------------------------------------------------------------ export

    def to_sklearn(self):
        """Return a tree of scikit-learn that predicts the same.

        scikit-learn rounds samples to float32 before it compares them with the thresholds, which
        stay in float64: predictions are equal for all samples that float32 represents, and may
        differ for a value closer to a threshold than float32 can tell.

        Returns
        -------
        tree : :class:`sklearn.tree.DecisionTreeClassifier` or \
                :class:`sklearn.tree.DecisionTreeRegressor`
            A fitted tree.
        """
        check_is_fitted(self)
        tree = self.tree_
        if (tree.subset >= 0).any():
            raise ValueError("scikit-learn's trees have no splits by subsets of categories.")
        if len(tree.surrogates):
            raise ValueError("scikit-learn's trees have no surrogate splits.")
        model = self._sklearn_class()
        known = model.get_params(deep=False)
        params = self.get_params(deep=False)
        model.set_params(**{name: params[name] for name in known if name in params})
        for name in ("n_features_in_", "feature_names_in_", "n_outputs_", "max_features_"):
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
        model.tree_ = make_sklearn_tree(tree)
        return model


class Target:
    """Targets as numbers, and how rows count.

    ``values`` are targets, or classes as codes where there are ``n_classes``. A row counts by its
    ``own`` weight, by ``counted`` where its class counts too, and by ``weight`` in the search for
    splits; None is one. ``mass`` is the sum of ``counted``.
    """

    def __init__(self, values, own, *, n_classes=None, counted=None, weight=None, cost=None):
        self.values, self.own, self.n_classes, self.cost = values, own, n_classes, cost
        self.counted = own if counted is None else counted
        self.weight = self.counted if weight is None else weight
        self.mass = float(len(values) if self.counted is None else self.counted.sum())
