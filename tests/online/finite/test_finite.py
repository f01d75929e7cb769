"""Consistent learners, halving, and halving on a grid, against their theorems."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import EXACT, random_sparse
from reference import finite as reference
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from sklearn_sl.online import ConsistentLearner, GridThresholdHalving, Halving, progressive_predict
from sklearn_sl.online.finite import _version_space
from sklearn_sl.theory import (
    consistent_bound,
    count_disjunctions,
    grid_threshold_bound,
    halving_bound,
    weighted_majority_bound,
)

LEARNERS = [
    Halving(),
    Halving(on_empty="keep"),
    ConsistentLearner(),
    ConsistentLearner(on_empty="keep"),
    ConsistentLearner(order="random", random_state=3),
]
for_every_learner = pytest.mark.parametrize("learner", LEARNERS, ids=str)


def advice_of(rng, n_trials, n_experts, n_classes, asleep=0.0):
    """Return random advice, between and around the codes of classes."""
    advice = rng.integers(n_classes, size=(n_trials, n_experts)) + rng.uniform(
        -0.49, 0.49, size=(n_trials, n_experts)
    )
    advice[rng.uniform(size=advice.shape) < asleep] = np.nan
    return advice


def codes_of(advice, n_classes):
    return np.clip(np.floor(advice - 0.5) + 1, 0, n_classes - 1).astype(int)


def sweep(advice, codes, n_classes, majority, when_empty, order=None):
    """Return the answers and the tail of a run at compiled speed."""
    n_experts = advice.shape[1]
    order = np.arange(n_experts) if order is None else order
    left, answers = order.copy(), np.empty(len(codes), dtype=np.intp)
    tail = np.array([n_experts, 0, 0, 0])
    said, votes = np.empty(n_experts, dtype=np.intp), np.empty(n_classes + 1, dtype=np.intp)
    _version_space.sweep(
        advice, codes, 0.5, majority, when_empty, order, left, tail, said, votes, answers
    )
    return answers, tail


# ---------------------------------------------------------------- golden run


def test_halving_run_of_the_lecture():
    # What experts say that have been removed does not matter.
    X = [[1, 1, 0, 0, 1, 1, 0, 0], [1, 1, 0, 1, 0, 0, 1, 1], [0, 0, 1, 1, 0, 1, 0, 0]]
    model = Halving(keep_losses=True)
    answers = progressive_predict(model, X, [0, 1, 1])
    assert answers.tolist() == [1, 1, 0]
    assert model.loss_curve_.tolist() == [1, 0, 1]
    assert np.flatnonzero(model.version_space_).tolist() == [3]
    assert (model.n_mistakes_, model.bound_) == (2, 3.0)
    assert model.realizable_ and model.n_consistent_ == 1


# ---------------------------------------------------------------- twins


@for_every_learner
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("asleep", [0.0, 0.4])
def test_learner_is_its_twin(learner, n_classes, asleep, rng):
    for n_experts in (1, 2, 7, 30):
        advice = advice_of(rng, 60, n_experts, n_classes, asleep)
        codes = rng.integers(n_classes, size=60)
        model = clone(learner)
        answers = progressive_predict(model, advice, codes, classes=range(n_classes))
        order = None if model.get_params().get("order") != "random" else model._all
        expected, left, n_contradictions = reference.version_space_run(
            advice,
            codes,
            n_classes,
            majority=isinstance(model, Halving),
            on_empty=model.on_empty,
            order=order,
        )
        assert answers.tolist() == expected
        assert np.flatnonzero(model.version_space_).tolist() == sorted(left)
        assert model.n_contradictions_ == n_contradictions
        assert model.n_mistakes_ == np.sum(answers != codes)
        assert model.n_mistakes_ <= model.bound_
        following, _, _ = reference.version_space_run(
            advice[:1],
            codes[:1],
            n_classes,
            majority=isinstance(model, Halving),
            order=[i for i in model._all if i in left],
        )
        assert model.predict(advice[:1])[0] == following[0]


@for_every_learner
def test_blocks_are_the_whole(learner, rng):
    advice, codes = advice_of(rng, 100, 9, 3, asleep=0.1), rng.integers(3, size=100)
    whole, blocks = (clone(learner).set_params(keep_losses=True) for _ in range(2))
    whole.partial_fit(advice, codes, classes=range(3))
    for start, stop in itertools.pairwise([0, 1, 2, 10, 55, 100]):
        blocks.partial_fit(advice[start:stop], codes[start:stop], classes=range(3))
    for name in ("_left", "_tail", "loss_curve_", "version_space_"):
        np.testing.assert_array_equal(getattr(blocks, name), getattr(whole, name))
    for name in ("n_mistakes_", "cumulative_loss_", "n_trials_", "n_contradictions_", "bound_"):
        assert getattr(blocks, name) == getattr(whole, name)


@for_every_learner
def test_sparse_advice_is_dense_advice(learner, rng):
    advice = rng.integers(2, size=(50, 8)).astype(float)
    codes = rng.integers(2, size=50)
    for matrix in (sp.csr_array(advice), sp.csc_matrix(advice)):
        model = clone(learner).fit(matrix, codes)
        other = clone(learner).fit(advice, codes)
        np.testing.assert_array_equal(model.version_space_, other.version_space_)
        np.testing.assert_array_equal(model.predict(matrix), other.predict(advice))


def test_order_of_experts_does_not_matter_to_their_majority(rng):
    advice, codes = advice_of(rng, 80, 12, 3), rng.integers(3, size=80)
    order = rng.permutation(12)
    first = progressive_predict(Halving(), advice, codes)
    np.testing.assert_array_equal(progressive_predict(Halving(), advice[:, order], codes), first)


def test_without_ties_names_of_classes_do_not_matter(rng):
    advice, codes = rng.integers(2, size=(80, 9)).astype(float), rng.integers(2, size=80)
    model, flipped = Halving(on_empty="keep"), Halving(on_empty="keep")
    for row, code in zip(advice, codes, strict=True):
        model.partial_fit([row], [code], classes=[0, 1])
        flipped.partial_fit([1 - row], [1 - code], classes=[0, 1])
        np.testing.assert_array_equal(model.version_space_, flipped.version_space_)
        votes = advice[:, model.version_space_].mean(axis=1)
        sure = votes != 0.5
        np.testing.assert_array_equal(
            model.predict(advice[sure]), 1 - flipped.predict(1 - advice[sure])
        )


# ---------------------------------------------------------------- theorems


def random_games(rng, n_games, realizable):
    """Yield advice, classes and the number of classes, with short and long lists of experts."""
    for _ in range(n_games):
        n_classes = int(rng.choice([2, 2, 3, 4]))
        advice = advice_of(rng, int(rng.integers(1, 30)), int(rng.integers(1, 20)), n_classes)
        codes = rng.integers(n_classes, size=len(advice))
        if realizable:
            codes = codes_of(advice[:, rng.integers(advice.shape[1])], n_classes)
            # Experts that are mostly right stay long.
            lazy = rng.uniform(size=advice.shape) < rng.uniform()
            advice = np.where(lazy, codes[:, None].astype(float), advice)
        yield advice, codes, n_classes


def bounded_by(majority):
    return halving_bound if majority else consistent_bound


@pytest.mark.parametrize("majority", [True, False])
def test_mistakes_never_exceed_the_bound_if_one_hypothesis_is_right(majority, rng):
    for advice, codes, n_classes in random_games(rng, 10_000, realizable=True):
        answers, tail = sweep(advice, codes, n_classes, majority, _version_space.STOP)
        assert tail[1] == 0
        assert np.sum(answers != codes) <= bounded_by(majority)(advice.shape[1])


@pytest.mark.parametrize("majority", [True, False])
def test_mistakes_with_restarts_never_exceed_the_bound(majority, rng):
    for advice, codes, n_classes in random_games(rng, 10_000, realizable=False):
        answers, tail = sweep(advice, codes, n_classes, majority, _version_space.RESTART)
        mistakes = np.sum(answers != codes)
        assert mistakes <= bounded_by(majority)(advice.shape[1], tail[1])
        best = np.sum(codes_of(advice, n_classes) != codes[:, None], axis=0).min()
        assert tail[1] <= best
        assert mistakes <= bounded_by(majority)(advice.shape[1], best)


@pytest.mark.parametrize("majority", [True, False])
def test_mistakes_never_exceed_the_bound_against_a_greedy_adversary(majority, rng):
    # The class that leaves the most hypotheses among those that are not answered.
    for _ in range(2000):
        n_experts, n_classes = int(rng.integers(1, 40)), int(rng.integers(2, 4))
        right = np.arange(n_experts)
        history = np.empty((0, n_experts))
        codes = np.empty(0, dtype=np.intp)
        mistakes = 0
        for _ in range(6):
            advice = rng.permuted(np.arange(n_experts) % n_classes).astype(float)
            history = np.vstack([history, advice])
            answer = sweep(history, np.append(codes, 0), n_classes, majority, _version_space.KEEP)[
                0
            ][-1]
            counts = np.bincount(advice[right].astype(int), minlength=n_classes)
            others = np.where(np.arange(n_classes) == answer, 0, counts)
            outcome = int(others.argmax() if others.any() else counts.argmax())
            mistakes += outcome != answer
            right = right[advice[right] == outcome]
            codes = np.append(codes, outcome)
        assert len(right) and mistakes <= bounded_by(majority)(n_experts)


@pytest.mark.parametrize("learner", LEARNERS[:4], ids=str)
def test_mistakes_with_sleeping_experts_never_exceed_the_bound(learner, rng):
    learner = clone(learner)
    majority = isinstance(learner, Halving)
    when_empty = {"restart": _version_space.RESTART, "keep": _version_space.KEEP}[learner.on_empty]
    for trial, (advice, codes, n_classes) in enumerate(random_games(rng, 10_000, False)):
        if trial % 2:
            advice[rng.uniform(size=advice.shape) < rng.uniform(0, 0.7)] = np.nan
        answers, tail = sweep(advice, codes, n_classes, majority, when_empty)
        learner.n_hypotheses_, learner.n_contradictions_ = advice.shape[1], tail[1]
        learner._tail = tail
        assert np.sum(answers != codes) <= learner._bound()


@for_every_learner
def test_mistakes_of_several_passes_never_exceed_the_bound(learner, rng):
    for _ in range(20):
        advice, codes = advice_of(rng, 30, 12, 2), rng.integers(2, size=30)
        codes[:2] = 0, 1
        model = clone(learner).set_params(max_iter=7).fit(advice, codes)
        assert model.n_mistakes_ <= model.bound_ and model.n_iter_ == 7


def test_half_spaces_on_a_grid_are_learned_with_few_mistakes(rng):
    # Weights from -1, -2/3, ..., 1 in three dimensions: 343 hypotheses.
    weights = np.array(list(itertools.product(np.linspace(-1, 1, 7), repeat=3)))
    for trial in range(500):
        X = np.column_stack([rng.normal(size=(40, 2)), np.ones(40)])
        if trial % 2:  # points near the border are hard
            X = X[np.argsort(np.abs(X @ weights[trial % len(weights)]))]
        advice = (X @ weights.T >= 0).astype(float)
        codes = advice[:, trial % len(weights)].astype(np.intp)
        answers, _ = sweep(advice, codes, 2, True, _version_space.STOP)
        assert np.sum(answers != codes) <= 3 * np.log2(7)


def test_consistent_learner_can_be_forced_to_its_bound():
    for n in (1, 2, 10, 33):
        advice = 1 - np.eye(max(n - 1, 1), n)
        model = ConsistentLearner().partial_fit(advice, np.ones(len(advice)), classes=[0, 1])
        assert model.n_mistakes_ == (n - 1 if n > 1 else 1)
        assert model.n_mistakes_ <= model.bound_


@pytest.mark.parametrize("realizable", [True, False])
def test_expected_mistakes_in_random_order_never_exceed_the_bound(realizable, rng):
    # 100 sequences in all 120 orders.
    orders = [np.array(order) for order in itertools.permutations(range(5))]
    for _ in range(100):
        n_classes, n_trials = int(rng.integers(2, 4)), int(rng.integers(1, 30))
        advice = rng.integers(n_classes, size=(n_trials, 5)).astype(float)
        codes = rng.integers(n_classes, size=n_trials)
        if realizable:
            codes = advice[:, 2].astype(np.intp)
        runs = [sweep(advice, codes, n_classes, False, 1, order) for order in orders]
        mean = np.mean([np.sum(answers != codes) for answers, _ in runs])
        # Restarts do not depend on the order.
        assert len({tail[1] for _, tail in runs}) == 1
        assert mean <= consistent_bound(5, runs[0][1][1], random_order=True) + 1e-12


def test_bound_on_expected_mistakes_is_met_by_one_mistake_after_the_other():
    advice, codes = 1 - np.eye(4, 5), np.ones(4, dtype=int)
    mean = np.mean(
        [
            np.sum(sweep(advice, codes, 2, False, 0, np.array(order))[0] != codes)
            for order in itertools.permutations(range(5))
        ]
    )
    np.testing.assert_allclose(mean, consistent_bound(5, random_order=True), **EXACT)


def test_bounds_in_numbers():
    assert halving_bound(8) == 3 and halving_bound(8, 2) == 11
    assert consistent_bound(8) == 7 and consistent_bound(8, 2) == 23
    np.testing.assert_allclose(
        consistent_bound(6, random_order=True), sum(1 / k for k in range(2, 7)), **EXACT
    )
    n = np.arange(1, 200)
    assert np.all(consistent_bound(n, random_order=True) <= np.log(n) + 1e-12)
    # Half-spaces on a grid: (2 n + 1)^d of them.
    np.testing.assert_allclose(halving_bound(21**5), 5 * np.log2(21), **EXACT)


@pytest.mark.parametrize("bound", [halving_bound, consistent_bound, grid_threshold_bound])
def test_bounds_are_for_whole_numbers(bound):
    for wrong in (0, 1.5, -1, np.nan, "x"):
        with pytest.raises(ValueError):
            bound(wrong)
    with pytest.raises(ValueError, match="n_restarts"):
        bound(3, -1)


def test_sleeping_experts_are_neither_asked_nor_removed():
    nan = np.nan
    X = [[1, nan, nan], [nan, nan, 1], [nan, nan, nan], [0, 1, 1]]
    model = Halving(keep_losses=True).partial_fit(X, [0, 1, 0, 1], classes=[0, 1])
    assert model.version_space_.tolist() == [False, True, True]
    assert model.loss_curve_.tolist() == [1, 0, 1, 0]
    # Two of three can be wrong alone, and nobody was awake once.
    assert model.bound_ == 2 + 1


# ---------------------------------------------------------------- explicit hypotheses


def test_hypotheses_are_columns_of_what_they_say(rng):
    X = rng.normal(size=(200, 3))
    y = np.array(["no", "yes"])[(X[:, 0] > 0.2).astype(int)]
    cuts = np.linspace(-1, 1, 21)
    functions = [partial(lambda cut, X: np.where(X[:, 0] > cut, "yes", "no"), cut) for cut in cuts]
    columns = (X[:, [0]] > cuts).astype(float)
    for Learner in (Halving, ConsistentLearner):
        given = Learner(hypotheses=functions)
        said = progressive_predict(given, X, y)
        read = Learner()
        np.testing.assert_array_equal(said, progressive_predict(read, columns, y))
        np.testing.assert_array_equal(given.version_space_, read.version_space_)
        np.testing.assert_array_equal(given.predict(X), read.predict(columns))


def test_fitted_estimators_are_hypotheses(rng):
    X = rng.normal(size=(120, 4))
    y = (X[:, 0] + X[:, 1] > 0) * 2 + (X[:, 2] > 1)
    models = [DecisionTreeClassifier(max_depth=d).fit(X[:40], y[:40]) for d in (1, 2, 3)]
    models.append(LogisticRegression().fit(X[:40], y[:40]))
    model = Halving(models).fit(X[40:], y[40:])
    said = np.stack([member.predict(X[40:]) for member in models], axis=1)
    codes = np.searchsorted(model.classes_, said).astype(float)
    other = Halving().fit(codes, y[40:])
    np.testing.assert_array_equal(model.version_space_, other.version_space_)
    assert model.n_mistakes_ == other.n_mistakes_
    # Clones keep functions and frozen estimators as they are.
    for hypotheses in ([m.predict for m in models], [FrozenEstimator(m) for m in models]):
        twin = clone(Halving(hypotheses)).fit(X[40:], y[40:])
        np.testing.assert_array_equal(twin.version_space_, model.version_space_)


def test_hypotheses_can_abstain_and_say_what_is_no_class():
    X = np.zeros((2, 1))
    says = [lambda X: np.full(len(X), 7.0), lambda X: np.full(len(X), np.nan)]
    model = Halving(hypotheses=says).partial_fit(X, [0.0, 1.0], classes=[0.0, 1.0])
    assert model.version_space_.tolist() == [False, True]
    assert ConsistentLearner(says).fit(X, [0, 1]).version_space_.tolist() == [False, True]
    # Numbers where labels are strings.
    model = Halving(says[:1]).fit(X, ["a", "b"])
    assert model.n_contradictions_ == 2 and model.predict(X).tolist() == ["b", "b"]


def test_advice_and_thresholds_of_any_scale_are_read():
    X = [[1.7e308, -1.7e308, 5e-324], [-1.7e308, 1.7e308, 0.0]]
    for threshold, sides in ((-1e308, [1, 0, 1]), (5e-324, [1, 0, 1]), (1e308, [1, 0, 0])):
        model = Halving(threshold=threshold, on_empty="keep")
        model.partial_fit(X[:1], [1], classes=[0, 1])
        assert model.version_space_.tolist() == [side == 1 for side in sides]


def test_hypotheses_see_sparse_samples_as_they_are(rng):
    X = random_sparse(rng, (60, 500), 0.1)
    kinds = []

    def first(X):
        kinds.append(sp.issparse(X))
        return (X[:, [0]].toarray()[:, 0] > 0).astype(int)

    y = first(X)
    model = Halving(hypotheses=[first, lambda X: 1 - first(X)]).fit(X, y)
    assert all(kinds) and model.version_space_.tolist() == [True, False]


@pytest.mark.parametrize(
    ("hypotheses", "message"),
    [
        ([], "empty"),
        ([3], "must contain callables"),
        ([lambda X: 1], "returned an array of shape"),
        ([lambda X: X], "returned an array of shape"),
    ],
)
def test_wrong_hypotheses_are_errors(hypotheses, message):
    with pytest.raises(ValueError, match=message):
        Halving(hypotheses=hypotheses).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])


# ---------------------------------------------------------------- grid thresholds


def grid_run(places, codes, n_steps, n_classes, when_empty):
    ends = np.tile(np.array([-1, 2 * n_steps + 1]), (n_classes - 1, 1))
    n_empty, answers = np.zeros(n_classes - 1, dtype=np.intp), np.empty(len(codes), np.intp)
    _version_space.sweep_grid(places, codes, n_steps, when_empty, ends, n_empty, answers)
    return answers, ends, n_empty


@pytest.mark.parametrize("when_empty", [_version_space.RESTART, _version_space.KEEP])
def test_grid_thresholds_answer_as_halving_on_all_of_them(when_empty, rng):
    for trial in range(2000):
        n_steps = int(rng.integers(1, 20))
        places = rng.integers(n_steps + 1, size=20)
        codes = (places >= rng.integers(n_steps + 2)).astype(np.intp)
        if trial % 2:  # and if no threshold is right
            codes ^= rng.uniform(size=20) < 0.2
        answers, ends, n_empty = grid_run(places, codes, n_steps, 2, when_empty)
        advice = reference.grid_advice(places, n_steps)
        expected, tail = sweep(advice, codes, 2, True, when_empty)
        np.testing.assert_array_equal(answers, expected)
        assert (ends[0, 1] - ends[0, 0]) // 2 + 1 == tail[0]
        assert n_empty[0] == tail[1]


def test_grid_estimator_is_halving_on_its_thresholds(rng):
    n_steps = 12
    X = rng.integers(n_steps + 1, size=(300, 1)) / n_steps
    y = (X[:, 0] >= 0.3) ^ (rng.uniform(size=300) < 0.02)
    model, other = GridThresholdHalving(n_steps), Halving()
    advice = reference.grid_advice(np.round(X[:, 0] * n_steps), n_steps)
    said = progressive_predict(model, X, y)
    np.testing.assert_array_equal(said, progressive_predict(other, advice, y))
    np.testing.assert_array_equal(model.predict(X), other.predict(advice))
    assert model.n_consistent_[0] == other.n_consistent_
    assert model.bound_ == other.bound_ and model.n_contradictions_[0] == other.n_contradictions_
    np.testing.assert_array_equal(model.predict(X), X[:, 0] >= model.thresholds_[0])


def test_worst_case_on_a_grid_is_that_of_the_table():
    worst = {1: 1, 2: 2, 3: 2, 4: 2, 6: 3, 7: 3, 10: 3, 14: 4, 15: 4, 30: 5, 31: 5, 62: 6, 100: 6}
    assert {n: reference.worst_case_on_grid(n) for n in worst} == worst
    for n, most in worst.items():
        assert most == math.floor(grid_threshold_bound(n))


def test_worst_case_on_a_grid_of_the_compiled_learner():
    # Every sequence of three points and classes, of which some threshold is right about all.
    for n_steps in (2, 3):
        found = 0
        for places in itertools.product(range(n_steps + 1), repeat=3):
            for cut in range(n_steps + 2):
                codes = (np.array(places) >= cut).astype(np.intp)
                answers, _, n_empty = grid_run(np.array(places), codes, n_steps, 2, 1)
                assert n_empty[0] == 0
                found = max(found, np.sum(answers != codes))
        assert found == 2


def test_mistakes_on_a_grid_never_exceed_the_bound(rng):
    for trial in range(10_000):
        n_steps, n_classes = int(2 ** rng.uniform(0, 40)), int(rng.choice([2, 2, 3, 4]))
        places = rng.integers(n_steps + 1, size=25)
        cuts = np.sort(rng.integers(n_steps + 2, size=n_classes - 1))
        if trial % 3 == 0:  # bisection: points around the cut are hard
            places = np.clip(cuts[0] + rng.integers(-3, 4, size=25), 0, n_steps)
        codes = np.searchsorted(cuts, places, side="right")
        if trial % 3 == 2:
            codes = np.where(rng.uniform(size=25) < 0.1, rng.integers(n_classes, size=25), codes)
        answers, _, n_empty = grid_run(places, codes, n_steps, n_classes, _version_space.RESTART)
        assert trial % 3 == 2 or not n_empty.any()
        assert np.sum(answers != codes) <= grid_threshold_bound(n_steps, n_empty).sum()
        answers, _, n_empty = grid_run(places, codes, n_steps, n_classes, _version_space.KEEP)
        most = (n_classes - 1) * grid_threshold_bound(n_steps) + n_empty.sum()
        assert np.sum(answers != codes) <= most


def test_bisection_on_a_grid_meets_the_bound():
    # Always the middle of what is left, and the class that is not answered.
    for n_steps in (2, 6, 14, 30, 2**40 - 2):
        model, low, high = GridThresholdHalving(n_steps), -1, 2 * n_steps + 1
        while low < high:
            x = (low + high) // 2
            model.partial_fit([[x / 2 / n_steps]], [0], classes=[0, 1])
            low = x + 1
        assert model.n_mistakes_ == grid_threshold_bound(n_steps)
        assert model.n_consistent_ == 1 and model.realizable_


def test_grid_blocks_are_the_whole(rng):
    X, codes = rng.uniform(size=(90, 2)), rng.integers(3, size=90)
    whole = GridThresholdHalving(50, feature=1).partial_fit(X, codes, classes=range(3))
    blocks = GridThresholdHalving(50, feature=1)
    for start, stop in itertools.pairwise([0, 1, 2, 40, 90]):
        blocks.partial_fit(X[start:stop], codes[start:stop], classes=range(3))
    np.testing.assert_array_equal(blocks._ends, whole._ends)
    np.testing.assert_array_equal(blocks.n_contradictions_, whole.n_contradictions_)
    assert blocks.n_mistakes_ == whole.n_mistakes_ <= whole.bound_
    np.testing.assert_array_equal(blocks.predict(sp.csr_array(X)), whole.predict(X))


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_grid_of_any_scale_gives_the_same(scale, rng):
    X = rng.integers(-10, 11, size=(200, 1)) / 10.0
    y = X[:, 0] >= 0.25
    plain = GridThresholdHalving(20, low=-1.0, high=1.0).fit(X, y)
    model = GridThresholdHalving(20, low=-scale, high=scale).fit(X * scale, y)
    np.testing.assert_array_equal(model._ends, plain._ends)
    np.testing.assert_allclose(model.thresholds_ / scale, plain.thresholds_, **EXACT)
    assert model.realizable_ and np.isfinite(model.intervals_).all()


def test_samples_beyond_the_grid_are_at_its_ends():
    model = GridThresholdHalving(10).partial_fit([[-1e308], [1e308]], [0, 1], classes=[0, 1])
    assert model.realizable_ and model.n_consistent_.tolist() == [10]
    np.testing.assert_allclose(model.intervals_, [[0.05, 0.95]], **EXACT)


# ---------------------------------------------------------------- when nothing is left; bad input


@pytest.mark.parametrize("learner", [Halving(), ConsistentLearner(), GridThresholdHalving(4)])
def test_contradiction_is_an_error_on_request_and_leaves_the_learner(learner):
    learner = clone(learner).set_params(on_empty="raise")
    learner.partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1, 2])
    before = dict(vars(learner))
    for X, y in (([[1.0]], [0]), ([[0.0], [1.0], [1.0]], [0, 1, 0])):
        with pytest.raises(ValueError, match="no hypothesis is left"):
            learner.partial_fit(X, y)
        assert all(vars(learner)[name] is value for name, value in before.items())
        assert learner.predict([[0.0], [1.0]]).tolist() == [0, 1]
    learner.partial_fit([[1.0]], [1])
    assert learner.n_trials_ == 3 and learner.realizable_


def test_error_names_the_trial():
    with pytest.raises(ValueError, match="After trial 3 "):
        Halving(on_empty="raise").fit([[0.0], [1.0], [1.0]], [0, 1, 0])


def test_second_pass_is_clean_if_a_hypothesis_is_right(rng):
    X = rng.integers(2, size=(100, 20)).astype(float)
    model = Halving(max_iter=10).fit(X, X[:, 3])
    assert (model.n_iter_, model.converged_) == (2, True)
    np.testing.assert_array_equal(model.predict(X), X[:, 3])


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinite_advice_is_an_error_even_of_removed_experts(bad):
    model = Halving().partial_fit([[0.0, 1.0]], [0], classes=[0, 1])
    for X in (np.array([[0.0, bad]]), [[0.0, bad]], sp.csr_array([[0.0, bad]])):
        with pytest.raises(ValueError, match="infinity"):
            model.partial_fit(X, [0])
        with pytest.raises(ValueError, match="infinity"):
            model.predict(X)
    assert model.n_trials_ == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_grid_needs_finite_samples(bad):
    model = GridThresholdHalving().partial_fit([[0.0, 1.0]], [0], classes=[0, 1])
    for X in (np.array([[0.0, bad]]), [[bad, 0.0]]):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            model.partial_fit(X, [0])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"low": 1.0}, "must be less than"),
        ({"low": -1e308, "high": 1e308}, "must be less than"),
        ({"feature": 2}, "feature must be in"),
    ],
)
def test_wrong_grids_are_errors(params, message):
    with pytest.raises(ValueError, match=message):
        GridThresholdHalving(**params).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])


def test_random_order_is_drawn_once_from_the_random_state(rng):
    X, y = rng.uniform(size=(30, 50)), rng.integers(2, size=30)
    first, second = (ConsistentLearner(order="random", random_state=5).fit(X, y) for _ in "ab")
    assert first.hypothesis_ == second.hypothesis_
    np.testing.assert_array_equal(first._all, second._all)
    assert sorted(first._all) == list(range(50))
    assert first.version_space_[first.hypothesis_]


def test_counts_may_exceed_all_floating_point_numbers():
    assert halving_bound(count_disjunctions(700)) == pytest.approx(700 * np.log2(3))
    assert halving_bound(2**2000) == 2000
    assert halving_bound([8, 2**2000]).tolist() == [3, 2000]
    expected = 700 * np.log(3) + np.euler_gamma - 1
    assert consistent_bound(3**700, random_order=True) == pytest.approx(expected)
    assert weighted_majority_bound(0, 3**700, beta=0.0) == pytest.approx(700 * np.log2(3))
    with pytest.raises(ValueError, match="n_hypotheses must be within the range"):
        consistent_bound(3**700)
    with pytest.raises(ValueError, match="n_hypotheses must be an integer"):
        halving_bound([2.5, 3**700])
