"""Online learning: trials one by one, with mistakes and regrets against their bounds."""

from sklearn_sl.online._perceptron import Perceptron

__all__ = ["Perceptron"]
