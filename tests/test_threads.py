"""Sharing out tiles among threads changes nothing but the time."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import EXACT
from threadpoolctl import threadpool_limits

from sklearn_sl._threads import blas_threads, for_each, in_order
from sklearn_sl.kernels import Anova, Gaussian, Linear, Matern, gram, gram_blocks, gram_product


@pytest.fixture
def four_threads():
    with threadpool_limits(4):
        yield


def test_every_item_is_worked_on_once_by_several_threads(four_threads):
    seen, threads = [], set()
    meeting = threading.Barrier(2, timeout=10)

    def work(item):
        if item < 2:
            meeting.wait()  # passes only if two items are under way at once
        seen.append(item)
        threads.add(threading.get_ident())

    for_each(work, range(100))
    assert sorted(seen) == list(range(100))
    assert len(threads) > 1


def test_limit_of_the_user_is_respected():
    threads = set()
    with threadpool_limits(1):
        for_each(lambda item: threads.add(threading.get_ident()), range(10))
    assert threads == {threading.get_ident()}


def test_blas_has_one_thread_inside_and_its_own_number_after(four_threads):
    inside = []
    for_each(lambda item: inside.append(blas_threads()), range(8))
    assert set(inside) == {1}
    assert blas_threads() == 4


def test_number_of_threads_survives_concurrent_calls(four_threads):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: for_each(lambda item: sum(range(2000)), range(20)), range(40)))
    assert blas_threads() == 4


def test_error_of_an_item_is_raised_and_ends_the_work(four_threads):
    done = []

    def work(item):
        if item == 3:
            raise ZeroDivisionError("item 3")
        done.append(item)

    with pytest.raises(ZeroDivisionError, match="item 3"):
        for_each(work, range(10_000))
    assert len(done) < 9_999
    assert blas_threads() == 4


KERNELS = [
    Gaussian(gamma=0.1),
    Matern(nu=0.5),
    Linear(),
    Anova(degree=2),
    0.5 * Gaussian() + Linear(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_matrices_are_the_same_for_any_number_of_threads(kernel, rng):
    X, Y, coef = rng.normal(size=(1100, 5)), rng.normal(size=(700, 5)), rng.normal(size=(700, 2))
    results = []
    for n_threads in (1, 4):
        with threadpool_limits(n_threads):
            blocks = np.concatenate([block.copy() for _, block in gram_blocks(kernel, X, Y)])
            results.append(
                (gram(kernel, X), kernel(X, Y), blocks, gram_product(kernel, X, Y, coef))
            )
    for alone, together in zip(*results):
        np.testing.assert_allclose(together, alone, **EXACT)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_results_come_in_the_order_of_the_items(n_threads):
    squares = in_order(lambda item, over: item**2, range(20), n_threads)
    assert list(squares) == [item**2 for item in range(20)]


def test_work_that_nobody_waits_for_is_told_so():
    begun, told = threading.Semaphore(0), []

    def work(item, over):
        if item:
            begun.release()
            while not over():
                pass
            told.append(item)

    results = in_order(work, range(50), 3)
    next(results)
    begun.acquire(), begun.acquire()
    results.close()
    assert 2 <= len(told) <= 3
