"""Online learning: trials one by one, with mistakes and regrets against their bounds."""

from sklearn_sl.online._bandits import UCB1, Exp3, Exp3IX, importance_weighted_loss
from sklearn_sl.online._disjunction import (
    ConjunctionLearner,
    Disjunction,
    DisjunctionWeightedMajority,
    MinimalDisjunction,
    SetCover,
    cnf_to_set_cover,
    minimal_disjunction,
    set_cover,
    set_cover_to_disjunction,
)
from sklearn_sl.online._ellipsoid import EllipsoidClassifier
from sklearn_sl.online._exponentiated import (
    ExponentiatedGradientClassifier,
    ExponentiatedGradientRegressor,
)
from sklearn_sl.online._finite import ConsistentLearner, Halving
from sklearn_sl.online._gradient import (
    OnlineGradientDescentClassifier,
    OnlineGradientDescentRegressor,
)
from sklearn_sl.online._hedge import Hedge, HedgeRun, hedge
from sklearn_sl.online._kernel_gradient import KernelOGD
from sklearn_sl.online._kernel_perceptron import KernelPerceptron
from sklearn_sl.online._matrix_completion import MatrixCompletion
from sklearn_sl.online._mixable import MixableLoss
from sklearn_sl.online._multitask import SwitchingMultitaskExperts
from sklearn_sl.online._multitask_kernel import SwitchingMultitaskKernel
from sklearn_sl.online._oracles import (
    BestExpert,
    ConvexCombination,
    ShiftingSequence,
    best_convex_combination,
    best_expert,
    best_shifting_sequence,
)
from sklearn_sl.online._passive_aggressive import (
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
)
from sklearn_sl.online._past_posteriors import MixingPastPosteriors
from sklearn_sl.online._perceptron import Perceptron
from sklearn_sl.online._progressive import (
    online_to_batch,
    progressive_predict,
    progressive_val_score,
)
from sklearn_sl.online._shares import FixedShare, VariableShare
from sklearn_sl.online._thresholds import GridThresholdHalving
from sklearn_sl.online._weighted_average import WeightedAverage
from sklearn_sl.online._weighted_majority import WeightedMajority
from sklearn_sl.online._winnow import Winnow

__all__ = [
    "UCB1",
    "BestExpert",
    "ConjunctionLearner",
    "ConsistentLearner",
    "ConvexCombination",
    "Disjunction",
    "DisjunctionWeightedMajority",
    "EllipsoidClassifier",
    "Exp3",
    "Exp3IX",
    "ExponentiatedGradientClassifier",
    "ExponentiatedGradientRegressor",
    "FixedShare",
    "GridThresholdHalving",
    "Halving",
    "Hedge",
    "HedgeRun",
    "KernelOGD",
    "KernelPerceptron",
    "MatrixCompletion",
    "MinimalDisjunction",
    "MixableLoss",
    "MixingPastPosteriors",
    "OnlineGradientDescentClassifier",
    "OnlineGradientDescentRegressor",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "Perceptron",
    "SetCover",
    "ShiftingSequence",
    "SwitchingMultitaskExperts",
    "SwitchingMultitaskKernel",
    "VariableShare",
    "WeightedAverage",
    "WeightedMajority",
    "Winnow",
    "best_convex_combination",
    "best_expert",
    "best_shifting_sequence",
    "cnf_to_set_cover",
    "hedge",
    "importance_weighted_loss",
    "minimal_disjunction",
    "online_to_batch",
    "progressive_predict",
    "progressive_val_score",
    "set_cover",
    "set_cover_to_disjunction",
]
