"""Resistances: the laws of networks, golden values, sketches, and the factor behind them."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT
from hypothesis import given
from hypothesis import strategies as st
from reference.resistance import commute_steps, components, pseudo_inverse, resistances
from scipy.sparse.csgraph import shortest_path
from sklearn.exceptions import ConvergenceWarning

from sklearn_sl import _memory
from sklearn_sl._laplacians import _factor, _inverse
from sklearn_sl._laplacians._conjugate_gradients import ScaledMatrix
from sklearn_sl._laplacians._factor import Factor
from sklearn_sl._laplacians._inverse import LaplacianInverse, settled_solution
from sklearn_sl.graph import (
    _resistance,
    as_graph,
    commute_time,
    effective_resistance,
    graph_from_edges,
    kirchhoff_index,
    resistance_cover,
    resistance_diameter,
    vertex_resistance,
)

SPIELMAN = graph_from_edges(
    [[0, 1], [0, 4], [1, 2], [1, 3], [2, 3], [3, 4]], [1.0, 1.0, 1.0, 1.0, 1.0, 2.0]
)
GRAPHS = st.tuples(st.integers(0, 10**6), st.integers(1, 30), st.floats(0.02, 0.6))


def random_graph(seed, n, density, *, connected=False):
    """Return a random graph with weights over two orders of magnitude."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    keep = rng.uniform(size=len(i)) < density
    i, j = i[keep], j[keep]
    if connected and n > 1:
        i = np.append(i, np.arange(1, n))
        j = np.append(j, [rng.integers(k) for k in range(1, n)])
    weights = 10 ** rng.uniform(-1, 1, size=len(i))
    half = sp.csr_array((weights, (i, j)), shape=(n, n))
    return as_graph(half + half.T)


def clique(m, weight=1.0):
    return as_graph(weight * (np.ones((m, m)) - np.eye(m)))


def grid(height, width):
    numbers = np.arange(height * width).reshape(height, width)
    down = np.column_stack([numbers[:-1].ravel(), numbers[1:].ravel()])
    right = np.column_stack([numbers[:, :-1].ravel(), numbers[:, 1:].ravel()])
    return graph_from_edges(np.vstack([down, right]))


# Laws


@given(GRAPHS)
def test_resistances_are_distances_of_the_pseudo_inverse(graph):
    W = random_graph(*graph)
    R = resistances(W)
    np.testing.assert_allclose(effective_resistance(W, "all"), R, **ALGEBRA)
    every = np.argwhere(np.ones(R.shape))
    np.testing.assert_allclose(effective_resistance(W, every), R.ravel(), **ALGEBRA)
    np.testing.assert_allclose(effective_resistance(W, every[:3]), R.ravel()[:3], **ALGEBRA)
    edges = effective_resistance(W)
    np.testing.assert_array_equal(edges.indices, W.indices)
    np.testing.assert_allclose(edges.data, R[W.nonzero()], **ALGEBRA)


@given(GRAPHS)
def test_resistance_is_one_over_the_least_energy(graph):
    W = random_graph(*graph, connected=True)
    n = W.shape[0]
    p, q = 0, n - 1
    L = np.diag(W.toarray().sum(axis=1)) - W.toarray()
    u = np.zeros(n)
    u[p] = 1
    free = np.setdiff1d(np.arange(n), [p, q])
    u[free] = np.linalg.solve(L[np.ix_(free, free)], -L[free, p])
    if p != q:
        r = effective_resistance(W, [[p, q]])[0]
        np.testing.assert_allclose(r * (u @ L @ u), 1, rtol=1e-9)


@given(GRAPHS)
def test_weights_times_resistances_of_the_edges_sum_to_vertices_minus_components(graph):
    W = random_graph(*graph)
    rank = W.shape[0] - len(np.unique(components(W)))
    total = effective_resistance(W).multiply(W).sum() / 2
    np.testing.assert_allclose(total, rank, rtol=1e-10, atol=1e-10)


def test_resistors_in_a_row_add_up():
    path = graph_from_edges([[0, 1], [1, 2], [2, 3]], [1.0, 0.5, 0.25])
    np.testing.assert_allclose(effective_resistance(path, [[0, 3], [1, 3]]), [7, 6], **EXACT)


def test_conductances_side_by_side_add_up():
    """Three ways between the ends, of resistances 2, 3 and 1."""
    W = graph_from_edges([[0, 2], [2, 1], [0, 3], [3, 1], [0, 1]], [1.0, 1.0, 0.5, 1.0, 1.0])
    np.testing.assert_allclose(effective_resistance(W, [[0, 1]]), 1 / (1 / 2 + 1 / 3 + 1), **EXACT)


def test_opposite_corners_of_a_square_have_resistance_one():
    square = graph_from_edges([[0, 1], [1, 2], [2, 3], [3, 0]])
    np.testing.assert_allclose(effective_resistance(square, [[0, 2], [0, 1]]), [1, 0.75], **EXACT)


def test_resistances_of_a_tree_are_lengths_of_its_ways(rng):
    n = 200
    edges = np.column_stack([np.arange(1, n), [rng.integers(k) for k in range(1, n)]])
    lengths = rng.uniform(0.1, 3, size=n - 1)
    tree = graph_from_edges(edges, 1 / lengths)
    table = sp.csr_array((lengths, edges.T.astype(np.int32)), shape=(n, n))
    ways = shortest_path(table, directed=False)
    np.testing.assert_allclose(effective_resistance(tree, "all"), ways, **ALGEBRA)
    np.testing.assert_allclose(resistance_diameter(tree), ways.max(), **ALGEBRA)


@pytest.mark.parametrize("m", [2, 3, 8, 50])
def test_resistance_in_a_clique_is_two_over_its_size(m):
    np.testing.assert_allclose(effective_resistance(clique(m)).data, 2 / m, **EXACT)
    np.testing.assert_allclose(resistance_diameter(clique(m)), 2 / m, **EXACT)


def test_resistance_in_a_clique_of_a_larger_graph_is_at_most_two_over_its_size():
    """With edges of resistance ``d`` at most ``2 d / m``, whatever is around the clique."""
    m, d = 6, 2.5
    around = random_graph(3, 20, 0.2, connected=True)
    both = around + sp.block_diag([clique(m, 1 / d), sp.csr_array((14, 14))])
    R = effective_resistance(both, "all")[:m, :m]
    assert R.max() <= 2 * d / m + 1e-12


@given(GRAPHS)
def test_resistance_is_a_metric(graph):
    R = effective_resistance(random_graph(*graph), "all")
    np.testing.assert_array_equal(R, R.T)
    assert np.all(R[~np.eye(len(R), dtype=bool)] > 0)
    assert np.all(R[:, None, :] <= R[:, :, None] + R[None, :, :] + 1e-9)


@given(GRAPHS, st.integers(0, 10**6))
def test_resistances_fall_if_a_weight_rises(graph, seed):
    W = random_graph(*graph)
    if not W.nnz:
        return
    rng = np.random.default_rng(seed)
    i, j = W.tocoo().row[k := rng.integers(W.nnz)], W.tocoo().col[k]
    more = W.tolil()
    more[i, j] = more[j, i] = 3 * W[i, j]
    before, after = effective_resistance(W, "all"), effective_resistance(as_graph(more), "all")
    finite = np.isfinite(before)
    assert np.all(after[finite] <= before[finite] + 1e-9)
    assert after[i, j] < before[i, j]


@given(GRAPHS)
def test_diagonal_of_the_pseudo_inverse_is_at_most_the_largest_resistance(graph):
    W = random_graph(*graph, connected=True)
    assert np.diag(pseudo_inverse(W)).max() <= resistance_diameter(W) + 1e-9


# Golden values


def test_resistances_of_spielmans_graph():
    expected = {
        (0, 1): 0.6842, (0, 2): 1.1053, (0, 3): 0.7895, (0, 4): 0.6842, (1, 2): 0.6316,
        (1, 3): 0.5263, (1, 4): 0.7368, (2, 3): 0.6316, (2, 4): 0.9474, (3, 4): 0.4211,
    }  # fmt: skip
    found = effective_resistance(SPIELMAN, list(expected))
    np.testing.assert_allclose(found, list(expected.values()), atol=5e-5)
    np.testing.assert_allclose(kirchhoff_index(SPIELMAN), 7.1579, atol=5e-5)
    np.testing.assert_allclose(commute_time(SPIELMAN, [[0, 2]]), 15.4737, atol=5e-5)
    np.testing.assert_allclose(resistance_diameter(SPIELMAN), 1.1053, atol=5e-5)


def test_networkx_has_the_same_resistances():
    networkx = pytest.importorskip("networkx")
    graph = networkx.karate_club_graph()
    theirs = networkx.resistance_distance(graph, weight="weight", invert_weight=False)
    theirs = np.array([[theirs[i][j] for j in graph] for i in graph])
    np.testing.assert_allclose(effective_resistance(graph, "all"), theirs, **ALGEBRA)
    theirs = networkx.effective_graph_resistance(graph, weight="weight", invert_weight=False)
    np.testing.assert_allclose(kirchhoff_index(graph), theirs, **ALGEBRA)


# Walks


def test_commute_time_is_the_mean_duration_of_simulated_walks(rng):
    steps = commute_steps(SPIELMAN, 0, 2, 20_000, rng)
    error = steps.std() / math.sqrt(len(steps))
    assert abs(steps.mean() - commute_time(SPIELMAN, [[0, 2]])[0]) < 4 * error


@given(GRAPHS)
def test_commute_time_is_the_resistance_times_the_degrees_of_the_component(graph):
    W = random_graph(*graph)
    number, R = components(W), resistances(W)
    volume = np.array([W.sum(axis=1)[number == k].sum() for k in number])
    times = commute_time(W, "all")
    same = number[:, None] == number
    expected = R[same] * np.broadcast_to(volume, R.shape)[same]
    np.testing.assert_allclose(times[same], expected, **ALGEBRA)
    assert np.all(np.isinf(times[~same]))
    np.testing.assert_allclose(commute_time(W).data, times[W.nonzero()], **ALGEBRA)
    every = np.argwhere(np.ones(R.shape))
    np.testing.assert_allclose(commute_time(W, every), times.ravel(), **ALGEBRA)


# Sums, diameters and covers


@given(GRAPHS)
def test_sums_of_resistances_give_the_diagonal_of_the_pseudo_inverse(graph):
    W = random_graph(*graph, connected=True)
    n, R = W.shape[0], resistances(W)
    sums = vertex_resistance(W)
    np.testing.assert_allclose(sums, R.sum(axis=1), **ALGEBRA)
    np.testing.assert_allclose(kirchhoff_index(W), R.sum() / 2, **ALGEBRA)
    diagonal = np.diag(pseudo_inverse(W))
    np.testing.assert_allclose(sums / n - kirchhoff_index(W) / n**2, diagonal, **ALGEBRA)


@given(GRAPHS)
def test_sums_of_resistances_are_those_of_the_component(graph):
    W = random_graph(*graph)
    R = resistances(W)
    expected = np.where(np.isfinite(R), R, 0).sum(axis=1)
    np.testing.assert_allclose(vertex_resistance(W), expected, **ALGEBRA)
    connected = np.all(np.isfinite(R))
    assert math.isinf(kirchhoff_index(W)) == math.isinf(resistance_diameter(W)) == (not connected)


@given(GRAPHS)
def test_diameter_is_the_largest_resistance(graph):
    W = random_graph(*graph)
    np.testing.assert_allclose(resistance_diameter(W), resistances(W).max(), **ALGEBRA)


def test_diameter_of_a_long_graph_takes_few_columns(monkeypatch):
    asked = []
    columns = LaplacianInverse.columns
    monkeypatch.setattr(
        LaplacianInverse, "columns", lambda self, v: asked.extend(v) or columns(self, v)
    )
    ladder = grid(2, 1000)
    diameter = resistance_diameter(ladder)
    assert len(asked) < 300
    corners = effective_resistance(ladder, [[0, 1999], [0, 999], [0, 1000]])
    np.testing.assert_allclose(diameter, corners.max(), **ALGEBRA)


@given(GRAPHS, st.floats(0, 5))
def test_sets_of_a_cover_have_no_larger_resistances(graph, diameter):
    W = random_graph(*graph)
    R, cover = resistances(W), resistance_cover(W, diameter)
    sets = [np.flatnonzero(cover == k) for k in range(cover.max() + 1)]
    assert sum(len(members) for members in sets) == W.shape[0]
    for members in sets:
        assert len(members)
        assert R[np.ix_(members, members)].max() <= diameter * (1 + 1e-6) + 1e-9


def test_cover_is_the_least_one_for_cliques_and_paths():
    chain = as_graph(sp.block_diag([clique(8)] * 4))
    assert resistance_cover(chain, 2 / 8).max() + 1 == 4
    path = graph_from_edges(np.column_stack([np.arange(11), np.arange(1, 12)]))
    for diameter, least in ((0.5, 12), (1, 6), (2, 4), (3, 3), (11, 1), (math.inf, 1)):
        assert resistance_cover(path, diameter).max() + 1 == least


# Sketches


@pytest.mark.parametrize("error", [0.25, 0.5])
def test_sketch_keeps_its_error(error):
    W = random_graph(0, 600, 0.02, connected=True)
    exact = effective_resistance(W, method="exact")
    for seed in range(3):
        sketch = effective_resistance(W, method="sketch", error=error, random_state=seed)
        ratios = np.abs(sketch.data / exact.data - 1)
        assert 1e-3 < ratios.max() <= error  # a sketch, and a good one


def test_all_pairs_can_be_sketched():
    W = random_graph(0, 60, 0.1)
    exact = effective_resistance(W, "all")
    sketch = effective_resistance(W, "all", method="sketch", error=0.4, random_state=0)
    np.testing.assert_array_equal(sketch, sketch.T)
    np.testing.assert_array_equal(np.isinf(sketch), np.isinf(exact))
    finite = np.isfinite(exact)
    np.testing.assert_allclose(sketch[finite], exact[finite], rtol=0.4)


def test_few_pairs_of_a_sketch_are_solved_for():
    W = grid(40, 40)
    pairs = [[0, 1599], [3, 3], [17, 900]]
    exact, sketch = (effective_resistance(W, pairs, method=m) for m in ("exact", "sketch"))
    np.testing.assert_allclose(sketch, exact, rtol=1e-7)


def test_number_of_projections_is_the_least_that_the_chi_square_law_allows():
    k = _resistance.n_projections(0.3, 1000)
    draws = np.random.default_rng(0).chisquare(k, size=10**6) / k
    # A share of 1e-5 may be outside.
    assert np.count_nonzero(np.abs(draws - 1) > 0.3) <= 10 + 4 * math.sqrt(10)
    assert _resistance._failure(k, 0.3, 1000) <= 0.01 < _resistance._failure(k - 1, 0.3, 1000)
    assert _resistance.n_projections(0.1, 1000) > 8 * k


def test_sketch_depends_on_its_seed_only():
    W = random_graph(0, 300, 0.05)
    one, same, other = (
        effective_resistance(W, method="sketch", error=0.5, random_state=s).data for s in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    assert np.any(one != other)


def test_large_tight_graphs_are_sketched_and_large_flat_ones_factorised(monkeypatch):
    monkeypatch.setattr(_inverse, "SMALL", 100)
    assert LaplacianInverse(grid(30, 40)).direct
    assert LaplacianInverse(as_graph(sp.block_diag([grid(30, 40)] * 3))).direct
    assert not LaplacianInverse(random_graph(0, 1000, 0.02)).direct
    assert LaplacianInverse(random_graph(0, 90, 0.5)).direct


def test_factors_that_cannot_fit_are_refused_before_they_are_begun(monkeypatch):
    monkeypatch.setattr(_factor.Pattern, "_group", None)  # never called
    monkeypatch.setattr(_memory, "available_memory", lambda: 2**25)
    tight = as_graph(sp.block_diag([random_graph(0, 1000, 0.02)] * 30))
    tight = tight + sp.eye_array(30_000, k=1000) + sp.eye_array(30_000, k=-1000)
    for function in (resistance_diameter, vertex_resistance):
        with pytest.raises(ValueError, match="too large and too tightly connected"):
            function(tight)
    with pytest.raises(ValueError, match="too large and too tightly connected"):
        effective_resistance(tight, method="exact")


# The factor


@given(GRAPHS, st.sampled_from([1, 3, 128]))
def test_factor_solves_and_has_the_inverse_at_the_edges(graph, widest):
    W = random_graph(*graph)
    n = W.shape[0]
    A = sp.csr_array(sp.diags_array(W.sum(axis=1) + 0.1) - W)
    B = np.random.default_rng(0).normal(size=(n, 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_factor, "WIDEST", widest)
        factor = Factor(A)
        Z = np.linalg.inv(A.toarray())
        np.testing.assert_allclose(factor.solve(B), Z @ B, **ALGEBRA)
        np.testing.assert_allclose(factor.solve(B[:, :1]), Z @ B[:, :1], **ALGEBRA)
        half = factor.half_solve(B)
        np.testing.assert_allclose(half.T @ half, B.T @ Z @ B, **ALGEBRA)
        rows, cols = A.nonzero()
        np.testing.assert_allclose(factor.inverse_at(rows, cols), Z[rows, cols], **ALGEBRA)


@given(GRAPHS, st.floats(1e-30, 1.0))
def test_pivots_from_sums_of_rows_have_small_relative_errors(graph, ground):
    """One vertex is grounded by a weight that the diagonal cannot hold."""
    W = random_graph(*graph, connected=True)
    slack = np.zeros(W.shape[0])
    slack[0] = ground
    A = sp.csr_array(sp.diags_array(W.sum(axis=1) + slack) - W)
    Z = pseudo_inverse(W)
    exact = Z - Z[:, [0]] - Z[[0]] + Z[0, 0] + 1 / ground
    factor = Factor(A, slack=slack)
    np.testing.assert_allclose(factor.solve(np.eye(len(slack))), exact, rtol=1e-9)
    rows, cols = A.nonzero()
    np.testing.assert_allclose(factor.inverse_at(rows, cols), exact[rows, cols], rtol=1e-9)


def test_slices_of_work_change_nothing(monkeypatch):
    A = sp.csr_array(sp.diags_array(np.full(600, 5.0)) - grid(20, 30))
    B = np.random.default_rng(0).normal(size=(600, 3))
    whole = Factor(A)
    monkeypatch.setattr(_factor, "BUDGET", 1.0)
    pieces = Factor(A)
    np.testing.assert_array_equal(pieces.values, whole.values)
    np.testing.assert_array_equal(pieces.solve(B), whole.solve(B))
    np.testing.assert_array_equal(pieces.inverse, whole.inverse)


def test_factor_of_a_plane_graph_is_sparse():
    """Nested dissection of a grid of n vertices has 31/4 n log2 n entries (George)."""
    A = sp.csr_array(sp.diags_array(np.full(10_000, 5.0)) - grid(100, 100))
    assert Factor(A).pattern.n_entries < 31 / 4 * 10_000 * math.log2(10_000)


def test_conjugate_gradients_stop_at_the_error_they_are_asked_for(rng):
    W = grid(30, 30)
    a = W.sum(axis=1) + 0.01
    A = np.diag(a) - W.toarray()
    B = rng.normal(size=(900, 4))
    exact = np.linalg.solve(A, B)
    for tol in (1e-2, 1e-4, 1e-8):
        wrong = settled_solution(ScaledMatrix(W, a), B, tol) - exact
        share = np.einsum("ij,ij->j", wrong, A @ wrong) / np.einsum("ij,ij->j", exact, A @ exact)
        assert np.sqrt(share.max()) <= tol


def test_conjugate_gradients_warn_when_they_run_out_of_steps(rng):
    W = grid(1, 500)
    B = rng.normal(size=(500, 1))
    with pytest.warns(ConvergenceWarning, match="did not converge in 20 iterations"):
        settled_solution(ScaledMatrix(W, W.sum(axis=1) + 1e-6), B, 1e-8, max_iter=20)


def test_columns_by_conjugate_gradients_are_those_of_the_factor():
    W = random_graph(1, 80, 0.05)
    for shift in (0.0, 0.3):
        direct, iterated = (LaplacianInverse(W, shift, direct=d) for d in (True, False))
        vertices = np.arange(80)
        for name in ("columns", "slopes", "diagonal"):
            found = getattr(iterated, name)(vertices)
            np.testing.assert_allclose(found, getattr(direct, name)(vertices), rtol=1e-6, atol=1e-7)


# Hard cases


def test_graph_of_one_vertex_has_no_resistance():
    single = as_graph([[0.0]])
    assert effective_resistance(single).nnz == 0
    np.testing.assert_array_equal(effective_resistance(single, "all"), [[0]])
    np.testing.assert_array_equal(effective_resistance(single, [[0, 0]]), [0])
    assert resistance_diameter(single) == kirchhoff_index(single) == 0
    np.testing.assert_array_equal(vertex_resistance(single), [0])
    np.testing.assert_array_equal(resistance_cover(single, 0.0), [0])


def test_graph_without_edges_is_all_apart():
    apart = as_graph(np.zeros((3, 3)))
    expected = np.where(np.eye(3, dtype=bool), 0, np.inf)
    for method in ("exact", "sketch"):
        np.testing.assert_array_equal(effective_resistance(apart, "all", method=method), expected)
        np.testing.assert_array_equal(
            effective_resistance(apart, [[0, 1], [2, 2]], method=method), [np.inf, 0]
        )
    np.testing.assert_array_equal(commute_time(apart, "all"), expected)
    np.testing.assert_array_equal(resistance_cover(apart, 10.0), [0, 1, 2])


@pytest.mark.parametrize("unit", [1e-300, 1e-20, 1e20, 1e300])
def test_unit_of_the_weights_is_that_of_the_resistances(unit):
    scaled = effective_resistance(as_graph(SPIELMAN * unit), "all") * unit
    np.testing.assert_allclose(scaled, effective_resistance(SPIELMAN, "all"), **ALGEBRA)


def test_resistances_of_edges_stay_between_their_bounds_whatever_the_weights(rng):
    i, j = np.triu_indices(40, 1)
    weights = 10 ** rng.uniform(-11, 0, size=len(i))
    W = graph_from_edges(np.column_stack([i, j]), weights)
    R = effective_resistance(W)
    degree = W.sum(axis=1)
    rows, cols = W.nonzero()
    assert np.all(R.data <= 1 / W.data)
    assert np.all(R.data >= (1 - 1e-12) / np.minimum(degree[rows], degree[cols]))


@pytest.mark.parametrize("bridge", [1e-6, 1e-10, 1e-14, 1e-18])
def test_weak_bridges_and_what_is_behind_them_have_exact_resistances(bridge):
    """Laplacians in double precision do not even contain the bridge."""
    W = sp.block_diag([clique(10), clique(10)]).tolil()
    W[0, 10] = W[10, 0] = bridge
    W = as_graph(W)
    edges = effective_resistance(W)
    expected = np.where(W.data == bridge, 1 / bridge, 0.2)
    np.testing.assert_allclose(edges.data, expected, rtol=1e-8)
    pairs = [[1, 2], [11, 12], [1, 12], [0, 10]]
    expected = [0.2, 0.2, 1 / bridge + 0.4, 1 / bridge]
    np.testing.assert_allclose(effective_resistance(W, pairs), expected, rtol=1e-12)
    np.testing.assert_allclose(resistance_diameter(W), 1 / bridge + 0.4, rtol=1e-9)
    np.testing.assert_allclose(kirchhoff_index(W), 2 * 45 * 0.2 + 100 / bridge + 36, rtol=1e-9)


def exact_resistance(W, p, q):
    """Return the resistance between two vertices by elimination in rational numbers."""
    weights = [[Fraction(float(w)) for w in row] for row in W.toarray()]
    n = len(weights)
    L = [[sum(weights[i]) if i == j else -weights[i][j] for j in range(n)] for i in range(n)]
    keep = [i for i in range(n) if i not in (p, q)]
    while keep:  # vertex by vertex, until the two are left, joined by one resistor
        k = keep.pop()
        rest = [*keep, p, q]
        for i in rest:
            factor = L[i][k] / L[k][k]
            for j in rest:
                L[i][j] -= factor * L[k][j]
    return float(-1 / L[p][q])


@pytest.mark.parametrize("orders", [20, 60, 120, 200])
def test_weights_may_differ_by_any_orders_of_magnitude(rng, orders):
    i, j = np.triu_indices(6, 1)
    for _ in range(8):
        W = graph_from_edges(np.column_stack([i, j]), 10 ** rng.uniform(-orders, 0, len(i)))
        expected = [exact_resistance(W, p, q) for p, q in zip(i, j, strict=True)]
        pairs = np.column_stack([i, j])
        np.testing.assert_allclose(effective_resistance(W)[i, j], expected, rtol=1e-6)
        np.testing.assert_allclose(effective_resistance(W, "all")[i, j], expected, rtol=1e-6)
        np.testing.assert_allclose(effective_resistance(W, pairs), expected, rtol=1e-6)
        np.testing.assert_allclose(effective_resistance(W, pairs[:1]), expected[:1], rtol=1e-6)


def test_many_resistances_that_are_lost_are_warned_of(monkeypatch):
    monkeypatch.setattr(_resistance, "MOST_LOST", 0)
    W = sp.block_diag([clique(30), clique(30)]).tolil()
    W[0, 30] = W[30, 0] = 1e-14
    with pytest.warns(UserWarning, match="870 resistances are inaccurate"):
        effective_resistance(as_graph(W), "all")


def test_no_large_matrix_is_made_unless_it_is_asked_for(monkeypatch):
    asked = []
    monkeypatch.setattr(_resistance, "check_memory", lambda n_bytes, *_: asked.append(n_bytes))
    W = grid(50, 50)
    effective_resistance(W)
    effective_resistance(W, [[0, 1]])
    resistance_diameter(W)
    assert not asked
    effective_resistance(grid(3, 3), "all")
    assert asked == [8 * 81]


@pytest.mark.parametrize(
    "kwargs, message",
    [
        ({"pairs": "some"}, "'edges', 'all' or an array"),
        ({"pairs": [[0, 5]]}, r"in \[0, 5\)"),
        ({"pairs": [[0, -1]]}, r"in \[0, 5\)"),
        ({"pairs": [[0, 0.5]]}, "pairs must be an integer array"),
        ({"pairs": [[0, 1, 2]]}, "pairs must be an integer array"),
        ({"pairs": [["a", "b"]]}, "pairs must be an integer array"),
        ({"method": "lu"}, "method must be"),
        ({"error": 0.0}, "error must be"),
        ({"error": 1.0}, "error must be"),
        ({"error": "0.1"}, "error must be"),
    ],
)
def test_bad_arguments_are_explained(kwargs, message):
    for function in (effective_resistance, commute_time):
        with pytest.raises(ValueError, match=message):
            function(SPIELMAN, **kwargs)


@pytest.mark.parametrize("diameter", [-1.0, math.nan, "1", None])
def test_diameter_of_a_cover_is_a_number_that_is_not_negative(diameter):
    with pytest.raises(ValueError, match="diameter must be a number"):
        resistance_cover(SPIELMAN, diameter)


def test_pairs_may_be_none_at_all():
    assert effective_resistance(SPIELMAN, np.empty((0, 2), dtype=int)).shape == (0,)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = effective_resistance(SPIELMAN, np.empty((0, 2)), method="sketch")
    assert found.shape == (0,)
