"""The picture of out-of-bag losses."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier as PeerForest
from sklearn.exceptions import NotFittedError

from sklearn_sl.ensemble import BaggingRegressor, RandomForestClassifier
from sklearn_sl.inspection import OutOfBagDisplay


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def forest():
    X, y = load_iris(return_X_y=True)
    return RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, y)


def test_display_shows_the_curve_of_the_ensemble(forest):
    display = OutOfBagDisplay.from_estimator(forest)
    numbers, losses = display.line_.get_data()
    np.testing.assert_array_equal(numbers, forest.oob_curve_.n_estimators)
    np.testing.assert_array_equal(losses, forest.oob_curve_.loss)
    assert display.ax_.get_ylabel() == "out-of-bag share of errors"


def test_marks_are_the_two_choices(forest):
    display = OutOfBagDisplay.from_estimator(forest)
    for mark, rule in ((display.least_line_, "min"), (display.chosen_line_, "1se")):
        size = forest.choose_n_estimators(rule=rule)
        np.testing.assert_allclose(
            np.ravel(mark.get_data()), [size, forest.oob_curve_.loss[size - 1]]
        )


def test_chosen_ensemble_is_the_first_below_the_limit(forest):
    display = OutOfBagDisplay.from_estimator(forest)
    limit = display.limit_line_.get_ydata()[0]
    assert np.flatnonzero(display.loss <= limit)[0] + 1 == display.chosen


def test_display_plots_on_given_axes_and_again():
    X, y = load_diabetes(return_X_y=True)
    model = BaggingRegressor(n_estimators=30, oob_score=True, random_state=0).fit(X, y)
    _, (first, second) = plt.subplots(1, 2)
    display = OutOfBagDisplay.from_estimator(model, ax=first)
    assert display.ax_ is first
    assert first.get_ylabel() == "out-of-bag mean squared error"
    assert display.plot(ax=second).ax_ is second
    assert display.figure_ is second.figure


def test_display_needs_an_ensemble_with_a_curve(forest):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(NotFittedError):
        OutOfBagDisplay.from_estimator(RandomForestClassifier())
    for model in (RandomForestClassifier(5), PeerForest(5)):
        with pytest.raises(ValueError, match="oob_score"):
            OutOfBagDisplay.from_estimator(model.fit(X, y))
