"""Types that the annotations of the package share; imported by type checkers only."""

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

import scipy.sparse as sp
from numpy.typing import ArrayLike

__all__ = ["ArrayLike", "Estimator", "MatrixLike", "SparseLike"]

SparseLike: TypeAlias = sp.sparray | sp.spmatrix
# Arrays, sequences, data frames of any library, and what a kernel of strings or sets compares.
MatrixLike: TypeAlias = ArrayLike | SparseLike | Sequence[Any] | Any
# What a function returns that is a method of several classes and returns the estimator itself.
Estimator = TypeVar("Estimator")
