"""Kernels on vertices: their matrices, the machines that use them, and what interpolation gives."""

import pickle

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from reference.resistance import dense_laplacian, pseudo_inverse
from scipy import linalg
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge as TheirKernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC as TheirSVC

from sklearn_sl.graph import as_graph, effective_resistance, graph_from_edges
from sklearn_sl.kernel_ridge import KernelRidge
from sklearn_sl.kernels import (
    DiffusionKernel,
    Gaussian,
    LaplacianKernel,
    Normalized,
    RegularizedLaplacianKernel,
    _graph,
    gram,
    gram_blocks,
    gram_product,
    is_psd,
)
from sklearn_sl.kernels._base import encode, pair_values
from sklearn_sl.online import KernelPerceptron
from sklearn_sl.svm import SVC

KERNELS = [LaplacianKernel, RegularizedLaplacianKernel, DiffusionKernel]


def random_graph(seed, n, density):
    rng = np.random.default_rng(seed)
    half = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), k=1)
    return as_graph(half + half.T)


def two_communities(rng, size=40):
    """Return a graph of two halves with few edges in between, and the halves."""
    side = np.repeat([-1, 1], size)
    chance = np.where(side[:, None] == side, 0.3, 0.01)
    half = np.triu(rng.uniform(size=chance.shape) < chance, 1)
    ring = np.eye(2 * size, k=1, dtype=bool)  # connected, whatever the dice say
    return as_graph((half | half.T | ring | ring.T).astype(float)), side


def column(vertices):
    return np.asarray(vertices, dtype=float)[:, None]


def dense(kernel, W):
    """Return the matrix of a kernel at all vertices."""
    if isinstance(kernel, LaplacianKernel):
        return pseudo_inverse(W)
    L = dense_laplacian(W)
    if isinstance(kernel, RegularizedLaplacianKernel):
        return np.linalg.inv(L + kernel.epsilon * np.eye(len(L)))
    return linalg.expm(-kernel.t * L)


# Matrices


@pytest.mark.parametrize("density", [0.0, 0.02, 0.1, 0.5], ids=["apart", "parts", "one", "tight"])
def test_kernels_are_functions_of_the_laplacian(density):
    W = random_graph(0, 50, density)
    kernels = [
        LaplacianKernel(W),
        *[RegularizedLaplacianKernel(W, e) for e in (1e-3, 0.7, 100.0)],
        *[DiffusionKernel(W, t) for t in (1e-3, 0.7, 100.0)],
    ]
    for kernel in kernels:
        K = dense(kernel, W)
        np.testing.assert_allclose(kernel(column(range(50))), K, **ALGEBRA)
        np.testing.assert_allclose(kernel.diag(column(range(50))), np.diag(K), **ALGEBRA)
        some, others = [3, 4, 3, 49], [0, 3, 7]
        found = kernel(column(some), column(others))
        np.testing.assert_allclose(found, K[np.ix_(some, others)], **ALGEBRA)
        np.testing.assert_allclose(kernel(column(others), column(some)), found.T, **ALGEBRA)
        assert is_psd(kernel, column(range(50)))


def test_kernel_of_a_single_vertex():
    W = as_graph([[0.0]])
    assert LaplacianKernel(W)([[0]]) == 0
    assert DiffusionKernel(W)([[0]]) == 1
    np.testing.assert_allclose(RegularizedLaplacianKernel(W, 0.25)([[0]]), [[4]], **EXACT)


def test_small_epsilon_leaves_the_pseudo_inverse_and_a_large_constant():
    W = random_graph(1, 30, 0.3)
    for epsilon in (1e-6, 1e-12):
        K = RegularizedLaplacianKernel(W, epsilon)(column(range(30)))
        K -= 1 / (30 * epsilon)
        np.testing.assert_allclose(K, pseudo_inverse(W), atol=1e-15 / epsilon + 1e-4)


def test_distances_of_the_pseudo_inverse_are_resistances():
    W = random_graph(1, 40, 0.2)
    X = column(range(40))
    kernel = LaplacianKernel(W)
    squared = kernel.diag(X)[:, None] + kernel.diag(X) - 2 * kernel(X)
    np.testing.assert_allclose(squared, effective_resistance(W, "all"), **ALGEBRA)
    assert kernel.diag(X).max() <= squared.max()


def test_heat_is_kept_and_walks_add_up_their_times():
    W = random_graph(2, 40, 0.2)
    X = column(range(40))
    K = DiffusionKernel(W, 0.4)(X)
    np.testing.assert_allclose(K.sum(axis=0), 1, **EXACT)
    assert K.min() > 0
    np.testing.assert_allclose(K @ K, DiffusionKernel(W, 0.8)(X), **EXACT)


def test_long_diffusion_spreads_evenly_and_an_endless_one_is_refused():
    W = random_graph(2, 40, 0.3)
    np.testing.assert_allclose(DiffusionKernel(W, 1e5)(column([0, 1])), 1 / 40, rtol=1e-9)
    with pytest.raises(ValueError, match="t is too large"):
        DiffusionKernel(W, 1e12)([[0]])


# How they are computed


@pytest.mark.parametrize("kind", KERNELS)
def test_only_the_columns_of_the_shorter_list_are_computed(kind, monkeypatch):
    kernel = kind(random_graph(0, 200, 0.05))
    matrix = kernel._matrix()
    asked, columns = [], matrix.columns
    monkeypatch.setattr(matrix, "columns", lambda v: asked.extend(v) or columns(v))
    kernel(column(range(200)), column([5, 9, 5]))
    kernel(column([5, 9, 5]), column(range(200)))
    assert asked == [5, 9, 5, 9]


@pytest.mark.parametrize("kind", KERNELS)
def test_large_tables_are_made_a_few_rows_at_a_time(kind, monkeypatch, rng):
    kernel = kind(random_graph(0, 60, 0.1))
    X, Y = column(rng.integers(60, size=1100)), column(rng.integers(60, size=600))
    K, coef = kernel(X, Y), rng.normal(size=600)
    monkeypatch.setattr(_graph, "LARGEST_TABLE", 10)
    np.testing.assert_allclose(kernel(X, Y), K, **EXACT)
    np.testing.assert_allclose(gram_product(kernel, X, Y, coef), K @ coef, **ALGEBRA)
    blocks = np.vstack([block.copy() for _, block in gram_blocks(kernel, X, Y)])
    np.testing.assert_allclose(blocks, K, **EXACT)
    square = gram(kernel, X)
    np.testing.assert_array_equal(square, square.T)


@pytest.mark.parametrize("kind", KERNELS)
def test_values_of_pairs_do_not_depend_on_their_company(kind, rng):
    kernel = kind(random_graph(0, 60, 0.1))
    X, Y = column(rng.integers(60, size=30)), column(rng.integers(60, size=20))
    together, alone = np.empty((30, 20)), np.empty((30, 20))
    pair_values(kernel, encode(kernel, X), encode(kernel, Y), together)
    for i in range(30):
        for j in range(20):
            pair = encode(kernel, X[i : i + 1]), encode(kernel, Y[j : j + 1])
            pair_values(kernel, *pair, alone[i : i + 1, j : j + 1])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_allclose(together, kernel(X, Y), **EXACT)


def test_factor_is_kept_until_the_graph_or_the_parameter_changes():
    W = random_graph(0, 20, 0.3)
    kernel = RegularizedLaplacianKernel(W, 1.0)
    first = kernel._matrix()
    assert kernel._matrix() is first
    kernel.set_params(epsilon=2.0)
    np.testing.assert_allclose(kernel(column(range(20))), dense(kernel, W), **ALGEBRA)
    W.data *= 3
    np.testing.assert_allclose(kernel(column(range(20))), dense(kernel, W), **ALGEBRA)
    assert "_known" not in clone(kernel).__dict__
    assert len(pickle.dumps(kernel)) < 10_000 + 20 * W.nnz


# Objects


@pytest.mark.parametrize("kind", KERNELS)
def test_kernels_can_be_cloned_pickled_compared_and_composed(kind):
    W = random_graph(0, 20, 0.5)
    kernel, X = kind(W), column(range(20))
    K = kernel(X)
    assert clone(kernel) == kernel == pickle.loads(pickle.dumps(kernel))
    assert kernel == kind(W.toarray())
    assert kernel != kind(2 * W)
    assert kernel != Gaussian()
    assert not kernel.is_stationary()
    np.testing.assert_allclose((2 * kernel + 1)(X), 2 * K + 1, **EXACT)
    np.testing.assert_allclose((kernel * kernel)(X), K**2, **EXACT)
    root = np.sqrt(np.diag(K))
    np.testing.assert_allclose(Normalized(kernel)(X), K / np.outer(root, root), **ALGEBRA)


def test_kernels_write_themselves_shortly():
    W = random_graph(0, 20, 0.3)
    assert str(LaplacianKernel(W)) == "LaplacianKernel(20 vertices)"
    expected = "RegularizedLaplacianKernel(20 vertices, epsilon=0.5)"
    assert str(RegularizedLaplacianKernel(W, 0.5)) == expected
    assert str(DiffusionKernel(W)) == "DiffusionKernel(20 vertices, t=1)"


@pytest.mark.parametrize("kind", KERNELS[1:])
def test_gradient_is_the_derivative_by_the_logarithm_of_the_parameter(kind):
    W = random_graph(0, 20, 0.3)
    kernel, X = kind(W, 0.8), column([3, 0, 3, 7])
    step = 1e-5
    above, below = (kernel.clone_with_theta(kernel.theta + s)(X) for s in (step, -step))
    K, gradient = kernel(X, eval_gradient=True)
    np.testing.assert_allclose(K, kernel(X), **EXACT)
    np.testing.assert_allclose(gradient[:, :, 0], (above - below) / (2 * step), atol=1e-8)


def test_kernel_without_a_parameter_has_an_empty_gradient():
    kernel = LaplacianKernel(random_graph(0, 20, 0.3))
    assert kernel(column([3, 0]), eval_gradient=True)[1].shape == (2, 2, 0)


def test_networkx_graphs_can_be_given():
    networkx = pytest.importorskip("networkx")
    graph = networkx.karate_club_graph()
    kernel, X = DiffusionKernel(graph, 0.1), column(range(34))
    np.testing.assert_allclose(kernel(X), dense(kernel, as_graph(graph)), **ALGEBRA)
    assert clone(kernel) == kernel


def test_vertices_can_be_lists_integers_vectors_or_single_precision():
    W = random_graph(0, 20, 0.3)
    X = np.arange(20)[:, None]
    kernel = RegularizedLaplacianKernel(W)
    K = kernel(X.astype(float))
    for same in (X, X.tolist(), X[:, 0], X.astype(np.uint8)):
        np.testing.assert_array_equal(kernel(same), K)
    single = kernel(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, K, rtol=1e-6)


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("bad", [[[-1]], [[20]], [[0.5]], [[0, 1]]])
def test_anything_but_vertices_is_refused(kind, bad):
    with pytest.raises(ValueError, match="must be one column of vertices of the graph"):
        kind(random_graph(0, 20, 0.3))(bad)


@pytest.mark.parametrize("bad", [0, -1.0, np.inf, np.nan, "1", None])
def test_parameters_are_positive_numbers(bad):
    W = random_graph(0, 20, 0.3)
    with pytest.raises(ValueError, match="of RegularizedLaplacianKernel must be a float"):
        RegularizedLaplacianKernel(W, bad)([[0]])
    with pytest.raises(ValueError, match="t of DiffusionKernel must be a float"):
        DiffusionKernel(W, bad)([[0]])


def test_directed_graphs_are_refused():
    with pytest.raises(ValueError, match="directed"):
        LaplacianKernel([[0, 1], [0, 0]])([[0]])


# Machines


@pytest.mark.parametrize("kind", KERNELS)
def test_machines_find_communities_from_a_few_labels(kind, rng):
    W, side = two_communities(rng)
    known = np.array([3, 17, 30, 45, 60, 77])
    X, everything = column(known), column(range(80))
    for machine in (
        SVC(kernel=kind(W), C=100.0),
        TheirSVC(kernel=kind(W), C=100.0),
        KernelPerceptron(kernel=kind(W)),
    ):
        assert machine.fit(X, side[known]).score(everything, side) > 0.95
    for machine in (KernelRidge, TheirKernelRidge):
        fitted = machine(alpha=0.1, kernel=kind(W)).fit(X, side[known])
        assert np.mean(np.sign(fitted.predict(everything)) == side) > 0.95


@pytest.mark.parametrize("kind", KERNELS)
def test_our_machines_agree_with_those_of_scikit_learn(kind, rng):
    W, side = two_communities(rng)
    known = rng.permutation(80)[:30]
    X, y, everything = column(known), side[known], column(range(80))
    ours, theirs = (m(kernel=kind(W), C=1.0, tol=1e-8).fit(X, y) for m in (SVC, TheirSVC))
    np.testing.assert_allclose(
        ours.decision_function(everything), theirs.decision_function(everything), atol=1e-5
    )
    ours, theirs = (
        m(alpha=0.3, kernel=kind(W)).fit(X, y).predict(everything)
        for m in (KernelRidge, TheirKernelRidge)
    )
    np.testing.assert_allclose(ours, theirs, **ALGEBRA)


def test_blocks_of_trials_of_a_perceptron_equal_one_pass(rng):
    W, side = two_communities(rng)
    order = rng.permutation(80)
    X, y = column(order), side[order]
    kernel = LaplacianKernel(W) + 0.1
    whole = KernelPerceptron(kernel=kernel).partial_fit(X, y, classes=[-1, 1])
    parts = KernelPerceptron(kernel=kernel)
    for begin, end in ((0, 7), (7, 8), (8, 80)):
        parts.partial_fit(X[begin:end], y[begin:end], classes=[-1, 1])
    np.testing.assert_array_equal(parts.decision_function(X), whole.decision_function(X))


def test_parameters_can_be_searched(rng):
    W, side = two_communities(rng)
    search = GridSearchCV(
        SVC(kernel=RegularizedLaplacianKernel(W)), {"kernel__epsilon": [1e-2, 1.0, 1e4]}, cv=3
    )
    search.fit(column(range(80)), side)
    assert search.best_params_["kernel__epsilon"] < 1e4
    assert search.best_score_ > 0.95


def test_gaussian_process_chooses_the_time_of_a_diffusion(rng):
    W, side = two_communities(rng)
    X = column(range(0, 80, 2))
    fitted = GaussianProcessRegressor(DiffusionKernel(W, 1.0), alpha=0.1).fit(X, side[::2])
    start = GaussianProcessRegressor(DiffusionKernel(W, 1.0), alpha=0.1, optimizer=None)
    start.fit(X, side[::2])
    assert fitted.log_marginal_likelihood_value_ > start.log_marginal_likelihood_value_


# Interpolation


def harmonic(W, known, y):
    """Return the function of least energy with the given values."""
    L = dense_laplacian(W)
    free = np.setdiff1d(np.arange(len(L)), known)
    u = np.empty(len(L))
    u[known] = y
    u[free] = np.linalg.solve(L[np.ix_(free, free)], -L[np.ix_(free, known)] @ y)
    return u


def test_ridge_without_penalty_is_the_harmonic_function_if_constants_are_free(rng):
    """``f_alpha -> f*`` for alpha to 0; the kernel ``L^+ + c`` frees the constants as c grows."""
    W, side = two_communities(rng)
    known = rng.permutation(80)[:8]
    everything, u = column(range(80)), harmonic(W, known, side[known])
    errors = []
    for c in (1.0, 1e2, 1e4):
        ridge = KernelRidge(alpha=1e-9, kernel=LaplacianKernel(W) + c).fit(
            column(known), side[known]
        )
        errors.append(np.abs(ridge.predict(everything) - u).max())
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-4


def test_ridge_without_penalty_has_a_constant_divergence_where_nothing_is_known(rng):
    """With ``L^+`` itself the function sums to zero: harmonic, but for an even leak."""
    W, side = two_communities(rng)
    known = rng.permutation(80)[:8]
    y = side[known] + 0.3
    ridge = KernelRidge(alpha=1e-10, kernel=LaplacianKernel(W)).fit(column(known), y)
    u = ridge.predict(column(range(80)))
    np.testing.assert_allclose(u[known], y, atol=1e-6)
    np.testing.assert_allclose(u.sum(), 0, atol=1e-8)
    leak = np.delete(dense_laplacian(W) @ u, known)
    np.testing.assert_allclose(leak, leak.mean(), atol=1e-8)
    assert abs(leak.mean()) > 1e-4


def least_norm_beyond(K, y):
    """Return the coefficients of the function of least norm with ``y_i f(x_i) >= 1``."""
    Q = K * np.outer(y, y)
    found = minimize(
        lambda a: (0.5 * a @ Q @ a - a.sum(), Q @ a - 1),
        np.ones(len(y)),
        jac=True,
        bounds=[(0, None)] * len(y),
        method="L-BFGS-B",
        options={"maxiter": 10_000, "ftol": 1e-16, "gtol": 1e-12},
    )
    return y * found.x


@pytest.mark.parametrize("epsilon", [1e-2, 1.0])
def test_labels_that_may_be_exceeded_are_met_exactly(epsilon, rng):
    """B22: with ``(L + epsilon I)^-1`` both interpolants of least norm are the same."""
    W, _ = two_communities(rng)
    kernel = RegularizedLaplacianKernel(W, epsilon)
    for _ in range(5):
        known, y = rng.permutation(80)[:10], rng.choice([-1, 1], size=10)
        K = kernel(column(known))
        exact = np.linalg.solve(K, y)
        assert np.all(exact * y > 0)
        np.testing.assert_allclose(least_norm_beyond(K, y), exact, rtol=1e-4, atol=1e-6)


def test_labels_are_exceeded_with_other_kernels(rng):
    X, y = rng.normal(size=(10, 2)), rng.choice([-1, 1], size=10)
    assert np.any(np.linalg.solve(Gaussian(gamma=0.3)(X), y) * y < 0)


def test_series_law_of_the_path():
    """The kernel of a path grounded by nothing: distances are lengths."""
    path = graph_from_edges(np.column_stack([np.arange(9), np.arange(1, 10)]))
    X = column(range(10))
    kernel = LaplacianKernel(path)
    distances = kernel.diag(X)[:, None] + kernel.diag(X) - 2 * kernel(X)
    np.testing.assert_allclose(distances, np.abs(X - X.T), **ALGEBRA)
