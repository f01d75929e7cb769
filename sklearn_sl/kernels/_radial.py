"""Kernels of the distance ``||x - t||``: Gaussian and Matern, isotropic or ARD.

Squared distances of all pairs are as fast as one matrix product, and as exact as differences.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln, kve
from sklearn.gaussian_process.kernels import Hyperparameter
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_array

from sklearn_sl._rows import n_rows
from sklearn_sl.kernels._base import APART, SMALLEST, Kernel, RowForm, diagonal_of, flush
from sklearn_sl.kernels._dot import compare_pairs, dot, positive

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike

# Squared distances from the centre up to which a float32 product has an error below 1e-3.
ROUGH = 2000.0
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
        raise ValueError(
            f"length_scale must be a float or have one value per feature; got {len(scale)} "
            f"values for X with {X.shape[1]} features."
        )
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


def median_gamma(
    X: MatrixLike,
    *,
    sample_weight: ArrayLike | None = None,
    max_samples: int = 1000,
    random_state: int | np.random.RandomState | None = 0,
) -> float:
    """Return ``gamma = 1 / (2 m**2)``, where ``m`` is the median distance of two samples.

    With it half of the pairs have a Gaussian kernel value above ``exp(-1/2)``.
    Pairs that coincide tell nothing about the scale and are left out.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples.

    sample_weight : array-like of shape (n_samples,), default=None
        A pair counts with the product of its weights.

    max_samples : int, default=1000
        Of more samples a random part of this size is looked at.

    random_state : int, RandomState instance or None, default=0
        Chooses the part.

    Returns
    -------
    gamma : float
        The factor of the squared distance; one if all samples coincide.

    Examples
    --------
    >>> from sklearn_sl.kernels import median_gamma
    >>> median_gamma([[0.0], [1.0], [3.0]])
    0.125
    """
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    weight = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, float)
    used = np.flatnonzero(weight)
    if weight.shape != (X.shape[0],) or not len(used):
        raise ValueError(
            "sample_weight must have one weight per sample of X, not all of them zero."
        )
    if len(used) > max_samples:
        used = np.sort(check_random_state(random_state).choice(used, max_samples, replace=False))
    X, n = X[used], len(used)
    every = slice(0, n)
    squares = -negated_squared_distances(X, X, kink=True)(every, every, np.empty((n, n)))
    smallest = max(1e-24 * squares.max(), np.finfo(np.float64).tiny)
    i, j = np.nonzero(np.triu(squares > smallest, k=1))
    if not len(i):
        return 1.0
    median = _weighted_median(np.sqrt(squares[i, j]), weight[used[i]] * weight[used[j]])
    return float(1 / (2 * median**2))


def _weighted_median(values, weights):
    """Return the middle of the weighted sample, the mean of the two middle ones on a tie."""
    order = np.argsort(values)
    values, cumulative = values[order], np.cumsum(weights[order])
    half = cumulative[-1] / 2
    low = np.searchsorted(cumulative, half * (1 - 1e-12))
    high = np.searchsorted(cumulative, half * (1 + 1e-12))
    return (values[low] + values[min(high, len(values) - 1)]) / 2


class RadialKernel(Kernel):
    """A map of the squared distance of scaled points, from one GEMM per tile.

    Subclasses give ``_scale()``, the number or vector that the features are
    multiplied by, and ``_map(S)``, which turns ``S = -||x - t||**2`` of scaled
    points into kernel values in place.
    """

    accepts_sparse = True
    concurrent = True
    # Whether the kernel has a kink at distance zero, where the rounding error of
    # a squared distance, about 1e-16, would show as its square root.
    kink = False

    def is_stationary(self) -> Any:
        """Return true: the kernel depends on ``x - t`` alone."""
        return True

    def _tiles(self, X, Y):
        negated = negated_squared_distances(X, Y, self._scale(), kink=self.kink)

        def fill(rows, cols, out):
            S = negated(rows, cols, out)
            self._map(S)
            if S is not out:
                out[...] = S
                flush(out)

        return fill

    def _product_form(self, X):
        """Return float32 ``U, V`` and a map in place with ``K ~ map(UV')``; None if too rough."""
        if sp.issparse(X) or self.kink:
            return None
        scaled = (X - X.mean(axis=0)) * self._scale()
        squares = row_norms(scaled, squared=True)
        if not squares.max(initial=0) < ROUGH:
            return None
        ones = np.ones(len(X))
        left = np.column_stack([sqrt(2) * scaled, -squares, ones])
        right = np.column_stack([sqrt(2) * scaled, ones, -squares])
        return left.astype(np.float32), right.astype(np.float32), self._map_rough

    def _map_rough(self, S):
        """Replace ``S``, squared distances with rounding errors, by kernel values."""
        np.minimum(S, 0, out=S)
        self._map(S)

    def _diagonal(self, X):
        return np.ones(X.shape[0], dtype=X.dtype)

    @property
    def isotropic(self):
        """Whether all features have the same scale."""
        return np.ndim(self._scale()) == 0

    def of_distances(self, negated: Any) -> Any:
        """Return the kernel values of ``-||x - t||**2``, if the kernel is isotropic."""
        S = negated * self._scale() ** 2
        self._map(S)
        return S

    def _squares(self, X):
        """Return the squared scaled differences that belong to each free parameter: (n, n, m)."""
        scale, n = self._scale(), n_rows(X)
        if np.ndim(scale):
            X = (X.toarray() if sp.issparse(X) else X) * scale
            return (X[:, None, :] - X[None, :, :]) ** 2
        negated = negated_squared_distances(X, X, scale, kink=self.kink)
        return -negated(slice(0, n), slice(0, n), np.empty((n, n)))[:, :, None]


def gaussian_map(S):
    """Replace ``S`` by ``exp(S)``, and by zero where that is a denormal number.

    To compute such a number takes a hundred times longer than others.
    """
    vanishes = S < np.log(SMALLEST[S.dtype])
    np.copyto(S, -1, where=vanishes)
    np.exp(S, out=S)
    np.copyto(S, 0, where=vanishes)


class Gaussian(RadialKernel):
    """The Gaussian (RBF) kernel ``K(x, t) = exp(-gamma ||x - t||**2)``.

    In terms of a length scale, ``gamma = 1 / (2 length_scale**2)``; a vector of
    length scales, one per feature, gives automatic relevance determination
    (ARD), ``exp(-sum_k (x_k - t_k)**2 / (2 length_scale_k**2))``.

    Parameters
    ----------
    length_scale : float or array-like of shape (n_features,), default=1.0
        The length scale, in force while ``gamma`` is None.

    gamma : float or "median", default=None
        The other parametrisation; give one of the two. ``"median"`` stands for
        :func:`median_gamma` of the training set: the estimators of this package
        replace it when they are fitted, elsewhere call :meth:`resolve`.

    length_scale_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Where to search for the length scale.

    gamma_bounds : pair of floats or "fixed", default=(1e-10, 1e10)
        Where to search for ``gamma``.

    Examples
    --------
    >>> from sklearn_sl.kernels import Gaussian
    >>> Gaussian(gamma=0.5)([[0.0], [1.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    >>> Gaussian([1.0, 10.0])([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.6035]])
    """

    def __init__(
        self,
        length_scale: ArrayLike = 1.0,
        gamma: float | str | None = None,
        length_scale_bounds: tuple[Any, ...] | str = (1e-5, 1e5),
        gamma_bounds: tuple[Any, ...] | str = (1e-10, 1e10),
    ) -> None:
        self.length_scale = length_scale
        self.gamma = gamma
        self.length_scale_bounds = length_scale_bounds
        self.gamma_bounds = gamma_bounds

    @property
    def hyperparameter_length_scale(self):
        """The length scale, one number or one per feature."""
        bounds = self.length_scale_bounds if self.gamma is None else "fixed"
        return length_scale_hyperparameter(self.length_scale, bounds)

    @property
    def hyperparameter_gamma(self):
        """The factor of the squared distance."""
        number = 0 if self.gamma is None or isinstance(self.gamma, str) else self.gamma
        return positive("gamma", number, self.gamma_bounds)

    def resolve(self, X: MatrixLike, sample_weight: ArrayLike | None = None) -> Self:
        """Return the kernel with ``gamma="median"`` replaced by its number.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The training data.

        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row.

        Returns
        -------
        kernel : Gaussian
            A copy that can be called.
        """
        resolved = super().resolve(X, sample_weight)
        if isinstance(self.gamma, str):
            self._check_gamma_name()
            resolved.gamma = median_gamma(X, sample_weight=sample_weight)
        return resolved

    def _check_gamma_name(self):
        if self.gamma != "median":
            raise ValueError(f"gamma must be a float, None or 'median'; got {self.gamma!r}.")

    def _scale(self):
        if self.gamma is None:
            return 1 / (sqrt(2) * checked_length_scale(self.length_scale))
        if isinstance(self.gamma, str):
            self._check_gamma_name()
            raise ValueError(
                "gamma='median' depends on the training set: call kernel.resolve(X) first, or "
                "use the kernel in an estimator of sklearn_sl, which does."
            )
        if np.any(np.asarray(self.length_scale) != 1.0):
            raise ValueError(
                "gamma and length_scale must not both be given: leave gamma=None or "
                "length_scale=1.0."
            )
        if not (np.isfinite(self.gamma) and self.gamma >= 0):
            raise ValueError(f"gamma must be finite and non-negative; got {self.gamma}.")
        return sqrt(self.gamma)

    def _map(self, S):
        gaussian_map(S)

    def _map_rough(self, S):
        gaussian_map(S)  # a little above one where the distance is a little below zero

    def _row_form(self, X):
        return RowForm.of("GAUSSIAN", X, self._scale())

    def _gradient(self, X, K):
        if not self.n_dims:
            return np.empty((*K.shape, 0))
        factor = 2 if self.gamma is None else -1
        return factor * self._squares(X) * K[:, :, None]

    def __repr__(self):
        if self.gamma is None:
            return f"Gaussian(length_scale={format_scale(self.length_scale)})"
        gamma = repr(self.gamma) if isinstance(self.gamma, str) else f"{self.gamma:.3g}"
        return f"Gaussian(gamma={gamma})"


def length_scale_hyperparameter(length_scale, bounds):
    """Return the hyper-parameter of one length scale or of one per feature."""
    if np.size(length_scale) > 1:
        return Hyperparameter("length_scale", "numeric", bounds, len(length_scale))
    return Hyperparameter("length_scale", "numeric", bounds)


def checked_length_scale(length_scale):
    """Return the length scale as a positive number or vector, or raise."""
    scale = np.squeeze(np.asarray(length_scale, dtype=np.float64))
    if scale.ndim > 1 or not (np.isfinite(scale).all() and (scale > 0).all()):
        raise ValueError(f"length_scale must be positive and finite; got {length_scale}.")
    return scale


def format_scale(length_scale):
    """Return a short text of one length scale or of one per feature."""
    if np.size(length_scale) > 1:
        return "[" + ", ".join(f"{scale:.3g}" for scale in length_scale) + "]"
    return f"{np.ravel(length_scale)[0]:.3g}"


class Matern(RadialKernel):
    """The Matern covariance of smoothness ``nu``.

    With ``z = sqrt(2 nu) ||x - t|| / length_scale`` it is ``2**(1 - nu) /
    Gamma(nu) z**nu K_nu(z)``, one at distance zero. ``nu=0.5`` is the
    exponential covariance ``exp(-||x - t|| / length_scale)``, ``nu=1.5`` is
    ``(1 + z) exp(-z)``, ``nu=2.5`` is ``(1 + z + z**2 / 3) exp(-z)``, and
    ``nu=inf`` the Gaussian. A vector of length scales gives ARD.

    Parameters
    ----------
    length_scale : float or array-like of shape (n_features,), default=1.0
        The length scale.

    length_scale_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Where to search for the length scale.

    nu : float, default=1.5
        The smoothness: a process with this covariance is ``k`` times
        differentiable for ``nu > k``. It is a choice, not searched for.

    Examples
    --------
    >>> from sklearn_sl.kernels import Matern
    >>> Matern(nu=0.5)([[0.0]], [[1.0]]).round(4)
    array([[0.3679]])
    """

    def __init__(
        self,
        length_scale: ArrayLike = 1.0,
        length_scale_bounds: tuple[Any, ...] | str = (1e-5, 1e5),
        nu: float = 1.5,
    ) -> None:
        self.length_scale = length_scale
        self.length_scale_bounds = length_scale_bounds
        self.nu = nu

    @property
    def hyperparameter_length_scale(self):
        """The length scale, one number or one per feature."""
        return length_scale_hyperparameter(self.length_scale, self.length_scale_bounds)

    @property
    def kink(self):
        """Whether the kernel feels a root of a rounding error at zero."""
        return self.nu < 1

    def _scale(self):
        if not self.nu > 0:
            raise ValueError(f"nu must be positive; got {self.nu}.")
        scale = 1 / checked_length_scale(self.length_scale)
        return scale / sqrt(2) if np.isinf(self.nu) else scale * sqrt(2 * self.nu)

    def _map(self, S):
        if np.isinf(self.nu):
            gaussian_map(S)
            return
        matern_map(self.nu, np.sqrt(np.negative(S, out=S), out=S))
        flush(S)

    def _gradient(self, X, K):
        """Return ``-K'(z) / z`` times the squared differences of each length scale."""
        if not self.n_dims:
            return np.empty((*K.shape, 0))
        squares = self._squares(X)
        if np.isinf(self.nu):
            return 2 * squares * K[:, :, None]
        return squares * matern_slope(self.nu, np.sqrt(squares.sum(axis=2)))[:, :, None]

    def __repr__(self):
        return f"Matern(length_scale={format_scale(self.length_scale)}, nu={self.nu:.3g})"


def matern_map(nu, z):
    """Replace ``z`` by ``2**(1 - nu) / Gamma(nu) z**nu K_nu(z)``, one at zero, and return it."""
    if nu in _HALF_INTEGER_FACTORS:
        factor = _HALF_INTEGER_FACTORS[nu](z)
        np.exp(np.negative(z, out=z), out=z)
        z *= factor
        return z
    logarithm = (1 - nu) * np.log(2) - gammaln(nu) + nu * np.log(z) + np.log(kve(nu, z)) - z
    # The Bessel function overflows near zero: there the series 1 - z**2 / (4 (nu - 1)) + ...
    near = -(z**2) / (4 * max(nu - 1, 1))
    return np.exp(np.where(np.isfinite(logarithm), logarithm, near), out=z)


def matern_slope(nu, z):
    """Return ``-K'(z) / z``, zero where ``z`` is and the slope is infinite.

    As ``d/dz (z**nu K_nu(z)) = -z**nu K_{nu-1}(z)``, it is the Matern function of
    ``nu - 1`` over ``2 (nu - 1)`` for ``nu > 1``.
    """
    if nu > 1:
        return matern_map(nu - 1, z) / (2 * (nu - 1))
    constant = np.exp((1 - nu) * np.log(2) - gammaln(nu))
    away = np.where(z == 0, 1, np.minimum(z, 1000))  # where exp has vanished
    return np.where(z == 0, 0, constant * away ** (nu - 1) * kve(1 - nu, away) * np.exp(-away))


_HALF_INTEGER_FACTORS = {
    0.5: lambda z: 1.0,
    1.5: lambda z: 1 + z,
    2.5: lambda z: 1 + z + z**2 / 3,
}
