"""Threads share the work and nothing else: the tree is the same however it is cut up."""

import threading

import numpy as np
import pytest

from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor, _growing

ARRAYS = (
    "children_left",
    "children_right",
    "feature",
    "threshold",
    "missing_go_to_left",
    "depth",
    "n_node_samples",
    "weighted_n_node_samples",
    "impurity",
    "value",
    "improvement",
    "collapse",
)
# Cells of a slice, of a node that is shared by features, and of a slice of a shared tree.
CUTS = {
    "one slice": (4e6, 5e5, 2e5),
    "short slices": (150, 1e9, 150),
    "shared by features": (4e6, 0, 2e5),
    "shared by features, slice by slice": (500, 0, 100),
    "large nodes by features, small ones by subtrees": (4e6, 300, 20),
    "everything at once": (1, 0, 1),
}
PARAMS = [
    {},
    {"max_depth": 5, "min_samples_leaf": 2},
    {"max_leaf_nodes": 60},
    {"max_leaf_nodes": 60, "min_impurity_decrease": 1e-3},
    {"splitter": "random", "random_state": 0},
    {"max_features": 2, "random_state": 0},
    {"max_features": 2, "max_leaf_nodes": 30, "random_state": 0},
    {"surrogates": 2},
]
cuts = pytest.mark.parametrize("cut", CUTS)
jobs = pytest.mark.parametrize("n_jobs", [1, 2])


def cut_up(monkeypatch, cut):
    """Let the work be cut up as ``CUTS`` says."""
    for name, value in zip(("SLICE", "SHARED", "SHORT_SLICE"), CUTS[cut], strict=True):
        monkeypatch.setattr(_growing, name, value)


def problem(rng, n=200):
    """Return samples with missing values and categories, targets and weights."""
    X = rng.normal(size=(n, 5)).round(1)
    X[:, 4] = rng.integers(0, 6, size=n)
    y = X[:, 0] + (X[:, 4] % 2) + 0.3 * rng.normal(size=n)
    X[rng.random(size=(n, 5)) < 0.1] = np.nan
    return X, y, rng.uniform(0.5, 2, size=n)


def assert_identical(one, other):
    """Check that two trees are the same to the last bit."""
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@cuts
@jobs
@pytest.mark.parametrize("params", PARAMS, ids=str)
def test_the_tree_does_not_depend_on_how_the_work_is_cut_up(rng, monkeypatch, cut, n_jobs, params):
    X, y, weight = problem(rng)
    models = [
        DecisionTreeRegressor(categorical_features=[4], **params),
        DecisionTreeClassifier(categorical_features=[4], criterion="entropy", **params),
    ]
    wanted = [model.fit(X, np.rint(y), weight).tree_ for model in models]
    cut_up(monkeypatch, cut)
    for model, tree in zip(models, wanted, strict=True):
        model.set_params(n_jobs=n_jobs).fit(X, np.rint(y), weight)
        assert_identical(tree, model.tree_)


@cuts
@jobs
def test_rivals_do_not_depend_on_how_the_work_is_cut_up(rng, monkeypatch, cut, n_jobs):
    X, y, weight = problem(rng)
    model = DecisionTreeRegressor(competitors=2, surrogates=2, max_depth=4)
    wanted = model.fit(X, y, weight).tree_
    cut_up(monkeypatch, cut)
    tree = model.set_params(n_jobs=n_jobs).fit(X, y, weight).tree_
    np.testing.assert_array_equal(tree.surrogates, wanted.surrogates)
    np.testing.assert_array_equal(tree.competitors, wanted.competitors)


def test_best_first_never_has_more_leaves_than_it_may(rng):
    # Large enough that the search is cut up as it is for users.
    X, y = rng.normal(size=(20_000, 20)), rng.normal(size=20_000)
    tree = DecisionTreeRegressor(max_leaf_nodes=40).fit(X, y).tree_
    assert tree.n_leaves == 40
    assert (
        np.bincount(tree.apply(X), minlength=tree.node_count).tolist()
        == np.where(tree.children_left < 0, tree.n_node_samples, 0).tolist()
    )


def test_large_data_gives_the_same_tree_in_two_threads(rng):
    X = rng.normal(size=(60_000, 9))
    y = (X[:, 0] + X[:, 3] > 0.5 * rng.normal(size=60_000)).astype(int)
    assert X.size > _growing.SHARED
    one, two = (DecisionTreeClassifier(max_depth=12, n_jobs=n).fit(X, y) for n in (1, 2))
    assert_identical(one.tree_, two.tree_)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


class WorkerWithoutMemory:
    """A worker that fails at the first node it gets."""

    def take(self, *node):
        raise MemoryError


def test_error_of_one_worker_ends_the_wait_of_the_others():
    queue, errors = _growing.Queue(2), []
    queue.put(())

    def work():
        try:
            queue.work(WorkerWithoutMemory())
        except MemoryError as error:
            errors.append(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads)
    assert len(errors) == 1
