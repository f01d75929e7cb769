"""What the boostings share: samples as their members take them, rounds, and reasons to stop."""

from numbers import Integral, Real

import numpy as np
from sklearn.base import is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split
from sklearn.utils import assert_all_finite, column_or_1d, get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, has_fit_parameter

from sklearn_sl._sklearn import HasMethods, Interval, Progress, check_sample_weight
from sklearn_sl.base import read_labels
from sklearn_sl.ensemble._members import rows_of
from sklearn_sl.ensemble._weak_learners import make_member, n_rows, read_samples


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

    def _check_members(self):
        """Complain of members without weights."""
        if not has_fit_parameter(self.estimator_, "sample_weight"):
            raise ValueError(f"{type(self.estimator_).__name__} doesn't support sample_weight.")

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
        y = column_or_1d(y if is_regressor(self) else read_labels(y), warn=True)
        if is_regressor(self) and y.dtype.kind in "OUS":
            y = y.astype(np.float64)
        assert_all_finite(y, input_name="y")
        check_consistent_length(X, y)
        weight = check_sample_weight(sample_weight, y, dtype=np.float64)
        used = np.ones(len(y), dtype=bool) if weight is None else weight > 0
        if used.all():
            return X, y, weight, used
        rows = np.flatnonzero(used)
        return rows_of(X, rows), y[rows], weight[rows], used


class BoostingMixin(EnsembleInputMixin):
    """The parameters of a boosting and its rounds.

    Hooks: ``_round(state, member)`` fits a member and returns a reason to stop, or None;
    ``_take(state, member, answers, strength)`` does so with a fitted one; and
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
            (rows_of(X, part), y[part], None if weight is None else weight[part])
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
                if reason != "weak" and watcher is not None:
                    verdict = watcher.look(state)
                    reason = reason or verdict
                if reason is None and progress.stop:
                    reason = "callback"
                if reason is not None:
                    return reason
        return "n_estimators"

    def _members_so_far(self):
        """Return the members and their weights that a warm start goes on with."""
        if not self.warm_start or not hasattr(self, "estimators_"):
            return []
        if self.n_estimators < len(self.estimators_):
            raise ValueError(
                f"n_estimators={self.n_estimators} must not be less than the "
                f"{len(self.estimators_)} members that there are when warm_start=True."
            )
        return list(zip(self.estimators_, self.estimator_weights_, strict=True))

    def _replay(self, state, old):
        """Take the members of an earlier fit again; return a reason to stop, or None."""
        reason = None
        for member, strength in old:
            if not state.learner.knows(member):
                raise ValueError(
                    "warm_start needs the same features, and categories, as the fit before."
                )
            make_member(self.estimator_, state.rng)  # as many draws as before
            state.skip()
            reason = self._take(state, member, state.learner.answers(member), float(strength))
            if reason == "weak" and not state.members:  # an ensemble of one, as it was before
                self._begin_weakly(state, member)
                return reason
        return reason

    def _keep(self, state, watcher):
        """Set the attributes; with a validation those of the members up to the best round."""
        last, self.validation_errors_ = len(state.members), None
        if isinstance(watcher, Validation):
            self.validation_errors_ = np.array(watcher.losses)
            last += watcher.best - len(watcher.losses)
        self.estimators_ = state.members[:last]
        self.estimator_weights_ = np.array(state.strengths[:last])
        self.estimator_errors_ = np.array(state.errors[:last])

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

    def skip(self):
        """Draw what a round draws beside the random states of its member."""


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
