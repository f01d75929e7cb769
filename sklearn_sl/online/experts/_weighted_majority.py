"""The weighted majority of experts."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from sklearn_sl._sklearn import Interval
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online.experts._expert_weights import ExponentialState, LimitState
from sklearn_sl.online.experts._experts import EXPERT_CONSTRAINTS, ExpertsClassifierMixin
from sklearn_sl.theory._experts import weighted_majority_bound

if TYPE_CHECKING:
    from sklearn_sl._typing import MatrixLike

# Classes whose weights differ by no more than this have the same.
TIE = 1e-12
# What all learners of this kind have among their parameters.
VOTE_CONSTRAINTS = {
    **EXPERT_CONSTRAINTS,
    "randomized": ["boolean"],
    "threshold": [Interval(Real, None, None, closed="neither")],
    "random_state": ["random_state"],
}


@paragraphs
class WeightedMajority(EstimatorMixin, ExpertsClassifierMixin, ClassifierMixin, BaseEstimator):
    """Weighted majority vote of experts: the weights of experts that were wrong decrease.

    In a trial the row of ``X`` is the advice of ``n`` experts, each of them a class. The answer is
    the class whose experts have the largest weight together. Then the weights of all experts that
    were wrong are multiplied by ``beta``, whether or not the answer was.

    **The theorem.** If the best expert makes ``M*`` mistakes, the learner makes at most
    ``(ln(1/beta) M* + ln(n)) / ln(2 / (1 + beta))``, for any number of classes; with
    ``beta = 1/e`` that is ``2.63 (M* + ln(n))``. No learner that is not random can have less than
    twice the mistakes of the best expert. With ``randomized=True`` an expert is drawn by weight and
    followed, and the *expected* number is at most ``(ln(1/beta) M* + ln(n)) / (1 - beta)``.

    **Advice.** A number ``x`` is the class in place ``floor(x - threshold) + 1``, for two classes
    the second one if ``x >= threshold``. NaN is an expert that abstains: it has no vote, and keeps
    the ratio of its weight to that of the others. With ``beta = 0`` this is the limit of small
    ``beta``: the experts with the fewest mistakes vote, each with a weight that has fallen as much
    as that of the others while it abstained.

    **Ties** go to the larger class, also if all experts abstain. Weights that differ by less than
    1e-12 of all are equal.

    Parameters
    ----------
    estimators : list of estimators or of (name, estimator), default=None
        The experts, which are asked about the samples ``X``: classifiers, or regressors whose
        numbers are read as above. None: the columns of ``X`` are the advice.

    beta : float, default=1/e
        The factor, at least zero and below one. With zero the experts with the fewest mistakes
        vote: the halving algorithm, as long as one of them has made none, and no one abstains.

    randomized : bool, default=False
        Whether the learner follows an expert drawn by weight in its trials. ``predict`` answers by
        the majority in any case.

    threshold : float, default=0.5
        Where the classes that numbers stand for begin.

    {prefit}

    {block_size}

    {random_state}

    {keep_losses}

    {keep_weights}

    Attributes
    ----------
    {classes}

    weights_ : ndarray of shape (n_experts,)
        The weights, divided by their sum.

    {log_weights}

    {weight_curve}

    {n_mistakes}

    expected_mistakes_ : float
        The sum of the weights of the wrong experts in all trials: what a learner expects that draws
        them.

    bound_ : float
        The theorem's bound on ``n_mistakes_``, or on ``expected_mistakes_`` if ``randomized``,
        relative to ``best_expert_``. If an expert abstained, its mistakes are those in the other
        trials, and the learner's own while it abstained are added.

    best_expert_ : int
        The expert for which the bound is least.

    expert_losses_ : ndarray of shape (n_experts,)
        The number of mistakes of each expert in the trials in which it did not abstain.

    regret_ : float
        The mistakes of the learner minus those of the best expert, in the trials in which it did
        not abstain; if ``randomized`` the expected ones.

    {cumulative_loss}

    {loss_curve_of_mistakes}

    {trials_and_experts}

    See Also
    --------
    Halving : The experts that were never wrong.
    Hedge : Chooses its factor by itself.
    sklearn_sl.theory.weighted_majority_bound : The theorem.

    References
    ----------
    .. [1] N. Littlestone and M. Warmuth, "The weighted majority algorithm", Information and
       Computation 108, 1994.

    Examples
    --------
    A hundred experts, of which one is right in 95 of 100 trials, the others in half of them:

    >>> import numpy as np
    >>> from sklearn_sl.online import WeightedMajority
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 1000)
    >>> wrong = rng.random((1000, 100)) < np.append(0.05, np.full(99, 0.5))
    >>> model = WeightedMajority().fit(np.where(wrong, 1 - y[:, None], y[:, None]), y)
    >>> model.n_mistakes_, int(model.expert_losses_[0]), round(model.bound_)
    (53, 46, 133)
    """

    best_expert_: int
    regret_: float
    bound_: float

    _parameter_constraints = {
        **VOTE_CONSTRAINTS,
        "beta": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        estimators: Any = None,
        *,
        beta: float = 1 / np.e,
        randomized: bool = False,
        threshold: float = 0.5,
        prefit: bool = False,
        block_size: int = 1,
        random_state: int | np.random.RandomState | None = None,
        keep_losses: bool = False,
        keep_weights: bool = False,
    ) -> None:
        self.estimators = estimators
        self.beta = beta
        self.randomized = randomized
        self.threshold = threshold
        self.prefit = prefit
        self.block_size = block_size
        self.random_state = random_state
        self.keep_losses = keep_losses
        self.keep_weights = keep_weights

    _tie = TIE

    def _new_state(self, n_experts):
        if self.beta == 0:
            return LimitState(n_experts)
        return ExponentialState(n_experts, -np.log(self.beta))

    def votes(self, X: MatrixLike) -> np.ndarray:
        """Return the weights of the experts that say each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The advice of the experts; NaN where they abstain. With ``estimators``, samples.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_classes)
            The weights, which sum to one; the same for all classes if all experts abstain.
        """
        return self._answers(X)[:, :-1]

    def _absent_losses(self, answers, codes):
        if self.randomized:
            return self._expected_losses(answers, codes)
        return self._mistaken(answers, codes).astype(np.float64)

    def _certify(self):
        bounds = self._state.absent + weighted_majority_bound(
            np.maximum(self.expert_losses_, 0), self._state.n_experts, self.beta, self.randomized
        )
        self.best_expert_ = int(bounds.argmin())
        self.bound_ = float(bounds[self.best_expert_])
        mistakes = self.expected_mistakes_ if self.randomized else self.n_mistakes_
        present = mistakes - self._state.absent[self.best_expert_]
        self.regret_ = float(present - self.expert_losses_[self.best_expert_])
