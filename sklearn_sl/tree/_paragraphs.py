"""Paragraphs of docstrings that the trees share, and the ensembles with them."""

from sklearn_sl._docstrings import inserter

PARAGRAPHS = {
    "categorical_features": """
    categorical_features : array-like or "from_dtype", default="from_dtype"
        Which features are categorical: an array of indices, of names, or a boolean mask. By default
        those that have the dtype "category" in a data frame.
    """,
    "X": """
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples.
    """,
    "categories_learned": """
    is_categorical_ : ndarray of shape (n_features,) or None
        Which features are categorical; None if there are none.

    categories_ : list of n_features arrays or None
        The categories of each feature, None for a number.
    """,
    "check_input": """
    check_input : bool, default=True
        False skips the validation of samples that are a float64 matrix in C order, or a sparse one
        in CSR format.
    """,
    "features_in": """
    n_features_in_ : int
        Number of features seen during :term:`fit`.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during :term:`fit`, if they are all strings.
    """,
    "fitted": """
    self : object
        The fitted estimator.
    """,
    "growth": """
    splitter : {"best", "random"}, default="best"
        "best" takes the best of all thresholds of a feature, "random" looks at one for each
        feature, uniform between its least and largest value in the node; of categories always the
        best subset is taken.

    max_depth : int, default=None
        The largest depth of a leaf; None is no limit.

    min_samples_split : int or float, default=2
        The number of samples, or the share of all, that a node needs to be split.

    min_samples_leaf : int or float, default=1
        The number of samples, or the share of all, that every leaf must have. Samples count once,
        whatever their weights.

    min_weight_fraction_leaf : float, default=0.0
        The share of the weight of all samples that every leaf must have.

    max_features : int, float or {"sqrt", "log2"}, default=None
        How many features a node looks at, drawn at random; a float is a share, None all of them.
        More are drawn until one of them is not constant in the node.

    random_state : int, RandomState instance or None, default=None
        The seed of random features and thresholds. For the same seed the tree does not depend on
        the order of the rows or the number of threads.

    max_leaf_nodes : int, default=None
        Grow best-first, the split that reduces the impurity most at a time, up to so many leaves.

    min_impurity_decrease : float, default=0.0
        By how much a split must reduce the impurity of the tree at least.
    """,
    "importances": """
    feature_importances_ : ndarray of shape (n_features,)
        By how much the splits of each feature reduce the impurity, as shares of one.

    surrogate_importances_ : ndarray of shape (n_features,)
        The same among the samples whose value is known, where a surrogate counts by its adjusted
        agreement; only with ``surrogates``.

    max_features_ : int
        The number of features that a node looks at.

    n_outputs_ : int
        The number of outputs.
    """,
    "monotonic_cst": """
    monotonic_cst : array-like of int of shape (n_features,), default=None
        How predictions may change if a feature grows, all others being equal: 1 they never fall,
        -1 they never rise, 0 is no constraint. For classes it is the probability of the second
        one, of two. Not for several outputs, nor for categorical features; missing values are
        free.
    """,
    "sample_weight": """
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples; a sample of weight zero is as if it were not there.
    """,
    "surrogates_and_competitors": """
    surrogates : int, default=0
        The number of surrogate splits of a node. With zero, missing values go to the side that
        was better for those of the training set (scikit-learn's way). Otherwise a split is judged
        by the samples whose value is known, and the others follow the first surrogate that knows
        them, or else the majority (rpart's way).

    competitors : int, default=0
        How many splits by other features to keep for each node, for information.
    """,
    "targets_y": """
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Targets.
    """,
    "training_X": """
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Training samples; NaN is a missing value, which only dense ones may have.
    """,
    "tree_attributes": """
    tree_ : Tree
        The nodes as arrays, under the names of scikit-learn's ``tree_``, and in addition
        ``improvement``, ``risk``, ``collapse``, ``surrogates`` and ``competitors``.

    ccp_path_ : PruningPath
        The subtrees of weakest-link pruning.
    """,
    "tree_n_jobs": """
    n_jobs : int, default=None
        The number of threads; None is 1 unless in a :obj:`joblib.parallel_backend` context. The
        tree is the same for any number.
    """,
}
PARAGRAPHS |= {
    "feature_names": """
    feature_names : array-like of str, default=None
        The names of the features; None is those that the tree was fitted with, or numbers.
    """,
    "class_names": """
    class_names : array-like of str, default=None
        The names of the classes, in the order of ``classes_``; None is the classes.
    """,
    "show_missing": """
    show_missing : bool, default=None
        Whether each condition tells where missing values go. None: if values were missing in
        training, or the tree has surrogates.
    """,
}
inserted = inserter(**PARAGRAPHS)
