"""Regression by support vector machines."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._kernel_machine import numeric_data
from sklearn_sl._sklearn import Interval, StrOptions, fit_context, watched
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.svm._base import (
    PARAMETERS,
    SupportVectorMixin,
    document,
    read_only,
    without_negative,
)
from sklearn_sl.svm._hard_margin import solve_hard_tube
from sklearn_sl.svm._loo import regressor_loo_error
from sklearn_sl.svm._many import Batch, solve_many
from sklearn_sl.svm._problem import tube_problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_sl._typing import ArrayLike, SparseLike

# One problem, about one group of samples.
ALONE = np.array([[0, -1]])

REGRESSION_PARAMETERS = {
    **PARAMETERS,
    "epsilon": [Interval(Real, 0, None, closed="left")],
    "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
}


@document
class RegressionMixin(SupportVectorMixin):
    """The machine of a regression and its predictions, for :class:`SVR` and its CV."""

    n_support_: np.ndarray
    dual_coef_: np.ndarray | SparseLike
    intercept_: np.ndarray
    dual_objective_: float
    primal_objective_: float
    duality_gap_: float
    kkt_violation_: float
    margin_: float
    n_iter_: int
    fit_status_: int

    def _targets(self, X, y, sample_weight):
        """Return samples, targets, and the weights, also as given."""
        self._refuse_sparse_kernel(X)
        sample_weight = without_negative(sample_weight)
        X, y, own_weight = numeric_data(self, X, y, sample_weight, dtype=np.float64)
        weight = np.ones(len(y)) if own_weight is None else own_weight
        return X, y, weight, own_weight

    def _tube(self, y, cost):
        squared = self.loss == "squared_epsilon_insensitive"
        return tube_problem(y, cost, self.epsilon, squared=squared, intercept=self.fit_intercept)

    def _solve_tube(self, samples, kernel, C, watch):
        """Return the machine, solved."""
        gram, problem = samples.gram(kernel), self._tube(samples.target, C * samples.cost)
        solve_hard = solve_hard_tube if np.isinf(C) else None
        options = self._solver_options | {"watch": watch, "solve_hard": solve_hard}
        batch = Batch(np.arange(gram.n), np.array([0, gram.n]), ALONE, problem)
        return solve_many(batch, gram, **options)

    def _expand(self, X, kernel, C, samples, solutions):
        """Set the attributes of the machine."""
        squared = self.loss == "squared_epsilon_insensitive"
        rows, _, dual = samples.in_user_order(solutions.b[None], C, squared=squared)
        self._keep_solutions(X, kernel, rows, dual, solutions)
        self.n_support_ = np.array([len(rows)], dtype=np.int32)
        for name in ("dual_objective_", "primal_objective_", "duality_gap_", "kkt_violation_"):
            setattr(self, name, float(getattr(self, name)[0]))
        self.margin_, self.n_iter_ = float(self.margin_[0]), int(self.n_iter_[0])

    def predict(self, X: Any) -> np.ndarray:
        """Predict the targets of samples.

        Parameters
        ----------
        {new_samples}

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The predictions.
        """
        check_is_fitted(self)
        X = self._validate_query(X)
        dual = self.dual_coef_.toarray() if sp.issparse(self.dual_coef_) else self.dual_coef_
        return self._kernel_times(X, slice(None), dual[0]) + self.intercept_

    @property
    def coef_(self) -> np.ndarray | SparseLike:
        """The weights of the features."""
        if not self._is_linear:
            raise AttributeError("coef_ is only available when using a linear kernel")
        return read_only(self.dual_coef_ @ self.support_vectors_)


@document
class SVR(EstimatorMixin, RegressionMixin, RegressorMixin, BaseEstimator):
    """Epsilon-support vector regression by SMO, with certificates.

    Minimises ``||f||**2 / 2 + sum_i C_i max(0, |y_i - f(x_i) - b| - epsilon)`` over the functions
    ``f`` of the kernel's Hilbert space and the intercept ``b``, where ``C_i`` is ``C`` times the
    weight of the sample. The minimiser is ``f = sum_i beta_i K(x_i, .)``, where ``beta`` maximises
    the dual objective ``sum_i y_i beta_i - epsilon sum_i |beta_i| - sum_ij beta_i beta_j K(x_i,
    x_j) / 2`` subject to ``-C_i <= beta_i <= C_i`` and ``sum_i beta_i = 0``. In the form ``sum_i
    loss_i + lambda ||f||**2`` of the same problem, ``lambda = 1 / (2 C)``.

    The parameters and attributes of :class:`sklearn.svm.SVR` have the same names and meaning here;
    there are some more.

    Parameters
    ----------
    {svm_kernel}

    {degree}

    gamma : {"scale", "auto", "median"} or float, default="scale"
        The ``gamma`` of the named kernels, as in :class:`SVC`.

    {svm_coef0}

    {svm_tol}

    C : float, default=1.0
        The weight of the loss, positive: the strength of the regularization is inversely
        proportional to it. ``np.inf`` requires all samples to be within the tube.

    epsilon : float, default=0.1
        Half the width of the tube within which there is no loss.

    {shrinking}

    cache_size : float, default=200
        The maximum memory for kernel values, in MB.

    verbose : bool, default=False
        Whether to print the violation from time to time.

    max_iter : int, default=-1
        The maximum number of steps of the solver. -1 is ten million, or a hundred per sample if
        that is more.

    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The loss; "squared_epsilon_insensitive" has the square of the slack in its place.

    fit_intercept : bool, default=True
        Whether to fit the intercept ``b``.

    {kernel_params}

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        The support vectors as rows of the training set.

    {support_vectors}

    n_support_ : ndarray of shape (1,)
        The number of support vectors.

    dual_coef_ : {ndarray, sparse matrix} of shape (1, n_SV)
        The coefficients.

    intercept_ : ndarray of shape (1,)
        The intercept.

    coef_ : {ndarray, sparse matrix} of shape (1, n_features)
        The weights of the features; for a linear kernel only.

    dual_objective_, primal_objective_ : float
        The two objectives. The optimum lies between them.

    duality_gap_ : float
        Their difference: a bound on what is missing to the optimum.

    kkt_violation_ : float
        The violation of the optimality conditions, recomputed in float64.

    margin_ : float
        ``1 / ||f||``.

    n_iter_ : int
        The steps taken.

    converged_ : bool
        Whether the violation is at most ``tol``.

    {svm_status}

    {fitted_kernel}

    {svm_shape}

    {features_seen}

    See Also
    --------
    SVC : The classifier.
    sklearn_sl.kernel_ridge.KernelRidge : The same with squared errors, in closed form.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.svm import SVR
    >>> X = np.linspace(0, 3, 50)[:, None]
    >>> y = np.sin(2 * X[:, 0])
    >>> model = SVR(C=10.0, gamma=1.0, epsilon=0.05).fit(X, y)
    >>> model.predict([[0.5], [1.0]]).round(1)
    array([0.8, 0.9])
    >>> bool(model.kkt_violation_ <= model.tol)
    True
    """

    _parameter_constraints = REGRESSION_PARAMETERS

    def __init__(
        self,
        *,
        kernel: str | Any | Callable[..., Any] = "rbf",
        degree: float = 3,
        gamma: Literal["scale", "auto", "median"] | float = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] = "epsilon_insensitive",
        fit_intercept: bool = True,
        kernel_params: dict[Any, Any] | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.kernel_params = kernel_params

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        {training_samples}

        y : array-like of shape (n_samples,)
            Targets.

        {svm_weight}

        Returns
        -------
        self : SVR
            The fitted estimator.
        """
        X, y, weight, own_weight = self._targets(X, y, sample_weight)
        samples, seen = self._samples(X, y, weight, own_weight)
        kernel = self._kernel_object(*seen)
        watching = {"name": "slice", "number": "kkt_violation", "verbose": self.verbose}
        with watched(self, **watching) as watch:
            solutions = self._solve_tube(samples, kernel, self.C, watch)
        self._expand(X, kernel, self.C, samples, solutions)
        return self

    def loo_error(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        method: Literal["exact"] = "exact",
    ) -> float:
        """Return the leave-one-out error: the mean absolute error at samples that are left out.

        The error is that of refits with the kernel of the fitted model, ``gamma=
        model.kernel_.gamma``, solved to the end: without its support vectors and, where no vector
        is free and the intercept is the middle of an interval, without the samples that decide
        that interval. All other residuals stay as they are. A sample is left out as a whole,
        whatever its weight, and all samples of positive weight count the same.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or sequence
            The training data, as in :meth:`fit`.

        y : array-like of shape (n_samples,)
            The targets, as in :meth:`fit`.

        sample_weight : float or array-like of shape (n_samples,), default=None
            The weights, as in :meth:`fit`.

        method : {"exact"}, default="exact"
            The error of a fit without each sample. The Gram matrix must fit into memory three
            times.

        Returns
        -------
        error : float
            The mean absolute error.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_sl.svm import SVR
        >>> X = np.linspace(0, 3, 50)[:, None]
        >>> y = np.sin(2 * X[:, 0])
        >>> model = SVR(C=10.0, gamma=1.0, epsilon=0.05).fit(X, y)
        >>> round(model.loo_error(X, y), 2)
        0.04
        """
        return regressor_loo_error(self, X, y, sample_weight, method)
