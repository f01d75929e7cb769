"""Checks and functions of single numbers without the cost of arrays, which they also take."""

import math
from numbers import Integral, Real

import numpy as np

from sklearn_sl.theory import _domain
from sklearn_sl.theory._domain import short

# Integers up to here are float64 numbers.
LARGEST_WHOLE = 2**53


def whole(name, value, low):
    """Return ``value`` as float or float64 array, like :func:`_domain.whole`."""
    if type(value) is int and low <= value <= LARGEST_WHOLE:
        return float(value)
    return _domain.whole(name, value, low)


def size(name, value, low):
    """Return a single integer, or raise a ValueError unless it is one and at least ``low``."""
    if isinstance(value, Integral) and value >= low:
        return int(value)
    raise ValueError(f"{name} must be an integer >= {low}; got {short(value)}.")


def positive(name, value):
    """Return ``value`` as float or float64 array, like :func:`_domain.positive`."""
    if isinstance(value, float | int) and 0 < value <= LARGEST_WHOLE:
        return float(value)
    return _domain.positive(name, value)


def real(name, value, low, high):
    """Return ``value`` as float or float64 array, like :func:`_domain.real`."""
    if isinstance(value, float | int) and low <= value <= high:
        return float(value)
    return _domain.real(name, value, low, high)


def probability(name, value):
    """Return ``value`` as float or float64 array, or raise a ValueError unless it is in (0, 1]."""
    number = positive(name, value)
    if not (number <= 1 if type(number) is float else np.all(number <= 1)):
        raise ValueError(f"{name} must be in (0, 1]; got {short(value)}.")
    return number


def single_probability(name, value):
    """Return a float, or raise a ValueError unless it is one and in (0, 1]."""
    if isinstance(value, Real) and 0 < value <= 1:
        return float(value)
    raise ValueError(f"{name} must be a number in (0, 1]; got {short(value)}.")


def log(number):
    """Return the natural logarithm."""
    return math.log(number) if type(number) is float else np.log(number)


def exp(number):
    """Return the exponential function, infinite where it overflows."""
    if type(number) is float and number < 700:
        return math.exp(number)
    with np.errstate(over="ignore"):
        return np.exp(number)


def sqrt(number):
    """Return the square root."""
    return math.sqrt(number) if type(number) is float else np.sqrt(number)


def at_least(low, number):
    """Return the larger one of two numbers, the first of which is single."""
    return max(low, number) if type(number) is float else np.maximum(low, number)


def integer(number):
    """Return the largest integer that is not above."""
    if type(number) is float:
        return math.floor(number)
    return np.floor(number).astype(np.int64)


def plain(value):
    """Return a single number as one of Python, and arrays as they are."""
    if type(value) in (float, int):
        return value
    return value.item() if np.ndim(value) == 0 else value
