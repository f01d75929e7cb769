"""Configurations of kernel ridge regression in the common tests; see ``_contracts/__init__.py``."""

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from sklearn_sl.kernels import Gaussian, Linear

# What every kernel machine is tested with, besides its default parameters.
KERNELS = [
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": "median"},
    {"kernel": "poly", "degree": 2},
    {"kernel": "laplacian"},
    {"kernel": Gaussian(gamma=0.5) + 0.1 * Linear()},
    {"kernel": ConstantKernel(2.0) * RBF(1.5)},
    {"kernel": "precomputed"},
]
# Machines that share their Gram matrices with one above need no more than each kind of kernel.
KINDS = [
    {"kernel": "rbf"},
    {"kernel": Gaussian(gamma=0.5) + 0.1 * Linear()},
    {"kernel": "precomputed"},
]
SOLVERS = [
    {"solver": "cholesky"},
    {"solver": "nystrom", "random_state": 0},
    {"solver": "nystrom", "kernel": "rbf", "random_state": 0},
    {"solver": "cg", "kernel": "rbf", "tol": 1e-10, "random_state": 0},
]
SEARCHES = [
    {"kernel": "rbf", "kernel_grid": {"gamma": [0.1, 1.0]}},
    {"kernel": "rbf", "cv": 3},
]
INTERCEPT = [
    {"fit_intercept": True},
    {"fit_intercept": True, "kernel": "rbf"},
    {"fit_intercept": True, "kernel": "precomputed"},
]
INTERCEPT_SOLVERS = [{"fit_intercept": True, **solver} for solver in SOLVERS]

CONFIGS = {
    "KernelRidge": [*KERNELS, *SOLVERS, *INTERCEPT, *INTERCEPT_SOLVERS, {"kernel": "chi2"}],
    "KernelRidgeCV": [
        *KINDS,
        *SEARCHES,
        *INTERCEPT,
        {"kernel": "chi2"},
        {"kernel": "rbf", "cv": "gcv"},
        {"kernel": "rbf", "scoring": "neg_mean_absolute_error"},
        {"kernel": "rbf", "alpha_per_target": True},
    ],
    "KernelRidgeClassifier": [*KINDS, *SOLVERS, {"class_weight": "balanced"}],
    "KernelRidgeClassifierCV": [
        *KINDS,
        *SEARCHES,
        {"class_weight": "balanced", "scoring": "balanced_accuracy"},
    ],
}

# These keep our promises, but are beyond scikit-learn's check of class_weight, which feeds negative
# features to everyone and expects an intercept to follow the heavy class.
OWN_CONFIGS = {
    name: [
        {"kernel": "chi2"},
        {"fit_intercept": False},
        {"fit_intercept": False, "kernel": "rbf"},
        {"fit_intercept": False, "kernel": "precomputed"},
    ]
    for name in ("KernelRidgeClassifier", "KernelRidgeClassifierCV")
}
LONG_FITS = {
    "KernelRidge": [
        ({}, 6000, 1000),
        ({"kernel": "rbf"}, 3000, 50),
        ({"kernel": "rbf", "solver": "nystrom", "n_components": 400}, 20_000, 20),
        ({"kernel": "rbf", "solver": "cg", "n_components": 300, "tol": 1e-12}, 8000, 20),
    ],
    "KernelRidgeCV": [
        ({"kernel": "rbf", "kernel_grid": {"gamma": np.logspace(-3, 0, 20)}}, 400, 20),
        ({"kernel": "rbf", "alphas": np.logspace(-6, 3, 50), "cv": 5}, 600, 20),
    ],
    "KernelRidgeClassifier": [({"kernel": "rbf"}, 2500, 50)],
    "KernelRidgeClassifierCV": [
        ({"kernel": "rbf", "kernel_grid": {"gamma": np.logspace(-3, 0, 20)}}, 400, 20),
    ],
}
