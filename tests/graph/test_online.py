"""Labels of vertices predicted one by one: the interpolant, the protocol, and the mistakes."""

import pickle

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT
from hypothesis import given
from hypothesis import strategies as st
from reference import graph_online as twin
from sklearn.base import clone
from sklearn.utils import get_tags

from sklearn_sl.datasets import adversarial_vertex_order, make_clique_chain, make_two_cliques
from sklearn_sl.graph import GraphBuilder, GraphOnlinePredictor, _online, graph_from_edges
from sklearn_sl.online import progressive_predict
from sklearn_sl.theory import clique_chain_bound, graph_cover_bound, harmonic_clique_values

SOLVERS = ["lu", "cg"]


def random_graph(rng, n, density=0.4):
    """Return a random graph with weights over some orders of magnitude, not always connected."""
    W = np.triu(rng.uniform(size=(n, n)) < density, k=1) * 10.0 ** rng.uniform(-1.5, 1.5, (n, n))
    return W + W.T


def path(n, weights=None):
    return graph_from_edges(np.stack([np.arange(n - 1), np.arange(1, n)], axis=1), weights)


def learn(graph, vertices, y, **params):
    """Return a learner that went through these trials."""
    return GraphOnlinePredictor(graph, **params).fit(np.reshape(vertices, (-1, 1)), y)


def answers(graph, vertices, y, solver="auto"):
    """Return the values before each trial, for two classes."""
    learner, said = GraphOnlinePredictor(graph, solver=solver), [0.0]
    X = np.reshape(vertices, (-1, 1))
    learner.partial_fit(X[:1], y[:1], classes=[-1, 1])
    for row in range(1, len(y)):
        said.append(learner.decision_function(X[row : row + 1])[0])
        learner.partial_fit(X[row : row + 1], y[row : row + 1])
    return np.array(said)


class Heard:
    """Keeps the answers that a learner gives within ``fit`` and ``partial_fit``."""

    def __init__(self, monkeypatch):
        self.values, account = [], GraphOnlinePredictor._account

        def listen(learner, answers, codes):
            self.values.append(answers)
            account(learner, answers, codes)

        monkeypatch.setattr(GraphOnlinePredictor, "_account", listen)

    def take(self):
        values, self.values = np.concatenate(self.values), []
        return values


# ---------------------------------------------------------------- the interpolant


@pytest.mark.parametrize("block", [1, 3, 96])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(8))
def test_answers_are_those_of_a_dense_system_solved_from_scratch(seed, solver, block, monkeypatch):
    monkeypatch.setattr(_online, "BLOCK", block)
    heard, rng = Heard(monkeypatch), np.random.default_rng(seed)
    W = random_graph(rng, 14, density=[0.12, 0.2, 0.5][seed % 3])
    # Vertices come again, with other labels too.
    vertices = rng.integers(0, 14, 40)
    y = np.append([-1, 1], rng.choice([-1, 1], 38))
    learner = learn(W, vertices, y, solver=solver)
    wanted = twin.trials(W, vertices, y)
    np.testing.assert_allclose(heard.take()[:, 0], wanted, **ALGEBRA)
    assert not learner.consistent_
    u = twin.interpolant(W, dict(zip(vertices.tolist(), y, strict=True)))
    said = learner.decision_function(np.arange(14)[:, None])
    np.testing.assert_allclose(said, u, **ALGEBRA)
    np.testing.assert_array_equal(said[vertices], u[vertices])


@pytest.mark.parametrize("solver", SOLVERS)
def test_answers_in_trials_are_those_of_decision_function_before(solver, rng, monkeypatch):
    monkeypatch.setattr(_online, "BLOCK", 5)
    heard, W = Heard(monkeypatch), random_graph(rng, 20, 0.3)
    vertices, y = rng.permutation(20), rng.choice([-1, 1], 20)
    said = answers(W, vertices, y, solver)
    np.testing.assert_allclose(heard.take()[:, 0], said, **ALGEBRA)


def test_several_classes_have_an_interpolant_each(rng, monkeypatch):
    heard, W = Heard(monkeypatch), random_graph(rng, 20, 0.3)
    vertices, y = rng.permutation(20), rng.integers(0, 3, 20)
    learner = learn(W, vertices, y)
    for k, values in enumerate(heard.take().T):
        wanted = twin.trials(W, vertices, np.where(y == k, 1, -1))
        np.testing.assert_allclose(values, wanted, **ALGEBRA)
    assert learner.bound_ is None
    np.testing.assert_array_equal(learner.predict(vertices[:, None]), y)


def test_path_between_two_labels_has_equal_steps():
    """The probabilities 0, 0.2, ..., 1 of the notes, from -1 to 1."""
    learner = learn(path(6), [0, 5], [-1, 1])
    said = learner.decision_function(np.arange(6)[:, None])
    np.testing.assert_allclose((said + 1) / 2, [0, 0.2, 0.4, 0.6, 0.8, 1], **EXACT)


@pytest.mark.parametrize("m", [3, 5, 20])
def test_two_labels_are_enough_for_two_cliques(m):
    graph, clique = make_two_cliques(m)
    learner = learn(graph, [0, 2 * m - 1], [-1, 1])
    values = harmonic_clique_values(m)
    wanted = np.full(m, values.ordinary)
    wanted[0], wanted[-1] = values.bridge, 1.0
    said = learner.decision_function(np.arange(2 * m)[:, None])
    np.testing.assert_allclose(said, np.concatenate([-wanted[::-1], wanted]), **ALGEBRA)
    np.testing.assert_array_equal(learner.predict(np.arange(2 * m)[:, None]), 2 * clique - 1)


def test_interpolant_does_not_depend_on_the_order_of_the_trials(rng, monkeypatch):
    monkeypatch.setattr(_online, "BLOCK", 4)
    W, labelled = random_graph(rng, 30, 0.2), rng.permutation(30)[:14]
    y = rng.choice([-1, 1], 14)
    said = []
    for order in (np.arange(14), rng.permutation(14)):
        learner = learn(W, labelled[order], y[order])
        said.append(learner.decision_function(np.arange(30)[:, None]))
    np.testing.assert_allclose(*said, **ALGEBRA)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
def test_only_ratios_of_weights_matter(scale, solver, rng):
    W, vertices = random_graph(rng, 15), rng.permutation(15)[:8]
    y = np.array([-1, 1] * 4)
    plain, scaled = (learn(graph, vertices, y, solver=solver) for graph in (W, scale * W))
    X = np.arange(15)[:, None]
    np.testing.assert_allclose(
        plain.decision_function(X), scaled.decision_function(X), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(plain.bound_, scaled.bound_, rtol=1e-9)


@pytest.mark.parametrize("weak", [1e-9, 1e-14, 1e-20, 1e-100, 1e-300, 1e-315])
@pytest.mark.parametrize("solver", SOLVERS)
def test_weights_that_differ_by_any_factor_never_give_a_nan(weak, solver):
    """Two strong triangles and a weak edge: known signs, however weak it is."""
    edges = [[0, 1], [1, 2], [0, 2], [2, 3], [3, 4], [4, 5], [3, 5]]
    graph = graph_from_edges(edges, np.array([1, 1, 1, weak, 1, 1, 1]) * min(1 / weak, 1e300))
    learner = learn(graph, [0, 5, 1, 4], [-1, 1, -1, 1], solver=solver)
    said = learner.decision_function(np.arange(6)[:, None])
    # Conjugate gradients lose digits where a factor does not.
    atol = 1e-6 if solver == "lu" or weak > 1e-12 else 0.1
    np.testing.assert_allclose(said, [-1, -1, -1, 1, 1, 1], atol=atol)
    assert learner.n_mistakes_ == 2 <= learner.bound_


# ---------------------------------------------------------------- the protocol


def test_first_trial_of_each_component_is_a_mistake(rng):
    W = sp.block_diag([path(4), path(3), sp.csr_array((1, 1)), path(5)])
    y = np.repeat([1, -1, 1, -1], [4, 3, 1, 5])
    for _ in range(5):
        vertices = rng.permutation(13)
        learner = learn(W, vertices, y[vertices], keep_losses=True)
        component = np.repeat(np.arange(4), [4, 3, 1, 5])[vertices]
        first = np.unique(component, return_index=True)[1]
        np.testing.assert_array_equal(np.flatnonzero(learner.loss_curve_), np.sort(first))
        assert learner.bound_ == learner.n_mistakes_ == learner.cumulative_loss_ == 4


def test_component_without_a_label_has_the_score_zero():
    learner = learn(sp.block_diag([path(3), path(2)]), [0, 2], ["a", "b"])
    said = learner.decision_function([[1], [3], [4]])
    np.testing.assert_allclose(said, [0, 0, 0], **EXACT)
    np.testing.assert_array_equal(learner.predict([[0], [3]]), ["a", "a"])


def test_last_label_of_a_vertex_counts():
    trials, labels = [0, 4, 4, 4, 0], [-1, -1, 1, 1, 1]
    learner = learn(path(5), trials, labels, keep_losses=True)
    np.testing.assert_array_equal(learner.loss_curve_, [1, 0, 1, 0, 1])
    np.testing.assert_allclose(learner.decision_function([[0], [2], [4]]), [1, 1, 1], **EXACT)
    assert not learner.consistent_
    assert learner.bound_ is None
    with pytest.raises(ValueError, match="same label of a vertex in all trials"):
        learner.mistake_bound()


def state(learner, n):
    return [
        learner.n_trials_,
        learner.n_mistakes_,
        learner.cumulative_loss_,
        learner.decision_function(np.arange(n)[:, None]).tobytes(),
        learner.loss_curve_.tobytes(),
    ]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_blocks_are_one_pass_to_the_last_bit(solver, n_classes, rng, monkeypatch):
    monkeypatch.setattr(_online, "BLOCK", 12)
    n = 60
    W, vertices = random_graph(rng, n, 0.05), rng.integers(0, n, 80)
    X, y = vertices[:, None], rng.integers(0, n_classes, 80)
    model = GraphOnlinePredictor(W, solver=solver, keep_losses=True)
    whole = state(clone(model).fit(X, y), n)
    for cuts in ([], [1], [40], np.unique(rng.integers(1, 79, 6)), np.arange(1, 80)):
        blocks, classes = clone(model), np.arange(n_classes)
        for part in np.split(np.arange(80), cuts):
            blocks.partial_fit(X[part], y[part], classes=classes)
            blocks = pickle.loads(pickle.dumps(blocks))
        assert state(blocks, n) == whole


def test_failed_block_leaves_the_old_state(rng):
    W = random_graph(rng, 20, 0.3)
    X, y = np.arange(20)[:, None], rng.choice(["a", "b"], 20)
    learner = GraphOnlinePredictor(W, keep_losses=True)
    learner.partial_fit(X[:9], y[:9], classes=["a", "b"])
    before, copy = state(learner, 20), pickle.loads(pickle.dumps(learner))
    for samples, labels in [
        ([[9], [20]], ["a", "b"]),
        ([[9], [1.5]], ["a", "b"]),
        ([[9], [-1]], ["a", "b"]),
        ([[9], [np.nan]], ["a", "b"]),
        ([[9], [10]], ["a", "c"]),
        ([[9, 10]], ["a"]),
    ]:
        with pytest.raises(ValueError):
            learner.partial_fit(samples, labels)
        assert state(learner, 20) == before
    after = [model.partial_fit(X[9:], y[9:]) for model in (learner, copy)]
    assert state(after[0], 20) == state(after[1], 20)


def test_interrupt_leaves_the_old_state(rng, monkeypatch):
    W = random_graph(rng, 30, 0.3)
    X, y = np.arange(30)[:, None], np.array([0, 1] * 15)
    learner = GraphOnlinePredictor(W, keep_losses=True).partial_fit(X[:9], y[:9], classes=[0, 1])
    before, trial, n_trials = state(learner, 30), _online.Component.trial, 0

    def interrupted(self, *args):
        nonlocal n_trials
        n_trials += 1
        if n_trials == 12:
            raise KeyboardInterrupt
        return trial(self, *args)

    monkeypatch.setattr(_online.Component, "trial", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learner.partial_fit(X, y)
    assert state(learner, 30) == before


def test_other_parameters_need_another_beginning(rng):
    learner = GraphOnlinePredictor(path(4)).partial_fit([[0]], [0], classes=[0, 1])
    with pytest.raises(ValueError, match="solver changed"):
        clone(learner).partial_fit([[0]], [0], classes=[0, 1]).set_params(solver="cg").predict(
            [[1]]
        )
    with pytest.raises(ValueError, match="call fit"):
        learner.set_params(graph=path(5)).partial_fit([[4]], [0])


def test_progressive_predictions_are_the_signs_before_each_label(rng):
    W, vertices = random_graph(rng, 20, 0.4), rng.permutation(20)
    y = rng.choice([-1, 1], 20)
    said = progressive_predict(GraphOnlinePredictor(W), vertices[:, None], y)
    np.testing.assert_array_equal(said, np.where(twin.trials(W, vertices, y) > 1e-12, 1, -1))


def test_graphs_are_read_in_every_form(rng):
    W = random_graph(rng, 12, 0.5)
    vertices, y = rng.permutation(12), rng.choice([-1, 1], 12)
    wanted = state(learn(W, vertices, y, keep_losses=True), 12)
    frame = nx.from_numpy_array(W)
    for graph in (sp.csr_array(W), sp.coo_matrix(W), W.tolist(), frame):
        assert state(learn(graph, vertices, y, keep_losses=True), 12) == wanted


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ([[0, 1], [2, 0]], "directed"),
        ([[0, -1], [-1, 0]], "[Nn]egative"),
        ([[0, 1, 0], [1, 0, 0]], "square"),
        (nx.DiGraph([(0, 1)]), "directed"),
    ],
)
def test_what_is_no_graph_is_an_error(graph, message):
    with pytest.raises(ValueError, match=message):
        GraphOnlinePredictor(graph).fit([[0], [1]], [0, 1])


# ---------------------------------------------------------------- a graph of samples


def test_without_a_graph_the_rows_are_its_vertices(rng):
    X = rng.normal(size=(40, 3))
    X = X[rng.integers(0, 40, 60)]  # some rows come again
    y = (X[:, 0] > 0).astype(int)
    builder = GraphBuilder(n_neighbors=4, weight="binary")
    learner = GraphOnlinePredictor(builder).fit(X, y)
    given = learn(learner.graph_, learner.vertex_, y)
    assert learner.n_mistakes_ == given.n_mistakes_
    assert learner.bound_ == given.bound_
    assert learner.graph_.shape[0] == len(np.unique(X, axis=0))
    np.testing.assert_array_equal(learner.predict(X), y)
    assert not hasattr(learner, "partial_fit")
    assert get_tags(learner).input_tags.sparse
    assert not get_tags(GraphOnlinePredictor(np.ones((2, 2)))).input_tags.sparse


def test_new_samples_have_the_mean_of_their_neighbours():
    X, y = [[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]
    learner = GraphOnlinePredictor(GraphBuilder(n_neighbors=2, weight="binary")).fit(X, y)
    np.testing.assert_allclose(learner.decision_function([[-1.0], [2.4], [2.6]]), [-1, 0, 0])


# ---------------------------------------------------------------- the theorem


@st.composite
def labelled_graphs(draw, most=12):
    """Return a graph and labels of its vertices."""
    n = draw(st.integers(2, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    W = random_graph(rng, n, draw(st.sampled_from([0.1, 0.3, 0.6, 1.0])))
    y = rng.choice([-1, 1], n)
    y[rng.integers(n)] *= -1 if abs(y.sum()) == n else 1
    return W, y, rng


@given(labelled_graphs())
def test_mistakes_never_exceed_the_bound_in_any_order(problem):
    W, y, rng = problem
    orders = [rng.permutation(len(y)) for _ in range(3)] + [adversarial_vertex_order(W, y)]
    bounds = []
    for order in orders:
        learner = learn(W, order, y[order])
        assert learner.n_mistakes_ <= learner.bound_ + 1e-9
        bounds.append(learner.bound_)
    np.testing.assert_allclose(bounds, bounds[0], **ALGEBRA)


@given(labelled_graphs())
def test_mistakes_never_exceed_the_bound_for_some_of_the_vertices(problem):
    W, y, rng = problem
    asked = rng.permutation(len(y))[: rng.integers(2, len(y) + 1)]
    learner = GraphOnlinePredictor(W).partial_fit(asked[:, None], y[asked], classes=[-1, 1])
    assert learner.bound_ is None
    assert learner.n_mistakes_ <= learner.mistake_bound() + 1e-9
    u = twin.interpolant(W, dict(zip(asked.tolist(), y[asked], strict=True)))
    assert twin.energy(W, u) <= twin.energy(W, y) + 1e-9


@given(labelled_graphs(most=6))
def test_bound_is_that_of_some_cover_and_no_less_than_that_of_the_best(problem):
    W, y, _ = problem
    learner = learn(W, np.arange(len(y)), y)
    R, energy = twin.resistances(W), twin.energy(W, y)
    best = twin.least_cover_bound(R, energy)
    assert best - 1e-7 <= learner.bound_ <= len(y)
    # One set for each component is a cover too.
    component = np.unique(np.isfinite(R), axis=0)
    rho = np.where(np.isfinite(R), R, 0.0).max()
    assert learner.bound_ <= len(component) + rho * energy + 1e-7


@pytest.mark.parametrize(
    ("n_cliques", "size", "n_bridges"), [(2, 10, 1), (4, 10, 3), (4, 20, 6), (6, 8, 8), (3, 5, 10)]
)
def test_chains_of_cliques_cost_about_one_mistake_each(n_cliques, size, n_bridges, rng):
    graph, clique = make_clique_chain(n_cliques, size, n_bridges)
    y = np.where(clique % 2, 1, -1)
    orders = [rng.permutation(len(y)) for _ in range(10)] + [adversarial_vertex_order(graph, y)]
    bound, n_mistakes = clique_chain_bound(n_cliques, size, n_bridges), []
    for order in orders:
        learner = learn(graph, order, y[order])
        assert learner.n_mistakes_ <= learner.bound_ <= bound + 1e-9
        n_mistakes.append(learner.n_mistakes_)
    # A lucky order needs less than one for each clique; that of the adversary does not.
    assert n_mistakes[-1] >= n_cliques


def test_bound_of_two_large_cliques_is_met():
    graph, clique = make_clique_chain(2, 30)
    y = np.where(clique, 1, -1)
    order = adversarial_vertex_order(graph, y)
    learner = learn(graph, order, y[order])
    assert learner.n_mistakes_ == int(learner.bound_) == 2


def test_bound_follows_from_the_cover_theorem_with_one_set(rng):
    W = nx.to_numpy_array(nx.random_regular_graph(4, 24, seed=1))
    y = np.where(np.arange(24) < 12, -1, 1)
    learner = learn(W, rng.permutation(24), y)
    assert learner.bound_ <= graph_cover_bound(1, twin.resistances(W).max(), twin.energy(W, y))


# ---------------------------------------------------------------- cost


def test_long_path_and_wide_grid_take_no_matrix_of_all_vertices(rng):
    n = 50_000
    y = np.where(np.arange(n) < n / 3, -1, 1)
    vertices = rng.permutation(n)[:150]
    learner = learn(path(n), vertices, y[vertices])
    assert learner.n_mistakes_ < 20
    grid = nx.to_scipy_sparse_array(nx.grid_2d_graph(60, 60), format="csr", dtype=float)
    vertices = rng.permutation(3600)[:40]
    y = np.where(np.arange(3600) < 1500, -1, 1)[vertices]
    iterated, factored = (learn(grid, vertices, y, solver=solver) for solver in ("cg", "auto"))
    assert factored._interpolant.parts[0].solver == "lu"
    X = np.arange(3600)[:, None]
    np.testing.assert_allclose(
        iterated.decision_function(X), factored.decision_function(X), **ALGEBRA
    )


@pytest.mark.parametrize("solver", ["lu", "cg"])
def test_ties_are_mistakes_whatever_the_order_of_the_vertices(rng, solver):
    # Chains whose weights are the same from both ends: the middle is exactly between them.
    for _ in range(10):
        half = rng.integers(2, 7)
        weights = rng.uniform(0.1, 10, half)
        chain = np.concatenate([weights, weights[::-1]])
        n = len(chain) + 1
        names = rng.permutation(n)
        W = graph_from_edges(np.column_stack([names[:-1], names[1:]]), chain)
        learner = GraphOnlinePredictor(graph=W, solver=solver, keep_losses=True)
        asked = [[names[0]], [names[-1]], [names[half]]]
        for last in (-1, 1):  # whichever it is, the answer was none
            learner.fit(asked, [-1, 1, last])
            assert learner.loss_curve_[2] == 1
        other = GraphOnlinePredictor(graph=W, solver=solver).partial_fit(
            asked[:2], [-1, 1], classes=[-1, 1]
        )
        assert other.decision_function([[names[half]]]) == 0
