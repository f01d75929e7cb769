"""Gradient descent and stochastic gradient descent keep their promises."""

import itertools

import numpy as np
import pytest
from conftest import EXACT
from scipy.optimize import minimize_scalar

from sklearn_sl.theory import (
    batch_gradient_moment,
    control_variate,
    gradient_descent_bound,
    gradient_descent_rate,
    gradient_descent_steps,
    loss_constants,
    loss_gradient,
    loss_value,
    markov_excess,
    ogd_bound,
    strongly_convex_descent_bound,
)

N = 100_000


def descend(gradient, shape, n_steps, rate, project=None):
    """Return the average iterate of many runs at once, from zero."""
    w = np.zeros(shape)
    total = np.zeros(shape)
    for t in range(1, n_steps + 1):
        total += w
        w = w - (rate(t) if callable(rate) else rate) * gradient(w)
        if project is not None:
            w = project(w)
    return total / n_steps


def to_ball(radius):
    """Return the projection of rows onto the ball."""
    return lambda w: (
        w * np.minimum(1, radius / np.maximum(np.linalg.norm(w, axis=-1), 1e-300))[..., None]
    )


def test_any_steps_satisfy_the_inequality_that_all_bounds_come_from(rng):
    """``sum <w_t - u, v_t> <= ||u||^2 / 2 eta + eta / 2 sum ||v_t||^2`` for any vectors."""
    v = rng.normal(size=(N, 6, 2)) * 10 ** rng.uniform(-2, 2, size=(N, 6, 1))
    u = rng.normal(size=(N, 1, 2)) * 10 ** rng.uniform(-2, 2, size=(N, 1, 1))
    eta = 10 ** rng.uniform(-2, 2, size=N)
    w = np.concatenate(
        [np.zeros((N, 1, 2)), -eta[:, None, None] * v.cumsum(axis=1)[:, :-1]], axis=1
    )
    left = np.sum((w - u) * v, axis=(1, 2))
    bound = ogd_bound(np.linalg.norm(u, axis=(1, 2)), eta, np.sum(v**2, axis=(1, 2)))
    assert np.all(left <= bound * (1 + 1e-9) + 1e-9)


@pytest.mark.parametrize("tuned", [True, False])
def test_average_of_gradient_descent_is_within_its_bound(tuned, rng):
    """On ``mean |<w, x> - y|``, ``||x|| <= 1``: 25,000 problems, 16 comparators each."""
    T, n, B = 25, 4, 1.5
    X = to_ball(1.0)(rng.normal(size=(N // 4, n, 2)))
    y = rng.normal(size=(N // 4, n)) * 2

    def errors(w):
        return np.einsum("pij,pj->pi", X, w) - y

    def loss(w):
        return np.abs(errors(w)).mean(axis=1)

    def gradient(w):
        return np.einsum("pi,pij->pj", np.sign(errors(w)), X) / n

    eta = gradient_descent_rate(T, 1.0, B) if tuned else 0.7
    average = descend(gradient, (N // 4, 2), T, eta)
    bound = gradient_descent_bound(T, 1.0, B, None if tuned else eta)
    excess = []
    for angle in np.linspace(0, 2 * np.pi, 16, endpoint=False):
        u = np.broadcast_to(B * np.array([np.cos(angle), np.sin(angle)]), (N // 4, 2))
        excess.append(loss(average) - loss(u))
    assert np.max(excess) <= bound + 1e-9
    assert np.max(excess) > 0.25 * bound


def test_bound_of_gradient_descent_is_reached_up_to_a_factor():
    """A function of one variable, ``rho max(0, B - w)``, takes half of the bound."""
    for T, rho, B in [(4, 1.0, 1.0), (100, 2.0, 0.5), (2500, 0.1, 7.0)]:
        eta = gradient_descent_rate(T, rho, B)
        average = descend(lambda w, rho=rho, B=B: -rho * (w < B - 1e-9), (), T, eta)
        share = rho * abs(average - B) / gradient_descent_bound(T, rho, B)
        assert 0.45 < share <= 1 + 1e-9


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "absolute_error", "log_loss", "huber"])
def test_average_of_stochastic_descent_is_within_its_bound(loss, projected, rng):
    """The mean over 1000 runs with one random sample a step, against the best of the ball."""
    T, B, runs = 100, 1.0, 1000
    X = to_ball(1.0)(rng.normal(size=(30, 2)))
    y = rng.choice([-1.0, 1.0], size=30)
    rho = loss_constants(loss, epsilon=0.5).of_weights(1.0).lipschitz

    def gradient(w):
        i = rng.integers(30, size=runs)
        slope = loss_gradient(loss, y[i], np.sum(X[i] * w, axis=1), epsilon=0.5)
        return slope[:, None] * X[i]

    def risk(w):
        return loss_value(loss, y[:, None], X @ w.T, epsilon=0.5).mean(axis=0)

    eta = gradient_descent_rate(T, rho, B)
    average = descend(gradient, (runs, 2), T, eta, to_ball(B) if projected else None)
    angle = np.linspace(0, 2 * np.pi, 400)
    best = min(risk(r * np.stack([np.cos(angle), np.sin(angle)], axis=1)).min() for r in (0.5, B))
    excess = risk(average) - best
    bound = gradient_descent_bound(T, rho, B)
    assert np.mean(excess) <= bound
    # And with high probability, by Markov's inequality, if no excess is negative.
    beyond = np.mean(excess > markov_excess(bound, 0.2))
    assert beyond <= 0.2
    if projected:
        assert np.linalg.norm(average, axis=1).max() <= B + 1e-12


@pytest.mark.parametrize("penalty", [0.1, 1.0])
def test_stochastic_descent_on_a_strongly_convex_objective_is_within_its_bound(penalty, rng):
    """Hinge loss and ``penalty / 2 ||w||^2``, with rates ``1 / (penalty t)``: Pegasos."""
    T, runs = 400, 300
    X = to_ball(1.0)(rng.normal(size=(30, 2)))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=30) > 0, 1.0, -1.0)
    norms = []

    def gradient(w):
        norms.append(np.linalg.norm(w, axis=1).max())
        i = rng.integers(30, size=runs)
        slope = loss_gradient("hinge", y[i], np.sum(X[i] * w, axis=1))
        return slope[:, None] * X[i] + penalty * w

    def objective(w):
        hinge = loss_value("hinge", y[:, None], X @ w.T).mean(axis=0)
        return hinge + penalty / 2 * np.sum(w**2, axis=1)

    average = descend(gradient, (runs, 2), T, lambda t: 1 / (penalty * t))
    grid = np.linspace(-1 / penalty, 1 / penalty, 401)
    best = objective(np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)).min()
    bound = strongly_convex_descent_bound(T, 2.0, penalty)
    assert np.mean(objective(average)) - best <= bound
    # The steps stay in the ball that the Lipschitz constant is for.
    assert max(norms) <= 1 / penalty + 1e-9


def test_best_rate_minimises_the_bound(rng):
    T = rng.integers(1, 10**6, size=N)
    rho, B = 10 ** rng.uniform(-2, 2, size=(2, N))
    best = gradient_descent_bound(T, rho, B)
    with_rate = gradient_descent_bound(T, rho, B, gradient_descent_rate(T, rho, B))
    np.testing.assert_allclose(with_rate, best, **EXACT)
    others = gradient_descent_bound(T, rho, B, 10 ** rng.uniform(-5, 5, size=N))
    assert np.all(best <= others * (1 + 1e-12))


def test_number_of_steps_inverts_the_bound(rng):
    epsilon, rho, B = 10 ** rng.uniform(-2, 1, size=(3, N))
    T = gradient_descent_steps(epsilon, rho, B)
    assert np.all(gradient_descent_bound(T, rho, B) <= epsilon * (1 + 1e-9))
    more = T > 1
    fewer = gradient_descent_bound(np.maximum(T - 1, 1), rho, B)
    assert np.all(fewer[more] >= epsilon[more] * (1 - 1e-9))
    delta = rng.uniform(0.001, 1, size=N)
    sure = gradient_descent_steps(epsilon, rho, B, delta)
    reached = markov_excess(gradient_descent_bound(sure, rho, B), delta)
    assert np.all(reached <= epsilon * (1 + 1e-9))


@pytest.mark.parametrize(
    ("bound", "args", "signs"),
    [
        (gradient_descent_bound, (10, 1.0, 2.0), (-1, 1, 1)),
        (gradient_descent_rate, (10, 1.0, 2.0), (-1, -1, 1)),
        (gradient_descent_steps, (0.01, 1.0, 2.0, 0.1), (-1, 1, 1, -1)),
        (strongly_convex_descent_bound, (10, 1.0, 0.5), (-1, 1, -1)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_bounds_are_monotone_in_each_argument_and_floats_for_floats(bound, args, signs):
    assert type(bound(*args)) is float
    for place, sign in enumerate(signs):
        values = bound(*args[:place], args[place] * np.arange(1, 8), *args[place + 1 :])
        assert np.all(sign * np.diff(values) > 0)
        np.testing.assert_allclose(values[0], bound(*args), **EXACT)


@pytest.mark.parametrize("replace", [True, False])
def test_moment_of_a_batch_is_the_mean_over_all_batches(replace, rng):
    gradients = rng.normal(size=(4, 3))
    for size in (1, 2, 3, 4):
        draws = itertools.product if replace else itertools.combinations
        batches = draws(range(4), repeat=size) if replace else draws(range(4), size)
        means = np.array([gradients[list(batch)].mean(axis=0) for batch in batches])
        # Unbiased, and of the moment that the formula gives.
        np.testing.assert_allclose(means.mean(axis=0), gradients.mean(axis=0), **EXACT)
        moment = batch_gradient_moment(gradients, size, replace)
        np.testing.assert_allclose(np.mean(np.sum(means**2, axis=1)), moment, **EXACT)


def test_control_variate_is_the_best_of_all_coefficients(rng):
    for _ in range(50):
        y = rng.normal(size=8)
        v = y * rng.normal() + rng.normal(size=8)
        best = control_variate(v, y)

        def variance(c, v=v, y=y):
            return np.var(v + c * (y - y.mean()))

        found = minimize_scalar(variance, bracket=(-5, 5)).x
        assert best.coefficient == pytest.approx(found, abs=1e-6)
        assert best.variance == pytest.approx(variance(best.coefficient))
        wanted = np.var(v) - np.cov(v, y, bias=True)[0, 1] ** 2 / np.var(y)
        assert best.variance == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gradient_descent_bound(0, 1.0, 1.0), "n_steps must be an integer >= 1"),
        (lambda: gradient_descent_rate(1, 0.0, 1.0), "lipschitz must be > 0"),
        (lambda: gradient_descent_steps(-1.0, 1.0, 1.0), "epsilon must be > 0"),
        (lambda: strongly_convex_descent_bound(1, 1.0, 0.0), "strong_convexity must be > 0"),
        (lambda: batch_gradient_moment([1.0], 1), "gradients must be a non-empty"),
        (lambda: batch_gradient_moment([[1.0]], 2, replace=False), "batch_size must be <="),
        (lambda: control_variate([1.0, 2.0], [1.0, 1.0]), "control must have values"),
        (lambda: control_variate([1.0, 2.0], [1.0]), "must be 1-D arrays of one length"),
    ],
)
def test_wrong_arguments_are_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
