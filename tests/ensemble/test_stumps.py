"""Stumps: the search in blocks finds the best of all stumps."""

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from hypothesis import given
from hypothesis import strategies as st
from reference.boosting import all_stumps, best_stump, gini_gain
from sklearn.base import clone

from sklearn_sl.ensemble import AdaBoostClassifier, DecisionStump, _stumps
from sklearn_sl.ensemble._stump import StumpSearch
from sklearn_sl.tree import DecisionTreeClassifier
from sklearn_sl.tree._training_set import TrainingSet


def random_problem(seed, n_samples, n_values, n_features=3):
    """Return samples with few values, so that there are ties, classes -1 and 1, and masses."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (n_samples, n_features)).astype(float)
    y = np.where(X[:, 0] + X[:, 1] + n_values * rng.normal(size=n_samples) > n_values, 1, -1)
    y[:2] = -1, 1
    return X, y, rng.integers(1, 1000, n_samples).astype(float)


problems = st.builds(
    random_problem,
    seed=st.integers(0, 10**6),
    n_samples=st.integers(2, 400),
    n_values=st.sampled_from([2, 3, 10, 1000]),
)


@given(problems)
def test_search_finds_the_least_error_of_all_stumps(problem):
    X, y, mass = problem
    found = StumpSearch(TrainingSet(X), 2, by_error=True).best((y == 1).astype(int), mass)
    right = (
        max(found.left) + max(found.total - found.left) if found.feature >= 0 else max(found.total)
    )
    least, _ = best_stump(X, y, mass)
    assert mass.sum() - right == least


@given(problems)
def test_search_finds_the_largest_gain_of_all_stumps(problem):
    X, y, mass = problem
    found = StumpSearch(TrainingSet(X), 2, by_error=False).best((y == 1).astype(int), mass)
    gains = [gini_gain(y, sides, mass) for feature, _, sides in all_stumps(X) if feature >= 0]
    if not gains:
        assert found.feature == -1
        return
    sides = np.where(X[:, found.feature] <= found.threshold, 1, -1)
    np.testing.assert_allclose(gini_gain(y, sides, mass), max(gains), **ALGEBRA)


@pytest.mark.parametrize("by_error", [False, True])
def test_blocks_agree_with_a_plain_scan_of_many_samples(rng, by_error):
    n = 50 * 128 + 17
    X = rng.normal(size=(n, 4)).round(2)
    codes = (X[:, 2] + rng.normal(size=n) > 0).astype(int)
    mass = rng.integers(1, 2**20, n).astype(float)
    found = StumpSearch(TrainingSet(X), 2, by_error).best(codes, mass)
    best = (-1.0,)
    for feature in range(4):
        order = np.argsort(X[:, feature], kind="stable")
        p = np.cumsum(np.where(codes, mass, 0)[order])
        q = np.cumsum(np.where(codes, 0, mass)[order])
        last = np.flatnonzero(np.diff(X[order, feature]))
        p, q, P, Q = p[last], q[last], p[-1], q[-1]
        if by_error:
            score = np.abs(p - q) + np.abs((P - p) - (Q - q))
        else:
            left, rest = p + q, P + Q - p - q
            score = (p * rest - (P - p) * left) ** 2 / (left * rest)
        k = int(score.argmax())
        best = max(best, (score[k], -feature, -int(last[k]) - 1))
    assert (found.feature, found.n_left) == (-best[1], -best[2])


def test_equal_stumps_go_to_the_first_feature_and_the_lowest_threshold():
    X = np.array([[0, 0], [1, 1], [2, 2], [3, 3]], dtype=float)
    stump = DecisionStump().fit(X, [0, 1, 0, 1])
    assert (stump.feature_, stump.threshold_, stump.error_) == (0, 0.5, 0.25)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_threads_find_the_same_stump(rng, n_classes):
    X = rng.normal(size=(12_000, 20))
    y = (X[:, 3] + X[:, 7] > rng.normal(size=(n_classes - 1, len(X)))).sum(axis=0)
    one, two, three = (
        AdaBoostClassifier(DecisionStump(), n_estimators=20, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2, 3)
    )
    for other in (two, three):
        np.testing.assert_array_equal(one.estimator_weights_, other.estimator_weights_)
        assert [member.threshold_ for member in one.estimators_] == [
            member.threshold_ for member in other.estimators_
        ]


@given(problems, st.sampled_from([2, 3, 4]))
def test_stump_has_the_least_error_for_any_number_of_classes(problem, n_classes):
    X, _, weight = problem
    y = (X.sum(axis=1) * 7 % n_classes).astype(int)
    stump = DecisionStump().fit(X, y, weight)
    classes = np.unique(y)
    errors = [weight[y != label].sum() for label in classes]
    for _, _, sides in all_stumps(X):
        totals = [[weight[(sides == s) & (y == label)].sum() for label in classes] for s in (1, -1)]
        errors.append(weight.sum() - max(totals[0]) - max(totals[1]))
    np.testing.assert_allclose(stump.error_, min(errors) / weight.sum(), **EXACT)
    np.testing.assert_allclose(stump.error_, np.average(stump.predict(X) != y, weights=weight))


def test_stump_of_the_other_labels_is_the_same():
    X, y, weight = random_problem(3, 200, 10)
    stump, flipped = DecisionStump().fit(X, y, weight), DecisionStump().fit(X, -y, weight)
    assert stump.error_ == flipped.error_
    np.testing.assert_array_equal(stump.predict(X), -flipped.predict(X))


def test_no_stump_is_better_than_a_coin_on_xor():
    X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    stump = DecisionStump().fit(X, [0, 1, 1, 0])
    assert stump.error_ == 0.5 and stump.edge_ == 0
    assert stump.feature_ == -1  # a constant is not worse


def test_stumps_are_weakly_universal_in_one_dimension(rng):
    x = rng.normal(size=(30, 1))
    y = rng.integers(0, 2, 30)
    for _ in range(20):
        assert DecisionStump().fit(x, y, rng.exponential(size=30)).error_ < 0.5


def test_constant_features_leave_a_constant():
    stump = DecisionStump().fit(np.ones((5, 2)), [0, 1, 1, 1, 0])
    assert (stump.feature_, stump.threshold_) == (-1, np.inf)
    np.testing.assert_array_equal(stump.predict([[0, 0], [2, 2]]), [1, 1])


@pytest.mark.parametrize("n_classes", [2, 5, 200])
def test_boosted_stump_is_the_tree_of_one_split(rng, n_classes):
    X, y = rng.normal(size=(700, 5)).round(1), rng.integers(0, n_classes, 700)
    model = AdaBoostClassifier(n_estimators=15).fit(X, y)
    assert isinstance(model.estimators_[0], DecisionTreeClassifier)
    weight = np.full(len(X), 1 / len(X))
    for member, strength in zip(model.estimators_, model.estimator_weights_):
        grown = clone(member).fit(X, y, sample_weight=weight)
        for name in ("feature", "threshold", "children_left", "n_node_samples", "depth"):
            np.testing.assert_array_equal(getattr(member.tree_, name), getattr(grown.tree_, name))
        for name in ("value", "impurity", "weighted_n_node_samples", "risk", "improvement", "mass"):
            ours, theirs = getattr(member.tree_, name), getattr(grown.tree_, name)
            np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-12, err_msg=name)
        np.testing.assert_array_equal(member.predict(X), grown.predict(X))
        weight = weight * np.exp(strength * (member.predict(X) != y))
        weight /= weight.sum()


def test_huge_and_tiny_weights_find_the_same_stump():
    X, y, weight = random_problem(5, 300, 1000)
    plain = DecisionStump().fit(X, y, weight)
    for scale in (2.0**-900, 2.0**900):
        scaled = DecisionStump().fit(X, y, weight * scale)
        assert (scaled.feature_, scaled.threshold_) == (plain.feature_, plain.threshold_)


def test_search_in_parts_of_the_features_is_the_search_of_all(rng):
    X = rng.integers(0, 5, (1000, 6)).astype(float)
    codes, mass = rng.integers(0, 2, 1000), rng.integers(1, 9, 1000).astype(float)
    columns = TrainingSet(X)
    signed, found = np.where(codes, mass, -mass), []
    for begin, end in [(0, 6), (0, 2), (2, 6)]:
        part = np.zeros(1, dtype=_stumps.stump_dtype)
        part["score"], part["feature"] = -1, -1
        first, second = mass[codes == 0].sum(), mass[codes == 1].sum()
        _stumps.Stumps(columns.cells).search(signed, first, second, False, begin, end, part)
        found.append(part[0])
    assert found[0] == max(found[1:], key=lambda part: part["score"])
