"""Paragraphs of docstrings that the ensembles share."""

from sklearn_sl._docstrings import inserter
from sklearn_sl.tree._paragraphs import PARAGRAPHS as TREE

PARAGRAPHS = {
    **TREE,
    "any_X": """
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples.
    """,
    "boosted_features_in": """
    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during fit, if all of them are strings.
    """,
    "class_y": """
    y : array-like of shape (n_samples,)
        Classes.
    """,
    "classes_attribute": """
    classes_ : ndarray of shape (n_classes,)
        The classes.
    """,
    "drawing_weight": """
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples, by which they are drawn; a sample of weight zero is as if it
        were not there.
    """,
    "estimator": """
    estimator_ : estimator
        The base estimator that the ensemble is made of clones of.
    """,
    "independent_draws": """
    Rows are drawn independently, equal ones too. The draws follow from what the rows hold, not from
    their positions: integer weights are repetitions, and the order of the rows does not matter,
    exactly and for every ``random_state``. (``min_samples_leaf`` and ``min_samples_split`` of trees
    count rows, whatever their weights; there a weight is no repetition.)
    """,
    "max_depth": """
    max_depth : int, default=None
        The largest depth of a leaf; None is no limit.
    """,
    "min_impurity_decrease": """
    min_impurity_decrease : float, default=0.0
        By how much a split must reduce the impurity of the tree at least.
    """,
    "n_outputs": """
    n_outputs_ : int
        The number of outputs.
    """,
    "oob_score": """
    oob_score_ : float
        The score of the rows out of bag, weighted by their weights unless ``oob_score`` is a
        callable; only with ``oob_score``.
    """,
    "returned_classes": """
    y : ndarray of shape (n_samples,)
        Classes.
    """,
    "routed_params": """
    **params : dict
        What the base estimators ask for, if ``enable_metadata_routing=True``.
    """,
    "training_any_X": """
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Training samples, of any kind that the base estimators take.
    """,
    "verbose": """
    verbose : int, default=0
        How much to print of the progress.
    """,
}
inserted = inserter(**PARAGRAPHS)
