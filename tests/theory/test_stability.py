"""Stability and overfitting are one; what regularised losses and support vectors promise."""

import itertools

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from joblib import parallel_config
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.tree import DecisionTreeClassifier

from sklearn_sl.kernel_ridge import KernelRidge
from sklearn_sl.svm import SVC
from sklearn_sl.theory import (
    Stability,
    gradient_descent_steps,
    markov_excess,
    replace_one_stability,
    rlm_excess_bound,
    rlm_movement_bound,
    rlm_penalty,
    rlm_sample_size,
    rlm_stability_bound,
    soft_svm_bound,
    support_vector_bound,
)

N = 100_000


def draw_signs(rng, size=12):
    """Return two features and noisy signs."""
    X = rng.uniform(-1, 1, size=(size, 2))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=size) > 0, 1, -1)


def ragged(rng):
    """Return data of a random size."""
    return draw_signs(rng, int(rng.integers(5, 1000)))


# ---------------------------------------------------------------- of any estimator


def nearest(S, x):
    """Return the label of the first nearest sample of ``S``, a list of (x, y)."""
    return min(S, key=lambda z: abs(z[0] - x))[1]


def majority(S, x):
    """Return the label of most samples, 1 in a tie."""
    return int(2 * sum(y for _, y in S) >= len(S))


@pytest.mark.parametrize("learn", [nearest, majority])
def test_overfitting_gap_is_instability_exactly(learn):
    """By enumeration of all samples of three from a law on five points, as the theorem says."""
    points = [(0.0, 0), (0.0, 1), (1.0, 1), (2.5, 0), (4.0, 1)]
    law = dict(zip(points, [0.1, 0.15, 0.3, 0.25, 0.2], strict=True))
    gap = instability = 0.0
    for S in itertools.product(points, repeat=3):
        chance = np.prod([law[z] for z in S])
        wrong = {z: learn(S, z[0]) != z[1] for z in points}
        gap += chance * (sum(law[z] * wrong[z] for z in points) - np.mean([wrong[z] for z in S]))
        for new, i in itertools.product(points, range(3)):
            other = [*S[:i], new, *S[i + 1 :]]
            rise = float(learn(other, S[i][0]) != S[i][1]) - wrong[S[i]]
            instability += chance * law[new] / 3 * rise
    assert gap > 0.01
    np.testing.assert_allclose(gap, instability, **EXACT)


@pytest.mark.parametrize(
    ("estimator", "loss"),
    [
        (KNeighborsClassifier(1), "zero_one"),
        (DecisionTreeClassifier(max_depth=2, max_features=1), "zero_one"),
        (SVC(kernel="linear", C=1.0), "hinge"),
        (KernelRidge(alpha=0.3), "squared_error"),
        (KernelRidge(alpha=3.0), lambda model, X, y: np.abs(model.predict(X) - y)),
    ],
    ids=["neighbour", "tree", "machine", "ridge", "callable"],
)
def test_simulated_gap_and_instability_agree(estimator, loss):
    """Samples with laws of their own will do: the first two have given labels, so both occur."""

    def draw(rng):
        X, y = draw_signs(rng)
        y[:2] = 1, -1
        return X, y

    result = replace_one_stability(estimator, draw, loss, n_repeats=100, random_state=3)
    error = result.standard_error
    assert abs(result.mean.gap - result.mean.instability) < 4 * error.difference
    assert 0 < error.difference < 0.2
    assert result.n_repeats == 100


def test_simulation_does_not_depend_on_workers_or_the_number_of_repeats():
    tree = make_pipeline(DecisionTreeClassifier(splitter="random"))
    few = replace_one_stability(tree, draw_signs, n_repeats=5, random_state=0)
    with parallel_config(backend="threading"):
        more = replace_one_stability(tree, draw_signs, n_repeats=8, random_state=0, n_jobs=2)
    for name in ("gap", "instability", "risk"):
        np.testing.assert_array_equal(getattr(few, name), getattr(more, name)[:5])


class Recorder(ClassifierMixin, BaseEstimator):
    """Predicts 0, and keeps what it was fitted to."""

    seen = []

    def fit(self, X, y):
        self.seen.append((X, y))
        return self

    def predict(self, X):
        return np.zeros(len(X))


def test_one_random_sample_is_replaced_by_a_new_one_with_its_target():
    drawn = []

    def draw(rng):
        drawn.append((rng.normal(size=(4, 1)), rng.normal(size=4)))
        return drawn[-1]

    Recorder.seen.clear()
    replace_one_stability(Recorder(), draw, n_repeats=40, random_state=0)
    places = []
    for r in range(40):
        (X, y), (X_new, y_new) = drawn[2 * r : 2 * r + 2]
        (X_first, y_first), (X_other, y_other) = Recorder.seen[2 * r : 2 * r + 2]
        assert np.array_equal(X_first, X) and np.array_equal(y_first, y)
        (i,) = np.flatnonzero(X_other[:, 0] != X[:, 0])
        assert X_other[i] == X_new[i] and y_other[i] == y_new[i]
        assert np.count_nonzero(y_other != y) == 1
        places.append(i)
    assert set(places) == {0, 1, 2, 3}


def test_errors_of_the_means_are_those_of_independent_repeats(rng):
    values = rng.normal(size=(3, 40))
    result = Stability(*values)
    np.testing.assert_allclose(list(result.mean.values()), values.mean(axis=1), **EXACT)
    wanted = np.std(values[0] - values[1], ddof=1) / np.sqrt(40)
    assert result.standard_error.difference == pytest.approx(wanted)


# ---------------------------------------------------------------- of regularised losses


def ridge_hinge(X, y, penalty):
    """Return the minimiser of the mean hinge loss and the penalty, by its dual programme."""
    m, signed = len(y), X * y[:, None]
    K = signed @ signed.T / (2 * penalty)

    def dual(a):
        Ka = K @ a
        return a @ Ka / 2 - a.sum(), Ka - 1

    bounds = [(0, 1 / m)] * m
    a = minimize(dual, np.zeros(m), jac=True, bounds=bounds, options={"ftol": 1e-15}).x
    return signed.T @ a / (2 * penalty)


def test_replacing_any_sample_moves_the_weights_no_farther_than_the_bound(rng):
    """And changes no loss by more than ``2 rho^2 / (lambda m)``, every time."""
    for penalty, m in [(0.05, 10), (0.5, 20), (2.0, 5)]:
        X, y = draw_signs(rng, m)
        X /= np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))
        w = ridge_hinge(X, y, penalty)
        for i in range(m):
            X_other, y_other = X.copy(), y.copy()
            X_other[i], y_other[i] = -X[i], y[i]
            v = ridge_hinge(X_other, y_other, penalty)
            assert np.linalg.norm(v - w) <= rlm_movement_bound(1.0, penalty, m) + 1e-6
            change = np.maximum(0, 1 - y * (X @ v)) - np.maximum(0, 1 - y * (X @ w))
            assert np.all(np.abs(change) <= rlm_stability_bound(1.0, penalty, m) + 1e-6)


def test_movement_bound_holds_for_absolute_losses_in_one_dimension(rng):
    """``mean |w - y_i| + lambda w^2``, 10^5 times."""
    m, penalty = 7, 10 ** rng.uniform(-2, 1, size=N)

    def fit(y):
        # The derivative is a step function and a line: its root is a kink, or on a step.
        levels = np.arange(-m, m + 1, 2) / (2 * m * penalty[:, None])
        places = np.concatenate([y, -levels], axis=1)
        losses = np.abs(places[:, :, None] - y[:, None]).mean(axis=2)
        objective = losses + penalty[:, None] * places**2
        return places[np.arange(len(y)), objective.argmin(axis=1)]

    y = rng.normal(size=(N, m)) * 10 ** rng.uniform(-2, 1, size=(N, 1))
    other = y.copy()
    other[:, 0] = rng.normal(size=N) * 10 ** rng.uniform(-2, 2, size=N)
    v, w = fit(y), fit(other)
    bound = rlm_movement_bound(1.0, penalty, m)
    assert np.all(np.abs(v - w) <= bound * (1 + 1e-9))
    # The inequalities of both samples together give half of it, which is reached.
    assert 0.499 < np.max(np.abs(v - w) / bound) <= 0.5 * (1 + 1e-9)
    assert rlm_stability_bound(3.0, 0.1, 7) == pytest.approx(3 * rlm_movement_bound(3.0, 0.1, 7))


def test_best_penalty_minimises_the_bound(rng):
    rho, B = 10 ** rng.uniform(-2, 2, size=(2, N))
    m = rng.integers(1, 10**6, size=N)
    best = rlm_excess_bound(rho, B, m)
    at_best = rlm_excess_bound(rho, B, m, penalty=rlm_penalty(rho, B, m))
    np.testing.assert_allclose(at_best, best, **ALGEBRA)
    others = rlm_excess_bound(rho, B, m, penalty=10 ** rng.uniform(-6, 6, size=N))
    assert np.all(best <= others * (1 + 1e-12))
    assert rlm_excess_bound(2.0, 3.0, 50) == pytest.approx(2.4)  # not 0.196, as misprinted


def test_sample_size_inverts_the_bound(rng):
    epsilon, rho, B = 10 ** rng.uniform(-3, 1, size=(3, N))
    m = rlm_sample_size(epsilon, rho, B)
    assert np.all(rlm_excess_bound(rho, B, m) <= epsilon * (1 + 1e-9))
    more = m > 1
    assert np.all(rlm_excess_bound(rho, B, m - more)[more] >= epsilon[more] * (1 - 1e-9))
    delta = rng.uniform(1e-6, 1, size=N)
    sure = rlm_sample_size(epsilon, rho, B, delta)
    assert np.all(sure >= m)
    assert np.all(markov_excess(rlm_excess_bound(rho, B, sure), delta) <= epsilon * (1 + 1e-9))


def test_expected_risk_of_ridge_hinge_is_within_its_bound(rng):
    """All four forms: of ``u``, of the best ``u`` in a ball, tuned, and for the zero-one loss."""
    m, penalty, B = 20, 0.2, 1.5
    u = np.array([B, 0.0])
    X_new, y_new = draw_signs(rng, 20_000)
    X_new /= np.maximum(1, np.linalg.norm(X_new, axis=1, keepdims=True))

    def hinge(w):
        return np.mean(np.maximum(0, 1 - y_new * (X_new @ w)))

    tuned = rlm_penalty(1.0, B, m)
    risks = {penalty: [], tuned: []}
    gaps, errors = [], []
    for _ in range(30):
        X, y = draw_signs(rng, m)
        X /= np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))
        for each in risks:
            w = ridge_hinge(X, y, each)
            risks[each].append(hinge(w))
        gaps.append(risks[penalty][-1] - np.mean(np.maximum(0, 1 - y * (X @ w))))
        errors.append(np.mean(y_new * (X_new @ w) <= 0))
    assert np.mean(gaps) <= rlm_stability_bound(1.0, penalty, m)
    assert np.mean(risks[penalty]) <= soft_svm_bound(1.0, B, m, penalty, hinge_risk=hinge(u))
    best = min(hinge(B * np.array([np.cos(t), np.sin(t)])) for t in np.linspace(-0.5, 0.5, 21))
    assert np.mean(errors) <= np.mean(risks[tuned])
    assert np.mean(risks[tuned]) <= soft_svm_bound(1.0, B, m, hinge_risk=best)


def test_intercept_of_a_machine_counts_as_a_feature_that_is_one():
    bound = soft_svm_bound(2.0, 3.0, 100, 0.1, hinge_risk=0.2, intercept=True)
    assert bound == pytest.approx(0.2 + 0.1 * 9 + 2 * (2.0**2 + 1) / (0.1 * 100))
    assert soft_svm_bound(2.0, 3.0, 100) == pytest.approx(np.sqrt(8 * 4 * 9 / 100))


def test_markov_turns_expectations_into_probabilities(rng):
    """On random laws of a non-negative excess, 10^5 at once."""
    values = rng.exponential(size=(N, 5)) ** 3
    law = rng.dirichlet(np.ones(5), size=N)
    delta = rng.uniform(0.01, 1, size=N)
    level = markov_excess(np.sum(law * values, axis=1), delta)
    beyond = np.sum(law * (values > level[:, None]), axis=1)
    assert np.all(beyond <= delta + 1e-12)
    assert beyond.max() > 0.5


@pytest.mark.parametrize(
    ("bound", "args", "signs"),
    [
        (rlm_stability_bound, (1.0, 0.1, 50), (1, -1, -1)),
        (rlm_movement_bound, (1.0, 0.1, 50), (1, -1, -1)),
        (rlm_penalty, (1.0, 2.0, 50), (1, -1, -1)),
        (rlm_excess_bound, (1.0, 2.0, 50), (1, 1, -1)),
        (rlm_sample_size, (0.1, 1.0, 2.0, 0.1), (-1, 1, 1, -1)),
        (soft_svm_bound, (1.0, 2.0, 50), (1, 1, -1)),
        (support_vector_bound, (5.0, 50), (1, -1)),
        (markov_excess, (0.1, 0.5), (1, -1)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_bounds_are_monotone_in_each_argument_and_floats_for_floats(bound, args, signs):
    assert type(bound(*args)) is float
    for place, sign in enumerate(signs):
        grid = (
            args[place] * np.arange(1, 8)
            if args[place] >= 1
            else args[place] * (1 + np.arange(8) / 8)
        )
        values = bound(*args[:place], grid, *args[place + 1 :])
        assert np.all(sign * np.diff(values) > 0)
        np.testing.assert_allclose(values[0], bound(*args), **EXACT)


def test_sizes_beyond_all_numbers_are_infinite():
    for size in (rlm_sample_size, gradient_descent_steps):
        assert size(1e-200, 1.0, 1.0) == size(1e-300, 1.0, 1.0, 1e-300) == np.inf
        assert size(1e-200, [1.0], 1.0).tolist() == [np.inf]
        assert size(0.1, 0.0, 1.0) == 1
    assert rlm_stability_bound(1e200, 1.0, 1) == rlm_excess_bound(1.0, 1e200, 1, 0.1) == np.inf


# ---------------------------------------------------------------- support vectors


@pytest.mark.parametrize("C", [0.3, np.inf])
def test_expected_error_is_at_most_the_expected_share_of_support_vectors(C, rng):
    """By simulation, for hard and soft margins: error after ``m - 1``, support vectors of ``m``."""
    m, errors, supports = 15, [], []
    for _ in range(120):
        X = rng.normal(size=(m + 200, 2))
        y = np.where(X[:, 0] > 0, 1, -1)
        if C == np.inf:
            X[:, 0] += 0.2 * y
        else:
            y[rng.uniform(size=len(y)) < 0.1] *= -1
        if len(set(y[: m - 1])) < 2:
            continue
        machine = SVC(kernel="linear", C=C).fit(X[:m], y[:m])
        supports.append(machine.n_support_.sum())
        smaller = SVC(kernel="linear", C=C).fit(X[: m - 1], y[: m - 1])
        errors.append(np.mean(smaller.predict(X[m:]) != y[m:]))
    assert np.mean(errors) <= support_vector_bound(np.mean(supports), m)
    assert np.mean(errors) > 0.02


# ---------------------------------------------------------------- nested classes


def test_training_error_never_rises_with_the_degree(rng):
    """The polynomials of a degree contain those of all lower degrees."""
    for _ in range(5):
        x = rng.uniform(-1, 1, size=(12, 1))
        y = rng.normal(size=12)
        errors = []
        for degree in range(8):
            model = make_pipeline(PolynomialFeatures(degree), LinearRegression()).fit(x, y)
            errors.append(np.mean((model.predict(x) - y) ** 2))
        assert np.all(np.diff(errors) <= 1e-10)
        assert errors[-1] < errors[0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rlm_stability_bound(1.0, 0.0, 10), "penalty must be > 0"),
        (lambda: rlm_stability_bound(1.0, 1.0, 0), "n_samples must be an integer >= 1"),
        (lambda: rlm_penalty(1.0, 0.0, 5), "norm must be > 0"),
        (lambda: rlm_sample_size(0.0, 1.0, 1.0), "epsilon must be > 0"),
        (lambda: markov_excess(0.1, 0.0), "delta must be > 0"),
        (lambda: markov_excess(0.1, 1.5), "delta must be in"),
        (lambda: support_vector_bound(11, 10), "n_support must be <="),
        (lambda: replace_one_stability(None, None), "draw must be a function"),
        (lambda: replace_one_stability(None, draw_signs, "log"), "loss must be a function"),
        (lambda: replace_one_stability(KernelRidge(), ragged), "draw must always return"),
        (lambda: replace_one_stability(None, draw_signs, n_repeats=1), "n_repeats must be"),
        (lambda: Stability([0.1], [0.1], [0.1]), "must be 1-D arrays"),
    ],
)
def test_wrong_arguments_are_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
