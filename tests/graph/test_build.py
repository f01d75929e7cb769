"""Graphs from samples: edges, weights, and where new samples are tied."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT
from hypothesis import given
from hypothesis import strategies as st
from reference.harmonic import minimum_spanning_tree_length
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline

from sklearn_sl.graph import (
    GraphBuilder,
    LaplacianInterpolationClassifier,
    ball_graph,
    combine_graphs,
    complete_graph,
    connected_components,
    knn_graph,
    laplacian,
    mst_graph,
    shortest_path_tree,
)
from sklearn_sl.graph._edges import METHODS, nearest, spanning_tree


def cloud(seed, n=60, d=3):
    return np.random.default_rng(seed).normal(size=(n, d))


# ---------------------------------------------------------------- edges


def test_two_nearest_of_five_points_are_two_triangles():
    X = [[-2, 0], [-1, -1], [0, 0], [1, 1], [2, 0]]
    L = laplacian(knn_graph(X, 2, weight="binary")).toarray()
    expected = [
        [2, -1, -1, 0, 0],
        [-1, 2, -1, 0, 0],
        [-1, -1, 4, -1, -1],
        [0, 0, -1, 2, -1],
        [0, 0, -1, -1, 2],
    ]
    np.testing.assert_array_equal(L, expected)
    np.testing.assert_allclose(np.linalg.eigvalsh(L), [0, 1, 3, 3, 5], **ALGEBRA)


def test_neighbours_are_united_or_mutual():
    X = cloud(0)
    directed = kneighbors_graph(X, 5).toarray()
    union = knn_graph(X, 5, weight="binary").toarray()
    mutual = knn_graph(X, 5, mode="mutual", weight="binary").toarray()
    np.testing.assert_array_equal(union, np.maximum(directed, directed.T))
    np.testing.assert_array_equal(mutual, np.minimum(directed, directed.T))


def test_balls_join_what_is_near_enough():
    X = cloud(1)
    D = pairwise_distances(X)
    expected = (D <= 1.1) & ~np.eye(len(X), dtype=bool)
    np.testing.assert_array_equal(ball_graph(X, 1.1, weight="binary").toarray(), expected)


@given(st.integers(0, 1000), st.integers(2, 60), st.integers(1, 6))
def test_spanning_tree_is_as_short_as_that_of_prim(seed, n, k):
    rng = np.random.default_rng(seed)
    # Clusters and lattice points: many equal distances, and neighbours that stay inside.
    X = rng.integers(0, 4, (n, 2)) + 20.0 * rng.integers(0, 3, (n, 1))
    distances, numbers = nearest(X, k, "euclidean")
    i, j, length = spanning_tree(X, distances, numbers, "euclidean")
    assert len(i) == n - 1
    tree = sp.csr_array((np.ones(n - 1), (i, j)), shape=(n, n))
    assert connected_components(tree + tree.T)[0] == 1
    np.testing.assert_allclose(
        length.sum(), minimum_spanning_tree_length(pairwise_distances(X)), **ALGEBRA
    )


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_spanning_tree_follows_the_metric(metric):
    X = cloud(2, n=80) + 3
    distances, numbers = nearest(X, 4, metric)
    length = spanning_tree(X, distances, numbers, metric)[2]
    expected = minimum_spanning_tree_length(pairwise_distances(X, metric=metric))
    np.testing.assert_allclose(length.sum(), expected, rtol=1e-6)


def test_shortest_path_tree_has_the_shortest_ways():
    X, root = cloud(3, n=80), 7
    base = combine_graphs(knn_graph(X, 4, weight="binary"), mst_graph(X, weight="binary")).toarray()
    lengths = np.where(base > 0, pairwise_distances(X), 0)
    tree = shortest_path_tree(X, root, n_neighbors=4, weight="binary").toarray()
    assert tree.sum() == 2 * (len(X) - 1)
    ways = [
        sp.csgraph.dijkstra(sp.csr_array(graph), directed=False, indices=root)
        for graph in (lengths, np.where(tree > 0, lengths, 0))
    ]
    np.testing.assert_allclose(ways[1], ways[0], **ALGEBRA)


def test_root_is_the_sample_nearest_to_the_mean_or_the_chosen_one():
    X = [[0.0], [1.0], [2.0], [3.0], [4.2]]
    everything = {"n_neighbors": 4, "weight": "binary"}
    star = shortest_path_tree(X, **everything).toarray()
    np.testing.assert_array_equal(star[2], [1, 1, 0, 1, 1])
    with pytest.raises(ValueError, match="root"):
        shortest_path_tree(X, 9)


def test_graphs_are_combined_edge_by_edge():
    A, B = knn_graph(cloud(0), 3), knn_graph(cloud(0), 6, weight="binary")
    a, b = A.toarray(), B.toarray()
    np.testing.assert_array_equal(combine_graphs(A, B).toarray(), np.maximum(a, b))
    np.testing.assert_array_equal(
        combine_graphs(A, B, rule="intersection").toarray(), np.minimum(a, b)
    )
    np.testing.assert_allclose(combine_graphs(A, B, rule="sum").toarray(), a + b, **EXACT)
    with pytest.raises(ValueError, match="rule"):
        combine_graphs(A, rule="difference")
    with pytest.raises(ValueError, match="at least one"):
        combine_graphs()
    with pytest.raises(ValueError, match="same number of vertices"):
        combine_graphs(A, knn_graph(cloud(0, n=10), 3))


@pytest.mark.parametrize("pair", list(itertools.combinations(METHODS, 2)))
def test_several_methods_give_the_union_of_their_edges(pair):
    X = cloud(4)
    params = {"n_neighbors": 3, "radius": 0.8, "weight": "binary"}
    parts = [GraphBuilder(method, **params).fit_transform(X) for method in pair]
    united = GraphBuilder(pair, **params).fit_transform(X)
    assert (united != combine_graphs(*parts)).nnz == 0


# ---------------------------------------------------------------- weights


@pytest.mark.parametrize("weight", ["exponential", "gaussian"])
@pytest.mark.parametrize("scale", [0.7, "median", "self-tuning"])
def test_weights_fall_with_the_distance_by_their_formula(weight, scale):
    X = cloud(5)
    D = pairwise_distances(X)
    W = knn_graph(X, 6, weight=weight, scale=scale).toarray()
    edges = knn_graph(X, 6, weight="binary").toarray() > 0
    if scale == "median":
        scales = np.full(len(X), np.median(D[edges]))
    elif scale == "self-tuning":
        scales = np.sort(D, axis=1)[:, 6]
    else:
        scales = np.full(len(X), scale)
    ratio = D / np.sqrt(np.outer(scales, scales))
    expected = np.exp(-(ratio**2 if weight == "gaussian" else ratio)) * edges
    np.testing.assert_allclose(W, expected, **ALGEBRA)


def test_complete_graph_has_all_weights():
    X = cloud(6, n=20)
    D = pairwise_distances(X)
    expected = np.exp(-((D / 0.5) ** 2)) * ~np.eye(20, dtype=bool)
    np.testing.assert_allclose(complete_graph(X, scale=0.5).toarray(), expected, **ALGEBRA)


@pytest.mark.parametrize("method", METHODS)
def test_every_graph_is_symmetric_without_loops(method):
    W = GraphBuilder(method, radius=1.0).fit_transform(cloud(7))
    assert (W != W.T).nnz == 0
    assert not W.diagonal().any()
    assert W.data.min() > 0


# The radius of a ball is a length of its own.
@pytest.mark.parametrize("method", [method for method in METHODS if method != "ball"])
@pytest.mark.parametrize("factor", [1e-150, 1e150])
def test_scale_of_the_samples_does_not_matter_where_the_scale_is_learned(method, factor):
    X = cloud(8)
    for scale in ("median", "self-tuning"):
        builder = GraphBuilder(method, scale=scale)
        small, large = builder.fit_transform(X), builder.fit_transform(X * factor)
        np.testing.assert_allclose(large.toarray(), small.toarray(), **ALGEBRA)


def test_close_samples_have_exact_distances():
    X = 1e6 + 1e-6 * cloud(9, n=30)
    D = np.linalg.norm(X[:, None] - X, axis=2)
    W = knn_graph(X, 5, weight="exponential", scale=1e-6)
    i, j = W.nonzero()
    np.testing.assert_allclose(np.asarray(W[i, j]), np.exp(-D[i, j] / 1e-6), **ALGEBRA)


def test_close_samples_are_recognised():
    X = 1e6 + 1e-7 * cloud(9, n=8)
    builder = GraphBuilder(n_neighbors=7).fit(X)
    np.testing.assert_allclose(builder.transform(X).toarray(), builder.graph_.toarray(), **EXACT)


def test_copies_of_samples_are_joined_with_weight_one():
    X = np.repeat(cloud(10, n=8), 3, axis=0)
    W = knn_graph(X, 2).toarray()
    assert np.all(np.isfinite(W))
    np.testing.assert_allclose(W, np.kron(np.eye(8), np.ones((3, 3))) - np.eye(24), **EXACT)


@pytest.mark.parametrize("method", METHODS)
def test_sparse_samples_give_the_same_graph(method):
    X = cloud(11)
    X[:, 1:] *= np.random.default_rng(0).random((60, 2)) < 0.7
    builder = GraphBuilder(method, radius=1.0)
    dense, sparse = builder.fit_transform(X), builder.fit_transform(sp.csr_array(X))
    np.testing.assert_allclose(sparse.toarray(), dense.toarray(), **ALGEBRA)


@pytest.mark.parametrize("method", METHODS)
def test_order_of_the_samples_is_the_order_of_the_vertices(method):
    X, order = cloud(12), np.random.default_rng(0).permutation(60)
    builder = GraphBuilder(method, radius=1.0)
    W, shuffled = builder.fit_transform(X).toarray(), builder.fit_transform(X[order]).toarray()
    np.testing.assert_allclose(shuffled, W[np.ix_(order, order)], **ALGEBRA)


# ---------------------------------------------------------------- new samples


@pytest.mark.parametrize("method", METHODS)
def test_training_samples_have_their_rows_and_new_ones_a_neighbour(method):
    X, X_new = cloud(13), cloud(14, n=10)
    builder = GraphBuilder(method, radius=0.5).fit(X)
    np.testing.assert_allclose(builder.transform(X).toarray(), builder.graph_.toarray(), **EXACT)
    new = builder.transform(X_new)
    assert new.shape == (10, 60)
    assert np.all(new.sum(axis=1) > 0)


def test_new_samples_are_tied_as_training_samples_would_be():
    X, X_new = cloud(15), cloud(16, n=10)
    D = pairwise_distances(X_new, X)
    near = D <= np.sort(D, axis=1)[:, [4]]
    new = GraphBuilder(n_neighbors=5, scale=0.9).fit(X).transform(X_new).toarray()
    np.testing.assert_allclose(new, np.exp(-((D / 0.9) ** 2)) * near, **ALGEBRA)
    every = GraphBuilder("complete", scale=0.9).fit(X).transform(X_new).toarray()
    np.testing.assert_allclose(every, np.exp(-((D / 0.9) ** 2)), **ALGEBRA)


def test_far_samples_keep_the_ratios_of_their_weights():
    X = np.array([[0.0], [1.0]])
    far = GraphBuilder("complete", scale=1.0).fit(X).transform([[40.0], [1e200]]).toarray()
    assert np.all(far.sum(axis=1) > 0)
    np.testing.assert_allclose(far[0, 0] / far[0, 1], np.exp(39.0**2 - 40.0**2), **ALGEBRA)


def test_builder_and_estimator_make_a_pipeline():
    X = cloud(17, n=120)
    y = np.where(np.arange(120) < 40, (X[:, 0] > 0).astype(int), -1)
    builder = GraphBuilder(("knn", "mst"))
    model = make_pipeline(builder, LaplacianInterpolationClassifier(affinity="precomputed"))
    whole = LaplacianInterpolationClassifier(affinity=builder)
    X_new = cloud(18, n=30)
    np.testing.assert_allclose(
        model.fit(X, y).predict_proba(X_new), whole.fit(X, y).predict_proba(X_new), **ALGEBRA
    )


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"method": "nearest"}, "method"),
        ({"method": ("knn", "nearest")}, "method must be one of"),
        ({"method": ()}, "method must be one of"),
        ({"method": "ball"}, "radius"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"scale": 0.0}, "scale"),
        ({"metric": "no such metric"}, "metric"),
    ],
)
def test_bad_parameters_are_named(params, words):
    with pytest.raises(ValueError, match=words):
        GraphBuilder(**params).fit(cloud(0))
    with pytest.raises(ValueError, match="mode"):
        knn_graph(cloud(0), mode="directed")


def test_distances_that_overflow_are_refused():
    for method in METHODS:
        with pytest.raises(ValueError, match="overflow"):
            GraphBuilder(method, radius=1.0).fit(1e200 * cloud(0))


def test_complete_graph_of_too_many_samples_is_refused_at_once():
    with pytest.raises(ValueError, match="GiB"):
        complete_graph(np.zeros((10**6, 1)))


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_data_frames_of_a_graph_are_refused(container, rng):
    X = rng.normal(size=(9, 2))
    builder = GraphBuilder(n_neighbors=3).fit(X).set_output(transform=container)
    message = rf"cannot return {container} data frames.*weights of a graph.*transform='default'"
    for ask in (builder.transform, builder.fit_transform):
        with pytest.raises(ValueError, match=message):
            ask(X)
    assert builder.set_output(transform="default").transform(X).shape == (9, 9)
