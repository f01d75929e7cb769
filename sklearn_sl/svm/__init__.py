"""Support vector machines by sequential minimal optimisation, with certificates."""

from sklearn_sl.svm._classify import SVC
from sklearn_sl.svm._cv import SVCCV, SVRCV
from sklearn_sl.svm._hard_margin import NotSeparableError
from sklearn_sl.svm._multiclass import MulticlassSVC
from sklearn_sl.svm._path import SVMPath, svm_path
from sklearn_sl.svm._regress import SVR

__all__ = [
    "SVC",
    "SVCCV",
    "SVR",
    "SVRCV",
    "MulticlassSVC",
    "NotSeparableError",
    "SVMPath",
    "svm_path",
]
