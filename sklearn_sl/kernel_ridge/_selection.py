"""The parts of a search in closed form: spectra of many kernels, scores."""

import numpy as np

from sklearn_sl._kernel_search import GramMatrices
from sklearn_sl._spectrum import Spectrum, check_spectrum_memory
from sklearn_sl.kernels._dot import Linear


class Spectra:
    """The spectra of several kernels on the same samples."""

    def __init__(self, X, columns, weight, kernels, *, fit_intercept):
        self.X, self.weight, self.fit_intercept = X, weight, fit_intercept
        self.matrices = GramMatrices(X, columns, kernels, weight.dtype)

    def __getitem__(self, kernel):
        """Return the spectrum of a kernel; None stands for precomputed samples."""
        options = {"fit_intercept": self.fit_intercept}
        if isinstance(kernel, Linear) and self.X.shape[1] < self.X.shape[0]:
            X = self.X.toarray() if hasattr(self.X, "toarray") else self.X
            return Spectrum.of_features(X, self.weight, **options)
        check_spectrum_memory(len(self.weight), self.weight.dtype.itemsize)
        return Spectrum.of_gram(self.matrices[kernel], self.weight, **options)


class Judge:
    """Scores a smoother by the predictions for left-out samples.

    Parameters
    ----------
    folds : None, "gcv" or list of (removed, tested)
        Which samples are left out: each alone, with one score for all; none, by
        the trace formula of generalised cross-validation; or folds, with the
        mean of their scores.

    y : ndarray of shape (n_samples, n_targets)
        The numeric targets.

    score : callable
        ``score(predictions, rows)``, one number or one per target.

    shape : tuple
        The shape of such a score.
    """

    def __init__(self, folds, y, score, shape):
        self.folds, self.y, self.score, self.shape = folds, y, score, shape

    def __call__(self, smoother):
        """Return the score, -inf if the smoother does not exist or the score is NaN."""
        if not smoother.exists:
            return np.full(self.shape, -np.inf)
        if isinstance(self.folds, str):
            score = self._generalised(smoother)
        elif self.folds is None:
            score = self._score(smoother.leave_one_out_residuals(), np.arange(len(self.y)))
        else:
            score = np.mean([self._fold(smoother, *fold) for fold in self.folds], axis=0)
        return np.where(np.isnan(score), -np.inf, score)

    def _fold(self, smoother, removed, tested):
        return self._score(smoother.left_out_residuals(removed)[tested], removed[tested])

    def _generalised(self, smoother):
        """Return the score of residuals ``r / (1 - dof / sum(w))``."""
        total = smoother.spectrum.weight.sum()
        free = 1 - smoother.dof / total
        if free <= 0:
            return np.full(self.shape, -np.inf)
        return self._score(smoother.residuals / free, np.arange(len(self.y)))

    def _score(self, residuals, rows):
        if not np.isfinite(residuals).all():
            return np.full(self.shape, -np.inf)
        return self.score(self.y[rows] - residuals, rows)


def squared_error_score(y, weight):
    """Return the score "minus the mean squared error", one number per target."""

    def score(predictions, rows):
        squares = (y[rows] - predictions) ** 2
        return -np.average(squares, axis=0, weights=None if weight is None else weight[rows])

    return score
