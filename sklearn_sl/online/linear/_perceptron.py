"""The perceptron, with the account that its theorem speaks of."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from sklearn_sl._sklearn import Interval, StrOptions
from sklearn_sl._threads import blas_threads_for
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online._protocol import OnlineClassifierMixin
from sklearn_sl.online.linear import _passes, _steps
from sklearn_sl.online.linear._linear import LinearMixin
from sklearn_sl.online.linear._votes import Ancestors  # noqa: F401  where older models look for it
from sklearn_sl.theory._perceptron import best_perceptron_bound


@paragraphs
class Perceptron(
    EstimatorMixin, LinearMixin, OnlineClassifierMixin, ClassifierMixin, BaseEstimator
):
    """Perceptron, with its mistakes and the bound on their number.

    For two classes ``y = -1, 1`` a trial scores a sample by ``s = w.x + b``. If ``y s <= 0``, a
    mistake, ``(w, b)`` becomes ``(w, b) + eta0 y (x, 1)``; otherwise it stays. Weights begin at
    zero, so that the first trial is always a mistake, and ``eta0`` scales scores but changes no
    prediction. ``partial_fit`` goes through its rows once, in their order, and any partition into
    blocks gives the same weights to the last bit. ``fit`` starts from scratch and passes over the
    rows until a pass is clean, or no longer pays.

    **The theorem.** For every ``u`` (with the intercept) and its hinge loss ``D`` on the trials,
    the number ``M`` of mistakes satisfies ``M <= D + R ||u|| sqrt(M)``, where ``R`` is the largest
    norm of ``(x, 1)``: Novikoff's ``(R / gamma)^2`` if ``u`` separates the classes. ``bound_`` is
    the least such bound among the multiples of the weights that were found, ``comparator_`` is
    that multiple; :meth:`mistake_bound` computes it for other samples, or another comparator.

    **Multi-class.** ``multi_class="ovr"`` is scikit-learn's: one perceptron for each class against
    all others. "kesler" adds the sample to the weights of its class and subtracts it from those
    of the best other class, which is a perceptron too, on vectors that hold the sample twice.

    **As scikit-learn's.** A change of the import line: parameters and attributes are those of
    ``sklearn.linear_model.Perceptron``, and for dense samples without shuffling so are the
    weights. Different are: ``partial_fit`` never shuffles; the order of a shuffled pass follows
    from what the rows hold, so that an integer ``sample_weight`` is so many copies of a row, each
    at a random place (a fraction is a shorter step); a clean pass ends the fit, unless there is a
    penalty; sparse samples have the same intercept as dense ones.

    **Penalties.** With a penalty the trials are stochastic gradient descent on the mean loss
    ``max(0, -y s)`` plus ``alpha`` times ``||w||^2 / 2`` ("l2"), ``||w||_1`` ("l1") or
    ``(1 - l1_ratio) ||w||^2 / 2 + l1_ratio ||w||_1`` ("elasticnet"). After each trial, with a
    mistake or without, the weights are multiplied by one minus ``eta0 alpha``, or pulled towards
    zero by ``eta0 alpha``, but never beyond it, so that some are exactly zero (the cumulative
    penalty [3]_; for sparse samples a weight pays it when its feature occurs). The intercept has no
    penalty. The theorem does not hold then, and there is no ``bound_``.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None, default=None
        The penalty of large weights, with more than two classes only for ``multi_class="ovr"``.

    alpha : float, default=0.0001
        How strong the penalty is.

    l1_ratio : float, default=0.15
        The part of the elastic net that is "l1".

    {fit_intercept}

    {max_iter_1000}

    tol : float or None, default=1e-3
        ``fit`` ends when the mean loss ``max(0, -y s)`` of a pass has not been less than the least
        one before minus ``tol`` for ``n_iter_no_change`` passes; None: never for this reason.

    {shuffle}

    {verbose}

    eta0 : float, default=1.0
        The length of the steps.

    n_jobs : int or None, default=None
        For compatibility: a pass is one thread, as fast as memory is read.

    random_state : int, RandomState instance or None, default=0
        For the orders of the passes and the samples set aside.

    {early_stopping}

    validation_fraction : float, default=0.1
        The share of the samples that are set aside, about the same of each class.

    {n_iter_no_change}

    class_weight : dict, {class_label: weight}, "balanced" or None, default=None
        Factors of the steps along the samples of each class; with "ovr" and more than two classes
        only where the class itself is learned.

    {warm_start}

    average : bool, int or "voted", default=False
        What predicts: the last weights; True: the mean of the weights of all trials; an integer:
        the mean from the trial of this number on; "voted": all weight vectors that there were,
        each with as many votes as it survived trials, that in which it was made included (only
        with "ovr"). It changes predictions, not the trials.

    {multi_class}

    {keep_losses}

    Attributes
    ----------
    {coef}

    {intercept}

    {classes}

    {n_mistakes_of_passes}

    cumulative_loss_ : float
        The sum of the losses ``max(0, -y s)`` of all trials, and classes with "ovr".

    {loss_curve}

    {n_trials}

    n_updates_ : int
        The number of steps; for two classes the number of mistakes.

    {radius}

    bound_ : float or None
        The theorem's bound on ``n_updates_`` (with "ovr" the sum of the bounds of all classes)
        relative to ``comparator_``. None after ``partial_fit``, which does not keep its samples,
        and if there is a penalty, weights of samples or classes, or weights to begin with; see
        :meth:`mistake_bound`.

    comparator_ : ndarray of shape (n_vectors, n_features + 1) or None
        Multiples of the last weights, with the intercept in the last column; zeros where no
        multiple gives less than the number of trials.

    {passes}

    See Also
    --------
    sklearn_sl.theory.perceptron_bound : The theorem.

    References
    ----------
    .. [1] F. Rosenblatt, "The perceptron: a probabilistic model for information storage and
       organization in the brain", Psychological Review 65, 1958.

    .. [2] Y. Freund and R. Schapire, "Large margin classification using the perceptron
       algorithm", Machine Learning 37, 1999.

    .. [3] Y. Tsuruoka, J. Tsujii and S. Ananiadou, "Stochastic gradient descent training for
       L1-regularized log-linear models with cumulative penalty", ACL 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_sl.online import Perceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> model = Perceptron(fit_intercept=False, tol=None).fit(X, y == 0)
    >>> model.converged_, model.n_mistakes_ <= model.bound_
    (True, True)
    """

    coef_: Any
    intercept_: Any
    n_mistakes_: int
    bound_: float | None

    _parameter_constraints = {
        **_passes.CLASSIFIER_CONSTRAINTS,
        "penalty": [StrOptions({"l2", "l1", "elasticnet"}), None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "eta0": [Interval(Real, 0, None, closed="neither")],
        "average": [
            "boolean",
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"voted"}),
        ],
    }
    # Without a penalty there is nothing to tune.
    _compare_grid = {}

    _free = _passes.FREE_IN_PASSES | {"alpha", "eta0", "l1_ratio", "penalty"}

    def __init__(
        self,
        *,
        penalty: Literal["l2", "l1", "elasticnet"] | None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, Any] | str | None = None,
        warm_start: bool = False,
        average: bool | int | str = False,
        multi_class: Literal["ovr", "kesler"] = "ovr",
        keep_losses: bool = False,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
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
    _mutable = ("_state", "_ancestors")
    # As in scikit-learn: all others, together, are no class.
    _weighs_own_class_only = True

    def _check_options(self):
        if self.multi_class == "kesler":
            for name, given in (("average", self.average == "voted"), ("penalty", self.penalty)):
                if given:
                    raise ValueError(
                        f'{name}="{getattr(self, name)}" requires multi_class="ovr"; got '
                        'multi_class="kesler".'
                    )
        if self.penalty is not None and self.average == "voted":
            raise ValueError(
                f'average="voted" requires penalty=None; got penalty="{self.penalty}".'
            )
        # The share of the penalty on absolute values; the rest is on squares.
        share = {None: 0.0, "l2": 0.0, "l1": 1.0, "elasticnet": self.l1_ratio}[self.penalty]
        strength = self.eta0 * self.alpha if self.penalty is not None else 0.0
        self._penalty = max(0.0, 1.0 - (1.0 - share) * strength), share * strength

    def _loss(self):
        return _steps.Hinge(0.0, steep=True)

    def _rule(self):
        return _steps.FixedRate(self.eta0)

    def _best_bound(self, margins, norm, norms, repeats):
        return best_perceptron_bound(margins, norms[1], norm, repeats)

    def _scores(self, X):
        if self.average != "voted":
            return super()._scores(X)
        with blas_threads_for(X):
            votes = [ancestors.votes(X, self.fit_intercept) for ancestors in self._ancestors]
        return np.stack(votes, axis=1)
