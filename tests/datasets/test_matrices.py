"""Sign matrices with few kinds of rows: what they are made of, and what is known of them."""

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from reference.matrix_completion import positive_definite_laplacian
from scipy.sparse import csgraph

from sklearn_sl.datasets import (
    make_biclustered,
    make_cluster_graph,
    make_similarity_matrix,
    make_switching_tasks,
    matrix_trials,
)


@pytest.mark.parametrize("seed", range(10))
def test_entries_of_a_biclustered_matrix_depend_on_the_clusters_alone(seed):
    U, rows, cols = make_biclustered(40, 30, 5, 4, random_state=seed)
    assert U.shape == (40, 30)
    assert set(np.unique(U)) <= {-1.0, 1.0}
    assert np.array_equal(np.unique(rows), np.arange(5))
    assert np.array_equal(np.unique(cols), np.arange(4))
    first_row = np.array([np.flatnonzero(rows == k)[0] for k in range(5)])
    first_col = np.array([np.flatnonzero(cols == k)[0] for k in range(4)])
    latent = U[np.ix_(first_row, first_col)]
    for i in range(40):
        for j in range(30):
            assert U[i, j] == latent[rows[i], cols[j]]


def test_matrix_of_the_notes_has_nine_kinds_of_rows_and_columns():
    U, *_ = make_biclustered(50, 50, 9, 9, random_state=0)
    assert len(np.unique(U, axis=0)) <= 9
    assert len(np.unique(U, axis=1).T) <= 9
    assert np.linalg.matrix_rank(U) <= 9


@pytest.mark.parametrize("n_clusters", range(1, 9))
def test_similarity_matrix_tells_who_is_alike_and_has_the_rank_of_its_clusters(n_clusters):
    U, clusters = make_similarity_matrix(50, n_clusters, random_state=n_clusters)
    np.testing.assert_array_equal(U == 1, clusters[:, None] == clusters)
    # With two clusters, minus the row of one is the row of the other.
    assert np.linalg.matrix_rank(U) == (1 if n_clusters == 2 else n_clusters)


@pytest.mark.parametrize("noise", [0.0, 0.1, 1.0])
def test_noise_is_the_share_of_other_signs(noise):
    clean = make_biclustered(100, 100, 3, 3, random_state=0)
    noisy = make_biclustered(100, 100, 3, 3, noise=noise, random_state=0)
    np.testing.assert_array_equal(clean[1], noisy[1])
    np.testing.assert_allclose(np.mean(clean[0] != noisy[0]), noise, atol=0.015)
    similar, _ = make_similarity_matrix(100, 4, random_state=0)
    flipped, _ = make_similarity_matrix(100, 4, noise=noise, random_state=0)
    np.testing.assert_allclose(np.mean(similar != flipped), noise, atol=0.015)


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_cluster_graph_is_connected_and_its_kernel_inverts_the_laplacian(noise, seed):
    _, clusters, _ = make_biclustered(25, 5, 4, 2, random_state=seed)
    graph = make_cluster_graph(clusters, noise=noise, random_state=seed)
    np.testing.assert_array_equal(graph.adjacency, graph.adjacency.T)
    assert set(np.unique(graph.adjacency)) <= {0.0, 1.0} and not np.diag(graph.adjacency).any()
    assert csgraph.connected_components(graph.adjacency)[0] == 1
    np.testing.assert_allclose(graph.laplacian.sum(axis=0), 0, atol=1e-12)
    definite = positive_definite_laplacian(graph.laplacian)
    np.testing.assert_allclose(graph.kernel @ definite, np.eye(25), **ALGEBRA)
    # The largest value of the kernel is twice that of the pseudo-inverse.
    largest = np.diag(np.linalg.pinv(graph.laplacian)).max()
    np.testing.assert_allclose(np.diag(graph.kernel).max(), 2 * largest, **ALGEBRA)


def test_cluster_graph_without_noise_is_cliques_and_the_fewest_edges_between_them():
    clusters = np.repeat([0, 1, 2], [4, 3, 5])
    graph = make_cluster_graph(clusters, random_state=0)
    same = clusters[:, None] == clusters
    np.testing.assert_array_equal(graph.adjacency[same], 1 - np.eye(12)[same])
    assert graph.adjacency[~same].sum() == 2 * 2


def test_trials_are_all_entries_once_in_random_order(rng):
    U = rng.choice([-1.0, 1.0], size=(6, 7))
    X, y = matrix_trials(U, random_state=0)
    assert X.shape == (42, 2) and len({tuple(pair) for pair in X}) == 42
    rows, cols = X.astype(int).T
    np.testing.assert_array_equal(y, U[rows, cols])
    assert np.any(np.diff(7 * rows + cols) != 1)
    fewer, labels = matrix_trials(U, 10, random_state=0)
    np.testing.assert_array_equal(fewer, X[:10])
    np.testing.assert_array_equal(labels, y[:10])


def test_trials_leave_out_what_is_not_known():
    U = np.array([[1.0, np.nan], [np.nan, -1.0]])
    X, y = matrix_trials(U, random_state=0)
    assert sorted(map(tuple, X)) == [(0, 0), (1, 1)]
    assert sorted(y) == [-1, 1]


@pytest.mark.parametrize("n_tasks", [1, 3])
def test_labels_of_switching_tasks_are_those_of_their_hypothesis(n_tasks):
    X, y, modes = make_switching_tasks(600, n_tasks, n_modes=3, n_shifts=4, random_state=0)
    assert X.shape == (600, 3)
    for mode in range(3):
        inputs = X[modes == mode, :-1] * y[modes == mode, None]
        # Half of the circle has no input: a hyperplane has all of them on one side.
        angles = np.sort(np.arctan2(*inputs.T))
        gaps = np.diff(np.append(angles, angles[0] + 2 * np.pi))
        assert gaps.max() > np.pi - 0.2
    for task in range(n_tasks):
        assert np.count_nonzero(np.diff(modes[X[:, -1] == task])) == 4


def test_generators_repeat_themselves_and_differ_by_seed():
    makers = [
        lambda seed: make_biclustered(random_state=seed)[0],
        lambda seed: make_similarity_matrix(random_state=seed)[0],
        lambda seed: make_cluster_graph([0, 0, 0, 1, 1], noise=0.3, random_state=seed).kernel,
        lambda seed: matrix_trials(np.ones((4, 4)), random_state=seed)[0],
        lambda seed: make_switching_tasks(random_state=seed)[0],
    ]
    for make in makers:
        np.testing.assert_allclose(make(0), make(0), **EXACT)
        assert not np.array_equal(make(0), make(3))


@pytest.mark.parametrize(
    "call",
    [
        lambda: make_biclustered(2, 5, 3, 2),
        lambda: make_biclustered(noise=1.5),
        lambda: make_similarity_matrix(3, 4),
        lambda: make_cluster_graph([0]),
        lambda: make_cluster_graph([[0, 1]]),
        lambda: make_cluster_graph([0, 1], noise=-0.1),
        lambda: matrix_trials([1.0, -1.0]),
        lambda: matrix_trials([[1.0, np.inf]]),
        lambda: matrix_trials([[1.0, -1.0]], 3),
        lambda: make_switching_tasks(10, 5, n_shifts=4),
        lambda: make_switching_tasks(n_modes=1),
    ],
)
def test_impossible_sizes_are_refused(call):
    with pytest.raises(ValueError):
        call()
