"""What is certain of a fitted model: statements are those of the theorems, and hold as often."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.stats import binom
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier as PeerForest
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_sl.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn_sl.inspection import certify
from sklearn_sl.kernel_ridge import KernelRidge
from sklearn_sl.kernels import Gaussian
from sklearn_sl.svm import SVC, SVCCV
from sklearn_sl.theory import (
    compression_bound,
    validation_bound,
    vote_bound,
    vote_margin_bound,
)
from sklearn_sl.tree import DecisionTreeClassifier

EXACT_BOUND = "error rate, exact binomial bound"
HOEFFDING = "error rate, Hoeffding's bound"
SUPPORT = "error rate, by the support vectors"
VOTE = "error rate, PAC-Bayes by out-of-bag samples"


@pytest.fixture(scope="module")
def halves():
    X, y = make_classification(600, 5, n_informative=4, n_redundant=0, flip_y=0.05, random_state=0)
    return X[:300], y[:300], X[300:], y[300:]


def test_validation_bounds_are_those_of_the_errors(halves):
    X, y, X_val, y_val = halves
    model = LogisticRegression().fit(X, y)
    report = certify(model, X_val, y_val, delta=0.1, n_compared=7)
    errors = int(np.sum(model.predict(X_val) != y_val))
    for name, method in ((EXACT_BOUND, "binomial"), (HOEFFDING, "hoeffding")):
        expected = validation_bound(errors, 300, 0.1, n_compared=7, sides=1, method=method).upper
        statement = report[f"{name}, best of 7"]
        assert statement.value == expected
        assert statement.confidence == 0.9
        assert not statement.vacuous


def test_exact_bound_holds_as_often_as_it_says(rng):
    # A model of a known error, judged by 2,000 validation sets.
    model = DummyClassifier(strategy="constant", constant=0).fit([[0], [0]], [0, 1])
    truth, n, below = 0.3, 40, 0
    for errors in rng.binomial(n, truth, 2_000):
        bound = validation_bound(int(errors), n, 0.2, sides=1).upper
        below += bound < truth
    assert below / 2_000 <= 0.2 + 3 * np.sqrt(0.2 * 0.8 / 2_000)
    y = (np.arange(n) < 12).astype(int)
    assert certify(model, np.zeros((n, 1)), y, delta=0.2)[EXACT_BOUND].value == pytest.approx(
        validation_bound(12, n, 0.2, sides=1).upper
    )


def test_statement_that_the_commonest_class_meets_is_vacuous():
    model = DummyClassifier(strategy="most_frequent").fit([[0]] * 10, [0] * 9 + [1])
    statement = certify(model, np.zeros((100, 1)), np.arange(100) < 10)[EXACT_BOUND]
    assert statement.vacuous
    assert "Always the commonest class errs on 0.1." in statement.meaning


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_quantiles_of_the_absolute_error_are_below_the_bound_as_often_as_it_says(rng, share):
    # The prediction is zero, so that the errors have the distribution of the targets.
    model = DummyRegressor(strategy="constant", constant=0.0).fit([[0.0]], [0.0])
    truth, X = stats.t(2).ppf((1 + share) / 2), np.zeros((60, 1))
    held = [
        certify(model, X, y, delta=0.2)[f"absolute error of {share:.0%}"].value >= truth
        for y in rng.standard_t(2, (2_000, 60))
    ]
    # Not less often than it says, and not much more: the ranks are whole numbers.
    assert 0.8 - 3 * np.sqrt(0.16 / 2_000) <= np.mean(held) <= 0.9


def test_ranks_are_the_smallest_that_hold():
    X, y = load_diabetes(return_X_y=True)
    model = LinearRegression().fit(X[:300], y[:300])
    errors = np.sort(np.abs(model.predict(X[300:]) - y[300:]))
    statement = certify(model, X[300:], y[300:], delta=0.05)["absolute error of 90%"]
    rank = int(np.searchsorted(errors, statement.value)) + 1
    assert binom.sf(rank - 1, len(errors), 0.9) <= 0.05 < binom.sf(rank - 2, len(errors), 0.9)


def test_too_few_samples_say_nothing_about_most_errors():
    model = LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    statement = certify(model, [[0.0], [2.0]], [0.0, 1.0])["absolute error of 90%"]
    assert statement.value == np.inf
    assert statement.vacuous
    json.dumps(certify(model, [[0.0], [2.0]], [0.0, 1.0]).to_dict())


def test_search_is_recognised_and_its_candidates_are_counted(halves):
    X, y, X_val, y_val = halves
    search = GridSearchCV(SVC(gamma=0.1), {"C": [0.1, 1.0, 10.0]}, cv=3).fit(X, y)
    report = certify(search, X_val, y_val)
    new, best = report[EXACT_BOUND], report[f"{EXACT_BOUND}, best of 3"]
    assert new.value < best.value
    assert "used for nothing else" in new.assumptions
    assert "compared on them" in best.assumptions
    assert report["mean score, best of 3"].value == search.best_score_
    assert report["mean score, best of 3"].kind == "estimate"


def test_candidates_of_halving_count_once(halves):
    X, y, X_val, y_val = halves
    search = HalvingGridSearchCV(
        LogisticRegression(), {"C": [0.1, 1.0, 10.0, 100.0]}, cv=3, random_state=0
    ).fit(X, y)
    assert len(search.cv_results_["params"]) > 4
    assert f"{EXACT_BOUND}, best of 4" in [s.name for s in certify(search, X_val, y_val)]


def test_certificates_of_the_model_are_listed(halves):
    X, y, *_ = halves
    model = AdaBoostClassifier(n_estimators=20).fit(X, y)
    assert certify(model)["training bound"].value == model.training_bound_[-1]
    machine = make_pipeline(StandardScaler(), SVC(gamma=0.1)).fit(X, y)
    gap = machine[-1].duality_gap_[0] / machine[-1].primal_objective_[0]
    assert certify(machine)["gap"].value == pytest.approx(gap)
    assert certify(LogisticRegression().fit(X, y)).statements == ()


def test_support_vectors_are_a_compression(halves):
    X, y, *_ = halves
    model = SVC(gamma=0.1).fit(X, y)
    report = certify(model, X_train=X, y_train=y)
    assert report[SUPPORT].value == compression_bound(len(y), len(model.support_))
    assert report["share of support vectors"].value == len(model.support_) / len(y)
    # Without the other samples the machine is the same.
    rest = SVC(gamma=0.1, tol=1e-10).fit(X, y)
    again = SVC(gamma=0.1, tol=1e-10).fit(X[rest.support_], y[rest.support_])
    np.testing.assert_allclose(
        again.decision_function(X), rest.decision_function(X), rtol=1e-5, atol=1e-5
    )


def test_training_statements_of_a_search_hold_for_all_its_candidates(halves):
    X, y, *_ = halves
    search = GridSearchCV(SVC(gamma=0.1), {"C": [0.1, 1.0, 10.0]}, cv=3).fit(X, y)
    kept = len(search.best_estimator_.support_)
    report = certify(search, X_train=X, y_train=y, delta=0.06)
    assert report[SUPPORT].value == compression_bound(len(y), kept, delta=0.02)
    assert report[SUPPORT].confidence == 0.94
    forests = GridSearchCV(RandomForestClassifier(20, random_state=0), {"max_depth": [3, None]})
    chosen = forests.fit(X, y)
    alone = certify(chosen.best_estimator_, X_train=X, y_train=y)[VOTE]
    assert certify(chosen, X_train=X, y_train=y)[VOTE].value > alone.value
    own = SVCCV([0.1, 1.0], gamma=0.1).fit(X, y)
    assert "same samples" in certify(own, X_train=X, y_train=y).omitted[SUPPORT]


def test_kernel_objects_do_not_depend_on_the_samples(halves):
    X, y, *_ = halves
    model = SVC(kernel=Gaussian(gamma=0.1)).fit(X, y)
    assert model.gamma == "scale"
    assert certify(model, X_train=X, y_train=y)[SUPPORT].value < 1


@pytest.mark.parametrize("options", [{}, {"gamma": 0.1, "class_weight": "balanced"}])
def test_machines_that_depend_on_all_samples_have_no_compression_bound(halves, options):
    X, y, *_ = halves
    report = certify(SVC(**options).fit(X, y), X_train=X, y_train=y)
    assert "depend" in report.omitted[SUPPORT]
    with pytest.raises(KeyError, match="on all samples"):
        report[SUPPORT]


def test_leave_one_out_errors_are_listed(halves):
    X, y, *_ = halves
    model = SVC(gamma=0.1).fit(X, y)
    report = certify(model, X_train=X, y_train=y)
    assert report["leave-one-out error"].value == model.loo_error(X, y)
    assert report["leave-one-out error"].kind == "estimate"


def test_boosted_stumps_have_a_bound_by_their_margins(halves):
    X, y, *_ = halves
    model = AdaBoostClassifier(n_estimators=20).fit(X, y)
    statement = certify(model, X_train=X, y_train=y)["error rate, by the margins"]
    growth = np.log(2 * (X.shape[1] * (len(y) - 1) + 1))
    assert statement.value == vote_margin_bound(model.margins(X, y), growth)
    assert statement.vacuous
    deep = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=5).fit(X, y)
    assert "stumps" in certify(deep, X_train=X, y_train=y).omitted["error rate, by the margins"]


@pytest.mark.parametrize("make", [RandomForestClassifier, PeerForest])
def test_forests_have_a_bound_by_their_out_of_bag_samples(make):
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    forest = make(30, random_state=0).fit(X, names)
    errors, sizes = [], []
    for tree, drawn in zip(forest.estimators_, forest.estimators_samples_):
        left = np.setdiff1d(np.arange(150), drawn)
        answers = tree.predict(X[left])
        known = answers if answers.dtype.kind == "U" else names[[0, 50, 100]][answers.astype(int)]
        errors.append(np.mean(known != names[left]))
        sizes.append(len(left))
    report = certify(forest, X_train=X, y_train=names)
    assert report[VOTE].value == pytest.approx(vote_bound(errors, sizes).bound)
    assert certify(make(1, bootstrap=False).fit(X, y), X_train=X, y_train=y).omitted[VOTE]


def test_frames_lists_and_columns_are_taken(halves):
    X, y, X_val, y_val = halves
    frames = [pd.DataFrame(part, columns=list("abcde")) for part in (X, X_val)]
    forest = RandomForestClassifier(20, random_state=0)
    report = certify(forest.fit(X, y), X_val, y_val, X_train=X, y_train=y)
    framed = certify(
        forest.fit(frames[0], y), frames[1], pd.Series(y_val), X_train=frames[0], y_train=y
    )
    listed = certify(
        forest.fit(X.tolist(), y.tolist()),
        X_val.tolist(),
        y_val.tolist(),
        X_train=X.tolist(),
        y_train=y.tolist(),
    )
    assert report.statements == framed.statements == listed.statements
    line = LinearRegression().fit(X, y[:, None])
    assert "absolute error of 50%" in [s.name for s in certify(line, X_val, y_val[:, None])]


def test_report_is_text_html_a_dictionary_and_a_frame(halves):
    X, y, X_val, y_val = halves
    report = certify(SVC().fit(X, y), X_val, y_val, X_train=X, y_train=y)
    text, page, frame = str(report), report._repr_html_(), report.to_frame()
    for statement in report:
        assert statement.name in text
        assert statement.meaning in " ".join(text.split())
        assert statement.name.replace("'", "&#x27;") in page
    assert list(frame.name) == [statement.name for statement in report]
    assert len(report) == len(report.to_dict()["statements"]) == len(frame)
    assert list(report.by_kind()) == ["fit", "error", "estimate"]


def test_what_cannot_be_certified_says_why(halves):
    X, y, X_val, y_val = halves
    model = LogisticRegression().fit(X, y)
    with pytest.raises(NotFittedError):
        certify(LogisticRegression())
    with pytest.raises(ValueError, match="X_val and y_val must be given together"):
        certify(model, X_val)
    with pytest.raises(ValueError, match="X_train and y_train must be given together"):
        certify(model, y_train=y)
    for delta in (0.0, 1.0, 5):
        with pytest.raises(ValueError, match="delta must be"):
            certify(model, delta=delta)
    with pytest.raises(ValueError, match="n_compared must be"):
        certify(model, n_compared=0)
    with pytest.raises(ValueError, match="y_val must have no missing values; got nan"):
        certify(model, X_val, np.where(y_val == 0, np.nan, 1.0))
    with pytest.raises(ValueError, match="y_val must have at least one sample"):
        certify(model, X_val[:0], [])
    both = KernelRidge().fit(X, np.column_stack([y, y]))
    assert certify(both, X, np.column_stack([y, y])).omitted["validation"]
