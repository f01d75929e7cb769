"""A tree on sparse samples is the tree on the same samples, dense, and costs what is stored."""

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import random_sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn import tree as peer

from sklearn_sl.tree import (
    DecisionTreeClassifier,
    DecisionTreeClassifierCV,
    DecisionTreeRegressor,
    DecisionTreeRegressorCV,
    _entries,
    _growing,
)

CONTAINERS = (
    sp.csr_matrix,
    sp.csr_array,
    sp.csc_matrix,
    sp.csc_array,
    sp.coo_matrix,
    sp.coo_array,
)
# Cells of a slice, of a node that is shared by features, and of a slice of a shared tree.
CUTS = [(150, 1e9, 150), (500, 0, 100), (4e6, 300, 20), (1, 0, 1)]
CRITERIA = {
    DecisionTreeClassifier: ["gini", "entropy"],
    DecisionTreeRegressor: ["squared_error", "poisson", "absolute_error"],
}
RULES = {
    "splitter": ["best", "random"],
    "max_features": [None, "sqrt", 0.5],
    "max_depth": [None, 3],
    "min_samples_leaf": [1, 3, 0.2],
    "min_weight_fraction_leaf": [0.0, 0.1],
    "max_leaf_nodes": [None, 6],
    "min_impurity_decrease": [0.0, 0.02],
    "competitors": [0, 2],
}


def cut_up(monkeypatch, cut):
    """Let the work be cut up into pieces of these sizes."""
    for name, value in zip(("SLICE", "SHARED", "SHORT_SLICE"), cut, strict=True):
        monkeypatch.setattr(_growing, name, value)


def same_trees(tree, other):
    """Assert that trees are equal to the last bit, whatever they tell."""
    for name, value in tree.__getstate__().items():
        np.testing.assert_array_equal(value, getattr(other, name), err_msg=name)


def sparse_problem(rng, n=80, d=30, share=0.15, *, signs=True):
    """Return dense samples that are mostly zero, with few distinct values, and targets."""
    X = rng.integers(-3 if signs else 0, 4, size=(n, d)) / 2.0
    X[rng.random((n, d)) > share] = 0.0
    y = X[:, 0] - X[:, 1] + np.abs(X[:, 2]) + rng.normal(size=n).round(1)
    return X, y


def target_for(model, y):
    """Return numbers as a target that suits the model: not negative, or three classes."""
    y = np.abs(y)
    return np.digitize(y, [0.5, 1.5]) if "Classifier" in type(model).__name__ else y + 0.1


# ---------------------------------------------------------------- the same tree


@given(data=st.data())
def test_sparse_tree_is_the_dense_tree(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n, d = data.draw(st.integers(2, 60)), data.draw(st.integers(1, 40))
    share = data.draw(st.sampled_from([0.0, 0.03, 0.2, 0.8, 1.0]))
    X, y = rng.normal(size=(n, d)), rng.normal(size=(n, data.draw(st.integers(1, 2))))
    if data.draw(st.booleans()):  # ties
        X, y = X.round(), y.round()
    if data.draw(st.booleans()):
        X = np.abs(X)
    X[rng.random((n, d)) >= share] = 0.0
    weight = data.draw(st.sampled_from([None, rng.random(n) + 0.1, 1.0 + rng.integers(0, 3, n)]))
    Tree = data.draw(st.sampled_from([DecisionTreeClassifier, DecisionTreeRegressor]))
    rules = {name: data.draw(st.sampled_from(values)) for name, values in RULES.items()}
    model = Tree(criterion=data.draw(st.sampled_from(CRITERIA[Tree])), random_state=0, **rules)
    y = target_for(model, y)
    dense = pickle.loads(pickle.dumps(model)).fit(X, y, weight)
    model.fit(sp.csr_array(X), y, weight)
    same_trees(dense.tree_, model.tree_)
    np.testing.assert_array_equal(dense.predict(X), model.predict(sp.csc_array(X)))


@pytest.mark.parametrize("surrogates", [0, 2])
@pytest.mark.parametrize("Tree", CRITERIA)
def test_surrogates_and_constraints_are_those_of_the_dense_tree(rng, Tree, surrogates):
    X, y = sparse_problem(rng)
    y = y > 0.5 if Tree is DecisionTreeClassifier else y
    params = {"surrogates": surrogates, "max_depth": 6}
    if not surrogates:
        params["monotonic_cst"] = [1, -1] + [0] * 28
    dense, sparse = Tree(**params).fit(X, y), Tree(**params).fit(sp.csr_array(X), y)
    same_trees(dense.tree_, sparse.tree_)
    assert sparse.get_n_leaves() > 5


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("params", [{}, {"max_features": 5}, {"max_leaf_nodes": 20}])
def test_sparse_tree_does_not_depend_on_how_the_work_is_cut_up(monkeypatch, rng, cut, params):
    X, y = sparse_problem(rng, n=150)
    dense = DecisionTreeRegressor(random_state=0, **params).fit(X, y)
    cut_up(monkeypatch, cut)
    monkeypatch.setattr(_entries, "SLICE", 20)
    monkeypatch.setattr(_entries, "MANY", 0)
    sparse = DecisionTreeRegressor(random_state=0, n_jobs=2, **params).fit(sp.csr_array(X), y)
    same_trees(dense.tree_, sparse.tree_)


def test_samples_without_entries_are_one_leaf(monkeypatch):
    X, y = sp.csr_array((9, 4)), np.arange(9.0)
    assert DecisionTreeRegressor().fit(X, y).get_n_leaves() == 1
    cut_up(monkeypatch, CUTS[-1])
    assert DecisionTreeRegressor(n_jobs=2).fit(X, y).get_n_leaves() == 1


@pytest.mark.parametrize("Tree", [DecisionTreeClassifierCV, DecisionTreeRegressorCV])
def test_cross_validated_size_is_that_of_dense_samples(rng, Tree):
    X, y = sparse_problem(rng)
    y = target_for(Tree(), y)
    scoring = "neg_log_loss" if Tree is DecisionTreeClassifierCV else "r2"
    for params in ({}, {"scoring": scoring, "cv": 2, "max_depth": 3}):
        dense = Tree(random_state=0, **params).fit(X, y)
        sparse = Tree(random_state=0, **params).fit(sp.csr_array(X), y)
        same_trees(dense.tree_, sparse.tree_)
        np.testing.assert_array_equal(dense.cv_scores_, sparse.cv_scores_)


def test_thresholds_are_those_of_scikit_learn(rng):
    # One feature is clearly best in every node, and the thresholds are between the same values.
    X, _ = sparse_problem(rng, n=300, d=3, share=0.6)
    y = 100 * X[:, 0] + 10 * X[:, 1] + X[:, 2]
    ours = DecisionTreeRegressor(max_depth=4).fit(sp.csr_array(X), y).tree_
    theirs = peer.DecisionTreeRegressor(max_depth=4).fit(sp.csr_array(X), y).tree_
    for name in ("children_left", "children_right", "feature", "threshold", "n_node_samples"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


# ---------------------------------------------------------------- what is asked of it


def test_questions_are_answered_like_dense_ones(rng):
    X, y = sparse_problem(rng)
    y, S = target_for(DecisionTreeClassifier(), y), sp.csr_array(X)
    dense, sparse = DecisionTreeClassifier().fit(X, y), DecisionTreeClassifier().fit(S, y)
    for name in ("predict", "predict_proba", "predict_log_proba", "apply", "predict_path"):
        np.testing.assert_array_equal(getattr(dense, name)(X), getattr(sparse, name)(S))
    for name in ("apply", "predict"):
        np.testing.assert_array_equal(
            getattr(dense.tree_, name)(X), getattr(sparse.tree_, name)(S.astype(np.float32))
        )
    assert (dense.decision_path(X) != sparse.decision_path(S)).nnz == 0
    assert dense.score(X, y) == sparse.score(S, y)
    np.testing.assert_array_equal(dense.feature_importances_, sparse.feature_importances_)
    ours, theirs = (sparse.cost_complexity_pruning_path(Z, y) for Z in (S, X))
    np.testing.assert_array_equal(ours.ccp_alphas, theirs.ccp_alphas)
    again = pickle.loads(pickle.dumps(sparse))
    np.testing.assert_array_equal(again.predict(S), dense.predict(X))
    np.testing.assert_array_equal(
        sparse.prune(n_leaves=3).predict(S), dense.prune(n_leaves=3).predict(X)
    )


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blocks_of_rows_make_no_difference(monkeypatch, rng, n_jobs):
    X, y = sparse_problem(rng, n=333)
    model = DecisionTreeRegressor(n_jobs=n_jobs).fit(X, y)
    monkeypatch.setattr(_entries, "ROOM", 500)
    monkeypatch.setattr("sklearn_sl.tree._tree.BLOCK", 50)
    np.testing.assert_array_equal(model.predict(sp.csr_array(X)), model.predict(X))


# ---------------------------------------------------------------- containers


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("container", CONTAINERS)
def test_containers_and_types_make_no_difference(rng, container, dtype):
    X, y = sparse_problem(rng)
    X = (2 * X).astype(dtype)
    dense = DecisionTreeRegressor().fit(X.astype(np.float64), y)
    sparse = DecisionTreeRegressor().fit(container(X), y)
    same_trees(dense.tree_, sparse.tree_)
    np.testing.assert_array_equal(dense.predict(X), sparse.predict(container(X)))


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_entries_may_be_zero_in_any_order_and_stored_twice(rng, container, index):
    X, y = sparse_problem(rng, n=20, d=6)
    tidy = container(X)
    n_rows = len(tidy.indptr) - 1
    messy = container(X)
    # Each entry is stored in three parts, and there is a zero as well, all of them in disorder.
    order = [rng.permutation(4 * n) for n in np.diff(tidy.indptr)]
    parts = [slice(tidy.indptr[i], tidy.indptr[i + 1]) for i in range(n_rows)]
    messy.indptr = (4 * tidy.indptr).astype(index)
    messy.indices = np.concatenate(
        [np.tile(tidy.indices[part], 4)[at] for part, at in zip(parts, order, strict=True)]
    ).astype(index)
    messy.data = np.concatenate(
        [
            (tidy.data[part] * np.array([[0.25], [0.25], [0.5], [0.0]])).ravel()[at]
            for part, at in zip(parts, order, strict=True)
        ]
    )
    messy.has_sorted_indices = messy.has_canonical_format = False
    before = messy.copy()
    dense, sparse = DecisionTreeRegressor().fit(X, y), DecisionTreeRegressor().fit(messy, y)
    same_trees(dense.tree_, sparse.tree_)
    np.testing.assert_array_equal(dense.predict(X), sparse.predict(messy))
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(messy, name), getattr(before, name))


def test_arrays_may_be_read_only_memory_maps(rng, tmp_path):
    X, y = sparse_problem(rng)
    S = sp.csr_array(X)
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / f"{name}.npy", getattr(S, name))
        setattr(S, name, np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    model = DecisionTreeRegressor().fit(S, y)
    same_trees(model.tree_, DecisionTreeRegressor().fit(X, y).tree_)
    np.testing.assert_array_equal(model.predict(S), model.predict(X))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_missing_and_infinite_values_are_refused_in_sparse_samples(rng, value):
    X, y = sparse_problem(rng)
    bad = sp.csr_array(X)
    bad.data[3] = value
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        DecisionTreeRegressor().fit(bad, y)
    model = DecisionTreeRegressor().fit(X, y)
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        model.predict(bad)


def test_categories_need_dense_samples(rng):
    X, y = sparse_problem(rng)
    X = np.abs(X)
    with pytest.raises(ValueError, match="X must be dense if some features are categorical"):
        DecisionTreeRegressor(categorical_features=[0]).fit(sp.csr_array(X), y)
    model = DecisionTreeRegressor(categorical_features=[0]).fit(X, y)
    with pytest.raises(ValueError, match="X must be dense if some features are categorical"):
        model.predict(sp.csr_array(X))


# ---------------------------------------------------------------- memory


def test_memory_is_that_of_what_is_stored(rng):
    n, d = 3000, 100_000  # 2.4 GB if it were dense
    X = random_sparse(rng, (n, d), 2e-4)
    y = rng.integers(0, 2, size=n)
    tracemalloc.start()
    try:
        model = DecisionTreeClassifier(max_depth=8).fit(X, y)
        model.predict(X)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert model.get_depth() == 8
    assert peak < 50e6
