"""Paragraphs of docstrings that estimators and functions on graphs share."""

from sklearn_sl._docstrings import inserter

described = inserter(
    features_seen="""
        n_features_in_ : int
            Number of features seen during :term:`fit`.

        feature_names_in_ : ndarray of shape (`n_features_in_`,)
            Names of features seen during :term:`fit`. Defined only when `X`
            has feature names that are all strings.
    """,
    affinity="""
        affinity : {"knn", "precomputed"} or GraphBuilder, default="knn"
            The graph: of nearest neighbours; given as a symmetric matrix ``X`` of edge weights; or
            built by a :class:`GraphBuilder`, whose own parameters then replace the next three.
    """,
    knn_parameters="""
        n_neighbors : int, default=10
            The number of neighbours, for "knn".

        weight : {"gaussian", "exponential", "binary"}, default="gaussian"
            The weight of an edge, for "knn"; see :class:`GraphBuilder`.

        scale : float, {"self-tuning", "median"}, default="self-tuning"
            The length at which weights decay, for "knn"; see :class:`GraphBuilder`.
    """,
    unlabelled="""
        unlabelled : label, None or "auto", default="auto"
            The value of ``y`` that marks unlabelled samples. "auto" is -1, as in scikit-learn,
            unless the only labels are -1 and 1, which are then two classes, with a warning. None:
            all samples are labelled.
    """,
    class_results="""
        classes_ : ndarray of shape (n_classes,)
            The classes.

        transduction_ : ndarray of shape (n_samples,)
            The class of each training sample.

        label_distributions_ : ndarray of shape (n_samples, n_classes)
            The distribution of labels at each training sample.

        graph_ : csr_array of shape (n_vertices, n_vertices)
            The graph. Its vertices are the distinct samples of non-zero weight, in an order of
            their own: ``graph_[vertex_][:, vertex_]`` is in the order of the samples, if all have
            weights.

        vertex_ : ndarray of shape (n_samples,)
            The vertex of each training sample, -1 for samples of weight zero.

        prior_ : ndarray of shape (n_classes,)
            The shares of the classes among the labels.

        component_without_label_ : ndarray of shape (n_samples,)
            Whether a sample is in a connected component without a label; these have the
            distribution ``prior_``.
    """,
    consensus_seed="""
        random_state : int, RandomState instance or None, default=None
            The choice of vertices, for "consensus".
    """,
    labelled_samples="""
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples, labelled and unlabelled; a symmetric matrix of edge weights, of shape
            (n_samples, n_samples), if the affinity is "precomputed".

        y : array-like of shape (n_samples,)
            The labels; see ``unlabelled``.
    """,
    sample_weight="""
        sample_weight : array-like of shape (n_samples,), default=None
            Weights: an integer weight is equivalent to repeated samples, a weight of zero to a
            removed sample.
    """,
    queries="""
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; weights between samples and training vertices, of shape
            (n_samples, n_training_samples), if the affinity is "precomputed".
    """,
    graph="""
        graph : sparse matrix, array-like of shape (n_vertices, n_vertices) or networkx.Graph
            Weights of the edges; see :func:`as_graph`.
    """,
    candidates="""
        alphas : array-like, default=(0.0,)
            The candidates for ``alpha``.

        graph_grid : "auto", dict, list of dict or None, default="auto"
            The candidates for parameters of :class:`GraphBuilder`, lists by name, such as
            ``{"n_neighbors": [5, 10, 20], "scale": ["self-tuning", "median"]}``. "auto" is
            ``{"n_neighbors": [5, 10, 20]}`` if ``affinity="knn"``. Otherwise, and with None, there
            is one graph, that of the other parameters.

        affinity : {"knn", "precomputed"} or GraphBuilder, default="knn"
            The graph, but for what ``graph_grid`` replaces.
    """,
    choice="""
        alpha_ : float
            The chosen ``alpha``.

        best_params_ : dict
            The chosen parameters of the graph.

        best_score_ : float
            The score of the choice.

        cv_results_ : dict
            The parameters and the score of all candidates, "params" and "score".
    """,
    several_solves="""
        solver : {"auto", "cg", "lu", "amg", "consensus"}, default="auto"
            How the systems are solved; see :class:`LaplacianInterpolationClassifier`.

        tol : float, default=1e-6
            The relative residual at which iterations end.

        max_iter : int, default=10000
            The most iterations.
    """,
    affinities="""
        kernel : {"knn", "rbf"} or callable, default="rbf"
            The affinities. "rbf" is ``exp(-gamma ||x - t||**2)``, a dense matrix; "knn" is one for
            the ``n_neighbors`` nearest samples (a sample is the nearest of its own, and such loops
            do not matter) and zero for others, a sparse matrix that is not symmetric. Or a function
            of two matrices of samples that returns the matrix of their affinities, dense or sparse;
            none may be negative.

        gamma : float, default=20
            The parameter of "rbf".

        n_neighbors : int, default=7
            The parameter of "knn".
    """,
    propagated="""
        X_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
            The training samples.

        classes_ : ndarray of shape (n_classes,)
            The classes.

        label_distributions_ : ndarray of shape (n_samples, n_classes)
            The distribution of the label of each training sample.

        transduction_ : ndarray of shape (n_samples,)
            The most probable label of each training sample.

        prior_ : ndarray of shape (n_classes,)
            The shares of the classes among the labels.
    """,
)
