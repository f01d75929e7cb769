"""Passive-aggressive learners: after each trial, the nearest weights that would have been right."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.extmath import safe_sparse_dot

from sklearn_sl._sklearn import Interval, StrOptions
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online._parameters import stream_context
from sklearn_sl.online._protocol import OnlineClassifierMixin, OnlineRegressorMixin
from sklearn_sl.online.linear import _passes, _steps
from sklearn_sl.online.linear._linear import SQUARES, LinearMixin, look, squared_norms
from sklearn_sl.theory._online_gradient import (
    best_passive_aggressive_bound,
    passive_aggressive_loss_bound,
)

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike

STEP_LENGTH = {"C": [Interval(Real, 0, None, closed="right")]}
FREE = _passes.FREE_IN_PASSES | {"C", "epsilon", "loss"}


# ---------------------------------------------------------------- hooks of both learners


@property
def is_squared(self):
    """Whether the loss is squared: PA-II."""
    return self.loss.startswith("squared")


def aggressive_rule(self):
    """Return how far a step goes."""
    return _steps.Aggressive(self.C, self._squared)


def finish(self):
    """Set the attributes that follow from the state."""
    LinearMixin._finish(self)
    self.squared_loss_ = float(self._state.tails[:, SQUARES].sum())


# ---------------------------------------------------------------- the learners


@paragraphs
class PassiveAggressiveClassifier(
    EstimatorMixin, LinearMixin, OnlineClassifierMixin, ClassifierMixin, BaseEstimator
):
    """Passive-aggressive classifier, with its mistakes and the bound on their number.

    For two classes ``y = -1, 1`` a trial scores a sample by ``s = w.x + b`` and has the hinge loss
    ``l = max(0, 1 - y s)``. The learner is passive if ``l = 0``. Otherwise its weights become those
    that minimise, with ``v`` for ``(w, b)`` and ``z`` for ``(x, 1)``:

    - ``loss="hinge"`` (PA-I): ``1/2 ||v - v_t||^2 + C max(0, 1 - y v.z)``,
      a step of ``min(C, l / ||z||^2) y z``;
    - ``loss="squared_hinge"`` (PA-II): ``1/2 ||v - v_t||^2 + C max(0, 1 - y v.z)^2``,
      a step of ``l / (||z||^2 + 1 / (2 C)) y z``;
    - ``C=inf`` (PA): the nearest ``v`` with ``y v.z >= 1``, a step of ``l / ||z||^2 y z``.

    These are the exact minima. A step along the gradient of the loss at ``v_t``, ``C y z``, is
    that of PA-I only if it is the shorter one; else it goes too far.

    **The theorems.** For every ``u`` with the hinge losses ``d_t``, and samples of norms up to
    ``R``: PA-I makes at most ``max(R^2, 1 / C) (||u||^2 + 2 C sum_t d_t)`` mistakes, and the sum of
    the squared hinge losses of PA-II is at most
    ``(R^2 + 1 / (2 C)) (||u||^2 + 2 C sum_t d_t^2)``, which bounds its mistakes, too. ``bound_`` is
    the least such bound among the multiples of the weights that were found.

    **As scikit-learn's.** Parameters and attributes are those of scikit-learn's
    ``PassiveAggressiveClassifier``, which is deprecated since its version 1.8. For dense samples
    without intercept, shuffling and class weights so are the weights. Different are: with an
    intercept the squared norm in a step is that of ``(x, 1)``, as the minimum has it, where
    scikit-learn leaves the one out and can overshoot; weights of classes multiply ``C``, not the
    step; and what :class:`Perceptron` does differently in its passes.

    Parameters
    ----------
    C : float, default=1.0
        The longest step of PA-I; for PA-II the weight of the squared slack. Infinite: no slack.

    {fit_intercept}

    {max_iter_1000}

    tol : float or None, default=1e-3
        ``fit`` ends when the mean hinge loss of a pass has not been less than the least one before
        minus ``tol`` for ``n_iter_no_change`` passes; None: never for this reason.

    {early_stopping}

    validation_fraction : float, default=0.1
        The share of the samples that are set aside.

    {n_iter_no_change}

    {shuffle}

    {verbose}

    loss : {"hinge", "squared_hinge"}, default="hinge"
        Linear slack (PA-I) or squared slack (PA-II).

    n_jobs : int or None, default=None
        For compatibility: a pass is one thread, as fast as memory is read.

    random_state : int, RandomState instance or None, default=None
        For the orders of the passes and the samples set aside.

    {warm_start}

    class_weight : dict, {class_label: weight}, "balanced" or None, default=None
        Factors of ``C`` for the samples of each class.

    average : bool or int, default=False
        Whether predictions are made with the mean of the weights of all trials, or of all but the
        first ones: the number of the first trial that counts.

    multi_class : {"ovr", "kesler"}, default="ovr"
        How more than two classes are learned: each against all others, or the true class against
        the best other one, whose difference of scores should be one at least.

    {keep_losses}

    Attributes
    ----------
    {coef}

    {intercept}

    {classes}

    {n_mistakes_of_passes}

    cumulative_loss_ : float
        The sum of the hinge losses of all trials, and classes with "ovr".

    squared_loss_ : float
        The sum of their squares.

    {loss_curve}

    {n_trials}

    {n_updates}

    {radius}

    bound_ : float or None
        The theorem's bound on ``n_mistakes_`` (with "ovr" the sum of the bounds of all classes)
        relative to ``comparator_``. None after ``partial_fit``, which does not keep its samples,
        and if there are weights of samples or classes, or weights to begin with; see
        :meth:`mistake_bound`.

    comparator_ : ndarray of shape (n_vectors, n_features + 1) or None
        Multiples of the last weights, with the intercept in the last column; zeros where no
        multiple gives less than the number of trials.

    {passes}

    See Also
    --------
    PassiveAggressiveRegressor : The same for numbers.
    sklearn_sl.theory.passive_aggressive_bound : The theorem.

    References
    ----------
    .. [1] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz and Y. Singer, "Online
       passive-aggressive algorithms", Journal of Machine Learning Research 7, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_sl.online import PassiveAggressiveClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PassiveAggressiveClassifier(C=0.1, random_state=0).fit(X, y == 0)
    >>> model.score(X, y == 0), model.n_mistakes_ <= model.bound_
    (1.0, True)
    """

    coef_: Any
    intercept_: Any
    n_mistakes_: int
    squared_loss_: float
    bound_: float | None

    _free = FREE
    _parameter_constraints = {
        **_passes.CLASSIFIER_CONSTRAINTS,
        **STEP_LENGTH,
        "loss": [StrOptions({"hinge", "squared_hinge"})],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        loss: Literal["hinge", "squared_hinge"] = "hinge",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        class_weight: dict[Any, Any] | str | None = None,
        average: bool | int = False,
        multi_class: Literal["ovr", "kesler"] = "ovr",
        keep_losses: bool = False,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.average = average
        self.multi_class = multi_class
        self.keep_losses = keep_losses

    fit, partial_fit, _go_on = _passes.fit, _passes.partial_fit, _passes.go_on
    _certify = _passes.certify_mistakes
    standard_coef, standard_intercept = _passes.standard_coef, _passes.standard_intercept
    densify, sparsify = _passes.densify, _passes.sparsify
    mistake_bound, t_ = _passes.mistake_bound, _passes.t_

    # ------------------------------------------------------------ hooks

    _certificates = ("bound_", "comparator_")

    def _loss(self):
        return _steps.Hinge(1.0)

    _squared, _rule, _finish = is_squared, aggressive_rule, finish

    def _best_bound(self, margins, norm, norms, repeats):
        if self.C == np.inf and norms[0] == 0:
            return float(repeats * len(margins)), 0.0
        return best_passive_aggressive_bound(
            margins,
            norms[1],
            norm,
            C=self.C,
            squared=self._squared,
            least_norm=norms[0],
            repeats=repeats,
        )


@paragraphs
class PassiveAggressiveRegressor(
    EstimatorMixin, LinearMixin, OnlineRegressorMixin, RegressorMixin, BaseEstimator
):
    """Passive-aggressive regressor, with the bound on its squared losses.

    A trial predicts ``s = w.x + b`` and has the loss ``l = max(0, |y - s| - epsilon)``. The learner
    is passive if ``l = 0``. Otherwise its weights become those that minimise, with ``v`` for
    ``(w, b)`` and ``z`` for ``(x, 1)``:

    - ``loss="epsilon_insensitive"`` (PA-I): ``1/2 ||v - v_t||^2 + C loss(v)``,
      a step of ``min(C, l / ||z||^2)`` along ``z`` or against it;
    - ``loss="squared_epsilon_insensitive"`` (PA-II): ``1/2 ||v - v_t||^2 + C loss(v)^2``,
      a step of ``l / (||z||^2 + 1 / (2 C))``;
    - ``C=inf`` (PA): the nearest ``v`` without loss, a step of ``l / ||z||^2``.

    **The theorem.** For every ``u`` with the losses ``d_t``, and samples of norms up to ``R``, the
    sum of the squared losses of PA-II is at most ``(R^2 + 1 / (2 C)) (||u||^2 + 2 C sum_t d_t^2)``.

    **As scikit-learn's.** Parameters and attributes are those of scikit-learn's
    ``PassiveAggressiveRegressor``, which is deprecated since its version 1.8. See
    :class:`PassiveAggressiveClassifier` for what is different.

    Parameters
    ----------
    C : float, default=1.0
        The longest step of PA-I; for PA-II the weight of the squared slack. Infinite: no slack.

    {fit_intercept}

    {max_iter_1000}

    tol : float or None, default=1e-3
        ``fit`` ends when the mean loss of a pass has not been less than the least one before minus
        ``tol`` for ``n_iter_no_change`` passes; None: never for this reason.

    {early_stopping}

    validation_fraction : float, default=0.1
        The share of the samples that are set aside.

    {n_iter_no_change}

    {shuffle}

    {verbose}

    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        Linear slack (PA-I) or squared slack (PA-II).

    epsilon : float, default=0.1
        Residuals up to this size have no loss.

    random_state : int, RandomState instance or None, default=None
        For the orders of the passes and the samples set aside.

    {warm_start}

    average : bool or int, default=False
        Whether predictions are made with the mean of the weights of all trials, or of all but the
        first ones: the number of the first trial that counts.

    {keep_losses}

    Attributes
    ----------
    {coef_of_one}

    {intercept_of_one}

    cumulative_loss_ : float
        The sum of the losses of all trials, of all passes.

    squared_loss_ : float
        The sum of their squares.

    squared_loss_bound_ : float or None
        The theorem's bound on ``squared_loss_`` relative to ``comparator_``. None for PA-I, after
        ``partial_fit``, which does not keep its samples, and if there are weights of samples, or
        weights to begin with.

    comparator_ : ndarray of shape (1, n_features + 1) or None
        The last weights, with the intercept in the last column, or zeros if these give less.

    {loss_curve}

    {n_trials}

    {n_updates}

    {radius}

    {passes}

    See Also
    --------
    PassiveAggressiveClassifier : The same for classes.
    sklearn_sl.theory.passive_aggressive_loss_bound : The theorem.

    References
    ----------
    .. [1] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz and Y. Singer, "Online
       passive-aggressive algorithms", Journal of Machine Learning Research 7, 2006.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from sklearn_sl.online import PassiveAggressiveRegressor
    >>> X, y = make_regression(n_features=4, random_state=0)
    >>> model = PassiveAggressiveRegressor(C=float("inf"), random_state=0).fit(X, y)
    >>> model.squared_loss_ <= model.squared_loss_bound_
    True
    """

    comparator_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray
    squared_loss_: float
    squared_loss_bound_: float | None

    _free = FREE
    _parameter_constraints = {
        **_passes.CONSTRAINTS,
        **STEP_LENGTH,
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
        "epsilon": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] = "epsilon_insensitive",
        epsilon: float = 0.1,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        average: bool | int = False,
        keep_losses: bool = False,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.epsilon = epsilon
        self.random_state = random_state
        self.warm_start = warm_start
        self.average = average
        self.keep_losses = keep_losses

    fit, t_ = _passes.fit, _passes.t_
    standard_coef, standard_intercept = _passes.standard_coef, _passes.standard_intercept
    densify, sparsify = _passes.densify, _passes.sparsify

    @stream_context
    @_passes.paragraphs
    def partial_fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Go through more trials, once and in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        y : array-like of shape (n_samples,)
            Targets.

        {partial_fit_weight}
        """
        self._go_on(X, y, sample_weight)
        return self

    def _go_on(self, X, y, sample_weight=None):
        _passes.learn_weighted(self, *self._read_more(X, y), sample_weight)

    # ------------------------------------------------------------ hooks

    _certificates = ("squared_loss_bound_", "comparator_")

    def _loss(self):
        return _steps.Insensitive(self.epsilon)

    _squared, _rule, _finish = is_squared, aggressive_rule, finish

    def _certify(self, X, y):
        squares = squared_norms(X) + self.fit_intercept
        if not (self._squared or self.C == np.inf) or (self.C == np.inf and squares.min() == 0):
            return
        norms, found = np.sqrt([squares.min(), squares.max()]), []
        for vectors in (self._state.last_vectors(), np.zeros_like(self._state.last_vectors())):
            scores = safe_sparse_dot(X, vectors[0, :-1]) + vectors[0, -1]
            with np.errstate(over="ignore"):
                loss = self.n_iter_ * np.sum(look(self._loss(), scores, y)[0] ** 2)
                norm = np.linalg.norm(vectors)
                bound = passive_aggressive_loss_bound(norms[1], norm, loss, self.C, norms[0])
            found.append((float(bound), vectors))
        bound, comparator = min(found, key=lambda pair: pair[0])
        if np.isfinite(bound):
            self.squared_loss_bound_, self.comparator_ = bound, comparator
