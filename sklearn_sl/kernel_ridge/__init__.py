"""Kernel ridge regression and classification, exact or with landmarks, and their selection."""

from sklearn_sl.kernel_ridge._cv import KernelRidgeClassifierCV, KernelRidgeCV
from sklearn_sl.kernel_ridge._ridge import KernelRidge, KernelRidgeClassifier

__all__ = ["KernelRidge", "KernelRidgeCV", "KernelRidgeClassifier", "KernelRidgeClassifierCV"]
