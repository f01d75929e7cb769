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
from sklearn_sl.theory._online_gradient import (
    best_passive_aggressive_bound,
    ogd_anytime_bound,
    ogd_bound,
    ogd_horizon_bound,
    passive_aggressive_bound,
    passive_aggressive_loss_bound,
)
from sklearn_sl.theory._perceptron import best_perceptron_bound, perceptron_bound

__all__ = [
    "AdaBoostBound",
    "BiasVariance",
    "CrowdBound",
    "adaboost_bound",
    "adahedge_bound",
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
    "exp3_bound",
    "exp3ix_bound",
    "fixed_share_bound",
    "german_tank_estimate",
    "greedy_set_cover_bound",
    "grid_threshold_bound",
    "halving_bound",
    "hedge_bound",
    "margin_bound",
    "ogd_anytime_bound",
    "ogd_bound",
    "ogd_horizon_bound",
    "passive_aggressive_bound",
    "passive_aggressive_loss_bound",
    "perceptron_bound",
    "stump_vc_dimension",
    "ucb1_bound",
    "variable_share_bound",
    "weighted_average_bound",
    "weighted_majority_bound",
]
