"""The picture of regret."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier

from sklearn_sl.inspection import RegretDisplay
from sklearn_sl.online import (
    FixedShare,
    Hedge,
    Perceptron,
    WeightedAverage,
    WeightedMajority,
)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def losses(rng):
    return rng.uniform(size=100), rng.uniform(size=(100, 4))


def test_regret_is_against_the_best_in_the_end(losses):
    own, others = losses
    display = RegretDisplay.from_losses(own, others)
    best = others[:, others.sum(axis=0).argmin()]
    np.testing.assert_allclose(display.line_.get_ydata(), np.cumsum(own - best), **EXACT)
    np.testing.assert_allclose(display.regret[-1], own.sum() - others.sum(axis=0).min(), **EXACT)
    assert display.bound_line_ is None


def test_without_comparator_the_losses_are_summed(losses):
    display = RegretDisplay.from_losses(losses[0])
    np.testing.assert_allclose(display.regret, np.cumsum(losses[0]), **EXACT)


@pytest.mark.parametrize("bound", [12.0, np.linspace(1, 12, 100)])
def test_bound_is_a_line_beside_the_regret(losses, bound):
    display = RegretDisplay.from_losses(*losses, bound=bound, name="mine")
    heights = display.bound_line_.get_ydata()
    assert heights.shape == (100,)
    assert heights[-1] == 12.0
    assert {text.get_text() for text in display.ax_.get_legend().get_texts()} == {"mine", "bound"}


def test_display_plots_on_given_axes_and_again(losses):
    _, (first, second) = plt.subplots(1, 2)
    display = RegretDisplay.from_losses(*losses, ax=first)
    assert display.ax_ is first
    assert display.plot(ax=second).ax_ is second
    assert display.figure_ is second.figure


def test_shapes_that_do_not_fit_are_refused(losses):
    own, others = losses
    with pytest.raises(ValueError, match="same number of trials"):
        RegretDisplay.from_losses(own[1:], others)
    with pytest.raises(ValueError, match="bound must be"):
        RegretDisplay.from_losses(own, others, bound=[1.0, 2.0])


def test_learner_without_experts_is_refused():
    with pytest.raises(ValueError, match="learner with experts"):
        RegretDisplay.from_estimator(Perceptron(), [[0.0], [1.0]], [0, 1])


def binary_advice(rng, n_trials=300, n_experts=6):
    y = rng.integers(0, 2, n_trials)
    wrong = rng.random((n_trials, n_experts)) < np.linspace(0.2, 0.5, n_experts)
    return np.where(wrong, 1 - y[:, None], y[:, None]).astype(float), y


@pytest.mark.parametrize("sleepy", [False, True])
@pytest.mark.parametrize(
    "learner",
    [
        WeightedAverage(bounds=(-1, 3)),
        WeightedAverage(loss="absolute", prediction="vovk", eta=0.5, bounds=(-1, 3)),
        FixedShare(alpha=0.05, loss="entropic", bounds=(-1, 3)),
        Hedge(),
        Hedge(eta="doubling"),
        WeightedMajority(),
        WeightedMajority(randomized=True, random_state=0),
        Hedge(randomized=True, random_state=0),
    ],
)
def test_picture_of_experts_ends_with_the_regret_of_the_learner(rng, learner, sleepy):
    advice, y = binary_advice(rng)
    if sleepy:
        advice[rng.random(advice.shape) < 0.2] = np.nan
    display = RegretDisplay.from_estimator(learner, advice, y)
    model = clone(learner).fit(advice, y)
    np.testing.assert_allclose(display.regret[-1], model.regret_, **ALGEBRA)
    bound = getattr(model, "regret_bound_", None)
    if bound is None:
        assert display.bound_line_ is None
    else:
        assert display.bound_line_.get_ydata()[-1] == bound
    assert display.line_.get_label() == type(learner).__name__


def test_picture_of_experts_that_learn_shows_what_they_said_then(rng):
    X = rng.normal(size=(200, 3))
    y = (X @ [1.0, -2.0, 0.5] > 0).astype(int)
    learner = Hedge([Perceptron(), SGDClassifier(random_state=0)], block_size=10)
    display = RegretDisplay.from_estimator(learner, X, y)
    model = clone(learner).fit(X, y)
    np.testing.assert_allclose(display.regret[-1], model.regret_, **ALGEBRA)


def test_picture_of_experts_that_were_fitted_before(rng):
    X = rng.normal(size=(200, 3))
    y = (X @ [1.0, -2.0, 0.5] > 0).astype(int)
    experts = [Perceptron().fit(X[:50], y[:50]), SGDClassifier(random_state=0).fit(X[:50], y[:50])]
    learner = Hedge(experts, prefit=True)
    display = RegretDisplay.from_estimator(learner, X, y)
    assert display.regret[-1] == pytest.approx(learner.fit(X, y).regret_)
    # A clone is no copy of the experts: they are what they are.
    assert clone(learner).estimators is learner.estimators
    assert clone(Hedge(experts)).estimators[0] is not experts[0]


def test_comparators_that_sleep_add_no_regret():
    own = np.array([1.0, 2.0, 3.0])
    others = np.array([[0.5, np.nan], [np.nan, np.nan], [1.0, 0.0]])
    assert RegretDisplay.from_losses(own, others).regret.tolist() == [0, 0, 3]
    assert RegretDisplay.from_losses(own, others[:, 0]).regret.tolist() == [0.5, 0.5, 2.5]
    for wrong in ([1.0, np.nan, 2.0], [1.0, np.inf, 2.0]):
        with pytest.raises(ValueError, match="must be finite"):
            RegretDisplay.from_losses(wrong, others)
    with pytest.raises(ValueError, match="must be finite"):
        RegretDisplay.from_losses(own, [0.0, np.inf, 1.0])


def test_losses_of_experts_add_up_to_what_the_learner_kept(rng):
    advice, y = binary_advice(rng)
    advice[rng.random(advice.shape) < 0.2] = np.nan
    for learner in (WeightedAverage(bounds=(0, 2), prediction="vovk"), Hedge(), WeightedMajority()):
        model = learner.fit(advice, y)
        before = model.cumulative_loss_, model.weights_.copy()
        losses = model.expert_loss_matrix(advice, y)
        assert np.array_equal(np.isnan(losses), np.isnan(advice))
        np.testing.assert_allclose(np.nansum(losses, axis=0), model.expert_losses_, **ALGEBRA)
        assert model.cumulative_loss_ == before[0]
        assert np.array_equal(model.weights_, before[1])
