"""The weighted average and Vovk's prediction: losses, rates, priors and their bounds on regret."""

import pickle

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT, solver
from reference import experts as twin
from scipy.special import softmax
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from sklearn_sl.online import FixedShare, MixableLoss, WeightedAverage, best_convex_combination
from sklearn_sl.online.experts._mixable import LOSSES
from sklearn_sl.theory import anytime_average_bound, weighted_average_bound

BOUNDED = [
    ("square", "average"),
    ("square", "vovk"),
    ("entropic", "average"),
    ("entropic", "vovk"),
    ("hellinger", "average"),
    ("hellinger", "vovk"),
]


def square(y, p):
    return (y - p) ** 2


def random_trials(rng, n_trials, n_experts):
    """Return advice and outcomes from zero to one, some of them zeros and ones."""
    X, y = rng.random((n_trials, n_experts)), rng.random(n_trials)
    X = np.round(X) if rng.random() < 0.4 else X
    y = np.round(y) if rng.random() < 0.6 else y
    X = X[[0] * n_trials] if rng.random() < 0.2 else X
    return X, y


def losses_of(model, X, y):
    """Return the losses of the experts."""
    scaled = np.clip(X, model._loss.closest, 1 - model._loss.closest)
    return model._loss(y[:, None], scaled)


# ---------------------------------------------------------------- the algorithm


def test_golden_table_of_losses():
    # Four experts in one trial each: the losses are squares.
    advice, outcomes = np.array([0, 1.5, 1.5, 0.75]), np.array([0.75, -1.5, 2, 1])
    model = WeightedAverage(bounds=(-1.5, 2.0), keep_losses=True)
    for x, y in zip(advice, outcomes, strict=True):
        model.partial_fit([[x]], [y])
    np.testing.assert_allclose(model.loss_curve_, [0.5625, 9, 0.25, 0.0625], **EXACT)
    np.testing.assert_allclose(model.expert_losses_, [9.875], **EXACT)
    assert model.regret_ == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("loss", "prediction"), [*BOUNDED, ("absolute", "vovk")])
@pytest.mark.parametrize("prior", [None, [0.5, 0.2, 0.2, 0.1]])
def test_predictions_equal_those_of_the_twin(rng, loss, prediction, prior):
    X, y = rng.random((60, 4)), rng.random(60)
    y[:2] = 0, 1
    model = WeightedAverage(
        loss=loss, prediction=prediction, prior=prior, bounds=(0, 1), keep_weights=True
    )
    answers = model._predict_and_learn(X, y)
    losses, eta = losses_of(model, X, y), model.eta_
    weights = twin.exponential_weights(losses, eta, prior)
    np.testing.assert_allclose(model.weight_curve_, weights[:-1], **EXACT)
    np.testing.assert_allclose(model.weights_, weights[-1], **EXACT)
    if prediction == "average":
        expected = (weights[:-1] * X).sum(axis=1)
    else:
        constant = 1 / eta if loss != "absolute" else 0.5 / np.log(2 / (1 + np.exp(-eta)))
        at = [
            constant
            * eta
            * twin.mixed_losses(weights[:-1], model._loss(np.full((60, 1), o), X), eta)
            for o in (0.0, 1.0)
        ]
        expected = MixableLoss(model._loss)._substitute(*at)
    np.testing.assert_allclose(answers, expected, **ALGEBRA)
    own = model._loss(y, answers)
    np.testing.assert_allclose(model.cumulative_loss_, own.sum(), **ALGEBRA)
    np.testing.assert_allclose(model.expert_losses_, losses.sum(axis=0), **ALGEBRA)


def test_entropic_loss_is_what_changes_the_distance_of_weights(rng):
    # With outcomes zero and one, trial by trial and for every distribution u over the experts.
    X, y = rng.uniform(0.01, 0.99, (50, 5)), rng.integers(0, 2, 50)
    model = WeightedAverage(loss="entropic", bounds=(0, 1), keep_losses=True, keep_weights=True)
    model.fit(X, y)
    weights = np.vstack([model.weight_curve_, model.weights_])
    losses = losses_of(model, X, y)
    for _ in range(20):
        u = rng.dirichlet(np.ones(5) * rng.choice([0.1, 1, 10]))
        distances = [twin.relative_entropy(u, v) for v in weights]
        np.testing.assert_allclose(model.loss_curve_ - losses @ u, -np.diff(distances), **ALGEBRA)


def test_vovk_and_average_are_the_same_for_the_entropic_loss(rng):
    X, y = rng.random((80, 6)), rng.random(80)
    first = WeightedAverage(loss="entropic", bounds=(0, 1))
    second = WeightedAverage(loss="entropic", prediction="vovk", bounds=(0, 1))
    np.testing.assert_allclose(
        first._predict_and_learn(X, y), second._predict_and_learn(X, y), **ALGEBRA
    )


@pytest.mark.parametrize("name", LOSSES)
def test_substitution_is_the_solution_that_bisection_finds(rng, name):
    loss = LOSSES[name]
    p = rng.uniform(0.001, 0.999, 200)
    at_zero, at_one = loss(np.zeros(200), p.copy()), loss(np.ones(200), p.copy())
    slack = rng.uniform(0, 0.3, 200)
    for by in (0.0, slack):
        found = loss._substitute(at_zero + by, at_one + by)
        np.testing.assert_allclose(found, p, **ALGEBRA)
        generic = MixableLoss._substitute(loss, at_zero + by, at_one + by)
        np.testing.assert_allclose(generic, p, **solver(1e-8))


@pytest.mark.parametrize(("loss", "prediction"), BOUNDED)
def test_no_trial_costs_more_than_the_mixture(rng, loss, prediction):
    # 10,000 trials, each with weights of its own.
    game = LOSSES[loss]
    eta = game._rate(prediction)
    weights = rng.dirichlet(np.full(4, 0.3), size=10_000)
    X = rng.random((10_000, 4)) ** rng.choice([0.2, 1, 5], size=(10_000, 1))
    X = np.clip(X, game.closest, 1 - game.closest)
    answers = (weights * X).sum(axis=1)
    if prediction == "vovk":
        zeros, ones = np.zeros((10_000, 1)), np.ones((10_000, 1))
        answers = game._substitute(
            *(twin.mixed_losses(weights, game(outcome, X), eta) for outcome in (zeros, ones))
        )
    for outcome in (0.0, 0.01, 0.3, 0.7, 0.99, 1.0):
        y = np.full(10_000, outcome)
        mixed = twin.mixed_losses(weights, game(y[:, None], X), eta)
        assert np.all(game(y, answers) <= mixed + 1e-7)


# ---------------------------------------------------------------- the theorem


def assert_regret_bounded(model, X, y):
    """Check the bound after each trial; return how many sequences that were."""
    model.fit(X, y)
    regrets = twin.regret_curves(model.loss_curve_, losses_of(model, X, y))
    bound = weighted_average_bound(X.shape[1], model.loss, model.prediction)
    slack = 1e-5 if model.loss == "entropic" else 1e-9
    assert np.all(regrets <= bound + slack)
    assert model.regret_ == pytest.approx(regrets[-1], abs=1e-7)
    assert model.regret_bound_ == pytest.approx(float(bound))
    return len(y)


@pytest.mark.parametrize(("loss", "prediction"), BOUNDED)
def test_regret_never_exceeds_the_bound(rng, loss, prediction):
    model = WeightedAverage(loss=loss, prediction=prediction, bounds=(0, 1), keep_losses=True)
    n_sequences = 0
    for _ in range(450):
        X, y = random_trials(rng, int(rng.integers(1, 35)), int(rng.integers(1, 7)))
        n_sequences += assert_regret_bounded(model, X, y)
    eta = LOSSES[loss]._rate(prediction)
    for n_experts in (2, 5):
        advice, outcomes = twin.average_adversary(
            rng, 60, 30, n_experts, eta, lambda y, x: LOSSES[loss](y, np.clip(x, 1e-10, 1 - 1e-10))
        )
        for X, y in zip(advice, outcomes, strict=True):
            n_sequences += assert_regret_bounded(model, X, y)
    assert n_sequences >= 10_000


def test_average_with_the_rate_of_vovk_exceeds_the_bound_of_vovk():
    # The erratum: c = 1/2 and eta = 2 are for Vovk's prediction, not for the weighted average.
    rng = np.random.default_rng(5)
    excesses, exceeds = [], 0
    for prediction in ("average", "vovk"):
        worst = -np.inf
        model = WeightedAverage(eta=2.0, prediction=prediction, bounds=(0, 1), keep_losses=True)
        advice, outcomes = twin.average_adversary(rng, 100, 30, 2, 2.0, square)
        for X, y in zip(advice, outcomes, strict=True):
            model.fit(X, y)
            regrets = twin.regret_curves(model.loss_curve_, square(y[:, None], X))
            worst = max(worst, regrets.max() - np.log(2) / 2)
            exceeds += model.regret_bound_ < model.regret_
        excesses.append(worst)
    assert excesses[0] > 0.1
    assert excesses[1] <= 1e-9
    assert exceeds == 0, "what is promised for a rate that is too large holds as well"


def test_prior_of_an_expert_bounds_the_regret_against_it(rng):
    n_sequences = 0
    for _ in range(400):
        X, y = random_trials(rng, int(rng.integers(1, 20)), 6)
        prior = rng.dirichlet(np.full(6, 0.3)) + 1e-12
        model = WeightedAverage(
            prior=prior, prediction=rng.choice(["average", "vovk"]), bounds=(0, 1), keep_losses=True
        ).fit(X, y)
        bounds = weighted_average_bound(6, "square", model.prediction, prior=prior / prior.sum())
        lost = np.cumsum(square(y[:, None], X), axis=0)
        regrets = np.cumsum(model.loss_curve_)[:, None] - lost
        assert np.all(regrets <= bounds + 1e-9)
        assert model.regret_bound_ == pytest.approx(bounds[model.best_expert_])
        n_sequences += 6 * len(y)
    assert n_sequences >= 10_000


def test_absolute_loss_adapts_its_rate_or_pays_a_factor(rng):
    n_sequences = 0
    for _ in range(350):
        n_trials, n = int(rng.integers(1, 60)), int(rng.integers(1, 6))
        X, y = rng.random((n_trials, n)), rng.integers(0, 2, n_trials) * 1.0
        X = np.round(X) if rng.random() < 0.5 else X
        eta = float(rng.choice([0.1, 1.0, 5.0]))
        average = WeightedAverage(loss="absolute", bounds=(0, 1)).fit(X, y)
        assert average.regret_ <= average.regret_bound_ + 1e-9
        fixed = WeightedAverage(loss="absolute", bounds=(0, 1), eta=eta).fit(X, y)
        assert fixed.regret_ <= fixed.regret_bound_ + 1e-9
        model = WeightedAverage(
            loss="absolute", prediction="vovk", eta=eta, bounds=(0, 1), keep_losses=True
        ).fit(X, y)
        c = 0.5 / np.log(2 / (1 + np.exp(-eta)))
        best = np.cumsum(np.abs(X - y[:, None]), axis=0).min(axis=1)
        assert np.all(np.cumsum(model.loss_curve_) <= c * (eta * best + np.log(n)) + 1e-9)
        assert model.regret_ <= model.regret_bound_ + 1e-9
        n_sequences += n_trials
    assert n_sequences >= 10_000


# ---------------------------------------------------------------- rates that adapt themselves


def anytime_rates(n_trials, n_experts):
    """Return the rate of each trial."""
    return 2 * np.sqrt(np.log(max(n_experts, 2)) / np.arange(1, n_trials + 1))


@pytest.mark.parametrize("loss", ["square", "absolute", "hellinger"])
@pytest.mark.parametrize("n_experts", [1, 2, 9])
def test_anytime_weights_equal_those_of_the_twin(rng, loss, n_experts):
    X, y = rng.random((80, n_experts)), rng.random(80)
    model = WeightedAverage(loss=loss, eta="anytime", bounds=(0, 1), keep_weights=True)
    answers = model._predict_and_learn(X, y)
    lost = np.vstack([np.zeros(n_experts), np.cumsum(losses_of(model, X, y), axis=0)])
    rates = anytime_rates(81, n_experts)
    expected = softmax(-rates[:, None] * lost, axis=1)
    np.testing.assert_allclose(model.weight_curve_, expected[:-1], **EXACT)
    np.testing.assert_allclose(model.weights_, expected[-1], **EXACT)
    np.testing.assert_allclose(answers, (expected[:-1] * X).sum(axis=1), **EXACT)
    np.testing.assert_allclose(model.eta_, rates[-1], **EXACT)
    np.testing.assert_allclose(model.expert_losses_, lost[-1], **EXACT)
    assert model.regret_bound_ == anytime_average_bound(80, n_experts)


def assert_anytime_regret_bounded(model, X, y):
    """Check both bounds after each trial; return how many sequences that were."""
    model.fit(X, y)
    (n_trials, n), times = X.shape, np.arange(1, len(y) + 1)
    regrets = twin.regret_curves(model.loss_curve_, losses_of(model, X, y))
    bounds = anytime_average_bound(times, n)
    assert np.all(regrets <= bounds + 1e-9)
    rates = anytime_rates(n_trials, n)
    if n > 1:
        sharper = np.log(n) / rates + np.cumsum(rates) / 8
        assert np.all(regrets <= sharper + 1e-9)
        assert np.all(sharper <= bounds + 1e-9)
    assert model.regret_ == pytest.approx(regrets[-1], abs=1e-7)
    assert model.regret_bound_ == pytest.approx(float(bounds[-1]))
    return n_trials


@pytest.mark.parametrize("loss", ["square", "absolute", "hellinger"])
def test_regret_of_the_anytime_rate_never_exceeds_its_bound(rng, loss):
    model = WeightedAverage(loss=loss, eta="anytime", bounds=(0, 1), keep_losses=True)
    n_sequences = 0
    for _ in range(300):
        X, y = random_trials(rng, int(rng.integers(1, 60)), int(rng.integers(1, 7)))
        n_sequences += assert_anytime_regret_bounded(model, X, y)
    for n in (2, 5):
        advice, outcomes = twin.average_adversary(
            rng, 40, 60, n, anytime_rates(60, n), lambda y, x: LOSSES[loss](y, x.copy())
        )
        for X, y in zip(advice, outcomes, strict=True):
            n_sequences += assert_anytime_regret_bounded(model, X, y)
    assert n_sequences >= 10_000


@pytest.mark.parametrize("loss", ["square", "hellinger", "entropic"])
def test_adahedge_bounds_the_regret_for_any_convex_loss(rng, loss):
    model = WeightedAverage(loss=loss, eta="adahedge", bounds=(0, 1), keep_losses=True)
    for _ in range(150):
        X, y = random_trials(rng, int(rng.integers(1, 60)), int(rng.integers(1, 7)))
        model.fit(X, y)
        losses = losses_of(model, X, y)
        regrets = twin.regret_curves(model.loss_curve_, losses)
        np.testing.assert_allclose(model.regret_bound_, 2 * twin.adahedge(losses)[1], **ALGEBRA)
        assert regrets[-1] <= model.regret_bound_ + (1e-5 if loss == "entropic" else 1e-9)


def test_adahedge_is_what_the_absolute_loss_has_by_itself(rng):
    X, y = rng.random((70, 4)), rng.random(70)
    first, second = (
        WeightedAverage(loss="absolute", eta=e).fit(X, y) for e in ("auto", "adahedge")
    )
    np.testing.assert_array_equal(first.weights_, second.weights_)
    assert first.regret_bound_ == second.regret_bound_


@pytest.mark.parametrize("eta", ["anytime", "adahedge"])
def test_blocks_and_pickles_of_adaptive_rates_are_one_pass_to_the_last_bit(rng, eta):
    X, y = rng.random((200, 5)), rng.random(200)
    X[rng.random(X.shape) < 0.2] = np.nan
    model = WeightedAverage(eta=eta, bounds=(0, 1), keep_losses=True)
    whole, blocks = clone(model).partial_fit(X, y), clone(model)
    for rows in np.split(np.arange(200), [1, 2, 90, 150]):
        blocks = pickle.loads(pickle.dumps(blocks.partial_fit(X[rows], y[rows])))
    np.testing.assert_array_equal(whole.log_weights_, blocks.log_weights_)
    np.testing.assert_array_equal(whole.loss_curve_, blocks.loss_curve_)
    assert whole.eta_ == blocks.eta_
    assert whole.regret_bound_ == blocks.regret_bound_


def test_adaptive_rates_and_what_they_do_not_go_with(rng):
    X, y = rng.random((10, 3)), rng.random(10)
    for eta in ("anytime", "adahedge"):
        with pytest.raises(ValueError, match=f'eta="{eta}" requires prediction="average"'):
            WeightedAverage(eta=eta, prediction="vovk").fit(X, y)
        with pytest.raises(ValueError, match=f'eta="{eta}" requires a convex loss'):
            WeightedAverage(eta=eta, loss=MixableLoss(square)).fit(X, y)
        with pytest.raises(ValueError, match="prior requires a fixed learning rate"):
            WeightedAverage(eta=eta, prior=[1, 1, 1]).fit(X, y)
    with pytest.raises(ValueError, match=r'at most one: "square".*got loss=.entropic'):
        WeightedAverage(eta="anytime", loss="entropic").fit(X, y)
    with pytest.raises(ValueError, match="eta"):
        FixedShare(eta="anytime").fit(X, y)
    with pytest.raises(ValueError, match="n_experts"):
        anytime_average_bound(10, 0)
    with pytest.raises(ValueError, match="scale"):
        anytime_average_bound(10, 2, scale=0)
    assert anytime_average_bound(100, np.e**2 // 1, scale=3.0) == 30 * np.sqrt(np.log(7))


def test_no_bound_where_none_is_known(rng):
    X, y = rng.random((30, 3)), rng.random(30)
    assert WeightedAverage(loss="absolute", prediction="vovk").fit(X, y).regret_bound_ is None
    assert WeightedAverage(loss="entropic", eta=2.0, bounds=(0, 1)).fit(X, y).regret_bound_ is None
    own = MixableLoss(square, eta=2.0, average_eta=0.5)
    assert WeightedAverage(loss=own, prediction="vovk").fit(X, y).regret_bound_ is None
    assert WeightedAverage(loss=own, eta=1.0).fit(X, y).regret_bound_ is None
    assert WeightedAverage(loss=own).fit(X, y).regret_bound_ == pytest.approx(2 * np.log(3))


def test_regret_against_mixtures_is_no_promise(rng):
    # The best mixture loses less than the best expert, and the learner may be far above it.
    X, y = np.tile([0.0, 1.0], (200, 1)), np.full(200, 0.5)
    model = WeightedAverage(eta=2.0, bounds=(0, 1)).fit(X, y)
    best = best_convex_combination(X, y)
    assert best.loss == pytest.approx(0, abs=1e-9)
    assert model.regret_ <= model.regret_bound_


# ---------------------------------------------------------------- bounds, scales, losses


@pytest.mark.parametrize(
    ("loss", "eta"),
    [
        *((loss, eta) for loss in LOSSES for eta in ("auto", "adahedge")),
        *((loss, "anytime") for loss in LOSSES if LOSSES[loss].bounded),
    ],
)
def test_shift_and_scale_of_outcomes_change_only_units(rng, loss, eta):
    X, y = rng.random((100, 5)), rng.random(100)
    model = WeightedAverage(loss=loss, eta=eta, bounds=(0, 1)).fit(X, y)
    other = WeightedAverage(loss=loss, eta=eta, bounds=(-3, 4)).fit(7 * X - 3, 7 * y - 3)
    unit = {"square": 49, "absolute": 7}.get(loss, 1)
    np.testing.assert_allclose(other.weights_, model.weights_, **ALGEBRA)
    np.testing.assert_allclose(other.predict(7 * X - 3), 7 * model.predict(X) - 3, **ALGEBRA)
    for name in ("cumulative_loss_", "regret_", "regret_bound_", "expert_losses_"):
        np.testing.assert_allclose(getattr(other, name), unit * getattr(model, name), **ALGEBRA)


def test_outcomes_from_zero_to_one_and_their_opposites(rng):
    X, y = rng.random((100, 5)), rng.random(100)
    for loss, prediction in BOUNDED:
        model = WeightedAverage(loss=loss, prediction=prediction, bounds=(0, 1)).fit(X, y)
        other = clone(model).fit(1 - X, 1 - y)
        np.testing.assert_allclose(other.predict(1 - X), 1 - model.predict(X), **ALGEBRA)
        np.testing.assert_allclose(other.cumulative_loss_, model.cumulative_loss_, **ALGEBRA)


def test_range_is_that_of_the_first_outcomes(rng):
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    model = WeightedAverage().fit(X, y)
    assert model.bounds_ == (y.min(), y.max())
    model = WeightedAverage().partial_fit(X[:20], y[:20])
    assert model.bounds_ == (y[:20].min(), y[:20].max())
    before = model.cumulative_loss_
    with pytest.raises(ValueError, match="within bounds"):
        model.partial_fit(X[20:], 10 + y[20:])
    assert model.cumulative_loss_ == before
    with pytest.raises(ValueError, match="within bounds"):
        WeightedAverage(bounds=(0, 1)).fit(X, y)
    constant = WeightedAverage().fit(X, np.full(50, 2.0))
    assert constant.cumulative_loss_ == 0
    assert constant.predict(X).tolist() == [2.0] * 50


def test_advice_outside_is_moved_to_the_bounds(rng):
    X, y = rng.normal(size=(100, 4)), rng.random(100)
    model = WeightedAverage(bounds=(0, 1)).fit(X, y)
    other = WeightedAverage(bounds=(0, 1)).fit(np.clip(X, 0, 1), y)
    assert model.cumulative_loss_ == other.cumulative_loss_
    assert np.all(model.expert_losses_ <= square(y[:, None], X).sum(axis=0))


def test_loss_of_ones_own_is_mixed_by_bisection(rng):
    X, y = rng.random((60, 4)), rng.random(60)
    for name, prediction in BOUNDED:
        if name == "entropic":
            continue
        loss = LOSSES[name]
        own = MixableLoss(lambda y, p, loss=loss: loss(y, p), loss.eta, loss.average_eta)
        model = WeightedAverage(loss=own, prediction=prediction, bounds=(0, 1)).fit(X, y)
        other = WeightedAverage(loss=name, prediction=prediction, bounds=(0, 1)).fit(X, y)
        np.testing.assert_allclose(model.predict(X), other.predict(X), **ALGEBRA)


def test_rates_and_priors_that_do_not_go_together(rng):
    X, y = rng.random((10, 3)), rng.random(10)
    with pytest.raises(ValueError, match="eta <= 2 for this loss"):
        WeightedAverage(prediction="vovk", eta=2.1).fit(X, y)
    with pytest.raises(ValueError, match="eta <= 500"):
        WeightedAverage(prediction="vovk", loss="absolute", eta=501).fit(X, y)
    with pytest.raises(ValueError, match="not available"):
        WeightedAverage(loss=MixableLoss(square)).fit(X, y)
    with pytest.raises(ValueError, match="requires a fixed learning rate"):
        WeightedAverage(loss="absolute", prior=[1, 1, 1]).fit(X, y)
    with pytest.raises(ValueError, match="one weight per expert"):
        WeightedAverage(prior=[1, 1]).fit(X, y)
    with pytest.raises(ValueError, match="positive finite numbers"):
        WeightedAverage(prior=[1, 1, 0]).fit(X, y)
    with pytest.raises(ValueError, match="low <= high"):
        WeightedAverage(bounds=(1, 0)).fit(X, y)
    with pytest.raises(ValueError, match="too wide for this loss"):
        WeightedAverage(bounds=(-1e200, 1e200)).fit(X, y)


def test_options_can_be_searched(rng):
    X, y = rng.random((60, 3)), rng.random(60)
    grid = {"loss": ["square", MixableLoss(square, 2.0, 0.5)], "eta": ["auto", 0.1]}
    search = GridSearchCV(WeightedAverage(bounds=(0, 1)), grid, cv=3).fit(X, y)
    assert len(search.cv_results_["params"]) == 4


def test_theorem_has_a_domain():
    with pytest.raises(ValueError, match="loss must be one of"):
        weighted_average_bound(3, "absolute")
    with pytest.raises(ValueError, match="prediction must be"):
        weighted_average_bound(3, prediction="mean")
    with pytest.raises(ValueError, match=r"eta must be <= 0\.5"):
        weighted_average_bound(3, eta=1.0)
    with pytest.raises(ValueError, match="weights must sum to 1"):
        weighted_average_bound(3, prior=[0.5, 0.5, 0.5])
    assert weighted_average_bound(8, "entropic") == pytest.approx(np.log(8))
    assert weighted_average_bound(8, eta=0.25) == pytest.approx(4 * np.log(8))
