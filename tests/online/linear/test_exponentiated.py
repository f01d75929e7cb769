"""Exponentiated gradients against their definition, and their regret against the theorem."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT, random_sparse
from reference import multiplicative as reference
from scipy.optimize import minimize
from sklearn.preprocessing import StandardScaler

from sklearn_sl.online import (
    ExponentiatedGradientClassifier,
    ExponentiatedGradientRegressor,
    progressive_predict,
)
from sklearn_sl.online.linear import _exponentiated_sweeps, _steps
from sklearn_sl.online.linear._exponentiated import LAST_ETA, PAID, RATED_VARIATION
from sklearn_sl.online.linear._linear import as_rows
from sklearn_sl.theory import exponentiated_gradient_bound

LOSSES = {
    "hinge": _steps.Hinge(),
    "logistic": _steps.Logistic(),
    "square": _steps.SquaredInsensitive(),
    "absolute": _steps.Insensitive(),
}
CLASSIFIERS = [
    {},
    {"loss": "logistic", "radius": 4.0, "eta": 0.3, "fit_intercept": False},
    {"loss": "square", "signed": False, "radius": 2.0},
    {"conservative": True, "eta": 0.1},
]
REGRESSORS = [
    {"radius": 3.0},
    {"loss": "absolute", "radius": 3.0, "eta": 0.05, "fit_intercept": False},
    {"signed": False, "radius": 2.0, "eta": "horizon", "horizon": 200, "gradient_norm": 50.0},
]


def samples(seed=0, n_samples=200, n_features=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    return X, X[:, 0] - 0.5 * X[:, 1] + 0.3 * rng.normal(size=n_samples)


def run(X, y, loss, eta, radius=1.0, signed=True, conservative=False):
    """Return scores, the sum of gradients and the tail of a run at compiled speed."""
    n = X.shape[1]
    sums, weights, masses = np.zeros(n), np.zeros(n), np.zeros(n if signed else 0)
    tail = np.zeros(_exponentiated_sweeps.GRADIENT_TAIL)
    tail[0] = 0.0 if eta is None else eta
    _exponentiated_sweeps.weigh(sums, weights, masses, tail, signed)
    scores = np.empty((len(y), 1))
    played = _exponentiated_sweeps.sweep_gradient(
        as_rows(X), y, LOSSES[loss], conservative, eta is None, signed, radius,
        np.log(max(2, n * (1 + signed))), sums, weights, masses, tail, np.empty((2, n)), scores, 0,
    )  # fmt: skip
    assert played == len(y)
    return scores[:, 0], sums, tail


def linear_regret(sums, tail, radius, signed):
    """Return the largest regret of the linear losses against any weights."""
    return tail[PAID] + radius * (np.abs(sums).max() if signed else -sums.min())


def theorem(tail, n, radius, signed):
    """Return the theorem's bound on it, of learning rates that decrease."""
    log_n = np.log(max(2, n * (1 + signed)))
    return radius * (log_n / tail[LAST_ETA] + tail[RATED_VARIATION] / 2) if tail[LAST_ETA] else 0.0


def comparators(rng, n, radius, signed, n_drawn=20):
    """Return vectors in the ball, or on the simplex, corners among them."""
    u = rng.dirichlet(np.full(2 * n if signed else n, 0.3), size=n_drawn)
    u = u[:, :n] - u[:, n:] if signed else u
    corners = np.concatenate([np.eye(n), -np.eye(n)]) if signed else np.eye(n)
    return radius * np.concatenate([u, corners])


# ---------------------------------------------------------------- the definition


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("eta", [None, 0.1])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_trials_are_those_of_the_definition(loss, eta, signed, form):
    X, y = samples()
    y = y if loss in ("square", "absolute") else np.where(y > 0, 1.0, -1.0)
    scores, weights, bound = reference.exponentiated_gradient(X, y, loss, eta, 3.0, signed)
    params = {
        "loss": loss,
        "eta": "anytime" if eta is None else eta,
        "signed": signed,
        "radius": 3.0,
        "fit_intercept": False,
        "keep_losses": True,
    }
    if loss in ("hinge", "logistic"):
        model = ExponentiatedGradientClassifier(**params)
        model.partial_fit(form(X), y, classes=[-1, 1])
    else:
        model = ExponentiatedGradientRegressor(**params).partial_fit(form(X), y)
    np.testing.assert_allclose(np.ravel(model.coef_), weights, **ALGEBRA)
    losses = reference.LOSSES[loss][0](scores, y)
    np.testing.assert_allclose(model.loss_curve_, losses, **ALGEBRA)
    np.testing.assert_allclose(model.cumulative_loss_, losses.sum(), **ALGEBRA)
    np.testing.assert_allclose(model.regret_bound_, bound, **ALGEBRA)


def test_sparse_rows_change_what_they_touch_and_the_sum_stays_right(rng):
    # Few entries among many features: all weights are computed anew only now and then.
    X = random_sparse(rng, (3000, 500), 0.01)
    y = np.sign(X[:, :20].sum(axis=1) - X[:, 20:40].sum(axis=1) + 1e-9)
    for eta, signed in [(2.0, True), (0.5, False), (None, True), (30.0, True)]:
        scores, sums, tail = run(X, y, "hinge", eta, radius=5.0, signed=signed)
        expected, *_ = reference.exponentiated_gradient(X.toarray(), y, "hinge", eta, 5.0, signed)
        np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)
        assert np.abs(sums).max() > 0
        total = tail[2] * np.exp(tail[1])
        rate = tail[0]
        masses = np.exp(-rate * sums) + (np.exp(rate * sums) if signed else 0)
        np.testing.assert_allclose(total, masses.sum(), rtol=1e-10)


def test_one_feature_has_all_the_weight_or_shares_it_with_its_negative():
    X, y = np.ones((50, 1)), np.full(50, 0.25)
    fixed = ExponentiatedGradientRegressor(signed=False, fit_intercept=False, radius=2.0)
    np.testing.assert_array_equal(fixed.fit(X, y).coef_, [2.0])
    both = ExponentiatedGradientRegressor(fit_intercept=False, max_iter=200).fit(X, y)
    np.testing.assert_allclose(both.coef_, [0.25], rtol=1e-3)


def test_intercept_is_a_feature_that_is_always_one():
    X, y = samples()
    model = ExponentiatedGradientRegressor(radius=2.0).fit(X, y)
    by_hand = ExponentiatedGradientRegressor(radius=2.0, fit_intercept=False)
    by_hand.fit(np.column_stack([X, np.ones(len(X))]), y)
    np.testing.assert_allclose(model.coef_, by_hand.coef_[:-1], **ALGEBRA)
    np.testing.assert_allclose(model.intercept_, by_hand.coef_[-1:], **ALGEBRA)
    np.testing.assert_allclose(model.comparator_, by_hand.comparator_, **ALGEBRA)


def test_weights_are_in_their_ball_or_on_their_simplex():
    X, y = samples()
    signed = ExponentiatedGradientRegressor(radius=1.5).fit(X, y)
    assert np.abs(signed.coef_).sum() + np.abs(signed.intercept_[0]) <= 1.5
    simplex = ExponentiatedGradientRegressor(radius=1.5, signed=False).fit(X, y)
    assert np.all(simplex.coef_ >= 0)
    np.testing.assert_allclose(simplex.coef_.sum() + simplex.intercept_[0], 1.5, **EXACT)


def test_conservative_learner_learns_from_mistakes_alone():
    X, y = samples()
    y = np.where(y > 0, 1.0, -1.0)
    scores, _, bound = reference.exponentiated_gradient(X, y, "hinge", 0.2, 1.0, True, True)
    model = ExponentiatedGradientClassifier(eta=0.2, conservative=True, fit_intercept=False)
    model.partial_fit(X, y, classes=[-1, 1])
    assert model.n_updates_ == model.n_mistakes_ == np.count_nonzero(y * scores <= 0)
    np.testing.assert_allclose(model.regret_bound_, bound, **ALGEBRA)
    assert model.linear_regret_ <= bound
    assert model.fit(X, y).regret_ is None


def test_classes_are_learned_each_against_all_others():
    X, y = samples()
    y = np.digitize(y, [-0.5, 0.5])
    model = ExponentiatedGradientClassifier(loss="logistic", radius=3.0).fit(X, y)
    parts = [
        ExponentiatedGradientClassifier(loss="logistic", radius=3.0).fit(X, y == k)
        for k in range(3)
    ]
    np.testing.assert_array_equal(model.coef_, np.concatenate([part.coef_ for part in parts]))
    for name in ("regret_", "linear_regret_", "regret_bound_", "cumulative_loss_"):
        np.testing.assert_allclose(
            getattr(model, name), sum(getattr(part, name) for part in parts), **ALGEBRA
        )


# ---------------------------------------------------------------- the theorem


def test_regret_never_exceeds_its_bound(rng):
    n_sequences = 0
    while n_sequences < 10_000:
        n, length = int(rng.integers(1, 8)), int(rng.integers(2, 40))
        loss, signed = rng.choice(list(LOSSES)), bool(rng.random() < 0.5)
        radius = float(np.exp(rng.uniform(-1, 2)))
        u = comparators(rng, n, radius, signed)
        scale = np.exp(rng.uniform(-3, 3))
        for _ in range(50):
            X = rng.normal(size=(length, n)) * scale
            y = rng.choice([-1.0, 1.0], size=length)
            if loss in ("square", "absolute"):
                y = y * rng.exponential(size=length)
            eta = None if rng.random() < 0.5 else float(np.exp(rng.uniform(-6, 2)))
            scores, sums, tail = run(X, y, loss, eta, radius, signed)
            value = reference.LOSSES[loss][0]
            regrets = value(scores, y).sum() - value(X @ u.T, y[:, None]).sum(axis=0)
            linear = linear_regret(sums, tail, radius, signed)
            rounding = 1e-9 * (1 + abs(linear))
            assert regrets.max() <= linear + rounding
            assert linear <= theorem(tail, n, radius, signed) + rounding
            n_sequences += 1


def test_regret_never_exceeds_its_bound_against_an_adversary(rng):
    # Many sequences at once: the target is always on the other side of the score.
    n_sequences, length, n, eta = 10_000, 30, 3, 0.4
    X = rng.choice([-1.0, 1.0], size=(n_sequences, length, n))
    G, y = np.zeros((n_sequences, n)), np.empty((n_sequences, length))
    for t in range(length):
        scores = (np.sinh(-eta * G) / np.cosh(eta * G).sum(axis=1, keepdims=True) * X[:, t]).sum(1)
        y[:, t] = np.where(scores > 0, -1.0, 1.0)
        G -= y[:, t, None] * X[:, t]
    most = 0.0
    for rows, targets in zip(X, y, strict=True):
        scores, sums, tail = run(rows, targets, "hinge", eta)
        assert np.all(targets * scores <= 1e-12)
        linear, bound = linear_regret(sums, tail, 1.0, True), theorem(tail, n, 1.0, True)
        assert linear <= bound
        most = max(most, linear / bound)
    np.testing.assert_allclose(bound, exponentiated_gradient_bound(2 * n, 1.0, eta, length))
    assert most > 0.3  # the adversary is one


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("loss", ["square", "absolute"])
@pytest.mark.parametrize("eta", ["anytime", "horizon", 0.01])
def test_regret_against_the_best_weights_in_hindsight_is_within_the_bound(signed, loss, eta):
    X, y = samples(n_features=4)
    model = ExponentiatedGradientRegressor(
        loss=loss, signed=signed, radius=1.2, eta=eta, fit_intercept=False, max_iter=5
    ).fit(X, y)
    value = reference.LOSSES[loss][0]

    def total(p):
        u = p[:4] - p[4:] if signed else p
        return value(X @ u, y).sum()

    n = 8 if signed else 4
    best = minimize(
        total,
        np.full(n, 1.2 / n),
        bounds=[(0, None)] * n,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1.2},
        method="SLSQP",
    ).fun
    regret = model.cumulative_loss_ - 5 * best
    assert model.regret_ <= regret + 0.01 * best
    assert regret <= model.linear_regret_ <= model.regret_bound_
    compared = value(X @ model.comparator_[0], y).sum()
    np.testing.assert_allclose(model.regret_, model.cumulative_loss_ - 5 * compared, **ALGEBRA)


def test_horizon_bound_is_the_one_that_was_promised():
    X, y = samples()
    signs = np.where(y > 0, 1, -1)
    model = ExponentiatedGradientClassifier(
        eta="horizon", radius=2.0, fit_intercept=False, max_iter=3
    ).fit(X, signs)
    largest, m = np.abs(X).max(), 3 * len(y)
    promise = 2.0 * largest * np.sqrt(2 * m * np.log(12))
    assert model.linear_regret_ <= model.regret_bound_ <= promise
    np.testing.assert_allclose(model.eta_, np.sqrt(2 * np.log(12) / m) / largest, **EXACT)
    np.testing.assert_allclose(
        exponentiated_gradient_bound(12, 2.0, model.eta_[0], m * largest**2), promise, **EXACT
    )


@pytest.mark.parametrize("loss", ["square", "absolute"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_horizon_knows_the_largest_gradient(loss, form):
    X, y = samples()
    model = ExponentiatedGradientRegressor(loss=loss, eta="horizon", radius=2.0).fit(form(X), y)
    largest = np.abs(X).max()
    steepest = 2 * (2.0 * largest + np.abs(y).max()) if loss == "square" else 1.0
    n_trials = 10 * len(y)
    np.testing.assert_allclose(
        model.eta_, np.sqrt(2 * np.log(14) / n_trials) / (largest * steepest), **EXACT
    )


def test_anytime_bound_is_within_a_small_factor_of_the_best_rate_in_hindsight(rng):
    for _ in range(300):
        X = rng.normal(size=(200, 5)) * np.exp(rng.uniform(-5, 5))
        y = rng.choice([-1.0, 1.0], size=200)
        *_, tail = run(X, y, "hinge", None, radius=2.0)
        variation = tail[6]
        best = 2.0 * np.sqrt(2 * np.log(10) * variation)
        assert theorem(tail, 5, 2.0, True) <= 2 * best


@pytest.mark.parametrize(
    ("args", "match"),
    [
        ((0, 1.0, 0.1, 1.0), "n must be an integer"),
        ((3, 0.0, 0.1, 1.0), "radius must be > 0"),
        ((3, 1.0, 0.0, 1.0), "eta must be > 0"),
        ((3, 1.0, 0.1, -1.0), "squared_gradients must be finite and >= 0"),
    ],
)
def test_bound_knows_its_domain(args, match):
    with pytest.raises(ValueError, match=match):
        exponentiated_gradient_bound(*args)


# ---------------------------------------------------------------- symmetries


def state(model):
    return [model._sums, model._weights, model._masses, model._tails]


@pytest.mark.parametrize("params", CLASSIFIERS, ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_blocks_of_classes_give_what_the_whole_gives_bit_for_bit(params, form, n_classes):
    X, y = samples(n_features=30)
    X = form(np.where(np.random.default_rng(0).random(X.shape) < 0.1, X, 0.0))
    y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    whole = ExponentiatedGradientClassifier(**params, keep_losses=True)
    whole.partial_fit(X, y, classes=np.arange(n_classes))
    parts = ExponentiatedGradientClassifier(**params, keep_losses=True)
    for rows in np.split(np.arange(len(y)), [1, 2, 60, 63]):
        parts.partial_fit(X[rows], y[rows], classes=np.arange(n_classes))
    for left, right in zip(state(parts), state(whole), strict=True):
        np.testing.assert_array_equal(left, right)
    np.testing.assert_array_equal(parts.loss_curve_, whole.loss_curve_)
    for name in ("cumulative_loss_", "n_mistakes_", "regret_bound_", "linear_regret_"):
        assert getattr(parts, name) == getattr(whole, name)


@pytest.mark.parametrize("params", REGRESSORS, ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_blocks_of_numbers_give_what_the_whole_gives_bit_for_bit(params, form):
    X, y = samples()
    X = form(X)
    whole = ExponentiatedGradientRegressor(**params, keep_losses=True).partial_fit(X, y)
    parts = ExponentiatedGradientRegressor(**params, keep_losses=True)
    for rows in np.split(np.arange(len(y)), [1, 2, 60, 63]):
        parts.partial_fit(X[rows], y[rows])
    for left, right in zip(state(parts), state(whole), strict=True):
        np.testing.assert_array_equal(left, right)
    np.testing.assert_array_equal(parts.loss_curve_, whole.loss_curve_)
    assert parts.cumulative_loss_ == whole.cumulative_loss_


def test_answers_are_what_the_learner_would_have_predicted():
    X, y = samples(n_samples=40)
    answers = progressive_predict(ExponentiatedGradientRegressor(radius=2.0), X, y)
    model = ExponentiatedGradientRegressor(radius=2.0).partial_fit(X[:1], y[:1])
    for t in range(1, len(y)):
        np.testing.assert_allclose(model.predict(X[t : t + 1]), answers[t], **EXACT)
        model.partial_fit(X[t : t + 1], y[t : t + 1])


@pytest.mark.parametrize("loss", ["hinge", "logistic", "square"])
def test_scores_change_sign_with_the_classes(loss):
    X, y = samples()
    model = ExponentiatedGradientClassifier(loss=loss).fit(X, y > 0)
    other = ExponentiatedGradientClassifier(loss=loss).fit(X, y <= 0)
    np.testing.assert_array_equal(other.decision_function(X), -model.decision_function(X))


def test_anytime_learner_does_not_care_for_the_scale_of_features():
    X, y = samples()
    model = ExponentiatedGradientClassifier(conservative=True, fit_intercept=False)
    first, second = model.fit(X, y > 0).coef_, model.fit(1e6 * X, y > 0).coef_
    np.testing.assert_allclose(first, second, **ALGEBRA)


def test_few_relevant_features_are_found_among_many(rng):
    X = rng.choice([-1.0, 1.0], size=(1000, 2000))
    y = (X[:, 0] + X[:, 1] + X[:, 2] > 0).astype(int)
    model = ExponentiatedGradientClassifier(eta="horizon").fit(X, y)
    assert set(np.argsort(-np.abs(model.coef_[0]))[:3]) == {0, 1, 2}


# ---------------------------------------------------------------- large, small, bad


def test_ten_million_trials_leave_finite_weights():
    X = np.tile([[0.5, 0.25, -0.5]], (10**6, 1))
    y = np.ones(10**6)
    model = ExponentiatedGradientClassifier(eta=0.5, fit_intercept=False)
    for _ in range(10):
        # The margin is never reached: each trial has a gradient.
        model.partial_fit(X, y, classes=[-1, 1])
    assert model.n_updates_ == 10**7
    np.testing.assert_allclose(model._sums[0], -(10**7) * X[0], **EXACT)
    np.testing.assert_allclose(model.coef_, [[0.5, 0.0, -0.5]], **EXACT)
    assert model.linear_regret_ <= model.regret_bound_


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-20, 1e20, 1e140])
def test_all_numbers_are_finite_at_any_scale(scale):
    X, y = samples()
    model = ExponentiatedGradientClassifier(fit_intercept=False).fit(scale * X, y > 0)
    for name in ("coef_", "intercept_", "regret_bound_", "linear_regret_", "cumulative_loss_"):
        assert np.isfinite(getattr(model, name)).all()
    assert np.isfinite(model.decision_function(scale * X)).all()


def test_gradients_beyond_all_doubles_are_told_of():
    X, y = samples()
    with pytest.raises(ValueError, match="exceed the range"):
        ExponentiatedGradientRegressor().fit(1e160 * X, y)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("eta", ["anytime", "horizon"])
def test_samples_that_are_not_finite_are_told_of(bad, eta):
    X, y = samples()
    X[150, 2] = bad
    for form in (np.asarray, sp.csr_array):
        with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
            ExponentiatedGradientRegressor(eta=eta).fit(form(X), y)


def test_horizon_of_blocks_must_be_told():
    X, y = samples()
    with pytest.raises(ValueError, match="requires horizon and gradient_norm"):
        ExponentiatedGradientRegressor(eta="horizon", horizon=10).partial_fit(X, y)
    model = ExponentiatedGradientRegressor(eta="horizon", horizon=200, gradient_norm=9.0)
    model.partial_fit(X.tolist(), y.tolist())
    np.testing.assert_allclose(model.eta_, np.sqrt(2 * np.log(14) / 200) / 9, **EXACT)


def test_samples_of_zeros_have_no_gradient():
    model = ExponentiatedGradientClassifier(fit_intercept=False).fit(np.zeros((4, 2)), [0, 1, 0, 1])
    assert model.converged_ and model.n_iter_ == 1
    assert (model.n_updates_, model.regret_bound_, model.linear_regret_) == (0, 0.0, 0.0)
    np.testing.assert_array_equal(model.coef_, [[0.0, 0.0]])


def test_separated_classes_are_learned(rng):
    X = StandardScaler().fit_transform(rng.normal(size=(300, 5)) + rng.integers(0, 2, (300, 1)) * 9)
    y = X[:, 0] > 0
    for params in ({}, {"loss": "logistic"}, {"conservative": True}):
        assert ExponentiatedGradientClassifier(**params).fit(X, y).score(X, y) == 1
