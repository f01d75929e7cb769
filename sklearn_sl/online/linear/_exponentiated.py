"""The exponentiated gradient: weights on a simplex, steps by multiplication."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import assert_all_finite

from sklearn_sl._sklearn import Interval, StrOptions
from sklearn_sl._state import check_shape
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online._protocol import OnlineClassifierMixin, OnlineRegressorMixin
from sklearn_sl.online.linear import _exponentiated_sweeps, _steps
from sklearn_sl.online.linear._linear import (
    as_rows,
    linear_scores,
    look,
)
from sklearn_sl.online.linear._probabilities import LOGISTIC, LogisticProbabilitiesMixin

ETA, _, TOTAL, *_, RATED_VARIATION, PAID, LAST_ETA, N_GRADIENTS = range(
    _exponentiated_sweeps.GRADIENT_TAIL
)


class ExponentiatedMixin:
    """The state of exponentiated gradients and their trials.

    ``_sums``, ``_weights``, ``_masses`` and ``_tails`` have a row for each weight vector; see the
    compiled sweep for what they hold. ``_loss()`` returns the loss.
    """

    regret_: float | None
    linear_regret_: float
    regret_bound_: float
    comparator_: np.ndarray
    n_updates_: int
    converged_: bool
    n_iter_: int

    _mutable = ("_sums", "_weights", "_masses", "_tails")
    _fixed = ("signed", "fit_intercept")
    _certificates = ("regret_", "comparator_")
    # Whether only mistakes are learned from, and whether weight vectors change together.
    _conservative = _together = False
    _compare_grid = {"radius": [1.0, 3.0, 10.0, 30.0, 100.0]}

    @property
    def _width(self):
        return self._n_vectors()

    def _plan(self, X, targets):
        self._first_eta = self._rate(X, targets)

    def _certify(self, X, targets):
        if not self._conservative:
            self._set_comparator(X, targets)

    def _rate(self, X, targets):
        """Return the learning rate of the first trial."""
        if self.eta != "horizon":
            return 0.0 if self.eta == "anytime" else float(self.eta)
        n_trials, gradient = self.horizon, self.gradient_norm
        if targets is None and None in (n_trials, gradient):
            raise ValueError(
                'eta="horizon" requires horizon and gradient_norm to be set when partial_fit is '
                "used."
            )
        if n_trials is None:
            n_trials = X.shape[0] * self.max_iter
        if gradient is None:
            gradient = self._largest_gradient(X, targets)
        n_weights = self._n_weights(self.n_features_in_)
        return float(np.sqrt(2 * np.log(n_weights) / n_trials)) / (gradient or 1.0)

    def _largest_gradient(self, X, targets):
        """Return a bound on the entries of the gradients."""
        values = X.data if sp.issparse(X) else X
        largest = max(
            float(values.max(initial=float(self.fit_intercept))), -float(values.min(initial=0.0))
        )
        if not np.isfinite(largest):
            assert_all_finite(values, estimator_name=type(self).__name__, input_name="X")
        # The slope of a convex loss is largest at one of the ends.
        ends = [
            np.full((len(targets), self._n_vectors()), sign * self.radius * largest)
            for sign in (-1.0, 1.0)
        ]
        slopes = [
            look(self._loss(), *view)[1] for end in ends for view in self._views(end, targets)
        ]
        return float(largest * np.abs(slopes).max())

    def _n_weights(self, n_features):
        """Return the number of weights of a vector; at least two, whose logarithm is not zero."""
        return max(2, (n_features + self.fit_intercept) * (1 + self.signed))

    def _begin(self, X):
        shape = (self._n_vectors(), X.shape[1] + self.fit_intercept)
        self._sums, self._weights = np.zeros(shape), np.zeros(shape)
        self._masses = np.zeros(shape if self.signed else (shape[0], 0))
        self._tails = np.zeros((shape[0], _exponentiated_sweeps.GRADIENT_TAIL))
        self._tails[:, ETA] = self._first_eta
        for state in zip(self._sums, self._weights, self._masses, self._tails, strict=True):
            _exponentiated_sweeps.weigh(*state, self.signed)

    def _check_arrays(self):
        began, n_vectors = self._began_with, self._n_vectors()
        n_weights = self.n_features_in_ + began["fit_intercept"]
        for name in ("_sums", "_weights"):
            check_shape(self, name, (n_vectors, n_weights))
        check_shape(self, "_masses", (n_vectors, n_weights if began["signed"] else 0))
        check_shape(self, "_tails", (n_vectors, _exponentiated_sweeps.GRADIENT_TAIL))

    def _play_one(self, rows, targets, k, scores):
        """Play trials with weight vector ``k``; return how many."""
        return _exponentiated_sweeps.sweep_gradient(
            rows,
            targets,
            self._loss(),
            self._conservative,
            self.eta == "anytime",
            self.signed,
            self.radius,
            np.log(self._n_weights(self.n_features_in_)),
            self._sums[k],
            self._weights[k],
            self._masses[k],
            self._tails[k],
            np.empty((2, self._sums.shape[1])),
            scores,
            k,
        )

    def _n_changes(self):
        return int(self._tails[:, N_GRADIENTS].sum())

    def _finish(self):
        weights = self._weights * (self.radius / self._tails[:, TOTAL, None])
        n_features = self.n_features_in_
        self.coef_, self.intercept_ = weights[:, :n_features], np.zeros(len(weights))
        if self.fit_intercept:
            self.intercept_ = weights[:, n_features]
        self.eta_ = self._tails[:, ETA].copy()
        self.n_updates_ = self._n_changes()
        paid = self._tails[:, PAID] - (self._best_vertices() * self._sums).sum(axis=1)
        self.linear_regret_ = float(paid.sum())
        learned = self._tails[self._tails[:, N_GRADIENTS] > 0]
        log_weights = np.log(self._n_weights(n_features))
        bounds = log_weights / learned[:, LAST_ETA] + learned[:, RATED_VARIATION] / 2
        self.regret_bound_ = float(self.radius * bounds.sum())

    def _best_vertices(self):
        """Return for each vector the weights that go best with all gradients."""
        rows = np.arange(len(self._sums))
        best = (np.abs(self._sums) if self.signed else -self._sums).argmax(axis=1)
        vertices = np.zeros(self._sums.shape)
        signs = -np.sign(self._sums[rows, best]) if self.signed else 1.0
        vertices[rows, best] = self.radius * signs
        return vertices

    def _set_comparator(self, X, targets):
        """Set the regret relative to the last weights, or to the best single features."""
        last = self._weights * (self.radius / self._tails[:, TOTAL, None])
        candidates = [last, self._best_vertices()]
        losses = np.array([self._losses_of(weights, X, targets) for weights in candidates])
        best = losses.argmin(axis=0)
        self.comparator_ = np.where(best[:, None] == 0, *candidates)
        self.regret_ = self.cumulative_loss_ - self.n_iter_ * float(losses.min(axis=0).sum())

    def _losses_of(self, weights, X, targets):
        """Return the loss of each vector in one pass."""
        constant = weights[:, -1] if self.fit_intercept else 0.0
        scores = linear_scores(X, weights[:, : X.shape[1]], constant)
        return [look(self._loss(), *view)[0].sum() for view in self._views(scores, targets)]

    def _scores(self, X):
        return linear_scores(X, np.atleast_2d(self.coef_), self.intercept_)

    def _losses(self, scores, targets):
        return sum(look(self._loss(), *view)[0] for view in self._views(scores, targets))

    def _play(self, X, targets):
        rows, scores = as_rows(X), np.empty((len(targets), self._n_vectors()))
        played = [
            self._play_one(rows, target, k, scores)
            for k, (_, target) in enumerate(self._views(scores, targets))
        ]
        return scores, min(played)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@paragraphs
class ExponentiatedGradientClassifier(
    EstimatorMixin,
    ExponentiatedMixin,
    LogisticProbabilitiesMixin,
    OnlineClassifierMixin,
    ClassifierMixin,
    BaseEstimator,
):
    """Linear classification by the exponentiated gradient, EG and EG+-.

    The answer to a sample is the score ``s = w.x``; for the targets ``y = -1, 1`` of the two
    classes a loss ``l(s)`` is paid, with the gradient ``g = l'(s) x``. With the sum ``G`` of all
    gradients so far, the weights of EG+- are::

        w_i = U (exp(-eta G_i) - exp(eta G_i)) / sum_j (exp(-eta G_j) + exp(eta G_j))

    so that ``||w||_1 <= U``: ``signed=True``. Those of EG are
    ``w_i = U exp(-eta G_i) / sum_j exp(-eta G_j)``, all positive with the sum ``U``:
    ``signed=False``. A step multiplies a weight by ``exp(-eta g_i)``. ``partial_fit`` goes through
    its rows once, in their order, and any partition into blocks gives the same weights to the last
    bit. ``fit`` starts from scratch and passes over the rows until a pass has no gradient.

    **The theorem.** For every ``u`` with ``||u||_1 <= U`` (for EG, ``u >= 0`` with the sum ``U``),
    and ``n`` weights, which is twice the number of features for EG+-, the losses satisfy::

        sum_t l_t(w_t.x_t) - l_t(u.x_t) <= sum_t g_t.(w_t - u)
                                        <= U ln(n) / eta + U / 2 sum_t eta ||g_t||^2

    with the largest entry of a gradient as its norm. The last line is ``regret_bound_``; it depends
    on the largest feature and the logarithm of their number, so that few relevant features are
    found among many. The largest of the sums in the middle, over all ``u``, is ``linear_regret_``:
    no weights at all have a total loss less than ``cumulative_loss_ - linear_regret_``.

    **The learning rate.** "horizon" is ``eta = sqrt(2 ln(n) / (m X^2))`` for ``m`` trials with
    gradients up to ``X``, which ``fit`` knows beforehand: the regret is at most
    ``U X sqrt(2 m ln(n))``. "anytime" is ``eta_t = sqrt(ln(n) / V_t)``, where ``V_t`` is the sum of
    the squared largest entries of the gradients so far, or up to a quarter more; it need not know
    anything.

    Parameters
    ----------
    loss : {"hinge", "logistic", "log_loss", "square"}, default="hinge"
        ``max(0, 1 - y s)``, ``ln(1 + exp(-y s))`` ("log_loss" is scikit-learn's name of "logistic")
        or ``(y - s)^2``. The logistic loss has :meth:`predict_proba`.

    radius : float, default=1.0
        The sum ``U`` of all weights.

    eta : {"anytime", "horizon"} or float, default="anytime"
        The learning rate.

    signed : bool, default=True
        Whether there are weights of both signs (EG+-), or only positive ones (EG).

    horizon : int or None, default=None
        The number of trials that "horizon" reckons with. None: those of ``fit``.

    gradient_norm : float or None, default=None
        The largest entry of a gradient that "horizon" reckons with. None: ``fit`` finds a bound.

    fit_intercept : bool, default=True
        Whether there is one more feature, which is always one. Its weight is one of those with the
        sum ``U``.

    conservative : bool, default=False
        Whether to learn only from mistakes, ``y s <= 0``. With the hinge loss and a number as
        ``eta`` these are the mistakes of the balanced :class:`Winnow` with ``alpha=exp(eta)``. The
        theorem is then about these trials alone.

    max_iter : int, default=10
        The largest number of passes of ``fit``.

    {keep_losses}

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; for more than two classes, of each class against all others.

    {intercept}

    {classes}

    eta_ : ndarray of shape (1,) or (n_classes,)
        The learning rate of the next trial; zero if it is "anytime" and there was no gradient.

    {n_mistakes_of_passes}

    cumulative_loss_ : float
        The sum of the losses of all trials, and of all classes if there are more than two.

    {loss_curve}

    regret_ : float or None
        ``cumulative_loss_`` minus the loss of ``comparator_``. None if ``conservative``, and after
        ``partial_fit``, which does not keep its samples.

    linear_regret_ : float
        The largest sum of ``g_t.(w_t - u)`` over all ``u``, not less than the regret against any
        comparator; the sum for all classes if there are more than two.

    regret_bound_ : float
        The theorem's bound on both.

    comparator_ : ndarray of shape (n_vectors, n_weights) or None
        The last weights, or those with a single feature that go best with the gradients, whatever
        has less loss in hindsight; the intercept is in the last column. None where ``regret_`` is.

    {n_trials}

    n_updates_ : int
        The number of trials with a gradient, for each class if there are more than two.

    converged_ : bool
        Whether the last pass of ``fit`` had no gradient.

    {n_iter}

    {features_in}

    See Also
    --------
    ExponentiatedGradientRegressor : For targets that are numbers.
    Winnow : Multiplicative updates without normalisation.
    sklearn_sl.theory.exponentiated_gradient_bound : The theorem.

    References
    ----------
    .. [1] J. Kivinen and M. Warmuth, "Exponentiated gradient versus gradient descent for linear
       predictors", Information and Computation 132, 1997.

    .. [2] S. Shalev-Shwartz, "Online learning and online convex optimization", Foundations and
       Trends in Machine Learning 4, 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from sklearn_sl.online import ExponentiatedGradientClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ExponentiatedGradientClassifier(radius=5.0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.95
    True
    >>> model.regret_ <= model.linear_regret_ <= model.regret_bound_
    True
    """

    coef_: Any
    intercept_: Any
    eta_: Any

    _parameter_constraints = {
        "loss": [StrOptions({"hinge", *LOGISTIC, "square"})],
        "radius": [Interval(Real, 0, None, closed="neither")],
        "eta": [StrOptions({"anytime", "horizon"}), Interval(Real, 0, None, closed="neither")],
        "signed": ["boolean"],
        "horizon": [Interval(Integral, 1, None, closed="left"), None],
        "gradient_norm": [Interval(Real, 0, None, closed="neither"), None],
        "fit_intercept": ["boolean"],
        "conservative": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "keep_losses": ["boolean"],
    }

    def __init__(
        self,
        *,
        loss: Literal["hinge", "logistic", "log_loss", "square"] = "hinge",
        radius: float = 1.0,
        eta: Literal["anytime", "horizon"] | float = "anytime",
        signed: bool = True,
        horizon: int | None = None,
        gradient_norm: float | None = None,
        fit_intercept: bool = True,
        conservative: bool = False,
        max_iter: int = 10,
        keep_losses: bool = False,
    ) -> None:
        self.loss = loss
        self.radius = radius
        self.eta = eta
        self.signed = signed
        self.horizon = horizon
        self.gradient_norm = gradient_norm
        self.fit_intercept = fit_intercept
        self.conservative = conservative
        self.max_iter = max_iter
        self.keep_losses = keep_losses

    _for_probabilities = 'loss="log_loss" and conservative=False'

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # Only some classes are monotone in all features.
        tags.classifier_tags.poor_score = not self.signed
        return tags

    @property
    def _conservative(self):
        return self.conservative

    def _loss(self):
        kinds = {
            "hinge": _steps.Hinge,
            **dict.fromkeys(LOGISTIC, _steps.Logistic),
            "square": _steps.SquaredInsensitive,
        }
        return kinds[self.loss]()


@paragraphs
class ExponentiatedGradientRegressor(
    EstimatorMixin,
    ExponentiatedMixin,
    OnlineRegressorMixin,
    RegressorMixin,
    BaseEstimator,
):
    """Linear regression by the exponentiated gradient, EG and EG+-.

    The answer to a sample is ``s = w.x``; a loss ``l(s)`` is paid, with the gradient
    ``g = l'(s) x``. With the sum ``G`` of all gradients so far, the weights of EG+- are::

        w_i = U (exp(-eta G_i) - exp(eta G_i)) / sum_j (exp(-eta G_j) + exp(eta G_j))

    so that ``||w||_1 <= U``: ``signed=True``. Those of EG are positive with the sum ``U``, a
    mixture of the features: ``signed=False``. The theorem and the learning rates are those of
    :class:`ExponentiatedGradientClassifier`: the sum of the losses exceeds that of any weights with
    ``||u||_1 <= U`` by at most ``linear_regret_ <= regret_bound_``.

    Parameters
    ----------
    loss : {"square", "absolute"}, default="square"
        ``(y - s)^2`` or ``|y - s|``.

    radius : float, default=1.0
        The sum ``U`` of all weights. Choose it: with too small a radius the weights cannot reach
        the targets.

    eta : {"anytime", "horizon"} or float, default="anytime"
        The learning rate.

    signed : bool, default=True
        Whether there are weights of both signs (EG+-), or only positive ones (EG).

    horizon : int or None, default=None
        The number of trials that "horizon" reckons with. None: those of ``fit``.

    gradient_norm : float or None, default=None
        The largest entry of a gradient that "horizon" reckons with. None: ``fit`` finds a bound.

    fit_intercept : bool, default=True
        Whether there is one more feature, which is always one. Its weight is one of those with the
        sum ``U``.

    max_iter : int, default=10
        The largest number of passes of ``fit``.

    {keep_losses}

    Attributes
    ----------
    {coef_of_one}

    {intercept_of_one}

    eta_ : ndarray of shape (1,)
        The learning rate of the next trial; zero if it is "anytime" and there was no gradient.

    cumulative_loss_ : float
        The sum of the losses of all trials.

    {loss_curve}

    regret_ : float or None
        ``cumulative_loss_`` minus the loss of ``comparator_``. None after ``partial_fit``, which
        does not keep its samples.

    linear_regret_ : float
        The largest sum of ``g_t.(w_t - u)`` over all ``u``, not less than the regret against any
        comparator.

    regret_bound_ : float
        The theorem's bound on both.

    comparator_ : ndarray of shape (1, n_weights) or None
        The last weights, or those with a single feature that go best with the gradients, whatever
        has less loss in hindsight; the intercept is in the last column. None where ``regret_`` is.

    {n_trials}

    n_updates_ : int
        The number of trials with a gradient.

    converged_ : bool
        Whether the last pass of ``fit`` had no gradient.

    {n_iter}

    {features_in}

    See Also
    --------
    ExponentiatedGradientClassifier : For classes.
    sklearn_sl.theory.exponentiated_gradient_bound : The theorem.

    References
    ----------
    .. [1] J. Kivinen and M. Warmuth, "Exponentiated gradient versus gradient descent for linear
       predictors", Information and Computation 132, 1997.

    Examples
    --------
    Three relevant features among a thousand:

    >>> import numpy as np
    >>> from sklearn_sl.online import ExponentiatedGradientRegressor
    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], size=(2000, 1000))
    >>> y = X[:, 0] - X[:, 1] + 2 * X[:, 2]
    >>> model = ExponentiatedGradientRegressor(radius=4.0).fit(X, y)
    >>> model.coef_[:3].round(1), model.regret_ <= model.linear_regret_ <= model.regret_bound_
    (array([ 1., -1.,  2.]), True)
    """

    coef_: np.ndarray
    intercept_: np.ndarray
    eta_: np.ndarray

    _parameter_constraints = {
        "loss": [StrOptions({"square", "absolute"})],
        "radius": [Interval(Real, 0, None, closed="neither")],
        "eta": [StrOptions({"anytime", "horizon"}), Interval(Real, 0, None, closed="neither")],
        "signed": ["boolean"],
        "horizon": [Interval(Integral, 1, None, closed="left"), None],
        "gradient_norm": [Interval(Real, 0, None, closed="neither"), None],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "keep_losses": ["boolean"],
    }

    def __init__(
        self,
        *,
        loss: Literal["square", "absolute"] = "square",
        radius: float = 1.0,
        eta: Literal["anytime", "horizon"] | float = "anytime",
        signed: bool = True,
        horizon: int | None = None,
        gradient_norm: float | None = None,
        fit_intercept: bool = True,
        max_iter: int = 10,
        keep_losses: bool = False,
    ) -> None:
        self.loss = loss
        self.radius = radius
        self.eta = eta
        self.signed = signed
        self.horizon = horizon
        self.gradient_norm = gradient_norm
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.keep_losses = keep_losses

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # The default radius cannot reach large targets.
        tags.regressor_tags.poor_score = True
        return tags

    def _loss(self):
        return _steps.SquaredInsensitive() if self.loss == "square" else _steps.Insensitive()

    def _finish(self):
        super()._finish()
        self.coef_ = self.coef_[0]
