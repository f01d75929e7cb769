"""What a graph is: conversion, Laplacians, cuts and components."""

import types

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph

from sklearn_sl._laplacians import _adjacency, _ordering
from sklearn_sl._laplacians._adjacency import find_components
from sklearn_sl.graph import (
    as_graph,
    connected_components,
    cut_weight,
    graph_from_edges,
    laplacian,
    ratio_cut,
)

# Spielman's graph of five vertices.
FIVE = [[0, 1], [0, 4], [1, 2], [1, 3], [2, 3], [3, 4]], [1, 1, 1, 1, 1, 2]


def random_weights(seed, n=9, density=0.5):
    rng = np.random.default_rng(seed)
    W = rng.uniform(0.1, 3, (n, n)) * (rng.random((n, n)) < density)
    W = np.triu(W, 1)
    return W + W.T


# ---------------------------------------------------------------- conversion


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, sp.coo_array, np.array, list])
def test_every_form_of_a_matrix_is_the_same_graph(form):
    W = random_weights(0)
    given_form = W.tolist() if form is list else form(W)
    np.testing.assert_array_equal(as_graph(given_form).toarray(), W)


def test_integers_and_booleans_are_weights():
    W = random_weights(0) > 0
    for dtype in (bool, np.int8, np.int64, np.float32):
        found = as_graph(W.astype(dtype))
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found.toarray(), W)


def test_self_loops_explicit_zeros_and_parts_are_tidied_up_and_the_input_is_left_alone():
    rows, cols = [0, 0, 1, 1, 2, 2, 0], [1, 1, 0, 2, 1, 2, 2]
    W = sp.coo_array(([1.0, 2.0, 3.0, 4.0, 4.0, 9.0, 0.0], (rows, cols)), shape=(3, 3)).tocsr()
    before = W.copy()
    found = as_graph(W)
    np.testing.assert_array_equal(found.toarray(), [[0, 3, 0], [3, 0, 4], [0, 4, 0]])
    assert found.nnz == 4
    assert (before != W).nnz == 0


@pytest.mark.parametrize(
    ("W", "words"),
    [
        ([[0, 1], [2, 0]], "directed"),
        ([[0, 1], [0, 0]], "directed"),
        ([[0, -1], [-1, 0]], "Negative"),
        ([[0, np.nan], [np.nan, 0]], "NaN"),
        ([[0, np.inf], [np.inf, 0]], "infinity"),
        ([[0, 1, 1], [1, 0, 1]], "square"),
    ],
)
def test_what_is_no_graph_is_refused(W, words):
    for form in (np.array, sp.csr_array):
        with pytest.raises(ValueError, match=words):
            as_graph(form(W))


def test_rounding_of_the_two_directions_is_averaged():
    W = random_weights(1)
    noisy = W * (1 + 1e-14 * np.random.default_rng(0).normal(size=W.shape))
    found = as_graph(noisy).toarray()
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(found, W, **EXACT)


def networkx_like(W, directed=False):
    """Return an object that looks like a graph of networkx."""
    return types.SimpleNamespace(
        adjacency=None, is_directed=lambda: directed, number_of_nodes=lambda: len(W)
    )


def test_graphs_of_networkx_are_taken():
    networkx = pytest.importorskip("networkx")
    W = random_weights(2)
    np.testing.assert_array_equal(as_graph(networkx.from_numpy_array(W)).toarray(), W)
    with pytest.raises(ValueError, match="directed"):
        as_graph(networkx.DiGraph([(0, 1)]))


def test_directed_and_empty_graphs_of_networkx_are_refused(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "networkx", types.ModuleType("networkx"))
    with pytest.raises(ValueError, match="directed"):
        as_graph(networkx_like([[0]], directed=True))
    with pytest.raises(ValueError, match="0 vertices"):
        as_graph(networkx_like([]))


def test_parallel_edges_add_up():
    W = graph_from_edges([[0, 1], [1, 0], [1, 2]], [1.0, 2.0, 4.0])
    np.testing.assert_array_equal(W.toarray(), [[0, 3, 0], [3, 0, 4], [0, 4, 0]])


def test_vertices_without_edges_are_counted():
    assert graph_from_edges([[0, 1]], n_vertices=4).shape == (4, 4)
    assert graph_from_edges(np.empty((0, 2), dtype=int), n_vertices=2).nnz == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([[0, 1, 2]],), "edges must be an integer array"),
        (([[0, 0.5]],), "edges must be an integer array"),
        (([[0, -1]],), "edges must be numbers of vertices >= 0"),
        (([[0, 1]], [1.0, 2.0]), r"weights must have the shape \(1,\)"),
        (([[0, 1]], [-1.0]), "Negative"),
    ],
)
def test_bad_lists_of_edges_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        graph_from_edges(*arguments)
    with pytest.raises(ValueError, match="n_vertices"):
        graph_from_edges([[0, 5]], n_vertices=3)


# ---------------------------------------------------------------- Laplacians


def test_laplacian_of_spielmans_graph_has_the_known_eigenvalues():
    L = laplacian(graph_from_edges(*FIVE)).toarray()
    np.testing.assert_allclose(
        np.linalg.eigvalsh(L), [0, 1.6837, 2.4206, 3.8654, 6.0303], atol=5e-5
    )


@given(st.integers(0, 1000))
def test_quadratic_form_is_the_sum_over_the_edges(seed):
    W = random_weights(seed)
    u = np.random.default_rng(seed).normal(size=len(W))
    energy = 0.5 * np.sum(W * (u[:, None] - u) ** 2)
    np.testing.assert_allclose(u @ (laplacian(W) @ u), energy, **ALGEBRA)


def test_normalised_laplacians_are_scaled_ones_and_rows_of_lonely_vertices_are_zero():
    W = random_weights(3)
    W[4] = W[:, 4] = 0
    d = W.sum(axis=1)
    scale = np.divide(1, np.sqrt(d), out=np.zeros_like(d), where=d > 0)
    L = np.diag(d) - W
    np.testing.assert_allclose(
        laplacian(W, "symmetric").toarray(), scale[:, None] * L * scale, **EXACT
    )
    np.testing.assert_allclose(
        laplacian(W, "random_walk").toarray(), (scale**2)[:, None] * L, **EXACT
    )
    with pytest.raises(ValueError, match="normalization"):
        laplacian(W, "none")


# ---------------------------------------------------------------- cuts and components


@given(st.integers(0, 1000))
def test_cut_is_a_quarter_of_the_quadratic_form_of_signs(seed):
    W, rng = random_weights(seed), np.random.default_rng(seed)
    u = rng.choice([-1.0, 1.0], len(W))
    np.testing.assert_allclose(cut_weight(W, u), u @ (laplacian(W) @ u) / 4, **ALGEBRA)


@given(st.integers(0, 1000))
def test_ratio_cut_is_the_quadratic_form_of_its_encoding(seed):
    W, rng = random_weights(seed), np.random.default_rng(seed)
    side = rng.permutation(len(W)) < rng.integers(1, len(W))
    a, b = side.sum(), (~side).sum()
    u = np.where(side, np.sqrt(b / a), -np.sqrt(a / b))
    np.testing.assert_allclose(u @ (laplacian(W) @ u), len(W) * ratio_cut(W, side), **ALGEBRA)


def test_a_cut_has_two_sides_and_all_vertices():
    W = random_weights(0)
    assert cut_weight(W, np.zeros(len(W))) == 0
    assert ratio_cut(W, np.zeros(len(W))) == np.inf
    with pytest.raises(ValueError, match="two different values"):
        cut_weight(W, np.arange(len(W)))
    with pytest.raises(ValueError, match="one for each vertex"):
        cut_weight(W, [0, 1])


def test_components_are_what_paths_connect():
    W = np.zeros((7, 7))
    for i, j in [(0, 3), (3, 5), (1, 2)]:
        W[i, j] = W[j, i] = 1e-300
    n_components, component = connected_components(W)
    assert n_components == 4
    paths = np.linalg.matrix_power((W > 0) + np.eye(7, dtype=int), 7) > 0
    np.testing.assert_array_equal(component[:, None] == component, paths)


@pytest.mark.parametrize("density", [0.0, 0.02, 0.05, 0.2])
def test_components_are_those_of_scipy(density):
    for seed in range(20):
        A = sp.random(40, 40, density=density, format="csr", random_state=seed)
        n_components, component = find_components(A)
        expected = csgraph.connected_components(A, directed=False)
        assert n_components == expected[0]
        np.testing.assert_array_equal(component, expected[1])


def test_components_are_found_in_short_calls(monkeypatch):
    W = graph_from_edges(np.column_stack([np.arange(99), np.arange(1, 100)]))
    monkeypatch.setattr(_adjacency, "READ", 10)
    assert find_components(W)[0] == 1
    n_rows = _ordering.join_neighbours(
        *(each.astype(np.intp) for each in (W.indptr, W.indices)), 0, 10, np.arange(100, dtype="i")
    )
    assert 0 < n_rows < 10
