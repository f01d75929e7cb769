"""What the common tests share: the configurations, their data, and scikit-learn's private checks.

Run as a script it prints, as JSON, how scikit-learn's ``check_estimator`` ends on
the configurations that stand for the others; ``SCIPY_ARRAY_API`` must be set before
SciPy is imported, so the common tests run this file in a process of its own.
"""

import collections
import json
import re

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import KFold, LeaveOneGroupOut
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.validation import has_fit_parameter

from sklearn_sl._discovery import all_estimators
from sklearn_sl.ensemble import DecisionStump
from sklearn_sl.graph import GraphBuilder
from sklearn_sl.kernels import Gaussian, Linear
from sklearn_sl.online import PassiveAggressiveRegressor, Perceptron
from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor

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
# Samples count once in min_samples_leaf, whatever their weights: that is tested elsewhere.
TREES = [
    {"splitter": "random", "random_state": 0},
    {"max_features": "sqrt", "random_state": 0},
    {"max_leaf_nodes": 5},
    {"max_depth": 3, "min_impurity_decrease": 0.001},
    {"min_weight_fraction_leaf": 0.05},
    {"surrogates": 3, "competitors": 2},
    {"n_jobs": 2},
]
# These draw samples: with the same random state they keep the promises of all others.
RANDOM = {
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
}
# These shuffle their samples into folds unless they are told otherwise.
SHUFFLE_FOLDS = {"DecisionTreeClassifierCV", "DecisionTreeRegressorCV", "SVCCV", "SVRCV"}
# Every estimator is tested with its default parameters and with each of these.
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
    "DecisionTreeClassifier": [
        *TREES,
        {"criterion": "entropy"},
        {"class_weight": "balanced"},
        {"risk": "misclassification", "ccp_alpha": 0.01},
    ],
    "DecisionTreeRegressor": [*TREES, {"ccp_alpha": 0.01}],
    "DecisionTreeClassifierCV": [
        {"cv": 3, "criterion": "log_loss", "rule": "1se"},
        {"cv": 3, "risk": "misclassification", "surrogates": 2, "n_jobs": 2},
        {"cv": 3, "scoring": "accuracy", "max_leaf_nodes": 6},
    ],
    "DecisionTreeRegressorCV": [
        {"cv": 3, "rule": "1se"},
        {"cv": 3, "surrogates": 2, "n_jobs": 2},
        {"cv": 3, "scoring": "neg_mean_absolute_error", "max_depth": 3},
    ],
    "AdaBoostClassifier": [
        {"n_estimators": 10, "estimator": DecisionStump(), "early_stopping": "bound"},
        {"n_estimators": 5, "estimator": DecisionTreeClassifier(max_depth=3), "n_jobs": 2},
        {"n_estimators": 5, "estimator": LogisticRegression()},
    ],
    "AdaBoostRegressor": [
        {"n_estimators": 10, "loss": "exponential", "bootstrap": False, "n_jobs": 2},
        {"n_estimators": 5, "loss": "square", "estimator": Ridge()},
    ],
    "ForwardStagewiseClassifier": [
        {"n_estimators": 10, "loss": "logistic"},
        {"n_estimators": 10, "loss": "square", "estimator": DecisionStump()},
        {"n_estimators": 5, "loss": "hinge", "estimator": DecisionTreeRegressor(max_depth=2)},
    ],
    "ForwardStagewiseRegressor": [
        {"n_estimators": 5, "loss": "absolute", "n_jobs": 2},
        {"n_estimators": 5, "estimator": Ridge()},
    ],
    "BaggingClassifier": [
        {"n_estimators": 5, "max_samples": 0.7, "max_features": 0.5, "n_jobs": 2},
        {"n_estimators": 5, "bootstrap": False, "bootstrap_features": True, "voting": "vote"},
        {"n_estimators": 5, "estimator": LogisticRegression()},
    ],
    "BaggingRegressor": [
        {"n_estimators": 5, "max_samples": 0.7, "max_features": 0.5, "n_jobs": 2},
        {"n_estimators": 5, "estimator": Ridge()},
    ],
    "RandomForestClassifier": [
        {"n_estimators": 5, "max_samples": 0.7, "max_depth": 3, "n_jobs": 2},
        {"n_estimators": 5, "bootstrap": False, "max_features": 1, "criterion": "entropy"},
        {"n_estimators": 5, "class_weight": "balanced_subsample", "voting": "vote"},
    ],
    "RandomForestRegressor": [
        {"n_estimators": 5, "max_samples": 0.7, "max_depth": 3, "n_jobs": 2},
        {"n_estimators": 5, "bootstrap": False, "max_features": 1},
    ],
    "Perceptron": [
        {"average": True},
        {"average": "voted", "tol": None, "max_iter": 5},
        {"multi_class": "kesler", "keep_losses": True},
    ],
    "Halving": [{"on_empty": "keep", "max_iter": 3, "keep_losses": True}],
    "ConsistentLearner": [{"order": "random", "random_state": 0, "max_iter": 2}],
    "GridThresholdHalving": [
        {"n_steps": 10**9, "low": -3.0, "high": 3.0, "keep_losses": True},
        {"n_steps": 3, "on_empty": "keep", "max_iter": 2},
    ],
    "MinimalDisjunction": [
        {"literals": True},
        {"literals": True, "threshold": 0.0, "method": "greedy"},
    ],
    "DisjunctionWeightedMajority": [
        {"n_literals": 1, "literals": True, "threshold": 0.0, "beta": 0.8},
        {"max_iter": 2, "keep_losses": True},
    ],
    "ConjunctionLearner": [{"literals": False, "max_iter": 2, "keep_losses": True}],
    "OnlineGradientDescentClassifier": [
        {"loss": "logistic", "eta": 0.1, "radius": 5.0, "average": True},
        {"multi_class": "kesler", "eta": 0.1, "keep_losses": True},
    ],
    "OnlineGradientDescentRegressor": [
        {"loss": "absolute", "eta": 0.1, "radius": 5.0, "average": True},
        {"loss": "huber", "epsilon": 1.0, "eta": 0.05, "radius": 10.0, "keep_losses": True},
    ],
    "PassiveAggressiveClassifier": [
        {"loss": "squared_hinge", "C": 0.1, "average": True},
        {"multi_class": "kesler", "C": 0.1, "keep_losses": True},
    ],
    "PassiveAggressiveRegressor": [
        {"loss": "squared_epsilon_insensitive", "average": 10},
        {"C": 0.1, "epsilon": 0.01, "keep_losses": True},
    ],
    "Winnow": [
        {"balanced": True, "fit_intercept": True, "alpha": 1.2, "keep_losses": True},
        {"multi_class": "kesler"},
        {"balanced": True, "literals": True, "multi_class": "kesler"},
        {"concept": "conjunction", "fit_intercept": True, "threshold": 2.5},
    ],
    "ExponentiatedGradientClassifier": [
        {"loss": "logistic", "radius": 10.0, "eta": 0.1, "keep_losses": True},
        {"loss": "square", "signed": False, "fit_intercept": False},
        {"conservative": True, "eta": "horizon", "horizon": 300, "gradient_norm": 5.0},
    ],
    "ExponentiatedGradientRegressor": [
        {"radius": 50.0, "keep_losses": True},
        {"loss": "absolute", "signed": False, "eta": 0.1},
        {"eta": "horizon", "horizon": 400, "gradient_norm": 100.0},
    ],
    "EllipsoidClassifier": [{"n_grid": 50, "keep_losses": True}],
    "MixingPastPosteriors": [
        {"past": "uniform", "alpha": "auto", "n_shifts": 2, "horizon": 100, "keep_losses": True},
        {"decay": 0.5, "prediction": "vovk", "loss": "hellinger", "keep_weights": True},
        {"past": "start", "loss": "absolute", "eta": 1.0},
    ],
    "SwitchingMultitaskExperts": [
        {"n_modes": 3, "n_switches": 2, "horizon": 100, "keep_losses": True},
        {"task_feature": 0, "n_tasks": 5, "eta": 0.5, "max_iter": 2},
        {"n_modes": 1},
    ],
    "KernelPerceptron": [
        {"kernel": "poly", "degree": 2, "multi_class": "kesler", "average": True},
        {"kernel": Gaussian(gamma=0.5) + 0.1 * Linear(), "budget": 20, "keep_losses": True},
        {"kernel": "laplacian"},
        {"kernel": "precomputed"},
    ],
    "KernelOGD": [
        {"eta": "horizon", "norm": 5.0, "radius": 1.0, "horizon": 300, "keep_losses": True},
        {"kernel": ConstantKernel(2.0) * RBF(1.5), "budget": 20, "randomized": False},
    ],
    "MatrixCompletion": [
        {"row_kernel": "rbf", "col_kernel": "linear", "keep_losses": True},
        {"conservative": True, "max_iter": 3},
    ],
    "SwitchingMultitaskKernel": [{"kernel": "linear", "n_modes": 3, "keep_losses": True}],
    "GraphOnlinePredictor": [
        {"solver": "cg", "keep_losses": True},
        {"graph": GraphBuilder(("knn", "mst"), n_neighbors=3, weight="binary"), "solver": "lu"},
    ],
    "WeightedMajority": [
        {"beta": 0.0, "keep_losses": True},
        {"beta": 0.5, "randomized": True, "random_state": 0},
        {"estimators": [Perceptron(), Perceptron(average=True)]},
    ],
    "WeightedAverage": [
        {"prediction": "vovk", "keep_weights": True},
        {"loss": "absolute"},
        {"loss": "entropic", "eta": 0.5},
        {"estimators": [PassiveAggressiveRegressor(C=0.1), PassiveAggressiveRegressor()]},
    ],
    "Hedge": [
        {"eta": "doubling", "randomized": True, "random_state": 0},
        {"eta": "horizon", "horizon": 100, "share": 0.01},
        {"estimators": [Perceptron(), Perceptron(average=True)], "eta": 0.1},
    ],
    "FixedShare": [
        {"alpha": "auto", "n_shifts": 2, "horizon": 100},
        {"loss": "hellinger", "prediction": "vovk", "keep_losses": True},
    ],
    "VariableShare": [{"loss": "absolute", "eta": 0.5, "alpha": 0.1, "keep_weights": True}],
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
    "SubsetFeatures": [{"order": 3, "include_bias": False}],
    "CorrelationFeatures": [{"scaled": True}],
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
OWN_CONFIGS["SVC"] = [
    {"kernel": "chi2"},
    {"fit_intercept": False},
    {"fit_intercept": False, "kernel": "linear"},
    {"fit_intercept": False, "kernel": "precomputed"},
]
# One score for each pair of classes, where scikit-learn's checks expect one for each class.
OWN_CONFIGS["SVC"].append({"decision_function_shape": "ovo"})
# The Crammer-Singer machine has no intercept at all.
OWN_CONFIGS["MulticlassSVC"] = [
    {"kernel": "linear"},
    {"kernel": "sigmoid", "gamma": 0.01},
    {"kernel": linear_kernel},
    {"kernel": "precomputed"},
]
# Rows of the matrix that are the same, and tasks, are rare in the data of the checks.
OWN_CONFIGS["MatrixCompletion"] = [{"col_kernel": Gaussian(gamma=0.5), "n_row_features": 1}]
OWN_CONFIGS["SwitchingMultitaskKernel"] = [
    {"task_column": -1, "gamma": "median", "complexity": 50.0},
]
# Without an intercept the heavy class is not followed; without shuffling rows have an order.
OWN_CONFIGS["Perceptron"] = [
    {"fit_intercept": False},
    {"shuffle": False, "average": True},
    {"early_stopping": True, "validation_fraction": 0.3},
]
# scikit-learn's checks call partial_fit, which must be told the horizon.
OWN_CONFIGS["OnlineGradientDescentClassifier"] = [
    {"fit_intercept": False, "conservative": True, "eta": 0.5},
    {"eta": "horizon", "radius": 3.0, "horizon": 400, "gradient_norm": 5.0},
]
OWN_CONFIGS["OnlineGradientDescentRegressor"] = [
    {"loss": "epsilon_insensitive", "fit_intercept": False, "radius": 1.0},
    {"loss": "absolute", "eta": "horizon", "radius": 3.0, "horizon": 400, "gradient_norm": 5.0},
]
OWN_CONFIGS["PassiveAggressiveClassifier"] = [
    {"fit_intercept": False, "C": float("inf"), "max_iter": 20},
    {"early_stopping": True, "validation_fraction": 0.3},
]
OWN_CONFIGS["PassiveAggressiveRegressor"] = [
    {"shuffle": False, "C": float("inf"), "max_iter": 20},
    {"early_stopping": True, "validation_fraction": 0.3},
]
OWN_CONFIGS["EllipsoidClassifier"] = [{"fit_intercept": False}]
# No intercept, or few vectors in the order of time, where the checks expect a good score.
OWN_CONFIGS["KernelPerceptron"] = [
    {"kernel": "linear"},
    {"kernel": "chi2"},
    {"budget": 5, "budget_strategy": "removal", "average": True},
    {"kernel": "precomputed", "budget": 5, "budget_strategy": "removal"},
]
# scikit-learn compares scores and probabilities on vectors, whatever the kernel.
OWN_CONFIGS["KernelOGD"] = [{"kernel": "linear", "eta": 0.1}, {"kernel": "precomputed"}]
# scikit-learn's check of clusterings feeds samples to everyone, whatever the affinity.
OWN_CONFIGS["SpectralBisection"] = [
    {"affinity": "precomputed"},
    {"affinity": "precomputed", "threshold": "gap", "normalization": "symmetric"},
]
# Some of scikit-learn's checks pass a matrix that is not symmetric, and no graph.
OWN_CONFIGS["LaplacianInterpolationClassifier"] = [{"affinity": "precomputed"}]
OWN_CONFIGS["PLaplacianClassifier"] = [{"affinity": "precomputed", "p": 3.0}]
OWN_CONFIGS["MinCutClassifier"] = [{"affinity": "precomputed"}]
# scikit-learn's checks have one feature, or a continuous one, where these have categories, and
# negative targets.
for name in ("DecisionTreeClassifier", "DecisionTreeRegressor"):
    OWN_CONFIGS[name] = [{"categorical_features": [1]}]
OWN_CONFIGS["DecisionTreeRegressor"].append({"criterion": "poisson"})
OWN_CONFIGS["DecisionTreeRegressorCV"] = [{"cv": 3, "criterion": "poisson", "rule": "1se"}]


def configurations(own=False):
    """Return each public estimator in each of its configurations, our own on request."""
    tables = [CONFIGS, OWN_CONFIGS] if own else [CONFIGS]
    models = [
        Estimator(**params)
        for Estimator in all_estimators()
        for params in [{}, *(row for table in tables for row in table.get(Estimator.__name__, []))]
    ]
    # A learner on strings has tests of its own: all data of the checks are numbers.
    return [seeded(model) for model in models if get_tags(model).input_tags.two_d_array]


def seeded(model):
    """Return an ensemble of few members, with a random state if it draws something in any case."""
    if hasattr(model, "n_estimators"):  # scikit-learn does the same in its own tests
        model.set_params(n_estimators=min(model.n_estimators, 10))
    return model.set_params(random_state=0) if type(model).__name__ in RANDOM else model


def representatives():
    """Return one configuration for each estimator and kind of input, by which checks are chosen."""
    kinds = {(type(model), is_pairwise(model)): model for model in reversed(configurations())}
    return list(reversed(kinds.values()))


def label(estimator):
    """Return the name of a configuration in the test report, the same in every process."""
    return re.sub(r"at0x\w+", "", "".join(repr(estimator).split()))


# scikit-learn runs these on its own estimators only, and does not document them. Names that the
# installed version lacks are left out; PRIVATE_CHECKS are in every version from 1.7 to 1.9.
PRIVATE_CHECKS = [
    "check_param_validation",
    "check_dataframe_column_names_consistency",
    "check_inplace_ensure_writeable",
]
PRIVATE_WEIGHT_CHECKS = ["check_all_zero_sample_weights_error"]
PRIVATE_TRANSFORMER_CHECKS = [
    "check_get_feature_names_out_error",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_global_output_transform_pandas",
]


def private_checks(estimator):
    """Return the private checks of scikit-learn that apply to ``estimator``."""
    names = [
        *PRIVATE_CHECKS,
        *(PRIVATE_WEIGHT_CHECKS if takes_weights(estimator) else []),
        *(PRIVATE_TRANSFORMER_CHECKS if hasattr(estimator, "transform") else []),
    ]
    return [getattr(estimator_checks, name) for name in names if hasattr(estimator_checks, name)]


def takes_weights(estimator):
    """Return whether ``fit`` has a ``sample_weight``."""
    return has_fit_parameter(estimator, "sample_weight")


def is_multi_class(estimator):
    """Return whether an estimator takes more than two classes."""
    tags = get_tags(estimator).classifier_tags
    return tags is None or tags.multi_class


def learns_in_order(estimator):
    """Return whether an estimator goes through its samples one by one, in their order."""
    module = type(estimator).__module__
    return module.startswith("sklearn_sl.online.") or module == "sklearn_sl.graph._online"


def answers_by_training_sample(estimator):
    """Return whether the columns of what an estimator says are the training samples."""
    return type(estimator).__name__ == "GraphBuilder"


def is_pairwise(estimator):
    """Return whether ``X`` is a Gram matrix."""
    return get_tags(estimator).input_tags.pairwise


def fewest_checks(estimator):
    """Return how many of scikit-learn's checks must run for the contract to mean something.

    Of scikit-learn 1.9 a machine on Gram matrices meets 58 checks, other regressors
    61, classifiers 64. A transformer without weights meets 47, as scikit-learn's own
    PolynomialFeatures does; older versions have a few less.
    """
    return 50 if is_classifier(estimator) or is_regressor(estimator) else 40


Problem = collections.namedtuple("Problem", "X y X_test")


def problem(estimator, n_samples=40, n_features=4, n_test=15, seed=0):
    """Return a seeded problem that suits the tags of ``estimator``."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n_samples + n_test, n_features))
    if get_tags(estimator).input_tags.positive_only:
        Z = np.abs(Z)
    X, X_test = Z[:n_samples], Z[n_samples:]
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n_samples)
    if get_tags(estimator).target_tags.positive_only:
        y = np.exp(y)
    if not is_regressor(estimator):
        cuts = [0.3, 0.7] if is_multi_class(estimator) else [0.5]
        y = np.array(["low", "middle", "high"])[np.digitize(y, np.quantile(y, cuts))]
    if is_pairwise(estimator):
        X, X_test = rbf_kernel(X), rbf_kernel(X_test, X)
    return Problem(X, y, X_test)


def take(estimator, data, rows):
    """Return the problem with these training rows, in this order, repeats allowed."""
    if is_pairwise(estimator):
        return Problem(data.X[np.ix_(rows, rows)], data.y[rows], data.X_test[:, rows])
    return Problem(data.X[rows], data.y[rows], data.X_test)


def split_by_group(estimator, groups, *, unless):
    """Let a cross-validated estimator leave out one group of rows at a time.

    ``unless`` are the values of ``cv`` that stay as they are, where None is to leave one row out.
    """
    cv = estimator.get_params().get("cv", unless[0])
    if cv not in unless or (cv is None and type(estimator).__name__ in SHUFFLE_FOLDS):
        estimator.set_params(cv=list(LeaveOneGroupOut().split(groups, groups=groups)))
    return estimator


def outputs(estimator, X):
    """Return what a fitted estimator says about ``X``, by method."""
    methods = ("predict", "decision_function", "predict_proba", "transform")
    return {name: getattr(estimator, name)(X) for name in methods if hasattr(estimator, name)}


def choices(estimator):
    """Return what a cross-validated estimator chose, and how well that scored."""
    names = ("alpha_", "C_", "best_score_")
    return {name: np.asarray(vars(estimator)[name]) for name in names if name in vars(estimator)}


def assert_same_outputs(actual, desired, **tolerance):
    """Compare two results of ``outputs`` or ``choices``: labels are equal, numbers are close."""
    assert actual.keys() == desired.keys()
    for name, values in desired.items():
        if values.dtype.kind == "f":
            np.testing.assert_allclose(dense(actual[name]), dense(values), **tolerance)
        else:
            np.testing.assert_array_equal(actual[name], values)


def dense(values):
    """Return an array for an array or a sparse matrix."""
    return values.toarray() if hasattr(values, "toarray") else values


def tally():
    """Return, for each representative, the names of scikit-learn's checks by how they ended."""
    ends = {}
    for estimator in representatives():
        results = estimator_checks.check_estimator(estimator, on_skip=None, on_fail=None)
        ends[label(estimator)] = by_status = collections.defaultdict(list)
        for result in results:
            by_status[result["status"]].append(result["check_name"])
    return ends


if __name__ == "__main__":
    print(json.dumps(tally()))
