"""Kernels that see their arguments through the inner product ``x't`` alone."""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy import linalg
from sklearn.gaussian_process.kernels import Hyperparameter
from sklearn.utils.extmath import row_norms

from sklearn_sl.kernels import _pairs
from sklearn_sl.kernels._base import (
    APART,
    Kernel,
    RowForm,
    check_vectors,
    flush,
    gram,
    raise_to,
    whole,
)

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


class DotKernel(Kernel):
    """A map of the inner product: one GEMM and one vectorised map per tile.

    Subclasses give ``_map(S)``, which turns inner products into kernel values
    in place, and where there are free hyper-parameters ``_map_gradient(S, K)``,
    a list of the derivatives with respect to their logarithms.
    """

    accepts_sparse = True
    concurrent = True

    def _tiles(self, X, Y):
        def fill(rows, cols, out):
            dot(X[rows], Y[cols], out)
            self._map(out)

        return fill

    def _product_form(self, X):
        """Return float32 ``U, V`` and a map in place with ``K ~ map(UV')``; None if too rough."""
        if sp.issparse(X):
            return None
        single = np.ascontiguousarray(X, dtype=np.float32)
        return single, single, self._map

    def _diagonal(self, X):
        squares = row_norms(X, squared=True)
        self._map(squares)
        return squares

    def _gradient(self, X, K):
        if not self.n_dims:
            return np.empty((*K.shape, 0))
        return np.dstack(self._map_gradient(gram(Linear(), X, encoded=True), K))

    def _map(self, S):
        pass


def dot(X, Y, out):
    """Write ``X Y'`` into ``out``, for dense or CSR arguments."""
    if sp.issparse(X) or sp.issparse(Y):
        product = X @ Y.T  # sums in the order of the columns, whatever the shapes
        out[...] = product.toarray() if sp.issparse(product) else product
    elif APART.get():
        compare_pairs(X, Y, out, distances=False)
    else:
        np.matmul(X, Y.T, out=out)


def compare_pairs(X, Y, out, *, distances):
    """Write ``x't`` or ``-||x - t||**2`` of dense rows, each as if its pair were the only one."""
    X, Y = (np.ascontiguousarray(Z, dtype=np.float64) for Z in (X, Y))
    if X.shape[1] != Y.shape[1]:
        raise ValueError(f"X has {X.shape[1]} features, but Y has {Y.shape[1]}.")
    plain = out.dtype == np.float64 and out.strides[-1] == out.itemsize
    values = out if plain else np.empty(out.shape)
    _pairs.compare(X, Y, distances, np.zeros((X.shape[1], _pairs.LANES)), values)
    if values is not out:
        out[...] = values


def positive(name, value, bounds):
    """Return a hyper-parameter that is free only where its logarithm exists."""
    return Hyperparameter(name, "numeric", bounds if value > 0 else "fixed")


class Linear(DotKernel):
    """The linear kernel ``K(x, t) = x't``.

    Examples
    --------
    >>> from sklearn_sl.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    def __init__(self) -> None:  # scikit-learn reads the parameters off a signature of our own
        pass

    def _row_form(self, X):
        return RowForm.of("PRODUCTS", X)

    def __repr__(self):
        return "Linear()"


class GeneralLinear(Kernel):
    """The general linear kernel ``K(x, t) = x'At``.

    With ``A = RR'`` it is the linear kernel of the features ``R'x``.

    Parameters
    ----------
    A : array-like of shape (n_features, n_features)
        A symmetric positive semi-definite matrix; any other raises a
        ``ValueError`` when the kernel is used.

    Examples
    --------
    >>> from sklearn_sl.kernels import GeneralLinear
    >>> GeneralLinear([[1.0, 0.0], [0.0, 5.0]])([[1.0, 2.0]], [[3.0, 4.0]])
    array([[43.]])
    """

    accepts_sparse = True

    def __init__(self, A: ArrayLike) -> None:
        self.A = A

    def _inputs(self, X):
        X = check_vectors(X, self)
        if X.shape[1] != len(self.A):
            raise ValueError(
                f"X has {X.shape[1]} features, but A of GeneralLinear has the order {len(self.A)}."
            )
        return X

    def _root(self):
        """Return ``R`` with ``A = RR'``."""
        A = np.asarray(self.A, dtype=np.float64)
        if A.ndim != 2 or A.shape[0] != A.shape[1] or not np.allclose(A, A.T):
            raise ValueError(
                f"A of GeneralLinear must be square and symmetric; got shape {A.shape}."
            )
        values, vectors = linalg.eigh(A)
        if values[0] < -1e-10 * max(abs(values[-1]), abs(values[0])):
            raise ValueError(
                "A of GeneralLinear must be positive semi-definite; got the smallest "
                f"eigenvalue {values[0]:.3g}."
            )
        return vectors * np.sqrt(np.maximum(values, 0))

    def _tiles(self, X, Y):
        root = self._root().astype(X.dtype)
        left = _mapped(X, root)
        right = left if Y is X else _mapped(Y, root.astype(Y.dtype))
        return Linear()._tiles(left, right)

    def _diagonal(self, X):
        return row_norms(X @ self._root().astype(X.dtype), squared=True)

    def __repr__(self):
        return f"GeneralLinear(A of order {len(self.A)})"


def _mapped(X, root):
    """Return ``X root``, dense."""
    features = np.empty((X.shape[0], root.shape[1]), dtype=X.dtype)
    dot(X, root.T, features)
    return features


class _Affine(DotKernel):
    """A map of ``gamma x't + coef0``."""

    @property
    def hyperparameter_gamma(self):
        """The factor of the inner product."""
        return positive("gamma", self.gamma, self.gamma_bounds)

    @property
    def hyperparameter_coef0(self):
        """The constant."""
        return positive("coef0", self.coef0, self.coef0_bounds)


class Polynomial(_Affine):
    """The polynomial kernel ``K(x, t) = (gamma x't + coef0)**degree``.

    ``coef0 = 0`` gives the homogeneous kernel, the inner product of all ordered
    monomials of that degree; ``coef0 > 0`` the inhomogeneous one, all monomials
    up to that degree.

    Parameters
    ----------
    degree : int, default=3
        The degree.

    gamma : float, default=1.0
        The factor of the inner product, positive.

    coef0 : float, default=1.0
        The constant. A negative one makes the kernel indefinite.

    gamma_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Where to search for ``gamma``.

    coef0_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Where to search for ``coef0``; it stays fixed if it is not positive.

    Examples
    --------
    >>> from sklearn_sl.kernels import Polynomial
    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    def __init__(
        self,
        degree: int = 3,
        gamma: float = 1.0,
        coef0: float = 1.0,
        gamma_bounds: tuple[Any, ...] | str = (1e-5, 1e5),
        coef0_bounds: tuple[Any, ...] | str = (1e-5, 1e5),
    ) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.gamma_bounds = gamma_bounds
        self.coef0_bounds = coef0_bounds

    @property
    def positive_definite(self):
        """Whether the kernel is positive semi-definite for every data set."""
        natural = self.degree >= 0 and float(self.degree).is_integer()
        return natural and self.gamma >= 0 and self.coef0 >= 0

    def _map(self, S):
        S *= self.gamma
        S += self.coef0
        raise_to(S, self.degree)

    def _row_form(self, X):
        degree = int(self.degree)
        if degree != self.degree or not 0 < degree < 2**31:
            return None
        return RowForm.of("POWERS", X, gamma=self.gamma, coef0=self.coef0, degree=degree)

    def _map_gradient(self, S, K):
        if self.degree == 0:
            return [0 * S for h in self.hyperparameters if not h.fixed]
        slope = self.degree * (self.gamma * S + self.coef0) ** (self.degree - 1)
        factors = {"coef0": self.coef0, "gamma": self.gamma * S}
        return [slope * factors[h.name] for h in self.hyperparameters if not h.fixed]

    def __repr__(self):
        return (
            f"Polynomial(degree={self.degree:.3g}, gamma={self.gamma:.3g}, coef0={self.coef0:.3g})"
        )


class _Scaled(DotKernel):
    """A dot-product kernel whose only continuous hyper-parameter is ``a``."""

    @property
    def hyperparameter_a(self):
        """The factor of the inner product."""
        return positive("a", self.a, self.a_bounds)

    @property
    def positive_definite(self):
        """Whether the kernel is positive semi-definite for every data set."""
        return self.a >= 0


class TruncatedExponential(_Scaled):
    """The truncated series ``K(x, t) = sum_{i <= degree} a**i / i! (x't)**i``.

    A polynomial kernel of decreasing weights; the limit of a growing degree is
    :class:`Exponential`.

    Parameters
    ----------
    a : float, default=1.0
        The factor of the inner product, positive.

    degree : int, default=3
        The last power that is kept.

    a_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Where to search for ``a``.

    Examples
    --------
    >>> from sklearn_sl.kernels import TruncatedExponential
    >>> TruncatedExponential(degree=2)([[1.0]], [[2.0]])
    array([[5.]])
    """

    def __init__(
        self, a: float = 1.0, degree: int = 3, a_bounds: tuple[Any, ...] | str = (1e-5, 1e5)
    ) -> None:
        self.a = a
        self.degree = degree
        self.a_bounds = a_bounds

    def _map(self, S):
        S[...] = self._series(self.a * S, whole("degree", self.degree))

    def _map_gradient(self, S, K):
        scaled = self.a * S
        degree = whole("degree", self.degree)
        return [scaled * self._series(scaled, degree - 1)] if degree else [0 * S]

    @staticmethod
    def _series(S, degree):
        """Return ``sum_{i <= degree} S**i / i!`` by Horner's rule."""
        total = np.full_like(S, 1 / factorial(degree))
        for power in range(degree - 1, -1, -1):
            total *= S
            total += 1 / factorial(power)
        return total

    def __repr__(self):
        return f"TruncatedExponential(a={self.a:.3g}, degree={self.degree})"


class Exponential(_Scaled):
    """The exponential kernel ``K(x, t) = exp(a x't)``, a polynomial of infinite degree.

    Its features for scalar ``x`` are ``sqrt(a**i / i!) x**i``, i = 0, 1, ... Not
    to be confused with the exponential covariance ``exp(-||x - t|| / length_scale)``,
    which is ``Matern(nu=0.5)``.

    Parameters
    ----------
    a : float, default=1.0
        The factor of the inner product, positive.

    a_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Where to search for ``a``.

    Examples
    --------
    >>> from sklearn_sl.kernels import Exponential
    >>> Exponential(a=0.5)([[1.0]], [[2.0]]).round(4)
    array([[2.7183]])
    """

    def __init__(self, a: float = 1.0, a_bounds: tuple[Any, ...] | str = (1e-5, 1e5)) -> None:
        self.a = a
        self.a_bounds = a_bounds

    def _map(self, S):
        S *= self.a
        np.exp(S, out=S)
        flush(S)

    def _map_gradient(self, S, K):
        return [self.a * S * K]

    def __repr__(self):
        return f"Exponential(a={self.a:.3g})"


class Sigmoid(_Affine):
    """The sigmoid ``K(x, t) = tanh(gamma x't + coef0)``. Not positive semi-definite.

    No choice of its parameters makes every Gram matrix positive semi-definite:
    ``positive_definite`` is false, and :func:`is_psd` tells for the data at
    hand. A kernel machine then solves for a stationary point.

    Parameters
    ----------
    gamma : float, default=1.0
        The factor of the inner product, positive.

    coef0 : float, default=1.0
        The constant.

    gamma_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Where to search for ``gamma``.

    coef0_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Where to search for ``coef0``; it stays fixed if it is not positive.

    Examples
    --------
    >>> from sklearn_sl.kernels import Sigmoid
    >>> Sigmoid(gamma=0.5, coef0=0.0)([[1.0]], [[2.0]]).round(4)
    array([[0.7616]])
    """

    positive_definite = False

    def __init__(
        self,
        gamma: float = 1.0,
        coef0: float = 1.0,
        gamma_bounds: tuple[Any, ...] | str = (1e-5, 1e5),
        coef0_bounds: tuple[Any, ...] | str = (1e-5, 1e5),
    ) -> None:
        self.gamma = gamma
        self.coef0 = coef0
        self.gamma_bounds = gamma_bounds
        self.coef0_bounds = coef0_bounds

    def _map(self, S):
        S *= self.gamma
        S += self.coef0
        np.tanh(S, out=S)

    def _map_gradient(self, S, K):
        factors = {"coef0": self.coef0, "gamma": self.gamma * S}
        return [(1 - K**2) * factors[h.name] for h in self.hyperparameters if not h.fixed]

    def __repr__(self):
        return f"Sigmoid(gamma={self.gamma:.3g}, coef0={self.coef0:.3g})"
