"""Online learning: trials one by one, with mistakes and regrets against their bounds."""

from sklearn_sl.online._progressive import (
    online_to_batch,
    progressive_predict,
    progressive_val_score,
)
from sklearn_sl.online.bandits._bandit import importance_weighted_loss
from sklearn_sl.online.bandits._exp3 import Exp3, Exp3IX
from sklearn_sl.online.bandits._ucb import UCB1
from sklearn_sl.online.experts._hedge import Hedge, HedgeRun, hedge
from sklearn_sl.online.experts._mixable import MixableLoss
from sklearn_sl.online.experts._multitask import SwitchingMultitaskExperts
from sklearn_sl.online.experts._oracles import (
    BestExpert,
    ConvexCombination,
    ShiftingSequence,
    best_convex_combination,
    best_expert,
    best_shifting_sequence,
)
from sklearn_sl.online.experts._past_posteriors import MixingPastPosteriors
from sklearn_sl.online.experts._shares import FixedShare, VariableShare
from sklearn_sl.online.experts._weighted_average import WeightedAverage
from sklearn_sl.online.experts._weighted_majority import WeightedMajority
from sklearn_sl.online.finite._covers import SetCover, set_cover
from sklearn_sl.online.finite._disjunctions import (
    ConjunctionLearner,
    DisjunctionWeightedMajority,
    MinimalDisjunction,
)
from sklearn_sl.online.finite._finite import ConsistentLearner, Halving
from sklearn_sl.online.finite._reductions import (
    Disjunction,
    cnf_to_set_cover,
    minimal_disjunction,
    set_cover_to_disjunction,
)
from sklearn_sl.online.finite._thresholds import GridThresholdHalving
from sklearn_sl.online.kernel._kernel_gradient import KernelOGD
from sklearn_sl.online.kernel._kernel_perceptron import KernelPerceptron
from sklearn_sl.online.linear._ellipsoid import EllipsoidClassifier
from sklearn_sl.online.linear._exponentiated import (
    ExponentiatedGradientClassifier,
    ExponentiatedGradientRegressor,
)
from sklearn_sl.online.linear._gradient import (
    OnlineGradientDescentClassifier,
    OnlineGradientDescentRegressor,
)
from sklearn_sl.online.linear._passive_aggressive import (
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
)
from sklearn_sl.online.linear._perceptron import Perceptron
from sklearn_sl.online.linear._winnow import Winnow
from sklearn_sl.online.matrix._matrix_completion import MatrixCompletion
from sklearn_sl.online.matrix._multitask_kernel import SwitchingMultitaskKernel

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
