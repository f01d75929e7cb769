"""What can be asked of the trees of the package: predictions, pruning, export."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.utils import Bunch, metadata_routing
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._sklearn import Interval, RealNotInt, StrOptions, make_sklearn_tree
from sklearn_sl._validation import validate_data
from sklearn_sl.tree._entries import as_numbers
from sklearn_sl.tree._paragraphs import inserted
from sklearn_sl.tree._path import pruning_path
from sklearn_sl.tree._training_set import categories_of, read_samples

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike, SparseLike


@inserted
class TreeMixin:
    """The parameters of a tree, and what can be asked of it once it is fitted.

    Hook: ``_answers(tree)`` returns what each node of a tree predicts.
    """

    tree_: Any
    max_features_: int
    n_outputs_: int
    is_categorical_: np.ndarray

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
        "monotonic_cst": ["array-like", None],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "surrogates": [Interval(Integral, 0, None, closed="left")],
        "competitors": [Interval(Integral, 0, None, closed="left")],
        "n_jobs": [Integral, None],
    }

    # ------------------------------------------------------------ what a fitted tree tells

    def get_depth(self) -> int:
        """Return the depth of the tree.

        Returns
        -------
        depth : int
            The largest number of splits between the root and a leaf.
        """
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves.

        Returns
        -------
        n_leaves : int
            The number of leaves of the tree.
        """
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def categories_(self) -> list[Any] | None:
        """The categories of each feature, in the order of their codes; None for a number."""
        return categories_of(self)

    @property
    def feature_importances_(self) -> np.ndarray:
        """By how much the splits of each feature reduce the impurity, as shares of one."""
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()

    @property
    def surrogate_importances_(self) -> np.ndarray:
        """The improvements by each feature, those as a surrogate in parts, as shares of one."""
        check_is_fitted(self)
        if not self.surrogates:
            raise AttributeError(
                "surrogate_importances_ is only available if surrogates > 0: set it and fit again."
            )
        return self.tree_.surrogate_importances()

    @property
    def ccp_path_(self) -> Any:
        """The subtrees of weakest-link pruning: ``alphas``, ``n_leaves`` and ``risks``."""
        check_is_fitted(self)
        return pruning_path(self._whole_tree)

    @property
    def _whole_tree(self):
        """The tree that pruning begins with."""
        return self.tree_

    def apply(self, X: MatrixLike, check_input: bool = True) -> np.ndarray:
        """Return the leaf that each sample ends in.

        Parameters
        ----------
        {X}

        {check_input}

        Returns
        -------
        leaves : ndarray of shape (n_samples,)
            The leaves as nodes of ``tree_``.
        """
        check_is_fitted(self)
        return self.tree_.apply(self._query(X, check_input), effective_n_jobs(self.n_jobs))

    def decision_path(self, X: MatrixLike, check_input: bool = True) -> SparseLike:
        """Return the nodes that each sample passes.

        Parameters
        ----------
        {X}

        {check_input}

        Returns
        -------
        indicator : sparse matrix of shape (n_samples, n_nodes)
            Ones, in CSR format, where a sample passes a node.
        """
        check_is_fitted(self)
        return self.tree_.decision_path(self._query(X, check_input), effective_n_jobs(self.n_jobs))

    def _query(self, X, check_input=True):
        """Return samples to be sent down the tree."""
        if check_input:
            return read_samples(self, X, reset=False)
        validate_data(self, X, reset=False, skip_check_array=True)  # counts the features
        return as_numbers(X)

    def predict(self, X: MatrixLike, check_input: bool = True) -> Any:
        """Predict the targets of samples.

        Parameters
        ----------
        {X}

        {check_input}

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The classes or means of their leaves.
        """
        check_is_fitted(self)
        leaves = self.tree_._leaves(self._query(X, check_input), effective_n_jobs(self.n_jobs))
        return self._answers(self.tree_).take(leaves, axis=0)

    # ------------------------------------------------------------ pruning

    def prune(self, alpha: float | None = None, *, n_leaves: int | None = None) -> Any:
        """Return the tree pruned back, without growing it again.

        Parameters
        ----------
        alpha : float, default=None
            Complexity parameter, the price of a leaf: the tree that minimises ``risk + alpha *
            leaves``, the smallest one if there are several.

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
            raise ValueError(
                "prune needs exactly one of alpha and n_leaves: leave the other one None."
            )
        if n_leaves is not None:
            alpha = self._alpha_of(n_leaves)
        if not alpha >= 0:
            raise ValueError(f"alpha must be >= 0, got {alpha!r}.")
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
            raise ValueError(f"n_leaves must be an int >= 1, got {n_leaves!r}.")
        path = self.ccp_path_
        return float(path.alphas[np.flatnonzero(path.n_leaves <= n_leaves)[0]])

    def predict_path(self, X: MatrixLike, alphas: ArrayLike | None = None) -> Any:
        """Predict with the trees pruned at several ``alphas``, by one descent.

        Parameters
        ----------
        {X}

        alphas : array-like of shape (n_alphas,), default=None
            Complexity parameters; None is ``ccp_path_.alphas``.

        Returns
        -------
        predictions : ndarray of shape (n_alphas, n_samples) or (n_alphas, n_samples, n_outputs)
            Row ``k`` is what ``prune(alphas[k])`` predicts.
        """
        check_is_fitted(self)
        alphas = self.ccp_path_.alphas if alphas is None else np.asarray(alphas, dtype=np.float64)
        if alphas.ndim != 1 or not np.all(alphas >= 0):
            raise ValueError("alphas must be a one-dimensional array of numbers >= 0.")
        order = np.argsort(alphas, kind="stable")
        nodes = self._whole_tree.apply_path(self._query(X), alphas[order]).T
        predictions = self._answers(self._whole_tree).take(nodes, axis=0)
        return predictions[np.argsort(order, kind="stable")]

    def cost_complexity_pruning_path(
        self, X: MatrixLike, y: Any, sample_weight: ArrayLike | None = None
    ) -> Any:
        """Grow a tree and return the path of its pruning, as scikit-learn does.

        A fitted tree has the path in ``ccp_path_``.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Training samples.

        {targets_y}

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

    def to_sklearn(self) -> Self:
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
            raise ValueError(
                "to_sklearn needs a tree without categorical splits, which scikit-learn's trees do "
                "not have: encode the categories as numbers before the fit."
            )
        if len(tree.surrogates):
            raise ValueError(
                "to_sklearn needs a tree without surrogate splits, which scikit-learn's trees do "
                "not have: fit with surrogates=0."
            )
        model = self._sklearn_class()
        known = model.get_params(deep=False)
        params = self.get_params(deep=False)
        model.set_params(**{name: params[name] for name in known if name in params})
        for name in ("n_features_in_", "feature_names_in_", "n_outputs_", "max_features_"):
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
        model.tree_ = make_sklearn_tree(tree)
        return model
