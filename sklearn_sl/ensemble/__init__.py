"""Ensembles: boosting, bagging and forests, with certificates, and their weak learners."""

from sklearn_sl.ensemble._adaboost import AdaBoostClassifier
from sklearn_sl.ensemble._adaboost_r2 import AdaBoostRegressor
from sklearn_sl.ensemble._bagging import BaggingClassifier, BaggingRegressor
from sklearn_sl.ensemble._forest import RandomForestClassifier, RandomForestRegressor
from sklearn_sl.ensemble._stagewise import (
    ForwardStagewiseClassifier,
    ForwardStagewiseRegressor,
)
from sklearn_sl.ensemble._stump import DecisionStump
from sklearn_sl.ensemble._substring_stump import SubstringStump

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "DecisionStump",
    "ForwardStagewiseClassifier",
    "ForwardStagewiseRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "SubstringStump",
]
