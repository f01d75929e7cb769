"""What the searches over kernels share: the kernels of a grid, Gram matrices and folds."""

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.gaussian_process.kernels import Kernel as AnyKernel
from sklearn.model_selection import ParameterGrid

from sklearn_sl._folds import fold_positions, splits_of
from sklearn_sl._kernel_machine import check_symmetric_gram
from sklearn_sl._rows import n_rows
from sklearn_sl._threads import for_each
from sklearn_sl.kernels._base import encode, gram, tile_slices
from sklearn_sl.kernels._radial import RadialKernel, negated_squared_distances

NAMED_KERNEL_PARAMS = frozenset({"kernel", "gamma", "degree", "coef0"})


def kernel_candidates(model, X, weight):
    """Return the candidate kernels as ``(grid point, kernel object)``."""
    if model._precomputed and model.kernel_grid is not None:
        raise ValueError(
            'kernel_grid must be None for kernel="precomputed", which has no parameters.'
        )
    grid = [{}] if model.kernel_grid is None else list(ParameterGrid(model.kernel_grid))
    return [(point, _kernel_at(model, X, weight, point)) for point in grid]


def _kernel_at(model, X, weight, point):
    if isinstance(model.kernel, AnyKernel):
        return model._kernel_object(X, weight, kernel=clone(model.kernel).set_params(**point))
    if callable(model.kernel):
        params = {**(model.kernel_params or {}), **point}
        return model._kernel_object(X, weight, kernel_params=params)
    unknown = sorted(set(point) - NAMED_KERNEL_PARAMS)
    if unknown:
        raise ValueError(
            "kernel_grid must have the parameters of a named kernel only, "
            f"{', '.join(sorted(NAMED_KERNEL_PARAMS))}; got {', '.join(unknown)}."
        )
    return model._kernel_object(X, weight, **point)


def kernel_folds(model, X, labels, used):
    """Return the folds of the splitter as positions among the rows ``used``."""
    position = np.full(len(labels), -1)
    position[used] = np.arange(len(used))
    splits = splits_of(model.cv, X, labels, used, classifier=is_classifier(model))
    folds = [fold_positions(train, test, position) for train, test in splits]
    # As if the rows of weight zero were not there: nothing to test, no fold.
    folds = [(removed, tested) for removed, tested in folds if len(tested)]
    if not folds:
        raise ValueError(
            "cv must have a split with a test sample of positive weight: choose another "
            "cv, or other weights."
        )
    return folds


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
