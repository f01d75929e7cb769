"""Squared distances of all pairs: as fast as one matrix product, as exact as their differences."""

from math import sqrt

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import row_norms

from sklearn_sl.kernels._base import APART, diagonal_of
from sklearn_sl.kernels._dot import compare_pairs, dot

EPSILON = np.finfo(np.float64).eps
# Infinitely far for every kernel, and still a number.
LARGEST = 1e200


def negated_squared_distances(X, Y, scale=1.0, *, kink=False):
    """Return a function that writes ``-||s(x - t)||**2`` of a tile.

    Dense points are shifted to a common centre first, which leaves their
    differences as they are and keeps the rounding error small far from the
    origin. With ``u = (sqrt(2) x, -||x||**2, 1)`` and ``v = (sqrt(2) t, 1,
    -||t||**2)`` the result is the one product ``u'v``, always in float64. The
    few distances that cancellation has spoilt are computed again from the
    differences; more of them with ``kink=True``, for functions that have a kink
    at distance zero and feel the root of a rounding error.
    """
    if np.ndim(scale) and len(scale) != X.shape[1]:
        raise ValueError(f"There are {len(scale)} length scales, but X has {X.shape[1]} features.")
    if sp.issparse(X) or sp.issparse(Y):
        scaled, product_of = _scaled_sparse, _sparse_product
    elif APART.get():
        return _from_differences(X * scale, Y * scale)
    else:
        centre = Y.mean(axis=0, dtype=np.float64)
        scaled, product_of = lambda Z, scale: (Z - centre) * scale, _dense_product
    left = scaled(X, scale)
    right = left if Y is X else scaled(Y, scale)
    squares = row_norms(left, squared=True), row_norms(right, squared=True)
    product = product_of(left, right, *squares)

    def negated(rows, cols, out):
        S = out if out.dtype == np.float64 else np.empty(out.shape)
        product(rows, cols, S)
        np.clip(S, -LARGEST, 0, out=S)
        reach = _reach(_sizes(squares[0][rows], squares[1][cols]), kink)
        if np.any(reach):
            _recompute(X[rows], Y[cols], scale, reach, S)
        if Y is X:
            place, _ = diagonal_of(rows, cols)
            S[place] = 0
        return S

    return negated


def _from_differences(X, Y):
    """Return the function that writes ``-||x - t||**2``, each as if its pair were the only one."""

    def negated(rows, cols, out):
        S = out if out.dtype == np.float64 else np.empty(out.shape)
        compare_pairs(X[rows], Y[cols], S, distances=True)
        return S

    return negated


def _sizes(left_squares, right_squares):
    """Return what the rounding errors are in proportion to: of a tile, or of each pair."""
    if APART.get():
        return left_squares[:, None] + right_squares
    return left_squares.max(initial=0) + right_squares.max(initial=0)


def _reach(sizes, kink):
    """Return the squared distance below which the product is not exact enough.

    While the rounding error is below 1e-9, that of near duplicates; zero if
    even they are safe. Else up to 800, where ``exp`` vanishes, and up to where
    the error may have put a small distance.
    """
    error = EPSILON * sizes
    near = 1e-7 * sizes if kink else 0 * error
    far = np.maximum(800 + 16 * error, near)
    return np.where(error > 1e-9, far, np.where(error > 1e-13, 1e-7 * sizes, near))


def _recompute(X, Y, scale, reach, S):
    """Write the squared distances below ``reach`` again, from differences of the data as given."""
    i, j = np.nonzero(~(S <= -reach))
    # Blocks, so that data with all rows equal needs no big temporary.
    for start in range(0, len(i), 4096):
        a, b = i[start : start + 4096], j[start : start + 4096]
        differences = X[a].astype(np.float64) - Y[b]
        if sp.issparse(differences):
            differences = _scaled_sparse(differences, scale)
        else:
            differences = np.asarray(differences) * scale
        S[a, b] = np.maximum(-row_norms(differences, squared=True), -LARGEST)


def _dense_product(left, right, left_squares, right_squares):
    u = np.column_stack([sqrt(2) * left, -left_squares, np.ones(len(left))])
    v = np.column_stack([sqrt(2) * right, np.ones(len(right)), -right_squares])
    return lambda rows, cols, S: np.matmul(u[rows], v[cols].T, out=S)


def _sparse_product(left, right, left_squares, right_squares):
    def product(rows, cols, S):
        dot(left[rows], right[cols], S)
        S *= 2
        S -= left_squares[rows, None]
        S -= right_squares[None, cols]

    return product


def _scaled_sparse(Z, scale):
    if np.ndim(scale):
        Z = Z @ sp.diags_array(np.asarray(scale, dtype=np.float64))
    else:
        Z = Z.astype(np.float64) * scale
    return sp.csr_array(Z) if sp.issparse(Z) else Z
