"""The exact path of the hinge-loss machine in C."""

import numpy as np
import pytest
from conftest import ALGEBRA, solver
from hypothesis import given
from hypothesis import strategies as st
from reference import svm_path as reference
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

from sklearn_sl.svm import _hinge_path
from sklearn_sl.svm._hinge_path import hinge_path

KERNELS = {
    "rbf": lambda X: rbf_kernel(X, gamma=0.5),
    "smooth": lambda X: rbf_kernel(X, gamma=0.01),
    "linear": lambda X: X @ X.T,
    "poly": lambda X: polynomial_kernel(X, degree=2, gamma=1, coef0=1),
}
kernels = pytest.mark.parametrize("kernel", KERNELS)
intercepts = pytest.mark.parametrize("fit_intercept", [True, False])
# What the path promises for matrices and C of moderate size.
KKT = 1e-8


def classification(rng, n=40, p=3, noise=1.0, threshold=0.0):
    X = rng.normal(size=(n, p))
    y = np.where(X[:, 0] + noise * rng.normal(size=n) > threshold, 1.0, -1.0)
    y[:2] = 1, -1
    return X, y


def values_of_C(path, rng, n=100):
    ends = np.log(path.breakpoints[[0, -1]])
    within = np.exp(rng.uniform(*ends, n))
    middles = (path.breakpoints[1:] + path.breakpoints[:-1]) / 2
    return np.clip(np.concatenate([within, middles]), *path.breakpoints[[0, -1]])


def assert_optimal(K, y, path, C, weight=1.0, fit_intercept=True):
    """Check the box, the balance, and the trichotomy of the margins."""
    beta, b = path.at(C)
    upper = np.outer(C, np.broadcast_to(weight, len(y)))
    rounding = 1e-12 * upper
    alpha, margin = y * beta, y * (beta @ K + b[:, None])
    assert np.all(alpha >= -rounding) and np.all(alpha <= upper + rounding)
    assert np.all(margin[(alpha < upper - 1e-9 * upper) & (upper > 0)] >= 1 - KKT)
    assert np.all(margin[alpha > 1e-9 * upper] <= 1 + KKT)
    if fit_intercept:
        np.testing.assert_allclose(beta.sum(axis=1), 0, atol=1e-12 * C.max() * len(y))
    else:
        assert not b.any()


# ---------------------------------------------------------------- optimality


@kernels
@intercepts
@pytest.mark.parametrize("ends", [(1e-3, 100.0), (2.0, 20.0)])
def test_optimality_conditions_hold_between_breakpoints(kernel, fit_intercept, ends, rng):
    X, y = classification(rng)
    K = KERNELS[kernel](X)
    path = hinge_path(K, y, C_min=ends[0], C_max=ends[1], fit_intercept=fit_intercept)
    assert path.breakpoints[0] == ends[0] and path.breakpoints[-1] == ends[1]
    assert path.kkt_violation.max() < KKT
    assert_optimal(K, y, path, values_of_C(path, rng), fit_intercept=fit_intercept)


@given(
    seed=st.integers(0, 10**6),
    kernel=st.sampled_from(sorted(KERNELS)),
    rounded=st.booleans(),
    repeated=st.booleans(),
    weights=st.sampled_from(["none", "real", "integer"]),
    noise=st.sampled_from([0.0, 0.5, 2.0]),
    fit_intercept=st.booleans(),
    C_min=st.sampled_from([1e-3, 5.0]),
)
def test_path_is_optimal_on_degenerate_data(
    seed, kernel, rounded, repeated, weights, noise, fit_intercept, C_min
):
    # Rounded and repeated rows make singular matrices, and many events at one C.
    rng = np.random.default_rng(seed)
    n = rng.integers(5, 50)
    X, y = classification(rng, n, rng.integers(1, 6), noise, rng.choice([0.0, 1.0]))
    X = np.round(X) if rounded else X
    X = X[rng.integers(0, n, n)] if repeated else X
    weight = {
        "none": np.ones(n),
        "real": rng.uniform(0, 3, n),
        "integer": rng.integers(0, 3, n).astype(float),
    }[weights]
    weight[:2] = 1
    K = KERNELS[kernel](X)
    options = {"C_min": C_min, "C_max": 50.0, "fit_intercept": fit_intercept}
    path = hinge_path(K, y, weight=weight, **options)
    assert path.kkt_violation.max() < KKT
    assert_optimal(K, y, path, values_of_C(path, rng, 20), weight, fit_intercept)


@kernels
@intercepts
def test_path_has_the_objective_of_the_best_active_set(kernel, fit_intercept):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = classification(rng, n=6, p=2)
        K, weight = KERNELS[kernel](X), rng.uniform(0.5, 2, 6)
        path = hinge_path(K, y, weight=weight, C_min=0.01, C_max=20.0, fit_intercept=fit_intercept)
        C = rng.uniform(0.01, 5)
        beta, b = path.at(C)
        best = reference.solve(K, y, C * weight, fit_intercept)
        objective = reference.dual_objective(K, y, beta)
        np.testing.assert_allclose(objective, reference.dual_objective(K, y, best), **ALGEBRA)
        primal = reference.primal_objective(K, y, C * weight, beta, b)
        np.testing.assert_allclose(primal, objective, **ALGEBRA)


@kernels
def test_path_has_the_decision_values_of_libsvm(kernel, rng):
    X, y = classification(rng, n=80, threshold=0.7)
    K = KERNELS[kernel](X)
    path = hinge_path(K, y, C_min=0.01, C_max=10.0)
    for C in (0.01, 0.13, 1.0, 9.0):
        beta, b = path.at(C)
        model = SVC(kernel="precomputed", C=C, tol=1e-10).fit(K, y)
        # LIBSVM keeps its matrix in single precision.
        np.testing.assert_allclose(K @ beta + b, model.decision_function(K), **solver(1e-5))


@intercepts
def test_path_does_not_depend_on_where_it_starts(fit_intercept, rng):
    X, y = classification(rng, n=60)
    K = KERNELS["rbf"](X)
    options = {"C_max": 50.0, "fit_intercept": fit_intercept}
    whole = hinge_path(K, y, C_min=0.001, **options)
    cold = hinge_path(K, y, C_min=3.0, **options)
    warm = hinge_path(K, y, C_min=3.0, start=whole.at(2.5)[0], **options)
    wild = hinge_path(K, y, C_min=3.0, start=rng.normal(size=60) * 10, **options)
    for path in (cold, warm, wild):
        for C in (3.0, 7.7, 50.0):
            np.testing.assert_allclose(path.at(C)[0], whole.at(C)[0], rtol=1e-7, atol=1e-7)
            np.testing.assert_allclose(path.at(C)[1], whole.at(C)[1], **ALGEBRA)


def test_path_starts_from_a_solution_with_too_many_free_vectors(rng):
    # Far more samples at the margin than the rank of the matrix: the elbow is singular.
    X, y = classification(rng, n=50, p=2)
    K = X @ X.T
    alpha = rng.uniform(0, 1, 50)
    path = hinge_path(K, y, C_min=1.0, C_max=5.0, start=y * alpha)
    assert path.kkt_violation.max() < KKT
    assert_optimal(K, y, path, values_of_C(path, rng))


# ---------------------------------------------------------------- shape of the path


@kernels
def test_solution_bends_at_breakpoints_only(kernel, rng):
    X, y = classification(rng)
    K = KERNELS[kernel](X)
    path = hinge_path(K, y, C_min=0.01, C_max=10.0)
    assert np.all(np.diff(path.breakpoints) > 0)
    for left, right in zip(path.breakpoints[:-1], path.breakpoints[1:]):
        if right - left > 1e-6:
            again = hinge_path(K, y, C_min=(left + right) / 2, C_max=10.0)
            beta, b = path.at((left + right) / 2)
            np.testing.assert_allclose(K @ again.dual_coef[0], K @ beta, rtol=1e-7, atol=1e-7)
            if np.any((y * beta > 1e-9) & (y * beta < (left + right) / 2 - 1e-9)):
                np.testing.assert_allclose(again.intercept[0], b, rtol=1e-7, atol=1e-7)


@kernels
def test_margin_and_slack_do_not_grow_with_C(kernel, rng):
    X, y = classification(rng, n=60)
    K = KERNELS[kernel](X)
    path = hinge_path(K, y, C_min=0.001, C_max=100.0)
    beta, b = path.dual_coef, path.intercept
    squared_norm = np.einsum("ci,ij,cj->c", beta, K, beta)
    slack = np.maximum(0, 1 - y * (beta @ K + b[:, None])).sum(axis=1)
    assert np.all(np.diff(squared_norm) >= -1e-9 * squared_norm[1:])
    assert np.all(np.diff(slack) <= 1e-9 * slack[:-1] + 1e-12)


def test_separable_path_ends_in_the_hard_margin(rng):
    X = rng.normal(size=(40, 2))
    y = np.where(X @ [1, 2] > 0, 1.0, -1.0)
    X += 0.3 * y[:, None] * [1, 2]
    path = hinge_path(X @ X.T, y, C_min=1e-3, C_max=1e4)
    largest = np.abs(path.dual_coef[-1]).max()
    assert path.breakpoints[-2] < 1e4
    for C in (1.001 * largest, 10 * largest, 1e4):
        np.testing.assert_allclose(path.at(C)[0], path.dual_coef[-1], rtol=1e-7, atol=1e-7)
    beta, b = path.at(1e4)
    assert np.min(y * (X @ X.T @ beta + b)) > 1 - KKT


def test_four_points_have_the_separating_line_of_the_book():
    X = np.array([[1.0, 1], [2, 2], [-1, -1], [0, -1]])
    y = np.array([1, 1, -1, -1])
    path = hinge_path(X @ X.T, y, C_min=0.01, C_max=10.0)
    beta, b = path.at(10.0)
    np.testing.assert_allclose(y * beta, [0.4, 0, 0, 0.4], **ALGEBRA)
    np.testing.assert_allclose(X.T @ beta, [0.4, 0.8], **ALGEBRA)
    np.testing.assert_allclose(b, -0.2, **ALGEBRA)


def test_balanced_classes_begin_with_all_samples_at_the_bound(rng):
    X = rng.normal(size=(30, 3))
    y = np.repeat([1.0, -1.0], 15)
    K = rbf_kernel(X)
    path = hinge_path(K, y, C_min=1e-4, C_max=10.0)
    np.testing.assert_array_equal(path.dual_coef[0], 1e-4 * y)
    # No sample is at the margin: the intercept is in the middle of its interval.
    ends = y - K @ path.dual_coef[0]
    middle = (ends[y > 0].min() + ends[y < 0].max()) / 2
    np.testing.assert_allclose(path.intercept[0], middle, **ALGEBRA)
    assert_optimal(K, y, path, values_of_C(path, rng))


@kernels
def test_few_samples_of_a_class_begin_at_the_bound(kernel, rng):
    X, y = classification(rng, n=60, threshold=1.5)
    assert 2 < np.sum(y > 0) < 20
    K = KERNELS[kernel](X)
    path = hinge_path(K, y, C_min=1e-4, C_max=10.0)
    np.testing.assert_allclose(path.dual_coef[0, y > 0], 1e-4, rtol=1e-9)
    assert path.intercept[0] < -0.9
    assert_optimal(K, y, path, values_of_C(path, rng))


# ---------------------------------------------------------------- symmetries


@kernels
@intercepts
def test_integer_weights_are_repetitions(kernel, fit_intercept, rng):
    X, y = classification(rng, n=25)
    weight = rng.integers(0, 4, 25)
    weight[:2] = 1
    rows = np.repeat(np.arange(25), weight)
    K = KERNELS[kernel](X)
    options = {"C_min": 0.01, "C_max": 20.0, "fit_intercept": fit_intercept}
    weighted = hinge_path(K, y, weight=weight, **options)
    repeated = hinge_path(K[np.ix_(rows, rows)], y[rows], **options)
    assert not weighted.dual_coef[:, weight == 0].any()
    for C in (0.01, 0.2, 1.3, 20.0):
        beta, b = weighted.at(C)
        again, again_b = repeated.at(C)
        values = K[:, rows] @ again + again_b
        np.testing.assert_allclose(K @ beta + b, values, rtol=1e-7, atol=1e-7)


def test_swapped_labels_and_rows_give_the_same_path(rng):
    X, y = classification(rng, n=30, threshold=0.5)
    K, order = KERNELS["rbf"](X), rng.permutation(30)
    path = hinge_path(K, y, C_min=0.01, C_max=20.0)
    other = hinge_path(K[np.ix_(order, order)], -y[order], C_min=0.01, C_max=20.0)
    for C in (0.01, 0.2, 1.3, 20.0):
        np.testing.assert_allclose(other.at(C)[0], -path.at(C)[0][order], rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(other.at(C)[1], -path.at(C)[1], **ALGEBRA)


def test_scaling_the_matrix_scales_C(rng):
    X, y = classification(rng, n=30)
    K = KERNELS["rbf"](X)
    path = hinge_path(K, y, C_min=0.01, C_max=20.0)
    scaled = hinge_path(1000 * K, y, C_min=0.01 / 1000, C_max=20.0 / 1000)
    for C in (0.01, 0.2, 1.3, 20.0):
        beta, b = scaled.at(C / 1000)
        np.testing.assert_allclose(1000 * beta, path.at(C)[0], rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(b, path.at(C)[1], **ALGEBRA)


@pytest.mark.parametrize("K", [np.zeros((4, 4)), np.ones((4, 4))])
@intercepts
def test_samples_without_a_difference_get_a_constant(K, fit_intercept):
    y = np.array([1.0, 1, 1, -1])
    path = hinge_path(K, y, C_min=0.1, C_max=5.0, fit_intercept=fit_intercept)
    assert path.kkt_violation.max() < KKT
    if fit_intercept:
        np.testing.assert_allclose(path.intercept, 1, **ALGEBRA)


def test_one_class_gets_its_label():
    path = hinge_path(np.eye(3), [1, -1, -1], weight=[0, 1, 2], C_min=0.1, C_max=1.0)
    assert not path.dual_coef.any()
    np.testing.assert_array_equal(path.intercept, -1)


# ---------------------------------------------------------------- limits


def test_path_of_one_C_is_one_solution(rng):
    X, y = classification(rng)
    K = KERNELS["rbf"](X)
    path = hinge_path(K, y, C_min=2.0, C_max=2.0)
    np.testing.assert_array_equal(path.at(2.0)[0], path.dual_coef[0])
    assert path.breakpoints.tolist() == [2.0] and path.kkt_violation.max() < KKT


def test_array_of_C_gives_one_solution_each(rng):
    X, y = classification(rng)
    path = hinge_path(KERNELS["rbf"](X), y, C_min=0.1, C_max=2.0)
    beta, b = path.at([0.1, 1.0, 2.0])
    for row, intercept, C in zip(beta, b, [0.1, 1.0, 2.0]):
        np.testing.assert_array_equal(row, path.at(C)[0])
        assert intercept == path.at(C)[1]


def test_small_budget_ends_with_how_far_the_path_came(rng):
    X, y = classification(rng)
    K = KERNELS["rbf"](X)
    whole = hinge_path(K, y, C_min=0.01, C_max=10.0)
    with pytest.warns(
        ConvergenceWarning, match=r"ends at C=0\.\d+ instead of C_max=10, after 5 breakpoints"
    ):
        path = hinge_path(K, y, C_min=0.01, C_max=10.0, max_breakpoints=5)
    np.testing.assert_allclose(path.breakpoints, whole.breakpoints[:5], **ALGEBRA)
    with pytest.raises(ValueError, match="the range of the path"):
        path.at(10.0)


def test_no_budget_for_the_first_solution_is_told(rng, monkeypatch):
    X, y = classification(rng)
    monkeypatch.setattr(_hinge_path, "MOVES_PER_SAMPLE", 0)
    with pytest.warns(ConvergenceWarning) as record:
        hinge_path(KERNELS["rbf"](X), y, C_min=5.0, C_max=5.0)
    assert "first C was not found" in str(record[0].message)


def test_numbers_beyond_double_precision_are_told(rng):
    X, y = classification(rng, n=60, noise=2.0)
    with pytest.warns(ConvergenceWarning, match="optimality conditions are violated"):
        hinge_path(1e10 * X @ X.T, y, C_min=1e5, C_max=1e8)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"K": np.ones((3, 2))}, "square"),
        ({"y": [0, 1, 1]}, "labels -1 and 1"),
        ({"y": [1, -1]}, "inconsistent numbers of samples"),
        ({"weight": [1, -1, 1]}, "non-negative"),
        ({"weight": [0, 0, 0]}, "at least one non-zero"),
        ({"C_min": 0.0}, "0 < C_min <= C_max"),
        ({"C_max": np.inf}, "0 < C_min <= C_max"),
        ({"max_breakpoints": 1}, "at least 2"),
        ({"start": [np.nan, 0, 0]}, "NaN"),
    ],
)
def test_bad_input_is_told(change, message):
    options = {"K": np.eye(3), "y": [1, -1, 1], "C_min": 0.1, "C_max": 1.0} | change
    with pytest.raises(ValueError, match=message):
        hinge_path(options.pop("K"), options.pop("y"), **options)
