"""AdaBoost, with the numbers that its theorems speak of."""

from numbers import Integral, Real

import numpy as np
from joblib import effective_n_jobs
from sklearn import ensemble as peer
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split
from sklearn.utils import assert_all_finite, check_random_state, column_or_1d, get_tags
from sklearn.utils.extmath import softmax
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
)

from sklearn_sl._sklearn import (
    HasMethods,
    Interval,
    Options,
    Progress,
    StrOptions,
    check_sample_weight,
    fit_context,
)
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.ensemble import _rounds
from sklearn_sl.ensemble._resampling import row_hashes
from sklearn_sl.ensemble._weak_learners import (
    class_codes,
    class_learner,
    make_member,
    n_rows,
    number_learner,
    numbers,
    read_samples,
    take_rows,
)
from sklearn_sl.ensemble._weights import BoostedWeights, exact_sum, weight_of
from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor

# Numbers that a weighted median sorts at a time.
MEDIAN_BLOCK = 2_000_000


class EnsembleInputMixin:
    """Reads the samples of an ensemble as its members take them.

    Hook: ``_default_estimator()``, the member where ``estimator`` is None.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        members = get_tags(self._resolve()).input_tags
        for name in ("sparse", "allow_nan", "string", "one_d_array", "two_d_array"):
            setattr(tags.input_tags, name, getattr(members, name))
        return tags

    def _resolve(self):
        return self._default_estimator() if self.estimator is None else self.estimator

    def _read_training_set(self, X, y, sample_weight):
        """Return samples, targets and weights where they are positive, and a mask of these."""
        estimator = self._resolve()
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        X = read_samples(self, estimator, X, reset=True)
        if n_rows(X) == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        y = column_or_1d(y, warn=True)
        if is_regressor(self) and y.dtype.kind in "OUS":
            y = y.astype(np.float64)
        assert_all_finite(y, input_name="y")
        check_consistent_length(X, y)
        weight = check_sample_weight(sample_weight, y, dtype=np.float64)
        used = np.ones(len(y), dtype=bool) if weight is None else weight > 0
        if used.all():
            return X, y, weight, used
        rows = np.flatnonzero(used)
        return take_rows(X, rows), y[rows], weight[rows], used


class BoostingMixin(EnsembleInputMixin):
    """The parameters of a boosting and its rounds.

    Hooks: ``_round(state, member)`` fits a member and returns a reason to stop, or None;
    ``_begin_weakly(state, member)`` is called if the first member is no better than chance.
    """

    _parameter_constraints = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "retries": [Interval(Integral, 0, None, closed="left")],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
    }

    def _set_aside(self, X, y, weight, rng, stratify):
        """Return a part to train on and a part to validate with, each of samples, targets, weights.

        Returns also the rows of the first part.
        """
        rows = np.arange(len(y))
        if self.early_stopping != "validation":
            return (X, y, weight), None, rows
        train, test = train_test_split(
            rows,
            test_size=self.validation_fraction,
            random_state=rng.randint(np.iinfo(np.int32).max),
            stratify=stratify,
        )
        train, test = np.sort(train), np.sort(test)
        parts = [
            (take_rows(X, part), y[part], None if weight is None else weight[part])
            for part in (train, test)
        ]
        return *parts, train

    def _boost(self, state, watcher):
        """Add members until there are enough, or a reason to stop; return the reason."""
        weak = 0
        total = None if self.retries else self.n_estimators  # failures are steps too
        with Progress(self, name="round", total=total) as progress:
            while len(state.members) < self.n_estimators:
                told = {}
                with progress.step(told):
                    member = make_member(self.estimator_, state.rng)
                    reason = self._round(state, member)
                    told["estimator_error"] = state.error
                if reason == "weak" and weak < self.retries:
                    weak += 1
                    continue
                if reason == "weak" and not state.members:
                    self._begin_weakly(state, member)
                weak = 0
                if reason is None and watcher is not None:
                    reason = watcher.look(state)
                if reason is None and progress.stop:
                    reason = "callback"
                if reason is not None:
                    return reason
        return "n_estimators"

    def _members_so_far(self):
        """Return the members and their weights that a warm start goes on with."""
        if not self.warm_start or not hasattr(self, "estimators_"):
            return [], []
        if self.n_estimators < len(self.estimators_):
            raise ValueError(
                f"n_estimators={self.n_estimators} must not be less than the "
                f"{len(self.estimators_)} members that there are when warm_start=True."
            )
        return list(self.estimators_), list(self.estimator_weights_)

    def _prepare(self, X):
        """Return samples as the members take them."""
        check_is_fitted(self)
        return read_samples(self, self.estimators_[0], X, reset=False)

    @property
    def feature_importances_(self):
        """The importances of the members' features, weighted as the members are."""
        check_is_fitted(self)
        try:
            parts = [member.feature_importances_ for member in self.estimators_]
        except AttributeError:
            raise AttributeError(
                "The members have no feature_importances_, so the ensemble has none."
            ) from None
        return np.average(parts, axis=0, weights=self.estimator_weights_)

    def staged_score(self, X, y, sample_weight=None):
        """Yield the score after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        y : array-like of shape (n_samples,)
            True targets.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Yields
        ------
        score : float
            The accuracy, or the coefficient of determination.
        """
        metric = r2_score if is_regressor(self) else accuracy_score
        for predicted in self.staged_predict(X):
            yield metric(y, predicted, sample_weight=sample_weight)


class Rounds:
    """What a boosting has come to."""

    def __init__(self, learner, weights, rng):
        self.learner, self.weights, self.rng = learner, weights, rng
        self.members, self.strengths, self.errors = [], [], []
        self.error = np.nan  # of the member that was fitted last

    def add(self, member, strength):
        """Keep the member that was fitted last."""
        self.members.append(member)
        self.strengths.append(strength)
        self.errors.append(self.error)


class Validation:
    """Looks at samples that were set aside; the best number of rounds so far is ``best``."""

    def __init__(self, loss_after, patience, tol):
        self.loss_after, self.patience, self.tol = loss_after, patience, tol
        self.losses, self.best, self.least = [], 0, np.inf

    def look(self, state):
        """Return "validation" if there was no progress in the last rounds."""
        self.losses.append(self.loss_after(state))
        if self.losses[-1] < self.least - self.tol:
            self.best, self.least = len(self.losses), self.losses[-1]
        return "validation" if len(self.losses) - self.best >= self.patience else None


class Bound:
    """Looks at the bound of the training error."""

    def __init__(self, least_share):
        self.least_share = least_share

    def look(self, state):
        """Return "bound" if no sample can be wrong any more."""
        return "bound" if state.bound < self.least_share else None


class Votes:
    """The weighted votes of the members for the classes of some samples.

    For two classes ``table`` is the weight of the votes for the second class minus that for the
    first; otherwise it has a column for each class.
    """

    def __init__(self, n_samples, n_classes):
        self.n_classes, self.total = n_classes, 0.0
        self.table = np.zeros(n_samples if n_classes == 2 else (n_samples, n_classes))

    def add(self, codes, strength):
        """Add the votes of a member."""
        self.total += strength
        if self.n_classes == 2:
            _rounds.vote(self.table, codes.astype(np.int8, copy=False), strength)
        else:
            self.table[np.arange(len(codes)), codes] += strength

    def codes(self):
        """Return the classes with the most votes, the first one among equals."""
        return self.table > 0 if self.n_classes == 2 else self.table.argmax(axis=1)

    def decision(self):
        """Return the votes as scikit-learn does: against all others, as shares of all votes."""
        if self.n_classes == 1:
            return np.zeros((len(self.table), 1))
        if self.n_classes == 2:
            return 2 * self.table / self.total
        others = self.n_classes - 1
        return ((1 + 1 / others) * self.table - self.total / others) / self.total

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


class AdaBoostClassifier(EstimatorMixin, BoostingMixin, ClassifierMixin, BaseEstimator):
    """AdaBoost for classification (SAMME), with certificates, on columns that are sorted once.

    Round ``t`` fits a member ``h_t`` to the samples under the weights ``D_t``. Its weighted error
    ``eps_t`` gives it the weight ``a_t = learning_rate * (log((1 - eps_t) / eps_t) + log(K - 1))``
    for ``K`` classes; the weights of the samples that it gets wrong are multiplied by ``exp(a_t)``,
    and the class with the largest sum of ``a_t`` wins the vote. This minimises the mean of
    ``exp(-y f(x))`` stage by stage, where ``f = sum_t alpha_t h_t`` for two classes -1 and +1.

    **The factor of two.** The textbook's ``alpha_t = 1/2 log((1 - eps_t) / eps_t)`` is half of
    ``estimator_weights_``, which follow scikit-learn. Votes and normalised margins are the same.

    **Certificates.** The training error is at most the mean of ``exp(-y f)``, which is the product
    of the normalisers ``Z_t = (1 - eps_t) exp(-a_t / 2) + eps_t exp(a_t / 2)``; for two classes and
    ``learning_rate=1`` that is ``2 sqrt(eps_t (1 - eps_t))``. ``training_bound_`` has the product
    after each round, next to ``training_errors_``. For more classes the bound holds too (a
    misclassified sample has at least half of the votes against it), but may exceed one.
    ``margins_`` tells how large the majority is for each sample.

    **Members.** Any classifier that takes ``sample_weight``. For the trees and stumps of this
    package the columns are sorted once and a round is one pass over them, for one split with two
    classes about one addition per value. Ties apart, the members are those that scikit-learn finds.

    **When a round fails.** A perfect member, ``eps = 0``, would have infinite weight: boosting
    stops, and the member gets a weight that outvotes all others (scikit-learn gives it 1, and
    others may outvote it). A member no better than chance, ``eps >= 1 - 1/K``, is dropped, and
    boosting stops, because the same weights would give the same member again; where members are
    random, ``retries`` lets them try again. If it is the first one, a ValueError says so.
    ``stop_reason_`` tells which of these ended the fit.

    Integer weights are exactly repeated samples, and the order of the samples does not matter: the
    weights have common units in which sums are exact.

    Parameters
    ----------
    estimator : estimator, default=None
        The member to be boosted; None is a :class:`~sklearn_sl.tree.DecisionTreeClassifier` with
        one split.

    n_estimators : int, default=50
        The largest number of rounds.

    learning_rate : float, default=1.0
        A factor of the members' weights. Smaller ones need more rounds.

    random_state : int, RandomState instance or None, default=None
        For members that are random, and for the samples that are set aside for validation.

    early_stopping : {"validation", "bound"} or None, default=None
        "validation" sets samples aside and stops when their error has not decreased for
        ``n_iter_no_change`` rounds; the members up to the best round are kept. "bound" stops when
        the training bound is less than the share of every sample, so that none can be wrong.

    validation_fraction : float, default=0.1
        The share of the samples that are set aside, by class.

    n_iter_no_change : int, default=10
        How many rounds without progress end the fit.

    tol : float, default=0.0
        By how much the error must decrease to be progress.

    retries : int, default=0
        How many members in a row may be no better than chance, before the fit ends.

    warm_start : bool, default=False
        Whether a fit goes on from the members that there are: then it ends as one fit of as many
        rounds on the same samples would.

    n_jobs : int, default=None
        The threads that share the features among them, for members of this package. None is one,
        unless joblib has been told otherwise. The result does not depend on it.

    Attributes
    ----------
    estimator_ : estimator
        What the members are clones of.

    estimators_ : list of classifiers
        The members.

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

    validation_errors_ : ndarray of shape (n_rounds,) or None
        The errors on the samples that were set aside, also of rounds that were dropped.

    stop_reason_ : str
        "n_estimators", "perfect", "weak" (no better than chance), "validation", "bound" or
        "callback".

    classes_ : ndarray of shape (n_classes,)
        The classes.

    n_classes_ : int
        Their number.

    feature_importances_ : ndarray of shape (n_features,)
        The mean importances of the members' features, if they have any.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during fit, if all of them are strings.

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

    _parameter_constraints = {
        **BoostingMixin._parameter_constraints,
        "early_stopping": [StrOptions({"validation", "bound"}), None],
    }

    def __init__(
        self,
        estimator=None,
        *,
        n_estimators=50,
        learning_rate=1.0,
        random_state=None,
        early_stopping=None,
        validation_fraction=0.1,
        n_iter_no_change=10,
        tol=0.0,
        retries=0,
        warm_start=False,
        n_jobs=None,
    ):
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

    def _default_estimator(self):
        return DecisionTreeClassifier(max_depth=1)

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, sample_weight=None):
        """Boost the members.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Training samples, of any kind that the members take.

        y : array-like of shape (n_samples,)
            Classes.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples; a sample of weight zero is as if it were not there.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        members, strengths = self._members_so_far()
        X, y, weight, used = self._read_training_set(X, y, sample_weight)
        check_classification_targets(y)
        self.estimator_ = self._resolve()
        if not has_fit_parameter(self.estimator_, "sample_weight"):
            raise ValueError(f"{type(self.estimator_).__name__} doesn't support sample_weight.")
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.n_classes_ = len(self.classes_)
        rng = check_random_state(self.random_state)
        (X, y, weight), held_out, kept = self._set_aside(X, y, weight, rng, stratify=codes)
        rows, codes = np.flatnonzero(used)[kept], codes[kept]
        learner = class_learner(
            self.estimator_, X, y, self.classes_, codes, effective_n_jobs(self.n_jobs)
        )
        try:
            state = ClassRounds(
                learner, BoostedWeights(weight, len(y)), rng, codes, self.n_classes_
            )
            reason = None
            for member, strength in zip(members, strengths, strict=True):
                make_member(self.estimator_, rng)  # as many draws as before
                reason = self._take(state, member, learner.answers(member), strength)
            watcher = self._watcher(state, held_out)
            self.stop_reason_ = reason or self._boost(state, watcher)
        finally:
            learner.close()
        self._keep(state, watcher)
        self.margins_ = np.full(len(used), np.nan)
        self.margins_[rows] = self._votes(state, len(self.estimators_)).margins(codes)
        return self

    def _round(self, state, member):
        """Fit a member and take it; return a reason to stop, or None."""
        answers = state.learner.fit(member, state.weights.mass)
        return self._take(state, member, answers)

    def _take(self, state, member, answers, strength=None):
        wrong = answers != state.codes
        state.error = error = state.weights.share(wrong)
        if error <= 0:
            # No less than the others together, and one as in scikit-learn if it is alone.
            state.add(member, answers, 1.0 + sum(state.strengths) if strength is None else strength)
            return "perfect"
        if error >= 1 - 1 / self.n_classes_:
            return "weak"
        if strength is None:
            odds = np.log((1 - error) / error) + np.log(self.n_classes_ - 1)
            strength = float(self.learning_rate * odds)
        state.add(member, answers, strength)
        state.weights.multiply(wrong, strength, error)
        return None

    def _begin_weakly(self, state, member):
        raise ValueError(
            f"The first member of {type(self).__name__} is not better than chance: its weighted "
            f"error is {state.error:.6g}, and {1 - 1 / self.n_classes_:.6g} is what guessing "
            "gives. Nothing can be boosted; use a stronger estimator."
        )

    def _watcher(self, state, held_out):
        """Return what looks for a reason to stop after each round; None if nothing does."""
        if self.early_stopping == "bound":
            return Bound(state.first_mass.min() / state.first_mass.sum())
        if self.early_stopping is None:
            return None
        X, y, weight = held_out
        codes, seen = np.searchsorted(self.classes_, y), []
        votes = Votes(len(y), self.n_classes_)

        def error_after(state):
            while len(seen) < len(state.members):
                place = len(seen)
                seen.append(state.members[place])
                prepared = read_samples(self, seen[place], X, reset=False)
                votes.add(class_codes(seen[place], prepared, self.classes_), state.strengths[place])
            return np.average(votes.codes() != codes, weights=weight)

        return Validation(error_after, self.n_iter_no_change, self.tol)

    def _keep(self, state, watcher):
        """Set the attributes; of a fit that stopped by validation up to the best round."""
        last, self.validation_errors_ = len(state.members), None
        if isinstance(watcher, Validation):
            # A warm start looks at all of its old members at once.
            first = last - len(watcher.losses)
            self.validation_errors_ = np.array(watcher.losses)
            last = first + watcher.best
        self.estimators_ = state.members[:last]
        self.estimator_weights_ = np.array(state.strengths[:last])
        self.estimator_errors_ = np.array(state.errors[:last])
        self.edge_ = 0.5 - self.estimator_errors_
        self.normalizers_ = np.array(state.normalizers[:last])
        self.training_bound_ = np.cumprod(self.normalizers_)
        self.training_errors_ = np.array(state.training_errors[:last])
        self._margin_weight = state.first_mass

    def _votes(self, state, n_members):
        """Return the votes of the first members for the training samples."""
        if n_members == len(state.members):
            return state.votes
        votes = Votes(len(state.codes), self.n_classes_)
        for member, strength in zip(state.members[:n_members], state.strengths, strict=False):
            votes.add(state.learner.answers(member), strength)
        return votes

    # ------------------------------------------------------------ margins

    def margins(self, X, y):
        """Return by what share of the votes the true class is ahead of the best other one.

        For two classes -1 and +1 that is ``y f(x) / sum_t alpha_t``.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

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
            raise ValueError("y has classes that were not there in training.")
        *_, votes = self._staged_votes(X)
        return votes.margins(codes)

    def margin_cdf(self, theta, X=None, y=None, sample_weight=None):
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
            raise ValueError("margin_cdf takes both X and y, or neither of them.")
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
        for member, strength in zip(self.estimators_, self.estimator_weights_, strict=True):
            votes.add(class_codes(member, X, self.classes_), strength)
            yield votes

    def staged_decision_function(self, X):
        """Yield the decision function after each round.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Yields
        ------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
            As :meth:`decision_function` with the members so far.
        """
        for votes in self._staged_votes(self._prepare(X)):
            yield votes.decision()

    def decision_function(self, X):
        """Return the weighted votes.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes ``2 sum_t a_t h_t(x) / sum_t a_t`` with ``h_t`` = +1 for the second
            class and -1 for the first; otherwise for each class the mean of 1, for a vote, and
            ``-1 / (K - 1)``, for none.
        """
        *_, votes = self._staged_votes(self._prepare(X))
        return votes.decision()

    def staged_predict(self, X):
        """Yield the predictions after each round.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Yields
        ------
        y : ndarray of shape (n_samples,)
            Classes.
        """
        for votes in self._staged_votes(self._prepare(X)):
            yield self.classes_.take(votes.codes())

    def predict(self, X):
        """Predict the classes of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes.
        """
        *_, votes = self._staged_votes(self._prepare(X))
        return self.classes_.take(votes.codes())

    def staged_predict_proba(self, X):
        """Yield the probabilities of the classes after each round.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Yields
        ------
        proba : ndarray of shape (n_samples, n_classes)
            As :meth:`predict_proba` with the members so far.
        """
        for decision in self.staged_decision_function(X):
            yield self._proba(decision)

    def predict_proba(self, X):
        """Return probabilities of the classes, a softmax of the decision function.

        They follow scikit-learn; being made of shares of votes, they are far from zero and one
        even where the ensemble is sure.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            Probabilities, classes in the order of ``classes_``.
        """
        return self._proba(self.decision_function(X))

    def predict_log_proba(self, X):
        """Return the logarithms of :meth:`predict_proba`.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

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


class ClassRounds(Rounds):
    """The rounds of a classifier, with the votes for the training samples."""

    def __init__(self, learner, weights, rng, codes, n_classes):
        super().__init__(learner, weights, rng)
        self.codes, self.first_mass, self.all_mass = codes, weights.mass, weights.total
        self.votes, self.bound = Votes(len(codes), n_classes), 1.0
        self.normalizers, self.training_errors = [], []

    def add(self, member, answers, strength):
        super().add(member, strength)
        self.votes.add(answers, strength)
        half = strength / 2
        # With a perfect member the weight could be any: its infimum is what the theorem is about.
        with np.errstate(over="ignore"):  # of a learning rate beyond all reason
            z = self.error and (1 - self.error) * np.exp(-half) + self.error * np.exp(half)
        self.normalizers.append(float(z))
        self.bound *= self.normalizers[-1]
        wrong = self.votes.codes() != self.codes
        self.training_errors.append(weight_of(self.first_mass, wrong) / self.all_mass)


class AdaBoostRegressor(EstimatorMixin, BoostingMixin, RegressorMixin, BaseEstimator):
    """AdaBoost.R2 for regression, on columns that are sorted once.

    Round ``t`` fits a member to a sample that is drawn with the weights as probabilities. With the
    residuals ``r_i`` of all samples and their largest ``R``, the losses are ``l_i = r_i / R``
    ("linear"), its square, or ``1 - exp(-r_i / R)`` ("exponential"), and their weighted mean
    ``eps_t`` gives the member the weight ``a_t = learning_rate * log((1 - eps_t) / eps_t)``. The
    weights of the samples are multiplied by ``exp(-a_t (1 - l_i))``. The prediction is the weighted
    median of the members.

    A member without a residual ends the fit, with a weight that outweighs all others; so does one
    of ``eps_t >= 1/2``, which is dropped unless it is the only one. ``stop_reason_`` tells.

    **The draws.** With ``bootstrap="content"``, the default, the samples are put into an order that
    follows from their values before they are drawn, so that integer weights are exactly repeated
    samples and the order of the samples does not matter; the number of draws is the sum of the
    weights if they are integers, otherwise the number of samples. ``bootstrap="rows"`` draws from
    the samples in their given order, one draw for each: with the same ``random_state`` these are
    the draws of :class:`sklearn.ensemble.AdaBoostRegressor`, and ties apart the same members.
    ``bootstrap=False`` draws nothing and fits the members with the weights.

    Parameters
    ----------
    estimator : estimator, default=None
        The member to be boosted; None is a :class:`~sklearn_sl.tree.DecisionTreeRegressor` of depth
        three.

    n_estimators : int, default=50
        The largest number of rounds.

    learning_rate : float, default=1.0
        A factor of the members' weights. Smaller ones need more rounds.

    loss : {"linear", "square", "exponential"}, default="linear"
        The loss of a residual.

    random_state : int, RandomState instance or None, default=None
        For the draws, for members that are random, and for the samples that are set aside.

    bootstrap : {"content", "rows"} or False, default="content"
        How samples are drawn for a member.

    early_stopping : {"validation"} or None, default=None
        "validation" sets samples aside and stops when their mean squared error has not decreased
        for ``n_iter_no_change`` rounds; the members up to the best round are kept.

    validation_fraction : float, default=0.1
        The share of the samples that are set aside.

    n_iter_no_change : int, default=10
        How many rounds without progress end the fit.

    tol : float, default=0.0
        By how much the error must decrease to be progress.

    retries : int, default=0
        How many members in a row may have ``eps_t >= 1/2``, before the fit ends.

    warm_start : bool, default=False
        Whether a fit goes on from the members that there are: then it ends as one fit of as many
        rounds on the same samples would.

    n_jobs : int, default=None
        The threads that grow a tree of this package. None is one, unless joblib has been told
        otherwise. The result does not depend on it.

    Attributes
    ----------
    estimator_ : estimator
        What the members are clones of.

    estimators_ : list of regressors
        The members.

    estimator_weights_ : ndarray of shape (n_rounds,)
        Their weights ``a_t``.

    estimator_errors_ : ndarray of shape (n_rounds,)
        Their weighted mean losses ``eps_t``.

    validation_errors_ : ndarray of shape (n_rounds,) or None
        The errors on the samples that were set aside, also of rounds that were dropped.

    stop_reason_ : str
        "n_estimators", "perfect", "weak", "validation" or "callback".

    feature_importances_ : ndarray of shape (n_features,)
        The mean importances of the members' features, if they have any.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during fit, if all of them are strings.

    See Also
    --------
    sklearn.ensemble.AdaBoostRegressor : Copies and sorts the samples again in every round.
    ForwardStagewiseRegressor : Boosts residuals.

    References
    ----------
    .. [1] H. Drucker, "Improving regressors using boosting techniques", Proc. 14th International
       Conference on Machine Learning, 1997.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_sl.ensemble import AdaBoostRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AdaBoostRegressor(random_state=0).fit(X, y)
    >>> round(model.score(X, y), 1), model.stop_reason_
    (0.6, 'n_estimators')
    """

    _parameter_constraints = {
        **BoostingMixin._parameter_constraints,
        "loss": [StrOptions({"linear", "square", "exponential"})],
        "bootstrap": [StrOptions({"content", "rows"}), Options(bool, {False})],
        "early_stopping": [StrOptions({"validation"}), None],
    }

    def __init__(
        self,
        estimator=None,
        *,
        n_estimators=50,
        learning_rate=1.0,
        loss="linear",
        random_state=None,
        bootstrap="content",
        early_stopping=None,
        validation_fraction=0.1,
        n_iter_no_change=10,
        tol=0.0,
        retries=0,
        warm_start=False,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.random_state = random_state
        self.bootstrap = bootstrap
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.retries = retries
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def _default_estimator(self):
        return DecisionTreeRegressor(max_depth=3)

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, sample_weight=None):
        """Boost the members.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Training samples, of any kind that the members take.

        y : array-like of shape (n_samples,)
            Targets.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples; a sample of weight zero is as if it were not there.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        members, strengths = self._members_so_far()
        X, y, weight, _ = self._read_training_set(X, y, sample_weight)
        y = y.astype(np.float64)
        self.estimator_ = self._resolve()
        if not self.bootstrap and not has_fit_parameter(self.estimator_, "sample_weight"):
            raise ValueError(
                f"bootstrap=False needs members with weights, and {type(self.estimator_).__name__} "
                "doesn't support sample_weight."
            )
        rng = check_random_state(self.random_state)
        (X, y, weight), held_out, _ = self._set_aside(X, y, weight, rng, stratify=None)
        learner = number_learner(self.estimator_, X, y, effective_n_jobs(self.n_jobs))
        weights = BoostedWeights(weight, len(y))
        order = content_order(learner.X, y) if self.bootstrap == "content" else None
        state = NumberRounds(learner, weights, rng, y, order)
        reason = None
        for member, strength in zip(members, strengths, strict=True):
            make_member(self.estimator_, rng)  # as many draws as before
            if self.bootstrap:
                state.draw()
            reason = self._take(state, member, learner.answers(member), strength)
        watcher = self._watcher(held_out)
        self.stop_reason_ = reason or self._boost(state, watcher)
        self._keep(state, watcher)
        return self

    def _round(self, state, member):
        """Fit a member and take it; return a reason to stop, or None."""
        if self.bootstrap:
            answers = state.learner.refit(member, state.draw())
        else:
            answers = state.learner.fit(member, state.weights.mass)
        return self._take(state, member, answers)

    def _take(self, state, member, answers, strength=None):
        losses = self._losses(np.abs(answers - state.y))
        mass = state.weights.mass
        state.error = error = min(exact_sum(mass * losses) / state.weights.total, 1.0)
        if error <= 0:
            state.add(member, 1.0 + sum(state.strengths) if strength is None else strength)
            return "perfect"
        if error >= 0.5:
            return "weak"
        if strength is None:
            strength = float(self.learning_rate * np.log((1 - error) / error))
        state.add(member, strength)
        state.weights.multiply(losses, strength, error)
        return None

    def _begin_weakly(self, state, member):
        state.add(member, 1.0)

    def _losses(self, residuals):
        """Return the losses of residuals, between zero and one."""
        largest = residuals.max()
        if largest == 0:
            return residuals
        losses = residuals / largest
        if self.loss == "square":
            return losses**2
        return losses if self.loss == "linear" else -np.expm1(-losses)

    def _watcher(self, held_out):
        if self.early_stopping is None:
            return None
        X, y, weight = held_out
        columns = []

        def error_after(state):
            for member in state.members[len(columns) :]:
                columns.append(numbers(member, read_samples(self, member, X, reset=False)))
            table = np.stack(columns, axis=1)
            predicted = weighted_median(table, np.array(state.strengths))
            return np.average((predicted - y) ** 2, weights=weight)

        return Validation(error_after, self.n_iter_no_change, self.tol)

    def _keep(self, state, watcher):
        last, self.validation_errors_ = len(state.members), None
        if isinstance(watcher, Validation):
            first = last - len(watcher.losses)
            self.validation_errors_ = np.array(watcher.losses)
            last = first + watcher.best
        self.estimators_ = state.members[:last]
        self.estimator_weights_ = np.array(state.strengths[:last])
        self.estimator_errors_ = np.array(state.errors[:last])

    def staged_predict(self, X):
        """Yield the predictions after each round.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Yields
        ------
        y : ndarray of shape (n_samples,)
            Weighted medians of the members so far.
        """
        table = self._table(X)
        for last in range(1, len(self.estimators_) + 1):
            yield weighted_median(table[:, :last], self.estimator_weights_[:last])

    def predict(self, X):
        """Predict the targets of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Weighted medians of what the members predict.
        """
        return weighted_median(self._table(X), self.estimator_weights_)

    def _table(self, X):
        """Return what the members predict, a column for each."""
        X = self._prepare(X)
        return np.stack([numbers(member, X) for member in self.estimators_], axis=1)


def weighted_median(table, weight):
    """Return the least number of each row that has half of the weight up to it."""
    medians = np.empty(len(table))
    step = max(1, MEDIAN_BLOCK // table.shape[1])
    for start in range(0, len(table), step):
        rows = table[start : start + step]
        order = np.argsort(rows, axis=1)
        below = np.cumsum(weight[order], axis=1)
        place = (below >= 0.5 * below[:, -1:]).argmax(axis=1)[:, None]
        medians[start : start + step] = np.take_along_axis(
            rows, np.take_along_axis(order, place, axis=1), axis=1
        )[:, 0]
    return medians


def content_order(X, y):
    """Return an order of the samples that follows from what they are."""
    if getattr(X, "ndim", 1) != 2:
        X = np.asarray(X, dtype=object).reshape(len(y), -1)
    return np.argsort(row_hashes(X, y), kind="stable")


class NumberRounds(Rounds):
    """The rounds of a regressor, which draws samples."""

    def __init__(self, learner, weights, rng, y, order):
        super().__init__(learner, weights, rng)
        self.y, self.order = y, order
        own = weights.own
        counts = own is not None and bool(np.all(own == np.rint(own)))
        self.n_draws = int(own.sum()) if counts and order is not None else len(y)

    def draw(self):
        """Draw rows with the weights of this round."""
        return Draws(self.weights.mass, self.order, self.rng.random_sample(self.n_draws))


class Draws:
    """Rows that uniform numbers draw, with probabilities in the proportion of masses.

    ``order`` is that in which the masses are summed up, None for that of the rows.
    """

    def __init__(self, mass, order, uniform):
        below = np.cumsum(mass if order is None else mass[order])
        self.below, self.order, self.uniform = below / below[-1], order, uniform

    def rows(self):
        """Return the row of each draw."""
        places = np.searchsorted(self.below, self.uniform, side="right")
        return places if self.order is None else self.order[places]

    def times(self):
        """Return how often each row was drawn, which takes less time."""
        times = np.empty(len(self.below))
        ends = np.searchsorted(np.sort(self.uniform), self.below, side="left")
        times[slice(None) if self.order is None else self.order] = np.diff(ends, prepend=0)
        return times


# Whoever asks scikit-learn for its classes gets ours too.
peer.AdaBoostClassifier.register(AdaBoostClassifier)
peer.AdaBoostRegressor.register(AdaBoostRegressor)
