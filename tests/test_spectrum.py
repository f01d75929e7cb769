"""One eigendecomposition for every penalty: fits and leave-outs equal explicit refits."""

import numpy as np
import pytest
from conftest import ALGEBRA
from hypothesis import given
from hypothesis import strategies as st
from reference import kernel_ridge as reference

from sklearn_sl import _memory
from sklearn_sl._spectrum import Eigendecomposition, check_eigh_memory

ALPHAS = [1e-2, 1.0, 30.0]


def features(rng, n, rank):
    return rng.normal(size=(n, rank)) + 3


def spectrum_of(X, weight, fit_intercept, thin):
    """Return the spectrum of the linear kernel, from features or from its Gram matrix."""
    if thin:
        return Eigendecomposition.of_features(X, weight, fit_intercept=fit_intercept)
    return Eigendecomposition.of_gram(X @ X.T, weight, fit_intercept=fit_intercept)


settings = pytest.mark.parametrize("fit_intercept", [False, True])
roads = pytest.mark.parametrize("thin", [False, True])


@settings
@roads
@pytest.mark.parametrize("rank", [0, 1, 4, 11, 12, 15])
def test_smoothers_solve_the_normal_equations(rank, thin, fit_intercept, rng):
    X, y, weight = features(rng, 12, rank), rng.normal(size=(12, 2)) + 5, rng.uniform(0.1, 3, 12)
    K = X @ X.T
    for smoother in spectrum_of(X, weight, fit_intercept, thin).smoothers(y, ALPHAS):
        c, b = reference.solve(K, y, smoother.alpha, weight, fit_intercept)
        np.testing.assert_allclose(smoother.dual_coef, c, **ALGEBRA)
        np.testing.assert_allclose(smoother.intercept, b, **ALGEBRA)
        np.testing.assert_allclose(smoother.residuals, y - K @ c - b, **ALGEBRA)
        H = reference.smoother(K, smoother.alpha, weight, fit_intercept)
        np.testing.assert_allclose(smoother.dof, np.trace(H), **ALGEBRA)


@settings
@roads
@pytest.mark.parametrize("rank", [0, 1, 4, 15])
def test_leave_one_out_residuals_are_those_of_refits(rank, thin, fit_intercept, rng):
    X, y, weight = features(rng, 12, rank), rng.normal(size=(12, 2)), rng.uniform(0.1, 3, 12)
    for smoother in spectrum_of(X, weight, fit_intercept, thin).smoothers(y, ALPHAS):
        refits = reference.leave_one_out(X @ X.T, y, smoother.alpha, weight, fit_intercept)
        np.testing.assert_allclose(smoother.leave_one_out_residuals(), y - refits, **ALGEBRA)


@given(seed=st.integers(0, 2**32 - 1), n_out=st.integers(1, 11), intercept=st.booleans())
@roads
def test_left_out_residuals_are_those_of_refits(thin, seed, n_out, intercept):
    rng = np.random.default_rng(seed)
    X, y, weight = features(rng, 12, 4), rng.normal(size=(12, 2)), rng.uniform(0.1, 3, 12)
    rows = rng.permutation(12)
    out, kept = rows[:n_out], rows[n_out:]
    for smoother in spectrum_of(X, weight, intercept, thin).smoothers(y, ALPHAS):
        refit = reference.left_out(X @ X.T, y, smoother.alpha, kept, out, weight, intercept)
        np.testing.assert_allclose(smoother.left_out_residuals(out), y[out] - refit, **ALGEBRA)


def test_leaving_out_one_is_leaving_out_a_set_of_one(rng):
    X, y = features(rng, 12, 4), rng.normal(size=(12, 2))
    (smoother,) = spectrum_of(X, np.ones(12), True, False).smoothers(y, [0.5])
    each = [smoother.left_out_residuals(np.array([i]))[0] for i in range(12)]
    np.testing.assert_allclose(smoother.leave_one_out_residuals(), each, **ALGEBRA)


@settings
def test_indefinite_kernel_has_its_stationary_point(fit_intercept, rng):
    K = rng.normal(size=(12, 12))
    K, y, rows = K + K.T, rng.normal(size=(12, 1)), np.array([1, 4, 7])
    kept = np.setdiff1d(np.arange(12), rows)
    (smoother,) = Eigendecomposition.of_gram(
        K.copy(), np.ones(12), fit_intercept=fit_intercept
    ).smoothers(y, [0.3])
    assert smoother.exists and not smoother.definite
    c, b = reference.solve(K, y, 0.3, fit_intercept=fit_intercept)
    np.testing.assert_allclose(smoother.dual_coef, c, **ALGEBRA)
    np.testing.assert_allclose(smoother.intercept, b, **ALGEBRA)
    refit = reference.left_out(K, y, 0.3, kept, rows, fit_intercept=fit_intercept)
    np.testing.assert_allclose(smoother.left_out_residuals(rows), y[rows] - refit, **ALGEBRA)


@np.errstate(divide="ignore", invalid="ignore")
def test_smoother_of_a_singular_system_does_not_exist():
    spectrum = Eigendecomposition.of_gram(np.diag([1.0, -2.0]), np.ones(2), fit_intercept=False)
    singular, regular = spectrum.smoothers(np.ones((2, 1)), [2.0, 3.0])
    assert not singular.exists
    assert regular.exists and regular.definite


@roads
def test_intercept_keeps_its_digits_far_from_the_origin(thin, rng):
    X, y = rng.normal(size=(20, 3)), rng.normal(size=(20, 1))
    (near,) = spectrum_of(X, np.ones(20), True, thin).smoothers(y, [0.1])
    # Of a Gram matrix twice as many digits are gone before anything begins.
    (far,) = spectrum_of(X + (1e6 if thin else 1e3), np.ones(20), True, thin).smoothers(y, [0.1])
    np.testing.assert_allclose(far.dual_coef, near.dual_coef, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(far.dof, near.dof, rtol=1e-6)
    np.testing.assert_allclose(
        far.leave_one_out_residuals(), near.leave_one_out_residuals(), rtol=1e-6, atol=1e-7
    )


def test_tiny_penalty_keeps_the_digits_of_leave_one_out(rng):
    X, y = rng.normal(size=(10, 12)), rng.normal(size=(10, 1))
    for fit_intercept in (False, True):
        (smoother,) = spectrum_of(X, np.ones(10), fit_intercept, False).smoothers(y, [1e-100])
        refits = reference.leave_one_out(X @ X.T, y, 0, fit_intercept=fit_intercept)
        np.testing.assert_allclose(smoother.leave_one_out_residuals(), y - refits, **ALGEBRA)


def test_memory_check_names_the_way_out(monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: 10**6)
    with pytest.raises(ValueError, match=r'solver="nystrom".*GridSearchCV'):
        check_eigh_memory(10_000, 8)
