"""Adversaries: whatever a learner does, it is wrong often enough."""

import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.utils.validation import check_is_fitted

from sklearn_sl.datasets import BisectionAdversary, ExpertAdversary, OpposingAdversary, play
from sklearn_sl.online import (
    ConsistentLearner,
    GridThresholdHalving,
    Halving,
    Perceptron,
    WeightedMajority,
)
from sklearn_sl.theory import consistent_bound, halving_bound, two_regret_beta, two_regret_bound


def midpoint(X, y, x):
    """Predict by the midpoint between the largest negative and the least positive point."""
    low = max((p for p, label in zip(X, y, strict=True) if label < 0), default=Fraction(0))
    high = min((p for p, label in zip(X, y, strict=True) if label > 0), default=Fraction(1))
    return 1 if 2 * x >= low + high else -1


def last_label(X, y, x):
    return y[-1] if y else 1


def coins(rng):
    return lambda X, y, x: int(rng.choice([-1, 1]))


def test_bisection_lets_any_learner_be_wrong_in_every_round(rng):
    for learner in (midpoint, last_label, coins(rng), lambda X, y, x: 1):
        adversary = BisectionAdversary()
        game = play(adversary, learner, n_rounds=200)
        assert game.n_mistakes == 200
        # There is a threshold that agrees with all answers.
        theta = adversary.threshold
        assert game.y == [1 if x > theta else -1 for x in game.X]
        assert adversary.high - adversary.low == Fraction(1, 2**200)


@pytest.mark.parametrize("learner", [Perceptron(), SGDClassifier(random_state=0)], ids=str)
def test_bisection_beats_estimators(learner):
    game = play(BisectionAdversary(-3, 5), learner, n_rounds=40)
    assert game.n_mistakes == 40
    assert all(isinstance(x, Fraction) for x in game.X)
    assert learner.predict([[-10.0]]).shape == (1,)


def test_bisection_of_a_grid_meets_the_bound_of_halving():
    for k in (2, 3, 5, 8):
        n_steps = 2**k - 2
        learner = GridThresholdHalving(n_steps, on_empty="raise")
        step = Fraction(1, n_steps)
        game = play(BisectionAdversary(-step, 1 + step), learner, n_rounds=k)
        assert game.n_mistakes == learner.n_mistakes_ == learner.bound_ == k


@pytest.mark.parametrize("ends", [(1, 0), (0.5, 0.5)])
def test_interval_must_have_a_length(ends):
    with pytest.raises(ValueError, match="low must be <"):
        BisectionAdversary(*ends)


def test_any_strategy_loses_the_logarithm_of_the_number_of_experts(rng):
    for _ in range(10_000):
        n_experts = int(rng.integers(1, 40))
        adversary = ExpertAdversary(n_experts)
        choices = rng.integers(2, size=6)
        n_rounds = math.floor(math.log2(n_experts))
        mistakes, always_right = 0, np.ones(n_experts, dtype=bool)
        for said in choices[:n_rounds]:
            advice, outcome = adversary.next(), adversary.answer(said)
            mistakes += outcome != said
            always_right &= advice == outcome
        assert mistakes == n_rounds
        assert always_right.any()
        np.testing.assert_array_equal(adversary.right, always_right)


def test_adversary_tells_the_truth_when_one_expert_is_left(rng):
    for n_experts in (1, 2, 5, 8):
        adversary = ExpertAdversary(n_experts)
        game = play(adversary, lambda X, y, x: int(rng.integers(2)), n_rounds=60)
        right = np.flatnonzero(adversary.right)
        assert len(right) == 1
        np.testing.assert_array_equal(np.array(game.X)[:, right[0]], game.y)


@pytest.mark.parametrize("n_experts", [1, 2, 3, 7, 8, 16, 33, 64, 100])
def test_halving_loses_no_more_than_it_must(n_experts):
    learner = Halving()
    game = play(ExpertAdversary(n_experts), learner, n_rounds=20)
    assert math.floor(math.log2(n_experts)) <= game.n_mistakes <= halving_bound(n_experts)
    assert learner.n_mistakes_ == game.n_mistakes and learner.realizable_


@pytest.mark.parametrize("n_experts", [2, 9, 32])
def test_learners_from_experts_lose_the_logarithm_at_least(n_experts):
    for learner in (ConsistentLearner(), Perceptron(), BernoulliNB()):
        game = play(ExpertAdversary(n_experts), learner, n_rounds=20)
        assert game.n_mistakes >= math.floor(math.log2(n_experts))
        if isinstance(learner, ConsistentLearner):
            assert game.n_mistakes <= consistent_bound(n_experts)


def test_learner_goes_on_from_the_state_that_it_has():
    learner = Halving()
    with pytest.raises(NotFittedError):
        check_is_fitted(learner)
    first = play(ExpertAdversary(8), learner, n_rounds=2)
    second = play(ExpertAdversary(8), learner, n_rounds=1)
    assert learner.n_trials_ == 3 and len(first.X) == 2 and len(second.predictions) == 1
    assert play(ExpertAdversary(8), learner, n_rounds=0).n_mistakes == 0
    assert learner.n_trials_ == 3


@pytest.mark.parametrize("n_experts", [0, -1, 2.5])
def test_number_of_experts_must_be_positive(n_experts):
    with pytest.raises(ValueError, match="n_experts"):
        ExpertAdversary(n_experts)


def first_expert(X, y, x):
    return int(x[0])


def follow_the_leader(X, y, x):
    wrong = np.sum(np.array(X).reshape(-1, 2) != np.array(y).reshape(-1, 1), axis=0)
    return int(x[wrong.argmin()])


@pytest.mark.parametrize("beta", [0.2, 0.5, 0.9])
def test_no_deterministic_learner_makes_fewer_than_twice_the_mistakes_of_the_best(beta):
    """So the c-regret is at least ``(1 - c / 2) m``, linear for each ``c < 2``."""
    for learner in (first_expert, follow_the_leader, WeightedMajority(beta=beta), Halving()):
        adversary = OpposingAdversary()
        game = play(adversary, learner, n_rounds=60)
        assert game.n_mistakes == 60
        assert sum(adversary.n_wrong) == 60
        wrong = np.sum(np.array(game.X) != np.array(game.y)[:, None], axis=0)
        assert adversary.n_wrong == wrong.tolist()
        for c in (1.0, 1.5, 1.9):
            assert game.n_mistakes - c * min(adversary.n_wrong) >= (1 - c / 2) * 60 - 1e-9


def test_tuned_weighted_majority_has_a_sublinear_two_regret():
    """On the adversary, whose best expert is wrong in half of all rounds."""
    for m in (20, 200, 1000):
        beta = two_regret_beta(2, m / 2)
        adversary = OpposingAdversary()
        play(adversary, WeightedMajority(beta=beta), n_rounds=m)
        regret = m - 2 * min(adversary.n_wrong)
        assert regret <= two_regret_bound(2, m / 2) < m


def test_rectangles_on_the_line_cannot_be_learned_online(rng):
    """Thresholds between 0 and 1 are rectangles ``(theta, 1]`` there."""
    for learner in (midpoint, coins(rng)):
        adversary = BisectionAdversary()
        game = play(adversary, learner, n_rounds=100)
        left, right = adversary.threshold, 1
        assert game.y == [1 if left < x <= right else -1 for x in game.X]
        assert game.n_mistakes == 100
