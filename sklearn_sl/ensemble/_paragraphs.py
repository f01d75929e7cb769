"""Paragraphs of docstrings that the ensembles share."""

from sklearn_sl._docstrings import inserter
from sklearn_sl.tree._paragraphs import PARAGRAPHS as TREE

PARAGRAPHS = {
    **TREE,
    "any_X": """
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples.
    """,
    "bagging_differences": """
    - Trees of this package, the default, share one sort of the training set and are grown by
      threads; they may have categories and missing values. Any other estimator is fitted by
      joblib, in the backend of the user.
    - Rows are drawn by ``sample_weight``. With ``bootstrap=False`` the base estimators get the
      weights, which scikit-learn ignores.
    - ``oob_score`` may be a metric or the name of a scorer, goes together with ``warm_start``, and
      can keep groups of rows together (``oob_groups`` of :meth:`fit`).
    """,
    "bagging_draws": """
    n_estimators : int, default=10
        The number of base estimators.

    max_samples : int or float, default=None
        The number of draws of a base estimator, or their share of the size of the training set;
        None is all of it. The size is the sum of the weights if they are integers, and the number
        of rows of positive weight otherwise.

    max_features : int or float, default=1.0
        The number of features of a base estimator, or their share of all.

    bootstrap : bool, default=True
        Whether rows are drawn with replacement. False draws without replacement if ``max_samples``
        leaves rows out; otherwise every base estimator gets all rows, with their weights.

    bootstrap_features : bool, default=False
        Whether features are drawn with replacement.
    """,
    "bagging_jobs": """
    warm_start : bool, default=False
        Add base estimators to those of the last fit. With an integer ``random_state`` and the same
        training set the ensemble is the one that a single fit would have given.

    n_jobs : int, default=None
        The number of jobs of a fit and of a prediction, threads for trees of this package; None is
        1 unless in a :obj:`joblib.parallel_backend` context. The result is the same for any number.

    random_state : int, RandomState instance or None, default=None
        The seed of all draws, and of the base estimators' own.
    """,
    "bagging_references": """
    .. [1] L. Breiman, "Bagging predictors", Machine Learning, 24(2), 123-140, 1996.
    .. [2] L. Breiman, "Pasting small votes for classification in large databases and on-line",
       Machine Learning, 36(1), 85-103, 1999.
    .. [3] T. Ho, "The random subspace method for constructing decision forests", IEEE
       Transactions on Pattern Analysis and Machine Intelligence, 20(8), 832-844, 1998.
    .. [4] G. Louppe and P. Geurts, "Ensembles on random patches", ECML PKDD, 346-361, 2012.
    """,
    "boosted_features_in": """
    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during fit, if all of them are strings.
    """,
    "boosted_importances": """
    feature_importances_ : ndarray of shape (n_features,)
        The mean importances of the base estimators' features, if they have any.
    """,
    "boosting_warm_start": """
    warm_start : bool, default=False
        Whether to reuse the base estimators of the previous fit and add more: the result is that of
        a single fit of as many rounds on the same samples.
    """,
    "bootstrap_of_trees": """
    bootstrap : bool, default=True
        Whether rows are drawn with replacement. False draws without replacement if ``max_samples``
        leaves rows out; otherwise every tree gets all rows, with their weights.
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
    "drawn_by_base_estimators": """
    estimators_samples_ : list of ndarray
        The rows that each base estimator drew, as often as it did; computed at each call.

    estimators_features_ : list of ndarray
        The features of each base estimator.
    """,
    "drawn_by_trees": """
    estimators_samples_ : list of ndarray
        The rows that each tree drew, as often as it did; computed at each call.
    """,
    "estimator": """
    estimator_ : estimator
        The base estimator that the ensemble is made of clones of.
    """,
    "fit_params": """
    **fit_params : dict
        What the base estimators ask for, if ``enable_metadata_routing=True``.
    """,
    "forest_idea": """
    Each of ``T`` trees ``h_t`` is grown on rows that are drawn from the training set with
    replacement, and looks at ``max_features`` features in each node, drawn anew [1]_. The forest is
    ``H(x) = sum_t h_t(x) / T``. With the variance ``s`` of a tree and the correlation ``r`` of two
    of them its variance is ``r s + (1 - r) s / T``: more trees reduce the second term, fewer
    features the correlation.
    """,
    "forest_jobs": """
    n_jobs : int, default=None
        The number of threads of a fit and of a prediction; None is 1 unless in a
        :obj:`joblib.parallel_backend` context. The result is the same for any number.

    random_state : int, RandomState instance or None, default=None
        The seed of all draws of rows and features.
    """,
    "forest_warm_start": """
    warm_start : bool, default=False
        Add trees to those of the last fit. With an integer ``random_state`` and the same
        training set the ensemble is the one that a single fit would have given.
    """,
    "impurity_importances": """
    feature_importances_ : ndarray of shape (n_features,)
        By how much the splits of each feature reduce the impurity, as shares of one. It favours
        features with many values; see :meth:`oob_permutation_importance`.
    """,
    "independent_draws": """
    Rows are drawn independently, equal ones too. The draws follow from what the rows hold, not from
    their positions: integer weights are repetitions, and the order of the rows does not matter,
    exactly and for every ``random_state``. (``min_samples_leaf`` and ``min_samples_split`` of trees
    count rows, whatever their weights; there a weight is no repetition.)
    """,
    "least_samples": """
    min_samples_split : int or float, default=2
        The number of rows, or the share of all, that a node needs to be split.

    min_samples_leaf : int or float, default=1
        The number of rows, or the share of all, that every leaf must have. Rows count once,
        however often they were drawn.

    min_weight_fraction_leaf : float, default=0.0
        The share of the weight of all rows that every leaf must have.
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
    "oob_groups": """
    oob_groups : array-like of shape (n_samples,) or "duplicates", default=None
        Groups of samples that belong together, such as the visits of one patient: a sample is
        out of bag for a base estimator only if it drew no sample of its group.
        "duplicates" are groups of samples with equal features, whatever their targets. By
        default every sample, and every copy of it, is out of bag for itself.
    """,
    "oob_score": """
    oob_score_ : float
        The score of the rows out of bag, weighted by their weights unless ``oob_score`` is a
        callable; only with ``oob_score``.
    """,
    "patience": """
    n_iter_no_change : int, default=10
        How many rounds without progress end the fit.

    tol : float, default=0.0
        By how much the error must decrease to be progress.
    """,
    "price_and_draws_of_trees": """
    ccp_alpha : non-negative float, default=0.0
        Complexity parameter of minimal cost-complexity pruning, the price of a leaf; zero is no
        pruning.

    max_samples : int or float, default=None
        The number of draws of a tree, or their share of the size of the training set;
        None is all of it. The size is the sum of the weights if they are integers, and the number
        of rows of positive weight otherwise.
    """,
    "returned_classes": """
    y : ndarray of shape (n_samples,)
        Classes.
    """,
    "rounds": """
    n_estimators : int, default=50
        The largest number of rounds.

    learning_rate : float, default=1.0
        A factor of the base estimators' weights. Smaller ones need more rounds.
    """,
    "routed_params": """
    **params : dict
        What the base estimators ask for, if ``enable_metadata_routing=True``.
    """,
    "stages": """
    n_estimators : int, default=50
        The largest number of stages.

    learning_rate : float, default=1.0
        A factor of the coefficients. Smaller ones need more stages.

    tol : float, default=0.0
        The fit ends with a stage that decreases the loss by no more than this share of it.

    random_state : int, RandomState instance or None, default=None
        For base estimators that are random.
    """,
    "training_any_X": """
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Training samples, of any kind that the base estimators take.
    """,
    "validation_errors": """
    validation_errors_ : ndarray of shape (n_rounds,) or None
        The errors on the samples that were set aside, also of rounds that were dropped.
    """,
    "verbose": """
    verbose : int, default=0
        How much to print of the progress.
    """,
}
inserted = inserter(**PARAGRAPHS)
