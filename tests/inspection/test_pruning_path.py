"""The picture of a pruning path shows its errors, the limit and the choice."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import EXACT
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier as PeerTree

from sklearn_sl.inspection import PruningPathDisplay
from sklearn_sl.tree import (
    DecisionTreeClassifierCV,
    DecisionTreeRegressor,
    DecisionTreeRegressorCV,
)


@pytest.fixture(autouse=True)
def close_figures():
    """Close the figures of a test."""
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def search():
    """Return a tree that chose its size."""
    return DecisionTreeClassifierCV(rule="1se").fit(*load_breast_cancer(return_X_y=True))


def test_errors_of_all_subtrees_are_shown(search):
    display = PruningPathDisplay.from_estimator(search)
    table = search.cp_table_[::-1]
    across, errors = display.errorbar_.lines[0].get_data()
    np.testing.assert_array_equal(across, search.ccp_path_.n_leaves)
    np.testing.assert_array_equal(errors, table["xerror"])
    np.testing.assert_array_equal(display.training_line_.get_ydata(), table["rel_error"])


def test_limit_is_one_standard_error_above_the_least_error(search):
    display = PruningPathDisplay.from_estimator(search)
    table = search.cp_table_
    least = np.argmin(table["xerror"])
    limit = table["xerror"][least] + table["xstd"][least]
    np.testing.assert_allclose(display.limit_line_.get_ydata(), limit, **EXACT)
    (leaves,), (error,) = display.chosen_line_.get_data()
    assert leaves == search.get_n_leaves()
    assert error <= limit


def test_prices_may_be_on_the_axis(search):
    display = PruningPathDisplay.from_estimator(search, x="alpha")
    across = display.training_line_.get_xdata()
    np.testing.assert_array_equal(across[1:], search.ccp_path_.alphas[1:])
    assert 0 < across[0] < across[1]  # zero has no place on a logarithmic axis


def test_tree_without_a_search_shows_its_risk():
    model = DecisionTreeRegressor(max_depth=5).fit(*load_diabetes(return_X_y=True))
    display = PruningPathDisplay.from_estimator(model)
    assert display.errorbar_ is None
    np.testing.assert_allclose(
        display.training_line_.get_ydata(), model.ccp_path_.risks / model.tree_.impurity[0], **EXACT
    )


def test_picture_goes_to_given_axes_and_can_be_plotted_again():
    model = DecisionTreeRegressorCV().fit(*load_diabetes(return_X_y=True))
    _, (first, second) = plt.subplots(1, 2)
    display = PruningPathDisplay.from_estimator(model, ax=first)
    assert display.ax_ is first
    assert display.plot(ax=second).ax_ is second


def test_what_is_no_tree_of_ours_is_an_error(search):
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(NotFittedError):
        PruningPathDisplay.from_estimator(DecisionTreeRegressor())
    with pytest.raises(ValueError, match="ccp_path_"):
        PruningPathDisplay.from_estimator(PeerTree().fit(X, y))
    with pytest.raises(ValueError, match="leaves"):
        PruningPathDisplay.from_estimator(search, x="depth")


def test_matplotlib_is_asked_for_by_name(search, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        PruningPathDisplay.from_estimator(search)
