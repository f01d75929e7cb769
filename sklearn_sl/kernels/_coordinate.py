"""Kernels that compare feature by feature: ANOVA, min and spline."""

from __future__ import annotations

from math import comb
from typing import Literal

import numpy as np

from sklearn_sl.kernels._base import Kernel, whole


class CoordinateKernel(Kernel):
    """A kernel that is accumulated over the features, a tile at a time.

    Subclasses give ``_start(shape)``, the state before the first feature,
    ``_step(state, x, t)``, which takes in one feature as a column ``x`` and a
    row ``t``, and ``_finish(state)``.
    """

    concurrent = True

    def _tiles(self, X, Y):
        def fill(rows, cols, out):
            state = self._start(out.shape, out.dtype)
            for x, t in zip(X[rows].T, Y[cols].T):
                self._step(state, x[:, None], t[None, :])
            out[...] = self._finish(state)

        return fill

    def _diagonal(self, X):
        state = self._start((len(X),), X.dtype)
        for x in X.T:
            self._step(state, x, x)
        return self._finish(state)


class Anova(CoordinateKernel):
    """The ANOVA kernel: products over subsets of the features.

    All subsets, ``K(x, t) = prod_i (1 + x_i t_i) = sum_S prod_{i in S} x_i
    t_i``, or with ``degree=d`` only those of size ``d``, by the recursion over
    the features ``k_s <- k_s + x_i t_i k_{s-1}``, at a cost of ``n_features *
    degree`` per pair.

    Parameters
    ----------
    degree : int, default=None
        The size of the subsets; None for all of them, the empty one included.

    Examples
    --------
    >>> from sklearn_sl.kernels import Anova
    >>> x, t = [[1.0, 2.0, 3.0]], [[1.0, 1.0, 2.0]]
    >>> Anova()(x, t), Anova(degree=2)(x, t)
    (array([[42.]]), array([[20.]]))
    """

    def __init__(self, degree: int | None = None) -> None:
        self.degree = degree

    def _start(self, shape, dtype):
        largest = 0 if self.degree is None else whole("degree", self.degree)
        return [np.ones(shape, dtype=dtype)] + [
            np.zeros(shape, dtype=dtype) for _ in range(largest)
        ]

    def _step(self, state, x, t):
        product = x * t
        if self.degree is None:
            product += 1
            state[0] *= product
            return
        for size in range(len(state) - 1, 0, -1):
            state[size] += product * state[size - 1]

    def _finish(self, state):
        return state[-1]

    def __repr__(self):
        return f"Anova(degree={self.degree})"


class _Additive(CoordinateKernel):
    """A kernel of one feature, summed or multiplied over the features."""

    nonnegative_input = True

    def _start(self, shape, dtype):
        if self.combine not in ("sum", "product"):
            raise ValueError(f"combine must be 'sum' or 'product'; got {self.combine!r}.")
        return np.full(shape, 0 if self.combine == "sum" else 1, dtype=dtype)

    def _step(self, state, x, t):
        if self.combine == "sum":
            state += self._feature(x, t)
        else:
            state *= self._feature(x, t)

    def _finish(self, state):
        return state


class Min(_Additive):
    """The min kernel ``K(x, t) = min(x, t)`` of non-negative numbers.

    It reproduces the functions with ``f(0) = 0`` and inner product ``int f'g'``
    (a Brownian motion's covariance). Vectors are compared feature by feature:
    the sum is the histogram intersection, the product a Brownian sheet.

    Parameters
    ----------
    combine : {"sum", "product"}, default="sum"
        How the features are combined.

    Examples
    --------
    >>> from sklearn_sl.kernels import Min
    >>> Min()([[1.0, 5.0]], [[2.0, 3.0]])
    array([[4.]])
    """

    def __init__(self, combine: Literal["sum", "product"] = "sum") -> None:
        self.combine = combine

    def _feature(self, x, t):
        return np.minimum(x, t)

    def __repr__(self):
        return f"Min(combine={self.combine!r})"


class Spline(_Additive):
    """The spline kernel with infinitely many knots on the non-negative numbers.

    Splines of order ``p`` are made of ``1, x, ..., x**p`` and of ``(x -
    tau)_+**p`` for every knot ``tau``; hence, for one feature, ``K(x, t) =
    sum_{r <= p} (xt)**r + int_0^inf (x - tau)_+**p (t - tau)_+**p dtau``, where
    the integral is ``sum_r C(p, r) / (2p - r + 1) m**(2p - r + 1) |x - t|**r``
    with ``m = min(x, t)``.

    Parameters
    ----------
    order : int, default=1
        The order ``p``: 0 is piecewise constant, 1 linear, 3 cubic.

    combine : {"product", "sum"}, default="product"
        How the features are combined.

    Examples
    --------
    >>> from sklearn_sl.kernels import Spline
    >>> Spline()([[1.0]], [[2.0]]).round(4)
    array([[3.8333]])
    """

    def __init__(self, order: int = 1, combine: Literal["product", "sum"] = "product") -> None:
        self.order = order
        self.combine = combine

    def _feature(self, x, t):
        order, product = whole("order", self.order), x * t
        smaller, gap = np.minimum(x, t), np.abs(x - t)
        polynomial = sum(product**r for r in range(order + 1))
        knots = sum(
            comb(order, r) / (2 * order - r + 1) * smaller ** (2 * order - r + 1) * gap**r
            for r in range(order + 1)
        )
        return polynomial + knots

    def __repr__(self):
        return f"Spline(order={self.order}, combine={self.combine!r})"
