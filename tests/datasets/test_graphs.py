"""Chains of cliques, and trials that are hard for an interpolant."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from reference.graph_online import interpolant

from sklearn_sl.datasets import adversarial_vertex_order, make_clique_chain, make_two_cliques
from sklearn_sl.graph import connected_components


@pytest.mark.parametrize(
    ("n_cliques", "size", "n_bridges"),
    [(1, 5, None), (3, 4, None), (4, 6, 10), (3, 2, 4), (5, 1, 4)],
)
def test_chain_has_its_cliques_and_bridges(n_cliques, size, n_bridges):
    adjacency, clique = make_clique_chain(n_cliques, size, n_bridges)
    A = adjacency.toarray()
    assert isinstance(adjacency, sp.csr_array)
    np.testing.assert_array_equal(A, A.T)
    assert set(np.unique(A)) <= {0.0, 1.0}
    same = clique[:, None] == clique
    assert np.all(A[same & ~np.eye(len(A), dtype=bool)] == 1)
    assert A[~same].sum() == 2 * (n_cliques - 1 if n_bridges is None else n_bridges)
    i, j = np.nonzero(np.triu(A * ~same))
    np.testing.assert_array_equal(clique[j], clique[i] + 1)
    per_link = np.bincount(clique[i], minlength=max(n_cliques - 1, 1))
    assert per_link.max() - per_link.min() <= 1
    assert connected_components(adjacency)[0] == 1


def test_two_cliques_have_one_bridge_between_the_last_and_the_first_vertex():
    adjacency, clique = make_two_cliques(4)
    A = adjacency.toarray()
    assert A[3, 4] == A[clique == 0][:, clique == 1].sum() == 1


@pytest.mark.parametrize(
    "arguments", [(0, 3), (2, 0), (3, 4, 1), (3, 4, 9), (2, 3, -1), (2.5, 3), (3, 4, 2.5)]
)
def test_chain_that_cannot_be_is_an_error(arguments):
    with pytest.raises((ValueError, TypeError)):
        make_clique_chain(*arguments)


def mistakes(W, order, y):
    """Return in which trials the interpolant of the labels before is not of the right sign."""
    labels, wrong = {}, []
    for vertex in order:
        wrong.append(interpolant(W, labels)[vertex] * y[vertex] <= 1e-10)
        labels[int(vertex)] = y[vertex]
    return np.array(wrong)


@pytest.mark.parametrize("seed", range(5))
def test_adversary_asks_for_a_mistake_whenever_there_is_one(seed):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.uniform(size=(15, 15)) < 0.2, k=1) * rng.uniform(0.1, 3, (15, 15))
    W, y = W + W.T, rng.choice([-1, 1], 15)
    order = adversarial_vertex_order(W, y)
    np.testing.assert_array_equal(np.sort(order), np.arange(15))
    wrong, labels = mistakes(W, order, y), {}
    for trial, vertex in enumerate(order):
        margins = (interpolant(W, labels) * y)[order[trial:]]
        assert wrong[trial] == (margins.min() <= 1e-10)
        labels[int(vertex)] = y[vertex]


def test_adversary_makes_more_mistakes_than_chance(rng):
    for graph in (nx.path_graph(40), nx.grid_2d_graph(6, 7), nx.balanced_tree(2, 4)):
        W = nx.to_numpy_array(graph)
        y = np.where(np.arange(len(W)) < len(W) / 3, -1, 1)
        n_wrong = mistakes(W, adversarial_vertex_order(W, y), y).sum()
        by_chance = [mistakes(W, rng.permutation(len(W)), y).sum() for _ in range(5)]
        assert n_wrong >= np.mean(by_chance)
    assert n_wrong > 2


@pytest.mark.parametrize("y", [[1, -1], [1, 0, 1], [1, 2, -1], [1.0, np.nan, 1.0]])
def test_adversary_needs_a_label_for_each_vertex(y):
    with pytest.raises(ValueError, match="y must"):
        adversarial_vertex_order(make_clique_chain(1, 3)[0], y)
