"""The picture of regret."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import EXACT

from sklearn_sl.inspection import RegretDisplay
from sklearn_sl.online import Perceptron


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
    with pytest.raises(ValueError, match="as many trials"):
        RegretDisplay.from_losses(own[1:], others)
    with pytest.raises(ValueError, match="bound must be"):
        RegretDisplay.from_losses(own, others, bound=[1.0, 2.0])


def test_learner_without_experts_is_refused():
    with pytest.raises(ValueError, match="learner with experts"):
        RegretDisplay.from_estimator(Perceptron(), [[0.0], [1.0]], [0, 1])
