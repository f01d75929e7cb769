"""How much memory there is, to say no before the operating system does."""

import os
from pathlib import Path


def available_memory():
    """Return the bytes that a new array can take, or None if nobody knows."""
    limits = [_meminfo(), _control_group()]
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


def check_memory(n_bytes, what, advice):
    """Raise a ``ValueError`` with advice if an array cannot fit."""
    if n_bytes < 2**26:  # not worth asking the operating system
        return
    available = available_memory()
    if available is not None and n_bytes > available:
        raise ValueError(
            f"{what} needs {n_bytes / 2**30:.1f} GiB, but {available / 2**30:.1f} GiB of memory "
            f"are available: {advice}"
        )
