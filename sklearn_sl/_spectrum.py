"""All ridge smoothers of one kernel matrix, and what they predict for samples left out."""

import numpy as np
from scipy import linalg

from sklearn_sl._linalg import eigh, matmul
from sklearn_sl._memory import check_memory


class Eigendecomposition:
    """The eigendecomposition of a kernel matrix, which serves every penalty ``alpha``.

    With weights ``W``, ``sqrt(W) K sqrt(W) = Q diag(s) Q'``. In weighted units,
    ``z = sqrt(w) y``, the dual coefficients of ridge regression are ``M z`` with

        ``M = inv(sqrt(W) K sqrt(W) + alpha I) = Q diag(1 / (s + alpha)) Q'``,

    and its residuals ``alpha M z``. Leaving out the set ``R`` of samples changes
    their residuals to ``inv(M_RR) (M z)_R``: leave-one-out is a division by the
    diagonal. Where ``Q`` has fewer columns than rows the other eigenvalues are
    zero.

    With an intercept the dual coefficients sum to zero, so that the kernel may be
    centred: ``K(x, t) - m(x) - m(t) + const``, ``m`` the weighted mean over the
    samples. Then ``sqrt(w)`` is an eigenvector, and an intercept without penalty
    is its eigenvalue infinity. What centring takes from the function comes back
    with the intercept.

    Parameters
    ----------
    s, Q : ndarray of shape (rank,) and (n_samples, rank)
        The eigenvalues and eigenvectors.

    weight : ndarray of shape (n_samples,)
        The weights, all positive.

    mean : ndarray of shape (n_samples,), default=None
        The function ``m``, up to a constant, if the kernel was centred.
    """

    def __init__(self, s, Q, weight, mean=None):
        self.s, self.Q, self.mean = s, Q, mean
        self.weight, self.root = weight, np.sqrt(weight)
        self.thin = Q.shape[1] < Q.shape[0]

    @classmethod
    def of_gram(cls, K, weight, *, fit_intercept):
        """Decompose a Gram matrix, which is overwritten."""
        root, mean = np.sqrt(weight), None
        size = np.max(weight * np.abs(K.diagonal()))
        if fit_intercept:
            mean = _centre(K, weight)
        K *= root[:, None]
        K *= root
        if fit_intercept:
            # Above all other eigenvalues, so that nothing mixes with this eigenvector.
            above = 2 * linalg.norm(K) or 1
            K += np.outer(root, above * root / weight.sum())
        s, Q = eigh(K)
        if fit_intercept:
            s[-1] = np.inf
        size = np.abs(s).max(initial=size, where=np.isfinite(s))
        s[np.abs(s) < len(s) * np.finfo(s.dtype).eps * size] = 0
        return cls(s, Q, weight, mean)

    @classmethod
    def of_features(cls, X, weight, *, fit_intercept):
        """Decompose ``X X'`` through the smaller ``X'X``, in float64: it squares the condition."""
        X, root, mean = X.astype(np.float64), np.sqrt(weight, dtype=np.float64), None
        if fit_intercept:
            origin = np.average(X, axis=0, weights=weight)
            X = X - origin
            mean = X @ origin
        Z = root[:, None] * X
        s, V = eigh(Z.T @ Z)
        kept = s > len(s) * np.finfo(s.dtype).eps * s.max(initial=0)
        s, Q = s[kept], (Z @ V[:, kept]) / np.sqrt(s[kept])
        if fit_intercept:
            s = np.append(s, np.inf)
            Q = np.column_stack([Q, root / linalg.norm(root)])
        return cls(s, Q, weight, mean)

    def smoothers(self, y, alphas):
        """Return a :class:`Smoother` for targets ``y`` and each ``alpha``."""
        y_mean = np.zeros(y.shape[1], y.dtype)
        if self.mean is not None:
            y_mean = np.average(y, axis=0, weights=self.weight)
        sides = self.root[:, None] * (y - y_mean)
        alphas = np.asarray(alphas, dtype=self.s.dtype)
        off = 1 / alphas if self.thin else np.zeros_like(alphas)
        inverse = 1 / (self.s + alphas[:, None]) - off[:, None]
        duals = self._apply(inverse, matmul(self.Q.T, sides)) + off[:, None, None] * sides
        diagonals = self._diagonals(inverse) + off[:, None]
        return [
            Smoother(self, *parts, y_mean) for parts in zip(alphas, off, inverse, duals, diagonals)
        ]

    def _apply(self, inverse, projected):
        """Return ``Q diag(inverse) projected`` for each row of ``inverse``."""
        scaled = inverse.T[:, :, None] * projected[:, None, :]
        product = matmul(self.Q, scaled.reshape(len(scaled), inverse.shape[0] * projected.shape[1]))
        return product.reshape(len(self.Q), *scaled.shape[1:]).transpose(1, 0, 2)

    def _diagonals(self, inverse, block=1024):
        """Return the diagonal of ``Q diag(inverse) Q'`` for each row of ``inverse``."""
        diagonals = np.empty((len(inverse), len(self.Q)), dtype=self.Q.dtype)
        for start in range(0, len(self.Q), block):
            rows = slice(start, start + block)
            diagonals[:, rows] = matmul(np.square(self.Q[rows]), inverse.T).T
        return diagonals


def _centre(K, weight):
    """Centre a Gram matrix in place; return the weighted mean of its rows, less its mean."""
    share = weight / weight.sum()
    mean = K @ share
    mean -= (share @ mean) / 2
    K -= mean[:, None]
    K -= mean
    return mean


class Smoother:
    """Ridge regression of some targets with one ``alpha``, and all its leave-outs.

    ``M = Q diag(inverse) Q' + off I``, and ``dual`` is ``M z``.
    """

    def __init__(self, spectrum, alpha, off, inverse, dual, diagonal, y_mean):
        self.spectrum, self.alpha, self.off, self.inverse = spectrum, alpha, off, inverse
        self.dual, self.diagonal, self.y_mean = dual, diagonal, y_mean

    @property
    def exists(self):
        """Whether ``K + alpha I`` has an inverse, and nothing overflows."""
        return bool(np.isfinite(self.inverse).all() and np.isfinite(self.dual).all())

    @property
    def definite(self):
        """Whether ``K + alpha I`` is positive definite, so that the fit is a minimum."""
        return bool(self.spectrum.s.min(initial=0) + self.alpha > 0)

    @property
    def dual_coef(self):
        """The dual coefficients ``c``."""
        return self.spectrum.root[:, None] * self.dual

    @property
    def intercept(self):
        """The intercept of each target, zero without."""
        mean = self.spectrum.mean
        return self.y_mean if mean is None else self.y_mean - mean @ self.dual_coef

    @property
    def residuals(self):
        """The targets less their predictions."""
        return self.alpha * self.dual / self.spectrum.root[:, None]

    @property
    def dof(self):
        """The effective degrees of freedom, the trace of the smoother."""
        return float(np.sum(1 - self.alpha * self.diagonal))

    def leave_one_out_residuals(self):
        """Return ``y_i`` less its prediction without sample ``i``; infinite if there is none."""
        return self.dual / (self.diagonal * self.spectrum.root)[:, None]

    def left_out_residuals(self, rows):
        """Return ``y`` less its prediction without all of ``rows``, at these rows.

        NaN if the fit without them does not exist in floating point.
        """
        block = self._block(rows)
        try:
            if self.definite:
                left_out = linalg.cho_solve(linalg.cho_factor(block), self.dual[rows])
            else:
                left_out = np.linalg.solve(block, self.dual[rows])
        except np.linalg.LinAlgError:
            return np.full_like(self.dual[rows], np.nan)
        return left_out / self.spectrum.root[rows, None]

    def _block(self, rows):
        Q = self.spectrum.Q[rows]
        block = (Q * self.inverse) @ Q.T
        block[np.arange(len(rows)), np.arange(len(rows))] += self.off
        return block


def check_eigh_memory(n, itemsize):
    """Raise if the eigendecomposition of an ``n`` by ``n`` matrix cannot fit."""
    # The matrix, its eigenvectors, and the workspace of divide and conquer.
    check_memory(
        4 * n * n * itemsize,
        f"The eigendecomposition for {n} samples",
        'search over KernelRidge(solver="nystrom") with GridSearchCV instead.',
    )
