"""The ways to minimise the kernel ridge objective, as functions of numbers.

All of them minimise, for one or several targets ``y`` with their own ``alpha``,

    ``sum_i w_i (y_i - f(x_i) - b)**2 + alpha ||f||**2``,

over functions ``f = sum_i c_i K(x_i, .)`` and, if there is an intercept, ``b``.
Setting the derivatives to zero gives ``(K + alpha inv(W)) c + b = y`` and
``sum_i c_i = 0``.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy import linalg

from sklearn_sl import _linalg
from sklearn_sl._memory import check_memory
from sklearn_sl._rows import hashed_uniform, n_rows, row_hashes
from sklearn_sl.kernels._base import encode, gram, gram_blocks


@dataclass
class Fit:
    """A minimiser and its certificates; one column or entry per target."""

    dual_coef: np.ndarray
    intercept: np.ndarray
    residual_norm: np.ndarray
    rkhs_norm: np.ndarray
    solver: str
    jitter: np.ndarray | float = 0.0
    n_iter: int = 1
    coef: np.ndarray | None = None
    dof: np.ndarray | None = None

    def astype(self, dtype):
        """Return the fit with the function in another precision."""
        coef = None if self.coef is None else np.asarray(self.coef).astype(dtype)
        return replace(
            self,
            dual_coef=self.dual_coef.astype(dtype),
            intercept=self.intercept.astype(dtype),
            coef=coef,
        )

    def scaled(self, scale):
        """Return the fit of targets multiplied by ``scale``, one number per target."""
        coef = None if self.coef is None else self.coef * scale
        return replace(
            self,
            dual_coef=self.dual_coef * scale,
            intercept=self.intercept * scale,
            rkhs_norm=self.rkhs_norm * scale,
            coef=coef,
        )

    @classmethod
    def empty(cls, y, solver):
        """Return a fit whose columns are to be filled in."""
        zeros = np.zeros((4, y.shape[1]))
        return cls(np.empty_like(y), *zeros[:3], solver=solver, jitter=zeros[3])


def solve_exact(fill, n, y, alpha, weight, *, fit_intercept):
    """Solve the dual system by factorisation, once per distinct ``alpha``.

    ``fill(store)`` writes the Gram matrix into the upper triangle of a store.
    """
    store = gram_store(fill, n, y.dtype)
    sides = np.column_stack([y, np.ones(n, y.dtype)]) if fit_intercept else y
    fit = Fit.empty(y, "cholesky")
    for value in np.unique(alpha):
        chosen = np.flatnonzero(alpha == value)
        columns = np.append(chosen, y.shape[1]) if fit_intercept else chosen
        shift = diagonal_shift(value, weight)
        solution = _linalg.solve_and_report(store, shift, sides[:, columns])
        c, r, b = _eliminate_intercept(solution, fit_intercept)
        fit.dual_coef[:, chosen], fit.intercept[chosen] = c, b
        fit.residual_norm[chosen] = _relative(_norms(r), y[:, chosen])
        fitted = y[:, chosen] - b - r - solution.shift[:, None] * c
        fit.rkhs_norm[chosen] = _root(np.einsum("ij,ij->j", c, fitted))
        fit.jitter[chosen] = solution.jitter
        fit.solver = solution.method
    return fit


def diagonal_shift(alpha, weight):
    """Return ``alpha / weight``, or say that the precision cannot hold it."""
    shift = alpha / weight
    if not shift.max() < np.finfo(weight.dtype).max:
        raise ValueError(
            f"alpha={alpha:.3g} over the smallest sample weight, {weight.min():.3g}, overflows "
            f"{weight.dtype}: decrease alpha."
        )
    return shift


def gram_store(fill, n, dtype):
    """Return a store with a Gram matrix in it, or say that there is no room for one."""
    check_memory(
        n * (n + 1) * dtype.itemsize,
        f"The Gram matrix of {n} samples",
        'use solver="nystrom" or solver="cg", which never hold it.',
    )
    store = _linalg.empty_store(n, dtype)
    fill(store)
    return store


def _eliminate_intercept(solution, fit_intercept):
    """Return ``c``, its residual and ``b`` from the solutions for ``y`` and for the ones.

    ``c = inv(G) y - b inv(G) 1`` sums to zero for ``b = 1'inv(G)y / 1'inv(G)1``.
    """
    if not fit_intercept:
        return solution.x, solution.residual, 0.0
    ones = solution.x[:, -1:]
    total = ones.sum()
    b = solution.x[:, :-1].sum(axis=0) / total
    c = solution.x[:, :-1] - b * ones
    return c, solution.residual[:, :-1] - b * solution.residual[:, -1:], b


def _norms(A):
    """Return the norms of the columns."""
    return linalg.norm(A, axis=0, check_finite=False)


def _relative(norm, y):
    size = _norms(y)
    return np.divide(norm, size, out=np.zeros_like(size), where=size > 0)


def _root(square):
    """Return the square root, zero for what rounding made negative."""
    return np.sqrt(np.maximum(square, 0))


def fill_from_kernel(kernel, X):
    """Return the function that writes the Gram matrix of ``X`` into a store."""

    def fill(store):
        gram(kernel, X, out=store[:-1], mirror=False, encoded=True)

    return fill


def fill_from_matrix(K):
    """Return the function that copies a precomputed Gram matrix into a store."""

    def fill(store):
        store[:-1] = K

    return fill


def solve_primal(X, y, alpha, weight, *, fit_intercept):
    """Solve the linear kernel's problem in the space of features, where ``f(x) = w'x``.

    ``(X'WX + alpha I) w = X'Wy`` on weighted-centred data, and ``c = W (y - b - Xw)
    / alpha``.
    """
    total = weight.sum()
    x_mean, y_mean = np.zeros(X.shape[1]), np.zeros(y.shape[1])
    if fit_intercept:
        x_mean, y_mean = (weight @ X) / total, (weight @ y) / total
    centred = y - y_mean
    moments = _weighted_moments(X, weight, x_mean)
    sides = np.asarray(X.T @ (weight[:, None] * centred)) - np.outer(x_mean, weight @ centred)
    fit = Fit.empty(y, "primal")
    coef = np.empty((X.shape[1], y.shape[1]))
    for value in np.unique(alpha):
        chosen = np.flatnonzero(alpha == value)
        shift = np.full(X.shape[1], float(value))
        solution = _linalg.solve_matrix(moments, shift, sides[:, chosen])
        coef[:, chosen] = solution.x
        fit.jitter[chosen] = solution.jitter
        fit.residual_norm[chosen] = _relative(_norms(solution.residual), sides[:, chosen])
    fit.intercept = y_mean - x_mean @ coef
    fit.rkhs_norm = _norms(coef)
    fit.coef = coef.astype(y.dtype)
    dual_coef = _dual_of_primal(X, y - X @ coef - fit.intercept, coef, alpha, weight)
    fit.dual_coef = dual_coef.astype(y.dtype)
    return fit


def _weighted_moments(X, weight, mean):
    """Return ``sum_i w_i (x_i - mean) (x_i - mean)'`` in float64; ``mean`` is zero or the mean.

    Summed over blocks so that Ctrl-C is heard in between. Dense rows are centred
    first: far from the origin a difference of two big sums would lose all digits.
    """
    n, d = X.shape
    step = max(256, int(_linalg.CALL / max(d * d, 1)))
    moments = np.zeros((d, d))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        block, factor = X[rows], weight[rows, None]
        if sp.issparse(block):
            moments += (block.T @ block.multiply(factor)).toarray()
        else:
            block = block - mean if mean.any() else block
            moments += block.T @ (block * factor)
    if sp.issparse(X):
        moments -= weight.sum() * np.outer(mean, mean)
    return moments


def _dual_of_primal(X, residual, coef, alpha, weight):
    """Return ``c`` with ``X'c = w``; the minimum norm one where ``alpha`` is zero."""
    dual = np.empty_like(residual)
    ridge = alpha > 0
    dual[:, ridge] = weight[:, None] * residual[:, ridge] / alpha[ridge]
    if not ridge.all():
        moments = _weighted_moments(X, np.ones(X.shape[0]), np.zeros(X.shape[1]))
        size = np.sqrt(moments.max(initial=0)) or 1.0
        solution = linalg.lstsq(moments / size**2, coef[:, ~ridge])[0]
        dual[:, ~ridge] = (X / size) @ solution / size
    return dual


class Landmarks:
    """The Nystroem features ``phi(x) = T'K(Z, x)`` of landmarks ``Z``.

    With ``K(Z, Z) = V diag(s) V'`` and ``T = V diag(s)**(-1/2)``, over the
    eigenvalues that are not zero in floating point, ``f = phi'u`` has the norm
    ``||u||``, and the dual coefficients of the landmarks are ``T u``. With an
    intercept, which makes up for it, ``K(Z, x)`` is less its mean over the
    landmarks: far from zero there would be nothing but that mean. All in float64,
    as the normal equations square the condition.
    """

    def __init__(self, kernel, Z, *, fit_intercept):
        self.kernel = kernel
        self.Z = encode(kernel, Z.astype(np.float64) if Z.dtype == np.float32 else Z)
        K = gram(kernel, self.Z, encoded=True)
        self.origin = K.mean(axis=0) if fit_intercept else np.zeros(len(K))
        s, V = _linalg.eigh(K)
        kept = s > len(s) * np.finfo(np.float64).eps * max(s[-1], 0) * 10
        if not kept.any():
            raise ValueError(
                "The kernel is zero on all landmarks: choose another kernel, or increase "
                "n_components."
            )
        self.s = s[kept]
        self.T = V[:, kept] / np.sqrt(self.s)

    def blocks(self, X):
        """Iterate over ``(rows, K(X[rows], Z))``, less the origin."""
        for rows, block in gram_blocks(self.kernel, X, self.Z, encoded=True):
            block -= self.origin
            yield rows, block


def choose_landmarks(n_components, X, weight, rng):
    """Return the sorted row numbers of the landmarks, drawn among rows that count.

    A copy of a landmark would add no function to the model. So distinct rows are drawn, one after
    the other, each with a probability in the proportion of the weights of all of its copies. What
    decides is what a row holds, wherever it stands: integer weights are numbers of repetitions.
    """
    used = np.flatnonzero(weight)
    hashes = row_hashes(X[used] if X.ndim == 2 else X[used].reshape(len(used), -1))
    hashes, first, content = np.unique(hashes, return_index=True, return_inverse=True)
    if len(first) > n_components:
        # The least of exponential variables with rates w are such draws; in logarithms, as weights
        # may have any size.
        shares = hashed_uniform(rng.randint(np.iinfo(np.int32).max), hashes)
        arrival = np.log(-np.log1p(-shares)) - np.log(np.bincount(content, weight[used]))
        first = first[np.argpartition(arrival, n_components - 1)[:n_components]]
    return np.sort(used[first])


def solve_nystrom(landmarks, X, y, alpha, weight, *, fit_intercept):
    """Minimise over functions of the landmarks, by their normal equations.

    One pass over blocks of ``K(X, Z)`` gives ``Phi'W Phi`` and ``Phi'Wy``; an
    eigendecomposition then serves every ``alpha``.
    """
    m = n_rows(landmarks.Z)
    T, total = landmarks.T, weight.sum()
    y_mean = (weight @ y) / total if fit_intercept else np.zeros(y.shape[1])
    # Centred targets have mean zero, so that their sides need no correction.
    second, sides, first = np.zeros((m, m)), np.zeros((m, y.shape[1])), np.zeros(m)
    for rows, block in landmarks.blocks(X):
        weighted = block * weight[rows, None]
        second += block.T @ weighted
        sides += weighted.T @ (y[rows] - y_mean)
        first += weighted.sum(axis=0)
    second, sides = T.T @ second @ T, T.T @ sides
    mean = T.T @ first / total if fit_intercept else np.zeros(T.shape[1])
    second -= total * np.outer(mean, mean)
    s, Q = _linalg.eigh(second.copy())
    s = np.maximum(s, 0)
    inverse = _safe_inverse(s, alpha)
    u = Q @ (inverse * (Q.T @ sides))
    residual = second @ u + alpha * u - sides
    return Fit(
        dual_coef=(T @ u).astype(y.dtype),
        intercept=y_mean - mean @ u - landmarks.origin @ (T @ u),
        residual_norm=_relative(_norms(residual), sides),
        rkhs_norm=_norms(u),
        solver="nystrom",
        dof=(s[:, None] * inverse).sum(axis=0) + fit_intercept,
    )


def _safe_inverse(s, alpha):
    """Return ``1 / (s + alpha)``, zero where that is not a number above rounding."""
    shifted = s[:, None] + alpha
    smallest = len(s) * np.finfo(np.float64).eps * shifted.max(axis=0)
    return np.divide(1, shifted, out=np.zeros_like(shifted), where=shifted > smallest)


def solve_cg(landmarks, X, y, alpha, weight, *, fit_intercept, max_iter, tol, progress):
    """Minimise over functions of the landmarks by preconditioned conjugate gradients.

    Each step is one pass over blocks of ``K(X, Z)``, which is never stored. In
    the basis of :class:`Landmarks` the landmarks' own share of ``Phi'W Phi`` is
    diagonal, so that ``sum(w) / m diag(s) + alpha`` is the preconditioner of
    Falkon (Rudi, Carratino and Rosasco, 2017) without its triangular solves.
    """
    m, total = n_rows(landmarks.Z), weight.sum()
    T = landmarks.T
    y_mean = (weight @ y) / total if fit_intercept else np.zeros(y.shape[1])
    # Centred targets have mean zero, so that their sides need no correction.
    sides, first = np.zeros((m, y.shape[1])), np.zeros(m)
    for rows, block in landmarks.blocks(X):
        sides += block.T @ (weight[rows, None] * (y[rows] - y_mean))
        first += weight[rows] @ block
    sides = T.T @ sides
    mean = T.T @ first / total if fit_intercept else np.zeros(T.shape[1])

    def operator(v):
        product, coef = np.zeros((m, v.shape[1])), T @ v
        for rows, block in landmarks.blocks(X):
            product += block.T @ (weight[rows, None] * (block @ coef))
        return T.T @ product - total * np.outer(mean, mean @ v) + alpha * v

    preconditioner = total / m * landmarks.s[:, None] + alpha
    u, relative, n_iter = _conjugate_gradients(
        operator, sides, preconditioner, max_iter=max_iter, tol=tol, progress=progress
    )
    return Fit(
        dual_coef=(T @ u).astype(y.dtype),
        intercept=y_mean - mean @ u - landmarks.origin @ (T @ u),
        residual_norm=relative,
        rkhs_norm=_norms(u),
        solver="cg",
        n_iter=n_iter,
    )


def _conjugate_gradients(operator, b, preconditioner, *, max_iter, tol, progress):
    """Solve ``A x = b`` for all columns at once; return ``x``, residual norms and steps."""
    x, r = np.zeros_like(b), b.copy()
    p = z = r / preconditioner
    slope = np.einsum("ij,ij->j", r, z)
    n_iter = 0
    converged = False
    while n_iter < max_iter and not (converged or progress.stop):
        n_iter += 1
        with progress.step():
            product = operator(p)
            step = _quotient(slope, np.einsum("ij,ij->j", p, product))
            x += step * p
            r -= step * product
            z = r / preconditioner
            slope, before = np.einsum("ij,ij->j", r, z), slope
            p = z + _quotient(slope, before) * p
            relative = _relative(_norms(r), b)
            converged = relative.max() <= tol
    return x, relative, n_iter


def _quotient(a, b):
    return np.divide(a, b, out=np.zeros_like(a), where=b != 0)


def exact_leverages(fill, n, alpha, jitter, weight, *, fit_intercept):
    """Return the diagonal of the smoother ``H``, ``f(x) + b = H y``, for each ``alpha``.

    ``H = I - alpha inv(W) M``, where ``M = inv(G) - inv(G) 1 1'inv(G) / 1'inv(G)1``
    with an intercept and ``M = inv(G)`` without.
    """
    store = gram_store(fill, n, weight.dtype)
    leverages = np.empty((n, len(alpha)))
    for value in np.unique(alpha):
        shift = _linalg.with_jitter(diagonal_shift(value, weight), jitter[alpha == value][0])
        found = _linalg.inverse_diagonal(store, shift)
        if found is None:
            raise ValueError(
                "leverage_ and dof_ are not defined for an indefinite kernel matrix: use a "
                "positive semi-definite kernel, or increase alpha."
            )
        diagonal, ones = found
        if fit_intercept:
            diagonal = diagonal - ones * (ones / ones.sum())
        leverages[:, alpha == value] = (1 - shift * diagonal)[:, None]
    return leverages


def primal_leverages(X, alpha, weight, *, fit_intercept):
    """Return the same diagonal for the linear kernel, from the moments of the features."""
    total = weight.sum()
    mean = (weight @ X) / total if fit_intercept else np.zeros(X.shape[1])
    s, V = _linalg.eigh(_weighted_moments(X, weight, mean))
    squares = np.asarray(X @ V - mean @ V) ** 2
    constant = weight / total if fit_intercept else np.zeros(len(weight))
    return weight[:, None] * (squares @ _safe_inverse(np.maximum(s, 0), alpha)) + constant[:, None]
