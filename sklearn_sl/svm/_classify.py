"""Classification by support vector machines, one against one."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import deprecated
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._kernel_machine import weighted_classes
from sklearn_sl._rows import n_rows
from sklearn_sl._sklearn import StrOptions, fit_context, watched
from sklearn_sl._state import check_entries
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.svm._base import (
    FEW_SHARES,
    PARAMETERS,
    SupportVectorMixin,
    document,
    read_only,
    without_negative,
)
from sklearn_sl.svm._hard_margin import NotSeparableError, solve_hard_margin
from sklearn_sl.svm._loo import classifier_loo_error
from sklearn_sl.svm._many import Batch, solve_many
from sklearn_sl.svm._probabilities import calibrated, sigmoids, warn_of_probability

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_sl._typing import ArrayLike, SparseLike

# Pairs of classes up to which one product with all their coefficients, half of them zero or more,
# is faster than a product for each class.
FEW_PAIRS = 200
# Classes up to which a product with a matrix of zeros and ones is faster if it is dense.
FEW_CLASSES = 30


DEPRECATED = (
    "Attribute `{}` was deprecated in scikit-learn 1.9 and will be removed in 1.11, with the "
    "parameter `probability`: use CalibratedClassifierCV."
)

CLASSIFIER_PARAMETERS = {
    **PARAMETERS,
    "loss": [StrOptions({"hinge", "squared_hinge"})],
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "decision_function_shape": [StrOptions({"ovo", "ovr"})],
    "break_ties": ["boolean"],
    "n_jobs": [int, None],
}


@document
class ClassificationMixin(SupportVectorMixin):
    """The machines of all pairs of classes and their predictions, for :class:`SVC` and its CV."""

    n_support_: np.ndarray
    classes_: np.ndarray
    class_weight_: np.ndarray
    dual_coef_: np.ndarray | SparseLike
    intercept_: np.ndarray
    dual_objective_: np.ndarray
    primal_objective_: np.ndarray
    duality_gap_: np.ndarray
    kkt_violation_: np.ndarray
    margin_: np.ndarray
    n_iter_: np.ndarray
    fit_status_: int

    def _classes(self, X, y, sample_weight):
        """Return samples, classes, the weights of the problem, and those that were given."""
        self._refuse_sparse_kernel(X)
        return weighted_classes(self, X, y, without_negative(sample_weight))

    def _solve_pairs(self, samples, kernel, C, watch):
        """Return the machines of all pairs of classes, the first of them positive, solved."""
        gram, pairs = samples.gram(kernel), np.stack(pairs_of(len(self.classes_)), axis=1)
        loss = {"squared": self.loss == "squared_hinge", "intercept": self.fit_intercept}
        batch = Batch.of_classes(samples.target, C * samples.cost, pairs, **loss)
        options = self._solver_options | {"watch": watch, "n_jobs": self.n_jobs}
        solve_hard = solve_hard_margin if np.isinf(C) else None
        try:
            return batch, solve_many(batch, gram, solve_hard=solve_hard, **options)
        except NotSeparableError as error:
            raise error.among(samples.kept, samples.n_given) from None

    def _expand(self, X, kernel, C, samples, batch, solutions):
        """Set the attributes of the machines of all pairs, laid out as in scikit-learn."""
        n_classes = len(self.classes_)
        dual = np.zeros((n_classes - 1, len(samples.target)))
        for own, begins in enumerate(batch.starts_of_groups()):
            place = slice(*batch.group_starts[own : own + 2])
            dual[:, place] = solutions.b[begins[:, None] + np.arange(place.stop - place.start)]
        sign = -1.0 if n_classes == 2 else 1.0  # that of two classes is positive for the second
        squared = self.loss == "squared_hinge"
        rows, codes, dual = samples.in_user_order(sign * dual, C, squared=squared)
        self._keep_solutions(X, kernel, rows, dual, solutions)
        self.n_support_ = np.bincount(codes, minlength=n_classes).astype(np.int32)
        self.intercept_ *= sign

    def _check_state(self):
        if "n_support_" in vars(self):
            n_vectors = self.dual_coef_.shape[1]
            check_entries(self.n_support_, "n_support_", 0, n_vectors)
            if self.n_support_.sum() != n_vectors:
                raise ValueError(f"n_support_ must sum to the {n_vectors} support vectors.")

    def _pair_values(self, X):
        """Return the values of the machines of all pairs at validated samples."""
        dual, n_classes = self._dense_dual(), len(self.classes_)
        if n_classes == 2:
            return self._kernel_times(X, slice(None), dual[0])[:, None] + self.intercept_
        starts = np.append(0, np.cumsum(self.n_support_, dtype=np.intp))
        first, second = pairs_of(n_classes)
        shares = self._few_values(X, starts, dual)
        if shares is not None:
            return shares[:, first, second - 1] + shares[:, second, first] + self.intercept_
        if len(first) <= FEW_PAIRS:
            return self._kernel_times(X, slice(None), self._pair_coef().T) + self.intercept_
        shares = self._shares(X)
        shares = shares.reshape(-1, shares.shape[2])
        # This is faster than two indices.
        values = np.take(shares, first * (n_classes - 1) + second - 1, axis=0)
        values += np.take(shares, second * (n_classes - 1) + first, axis=0)
        values += self.intercept_[:, None]
        return values.T

    def _shares(self, X):
        """Return what the support vectors of each class add to the machines with all others.

        The shape is (n_classes, n_classes - 1, n_samples).
        """
        starts = np.append(0, np.cumsum(self.n_support_, dtype=np.intp))
        return self._group_products(X, starts, self._dense_dual())

    def _pair_coef(self):
        """Return the coefficients of the support vectors in the machine of each pair."""
        dual, n_classes = self._dense_dual(), len(self.classes_)
        codes = np.repeat(np.arange(n_classes), self.n_support_)
        return np.array(
            [
                np.where(codes == i, dual[j - 1], np.where(codes == j, dual[i], 0))
                for i, j in combinations(range(n_classes), 2)
            ]
        )

    def _dense_dual(self):
        return self.dual_coef_.toarray() if sp.issparse(self.dual_coef_) else self.dual_coef_

    def decision_function(self, X: Any) -> Any:
        """Return the scores of samples.

        Parameters
        ----------
        {new_samples}

        Returns
        -------
        scores : ndarray of shape (n_samples,), (n_samples, n_classes) or \
                (n_samples, n_classes * (n_classes - 1) / 2)
            For two classes one score, positive for ``classes_[1]``. For more, with
            ``decision_function_shape="ovr"`` the pairwise votes of each class plus, as a
            fraction, their confidence; with "ovo" the value of the machine of each pair, positive
            for the first class.
        """
        check_is_fitted(self)
        values = self._pair_values(self._validate_query(X))
        return self._scores(values, len(self.classes_))

    def _scores(self, values, n_classes):
        """Return the scores that follow from the values of the machines of all pairs."""
        if n_classes == 2:
            return values[:, 0]
        return (
            values if self.decision_function_shape == "ovo" else scores_of_votes(values, n_classes)
        )

    def predict(self, X: Any) -> np.ndarray:
        """Predict the classes of samples.

        Parameters
        ----------
        {new_samples}

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The class of each sample, the one with the most pairwise votes.
        """
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        X, n_classes = self._validate_query(X), len(self.classes_)
        n_pairs = len(self.intercept_)
        many = n_pairs > FEW_PAIRS and 2 * n_pairs * n_rows(X) > FEW_SHARES
        if many and not self.break_ties:
            winners = votes_of_shares(self._shares(X), self.intercept_).argmax(axis=0)
        else:
            winners = self._winners(self._pair_values(X), n_classes)
        return self.classes_[winners]

    def _winners(self, values, n_classes):
        """Return the class, as a number, that wins by the values of the machines of all pairs."""
        if n_classes == 2:
            return (values[:, 0] >= 0).astype(np.intp)
        points = scores_of_votes if self.break_ties else pairwise_votes
        return points(values, n_classes).argmax(axis=1)

    @property
    def coef_(self) -> Any:
        """The weights of the features, for each pair of classes."""
        if not self._is_linear:
            raise AttributeError("coef_ is only available when using a linear kernel")
        coef = np.asarray(self._pair_coef() @ self.support_vectors_)
        return read_only(sp.csr_matrix(coef) if sp.issparse(self.support_vectors_) else coef)


def _has_probabilities(model):
    """Return true, or say why there are no probabilities."""
    if model.probability is not True:
        raise AttributeError("predict_proba is not available when probability=False.")
    return True


@document
class SVC(EstimatorMixin, ClassificationMixin, ClassifierMixin, BaseEstimator):
    """C-support vector classification by SMO, with certificates.

    For two classes with signs ``y_i = -1`` and ``1``, minimises ``||f||**2 / 2 + sum_i C_i
    max(0, 1 - y_i (f(x_i) + b))`` over the functions ``f`` of the kernel's Hilbert space and the
    intercept ``b``, where ``C_i`` is ``C`` times the weights of the sample and of its class. The
    minimiser is ``f = sum_i y_i alpha_i K(x_i, .)``, where ``alpha`` maximises the dual objective
    ``sum_i alpha_i - sum_ij y_i y_j alpha_i alpha_j K(x_i, x_j) / 2`` subject to ``0 <= alpha_i <=
    C_i`` and ``sum_i y_i alpha_i = 0``. More than two classes are handled one against one.

    In the form ``sum_i max(0, 1 - y_i f_i) + lambda ||f||**2`` of the same problem, ``lambda = 1 /
    (2 C)``; with a mean over ``n`` samples in place of the sum, ``lambda = 1 / (2 C n)``.

    The parameters and attributes of :class:`sklearn.svm.SVC` have the same names and meaning here;
    there are some more.

    Parameters
    ----------
    C : float, default=1.0
        The weight of the loss, positive: the strength of the regularization is inversely
        proportional to it. ``np.inf`` is a hard margin, and raises :class:`NotSeparableError` if
        there is none.

    kernel : str, kernel object or callable, default="rbf"
        "linear", "poly", "rbf", "sigmoid", "precomputed" (``X`` is the Gram matrix), further
        names of :func:`sklearn.metrics.pairwise.pairwise_kernels`, a kernel of
        :mod:`sklearn_sl.kernels` or of scikit-learn, or a function of two sets of samples that
        returns the matrix of their kernel values.

    {degree}

    gamma : {"scale", "auto", "median"} or float, default="scale"
        The ``gamma`` of the named kernels. "scale" is ``1 / (n_features * variance of X)``,
        where samples count by their weights, "auto" is ``1 / n_features``, "median" is
        :func:`~sklearn_sl.kernels.median_gamma`.

    {svm_coef0}

    {shrinking}

    probability : bool, default="deprecated"
        Whether there is ``predict_proba``. It is deprecated, as in scikit-learn: use
        :class:`sklearn.calibration.CalibratedClassifierCV` with ``ensemble=False``, whose
        probabilities these are.

    {svm_tol}

    cache_size : float, default=200
        The maximum memory for kernel values, in MB.

    class_weight : dict or "balanced", default=None
        Weights of the classes, by which the ``C`` of their samples is multiplied; "balanced"
        gives all classes the same total.

    verbose : bool, default=False
        Whether to print the violation from time to time.

    max_iter : int, default=-1
        The maximum number of steps of the solver for a pair of classes. -1 is ten million, or a
        hundred per sample if that is more.

    decision_function_shape : {"ovo", "ovr"}, default="ovr"
        Whether ``decision_function`` returns a score for each class or for each pair of classes.

    break_ties : bool, default=False
        Whether ``predict`` follows the scores of "ovr" where several classes have the same number
        of pairwise votes. If not, the first of them is predicted.

    random_state : int, RandomState instance or None, default=None
        Has no effect, as in scikit-learn without ``probability``: nothing here is random.

    loss : {"hinge", "squared_hinge"}, default="hinge"
        The loss: "squared_hinge" has ``sum_i C_i max(0, 1 - y_i f_i)**2``, the 2-norm soft margin.

    fit_intercept : bool, default=True
        Whether to fit the intercept ``b``. Without it the machine is homogeneous, and the dual has
        no equality constraint.

    {kernel_params}

    n_jobs : int, default=None
        The number of threads that solve pairs of classes side by side; None is 1 unless in a
        :obj:`joblib.parallel_backend` context.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, without classes whose samples all have weight zero.

    {svm_class_weight}

    support_ : ndarray of shape (n_SV,)
        The support vectors as rows of the training set, class by class.

    {support_vectors}

    {class_support}

    dual_coef_ : {ndarray, sparse matrix} of shape (n_classes - 1, n_SV)
        The coefficients ``y_i alpha_i``; with more than two classes laid out as in scikit-learn.

    intercept_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        The intercepts: the mean over the free support vectors, or the middle of the interval of
        minimisers of the loss where there is none.

    coef_ : {ndarray, sparse matrix} of shape (n_classes * (n_classes - 1) / 2, n_features)
        The weights of the features; for a linear kernel only.

    dual_objective_, primal_objective_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        The two objectives, for each pair of classes. The optimum lies between them.

    duality_gap_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        Their difference: a bound on what is missing to the optimum.

    kkt_violation_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        The violation of the optimality conditions, recomputed in float64.

    margin_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        ``1 / ||f||``, the distance from the separating hyperplane to ``f = 1``.

    n_iter_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        The steps taken.

    converged_ : bool
        Whether all violations are at most ``tol``.

    {svm_status}

    {fitted_kernel}

    {svm_shape}

    {features_seen}

    See Also
    --------
    SVR : The regression.
    sklearn.svm.LinearSVC : Many samples and a linear kernel, without the dual.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_sl.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(C=10.0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    >>> bool(model.kkt_violation_.max() <= model.tol)
    True

    The optimal separating hyperplane of four points:

    >>> import numpy as np
    >>> X = [[1.0, 1.0], [2.0, 2.0], [-1.0, -1.0], [0.0, -1.0]]
    >>> model = SVC(C=np.inf, kernel="linear").fit(X, [1, 1, -1, -1])
    >>> model.coef_.round(4), model.intercept_.round(4), model.margin_.round(4)
    (array([[0.4, 0.8]]), array([-0.2]), array([1.118]))
    """

    _parameter_constraints = {
        **CLASSIFIER_PARAMETERS,
        "probability": ["boolean", StrOptions({"deprecated"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str | Any | Callable[..., Any] = "rbf",
        degree: float = 3,
        gamma: Literal["scale", "auto", "median"] | float = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: dict[Any, Any] | str | None = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: Literal["ovo", "ovr"] = "ovr",
        break_ties: bool = False,
        random_state: int | np.random.RandomState | None = None,
        loss: Literal["hinge", "squared_hinge"] = "hinge",
        fit_intercept: bool = True,
        kernel_params: dict[Any, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.kernel_params = kernel_params
        self.n_jobs = n_jobs

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
        self : SVC
            The fitted estimator.
        """
        warn_of_probability(self)
        vars(self).pop("_calibrated", None)
        given = X, y, sample_weight
        X, y, cost, own_weight = self._classes(X, y, sample_weight)
        samples, seen = self._samples(X, np.searchsorted(self.classes_, y), cost, own_weight)
        kernel = self._kernel_object(*seen)
        watching = {"name": "slice", "number": "kkt_violation", "verbose": self.verbose}
        with watched(self, **watching) as watch:
            solved = self._solve_pairs(samples, kernel, self.C, watch)
        self._expand(X, kernel, self.C, samples, *solved)
        if self.probability is True:
            self._calibrated = calibrated(self, *given)
        return self

    def loo_error(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        method: Literal["exact", "xi-alpha", "span", "n_sv"] = "exact",
    ) -> float:
        """Return the leave-one-out error: the share of samples that are errors when left out.

        The kernel and the weights of the classes stay those of the fitted model: the error is that
        of refits with ``gamma=model.kernel_.gamma`` and ``class_weight=dict(zip(model.classes_,
        model.class_weight_))``. ``gamma="scale"`` and ``class_weight="balanced"`` would be computed
        again in each fold of :func:`~sklearn.model_selection.cross_val_score`, which may then
        differ by a few samples. A sample is left out as a whole, whatever its weight, and all
        samples of positive weight count the same. The only sample of a class is an error.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or sequence
            The training data, as in :meth:`fit`.

        y : array-like of shape (n_samples,)
            The class labels, as in :meth:`fit`.

        sample_weight : float or array-like of shape (n_samples,), default=None
            The weights, as in :meth:`fit`.

        method : {"exact", "xi-alpha", "span", "n_sv"}, default="exact"
            - "exact": what a fit without each sample, solved to the end, predicts for it. Where no
              support vector is free, the intercept is the middle of its interval, as in a fit.
              Only samples whose own prediction can change are left out; the Gram matrix of a
              pair of classes must fit into memory three times.
            - "xi-alpha": an upper bound, the share of samples with ``alpha_i D_i**2 + xi_i >= 1``,
              where ``xi_i`` is the slack and ``D_i`` the largest distance to another sample in
              feature space. Joachims has the larger ``2 R**2`` in place of ``D_i**2``, with ``R**2
              = max_i K_ii - min_ij K_ij``. (Without an intercept it is ``K_ii``.)
            - "span": the span rule, the share of samples with ``alpha_i S_i**2 >= y_i f(x_i)``,
              where ``S_i`` is the distance to the hull of the free support vectors: exact if no
              other sample becomes free or ceases to be.
            - "n_sv": an upper bound, the share of support vectors.

            The bounds hold as long as the intercept is unique, that is, some support vector is
            between its bounds with and without the sample. With more than two classes they count
            the samples that some pair counts.

        Returns
        -------
        error : float
            The error, or its bound or estimate.

        References
        ----------
        .. [1] T. Joachims, "Estimating the generalization performance of an SVM efficiently",
           International Conference on Machine Learning, 2000.
        .. [2] V. Vapnik, O. Chapelle, "Bounds on error expectation for support vector machines",
           Neural Computation 12 (2000).

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn_sl.svm import SVC
        >>> X, y = load_iris(return_X_y=True)
        >>> model = SVC().fit(X, y)
        >>> round(model.loo_error(X, y), 3), round(model.loo_error(X, y, method="n_sv"), 3)
        (0.033, 0.4)
        """
        return classifier_loo_error(self, X, y, sample_weight, method)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes, for ``probability=True``.

        The class of the largest one may be another than that of :meth:`predict`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or sequence
            Samples; their kernel values with the training samples if the kernel is "precomputed".

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            The probabilities.
        """
        check_is_fitted(self)
        if not hasattr(self, "_calibrated"):
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False."
            )
        return self._calibrated.predict_proba(X)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of the probabilities of the classes, for ``probability=True``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or sequence
            Samples; their kernel values with the training samples if the kernel is "precomputed".

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            The logarithms.
        """
        return np.log(self.predict_proba(X))

    @deprecated(DEPRECATED.format("probA_"))  # type: ignore[prop-decorator]
    @property
    def probA_(self) -> np.ndarray:
        """The slopes of the sigmoids of ``probability=True``, one for each class or for both."""
        return sigmoids(self)[0]

    @deprecated(DEPRECATED.format("probB_"))  # type: ignore[prop-decorator]
    @property
    def probB_(self) -> np.ndarray:
        """The offsets of the sigmoids of ``probability=True``, one for each class or for both."""
        return sigmoids(self)[1]


@lru_cache(maxsize=8)
def pairs_of(n_classes):
    """Return the first and the second classes of all pairs, in their order."""
    return np.triu_indices(n_classes, 1)


@lru_cache(maxsize=8)
def membership(n_classes):
    """Return the matrices that tell, with a one, the first and the second class of each pair."""
    every = np.arange(n_classes * (n_classes - 1) // 2)
    shape = len(every), n_classes
    first, second = (
        sp.csr_array((np.ones(len(every)), (every, k)), shape) for k in pairs_of(n_classes)
    )
    return (first.toarray(), second.toarray()) if n_classes <= FEW_CLASSES else (first, second)


@lru_cache(maxsize=8)
def ballots(n_classes):
    """Return what a pair won by its first class changes, and the votes if all second ones win."""
    first, second = membership(n_classes)
    return first - second, second.sum(axis=0)


def pairwise_votes(values, n_classes):
    """Return the number of pairwise votes of each class; zero is a vote for the second of two."""
    gained, before = ballots(n_classes)
    return (values > 0).astype(np.float64) @ gained + before


def votes_of_shares(shares, intercepts):
    """Return the votes for each class, class by class: the values of all pairs fill no cache.

    ``shares`` are what each class adds to the values of its pairs, of shape (n_classes,
    n_classes - 1, n_samples).
    """
    n_classes, _, n_samples = shares.shape
    votes, stop = np.zeros((n_classes, n_samples), dtype=np.int32), 0
    for first in range(n_classes - 1):
        start, stop = stop, stop + n_classes - 1 - first
        values = shares[first, first:] + shares[first + 1 :, first]
        values += intercepts[start:stop, None]
        won = values > 0
        votes[first] += np.count_nonzero(won, axis=0).astype(np.int32)
        votes[first + 1 :] += ~won
    return votes


def scores_of_votes(values, n_classes):
    """Return the votes of each class, plus its confidence squeezed below a third of one."""
    first, second = membership(n_classes)
    confidence = values @ first - values @ second
    return pairwise_votes(values, n_classes) + confidence / (3 * (np.abs(confidence) + 1))
