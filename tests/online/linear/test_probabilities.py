"""The logistic loss: its two names, and the probabilities that its scores are the log-odds of."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier

from sklearn_sl.online import (
    ExponentiatedGradientClassifier,
    KernelOGD,
    OnlineGradientDescentClassifier,
    Perceptron,
)

OGD, EG = OnlineGradientDescentClassifier, ExponentiatedGradientClassifier
LEARNERS = [OGD("log_loss"), OGD("log_loss", average=True), EG(loss="log_loss", radius=8.0)]


@pytest.fixture(params=[2, 3])
def problem(request):
    rng = np.random.default_rng(request.param)
    X = rng.normal(size=(300, 4))
    scores = X @ rng.normal(size=(4, request.param)) + rng.gumbel(size=(300, request.param))
    return X, np.array(["a", "b", "c"])[scores.argmax(axis=1)]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("conservative", [False, True])
def test_log_loss_is_another_name_of_logistic(problem, learner, conservative):
    X, y = problem
    learner = clone(learner).set_params(conservative=conservative, keep_losses=True)
    other = clone(learner).set_params(loss="logistic")
    for start in (0, 130):
        for model in (learner, other):
            model.partial_fit(X[start : start + 130], y[start : start + 130], classes=np.unique(y))
    np.testing.assert_array_equal(learner.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(learner.loss_curve_, other.loss_curve_)
    learner.fit(X, y)
    other.fit(X, y)
    np.testing.assert_array_equal(learner.coef_, other.coef_)
    assert learner.regret_ == other.regret_
    assert learner.regret_bound_ == other.regret_bound_


@pytest.mark.parametrize("learner", LEARNERS)
def test_probabilities_are_those_of_the_scores(problem, learner):
    X, y = problem
    model = clone(learner).fit(X, y)
    scores, shares = model.decision_function(X), model.predict_proba(X)
    expected = expit(scores)
    if scores.ndim == 1:
        expected = np.column_stack([1 - expected, expected])
    else:
        expected = expected / expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, expected, **ALGEBRA)
    np.testing.assert_allclose(shares.sum(axis=1), 1, **EXACT)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(shares), **ALGEBRA)
    np.testing.assert_allclose(model.predict_proba(sp.csr_array(X)), shares, **ALGEBRA)


def test_probabilities_are_normalised_as_by_scikit_learn(problem):
    # The weights of one model, given to the other.
    X, y = problem
    model = OGD("log_loss").fit(X, y)
    theirs = SGDClassifier(loss="log_loss", max_iter=5, tol=None).fit(X, y)
    theirs.coef_, theirs.intercept_ = model.coef_, model.intercept_
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), **ALGEBRA)


def test_loss_of_a_trial_is_minus_the_logarithm_of_the_probability(problem):
    # Of two classes; of more, each against all others.
    X, y = problem
    model = OGD("log_loss", keep_losses=True).partial_fit(X[:50], y[:50], classes=np.unique(y))
    lost = []
    for t in range(50, 100):
        codes = np.searchsorted(model.classes_, y[t])
        if len(model.classes_) == 2:
            lost.append(-model.predict_log_proba(X[[t]])[0, codes])
        else:
            signs = np.where(np.arange(3) == codes, 1.0, -1.0)
            lost.append(-np.log(expit(signs * model.decision_function(X[[t]])[0])).sum())
        model.partial_fit(X[[t]], y[[t]])
    np.testing.assert_allclose(model.loss_curve_[50:], lost, **ALGEBRA)


@pytest.mark.parametrize(
    "learner", [OGD("log_loss", average=True, max_iter=3), EG(loss="log_loss", radius=6.0)]
)
def test_probabilities_are_calibrated_if_the_model_is_logistic(learner):
    rng = np.random.default_rng(0)
    weights, n = np.array([1.5, -1.0, 0.5]), 6000
    X = rng.normal(size=(n, 3))
    truth = expit(X @ weights + 0.3)
    y = rng.random(n) < truth
    shares = clone(learner).fit(X[:4000], y[:4000]).predict_proba(X[4000:])[:, 1]
    assert np.abs(shares - truth[4000:]).mean() < 0.04
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        rows = (low <= shares) & (shares < low + 0.2)
        # Five standard errors, and some for the weights.
        slack = 0.03 + 5 * np.sqrt(0.25 / rows.sum())
        assert rows.sum() > 100
        assert abs(shares[rows].mean() - y[4000:][rows].mean()) < slack


def test_logarithms_of_tiny_probabilities_are_finite():
    X, y = np.array([[1.0], [-1.0], [1.0]]), [0, 1, 2]
    for labels in (y, [0, 1, 1]):
        model = OGD("log_loss").fit(X, labels)
        logs = model.predict_log_proba([[1e6], [-1e6]])
        assert np.isfinite(logs).all()
        assert logs.min() < -1000
        np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1, **EXACT)
        assert np.isfinite(model.predict_proba([[1e6], [-1e6]])).all()


class Own:
    """The logistic loss, as an object of which nobody knows what it is."""

    def loss(self, s, y):
        return np.logaddexp(0, -y * s)

    def gradient(self, s, y):
        return -y * expit(-y * s)


@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba"])
@pytest.mark.parametrize(
    "model",
    [
        OGD(),
        OGD(Own()),
        OGD("log_loss", multi_class="kesler"),
        OGD("log_loss", conservative=True),
        EG(loss="square"),
        EG(loss="logistic", conservative=True),
    ],
)
def test_there_are_no_probabilities_otherwise_but_advice(model, method):
    assert not hasattr(model, method)
    with pytest.raises(AttributeError, match=rf'{method}.*loss="log_loss".*Calibrated') as caught:
        getattr(model, method)
    assert ('multi_class="ovr"' in str(caught.value)) == isinstance(model, OGD)


def test_advice_belongs_to_those_without_probabilities():
    with pytest.raises(AttributeError, match=r"predict_log_proba'\.? .*CalibratedClassifierCV"):
        Perceptron().predict_log_proba  # noqa: B018
    with pytest.raises(AttributeError, match=r"'predict_log_proba'$"):
        KernelOGD().predict_log_proba  # noqa: B018
