"""Numbers at the ends of what floats can hold, and data at the ends of what is data."""

import tracemalloc

import numpy as np
import pytest
from conftest import EXACT

from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor

SMALLEST = np.nextafter(0.0, 1.0)
CRITERIA = ["gini", "entropy", "squared_error", "poisson"]
criteria = pytest.mark.parametrize("criterion", CRITERIA)
splitters = pytest.mark.parametrize("splitter", ["best", "random"])


def make(criterion, **params):
    """Return a tree for a criterion."""
    cls = DecisionTreeClassifier if criterion in ("gini", "entropy") else DecisionTreeRegressor
    return cls(criterion=criterion, **params)


# ---------------------------------------------------------------- features


@criteria
@splitters
@pytest.mark.parametrize(
    "values",
    [
        [1e9, 1e9 + 1],
        [2.0**52, 2.0**52 + 1],
        [1.0, np.nextafter(1.0, 2.0)],
        [-1e300, 1e300],
        [np.finfo(float).min, np.finfo(float).max],
        [np.nextafter(np.finfo(float).max, 0), np.finfo(float).max],
        [0.0, SMALLEST],
        [-SMALLEST, 0.0],
        [SMALLEST, 2 * SMALLEST],
        [-1e-310, 1e-310],
        [1e-300, 1e300],
    ],
    ids=str,
)
def test_neighbours_are_told_apart(criterion, splitter, values):
    X, y = np.repeat(values, 3)[:, None], np.repeat([1, 2], 3)
    model = make(criterion, splitter=splitter, random_state=0).fit(X, y)
    assert model.get_n_leaves() == 2
    assert values[0] <= model.tree_.threshold[0] < values[1]
    np.testing.assert_array_equal(model.predict(X), y)


@splitters
def test_many_neighbouring_floats_are_told_apart(rng, splitter):
    x = [1.0]
    while len(x) < 60:
        x.append(np.nextafter(x[-1], 2))
    X, y = rng.permutation(x)[:, None], rng.normal(size=60)
    model = DecisionTreeRegressor(splitter=splitter, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)


def test_both_zeros_are_one_value():
    model = DecisionTreeClassifier().fit([[0.0], [-0.0], [0.0], [-0.0]], [0, 1, 0, 1])
    assert model.get_n_leaves() == 1
    model.fit([[-0.0], [0.0], [1.0]], [0, 0, 1])
    assert model.tree_.threshold[0] == 0.5


def test_infinite_samples_are_an_error():
    with pytest.raises(ValueError, match="infinity"):
        DecisionTreeClassifier().fit([[np.inf], [0.0]], [0, 1])
    model = DecisionTreeClassifier().fit([[1.0], [0.0]], [0, 1])
    with pytest.raises(ValueError, match="infinity"):
        model.predict([[np.inf]])


@criteria
@splitters
def test_constant_columns_are_never_split(rng, criterion, splitter):
    X, y = np.full((20, 3), 1e300), rng.integers(1, 4, size=20)
    assert make(criterion, splitter=splitter, random_state=0).fit(X, y).get_n_leaves() == 1
    X[:, 1] = rng.permutation(20)
    model = make(criterion, splitter=splitter, random_state=0).fit(X, y)
    assert set(model.tree_.feature) <= {1, -2}
    np.testing.assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize(
    "convert",
    [
        lambda X: X.astype(np.float32),
        lambda X: X.astype(np.int8),
        lambda X: X.astype(np.uint64),
        lambda X: X.astype(object),
        lambda X: X.tolist(),
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: X[::-1][::-1],
    ],
    ids=["float32", "int8", "uint64", "object", "list", "fortran", "strided", "reversed"],
)
def test_samples_may_come_in_any_type_and_order(rng, convert):
    X = rng.integers(0, 20, size=(50, 3)).astype(float)
    y = rng.integers(0, 3, size=50)
    wanted = DecisionTreeClassifier().fit(X, y)
    model = DecisionTreeClassifier().fit(convert(X), y)
    np.testing.assert_array_equal(model.tree_.threshold, wanted.tree_.threshold)
    np.testing.assert_array_equal(model.predict(convert(X)), wanted.predict(X))


def test_truth_values_are_numbers(rng):
    X = rng.integers(0, 2, size=(40, 3)).astype(bool)
    model = DecisionTreeClassifier().fit(X, X[:, 0] ^ X[:, 2])
    assert model.classes_.dtype == bool
    np.testing.assert_array_equal(model.predict(X), X[:, 0] ^ X[:, 2])


def test_memory_maps_that_cannot_be_written_are_read(rng, tmp_path):
    arrays = {
        "X": rng.normal(size=(60, 3)),
        "y": rng.normal(size=60),
        "weight": rng.uniform(0.5, 2, size=60),
    }
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    maps = {name: np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in arrays}
    model = DecisionTreeRegressor().fit(maps["X"], maps["y"], sample_weight=maps["weight"])
    np.testing.assert_allclose(model.predict(maps["X"]), arrays["y"], **EXACT)
    for name, array in arrays.items():
        np.testing.assert_array_equal(maps[name], array)


# ---------------------------------------------------------------- targets


@criteria
@splitters
def test_equal_targets_are_a_single_leaf(rng, criterion, splitter):
    model = make(criterion, splitter=splitter).fit(rng.normal(size=(30, 2)), np.full(30, 7))
    assert model.get_n_leaves() == 1
    assert model.predict([[0.0, 0.0]]).tolist() == [7]
    assert model.tree_.impurity.tolist() == [0]
    assert model.feature_importances_.tolist() == [0, 0]


@criteria
def test_one_sample_is_a_leaf(criterion):
    model = make(criterion).fit([[3.0, np.nan]], [5])
    assert model.predict([[0.0, 0.0], [np.nan, 1.0]]).tolist() == [5, 5]
    assert model.get_depth() == 0


@criteria
def test_equal_samples_with_different_targets_share_a_leaf(criterion):
    X, y = [[1, 2]] * 5 + [[3, 4]] * 5, [1, 1, 1, 3, 3, 2, 2, 2, 2, 1]
    model = make(criterion).fit(X, y)
    assert model.get_n_leaves() == 2
    if criterion in ("gini", "entropy"):
        assert model.predict_proba([[1, 2]]).tolist() == [[0.6, 0, 0.4]]
    else:
        np.testing.assert_allclose(model.predict([[1, 2], [3, 4]]), [1.8, 1.8], **EXACT)


@pytest.mark.parametrize("scale", [1e-200, 1e-20, 1e20, 1e149])
@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_unit_of_the_targets_does_not_matter(rng, scale, criterion, weighted):
    X = rng.normal(size=(60, 2))
    y = rng.uniform(0.5, 2, size=60) + (X[:, 0] > 0)
    weight = rng.uniform(0.5, 2, size=60) if weighted else None
    wanted = make(criterion, max_depth=4).fit(X, y, sample_weight=weight)
    model = make(criterion, max_depth=4).fit(X, y * scale, sample_weight=weight)
    np.testing.assert_array_equal(model.tree_.threshold, wanted.tree_.threshold)
    np.testing.assert_allclose(model.predict(X) / scale, wanted.predict(X), rtol=1e-9)
    assert np.all(np.isfinite(model.tree_.impurity))


@pytest.mark.parametrize("largest", [1e151, -1e200])
def test_targets_whose_squares_overflow_are_an_error(largest):
    with pytest.raises(ValueError, match="squares overflow"):
        DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, largest])


def test_a_large_offset_of_the_targets_costs_no_accuracy(rng):
    X = rng.permutation(64)[:, None]
    y = rng.integers(0, 8, size=64).astype(float)
    wanted = DecisionTreeRegressor(max_depth=4).fit(X, y).tree_
    tree = DecisionTreeRegressor(max_depth=4).fit(X, y + 2.0**45).tree_
    np.testing.assert_array_equal(tree.threshold, wanted.threshold)
    np.testing.assert_allclose(tree.impurity, wanted.impurity, rtol=1e-2)
    np.testing.assert_allclose(tree.improvement, wanted.improvement, **EXACT)


def test_targets_that_differ_in_the_last_bit_are_told_apart():
    y = np.where(np.arange(20) < 7, 1.0, np.nextafter(1.0, 2))
    model = DecisionTreeRegressor().fit(np.arange(20)[:, None], y)
    assert model.get_n_leaves() == 2
    np.testing.assert_array_equal(model.predict(np.arange(20)[:, None]), y)


@pytest.mark.parametrize("y", [[-1.0, 2.0], [0.0, 0.0]], ids=str)
def test_poisson_needs_positive_targets(y):
    with pytest.raises(ValueError, match="Poisson"):
        DecisionTreeRegressor(criterion="poisson").fit([[0.0], [1.0]], y)


def test_poisson_never_predicts_zero(rng):
    X = rng.normal(size=(80, 2))
    y = rng.poisson(np.exp(X[:, 0] - 1))
    model = DecisionTreeRegressor(criterion="poisson").fit(X, y)
    assert np.count_nonzero(y == 0) > 20
    assert model.predict(X).min() > 0


# ---------------------------------------------------------------- weights


@criteria
@pytest.mark.parametrize("scale", [1e-100, 1e-20, 1e10, 1e20, 1e100])
def test_the_unit_of_the_weights_does_not_matter(rng, criterion, scale):
    X, y = rng.normal(size=(60, 2)), rng.integers(1, 4, size=60)
    weight = rng.uniform(0.5, 2, size=60)
    wanted = make(criterion, max_depth=3).fit(X, y, sample_weight=weight).tree_
    tree = make(criterion, max_depth=3).fit(X, y, sample_weight=weight * scale).tree_
    np.testing.assert_array_equal(tree.threshold, wanted.threshold)
    np.testing.assert_allclose(tree.impurity, wanted.impurity, rtol=1e-9)


@criteria
def test_weights_of_very_different_size_are_all_counted(criterion):
    X = np.arange(40.0)[:, None]
    y = np.where(np.arange(40) % 20 < 10, 1, 3)
    weight = np.where(np.arange(40) < 20, 1e8, 1.0)
    model = make(criterion).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize(
    "class_weight", [{0: 0, 1: 0}, [{0: 0, 1: 0}, {0: 1, 1: 1}]], ids=["one", "several"]
)
def test_classes_without_any_weight_are_an_error(class_weight):
    y = np.arange(8) % 2
    y = np.column_stack([y, y]) if isinstance(class_weight, list) else y
    with pytest.raises(ValueError, match="weight"):
        DecisionTreeClassifier(class_weight=class_weight).fit(np.arange(8)[:, None], y)


def test_a_class_without_weight_is_known_but_never_predicted(rng):
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 3, size=40)
    model = DecisionTreeClassifier(class_weight={0: 0, 1: 1, 2: 1}).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(X)[:, 0].tolist() == [0] * 40
    without = DecisionTreeClassifier().fit(X[y > 0], y[y > 0])
    np.testing.assert_array_equal(model.predict(X), without.predict(X))


@pytest.mark.parametrize("cls", [DecisionTreeClassifier, DecisionTreeRegressor])
@pytest.mark.parametrize("weight", [[-1.0, 1.0], [np.nan, 1.0], [np.inf, 1.0]], ids=str)
def test_weights_that_are_no_weights_are_an_error(cls, weight):
    with pytest.raises(ValueError, match="weight"):
        cls().fit([[0.0], [1.0]], [0, 1], sample_weight=weight)


# ---------------------------------------------------------------- rules at their ends


@criteria
@pytest.mark.parametrize(
    "rule",
    [
        {"min_samples_leaf": 31},
        {"min_samples_leaf": 60},
        {"min_samples_split": 61},
        {"min_samples_split": 10**6},
        {"min_impurity_decrease": 1e9},
        {"min_samples_leaf": 0.51},
    ],
    ids=str,
)
def test_rules_that_allow_no_split_leave_the_root(rng, criterion, rule):
    X, y = rng.normal(size=(60, 2)), rng.integers(1, 4, size=60)
    X[rng.random(size=X.shape) < 0.3] = np.nan
    for params in ({}, {"max_leaf_nodes": 8}, {"surrogates": 2}, {"splitter": "random"}):
        assert make(criterion, **rule, **params).fit(X, y).get_n_leaves() == 1


@pytest.mark.parametrize("parameter", ["min_samples_leaf", "min_samples_split"])
def test_a_rule_is_met_exactly(rng, parameter):
    X, y = np.arange(10.0)[:, None], np.repeat([0, 1], 5)
    largest = {"min_samples_leaf": 5, "min_samples_split": 10}[parameter]
    assert DecisionTreeClassifier(**{parameter: largest}).fit(X, y).get_n_leaves() == 2
    assert DecisionTreeClassifier(**{parameter: largest + 1}).fit(X, y).get_n_leaves() == 1


def test_large_integer_weights_need_no_more_memory_than_others(rng):
    X, y = rng.normal(size=(100, 2)), rng.integers(0, 2, size=100)

    def peak(weight):
        tracemalloc.start()
        DecisionTreeClassifier(criterion="entropy").fit(X, y, sample_weight=weight)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert peak(np.full(100, 100_000)) < 2 * peak(np.full(100, 100_000.5))
