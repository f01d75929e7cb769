"""AdaBoost: its theorems, scikit-learn's results, and what happens when a round fails."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from _callbacks import Stop
from conftest import ALGEBRA, EXACT, needs_callbacks
from hypothesis import given
from hypothesis import strategies as st
from reference import boosting as reference
from reference.boosting import TOY, TOY_SIGNS, random_strings, two_moons_or_so
from sklearn import ensemble as peer
from sklearn import tree as peer_tree
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_digits, load_iris, make_friedman1, make_gaussian_quantiles
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor

from sklearn_sl.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionStump,
    SubstringStump,
)
from sklearn_sl.ensemble._adaboost_r2 import Draws, weighted_median
from sklearn_sl.theory import adaboost_bound, margin_bound
from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor


class OtherTree(DecisionTreeClassifier):
    """A tree that the ensembles do not know, and fit like any other classifier."""


problems = st.builds(
    two_moons_or_so,
    seed=st.integers(0, 10**6),
    n_samples=st.integers(30, 150),
    n_features=st.just(4),
)
members = st.sampled_from(
    [None, DecisionStump(), DecisionTreeClassifier(max_depth=2), GaussianNB()]
)


# ---------------------------------------------------------------- theorems


def test_three_rounds_on_schapires_toy():
    model = AdaBoostClassifier(DecisionStump(), n_estimators=3).fit(TOY, TOY_SIGNS)
    np.testing.assert_allclose(model.estimator_errors_, [3 / 10, 3 / 14, 3 / 22], **EXACT)
    np.testing.assert_allclose(model.estimator_weights_ / 2, [0.4236, 0.6496, 0.9229], atol=5e-5)
    np.testing.assert_allclose(model.normalizers_, [0.9165, 0.8207, 0.6863], atol=5e-5)
    np.testing.assert_allclose(model.training_bound_[-1], 0.51623, atol=5e-6)
    assert [(m.feature_, m.threshold_) for m in model.estimators_] == [(0, 2.5), (0, 7), (1, 6.5)]
    np.testing.assert_allclose(model.training_errors_, [0.3, 0.3, 0.0], **EXACT)


@given(problems)
def test_rounds_are_those_of_the_textbook(problem):
    X, y = problem
    model = AdaBoostClassifier(DecisionStump(), n_estimators=8).fit(X, y)
    rounds = reference.adaboost(X, y, len(model.estimators_))
    errors, alphas, normalizers, answers, _ = zip(*rounds, strict=True)
    np.testing.assert_allclose(model.estimator_errors_, errors, **ALGEBRA)
    np.testing.assert_allclose(model.estimator_weights_, 2 * np.array(alphas), **ALGEBRA)
    np.testing.assert_allclose(model.normalizers_, normalizers, **ALGEBRA)
    f = np.cumsum(np.array(alphas)[:, None] * answers, axis=0)
    np.testing.assert_allclose(model.training_errors_, np.mean(y * f <= 0, axis=1), **ALGEBRA)
    np.testing.assert_allclose(model.margins_, y * f[-1] / sum(alphas), **ALGEBRA)


@given(problems, members, st.sampled_from([1.0, 0.3]), st.booleans())
def test_training_error_is_at_most_the_mean_exponential_loss(problem, member, rate, weighted):
    X, y = problem
    weight = np.random.default_rng(len(y)).exponential(size=len(y)) if weighted else np.ones(len(y))
    model = AdaBoostClassifier(member, n_estimators=12, learning_rate=rate)
    model.fit(X, y, sample_weight=weight)
    assert np.all(model.training_errors_ <= model.training_bound_ + 1e-12)
    alphas = model.estimator_weights_ / 2
    if model.stop_reason_ == "perfect":
        return
    f = np.cumsum([a * m.predict(X) for a, m in zip(alphas, model.estimators_)], axis=0)
    losses = np.average(np.exp(-y * f), axis=1, weights=weight)
    np.testing.assert_allclose(losses, model.training_bound_, rtol=1e-9)
    errors = np.average(y * f <= 0, axis=1, weights=weight)
    np.testing.assert_allclose(model.training_errors_, errors, **ALGEBRA)
    bound = adaboost_bound(model.estimator_errors_, alphas)
    np.testing.assert_allclose(bound.product, model.training_bound_, rtol=1e-9)


@given(problems, members)
def test_each_member_is_a_coin_under_the_weights_of_the_next_round(problem, member):
    X, y = problem
    model = AdaBoostClassifier(member, n_estimators=10).fit(X, y)
    D = np.full(len(y), 1 / len(y))
    for h, a, error in zip(model.estimators_, model.estimator_weights_, model.estimator_errors_):
        wrong = h.predict(X) != y
        np.testing.assert_allclose(D @ wrong, error, rtol=1e-7, atol=1e-12)
        if error == 0:
            return
        D = D * np.exp(a * wrong)
        D /= D.sum()
        np.testing.assert_allclose(D @ wrong, 0.5, **ALGEBRA)


@given(problems)
def test_weight_of_a_member_minimises_its_normaliser(problem):
    X, y = problem
    model = AdaBoostClassifier(DecisionStump(), n_estimators=6).fit(X, y)
    for error, a, z in zip(model.estimator_errors_, model.estimator_weights_, model.normalizers_):
        np.testing.assert_allclose(z, 2 * np.sqrt(error * (1 - error)), **ALGEBRA)
        for other in (a / 2 - 0.1, a / 2 + 0.1):
            assert z < error * np.exp(other) + (1 - error) * np.exp(-other)
    np.testing.assert_array_equal(model.edge_, 0.5 - model.estimator_errors_)


def test_bound_holds_for_many_classes():
    X, y = load_digits(return_X_y=True)
    member = DecisionTreeClassifier(max_depth=6)
    model = AdaBoostClassifier(member, n_estimators=40).fit(X, y)
    assert np.all(model.training_errors_ <= model.training_bound_ + 1e-12)
    assert model.training_bound_[-1] < 0.3 and model.training_errors_[-1] == 0


def test_margins_are_shares_of_votes_and_their_distribution_is_part_of_the_bound():
    X, y = two_moons_or_so()
    model = AdaBoostClassifier(n_estimators=30).fit(X, y)
    np.testing.assert_allclose(model.margins_, y * model.decision_function(X) / 2, **ALGEBRA)
    np.testing.assert_allclose(model.margins(X, y), model.margins_, **EXACT)
    thetas = np.linspace(-1, 1, 21)
    shares = [np.mean(model.margins_ <= theta) for theta in thetas]
    np.testing.assert_allclose(model.margin_cdf(thetas), shares, **EXACT)
    np.testing.assert_allclose(model.margin_cdf(thetas, X, y), shares, **EXACT)
    assert model.margin_cdf(0.0) == model.training_errors_[-1]
    weight = np.arange(len(y)) % 3
    expected = np.average(model.margins_ <= 0.1, weights=weight)
    np.testing.assert_allclose(model.margin_cdf(0.1, X, y, weight), expected, **EXACT)
    bound = margin_bound(model.margins_, 0.1, vc_dimension=4)
    assert bound > model.margin_cdf(0.1)


def test_margins_of_many_classes_are_against_the_best_other_class():
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    votes = np.zeros((len(y), 3))
    for member, strength in zip(model.estimators_, model.estimator_weights_):
        votes[np.arange(len(y)), member.predict(X)] += strength
    votes /= model.estimator_weights_.sum()
    others = np.where(np.eye(3, dtype=bool)[y], -np.inf, votes).max(axis=1)
    np.testing.assert_allclose(model.margins_, votes[np.arange(len(y)), y] - others, **EXACT)
    assert np.mean(model.margins_ <= 0) == pytest.approx(model.training_errors_[-1])


def test_margins_are_unknown_where_a_sample_was_not_used():
    X, y = two_moons_or_so()
    weight = np.arange(len(y)) % 4
    model = AdaBoostClassifier(n_estimators=5).fit(X, y, weight)
    np.testing.assert_array_equal(np.isnan(model.margins_), weight == 0)
    expected = np.average(model.margins_[weight > 0] <= 0.2, weights=weight[weight > 0])
    np.testing.assert_allclose(model.margin_cdf(0.2), expected, **ALGEBRA)


def test_margin_cdf_wants_both_samples_and_classes():
    X, y = two_moons_or_so()
    model = AdaBoostClassifier(n_estimators=5).fit(X, y)
    with pytest.raises(ValueError, match="X and y must both be given"):
        model.margin_cdf(0.0, X)
    with pytest.raises(ValueError, match="only classes seen in fit"):
        model.margins(X, y + 5)


# ---------------------------------------------------------------- scikit-learn


def assert_same_boosting(ours, theirs, X):
    """Check members, weights, errors and whatever follows, round by round."""
    n = len(theirs.estimators_)
    assert len(ours.estimators_) == n
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_[:n], rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[:n], rtol=1e-9)
    for member, other in zip(ours.estimators_, theirs.estimators_):
        np.testing.assert_array_equal(member.predict(X), other.predict(X))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), **ALGEBRA)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), **ALGEBRA)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for name in ("staged_decision_function", "staged_predict_proba", "staged_predict"):
        for a, b in zip(getattr(ours, name)(X), getattr(theirs, name)(X), strict=True):
            np.testing.assert_allclose(a, b, **ALGEBRA)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rate", [1.0, 0.5])
@pytest.mark.parametrize("n_samples", [100, 1000])
def test_stumps_are_those_of_scikit_learn(n_samples, rate, weighted):
    X, y = two_moons_or_so(1, n_samples)
    weight = np.random.default_rng(2).exponential(size=n_samples) if weighted else None
    params = {"n_estimators": 40, "learning_rate": rate}
    ours = AdaBoostClassifier(**params).fit(X, y, weight)
    theirs = peer.AdaBoostClassifier(**params, random_state=0).fit(X, y, weight)
    assert_same_boosting(ours, theirs, X)
    for member, other in zip(ours.estimators_, theirs.estimators_):
        np.testing.assert_array_equal(member.tree_.feature, other.tree_.feature)
        np.testing.assert_allclose(member.tree_.threshold, other.tree_.threshold, **EXACT)
        np.testing.assert_allclose(member.tree_.value, other.tree_.value, **ALGEBRA)
    importances = ours.feature_importances_
    np.testing.assert_allclose(importances, theirs.feature_importances_, **ALGEBRA)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_trees_of_many_classes_are_those_of_scikit_learn(depth):
    X, y = make_gaussian_quantiles(n_samples=2000, n_features=6, n_classes=3, random_state=0)
    X = X.astype(np.float32).astype(float)
    # Large leaves: no two splits are equally good.
    rules = {"max_depth": depth, "min_samples_leaf": 30}
    ours = AdaBoostClassifier(DecisionTreeClassifier(**rules), n_estimators=15).fit(X, y)
    member = peer_tree.DecisionTreeClassifier(**rules)
    theirs = peer.AdaBoostClassifier(member, n_estimators=15, random_state=0).fit(X, y)
    assert_same_boosting(ours, theirs, X)


@pytest.mark.parametrize(
    "member",
    [
        GaussianNB(),
        LogisticRegression(C=10.0),
        peer_tree.DecisionTreeClassifier(max_depth=2, max_features=1),
        peer_tree.ExtraTreeClassifier(max_depth=3),
    ],
    ids=lambda member: type(member).__name__,
)
def test_any_classifier_is_boosted_as_in_scikit_learn(member):
    X, y = load_iris(return_X_y=True)
    params = {"n_estimators": 10, "random_state": 3}
    ours = AdaBoostClassifier(member, **params).fit(X, y)
    assert_same_boosting(ours, peer.AdaBoostClassifier(member, **params).fit(X, y), X)


@pytest.mark.parametrize("max_depth", [1, 3])
@pytest.mark.parametrize("n_classes", [2, 10])
def test_shared_columns_change_nothing(max_depth, n_classes):
    X, y = load_digits(return_X_y=True)
    y = y % n_classes  # features with few values: many ties
    ours = AdaBoostClassifier(DecisionTreeClassifier(max_depth=max_depth), n_estimators=15)
    other = AdaBoostClassifier(OtherTree(max_depth=max_depth), n_estimators=15)
    ours.fit(X, y)
    other.fit(X, y)
    np.testing.assert_array_equal(ours.estimator_weights_, other.estimator_weights_)
    for a, b in zip(ours.estimators_, other.estimators_):
        np.testing.assert_array_equal(a.tree_.feature, b.tree_.feature)
        np.testing.assert_array_equal(a.tree_.threshold, b.tree_.threshold)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_regressor_is_that_of_scikit_learn(loss, rate):
    X, y = make_friedman1(600, random_state=0)
    X = X.astype(np.float32).astype(float)
    params = {"n_estimators": 15, "loss": loss, "learning_rate": rate, "random_state": 0}
    rules = {"max_depth": 3, "min_samples_leaf": 20}
    ours = AdaBoostRegressor(DecisionTreeRegressor(**rules), bootstrap="rows", **params).fit(X, y)
    theirs = peer.AdaBoostRegressor(peer_tree.DecisionTreeRegressor(**rules), **params).fit(X, y)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), **ALGEBRA)
    for a, b in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        np.testing.assert_allclose(a, b, **ALGEBRA)
    scores = [ours.staged_score(X, y), theirs.staged_score(X, y)]
    np.testing.assert_allclose(*map(list, scores), **ALGEBRA)
    importances = ours.feature_importances_
    np.testing.assert_allclose(importances, theirs.feature_importances_, **ALGEBRA)


@pytest.mark.parametrize("member", [Ridge(), KNeighborsRegressor()])
def test_any_regressor_is_boosted_as_in_scikit_learn(member):
    X, y = make_friedman1(200, random_state=0)
    params = {"n_estimators": 8, "random_state": 1}
    ours = AdaBoostRegressor(member, bootstrap="rows", **params).fit(X, y)
    theirs = peer.AdaBoostRegressor(member, **params).fit(X, y)
    n = len(theirs.estimators_)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_[:n], rtol=1e-9)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), **ALGEBRA)


def test_members_are_searched_by_their_parameters():
    X, y = two_moons_or_so()
    grid = {"estimator__max_depth": [1, 2], "n_estimators": [5, 10]}
    search = GridSearchCV(AdaBoostClassifier(DecisionTreeClassifier()), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.7 and search.best_estimator_.estimators_[0].get_depth() <= 2


# ---------------------------------------------------------------- rounds that fail


def test_perfect_first_member_is_the_ensemble():
    X, y = [[0.0], [1.0], [2.0]], ["a", "b", "b"]
    model = AdaBoostClassifier().fit(X, y)
    assert model.stop_reason_ == "perfect" and len(model.estimators_) == 1
    np.testing.assert_array_equal(model.estimator_weights_, [1.0])
    np.testing.assert_array_equal(model.training_bound_, [0.0])
    np.testing.assert_array_equal(model.predict(X), y)


class Rising(ClassifierMixin, BaseEstimator):
    """A member that is good at first, and perfect from its fourth fit on."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        self.classes_, self.map_ = np.unique(y), dict(zip(map(tuple, X), y))
        Rising.fits += 1
        self.n_wrong_ = 3 if Rising.fits < 4 else 0
        return self

    def predict(self, X):
        answers = np.array([self.map_[tuple(row)] for row in X])
        answers[: self.n_wrong_] = self.classes_[0] + self.classes_[1] - answers[: self.n_wrong_]
        return answers


def test_perfect_member_outvotes_those_before_it():
    X, y = two_moons_or_so(n_samples=40)
    X[:3] = X[:3].round(1)
    Rising.fits = 0
    model = AdaBoostClassifier(Rising(), n_estimators=20)
    with np.errstate(all="ignore"):
        model.fit(X, np.where(y > 0, 1, 0))
    assert model.stop_reason_ in ("perfect", "weak")
    if model.stop_reason_ == "perfect":
        assert model.training_errors_[-1] == 0 == model.training_bound_[-1]
        assert model.estimator_weights_[-1] > model.estimator_weights_[:-1].sum()


def test_stumps_cannot_begin_on_xor():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    for member in (None, DecisionStump()):
        with pytest.raises(ValueError, match=r"not better than chance: its weighted error is 0\.5"):
            AdaBoostClassifier(member).fit(X, y)


def test_member_no_better_than_chance_ends_the_fit():
    # A constant feature beside one that a stump can use once.
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]])
    y = np.array([0, 0, 1, 1, 1, 0])
    model = AdaBoostClassifier().fit(X, y)
    assert model.stop_reason_ == "weak"
    # After the first round the only stump is a coin.
    assert len(model.estimators_) == len(model.estimator_weights_) == 1
    theirs = peer.AdaBoostClassifier().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), theirs.predict(X))


def test_random_members_may_try_again():
    X, y = two_moons_or_so()
    member = DummyClassifier(strategy="uniform")  # every other one is worse than chance
    with pytest.raises(ValueError, match="not better than chance"):
        AdaBoostClassifier(member, n_estimators=20, random_state=2).fit(X, y)
    some = AdaBoostClassifier(member, n_estimators=20, retries=0, random_state=1).fit(X, y)
    often = AdaBoostClassifier(member, n_estimators=20, retries=30, random_state=2).fit(X, y)
    assert some.stop_reason_ == "weak" and len(some.estimators_) < 20
    assert often.stop_reason_ == "n_estimators" and len(often.estimators_) == 20
    assert np.all(often.estimator_errors_ < 0.5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_more_members_do_not_underfit_at_a_low_learning_rate(n_classes):
    # scikit-learn #20443
    X, y = make_gaussian_quantiles(
        n_samples=1500, n_features=10, n_classes=n_classes, random_state=0
    )
    member = DecisionTreeClassifier(max_leaf_nodes=30)
    model = AdaBoostClassifier(member, n_estimators=150, learning_rate=0.1).fit(X, y)
    assert np.all(np.diff(model.training_bound_) < 0)
    assert model.training_errors_[-1] <= model.training_errors_[9]
    assert model.training_errors_[-1] < 0.01


def test_one_class_is_predicted_everywhere():
    model = AdaBoostClassifier().fit([[0.0], [1.0]], ["only", "only"])
    np.testing.assert_array_equal(model.predict([[5.0]]), ["only"])
    np.testing.assert_array_equal(model.predict_proba([[5.0]]), [[1.0]])


def test_huge_learning_rate_overflows_nowhere():
    X, y = two_moons_or_so()
    model = AdaBoostClassifier(n_estimators=30, learning_rate=1e4)
    with pytest.warns(UserWarning, match="Sample weights have reached infinite values") as caught:
        model.fit(X, y)
    assert len(caught) == 1
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.estimator_errors_).all()


def test_vote_of_one_estimator_is_one_and_its_share_for_the_other_classes():
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=1).fit(X, y)
    assert set(np.unique(model.decision_function(X))) == {-0.5, 1.0}


def test_base_estimators_may_take_samples_of_any_shape(rng):
    X, y = rng.normal(size=(51, 3, 3)), rng.integers(0, 2, 51)
    constant = AdaBoostClassifier(DummyClassifier(strategy="most_frequent")).fit(X, y)
    assert set(constant.predict(X)) == {np.bincount(y).argmax()}
    assert AdaBoostRegressor(DummyRegressor()).fit(X, y).predict(X).shape == (51,)
    with pytest.raises(ValueError, match="Found array with dim 3"):
        AdaBoostClassifier().fit(X, y)


def test_members_without_weights_are_refused():
    X, y = two_moons_or_so()
    with pytest.raises(ValueError, match="doesn't support sample_weight"):
        AdaBoostRegressor(KNeighborsRegressor(), bootstrap=False).fit(X, y)


def test_regressor_that_is_perfect_or_poor_at_once():
    X, y = np.arange(8.0)[:, None], np.repeat([0.0, 1.0], 4)
    model = AdaBoostRegressor(bootstrap=False).fit(X, y)
    assert model.stop_reason_ == "perfect"
    np.testing.assert_array_equal(model.predict(X), y)
    poor = AdaBoostRegressor(DummyRegressor(), bootstrap=False).fit(X, y)
    assert poor.stop_reason_ == "weak" and len(poor.estimators_) == 1
    np.testing.assert_allclose(poor.predict(X), 0.5)


def test_poor_first_classifier_is_an_error():
    X, y = two_moons_or_so()
    with pytest.raises(ValueError, match="not better than chance"):
        AdaBoostClassifier(DummyClassifier(strategy="constant", constant=-1)).fit(
            X, np.sort(y), np.where(np.sort(y) > 0, 3.0, 1.0)
        )


# ---------------------------------------------------------------- stopping early, going on


def test_validation_keeps_the_members_up_to_the_best_round():
    X, y = two_moons_or_so(n_samples=600)
    model = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=3),
        n_estimators=300,
        early_stopping="validation",
        n_iter_no_change=7,
        random_state=0,
    ).fit(X, y)
    assert model.stop_reason_ == "validation"
    errors = model.validation_errors_
    assert len(model.estimators_) == errors.argmin() + 1 == len(errors) - 7
    assert len(model.training_errors_) == len(model.estimators_)
    held_out = np.isnan(model.margins_)
    assert held_out.sum() == 60
    np.testing.assert_allclose(np.mean(model.predict(X[held_out]) != y[held_out]), errors.min())
    np.testing.assert_allclose(model.margins(X, y)[~held_out], model.margins_[~held_out])


def test_bound_stops_when_no_sample_can_be_wrong():
    X, y = load_digits(return_X_y=True)
    model = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=3), n_estimators=500, early_stopping="bound"
    ).fit(X, y < 5)
    assert model.stop_reason_ == "bound" and len(model.estimators_) < 500
    assert model.training_bound_[-1] < 1 / len(y) <= model.training_bound_[-2]
    assert model.training_errors_[-1] == 0


def test_validation_looks_at_a_perfect_member_too():
    X, y = np.arange(40.0)[:, None], np.repeat([0, 1], 20)
    model = AdaBoostClassifier(early_stopping="validation", random_state=0).fit(X, y)
    assert model.stop_reason_ == "perfect"
    assert len(model.validation_errors_) == len(model.estimators_) == 1


def test_regressor_stops_by_validation():
    X, y = make_friedman1(400, noise=3.0, random_state=0)
    model = AdaBoostRegressor(
        n_estimators=200, early_stopping="validation", n_iter_no_change=5, random_state=0
    ).fit(X, y)
    assert model.stop_reason_ == "validation"
    assert len(model.estimators_) == model.validation_errors_.argmin() + 1


@pytest.mark.parametrize(
    "member",
    [None, DecisionTreeClassifier(max_depth=2, max_features=1), GaussianNB()],
    ids=["stump", "random tree", "naive Bayes"],
)
def test_warm_start_ends_where_a_cold_start_does(member):
    X, y = two_moons_or_so()
    cold = AdaBoostClassifier(member, n_estimators=12, random_state=0).fit(X, y)
    warm = AdaBoostClassifier(member, n_estimators=5, random_state=0, warm_start=True).fit(X, y)
    first = warm.estimators_[0]
    warm.set_params(n_estimators=12).fit(X, y)
    assert warm.estimators_[0] is first
    np.testing.assert_allclose(warm.estimator_weights_, cold.estimator_weights_, **EXACT)
    np.testing.assert_allclose(warm.training_bound_, cold.training_bound_, **EXACT)
    np.testing.assert_allclose(warm.decision_function(X), cold.decision_function(X), **EXACT)


def test_warm_start_with_fewer_members_is_an_error():
    X, y = two_moons_or_so()
    model = AdaBoostClassifier(n_estimators=5, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="must be larger or equal to len"):
        model.set_params(n_estimators=3).fit(X, y)


@pytest.mark.parametrize("bootstrap", ["content", "rows", False])
def test_warm_start_of_a_regressor_ends_where_a_cold_start_does(bootstrap):
    X, y = make_friedman1(150, random_state=0)
    params = {"bootstrap": bootstrap, "random_state": 0}
    cold = AdaBoostRegressor(n_estimators=9, **params).fit(X, y)
    warm = AdaBoostRegressor(n_estimators=4, warm_start=True, **params).fit(X, y)
    warm.set_params(n_estimators=9).fit(X, y)
    np.testing.assert_allclose(warm.estimator_weights_, cold.estimator_weights_, **EXACT)
    np.testing.assert_allclose(warm.predict(X), cold.predict(X), **EXACT)


def test_warm_start_does_not_go_on_after_a_perfect_member():
    model = AdaBoostClassifier(n_estimators=3, warm_start=True).fit([[0.0], [1.0]], [0, 1])
    model.set_params(n_estimators=10).fit([[0.0], [1.0]], [0, 1])
    assert len(model.estimators_) == 1 and model.stop_reason_ == "perfect"


def test_warm_start_needs_what_the_members_know(rng):
    X, y = two_moons_or_so()
    model = AdaBoostClassifier(n_estimators=3, warm_start=True).fit(X, y)
    model.set_params(n_estimators=5)
    for _ in range(2):  # a failure leaves the classes as they were
        with pytest.raises(ValueError, match="same classes"):
            model.fit(X, np.where(y == y[0], 7, 8))
    with pytest.raises(ValueError, match="same features"):
        model.fit(np.hstack([X, X]), y)
    colour = pd.Series(rng.choice(["red", "green", "blue"], len(y)), dtype="category")
    frame = pd.DataFrame({"colour": colour, "x": X[:, 0]})
    for Model in (AdaBoostClassifier, AdaBoostRegressor):
        model = Model(n_estimators=3, warm_start=True, random_state=0).fit(frame, y)
        model.set_params(n_estimators=5)
        with pytest.raises(ValueError, match="and categories"):
            model.fit(frame.assign(colour=colour.cat.rename_categories({"blue": "pink"})), y)
        assert len(model.fit(frame, y).estimators_) == 5


def test_warm_start_keeps_a_weak_first_member(rng):
    X, y = rng.normal(size=(40, 1)), rng.permutation([-1.0, 1.0] * 20)
    member = DummyRegressor()  # every residual is as large as the largest
    model = AdaBoostRegressor(member, bootstrap=False, warm_start=True).fit(X, y)
    for _ in range(2):
        assert len(model.estimators_) == 1 and model.stop_reason_ == "weak"
        model.fit(X, y)


@needs_callbacks
@pytest.mark.parametrize("Model", [AdaBoostClassifier, AdaBoostRegressor])
def test_fit_that_a_callback_stops_is_a_smaller_ensemble(Model):
    X, y = two_moons_or_so()
    model = Model(random_state=0).set_callbacks(Stop(after=4)).fit(X, y)
    assert model.stop_reason_ == "callback" and len(model.estimators_) == 4
    short = Model(n_estimators=4, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), short.predict(X))


# ---------------------------------------------------------------- kinds of samples


@pytest.mark.parametrize("search", ["samples", "closures"])
def test_substring_stumps_reach_zero_error_on_generic_strings(rng, search):
    X = random_strings(rng, 14)
    for _ in range(3):
        y = rng.permutation(np.repeat(["yes", "no"], 7))
        model = AdaBoostClassifier(SubstringStump(search=search), n_estimators=3000)
        model.set_params(early_stopping="bound").fit(X, y)
        assert model.training_errors_[-1] == 0
        np.testing.assert_array_equal(model.predict(X), y)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), y)


def test_trees_take_categories_and_missing_values():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"colour": rng.choice(list("rgbcmy"), 300), "size": rng.normal(size=300)})
    y = X["colour"].isin(["r", "c"]) ^ (X["size"] > 0.5)
    X["colour"] = X["colour"].astype("category")
    X.loc[::7, "size"] = np.nan
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=30).fit(X, y)
    assert model.score(X, y) > 0.9
    assert list(model.feature_names_in_) == ["colour", "size"]
    assert AdaBoostClassifier().fit(X, y).score(X, y) > 0.6
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X.rename(columns={"size": "other"}))


def test_sparse_samples_are_for_members_that_take_them():
    X, y = two_moons_or_so()
    member = LogisticRegression(C=10.0)
    dense = AdaBoostClassifier(member, n_estimators=5).fit(X, y)
    sparse = AdaBoostClassifier(member, n_estimators=5).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(
        sparse.decision_function(sp.csr_array(X)), dense.decision_function(X), **ALGEBRA
    )
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        AdaBoostClassifier(DecisionStump()).fit(sp.csr_array(X), y)


# ---------------------------------------------------------------- weights


@pytest.mark.parametrize("member", [None, DecisionStump(), DecisionTreeClassifier(max_depth=3)])
def test_rounds_do_not_depend_on_order_or_repetition(rng, member):
    X, y = rng.integers(0, 4, (60, 3)).astype(float), rng.integers(0, 2, 60)
    times = rng.integers(1, 5, 60)
    weighted = AdaBoostClassifier(member, n_estimators=25).fit(X, y, times)
    rows = rng.permutation(np.repeat(np.arange(60), times))
    repeated = AdaBoostClassifier(member, n_estimators=25).fit(X[rows], y[rows])
    np.testing.assert_array_equal(weighted.estimator_weights_, repeated.estimator_weights_)
    np.testing.assert_array_equal(weighted.training_bound_, repeated.training_bound_)
    np.testing.assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))


@pytest.mark.parametrize("member", [None, KNeighborsRegressor()], ids=str)
@pytest.mark.parametrize("largest", [4, 60])  # few copies of a row, or many
def test_draws_of_regressors_do_not_depend_on_order_or_repetition(rng, largest, member):
    X, y = rng.integers(0, 4, (60, 3)).astype(float), rng.integers(0, 3, 60) / 4
    times = rng.integers(1, largest + 1, 60)
    model = AdaBoostRegressor(member, n_estimators=5, random_state=0)
    weighted = clone(model).fit(X, y, times)
    rows = rng.permutation(np.repeat(np.arange(60), times))
    repeated = clone(model).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.estimator_weights_, repeated.estimator_weights_, **ALGEBRA)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), **ALGEBRA)


def test_scale_of_the_weights_does_not_matter(rng):
    X, y = two_moons_or_so()
    weight = rng.exponential(size=len(y))
    plain = AdaBoostClassifier(n_estimators=20).fit(X, y, weight)
    for scale in (2.0**-500, 2.0**500):
        scaled = AdaBoostClassifier(n_estimators=20).fit(X, y, weight * scale)
        np.testing.assert_array_equal(scaled.estimator_weights_, plain.estimator_weights_)


def test_regressors_draw_by_content_what_they_draw_by_rows_on_average():
    # The draws of one round have the weights as expected frequencies, whatever the order.
    X, y = make_friedman1(30, random_state=0)
    weight = np.arange(1.0, 31.0)
    totals = []
    for bootstrap in ("content", "rows"):
        counts = np.zeros(30)
        for seed in range(400):
            model = AdaBoostRegressor(
                CountingMean(), n_estimators=1, bootstrap=bootstrap, random_state=seed
            ).fit(X, y, weight)
            counts += np.isin(X[:, 0], model.estimators_[0].seen_)
        totals.append(counts / 400)
    # A row is drawn at least once with probability 1 - (1 - p)**n_draws.
    p = weight / weight.sum()
    for found, n_draws in zip(totals, (weight.sum(), 30)):
        np.testing.assert_allclose(found, 1 - (1 - p) ** n_draws, atol=0.1)


class CountingMean(DummyRegressor):
    """A mean that remembers the first feature of the samples that it has seen."""

    def fit(self, X, y):
        self.seen_ = np.unique(X[:, 0])
        return super().fit(X, y)


# ---------------------------------------------------------------- weighted median


@given(st.integers(0, 10**6), st.integers(1, 9))
def test_weighted_median_has_half_of_the_weight_on_either_side(seed, n_members):
    rng = np.random.default_rng(seed)
    table, weight = (
        rng.integers(0, 5, (20, n_members)).astype(float),
        rng.exponential(size=n_members),
    )
    half = 0.5 * weight.sum()
    for row, median in zip(table, weighted_median(table, weight)):
        assert median in row
        assert weight[row <= median].sum() >= half * (1 - 1e-12)
        assert weight[row >= median].sum() >= half * (1 - 1e-12)


def test_fitted_ensemble_can_be_cloned_and_pickled():
    X, y = two_moons_or_so()
    for model in (AdaBoostClassifier(), AdaBoostClassifier(DecisionStump())):
        model.fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
        refitted = clone(model).fit(X, y)
        np.testing.assert_array_equal(refitted.margins_, model.margins_)


def test_draws_are_counted_as_they_are_listed(rng):
    for order in (None, rng.permutation(50)):
        draws = Draws(rng.exponential(size=50), order, rng.random(200))
        np.testing.assert_array_equal(draws.times(), np.bincount(draws.rows(), minlength=50))
