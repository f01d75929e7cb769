"""What is promised to learners of matrices, and how complex matrices and sequences are."""

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from reference.matrix_completion import positive_definite_laplacian
from scipy.linalg import hadamard

from sklearn_sl.datasets import make_biclustered, make_cluster_graph, make_similarity_matrix
from sklearn_sl.theory import (
    factor_dimension,
    matrix_completion_bound,
    matrix_completion_loss_bound,
    matrix_completion_mistakes,
    max_norm_bound,
    multitask_kernel_bound,
    multitask_kernel_complexity,
    path_tree_norm_bound,
    quasi_dimension,
)


def unit_rows(rng, n_rows, n_cols):
    P = rng.normal(size=(n_rows, n_cols))
    return P / np.linalg.norm(P, axis=1, keepdims=True)


def one_hot(labels):
    return (labels[:, None] == np.unique(labels)).astype(float)


def test_regret_bound_has_the_numbers_of_the_notes():
    np.testing.assert_allclose(matrix_completion_bound(2500, 100, 3**-0.5, 100), 10513, atol=0.5)
    np.testing.assert_allclose(matrix_completion_bound(2500, 43, 3**-0.5, 100), 6900, rtol=0.01)


def test_step_of_the_theorem_makes_the_bound_with_any_step_the_better_one():
    """Its regret, with an update in each trial, is at most that of the theorem."""
    for T, D, gamma, size in [(10**4, 20, 0.5, 40), (10**6, 300, 1.0, 1000), (10**5, 5, 0.2, 9)]:
        eta = np.sqrt(D * np.log(size) / (2 * T))
        regret = matrix_completion_loss_bound(0, T, D, gamma, size, eta)
        assert regret <= matrix_completion_bound(T, D, gamma, size)
        # The errors of the comparator are multiplied, by little.
        half = matrix_completion_loss_bound(T // 2, T, D, gamma, size, eta) - T // 2
        assert half <= matrix_completion_bound(T, D, gamma, size)


@pytest.mark.parametrize("gamma", [0.01, 0.1, 0.5, 0.9, 1.0])
def test_mistakes_are_at_most_those_of_the_paper(gamma):
    paper = 3.6 / gamma**2 * np.log(60)
    assert paper / 2 < matrix_completion_mistakes(1.0, gamma, 60) <= paper


def test_too_long_a_step_promises_nothing():
    assert matrix_completion_mistakes(10, 0.5, 20, eta=2.0) == np.inf
    steps = np.array([0.1, 0.5, 2.0])
    assert np.isfinite(matrix_completion_mistakes(10, 0.5, 20, eta=steps)).tolist() == [1, 1, 0]


# ---------------------------------------------------------------- quasi-dimension


def test_without_side_information_the_dimension_is_the_number_of_rows_and_columns(rng):
    for m, n in [(1, 1), (3, 8), (50, 50)]:
        assert quasi_dimension(np.zeros(m), np.arange(n)) == m + n
        assert factor_dimension(unit_rows(rng, m, 4), unit_rows(rng, n, 4)) == m + n


@pytest.mark.parametrize("seed", range(20))
def test_no_factorisation_over_clusters_exceeds_the_bound_for_graphs(seed):
    rng = np.random.default_rng(seed)
    _, rows, cols = make_biclustered(15, 12, 3, 4, random_state=seed)
    graphs = [make_cluster_graph(z, noise=0.1, random_state=seed) for z in (rows, cols)]
    bound = quasi_dimension(rows, cols, *(graph.laplacian for graph in graphs), laplacian=True)
    matrices = [positive_definite_laplacian(graph.laplacian) for graph in graphs]
    for _ in range(20):
        P, Q = unit_rows(rng, 3, 5)[rows], unit_rows(rng, 4, 5)[cols]
        assert factor_dimension(P, Q, *matrices) <= bound + 1e-9
    # Opposite factors on either side of a cut are the worst.
    opposite = (
        np.array([[1.0], [-1.0], [1.0]])[rows],
        np.array([[1.0], [-1.0], [1.0], [-1.0]])[cols],
    )
    assert 0.3 * bound < factor_dimension(*opposite, *matrices) <= bound


@pytest.mark.parametrize("seed", range(20))
def test_no_factorisation_over_clusters_exceeds_the_bound_for_definite_matrices(seed):
    rng = np.random.default_rng(seed)
    _, rows, cols = make_biclustered(10, 8, 3, 4, random_state=seed)
    matrices = []
    for n in (10, 8):
        root = rng.normal(size=(n, n))
        matrices.append(root @ root.T + 0.1 * np.eye(n))
    bound = quasi_dimension(rows, cols, *matrices)
    for _ in range(20):
        P, Q = unit_rows(rng, 3, 5)[rows], unit_rows(rng, 4, 5)[cols]
        assert factor_dimension(P, Q, *matrices) <= bound + 1e-9


def test_dimension_of_a_graph_by_hand():
    """Two pairs of vertices and an edge between: ``R_L`` of the path of four is 7/8."""
    path = np.diag([1.0, 2.0, 2.0, 1.0]) - np.eye(4, k=1) - np.eye(4, k=-1)
    largest = np.diag(np.linalg.pinv(path)).max()
    np.testing.assert_allclose(largest, 7 / 8, **EXACT)
    one_side = 2 * 2 * (2 * largest) + 2 * 2
    clusters = [0, 0, 1, 1]
    both = quasi_dimension(clusters, clusters, path, path, laplacian=True)
    np.testing.assert_allclose(both, 2 * one_side, **ALGEBRA)
    alone = quasi_dimension(clusters, np.zeros(7), path, laplacian=True)
    np.testing.assert_allclose(alone, one_side + 7, **ALGEBRA)


def test_switching_hypotheses_are_a_factorisation_with_the_margin_of_their_number(rng):
    """``U = HC'``, ``P = H / sqrt(l)`` and ``Q = C``: ``tr(H'MH) R_M / l + tr(C'NC) R_N``."""
    H = rng.choice([-1.0, 1.0], size=(6, 3))
    C = one_hot(rng.permutation(np.arange(9) % 3))
    M, N = (np.diag(rng.uniform(1, 3, n)) + 0.1 for n in (6, 9))
    R_M, R_N = (np.diag(np.linalg.inv(A)).max() for A in (M, N))
    by_hand = np.trace(H.T @ M @ H) * R_M / 3 + np.trace(C.T @ N @ C) * R_N
    np.testing.assert_allclose(factor_dimension(H / np.sqrt(3), C, M, N), by_hand, **ALGEBRA)


@pytest.mark.parametrize(
    "call",
    [
        lambda: quasi_dimension([[0]], [0]),
        lambda: quasi_dimension([0, 1], [0], np.eye(3)),
        lambda: quasi_dimension([0, 1], [0], [[1.0, 2.0], [0.0, 1.0]]),
        lambda: quasi_dimension([0, 1], [0], np.zeros((2, 2))),
        lambda: quasi_dimension([0, 1], [0], np.eye(2), laplacian=True),
        lambda: quasi_dimension([0, 1], [0], np.zeros((2, 2)), laplacian=True),
        lambda: factor_dimension([[2.0]], [[1.0]]),
        lambda: factor_dimension([[1.0]], [[0.6, 0.8]]),
        lambda: factor_dimension([[1.0]], [[1.0]], [[-1.0]]),
        lambda: max_norm_bound([[1.0, 0.0]]),
        lambda: max_norm_bound([1.0, -1.0]),
        lambda: matrix_completion_bound(10, 0, 0.5, 10),
        lambda: matrix_completion_bound(10, 1, 1.5, 10),
        lambda: matrix_completion_bound(10, 1, 0.5, 1),
        lambda: matrix_completion_loss_bound(0, 10, 1, 0.5, 10, 2.0),
        lambda: matrix_completion_mistakes(1, 0.5, 2),
        lambda: path_tree_norm_bound(1, 1),
        lambda: multitask_kernel_complexity([-1.0], 100),
        lambda: multitask_kernel_bound(0, 1.0),
    ],
)
def test_arguments_outside_of_the_theorems_are_refused(call):
    with pytest.raises(ValueError):
        call()


# ---------------------------------------------------------------- max norm


def test_max_norm_is_at_most_the_root_of_the_rank_and_of_the_clusters(rng):
    for seed in range(20):
        U, _, _ = make_biclustered(20, 12, 4, 3, random_state=seed)
        assert 1 <= max_norm_bound(U) <= np.sqrt(3)
        U = rng.choice([-1.0, 1.0], size=(6, 9))
        assert 1 <= max_norm_bound(U) <= np.sqrt(6)


def test_bound_is_the_max_norm_of_hadamard_matrices():
    """Which is the root of their order, the largest there is."""
    for order in (1, 2, 4, 8):
        assert max_norm_bound(hadamard(order)) == pytest.approx(np.sqrt(order))


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 7, 20])
def test_max_norm_of_similarity_is_at_most_three_by_a_factorisation(n_clusters):
    U, clusters = make_similarity_matrix(40, n_clusters, random_state=0)
    same, ones = np.sqrt(2) * one_hot(clusters), np.ones((40, 1))
    P, Q = np.hstack([same, ones]), np.hstack([same, -ones])
    np.testing.assert_allclose(P @ Q.T, U, **EXACT)
    np.testing.assert_allclose(np.sum(P**2, axis=1), 3, **EXACT)
    assert max_norm_bound(U) <= 3
    assert max_norm_bound(U[:5]) <= 3


def test_only_similarities_are_bounded_by_three():
    assert max_norm_bound(hadamard(16)) == 4


# ---------------------------------------------------------------- switching tasks


def test_complexity_adds_norms_changes_and_modes():
    one = multitask_kernel_complexity([9.0], 1000)
    assert one == 9 + 2
    # s + k - 1 changes of timelines laid end to end, each with m ceil(log2 T)^2.
    more = multitask_kernel_complexity([9.0, 4.0], 1000, n_switches=5, n_tasks=3)
    assert more == 13 + 2 * (3 + 5 - 1) * 2 * 10**2 + 2 * 2**2
    assert path_tree_norm_bound(5, 1000) == 502


def test_bound_of_switching_tasks_is_that_of_the_matrix():
    """With the margin ``1 / sqrt(m)``, the dimension ``C / m`` and ``2 T`` rows and columns."""
    T, C, m = 10**5, 700.0, 3
    of_matrix = matrix_completion_bound(T, C / m, m**-0.5, 2 * T)
    np.testing.assert_allclose(multitask_kernel_bound(T, C), of_matrix, **EXACT)
