"""Decision stumps that minimise the weighted error."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_sl._sklearn import check_sample_weight, fit_context
from sklearn_sl.base import EstimatorMixin, read_labels
from sklearn_sl.ensemble import _rounds, _stumps
from sklearn_sl.ensemble._paragraphs import inserted
from sklearn_sl.ensemble._weights import BoostedWeights
from sklearn_sl.tree._growing import keep_tree
from sklearn_sl.tree._training_set import Target, TrainingSet, same_categories
from sklearn_sl.tree._tree import tree_of_one_split

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

NUMBERS = {"dtype": np.float64, "order": "C"}


@dataclass
class Found:
    """A stump: ``n_left`` cells of a feature get the class ``codes[0]``, the others ``codes[1]``.

    Without a feature all get ``codes[0]``. The masses of the classes are those of all samples, and
    of those on the left.
    """

    feature: int
    n_left: int
    threshold: float
    codes: tuple
    total: np.ndarray
    left: np.ndarray


class StumpSearch:
    """Finds the best stump under given masses of the samples, on columns that are sorted once.

    By the weighted error, or by the Gini impurity. Sums of masses must be exact. ``together(work)``
    returns ``work(features)`` of consecutive parts of the features.
    """

    def __init__(self, training_set, n_classes, by_error):
        self.X, self.cells = training_set.X, training_set.cells
        self.n_rows, self.n_features = self.X.shape
        self.n_classes, self.by_error = n_classes, by_error
        self.stumps = _stumps.Stumps(self.cells) if n_classes == 2 else None

    def best(self, codes, mass, together=None):
        """Return the best stump, the first one among equals."""
        find = self._best_of_two if self.n_classes == 2 else self._best_of_several
        return find(codes, mass, together or (lambda search: [search(range(self.n_features))]))

    def _best_of_two(self, codes, mass, together):
        is_second = codes == 1
        signed = np.where(is_second, mass, -mass)
        second = _rounds.weight_of(mass, is_second.view(np.uint8))
        total = np.array([mass.sum() - second, second])

        def search(features):
            found = np.zeros(1, dtype=_stumps.stump_dtype)
            found["feature"] = -1
            # A constant is not worse than a stump that gets no more right.
            found["score"] = abs(total[1] - total[0]) if self.by_error else -1.0
            part = features[0], features[-1] + 1
            self.stumps.search(signed, *total, self.by_error, *part, found)
            return found[0]

        best = max(together(search), key=lambda part: part["score"])  # the first one among equals
        feature = int(best["feature"])
        if feature < 0:
            code = int(total[1] > total[0])
            return Found(-1, self.n_rows, np.inf, (code, code), total, total)
        left = np.array([best["first_left"], best["second_left"]])
        right = total - left
        sides = int(left[1] > left[0]), int(right[1] > right[0])
        n_left = int(best["n_left"])
        return Found(feature, n_left, self.threshold(feature, n_left), sides, total, left)

    def _best_of_several(self, codes, mass, together):
        total = np.bincount(codes, mass, self.n_classes)
        codes = codes.astype(np.int32, copy=False)
        find = _stumps.search_classes_by_gini
        if self.by_error:
            find = _stumps.search_classes_by_error

        def search(features):
            found = np.zeros(1, dtype=_stumps.stump_dtype)
            found["feature"], found["score"] = -1, total.max() if self.by_error else -1.0
            part, left = (features[0], features[-1] + 1), np.empty(self.n_classes)
            find(self.cells, codes, mass, total, *part, left, found)
            return found[0]

        best = max(together(search), key=lambda part: part["score"])
        feature, n_left = int(best["feature"]), int(best["n_left"])
        if feature < 0:
            code = int(total.argmax())
            return Found(-1, self.n_rows, np.inf, (code, code), total, total)
        rows = self.rows(feature)[:n_left]
        left = np.bincount(codes[rows], mass[rows], self.n_classes)
        sides = int(left.argmax()), int((total - left).argmax())
        return Found(feature, n_left, self.threshold(feature, n_left), sides, total, left)

    def rows(self, feature):
        """Return the rows in the order of the values of a feature."""
        return self.cells[feature].astype(np.uint32)  # the low half

    def threshold(self, feature, n_left):
        """Return the middle between the values of two cells, unless rounding forbids."""
        neighbours = self.cells[feature, n_left - 1 : n_left + 1].astype(np.uint32)
        low, high = self.X[neighbours, feature]
        middle = low / 2 + high / 2
        return float(middle if low <= middle < high else low)

    def sides(self, found):
        """Return the code that a stump gives to each row."""
        codes = np.empty(self.n_rows, dtype=np.int8 if self.n_classes == 2 else np.int32)
        if found.feature < 0:
            codes[:] = found.codes[0]
        elif self.n_classes == 2:
            self.stumps.sides(found.feature, found.n_left, *found.codes, codes)
        else:
            codes[:] = found.codes[1]
            codes[self.rows(found.feature)[: found.n_left]] = found.codes[0]
        return codes


# ---------------------------------------------------------------- stumps of a boosting


class StumpFitter:
    """Samples that stumps of either kind are fitted to, again and again.

    ``helpers`` are threads that search some of the features.
    """

    def __init__(self, training_set, classes, codes, helpers=()):
        self.training_set, self.classes, self.codes = training_set, classes, codes
        self.X, self.helpers = training_set.X, helpers
        self.search = StumpSearch(training_set, len(classes), self.by_error)
        n_features = self.X.shape[1]
        self.parts = np.array_split(np.arange(n_features), min(1 + len(helpers), n_features))

    def fit(self, stump, weight, target=None):
        """Fit a stump; return its answers to the training samples, as codes."""
        codes = self.codes if target is None else target
        found = self.search.best(codes, weight, self._search_parts)
        self._settle(stump, weight, found)
        return self.search.sides(found)

    def _search_parts(self, search):
        """Return ``search(part)`` of all parts of the features, side by side."""
        first, *rest = self.parts
        others = [self.helpers.submit(search, part) for part in rest]
        return [search(first), *(other.result() for other in others)]

    def answers(self, stump):
        """Return what a fitted stump answers to the training samples."""
        return stump._codes(self.X)


class ErrorStumpFitter(StumpFitter):
    """Samples for :class:`DecisionStump`."""

    by_error = True

    def _settle(self, stump, weight, found):
        right = sum(
            side[code]
            for side, code in zip((found.left, found.total - found.left), found.codes, strict=True)
        )
        stump._settle(found, self.classes)
        stump.n_features_in_ = self.X.shape[1]
        stump.error_ = 1 - right / found.total.sum()
        stump.edge_ = 0.5 - stump.error_

    def knows(self, stump):
        """Return whether a stump of an earlier fit has learned the same features."""
        return stump.n_features_in_ == self.X.shape[1]


class GiniStumpFitter(StumpFitter):
    """Samples for trees with one split."""

    by_error = False

    def _settle(self, tree, weight, found):
        """Let a tree be the stump that was found."""
        learned = {"classes_": self.classes, "n_classes_": len(self.classes), "_cost": None}
        n_classes = np.array([len(self.classes)], dtype=np.intp)
        target = Target(self.codes[:, None], weight, n_classes=n_classes, learned=learned)
        grown = tree_of_one_split(found, target, self.X.shape[1], tree.risk)
        keep_tree(tree, self.training_set, target, grown)

    def knows(self, tree):
        """Return whether a tree of an earlier fit has learned the same features."""
        return tree.n_features_in_ == self.X.shape[1] and same_categories(
            tree, self.training_set.reader
        )


def is_stump(tree, training_set):
    """Return whether trees are two leaves, found by the Gini impurity among all stumps."""
    return (
        training_set.entries is None
        and not training_set.has_missing
        and not training_set.n_categories.any()
        and (tree.max_depth == 1 or tree.max_leaf_nodes == 2)
        and tree.criterion == "gini"
        and tree.splitter == "best"
        and tree.max_features is None
        and tree.min_samples_split == 2
        and tree.min_samples_leaf == 1
        and tree.min_weight_fraction_leaf == 0
        and tree.min_impurity_decrease == 0
        and tree.ccp_alpha == 0
        and tree.surrogates == tree.competitors == 0
        and tree.class_weight is tree.priors is tree.cost_matrix is None
    )


# ---------------------------------------------------------------- the estimator


@inserted
class DecisionStump(EstimatorMixin, ClassifierMixin, BaseEstimator):
    """Decision stump: one feature, one threshold, a class on either side.

    Minimises the weighted error ``sum_i w_i [h(x_i) != y_i] / sum_i w_i`` over all stumps::

        h(x) = left_class if x[feature] <= threshold else right_class

    With two classes these are the signed stumps ``s h_{j,z}`` and the constants. The columns are
    sorted, ``O(d n log n)``; the search is one pass, ``O(d n)``, and in a boosting
    (:class:`AdaBoostClassifier`) only the pass is repeated. Of equal stumps the first feature wins,
    and in it the lowest threshold; a constant wins against a stump that is no better.

    A :class:`~sklearn_sl.tree.DecisionTreeClassifier` of depth one minimises the Gini impurity
    instead, as scikit-learn's does: that stump may have a larger error than this one.

    Parameters
    ----------
    n_jobs : int, default=None
        The threads that sort the columns; None is one unless in a :obj:`joblib.parallel_backend`
        context.

    Attributes
    ----------
    feature_ : int
        The feature; -1 if the stump is constant.

    threshold_ : float
        Values up to the threshold have ``left_class_``; infinite if the stump is constant.

    left_class_, right_class_ : object
        The classes of the two sides.

    error_ : float
        The weighted training error.

    edge_ : float
        By how much the stump is better than a coin, ``1/2 - error_``.

    {classes_attribute}

    {boosted_features_in}

    See Also
    --------
    AdaBoostClassifier : Boosts stumps.
    SubstringStump : A stump on strings.

    References
    ----------
    .. [1] W. Iba and P. Langley, "Induction of one-level decision trees", Proc. 9th International
       Conference on Machine Learning, 1992.

    Examples
    --------
    >>> from sklearn_sl.ensemble import DecisionStump
    >>> X = [[1, 5], [2, 3], [3, 2], [4, 6], [4, 7], [5, 9], [6, 5], [6, 7], [8, 5], [8, 8]]
    >>> y = [1, 1, -1, -1, 1, 1, -1, 1, -1, -1]
    >>> stump = DecisionStump().fit(X, y)
    >>> stump.feature_, stump.threshold_, round(stump.error_, 2)
    (0, 2.5, 0.3)
    """

    feature_: int
    threshold_: float
    left_class_: Any
    right_class_: Any
    error_: float
    edge_: float
    classes_: np.ndarray

    _parameter_constraints = {"n_jobs": [Integral, None]}

    def __init__(self, *, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # two answers may be too few
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the stump of least weighted error.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.

        {class_y}

        {sample_weight}

        Returns
        -------
        {fitted}
        """
        X, y = validate_data(self, X, read_labels(y), **NUMBERS)
        check_classification_targets(y)
        weight = check_sample_weight(sample_weight, X, dtype=np.float64)
        if weight is not None and not weight.all():
            X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
        classes, codes = np.unique(y, return_inverse=True)
        weights = BoostedWeights(weight, len(y))
        training_set = TrainingSet(X, n_threads=effective_n_jobs(self.n_jobs))
        search = StumpSearch(training_set, len(classes), by_error=True)
        self._settle(search.best(codes, weights.mass), classes)
        self.error_ = weights.share(self._codes(X) != codes)
        self.edge_ = 0.5 - self.error_
        return self

    def _settle(self, found, classes):
        """Let the stump be the one that was found."""
        self.classes_ = classes
        self.feature_, self.threshold_ = found.feature, found.threshold
        self._side_codes = found.codes
        self.left_class_, self.right_class_ = classes[list(found.codes)]

    def _goes_left(self, X):
        if self.feature_ < 0:
            return np.ones(len(X), dtype=bool)
        return X[:, self.feature_] <= self.threshold_

    def _codes(self, X):
        """Return the classes of validated samples, as indices into ``classes_``."""
        return np.where(self._goes_left(X), *self._side_codes)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the classes of samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        {returned_classes}
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **NUMBERS)
        return self.classes_.take(self._codes(X))
