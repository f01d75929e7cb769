"""Classification trees."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn import tree as peer
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin
from sklearn.utils import metadata_routing
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._sklearn import Interval, StrOptions, fit_context
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.tree._base import TreeMixin
from sklearn_sl.tree._growing import fit_alone
from sklearn_sl.tree._paragraphs import inserted
from sklearn_sl.tree._training_set import read_classification
from sklearn_sl.tree._tree import node_labels

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike


@inserted
class ClassificationTreeMixin(TreeMixin):
    """Classes as targets: parameters, and what the nodes say of them."""

    classes_: np.ndarray
    n_classes_: int | np.ndarray

    _sklearn_class = peer.DecisionTreeClassifier
    # Not something to be passed around in a pipeline.
    __metadata_request__predict_proba = {"check_input": metadata_routing.UNUSED}
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
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def _losses(self, tree, nodes, values):
        """Return the losses of classes that end in nodes, one row of nodes for each of them."""
        labels = node_labels(tree, self._cost)[nodes]
        if self._cost is not None:
            return self._cost[values, labels[:, :, 0]]
        return np.mean(labels != values[:, None], axis=2)

    def _codes(self, X):
        """Return the classes of numbers of a single output, as indices into ``classes_``."""
        return node_labels(self.tree_, self._cost)[:, 0].take(self.tree_._leaves(X))

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

    def predict_proba(self, X: MatrixLike, check_input: bool = True) -> np.ndarray:
        """Return the shares of the classes in the leaves of samples.

        Parameters
        ----------
        {X}

        {check_input}

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes) or list of n_outputs such arrays
            The shares, classes in the order of ``classes_``.
        """
        check_is_fitted(self)
        leaves = self.tree_._leaves(self._query(X, check_input), effective_n_jobs(self.n_jobs))
        shares = self.tree_.value.take(leaves, axis=0)
        if self.n_outputs_ == 1:
            return shares[:, 0]
        return [shares[:, output, :n] for output, n in enumerate(self.n_classes_)]

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

    def to_sklearn(self) -> Self:
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
            raise ValueError(
                "to_sklearn needs cost_matrix=None: scikit-learn's trees predict the majority "
                "class."
            )
        model = super().to_sklearn()
        model.classes_, model.n_classes_ = self.classes_, self.n_classes_
        return model


@peer.DecisionTreeClassifier.register
@inserted
class DecisionTreeClassifier(
    EstimatorMixin, ClassificationTreeMixin, MultiOutputMixin, ClassifierMixin, BaseEstimator
):
    """Classification tree (CART), grown on columns that are sorted once.

    A node of ``W`` weight with the shares ``p_k`` of the classes has the impurity ``sum_k p_k (1 -
    p_k)`` (Gini) or ``-sum_k p_k log2 p_k`` (entropy). It is split by the feature and threshold for
    which ``W impurity - W_left impurity_left - W_right impurity_right`` is largest: of equal splits
    by the first feature, at the lowest threshold. The search sums integers, so that the tree does
    not depend on the order of the rows, on the number of threads, or on whether a sample is
    repeated or has an integer weight. Values and thresholds are compared in float64.

    Weakest-link pruning finds the subtree of least ``risk + alpha * leaves`` for every ``alpha`` at
    once, see ``ccp_path_`` and :meth:`prune`.

    The parameters, methods and attributes are those of
    :class:`sklearn.tree.DecisionTreeClassifier`, and more.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        The impurity: the Gini index, or the entropy in bits, which has two names.

    {growth}

    class_weight : dict, list of dict or "balanced", default=None
        Weights of the classes; "balanced" gives all classes the same total. For several outputs a
        list, one entry for each.

    ccp_alpha : non-negative float, default=0.0
        Complexity parameter of minimal cost-complexity pruning, the price of a leaf; zero is no
        pruning. See :meth:`prune` for pruning after the fit.

    {monotonic_cst}

    risk : {"impurity", "misclassification"}, default="impurity"
        What pruning weighs against the number of leaves: the impurity, as in scikit-learn, or the
        misclassification rate (the mean cost if there is a ``cost_matrix``), as in CART and rpart.

    {categorical_features}

    {surrogates_and_competitors}

    priors : dict or array-like of shape (n_classes,), default=None
        The prior probabilities of the classes, by label or in the order of ``classes_``; None
        are their shares of the weight. Excludes ``class_weight``.

    cost_matrix : array-like of shape (n_classes, n_classes), default=None
        The cost of predicting the class of the column for a sample of the class of the row. Leaves
        predict the class of the least mean cost, and the splits count each class by the sum of
        its row, the altered priors of CART.

    {tree_n_jobs}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,) or list of ndarray
        The classes; those of each output if there are several.

    n_classes_ : int or ndarray of int
        The number of classes, or of those of each output.

    {tree_attributes}

    {importances}

    {categories_learned}

    {features_in}

    See Also
    --------
    sklearn.tree.DecisionTreeClassifier : The tree of scikit-learn, in single precision.
    DecisionTreeClassifierCV : Chooses the size by cross-validation.
    DecisionTreeRegressor : For numbers as targets.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen and C. Stone, "Classification and Regression Trees",
       Wadsworth, 1984.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_sl.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DecisionTreeClassifier().fit(X, y)
    >>> model.ccp_path_.n_leaves  # the sizes of the subtrees worth having
    array([9, 7, 5, 4, 3, 2, 1])
    >>> small = model.prune(n_leaves=3)  # a new tree; nothing is grown again
    >>> small.get_n_leaves(), round(small.score(X, y), 2)
    (3, 0.96)
    >>> from scipy.sparse import csr_array  # what is not stored is zero
    >>> sparse = DecisionTreeClassifier().fit(csr_array(X), y)
    >>> bool((sparse.tree_.threshold == model.tree_.threshold).all())  # the same tree
    True
    """

    # Not something to be passed around in a pipeline.
    __metadata_request__fit = {"check_input": metadata_routing.UNUSED}

    _parameter_constraints = {
        **ClassificationTreeMixin._parameter_constraints,
        "ccp_alpha": [Interval(Real, 0.0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        criterion: Literal["gini", "entropy", "log_loss"] = "gini",
        splitter: Literal["best", "random"] = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | Literal["sqrt", "log2"] | None = None,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: dict[Any, Any] | list[Any] | str | None = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: ArrayLike | None = None,
        risk: Literal["impurity", "misclassification"] = "impurity",
        categorical_features: ArrayLike | str = "from_dtype",
        surrogates: int = 0,
        competitors: int = 0,
        priors: dict[Any, Any] | ArrayLike | None = None,
        cost_matrix: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
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

    @fit_context(prefer_skip_nested_validation=True, limit_blas=False)
    def fit(
        self,
        X: MatrixLike,
        y: Any,
        sample_weight: ArrayLike | None = None,
        check_input: bool = True,
    ) -> Self:
        """Grow the tree.

        Parameters
        ----------
        {training_X}

        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Classes.

        {sample_weight}

        check_input : bool, default=True
            Has no effect: a fit always looks at its samples.

        Returns
        -------
        {fitted}
        """
        return fit_alone(self, *read_classification(self, X, y, sample_weight))
