"""The feature maps: their inner products are kernels."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_sl.kernels import _feature_maps
from sklearn_sl.kernels._feature_maps import CorrelationFeatures, LiteralFeatures, SubsetFeatures

CONFIGURATIONS = [
    LiteralFeatures(),
    SubsetFeatures(),
    SubsetFeatures(order=None),
    SubsetFeatures(order=4, include_bias=False),
    CorrelationFeatures(),
    CorrelationFeatures(scaled=True),
]


@pytest.fixture
def pair(rng):
    return rng.normal(size=(7, 5)), rng.normal(size=(4, 5))


def test_literals_of_a_bit_are_the_bit_and_its_negation(rng):
    X = rng.integers(0, 2, size=(6, 3))
    literals = LiteralFeatures().fit_transform(X)
    np.testing.assert_array_equal(literals[:, ::2], X)
    np.testing.assert_array_equal(literals[:, 1::2], 1 - X)


def test_conjunction_with_negations_is_a_monotone_conjunction_of_literals():
    X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    literals = LiteralFeatures().fit(X)
    columns = [list(literals.get_feature_names_out()).index(name) for name in ("x0", "not_x2")]
    concept = (X[:, 0] == 1) & (X[:, 2] == 0)
    np.testing.assert_array_equal(literals.transform(X)[:, columns].all(axis=1), concept)


def test_inner_product_over_all_subsets_is_the_product_of_one_plus_products(pair):
    X, T = pair
    features = SubsetFeatures(order=None).fit(X)
    assert features.n_features_out_ == 2**5
    kernel = np.prod(1 + X[:, None, :] * T[None, :, :], axis=2)
    np.testing.assert_allclose(features.transform(X) @ features.transform(T).T, kernel, **ALGEBRA)


@pytest.mark.parametrize("order", [1, 2, 3, 5, 9])
def test_subsets_of_bounded_order_give_elementary_symmetric_polynomials(pair, order):
    X, T = pair
    features = SubsetFeatures(order=order).fit(X)
    product = features.transform(X[:1]) @ features.transform(T[:1]).T
    # The coefficients of prod(z + r_i) are the elementary symmetric polynomials of r.
    elementary = np.poly(-X[0] * T[0])
    np.testing.assert_allclose(product, elementary[: order + 1].sum(), **ALGEBRA)


def test_bias_is_the_empty_subset(pair):
    X, _ = pair
    with_bias = SubsetFeatures(order=3).fit_transform(X)
    without = SubsetFeatures(order=3, include_bias=False).fit_transform(X)
    np.testing.assert_array_equal(with_bias[:, 0], 1)
    np.testing.assert_array_equal(with_bias[:, 1:], without)


def test_correlations_are_all_products_of_two_and_number_n_squared_plus_3n_over_2(pair):
    X, _ = pair
    features = CorrelationFeatures().fit(X)
    assert features.n_features_out_ == (5**2 + 3 * 5) // 2
    first, second = np.triu_indices(5)
    expected = np.hstack([X, X[:, first] * X[:, second]])
    np.testing.assert_allclose(features.transform(X), expected, **EXACT)


def test_scaled_correlations_have_the_inner_product_of_degree_one_and_two(pair):
    X, T = pair
    features = CorrelationFeatures(scaled=True).fit(X)
    inner = X @ T.T
    expected = inner + inner**2
    np.testing.assert_allclose(features.transform(X) @ features.transform(T).T, expected, **ALGEBRA)


@pytest.mark.parametrize("estimator", CONFIGURATIONS[1:], ids=repr)
@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.csc_array])
def test_sparse_rows_give_the_same_features_and_stay_sparse(rng, estimator, container):
    X = rng.normal(size=(9, 5)) * (rng.random((9, 5)) < 0.4)
    features = clone(estimator).fit(container(X)).transform(container(X))
    assert sp.issparse(features)
    np.testing.assert_allclose(features.toarray(), clone(estimator).fit_transform(X), **EXACT)


@pytest.mark.parametrize("estimator", CONFIGURATIONS, ids=repr)
def test_single_precision_stays_single(pair, estimator):
    X = pair[0].astype(np.float32)
    features = clone(estimator).fit_transform(X)
    assert features.dtype == np.float32
    if estimator.__class__ is not LiteralFeatures:
        assert clone(estimator).fit_transform(sp.csr_array(X)).dtype == np.float32


def test_names_follow_the_columns_of_a_dataframe():
    X = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]})
    literals = LiteralFeatures().set_output(transform="pandas").fit_transform(X)
    assert list(literals.columns) == ["a", "not_a", "b", "not_b"]
    assert list(SubsetFeatures().fit(X).get_feature_names_out()) == ["1", "a", "b", "a b"]
    with config_context(transform_output="pandas"):
        squares = make_pipeline(StandardScaler(), CorrelationFeatures()).fit_transform(X)
    assert list(squares.columns) == ["a", "b", "a^2", "a b", "b^2"]


def test_names_given_must_be_those_seen_during_fit():
    X = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]})
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        LiteralFeatures().fit(X).get_feature_names_out(["b", "a"])
    with pytest.raises(ValueError, match="should have length"):
        SubsetFeatures().fit(X.to_numpy()).get_feature_names_out(["a"])
    given = LiteralFeatures().fit(X.to_numpy()).get_feature_names_out(["u", "v"])
    assert list(given) == ["u", "not_u", "v", "not_v"]


@pytest.mark.parametrize(
    "estimator, n_features",
    [
        (SubsetFeatures(order=None), 60),
        (SubsetFeatures(order=8), 300),
        (CorrelationFeatures(), 9000),
    ],
    ids=repr,
)
def test_absurd_number_of_features_is_refused_before_anything_is_allocated(estimator, n_features):
    with pytest.raises(ValueError, match=r"would make more than \d+ features"):
        estimator.fit(np.zeros((1, n_features)))


def test_absurd_number_of_rows_is_refused_before_anything_is_allocated(monkeypatch, rng):
    monkeypatch.setattr(_feature_maps, "LARGEST", 100)
    features = SubsetFeatures().fit(np.zeros((1, 4)))
    assert features.transform(np.zeros((9, 4))).shape == (9, 11)
    with pytest.raises(ValueError, match="10 x 11 numbers: transform fewer rows"):
        features.transform(np.zeros((10, 4)))


@pytest.mark.parametrize(
    "estimator",
    [SubsetFeatures(order=0), SubsetFeatures(include_bias=1.5), CorrelationFeatures(scaled="no")],
    ids=repr,
)
def test_wrong_parameters_are_named(estimator):
    with pytest.raises(ValueError, match=r"parameter of (Subset|Correlation)Features must be"):
        estimator.fit(np.zeros((2, 2)))
