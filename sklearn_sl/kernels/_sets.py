"""The intersection kernel for sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.gaussian_process.kernels import Hyperparameter

from sklearn_sl.kernels._base import gram
from sklearn_sl.kernels._structured import (
    StructuredKernel,
    check_real,
    inner_products,
    samples_of,
)


class SetList:
    """Sets, encoded: the elements by number in ``names``, and an indicator matrix."""

    def __init__(self, names, indicator):
        self.names = names
        self.indicator = indicator

    def __len__(self):
        return self.indicator.shape[0]

    def columns(self, names):
        """Return the indicator with the columns numbered by ``names``; others are dropped."""
        if names is self.names:
            return self.indicator
        number = np.array([names.get(name, -1) for name in self.names], dtype=np.int64)
        theirs = np.flatnonzero(number >= 0)
        entries = self.indicator[:, theirs].tocoo()
        return sp.csr_array(
            (entries.data, (entries.row, number[theirs][entries.col])),
            shape=(len(self), len(names)),
        )


def encode_sets(X):
    """Return a sequence of sets, encoded, or say what is wrong with it.

    Parameters
    ----------
    X : sequence of sets or of iterables of hashables, or SetList
        The sets.

    Returns
    -------
    encoded : SetList
        The sets, encoded.
    """
    if isinstance(X, SetList):
        return X
    names, columns, ends = {}, [], [0]
    for position, item in enumerate(samples_of(X, "sets")):
        columns.extend(names.setdefault(name, len(names)) for name in _as_set(item, position))
        ends.append(len(columns))
    if any(name != name for name in names):
        raise ValueError(
            "X must not have sets that contain nan, which does not equal itself: remove it."
        )
    shape = (len(ends) - 1, len(names))
    return SetList(names, sp.csr_array((np.ones(len(columns)), columns, ends), shape=shape))


def _as_set(item, position):
    if isinstance(item, str | bytes):
        raise TypeError(
            f"X[{position}] must be a set; got {type(item).__name__}. For strings use "
            "Spectrum, GapWeighted or Mismatch, or pass set(x), the set of their letters."
        )
    try:
        return item if isinstance(item, set | frozenset) else dict.fromkeys(item)
    except TypeError as error:
        raise TypeError(
            f"X[{position}] must be a set of hashable elements; got {item!r}. Remove or "
            "impute missing values."
        ) from error


class SetIntersection(StructuredKernel):
    """The number of common subsets of two sets, ``K(A, B) = base**|A n B|``.

    With ``base = 2`` it is the inner product of the features ``phi_C(A) = [C is a
    subset of A]`` over all sets C. In general a common subset C counts
    ``(base - 1)**|C|``, so the kernel is valid for ``base >= 1``. ``base=None``
    gives the number of common elements, ``K(A, B) = |A n B|``.

    Parameters
    ----------
    base : float or None, default=2.0
        The base, at least 1.

    base_bounds : pair of floats > 0 or "fixed", default=(1.001, 1e3)
        The range in which a Gaussian process may choose ``base``.

    Examples
    --------
    >>> from sklearn_sl.kernels import SetIntersection
    >>> baskets = [{"bread", "milk"}, {"bread", "milk", "tea"}, {"tea"}]
    >>> SetIntersection()(baskets)
    array([[4., 4., 1.],
           [4., 8., 2.],
           [1., 2., 2.]])
    """

    input_kind = "sets"

    def __init__(
        self, base: float | None = 2.0, base_bounds: tuple[Any, ...] | str = (1.001, 1e3)
    ) -> None:
        self.base = base
        self.base_bounds = base_bounds

    @property
    def hyperparameter_base(self):
        """The base; there is none to choose if it is ``None``."""
        bounds = "fixed" if self.base is None else self.base_bounds
        return Hyperparameter("base", "numeric", bounds)

    def _inputs(self, X):
        return encode_sets(X)

    def _tiles(self, X, Y):
        self._check()
        count = inner_products(X.indicator, Y.columns(X.names))

        def fill(rows, cols, out):
            count(rows, cols, out)
            self._raise_base(out)

        return fill

    def _diagonal(self, X):
        self._check()
        sizes = np.diff(X.indicator.indptr).astype(np.float64)
        self._raise_base(sizes)
        return sizes

    def _gradient(self, X, K):
        if not self.n_dims:
            return np.empty((*K.shape, 0))
        common = gram(SetIntersection(base=None), X, encoded=True)
        return (common * K)[:, :, None]

    def _check(self):
        if self.base is not None:
            check_real(self, "base", lambda base: 1 <= base < np.inf, "[1, inf) or None")

    def _raise_base(self, counts):
        """Turn sizes of intersections into kernel values, in place."""
        if self.base is None or not counts.size:
            return
        largest = counts.max()
        if largest * np.log(self.base) >= np.log(np.finfo(np.float64).max):
            raise ValueError(
                f"base={self.base:g} is too large for SetIntersection: two sets of X share "
                f"{largest:.0f} elements, and base**{largest:.0f} overflows. Choose a base "
                "nearer to 1, or base=None."
            )
        np.power(float(self.base), counts, out=counts)
