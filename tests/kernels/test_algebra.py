"""The rules that make kernels of kernels, and the exercises on what is a kernel."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import kernels as gp
from sklearn.preprocessing import KernelCenterer, PolynomialFeatures, StandardScaler

from sklearn_sl.kernels import (
    Anova,
    Centered,
    Composed,
    Exponential,
    Gaussian,
    GeneralLinear,
    KernelPolynomial,
    Linear,
    Matern,
    Min,
    Normalized,
    Polynomial,
    Power,
    Precomputed,
    Product,
    Sigmoid,
    Spline,
    Sum,
    gram_product,
    is_psd,
)

seeds = st.integers(0, 2**32 - 1)
VALID = [
    Linear(),
    Polynomial(degree=2),
    Exponential(0.3),
    Gaussian(),
    Matern(nu=0.5),
    Matern(nu=2.5),
    Anova(),
    Anova(degree=2),
    Min(),
    Spline(),
]
kernels = st.sampled_from(VALID)
weights = st.floats(0.0, 10.0)


@st.composite
def gram_matrices(draw, n=6):
    """Return two Gram matrices of any rank, as kernels on ``n`` row numbers."""
    rng = np.random.default_rng(draw(seeds))
    factors = [rng.normal(size=(n, draw(st.integers(1, n)))) for _ in range(2)]
    return [Precomputed(Z @ Z.T) for Z in factors]


ROWS = np.arange(6)[:, None]


def sample(seed, n=12, d=3):
    return np.random.default_rng(seed).uniform(0.0, 1.5, size=(n, d))


# Closure


@given(gram_matrices(), weights, weights)
def test_nonnegative_combinations_are_kernels(pair, a, b):
    K, L = pair
    assert is_psd(a * K + b * L, ROWS)


@given(gram_matrices())
def test_schur_product_is_a_kernel(pair):
    K, L = pair
    assert is_psd(K * L, ROWS)


@given(gram_matrices(), st.lists(weights, min_size=1, max_size=4))
def test_polynomial_with_nonnegative_coefficients_is_a_kernel(pair, coefficients):
    assert is_psd(KernelPolynomial(pair[0], coefficients), ROWS)


@given(gram_matrices(), seeds)
def test_factor_on_both_sides_keeps_a_kernel(pair, seed):
    f = np.random.default_rng(seed).normal(size=6)
    factored = Composed(pair[0], factor=lambda rows: f[rows[:, 0].astype(int)])
    assert is_psd(factored, ROWS)
    np.testing.assert_allclose(factored(ROWS), np.outer(f, f) * pair[0](ROWS), **EXACT)


@given(gram_matrices())
def test_normalised_and_centred_kernels_are_kernels(pair):
    assert is_psd(Normalized(pair[0]), ROWS)
    assert is_psd(Centered(pair[0]), ROWS, tol=1e-7)


@given(kernels, seeds)
def test_kernel_of_mapped_arguments_is_a_kernel(kernel, seed):
    assert is_psd(Composed(kernel, lambda X: np.abs(np.sin(7 * X))), sample(seed))


@given(kernels, seeds)
def test_kernel_of_a_linear_map_is_a_kernel(kernel, seed):
    matrix = np.random.default_rng(seed).uniform(size=(3, 2))
    X = sample(seed)
    mapped = Composed(kernel, lambda X: X @ matrix)
    assert is_psd(mapped, X)
    np.testing.assert_allclose(mapped(X), kernel(X @ matrix), **EXACT)


@given(kernels, kernels, seeds)
def test_sum_and_product_over_split_coordinates_are_kernels(first, second, seed):
    X = sample(seed)
    left, right = Composed(first, columns=[0]), Composed(second, columns=[1, 2])
    K, L = first(X[:, [0]]), second(X[:, 1:])
    for kernel, expected in ((left + right, K + L), (left * right, K * L)):
        np.testing.assert_allclose(kernel(X), expected, **EXACT)
        np.testing.assert_allclose(kernel.diag(X), np.diag(expected), **EXACT)
        assert is_psd(kernel, X)


@given(kernels, kernels, seeds, st.integers(0, 4), weights)
def test_operators_are_those_of_the_matrices(first, second, seed, exponent, number):
    X, Y = sample(seed), sample(seed + 1, n=5)
    K, L = first(X, Y), second(X, Y)
    for kernel, expected in (
        (first + second, K + L),
        (first * second, K * L),
        (first**exponent, K**exponent),
        (number * first, number * K),
        (first * number, number * K),
        (first + number, K + number),
        (number + first, K + number),
    ):
        np.testing.assert_allclose(kernel(X, Y), expected, **EXACT)


# Which functions are kernels


def test_general_linear_kernel_needs_a_positive_matrix():
    assert is_psd(GeneralLinear(np.diag([1.0, 5.0])), np.random.default_rng(0).normal(size=(9, 2)))
    matrix = np.array([[-1.0, 2.0], [2.0, 4.0]])
    np.testing.assert_allclose(np.linalg.eigvalsh(matrix), [-1.70, 4.70], atol=5e-3)
    assert not is_psd(matrix)
    with pytest.raises(ValueError, match="positive semi-definite"):
        GeneralLinear(matrix)(np.eye(2))


@given(seeds)
def test_exponential_of_the_first_coordinates_is_a_kernel(seed):
    X = np.random.default_rng(seed).normal(size=(9, 2))
    kernel = Composed(Exponential(), columns=[0])
    np.testing.assert_allclose(kernel(X), np.exp(np.outer(X[:, 0], X[:, 0])), **EXACT)
    assert is_psd(kernel, X)


def test_product_minus_its_square_is_no_kernel():
    X = np.array([[2.0, 0.0], [0.5, 0.5]])
    assert not is_psd(Linear() + -1.0 * Linear() ** 2, X)
    with pytest.raises(ValueError, match="non-negative"):
        KernelPolynomial(Linear(), [0.0, 1.0, -1.0])(X)


@pytest.mark.parametrize("gamma, coef0", [(1.0, -1.0), (0.5, 1.0), (2.0, 0.5)])
def test_sigmoid_is_no_kernel(gamma, coef0, rng):
    K = Sigmoid(gamma, coef0)(3 * rng.normal(size=(40, 2)))
    assert np.linalg.eigvalsh(K)[0] < -0.5
    assert not is_psd(K)


def test_sigmoid_is_refuted_by_one_point():
    assert Sigmoid(1.0, -1.0)([[0.1]])[0, 0] < 0


@given(st.integers(1, 3), seeds)
def test_negative_constant_makes_the_odd_polynomial_indefinite(degree, seed):
    odd = 2 * degree - 1
    assert not is_psd(Polynomial(odd, coef0=-1.0), 0.1 * sample(seed))


# Normalised


@pytest.mark.parametrize("kernel", [*VALID, Sigmoid(0.3, 0.2)])
def test_normalised_kernel_is_a_cosine(kernel):
    X, Y = sample(0), sample(1, n=5)
    norms = np.sqrt(kernel.diag(X)), np.sqrt(kernel.diag(Y))
    np.testing.assert_allclose(Normalized(kernel)(X, Y), kernel(X, Y) / np.outer(*norms), **EXACT)
    np.testing.assert_array_equal(np.diag(Normalized(kernel)(X)), 1)
    np.testing.assert_array_equal(Normalized(kernel).diag(X), 1)


def test_sample_without_direction_is_similar_to_none():
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    kernel = Normalized(Linear())
    np.testing.assert_array_equal(kernel(X), [[0, 0], [0, 1]])
    np.testing.assert_array_equal(kernel.diag(X), [0, 1])
    np.testing.assert_array_equal(kernel(X, X[:1]), [[0], [0]])
    assert np.isfinite(Normalized(Polynomial(2, coef0=0.0))(X, eval_gradient=True)[1]).all()


def test_normalised_constant_is_one():
    np.testing.assert_allclose(Normalized(gp.ConstantKernel(2))(np.eye(3)), 1, **EXACT)


# Centred


@pytest.mark.parametrize("kernel", VALID)
def test_centred_kernel_is_that_of_the_kernel_centerer(kernel):
    X, Y = sample(0), sample(1, n=5)
    centerer = KernelCenterer().fit(kernel(X))
    np.testing.assert_allclose(Centered(kernel)(X), centerer.transform(kernel(X)), **ALGEBRA)
    test = centerer.transform(kernel(Y, X))
    # The reference set is the second argument, the given one, or the one of ``resolve``.
    np.testing.assert_allclose(Centered(kernel)(Y, X), test, **ALGEBRA)
    np.testing.assert_allclose(Centered(kernel, X)(Y, X), test, **ALGEBRA)
    np.testing.assert_allclose(Centered(kernel).resolve(X)(X, Y), test.T, **ALGEBRA)


def test_centred_linear_kernel_is_the_linear_kernel_of_centred_data(rng):
    X, Y, Z = (rng.normal(size=(n, 3)) for n in (9, 5, 20))
    weight = rng.random(20)
    mean = weight @ Z / weight.sum()
    kernel = Centered(Linear(), Z, weight)
    np.testing.assert_allclose(kernel(X, Y), (X - mean) @ (Y - mean).T, **ALGEBRA)
    np.testing.assert_allclose(kernel.diag(X), np.sum((X - mean) ** 2, axis=1), **ALGEBRA)


def test_weights_of_the_reference_set_are_repetitions(rng):
    X, Z = rng.normal(size=(9, 3)), rng.normal(size=(6, 3))
    weight = np.array([1, 3, 0, 2, 1, 1])
    repeated = Centered(Gaussian(), np.repeat(Z, weight, axis=0))
    np.testing.assert_allclose(Centered(Gaussian(), Z, weight)(X), repeated(X), **EXACT)


def test_centred_gram_matrix_sums_to_zero(rng):
    K = Centered(Gaussian())(rng.normal(size=(1300, 3)))
    np.testing.assert_allclose(K.sum(axis=0), 0, atol=1e-9)


# Composed


@given(seeds)
def test_polynomial_is_the_linear_kernel_of_its_features(seed):
    X = sample(seed)
    features = PolynomialFeatures(2, include_bias=False).fit(X)
    composed = Composed(Linear(), features)
    np.testing.assert_allclose(
        composed(X), features.transform(X) @ features.transform(X).T, **EXACT
    )


def test_xor_is_separated_by_the_product_feature():
    X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    y = -X[:, 0] * X[:, 1]
    kernel = Composed(Linear(), lambda X: np.column_stack([X, X[:, 0] * X[:, 1]]))
    alpha = y / 4  # w = (0, 0, -1)
    np.testing.assert_allclose(gram_product(kernel, X, X, alpha), y, **EXACT)
    # No function of the linear kernel does it: such a function is odd, the labels are even.
    np.testing.assert_allclose(Linear()(X) @ y, 0, atol=1e-12)
    np.testing.assert_allclose(
        Composed(Linear(), lambda X: np.column_stack([X, X[:, 0] * X[:, 1]])).diag(X), 3
    )


def test_columns_come_before_the_map_and_the_factor_sees_everything(rng):
    X = rng.normal(size=(6, 3))
    kernel = Composed(Linear(), np.square, factor=lambda X: X[:, 2], columns=slice(0, 2))
    Z = X[:, :2] ** 2 * X[:, [2]]
    np.testing.assert_allclose(kernel(X), Z @ Z.T, **EXACT)
    np.testing.assert_allclose(kernel.diag(X), np.sum(Z**2, axis=1), **EXACT)


def test_clone_keeps_a_fitted_map(rng):
    X = rng.normal(5.0, 3.0, size=(9, 2))
    kernel = Normalized(Composed(Gaussian(), StandardScaler().fit(X)))
    np.testing.assert_array_equal(clone(kernel)(X), kernel(X))
    np.testing.assert_allclose(
        kernel.kernel(X), Gaussian()(StandardScaler().fit_transform(X)), **EXACT
    )
    with pytest.raises(NotFittedError):
        Composed(Gaussian(), StandardScaler())(X)


def test_map_turns_anything_into_vectors():
    def counts(words):
        return np.array([[word.count(letter) for letter in "abc"] for word in words])

    words = ["abba", "cab", "b"]
    kernel = Composed(Linear(), counts)
    assert not kernel.requires_vector_input
    np.testing.assert_array_equal(kernel(words), counts(words) @ counts(words).T)
    scaled = 2.0 * kernel + gp.WhiteKernel(0.5)
    assert not scaled.requires_vector_input
    np.testing.assert_allclose(scaled(words), 2 * kernel(words) + 0.5 * np.eye(3), **EXACT)
    np.testing.assert_allclose(scaled.diag(words), np.diag(scaled(words)), **EXACT)
    np.testing.assert_array_equal(Normalized(scaled).diag(words), 1)


def test_map_of_sparse_data_sees_it_as_it_is():
    X = sp.csr_array(np.eye(3))
    kernel = Composed(Gaussian(), lambda X: X.toarray() @ np.ones((3, 2)))
    np.testing.assert_array_equal(kernel(X), np.ones((3, 3)))


def test_kernels_of_different_inputs_do_not_mix():
    class Words(Linear):
        input_kind = "strings"

    with pytest.raises(
        TypeError, match=r"combines kernels of different inputs \(strings, vectors\)"
    ):
        (Words() + Gaussian())(np.eye(2))


# Types of the operators


@pytest.mark.parametrize("number", [2, 0.5, np.float64(0.5), np.float32(0.5), np.int64(3)])
def test_numbers_of_every_type_scale_a_kernel(number, rng):
    X = rng.normal(size=(5, 2))
    K = Gaussian()(X)
    for kernel in (number * Gaussian(), Gaussian() * number):
        assert type(kernel) is Product
        np.testing.assert_allclose(kernel(X), number * K, **EXACT)
    for kernel in (number + Gaussian(), Gaussian() + number):
        assert type(kernel) is Sum
        np.testing.assert_allclose(kernel(X), number + K, **EXACT)
    assert type(Gaussian() ** 2) is Power
    assert (number * Gaussian())(X.astype(np.float32)).dtype == np.float32


OURS, THEIRS = Gaussian(0.7), gp.RBF(0.7)


@pytest.mark.parametrize(
    "other", [gp.WhiteKernel(0.5), gp.ConstantKernel(2.0), gp.Matern(), THEIRS]
)
def test_kernels_of_scikit_learn_mix_on_either_side(other, rng):
    X, Y = rng.normal(size=(7, 2)), rng.normal(size=(4, 2))
    K, L = OURS, other
    for kernel, twin in (
        (K + L, THEIRS + L),
        (L + K, L + THEIRS),
        (K * L, THEIRS * L),
        (L * K, L * THEIRS),
        (2.0 * (L + K) ** 2, 2.0 * (L + THEIRS) ** 2),
        (Normalized(K + L) * L, None),
        (Centered(L, X), None),
    ):
        copy = clone(kernel)
        assert copy == kernel
        np.testing.assert_allclose(copy.diag(X), np.diag(copy(X)), **EXACT)
        if twin is not None:
            np.testing.assert_allclose(copy(X), twin(X), **EXACT)
            np.testing.assert_allclose(copy(X, Y), twin(X, Y), **EXACT)
            np.testing.assert_allclose(copy.theta, twin.theta, **EXACT)
            ours, theirs = (k(X, eval_gradient=True)[1] for k in (copy, twin))
            np.testing.assert_allclose(ours, theirs, **ALGEBRA)
