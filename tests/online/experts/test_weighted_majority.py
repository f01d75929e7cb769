"""The weighted majority: its bound on mistakes, for any number of classes, and its draws."""

import numpy as np
import pytest
from conftest import EXACT
from reference import experts as twin
from sklearn.base import clone

from sklearn_sl.datasets import ExpertAdversary, play
from sklearn_sl.online import Halving, WeightedMajority, progressive_predict
from sklearn_sl.theory import halving_bound, weighted_majority_bound

BETAS = [0.0, 0.1, np.exp(-1), 0.5, 0.9, 0.999]


def noisy_advice(rng, n_trials, n_experts, n_classes):
    """Return advice of experts between good and bad, and outcomes of at least two classes."""
    y = rng.integers(0, n_classes, n_trials)
    y[:n_classes] = rng.permutation(n_classes)
    wrong = rng.random((n_trials, n_experts)) < rng.random(n_experts)
    other = (y[:, None] + rng.integers(1, n_classes, (n_trials, n_experts))) % n_classes
    return np.where(wrong, other, y[:, None]), y


# ---------------------------------------------------------------- the algorithm


def test_golden_run_of_the_halving_algorithm():
    # Eight experts; a tie goes to the larger class.
    X = np.array([[1, 1, 0, 0, 1, 1, 0, 0], [0, 0, 0, 1, 0, 0, 1, 1], [0, 0, 0, 1, 0, 0, 0, 0]])
    y = np.array([0, 1, 1])
    model = WeightedMajority(beta=0.0, keep_losses=True)
    assert progressive_predict(model, X, y).tolist() == [1, 1, 0]
    assert model.n_mistakes_ == 2
    assert model.loss_curve_.tolist() == [1, 0, 1]
    assert model.weights_.tolist() == [0, 0, 0, 1, 0, 0, 0, 0]
    assert model.bound_ == pytest.approx(3.0)


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_answers_equal_those_of_the_twin(rng, beta, n_classes):
    X, y = noisy_advice(rng, 200, 9, n_classes)
    model = WeightedMajority(beta=beta)
    answers = progressive_predict(model, X, y)
    if beta > 0:
        np.testing.assert_array_equal(answers, twin.weighted_majority(X, y, beta, n_classes))
        mistakes = (X != y[:, None]).sum(axis=0)
        weights = beta ** (mistakes - mistakes.min())
        np.testing.assert_allclose(model.weights_, weights / weights.sum(), **EXACT)
    assert model.n_mistakes_ == np.sum(answers != y)
    np.testing.assert_array_equal(model.expert_losses_, (X != y[:, None]).sum(axis=0))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_a_factor_it_is_the_halving_algorithm(rng, n_classes):
    for _ in range(30):
        X, y = noisy_advice(rng, 40, 12, n_classes)
        X[:, 5] = y  # one expert is always right
        model, other = WeightedMajority(beta=0.0), Halving()
        first, second = (progressive_predict(m, X, y) for m in (model, other))
        np.testing.assert_array_equal(first, second)
        assert model.n_mistakes_ <= halving_bound(12)
        np.testing.assert_array_equal(model.weights_ > 0, other.version_space_)


def test_after_everybody_was_wrong_those_with_the_fewest_mistakes_vote():
    X = np.array([[0, 0, 1], [1, 1, 1], [1, 0, 0]])
    model = WeightedMajority(beta=0.0).partial_fit(X[:2], [1, 0], classes=[0, 1])
    assert model.expert_losses_.tolist() == [2, 2, 1]
    assert model.predict(X)[2] == 0


def test_sides_do_not_matter(rng):
    # Without ties, which go to the larger class.
    X, y = noisy_advice(rng, 300, 7, 2)
    model = WeightedMajority(beta=0.7).fit(X, y)
    other = WeightedMajority(beta=0.7).fit(1 - X, 1 - y)
    assert other.n_mistakes_ == model.n_mistakes_
    np.testing.assert_allclose(other.weights_, model.weights_, **EXACT)


def test_votes_are_the_weights_of_classes(rng):
    X, y = noisy_advice(rng, 50, 6, 3)
    model = WeightedMajority().fit(X, y)
    votes = model.votes(X)
    expected = np.stack([(X == code) @ model.weights_ for code in range(3)], axis=1)
    np.testing.assert_allclose(votes, expected, **EXACT)
    np.testing.assert_array_equal(model.predict(X), votes.argmax(axis=1))


# ---------------------------------------------------------------- the theorem


def assert_mistakes_bounded(mistaken, wrong, beta, randomized=False):
    """Check the bound after each trial; return how many sequences that were."""
    n_experts = wrong.shape[1]
    best = np.cumsum(wrong, axis=0).min(axis=1)
    bounds = weighted_majority_bound(best, n_experts, beta, randomized)
    assert np.all(np.cumsum(mistaken) <= bounds + 1e-9)
    return len(mistaken)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_mistakes_never_exceed_the_bound(rng, n_classes):
    n_sequences = 0
    for _ in range(500):
        X, y = noisy_advice(
            rng, int(rng.integers(n_classes, 45)), int(rng.integers(1, 9)), n_classes
        )
        beta = BETAS[rng.integers(len(BETAS))]
        model = WeightedMajority(beta=beta, keep_losses=True).fit(X, y)
        n_sequences += assert_mistakes_bounded(model.loss_curve_, X != y[:, None], beta)
        assert model.n_mistakes_ <= model.bound_ + 1e-9
        least = weighted_majority_bound(model.expert_losses_.min(), X.shape[1], beta)
        assert model.bound_ == pytest.approx(float(least))
    assert n_sequences >= 10_000


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("beta", BETAS[1:-1])
def test_mistakes_never_exceed_the_bound_against_an_adversary(rng, n_classes, beta):
    n_sequences = 0
    for n_experts in (1, 2, 3, 8):
        advice, outcomes = twin.majority_adversary(rng, 30, 30, n_experts, n_classes, beta)
        for X, y in zip(advice, outcomes, strict=True):
            model = WeightedMajority(beta=beta, keep_losses=True)
            model.partial_fit(X, y, classes=np.arange(n_classes))
            n_sequences += assert_mistakes_bounded(model.loss_curve_, X != y[:, None], beta)
            # All but ties, and those are rare, are mistakes.
            assert model.n_mistakes_ >= 20 or n_experts < 3
    assert n_sequences >= 3000


def test_expected_mistakes_of_draws_never_exceed_their_bound(rng):
    n_sequences = 0
    for _ in range(500):
        X, y = noisy_advice(rng, int(rng.integers(2, 45)), int(rng.integers(1, 9)), 2)
        if rng.random() < 0.3:
            y = np.append(1 - y[:1], (X[1:].mean(axis=1) < 0.5).astype(int))
            y[0] = 1 - y[-1]
        beta = BETAS[rng.integers(len(BETAS))]
        model = WeightedMajority(beta=beta, randomized=True, random_state=0, keep_weights=True)
        model.fit(X, y)
        expected = (model.weight_curve_ * (X != y[:, None])).sum(axis=1)
        n_sequences += assert_mistakes_bounded(expected, X != y[:, None], beta, randomized=True)
        np.testing.assert_allclose(model.expected_mistakes_, expected.sum(), **EXACT)
        assert model.expected_mistakes_ <= model.bound_ + 1e-9
    assert n_sequences >= 10_000


def test_draws_have_the_expected_number_of_mistakes(rng):
    X, y = noisy_advice(rng, 40, 5, 3)
    model = WeightedMajority(beta=0.8, randomized=True)
    counts = [clone(model).set_params(random_state=s).fit(X, y).n_mistakes_ for s in range(400)]
    expected = model.set_params(random_state=0).fit(X, y).expected_mistakes_
    # Each is a sum of 40 independent draws, whose variance is below 10.
    assert abs(np.mean(counts) - expected) < 4 * np.sqrt(10 / 400)
    assert counts[0] == model.n_mistakes_


def test_sum_of_weights_falls_as_the_proof_says(rng):
    X, y = noisy_advice(rng, 300, 10, 3)
    beta = 0.6
    model = WeightedMajority(beta=beta, keep_losses=True).fit(X, y)
    wrong = np.cumsum(X != y[:, None], axis=0)
    total = (beta ** wrong.astype(float)).sum(axis=1)
    mistakes = np.cumsum(model.loss_curve_)
    assert np.all(total <= ((1 + beta) / 2) ** mistakes * 10 * (1 + 1e-12))
    assert np.all(total >= (beta ** wrong.astype(float)).max(axis=1))


def test_adversary_of_experts_forces_as_many_mistakes_as_the_bound_of_halving():
    game = play(ExpertAdversary(16), WeightedMajority(beta=0.0), n_rounds=10)
    assert game.n_mistakes == 4


def test_constants_of_the_theorem():
    # (ln(1/beta), 1) / ln(2 / (1 + beta)), and their limits.
    def constants(beta):
        slope = weighted_majority_bound(1, 1, beta)
        return float(slope), float(weighted_majority_bound(0, 2, beta) / np.log(2))

    assert constants(np.exp(-1)) == pytest.approx((2.63237, 2.63237), abs=1e-5)
    assert constants(0.5) == pytest.approx((2.409, 3.476), abs=1e-3)
    assert constants(1 - 1e-9)[0] == pytest.approx(2, abs=1e-6)
    assert constants(1e-300)[1] == pytest.approx(1 / np.log(2))
    assert weighted_majority_bound(1, 8, 0.0) == np.inf
    with pytest.raises(ValueError, match="beta must be < 1"):
        weighted_majority_bound(1, 8, 1.0)


@pytest.mark.parametrize("beta", [-0.1, 1.0, np.nan])
def test_factor_is_checked(beta):
    with pytest.raises(ValueError, match="beta"):
        WeightedMajority(beta=beta).fit([[0], [1]], [0, 1])
