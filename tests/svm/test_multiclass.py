"""MulticlassSVC: its duality, its theorems, its neighbours, and the symmetries of its problem."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT, SINGLE, every_check_of
from hypothesis import given
from hypothesis import strategies as st
from reference import crammer_singer as reference
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import SVC, LinearSVC

from sklearn_sl.kernels import Gaussian, Linear, SetIntersection, Spectrum
from sklearn_sl.svm import _crammer_singer
from sklearn_sl.svm import _dual_ascent as implementation
from sklearn_sl.svm._multiclass import MulticlassSVC

KERNELS = ["linear", "rbf", "poly", "laplacian", Gaussian(gamma=0.3) + 0.5 * Linear()]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)
every_price = pytest.mark.parametrize("C", [0.01, 1.0, 100.0])


def problem(rng, n=40, p=4, n_classes=3, n_test=15):
    """Return samples of noisy classes, and new points."""
    X = rng.normal(size=(n + n_test, p))
    value = X[:, 0] + np.sin(2 * X[:, 1]) + 0.3 * rng.normal(size=len(X))
    y = np.digitize(value, np.quantile(value, np.arange(1, n_classes) / n_classes))
    return X[:n], y[:n], X[n:]


def full_tau(model, n):
    """Return the dual coefficients of all samples, ``(n_samples, n_classes)``."""
    tau = np.zeros((n, len(model.dual_coef_)))
    tau[model.support_] = model.dual_coef_.T
    return tau


def assert_same(model, other, X_test, **tolerance):
    np.testing.assert_array_equal(model.classes_, other.classes_)
    np.testing.assert_allclose(
        model.decision_function(X_test), other.decision_function(X_test), **tolerance
    )
    np.testing.assert_array_equal(model.predict(X_test), other.predict(X_test))


# ---------------------------------------------------------------- duality


@every_kernel
@every_price
def test_small_problem_is_solved_to_the_precision_of_the_numbers(kernel, C, rng):
    X, y, _ = problem(rng)
    model = MulticlassSVC(C, kernel=kernel).fit(X, y)
    K, price = model.kernel_(X), np.full(len(y), C)
    tau = full_tau(model, len(y))
    upper = reference.upper_bounds(y, price, 3)
    assert (tau <= upper).all()
    np.testing.assert_allclose(tau.sum(axis=1), 0, atol=1e-13 * C)
    assert reference.violation(K, tau, y, price) < 1e-9
    assert reference.primal(K, tau, y, price) - reference.dual(K, tau, y) < 1e-9 * max(1, C)


@every_price
@pytest.mark.parametrize("n", [30, 900])
def test_certificates_are_what_they_say(C, n, rng):
    X, y, _ = problem(rng, n=n, n_classes=6)
    model = MulticlassSVC(C).fit(X, y)
    K, price, tau = model.kernel_(X), np.full(n, C), full_tau(model, n)
    primal, dual = reference.primal(K, tau, y, price), reference.dual(K, tau, y)
    np.testing.assert_allclose(model.primal_objective_, primal, **ALGEBRA)
    np.testing.assert_allclose(model.dual_objective_, dual, **ALGEBRA)
    np.testing.assert_allclose(model.duality_gap_, primal - dual, rtol=1e-5, atol=1e-9 * primal)
    np.testing.assert_allclose(
        model.kkt_violation_, reference.violation(K, tau, y, price), atol=1e-9
    )
    assert model.converged_
    assert model.kkt_violation_ <= model.tol
    assert -1e-9 * primal <= model.duality_gap_ <= model.kkt_violation_ * price.sum() + 1e-9


def test_gap_closes_with_tol(rng):
    X, y, _ = problem(rng, n=700, n_classes=8)
    gaps = [MulticlassSVC(C=10, tol=tol).fit(X, y).duality_gap_ for tol in (0.5, 0.05, 1e-3, 1e-5)]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 1e-3 * gaps[0]


def test_every_dual_point_lies_below_every_primal_point(rng):
    X, y, _ = problem(rng)
    model = MulticlassSVC().fit(X, y)
    K, price = model.kernel_(X), np.ones(len(y))
    for _ in range(20):
        shares = rng.dirichlet(np.ones(3), size=len(y))
        tau = reference.upper_bounds(y, price, 3) - shares
        assert reference.dual(K, tau, y) <= model.dual_objective_ + 1e-9
        assert reference.primal(K, tau, y, price) >= model.primal_objective_ - 1e-9


# ---------------------------------------------------------------- twin and quadratic program


@every_kernel
@pytest.mark.parametrize("weighted", [False, True])
def test_model_is_that_of_the_twin(kernel, weighted, rng):
    X, y, X_test = problem(rng, n=20)
    weight = rng.uniform(0.2, 3, len(y)) if weighted else np.ones(len(y))
    model = MulticlassSVC(0.5, kernel=kernel).fit(X, y, sample_weight=weight)
    tau = reference.solve(model.kernel_(X), y, 0.5 * weight, 3)
    expected = model.kernel_(X_test, X) @ tau
    np.testing.assert_allclose(model.decision_function(X_test), expected, **ALGEBRA)


def test_model_is_that_of_a_quadratic_program(rng):
    X, y, X_test = problem(rng, n=12)
    model = MulticlassSVC(2.0).fit(X, y)
    tau = reference.solve_by_programming(model.kernel_(X), y, np.full(len(y), 2.0), 3)
    expected = model.kernel_(X_test, X) @ tau
    np.testing.assert_allclose(model.decision_function(X_test), expected, rtol=1e-4, atol=1e-4)
    dual = reference.dual(model.kernel_(X), tau, y)
    np.testing.assert_allclose(model.dual_objective_, dual, rtol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compiled_step_solves_the_subproblem_of_the_worst_sample(dtype, rng):
    K = rbf_kernel(rng.normal(size=(9, 3))).astype(dtype)
    mass = rng.uniform(0.5, 2, 9)
    eta = np.ascontiguousarray((rng.dirichlet(np.ones(4), size=9) * mass[:, None]).T)
    eta[2, 1:] = 0
    eta *= mass / eta.sum(axis=0)
    score = rng.normal(size=(4, 9))
    shortfall = score.max(axis=0) - np.where(eta > 0, score, np.inf).min(axis=0)
    work = np.empty((2, 9))
    _crammer_singer.violations(eta, score, work)
    np.testing.assert_allclose(work[0], shortfall, **EXACT)
    i = shortfall.argmax()
    curvature = K.diagonal().astype(float)
    expected = reference.to_simplex(eta[:, i] + score[:, i] / curvature[i], mass[i])
    after, moved = eta.copy(), score.copy()
    steps = _crammer_singer.solve(K, curvature, mass, 0.0, 1, after, moved, work, np.empty((2, 4)))
    assert steps == 1
    np.testing.assert_allclose(after[:, i], expected, **EXACT)
    np.testing.assert_array_equal(np.delete(after, i, axis=1), np.delete(eta, i, axis=1))
    np.testing.assert_allclose(moved, score - np.outer(after[:, i] - eta[:, i], K[i]), **EXACT)


@given(st.integers(2, 8), st.integers(0, 10_000), st.floats(1e-6, 1e6))
def test_compiled_projection_keeps_the_mass(n_classes, seed, mass):
    score = np.random.default_rng(seed).normal(size=(n_classes, 1)) * mass
    eta = np.zeros((n_classes, 1))
    eta[score.argmin()] = mass
    expected = reference.to_simplex((eta + score)[:, 0], mass)
    one, K = np.ones(1), np.ones((1, 1))
    work, step = np.empty((2, 1)), np.empty((2, n_classes))
    _crammer_singer.solve(K, one, np.full(1, mass), 0.0, 1, eta, score, work, step)
    np.testing.assert_allclose(eta[:, 0], expected, rtol=1e-9, atol=1e-12 * mass)
    np.testing.assert_allclose(eta.sum(), mass, **EXACT)


def test_compiled_projection_ends_where_a_share_is_at_the_very_level(rng):
    one, K, work, step = np.ones(1), np.ones((1, 1)), np.empty((2, 1)), np.empty((2, 3))
    for _ in range(20_000):
        # The two upper scores leave a level that is the third score, up to its last digit.
        mass, third = rng.uniform(0.1, 10, 2)
        second = third + rng.uniform(0, mass)
        eta = np.array([[0.0], [0.0], [mass]])
        score = np.array([[third + mass - (second - third)], [second], [third - mass]])
        _crammer_singer.solve(K, one, np.full(1, mass), -1.0, 1, eta, score, work, step)
        np.testing.assert_allclose(eta.sum(), mass, rtol=1e-9)


# ---------------------------------------------------------------- neighbours


# Of this solver scikit-learn 1.7 warns at random: its number of iterations is never set.
@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
@pytest.mark.parametrize("C", [0.01, 0.1, 1.0])
def test_linear_machine_is_that_of_liblinear(C, rng):
    X, y, _ = problem(rng, n=200)
    model = MulticlassSVC(C, kernel="linear").fit(X, y)
    options = {"fit_intercept": False, "tol": 1e-8, "max_iter": 100_000, "random_state": 0}
    neighbour = LinearSVC(C=C, multi_class="crammer_singer", **options).fit(X, y)
    np.testing.assert_allclose(model.coef_, neighbour.coef_, rtol=1e-3, atol=1e-3)
    loss = reference.losses(X @ neighbour.coef_.T, y).sum()
    theirs = np.sum(neighbour.coef_**2) / 2 + C * loss
    assert model.dual_objective_ <= theirs
    np.testing.assert_allclose(model.primal_objective_, theirs, rtol=1e-3)


@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_two_classes_are_the_binary_machine_with_twice_the_price(C, rng):
    # w_1 = -w_0 = w / 2, so that the penalty is ||w||^2 / 4.
    X, y, X_test = problem(rng, n=60, n_classes=2)
    model = MulticlassSVC(C, kernel="linear").fit(X, y)
    np.testing.assert_allclose(model.coef_[0], -model.coef_[1], **ALGEBRA)
    options = {"loss": "hinge", "fit_intercept": False, "tol": 1e-10, "max_iter": 10**6}
    binary = LinearSVC(C=2 * C, random_state=0, **options).fit(X, y)
    expected = binary.decision_function(X_test)
    assert model.decision_function(X_test).shape == expected.shape
    np.testing.assert_allclose(model.decision_function(X_test), expected, rtol=1e-4, atol=1e-5)


def test_gamma_means_what_it_does_in_scikit_learn(rng):
    X, y, _ = problem(rng)
    for gamma in ("scale", "auto", 0.7):
        neighbour = SVC(gamma=gamma).fit(X, y)
        kernel = MulticlassSVC(gamma=gamma).fit(X, y).kernel_
        np.testing.assert_allclose(kernel(X), rbf_kernel(X, gamma=neighbour._gamma), **ALGEBRA)


# ---------------------------------------------------------------- theorems


@every_price
def test_losses_bound_the_mistakes(C, rng):
    X, y, _ = problem(rng, n=200, n_classes=5)
    model = MulticlassSVC(C, kernel="linear").fit(X, y)
    loss = reference.losses(model.decision_function(X), y)
    wrong = model.predict(X) != y
    assert (loss >= wrong - 1e-9).all()
    assert wrong.sum() <= loss.sum()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_loss_falls_and_norm_grows_with_the_price(kernel, rng):
    X, y, _ = problem(rng, n=80)
    models = [MulticlassSVC(C, kernel=kernel).fit(X, y) for C in np.logspace(-3, 2, 8)]
    losses = [reference.losses(model.decision_function(X), y).sum() for model in models]
    norms = [np.sum(full_tau(m, len(y)) * m.decision_function(X)) for m in models]
    assert (np.diff(losses) <= 1e-7).all()
    assert (np.diff(norms) >= -1e-7).all()


def test_functions_of_the_classes_sum_to_zero(rng):
    X, y, X_test = problem(rng)
    scores = MulticlassSVC().fit(X, y).decision_function(X_test)
    np.testing.assert_allclose(scores.sum(axis=1), 0, atol=1e-12)


def test_penalty_of_the_mean_form_is_one_over_two_C_m(rng):
    X, y, _ = problem(rng, n=60)
    lam, m = 0.05, len(y)
    model = MulticlassSVC(1 / (2 * lam * m), kernel="linear").fit(X, y)

    def risk(W):
        return reference.losses(X @ W.T, y).mean() + lam * np.sum(W**2)

    for _ in range(50):
        assert risk(model.coef_) <= risk(model.coef_ + 0.01 * rng.normal(size=model.coef_.shape))


def test_constant_in_the_kernel_plays_the_part_of_the_intercept(rng):
    X, y, X_test = problem(rng)
    augmented, augmented_test = (np.column_stack([Z, np.full(len(Z), 2.0)]) for Z in (X, X_test))
    model = MulticlassSVC(kernel=Linear() + 4.0).fit(X, y)
    plain = MulticlassSVC(kernel="linear").fit(augmented, y)
    expected = plain.decision_function(augmented_test)
    np.testing.assert_allclose(model.decision_function(X_test), expected, **ALGEBRA)


# ---------------------------------------------------------------- symmetries


@every_kernel
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_integer_weight_is_repetition_and_order_does_not_matter(kernel, C, rng):
    X, y, X_test = problem(rng)
    weight = rng.integers(0, 4, len(y))
    rows = rng.permutation(np.repeat(np.arange(len(y)), weight))
    weighted = MulticlassSVC(C, kernel=kernel).fit(X, y, sample_weight=weight)
    repeated = MulticlassSVC(C, kernel=kernel).fit(X[rows], y[rows])
    assert_same(weighted, repeated, X_test, **ALGEBRA)
    np.testing.assert_allclose(weighted.dual_objective_, repeated.dual_objective_, **ALGEBRA)
    assert (weight[weighted.support_] > 0).all()


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_class_without_weight_is_not_there(container, rng):
    X, y, X_test = problem(rng, n_classes=4)
    weight = np.where(y == 2, 0.0, 1.0)
    model = MulticlassSVC().fit(container(X), y, sample_weight=weight)
    without = MulticlassSVC().fit(X[y != 2], y[y != 2])
    assert model.classes_.tolist() == [0, 1, 3]
    assert_same(model, without, X_test, **ALGEBRA)
    np.testing.assert_array_equal(model.support_, np.flatnonzero(y != 2)[without.support_])


def test_class_weight_is_sample_weight(rng):
    X, y, X_test = problem(rng)
    factors = {0: 3.0, 1: 0.5, 2: 1.0}
    model = MulticlassSVC(class_weight=factors).fit(X, y)
    same = MulticlassSVC(gamma=model.kernel_.gamma).fit(
        X, y, sample_weight=np.array([factors[label] for label in y])
    )
    assert_same(model, same, X_test, **ALGEBRA)


def test_names_of_the_classes_do_not_matter(rng):
    X, y, X_test = problem(rng)
    renamed = np.array(["zero", "eins", "two"])[y]
    scores = MulticlassSVC().fit(X, y).decision_function(X_test)
    model = MulticlassSVC().fit(X, renamed)
    columns = np.searchsorted(model.classes_, ["zero", "eins", "two"])
    np.testing.assert_allclose(model.decision_function(X_test)[:, columns], scores, **ALGEBRA)


# ---------------------------------------------------------------- forms of the input


@every_kernel
def test_sparse_and_dense_data_give_one_model(kernel, rng):
    X, y, X_test = problem(rng)
    X[np.abs(X) < 0.5] = 0
    dense = MulticlassSVC(kernel=kernel).fit(X, y)
    sparse = MulticlassSVC(kernel=kernel).fit(sp.csr_array(X), y)
    assert sp.issparse(sparse.support_vectors_)
    expected = dense.decision_function(X_test)
    np.testing.assert_allclose(sparse.decision_function(X_test), expected, **ALGEBRA)
    np.testing.assert_allclose(sparse.decision_function(sp.csr_array(X_test)), expected, **ALGEBRA)


def test_single_precision_gives_the_same_model(rng):
    X, y, X_test = problem(rng, n=200)
    X, X_test = X.astype(np.float32), X_test.astype(np.float32)
    single = MulticlassSVC().fit(X, y).decision_function(X_test)
    double = MulticlassSVC().fit(X.astype(float), y).decision_function(X_test.astype(float))
    np.testing.assert_allclose(single, double, **SINGLE)


def test_kernel_functions_and_matrices_give_the_named_model(rng):
    X, y, X_test = problem(rng)
    named = MulticlassSVC(kernel="poly", gamma=0.5, degree=2, coef0=1.0).fit(X, y)

    def function(A, B, degree):
        return polynomial_kernel(A, B, degree=degree, gamma=0.5, coef0=1.0)

    by_function = MulticlassSVC(kernel=function, kernel_params={"degree": 2}).fit(X, y)
    assert_same(by_function, named, X_test, **ALGEBRA)
    by_matrix = MulticlassSVC(kernel="precomputed").fit(function(X, X, 2), y)
    expected = named.decision_function(X_test)
    np.testing.assert_allclose(
        by_matrix.decision_function(function(X_test, X, 2)), expected, **ALGEBRA
    )


def test_function_of_two_rows_is_refused(rng):
    X, y, _ = problem(rng)
    with pytest.raises(ValueError, match="shape"):
        MulticlassSVC(kernel=lambda a, b: 1.0).fit(X, y)


@pytest.mark.parametrize("cache_size", [0.003, 0.05])
def test_strings_and_sets_have_machines_too(cache_size):
    words = ["aba", "abab", "babab", "xyx", "yxyx", "xyxy", "mmn", "nmmn", "mnmn"]
    y = np.repeat([0, 1, 2], 3)
    model = MulticlassSVC(kernel=Spectrum(2), cache_size=cache_size).fit(words, y)
    assert model.predict(["ababa", "xyxyx", "mmmn"]).tolist() == [0, 1, 2]
    sets = [set(word) for word in words]
    assert MulticlassSVC(kernel=SetIntersection()).fit(sets, y).score(sets, y) == 1


def test_asymmetric_matrix_is_no_gram_matrix(rng):
    with pytest.raises(ValueError, match="not symmetric"):
        MulticlassSVC(kernel="precomputed").fit(rng.normal(size=(6, 6)), [0, 1, 2, 0, 1, 2])


def test_one_class_is_not_enough(rng):
    X, y, _ = problem(rng)
    with pytest.raises(ValueError, match="at least 2 classes in y"):
        MulticlassSVC().fit(X, np.zeros(len(y)))


def test_fitted_attributes_have_their_shapes(rng):
    X, y, X_test = problem(rng)
    model = MulticlassSVC(kernel="linear").fit(X, y)
    assert model.dual_coef_.shape == (3, len(model.support_))
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    np.testing.assert_array_equal(model.n_support_, np.bincount(y[model.support_]))
    np.testing.assert_allclose(model.decision_function(X_test), X_test @ model.coef_.T, **EXACT)
    assert not hasattr(MulticlassSVC().fit(X, y), "coef_")
    copy = pickle.loads(pickle.dumps(model))
    assert_same(copy, model, X_test, rtol=0)


# ---------------------------------------------------------------- the solver at work


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", ConstantKernel(2.0) * RBF(1.5)], ids=str)
def test_bounded_cache_gives_the_same_model(kernel, rng):
    X, y, X_test = problem(rng, n=300, n_classes=4)
    whole = MulticlassSVC(kernel=kernel, tol=1e-6).fit(X, y)
    for cache_size in (1e-4, 0.05, 0.3):
        part = MulticlassSVC(kernel=kernel, tol=1e-6, cache_size=cache_size).fit(X, y)
        assert_same(part, whole, X_test, rtol=1e-4, atol=1e-4)
        assert part.converged_


def test_cache_keeps_the_rows_used_last_within_its_bounds(rng):
    X = rng.normal(size=(90, 3))
    kernel = Gaussian(gamma=0.5)
    K = kernel(X)
    rows = implementation.CachedRows(kernel, X, 70)
    for _ in range(30):
        samples = rng.choice(90, rows.working_set, replace=False)
        np.testing.assert_allclose(rows.take(samples), K[samples], **EXACT)
    assert len(rows._kept) + 2 * rows.working_set <= 70
    evaluated = []
    rows._compute = evaluated.append
    rows.take(samples)
    assert not evaluated


@pytest.mark.parametrize("C", [1.0, 1e4])
def test_low_rank_and_large_price_do_not_stop_the_ascent(C):
    X, y = load_iris(return_X_y=True)
    model = MulticlassSVC(C, kernel="linear").fit(X, y)
    assert model.duality_gap_ < 1e-8 * model.primal_objective_


def test_badly_scaled_kernel_is_no_obstacle(rng):
    X = rng.normal(loc=100, size=(100, 2))
    y = rng.integers(0, 2, size=100)
    model = MulticlassSVC(kernel="poly", degree=2).fit(X, y)
    assert model.duality_gap_ < 1e-6 * model.primal_objective_


def test_large_faces_are_climbed_by_conjugate_gradients(monkeypatch, rng):
    X, y, X_test = problem(rng, n=150)
    exact = MulticlassSVC(100.0, kernel="linear").fit(X, y)
    monkeypatch.setattr(implementation, "FACE_SIZE", 1)
    rough = MulticlassSVC(100.0, kernel="linear", tol=1e-5).fit(X, y)
    assert_same(rough, exact, X_test, rtol=1e-3, atol=1e-3)


def test_indefinite_kernel_ends_where_no_step_helps(rng):
    X, y, _ = problem(rng, n=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MulticlassSVC(kernel="sigmoid", gamma=2.0, coef0=-1.0).fit(X, y)
    assert np.isfinite(model.dual_coef_).all()


def test_sample_at_the_origin_costs_its_price(rng):
    X, y, X_test = problem(rng)
    X[0] = 0
    model = MulticlassSVC(kernel="linear").fit(X, y)
    without = MulticlassSVC(kernel="linear").fit(X[1:], y[1:])
    assert_same(model, without, X_test, **ALGEBRA)
    np.testing.assert_allclose(model.primal_objective_, without.primal_objective_ + 1, **ALGEBRA)
    assert model.duality_gap_ < 1e-9


def test_stopped_ascent_warns_with_its_gap(rng):
    X, y, _ = problem(rng, n=200, n_classes=5)
    with pytest.warns(ConvergenceWarning, match="duality gap of") as caught:
        model = MulticlassSVC(100.0, max_iter=1).fit(X, y)
    assert caught[0].filename == __file__
    assert not model.converged_
    assert model.kkt_violation_ > model.tol
    assert f"{model.duality_gap_:.1e}" in str(caught[0].message)
    assert model.n_iter_ == 1
    tau, price = full_tau(model, len(y)), np.full(len(y), 100.0)
    gap = reference.primal(model.kernel_(X), tau, y, price) - reference.dual(
        model.kernel_(X), tau, y
    )
    np.testing.assert_allclose(model.duality_gap_, gap, **ALGEBRA)


def test_wide_and_tall_problems_with_many_classes_converge():
    X, y = make_classification(
        1200, 15, n_informative=10, n_classes=12, n_clusters_per_class=1, random_state=0
    )
    model = MulticlassSVC(C=5).fit(X, y)
    assert model.converged_
    assert model.score(X, y) > 0.95


# Narrow kernels without an intercept do not follow a heavy class far from its samples, which
# scikit-learn's check of class_weight expects. The common tests have other kernels.
@every_check_of([MulticlassSVC(kernel="laplacian", gamma="median")])
def test_machine_keeps_the_scikit_learn_contract(estimator, check):
    check(estimator)
