"""The p-Laplacian: its equation, its certificate, its laws, and its limits."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT, solver
from hypothesis import given
from hypothesis import strategies as st
from reference import p_laplacian as twin
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sklearn_sl.datasets import make_two_cliques
from sklearn_sl.graph import (
    PLaplacianClassifier,
    _network,
    _p_harmonic,
    _sampled_elimination,
    as_graph,
    effective_resistance,
    graph_from_edges,
    minimum_cut,
    p_resistance,
)
from sklearn_sl.graph._p_harmonic import p_harmonic, p_mean
from sklearn_sl.theory import harmonic_clique_values

EXPONENTS = [1.01, 1.1, 1.5, 2.0, 3.0, 10.0, 50.0]
SPIELMAN = ([[0, 1], [0, 4], [1, 2], [1, 3], [2, 3], [3, 4]], [1, 1, 1, 1, 1, 2])


def random_graph(rng, n, density=0.5, spread=1.0):
    """Return a connected random graph, dense, with weights over orders of magnitude."""
    present = np.triu(rng.uniform(size=(n, n)) < density, k=1)
    present[np.arange(n - 1), np.arange(1, n)] = True
    W = present * 10.0 ** rng.uniform(-spread, spread, (n, n))
    return W + W.T


def path(weights):
    n = len(weights)
    return graph_from_edges(np.column_stack([np.arange(n), np.arange(1, n + 1)]), weights)


def solve(W, values, p, **options):
    """Return the solution for labels that are NaN at free vertices."""
    values = np.asarray(values, dtype=float)
    labelled = ~np.isnan(values)
    return p_harmonic(as_graph(W), np.where(labelled, values, 0), labelled, p, **options)


def labels(n, **known):
    values = np.full(n, np.nan)
    for vertex, value in known.items():
        values[int(vertex[1:])] = value
    return values


# ---------------------------------------------------------------- the minimum


@pytest.mark.parametrize("p", [1.3, 1.5, 2.0, 3.0, 10.0, 50.0])
def test_currents_at_free_vertices_add_up_to_zero(p, rng):
    W = random_graph(rng, 12)
    u = solve(W, labels(12, v0=0, v5=1, v11=0.3), p, tol=1e-12).u
    largest_current = np.max(W * np.abs(u[:, None] - u) ** (p - 1), axis=1)
    free = ~np.isin(np.arange(12), [0, 5, 11])
    net = twin.net_current(W, u, p)[free] / largest_current[free]
    np.testing.assert_allclose(net, 0, atol=1e-3)


@pytest.mark.parametrize("p", [1.3, 1.5, 2.0, 3.0, 10.0])
def test_energy_is_what_the_sources_put_in(p, rng):
    """Potentials of the labelled vertices times their currents add up to ``sum w |du|^p``."""
    W = random_graph(rng, 12)
    u = solve(W, labels(12, v0=0, v5=1, v11=0.3), p, tol=1e-12).u
    energy = np.sum(W * np.abs(u[:, None] - u) ** p) / 2
    sources = [0, 5, 11]
    power = u[sources] @ twin.net_current(W, u, p)[sources]
    np.testing.assert_allclose(abs(power), energy, rtol=1e-5)


@pytest.mark.parametrize("p", [1.3, 1.7, 2.5, 4.0])
def test_no_other_method_finds_less_than_the_bound(p, rng):
    for _ in range(5):
        W = random_graph(rng, 8)
        values = labels(8, v0=0, v7=1)
        solution = solve(W, values, p)
        energy = np.exp(solution.log_energy)
        least = twin.least_energy(W, np.nan_to_num(values), ~np.isnan(values), p)
        assert (1 - solution.relative_gap) * energy <= least * (1 + 1e-12)
        np.testing.assert_allclose(energy, least, rtol=1e-4)
        np.testing.assert_allclose(energy, twin.energy(W, solution.u, p), **EXACT)


@given(st.integers(0, 10**6), st.sampled_from([1.05, 1.2, 1.6, 2.3, 4.0, 12.0]), st.integers(1, 6))
def test_gap_encloses_the_energy_of_every_solution_on_the_way(seed, p, max_iter):
    rng = np.random.default_rng(seed)
    W = random_graph(rng, 10)
    values = labels(10, v0=0, v4=1, v9=rng.uniform())
    exact, rough = solve(W, values, p, tol=1e-9), solve(W, values, p, tol=1e-9, max_iter=max_iter)
    least = np.exp(exact.log_energy) * (1 - exact.relative_gap)
    assert exact.relative_gap <= 1e-9
    energy = np.exp(rough.log_energy)
    np.testing.assert_allclose(energy, twin.energy(W, rough.u, p), **ALGEBRA)
    assert energy * (1 - rough.relative_gap) <= np.exp(exact.log_energy) * (1 + 1e-12)
    assert energy >= least * (1 - 1e-12)


@pytest.mark.parametrize("p", [1.2, 2.0, 5.0])
def test_bound_is_the_dual_at_the_best_multiple_of_a_flow(p, rng):
    """The dual is ``sum f d - (p - 1) sum w |f / (p w)|^q``, for a flow that does not leak."""
    W = sp.csr_array(random_graph(rng, 12, density=0.3))
    labelled = np.isin(np.arange(12), [0, 6, 11])
    islands = _p_harmonic.Islands(W, np.where(labelled, rng.uniform(size=12), 0.0), labelled)
    u, flow = islands.potentials(islands.weight * rng.uniform(size=len(islands.weight)))
    carried = islands.total(flow * islands.differences(u))
    used = islands.total(islands.weight * np.abs(flow / islands.weight / p) ** (p / (p - 1)))
    for bound, b, s in zip(np.exp(islands.log_bound(flow, p)), carried, used, strict=True):
        best = minimize_scalar(lambda log_a, b=b, s=s: _minus_dual(np.exp(log_a), b, s, p))
        np.testing.assert_allclose(bound, -best.fun, **ALGEBRA)


def _minus_dual(multiple, carried, used, p):
    return (p - 1) * multiple ** (p / (p - 1)) * used - multiple * carried


def test_harmonic_solution_is_that_of_a_dense_system(rng):
    W = random_graph(rng, 30, density=0.2)
    values = np.where(np.arange(30) < 5, rng.normal(size=30), np.nan)
    L = np.diag(W.sum(axis=1)) - W
    u = values.copy()
    u[5:] = np.linalg.solve(L[5:, 5:], -L[5:, :5] @ values[:5])
    solution = solve(W, values, 2.0)
    np.testing.assert_allclose(solution.u, u, **ALGEBRA)
    np.testing.assert_allclose(np.exp(solution.log_energy), u @ L @ u, **ALGEBRA)
    assert solution.n_iter == 1
    assert solution.relative_gap < 1e-10


@given(st.integers(0, 10**6), st.sampled_from(EXPONENTS))
def test_values_are_between_the_labels_and_certified(seed, p):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 25))
    W = random_graph(rng, n, density=rng.uniform(0, 0.5), spread=2)
    values = np.where(rng.uniform(size=n) < 0.2, rng.normal(size=n), np.nan)
    values[:2] = 1.0, -2.0
    solution = solve(W, values, p)
    assert solution.relative_gap <= 1e-6
    assert np.nanmin(values) <= solution.u.min()
    assert solution.u.max() <= np.nanmax(values)


@pytest.mark.parametrize("p", EXPONENTS)
def test_labels_exchanged_and_vertices_permuted(p, rng):
    W = random_graph(rng, 15, density=0.3)
    values = labels(15, v0=0, v3=1, v8=1, v14=0)
    u = solve(W, values, p, tol=1e-10).u
    order = rng.permutation(15)
    permuted = solve(W[np.ix_(order, order)], values[order], p, tol=1e-10).u
    np.testing.assert_allclose(permuted, u[order], atol=1e-6)
    np.testing.assert_allclose(solve(W, 1 - values, p, tol=1e-10).u, 1 - u, atol=1e-6)
    np.testing.assert_allclose(solve(7 * W, 3 * values - 5, p, tol=1e-10).u, 3 * u - 5, atol=1e-6)


def test_components_and_islands_are_solved_one_by_one(rng):
    """A component with weak edges has the solution that it has alone."""
    blocks = [random_graph(rng, 9), 1e-9 * random_graph(rng, 9), np.zeros((2, 2))]
    one = labels(9, v0=0, v8=1)
    values = np.concatenate([one, one, [np.nan, np.nan]])
    for p in (1.2, 8.0):
        together = solve(sp.block_diag(blocks, format="csr"), values, p, tol=1e-10).u
        for i in (0, 1):
            alone = solve(blocks[i], one, p, tol=1e-10).u
            np.testing.assert_allclose(together[9 * i : 9 * i + 9], alone, atol=1e-6)
        np.testing.assert_array_equal(together[18:], 0)


def test_graphs_without_a_choice():
    everything = solve(path([1.0, 2.0]).toarray(), [0.0, 1.0, 3.0], 3.0)
    np.testing.assert_allclose(np.exp(everything.log_energy), 1 + 2 * 8, **EXACT)
    assert everything.relative_gap == 0
    same = solve(path([1.0, 2.0]).toarray(), [5.0, np.nan, 5.0], 1.5)
    assert (same.log_energy, same.relative_gap) == (-np.inf, 0)
    np.testing.assert_array_equal(same.u, 5)


def test_island_between_equal_labels_is_constant():
    """Rounding errors there are no energy: the gap is that of the other islands."""
    graph = graph_from_edges([[0, 1], [1, 2], [2, 0], [2, 3], [3, 4], [4, 5], [5, 3], [5, 6]])
    values = [np.nan, np.nan, 0.3, np.nan, np.nan, np.nan, 0.3]
    for p in (1.1, 2.0, 9.0):
        solution = solve(graph, values, p)
        np.testing.assert_array_equal(solution.u, 0.3)
        assert (solution.log_energy, solution.relative_gap) == (-np.inf, 0)


def test_budget_is_kept_and_told(rng):
    W = random_graph(rng, 20, density=0.2)
    y = np.full(20, -1)
    y[[0, 19]] = 0, 1
    model = PLaplacianClassifier(p=20.0, affinity="precomputed", max_iter=3)
    with pytest.warns(
        ConvergenceWarning, match="did not converge in 3 linear systems: the relative duality gap"
    ):
        model.fit(W, y)
    assert model.n_iter_ == 3
    assert model.duality_gap_ > 1e-6 * model.energy_


# ---------------------------------------------------------------- golden examples


@pytest.mark.parametrize("p", EXPONENTS)
def test_path_of_six_is_climbed_evenly_for_every_exponent(p):
    u = solve(path(np.ones(5)), labels(6, v0=0, v5=1), p).u
    np.testing.assert_allclose(u, [0, 0.2, 0.4, 0.6, 0.8, 1], **solver(1e-6))


@pytest.mark.parametrize("p", [1.1, 1.5, 2.0, 3.0, 10.0])
def test_differences_along_a_path_are_powers_of_the_resistances(p, rng):
    weights = rng.uniform(0.5, 2, size=7)
    u = solve(path(weights), labels(8, v0=0, v7=1), p, tol=1e-10).u
    d = weights ** (-1 / (p - 1))
    np.testing.assert_allclose(np.diff(u), d / d.sum(), atol=1e-6)


@pytest.mark.parametrize("p", EXPONENTS)
def test_corners_of_a_circle_of_four(p):
    circle = graph_from_edges([[0, 1], [1, 2], [2, 3], [3, 0]])
    np.testing.assert_allclose(
        solve(circle, [0, np.nan, 1, np.nan], p).u, [0, 0.5, 1, 0.5], atol=1e-9
    )
    np.testing.assert_allclose(p_resistance(circle, p, [[0, 2]]), 2 ** (p - 2), rtol=1e-6)


def test_graph_of_spielman():
    graph = graph_from_edges(*SPIELMAN)
    values = [1, np.nan, -1, np.nan, np.nan]
    np.testing.assert_allclose(
        solve(graph, values, 2.0).u, [1, -1 / 21, -1, -1 / 7, 5 / 21], **ALGEBRA
    )
    np.testing.assert_allclose(
        p_resistance(graph, 2, [[0, 2], [3, 4]]), [1.1053, 0.4211], atol=5e-5
    )
    np.testing.assert_allclose(p_resistance(graph, 1.0001, [[0, 2]]), 1 / 2, rtol=1e-3)


@pytest.mark.parametrize("m", [3, 5, 20])
def test_two_cliques_and_a_bridge(m):
    graph, _ = make_two_cliques(m)
    values = labels(2 * m, v0=-1.0, **{f"v{2 * m - 1}": 1.0})
    ordinary, bridge = harmonic_clique_values(m)
    harmonic = solve(graph, values, 2.0).u
    np.testing.assert_allclose(
        harmonic[[1, m - 1, m, -2]], [-ordinary, -bridge, bridge, ordinary], **ALGEBRA
    )
    if m > 3:
        # The bridge is the only minimum cut; the nearer p is to 1, the more of the step it takes.
        steps = [np.diff(solve(graph, values, p).u[[m - 1, m]])[0] for p in (1.02, 1.2, 2, 5, 20)]
        assert np.all(np.diff(steps) < 0)
        np.testing.assert_allclose(steps[0], 2, atol=1e-6)


def test_large_exponents_follow_the_shortest_paths():
    """Between labels u is the way that was gone; on a branch without a label it is constant."""
    edges = [[0, 1], [1, 2], [2, 3], [1, 4], [4, 5], [0, 6], [6, 7], [7, 8], [8, 3]]
    u = solve(graph_from_edges(edges), labels(9, v0=0, v3=1), 50.0).u
    np.testing.assert_allclose(u[:4], [0, 1 / 3, 2 / 3, 1], **solver(1e-6))
    np.testing.assert_allclose(u[4:6], u[1], atol=1e-9)
    np.testing.assert_allclose(u[6:], [1 / 4, 2 / 4, 3 / 4], **solver(1e-6))


# ---------------------------------------------------------------- resistances


@given(st.integers(0, 10**6), st.sampled_from([1.05, 1.3, 2.0, 3.0, 8.0]))
def test_series_and_parallel_laws(seed, p):
    rng = np.random.default_rng(seed)
    pi = rng.uniform(0.2, 5, size=int(rng.integers(2, 7)))
    series = p_resistance(path(1 / pi), p, [[0, len(pi)]])
    np.testing.assert_allclose(series, np.sum(pi ** (1 / (p - 1))) ** (p - 1), rtol=2e-6)
    # Each parallel way is two edges, as parallel edges are one.
    k = len(pi)
    ways = [[0, i + 2] for i in range(k)] + [[i + 2, 1] for i in range(k)]
    two = (2 * pi ** (1 / (p - 1))) ** (p - 1)
    parallel = p_resistance(graph_from_edges(ways, np.tile(1 / pi, 2)), p, [[0, 1]])
    np.testing.assert_allclose(parallel, 1 / np.sum(1 / two), rtol=2e-6)


@given(st.integers(0, 10**6), st.sampled_from([1.05, 1.3, 1.7, 2.0, 3.0, 8.0]))
def test_powers_of_resistances_satisfy_the_triangle_inequality(seed, p):
    W = random_graph(np.random.default_rng(seed), 7)
    ab, bc, ac, ca = p_resistance(W, p, [[0, 3], [3, 6], [0, 6], [6, 0]])
    q = 1 / (p - 1)
    assert np.log(ac) * q <= np.logaddexp(np.log(ab) * q, np.log(bc) * q) + 1e-5 * q
    np.testing.assert_allclose(ac, ca, rtol=2e-6)


@given(st.integers(0, 10**6), st.sampled_from([1.05, 1.3, 2.0, 3.0]))
def test_resistances_fall_if_a_weight_rises(seed, p):
    """Rayleigh's law, for every exponent."""
    rng = np.random.default_rng(seed)
    W = random_graph(rng, 7)
    i, j = np.argwhere(W)[rng.integers(np.count_nonzero(W))]
    more = W.copy()
    more[i, j] = more[j, i] = W[i, j] * rng.uniform(1, 10)
    pairs = [[0, 3], [3, 6], [0, 6]]
    before, after = (p_resistance(A, p, pairs) for A in (W, more))
    assert np.all(after <= before * (1 + 2e-6))


@given(st.integers(0, 10**6), st.sampled_from([1.3, 2.0, 3.0]))
def test_network_between_two_vertices_acts_like_one_edge_of_its_resistance(seed, p):
    """The black-box principle: nobody outside can tell the two apart."""
    rng = np.random.default_rng(seed)
    inside, outside = random_graph(rng, 5), random_graph(rng, 6)
    # The vertices 0 and 1 are common; those inside come after those outside.
    whole, short = np.zeros((9, 9)), outside.copy()
    whole[:6, :6] = outside
    places = np.array([0, 1, 6, 7, 8])
    whole[np.ix_(places, places)] += inside
    short[0, 1] += 1 / p_resistance(inside, p, [[0, 1]])[0]
    short[1, 0] = short[0, 1]
    pairs = [[2, 3], [0, 5], [4, 1]]
    wanted = p_resistance(whole, p, pairs)
    np.testing.assert_allclose(p_resistance(short, p, pairs), wanted, rtol=5e-6)


def test_resistance_for_two_is_the_effective_one(rng):
    W = random_graph(rng, 12, density=0.3)
    pairs = [[0, 5], [3, 3], [11, 2]]
    np.testing.assert_allclose(p_resistance(W, 2, pairs), effective_resistance(W, pairs), **ALGEBRA)


@given(st.integers(0, 10**6))
def test_resistance_tends_to_one_over_the_minimum_cut(seed):
    W = random_graph(np.random.default_rng(seed), 9)
    limit = 1 / minimum_cut(W, [0], [8]).value
    far, near = (p_resistance(W, p, [[0, 8]])[0] for p in (1.05, 1.0005))
    np.testing.assert_allclose(near, limit, rtol=0.01)
    assert abs(near - limit) <= abs(far - limit) + 1e-5 * limit


def test_resistance_between_components_is_infinite():
    graph = graph_from_edges([[0, 1], [2, 3]])
    np.testing.assert_array_equal(p_resistance(graph, 3, [[0, 2], [1, 1], [2, 3]]), [np.inf, 0, 1])


@pytest.mark.parametrize("p", [1, 0.5, np.inf, "two"])
def test_exponents_that_are_none(p):
    with pytest.raises(ValueError, match="p must be a finite number > 1"):
        p_resistance(path([1.0]), p, [[0, 1]])


# ---------------------------------------------------------------- networks


@given(st.integers(0, 10**6))
def test_elimination_is_exact_however_much_conductances_differ(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    A = np.triu(rng.uniform(size=(n, n)) < 0.6, k=1) * 10.0 ** rng.uniform(-40, 40, (n, n))
    A = A + A.T
    ground = 10.0 ** rng.uniform(-40, 40, n)
    ends = np.argwhere(np.triu(A))
    elimination = _network.Elimination(ends, n)
    elimination.factorise(A[tuple(ends.T)], ground)
    current = ground * rng.uniform(size=n)
    np.testing.assert_allclose(
        elimination.solve(current), twin.potentials(A, ground, current), rtol=1e-13
    )


def test_conjugate_gradients_and_elimination_agree(rng, monkeypatch):
    W = random_graph(rng, 60, density=0.1)
    values = np.where(np.arange(60) % 20 == 0, rng.uniform(size=60), np.nan)
    eliminated = [solve(W, values, p).u for p in (1.3, 2.0, 6.0)]
    monkeypatch.setattr(_network, "CHEAP", 0)
    monkeypatch.setattr(
        _network.Elimination, "factorise", lambda *args: pytest.fail("no elimination is needed")
    )
    for u, p in zip(eliminated, (1.3, 2.0, 6.0), strict=True):
        np.testing.assert_allclose(solve(W, values, p).u, u, atol=1e-6)


def test_sampled_elimination_of_a_tree_is_exact(rng):
    """Two neighbours are joined by one edge anyway."""
    child = np.arange(1, 50)
    ends = np.column_stack([child, (rng.uniform(size=49) * child).astype(np.intp)])
    inner, ground = 10.0 ** rng.uniform(-40, 40, 49), np.zeros(50)
    ground[7], current = 2.0, rng.uniform(size=50)
    exact = _network.Elimination(ends, 50)
    exact.factorise(inner, ground)
    found = _network.SampledFactor(ends, inner, ground).solve(current)
    np.testing.assert_allclose(found, exact.solve(current), rtol=1e-12)


def test_sampled_edges_are_right_on_average():
    conductance, ground = np.array([1.0, 2.0, 3.0]), np.array([5.0, 0.0, 0.0, 0.0])
    ends = np.array([[0, 1], [0, 2], [0, 3]])
    # Vertices 1, 2, 3 have three neighbours more each, and 0 is taken out first.
    more = np.array([[1, 2], [1, 2], [1, 2], [2, 3], [2, 3], [3, 1], [3, 1]])
    ends, conductance = np.vstack([ends, more]), np.append(conductance, np.full(7, 1e-9))
    totals = np.zeros(3)
    for u in (np.arange(2000) + 0.5) / 2000:
        network = _sampled_elimination.SampledElimination(ends, conductance, ground)
        uniform = np.full(5, u)
        network.eliminate(uniform, np.empty(9, dtype=np.intc), np.empty(9))
        assert (network.n_done, network.order[0]) == (1, 0)
        totals += np.asarray(network.ground)[1:]
    # The ground gets a_i g / D from each of them.
    np.testing.assert_allclose(totals / 2000, 5 * np.array([1, 2, 3]) / 11, rtol=2e-3)


def test_sampled_elimination_makes_conjugate_gradients_indifferent_to_conductances(
    rng, monkeypatch
):
    n = 400
    ends = rng.integers(n, size=(4 * n, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    network = _network.Network(ends, np.arange(0, n, 40), n)
    network.set_conductances(10.0 ** rng.uniform(-6, 6, len(ends)), np.ones(n // 40))
    expected = network.solve(np.ones(n))
    monkeypatch.setattr(_network, "CHEAP", 0)
    monkeypatch.setattr(_network, "MORE_STEPS", 100)
    iterated = _network.Network(ends, np.arange(0, n, 40), n)
    monkeypatch.setattr(_network, "Elimination", None)  # never called
    iterated.set_conductances(network._inner, np.ones(n // 40))
    np.testing.assert_allclose(iterated.solve(np.ones(n)), expected, rtol=1e-6)
    assert iterated._hard


def test_time_on_random_graphs_is_that_of_a_few_sweeps(rng, monkeypatch):
    """A factor of such a graph has nearly all entries: none is ever made."""
    edges = rng.integers(4000, size=(20_000, 2))
    edges = np.vstack([edges[edges[:, 0] != edges[:, 1]], [[i, i + 1] for i in range(3999)]])
    monkeypatch.setattr(
        _network.Elimination, "factorise", lambda *args: pytest.fail("no elimination is needed")
    )
    solution = solve(graph_from_edges(edges), labels(4000, v0=0, v1=1, v2=0, v3=1), 1.5)
    assert solution.relative_gap <= 1e-6


def test_elimination_takes_over_where_conjugate_gradients_fail(rng, monkeypatch):
    W = random_graph(rng, 40, density=0.1)
    values = labels(40, v0=0, v39=1)
    expected = solve(W, values, 30.0).u
    monkeypatch.setattr(_network, "CHEAP", 0)
    monkeypatch.setattr(_network, "STEPS", 5)
    monkeypatch.setattr(_network, "MORE_STEPS", 1)
    np.testing.assert_allclose(solve(W, values, 30.0).u, expected, **ALGEBRA)


def test_work_in_many_slices_is_the_same(rng, monkeypatch):
    W = random_graph(rng, 40, density=0.1)
    values = labels(40, v0=0, v39=1)
    whole = solve(W, values, 3.0).u
    monkeypatch.setattr(_network, "CALL", 3)
    np.testing.assert_array_equal(solve(W, values, 3.0).u, whole)


@given(st.integers(0, 10**6), st.sampled_from([1.1, 2.0, 6.0]))
def test_extreme_weights_have_a_certificate_too(seed, p):
    rng = np.random.default_rng(seed)
    W = random_graph(rng, 12, density=0.2, spread=12)
    solution = solve(W, labels(12, v0=0, v11=1), p)
    assert np.all((solution.u >= 0) & (solution.u <= 1))
    assert solution.relative_gap <= 1e-5


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_unit_of_the_weights_does_not_matter(scale, rng):
    W = random_graph(rng, 12, density=0.3)
    values = labels(12, v0=0, v11=1)
    for p in (1.1, 2.0, 20.0):
        np.testing.assert_allclose(solve(scale * W, values, p).u, solve(W, values, p).u, **ALGEBRA)


def test_line_search_never_climbs(rng):
    W = sp.csr_array(random_graph(rng, 20, density=0.3))
    labelled = np.arange(20) < 3
    islands = _p_harmonic.Islands(W, np.where(labelled, rng.uniform(size=20), 0.0), labelled)
    for r in (2.0, 3.0, 20.0, 100.0):
        for _ in range(20):
            u, v = rng.uniform(size=(2, 20))
            z = islands.differences(u)
            way = islands.differences(v) - z
            t = islands.line_search(z, way, r)[islands.island]
            assert np.all(islands.log_power(z + t * way, r) <= islands.log_power(z, r) + 1e-12)


# ---------------------------------------------------------------- classification


def test_two_classes_are_one_problem_and_several_are_one_each(rng):
    W = random_graph(rng, 20, density=0.2)
    y = np.full(20, -1)
    y[[0, 7, 13]] = 0, 1, 1
    model = PLaplacianClassifier(p=3.0, affinity="precomputed").fit(W, y)
    u = solve(W, np.where(y >= 0, y, np.nan), 3.0)
    np.testing.assert_allclose(model.label_distributions_[:, 1], u.u, **EXACT)
    np.testing.assert_allclose(model.energy_, np.exp(u.log_energy), **EXACT)
    y[13] = 2
    model = clone(model).fit(W, y)
    one_each = [solve(W, np.where(y >= 0, y == c, np.nan), 3.0).u for c in range(3)]
    shares = np.array(one_each).T
    np.testing.assert_allclose(
        model.label_distributions_, shares / shares.sum(axis=1, keepdims=True), **EXACT
    )
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1, **EXACT)


def test_new_samples_take_the_value_that_adds_least_energy(rng):
    W = random_graph(rng, 10)
    y = np.array([0, 1, -1, -1, -1, -1, -1, -1, -1, -1])
    rows = rng.uniform(size=(4, 10)) * (rng.uniform(size=(4, 10)) < 0.5)
    rows[3] = 0
    for p in (1.2, 2.0, 7.0):
        model = PLaplacianClassifier(p=p, affinity="precomputed").fit(W, y)
        found, u = model.predict_proba(rows)[:, 1], model.label_distributions_[:, 1]
        grid = np.linspace(0, 1, 2001)
        added = np.sum(rows[:3, :, None] * np.abs(u[:, None] - grid) ** p, axis=1)
        np.testing.assert_allclose(found[:3], grid[added.argmin(axis=1)], atol=1e-3)
        assert found[3] == 0.5


def test_mean_of_neighbours_does_not_underflow():
    weights = sp.csr_array(np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 0.0], [0.2, 0.0, 0.8]]))
    x = np.array([0.0, 1e-9, 1.0])
    np.testing.assert_allclose(p_mean(weights, x, 100.0)[:2], [5e-10, 0], rtol=1e-6)
    np.testing.assert_allclose(p_mean(weights, x, 1.001)[2], 1, atol=1e-12)


def test_component_without_a_label_has_the_prior():
    graph = sp.block_diag([path(np.ones(3)), path(np.ones(2))], format="csr")
    y = [0, -1, -1, 1, -1, -1, -1]
    model = PLaplacianClassifier(p=4.0, affinity="precomputed")
    with pytest.warns(UserWarning, match="have no label"):
        model.fit(graph, y)
    np.testing.assert_allclose(model.label_distributions_[4:], 0.5, **EXACT)
    np.testing.assert_array_equal(model.component_without_label_, np.arange(7) > 3)


@pytest.mark.parametrize("p", [1.01, 1.3, 5.0, 50.0])
def test_a_weight_of_two_is_two_samples(p, rng):
    X = rng.normal(size=(30, 2))
    y = np.where(np.arange(30) < 6, np.arange(30) % 3, -1)
    weight = rng.integers(0, 3, size=30)
    weight[:6] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        weighted = PLaplacianClassifier(p=p, n_neighbors=4).fit(X, y, weight)
        repeated = PLaplacianClassifier(p=p, n_neighbors=4).fit(
            np.repeat(X, weight, axis=0), np.repeat(y, weight)
        )
    queries = rng.normal(size=(10, 2))
    np.testing.assert_allclose(
        weighted.predict_proba(queries), repeated.predict_proba(queries), **ALGEBRA
    )
