"""The picture of margins shows their distribution after any number of rounds."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import AdaBoostClassifier as PeerBoost
from sklearn.exceptions import NotFittedError

from sklearn_sl.ensemble import AdaBoostClassifier
from sklearn_sl.inspection import MarginDisplay


@pytest.fixture(autouse=True)
def close_figures():
    """Close the figures of a test."""
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def data():
    """Return samples of two classes."""
    return load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def model(data):
    """Return a booster of thirty rounds."""
    return AdaBoostClassifier(n_estimators=30).fit(*data)


def height(line, theta):
    """Return the height of a step line at a margin."""
    across, up = line.get_data()
    return up[np.searchsorted(across, theta, side="right") - 1]


@pytest.mark.parametrize("theta", [-0.5, 0.0, 0.1, 0.9])
def test_height_is_the_share_of_samples_with_at_most_this_margin(model, data, theta):
    for samples in ((), data):
        (line,) = MarginDisplay.from_estimator(model, *samples).lines_
        np.testing.assert_allclose(
            height(line, theta), np.mean(model.margins(*data) <= theta), **EXACT
        )


def test_lines_run_from_no_sample_to_all_of_them(model, data):
    for line in MarginDisplay.from_estimator(model, *data, rounds=[1, 30]).lines_:
        across, up = line.get_data()
        assert (across[0], up[0], across[-1], up[-1]) == (-1, 0, 1, 1)
        assert np.all(np.diff(across) >= 0)
        assert np.all(np.diff(up) >= 0)


def test_lines_after_some_rounds_are_those_of_shorter_fits(model, data):
    display = MarginDisplay.from_estimator(model, *data, rounds=[1, 7])
    for n_rounds, name in ((1, "1 round"), (7, "7 rounds")):
        short = AdaBoostClassifier(n_estimators=n_rounds).fit(*data)
        expected = np.unique(short.margins_)
        np.testing.assert_allclose(display.margins[name], expected, **ALGEBRA)
        np.testing.assert_allclose(display.shares[name], short.margin_cdf(expected), **ALGEBRA)
    (line,) = MarginDisplay.from_estimator(model, *data, rounds=7).lines_
    np.testing.assert_array_equal(line.get_data(), display.lines_[1].get_data())


def test_height_left_of_zero_is_the_error():
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    display = MarginDisplay.from_estimator(model, X, y, rounds=[2, 10])
    for line, predicted in zip(display.lines_, [*model.staged_predict(X)][1::8], strict=True):
        assert height(line, -1e-9) <= np.mean(predicted != y) <= height(line, 0)


def test_weights_are_repetitions(model, data):
    X, y = data
    count = np.arange(len(y)) % 3
    display = MarginDisplay.from_estimator(model, X, y, sample_weight=count)
    repeated = MarginDisplay.from_estimator(model, X.repeat(count, axis=0), y.repeat(count))
    for first, second in zip(display.lines_, repeated.lines_, strict=True):
        np.testing.assert_allclose(first.get_data(), second.get_data(), **EXACT)


def test_training_set_has_the_weights_of_the_fit(data):
    X, y = data
    count = np.arange(len(y)) % 3
    weighted = AdaBoostClassifier(n_estimators=10).fit(X, y, sample_weight=count)
    (line,) = MarginDisplay.from_estimator(weighted).lines_
    (same,) = MarginDisplay.from_estimator(weighted, X, y, sample_weight=count).lines_
    np.testing.assert_allclose(line.get_data(), same.get_data(), **ALGEBRA)


def test_arrays_of_margins_are_shown_by_their_names():
    display = MarginDisplay.from_margins({"few": [0.5, np.nan, -0.5], "one": [0.25]})
    assert list(display.margins) == ["few", "one"]
    np.testing.assert_array_equal(display.margins["few"], [-0.5, 0.5])
    np.testing.assert_array_equal(display.shares["few"], [0.5, 1.0])
    assert [line.get_label() for line in display.lines_] == ["few", "one"]
    plain = MarginDisplay.from_margins([0.5, 0.5, 1.0], sample_weight=[1, 1, 2])
    np.testing.assert_array_equal(plain.shares["margins"], [0.5, 1.0])


def test_picture_goes_to_given_axes_and_can_be_plotted_again(model):
    _, (first, second) = plt.subplots(1, 2)
    display = MarginDisplay.from_estimator(model, ax=first)
    assert display.ax_ is first
    assert display.plot(ax=second).ax_ is second
    assert len(display.lines_) == 1


def test_what_cannot_be_shown_is_an_error(model, data):
    X, y = data
    with pytest.raises(NotFittedError):
        MarginDisplay.from_estimator(AdaBoostClassifier())
    with pytest.raises(ValueError, match="margin_cdf"):
        MarginDisplay.from_estimator(PeerBoost(n_estimators=1).fit(X, y))
    with pytest.raises(ValueError, match="require X"):
        MarginDisplay.from_estimator(model, rounds=[3])
    with pytest.raises(ValueError, match="y is required"):
        MarginDisplay.from_estimator(model, X)
    with pytest.raises(ValueError, match=r"in \[1, 30\]"):
        MarginDisplay.from_estimator(model, X, y, rounds=[31])
    with pytest.raises(ValueError, match="not be empty"):
        MarginDisplay.from_estimator(model, X, y, rounds=[])
    with pytest.raises(ValueError, match="non-empty 1-D array"):
        MarginDisplay.from_margins([[0.5]])
    with pytest.raises(ValueError, match="at least one sample of positive weight"):
        MarginDisplay.from_margins([np.nan])


def test_matplotlib_is_asked_for_by_name(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        MarginDisplay.from_estimator(model)
