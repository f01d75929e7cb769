"""The domains of the theorems: what their arguments may be."""

import math
from numbers import Integral
from reprlib import repr as short

import numpy as np

LARGEST = np.finfo(np.float64).max


def real(name, value, low=-LARGEST, high=LARGEST):
    """Return ``value`` as float64, or raise a ValueError unless all of it is in [low, high]."""
    try:
        number = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be a number or an array of numbers; got {short(value)}."
        ) from error
    except OverflowError as error:  # an integer of Python has no largest one
        raise ValueError(
            f"{name} must be within the range of float64; got {short(value)}."
        ) from error
    if not np.all((low <= number) & (number <= high)):
        if high < LARGEST:
            span = f"in [{low:g}, {high:g}]"
        else:
            span = "finite" if low == -LARGEST else f"finite and >= {low:g}"
        raise ValueError(f"{name} must be {span}; got {short(value)}.")
    return number


def positive(name, value):
    """Return ``value`` as float64, or raise a ValueError unless all of it is positive."""
    number = real(name, value)
    if not np.all(number > 0):
        raise ValueError(f"{name} must be > 0; got {short(value)}.")
    return number


def whole(name, value, low):
    """Return ``value`` as float64, or raise a ValueError unless all of it is whole and >= low."""
    number = real(name, value)
    if not np.all((number >= low) & (number == np.floor(number))):
        raise ValueError(f"{name} must be an integer >= {low}; got {short(value)}.")
    return number


def log2_count(name, value):
    """Return binary logarithms of whole numbers from one on, of any size, as float64."""
    counts = np.asarray(value)
    if counts.dtype != object:
        return np.log2(whole(name, value, low=1))
    # Integers of Python that no other type holds.
    for count in counts.ravel():
        if not (isinstance(count, Integral) and count >= 1):
            raise ValueError(f"{name} must be an integer >= 1; got {short(value)}.")
    return np.array([math.log2(count) for count in counts.ravel()]).reshape(counts.shape)[()]


def log_count(name, value):
    """Return natural logarithms of whole numbers from one on, of any size, as float64."""
    if np.asarray(value).dtype != object:
        return np.log(whole(name, value, low=1))
    return log2_count(name, value) * np.log(2)


def vector(name, value, low=-LARGEST, high=LARGEST):
    """Return ``value`` as a float64 vector with some entries, all of them in [low, high]."""
    numbers = real(name, value, low, high)
    if numbers.ndim != 1 or not numbers.size:
        raise ValueError(f"{name} must be a non-empty 1-D array; got shape {numbers.shape}.")
    return numbers
