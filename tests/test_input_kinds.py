"""The same numbers give the same model, whatever holds them.

All values have few digits, so that each kind of input has the very numbers of the C-ordered
float64 array that it is compared with.
"""

import functools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from _checks import (
    Problem,
    assert_same_outputs,
    is_multi_class,
    is_pairwise,
    label,
    outputs,
    representatives,
)
from conftest import ALGEBRA, EXACT, SINGLE
from sklearn.base import clone, is_regressor
from sklearn.utils import get_tags

from sklearn_sl.kernel_ridge import KernelRidgeClassifierCV, KernelRidgeCV

MODELS = representatives()


# ---------------------------------------------------------------- what holds numbers


def named(values):
    return [f"feature {j}" for j in range(values.shape[1])]


def pandas_frame(dtype):
    """Return how to make a frame whose columns are of a type."""
    return lambda values: pd.DataFrame(values, columns=named(values)).astype(dtype)


def frame_of_several_types(values):
    types = [np.int64, np.float32, "Int8", "double[pyarrow]"]
    return pd.DataFrame(
        {
            name: pd.Series(values[:, j]).astype(types[j % len(types)])
            for j, name in enumerate(named(values))
        }
    )


def polars_frame(values):
    return pl.DataFrame(values, schema=named(values))


def arrow_table(values):
    return pa.table({name: values[:, j] for j, name in enumerate(named(values))})


def read_only(values):
    values = values.copy()
    values.setflags(write=False)
    return values


def backwards(values):
    """Return a view with negative strides."""
    return np.ascontiguousarray(values[::-1, ::-1])[::-1, ::-1]


def memory_map(values, folder):
    path = folder / f"{len(values)}.npy"
    np.save(path, values)
    return np.load(path, mmap_mode="r")


def wide_indices(kind):
    """Return how to make a sparse matrix of a kind with indices of 64 bits."""

    def make(values):
        matrix = kind(values)
        names = ("row", "col") if matrix.format == "coo" else ("indices", "indptr")
        if matrix.format == "coo":
            parts = matrix.data, tuple(getattr(matrix, name).astype(np.int64) for name in names)
            return kind(parts, shape=matrix.shape)
        for name in names:
            setattr(matrix, name, getattr(matrix, name).astype(np.int64))
        return matrix

    return make


def without_order(values):
    """Return a sparse matrix whose rows are stored from the last entry to the first."""
    matrix = sp.csr_array(values)
    for row in map(slice, matrix.indptr, matrix.indptr[1:]):
        matrix.indices[row] = matrix.indices[row][::-1].copy()
        matrix.data[row] = matrix.data[row][::-1].copy()
    matrix.has_sorted_indices = False
    return matrix


def in_halves(values):
    """Return a sparse matrix that stores each entry twice, to be added up."""
    matrix = sp.csr_array(values)
    parts = np.repeat(matrix.data / 2, 2), np.repeat(matrix.indices, 2), 2 * matrix.indptr
    return sp.csr_array(parts, shape=matrix.shape)


# The values, and what holds them.
DENSE = {
    "float32": ("quarters", lambda X: X.astype(np.float32)),
    "float16": ("quarters", lambda X: X.astype(np.float16)),
    "int8": ("whole", lambda X: X.astype(np.int8)),
    "bool": ("truth", lambda X: X.astype(bool)),
    "object": ("quarters", lambda X: X.astype(object)),
    "Fortran order": ("quarters", np.asfortranarray),
    "big-endian": ("quarters", lambda X: X.astype(">f8")),
    "read-only": ("quarters", read_only),
    "memory map": ("quarters", memory_map),
    "negative strides": ("quarters", backwards),
    "list": ("quarters", np.ndarray.tolist),
    "pandas": ("quarters", pandas_frame(float)),
    "pandas Float64": ("quarters", pandas_frame("Float64")),
    "pandas double[pyarrow]": ("quarters", pandas_frame("double[pyarrow]")),
    "pandas int64[pyarrow]": ("whole", pandas_frame("int64[pyarrow]")),
    "pandas bool[pyarrow]": ("truth", pandas_frame("bool[pyarrow]")),
    "pandas of several types": ("whole", frame_of_several_types),
    "polars": ("quarters", polars_frame),
    "pyarrow": ("quarters", arrow_table),
}
SPARSE = {
    "csr": ("quarters", wide_indices(sp.csr_array)),
    "csc": ("quarters", wide_indices(sp.csc_array)),
    "coo": ("quarters", wide_indices(sp.coo_array)),
    "csr float32": ("quarters", lambda X: sp.csr_array(X.astype(np.float32))),
    "csr without order": ("quarters", without_order),
    "csr in halves": ("quarters", in_halves),
    "csr int": ("whole", lambda X: sp.csr_array(X.astype(int))),
}
KINDS = DENSE | SPARSE


# ---------------------------------------------------------------- the numbers


def draw(values, shape):
    rng = np.random.default_rng(0)
    if values == "truth":
        return rng.integers(0, 2, shape).astype(float)
    numbers = rng.integers(-48, 49, shape).astype(float)  # so many that no distances are equal
    return numbers / 4 if values == "quarters" else numbers


@functools.cache
def problem_of(estimator, values, n_samples=16, n_test=4, n_features=4):
    """Return a problem that suits the tags of an estimator, with numbers of few digits."""
    tags = get_tags(estimator)
    Z = draw(values, (n_samples + n_test, n_features))
    if tags.input_tags.positive_only:
        Z = np.abs(Z)
    y = np.round(2 * Z[:n_samples, 0] + Z[:n_samples, 1] * Z[:n_samples, 2] / 16)
    if not is_regressor(estimator):
        n_classes = 3 if is_multi_class(estimator) else 2
        y = np.argsort(np.argsort(y, kind="stable")) * n_classes // n_samples
    if is_pairwise(estimator):
        if values == "truth":  # a Gram matrix of zeros and ones: some samples are equal
            Z = np.eye(6)[np.arange(n_samples + n_test) % 6]
        else:
            Z = np.round(Z / np.abs(Z).max() * 5)
        return Problem(Z[:n_samples] @ Z[:n_samples].T, y, Z[n_samples:] @ Z[:n_samples].T)
    return Problem(Z[:n_samples], y, Z[n_samples:])


@functools.cache
def said_of_floats(estimator, values):
    """Return what an estimator says if all is in C-ordered float64 arrays."""
    data = problem_of(estimator, values)
    return outputs(clone(estimator).fit(data.X, data.y), data.X_test)


def tolerance(estimator, kind):
    """Return how close results must be.

    Kernel machines keep Gram matrices of samples of single precision in that, and amplify the
    rounding of products, which are summed otherwise for sparse samples.
    """
    if not type(estimator).__module__.startswith(("sklearn_sl.svm.", "sklearn_sl.kernel_ridge.")):
        return EXACT
    return SINGLE if "float32" in kind else ALGEBRA if kind in SPARSE else EXACT


# ---------------------------------------------------------------- the tests


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("estimator", MODELS, ids=label)
def test_same_numbers_give_the_same_model(estimator, kind, tmp_path):
    if kind in SPARSE and not get_tags(estimator).input_tags.sparse:
        pytest.skip("takes no sparse matrices")
    values, hold = KINDS[kind]
    hold = functools.partial(hold, folder=tmp_path) if hold is memory_map else hold
    data = problem_of(estimator, values)
    model = clone(estimator).fit(hold(data.X), data.y)
    said = outputs(model, hold(data.X_test))
    expected = said_of_floats(estimator, values)
    assert_same_outputs(said, expected, **tolerance(estimator, kind))


TARGETS = {
    "float32": lambda y: y.astype(np.float32),
    "float16": lambda y: y.astype(np.float16),
    "int64": lambda y: y.astype(np.int64),
    "object": lambda y: y.astype(object),
    "big-endian": lambda y: y.astype(">f8"),
    "read-only": read_only,
    "negative strides": lambda y: y[::-1].copy()[::-1],
    "list": np.ndarray.tolist,
    "pandas Int64": lambda y: pd.Series(y, index=range(len(y), 0, -1), dtype="Int64"),
    "pandas double[pyarrow]": lambda y: pd.Series(y, dtype="double[pyarrow]"),
    "polars": lambda y: pl.Series("y", y),
    "pyarrow": lambda y: pa.chunked_array([y[:7], y[7:]]),
}
REGRESSORS = [model for model in MODELS if is_regressor(model)]


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("estimator", REGRESSORS, ids=label)
def test_same_targets_give_the_same_model(estimator, kind):
    data = problem_of(estimator, "quarters")
    model = clone(estimator).fit(data.X, TARGETS[kind](data.y))
    said = outputs(model, data.X_test)
    assert_same_outputs(said, said_of_floats(estimator, "quarters"), **EXACT)


@pytest.mark.parametrize("estimator", [KernelRidgeCV(), KernelRidgeClassifierCV()], ids=label)
def test_single_precision_of_large_features_keeps_its_digits(estimator, rng):
    # The dual is 100 times the target, and its sums with features cancel.
    X, X_test = np.split(100 * rng.normal(size=(320, 3)).astype(np.float32), [300])
    y = 2 * X[:, 0] + X[:, 1] * X[:, 2]
    y = y if is_regressor(estimator) else y > 0
    single = clone(estimator).fit(X, y)
    double = clone(estimator).fit(X.astype(float), y)
    said = outputs(single, X_test)
    assert_same_outputs(said, outputs(double, X_test.astype(float)), **SINGLE)
