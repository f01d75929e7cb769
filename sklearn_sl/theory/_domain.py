"""The domains of the theorems: what their arguments may be."""

from reprlib import repr as short

import numpy as np

LARGEST = np.finfo(np.float64).max


def real(name, value, low=-LARGEST, high=LARGEST):
    """Return ``value`` as float64, or raise a ValueError unless all of it is in [low, high]."""
    try:
        number = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be a number or an array of numbers: {short(value)}."
        ) from error
    if not np.all((low <= number) & (number <= high)):
        span = "be finite" if low == -LARGEST else f"lie between {low:g} and {high:g}"
        raise ValueError(f"{name} must {span}: {short(value)}.")
    return number


def positive(name, value):
    """Return ``value`` as float64, or raise a ValueError unless all of it is positive."""
    number = real(name, value)
    if not np.all(number > 0):
        raise ValueError(f"{name} must be positive: {short(value)}.")
    return number


def whole(name, value, low):
    """Return ``value`` as float64, or raise a ValueError unless all of it is whole and >= low."""
    number = real(name, value)
    if not np.all((number >= low) & (number == np.floor(number))):
        raise ValueError(f"{name} must be a whole number, at least {low}: {short(value)}.")
    return number


def vector(name, value, low=-LARGEST, high=LARGEST):
    """Return ``value`` as a float64 vector with some entries, all of them in [low, high]."""
    numbers = real(name, value, low, high)
    if numbers.ndim != 1 or not numbers.size:
        raise ValueError(f"{name} must be a list of numbers, not of shape {numbers.shape}.")
    return numbers
