"""Kernels for vectors, sets, strings and vertices, shared by every kernel machine."""

from sklearn_sl.kernels._base import (
    Kernel,
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
from sklearn_sl.kernels._diagnostics import gram_diagnostics, is_psd
from sklearn_sl.kernels._dot import (
    Exponential,
    GeneralLinear,
    Linear,
    Polynomial,
    Sigmoid,
    TruncatedExponential,
)
from sklearn_sl.kernels._feature_maps import (
    CorrelationFeatures,
    LiteralFeatures,
    SubsetFeatures,
)
from sklearn_sl.kernels._graph import (
    DiffusionKernel,
    LaplacianKernel,
    RegularizedLaplacianKernel,
)
from sklearn_sl.kernels._operators import Power, Product, Sum
from sklearn_sl.kernels._path_tree import PathTree
from sklearn_sl.kernels._radial import Gaussian, Matern, median_gamma
from sklearn_sl.kernels._sets import SetIntersection
from sklearn_sl.kernels._subsequences import GapWeighted
from sklearn_sl.kernels._substrings import Mismatch, Spectrum

__all__ = [
    "Anova",
    "Centered",
    "Composed",
    "CorrelationFeatures",
    "DiffusionKernel",
    "Exponential",
    "GapWeighted",
    "Gaussian",
    "GeneralLinear",
    "Kernel",
    "KernelPolynomial",
    "LaplacianKernel",
    "Linear",
    "LiteralFeatures",
    "Matern",
    "Min",
    "Mismatch",
    "Normalized",
    "PathTree",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "RegularizedLaplacianKernel",
    "SetIntersection",
    "Sigmoid",
    "Spectrum",
    "Spline",
    "SubsetFeatures",
    "Sum",
    "TruncatedExponential",
    "gram",
    "gram_blocks",
    "gram_diagnostics",
    "gram_product",
    "is_psd",
    "median_gamma",
]
