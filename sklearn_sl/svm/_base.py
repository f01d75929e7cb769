"""What the support vector machines share: their parameters, kernels and certificates."""

import threading
from contextlib import contextmanager
from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import Kernel as AnyKernel
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._kernel_machine import KernelMachineMixin, check_symmetric_gram
from sklearn_sl._sklearn import Interval, Progress, StrOptions, check_sample_weight
from sklearn_sl._threads import blas_threads_for
from sklearn_sl._warnings import warn
from sklearn_sl.base import class_factors, read_labels
from sklearn_sl.kernels._base import encode_checked, gram_product, holds_text_or_sets
from sklearn_sl.kernels._dot import Linear
from sklearn_sl.kernels._named import MatrixFunction
from sklearn_sl.svm._gram import KernelGram, MatrixGram


class SupportVectorMixin(KernelMachineMixin):
    """The parameters of :class:`SVC` and :class:`SVR`, and the expansion in support vectors."""

    _parameter_constraints = {
        **KernelMachineMixin._kernel_constraints,
        "gamma": [
            StrOptions({"scale", "auto", "median"}),
            Interval(Real, 0, None, closed="left"),
        ],
        "C": [Interval(Real, 0, None, closed="right")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "shrinking": ["boolean"],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "verbose": ["verbose"],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
    }

    @property
    def _by_matrix(self):
        """Whether the kernel is a function of two sets of samples."""
        return callable(self.kernel) and not isinstance(self.kernel, AnyKernel)

    def _is_structured(self, X):
        # A function of two sets of samples may compare whatever it likes.
        return holds_text_or_sets(X) if self._by_matrix else super()._is_structured(X)

    def _kernel_object(self, X, sample_weight=None, **params):
        if self._by_matrix:
            return MatrixFunction(self.kernel, params.get("kernel_params", self.kernel_params))
        return super()._kernel_object(X, sample_weight, **params)

    def _labelled_data(self, X, y, sample_weight):
        """Return samples, labels, the weights of samples and classes, and those of samples alone.

        Sets ``classes_`` and ``class_weight_``: a class of weight zero is not there.
        """
        X, y = self._validate_training(X, read_labels(y))
        check_classification_targets(y)
        own_weight = check_sample_weight(sample_weight, X, dtype=np.float64)
        cost = np.ones(len(y)) if own_weight is None else own_weight
        if self.class_weight is not None:
            cost = cost * class_factors(self.class_weight, y, own_weight)
        self.classes_ = np.unique(y[cost > 0])
        if len(self.classes_) < 2:
            raise ValueError(
                "The number of classes has to be greater than one; got "
                f"{len(self.classes_)} class with samples of positive weight."
            )
        first = [np.flatnonzero((y == c) & (cost > 0))[0] for c in self.classes_]
        plain = 1.0 if own_weight is None else own_weight[first]
        self.class_weight_ = cost[first] / plain
        return X, y, cost, own_weight

    def _gram_of(self, kernel, X, rows):
        """Return the Gram matrix of these samples, in this order."""
        if kernel is not None:
            return KernelGram(kernel, X[rows])
        check_symmetric_gram(X)
        return MatrixGram(X[np.ix_(rows, rows)])

    @property
    def _solver_options(self):
        return {
            "tol": self.tol,
            "max_iter": self.max_iter,
            "cache_bytes": self.cache_size * 1e6,
            "shrinking": self.shrinking,
        }

    @contextmanager
    def _watch(self):
        """Give a function that tells callbacks and user the violation after each slice."""
        lock = threading.Lock()
        with Progress(self, name="slice", total=None) as progress:

            def watch(violation):
                with lock:
                    with progress.step({"kkt_violation": violation}):
                        pass
                    if self.verbose:
                        print(f"[{type(self).__name__}] KKT violation {violation:.3e}")
                return progress.stop

            yield watch

    def _certify(self, solutions):
        """Set the certificates of several solutions, and warn of those that are not solved."""
        self.dual_objective_ = np.array([s.dual_objective for s in solutions])
        self.primal_objective_ = np.array([s.primal_objective for s in solutions])
        # Weak duality, but for rounding.
        self.duality_gap_ = np.maximum(self.primal_objective_ - self.dual_objective_, 0)
        self.kkt_violation_ = np.array([s.violation for s in solutions])
        with np.errstate(divide="ignore"):
            self.margin_ = 1 / np.sqrt([s.squared_norm for s in solutions])
        self.n_iter_ = np.array([max(s.n_iter, 1) for s in solutions], dtype=np.int32)
        self.converged_ = all(s.converged for s in solutions)
        self.fit_status_ = 0 if self.converged_ else 1
        if not self.converged_:
            warn(
                f"SMO stopped after {self.n_iter_.max()} steps (max_iter={self.max_iter}) at a KKT "
                f"violation of {self.kkt_violation_.max():.2e}, above tol={self.tol:.2e}; the "
                f"duality gap is {self.duality_gap_.max():.2e}. Scale the features "
                "(StandardScaler), reduce C, or increase max_iter.",
                ConvergenceWarning,
            )

    def _keep_support(self, X, kernel, support):
        """Set what the expansion needs of the training set."""
        self.shape_fit_ = X.shape
        self.kernel_ = kernel
        self.support_ = support.astype(np.int32)
        self.support_vectors_ = np.empty((0, 0), dtype=X.dtype) if kernel is None else X[support]

    def _kernel_times(self, X, part, coef):
        """Return ``K(X, support vectors of the part) @ coef`` for validated samples."""
        if not len(coef):
            return np.zeros((X.shape[0], *coef.shape[1:]))
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


def as_stored(values, like):
    """Return a matrix of coefficients as CSR for samples in CSR, as scikit-learn does."""
    return sp.csr_matrix(values) if sp.issparse(like) else values
