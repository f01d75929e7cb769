"""Questions about a Gram matrix: is it a kernel, does it overfit?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg
from sklearn.gaussian_process.kernels import Kernel as AnyKernel
from sklearn.utils import Bunch
from sklearn.utils.validation import check_array

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


def _as_gram(K, X):
    """Return a Gram matrix from a matrix, or from a kernel and the samples."""
    if isinstance(K, AnyKernel):
        if X is None:
            raise ValueError("X must be given if K is a kernel object.")
        K = K(X)
    K = check_array(K, dtype=[np.float64, np.float32], input_name="K")
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"K must be a square matrix; got shape {K.shape}.")
    return K


def is_psd(K: ArrayLike, X: ArrayLike | None = None, *, tol: float | None = None) -> bool:
    """Return whether a Gram matrix is symmetric and positive semi-definite.

    A function is a kernel if and only if all its Gram matrices pass this test
    (Mercer); one data set can refute it, none can prove it.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples) or kernel
        The Gram matrix, or a kernel object together with ``X``.

    X : array-like of shape (n_samples, n_features) or sequence, default=None
        The samples, if ``K`` is a kernel object.

    tol : float, default=None
        The rounding error to forgive, in units of the largest eigenvalue; None
        stands for 1e-8, and for 1e-5 if the matrix is in single precision.

    Returns
    -------
    verdict : bool
        Whether the smallest eigenvalue is at least ``-tol`` times the largest.

    Examples
    --------
    >>> from sklearn_sl.kernels import is_psd
    >>> is_psd([[1.0, 0.5], [0.5, 1.0]]), is_psd([[-1.0, 2.0], [2.0, 4.0]])
    (True, False)
    """
    K = _as_gram(K, X)
    if tol is None:
        tol = 1e-5 if K.dtype == np.float32 else 1e-8
    K = K.astype(np.float64)
    if not np.allclose(K, K.T, rtol=tol, atol=tol * np.abs(K).max()):
        return False
    values = linalg.eigvalsh(K)
    return bool(values[0] >= -tol * np.abs(values).max())


def gram_diagnostics(K: ArrayLike, X: ArrayLike | None = None) -> Any:
    """Describe a Gram matrix: is it positive, of which rank, and nearly diagonal?

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples) or kernel
        The Gram matrix, or a kernel object together with ``X``.

    X : array-like of shape (n_samples, n_features) or sequence, default=None
        The samples, if ``K`` is a kernel object.

    Returns
    -------
    diagnostics : :class:`~sklearn.utils.Bunch`
        With these attributes.

        smallest_eigenvalue, largest_eigenvalue : float
            The ends of the spectrum. A negative end beyond rounding refutes the
            kernel.

        effective_rank : float
            ``(sum s)**2 / sum s**2`` over the eigenvalues: one for a constant
            kernel, ``n_samples`` for the identity.

        diagonal_dominance : float
            ``1 - mean |K_ij| / mean K_ii`` over ``i != j``: near one, every
            sample resembles itself alone, the sign of a kernel that overfits;
            near zero, all samples look alike.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.kernels import Gaussian, gram_diagnostics
    >>> X = np.arange(5.0)[:, None]
    >>> narrow = gram_diagnostics(Gaussian(gamma=10.0), X)
    >>> round(narrow.effective_rank, 2), round(narrow.diagonal_dominance, 2)
    (5.0, 1.0)
    """
    K = _as_gram(K, X).astype(np.float64)
    n = len(K)
    values = linalg.eigvalsh((K + K.T) / 2)
    square_sum = np.sum(values**2)
    diagonal = np.abs(np.diag(K)).mean()
    off_diagonal = (np.abs(K).sum() - n * diagonal) / max(n * (n - 1), 1)
    return Bunch(
        smallest_eigenvalue=float(values[0]),
        largest_eigenvalue=float(values[-1]),
        effective_rank=float(np.sum(values) ** 2 / square_sum) if square_sum else 0.0,
        diagonal_dominance=float(1 - off_diagonal / diagonal) if diagonal else 0.0,
    )
