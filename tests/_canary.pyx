"""Mistakes on purpose, which the sanitizers must catch; built by tests/sanitize.py only."""


def read_past_the_end(const double[::1] values):
    """Return the number behind the last one of ``values``."""
    cdef const double *first = &values[0]
    return first[values.shape[0]]


def shift(long long value, int places):
    """Return ``value << places``, which C does not define from 64 places on."""
    return value << places
