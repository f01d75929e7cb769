"""The parts of a search in closed form: folds, spectra of many kernels, scores."""

from inspect import signature

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from sklearn_sl._kernel_machine import check_symmetric_gram
from sklearn_sl._spectrum import Spectrum, check_spectrum_memory
from sklearn_sl._threads import for_each
from sklearn_sl.kernels._base import encode, gram, n_rows, tile_slices
from sklearn_sl.kernels._distances import negated_squared_distances
from sklearn_sl.kernels._dot import Linear
from sklearn_sl.kernels._radial import RadialKernel


class Spectra:
    """The spectra of several kernels on the same samples.

    Isotropic radial kernels share one matrix of squared distances.
    """

    def __init__(self, X, columns, weight, kernels, *, fit_intercept):
        self.X, self.columns, self.weight = X, columns, weight
        self.fit_intercept = fit_intercept
        radial = [k for k in kernels if isinstance(k, RadialKernel) and k.isotropic]
        self._sharing = set(map(id, radial)) if len(radial) > 1 else set()
        self._kink = any(k.kink for k in radial)
        self._distances = None

    def __getitem__(self, kernel):
        """Return the spectrum of a kernel; None stands for precomputed samples."""
        options = {"fit_intercept": self.fit_intercept}
        if isinstance(kernel, Linear) and self.X.shape[1] < self.X.shape[0]:
            X = self.X.toarray() if hasattr(self.X, "toarray") else self.X
            return Spectrum.of_features(X, self.weight, **options)
        check_spectrum_memory(len(self.weight), self.weight.dtype.itemsize)
        return Spectrum.of_gram(self._gram(kernel), self.weight, **options)

    def _gram(self, kernel):
        if kernel is None:
            K = self.X[:, self.columns].copy()
            check_symmetric_gram(K)
            return K
        if id(kernel) not in self._sharing:
            K = gram(kernel, encode(kernel, self.X), encoded=True)
            return K.astype(self.weight.dtype, copy=False)
        if self._distances is None:
            self._distances = negated_distance_matrix(self.X, kink=self._kink)
        return kernel.of_distances(self._distances).astype(self.weight.dtype, copy=False)


def negated_distance_matrix(X, *, kink):
    """Return ``-||x_i - x_j||**2`` for all pairs, in float64."""
    n = n_rows(X)
    S = np.empty((n, n))
    fill = negated_squared_distances(X, X, kink=kink)

    def fill_both(place):
        rows, cols = place
        fill(rows, cols, S[place])
        if rows != cols:
            S[cols, rows] = S[place].T

    for_each(fill_both, tile_slices(n, n, upper=True))
    return S


def fold_positions(train, test, position):
    """Return where the removed and the tested rows of a split lie among the used rows.

    ``position`` is -1 for unused rows. The removed rows are all that are not
    trained on; the tested ones are given by their place among the removed.
    """
    trained = np.zeros(len(position), dtype=bool)
    trained[train] = True
    if trained.sum() != len(np.arange(len(position))[train]):
        raise ValueError("A training fold holds a sample twice: use sample_weight instead.")
    if trained[test].any():
        raise ValueError("A split tests on samples that it trains on.")
    removed = np.flatnonzero(~trained & (position >= 0))
    if len(removed) == np.count_nonzero(position >= 0):
        raise ValueError("A split trains on no sample of positive weight.")
    tested = np.zeros(len(position), dtype=bool)
    tested[test] = True
    return position[removed], np.flatnonzero(tested[removed])


class Answers(BaseEstimator):
    """Stands in for a fitted estimator before a scorer: it knows its predictions."""

    def __init__(self, scores, predictions):
        self.scores = scores
        self.predictions = predictions

    def predict(self, X):
        """Return the predictions, whatever ``X`` is."""
        return self.predictions


class RegressorAnswers(RegressorMixin, Answers):
    """The answers of a regressor."""


class ClassifierAnswers(ClassifierMixin, Answers):
    """The answers of a classifier: classes, and the scores that led to them."""

    def __init__(self, scores, predictions, classes):
        super().__init__(scores, predictions)
        self.classes = classes

    @property
    def classes_(self):
        return self.classes

    def decision_function(self, X):
        """Return the scores, whatever ``X`` is."""
        return self.scores


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


def call_scorer(scorer, answers, y, weight):
    """Return the value of a scorer, weighted if there are weights."""
    if weight is None:
        return scorer(answers, None, y)
    if "sample_weight" not in signature(scorer).parameters:
        raise ValueError("With sample_weight the scorer must take sample_weight too.")
    return scorer(answers, None, y, sample_weight=weight)
