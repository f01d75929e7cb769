"""The kernel for strings that compares their subsequences, gaps included."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Hyperparameter

from sklearn_sl.kernels import _structured
from sklearn_sl.kernels._strings import LANES, instruction_sets, sweep_subsequences
from sklearn_sl.kernels._structured import check_real, check_whole, mirror
from sklearn_sl.kernels._substrings import StringKernel

# Letters are code points: no negative number is one, nor equal to the other.
LEFT_PADDING, RIGHT_PADDING = -1.0, -2.0


class GapWeighted(StringKernel):
    """The gap-weighted subsequence kernel: common subsequences, gaps at a price.

    ``K(s, t) = sum_u sum_{i: u = s[i]} sum_{j: u = t[j]} decay**(l(i) + l(j))`` over
    all strings u of length p, where i runs over the places of u as a subsequence
    of s, and l(i) is the length of its span in s, gaps included. A dynamic
    programme computes it in ``O(p |s| |t|)``.

    Parameters
    ----------
    p : int, default=2
        The length of the subsequences.

    decay : float, default=0.5
        The price of a letter spanned, in (0, 1]; at 1 gaps are free.

    decay_bounds : pair of floats > 0 or "fixed", default=(1e-3, 1.0)
        The range in which a Gaussian process may choose ``decay``.

    References
    ----------
    J. Shawe-Taylor and N. Cristianini, Kernel Methods for Pattern Analysis,
    Cambridge University Press, 2004, chapter 11.

    Examples
    --------
    >>> from sklearn_sl.kernels import GapWeighted
    >>> GapWeighted(p=2, decay=0.5)(["cat"], ["cat", "car", "bat"])
    array([[0.140625, 0.0625  , 0.0625  ]])
    """

    def __init__(
        self, p: int = 2, decay: float = 0.5, decay_bounds: tuple[Any, ...] | str = (1e-3, 1.0)
    ) -> None:
        self.p = p
        self.decay = decay
        self.decay_bounds = decay_bounds

    @property
    def hyperparameter_decay(self):
        """The decay."""
        return Hyperparameter("decay", "numeric", self.decay_bounds)

    def _fill(self, X, Y):
        self._check()

        def fill(rows, cols, out):
            out[...] = self._compare(X, Y, rows, cols)[0]

        return fill

    def _diagonal(self, X):
        self._check()
        order = np.argsort(X.lengths, kind="stable")
        batches = [order[start : start + LANES] for start in range(0, len(order), LANES)]
        diagonal = np.empty(len(X))
        for batch in batches:
            left = _interleave(X, batch, LEFT_PADDING)
            right = _interleave(X, batch, RIGHT_PADDING)
            values = np.zeros((1, 1, LANES))
            self._sweep(left, np.array([0, len(left)]), right, values)
            diagonal[batch] = values[0, 0, : len(batch)]
        return self.decay ** (2 * self.p) * diagonal

    def _gradient(self, X, K):
        if not self.n_dims:
            return np.empty((*K.shape, 0))
        everything = slice(0, len(X))
        return self._compare(X, X, everything, everything, slope=True)[1][:, :, None]

    def _check(self):
        check_whole(self, "p", 1)
        check_real(self, "decay", lambda decay: 0 < decay <= 1, "(0, 1]")

    def _compare(self, X, Y, rows, cols, slope=False):
        """Return the kernel of two slices, and optionally its derivative in ``log(decay)``."""
        symmetric = Y is X and rows == cols
        # Strings of like length are compared side by side: little is lost to padding.
        row_order = rows.start + np.argsort(X.lengths[rows], kind="stable")
        col_order = cols.start + np.argsort(Y.lengths[cols], kind="stable")
        left, offsets = _concatenate(X, row_order)
        sums = np.zeros((1 + slope, len(row_order), len(col_order)))
        for start in range(0, len(col_order), LANES):
            batch = col_order[start : start + LANES]
            n_rows = min(start + LANES, len(row_order)) if symmetric else len(row_order)
            values = np.zeros((n_rows, 1 + slope, LANES))
            right = _interleave(Y, batch, RIGHT_PADDING)
            self._sweep(left, offsets[: n_rows + 1], right, values)
            block = values[:, :, : len(batch)].transpose(1, 0, 2)
            sums[:, :n_rows, start : start + LANES] = block
        result = np.empty_like(sums)
        result[:, (row_order - rows.start)[:, None], col_order - cols.start] = self._scaled(
            sums, symmetric
        )
        return result

    def _scaled(self, sums, symmetric):
        """Return the kernel, ``decay**2p`` times the sums, and its derivative."""
        if symmetric:
            for square in sums:
                mirror(square)
        sums[1:] += 2 * self.p * sums[0]
        return self.decay ** (2 * self.p) * sums

    def _sweep(self, left, offsets, right, values):
        """Add the sums of the strings of ``left`` to ``values``, a slice at a time."""
        n_numbers = values.shape[1]
        state = _aligned(max(n_numbers * len(right) * (self.p - 1), 1) * LANES)
        scratch = _aligned(4 * self.p * LANES)
        step = 2 * max(
            1, _structured.SLICE_STEPS // (2 * LANES * n_numbers**2 * self.p * (len(right) + 1))
        )
        row = 0
        for start in range(0, offsets[-1], step):
            row = sweep_subsequences(
                left,
                offsets,
                row,
                start,
                min(start + step, offsets[-1]),
                right,
                self.p,
                self.decay,
                n_numbers == 2,
                instruction_sets(),
                state,
                scratch,
                values,
            )


def _concatenate(strings, order):
    """Return the letters of strings one after the other, each padded to an even length."""
    lengths = strings.lengths[order]
    offsets = np.concatenate([[0], np.cumsum(lengths + lengths % 2)])
    letters = np.full((offsets[-1], 1), LEFT_PADDING)
    for row, start, length in zip(order, offsets, lengths):
        letters[start : start + length, 0] = strings.letters(row)
    return letters, offsets


def _interleave(strings, batch, padding):
    """Return up to LANES strings side by side, padded to the same, even length."""
    longest = strings.lengths[batch].max(initial=0)
    letters = _aligned((longest + longest % 2) * LANES).reshape(-1, LANES)
    letters[...] = padding
    for lane, row in enumerate(batch):
        letters[: strings.lengths[row], lane] = strings.letters(row)
    return letters


def _aligned(size):
    """Return ``size`` numbers at the start of a cache line, so that no vector crosses one."""
    buffer = np.empty(size + LANES)
    shift = -buffer.ctypes.data % 64 // buffer.itemsize
    return buffer[shift : shift + size]
