"""Trees whose size is chosen by cross-validation over the whole pruning path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn import tree as peer
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MultiOutputMixin,
    RegressorMixin,
    is_classifier,
)
from sklearn.metrics import get_scorer, get_scorer_names

from sklearn_sl._folds import splits_of
from sklearn_sl._scoring import KnownClassifier, KnownRegressor, score_of
from sklearn_sl._sklearn import StrOptions, fit_context
from sklearn_sl._threads import in_order
from sklearn_sl.base import EstimatorMixin, as_label_array
from sklearn_sl.tree._classify import ClassificationTreeMixin
from sklearn_sl.tree._growing import draw_seed, grow, grow_with_callbacks, keep_tree, rules_of
from sklearn_sl.tree._paragraphs import inserted
from sklearn_sl.tree._path import pruning_path, sum_over_leaves
from sklearn_sl.tree._regress import RegressionTreeMixin
from sklearn_sl.tree._training_set import read_classification, read_regression
from sklearn_sl.tree._tree import training_losses

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_sl._typing import ArrayLike, MatrixLike

# Numbers of a table of samples and subtrees that are in memory at once.
TABLE = 2**20
# Errors that differ by less, relatively, are the same but for rounding.
SAME = 1e-9


class CpTable(np.ndarray):
    """The table of rpart: a structured array that prints with the names of its columns."""

    def to_frame(self):
        """Return the table as a :class:`pandas.DataFrame`."""
        import pandas as pd

        return pd.DataFrame({name: np.asarray(self[name]) for name in self.dtype.names})

    def __repr__(self):
        if self.dtype.names is None or self.ndim != 1:
            return np.asarray(self).__repr__()
        columns = [[name, *(f"{entry:.5g}" for entry in self[name])] for name in self.dtype.names]
        widths = [max(map(len, column)) for column in columns]
        rows = list(zip(*columns, strict=True))
        if len(rows) > 2 * EDGE + 1:
            rows = [*rows[: EDGE + 1], ["..."] * len(widths), *rows[-EDGE:]]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in rows
        )

    __str__ = __repr__


EDGE = 15  # rows at either end of a table that is printed


class CpTableAttribute:
    """The attribute ``cp_table_``: kept as a plain array, given as a :class:`CpTable`."""

    def __get__(self, model, owner=None):
        if model is None:
            return self
        if "cp_table_" not in vars(model):
            raise AttributeError("cp_table_ is only available after fit.")
        return vars(model)["cp_table_"].view(CpTable)

    def __set__(self, model, table):
        vars(model)["cp_table_"] = np.asarray(table)


cp_dtype = np.dtype(
    [
        ("complexity", np.float64),
        ("n_splits", np.int64),
        ("rel_error", np.float64),
        ("xerror", np.float64),
        ("xstd", np.float64),
    ]
)


class PruningSearchMixin:
    """The choice of a subtree: the parameters ``cv``, ``rule`` and ``scoring``."""

    tree_: Any
    alpha_: float
    best_score_: float
    cp_table_: Any = CpTableAttribute()
    cv_scores_: np.ndarray
    full_tree_: Any

    _parameter_constraints = {
        "cv": ["cv_object"],
        "rule": [StrOptions({"min", "1se"})],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
    }

    def _search(self, training_set, target, y, sample_weight, groups):
        """Grow a tree on all samples and one on each fold, and choose how far to prune."""
        n_features = training_set.X.shape[1]
        rules = rules_of(self, training_set, target)
        seed = draw_seed(rules, self.random_state, n_features)
        tree = grow_with_callbacks(self, training_set, target, rules, seed)
        keep_tree(self, training_set, target, tree)
        path = pruning_path(tree)
        folds = self._folds(y, sample_weight, groups)
        scores = self._cross_validate(training_set, target, rules, seed, folds, path.midpoints)
        self.cp_table_ = cp_table(
            path,
            sum_over_leaves(tree, path.alphas, training_losses(tree, target)),
            np.sum([fold.loss for fold in scores], axis=0),
            np.sum([fold.squared_loss for fold in scores], axis=0),
            np.sum([fold.weight for fold in scores]),
        )
        self._fold_weights = np.array([fold.weight for fold in scores])
        chosen = self._choose(scores)
        self.alpha_ = float(min(path.midpoints[chosen], path.alphas[-1]))
        self.full_tree_, self.tree_ = tree, tree.prune(self.alpha_)
        return self

    @property
    def _whole_tree(self):
        return self.full_tree_

    def prune(self, alpha: float | None = None, *, n_leaves: int | None = None) -> Any:
        """Return the tree pruned otherwise than cross-validation says, without another fit.

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
            A new fitted estimator, with the ``alpha_`` and the cross-validated ``best_score_`` of
            its tree; this one stays as it is.
        """
        pruned = super().prune(alpha, n_leaves=n_leaves)
        alphas = self.ccp_path_.alphas
        pruned.alpha_ = float(self._alpha_of(n_leaves) if alpha is None else alpha)
        pruned.best_score_ = self._mean_score(
            np.searchsorted(alphas, pruned.alpha_, side="right") - 1
        )
        return pruned

    def _mean_score(self, subtree):
        """Return the score of a subtree over all folds; losses count by the weight of the fold."""
        weight = self._fold_weights if self.scoring is None else None
        return float(np.average(self.cv_scores_[subtree], weights=weight))

    def _folds(self, y, sample_weight, groups):
        """Return how often each used row trains, and which rows are tested, for each split."""
        y = as_label_array(y)
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        used = np.flatnonzero(np.broadcast_to(weight, len(y)))
        place = np.full(len(y), -1)
        place[used] = np.arange(len(used))
        X, folds = np.empty((len(y), 1)), []
        splits = splits_of(self.cv, X, y, used, classifier=is_classifier(self), groups=groups)
        for train, test in splits:
            trained, tested = place[train], place[test]
            tested = tested[tested >= 0]
            times = np.bincount(trained[trained >= 0], minlength=len(used))
            if not times.any():
                raise ValueError(
                    "cv has a split without training samples of positive sample_weight: use fewer "
                    "folds, or folds that spread these samples."
                )
            if len(tested):  # as if the rows of weight zero were not there
                folds.append((times, tested))
        if not folds:
            raise ValueError(
                "cv has no split that tests on samples of positive sample_weight: choose other "
                "folds."
            )
        return folds

    def _cross_validate(self, training_set, target, rules, seed, folds, alphas):
        """Return the :class:`FoldScores` of the trees pruned at ``alphas``."""
        scorer = None if self.scoring is None else get_scorer(self.scoring)

        def work(fold, over):
            times, tested = fold
            tree = grow(training_set, target, rules, seed, times=times, watch=lambda done: over())
            return FoldScores(self, tree, training_set.X, target, tested, alphas, scorer, over)

        return list(in_order(work, folds, min(effective_n_jobs(self.n_jobs), len(folds))))

    def _choose(self, scores):
        """Return which subtree has the best score, or is the smallest within a standard error."""
        if self.scoring is None:
            table = self.cp_table_[::-1]  # the largest tree first, like the scores
            value, spread = -table["xerror"], table["xstd"]
            self.cv_scores_ = np.stack([-fold.loss / fold.weight for fold in scores], axis=1)
        else:
            self.cv_scores_ = np.stack([fold.scores for fold in scores], axis=1)
            value = self.cv_scores_.mean(axis=1)
            spread = np.zeros(len(value))  # unknown for a single fold
            if len(scores) > 1:
                spread = self.cv_scores_.std(axis=1, ddof=1) / np.sqrt(len(scores))
        if not np.isfinite(value).any():
            raise ValueError(
                "scoring gave no finite score for any subtree: choose another scorer, or fewer "
                "folds."
            )
        best = np.nanmax(value)
        tie = value >= best - SAME * max(abs(best), SAME)
        chosen = np.flatnonzero(tie)[-1]
        if self.rule == "1se":
            chosen = np.flatnonzero(value >= value[chosen] - spread[chosen])[-1]
        self.best_score_ = self._mean_score(chosen)
        return chosen


class FoldScores:
    """What the held-out samples of a fold say of all subtrees.

    ``loss`` and ``squared_loss`` are weighted sums of losses for each subtree, ``weight`` is the
    weight of the samples, and ``scores`` are those of the scorer, if there is one. Once ``over()``
    is true nobody wants to know them any more.
    """

    def __init__(self, model, tree, X, target, tested, alphas, scorer, over):
        self.loss, self.squared_loss = np.zeros(len(alphas)), np.zeros(len(alphas))
        weight = np.ones(len(tested)) if target.own is None else target.own[tested]
        # A class counts in every loss of its samples.
        factor = np.ones(len(tested))
        if target.counted is not target.own:
            factor = target.counted[tested] / weight
        self.weight = weight.sum()
        for rows in blocks(len(tested), len(alphas)):
            if over():
                return
            some = tested[rows]
            nodes = tree.apply_path(X[some], alphas)
            losses = model._losses(tree, nodes, target.values[some]) * factor[rows, None]
            self.loss += weight[rows] @ losses
            self.squared_loss += weight[rows] @ losses**2
        if scorer is not None:
            self.scores = np.empty(len(alphas))
            self._score(model, tree, X[tested], target, tested, alphas, scorer, over)

    def _score(self, model, tree, X, target, tested, alphas, scorer, over):
        weight = None if target.own is None else target.own[tested]
        truth = model._decode(target.values[tested])
        for some in blocks(len(alphas), X.shape[0]):
            nodes = tree.apply_path(X, alphas[some])
            for k in range(nodes.shape[1]):
                if over():
                    return
                known = model._known_at(tree, nodes[:, k])
                self.scores[some.start + k] = score_of(scorer, known, truth, weight)


def blocks(n, width):
    """Return slices of ``n`` rows of ``width`` numbers, each of them not too large."""
    height = max(1, TABLE // max(width, 1))
    return [slice(start, min(start + height, n)) for start in range(0, n, height)]


def cp_table(path, training_loss, loss, squared_loss, weight):
    """Return the table of rpart, the smallest tree first.

    The errors are relative to that of the root; ``xstd`` is the standard error of ``xerror``.
    """
    table = np.zeros(len(path.alphas), dtype=cp_dtype)
    # Where the root makes no error there is nothing to relate errors to.
    root_risk, root_loss = path.risks[-1] or 1.0, training_loss[-1] or 1.0
    table["complexity"] = path.alphas / root_risk
    table["n_splits"] = path.n_leaves - 1
    table["rel_error"] = training_loss / root_loss
    table["xerror"] = loss / root_loss
    table["xstd"] = np.sqrt(np.maximum(squared_loss - loss**2 / weight, 0)) / root_loss
    return table[::-1]


@peer.DecisionTreeClassifier.register
@inserted
class DecisionTreeClassifierCV(
    EstimatorMixin,
    PruningSearchMixin,
    ClassificationTreeMixin,
    MultiOutputMixin,
    ClassifierMixin,
    BaseEstimator,
):
    """Classification tree with its size chosen by cross-validation.

    One tree is grown on all samples, and one on each training fold, of columns that are sorted
    once. The subtrees of weakest-link pruning are the candidates; on a fold the one that belongs
    to candidate ``k`` is its tree pruned at the geometric mean of the interval of ``alpha`` for
    which candidate ``k`` is best (CART, rpart). All subtrees of a fold are scored by one descent
    of its held-out samples. The candidate that ``rule`` says is the fitted tree.

    The error is the misclassification rate, or the mean cost with a ``cost_matrix``. With
    ``risk="misclassification"`` the table of candidates, ``cp_table_``, is that of R's rpart.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        The impurity: the Gini index, or the entropy in bits, which has two names.

    {growth}

    {monotonic_cst}

    class_weight : dict, list of dict or "balanced", default=None
        Weights of the classes; "balanced" gives all classes the same total. For several outputs a
        list, one entry for each.

    risk : {"impurity", "misclassification"}, default="impurity"
        What pruning weighs against the number of leaves: the impurity, as in scikit-learn, or the
        misclassification rate (the mean cost if there is a ``cost_matrix``), as in CART and rpart.

    cv : int, cross-validation generator or an iterable, default=None
        How to split the samples into folds, as in
        :class:`~sklearn.model_selection.GridSearchCV`, but for the default: None is five folds of
        shuffled samples, whatever their order, stratified if the target has classes.

    rule : {"min", "1se"}, default="min"
        Which subtree to choose: the one of the least cross-validated error, or the smallest one
        whose error is within one standard error of the least.

    scoring : str or callable, default=None
        A scorer whose mean over the folds decides instead of the error, and whose standard error
        is that of this mean. It is called once for each subtree and fold, which takes longer than
        all the rest. ``cp_table_`` has the errors all the same.

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
    alpha_ : float
        The complexity parameter at which the tree is pruned.

    best_score_ : float
        The cross-validated score of the chosen subtree: that of the scorer, averaged over the
        folds, or else minus the mean loss of the held-out samples.

    cp_table_ : structured ndarray of shape (n_subtrees,)
        The table of rpart, the smallest tree first; ``cp_table_.to_frame()`` is a data frame. Its
        columns are ``complexity``, the least ``alpha`` of the subtree over the risk of the root;
        ``n_splits``; ``rel_error``, the error on the training set; ``xerror``, that on the
        held-out samples, and ``xstd``, its standard error. Errors are relative to that of the root.

    cv_scores_ : ndarray of shape (n_subtrees, n_folds)
        The scores of all subtrees of ``ccp_path_``, the largest first, on each fold.

    full_tree_ : Tree
        The tree before pruning, to which :meth:`prune`, :meth:`predict_path` and ``ccp_path_``
        refer.

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
    DecisionTreeClassifier : The tree itself.
    sklearn_sl.inspection.PruningPathDisplay : A picture of the table.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen and C. Stone, "Classification and Regression Trees",
       Wadsworth, 1984.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn_sl.tree import DecisionTreeClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = DecisionTreeClassifierCV(rule="1se").fit(X, y)
    >>> model.get_n_leaves()
    6
    >>> model.cp_table_[["n_splits", "xerror"]][:3].tolist()  # relative to the root alone
    [(0, 1.0), (1, 0.278...), (2, 0.202...)]
    >>> model.prune(n_leaves=4).get_n_leaves()  # another size, without another fit
    4
    """

    _parameter_constraints = {
        **ClassificationTreeMixin._parameter_constraints,
        **PruningSearchMixin._parameter_constraints,
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
        monotonic_cst: ArrayLike | None = None,
        class_weight: dict[Any, Any] | list[Any] | str | None = None,
        risk: Literal["impurity", "misclassification"] = "impurity",
        cv: Any = None,
        rule: Literal["min", "1se"] = "min",
        scoring: str | Callable[..., Any] | None = None,
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
        self.monotonic_cst = monotonic_cst
        self.class_weight = class_weight
        self.risk = risk
        self.cv = cv
        self.rule = rule
        self.scoring = scoring
        self.categorical_features = categorical_features
        self.surrogates = surrogates
        self.competitors = competitors
        self.priors = priors
        self.cost_matrix = cost_matrix
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: MatrixLike,
        y: Any,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Grow a tree on all samples and one on each fold, and choose how far to prune.

        Parameters
        ----------
        {training_X}

        {targets_y}

        {sample_weight}

        groups : array-like of shape (n_samples,), default=None
            Groups of samples, for a splitter that keeps them together.

        Returns
        -------
        {fitted}
        """
        training_set, target = read_classification(self, X, y, sample_weight)
        return self._search(training_set, target, y, sample_weight, groups)

    def _decode(self, codes):
        """Return the classes of codes."""
        if codes.shape[1] == 1:
            return self.classes_[codes[:, 0]]
        return np.stack([names[code] for names, code in zip(self.classes_, codes.T)], axis=1)

    def _known_at(self, tree, nodes):
        shares = tree.value[nodes]
        shares = shares[:, 0] if tree.n_outputs == 1 else list(shares.swapaxes(0, 1))
        return KnownClassifier(self._answers(tree)[nodes], self.classes_, probabilities=shares)


@peer.DecisionTreeRegressor.register
@inserted
class DecisionTreeRegressorCV(
    EstimatorMixin,
    PruningSearchMixin,
    RegressionTreeMixin,
    MultiOutputMixin,
    RegressorMixin,
    BaseEstimator,
):
    """Regression tree with its size chosen by cross-validation.

    One tree is grown on all samples, and one on each training fold, of columns that are sorted
    once. The subtrees of weakest-link pruning are the candidates; on a fold the one that belongs
    to candidate ``k`` is its tree pruned at the geometric mean of the interval of ``alpha`` for
    which candidate ``k`` is best (CART, rpart). All subtrees of a fold are scored by one descent
    of its held-out samples. The candidate that ``rule`` says is the fitted tree.

    The error is that of the criterion: the squared or absolute error, or the Poisson deviance. The
    table of candidates, ``cp_table_``, is that of R's rpart.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        The impurity: the variance, the mean absolute deviation from the median, which nodes then
        predict, or half the mean Poisson deviance, for targets that are not negative.

    {growth}

    {monotonic_cst}

    cv : int, cross-validation generator or an iterable, default=None
        How to split the samples into folds, as in
        :class:`~sklearn.model_selection.GridSearchCV`, but for the default: None is five folds of
        shuffled samples, whatever their order, stratified if the target has classes.

    rule : {"min", "1se"}, default="min"
        Which subtree to choose: the one of the least cross-validated error, or the smallest one
        whose error is within one standard error of the least.

    scoring : str or callable, default=None
        A scorer whose mean over the folds decides instead of the error, and whose standard error
        is that of this mean. It is called once for each subtree and fold, which takes longer than
        all the rest. ``cp_table_`` has the errors all the same.

    {categorical_features}

    {surrogates_and_competitors}

    {tree_n_jobs}

    Attributes
    ----------
    alpha_ : float
        The complexity parameter at which the tree is pruned.

    best_score_ : float
        The cross-validated score of the chosen subtree: that of the scorer, averaged over the
        folds, or else minus the mean loss of the held-out samples.

    cp_table_ : structured ndarray of shape (n_subtrees,)
        The table of rpart, the smallest tree first; ``cp_table_.to_frame()`` is a data frame. Its
        columns are ``complexity``, the least ``alpha`` of the subtree over the risk of the root;
        ``n_splits``; ``rel_error``, the error on the training set; ``xerror``, that on the
        held-out samples, and ``xstd``, its standard error. Errors are relative to that of the root.

    cv_scores_ : ndarray of shape (n_subtrees, n_folds)
        The scores of all subtrees of ``ccp_path_``, the largest first, on each fold.

    full_tree_ : Tree
        The tree before pruning, to which :meth:`prune`, :meth:`predict_path` and ``ccp_path_``
        refer.

    {tree_attributes}

    {importances}

    {categories_learned}

    {features_in}

    See Also
    --------
    DecisionTreeRegressor : The tree itself.
    sklearn_sl.inspection.PruningPathDisplay : A picture of the table.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen and C. Stone, "Classification and Regression Trees",
       Wadsworth, 1984.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_sl.tree import DecisionTreeRegressorCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = DecisionTreeRegressorCV().fit(X, y)
    >>> len(model.cp_table_), model.get_n_leaves()  # candidates, and leaves of the best
    (270, 4)
    """

    _parameter_constraints = {
        **RegressionTreeMixin._parameter_constraints,
        **PruningSearchMixin._parameter_constraints,
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
        monotonic_cst: ArrayLike | None = None,
        cv: Any = None,
        rule: Literal["min", "1se"] = "min",
        scoring: str | Callable[..., Any] | None = None,
        categorical_features: ArrayLike | str = "from_dtype",
        surrogates: int = 0,
        competitors: int = 0,
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
        self.monotonic_cst = monotonic_cst
        self.cv = cv
        self.rule = rule
        self.scoring = scoring
        self.categorical_features = categorical_features
        self.surrogates = surrogates
        self.competitors = competitors
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: MatrixLike,
        y: Any,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Grow a tree on all samples and one on each fold, and choose how far to prune.

        Parameters
        ----------
        {training_X}

        {targets_y}

        {sample_weight}

        groups : array-like of shape (n_samples,), default=None
            Groups of samples, for a splitter that keeps them together.

        Returns
        -------
        {fitted}
        """
        training_set, target = read_regression(self, X, y, sample_weight)
        return self._search(training_set, target, y, sample_weight, groups)

    def _decode(self, values):
        return values[:, 0] if values.shape[1] == 1 else values

    def _known_at(self, tree, nodes):
        return KnownRegressor(self._answers(tree)[nodes])
