"""What the searches over kernels share: candidates, Gram matrices, folds, scorers."""

from inspect import signature

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier
from sklearn.gaussian_process.kernels import Kernel as AnyKernel
from sklearn.model_selection import KFold, ParameterGrid, StratifiedKFold, check_cv
from sklearn.utils.multiclass import type_of_target

from sklearn_sl._kernel_machine import check_symmetric_gram
from sklearn_sl._threads import for_each
from sklearn_sl.kernels._base import encode, gram, n_rows, tile_slices
from sklearn_sl.kernels._distances import negated_squared_distances
from sklearn_sl.kernels._radial import RadialKernel

# The folds of a search unless the user says otherwise.
N_FOLDS = 5
NAMED_KERNEL_PARAMS = frozenset({"kernel", "gamma", "degree", "coef0"})


class KernelSearchMixin:
    """The parameters ``kernel_grid`` and ``cv`` of a kernel machine that chooses its kernel."""

    def _kernel_candidates(self, X, weight):
        """Return the candidate kernels as ``(grid point, kernel object)``."""
        if self._precomputed and self.kernel_grid is not None:
            raise ValueError('kernel="precomputed" has no parameters for kernel_grid.')
        grid = [{}] if self.kernel_grid is None else list(ParameterGrid(self.kernel_grid))
        return [(point, self._kernel_at(X, weight, point)) for point in grid]

    def _kernel_at(self, X, weight, point):
        if isinstance(self.kernel, AnyKernel):
            return self._kernel_object(X, weight, kernel=clone(self.kernel).set_params(**point))
        if callable(self.kernel):
            params = {**(self.kernel_params or {}), **point}
            return self._kernel_object(X, weight, kernel_params=params)
        unknown = sorted(set(point) - NAMED_KERNEL_PARAMS)
        if unknown:
            raise ValueError(
                f"kernel_grid has {', '.join(unknown)}, but a named kernel takes "
                f"{', '.join(sorted(NAMED_KERNEL_PARAMS))}."
            )
        return self._kernel_object(X, weight, **point)

    def _split_folds(self, X, labels, used):
        """Return the folds of the splitter as positions among the rows ``used``."""
        position = np.full(len(labels), -1)
        position[used] = np.arange(len(used))
        splits = splits_of(self.cv, X, labels, used, classifier=is_classifier(self))
        folds = [fold_positions(train, test, position) for train, test in splits]
        # As if the rows of weight zero were not there: nothing to test, no fold.
        folds = [(removed, tested) for removed, tested in folds if len(tested)]
        if not folds:
            raise ValueError("No split tests on a sample of positive weight.")
        return folds


def splits_of(cv, X, y, used, *, classifier, groups=None):
    """Yield the training and test rows of each split that ``cv`` stands for.

    As in scikit-learn, but None is shuffled folds of the rows ``used``. Rows are often sorted, by
    time or by the target itself: folds of neighbours would be samples of different populations.
    """
    if cv is not None:
        yield from check_cv(cv, y, classifier=classifier).split(X, y, groups)
        return
    y = y[used]
    for train, test in shuffled_folds(y, classifier).split(np.zeros(len(y)), y):
        yield used[train], used[test]


def shuffled_folds(y, classifier):
    """Return the default splitter: five folds, or fewer if no class has five rows."""
    how = {"shuffle": True, "random_state": 0}
    if classifier and type_of_target(y) in ("binary", "multiclass"):
        largest = np.unique(y, return_counts=True)[1].max()
        return StratifiedKFold(int(np.clip(largest, 2, N_FOLDS)), **how)
    return KFold(int(np.clip(len(y), 2, N_FOLDS)), **how)


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


class GramMatrices:
    """The Gram matrices of several kernels on the same samples.

    Isotropic radial kernels share one matrix of squared distances. Of precomputed
    samples, whose kernel is None, ``columns`` are those that belong to the rows.
    """

    def __init__(self, X, columns, kernels, dtype):
        self.X, self.columns, self.dtype = X, columns, dtype
        radial = [k for k in kernels if isinstance(k, RadialKernel) and k.isotropic]
        self._sharing = set(map(id, radial)) if len(radial) > 1 else set()
        self._kink = any(k.kink for k in radial)
        self._distances = None

    @property
    def shared(self):
        """Whether there is a matrix of distances."""
        return bool(self._sharing)

    def __getitem__(self, kernel):
        if kernel is None:
            K = self.X[:, self.columns].copy()
            check_symmetric_gram(K)
            return K
        if id(kernel) not in self._sharing:
            K = gram(kernel, encode(kernel, self.X), encoded=True)
            return K.astype(self.dtype, copy=False)
        if self._distances is None:
            self._distances = negated_distance_matrix(self.X, kink=self._kink)
        return kernel.of_distances(self._distances).astype(self.dtype, copy=False)


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


def call_scorer(scorer, answers, y, weight):
    """Return the value of a scorer, weighted if there are weights."""
    if weight is None:
        return scorer(answers, None, y)
    if "sample_weight" not in signature(scorer).parameters:
        raise ValueError("With sample_weight the scorer must take sample_weight too.")
    return scorer(answers, None, y, sample_weight=weight)
