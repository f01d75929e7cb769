"""Many small pieces of array work, done by as many threads as BLAS would use.

BLAS itself gains nothing from threads on a tile of a Gram matrix, whose product is
cheap and whose map, an exponential, it does not see. So the tiles are shared out
among threads, each of which calls a BLAS of one thread.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _blas():
    """Return the controller of the BLAS libraries that are loaded; finding them is slow."""
    import scipy.linalg  # noqa: F401  (has a BLAS of its own)

    return ThreadpoolController().select(user_api="blas")


def blas_threads():
    """Return how many threads BLAS may use now, by the environment or a limit of the user's."""
    return max((library["num_threads"] for library in _blas().info()), default=1)


class _OneBlasThread:
    """A limit of one BLAS thread, from the first entry to the last exit of any thread."""

    def __init__(self):
        self._lock = threading.Lock()
        self._entries = 0

    @contextmanager
    def __call__(self):
        with self._lock:
            if not self._entries:
                self._limit = _blas().limit(limits=1)
            self._entries += 1
        try:
            yield
        finally:
            with self._lock:
                self._entries -= 1
                if not self._entries:
                    self._limit.restore_original_limits()


_one_blas_thread = _OneBlasThread()


def for_each(work, items):
    """Call ``work(item)`` for all items, in no certain order, by several threads.

    An error, or Ctrl-C, ends the work after the items that are under way.
    """
    n_threads = min(blas_threads(), len(items))
    if n_threads < 2:
        for item in items:
            work(item)
        return
    with _one_blas_thread():
        pool = ThreadPoolExecutor(n_threads)
        try:
            for _ in pool.map(work, items):
                pass
        finally:
            pool.shutdown(cancel_futures=True)
