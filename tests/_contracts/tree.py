"""Configurations of trees in the common tests; see ``_contracts/__init__.py``."""

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

CONFIGS = {
    "DecisionTreeClassifier": [
        *TREES,
        {"criterion": "entropy"},
        {"class_weight": "balanced"},
        {"risk": "misclassification", "ccp_alpha": 0.01},
    ],
    "DecisionTreeRegressor": [*TREES, {"ccp_alpha": 0.01}, {"criterion": "absolute_error"}],
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
}

OWN_CONFIGS = {
    "DecisionTreeRegressorCV": [{"cv": 3, "criterion": "poisson", "rule": "1se"}],
    # scikit-learn's checks have one feature, or a continuous one, where these have categories, and
    # negative targets.
    "DecisionTreeClassifier": [{"categorical_features": [1]}],
    "DecisionTreeRegressor": [{"categorical_features": [1]}, {"criterion": "poisson"}],
}

LONG_FITS = {
    "DecisionTreeClassifier": [
        ({}, 50_000, 20),
        ({"n_jobs": 2}, 100_000, 20),
        ({"max_leaf_nodes": 1000}, 50_000, 20),
        ({"surrogates": 5}, 30_000, 20),
    ],
    "DecisionTreeRegressor": [
        ({}, 50_000, 20),
        ({"criterion": "poisson"}, 30_000, 20),
        ({"criterion": "absolute_error"}, 10_000, 20),
    ],
    "DecisionTreeClassifierCV": [({}, 10_000, 20), ({"n_jobs": 2}, 20_000, 20)],
    "DecisionTreeRegressorCV": [({}, 4000, 20)],
}
