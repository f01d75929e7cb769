"""All ridge smoothers of one kernel matrix, and what they predict for samples left out."""

import numpy as np
from scipy import linalg

from sklearn_sl._memory import check_memory


class Spectrum:
    """The eigendecomposition of a kernel matrix, which serves every penalty ``alpha``.

    With weights ``W``, ``sqrt(W) K sqrt(W) = Q diag(s) Q'``. In weighted units,
    ``z = sqrt(w) y``, the residuals of ridge regression are ``P z`` with

        ``P = alpha inv(sqrt(W) K sqrt(W) + alpha I) = Q diag(alpha / (s + alpha)) Q'``,

    and with an intercept, where ``o = sqrt(w)`` plays the part of the constant,
    ``P - P o o'P / o'Po``. Leaving out the set ``R`` of samples changes their
    residuals to ``inv(P_RR) (P z)_R``: leave-one-out is a division by the
    diagonal. Where ``Q`` has fewer columns than rows the other eigenvalues are
    zero.

    Parameters
    ----------
    s, Q : ndarray of shape (rank,) and (n_samples, rank)
        The eigenvalues and eigenvectors.

    weight : ndarray of shape (n_samples,)
        The weights, all positive.

    fit_intercept : bool
        Whether there is an intercept.
    """

    def __init__(self, s, Q, weight, *, fit_intercept):
        self.s, self.Q = s, Q
        self.root = np.sqrt(weight)
        self.fit_intercept = fit_intercept
        self.thin = Q.shape[1] < Q.shape[0]

    @classmethod
    def of_gram(cls, K, weight, **options):
        """Decompose a Gram matrix, which is overwritten."""
        root = np.sqrt(weight)
        K *= root[:, None]
        K *= root
        s, Q = linalg.eigh(K, driver="evd", overwrite_a=True, check_finite=False)
        rounding = len(s) * np.finfo(s.dtype).eps * np.abs(s).max()
        s[np.abs(s) < rounding] = 0
        return cls(s, Q, weight, **options)

    @classmethod
    def of_features(cls, X, weight, **options):
        """Decompose ``X X'`` through the smaller ``X'X``."""
        Z = np.sqrt(weight)[:, None] * X
        s, V = linalg.eigh(Z.T @ Z, driver="evd", overwrite_a=True, check_finite=False)
        kept = s > len(s) * np.finfo(s.dtype).eps * s.max(initial=0)
        return cls(s[kept], (Z @ V[:, kept]) / np.sqrt(s[kept]), weight, **options)

    def smoothers(self, y, alphas):
        """Return a :class:`Smoother` for targets ``y`` and each ``alpha``."""
        sides = np.column_stack([self.root[:, None] * y, self.root])
        projected = self.Q.T @ sides
        shrink = np.array([self._shrink(alpha) for alpha in alphas])
        residuals = self._apply(shrink, projected, sides)
        diagonals = self._diagonals(shrink)
        return [
            Smoother(self, alpha, shrink[k], residuals[k], diagonals[k])
            for k, alpha in enumerate(alphas)
        ]

    def _shrink(self, alpha):
        """Return the eigenvalues of ``P`` on ``Q``, less those off ``Q``."""
        shifted = self.s + alpha
        if not shifted.all():
            return np.full_like(self.s, np.nan)
        return -self.s / shifted if self.thin else alpha / shifted

    def _apply(self, shrink, projected, sides):
        """Return ``P sides`` for each row of ``shrink``."""
        scaled = shrink.T[:, :, None] * projected[:, None, :]
        product = (self.Q @ scaled.reshape(len(self.s), -1)).reshape(len(sides), *scaled.shape[1:])
        product = product.transpose(1, 0, 2)
        return product + sides if self.thin else product

    def _diagonals(self, shrink, block=1024):
        diagonals = np.empty((len(shrink), len(self.Q)), dtype=self.Q.dtype)
        for start in range(0, len(self.Q), block):
            rows = slice(start, start + block)
            diagonals[:, rows] = shrink @ np.square(self.Q[rows]).T
        return diagonals + 1 if self.thin else diagonals


class Smoother:
    """Ridge regression of some targets with one ``alpha``, and all its leave-outs."""

    def __init__(self, spectrum, alpha, shrink, residuals, diagonal):
        self.spectrum, self.alpha, self.shrink = spectrum, alpha, shrink
        self.residuals, self.ones = residuals[:, :-1], residuals[:, -1]
        self.diagonal = diagonal
        self.offset = np.zeros(self.residuals.shape[1])
        if spectrum.fit_intercept:
            self.norm = spectrum.root @ self.ones
            self.offset = (spectrum.root @ self.residuals) / self.norm
            self.residuals = self.residuals - np.outer(self.ones, self.offset)
            self.diagonal = diagonal - self.ones**2 / self.norm

    @property
    def exists(self):
        """Whether ``K + alpha I`` has an inverse."""
        return not np.isnan(self.shrink).any()

    @property
    def definite(self):
        """Whether ``K + alpha I`` is positive definite, so that the fit is a minimum."""
        return bool(self.spectrum.s.min(initial=0) + self.alpha > 0)

    @property
    def dual_coef(self):
        """The dual coefficients ``c``."""
        return self.spectrum.root[:, None] * self.residuals / self.alpha

    @property
    def intercept(self):
        """The intercept of each target, zero without."""
        return self.offset

    @property
    def dof(self):
        """The effective degrees of freedom, the trace of the smoother."""
        return float(np.sum(1 - self.diagonal))

    def leave_one_out_residuals(self):
        """Return ``y_i`` less its prediction without sample ``i``."""
        return self.residuals / (self.diagonal * self.spectrum.root)[:, None]

    def left_out_residuals(self, rows):
        """Return ``y`` less its prediction without all of ``rows``, at these rows."""
        kind = "pos" if self.definite else "sym"
        left_out = linalg.solve(self._block(rows), self.residuals[rows], assume_a=kind)
        return left_out / self.spectrum.root[rows, None]

    def _block(self, rows):
        Q = self.spectrum.Q[rows]
        block = (Q * self.shrink) @ Q.T
        if self.spectrum.thin:
            block[np.arange(len(rows)), np.arange(len(rows))] += 1
        if self.spectrum.fit_intercept:
            block -= np.outer(self.ones[rows], self.ones[rows]) / self.norm
        return block


def check_spectrum_memory(n, itemsize):
    """Raise if the eigendecomposition of an ``n`` by ``n`` matrix cannot fit."""
    # The matrix, its eigenvectors, and the workspace of divide and conquer.
    check_memory(
        4 * n * n * itemsize,
        f"The eigendecomposition for {n} samples",
        'search over KernelRidge(solver="nystrom") with GridSearchCV instead.',
    )
