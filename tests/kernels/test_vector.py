"""The kernels of vectors: each equals its definition and the inner product of its features."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT
from reference import kernels as reference
from scipy import integrate
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gp

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
    Precomputed,
    Sigmoid,
    Spline,
    TruncatedExponential,
    gram,
    gram_blocks,
    gram_product,
    is_psd,
)

A = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 3.0]])

DOT = [
    Linear(),
    GeneralLinear(A),
    Polynomial(degree=3, gamma=0.5, coef0=1.0),
    Polynomial(degree=2, gamma=2.0, coef0=0.0),
    TruncatedExponential(a=0.7, degree=4),
    Exponential(a=0.3),
    Sigmoid(gamma=0.3, coef0=0.2),
]
RADIAL = [
    Gaussian(length_scale=1.3),
    Gaussian(gamma=0.4),
    Gaussian([0.5, 1.0, 2.0]),
    Matern(nu=0.5),
    Matern(nu=0.8),
    Matern(1.7, nu=1.5),
    Matern([0.5, 1.0, 2.0], nu=2.5),
    Matern(nu=3.3),
    Matern(nu=np.inf),
]
COORDINATE = [Anova(), Anova(degree=2), Min(), Min("product"), Spline(), Spline(3, "sum")]
COMPOSED = [
    Linear() + Gaussian(),
    0.5 * Gaussian(gamma=0.2) + Polynomial(degree=2),
    Gaussian() * Matern(nu=2.5),
    Polynomial(degree=1) ** 2,
    Normalized(Polynomial(degree=2)),
    Centered(Gaussian(), reference=np.eye(3)),
    KernelPolynomial(Gaussian(), [0.5, 1.0, 2.0]),
    Composed(Gaussian(), columns=[0, 2]) + Composed(Linear(), columns=[1]),
    Composed(Linear(), np.sin, factor=lambda X: 1 + X[:, 0] ** 2),
    Normalized(Centered(Gaussian(gamma=0.3), reference=np.eye(3)) + 0.1 * Anova()),
]
SPARSE = [
    *DOT,
    *RADIAL,
    Linear() + 2.0 * Gaussian(),
    Normalized(Polynomial()),
    Polynomial(degree=1) ** 3,
    KernelPolynomial(Linear(), [1.0, 2.0]),
    Centered(Gaussian(), reference=sp.csr_array(np.eye(3))),
    Composed(Gaussian(), columns=[0, 2]) * Linear(),
    Gaussian() + gp.WhiteKernel(),
]
KERNELS = [*DOT, *RADIAL, *COORDINATE, *COMPOSED]


def name(kernel):
    return str(kernel).replace(" ", "")


def points(rng, *shape):
    """Return points on which every kernel is defined, the non-negative ones too."""
    return rng.uniform(0.0, 1.5, size=shape)


@pytest.fixture
def X(rng):
    return rng.normal(size=(7, 3))


@pytest.fixture
def Y(rng):
    return rng.normal(size=(5, 3))


# Definitions


@pytest.mark.parametrize(
    "kernel, formula",
    [
        (Linear(), np.dot),
        (GeneralLinear(A), lambda x, t: x @ A @ t),
        (Polynomial(4, 0.5, 2.0), lambda x, t: reference.polynomial(x, t, 4, 0.5, 2.0)),
        (Polynomial(0), lambda x, t: 1.0),
        (Polynomial(1, 2.0, 0.0), lambda x, t: 2 * np.dot(x, t)),
        (Polynomial(13, 0.1), lambda x, t: reference.polynomial(x, t, 13, 0.1)),
        (
            TruncatedExponential(0.7, 5),
            lambda x, t: reference.truncated_exponential(x, t, 0.7, 5),
        ),
        (TruncatedExponential(degree=0), lambda x, t: 1.0),
        (Exponential(0.3), lambda x, t: reference.exponential(x, t, 0.3)),
        (Sigmoid(0.5, -0.2), lambda x, t: reference.sigmoid(x, t, 0.5, -0.2)),
        (Gaussian(1.3), lambda x, t: reference.gaussian(x, t, 1.3)),
        (Gaussian(gamma=0.4), lambda x, t: np.exp(-0.4 * np.sum((x - t) ** 2))),
        (Gaussian(gamma=0.0), lambda x, t: 1.0),
        (Anova(), reference.anova),
        (Anova(0), lambda x, t: 1.0),
        (Anova(2), lambda x, t: reference.anova(x, t, 2)),
        (Anova(4), lambda x, t: 0.0),
    ],
    ids=lambda value: name(value) if not callable(value) or hasattr(value, "theta") else "",
)
def test_kernel_equals_its_formula(kernel, formula, X, Y):
    np.testing.assert_allclose(kernel(X, Y), reference.matrix(formula, X, Y), **EXACT)
    np.testing.assert_allclose(kernel(X), reference.matrix(formula, X), **EXACT)


@pytest.mark.parametrize("nu", [0.1, 0.5, 0.9, 1.0, 1.5, 2.0, 2.5, 3.3, 7.5, 40.0])
@pytest.mark.parametrize("length_scale", [0.7, np.array([0.5, 1.0, 2.0])], ids=["one", "ard"])
def test_matern_equals_the_bessel_formula(nu, length_scale, X, Y):
    twin = reference.matrix(lambda x, t: reference.matern(x, t, length_scale, nu), X, Y)
    np.testing.assert_allclose(Matern(length_scale, nu=nu)(X, Y), twin, rtol=1e-11, atol=1e-12)


def test_matern_of_half_is_the_exponential_covariance(X, Y):
    distance = np.linalg.norm(X[:, None] - Y[None], axis=2)
    np.testing.assert_allclose(Matern(1.7, nu=0.5)(X, Y), np.exp(-distance / 1.7), **EXACT)


def test_matern_of_infinity_is_gaussian_and_large_nu_tends_to_it(X, Y):
    limit = Gaussian(1.3)(X, Y)
    np.testing.assert_allclose(Matern(1.3, nu=np.inf)(X, Y), limit, **EXACT)
    errors = [np.abs(Matern(1.3, nu=nu)(X, Y) - limit).max() for nu in (10, 50, 250, 1000)]
    assert np.all(np.diff(errors) < 0)
    assert errors[-1] < 1e-3


@pytest.mark.parametrize("nu", [0.3, 0.5, 1.0, 1.5, 2.5, 3.3, 30.0, 150.0, 200.0])
def test_matern_falls_from_one_to_zero(nu):
    r = np.concatenate([[0.0], np.geomspace(1e-150, 1e150, 61)])
    K = Matern(nu=nu)(r[:, None], [[0.0]])[:, 0]
    assert K[0] == 1
    assert K[-1] == 0
    assert np.all(np.diff(K) <= 1e-12)


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_spline_is_powers_plus_the_integral_over_the_knots(order, rng):
    x, t = points(rng, 6, 1), points(rng, 4, 1)
    twin = reference.matrix(lambda a, b: reference.spline(a[0], b[0], order), x, t)
    np.testing.assert_allclose(Spline(order)(x, t), twin, **ALGEBRA)


def test_min_is_the_inner_product_of_indicator_features(rng):
    x, t = points(rng, 6, 1), points(rng, 4, 1)
    twin = reference.matrix(lambda a, b: reference.minimum(a[0], b[0]), x, t)
    np.testing.assert_allclose(Min()(x, t), twin, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kernel_class", [Min, Spline])
def test_sum_and_product_of_features_combine_the_kernels_of_one_feature(kernel_class, rng):
    X, Y = points(rng, 6, 3), points(rng, 4, 3)
    single = [kernel_class()(X[:, [k]], Y[:, [k]]) for k in range(3)]
    np.testing.assert_allclose(kernel_class(combine="sum")(X, Y), np.sum(single, axis=0), **EXACT)
    product = kernel_class(combine="product")(X, Y)
    np.testing.assert_allclose(product, np.prod(single, axis=0), **EXACT)


def test_min_reproduces_functions_in_the_space_of_its_norm():
    """``<f, K(x, .)> = int_0^x f' = f(x)`` as ``K(x, .)' = 1`` up to ``x`` and 0 after."""
    grid = np.linspace(0, 3, 3001)
    for x in (0.4, 1.7, 3.0):
        section = Min()(grid[:, None], [[x]])[:, 0]
        slope = np.gradient(section, grid)
        inner = integrate.trapezoid(np.cos(grid) * slope, grid)
        np.testing.assert_allclose(inner, np.sin(x), atol=2e-3)


@pytest.mark.parametrize(
    "slope, norm, expected",
    [
        (lambda x: np.cos(x) / (x + 1) - np.sin(x) / (x + 1) ** 2, "sin(x)/(x+1)", 0.6829),
        (
            lambda x: 10 * np.cos(10 * x) / (x + 1) - np.sin(10 * x) / (x + 1) ** 2,
            "sin(10x)/(x+1)",
            7.065,
        ),
    ],
    ids=["slow", "fast"],
)
def test_min_kernel_interpolant_has_the_norm_of_the_function(slope, norm, expected):
    """The norm of the interpolant grows to the one of the function: .68 and 7.06 in the notes."""
    stop = 600.0
    grid = np.linspace(0, 60, 6001)[1:]
    f = {
        "sin(x)/(x+1)": np.sin(grid) / (grid + 1),
        "sin(10x)/(x+1)": np.sin(10 * grid) / (grid + 1),
    }
    # The Gram matrix of min on a grid is inverted by differences: a'Ka = sum (df)^2 / dx.
    values = np.concatenate([[0], f[norm]])
    squared = np.sum(np.diff(values) ** 2 / np.diff(np.concatenate([[0], grid])))
    tail = integrate.quad(lambda x: slope(x) ** 2, 60, stop, limit=2000)[0]
    np.testing.assert_allclose(np.sqrt(squared + tail), expected, rtol=2e-2)
    few = grid[::60]
    alpha = np.linalg.solve(Min()(few[:, None]), f[norm][::60])
    assert alpha @ Min()(few[:, None]) @ alpha <= squared + 1e-9


def interpolant_norm(f, knots):
    """Return the norm of the interpolant of a function in the space of the min kernel."""
    K, values = Min()(knots[:, None]), f(knots)
    return np.sqrt(values @ np.linalg.solve(K, values))


def test_tent_has_the_norm_of_the_notes_in_the_space_of_the_min_kernel():
    """``.1 x`` up to 10 and ``2 - .1 x`` to 20: it is its own interpolant, ``1 / sqrt(5)``."""

    def tent(x):
        return np.minimum(0.1 * x, 2 - 0.1 * x)

    for knots in (np.array([10.0, 20.0]), np.linspace(0, 20, 41)[1:]):
        np.testing.assert_allclose(interpolant_norm(tent, knots), 1 / np.sqrt(5), **EXACT)
    # Knots that miss the top give less.
    assert interpolant_norm(tent, np.array([7.0, 13.0, 20.0])) < 1 / np.sqrt(5)


def test_sine_is_not_in_the_space_of_the_min_kernel():
    """The norms of its interpolants grow without bound, like ``sqrt(T / 2)``."""
    norms = [interpolant_norm(np.sin, np.linspace(0, T, 8 * T + 1)[1:]) for T in (10, 40, 160)]
    np.testing.assert_allclose(norms, np.sqrt([5, 20, 80]), rtol=0.05)


# Feature maps


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_homogeneous_polynomial_is_the_product_of_all_ordered_monomials(degree, X, Y):
    features = [np.array([reference.ordered_monomials(x, degree) for x in Z]) for Z in (X, Y)]
    assert features[0].shape[1] == 3**degree
    K = Polynomial(degree, coef0=0.0)(X, Y)
    np.testing.assert_allclose(K, features[0] @ features[1].T, **EXACT)


def test_squared_product_on_the_plane_has_three_features(X, Y):
    def features(Z):
        return np.column_stack([Z[:, 0] ** 2, Z[:, 1] ** 2, np.sqrt(2) * Z[:, 0] * Z[:, 1]])

    X, Y = X[:, :2], Y[:, :2]
    K = Polynomial(2, coef0=0.0)(X, Y)
    np.testing.assert_allclose(K, features(X) @ features(Y).T, **EXACT)


def test_inhomogeneous_quadratic_on_the_plane_has_six_features(X, Y):
    def features(Z):
        a, b, root = Z[:, 0], Z[:, 1], np.sqrt(2)
        return np.column_stack([a**0, root * a, root * b, a**2, b**2, root * a * b])

    X, Y = X[:, :2], Y[:, :2]
    np.testing.assert_allclose(Polynomial(2)(X, Y), features(X) @ features(Y).T, **EXACT)


def test_quadratic_with_gamma_and_constant_has_every_product_scaled_by_gamma(X, Y):
    gamma, zeta = 0.7, 1.9

    def features(x):
        return np.concatenate(
            [[zeta], np.sqrt(2 * zeta * gamma) * x, gamma * np.outer(x, x).ravel()]
        )

    twin = reference.matrix(lambda x, t: features(x) @ features(t), X, Y)
    assert len(features(X[0])) == 3**2 + 3 + 1
    np.testing.assert_allclose(Polynomial(2, gamma, zeta)(X, Y), twin, **EXACT)


@pytest.mark.parametrize("degree", [1, 3, 4])
def test_polynomial_of_any_degree_is_the_product_of_its_features(degree, X, Y):
    def features(x):
        return reference.inhomogeneous_features(x, degree, 0.7, 1.9)

    twin = reference.matrix(lambda x, t: features(x) @ features(t), X, Y)
    np.testing.assert_allclose(Polynomial(degree, 0.7, 1.9)(X, Y), twin, **EXACT)


def test_exponential_is_the_series_of_its_features(rng):
    x, t = rng.normal(size=(6, 1)), rng.normal(size=(4, 1))
    features = [
        np.array([reference.exponential_features(v, 0.8, 40) for v in z[:, 0]]) for z in (x, t)
    ]
    np.testing.assert_allclose(Exponential(0.8)(x, t), features[0] @ features[1].T, **EXACT)


def test_truncated_exponential_tends_to_the_exponential(X, Y):
    limit = Exponential(0.5)(X, Y)
    errors = [
        np.abs(TruncatedExponential(0.5, degree)(X, Y) - limit).max() for degree in (2, 6, 14, 40)
    ]
    assert np.all(np.diff(errors) < 0)
    assert errors[-1] < 1e-12


def test_gaussian_series_reaches_the_numbers_of_the_notes():
    x, t, sigma = 0.8, -0.5, 1.2
    gamma = 1 / (2 * sigma**2)
    K = Gaussian(sigma)([[x]], [[t]])[0, 0]
    np.testing.assert_allclose(K, 0.55610, atol=5e-6)

    def partial(terms):
        a, b = (reference.gaussian_features(v, gamma, terms) for v in (x, t))
        return a @ b

    np.testing.assert_allclose([partial(3), partial(5)], [0.55855, 0.55611], atol=5e-6)
    np.testing.assert_allclose(partial(10), K, rtol=0, atol=1e-12)
    np.testing.assert_allclose(partial(12), K, rtol=0, atol=1e-14)


def test_gaussian_features_have_the_factor_root_of_two_to_the_k_over_k_factorial():
    K = Gaussian(gamma=1.0)([[0.7]], [[-0.4]])[0, 0]
    a, b = (reference.gaussian_features(v, 1.0, 30) for v in (0.7, -0.4))
    np.testing.assert_allclose([K, a @ b], [0.2982, 0.2982], atol=5e-5)


def test_gaussian_is_an_exponential_kernel_between_factors(X, Y):
    gamma = 0.4
    factored = Composed(
        Exponential(2 * gamma), factor=lambda Z: np.exp(-gamma * np.sum(Z**2, axis=1))
    )
    np.testing.assert_allclose(factored(X, Y), Gaussian(gamma=gamma)(X, Y), **EXACT)
    normalised = Normalized(Exponential(2 * gamma))
    np.testing.assert_allclose(normalised(X, Y), Gaussian(gamma=gamma)(X, Y), **EXACT)


def test_anova_is_the_product_over_all_subsets(X, Y):
    features = [np.array([reference.subset_features(x) for x in Z]) for Z in (X, Y)]
    assert features[0].shape[1] == 2**3
    np.testing.assert_allclose(Anova()(X, Y), features[0] @ features[1].T, **EXACT)
    np.testing.assert_allclose(Anova()(X, Y), np.prod(1 + X[:, None] * Y[None], axis=2), **EXACT)


def test_anova_of_all_subsets_is_the_sum_over_their_sizes(rng):
    X = rng.normal(size=(6, 5))
    by_size = sum(Anova(degree)(X) for degree in range(6))
    np.testing.assert_allclose(by_size, Anova()(X), **EXACT)


def test_general_linear_is_linear_in_the_root_of_its_matrix(rng, X, Y):
    R = rng.normal(size=(3, 2))
    np.testing.assert_allclose(GeneralLinear(R @ R.T)(X, Y), Linear()(X @ R, Y @ R), **EXACT)


def test_gaussian_with_a_matrix_is_gaussian_in_its_root(rng, X, Y):
    """The anisotropic distance ``(x - t)'M(x - t)`` with ``M = RR'``; ARD is a diagonal one."""
    R = rng.normal(size=(3, 3))
    M = R @ R.T
    twin = reference.matrix(lambda x, t: np.exp(-0.5 * (x - t) @ M @ (x - t)), X, Y)
    np.testing.assert_allclose(Composed(Gaussian(), lambda Z: Z @ R)(X, Y), twin, **EXACT)
    scale = np.array([0.5, 1.0, 3.0])
    np.testing.assert_allclose(Gaussian(scale)(X, Y), Gaussian()(X / scale, Y / scale), **EXACT)
    np.testing.assert_allclose(Gaussian([0.7] * 3)(X, Y), Gaussian(0.7)(X, Y), **EXACT)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Gaussian(), Matern(nu=0.5), Anova()])
def test_feature_space_distance_is_that_of_the_features(kernel, X):
    """With ``K = ZZ'``, ``||z_i - z_j||**2 = K_ii - 2 K_ij + K_jj``."""
    K = kernel(X)
    values, vectors = np.linalg.eigh(K)
    Z = vectors * np.sqrt(np.maximum(values, 0))
    squared = np.sum((Z[:, None] - Z[None]) ** 2, axis=2)
    own = kernel.diag(X)
    np.testing.assert_allclose(own[:, None] - 2 * K + own[None], squared, **ALGEBRA)


@pytest.mark.parametrize("kernel", [*DOT[:1], *DOT[2:], Gaussian(), Matern(), Matern(nu=0.5)])
def test_dot_and_radial_kernels_are_invariant_under_rotation(kernel, rng, X, Y):
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    np.testing.assert_allclose(kernel(X @ Q, Y @ Q), kernel(X, Y), **ALGEBRA)


@pytest.mark.parametrize("kernel", RADIAL, ids=name)
def test_stationary_kernels_are_invariant_under_translation(kernel, X, Y):
    assert kernel.is_stationary()
    np.testing.assert_allclose(kernel(X + 3.0, Y + 3.0), kernel(X, Y), **ALGEBRA)


# Matrices


@pytest.mark.parametrize("kernel", KERNELS, ids=name)
def test_one_argument_means_the_same_argument_twice(kernel, rng):
    X = points(rng, 9, 3)
    np.testing.assert_allclose(kernel(X), kernel(X, X), **EXACT)


@pytest.mark.parametrize("kernel", KERNELS, ids=name)
def test_matrix_of_two_sets_is_a_block_of_the_gram_matrix_of_both(kernel, rng):
    X, Y = points(rng, 6, 3), points(rng, 4, 3)
    np.testing.assert_allclose(kernel(X, Y), kernel(np.vstack([X, Y]))[:6, 6:], **EXACT)
    np.testing.assert_allclose(kernel(X, Y), kernel(Y, X).T, **EXACT)


@pytest.mark.parametrize("kernel", KERNELS, ids=name)
def test_diag_is_the_diagonal(kernel, rng):
    X = points(rng, 9, 3)
    np.testing.assert_allclose(kernel.diag(X), np.diag(kernel(X)), **EXACT)


@pytest.mark.parametrize("kernel", KERNELS, ids=name)
def test_gram_matrix_is_symmetric_to_the_last_bit(kernel, rng):
    X = rng.uniform(0.0, 1.5, size=(600, 3))
    K = gram(kernel, X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(K, kernel(X))


@pytest.mark.parametrize("kernel", KERNELS, ids=name)
def test_kernels_that_say_so_are_positive_semidefinite(kernel, rng):
    assert kernel.positive_definite == (not isinstance(kernel, Sigmoid))
    if kernel.positive_definite:
        assert is_psd(kernel, points(rng, 60, 3))


TILED = [
    Linear(),
    Polynomial(2),
    Gaussian(),
    Matern(nu=0.5),
    Min(),
    0.5 * Gaussian() + Linear(),
    Normalized(Polynomial(2)),
    Centered(Gaussian(), reference=np.eye(3)),
    Composed(Linear(), columns=[0]) * Gaussian(),
    gp.RBF(0.7),
    Gaussian() + gp.WhiteKernel(),
]


@pytest.mark.parametrize("kernel", TILED, ids=name)
def test_blocks_and_products_equal_the_whole_matrix_across_tile_borders(kernel, rng):
    X, Y, coef = points(rng, 1100, 3), points(rng, 700, 3), rng.normal(size=(700, 2))
    K = np.vstack([kernel(X[i : i + 100], Y) for i in range(0, 1100, 100)])
    np.testing.assert_allclose(kernel(X, Y), K, **EXACT)
    blocks = np.full_like(K, np.nan)
    for rows, block in gram_blocks(kernel, X, Y):
        blocks[rows] = block
    np.testing.assert_allclose(blocks, K, **EXACT)
    np.testing.assert_allclose(gram_product(kernel, X, Y, coef), K @ coef, **ALGEBRA)
    np.testing.assert_allclose(gram_product(kernel, X, Y, coef[:, 0]), K @ coef[:, 0], **ALGEBRA)


@pytest.mark.parametrize("kernel", TILED, ids=name)
def test_gram_matrix_across_tile_borders_is_the_one_of_its_parts(kernel, rng):
    X = points(rng, 1100, 3)
    K = gram(kernel, X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(K[:400, 500:], kernel(X[:400], X[500:]), **EXACT)
    np.testing.assert_allclose(K[500:900, 500:900], kernel(X[500:900]), **EXACT)


def test_gram_writes_where_it_is_told_and_can_leave_the_lower_triangle(rng):
    X = rng.normal(size=(1100, 3))
    K = Gaussian()(X)
    out = np.empty((1100, 1100))
    assert gram(Gaussian(), X, out=out) is out
    np.testing.assert_array_equal(out, K)
    upper = gram(Gaussian(), X, out=np.zeros((1100, 1100)), mirror=False)
    np.testing.assert_array_equal(np.triu(upper), np.triu(K))
    fortran = gram(Gaussian(), X, out=np.empty((1100, 1100), order="F"))
    np.testing.assert_allclose(fortran, K, **EXACT)


def test_noise_is_on_the_diagonal_in_every_block_of_a_gram_matrix(rng):
    """``Centered`` averages over row blocks: its rows sum to zero, noise included."""
    X = rng.normal(size=(1500, 2))
    K = Centered(Linear() + gp.WhiteKernel())(X)
    np.testing.assert_allclose(K.sum(axis=0), 0, atol=1e-9)


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("kernel", SPARSE, ids=name)
def test_sparse_input_gives_the_same_matrix(kernel, container, rng):
    X, Y = ((rng.random((n, 3)) < 0.6) * rng.normal(size=(n, 3)) for n in (40, 30))
    A, B = container(X), container(Y)
    for left, right in ((A, B), (A, Y), (X, B)):
        K = kernel(left, right)
        assert type(K) is np.ndarray
        np.testing.assert_allclose(K, kernel(X, Y), **EXACT)
    np.testing.assert_allclose(kernel(A), kernel(X), **EXACT)
    np.testing.assert_allclose(kernel.diag(A), kernel.diag(X), **EXACT)
    np.testing.assert_allclose(
        gram_product(kernel, A, B, np.ones(30)), kernel(X, Y).sum(axis=1), **ALGEBRA
    )
    single = kernel(A.astype(np.float32), B.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, K, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kernel", [*COORDINATE, Linear() + Min(), Normalized(Anova())], ids=name)
def test_kernels_without_sparse_support_say_so(kernel):
    assert not kernel.accepts_sparse
    with pytest.raises(TypeError, match="dense data is required"):
        kernel(sp.csr_array(np.eye(3)))


@pytest.mark.parametrize("kernel", KERNELS, ids=name)
def test_single_precision_in_gives_single_precision_out(kernel, rng):
    X, Y = (points(rng, n, 3).astype(np.float32) for n in (9, 5))
    K = kernel(X.astype(np.float64), Y.astype(np.float64))
    single = kernel(X, Y)
    assert single.dtype == kernel(X).dtype == kernel.diag(X).dtype == np.float32
    np.testing.assert_allclose(single, K, rtol=1e-5, atol=1e-5 * np.abs(K).max())
    assert kernel(X, Y.astype(np.float64)).dtype == np.float64
    np.testing.assert_allclose(kernel(X, Y.astype(np.float64)), K, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kernel", KERNELS, ids=name)
def test_integers_lists_and_frames_are_numbers(kernel):
    pd = pytest.importorskip("pandas")
    X = np.array([[0, 1, 2], [1, 1, 0], [2, 0, 1]])
    K = kernel(X.astype(float))
    for same in (X, X.tolist(), pd.DataFrame(X), X.astype(np.uint8), np.asfortranarray(X)):
        np.testing.assert_allclose(kernel(same), K, **EXACT)
        np.testing.assert_allclose(kernel(same, same), K, **EXACT)


@pytest.mark.parametrize("kernel", KERNELS, ids=name)
def test_input_is_left_alone(kernel, rng):
    X, Y = points(rng, 6, 3), points(rng, 4, 3)
    copies = X.copy(), Y.copy()
    X.flags.writeable = Y.flags.writeable = False
    kernel(X, Y), kernel(X), kernel.diag(X)
    np.testing.assert_array_equal(X, copies[0])
    np.testing.assert_array_equal(Y, copies[1])


@pytest.mark.parametrize("kernel", KERNELS, ids=name)
def test_one_sample_has_a_matrix_of_one_number(kernel, rng):
    X, Y = points(rng, 1, 3), points(rng, 4, 3)
    assert kernel(X).shape == (1, 1)
    np.testing.assert_allclose(kernel(X), kernel.diag(X)[:, None], **EXACT)
    assert kernel(X, Y).shape == (1, 4)
    assert kernel(Y, X).shape == (4, 1)


@pytest.mark.parametrize(
    "kernel, constant",
    [
        (Linear(), 0),
        (Polynomial(coef0=2.0), 8),
        (Exponential(), 1),
        (Gaussian(), 1),
        (Matern(), 1),
        (Anova(), 1),
        (Min(), 0),
        (Spline(), 1),
        (Normalized(Linear()), 0),
    ],
    ids=lambda value: name(value),
)
def test_no_features_give_the_kernel_of_the_origin(kernel, constant):
    np.testing.assert_array_equal(kernel(np.empty((3, 0))), np.full((3, 3), constant))
    if kernel.accepts_sparse:
        np.testing.assert_array_equal(kernel(sp.csr_array((3, 0))), np.full((3, 3), constant))


# Numerics


@pytest.mark.parametrize("kernel", [*RADIAL, Gaussian() ** 2, Normalized(Gaussian())], ids=name)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_far_points_have_a_kernel_of_zero_and_never_a_denormal_number(kernel, dtype):
    X = np.linspace(0, 900, 3000, dtype=dtype)[:, None] * np.ones(3, dtype=dtype)
    K = kernel(X, np.zeros((1, 3), dtype=dtype))
    assert np.all((K == 0) | (K >= np.finfo(dtype).tiny))
    assert K[-1] == 0
    K = kernel(X[::30])
    assert np.all((K == 0) | (K >= np.finfo(dtype).tiny))


@pytest.mark.parametrize("kernel", [Gaussian(), Matern(nu=0.5), Matern(nu=1.5)], ids=name)
@pytest.mark.parametrize("offset", [1e4, 1e8])
def test_points_far_from_the_origin_keep_their_digits(kernel, offset, rng):
    X = rng.integers(-200, 200, size=(50, 3)) / 64  # exact after the shift
    K = kernel(X)
    np.testing.assert_allclose(kernel(X + offset), K, **EXACT)
    np.testing.assert_allclose(kernel(X[:20] + offset, X[20:] + offset), K[:20, 20:], **EXACT)
    shifted = sp.csr_array(X + offset)
    np.testing.assert_allclose(kernel(shifted), K, **EXACT)
    np.testing.assert_allclose(kernel(shifted[:20], shifted[20:]), K[:20, 20:], **EXACT)


@pytest.mark.parametrize("kernel", [Gaussian(), Matern(nu=0.5), Matern(nu=1.5)], ids=name)
@pytest.mark.parametrize("outlier", [1e5, 1e8, 1e16, 1e200])
def test_an_outlier_leaves_the_other_values_alone(kernel, outlier, rng):
    X = rng.normal(size=(30, 3))
    K = kernel(X)
    with_outlier = np.vstack([X, np.full((1, 3), outlier)])
    np.testing.assert_allclose(kernel(with_outlier)[:30, :30], K, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(kernel(X, with_outlier)[:, :30], K, rtol=1e-9, atol=1e-9)


# The feature map of a composed kernel may be for dense samples only.
SPARSE = [one for one in KERNELS if one.accepts_sparse and not isinstance(one, Composed)]


@pytest.mark.parametrize("kernel", SPARSE, ids=name)
def test_entries_that_are_stored_in_parts_are_added_up(kernel, rng):
    X = points(rng, 12, 3)
    parts = sp.csr_array(np.hstack([X, X]) / 2)
    parts = sp.csr_array((parts.data, parts.indices % 3, parts.indptr), shape=X.shape)
    assert not parts.has_canonical_format
    n_stored = parts.nnz
    np.testing.assert_allclose(kernel(parts), kernel(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(kernel(parts, X), kernel(X, X.copy()), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(kernel.diag(parts), kernel.diag(X), rtol=1e-9, atol=1e-9)
    assert parts.nnz == n_stored


@pytest.mark.parametrize("kernel", RADIAL, ids=name)
@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1.0, 30.0, 1e3, 1e5, 1e8, 1e200])
def test_duplicates_have_a_kernel_of_one(kernel, scale, rng):
    X = scale * rng.normal(size=(40, 3))
    copies = np.vstack([X, X])
    for K in (kernel(X, X.copy()), kernel(copies)[:40, 40:], kernel(sp.csr_array(X), X)):
        np.testing.assert_allclose(np.diag(K), 1, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(np.diag(kernel(copies)), 1)


@pytest.mark.parametrize("kernel", KERNELS, ids=name)
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-20, 1e3])
def test_kernel_is_finite_on_every_scale_it_can_represent(kernel, scale, rng):
    X = scale * points(rng, 8, 3)
    try:
        K = kernel(X)
    except ValueError as error:
        assert "overflows" in str(error) and scale > 1
        return
    assert np.isfinite(K).all()


@pytest.mark.parametrize("kernel", [k for k in KERNELS if "factor" not in str(k)], ids=name)
def test_huge_data_gives_a_finite_matrix_or_a_clear_error(kernel, rng):
    for scale in (1e60, 1e160, 1e300):
        X = scale * points(rng, 8, 3)
        for call in (kernel, kernel.diag, lambda X: kernel(X, X[:3])):
            try:
                values = call(X)
            except ValueError as error:
                assert "overflows" in str(error)
            else:
                assert np.isfinite(values).all()


@pytest.mark.parametrize(
    "kernel",
    [
        Polynomial(3),
        TruncatedExponential(),
        Exponential(),
        Linear(),
        Anova(),
        Spline(),
        Linear() ** 3,
        Linear() * Linear(),
        KernelPolynomial(Linear(), [0.0, 1.0, 1.0]),
        Normalized(Polynomial(3)),
        Centered(Polynomial(3)),
    ],
    ids=name,
)
def test_overflow_raises_and_says_what_to_do(kernel):
    X = np.full((3, 2), 1e200)
    for call in (kernel, kernel.diag, lambda X: kernel(X, X[:1])):
        with pytest.raises(ValueError, match="overflows or is undefined on this data: scale the"):
            call(X)


def test_a_fractional_power_of_a_negative_number_raises():
    with pytest.raises(ValueError, match="undefined"):
        (Linear() ** 0.5)([[1.0], [-1.0]])
    with pytest.raises(ValueError, match="undefined"):
        Polynomial(degree=1.5, coef0=0.0)([[1.0], [-1.0]])
    assert not (Linear() ** 0.5).positive_definite


# Wrong input


@pytest.mark.parametrize("kernel", [*COORDINATE[2:], Linear() + Min(), Normalized(Spline())])
def test_negative_features_are_refused_by_kernels_of_non_negative_ones(kernel):
    assert kernel.nonnegative_input
    with pytest.raises(
        ValueError, match="non-negative features only: the smallest value here is -1"
    ):
        kernel([[1.0, -1.0]])
    with pytest.raises(ValueError, match="non-negative"):
        kernel([[1.0, 1.0]], [[1.0, -1.0]])


def test_only_the_columns_a_kernel_sees_must_be_non_negative():
    kernel = Composed(Min(), columns=[0]) + Composed(Linear(), columns=[1])
    np.testing.assert_array_equal(kernel([[1.0, -2.0]], [[3.0, -1.0]]), [[3.0]])
    with pytest.raises(ValueError, match="non-negative"):
        kernel([[-1.0, 2.0]])
    np.testing.assert_array_equal(Composed(Min(), np.abs)([[-1.0]], [[2.0]]), [[1.0]])


@pytest.mark.parametrize("kernel", [*KERNELS, Polynomial() + 1.0], ids=name)
@pytest.mark.parametrize(
    "text", [["ab", "c"], np.array(["ab", "c"]), [{1, 2}, {3}], [b"ab"], np.array(["a"], object)]
)
def test_text_and_sets_are_refused_by_kernels_of_vectors(kernel, text):
    if getattr(kernel, "feature_map", None) is None:
        with pytest.raises(TypeError, match="got strings or sets"):
            kernel(text)


@pytest.mark.parametrize("kernel", KERNELS, ids=name)
@pytest.mark.parametrize(
    "bad, message",
    [
        ([[np.nan, 1.0, 1.0]], "NaN"),
        ([[np.inf, 1.0, 1.0]], "infinity"),
        ([1.0, 2.0, 3.0], "Expected 2D array"),
        (np.empty((0, 3)), "0 sample"),
        (np.ones((2, 3, 1)), "dim 3"),
        ([["a", "b", "c"]], "could not convert string to float"),
    ],
    ids=["nan", "inf", "1d", "empty", "3d", "letters"],
)
def test_bad_matrices_are_refused(kernel, bad, message, rng):
    with pytest.raises(ValueError, match=message):
        kernel(bad)
    with pytest.raises(ValueError, match=message):
        kernel(points(rng, 4, 3), bad)


@pytest.mark.parametrize(
    "kernel",
    [k for k in KERNELS if k.requires_vector_input and not isinstance(k, GeneralLinear)],
    ids=name,
)
@pytest.mark.parametrize("widths", [(1, 3), (3, 1), (3, 4)])
def test_arguments_of_different_width_are_refused(kernel, widths, rng):
    X, Y = (points(rng, 5, width) for width in widths)
    with pytest.raises((ValueError, IndexError)):
        kernel(X, Y)
    with pytest.raises((ValueError, IndexError)):
        gram_product(kernel, X, Y, np.ones(5))


def test_different_widths_are_named():
    with pytest.raises(ValueError, match="X has 1 features, but Y has 3"):
        Gaussian()(np.ones((2, 1)), np.ones((2, 3)))


@pytest.mark.parametrize("kernel", [Gaussian([1.0, 2.0]), Matern([1.0, 2.0])], ids=name)
@pytest.mark.parametrize("width", [1, 3])
def test_length_scales_must_be_as_many_as_the_features(kernel, width):
    with pytest.raises(ValueError, match=f"got 2 values for X with {width} features"):
        kernel(np.ones((4, width)))


@pytest.mark.parametrize(
    "kernel, message",
    [
        (Gaussian(gamma=-1.0), "gamma must be finite and non-negative"),
        (Gaussian(gamma=np.nan), "gamma must be finite and non-negative"),
        (Gaussian(0.0), "length_scale must be positive"),
        (Gaussian([1.0, -1.0]), "length_scale must be positive"),
        (Gaussian(2.0, gamma=1.0), "gamma and length_scale must not both be given"),
        (Gaussian(gamma="median"), r"call kernel.resolve\(X\) first"),
        (Gaussian(gamma="mean"), "None or 'median'; got 'mean'"),
        (Matern(nu=0.0), "nu must be positive"),
        (Matern(nu=np.nan), "nu must be positive"),
        (Matern(np.inf), "length_scale must be positive and finite"),
        (Anova(-1), "degree must be a non-negative integer; got -1"),
        (Anova(1.5), "degree must be a non-negative integer"),
        (TruncatedExponential(degree=-1), "degree must be a non-negative integer"),
        (Spline(0.5), "order must be a non-negative integer"),
        (Min("max"), "combine must be 'sum' or 'product'"),
        (KernelPolynomial(Linear(), [1.0, -1.0]), "non-negative floats"),
        (KernelPolynomial(Linear(), []), "non-negative floats"),
        (GeneralLinear([[-1.0, 2.0], [2.0, 4.0]]), "smallest eigenvalue -1.7"),
        (GeneralLinear([[1.0, 2.0], [0.0, 4.0]]), "square and symmetric"),
        (GeneralLinear(np.eye(3)), "X has 2 features, but A of GeneralLinear has the order 3"),
        (Centered(Linear(), np.eye(2), [1.0]), "one weight per row of reference"),
        (Centered(Linear(), np.eye(2), [0.0, 0.0]), "one weight per row of reference"),
        (Composed(Linear(), factor=lambda X: X), "one float per sample"),
    ],
    ids=lambda value: name(value),
)
def test_wrong_parameters_are_named(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel(np.ones((3, 2)))


@pytest.mark.parametrize(
    "kernel, definite",
    [
        (Polynomial(2), True),
        (Polynomial(2, coef0=-1.0), False),
        (Polynomial(2, gamma=-1.0), False),
        (Polynomial(1.5), False),
        (Polynomial(-1), False),
        (Exponential(-1.0), False),
        (Sigmoid(), False),
        (Sigmoid() + Linear(), False),
        (Gaussian() * -1.0, False),
        (Normalized(Sigmoid()), False),
        (Gaussian() ** 3, True),
        (Gaussian() + gp.WhiteKernel(), True),
        (2.0 * Gaussian() + 1.0, True),
    ],
)
def test_positive_definite_says_what_the_parameters_imply(kernel, definite):
    assert kernel.positive_definite is definite


# Precomputed


def test_precomputed_kernel_looks_up_its_table(rng, X):
    table = Gaussian()(X)
    kernel = Precomputed(table)
    np.testing.assert_array_equal(kernel(np.arange(7)[:, None]), table)
    np.testing.assert_array_equal(kernel([0, 3], [[6], [2], [0]]), table[[0, 3]][:, [6, 2, 0]])
    np.testing.assert_array_equal(kernel.diag([[2], [1]]), [1, 1])


def test_precomputed_kernel_takes_part_in_the_algebra(X):
    rows = np.arange(7)[:, None]
    K, L = Gaussian()(X), Linear()(X)
    gaussian, linear = Precomputed(K), Precomputed(L)
    np.testing.assert_allclose((gaussian + 2.0 * linear)(rows), K + 2 * L, **EXACT)
    np.testing.assert_allclose((gaussian * linear)(rows, rows[:3]), (K * L)[:, :3], **EXACT)
    np.testing.assert_allclose(Centered(linear)(rows), Centered(Linear())(X), **EXACT)
    np.testing.assert_allclose(Normalized(linear)(rows), Normalized(Linear())(X), **EXACT)


@pytest.mark.parametrize("rows", [[[0.5]], [[7]], [[-1]], [[0, 1]]])
def test_precomputed_kernel_refuses_what_is_no_row_number(rows):
    with pytest.raises(ValueError, match=r"[Rr]ow numbers"):
        Precomputed(np.eye(7))(rows)


@pytest.mark.parametrize("table", [np.ones((2, 3)), [[1.0, 2.0], [3.0, 1.0]]])
def test_precomputed_kernel_must_be_symmetric(table):
    with pytest.raises(ValueError, match="square and symmetric"):
        Precomputed(table)([[0], [1]])


# The protocol


PROTOCOL = [*KERNELS, Precomputed(np.eye(3)), Gaussian(gamma="median"), Gaussian() ** 2]


@pytest.mark.parametrize("kernel", PROTOCOL, ids=name)
def test_clone_is_equal_and_independent(kernel):
    copy = clone(kernel)
    assert copy == kernel and copy is not kernel
    assert repr(copy) == repr(kernel)
    assert copy.get_params().keys() == kernel.get_params().keys()
    assert kernel != gp.RBF() and kernel != 3


@pytest.mark.parametrize("kernel", PROTOCOL, ids=name)
def test_parameters_set_to_themselves_change_nothing(kernel):
    copy = clone(kernel)
    assert copy.set_params(**kernel.get_params()) == kernel


@pytest.mark.parametrize(
    "kernel",
    [k for k in PROTOCOL if "factor" not in str(k)],
    ids=name,
)
def test_pickle_round_trip(kernel, rng):
    copy = pickle.loads(pickle.dumps(kernel))
    assert copy == kernel
    if not isinstance(kernel, Precomputed) and "median" not in str(kernel):
        X = points(rng, 5, 3)
        np.testing.assert_array_equal(copy(X), kernel(X))


@pytest.mark.parametrize("kernel", PROTOCOL, ids=name)
def test_theta_round_trip_and_its_bounds(kernel):
    copy = clone(kernel)
    copy.theta = kernel.theta
    np.testing.assert_allclose(copy.theta, kernel.theta, **EXACT)
    moved = kernel.clone_with_theta(kernel.theta + 0.5)
    np.testing.assert_allclose(moved.theta, kernel.theta + 0.5, **EXACT)
    free = [h for h in kernel.hyperparameters if not h.fixed]
    assert kernel.n_dims == len(kernel.theta) == sum(h.n_elements for h in free)
    if kernel.n_dims:
        assert kernel.bounds.shape == (kernel.n_dims, 2)
        assert np.all(kernel.bounds[:, 0] <= kernel.theta)
        assert np.all(kernel.theta <= kernel.bounds[:, 1])
    else:
        assert kernel.bounds.size == 0
    for h in free:
        assert h.name in kernel.get_params()


@pytest.mark.parametrize(
    "a, b, same",
    [
        (Gaussian(), Gaussian(1.0), True),
        (Gaussian(), Gaussian(2.0), False),
        (Gaussian(), Gaussian(gamma=0.5), False),
        (Gaussian(np.array([1.0, 2.0])), Gaussian([1.0, 2.0]), True),
        (Gaussian([1.0, 2.0]), Gaussian([1.0, 2.0, 3.0]), False),
        (Gaussian([1.0, 2.0]), Gaussian(1.0), False),
        (Gaussian(), Matern(nu=np.inf), False),
        (GeneralLinear(A), GeneralLinear(A.tolist()), True),
        (Linear() + Gaussian(), Gaussian() + Linear(), True),
        (Linear() + Gaussian(), Linear() * Gaussian(), False),
        (Normalized(Gaussian(np.ones(2))), Normalized(Gaussian(np.ones(2))), True),
        (Normalized(Gaussian(np.ones(2))), Normalized(Gaussian(2 * np.ones(2))), False),
        (Centered(Linear(), np.eye(2)), Centered(Linear(), np.eye(2)), True),
        (Centered(Linear(), np.eye(2)), Centered(Linear()), False),
        (Centered(Linear(), sp.eye_array(2)), Centered(Linear(), sp.eye_array(2)), True),
        (Composed(Linear(), np.sin), Composed(Linear(), np.cos), False),
        (Composed(Linear(), columns=np.arange(2)), Composed(Linear(), columns=[0, 1]), True),
        (KernelPolynomial(Linear(), [1, 2]), KernelPolynomial(Linear(), (1, 2)), True),
        (Precomputed(np.eye(2)), Precomputed(np.eye(3)), False),
        (Linear() ** 2, Linear() ** 3, False),
    ],
    ids=lambda value: name(value),
)
def test_kernels_are_equal_if_their_parameters_are(a, b, same):
    assert (a == b) is same
    assert (a != b) is not same


def test_nested_parameters_have_names():
    kernel = Normalized(Linear() + 0.5 * Gaussian(2.0))
    assert kernel.get_params()["kernel__k2__k2__length_scale"] == 2.0
    kernel.set_params(kernel__k2__k2__length_scale=3.0, kernel__k2__k1__constant_value=7.0)
    assert kernel.kernel.k2.k2.length_scale == 3.0
    np.testing.assert_allclose(np.exp(kernel.theta), [7.0, 3.0], **EXACT)
    assert Normalized(Polynomial()).set_params(kernel__degree=5).kernel.degree == 5
    with pytest.raises(ValueError, match="Invalid parameter"):
        kernel.set_params(width=1.0)


@pytest.mark.parametrize(
    "kernel, text",
    [
        (Linear(), "Linear()"),
        (GeneralLinear(A), "GeneralLinear(A of order 3)"),
        (Polynomial(2, 0.5), "Polynomial(degree=2, gamma=0.5, coef0=1)"),
        (Gaussian(gamma=0.5), "Gaussian(gamma=0.5)"),
        (Gaussian(gamma="median"), "Gaussian(gamma='median')"),
        (Gaussian([1.0, 2.0]), "Gaussian(length_scale=[1, 2])"),
        (Matern(nu=2.5), "Matern(length_scale=1, nu=2.5)"),
        (Linear() + Gaussian(), "Linear() + Gaussian(length_scale=1)"),
        (Linear() * Anova(), "Linear() * Anova(degree=None)"),
        (Linear() ** 2, "Linear() ** 2"),
        ((Linear() + Anova()) ** 2, "(Linear() + Anova(degree=None)) ** 2"),
        ((Linear() * Anova()) ** 2, "(Linear() * Anova(degree=None)) ** 2"),
        ((Linear() + Anova()) * Linear(), "(Linear() + Anova(degree=None)) * Linear()"),
        (Linear() * (Linear() + Anova()), "Linear() * (Linear() + Anova(degree=None))"),
        (Normalized(Linear()), "Normalized(Linear())"),
        (Centered(Linear(), np.eye(2)), "Centered(Linear())"),
        (Composed(Linear(), columns=[0]), "Composed(Linear(), columns=...)"),
        (KernelPolynomial(Linear(), [1, 2]), "KernelPolynomial(Linear(), [1, 2])"),
        (Precomputed(np.eye(2)), "Precomputed(2 objects)"),
    ],
    ids=lambda value: name(value),
)
def test_repr(kernel, text):
    assert repr(kernel) == text


def test_what_a_kernel_says_of_itself():
    assert Gaussian().requires_vector_input
    assert Gaussian().is_stationary() and (Gaussian() * Matern()).is_stationary()
    assert (2.0 * Gaussian() ** 2).is_stationary() and Normalized(Gaussian()).is_stationary()
    assert Composed(Gaussian(), columns=[0]).is_stationary()
    for kernel in (Linear(), Gaussian() + Linear(), Composed(Gaussian(), np.sin)):
        assert not kernel.is_stationary()
    assert not Centered(Gaussian()).is_stationary()


# Gradients


GRADIENT = [
    *[k for k in KERNELS if k.n_dims],
    Polynomial(degree=0, coef0=0.5),
    Polynomial(degree=1),
    Polynomial(degree=3, gamma_bounds="fixed"),
    Polynomial(degree=3, coef0=0.0),
    Sigmoid(gamma=0.3, coef0=-0.2),
    Gaussian([0.5, 1.0, 2.0]) + 0.3 * Matern([0.5, 1.0, 2.0], nu=1.5),
    Gaussian() * Polynomial(degree=2),
    (Gaussian() + 0.5) ** 3,
    Normalized(Polynomial(degree=3) + Gaussian([0.5, 1.0, 2.0])),
    Normalized(0.5 * Gaussian() + Linear()),
    Centered(Gaussian([0.5, 1.0, 2.0]) + Polynomial(2)),
    Normalized(Centered(Gaussian())),
    Composed(Gaussian([0.5, 2.0]), columns=[0, 2]),
    Composed(Matern(), np.sin, factor=lambda X: X[:, 0]) * Exponential(0.3),
    KernelPolynomial(Exponential(0.3), [0.5, 1.0, 2.0]),
    KernelPolynomial(Gaussian(), [2.0]),
    Gaussian() + gp.WhiteKernel(0.3),
    gp.ConstantKernel(2.0) * Gaussian() + gp.RBF(0.7),
    gp.RBF(0.7) + Gaussian(),
]


def is_centred_elsewhere(kernel):
    return "Centered" in str(kernel) and any(
        value is not None for key, value in kernel.get_params().items() if key.endswith("reference")
    )


@pytest.mark.parametrize("kernel", [k for k in GRADIENT if not is_centred_elsewhere(k)], ids=name)
def test_gradient_is_the_derivative_in_the_logarithm_of_each_parameter(kernel, rng):
    X = points(rng, 7, 3)
    X[1] = X[0]  # coincident samples are where distances have a kink
    K, gradient = kernel(X, eval_gradient=True)
    np.testing.assert_array_equal(K, kernel(X))
    assert gradient.shape == (7, 7, kernel.n_dims)
    np.testing.assert_allclose(gradient, reference.gradient(kernel, X), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kernel", [Gaussian(), Matern(nu=0.5), Polynomial(2)], ids=name)
def test_gradient_of_sparse_input_is_that_of_dense_input(kernel, rng):
    X = (rng.random((9, 3)) < 0.6) * rng.normal(size=(9, 3))
    gradients = [kernel(Z, eval_gradient=True)[1] for Z in (X, sp.csr_array(X))]
    np.testing.assert_allclose(*gradients, **EXACT)


@pytest.mark.parametrize("nu", [0.3, 0.5, 1.0, 1.5, 2.5, 3.3, 50.0, 200.0, np.inf])
def test_matern_gradient_is_finite_near_and_far(nu):
    X = np.concatenate([[0.0, 0.0], np.geomspace(1e-100, 1e100, 41)])[:, None]
    K, gradient = Matern(nu=nu)(X, eval_gradient=True)
    assert np.isfinite(K).all() and np.isfinite(gradient).all()
    assert gradient.min() >= 0  # a longer scale makes samples more alike


@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        GeneralLinear(A),
        Anova(),
        Gaussian(length_scale_bounds="fixed"),
        Gaussian(gamma=1.0, gamma_bounds="fixed"),
        Gaussian(gamma=0.0),
        Matern(length_scale_bounds="fixed"),
        Normalized(Linear()),
        Linear() * Anova(),
    ],
    ids=name,
)
def test_gradient_without_free_parameters_is_empty(kernel, rng):
    _, gradient = kernel(points(rng, 4, 3), eval_gradient=True)
    assert gradient.shape == (4, 4, 0) and kernel.n_dims == 0


def test_gradient_of_two_arguments_is_refused(X):
    with pytest.raises(ValueError, match="Gradient can only be evaluated when Y is None"):
        Gaussian()(X, X, eval_gradient=True)
    with pytest.raises(ValueError, match="for X equal to reference only"):
        Centered(Gaussian(), X[:2])(X, eval_gradient=True)


# Data-dependent parameters


def test_resolve_replaces_the_median_wherever_it_is(X):
    gamma = Gaussian(gamma="median").resolve(X).gamma
    assert gamma > 0
    nested = Normalized(0.5 * Gaussian(gamma="median") + Linear())
    resolved = nested.resolve(X)
    assert resolved.kernel.k1.k2.gamma == gamma
    assert nested.kernel.k1.k2.gamma == "median"
    assert Gaussian(2.0).resolve(X) == Gaussian(2.0)
    one = Composed(Gaussian(gamma="median"), columns=[1]).resolve(X.tolist())
    assert one.kernel.gamma == Gaussian(gamma="median").resolve(X[:, [1]]).gamma


def test_resolve_gives_centred_kernels_their_reference_set(X, Y):
    weight = np.arange(1.0, 8.0)
    kernel = Centered(Gaussian(gamma="median")).resolve(X, weight)
    inner = Gaussian(gamma="median").resolve(X, weight)
    assert kernel == Centered(inner, X, weight)
    kept = Centered(Gaussian(), Y).resolve(X)
    assert kept == Centered(Gaussian(), Y)
