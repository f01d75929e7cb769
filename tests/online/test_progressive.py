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
from sklearn.metrics import f1_score, log_loss
from sklearn.naive_bayes import BernoulliNB
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

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


def by_hand(model, X, y, delay=0):
    """Return the answers of a loop over single samples."""
    answers = []
    for t in range(len(y)):
        if t - delay > 0:
            row = t - delay - 1
            model.partial_fit(X[row : row + 1], y[row : row + 1], classes=np.unique(y))
        try:
            check_is_fitted(model)
            answers.append(model.predict(X[t : t + 1])[0])
        except NotFittedError:
            answers.append(np.unique(y)[0])
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
