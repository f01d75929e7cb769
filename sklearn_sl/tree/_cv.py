"""Trees whose size is chosen by cross-validation over the whole pruning path."""

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import check_cv

from sklearn_sl._search import call_scorer
from sklearn_sl._sklearn import StrOptions, fit_context
from sklearn_sl._threads import in_order
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.tree._classify import ClassificationTreeMixin
from sklearn_sl.tree._path import pruning_path, sum_over_leaves
from sklearn_sl.tree._regress import RegressionTreeMixin

# Numbers of a table of samples and subtrees that are in memory at once.
TABLE = 2**21
# Errors that differ by less, relatively, are the same but for rounding.
SAME = 1e-9

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

    _parameter_constraints = {
        "cv": ["cv_object"],
        "rule": [StrOptions({"min", "1se"})],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
    }

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, groups=None):
        """Grow a tree on all samples and one on each fold, and choose how far to prune.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            Training samples; NaN is a missing value.

        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples; a sample of weight zero is as if it were not there.

        groups : array-like of shape (n_samples,), default=None
            Groups of samples, for a splitter that keeps them together.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        columns, target, tree = self._fit_tree(X, y, sample_weight, reuse=False)
        path = pruning_path(tree)
        folds = self._folds(y, sample_weight, groups)
        scores = self._cross_validate(columns, target, folds, path.midpoints)
        self.cp_table_ = cp_table(
            path,
            sum_over_leaves(tree, path.alphas, self._training_losses(tree, target)),
            np.sum([fold.loss for fold in scores], axis=0),
            np.sum([fold.squared_loss for fold in scores], axis=0),
            np.sum([fold.weight for fold in scores]),
        )
        chosen = self._choose(path, scores)
        self.alpha_ = float(min(path.midpoints[chosen], path.alphas[-1]))
        self.full_tree_, self.tree_ = tree, tree.prune(self.alpha_)
        return self

    @property
    def _whole_tree(self):
        return self.full_tree_

    def _folds(self, y, sample_weight, groups):
        """Return how often each used row trains, and which rows are tested, for each split."""
        y = np.asarray(y)
        used = np.arange(len(y)) if sample_weight is None else np.flatnonzero(sample_weight)
        place = np.full(len(y), -1)
        place[used] = np.arange(len(used))
        splitter = check_cv(self.cv, y, classifier=is_classifier(self))
        folds = []
        for train, test in splitter.split(np.empty((len(y), 1)), y, groups):
            trained, tested = place[train], place[test]
            tested = tested[tested >= 0]
            times = np.bincount(trained[trained >= 0], minlength=len(used))
            if not times.any():
                raise ValueError("A split trains on no sample of positive weight.")
            if len(tested):  # as if the rows of weight zero were not there
                folds.append((times, tested))
        if not folds:
            raise ValueError("No split tests on a sample of positive weight.")
        return folds

    def _cross_validate(self, columns, target, folds, alphas):
        """Return the :class:`FoldScores` of the trees pruned at ``alphas``."""
        scorer = None if self.scoring is None else get_scorer(self.scoring)

        def work(fold, over):
            times, tested = fold
            tree = self._grow(columns, target, times=times, watch=lambda done: over())
            return FoldScores(self, tree, columns.X, target, tested, alphas, scorer)

        return list(in_order(work, folds, min(effective_n_jobs(self.n_jobs), len(folds))))

    def _choose(self, path, scores):
        """Return which subtree has the best score, or is the smallest within a standard error."""
        if self.scoring is None:
            value, spread = -self.cp_table_["xerror"], self.cp_table_["xstd"]
            value, spread = value[::-1], spread[::-1]
            self.cv_scores_ = np.stack([-fold.loss / fold.weight for fold in scores], axis=1)
        else:
            self.cv_scores_ = np.stack([fold.scores for fold in scores], axis=1)
            value = self.cv_scores_.mean(axis=1)
            spread = self.cv_scores_.std(axis=1, ddof=1) / np.sqrt(len(scores))
        if not np.isfinite(value).any():
            raise ValueError("No subtree has a finite score.")
        best = np.nanmax(value)
        tie = value >= best - SAME * max(abs(best), SAME)
        chosen = np.flatnonzero(tie)[-1]
        if self.rule == "1se":
            chosen = np.flatnonzero(value >= value[chosen] - spread[chosen])[-1]
        self.best_score_ = float(self.cv_scores_[chosen].mean())
        if self.scoring is None:
            losses = np.sum([fold.loss for fold in scores], axis=0)[chosen]
            self.best_score_ = float(-losses / np.sum([fold.weight for fold in scores]))
        return chosen


class FoldScores:
    """What the held-out samples of a fold say of all subtrees.

    ``loss`` and ``squared_loss`` are weighted sums of losses for each subtree, ``weight`` is the
    weight of the samples, and ``scores`` are those of the scorer, if there is one.
    """

    def __init__(self, model, tree, X, target, tested, alphas, scorer):
        self.loss, self.squared_loss = np.zeros(len(alphas)), np.zeros(len(alphas))
        weight = np.ones(len(tested)) if target.own is None else target.own[tested]
        # A class counts in every loss of its samples.
        factor = np.ones(len(tested))
        if target.counted is not target.own:
            factor = target.counted[tested] / weight
        self.weight = weight.sum()
        for rows in blocks(len(tested), len(alphas)):
            some = tested[rows]
            nodes = tree.apply_path(np.ascontiguousarray(X[some]), alphas)
            losses = model._losses(tree, nodes, target.values[some]) * factor[rows, None]
            self.loss += weight[rows] @ losses
            self.squared_loss += weight[rows] @ losses**2
        if scorer is not None:
            self.scores = np.empty(len(alphas))
            self._score(model, tree, X[tested], target, tested, alphas, scorer)

    def _score(self, model, tree, X, target, tested, alphas, scorer):
        weight = None if target.own is None else target.own[tested]
        truth = model._decode(target.values[tested])
        for some in blocks(len(alphas), len(X)):
            nodes = tree.apply_path(X, alphas[some])
            for k in range(nodes.shape[1]):
                answers = model._answers_at(tree, nodes[:, k])
                self.scores[some.start + k] = call_scorer(scorer, answers, truth, weight)


def blocks(n, width):
    """Return slices of ``n`` rows of ``width`` numbers, each of them not too large."""
    height = max(1, TABLE // max(width, 1))
    return [slice(start, min(start + height, n)) for start in range(0, n, height)]


def cp_table(path, training_loss, loss, squared_loss, weight):
    """Return the table of rpart, the smallest tree first.

    The errors are relative to that of the root; ``xstd`` is the standard error of ``xerror``.
    """
    table = np.zeros(len(path.alphas), dtype=cp_dtype)
    root_risk, root_loss = path.risks[-1], training_loss[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        table["complexity"] = np.where(path.alphas == 0, 0.0, path.alphas / root_risk)
        table["n_splits"] = path.n_leaves - 1
        table["rel_error"] = training_loss / root_loss
        table["xerror"] = loss / root_loss
        spread = np.maximum(squared_loss - loss**2 / weight, 0)
        table["xstd"] = np.sqrt(spread) / root_loss
    return table[::-1]


class TreeAnswers(BaseEstimator):
    """Stands in for a tree before a scorer: it knows its predictions."""

    def __init__(self, predictions, shares=None, classes=None):
        self.predictions = predictions
        self.shares = shares
        self.classes = classes

    def predict(self, X):
        """Return the predictions, whatever ``X`` is."""
        return self.predictions


class RegressionAnswers(RegressorMixin, TreeAnswers):
    """The answers of a regression tree."""


class ClassAnswers(ClassifierMixin, TreeAnswers):
    """The answers of a classification tree."""

    @property
    def classes_(self):
        return self.classes

    def predict_proba(self, X):
        """Return the shares of the classes, whatever ``X`` is."""
        return self.shares


class DecisionTreeClassifierCV(
    EstimatorMixin, PruningSearchMixin, ClassificationTreeMixin, ClassifierMixin, BaseEstimator
):
    """CVCLASSDOC"""

    _parameter_constraints = {
        **ClassificationTreeMixin._parameter_constraints,
        **PruningSearchMixin._parameter_constraints,
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
        risk="impurity",
        cv=5,
        rule="min",
        scoring=None,
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

    def _decode(self, codes):
        """Return the classes of codes."""
        if codes.shape[1] == 1:
            return self.classes_[codes[:, 0]]
        return np.stack([names[code] for names, code in zip(self.classes_, codes.T)], axis=1)

    def _answers_at(self, tree, nodes):
        if tree.n_outputs > 1:
            return ClassAnswers(self._answers(tree)[nodes])
        return ClassAnswers(self._answers(tree)[nodes], tree.value[nodes, 0], self.classes_)


class DecisionTreeRegressorCV(
    EstimatorMixin, PruningSearchMixin, RegressionTreeMixin, RegressorMixin, BaseEstimator
):
    """CVREGDOC"""

    _parameter_constraints = {
        **RegressionTreeMixin._parameter_constraints,
        **PruningSearchMixin._parameter_constraints,
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
        cv=5,
        rule="min",
        scoring=None,
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
        self.cv = cv
        self.rule = rule
        self.scoring = scoring
        self.categorical_features = categorical_features
        self.surrogates = surrogates
        self.competitors = competitors
        self.n_jobs = n_jobs

    def _decode(self, values):
        return values[:, 0] if values.shape[1] == 1 else values

    def _answers_at(self, tree, nodes):
        return RegressionAnswers(self._answers(tree)[nodes])
