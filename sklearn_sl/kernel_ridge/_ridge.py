"""Kernel ridge regression and classification."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, Self

from sklearn.base import BaseEstimator

from sklearn_sl._kernel_machine import KernelMachineMixin, labelled_data, numeric_data, precision
from sklearn_sl._sklearn import Interval, StrOptions, fit_context
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.kernel_ridge._fit import (
    KernelClassifierMixin,
    KernelRegressorMixin,
    LeverageMixin,
    document,
    fit_targets,
    indicators,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from sklearn_sl._typing import ArrayLike

RIDGE_PARAMETERS = {
    "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
    **KernelMachineMixin._kernel_constraints,
    "fit_intercept": ["boolean"],
    "solver": [StrOptions({"auto", "cholesky", "nystrom", "cg"})],
    "n_components": [Interval(Integral, 1, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "random_state": ["random_state"],
}


@document
class KernelRidge(EstimatorMixin, LeverageMixin, KernelRegressorMixin, BaseEstimator):
    """Kernel ridge regression.

    Minimises ``sum_i w_i (y_i - f(x_i) - b)**2 + alpha ||f||**2`` over the
    functions ``f`` of the kernel's Hilbert space and, optionally, an intercept
    ``b``. The minimiser is ``f = sum_i c_i K(x_i, .)`` with ``(K + alpha
    inv(W)) c + b = y``; for one row, ``c_i = w_i (y_i - f(x_i) - b) / alpha``.

    It takes the parameters of :class:`sklearn.kernel_ridge.KernelRidge` and gives
    its results; the rest is new. See the :ref:`user guide <kernel_ridge>`.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1
        The strength of the penalty, one for all targets or one for each. In the
        form with a mean instead of a sum of squares, ``lambda = alpha /
        n_samples``.

    kernel : str, kernel object or callable, default="linear"
        A name: "linear", "poly" (or "polynomial"), "rbf", "sigmoid", "cosine",
        "laplacian", "chi2", "additive_chi2", or "precomputed" for a matrix of
        kernel values as ``X``. A kernel object of :mod:`sklearn_sl.kernels` or
        :mod:`sklearn.gaussian_process.kernels`, strings and sets included. Or a
        function of two rows that returns a number, which is slow.

    gamma : float or "median", default=None
        The ``gamma`` of the named kernels. None is ``1 / n_features`` (1 for
        "chi2"), "median" is :func:`~sklearn_sl.kernels.median_gamma`.

    {degree}

    {ridge_coef0}

    {kernel_params}

    fit_intercept : bool, default=False
        Whether to fit an intercept, which is not penalised.

    solver : {"auto", "cholesky", "nystrom", "cg"}, default="auto"
        "cholesky" solves the dual system exactly, in memory for one Gram matrix.
        "auto" is the same, but solves a linear kernel with ``n_features <
        n_samples`` for the ``n_features`` weights. "nystrom" and "cg" minimise
        over functions of ``n_components`` distinct random samples, the landmarks, in
        memory for a few blocks: "nystrom" by the normal equations, "cg" by
        conjugate gradients, which is faster for many thousand landmarks.

    n_components : int, default=1000
        The number of landmarks; no more than there are distinct samples.

    max_iter : int, default=100
        The maximum number of steps of "cg".

    tol : float, default=1e-6
        The relative residual at which "cg" stops.

    random_state : int, RandomState instance or None, default=None
        Chooses the landmarks.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        The coefficients ``c`` of the samples, or of the landmarks.

    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
        The training data or the landmarks; the training kernel matrix if the
        kernel is "precomputed".

    {fitted_kernel}

    intercept_ : float or ndarray of shape (n_targets,)
        The intercept, 0.0 without.

    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The weights of the features; for a linear kernel only.

    residual_norm_ : float or ndarray of shape (n_targets,)
        Certificate: the norm of the residual of the linear system, relative to
        that of its right-hand side.

    rkhs_norm_ : float or ndarray of shape (n_targets,)
        The norm ``||f|| = sqrt(c'Kc)``.

    leverage_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        The derivative of the prediction at a training sample by its target.
        Computed when first asked for, at the cost of about two fits.

    dof_ : float or ndarray of shape (n_targets,)
        The effective degrees of freedom, the sum of the leverages.

    jitter_ : float
        What had to be added to the diagonal of the system, with a warning; zero
        as a rule.

    solver_ : str
        How the system was solved: "primal", "mixed" (a float32 factorisation,
        refined to float64), "cholesky", "indefinite", "nystrom" or "cg".

    n_iter_ : int
        The steps taken, 1 for the direct solvers.

    {features_seen}

    See Also
    --------
    KernelRidgeCV : The same with ``alpha`` and the kernel chosen by leave-one-out.
    KernelRidgeClassifier : The same for classification.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.kernel_ridge import KernelRidge
    >>> X = np.linspace(0, 3, 50)[:, None]
    >>> y = np.sin(2 * X[:, 0])
    >>> model = KernelRidge(alpha=0.01, kernel="rbf", gamma=1.0).fit(X, y)
    >>> model.predict([[0.5], [1.0]]).round(2)
    array([0.84, 0.91])
    >>> bool(model.residual_norm_ < 1e-12)
    True
    >>> round(float(model.dof_), 1)
    7.0
    """

    _parameter_constraints = RIDGE_PARAMETERS

    def __init__(
        self,
        alpha: ArrayLike = 1,
        *,
        kernel: str | Any | Callable[..., Any] = "linear",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[Any, Any] | None = None,
        fit_intercept: bool = False,
        solver: Literal["auto", "cholesky", "nystrom", "cg"] = "auto",
        n_components: int = 1000,
        max_iter: int = 100,
        tol: float = 1e-6,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        {training_samples}

        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.

        sample_weight : float or array-like of shape (n_samples,), default=None
            Weights: an integer weight is the same as repeated rows, a weight of
            zero the same as a removed row.

        Returns
        -------
        self : KernelRidge
            The fitted estimator.
        """
        X, y, weight = numeric_data(self, X, y, sample_weight, multi_output=True)
        fit_targets(self, X, y, weight)
        return self


@document
class KernelRidgeClassifier(EstimatorMixin, LeverageMixin, KernelClassifierMixin, BaseEstimator):
    """Classification by kernel ridge regression of the class indicators.

    Every class has a target, one for its samples and zero for the others; a
    sample goes to the class of the largest prediction. For two classes one
    regression of -1 and 1 is the difference of the two, and does the same. The
    parameters are those of :class:`KernelRidge`.

    Parameters
    ----------
    alpha : float or array-like of shape (n_classes,), default=1
        The strength of the penalty.

    {ridge_kernel}

    {ridge_gamma}

    {degree}

    {ridge_coef0}

    {kernel_params}

    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.

    class_weight : dict or "balanced", default=None
        Weights of the classes, by which the weights of their samples are
        multiplied; "balanced" gives all classes the same total.

    solver : {"auto", "cholesky", "nystrom", "cg"}, default="auto"
        The solver, as in :class:`KernelRidge`.

    n_components : int, default=1000
        The number of landmarks of "nystrom" and "cg".

    max_iter : int, default=100
        The maximum number of steps of "cg".

    tol : float, default=1e-6
        The relative residual at which "cg" stops.

    random_state : int, RandomState instance or None, default=None
        Chooses the landmarks.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.

    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        The coefficients of the samples, or of the landmarks.

    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
        The training data or the landmarks.

    {fitted_kernel}

    intercept_ : float or ndarray of shape (n_classes,)
        The intercept, 0.0 without.

    coef_ : ndarray of shape (n_features,) or (n_classes, n_features)
        The weights of the features; for a linear kernel only.

    residual_norm_, rkhs_norm_, dof_ : float or ndarray of shape (n_classes,)
        Certificates, as in :class:`KernelRidge`.

    leverage_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        The leverages, as in :class:`KernelRidge`.

    jitter_ : float
        What had to be added to the diagonal of the system.

    solver_ : str
        How the system was solved.

    n_iter_ : int
        The steps taken, 1 for the direct solvers.

    {features_seen}

    See Also
    --------
    KernelRidge : The regression.
    KernelRidgeClassifierCV : The same with parameters chosen by leave-one-out.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_sl.kernel_ridge import KernelRidgeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelRidgeClassifier(alpha=0.1, kernel="rbf", gamma="median").fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    """

    _parameter_constraints = {
        **RIDGE_PARAMETERS,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        alpha: ArrayLike = 1,
        *,
        kernel: str | Any | Callable[..., Any] = "linear",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[Any, Any] | None = None,
        fit_intercept: bool = True,
        class_weight: dict[Any, Any] | str | None = None,
        solver: Literal["auto", "cholesky", "nystrom", "cg"] = "auto",
        n_components: int = 1000,
        max_iter: int = 100,
        tol: float = 1e-6,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        {training_samples}

        {class_labels}

        sample_weight : float or array-like of shape (n_samples,), default=None
            Weights: an integer weight is the same as repeated rows, a weight of
            zero the same as a removed row.

        Returns
        -------
        self : KernelRidgeClassifier
            The fitted estimator.
        """
        X, y, weight, _ = labelled_data(self, X, y, sample_weight)
        fit_targets(self, X, indicators(y, self.classes_, precision(X)), weight)
        return self
