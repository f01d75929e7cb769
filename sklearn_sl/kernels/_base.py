"""What a kernel is: the protocol, and the evaluation of Gram matrices by tiles and blocks."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gp
from sklearn.utils.validation import check_array

from sklearn_sl._rows import added_up, n_rows, plain, slices
from sklearn_sl._threads import blas_threads_for, for_each

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sklearn_sl._typing import ArrayLike

# The side of a square tile, 2 MB of float64, that stays in a core's second-level cache.
TILE_SIDE = 512
SMALLEST = {np.dtype(t): np.finfo(t).tiny for t in (np.float32, np.float64)}
# Whether no number of a tile may depend on the others; see ``pair_values``.
APART = ContextVar("APART", default=False)


class RowForm(NamedTuple):
    """A kernel as a map of products or distances of ``points``, for compiled code to evaluate.

    "PRODUCTS" is ``x't``, "GAUSSIAN" is ``exp(-||x - t||**2)``, and "POWERS" is ``(gamma x't +
    coef0)**degree``.
    """

    map: str
    points: np.ndarray
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 1

    @classmethod
    def of(cls, map, X, scale=1.0, **numbers):
        """Return the form for validated samples, times the ``scale``; None if these are sparse."""
        X = plain(X)
        if sp.issparse(X):
            return None
        points = X if np.ndim(scale) == 0 and scale == 1.0 else X * scale
        return cls(map, np.ascontiguousarray(points, dtype=np.float64), **numbers)


class Kernel(gp.Kernel):
    """Base of the package's kernels: scikit-learn's ``Kernel``, evaluated by tiles.

    A subclass gives four hooks.

    ``_inputs(X)``
        The validated, encoded input (an object that ``len`` or ``shape`` can
        measure); bad input raises here.
    ``_tiles(X, Y)``
        For encoded inputs a function ``fill(rows, cols, out)`` that writes
        ``K(X[rows], Y[cols])`` (two slices) into ``out``. What all tiles share
        is computed once, before it is returned. ``Y is X`` asks for a Gram
        matrix. Overflow is looked for after each tile, not here.
    ``_diagonal(X)``
        ``K(x, x)`` for each encoded row.
    ``_gradient(X, K)``
        The derivatives of the Gram matrix ``K`` with respect to ``theta``, the
        logarithms of the free hyper-parameters: an array ``(n, n, n_theta)``.
    """

    input_kind = "vectors"
    accepts_sparse = False
    positive_definite = True
    nonnegative_input = False
    # Whether tiles may be filled by several threads at once.
    concurrent = False

    @property
    def requires_vector_input(self):
        """Whether the kernel compares fixed-length vectors (and not strings or sets)."""
        return self.input_kind == "vectors"

    def __call__(
        self, X: Any, Y: Any = None, eval_gradient: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the kernel matrix ``K(X, Y)``, and optionally its gradient.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples_X, n_features) or sequence
            The left argument.

        Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features) or sequence, \
                default=None
            The right argument; ``None`` means ``X``.

        eval_gradient : bool, default=False
            Whether to return the gradient with respect to the logarithm of the
            free hyper-parameters as well; only for ``Y=None``.

        Returns
        -------
        K : ndarray of shape (n_samples_X, n_samples_Y)
            The kernel matrix, float32 for float32 input and float64 otherwise.

        K_gradient : ndarray of shape (n_samples_X, n_samples_X, n_dims)
            The gradient; only if ``eval_gradient`` is true.
        """
        X = self._inputs(X)
        if Y is None:
            return gram_and_gradient(self, X) if eval_gradient else gram(self, X, encoded=True)
        if eval_gradient:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        Y = self._inputs(Y)
        K = np.empty((n_rows(X), n_rows(Y)), dtype=result_type(X, Y))
        fill = guarded_tiles(self, X, Y)
        share_out(self, lambda tile: fill(*tile, K[tile]), tile_slices(*K.shape))
        return K

    def diag(self, X: Any) -> np.ndarray:
        """Return ``K(x, x)`` for each row ``x``, without the rest of the matrix.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or sequence
            The rows.

        Returns
        -------
        diagonal : ndarray of shape (n_samples,)
            The diagonal of ``K(X, X)``.
        """
        return diagonal(self, self._inputs(X))

    def is_stationary(self) -> bool:
        """Return whether the kernel depends on ``x - t`` alone."""
        return False

    def resolve(self, X: Any, sample_weight: ArrayLike | None = None) -> Any:
        """Return the kernel with its data-dependent parameters replaced by numbers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or sequence
            The training data.

        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row.

        Returns
        -------
        kernel : Kernel
            A copy that can be called.
        """
        return _resolve_inner(self, X, sample_weight)

    def __eq__(self, other):
        if type(self) is not type(other):
            return False
        theirs = other.get_params(deep=False)
        return all(
            _same(value, theirs[name]) for name, value in self.get_params(deep=False).items()
        )

    def __add__(self, other):
        return _operators().Sum(self, _as_kernel(other))

    def __radd__(self, other):
        return _operators().Sum(_as_kernel(other), self)

    def __mul__(self, other):
        return _operators().Product(self, _as_kernel(other))

    def __rmul__(self, other):
        return _operators().Product(_as_kernel(other), self)

    def __pow__(self, exponent):
        return _operators().Power(self, exponent)

    def _inputs(self, X):
        return check_vectors(X, self)

    def _row_form(self, X):
        """Return the :class:`RowForm` of the kernel on validated samples; None if it has none."""
        return None

    def _gradient(self, X, K):
        if self.n_dims:
            raise NotImplementedError(f"{type(self).__name__} does not support eval_gradient=True.")
        return np.empty((*K.shape, 0))


def check_vectors(X, kernel):
    """Return ``X`` as a float matrix that ``kernel`` accepts, or say why not."""
    if holds_text_or_sets(X):
        raise TypeError(
            f"X must be a matrix of features for the kernel {kernel}; got strings or sets. "
            "Use a kernel made for them, such as Spectrum, GapWeighted or SetIntersection."
        )
    X = check_array(
        X,
        accept_sparse="csr" if kernel.accepts_sparse else False,
        dtype=[np.float64, np.float32],
        ensure_min_features=0,
        order="C",
        input_name="X",
    )
    X = added_up(X)
    if kernel.nonnegative_input and X.size and X.min() < 0:
        raise ValueError(
            f"Negative values in data passed to the kernel {kernel}, which compares non-negative "
            f"features only: the smallest value here is {X.min():.3g}."
        )
    return X


def holds_text_or_sets(X):
    """Return whether ``X`` is a sequence of strings, bytes or sets, judged by its first item."""
    if hasattr(X, "ndim"):
        if X.ndim != 1 or X.dtype.kind not in "OUST":
            return False
        X = list(X[:1])
    return (
        isinstance(X, list | tuple) and bool(X) and isinstance(X[0], str | bytes | set | frozenset)
    )


def result_type(*inputs):
    """Return float32 if every input is float32, and float64 otherwise."""
    single = all(getattr(X, "dtype", None) == np.float32 for X in inputs)
    return np.dtype(np.float32 if single else np.float64)


def row_blocks(n, width):
    """Return slices that cut ``n`` rows of ``width`` numbers into blocks of a few MB."""
    return slices(n, max(16, min(1024, 4 * TILE_SIDE**2 // max(width, 1))))


def column_blocks(n, m):
    """Return slices that cut the columns of ``n`` rows into tiles, two at least if it pays."""
    step = max(TILE_SIDE, TILE_SIDE**2 // max(n, 1))
    return slices(m, min(step, max(TILE_SIDE, -(-m // 2))))


def tile_slices(n, m, *, upper=False):
    """Return the tiles ``(rows, cols)`` of an ``n`` by ``m`` matrix.

    With ``upper=True`` the matrix is symmetric, and the tiles that touch its
    upper triangle are returned, diagonal tiles square.
    """
    return [
        (rows, cols)
        for rows in slices(n, TILE_SIDE)
        for cols in slices(m, TILE_SIDE)
        if not upper or cols.start >= rows.start
    ]


def tiles(kernel, X, Y):
    """Return ``fill(rows, cols, out)`` for any scikit-learn kernel, ours or not."""
    if input_kind(kernel) == "vectors" and _width(X) != _width(Y):
        raise ValueError(f"X has {_width(X)} features, but Y has {_width(Y)}.")
    if isinstance(kernel, Kernel):
        return kernel._tiles(X, Y)
    own = kernel.diag(X) if Y is X else None

    def fill(rows, cols, out):
        out[...] = kernel(X[rows], Y[cols])
        if Y is X:  # where a WhiteKernel has its noise
            place, samples = diagonal_of(rows, cols)
            out[place] = own[samples]

    return fill


def _width(X):
    return X.shape[1] if len(getattr(X, "shape", ())) == 2 else None


def guarded_tiles(kernel, X, Y):
    """Return the ``fill`` of a whole kernel: finite input gives a finite matrix or an error."""
    with np.errstate(all="ignore"):
        fill = tiles(kernel, X, Y)

    def guarded(rows, cols, out):
        with np.errstate(all="ignore"):
            fill(rows, cols, out)
            finite_or_explain(out, kernel)

    return guarded


def finite_or_explain(K, kernel):
    """Raise if the kernel overflowed: finite input must never give an infinite matrix."""
    # One cheap pass as a rule: a finite sum has finite terms, an infinite one may have.
    if not np.isfinite(K.sum()) and not np.isfinite(K).all():
        raise ValueError(
            f"The kernel {kernel} overflows or is undefined on this data: scale the features "
            "(StandardScaler) or choose other kernel parameters."
        )


def diagonal_of(rows, cols):
    """Return where the diagonal of a matrix crosses a tile: the places in it and the samples."""
    start = max(rows.start, cols.start)
    samples = np.arange(start, max(start, min(rows.stop, cols.stop)))
    return (samples - rows.start, samples - cols.start), samples


def guarded_gram_tiles(kernel, X):
    """Return the same for a Gram matrix of samples that an estimator has validated."""
    X = encode_checked(kernel, X)
    return guarded_tiles(kernel, X, X)


def gram_diagonal(kernel, X):
    """Return the diagonal of that Gram matrix, in float64."""
    return diagonal(kernel, encode_checked(kernel, X)).astype(np.float64)


def diagonal(kernel, X):
    """Return ``K(x, x)`` of encoded rows, for any scikit-learn kernel."""
    with np.errstate(all="ignore"):
        values = kernel._diagonal(X) if isinstance(kernel, Kernel) else kernel.diag(X)
        values = np.asarray(values, dtype=result_type(X))
        finite_or_explain(values, kernel)
    return values


def input_kind(kernel):
    """Return what a kernel compares; scikit-learn's constant and noise take anything."""
    if isinstance(kernel, Kernel):
        return kernel.input_kind
    return "vectors" if kernel.requires_vector_input else "anything"


def encode(kernel, X):
    """Return ``X`` validated and encoded for ``kernel``, ours or scikit-learn's."""
    return kernel._inputs(X) if isinstance(kernel, Kernel) else _foreign_inputs(kernel, X)


def encode_checked(kernel, X):
    """Return ``X``, which an estimator has validated, encoded for ``kernel``."""
    plain = isinstance(kernel, Kernel) and type(kernel)._inputs is Kernel._inputs
    if plain and kernel.input_kind == "vectors" and not kernel.nonnegative_input:
        return X
    return encode(kernel, X)


def _foreign_inputs(kernel, X):
    if not kernel.requires_vector_input:
        return X
    return check_array(X, dtype=[np.float64, np.float32], order="C", input_name="X")


def gram(
    kernel: Any,
    X: Any,
    *,
    out: np.ndarray | None = None,
    mirror: bool = True,
    encoded: bool = False,
) -> np.ndarray:
    """Return the Gram matrix ``K(X, X)``: half of the evaluations, exactly symmetric.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        The kernel.

    X : {array-like, sparse matrix} of shape (n_samples, n_features) or sequence
        The samples.

    out : ndarray of shape (n_samples, n_samples), default=None
        Where to write.

    mirror : bool, default=True
        Whether to fill the lower triangle too. Without it only the upper
        triangle of the result has a meaning.

    encoded : bool, default=False
        Whether ``X`` went through the kernel's validation already.

    Returns
    -------
    K : ndarray of shape (n_samples, n_samples)
        The Gram matrix.

    Examples
    --------
    >>> from sklearn_sl.kernels import Linear, gram
    >>> gram(Linear(), [[1.0], [2.0]])
    array([[1., 2.],
           [2., 4.]])
    """
    X = X if encoded else encode(kernel, X)
    n = n_rows(X)
    K = np.empty((n, n), dtype=result_type(X)) if out is None else out
    fill = guarded_tiles(kernel, X, X)

    def fill_both(place):
        rows, cols = place
        tile = K[place]
        fill(rows, cols, tile)
        if mirror and rows == cols:
            np.copyto(tile, tile.T.copy(), where=np.tri(len(tile), k=-1, dtype=bool))
        elif mirror:
            K[cols, rows] = tile.T

    share_out(kernel, fill_both, tile_slices(n, n, upper=True))
    return K


def gram_blocks(kernel: Any, X: Any, Y: Any, *, encoded: bool = False) -> Iterator[tuple[Any, ...]]:
    """Iterate over ``(rows, K(X[rows], Y))``: a big matrix, a few rows at a time.

    The block is overwritten by the next one: use it or copy it at once.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        The kernel.

    X : {array-like, sparse matrix} of shape (n_samples_X, n_features) or sequence
        The left argument.

    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features) or sequence
        The right argument.

    encoded : bool, default=False
        Whether ``X`` and ``Y`` went through the kernel's validation already.

    Yields
    ------
    rows : slice
        The rows of the block.

    block : ndarray of shape (n_rows, n_samples_Y)
        The kernel values.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.kernels import Linear, gram_blocks
    >>> X = np.ones((2000, 3))
    >>> sum(block.sum() for rows, block in gram_blocks(Linear(), X, X[:5]))
    np.float64(30000.0)
    """
    if not encoded:
        X, Y = encode(kernel, X), encode(kernel, Y)
    n, m = n_rows(X), n_rows(Y)
    fill = guarded_tiles(kernel, X, Y)
    blocks = row_blocks(n, m)
    buffer = np.empty((blocks[0].stop if blocks else 0, m), dtype=result_type(X, Y))
    for rows in blocks:
        block = buffer[: rows.stop - rows.start]
        fill(rows, slice(0, m), block)
        yield rows, block


def gram_product(kernel: Any, X: Any, Y: Any, coef: Any, *, encoded: bool = False) -> Any:
    """Return ``K(X, Y) @ coef`` without the matrix ``K(X, Y)`` in memory.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        The kernel.

    X : {array-like, sparse matrix} of shape (n_samples_X, n_features) or sequence
        The left argument.

    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features) or sequence
        The right argument.

    coef : ndarray of shape (n_samples_Y,) or (n_samples_Y, n_outputs)
        The coefficients.

    encoded : bool, default=False
        Whether ``X`` and ``Y`` went through the kernel's validation already.

    Returns
    -------
    product : ndarray of shape (n_samples_X,) or (n_samples_X, n_outputs)
        The product.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.kernels import Linear, gram_product
    >>> gram_product(Linear(), [[1.0], [2.0]], [[3.0], [4.0]], np.array([1.0, 1.0]))
    array([ 7., 14.])
    """
    if not encoded:
        X, Y = encode(kernel, X), encode(kernel, Y)
    n, m = n_rows(X), n_rows(Y)
    product = np.empty((n, *coef.shape[1:]), dtype=np.result_type(result_type(X, Y), coef))
    with np.errstate(all="ignore"):
        fill = tiles(kernel, X, Y)

    @np.errstate(all="ignore")
    def multiply(rows):
        total = np.zeros_like(product[rows])
        for cols in column_blocks(len(total), m):
            tile = np.empty((len(total), cols.stop - cols.start), dtype=result_type(X, Y))
            fill(rows, cols, tile)
            total += tile @ coef[cols]
        finite_or_explain(total, kernel)  # what is not finite in a tile is not in its product
        product[rows] = total

    with blas_threads_for(X):
        share_out(kernel, multiply, row_blocks(n, 4 * TILE_SIDE))
    return product


def group_products(kernel, X, Y, starts, coef):
    """Return ``coef @ K(Y, X)`` by groups of the rows of ``Y``, without the matrix in memory.

    Inputs are encoded. The groups have ``starts``, the number of rows at the end; the result has
    the shape (n_groups, n_outputs, n_samples_X). Groups may be many and small: their kernel values
    are evaluated together.
    """
    n, dtype = n_rows(X), result_type(X, Y)
    products = np.empty((len(starts) - 1, len(coef), n), dtype=np.result_type(dtype, coef))
    with np.errstate(all="ignore"):
        fill = tiles(kernel, X, Y)

    @np.errstate(all="ignore")
    def multiply(rows):
        last = 0
        while last < len(products):
            first = last
            last = max(first + 1, np.searchsorted(starts, starts[first] + TILE_SIDE, "right") - 1)
            start, stop = starts[first], starts[last]
            tile = np.empty((rows.stop - rows.start, stop - start), dtype=dtype)
            fill(rows, slice(start, stop), tile)
            for group in range(first, last):
                part = slice(starts[group], starts[group + 1])
                values = tile[:, part.start - start : part.stop - start]
                products[group, :, rows] = coef[:, part] @ values.T
        finite_or_explain(products[:, :, rows], kernel)

    with blas_threads_for(X):
        share_out(kernel, multiply, row_blocks(n, 4 * TILE_SIDE))
    return products


def pair_values(kernel, X, Y, out):
    """Write ``K(X, Y)`` of encoded inputs, each number as if its pair were the only one.

    The rounding errors of a tile depend on its shape, and on what else is in it. Here they do not:
    a value is the same, to the last bit, in whatever company its pair is evaluated. That holds for
    all kernels of this package but :class:`Centered`, and for other kernels and functions that
    do not multiply matrices. The caller looks whether all numbers are finite.
    """
    token = APART.set(True)
    try:
        with np.errstate(all="ignore"):
            tiles(kernel, X, Y)(slice(0, n_rows(X)), slice(0, n_rows(Y)), out)
    finally:
        APART.reset(token)


def pair_gram(kernel, X, step):
    """Return such values of all pairs of samples, ``K[i, j]`` that of ``X[j]`` with ``X[i]``.

    Samples that an estimator has validated, of which ``step`` at a time are evaluated.
    """
    K = np.empty((X.shape[0], X.shape[0]))
    for columns in slices(X.shape[0], step):
        chosen = encode_checked(kernel, X[columns])
        pair_values(kernel, encode_checked(kernel, X), chosen, K[:, columns])
    finite_or_explain(K, kernel)
    return K.T


def share_out(kernel, work, pieces):
    """Do the pieces of work on a kernel matrix, by several threads if the kernel allows."""
    if getattr(kernel, "concurrent", False):
        for_each(work, pieces)
    else:
        for piece in pieces:
            work(piece)


def flush(K):
    """Set the denormal numbers of ``K`` to zero, in place: they cost much and carry nothing."""
    smallest = SMALLEST[K.dtype]
    if K.size and K.min() < smallest:
        K[np.abs(K) < smallest] = 0


def raise_to(K, exponent):
    """Replace ``K`` by ``K**exponent``, a whole power by repeated squaring: pow is slow."""
    if exponent < 1 or int(exponent) != exponent:
        np.power(K, exponent, out=K)
        return
    once = K.copy()
    for digit in f"{int(exponent):b}"[1:]:
        K *= K
        if digit == "1":
            K *= once


def whole(name, value):
    """Return a parameter as an integer, or say that it must be a whole number >= 0."""
    if value < 0 or int(value) != value:
        raise ValueError(f"{name} must be a non-negative integer; got {value}.")
    return int(value)


def _same(a, b):
    """Return whether two parameters are equal: kernels, numbers, arrays or sparse matrices."""
    if isinstance(a, gp.Kernel) or isinstance(b, gp.Kernel):
        return a == b
    if sp.issparse(a) and sp.issparse(b):
        return a.shape == b.shape and (a != b).nnz == 0
    return a is b or np.array_equal(a, b)


def _operators():
    """Return the module of the operators, which are kernels themselves."""
    from sklearn_sl.kernels import _operators as module

    return module


def _as_kernel(value):
    """Return a kernel as it is, and a number as the constant kernel."""
    return value if isinstance(value, gp.Kernel) else gp.ConstantKernel(value)


def resolve(kernel, X, sample_weight=None):
    """Return ``kernel`` with its data-dependent parameters replaced by numbers."""
    if isinstance(kernel, Kernel):
        return kernel.resolve(X, sample_weight)
    return _resolve_inner(kernel, X, sample_weight)


def _resolve_inner(kernel, X, sample_weight):
    """Resolve the kernels among the parameters of a composite kernel."""
    inner = {
        name: resolve(value, X, sample_weight)
        for name, value in kernel.get_params(deep=False).items()
        if isinstance(value, gp.Kernel)
    }
    return clone(kernel).set_params(**inner) if inner else clone(kernel)


def gram_and_gradient(kernel, X):
    """Return the Gram matrix and its gradient on encoded input, for any scikit-learn kernel."""
    if not isinstance(kernel, Kernel):
        return kernel(X, eval_gradient=True)
    K = gram(kernel, X, encoded=True)
    with np.errstate(all="ignore"):
        gradient = kernel._gradient(X, K)
        finite_or_explain(gradient, kernel)
    return K, gradient
