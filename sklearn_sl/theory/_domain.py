"""The domains of the theorems: what their arguments may be.

Most formulas take less time than making an array of each argument does. So a number of Python
becomes a ``np.float64``, by a few comparisons; it divides by zero as arrays do, and is a ``float``.
"""

import math
import sys
from numbers import Integral, Real
from reprlib import repr as short

import numpy as np

LARGEST = sys.float_info.max  # of Python, which compares it with integers of any size

# For formulas whose infinite results are documented.
unwarned = np.errstate(all="ignore")


def real(name, value, low=-LARGEST, high=LARGEST):
    """Return ``value`` as float64, or raise a ValueError unless all of it is in [low, high]."""
    if isinstance(value, float | int) and low <= value <= min(high, LARGEST):
        return np.float64(value)
    try:
        number = np.asarray(value, dtype=np.float64)[()]
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
    if isinstance(value, float | int) and 0 < value <= LARGEST:
        return np.float64(value)
    number = real(name, value)
    if not np.all(number > 0):
        raise ValueError(f"{name} must be > 0; got {short(value)}.")
    return number


def whole(name, value, low=0):
    """Return ``value`` as float64, or raise a ValueError unless all of it is whole and >= low."""
    if isinstance(value, float | int) and low <= value <= LARGEST and value % 1 == 0:
        return np.float64(value)
    number = real(name, value)
    if not np.all((number >= low) & (number == np.floor(number))):
        raise ValueError(f"{name} must be an integer >= {low}; got {short(value)}.")
    return number


def probability(name, value):
    """Return ``value`` as float64, or raise a ValueError unless all of it is in (0, 1]."""
    if isinstance(value, float | int) and 0 < value <= 1:
        return np.float64(value)
    number = positive(name, value)
    if not np.all(number <= 1):
        raise ValueError(f"{name} must be in (0, 1]; got {short(value)}.")
    return number


def log2_count(name, value):
    """Return binary logarithms of whole numbers from one on, of any size, as float64."""
    if isinstance(value, int) and value >= 1:
        return np.float64(math.log2(value))
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
    if isinstance(value, int) and value >= 1:
        return np.float64(math.log(value))
    if np.asarray(value).dtype != object:
        return np.log(whole(name, value, low=1))
    return log2_count(name, value) * np.log(2)


def log_size_of(n_hypotheses, log_n_hypotheses):
    """Return the natural logarithm of the size of a class, given as a number or a logarithm."""
    if (n_hypotheses is None) == (log_n_hypotheses is None):
        raise ValueError(
            "Pass either n_hypotheses or log_n_hypotheses; got "
            f"n_hypotheses={short(n_hypotheses)} and log_n_hypotheses={short(log_n_hypotheses)}."
        )
    if log_n_hypotheses is not None:
        return real("log_n_hypotheses", log_n_hypotheses, 0.0)
    return log_count("n_hypotheses", n_hypotheses)


def vector(name, value, low=-LARGEST, high=LARGEST):
    """Return ``value`` as a float64 vector with some entries, all of them in [low, high]."""
    numbers = real(name, value, low, high)
    if numbers.ndim != 1 or not numbers.size:
        raise ValueError(f"{name} must be a non-empty 1-D array; got shape {numbers.shape}.")
    return numbers


# ---------------------------------------------------------------- single numbers


def integer(name, value, low):
    """Return a single integer, or raise a ValueError unless it is one and at least ``low``."""
    if isinstance(value, Integral) and value >= low:
        return int(value)
    raise ValueError(f"{name} must be an integer >= {low}; got {short(value)}.")


def single_probability(name, value):
    """Return a float, or raise a ValueError unless it is one and in (0, 1]."""
    if isinstance(value, Real) and 0 < value <= 1:
        return float(value)
    raise ValueError(f"{name} must be a number in (0, 1]; got {short(value)}.")


def one_of(name, value, choices):
    """Return ``value``, or raise a ValueError unless it is one of the choices."""
    if value not in choices:
        valid = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be one of {valid}; got {short(value)}.")
    return value


# ---------------------------------------------------------------- results


def any_of(condition):
    """Return whether a condition holds, or any one of an array of them."""
    return bool(condition.any() if isinstance(condition, np.ndarray) else condition)


def plain(result):
    """Return a number of Python for one without dimensions, and arrays as they are."""
    if isinstance(result, np.ndarray | np.generic) and not result.ndim:
        return result.item()
    return result
