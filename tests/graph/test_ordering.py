"""Orders of elimination, what they predict, and what is chosen by that."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from _clock import ANSWER_SECONDS, slowness
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import spilu
from sklearn.neighbors import kneighbors_graph
from threadpoolctl import threadpool_limits

from sklearn_sl._laplacians import _factor, _ordering, _sparse_cholesky
from sklearn_sl._laplacians._factor import (
    Factor,
    Limits,
    Pattern,
    TooMuchFill,
    least_degree_order,
    pattern_within,
)
from sklearn_sl._threads import _blas_limits
from sklearn_sl.graph import (
    LaplacianInterpolationClassifier,
    PLaplacianClassifier,
    SpectralBisection,
    _spectral,
    graph_from_edges,
    laplacian,
)


def pattern(edges, n):
    """Return a symmetric matrix with a full diagonal and these edges."""
    half = sp.csr_array((np.ones(len(edges)), tuple(np.transpose(edges))), shape=(n, n))
    return sp.csr_array(half + half.T + sp.eye_array(n))


def random_pattern(n, n_edges, seed=0):
    return pattern(np.random.default_rng(seed).integers(n, size=(n_edges, 2)), n)


def grid(side):
    place = np.arange(side**2).reshape(side, side)
    down = np.column_stack([place[1:].ravel(), place[:-1].ravel()])
    across = np.column_stack([place[:, 1:].ravel(), place[:, :-1].ravel()])
    return pattern(np.vstack([down, across]), side**2)


def neighbours(n, n_features, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, n_features))
    return pattern(np.transpose(kneighbors_graph(X, 10).nonzero()), n)


def tree(n):
    child = np.arange(1, n)
    return pattern(np.column_stack([child, (child - 1) // 2]), n)


def counts(A, order):
    """Return how many entries each column of the factor has, by elimination vertex by vertex."""
    joined = [set(A[[v]].indices) - {v} for v in range(A.shape[0])]
    found = []
    for v in order:
        found.append(len(joined[v]))
        for u in joined[v]:
            joined[u] |= joined[v]
            joined[u] -= {u, v}
    return np.array(found, dtype=float)


def order_of_superlu(A):
    """Return the minimum degree order of SuperLU."""
    A = sp.csc_array(sp.csr_array(A != 0, dtype=float) + 2 * A.shape[0] * sp.eye_array(A.shape[0]))
    options = {"SymmetricMode": True}
    found = spilu(
        A, drop_tol=1e10, fill_factor=1, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0,
        options=options,
    )  # fmt: skip
    return np.argsort(found.perm_c)


# The order


@given(st.integers(1, 40), st.floats(0, 4), st.integers(0, 10**6))
def test_predicted_fill_is_that_of_the_elimination(n, edges_per_vertex, seed):
    A = random_pattern(n, int(n * edges_per_vertex), seed)
    graph = _ordering.QuotientGraph(A.indptr.astype(np.intp), A.indices.astype(np.intp), n)
    assert graph.eliminate(np.inf)
    order = np.empty(n, dtype=np.intp)
    graph.write_order(order)
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    found = counts(A, order)
    assert graph.n_eliminated == n
    assert graph.n_entries == found.sum()
    assert graph.work == pytest.approx(found @ found)


def fill_and_work(A, order):
    """Return the number of entries of the factor, and the sum of their squares by columns."""
    A = sp.csr_array(A[order][:, order])
    indptr, indices, n = A.indptr.astype(np.intp), A.indices.astype(np.intp), A.shape[0]
    parent, mark, count = np.empty(n, np.intp), np.full(n, -1), np.zeros(n, np.intp)
    _sparse_cholesky.elimination_tree(indptr, indices, parent, np.empty(n, np.intp))
    _sparse_cholesky.count_below(indptr, indices, parent, 0, 10**9, mark, count)
    return count.sum(), count @ count


@pytest.mark.parametrize(
    "make",
    [
        lambda: grid(60),
        lambda: neighbours(3000, 2),
        lambda: neighbours(1000, 10),
        lambda: random_pattern(1500, 4000),
    ],
    ids=["grid", "plane", "ten dimensions", "random"],
)
def test_fill_is_about_that_of_superlu(make):
    A = make()
    ours = fill_and_work(A, least_degree_order(A, Limits()))
    theirs = fill_and_work(A, order_of_superlu(A))
    assert ours[0] <= 1.15 * theirs[0]
    assert ours[1] <= 1.3 * theirs[1]


def test_trees_and_stars_have_no_fill():
    star = pattern(np.column_stack([np.arange(1, 20_000), np.zeros(19_999, dtype=int)]), 20_000)
    for A in (tree(20_000), star):
        Pattern(A, Limits(n_entries=A.shape[0] - 1))  # raises if there are more


def test_slices_do_not_matter(monkeypatch):
    A = neighbours(500, 3)
    whole = least_degree_order(A, Limits())
    monkeypatch.setattr(_factor, "READ", 1)
    np.testing.assert_array_equal(least_degree_order(A, Limits()), whole)


def test_vertices_with_very_many_neighbours_come_last():
    A = sp.lil_array(grid(30))
    A[7], A[:, 7] = 1, 1
    assert least_degree_order(sp.csr_array(A), Limits())[-1] == 7


@pytest.mark.parametrize("limits", [Limits(n_entries=50_000), Limits(work=10**7)])
def test_hopeless_factors_are_given_up_on_the_way(limits, monkeypatch):
    A = random_pattern(3000, 15_000)
    monkeypatch.setattr(_factor, "READ", 1000)
    monkeypatch.setattr(_factor, "_permuted", None)  # never called
    with pytest.raises(TooMuchFill):
        Pattern(A, limits)
    assert pattern_within(A, limits) is None


# What is chosen


def fit_two_labels(edges, solver="auto"):
    W = graph_from_edges(edges)
    y = np.full(W.shape[0], -1)
    y[0], y[-1] = 0, 1
    return LaplacianInterpolationClassifier(affinity="precomputed", solver=solver).fit(W, y)


def test_trees_and_cliques_with_tails_are_factorised():
    """Conjugate gradients would need as many steps as the graph is long."""
    child = np.arange(1, 2**14)
    assert fit_two_labels(np.column_stack([child, (child - 1) // 2])).error_bound_ < 1e-9
    clique = np.transpose(np.triu_indices(100, 1))
    tail = np.column_stack([np.arange(99, 20_000), np.arange(100, 20_001)])
    model = fit_two_labels(np.vstack([clique, tail]))
    assert model.solver_ == "lu"
    # Along the tail the values are those of resistors in a row.
    np.testing.assert_allclose(
        model.label_distributions_[100:, 1], 1 - np.arange(19_900, -1, -1) / 19_901.02, atol=1e-8
    )


def test_random_graphs_are_left_to_conjugate_gradients(rng):
    ring = np.column_stack([np.arange(4000), np.roll(np.arange(4000), 1)])
    edges = np.vstack([ring, rng.integers(4000, size=(20_000, 2))])
    model = fit_two_labels(edges[edges[:, 0] != edges[:, 1]])
    assert model.solver_ == "cg"


# Other threads, and Ctrl-C


def random_graph(n):
    edges = np.random.default_rng(0).integers(n, size=(5 * n, 2))
    ring = np.column_stack([np.arange(n), np.roll(np.arange(n), 1)])
    edges = np.vstack([ring, edges[edges[:, 0] != edges[:, 1]]])
    y = np.full(n, -1)
    y[:20] = np.arange(20) % 2
    return graph_from_edges(edges), y


class Ticks:
    """A thread that wakes up all the time, and knows how long it had to wait at most."""

    def __enter__(self):
        self.gap, self._over = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._tick)
        self._thread.start()
        return self

    def _tick(self):
        last = time.perf_counter()
        while not self._over.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            self.gap, last = max(self.gap, now - last), now

    def __exit__(self, *error):
        self._over.set()
        self._thread.join()


@pytest.mark.alone
@pytest.mark.parametrize(
    "model",
    [
        PLaplacianClassifier(1.5, affinity="precomputed"),
        SpectralBisection(affinity="precomputed"),
        LaplacianInterpolationClassifier(affinity="precomputed"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_other_threads_run_while_a_graph_is_fitted(model):
    W, y = random_graph(12_000)
    with Ticks() as ticks:
        model.fit(W, y)
    assert ticks.gap <= 0.2 or ticks.gap <= 0.2 * slowness()


@pytest.mark.alone
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")
def test_factorisations_answer_an_interrupt():
    W, y = random_graph(12_000)
    model = LaplacianInterpolationClassifier(affinity="precomputed", solver="lu")

    def interrupt(signum, frame):
        raise KeyboardInterrupt

    answers = []
    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        for delay in (0.05, 0.15, 0.4):
            due = time.perf_counter() + delay
            signal.setitimer(signal.ITIMER_REAL, delay)
            with pytest.raises(KeyboardInterrupt):
                model.fit(W, y)
            answers.append(time.perf_counter() - due)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert max(answers) <= ANSWER_SECONDS or max(answers) <= ANSWER_SECONDS * slowness()


INTERRUPTED = """
import os, signal, sys, threading
import numpy as np
from sklearn_sl.graph import LaplacianInterpolationClassifier, graph_from_edges
edges = np.random.default_rng(0).integers(20_000, size=(100_000, 2))
W = graph_from_edges(edges[edges[:, 0] != edges[:, 1]], n_vertices=20_000)
y = np.where(np.arange(20_000) < 20, np.arange(20_000) % 2, -1)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    LaplacianInterpolationClassifier(affinity="precomputed", solver="lu").fit(W, y)
except KeyboardInterrupt:
    sys.exit(7)
"""


@pytest.mark.alone
@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_interrupted_programs_end_at_once_and_without_a_word():
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", INTERRUPTED], capture_output=True, text=True
    )
    assert (ended.returncode, ended.stderr) == (7, "")


@pytest.mark.parametrize("entry", ["factor", "solve_lower", "solve_upper", "invert"])
def test_factors_do_not_wait_for_threads_of_blas(entry, monkeypatch):
    compiled, limits = getattr(_sparse_cholesky, entry), []

    def watched(*args):
        limits.extend(_blas_limits())
        return compiled(*args)

    monkeypatch.setattr(_sparse_cholesky, entry, watched)
    W, _ = random_graph(100)
    with threadpool_limits(2):
        factor = Factor(sp.csr_array(laplacian(W) + sp.eye_array(100)))
        factor.solve(np.ones((100, 1)))
        factor.inverse  # noqa: B018
        assert set(limits) == {1}
        assert set(_blas_limits()) == {2}


def test_lanczos_does_not_wait_for_threads_of_blas(monkeypatch):
    limits, step = [], _spectral._Operator._step

    def watched(self, x):
        limits.extend(_blas_limits())
        return step(self, x)

    monkeypatch.setattr(_spectral._Operator, "_step", watched)
    with threadpool_limits(2):
        SpectralBisection(affinity="precomputed", solver="lanczos").fit(random_graph(1200)[0])
    assert set(limits) == {1}
