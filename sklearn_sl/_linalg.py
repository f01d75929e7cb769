"""Solving with a kernel matrix: in one buffer, certified, and past the limits of LAPACK calls.

The matrix and its factor share one array ``store`` of shape ``(n + 1, n)``: the
symmetric ``K`` is the upper triangle of the first ``n`` rows, and the Cholesky
factor ``L`` is the lower triangle of the last ``n`` rows, which is exactly the
room that ``K`` leaves. ``K`` stays whole, so a residual can be computed, and a
failed factorisation be tried again, without a second matrix.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg
from scipy.linalg import LinAlgWarning

from sklearn_sl import _cholesky
from sklearn_sl._warnings import warn

PANEL = 512
# Work of one BLAS call, in multiplications: some 50 ms, so that Ctrl-C is heard.
CALL = 2.5e9
# A float32 factor is a good preconditioner up to about this condition number.
SINGLE_CONDITION = 1e6
SINGLE_MIN_ORDER = 2000
REFINEMENT_STEPS = 25
# What a jitter must make of the relative residual, which is rounding error times condition.
JITTERED_RESIDUAL = 1e-6


@dataclass
class LinearSolution:
    """The solution of a symmetric linear system and how it was obtained."""

    x: np.ndarray
    residual: np.ndarray
    jitter: float
    method: str
    shift: np.ndarray


def empty_store(n, dtype=np.float64):
    """Return the buffer of an ``n`` by ``n`` symmetric matrix and its factor."""
    return np.empty((n + 1, n), dtype=dtype)


def solve(store, shift, b):
    """Solve ``(K + diag(shift)) x = b`` for the symmetric ``K`` in ``store``.

    A float32 factorisation that preconditions conjugate gradients in float64
    comes first where it can succeed: half the time, and the same backward
    error. Else, or for float32 input, a Cholesky factorisation in the working
    precision; if that breaks down, one with the smallest jitter that makes it
    succeed and leaves a small residual; and if ``K`` is truly indefinite, a
    symmetric indefinite factorisation.

    Parameters
    ----------
    store : ndarray of shape (n + 1, n)
        The matrix in its upper triangle. The rest is overwritten.

    shift : ndarray of shape (n,)
        The numbers added to the diagonal, none negative.

    b : ndarray of shape (n, n_sides)
        The right-hand sides.

    Returns
    -------
    solution : LinearSolution
        With the residual ``b - (K + diag(shift)) x``, computed from ``K``, and
        the ``shift`` in use, jitter included.
    """
    _check_overflow(_diagonal(store))
    b = np.ascontiguousarray(b.T, dtype=store.dtype)
    solution = None
    if _single_precision_suffices(store, shift):
        solution = _solve_mixed(store, shift, b)
    if solution is None:
        solution = _solve_jittered(store, shift, b)
    if solution is None:
        solution = _solve_indefinite(store, shift, b)
    return replace(solution, x=solution.x.T, residual=solution.residual.T)


def solve_and_report(store, shift, b):
    """Return the same solution, and warn if it is not that of the system as it was given."""
    solution = solve(store, shift, b)
    report(solution)
    return solution


def solve_matrix(K, shift, b):
    """Return the solution for a matrix that stays as it is, and warn in the same way."""
    store = empty_store(len(K), K.dtype)
    store[:-1] = K
    return solve_and_report(store, shift, b)


def eigh(A):
    """Return the eigenvalues and eigenvectors of a symmetric matrix, which is overwritten."""
    _check_overflow(A)
    # The transposed view is in Fortran order: LAPACK works on it in place.
    return linalg.eigh(A.T, driver="evd", overwrite_a=True, check_finite=False)


def _check_overflow(numbers):
    if not np.isfinite(numbers).all():
        raise ValueError(
            "The kernel matrix with the sample weights overflows: scale the features "
            "(StandardScaler) or the weights."
        )


def factorise(store, shift):
    """Factor ``K + diag(shift) = L L'``; return whether it is positive definite.

    ``store`` may be a float32 view of a float64 buffer: twice as many columns,
    of which the factor uses the first half.
    """
    n = len(store) - 1
    offset = 1
    _copy_transposed(store, shift)
    for start in range(0, n, PANEL):
        stop = min(start + PANEL, n)
        if _cholesky.factor(store, offset, start, stop):
            return False
        _eliminate(store, offset, n, start, stop)
    # A NaN passes through LAPACK without a word.
    return bool(np.isfinite(store[n, n - 1]))


def _eliminate(store, offset, n, start, stop):
    """Take the panel ``start:stop`` out of what is below and to the right of it."""
    width = max(PANEL, int(CALL / (PANEL * max(n - stop, 1))))
    for row in range(stop, n, 4 * width):
        _cholesky.solve_below(store, offset, row, min(row + 4 * width, n), start, stop)
    for col in range(stop, n, width):
        end = min(col + width, n)
        _cholesky.update_diagonal(store, offset, col, end, start, stop)
        if end < n:
            _cholesky.update_below(store, offset, end, n, col, end, start, stop)


def _copy_transposed(store, shift):
    """Write ``K + diag(shift)`` into the room of the factor, in the factor's precision."""
    n = len(store) - 1
    K = store[:-1] if store.shape[1] == n else store[:-1].view(np.float64)
    L = store[1:]
    for start in range(0, n, PANEL):
        stop = min(start + PANEL, n)
        for row in range(start, n, PANEL):
            end = min(row + PANEL, n)
            tile = K[start:stop, row:end].T
            # Above the diagonal of L, in a tile on it, there is K.
            below = np.tri(stop - start, dtype=bool) if row == start else True
            np.copyto(L[row:end, start:stop], tile, where=below, casting="same_kind")
    L[np.arange(n), np.arange(n)] += shift.astype(store.dtype)


def _multiply(store, shift, x):
    product = np.empty_like(x)
    _cholesky.multiply(store, x, product)
    product += shift * x
    return product


def _diagonal(store):
    n = len(store) - 1
    return store[np.arange(n), np.arange(n)]


def _single_precision_suffices(store, shift):
    """Return whether a float32 factor of ``K + diag(shift)`` will do as a preconditioner."""
    n = len(store) - 1
    if store.dtype != np.float64 or n < SINGLE_MIN_ORDER or not shift.min() > 0:
        return False
    diagonal = _diagonal(store)
    if not (diagonal.min() > 0 and 1e-15 < diagonal.max() < 1e15 and shift.max() < 1e15):
        return False
    return _largest_eigenvalue(store) < SINGLE_CONDITION * shift.min()


def _largest_eigenvalue(store, n_steps=4):
    """Return an estimate of the largest eigenvalue of ``K`` by a few power steps."""
    x = np.ones((1, len(store) - 1))
    for _ in range(n_steps):
        x /= linalg.norm(x)
        x = _multiply(store, np.zeros(1), x)
        if not x.any():
            return 0.0
    return 2 * linalg.norm(x)


def _solve_mixed(store, shift, b):
    """Solve by conjugate gradients, preconditioned with a float32 factor of the matrix itself.

    Returns None if the factorisation or the convergence fails.
    """
    single = store.view(np.float32)
    if not factorise(single, shift):
        return None

    def precondition(residual):
        scale = np.abs(residual).max(axis=1, keepdims=True)
        scale[scale == 0] = 1
        z = (residual / scale).astype(np.float32)
        _cholesky.substitute(single, 1, z)
        return z * scale

    x, residual = np.zeros_like(b), b.copy()
    z = precondition(residual)
    direction, slope = z, _inner(residual, z)
    norm = np.zeros(len(b))
    for _ in range(REFINEMENT_STEPS):
        product = _multiply(store, shift, direction)
        step = _ratio(slope, _inner(direction, product))
        x += step[:, None] * direction
        residual -= step[:, None] * product
        norm = np.maximum(norm, _ratio(_norm(product), _norm(direction)))
        if _backward_error(residual, norm, x, b) < np.finfo(np.float64).eps:
            break
        z = precondition(residual)
        slope, before = _inner(residual, z), slope
        direction = z + _ratio(slope, before)[:, None] * direction
    residual = b - _multiply(store, shift, x)
    if not _backward_error(residual, norm, x, b) < 1e3 * np.finfo(np.float64).eps:
        return None
    return LinearSolution(x, residual, 0.0, "mixed", shift)


def _inner(a, b):
    return np.einsum("ij,ij->i", a, b)


def _norm(a):
    return np.sqrt(_inner(a, a))


def _ratio(a, b):
    """Return ``a / b``, and zero where ``b`` is zero (a side that is solved already)."""
    return np.divide(a, b, out=np.zeros_like(a), where=b != 0)


def _backward_error(residual, norm, x, b):
    """Return the largest ``|r| / (|A| |x| + |b|)`` of all right-hand sides."""
    return np.max(_ratio(_norm(residual), norm * _norm(x) + _norm(b)))


def _solve_jittered(store, shift, b):
    """Solve by Cholesky, with the smallest jitter of a ladder that will do.

    Returns None if none makes the matrix positive definite.
    """
    solution = None
    for jitter in _jitters(store):
        shifted = with_jitter(shift, jitter)
        if not factorise(store, shifted):
            continue
        x = b.copy()
        _cholesky.substitute(store, 1, x)
        residual = b - _multiply(store, shifted, x)
        if np.isfinite(x).all():
            solution = LinearSolution(x, residual, jitter, "cholesky", shifted)
            # A penalty of the user's is not changed: the residual shows how good the solution is.
            if not jitter and shift.min() > 0:
                return solution
            if np.all(_norm(residual) <= JITTERED_RESIDUAL * _norm(b)):
                return solution
    return solution


def _jitters(store):
    """Iterate over what to add to the diagonal, from nothing to a relative 1e8 of rounding."""
    yield 0.0
    limits = np.finfo(store.dtype)
    unit = float(max(limits.eps * np.abs(_diagonal(store)).max(), limits.tiny))
    yield from (10.0**exponent * unit for exponent in range(1, 9))


def with_jitter(shift, jitter):
    """Return the shift with jitter in proportion: two equal rows stay one of weight two."""
    smallest = shift.min()
    return shift + jitter * (shift / smallest if smallest > 0 else 1)


def inverse_diagonal(store, shift):
    """Return ``diag(inv(G))`` and ``inv(G) 1`` for ``G = K + diag(shift)``, or None.

    ``inv(G) = inv(L)'inv(L)``, so the diagonal is the squared norms of the columns
    of ``inv(L)``, which are found a panel at a time. None if ``G`` is indefinite.
    """
    if not factorise(store, shift):
        return None
    n = len(store) - 1
    diagonal = np.empty(n)
    for start in range(0, n, PANEL // 4):
        stop = min(start + PANEL // 4, n)
        columns = np.eye(stop - start, n - start, dtype=store.dtype)
        _cholesky.substitute_forward(store, 1, start, columns)
        diagonal[start:stop] = _inner(columns, columns)
    ones = np.ones((1, n), dtype=store.dtype)
    _cholesky.substitute(store, 1, ones)
    return diagonal, ones[0]


def _solve_indefinite(store, shift, b):
    n = len(store) - 1
    A = np.array(store[:-1].T, order="F")
    A[np.arange(n), np.arange(n)] += shift
    (sysv,) = linalg.get_lapack_funcs(("sysv",), (A, b))
    _, _, x, info = sysv(A, b.T, lower=1, overwrite_a=1)
    x = np.ascontiguousarray(x.T)
    if info > 0 or not np.isfinite(x).all():
        raise linalg.LinAlgError(
            "The kernel matrix is indefinite, and singular after alpha is added to its "
            "diagonal: change alpha, or use a positive semi-definite kernel."
        )
    return LinearSolution(x, b - _multiply(store, shift, x), 0.0, "indefinite", shift)


def matmul(A, B):
    """Return ``A @ B`` by the BLAS of SciPy.

    NumPy has a BLAS of its own, whose threads would compete with those of a LAPACK
    call that has just returned and that still spin: ten times the time.
    """
    (gemm,) = linalg.get_blas_funcs(("gemm",), (A, B))
    if A.flags.c_contiguous and not A.flags.f_contiguous:
        return gemm(1.0, A.T, B, trans_a=True)
    return gemm(1.0, A, B)


def report(solution):
    """Warn if the system could not be solved as it was given."""
    if solution.jitter:
        warn(
            f"The kernel matrix plus alpha is numerically singular: {solution.jitter:.1e} was "
            "added to its diagonal (see jitter_). Increase alpha, or remove duplicated rows.",
            LinAlgWarning,
        )
    elif solution.method == "indefinite":
        warn_indefinite()


def warn_indefinite():
    """Warn that a kernel is not positive semi-definite."""
    warn(
        "The kernel matrix plus alpha is not positive definite, so the kernel is not positive "
        "semi-definite: the solution is a stationary point, not a minimum. Increase alpha or "
        "choose another kernel; see gram_diagnostics.",
        LinAlgWarning,
    )
