"""The perceptron in the space of a kernel."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._sklearn import Interval, StrOptions
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.kernels._base import diagonal, encode, gram_product
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online.kernel._kernel_trials import RADIUS2, KernelTrialsMixin
from sklearn_sl.theory._perceptron import best_perceptron_bound

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_sl._typing import ArrayLike


@paragraphs
class KernelPerceptron(EstimatorMixin, KernelTrialsMixin, ClassifierMixin, BaseEstimator):
    """Kernel perceptron, with its mistakes and the bound on their number.

    For two classes ``y = -1, 1`` a trial scores a sample by ``f(x) = sum_s c_s K(v_s, x)``, a sum
    over the samples of former mistakes. If ``y f(x) <= 0``, a mistake, the sample becomes one of
    them, with the coefficient ``y``. The function begins at zero, so that the first trial is always
    a mistake. ``partial_fit`` goes through its rows once, in their order, and any partition into
    blocks gives the same function to the last bit. ``fit`` starts from scratch and passes over the
    rows until a pass is clean; a row that is a mistake again gets ``y`` more. There is no
    intercept: a kernel plus a constant, such as ``Gaussian(gamma=0.5) + 1.0``, has one.

    **The theorem.** For every function ``u`` of the kernel's space and its hinge loss ``D`` on the
    trials, the number ``M`` of mistakes satisfies ``M <= D + R ||u|| sqrt(M)`` with ``R^2`` the
    largest ``K(x, x)``. ``bound_`` is the least such bound among the multiples of the last
    function, ``comparator_`` has the coefficients of that multiple. With
    :class:`~sklearn_sl.kernels.Anova`, whose features are all monomials, it learns a disjunction of
    ``k`` conjunctions (a monotone DNF) of ``n`` variables with at most ``(4 k + 1) 2^n`` mistakes,
    and with :class:`~sklearn_sl.kernels.LiteralFeatures` before it one with negations.

    **A budget.** With ``budget=B`` there are never more than ``B`` support vectors. If a mistake
    finds the budget full, of the ``B + 1`` vectors that one is replaced by its projection on the
    span of the others which changes the function least ("projection"; it may be the new one, and
    then the old ones stay, with other coefficients), or the oldest vector makes room ("removal").
    A projection takes time in proportion to ``B^2``, a removal none; the function that projections
    leave is much better. The theorem speaks of a perceptron that forgets nothing. To change the
    budget, the kernel or ``average`` in the middle of a stream is an error.

    **Multi-class.** ``multi_class="ovr"`` is one function for each class against all others.
    "kesler" adds the sample to the function of its class and subtracts it from that of the best
    other class, which is a perceptron too, with twice the ``R^2``. All functions share their
    support vectors.

    **The last bit.** Kernel values are computed so that each depends on its two samples alone, and
    are added up in the order of the support vectors. That holds for all kernels of this package but
    :class:`~sklearn_sl.kernels.Centered`, for "precomputed", and for functions; kernels of
    scikit-learn that multiply matrices (``DotProduct``) give the same up to rounding.

    Parameters
    ----------
    kernel : str, kernel object or callable, default="rbf"
        A name: "linear", "poly" (or "polynomial"), "rbf", "sigmoid", "cosine", "laplacian", "chi2",
        "additive_chi2", or "precomputed" for a matrix of kernel values as ``X``, with a column for
        each sample of all trials, in their order, whatever the calls (after the last column the
        first comes again). A kernel object of :mod:`sklearn_sl.kernels` or
        :mod:`sklearn.gaussian_process.kernels`, for strings and sets too. Or a function of two
        rows that returns a number, which is slow.

    gamma : float or "median", default=None
        The ``gamma`` of the named kernels. None is ``1 / n_features`` (1 for "chi2"), "median" is
        :func:`~sklearn_sl.kernels.median_gamma` of the samples of ``fit``, or of the first
        ``partial_fit``.

    degree : float, default=3
        The degree of "poly".

    coef0 : float, default=1
        The constant of "poly" and "sigmoid".

    kernel_params : dict, default=None
        Further arguments of a kernel given as a function.

    budget : int or None, default=None
        The largest number of support vectors.

    budget_strategy : {"projection", "removal"}, default="projection"
        What happens when there are more.

    average : bool, default=False
        Whether the mean of the functions of all trials predicts, and not the last one. It changes
        predictions, not the trials. A vector that is removed leaves the mean too.

    {multi_class}

    max_iter : int, default=20
        The largest number of passes of ``fit``.

    {keep_losses}

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        The places of the support vectors among all rows of all calls, from zero; after ``fit`` the
        rows of ``X``; the columns if the kernel is "precomputed".

    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        The support vectors; an array of objects if the kernel compares strings or sets. Not there
        if the kernel is "precomputed".

    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
        The coefficients of the support vectors.

    kernel_ : kernel object or None
        The kernel in use, every parameter a number; None if precomputed.

    {classes}

    {n_mistakes_of_passes}

    cumulative_loss_ : float
        The sum of the losses ``max(0, -y f(x))`` of all trials, and classes with "ovr".

    {loss_curve}

    {n_trials}

    n_updates_ : int
        The number of steps; for two classes the number of mistakes.

    n_removed_ : int
        How many vectors were removed or projected for the sake of the budget.

    radius_ : float
        The root of the largest ``K(x, x)`` among the samples that were stepped along.

    bound_ : float or None
        The theorem's bound on ``n_updates_`` (with "ovr" the sum of the bounds of all classes)
        relative to ``comparator_``. None after ``partial_fit``, which does not keep its samples:
        see :meth:`mistake_bound`. None also if the kernel is not positive definite, or the budget
        was too small.

    comparator_ : ndarray of the shape of ``dual_coef_`` or None
        The coefficients of multiples of the last functions; zeros where no multiple gives less than
        the number of trials.

    {converged}

    {n_iter}

    {features_in}

    See Also
    --------
    Perceptron : The same without a kernel.
    KernelOGD : Gradient descent on the hinge loss.
    sklearn_sl.theory.perceptron_bound : The theorem.
    sklearn_sl.theory.dnf_perceptron_bound : What it says of disjunctions of conjunctions.

    References
    ----------
    .. [1] Y. Freund and R. Schapire, "Large margin classification using the perceptron
       algorithm", Machine Learning 37, 1999.

    .. [2] F. Orabona, J. Keshet and B. Caputo, "Bounded kernel-based online learning", Journal of
       Machine Learning Research 10, 2009.

    .. [3] Z. Wang, K. Crammer and S. Vucetic, "Breaking the curse of kernelization: budgeted
       stochastic gradient descent for large-scale SVM training", Journal of Machine Learning
       Research 13, 2012.

    Examples
    --------
    Exclusive or, which no perceptron without a kernel learns:

    >>> from sklearn_sl.kernels import Anova
    >>> from sklearn_sl.online import KernelPerceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> model = KernelPerceptron(kernel=Anova(), max_iter=100).fit(X, y)
    >>> model.predict(X), model.converged_
    (array([0, 1, 1, 0]), True)

    Strings, with no more than three support vectors:

    >>> from sklearn_sl.kernels import Spectrum
    >>> words = ["abab", "baba", "abba", "cdcd", "dcdc", "cddc"]
    >>> model = KernelPerceptron(kernel=Spectrum(p=2), budget=3).fit(words, [0, 0, 0, 1, 1, 1])
    >>> model.predict(["ababab", "dcd"]), len(model.support_vectors_) <= 3
    (array([0, 1]), True)
    """

    bound_: float | None
    comparator_: np.ndarray | None

    _parameter_constraints = {
        **KernelTrialsMixin._kernel_constraints,
        **KernelTrialsMixin._budget_constraints,
        "average": ["boolean"],
        "multi_class": [StrOptions({"ovr", "kesler"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "keep_losses": ["boolean"],
    }
    _fixed = (*KernelTrialsMixin._fixed, "multi_class")
    _certificates = ("bound_", "comparator_")
    _margin, _length = 0.0, 1.0

    def __init__(
        self,
        *,
        kernel: str | Any | Callable[..., Any] = "rbf",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[Any, Any] | None = None,
        budget: int | None = None,
        budget_strategy: Literal["projection", "removal"] = "projection",
        average: bool = False,
        multi_class: Literal["ovr", "kesler"] = "ovr",
        max_iter: int = 20,
        keep_losses: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.budget = budget
        self.budget_strategy = budget_strategy
        self.average = average
        self.multi_class = multi_class
        self.max_iter = max_iter
        self.keep_losses = keep_losses

    # ------------------------------------------------------------ the theorem

    def _set_bound(self, codes, scores):
        largest = self._tail[RADIUS2]
        self.bound_, factors = self._best_bound(scores, codes, self._norms, largest, self.n_iter_)
        self.comparator_ = factors[:, None] * self._coef

    def mistake_bound(self, X: Any, y: ArrayLike) -> float:
        """Return the theorem's bound on the mistakes of one pass over some samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or sequence
            The samples of the trials, in any order.

        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        bound : float
            A perceptron without a budget takes no more steps than this, whatever the order of the
            samples; with "ovr" the sum of all classes. It is relative to the multiple of the last
            function that gives the least.
        """
        check_is_fitted(self)
        if self.kernel_ is None:
            raise ValueError(
                'mistake_bound is not available with kernel="precomputed", since it evaluates '
                "the kernel."
            )
        X, kernel = self._read_query(X), self.kernel_
        vectors = encode(kernel, self._vectors)
        at_vectors = gram_product(kernel, vectors, vectors, self._coef.T, encoded=True).T
        norms = np.einsum("ks,ks->k", self._coef, at_vectors)
        largest = diagonal(kernel, encode(kernel, X)).max()
        scores = self._evaluate(X, self._coef)
        return self._best_bound(scores, self._codes(np.asarray(y)), norms, largest, 1)[0]

    def _best_bound(self, scores, codes, norms, largest, repeats):
        """Return the bound, and the factors of the functions for which it holds."""
        if self.multi_class == "kesler" and len(norms) > 1:
            norms, largest = norms.sum(keepdims=True), 2 * largest
        bounds, factors = [], []
        for norm, (scored, signs) in zip(norms, self._views(scores, codes), strict=True):
            radius, norm = np.sqrt(largest), np.sqrt(max(norm, 0.0))
            bound, factor = best_perceptron_bound(signs * scored, radius, norm, repeats)
            bounds.append(bound)
            factors.append(factor)
        return float(sum(bounds)), np.resize(factors, len(scores[0]))
