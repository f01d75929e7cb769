"""The folds of the searches: how samples are split, and the same as positions of rows."""

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils.multiclass import type_of_target

# The folds of a search unless the user says otherwise.
N_FOLDS = 5


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
        raise ValueError(
            "cv must not repeat a sample in a training set: use sample_weight instead."
        )
    if trained[test].any():
        raise ValueError(
            "cv must not have a sample in the training set and in the test set of a split."
        )
    removed = np.flatnonzero(~trained & (position >= 0))
    if len(removed) == np.count_nonzero(position >= 0):
        raise ValueError(
            "cv must have a training sample of positive weight in each split: use other folds, or "
            "other weights."
        )
    tested = np.zeros(len(position), dtype=bool)
    tested[test] = True
    return position[removed], np.flatnonzero(tested[removed])
