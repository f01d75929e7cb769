"""Where models of earlier versions look for their classes."""

from sklearn_sl.online.bandits._exp3 import Exp3, Exp3IX
from sklearn_sl.online.bandits._ucb import UCB1

__all__ = ["UCB1", "Exp3", "Exp3IX"]
