"""Mixing past posteriors: the weights, their memory, and the bounds on regrets."""

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from reference import switching as twin
from sklearn.base import clone

from sklearn_sl.datasets import make_switching_experts
from sklearn_sl.online import (
    FixedShare,
    MixingPastPosteriors,
    VariableShare,
    WeightedAverage,
    best_shifting_sequence,
)
from sklearn_sl.online.experts._past_posteriors import block_of_age, sequence_complexity
from sklearn_sl.theory import fixed_share_bound, past_posteriors_bound

PASTS = [
    {"past": "start"},
    {"past": "uniform"},
    {"past": "decaying"},
    {"past": "decaying", "decay": 0.5},
    {"past": "decaying", "decay": 2.0},
]
for_every_past = pytest.mark.parametrize(
    "past", PASTS, ids=lambda past: "-".join(map(str, past.values()))
)


def trials(rng, n_trials=120, n_experts=5):
    """Return advice and outcomes between zero and one."""
    y = rng.uniform(size=n_trials)
    noise = rng.normal(size=(n_trials, n_experts)) * rng.uniform(0.05, 1, size=n_experts)
    return np.clip(y[:, None] + noise, 0, 1), y


# ---------------------------------------------------------------- definitions


@for_every_past
@pytest.mark.parametrize("alpha", [0.001, 0.2, 1.0])
def test_weights_are_those_of_all_posteriors_that_there_were(past, alpha, rng):
    X, y = trials(rng)
    model = MixingPastPosteriors(alpha=alpha, bounds=(0, 1), keep_weights=True, **past)
    model.fit(X, y)
    weights = twin.past_posteriors((X - y[:, None]) ** 2, 0.5, alpha, **past)
    np.testing.assert_allclose(model.weight_curve_, weights, **ALGEBRA)
    loss = np.sum((np.sum(weights * X, axis=1) - y) ** 2)
    np.testing.assert_allclose(model.cumulative_loss_, loss, **ALGEBRA)
    np.testing.assert_allclose(model.weights_.sum(), 1, **EXACT)


@for_every_past
def test_last_weights_are_those_of_the_next_trial(past, rng):
    X, y = trials(rng)
    model = MixingPastPosteriors(bounds=(0, 1), keep_weights=True, **past)
    before = clone(model).fit(X[:-1], y[:-1]).weights_
    np.testing.assert_allclose(model.fit(X, y).weight_curve_[-1], before, **EXACT)


def test_start_alone_is_fixed_share_with_oneself(rng):
    X, y = trials(rng)
    own = MixingPastPosteriors(alpha=0.1 * 5 / 4, past="start", bounds=(0, 1)).fit(X, y)
    share = FixedShare(alpha=0.1, bounds=(0, 1)).fit(X, y)
    np.testing.assert_allclose(own.weights_, share.weights_, **ALGEBRA)
    np.testing.assert_allclose(own.cumulative_loss_, share.cumulative_loss_, **ALGEBRA)


@for_every_past
def test_no_past_is_the_weighted_average(past, rng):
    X, y = trials(rng)
    model = MixingPastPosteriors(alpha=0.0, bounds=(0, 1), **past).fit(X, y)
    plain = WeightedAverage(bounds=(0, 1)).fit(X, y)
    np.testing.assert_array_equal(model.weights_, plain.weights_)
    assert model.cumulative_loss_ == plain.cumulative_loss_


def test_past_without_decay_is_uniform(rng):
    X, y = trials(rng)
    flat = MixingPastPosteriors(past="decaying", decay=0.0, bounds=(0, 1)).fit(X, y)
    uniform = MixingPastPosteriors(past="uniform", bounds=(0, 1)).fit(X, y)
    np.testing.assert_allclose(flat.weights_, uniform.weights_, **ALGEBRA)


# ---------------------------------------------------------------- blocks of the past


def test_blocks_grow_together_two_of_each_size_at_most():
    for n_past in range(1, 400):
        sizes = twin.blocks_of_the_past(n_past)
        assert sum(sizes) == n_past
        assert len(sizes) <= 2 * np.log2(n_past + 1)
        oldest = np.cumsum(sizes[::-1])[::-1]
        for age in range(1, n_past + 1):
            block = np.flatnonzero(oldest >= age)[-1]
            young, old = block_of_age(age, n_past)
            assert (old, old - young + 1) == (oldest[block], sizes[block])
            assert old < 2 * young


def test_compiled_blocks_are_those_of_the_definition(rng):
    X, y = trials(rng, 1)
    model = MixingPastPosteriors(bounds=(0, 1))
    for n_trials in range(1, 200):
        model.partial_fit(X, y)
        n_past, n_blocks = model._state.counts
        assert n_past == n_trials
        sizes = twin.blocks_of_the_past(n_trials)
        np.testing.assert_array_equal(model._state.sizes[:n_blocks], sizes)


# ---------------------------------------------------------------- symmetries


@for_every_past
@pytest.mark.parametrize("prediction", ["average", "vovk"])
def test_blocks_are_the_whole_to_the_last_bit(past, prediction, rng):
    X, y = trials(rng, 2500, 3)
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    model = MixingPastPosteriors(bounds=(0, 1), prediction=prediction, keep_losses=True, **past)
    whole, parts = clone(model).fit(X, y), clone(model)
    for rows in np.split(np.arange(2500), [1, 2, 3, 700, 1023, 1024, 1025, 2047, 2050]):
        parts.partial_fit(X[rows], y[rows])
    for name in ("weights_", "log_weights_", "expert_losses_", "loss_curve_"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    for name in ("cumulative_loss_", "regret_", "regret_bound_"):
        assert getattr(parts, name) == getattr(whole, name)


@for_every_past
def test_order_of_the_experts_does_not_matter(past, rng):
    X, y = trials(rng)
    order = rng.permutation(5)
    one = MixingPastPosteriors(**past).fit(X, y)
    other = MixingPastPosteriors(**past).fit(X[:, order], y)
    np.testing.assert_allclose(other.weights_, one.weights_[order], **EXACT)


@for_every_past
def test_expert_that_always_sleeps_is_not_there(past, rng):
    X, y = trials(rng)
    with_sleeper = np.insert(X, 2, np.nan, axis=1)
    plain = MixingPastPosteriors(bounds=(0, 1), **past).fit(X, y)
    model = MixingPastPosteriors(bounds=(0, 1), **past).fit(with_sleeper, y)
    np.testing.assert_allclose(model.weights_[2], 1 / 6, **ALGEBRA)
    np.testing.assert_allclose(model.cumulative_loss_, plain.cumulative_loss_, **ALGEBRA)


def test_failed_call_leaves_the_old_state(rng):
    X, y = trials(rng)
    model = MixingPastPosteriors(bounds=(0, 1)).fit(X, y)
    before, sizes = dict(vars(model)), model._state.sizes.copy()
    bad = X.copy()
    bad[-1, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.partial_fit(bad, y)
    assert all(vars(model)[name] is value for name, value in before.items())
    np.testing.assert_array_equal(model._state.sizes, sizes)


# ---------------------------------------------------------------- theorems


def sequences_and_costs(n_experts, n_trials, alpha, past):
    """Return all sequences and what each of them costs."""
    sequences = twin.all_sequences(n_experts, n_trials)
    costs = [
        twin.past_posterior_complexity(sequence, n_experts, alpha, **past)
        for sequence in sequences.tolist()
    ]
    return sequences, np.array(costs)


@for_every_past
def test_complexity_of_a_sequence_is_that_of_its_parts(past, rng):
    for _ in range(50):
        sequence = np.repeat(rng.integers(4, size=30), rng.integers(1, 6, size=30))
        np.testing.assert_allclose(
            sequence_complexity(sequence, 4, 0.07, past["past"], past.get("decay", 1.0)),
            twin.past_posterior_complexity(sequence.tolist(), 4, 0.07, **past),
            **ALGEBRA,
        )


@for_every_past
@pytest.mark.parametrize("alpha", [0.02, 0.3])
def test_bound_is_above_the_complexities_of_all_its_sequences(past, alpha):
    sequences, costs = sequences_and_costs(3, 7, alpha, past)
    shifts, modes = twin.count_shifts(sequences), twin.count_modes(sequences)
    for k in range(7):
        for m in set(modes[shifts == k].tolist()):
            bound = past_posteriors_bound(7, 3, k, m, alpha, **past)
            assert costs[(shifts == k) & (modes == m)].max() <= bound + 1e-9


@for_every_past
@pytest.mark.parametrize(
    ("loss", "prediction", "c"),
    [
        ("square", "average", 2.0),
        ("square", "vovk", 0.5),
        ("entropic", "average", 1.0),
        ("hellinger", "vovk", np.sqrt(0.5)),
    ],
)
def test_regret_never_exceeds_its_bound_against_any_sequence(past, loss, prediction, c, rng):
    # All sequences of three experts in six trials, whose outcomes are random or extreme.
    alpha = 0.2
    sequences, costs = sequences_and_costs(3, 6, alpha, past)
    model = MixingPastPosteriors(
        alpha=alpha, loss=loss, prediction=prediction, bounds=(0, 1), **past
    )
    for run in range(550):
        X = rng.uniform(size=(6, 3)) if run % 2 else rng.integers(2, size=(6, 3)).astype(float)
        y = rng.uniform(size=6) if run % 3 else rng.integers(2, size=6).astype(float)
        if loss == "entropic":
            X = np.clip(X, 1e-3, 1 - 1e-3)
        model.fit(X, y)
        losses = model._loss(y[:, None], X)
        regrets = model.cumulative_loss_ - twin.sequence_losses(losses, sequences)
        assert np.all(regrets <= c * costs + 1e-9)
        assert model.regret_ <= model.regret_bound_ + 1e-9


@for_every_past
def test_both_sides_of_the_theorem_are_computed(past, rng):
    X, y, best = make_switching_experts(300, 10, 8, n_modes=3, random_state=0)
    model = MixingPastPosteriors(alpha="auto", n_shifts=8, bounds=(0, 0.5), **past).fit(X, y)
    np.testing.assert_allclose(model.alpha_, 8 / 299, **EXACT)
    regret, bound = model.sequence_regret(X, y, best)
    loss = np.sum(X[np.arange(300), best] ** 2)
    np.testing.assert_allclose(regret, model.cumulative_loss_ - loss, **ALGEBRA)
    cost = twin.past_posterior_complexity(best.tolist(), 10, 8 / 299, **past)
    # Losses are in units of the squared range, 1/4, and the rate is 1/2.
    np.testing.assert_allclose(bound, 0.25 * 2 * cost, **ALGEBRA)
    assert regret <= bound <= 0.5 * past_posteriors_bound(300, 10, 8, 3, **past) + 1e-9
    regret, bound = model.shifting_regret(X, y, 8)
    best_loss = best_shifting_sequence(X**2, 8).loss
    np.testing.assert_allclose(regret, model.cumulative_loss_ - best_loss, **ALGEBRA)
    np.testing.assert_allclose(bound, 0.5 * past_posteriors_bound(300, 10, 8, 9, **past), **ALGEBRA)


def test_start_alone_costs_as_much_as_fixed_share_but_for_oneself():
    n, T, k, alpha = 20, 300, 6, 0.03
    share = fixed_share_bound(T, n, k, alpha * (n - 1) / n)
    own = past_posteriors_bound(T, n, k, 4, alpha, past="start")
    # Fixed share keeps a little more: what an expert gives to itself.
    stays = (T - 1 - k) * np.log((1 - alpha * (n - 1) / n) / (1 - alpha))
    np.testing.assert_allclose(own - share, stays, **ALGEBRA)


def test_memory_pays_if_experts_return():
    totals = []
    for seed in range(3):
        X, y, _ = make_switching_experts(2000, 500, 30, n_modes=3, random_state=seed)
        options = {"prediction": "vovk", "alpha": 0.015, "bounds": (0, 1)}
        models = [FixedShare(**options)]
        models += [MixingPastPosteriors(past=past, **options) for past in ("uniform", "decaying")]
        totals.append([model.fit(X, y).cumulative_loss_ for model in models])
    share, uniform, decaying = np.mean(totals, axis=0)
    assert uniform < 0.75 * share
    assert decaying < 0.75 * share


def test_losses_of_the_shifting_experiment_are_those_of_the_notes():
    models = {
        18.8: FixedShare(alpha=0.024, eta=2.0, bounds=(0, 1)),
        19.7: VariableShare(alpha=0.024, eta=2.0, bounds=(0, 1)),
        50.3: WeightedAverage(eta=2.0, bounds=(0, 1)),
    }
    totals = np.zeros(3)
    for seed in range(10):
        X, y, _ = make_switching_experts(random_state=seed)
        totals += [model.fit(X, y).cumulative_loss_ / 10 for model in models.values()]
    np.testing.assert_allclose(totals, list(models), rtol=0.03)


# ---------------------------------------------------------------- extremes, bad input


@for_every_past
def test_long_games_keep_all_weights_within_range(past):
    X = np.zeros((60_000, 3))
    X[:30_000, 0] = 1
    X[30_000:, 1] = 1
    model = MixingPastPosteriors(alpha=1e-3, eta=2.0, bounds=(0, 1), **past)
    model.fit(X, np.zeros(60_000))
    assert np.all(np.isfinite(model.log_weights_))
    assert model.cumulative_loss_ < 10
    assert model.n_trials_ == 60_000


def test_one_expert_has_all_weight(rng):
    model = MixingPastPosteriors().fit(rng.uniform(size=(20, 1)), rng.uniform(size=20))
    np.testing.assert_array_equal(model.weights_, [1.0])
    np.testing.assert_allclose(model.regret_, 0, **EXACT)


def test_impossible_questions_are_refused(rng):
    X, y = trials(rng)
    model = MixingPastPosteriors().fit(X, y)
    for experts in (np.zeros(7, dtype=int), np.zeros((2, 120), dtype=int), np.full(120, 5)):
        with pytest.raises(ValueError, match="120 trials"):
            model.sequence_regret(X, y, experts)
    with pytest.raises(ValueError, match="requires n_shifts"):
        MixingPastPosteriors(alpha="auto").fit(X, y)


@pytest.mark.parametrize(
    "call",
    [
        lambda: past_posteriors_bound(10, 5, 10, 2),
        lambda: past_posteriors_bound(10, 5, 3, 5),
        lambda: past_posteriors_bound(10, 5, 3, 1),
        lambda: past_posteriors_bound(10, 2, 3, 3),
        lambda: past_posteriors_bound(10, 5, 3, 2, alpha=1.5),
        lambda: past_posteriors_bound(10, 5, 3, 2, past="future"),
        lambda: past_posteriors_bound(10, 5, 3, 2, decay=-1.0),
    ],
)
def test_bound_refuses_what_its_theorem_does_not_speak_of(call):
    with pytest.raises(ValueError):
        call()
