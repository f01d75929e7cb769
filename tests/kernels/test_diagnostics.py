"""Questions about Gram matrices and scales: positive, of which rank, how wide?"""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import EXACT
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from sklearn.gaussian_process import kernels as gp

from sklearn_sl.kernels import (
    Centered,
    Gaussian,
    Linear,
    Polynomial,
    Sigmoid,
    gram_diagnostics,
    is_psd,
    median_gamma,
)

seeds = st.integers(0, 2**32 - 1)


# is_psd


@given(seeds, st.integers(1, 12), st.integers(1, 12))
def test_every_gram_matrix_is_psd_and_its_negative_is_not(seed, n, rank):
    Z = np.random.default_rng(seed).normal(size=(n, rank))
    assert is_psd(Z @ Z.T)
    assert not is_psd(-Z @ Z.T)


@pytest.mark.parametrize(
    "K, verdict",
    [
        (np.eye(3), True),
        (np.zeros((3, 3)), True),
        (np.ones((3, 3)), True),
        ([[1.0, 2.0], [2.0, 1.0]], False),
        ([[1.0, 0.5], [0.4, 1.0]], False),
        ([[0.0, 1.0], [1.0, 0.0]], False),
        ([[2]], True),
        ([[-2]], False),
        (1e-200 * np.eye(2), True),
        (1e200 * np.array([[1.0, 2.0], [2.0, 1.0]]), False),
    ],
)
def test_verdict_on_small_matrices(K, verdict):
    assert is_psd(K) is verdict


def test_verdict_does_not_depend_on_the_scale(rng):
    Z = rng.normal(size=(20, 3))
    for scale in (1e-100, 1.0, 1e100):
        assert is_psd(scale * Z @ Z.T)
        assert not is_psd(scale * (Z @ Z.T - 0.1 * np.eye(20)))


def test_tolerance_is_in_units_of_the_largest_eigenvalue():
    K = np.diag([100.0, 1.0, -1e-3])
    assert not is_psd(K)
    assert not is_psd(K, tol=0.9e-5)
    assert is_psd(K, tol=1.1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_kernels_of_either_precision_pass(dtype, rng):
    for scale in (0.1, 1.0, 30.0):
        X = (scale * rng.normal(size=(300, 1))).astype(dtype)
        assert is_psd(Gaussian(), X)
        assert is_psd(Centered(Gaussian()), X)
        assert is_psd(Linear(), X)
        assert is_psd(Polynomial(3), X)
        assert not is_psd(Polynomial(3, coef0=-1.0), X)
        assert is_psd(gp.RBF(), X)


def test_kernel_objects_are_evaluated_on_the_samples(rng):
    X = 3 * rng.normal(size=(30, 2))
    assert is_psd(Gaussian(), X) and is_psd(gp.RBF(), X)
    assert not is_psd(Sigmoid(), X)


@pytest.mark.parametrize("function", [is_psd, gram_diagnostics])
def test_what_is_no_gram_matrix_is_refused(function):
    with pytest.raises(ValueError, match="square matrix; got shape"):
        function(np.ones((2, 3)))
    with pytest.raises(ValueError, match="X must be given"):
        function(Gaussian())
    with pytest.raises(ValueError, match="NaN"):
        function([[np.nan]])


# gram_diagnostics


@pytest.mark.parametrize("n", [1, 2, 7])
def test_identity_has_full_effective_rank_and_constant_has_one(n):
    identity, constant = gram_diagnostics(np.eye(n)), gram_diagnostics(np.full((n, n), 3.0))
    np.testing.assert_allclose([identity.effective_rank, constant.effective_rank], [n, 1])
    assert identity.diagonal_dominance == 1
    assert (identity.smallest_eigenvalue, identity.largest_eigenvalue) == (1, 1)
    np.testing.assert_allclose(constant.largest_eigenvalue, 3 * n)
    if n > 1:
        np.testing.assert_allclose(constant.diagonal_dominance, 0, atol=1e-12)


def test_zero_matrix_has_rank_zero():
    zero = gram_diagnostics(np.zeros((3, 3)))
    assert (zero.effective_rank, zero.diagonal_dominance) == (0, 0)


def test_diagnostics_tell_an_indefinite_matrix():
    assert gram_diagnostics([[-1.0, 2.0], [2.0, 4.0]]).smallest_eigenvalue < -1.7


def test_narrower_gaussians_are_more_diagonal_and_of_higher_rank(rng):
    X = rng.normal(size=(40, 2))
    found = [gram_diagnostics(Gaussian(gamma=gamma), X) for gamma in np.geomspace(1e-3, 1e3, 9)]
    assert np.all(np.diff([d.diagonal_dominance for d in found]) > 0)
    assert np.all(np.diff([d.effective_rank for d in found]) > 0)
    assert found[0].diagonal_dominance < 0.01 < 0.99 < found[-1].diagonal_dominance


@given(seeds)
def test_effective_rank_lies_between_one_and_the_rank(seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(10, rng.integers(1, 10)))
    assert 1 - 1e-9 <= gram_diagnostics(Z @ Z.T).effective_rank <= Z.shape[1] + 1e-9


# median_gamma


@given(seeds, st.integers(2, 30), st.integers(1, 4))
def test_median_gamma_is_the_one_of_the_median_distance(seed, n, d):
    X = np.random.default_rng(seed).normal(size=(n, d))
    np.testing.assert_allclose(median_gamma(X), 1 / (2 * np.median(pdist(X)) ** 2), **EXACT)


def test_half_of_the_kernel_values_lie_above_the_root_of_one_over_e(rng):
    X = rng.normal(size=(30, 2))
    K = Gaussian(gamma="median").resolve(X)(X)[np.triu_indices(30, 1)]
    assert abs(np.mean(K > np.exp(-0.5)) - 0.5) < 0.01


@given(seeds)
def test_weights_are_repeated_rows(seed):
    rng = np.random.default_rng(seed)
    X, weight = rng.normal(size=(15, 2)), rng.integers(0, 4, size=15)
    weight[0] = 1
    repeated = np.repeat(X, weight, axis=0)
    np.testing.assert_allclose(
        median_gamma(X, sample_weight=weight), median_gamma(repeated), **EXACT
    )
    np.testing.assert_allclose(
        median_gamma(X, sample_weight=0.1 * weight), median_gamma(repeated), **EXACT
    )


@given(seeds)
def test_order_of_the_samples_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    X, weight, order = rng.normal(size=(15, 2)), rng.random(15), rng.permutation(15)
    np.testing.assert_allclose(
        median_gamma(X, sample_weight=weight),
        median_gamma(X[order], sample_weight=weight[order]),
        **EXACT,
    )


@given(seeds, st.floats(1e-3, 1e3))
def test_scaling_the_data_scales_gamma_by_the_inverse_square(seed, scale):
    X = np.random.default_rng(seed).normal(size=(15, 2))
    np.testing.assert_allclose(median_gamma(scale * X), median_gamma(X) / scale**2, rtol=1e-9)


@pytest.mark.parametrize("offset", [1e3, 1e8])
def test_duplicates_far_from_the_origin_are_still_left_out(offset, rng):
    X = rng.integers(-200, 200, size=(12, 3)) / 64
    copies = np.vstack([X] * 4)
    gamma = median_gamma(X)
    np.testing.assert_allclose(median_gamma(copies + offset), gamma, rtol=1e-9)
    np.testing.assert_allclose(median_gamma(sp.csr_array(copies + offset)), gamma, rtol=1e-9)


@pytest.mark.parametrize(
    "X", [np.ones((5, 2)), [[3.0]], np.full((4, 2), 0.1), np.full((7, 3), 1e8 / 3)]
)
def test_coincident_samples_have_no_scale(X):
    assert median_gamma(X) == 1


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-153, 1e-20, 1e100])
def test_gamma_is_positive_and_finite_on_every_scale(scale, rng):
    gamma = median_gamma(scale * rng.normal(size=(10, 2)))
    assert 0 < gamma < np.inf


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.csc_array])
def test_sparse_samples_have_the_same_gamma(container, rng):
    X = (rng.random((40, 5)) < 0.4) * rng.normal(size=(40, 5))
    np.testing.assert_allclose(median_gamma(container(X)), median_gamma(X), **EXACT)


def test_single_precision_is_precise_enough(rng):
    X = rng.normal(size=(40, 5))
    np.testing.assert_allclose(median_gamma(X.astype(np.float32)), median_gamma(X), rtol=1e-5)


def test_many_samples_are_judged_by_a_part_of_them(rng):
    X = rng.normal(size=(3000, 2))
    whole = median_gamma(X, max_samples=3000)
    part = median_gamma(X)
    assert part == median_gamma(X) != whole
    assert part != median_gamma(X, random_state=1)
    np.testing.assert_allclose([part, median_gamma(X, random_state=1)], whole, rtol=0.1)
    weight = np.zeros(3000)
    weight[:50] = 1
    np.testing.assert_allclose(median_gamma(X, sample_weight=weight), median_gamma(X[:50]), **EXACT)


@pytest.mark.parametrize("weight", [[0.0, 0.0, 0.0], [1.0, 2.0]])
def test_weights_must_fit_the_samples(weight):
    with pytest.raises(ValueError, match="sample_weight"):
        median_gamma(np.eye(3), sample_weight=weight)
