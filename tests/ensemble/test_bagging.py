"""Bagging: the mean of members fitted by hand, for members of every kind."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from _callbacks import Stop
from conftest import ALGEBRA, EXACT, needs_callbacks, scikit_learn_before
from sklearn import ensemble as peer
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_friedman1
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.fixes import parse_version

from sklearn_sl.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    RandomForestClassifier,
)
from sklearn_sl.ensemble._base_estimators import make_base_estimator
from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


class OtherTree(DecisionTreeClassifier):
    """A tree that the ensembles do not know, and fit like any other classifier."""


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps what it is fitted to; its ``fit`` returns nothing."""

    def fit(self, X, y):
        self.X_, self.y_, self.classes_ = X, y, np.unique(y)

    def predict(self, X):
        return np.zeros(X.shape[0], dtype=int)


def counts_of(model, n_samples):
    """Return how often each member drew each row."""
    return [np.bincount(rows, minlength=n_samples) for rows in model.estimators_samples_]


# ---------------------------------------------------------------- the mean of members


def test_cost_does_not_grow_with_the_weights_unless_members_need_copies(rng):
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 2, 50)
    weight = np.full(50, 1e12)
    for member in (None, GaussianNB()):
        model = BaggingClassifier(member, n_estimators=3, random_state=0)
        model.fit(X, y, sample_weight=weight)
        # With so many copies of each row a bootstrap sample is nearly the training set.
        counts = model._resamplings[0].counts(model._seeds[0])
        np.testing.assert_allclose(counts, weight, rtol=1e-4)
    with pytest.raises(ValueError, match="divide sample_weight by a common factor"):
        BaggingClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("member", [None, DecisionTreeClassifier(max_depth=3), OtherTree()])
def test_bagging_is_the_mean_of_trees_fitted_to_the_counts(member):
    X, y = IRIS
    model = BaggingClassifier(member, n_estimators=7, random_state=0).fit(X, y)
    template = DecisionTreeClassifier() if member is None else member
    by_hand = [
        clone(template).fit(X, y, sample_weight=counts).predict_proba(X)
        for counts in counts_of(model, len(y))
    ]
    np.testing.assert_allclose(model.predict_proba(X), np.mean(by_hand, axis=0), **EXACT)


def test_members_that_are_known_and_others_give_the_same_ensemble():
    X, y = IRIS
    how = {"n_estimators": 5, "random_state": 3, "max_features": 0.5, "max_samples": 0.6}
    known = BaggingClassifier(DecisionTreeClassifier(), **how).fit(X, y)
    other = BaggingClassifier(OtherTree(), **how).fit(X, y)
    np.testing.assert_array_equal(known.predict_proba(X), other.predict_proba(X))
    for first, second in zip(known.estimators_features_, other.estimators_features_, strict=True):
        np.testing.assert_array_equal(first, second)


def test_bagged_regression_trees_are_averaged():
    X, y = DIABETES
    model = BaggingRegressor(n_estimators=5, random_state=0).fit(X, y)
    by_hand = [
        DecisionTreeRegressor().fit(X, y, sample_weight=counts).predict(X)
        for counts in counts_of(model, len(y))
    ]
    np.testing.assert_allclose(model.predict(X), np.mean(by_hand, axis=0), **EXACT)


@pytest.mark.parametrize("member", [KNeighborsRegressor(3), Ridge(), make_pipeline(Ridge())])
def test_any_regressor_is_fitted_to_the_rows_that_were_drawn(member):
    X, y = DIABETES
    model = BaggingRegressor(member, n_estimators=4, random_state=0).fit(X, y)
    by_hand = [clone(member).fit(X[rows], y[rows]).predict(X) for rows in model.estimators_samples_]
    np.testing.assert_allclose(model.predict(X), np.mean(by_hand, axis=0), **ALGEBRA)


@pytest.mark.parametrize("weight", [None, [0, 1, 2, 3, 1]])
def test_samples_that_were_drawn_are_those_that_base_estimators_were_fitted_to(weight):
    X, y = np.arange(10.0).reshape(5, 2), np.array([0, 1, 0, 1, 1])
    model = BaggingClassifier(Recorder(), n_estimators=5, random_state=0)
    model.fit(X, y, sample_weight=weight)
    for estimator, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        np.testing.assert_array_equal(estimator.X_, X[rows])
        np.testing.assert_array_equal(estimator.y_, y[rows])


def test_members_see_their_features_only():
    X, y = DIABETES
    model = BaggingRegressor(Ridge(), n_estimators=4, max_features=3, random_state=0).fit(X, y)
    by_hand = [
        Ridge().fit(X[rows][:, features], y[rows]).predict(X[:, features])
        for rows, features in zip(
            model.estimators_samples_, model.estimators_features_, strict=True
        )
    ]
    np.testing.assert_allclose(model.predict(X), np.mean(by_hand, axis=0), **ALGEBRA)


def test_trees_on_features_that_were_drawn_twice():
    X, y = IRIS
    model = BaggingClassifier(
        n_estimators=5, max_features=4, bootstrap_features=True, random_state=0
    ).fit(X, y)
    by_hand = [
        member.predict_proba(X[:, features])
        for member, features in zip(model, model.estimators_features_, strict=True)
    ]
    assert any(len(np.unique(features)) < 4 for features in model.estimators_features_)
    np.testing.assert_allclose(model.predict_proba(X), np.mean(by_hand, axis=0), **EXACT)


def test_without_resampling_every_member_is_the_tree():
    X, y = IRIS
    weight = np.arange(len(y)) % 3 + 0.5
    model = BaggingClassifier(n_estimators=3, bootstrap=False, random_state=0)
    model.fit(X, y, sample_weight=weight)
    tree = DecisionTreeClassifier(max_depth=2).fit(X, y, sample_weight=weight)
    model.set_params(estimator=DecisionTreeClassifier(max_depth=2)).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.predict_proba(X), tree.predict_proba(X), **EXACT)


def test_weights_without_resampling_reach_members_as_repetitions():
    X, y = IRIS
    times = np.arange(len(y)) % 3
    model = BaggingClassifier(KNeighborsClassifier(4), n_estimators=1, bootstrap=False)
    model.fit(X, y, sample_weight=times)
    wanted = KNeighborsClassifier(4).fit(X.repeat(times, axis=0), y.repeat(times))
    np.testing.assert_allclose(model.predict_proba(X), wanted.predict_proba(X), **EXACT)
    with pytest.raises(ValueError, match="whose fit takes no weights"):
        model.fit(X, y, sample_weight=times + 0.5)


def test_average_and_vote():
    X, y = load_breast_cancer(return_X_y=True)
    member = DecisionTreeClassifier(max_depth=1)
    for estimator in (member, LogisticRegression(max_iter=5000)):
        model = BaggingClassifier(estimator, n_estimators=5, random_state=0)
        X_scaled = StandardScaler().fit_transform(X)
        average = model.fit(X_scaled, y).predict_proba(X_scaled)
        vote = clone(model).set_params(voting="vote").fit(X_scaled, y).predict_proba(X_scaled)
        shares = [m.predict_proba(X_scaled) for m in model]
        np.testing.assert_allclose(average, np.mean(shares, axis=0), **EXACT)
        votes = [np.eye(2)[share.argmax(axis=1)] for share in shares]
        np.testing.assert_allclose(vote, np.mean(votes, axis=0), **EXACT)


def test_voting_may_change_after_the_fit():
    X, y = IRIS
    model = BaggingClassifier(DecisionTreeClassifier(max_depth=1), random_state=0).fit(X, y)
    wanted = clone(model).set_params(voting="vote").fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(model.set_params(voting="vote").predict_proba(X), wanted)


def test_members_without_probabilities_vote():
    X, y = IRIS
    model = BaggingClassifier(LinearSVC(), n_estimators=5, random_state=0).fit(X, y)
    votes = [np.eye(3)[member.predict(X)] for member in model]
    np.testing.assert_allclose(model.predict_proba(X), np.mean(votes, axis=0), **EXACT)


def test_member_that_has_not_seen_a_class_gives_it_no_share(rng):
    X = rng.normal(size=(40, 2))
    y = np.where(np.arange(40) == 0, "rare", np.where(X[:, 0] > 0, "yes", "no"))
    model = BaggingClassifier(KNeighborsClassifier(1), n_estimators=20, random_state=0).fit(X, y)
    assert {len(member.classes_) for member in model} == {2, 3}
    shares = model.predict_proba(X)
    assert shares.shape == (40, 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1, **EXACT)
    knowing = [set(rows) >= {0} for rows in model.estimators_samples_]
    np.testing.assert_allclose(shares[0, 1], np.mean(knowing), **EXACT)


def test_logarithms_and_decisions_are_averaged_as_in_scikit_learn():
    X, y = IRIS
    model = BaggingClassifier(LogisticRegression(max_iter=1000), n_estimators=4, random_state=0)
    model.fit(X, y)
    np.testing.assert_allclose(
        model.predict_log_proba(X), np.log(model.predict_proba(X)), **ALGEBRA
    )
    decisions = [member.decision_function(X) for member in model]
    np.testing.assert_allclose(model.decision_function(X), np.mean(decisions, axis=0), **EXACT)
    assert not hasattr(BaggingClassifier(), "decision_function")
    assert not hasattr(BaggingClassifier().fit(X, y), "decision_function")


class Decider(BaseEstimator):
    """Has a decision function, and does not tell its classes."""

    def fit(self, X, y):
        self.fitted_ = True

    def predict(self, X):
        return np.zeros(len(X), dtype=int)

    def decision_function(self, X):
        return X[:, 0]


def test_base_estimators_need_not_tell_their_classes_to_decide():
    X, y = load_iris(return_X_y=True)
    model = BaggingClassifier(Decider(), n_estimators=3).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), X[:, 0], **EXACT)


def test_several_targets():
    X, y = DIABETES
    Y = np.column_stack([y, -2 * y])
    for member in (None, Ridge()):
        model = BaggingRegressor(member, n_estimators=5, oob_score=False, random_state=0)
        predictions = model.fit(X, Y).predict(X)
        assert predictions.shape == Y.shape
        np.testing.assert_allclose(predictions[:, 1], -2 * predictions[:, 0], **ALGEBRA)


# ---------------------------------------------------------------- inputs


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.csr_matrix])
def test_sparse_samples_give_the_ensemble_of_dense_ones(form):
    X, y = IRIS
    X = np.where(X > 3, X + 1e-3 * np.arange(len(X))[:, None], 0)  # without copies
    model = BaggingClassifier(
        MultinomialNB(), n_estimators=30, max_features=0.8, oob_score=True, random_state=0
    )
    dense, sparse = clone(model).fit(X, y), clone(model).fit(form(X), y)
    np.testing.assert_allclose(sparse.predict_proba(form(X)), dense.predict_proba(X), **EXACT)
    np.testing.assert_allclose(sparse.oob_decision_function_, dense.oob_decision_function_, **EXACT)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.csc_matrix])
def test_base_estimators_get_the_format_of_sparse_samples(form):
    X, y = IRIS
    model = BaggingClassifier(Recorder(), n_estimators=3, random_state=0).fit(form(X), y)
    assert {type(estimator.X_) for estimator in model.estimators_} == {form}


def colours(rng, n=200):
    """Return a frame with categories, one of which decides the class."""
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], n)),
            "size": pd.Categorical(rng.choice([1, 2, 3, 4], n)),
        }
    )
    frame.loc[::17, "colour"] = None
    return frame, np.where(frame["colour"] == "green", "stop", "go")


def test_members_on_some_features_know_their_categories(rng):
    X, y = colours(rng)
    model = BaggingClassifier(n_estimators=12, max_features=2, random_state=0).fit(X, y)
    whole = BaggingClassifier(n_estimators=12, random_state=0).fit(X, y)
    assert whole.score(X, y) == 1
    by_hand = [
        member.predict_proba(X.iloc[:, features].to_numpy(dtype=object))
        for member, features in zip(model, model.estimators_features_, strict=True)
    ]
    np.testing.assert_allclose(model.predict_proba(X), np.mean(by_hand, axis=0), **EXACT)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))


def test_words_can_be_bagged_if_the_members_take_them(rng):
    class Echo(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_, self.known_ = np.unique(y), dict(zip(X[:, 0], y, strict=True))
            return self

        def predict(self, X):
            return np.array([self.known_.get(word, 0) for word in X[:, 0]])

    X = np.array([["tea"], ["milk"], ["tea"], ["milk"]] * 5, dtype=object)
    y = np.array([0, 1, 0, 1] * 5)
    model = BaggingClassifier(Echo(), random_state=0).fit(X, y)
    assert model.score(X, y) == 1


def test_wrong_parameters_are_told():
    X, y = IRIS
    with pytest.raises(ValueError, match="max_features must be <= n_features"):
        BaggingClassifier(max_features=5).fit(X, y)
    with pytest.raises(ValueError, match="without replacement"):
        BaggingClassifier(max_samples=151, bootstrap=False).fit(X, y)
    with pytest.raises(ValueError, match="monotonic_cst"):
        BaggingClassifier(DecisionTreeClassifier(monotonic_cst=[1, 0, 0])).fit(X, y)
    with pytest.raises(ValueError, match="max_depth"):
        BaggingClassifier(DecisionTreeClassifier(max_depth=-1)).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        BaggingRegressor().fit(X, np.where(y == 1, np.nan, y))
    with pytest.raises(ValueError, match="weight"):
        BaggingRegressor().fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match="y to be passed"):
        BaggingRegressor().fit(X, None)


@pytest.mark.parametrize("Ensemble", [BaggingClassifier, AdaBoostClassifier])
def test_complaints_of_other_features_name_the_ensemble_and_come_once(rng, Ensemble):
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    frame = pd.DataFrame(X, columns=list("abc"))
    model = Ensemble(n_estimators=3, random_state=0).fit(frame, y)
    answers = model.predict(frame)
    with pytest.warns(UserWarning, match="feature names") as told:
        np.testing.assert_array_equal(model.predict(X), answers)
    assert [Ensemble.__name__ in str(one.message) for one in told] == [True]
    with pytest.raises(ValueError, match=f"{Ensemble.__name__} is expecting 3 features"):
        model.fit(X, y).predict(X[:, :2])


def test_signature_is_that_of_the_peer_and_more():
    for ours, theirs in (
        (BaggingClassifier, peer.BaggingClassifier),
        (BaggingRegressor, peer.BaggingRegressor),
    ):
        params = ours().get_params()
        wanted = theirs().get_params()
        if scikit_learn_before("1.8"):
            assert wanted.pop("max_samples") == 1.0  # of the rows; since then None, of the weight
        assert {**params, **wanted} == params


# ---------------------------------------------------------------- jobs, backends, warm start


def test_every_number_of_jobs_and_backend_gives_the_same(rng):
    X, y = make_friedman1(300, random_state=0)
    for member in (None, Ridge(), KNeighborsRegressor()):
        model = BaggingRegressor(member, n_estimators=5, max_features=0.7, random_state=0)
        wanted = model.fit(X, y).predict(X)
        # Processes take seconds to start: one kind of them for each member.
        backends = ("loky", "threading") if member is None else ("multiprocessing", "sequential")
        for backend in backends:
            with joblib.parallel_backend(backend, n_jobs=2):
                np.testing.assert_array_equal(clone(model).fit(X, y).predict(X), wanted)
    trees = BaggingRegressor(n_estimators=5, random_state=0)
    wanted = trees.fit(X, y).predict(X)
    for n_jobs in (2, 3):
        other = clone(trees).set_params(n_jobs=n_jobs).fit(X, y)
        np.testing.assert_array_equal(other.predict(X), wanted)
    model = BaggingRegressor(Ridge(), n_estimators=5, random_state=0)
    several = clone(model).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(several.predict(X), model.fit(X, y).predict(X))


@pytest.mark.parametrize("member", [None, GaussianNB()])
def test_warm_start_is_a_cold_start_with_as_many_members(member):
    X, y = IRIS
    model = BaggingClassifier(member, n_estimators=4, warm_start=True, random_state=0)
    model.fit(X, y)
    first = list(model.estimators_)
    model.set_params(n_estimators=9).fit(X, y)
    cold = BaggingClassifier(member, n_estimators=9, random_state=0).fit(X, y)
    assert all(a is b for a, b in zip(model.estimators_, first, strict=False))
    np.testing.assert_array_equal(model.predict_proba(X), cold.predict_proba(X))
    for warm, wanted in zip(model.estimators_samples_, cold.estimators_samples_, strict=True):
        np.testing.assert_array_equal(warm, wanted)


def test_warm_start_goes_on_with_a_random_state_instance():
    X, y = IRIS
    model = BaggingClassifier(
        n_estimators=4, warm_start=True, random_state=np.random.RandomState(5)
    ).fit(X, y)
    model.set_params(n_estimators=9).fit(X, y)
    cold = BaggingClassifier(n_estimators=9, random_state=np.random.RandomState(5)).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), cold.predict_proba(X))


def test_warm_start_complains():
    X, y = IRIS
    model = BaggingClassifier(n_estimators=5, warm_start=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="n_estimators=3 must be larger"):
        clone_of_fitted(model).set_params(n_estimators=3).fit(X, y)
    with pytest.warns(UserWarning, match="does not fit new"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="same classes"):
        clone_of_fitted(model).set_params(n_estimators=6).fit(X, y + 1)
    with pytest.raises(ValueError, match="features"):
        clone_of_fitted(model).set_params(n_estimators=6).fit(X[:, :3], y)


def test_warm_start_needs_the_categories_that_the_members_know(rng):
    X, y = colours(rng)
    for model in (BaggingClassifier(n_estimators=2), RandomForestClassifier(2)):
        model.set_params(warm_start=True, random_state=0).fit(X, y)
        known = clone_of_fitted(model).set_params(n_estimators=4).fit(X[::-1], y[::-1])
        assert len(known) == 4
        other = X.assign(colour=X["colour"].cat.rename_categories({"blue": "pink"}))
        with pytest.raises(ValueError, match="same categories"):
            model.set_params(n_estimators=4).fit(other, y)
        assert len(model) == 2


def clone_of_fitted(model):
    """Return a fitted copy."""
    return pickle.loads(pickle.dumps(model))


def test_members_have_seeds_of_their_own():
    X, y = IRIS
    member = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_features=1))
    model = BaggingClassifier(member, n_estimators=5, random_state=0).fit(X, y)
    seeds = [m.get_params()["decisiontreeclassifier__random_state"] for m in model]
    assert len(set(seeds)) == 5
    assert make_base_estimator(DecisionTreeClassifier(), 7).random_state == 7


@needs_callbacks
@pytest.mark.parametrize("member", [None, GaussianNB()])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_callback_that_stops_leaves_a_smaller_ensemble(member, n_jobs):
    X, y = IRIS
    model = BaggingClassifier(member, n_estimators=20, n_jobs=n_jobs, random_state=0)
    model.set_callbacks(Stop(after=3)).fit(X, y)
    assert len(model) == 3
    wanted = BaggingClassifier(member, n_estimators=3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), wanted.predict_proba(X))


@pytest.mark.parametrize("member", [None, GaussianNB()])
def test_verbose_tells_what_is_built(member, capsys):
    X, y = IRIS
    BaggingClassifier(member, n_estimators=3, verbose=2, random_state=0).fit(X, y)
    told = capsys.readouterr()
    assert "2 of 3" in told.out
    if member is None or parse_version(joblib.__version__) >= parse_version("1.6"):
        # joblib 1.4 says nothing at the end of so few jobs, one after the other.
        assert "Done   3 out of   3" in told.err


# ---------------------------------------------------------------- routing of metadata


class Listener(ClassifierMixin, BaseEstimator):
    """Remembers what it was given."""

    def fit(self, X, y, sample_weight=None, groups=None):
        self.classes_ = np.unique(y)
        self.got_ = {"n": len(X), "sample_weight": sample_weight, "groups": groups}
        self.rows_ = X
        return self

    def predict_proba(self, X, mood=None):
        self.mood_ = mood
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def test_metadata_without_routing_is_an_error():
    X, y = IRIS
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        BaggingClassifier(Listener()).fit(X, y, groups=y)
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        BaggingClassifier(Listener()).fit(X, y).predict(X, mood="good")


def test_members_get_the_metadata_of_their_rows():
    X, y = IRIS
    X = X + 1e-6 * np.arange(len(X))[:, None]
    groups = 1000 * X[:, 0]
    with sklearn.config_context(enable_metadata_routing=True):
        member = Listener().set_fit_request(sample_weight=False, groups=True)
        member.set_predict_proba_request(mood=True)
        weight = np.arange(len(y)) % 2
        model = BaggingClassifier(member, n_estimators=3, random_state=0)
        model.fit(X, y, sample_weight=weight, groups=groups)
        model.predict(X, mood="good")
    for fitted in model:
        assert fitted.got_["sample_weight"] is None  # asked not to get it: rows are repeated
        np.testing.assert_array_equal(fitted.got_["groups"], 1000 * fitted.rows_[:, 0])
        assert len(fitted.rows_) == weight.sum()
        assert fitted.mood_ == "good"


def test_requested_counts_reach_the_members():
    X, y = IRIS
    with sklearn.config_context(enable_metadata_routing=True):
        member = Listener().set_fit_request(sample_weight=True)
        model = BaggingClassifier(member, n_estimators=3, random_state=0).fit(X, y)
    for fitted in model:
        assert fitted.got_["sample_weight"].sum() == len(y)


# ---------------------------------------------------------------- beside scikit-learn


def test_bagging_is_as_good_as_the_peers():
    X, y = make_friedman1(400, noise=1.0, random_state=0)
    X_test, y_test = make_friedman1(2000, noise=1.0, random_state=1)
    ours, theirs = (
        [
            Bagging(n_estimators=40, random_state=seed).fit(X, y).score(X_test, y_test)
            for seed in range(5)
        ]
        for Bagging in (BaggingRegressor, peer.BaggingRegressor)
    )
    assert abs(np.mean(ours) - np.mean(theirs)) < 4 * np.hypot(np.std(ours), np.std(theirs)) / 2


def test_bagged_support_vector_machines():
    X, y = IRIS
    model = BaggingClassifier(SVC(), n_estimators=10, max_samples=50, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.decision_function(X).shape == (150, 3)
