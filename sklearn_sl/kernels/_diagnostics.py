"""Questions about a Gram matrix or a data set: is it a kernel, does it overfit, which scale?"""

import numpy as np
from scipy import linalg
from sklearn.gaussian_process.kernels import Kernel as AnyKernel
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import check_array

from sklearn_sl.kernels._distances import negated_squared_distances


def median_gamma(X, *, sample_weight=None, max_samples=1000, random_state=0):
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
        raise ValueError("sample_weight must hold one weight per sample, not all of them zero.")
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


def _as_gram(K, X):
    """Return a Gram matrix from a matrix, or from a kernel and the samples."""
    if isinstance(K, AnyKernel):
        if X is None:
            raise ValueError("Give the samples X together with a kernel object.")
        K = K(X)
    K = check_array(K, dtype=[np.float64, np.float32], input_name="K")
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"A Gram matrix is square, got shape {K.shape}.")
    return K


def is_psd(K, X=None, *, tol=None):
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


def gram_diagnostics(K, X=None):
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
