"""Laplacian interpolation: harmonic values, their certificates, walks, weights and odd graphs."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT
from hypothesis import given
from hypothesis import strategies as st
from reference import harmonic as twin
from sklearn.datasets import load_digits, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from sklearn_sl.graph import (
    GraphBuilder,
    LaplacianInterpolationClassifier,
    LaplacianInterpolationRegressor,
    graph_from_edges,
    knn_graph,
)
from sklearn_sl.graph._harmonic import GroundedSystem

NAN = np.nan
SOLVERS = ["lu", "cg", "consensus"]
Classifier, Regressor = LaplacianInterpolationClassifier, LaplacianInterpolationRegressor


def random_graph(seed, n=12, density=0.4):
    """Return the weights of a connected random graph."""
    rng = np.random.default_rng(seed)
    W = np.triu(rng.exponential(size=(n, n)) * (rng.random((n, n)) < density), 1)
    order = rng.permutation(n)
    W[order[:-1], order[1:]] += 0.1 + rng.random(n - 1)
    return np.triu(W + W.T, 1) + np.triu(W + W.T, 1).T


def some_targets(seed, n, n_known):
    """Return targets of which only some are known."""
    rng = np.random.default_rng(seed)
    y = np.full(n, NAN)
    y[rng.choice(n, n_known, replace=False)] = rng.normal(size=n_known)
    return y


def given_graph(Estimator, W, y, *, sample_weight=None, **params):
    params = {"tol": 1e-12, "random_state": 0, **params}
    return Estimator(affinity="precomputed", **params).fit(W, y, sample_weight=sample_weight)


# ---------------------------------------------------------------- golden examples


def test_path_of_six_vertices_is_a_straight_line():
    path = graph_from_edges([[i, i + 1] for i in range(5)])
    y = [0, NAN, NAN, NAN, NAN, 1]
    np.testing.assert_allclose(
        given_graph(Regressor, path, y).transduction_, [0, 0.2, 0.4, 0.6, 0.8, 1], **ALGEBRA
    )


def test_spielmans_graph_has_the_known_voltages():
    W = graph_from_edges([[0, 1], [0, 4], [1, 2], [1, 3], [2, 3], [3, 4]], [1, 1, 1, 1, 1, 2])
    found = given_graph(Regressor, W, [1, NAN, -1, NAN, NAN]).transduction_
    np.testing.assert_allclose(found, [1, -0.0476, -1, -0.1429, 0.2381], atol=5e-5)


@pytest.mark.parametrize("m", [3, 5, 20, 300])
def test_two_cliques_with_a_bridge_have_the_known_values(m):
    clique = np.ones((m, m)) - np.eye(m)
    W = np.kron(np.eye(2), clique)
    W[m - 1, m] = W[m, m - 1] = 1
    y = np.full(2 * m, NAN)
    y[0], y[-1] = -1, 1
    found = given_graph(Regressor, W, y).transduction_
    left = np.r_[-1, np.full(m - 2, -(m + 2) / (m + 4)), -m / (m + 4)]
    np.testing.assert_allclose(found, np.r_[left, -left[::-1]], **ALGEBRA)


def test_label_follows_its_cluster_where_the_clique_is_a_good_conductor():
    # A vertex at resistance a from a clique labelled 1, and at b of one labelled -1.
    m, a, b = 9, 1.0, 3.0
    W = np.kron(np.eye(2), np.ones((m, m)) - np.eye(m))
    W = np.pad(W, ((0, 1), (0, 1)))
    W[-1, 0] = W[0, -1] = 1 / a
    W[-1, m] = W[m, -1] = 1 / b
    y = np.full(2 * m + 1, -1)
    y[m - 1], y[2 * m - 1] = 1, 0
    assert 2 * b / m < a
    assert given_graph(Classifier, W, y).transduction_[-1] == 1


# ---------------------------------------------------------------- the system


@given(st.integers(0, 10_000), st.sampled_from(SOLVERS))
def test_harmonic_values_solve_the_dense_system(seed, name):
    W, y = random_graph(seed), some_targets(seed, 12, 4)
    model = given_graph(Regressor, W, y, solver=name, max_iter=100_000)
    expected = twin.harmonic(W, y, ~np.isnan(y))
    np.testing.assert_allclose(model.transduction_, expected, rtol=1e-6, atol=1e-8)
    assert np.abs(model.transduction_ - expected).max() <= model.error_bound_


@given(st.integers(0, 10_000), st.sampled_from(SOLVERS), st.sampled_from([1e-3, 0.1, 1.0, 50.0]))
def test_soft_labels_solve_the_dense_system(seed, name, alpha):
    W, y = random_graph(seed), some_targets(seed, 12, 5)
    model = given_graph(Regressor, W, y, alpha=alpha, solver=name, max_iter=100_000)
    known = ~np.isnan(y)
    expected = twin.tikhonov(W, np.nan_to_num(y)[:, None], known.astype(float), alpha)[:, 0]
    np.testing.assert_allclose(model.transduction_, expected, rtol=1e-6, atol=1e-8)
    assert np.abs(model.transduction_ - expected).max() <= model.error_bound_


def test_soft_labels_tend_to_hard_ones():
    W, y = random_graph(0), some_targets(0, 12, 4)
    hard = given_graph(Regressor, W, y).transduction_
    gaps = [
        np.abs(given_graph(Regressor, W, y, alpha=alpha).transduction_ - hard).max()
        for alpha in (1e-2, 1e-4, 1e-6)
    ]
    assert gaps[0] > 50 * gaps[1] > 2500 * gaps[2] > 0


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_classes_are_indicators_solved_at_once(alpha):
    W, rng = random_graph(1, n=30), np.random.default_rng(0)
    y = np.where(rng.random(30) < 0.4, rng.integers(0, 4, 30), -1)
    model = given_graph(Classifier, W, y, alpha=alpha, solver="cg")
    for code, label in enumerate(model.classes_):
        target = np.where(y >= 0, (y == label).astype(float), NAN)
        alone = given_graph(Regressor, W, target, alpha=alpha, solver="cg").transduction_
        np.testing.assert_allclose(model.label_distributions_[:, code], alone, atol=1e-9)
    np.testing.assert_array_equal(
        model.transduction_, model.classes_[model.label_distributions_.argmax(axis=1)]
    )


def test_several_targets_are_solved_at_once():
    W = random_graph(2)
    Y = np.column_stack([some_targets(3, 12, 4), 1e8 + some_targets(3, 12, 4) ** 2])
    together = given_graph(Regressor, W, Y).transduction_
    for column in range(2):
        alone = given_graph(Regressor, W, Y[:, column]).transduction_
        np.testing.assert_allclose(together[:, column], alone, **ALGEBRA)


@given(st.integers(0, 10_000), st.integers(1, 20))
def test_conjugate_gradients_take_any_number_of_sides(seed, n_sides):
    W, rng = sp.csr_array(random_graph(seed, n=25)), np.random.default_rng(seed)
    system = GroundedSystem(W, rng.exponential(size=25))
    b = rng.normal(size=(25, n_sides))
    A = np.diag(system.a) - W.toarray()
    found = system.solve(b, solver="cg", tol=1e-12)
    np.testing.assert_allclose(found.x, np.linalg.solve(A, b), **ALGEBRA)
    times = np.linalg.solve(A, system.a)
    assert np.all(found.hitting_time >= times * (1 - 1e-12))
    np.testing.assert_allclose(found.hitting_time, times, rtol=0.1)


def test_multigrid_agrees():
    pytest.importorskip("pyamg")
    X, y = make_moons(3000, noise=0.1, random_state=0)
    few = np.where(np.arange(3000) < 20, y, -1)
    first = Classifier(solver="amg", tol=1e-10).fit(X, few)
    second = Classifier(solver="lu").fit(X, few)
    np.testing.assert_allclose(first.label_distributions_, second.label_distributions_, atol=1e-7)


def test_multigrid_asks_for_its_package(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyamg", None)
    with pytest.raises(ValueError, match="pyamg"):
        given_graph(Classifier, random_graph(0), np.r_[0, 1, np.full(10, -1)], solver="amg")


def test_small_systems_are_factorised_and_large_ones_iterated():
    X, y = make_moons(2000, noise=0.1, random_state=0)
    few = np.where(np.arange(2000) < 20, y, -1)
    assert Classifier().fit(X[:300], few[:300]).solver_ == "lu"
    large = Classifier().fit(X, few)
    exact = Classifier(solver="lu").fit(X, few)
    difference = np.abs(large.label_distributions_ - exact.label_distributions_).max()
    assert difference <= large.error_bound_ < 1e-2
    assert large.residual_ < 1e-5


# ---------------------------------------------------------------- certificates


@given(st.integers(0, 10_000))
def test_energy_is_the_sum_over_the_edges_and_the_least_one(seed):
    W, y = random_graph(seed), some_targets(seed, 12, 4)
    model = given_graph(Regressor, W, y)

    def energy(u):
        return 0.5 * np.sum(W * (u[:, None] - u) ** 2)

    np.testing.assert_allclose(model.energy_, energy(model.transduction_), **ALGEBRA)
    rng = np.random.default_rng(seed)
    for size in (1e-3, 1.0):
        other = np.where(np.isnan(y), model.transduction_ + size * rng.normal(size=12), y)
        assert energy(other) >= model.energy_ * (1 - 1e-12)


def test_residual_is_the_largest_distance_from_the_mean_of_the_neighbours():
    W, y = random_graph(4, n=40), some_targets(4, 40, 3)
    model = given_graph(Regressor, W, y, solver="cg", tol=0.1)
    u, free = model.transduction_, np.isnan(y)
    violation = np.abs(u - W @ u / W.sum(axis=1))[free].max()
    np.testing.assert_allclose(model.residual_, violation, rtol=1e-6)
    exact = twin.harmonic(W, y, ~free)
    assert np.abs(u - exact).max() <= model.error_bound_


def test_budget_ends_with_a_warning_and_an_honest_bound():
    X, y = make_moons(3000, noise=0.1, random_state=0)
    few = np.where(np.arange(3000) < 4, y, -1)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = Classifier(max_iter=40, solver="cg").fit(X, few)
    assert model.n_iter_ == 40
    exact = Classifier(solver="lu").fit(X, few).label_distributions_
    assert np.abs(model.label_distributions_ - exact).max() <= model.error_bound_


def test_values_stay_between_the_labels():
    for seed in range(20):
        W, y = random_graph(seed, n=30), some_targets(seed, 30, 5)
        u = given_graph(Regressor, W, y, solver="cg", tol=1e-10).transduction_
        known = y[~np.isnan(y)]
        assert known.min() - 1e-9 <= u.min() <= u.max() <= known.max() + 1e-9


# ---------------------------------------------------------------- consensus


@given(st.integers(0, 10_000))
def test_energy_of_consensus_never_increases(seed):
    W, y = random_graph(seed), some_targets(seed, 12, 3)
    model = given_graph(
        Regressor, W, y, solver="consensus", tol=1e-9, max_iter=50_000, random_state=seed
    )
    curve = model.energy_curve_
    assert len(curve) == model.n_iter_
    assert np.all(np.diff(curve) <= 1e-12 * curve[:-1])
    np.testing.assert_allclose(curve[-1], model.energy_, **ALGEBRA)


@given(st.integers(0, 10_000))
def test_step_of_consensus_takes_its_share_of_the_excess_energy_on_average(seed):
    # So the excess falls like exp(-sweeps / longest hitting time), on average over the choices.
    W, y = random_graph(seed), some_targets(seed, 12, 3)
    free = np.isnan(y)
    model = given_graph(Regressor, W, y)
    L = twin.dense_laplacian(W)
    u = np.where(free, np.random.default_rng(seed).normal(size=12), y)
    excess = u @ L @ u - model.energy_
    falls = [
        u @ L @ u - (v := twin.relax_once(W, y, ~free, u, [vertex])) @ L @ v
        for vertex in np.flatnonzero(free)
    ]
    share = 1 / (free.sum() * model.hitting_time_.max())
    assert np.mean(falls) >= share * excess * (1 - 1e-9)


def test_consensus_is_the_relaxation_of_random_vertices():
    W, y = random_graph(5), some_targets(5, 12, 3)
    with pytest.warns(ConvergenceWarning):
        model = given_graph(
            Regressor, W, y, solver="consensus", max_iter=3, random_state=7, tol=1e-15
        )
    rng, free = np.random.RandomState(7), np.flatnonzero(np.isnan(y))
    u = np.where(np.isnan(y), np.nanmean(y), y)
    for _ in range(3):
        order = free[rng.randint(len(free), size=len(free), dtype=np.int64)]
        u = twin.relax_once(W, y, ~np.isnan(y), u, order)
    np.testing.assert_allclose(model.transduction_, u, **ALGEBRA)


def test_consensus_does_not_end_because_the_wrong_vertices_were_chosen():
    path = graph_from_edges([[i, i + 1] for i in range(39)])
    y = np.full(40, NAN)
    y[[0, -2, -1]] = 1, 0, 0
    exact = given_graph(Regressor, path, y).transduction_
    for seed in range(12):
        model = given_graph(
            Regressor, path, y, solver="consensus", tol=1e-9, max_iter=50_000, random_state=seed
        )
        assert model.residual_ <= 1e-9
        np.testing.assert_allclose(model.transduction_, exact, atol=1e-6)


# ---------------------------------------------------------------- random walks


def test_distributions_are_absorption_probabilities_of_the_random_walk(rng):
    W = random_graph(6, n=8)
    y = np.array([0, 1, 2, -1, -1, -1, -1, -1])
    model = given_graph(Classifier, W, y)
    n_walks = 2000
    for start in (3, 6):
        walks = [twin.absorb(W, y >= 0, start, rng) for _ in range(n_walks)]
        share = np.bincount([y[end] for end, _ in walks], minlength=3) / n_walks
        p = model.label_distributions_[start]
        assert np.all(np.abs(share - p) <= 4 * np.sqrt(p * (1 - p) / n_walks) + 1e-9)
        steps = np.array([n_steps for _, n_steps in walks])
        error = 4 * steps.std() / np.sqrt(n_walks)
        assert abs(steps.mean() - model.hitting_time_[start]) <= error


def test_hitting_times_are_one_more_than_the_mean_over_the_neighbours():
    W, y = random_graph(7), some_targets(7, 12, 3)
    h, free = given_graph(Regressor, W, y).hitting_time_, np.isnan(y)
    np.testing.assert_array_equal(h[~free], 0)
    np.testing.assert_allclose(h[free], (1 + W @ h / W.sum(axis=1))[free], **ALGEBRA)


# ---------------------------------------------------------------- components


def two_components():
    """Return a graph of two triangles, only one of which has labels."""
    return graph_from_edges([[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]], n_vertices=7)


def test_components_without_a_label_get_the_prior_are_flagged_and_warned_of():
    y = [0, 1, -1, -1, -1, -1, 0]
    with pytest.warns(UserWarning, match=r"1 connected component.* 3 of 7"):
        model = given_graph(Classifier, two_components(), y)
    np.testing.assert_array_equal(model.component_without_label_, [0, 0, 0, 1, 1, 1, 0])
    np.testing.assert_allclose(model.prior_, [2 / 3, 1 / 3], **EXACT)
    np.testing.assert_allclose(model.label_distributions_[3:6], [model.prior_] * 3, **EXACT)
    np.testing.assert_array_equal(np.isinf(model.hitting_time_), model.component_without_label_)
    assert np.isfinite(model.label_distributions_).all()


def test_regression_gives_the_mean_to_components_without_a_target():
    with pytest.warns(UserWarning, match="no label"):
        model = given_graph(Regressor, two_components(), [0, 4, NAN, NAN, NAN, NAN, 8])
    assert model.mean_ == 4
    np.testing.assert_allclose(model.transduction_[3:6], 4, **EXACT)


def test_graph_without_edges_keeps_its_labels():
    model = given_graph(Classifier, sp.csr_array((3, 3)), ["a", "b", "b"])
    assert list(model.transduction_) == ["a", "b", "b"]
    np.testing.assert_allclose(model.predict_proba(sp.csr_array((1, 3))), [[1 / 3, 2 / 3]])


def hanging_clique(thread):
    """Return an unlabelled clique that hangs on a thread between the labels 0 and 1."""
    W = np.kron(np.eye(2), np.ones((5, 5)) - np.eye(5))
    W[4, 5] = W[5, 4] = thread
    return W, np.array([0, 1, *[-1] * 8])


@pytest.mark.parametrize("thread", [1e-3, 1e-18, 1e-100, 1e-300])
def test_factor_sees_through_the_thinnest_tie(thread):
    W, y = hanging_clique(thread)
    model = given_graph(Classifier, W, y, solver="lu")
    # Wherever walks from the clique end, they come by vertex 4.
    np.testing.assert_allclose(
        model.label_distributions_[5:], [model.label_distributions_[4]] * 5, **ALGEBRA
    )


def test_iterations_leave_what_hardly_hangs_on_a_label_at_the_prior():
    W, y = hanging_clique(1e-18)
    y[2] = 1
    with pytest.warns(ConvergenceWarning):
        model = given_graph(Classifier, W, y, solver="cg")
    np.testing.assert_allclose(model.label_distributions_[5:], [model.prior_] * 5, **ALGEBRA)
    exact = given_graph(Classifier, W, y, solver="lu").label_distributions_
    assert np.abs(model.label_distributions_ - exact).max() <= model.error_bound_


# ---------------------------------------------------------------- what is no graph


@pytest.mark.parametrize("Estimator", [Classifier, Regressor])
@pytest.mark.parametrize(
    ("W", "words"),
    [
        ([[0, 1, 0], [0, 0, 1], [0, 1, 0]], "directed"),
        ([[0, -1, 0], [-1, 0, 1], [0, 1, 0]], "[Nn]egative"),
        ([[0, 1], [1, 0], [1, 1]], "square"),
        ([[0, NAN, 0], [NAN, 0, 1], [0, 1, 0]], "NaN"),
    ],
)
def test_bad_graphs_are_refused(Estimator, W, words):
    with pytest.raises(ValueError, match=words):
        Estimator(affinity="precomputed").fit(W, [0, 1, 1])


def test_self_loops_change_nothing_and_integers_are_weights():
    W = (random_graph(8) > 0).astype(int)
    y = np.where(np.arange(12) < 4, np.arange(12) % 2, -1)
    plain = given_graph(Classifier, W, y)
    looped = given_graph(Classifier, W + 5 * np.eye(12, dtype=int), y)
    np.testing.assert_allclose(looped.label_distributions_, plain.label_distributions_, **EXACT)


def test_all_unlabelled_is_an_error():
    with pytest.raises(ValueError, match="unlabelled"):
        Classifier().fit(np.eye(4), [-1, -1, -1, -1])
    with pytest.raises(ValueError, match="y has no targets"):
        Regressor().fit(np.eye(4), [NAN] * 4)
    with pytest.raises(ValueError, match="only some of their targets"):
        Regressor().fit(np.eye(4), [[1, NAN], [1, 2], [1, 2], [NAN, NAN]])


# ---------------------------------------------------------------- labels


def test_minus_one_is_unlabelled_unless_the_classes_are_signs():
    X, y = make_moons(60, noise=0.1, random_state=0)
    signs = np.where(y == 1, 1, -1)
    with pytest.warns(UserWarning, match="two classes"):
        np.testing.assert_array_equal(Classifier().fit(X, signs).classes_, [-1, 1])
    np.testing.assert_array_equal(Classifier(unlabelled=None).fit(X, signs).classes_, [-1, 1])
    np.testing.assert_array_equal(Classifier(unlabelled=-1).fit(X, signs).classes_, [1])
    few = np.where(np.arange(60) < 10, y, -1)
    np.testing.assert_array_equal(Classifier().fit(X, few).classes_, [0, 1])
    np.testing.assert_array_equal(Classifier(unlabelled=None).fit(X, few).classes_, [-1, 0, 1])


@pytest.mark.parametrize(
    ("mark", "labels"),
    [("?", ["no", "yes"]), (0, [1, 2]), (NAN, [0.0, 1.0]), (None, ["no", "yes"])],
)
def test_any_mark_can_say_that_there_is_no_label(mark, labels):
    X, y = make_moons(60, noise=0.1, random_state=0)
    few = np.array([labels[label] for label in y])
    if mark is not None:
        few = np.where(np.arange(60) < 10, few, mark)
    model = Classifier(unlabelled=mark).fit(X, few)
    assert list(model.classes_) == labels
    expected = Classifier().fit(X, np.where(np.arange(60) < 10, y, -1) if mark is not None else y)
    np.testing.assert_allclose(model.label_distributions_, expected.label_distributions_, **EXACT)


def test_class_mass_gives_the_wanted_shares_on_average():
    X, y = make_moons(400, noise=0.15, random_state=0)
    few = np.full(400, -1)
    few[[0, 1, 2, 3, 4, 5]] = y[[0, 1, 2, 3, 4, 5]]
    plain = Classifier().fit(X, few)
    model = Classifier(class_mass=[0.9, 0.1]).fit(X, few)
    free = few < 0
    F = plain.label_distributions_[free]
    scaled = F * (np.array([0.9, 0.1]) / F.mean(axis=0))
    np.testing.assert_allclose(
        model.label_distributions_[free], scaled / scaled.sum(axis=1, keepdims=True), **ALGEBRA
    )
    np.testing.assert_array_equal(model.transduction_[~free], few[~free])
    prior = Classifier(class_mass="prior").fit(X, few)
    again = Classifier(class_mass=plain.prior_).fit(X, few)
    np.testing.assert_allclose(prior.label_distributions_, again.label_distributions_, **EXACT)
    for bad in ([1.0], [-1.0, 2.0], [0.0, 0.0]):
        with pytest.raises(ValueError, match="class_mass"):
            Classifier(class_mass=bad).fit(X, few)


# ---------------------------------------------------------------- new samples


def test_training_samples_are_their_vertices():
    X, y = make_moons(200, noise=0.1, random_state=0)
    few = np.where(np.arange(200) < 10, y, -1)
    model = Classifier().fit(X, few)
    np.testing.assert_array_equal(model.predict_proba(X), model.label_distributions_)
    np.testing.assert_array_equal(model.predict(X), model.transduction_)


def test_new_samples_are_means_over_their_neighbours():
    X, y = make_moons(200, noise=0.1, random_state=0)
    few = np.where(np.arange(200) < 10, y, -1)
    X_new = make_moons(50, noise=0.2, random_state=1)[0]
    builder = GraphBuilder(n_neighbors=7, weight="exponential", scale="median")
    model = Classifier(affinity=builder).fit(X, few)
    weights = builder.fit(X).transform(X_new).toarray()
    expected = weights @ model.label_distributions_ / weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X_new), expected, **ALGEBRA)


def test_far_samples_have_a_distribution():
    X, y = make_moons(100, noise=0.1, random_state=0)
    for affinity in ("knn", GraphBuilder("complete", scale=0.1), GraphBuilder("ball", radius=0.5)):
        model = Classifier(affinity=affinity).fit(X, np.where(np.arange(100) < 10, y, -1))
        far = model.predict_proba([[1e6, 1e6], [-1e150, 0.0]])
        assert np.isfinite(far).all()
        np.testing.assert_allclose(far.sum(axis=1), 1, **EXACT)


def test_predictions_come_in_blocks(monkeypatch):
    from sklearn_sl.graph import _vertices

    X, y = make_moons(200, noise=0.1, random_state=0)
    model = Classifier().fit(X, np.where(np.arange(200) < 10, y, -1))
    X_new = make_moons(50, noise=0.2, random_state=1)[0]
    whole = model.predict_proba(X_new)
    monkeypatch.setattr(_vertices, "QUERIES", 7)
    np.testing.assert_allclose(model.predict_proba(X_new), whole, **EXACT)


# ---------------------------------------------------------------- weights


def test_weights_of_samples_are_repetitions_where_copies_disagree(rng):
    X = rng.normal(size=(60, 2))[rng.integers(60, size=120)]
    few = np.where(rng.random(120) < 0.4, rng.integers(3, size=120), -1)
    times = rng.integers(0, 4, 120)
    weighted = Classifier().fit(X, few, sample_weight=times)
    rows = np.repeat(np.arange(120), times)
    repeated = Classifier().fit(X[rows], few[rows])
    np.testing.assert_allclose(
        weighted.label_distributions_[rows], repeated.label_distributions_, **ALGEBRA
    )
    np.testing.assert_allclose(weighted.prior_, repeated.prior_, **EXACT)


def test_weights_on_a_complete_graph_are_copies_of_vertices(rng):
    # No copy is merged in a given graph: the identity is one of the mathematics.
    X = rng.normal(size=(15, 2))
    y = np.where(np.arange(15) < 6, np.arange(15) % 3, -1)
    times = rng.integers(1, 4, 15)
    rows = np.repeat(np.arange(15), times)
    W = np.exp(-np.sum((X[:, None] - X) ** 2, axis=2))
    for alpha in (0.0, 0.3):
        weighted = given_graph(Classifier, W, y, alpha=alpha, sample_weight=times)
        copied = given_graph(Classifier, W[np.ix_(rows, rows)], y[rows], alpha=alpha)
        np.testing.assert_allclose(
            weighted.label_distributions_[rows], copied.label_distributions_, **ALGEBRA
        )


def test_samples_of_weight_zero_are_new_ones(rng):
    X, y = make_moons(80, noise=0.1, random_state=0)
    weight = (rng.random(80) < 0.7).astype(float)
    few = np.where(np.arange(80) < 30, y, -1)
    model = Classifier().fit(X, few, sample_weight=weight)
    absent = weight == 0
    np.testing.assert_allclose(
        model.label_distributions_[absent], model.predict_proba(X[absent]), **EXACT
    )
    assert np.all(model.vertex_[absent] == -1)
    assert np.all(np.isnan(model.hitting_time_[absent]))
    W = knn_graph(X, 5)
    given_one = given_graph(Classifier, W, few, sample_weight=weight)
    rows = W[np.flatnonzero(absent)].toarray()
    np.testing.assert_allclose(
        given_one.label_distributions_[absent], given_one.predict_proba(rows), **EXACT
    )


def test_weights_that_overflow_are_refused():
    X, y = make_moons(20, random_state=0)
    for factor in (1e200, 1e-200):
        with pytest.raises(ValueError, match="overflow or underflow"):
            Classifier().fit(X, y, sample_weight=np.full(20, factor))


# ---------------------------------------------------------------- real data, search, signals


def test_digits_are_read_from_one_label_of_each():
    X, y = load_digits(return_X_y=True)
    accuracies = []
    for seed in range(5):
        few = np.full(len(y), -1)
        rng = np.random.default_rng(seed)
        chosen = [rng.choice(np.flatnonzero(y == digit)) for digit in range(10)]
        few[chosen] = y[chosen]
        model = Classifier(affinity=GraphBuilder(("knn", "mst"), n_neighbors=7)).fit(X, few)
        accuracies.append(np.mean(model.transduction_ == y))
    assert np.median(accuracies) > 0.85


def test_grid_search_reaches_the_graph():
    X, y = make_moons(80, noise=0.1, random_state=0)
    search = GridSearchCV(
        Classifier(affinity=GraphBuilder()), {"affinity__n_neighbors": [3, 10], "alpha": [0, 0.1]}
    )
    assert search.fit(X, y).best_score_ > 0.9


def test_labels_flip_with_their_names():
    W, rng = random_graph(9, n=20), np.random.default_rng(0)
    y = np.where(rng.random(20) < 0.5, rng.integers(2, size=20), -1)
    first = given_graph(Classifier, W, y).label_distributions_
    flipped = given_graph(Classifier, W, np.where(y < 0, y, 1 - y)).label_distributions_
    np.testing.assert_allclose(flipped, first[:, ::-1], **ALGEBRA)


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e200])
def test_weights_of_edges_count_by_their_ratios(scale):
    W, y = random_graph(10), some_targets(10, 12, 4)
    expected = given_graph(Regressor, W, y).transduction_
    for name in ("lu", "cg"):
        found = given_graph(Regressor, W * scale, y, solver=name).transduction_
        np.testing.assert_allclose(found, expected, **ALGEBRA)


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e100, 1e300])
def test_targets_of_any_size_are_interpolated(scale):
    W, y = random_graph(11), some_targets(11, 12, 4)
    expected = given_graph(Regressor, W, y).transduction_
    found = given_graph(Regressor, W, y * scale).transduction_
    np.testing.assert_allclose(found / scale, expected, **ALGEBRA)
