"""The solvers of KernelRidge: landmarks, conjugate gradients, mixed precision, and their limits."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT, needs_callbacks, solver
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from sklearn_sl.kernel_ridge import KernelRidge, KernelRidgeClassifier, KernelRidgeCV
from sklearn_sl.kernel_ridge._solvers import choose_landmarks
from sklearn_sl.kernels import Gaussian

landmark_solvers = pytest.mark.parametrize("name", ["nystrom", "cg"])
intercepts = pytest.mark.parametrize("fit_intercept", [False, True])


def regression(rng, n=60, p=3, n_targets=2):
    X, X_test = rng.normal(size=(n, p)), rng.normal(size=(15, p))
    Y = np.sin(X @ rng.normal(size=(p, n_targets))) + 0.1 * rng.normal(size=(n, n_targets)) + 2
    return X, Y, X_test


# ---------------------------------------------------------------- landmarks


@landmark_solvers
@intercepts
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
def test_all_samples_as_landmarks_give_the_exact_model(name, fit_intercept, weighted, kernel, rng):
    X, Y, X_test = regression(rng)
    weight = rng.uniform(0, 3, len(Y)) * (rng.random(len(Y)) < 0.9) if weighted else None
    options = {"kernel": kernel, "gamma": 0.5, "fit_intercept": fit_intercept}
    exact = KernelRidge([0.3, 2.0], solver="cholesky", **options).fit(X, Y, weight)
    model = KernelRidge([0.3, 2.0], solver=name, tol=1e-13, max_iter=1000, **options)
    model.fit(X, Y, weight)
    np.testing.assert_allclose(model.predict(X_test), exact.predict(X_test), **ALGEBRA)
    np.testing.assert_allclose(model.rkhs_norm_, exact.rkhs_norm_, **ALGEBRA)
    if name == "nystrom":
        np.testing.assert_allclose(model.dof_, exact.dof_, **ALGEBRA)


@intercepts
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_components", [1, 7, 30])
def test_conjugate_gradients_and_normal_equations_agree(fit_intercept, weighted, n_components, rng):
    X, Y, X_test = regression(rng)
    weight = rng.uniform(0, 3, len(Y)) if weighted else None
    options = {"kernel": "rbf", "n_components": n_components, "random_state": 3}
    models = [
        KernelRidge(
            [0.3, 2.0], solver=name, tol=1e-12, max_iter=500, fit_intercept=fit_intercept, **options
        ).fit(X, Y, weight)
        for name in ("nystrom", "cg")
    ]
    assert [len(model.X_fit_) for model in models] == [n_components, n_components]
    np.testing.assert_allclose(*[model.predict(X_test) for model in models], **solver(1e-9))
    np.testing.assert_allclose(*[model.intercept_ for model in models], **solver(1e-9))


@landmark_solvers
@intercepts
def test_landmark_model_minimises_over_its_functions(name, fit_intercept, rng):
    X, Y, _ = regression(rng)
    weight = rng.uniform(0.1, 3, len(Y))
    options = {"kernel": "rbf", "gamma": 0.5, "solver": name, "n_components": 6, "tol": 1e-13}
    model = KernelRidge(0.3, fit_intercept=fit_intercept, random_state=0, **options)
    model.fit(X, Y, weight)
    B, K = rbf_kernel(X, model.X_fit_, gamma=0.5), rbf_kernel(model.X_fit_, gamma=0.5)
    residual = Y - B @ model.dual_coef_ - model.intercept_
    gradient = B.T @ (weight[:, None] * residual) - 0.3 * K @ model.dual_coef_
    np.testing.assert_allclose(gradient, 0, atol=1e-9)
    if fit_intercept:
        np.testing.assert_allclose(weight @ residual, 0, atol=1e-9)


@given(seed=st.integers(0, 2**32 - 1))
def test_more_landmarks_never_raise_the_objective(seed):
    rng = np.random.default_rng(seed)
    X, Y, _ = regression(rng, n=30, n_targets=1)
    objectives = []
    order = rng.permutation(30)
    for m in (2, 5, 10, 30):
        rows = order[:m]
        weight = np.where(np.isin(np.arange(30), rows), 1.0, 0.0)
        # Landmarks are drawn among rows of positive weight: nested sets by nested weights.
        landmarks = KernelRidge(kernel="rbf", solver="nystrom", n_components=m)
        Z = landmarks.fit(X, Y, weight).X_fit_
        B, K = rbf_kernel(X, Z, gamma=1 / 3), rbf_kernel(Z, gamma=1 / 3)
        c = np.linalg.lstsq(B.T @ B + K, B.T @ Y)[0]
        objectives.append(np.sum((Y - B @ c) ** 2) + (c.T @ K @ c).item())
    assert np.all(np.diff(objectives) < 1e-9)


@landmark_solvers
def test_landmarks_are_samples_of_positive_weight_and_repeatable(name, rng):
    X, Y, X_test = regression(rng)
    weight = (np.arange(len(Y)) % 3 > 0).astype(float)
    model = KernelRidge(kernel="rbf", solver=name, n_components=10, random_state=0)
    first = model.fit(X, Y, weight).predict(X_test)
    rows = [np.flatnonzero((z == X).all(axis=1)).item() for z in model.X_fit_]
    assert len(set(rows)) == 10
    assert weight[rows].all()
    np.testing.assert_array_equal(model.fit(X, Y, weight).predict(X_test), first)
    other = model.set_params(random_state=1).fit(X, Y, weight)
    assert not np.array_equal(other.predict(X_test), first)


@landmark_solvers
def test_sparse_landmarks_are_those_of_dense_data(name, rng):
    X, Y, X_test = regression(rng)
    X = X * (X > 0)
    model = KernelRidge(kernel="rbf", solver=name, n_components=10, random_state=0)
    dense = model.fit(X, Y).predict(X_test)
    sparse = model.fit(sp.csr_array(X), Y).predict(sp.csr_array(X_test))
    assert sp.issparse(model.X_fit_)
    np.testing.assert_allclose(sparse, dense, **ALGEBRA)


@landmark_solvers
def test_duplicated_landmarks_do_no_harm(name, rng):
    X, Y, X_test = regression(rng, n=20)
    options = {"kernel": "rbf", "fit_intercept": True, "tol": 1e-12}
    doubled = KernelRidge(2.0, solver=name, **options).fit(np.repeat(X, 2, 0), np.repeat(Y, 2, 0))
    exact = KernelRidge(1.0, **options).fit(X, Y)
    np.testing.assert_allclose(doubled.predict(X_test), exact.predict(X_test), **ALGEBRA)


@landmark_solvers
def test_landmarks_are_distinct_where_rows_repeat(name, rng):
    X = rng.integers(0, 4, (600, 3)).astype(float)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] / 3 + 0.1 * rng.normal(size=600)
    options = {"kernel": "rbf", "gamma": 1.0, "random_state": 0, "tol": 1e-12}
    model = KernelRidge(solver=name, n_components=64, **options).fit(X, y)
    assert len(np.unique(model.X_fit_, axis=0)) == len(np.unique(X, axis=0)) == len(model.X_fit_)
    exact = KernelRidge(**options).fit(X, y)
    np.testing.assert_allclose(model.predict(X), exact.predict(X), rtol=1e-5, atol=1e-7)
    some = model.set_params(n_components=20).fit(X, y).X_fit_
    assert len(np.unique(some, axis=0)) == 20


@landmark_solvers
def test_landmarks_do_not_depend_on_the_order_and_take_weights_for_repetitions(name, rng):
    X, Y, X_test = regression(rng, n=60)
    times = rng.integers(0, 4, 60)
    model = KernelRidge(kernel="rbf", solver=name, n_components=10, random_state=0, tol=1e-12)
    weighted = model.fit(X, Y, times.astype(float)).predict(X_test)
    rows = rng.permutation(np.repeat(np.arange(60), times))
    repeated = model.fit(X[rows], Y[rows]).predict(X_test)
    np.testing.assert_allclose(weighted, repeated, **ALGEBRA)


def test_landmarks_are_drawn_by_the_weights_of_all_copies():
    X, weight = np.array([[0.0], [1.0], [0.0], [2.0], [3.0]]), np.array([1e6, 3e6, 2e6, 2e6, 0.0])
    rng = np.random.RandomState(0)
    drawn = np.concatenate([choose_landmarks(1, X, weight, rng) for _ in range(4000)])
    shares = np.bincount(X[drawn, 0].astype(int), minlength=4) / 4000
    np.testing.assert_allclose(shares, [3 / 8, 3 / 8, 2 / 8, 0], atol=0.03)


@landmark_solvers
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_landmarks_keep_their_digits_far_from_the_origin(name, dtype, rng):
    X, Y, X_test = regression(rng)
    options = {"kernel": "poly", "degree": 1, "gamma": 1.0, "fit_intercept": True, "tol": 1e-10}
    near = KernelRidge(solver=name, **options).fit(X, Y).predict(X_test)
    far = KernelRidge(solver=name, **options).fit((X + 100).astype(dtype), Y)
    tolerance = 1e-6 if dtype == np.float64 else 0.02
    np.testing.assert_allclose(far.predict((X_test + 100).astype(dtype)), near, atol=tolerance)


@landmark_solvers
def test_precomputed_matrix_has_no_landmarks(name, rng):
    with pytest.raises(ValueError, match="precomputed"):
        KernelRidge(kernel="precomputed", solver=name).fit(np.eye(5), np.ones(5))


@landmark_solvers
def test_kernel_that_vanishes_on_all_landmarks_is_refused(name):
    with pytest.raises(ValueError, match="zero on all landmarks"):
        KernelRidge(solver=name).fit(np.zeros((5, 2)), np.ones(5))


# ---------------------------------------------------------------- conjugate gradients


def test_too_few_steps_are_reported(rng):
    X, Y, _ = regression(rng)
    model = KernelRidge(
        1e-6, kernel="rbf", solver="cg", n_components=10, max_iter=2, tol=1e-10, random_state=0
    )
    with pytest.warns(ConvergenceWarning, match="after 2 steps"):
        model.fit(X, Y)
    assert model.n_iter_ == 2
    assert np.max(model.residual_norm_) > 1e-10


@given(seed=st.integers(0, 2**32 - 1), tol=st.sampled_from([1e-2, 1e-5, 1e-9]))
def test_steps_end_at_the_tolerance(seed, tol):
    X, Y, _ = regression(np.random.default_rng(seed))
    model = KernelRidge(0.1, kernel="rbf", solver="cg", tol=tol, max_iter=500).fit(X, Y)
    assert np.all(model.residual_norm_ <= tol)
    tighter = KernelRidge(0.1, kernel="rbf", solver="cg", tol=tol / 10, max_iter=500).fit(X, Y)
    assert tighter.n_iter_ >= model.n_iter_


def test_preconditioner_makes_the_steps_few(rng):
    X, Y, _ = regression(rng, n=400, p=2)
    options = {"kernel": "rbf", "solver": "cg", "n_components": 100, "random_state": 0}
    for alpha in (1, 10, 100):
        assert KernelRidge(alpha, **options).fit(X, Y).n_iter_ < 20


def test_zero_targets_need_no_steps_to_speak_of(rng):
    X, Y, X_test = regression(rng)
    model = KernelRidge(kernel="rbf", solver="cg").fit(X, 0 * Y)
    assert not model.predict(X_test).any()
    assert model.n_iter_ == 1


# ---------------------------------------------------------------- callbacks


class Recorder:
    """A callback that writes down the tasks, and asks for the end after so many."""

    def __init__(self, stop_after=np.inf):
        self.stop_after = stop_after
        self.names, self.ends = [], 0

    def setup(self, estimator, context):
        self.max_subtasks = context.max_subtasks

    def on_fit_task_begin(self, estimator, context):
        self.names.append(context.task_name)

    def on_fit_task_end(self, estimator, context):
        self.ends += 1
        return self.ends >= self.stop_after

    def teardown(self, estimator, context):
        self.closed = True


@needs_callbacks
def test_callbacks_see_the_iterations(rng):
    X, Y, _ = regression(rng)
    recorder = Recorder()
    model = KernelRidge(kernel="rbf", solver="cg").set_callbacks(recorder).fit(X, Y)
    assert recorder.names == ["fit"] + ["iteration"] * model.n_iter_
    assert recorder.ends == len(recorder.names)
    assert recorder.max_subtasks == model.max_iter
    assert recorder.closed


@needs_callbacks
def test_callback_stops_the_iterations(rng):
    X, Y, X_test = regression(rng)
    model = KernelRidge(1e-4, kernel="rbf", solver="cg", n_components=10, tol=1e-10, random_state=0)
    model.set_callbacks(Recorder(stop_after=3))
    with pytest.warns(ConvergenceWarning, match="after 3 steps"):
        model.fit(X, Y)
    assert model.n_iter_ == 3
    assert np.isfinite(model.predict(X_test)).all()


@needs_callbacks
@pytest.mark.parametrize("name", ["regressor", "classifier"])
def test_callbacks_see_the_kernels_of_a_search_and_stop_it(name, rng):
    from sklearn_sl.kernel_ridge import KernelRidgeClassifierCV

    X, Y, _ = regression(rng)
    y = Y[:, 0] if name == "regressor" else Y[:, 0] > 2
    Model = KernelRidgeCV if name == "regressor" else KernelRidgeClassifierCV
    recorder = Recorder()
    model = Model(kernel="rbf", kernel_grid={"gamma": [0.1, 1, 10]}).set_callbacks(recorder)
    model.fit(X, y)
    assert recorder.names == ["fit", "kernel", "kernel", "kernel"]
    assert recorder.max_subtasks == 3
    assert model.score_path_.shape == (3, 5)
    model.set_callbacks(Recorder(stop_after=2)).fit(X, y)
    assert model.score_path_.shape == (2, 5)
    assert model.best_kernel_params_["gamma"] in (0.1, 1)


# ---------------------------------------------------------------- mixed precision


@pytest.fixture(scope="module")
def large():
    """Return a problem large enough for mixed precision."""
    return regression(np.random.default_rng(0), n=2500, p=5, n_targets=2)


@intercepts
def test_mixed_precision_gives_the_model_of_double_precision(large, fit_intercept):
    X, Y, X_test = large
    model = KernelRidge(0.1, kernel="rbf", fit_intercept=fit_intercept).fit(X, Y)
    assert model.solver_ == "mixed"
    assert np.all(model.residual_norm_ < 1e-12)
    G = rbf_kernel(X, gamma=0.2) + 0.1 * np.eye(len(X))
    solved = linalg.solve(G, np.column_stack([Y, np.ones(len(X))]), assume_a="pos")
    ones = solved[:, -1:]
    b = solved[:, :-1].sum(axis=0) / ones.sum() if fit_intercept else np.zeros(2)
    expected = rbf_kernel(X_test, X, gamma=0.2) @ (solved[:, :-1] - ones * b) + b
    np.testing.assert_allclose(model.predict(X_test), expected, rtol=1e-9, atol=1e-9)


def test_ill_conditioned_system_is_solved_in_double_precision(large):
    X, Y, X_test = large
    model = KernelRidge(1e-10, kernel="rbf").fit(X, Y)
    assert (model.solver_, model.jitter_) == ("cholesky", 0)
    factor = linalg.cho_factor(rbf_kernel(X, gamma=0.2) + 1e-10 * np.eye(len(X)))
    expected = rbf_kernel(X_test, X, gamma=0.2) @ linalg.cho_solve(factor, Y)
    # Both have lost the digits of the condition, 1e12 or so.
    np.testing.assert_allclose(model.predict(X_test), expected, rtol=1e-2, atol=1e-2)
    assert np.all(model.residual_norm_ < 1e-5)


def test_weights_keep_mixed_precision_exact(large):
    X, Y, X_test = large
    weight = np.random.default_rng(1).uniform(0.01, 10, len(X))
    model = KernelRidge(1.0, kernel="rbf").fit(X, Y[:, 0], weight)
    assert model.solver_ == "mixed"
    G = rbf_kernel(X, gamma=0.2) + np.diag(1 / weight)
    expected = rbf_kernel(X_test, X, gamma=0.2) @ linalg.solve(G, Y[:, 0], assume_a="pos")
    np.testing.assert_allclose(model.predict(X_test), expected, rtol=1e-9, atol=1e-9)


# ---------------------------------------------------------------- size


# On two threads the potrf of OpenBLAS 0.3.30 and 0.3.31, in the wheels of NumPy and SciPy, dies
# from about n = 16,000 on: so in a process of its own, with all threads. The small matrix shows
# that LAPACK is given panels only, the large one that panels survive where the whole does not.
BEYOND_POTRF = """
import sys
import numpy as np
from sklearn_sl import _linalg
from sklearn_sl.kernel_ridge import KernelRidge
rng = np.random.default_rng(0)
n = int(sys.argv[1])
orders, factor = [], _linalg._cholesky.factor
def count(store, offset, start, stop):
    orders.append(stop - start)
    return factor(store, offset, start, stop)
_linalg._cholesky.factor = count
X = rng.normal(size=(n, 10))
y = np.sin(X[:, 0])
model = KernelRidge(0.1, kernel="rbf").fit(X, y)
assert model.solver_ == "mixed" and model.residual_norm_ < 1e-12
rows = rng.choice(n, 50, replace=False)
fitted = model.predict(X[rows])
np.testing.assert_allclose(fitted + 0.1 * model.dual_coef_[rows], y[rows], atol=1e-9)
store = _linalg.empty_store(n)
store[:-1] = 0.5
store[np.arange(n), np.arange(n)] = 1.0
assert _linalg.factorise(store, np.zeros(n))
determinant = 2 * np.log(store[np.arange(1, n + 1), np.arange(n)]).sum()
np.testing.assert_allclose(determinant, (n - 1) * np.log(0.5) + np.log((n + 1) / 2), rtol=1e-9)
assert sum(orders) == 2 * n and max(orders) <= 1000
"""


@pytest.mark.parametrize("n", [2100, pytest.param(16_500, marks=pytest.mark.slow)])
def test_factorisation_survives_where_threaded_lapack_crashes(n):
    run = subprocess.run(
        [sys.executable, "-c", BEYOND_POTRF, str(n)], capture_output=True, text=True, timeout=600
    )
    assert run.returncode == 0, run.stderr


PEAK = """
import resource, sys
import numpy as np
from sklearn_sl.kernel_ridge import KernelRidge
rng = np.random.default_rng(0)
X = rng.normal(size=(200_000, 20))
y = np.sin(X[:, 0]) + X[:, 1]
model = KernelRidge(kernel="rbf", random_state=0, **eval(sys.argv[1])).fit(X, y)
assert model.score(X[:5000], y[:5000]) > 0.5
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss in kilobytes")
@pytest.mark.parametrize(
    "params",
    [{"solver": "nystrom"}, {"solver": "cg", "n_components": 500, "tol": 1e-3}],
    ids=lambda params: params["solver"],
)
def test_landmarks_of_many_samples_need_little_memory(params):
    run = subprocess.run(
        [sys.executable, "-c", PEAK, repr(params)], capture_output=True, text=True, check=True
    )
    assert float(run.stdout) < 2


# ---------------------------------------------------------------- what all solvers share


@pytest.mark.parametrize("name", ["cholesky", "nystrom", "cg"])
def test_classifier_passes_the_solver_on(name, rng):
    X, Y, X_test = regression(rng)
    y = Y[:, 0] > 2
    options = {"kernel": Gaussian(), "solver": name, "n_components": 20, "random_state": 0}
    model = KernelRidgeClassifier(0.3, **options).fit(X, y)
    regressor = KernelRidge(0.3, fit_intercept=True, **options).fit(X, np.where(y, 1.0, -1.0))
    assert model.solver_ == name
    np.testing.assert_allclose(model.decision_function(X_test), regressor.predict(X_test), **EXACT)
