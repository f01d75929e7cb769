"""Streams: predict, then learn; and learners of streams that are used later."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from conftest import EXACT
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    get_scorer,
    log_loss,
    make_scorer,
    roc_auc_score,
)
from sklearn.naive_bayes import BernoulliNB
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from sklearn_sl.online import OnlineGradientDescentClassifier as OGD
from sklearn_sl.online import (
    Perceptron,
    online_to_batch,
    progressive_predict,
    progressive_val_score,
)
from sklearn_sl.theory import perceptron_bound


@pytest.fixture(params=[2, 3])
def stream(request):
    X, y = make_classification(
        200, 6, n_informative=4, n_classes=request.param, random_state=request.param
    )
    return X, np.array(["a", "b", "c"])[y]


def by_hand(model, X, y, delay=0, method="predict", nothing=None):
    """Return the answers of a loop over single samples, ``nothing`` before the first is told."""
    answers, nothing = [], np.unique(y)[0] if nothing is None else nothing
    for t in range(len(y)):
        if t - delay > 0:
            row = t - delay - 1
            model.partial_fit(X[row : row + 1], y[row : row + 1], classes=np.unique(y))
        try:
            check_is_fitted(model)
            answers.append(getattr(model, method)(X[t : t + 1])[0])
        except NotFittedError:
            answers.append(nothing)
    for row in range(max(len(y) - delay - 1, 0), len(y)):
        model.partial_fit(X[row : row + 1], y[row : row + 1], classes=np.unique(y))
    return np.array(answers)


LEARNERS = [Perceptron(), SGDClassifier(random_state=0, shuffle=False), BernoulliNB()]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("delay", [0, 1, 7, 500])
def test_answers_are_those_of_a_loop_over_samples(stream, learner, delay):
    X, y = stream
    first, second = clone(learner), clone(learner)
    answers = progressive_predict(first, X, y, delay=delay)
    np.testing.assert_array_equal(answers, by_hand(second, X, y, delay))
    np.testing.assert_array_equal(first.predict(X), second.predict(X))


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, sp.csr_array, sp.coo_array, list])
def test_streams_may_have_any_form(stream, form):
    X, y = stream
    expected = progressive_predict(Perceptron(), X, y)
    np.testing.assert_array_equal(progressive_predict(Perceptron(), form(X), y), expected)
    by_blocks = progressive_predict(Perceptron(), form(X), list(y), block_size=10)
    assert by_blocks.shape == expected.shape


def test_compiled_answers_are_those_of_single_rows_bit_for_bit(stream):
    X, y = stream
    whole, loop = Perceptron(keep_losses=True), Perceptron(keep_losses=True)
    progressive_predict(whole, X, y)
    for t in range(len(y)):
        loop.partial_fit(X[t : t + 1], y[t : t + 1], classes=np.unique(y))
    np.testing.assert_array_equal(whole.coef_, loop.coef_)
    np.testing.assert_array_equal(whole.loss_curve_, loop.loss_curve_)
    assert whole.n_mistakes_ == loop.n_mistakes_
    assert whole.cumulative_loss_ == loop.cumulative_loss_


def test_blocks_are_predicted_before_they_are_learned(stream):
    X, y = stream
    model, twin = BernoulliNB(), BernoulliNB()
    answers = progressive_predict(model, X, y, block_size=30)
    expected = [np.full(30, "a")]
    for start in range(30, 200, 30):
        before = slice(start - 30, start)
        twin.partial_fit(X[before], y[before], classes=np.unique(y))
        expected.append(twin.predict(X[start : start + 30]))
    np.testing.assert_array_equal(answers, np.concatenate(expected))


def test_learner_goes_on_from_its_state(stream):
    X, y = stream
    model = Perceptron().partial_fit(X[:100], y[:100], classes=np.unique(y))
    rest = progressive_predict(model, X[100:], y[100:])
    whole = Perceptron()
    np.testing.assert_array_equal(progressive_predict(whole, X, y)[100:], rest)
    np.testing.assert_array_equal(whole.coef_, model.coef_)


def test_regressors_begin_with_zero_or_what_they_are_told():
    X, y = make_regression(50, 3, random_state=0)
    answers = progressive_predict(SGDRegressor(random_state=0), X, y, initial=7.5, delay=3)
    np.testing.assert_array_equal(answers[:4], 7.5)
    assert progressive_predict(SGDRegressor(random_state=0), X, y)[0] == 0.0


def test_probabilities_and_scores_can_be_asked_for(stream):
    X, y = stream
    n_classes = len(np.unique(y))
    shares = progressive_predict(BernoulliNB(), X, y, method="predict_proba")
    np.testing.assert_allclose(shares[0], np.full(n_classes, 1 / n_classes))
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    scores = progressive_predict(Perceptron(), X, y, method="decision_function")
    assert scores.shape == ((200,) if n_classes == 2 else (200, 3))


def test_scores_are_those_of_the_answers(stream):
    X, y = stream
    answers = progressive_predict(Perceptron(), X, y)
    assert progressive_val_score(Perceptron(), X, y) == np.mean(answers == y)
    score = progressive_val_score(Perceptron(), X, y, scoring="f1_macro")
    np.testing.assert_allclose(score, f1_score(y, answers, average="macro"), **EXACT)
    shares = progressive_predict(BernoulliNB(), X, y, method="predict_proba")
    score = progressive_val_score(
        BernoulliNB(), X, y, scoring="neg_log_loss", method="predict_proba"
    )
    np.testing.assert_allclose(score, -log_loss(y, shares), **EXACT)
    wrong = progressive_val_score(Perceptron(), X, y, scoring=lambda y, a: np.sum(y != a))
    assert wrong == np.sum(answers != y)


# ---------------------------------------------------------------- scores and probabilities

SCORERS = [
    # Learner, scorer, number of classes, what the learner is asked, measure of targets and answers.
    (Perceptron(), "roc_auc", 2, "decision_function", roc_auc_score),
    (BernoulliNB(), "roc_auc", 2, "predict_proba", lambda y, p: roc_auc_score(y, p[:, 1])),
    (OGD("log_loss"), "roc_auc", 2, "decision_function", roc_auc_score),
    (OGD("log_loss"), "neg_log_loss", 2, "predict_proba", lambda y, p: -log_loss(y, p)),
    (OGD("log_loss"), "neg_log_loss", 3, "predict_proba", lambda y, p: -log_loss(y, p)),
    (
        OGD("log_loss", average=True),
        "roc_auc_ovr",
        3,
        "predict_proba",
        lambda y, p: roc_auc_score(y, p, multi_class="ovr"),
    ),
    (
        SGDClassifier(loss="log_loss", random_state=0),
        "roc_auc_ovo",
        3,
        "predict_proba",
        lambda y, p: roc_auc_score(y, p, multi_class="ovo"),
    ),
]


def id_of(case):
    return f"{type(case[0]).__name__}-{case[1]}-{case[2]}"


@pytest.mark.parametrize(
    ("learner", "scoring", "n_classes", "method", "measure"), SCORERS, ids=map(id_of, SCORERS)
)
@pytest.mark.parametrize("delay", [0, 9])
def test_scorer_decides_what_the_learner_is_asked(
    learner, scoring, n_classes, method, measure, delay
):
    X, y = make_classification(80, 6, n_informative=4, n_classes=n_classes, random_state=1)
    y = np.array(["a", "b", "c"])[y]
    nothing = 0.0
    if method == "predict_proba":
        nothing = np.full(n_classes, 1 / n_classes)
    expected = by_hand(clone(learner), X, y, delay, method, nothing)
    model = clone(learner)
    answers = progressive_predict(model, X, y, method=method, delay=delay)
    np.testing.assert_array_equal(answers, expected)
    score = measure(np.searchsorted(model.classes_, y), answers)
    for asked in (None, method):
        found = progressive_val_score(
            clone(learner), X, y, scoring=scoring, method=asked, delay=delay
        )
        np.testing.assert_allclose(found, score, **EXACT)
    whole = progressive_val_score(
        clone(learner), X, y, scoring=get_scorer(scoring), at=[50, 80], delay=delay
    )
    np.testing.assert_allclose(whole[1], score, **EXACT)
    first = measure(np.searchsorted(model.classes_, y[:50]), answers[:50])
    np.testing.assert_allclose(whole[0], first, **EXACT)


@pytest.mark.parametrize("block_size", [1, 7, 50])
def test_scores_of_decisions_come_before_their_block_is_learned(stream, block_size):
    X, y = stream
    model, twin, expected = Perceptron(), Perceptron(), []
    answers = progressive_predict(
        model, X, y, method="decision_function", block_size=block_size, initial=0.25
    )
    for start in range(0, len(y), block_size):
        rows = slice(start, start + block_size)
        shape = (len(y[rows]),) if len(np.unique(y)) == 2 else (len(y[rows]), 3)
        expected.append(twin.decision_function(X[rows]) if start else np.full(shape, 0.25))
        twin.partial_fit(X[rows], y[rows], classes=np.unique(y))
    np.testing.assert_array_equal(answers, np.concatenate(expected))
    np.testing.assert_array_equal(model.coef_, twin.coef_)


@pytest.mark.parametrize("method", ["decision_function", "predict_proba"])
def test_classes_of_answers_are_those_of_predictions(stream, method):
    X, y = stream
    learner = OGD("log_loss")
    classes = ["a", "b", "c", "d"]  # of which some never come
    shown = {"classes": classes, "block_size": 20, "scoring": "balanced_accuracy"}
    found = progressive_val_score(clone(learner), X, y, method=method, **shown)
    # Before the first block, and only then, the answers are not those of the learner.
    assert found == progressive_val_score(clone(learner), X, y, **shown)


def test_positive_class_may_be_the_first():
    X, y = make_classification(150, 6, random_state=3)
    scoring = make_scorer(average_precision_score, response_method="predict_proba", pos_label="a")
    names = np.array(["a", "b"])[y]
    shares = progressive_predict(OGD("log_loss"), X, names, method="predict_proba")
    found = progressive_val_score(OGD("log_loss"), X, names, scoring=scoring)
    np.testing.assert_allclose(found, average_precision_score(y == 0, shares[:, 0]), **EXACT)


def test_scorers_of_numbers_ask_for_numbers():
    X, y = make_regression(60, 3, random_state=0)
    answers = progressive_predict(SGDRegressor(random_state=0), X, y)
    found = progressive_val_score(
        SGDRegressor(random_state=0), X, y, scoring="neg_mean_absolute_error"
    )
    np.testing.assert_allclose(found, -np.abs(answers - y).mean(), **EXACT)
    with pytest.raises(AttributeError, match='"predict_proba" is not available for SGDRegressor'):
        progressive_val_score(SGDRegressor(), X, y, scoring="roc_auc")


def test_learners_that_lack_a_method_learn_nothing(stream):
    X, y = stream
    model = OGD()
    for method in ("predict_proba", None):
        with pytest.raises(
            AttributeError, match=r'method="predict_proba" is not available.*loss="log_loss"'
        ):
            progressive_val_score(model, X, y, scoring="neg_log_loss", method=method)
    assert not hasattr(model, "n_trials_")
    with pytest.raises(ValueError, match=r"needs: set method to 'decision_function' or 'predict_"):
        progressive_val_score(model, X, y, scoring="roc_auc", method="predict")
    with pytest.raises(ValueError, match="method must be"):
        progressive_val_score(model, X, y, method="transform")
    with pytest.raises(ValueError, match="scoring"):
        progressive_val_score(model, X, y, scoring="rock")
    assert not hasattr(model, "n_trials_")


def test_beginnings_without_all_classes_are_named():
    X, y = make_classification(90, 6, n_informative=4, n_classes=3, random_state=0)
    order = np.argsort(y, kind="stable")
    with pytest.raises(ValueError, match=r"failed on 40 samples with the classes \[0 1\]"):
        progressive_val_score(
            OGD("log_loss"), X[order], y[order], scoring="neg_log_loss", at=[40, 90]
        )


def test_curve_of_scores_is_that_of_the_beginnings(stream):
    X, y = stream
    right = progressive_predict(Perceptron(), X, y) == y
    found = progressive_val_score(Perceptron(), X, y, at=[1, 50, 200])
    np.testing.assert_allclose(found, [right[:k].mean() for k in (1, 50, 200)], **EXACT)
    with pytest.raises(ValueError, match="at must be"):
        progressive_val_score(Perceptron(), X, y, at=[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"block_size": 0}, "block_size"),
        ({"delay": -1}, "delay"),
        ({"delay": 1.5}, "delay"),
        ({"method": "transform"}, "method"),
    ],
)
def test_bad_options_are_named(stream, options, message):
    with pytest.raises(ValueError, match=message):
        progressive_predict(Perceptron(), *stream, **options)


def test_learners_without_partial_fit_are_refused(stream):
    with pytest.raises(TypeError, match="no partial_fit"):
        progressive_predict(SVC(), *stream)
    with pytest.raises(TypeError, match="no partial_fit"):
        online_to_batch(SVC(), *stream)


def test_failed_stream_leaves_the_old_state(stream):
    X, y = stream
    model = Perceptron().partial_fit(X[:50], y[:50], classes=np.unique(y))
    before = model.coef_.copy(), model.n_mistakes_
    spoiled = X.copy()
    spoiled[120, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        progressive_predict(model, spoiled, y)
    np.testing.assert_array_equal(model.coef_, before[0])
    assert model.n_mistakes_ == before[1]


# ---------------------------------------------------------------- online to batch


def separable(rng, n, margin=0.2):
    """Return points of the unit disc that a line through the origin separates with a margin."""
    X = rng.normal(size=(4 * n, 2))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X = X[np.abs(X[:, 0]) >= margin][:n]
    return X, X[:, 0] > 0


def test_random_stop_keeps_the_bound_on_the_expected_error(rng):
    m, errors = 50, []
    for trial in range(300):
        X, y = separable(rng, m + 200)
        model = online_to_batch(
            Perceptron(fit_intercept=False), X[:m], y[:m], classes=[False, True], random_state=trial
        )
        errors.append(np.mean(model.predict(X[m:]) != y[m:]))
    # B = (R / gamma)^2 = 25 with R = 1 and gamma = 0.2.
    assert np.mean(errors) <= perceptron_bound(1.0, 1 / 0.2) / m


def test_random_stop_sees_any_number_of_samples_alike(rng):
    X, y = separable(rng, 5)
    seen = [
        online_to_batch(Perceptron(), X, y, classes=[False, True], random_state=k).n_trials_
        for k in range(500)
    ]
    counts = np.bincount(seen, minlength=6)
    assert counts[0] == 0
    assert counts[1:].min() > 60


def test_average_is_the_mean_of_the_weights_of_all_trials(stream):
    X, y = stream
    averaged = online_to_batch(Perceptron(), X, y, method="average")
    weights = []
    model = Perceptron()
    for t in range(len(y)):
        # The weights that answer in a trial are those before it.
        weights.append(np.zeros_like(averaged.coef_) if t == 0 else model.coef_.copy())
        model.partial_fit(X[t : t + 1], y[t : t + 1], classes=np.unique(y))
    np.testing.assert_allclose(averaged.coef_, np.mean(weights, axis=0), rtol=1e-9, atol=1e-9)


def test_average_of_a_learner_without_that_parameter(stream):
    X, y = stream

    class Plain(SGDRegressor):
        def __init__(self):
            super().__init__(shuffle=False)

        @classmethod
        def _get_param_names(cls):
            return []

    numbers = (y == "a").astype(float)
    model = online_to_batch(Plain(), X, numbers, method="average")
    twin, weights = Plain(), []
    for t in range(len(y)):
        twin.partial_fit(X[t : t + 1], numbers[t : t + 1])
        weights.append(twin.coef_.copy())
    np.testing.assert_allclose(model.coef_, np.mean(weights, axis=0), **EXACT)


def test_longest_survivor_made_the_longest_run(stream):
    X, y = stream
    model = online_to_batch(Perceptron(), X, y, method="longest")
    answers = progressive_predict(Perceptron(), X, y)
    runs = "".join("x" if wrong else "." for wrong in answers != y).split("x")
    start = model.n_trials_
    longest = max(len(run) for run in runs)
    assert np.all(answers[start : start + longest] == y[start : start + longest])
    assert longest > 5


def test_last_has_seen_all_samples(stream):
    X, y = stream
    model = online_to_batch(Perceptron(), X, y, method="last")
    np.testing.assert_array_equal(
        model.coef_, Perceptron().partial_fit(X, y, classes=np.unique(y)).coef_
    )


def test_conversion_leaves_the_learner_alone(stream):
    model = Perceptron()
    online_to_batch(model, *stream, random_state=0)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


def test_conversions_that_cannot_be_are_refused(stream):
    X, y = stream
    with pytest.raises(ValueError, match="method must be"):
        online_to_batch(Perceptron(), X, y, method="best")
    with pytest.raises(ValueError, match="requires a classifier"):
        online_to_batch(SGDRegressor(), X, np.arange(200.0), method="longest")
    with pytest.raises(ValueError, match="no coef_"):
        online_to_batch(BernoulliNB(), X, y, method="average")
