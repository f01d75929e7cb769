"""How much memory there is, to say no before the operating system does."""

import errno
import os
from contextlib import contextmanager
from pathlib import Path

try:
    import resource
except ImportError:  # not on Windows
    resource = None

# What other libraries say where there is no memory for a thread, or for a sparse factor.
SIGNS_OF_TOO_LITTLE = ("can't start new thread", "SUPERLU", "SuperLU", "alloc fails")


def available_memory():
    """Return the bytes that a new array can take, or None if nobody knows."""
    limits = [_meminfo(), _control_group(), address_space_left()]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    known = [limit for limit in limits if limit is not None]
    return min(known) if known else None


def _meminfo():
    """Return Linux's own estimate of what is available."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    return next((int(s.split()[1]) * 1024 for s in lines if s.startswith("MemAvailable")), None)


def _control_group():
    """Return what the limit of a container leaves."""
    group = Path("/sys/fs/cgroup")
    try:
        limit = int((group / "memory.max").read_text())
        return limit - int((group / "memory.current").read_text())
    except (OSError, ValueError):  # no such file, or "max"
        return None


def address_space_left():
    """Return the bytes that a limit of the process (``ulimit -v``) leaves, None without one."""
    if resource is None:
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return None
    return max(0, limit - pages * resource.getpagesize())


@contextmanager
def memory_errors():
    """Raise what other libraries say of too little memory as ``MemoryError``."""
    try:
        yield
    except BaseException as error:
        complain_of_memory(error)
        raise


def complain_of_memory(error):
    """Raise a ``MemoryError`` if an error of another library means one."""
    if isinstance(error, RuntimeError) and any(sign in str(error) for sign in SIGNS_OF_TOO_LITTLE):
        raise MemoryError(f"There is too little memory: {error}") from error
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        raise MemoryError(f"There is too little memory: {error}") from error


class ProblemTooLargeError(MemoryError, ValueError):
    """An array of the problem does not fit into memory; other parameters may need no such array."""


def check_memory(n_bytes, what, advice):
    """Raise a ``MemoryError``, also a ``ValueError``, with advice if an array cannot fit."""
    if n_bytes < 2**26:  # not worth asking the operating system
        return
    available = available_memory()
    if available is not None and n_bytes > available:
        raise ProblemTooLargeError(
            f"{what} needs {n_bytes / 2**30:.1f} GiB, but {available / 2**30:.1f} GiB of memory "
            f"are available: {advice}"
        )
