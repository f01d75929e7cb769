"""Checks of a state that comes from outside: by pickle, joblib, skops or ``copy``.

Compiled code trusts the arrays of a fitted model: a wrong index would read, or write, memory that
belongs to something else. A model file may be damaged, or made to do harm. So whoever hands arrays
to compiled code looks through them once, when its state is set; predictions cost nothing more.
"""

from numbers import Integral

import numpy as np


class CheckedState:
    """Objects that look through their state when it is set.

    Hook: ``_check_state()`` raises an error about what is wrong.
    """

    def __setstate__(self, state):
        vars(self).update({name: native(part) for name, part in state.items()})
        check_state(self)


def native(part):
    """Return an array in the byte order of this machine, and anything else as it is."""
    if isinstance(part, np.ndarray) and part.dtype != part.dtype.newbyteorder("="):
        return part.astype(part.dtype.newbyteorder("="))
    return part


def check_state(owner):
    """Look through sparse matrices, and let an object look through the rest of its state.

    Whatever they stumble over is damage.
    """
    try:
        for name, part in vars(owner).items():
            if hasattr(part, "indptr"):
                check_indices(part, name)
        if hasattr(owner, "_check_state"):
            owner._check_state()
    except Exception as error:
        raise ValueError(
            f"The model is damaged: the state of a {type(owner).__name__} is not valid. {error} "
            "Load an intact copy of the file, or fit the model again."
        ) from error


def check_number(owner, name, low, high=np.inf):
    """Complain of an attribute that is no integer from ``low`` to ``high``; return it."""
    number = getattr(owner, name)
    if not isinstance(number, Integral) or not low <= number <= high:
        raise ValueError(f"{name} must be an integer between {low} and {high}, not {number!r:.80}.")
    return int(number)


def check_shape(owner, name, shape, dtype=np.float64):
    """Complain of an attribute that is no array of this shape and type; return it.

    A size that is None may be any, one that is a tuple any of these.
    """
    array = getattr(owner, name)
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{name} must be an array, not a {type(array).__name__}.")
    if array.dtype != dtype or array.ndim != len(shape) or not all(map(fits, array.shape, shape)):
        raise ValueError(
            f"{name} must be an array of {named(dtype)} with the shape {described(shape)}, but it "
            f"is one of {named(array.dtype)} with the shape {array.shape}."
        )
    return array


def named(dtype):
    """Return the name of a type, or those of the fields of records."""
    dtype = np.dtype(dtype)
    return f"records of {', '.join(dtype.names)}" if dtype.names else str(dtype)


def described(shape):
    """Return a shape in words, where a size may be any, or one of several."""
    sizes = ["any" if n is None else " or ".join(map(str, np.atleast_1d(n))) for n in shape]
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def fits(size, wanted):
    """Return whether a size is the one that is wanted, or one of those."""
    return wanted is None or (size in wanted if isinstance(wanted, tuple) else size == wanted)


def check_entries(entries, name, low, high):
    """Complain of entries of an array that are not from ``low`` to ``high``."""
    if not entries.size:
        return
    least, most = entries.min(), entries.max()
    if not (low <= least and most <= high):
        raise ValueError(
            f"The entries of {name} must lie between {low} and {high}, but there are entries "
            f"between {least} and {most}."
        )


def check_sparse(owner, name, shape):
    """Complain of an attribute that is no sparse array of this shape with indices within it."""
    matrix = getattr(owner, name)
    if len(matrix.shape) != len(shape) or not all(map(fits, matrix.shape, shape)):
        raise ValueError(f"{name} must be of the shape {shape}, not {matrix.shape}.")
    check_indices(matrix, name)
    return matrix


def check_indices(matrix, name):
    """Complain of a compressed sparse matrix with indices outside of it."""
    indptr = matrix.indptr
    if indptr[0] != 0 or (np.diff(indptr) < 0).any():  # SciPy does not look if the last one is zero
        raise ValueError(f"The rows of the sparse matrix {name} must follow one another.")
    matrix.check_format(full_check=True)
