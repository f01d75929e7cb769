"""Where the solver gets kernel values from: blocks and products of a Gram matrix.

A Gram matrix here is an object with ``n``, ``diagonal``, ``fill_square(rows, out, known)`` and
``product(rows, coef)``; ``rows`` is an array of indices.
"""

from functools import cached_property

import numpy as np

from sklearn_sl._rows import slices
from sklearn_sl._threads import for_each
from sklearn_sl.kernels._base import (
    diagonal,
    encode_checked,
    gram_product,
    guarded_tiles,
    share_out,
)
from sklearn_sl.kernels._dot import Linear
from sklearn_sl.svm import _smo

# The side of a tile: half of it for few samples, where half of a tile on the diagonal is much,
# twice as much for many.
TILE, SMALL = 512, 2048


class KernelGram:
    """The Gram matrix of a kernel, evaluated when it is asked for.

    Blocks of float32 come from one product of float32 matrices and one map where the kernel has
    that form. They steer the solver; products with the coefficients, which certify its answer,
    are in float64.
    """

    def __init__(self, kernel, X):
        self.kernel = kernel
        self.X = X.astype(np.float64) if getattr(X, "dtype", None) == np.float32 else X
        self.n = X.shape[0]
        self.diagonal = diagonal(kernel, encode_checked(kernel, self.X)).astype(np.float64)

    @cached_property
    def _rough(self):
        form = getattr(self.kernel, "_product_form", None)
        return None if form is None else form(self.X)

    def fill_square(self, rows, K, known=0):
        """Write ``K[rows, rows]`` into ``K``, whose first ``known`` rows and columns are there.

        What lies above the diagonal is the mirror of what lies below.
        """
        fill, side = self._filler(rows, K.dtype), 2 * TILE if len(rows) > SMALL else TILE // 2

        def fill_both(tile):
            r, c = tile
            fill(r, c, K[tile])
            _smo.mirror(K, r.start, r.stop, c.start, c.stop)

        new = [slice(s.start + known, s.stop + known) for s in slices(len(rows) - known, side)]
        tiles = [(r, c) for r in new for c in slices(known, side)]
        tiles += [(r, c) for r in new for c in new if c.start <= r.start]
        share_out(self.kernel, fill_both, tiles)

    def _filler(self, rows, dtype):
        """Return a function that writes ``K[rows[r], rows[c]]`` of two slices into ``out``."""
        if dtype == np.float32 and self._rough is not None:
            left, right, to_kernel = self._rough
            left, right = left[rows], right[rows]

            def fill(r, c, out):
                np.matmul(left[r], right[c].T, out=out)
                to_kernel(out)

            return fill
        X = encode_checked(self.kernel, self.X[rows])
        exact = guarded_tiles(self.kernel, X, X)
        return exact if dtype == np.float64 else _cast(exact)

    def product(self, rows, coef, *, at=slice(None), rough=False):
        """Return ``K[at, rows] @ coef``, to a few digits only on request."""
        X = self.X[at]
        if isinstance(self.kernel, Linear):
            return np.asarray(X @ (self.X[rows].T @ coef))
        if rough and self._rough is not None:
            return self._rough_product(rows, coef, at)
        X, Y = encode_checked(self.kernel, X), encode_checked(self.kernel, self.X[rows])
        return gram_product(self.kernel, X, Y, coef, encoded=True)

    def _rough_product(self, rows, coef, at):
        left, right, to_kernel = self._rough
        left, right, coef = left[at], right[rows], coef.astype(np.float32)
        product = np.empty(len(left))

        def multiply(piece):
            total = np.zeros(piece.stop - piece.start)
            for columns in slices(len(rows), TILE):
                tile = left[piece] @ right[columns].T
                to_kernel(tile)
                total += tile @ coef[columns]
            product[piece] = total

        for_each(multiply, slices(len(left), TILE))
        return product


def _cast(exact):
    """Return the function that fills a tile of any type by way of float64."""

    def fill(r, c, out):
        tile = np.empty(out.shape)
        exact(r, c, tile)
        out[...] = tile

    return fill


class MatrixGram:
    """A Gram matrix that is at hand."""

    def __init__(self, K):
        self.K = K
        self.n = len(K)
        self.diagonal = K.diagonal().astype(np.float64)

    def fill_square(self, rows, K, known=0):
        """Write ``K[rows, rows]`` into ``K``, whose first ``known`` rows and columns are there."""
        pieces = runs(rows)
        for r, source in pieces:
            for c, other in pieces:
                if r.stop > known or c.stop > known:
                    both = isinstance(source, slice)
                    K[r, c] = self.K[source, other] if both else self.K[np.ix_(source, other)]

    def product(self, rows, coef, *, at=slice(None), rough=False):
        """Return ``K[at, rows] @ coef``."""
        if not isinstance(at, slice):
            return self.K[np.ix_(at, rows)].astype(np.float64, copy=False) @ coef
        if len(rows) > self.n // 4 and self.K.dtype == np.float64:
            every = np.zeros((self.n, *coef.shape[1:]))
            every[rows] = coef
            return self.K @ every
        return self.K[:, rows].astype(np.float64, copy=False) @ coef


class SubGram:
    """The Gram matrix of some samples of a larger one.

    ``values``, if given, is that larger matrix in memory; blocks of its type are copied from it.
    """

    def __init__(self, gram, rows, values=None):
        self.gram, self.rows = gram, rows
        self.values = None if values is None else MatrixGram(values)
        self.n = len(rows)
        self.diagonal = gram.diagonal[rows]

    def fill_square(self, rows, K, known=0):
        """Write ``K[rows, rows]`` into ``K``, whose first ``known`` rows and columns are there."""
        at_hand = self.values is not None and self.values.K.dtype == K.dtype
        (self.values if at_hand else self.gram).fill_square(self.rows[rows], K, known)

    def product(self, rows, coef, *, rough=False):
        """Return ``K[:, rows] @ coef``."""
        return self.gram.product(self.rows[rows], coef, at=self.rows, rough=rough)


def whole_matrix(gram, dtype):
    """Return the whole Gram matrix."""
    K = np.empty((gram.n, gram.n), dtype=dtype)
    gram.fill_square(np.arange(gram.n), K)
    np.fill_diagonal(K, gram.diagonal)
    return K


def runs(rows):
    """Return, for each run of consecutive indices, its place in ``rows`` and the run as slices.

    Where the runs are short, the indices in pieces instead.
    """
    ends = np.flatnonzero(np.diff(rows) != 1) + 1
    if len(ends) > len(rows) // 32:
        places = slices(len(rows), TILE)
        return [(place, rows[place]) for place in places]
    starts, stops = np.r_[0, ends], np.r_[ends, len(rows)]
    return [
        (slice(start, stop), slice(rows[start], rows[start] + stop - start))
        for start, stop in zip(starts, stops)
    ]
