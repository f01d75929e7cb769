"""Passive-aggressive learners: the exact minimum, scikit-learn's, and the theorems."""

import inspect

import numpy as np
import pytest
from conftest import EXACT
from reference import online_linear as twin
from sklearn import linear_model
from sklearn.base import clone

from sklearn_sl.online import PassiveAggressiveClassifier, PassiveAggressiveRegressor, Perceptron
from sklearn_sl.online.linear import _steps
from sklearn_sl.theory import (
    best_passive_aggressive_bound,
    passive_aggressive_bound,
    passive_aggressive_loss_bound,
)

CLASSIFIER, REGRESSOR = PassiveAggressiveClassifier, PassiveAggressiveRegressor
HINGE = _steps.Hinge(1.0)
pytestmark = pytest.mark.filterwarnings(
    "ignore:Class PassiveAggressive:FutureWarning",
    "ignore::sklearn.exceptions.ConvergenceWarning",
)


def problem(seed=0, n=100, d=4, n_classes=2):
    """Return samples, noisy classes 0, 1, ... and noisy numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, n_classes)) + rng.normal(size=(n, n_classes))
    return X, scores.argmax(axis=1), 2 * scores[:, 0]


# ---------------------------------------------------------------- scikit-learn's


@pytest.mark.parametrize("ours", [CLASSIFIER, REGRESSOR])
def test_signature_is_scikit_learns_and_more(ours):
    theirs = inspect.signature(getattr(linear_model, ours.__name__)).parameters
    mine = inspect.signature(ours).parameters
    assert {name: mine[name].default for name in theirs} == {
        name: item.default for name, item in theirs.items()
    }


@pytest.mark.parametrize("ours", [CLASSIFIER, REGRESSOR])
def test_methods_and_attributes_are_scikit_learns_and_more(ours):
    X, y, numbers = problem()
    theirs = getattr(linear_model, ours.__name__)().fit(X, y if ours is CLASSIFIER else numbers)
    mine = ours().fit(X, y if ours is CLASSIFIER else numbers)
    public = {name for name in dir(theirs) if not name.startswith("_")}
    # What is left are parameters of stochastic gradient descent, of which theirs is a case.
    assert public - set(dir(mine)) <= {"loss_functions", "epsilon", "learning_rate", "power_t"} | {
        "penalty",
        "alpha",
        "l1_ratio",
        "eta0",
    }


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"C": 0.1},
        {"loss": "squared_hinge", "C": 0.5},
        {"C": np.inf, "tol": None, "max_iter": 4},
        {"tol": 1e-2, "n_iter_no_change": 2},
    ],
    ids=str,
)
def test_classifier_without_intercept_has_scikit_learns_weights(params, n_classes):
    X, y, _ = problem(n_classes=n_classes)
    params = {"shuffle": False, "fit_intercept": False, **params}
    ours = CLASSIFIER(**params).fit(X, y)
    theirs = linear_model.PassiveAggressiveClassifier(**params).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-11)
    assert (ours.n_iter_, ours.t_) == (theirs.n_iter_, theirs.t_)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"C": 0.1, "epsilon": 0.0},
        {"loss": "squared_epsilon_insensitive", "C": 0.5},
        {"tol": None, "max_iter": 4},
    ],
    ids=str,
)
def test_regressor_without_intercept_has_scikit_learns_weights(params):
    X, _, y = problem()
    params = {"shuffle": False, "fit_intercept": False, **params}
    ours = REGRESSOR(**params).fit(X, y)
    theirs = linear_model.PassiveAggressiveRegressor(**params).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-11)
    assert ours.n_iter_ == theirs.n_iter_


def test_partial_fit_without_intercept_is_scikit_learns():
    X, y, _ = problem(n_classes=3)
    ours = CLASSIFIER(fit_intercept=False)
    theirs = linear_model.PassiveAggressiveClassifier(fit_intercept=False, shuffle=False)
    for rows in np.array_split(np.arange(len(X)), 4):
        ours.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        theirs.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-11)


def test_intercept_is_a_feature_that_is_one():
    # scikit-learn leaves it out of the norm, and then overshoots.
    X, y, _ = problem()
    ours = CLASSIFIER(shuffle=False, C=np.inf, max_iter=2, tol=None).fit(X, y)
    larger = clone(ours).set_params(fit_intercept=False).fit(twin.with_one(X), y)
    np.testing.assert_allclose(np.append(ours.coef_, ours.intercept_), larger.coef_[0], **EXACT)
    x = X[:1]
    right = CLASSIFIER(C=np.inf).partial_fit(x, [1], classes=[0, 1])
    np.testing.assert_allclose(right.decision_function(x), 1.0, **EXACT)
    theirs = linear_model.PassiveAggressiveClassifier(C=1e9).partial_fit(x, [1], classes=[0, 1])
    assert theirs.decision_function(x)[0] > 1.1


# ---------------------------------------------------------------- the definition


@pytest.mark.parametrize("C", [0.02, 0.3, 5.0])
@pytest.mark.parametrize("squared", [True, False])
def test_step_of_the_classifier_is_the_exact_minimum(rng, C, squared):
    loss = "squared_hinge" if squared else "hinge"
    for _ in range(5):
        X, y = rng.normal(size=(6, 2)), np.where(rng.random(6) < 0.5, -1, 1)
        before = CLASSIFIER(C=C, loss=loss).partial_fit(X[:-1], y[:-1], classes=[-1, 1])
        old = np.append(before.coef_, before.intercept_)
        after = before.partial_fit(X[-1:], y[-1:])
        z, sign = np.append(X[-1], 1.0), y[-1]

        def objective(v, old=old, z=z, sign=sign):
            lack = max(0.0, 1 - sign * (v @ z))
            return 0.5 * np.sum((v - old) ** 2) + C * (lack**2 if squared else lack)

        new = np.append(after.coef_, after.intercept_)
        for scale in (1e-3, 0.1, 1.0):  # strongly convex: farther from the minimum it is larger
            for move in scale * rng.normal(size=(100, 3)):
                gain = objective(new + move) - objective(new)
                assert gain >= 0.5 * move @ move - 1e-12


def test_linearised_step_of_the_gradient_is_worse():
    # The example that tells the exact minimum from a step along the gradient.
    x, weight = np.array([10.0]), 0.5  # lambda = 1 / (2 C)
    model = CLASSIFIER(C=1 / (2 * weight), fit_intercept=False).partial_fit(
        x[None], [1], classes=[-1, 1]
    )

    def objective(w):
        return max(0.0, 1 - w @ x) + weight * w @ w

    exact, linearised = model.coef_[0], x / (2 * weight)
    np.testing.assert_allclose(objective(exact), 0.005, **EXACT)
    np.testing.assert_allclose(objective(linearised), 50.0, **EXACT)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.05, 1.0, np.inf])
@pytest.mark.parametrize("squared", [True, False])
def test_classifier_is_its_twin(intercept, C, squared):
    X, y, _ = problem()
    signs = np.where(y == 1, 1.0, -1.0)
    model = CLASSIFIER(
        C=C,
        loss="squared_hinge" if squared else "hinge",
        fit_intercept=intercept,
        average=True,
        keep_losses=True,
    ).partial_fit(X, y, classes=[0, 1])
    steps = twin.aggressive(C, squared)
    run = twin.descend(X, signs, twin.hinge, steps, intercept=intercept)
    np.testing.assert_allclose(model.standard_coef()[0], run.last[:-1], **EXACT)
    np.testing.assert_allclose(model.coef_[0], run.weights.mean(axis=0)[:-1], **EXACT)
    np.testing.assert_allclose(model.loss_curve_, run.losses, **EXACT)
    np.testing.assert_allclose(model.squared_loss_, np.sum(run.losses**2), **EXACT)
    assert model.n_mistakes_ == np.sum(signs * run.scores <= 0)


@pytest.mark.parametrize("C", [0.05, 1.0, np.inf])
@pytest.mark.parametrize("squared", [True, False])
def test_regressor_is_its_twin(C, squared):
    X, _, y = problem()
    model = REGRESSOR(
        C=C,
        loss="squared_epsilon_insensitive" if squared else "epsilon_insensitive",
        keep_losses=True,
    ).partial_fit(X, y)
    run = twin.descend(X, y, twin.insensitive(0.1), twin.aggressive(C, squared))
    np.testing.assert_allclose(model.coef_, run.last[:-1], **EXACT)
    np.testing.assert_allclose(model.intercept_, run.last[-1:], **EXACT)
    np.testing.assert_allclose(model.loss_curve_, run.losses, **EXACT)
    np.testing.assert_allclose(model.squared_loss_, np.sum(run.losses**2), **EXACT)


@pytest.mark.parametrize("squared", [True, False])
def test_kesler_is_its_twin(squared):
    X, y, _ = problem(n_classes=3)
    loss = "squared_hinge" if squared else "hinge"
    model = CLASSIFIER(C=0.4, loss=loss, multi_class="kesler").partial_fit(X, y, classes=[0, 1, 2])
    run = twin.descend_together(X, y, twin.hinge, twin.aggressive(0.4, squared))
    np.testing.assert_allclose(model.coef_, run.last[:, :-1], **EXACT)
    np.testing.assert_allclose(model.cumulative_loss_, run.losses.sum(), **EXACT)


def test_weights_of_classes_and_samples_multiply_C(rng):
    X, y, _ = problem()
    signs, weight = np.where(y == 1, 1.0, -1.0), rng.uniform(0.1, 1.0, len(y))
    factors = np.where(y == 1, 0.2, 3.0)
    model = CLASSIFIER(C=0.1, class_weight={0: 3.0, 1: 0.2})
    model.partial_fit(X, y, classes=[0, 1], sample_weight=weight)
    run = twin.descend(X, signs, twin.hinge, twin.aggressive(0.1), weight=factors * weight)
    np.testing.assert_allclose(model.coef_[0], run.last[:-1], **EXACT)


def test_class_of_weight_zero_is_not_stepped_along():
    X, y, _ = problem()
    for C in (1.0, np.inf):
        for loss in ("hinge", "squared_hinge"):
            model = CLASSIFIER(C=C, loss=loss, class_weight={0: 0.0, 1: 1.0})
            model.partial_fit(X, y, classes=[0, 1])
            only = CLASSIFIER(C=C, loss=loss).partial_fit(X[y == 1], y[y == 1], classes=[0, 1])
            np.testing.assert_array_equal(model.coef_, only.coef_)


def test_integer_weights_of_a_regression_are_repeated_rows(rng):
    X, _, y = problem()
    times = rng.integers(0, 4, len(y))
    model = REGRESSOR(random_state=0, max_iter=5)
    weighted = clone(model).fit(X, y, sample_weight=times)
    repeated = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_array_equal(weighted.coef_, repeated.coef_)
    assert weighted.squared_loss_ == repeated.squared_loss_


@pytest.mark.parametrize("C", [0.003, 1.0, np.inf])
@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("kind", ["two", "three", "kesler", "numbers"])
def test_many_presentations_in_a_row_are_those_of_repeated_rows(rng, C, squared, kind):
    X, y = rng.normal(size=(25, 3)), rng.normal(size=25)
    X *= 10.0 ** rng.integers(-2, 1, (len(X), 1))
    times = rng.integers(1, 400, len(y))
    if kind == "numbers":
        loss = "squared_epsilon_insensitive" if squared else "epsilon_insensitive"
        model = REGRESSOR()
    else:
        loss = "squared_hinge" if squared else "hinge"
        model = CLASSIFIER(multi_class="kesler" if kind == "kesler" else "ovr")
        y = np.arange(25) % (2 if kind == "two" else 3)
    model.set_params(C=C, loss=loss, shuffle=False, tol=None, max_iter=2, average=True)
    weighted = clone(model).fit(X, y, sample_weight=times)
    repeated = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-7)
    np.testing.assert_allclose(weighted.squared_loss_, repeated.squared_loss_, rtol=1e-7)
    np.testing.assert_allclose(weighted.cumulative_loss_, repeated.cumulative_loss_, rtol=1e-7)
    assert weighted.n_trials_ == repeated.n_trials_
    if kind != "numbers":
        assert weighted.n_mistakes_ == repeated.n_mistakes_


@pytest.mark.parametrize("weight", [1e6, 1e10])
def test_cost_of_a_weight_does_not_depend_on_its_size(weight):
    X, classes, numbers = problem()
    for model, y in ((CLASSIFIER(max_iter=3), classes), (REGRESSOR(max_iter=3), numbers)):
        for squared in (False, True):
            losses = type(model)._parameter_constraints["loss"][0].options
            loss = next(name for name in losses if name.startswith("squared") == squared)
            model.set_params(loss=loss, tol=None).fit(X, y, sample_weight=np.full(len(y), weight))
            assert model.n_trials_ == 3 * weight * len(y)
    with pytest.raises(ValueError, match="Divide the weights"):
        model.fit(X, numbers, sample_weight=np.full(len(y), 1e19))


def test_zero_sample_without_intercept_changes_nothing():
    X, y, _ = problem()
    for params in ({"C": np.inf}, {"C": 1.0}, {"C": 1.0, "loss": "squared_hinge"}):
        model = CLASSIFIER(fit_intercept=False, **params).partial_fit(X, y, classes=[0, 1])
        coef = model.coef_.copy()
        model.partial_fit(np.zeros((3, X.shape[1])), [0, 1, 0])
        np.testing.assert_array_equal(model.coef_, coef)
        assert np.isfinite(model.cumulative_loss_)


def test_early_stopping_of_a_regression_watches_the_score():
    X, _, y = problem(n=400)
    model = REGRESSOR(early_stopping=True, random_state=0, C=0.01).fit(X, y)
    assert model.n_iter_ < 1000 and model.squared_loss_bound_ is None
    assert model.score(X, y) > 0.5


def test_passive_learner_stops_when_a_pass_takes_no_step(rng):
    X, signs, _ = twin.separated(rng, 0.5, 40, 3)
    model = CLASSIFIER(C=np.inf, tol=None, random_state=0).fit(X, signs)
    assert model.converged_ and model.n_iter_ < 1000
    assert np.all(signs * model.decision_function(X) >= 1 - 1e-9)


# ---------------------------------------------------------------- the theorems


def comparators(rng, trials, Z):
    """Return vectors to compare with: those that were found, and others."""
    return trials.weights[: Z.shape[1]], 2 * rng.normal(size=Z.shape[1]), np.zeros(Z.shape[1])


@pytest.mark.parametrize("C", [0.01, 0.3, 10.0])
def test_mistakes_of_linear_slack_never_exceed_the_bound(rng, C):
    for X, signs in twin.sequences(rng, 3500):
        trials = twin.play(X, signs, HINGE, _steps.Aggressive(C, False))
        radius = np.linalg.norm(X, axis=1).max()
        for u in comparators(rng, trials, X):
            loss = np.maximum(0, 1 - signs * (X @ u)).sum()
            bound = passive_aggressive_bound(radius, np.linalg.norm(u), loss, C)
            assert trials.n_wrong <= bound * (1 + 1e-9)


@pytest.mark.parametrize("C", [0.01, 0.3, 10.0])
def test_squared_losses_of_squared_slack_never_exceed_the_bound(rng, C):
    for X, signs in twin.sequences(rng, 3500):
        trials = twin.play(X, signs, HINGE, _steps.Aggressive(C, True))
        radius = np.linalg.norm(X, axis=1).max()
        for u in comparators(rng, trials, X):
            loss = np.sum(np.maximum(0, 1 - signs * (X @ u)) ** 2)
            bound = passive_aggressive_loss_bound(radius, np.linalg.norm(u), loss, C)
            assert trials.n_wrong <= trials.squares <= bound * (1 + 1e-9)


def test_squared_losses_without_slack_never_exceed_the_bound(rng):
    for X, signs in twin.sequences(rng, 10_000):
        Z = twin.with_one(X)  # samples are never zero
        trials = twin.play(X, signs, HINGE, _steps.Aggressive(np.inf, False), intercept=True)
        norms = np.linalg.norm(Z, axis=1)
        for u in (trials.weights, 2 * rng.normal(size=Z.shape[1])):
            loss = np.sum(np.maximum(0, 1 - signs * (Z @ u)) ** 2)
            bound = passive_aggressive_loss_bound(
                norms.max(), np.linalg.norm(u), loss, least_norm=norms.min()
            )
            assert trials.squares <= bound * (1 + 1e-9)


def test_squared_losses_on_separated_samples_never_exceed_the_bound(rng):
    for _ in range(3000):
        margin, n, d = rng.uniform(0.05, 1), rng.integers(1, 60), rng.integers(2, 9)
        X, signs, _ = twin.separated(rng, margin, n, d)
        trials = twin.play(X, signs, HINGE, _steps.Aggressive(np.inf, False))
        radius = np.linalg.norm(X, axis=1).max()
        assert trials.squares <= passive_aggressive_loss_bound(radius, 1 / margin) * (1 + 1e-9)


@pytest.mark.parametrize("C", [0.02, 1.0, np.inf])
def test_squared_losses_of_a_regression_never_exceed_the_bound(rng, C):
    loss = _steps.Insensitive(0.1)
    for X, signs in twin.sequences(rng, 3500):
        y = signs * rng.exponential(size=len(signs))
        Z = twin.with_one(X)
        trials = twin.play(X, y, loss, _steps.Aggressive(C, C < np.inf), intercept=True)
        norms = np.linalg.norm(Z, axis=1)
        for u in (trials.weights, rng.normal(size=Z.shape[1])):
            squared = np.sum(np.maximum(0, np.abs(y - Z @ u) - 0.1) ** 2)
            bound = passive_aggressive_loss_bound(
                norms.max(), np.linalg.norm(u), squared, C, norms.min()
            )
            assert trials.squares <= bound * (1 + 1e-9)


@pytest.mark.parametrize("multi_class", ["ovr", "kesler"])
@pytest.mark.parametrize(
    "params", [{"C": 0.3}, {"C": 0.3, "loss": "squared_hinge"}, {"C": np.inf}], ids=str
)
def test_bound_of_a_fit_is_kept(params, multi_class):
    for seed in range(10):
        X, y, _ = problem(seed, n=40, n_classes=3)
        model = CLASSIFIER(multi_class=multi_class, max_iter=3, random_state=seed, **params)
        model.fit(X, y)
        assert model.n_mistakes_ <= model.bound_ * (1 + 1e-9)
        assert model.comparator_.shape == (3, 5)
        assert model.n_mistakes_ <= 3 * model.mistake_bound(X, y) * (1 + 1e-9)


def test_bound_of_separated_samples_is_not_trivial(rng):
    X, signs, _ = twin.separated(rng, 1.0, 2000, 3)
    for params in ({"C": 1.0}, {"C": 1.0, "loss": "squared_hinge"}, {"C": np.inf}):
        model = CLASSIFIER(fit_intercept=False, random_state=0, **params).fit(X, signs)
        assert model.n_mistakes_ <= model.bound_ < 0.2 * len(X)
        assert np.any(model.comparator_)


def test_zero_sample_without_slack_leaves_the_trivial_bound():
    X = np.array([[0.0], [1.0], [-1.0]])
    model = CLASSIFIER(C=np.inf, fit_intercept=False, max_iter=4, tol=None, shuffle=False)
    model.fit(X, [0, 1, 0])
    assert model.bound_ == 3 * model.n_iter_ and not model.comparator_.any()
    regressor = REGRESSOR(C=np.inf, fit_intercept=False).fit(X, [0.0, 1.0, 2.0])
    assert regressor.squared_loss_bound_ is None


@pytest.mark.parametrize(
    "params", [{"C": np.inf}, {"C": 0.1, "loss": "squared_epsilon_insensitive"}], ids=str
)
def test_bound_of_a_regression_is_kept(params):
    for seed in range(10):
        X, _, y = problem(seed)
        model = REGRESSOR(max_iter=3, tol=None, random_state=0, **params).fit(X, y)
        assert model.squared_loss_ <= model.squared_loss_bound_ * (1 + 1e-9)
        assert model.partial_fit(X, y).squared_loss_bound_ is None


def test_linear_slack_of_a_regression_has_no_bound():
    X, _, y = problem()
    model = REGRESSOR().fit(X, y)
    assert model.squared_loss_bound_ is None and model.comparator_ is None


def test_best_multiple_is_the_best_of_many(rng):
    factors = np.exp(np.linspace(-6, 6, 400))
    for number in range(150):
        margins = rng.normal(rng.uniform(-1, 2), 1, rng.integers(1, 30))
        radius, norm, C = rng.uniform(0.1, 3, 3)
        lacks = np.maximum(0, 1 - factors[:, None] * margins)
        if number % 2:
            grid = passive_aggressive_bound(radius, factors * norm, lacks.sum(axis=1), C)
        else:
            squares = np.sum(lacks**2, axis=1)
            grid = passive_aggressive_loss_bound(radius, factors * norm, squares, C)
        bound, _ = best_passive_aggressive_bound(
            margins, radius, norm, C=C, squared=number % 2 == 0
        )
        assert bound <= min(grid.min(), len(margins)) * 1.01


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (passive_aggressive_bound, {"C": 0.0}),
        (passive_aggressive_bound, {"radius": -1.0}),
        (passive_aggressive_bound, {"hinge_loss": np.nan}),
        (passive_aggressive_loss_bound, {"squared_loss": -1.0}),
        (passive_aggressive_loss_bound, {"least_norm": 0.0}),
        (passive_aggressive_loss_bound, {"C": -2.0}),
    ],
)
def test_theorems_refuse_what_they_do_not_speak_of(function, arguments):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        function(**{"radius": 1.0, "norm": 1.0, **arguments})


def test_aggressive_enough_it_is_not_the_perceptron():
    # Its margin is one, not zero: it goes on where the perceptron is content.
    X, y, _ = problem()
    passive = CLASSIFIER(random_state=0, max_iter=1).fit(X, y)
    assert passive.n_updates_ > Perceptron(max_iter=1).fit(X, y).n_updates_


def test_score_of_samples_set_aside_may_be_out_of_range():
    rng = np.random.default_rng(0)
    X, y, n_fits = rng.random((40, 5)), rng.random(40), 0
    for row in range(40):
        huge = X.copy()
        huge[row, 2] = -1e300
        model = REGRESSOR(early_stopping=True, validation_fraction=0.3, random_state=0)
        try:
            model.fit(huge, y)
        except ValueError as error:  # the row was learned from
            assert "exceed the range" in str(error)
        else:
            assert np.isfinite(model.coef_).all()
            n_fits += 1
    assert n_fits > 5
