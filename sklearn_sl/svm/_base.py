"""What the support vector machines share: their parameters, kernels and certificates."""

from __future__ import annotations

from itertools import pairwise
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._docstrings import inserter
from sklearn_sl._kernel_machine import PARAGRAPHS, KernelMachineMixin
from sklearn_sl._sklearn import Interval, StrOptions
from sklearn_sl._threads import blas_threads_for
from sklearn_sl._warnings import warn
from sklearn_sl.kernels._base import (
    encode_checked,
    finite_or_explain,
    gram_product,
    group_products,
)
from sklearn_sl.kernels._dot import Linear
from sklearn_sl.svm import _smo
from sklearn_sl.svm._samples import solver_samples

if TYPE_CHECKING:
    from sklearn_sl._typing import SparseLike

document = inserter(
    **PARAGRAPHS,
    svm_kernel="""
    kernel : str, kernel object or callable, default="rbf"
        The kernel, as in :class:`SVC`.
    """,
    svm_coef0="""
    coef0 : float, default=0.0
        The constant of "poly" and "sigmoid".
    """,
    svm_tol="""
    tol : float, default=1e-3
        The violation of the optimality conditions at which to stop, whatever the number of
        samples. The solver sees equal samples as one, in an order that follows from what they
        hold: so where it stops does not depend on the order of the rows, nor on whether rows are
        repeated or weighted. With a precomputed kernel it does, to within ``tol``.
    """,
    shrinking="""
    shrinking : bool, default=True
        Whether the solver leaves out, for a while, the samples that violate nothing.
    """,
    search_Cs="""
    Cs : int or array-like of shape (n_Cs,), default=10
        The values of ``C`` to choose from, positive and finite. An int is the
        number of values from 0.001 to 1000, evenly spaced on a logarithmic scale.
    """,
    search_kernel_grid="""
    kernel_grid : dict or list of dict, default=None
        Kernel parameters to choose from, as for
        :class:`~sklearn.model_selection.ParameterGrid`: for a named kernel lists of ``gamma``,
        ``degree``, ``coef0`` and even ``kernel``, for a kernel object its own parameters.
    """,
    search_gamma="""
    gamma : {"scale", "auto", "median"} or float, default="scale"
        The ``gamma`` of the named kernels, as in :class:`SVC`. What depends on data is computed
        from all samples, once.
    """,
    search_max_iter="""
    max_iter : int, default=-1
        The maximum number of steps of the solver for one problem. -1 is ten million, or a hundred
        per sample if that is more.
    """,
    search_resources="""
    cache_size : float, default=200
        The maximum memory for the kernel values of a fit, in MB. The search also holds the Gram
        matrix of all samples, if memory allows.

    n_jobs : int, default=None
        The number of threads that solve folds side by side; None is 1 unless in a
        :obj:`joblib.parallel_backend` context. ``cv="loo"`` has one thread.

    verbose : bool, default=False
        Whether to print the best score of each fold.
    """,
    search_results="""
    C_ : float
        The chosen ``C``.

    kernel_ : kernel object or None
        The chosen kernel, every parameter a number; None if precomputed.

    best_params_ : dict
        The choice: "C" and the point of ``kernel_grid``. Of equal scores the first in the order
        of ``cv_results_`` is chosen.

    best_score_ : float
        The score of the choice.

    best_index_ : int
        Its place in ``cv_results_``.

    cv_results_ : dict
        "params", "split0_test_score" and so on for the folds, "mean_test_score",
        "std_test_score" and "rank_test_score", in the order of
        :class:`~sklearn.model_selection.GridSearchCV`: the values of ``C`` in the outer loop.
    """,
    svm_weight="""
    sample_weight : float or array-like of shape (n_samples,), default=None
        Weights, by which ``C`` is multiplied: an integer weight is the same as repeated rows, a
        weight of zero the same as a removed row.
    """,
    svm_class_weight="""
    class_weight_ : ndarray of shape (n_classes,)
        The weight of each class.
    """,
    support_vectors="""
    support_vectors_ : {ndarray, sparse matrix} of shape (n_SV, n_features)
        The support vectors; empty if the kernel is "precomputed".
    """,
    class_support="""
    n_support_ : ndarray of shape (n_classes,)
        The number of support vectors of each class.
    """,
    svm_status="""
    fit_status_ : int
        0 if converged, 1 otherwise.
    """,
    svm_shape="""
    shape_fit_ : tuple of int
        The shape of the training set.
    """,
)

# Samples, numbers of all support vectors, and sums over groups of them for all samples, up to which
# a call of BLAS costs more than it gains.
FEW_SAMPLES, FEW_NUMBERS, FEW_SHARES = 64, 2**16, 2**18

PARAMETERS = {
    **KernelMachineMixin._kernel_constraints,
    "gamma": [StrOptions({"scale", "auto", "median"}), Interval(Real, 0, None, closed="left")],
    "C": [Interval(Real, 0, None, closed="right")],
    "tol": [Interval(Real, 0, None, closed="neither")],
    "fit_intercept": ["boolean"],
    "shrinking": ["boolean"],
    "cache_size": [Interval(Real, 0, None, closed="neither")],
    "verbose": ["verbose"],
    "max_iter": [Interval(Integral, -1, None, closed="left")],
}


class SupportVectorMixin(KernelMachineMixin):
    """The fitted machine: an expansion in support vectors, with certificates."""

    kernel_: Any | None
    support_: np.ndarray
    support_vectors_: np.ndarray | SparseLike
    n_support_: np.ndarray
    shape_fit_: tuple[Any, ...]
    converged_: bool

    _function_of_matrices = True

    @property
    def _solver_options(self):
        return {
            "tol": self.tol,
            "max_iter": self.max_iter,
            "cache_bytes": self.cache_size * 1e6,
            "shrinking": self.shrinking,
        }

    def _refuse_sparse_kernel(self, X):
        if sp.issparse(X) and self._precomputed:
            raise TypeError(
                'Sparse precomputed kernels are not supported: for kernel="precomputed" pass '
                "X.toarray()."
            )

    def _samples(self, X, target, cost, own_weight):
        """Return the samples as the solver sees them, and those that the kernel depends on."""
        apart = self._precomputed or not hasattr(X, "shape") or len(X.shape) != 2
        samples = solver_samples(X, target, cost, own_weight, apart=apart)
        # A class of weight zero is not there for the solver, but for the scale of the kernel.
        n_seen = len(cost) if own_weight is None else np.count_nonzero(own_weight)
        if len(samples.order) < n_seen:
            return samples, (X, own_weight)
        return samples, (samples.X, samples.own_weight)

    def _keep_solutions(self, X, kernel, rows, dual, solutions):
        """Set expansion and certificates, and warn of what is not solved."""
        self._keep_expansion(X, kernel, rows, dual)
        vars(self).update(solutions.certificates())
        self.converged_ = bool(solutions.converged.all())
        self.fit_status_ = 0 if self.converged_ else 1
        if not self.converged_:
            # The first two sentences are those of scikit-learn.
            warn(
                f"Solver terminated early (max_iter={self.max_iter}).  Consider pre-processing "
                "your data with StandardScaler or MinMaxScaler. "
                f"SMO stopped after {self.n_iter_.max()} steps at a KKT violation of "
                f"{self.kkt_violation_.max():.2e}, above tol={self.tol:.2e}; the duality gap is "
                f"{self.duality_gap_.max():.2e}. Or reduce C, or increase max_iter.",
                ConvergenceWarning,
            )

    def _keep_expansion(self, X, kernel, rows, dual, *, dense=False):
        """Set what the expansion consists of: rows, the support vectors, and their coefficients.

        Coefficients are CSR for samples in CSR, as in scikit-learn, unless they are to be dense.
        """
        self.shape_fit_ = X.shape
        self.kernel_ = kernel
        self.support_ = rows.astype(np.int32)
        self.support_vectors_ = np.empty((0, 0), dtype=X.dtype) if kernel is None else X[rows]
        self.dual_coef_ = sp.csr_matrix(dual) if sp.issparse(X) and not dense else dual

    def _few_values(self, X, starts, coef):
        """Return ``K(X, vectors) @ coef.T`` by groups of support vectors, which have ``starts``.

        None where there are many samples or vectors: for these a product of matrices is faster.
        """
        vectors = self.support_vectors_
        form = getattr(self.kernel_, "_row_form", None)
        few = form and X.shape[0] <= FEW_SAMPLES and 0 < np.prod(vectors.shape) <= FEW_NUMBERS
        few = few and X.shape[0] * (len(starts) - 1) * len(coef) <= FEW_SHARES
        if not few or not X.dtype == vectors.dtype == np.float64:
            return None
        form, vectors = form(X), form(vectors)
        if form is None or vectors is None:
            return None
        values = np.empty((len(form.points), len(starts) - 1, len(coef)))
        kind, numbers = getattr(_smo.Source, form.map), (form.gamma, form.coef0, form.degree)
        coef = np.ascontiguousarray(coef)
        _smo.expand(kind, form.points, vectors.points, starts, *numbers, coef, values)
        finite_or_explain(values, self.kernel_)
        return values

    def _group_products(self, X, starts, coef):
        """Return ``coef @ K(vectors, X)`` by groups of support vectors, which have ``starts``."""
        if self.kernel_ is not None and not isinstance(self.kernel_, Linear):
            X, vectors = (encode_checked(self.kernel_, Z) for Z in (X, self.support_vectors_))
            return group_products(self.kernel_, X, vectors, starts, coef)
        parts = [slice(*ends) for ends in pairwise(starts)]
        return np.stack([self._kernel_times(X, part, coef[:, part].T).T for part in parts])

    def _kernel_times(self, X, part, coef):
        """Return ``K(X, support vectors of the part) @ coef`` for validated samples."""
        if not len(coef):
            return np.zeros((X.shape[0], *coef.shape[1:]))
        if part == slice(None):
            by_row = coef.T if coef.ndim == 2 else coef[None]
            few = self._few_values(X, np.array([0, len(coef)]), by_row)
            if few is not None:
                return few[:, 0] if coef.ndim == 2 else few[:, 0, 0]
        with blas_threads_for(X):
            if self.kernel_ is None:
                return X[:, self.support_[part]] @ coef
            vectors = self.support_vectors_[part]
            if isinstance(self.kernel_, Linear):
                return np.asarray(X @ (vectors.T @ coef))
            X, vectors = (encode_checked(self.kernel_, part) for part in (X, vectors))
            return gram_product(self.kernel_, X, vectors, coef, encoded=True)

    @property
    def _is_linear(self):
        check_is_fitted(self)
        return isinstance(self.kernel_, Linear)


def read_only(coef):
    """Return weights of features that cannot be changed: predictions would not follow."""
    (coef.data if sp.issparse(coef) else coef).flags.writeable = False
    return coef


def without_negative(sample_weight):
    """Return weights with zeros in place of negative ones, which remove samples, too."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight)
    if weight.ndim != 1 or weight.dtype.kind not in "fiub" or not len(weight):
        return sample_weight
    if not (np.nan_to_num(weight, nan=1.0) > 0).any():
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    return np.maximum(weight, 0) if (weight < 0).any() else sample_weight
