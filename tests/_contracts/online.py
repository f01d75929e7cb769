"""Configurations of online learners in the common tests; see ``_contracts/__init__.py``."""

from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from sklearn_sl.kernels import Gaussian, Linear
from sklearn_sl.online import PassiveAggressiveRegressor, Perceptron

CONFIGS = {
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
        {"loss": "log_loss"},
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
        {"loss": "log_loss", "radius": 10.0, "eta": 0.1, "keep_losses": True},
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
    "WeightedMajority": [
        {"beta": 0.0, "keep_losses": True},
        {"beta": 0.5, "randomized": True, "random_state": 0},
        {"estimators": [Perceptron(), Perceptron(average=True)]},
    ],
    "WeightedAverage": [
        {"prediction": "vovk", "keep_weights": True},
        {"loss": "absolute"},
        {"loss": "entropic", "eta": 0.5},
        {"eta": "anytime", "keep_losses": True},
        {"loss": "hellinger", "eta": "adahedge"},
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
}

OWN_CONFIGS = {
    # Rows of the matrix that are the same, and tasks, are rare in the data of the checks.
    "MatrixCompletion": [{"col_kernel": Gaussian(gamma=0.5), "n_row_features": 1}],
    "SwitchingMultitaskKernel": [
        {"task_column": -1, "gamma": "median", "complexity": 50.0},
    ],
    # Without an intercept the heavy class is not followed; without shuffling rows have an order.
    "Perceptron": [
        {"fit_intercept": False},
        {"shuffle": False, "average": True},
        {"early_stopping": True, "validation_fraction": 0.3},
    ],
    # scikit-learn's checks call partial_fit, which must be told the horizon.
    "OnlineGradientDescentClassifier": [
        {"fit_intercept": False, "conservative": True, "eta": 0.5},
        {"eta": "horizon", "radius": 3.0, "horizon": 400, "gradient_norm": 5.0},
    ],
    "OnlineGradientDescentRegressor": [
        {"loss": "epsilon_insensitive", "fit_intercept": False, "radius": 1.0},
        {"loss": "absolute", "eta": "horizon", "radius": 3.0, "horizon": 400, "gradient_norm": 5.0},
    ],
    "PassiveAggressiveClassifier": [
        {"fit_intercept": False, "C": float("inf"), "max_iter": 20},
        {"early_stopping": True, "validation_fraction": 0.3},
    ],
    "PassiveAggressiveRegressor": [
        {"shuffle": False, "C": float("inf"), "max_iter": 20},
        {"early_stopping": True, "validation_fraction": 0.3},
    ],
    "EllipsoidClassifier": [{"fit_intercept": False}],
    # No intercept, or few vectors in the order of time, where the checks expect a good score.
    "KernelPerceptron": [
        {"kernel": "linear"},
        {"kernel": "chi2"},
        {"budget": 5, "budget_strategy": "removal", "average": True},
        {"kernel": "precomputed", "budget": 5, "budget_strategy": "removal"},
    ],
    # scikit-learn compares scores and probabilities on vectors, whatever the kernel.
    "KernelOGD": [{"kernel": "linear", "eta": 0.1}, {"kernel": "precomputed"}],
}

LONG_FITS = {
    "MatrixCompletion": [({"row_kernel": "rbf", "col_kernel": "rbf"}, 250, 20)],
    "SwitchingMultitaskKernel": [({}, 250, 20)],
    "Perceptron": [
        ({"tol": None, "max_iter": 60, "shuffle": False}, 40_000, 20),
        ({"tol": None, "max_iter": 50}, 40_000, 20),
    ],
    "OnlineGradientDescentClassifier": [({"max_iter": 30}, 40_000, 20)],
    "OnlineGradientDescentRegressor": [({"loss": "absolute", "max_iter": 200}, 40_000, 20)],
    "PassiveAggressiveClassifier": [({"tol": None, "max_iter": 40}, 40_000, 20)],
    "PassiveAggressiveRegressor": [({"tol": None, "max_iter": 120}, 40_000, 20)],
    "Winnow": [({}, 20_000, 20)],
    "ExponentiatedGradientClassifier": [({"max_iter": 30}, 20_000, 20)],
    "EllipsoidClassifier": [({"max_iter": 20}, 2000, 200)],
    "KernelPerceptron": [({}, 4000, 20), ({"budget": 200}, 4000, 20)],
    "KernelOGD": [({"max_iter": 5}, 5000, 20)],
    "Hedge": [({}, 60_000, 20)],
    "FixedShare": [({"prediction": "vovk"}, 60_000, 20)],
    "Halving": [({"max_iter": 30}, 40_000, 20)],
    "DisjunctionWeightedMajority": [({"n_literals": 3}, 3000, 40)],
}
