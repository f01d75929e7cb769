"""Kernels made of a kernel: normalised, centred, composed with maps, polynomials; and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_array

from sklearn_sl._rows import n_rows
from sklearn_sl.kernels._base import (
    Kernel,
    check_vectors,
    diagonal,
    diagonal_of,
    encode,
    gram_and_gradient,
    gram_blocks,
    holds_text_or_sets,
    resolve,
    tiles,
)
from sklearn_sl.kernels._operators import UnaryKernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_sl._typing import ArrayLike


class Normalized(UnaryKernel):
    """The normalised kernel ``K(x, t) / sqrt(K(x, x) K(t, t))``, the cosine of feature vectors.

    A sample with ``K(x, x) = 0`` has no direction: its similarity is zero.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        The kernel.

    Examples
    --------
    >>> from sklearn_sl.kernels import Linear, Normalized
    >>> Normalized(Linear())([[3.0, 4.0]], [[1.0, 0.0]])
    array([[0.6]])
    """

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def _tiles(self, X, Y):
        inner = tiles(self.kernel, X, Y)
        left = self._inverse_norms(X)
        right = left if Y is X else self._inverse_norms(Y)

        def fill(rows, cols, out):
            inner(rows, cols, out)
            out *= left[rows, None]
            out *= right[None, cols]
            if Y is X:
                place, samples = diagonal_of(rows, cols)
                out[place] = self._ones(left[samples])

        return fill

    def _inverse_norms(self, X):
        squares = diagonal(self.kernel, X)
        positive = squares > 0
        return np.divide(
            1,
            np.sqrt(squares, where=positive, out=np.ones_like(squares)),
            where=positive,
            out=np.zeros_like(squares),
        )

    @staticmethod
    def _ones(inverse_norms):
        return (inverse_norms > 0).astype(inverse_norms.dtype)

    def _diagonal(self, X):
        return self._ones(self._inverse_norms(X))

    def _gradient(self, X, K):
        """Return ``(dA_ij - K_ij (a_j dA_ii / a_i + a_i dA_jj / a_j) / 2) / (a_i a_j)``.

        ``A`` is the inner Gram matrix and ``a_i = sqrt(A_ii)``.
        """
        _, gradient = gram_and_gradient(self.kernel, X)
        inverse = self._inverse_norms(X)
        relative = np.einsum("iik->ik", gradient) * inverse[:, None] ** 2 / 2
        scaled = gradient * np.outer(inverse, inverse)[:, :, None]
        return scaled - K[:, :, None] * (relative[:, None, :] + relative[None, :, :])

    def __repr__(self):
        return f"Normalized({self.kernel})"


class Centered(UnaryKernel):
    """The kernel of feature vectors from which the mean of a reference set is taken away.

    ``K(x, t) - mean_z K(x, z) - mean_z K(z, t) + mean_zz' K(z, z')``.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        The kernel.

    reference : array-like of shape (n_reference, n_features) or sequence, default=None
        The reference set ``z``. By default the second argument of the call, which
        is the training set in every kernel machine of scikit-learn; the
        estimators of this package replace None by their training set.

    reference_weight : array-like of shape (n_reference,), default=None
        The weights of the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.kernels import Centered, Linear
    >>> Centered(Linear())([[0.0], [2.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """

    def __init__(
        self,
        kernel: Any,
        reference: ArrayLike | None = None,
        reference_weight: ArrayLike | None = None,
    ) -> None:
        self.kernel = kernel
        self.reference = reference
        self.reference_weight = reference_weight

    def resolve(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Return the kernel centred on ``X``, unless it has a reference set.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or sequence
            The training data.

        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the mean.

        Returns
        -------
        kernel : Centered
            A copy with a reference set.
        """
        inner = resolve(self.kernel, X, sample_weight)
        if self.reference is not None:
            return Centered(inner, self.reference, self.reference_weight)
        return Centered(inner, X, sample_weight)

    def _reference(self, Y):
        return Y if self.reference is None else encode(self.kernel, self.reference)

    def _mean(self, X, Z):
        """Return ``mean_z K(x, z)`` for each row."""
        weight = self._weights(Z)
        means = np.empty(n_rows(X))
        for rows, block in gram_blocks(self.kernel, X, Z, encoded=True):
            means[rows] = block @ weight
        return means

    def _weights(self, Z):
        if self.reference is None or self.reference_weight is None:
            return np.full(n_rows(Z), 1 / n_rows(Z))
        weight = np.asarray(self.reference_weight, dtype=np.float64)
        if weight.shape != (n_rows(Z),) or not weight.sum() > 0:
            raise ValueError(
                "reference_weight must have one weight per row of reference, not all of them "
                f"zero; got shape {weight.shape} for {n_rows(Z)} rows."
            )
        return weight / weight.sum()

    def _means(self, X, Z):
        """Return the means of each row and half of the mean of means."""
        of_reference = self._mean(Z, Z)
        of_rows = of_reference if X is Z else self._mean(X, Z)
        return of_rows - (of_reference @ self._weights(Z)) / 2

    def _tiles(self, X, Y):
        Z = self._reference(Y)
        inner = tiles(self.kernel, X, Y)
        left = self._means(X, Z)
        right = left if Y is X else self._means(Y, Z)

        def fill(rows, cols, out):
            inner(rows, cols, out)
            out -= left[rows, None].astype(out.dtype)
            out -= right[None, cols].astype(out.dtype)

        return fill

    def _diagonal(self, X):
        return diagonal(self.kernel, X) - 2 * self._means(X, self._reference(X))

    def _gradient(self, X, K):
        Z = self._reference(X)
        weight = self._weights(Z)
        if Z is not X:
            raise ValueError("Centered supports eval_gradient=True for X equal to reference only.")
        _, gradient = gram_and_gradient(self.kernel, X)
        means = np.einsum("ijk,j->ik", gradient, weight)
        total = weight @ means
        return gradient - means[:, None, :] - means[None, :, :] + total

    def is_stationary(self) -> Any:
        """Return false: the kernel depends on where the reference set is."""
        return False

    def __repr__(self):
        return f"Centered({self.kernel})"


class Composed(UnaryKernel):
    """A kernel of mapped arguments, rescaled: ``f(x) K(phi(x), phi(t)) f(t)``.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        The kernel.

    feature_map : callable or transformer, default=None
        ``phi``: a function of the whole data matrix that returns one row per
        row, or an object with ``transform`` that needs no fitting or is fitted.

    factor : callable, default=None
        ``f``: a function of the whole data matrix that returns one number per
        row. It sees the arguments before they are mapped.

    columns : slice or array-like of int, default=None
        The features that the kernel sees; the choice comes before the map.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.kernels import Composed, Linear
    >>> product = Composed(Linear(), lambda X: X[:, :1] * X[:, 1:])
    >>> product([[1.0, 2.0]], [[3.0, 4.0]])
    array([[24.]])
    """

    def __init__(
        self,
        kernel: Any,
        feature_map: Any = None,
        factor: Callable[..., Any] | None = None,
        columns: Any = None,
    ) -> None:
        self.kernel = kernel
        self.feature_map = feature_map
        self.factor = factor
        self.columns = columns

    @property
    def input_kind(self):
        """What the kernel compares: the map turns anything into the inner kernel's input."""
        return super().input_kind if self.feature_map is None else "anything"

    @property
    def accepts_sparse(self):
        """Whether CSR input is possible; a map has to see to it itself."""
        return self.feature_map is not None or super().accepts_sparse

    @property
    def nonnegative_input(self):
        """Whether all features must be non-negative; the inner kernel sees to those it gets."""
        unmapped = self.feature_map is None and self.columns is None
        return unmapped and super().nonnegative_input

    def resolve(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Return the kernel with its inner kernel resolved on the mapped data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or sequence
            The training data.

        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row.

        Returns
        -------
        kernel : Composed
            A copy that can be called.
        """
        inner = resolve(self.kernel, self._mapped(self._checked(X)), sample_weight)
        return Composed(inner, self.feature_map, self.factor, self.columns)

    def is_stationary(self) -> bool:
        """Return whether the kernel depends on ``x - t`` alone; a map spoils it."""
        plain = self.feature_map is None and self.factor is None
        return plain and self.kernel.is_stationary()

    def __sklearn_clone__(self):  # a clone keeps the map fitted
        return Composed(clone(self.kernel), self.feature_map, self.factor, self.columns)

    def _checked(self, X):
        if self.columns is None and holds_text_or_sets(X):
            return X
        return check_vectors(X, self)

    def _inputs(self, X):
        X = self._checked(X)
        mapped = _Mapped(encode(self.kernel, self._mapped(X)), X)
        if self.factor is not None:
            mapped.factor = np.asarray(self.factor(X), dtype=np.float64).ravel()
            if len(mapped.factor) != n_rows(mapped.inner):
                raise ValueError(
                    f"factor must return one float per sample of X; got {len(mapped.factor)} for "
                    f"{n_rows(mapped.inner)} samples."
                )
        return mapped

    def _mapped(self, X):
        if self.columns is not None:
            X = X[:, self.columns]
        if self.feature_map is None:
            return X
        transform = getattr(self.feature_map, "transform", self.feature_map)
        return transform(X)

    def _tiles(self, X, Y):
        inner = tiles(self.kernel, X.inner, Y.inner)
        if X.factor is None:
            return inner

        def fill(rows, cols, out):
            inner(rows, cols, out)
            out *= X.factor[rows, None].astype(out.dtype)
            out *= Y.factor[None, cols].astype(out.dtype)

        return fill

    def _diagonal(self, X):
        inner = diagonal(self.kernel, X.inner)
        return inner if X.factor is None else inner * X.factor**2

    def _gradient(self, X, K):
        _, gradient = gram_and_gradient(self.kernel, X.inner)
        if X.factor is None:
            return gradient
        return gradient * np.outer(X.factor, X.factor)[:, :, None]

    def __repr__(self):
        parts = [
            f"{name}=..."
            for name in ("feature_map", "factor", "columns")
            if getattr(self, name) is not None
        ]
        return f"Composed({', '.join([str(self.kernel), *parts])})"


class _Mapped:
    """The encoded input of a composed kernel: the mapped rows and their factors."""

    def __init__(self, inner, X):
        self.inner = inner
        self.factor = None
        self.shape = (n_rows(inner), *getattr(X, "shape", ())[1:])

    @property
    def dtype(self):
        return getattr(self.inner, "dtype", None)


class KernelPolynomial(UnaryKernel):
    """The polynomial ``sum_i a_i K(x, t)**i`` of a kernel, with ``a_i >= 0``.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        The kernel.

    coefficients : array-like of shape (degree + 1,)
        ``a_0, a_1, ...``, none negative, or the result need not be a kernel.

    Examples
    --------
    >>> from sklearn_sl.kernels import KernelPolynomial, Linear
    >>> KernelPolynomial(Linear(), [1.0, 0.0, 2.0])([[1.0]], [[3.0]])
    array([[19.]])
    """

    def __init__(self, kernel: Any, coefficients: ArrayLike) -> None:
        self.kernel = kernel
        self.coefficients = coefficients

    def _evaluate(self, coefficients, K):
        """Return the polynomial at every number of ``K`` by Horner's rule."""
        value = np.zeros_like(K)
        for coefficient in coefficients[::-1]:
            value *= K
            value += coefficient
        return value

    def _checked(self):
        coefficients = np.asarray(self.coefficients, dtype=np.float64)
        if coefficients.ndim != 1 or not len(coefficients) or (coefficients < 0).any():
            raise ValueError(
                "coefficients must be a list of non-negative floats, as otherwise the result "
                f"need not be a kernel; got {self.coefficients}."
            )
        return coefficients

    def _tiles(self, X, Y):
        inner = tiles(self.kernel, X, Y)
        coefficients = self._checked()

        def fill(rows, cols, out):
            inner(rows, cols, out)
            out[...] = self._evaluate(coefficients, out)

        return fill

    def _diagonal(self, X):
        return self._evaluate(self._checked(), diagonal(self.kernel, X))

    def _gradient(self, X, K):
        inner, gradient = gram_and_gradient(self.kernel, X)
        coefficients = self._checked()
        slopes = coefficients[1:] * np.arange(1, len(coefficients))
        return self._evaluate(slopes, inner)[:, :, None] * gradient

    def __repr__(self):
        return f"KernelPolynomial({self.kernel}, {list(self.coefficients)})"


class Precomputed(Kernel):
    """A kernel on a finite set, given by its Gram matrix: ``K(i, j) = gram[i, j]``.

    The samples are row numbers, a column of whole numbers, so that the kernel can
    be summed, multiplied, cross-validated and used wherever a kernel object can.

    Parameters
    ----------
    gram : array-like of shape (n_objects, n_objects)
        The symmetric Gram matrix of all objects, training and test.

    Examples
    --------
    >>> from sklearn_sl.kernels import Precomputed
    >>> kernel = Precomputed([[2.0, 1.0], [1.0, 3.0]])
    >>> kernel([[0], [1]], [[1]])
    array([[1.],
           [3.]])
    """

    def __init__(self, gram: ArrayLike) -> None:
        self.gram = gram

    def _table(self):
        table = check_array(self.gram, dtype=[np.float64, np.float32], input_name="gram")
        if table.shape[0] != table.shape[1] or not np.allclose(table, table.T):
            raise ValueError(f"gram must be square and symmetric; got shape {table.shape}.")
        return table

    def _inputs(self, X):
        numbers = check_array(X, dtype=np.float64, ensure_2d=False, input_name="X")
        rows = numbers.reshape(-1).astype(np.intp)
        if numbers.size != len(numbers) or not np.array_equal(rows, numbers.reshape(-1)):
            raise ValueError(
                "X must be one column of row numbers for the kernel Precomputed. For a matrix "
                'of kernel values use kernel="precomputed".'
            )
        n = len(self.gram)
        if rows.size and (rows.min() < 0 or rows.max() >= n):
            raise ValueError(f"X must hold row numbers in [0, {n}) for the kernel Precomputed.")
        return rows

    def _tiles(self, X, Y):
        table = self._table()

        def fill(rows, cols, out):
            out[...] = table[np.ix_(X[rows], Y[cols])]

        return fill

    def _diagonal(self, X):
        return np.diag(self._table())[X].astype(np.float64)

    def __repr__(self):
        return f"Precomputed({len(self.gram)} objects)"
