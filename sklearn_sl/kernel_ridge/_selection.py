"""The choice of penalty and kernel in closed form: scores of all left-out predictions."""

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import get_scorer_names

from sklearn_sl._kernel_machine import KernelMachineMixin, precision
from sklearn_sl._kernel_search import GramMatrices, kernel_candidates, kernel_folds
from sklearn_sl._linalg import warn_indefinite
from sklearn_sl._sklearn import Progress, StrOptions
from sklearn_sl._spectrum import Eigendecomposition, check_eigh_memory
from sklearn_sl.kernel_ridge._fit import expand, linear_coef, squeezed, values_at
from sklearn_sl.kernel_ridge._solvers import Fit
from sklearn_sl.kernels._dot import Linear

SEARCH_PARAMETERS = {
    "alphas": ["array-like"],
    **KernelMachineMixin._kernel_constraints,
    "kernel_grid": [dict, list, None],
    "fit_intercept": ["boolean"],
    "cv": ["cv_object", StrOptions({"gcv"})],
    "scoring": [StrOptions(set(get_scorer_names())), callable, None],
}


class Eigendecompositions:
    """The eigendecompositions of several kernels on the same samples."""

    def __init__(self, X, columns, weight, kernels, *, fit_intercept):
        self.X, self.weight, self.fit_intercept = X, weight, fit_intercept
        self.matrices = GramMatrices(X, columns, kernels, weight.dtype)

    def __getitem__(self, kernel):
        """Return the spectrum of a kernel; None stands for precomputed samples."""
        options = {"fit_intercept": self.fit_intercept}
        if isinstance(kernel, Linear) and self.X.shape[1] < self.X.shape[0]:
            X = self.X.toarray() if hasattr(self.X, "toarray") else self.X
            return Eigendecomposition.of_features(X, self.weight, **options)
        check_eigh_memory(len(self.weight), self.weight.dtype.itemsize)
        return Eigendecomposition.of_gram(self.matrices[kernel], self.weight, **options)


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


@dataclass
class ScoredKernel:
    """A kernel of the grid, its smoothers for all penalties, and their scores."""

    params: dict
    kernel: object
    smoothers: list
    scores: np.ndarray

    @property
    def value(self):
        """The best score of any penalty, averaged over targets that choose their own."""
        return np.mean(self.scores.max(axis=0))


@np.errstate(all="ignore")
def choose_in_closed_form(model, X, y, weight, make_score, labels):
    """Choose the kernel and the penalty, and set the fitted attributes.

    ``make_score(used)`` returns the score of predictions for the rows that
    have a weight; ``labels`` are what a splitter stratifies by. Samples of single precision
    are computed with in double precision, as small penalties leave few digits of a dual.
    """
    ravel, y = y.ndim == 1, y.reshape(len(y), -1).astype(np.float64, copy=False)
    given, X = X, X.astype(np.float64) if X.dtype == np.float32 else X
    weight = None if weight is None else weight.astype(np.float64, copy=False)
    alphas = check_alphas(model.alphas)
    used = np.arange(len(y)) if weight is None else np.flatnonzero(weight)
    part = slice(None) if len(used) == len(y) else used
    ones = np.ones(len(used), y.dtype)
    shape = y.shape[1:] if getattr(model, "alpha_per_target", False) else ()
    judge = Judge(_folds(model, X, labels, used), y[part], make_score(part), shape)
    grid = kernel_candidates(model, X, weight)
    eigendecompositions = Eigendecompositions(
        X[part],
        part,
        ones if weight is None else weight[part],
        [kernel for _, kernel in grid],
        fit_intercept=model.fit_intercept,
    )
    path, best = [], None
    with Progress(model, name="kernel", total=len(grid)) as progress:
        for params, kernel in grid:
            with progress.step():
                smoothers = eigendecompositions[kernel].smoothers(y[part], alphas)
                scores = np.array([judge(smoother) for smoother in smoothers])
                candidate = ScoredKernel(params, kernel, smoothers, scores)
                path.append(scores)
                if best is None or candidate.value > best.value:
                    best = candidate
            if progress.stop:
                break
    if not np.isfinite(best.value):
        raise ValueError(_why_no_score(model))
    _expand_best(model, given, X, y, used, best, alphas, ravel)
    model._weight = np.ones(len(y), y.dtype) if weight is None else weight
    model.score_path_ = np.array(path)


def _folds(model, X, labels, used):
    """Return None for leave-one-out, "gcv", or the folds of the splitter."""
    if model.cv is None or isinstance(model.cv, str):
        if len(used) < 2 and model.fit_intercept:
            raise ValueError(
                "Leave-one-out with fit_intercept=True requires at least two samples of "
                f"positive weight; got n_samples={len(used)}."
            )
        return model.cv
    return kernel_folds(model, X, labels, used)


def _expand_best(model, given, X, y, used, best, alphas, ravel):
    """Set the fitted attributes of the best candidate, without another fit.

    They are of the precision of the samples as ``given``.
    """
    per_target = best.scores.ndim > 1
    chosen = np.broadcast_to(best.scores.argmax(axis=0), (y.shape[1],))
    picked = [(best.smoothers[k], target) for target, k in enumerate(chosen)]
    if not all(smoother.definite for smoother, _ in picked):
        warn_indefinite()
    dual, predictions = np.zeros_like(y), np.empty_like(y)
    for smoother, target in picked:
        dual[used, target] = smoother.dual_coef[:, target]
        left_out = smoother.leave_one_out_residuals()[:, target]
        predictions[used, target] = y[used, target] - left_out
    intercept = np.array([smoother.intercept[target] for smoother, target in picked])
    fit = Fit(dual, intercept, None, None, solver="eigh")
    if isinstance(best.kernel, Linear):
        fit.coef = linear_coef(model, X, fit)
    expand(model, given, best.kernel, fit.astype(precision(given)), ravel)
    unused = np.setdiff1d(np.arange(len(y)), used)
    if len(unused):  # a row of weight zero is always left out
        predictions[unused] = values_at(model, given[unused]).reshape(len(unused), -1)
    predictions = predictions.astype(precision(given))
    if given is not X:
        check_single(predictions, values_at(model, given))
    model.loo_predictions_ = squeezed(predictions, ravel)
    model.alpha_ = alphas[chosen] if per_target else float(alphas[chosen[0]])
    model.best_score_ = best.scores.max(axis=0) if per_target else float(best.scores.max())
    model.best_kernel_params_ = best.params
    dof = np.array([smoother.dof for smoother, _ in picked])
    model.dof_ = dof if per_target else float(dof[0])


def _why_no_score(model):
    if isinstance(model.cv, str):
        return (
            'cv="gcv" is not defined for any of the alphas: the degrees of freedom must be '
            "less than the sum of the sample weights, which are taken for counts, and the "
            "squared residuals must not overflow. Increase alphas, or scale y."
        )
    return (
        "The score is not finite for any of the alphas and kernels: the kernel matrix "
        "plus alpha is singular, or the score overflows or is NaN. Increase alphas, "
        "scale y, or choose another scoring."
    )


def check_single(*predictions):
    """Raise if predictions overflow single precision, which the algebra before them did not."""
    if not all(np.isfinite(values).all() for values in predictions):
        raise ValueError("The predictions overflow float32: increase alpha, or scale X and y.")


def check_alphas(alphas):
    """Return the penalties as a vector of positive numbers, or raise."""
    alphas = np.asarray(alphas, dtype=np.float64).ravel()
    if not len(alphas) or not (np.isfinite(alphas).all() and (alphas > 0).all()):
        raise ValueError(f"alphas must be positive finite floats; got {alphas}.")
    return alphas
