"""Minimum cuts: against all cuts, linear programs and SciPy's flows, and their certificates."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT
from hypothesis import given
from hypothesis import strategies as st
from reference import min_cut as twin
from scipy.optimize import linprog
from scipy.sparse import csgraph
from sklearn.base import clone

from sklearn_sl.datasets import make_two_cliques
from sklearn_sl.graph import (
    MinCutClassifier,
    _min_cut,
    cut_weight,
    graph_from_edges,
    minimum_cut,
)

SPIELMAN = ([[0, 1], [0, 4], [1, 2], [1, 3], [2, 3], [3, 4]], [1, 1, 1, 1, 1, 2])


def random_graph(rng, n, density=0.5, weights=None):
    """Return a random graph, dense, not always connected; whole weights make ties."""
    present = np.triu(rng.uniform(size=(n, n)) < density, k=1)
    W = present * (rng.exponential(size=(n, n)) if weights is None else weights)
    return W + W.T


def check_flow(W, cut, sources, sinks):
    """Assert that the flow is one, and brings what the cut weighs."""
    flow = cut.flow.toarray()
    scale = np.abs(flow).sum(axis=1) + 1e-300
    np.testing.assert_array_equal(flow, -flow.T)
    assert np.all(np.abs(flow) <= W)
    inner = ~np.isin(np.arange(len(W)), [*sources, *sinks])
    np.testing.assert_allclose((flow.sum(axis=1) / scale)[inner], 0, atol=1e-12)
    np.testing.assert_allclose(cut.flow_value, cut.value, **EXACT)
    np.testing.assert_allclose(cut.value, cut_weight(W, ~cut.sink_side), **EXACT)


# ---------------------------------------------------------------- one cut


@given(st.integers(0, 10**6), st.booleans())
def test_cut_is_the_least_of_all_and_its_sides_are_what_all_minima_share(seed, whole):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 10))
    W = random_graph(rng, n, weights=rng.integers(1, 4, (n, n)) if whole else None)
    given_labels = np.full(n, -1)
    given_labels[[0, n - 1]] = 1, 0
    if n > 4:
        given_labels[2] = rng.integers(0, 2)
    sources, sinks = np.flatnonzero(given_labels == 1), np.flatnonzero(given_labels == 0)
    cut = minimum_cut(W, sources, sinks)
    least, best = twin.best_labellings(W, given_labels, 2)
    np.testing.assert_allclose(cut.value, least, **EXACT)
    np.testing.assert_array_equal(cut.source_side, np.all(best == 1, axis=0))
    np.testing.assert_array_equal(cut.sink_side, np.all(best == 0, axis=0))
    assert cut.unique == (len(best) == 1)
    check_flow(W, cut, sources, sinks)


@given(st.integers(0, 10**6))
def test_relaxation_to_real_labels_has_the_same_minimum(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    W = random_graph(rng, n)
    tail, head = np.nonzero(np.triu(W))
    m = len(tail)
    D = np.zeros((m, n))
    D[np.arange(m), tail], D[np.arange(m), head] = 1, -1
    bounds = [(0, 1)] * n + [(0, None)] * m
    bounds[0], bounds[n - 1] = (1, 1), (0, 0)
    cost = np.concatenate([np.zeros(n), W[tail, head]])
    above = np.block([[D, -np.eye(m)], [-D, -np.eye(m)]])
    relaxed = linprog(cost, above, np.zeros(2 * m), bounds=bounds)
    np.testing.assert_allclose(minimum_cut(W, [0], [n - 1]).value, relaxed.fun, **ALGEBRA)


def test_flow_is_that_of_scipy_for_whole_weights(rng):
    for n in (10, 60, 200):
        W = random_graph(rng, n, density=6 / n, weights=rng.integers(1, 100, (n, n)))
        theirs = csgraph.maximum_flow(sp.csr_array(W.astype(np.int32)), 0, n - 1)
        cut = minimum_cut(W, [0], [n - 1])
        assert cut.flow_value == cut.value == theirs.flow_value
        check_flow(W, cut, [0], [n - 1])


def test_work_in_many_slices_is_the_same(rng, monkeypatch):
    W = random_graph(rng, 80, density=0.1)
    whole = minimum_cut(W, [0, 1], [78, 79])
    monkeypatch.setattr(_min_cut, "CALL", 7)
    sliced = minimum_cut(W, [0, 1], [78, 79])
    np.testing.assert_array_equal(sliced.flow.toarray(), whole.flow.toarray())
    np.testing.assert_array_equal(sliced.source_side, whole.source_side)


@given(st.integers(0, 10**6))
def test_weights_over_many_orders_have_a_flow_too(seed):
    rng = np.random.default_rng(seed)
    W = random_graph(rng, 9, weights=10.0 ** rng.uniform(-12, 12, (9, 9)))
    cut = minimum_cut(W, [0], [8])
    best = min(twin.weight_between(W, u) for u in twin.all_labellings(np.r_[1, [-1] * 7, 0], 2))
    np.testing.assert_allclose(cut.value, best, rtol=1e-12)
    np.testing.assert_allclose(cut.flow_value, cut.value, rtol=1e-9)


def test_sums_that_rounding_makes_different_are_ties():
    """0.1 + 0.2 on one side and 0.3 on the other are two minimum cuts."""
    graph = graph_from_edges([[0, 1], [0, 2], [1, 3], [2, 3], [3, 4]], [0.1, 0.2, 9, 9, 0.3])
    cut = minimum_cut(graph, [0], [4])
    assert not cut.unique
    np.testing.assert_array_equal(cut.source_side, [True, False, False, False, False])
    np.testing.assert_array_equal(cut.sink_side, [False, False, False, False, True])


def test_sides_exchanged_and_vertices_permuted(rng):
    W = random_graph(rng, 12, weights=rng.integers(1, 4, (12, 12)))
    cut, other = minimum_cut(W, [0, 3], [11]), minimum_cut(W, [11], [0, 3])
    np.testing.assert_array_equal(cut.source_side, other.sink_side)
    np.testing.assert_array_equal(cut.sink_side, other.source_side)
    assert cut.value == other.value
    order = rng.permutation(12)
    place = np.argsort(order)
    permuted = minimum_cut(W[np.ix_(order, order)], place[[0, 3]], place[[11]])
    np.testing.assert_array_equal(permuted.source_side, cut.source_side[order])
    np.testing.assert_array_equal(permuted.sink_side, cut.sink_side[order])


def test_golden_examples():
    path = minimum_cut(graph_from_edges([[i, i + 1] for i in range(5)]), [0], [5])
    assert (path.value, path.unique) == (1, False)
    assert path.source_side.sum() == path.sink_side.sum() == 1
    circle = minimum_cut(graph_from_edges([[0, 1], [1, 2], [2, 3], [3, 0]]), [0], [2])
    assert (circle.value, circle.unique) == (2, False)
    graph = graph_from_edges(*SPIELMAN)
    least, best = twin.best_labellings(graph.toarray(), np.array([1, -1, 0, -1, -1]), 2)
    spielman = minimum_cut(graph, [0], [2])
    assert spielman.value == least == 2
    assert spielman.unique == (len(best) == 1)
    cliques, clique = make_two_cliques(6)
    bridge = minimum_cut(cliques, [0], [11])
    assert (bridge.value, bridge.unique) == (1, True)
    np.testing.assert_array_equal(bridge.sink_side, clique == 1)


def test_components_without_a_source_or_sink():
    cut = minimum_cut(graph_from_edges([[0, 1], [2, 3], [4, 5]]), [0], [3])
    assert (cut.value, cut.flow_value, cut.unique) == (0, 0, False)
    np.testing.assert_array_equal(cut.source_side, [True, True, False, False, False, False])
    np.testing.assert_array_equal(cut.sink_side, [False, False, True, True, False, False])


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (([], [1]), "source_set must be a non-empty"),
        (([0], [0.5]), "sink_set must be a non-empty"),
        (([0], [7]), r"sink_set must be vertices in \[0, 2\)"),
        (([0, 1], [1]), "both contain vertex 1"),
    ],
)
def test_sets_that_are_none(sets, message):
    with pytest.raises(ValueError, match=message):
        minimum_cut(graph_from_edges([[0, 1]]), *sets)


# ---------------------------------------------------------------- classification


def fit(W, y, **params):
    return MinCutClassifier(affinity="precomputed", **params).fit(W, y)


def connected(rng, n, **options):
    W = random_graph(rng, n, **options)
    i = np.arange(n - 1)
    W[i, i + 1] = W[i + 1, i] = np.maximum(W[i, i + 1], 1)
    return W


def test_two_classes_are_the_minimum_cut_and_undecided_vertices_have_halves():
    rng = np.random.default_rng(1)
    differ = 0
    for _ in range(30):
        W = connected(rng, 9, weights=rng.integers(1, 3, (9, 9)))
        y = np.array([0, -1, -1, 1, -1, -1, -1, 1, -1])
        model = fit(W, y)
        least, best = twin.best_labellings(W, y, 2)
        assert model.cut_weight_ == model.flow_value_ == least
        np.testing.assert_array_equal(model.isolating_weights_, [least, least])
        np.testing.assert_allclose(
            model.label_distributions_[:, 1],
            np.select([np.all(best == 1, axis=0), np.all(best == 0, axis=0)], [1, 0], 0.5),
        )
        np.testing.assert_array_equal(model.ambiguous_, model.label_distributions_[:, 0] == 0.5)
        assert model.unique_ == (len(best) == 1)
        assert cut_weight(W, model.transduction_) == least
        differ += not model.unique_
    assert 0 < differ < 30


@given(st.integers(0, 10**6), st.integers(3, 4), st.booleans())
def test_several_classes_cost_at_most_the_factor_of_dahlhaus(seed, k, whole):
    rng = np.random.default_rng(seed)
    W = connected(rng, 9, weights=rng.integers(1, 3, (9, 9)) if whole else None)
    y = np.full(9, -1)
    y[rng.choice(9, k, replace=False)] = np.arange(k)
    model = fit(W, y)
    least, _ = twin.best_labellings(W, y, k)
    assert model.flow_value_ <= least + 1e-9
    assert least <= model.cut_weight_ + 1e-9
    assert model.cut_weight_ <= (2 - 2 / k) * model.flow_value_ + 1e-9
    np.testing.assert_allclose(
        model.cut_weight_, twin.weight_between(W, model.transduction_), **EXACT
    )
    np.testing.assert_array_equal(model.transduction_[y >= 0], y[y >= 0])
    for c in range(k):
        isolating, _ = twin.best_labellings(W, np.where(y >= 0, y == c, -1), 2)
        np.testing.assert_allclose(model.isolating_weights_[c], isolating, **EXACT)


def test_vertex_that_no_isolating_cut_takes_goes_to_the_most_expensive_class():
    star = graph_from_edges([[0, 1], [0, 2], [0, 3]], [1.0, 1.2, 1.1])
    model = fit(star, [-1, 0, 1, 2])
    np.testing.assert_array_equal(model.label_distributions_[0], [0, 1, 0])
    np.testing.assert_allclose(model.cut_weight_, 2.1, **EXACT)


def test_classes_exchanged(rng):
    W = connected(rng, 15, density=0.3)
    y = np.full(15, -1)
    y[[0, 5, 9, 14]] = 0, 1, 1, 0
    model, other = fit(W, y), fit(W, np.where(y >= 0, 1 - y, -1))
    np.testing.assert_array_equal(model.label_distributions_, other.label_distributions_[:, ::-1])
    assert model.cut_weight_ == other.cut_weight_


def test_one_class_and_components_without_a_label():
    graph = graph_from_edges([[0, 1], [2, 3]])
    with pytest.warns(UserWarning, match="have no label"):
        model = fit(graph, [4, -1, -1, -1])
    np.testing.assert_array_equal(model.label_distributions_, np.ones((4, 1)))
    with pytest.warns(UserWarning, match="have no label"):
        model = fit(graph, [4, 5, -1, -1])
    np.testing.assert_array_equal(model.label_distributions_[2:], 0.5)
    assert (model.cut_weight_, model.flow_value_, model.unique_) == (1, 1, True)
    np.testing.assert_array_equal(model.ambiguous_, False)


def test_vertices_with_different_labels_have_the_most_frequent_or_none():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [2.0], [2.0]])
    model = MinCutClassifier(n_neighbors=1, weight="binary").fit(X, [0, 0, 1, -1, 1, 1])
    np.testing.assert_array_equal(model.label_distributions_[:3, 0], 1)
    tied = clone(model).fit(X, [0, 0, 1, -1, 0, 1], [1, 1, 2, 1, 1, 2])
    np.testing.assert_array_equal(tied.transduction_, 1)


def test_new_samples_join_the_class_that_cuts_least(rng):
    W = connected(rng, 10)
    y = np.array([0, 1, -1, -1, -1, -1, -1, -1, -1, -1])
    model = fit(W, y)
    assert model.unique_
    rows = rng.uniform(size=(20, 10)) * (rng.uniform(size=(20, 10)) < 0.4)
    rows[:, 0] += 0.01
    cost = [rows @ (model.transduction_ != c) for c in (0, 1)]
    np.testing.assert_array_equal(model.predict(rows), np.argmin(cost, axis=0))


def test_masses_of_samples_multiply_the_weights_of_edges(rng):
    X = rng.normal(size=(25, 2))
    y = np.where(np.arange(25) < 4, np.arange(25) % 2, -1)
    weight = np.where(np.arange(25) < 4, 1, rng.integers(1, 4, size=25))
    weighted = MinCutClassifier(n_neighbors=5).fit(X, y, weight)
    repeated = MinCutClassifier(n_neighbors=5).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    np.testing.assert_allclose(weighted.cut_weight_, repeated.cut_weight_, **EXACT)
    np.testing.assert_array_equal(
        np.repeat(weighted.label_distributions_, weight, axis=0), repeated.label_distributions_
    )
