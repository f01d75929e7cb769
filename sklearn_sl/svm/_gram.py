"""Where the solver gets kernel values from: Gram matrices, and square blocks of them in memory.

A Gram matrix here is an object with ``n``, ``diagonal``, ``fill_square(rows, out, known)`` and
``product(rows, coef)``; ``rows`` is an array of indices. A :class:`Block` holds the values that
SMO steps need.
"""

from functools import cached_property

import numpy as np

from sklearn_sl._kernel_machine import check_symmetric_gram
from sklearn_sl._rows import slices
from sklearn_sl._threads import for_each
from sklearn_sl.kernels._base import (
    encode_checked,
    gram_diagonal,
    gram_product,
    guarded_gram_tiles,
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
    that form. They steer the solver; products with the coefficients, which certify its solution,
    are in float64.
    """

    def __init__(self, kernel, X):
        self.kernel = kernel
        self.X = X.astype(np.float64) if getattr(X, "dtype", None) == np.float32 else X
        self.n = X.shape[0]
        self.diagonal = gram_diagonal(kernel, self.X)

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

        old, new = (
            [slice(first, min(first + side, stop)) for first in range(start, stop, side)]
            for start, stop in ((0, known), (known, len(rows)))
        )
        tiles = [(r, c) for r in new for c in old]
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
        exact = guarded_gram_tiles(self.kernel, self.X[rows])
        return exact if dtype == np.float64 else _cast(exact)

    def product(self, rows, coef, *, at=slice(None), rough=False):
        """Return ``K[at, rows] @ coef``, to a few digits only if ``rough``."""
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


def gram_of(kernel, X, rows):
    """Return the Gram matrix of some samples, in this order; no kernel if ``X`` is one."""
    if kernel is not None:
        return KernelGram(kernel, X[rows])
    check_symmetric_gram(X)
    return MatrixGram(X[np.ix_(rows, rows)])


class MatrixGram:
    """A Gram matrix in memory."""

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


# Numbers that a slice of compiled work reads: a few hundredths of a second.
SLICE = 30_000_000


class Block:
    """A square block of the Gram matrix, and the SMO steps on its variables.

    One buffer holds the block; a new choice of rows keeps what it shares with the last one. A
    problem without an intercept has a variable more, in the first place, whose kernel is zero:
    every other variable can move against it, so that the sum is free.
    """

    def __init__(self, problem, gram, ridge, dtype, largest):
        self.problem = problem
        self.gram = gram
        self.extra = 0 if problem.intercept else 1
        self.rows = np.empty(0, dtype=np.intp)
        self.diagonal = gram.diagonal + ridge
        padded = _padded(largest + self.extra)
        self.buffer = np.empty((largest + self.extra) * padded, dtype=dtype)
        self.flat = flattest(gram, dtype)

    def choose(self, rows):
        """Make the block that of ``rows``; kept rows come first."""
        place = np.full(self.gram.n, -1)
        place[self.rows] = np.arange(len(self.rows))
        known = place[rows] >= 0
        kept = np.sort(place[rows[known]])
        if known.all() and len(kept) == len(self.rows):
            return
        self._compact(kept, len(rows))
        self.rows = np.concatenate([self.rows[kept], rows[~known]])
        e, n, K = self.extra, len(rows), self.K(len(rows))
        inner = K[e:, e : e + n]
        self.gram.fill_square(self.rows, inner, len(kept))
        np.fill_diagonal(inner, self.diagonal[self.rows])
        K[:e], K[:, :e], K[:, e + n :] = 0, 0, 0

    def turn_to(self, problem):
        """Serve another problem on the same Gram matrix; the ridge may differ."""
        self.problem, self.diagonal = problem, self.gram.diagonal + problem.ridge
        e, n = self.extra, len(self.rows)
        np.fill_diagonal(self.K(n)[e:, e : e + n], self.diagonal[self.rows])

    def matrix(self, rows):
        """Return the Gram matrix, with the ridge, of some rows of the block."""
        place = np.empty(self.gram.n, dtype=np.intp)
        place[self.rows] = np.arange(len(self.rows)) + self.extra
        return self.K(len(self.rows))[np.ix_(place[rows], place[rows])]

    def product(self, b):
        """Return ``(K + ridge) b`` for a block that holds all samples."""
        e, n = self.extra, len(self.rows)
        product = np.empty(n)
        product[self.rows] = self.K(n)[e:, e : e + n] @ b[self.rows]
        return product

    def K(self, n):
        """Return the block of ``n`` rows as a matrix with padded rows."""
        n += self.extra
        return self.buffer[: n * _padded(n)].reshape(n, _padded(n))

    def _compact(self, kept, n):
        """Move the kept rows and columns to the front, in place: they come from behind."""
        e, old, new = self.extra, self.K(len(self.rows)), self.K(n)
        if len(kept) == len(self.rows) and old.shape[1] == new.shape[1]:
            return
        shared = min(old.shape[1], new.shape[1])
        if len(kept):
            _smo.compact(self.buffer, kept, e, old.shape[1], shared)
        if shared < new.shape[1]:  # rows move apart, the last one first
            for i in range(e + len(kept) - 1, e, -1):
                new[i, e : e + len(kept)] = old[i, e : e + len(kept)]

    def improve(self, rows, b, v, tol, *, shrinking, max_steps, watch):
        """Take SMO steps on the variables ``rows`` until their violation is at most ``tol``.

        Return the coefficients and gradients of ``self.rows``, and the number of steps.
        """
        self.choose(rows)
        state = self._state(b, v)
        taken = self._steps(state, tol, shrinking, max_steps, watch)
        b, v = self._inner(state)[:2]
        return b, v, taken

    def _state(self, b, v):
        """Return the state of the variables of the block for the compiled steps."""
        e, n, problem = self.extra, len(self.rows), self.problem
        state = np.zeros((8, _padded(n + e)))
        inner = self._inner(state)
        inner[0], inner[1] = b[self.rows], v[self.rows]
        inner[2], inner[3] = problem.lower[self.rows], problem.upper[self.rows]
        inner[4] = problem.width
        inner[5] = self.diagonal[self.rows]
        if e:
            state[2, 0], state[3, 0] = -np.inf, np.inf
        return state

    def _inner(self, state):
        """Return the part of a state that belongs to samples."""
        return state[:, self.extra : self.extra + len(self.rows)]

    def _steps(self, state, tol, shrinking, max_steps, watch):
        """Take the steps, a slice at a time; return their number."""
        violation, taken = np.empty(1), 0
        K = self.K(len(self.rows))
        while taken < max_steps:
            steps = _smo.solve(
                K, state, tol, self.flat, shrinking, max_steps - taken, SLICE, violation
            )
            taken += steps
            if watch(violation[0]) or not violation[0] > tol or not steps:
                break
        return taken


def _padded(n):
    return -(-n // _smo.PADDING) * _smo.PADDING


def flattest(gram, dtype):
    """Return the least curvature that is not a rounding error."""
    size = np.abs(gram.diagonal).max(initial=0) or 1.0
    return max(1e-12, 4 * np.finfo(dtype).eps) * size
