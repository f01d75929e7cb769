"""Configurations of learners on graphs in the common tests; see ``_contracts/__init__.py``."""

from sklearn.metrics.pairwise import rbf_kernel

from sklearn_sl.graph import GraphBuilder

CONFIGS = {
    "GraphOnlinePredictor": [
        {"solver": "cg", "keep_losses": True},
        {"graph": GraphBuilder(("knn", "mst"), n_neighbors=3, weight="binary"), "solver": "lu"},
    ],
    "EigenfunctionClassifier": [
        {"n_components": 8, "n_bins": 20, "alpha": 0.1, "smoothing": 0.1},
        {"gamma": 2.0, "unlabelled": None},
    ],
    "PLaplacianClassifier": [
        {"p": 1.1, "n_neighbors": 4},
        {"p": 5.0, "affinity": GraphBuilder(("knn", "mst"), n_neighbors=5), "tol": 1e-10},
    ],
    "MinCutClassifier": [
        {"affinity": GraphBuilder(("knn", "mst"), n_neighbors=5), "unlabelled": None},
        {"n_neighbors": 4, "weight": "exponential", "scale": "median"},
    ],
    "SpectralBisection": [
        {"threshold": "gap", "normalization": "symmetric", "n_neighbors": 5, "weight": "binary"},
        {"threshold": "sign", "solver": "lanczos", "scale": "median"},
        {"solver": "lu", "scale": 1.0, "weight": "exponential"},
    ],
    "LabelPropagation": [
        {"kernel": "knn"},
        {"kernel": "knn", "n_neighbors": 3},
        {"gamma": 1.0},
        {"kernel": rbf_kernel},
    ],
    "LabelSpreading": [
        {"kernel": "knn"},
        {"kernel": "knn", "n_neighbors": 3, "alpha": 0.5},
        {"gamma": 1.0, "alpha": 0.9},
        {"kernel": rbf_kernel, "alpha": 0.01},
    ],
    "GraphBuilder": [
        {"method": ("mutual_knn", "mst"), "weight": "exponential", "scale": "median"},
        {"method": "shortest_path_tree", "n_neighbors": 3, "weight": "binary"},
        {"method": "ball", "radius": 1.0, "scale": 0.5},
        {"method": "complete", "metric": "manhattan", "scale": "median"},
    ],
    "LaplacianInterpolationClassifier": [
        {"alpha": 0.1, "class_mass": "prior"},
        {"affinity": GraphBuilder(("knn", "mst"), n_neighbors=5), "solver": "cg", "tol": 1e-10},
        {"solver": "consensus", "random_state": 0, "tol": 1e-10, "n_neighbors": 4},
    ],
    "LaplacianInterpolationClassifierCV": [
        {"alphas": [0.0, 0.1], "graph_grid": {"n_neighbors": [3, 8]}},
        {"graph_grid": {"weight": ["binary", "gaussian"]}, "scoring": "accuracy"},
    ],
    "LaplacianInterpolationRegressor": [
        {"alpha": 0.1, "scale": "median", "weight": "exponential"},
        {"affinity": GraphBuilder("complete", scale=1.0), "solver": "lu"},
        {"affinity": "precomputed"},
    ],
    "LaplacianInterpolationRegressorCV": [
        {"alphas": [0.01, 0.1], "graph_grid": {"n_neighbors": [3, 8]}},
    ],
}

OWN_CONFIGS = {
    # scikit-learn's check of clusterings feeds samples to everyone, whatever the affinity.
    "SpectralBisection": [
        {"affinity": "precomputed"},
        {"affinity": "precomputed", "threshold": "gap", "normalization": "symmetric"},
    ],
    # Some of scikit-learn's checks pass a matrix that is not symmetric, and no graph.
    "LaplacianInterpolationClassifier": [{"affinity": "precomputed"}],
    "PLaplacianClassifier": [{"affinity": "precomputed", "p": 3.0}],
    "MinCutClassifier": [{"affinity": "precomputed"}],
}

LONG_FITS = {
    "LabelPropagation": [({}, 6000, 20), ({"kernel": "knn"}, 12_000, 20)],
    "LabelSpreading": [({"alpha": 0.9}, 2500, 20), ({"kernel": "knn", "alpha": 0.9}, 12_000, 20)],
    "LaplacianInterpolationClassifier": [
        ({"n_neighbors": 10}, 60_000, 5),
        ({"alpha": 1.0, "solver": "consensus", "tol": 1e-9}, 20_000, 5),
        ({"alpha": 1.0, "solver": "lu"}, 15_000, 5),
    ],
    "LaplacianInterpolationClassifierCV": [({"alphas": [0.1, 1.0]}, 3000, 5)],
    "LaplacianInterpolationRegressor": [({"alpha": 100.0, "solver": "cg"}, 60_000, 5)],
    "LaplacianInterpolationRegressorCV": [({"alphas": [0.1, 1.0]}, 2500, 5)],
    "GraphBuilder": [
        ({"method": ("knn", "mst")}, 50_000, 5),
        ({"method": "ball", "radius": 0.4}, 20_000, 5),
        ({"method": "complete"}, 2500, 5),
    ],
    "GraphOnlinePredictor": [({}, 2000, 10), ({"solver": "cg"}, 1000, 10)],
    "EigenfunctionClassifier": [({}, 400_000, 20)],
    "SpectralBisection": [({"solver": "lanczos"}, 20_000, 3)],
}
