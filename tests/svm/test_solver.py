"""The solver: compiled steps against their twin, and every way to the same solution."""

import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
from _clock import slowness
from conftest import ALGEBRA, EXACT, needs_callbacks, solver
from reference.smo import smo
from sklearn import svm as peer
from sklearn.datasets import make_blobs, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from sklearn_sl.kernels import Gaussian, Polynomial
from sklearn_sl.svm import SVC, SVR, _smo
from sklearn_sl.svm._gram import KernelGram, MatrixGram, SubGram, runs, whole_matrix
from sklearn_sl.svm._many import Batch, _first_steps, solve_many, source_of
from sklearn_sl.svm._problem import Solutions, margin_problem, tube_problem
from sklearn_sl.svm._solver import EXACT as MOST_IN_DOUBLE
from sklearn_sl.svm._solver import Search, solve


def samples(n, seed=0, n_features=6):
    """Return features, signs and responses."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    response = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)
    return X, np.where(response > 0, 1.0, -1.0), response


def state_of(problem, K, padded):
    """Return the state of a problem as the compiled routine takes it."""
    n = len(K)
    state = np.zeros((8, padded))
    state[1, :n], state[2, :n], state[3, :n] = problem.target, problem.lower, problem.upper
    state[4, :n], state[5, :n] = problem.width, K.diagonal()
    return state


def compiled_steps(problem, K, dtype, *, shrinking=False, tol=1e-3, max_steps=10_000):
    """Return coefficients, gradient, steps and violation of the compiled routine."""
    padded = -(-len(K) // _smo.PADDING) * _smo.PADDING
    store = np.zeros((len(K), padded), dtype=dtype)
    store[:, : len(K)] = K
    state, violation = state_of(problem, K, padded), np.empty(1)
    taken = _smo.solve(store, state, tol, 1e-12, shrinking, max_steps, 10**9, violation)
    return state[0, : len(K)], state[1, : len(K)], taken, violation[0]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["margin", "tube"])
def test_compiled_steps_are_those_of_the_twin(kind, seed):
    X, sign, y = samples(50 + seed, seed)
    K, cost = rbf_kernel(X, gamma=0.3), np.linspace(0.5, 5, len(X))
    problem = margin_problem(sign, cost) if kind == "margin" else tube_problem(y, cost, 0.1)
    # No ties: the compiled routine takes any of several that violate most.
    problem = replace(problem, target=problem.target + 0.01 * X[:, 3])
    data = K, problem.target, problem.lower, problem.upper
    for steps in (1, 5, 20):
        twin = smo(*data, width=problem.width, max_steps=steps)
        b, v, taken, _ = compiled_steps(problem, K, np.float64, max_steps=steps)
        assert taken == twin[2] == steps
        np.testing.assert_allclose(b, twin[0], **ALGEBRA)
        np.testing.assert_allclose(v, twin[1], **ALGEBRA)
    # Later a rounding error may decide between two steps, but not where they lead.
    twin = smo(*data, width=problem.width, tol=1e-10, max_steps=100_000)
    b, _, _, violation = compiled_steps(problem, K, np.float64, tol=1e-10, max_steps=100_000)
    assert violation <= 1e-10
    np.testing.assert_allclose(b, twin[0], **ALGEBRA)


@pytest.mark.parametrize("n", [7, 8, 9, 300, 901])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shrinking", [False, True])
def test_gradient_and_sum_are_kept_whatever_the_size(n, dtype, shrinking):
    X, sign, _ = samples(n)
    sign[:2] = -1, 1
    K = rbf_kernel(X, gamma=0.3).astype(dtype).astype(np.float64)
    problem = margin_problem(sign, np.full(n, 10.0))
    b, v, _, violation = compiled_steps(problem, K, dtype, shrinking=shrinking)
    assert violation <= 1e-3
    assert problem.violation(b, v) <= 1e-3 + 1e-9
    np.testing.assert_allclose(v, sign - K @ b, rtol=1e-9, atol=1e-9)
    assert abs(b.sum()) < 1e-9
    assert np.all((b >= problem.lower) & (b <= problem.upper))


def test_every_step_raises_the_dual_objective():
    X, sign, _ = samples(80)
    K = rbf_kernel(X, gamma=0.3)
    problem = margin_problem(sign, np.full(80, 5.0))
    heights = []
    for steps in range(0, 60, 3):
        b, v, _, _ = compiled_steps(problem, K, np.float64, max_steps=steps)
        heights.append(problem.dual_objective(b, v))
    assert np.all(np.diff(heights) > 0)


def test_work_in_slices_is_the_work_in_one_piece():
    X, sign, _ = samples(200)
    K = rbf_kernel(X, gamma=0.3)
    problem = margin_problem(sign, np.full(200, 5.0))
    whole, _, steps, _ = compiled_steps(problem, K, np.float64)
    state, violation, taken = state_of(problem, K, 200), np.empty(1), 0
    while True:
        some = _smo.solve(K, state, 1e-3, 1e-12, False, 10_000, 1000, violation)
        taken += some
        if violation[0] <= 1e-3:
            break
    assert taken == steps
    np.testing.assert_array_equal(state[0], whole)


@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.2), Polynomial(2, 0.1, 1.0)])
@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_cache_shrinking_and_precision_do_not_change_the_solution(kernel, squared, intercept):
    n = MOST_IN_DOUBLE + 300  # blocks in float32
    X, sign, _ = samples(n)
    problem = margin_problem(sign, np.full(n, 2.0), squared=squared, intercept=intercept)
    gram = KernelGram(kernel, X)
    exact = solve(problem, MatrixGram(whole_matrix(gram, np.float64)), tol=1e-6)
    for options in ({}, {"cache_bytes": 3e6}, {"shrinking": False}):
        solution = solve(problem, gram, tol=1e-4, **options)
        assert solution.converged
        assert solution.violation <= 1e-4
        exact_v = problem.target - problem.ridge * solution.b - whole_product(gram, solution.b)
        np.testing.assert_allclose(solution.v, exact_v, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(solution.values, exact.values, **solver(3e-4))


def whole_product(gram, b):
    return whole_matrix(gram, np.float64) @ b


@pytest.mark.parametrize("squared", [False, True])
def test_tight_tolerance_is_reached_beyond_float32(squared):
    n = MOST_IN_DOUBLE + 100
    X, sign, _ = samples(n)
    problem = margin_problem(sign, np.full(n, 10.0), squared=squared)
    solution = solve(problem, KernelGram(Gaussian(gamma=0.2), X), tol=1e-8)
    assert solution.converged
    assert solution.violation <= 1e-8


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("squared", [False, True])
def test_many_problems_at_once_are_solved_as_one_by_one(intercept, squared, rng):
    X, _, _ = samples(90)
    codes = np.sort(rng.integers(0, 4, 90))
    gram = KernelGram(Gaussian(gamma=0.3), X)
    groups = [np.flatnonzero((codes == i) | (codes == j)) for i in range(4) for j in range(i)]
    problems = [
        margin_problem(
            np.where(codes[rows] == codes[rows[0]], 1.0, -1.0),
            rng.uniform(0.5, 5, len(rows)),
            squared=squared,
            intercept=intercept,
        )
        for rows in groups
    ]
    options = {"tol": 1e-12, "watch": lambda violation: False}
    one_by_one = Solutions.of(
        [solve(problem, SubGram(gram, rows), **options) for problem, rows in zip(problems, groups)]
    )
    batch = Batch.of(problems, groups)
    exact, rough = (MatrixGram(whole_matrix(gram, dtype)) for dtype in (np.float64, np.float32))
    rough.product = exact.product  # float32 steers, float64 certifies
    rough.fill_square = exact.fill_square
    for source in (gram, exact, rough):
        together = solve_many(batch, source, cache_bytes=2e8, **options)
        assert together.converged.all()
        np.testing.assert_allclose(together.b, one_by_one.b, **ALGEBRA)
        numbers = together.certificates()
        for name, expected in one_by_one.certificates().items():
            if name not in ("n_iter_", "kkt_violation_"):
                np.testing.assert_allclose(numbers[name], expected, **ALGEBRA, err_msg=name)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_is_shared_out_among_threads(threads, rng, monkeypatch):
    monkeypatch.setattr("sklearn_sl.svm._many.WORTH_A_THREAD", 0)
    X, y = make_blobs(120, centers=7, cluster_std=3.0, random_state=0)
    model = SVC(n_jobs=threads).fit(X, y)
    expected = SVC().fit(X, y)
    np.testing.assert_array_equal(model.dual_coef_, expected.dual_coef_)
    np.testing.assert_array_equal(model.intercept_, expected.intercept_)


def test_problems_of_a_batch_are_those_it_is_made_of(rng):
    problems = [
        tube_problem(rng.normal(size=n), rng.uniform(0, 2, n) * (rng.random(n) < 0.8), 0.1)
        for n in (1, 5, 9)
    ]
    rows = [np.sort(rng.choice(20, len(problem.target), replace=False)) for problem in problems]
    batch = Batch.of(problems, rows)
    b = np.clip(rng.normal(size=15), batch.whole.lower, batch.whole.upper)
    b[[3, 11]] = 1e-15, batch.whole.upper[11] * (1 - 1e-15)
    v = rng.normal(size=15)
    violations, intercepts = batch.violations(b, v), batch.intercepts(b, v)
    settled = batch.settled(b)
    for k, problem in enumerate(problems):
        part = batch.segment(k)
        np.testing.assert_array_equal(batch.rows[part], rows[k])
        np.testing.assert_array_equal(batch.problem(k).cost, problem.cost)
        assert violations[k] == problem.violation(b[part], v[part])
        np.testing.assert_allclose(intercepts[k], problem.best_intercept(b[part], v[part]), **EXACT)
        np.testing.assert_array_equal(settled[part], problem.settled(b[part]))


def test_runs_of_indices_are_copied_as_any_others(rng):
    K = rng.normal(size=(400, 400))
    for rows in (np.r_[10:150, 200:390], np.sort(rng.choice(400, 150, replace=False)), np.r_[5]):
        out = np.empty((len(rows), len(rows)))
        MatrixGram(K).fill_square(rows, out)
        np.testing.assert_array_equal(out, K[np.ix_(rows, rows)])
        covered = np.concatenate([np.arange(place.start, place.stop) for place, _ in runs(rows)])
        np.testing.assert_array_equal(covered, np.arange(len(rows)))


def test_block_keeps_what_two_choices_of_rows_share(rng):
    X, sign, _ = samples(120)
    K = rbf_kernel(X, gamma=0.3)
    for intercept in (True, False):
        problem = margin_problem(sign, np.ones(120), intercept=intercept)
        block = Search(problem, MatrixGram(K), tol=1e-3).block
        for size in (40, 90, 30, 120, 17):
            rows = np.sort(rng.choice(120, size, replace=False))
            block.choose(rows)
            np.testing.assert_array_equal(np.sort(block.rows), rows)
            np.testing.assert_array_equal(block.matrix(rows), K[np.ix_(rows, rows)])


def test_linear_machine_with_a_large_cost_does_not_crawl():
    X, sign, _ = samples(600, n_features=10)
    start = time.perf_counter()
    model = SVC(kernel="linear", C=1e4).fit(100 * X, sign)
    assert model.converged_
    assert time.perf_counter() - start < 20 * slowness()


def test_unbounded_dual_is_an_error():
    X, sign, _ = samples(60)
    with pytest.raises(ValueError, match="unbounded"):
        SVC(kernel="sigmoid", gamma=1.0, loss="squared_hinge", C=100.0).fit(X, sign)


def test_unbounded_dual_of_a_pair_of_classes_is_an_error():
    X, _, y = samples(90)
    with pytest.raises(ValueError, match="unbounded"):
        SVC(kernel="sigmoid", gamma=1.0, loss="squared_hinge", C=100.0).fit(
            X, np.digitize(y, [-0.5, 0.5])
        )


def test_number_of_threads_does_not_change_the_machine():
    X, sign, _ = samples(1500)
    values = []
    for n_threads in (1, 4):
        with threadpool_limits(n_threads):
            values.append(SVC(C=10.0).fit(X, sign).decision_function(X))
    np.testing.assert_allclose(*values, **EXACT)


def test_threads_for_pairs_do_not_change_the_machine():
    X, y = make_classification(600, 10, n_informative=6, n_classes=4, random_state=0)
    alone, together = (SVC(n_jobs=n).fit(X, y) for n in (1, 3))
    np.testing.assert_array_equal(alone.dual_coef_, together.dual_coef_)


def test_small_cache_is_kept(rng):
    X, sign, _ = samples(4000)
    gram = KernelGram(Gaussian(gamma=0.2), X)
    search = Search(margin_problem(sign, np.ones(4000)), gram, tol=1e-3, cache_bytes=1e7)
    search.approach()
    assert search.block.buffer.nbytes <= 1e7
    assert search.finish().converged


def test_verbose_fit_ends_with_its_certificates(capsys):
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    model = SVC(verbose=True).fit(X, y)
    last = capsys.readouterr().out.splitlines()[-1]
    gap, violation = model.duality_gap_ / model.primal_objective_, model.kkt_violation_
    assert last == f"[SVC] fitted: gap {gap.item():.3g}, violation {violation.max():.3g}"


def test_verbose_fit_tells_the_violation(capsys):
    X, sign, y = samples(100)
    for model, target in ((SVC(verbose=True), sign), (SVR(verbose=True), y)):
        model.fit(X, target)
        assert "kkt_violation" in capsys.readouterr().out


class Listener:
    """A callback that keeps what it is told, and asks for the end after some tasks."""

    max_propagation_depth = None

    def __init__(self, stop_after=np.inf):
        self.told, self.stop_after = [], stop_after

    def setup(self, estimator, context):
        """Begin."""

    def teardown(self, estimator, context):
        """End."""

    def on_fit_task_begin(self, *args, **kwargs):
        """Hear of the begin of a task."""

    def on_fit_task_end(self, *args, metadata=None, **kwargs):
        """Hear of the end of a task."""
        if metadata:
            self.told.append(metadata["kkt_violation"])
        return len(self.told) >= self.stop_after


@needs_callbacks
def test_callbacks_are_told_the_violation_of_each_slice():
    X, sign, _ = samples(500)
    listener = Listener()
    SVC(C=100.0).set_callbacks(listener).fit(X, sign)
    assert listener.told
    assert listener.told[-1] <= 1e-3


@needs_callbacks
def test_fit_that_a_callback_stops_is_a_fit_with_a_warning():
    X, sign, _ = samples(5000)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = SVC(C=1000.0).set_callbacks(Listener(stop_after=1)).fit(X, sign)
    assert not model.converged_
    assert [w.category for w in caught] == [ConvergenceWarning]
    assert "duality gap" in str(caught[0].message)
    assert model.kkt_violation_[0] > model.tol


def test_problems_that_nobody_came_to_are_not_solved():
    X, _, y = samples(60)
    gram = KernelGram(Gaussian(gamma=0.3), X)
    places = [np.arange(60)] * 3
    problems = [margin_problem(np.where(y > level, 1.0, -1.0), np.ones(60)) for level in (-1, 0, 1)]
    batch = Batch.of(problems, places)
    source = source_of(batch, gram, 2e8)
    *_, violations = _first_steps(batch, gram, source, tol=1e-3, watch=bool)
    assert all(violations <= 1e-3)  # one slice is enough
    *_, violations = _first_steps(
        batch, gram, source, tol=1e-3, watch=lambda violation: True, slice_size=1
    )
    assert (violations <= 1e-3).tolist() == [False, False, False]


def test_kernel_function_may_compare_strings():
    def shared_letters(left, right):
        return np.array([[len(set(a) & set(b)) for b in right] for a in left], dtype=float)

    words = ["abc", "abd", "acd", "xyz", "xyw", "xzw"] * 2
    y = [0, 0, 0, 1, 1, 1] * 2
    model, theirs = SVC(kernel=shared_letters).fit(words, y), peer.SVC(kernel=shared_letters)
    expected = theirs.fit(np.array(words), y).decision_function(np.array(["abx", "yzw"]))
    np.testing.assert_allclose(model.decision_function(["abx", "yzw"]), expected, **solver(1e-3))
