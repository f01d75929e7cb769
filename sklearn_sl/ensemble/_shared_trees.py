"""Trees that share their training set: its columns are read and sorted once."""

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.preprocessing import OrdinalEncoder

from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn_sl.tree._base import Target
from sklearn_sl.tree._classify import times
from sklearn_sl.tree._columns import SortedColumns

# What a tree knows of its features after a fit, but for their names.
FEATURES = ("n_features_in_", "is_categorical_", "_category_encoder")


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

    reader : object with the features of a tree, default=None
        Who reads the samples and learns their names and categories; None is a clone of the
        estimator.

    Attributes
    ----------
    reader : object
        Reads other samples in the same way.

    X : ndarray of shape (n_samples, n_features)
        Samples as numbers, for the descent.

    columns : SortedColumns
        The same, sorted.

    codes : ndarray of shape (n_samples, n_outputs)
        The classes as places in ``classes``, of a classification.
    """

    def __init__(self, estimator, X, y, *, n_threads=1, reader=None):
        if estimator.monotonic_cst is not None:
            raise ValueError(
                "monotonic_cst is not supported: use the trees of scikit-learn for constraints."
            )
        estimator._validate_params()
        self.reader = clone(estimator) if reader is None else reader
        self.X = self.reader._read_samples(X, reset=True)
        self.y = estimator._read_targets(y, len(self.X))
        self.n_outputs = self.y.shape[1]
        self.columns = SortedColumns(self.X, self.reader._n_categories(), n_threads)
        if estimator._sorts_on_demand(self.X.shape[1]):
            self.columns.ranks  # noqa: B018  (before threads ask for them at once)
        # What the trees know of their features, whatever their weights.
        # The names of the features are for the ensemble to check.
        self.learned = {
            name: vars(self.reader)[name] for name in FEATURES if name in vars(self.reader)
        }
        if is_classifier(estimator):
            plain = clone(estimator).set_params(class_weight=None, priors=None, cost_matrix=None)
            target = plain._encode(self.y, None)
            self.codes, self.n_classes = target.values, target.n_classes
            self.learned |= {"classes_": plain.classes_, "n_classes_": plain.n_classes_}
        else:
            estimator._encode(self.y, None)  # complains of targets that do not suit the criterion

    def fit(
        self,
        tree,
        weight=None,
        *,
        factors=None,
        n_threads=1,
        watch=None,
        random_order=False,
        count_weight=False,
    ):
        """Fit a tree in place; rows without weight are as if they were not there.

        ``factors`` are the weights of the classes of the rows, of a tree that has none itself.
        With ``random_order`` chance decides between equal splits, not the order of the features;
        with ``count_weight`` samples of integer weights count as so many.
        """
        vars(tree).update(self.learned)
        tree._random_order, tree._count_weight = random_order, count_weight
        target = self._target(tree, weight, factors)
        grown = tree._plant(self.columns, target, n_threads=n_threads, watch=watch)
        tree.tree_ = grown.prune(tree.ccp_alpha) if tree.ccp_alpha > 0 else grown
        return tree

    def _target(self, tree, weight, factors):
        if not is_classifier(tree):
            return Target(self.y, weight)
        if tree.class_weight is None and tree.priors is None and tree.cost_matrix is None:
            tree._cost = None
            counted = None if factors is None else times(factors, weight)
            return Target(self.codes, weight, n_classes=self.n_classes, counted=counted)
        return tree._encode(self.y, weight)

    def subset(self, features):
        """Return the same training set with some of the features only, in this order."""
        part = object.__new__(TreeSet)
        vars(part).update(vars(self))
        part.X = np.ascontiguousarray(self.X[:, features])
        part.columns = self.columns.subset(features, part.X)
        part.learned = {
            **self.learned,
            "n_features_in_": len(features),
            **self._categories_of(features),
        }
        return part

    def _categories_of(self, features):
        """Return what a tree knows of the categories among some features."""
        is_categorical = self.learned["is_categorical_"]
        if is_categorical is None or not is_categorical[features].any():
            return {"is_categorical_": None}
        known = [self.reader.categories_[feature] for feature in features]
        encoder = encoder_of([names for names in known if names is not None])
        return {"is_categorical_": is_categorical[features], "_category_encoder": encoder}


def encoder_of(categories):
    """Return an encoder of columns with these categories, as a tree has one."""
    is_text = any(names.dtype.kind not in "biuf" for names in categories)
    # A column whose values are all missing has no category to show.
    row = [[names[0] if len(names) else np.nan for names in categories]]
    encoder = OrdinalEncoder(
        categories=[names if len(names) else np.array([np.nan]) for names in categories],
        handle_unknown="use_encoded_value",
        unknown_value=np.nan,
        encoded_missing_value=np.nan,
    )
    return encoder.fit(np.array(row, dtype=object if is_text else np.float64))
