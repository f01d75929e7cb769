"""Additive models: each stage is the best one, and the exponential loss is AdaBoost."""

import numpy as np
import pytest
from _callbacks import Stop
from conftest import ALGEBRA, EXACT, needs_callbacks
from hypothesis import given
from hypothesis import strategies as st
from reference.boosting import TOY, TOY_SIGNS, all_stumps, random_strings, two_moons_or_so
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_breast_cancer, load_iris, make_friedman1
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from sklearn_sl.ensemble import (
    AdaBoostClassifier,
    DecisionStump,
    ForwardStagewiseClassifier,
    ForwardStagewiseRegressor,
    SubstringStump,
)
from sklearn_sl.ensemble._losses import LOSSES, kink_of_least_loss
from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor

for_every_loss = pytest.mark.parametrize("loss", sorted(LOSSES))
VALUES = {
    "exponential": lambda m: np.exp(-m),
    "logistic": lambda m: np.log1p(np.exp(-m)),
    "hinge": lambda m: np.maximum(0, 1 - m),
    "square": lambda m: (1 - m) ** 2,
}


def answers_of(model, X):
    """Return what the members of a binary model answer, and its values after each stage."""
    answers = np.array([member.predict(X) for member in model.estimators_[0]], dtype=float)
    return answers, np.cumsum(model.estimator_weights_[0][:, None] * answers, axis=0)


@pytest.mark.parametrize(
    "member", [None, DecisionStump(), DecisionTreeClassifier(max_depth=2), GaussianNB()]
)
@pytest.mark.parametrize("rate", [1.0, 0.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_exponential_loss_is_adaboost(rng, member, rate, weighted):
    X, y = two_moons_or_so(3)
    weight = rng.exponential(size=len(y)) if weighted else None
    params = {"n_estimators": 20, "learning_rate": rate}
    stages = ForwardStagewiseClassifier(member, **params).fit(X, y, weight)
    rounds = AdaBoostClassifier(member, **params).fit(X, y, weight)
    alphas = stages.estimator_weights_[0]
    np.testing.assert_allclose(2 * alphas, rounds.estimator_weights_, rtol=1e-7)
    np.testing.assert_allclose(stages.losses_[0], rounds.training_bound_, rtol=1e-7)
    shares = 2 * stages.decision_function(X) / alphas.sum()
    np.testing.assert_allclose(shares, rounds.decision_function(X), **ALGEBRA)


def test_exponential_loss_on_schapires_toy():
    model = ForwardStagewiseClassifier(DecisionStump(), n_estimators=3).fit(TOY, TOY_SIGNS)
    errors = np.array([3 / 10, 3 / 14, 3 / 22])
    alphas = 0.5 * np.log((1 - errors) / errors)
    np.testing.assert_allclose(model.estimator_weights_[0], alphas, **EXACT)
    np.testing.assert_array_equal(model.predict(TOY), TOY_SIGNS)


@for_every_loss
@given(seed=st.integers(0, 10**6), weighted=st.booleans())
def test_coefficient_is_the_best_for_its_member(loss, seed, weighted):
    X, y = two_moons_or_so(seed, n_samples=60)
    rng = np.random.default_rng(seed)
    weight = rng.exponential(size=len(y)) if weighted else np.ones(len(y))
    model = ForwardStagewiseClassifier(loss=loss, n_estimators=6).fit(X, y, weight)
    answers, f = answers_of(model, X)
    before = np.vstack([np.zeros(len(y)), f[:-1]])
    for stage, alpha in enumerate(model.estimator_weights_[0]):

        def mean_loss(step, stage=stage):
            margins = y * (before[stage] + step * answers[stage])
            return np.average(VALUES[loss](margins), weights=weight)

        np.testing.assert_allclose(model.losses_[0][stage], mean_loss(alpha), rtol=1e-9)
        if np.isfinite(alpha) and model.stop_reasons_ != ["perfect"]:
            found = minimize_scalar(mean_loss, bracket=(0, alpha), tol=1e-10)
            assert mean_loss(alpha) <= found.fun + 1e-12


@pytest.mark.parametrize("loss", ["exponential", "square"])
@given(seed=st.integers(0, 10**6))
def test_member_and_coefficient_together_are_the_best_of_all_stumps(loss, seed):
    X, y = two_moons_or_so(seed, n_samples=25, n_features=2 + 2)
    model = ForwardStagewiseClassifier(DecisionStump(), loss=loss, n_estimators=4).fit(X, y)
    _, f = answers_of(model, X)
    before = np.vstack([np.zeros(len(y)), f[:-1]])
    for stage, found in enumerate(model.losses_[0][: None if loss == "square" else 3]):
        for _, _, sides in all_stumps(X):
            d = y * sides
            m = y * before[stage]
            if loss == "square":
                step = np.mean((1 - m) * d)
            else:
                right, wrong = np.exp(-m) @ (d > 0), np.exp(-m) @ (d < 0)
                if wrong == 0 or right == 0:
                    continue
                step = 0.5 * np.log(right / wrong)
            assert found <= np.mean(VALUES[loss](m + step * d)) + 1e-12


@for_every_loss
@pytest.mark.parametrize("member", [None, DecisionTreeRegressor(max_depth=2), Ridge()])
def test_no_stage_increases_the_loss(loss, member):
    X, y = load_breast_cancer(return_X_y=True)
    model = ForwardStagewiseClassifier(member, loss=loss, learning_rate=0.3).fit(X, y)
    assert np.all(np.diff(model.losses_[0]) <= 0)
    assert model.losses_[0][-1] < VALUES[loss](0.0)
    assert model.score(X, y) > 0.9


@for_every_loss
def test_steps_of_regressors_are_exact_too(loss):
    X, y = two_moons_or_so(5)
    member = DecisionTreeRegressor(max_depth=2)
    model = ForwardStagewiseClassifier(member, loss=loss, n_estimators=5).fit(X, y)
    answers, f = answers_of(model, X)
    before = np.vstack([np.zeros(len(y)), f[:-1]])
    for stage, found in enumerate(model.losses_[0]):
        for step in model.estimator_weights_[0][stage] * np.array([0.5, 0.9, 1.1, 2.0]):
            m = y * (before[stage] + step * answers[stage])
            assert found <= np.mean(VALUES[loss](m)) + 1e-12


@for_every_loss
def test_shared_columns_change_nothing(loss):
    class OtherTree(DecisionTreeClassifier):
        """A tree that the ensembles do not know."""

    X, y = load_iris(return_X_y=True)
    ours, other = (
        ForwardStagewiseClassifier(Tree(max_depth=1), loss=loss, n_estimators=8).fit(X, y)
        for Tree in (DecisionTreeClassifier, OtherTree)
    )
    np.testing.assert_allclose(ours.decision_function(X), other.decision_function(X), **EXACT)


@for_every_loss
def test_many_classes_are_fitted_one_against_the_rest(loss):
    X, y = load_iris(return_X_y=True)
    model = ForwardStagewiseClassifier(loss=loss, n_estimators=10, learning_rate=0.5).fit(X, y)
    for k in range(3):
        single = ForwardStagewiseClassifier(loss=loss, n_estimators=10, learning_rate=0.5)
        single.fit(X, y == k)
        np.testing.assert_allclose(
            model.decision_function(X)[:, k], single.decision_function(X), **EXACT
        )
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))
    staged = list(model.staged_decision_function(X))
    np.testing.assert_array_equal(staged[-1], model.decision_function(X))
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))


@pytest.mark.parametrize("loss", ["exponential", "logistic", "square"])
def test_probabilities_minimise_the_expected_loss(loss):
    # Where a share p of the samples at a point is positive, f minimises p V(f) + (1 - p) V(-f).
    for p in (0.1, 0.5, 0.8):
        f = minimize_scalar(lambda f, p=p: p * VALUES[loss](f) + (1 - p) * VALUES[loss](-f)).x
        np.testing.assert_allclose(LOSSES[loss].proba(np.array(f)), p, atol=1e-6)
    X, y = two_moons_or_so()
    model = ForwardStagewiseClassifier(loss=loss).fit(X, y)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1, **EXACT)
    np.testing.assert_array_equal(proba[:, 1] > 0.5, model.decision_function(X) > 0)


def test_hinge_loss_tells_no_probabilities():
    assert not hasattr(ForwardStagewiseClassifier(loss="hinge"), "predict_proba")


@for_every_loss
def test_a_perfect_member_ends_the_fit(loss):
    model = ForwardStagewiseClassifier(loss=loss).fit([[0.0], [1.0]], ["a", "b"])
    assert model.stop_reasons_ == ["perfect"] and len(model.estimators_[0]) == 1
    np.testing.assert_array_equal(model.predict([[0.0], [1.0]]), ["a", "b"])


@for_every_loss
def test_stumps_cannot_begin_on_xor(loss):
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    with pytest.raises(ValueError, match="not better than chance"):
        ForwardStagewiseClassifier(loss=loss).fit(X, y)


def test_fit_ends_when_the_loss_decreases_too_little():
    X, y = two_moons_or_so()
    model = ForwardStagewiseClassifier(loss="logistic", n_estimators=200, tol=0.01).fit(X, y)
    assert model.stop_reasons_ == ["tol"]
    assert np.all(model.losses_[0][1:] < 0.99 * model.losses_[0][:-1])


def test_strings_are_for_members_that_take_them(rng):
    X, y = random_strings(rng, 12), np.repeat([0, 1], 6)
    member = SubstringStump(search="closures")
    model = ForwardStagewiseClassifier(member, loss="logistic", n_estimators=100).fit(X, y)
    assert model.score(X, y) == 1


@needs_callbacks
def test_fit_that_a_callback_stops_is_a_smaller_model():
    X, y = two_moons_or_so()
    model = ForwardStagewiseClassifier().set_callbacks(Stop(after=4)).fit(X, y)
    assert model.stop_reasons_ == ["callback"] and len(model.estimators_[0]) == 4
    model = ForwardStagewiseRegressor().set_callbacks(Stop(after=4)).fit(X, y)
    assert model.stop_reason_ == "callback" and len(model.estimators_) == 4


# ---------------------------------------------------------------- regression


@pytest.mark.parametrize("loss", ["square", "absolute"])
@pytest.mark.parametrize("member", [None, DecisionTreeRegressor(max_depth=3), Ridge()])
def test_each_coefficient_of_a_regression_is_the_best(loss, member, rng):
    X, y = make_friedman1(200, noise=2.0, random_state=0)
    weight = rng.exponential(size=200)
    model = ForwardStagewiseRegressor(member, loss=loss, n_estimators=8).fit(X, y, weight)
    f = np.full(200, model.intercept_)
    for h, alpha, found in zip(model.estimators_, model.estimator_weights_, model.losses_):
        answers = h.predict(X)

        def mean_loss(step, f=f, answers=answers):
            sizes = np.abs(y - f - step * answers)
            return np.average(sizes**2 if loss == "square" else sizes, weights=weight)

        np.testing.assert_allclose(mean_loss(alpha), found, **ALGEBRA)
        for step in (0.0, 0.9 * alpha, 1.1 * alpha):
            assert found <= mean_loss(step) + 1e-12
        f = f + alpha * answers
    np.testing.assert_allclose(model.predict(X), f, **EXACT)
    assert np.all(np.diff(model.losses_) <= 0)


def test_regression_of_a_constant_is_perfect_at_once():
    model = ForwardStagewiseRegressor().fit([[0.0], [1.0], [2.0]], [5.0, 5.0, 5.0])
    assert model.stop_reason_ == "perfect"
    np.testing.assert_array_equal(model.predict([[7.0]]), [5.0])


@given(st.integers(0, 10**6), st.integers(1, 30))
def test_kink_of_least_loss_is_a_weighted_median(seed, n):
    rng = np.random.default_rng(seed)
    kinks, weight = rng.integers(-3, 4, n).astype(float), rng.exponential(size=n)

    def loss(a):
        return weight @ np.abs(kinks - a)

    assert loss(kink_of_least_loss(kinks, weight)) <= min(map(loss, kinks)) + 1e-12
