"""Oracles: what they find is best, by enumeration, by other solvers, and by their certificates."""

import tracemalloc

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from reference import switching as twin
from scipy import optimize, special

from sklearn_sl.datasets import make_switching_experts
from sklearn_sl.online import best_convex_combination, best_expert, best_shifting_sequence
from sklearn_sl.online.experts import _oracles

LOSSES = {
    "square": lambda p, y: (p - y) ** 2,
    "absolute": lambda p, y: np.abs(p - y),
    "entropic": lambda p, y: special.rel_entr(y, p) + special.rel_entr(1 - y, 1 - p),
}
for_every_loss = pytest.mark.parametrize("loss", LOSSES)


# ---------------------------------------------------------------- experts


def test_best_expert_is_the_first_with_the_least_total(rng):
    losses = rng.integers(0, 3, size=(50, 10, 4)).astype(float)
    for matrix in losses:
        expert, loss = best_expert(matrix)
        totals = matrix.sum(axis=0)
        assert loss == totals.min() == totals[expert]
        assert np.all(totals[:expert] > loss)


# ---------------------------------------------------------------- sequences


@pytest.mark.parametrize(("n_experts", "n_trials"), [(2, 8), (3, 6), (4, 5), (1, 4), (5, 1)])
def test_best_sequence_is_the_best_of_all_sequences(n_experts, n_trials, rng):
    sequences = twin.all_sequences(n_experts, n_trials)
    shifts = twin.count_shifts(sequences)
    for integers in (False, True):
        for _ in range(30):
            losses = rng.uniform(size=(n_trials, n_experts))
            if integers:
                losses = np.round(3 * losses)
            totals = twin.sequence_losses(losses, sequences)
            for k in range(n_trials + 1):
                best = best_shifting_sequence(losses, k)
                least = [totals[shifts <= j].min() for j in range(k + 1)]
                np.testing.assert_allclose(best.losses, least, **EXACT)
                assert best.loss == best.losses[-1]
                assert twin.count_shifts(best.experts) <= k
                found = twin.sequence_losses(losses, best.experts)
                np.testing.assert_allclose(found, best.loss, **EXACT)


def test_more_shifts_are_never_worse_and_in_the_end_everyone_is_free(rng):
    losses = rng.uniform(size=(300, 7))
    best = best_shifting_sequence(losses, 299)
    assert np.all(np.diff(best.losses) <= 0)
    np.testing.assert_allclose(best.losses[0], best_expert(losses).loss, **EXACT)
    np.testing.assert_allclose(best.loss, losses.min(axis=1).sum(), **EXACT)
    np.testing.assert_array_equal(best.experts, losses.argmin(axis=1))


def test_no_sequence_shifts_without_need():
    np.testing.assert_array_equal(best_shifting_sequence(np.zeros((9, 3)), 5).experts, np.zeros(9))


@pytest.mark.parametrize("n_experts", [1, 2, 7])
def test_tables_that_need_too_much_room_are_computed_in_parts(rng, monkeypatch, n_experts):
    for n_trials, n_shifts in ((1, 0), (7, 3), (200, 12), (200, 199)):
        losses = rng.integers(0, 3, (n_trials, n_experts)) / 2
        whole = best_shifting_sequence(losses, n_shifts)
        with monkeypatch.context() as patch:
            patch.setattr(_oracles, "ROOM", 10)
            parts = best_shifting_sequence(losses, n_shifts)
        np.testing.assert_array_equal(parts.experts, whole.experts)
        np.testing.assert_array_equal(parts.losses, whole.losses)


def test_memory_does_not_grow_with_trials_times_shifts(rng, monkeypatch):
    monkeypatch.setattr(_oracles, "ROOM", 2**16)
    losses = rng.random((5000, 2))
    tracemalloc.start()
    best_shifting_sequence(losses, 500)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 5000 * 501 * 16 / 5


def test_slices_leave_no_trace(rng, monkeypatch):
    losses = rng.uniform(size=(200, 5))
    whole = best_shifting_sequence(losses, 9)
    monkeypatch.setattr("sklearn_sl.online.experts._oracles.SLICE", 700)
    sliced = best_shifting_sequence(losses, 9)
    for one, other in zip(whole, sliced, strict=True):
        np.testing.assert_array_equal(one, other)


def test_losses_of_the_experiment_are_those_of_the_notes():
    single, sequence, mean = [], [], []
    for seed in range(10):
        advice, y, best = make_switching_experts(random_state=seed)
        losses = (advice - y[:, None]) ** 2
        found = best_shifting_sequence(losses, 3)
        assert np.mean(found.experts == best) > 0.99
        sequence.append(found.loss)
        single.append(best_expert(losses).loss)
        mean.append(losses.sum(axis=0).mean())
    np.testing.assert_allclose(np.mean(sequence), 6.7, atol=0.15)
    np.testing.assert_allclose(np.mean(single), 50.4, atol=1.2)
    np.testing.assert_allclose(np.mean(mean), 65.8, atol=0.3)


def test_long_games_take_no_memory_for_the_experts():
    # 10^5 trials, 50 experts and 20 shifts would be 800 megabytes of back pointers.
    losses = np.random.default_rng(0).uniform(size=(20_000, 50))
    losses[:7000, 3] *= 0.5
    losses[7000:, 4] *= 0.5
    best = best_shifting_sequence(losses, 1)
    np.testing.assert_array_equal(np.unique(best.experts), [3, 4])
    assert abs(np.count_nonzero(best.experts == 3) - 7000) < 50


# ---------------------------------------------------------------- mixtures


def mixing_problem(rng, n_trials, n_experts, loss):
    """Return advice, and outcomes near a mixture of some of it."""
    X = rng.uniform(size=(n_trials, n_experts))
    y = X @ rng.dirichlet(np.full(n_experts, 0.3)) + 0.2 * rng.normal(size=n_trials)
    y = np.clip(y, 0, 1)
    return X, (y > 0.5).astype(float) if loss == "entropic" and n_trials % 2 else y


def total(loss, X, y, weights):
    """Return the loss of a mixture by its definition."""
    return LOSSES[loss](X @ weights, y).sum()


@for_every_loss
@pytest.mark.parametrize(("n_trials", "n_experts"), [(1, 4), (8, 3), (30, 30), (201, 12), (40, 90)])
def test_certificate_says_that_no_mixture_is_better(loss, n_trials, n_experts, rng):
    X, y = mixing_problem(rng, n_trials, n_experts, loss)
    best = best_convex_combination(X, y, loss)
    assert np.all(best.weights >= 0)
    np.testing.assert_allclose(best.weights.sum(), 1, **EXACT)
    np.testing.assert_allclose(best.loss, total(loss, X, y, best.weights), **ALGEBRA)
    assert 0 <= best.gap <= 1e-10 * n_trials
    others = rng.dirichlet(np.full(n_experts, 0.2), size=300)
    near = 0.999 * best.weights + 0.001 * others
    for weights in (*others, *near, *np.eye(n_experts)):
        assert total(loss, X, y, weights) >= best.loss - best.gap - 1e-12


@for_every_loss
def test_mixture_equals_that_of_a_general_solver(loss, rng):
    for _ in range(5):
        X, y = mixing_problem(rng, 41, 4, loss)
        best = best_convex_combination(X, y, loss)
        found = optimize.minimize(
            lambda w, X=X, y=y: total(loss, X, y, w),
            np.full(4, 0.25),
            method="SLSQP",
            bounds=[(1e-9, 1)] * 4,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            options={"ftol": 1e-12, "maxiter": 500},
        )
        assert best.loss <= found.fun + 1e-9
        assert found.fun <= best.loss + (1e-2 if loss == "absolute" else 1e-5)


def test_square_mixture_equals_non_negative_least_squares(rng):
    X, y = mixing_problem(rng, 60, 8, "square")
    errors = X - y[:, None]
    weights = optimize.nnls(np.vstack([errors, np.ones(8)]), np.append(np.zeros(60), 1.0))[0]
    best = best_convex_combination(X, y)
    np.testing.assert_allclose(best.weights, weights / weights.sum(), **ALGEBRA)


def test_entropic_mixture_is_where_expectation_maximisation_stays(rng):
    X, y = mixing_problem(rng, 101, 5, "entropic")
    w = best_convex_combination(X, y, "entropic").weights
    mixed = X @ w
    again = w * (y / mixed @ X + (1 - y) / (1 - mixed) @ (1 - X)) / len(y)
    np.testing.assert_allclose(again, w, **ALGEBRA)


def test_exact_mixtures_are_found(rng):
    X, w = rng.uniform(size=(100, 6)), np.array([0.0, 0.5, 0.0, 0.2, 0.3, 0.0])
    for loss in LOSSES:
        best = best_convex_combination(X, X @ w, loss)
        np.testing.assert_allclose(best.weights, w, atol=1e-6)
        assert best.loss < 1e-9


def test_mixture_is_no_worse_than_the_best_expert_and_equal_if_one_is_perfect(rng):
    X, y = rng.uniform(size=(50, 5)), rng.uniform(size=50)
    for loss, formula in LOSSES.items():
        alone = best_expert(formula(X, y[:, None]))
        assert best_convex_combination(X, y, loss).loss <= alone.loss
        perfect = best_convex_combination(np.column_stack([X, y]), y, loss)
        np.testing.assert_allclose(perfect.weights[-1], 1, atol=1e-6)


@for_every_loss
def test_mixture_of_equal_or_single_experts(loss, rng):
    y = rng.uniform(size=20)
    x = rng.uniform(size=(20, 1))
    one = best_convex_combination(x, y, loss)
    np.testing.assert_array_equal(one.weights, [1.0])
    three = best_convex_combination(np.tile(x, 3), y, loss)
    np.testing.assert_allclose(three.loss, one.loss, **ALGEBRA)
    constant = best_convex_combination(np.full((20, 3), 0.4), y, loss)
    np.testing.assert_allclose(constant.loss, total(loss, np.full((20, 1), 0.4), y, [1]), **ALGEBRA)


@pytest.mark.parametrize("loss", ["square", "absolute"])
@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1e6, 1e100])
def test_scale_of_the_outcomes_does_not_matter(loss, scale, rng):
    X, y = mixing_problem(rng, 50, 6, loss)
    small, large = (
        best_convex_combination(X, y, loss),
        best_convex_combination(scale * X, scale * y, loss),
    )
    np.testing.assert_allclose(large.weights, small.weights, **ALGEBRA)


@for_every_loss
def test_order_of_experts_and_trials_does_not_matter(loss, rng):
    X, y = mixing_problem(rng, 31, 6, loss)
    rows, columns = rng.permutation(31), rng.permutation(6)
    one = best_convex_combination(X, y, loss)
    other = best_convex_combination(X[rows][:, columns], y[rows], loss)
    np.testing.assert_allclose(other.loss, one.loss, **ALGEBRA)
    np.testing.assert_allclose(other.weights, one.weights[columns], rtol=1e-4, atol=1e-5)


def test_certain_experts_are_mixed_though_alone_each_would_lose_everything():
    # Each expert is certain of something false once: only a mixture has a finite entropic loss.
    X = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    best = best_convex_combination(X, np.ones(4), "entropic")
    np.testing.assert_allclose(best.weights, [2 / 3, 1 / 3], **ALGEBRA)
    np.testing.assert_allclose(best.loss, -2 * np.log(2 / 3) - np.log(1 / 3), **ALGEBRA)


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: best_expert([[0.0, np.nan]]), "NaN"),
        (lambda: best_expert([0.0, 1.0]), "2D"),
        (lambda: best_expert(np.empty((0, 2))), "minimum of 1"),
        (lambda: best_shifting_sequence([[0.0, np.inf]], 1), "infinity"),
        (lambda: best_shifting_sequence([[0.0, 1.0]], -1), "n_shifts"),
        (lambda: best_convex_combination([[0.0, 1.0]], [0.0, 1.0]), "inconsistent"),
        (lambda: best_convex_combination([[0.0, np.nan]], [0.0]), "NaN"),
        (lambda: best_convex_combination([[0.0, 1.0]], [np.inf]), "infinity"),
        (lambda: best_convex_combination([[0.0, 1.0]], [0.0], "hinge"), "loss must be one of"),
        (lambda: best_convex_combination([[0.0, 1.5]], [0.0], "entropic"), "advice must be in"),
        (lambda: best_convex_combination([[0.0, 0.5]], [-1.0], "entropic"), "y must be in"),
        (lambda: best_convex_combination([[0.5], [0.0]], [1.0, 1.0], "entropic"), "In trial 1 "),
    ],
)
def test_impossible_questions_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_number_of_shifts_is_an_integer():
    with pytest.raises(TypeError, match="n_shifts"):
        best_shifting_sequence([[0.0, 1.0]], 1.5)


def test_memory_maps_and_integers_are_read(tmp_path):
    losses = np.random.default_rng(0).integers(0, 5, size=(30, 4))
    np.save(tmp_path / "losses.npy", losses.astype(float))
    mapped = np.load(tmp_path / "losses.npy", mmap_mode="r")
    expected = best_shifting_sequence(losses, 4)
    for given in (mapped, np.asfortranarray(mapped), losses.tolist()):
        for one, other in zip(best_shifting_sequence(given, 4), expected, strict=True):
            np.testing.assert_array_equal(one, other)
