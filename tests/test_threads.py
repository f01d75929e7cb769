"""Threads change nothing but the time, and not that of small problems."""

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from _scripts import script_environment
from conftest import EXACT
from threadpoolctl import threadpool_limits

from sklearn_sl._threads import (
    Helpers,
    _blas_limits,
    blas_threads,
    blas_threads_for,
    for_each,
    in_order,
    one_blas_thread,
)
from sklearn_sl.kernel_ridge import KernelRidge
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


def test_last_thread_that_leaves_gives_the_threads_of_blas_back(four_threads):
    inside, go_on = threading.Event(), threading.Event()

    def stay():
        with one_blas_thread():
            inside.set()
            go_on.wait(10)

    other = threading.Thread(target=stay)
    with one_blas_thread():
        other.start()
        inside.wait(10)
    assert set(_blas_limits()) == {1}
    go_on.set()
    other.join()
    assert set(_blas_limits()) == {4}


def test_limit_holds_in_a_thread_that_did_not_set_the_last_one(four_threads):
    def limits_inside():
        with one_blas_thread():
            return _blas_limits()

    with ThreadPoolExecutor(1) as pool:
        assert set(pool.submit(limits_inside).result()) == {1}
    assert set(_blas_limits()) == {4}


SIZES = {(20, 5): 4, (200, 5): 1, (900,): 1, (1000, 1000): 1, (1001, 5): 4, (900, 100_000): 4}


@pytest.mark.parametrize(("shape", "n_threads"), SIZES.items(), ids=str)
def test_problems_have_the_blas_threads_that_suit_their_size(shape, n_threads, four_threads):
    with blas_threads_for(np.broadcast_to(0.0, shape)):
        assert set(_blas_limits()) == {n_threads}
    assert set(_blas_limits()) == {4}


def test_items_of_a_list_are_rows(four_threads):
    with blas_threads_for(["text"] * 100):
        assert set(_blas_limits()) == {1}


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux how long each thread has run")
def test_no_small_fit_or_prediction_wakes_a_thread_of_blas():
    # One test for all estimators: the other process imports once, and has no other threads.
    script = Path(__file__).with_name("_spinning.py")
    environment = script_environment(OPENBLAS_NUM_THREADS="4")
    run = subprocess.run(
        [sys.executable, script], env=environment, stdout=subprocess.PIPE, check=True, timeout=600
    )
    milliseconds = json.loads(run.stdout)
    assert milliseconds.pop("a product of large matrices") > 1
    assert {name: time for name, time in milliseconds.items() if time > 1} == {}


@pytest.fixture
def busy_machine():
    """Keep every processor busy with something else."""
    with ExitStack() as stack:
        for _ in range(os.cpu_count()):
            busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(busy.wait)
            stack.callback(busy.kill)
        yield


@pytest.mark.alone
def test_small_fits_are_as_fast_on_a_busy_machine_as_without_threads(busy_machine, rng):
    X, y = rng.normal(size=(400, 5)), rng.normal(size=400)
    seconds = {1: [], 4: []}
    for _ in range(40):
        for n_threads, found in seconds.items():
            with threadpool_limits(n_threads):
                start = time.perf_counter()
                KernelRidge(kernel="rbf").fit(X, y)
                found.append(time.perf_counter() - start)
    # Threads that wait for one another make it ten times the time and more.
    assert np.median(seconds[4]) < 3 * np.median(seconds[1])


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


@pytest.fixture
def two_threads_at_most(monkeypatch):
    """Let the operating system refuse every thread after the second."""
    start, started = threading.Thread.start, []

    def start_or_refuse(thread):
        if len(started) == 2:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_or_refuse)


@pytest.mark.parametrize("n_threads", [2, 3, 8])
def test_work_is_done_by_the_threads_that_there_are(n_threads, two_threads_at_most):
    results = list(in_order(lambda item, over: item + 1, range(20), n_threads))
    results += list(in_order(lambda item, over: item + 1, range(20), n_threads))  # by none
    assert results == 2 * list(range(1, 21))


def test_tiles_are_worked_on_by_the_threads_that_there_are(four_threads, two_threads_at_most):
    done = []
    for_each(done.append, range(20))
    for_each(done.append, range(20))
    assert sorted(done) == sorted(2 * list(range(20)))


def test_caller_does_the_work_where_there_is_no_helper():
    with Helpers(0) as helpers:
        assert len(helpers) == 0
        assert helpers.submit(threading.get_ident).result() == threading.get_ident()
        with pytest.raises(ZeroDivisionError):
            helpers.submit(lambda: 1 / 0).result()
