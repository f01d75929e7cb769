"""Configurations of ensembles in the common tests; see ``_contracts/__init__.py``."""

from sklearn.linear_model import LogisticRegression, Ridge

from sklearn_sl.ensemble import DecisionStump
from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor

CONFIGS = {
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
}

LONG_FITS = {
    "AdaBoostClassifier": [({"n_estimators": 40}, 10_000, 20)],
    "AdaBoostRegressor": [({"n_estimators": 20, "n_jobs": 2}, 30_000, 20)],
    "ForwardStagewiseClassifier": [({"n_estimators": 40, "loss": "logistic"}, 8000, 20)],
    "ForwardStagewiseRegressor": [({"n_estimators": 30}, 30_000, 20)],
    "BaggingClassifier": [({"n_estimators": 40, "n_jobs": 2}, 8000, 20)],
    "BaggingRegressor": [({"n_estimators": 30}, 4000, 20)],
    "RandomForestClassifier": [
        ({"n_estimators": 50, "n_jobs": 2}, 5_000, 20),
        ({"n_estimators": 1, "n_jobs": 2}, 150_000, 20),
    ],
    "RandomForestRegressor": [({"n_estimators": 20, "max_features": "sqrt"}, 5_000, 50)],
}
