"""Bayes rules of a known law, and what nearest neighbours make of it."""

import itertools
import math

import numpy as np
import pytest
from conftest import EXACT
from sklearn.neighbors import KNeighborsClassifier

from sklearn_sl.theory import (
    ball_volume_ratio,
    bayes_rule,
    cover_hart_bound,
    cover_hart_bracket,
    expected_loss,
    nearest_neighbor_error,
)

N_CASES = 100_000
LOSSES = {
    "zero_one": lambda y, f: float(y != f),
    "squared": lambda y, f: (y - f) ** 2,
    "absolute": lambda y, f: abs(y - f),
}
every_loss = pytest.mark.parametrize("loss", LOSSES)


def random_law(rng, n_points=3, n_targets=4):
    """Return a law with some probabilities of zero."""
    return rng.dirichlet(np.full(n_points * n_targets, 0.5)).reshape(n_points, n_targets)


@every_loss
def test_no_rule_is_better_than_that_of_bayes(loss, rng):
    targets = np.array([3.0, -1.0, 0.5, 7.0])
    for _ in range(25):
        joint = random_law(rng)
        rule = bayes_rule(joint, loss, targets)
        others = rng.uniform(-2, 8, size=(N_CASES // 25, 3))
        others[::2] = rng.choice(targets, size=(N_CASES // 50, 3))
        others[1::4] = rule.predictions + 0.01 * rng.normal(size=(N_CASES // 100, 3))
        distances = np.abs(others[:, :, None] - targets)
        losses = {"zero_one": distances > 0, "squared": distances**2, "absolute": distances}[loss]
        risks = np.sum(joint * losses, axis=(1, 2))
        assert np.all(risks >= rule.risk - 1e-12)
        assert expected_loss(joint, rule.predictions, loss, targets) == pytest.approx(rule.risk)
        assert expected_loss(joint, others[7], loss, targets) == pytest.approx(risks[7])


@every_loss
def test_risk_is_the_sum_over_all_outcomes(loss, rng):
    joint, targets = random_law(rng), np.array([1.0, 2.0, 4.0, 8.0])
    rule = bayes_rule(joint, loss, targets)
    total = sum(
        joint[x, j] * LOSSES[loss](targets[j], rule.predictions[x])
        for x, j in itertools.product(range(3), range(4))
    )
    assert rule.risk == pytest.approx(total)
    assert rule.risk == pytest.approx(joint.sum(axis=1) @ rule.conditional_risk)


def test_rules_are_mode_mean_and_median():
    joint = np.array([[0.1, 0.1, 0.2], [0.3, 0.2, 0.1]])
    targets = [0.0, 10.0, 1.0]
    np.testing.assert_array_equal(bayes_rule(joint, "zero_one", targets).predictions, [1, 0])
    np.testing.assert_allclose(
        bayes_rule(joint, "squared", targets).predictions, [1.2 / 0.4, 2.1 / 0.6], **EXACT
    )
    np.testing.assert_array_equal(bayes_rule(joint, "absolute", targets).predictions, [1, 0])
    # Binary labels: the least of eta and 1 - eta.
    eta, mass = np.array([0.1, 0.5, 0.8]), np.array([0.5, 0.2, 0.3])
    joint = mass[:, None] * np.column_stack([1 - eta, eta])
    assert bayes_rule(joint).risk == pytest.approx(mass @ np.minimum(eta, 1 - eta))


def test_points_without_probability_get_the_rule_of_the_targets():
    joint = [[0.0, 0.0, 0.0], [0.2, 0.5, 0.3]]
    np.testing.assert_array_equal(bayes_rule(joint).predictions, [1, 1])
    np.testing.assert_allclose(bayes_rule(joint, "squared").predictions, 1.1)
    assert bayes_rule(joint).risk == pytest.approx(0.5)


def test_cover_and_hart_hold_for_random_laws_and_are_attained(rng):
    for n_classes in (2, 3, 10):
        given = rng.dirichlet(np.full(n_classes, 0.5), size=N_CASES)
        bayes, neighbour = 1 - given.max(axis=1), np.sum(given * (1 - given), axis=1)
        bound = cover_hart_bound(bayes, n_classes)
        assert np.all(neighbour <= bound + 1e-12) and np.all(bound <= 2 * bayes + 1e-12)
        lower, upper = cover_hart_bracket(neighbour, n_classes)
        assert np.all(lower <= bayes + 1e-9) and np.all(bayes <= upper + 1e-12)
        # Attained if all classes but one are equally likely.
        e = rng.uniform(0, 1 - 1 / n_classes, N_CASES)
        attained = (1 - e) * e + e * (1 - e / (n_classes - 1))
        np.testing.assert_allclose(cover_hart_bound(e, n_classes), attained, **EXACT)
        assert np.all(np.diff(cover_hart_bound(np.sort(e), n_classes)) >= -1e-15)
        # Where the slope is zero the root loses half of the digits.
        flat = e > 0.99 * (1 - 1 / n_classes)
        inverse = cover_hart_bracket(np.minimum(attained, 1 - 1 / n_classes), n_classes)[0]
        np.testing.assert_allclose(inverse[~flat], e[~flat], rtol=1e-9)


def test_bound_of_the_lecture_is_the_same_formula():
    p, C = 0.7, 4
    printed = (1 - p) * (1 - (1 - p) / (C - 1) + p)
    assert cover_hart_bound(1 - p, C) == pytest.approx(printed)


def test_cover_and_hart_for_mixtures_of_points(rng):
    for _ in range(2000):
        joint = random_law(rng)
        assert nearest_neighbor_error(joint) <= cover_hart_bound(bayes_rule(joint).risk, 4) + 1e-12


def test_nearest_neighbour_of_many_samples_has_the_error_of_the_limit(rng):
    joint = np.array([[0.3, 0.1, 0.1], [0.05, 0.25, 0.2]])
    drawn = rng.choice(6, size=(2, 20_000), p=joint.ravel())
    # Points spread out, so that the nearest neighbour is one of many of the same law.
    X = drawn // 3 * 10.0 + rng.uniform(size=drawn.shape)
    model = KNeighborsClassifier(1).fit(X[0][:, None], drawn[0] % 3)
    error = 1 - model.score(X[1][:, None], drawn[1] % 3)
    assert error == pytest.approx(nearest_neighbor_error(joint), abs=0.02)


def test_inner_balls_are_a_small_share(rng):
    for d in (1, 2, 3):
        cube = rng.uniform(-1, 1, size=(N_CASES, d))
        radii = np.linalg.norm(cube, axis=1)
        share = np.sum(radii <= 0.5) / np.sum(radii <= 1)
        assert share == pytest.approx(ball_volume_ratio(d), abs=0.01)
    np.testing.assert_allclose(ball_volume_ratio([10, 20], 0.9), [0.9**10, 0.9**20])
    assert ball_volume_ratio(3, 1.0) == 1 and type(ball_volume_ratio(3)) is float


def test_brackets_are_monotone():
    errors, classes = np.linspace(0, 0.5, 100)[:, None], np.arange(2, 30)
    lower, upper = cover_hart_bracket(errors, classes)
    assert np.all(np.diff(lower, axis=0) > 0) and np.all(np.diff(upper, axis=0) > 0)
    assert np.all(np.diff(lower, axis=1) <= 1e-15)
    assert np.all(np.diff(cover_hart_bound(errors, classes), axis=1) >= -1e-15)
    assert np.all(np.diff(ball_volume_ratio(np.arange(1, 60), 0.7)) < 0)


def test_edges_of_cover_and_hart():
    assert cover_hart_bound(0.0) == 0 and cover_hart_bound(0.5) == 0.5
    assert cover_hart_bracket(0.0) == (0, 0) and cover_hart_bracket(0.5) == (0.5, 0.5)
    assert type(cover_hart_bound(0.1, 3)) is float
    assert math.isclose(cover_hart_bound(2 / 3, 3), 2 / 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bayes_rule([[0.5, 0.4]]), "joint must have the sum 1; got 0.9"),
        (lambda: bayes_rule([0.5, 0.5]), r"joint must be a matrix .* got shape \(2,\)"),
        (lambda: bayes_rule([[1.5, -0.5]]), r"joint must be in \[0, 1\]"),
        (lambda: bayes_rule([[0.5, 0.5]], "hinge"), "loss must be \"zero_one\", .* got 'hinge'"),
        (lambda: bayes_rule([[0.5, 0.5]], targets=[1, 1]), "targets must be 2 different numbers"),
        (lambda: expected_loss([[0.5, 0.5]], [0, 1]), "one entry for each of 1 points; got 2"),
        (lambda: cover_hart_bound(0.6), "bayes_error must be at most 1 - 1 / n_classes"),
        (lambda: cover_hart_bound(0.1, 1), "n_classes must be an integer >= 2; got 1"),
        (lambda: ball_volume_ratio(2, 1.5), r"ratio must be in \(0, 1\]; got 1.5"),
    ],
)
def test_messages(call, message):
    with pytest.raises(ValueError, match=message):
        call()
