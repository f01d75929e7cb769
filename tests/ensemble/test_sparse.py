"""Ensembles of trees on sparse samples are those on the same samples, dense."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import random_sparse
from sklearn.base import clone, is_classifier
from sklearn.model_selection import cross_val_score

from sklearn_sl.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ForwardStagewiseRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn_sl.tree import DecisionTreeClassifier, _entries

ENSEMBLES = [
    RandomForestClassifier(8, oob_score=True),
    RandomForestClassifier(8, class_weight="balanced_subsample", max_samples=0.5, n_jobs=2),
    RandomForestClassifier(8, bootstrap=False, max_features=3, min_samples_leaf=2),
    RandomForestRegressor(8, oob_score=True),
    RandomForestRegressor(8, criterion="absolute_error", max_features="sqrt"),
    BaggingClassifier(n_estimators=6, oob_score=True, max_features=0.5),
    BaggingRegressor(n_estimators=6, bootstrap_features=True, max_features=0.7),
    AdaBoostClassifier(n_estimators=10),
    AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=5),
    AdaBoostRegressor(n_estimators=5),
    ForwardStagewiseRegressor(n_estimators=5),
]


def sparse_problem(rng, n=120, d=40):
    """Return dense samples that are mostly zero, and targets."""
    X = rng.integers(-2, 4, size=(n, d)) / 2.0
    X[rng.random((n, d)) > 0.15] = 0.0
    y = X[:, 0] - X[:, 1] + np.abs(X[:, 2]) + 0.5 * rng.normal(size=n)
    return X, y


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ensemble", ENSEMBLES, ids=lambda model: str(model)[:60])
def test_ensemble_on_sparse_samples_is_the_dense_one(rng, ensemble, weighted):
    X, y = sparse_problem(rng)
    y = np.digitize(y, [0.0, 1.0]) if is_classifier(ensemble) else y
    weight = rng.integers(0, 3, size=len(y)) if weighted else None
    ensemble = clone(ensemble).set_params(random_state=0)
    dense = clone(ensemble).fit(X, y, weight)
    sparse = clone(ensemble).fit(sp.csc_array(X), y, weight)
    ask = "predict_proba" if hasattr(ensemble, "predict_proba") else "predict"
    expected = getattr(dense, ask)(X)
    for samples in (X, sp.csr_array(X), sp.csc_matrix(X), sp.coo_array(X)):
        np.testing.assert_array_equal(getattr(sparse, ask)(samples), expected)
    for name in ("feature_importances_", "oob_score_", "oob_decision_function_"):
        if hasattr(dense, name):
            np.testing.assert_array_equal(getattr(sparse, name), getattr(dense, name))


def test_questions_to_a_forest_are_answered_like_dense_ones(rng):
    X, y = sparse_problem(rng)
    S = sp.csr_array(X)
    dense = RandomForestRegressor(6, max_features=10, random_state=0).fit(X, y)
    sparse = RandomForestRegressor(6, max_features=10, random_state=0).fit(S, y)
    np.testing.assert_array_equal(dense.apply(X), sparse.apply(S))
    assert (dense.decision_path(X)[0] != sparse.decision_path(S)[0]).nnz == 0
    ours, theirs = (
        model.oob_permutation_importance(samples, y, random_state=0).importances
        for model, samples in ((sparse, S), (dense, X))
    )
    np.testing.assert_array_equal(ours, theirs)
    more = sparse.set_params(n_estimators=9, warm_start=True).fit(S, y)
    np.testing.assert_array_equal(
        more.predict(S), clone(more).set_params(warm_start=False).fit(X, y).predict(X)
    )


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blocks_of_rows_make_no_difference(monkeypatch, rng, n_jobs):
    X, y = sparse_problem(rng, n=211)
    forest = RandomForestRegressor(5, n_jobs=n_jobs, random_state=0).fit(X, y)
    monkeypatch.setattr(_entries, "ROOM", 700)
    monkeypatch.setattr("sklearn_sl.ensemble._packed_trees.MANY", 0)
    np.testing.assert_array_equal(forest.predict(sp.csr_array(X)), forest.predict(X))


def test_missing_values_are_refused_in_sparse_samples(rng):
    X, y = sparse_problem(rng)
    bad = sp.csr_array(X)
    bad.data[0] = np.nan
    forest = RandomForestRegressor(3, random_state=0).fit(X, y)
    for question in (forest.predict, lambda samples: clone(forest).fit(samples, y)):
        with pytest.raises(ValueError, match="Input X contains NaN"):
            question(bad)


def test_documents_are_classified_by_their_words(rng):
    # Each topic has words of its own among many that say nothing.
    n, d = 400, 2000
    X = random_sparse(rng, (n, d), 0.01, "lil")
    y = rng.integers(0, 3, size=n)
    for topic in range(3):
        rows = np.flatnonzero(y == topic)
        for word in range(10):
            X[rng.choice(rows, len(rows) // 3), 10 * topic + word] = 1.0
    forest = RandomForestClassifier(30, max_features=0.2, random_state=0)
    assert cross_val_score(forest, X.tocsr(), y, cv=3).mean() > 0.85
