"""Kernels for vectors, sets and strings, shared by every kernel machine of the package."""

from sklearn_sl.kernels._base import (
    Kernel,
    Power,
    Product,
    Sum,
    gram,
    gram_blocks,
    gram_product,
)
from sklearn_sl.kernels._compose import (
    Centered,
    Composed,
    KernelPolynomial,
    Normalized,
    Precomputed,
)
from sklearn_sl.kernels._coordinate import Anova, Min, Spline
from sklearn_sl.kernels._diagnostics import gram_diagnostics, is_psd, median_gamma
from sklearn_sl.kernels._dot import (
    Exponential,
    GeneralLinear,
    Linear,
    Polynomial,
    Sigmoid,
    TruncatedExponential,
)
from sklearn_sl.kernels._radial import Gaussian, Matern

__all__ = [
    "Anova",
    "Centered",
    "Composed",
    "Exponential",
    "Gaussian",
    "GeneralLinear",
    "Kernel",
    "KernelPolynomial",
    "Linear",
    "Matern",
    "Min",
    "Normalized",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "Sigmoid",
    "Spline",
    "Sum",
    "TruncatedExponential",
    "gram",
    "gram_blocks",
    "gram_diagnostics",
    "gram_product",
    "is_psd",
    "median_gamma",
]
