"""The path-tree kernel: its closed form, its size, and norms of functions that rarely change."""

import pickle

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from reference.matrix_completion import path_tree
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor

from sklearn_sl.kernels import Gaussian, Normalized, PathTree, gram, gram_product, is_psd
from sklearn_sl.svm import SVC
from sklearn_sl.theory import path_tree_norm_bound


def positions(n_leaves):
    return np.arange(n_leaves)[:, None]


@pytest.mark.parametrize("n_leaves", range(2, 101))
def test_closed_form_is_the_pseudo_inverse_of_the_laplacian_of_the_tree(n_leaves):
    K = PathTree(n_leaves)(positions(n_leaves))
    np.testing.assert_allclose(K, path_tree(n_leaves), **ALGEBRA)


def test_smallest_tree_by_hand():
    """A path of three vertices, whose ends are the leaves: ``R = 5/9``."""
    np.testing.assert_allclose(PathTree(2)([[0], [1]]), [[10 / 9, 1 / 9], [1 / 9, 10 / 9]], **EXACT)


@pytest.mark.parametrize("n_leaves", [*range(2, 101), 10**3, 10**6, 2**40 + 1, 2**52])
def test_largest_value_is_at_most_twice_the_height(n_leaves):
    own = PathTree(n_leaves).diag([[0]])[0]
    height = int(n_leaves - 1).bit_length()
    assert 0 < own <= 2 * height
    assert own >= 2 * height - 2  # and not much less


@pytest.mark.parametrize("n_leaves", [2, 4, 5, 8, 16, 32, 64, 100])
def test_functions_that_rarely_change_have_small_norms(n_leaves, rng):
    K = PathTree(n_leaves)(positions(n_leaves))
    share = np.repeat([0.02, 0.1, 0.5], 100)[:, None]
    jumps = rng.uniform(size=(300, n_leaves)) < share
    f = (rng.integers(2, size=(300, 1)) + np.cumsum(jumps, axis=1)) % 2
    n_switches = np.count_nonzero(np.diff(f, axis=1), axis=1)
    norms = np.einsum("ij,ji->i", f, np.linalg.solve(K, f.T)) * K.max()
    ratios = norms / path_tree_norm_bound(n_switches, n_leaves)
    assert ratios.max() <= 1 + 1e-12
    assert ratios.max() > 0.3  # the bound is not idle


@pytest.mark.parametrize("n_leaves", [2, 7, 64, 200])
def test_kernel_is_positive_definite(n_leaves):
    assert PathTree(n_leaves).positive_definite
    assert is_psd(PathTree(n_leaves), positions(n_leaves))


def test_nearness_is_that_in_the_tree_and_an_ultrametric(rng):
    K = PathTree(64)(positions(64))
    distances = K[0, 0] - K
    i, j, k = rng.integers(64, size=(3, 1000))
    assert np.all(distances[i, k] <= np.maximum(distances[i, j], distances[j, k]) + 1e-12)
    np.testing.assert_allclose(distances[31, 32], 6, **EXACT)  # neighbours, but far in the tree


def test_rows_columns_blocks_and_the_diagonal_belong_to_one_matrix(rng):
    kernel, X = PathTree(5000), rng.integers(5000, size=(1100, 1)).astype(float)
    K = gram(kernel, X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(kernel(X), K)
    np.testing.assert_array_equal(kernel(X[:400], X[500:]), K[:400, 500:])
    np.testing.assert_array_equal(kernel.diag(X), np.diag(K))
    coef = rng.normal(size=1100)
    np.testing.assert_allclose(gram_product(kernel, X, X, coef), K @ coef, **ALGEBRA)


def test_positions_can_be_lists_integers_vectors_or_single_precision():
    pd = pytest.importorskip("pandas")
    kernel, X = PathTree(9), positions(9)
    K = kernel(X.astype(float))
    for same in (X, X.tolist(), X[:, 0], pd.DataFrame(X), X.astype(np.uint8)):
        np.testing.assert_array_equal(kernel(same), K)
    single = kernel(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, K, rtol=1e-6)


def test_kernel_can_be_cloned_pickled_compared_and_composed():
    kernel, X = PathTree(9), positions(9)
    assert clone(kernel) == kernel == pickle.loads(pickle.dumps(kernel))
    assert kernel != PathTree(10)
    assert str(kernel) == "PathTree(n_leaves=9)"
    assert not kernel.is_stationary()
    np.testing.assert_allclose((2 * kernel + 1)(X), 2 * kernel(X) + 1, **EXACT)
    np.testing.assert_allclose(Normalized(kernel)(X), kernel(X) / kernel.diag(X), **EXACT)
    np.testing.assert_allclose((kernel * Gaussian())(X), kernel(X) * Gaussian()(X), **EXACT)


def test_kernel_machines_of_scikit_learn_and_ours_take_it(rng):
    X = positions(16)
    y = np.repeat([0.0, 1.0, 0.0], [5, 6, 5])
    fitted = GaussianProcessRegressor(PathTree(16), alpha=1e-9, optimizer=None).fit(X, y)
    np.testing.assert_allclose(fitted.predict(X), y, atol=1e-6)
    assert SVC(kernel=PathTree(16), C=100.0).fit(X, y > 0).score(X, y > 0) == 1


@pytest.mark.parametrize(
    "bad",
    [[[-1]], [[4]], [[0.5]], [[0, 1]], [[0], [4]]],
    ids=["negative", "past the end", "between", "two columns", "one past the end"],
)
def test_anything_but_positions_is_refused(bad):
    with pytest.raises(ValueError, match="positions of leaves, for PathTree"):
        PathTree(4)(bad)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_positions_are_finite(bad):
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        PathTree(4)([[bad]])


@pytest.mark.parametrize("n_leaves", [1, 0, -3, 2.5, True, None, "4"])
def test_number_of_leaves_is_a_whole_number_of_at_least_two(n_leaves):
    with pytest.raises(ValueError, match="n_leaves of PathTree must be an integer >= 2"):
        PathTree(n_leaves)([[0]])
