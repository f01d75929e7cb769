"""Online gradient descent, with its regret and the bound on it."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._sklearn import HasMethods, Interval, StrOptions
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online._parameters import check_certified
from sklearn_sl.online._protocol import OnlineClassifierMixin, OnlineRegressorMixin
from sklearn_sl.online._trials import BEYOND, take_slice
from sklearn_sl.online.linear import _steps
from sklearn_sl.online.linear._hindsight import Hindsight
from sklearn_sl.online.linear._linear import (
    LARGEST2,
    SQUARES,
    LinearMixin,
    look,
    squared_norms,
)
from sklearn_sl.online.linear._probabilities import LOGISTIC, LogisticProbabilitiesMixin
from sklearn_sl.theory._online_gradient import ogd_anytime_bound, ogd_bound

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike

CONSTRAINTS = {
    "eta": [StrOptions({"horizon", "anytime"}), Interval(Real, 0, None, closed="neither")],
    "radius": [Interval(Real, 0, None, closed="neither"), None],
    "horizon": [Interval(Integral, 1, None, closed="left"), None],
    "gradient_norm": [Interval(Real, 0, None, closed="neither"), None],
    "fit_intercept": ["boolean"],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "average": ["boolean"],
    "keep_losses": ["boolean"],
}


class Regret(NamedTuple):
    """The regret of a learner; see :meth:`OnlineGradientDescentClassifier.regret`.

    Attributes
    ----------
    regret : float
        How much more the learner has lost than the comparator.

    bound : float or None
        The theorem's bound on it.

    comparator : ndarray of shape (n_vectors, n_features + 1)
        The weights that it is relative to, with the intercept in the last column.
    """

    regret: float
    bound: float | None
    comparator: np.ndarray


# ---------------------------------------------------------------- rates


def ball_of(learner):
    """Return the norm that the weights are kept within."""
    return np.inf if learner.radius is None else float(learner.radius)


def scale_of(learner):
    """Return the constant of the falling rate."""
    return 1.0 if learner.radius is None else float(learner.radius)


def rate_of(learner, X, targets):
    """Return the rate, or None if it falls."""
    if learner.eta == "anytime":
        return None
    if learner.eta != "horizon":
        return float(learner.eta)
    if learner.radius is None:
        raise ValueError('eta="horizon" requires radius to be set; got radius=None.')
    n_trials, gradient = learner.horizon, learner.gradient_norm
    if X is None and None in (n_trials, gradient):
        raise ValueError(
            'eta="horizon" requires horizon and gradient_norm to be set when partial_fit is used.'
        )
    if n_trials is None:
        n_trials = X.shape[0] * learner.max_iter
    if gradient is None:
        gradient = largest_gradient(learner, X, targets)
    # Without any gradient there will be no step.
    rate = float(learner.radius / (gradient or 1.0) / np.sqrt(n_trials))
    if rate == 0:
        raise ValueError(BEYOND.format(type(learner).__name__))
    return rate


def largest_gradient(learner, X, targets):
    """Return a bound on the norms of all gradients in the ball."""
    square = (squared_norms(X).max() + learner.fit_intercept) * (2 if learner._together else 1)
    norm = float(np.sqrt(square))
    if not np.isfinite(norm):
        values = X.data if sp.issparse(X) else X
        assert_all_finite(values, estimator_name=type(learner).__name__, input_name="X")
        raise ValueError(BEYOND.format(type(learner).__name__))
    # The slope of a convex loss is largest at one of the ends.
    told = learner._distinct_targets(targets)
    ends = [np.full(len(told), sign * learner.radius * norm) for sign in (-1.0, 1.0)]
    return norm * max(np.abs(look(learner._loss(), end, told)[1]).max() for end in ends)


def rule_of(learner):
    """Return how far a step goes."""
    if learner.eta_ is None:
        return _steps.FallingRate(np.sqrt(2) * scale_of(learner), learner._conservative)
    return _steps.FixedRate(learner.eta_, learner._conservative)


# ---------------------------------------------------------------- losses that are not compiled


def play_rows(learner, X, targets):
    """Play trials, row by row if the loss is an object."""
    if isinstance(learner.loss, str):
        return LinearMixin._play(learner, X, targets)
    answers = np.empty((len(targets), learner._n_vectors()))
    for row in range(len(targets)):
        part, target = take_slice(X, slice(row, row + 1)), targets[row : row + 1]
        seen = look_at_row(learner, part, target)
        answers[row], played = LinearMixin._play(learner, part, target, loss=seen)
        if not played:
            return answers, row
    return answers, len(targets)


def look_at_row(learner, row, target):
    """Return the losses of all vectors as numbers."""
    weights, intercepts = learner._state.last_weights()
    scores = safe_sparse_dot(row, weights.T, dense_output=True) + intercepts
    if not np.isfinite(scores).all():
        return _steps.Loss()
    seen = [look(learner.loss, *view) for view in learner._views(scores, target)]
    return _steps.Given(*map(np.concatenate, zip(*seen)))


# ---------------------------------------------------------------- the regret


def regret(self, X: MatrixLike, y: ArrayLike, comparator: ArrayLike | None = None) -> Any:
    """Return the regret in all trials so far.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples of the trials, in any order, of one pass if there were several.

    y : array-like of shape (n_samples,)
        Their targets.

    comparator : array-like of shape (n_vectors, n_features + 1), default=None
        The weights to compare with, with the intercept in the last column. None is the best
        ones in hindsight, as ``comparator_``.

    Returns
    -------
    regret : Regret
        The ``regret``, the theorem's ``bound`` on it, and the ``comparator``.
    """
    check_is_fitted(self)
    check_certified(self)
    X, targets = self._read(self._read_query(X), y, reset=False)
    repeats, rest = divmod(self.n_trials_, len(targets))
    if rest:
        raise ValueError(
            f"X has {len(targets)} samples, but the learner was fitted on {self.n_trials_} "
            "trials, which is not a multiple: pass the samples of all trials."
        )
    found = regret_against(self, Hindsight(self, X, targets, repeats), comparator)
    return found._replace(bound=None) if self._conservative else found


def regret_against(learner, trials, comparator):
    """Return the regret relative to a comparator; None is the best one in hindsight."""
    squares = learner._state.tails[: trials.n_groups, SQUARES]
    if comparator is None:
        comparator = trials.best(vectors_found(learner), learner._ball, ridge_of(learner, squares))
    comparator = np.array(comparator, dtype=np.float64).reshape(trials.shape)
    norms = trials.norms(comparator)
    if np.any(norms > learner._ball * (1 + 1e-12)):
        raise ValueError(
            f"comparator must have a norm of at most radius={learner.radius}; got "
            f"{np.max(norms):g}."
        )
    regret = learner.cumulative_loss_ - np.sum(trials.losses(comparator))
    return Regret(float(regret), float(np.sum(regret_bounds(learner, norms, squares))), comparator)


def vectors_found(learner):
    """Return weights to begin the search with."""
    means = learner._state.mean_weights(learner.n_trials_)
    return [learner._state.last_vectors(), *([] if means is None else [np.column_stack(means)])]


def ridge_of(learner, squares):
    """Return the inverse rates, by which the theorem weighs squared norms; zero in a ball."""
    if learner.radius is not None:
        return np.zeros(len(squares))
    if learner.eta_ is not None:
        return np.full(len(squares), 1 / learner.eta_)
    return np.sqrt(squares / 2)


def regret_bounds(learner, norms, squares):
    """Return the theorem's bound for each group of weights."""
    if learner.eta_ is not None:
        return ogd_bound(norms, learner.eta_, squares)
    farthest = np.sqrt(learner._state.tails[: len(norms), LARGEST2]) + norms
    return ogd_anytime_bound(scale_of(learner), squares, farthest)


@paragraphs
class OnlineGradientDescentClassifier(
    EstimatorMixin,
    LinearMixin,
    LogisticProbabilitiesMixin,
    OnlineClassifierMixin,
    ClassifierMixin,
    BaseEstimator,
):
    """Linear classification by online gradient descent, with its regret and the bound on it.

    For two classes ``y = -1, 1`` a trial scores a sample by ``s = w.x + b``, loses ``loss(s, y)``,
    and ``(w, b)`` becomes ``(w, b) - eta loss'(s, y) (x, 1)``, projected to the ball of norm
    ``radius`` if there is one. Weights begin at zero. For the hinge loss there is a step if
    ``y s < 1``. ``partial_fit`` goes through its rows once, in their order, and any partition into
    blocks gives the same weights to the last bit.

    **The theorem.** For every ``u`` (in the ball), with the gradients ``g_t`` of all trials::

        sum_t loss_t(w_t) - loss_t(u) <= ||u||^2 / (2 eta) + eta / 2 sum_t ||g_t||^2

    The left side is the regret. With ``||u|| <= U``, ``||g_t|| <= G`` and ``m`` trials the rate
    ``eta = U / (G sqrt(m))``, "horizon", gives ``U G sqrt(m)``. The rate
    ``eta_t = sqrt(2) U / sqrt(||g_1||^2 + ... + ||g_t||^2)``, "anytime", needs to know neither
    ``G`` nor ``m``, and gives ``2 sqrt(2) U sqrt(sum_t ||g_t||^2)`` after every trial.

    **Conservative.** If there are steps only on mistakes, where ``y s <= 0``, the hinge loss gives
    the perceptron: with a fixed rate and no ball, ``eta`` changes no prediction.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge", "logistic", "log_loss", "perceptron"} or object, \
            default="hinge"
        ``max(0, 1 - y s)``, its square, ``log(1 + exp(-y s))`` ("log_loss" is scikit-learn's name
        of "logistic"), or ``max(0, -y s)``, whose slope at zero is ``-y``. The logistic loss has
        :meth:`predict_proba`. Any other convex loss is an object with the methods ``loss(s, y)``
        and ``gradient(s, y)``, of numbers and elementwise of arrays; it is played row by row in
        Python, slowly.

    eta : {"anytime", "horizon"} or float, default="anytime"
        The rate. "horizon" needs a ``radius``.

    radius : float or None, default=None
        The norm ``U`` that the weights, with the intercept, are kept within; None if they are not.
        Then ``U = 1`` in the rate "anytime".

    horizon : int, default=None
        The number ``m`` of trials for the rate "horizon"; None, for ``fit``, is ``max_iter`` times
        the number of samples.

    gradient_norm : float, default=None
        The largest norm ``G`` of a gradient for the rate "horizon"; for the hinge loss the largest
        norm of ``(x, 1)``. None, for ``fit``, is the least number that the samples and the ball
        are sure not to exceed.

    conservative : bool, default=False
        Whether there are steps only on mistakes.

    {fit_intercept}

    max_iter : int, default=10
        The largest number of passes of ``fit``, all in the order of the rows. It ends before if a
        pass takes no step.

    average : bool, default=False
        Whether predictions are made with the mean of the weights of all trials.

    multi_class : {"ovr", "kesler"}, default="ovr"
        How more than two classes are learned: each against all others, in a ball of its own, or
        all together, with the difference of the scores of the true class and of the best other one
        in the place of ``y s``.

    {keep_losses}

    Attributes
    ----------
    {coef}

    {intercept}

    {classes}

    eta_ : float or None
        The rate; None if it falls.

    {n_mistakes_of_passes}

    cumulative_loss_ : float
        The sum of the losses of all trials, and classes with "ovr".

    {loss_curve}

    {n_trials}

    {n_updates}

    {radius}

    comparator_ : ndarray of shape (n_vectors, n_features + 1) or None
        The best weights in hindsight that were found, with the intercept in the last column: they
        minimise the sum of the losses over the ball, or, without a ball, that sum plus
        ``||u||^2 / (2 eta)``, with the last rate. A search of about 100 passes of matrix products;
        never worse than the last weights, their average, or zero. The theorem holds for any
        comparator. None after ``partial_fit``, which does not keep its samples.

    regret_ : float or None
        ``cumulative_loss_`` minus the loss of ``comparator_``; see :meth:`regret`.

    regret_bound_ : float or None
        The theorem's bound on ``regret_``, with the gradients that there were (with "ovr" the sum
        of the bounds of all classes). None also if ``conservative``: the theorem then speaks of
        mistakes alone.

    bound_ : float or None
        A bound on ``n_mistakes_``: the loss of ``comparator_`` plus the theorem's bound on the
        regret, over the loss of a zero score. None for the perceptron loss, where that is zero,
        and for a loss that is an object.

    converged_ : bool
        Whether the last pass of ``fit`` took no step.

    {n_iter}

    {features_in}

    See Also
    --------
    OnlineGradientDescentRegressor : The same for numbers.
    Perceptron : The conservative one.
    sklearn_sl.theory.ogd_bound : The theorem.

    References
    ----------
    .. [1] M. Zinkevich, "Online convex programming and generalized infinitesimal gradient ascent",
       ICML 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from sklearn_sl.online import OnlineGradientDescentClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = OnlineGradientDescentClassifier(eta="horizon", radius=5.0, max_iter=1)
    >>> model.fit(scale(X), y).regret_ <= model.regret_bound_
    True
    """

    comparator_: np.ndarray
    coef_: Any
    intercept_: Any
    n_mistakes_: int
    eta_: float | None
    regret_: float | None
    regret_bound_: float | None
    bound_: float | None

    _parameter_constraints = {
        "loss": [
            StrOptions({"hinge", "squared_hinge", *LOGISTIC, "perceptron"}),
            HasMethods(["loss", "gradient"]),
        ],
        **CONSTRAINTS,
        "conservative": ["boolean"],
        "multi_class": [StrOptions({"ovr", "kesler"})],
    }

    def __init__(
        self,
        loss: Literal["hinge", "squared_hinge", "logistic", "log_loss", "perceptron"]
        | Any = "hinge",
        *,
        eta: Literal["anytime", "horizon"] | float = "anytime",
        radius: float | None = None,
        horizon: int | None = None,
        gradient_norm: float | None = None,
        conservative: bool = False,
        fit_intercept: bool = True,
        max_iter: int = 10,
        average: bool = False,
        multi_class: Literal["ovr", "kesler"] = "ovr",
        keep_losses: bool = False,
    ) -> None:
        self.loss = loss
        self.eta = eta
        self.radius = radius
        self.horizon = horizon
        self.gradient_norm = gradient_norm
        self.conservative = conservative
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.average = average
        self.multi_class = multi_class
        self.keep_losses = keep_losses

    _for_probabilities = 'loss="log_loss", conservative=False and multi_class="ovr"'
    _certificates = ("regret_", "regret_bound_", "comparator_", "bound_")
    # Steps, also along losses that are not compiled, are the same for both kinds of targets.
    _ball, _rule, _play = property(ball_of), rule_of, play_rows
    regret = regret

    def _plan(self, X, targets):
        self.eta_ = rate_of(self, X, targets)

    @property
    def _conservative(self):
        return self.conservative

    def _loss(self):
        if not isinstance(self.loss, str):
            return self.loss
        return {
            "hinge": _steps.Hinge(1.0),
            "squared_hinge": _steps.SquaredHinge(),
            **dict.fromkeys(LOGISTIC, _steps.Logistic()),
            "perceptron": _steps.Hinge(0.0, steep=True),
        }[self.loss]

    def _distinct_targets(self, codes):
        return np.array([-1.0, 1.0])

    def _certify(self, X, codes):
        found = regret_against(self, Hindsight(self, X, codes, self.n_iter_), None)
        self.regret_, self.comparator_ = found.regret, found.comparator
        self.regret_bound_ = None if self.conservative else found.bound
        at_zero = float(look(self._loss(), np.zeros(1), np.ones(1))[0][0])
        if isinstance(self.loss, str) and at_zero > 0:
            self.bound_ = (self.cumulative_loss_ - found.regret + found.bound) / at_zero


@paragraphs
class OnlineGradientDescentRegressor(
    EstimatorMixin, LinearMixin, OnlineRegressorMixin, RegressorMixin, BaseEstimator
):
    """Linear regression by online gradient descent, with its regret and the bound on it.

    A trial predicts ``s = w.x + b``, loses ``loss(s, y)``, and ``(w, b)`` becomes
    ``(w, b) - eta loss'(s, y) (x, 1)``, projected to the ball of norm ``radius`` if there is one.
    Weights begin at zero. ``partial_fit`` goes through its rows once, in their order, and any
    partition into blocks gives the same weights to the last bit. The theorem and the rates are
    those of :class:`OnlineGradientDescentClassifier`.

    Parameters
    ----------
    loss : {"square", "absolute", "epsilon_insensitive", "squared_epsilon_insensitive", "huber"} \
            or object, default="square"
        With the residual ``r = s - y``: ``r^2``, ``|r|``, ``max(0, |r| - epsilon)``, its square, or
        ``r^2 / 2`` up to ``|r| = epsilon`` and straight lines beyond. Any other convex loss is an
        object with the methods ``loss(s, y)`` and ``gradient(s, y)``, of numbers and elementwise of
        arrays; it is played row by row in Python, slowly.

    eta : {"anytime", "horizon"} or float, default="anytime"
        The rate. "horizon" needs a ``radius``.

    radius : float or None, default=None
        The norm ``U`` that the weights, with the intercept, are kept within; None if they are not.
        Then ``U = 1`` in the rate "anytime".

    horizon : int, default=None
        The number ``m`` of trials for the rate "horizon"; None, for ``fit``, is ``max_iter`` times
        the number of samples.

    gradient_norm : float, default=None
        The largest norm ``G`` of a gradient for the rate "horizon". None, for ``fit``, is the least
        number that the samples, the targets and the ball are sure not to exceed.

    epsilon : float, default=0.1
        Belongs to the losses that mention it.

    {fit_intercept}

    max_iter : int, default=10
        The largest number of passes of ``fit``, all in the order of the rows. It ends before if a
        pass takes no step.

    average : bool, default=False
        Whether predictions are made with the mean of the weights of all trials.

    {keep_losses}

    Attributes
    ----------
    {coef_of_one}

    {intercept_of_one}

    eta_ : float or None
        The rate; None if it falls.

    cumulative_loss_ : float
        The sum of the losses of all trials, of all passes.

    {loss_curve}

    {n_trials}

    {n_updates}

    {radius}

    comparator_ : ndarray of shape (1, n_features + 1) or None
        The best weights in hindsight that were found, with the intercept in the last column: they
        minimise the sum of the losses over the ball, or, without a ball, that sum plus
        ``||u||^2 / (2 eta)``, with the last rate. A search of about 100 passes of matrix products;
        never worse than the last weights, their average, or zero. The theorem holds for any
        comparator. None after ``partial_fit``, which does not keep its samples.

    regret_ : float or None
        ``cumulative_loss_`` minus the loss of ``comparator_``; see :meth:`regret`.

    regret_bound_ : float or None
        The theorem's bound on ``regret_``, with the gradients that there were.

    converged_ : bool
        Whether the last pass of ``fit`` took no step.

    {n_iter}

    {features_in}

    See Also
    --------
    OnlineGradientDescentClassifier : The same for classes.
    sklearn_sl.theory.ogd_bound : The theorem.

    References
    ----------
    .. [1] M. Zinkevich, "Online convex programming and generalized infinitesimal gradient ascent",
       ICML 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from sklearn_sl.online import OnlineGradientDescentRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = OnlineGradientDescentRegressor("absolute", radius=1.0, max_iter=1)
    >>> model.fit(scale(X), scale(y)).regret_ <= model.regret_bound_
    True
    """

    comparator_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray
    eta_: float | None
    regret_: float | None
    regret_bound_: float | None

    _parameter_constraints = {
        "loss": [
            StrOptions(
                {
                    "square",
                    "absolute",
                    "epsilon_insensitive",
                    "squared_epsilon_insensitive",
                    "huber",
                }
            ),
            HasMethods(["loss", "gradient"]),
        ],
        **CONSTRAINTS,
        "epsilon": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        loss: Literal[
            "square", "absolute", "epsilon_insensitive", "squared_epsilon_insensitive", "huber"
        ]
        | Any = "square",
        *,
        eta: Literal["anytime", "horizon"] | float = "anytime",
        radius: float | None = None,
        horizon: int | None = None,
        gradient_norm: float | None = None,
        epsilon: float = 0.1,
        fit_intercept: bool = True,
        max_iter: int = 10,
        average: bool = False,
        keep_losses: bool = False,
    ) -> None:
        self.loss = loss
        self.eta = eta
        self.radius = radius
        self.horizon = horizon
        self.gradient_norm = gradient_norm
        self.epsilon = epsilon
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.average = average
        self.keep_losses = keep_losses

    _certificates = ("regret_", "regret_bound_", "comparator_")
    # Steps, also along losses that are not compiled, are the same for both kinds of targets.
    _ball, _rule, _play = property(ball_of), rule_of, play_rows
    regret = regret

    # There is no answer that is simply wrong.
    _conservative = False

    def _plan(self, X, targets):
        self.eta_ = rate_of(self, X, targets)

    def _loss(self):
        if not isinstance(self.loss, str):
            return self.loss
        return {
            "square": _steps.SquaredInsensitive(0.0),
            "absolute": _steps.Insensitive(0.0),
            "epsilon_insensitive": _steps.Insensitive(self.epsilon),
            "squared_epsilon_insensitive": _steps.SquaredInsensitive(self.epsilon),
            "huber": _steps.Huber(self.epsilon),
        }[self.loss]

    def _distinct_targets(self, y):
        return np.unique(y)

    def _certify(self, X, y):
        found = regret_against(self, Hindsight(self, X, y, self.n_iter_), None)
        self.regret_, self.regret_bound_, self.comparator_ = found
