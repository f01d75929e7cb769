"""Solving in one buffer: the blocked factorisation, mixed precision, jitter and indefiniteness."""

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from scipy import linalg
from scipy.linalg import LinAlgWarning
from sklearn.metrics.pairwise import rbf_kernel

from sklearn_sl import _linalg, _memory

# Around the borders of panels of 512, of one and of several panels.
ORDERS = [1, 2, 3, 511, 512, 513, 1024, 1025, 1300]


def positive_matrix(rng, n):
    """Return a well-conditioned positive definite matrix."""
    factor = rng.normal(size=(n, n + 5)) / np.sqrt(n + 5)
    return factor @ factor.T + np.eye(n)


def store_of(K, dtype=np.float64):
    """Return a store with ``K`` in its upper triangle and rubbish elsewhere."""
    store = np.full((len(K) + 1, len(K)), np.nan, dtype)
    upper = np.triu_indices(len(K))
    store[upper] = K[upper]
    return store


def upper_triangle(store):
    return store[np.triu_indices(len(store) - 1)].copy()


# ---------------------------------------------------------------- the factorisation


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", ORDERS)
def test_blocked_factor_is_that_of_numpy(n, dtype, rng):
    K, shift = positive_matrix(rng, n), rng.uniform(0, 1, n)
    store = store_of(K, dtype)
    assert _linalg.factorise(store, shift.astype(dtype))
    expected = np.linalg.cholesky(K + np.diag(shift))
    tolerance = EXACT if dtype == np.float64 else {"rtol": 1e-3, "atol": 1e-5}
    np.testing.assert_allclose(np.tril(store[1:]), expected, **tolerance)


@pytest.mark.parametrize("n", ORDERS)
def test_single_precision_factor_lives_in_a_double_precision_store(n, rng):
    K, shift = positive_matrix(rng, n), rng.uniform(0, 1, n)
    store = store_of(K)
    before = upper_triangle(store)
    single = store.view(np.float32)
    assert _linalg.factorise(single, shift)
    expected = np.linalg.cholesky(K + np.diag(shift))
    np.testing.assert_allclose(np.tril(single[1:, :n]), expected, rtol=1e-3, atol=1e-5)
    np.testing.assert_array_equal(upper_triangle(store), before)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", ORDERS)
def test_matrix_is_untouched_and_the_residual_is_its_own(n, dtype, rng):
    K, shift = positive_matrix(rng, n), rng.uniform(0, 1, n).astype(dtype)
    store = store_of(K, dtype)
    before = upper_triangle(store)
    b = rng.normal(size=(n, 3)).astype(dtype)
    solution = _linalg.solve(store, shift, b)
    np.testing.assert_array_equal(upper_triangle(store), before)
    G = np.triu(store[:-1].astype(float))
    G = G + np.triu(G, 1).T + np.diag(shift.astype(float))
    size = 10 * np.finfo(dtype).eps * linalg.norm(b)
    np.testing.assert_allclose(solution.residual, b - G @ solution.x, rtol=0, atol=size)
    assert linalg.norm(solution.residual) < 10 * size
    assert (solution.method, solution.jitter) == ("cholesky", 0)
    assert solution.x.dtype == dtype


def test_panels_and_call_sizes_do_not_matter(rng, monkeypatch):
    n = 300
    K, shift, b = positive_matrix(rng, n), np.full(n, 0.1), rng.normal(size=(n, 2))
    whole = _linalg.solve(store_of(K), shift, b)
    monkeypatch.setattr(_linalg, "PANEL", 16)
    monkeypatch.setattr(_linalg, "CALL", 1)
    tiled = _linalg.solve(store_of(K), shift, b)
    np.testing.assert_allclose(tiled.x, whole.x, **EXACT)


@pytest.mark.parametrize("n_sides", [1, 2, 7])
def test_all_sides_are_solved(n_sides, rng):
    K, b = positive_matrix(rng, 40), rng.normal(size=(40, n_sides))
    solution = _linalg.solve(store_of(K), np.zeros(40), b)
    np.testing.assert_allclose(solution.x, np.linalg.solve(K, b), **EXACT)


@pytest.mark.parametrize("place", [0, 100, 511, 512, 599])
def test_one_negative_direction_is_found_wherever_it_is(place):
    diagonal = np.ones(600)
    diagonal[place] = -1
    assert not _linalg.factorise(store_of(np.diag(diagonal)), np.zeros(600))


def test_nan_is_not_positive_definite():
    K = np.eye(5)
    K[2, 3] = np.nan
    assert not _linalg.factorise(store_of(K), np.zeros(5))


@pytest.mark.parametrize("n", [1, 2, 127, 128, 129, 513])
def test_inverse_diagonal_is_that_of_the_inverse(n, rng):
    K, shift = positive_matrix(rng, n), rng.uniform(0, 1, n)
    diagonal, ones = _linalg.inverse_diagonal(store_of(K), shift)
    inverse = np.linalg.inv(K + np.diag(shift))
    np.testing.assert_allclose(diagonal, np.diag(inverse), **EXACT)
    np.testing.assert_allclose(ones, inverse.sum(axis=0), **EXACT)


def test_indefinite_matrix_has_no_inverse_diagonal():
    assert _linalg.inverse_diagonal(store_of(np.diag([1.0, -1.0])), np.zeros(2)) is None


# ---------------------------------------------------------------- mixed precision


@pytest.fixture(scope="module")
def gram():
    """Return a Gram matrix large enough for mixed precision, and two sides."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 8))
    return rbf_kernel(X, gamma=0.1), rng.normal(size=(2000, 2))


def test_mixed_precision_gives_the_solution_of_double_precision(gram):
    K, b = gram
    shift = np.full(len(K), 0.5)
    mixed = _linalg.solve(store_of(K), shift, b)
    assert mixed.method == "mixed"
    assert np.all(linalg.norm(mixed.residual, axis=0) < 1e-12 * linalg.norm(b, axis=0))
    double = linalg.solve(K + np.diag(shift), b, assume_a="pos")
    np.testing.assert_allclose(mixed.x, double, rtol=1e-9, atol=1e-11)


def test_mixed_precision_stands_back_where_it_would_fail(gram):
    K, b = gram
    store = store_of(K)
    before = upper_triangle(store)
    solution = _linalg.solve(store, np.full(len(K), 1e-10), b)
    assert (solution.method, solution.jitter) == ("cholesky", 0)
    np.testing.assert_array_equal(upper_triangle(store), before)


def test_failed_mixed_precision_falls_back_on_the_same_store(gram, monkeypatch):
    K, b = gram
    shift = np.full(len(K), 1e-7)
    expected = _linalg.solve(store_of(K), shift, b)
    assert expected.method == "cholesky"
    monkeypatch.setattr(_linalg, "SINGLE_CONDITION", np.inf)
    monkeypatch.setattr(_linalg, "REFINEMENT_STEPS", 1)
    tried = _linalg.solve(store_of(K), shift, b)
    assert tried.method == "cholesky"
    np.testing.assert_array_equal(tried.x, expected.x)


def test_zero_side_has_the_zero_solution_in_mixed_precision(gram):
    K, b = gram
    sides = np.column_stack([b[:, 0], np.zeros(len(K))])
    solution = _linalg.solve(store_of(K), np.ones(len(K)), sides)
    assert solution.method == "mixed"
    assert not solution.x[:, 1].any()


# ---------------------------------------------------------------- singular and indefinite


def test_singular_matrix_is_solved_with_the_least_jitter_that_helps():
    K = np.ones((4, 4))
    solution = _linalg.solve(store_of(K), np.zeros(4), np.ones((4, 1)))
    assert 0 < solution.jitter <= 1e8 * np.finfo(float).eps
    np.testing.assert_allclose(K @ solution.x, 1, atol=1e-6)
    with pytest.warns(LinAlgWarning, match="numerically singular"):
        _linalg.report(solution)


def test_zero_matrix_is_solved_with_jitter():
    solution = _linalg.solve(store_of(np.zeros((3, 3))), np.zeros(3), np.ones((3, 1)))
    assert solution.jitter > 0
    assert np.isfinite(solution.x).all()


def test_jitter_is_in_proportion_to_the_shift():
    shift = np.array([1.0, 2.0, 4.0]) * 1e-30
    np.testing.assert_array_equal(_linalg.with_jitter(shift, 0.0), shift)
    np.testing.assert_allclose(_linalg.with_jitter(shift, 1e-9), [1e-9, 2e-9, 4e-9], rtol=1e-12)
    np.testing.assert_array_equal(_linalg.with_jitter(np.zeros(2), 1e-9), [1e-9, 1e-9])
    np.testing.assert_array_equal(_linalg.with_jitter(np.full(2, 1e-300), 1e13), [1e13, 1e13])


def test_jitter_is_large_enough_for_the_solution_to_mean_something():
    K, b = np.ones((2, 2)), np.array([[1.0], [3.0]])
    solution = _linalg.solve(store_of(K), np.zeros(2), b)
    np.testing.assert_allclose(K @ solution.x, 2, atol=1e-5)
    np.testing.assert_allclose(K @ solution.x + solution.shift[:, None] * solution.x, b, atol=1e-5)


def test_penalty_of_the_user_is_not_touched_while_the_matrix_is_positive():
    K, b = np.ones((2, 2)), np.array([[1.0], [3.0]])
    solution = _linalg.solve(store_of(K), np.full(2, 1e-13), b)
    assert solution.jitter == 0


def test_indefinite_matrix_is_solved_and_reported(rng):
    K = rng.normal(size=(30, 30))
    K = K + K.T
    b = rng.normal(size=(30, 2))
    shift = np.full(30, 0.1)
    solution = _linalg.solve(store_of(K), shift, b)
    assert solution.method == "indefinite"
    np.testing.assert_allclose(solution.x, np.linalg.solve(K + np.diag(shift), b), **ALGEBRA)
    assert linalg.norm(solution.residual) < 1e-11
    with pytest.warns(LinAlgWarning, match="not positive"):
        _linalg.report(solution)


def test_singular_indefinite_matrix_is_an_error():
    K = np.diag([1.0, -1.0, -3.0])
    with pytest.raises(linalg.LinAlgError, match="indefinite, and singular"):
        _linalg.solve(store_of(K), np.ones(3), np.ones((3, 1)))


def test_overflow_is_an_error():
    with pytest.raises(ValueError, match="overflows"):
        _linalg.solve(store_of(np.full((2, 2), np.inf)), np.ones(2), np.ones((2, 1)))
    with pytest.raises(ValueError, match="overflows"):
        _linalg.eigh(np.full((2, 2), np.inf))


# ---------------------------------------------------------------- memory


def test_available_memory_is_a_positive_number_or_unknown():
    available = _memory.available_memory()
    assert available is None or available > 0


def test_memory_check_raises_only_if_an_array_cannot_fit(monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: 2**30)
    _memory.check_memory(2**30, "The matrix", "try less.")
    with pytest.raises(ValueError, match=r"The matrix needs 2\.0 GiB, but 1\.0 GiB .*: try less\."):
        _memory.check_memory(2**31, "The matrix", "try less.")
    monkeypatch.setattr(_memory, "available_memory", lambda: None)
    _memory.check_memory(2**80, "The matrix", "try less.")


def test_least_of_the_known_limits_counts(monkeypatch):
    monkeypatch.setattr(_memory, "_meminfo", lambda: 3000)
    monkeypatch.setattr(_memory, "_control_group", lambda: 2000)
    assert _memory.available_memory() == 2000
    monkeypatch.setattr(_memory, "_control_group", lambda: None)
    assert _memory.available_memory() == 3000


def test_systems_without_linux_files_are_known_by_their_physical_memory(monkeypatch, tmp_path):
    monkeypatch.setattr(_memory, "Path", lambda path: tmp_path / "missing")
    assert _memory._meminfo() is None
    assert _memory._control_group() is None
