"""Online learning: trials one by one, with mistakes and regrets against their bounds."""

from sklearn_sl.online._perceptron import Perceptron
from sklearn_sl.online._progressive import (
    online_to_batch,
    progressive_predict,
    progressive_val_score,
)

__all__ = [
    "Perceptron",
    "online_to_batch",
    "progressive_predict",
    "progressive_val_score",
]
