"""Regression trees."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from scipy.special import xlogy
from sklearn import tree as peer
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import metadata_routing

from sklearn_sl._sklearn import Interval, StrOptions, fit_context
from sklearn_sl._warnings import warn
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.tree._base import TreeMixin
from sklearn_sl.tree._growing import fit_alone
from sklearn_sl.tree._paragraphs import inserted
from sklearn_sl.tree._training_set import read_regression

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike


def valid_criterion(criterion):
    """Return the criterion, or the one that has taken its place, with scikit-learn's warning."""
    if not (isinstance(criterion, str) and criterion == "friedman_mse"):
        return criterion
    warn(
        'Value `"friedman_mse"` for `criterion` is deprecated and will be removed in 1.11. It maps '
        'to `"squared_error"` as both were always equivalent. Use `criterion="squared_error"` to '
        "remove this warning.",
        FutureWarning,
    )
    return "squared_error"


class RegressionTreeMixin(TreeMixin):
    """Numbers as targets."""

    _sklearn_class = peer.DecisionTreeRegressor
    _parameter_constraints = {
        **TreeMixin._parameter_constraints,
        "criterion": [StrOptions({"squared_error", "absolute_error", "poisson"})],
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags

    def _answers(self, tree):
        return tree.value[:, 0, 0] if tree.n_outputs == 1 else tree.value[:, :, 0]

    def _losses(self, tree, nodes, values):
        """Return the losses of targets that end in nodes, one row of nodes for each target."""
        means, values = tree.value[nodes, :, 0], values[:, None]
        if self.criterion == "poisson":
            return np.mean(xlogy(values, values / means) - values + means, axis=2)
        if self.criterion == "absolute_error":
            return np.mean(np.abs(values - means), axis=2)
        return np.mean((values - means) ** 2, axis=2)


@peer.DecisionTreeRegressor.register
@inserted
class DecisionTreeRegressor(
    EstimatorMixin, RegressionTreeMixin, MultiOutputMixin, RegressorMixin, BaseEstimator
):
    """Regression tree (CART), grown on columns that are sorted once.

    A node of ``W`` weight and mean target ``c`` has the impurity ``sum_i w_i (y_i - c)**2 / W``, or
    ``sum_i w_i y_i log(y_i / c) / W`` for the Poisson deviance, or, with the median ``c``, ``sum_i
    w_i |y_i - c| / W`` for the absolute error. It is split by the feature and
    threshold for which ``W impurity - W_left impurity_left - W_right impurity_right`` is largest:
    of equal splits by the first feature, at the lowest threshold. The search sums integers, the
    targets in small units of the node's range, so that the splits do not depend on the order of
    the rows, on the number of threads, or on whether a sample is repeated or has an integer
    weight. Values and thresholds are compared in float64.

    Weakest-link pruning finds the subtree of least ``risk + alpha * leaves`` for every ``alpha`` at
    once, see ``ccp_path_`` and :meth:`prune`.

    The parameters, methods and attributes are those of
    :class:`sklearn.tree.DecisionTreeRegressor`, and more.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        The impurity: the variance, the mean absolute deviation from the median, which nodes then
        predict, or half the mean Poisson deviance, for targets that are not negative.

    {growth}

    ccp_alpha : non-negative float, default=0.0
        Complexity parameter of minimal cost-complexity pruning, the price of a leaf; zero is no
        pruning. See :meth:`prune` for pruning after the fit.

    {monotonic_cst}

    {categorical_features}

    {surrogates_and_competitors}

    {tree_n_jobs}

    Attributes
    ----------
    {tree_attributes}

    {importances}

    {categories_learned}

    {features_in}

    See Also
    --------
    sklearn.tree.DecisionTreeRegressor : The tree of scikit-learn, in single precision.
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
    }

    def __init__(
        self,
        *,
        criterion: Literal["squared_error", "absolute_error", "poisson"] = "squared_error",
        splitter: Literal["best", "random"] = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | Literal["sqrt", "log2"] | None = None,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: ArrayLike | None = None,
        categorical_features: ArrayLike | str = "from_dtype",
        surrogates: int = 0,
        competitors: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = valid_criterion(criterion)
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

        {targets_y}

        {sample_weight}

        check_input : bool, default=True
            Has no effect: a fit always looks at its samples.

        Returns
        -------
        {fitted}
        """
        return fit_alone(self, *read_regression(self, X, y, sample_weight))

    def _compute_partial_dependence_recursion(self, grid, target_features):
        """Return what scikit-learn's partial_dependence asks of a tree."""
        return self.to_sklearn()._compute_partial_dependence_recursion(grid, target_features)
