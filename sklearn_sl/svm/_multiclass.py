"""The class-sensitive support vector machine: all classes in one problem."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._kernel_machine import KernelMachineMixin, weighted_classes
from sklearn_sl._sklearn import Interval, Progress, StrOptions, fit_context
from sklearn_sl._warnings import warn
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.kernels._base import (
    result_type,
)
from sklearn_sl.kernels._dot import Linear
from sklearn_sl.svm._base import SupportVectorMixin, document
from sklearn_sl.svm._dual_ascent import DualAscent, kernel_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_sl._typing import ArrayLike

# The fewest steps of the default budget, and its passes.
DEFAULT_STEPS, DEFAULT_PASSES = 10**7, 1000


@document
class MulticlassSVC(EstimatorMixin, SupportVectorMixin, ClassifierMixin, BaseEstimator):
    """Class-sensitive (Crammer-Singer) support vector classification.

    One function ``f_k(x) = <w_k, phi(x)>`` per class, all fitted in one problem: a sample should
    score higher for its own class than for any other, by one. ::

        minimise  1/2 sum_k ||w_k||^2 + sum_i C_i xi_i,
        xi_i = max_k (1[k != y_i] + f_k(x_i)) - f_{y_i}(x_i),

    with ``C_i = C * class_weight * sample_weight``. The loss ``xi_i`` is at least one wherever
    the prediction ``argmax_k f_k(x_i)`` is wrong. With a mean instead of a sum, ``(1/m) sum_i
    xi_i + lambda sum_k ||w_k||^2``, the penalty is ``lambda = 1 / (2 C m)``.

    The dual has a coefficient ``tau_ik`` for each sample and class, ``w_k = sum_i tau_ik
    phi(x_i)``::

        maximise  sum_i tau_{i,y_i} - 1/2 sum_k tau_k' K tau_k
        subject to  tau_ik <= C_i 1[k = y_i],  sum_k tau_ik = 0.

    There is no intercept; the part of one is played by a constant in the kernel, as in
    ``Linear() + 1.0``. For two classes the machine is the binary one without intercept, ``f_1 -
    f_0 = <w, phi>``, with half the norm: ``1/4 ||w||^2 + sum_i C_i xi_i``, that is, twice the
    ``C``. See the :ref:`user guide <svm>`.

    Parameters
    ----------
    C : float, default=1.0
        The price of a unit of loss; the regularisation is inversely proportional to it.

    kernel : str, kernel object or callable, default="rbf"
        A name: "linear", "poly" (or "polynomial"), "rbf", "sigmoid", "cosine", "laplacian",
        "chi2", "additive_chi2", or "precomputed" for a matrix of kernel values as ``X``. A
        kernel object of :mod:`sklearn_sl.kernels` or :mod:`sklearn.gaussian_process.kernels`,
        strings and sets included. Or a function of two matrices that returns the matrix of the
        kernel values of their rows.

    gamma : {"scale", "auto", "median"} or float, default="scale"
        The ``gamma`` of the named kernels. "scale" is ``1 / (n_features * X.var())``, the
        variance weighted by ``sample_weight``; "auto" is ``1 / n_features``; "median" is
        :func:`~sklearn_sl.kernels.median_gamma`.

    {degree}

    {svm_coef0}

    {kernel_params}

    tol : float, default=1e-3
        The largest violation of the optimality conditions, in units of the margin. With the
        default or less, a problem with few free coefficients is then solved to the precision of
        the numbers; a larger ``tol`` stops there.

    cache_size : float, default=200
        The memory for kernel values, in MB. A Gram matrix that fits is computed once; else its
        rows are computed when they are needed and the last ones are kept.

    class_weight : dict or "balanced", default=None
        The factor of ``C`` for each class. "balanced" is ``n_samples / (n_classes *
        n_samples_of_the_class)``, samples counted by weight.

    max_iter : int, default=-1
        The maximum number of passes; a pass is as many steps as there are samples. -1 is 1000
        passes, or ten million steps if that is more.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.

    dual_coef_ : ndarray of shape (n_classes, n_SV)
        The coefficients ``tau`` of the support vectors.

    {svm_class_weight}

    support_ : ndarray of shape (n_SV,)
        The indices of the support vectors, in increasing order.

    {support_vectors}

    {class_support}

    coef_ : ndarray of shape (n_classes, n_features)
        The vectors ``w_k``; for a linear kernel only.

    {svm_shape}

    {fitted_kernel}

    dual_objective_ : float
        The value of the dual problem.

    primal_objective_ : float
        The value of the primal problem, at the ``w`` of the dual coefficients.

    duality_gap_ : float
        Certificate: the difference of the two. The optimum lies between them.

    kkt_violation_ : float
        Certificate: the largest violation of the optimality conditions,
        ``max_k s_ik - min_{k: tau_ik < C_i 1[k = y_i]} s_ik`` with ``s_ik = 1[k != y_i] +
        f_k(x_i)``, over all samples. The gap is at most ``sum_i C_i`` times as large.

    converged_ : bool
        Whether ``kkt_violation_`` is at most ``tol``.

    n_iter_ : int
        The passes that were taken.

    {features_seen}

    See Also
    --------
    sklearn.svm.LinearSVC : Has the linear machine as ``multi_class="crammer_singer"``.

    References
    ----------
    K. Crammer and Y. Singer, "On the algorithmic implementation of multiclass kernel-based
    vector machines", Journal of Machine Learning Research 2, 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_sl.svm import MulticlassSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MulticlassSVC(C=10).fit(X, y)
    >>> model.predict(X[[0, 50, 100]])
    array([0, 1, 2])
    >>> model.decision_function(X[:5]).shape
    (5, 3)
    >>> bool(model.duality_gap_ < 1e-9 * model.primal_objective_)
    True
    """

    n_support_: np.ndarray
    converged_: bool
    classes_: np.ndarray
    dual_coef_: np.ndarray
    class_weight_: np.ndarray
    coef_: np.ndarray
    dual_objective_: float
    primal_objective_: float
    duality_gap_: float
    kkt_violation_: float
    n_iter_: int

    _parameter_constraints = {
        "C": [Interval(Real, 0, None, closed="neither")],
        **KernelMachineMixin._kernel_constraints,
        "gamma": [
            Interval(Real, 0, None, closed="left"),
            StrOptions({"scale", "auto", "median"}),
        ],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str | Any | Callable[..., Any] = "rbf",
        gamma: Literal["scale", "auto", "median"] | float = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        kernel_params: dict[Any, Any] | None = None,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: dict[Any, Any] | str | None = None,
        max_iter: int = -1,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.max_iter = max_iter

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        {training_samples}

        {class_labels}

        {svm_weight}

        Returns
        -------
        self : MulticlassSVC
            The fitted estimator.
        """
        X, y, cost, own_weight = weighted_classes(self, X, y, sample_weight)
        price, used = self.C * cost, np.flatnonzero(cost)
        codes = np.searchsorted(self.classes_, y[used])
        kernel = self._kernel_object(X, own_weight)
        rows = kernel_rows(kernel, X, used, self.cache_size)
        ascent = DualAscent(rows, codes, price[used], self._most_steps(len(used)))
        with Progress(self, name="round", total=None) as progress:
            ascent.run(self.tol, progress)
        self._expand(X, kernel, used, codes, ascent)
        self._set_certificates(ascent)
        return self

    def _most_steps(self, n):
        return max(DEFAULT_STEPS, DEFAULT_PASSES * n) if self.max_iter < 0 else self.max_iter * n

    def _expand(self, X, kernel, used, codes, ascent):
        """Set the attributes of the fitted functions."""
        tau = ascent.tau
        support = np.flatnonzero(tau.any(axis=0))
        self._keep_expansion(X, kernel, used[support], tau[:, support], dense=True)
        self.dual_coef_ = np.ascontiguousarray(self.dual_coef_)
        self._rounding = 8 * ascent.rounding()
        self.n_support_ = np.bincount(codes[support], minlength=len(tau)).astype(np.int32)
        if isinstance(kernel, Linear):
            self.coef_ = np.asarray((self.support_vectors_.T @ self.dual_coef_.T).T)

    def _set_certificates(self, ascent):
        """Set the certificates, and warn if they fall short."""
        self.dual_objective_, self.primal_objective_, self.duality_gap_ = ascent.objectives()
        self.kkt_violation_ = ascent.worst
        self.converged_ = bool(self.kkt_violation_ <= self.tol)
        self.n_iter_ = max(1, -(-ascent.steps // ascent.n))
        if not self.converged_:
            warn(
                f"{type(self).__name__} stopped after {self.n_iter_} passes with a violation of "
                f"{self.kkt_violation_:.1e}, above tol={self.tol:.1e}, and a duality gap of "
                f"{self.duality_gap_:.1e} at an objective of {self.primal_objective_:.3e}: "
                "increase max_iter, scale the features, or reduce C.",
                ConvergenceWarning,
            )

    def decision_function(self, X: Any) -> Any:
        """Return the score of each class.

        Parameters
        ----------
        {new_samples}

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            ``f_k(x)``; for two classes ``f_1(x) - f_0(x)``, positive for ``classes_[1]``.
        """
        check_is_fitted(self)
        X = self._validate_query(X)
        scores = self._kernel_times(X, slice(None), self._output_coef())
        return scores if scores.ndim == 1 else self._tied(scores, result_type(X))

    def _output_coef(self):
        """Return the coefficients of the scores: of one difference, if there are two classes."""
        tau = self.dual_coef_
        return tau[1] - tau[0] if len(tau) == 2 else np.ascontiguousarray(tau.T)

    def _tied(self, scores, dtype):
        """Make those scores equal to the largest that differ by rounding errors only.

        At the optimum ties are the rule, not the exception: a support vector with several
        positive shares has them. The first class shall win, in whatever block the sample is.
        """
        top = scores.max(axis=1, keepdims=True)
        errors = self._rounding * np.finfo(dtype).eps / np.finfo(np.float64).eps
        return np.where(scores >= top - errors, top, scores)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the classes of samples.

        Parameters
        ----------
        {new_samples}

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The class of the largest score.
        """
        scores = self.decision_function(X)
        winner = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[winner]
