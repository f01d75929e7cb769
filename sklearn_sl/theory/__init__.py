"""Theorems as functions: what they promise, as a number to compare with what happened."""

from sklearn_sl.theory._bandits import exp3_bound, exp3ix_bound, german_tank_estimate, ucb1_bound
from sklearn_sl.theory._bias_variance import BiasVariance, bias_variance
from sklearn_sl.theory._boosting import (
    AdaBoostBound,
    adaboost_bound,
    margin_bound,
    stump_vc_dimension,
)
from sklearn_sl.theory._crowd import (
    CrowdBound,
    bootstrap_absence,
    chernoff_lower_tail,
    crowd_bound,
    crowd_error,
)
from sklearn_sl.theory._experts import (
    adahedge_bound,
    fixed_share_bound,
    hedge_bound,
    variable_share_bound,
    weighted_average_bound,
    weighted_majority_bound,
)
from sklearn_sl.theory._finite_class import (
    conjunction_bound,
    consistent_bound,
    count_disjunctions,
    disjunction_majority_bound,
    greedy_set_cover_bound,
    grid_threshold_bound,
    halving_bound,
)
from sklearn_sl.theory._kernel_online import dnf_perceptron_bound, kernel_ogd_bound
from sklearn_sl.theory._online_gradient import (
    best_passive_aggressive_bound,
    ogd_anytime_bound,
    ogd_bound,
    ogd_horizon_bound,
    passive_aggressive_bound,
    passive_aggressive_loss_bound,
)
from sklearn_sl.theory._perceptron import best_perceptron_bound, perceptron_bound
from sklearn_sl.theory._switching import multitask_bound, multitask_complexity, switching_class_size
from sklearn_sl.theory._winnow import (
    VolumeRatio,
    WinnowBound,
    balanced_winnow_bound,
    disjunction_perceptron_bound,
    ellipsoid_bound,
    ellipsoid_volume_ratio,
    exponentiated_gradient_bound,
    winnow_bound,
)

__all__ = [
    "AdaBoostBound",
    "BiasVariance",
    "CrowdBound",
    "VolumeRatio",
    "WinnowBound",
    "adaboost_bound",
    "adahedge_bound",
    "balanced_winnow_bound",
    "best_passive_aggressive_bound",
    "best_perceptron_bound",
    "bias_variance",
    "bootstrap_absence",
    "chernoff_lower_tail",
    "conjunction_bound",
    "consistent_bound",
    "count_disjunctions",
    "crowd_bound",
    "crowd_error",
    "disjunction_majority_bound",
    "disjunction_perceptron_bound",
    "dnf_perceptron_bound",
    "ellipsoid_bound",
    "ellipsoid_volume_ratio",
    "exp3_bound",
    "exp3ix_bound",
    "exponentiated_gradient_bound",
    "fixed_share_bound",
    "german_tank_estimate",
    "greedy_set_cover_bound",
    "grid_threshold_bound",
    "halving_bound",
    "hedge_bound",
    "kernel_ogd_bound",
    "margin_bound",
    "multitask_bound",
    "multitask_complexity",
    "ogd_anytime_bound",
    "ogd_bound",
    "ogd_horizon_bound",
    "passive_aggressive_bound",
    "passive_aggressive_loss_bound",
    "perceptron_bound",
    "stump_vc_dimension",
    "switching_class_size",
    "ucb1_bound",
    "variable_share_bound",
    "weighted_average_bound",
    "weighted_majority_bound",
    "winnow_bound",
]
