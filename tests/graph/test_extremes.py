"""Graphs at the edge of numbers: tiny and huge weights, loose solutions, samples far from zero."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA

from sklearn_sl._laplacians._conjugate_gradients import ScaledMatrix
from sklearn_sl._rows import row_hashes
from sklearn_sl.graph import (
    EigenfunctionClassifier,
    GraphBuilder,
    GraphOnlinePredictor,
    LabelPropagation,
    LabelSpreading,
    LaplacianInterpolationClassifier,
    LaplacianInterpolationClassifierCV,
    LaplacianInterpolationRegressor,
    MinCutClassifier,
    SpectralBisection,
    as_graph,
    ball_graph,
    combine_graphs,
    complete_graph,
    effective_resistance,
    graph_from_edges,
    knn_graph,
    laplacian,
    mst_graph,
    p_resistance,
    resistance_diameter,
    vertex_resistance,
)

NAN = np.nan


def random_weights(seed, n, spread):
    """Return the weights of a connected graph, over some orders of magnitude."""
    rng = np.random.default_rng(seed)
    W = np.triu(10 ** rng.uniform(-spread, spread, (n, n)) * (rng.random((n, n)) < 0.5), 1)
    W[np.arange(n - 1), np.arange(1, n)] += 1
    return W + W.T


# ---------------------------------------------------------------- certificates


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["cg", "consensus"])
def test_loose_distributions_of_many_classes_are_within_their_bound(solver):
    for seed in range(30):
        W = random_weights(seed, 30, 1)
        y = np.where(np.arange(30) < 12, np.arange(30) % 6, -1)
        exact = LaplacianInterpolationClassifier(affinity="precomputed", solver="lu").fit(W, y)
        loose = LaplacianInterpolationClassifier(
            affinity="precomputed", solver=solver, tol=0.3, max_iter=2, random_state=0
        ).fit(W, y)
        F = loose.label_distributions_
        assert np.abs(F - exact.label_distributions_).max() <= loose.error_bound_
        free = y < 0
        means = (W @ F / W.sum(axis=1, keepdims=True))[free]
        np.testing.assert_allclose(loose.residual_, np.abs(F[free] - means).max(), **ALGEBRA)


def test_the_bound_of_a_constant_is_zero_however_long_walks_are():
    pair = graph_from_edges([[0, 1]], [1e10])
    model = LaplacianInterpolationRegressor(1e300, affinity="precomputed").fit(pair, [1, NAN])
    np.testing.assert_array_equal(model.transduction_, [1, 1])
    assert model.error_bound_ == 0


# ---------------------------------------------------------------- weights of edges


@pytest.mark.parametrize("solver", ["lu", "cg", "amg", "consensus"])
@pytest.mark.parametrize("scale", [1e-306, 1e-300, 1e300, 1e307])
@pytest.mark.parametrize("trust", [0, 1])
def test_solvers_do_not_care_about_the_unit_of_weights(solver, scale, trust):
    W = random_weights(0, 15, 0.5)
    W /= W.max()
    y = np.where(np.arange(15) < 5, np.arange(15) % 3, -1)
    params = dict(affinity="precomputed", solver=solver, tol=1e-10, random_state=0)
    model = LaplacianInterpolationClassifier(trust, **params).fit(W, y)
    other = LaplacianInterpolationClassifier(trust / scale, **params).fit(W * scale, y)
    near = dict(rtol=0, atol=1e-7)
    np.testing.assert_allclose(other.label_distributions_, model.label_distributions_, **near)
    np.testing.assert_allclose(other.predict_proba(W * scale), model.predict_proba(W), **near)
    labelled = y >= 0
    np.testing.assert_allclose(
        other.leave_one_out()[labelled], model.leave_one_out()[labelled], **near
    )


@pytest.mark.parametrize("alpha", [1e-320, 1e-300, 1e300, 1.7e308])
@pytest.mark.parametrize("scale", [1e-300, 1, 1e300])
def test_soft_labels_reach_both_limits(alpha, scale):
    W = random_weights(1, 8, 0.5)
    W *= scale / W.max()
    y = np.array([0, 1, 3, NAN, NAN, NAN, NAN, NAN])
    u = LaplacianInterpolationRegressor(alpha, affinity="precomputed").fit(W, y).transduction_
    if alpha * scale > 1e100:
        np.testing.assert_allclose(u, 4 / 3, **ALGEBRA)
    elif alpha * scale < 1e-100:
        hard = LaplacianInterpolationRegressor(affinity="precomputed").fit(W, y)
        np.testing.assert_allclose(u, hard.transduction_, **ALGEBRA)
    assert np.isfinite(u).all()


@pytest.mark.parametrize("alpha", [1e-14, 1e-10, 1e-6])
def test_soft_labels_that_are_nearly_kept_are_left_out_as_kept_ones(alpha):
    W, y = random_weights(2, 12, 0.5), np.full(12, NAN)
    y[[0, 3, 7, 11]] = 1, -2, 0.5, 4
    hard = LaplacianInterpolationRegressor(affinity="precomputed").fit(W, y).leave_one_out()
    soft = LaplacianInterpolationRegressor(alpha, affinity="precomputed").fit(W, y).leave_one_out()
    np.testing.assert_allclose(soft, hard, rtol=0, atol=100 * alpha + 1e-10)


def test_weights_that_are_too_far_apart_are_refused():
    path = graph_from_edges([[0, 1], [1, 2]], [1e-300, 1e300])
    for solver in ("lu", "cg", "consensus"):
        model = LaplacianInterpolationClassifier(affinity="precomputed", solver=solver)
        with pytest.raises(ValueError, match="orders of magnitude"):
            model.fit(path, [-1, -1, 0])


def test_weights_of_new_vertices_count_by_their_ratios():
    path = graph_from_edges([[0, 1], [1, 2], [2, 3]])
    model = LaplacianInterpolationRegressor(affinity="precomputed")
    for mass in (1e-100, 1, 1e100):
        model.fit(path, [0, NAN, NAN, 3], sample_weight=np.full(4, mass))
        for unit in (5e-324, 1e-310, 1, 1e308):
            np.testing.assert_allclose(model.predict([[unit, unit, 0, 0]]), [0.5], **ALGEBRA)


def test_descent_ends_where_there_are_no_numbers():
    pair = sp.csr_array([[0, 1.0], [1, 0]])
    scaled, b = ScaledMatrix(pair, np.array([2.0, 2.0])), np.full((2, 1), NAN)
    assert not scaled.solve(b, np.zeros((2, 1)), np.array([1e-6]), 100)[2]
    assert not scaled.settle(b, 1e-6, 100)[2]


@pytest.mark.parametrize("method", ["exact", "sketch"])
def test_resistances_that_are_no_numbers_are_refused(method):
    path = graph_from_edges([[0, 1], [1, 2], [2, 3]], [1e-300, 1e300, 1e-300])
    faint = graph_from_edges([[0, 1], [1, 2]], [1e-309, 1e-310])
    for graph, problem in ((path, "orders of magnitude"), (faint, "overflows")):
        for pairs in ("edges", "all", [[0, 2]]):
            with pytest.raises(ValueError, match=problem):
                effective_resistance(graph, pairs, method=method)
        for function in (resistance_diameter, vertex_resistance):
            with pytest.raises(ValueError, match=problem):
                function(graph)


def test_sketched_resistances_of_edges_are_within_their_bounds():
    weights = [1e6, 2e-6, 5e2, 1e-6]
    circle = graph_from_edges([[0, 1], [1, 2], [2, 3], [3, 0]], weights)
    sketch = effective_resistance(circle, method="sketch", random_state=0).toarray()
    assert np.all((sketch * circle.toarray()) <= 1 + 1e-12)


@pytest.mark.parametrize("threshold", ["sign", "gap", "sweep"])
@pytest.mark.parametrize("normalization", [None, "symmetric"])
def test_sides_of_any_size_are_compared(threshold, normalization):
    W, weight = random_weights(3, 6, 0.5), 10.0 ** np.array([60, -60, 0, 30, -30, 1])
    model = SpectralBisection(threshold, normalization=normalization, affinity="precomputed")
    model.fit(W, sample_weight=weight)
    assert np.isfinite(model.threshold_)
    assert np.isfinite(model.fiedler_vector_).all()


@pytest.mark.parametrize("solver", ["dense", "lu", "lanczos"])
def test_no_eigenvalue_exceeds_a_ratio_cut(solver):
    path = graph_from_edges([[0, 1], [1, 2]], [1.0, 1e300])
    model = SpectralBisection("gap", affinity="precomputed", solver=solver).fit(path)
    assert 0 <= model.eigenvalue_ <= model.ratio_cut_


@pytest.mark.parametrize("solver", ["auto", "lu", "cg"])
@pytest.mark.parametrize("spread", [10, 20, 300])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_mistakes_are_within_their_bound_however_weights_differ(solver, spread):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 12))
        edges = np.array([[i, i + 1] for i in range(n - 1)] + [[0, 2], [1, 3]])
        graph = graph_from_edges(edges, 10.0 ** rng.uniform(-spread, spread, len(edges)))
        y = np.append([0, 1], rng.integers(0, 2, n - 2))
        vertices = rng.permutation(n)
        model = GraphOnlinePredictor(graph, solver=solver).fit(vertices[:, None], y[vertices])
        assert model.n_mistakes_ <= model.bound_ * (1 + 1e-9)


# ---------------------------------------------------------------- samples


@pytest.mark.parametrize(("offset", "size"), [(1e3, 1e-9), (1e8, 1e-6)])
def test_samples_far_from_zero_have_the_graph_of_their_differences(offset, size):
    rng = np.random.default_rng(0)
    X = offset + size * rng.normal(size=(60, 20))
    near = X - X[30]  # as exact as X
    for make in (knn_graph, mst_graph, lambda X: ball_graph(X, 6 * size), complete_graph):
        np.testing.assert_allclose(make(X).toarray(), make(near).toarray(), rtol=1e-6)
    y = np.where(np.arange(60) < 9, np.arange(60) % 3, -1)
    model = LaplacianInterpolationClassifier(n_neighbors=4).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), model.label_distributions_)


@pytest.mark.parametrize("metric", ["cosine", "manhattan"])
def test_samples_at_no_distance_are_still_told_apart(metric):
    X = np.outer([1, 2, 3, 4, 5, 6.0], [1, 1]) if metric == "cosine" else np.ones((6, 2))
    X = np.vstack([X, [[1, -1], [-1, 1]]])
    y = [0, 1, -1, 0, 1, 0, 1, 0]
    affinity = GraphBuilder(n_neighbors=3, metric=metric)
    model = LaplacianInterpolationClassifier(affinity=affinity, unlabelled=-1).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), model.label_distributions_)


@pytest.mark.parametrize("method", ["knn", "ball", "shortest_path_tree", "complete"])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_matrix])
def test_new_samples_may_be_sparse_where_known_ones_are_dense_and_the_reverse(method, make):
    X = np.random.default_rng(0).normal(size=(30, 3))
    X_new = np.vstack([X[:3], X[3:6] + 0.1])
    builder = GraphBuilder(method, n_neighbors=4, radius=1.0)
    expected = builder.fit(X).transform(X_new).toarray()
    np.testing.assert_allclose(builder.transform(make(X_new)).toarray(), expected, **ALGEBRA)
    builder.fit(make(X))
    for new in (X_new, make(X_new)):
        np.testing.assert_allclose(builder.transform(new).toarray(), expected, **ALGEBRA)


def test_equally_far_samples_do_not_depend_on_the_other_queries():
    builder = GraphBuilder("mst", metric="manhattan").fit([[0.0, 2], [0, 1], [1, 1]])
    queries = np.array([[-70.0, 28], [88, 131], [-132, -344], [174, 280], [-6, -97]])
    together = builder.transform(queries).toarray()
    alone = np.vstack([builder.transform(query[None]).toarray() for query in queries])
    np.testing.assert_array_equal(together, alone)


def test_the_scale_of_a_query_does_not_depend_on_the_other_queries():
    X = np.vstack([np.outer([1.0, 2, 3], [1, 1]), np.eye(2)])
    builder = GraphBuilder(n_neighbors=2, metric="cosine").fit(X)
    queries = np.array([[7.0, 7.0], [1.0, 3.0]])
    together = builder.transform(queries).toarray()
    np.testing.assert_array_equal(builder.transform(queries[:1]).toarray(), together[:1])


def test_distances_that_vanish_are_refused():
    with pytest.raises(ValueError, match="underflow"):
        knn_graph(1e-200 * np.arange(6.0).reshape(3, 2))
    assert knn_graph(np.zeros((3, 2)), weight="binary").nnz == 6


def test_samples_that_would_be_clipped_to_one_are_refused():
    X, y = np.array([[1.5e150], [1.2e150]]), [0, 1]
    with pytest.raises(ValueError, match="overflow"):
        EigenfunctionClassifier().fit(X, y)
    model = EigenfunctionClassifier().fit(X / 2, y)
    assert np.isfinite(model.predict_proba(4 * X)).all()


def test_samples_of_single_precision_are_compared_in_double_precision():
    X, y = np.array([[1.0], [2.0], [4.0]], dtype=np.float32), [0, 1, 1]
    single = EigenfunctionClassifier().fit(X, y).label_distributions_
    double = EigenfunctionClassifier().fit(X.astype(np.float64), y).label_distributions_
    np.testing.assert_array_equal(single, double)


def test_deviations_whose_squares_vanish_are_none():
    X, y = np.array([[1e-158], [2e-158], [4e-158]]), [0, 1, 1]
    model = EigenfunctionClassifier().fit(X, y)
    assert np.isfinite(model.gamma_)
    np.testing.assert_allclose(model.label_distributions_, [[1 / 3, 2 / 3]] * 3, **ALGEBRA)


def test_keys_of_rows_differ_where_rows_do():
    X = np.indices((40, 40, 3)).reshape(3, -1).T.astype(float)
    assert len(np.unique(row_hashes(X))) == len(X)
    np.testing.assert_array_equal(row_hashes(sp.csr_array(X)), row_hashes(X))
    np.testing.assert_array_equal(row_hashes(-0.0 * X), row_hashes(0.0 * X))


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize("edges", [[["a", "b"]], [[True, False]], [[0.5, 1]], [[0, 1, 2]]])
def test_edges_that_are_no_pairs_of_numbers_are_refused(edges):
    with pytest.raises(ValueError, match="edges must be an integer array"):
        graph_from_edges(edges)


@pytest.mark.parametrize("n_vertices", [2.5, "3", [3]])
def test_number_of_vertices_is_a_whole_number(n_vertices):
    with pytest.raises(ValueError, match="n_vertices must be an integer"):
        graph_from_edges([[0, 1]], n_vertices=n_vertices)


@pytest.mark.parametrize("method", ["knn", "mst", "shortest_path_tree", "complete"])
@pytest.mark.parametrize("value", [np.inf, NAN])
def test_metrics_without_a_distance_are_refused(method, value):
    X = np.random.default_rng(0).normal(size=(12, 3))
    with pytest.raises(ValueError, match="distances"):
        GraphBuilder(method, n_neighbors=3, metric=lambda a, b: value).fit(X)
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="distances"):
        GraphBuilder(method, n_neighbors=3, metric="sqeuclidean").fit(1e200 * X)


def test_degrees_that_overflow_are_refused():
    triangle = 1e308 * (np.ones((3, 3)) - np.eye(3))
    with pytest.raises(ValueError, match="overflow"):
        as_graph(triangle)
    pair = np.array([[0, 1.5e308], [1.5e308, 0]])
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="infinity"):
        combine_graphs(pair, pair, rule="sum")


@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
def test_normalised_laplacians_of_the_smallest_weights(normalization):
    pair = [[0, 1e-310], [1e-310, 0]]
    expected = [[1, -1], [-1, 1]]
    np.testing.assert_allclose(laplacian(pair, normalization).toarray(), expected, **ALGEBRA)


@pytest.mark.parametrize("params", [{"n_neighbors": 0}, {"weight": "none"}, {"scale": -1.0}])
def test_parameters_of_the_graph_are_validated_wherever_they_come_from(params):
    X, y = np.arange(8.0).reshape(4, 2), [0, 1, -1, -1]
    with pytest.raises(ValueError, match=f"'{next(iter(params))}' parameter of GraphBuilder"):
        LaplacianInterpolationClassifier(affinity=GraphBuilder(**params)).fit(X, y)
    grid = {name: [value] for name, value in params.items()}
    with pytest.raises(ValueError, match=f"'{next(iter(params))}' parameter of GraphBuilder"):
        LaplacianInterpolationClassifierCV(graph_grid=grid).fit(X, y)


def test_targets_whose_differences_overflow_are_refused():
    X, y = np.arange(5.0)[:, None], [1.7e308, 1.7e308, 1.7e308, -1.7e308, NAN]
    with pytest.raises(ValueError, match="overflow"):
        LaplacianInterpolationRegressor(n_neighbors=2).fit(X, y)


def test_methods_and_rules_that_are_no_names_are_refused():
    with pytest.raises(ValueError, match="method"):
        GraphBuilder(("knn", ["mst"])).fit([[0.0], [1.0]])
    with pytest.raises(ValueError, match="rule"):
        combine_graphs([[0, 1], [1, 0]], rule=["sum"])


@pytest.mark.parametrize("missing", [None, pd.NA])
def test_missing_labels_are_no_labels(missing):
    y = np.array([0, 1, missing], dtype=object)
    with pytest.raises(ValueError, match="missing labels"):
        LaplacianInterpolationClassifier().fit([[0.0], [1.0], [2.0]], y)


@pytest.mark.parametrize("model", [LabelPropagation(), LabelSpreading(), MinCutClassifier()])
def test_text_may_stand_beside_the_mark_of_no_label_but_not_beside_numbers(model):
    X = np.arange(4.0)[:, None]
    model.fit(X, np.array(["a", -1, "b", -1], dtype=object))
    np.testing.assert_array_equal(model.classes_, ["a", "b"])
    with pytest.raises(ValueError, match="of several types"):
        model.fit(X, np.array(["a", 1, "b", -1], dtype=object))


@pytest.mark.parametrize("params", [{"tol": 0}, {"tol": "a"}, {"max_iter": 0}, {"max_iter": 1.5}])
def test_budgets_of_p_resistances_are_validated(params):
    with pytest.raises(ValueError, match=next(iter(params))):
        p_resistance([[0, 1], [1, 0]], 3, [[0, 1]], **params)


def test_weights_that_differ_too_much_are_not_sketched():
    W = graph_from_edges([[0, 1], [1, 2], [2, 0]], [1.0, 1e-13, 1e-20])
    with pytest.raises(ValueError, match="exact"):
        effective_resistance(W, [[0, 2]], method="sketch")
    expected = 1 / (1e-20 + 1 / (1 + 1e13))
    for method in ("auto", "exact"):
        np.testing.assert_allclose(effective_resistance(W, [[0, 2]], method=method), expected)
