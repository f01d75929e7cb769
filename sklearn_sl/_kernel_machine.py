"""What every kernel machine shares: the kernel parameters and the kinds of input."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.gaussian_process.kernels import Kernel as AnyKernel
from sklearn.utils.validation import check_consistent_length

from sklearn_sl._rows import added_up
from sklearn_sl._sklearn import Interval, StrOptions, check_sample_weight
from sklearn_sl._validation import distinct_labels, validate_data
from sklearn_sl.base import class_factors, read_labels
from sklearn_sl.kernels._base import holds_text_or_sets
from sklearn_sl.kernels._named import KERNEL_NAMES, as_kernel

# What the docstrings of all kernel machines share.
PARAGRAPHS = dict(
    training_samples="""
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or sequence
        Training data; a matrix of kernel values if the kernel is "precomputed"; strings or sets if
        the kernel compares these.
    """,
    new_samples="""
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or sequence
        Samples; their kernel values with the training samples if the kernel is "precomputed".
    """,
    class_labels="""
    y : array-like of shape (n_samples,)
        Class labels.
    """,
    fit_and_score_weight="""
    sample_weight : float or array-like of shape (n_samples,), default=None
        Weights, of the fit and of the score.
    """,
    degree="""
    degree : float, default=3
        The degree of "poly".
    """,
    kernel_params="""
    kernel_params : dict, default=None
        Additional keyword arguments of a kernel given as a function.
    """,
    fitted_kernel="""
    kernel_ : kernel object or None
        The kernel in use, every parameter a number; None if precomputed.
    """,
    features_seen="""
    n_features_in_ : int
        Number of features seen during :term:`fit`.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during :term:`fit`. Defined only when `X`
        has feature names that are all strings.
    """,
)


class KernelMachineMixin:
    """The parameters ``kernel, gamma, degree, coef0, kernel_params`` and what follows from them.

    The input of a kernel machine is a matrix of features, a matrix of kernel
    values for ``kernel="precomputed"``, or a sequence of strings or sets for the
    kernels that compare these.
    """

    kernel_: Any | None

    _kernel_constraints = {
        "kernel": [StrOptions(set(KERNEL_NAMES) | {"precomputed"}), callable],
        "gamma": [Interval(Real, 0, None, closed="left"), StrOptions({"median"}), None],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
    }

    # Whether a kernel given as a function takes two sets of samples, or else two rows.
    _function_of_matrices = False

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = self._accepts_sparse
        tags.input_tags.positive_only = self._needs_nonnegative
        if self._structured:
            tags.input_tags.string = True
            tags.input_tags.two_d_array = False
        return tags

    @property
    def _precomputed(self):
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def _structured(self):
        """Whether the kernel compares something else than vectors."""
        return isinstance(self.kernel, AnyKernel) and not self.kernel.requires_vector_input

    @property
    def _is_function(self):
        return callable(self.kernel) and not isinstance(self.kernel, AnyKernel)

    @property
    def _accepts_sparse(self):
        if isinstance(self.kernel, AnyKernel):
            return getattr(self.kernel, "accepts_sparse", False)
        return callable(self.kernel) or self.kernel not in ("chi2", "additive_chi2", "precomputed")

    @property
    def _needs_nonnegative(self):
        if isinstance(self.kernel, AnyKernel):
            return getattr(self.kernel, "nonnegative_input", False)
        return not callable(self.kernel) and self.kernel in ("chi2", "additive_chi2")

    def _validate_training(self, X, y, **check_params):
        """Return validated ``X`` and ``y``; forgets and learns the number of features."""
        if self._is_structured(X):
            X = as_objects(X)
            y = validate_data(self, y=y, **check_params)
            check_consistent_length(X, y)
            return X, y
        X, y = validate_data(self, X, y, **self._input_checks, **check_params)
        return added_up(X) if sp.issparse(X) else X, y

    def _validate_query(self, X):
        """Return validated ``X`` of a prediction."""
        if self._is_structured(X):
            return as_objects(X)
        return added_up(validate_data(self, X, reset=False, **self._input_checks))

    def _is_structured(self, X):
        if self._function_of_matrices and self._is_function:  # of any objects
            return holds_text_or_sets(X)
        if not self._structured:
            return False
        # A composed kernel maps objects of any kind: vectors are checked as vectors.
        return getattr(self.kernel, "input_kind", "") != "anything" or holds_text_or_sets(X)

    @property
    def _input_checks(self):
        return {
            "accept_sparse": "csr" if self._accepts_sparse else False,
            "dtype": [np.float64, np.float32],
            "order": "C",
        }

    def _kernel_object(self, X, sample_weight=None, **params):
        """Return the kernel of this machine, ready to be called; None if precomputed."""
        if self._precomputed:
            return None
        chosen = {name: getattr(self, name) for name in ("kernel", "gamma", "degree", "coef0")}
        chosen |= {"kernel_params": self.kernel_params, **params}
        return as_kernel(
            chosen.pop("kernel"),
            X,
            sample_weight=sample_weight,
            function_of_matrices=self._function_of_matrices,
            **chosen,
        )


def labelled_data(model, X, y, sample_weight, *, dtype=None):
    """Return samples, labels, weights with those of the classes, and weights without.

    Weights are None if there are none. Sets ``classes_``, without classes whose samples all have
    weight zero.
    """
    X, y = model._validate_training(X, read_labels(y))
    classes = classes_given = distinct_labels(y)
    dtype = precision(X) if dtype is None else dtype
    weight = own_weight = check_sample_weight(sample_weight, X, dtype=dtype)
    if model.class_weight is not None:
        weight = class_factors(model.class_weight, y, own_weight).astype(dtype)
        if own_weight is not None:
            weight *= own_weight
    if weight is not None and not weight.all():
        classes = np.unique(y[weight > 0])
    model.classes_ = classes
    if len(model.classes_) < 2:
        removed = "Invalid input - all samples with positive weights belong to the same class. "
        reason = removed if len(classes_given) > 1 else ""
        raise ValueError(
            f"{reason}{type(model).__name__} needs samples of at least 2 classes in y, but those "
            f"of positive weight have only one class, {model.classes_.tolist()[0]!r}."
        )
    return X, y, weight, own_weight


def weighted_classes(model, X, y, sample_weight):
    """Return the same, in float64 and with ones for no weights; sets ``class_weight_``, too."""
    X, y, weight, own_weight = labelled_data(model, X, y, sample_weight, dtype=np.float64)
    weight = np.ones(len(y)) if weight is None else weight
    model.class_weight_ = np.ones(len(model.classes_))
    if model.class_weight is not None:
        used = np.flatnonzero(weight)
        first = used[np.unique(y[used], return_index=True)[1]]
        model.class_weight_ = weight[first] / (1.0 if own_weight is None else own_weight[first])
    return X, y, weight, own_weight


def numeric_data(model, X, y, sample_weight, *, dtype=None, multi_output=False):
    """Return samples, targets and weights or None, of the precision of the samples or ``dtype``."""
    X, y = model._validate_training(X, y, y_numeric=True, multi_output=multi_output)
    dtype = precision(X) if dtype is None else dtype
    return X, y.astype(dtype, copy=False), check_sample_weight(sample_weight, X, dtype=dtype)


def as_objects(X):
    """Return a sequence of strings, sets or other objects as a one-dimensional array."""
    shape = getattr(X, "shape", (0,))
    if len(shape) > 1 and shape[1] != 1:
        raise ValueError(
            "X must be a sequence of strings, sets or other objects for this kernel; got a "
            f"table of shape {shape}. Pass one object per sample, or choose a kernel of "
            "vectors."
        )
    items = list(np.ravel(X)) if hasattr(X, "ravel") or len(shape) > 1 else list(X)
    objects = np.empty(len(items), dtype=object)
    objects[:] = items
    return objects


def check_symmetric_gram(K):
    """Raise unless ``K`` is square and symmetric."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"Precomputed kernel must be a square matrix. Input is a {K.shape[0]}x{K.shape[1]} "
            "matrix."
        )
    tolerance = 100 * np.finfo(K.dtype).eps * max(np.abs(K).max(), np.finfo(K.dtype).tiny)
    step = 1024
    for start in range(0, len(K), step):
        if np.abs(K[start : start + step] - K[:, start : start + step].T).max() > tolerance:
            raise ValueError(
                "The precomputed kernel matrix is not symmetric, so it is not a Gram matrix; "
                "if it is one up to rounding, pass (K + K.T) / 2."
            )


def precision(X):
    """Return the floating-point type of the samples: float32 is kept, all else is float64."""
    return np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
