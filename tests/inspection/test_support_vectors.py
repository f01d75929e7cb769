"""The picture of a support vector machine shows what the machine says."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from conftest import EXACT
from matplotlib.colors import to_rgba
from sklearn import svm as sklearn_svm
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_sl.inspection import SupportVectorDisplay
from sklearn_sl.svm import SVC, SVR, MulticlassSVC

show = SupportVectorDisplay.from_estimator


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def blobs(rng, n_classes=2, n=60, spread=0.7):
    """Return overlapping clouds in the plane, and their labels."""
    codes = np.arange(n) % n_classes
    centres = np.column_stack([np.cos(2.5 * codes), np.sin(2.5 * codes)])
    return centres + spread * rng.normal(size=(n, 2)), np.array(list("cabd"))[codes]


def wave(rng, n=60):
    X = np.sort(rng.uniform(0, 3, (n, 1)), axis=0)
    return X, np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=n)


def marked(collection):
    """Return the places of the symbols of a collection, as a set."""
    return {tuple(place) for place in np.asarray(collection.get_offsets())}


def places(X, rows):
    return {tuple(X[row]) for row in rows}


# ---------------------------------------------------------------- two classes


def test_lines_are_the_margins_and_the_boundary(rng):
    X, y = blobs(rng)
    model = SVC(kernel="linear").fit(X, y)
    display = show(model, X, y)
    np.testing.assert_array_equal(display.lines_.levels, [-1, 0, 1])
    for level, path in zip(display.lines_.levels, display.lines_.get_paths(), strict=True):
        values = model.decision_function(path.vertices)
        np.testing.assert_allclose(values, level, atol=1e-6)


def test_response_is_the_decision_function_on_the_grid(rng):
    X, y = blobs(rng)
    model = SVC().fit(X, y)
    display = show(model, X, y, grid_resolution=30, eps=0.2)
    points = np.column_stack([coordinate.ravel() for coordinate in display.grid])
    np.testing.assert_allclose(display.response.ravel(), model.decision_function(points), **EXACT)
    reach = np.ptp(X, axis=0)
    np.testing.assert_allclose(points.min(axis=0), X.min(axis=0) - 0.2 * reach)
    np.testing.assert_allclose(points.max(axis=0), X.max(axis=0) + 0.2 * reach)
    assert display.response.shape == (30, 30)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [0.5, 20.0])
def test_bounded_support_vectors_are_framed_and_free_ones_circled(C, weighted, rng):
    X, y = blobs(rng)
    weight = rng.integers(1, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    model = SVC(C=C).fit(X, y, weight)
    at_bound = np.isclose(np.abs(model.dual_coef_[0]), C * weight[model.support_])
    display = show(model, X, y)
    assert marked(display.violating_) == places(X, model.support_[at_bound])
    assert marked(display.support_) == places(X, model.support_[~at_bound])


def test_hard_margin_has_no_sample_inside(rng):
    X, y = blobs(rng, spread=0.1)
    display = show(SVC(C=np.inf, kernel="linear").fit(X, y), X, y)
    assert not marked(display.violating_)
    assert marked(display.support_)


def test_every_support_vector_of_a_squared_loss_misses_its_margin(rng):
    X, y = blobs(rng)
    model = SVC(loss="squared_hinge").fit(X, y)
    display = show(model, X, y)
    assert marked(display.violating_) | marked(display.support_) == places(X, model.support_)
    slack = np.abs(model.dual_coef_[0]) / 2
    np.testing.assert_array_equal(display.violating, slack > 1e-3)


def test_samples_have_the_colours_of_their_classes(rng):
    X, y = blobs(rng)
    display = show(SVC().fit(X, y), X, y, colors=["red", "green"])
    for points, label, color in zip(display.points_, ["a", "c"], ["red", "green"], strict=True):
        assert marked(points) == places(X, np.flatnonzero(y == label))
        assert to_rgba(color) == tuple(points.get_facecolor()[0])
        assert points.get_label() == label


# ---------------------------------------------------------------- more classes, regression


@pytest.mark.parametrize("n_classes", [3, 4])
@pytest.mark.parametrize("model", [SVC(C=2.0), MulticlassSVC(C=2.0)])
def test_regions_are_the_predicted_classes(model, n_classes, rng):
    X, y = blobs(rng, n_classes)
    model.fit(X, y)
    display = show(model, X, y, grid_resolution=40)
    points = np.column_stack([coordinate.ravel() for coordinate in display.grid])
    predicted = model.classes_[display.response.ravel()]
    np.testing.assert_array_equal(predicted, model.predict(points))
    assert len(display.points_) == n_classes


def test_support_vector_is_framed_if_one_pair_of_classes_has_it_at_its_bound(rng):
    X, y = blobs(rng, 3)
    model = SVC(C=2.0).fit(X, y)
    display = show(model, X, y)
    at_bound = np.isclose(np.abs(model.dual_coef_).max(axis=0), 2.0)
    np.testing.assert_array_equal(display.violating, at_bound)
    assert model.decision_function_shape == "ovr"


def test_support_vector_of_one_problem_is_framed_if_its_loss_is_positive(rng):
    X, y = blobs(rng, 3)
    model = MulticlassSVC(C=2.0).fit(X, y)
    display = show(model, X, y)
    own = np.searchsorted(model.classes_, y)[model.support_]
    at_bound = np.isclose(model.dual_coef_[own, np.arange(len(own))], 2.0)
    # A loss is positive only at the bound; at the bound it may be zero by chance.
    assert not (display.violating & ~at_bound).any()
    assert (display.violating == at_bound).mean() > 0.9


def test_regression_is_its_prediction_and_its_tube(rng):
    X, y = wave(rng)
    model = SVR(C=5.0, epsilon=0.25, tol=1e-9).fit(X, y)
    display = show(model, X, y, grid_resolution=50)
    middle, low, high = (line.get_ydata() for line in display.lines_)
    np.testing.assert_allclose(middle, model.predict(display.grid[0][:, None]), **EXACT)
    np.testing.assert_allclose(high - middle, 0.25)
    np.testing.assert_allclose(middle - low, 0.25)
    at_bound = np.isclose(np.abs(model.dual_coef_[0]), 5.0)
    there = np.column_stack([X, y])
    assert marked(display.violating_) == places(there, model.support_[at_bound])
    assert marked(display.support_) == places(there, model.support_[~at_bound])


# ---------------------------------------------------------------- where it is used


def test_pipeline_is_drawn_in_the_units_of_its_input(rng):
    X, y = blobs(rng)
    X = 50 + 10 * X
    pipeline = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    display = show(pipeline, X, y, grid_resolution=20)
    points = np.column_stack([coordinate.ravel() for coordinate in display.grid])
    expected = pipeline.decision_function(points)
    np.testing.assert_allclose(display.response.ravel(), expected, **EXACT)
    support = places(X, pipeline[-1].support_)
    assert marked(display.support_) | marked(display.violating_) == support


def test_columns_of_a_data_frame_label_the_axes(rng):
    X, y = blobs(rng)
    frame = pd.DataFrame(X, columns=["length", "width"])
    for model in (SVC(), make_pipeline(StandardScaler(), SVC())):
        display = show(model.fit(frame, y), frame, y, grid_resolution=10)
        assert display.ax_.get_xlabel() == "length"
        assert display.ax_.get_ylabel() == "width"


def test_search_is_drawn_by_what_it_found(rng):
    X, y = blobs(rng)
    search = GridSearchCV(SVC(), {"C": [0.1, 1.0]}).fit(X, y)
    expected = show(search.best_estimator_, X, y)
    np.testing.assert_array_equal(show(search, X, y).response, expected.response)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_machine_of_scikit_learn_gives_the_same_picture(n_classes, rng):
    X, y = blobs(rng, n_classes)
    ours = show(SVC().fit(X, y), X, y)
    theirs = show(sklearn_svm.SVC(tol=1e-8).fit(X, y), X, y)
    assert marked(ours.support_) == marked(theirs.support_)
    assert marked(ours.violating_) == marked(theirs.violating_)


def test_given_axes_are_used_and_a_picture_can_be_repeated(rng):
    X, y = blobs(rng)
    figure, (left, right) = plt.subplots(1, 2)
    display = show(SVC().fit(X, y), X, y, ax=left)
    assert display.ax_ is left and display.figure_ is figure
    assert display.plot(ax=right, legend=False) is display
    assert display.ax_ is right and right.get_legend() is None


def test_legend_explains_the_symbols_that_are_there(rng):
    X, y = blobs(rng, spread=0.1)
    legend = show(SVC(C=np.inf).fit(X, y), X, y).ax_.get_legend()
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == ["a", "c", "support vector on the margin"]


# ---------------------------------------------------------------- errors


def test_other_estimators_are_refused(rng):
    X, y = blobs(rng)
    with pytest.raises(ValueError, match="got LogisticRegression, which has no support_"):
        show(LogisticRegression().fit(X, y), X, y)


def test_plane_has_two_dimensions(rng):
    X, y = blobs(rng)
    wide = np.column_stack([X, X])
    with pytest.raises(ValueError, match=r"exactly two features .* got 4"):
        show(SVC().fit(wide, y), wide, y)
    with pytest.raises(ValueError, match=r"exactly one feature .* got 2"):
        show(SVR().fit(X, X[:, 0]), X, X[:, 0])


def test_gram_matrix_has_no_picture(rng):
    X, y = blobs(rng, n=2)
    K = X @ X.T
    with pytest.raises(ValueError, match="'precomputed'"):
        show(SVC(kernel="precomputed").fit(K, y), K, y)


@pytest.mark.parametrize("wrong", [slice(None, None, -1), slice(10)])
def test_samples_must_be_those_of_the_fit(wrong, rng):
    X, y = blobs(rng)
    with pytest.raises(ValueError, match="must be the training set"):
        show(SVC().fit(X, y), X[wrong], y[wrong])


def test_labels_must_be_those_of_the_fit(rng):
    X, y = blobs(rng)
    with pytest.raises(ValueError, match="labels"):
        show(SVC().fit(X, y), X, np.full(len(y), "z"))


def test_each_class_has_a_colour(rng):
    X, y = blobs(rng, 3)
    with pytest.raises(ValueError, match="3 entries"):
        show(SVC().fit(X, y), X, y, colors=["red", "green"])


def test_many_classes_have_different_colours(rng):
    X = rng.normal(size=(48, 2))
    display = show(SVC().fit(X, np.arange(48) % 12), X, np.arange(48) % 12)
    assert len({tuple(points.get_facecolor()[0]) for points in display.points_}) == 12


def test_missing_matplotlib_is_named(rng, monkeypatch):
    X, y = blobs(rng)
    model = SVC().fit(X, y)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        show(model, X, y)
