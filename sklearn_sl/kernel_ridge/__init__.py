"""Kernel ridge regression and classification, exact or with landmarks, and their selection.

A fit leads from the estimator (``_ridge``) by ``_fit`` to the linear system (``_solvers``) and back
to the fitted attributes. ``_cv`` are the estimators that choose penalty and kernel in closed form
(``_selection``).
"""

from sklearn_sl.kernel_ridge._cv import KernelRidgeClassifierCV, KernelRidgeCV
from sklearn_sl.kernel_ridge._ridge import KernelRidge, KernelRidgeClassifier

__all__ = ["KernelRidge", "KernelRidgeCV", "KernelRidgeClassifier", "KernelRidgeClassifierCV"]
