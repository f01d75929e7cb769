"""Fixed and variable share: the mixture of all sequences, conservation of weight, and bounds."""

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from reference import experts as twin
from sklearn.base import clone

from sklearn_sl.datasets import make_switching_experts
from sklearn_sl.online import (
    FixedShare,
    Hedge,
    PassiveAggressiveRegressor,
    VariableShare,
    WeightedAverage,
    best_shifting_sequence,
    hedge,
)
from sklearn_sl.online.experts._expert_weights import FixedShareState, VariableShareState
from sklearn_sl.theory import fixed_share_bound, switching_class_size, variable_share_bound

LEARNERS = [FixedShare, VariableShare]


def square(y, p):
    return (y - p) ** 2


def shifting_trials(rng):
    """Return advice of experts of which a good one changes, and outcomes."""
    n_trials, n = int(rng.integers(1, 25)), int(rng.integers(1, 5))
    X, y = rng.random((n_trials, n)), rng.random(n_trials)
    if rng.random() < 0.5:
        X, y = np.round(X), np.round(y)
    changes = np.sort(rng.integers(0, n_trials + 1, rng.integers(0, 4)))
    good = rng.integers(0, n, len(changes) + 1)[
        np.searchsorted(changes, np.arange(n_trials), "right")
    ]
    X[np.arange(n_trials), good] = np.clip(
        y + rng.choice([0, 0.1]) * rng.normal(size=n_trials), 0, 1
    )
    return X, y


# ---------------------------------------------------------------- identities


@pytest.mark.parametrize(("n_experts", "n_trials"), [(1, 4), (2, 9), (3, 6), (4, 5)])
@pytest.mark.parametrize("alpha", [0.01, 0.3, 0.9])
def test_fixed_share_is_the_mixture_of_all_sequences_of_experts(rng, n_experts, n_trials, alpha):
    losses = 3 * rng.random((n_trials, n_experts))
    run = hedge(losses, 0.8, share=alpha, keep_weights=True)
    expected = twin.sequence_mixture(losses, 0.8, alpha)
    np.testing.assert_allclose(run.weight_curve, expected, **EXACT)


def test_literal_formula_of_the_notes_is_not_that_mixture(rng):
    # The erratum: the pool is not multiplied by the old weight of who receives it.
    losses, eta, alpha = rng.random((5, 3)), 0.8, 0.2
    weights = np.full(3, 1 / 3)
    for row in losses[:-1]:
        after = weights * np.exp(-eta * row)
        weights = (1 - alpha) * after + weights * (alpha * after.sum() - alpha * after) / 2
        weights /= weights.sum()
    expected = twin.sequence_mixture(losses, eta, alpha)[-1]
    assert np.abs(weights - expected).max() > 0.01
    run = hedge(losses, eta, share=alpha, keep_weights=True)
    np.testing.assert_allclose(run.weight_curve[-1], expected, **EXACT)


@pytest.mark.parametrize(("n_experts", "n_trials"), [(1, 3), (2, 8), (3, 5)])
def test_prior_of_all_sequences_sums_to_one(n_experts, n_trials):
    sequences, prior = twin.sequence_prior(n_trials, n_experts, 0.2)
    assert len(sequences) == n_experts**n_trials
    if n_experts > 1:
        assert prior.sum() == pytest.approx(1, abs=1e-12)
        shifts = np.count_nonzero(np.diff(sequences, axis=1), axis=1)
        counted = np.bincount(shifts, minlength=n_trials)
        sizes = np.exp(switching_class_size(n_trials, n_experts, np.arange(n_trials)))
        np.testing.assert_allclose(counted, sizes, **ALGEBRA)


@pytest.mark.parametrize("State", [FixedShareState, VariableShareState])
@pytest.mark.parametrize("alpha", [1e-3, 0.5, 1.0])
def test_sharing_conserves_the_weight_of_all(rng, State, alpha):
    # What the losses leave of all weights is the loss of the mixture, before and after sharing.
    losses = rng.random((50, 5))
    state = State(5, 1.3, alpha)
    weights, answers = np.empty((50, 5)), np.empty((50, 2))
    state.play_losses(losses, answers, weights, 0.0)
    np.testing.assert_allclose(weights.sum(axis=1), 1, **EXACT)
    # The next weights come from the posterior, by a matrix whose columns sum to one.
    posterior = weights * np.exp(-1.3 * losses)
    posterior /= posterior.sum(axis=1, keepdims=True)
    kept = np.full_like(losses, 1 - alpha) if State is FixedShareState else (1 - alpha) ** losses
    given = (1 - kept) * posterior
    expected = posterior - given + (given.sum(axis=1, keepdims=True) - given) / 4
    np.testing.assert_allclose(weights[1:], expected[:-1], **ALGEBRA)


@pytest.mark.parametrize("Learner", LEARNERS)
@pytest.mark.parametrize("prediction", ["average", "vovk"])
def test_without_a_share_it_is_the_weighted_average(rng, Learner, prediction):
    X, y = rng.random((80, 5)), rng.random(80)
    options = {"prediction": prediction, "bounds": (0, 1), "keep_losses": True}
    model = Learner(alpha=0.0, **options).fit(X, y)
    other = WeightedAverage(**options).fit(X, y)
    np.testing.assert_array_equal(model.loss_curve_, other.loss_curve_)
    np.testing.assert_array_equal(model.log_weights_, other.log_weights_)
    assert model.regret_bound_ == pytest.approx(other.regret_bound_)


def test_variable_share_with_losses_of_one_is_fixed_share(rng):
    # An expert that loses one gives alpha, one that loses nothing gives nothing.
    y = rng.integers(0, 2, 60) * 1.0
    X = np.stack([1 - y, 1 - y, 1 - y], axis=1)
    options = {"alpha": 0.2, "bounds": (0, 1), "keep_weights": True}
    first, second = FixedShare(**options).fit(X, y), VariableShare(**options).fit(X, y)
    np.testing.assert_allclose(first.weight_curve_, second.weight_curve_, **EXACT)
    right = VariableShare(**options).fit(np.stack([y, y, 1 - y], axis=1), y)
    assert right.weights_[2] < 1e-12, "nothing comes from experts that lose nothing"


@pytest.mark.parametrize("Learner", LEARNERS)
@pytest.mark.parametrize("prediction", ["average", "vovk"])
@pytest.mark.parametrize("loss", ["square", "hellinger", "entropic"])
def test_predictions_equal_those_of_the_twin(rng, Learner, prediction, loss):
    X, y = rng.uniform(0.01, 0.99, (60, 4)), rng.random(60)
    model = Learner(alpha=0.1, loss=loss, prediction=prediction, bounds=(0, 1), keep_weights=True)
    answers = model._predict_and_learn(X, y)
    losses, eta = model._loss(y[:, None], X), model.eta_
    reference = twin.fixed_share if Learner is FixedShare else twin.variable_share
    weights = reference(losses, eta, 0.1)[:-1]
    np.testing.assert_allclose(model.weight_curve_, weights, **EXACT)
    expected = (weights * X).sum(axis=1)
    if prediction == "vovk":
        outcomes = np.zeros((60, 1)), np.ones((60, 1))
        at = (twin.mixed_losses(weights, model._loss(outcome, X), eta) for outcome in outcomes)
        expected = model._loss._substitute(*at)
    np.testing.assert_allclose(answers, expected, **ALGEBRA)


@pytest.mark.parametrize("Learner", LEARNERS)
def test_single_expert_has_nobody_to_share_with(rng, Learner):
    X, y = rng.random((20, 1)), rng.random(20)
    model = Learner(alpha=0.3, bounds=(0, 1)).fit(X, y)
    assert model.weights_.tolist() == [1.0]
    assert model.cumulative_loss_ == pytest.approx(square(y, X[:, 0]).sum())
    assert model.regret_ == pytest.approx(0, abs=1e-12)
    assert model.shifting_regret(X, y, 0)[0] == pytest.approx(0, abs=1e-12)


# ---------------------------------------------------------------- the theorems


def shifting_bounds(model, X, y, n_shifts):
    """Check the theorem for numbers of shifts up to a largest one; return how many."""
    n_trials, n = X.shape
    losses = square(y[:, None], X)
    # Of at most so many shifts the best sequence may have less, by which it is bounded.
    found = [best_shifting_sequence(losses, k) for k in range(n_shifts + 1)]
    best = np.array([sequence.loss for sequence in found])
    shifts = [np.count_nonzero(np.diff(sequence.experts)) for sequence in found]
    if isinstance(model, FixedShare):
        bounds = best + fixed_share_bound(n_trials, n, shifts, model.alpha_, 1 / model.eta_)
    else:
        bounds = variable_share_bound(best, n, shifts, model.alpha_, 1 / model.eta_)
    assert np.all(model.cumulative_loss_ <= bounds + 1e-9)
    return len(shifts), best, bounds


@pytest.mark.parametrize("Learner", LEARNERS)
@pytest.mark.parametrize("prediction", ["average", "vovk"])
def test_loss_never_exceeds_the_bound_against_any_shifting_sequence(rng, Learner, prediction):
    n_sequences = 0
    for _ in range(2000):
        X, y = shifting_trials(rng)
        alpha = float(rng.choice([0.005, 0.05, 0.3, 0.8]))
        model = Learner(alpha=alpha, prediction=prediction, bounds=(0, 1)).fit(X, y)
        n_checked, best, bounds = shifting_bounds(model, X, y, 4)
        n_sequences += n_checked
        assert model.regret_ <= model.regret_bound_ + 1e-9
        assert model.regret_bound_ == pytest.approx(bounds[0] - best[0])
    assert n_sequences >= 10_000


@pytest.mark.parametrize("Learner", LEARNERS)
def test_loss_never_exceeds_the_bound_against_an_adversary(rng, Learner):
    n_sequences = 0
    for n_experts in (2, 4):
        advice, outcomes = twin.average_adversary(rng, 150, 25, n_experts, 0.5, square)
        for X, y in zip(advice, outcomes, strict=True):
            model = Learner(alpha=0.05, bounds=(0, 1)).fit(X, y)
            n_sequences += shifting_bounds(model, X, y, 9)[0]
    assert n_sequences >= 3000


def test_simple_bound_is_above_that_of_the_best_part():
    for n_trials in (2, 10, 800):
        shifts = np.arange(n_trials)
        best = fixed_share_bound(n_trials, 7, shifts)
        assert np.all(best <= fixed_share_bound(n_trials, 7, shifts, simple=True) + 1e-9)
        for alpha in (0.01, 0.3, 0.9):
            assert np.all(best <= fixed_share_bound(n_trials, 7, shifts, alpha) + 1e-9)


def test_golden_bounds():
    assert fixed_share_bound(800, 64, 3) == pytest.approx(36.3369, abs=1e-4)
    assert fixed_share_bound(800, 64, 3, simple=True) == pytest.approx(36.3425, abs=1e-4)
    assert fixed_share_bound(800, 64, 3, alpha=0.024) == pytest.approx(47.1144, abs=1e-4)
    # Entropy and relative entropy, as the theorem writes them.
    a, alpha = 3 / 799, 0.024
    entropy = -a * np.log(a) - (1 - a) * np.log(1 - a)
    distance = a * np.log(a / alpha) + (1 - a) * np.log((1 - a) / (1 - alpha))
    written = 799 * (entropy + distance) + 3 * np.log(63) + np.log(64)
    assert fixed_share_bound(800, 64, 3, alpha) == pytest.approx(written)
    assert fixed_share_bound(10, 3, 0, alpha=0.0) == pytest.approx(np.log(3))
    assert fixed_share_bound(10, 3, 1, alpha=0.0) == np.inf
    assert fixed_share_bound(1, 3, 0) == pytest.approx(np.log(3))
    with pytest.raises(ValueError, match="n_shifts must be < n_trials"):
        fixed_share_bound(10, 3, 10)
    for bound in (lambda: fixed_share_bound(10, 1, 1), lambda: variable_share_bound(1, 1, 1, 0.1)):
        with pytest.raises(ValueError, match="n_shifts must be 0 if n_experts=1"):
            bound()
    with pytest.raises(ValueError, match="best alpha"):
        fixed_share_bound(10, 3, 1, alpha=0.1, simple=True)


def test_golden_experiment_with_three_shifts():
    # 800 trials, 64 experts, alpha = 0.024, the mean of ten streams. The average with eta = 2, and
    # with eta = 1/2.
    totals = {2.0: [], 0.5: []}
    for seed in range(10):
        X, y, _ = make_switching_experts(random_state=seed)
        for eta, rows in totals.items():
            options = {"eta": eta, "bounds": (0, 1)}
            models = [Learner(alpha=0.024, **options) for Learner in LEARNERS]
            models.append(WeightedAverage(**options))
            rows.append([model.fit(X, y).cumulative_loss_ for model in models])
    np.testing.assert_allclose(np.mean(totals[2.0], axis=0), [18.8, 19.7, 50.3], rtol=0.03)
    np.testing.assert_allclose(np.mean(totals[0.5], axis=0), [43.3, 41.1, 48.9], rtol=0.03)


@pytest.mark.parametrize("Learner", LEARNERS)
def test_both_sides_of_the_theorem_are_computed(rng, Learner):
    X, y, _ = make_switching_experts(200, 8, random_state=0)
    model = Learner(alpha="auto", n_shifts=3, prediction="vovk", bounds=(0, 1)).fit(X, y)
    assert model.alpha_ == pytest.approx(3 / 199)
    best = best_shifting_sequence(square(y[:, None], X), 3).loss
    regret, bound = model.shifting_regret(X, y, 3)
    assert regret == pytest.approx(model.cumulative_loss_ - best)
    assert regret <= bound
    scaled = clone(model).set_params(bounds=(-5, 5)).fit(10 * X - 5, 10 * y - 5)
    np.testing.assert_allclose(
        scaled.shifting_regret(10 * X - 5, 10 * y - 5, 3), (100 * regret, 100 * bound), **ALGEBRA
    )
    with pytest.raises(ValueError, match="200 trials that the learner was fitted on"):
        model.shifting_regret(X[:-1], y[:-1], 3)


def test_share_tracks_what_the_average_forgets():
    X, y, best = make_switching_experts(random_state=3)
    shared = FixedShare(alpha=0.024, eta=2.0, bounds=(0, 1), keep_weights=True).fit(X, y)
    fixed = WeightedAverage(eta=2.0, bounds=(0, 1), keep_weights=True).fit(X, y)
    last = np.arange(len(y)) >= len(y) - 20
    assert np.all(shared.weight_curve_[last].argmax(axis=1) == best[last])
    assert shared.cumulative_loss_ < 0.6 * fixed.cumulative_loss_


def test_hedge_with_a_share_follows_classes_that_change(rng):
    y = rng.integers(0, 2, 600)
    X = rng.integers(0, 2, (600, 10))
    X[:300, 2], X[300:, 7] = y[:300], y[300:]
    plain, shared = Hedge(eta=1.0).fit(X, y), Hedge(eta=1.0, share=0.01).fit(X, y)
    assert shared.n_mistakes_ < 40 < plain.n_mistakes_
    assert shared.regret_ <= shared.regret_bound_


# ---------------------------------------------------------------- options


@pytest.mark.parametrize("Learner", LEARNERS)
def test_part_that_suits_a_number_of_shifts(rng, Learner):
    X, y = rng.random((50, 3)), rng.random(50)
    assert Learner(alpha="auto", n_shifts=0).fit(X, y).alpha_ == 0
    assert Learner(alpha="auto", n_shifts=7).fit(X, y).alpha_ == pytest.approx(1 / 7)
    assert Learner(alpha="auto", n_shifts=99).fit(X, y).alpha_ == 1
    model = Learner(alpha="auto", n_shifts=2, horizon=201, bounds=(0, 1)).partial_fit(X, y)
    assert model.alpha_ == pytest.approx(0.01)
    with pytest.raises(ValueError, match="requires n_shifts"):
        Learner(alpha="auto").fit(X, y)
    with pytest.raises(ValueError, match="requires horizon"):
        Learner(alpha="auto", n_shifts=2).partial_fit(X, y)
    with pytest.raises(ValueError, match="at least 1e-100"):
        Learner(alpha=1e-101).fit(X, y)
    with pytest.raises(ValueError, match="set eta"):
        Learner(loss="absolute").fit(X, y)


def test_no_bound_for_losses_that_have_none(rng):
    X, y = rng.random((50, 3)), rng.integers(0, 2, 50)
    assert VariableShare(loss="entropic", bounds=(0, 1)).fit(X, y).regret_bound_ is None
    model = FixedShare(loss="entropic", bounds=(0, 1)).fit(X, y)
    assert model.regret_ <= model.regret_bound_
    absolute = FixedShare(loss="absolute", eta=0.3, bounds=(0, 1)).fit(X, y)
    assert absolute.shifting_regret(X, y, 5)[0] <= absolute.shifting_regret(X, y, 5)[1]


def test_shifting_regret_is_against_what_learning_experts_said_in_the_trials(rng):
    X = rng.normal(size=(80, 3))
    y = 1 / (1 + np.exp(-X[:, 0] * np.where(np.arange(80) < 40, 1, -1)))
    experts = [PassiveAggressiveRegressor(C=C) for C in (0.01, 1.0)]
    model = FixedShare(experts, bounds=(0, 1)).fit(X, y)
    losses = model.expert_loss_matrix(X, y)
    np.testing.assert_allclose(losses.sum(axis=0), model.expert_losses_, **ALGEBRA)
    regret, bound = model.shifting_regret(X, y, 2)
    best = best_shifting_sequence(losses, 2).loss
    np.testing.assert_allclose(regret, model.cumulative_loss_ - best, **ALGEBRA)
    assert regret <= bound


def test_sequences_of_sleeping_experts_have_no_loss(rng):
    X, y = rng.random((20, 3)), rng.random(20)
    X[4, 1] = np.nan
    model = FixedShare(bounds=(0, 1)).fit(X, y)
    with pytest.raises(ValueError, match="abstain"):
        model.shifting_regret(X, y, 1)
