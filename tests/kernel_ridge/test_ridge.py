"""KernelRidge: its equations, its certificates, and scikit-learn's class of the same name."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT, SINGLE
from hypothesis import given
from hypothesis import strategies as st
from reference import kernel_ridge as reference
from scipy.linalg import LinAlgError, LinAlgWarning
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_ridge import KernelRidge as Neighbour
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from sklearn_sl import _memory
from sklearn_sl.kernel_ridge import KernelRidge
from sklearn_sl.kernels import (
    Anova,
    GapWeighted,
    Gaussian,
    Linear,
    Matern,
    Polynomial,
    SetIntersection,
    Spectrum,
)

NAMES = [
    {"kernel": "linear"},
    {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 0.7},
    {"kernel": "polynomial", "gamma": 0.3},
    {"kernel": "rbf", "gamma": 0.4},
    {"kernel": "sigmoid", "gamma": 0.01, "coef0": 0},
    {"kernel": "cosine"},
    {"kernel": "laplacian", "gamma": 0.2},
    {"kernel": "chi2", "gamma": 0.6},
]
OBJECTS = [Gaussian(gamma=0.4), Matern(), Polynomial(2), Anova(), 2 * Gaussian() + Linear(), RBF(2)]
intercepts = pytest.mark.parametrize("fit_intercept", [False, True])
every_name = pytest.mark.parametrize("params", NAMES, ids=lambda params: params["kernel"])


def regression(rng, n=40, p=4, n_targets=None):
    """Return non-negative features, targets, and new points."""
    X, X_test = rng.uniform(0, 2, (n, p)), rng.uniform(0, 2, (15, p))
    y = rng.normal(size=n if n_targets is None else (n, n_targets)) + X[:, :1].sum() / n
    return X, y, X_test


def assert_same(model, other, X_test, **tolerance):
    np.testing.assert_allclose(model.dual_coef_, other.dual_coef_, **tolerance)
    np.testing.assert_allclose(model.predict(X_test), other.predict(X_test), **tolerance)


# ---------------------------------------------------------------- scikit-learn's class


@every_name
@pytest.mark.parametrize("n_targets", [None, 1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_named_kernels_give_scikit_learns_model(params, n_targets, weighted, rng):
    X, y, X_test = regression(rng, n_targets=n_targets)
    weight = rng.uniform(0.1, 3, len(y)) if weighted else None
    model = KernelRidge(alpha=0.5, **params).fit(X, y, weight)
    neighbour = Neighbour(alpha=0.5, **params).fit(X, y, weight)
    assert model.dual_coef_.shape == neighbour.dual_coef_.shape
    assert_same(model, neighbour, X_test, **ALGEBRA)


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "sigmoid", "laplacian"])
def test_default_kernel_parameters_are_scikit_learns(name, rng):
    X, y, X_test = regression(rng)
    scale = 0.05 if name == "sigmoid" else 1  # where tanh is nearly a positive kernel
    model = KernelRidge(kernel=name, alpha=3).fit(scale * X, y)
    assert_same(model, Neighbour(kernel=name, alpha=3).fit(scale * X, y), scale * X_test, **ALGEBRA)


@pytest.mark.parametrize("kernel", OBJECTS, ids=str)
def test_kernel_objects_give_the_model_of_their_matrix(kernel, rng):
    X, y, X_test = regression(rng)
    model = KernelRidge(alpha=0.5, kernel=kernel).fit(X, y)
    neighbour = Neighbour(alpha=0.5, kernel="precomputed").fit(kernel(X), y)
    np.testing.assert_allclose(model.dual_coef_, neighbour.dual_coef_, **ALGEBRA)
    np.testing.assert_allclose(
        model.predict(X_test), neighbour.predict(kernel(X_test, X)), **ALGEBRA
    )


def test_white_kernel_is_a_larger_penalty(rng):
    X, y, X_test = regression(rng)
    noisy = KernelRidge(alpha=0.5, kernel=RBF(2) + WhiteKernel(0.25)).fit(X, y)
    assert_same(noisy, KernelRidge(alpha=0.75, kernel=RBF(2)).fit(X, y), X_test, **ALGEBRA)


def test_functions_of_two_rows_give_scikit_learns_model(rng):
    def minimum(x, t, scale=1.0):
        return scale * np.minimum(x, t).sum()

    X, y, X_test = regression(rng, n=15)
    params = {"kernel": minimum, "kernel_params": {"scale": 0.3}}
    assert_same(KernelRidge(**params).fit(X, y), Neighbour(**params).fit(X, y), X_test, **ALGEBRA)


@intercepts
def test_precomputed_matrix_gives_the_model_of_its_kernel(fit_intercept, rng):
    X, y, X_test = regression(rng)
    weight = rng.uniform(0, 3, len(y)) * (rng.random(len(y)) < 0.8)
    direct = KernelRidge(kernel="rbf", gamma=0.3, fit_intercept=fit_intercept)
    direct.fit(X, y, weight)
    given_matrix = KernelRidge(kernel="precomputed", fit_intercept=fit_intercept)
    given_matrix.fit(rbf_kernel(X, gamma=0.3), y, weight)
    np.testing.assert_allclose(given_matrix.dual_coef_, direct.dual_coef_, **ALGEBRA)
    said = given_matrix.predict(rbf_kernel(X_test, X, gamma=0.3))
    np.testing.assert_allclose(said, direct.predict(X_test), **ALGEBRA)


@pytest.mark.parametrize("params", [{}, {"kernel": "rbf", "gamma": 0.2}], ids=str)
@pytest.mark.parametrize("solver", ["auto", "cholesky"])
def test_each_target_has_its_own_penalty(params, solver, rng):
    X, Y, X_test = regression(rng, n_targets=4)
    alpha = [0.1, 2.0, 0.1, 30.0]
    model = KernelRidge(alpha, solver=solver, **params).fit(X, Y)
    assert_same(model, Neighbour(alpha, **params).fit(X, Y), X_test, **ALGEBRA)
    for target, value in enumerate(alpha):
        alone = KernelRidge(value, solver=solver, **params).fit(X, Y[:, target])
        np.testing.assert_allclose(model.dual_coef_[:, target], alone.dual_coef_, **ALGEBRA)
        np.testing.assert_allclose(model.rkhs_norm_[target], alone.rkhs_norm_, **ALGEBRA)
        np.testing.assert_allclose(model.leverage_[:, target], alone.leverage_, **ALGEBRA)


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array])
@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "sigmoid", "cosine", "laplacian"])
@intercepts
def test_sparse_and_dense_input_give_the_same_model(name, container, fit_intercept, rng):
    X, y, X_test = regression(rng)
    X, X_test = X * (X > 1), X_test * (X_test > 1)
    model = KernelRidge(kernel=name, gamma=0.01, fit_intercept=fit_intercept)
    dense = [model.fit(X, y).predict(X_test), model.dual_coef_]
    sparse = [model.fit(container(X), y).predict(container(X_test)), model.dual_coef_]
    for actual, desired in zip(sparse, dense, strict=True):
        np.testing.assert_allclose(actual, desired, **ALGEBRA)


@every_name
@intercepts
@pytest.mark.parametrize("solver", ["auto", "cholesky", "nystrom", "cg"])
def test_single_precision_is_kept(params, fit_intercept, solver, rng):
    X, y, X_test = regression(rng)
    options = {"fit_intercept": fit_intercept, "solver": solver, "max_iter": 1000, **params}
    single = KernelRidge(**options).fit(X.astype(np.float32), y)
    double = KernelRidge(**options).fit(X, y)
    said = single.predict(X_test.astype(np.float32))
    assert single.dual_coef_.dtype == said.dtype == np.float32
    np.testing.assert_allclose(said, double.predict(X_test), **SINGLE)


# ---------------------------------------------------------------- the linear kernel


@intercepts
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_primal_and_dual_agree_for_the_linear_kernel(fit_intercept, weighted, sparse, rng):
    X, Y, X_test = regression(rng, n_targets=2)
    X = sp.csr_array(X * (X > 1)) if sparse else X
    weight = rng.uniform(0, 3, len(Y)) if weighted else None
    alpha = [0.5, 2.0]
    primal = KernelRidge(alpha, fit_intercept=fit_intercept).fit(X, Y, weight)
    dual = KernelRidge(alpha, fit_intercept=fit_intercept, solver="cholesky").fit(X, Y, weight)
    assert (primal.solver_, dual.solver_) == ("primal", "cholesky")
    assert_same(primal, dual, X_test, **ALGEBRA)
    for name in ("coef_", "intercept_", "rkhs_norm_", "leverage_", "dof_"):
        np.testing.assert_allclose(getattr(primal, name), getattr(dual, name), **ALGEBRA)


@intercepts
@pytest.mark.parametrize("solver", ["auto", "cholesky"])
def test_weights_of_features_and_samples_give_one_another(fit_intercept, solver, rng):
    X, y, _ = regression(rng)
    weight = rng.uniform(0.1, 3, len(y))
    model = KernelRidge(0.7, fit_intercept=fit_intercept, solver=solver).fit(X, y, weight)
    np.testing.assert_allclose(X.T @ model.dual_coef_, model.coef_, **ALGEBRA)
    residual = y - X @ model.coef_ - model.intercept_
    np.testing.assert_allclose(model.dual_coef_, weight * residual / 0.7, **ALGEBRA)


@intercepts
@pytest.mark.parametrize("p", [3, 60])
@pytest.mark.parametrize("solver", ["auto", "cholesky"])
def test_linear_kernel_is_ridge_regression(fit_intercept, p, solver, rng):
    X, Y, X_test = regression(rng, p=p, n_targets=2)
    weight = rng.uniform(0.1, 3, len(Y))
    model = KernelRidge(0.7, fit_intercept=fit_intercept, solver=solver).fit(X, Y, weight)
    ridge = Ridge(0.7, fit_intercept=fit_intercept).fit(X, Y, weight)
    np.testing.assert_allclose(model.coef_, ridge.coef_, **ALGEBRA)
    np.testing.assert_allclose(model.intercept_, ridge.intercept_, **ALGEBRA)
    np.testing.assert_allclose(model.predict(X_test), ridge.predict(X_test), **ALGEBRA)


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_origin_of_the_features_does_not_matter_with_an_intercept(offset, rng):
    X, y, X_test = regression(rng)
    near = KernelRidge(fit_intercept=True).fit(X, y)
    far = KernelRidge(fit_intercept=True).fit(X + offset, y + offset)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-7, atol=1e-15 * offset)
    said = far.predict(X_test + offset) - offset
    np.testing.assert_allclose(said, near.predict(X_test), atol=1e-13 * offset)
    np.testing.assert_allclose(far.leverage_, near.leverage_, atol=1e-12 * offset)


def test_features_of_a_kernel_give_its_model(rng):
    X, y, X_test = regression(rng)
    maps = PolynomialFeatures(2, include_bias=False)
    Phi, Phi_test = maps.fit_transform(X), maps.transform(X_test)
    # (1 + x't)**2 is the inner product of these monomials, some of them twice.
    twice = np.sqrt(np.where(maps.powers_.max(axis=1) == 2, 1, 2))
    by_features = KernelRidge(0.3, fit_intercept=True).fit(Phi * twice, y)
    by_kernel = KernelRidge(0.3, kernel=Polynomial(2, 1.0, 1.0), fit_intercept=True).fit(X, y)
    np.testing.assert_allclose(
        by_features.predict(Phi_test * twice), by_kernel.predict(X_test), **ALGEBRA
    )
    np.testing.assert_allclose(by_features.dual_coef_, by_kernel.dual_coef_, **ALGEBRA)


# The worked examples of the lecture notes: as alpha goes to zero, least squares.


@pytest.mark.parametrize("solver", ["auto", "cholesky"])
def test_determined_system_is_solved(solver):
    model = KernelRidge(1e-12, solver=solver).fit([[1, 1], [2, 3]], [3, 7])
    np.testing.assert_allclose(model.coef_, [2, 1], rtol=1e-9)
    np.testing.assert_allclose(model.predict([[4, 2]]), [10], rtol=1e-9)


def test_overdetermined_system_is_solved_by_least_squares():
    X, y = np.array([[1, 1], [2, 3], [2, 1]]), np.array([3, 7, 3])
    model = KernelRidge(1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_, [5 / 9, 2], rtol=1e-9)
    np.testing.assert_allclose(np.sum((y - model.predict(X)) ** 2), 2 / 9, rtol=1e-9)
    with_bias = KernelRidge(1e-12, fit_intercept=True).fit(X, y)
    np.testing.assert_allclose(with_bias.coef_, [0, 2], atol=1e-9)
    np.testing.assert_allclose(with_bias.intercept_, 1, rtol=1e-9)


def test_underdetermined_system_has_the_solution_of_least_norm():
    model = KernelRidge(1e-12).fit([[1, 1, 2], [2, 4, 3]], [3, 7])
    np.testing.assert_allclose(model.coef_, [0.5, 0.9, 0.8], rtol=1e-9)
    np.testing.assert_allclose(model.rkhs_norm_**2, 1.7, rtol=1e-9)


@pytest.mark.parametrize("solver", ["auto", "cholesky", "nystrom"])
def test_no_penalty_interpolates(solver, rng):
    X, y, _ = regression(rng, n=8)
    model = KernelRidge(0, kernel="rbf", gamma=5, solver=solver).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, **ALGEBRA)


@intercepts
def test_no_penalty_in_the_primal_is_least_squares(fit_intercept, rng):
    X, y, _ = regression(rng)
    model = KernelRidge(0, fit_intercept=fit_intercept).fit(X, y)
    features = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    w = np.linalg.lstsq(features, y)[0]
    np.testing.assert_allclose(np.append(model.coef_, [model.intercept_] * fit_intercept), w)
    np.testing.assert_allclose(X.T @ model.dual_coef_, model.coef_, **ALGEBRA)


@intercepts
def test_infinite_penalty_leaves_the_mean(fit_intercept, rng):
    X, y, X_test = regression(rng)
    weight = rng.uniform(0.1, 3, len(y))
    model = KernelRidge(1e15, kernel="rbf", fit_intercept=fit_intercept).fit(X, y, weight)
    mean = np.average(y, weights=weight) if fit_intercept else 0
    np.testing.assert_allclose(model.predict(X_test), mean, atol=1e-12)


# ---------------------------------------------------------------- stationarity and certificates


@given(
    seed=st.integers(0, 2**32 - 1),
    fit_intercept=st.booleans(),
    solver=st.sampled_from(["auto", "cholesky"]),
    name=st.sampled_from(["linear", "rbf", "poly"]),
)
def test_derivatives_of_the_objective_vanish(seed, fit_intercept, solver, name):
    rng = np.random.default_rng(seed)
    X, y, _ = regression(rng, n=10, p=3)
    weight = rng.uniform(0.1, 3, 10)
    K = pairwise_kernels(X, metric=name, filter_params=True, gamma=0.3, degree=2, coef0=1)
    params = {"kernel": name, "gamma": 0.3, "degree": 2, "fit_intercept": fit_intercept}
    model = KernelRidge(0.6, solver=solver, **params).fit(X, y, weight)

    def slope(dc, db, h=1e-4):
        """The central difference, which is exact for a quadratic function."""
        values = [
            reference.objective(
                K, model.dual_coef_ + t * dc, model.intercept_ + t * db, y, 0.6, weight
            )
            for t in (h, -h)
        ]
        return (values[0] - values[1]) / (2 * h)

    scale = reference.objective(K, 0 * y, 0, y, 0.6, weight) * max(1, np.abs(K).max())
    for direction in np.eye(10):
        assert abs(slope(direction, 0)) < 1e-8 * scale
    if fit_intercept:
        assert abs(slope(0, 1)) < 1e-8 * scale
        assert abs(model.dual_coef_.sum()) < 1e-10 * np.abs(model.dual_coef_).sum()


@intercepts
@pytest.mark.parametrize("weighted", [False, True])
def test_fit_is_the_twins(fit_intercept, weighted, rng):
    X, Y, _ = regression(rng, n_targets=3)
    weight = rng.uniform(0.1, 3, len(Y)) if weighted else None
    model = KernelRidge(0.4, kernel="rbf", gamma=0.5, fit_intercept=fit_intercept)
    model.fit(X, Y, weight)
    c, b = reference.solve(rbf_kernel(X, gamma=0.5), Y, 0.4, weight, fit_intercept)
    np.testing.assert_allclose(model.dual_coef_, c, **ALGEBRA)
    np.testing.assert_allclose(model.intercept_, b, **ALGEBRA)


@pytest.mark.parametrize("solver", ["auto", "cholesky", "nystrom", "cg"])
@intercepts
@every_name
def test_norm_is_that_of_the_function(params, solver, fit_intercept, rng):
    X, Y, _ = regression(rng, n_targets=2)
    options = {"solver": solver, "fit_intercept": fit_intercept, "tol": 1e-10, "max_iter": 1000}
    model = KernelRidge([0.5, 3], random_state=0, n_components=20, **options, **params).fit(X, Y)
    c, K = model.dual_coef_, model.kernel_(model.X_fit_)
    np.testing.assert_allclose(model.rkhs_norm_**2, np.diag(c.T @ K @ c), **ALGEBRA)


@intercepts
def test_residual_norm_is_that_of_the_linear_system(fit_intercept, rng):
    X, Y, _ = regression(rng, n_targets=2)
    weight = rng.uniform(0.1, 3, len(Y))
    model = KernelRidge(1e-3, kernel="rbf", gamma=0.5, fit_intercept=fit_intercept)
    model.fit(X, Y, weight)
    c = model.dual_coef_
    residual = Y - rbf_kernel(X, gamma=0.5) @ c - 1e-3 * c / weight[:, None] - model.intercept_
    relative = np.linalg.norm(residual, axis=0) / np.linalg.norm(Y, axis=0)
    np.testing.assert_allclose(model.residual_norm_, relative, atol=1e-12)
    assert np.all(model.residual_norm_ < 1e-12)


@intercepts
@pytest.mark.parametrize("solver", ["auto", "cholesky"])
@pytest.mark.parametrize("name", ["linear", "rbf", "precomputed"])
def test_leverage_is_the_derivative_of_the_prediction(fit_intercept, solver, name, rng):
    X, Y, _ = regression(rng, n=25, n_targets=2)
    weight = rng.uniform(0.1, 3, 25)
    weight[[3, 8]] = 0
    K = X @ X.T if name == "linear" else rbf_kernel(X, gamma=0.3)
    X = K if name == "precomputed" else X
    alpha = [0.2, 2.0]
    options = {"kernel": name, "gamma": 0.3, "fit_intercept": fit_intercept, "solver": solver}
    model = KernelRidge(alpha, **options).fit(X, Y, weight)
    for i in range(25):
        moved = Y.copy()
        moved[i] += 1
        change = KernelRidge(alpha, **options).fit(X, moved, weight).predict(X) - model.predict(X)
        np.testing.assert_allclose(model.leverage_[i], change[i], **ALGEBRA)
    used = np.flatnonzero(weight)
    for target, value in enumerate(alpha):
        H = reference.smoother(K[np.ix_(used, used)], value, weight[used], fit_intercept)
        np.testing.assert_allclose(model.leverage_[used, target], np.diag(H), **ALGEBRA)
        np.testing.assert_allclose(model.dof_[target], np.trace(H), **ALGEBRA)


@given(seed=st.integers(0, 2**32 - 1), fit_intercept=st.booleans())
def test_degrees_of_freedom_fall_from_the_rank_to_the_intercept(seed, fit_intercept):
    rng = np.random.default_rng(seed)
    X, y, _ = regression(rng, n=12, p=3)
    for params, rank in (({"kernel": "rbf", "gamma": 5}, 12), ({}, 3 + fit_intercept)):
        dof = [
            KernelRidge(alpha, fit_intercept=fit_intercept, **params).fit(X, y).dof_
            for alpha in np.logspace(-8, 8, 9)
        ]
        assert np.all(np.diff(dof) < 1e-9)
        np.testing.assert_allclose([dof[0], dof[-1]], [rank, fit_intercept], atol=1e-5)


def test_leverages_are_computed_once_and_forgotten_by_the_next_fit(rng):
    X, y, _ = regression(rng)
    model = KernelRidge(kernel="rbf").fit(X, y)
    first = model._leverages()
    assert model._leverages() is first
    model.set_params(alpha=10).fit(X, y)
    assert model.leverage_.sum() < first.sum()


@pytest.mark.parametrize("solver", ["nystrom", "cg"])
def test_landmarks_have_no_leverages(solver, rng):
    X, y, _ = regression(rng)
    model = KernelRidge(kernel="rbf", solver=solver).fit(X, y)
    with pytest.raises(AttributeError, match="landmarks"):
        model.leverage_  # noqa: B018


# ---------------------------------------------------------------- weights


@given(seed=st.integers(0, 2**32 - 1), fit_intercept=st.booleans())
def test_integer_weights_are_repeated_rows_in_every_certificate(seed, fit_intercept):
    rng = np.random.default_rng(seed)
    X, y, X_test = regression(rng, n=15)
    times = rng.integers(0, 4, 15)
    times[0] = 2
    options = {"kernel": "rbf", "gamma": 0.4, "fit_intercept": fit_intercept}
    weighted = KernelRidge(0.3, **options).fit(X, y, times)
    repeated = KernelRidge(0.3, **options).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.predict(X_test), repeated.predict(X_test), **ALGEBRA)
    np.testing.assert_allclose(weighted.rkhs_norm_, repeated.rkhs_norm_, **ALGEBRA)
    np.testing.assert_allclose(weighted.dof_, repeated.dof_, **ALGEBRA)
    shared = np.bincount(np.repeat(np.arange(15), times), repeated.dual_coef_, minlength=15)
    np.testing.assert_allclose(weighted.dual_coef_, shared, **ALGEBRA)


@pytest.mark.parametrize("name", ["linear", "rbf", "precomputed"])
@pytest.mark.parametrize("solver", ["auto", "cholesky"])
def test_row_of_weight_zero_has_no_say(name, solver, rng):
    X, y, _ = regression(rng)
    X = rbf_kernel(X) if name == "precomputed" else X
    weight = rng.uniform(1, 2, len(y))
    weight[5] = 0
    model = KernelRidge(kernel=name, solver=solver).fit(X, y, weight)
    said = model.predict(X)
    assert model.dual_coef_[5] == model.leverage_[5] == 0
    y[5] = 1e6
    np.testing.assert_array_equal(model.fit(X, y, weight).predict(X), said)


@pytest.mark.parametrize("solver", ["auto", "cholesky", "nystrom", "cg"])
def test_one_weight_for_all_is_a_smaller_penalty(solver, rng):
    X, y, X_test = regression(rng)
    options = {"kernel": "rbf", "solver": solver, "tol": 1e-12, "fit_intercept": True}
    weighted = KernelRidge(2, **options).fit(X, y, 4.0)
    lighter = KernelRidge(0.5, **options).fit(X, y)
    np.testing.assert_allclose(weighted.predict(X_test), lighter.predict(X_test), **ALGEBRA)


# ---------------------------------------------------------------- singular and indefinite matrices


@pytest.mark.parametrize("n_copies", [2, 3])
def test_duplicates_without_penalty_are_interpolated_in_the_mean(n_copies, rng):
    X, y = rng.normal(size=(6, 2)), rng.normal(size=(6, n_copies))
    model = KernelRidge(0, kernel="rbf", gamma=2)
    with pytest.warns(LinAlgWarning, match="numerically singular"):
        model.fit(np.repeat(X, n_copies, axis=0), y.ravel())
    assert model.jitter_ > 0
    np.testing.assert_allclose(model.predict(X), y.mean(axis=1), atol=1e-5)
    np.testing.assert_allclose(model.leverage_, 1 / n_copies, atol=1e-5)


def test_fit_without_jitter_says_so(rng):
    X, y, _ = regression(rng)
    assert KernelRidge(1e-6, kernel="rbf").fit(X, y).jitter_ == 0


@intercepts
def test_indefinite_matrix_gives_a_stationary_point_with_a_warning(fit_intercept, rng):
    K = rng.normal(size=(20, 20))
    K, y, weight = K + K.T, rng.normal(size=20), rng.uniform(0.5, 2, 20)
    model = KernelRidge(0.1, kernel="precomputed", fit_intercept=fit_intercept)
    with pytest.warns(LinAlgWarning, match="not positive"):
        model.fit(K, y, weight)
    assert model.solver_ == "indefinite"
    c, b = reference.solve(K, y, 0.1, weight, fit_intercept)
    np.testing.assert_allclose(model.dual_coef_, c, **ALGEBRA)
    np.testing.assert_allclose(model.intercept_, b, **ALGEBRA)
    with pytest.raises(ValueError, match="not defined for an indefinite kernel"):
        model.leverage_  # noqa: B018


def test_singular_indefinite_matrix_is_an_error():
    model = KernelRidge(1, kernel="precomputed")
    with pytest.raises(LinAlgError, match="change alpha"):
        model.fit(np.diag([1.0, -1.0, -3.0]), [1.0, 2.0, 3.0])


def test_additive_chi2_needs_a_large_penalty(rng):
    X, y, X_test = regression(rng)
    params = {"kernel": "additive_chi2"}
    model = KernelRidge(1e3, **params).fit(X, y)
    assert_same(model, Neighbour(1e3, **params).fit(X, y), X_test, **ALGEBRA)
    with pytest.warns(LinAlgWarning, match="not positive"):
        KernelRidge(1e-3, **params).fit(X, y)


# ---------------------------------------------------------------- bad input


def test_asymmetric_matrix_is_refused(rng):
    K = rbf_kernel(rng.normal(size=(1100, 2)))
    K[1050, 3] += 1e-3
    with pytest.raises(ValueError, match="not symmetric"):
        KernelRidge(kernel="precomputed").fit(K, np.ones(1100))


def test_matrix_that_is_not_square_is_refused():
    with pytest.raises(ValueError, match="square"):
        KernelRidge(kernel="precomputed").fit(np.ones((3, 2)), np.ones(3))


@pytest.mark.parametrize(
    ("alpha", "message"),
    [
        ([1.0, 2.0], "got 2 values for 3 targets"),
        ([1.0, 2.0, -1.0], "non-negative"),
        ([1.0, np.nan, 1.0], "finite"),
        ([1.0, np.inf, 1.0], "finite"),
        ([], "got 0 values for 3 targets"),
        (np.nan, "alpha"),
    ],
)
def test_bad_penalties_are_refused(alpha, message, rng):
    X, Y, _ = regression(rng, n_targets=3)
    with pytest.raises(ValueError, match=message):
        KernelRidge(alpha).fit(X, Y)


@pytest.mark.parametrize("alpha", [-1.0, "1", None])
def test_penalty_that_is_no_number_is_refused(alpha, rng):
    X, y, _ = regression(rng)
    with pytest.raises(ValueError, match="alpha"):
        KernelRidge(alpha).fit(X, y)


def test_penalty_too_large_for_the_precision_is_refused(rng):
    X, y, _ = regression(rng)
    with pytest.raises(ValueError, match="overflows float32: decrease alpha"):
        KernelRidge(1e300, kernel="rbf").fit(X.astype(np.float32), y)


def test_wrong_kinds_of_input_are_refused(rng):
    X, y, _ = regression(rng, n=3)
    with pytest.raises((ValueError, TypeError)):
        KernelRidge(kernel="rbf").fit(["one", "two", "three"], y)
    with pytest.raises((ValueError, TypeError)):
        KernelRidge(kernel=Spectrum(p=2)).fit(X, y)
    with pytest.raises((ValueError, TypeError), match="string"):
        KernelRidge(kernel=Spectrum(p=2)).fit(X[:, 0], y)
    with pytest.raises((ValueError, TypeError), match="string"):
        KernelRidge(kernel=Spectrum(p=2)).fit(["one", "two", np.nan], y)
    with pytest.raises((ValueError, TypeError), match="string"):
        KernelRidge(kernel=Spectrum(p=2)).fit(["one", "two", None], y)


def test_data_without_features_is_refused():
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        KernelRidge().fit(np.empty((4, 0)), np.ones(4))


def test_targets_must_be_there():
    with pytest.raises(ValueError):
        KernelRidge().fit(np.ones((4, 2)), np.empty((4, 0)))
    with pytest.raises(ValueError, match="inconsistent"):
        KernelRidge(kernel=Spectrum(p=1)).fit(["a", "b"], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="NaN"):
        KernelRidge(kernel=Spectrum(p=1)).fit(["a", "b"], [1.0, np.nan])


def test_kernel_parameters_of_a_named_kernel_are_refused(rng):
    X, y, _ = regression(rng)
    with pytest.raises(ValueError, match="kernel_params"):
        KernelRidge(kernel="rbf", kernel_params={"gamma": 2}).fit(X, y)


def test_matrix_without_room_is_refused_with_advice(rng, monkeypatch):
    X, y, _ = regression(rng, n=3000, p=2)
    monkeypatch.setattr(_memory, "available_memory", lambda: 3000 * 3000 * 8)
    with pytest.raises(ValueError, match=r'3000 samples needs .* solver="nystrom"'):
        KernelRidge(kernel="rbf").fit(X, y)
    KernelRidge(kernel="rbf", solver="nystrom", n_components=10).fit(X, y)
    KernelRidge().fit(X, y)


# ---------------------------------------------------------------- shapes and kinds of samples


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("solver", ["auto", "cholesky", "nystrom", "cg"])
def test_one_sample_is_enough(kernel, solver):
    model = KernelRidge(3, kernel=kernel, solver=solver).fit([[1.0]], [2.0])
    np.testing.assert_allclose(model.predict([[1.0]]), [0.5], **ALGEBRA)
    with_bias = KernelRidge(3, kernel=kernel, solver=solver, fit_intercept=True)
    np.testing.assert_allclose(with_bias.fit([[1.0]], [2.0]).predict([[7.0]]), [2.0], **ALGEBRA)
    np.testing.assert_allclose(with_bias.dual_coef_, [0], atol=1e-12)


@intercepts
def test_shapes_follow_the_targets(fit_intercept, rng):
    X, Y, X_test = regression(rng, n_targets=3)
    for solver in ("auto", "cholesky", "nystrom"):
        model = KernelRidge(fit_intercept=fit_intercept, solver=solver)
        one = model.fit(X, Y[:, 0])
        assert (one.dual_coef_.shape, one.coef_.shape) == ((40,), (4,))
        assert np.shape(one.intercept_) == np.shape(one.rkhs_norm_) == np.shape(one.dof_) == ()
        assert one.predict(X_test).shape == (15,)
        for n_targets in (1, 3):
            some = model.fit(X, Y[:, :n_targets])
            assert (some.dual_coef_.shape, some.coef_.shape) == ((40, n_targets), (n_targets, 4))
            assert np.shape(some.intercept_) == ((n_targets,) if fit_intercept else ())
            assert some.rkhs_norm_.shape == some.dof_.shape == (n_targets,)
            assert some.predict(X_test).shape == (15, n_targets)


def test_prediction_in_chunks_is_prediction_in_one_piece(rng):
    X, Y, _ = regression(rng, n_targets=2)
    many = rng.uniform(0, 2, (3000, 4))
    model = KernelRidge(kernel="rbf", gamma=0.3).fit(X, Y)
    whole = rbf_kernel(many, X, gamma=0.3) @ model.dual_coef_
    np.testing.assert_allclose(model.predict(many), whole, **EXACT)
    chunks = np.concatenate([model.predict(part) for part in np.array_split(many, 7)])
    np.testing.assert_allclose(chunks, whole, **EXACT)


WORDS = ["cat", "cart", "car", "dog", "doge", "dodge", "tac", "god"]
FORMS = [list, tuple, np.array, lambda X: np.array(X, dtype=object), pd.Series]


@pytest.mark.parametrize("form", FORMS, ids=["list", "tuple", "str", "object", "series"])
@pytest.mark.parametrize("solver", ["auto", "nystrom", "cg"])
@pytest.mark.parametrize("kernel", [Spectrum(p=1), GapWeighted(p=2)], ids=str)
def test_strings_are_samples(kernel, solver, form):
    y = np.array([3.0, 4, 3, 3, 4, 5, 3, 3])
    model = KernelRidge(0.1, kernel=kernel, solver=solver, fit_intercept=True, tol=1e-12)
    said = model.fit(form(WORDS), y).predict(form(["cards", "dogs"]))
    c, b = reference.solve(kernel(WORDS), y, 0.1, fit_intercept=True)
    np.testing.assert_allclose(said, kernel(["cards", "dogs"], WORDS) @ c + b, **ALGEBRA)


@pytest.mark.parametrize("form", [list, lambda X: pd.Series(X, dtype=object)])
def test_sets_are_samples(form):
    sets, y = [{1, 2}, {2, 3, 4}, {5}, {1, 5}], [2.0, 3.0, 1.0, 2.0]
    model = KernelRidge(1e-9, kernel=SetIntersection()).fit(form(sets), y)
    np.testing.assert_allclose(model.predict(form(sets)), y, atol=1e-6)


def test_data_frames_of_strings_are_columns(rng):
    frame = pd.DataFrame({"word": WORDS, "size": [float(len(w)) for w in WORDS]})
    model = KernelRidge(0.1, kernel=Spectrum(p=1)).fit(frame["word"], frame["size"])
    plain = KernelRidge(0.1, kernel=Spectrum(p=1)).fit(WORDS, [len(w) for w in WORDS])
    np.testing.assert_array_equal(model.dual_coef_, plain.dual_coef_)


# ---------------------------------------------------------------- searches and pipelines


def test_parameters_of_a_kernel_object_are_searched(rng):
    X, y, _ = regression(rng)
    grid = {"kernel__gamma": [0.01, 0.1, 1.0], "alpha": [0.1, 1]}
    ours = GridSearchCV(KernelRidge(kernel=Gaussian()), grid, cv=3).fit(X, y)
    grid = {"gamma": [0.01, 0.1, 1.0], "alpha": [0.1, 1]}
    theirs = GridSearchCV(Neighbour(kernel="rbf"), grid, cv=3).fit(X, y)
    ours, theirs = ours.cv_results_, theirs.cv_results_
    np.testing.assert_allclose(ours["mean_test_score"], theirs["mean_test_score"], **ALGEBRA)


def test_precomputed_matrices_are_cut_by_a_search(rng):
    X, y, _ = regression(rng)
    grid = {"alpha": [0.1, 1, 10]}
    ours = GridSearchCV(KernelRidge(kernel="precomputed"), grid, cv=3).fit(rbf_kernel(X), y)
    theirs = GridSearchCV(Neighbour(kernel="rbf", gamma=0.25), grid, cv=3).fit(X, y)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], **ALGEBRA
    )


def test_strings_are_searched():
    y = np.arange(8.0)
    search = GridSearchCV(KernelRidge(kernel=Spectrum(p=1)), {"kernel__p": [1, 2]}, cv=2)
    assert search.fit(WORDS, y).predict(WORDS).shape == (8,)


def test_machine_is_the_end_of_a_pipeline(rng):
    X, y, X_test = regression(rng)
    scaler = StandardScaler().fit(X)
    pipeline = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")).fit(X, y)
    alone = KernelRidge(kernel="rbf").fit(scaler.transform(X), y)
    np.testing.assert_array_equal(pipeline.predict(X_test), alone.predict(scaler.transform(X_test)))


def test_leverages_are_those_of_the_fit_after_parameters_have_changed(rng):
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    model = KernelRidge(0.3, kernel="rbf", fit_intercept=True).fit(X, y)
    expected = KernelRidge(0.3, kernel="rbf", fit_intercept=True).fit(X, y).leverage_
    model.set_params(fit_intercept=False, alpha=9.0, kernel="linear")
    np.testing.assert_allclose(model.leverage_, expected, **EXACT)


def test_class_in_place_of_a_kernel_object_is_refused():
    with pytest.raises(TypeError, match=r"got the class Gaussian: use an instance, .*Gaussian\("):
        KernelRidge(kernel=Gaussian).fit([[0.0], [1.0]], [0, 1])
