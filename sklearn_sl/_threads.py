"""How many threads there are for array work, and the sharing out of that work among them.

BLAS itself gains nothing from threads on a tile of a Gram matrix, whose product is
cheap and whose map, an exponential, it does not see. So the tiles are shared out
among threads, each of which calls a BLAS of one thread. Small problems have a BLAS of
one thread, too: several wait for one another in a busy loop, and where another process
has the processor that one of them needs, a millisecond becomes a tenth of a second.
"""

import threading
from concurrent.futures import Executor, Future
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from queue import SimpleQueue

import numpy as np
from scipy import linalg
from threadpoolctl import ThreadpoolController

from sklearn_sl._memory import address_space_left

# Address space that a thread takes: its stack, its heap, and the work space of two BLAS libraries.
BYTES_PER_THREAD = 160 * 2**20
BYTES_OF_BLAS = 72 * 2**20
# A problem is small up to so many rows, and multiplications in the product of X with itself; for
# a tiny one BLAS uses no threads anyway.
TINY_ROWS = 32
SMALL_ROWS = 1000
SMALL_PRODUCT = 1e9


@cache
def _blas():
    """Return the controllers of the BLAS libraries that are loaded; finding them is slow."""
    return ThreadpoolController().select(user_api="blas").lib_controllers


def blas_threads():
    """Return how many threads there are for array work: those of BLAS, one in a thread of ours."""
    if getattr(_here, "sharing", False):
        return 1
    return one_blas_thread.spared or max(_blas_limits(), default=1)


def _blas_limits():
    """Return the number of threads of each BLAS library."""
    return [library.get_num_threads() or 1 for library in _blas()]


def _set_blas_limits(limits):
    """Set the number of threads of each BLAS library, in whichever thread this is called."""
    _release_blas()
    for library, limit in zip(_blas(), limits):
        library.set_num_threads(limit)
    _release_blas()


def _release_blas():
    """Let any thread set limits: threadpoolctl ignores all but the first that has done so."""
    for library in _blas():
        if hasattr(library, "clear_controlling_thread"):  # from threadpoolctl 3.8 on
            library.clear_controlling_thread(force=True)


@contextmanager
def blas_threads_for(X):
    """Work in a context in which BLAS has one thread if ``X`` is small, and else those it has.

    One thread, too, where memory is limited: without work space, BLAS ends the process.
    """
    alone = _is_small(X) or _few_can_be_afforded()
    with one_blas_thread() if alone else nullcontext():
        yield


def _few_can_be_afforded():
    """Return whether threads of BLAS may lack work space, which the calling one is made sure of."""
    left = address_space_left()
    if left is None:
        return False
    _secure_work_space()
    return left < max(_blas_limits(), default=1) * BYTES_PER_THREAD


@cache
def _secure_work_space():
    """Let BLAS take its work space in this thread, which it keeps, or raise ``MemoryError``."""
    if address_space_left() < BYTES_OF_BLAS:
        raise MemoryError(
            f"There are only {address_space_left() / 2**20:.0f} MB of address space left "
            "(ulimit -v), too little for the work space of BLAS."
        )
    A = np.ones((200, 200))
    linalg.get_blas_funcs("gemm", (A,))(1.0, A, A @ A)


def affordable(n_threads):
    """Return how many of the threads there is memory for, one at least."""
    left = None if n_threads < 2 else address_space_left()
    if left is None:
        return n_threads
    return max(1, min(n_threads, 1 + left // BYTES_PER_THREAD))


def _is_small(X):
    """Return whether several threads would gain nothing, but would be used."""
    shape = X.shape if hasattr(X, "shape") else (len(X),) if hasattr(X, "__len__") else ()
    n_rows, n_columns = (*shape, 1, 1)[:2]
    product = n_rows * n_columns * min(n_rows, n_columns)
    return TINY_ROWS < n_rows <= SMALL_ROWS and product <= SMALL_PRODUCT


# Whether this thread does a share of the work of ``for_each`` or ``in_order``.
_here = threading.local()


class _OneBlasThread:
    """A limit of one BLAS thread, from the first entry to the last exit of any thread.

    The threads that it spares, as many as BLAS had, are there for :func:`for_each`.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._entries = 0
        self.spared = None

    @contextmanager
    def __call__(self):
        with self._lock:
            if not self._entries:
                self._limits = _blas_limits()
                self.spared = max(self._limits, default=1)
                if self.spared > 1:
                    _set_blas_limits([1] * len(self._limits))
            self._entries += 1
        try:
            yield
        finally:
            with self._lock:
                self._entries -= 1
                if not self._entries:
                    if self.spared > 1:
                        _set_blas_limits(self._limits)
                    self.spared = None


one_blas_thread = _OneBlasThread()


def start_threads(work, n_threads):
    """Return threads that do ``work()``: as many of these as there is memory for, maybe none."""
    threads = []
    for _ in range(affordable(n_threads + 1) - 1):
        thread = threading.Thread(target=work, daemon=True)
        try:
            thread.start()
        except RuntimeError:  # can't start new thread
            break
        threads.append(thread)
    return threads


class Helpers(Executor):
    """Threads beside the calling one, as many of these as there is memory for.

    Without any, ``submit`` does the work itself.
    """

    def __init__(self, n_threads):
        self._tasks = SimpleQueue()
        self._threads = start_threads(self._help, n_threads)

    def __len__(self):
        return len(self._threads)

    def _help(self):
        _here.sharing = True
        while (task := self._tasks.get()) is not None:
            _fulfil(*task)

    def submit(self, work, /, *args, **kwargs):
        """Return the future of ``work(*args, **kwargs)``."""
        task = Future(), partial(work, *args, **kwargs)
        if self._threads:
            self._tasks.put(task)
        else:
            _fulfil(*task)
        return task[0]

    def shutdown(self, wait=True, *, cancel_futures=False):
        """End the threads after the tasks that they have, or that they are at."""
        while cancel_futures and not self._tasks.empty():
            self._tasks.get()[0].cancel()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads if wait else ():
            thread.join()
        self._threads = []


def _fulfil(future, work):
    """Do the work, unless nobody waits for it any more."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(work())
    except BaseException as error:
        future.set_exception(error)


def in_order(work, items, n_threads):
    """Yield ``work(item, over)`` of all items in their order, worked on by so many threads.

    By fewer where there is no memory for so many. Closing the generator, or an error, ends the
    work after the items that are under way; from then on ``over()`` is true, so that they can make
    it short.
    """
    closed = threading.Event()

    def work_on(item):
        return work(item, closed.is_set)

    helpers = Helpers(n_threads if n_threads > 1 else 0)
    if len(helpers) < 2:
        helpers.shutdown()
        yield from map(work_on, items)
        return
    with one_blas_thread():
        try:
            yield from helpers.map(work_on, items)
        finally:
            closed.set()
            helpers.shutdown(cancel_futures=True)


def for_each(work, items):
    """Call ``work(item)`` for all items, in no certain order, by several threads.

    The calling thread does its share, so that it is done in time where there is no other. An
    error, or Ctrl-C, ends the work after the items that are under way.
    """
    n_threads = min(blas_threads(), len(items))
    with one_blas_thread():
        if n_threads < 2:
            for item in items:
                work(item)
            return
        share = _Share(work, items)
        others = start_threads(share.take_part, n_threads - 1)
        try:
            share.take_part()
        finally:
            share.stop()
            for thread in others:
                thread.join()
        share.check()


class _Share:
    """Items that several threads take one by one."""

    def __init__(self, work, items):
        self._work, self._items = work, iter(items)
        self._lock, self._error = threading.Lock(), None

    def take_part(self):
        """Work on items until none is left; an error is kept for the caller and ends the work."""
        _here.sharing, before = True, getattr(_here, "sharing", False)
        try:
            while (item := self._next()) is not _NONE_LEFT:
                self._work(item)
        except Exception as error:
            self._error = self._error or error
            self.stop()
        finally:
            _here.sharing = before

    def _next(self):
        with self._lock:
            return next(self._items, _NONE_LEFT)

    def stop(self):
        """Leave the items that nobody has taken."""
        with self._lock:
            self._items = iter(())

    def check(self):
        """Raise the error that ended the work, if there was one."""
        if self._error is not None:
            raise self._error


_NONE_LEFT = object()
