"""The picture of a plan."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from sklearn_sl.inspection import SampleSizeDisplay
from sklearn_sl.theory import sample_size


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def plan():
    return sample_size(0.1, n_hypotheses=10**6, n_ends=2, error=0.05)


def test_lines_end_at_the_numbers_of_the_plan(plan):
    display = SampleSizeDisplay.from_plan(plan)
    ends = [segment[1][0] for segment in display.lines_.get_segments()]
    np.testing.assert_array_equal(ends, [row.n_samples for row in plan.rows])
    for purpose, rows in plan.by_purpose().items():
        points = display.points_[purpose].get_xdata()
        np.testing.assert_array_equal(points, [row.n_samples for row in rows])
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels == [row.statement for row in plan.rows]
    assert "accuracy 0.1 at confidence 0.95" in display.ax_.get_title()
    low, high = display.ax_.get_xlim()
    assert low <= min(ends) < max(ends) < high
    texts = {text.get_text().strip() for text in display.ax_.texts}
    assert texts == {f"{end:,.0f}" for end in ends}


def test_first_row_is_at_the_top(plan):
    display = SampleSizeDisplay.from_plan(plan)
    bottom, top = display.ax_.get_ylim()
    assert bottom > len(plan.rows) - 1 > 0 > top


def test_infinite_numbers_are_arrows_at_the_edge():
    plan = sample_size(0, n_hypotheses=10)
    display = SampleSizeDisplay.from_plan(plan)
    arrows = [line for line in display.ax_.lines if line.get_marker() == ">"]
    assert sum(len(line.get_xdata()) for line in arrows) == len(plan.rows)
    assert all(len(points.get_xdata()) == 0 for points in display.points_.values())


def test_display_plots_on_given_axes_and_again(plan):
    _, (first, second) = plt.subplots(1, 2)
    display = SampleSizeDisplay.from_plan(plan, ax=first)
    assert display.ax_ is first
    assert display.plot(ax=second).ax_ is second
    assert display.figure_ is second.figure


def test_display_of_a_question_is_that_of_its_plan(plan):
    display = SampleSizeDisplay.from_question(0.1, n_hypotheses=10**6, n_ends=2, error=0.05)
    assert display.plan == plan


def test_anything_but_a_plan_is_an_error():
    with pytest.raises(ValueError, match="plan must be a SamplePlan"):
        SampleSizeDisplay.from_plan({"rows": []})
