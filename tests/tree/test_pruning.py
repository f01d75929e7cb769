"""Weakest-link pruning against all pruned subtrees, against scikit-learn, and in bulk."""

import time

import numpy as np
import pytest
from _clock import slowness
from conftest import ALGEBRA, EXACT
from hypothesis import given
from hypothesis import strategies as st
from reference import cart as reference
from sklearn import tree as peer

from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor

MODELS = {
    "squared_error": DecisionTreeRegressor(),
    "poisson": DecisionTreeRegressor(criterion="poisson"),
    "gini": DecisionTreeClassifier(),
    "entropy": DecisionTreeClassifier(criterion="entropy"),
    "misclassification": DecisionTreeClassifier(risk="misclassification"),
    "cost": DecisionTreeClassifier(
        risk="misclassification", cost_matrix=[[0, 1, 2], [4, 0, 1], [1, 1, 0]]
    ),
    "best first": DecisionTreeRegressor(max_leaf_nodes=9),
}
models = pytest.mark.parametrize("name", MODELS)


def problem(rng, n=12, d=2):
    """Return samples, targets that are classes and counts, and weights."""
    X, y = rng.integers(0, 6, size=(n, d)).astype(float), rng.integers(0, 3, size=n)
    y[:3] = 0, 1, 2
    return X, y, rng.integers(1, 4, size=n)


def fitted(name, X, y, weight=None, **params):
    """Return a fresh fitted model."""
    model = MODELS[name]
    return type(model)(**{**model.get_params(), **params}).fit(X, y, sample_weight=weight)


def leaves_at(tree, alpha):
    """Return the leaves of the tree that ends at the first nodes with ``collapse <= alpha``."""
    found, pending = set(), [0]
    while pending:
        node = pending.pop()
        if tree.children_left[node] < 0 or tree.collapse[node] <= alpha:
            found.add(node)
        else:
            pending += [tree.children_left[node], tree.children_right[node]]
    return found


def between(alphas):
    """Return prices inside every interval of a path, and beyond its end."""
    return np.append((alphas[:-1] + alphas[1:]) / 2, alphas[-1] + 1)


# ---------------------------------------------------------------- all pruned subtrees


@models
@given(seed=st.integers(0, 2**16))
def test_pruned_trees_are_the_smallest_that_minimise_risk_and_price(name, seed):
    X, y, weight = problem(np.random.default_rng(seed))
    model = fitted(name, X, y, weight)
    tree, path = model.tree_, model.ccp_path_
    assert path.alphas[0] == 0
    assert np.all(np.diff(path.alphas) > 0)
    for k, alpha in enumerate(between(path.alphas)):
        leaves = reference.smallest_minimiser(tree, alpha)
        assert leaves_at(tree, alpha) == leaves_at(tree, path.alphas[k]) == leaves
        assert path.n_leaves[k] == len(leaves)
        np.testing.assert_allclose(path.risks[k], tree.risk[list(leaves)].sum(), **EXACT)
    # The smallest minimiser exactly where the price of a step is reached, too.
    for alpha in path.alphas:
        assert leaves_at(tree, alpha) == reference.smallest_minimiser(tree, alpha)


@models
@given(seed=st.integers(0, 2**16))
def test_the_path_is_nested_and_ends_at_the_root(name, seed):
    X, y, weight = problem(np.random.default_rng(seed), n=40)
    model = fitted(name, X, y, weight)
    path = model.ccp_path_
    assert path.n_leaves[-1] == 1
    assert np.all(np.diff(path.n_leaves) < 0)
    # Of a smaller tree every leaf is a node of the larger one.
    at = model.tree_.apply_path(X, path.alphas)
    depth = model.tree_.depth[at]
    assert np.all(np.diff(depth, axis=1) <= 0)
    passed = model.decision_path(X).toarray()
    assert np.take_along_axis(passed, at, axis=1).all()


# ---------------------------------------------------------------- pruned estimators


@models
def test_rows_of_predict_path_are_what_the_pruned_trees_predict(rng, name):
    X, y, weight = problem(rng, n=80, d=3)
    X[rng.random(size=X.shape) < 0.1] = np.nan
    for params in ({}, {"surrogates": 2}, {"categorical_features": [0, 2]}):
        model = fitted(name, X, y, weight, **params)
        path = model.ccp_path_
        assert len(path.alphas) > 4
        predictions = model.predict_path(X)
        for alpha, n_leaves, row in zip(path.alphas, path.n_leaves, predictions, strict=True):
            pruned = model.prune(alpha)
            assert pruned.get_n_leaves() == n_leaves
            np.testing.assert_array_equal(pruned.predict(X), row)
        prices = rng.permutation(between(path.alphas))  # in any order
        for alpha, row in zip(prices, model.predict_path(X, prices), strict=True):
            np.testing.assert_array_equal(model.prune(alpha).predict(X), row)


@models
def test_pruning_returns_a_new_estimator_and_keeps_the_old(rng, name):
    X, y, _ = problem(rng, n=60)
    model = fitted(name, X, y)
    before = {key: np.array(value) for key, value in model.tree_.__getstate__().items()}
    pruned = model.prune(n_leaves=3)
    assert pruned is not model
    assert type(pruned) is type(model)
    assert pruned.get_n_leaves() <= 3 < model.get_n_leaves()
    assert pruned.ccp_alpha in model.ccp_path_.alphas
    assert model.ccp_alpha == 0
    for key, value in model.tree_.__getstate__().items():
        np.testing.assert_array_equal(value, before[key], err_msg=key)
    again = fitted(name, X, y, ccp_alpha=pruned.ccp_alpha)
    np.testing.assert_array_equal(again.tree_.threshold, pruned.tree_.threshold)
    np.testing.assert_array_equal(again.tree_.children_left, pruned.tree_.children_left)


@models
def test_the_path_of_a_pruned_tree_is_the_rest_of_the_path(rng, name):
    X, y, weight = problem(rng, n=60)
    model = fitted(name, X, y, weight)
    path = model.ccp_path_
    k = len(path.alphas) // 2
    rest = model.prune(path.alphas[k]).ccp_path_
    assert rest.n_leaves.tolist() == path.n_leaves[k:].tolist()
    np.testing.assert_allclose(rest.alphas[1:], path.alphas[k + 1 :], **EXACT)
    np.testing.assert_allclose(rest.risks, path.risks[k:], **EXACT)


def test_n_leaves_chooses_the_largest_tree_that_is_small_enough(rng):
    X, y, _ = problem(rng, n=60)
    model = fitted("gini", X, y)
    sizes = model.ccp_path_.n_leaves
    for n_leaves in range(1, model.get_n_leaves() + 3):
        assert model.prune(n_leaves=n_leaves).get_n_leaves() == sizes[sizes <= n_leaves].max()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "exactly one"),
        ({"alpha": 1, "n_leaves": 2}, "exactly one"),
        ({"alpha": -1}, "alpha must be >= 0"),
        ({"alpha": np.nan}, "alpha must be >= 0"),
        ({"n_leaves": 0}, "int >= 1"),
        ({"n_leaves": 2.5}, "int >= 1"),
    ],
)
def test_what_makes_no_sense_as_a_price_is_an_error(rng, arguments, message):
    X, y, _ = problem(rng)
    with pytest.raises(ValueError, match=message):
        fitted("gini", X, y).prune(**arguments)


@pytest.mark.parametrize("alphas", [[-1.0], [[0.0]], [np.nan]], ids=str)
def test_prices_of_a_path_must_be_a_list_of_prices(rng, alphas):
    X, y, _ = problem(rng)
    with pytest.raises(ValueError, match="alphas"):
        fitted("gini", X, y).predict_path(X, alphas)


@pytest.mark.parametrize("name", ["gini", "squared_error"])
def test_a_tree_of_one_leaf_has_a_path_of_one_step(name):
    model = fitted(name, np.zeros((4, 1)), np.array([0, 1, 1, 2]))
    path = model.ccp_path_
    assert (path.alphas.tolist(), path.n_leaves.tolist()) == ([0], [1])
    assert model.predict_path([[5.0]]).shape == (1, 1)
    assert model.prune(0).get_n_leaves() == 1


def test_several_outputs_are_pruned_together(rng):
    X, y = rng.normal(size=(60, 2)), rng.normal(size=(60, 3))
    model = DecisionTreeRegressor().fit(X, y)
    alphas = model.ccp_path_.alphas[[3, 10, -1]]
    predictions = model.predict_path(X, alphas)
    assert predictions.shape == (3, 60, 3)
    for alpha, row in zip(alphas, predictions, strict=True):
        np.testing.assert_array_equal(model.prune(alpha).predict(X), row)


# ---------------------------------------------------------------- scikit-learn


@pytest.mark.parametrize("name", ["gini", "entropy", "squared_error", "poisson"])
def test_path_and_pruned_trees_are_those_of_scikit_learn(rng, name):
    compared = 0
    for _ in range(8):
        # One feature with distinct values: no ties, and the same tree.
        X = rng.permutation(60)[:, None] / 4.0
        y = rng.integers(0, 3, size=60) + (X[:, 0] > 7)
        weight = rng.integers(2**10, 2**13, size=60) / 2**10
        ours = fitted(name, X, y, weight)
        theirs = getattr(peer, type(ours).__name__)(criterion=ours.criterion, random_state=0)
        path = theirs.cost_complexity_pruning_path(X, y, sample_weight=weight)
        mine = ours.cost_complexity_pruning_path(X, y, sample_weight=weight)
        np.testing.assert_allclose(mine.ccp_alphas, distinct(path.ccp_alphas), **ALGEBRA)
        np.testing.assert_allclose(mine.impurities[-1], path.impurities[-1], **ALGEBRA)
        np.testing.assert_allclose(mine.impurities, ours.ccp_path_.risks, **EXACT)
        for alpha in between(mine.ccp_alphas)[::7]:
            theirs.set_params(ccp_alpha=alpha).fit(X, y, sample_weight=weight)
            pruned = fitted(name, X, y, weight, ccp_alpha=alpha)
            assert pruned.get_n_leaves() == theirs.get_n_leaves()
            np.testing.assert_allclose(pruned.predict(X), theirs.predict(X), **ALGEBRA)
            compared += 1
    assert compared > 20


def distinct(alphas):
    """Return increasing numbers without those that are equal but for rounding."""
    alphas = np.maximum(alphas, 0)
    steps = np.append(np.diff(alphas) > 1e-9, True)
    found = alphas[steps]
    return found if found[0] < 1e-12 else np.append(0.0, found)


# ---------------------------------------------------------------- in bulk


def test_a_long_chain_is_pruned_at_once():
    # Of labels that alternate each split cuts off one: the tree is as deep as it has leaves.
    n = 4_000
    X = np.arange(n, dtype=float)[:, None]
    model = DecisionTreeClassifier().fit(X, np.arange(n) % 2)
    assert model.get_depth() == model.get_n_leaves() - 1 == n - 1
    start = time.perf_counter()
    path = model.ccp_path_
    pruned = model.prune(n_leaves=10)
    predictions = model.predict_path(X[:20])
    assert time.perf_counter() - start < 2 * slowness()
    assert path.n_leaves[-1] == 1
    assert pruned.get_n_leaves() <= 10
    assert predictions.shape == (len(path.alphas), 20)


def test_pruning_many_leaves_is_as_fast_as_sorting_them(rng):
    X, y = rng.normal(size=(20_000, 2)), rng.normal(size=20_000)
    model = DecisionTreeRegressor().fit(X, y)
    start = time.perf_counter()
    path = model.ccp_path_
    assert time.perf_counter() - start < 2 * slowness()
    assert path.n_leaves[0] == model.prune(0).get_n_leaves() > 19_900
    assert len(path.alphas) > 5_000
    assert np.all(np.diff(path.risks) > 0)


def test_an_outlier_does_not_hide_the_steps_of_the_path():
    X, y = np.arange(9.0)[:, None], np.array([0, 0, 1, 1, 4, 4, 9, 9, 1e10])
    model = DecisionTreeRegressor().fit(X, y)
    within = DecisionTreeRegressor().fit(X[:-1], y[:-1])
    assert model.get_n_leaves() == within.get_n_leaves() + 1
    # The outlier is cut off first; below it the path is that of the others.
    np.testing.assert_allclose(
        9 * model.ccp_path_.alphas[:-1], 8 * within.ccp_path_.alphas, **ALGEBRA
    )
    np.testing.assert_array_equal(model.prune(0).predict(X), y)
