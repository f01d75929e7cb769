"""Arguments and results of formulas that are called with a single number most of the time.

The checks of :mod:`sklearn_sl.theory._domain` make arrays of everything, which takes longer than a
formula does. Here a number of Python stays one.
"""

import math

import numpy as np

from sklearn_sl.theory import _domain

PLAIN = (float, int)


def number(name, value, low=-_domain.LARGEST, high=_domain.LARGEST):
    """Return a float, or a float64 array, or raise a ValueError unless all is in [low, high]."""
    if type(value) in PLAIN and low <= value <= high:
        return float(value)
    return _domain.real(name, value, low, high)


def positive(name, value):
    """Return a float, or a float64 array, or raise a ValueError unless all of it is positive."""
    if type(value) in PLAIN and 0 < value <= _domain.LARGEST:
        return float(value)
    return _domain.positive(name, value)


def count(name, value, low=0):
    """Return whole numbers >= low as float or float64 array, or raise a ValueError."""
    if type(value) in PLAIN and low <= value <= _domain.LARGEST and value == value // 1:
        return float(value)
    return _domain.whole(name, value, low)


def log_count(name, value):
    """Return natural logarithms of whole numbers from one on, of any size."""
    if type(value) is int and value >= 1:
        return math.log(value)
    return _domain.log_count(name, value)


def confidence(name, value):
    """Return probabilities above zero and at most one, or raise a ValueError."""
    value = number(name, value, 0.0, 1.0)
    if any_of(value == 0):
        raise ValueError(f"{name} must be > 0; got {value}.")
    return value


def any_of(condition):
    """Return whether a condition holds, or any one of an array of them."""
    return condition if isinstance(condition, bool) else bool(np.any(condition))


def plain(result):
    """Return a float if the result is a single number, else the array."""
    return result if isinstance(result, np.ndarray) and result.ndim else float(result)
