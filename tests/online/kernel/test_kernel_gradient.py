"""Kernel gradient descent with random predictions: twins, expectations and the theorem."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT
from reference import kernel_online as reference
from reference.kernel_online import assert_same_bits, learned, run
from sklearn.metrics.pairwise import rbf_kernel

from sklearn_sl.kernels import SetIntersection, Spectrum
from sklearn_sl.online import KernelOGD, progressive_predict
from sklearn_sl.online.kernel._kernel_gradient import class_probabilities
from sklearn_sl.theory import kernel_ogd_bound, ogd_bound


def stream(rng, n_samples, n_classes):
    """Return samples and noisy classes."""
    X = rng.normal(size=(n_samples, 3))
    values = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n_samples)
    return X, np.digitize(values, [[0.0], [-0.5, 0.5]][n_classes - 2])


# ---------------------------------------------------------------- twins and identities


@pytest.mark.parametrize("n_classes", [2, 3])
def test_trials_are_those_of_the_twin(n_classes, rng):
    X, y = stream(rng, 250, n_classes)
    n_scores = 1 if n_classes == 2 else 3
    model = KernelOGD(gamma=0.7, eta=0.3, keep_losses=True, random_state=0)
    answers = progressive_predict(model, X, y)
    scores, support, coef, _ = reference.play(
        rbf_kernel(X, gamma=0.7), y, n_scores, margin=1.0, length=0.3
    )
    np.testing.assert_array_equal(model.support_, support)
    np.testing.assert_allclose(model.dual_coef_, coef[:, support], **EXACT)
    classes = np.array([1]) if n_classes == 2 else np.arange(3)
    signs = np.where(classes == y[:, None], 1, -1)
    losses = np.maximum(0, 1 - signs * scores).sum(axis=1)
    np.testing.assert_allclose(model.loss_curve_, losses, **ALGEBRA)
    np.testing.assert_allclose(model.cumulative_loss_, losses.sum(), **ALGEBRA)
    chances = np.array([reference.chances(row) for row in scores])
    expected = np.sum(1 - chances[np.arange(len(y)), y])
    np.testing.assert_allclose(model.expected_mistakes_, expected, **ALGEBRA)
    assert model.n_mistakes_ == np.sum(answers != y)
    assert model.n_updates_ == np.count_nonzero(coef)


@pytest.mark.parametrize("strategy", ["removal", "projection"])
def test_budget_is_that_of_the_twin(strategy, rng):
    X, y = stream(rng, 250, 3)
    model = KernelOGD(gamma=0.7, budget=13, budget_strategy=strategy)
    model.partial_fit(X, y, classes=[0, 1, 2])
    _, support, coef, _ = reference.play(
        rbf_kernel(X, gamma=0.7), y, 3, margin=1.0, length=0.5, budget=13, strategy=strategy
    )
    assert sorted(model.support_) == support
    expected = coef[:, model.support_]
    np.testing.assert_allclose(model.dual_coef_, expected, rtol=1e-5, atol=1e-6)
    assert model.regret_bound_ is None and model.n_removed_ > 50


def test_step_is_taken_on_a_margin_of_exactly_one():
    # Scores of 0, 1/2, 1: the third trial still steps, the fourth has 3/2 and does not.
    model = KernelOGD(kernel="linear", eta=0.5, keep_losses=True)
    model.partial_fit(np.ones((4, 1)), [1, 1, 1, 1], classes=[0, 1])
    assert model.loss_curve_.tolist() == [1.0, 0.5, 0.0, 0.0]
    assert model.n_updates_ == 3
    assert model.expected_mistakes_ == 0.5 + 0.25


def test_deterministic_mistakes_are_those_of_the_scores(rng):
    X, y = stream(rng, 200, 2)
    model = KernelOGD(randomized=False)
    answers = progressive_predict(model, X, y)
    scores = reference.play(rbf_kernel(X, gamma=1 / 3), y, 1, margin=1.0, length=0.5)[0][:, 0]
    np.testing.assert_array_equal(answers, scores > 0)
    assert model.n_mistakes_ == np.sum(np.where(y == 1, 1, -1) * scores <= 0)
    random = KernelOGD(random_state=0).partial_fit(X, y, classes=[0, 1])
    assert random.expected_mistakes_ == model.expected_mistakes_
    np.testing.assert_array_equal(random.dual_coef_, model.dual_coef_)


def test_small_rate_steps_in_every_trial(rng):
    X, y = stream(rng, 100, 2)
    model = KernelOGD(eta=1e-6).fit(X, y)
    assert model.n_updates_ == 100
    signs = np.where(y == 1, 1, -1)
    expected = 1e-6 * rbf_kernel(X, gamma=1 / 3) @ signs
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-9, atol=1e-18)


# ---------------------------------------------------------------- random predictions


@pytest.mark.parametrize("n_classes", [2, 3])
def test_mean_of_sampled_mistakes_is_near_the_expectation(n_classes, rng):
    X, y = stream(rng, 60, n_classes)
    n_mistakes = [learned(KernelOGD(random_state=seed), X, y).n_mistakes_ for seed in range(400)]
    model = learned(KernelOGD(), X, y)
    error = np.std(n_mistakes) / np.sqrt(len(n_mistakes))
    assert abs(np.mean(n_mistakes) - model.expected_mistakes_) < 4 * error
    assert len(set(n_mistakes)) > 5


def test_classes_are_drawn_with_their_probabilities(rng):
    X, y = stream(rng, 40, 3)
    start = learned(KernelOGD(random_state=0), X, y)
    row = rng.normal(size=(1, 3))
    chances = start.predict_proba(row)[0]
    draws = []
    for seed in range(1500):
        model = learned(KernelOGD(random_state=seed), X, y)
        draws.append(progressive_predict(model, row, [0])[0])
        if seed == 0:
            np.testing.assert_array_equal(model._coef[:, :-1], start._coef)
    counts = np.bincount(draws, minlength=3)
    error = np.sqrt(chances * (1 - chances) * len(draws))
    assert np.all(np.abs(counts - len(draws) * chances) <= 4 * error)


@pytest.mark.parametrize("options", [{}, {"budget": 9}, {"kernel": "poly", "randomized": False}])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_blocks_are_the_whole_bit_for_bit(options, n_classes, rng):
    X, y = stream(rng, 220, n_classes)
    model = KernelOGD(random_state=3, keep_losses=True, **options)
    whole = learned(model, X, y)
    assert_same_bits(learned(model, X, y, range(1, len(y))), whole)
    assert_same_bits(learned(model, X, y, [7, 130]), whole)
    sparse = sp.csr_array(X)
    assert_same_bits(learned(model, sparse, y, range(1, len(y))), learned(model, sparse, y))


def test_probabilities_are_those_of_the_theorem(rng):
    X, y = stream(rng, 100, 2)
    model = KernelOGD().fit(X, y)
    scores = model.decision_function(X)
    expected = np.clip((1 + scores) / 2, 0, 1)
    assert np.any(expected == 1) and np.any((expected > 0) & (expected < 1))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, **EXACT)
    np.testing.assert_array_equal(model.predict(X), scores > 0)


def test_probabilities_of_many_classes_extend_those_of_two(rng):
    scores = 2 * rng.normal(size=(200, 1))
    both = class_probabilities(np.column_stack([-scores, scores]))
    np.testing.assert_allclose(both, class_probabilities(scores), **EXACT)
    three = 2 * rng.normal(size=(200, 3))
    three[:5] = [-5.0, -1.0, -3.0]
    three[5] = [1e308, 1.5e308, -2.0]
    chances = class_probabilities(three)
    np.testing.assert_allclose(chances.sum(axis=1), 1, **EXACT)
    np.testing.assert_array_equal(chances.argmax(axis=1), three.argmax(axis=1))
    assert chances[0].tolist() == [0, 1, 0]
    np.testing.assert_allclose(chances[5], [0.4, 0.6, 0], **EXACT)
    for row, chance in zip(three[6:], chances[6:], strict=True):
        np.testing.assert_allclose(chance, reference.chances(row), **EXACT)


# ---------------------------------------------------------------- the theorem


def gaussian_matrices(rng, n_runs, n_trials):
    """Return Gram matrices of distinct points, with diagonals of several sizes."""
    X = rng.normal(size=(n_runs, n_trials, 2)) * rng.uniform(0.5, 3, size=(n_runs, 1, 1))
    gaps = ((X[:, :, None] - X[:, None]) ** 2).sum(axis=3)
    scale = rng.uniform(0.5, 2, size=(n_runs, 1, 1))
    return scale * (np.exp(-gaps) + 1e-3 * np.eye(n_trials))


def norms_of_signs(K, signs):
    """Return the norms of the functions that have these values in all trials."""
    solved = np.linalg.solve(K[:, None], signs[..., None])[..., 0]
    return np.sqrt(np.einsum("rct,rct->rc", signs, solved))


def risks(scores, codes):
    """Return the probability of a mistake in each trial."""
    return 1 - class_probabilities(scores)[np.arange(len(codes)), codes]


def adversarial_codes(K, eta):
    """Return labels that contradict the learner in every trial, for many runs at once."""
    n_runs, n_trials, _ = K.shape
    codes, coef = np.empty((n_runs, n_trials), dtype=np.intp), np.zeros((n_runs, n_trials))
    for t in range(n_trials):
        scores = np.einsum("rs,rs->r", coef, K[:, :, t])
        codes[:, t] = scores <= 0
        coef[:, t] = eta * np.where(codes[:, t], 1, -1)  # every trial is within the margin
    return codes


def expected_mistakes(K, codes, etas, n_scores=1):
    """Return the exact expectations of many runs, at compiled speed."""
    rule = {"margin": 1.0}
    return np.array(
        [
            risks(run(K[r], codes[r], n_scores, length=etas[r], **rule)[0], codes[r]).sum()
            for r in range(len(K))
        ]
    )


def test_regret_never_exceeds_the_bound_of_any_function_of_signs(rng):
    n_runs, n_trials = 12_000, 6
    K = gaussian_matrices(rng, n_runs, n_trials)
    etas = rng.choice([0.05, 0.3, 1.0, 2.0], size=n_runs)
    codes = rng.integers(2, size=(n_runs, n_trials))
    codes[::2] = adversarial_codes(K[::2], etas[::2])
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=n_trials)))
    norms = norms_of_signs(K, np.broadcast_to(signs, (n_runs, *signs.shape)))
    radii = np.sqrt(np.einsum("rtt->rt", K).max(axis=1))
    mistakes = (signs[None] != np.where(codes, 1, -1)[:, None]).sum(axis=2)
    regret = expected_mistakes(K, codes, etas)[:, None] - mistakes
    bounds = kernel_ogd_bound(norms, radii[:, None], n_trials, etas[:, None])
    assert np.all(regret <= bounds * (1 + 1e-12))
    assert np.max(regret / bounds) > 0.5


def test_regret_with_the_best_rate_never_exceeds_the_theorem(rng):
    n_runs, n_trials = 12_000, 8
    K = gaussian_matrices(rng, n_runs, n_trials)
    signs = rng.choice([-1.0, 1.0], size=(n_runs, n_trials))
    norms = norms_of_signs(K, signs[:, None])[:, 0]
    radii = np.sqrt(np.einsum("rtt->rt", K).max(axis=1))
    etas = norms / (radii * np.sqrt(n_trials))
    noise = rng.uniform(size=signs.shape) < rng.choice([0.0, 0.2, 0.5], size=(n_runs, 1))
    codes = (np.where(noise, -signs, signs) > 0).astype(np.intp)
    codes[::3] = adversarial_codes(K[::3], etas[::3])
    mistakes = (np.where(codes, 1, -1) != signs).sum(axis=1)
    regret = expected_mistakes(K, codes, etas) - mistakes
    bounds = kernel_ogd_bound(norms, radii, n_trials)
    np.testing.assert_allclose(bounds, np.sqrt(norms**2 * radii**2 * n_trials) / 2, **EXACT)
    assert np.all(regret <= bounds * (1 + 1e-12))
    assert np.max(regret / bounds) > 0.5


def test_regret_of_many_classes_never_exceeds_the_sum_of_the_bounds(rng):
    n_runs, n_trials = 10_000, 6
    K = gaussian_matrices(rng, n_runs, n_trials)
    etas = rng.choice([0.05, 0.3, 1.0], size=n_runs)
    codes = rng.integers(3, size=(n_runs, n_trials))
    labels = np.where(np.arange(3)[:, None] == codes[:, None], 1.0, -1.0)
    noise = rng.uniform(size=labels.shape) < rng.choice([0.0, 0.1, 0.4], size=(n_runs, 1, 1))
    signs = np.where(noise, -labels, labels)
    norms = norms_of_signs(K, signs)
    radii = np.sqrt(np.einsum("rtt->rt", K).max(axis=1))
    bounds = kernel_ogd_bound(norms, radii[:, None], n_trials, etas[:, None]).sum(axis=1)
    regret = expected_mistakes(K, codes, etas, 3) - noise.sum(axis=(1, 2))
    assert np.all(regret <= bounds * (1 + 1e-12))


def test_certificate_is_the_theorem_for_the_fit(rng):
    X, y = stream(rng, 150, 2)
    model = KernelOGD(gamma=0.5, eta="horizon", norm=4.0).fit(X, y)
    assert model.eta_ == 4 / np.sqrt(150)
    np.testing.assert_allclose(model.regret_bound_, np.sqrt(16 * 150) / 2, **EXACT)
    passes = KernelOGD(gamma=0.5, eta="horizon", norm=4.0, max_iter=3).fit(X, y)
    assert passes.eta_ == 4 / np.sqrt(450)
    given = KernelOGD(eta="horizon", norm=4.0, radius=2.0, horizon=1000)
    learned_some = learned(given, X, y)
    assert learned_some.eta_ == 4 / (2 * np.sqrt(1000))
    expected = kernel_ogd_bound(4.0, 1.0, 150, learned_some.eta_)
    assert learned_some.regret_bound_ == expected
    # A function with the values of the labels makes no mistake.
    K = rbf_kernel(X, gamma=0.5)
    signs = np.where(y == 1, 1.0, -1.0)
    norm = float(np.sqrt(signs @ np.linalg.solve(K, signs)))
    tuned = KernelOGD(gamma=0.5, eta="horizon", norm=norm).fit(X, y)
    assert tuned.expected_mistakes_ <= tuned.regret_bound_


def test_certificate_of_a_linear_kernel_knows_the_radius(rng):
    X, y = stream(rng, 80, 2)
    model = KernelOGD(kernel="linear", eta="horizon").fit(X, y)
    radius = np.linalg.norm(X, axis=1).max()
    np.testing.assert_allclose(model.eta_, 1 / (radius * np.sqrt(80)), **EXACT)
    table = KernelOGD(kernel="precomputed", eta="horizon").fit(X @ X.T, y)
    np.testing.assert_allclose(table.eta_, model.eta_, **EXACT)
    np.testing.assert_allclose(table.expected_mistakes_, model.expected_mistakes_, **ALGEBRA)
    three = KernelOGD(eta=0.2, norm=3.0).fit(*stream(rng, 90, 3))
    np.testing.assert_allclose(three.regret_bound_, 3 * (9 / 0.4 + 0.1 * 90) / 2, **EXACT)
    assert KernelOGD(kernel="sigmoid").fit(X, y).regret_bound_ is None


def test_bound_is_half_of_that_of_the_loss():
    assert kernel_ogd_bound(2.0, 3.0, 16, eta=0.5) == ogd_bound(2.0, 0.5, 144.0) / 2
    best = 2.0 / (3.0 * np.sqrt(16))
    np.testing.assert_allclose(
        kernel_ogd_bound(2.0, 3.0, 16), kernel_ogd_bound(2.0, 3.0, 16, best), **EXACT
    )
    for bad in ({"norm": -1.0}, {"radius": np.nan}, {"n_trials": 2.5}, {"eta": 0.0}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            kernel_ogd_bound(**{"norm": 1.0, "radius": 1.0, "n_trials": 2, "eta": 1.0, **bad})


# ---------------------------------------------------------------- input


def test_rate_of_the_horizon_must_be_known_by_partial_fit(rng):
    X, y = stream(rng, 10, 2)
    for options in ({}, {"radius": 1.0}, {"horizon": 10}):
        model = KernelOGD(eta="horizon", **options)
        with pytest.raises(ValueError, match="radius and horizon"):
            model.partial_fit(X, y, classes=[0, 1])
        assert not hasattr(model, "classes_")


def test_strings_and_sets_are_learned(rng):
    words = ["".join(rng.choice(list("abcd"), size=9)) for _ in range(150)]
    for samples, kernel, y in [
        (words, Spectrum(p=1), [word.count("a") > 2 for word in words]),
        ([set(word) for word in words], SetIntersection(), ["a" in word for word in words]),
    ]:
        model = KernelOGD(kernel=kernel, eta=0.05, max_iter=50, random_state=0).fit(samples, y)
        assert model.score(samples, y) > 0.95
        assert len(model.support_vectors_) == len(model.support_)


def test_zero_samples_are_guessed(rng):
    model = KernelOGD(kernel="linear", eta="horizon").fit(np.zeros((20, 2)), np.arange(20) % 2)
    assert model.eta_ == 1 / np.sqrt(20)
    assert model.expected_mistakes_ == 10.0
    np.testing.assert_array_equal(model.predict_proba(np.ones((1, 2))), [[0.5, 0.5]])


def test_failed_call_leaves_the_draws_as_they_were(rng):
    X, y = stream(rng, 60, 2)
    model, other = (learned(KernelOGD(random_state=0), X[:30], y[:30]) for _ in range(2))
    spoiled = X.copy()
    spoiled[-1, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(spoiled, y)
    for learner in (model, other):
        learner.partial_fit(X[30:], y[30:])
    assert_same_bits(model, other)
