"""Configurations of support vector machines in the common tests; see ``_contracts/__init__.py``."""

from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.metrics.pairwise import linear_kernel
from sklearn.model_selection import KFold

from _contracts.kernel_ridge import KINDS
from sklearn_sl.kernels import Gaussian, Linear

SVM_KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "coef0": 1.0},
    {"kernel": "sigmoid", "gamma": 0.01},
    {"gamma": "auto"},
    {"gamma": "median"},
    {"kernel": linear_kernel},
    {"kernel": Gaussian(gamma=0.5) + 0.1 * Linear()},
    {"kernel": ConstantKernel(2.0) * RBF(1.5)},
    {"kernel": "precomputed"},
]

CONFIGS = {
    "SVC": [
        *SVM_KERNELS,
        {"class_weight": "balanced"},
        {"break_ties": True},
        {"loss": "squared_hinge"},
        {"loss": "squared_hinge", "kernel": "linear"},
        {"C": 100.0, "n_jobs": 2},
        {"shrinking": False, "cache_size": 0.001},
    ],
    "SVR": [
        *KINDS[1:],
        {"kernel": "linear"},
        {"gamma": "median"},
        {"loss": "squared_epsilon_insensitive"},
        {"fit_intercept": False},
        {"fit_intercept": False, "loss": "squared_epsilon_insensitive", "kernel": "linear"},
        {"epsilon": 0.0, "C": 100.0},
    ],
    "MulticlassSVC": [
        {"gamma": "median"},
        {"kernel": "poly", "degree": 2, "coef0": 1.0, "C": 0.1},
        {"kernel": Linear() + 1.0},
        {"class_weight": "balanced"},
        {"C": 100.0},
        {"cache_size": 0.01},
    ],
    "SVCCV": [
        {"Cs": [0.1, 1.0, 10.0], "kernel_grid": {"gamma": [0.1, 1.0]}, "cv": 3},
        {"Cs": [0.1, 10.0], "kernel": "linear", "cv": 3},
        {"Cs": [0.1, 10.0], "kernel": "precomputed", "cv": KFold(3)},
        {"Cs": [0.1, 10.0], "loss": "squared_hinge", "class_weight": "balanced", "cv": 3},
        {"Cs": [0.1, 10.0], "cv": "loo"},
        {"Cs": [0.1, 10.0], "cv": 3, "n_jobs": 2},
    ],
    "SVRCV": [
        {"Cs": [0.1, 1.0, 10.0], "kernel_grid": {"gamma": [0.1, 1.0]}, "cv": 3},
        {"Cs": [0.1, 10.0], "kernel": "linear", "cv": 3},
        {"Cs": [0.1, 10.0], "kernel": "precomputed", "cv": 3},
        {"Cs": [0.1, 10.0], "loss": "squared_epsilon_insensitive", "cv": 3},
        {"Cs": [0.1, 10.0], "cv": "loo"},
    ],
}

OWN_CONFIGS = {
    "SVC": [
        {"kernel": "chi2"},
        {"fit_intercept": False},
        {"fit_intercept": False, "kernel": "linear"},
        {"fit_intercept": False, "kernel": "precomputed"},
        # One score for each pair of classes, where scikit-learn's checks expect one for each class.
        {"decision_function_shape": "ovo"},
    ],
    # The Crammer-Singer machine has no intercept at all.
    "MulticlassSVC": [
        {"kernel": "linear"},
        {"kernel": "sigmoid", "gamma": 0.01},
        {"kernel": linear_kernel},
        {"kernel": "precomputed"},
    ],
}

LONG_FITS = {
    "SVC": [
        ({}, 6000, 20),
        ({"cache_size": 10}, 5000, 20),
    ],
    "MulticlassSVC": [({}, 2500, 20), ({"cache_size": 20}, 2500, 20)],
    "SVCCV": [({}, 1000, 20), ({"n_jobs": 2}, 1200, 20), ({"cv": "loo"}, 300, 20)],
    "SVRCV": [({}, 1500, 20)],
    "SVR": [({"C": 1000.0, "epsilon": 0.01}, 3000, 20), ({}, 6000, 20)],
}
