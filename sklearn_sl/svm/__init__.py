"""Support vector machines by sequential minimal optimisation, with certificates.

A fit leads from the estimator (``_classify``, ``_regress``) to the quadratic program
(``_problem``), to its solution on blocks of the Gram matrix (``_solver``, ``_gram``, the compiled
``_smo``), and back to the fitted attributes (``_base``). ``_many`` has several problems at once,
``_hard_margin`` infinite costs. ``_cv`` are the estimators that search by ``_search``; ``_loo``
has leave-one-out errors, exact ones by ``_left_out`` and ``_pivoting``; ``_path`` and
``_hinge_path`` the solutions for all ``C``; ``_multiclass`` the class-sensitive machine, solved by
``_dual_ascent`` and the compiled ``_crammer_singer``.
"""

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
