"""No certificate of a learner with experts fails: a search among sleeping experts and extremes."""

import numpy as np
import pytest
from scipy.special import logsumexp

from sklearn_sl.online import (
    ConsistentLearner,
    FixedShare,
    Halving,
    Hedge,
    MixingPastPosteriors,
    SwitchingMultitaskExperts,
    VariableShare,
    WeightedAverage,
    WeightedMajority,
    hedge,
)
from sklearn_sl.theory import weighted_majority_bound

N_CASES = 150
BETAS = (0.0, 0.0, 0.0, 1e-320, 1e-100, 1e-3, 0.3, 0.9, 1 - 1e-12, 1 - 2**-53)
ETAS = (1e-300, 1e-8, 0.1, 1.0, 30.0, 800.0, 1e10, 1e150, 1e300)
PARTS = (0.0, 1e-100, 1e-16, 0.01, 0.3, 0.5, 0.9, 0.999, 1 - 1e-10, 1 - 2**-53, 1.0)
LARGEST_VOVK = {"square": 2.0, "entropic": 1.0, "hellinger": 2**0.5, "absolute": 499.0}


def choose(rng, values):
    return values[int(rng.integers(len(values)))]


def put_to_sleep(rng, X, y):
    """Return advice of which some is missing; some trials come three times in a row."""
    X = np.array(X, dtype=np.float64)
    X[rng.random(X.shape) < choose(rng, (0, 0, 0.1, 0.5, 0.9))] = np.nan
    times = choose(rng, (1, 3))
    return np.repeat(X, times, axis=0), np.repeat(y, times)


def classes_and_advice(rng):
    n_trials, n, n_classes = choose(rng, (1, 2, 5, 10, 40)), choose(rng, (1, 2, 3, 6)), 2
    if rng.random() < 0.4:
        n_classes = int(rng.integers(3, 5))
    y = rng.integers(0, n_classes, n_trials)
    X = rng.integers(0, n_classes, (n_trials, n))
    X = np.where(rng.random((n_trials, n)) < choose(rng, (0, 0.2, 0.8)), y[:, None], X)
    if rng.random() < 0.4:
        X[:, 0] = y
    return *put_to_sleep(rng, X, y), np.arange(n_classes)


def numbers_and_advice(rng):
    n_trials, n = choose(rng, (1, 2, 5, 10, 40)), choose(rng, (1, 2, 3, 6))
    y = rng.random(n_trials) if rng.random() < 0.5 else rng.integers(0, 2, n_trials) * 1.0
    X = np.clip(y[:, None] + choose(rng, (0.01, 0.3, 3)) * rng.normal(size=(n_trials, n)), 0, 1)
    return put_to_sleep(rng, X.round() if rng.random() < 0.4 else X, y)


def slack(bounds):
    """Return what rounding may add to bounds."""
    return 1e-9 * (1 + np.abs(np.where(np.isfinite(bounds), bounds, 0)))


def assert_regrets_bounded(model):
    """Check the regret against every expert, not only the best one."""
    regrets, bounds = model._regrets(), model._regret_bounds()
    assert np.isfinite([*regrets, model.cumulative_loss_, *model.weights_]).all(), model
    if bounds is not None:
        bounds = np.broadcast_to(model._unit * bounds, regrets.shape)
        assert (regrets <= bounds + slack(bounds) + 1e-9 * model.cumulative_loss_).all(), model


# ---------------------------------------------------------------- classes


@pytest.mark.parametrize("seed", range(3))
def test_mistakes_of_the_weighted_majority_are_bounded_whoever_sleeps(seed):
    rng = np.random.default_rng(seed)
    for _ in range(N_CASES):
        X, y, classes = classes_and_advice(rng)
        model = WeightedMajority(
            beta=choose(rng, BETAS), randomized=bool(rng.integers(2)), random_state=0
        )
        model.partial_fit(X[:3], y[:3], classes=classes)
        if len(y) > 3:
            model.partial_fit(X[3:], y[3:])
        mistakes = model.expected_mistakes_ if model.randomized else model.n_mistakes_
        assert mistakes <= model.bound_ + slack(model.bound_), model
        assert model.weights_.sum() == pytest.approx(1)


def test_the_majority_of_those_without_mistakes_remembers_what_others_missed():
    # Expert 0 is always right. While another one slept the weight of those awake was halved, and
    # so is that of the sleeper.
    nan = np.nan
    X, y = [[0, nan, 1], [0, 1, nan]], [0, 0]
    model = WeightedMajority(beta=0.0, keep_weights=True).partial_fit(X, y, classes=[0, 1])
    assert (model.n_mistakes_, model.bound_) == (1, pytest.approx(np.log2(3)))
    np.testing.assert_allclose(model.weight_curve_[1], [2 / 3, 1 / 3, 0])
    np.testing.assert_allclose(
        model.votes([[0, 1, 1], [nan, 1, 0], [nan, nan, 0]])[:, 0], [1, 4 / 7, 1]
    )
    model = WeightedMajority(beta=0.0, randomized=True, random_state=0)
    model.partial_fit(X, y, classes=[0, 1])
    assert model.expected_mistakes_ == pytest.approx(1 / 2 + 1 / 3)
    assert model.expected_mistakes_ <= model.bound_


def test_the_factor_zero_is_the_limit_of_small_ones(rng):
    for _ in range(100):
        X, y, classes = classes_and_advice(rng)
        limit, small = (
            WeightedMajority(beta=beta, keep_weights=True).partial_fit(X, y, classes=classes)
            for beta in (0.0, 1e-60)
        )
        np.testing.assert_allclose(limit.weight_curve_, small.weight_curve_, atol=1e-12)
        assert limit.n_mistakes_ == small.n_mistakes_
        np.testing.assert_allclose(limit.votes(X), small.votes(X), atol=1e-12)


def test_bound_of_factors_near_one_has_all_digits():
    # ln(2 / (1 + beta)) is (1 - beta) / 2, and more terms that vanish.
    for gap in (1e-6, 1e-12, 2**-53):
        bound = weighted_majority_bound(0, 4, beta=1 - gap)
        assert bound == pytest.approx(2 * np.log(4) / (1 - (1 - gap)), rel=1e-5)


@pytest.mark.parametrize("seed", range(2))
def test_regret_of_hedge_is_bounded_whoever_sleeps(seed):
    rng = np.random.default_rng(seed)
    for _ in range(N_CASES):
        X, y, classes = classes_and_advice(rng)
        eta = choose(rng, ("adahedge", "doubling", "horizon", *ETAS))
        share = 0.0 if eta in ("adahedge", "doubling") else choose(rng, PARTS)
        model = Hedge(eta=eta, horizon=30, share=share).partial_fit(X, y, classes=classes)
        assert_regrets_bounded(model)


@pytest.mark.parametrize("seed", range(2))
def test_other_learners_of_classes_keep_their_promises(seed):
    rng = np.random.default_rng(seed)
    for _ in range(N_CASES):
        X, y, classes = classes_and_advice(rng)
        for model in (Halving(), Halving(on_empty="keep"), ConsistentLearner()):
            model.partial_fit(X, y, classes=classes)
            assert model.n_mistakes_ <= model.bound_ + 1e-9, model
        eta = choose(rng, ("auto", 0.01, 1.0, 50.0, 700.0, 1e5))
        model = SwitchingMultitaskExperts(
            n_switches=choose(rng, (0, 1, 2)), horizon=len(y) + 9, eta=eta
        )
        model.partial_fit(X, y, classes=classes)
        assert np.isfinite(model.awake_).all()
        for expert in np.flatnonzero(~np.isnan(X).any(axis=0)):
            regret = model.expected_mistakes_ - np.count_nonzero(X[:, expert] != y)
            bound = model.switching_bound(np.full(len(y), expert))
            assert regret <= bound + slack(bound), model


# ---------------------------------------------------------------- numbers


def random_learner(rng):
    loss, prediction = choose(rng, tuple(LARGEST_VOVK)), choose(rng, ("average", "vovk"))
    eta = choose(rng, ("auto", "auto", *ETAS))
    if prediction == "vovk" and eta != "auto":
        eta = LARGEST_VOVK[loss] * choose(rng, (1.0, 0.1))
    options = {"loss": loss, "prediction": prediction, "bounds": choose(rng, ((0, 1), (-1, 3)))}
    if rng.random() < 0.25:
        return WeightedAverage(eta=eta, **options)
    if (loss, prediction, eta) == ("absolute", "average", "auto"):
        eta = 0.5
    options |= {"eta": eta, "alpha": choose(rng, PARTS)}
    past = choose(rng, ("decaying", "uniform", "start"))
    return choose(
        rng,
        (
            FixedShare(**options),
            VariableShare(**options),
            MixingPastPosteriors(past=past, **options),
        ),
    )


@pytest.mark.parametrize("seed", range(4))
def test_regrets_of_averages_and_shares_are_bounded_whoever_sleeps(seed):
    rng = np.random.default_rng(seed)
    for _ in range(N_CASES):
        X, y = numbers_and_advice(rng)
        model = random_learner(rng).partial_fit(X, y)
        assert_regrets_bounded(model)
        assert np.isfinite(model.predict(X)).all()
        if not (isinstance(model, WeightedAverage) or np.isnan(X).any()):
            for n_shifts in (0, 1, 5):
                regret, bound = model.shifting_regret(X, y, n_shifts)
                if bound is not None:
                    assert regret <= bound + slack(bound) + 1e-9 * model.cumulative_loss_, model


def share_in_logs(losses, eta, alpha, variable):
    """Return the logarithms of weights after each trial, as the definitions say."""
    n = losses.shape[1]
    logs, curve = np.full(n, -np.log(n)), []
    with np.errstate(divide="ignore", invalid="ignore"):
        for row in losses:
            logs = logs - eta * row
            kept = row * np.log1p(-alpha) if variable else np.full(n, np.log1p(-alpha))
            kept = np.where(row == 0, 0.0, kept) if variable else kept
            gifts = logs + np.log(-np.expm1(kept)) - np.log(n - 1)
            given = [logsumexp(np.delete(gifts, k)) for k in range(n)]
            logs = np.logaddexp(logs + kept, given)
            logs -= logsumexp(logs)
            curve.append(logs)
    return np.array(curve)


@pytest.mark.parametrize("alpha", [0.5, 0.9, 1 - 1e-9, 1 - 2**-53, 1.0])
@pytest.mark.parametrize("n", [2, 3, 10])
def test_large_shares_leave_what_the_definitions_say(rng, n, alpha):
    for eta in (0.5, 20.0, 800.0):
        for losses in (rng.random((30, n)), rng.integers(0, 2, (30, n)) * 1.0):
            run = hedge(losses, eta, share=alpha, keep_weights=True)
            expected = np.exp(share_in_logs(losses, eta, alpha, variable=False))
            np.testing.assert_allclose(run.weights, expected[-1], rtol=1e-9, atol=1e-300)
            np.testing.assert_allclose(run.weight_curve[1:], expected[:-1], rtol=1e-9, atol=1e-300)
            y, options = np.zeros(30), {"alpha": alpha, "eta": eta, "loss": "absolute"}
            model = FixedShare(**options, bounds=(0, 1), keep_weights=True).fit(losses, y)
            np.testing.assert_allclose(model.weights_, expected[-1], rtol=1e-9, atol=1e-300)
            model = VariableShare(**options, bounds=(0, 1), keep_weights=True).fit(losses, y)
            expected = np.exp(share_in_logs(losses, eta, alpha, variable=True))
            np.testing.assert_allclose(
                model.weight_curve_[1:], expected[:-1], rtol=1e-7, atol=1e-280
            )


def test_who_gives_all_of_its_weight_follows_the_other_expert():
    # With two experts a weight is what the other one had: the best one is always the other one.
    losses = np.tile([[0.0, 1.0], [1.0, 0.0]], (50, 1))
    for eta in (1.0, 40.0, 700.0):
        for share in (1.0, 1 - 2**-53):
            run = hedge(losses, eta, share=share)
            assert run.losses.sum() < 0.5 + 1e-12 + 100 / (1 + np.exp(eta))
    nan = np.nan
    losses = [[0, 1], [nan, 1], [1, 0], [nan, 0.5], [0.3, nan]]
    run = hedge(losses, 800.0, share=1.0)
    assert run.regret == pytest.approx(0.5) and run.losses.tolist() == [0.5, 1, 1, 0.5, 0.3]


# ---------------------------------------------------------------- units


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**-560, 2.0**-340, 2.0**340, 2.0**560, 2.0**900])
def test_losses_may_have_any_unit(rng, unit):
    losses = rng.random((50, 4))
    losses[rng.random(losses.shape) < 0.1] = np.nan
    for eta in ("adahedge", "doubling", "horizon", 0.3):
        plain = hedge(losses, eta)
        other = hedge(losses * unit, eta if isinstance(eta, str) else eta / unit, scale=unit)
        np.testing.assert_allclose(other.losses / unit, plain.losses, rtol=1e-9)
        assert other.regret / unit == pytest.approx(plain.regret)
        assert other.regret_bound / unit == pytest.approx(plain.regret_bound)
        assert other.eta * unit == pytest.approx(plain.eta)


def test_rates_beyond_all_numbers_are_refused():
    with pytest.raises(ValueError, match=r"eta=1e\+300 times the largest loss, 1e\+10, exceeds"):
        hedge([[0.0, 1e10], [1.0, 2.0]], 1e300)
