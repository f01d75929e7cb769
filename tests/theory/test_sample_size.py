"""Plans: which statements apply, their numbers and order; learning curves of pilots."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from conftest import EXACT
from scipy import optimize
from sklearn.linear_model import LinearRegression, LogisticRegression

from sklearn_sl.theory import (
    LearningCurve,
    PlannedSize,
    _sample_size,
    agnostic_sample_size,
    binomial_sample_size,
    binomial_upper,
    compression_bound,
    double_sample_bound,
    interval_sample_size,
    kl_sample_size,
    linear_margin_sample_size,
    log_class_size,
    miss_sample_size,
    online_to_batch_sample_size,
    realizable_sample_size,
    rlm_sample_size,
    sample_size,
    uniform_sample_size,
    vc_generalization_bound,
    vc_sample_size,
)
from sklearn_sl.theory._pilot import EXPONENTS, in_proportion
from sklearn_sl.theory._sample_size import exact_test_size

EPSILON, DELTA = 0.08, 0.02


def sizes_of(plan):
    return {row.statement: row.n_samples for row in plan.rows}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {"n_hypotheses": 3**50},
            {
                "finite class, agnostic": agnostic_sample_size(3**50, EPSILON, DELTA),
                "finite class, uniform": uniform_sample_size(3**50, EPSILON, DELTA),
                "finite class, realizable": realizable_sample_size(3**50, EPSILON, DELTA),
                "finite class, realizable, sharp": realizable_sample_size(
                    3**50, EPSILON, DELTA, sharp=True
                ),
            },
        ),
        (
            {"n_ends": 4},
            {
                "interval or box": interval_sample_size(EPSILON, DELTA, 4),
                "interval or box, sharp": interval_sample_size(EPSILON, DELTA, 4, sharp=True),
            },
        ),
        (
            {"margin": 0.2, "radius": 3.0},
            {
                "linear, margin": linear_margin_sample_size(EPSILON, DELTA, 0.2, radius=3.0),
                "perceptron, stopped at random": online_to_batch_sample_size(225, EPSILON, DELTA),
            },
        ),
        (
            {"vc_dimension": 5},
            {
                "VC dimension, uniform": 75_141,
                "VC dimension, realizable": 2_074,
                "fundamental theorem, agnostic": np.ceil(
                    vc_sample_size(5, EPSILON, DELTA, setting="agnostic")
                ),
                "fundamental theorem, realizable": np.ceil(vc_sample_size(5, EPSILON, DELTA)),
            },
        ),
        ({"n_kept": 7}, {"compression": 559}),
        (
            {"lipschitz": 2.0, "norm": 1.5},
            {"penalty, stability": rlm_sample_size(EPSILON, 2.0, 1.5, DELTA)},
        ),
        ({"error": 0.1}, {"relative entropy": kl_sample_size(EPSILON, DELTA, 0.1)}),
        (
            {"n_compared": 20},
            {
                "Hoeffding": uniform_sample_size(20, EPSILON, DELTA),
                "exact binomial, no errors": miss_sample_size(EPSILON, DELTA / 20),
            },
        ),
    ],
)
def test_plan_has_what_the_functions_say_and_only_what_applies(given, expected):
    plan = sample_size(EPSILON, DELTA, **given)
    sizes = sizes_of(plan)
    assert expected.items() <= sizes.items()
    test = {row.statement for row in plan.rows if row.purpose == "test"}
    assert set(sizes) == set(expected) | test


@pytest.mark.parametrize("size", [0, 1, 5, 60])
def test_bounds_are_solved_for_the_smallest_size(size):
    sizes = sizes_of(sample_size(EPSILON, DELTA, vc_dimension=size, n_kept=size))
    for name, bound, most in [
        ("VC dimension, uniform", lambda m: vc_generalization_bound(m, size, DELTA), EPSILON),
        ("VC dimension, realizable", lambda m: double_sample_bound(m, size, EPSILON), DELTA),
        ("compression", lambda m: compression_bound(m, size, 0, DELTA), EPSILON),
    ]:
        m = sizes[name]
        assert np.all(bound(np.arange(size + 1, m)) > most)
        assert np.all(bound(m * np.geomspace(1, 1e6, 500).round()) <= most)


def test_orders_of_magnitude_are_no_guarantee():
    plan = sample_size(0.1, vc_dimension=5)
    assert list(plan.by_purpose()) == ["train", "order", "test"]
    assert plan.n_samples("order") < plan.n_samples("train")
    for epsilon, delta in [(0, 0.1), (0.1, 0), (1e-200, 0.1)]:
        plan = sample_size(epsilon, delta, vc_dimension=5, n_kept=3, lipschitz=1, norm=1)
        assert {row.n_samples for row in plan.rows if row.purpose != "test"} >= {math.inf}
    assert sample_size(1, 1, vc_dimension=5, n_kept=3).n_samples("train") >= 1


def test_rows_go_from_the_loosest_to_the_tightest():
    plan = sample_size(0.1, n_hypotheses=10**6, n_ends=2, margin=0.3, error=0.05)
    groups = plan.by_purpose()
    assert list(groups) == ["train", "test"]
    for purpose, rows in groups.items():
        sizes = [row.n_samples for row in rows]
        assert sizes == sorted(sizes, reverse=True)
        assert plan.n_samples(purpose) == sizes[-1]
    with pytest.raises(ValueError, match="purpose must be one of 'test', 'train'"):
        plan.n_samples("extrapolated")


def test_logarithms_and_numbers_give_the_same_plan():
    by_log = sample_size(0.1, log_n_hypotheses=log_class_size("conjunctions", 100))
    assert sizes_of(by_log) == sizes_of(sample_size(0.1, n_hypotheses=3**100))


def test_exact_test_size_is_enough_and_no_larger_than_the_closed_form(rng):
    for error, epsilon in zip(rng.uniform(0, 0.6, 40), rng.uniform(0.02, 0.3, 40)):
        m = exact_test_size(epsilon, DELTA, error)
        k = math.ceil(error * kl_sample_size(epsilon, DELTA, error))
        assert m <= binomial_sample_size(error + epsilon, DELTA, k)
        assert binomial_upper(math.floor(error * m), m, DELTA) <= error + epsilon + 1e-9
        # Far fewer are not enough, with a whole number of errors or not.
        for fewer in range(1, int(0.8 * m)):
            k = math.ceil(error * fewer)
            assert binomial_upper(k, fewer, DELTA) > error + epsilon
    assert exact_test_size(0.1, 0.05, 0.0) == miss_sample_size(0.1, 0.05)
    assert exact_test_size(0.0, 0.05, 0.1) == exact_test_size(0.0, 0.05, 0.0) == math.inf
    assert exact_test_size(0.1, 0.0, 0.1) == math.inf
    assert exact_test_size(0.5, 0.1, 0.7) == 1.0


def test_statements_that_are_added_are_in_the_plan(monkeypatch):
    def silence(asked):
        yield PlannedSize("silence", 7.0, f"{asked.epsilon:g}", "nothing", "train")

    monkeypatch.setattr(_sample_size, "STATEMENTS", [*_sample_size.STATEMENTS, silence])
    plan = sample_size(0.1, n_ends=1)
    assert plan.rows[2] == PlannedSize("silence", 7.0, "0.1", "nothing", "train")
    assert plan.n_samples() == 7.0


def test_plan_as_text_html_dictionary_and_frame():
    plan = sample_size(0.1, n_hypotheses=1000, error=0.05)
    text, page = str(plan), plan._repr_html_()
    assert repr(plan) == text
    for row in plan.rows:
        assert f"{row.n_samples:,.0f}  {row.statement}" in text
        assert f"<td>{row.n_samples:,.0f}</td><td>{row.statement}</td>" in page
    assert "&lt;=" in page
    assert "accuracy 0.1 at confidence 0.95" in text
    frame = plan.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["n_samples"].tolist() == [row.n_samples for row in plan.rows]
    assert json.loads(json.dumps(plan.to_dict()))["rows"][0]["n_samples"] == 2120
    nothing = sample_size(0, n_hypotheses=5)
    assert nothing.to_dict()["rows"][0]["n_samples"] is None
    assert "unreachable" in str(nothing)
    assert "e+15" in str(sample_size(1e-7, log_n_hypotheses=40.0))


def test_arguments_are_checked():
    for name, value in [
        ("epsilon", 1.5),
        ("delta", -1),
        ("n_ends", 0),
        ("margin", 0),
        ("radius", -1),
        ("vc_dimension", 1.5),
        ("n_kept", -1),
        ("error", 2),
        ("n_compared", 0.5),
        ("epsilon", [0.1, 0.2]),
        ("n_hypotheses", [10, 20]),
    ]:
        with pytest.raises(ValueError, match=f"{name} must be"):
            sample_size(**{"epsilon": 0.1, name: value})
    with pytest.raises(ValueError, match="either n_hypotheses or log_n_hypotheses"):
        sample_size(0.1, n_hypotheses=3, log_n_hypotheses=2.0)
    with pytest.raises(ValueError, match="both lipschitz and norm"):
        sample_size(0.1, lipschitz=1.0)
    with pytest.raises(ValueError, match="all of estimator, X and y"):
        sample_size(0.1, estimator=LogisticRegression())
    with pytest.raises(ValueError, match="estimator must be a classifier"):
        sample_size(0.1, estimator=LinearRegression(), X=np.eye(10), y=np.arange(10))
    with pytest.raises(ValueError, match="more samples than 12"):
        y = np.arange(12) % 2
        sample_size(0.1, estimator=LogisticRegression(), X=np.eye(12), y=y, cv=5)


# ---------------------------------------------------------------- pilots


@pytest.mark.parametrize(
    ("limit", "factor", "exponent"), [(0.1, 1.0, 0.5), (0.0, 2.0, 1.0), (0.2, 0.0, 1.0)]
)
def test_power_laws_are_recovered(limit, factor, exponent):
    sizes = np.geomspace(10, 1000, 9)
    errors = limit + factor * sizes**-exponent
    curve = LearningCurve(sizes, np.column_stack([errors, errors]))
    np.testing.assert_allclose(curve.predict(sizes), errors, rtol=1e-9)
    np.testing.assert_allclose([curve.limit, curve.factor], [limit, factor], atol=1e-9)
    if factor:
        assert curve.exponent == pytest.approx(exponent)
        size = math.ceil((factor / 0.01) ** (1 / exponent) - 1e-6)
        assert curve.size_for(0.01, excess=True) == pytest.approx(size)
        assert curve.size_for(limit + 0.01) == pytest.approx(size)
        assert curve.size_for(limit + 0.01, 0.1) == pytest.approx(size)
        assert curve.size_for(limit / 2) == math.inf
    else:
        assert curve.size_for(0.2 + 1e-12) == 1.0
        assert curve.size_for(0.1) == math.inf


def test_fitted_laws_have_the_least_squares(rng):
    sizes = np.geomspace(10, 500, 8)
    steep = 1 / sizes - 0.01  # the best limit would be negative
    for trial in range(30):
        law = (0.3 * sizes**-0.3, steep, sizes / 2000)[trial % 3]
        errors = np.clip(law + rng.normal(scale=0.01, size=8), 0, 1)
        curve = LearningCurve(sizes, errors[:, None])
        designs = [np.column_stack([np.ones(8), sizes**-exponent]) for exponent in EXPONENTS]
        least = min(optimize.nnls(design, errors)[1] for design in designs)
        residual = np.linalg.norm(curve.predict(sizes) - errors)
        np.testing.assert_allclose(residual, least, rtol=1e-7)


def noisy(rng, n):
    X = rng.normal(size=(n, 5))
    return X, np.where(X[:, 0] + rng.normal(scale=0.5, size=n) > 0, "yes", "no")


def test_pilot_extends_a_learning_curve(rng):
    X, y = noisy(rng, 300)
    plan = sample_size(0.02, 0.1, estimator=LogisticRegression(), X=X, y=y, cv=5)
    curve = plan.curve
    assert curve.errors.shape == (len(curve.sizes), 5)
    assert curve.sizes[-1] == 240
    assert curve.last == pytest.approx(curve.errors[-1].mean())
    rows = {row.statement: row for row in plan.by_purpose()["extrapolated"]}
    excess = rows["learning curve, excess"].n_samples
    assert excess == curve.size_for(0.02, 0.1, excess=True) >= curve.size_for(0.02, excess=True)
    # The noise leaves an error of 15 %.
    assert rows["learning curve, error"].n_samples == math.inf
    # The error of the pilot is the one that a test is planned for.
    assert sizes_of(plan)["relative entropy"] == kl_sample_size(0.02, 0.1, curve.last)
    np.testing.assert_allclose(
        plan.to_dict()["curve"]["errors"], curve.errors.mean(axis=1), **EXACT
    )
    again = sample_size(0.02, 0.1, estimator=LogisticRegression(), X=pd.DataFrame(X), y=y, cv=5)
    assert sizes_of(again) == sizes_of(plan)
    assert plan == plan
    assert plan != again  # another curve


def test_parts_of_a_training_set_have_its_shares_of_classes(rng):
    y = np.repeat(["a", "b", "c"], [70, 25, 5])
    train = rng.permutation(100)[:90]
    ordered = in_proportion(train, y, rng)
    assert sorted(ordered) == sorted(train)
    for size in range(3, 90):
        for label in "abc":
            share = np.mean(y[train] == label)
            assert 0 < np.sum(y[ordered[:size]] == label)
            assert abs(np.sum(y[ordered[:size]] == label) - share * size) <= 2


def test_extrapolation_is_near_what_more_samples_bring():
    rng = np.random.default_rng(3)
    X, y = noisy(rng, 400)
    curve = sample_size(0.02, estimator=LogisticRegression(), X=X, y=y).curve
    X_test, y_test = noisy(rng, 20_000)
    X, y = noisy(rng, 3000)
    error = 1 - LogisticRegression().fit(X, y).score(X_test, y_test)
    # The errors on 400 samples have a standard error of 0.018.
    assert abs(curve.predict(3000) - error) < 0.05


def test_curves_are_checked():
    with pytest.raises(ValueError, match="a row for each of at least 3 sizes"):
        LearningCurve([1, 2], np.zeros((2, 3)))
    with pytest.raises(ValueError, match="a column for each fold"):
        LearningCurve([1, 2, 3], np.zeros(3))
