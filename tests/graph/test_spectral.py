"""Spectral bisection: cuts as quadratic forms, the eigenvalue below them, and the thresholds."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT, solver
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg
from sklearn.datasets import make_blobs, make_circles
from sklearn.exceptions import ConvergenceWarning

from sklearn_sl.graph import (
    GraphBuilder,
    SpectralBisection,
    connected_components,
    cut_weight,
    graph_from_edges,
    knn_graph,
    laplacian,
    ratio_cut,
)
from sklearn_sl.graph._spectral import choose_threshold, sweep, two_valued

RULES = ["sign", "gap", "sweep"]
SOLVERS = ["dense", "lu", "lanczos"]


def bisection(*args, **params):
    """Return a bisection of given graphs."""
    return SpectralBisection(*args, affinity="precomputed", **params)


def random_graph(rng, n, density=0.5):
    """Return a connected graph with random weights."""
    upper = np.triu(rng.uniform(0.1, 2, size=(n, n)) * (rng.random((n, n)) < density), k=1)
    upper[np.arange(n - 1), np.arange(1, n)] += rng.uniform(0.1, 0.3, size=n - 1)
    return upper + upper.T


def splits(n):
    """Iterate over all ways to put ``n`` vertices on two sides, none empty."""
    for bits in itertools.product([False, True], repeat=n - 1):
        if any(bits):
            yield np.array([False, *bits])


def spielman():
    """Return the graph of five vertices of the notes."""
    edges = np.array([[1, 2], [1, 5], [2, 3], [2, 4], [3, 4], [4, 5]]) - 1
    return graph_from_edges(edges, [1, 1, 1, 1, 1, 2])


def two_cliques(m, bridge=1.0):
    """Return two cliques of ``m`` vertices with one edge between them."""
    edges = list(itertools.combinations(range(m), 2))
    edges += [(m + i, m + j) for i, j in edges] + [(m - 1, m)]
    return graph_from_edges(edges, [1.0] * (len(edges) - 1) + [bridge])


def path(n):
    """Return the path of ``n`` vertices."""
    return graph_from_edges(np.column_stack([np.arange(n - 1), np.arange(1, n)]))


seeds = st.integers(0, 10**6)


# ---------------------------------------------------------------- cuts and quadratic forms


@given(seeds, st.integers(2, 9))
def test_cut_is_a_quarter_of_the_quadratic_form_of_signs(seed, n):
    rng = np.random.default_rng(seed)
    W, u = random_graph(rng, n), rng.choice([-1, 1], n)
    assert cut_weight(W, u) == pytest.approx(u @ laplacian(W) @ u / 4)


@given(seeds, st.integers(2, 9))
def test_two_values_encode_the_ratio_cut(seed, n):
    rng = np.random.default_rng(seed)
    W, second = random_graph(rng, n), np.append(rng.random(n - 1) < 0.5, True)
    second[0] = False
    u = np.sqrt(n) * two_valued(second, np.ones(n))
    a, b = n - second.sum(), second.sum()
    np.testing.assert_allclose(u, np.where(second, -np.sqrt(a / b), np.sqrt(b / a)), **EXACT)
    assert u.sum() == pytest.approx(0, abs=1e-9)
    assert u @ u == pytest.approx(n)
    assert u @ laplacian(W) @ u == pytest.approx(n * ratio_cut(W, second))


@given(seeds, st.integers(2, 7))
def test_second_eigenvalue_is_below_every_ratio_cut(seed, n):
    W = random_graph(np.random.default_rng(seed), n)
    model = bisection().fit(W)
    least = min(ratio_cut(W, second) for second in splits(n))
    assert model.eigenvalue_ <= least * (1 + 1e-12)
    assert least <= model.ratio_cut_ * (1 + 1e-12)


@given(seeds, st.sampled_from([2, 4, 6, 8]))
def test_second_eigenvalue_is_below_every_balanced_cut(seed, n):
    W = random_graph(np.random.default_rng(seed), n)
    balanced = [second for second in splits(n) if second.sum() == n // 2]
    least = min(cut_weight(W, second) for second in balanced)
    assert bisection().fit(W).eigenvalue_ * n / 4 <= least * (1 + 1e-12)


@given(seeds, st.integers(2, 7))
def test_second_eigenvalue_is_below_every_normalised_cut(seed, n):
    W = random_graph(np.random.default_rng(seed), n)
    d = W.sum(axis=0)
    model = bisection(normalization="symmetric").fit(W)
    cuts = [
        cut_weight(W, second) * (1 / d[second].sum() + 1 / d[~second].sum()) for second in splits(n)
    ]
    assert model.eigenvalue_ <= min(cuts) * (1 + 1e-12)
    assert min(cuts) <= model.ratio_cut_ * (1 + 1e-12)


@given(seeds, st.integers(2, 12), st.sampled_from(RULES))
def test_attributes_are_those_of_the_labels(seed, n, rule):
    W = random_graph(np.random.default_rng(seed), n)
    model = bisection(rule).fit(W)
    assert set(model.labels_) == {0, 1}
    assert model.cut_ == pytest.approx(cut_weight(W, model.labels_))
    assert model.ratio_cut_ == pytest.approx(ratio_cut(W, model.labels_))
    np.testing.assert_array_equal(model.labels_, model.fiedler_vector_ > model.threshold_)
    np.testing.assert_array_equal(model.predict(W), bisection(rule).fit(W).predict(W))


# ---------------------------------------------------------------- the eigenvector


def test_spielmans_graph_has_the_eigenvector_of_the_notes():
    model = bisection().fit(spielman())
    golden = [-0.5994, 0.1440, 0.7088, 0.0801, -0.3336]
    np.testing.assert_allclose(model.fiedler_vector_, golden, atol=5e-5)
    assert model.eigenvalue_ == pytest.approx(1.6837, abs=5e-5)
    assert min(ratio_cut(spielman(), s) for s in splits(5)) == pytest.approx(2.5)
    assert model.ratio_cut_ == pytest.approx(2.5)


@given(seeds, st.integers(3, 12))
def test_vector_is_the_second_one_of_a_dense_solver(seed, n):
    W = random_graph(np.random.default_rng(seed), n)
    model = bisection().fit(W)
    values = linalg.eigvalsh(laplacian(W).toarray())
    assert model.eigenvalue_ == pytest.approx(values[1])
    u = model.fiedler_vector_
    np.testing.assert_allclose(laplacian(W) @ u, values[1] * u, **ALGEBRA)
    np.testing.assert_allclose([u.sum(), u @ u], [0, 1], **ALGEBRA)
    assert u[np.abs(u).argmax()] > 0
    assert model.residual_ < 1e-12


@given(seeds, st.integers(3, 12))
def test_normalised_vector_is_that_of_the_random_walk(seed, n):
    W = random_graph(np.random.default_rng(seed), n)
    model = bisection(normalization="symmetric").fit(W)
    u, d = model.fiedler_vector_, W.sum(axis=0)
    values = linalg.eigvalsh(laplacian(W, "symmetric").toarray())
    assert model.eigenvalue_ == pytest.approx(values[1])
    np.testing.assert_allclose(laplacian(W, "random_walk") @ u, values[1] * u, **ALGEBRA)
    np.testing.assert_allclose([d @ u, d @ u**2], [0, 1], **ALGEBRA)


@pytest.mark.parametrize("method", [*SOLVERS, "auto"])
@pytest.mark.parametrize("n", [2, 3, 60, 601])
def test_vector_of_a_path_is_a_cosine(method, n):
    model = bisection("sign", solver=method).fit(path(n))
    assert model.eigenvalue_ == pytest.approx(2 - 2 * np.cos(np.pi / n), rel=1e-6)
    wave = np.sqrt(2 / n) * np.cos(np.pi * (np.arange(n) + 0.5) / n)
    np.testing.assert_allclose(model.fiedler_vector_, wave, atol=1e-6)
    np.testing.assert_array_equal(model.labels_, np.arange(n) < n // 2)


@pytest.mark.parametrize("normalization", [None, "symmetric"])
def test_solvers_agree(rng, normalization):
    X = rng.normal(size=(700, 3)) * [5, 2, 1]
    models = [
        SpectralBisection(solver=method, normalization=normalization).fit(X) for method in SOLVERS
    ]
    for other in models[1:]:
        np.testing.assert_allclose(other.eigenvalue_, models[0].eigenvalue_, rtol=1e-8)
        np.testing.assert_allclose(other.fiedler_vector_, models[0].fiedler_vector_, **solver(1e-7))
        np.testing.assert_array_equal(other.labels_, models[0].labels_)
        assert other.residual_ < 1e-9


def test_grid_is_cut_across_its_longer_side():
    def side(n):
        return path(n).astype(float)

    grid = sp.kron(side(90), sp.eye_array(50)) + sp.kron(sp.eye_array(90), side(50))
    for method in ("lu", "lanczos"):
        model = bisection(solver=method).fit(grid)
        assert model.eigenvalue_ == pytest.approx(2 - 2 * np.cos(np.pi / 90), rel=1e-7)
        assert model.cut_ == 50


# ---------------------------------------------------------------- thresholds


@given(seeds, st.integers(2, 15))
def test_sweep_finds_the_best_of_all_thresholds(seed, n):
    rng = np.random.default_rng(seed)
    W = random_graph(rng, n, density=0.3)
    u = rng.choice(rng.normal(size=n), n)  # some entries are equal
    if np.ptp(u) == 0:
        u[0] += 1
    best = min(ratio_cut(W, u > value) for value in np.unique(u)[:-1])
    threshold = choose_threshold(sp.csr_array(W), np.ones(n), u, "sweep")
    assert ratio_cut(W, u > threshold) == pytest.approx(best)


@given(seeds, st.integers(2, 15))
def test_sweep_knows_the_cut_of_each_threshold(seed, n):
    rng = np.random.default_rng(seed)
    W, u, size = random_graph(rng, n), rng.normal(size=n), rng.uniform(1, 3, size=n)
    thresholds, cuts, below, above, gaps = sweep(sp.csr_array(W), size, u)
    assert len(thresholds) == n - 1
    np.testing.assert_allclose(below + above, size.sum(), **EXACT)
    for threshold, cut, mass in zip(thresholds, cuts, below, strict=True):
        assert cut == pytest.approx(cut_weight(W, u > threshold))
        assert mass == pytest.approx(size[u <= threshold].sum())
    np.testing.assert_allclose(gaps, np.diff(np.sort(u)), **EXACT)


def test_gap_is_the_largest_one_in_the_middle():
    u = np.array([-9.0, -2.0, -1.8, -1.0, 1.5, 1.8, 2.0, 2.1])
    W, size = sp.csr_array((8, 8)), np.ones(8)
    assert choose_threshold(W, size, u, "gap") == pytest.approx(0.25)  # not between -9 and -2
    heavy = np.array([1, 1, 1, 100.0, 1, 1, 1, 1])  # no threshold leaves a quarter on each side
    assert choose_threshold(W, heavy, u, "gap") == pytest.approx(0.25)


def test_zero_is_on_the_side_of_the_negative_entries():
    model = bisection("sign").fit(path(5))
    np.testing.assert_array_equal(model.labels_, [1, 1, 0, 0, 0])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("method", SOLVERS)
@pytest.mark.parametrize("normalization", [None, "symmetric"])
def test_two_cliques_with_a_bridge_are_found(rule, method, normalization):
    model = bisection(rule, solver=method, normalization=normalization).fit(two_cliques(12))
    np.testing.assert_array_equal(model.labels_, [model.labels_[0]] * 12 + [model.labels_[-1]] * 12)
    assert model.cut_ == 1
    assert model.ratio_cut_ == pytest.approx(2 / 12 if normalization is None else 2 / 133)


@pytest.mark.parametrize("method", SOLVERS)
def test_complete_graph_has_one_eigenvalue_besides_zero(method):
    model = bisection(solver=method).fit(np.ones((30, 30)))
    assert model.eigenvalue_ == pytest.approx(30)
    assert model.ratio_cut_ == pytest.approx(30)  # that of any two sides


# ---------------------------------------------------------------- symmetries


@given(seeds, st.integers(3, 15), st.sampled_from(RULES))
def test_numbers_of_the_vertices_do_not_matter(seed, n, rule):
    rng = np.random.default_rng(seed)
    W, order = random_graph(rng, n), rng.permutation(n)
    first, second = bisection(rule).fit(W), bisection(rule).fit(W[np.ix_(order, order)])
    np.testing.assert_allclose(second.fiedler_vector_, first.fiedler_vector_[order], **ALGEBRA)
    np.testing.assert_array_equal(second.labels_, first.labels_[order])


@pytest.mark.parametrize("normalization", [None, "symmetric"])
def test_weight_of_a_vertex_is_the_number_of_its_copies(rng, normalization):
    W = random_graph(rng, 8)
    times = np.array([1, 3, 2, 1, 1, 2, 4, 1])
    rows = np.repeat(np.arange(8), times)
    weighted = bisection(normalization=normalization).fit(W, sample_weight=times)
    repeated = bisection(normalization=normalization).fit(W[np.ix_(rows, rows)])
    assert weighted.eigenvalue_ == pytest.approx(repeated.eigenvalue_)
    assert weighted.ratio_cut_ == pytest.approx(repeated.ratio_cut_)
    np.testing.assert_allclose(weighted.fiedler_vector_[rows], repeated.fiedler_vector_, **ALGEBRA)
    np.testing.assert_array_equal(weighted.labels_[rows], repeated.labels_)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_unit_of_the_weights_does_not_matter(rng, unit):
    W = random_graph(rng, 9)
    first, second = bisection().fit(W), bisection().fit(unit * W)
    assert second.eigenvalue_ / unit == pytest.approx(first.eigenvalue_)
    assert second.ratio_cut_ / unit == pytest.approx(first.ratio_cut_)
    np.testing.assert_array_equal(second.labels_, first.labels_)
    assert second.residual_ < 1e-12


# ---------------------------------------------------------------- samples


@pytest.mark.parametrize("rule", RULES)
def test_two_rings_are_found_and_new_samples_follow_their_neighbours(rule):
    X, y = make_circles(600, noise=0.03, factor=0.5, random_state=0)
    model = SpectralBisection(rule).fit(X[:500])
    assert len(set(zip(model.labels_, y[:500], strict=True))) == 2
    inside = model.labels_[np.argmax(y[:500] == 1)]
    np.testing.assert_array_equal(model.predict(X[500:]) == inside, y[500:] == 1)
    np.testing.assert_array_equal(model.predict(X[:500]), model.labels_)


def test_any_graph_of_a_builder_is_cut():
    X, y = make_blobs(80, centers=[[0, 0], [9, 0]], random_state=0)
    model = SpectralBisection(affinity=GraphBuilder(("knn", "mst"), n_neighbors=5)).fit(X)
    assert len(set(zip(model.labels_, y, strict=True))) == 2
    assert connected_components(model.graph_)[0] == 1
    assert 0 < model.eigenvalue_ <= model.ratio_cut_


# ---------------------------------------------------------------- components


@pytest.mark.parametrize("normalization", [None, "symmetric"])
@pytest.mark.parametrize("rule", RULES)
def test_components_are_not_cut(rule, normalization):
    edges = [[0, 3], [3, 6], [6, 0], [1, 4], [4, 7], [2, 5]]
    graph = graph_from_edges(edges, n_vertices=9)  # a triangle, a path of three, a pair, a point
    model = bisection(rule, normalization=normalization).fit(graph)
    assert (model.eigenvalue_, model.cut_, model.ratio_cut_) == (0, 0, 0)
    assert model.residual_ < 1e-12
    _, component = connected_components(graph)
    for number in range(4):
        assert len(set(model.labels_[component == number])) == 1
    assert model.labels_[0] != model.labels_[1]


def test_components_go_to_the_lighter_side():
    sizes = [5, 4, 3, 2, 1]
    graph = sp.block_diag([path(n) if n > 1 else sp.csr_array((1, 1)) for n in sizes])
    model = bisection().fit(graph)
    whose = np.repeat(np.arange(5), sizes)
    # 5; 4 against it; 3 to the 4; 2 to the 5; 1 to the first of two sides of 7.
    side = {number: model.labels_[whose == number][0] for number in range(5)}
    assert side[0] == side[3] == side[4] != side[1] == side[2]
    u = model.fiedler_vector_
    np.testing.assert_allclose([u.sum(), u @ u], [0, 1], **ALGEBRA)


def test_a_bridge_that_is_lost_in_rounding_is_none():
    model = bisection().fit(two_cliques(5, bridge=1e-200))
    assert len(set(model.labels_[:5])) == len(set(model.labels_[5:])) == 1
    assert model.cut_ == 1e-200
    assert model.eigenvalue_ == pytest.approx(model.ratio_cut_, rel=1e-9)


@pytest.mark.parametrize("normalization", [None, "symmetric"])
def test_vertices_without_edges_are_split_evenly(normalization):
    model = bisection(normalization=normalization).fit(np.zeros((6, 6)))
    assert model.labels_.sum() == 3
    assert model.ratio_cut_ == 0


@pytest.mark.parametrize("rule", RULES)
def test_one_vertex_is_on_one_side(rule):
    model = SpectralBisection(rule).fit([[1.0, 2.0]] * 4)
    np.testing.assert_array_equal(model.labels_, 0)
    assert model.ratio_cut_ == np.inf
    assert (model.eigenvalue_, model.cut_) == (0, 0)


def test_a_small_budget_gives_a_warning_and_a_finite_answer(rng):
    graph = knn_graph(rng.normal(size=(800, 2)), 8)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = bisection(solver="lanczos", max_iter=3).fit(graph)
    assert model.n_iter_ <= 3
    assert np.isfinite(model.fiedler_vector_).all()
    assert model.residual_ > 1e-6
    assert model.ratio_cut_ == pytest.approx(ratio_cut(graph, model.labels_))
