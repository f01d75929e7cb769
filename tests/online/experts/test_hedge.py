"""Hedge with its learning rates: twins, the inequality of each trial, and bounds on regret."""

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from reference import experts as twin
from sklearn.base import clone

from sklearn_sl.datasets import make_drifting_losses
from sklearn_sl.online import Hedge, best_expert, hedge
from sklearn_sl.theory import adahedge_bound, hedge_bound
from sklearn_sl.theory._experts import horizon_rate

RATES = ["adahedge", "doubling", "horizon", 0.3]


def random_losses(rng):
    """Return losses from zero to one of a few experts in a few trials."""
    n_trials, n = int(rng.integers(1, 40)), int(rng.integers(1, 8))
    losses = rng.random((n_trials, n)) ** rng.choice([0.2, 1, 5], size=n)
    return np.round(losses) if rng.random() < 0.5 else losses


def sequences(rng, n_random, n_runs):
    """Yield random tables of losses and tables in which the leader loses."""
    for _ in range(n_random):
        yield random_losses(rng)
    for n_experts in (2, 3, 10):
        yield from twin.leader_adversary(rng, n_runs, 40, n_experts)


# ---------------------------------------------------------------- the algorithm


@pytest.mark.parametrize("eta", RATES)
@pytest.mark.parametrize("n_experts", [1, 2, 30])
def test_losses_and_weights_equal_those_of_the_twin(rng, eta, n_experts):
    losses = rng.random((120, n_experts))
    run = hedge(losses, eta, keep_weights=True)
    if eta == "adahedge":
        weights, gap = twin.adahedge(losses)
        np.testing.assert_allclose(run.regret_bound, 2 * gap, **ALGEBRA)
    elif eta == "doubling" and n_experts > 1:
        weights = twin.doubling(losses)
    else:
        rate = np.sqrt(2 * np.log(n_experts) / 120) if eta == "horizon" else 0.3
        weights = twin.exponential_weights(losses, rate)[:-1]
    np.testing.assert_allclose(run.weight_curve, weights, **ALGEBRA)
    own = (weights * losses).sum(axis=1)
    np.testing.assert_allclose(run.losses, own, **ALGEBRA)
    best = best_expert(losses)
    assert run.best_expert == best.expert
    np.testing.assert_allclose(run.regret, own.sum() - best.loss, **ALGEBRA)
    np.testing.assert_allclose(run.expert_losses, losses.sum(axis=0), **ALGEBRA)


def test_share_is_fixed_share(rng):
    losses = rng.random((80, 6))
    run = hedge(losses, 0.7, share=0.05, keep_weights=True)
    expected = twin.fixed_share(losses, 0.7, 0.05)
    np.testing.assert_allclose(run.weight_curve, expected[:-1], **EXACT)
    np.testing.assert_allclose(run.weights, expected[-1], **EXACT)


@pytest.mark.parametrize("eta", RATES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_learner_is_hedge_on_mistakes(rng, eta, n_classes):
    X = rng.integers(0, n_classes, (150, 7))
    y = np.where(rng.random(150) < 0.6, X[:, 2], rng.integers(0, n_classes, 150))
    model = Hedge(eta=eta, keep_losses=True, keep_weights=True).fit(X, y)
    run = model.replay(X != y[:, None], keep_weights=True)
    np.testing.assert_allclose(model.loss_curve_, run.losses, **ALGEBRA)
    np.testing.assert_allclose(model.weight_curve_, run.weight_curve, **ALGEBRA)
    np.testing.assert_allclose(model.weights_, run.weights, **ALGEBRA)
    assert model.best_expert_ == run.best_expert
    assert model.regret_ == pytest.approx(run.regret)
    assert model.regret_bound_ == pytest.approx(run.regret_bound)
    assert model.eta_ == pytest.approx(run.eta)
    assert model.expected_mistakes_ == pytest.approx(run.losses.sum())
    shares = np.stack([(X == code) @ model.weights_ for code in range(n_classes)], axis=1)
    np.testing.assert_allclose(model.predict_proba(X), shares, **ALGEBRA)


def test_answers_of_trials_are_the_heaviest_classes(rng):
    X, y = rng.integers(0, 3, (100, 5)), rng.integers(0, 3, 100)
    model = Hedge(eta=0.5, keep_weights=True).fit(X, y)
    shares = np.stack([(model.weight_curve_ * (X == k)).sum(axis=1) for k in range(3)], axis=1)
    assert model.n_mistakes_ == np.sum(shares.argmax(axis=1) != y)


def test_draws_have_the_expected_number_of_mistakes(rng):
    X, y = rng.integers(0, 2, (50, 4)), rng.integers(0, 2, 50)
    model = Hedge(randomized=True)
    counts = [clone(model).set_params(random_state=s).fit(X, y).n_mistakes_ for s in range(400)]
    # Each is a sum of 50 independent draws, whose variance is at most 12.5.
    assert abs(np.mean(counts) - Hedge().fit(X, y).expected_mistakes_) < 4 * np.sqrt(12.5 / 400)
    assert len(set(counts)) > 1


def test_horizon_is_that_of_fit_or_told(rng):
    X, y = rng.integers(0, 2, (100, 4)), np.arange(100) % 2
    rate = float(horizon_rate(100, 4))
    assert Hedge(eta="horizon").fit(X, y).eta_ == rate
    model = Hedge(eta="horizon", horizon=100).partial_fit(X[:9], y[:9], classes=[0, 1])
    assert model.eta_ == rate
    with pytest.raises(ValueError, match="requires horizon"):
        Hedge(eta="horizon").partial_fit(X, y, classes=[0, 1])


def test_scale_of_losses_scales_the_rates(rng):
    losses = rng.random((200, 5))
    for eta in ("adahedge", "doubling", "horizon"):
        run, other = hedge(losses, eta), hedge(100 * losses, eta, scale=100.0)
        np.testing.assert_allclose(other.losses, 100 * run.losses, **ALGEBRA)
        np.testing.assert_allclose(other.regret_bound, 100 * run.regret_bound, **ALGEBRA)


def test_adahedge_does_not_mind_a_shift_of_all_losses(rng):
    losses, shift = rng.normal(size=(100, 5)), 10 * rng.normal(size=(100, 1))
    run, other = hedge(losses), hedge(losses + shift)
    np.testing.assert_allclose(other.losses, run.losses + shift[:, 0], **ALGEBRA)
    np.testing.assert_allclose(other.regret, run.regret, **ALGEBRA)


# ---------------------------------------------------------------- the theorems


def test_inequality_of_each_trial(rng):
    # v.l - u.l <= (d(u, v) - d(u, v')) / eta + (eta / 2) v.l^2 for all u, and losses not negative.
    for _ in range(100):
        losses = rng.random((30, 4)) * rng.choice([0.1, 1, 10])
        eta = float(rng.choice([0.01, 0.3, 3.0]))
        run = hedge(losses, eta, keep_weights=True)
        weights = np.vstack([run.weight_curve, run.weights])
        u = rng.dirichlet(np.full(4, rng.choice([0.1, 1.0])))
        distances = np.array([twin.relative_entropy(u, v) for v in weights])
        squares = (run.weight_curve * losses**2).sum(axis=1)
        allowed = (distances[:-1] - distances[1:]) / eta + eta / 2 * squares
        assert np.all(run.losses - losses @ u <= allowed + 1e-9)


@pytest.mark.parametrize("eta", [0.01, 0.1, 1.0, 10.0])
def test_regret_never_exceeds_the_bound_for_any_rate(rng, eta):
    n_sequences = 0
    for losses in sequences(rng, 200, 60):
        run = hedge(losses, eta, keep_weights=True)
        regrets = twin.regret_curves(run.losses, losses)
        squares = np.cumsum((run.weight_curve * losses**2).sum(axis=1))
        trials, n = np.arange(1, len(losses) + 1), losses.shape[1]
        assert np.all(regrets <= hedge_bound(trials, n, eta, squares=squares) + 1e-9)
        assert np.all(squares <= trials)
        assert run.regret <= run.regret_bound + 1e-9
        promised = float(hedge_bound(1, n, eta, squares=squares[-1])) if n > 1 else 0.0
        assert run.regret_bound == pytest.approx(promised)
        n_sequences += len(losses)
    assert n_sequences >= 10_000


@pytest.mark.parametrize("eta", ["horizon", "doubling"])
def test_regret_never_exceeds_the_bound_of_the_horizon_or_of_doubling(rng, eta):
    n_sequences = 0
    for losses in sequences(rng, 4000, 2000):
        run = hedge(losses, eta)
        promised = hedge_bound(*losses.shape, eta=None if eta == "horizon" else eta)
        assert run.regret <= run.regret_bound + 1e-9
        assert run.regret_bound <= promised + 1e-9
        n_sequences += 1
    assert n_sequences >= 10_000


def test_regret_of_adahedge_never_exceeds_its_bounds(rng):
    n_sequences = 0
    for losses in sequences(rng, 4000, 2000):
        run = hedge(losses)
        assert run.regret <= run.regret_bound + 1e-9
        promised = adahedge_bound(*losses.shape, best_loss=run.expert_losses.min())
        assert run.regret_bound <= promised + 1e-9
        assert promised <= adahedge_bound(*losses.shape) + 1e-9
        n_sequences += 1
    assert n_sequences >= 10_000


@pytest.mark.parametrize("share", [1e-3, 0.1, 0.9])
def test_regret_with_a_share_never_exceeds_its_bound(rng, share):
    n_sequences = 0
    for losses in sequences(rng, 4000, 2000):
        run = hedge(losses, 0.5, share=share)
        assert run.regret <= run.regret_bound + 1e-9
        n_sequences += 1
    assert n_sequences >= 10_000


def test_expected_mistakes_never_exceed_the_bound_of_the_horizon(rng):
    for _ in range(300):
        n_trials, n = int(rng.integers(2, 60)), int(rng.integers(1, 8))
        X, y = rng.integers(0, 2, (n_trials, n)), rng.integers(0, 2, n_trials)
        y[:2] = 0, 1
        model = Hedge(eta="horizon").fit(X, y)
        assert model.regret_ <= model.regret_bound_ + 1e-9
        assert model.regret_bound_ <= hedge_bound(n_trials, n) + 1e-9


def test_good_expert_makes_adahedge_better_than_its_rivals():
    rng = np.random.default_rng(0)
    losses = (rng.random((2000, 20)) < 0.5) * 1.0
    losses[:, 7] = rng.random(2000) < 0.02
    regrets = {eta: hedge(losses, eta).regret for eta in ("adahedge", "doubling", "horizon")}
    assert regrets["adahedge"] < 5 < regrets["horizon"] < regrets["doubling"]


def test_drift_is_where_sharing_pays():
    losses = make_drifting_losses(random_state=0)
    losses = losses[0] if isinstance(losses, tuple) else losses
    losses = np.clip(losses, 0, 1)
    plain, shared = hedge(losses, "horizon"), hedge(losses, 0.5, share=0.01)
    assert shared.losses.sum() < plain.losses.sum()


def test_doubling_bound_is_a_constant_above_that_of_the_horizon():
    trials = np.arange(1, 5000)
    ratio = hedge_bound(trials, 10, eta="doubling") / hedge_bound(trials, 10)
    assert ratio.max() < np.sqrt(2) / (np.sqrt(2) - 1) + 0.1
    assert ratio.min() >= 1
    # Whole epochs: a geometric series.
    whole = np.sqrt(2 * np.log(10)) * sum(np.sqrt(2.0**k) for k in range(5))
    assert hedge_bound(31, 10, eta="doubling") == pytest.approx(whole)


def test_golden_bounds():
    assert float(hedge_bound(1000, 10)) == pytest.approx(67.9, abs=0.05)
    assert float(hedge_bound(100, 1)) == 0
    assert float(hedge_bound(1000, 10, scale=3.0)) == pytest.approx(3 * 67.86, abs=0.01)
    assert adahedge_bound(100, 1) == pytest.approx(2.0)
    for bad in ({"eta": 0.0}, {"eta": "auto"}, {"scale": 0.0}, {"squares": -1.0}):
        with pytest.raises(ValueError):
            hedge_bound(10, 3, **bad)
    with pytest.raises(ValueError, match="best_loss"):
        adahedge_bound(10, 3, best_loss=11)


# ---------------------------------------------------------------- bad input


def test_losses_are_looked_at(rng):
    losses = rng.random((50, 4))
    for bad, message in ((np.inf, "must be finite"), (-0.1, "losses must be >= 0")):
        spoiled = losses.copy()
        spoiled[31, 2] = bad
        for eta in (0.5, "horizon", "doubling"):
            with pytest.raises(ValueError, match=message):
                hedge(spoiled, eta)
        with pytest.raises(ValueError, match=r"trial 31"):
            hedge(spoiled, 0.5, share=0.1)
    with pytest.raises(ValueError, match="must be finite"):
        hedge(np.full((3, 2), -np.inf))
    assert np.isfinite(hedge(losses - 5).regret)
    sleeping = np.where(losses < 0.3, np.nan, losses)
    sleeping[31, 2] = -1
    with pytest.raises(ValueError, match="losses must be >= 0"):
        hedge(sleeping, 0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eta": "fast"}, "eta must be a positive float"),
        ({"eta": 0.0}, "eta"),
        ({"eta": np.inf}, "eta"),
        ({"eta": np.nan}, "eta"),
        ({"eta": 0.5, "share": np.nan}, "share"),
        ({"eta": "horizon", "scale": np.nan}, "scale"),
        ({"horizon": 0}, "horizon"),
        ({"share": 1.5}, "share"),
        ({"scale": 0.0}, "scale"),
        ({"share": 0.1}, "share > 0 requires eta"),
        ({"eta": 0.5, "share": 1e-200}, "at least 1e-100"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        hedge([[0.0, 1.0]], **options)


def test_tables_of_other_kinds(rng, tmp_path):
    losses = np.round(rng.random((40, 5)), 2)
    expected = hedge(losses, 0.5)
    np.save(tmp_path / "losses.npy", losses)
    for same in (losses.tolist(), np.asfortranarray(losses), np.load(tmp_path / "losses.npy", "r")):
        np.testing.assert_array_equal(hedge(same, 0.5).losses, expected.losses)
    for kind in (np.float32, np.int64, bool):
        table = (losses > 0.5).astype(kind)
        np.testing.assert_array_equal(
            hedge(table, 0.5).losses, hedge(table.astype(float), 0.5).losses
        )
    with pytest.raises(ValueError):
        hedge(np.empty((0, 3)))
