"""The constants of the losses are what random search finds, and what theorems make of them."""

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from scipy.optimize import minimize

from sklearn_sl.svm import MulticlassSVC
from sklearn_sl.theory import (
    loss_constants,
    loss_gradient,
    loss_value,
    surrogate_decomposition,
)

RESIDUAL = [
    "squared_error",
    "absolute_error",
    "huber",
    "epsilon_insensitive",
    "squared_epsilon_insensitive",
]
MARGIN = ["log_loss", "perceptron", "hinge", "squared_hinge", "exponential"]
CLASSES = ["multiclass_hinge", "cross_entropy"]
SMOOTH = ["squared_error", "huber", "squared_epsilon_insensitive", "log_loss", "squared_hinge"]
N = 100_000
SLACK = 1e-9


def targets_and_scores(loss, radius, rng, n=N):
    """Return targets and two scores each, within the radius that the constants are for."""
    a, b = rng.uniform(-radius, radius, size=(2, n))
    # Pairs close to each other as well, where a slope shows.
    b = np.where(rng.uniform(size=n) < 0.5, b, np.clip(a + 1e-3 * b, -radius, radius))
    if loss in RESIDUAL:
        y = rng.normal(size=n)
        return y, y + a, y + b
    return rng.choice([-1.0, 1.0], size=n), a, b


@pytest.mark.parametrize("radius", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("loss", RESIDUAL + MARGIN)
def test_constants_hold_for_random_pairs_and_no_smaller_ones_do(loss, radius, rng):
    constants = loss_constants(loss, radius, epsilon=0.7)
    y, a, b = targets_and_scores(loss, radius, rng)
    L_a, L_b = loss_value(loss, y, a, epsilon=0.7), loss_value(loss, y, b, epsilon=0.7)
    g_a, g_b = loss_gradient(loss, y, a, epsilon=0.7), loss_gradient(loss, y, b, epsilon=0.7)
    far = np.abs(a - b)
    slopes = np.abs(L_a - L_b) / np.maximum(far, 1e-9)
    # The slope over a distance of 1e-3 at least is the derivative but for the curvature.
    assert slopes.max() <= constants.lipschitz + 1e-6
    assert np.abs(g_a).max() <= constants.lipschitz + 1e-6
    assert np.abs(g_a).max() >= constants.lipschitz * 0.999 - 1e-6
    bends = np.abs(g_a - g_b)[far > 1e-7] / far[far > 1e-7]
    if np.isfinite(constants.smoothness):
        assert bends.max() <= constants.smoothness + 1e-5
        assert bends.max() >= constants.smoothness * 0.99
    else:
        assert bends.max() > 100
    # The tangent of a convex function is below it; of a strongly convex one, by a parabola.
    rise = L_b - L_a - g_a * (b - a)
    assert np.all(rise >= constants.strong_convexity / 2 * far**2 - SLACK)
    wide = far > 1e-2 * radius
    least = np.min(rise[wide] / far[wide] ** 2) * 2
    assert least <= constants.strong_convexity * 1.05 + 0.02


@pytest.mark.parametrize("loss", RESIDUAL + MARGIN)
def test_gradient_is_the_derivative_of_the_loss(loss, rng):
    y, a, _ = targets_and_scores(loss, 3.0, rng, n=10_000)
    step = 1e-6
    wanted = (loss_value(loss, y, a + step) - loss_value(loss, y, a - step)) / (2 * step)
    kink = np.abs(loss_gradient(loss, y, a + step) - loss_gradient(loss, y, a - step)) > 1e-3
    assert kink.sum() < 10
    np.testing.assert_allclose(loss_gradient(loss, y, a)[~kink], wanted[~kink], atol=1e-6)


@pytest.mark.parametrize("loss", CLASSES)
def test_constants_of_several_classes_hold_and_are_reached(loss, rng):
    constants = loss_constants(loss)
    scores = rng.normal(scale=4, size=(N, 4))
    other = scores + rng.normal(size=(N, 4)) * 10 ** rng.uniform(-3, 1, size=(N, 1))
    y = rng.integers(4, size=N)
    L, g = loss_value(loss, y, scores), loss_gradient(loss, y, scores)
    M, h = loss_value(loss, y, other), loss_gradient(loss, y, other)
    far = np.linalg.norm(scores - other, axis=1)
    assert np.all(np.abs(L - M) <= constants.lipschitz * far + SLACK)
    assert np.linalg.norm(g, axis=1).max() <= constants.lipschitz + SLACK
    assert np.linalg.norm(g, axis=1).max() >= 0.999 * constants.lipschitz
    bend = np.linalg.norm(g - h, axis=1)
    if np.isfinite(constants.smoothness):
        assert np.all(bend <= constants.smoothness * far + SLACK)
        assert np.max(bend / far) >= 0.97 * constants.smoothness
    # Convex: no smaller than any tangent.
    assert np.all(M - L - np.sum(g * (other - scores), axis=1) >= -SLACK)


@pytest.mark.parametrize("loss", CLASSES)
def test_gradient_of_several_classes_is_the_derivative_along_random_lines(loss, rng):
    scores, line = rng.normal(size=(2, 2000, 3))
    y, step = rng.integers(3, size=2000), 1e-6
    ahead, behind = (loss_value(loss, y, scores + s * line) for s in (step, -step))
    wanted = np.sum(loss_gradient(loss, y, scores) * line, axis=1)
    np.testing.assert_allclose((ahead - behind) / (2 * step), wanted, atol=1e-5)


@pytest.mark.parametrize("loss", [*RESIDUAL, *MARGIN, "zero_one"])
@pytest.mark.parametrize("epsilon", [0.1, 0.9, 2.0])
def test_surrogates_are_at_least_the_zero_one_loss(loss, epsilon, rng):
    """With their factor they are, and with no smaller one; hinge and square need none."""
    factor = loss_constants(loss, epsilon=epsilon).surrogate_factor
    y, a = rng.choice([-1.0, 1.0], size=N), rng.normal(scale=2, size=N)
    a[:100] = 0.0
    wrong = loss_value("zero_one", y, a) == 1
    least = loss_value(loss, y, a, epsilon=epsilon)[wrong].min()
    np.testing.assert_allclose(1 / factor, least, atol=1e-12)
    if loss in ("hinge", "squared_hinge", "exponential", "squared_error", "absolute_error"):
        assert factor == 1


@pytest.mark.parametrize("loss", CLASSES)
def test_losses_of_several_classes_are_at_least_the_zero_one_loss(loss, rng):
    """``L >= 1`` wherever another class scores as much as the true one: the multi-class hinge."""
    factor = loss_constants(loss).surrogate_factor
    scores, y = np.round(rng.normal(size=(N, 3)), 1), rng.integers(3, size=N)
    true = scores[np.arange(N), y]
    others = scores.copy()
    others[np.arange(N), y] = -np.inf
    wrong = others.max(axis=1) >= true
    assert np.all(factor * loss_value(loss, y, scores) >= wrong - SLACK)
    assert loss_value("multiclass_hinge", [0], [[0.0, 0.0, 0.0]]) == [1.0]


def test_multiclass_hinge_is_that_of_two_classes(rng):
    """With ``Psi(x, y) = y x / 2`` the scores of -1 and 1 are ``-a / 2`` and ``a / 2``."""
    a, y = rng.normal(scale=2, size=N), rng.integers(2, size=N)
    two = np.stack([-a / 2, a / 2], axis=1)
    wanted = loss_value("hinge", 2.0 * y - 1, a)
    np.testing.assert_allclose(loss_value("multiclass_hinge", y, two), wanted, **EXACT)
    entropy = loss_value("cross_entropy", y, two)
    np.testing.assert_allclose(entropy, loss_value("log_loss", 2.0 * y - 1, a), **EXACT)


def test_multiclass_hinge_is_lipschitz_in_the_weights(rng):
    """``rho = max ||Psi(x, j) - Psi(x, y)|| = sqrt(2) ||x||`` for a block of weights per class."""
    X, y = rng.normal(size=(5000, 3)), rng.integers(4, size=5000)
    V, W = rng.normal(size=(2, 5000, 3, 4))
    scores = [np.einsum("ij,ijk->ik", X, weights) for weights in (V, W)]
    change = np.abs(np.subtract(*(loss_value("multiclass_hinge", y, s) for s in scores)))
    far = np.linalg.norm((V - W).reshape(5000, -1), axis=1)
    rho = np.sqrt(2) * np.linalg.norm(X, axis=1)
    assert np.all(change <= rho * far + SLACK)
    one = loss_constants("multiclass_hinge").of_weights(x_norm=2.0)
    assert one.lipschitz == pytest.approx(2 * np.sqrt(2))


def test_multiclass_machine_minimises_the_multiclass_hinge(rng):
    X, y = rng.normal(size=(30, 2)), rng.integers(3, size=30)
    machine = MulticlassSVC(C=1.0, kernel="linear", tol=1e-8).fit(X, y)
    scores = machine.decision_function(X)
    hinge = loss_value("multiclass_hinge", y, scores).sum()
    W = np.linalg.lstsq(np.c_[X, np.ones(30)], scores, rcond=None)[0][:-1]
    objective = 0.5 * np.sum(W**2) + hinge
    assert objective == pytest.approx(machine.primal_objective_, rel=1e-4)


@pytest.mark.parametrize("loss", SMOOTH)
def test_constants_of_linear_scores_count_the_norm_of_the_sample(loss, rng):
    """Composition: ``g(<w, x> + b)`` is ``rho ||x||``-Lipschitz and ``beta ||x||^2``-smooth."""
    x, penalty = np.array([1.0, -2.0, 2.0]), 0.3
    of_weights = loss_constants(loss, 5.0).of_weights(3.0, penalty)
    V, W = rng.normal(size=(2, N, 3)) / 3
    y = rng.choice([-1.0, 1.0], size=N)

    def slope(w):
        score = w @ x
        return loss_gradient(loss, y, score)[:, None] * x + 2 * penalty * w

    far = np.linalg.norm(V - W, axis=1)
    assert np.all(np.linalg.norm(slope(V) - slope(W), axis=1) <= of_weights.smoothness * far + 1e-9)
    change = np.abs(loss_value(loss, y, V @ x) - loss_value(loss, y, W @ x))
    near = (np.abs(V @ x) < 4) & (np.abs(W @ x) < 4)
    assert np.all(change[near] <= of_weights.lipschitz * far[near] + 1e-9)
    # The penalty alone makes the sum strongly convex, and smooth functions lie below parabolas.
    f_v, f_w = (loss_value(loss, y, w @ x) + penalty * np.sum(w**2, axis=1) for w in (V, W))
    rise = f_w - f_v - np.sum(slope(V) * (W - V), axis=1)
    assert np.all(rise >= of_weights.strong_convexity / 2 * far**2 - 1e-9)
    assert np.all(rise <= of_weights.smoothness / 2 * far**2 + 1e-9)


def test_square_is_lipschitz_on_bounded_sets_only():
    """``x^2`` is ``rho``-Lipschitz for ``|x| <= rho / 2``, and not for all ``x``."""
    assert loss_constants("squared_error", radius=1.5).lipschitz == 3
    assert loss_constants("squared_error").lipschitz == np.inf
    for rho in (0.1, 1.0, 100.0):
        assert loss_value("squared_error", 0.0, 1 + rho) > rho * (1 + rho)


def test_sums_maxima_and_level_sets_of_convex_functions_are_convex(rng):
    """Also local minima are global: no value on a line is below that at a stationary point."""
    x, y = rng.normal(size=(4, 3)), np.array([1.0, -1.0, 1.0, 1.0])
    V, W = rng.normal(size=(2, N, 3))
    t = rng.uniform(size=(N, 1))

    def each(w):
        return np.stack([loss_value("log_loss", y[i], w @ x[i]) for i in range(4)])

    for combine in (lambda L: L.max(axis=0), lambda L: np.array([0.5, 1, 2, 3]) @ L):
        f, g, between = combine(each(V)), combine(each(W)), combine(each(t * V + (1 - t) * W))
        assert np.all(between <= t[:, 0] * f + (1 - t[:, 0]) * g + SLACK)
        assert np.all(between <= np.maximum(f, g) + SLACK)
    # x'Mx is convex exactly for positive semi-definite M.
    M = np.diag([1.0, 2.0, -0.5])
    form = np.einsum("ij,jk,ik->i", t * V + (1 - t) * W, M, t * V + (1 - t) * W)
    ends = [np.einsum("ij,jk,ik->i", U, M, U) for U in (V, W)]
    assert np.any(form > np.maximum(*ends))


def test_risk_of_a_strongly_convex_objective_rises_from_its_minimum_like_a_parabola(rng):
    X, y = rng.normal(size=(20, 3)), rng.choice([-1.0, 1.0], size=20)
    penalty = 0.2

    def objective(w):
        loss = loss_value("log_loss", y, X @ w).mean() + penalty * w @ w
        slope = loss_gradient("log_loss", y, X @ w) @ X / 20 + 2 * penalty * w
        return loss, slope

    best = minimize(objective, np.zeros(3), jac=True, tol=1e-12).x
    W = rng.normal(size=(20_000, 3)) * 10 ** rng.uniform(-3, 1, size=(20_000, 1)) + best
    values = loss_value("log_loss", y, W @ X.T).mean(axis=1) + penalty * np.sum(W**2, axis=1)
    rise = values - objective(best)[0]
    assert np.all(rise >= penalty * np.sum((W - best) ** 2, axis=1) - 1e-9)


@pytest.mark.parametrize("loss", ["log_loss", "squared_hinge", "exponential"])
def test_representer_theorem_gives_coefficients_for_any_loss(loss, rng):
    """At the minimum of ``sum V(y_i, f(x_i)) + lambda a'Ka``: ``a_i = -V'(y_i, f_i) / (2 l)``."""
    X, y, penalty = rng.normal(size=(15, 2)), rng.choice([-1.0, 1.0], size=15), 0.5
    K = np.exp(-np.sum((X[:, None] - X) ** 2, axis=2))

    def objective(a):
        f = K @ a
        value = loss_value(loss, y, f).sum() + penalty * a @ f
        return value, K @ (loss_gradient(loss, y, f) + 2 * penalty * a)

    a = minimize(objective, np.zeros(15), jac=True, tol=1e-14, options={"gtol": 1e-10}).x
    np.testing.assert_allclose(a, -loss_gradient(loss, y, K @ a) / (2 * penalty), atol=1e-5)


def test_gradient_of_a_random_sample_is_unbiased_for_that_of_the_risk(rng):
    """The mean over all samples is the gradient of the mean loss, for every loss."""
    X, w = rng.normal(size=(50, 4)), rng.normal(size=4)
    y = rng.choice([-1.0, 1.0], size=50)
    for loss in SMOOTH + ["exponential"]:
        samples = loss_gradient(loss, y, X @ w)[:, None] * X
        step = 1e-6 * np.eye(4)
        ahead, behind = (
            loss_value(loss, y[:, None], X @ (w[:, None] + s * step)).mean(axis=0) for s in (1, -1)
        )
        np.testing.assert_allclose(samples.mean(axis=0), (ahead - behind) / 2e-6, atol=1e-5)


def test_log_loss_is_the_negative_logarithm_of_the_likelihood(rng):
    """Empirical risk minimisation is maximum likelihood, for logistic regression."""
    y, a = rng.choice([-1.0, 1.0], size=1000), rng.normal(size=1000)
    likelihood = np.where(y == 1, 1 / (1 + np.exp(-a)), 1 / (1 + np.exp(a)))
    np.testing.assert_allclose(loss_value("log_loss", y, a), -np.log(likelihood), **ALGEBRA)


def test_surrogate_risk_bounds_the_risk_by_its_three_parts(rng):
    """On random discrete laws, for the best and for random weights."""
    for _ in range(20):
        X, y = rng.normal(size=(12, 2)), rng.choice([-1.0, 1.0], size=12)
        p = rng.dirichlet(np.ones(12))
        W = rng.normal(size=(5000, 2)) * 3
        risk = p @ loss_value("zero_one", y[:, None], X @ W.T)
        hinge = p @ loss_value("hinge", y[:, None], X @ W.T)
        parts = surrogate_decomposition(risk.min(), hinge.min(), hinge)
        assert np.all(risk <= parts.bound + SLACK)
        whole = parts.approximation + parts.optimization + parts.estimation
        np.testing.assert_allclose(whole, parts.bound, **EXACT)
        assert np.all(parts.estimation >= 0)


def test_losses_beyond_all_numbers_are_infinite():
    assert loss_value("exponential", 1, -1e4) == loss_value("squared_error", 0.0, 1e300) == np.inf
    assert loss_value("log_loss", 1, -1e4) == 1e4
    assert loss_value("hinge", -1, 1e300) == 1e300


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: loss_constants("square"), "loss must be one of"),
        (lambda: loss_value("hinge", 0, 1.0), "y must be -1 or 1"),
        (lambda: loss_value("cross_entropy", [3], [[0.0, 1.0]]), "y must have an index < 2"),
        (lambda: loss_value("cross_entropy", [0], [0.0, 1.0]), "score must be of shape"),
        (lambda: loss_constants("hinge", radius=-1), "radius must be"),
        (lambda: surrogate_decomposition(0.5, 0.2, 0.3), "best_risk <="),
    ],
)
def test_wrong_arguments_are_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
