"""From what a user passes as ``kernel=`` to a kernel object."""

import numpy as np
import scipy.sparse as sp
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import pairwise_kernels

from sklearn_sl._rows import n_rows, plain, slices
from sklearn_sl.kernels._base import Kernel, check_vectors, resolve
from sklearn_sl.kernels._compose import Normalized
from sklearn_sl.kernels._dot import Linear, Polynomial, Sigmoid
from sklearn_sl.kernels._radial import Gaussian, median_gamma

KERNEL_NAMES = frozenset(
    {
        "additive_chi2",
        "chi2",
        "cosine",
        "laplacian",
        "linear",
        "poly",
        "polynomial",
        "rbf",
        "sigmoid",
    }
)


class PairwiseFunction(Kernel):
    """A name of scikit-learn's ``pairwise_kernels``, or a function of two rows."""

    def __init__(self, metric, params=None):
        self.metric = metric
        self.params = params

    @property
    def accepts_sparse(self):
        return callable(self.metric) or self.metric == "laplacian"

    @property
    def nonnegative_input(self):
        return self.metric in ("chi2", "additive_chi2")

    @property
    def positive_definite(self):
        return self.metric != "additive_chi2"

    def _inputs(self, X):
        """Return ``X`` as the loops of scikit-learn want it: writeable, with short indices."""
        X = check_vectors(X, self)
        if sp.issparse(X):
            short = (X.indices.astype(np.int32), X.indptr.astype(np.int32))
            return type(X)((X.data, *short), shape=X.shape)
        return X if X.flags.writeable else X.copy()

    def _tiles(self, X, Y):
        def fill(rows, cols, out):
            right = None if Y is X and rows == cols else Y[cols]
            out[...] = self._evaluate(X[rows], right)

        return fill

    def _diagonal(self, X):
        return np.array([self._evaluate(X[[i]], None)[0, 0] for i in range(X.shape[0])])

    def _evaluate(self, X, Y):
        return pairwise_kernels(X, Y, metric=self.metric, **(self.params or {}))

    def __eq__(self, other):
        same = type(self) is type(other) and self.metric == other.metric
        return same and (self.params or {}) == (other.params or {})

    def __repr__(self):
        return f"{self.metric!r}" if isinstance(self.metric, str) else "callable"


class MatrixFunction(Kernel):
    """A function of two sets of samples that returns their matrix of kernel values."""

    def __init__(self, function, params=None):
        self.function = function
        self.params = params

    def _inputs(self, X):
        return X

    def _tiles(self, X, Y):
        def fill(rows, cols, out):
            values = np.asarray(self._evaluate(X[rows], Y[cols]))
            if values.shape != out.shape:
                raise ValueError(
                    f"kernel must return a matrix of shape {out.shape} for {out.shape[0]} and "
                    f"{out.shape[1]} samples; got shape {values.shape}."
                )
            out[...] = values

        return fill

    def _diagonal(self, X):
        """Return the diagonal, read off the square tiles along it."""
        pieces = [X[piece] for piece in slices(n_rows(X), 64)]
        return np.concatenate([np.diagonal(self._evaluate(piece, piece)) for piece in pieces])

    def _evaluate(self, X, Y):
        values = self.function(X, Y, **(self.params or {}))
        return values.toarray() if sp.issparse(values) else values

    def __repr__(self):
        return "callable"


def as_kernel(
    kernel,
    X,
    *,
    gamma=None,
    degree=3,
    coef0=1,
    kernel_params=None,
    sample_weight=None,
    function_of_matrices=False,
):
    """Return the kernel object, without data-dependent parameters, that the user asked for."""
    if isinstance(kernel, gp.Kernel):
        return resolve(kernel, X, sample_weight)
    if isinstance(kernel, type) and issubclass(kernel, gp.Kernel):
        raise TypeError(
            f"kernel must be a str, a kernel object or a function; got the class "
            f"{kernel.__name__}: use an instance, such as kernel={kernel.__name__}(...)."
        )
    if callable(kernel):
        function = MatrixFunction if function_of_matrices else PairwiseFunction
        return function(kernel, kernel_params)
    if kernel_params:
        raise ValueError(
            f"kernel_params requires kernel to be a function; got kernel={kernel!r}, which "
            "takes gamma, degree and coef0."
        )
    return _named(kernel, _gamma(kernel, gamma, X, sample_weight), degree, coef0)


def _gamma(name, gamma, X, sample_weight):
    if gamma == "median":
        return median_gamma(X, sample_weight=sample_weight)
    if gamma == "scale":
        with np.errstate(over="ignore", invalid="ignore"):
            variance = _variance(X, sample_weight)
        if not np.isfinite(variance):
            raise ValueError(
                "gamma='scale' needs a finite variance of X, but it overflows: the input data "
                "contains large values and needs to be preprocessed (StandardScaler)."
            )
        return 1 / (max(X.shape[1], 1) * variance) if variance > 0 else 1.0
    if gamma == "auto":
        return 1 / max(X.shape[1], 1)
    if gamma is not None:
        return float(gamma)
    return 1.0 if name == "chi2" else 1 / max(X.shape[1], 1)


def _variance(X, sample_weight):
    """Return the variance of all entries of ``X``, those of a row with its weight."""
    X = plain(X)  # so that it is the same to the last bit
    if sample_weight is None:
        if sp.issparse(X):
            return X.multiply(X).mean() - X.mean() ** 2
        return X.var(dtype=np.float64)
    weight = sample_weight / sample_weight.sum()
    if sp.issparse(X):
        return (weight @ X.multiply(X).mean(axis=1) - (weight @ X.mean(axis=1)) ** 2).item()
    return weight @ ((X - weight @ X.mean(axis=1, dtype=np.float64)) ** 2).mean(axis=1)


def _named(name, gamma, degree, coef0):
    makers = {
        "linear": lambda: Linear(),
        "poly": lambda: Polynomial(degree, gamma, coef0),
        "polynomial": lambda: Polynomial(degree, gamma, coef0),
        "rbf": lambda: Gaussian(gamma=gamma),
        "sigmoid": lambda: Sigmoid(gamma, coef0),
        "cosine": lambda: Normalized(Linear()),
        "laplacian": lambda: PairwiseFunction("laplacian", {"gamma": gamma}),
        "chi2": lambda: PairwiseFunction("chi2", {"gamma": gamma}),
        "additive_chi2": lambda: PairwiseFunction("additive_chi2"),
    }
    return makers[name]()
