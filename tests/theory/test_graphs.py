"""What is promised to learners on graphs, and what cliques and disjoint paths are good for."""

import networkx as nx
import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from reference.graph_online import energy, interpolant, resistances
from scipy.optimize import minimize_scalar

from sklearn_sl.datasets import make_clique_chain, make_two_cliques
from sklearn_sl.theory import (
    clique_chain_bound,
    clique_resistance_bound,
    graph_cover_bound,
    harmonic_clique_values,
    wide_diameter_bound,
    wide_diameter_resistance,
)

WIDE = [(1, 10, 1000, 10.0), (3, 4, 50, 0.5), (2, 100, 7, 3.0), (5, 1, 10**6, 20.0)]
NARROW = [(1, 10, 5, 10.0), (4, 9, 2, 6.0), (2, 3, 7, 30.0)]


@pytest.mark.parametrize(("n_sets", "width", "diameter", "cut"), WIDE + NARROW)
def test_wide_diameter_bound_is_the_cover_bound_with_its_exponent(n_sets, width, diameter, cut):
    bound = wide_diameter_bound(n_sets, width, diameter, cut)
    assert 1 < bound.p <= 2
    rho = wide_diameter_resistance(width, diameter, bound.p)
    wanted = graph_cover_bound(n_sets, rho, 2**bound.p * cut, bound.p)
    np.testing.assert_allclose(bound.mistakes, wanted, **ALGEBRA)


@pytest.mark.parametrize(("n_sets", "width", "diameter", "cut"), WIDE)
def test_exponent_of_the_wide_diameter_bound_is_nearly_the_best(n_sets, width, diameter, cut):
    """The promise is at most a few times that of the best exponent, and less than that of two."""

    def promise(p):
        rho = wide_diameter_resistance(width, diameter, p)
        return graph_cover_bound(0, rho, 2**p * cut, p)

    bound = wide_diameter_bound(0, width, diameter, cut).mistakes
    best = minimize_scalar(promise, bounds=(1 + 1e-6, 2), method="bounded").fun
    assert best - 1e-6 <= bound <= 1.5 * best
    assert bound < promise(2.0)


def test_wide_diameter_bound_takes_arrays_and_no_cut():
    columns = np.array(WIDE + NARROW + [(3, 10, 10, 0.0)]).T
    bounds = wide_diameter_bound(*columns)
    for row, values in enumerate(columns.T):
        alone = wide_diameter_bound(*values)
        np.testing.assert_allclose(alone.mistakes, bounds.mistakes[row], **EXACT)
        np.testing.assert_allclose(alone.p, bounds.p[row], **EXACT)
    assert bounds.mistakes[-1] == 3
    assert bounds.p[-1] == 2


@pytest.mark.parametrize(
    ("chain", "bound"),
    [((2, 10, 1), 2.89), ((4, 10, 3), 6.67), ((4, 20, 6), 6.53), ((6, 8, 8), 15.14)],
)
def test_chains_of_cliques_have_the_bounds_of_the_notes(chain, bound):
    n_cliques, size, cut = chain
    assert round(float(clique_chain_bound(*chain)), 2) == bound
    rho = wide_diameter_resistance(size - 1, 2)
    wanted = graph_cover_bound(n_cliques, rho, 4 * cut)
    np.testing.assert_allclose(clique_chain_bound(*chain), wanted, **EXACT)
    # The resistance of a clique is even less than the paths say.
    assert clique_resistance_bound(size) < rho


@pytest.mark.parametrize("m", [2, 3, 8, 20])
def test_clique_has_the_resistance_of_its_bound(m, rng):
    R = resistances(3.0 * (np.ones((m, m)) - np.eye(m)))
    off = ~np.eye(m, dtype=bool)
    np.testing.assert_allclose(R[off], clique_resistance_bound(m, 1 / 3), **ALGEBRA)
    # Lighter resistances, and more vertices, make it less.
    W = np.triu(rng.uniform(1, 5, (m + 2, m + 2)), k=1)
    assert resistances(W + W.T)[:m, :m].max() <= clique_resistance_bound(m) + 1e-12


def test_resistance_is_at_most_that_of_the_disjoint_paths():
    for n, k in [(8, 2), (12, 3), (20, 4)]:
        W = nx.to_numpy_array(nx.complete_bipartite_graph(k, n))
        R = resistances(W)
        # Two of the n have k paths of two edges, and two of the k have n of them.
        assert R[k:, k:].max() <= wide_diameter_resistance(k, 2) + 1e-12
        assert R[:k, :k].max() <= wide_diameter_resistance(n, 2) + 1e-12


@pytest.mark.parametrize("m", [3, 5, 40])
def test_interpolant_on_two_cliques_is_that_of_the_notes(m):
    W = make_two_cliques(m)[0].toarray()
    u = interpolant(W, {0: -1.0, 2 * m - 1: 1.0})
    values = harmonic_clique_values(m)
    np.testing.assert_allclose(u[m], values.bridge, **ALGEBRA)
    np.testing.assert_allclose(u[m + 1 : -1], values.ordinary, **ALGEBRA)
    np.testing.assert_allclose(u, -u[::-1], **ALGEBRA)


def test_interpolant_on_two_large_cliques_is_the_labelling():
    assert harmonic_clique_values(5) == (7 / 9, 5 / 9)
    assert harmonic_clique_values(10**6).bridge > 1 - 1e-5


def test_labelling_has_the_seminorm_of_its_cut():
    graph, clique = make_clique_chain(4, 6, 5)
    u = np.where(clique % 2, 1.0, -1.0)
    assert energy(graph.toarray(), u) == 4 * 5


@pytest.mark.parametrize(
    ("function", "arguments", "name"),
    [
        (graph_cover_bound, (1.5, 1, 1), "n_sets"),
        (graph_cover_bound, (1, -1, 1), "resistance"),
        (graph_cover_bound, (1, 1, -1), "seminorm"),
        (graph_cover_bound, (1, 1, 1, 1.0), "p"),
        (graph_cover_bound, (1, 1, 1, 2.5), "p"),
        (graph_cover_bound, (1, 1, np.nan), "seminorm"),
        (wide_diameter_bound, (1, 0, 1, 1), "width"),
        (wide_diameter_bound, (1, 1, 0, 1), "diameter"),
        (wide_diameter_bound, (1, 1, 1, -1), "cut"),
        (wide_diameter_resistance, (1, 1, 0.5), "p"),
        (clique_chain_bound, (2, 1, 1), "size"),
        (clique_chain_bound, (0, 2, 1), "n_cliques"),
        (clique_resistance_bound, (3, 0), "resistance"),
        (harmonic_clique_values, (1,), "size"),
    ],
)
def test_what_the_theorems_do_not_speak_of_is_an_error(function, arguments, name):
    with pytest.raises(ValueError, match=name):
        function(*arguments)
