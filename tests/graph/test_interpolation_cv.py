"""Leave-one-out in closed form, and the choice of a graph by it."""

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from hypothesis import given
from hypothesis import strategies as st
from reference import harmonic as twin
from sklearn.datasets import make_moons
from sklearn.metrics import log_loss

from sklearn_sl.graph import (
    GraphBuilder,
    LaplacianInterpolationClassifier,
    LaplacianInterpolationClassifierCV,
    LaplacianInterpolationRegressor,
    LaplacianInterpolationRegressorCV,
    graph_from_edges,
    knn_graph,
)

NAN = np.nan


def weighted_graph(seed, n=14):
    """Return the weights of a connected random graph."""
    rng = np.random.default_rng(seed)
    W = rng.exponential(size=(n, n)) * (rng.random((n, n)) < 0.3)
    W[np.arange(n - 1), np.arange(1, n)] += 0.2
    W = np.triu(W, 1)
    return W + W.T


def few_labels(seed, n=14, n_known=6, n_classes=3):
    rng = np.random.default_rng(seed)
    y = np.full(n, -1)
    y[rng.choice(n, n_known, replace=False)] = rng.permutation(np.arange(n_known) % n_classes)
    return y


# ---------------------------------------------------------------- leave-one-out


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.01, 1.0]), st.sampled_from(["lu", "cg"]))
def test_leaving_out_a_label_is_fitting_without_it(seed, alpha, solver):
    W, y = weighted_graph(seed), few_labels(seed)
    mass = np.random.default_rng(seed).integers(1, 4, len(y)).astype(float)
    model = LaplacianInterpolationClassifier(
        alpha, affinity="precomputed", solver=solver, tol=1e-13
    ).fit(W, y, sample_weight=mass)
    left_out = model.leave_one_out()
    heavy = mass[:, None] * W * mass
    expected = twin.leave_one_out(
        heavy, np.eye(3)[np.maximum(y, 0)], np.where(y >= 0, mass, 0), alpha
    )
    np.testing.assert_allclose(left_out[y >= 0], expected, rtol=1e-6, atol=1e-8)
    assert np.all(np.isnan(left_out[y < 0]))


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.1]))
def test_leaving_out_a_target_is_fitting_without_it(seed, alpha):
    W, rng = weighted_graph(seed), np.random.default_rng(seed)
    known = few_labels(seed) >= 0
    y = np.where(known, 100 + rng.normal(size=14), NAN)
    model = LaplacianInterpolationRegressor(alpha, affinity="precomputed").fit(W, y)
    expected = twin.leave_one_out(W, np.nan_to_num(y)[:, None], known.astype(float), alpha)[:, 0]
    np.testing.assert_allclose(model.leave_one_out()[known], expected, **ALGEBRA)


def test_only_label_of_a_component_leaves_the_mean_of_the_others():
    W = graph_from_edges([[0, 1], [2, 3], [3, 4]], n_vertices=5)
    y = [8.0, NAN, 1.0, NAN, 3.0]
    for alpha in (0.0, 0.5):
        model = LaplacianInterpolationRegressor(alpha, affinity="precomputed").fit(W, y)
        left_out = model.leave_one_out()
        np.testing.assert_allclose(left_out[0], 2.0, **ALGEBRA)
        if alpha == 0:
            np.testing.assert_allclose(left_out[[2, 4]], [3.0, 1.0], **ALGEBRA)
    alone = LaplacianInterpolationRegressor(affinity="precomputed")
    assert alone.fit(np.ones((3, 3)), [5.0, NAN, NAN]).leave_one_out()[0] == 5.0


def test_all_labelled_leaves_out_means_of_neighbours():
    W, rng = weighted_graph(3), np.random.default_rng(0)
    y = rng.normal(size=14)
    model = LaplacianInterpolationRegressor(affinity="precomputed").fit(W, y)
    np.testing.assert_allclose(model.leave_one_out(), W @ y / W.sum(axis=1), **ALGEBRA)


def test_many_labels_are_left_out_in_blocks():
    X, y = make_moons(400, noise=0.2, random_state=0)
    few = np.where(np.arange(400) % 2, y, -1)
    model = LaplacianInterpolationClassifier(solver="lu").fit(X, few)
    left_out = model.leave_one_out()
    for sample in (1, 131, 399):
        without = few.copy()
        without[sample] = -1
        refit = LaplacianInterpolationClassifier(solver="lu").fit(X, without)
        np.testing.assert_allclose(left_out[sample], refit.label_distributions_[sample], **ALGEBRA)


def repeated_samples(n=60):
    """Return samples of few distinct values, in one component, and noisy targets."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (n, 2)).astype(float)
    return X, X[:, 0] - X[:, 1] + rng.normal(size=n)


@pytest.mark.parametrize("alpha", [0.0, 0.01, 1.0])
def test_leaving_out_one_of_equal_samples_is_fitting_without_its_label(alpha):
    X, y = repeated_samples()
    regressor = LaplacianInterpolationRegressor(alpha, n_neighbors=4, solver="lu")
    classifier = LaplacianInterpolationClassifier(alpha, n_neighbors=4, solver="lu")
    labels = (y > 0) * 2 + (y > 1)
    numbers = regressor.fit(X, y).leave_one_out()
    shares = classifier.fit(X, labels).leave_one_out()
    for sample in range(0, 60, 7):
        held_out = np.arange(60) == sample
        without = regressor.fit(X, np.where(held_out, NAN, y)).transduction_[sample]
        np.testing.assert_allclose(numbers[sample], without, **ALGEBRA)
        without = classifier.fit(X, np.where(held_out, -1, labels)).label_distributions_[sample]
        np.testing.assert_allclose(shares[sample], without, **ALGEBRA)


@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_one_sample_of_an_integer_weight_is_left_out(alpha):
    X, y = repeated_samples(40)
    times = np.random.default_rng(1).integers(0, 4, 40)
    rows = np.repeat(np.arange(40), times)
    model = LaplacianInterpolationRegressorCV([alpha], n_neighbors=4)
    weighted, repeated = model.fit(X, y, times).best_score_, model.fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted, repeated.best_score_, **ALGEBRA)
    weighted = model.fit(X, y, times).loo_predictions_
    np.testing.assert_allclose(
        weighted[rows], model.fit(X[rows], y[rows]).loo_predictions_, **ALGEBRA
    )
    assert np.isnan(weighted[times == 0]).all()


# ---------------------------------------------------------------- the choice


GRID = {"n_neighbors": [3, 8], "weight": ["binary", "gaussian"]}


@pytest.mark.parametrize("scoring", ["neg_brier_score", "accuracy", "neg_log_loss"])
def test_classifier_chooses_what_scores_best_by_hand(scoring):
    X, y = make_moons(150, noise=0.25, random_state=0)
    few = np.where(np.arange(150) < 60, y, -1)
    known = few >= 0
    connected = GraphBuilder(("knn", "mst"))
    model = LaplacianInterpolationClassifierCV(
        [0.0, 0.1, 1.0], graph_grid=GRID, affinity=connected, scoring=scoring, solver="lu"
    ).fit(X, few)
    by_hand = []
    for params in model.cv_results_["params"]:
        params = dict(params)
        single = LaplacianInterpolationClassifier(
            params.pop("alpha"),
            affinity=GraphBuilder(("knn", "mst"), **params),
            solver="lu",
        )
        P = single.fit(X, few).leave_one_out()[known]
        by_hand.append(
            {
                "neg_brier_score": -np.mean(np.sum((P - np.eye(2)[few[known]]) ** 2, axis=1)),
                "accuracy": np.mean(P.argmax(axis=1) == few[known]),
                "neg_log_loss": -log_loss(few[known], np.clip(P, 1e-15, 1)),
            }[scoring]
        )
    assert len(by_hand) == 12
    np.testing.assert_allclose(model.cv_results_["score"], by_hand, rtol=1e-6, atol=1e-9)
    best = model.cv_results_["params"][int(np.argmax(by_hand))]
    assert {**model.best_params_, "alpha": model.alpha_} == best
    assert model.best_score_ == model.cv_results_["score"].max()


def test_choice_is_the_model_of_the_chosen_parameters():
    X, y = make_moons(150, noise=0.25, random_state=0)
    few = np.where(np.arange(150) < 60, y, -1)
    X_new = make_moons(20, noise=0.25, random_state=1)[0]
    model = LaplacianInterpolationClassifierCV([0.0, 0.1], graph_grid=GRID).fit(X, few)
    single = LaplacianInterpolationClassifier(model.alpha_, **model.best_params_).fit(X, few)
    np.testing.assert_allclose(model.predict_proba(X_new), single.predict_proba(X_new), **EXACT)
    np.testing.assert_allclose(model.loo_distributions_, single.leave_one_out(), **ALGEBRA)
    np.testing.assert_allclose(model.leave_one_out(), model.loo_distributions_, **ALGEBRA)


@pytest.mark.parametrize("scoring", ["neg_mean_squared_error", "neg_mean_absolute_error"])
def test_regressor_chooses_what_scores_best_by_hand(scoring):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(120, 2))
    target = np.sin(5 * X[:, 0]) + 0.3 * rng.normal(size=120)
    y = np.where(np.arange(120) < 50, target, NAN)
    model = LaplacianInterpolationRegressorCV(
        [0.0, 0.1, 1.0], graph_grid={"n_neighbors": [4, 8]}, scoring=scoring
    ).fit(X, y)
    by_hand = []
    for params in model.cv_results_["params"]:
        single = LaplacianInterpolationRegressor(**params).fit(X, y)
        errors = (single.leave_one_out() - y)[:50]
        by_hand.append(
            -np.mean(errors**2 if scoring == "neg_mean_squared_error" else np.abs(errors))
        )
    np.testing.assert_allclose(model.cv_results_["score"], by_hand, **ALGEBRA)
    chosen = LaplacianInterpolationRegressor(model.alpha_, **model.best_params_).fit(X, y)
    np.testing.assert_allclose(model.loo_predictions_, chosen.leave_one_out(), **ALGEBRA)
    np.testing.assert_allclose(model.transduction_, chosen.transduction_, **EXACT)


def test_candidates_that_are_not_chosen_do_not_warn():
    X, y = make_moons(100, noise=0.05, random_state=0)
    few = np.where(np.arange(100) < 8, y, -1)
    with pytest.warns(UserWarning, match="have no label"):
        LaplacianInterpolationClassifier(n_neighbors=1).fit(X, few)
    model = LaplacianInterpolationClassifierCV(graph_grid={"n_neighbors": [1, 9]}).fit(X, few)
    assert model.best_params_ == {"n_neighbors": 9}
    assert not model.component_without_label_.any()


def test_given_graph_has_alphas_to_choose_from():
    X, y = make_moons(100, noise=0.2, random_state=0)
    W, few = knn_graph(X, 8), np.where(np.arange(100) < 40, y, -1)
    model = LaplacianInterpolationClassifierCV([0.0, 0.3], affinity="precomputed").fit(W, few)
    assert model.alpha_ in (0.0, 0.3)
    assert model.best_params_ == {}
    with pytest.raises(ValueError, match="precomputed"):
        LaplacianInterpolationClassifierCV(affinity="precomputed", graph_grid=GRID).fit(W, few)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"alphas": []}, "alphas"),
        ({"alphas": [-1.0]}, "alphas"),
        ({"alphas": [NAN]}, "alphas"),
        ({"graph_grid": {"neighbours": [3]}}, "neighbours"),
        ({"graph_grid": []}, "graph_grid"),
    ],
)
def test_bad_grids_are_named(params, words):
    X, y = make_moons(20, random_state=0)
    for Search in (LaplacianInterpolationClassifierCV, LaplacianInterpolationRegressorCV):
        with pytest.raises(ValueError, match=words):
            Search(**params).fit(X, y)
