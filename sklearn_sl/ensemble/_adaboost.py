"""AdaBoost for classification, with the numbers that its theorems speak of."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.extmath import softmax
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._rows import n_rows
from sklearn_sl._sklearn import StrOptions, check_sample_weight, fit_context
from sklearn_sl._warnings import warn
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.ensemble import _rounds
from sklearn_sl.ensemble._base_estimators import class_codes, class_fitter, read_for
from sklearn_sl.ensemble._boosting import BoostingMixin, Rounds, Validation
from sklearn_sl.ensemble._paragraphs import inserted
from sklearn_sl.ensemble._weights import BoostedWeights
from sklearn_sl.tree import DecisionTreeClassifier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sklearn_sl._typing import ArrayLike, MatrixLike


# The logarithm of a factor beside which weights do not count: two times the digits of float64.
MOST_STRENGTH = -2 * np.log(np.finfo(np.float64).eps)


class Bound:
    """Looks at the bound of the training error."""

    def __init__(self, certificates):
        self.certificates = certificates
        self.least_share = certificates.first_mass.min() / certificates.all_mass

    def look(self, state):
        """Return "bound" if no sample can be wrong any more."""
        return "bound" if self.certificates.bound < self.least_share else None


class Votes:
    """The weighted votes of the base estimators for the classes of some samples.

    For two classes ``table`` is the weight of the votes for the second class minus that for the
    first; otherwise it has a column for each class.
    """

    def __init__(self, n_samples, n_classes):
        self.n_classes, self.total = n_classes, 0.0
        self.table = np.zeros(n_samples if n_classes == 2 else (n_samples, n_classes))
        self.first = np.zeros(n_samples, dtype=np.int32)

    def add(self, codes, strength):
        """Add the votes of a base estimator."""
        self.total += strength
        if self.n_classes == 2:
            _rounds.vote(self.table, codes.astype(np.int8, copy=False), strength)
        else:
            codes = codes.astype(np.int32, copy=False)
            _rounds.vote_among(self.table, codes, strength, self.first)

    def codes(self):
        """Return the classes with the most votes, the first one among equals."""
        return self.table > 0 if self.n_classes == 2 else self.first

    def decision(self):
        """Return the votes as scikit-learn does: against all others, as shares of all votes."""
        if self.n_classes == 1:
            return np.zeros((len(self.table), 1))
        if self.n_classes == 2:
            return 2 * self.table / self.total
        others = self.n_classes - 1
        return (1 + 1 / others) * (self.table / self.total) - 1 / others

    def margins(self, codes):
        """Return by what share of the votes the true class is ahead of the best other one."""
        if self.n_classes == 1:
            return np.ones(len(self.table))
        if self.n_classes == 2:
            return np.where(codes, self.table, -self.table) / self.total
        rows = np.arange(len(codes))
        others = self.table.copy()
        others[rows, codes] = -np.inf
        return (self.table[rows, codes] - others.max(axis=1)) / self.total


class Certificates:
    """The votes for the training samples, with the normalisers, the errors and their bound.

    ``codes`` are the classes of the samples; errors are weighted as the samples are at first.
    """

    def __init__(self, codes, n_classes, weights):
        self.codes, self.first_mass, self.all_mass = codes, weights.mass, weights.total
        self.votes, self.bound = Votes(len(codes), n_classes), 1.0
        self.normalizers, self.training_errors = [], []

    def add(self, answers, strength, error):
        """Add a base estimator, by its answers, its weight and its weighted error."""
        self.votes.add(answers, strength)
        half = strength / 2
        # With a perfect estimator the weight could be any: its infimum is what the theorem is
        # about.
        with np.errstate(over="ignore"):  # of a learning rate beyond all reason
            z = error and (1 - error) * np.exp(-half) + error * np.exp(half)
        self.normalizers.append(float(z))
        self.bound *= self.normalizers[-1]
        wrong = self.votes.codes() != self.codes
        mass = _rounds.weight_of(self.first_mass, wrong.view(np.uint8))
        self.training_errors.append(mass / self.all_mass)


@inserted
class AdaBoostClassifier(EstimatorMixin, BoostingMixin, ClassifierMixin, BaseEstimator):
    """AdaBoost for classification (SAMME), with certificates, on columns that are sorted once.

    Round ``t`` fits a base estimator ``h_t`` to the samples under the weights ``D_t``. Its weighted
    error ``eps_t`` gives it the weight ``a_t = learning_rate * (log((1 - eps_t) / eps_t) + log(K -
    1))`` for ``K`` classes; the weights of the samples that it gets wrong are multiplied by
    ``exp(a_t)``, and the class with the largest sum of ``a_t`` wins the vote. This minimises the
    mean of ``exp(-y f(x))`` stage by stage, where ``f = sum_t alpha_t h_t`` for two classes -1 and
    +1.

    **The factor of two.** The textbook's ``alpha_t = 1/2 log((1 - eps_t) / eps_t)`` is half of
    ``estimator_weights_``, which follow scikit-learn. Votes and normalised margins are the same.

    **Certificates.** The training error is at most the mean of ``exp(-y f)``, which is the product
    of the normalisers ``Z_t = (1 - eps_t) exp(-a_t / 2) + eps_t exp(a_t / 2)``; for two classes and
    ``learning_rate=1`` that is ``2 sqrt(eps_t (1 - eps_t))``. ``training_bound_`` has the product
    after each round, next to ``training_errors_``. For more classes the bound holds too (a
    misclassified sample has at least half of the votes against it), but may exceed one.
    ``margins_`` tells how large the majority is for each sample.

    **Base estimators.** Any classifier that takes ``sample_weight``. For the trees and stumps of
    this package the columns are sorted once and a round is one pass over them, for one split a few
    additions per value. Ties apart, the base estimators are those that scikit-learn finds.

    **When a round fails.** A perfect base estimator, ``eps = 0``, would have infinite weight:
    boosting stops, and the base estimator gets a weight that outvotes all others (scikit-learn
    gives it 1, and others may outvote it). A base estimator no better than chance, ``eps >= 1 -
    1/K``, is dropped, and boosting stops, because the same weights would give the same base
    estimator again; where base estimators are random, ``retries`` lets them try again. If it is the
    first one, a ValueError says so. ``stop_reason_`` tells which of these ended the fit.

    Integer weights are exactly repeated samples, and the order of the samples does not matter: the
    weights have common units in which sums are exact.

    Parameters
    ----------
    estimator : estimator, default=None
        The base estimator to be boosted; None is a :class:`~sklearn_sl.tree.DecisionTreeClassifier`
        with one split.

    {rounds}

    random_state : int, RandomState instance or None, default=None
        For base estimators that are random, and for the samples that are set aside for validation.

    early_stopping : {"validation", "bound"} or None, default=None
        "validation" sets samples aside and stops when their error has not decreased for
        ``n_iter_no_change`` rounds; the base estimators up to the best round are kept. "bound"
        stops when the training bound is less than the share of every sample, so that none can be
        wrong.

    validation_fraction : float, default=0.1
        The share of the samples that are set aside, by class.

    {patience}

    retries : int, default=0
        How many base estimators in a row may be no better than chance, before the fit ends.

    {boosting_warm_start}

    n_jobs : int, default=None
        The threads that share the features among them, for base estimators of this package. None is
        one unless in a :obj:`joblib.parallel_backend` context.
        The result does not depend on it.

    Attributes
    ----------
    {estimator}

    estimators_ : list of classifiers
        The base estimators.

    estimator_weights_ : ndarray of shape (n_rounds,)
        Their weights ``a_t``, twice the textbook's ``alpha_t``.

    estimator_errors_ : ndarray of shape (n_rounds,)
        Their weighted errors ``eps_t``.

    edge_ : ndarray of shape (n_rounds,)
        By how much they are better than a coin, ``1/2 - eps_t``.

    normalizers_ : ndarray of shape (n_rounds,)
        ``Z_t``.

    training_bound_ : ndarray of shape (n_rounds,)
        The product of the normalisers after each round, which no training error exceeds.

    training_errors_ : ndarray of shape (n_rounds,)
        The weighted training error of the ensemble after each round.

    margins_ : ndarray of shape (n_samples,)
        For each training sample the share of the votes for its class minus that for the best other
        class; NaN for samples of weight zero, or set aside.

    {validation_errors}

    stop_reason_ : str
        "n_estimators", "perfect", "weak" (no better than chance), "validation", "bound" or
        "callback".

    {classes_attribute}

    n_classes_ : int
        Their number.

    {boosted_importances}

    {boosted_features_in}

    See Also
    --------
    sklearn.ensemble.AdaBoostClassifier : Sorts the samples again in every round.
    ForwardStagewiseClassifier : Other losses than the exponential one.
    sklearn_sl.theory.adaboost_bound : The bound as a function of the errors.
    sklearn_sl.inspection.MarginDisplay : A picture of the margins.

    References
    ----------
    .. [1] Y. Freund and R. Schapire, "A decision-theoretic generalization of on-line learning and
       an application to boosting", Journal of Computer and System Sciences 55, 1997.
    .. [2] R. Schapire, Y. Freund, P. Bartlett and W. S. Lee, "Boosting the margin: a new
       explanation for the effectiveness of voting methods", Annals of Statistics 26, 1998.
    .. [3] J. Zhu, H. Zou, S. Rosset and T. Hastie, "Multi-class AdaBoost", Statistics and Its
       Interface 2, 2009.

    Examples
    --------
    Schapire's toy: three stumps, and no training error is left.

    >>> from sklearn_sl.ensemble import AdaBoostClassifier, DecisionStump
    >>> X = [[1, 5], [2, 3], [3, 2], [4, 6], [4, 7], [5, 9], [6, 5], [6, 7], [8, 5], [8, 8]]
    >>> y = [1, 1, -1, -1, 1, 1, -1, 1, -1, -1]
    >>> model = AdaBoostClassifier(DecisionStump(), n_estimators=3).fit(X, y)
    >>> model.estimator_errors_.round(3), (model.estimator_weights_ / 2).round(3)
    (array([0.3  , 0.214, 0.136]), array([0.424, 0.65 , 0.923]))
    >>> model.training_bound_.round(3), model.training_errors_
    (array([0.917, 0.752, 0.516]), array([0.3, 0.3, 0. ]))
    """

    edge_: np.ndarray
    normalizers_: np.ndarray
    training_bound_: np.ndarray
    training_errors_: np.ndarray
    margins_: np.ndarray
    classes_: np.ndarray
    n_classes_: int

    _default_estimator = partial(DecisionTreeClassifier, max_depth=1)
    _parameter_constraints = {
        **BoostingMixin._parameter_constraints,
        "early_stopping": [StrOptions({"validation", "bound"}), None],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        random_state: int | np.random.RandomState | None = None,
        early_stopping: Literal["validation", "bound"] | None = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 0.0,
        retries: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.retries = retries
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Boost the base estimators.

        Parameters
        ----------
        {training_any_X}

        {class_y}

        {sample_weight}

        Returns
        -------
        {fitted}
        """
        X, y, weight, used = self._read_training_set(X, y, sample_weight)
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        continues = self.warm_start and "estimators_" in vars(self)
        if continues and not np.array_equal(classes, self.classes_):
            raise ValueError(
                "y must have the same classes as in the previous fit when warm_start=True: set "
                "warm_start=False to fit anew."
            )
        self.classes_, self.n_classes_ = classes, len(classes)
        rng, rows, held_out = check_random_state(self.random_state), np.flatnonzero(used), None
        if self.early_stopping == "validation":
            (X, y, weight), held_out, kept = self._set_aside(X, y, weight, rng, stratify=codes)
            rows, codes = rows[kept], codes[kept]
        with class_fitter(self.estimator_, X, y, classes, codes, self.n_jobs) as fitter:
            weights = BoostedWeights(weight, len(y))
            certificates = Certificates(codes, self.n_classes_, weights)
            state = Rounds(fitter, weights, rng, certificates)
            self._boost(state, self._watcher(state, held_out))
            votes = self._votes(state, len(self.estimators_))
        self._keep_certificates(certificates)
        self.margins_ = np.full(len(used), np.nan)
        self.margins_[rows] = votes.margins(codes)
        return self

    def _check_state(self):
        if "n_classes_" in vars(self) and self.n_classes_ != len(self.classes_):
            raise ValueError(
                f"n_classes_ must be {len(self.classes_)}, the number of classes_; got "
                f"{self.n_classes_}."
            )

    def _weigh(self, state, answers, strength):
        certificates = state.certificates
        wrong = answers != certificates.codes
        state.error = error = state.weights.share(wrong)
        if error <= 0:
            # No less than the others together, and one as in scikit-learn if it is alone.
            strength = 1.0 + sum(state.strengths) if strength is None else strength
            certificates.add(answers, strength, error)
            return strength, "perfect"
        if error >= 1 - 1 / self.n_classes_:
            return None, "weak"
        if strength is None:
            odds = np.log((1 - error) / error) + np.log(self.n_classes_ - 1)
            strength = float(self.learning_rate * odds)
            self._warn_of_infinite_weights(state, strength)
        certificates.add(answers, strength, error)
        state.weights.multiply(wrong, strength, error)
        return strength, None

    def _warn_of_infinite_weights(self, state, strength):
        """Warn once if weights become so large that the others do not count beside them."""
        if strength > MOST_STRENGTH >= max(state.strengths, default=0.0):
            warn(
                "Sample weights have reached infinite values compared with those of the other "
                f"samples, at iteration {len(state.estimators)}: the others are kept at the least "
                "weight that float64 can tell from zero. Try lowering the learning rate.",
            )

    def _begin_weakly(self, state, estimator):
        raise ValueError(
            f"The first base estimator of {type(self).__name__} is not better than chance: its "
            f"weighted error is {state.error:.6g}, and guessing gives "
            f"{1 - 1 / self.n_classes_:.6g}. Nothing can be boosted; use a stronger estimator."
        )

    def _watcher(self, state, held_out):
        """Return what looks for a reason to stop after each round; None if nothing does."""
        if self.early_stopping == "bound":
            return Bound(state.certificates)
        if self.early_stopping is None:
            return None
        X, y, weight = held_out
        codes, votes = np.searchsorted(self.classes_, y), Votes(len(y), self.n_classes_)
        n_seen = 0

        def error_after(state):
            nonlocal n_seen
            for estimator, strength in zip(state.estimators[n_seen:], state.strengths[n_seen:]):
                prepared = read_for(self, estimator, X, reset=False)
                votes.add(class_codes(estimator, prepared, self.classes_), strength)
            n_seen = len(state.estimators)
            return np.average(votes.codes() != codes, weights=weight)

        return Validation(error_after, self.n_iter_no_change, self.tol)

    def _keep_certificates(self, certificates):
        last = len(self.estimators_)
        self.edge_ = 0.5 - self.estimator_errors_
        self.normalizers_ = np.array(certificates.normalizers[:last])
        self.training_bound_ = np.cumprod(self.normalizers_)
        self.training_errors_ = np.array(certificates.training_errors[:last])
        self._margin_weight = certificates.first_mass

    def _votes(self, state, n_estimators):
        """Return the votes of the first base estimators for the training samples."""
        if n_estimators == len(state.estimators):
            return state.certificates.votes
        votes = Votes(len(state.certificates.codes), self.n_classes_)
        for estimator, strength in zip(state.estimators[:n_estimators], state.strengths):
            votes.add(state.fitter.answers(estimator), strength)
        return votes

    # ------------------------------------------------------------ margins

    def margins(self, X: MatrixLike, y: ArrayLike) -> np.ndarray:
        """Return by what share of the votes the true class is ahead of the best other one.

        For two classes -1 and +1 that is ``y f(x) / sum_t alpha_t``.

        Parameters
        ----------
        {any_X}

        y : array-like of shape (n_samples,)
            True classes.

        Returns
        -------
        margins : ndarray of shape (n_samples,)
            Numbers between -1, all votes for one wrong class, and 1, all votes for the true one.
        """
        X = self._prepare(X)
        y = np.asarray(y)
        codes = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        if not np.array_equal(self.classes_[codes], y):
            raise ValueError(
                f"y must contain only classes seen in fit, classes_={self.classes_.tolist()}; got "
                f"{np.setdiff1d(y, self.classes_).tolist()} as well."
            )
        *_, votes = self._staged_votes(X)
        return votes.margins(codes)

    def margin_cdf(
        self,
        theta: ArrayLike,
        X: MatrixLike | None = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float | np.ndarray:
        """Return the share of samples whose margin is at most ``theta``.

        This is the first term of the margin bound, see :func:`sklearn_sl.theory.margin_bound`.

        Parameters
        ----------
        theta : float or array-like
            Margins.

        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features), default=None
            Samples; None stands for the training set.

        y : array-like of shape (n_samples,), default=None
            True classes.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples; those of the fit if it is the training set.

        Returns
        -------
        share : float or ndarray
            The shares, as many as there are ``theta``.
        """
        check_is_fitted(self)
        if (X is None) != (y is None):
            raise ValueError("X and y must both be given, or both be None for the training set.")
        if X is None:
            margins, weight = self.margins_[~np.isnan(self.margins_)], self._margin_weight
        else:
            margins = self.margins(X, y)
            weight = check_sample_weight(sample_weight, margins, dtype=np.float64)
            weight = np.ones(len(margins)) if weight is None else weight
        order = np.argsort(margins)
        below = np.concatenate([[0.0], np.cumsum(weight[order])])
        places = np.searchsorted(margins[order], theta, side="right")
        return below[places] / below[-1]

    # ------------------------------------------------------------ predictions

    def _staged_votes(self, X):
        """Yield the votes after each round, the same object with other numbers."""
        votes = Votes(n_rows(X), self.n_classes_)
        for estimator, strength in zip(self.estimators_, self.estimator_weights_, strict=True):
            votes.add(class_codes(estimator, X, self.classes_), strength)
            yield votes

    def staged_decision_function(self, X: MatrixLike) -> Iterator[Any]:
        """Yield the decision function after each round.

        Parameters
        ----------
        {any_X}

        Yields
        ------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
            As :meth:`decision_function` with the base estimators so far.
        """
        for votes in self._staged_votes(self._prepare(X)):
            yield votes.decision()

    def decision_function(self, X: MatrixLike) -> Any:
        """Return the weighted votes.

        Parameters
        ----------
        {any_X}

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes ``2 sum_t a_t h_t(x) / sum_t a_t`` with ``h_t`` = +1 for the second
            class and -1 for the first; otherwise for each class the mean of 1, for a vote, and
            ``-1 / (K - 1)``, for none.
        """
        *_, votes = self._staged_votes(self._prepare(X))
        return votes.decision()

    def staged_predict(self, X: MatrixLike) -> Iterator[np.ndarray]:
        """Yield the predictions after each round.

        Parameters
        ----------
        {any_X}

        Yields
        ------
        {returned_classes}
        """
        for votes in self._staged_votes(self._prepare(X)):
            yield self.classes_.take(votes.codes())

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the classes of samples.

        Parameters
        ----------
        {any_X}

        Returns
        -------
        {returned_classes}
        """
        *_, votes = self._staged_votes(self._prepare(X))
        return self.classes_.take(votes.codes())

    def staged_predict_proba(self, X: MatrixLike) -> Iterator[np.ndarray]:
        """Yield the probabilities of the classes after each round.

        Parameters
        ----------
        {any_X}

        Yields
        ------
        proba : ndarray of shape (n_samples, n_classes)
            As :meth:`predict_proba` with the base estimators so far.
        """
        for decision in self.staged_decision_function(X):
            yield self._proba(decision)

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Return probabilities of the classes, a softmax of the decision function.

        They follow scikit-learn; being made of shares of votes, they are far from zero and one
        even where the ensemble is sure.

        Parameters
        ----------
        {any_X}

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            Probabilities, classes in the order of ``classes_``.
        """
        return self._proba(self.decision_function(X))

    def predict_log_proba(self, X: MatrixLike) -> np.ndarray:
        """Return the logarithms of :meth:`predict_proba`.

        Parameters
        ----------
        {any_X}

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
            Logarithms.
        """
        return np.log(self.predict_proba(X))

    def _proba(self, decision):
        if self.n_classes_ == 2:
            return softmax(np.stack([-decision, decision], axis=1) / 2, copy=False)
        return softmax(decision / max(self.n_classes_ - 1, 1), copy=False)
