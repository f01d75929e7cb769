"""Online learning: trials one by one, with mistakes and regrets against their bounds."""

from sklearn_sl.online._bandits import UCB1, Exp3, Exp3IX, importance_weighted_loss
from sklearn_sl.online._finite import ConsistentLearner, Halving
from sklearn_sl.online._perceptron import Perceptron
from sklearn_sl.online._progressive import (
    online_to_batch,
    progressive_predict,
    progressive_val_score,
)
from sklearn_sl.online._thresholds import GridThresholdHalving

__all__ = [
    "UCB1",
    "ConsistentLearner",
    "Exp3",
    "Exp3IX",
    "GridThresholdHalving",
    "Halving",
    "Perceptron",
    "importance_weighted_loss",
    "online_to_batch",
    "progressive_predict",
    "progressive_val_score",
]
