"""Online gradient descent in the space of a kernel, with random predictions."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._sklearn import Interval, StrOptions
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.kernels._base import diagonal, encode
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online._trials import running_sum
from sklearn_sl.online.kernel._kernel_trials import KernelTrialsMixin
from sklearn_sl.theory._kernel_online import kernel_ogd_bound

if TYPE_CHECKING:
    from collections.abc import Callable


@paragraphs
class KernelOGD(EstimatorMixin, KernelTrialsMixin, ClassifierMixin, BaseEstimator):
    """Online gradient descent on the hinge loss in the space of a kernel, with random predictions.

    For two classes ``y = -1, 1`` a trial scores a sample by ``f(x)``, draws ``Y`` from the uniform
    distribution on (-1, 1), and predicts ``sign(f(x) - Y)``: the second class with the probability
    ``(1 + f(x)) / 2``, cut to [0, 1]. If ``y f(x) <= 1``, then ``f`` becomes ``f + eta y K(x, .)``.
    The function begins at zero. ``expected_mistakes_`` is the exact expectation of the number of
    mistakes over all draws, which have no influence on ``f``; ``n_mistakes_`` is what came of one
    sequence of draws. ``partial_fit`` goes through its rows once, in their order, and any partition
    into blocks gives the same function, and the same draws, to the last bit.

    **The theorem.** Let ``h`` be a function of the kernel's space with ``h(x_t)`` in {-1, 1} in all
    trials, ``||h|| <= U`` and ``K(x_t, x_t) <= X^2``. Then after ``T`` trials with the rate
    ``eta = U / (X sqrt(T))`` the expected number of mistakes exceeds the number of mistakes of
    ``h`` by at most ``1/2 sqrt(U^2 X^2 T)``. ``regret_bound_`` is that, or what the theorem says of
    another rate or number of trials.

    **Multi-class.** One function for each class against all others, and class ``k`` is predicted
    with a probability in proportion to ``max(0, 1 + f_k(x))`` (the largest score for certain if all
    are zero), which for two classes is the same. It is a mistake with at most the sum of the
    probabilities with which the functions alone would be. So the bounds of all functions add up.

    The budget, and what holds to the last bit, are as in :class:`KernelPerceptron`.

    Parameters
    ----------
    kernel : str, kernel object or callable, default="rbf"
        The kernel, as in :class:`KernelPerceptron`.

    gamma : float or "median", default=None
        The ``gamma`` of the named kernels. None is ``1 / n_features``.

    degree : float, default=3
        The degree of "poly".

    coef0 : float, default=1
        The constant of "poly" and "sigmoid".

    kernel_params : dict, default=None
        Further arguments of a kernel given as a function.

    eta : float or "horizon", default=0.5
        The rate. "horizon" is ``norm / (radius sqrt(horizon))``.

    norm : float, default=1.0
        The norm ``U`` of the functions that ``regret_bound_`` compares with.

    radius : float or None, default=None
        The root ``X`` of the largest ``K(x, x)``, for the rate "horizon". None is that of the
        samples of ``fit``; ``partial_fit`` must know it.

    horizon : int or None, default=None
        The number ``T`` of trials, for the rate "horizon". None is that of ``fit`` with all its
        passes; ``partial_fit`` must know it.

    randomized : bool, default=True
        Whether ``n_mistakes_`` counts random predictions. Otherwise it counts the trials in which
        the true class did not have the largest score.

    budget : int or None, default=None
        The largest number of support vectors.

    budget_strategy : {"projection", "removal"}, default="projection"
        What happens when there are more.

    {max_iter}

    {random_state}

    {keep_losses}

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        The places of the support vectors among all rows of all calls, from zero; after ``fit`` the
        rows of ``X``.

    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        The support vectors; an array of objects if the kernel compares strings or sets. Not there
        if the kernel is "precomputed".

    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
        The coefficients of the support vectors.

    kernel_ : kernel object or None
        The kernel in use, every parameter a number; None if precomputed.

    eta_ : float
        The rate.

    {classes}

    n_mistakes_ : int
        The number of mistakes, of all passes, of the random predictions.

    expected_mistakes_ : float
        The expectation of that number.

    cumulative_loss_ : float
        The sum of the hinge losses ``max(0, 1 - y f(x))`` of all trials and functions.

    {loss_curve}

    {n_trials}

    n_updates_ : int
        The number of steps of all functions.

    n_removed_ : int
        How many vectors were removed or projected for the sake of the budget.

    radius_ : float
        The root of the largest ``K(x, x)`` among the samples that were stepped along.

    regret_bound_ : float or None
        ``expected_mistakes_`` exceeds the number of mistakes of any function with values -1 and 1
        in all trials, and a norm of at most ``norm``, by no more than this. For more than two
        classes there is such a function for each class, and their mistakes add up. None if the
        kernel is not positive definite, or the budget was too small.

    converged_ : bool
        Whether no function took a step in the last pass of ``fit``.

    {n_iter}

    {features_in}

    See Also
    --------
    KernelPerceptron : Steps on mistakes alone.
    sklearn_sl.theory.kernel_ogd_bound : The theorem.

    References
    ----------
    .. [1] J. Kivinen, A. Smola and R. Williamson, "Online learning with kernels", IEEE
       Transactions on Signal Processing 52, 2004.

    .. [2] M. Zinkevich, "Online convex programming and generalized infinitesimal gradient ascent",
       ICML 2003.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn_sl.online import KernelOGD
    >>> X, y = make_moons(500, noise=0.1, random_state=0)
    >>> model = KernelOGD(gamma=2.0, eta="horizon", norm=5.0, random_state=0).fit(X, y)
    >>> round(model.expected_mistakes_, 1), model.n_mistakes_, round(model.regret_bound_, 1)
    (21.5, 29, 55.9)
    """

    eta_: float
    expected_mistakes_: float
    regret_bound_: float | None

    _parameter_constraints = {
        **KernelTrialsMixin._kernel_constraints,
        "eta": [Interval(Real, 0, None, closed="neither"), StrOptions({"horizon"})],
        "norm": [Interval(Real, 0, None, closed="neither")],
        "radius": [Interval(Real, 0, None, closed="neither"), None],
        "horizon": [Interval(Integral, 1, None, closed="left"), None],
        "randomized": ["boolean"],
        **KernelTrialsMixin._budget_constraints,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "keep_losses": ["boolean"],
    }
    _mutable = (*KernelTrialsMixin._mutable, "_generator")
    _margin = 1.0
    _together = False

    def __init__(
        self,
        *,
        kernel: str | Any | Callable[..., Any] = "rbf",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[Any, Any] | None = None,
        eta: float | str = 0.5,
        norm: float = 1.0,
        radius: float | None = None,
        horizon: int | None = None,
        randomized: bool = True,
        budget: int | None = None,
        budget_strategy: Literal["projection", "removal"] = "projection",
        max_iter: int = 1,
        random_state: int | np.random.RandomState | None = None,
        keep_losses: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.eta = eta
        self.norm = norm
        self.radius = radius
        self.horizon = horizon
        self.randomized = randomized
        self.budget = budget
        self.budget_strategy = budget_strategy
        self.max_iter = max_iter
        self.random_state = random_state
        self.keep_losses = keep_losses

    # ------------------------------------------------------------ trials

    def _begin(self, X):
        super()._begin(X)
        self.eta_ = float(self._rate(X) if self.eta == "horizon" else self.eta)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        self._generator, self.expected_mistakes_ = np.random.default_rng(seed), 0.0

    def _rate(self, X):
        """Return the rate for a known number of trials."""
        radius, horizon = self.radius, self.horizon
        if self._slot_of is None and (radius is None or horizon is None):
            raise ValueError(
                'eta="horizon" requires radius and horizon to be set when partial_fit is used.'
            )
        if radius is None:
            squares = np.diagonal(X) if self.kernel_ is None else self._squares(X)
            radius = np.sqrt(max(squares.max(), 0.0)) or 1.0
        horizon = self.max_iter * X.shape[0] if horizon is None else horizon
        return self.norm / (radius * np.sqrt(horizon))

    def _squares(self, X):
        return diagonal(self.kernel_, encode(self.kernel_, X))

    @property
    def _length(self):
        return self.eta_

    def _play(self, X, codes):
        """Return the scores, with the place of the class that was drawn in the last column."""
        scores, n_played = super()._play(X, codes)
        if n_played < len(codes):
            return scores, n_played
        chances = class_probabilities(scores)
        wrong = 1 - chances[np.arange(len(codes)), codes]
        self.expected_mistakes_ = running_sum(self.expected_mistakes_, wrong)
        if not self.randomized:
            return scores, n_played
        below = np.add.accumulate(chances[:, :-1], axis=1)
        drawn = (self._generator.random(len(codes))[:, None] < 1 - below).sum(axis=1)
        return np.column_stack([scores, drawn]), n_played

    def _split(self, answers):
        """Return the scores, and the places of the classes that were drawn, if any were."""
        n_scores = self._n_vectors()
        return answers[:, :n_scores], answers[:, n_scores:].astype(np.intp)

    def _losses(self, answers, codes):
        return super()._losses(self._split(answers)[0], codes)

    def _mistaken(self, answers, codes):
        scores, drawn = self._split(answers)
        return drawn[:, 0] != codes if drawn.size else super()._mistaken(scores, codes)

    def _predictions(self, answers):
        scores, drawn = self._split(answers)
        return self.classes_[drawn[:, 0]] if drawn.size else super()._predictions(scores)

    def _finish(self):
        super()._finish()
        self.regret_bound_ = None
        if self._obeys_theorems():
            bound = kernel_ogd_bound(self.norm, self.radius_, self.n_trials_, self.eta_)
            self.regret_bound_ = self._n_vectors() * float(bound)

    # ------------------------------------------------------------ predicting

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities with which a random prediction is each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or sequence
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            A column for each class. ``predict`` returns the class of the largest.
        """
        check_is_fitted(self)
        return class_probabilities(self._scores(self._read_query(X)))


def class_probabilities(scores):
    """Return the probabilities of all classes, in proportion to ``max(0, 1 + score)``."""
    if scores.shape[1] == 1:
        second = np.clip((1 + scores[:, 0]) / 2, 0, 1)
        return np.column_stack([1 - second, second])
    parts = np.maximum(0, 1 + scores)
    nowhere = np.flatnonzero(parts.max(axis=1) == 0)
    parts[nowhere, scores[nowhere].argmax(axis=1)] = 1.0
    parts /= parts.max(axis=1, keepdims=True)
    return parts / np.add.accumulate(parts, axis=1)[:, -1:]
