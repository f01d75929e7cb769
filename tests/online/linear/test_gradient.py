"""Online gradient descent: its steps, its ball, its regret, and the theorems."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT
from reference import online_linear as twin
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import Ridge
from sklearn.preprocessing import scale

from sklearn_sl.online import (
    OnlineGradientDescentClassifier,
    OnlineGradientDescentRegressor,
    Perceptron,
)
from sklearn_sl.online.linear import _steps
from sklearn_sl.online.linear._hindsight import Hindsight
from sklearn_sl.online.linear._linear import look
from sklearn_sl.svm import SVC
from sklearn_sl.theory import ogd_anytime_bound, ogd_bound, ogd_horizon_bound

CLASSIFIER, REGRESSOR = OnlineGradientDescentClassifier, OnlineGradientDescentRegressor
COMPILED = {
    **{name: CLASSIFIER(name)._loss() for name in twin.CLASS_LOSSES},
    **{name: REGRESSOR(name)._loss() for name in twin.NUMBER_LOSSES},
}
LOSSES = {**twin.CLASS_LOSSES, **twin.NUMBER_LOSSES}
ROOT = np.sqrt(2)


def problem(seed=0, n=100, d=4, n_classes=2):
    """Return samples, noisy classes 0, 1, ... and noisy numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, n_classes)) + rng.normal(size=(n, n_classes))
    return X, scores.argmax(axis=1), scores[:, 0]


def learner(loss, **params):
    """Return a learner for a loss, which also tells whether there are classes."""
    return (CLASSIFIER if loss in twin.CLASS_LOSSES else REGRESSOR)(loss, **params)


def told(loss, y, numbers):
    """Return the targets that a learner is told, and those that its twin is told."""
    return (y, np.where(y == 1, 1.0, -1.0)) if loss in twin.CLASS_LOSSES else (numbers, numbers)


def first(model):
    """Return the parameters of the first call of ``partial_fit``."""
    return {"classes": [0, 1]} if isinstance(model, CLASSIFIER) else {}


# ---------------------------------------------------------------- losses


@pytest.mark.parametrize("name", LOSSES)
def test_values_and_slopes_of_losses(name, rng):
    scores = np.r_[rng.normal(size=200), 0.0, 1.0, -1.0, 30.0, -30.0]
    targets = np.where(rng.random(len(scores)) < 0.5, -1.0, 1.0)
    values, slopes = look(COMPILED[name], scores, targets)
    wanted = [LOSSES[name](s, y) for s, y in zip(scores, targets, strict=True)]
    np.testing.assert_allclose(np.stack([values, slopes], axis=1), wanted, **EXACT)


@pytest.mark.parametrize("name", LOSSES)
def test_losses_lie_above_their_tangents(name, rng):
    s, other = 3 * rng.normal(size=(2, 500))
    targets = np.where(rng.random(500) < 0.5, -1.0, 1.0)
    for loss in (COMPILED[name], _steps.Rounded(COMPILED[name], 0.3)):
        values, slopes = look(loss, s, targets)
        assert np.all(look(loss, other, targets)[0] >= values + slopes * (other - s) - 1e-9)


def test_rounded_loss_is_smooth_and_near(rng):
    scores = np.linspace(-3, 3, 2001)
    for loss in (COMPILED["hinge"], COMPILED["absolute"]):
        values, _ = look(loss, scores, np.ones(len(scores)))
        near, slopes = look(_steps.Rounded(loss, 0.2), scores, np.ones(len(scores)))
        assert np.all((near <= values) & (near >= values - 0.1 - 1e-12))
        assert np.abs(np.diff(slopes)).max() < 0.02


def test_huge_margins_do_not_overflow_the_logistic_loss():
    values, slopes = look(COMPILED["logistic"], np.array([-1e4, 1e4]), np.ones(2))
    np.testing.assert_allclose(values, [1e4, 0.0], **EXACT)
    np.testing.assert_allclose(slopes, [-1.0, 0.0], **EXACT)


# ---------------------------------------------------------------- the definition


@pytest.mark.parametrize("radius", [None, 0.7])
@pytest.mark.parametrize("eta", [0.05, "anytime"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_learner_is_its_twin(loss, eta, radius, intercept):
    X, y, numbers = problem()
    mine, theirs = told(loss, y, numbers)
    model = learner(
        loss, eta=eta, radius=radius, fit_intercept=intercept, average=True, keep_losses=True
    )
    model.partial_fit(X, mine, **first(model))
    step = twin.falling(ROOT * (radius or 1)) if eta == "anytime" else twin.fixed(eta)
    run = twin.descend(X, theirs, LOSSES[loss], step, intercept=intercept, radius=radius or np.inf)
    weights, biases = model._state.last_weights()
    np.testing.assert_allclose(np.append(weights, biases), run.last, rtol=1e-9, atol=1e-12)
    mean = run.weights.mean(axis=0)
    found = np.append(model.coef_, model.intercept_)
    np.testing.assert_allclose(found, mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.loss_curve_, run.losses, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.cumulative_loss_, run.losses.sum(), rtol=1e-9)


@pytest.mark.parametrize("radius", [None, 0.7])
@pytest.mark.parametrize("loss", twin.CLASS_LOSSES)
def test_kesler_is_its_twin(loss, radius):
    X, y, _ = problem(n_classes=3)
    model = CLASSIFIER(loss, eta=0.1, radius=radius, multi_class="kesler", average=True)
    model.partial_fit(X, y, classes=[0, 1, 2])
    run = twin.descend_together(X, y, LOSSES[loss], twin.fixed(0.1), radius=radius or np.inf)
    weights, biases = model._state.last_weights()
    np.testing.assert_allclose(np.column_stack([weights, biases]), run.last, rtol=1e-9, atol=1e-12)
    mean = run.weights.mean(axis=0)
    np.testing.assert_allclose(model.coef_, mean[:, :-1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, mean[:, -1], rtol=1e-9, atol=1e-12)


def test_hinge_loss_takes_no_step_at_the_margin():
    model = CLASSIFIER(eta=1.0, fit_intercept=False)
    model.partial_fit([[1.0], [1.0], [0.5], [1.0]], [1, 1, 1, 1], classes=[0, 1])
    # Steps: at score 0, not at 1, at 0.5, not at 1.5.
    assert model.coef_[0, 0] == 1.5 and model.n_updates_ == 2 and model.n_mistakes_ == 1


@pytest.mark.parametrize("eta", [1.0, 0.03, 7.3])
@pytest.mark.parametrize("multi_class", ["ovr", "kesler"])
def test_conservative_hinge_is_the_perceptron_for_every_rate(eta, multi_class):
    X, y, _ = problem(n_classes=3)
    model = CLASSIFIER(eta=eta, conservative=True, max_iter=4, multi_class=multi_class).fit(X, y)
    other = Perceptron(shuffle=False, tol=None, max_iter=4, multi_class=multi_class).fit(X, y)
    np.testing.assert_allclose(model.coef_, eta * other.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), other.predict(X))
    assert (model.n_mistakes_, model.n_updates_) == (other.n_mistakes_, other.n_updates_)
    assert model.regret_bound_ is None and model.n_mistakes_ <= model.bound_


def test_perceptron_loss_takes_the_same_steps():
    X, y, _ = problem()
    model = CLASSIFIER("perceptron", eta=0.5).partial_fit(X, y, classes=[0, 1])
    other = CLASSIFIER("hinge", eta=0.5, conservative=True).partial_fit(X, y, classes=[0, 1])
    np.testing.assert_array_equal(model.coef_, other.coef_)
    assert model.cumulative_loss_ < other.cumulative_loss_


def test_flipped_labels_flip_the_weights():
    X, y, _ = problem()
    for loss in twin.CLASS_LOSSES:
        model = CLASSIFIER(loss, radius=1.0).partial_fit(X, y, classes=[0, 1])
        flipped = CLASSIFIER(loss, radius=1.0).partial_fit(X, 1 - y, classes=[0, 1])
        np.testing.assert_array_equal(model.coef_, -flipped.coef_)


# ---------------------------------------------------------------- the ball


@pytest.mark.parametrize("eta", [1e-3, 1.0, 1e6])
def test_weights_never_leave_the_ball(eta, rng):
    X, y, _ = problem(n=3000)
    model = CLASSIFIER(eta=eta, radius=0.5)
    for rows in np.array_split(np.arange(len(X)), 30):
        model.partial_fit(X[rows], y[rows], classes=[0, 1])
        norm = np.sqrt(np.sum(model.coef_**2) + model.intercept_[0] ** 2)
        assert norm <= 0.5 * (1 + 1e-9)


@pytest.mark.parametrize("eta", [0.1, 100.0])
def test_averages_stay_exact_however_often_weights_are_shrunk(eta):
    # Each step of a large rate divides the scale: without care the sum would be lost.
    X, y, _ = problem(n=3000)
    model = CLASSIFIER(eta=eta, radius=0.5, average=True).partial_fit(X, y, classes=[0, 1])
    run = twin.descend(X, np.where(y == 1, 1.0, -1.0), twin.hinge, twin.fixed(eta), radius=0.5)
    found = np.append(model.coef_, model.intercept_)
    np.testing.assert_allclose(found, run.weights.mean(axis=0), rtol=1e-7, atol=1e-10)


def test_sparse_samples_give_what_dense_ones_give():
    X, y, numbers = problem(n=300)
    X[np.abs(X) < 0.7] = 0.0
    for model, targets in (
        (CLASSIFIER("logistic", radius=1.0, average=True), y),
        (REGRESSOR("huber", radius=1.0), numbers),
    ):
        dense = model.fit(X, targets).coef_.copy(), model.regret_, model.regret_bound_
        model.fit(sp.csr_array(X), targets)
        np.testing.assert_allclose(model.coef_, dense[0], rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(model.regret_, dense[1], rtol=1e-3)
        np.testing.assert_allclose(model.regret_bound_, dense[2], rtol=1e-6)


# ---------------------------------------------------------------- rates


def test_rate_of_the_horizon_is_that_of_the_theorem():
    X, y, numbers = problem()
    radius = np.sqrt(np.max(np.sum(X**2, axis=1)) + 1)
    model = CLASSIFIER(eta="horizon", radius=2.0, max_iter=3).fit(X, y)
    np.testing.assert_allclose(model.eta_, 2 / (radius * np.sqrt(300)), **EXACT)
    other = CLASSIFIER(eta="horizon", radius=2.0, horizon=50, gradient_norm=7.0)
    other.partial_fit(X, y, classes=[0, 1])
    np.testing.assert_allclose(other.eta_, 2 / (7 * np.sqrt(50)), **EXACT)
    # The slope of the square loss at a score s is at most 2 (U R + max |y|) in the ball.
    model = REGRESSOR(eta="horizon", radius=2.0, max_iter=1).fit(X, numbers)
    largest = 2 * (2 * radius + np.abs(numbers).max()) * radius
    np.testing.assert_allclose(model.eta_, 2 / (largest * np.sqrt(100)), **EXACT)


def test_regret_with_the_horizon_is_below_the_simple_bound():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    radius = np.sqrt(np.max(np.sum(X**2, axis=1)) + 1)
    model = CLASSIFIER(eta="horizon", radius=3.0, max_iter=1).fit(X, y)
    simple = ogd_horizon_bound(3.0, radius, len(X))
    assert 0 < model.regret_ <= model.regret_bound_ <= simple * (1 + 1e-9)


def test_falling_rate_has_no_number():
    X, y, _ = problem()
    assert CLASSIFIER().partial_fit(X, y, classes=[0, 1]).eta_ is None
    assert CLASSIFIER(eta=0.3).partial_fit(X, y, classes=[0, 1]).eta_ == 0.3


@pytest.mark.parametrize("params", [{}, {"radius": 1.0}, {"radius": 1.0, "horizon": 9}], ids=str)
def test_horizon_must_be_known_to_partial_fit(params):
    X, y, _ = problem()
    with pytest.raises(ValueError, match="horizon"):
        CLASSIFIER(eta="horizon", **params).partial_fit(X, y, classes=[0, 1])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("value", "said"), [(np.nan, "contains NaN"), (np.inf, "infinity")])
def test_rate_of_the_horizon_says_what_is_wrong_with_samples(form, value, said):
    X, y, _ = problem()
    X[7, 1] = value
    with pytest.raises(ValueError, match=said):
        CLASSIFIER(eta="horizon", radius=2.0).fit(form(X), y)
    X[7, 1] = 1e200
    with pytest.raises(ValueError, match="exceed the range"):
        CLASSIFIER(eta="horizon", radius=2.0).fit(form(X), y)


def test_horizon_of_zero_samples_is_no_division_by_zero():
    model = REGRESSOR(eta="horizon", radius=1.0, fit_intercept=False).fit(
        np.zeros((3, 2)), [1, 2, 3]
    )
    assert np.isfinite(model.eta_) and not model.coef_.any()


# ---------------------------------------------------------------- losses of one's own


class SmoothHinge:
    """The squared hinge loss, by somebody else."""

    def loss(self, score, target):
        return np.maximum(0, 1 - target * score) ** 2

    def gradient(self, score, target):
        return -2 * target * np.maximum(0, 1 - target * score)


class Pinball:
    """The loss of the 0.9 quantile."""

    def loss(self, score, target):
        return np.maximum(0.9 * (target - score), 0.1 * (score - target))

    def gradient(self, score, target):
        return np.where(score < target, -0.9, 0.1)


class Faulty(SmoothHinge):
    """Fails in a later trial."""

    def gradient(self, score, target):
        if score > 0.05:
            raise RuntimeError("no gradient")
        return super().gradient(score, target)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("multi_class", ["ovr", "kesler"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_loss_of_ones_own_is_played_as_a_compiled_one(n_classes, multi_class, form):
    X, y, _ = problem(n_classes=n_classes)
    params = {"radius": 0.8, "average": True, "multi_class": multi_class, "max_iter": 2}
    ours = CLASSIFIER("squared_hinge", **params).fit(form(X), y)
    theirs = CLASSIFIER(SmoothHinge(), **params).fit(form(X), y)
    np.testing.assert_allclose(theirs.coef_, ours.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(theirs.cumulative_loss_, ours.cumulative_loss_, rtol=1e-9)
    np.testing.assert_allclose(theirs.regret_, ours.regret_, rtol=1e-2, atol=0.1)
    assert theirs.n_mistakes_ == ours.n_mistakes_ and theirs.bound_ is None


def test_loss_of_ones_own_learns_a_quantile(rng):
    X = rng.normal(size=(3000, 2))
    y = X @ [1.0, -2.0] + rng.normal(size=3000)
    model = REGRESSOR(Pinball(), radius=5.0, max_iter=3, average=True).fit(X, y)
    assert 0.85 < np.mean(y < model.predict(X)) < 0.95
    assert model.regret_ <= model.regret_bound_


def test_failure_of_a_loss_of_ones_own_leaves_the_old_state():
    X, y, _ = problem()
    model = CLASSIFIER(Faulty())
    with pytest.raises(RuntimeError, match="no gradient"):
        model.partial_fit(X, y, classes=[0, 1])
    assert not hasattr(model, "coef_")
    with pytest.raises(ValueError, match="NaN"):
        CLASSIFIER(SmoothHinge()).partial_fit([[np.nan]], [1], classes=[0, 1])


# ---------------------------------------------------------------- the best weights in hindsight


def test_comparator_of_the_hinge_loss_is_that_of_the_support_vector_machine():
    # The machine of some C has the least loss among all weights that are not longer.
    for seed, C in ((0, 0.01), (1, 0.1), (2, 10.0)):
        X, y, _ = problem(seed)
        machine = SVC(kernel="linear", C=C, fit_intercept=False, tol=1e-8).fit(X, y)
        signs = np.where(y == 1, 1, -1)
        least = np.maximum(0, 1 - signs * machine.decision_function(X)).sum()
        radius = np.linalg.norm(machine.coef_)
        model = CLASSIFIER(radius=radius, fit_intercept=False, max_iter=1).fit(X, y)
        loss = model.cumulative_loss_ - model.regret_
        assert least * (1 - 1e-6) <= loss <= least * 1.01
        assert np.linalg.norm(model.comparator_) <= radius * (1 + 1e-9)


def test_comparator_of_the_square_loss_is_that_of_ridge_regression():
    X, _, y = problem()
    for alpha in (0.1, 10.0, 300.0):
        ridge = Ridge(alpha=alpha, fit_intercept=False).fit(X, y)
        model = REGRESSOR(radius=np.linalg.norm(ridge.coef_), fit_intercept=False).fit(X, y)
        np.testing.assert_allclose(model.comparator_[0, :-1], ridge.coef_, rtol=1e-2, atol=1e-3)


def test_comparator_without_a_ball_has_the_least_bound_on_the_loss():
    X, _, y = problem()
    model = REGRESSOR(eta=0.01, max_iter=1, fit_intercept=False).fit(X, y)
    # Losses plus ||u||^2 / (2 eta) are those of ridge regression with alpha = 1 / (2 eta).
    ridge = Ridge(alpha=50.0, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.comparator_[0, :-1], ridge.coef_, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("multi_class", ["ovr", "kesler"])
def test_comparator_is_not_worse_than_what_was_found(multi_class, rng):
    for seed in range(5):
        X, y, _ = problem(seed, n_classes=3)
        model = CLASSIFIER(radius=1.5, average=True, multi_class=multi_class, max_iter=2)
        model.fit(X, y)
        loss = model.cumulative_loss_ - model.regret_
        trials = Hindsight(model, X, y, 2)
        means = np.column_stack([model.coef_, model.intercept_])
        for vectors in (means, model._state.last_vectors(), 0 * means, 0.3 * means):
            assert loss <= trials.losses(vectors).sum() * (1 + 1e-9)


@pytest.mark.parametrize("multi_class", ["ovr", "kesler"])
@pytest.mark.parametrize("intercept", [True, False])
def test_slopes_in_hindsight_are_those_of_the_losses(multi_class, intercept, rng):
    X, y, _ = problem(n=40, n_classes=3)
    model = CLASSIFIER("logistic", multi_class=multi_class, fit_intercept=intercept, radius=1.0)
    model.fit(X, y)
    trials = Hindsight(model, X, y, 2)
    ridge = np.full(trials.n_groups, 0.3)
    for length in (0.1, 5.0):  # inside of the ball, and beyond
        flat = length * rng.normal(size=np.prod(trials.shape))
        if not intercept:
            flat.reshape(trials.shape)[:, -1] = 0

        def cost(flat, trials=trials, ridge=ridge, model=model):
            return trials._objective(model._loss(), trials.groups(flat), 1.0, ridge)

        for place in rng.choice(np.flatnonzero(flat), 5):
            step = np.zeros_like(flat)
            step[place] = 1e-5
            slope = (cost(flat + step)[0] - cost(flat - step)[0]) / 2e-5
            np.testing.assert_allclose(cost(flat)[1][place], slope, rtol=1e-5, atol=1e-5)


# ---------------------------------------------------------------- regret


@pytest.mark.parametrize(
    "params", [{}, {"radius": 2.0}, {"eta": 0.05}, {"eta": 0.05, "radius": 1.0}], ids=str
)
@pytest.mark.parametrize("loss", LOSSES)
def test_regret_of_a_fit_never_exceeds_its_bound(loss, params):
    for seed in range(3):
        X, y, numbers = problem(seed)
        model = learner(loss, max_iter=2, **params).fit(X, told(loss, y, numbers)[0])
        assert model.regret_ <= model.regret_bound_ * (1 + 1e-9)
        if loss in twin.CLASS_LOSSES and loss != "perceptron":
            assert model.n_mistakes_ <= model.bound_ * (1 + 1e-9)


@pytest.mark.parametrize("multi_class", ["ovr", "kesler"])
@pytest.mark.parametrize("params", [{}, {"radius": 2.0}, {"eta": 0.05, "radius": 1.0}], ids=str)
def test_regret_of_many_classes_never_exceeds_its_bound(params, multi_class):
    for seed in range(5):
        X, y, _ = problem(seed, n_classes=4)
        model = CLASSIFIER(max_iter=2, multi_class=multi_class, **params).fit(X, y)
        assert model.regret_ <= model.regret_bound_
        assert model.n_mistakes_ <= model.bound_


def test_regret_of_a_stream_is_that_of_a_fit():
    X, y, _ = problem(n_classes=3)
    model = CLASSIFIER(radius=1.0, max_iter=1).fit(X, y)
    stream = CLASSIFIER(radius=1.0)
    for rows in np.array_split(np.arange(len(X)), 7):
        stream.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert stream.regret_ is None and stream.regret_bound_ is None and stream.bound_ is None
    regret, bound, comparator = stream.regret(X, y)
    assert (regret, bound) == (model.regret_, model.regret_bound_)
    np.testing.assert_array_equal(comparator, model.comparator_)
    assert model.partial_fit(X, y).comparator_ is None


def test_regret_relative_to_a_comparator_is_a_difference_of_losses():
    X, _, y = problem()
    model = REGRESSOR("absolute", eta=0.1, radius=2.0, max_iter=3).fit(X, y)
    u = np.array([0.5, -0.5, 1.0, 0.0, 0.2])
    regret, bound, comparator = model.regret(X, y, u)
    loss = 3 * np.abs(twin.with_one(X) @ u - y).sum()
    np.testing.assert_allclose(regret, model.cumulative_loss_ - loss, **ALGEBRA)
    np.testing.assert_array_equal(comparator, [u])
    squares = 3 * np.sum(twin.with_one(X) ** 2)  # all slopes are one
    np.testing.assert_allclose(bound, ogd_bound(np.linalg.norm(u), 0.1, squares), **ALGEBRA)


def test_regret_needs_all_trials_and_a_comparator_in_the_ball():
    X, y, _ = problem()
    model = CLASSIFIER(radius=1.0, max_iter=1).fit(X, y)
    with pytest.raises(ValueError, match="trials"):
        model.regret(X[:-1], y[:-1])
    with pytest.raises(ValueError, match="norm of at most"):
        model.regret(X, y, np.ones(5))
    with pytest.raises(ValueError, match="NaN"):
        model.regret(np.where(X > 2, np.nan, X), y)


def test_conservative_learner_has_no_bound_on_its_regret():
    X, y, _ = problem()
    model = CLASSIFIER(eta=0.1, conservative=True, max_iter=1).fit(X, y)
    assert model.regret(X, y).bound is None and model.regret(X, y).regret == model.regret_


# ---------------------------------------------------------------- the theorems


def random_targets(loss, signs, rng):
    """Return targets for a loss."""
    return signs if loss in twin.CLASS_LOSSES else signs * rng.exponential(size=len(signs))


def losses_of(loss, Z, targets, vectors):
    """Return the sums of the losses of some vectors."""
    return np.array([look(COMPILED[loss], Z @ u, targets)[0].sum() for u in vectors])


def in_ball(rng, radius, *others):
    """Return vectors in a ball: random ones on its sphere, zero, and others, shortened."""
    d = len(others[0])
    vectors = [*others, np.zeros(d), *(10 * radius * rng.normal(size=(2, d)))]
    return [twin.shrunk(u, radius) for u in vectors]


@pytest.mark.parametrize("projected", [True, False])
def test_regret_never_exceeds_the_bound_of_a_fixed_rate(rng, projected):
    names = list(LOSSES)
    for number, (X, signs) in enumerate(twin.sequences(rng, 6000)):
        loss = names[number % len(names)]
        radius = np.exp(rng.uniform(-1, 1))
        eta = np.exp(rng.uniform(-4, 0)) / (1 + np.sum(X**2, axis=1).max())
        targets = random_targets(loss, signs, rng)
        trials = twin.play(
            X,
            targets,
            COMPILED[loss],
            _steps.FixedRate(eta),
            intercept=True,
            radius=radius if projected else np.inf,
        )
        vectors = in_ball(rng, radius, trials.weights)
        norms = [np.linalg.norm(u) for u in vectors]
        regrets = trials.loss - losses_of(loss, twin.with_one(X), targets, vectors)
        bounds = ogd_bound(norms, eta, trials.squares)
        assert np.all(regrets <= bounds * (1 + 1e-9) + 1e-9)


def test_regret_never_exceeds_the_bound_of_the_horizon(rng):
    for X, signs in twin.sequences(rng, 10_000):
        Z, U = twin.with_one(X), np.exp(rng.uniform(-2, 2))
        radius = np.linalg.norm(Z, axis=1).max()
        rule = _steps.FixedRate(U / (radius * np.sqrt(len(X))))
        trials = twin.play(X, signs, COMPILED["hinge"], rule, intercept=True)
        vectors = in_ball(rng, U, trials.weights)
        regrets = trials.loss - losses_of("hinge", Z, signs, vectors)
        bound = ogd_horizon_bound(U, radius, len(X))
        assert np.all(regrets <= bound * (1 + 1e-9))
        # Mistakes minus the hinge loss of any comparator, too.
        assert trials.n_wrong <= trials.loss * (1 + 1e-12)


@pytest.mark.parametrize("projected", [True, False])
def test_regret_never_exceeds_the_bound_at_any_time(rng, projected):
    names = list(LOSSES)
    for number, (X, signs) in enumerate(twin.sequences(rng, 6000)):
        loss = names[number % len(names)]
        U, Z = np.exp(rng.uniform(-2, 2)), twin.with_one(X)
        targets = random_targets(loss, signs, rng)
        ball = U if projected else np.inf
        rule = _steps.FallingRate(ROOT * U)
        trials = twin.play(X, targets, COMPILED[loss], rule, intercept=True, radius=ball)
        vectors = in_ball(rng, U, trials.weights)
        regrets = trials.loss - losses_of(loss, Z, targets, vectors)
        distance = None
        if not projected:
            step = twin.falling(ROOT * U)
            run = twin.descend(X, targets, LOSSES[loss], step)
            distance = max(np.linalg.norm(run.weights - u, axis=1).max() for u in vectors)
        bound = ogd_anytime_bound(U, trials.squares, distance)
        assert np.all(regrets <= bound * (1 + 1e-9) + 1e-9)


def test_regret_never_exceeds_the_bound_if_an_adversary_answers(rng):
    # The sign of each trial is the one that the learner does not expect.
    for _ in range(200):
        n, d, U = rng.integers(1, 30), rng.integers(1, 5), np.exp(rng.uniform(-1, 2))
        X = rng.normal(size=(n, d))
        model = CLASSIFIER(radius=U, fit_intercept=False)
        signs = []
        for x in X:
            score = model.decision_function([x])[0] if signs else 0.0
            signs.append(-1 if score > 0 else 1)
            model.partial_fit(x[None], signs[-1:], classes=[-1, 1])
        signs = np.array(signs, dtype=float)
        assert model.n_mistakes_ == n and model.cumulative_loss_ >= n
        vectors = in_ball(rng, U, signs @ X)
        regrets = model.cumulative_loss_ - losses_of("hinge", X, signs, vectors)
        squares = np.sum(X**2)  # each trial has a slope
        assert np.all(regrets <= ogd_anytime_bound(U, squares) * (1 + 1e-9))


def test_realisable_conservative_descent_makes_few_mistakes(rng):
    for _ in range(2000):
        margin, n, d = rng.uniform(0.1, 1), rng.integers(1, 60), rng.integers(2, 7)
        X, signs, _ = twin.separated(rng, margin, n, d)
        rule = _steps.FixedRate(np.exp(rng.uniform(-5, 5)), conservative=True)
        trials = twin.play(X, signs, COMPILED["hinge"], rule)
        largest = np.linalg.norm(X, axis=1).max()
        assert trials.n_wrong <= (largest / margin) ** 2 * (1 + 1e-9)


def test_best_rate_of_the_bound_is_that_of_the_horizon():
    U, G, m = 2.0, 3.0, 50
    eta = U / (G * np.sqrt(m))
    np.testing.assert_allclose(ogd_bound(U, eta, m * G**2), ogd_horizon_bound(U, G, m), **EXACT)
    others = ogd_bound(U, eta * np.linspace(0.5, 2, 50), m * G**2)
    assert np.all(others >= ogd_horizon_bound(U, G, m) * (1 - 1e-12))


def test_bound_at_any_time_is_at_most_a_root_of_eight_worse():
    # The price for not knowing the number of trials and the norms of the gradients.
    np.testing.assert_allclose(
        ogd_anytime_bound(2.0, 50 * 9.0), np.sqrt(8) * ogd_horizon_bound(2.0, 3.0, 50), **EXACT
    )


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (ogd_bound, {"norm": -1.0, "eta": 1.0, "squared_gradients": 1.0}),
        (ogd_bound, {"eta": 0.0, "norm": 1.0, "squared_gradients": 1.0}),
        (ogd_bound, {"squared_gradients": np.inf, "norm": 1.0, "eta": 1.0}),
        (ogd_horizon_bound, {"n_trials": 1.5, "norm": 1.0, "gradient_norm": 1.0}),
        (ogd_horizon_bound, {"gradient_norm": -1.0, "norm": 1.0, "n_trials": 2}),
        (ogd_anytime_bound, {"radius": 0.0, "squared_gradients": 1.0}),
        (ogd_anytime_bound, {"distance": -1.0, "radius": 1.0, "squared_gradients": 1.0}),
    ],
)
def test_theorems_refuse_what_they_do_not_speak_of(function, arguments):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        function(**arguments)


# ---------------------------------------------------------------- numbers out of range


def test_steps_beyond_all_numbers_are_an_error_and_change_nothing():
    X, _, y = problem()
    model = REGRESSOR(eta=0.1).partial_fit(X, y)
    state = vars(model._state.copy())
    for x, target in ((np.full((1, 4), 1e200), [1.0]), (X[:1], [1e300])):
        with pytest.raises(ValueError, match="range of floating point"):
            model.partial_fit(x, target)
        for name, before in state.items():
            np.testing.assert_array_equal(vars(model._state)[name], before)


def test_rates_that_are_too_large_are_an_error_before_anything_is_infinite():
    X, _, y = problem(n=3000)
    model = REGRESSOR(eta=1.0)
    with pytest.raises(ValueError, match="smaller learning rate"):
        model.partial_fit(X, y)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("factor", [1e-150, 1e-20, 1e20, 1e140])
def test_scale_of_the_samples_does_not_matter_to_the_falling_rate(factor):
    # Steps have the same length, so weights are the same on all scales, and scores are not.
    X, y, _ = problem()
    model = CLASSIFIER("perceptron", fit_intercept=False).partial_fit(X, y, classes=[0, 1])
    scaled = CLASSIFIER("perceptron", fit_intercept=False)
    scaled.partial_fit(factor * X, y, classes=[0, 1])
    np.testing.assert_allclose(scaled.coef_, model.coef_, rtol=1e-9)
    assert scaled.n_mistakes_ == model.n_mistakes_


def test_slopes_out_of_range_leave_a_comparator_that_is_finite():
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 5)), rng.integers(2, size=40)
    X[17, 2] = 1e308
    model = CLASSIFIER(radius=3.0).fit(X, y)
    assert np.isfinite(model.comparator_).all()
    assert model.regret_ <= model.regret_bound_
