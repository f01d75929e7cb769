"""Classification trees."""

from numbers import Real

import numpy as np
from sklearn import tree as peer
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from sklearn_sl._sklearn import Interval, StrOptions, fit_context
from sklearn_sl.base import EstimatorMixin, class_factors
from sklearn_sl.tree._base import Target, TreeMixin


class ClassificationTreeMixin(TreeMixin):
    """Classes as targets: their encoding, weights, costs and shares."""

    _sklearn_class = peer.DecisionTreeClassifier
    _parameter_constraints = {
        **TreeMixin._parameter_constraints,
        "criterion": [StrOptions({"gini", "entropy", "log_loss"})],
        "class_weight": [dict, list, StrOptions({"balanced"}), None],
        "priors": ["array-like", dict, None],
        "cost_matrix": ["array-like", None],
        "risk": [StrOptions({"impurity", "misclassification"})],
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _read_targets(self, y, n_samples):
        y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
        check_classification_targets(y)
        y = y.reshape(len(y), -1)
        check_consistent_length(y, np.empty(n_samples))
        return y

    def _encode(self, y, weight):
        """Return the classes as codes, with the weights that the splits see."""
        found = [np.unique(column, return_inverse=True) for column in y.T]
        classes = [names for names, _ in found]
        codes = np.stack([code for _, code in found], axis=1).astype(np.int32)
        n_classes = np.array([len(names) for names in classes], dtype=np.intp)
        single = len(classes) == 1
        self.classes_ = classes[0] if single else classes
        self.n_classes_ = int(n_classes[0]) if single else n_classes
        if not single and (self.priors is not None or self.cost_matrix is not None):
            raise ValueError("priors and cost_matrix are for a single output.")
        factor = self._class_factors(y, codes, classes, weight)
        counted = weight if factor is None else factor if weight is None else weight * factor
        self._cost = self._check_cost(n_classes[0])
        if self._cost is None:
            return Target(codes, weight, n_classes=n_classes, counted=counted)
        # The altered priors of CART: a class counts by what its mistakes cost.
        price = self._cost.sum(axis=1)[codes[:, 0]]
        seen = price if counted is None else price * counted
        return Target(
            codes, weight, n_classes=n_classes, counted=counted, weight=seen, cost=self._cost
        )

    def _class_factors(self, y, codes, classes, weight):
        """Return the factor of each row by class weights or priors; None for ones."""
        if self.class_weight is not None and self.priors is not None:
            raise ValueError("class_weight and priors exclude each other.")
        if self.priors is not None:
            return self._prior_factors(codes[:, 0], classes[0], weight)
        if self.class_weight is None:
            return None
        chosen = self.class_weight
        if len(classes) == 1:
            return class_factors(chosen, y[:, 0], weight)
        if isinstance(chosen, dict):
            raise ValueError("For several outputs class_weight is a list of dicts, one for each.")
        if isinstance(chosen, str):
            chosen = [chosen] * len(classes)
        if len(chosen) != len(classes):
            raise ValueError(
                f"class_weight must have one entry for each of {len(classes)} outputs."
            )
        return np.prod([class_factors(c, col, weight) for c, col in zip(chosen, y.T)], axis=0)

    def _prior_factors(self, codes, classes, weight):
        """Return the factors that give each class its prior share of the weight."""
        priors = self.priors
        if isinstance(priors, dict):
            missing = [name for name in classes.tolist() if name not in priors]
            if missing:
                raise ValueError(f"priors has no entry for the classes {missing}.")
            priors = [priors[name] for name in classes.tolist()]
        priors = np.asarray(priors, dtype=np.float64)
        if priors.shape != classes.shape or not np.all(priors > 0):
            raise ValueError(f"priors must be {len(classes)} positive numbers, one for each class.")
        masses = np.bincount(codes, weights=weight)
        return (priors / priors.sum() * masses.sum() / masses)[codes]

    def _check_cost(self, n_classes):
        """Return the cost matrix, validated."""
        if self.cost_matrix is None:
            return None
        cost = check_array(self.cost_matrix, dtype=np.float64, input_name="cost_matrix")
        if cost.shape != (n_classes, n_classes):
            raise ValueError(
                f"cost_matrix must have the shape {(n_classes, n_classes)}, a row for each true "
                f"and a column for each predicted class; got {cost.shape}."
            )
        if np.any(cost < 0) or np.any(np.diag(cost) != 0) or np.any(cost.sum(axis=1) == 0):
            raise ValueError(
                "cost_matrix must have zeros on its diagonal, no negative entry, and a positive "
                "one in each row."
            )
        return cost

    def _losses_of_nodes(self, tree, target):
        if self.risk == "misclassification":
            return self._training_losses(tree, target)
        losses = tree.impurity * tree.weighted_n_node_samples
        # The impurity may be that of classes that count by their cost.
        return losses if target.cost is None else losses * (target.mass / target.weight.sum())

    def _training_losses(self, tree, target):
        """Return the mass, or the cost, of the training samples that each node gets wrong."""
        if target.cost is not None:
            return tree.mass * (tree.value[:, 0] @ target.cost).min(axis=1)
        return tree.mass * np.maximum(1 - tree.value.max(axis=2), 0).mean(axis=1)

    def _losses(self, tree, nodes, values):
        """Return the losses of classes that end in nodes, one row of nodes for each of them."""
        labels = node_labels(tree, self._cost)[nodes]
        if self._cost is not None:
            return self._cost[values, labels[:, :, 0]]
        return np.mean(labels != values[:, None], axis=2)

    def _restore_shares(self, tree, target):
        if target.cost is None:
            return
        masses = tree.value[:, 0] * tree.mass[:, None] / target.cost.sum(axis=1)
        tree.mass = masses.sum(axis=1)
        tree.value = (masses / tree.mass[:, None])[:, None]

    def _answers(self, tree):
        """Return the class that each node predicts."""
        labels = [
            np.take(classes, label)
            for classes, label in zip(
                [self.classes_] if tree.n_outputs == 1 else self.classes_,
                node_labels(tree, self._cost).T,
            )
        ]
        return labels[0] if tree.n_outputs == 1 else np.stack(labels, axis=1)

    def predict_proba(self, X, check_input=True):
        """Return the shares of the classes in the leaves of samples.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            Samples.

        check_input : bool, default=True
            False skips the validation of samples that are a float64 matrix in C order.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes) or list of n_outputs such arrays
            The shares, classes in the order of ``classes_``.
        """
        check_is_fitted(self)
        leaves = self.tree_._leaves(self._query(X, check_input), self._n_threads)
        shares = self.tree_.value.take(leaves, axis=0)
        if self.n_outputs_ == 1:
            return shares[:, 0]
        return [shares[:, output, :n] for output, n in enumerate(self.n_classes_)]

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

    def to_sklearn(self):
        """Return a tree of scikit-learn that predicts the same.

        scikit-learn rounds samples to float32 before it compares them with the thresholds, which
        stay in float64: predictions are equal for all samples that float32 represents, and may
        differ for a value closer to a threshold than float32 can tell.

        Returns
        -------
        tree : :class:`sklearn.tree.DecisionTreeClassifier`
            A fitted tree.
        """
        if getattr(self, "_cost", None) is not None:
            raise ValueError("scikit-learn's trees have no cost matrix: they predict the majority.")
        model = super().to_sklearn()
        model.classes_, model.n_classes_ = self.classes_, self.n_classes_
        return model


def node_labels(tree, cost):
    """Return the class that each node predicts, for each output, the first among equals."""
    if cost is None:
        return tree.value.argmax(axis=2)
    return (tree.value[:, 0] @ cost).argmin(axis=1)[:, None]


class DecisionTreeClassifier(
    EstimatorMixin, ClassificationTreeMixin, MultiOutputMixin, ClassifierMixin, BaseEstimator
):
    """CLASSDOC"""

    _parameter_constraints = {
        **ClassificationTreeMixin._parameter_constraints,
        "ccp_alpha": [Interval(Real, 0.0, None, closed="left")],
        "monotonic_cst": ["array-like", None],
    }

    def __init__(
        self,
        *,
        criterion="gini",
        splitter="best",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        class_weight=None,
        ccp_alpha=0.0,
        monotonic_cst=None,
        risk="impurity",
        categorical_features="from_dtype",
        surrogates=0,
        competitors=0,
        priors=None,
        cost_matrix=None,
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
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.risk = risk
        self.categorical_features = categorical_features
        self.surrogates = surrogates
        self.competitors = competitors
        self.priors = priors
        self.cost_matrix = cost_matrix
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, check_input=True):
        """Grow the tree.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            Training samples; NaN is a missing value.

        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Classes.

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


# Whoever asks scikit-learn for its trees, plot_tree and export_text among them, gets ours too.
peer.DecisionTreeClassifier.register(DecisionTreeClassifier)
