"""Streams have the properties that their descriptions promise."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_sl.datasets import (
    make_bandit_losses,
    make_drifting_losses,
    make_drifting_stream,
    make_multitask_experts,
    make_switching_experts,
)


def n_shifts(sequence):
    """Return how often a sequence changes."""
    return int(np.count_nonzero(np.diff(sequence)))


# ---------------------------------------------------------------- switching experts


def test_switching_experts_are_those_of_the_notes():
    totals = []
    for seed in range(10):
        advice, y, best = make_switching_experts(random_state=seed)
        assert advice.shape == (800, 64)
        assert not y.any()
        assert n_shifts(best) == 3
        np.testing.assert_array_equal(np.flatnonzero(np.diff(best)) + 1, [200, 400, 600])
        losses = (advice - y[:, None]) ** 2
        best_losses = losses[np.arange(800), best]
        assert advice.min() >= 0
        assert np.sqrt(best_losses).max() <= np.sqrt(0.025)
        assert advice.max() <= 0.5
        totals.append([best_losses.mean(), losses.mean(), losses.sum(axis=0).min()])
    one, all_, single = np.mean(totals, axis=0)
    np.testing.assert_allclose(120 * one, 1, rtol=0.03)
    np.testing.assert_allclose(12 * all_, 1, rtol=0.03)
    np.testing.assert_allclose(single, 50.4, rtol=0.02)


def test_best_experts_come_from_the_pool_and_all_of_it_is_used():
    *_, best = make_switching_experts(1000, 50, 40, n_modes=3, random_state=0)
    assert len(np.unique(best)) == 3
    assert n_shifts(best) == 40


def test_no_shift_leaves_one_best_expert():
    *_, best = make_switching_experts(10, 5, 0, random_state=0)
    assert n_shifts(best) == 0
    advice, _, best = make_switching_experts(10, 1, 0, random_state=0)
    assert advice.shape == (10, 1)


# ---------------------------------------------------------------- drifting losses


def test_drifting_losses_move_by_steps_of_the_given_size():
    losses = make_drifting_losses(20_000, 5, step=0.01, noise=0.0, random_state=0)
    assert losses.min() >= 0
    assert losses.max() <= 1
    np.testing.assert_allclose(np.diff(losses, axis=0).std(), 0.01, rtol=0.05)
    assert np.ptp(losses, axis=0).min() > 0.5


def test_losses_without_drift_stay_near_their_means():
    losses = make_drifting_losses(500, 5, step=0.0, noise=0.05, random_state=0)
    assert np.ptp(losses, axis=0).max() <= 0.1
    still = make_drifting_losses(500, 5, step=0.0, noise=0.0, random_state=0)
    np.testing.assert_array_equal(still, np.tile(still[0], (500, 1)))


# ---------------------------------------------------------------- bandit losses


def test_bandit_losses_have_their_means():
    losses = make_bandit_losses(20_000, means=[0.1, 0.9], random_state=0)
    assert set(np.unique(losses)) == {0.0, 1.0}
    np.testing.assert_allclose(losses.mean(axis=0), [0.1, 0.9], atol=0.01)


def test_one_arm_is_better_by_the_gap():
    means = np.sort(make_bandit_losses(20_000, 4, gap=0.3, random_state=0).mean(axis=0))
    np.testing.assert_allclose(means, [0.2, 0.5, 0.5, 0.5], atol=0.02)


def test_good_arm_changes_at_switches():
    losses = make_bandit_losses(30_000, 5, gap=0.4, n_switches=2, random_state=0)
    good = [part.mean(axis=0).argmin() for part in np.split(losses, 3)]
    assert len(set(good)) == 3


# ---------------------------------------------------------------- multitask experts


@pytest.mark.parametrize("seed", range(20))
def test_tasks_switch_as_often_as_they_should_between_few_experts(seed):
    X, y, best = make_multitask_experts(random_state=seed)
    assert X.shape == (3000, 201)
    tasks = X[:, 0]
    assert set(tasks) == {0, 1, 2}
    assert len(np.unique(best)) == 3
    assert sum(n_shifts(best[tasks == task]) for task in range(3)) == 12
    right = X[np.arange(3000), 1 + best] == y
    np.testing.assert_allclose(right.mean(), 0.95, atol=0.015)
    np.testing.assert_allclose(X[:, 1:].mean(), 0.5, atol=0.01)


def test_modes_and_switches_of_extreme_problems():
    *_, best = make_multitask_experts(50, 5, n_tasks=1, n_modes=1, n_switches=0, random_state=0)
    assert n_shifts(best) == 0
    *_, best = make_multitask_experts(50, 5, n_tasks=1, n_modes=5, n_switches=4, random_state=0)
    assert len(np.unique(best)) == 5
    X, y, best = make_multitask_experts(50, 5, noise=0.0, random_state=0)
    np.testing.assert_array_equal(X[np.arange(50), 1 + best], y)


# ---------------------------------------------------------------- drifting stream


def test_stream_has_a_linear_concept_between_drifts():
    X, y, concept = make_drifting_stream(6000, 5, 2, random_state=0)
    np.testing.assert_array_equal(np.bincount(concept), [2000] * 3)
    models = [
        LogisticRegression(C=1e4, fit_intercept=False).fit(X[concept == k], y[concept == k])
        for k in range(3)
    ]
    scores = [[model.score(X[concept == k], y[concept == k]) for model in models] for k in range(3)]
    assert np.diag(scores).min() > 0.99
    assert np.max(scores - np.eye(3)) < 0.9


def test_gradual_drift_mixes_two_concepts_around_the_change():
    *_, concept = make_drifting_stream(40_000, 3, 1, width=4000, random_state=0)
    assert concept[:12_000].mean() < 0.01
    assert concept[-12_000:].mean() > 0.99
    np.testing.assert_allclose(concept[19_500:20_500].mean(), 0.5, atol=0.05)
    np.testing.assert_allclose(concept[20_800:21_200].mean(), 1 / (1 + np.exp(-1)), atol=0.06)


def test_noise_flips_a_share_of_the_classes():
    X, clean, concept = make_drifting_stream(20_000, random_state=0)
    same, noisy, again = make_drifting_stream(20_000, noise=0.1, random_state=0)
    np.testing.assert_array_equal(X, same)
    np.testing.assert_array_equal(concept, again)
    np.testing.assert_allclose(np.mean(clean != noisy), 0.1, atol=0.01)


# ---------------------------------------------------------------- all of them

GENERATORS = [
    make_switching_experts,
    make_drifting_losses,
    make_bandit_losses,
    make_multitask_experts,
    make_drifting_stream,
]


@pytest.mark.parametrize("make", GENERATORS)
def test_same_seed_gives_the_same_data_and_another_one_other_data(make):
    one, two, other = make(random_state=1), make(random_state=1), make(random_state=2)
    for a, b in zip(np.atleast_1d(one[0]), np.atleast_1d(two[0]), strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(one[0], other[0])


@pytest.mark.parametrize(
    ("make", "params", "message"),
    [
        (make_switching_experts, {"n_trials": 3, "n_shifts": 3}, "n_shifts must be < n_trials=3"),
        (make_switching_experts, {"n_experts": 1}, "two experts"),
        (make_switching_experts, {"n_modes": 65}, "n_modes must be <= n_experts=64"),
        (make_switching_experts, {"n_trials": 0}, "n_trials"),
        (make_drifting_losses, {"step": -1.0}, "step"),
        (make_drifting_losses, {"noise": 2.0}, "noise"),
        (make_drifting_losses, {"noise": np.nan}, "noise"),
        (make_drifting_losses, {"step": np.nan}, "step"),
        (make_bandit_losses, {"means": [0.5, 1.5]}, r"in \[0, 1\]"),
        (make_bandit_losses, {"means": []}, r"in \[0, 1\]"),
        (make_bandit_losses, {"gap": 0.6}, "gap"),
        (make_multitask_experts, {"n_modes": 201}, "n_modes must be <= n_experts=200"),
        (make_multitask_experts, {"n_modes": 1}, "n_switches must be 0"),
        (make_multitask_experts, {"n_modes": 20}, r"n_modes must be <= n_tasks \+ n_switches=15"),
        (make_multitask_experts, {"n_trials": 10}, "Increase n_trials"),
        (make_drifting_stream, {"width": -1.0}, "width"),
        (make_drifting_stream, {"n_samples": 2}, "n_drifts must be < n_samples=2"),
    ],
)
def test_impossible_streams_are_refused(make, params, message):
    with pytest.raises(ValueError, match=message):
        make(**params, random_state=0)


@pytest.mark.parametrize("make", GENERATORS)
def test_sizes_are_integers(make):
    with pytest.raises(TypeError, match="int"):
        make(10.5)
