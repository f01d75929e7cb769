"""The nearest training samples of others, by a k-d tree where that is the fast way."""

from functools import cached_property, partial

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from scipy.spatial import KDTree
from sklearn.neighbors import NearestNeighbors

from sklearn_sl._rows import slices
from sklearn_sl._state import CheckedState, check_number, check_shape

# Up to so many features a tree is faster than all distances; scikit-learn has the same limit.
TREE_FEATURES = 15
# Work of one search, in multiplications, so that Ctrl-C is heard; at most so many rows.
SEARCH, SEARCH_ROWS = 2e8, 4096


def nearest_search(X, n_neighbors, n_jobs):
    """Return what :func:`nearest_samples` searches."""
    if sp.issparse(X) or X.shape[1] > TREE_FEATURES or n_neighbors > X.shape[0]:
        return NearestNeighbors(n_neighbors=n_neighbors, n_jobs=n_jobs).fit(X)
    return TreeSearch(np.ascontiguousarray(X, dtype=np.float64), n_neighbors, n_jobs)


def nearest_samples(search, X):
    """Iterate over blocks of rows and the numbers of their nearest training samples."""
    tree = isinstance(search, TreeSearch)
    find = search.nearest if tree else partial(search.kneighbors, return_distance=False)
    step = int(np.clip(SEARCH / (search.n_samples_fit_ * X.shape[1]), 16, SEARCH_ROWS))
    for rows in slices(X.shape[0], step):
        yield rows, find(X[rows])


class TreeSearch(CheckedState):
    """What :class:`~sklearn.neighbors.NearestNeighbors` is for few features, without its overhead.

    The tree is no part of the state: it is grown again by the first search after unpickling.
    """

    def __init__(self, X, n_neighbors, n_jobs):
        self.X, self.n_neighbors, self.n_jobs = X, n_neighbors, n_jobs

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_tree"}

    def _check_state(self):
        check_shape(self, "X", (None, None))
        check_number(self, "n_neighbors", 1, len(self.X))

    @cached_property
    def _tree(self):
        return KDTree(self.X)

    @property
    def n_samples_fit_(self):
        """Return the number of training samples."""
        return len(self.X)

    def nearest(self, X):
        """Return the numbers of the nearest samples of each row."""
        ranks, n_jobs = range(1, self.n_neighbors + 1), effective_n_jobs(self.n_jobs)
        _, numbers = self._tree.query(X, ranks, workers=n_jobs)
        # Where distances overflow all samples are equally far, and the tree names none.
        return np.where(numbers < len(self.X), numbers, np.arange(self.n_neighbors))
