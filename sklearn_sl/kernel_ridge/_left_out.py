"""What a fitted kernel ridge regression predicts without each of its samples in turn."""

import numpy as np
from scipy import linalg

from sklearn_sl._memory import check_memory
from sklearn_sl._rows import dense
from sklearn_sl.kernels._dot import Linear


class LeaveOneOut:
    """The fits without each training sample in turn, in closed form.

    A fit is linear in its targets, ``f(x) = sum_i l_i(x) y_i``, and the fit without sample ``i`` is
    the one whose target ``i`` is replaced by its own left-out prediction. With the left-out
    residuals ``r_i = (y_i - f(x_i)) / (1 - l_i(x_i))`` therefore::

        f_{-i}(x) = f(x) - l_i(x) r_i

    Parameters
    ----------
    model : KernelRidge or KernelRidgeCV
        A fitted model without landmarks, all of whose samples have the same weight.
    """

    def __init__(self, model):
        self.model = model
        self.used = used_samples(model)
        n_targets = 1 if model.dual_coef_.ndim == 1 else model.dual_coef_.shape[1]
        self.alphas = np.broadcast_to(penalties(model), (n_targets,))
        self.dual = model.dual_coef_.reshape(-1, n_targets)[self.used].astype(np.float64)

    def targets(self):
        """Yield the left-out residuals of each target, and a function of new samples.

        The function returns the predictions of all fits for validated samples, of shape
        ``(n_new, n_samples)``.
        """
        smoothers = {alpha: smoother_of(self, alpha) for alpha in set(self.alphas)}
        for alpha, dual, target in zip(self.alphas, self.dual.T, range(len(self.alphas))):
            smoother = smoothers[alpha]
            with np.errstate(divide="ignore", invalid="ignore"):
                residuals = np.where(dual == 0, 0.0, dual / smoother.diagonal)
            yield residuals, self._predictions(smoother, residuals, target)

    def _predictions(self, smoother, residuals, target):
        def predictions(X, fitted):
            with np.errstate(invalid="ignore"):
                return fitted.reshape(len(fitted), -1)[:, [target]] - smoother(X) * residuals

        return predictions


def used_samples(model):
    """Return the samples of positive weight, or raise if the model has no such fits."""
    if getattr(model, "solver_", None) in ("nystrom", "cg"):
        raise ValueError(
            f'solver="{model.solver_}" has no leave-one-out predictions in closed form: fit with '
            'solver="cholesky".'
        )
    used = np.flatnonzero(model._weight)
    if np.ptp(model._weight[used]):
        raise ValueError(
            "Intervals by leave-one-out require samples of equal weight: fit without sample_weight."
        )
    return used


def penalties(model):
    """Return the penalties in units of samples of weight one."""
    alpha = np.asarray(getattr(model, "alpha_", getattr(model, "_alpha", None)), float).ravel()
    alpha = alpha + np.asarray(getattr(model, "_jitter", 0.0), dtype=np.float64).ravel()
    if not np.all(alpha > 0):
        raise ValueError(
            f"Intervals by leave-one-out require alpha > 0; got alpha={model._alpha}: a fit that "
            "interpolates its samples has no residuals."
        )
    return alpha / model._weight.max()


def smoother_of(left_out, alpha):
    """Return what maps targets to predictions, by features if these are fewer than samples."""
    model, used = left_out.model, left_out.used
    X = model.X_fit_[used]
    if isinstance(model.kernel_, Linear) and X.shape[1] < X.shape[0]:
        return FeatureSmoother(dense(X), alpha, fit_intercept=model.fit_intercept)
    check_memory(
        3 * 8 * len(used) ** 2,
        f"The leave-one-out predictions of {len(used)} samples",
        "use a part of them as a validation set instead.",
    )
    return KernelSmoother(model.kernel_, X, used, alpha, fit_intercept=model.fit_intercept)


class KernelSmoother:
    """The rows ``l(x)`` of the smoother, and the diagonal by which duals become left-out residuals.

    With ``G = K + alpha I`` and ``u = inv(G) 1`` the dual coefficients are ``M y``, ``M = inv(G) -
    u u' / 1'u``, the intercept is ``u'y / 1'u``, and ``r_i = c_i / M_ii``.
    """

    def __init__(self, kernel, X, used, alpha, *, fit_intercept):
        self.kernel, self.X, self.used = kernel, X, used
        K = np.array(X[:, used] if kernel is None else kernel(X), dtype=np.float64)
        K[np.diag_indices_from(K)] += alpha
        self.M = linalg.inv(K, overwrite_a=True)
        self.shift = np.zeros(len(used))
        if fit_intercept:
            ones = self.M.sum(axis=0)
            self.shift = ones / ones.sum()
            self.M -= np.outer(ones, self.shift)
        self.diagonal = self.M.diagonal().copy()

    def __call__(self, X):
        K = X[:, self.used] if self.kernel is None else self.kernel(X, self.X)
        return K @ self.M + self.shift


class FeatureSmoother:
    """The same through the singular values of the features, for ``K = X X'``."""

    def __init__(self, X, alpha, *, fit_intercept):
        n_samples = len(X)
        self.origin = X.mean(axis=0, dtype=np.float64) if fit_intercept else 0.0
        U, s, V = linalg.svd(X - self.origin, full_matrices=False)
        self.shift = np.full(n_samples, 1 / n_samples if fit_intercept else 0.0)
        self.map = V.T @ ((s / (s**2 + alpha))[:, None] * U.T)
        self.diagonal = (1 - self.shift - (U**2) @ (s**2 / (s**2 + alpha))) / alpha

    def __call__(self, X):
        return (dense(X) - self.origin) @ self.map + self.shift
