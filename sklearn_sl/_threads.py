"""How many threads there are for array work, and the sharing out of that work among them.

BLAS itself gains nothing from threads on a tile of a Gram matrix, whose product is
cheap and whose map, an exponential, it does not see. So the tiles are shared out
among threads, each of which calls a BLAS of one thread. Small problems have a BLAS of
one thread, too: several wait for one another in a busy loop, and where another process
has the processor that one of them needs, a millisecond becomes a tenth of a second.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController

# A problem is small up to so many rows, and multiplications in the product of X with itself; for
# a tiny one BLAS uses no threads anyway.
TINY_ROWS = 32
SMALL_ROWS = 1000
SMALL_PRODUCT = 1e9


@cache
def _blas():
    """Return the controllers of the BLAS libraries that are loaded; finding them is slow."""
    import scipy.linalg  # noqa: F401  (has a BLAS of its own)

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


def blas_threads_for(X):
    """Return a context in which BLAS has one thread if ``X`` is small, and else those it has."""
    return one_blas_thread() if _is_small(X) else nullcontext()


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


def _take_share():
    _here.sharing = True


def in_order(work, items, n_threads):
    """Yield ``work(item, over)`` of all items in their order, worked on by so many threads.

    Closing the generator, or an error, ends the work after the items that are under way; from
    then on ``over()`` is true, so that they can make it short.
    """
    closed = threading.Event()

    def work_on(item):
        return work(item, closed.is_set)

    if n_threads < 2:
        yield from map(work_on, items)
        return
    with one_blas_thread():
        pool = ThreadPoolExecutor(n_threads, initializer=_take_share)
        try:
            yield from pool.map(work_on, items)
        finally:
            closed.set()
            pool.shutdown(cancel_futures=True)


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
        others = [threading.Thread(target=share.take_part) for _ in range(n_threads - 1)]
        for thread in others:
            thread.start()
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
