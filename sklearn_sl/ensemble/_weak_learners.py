"""How the members of a boosting are fitted, again and again, to the same samples.

A training set has ``fit(member, weight, target)``, which fits a member in place and returns what it
answers to the training samples: codes of classes, or numbers. The target, codes or numbers as well,
is that of the training set unless another one is given. Weak learners of the package share what
depends neither on weights nor on targets, such as sorted columns; any other estimator is fitted
anew each time.
"""

import copy

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array, validate_data

from sklearn_sl._threads import Helpers
from sklearn_sl.ensemble._members import rows_of
from sklearn_sl.ensemble._shared_trees import TreeSet, shares_columns
from sklearn_sl.ensemble._stump import DecisionStump, StumpSearch, sorted_columns
from sklearn_sl.ensemble._substring_stump import SubstringOrder, SubstringStump
from sklearn_sl.tree._base import Target
from sklearn_sl.tree._classify import node_labels
from sklearn_sl.tree._tree import (
    LEAF,
    UNDEFINED,
    Tree,
    competitor_dtype,
    set_risk,
    surrogate_dtype,
)

# Fewer cells are searched by one thread.
MANY = 200_000


def read_samples(ensemble, estimator, X, *, reset):
    """Return samples as members of this kind take them; the ensemble learns or checks their names.

    For trees these are numbers, with the codes of categories: in a fit as the trees will learn
    them, later as the fitted tree ``estimator`` did.
    """
    if shares_columns(estimator):
        if reset:
            if not hasattr(X, "shape"):
                X = np.asarray(X)
            validate_data(ensemble, X, reset=True, skip_check_array=True)
            return X
        if hasattr(X, "columns"):
            validate_data(ensemble, X, reset=False, skip_check_array=True)
            return estimator._read_samples(without_names(X), reset=False)
        # The tree knows best what is wrong with an array; the ensemble may miss names.
        numbers = estimator._read_samples(X, reset=False)
        validate_data(ensemble, X, reset=False, skip_check_array=True)
        return numbers
    tags = get_tags(estimator).input_tags
    if not tags.two_d_array:  # strings and the like, which the members will look at
        return X
    return validate_data(
        ensemble,
        X,
        reset=reset,
        accept_sparse=["csr", "csc"] if tags.sparse else False,
        allow_nd=tags.three_d_array,
        dtype=np.float64 if isinstance(estimator, DecisionStump) else None,
        order="C",
        ensure_all_finite="allow-nan" if tags.allow_nan else True,
    )


def without_names(X):
    """Return samples without the names of their features, which are for the ensemble to check."""
    if hasattr(X, "iloc"):
        return X.set_axis(range(X.shape[1]), axis=1)
    return check_array(X, dtype=None, ensure_all_finite=False)


def n_rows(X):
    """Return the number of samples."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def class_codes(member, X, classes):
    """Return the places in ``classes`` of what a fitted member predicts."""
    if shares_columns(member):
        return node_labels(member.tree_, member._cost)[:, 0].take(member.tree_._leaves(X))
    if isinstance(member, DecisionStump):
        return member._codes(X)
    return np.searchsorted(classes, member.predict(X))


def numbers(member, X):
    """Return what a fitted regressor predicts."""
    if shares_columns(member):
        return member._answers(member.tree_).take(member.tree_._leaves(X))
    return np.asarray(member.predict(X), dtype=np.float64)


def make_member(estimator, rng):
    """Return an unfitted clone with random states drawn as scikit-learn's ensembles draw them."""
    params = sorted(estimator.get_params(deep=True))
    seeds = {
        name: rng.randint(np.iinfo(np.int32).max)
        for name in params
        if name == "random_state" or name.endswith("__random_state")
    }
    # The parameters of our own learners are plain values; clone would be slow for small rounds.
    own = shares_columns(estimator) or isinstance(estimator, DecisionStump)
    member = copy.copy(estimator) if own else clone(estimator)
    return member.set_params(**seeds) if seeds else member


class AnyLearner:
    """Samples for members that know nothing of each other."""

    def __init__(self, X, y, classes=None):
        self.X, self.y, self.classes = X, y, classes

    def fit(self, member, weight, target=None):
        """Fit a member; return its answers to the training samples."""
        y = self.y
        if target is not None:
            y = target if self.classes is None else self.classes[target]
        member.fit(self.X, y, **({} if weight is None else {"sample_weight": weight}))
        return self.answers(member)

    def refit(self, member, draws):
        """Fit a member to a sample of the rows; return its answers to all of them."""
        rows = draws.rows()
        member.fit(rows_of(self.X, rows), self.y[rows])
        return self.answers(member)

    def answers(self, member):
        """Return what a fitted member answers to the training samples."""
        if self.classes is None:
            return numbers(member, self.X)
        return class_codes(member, self.X, self.classes)

    def knows(self, member):
        """Return whether a member of an earlier fit has learned the same features."""
        n_features = getattr(member, "n_features_in_", None)
        if n_features is None or getattr(self.X, "ndim", 1) != 2:  # strings and the like
            return True
        return n_features == self.X.shape[1]

    def close(self):
        """Let go of threads."""


class TreeLearner(AnyLearner):
    """Samples for trees of the package."""

    def __init__(self, estimator, X, y, classes=None, n_threads=1):
        self.trees = TreeSet(estimator, X, y, n_threads=n_threads)
        self.n_threads = n_threads
        super().__init__(self.trees.X, y, classes)

    def fit(self, member, weight, target=None):
        trees = self.trees if target is None else self._trees_for(target)
        trees.fit(member, weight, n_threads=self.n_threads)
        return self.answers(member)

    def _trees_for(self, target):
        """Return the same training set with another target."""
        trees = copy.copy(self.trees)
        if self.classes is None:
            trees.y = target[:, None]
        else:
            trees.y = self.classes[target][:, None]
            trees.codes = target[:, None].astype(np.int32)
        return trees

    def refit(self, member, draws):
        times = draws.times()
        self.trees.fit(member, times, n_threads=self.n_threads, count_weight=True)
        return self.answers(member)

    def knows(self, member):
        return super().knows(member) and same_categories(member, self.trees.reader)


class StumpLearner(AnyLearner):
    """Samples of two classes for decision stumps, of either kind."""

    def __init__(self, search, X, y, classes, codes, n_threads=1):
        super().__init__(X, y, classes)
        self.search, self.codes = search, codes
        n_threads = min(n_threads, X.shape[1]) if X.size >= MANY else 1
        self.parts = np.array_split(np.arange(X.shape[1]), n_threads)
        self.pool = Helpers(n_threads - 1) if n_threads > 1 else None

    def fit(self, member, weight, target=None):
        codes = self.codes if target is None else target
        found = self.search.best(codes, weight, self.by_error, self._together)
        self.settle(member, weight, found)
        return self.search.sides(found)

    def _together(self, work):
        """Return ``work(part)`` of all parts of the features, side by side."""
        first, *rest = self.parts
        others = [self.pool.submit(work, part) for part in rest]
        return [work(first), *(other.result() for other in others)]

    def close(self):
        if self.pool:
            self.pool.shutdown()


class ErrorStumpLearner(StumpLearner):
    """Samples for :class:`DecisionStump`."""

    by_error = True

    def settle(self, member, weight, found):
        right = sum(
            side[code]
            for side, code in zip((found.left, found.total - found.left), found.codes, strict=True)
        )
        member._settle(found, self.classes)
        member.n_features_in_ = self.X.shape[1]
        member.error_ = 1 - right / found.total.sum()
        member.edge_ = 0.5 - member.error_


class GiniStumpLearner(StumpLearner):
    """Samples for trees with one split."""

    by_error = False

    def __init__(self, trees, y, classes, n_threads):
        super().__init__(
            StumpSearch(trees.columns), trees.X, y, classes, trees.codes[:, 0], n_threads
        )
        self.trees = trees

    def knows(self, member):
        return super().knows(member) and same_categories(member, self.trees.reader)

    def settle(self, member, weight, found):
        """Let a tree be the stump that was found."""
        target = Target(self.trees.codes, weight, n_classes=self.trees.n_classes)
        vars(member).update(self.trees.learned)
        n_features = self.X.shape[1]
        member._cost, member._seed = None, 0
        member.n_outputs_, member.max_features_ = 1, n_features
        member.tree_ = stump_tree(self.search, found, target, n_features)
        set_risk(member.tree_, member._losses_of_nodes(member.tree_, target) / target.mass)


def same_categories(*trees):
    """Return whether trees know the same categories of the same features."""
    first, *others = (
        None
        if tree.is_categorical_ is None
        else [None if names is None else names.tolist() for names in tree.categories_]
        for tree in trees
    )
    return all(other == first for other in others)


def is_plain_stump(tree):
    """Return whether a tree is two leaves, found by the Gini impurity among all stumps."""
    return (
        (tree.max_depth == 1 or tree.max_leaf_nodes == 2)
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


def stump_tree(search, found, target, n_features):
    """Return the tree of a root and two leaves, or of a root alone if nothing divides the rows."""
    masses = np.array([found.total, found.left, found.total - found.left])
    sizes = np.array([search.n_rows, found.n_left, search.n_rows - found.n_left])
    used = 3 if found.feature >= 0 else 1
    masses, sizes = masses[:used], sizes[:used]
    mass = masses.sum(axis=1)
    shares = masses / mass[:, None]
    impurity = 1 - np.sum(shares**2, axis=1)
    is_root = np.arange(used) == (0 if used == 3 else -1)
    gain = impurity[0] - impurity[1:] @ mass[1:] / mass[0] if used == 3 else 0.0
    return Tree(
        n_features=n_features,
        n_outputs=1,
        n_classes=target.n_classes,
        n_categories=np.zeros(n_features, dtype=np.int32),
        children_left=np.where(is_root, 1, LEAF),
        children_right=np.where(is_root, 2, LEAF),
        feature=np.where(is_root, found.feature, UNDEFINED),
        threshold=np.where(is_root, found.threshold, UNDEFINED),
        missing_go_to_left=(is_root & (2 * mass[1:2].sum() > mass[0])).astype(np.uint8),
        depth=(np.arange(used) > 0).astype(np.int64),
        impurity=impurity,
        n_node_samples=sizes,
        weighted_n_node_samples=mass,
        mass=mass.copy(),
        value=shares[:, None],
        improvement=np.where(is_root, gain, 0.0),
        risk=np.zeros(used),
        collapse=np.zeros(used),
        subset=np.full(used, -1),
        subsets=np.empty(0, dtype=np.int32),
        surrogates=np.empty(0, dtype=surrogate_dtype),
        competitors=np.empty(0, dtype=competitor_dtype),
    )


class SubstringLearner(AnyLearner):
    """Strings for :class:`SubstringStump`."""

    def __init__(self, X, y, classes, codes):
        super().__init__(X, y, classes)
        self.codes, self.order = codes, SubstringOrder(X)

    def fit(self, member, weight, target=None):
        codes = self.codes if target is None else target
        member._fit_shared(self.order, self.classes, codes, weight)
        return self.answers(member)

    def answers(self, member):
        return member._codes_on(self.order)


def class_learner(estimator, X, y, classes, codes, n_threads=1):
    """Return the training set of a boosted classifier."""
    if isinstance(estimator, SubstringStump):
        return SubstringLearner(X, y, classes, codes)
    if type(estimator) is DecisionStump and len(classes) == 2:
        search = StumpSearch(sorted_columns(X, n_threads))
        return ErrorStumpLearner(search, X, y, classes, codes, n_threads)
    if not shares_columns(estimator):
        return AnyLearner(X, y, classes)
    learner = TreeLearner(estimator, X, y, classes, n_threads)
    columns = learner.trees.columns
    numbers_only = not columns.n_categories.any() and not columns.has_missing
    if len(classes) == 2 and numbers_only and is_plain_stump(estimator):
        return GiniStumpLearner(learner.trees, y, classes, n_threads)
    return learner


def number_learner(estimator, X, y, n_threads=1):
    """Return the training set of a boosted regressor."""
    if shares_columns(estimator):
        return TreeLearner(estimator, X, y, n_threads=n_threads)
    return AnyLearner(X, y)
