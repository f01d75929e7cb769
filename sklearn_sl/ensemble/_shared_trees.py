"""Trees that share their training set: its columns are read and sorted once."""

import numpy as np
from sklearn.base import clone, is_classifier

from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn_sl.tree._base import Target
from sklearn_sl.tree._columns import SortedColumns


def shares_columns(estimator):
    """Return whether an estimator is a tree of this package; a subclass may fit otherwise."""
    return type(estimator) in (DecisionTreeClassifier, DecisionTreeRegressor)


class TreeSet:
    """Samples that many trees are grown on, with other weights.

    Parameters
    ----------
    estimator : DecisionTreeClassifier or DecisionTreeRegressor
        What the trees are clones of, apart from their ``random_state``.

    X : {array-like, dataframe} of shape (n_samples, n_features)
        Samples as the user gave them.

    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Targets; classes as the trees shall name them.

    n_threads : int, default=1
        The threads that sort.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples as numbers, for the descent.

    columns : SortedColumns
        The same, sorted.

    codes : ndarray of shape (n_samples, n_outputs)
        The classes as places in ``classes``, of a classification.
    """

    def __init__(self, estimator, X, y, *, n_threads=1):
        if estimator.monotonic_cst is not None:
            raise ValueError(
                "monotonic_cst is not supported: use the trees of scikit-learn for constraints."
            )
        reader = clone(estimator)
        params = set(vars(reader))
        self.X = reader._read_samples(X, reset=True)
        self.y = reader._read_targets(y, len(self.X))
        self.n_outputs = self.y.shape[1]
        self.columns = SortedColumns(self.X, reader._n_categories(), n_threads)
        # What the trees know of their features, whatever their weights.
        # The names of the features are for the ensemble to check.
        params.add("feature_names_in_")
        self.learned = {name: value for name, value in vars(reader).items() if name not in params}
        if is_classifier(estimator):
            plain = clone(estimator).set_params(class_weight=None, priors=None, cost_matrix=None)
            target = plain._encode(self.y, None)
            self.codes, self.n_classes = target.values, target.n_classes
            self.learned |= {"classes_": plain.classes_, "n_classes_": plain.n_classes_}
        else:
            estimator._encode(self.y, None)  # complains of targets that do not suit the criterion

    def fit(self, tree, weight=None, *, n_threads=1, watch=None):
        """Fit a tree in place; rows without weight are as if they were not there."""
        vars(tree).update(self.learned)
        target = self._target(tree, weight)
        grown = tree._plant(self.columns, target, n_threads=n_threads, watch=watch)
        tree.tree_ = grown.prune(tree.ccp_alpha) if tree.ccp_alpha > 0 else grown
        return tree

    def _target(self, tree, weight):
        if not is_classifier(tree):
            return Target(self.y, weight)
        if tree.class_weight is None and tree.priors is None and tree.cost_matrix is None:
            tree._cost = None
            return Target(self.codes, weight, n_classes=self.n_classes)
        return tree._encode(self.y, weight)

    def subset(self, features):
        """Return the same training set with some of the features only, in this order."""
        part = object.__new__(TreeSet)
        vars(part).update(vars(self))
        part.X = np.ascontiguousarray(self.X[:, features])
        part.columns = self.columns.subset(features, part.X)
        is_categorical = self.learned["is_categorical_"]
        if is_categorical is not None and is_categorical[features].any():
            raise ValueError("Subsets of features are for numbers, not for categories.")
        part.learned = {
            **{name: value for name, value in self.learned.items() if name != "feature_names_in_"},
            "n_features_in_": len(features),
            "is_categorical_": None,
        }
        return part
