"""What the kernels for sets and strings share: checks, samples, inner products of counts."""

import numbers

import numpy as np
import scipy.sparse as sp

from sklearn_sl.kernels._base import Kernel

# One call of compiled code does about this many elementary steps (a multiply-add of a vectorised
# loop): 5 ms as a rule, and never so long that Ctrl-C has to wait.
SLICE_STEPS = 2**26
# The entry of a sparse product costs as much as so many of a dense one.
SPARSE_COST = 32
# The widest table of counts that a tile makes dense.
DENSE_FEATURES = 2**13


class StructuredKernel(Kernel):
    """A kernel that writes itself as its parameters, without their bounds."""

    def __repr__(self):
        params = self.get_params().items()
        text = ", ".join(f"{k}={_short(v)}" for k, v in params if not k.endswith("_bounds"))
        return f"{type(self).__name__}({text})"


def _short(value):
    return f"{value:.3g}" if isinstance(value, float) else repr(value)


def check_whole(kernel, name, smallest):
    """Raise unless a parameter is a whole number, at least ``smallest``."""
    value = getattr(kernel, name)
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or value < smallest:
        raise ValueError(
            f"{name} of {type(kernel).__name__} must be an integer >= {smallest}; got {value!r}."
        )


def check_real(kernel, name, valid, interval):
    """Raise unless a parameter is a number for which ``valid`` holds."""
    value = getattr(kernel, name)
    if not isinstance(value, numbers.Real) or not valid(value):
        raise ValueError(
            f"{name} of {type(kernel).__name__} must be a float in {interval}; got {value!r}."
        )


def samples_of(X, items):
    """Return the samples of a sequence, a column or a 1-D array as a list."""
    if isinstance(X, str | bytes):
        raise TypeError(f"X is a single {type(X).__name__}: pass a list of {items}, such as [X].")
    if isinstance(X, set | frozenset | dict) or sp.issparse(X) or not hasattr(X, "__len__"):
        raise TypeError(f"X must be a sequence of {items}, got {type(X).__name__}.")
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape) != 1:
        X = _column(X, shape, items)
    if len(X) == 0:
        raise ValueError(f"X has 0 samples: at least one of the {items} is needed.")
    return X.tolist() if hasattr(X, "tolist") else list(X)


def _column(X, shape, items):
    """Return the one column of a table."""
    if len(shape) != 2 or shape[1] != 1:
        raise ValueError(
            f"X has the shape {tuple(shape)}: pass a sequence of {items}, or a table of one column."
        )
    return np.asarray(X).ravel()


def inner_products(A, B):
    """Return ``fill(rows, cols, out)`` that writes ``A[rows] B[cols]'`` for CSR matrices.

    By a sparse product or by GEMM, whichever has less to do.
    """
    n_features = A.shape[1]
    occurrences = [np.bincount(M.indices, minlength=n_features).astype(float) for M in (A, B)]
    shared = occurrences[0] @ occurrences[1]
    dense_work = float(A.shape[0]) * B.shape[0] * n_features
    dense = n_features <= DENSE_FEATURES and SPARSE_COST * shared > dense_work
    row_work = n_features if dense else SPARSE_COST * shared / (A.shape[0] * B.shape[0])

    def fill(rows, cols, out):
        right = B[cols].toarray().T if dense else B[cols].T.tocsr()
        for part in parts_of(rows, row_work * (cols.stop - cols.start)):
            place = slice(part.start - rows.start, part.stop - rows.start)
            product = A[part] @ right if not dense else A[part].toarray() @ right
            out[place] = product if dense else product.toarray()

    return fill


def parts_of(rows, work):
    """Return slices of ``rows`` of about ``SLICE_STEPS`` steps, where a row takes ``work``."""
    step = int(np.clip(SLICE_STEPS // (work + 1), 1, 512))
    return [
        slice(start, min(start + step, rows.stop)) for start in range(rows.start, rows.stop, step)
    ]


def mirror(square):
    """Copy the upper triangle of a matrix to the lower."""
    lower = np.tril_indices(len(square), -1)
    square[lower] = square.T[lower]
