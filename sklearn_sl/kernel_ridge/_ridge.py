"""Kernel ridge regression and classification."""

from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._kernel_machine import KernelMachineMixin, check_symmetric_gram, precision
from sklearn_sl._sklearn import Interval, Progress, StrOptions, fit_context
from sklearn_sl._warnings import warn
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.kernel_ridge import _solvers
from sklearn_sl.kernel_ridge._expansion import (
    KernelClassifierMixin,
    KernelExpansionMixin,
    KernelRegressorMixin,
    indicators,
    squeezed,
)
from sklearn_sl.kernels._base import encode
from sklearn_sl.kernels._dot import Linear


class KernelRidgeMixin(KernelExpansionMixin):
    """The fit of :class:`KernelRidge`, for a regressor's or a classifier's numeric targets."""

    _parameter_constraints = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        **KernelMachineMixin._kernel_constraints,
        "fit_intercept": ["boolean"],
        "solver": [StrOptions({"auto", "cholesky", "nystrom", "cg"})],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    @np.errstate(all="ignore")
    def _fit_targets(self, X, y, weight):
        """Fit numeric targets, a vector or a matrix, with weights or None."""
        ravel, y = y.ndim == 1, y.reshape(len(y), -1)
        alpha = check_alpha(self.alpha, y.shape[1])
        kernel = self._kernel_object(X, weight)
        if weight is None:
            weight = np.ones(len(y), dtype=y.dtype)
        # Targets of the size of one: nothing over- or underflows, and a power of two is exact.
        scale = power_of_two(np.abs(y).max(axis=0))
        if self.solver in ("nystrom", "cg"):
            X, fit = self._solve_landmarks(X, y / scale, alpha, weight, kernel)
        else:
            fit = self._solve_samples(X, y / scale, alpha, weight, kernel)
        fit = fit.scaled(scale)
        self._expand(X, kernel, fit, ravel)
        self.residual_norm_ = squeezed(fit.residual_norm, ravel)
        self.rkhs_norm_ = squeezed(fit.rkhs_norm, ravel)
        self.jitter_ = float(np.max(fit.jitter))
        self.n_iter_ = fit.n_iter
        self.solver_ = fit.solver
        # What the leverages need, whatever becomes of the parameters after the fit.
        self._alpha, self._weight, self._jitter = alpha, weight, fit.jitter
        self._options = {"fit_intercept": self.fit_intercept}
        self._dof, self._leverage = fit.dof, None

    def _solve_samples(self, X, y, alpha, weight, kernel):
        """Solve exactly; rows of weight zero are left out and get the coefficient zero."""
        used = np.flatnonzero(weight)
        part = slice(None) if len(used) == len(weight) else used
        X, y_used, weight = X[part], y[part], weight[part]
        options = {"fit_intercept": self.fit_intercept}
        if self.solver == "auto" and isinstance(kernel, Linear) and X.shape[1] < X.shape[0]:
            fit = _solvers.solve_primal(X, y_used, alpha, weight, **options)
        else:
            fill = gram_filler(kernel, X, part)
            fit = _solvers.solve_exact(fill, len(used), y_used, alpha, weight, **options)
        if len(used) < len(y):
            dual_coef = np.zeros_like(y)
            dual_coef[used] = fit.dual_coef
            fit.dual_coef = dual_coef
        return fit

    def _solve_landmarks(self, X, y, alpha, weight, kernel):
        """Solve over functions of some samples, the landmarks; return these and the fit."""
        if self._precomputed:
            raise ValueError(
                f'solver="{self.solver}" evaluates the kernel itself: it cannot be combined with '
                'kernel="precomputed".'
            )
        rng = check_random_state(self.random_state)
        rows = _solvers.choose_landmarks(self.n_components, X, weight, rng)
        options = {"fit_intercept": self.fit_intercept}
        landmarks = _solvers.Landmarks(kernel, X[rows], **options)
        problem = (landmarks, encode(kernel, X), y, alpha, weight)
        if self.solver == "nystrom":
            return X[rows], _solvers.solve_nystrom(*problem, **options)
        with Progress(self, name="iteration", total=self.max_iter) as progress:
            options |= {"max_iter": self.max_iter, "tol": self.tol, "progress": progress}
            fit = _solvers.solve_cg(*problem, **options)
        if fit.residual_norm.max() > self.tol:
            warn(
                f"Conjugate gradients stopped after {fit.n_iter} steps at a relative residual of "
                f"{fit.residual_norm.max():.1e}, above tol={self.tol:.1e}: increase max_iter or "
                "alpha.",
                ConvergenceWarning,
            )
        return X[rows], fit

    @property
    def leverage_(self):
        """The leverage of each training sample, ``d prediction_i / d y_i``."""
        return squeezed(self._leverages(), self.dual_coef_.ndim == 1)

    @property
    def dof_(self):
        """The effective degrees of freedom, the sum of the leverages."""
        check_is_fitted(self)
        dof = self._leverages().sum(axis=0) if self._dof is None else self._dof
        return squeezed(dof, self.dual_coef_.ndim == 1)

    def _leverages(self):
        check_is_fitted(self)
        if self.solver_ in ("nystrom", "cg"):
            raise AttributeError(
                f'solver="{self.solver_}" keeps the landmarks, not the training samples: there '
                "are no leverages, and no degrees of freedom after conjugate gradients."
            )
        if self._leverage is None:
            self._leverage = self._compute_leverages()
        return self._leverage

    def _compute_leverages(self):
        used = np.flatnonzero(self._weight)
        X, weight = self.X_fit_[used], self._weight[used]
        leverages = np.zeros((len(self._weight), len(self._alpha)))
        if self.solver_ == "primal":
            leverages[used] = _solvers.primal_leverages(X, self._alpha, weight, **self._options)
        else:
            fill = gram_filler(self.kernel_, X, used)
            leverages[used] = _solvers.exact_leverages(
                fill, len(used), self._alpha, self._jitter, weight, **self._options
            )
        return leverages


def power_of_two(values):
    """Return the largest power of two up to each value, 1/2 for zero."""
    return np.ldexp(np.ones_like(values), np.frexp(values)[1] - 1)


def gram_filler(kernel, X, columns):
    """Return the function that writes a Gram matrix into a store."""
    if kernel is None:
        K = X[:, columns]
        check_symmetric_gram(K)
        return _solvers.fill_from_matrix(K)
    return _solvers.fill_from_kernel(kernel, encode(kernel, X))


def check_alpha(alpha, n_targets):
    """Return one penalty per target, or raise."""
    alpha = np.asarray(alpha, dtype=np.float64).ravel()
    if len(alpha) not in (1, n_targets):
        raise ValueError(
            f"alpha must be one number or one per target: got {len(alpha)} for {n_targets} targets."
        )
    if not (np.isfinite(alpha).all() and (alpha >= 0).all()):
        raise ValueError(f"alpha must be finite and not negative, got {alpha}.")
    return np.broadcast_to(alpha, (n_targets,)).copy()


class KernelRidge(EstimatorMixin, KernelRidgeMixin, KernelRegressorMixin, BaseEstimator):
    """Kernel ridge regression.

    Minimises ``sum_i w_i (y_i - f(x_i) - b)**2 + alpha ||f||**2`` over the
    functions ``f`` of the kernel's Hilbert space and, on request, an intercept
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

    degree : float, default=3
        The degree of "poly".

    coef0 : float, default=1
        The constant of "poly" and "sigmoid".

    kernel_params : dict, default=None
        Further arguments of a kernel given as a function.

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
        The most steps of "cg".

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

    kernel_ : kernel object or None
        The kernel in use, every parameter a number; None if precomputed.

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

    n_features_in_ : int
        Number of features seen during :term:`fit`.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during :term:`fit`. Defined only when `X`
        has feature names that are all strings.

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

    def __init__(
        self,
        alpha=1,
        *,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        fit_intercept=False,
        solver="auto",
        n_components=1000,
        max_iter=100,
        tol=1e-6,
        random_state=None,
    ):
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
    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or sequence
            Training data; a matrix of kernel values if the kernel is
            "precomputed"; strings or sets if the kernel compares these.

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
        X, y, weight = self._regression_data(X, y, sample_weight)
        self._fit_targets(X, y, weight)
        return self


class KernelRidgeClassifier(EstimatorMixin, KernelRidgeMixin, KernelClassifierMixin, BaseEstimator):
    """Classification by kernel ridge regression of the class indicators.

    Every class has a target, one for its samples and zero for the others; a
    sample goes to the class of the largest prediction. For two classes one
    regression of -1 and 1 is the difference of the two, and does the same. The
    parameters are those of :class:`KernelRidge`.

    Parameters
    ----------
    alpha : float or array-like of shape (n_classes,), default=1
        The strength of the penalty.

    kernel : str, kernel object or callable, default="linear"
        The kernel, as in :class:`KernelRidge`.

    gamma : float or "median", default=None
        The ``gamma`` of the named kernels. None is ``1 / n_features``.

    degree : float, default=3
        The degree of "poly".

    coef0 : float, default=1
        The constant of "poly" and "sigmoid".

    kernel_params : dict, default=None
        Further arguments of a kernel given as a function.

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
        The most steps of "cg".

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

    kernel_ : kernel object or None
        The kernel in use, every parameter a number; None if precomputed.

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

    n_features_in_ : int
        Number of features seen during :term:`fit`.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during :term:`fit`. Defined only when `X`
        has feature names that are all strings.

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
        **KernelRidgeMixin._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        alpha=1,
        *,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        fit_intercept=True,
        class_weight=None,
        solver="auto",
        n_components=1000,
        max_iter=100,
        tol=1e-6,
        random_state=None,
    ):
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
    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or sequence
            Training data; a matrix of kernel values if the kernel is
            "precomputed"; strings or sets if the kernel compares these.

        y : array-like of shape (n_samples,)
            Class labels.

        sample_weight : float or array-like of shape (n_samples,), default=None
            Weights: an integer weight is the same as repeated rows, a weight of
            zero the same as a removed row.

        Returns
        -------
        self : KernelRidgeClassifier
            The fitted estimator.
        """
        X, y, weight, _ = self._labelled_data(X, y, sample_weight)
        self._fit_targets(X, indicators(y, self.classes_, precision(X)), weight)
        return self
