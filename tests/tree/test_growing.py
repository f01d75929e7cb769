"""Trees are grown as the definition says: twins, scikit-learn, symmetries and randomness."""

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from hypothesis import given
from hypothesis import strategies as st
from reference import cart as reference
from reference.tree_walk import Walk, compare
from scipy import stats
from sklearn import tree as peer
from sklearn.model_selection import cross_val_score

from sklearn_sl.ensemble import AdaBoostClassifier, BaggingClassifier, RandomForestClassifier
from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn_sl.tree._growing import draw_seed, grow, rules_of
from sklearn_sl.tree._training_set import read_classification, read_regression

CLASSIFICATION = ["gini", "entropy", "log_loss"]
REGRESSION = ["squared_error", "poisson"]
RULES = [
    {},
    {"max_depth": 3},
    {"min_samples_split": 10},
    {"min_samples_split": 0.2},
    {"min_samples_leaf": 4},
    {"min_samples_leaf": 0.07},
    {"min_weight_fraction_leaf": 0.11},
    {"min_impurity_decrease": 0.0123},
]
ARRAYS = (
    "children_left",
    "children_right",
    "feature",
    "threshold",
    "missing_go_to_left",
    "depth",
    "n_node_samples",
)
criteria = pytest.mark.parametrize("criterion", CLASSIFICATION + REGRESSION)
# log_loss is another name of entropy.
different_criteria = pytest.mark.parametrize(
    "criterion", ["gini", "entropy", "squared_error", "poisson"]
)
rules = pytest.mark.parametrize("rule", RULES, ids=str)


def make(criterion, **params):
    """Return one of our trees for a criterion."""
    cls = DecisionTreeClassifier if criterion in CLASSIFICATION else DecisionTreeRegressor
    return cls(criterion=criterion, **params)


def make_peer(criterion, **params):
    """Return the tree of scikit-learn for a criterion."""
    cls = peer.DecisionTreeClassifier if criterion in CLASSIFICATION else peer.DecisionTreeRegressor
    return cls(criterion=criterion, random_state=0, **params)


def samples(rng, n=60, d=1, levels=64):
    """Return samples that float32 represents exactly, some of them equal."""
    return rng.integers(-levels, levels, size=(n, d)) / 8


def targets(rng, criterion, X, n_outputs=None, n_classes=3):
    """Return targets that depend on the samples and on chance, as float32 represents them."""
    shape = len(X) if n_outputs is None else (len(X), n_outputs)
    noise = rng.integers(0, 80, size=shape)
    trend = np.where(X[:, 0] > 1, 40, 0) + 3 * np.abs(X[:, -1]).astype(int)
    y = noise + (trend if n_outputs is None else trend[:, None])
    if criterion in CLASSIFICATION:
        return y // 8 % n_classes
    return y // 10 if criterion == "poisson" else y / 8 - 3


def assert_same_tree(one, other, **tolerance):
    """Check that two of our trees are equal, node by node and number by number."""
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in ("weighted_n_node_samples", "impurity", "value", "improvement", "collapse"):
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), **(tolerance or EXACT), err_msg=name
        )


# ---------------------------------------------------------------- scikit-learn


@criteria
@rules
def test_one_feature_gives_the_tree_of_scikit_learn(rng, criterion, rule):
    total = Walk()
    for _ in range(4):
        X = samples(rng)
        y = targets(rng, criterion, X)
        weight = rng.integers(1, 2**12, size=len(X)) / 2**10
        for w in (None, weight):
            ours = make(criterion, **rule).fit(X, y, sample_weight=w).tree_
            theirs = make_peer(criterion, **rule).fit(X, y, sample_weight=w).tree_
            walk = compare(ours, theirs)
            if walk.ties == 0:
                # No choice anywhere: the nodes have the same numbers too.
                np.testing.assert_array_equal(ours.children_left, theirs.children_left)
                np.testing.assert_array_equal(ours.threshold, theirs.threshold)
            total += walk
    assert total.splits >= 20
    assert total.ties <= 0.1 * total.splits


@different_criteria
@rules
def test_several_features_give_the_tree_of_scikit_learn_up_to_ties(rng, criterion, rule):
    total = Walk()
    for _ in range(3):
        X = samples(rng, n=120, d=4)
        y = targets(rng, criterion, X, n_classes=4)
        weight = rng.integers(1, 2**12, size=len(X)) / 2**10
        for w in (None, weight):
            ours = make(criterion, **rule).fit(X, y, sample_weight=w)
            theirs = make_peer(criterion, **rule).fit(X, y, sample_weight=w)
            total += compare(ours.tree_, theirs.tree_)
    assert total.splits >= 30
    assert total.splits >= total.ties


@criteria
@pytest.mark.parametrize("n_outputs", [2, 3])
def test_several_outputs_give_the_tree_of_scikit_learn(rng, criterion, n_outputs):
    total = Walk()
    for _ in range(4):
        X = samples(rng, d=2)
        y = targets(rng, criterion, X, n_outputs)
        weight = rng.integers(1, 2**12, size=len(X)) / 2**10
        for w in (None, weight):
            ours = make(criterion, min_samples_leaf=2).fit(X, y, sample_weight=w)
            theirs = make_peer(criterion, min_samples_leaf=2).fit(X, y, sample_weight=w)
            total += compare(ours.tree_, theirs.tree_)
    assert total.splits >= 80
    assert total.ties <= 0.3 * total.splits


def test_outputs_with_different_numbers_of_classes_give_the_tree_of_scikit_learn(rng):
    X = samples(rng, n=100)
    y = np.column_stack([targets(rng, "gini", X, n_classes=k) for k in (2, 5, 3)])
    ours = DecisionTreeClassifier(max_depth=6).fit(X, y)
    theirs = peer.DecisionTreeClassifier(max_depth=6, random_state=0).fit(X, y)
    assert compare(ours.tree_, theirs.tree_).splits > 10
    for one, other in zip(ours.predict_proba(X), theirs.predict_proba(X), strict=True):
        assert one.shape == other.shape
    assert list(ours.n_classes_) == list(theirs.n_classes_)


@pytest.mark.parametrize("criterion", CLASSIFICATION)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_class_weights_give_the_tree_of_scikit_learn(rng, criterion, n_classes):
    total = Walk()
    weights = [("balanced", False), ({0: 3, 1: 0.5}, False), ({0: 0.25, 1: 2}, True)]
    for class_weight, weighted in weights * 3:
        X = samples(rng)
        y = targets(rng, criterion, X, n_classes=n_classes)
        w = rng.integers(1, 9, size=len(X)) if weighted else None
        ours = make(criterion, class_weight=class_weight).fit(X, y, sample_weight=w)
        theirs = make_peer(criterion, class_weight=class_weight).fit(X, y, sample_weight=w)
        total += compare(ours.tree_, theirs.tree_)
    assert total.splits > 100


@pytest.mark.parametrize(
    "class_weight", ["balanced", [{0: 2, 1: 1, 2: 1}, {0: 1, 1: 3, 2: 0.5}]], ids=str
)
def test_class_weights_of_several_outputs_give_the_tree_of_scikit_learn(rng, class_weight):
    X = samples(rng, n=120)
    y = targets(rng, "gini", X, 2)
    ours = DecisionTreeClassifier(class_weight=class_weight).fit(X, y)
    theirs = peer.DecisionTreeClassifier(class_weight=class_weight, random_state=0).fit(X, y)
    assert compare(ours.tree_, theirs.tree_).splits > 20


@different_criteria
@pytest.mark.parametrize("max_leaf_nodes", [2, 7, 25, 1000])
@pytest.mark.parametrize("rule", [{}, {"max_depth": 4}, {"min_impurity_decrease": 0.005}], ids=str)
def test_best_first_splits_and_numbers_nodes_as_scikit_learn_does(
    rng, criterion, max_leaf_nodes, rule
):
    n_same = 0
    for d in (1, 3):
        X = samples(rng, n=150, d=d, levels=4096)
        y = targets(rng, criterion, X)
        # Random weights leave no ties, and large leaves no features that say the same.
        weight = rng.integers(2**10, 2**14, size=len(X)) / 2**10
        params = {"max_leaf_nodes": max_leaf_nodes, "min_samples_leaf": 1 if d == 1 else 6, **rule}
        ours = make(criterion, **params).fit(X, y, sample_weight=weight).tree_
        theirs = make_peer(criterion, **params).fit(X, y, sample_weight=weight).tree_
        assert compare(ours, theirs).ties == 0
        np.testing.assert_array_equal(ours.children_left, theirs.children_left)
        np.testing.assert_array_equal(ours.children_right, theirs.children_right)
        np.testing.assert_array_equal(ours.threshold, theirs.threshold)
        n_same += ours.node_count
    assert n_same >= 6


# ---------------------------------------------------------------- the twin


@st.composite
def small_problems(draw, criterion):
    """Return few samples with few values, so that there are ties and duplicates."""
    n, d = draw(st.integers(2, 9)), draw(st.integers(1, 3))
    values = st.integers(0, 3)
    X = np.array(draw(st.lists(st.lists(values, min_size=d, max_size=d), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(values, min_size=n, max_size=n)))
    if criterion == "poisson" and not y.any():
        y[0] = 1
    weight = np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)))
    return X.astype(float), y, draw(st.sampled_from([None, weight]))


def assert_twins(model, root):
    """Check that a fitted tree is the twin's, in preorder."""
    nodes, tree = root.preorder(), model.tree_
    assert [node.feature for node in nodes] == tree.feature.tolist()
    assert [node.threshold for node in nodes] == tree.threshold.tolist()
    assert [len(node.rows) for node in nodes] == tree.n_node_samples.tolist()
    np.testing.assert_allclose([float(node.impurity) for node in nodes], tree.impurity, **EXACT)
    np.testing.assert_allclose(
        [float(node.weight) for node in nodes], tree.weighted_n_node_samples, **EXACT
    )


TWIN_RULES = [
    {},
    {"max_depth": 2},
    {"min_samples_split": 4},
    {"min_samples_leaf": 2},
    {"min_impurity_decrease": 0.03},
]


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@pytest.mark.parametrize("rule", TWIN_RULES, ids=str)
@given(data=st.data())
def test_ties_go_to_the_first_feature_and_the_lowest_threshold(criterion, rule, data):
    X, y, weight = data.draw(small_problems(criterion))
    model = make(criterion, **rule).fit(X, y, sample_weight=weight)
    assert_twins(model, reference.grow(X, y, weight, criterion=criterion, **rule))


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@given(data=st.data())
def test_leaves_have_their_share_of_the_weight(criterion, data):
    X, y, weight = data.draw(small_problems(criterion))
    total = len(y) if weight is None else weight.sum()
    model = make(criterion, min_weight_fraction_leaf=0.25).fit(X, y, sample_weight=weight)
    assert_twins(
        model, reference.grow(X, y, weight, criterion=criterion, min_weight_leaf=total / 4)
    )


@pytest.mark.parametrize("criterion", ["entropy", "log_loss", "poisson"])
@given(data=st.data())
def test_splits_by_logarithms_gain_as_much_as_any_other(criterion, data):
    # Sums of logarithms know ties only up to rounding, so that one split is compared.
    X, y, weight = data.draw(small_problems(criterion))
    tree = make(criterion, max_depth=1).fit(X, y, sample_weight=weight).tree_
    root = reference.grow(X, y, weight, criterion=criterion, max_depth=1)
    assert (root.left is None) == (tree.node_count == 1)
    if root.left is not None:
        loss = tree.impurity * tree.weighted_n_node_samples
        best = sum(float(side.weight * side.impurity) for side in (root.left, root.right))
        np.testing.assert_allclose(loss[1:].sum(), best, **EXACT)


@criteria
@given(seed=st.integers(0, 2**16))
def test_improvement_is_the_loss_that_a_split_saves(criterion, seed):
    rng = np.random.default_rng(seed)
    X = samples(rng, n=40, d=2, levels=8)
    y, weight = targets(rng, criterion, X, 2), rng.uniform(0.5, 2, size=40)
    tree = make(criterion).fit(X, y, sample_weight=weight).tree_
    loss = tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    split = np.flatnonzero(tree.children_left >= 0)
    saved = loss[split] - loss[tree.children_left[split]] - loss[tree.children_right[split]]
    np.testing.assert_allclose(tree.improvement[split], saved, **ALGEBRA)
    assert not tree.improvement[tree.children_left < 0].any()


@criteria
def test_competitors_are_the_best_splits_by_the_other_features(rng, criterion):
    X = samples(rng, n=80, d=4)
    y = targets(rng, criterion, X)
    tree = make(criterion, competitors=2, max_depth=1).fit(X, y).tree_
    alone = {
        feature: make(criterion, max_depth=1).fit(X[:, [feature]], y).tree_ for feature in range(4)
    }
    others = sorted(
        (feature for feature in range(4) if feature != tree.feature[0]),
        key=lambda feature: -alone[feature].improvement[0],
    )
    assert tree.competitors["feature"].tolist() == others[:2]
    for competitor in tree.competitors:
        best = alone[competitor["feature"]]
        assert competitor["threshold"] == best.threshold[0]
        np.testing.assert_allclose(competitor["improvement"], best.improvement[0], **EXACT)


# ---------------------------------------------------------------- examples of the notes


def test_the_regression_tree_of_the_exercise():
    X, y = [[1, 1], [1, 2], [1, 3], [2, 2], [2, 3]], [9, -4, 2, 4, 2]
    model = DecisionTreeRegressor().fit(X, y)
    split = model.tree_.children_left >= 0
    assert model.tree_.feature[split].tolist() == [1, 0, 1, 1]
    assert model.tree_.threshold[split].tolist() == [1.5, 1.5, 2.5, 2.5]
    path = model.ccp_path_
    np.testing.assert_allclose(5 * path.alphas, [0, 2, 17, 51.2], **EXACT)
    np.testing.assert_allclose(5 * path.risks, [0, 2, 36, 87.2], **EXACT)
    assert path.n_leaves.tolist() == [5, 4, 2, 1]


@pytest.mark.parametrize(
    ("counts", "wrong", "bits", "gini"),
    [
        ([(300, 100), (100, 300)], 200, 649.02, 300),
        ([(200, 400), (200, 0)], 200, 550.98, 266.67),
    ],
)
def test_impurities_tell_splits_apart_that_misclassify_equally(counts, wrong, bits, gini):
    side = np.repeat([0, 0, 1, 1], np.ravel(counts))
    y = np.repeat([0, 1, 0, 1], np.ravel(counts))
    expected = {"entropy": bits, "gini": gini}
    for criterion, loss in expected.items():
        model = DecisionTreeClassifier(
            criterion=criterion, max_depth=1, risk="misclassification"
        ).fit(side[:, None], y)
        leaves = model.tree_.children_left < 0
        losses = model.tree_.impurity * model.tree_.weighted_n_node_samples
        assert losses[leaves].sum() == pytest.approx(loss, abs=0.005)
        assert 800 * model.tree_.risk[leaves].sum() == pytest.approx(wrong)


def test_gini_and_entropy_prefer_the_pure_leaf_of_the_table():
    even = np.repeat([0, 0, 1, 1], [300, 100, 100, 300])
    y = np.repeat([0, 1, 0, 1], [300, 100, 100, 300])
    pure = np.empty(800)
    pure[y == 0], pure[y == 1] = np.repeat([0, 1], 200), 0
    for criterion in ("gini", "entropy"):
        model = DecisionTreeClassifier(criterion=criterion, max_depth=1)
        assert model.fit(np.column_stack([even, pure]), y).tree_.feature[0] == 1


# ---------------------------------------------------------------- symmetries


SYMMETRIC = [
    {},
    {"max_leaf_nodes": 15},
    {"splitter": "random", "random_state": 3},
    {"max_features": 2, "random_state": 3},
    {"splitter": "random", "max_features": 1, "max_leaf_nodes": 20, "random_state": 3},
]
variants = pytest.mark.parametrize("params", SYMMETRIC, ids=str)


@different_criteria
@variants
def test_the_order_of_rows_does_not_matter(rng, criterion, params):
    X = samples(rng, n=120, d=4, levels=8)
    y, weight = targets(rng, criterion, X), rng.uniform(0.1, 3, size=120)
    order = rng.permutation(120)
    for w in (None, weight):
        model = make(criterion, **params).fit(X, y, sample_weight=w)
        again = make(criterion, **params).fit(
            X[order], y[order], sample_weight=None if w is None else w[order]
        )
        assert_same_tree(model.tree_, again.tree_, **ALGEBRA)


@different_criteria
@variants
def test_integer_weights_are_repeated_rows_and_zero_is_no_row(rng, criterion, params):
    X = samples(rng, n=90, d=4, levels=16)
    y, times = targets(rng, criterion, X), rng.integers(0, 4, size=90)
    weighted = make(criterion, **params).fit(X, y, sample_weight=times).tree_
    repeated = make(criterion, **params).fit(np.repeat(X, times, 0), np.repeat(y, times)).tree_
    assert weighted.node_count > 15
    for name in ("feature", "threshold", "children_left", "children_right"):
        np.testing.assert_array_equal(getattr(weighted, name), getattr(repeated, name), name)
    for name in ("weighted_n_node_samples", "impurity", "value", "improvement"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), **ALGEBRA)


@different_criteria
@variants
def test_a_common_factor_of_the_weights_changes_nothing(rng, criterion, params):
    X = samples(rng, n=90, d=3)
    y, weight = targets(rng, criterion, X), rng.integers(1, 5, size=90)
    one = make(criterion, **params).fit(X, y, sample_weight=weight).tree_
    other = make(criterion, **params).fit(X, y, sample_weight=weight / 2**40).tree_
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@different_criteria
@variants
@pytest.mark.parametrize("factor", [2.0**-900, 2.0**900])
def test_a_power_of_two_scales_the_thresholds(rng, criterion, params, factor):
    X = samples(rng, d=3)
    y = targets(rng, criterion, X)
    one = make(criterion, **params).fit(X, y).tree_
    other = make(criterion, **params).fit(X * factor, y).tree_
    split = one.children_left >= 0
    np.testing.assert_array_equal(other.threshold[split], one.threshold[split] * factor)
    np.testing.assert_array_equal(other.children_left, one.children_left)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_the_names_of_the_classes_do_not_matter(rng, criterion, n_classes):
    X = samples(rng, n=100)
    y = targets(rng, criterion, X, n_classes=n_classes)
    names = rng.permutation(n_classes)
    weight = rng.uniform(0.5, 2, size=100)  # no ties, which rounding would decide
    one = make(criterion).fit(X, y, sample_weight=weight)
    other = make(criterion).fit(X, names[y], sample_weight=weight)
    np.testing.assert_array_equal(one.tree_.threshold, other.tree_.threshold)
    np.testing.assert_array_equal(names[one.predict(X)], other.predict(X))


def test_two_classes_by_gini_are_a_regression_on_zero_and_one(rng):
    X = samples(rng, n=100, d=3)
    y = targets(rng, "gini", X, n_classes=2)
    one = DecisionTreeClassifier().fit(X, y).tree_
    other = DecisionTreeRegressor().fit(X, y).tree_
    np.testing.assert_array_equal(one.threshold, other.threshold)
    np.testing.assert_allclose(one.impurity, 2 * other.impurity, **EXACT)


# ---------------------------------------------------------------- randomness


@pytest.mark.parametrize("max_leaf_nodes", [None, 12])
def test_random_thresholds_lie_in_the_range_of_their_node(rng, max_leaf_nodes):
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    model = DecisionTreeRegressor(
        splitter="random", max_leaf_nodes=max_leaf_nodes, random_state=0
    ).fit(X, y)
    tree, passed = model.tree_, model.decision_path(X).toarray().astype(bool)
    for node in np.flatnonzero(tree.children_left >= 0):
        column = X[passed[:, node], tree.feature[node]]
        assert column.min() <= tree.threshold[node] < column.max()


def test_random_thresholds_are_uniform(rng):
    X, y = np.array([[0.0], [1.0]]), [0, 1]
    drawn = [
        DecisionTreeClassifier(splitter="random", random_state=seed).fit(X, y).tree_.threshold[0]
        for seed in range(250)
    ]
    assert stats.kstest(drawn, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("constant", [0, 2])
def test_features_are_drawn_evenly_and_one_of_them_varies(rng, constant):
    X, y = rng.normal(size=(12, 6)), rng.normal(size=12)
    X[:, :constant] = 5.0
    drawn = [
        DecisionTreeRegressor(max_features=1, max_depth=1, random_state=seed).fit(X, y).tree_
        for seed in range(300)
    ]
    counts = np.bincount([tree.feature[0] for tree in drawn], minlength=6)
    assert counts[:constant].sum() == 0
    assert stats.chisquare(counts[constant:]).pvalue > 1e-3


def test_nodes_draw_their_features_independently(rng):
    X, y = rng.normal(size=(60, 4)), rng.normal(size=60)
    pairs = np.zeros((4, 4))
    for seed in range(300):
        tree = DecisionTreeRegressor(max_features=1, max_depth=2, random_state=seed).fit(X, y).tree_
        pairs[tree.feature[0], tree.feature[tree.children_left[0]]] += 1
    assert stats.chi2_contingency(pairs).pvalue > 1e-3


def test_all_features_in_turn_are_looked_at_if_only_one_varies(rng):
    X = np.ones((30, 50))
    X[:, 37] = rng.permutation(30)
    model = DecisionTreeRegressor(max_features=1, random_state=0).fit(X, rng.normal(size=30))
    assert model.get_n_leaves() == 30


@pytest.mark.parametrize(
    ("max_features", "looked_at"),
    [("sqrt", 3), ("log2", 3), (0.5, 5), (0.01, 1), (4, 4), (None, 10)],
)
def test_max_features_counts_as_scikit_learn_does(rng, max_features, looked_at):
    X, y = rng.normal(size=(20, 10)), np.arange(20) % 2
    ours = DecisionTreeClassifier(max_features=max_features).fit(X, y)
    theirs = peer.DecisionTreeClassifier(max_features=max_features).fit(X, y)
    assert ours.max_features_ == theirs.max_features_ == looked_at


@pytest.mark.parametrize(
    "params", [{"splitter": "random"}, {"max_features": 2}, {"splitter": "best"}], ids=str
)
def test_random_trees_are_as_accurate_as_those_of_scikit_learn(rng, params):
    X = rng.normal(size=(300, 5))
    # Ties go to the first feature: one that matters is early and one is late.
    y = (np.sin(2 * X[:, 1]) + X[:, 3] + 0.3 * rng.normal(size=300) > 0).astype(int)
    scores = [
        np.mean([cross_val_score(cls(random_state=seed, **params), X, y) for seed in range(6)])
        for cls in (DecisionTreeClassifier, peer.DecisionTreeClassifier)
    ]
    assert abs(scores[0] - scores[1]) < 0.03


def test_the_same_seed_gives_the_same_tree_and_another_one_another(rng):
    X, y = rng.normal(size=(80, 4)), rng.normal(size=80)

    def fitted(seed):
        return DecisionTreeRegressor(splitter="random", random_state=seed).fit(X, y).tree_

    assert_same_tree(fitted(1), fitted(1))
    assert fitted(1).threshold[0] != fitted(2).threshold[0]


# ---------------------------------------------------------------- columns sorted on demand


@pytest.mark.parametrize("Tree", [DecisionTreeClassifier, DecisionTreeRegressor])
@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"max_leaf_nodes": 12},
        {"splitter": "random"},
        {"min_samples_leaf": 3},
        {"categorical_features": [0, 5]},
        {"n_jobs": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("missing", [0.1, 0.0])  # ranks of four bytes, and of two
def test_columns_sorted_on_demand_give_the_same_tree(Tree, rules, missing, rng, monkeypatch):
    X = rng.integers(0, 300, (400, 20)).astype(float)
    X[:, :6] = X[:, :6] // 50
    X[:, 6] = 1
    X[:, 9:13] = np.where(rng.random((400, 4)) < 0.7, 0, X[:, 9:13] - 5)  # zeros, few values below
    X[rng.random(X.shape) < missing] = np.nan
    y = (np.nansum(X[:, 2:11], axis=1) + 30 * rng.normal(size=400)) // 200
    weight = rng.integers(0, 4, 400)
    trees = []
    for sorting in (1e-9, 1e9):
        monkeypatch.setattr("sklearn_sl.tree._growing.SORTING", sorting)
        model = Tree(max_features=3, random_state=0, **rules)
        read = read_classification if Tree is DecisionTreeClassifier else read_regression
        limits = rules_of(model, *read(model, X, y, None))
        assert limits.sorts_on_demand(20) == (sorting < 1)
        trees.append(model.fit(X, y, weight).tree_)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(trees[0], name), getattr(trees[1], name))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("Tree", "rules"),
    [
        (DecisionTreeClassifier, {"criterion": "gini"}),
        (DecisionTreeClassifier, {"criterion": "entropy", "min_samples_leaf": 4}),
        (DecisionTreeClassifier, {"criterion": "gini", "min_weight_fraction_leaf": 0.02}),
        (DecisionTreeRegressor, {"criterion": "squared_error", "min_samples_leaf": 2}),
        (DecisionTreeRegressor, {"criterion": "poisson"}),
        (DecisionTreeRegressor, {"criterion": "absolute_error", "max_depth": 4}),
        (DecisionTreeRegressor, {"monotonic_cst": [1, -1] + 18 * [0]}),
    ],
)
def test_frequent_least_values_are_left_out_of_the_search_alone(
    Tree, rules, weighted, rng, monkeypatch
):
    X = rng.poisson(rng.uniform(0.05, 1.0, 20), (300, 20)).astype(float) + 3
    y = np.minimum(X[:, :9].sum(axis=1) // 3 - 8, 4) + rng.integers(0, 3, 300)
    weight = rng.integers(0, 4, 300) if weighted else None
    trees = []
    for sorting in (1e-9, 1e9):
        monkeypatch.setattr("sklearn_sl.tree._growing.SORTING", sorting)
        trees.append(Tree(max_features=4, random_state=0, **rules).fit(X, y, weight).tree_)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(trees[0], name), getattr(trees[1], name))


def test_threads_share_a_tree_sorted_on_demand(rng, monkeypatch):
    X = rng.normal(size=(60_000, 12))
    y = np.sin(X[:, 0]) + X[:, 1] > rng.normal(size=len(X))
    monkeypatch.setattr("sklearn_sl.tree._growing.SHARED", 1e4)
    monkeypatch.setattr("sklearn_sl.tree._growing.SORTING", 1)
    one, two = (
        DecisionTreeClassifier(max_features=2, max_depth=9, random_state=0, n_jobs=n_jobs)
        .fit(X, y)
        .tree_
        for n_jobs in (1, 2)
    )
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.parametrize("params", [{}, {"max_features": 2, "random_state": 3}, {"max_depth": 2}])
def test_growing_is_a_function_of_training_set_target_rules_and_seed(rng, params):
    X, y = rng.normal(size=(80, 5)), rng.integers(0, 3, 80)
    model = DecisionTreeClassifier(**params)
    training_set, target = read_classification(model, X, y, None)
    before = dict(vars(model))
    rules = rules_of(model, training_set, target)
    trees = [grow(training_set, target, rules, draw_seed(rules, 3, 5)) for _ in range(2)]
    assert vars(model) == before
    for tree in trees:
        for name in ARRAYS:
            np.testing.assert_array_equal(getattr(tree, name), getattr(model.fit(X, y).tree_, name))


def test_trees_of_ensembles_hold_no_more_than_trees_that_were_fitted_alone(rng):
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 2, 60)
    alone = set(vars(DecisionTreeClassifier().fit(X, y)))
    for ensemble in (RandomForestClassifier(2), BaggingClassifier(None, 2), AdaBoostClassifier()):
        assert set(vars(ensemble.fit(X, y).estimators_[0])) == alone
