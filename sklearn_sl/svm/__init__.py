"""Support vector machines by sequential minimal optimisation, with certificates."""

from sklearn_sl.svm._classify import SVC
from sklearn_sl.svm._hard_margin import NotSeparableError
from sklearn_sl.svm._regress import SVR

__all__ = ["SVC", "SVR", "NotSeparableError"]
