"""Missing values and categories: learned sides, surrogates and subsets."""

import numpy as np
import pandas as pd
import pytest
from conftest import EXACT, scikit_learn_before
from hypothesis import given
from hypothesis import strategies as st
from reference import cart as reference
from reference.tree_walk import Walk, compare
from sklearn import tree as peer

from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor

CLASSIFICATION = ["gini", "entropy"]
REGRESSION = ["squared_error", "poisson"]
criteria = pytest.mark.parametrize("criterion", CLASSIFICATION + REGRESSION)


def make(criterion, **params):
    """Return one of our trees for a criterion."""
    cls = DecisionTreeClassifier if criterion in CLASSIFICATION else DecisionTreeRegressor
    return cls(criterion=criterion, **params)


def make_peer(criterion, **params):
    """Return the tree of scikit-learn for a criterion."""
    cls = peer.DecisionTreeClassifier if criterion in CLASSIFICATION else peer.DecisionTreeRegressor
    return cls(criterion=criterion, random_state=0, **params)


def make_peer_for_holes(criterion, **params):
    """Return the tree of scikit-learn for a criterion, if it is right with missing values.

    Some of its impurities are wrong, even negative, before 1.8, and before 1.9 for poisson.
    """
    first_right = "1.9" if criterion == "poisson" else "1.8"
    if scikit_learn_before(first_right):
        pytest.skip(f"scikit-learn < {first_right} is wrong with missing values: {criterion}")
    return make_peer(criterion, **params)


def samples(rng, n=60, d=1, missing=0.2):
    """Return samples that float32 represents exactly, with holes."""
    X = rng.integers(-64, 64, size=(n, d)) / 8
    return np.where(rng.random(size=X.shape) < missing, np.nan, X)


def targets(rng, criterion, X, n_classes=3):
    """Return targets that depend on the samples, on what is missing, and on chance."""
    known = np.nan_to_num(X, nan=5.0)
    y = rng.integers(0, 60, size=len(X)) + 30 * (known[:, 0] > 1) + 4 * np.abs(known[:, -1])
    if criterion in CLASSIFICATION:
        return (y // 8).astype(int) % n_classes
    return y // 10 if criterion == "poisson" else y / 8


def assert_routes_agree(model, X):
    """Check that the training samples end in the leaves that they were grown into."""
    tree = model.tree_
    passed = np.asarray(model.decision_path(X).sum(axis=0)).ravel()
    np.testing.assert_array_equal(passed, tree.n_node_samples)


# ---------------------------------------------------------------- learned sides


@criteria
@pytest.mark.parametrize("rule", [{}, {"min_samples_leaf": 4}, {"max_depth": 3}], ids=str)
def test_one_feature_with_holes_gives_the_tree_of_scikit_learn(rng, criterion, rule):
    total = Walk()
    for _ in range(4):
        X = samples(rng)
        y = targets(rng, criterion, X)
        weight = rng.integers(1, 2**12, size=len(X)) / 2**10
        for w in (None, weight):
            ours = make(criterion, **rule).fit(X, y, sample_weight=w)
            theirs = make_peer_for_holes(criterion, **rule).fit(X, y, sample_weight=w)
            total += compare(ours.tree_, theirs.tree_, sides_of_missing=w is None)
            assert_routes_agree(ours, X)
    assert total.splits >= 40
    assert total.ties <= 0.1 * total.splits


@criteria
def test_several_features_with_holes_give_the_tree_of_scikit_learn_up_to_ties(rng, criterion):
    total = Walk()
    for _ in range(6):
        X = samples(rng, n=120, d=3, missing=0.3)
        y = targets(rng, criterion, X)
        ours = make(criterion, min_samples_leaf=2).fit(X, y)
        theirs = make_peer_for_holes(criterion, min_samples_leaf=2).fit(X, y)
        total += compare(ours.tree_, theirs.tree_, sides_of_missing=True)
        assert_routes_agree(ours, X)
    assert total.splits >= 60
    assert total.splits >= total.ties


@criteria
def test_values_missing_at_prediction_only_go_with_the_majority(rng, criterion):
    X = samples(rng, n=100, missing=0)
    y = targets(rng, criterion, X)
    ours, theirs = make(criterion).fit(X, y), make_peer(criterion).fit(X, y)
    walk = compare(ours.tree_, theirs.tree_, sides_of_missing=True)
    assert walk.splits > 30
    if walk.ties == 0:
        X_test = samples(rng, n=50, missing=0.5)
        np.testing.assert_allclose(ours.predict(X_test), theirs.predict(X_test), **EXACT)


def test_weights_are_repeated_rows_where_missing_values_go(rng):
    X, times = samples(rng, n=80, d=2, missing=0), rng.integers(1, 4, size=80)
    y = targets(rng, "squared_error", X)
    model = DecisionTreeRegressor()
    X_test = samples(rng, n=100, d=2, missing=0.5)
    weighted = model.fit(X, y, sample_weight=times).predict(X_test)
    repeated = model.fit(np.repeat(X, times, axis=0), np.repeat(y, times)).predict(X_test)
    np.testing.assert_allclose(weighted, repeated, **EXACT)


@criteria
def test_missing_against_known_is_a_split(rng, criterion):
    X = np.where(np.arange(40) % 4 == 0, np.nan, rng.normal(size=40))[:, None]
    y = np.isnan(X[:, 0]) + 1
    tree = make(criterion).fit(X, y).tree_
    assert tree.n_leaves == 2
    assert tree.threshold[0] == np.inf
    assert tree.n_node_samples.tolist() == [40, 30, 10]
    constant = np.where(np.isnan(X), np.nan, 7.0)
    assert make(criterion).fit(constant, y).tree_.n_leaves == 2


@pytest.mark.parametrize("params", [{}, {"surrogates": 3}, {"splitter": "random"}], ids=str)
@criteria
def test_a_column_of_holes_says_nothing(rng, criterion, params):
    X = samples(rng, d=2)
    y = targets(rng, criterion, X)
    holes = np.full((len(X), 1), np.nan)
    without = make(criterion, random_state=0, **params).fit(X, y)
    model = make(criterion, random_state=0, **params).fit(np.hstack([X, holes]), y)
    np.testing.assert_array_equal(model.tree_.threshold, without.tree_.threshold)
    assert make(criterion, **params).fit(holes, y).get_n_leaves() == 1


@pytest.mark.parametrize("criterion", ["gini", "poisson"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"splitter": "random"},
        {"max_leaf_nodes": 12},
        {"surrogates": 2},
        {"surrogates": 2, "max_leaf_nodes": 12},
        {"surrogates": 2, "splitter": "random", "max_features": 2},
    ],
    ids=str,
)
@given(seed=st.integers(0, 2**16))
def test_training_samples_take_the_way_that_they_were_grown(criterion, params, seed):
    rng = np.random.default_rng(seed)
    X = samples(rng, n=50, d=4, missing=0.3)
    X[:, 3] = np.where(np.isnan(X[:, 3]), np.nan, rng.integers(0, 5, size=50))
    y = targets(rng, criterion, X)
    weight = rng.integers(0, 3, size=50)
    model = make(criterion, random_state=0, categorical_features=[3], **params)
    model.fit(X, y, sample_weight=weight)
    assert_routes_agree(model, X[weight > 0])


# ---------------------------------------------------------------- surrogates


def best_agreement(column, usable, left, weight):
    """Return the largest weight of usable rows that a threshold sends to their side, and where.

    A side must have two rows; the threshold is in the middle before the next value of any row.
    """
    usable = usable & ~np.isnan(column)
    values, best = np.unique(column[usable]), (-1.0, None)
    for low in values[:-1]:
        below = column <= low
        if min((usable & below).sum(), (usable & ~below).sum()) < 2:
            continue
        threshold = (low + np.nanmin(column[column > low])) / 2
        for below_is_left in (True, False):
            agreeing = weight[usable & ((below == left) == below_is_left)].sum()
            best = max(best, (agreeing, threshold), key=lambda pair: pair[0])
    return best


@given(seed=st.integers(0, 2**16))
def test_surrogates_agree_as_much_as_they_say(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 1)) + 0.7 * rng.normal(size=(60, 4))
    X[rng.random(size=X.shape) < 0.15] = np.nan
    y, weight = np.nan_to_num(X[:, 0]) + 0.1 * rng.normal(size=60), rng.uniform(0.5, 2, size=60)
    model = DecisionTreeRegressor(surrogates=3, max_depth=1).fit(X, y, sample_weight=weight)
    tree = model.tree_
    feature = tree.feature[0]
    known = ~np.isnan(X[:, feature])
    left = X[:, feature] <= tree.threshold[0]
    mass = weight[known].sum()
    majority = max(weight[known & left].sum(), weight[known & ~left].sum())
    expected = {
        other: best_agreement(X[:, other], known, left, weight)
        for other in range(4)
        if other != feature
    }
    better = {other: pair for other, pair in expected.items() if pair[0] > majority}
    found = tree.surrogates
    assert set(found["feature"]) == set(better)
    assert np.all(np.diff(found["agreement"]) <= 0)
    for surrogate in found:
        agreeing, threshold = better[surrogate["feature"]]
        assert surrogate["threshold"] == pytest.approx(threshold)
        assert surrogate["agreement"] == pytest.approx(agreeing / mass)
        gained = (agreeing - majority) / (mass - majority)
        assert surrogate["adjusted"] == pytest.approx(gained)


def test_a_sample_without_a_value_follows_the_first_surrogate_that_knows_it(rng):
    side = np.repeat([0.0, 1.0], 50)
    y = 10 * side
    same, reversed_, noisy = side + 5, -side, side.copy()
    noisy[:10] = 1
    reversed_[0] = -1
    model = DecisionTreeRegressor(surrogates=3, max_depth=1).fit(
        np.column_stack([side, noisy, same, reversed_]), y
    )
    assert model.tree_.feature[0] == 0
    assert model.tree_.surrogates["feature"].tolist() == [2, 3, 1]
    assert model.tree_.surrogates["reversed"].tolist() == [False, True, False]
    nan = np.nan
    X_test = [
        [nan, 0, 6, 0],  # the best surrogate says right
        [nan, 0, nan, -1],  # the second one, reversed, right
        [nan, 1, nan, 0],  # ... and left
        [nan, 1, nan, nan],  # the last one right
        [nan, nan, nan, nan],  # nobody knows: an even split sends the rest right
    ]
    assert model.predict(X_test).tolist() == [10, 10, 0, 10, 10]


def test_surrogates_predict_better_than_a_common_side(rng):
    X = rng.normal(size=(400, 1)) + 0.2 * rng.normal(size=(400, 3))
    y = np.sin(2 * X[:, 0])
    X_test, y_test = X.copy(), y
    X_test[:, 0] = np.nan
    errors = [
        np.mean((DecisionTreeRegressor(surrogates=k).fit(X, y).predict(X_test) - y_test) ** 2)
        for k in (0, 2)
    ]
    assert errors[1] < 0.5 * errors[0]


def test_surrogate_importances_share_the_gain_with_the_substitutes(rng):
    x = rng.normal(size=200)
    X = np.column_stack([x, x, rng.normal(size=200)])
    model = DecisionTreeRegressor(surrogates=1, max_depth=3).fit(X, x)
    # The copy would have done as well at every node, and yet is never used.
    assert model.feature_importances_[1] == 0
    np.testing.assert_allclose(model.surrogate_importances_, [0.5, 0.5, 0], **EXACT)


# ---------------------------------------------------------------- categories


def loss_below_root(model):
    """Return the impurities of the two leaves of a stump, times their weights."""
    tree = model.tree_
    return (tree.impurity * tree.weighted_n_node_samples)[1:].sum()


@criteria
@pytest.mark.parametrize("missing", [0, 0.15])
@given(seed=st.integers(0, 2**16))
def test_a_split_by_categories_is_the_best_of_all_subsets(criterion, missing, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 6, size=40).astype(float)
    codes[rng.random(size=40) < missing] = np.nan
    y = rng.integers(0, 2, size=40) if criterion in CLASSIFICATION else rng.integers(1, 9, size=40)
    weight = rng.uniform(0.5, 2, size=40)
    model = make(criterion, categorical_features=[0], max_depth=1)
    model.fit(codes[:, None], y, sample_weight=weight)
    best = reference.best_subset_loss(codes, y, weight, criterion)
    np.testing.assert_allclose(loss_below_root(model), best, **EXACT)


@pytest.mark.parametrize("criterion", CLASSIFICATION)
@given(seed=st.integers(0, 2**16))
def test_more_classes_are_split_no_worse_than_any_against_the_rest(criterion, seed):
    rng = np.random.default_rng(seed)
    codes, y = rng.integers(0, 6, size=60), rng.integers(0, 4, size=60)
    weight = np.ones(60)
    model = make(criterion, categorical_features=[0], max_depth=1).fit(codes[:, None], y)
    for one in range(4):
        shares = np.array([np.mean(y[codes == code] == one) for code in range(6)])
        rank = np.argsort(np.argsort(shares, kind="stable"))[codes]
        best = min(
            reference.loss_of_sides(criterion, y, weight, rank <= cut) for cut in range(rank.max())
        )
        assert loss_below_root(model) <= best + 1e-9


@criteria
def test_the_codes_of_the_categories_do_not_matter(rng, criterion):
    codes = rng.integers(0, 12, size=(150, 2))
    y = targets(rng, criterion, codes, n_classes=2)
    weight = rng.uniform(0.5, 2, size=150)  # no ties
    names = rng.permutation(12)
    model = make(criterion, categorical_features=[0, 1], max_depth=4)
    one = model.fit(codes, y, sample_weight=weight).predict(codes)
    other = model.fit(names[codes], y, sample_weight=weight).predict(names[codes])
    np.testing.assert_allclose(one, other, **EXACT)


@pytest.mark.parametrize("dtype", ["category", "object", "string"])
def test_strings_in_a_frame_are_categories(rng, dtype):
    colour = rng.choice(["red", "green", "blue", "grey"], size=100)
    frame = pd.DataFrame({"size": rng.normal(size=100), "colour": pd.Series(colour, dtype=dtype)})
    y = np.isin(colour, ["red", "blue"]).astype(int)
    chosen = "from_dtype" if dtype == "category" else ["colour"]
    model = DecisionTreeClassifier(categorical_features=chosen).fit(frame, y)
    assert model.get_n_leaves() == 2
    assert sorted(model.categories_[1]) == ["blue", "green", "grey", "red"]
    np.testing.assert_array_equal(model.predict(frame), y)
    unseen = pd.DataFrame({"size": [0.0, 0.0], "colour": ["pink", None]})
    majority = model.predict(unseen)
    assert set(majority) == {np.argmax(np.bincount(y))}


@pytest.mark.parametrize(
    "chosen", [[1], [-1], [False, True], np.array([1]), ("b",)], ids=lambda chosen: str(chosen)
)
def test_categorical_features_are_chosen_by_place_truth_or_name(rng, chosen):
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.integers(0, 5, size=60)})
    y = frame["b"] % 2
    model = DecisionTreeClassifier(categorical_features=chosen).fit(frame, y)
    assert model.is_categorical_.tolist() == [False, True]
    assert model.get_n_leaves() == 2


@pytest.mark.parametrize(
    ("chosen", "message"),
    [([2], "indices"), ([-3], "indices"), ([True], "mask"), (["c"], "does not have: c")],
)
def test_features_that_are_not_there_are_an_error(rng, chosen, message):
    frame = pd.DataFrame({"a": rng.normal(size=9), "b": rng.normal(size=9)})
    with pytest.raises(ValueError, match=message):
        DecisionTreeClassifier(categorical_features=chosen).fit(frame, np.arange(9) % 2)


@criteria
@pytest.mark.parametrize("surrogates", [0, 2])
def test_unseen_and_missing_categories_find_a_leaf(rng, criterion, surrogates):
    X = rng.integers(0, 5, size=(80, 3)).astype(float)
    y = targets(rng, criterion, X)
    model = make(criterion, categorical_features=[0, 1, 2], surrogates=surrogates).fit(X, y)
    X_test = np.array([[99, np.nan, -7], [0, np.nan, 3], [np.nan] * 3, [0.5, 1e300, 2]])
    leaves = model.apply(X_test)
    assert np.all(model.tree_.children_left[leaves] < 0)


def test_a_category_absent_from_a_node_goes_where_missing_values_go(rng):
    # Category 2 is only there where the first feature is large.
    X = np.array([[0, 0]] * 6 + [[0, 1]] * 4 + [[1, 2]] * 10, dtype=float)
    y = np.array([0] * 6 + [1] * 4 + [5] * 10)
    model = DecisionTreeRegressor(categorical_features=[1]).fit(X, y)
    assert model.tree_.feature[0] == 0
    assert model.predict([[0, 2]]) == model.predict([[0, np.nan]]) == [0]


def test_as_many_categories_as_samples_are_sorted_by_their_targets(rng):
    n = 2_000
    codes, y = rng.permutation(n), rng.normal(size=n)
    model = DecisionTreeRegressor(categorical_features=[0], max_leaf_nodes=20)
    by_category = model.fit(codes[:, None], y).predict(codes[:, None])
    by_target = DecisionTreeRegressor(max_leaf_nodes=20).fit(y[:, None], y).predict(y[:, None])
    np.testing.assert_allclose(by_category, by_target, **EXACT)
