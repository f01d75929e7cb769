"""Kernel values that do not depend on the company of their pair."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from sklearn_sl._rows import n_rows
from sklearn_sl.kernels import (
    Anova,
    Composed,
    Exponential,
    GapWeighted,
    Gaussian,
    GeneralLinear,
    KernelPolynomial,
    Linear,
    Matern,
    Min,
    Mismatch,
    Normalized,
    Polynomial,
    SetIntersection,
    Sigmoid,
    Spectrum,
    Spline,
    TruncatedExponential,
    _pairs,
)
from sklearn_sl.kernels._base import encode, pair_values
from sklearn_sl.kernels._named import PairwiseFunction

VECTOR_KERNELS = [
    Linear(),
    Polynomial(degree=3, gamma=0.2),
    Polynomial(degree=2.5, gamma=0.01, coef0=9.0),
    TruncatedExponential(a=0.3),
    Exponential(a=0.1),
    Sigmoid(gamma=0.1),
    GeneralLinear(np.diag(np.arange(1.0, 8.0))),
    Gaussian(gamma=0.1),
    Gaussian(length_scale=np.arange(1.0, 8.0)),
    Matern(nu=0.5),
    Matern(nu=2.5),
    Matern(nu=1.7),
    Normalized(Polynomial(degree=2)),
    Linear() * Gaussian(gamma=0.3) + 2.0,
    (Linear() + 1.0) ** 3,
    KernelPolynomial(Gaussian(gamma=0.2), [1.0, 0.5]),
    Composed(Gaussian(gamma=0.2), np.tanh, lambda X: 1 + X[:, 0] ** 2),
    ConstantKernel(2.0) * RBF(1.5),
]
DENSE_KERNELS = [
    Anova(),
    Anova(degree=3),
    Min(),
    Spline(),
    PairwiseFunction("chi2", {"gamma": 1.0}),
]
# All but a fractional power, which wants positive numbers, and maps of dense rows.
SPARSE_KERNELS = [
    kernel
    for kernel in VECTOR_KERNELS
    if getattr(kernel, "accepts_sparse", False)
    and not isinstance(kernel, Composed)
    and getattr(kernel, "degree", 1) != 2.5
]


def values(kernel, X, Y):
    """Return the matrix of kernel values, each as if its pair were the only one."""
    X, Y = encode(kernel, X), encode(kernel, Y)
    out = np.empty((n_rows(X), n_rows(Y)))
    pair_values(kernel, X, Y, out)
    return out


def assert_company_does_not_matter(kernel, X, Y, **tolerance):
    together = values(kernel, X, Y)
    np.testing.assert_allclose(together, kernel(X, Y), **tolerance)
    rows = [slice(0, 1), slice(1, 4), slice(4, 17), slice(17, None)]
    for left in rows:
        for right in rows:
            np.testing.assert_array_equal(
                values(kernel, X[left], Y[right]), together[left, right], strict=True
            )


@pytest.mark.parametrize("kernel", VECTOR_KERNELS, ids=str)
@pytest.mark.parametrize("place", [0.0, 1e3])
def test_value_of_dense_rows_depends_on_the_pair_alone(kernel, place, rng):
    X, Y = place + rng.normal(size=(2, 30, 7))
    Y[:3] = X[:3]
    if isinstance(kernel, Exponential):
        X, Y = X / 1e3, Y / 1e3
    assert_company_does_not_matter(kernel, X, Y, **ALGEBRA)


@pytest.mark.parametrize("kernel", DENSE_KERNELS, ids=str)
def test_value_of_positive_rows_depends_on_the_pair_alone(kernel, rng):
    assert_company_does_not_matter(kernel, *rng.uniform(size=(2, 30, 7)), **ALGEBRA)


@pytest.mark.parametrize("kernel", SPARSE_KERNELS, ids=str)
@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_value_of_sparse_rows_depends_on_the_pair_alone(kernel, scale, rng):
    X, Y = rng.normal(size=(2, 30, 7)) * (rng.uniform(size=(2, 30, 7)) < 0.3) * scale
    Y[:3] = X[:3] * (1 + 1e-12)
    X[3], Y[5] = X[3] / scale, Y[5] / scale
    if isinstance(kernel, Exponential):
        X, Y = X / scale, Y / scale
    assert_company_does_not_matter(kernel, sp.csr_array(X), sp.csr_array(Y), **ALGEBRA)


@pytest.mark.parametrize(
    "kernel",
    [Spectrum(p=2), Mismatch(k=3, m=1), GapWeighted(p=2, decay=0.7), Normalized(Spectrum(p=2))],
    ids=str,
)
def test_value_of_strings_depends_on_the_pair_alone(kernel, rng):
    strings = ["".join(rng.choice(list("ACGT"), size=rng.integers(30))) for _ in range(60)]
    assert_company_does_not_matter(kernel, strings[:30], strings[30:], **ALGEBRA)


def test_value_of_sets_depends_on_the_pair_alone(rng):
    sets = [set(rng.choice(20, size=rng.integers(1, 9)).tolist()) for _ in range(60)]
    assert_company_does_not_matter(SetIntersection(base=1.3), sets[:30], sets[30:], **ALGEBRA)


@pytest.mark.parametrize("n_features", [0, 1, 3, 8, 50])
def test_compiled_sums_go_from_the_first_feature_to_the_last(n_features, rng):
    X, Y = rng.integers(-9, 9, size=(2, 21, n_features)).astype(float)
    products, distances = np.empty((2, 21, 21))
    panel = np.zeros((n_features, _pairs.LANES))
    _pairs.compare(X, Y, False, panel, products)
    _pairs.compare(X, Y, True, panel, distances)
    np.testing.assert_array_equal(products, X @ Y.T)
    np.testing.assert_array_equal(distances, -((X[:, None] - Y) ** 2).sum(axis=2))


def test_distances_far_from_the_origin_keep_their_digits(rng):
    X, Y = rng.normal(size=(2, 12, 3))
    near, far = (values(Gaussian(gamma=0.5), X + shift, Y + shift) for shift in (0.0, 2.0**30))
    np.testing.assert_allclose(far, near, rtol=1e-5)
