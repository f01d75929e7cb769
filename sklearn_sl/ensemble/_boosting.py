"""What the boostings share: reading samples, rounds, and reasons to stop."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import RegressorMixin, clone, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split
from sklearn.utils import assert_all_finite, column_or_1d, get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, has_fit_parameter

from sklearn_sl._sklearn import HasMethods, Interval, Progress, check_sample_weight
from sklearn_sl.base import read_labels
from sklearn_sl.ensemble._base_estimators import make_base_estimator, read_for, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sklearn_sl._typing import ArrayLike


class BoostedInputMixin:
    """Reads the samples of an ensemble as its base estimators take them.

    ``_default_estimator`` makes the base estimator where ``estimator`` is None.
    """

    estimator_: Any
    estimators_: list[Any]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        taken = get_tags(self._template()).input_tags
        for name in ("sparse", "allow_nan", "string", "one_d_array", "two_d_array"):
            setattr(tags.input_tags, name, getattr(taken, name))
        return tags

    def _template(self):
        """Return what the base estimators are copies of, as the user gave it or the default."""
        return self._default_estimator() if self.estimator is None else self.estimator

    def _read_training_set(self, X, y, sample_weight, *, weighted=True):
        """Return samples, targets and weights where they are positive, and a mask of these.

        ``weighted``: whether the base estimators will be fitted with weights.
        """
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        given = self.estimator
        self.estimator_ = self._default_estimator() if given is None else clone(given)
        if weighted and not has_fit_parameter(self.estimator_, "sample_weight"):
            raise ValueError(
                f"{type(self.estimator_).__name__} doesn't support sample_weight: choose an "
                "estimator whose fit takes it."
            )
        X = read_for(self, self.estimator_, X, reset=True)
        numeric = isinstance(self, RegressorMixin)
        y = column_or_1d(y if numeric else read_labels(y), warn=True)
        if numeric and y.dtype.kind in "OUS":
            y = y.astype(np.float64)
        assert_all_finite(y, input_name="y")
        check_consistent_length(X, y)
        if len(y) == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        weight = check_sample_weight(sample_weight, y, dtype=np.float64)
        used = np.ones(len(y), dtype=bool) if weight is None else weight > 0
        if used.all():
            return X, y, weight, used
        rows = np.flatnonzero(used)
        return rows_of(X, rows), y[rows], weight[rows], used


class BoostingMixin(BoostedInputMixin):
    """The parameters of a boosting and its rounds.

    A fit reads its training set, makes its :class:`Rounds`, and calls ``_boost``. Hooks:
    ``_answers(state, estimator)`` fits a base estimator and returns its answers to the training
    samples; ``_weigh(state, answers, strength)`` judges these answers, updates the weights of the
    samples, and returns the weight of the estimator, None if it is not to be kept, and a reason to
    stop, or None; and ``_begin_weakly(state, estimator)`` is called if the first one is no better
    than chance.
    """

    estimators_: list[Any]
    estimator_weights_: np.ndarray
    estimator_errors_: np.ndarray
    validation_errors_: np.ndarray
    stop_reason_: str

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
        """Add base estimators until there are enough, or a reason to stop; set the attributes."""
        reason = self._replay(state)
        self.stop_reason_ = reason or self._add_estimators(state, watcher)
        last, self.validation_errors_ = len(state.estimators), None
        if isinstance(watcher, Validation):  # those up to the best round
            self.validation_errors_ = np.array(watcher.losses)
            last += watcher.best - len(watcher.losses)
        self.estimators_ = state.estimators[:last]
        self.estimator_weights_ = np.array(state.strengths[:last])
        self.estimator_errors_ = np.array(state.errors[:last])

    def _add_estimators(self, state, watcher):
        """Add base estimators; return the reason to stop."""
        weak = 0
        total = None if self.retries else self.n_estimators  # failures are steps too
        with Progress(self, name="round", total=total) as progress:
            while len(state.estimators) < self.n_estimators:
                told = {}
                with progress.step(told):
                    estimator = make_base_estimator(self.estimator_, state.rng)
                    reason = self._take(state, estimator, self._answers(state, estimator))
                    told["estimator_error"] = state.error
                if reason == "weak" and weak < self.retries:
                    weak += 1
                    continue
                if reason == "weak" and not state.estimators:
                    self._begin_weakly(state, estimator)
                weak = 0
                if reason != "weak" and watcher is not None:
                    verdict = watcher.look(state)
                    reason = reason or verdict
                if reason is None and progress.stop:
                    reason = "callback"
                if reason is not None:
                    return reason
        return "n_estimators"

    def _answers(self, state, estimator):
        return state.fitter.fit(estimator, state.weights.mass)

    def _take(self, state, estimator, answers, strength=None):
        """Weigh a fitted estimator, and keep it or not; return a reason to stop, or None."""
        strength, reason = self._weigh(state, answers, strength)
        if strength is not None:
            state.add(estimator, strength)
        return reason

    def _replay(self, state):
        """Take the estimators of an earlier fit again; return a reason to stop, or None."""
        if not self.warm_start or not hasattr(self, "estimators_"):
            return None
        if self.n_estimators < len(self.estimators_):
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={len(self.estimators_)} when warm_start=True."
            )
        reason = None
        for estimator, strength in zip(self.estimators_, self.estimator_weights_, strict=True):
            if not state.fitter.knows(estimator):
                raise ValueError(
                    "X must have the same features, and categories, as in the previous fit when "
                    "warm_start=True: set warm_start=False to fit anew."
                )
            make_base_estimator(self.estimator_, state.rng)  # as many draws as before
            state.skip()
            answers = state.fitter.answers(estimator)
            reason = self._take(state, estimator, answers, float(strength))
            if reason == "weak" and not state.estimators:  # an ensemble of one, as it was before
                self._begin_weakly(state, estimator)
                return reason
        return reason

    def _prepare(self, X):
        """Return samples as the base estimators take them."""
        check_is_fitted(self)
        return read_for(self, self.estimators_[0], X, reset=False)

    @property
    def feature_importances_(self) -> np.ndarray:
        """The importances of the base estimators' features, weighted as the base estimators are."""
        check_is_fitted(self)
        try:
            parts = [estimator.feature_importances_ for estimator in self.estimators_]
        except AttributeError:
            raise AttributeError(
                "feature_importances_ is only available if the base estimators have it."
            ) from None
        return np.average(parts, axis=0, weights=self.estimator_weights_)

    def staged_score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Iterator[float]:
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


@dataclass
class Rounds:
    """What a boosting has come to: its base estimators, their weights and their errors.

    ``fitter`` fits to the training samples, ``weights`` are those of the samples, and ``rng`` draws
    the random states. ``error`` is that of the estimator that was fitted last, and ``certificates``
    are those of a classifier.
    """

    fitter: object
    weights: object
    rng: np.random.RandomState
    certificates: object = None
    estimators: list = field(default_factory=list)
    strengths: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    error: float = np.nan

    def add(self, estimator, strength):
        """Keep the estimator that was fitted last."""
        self.estimators.append(estimator)
        self.strengths.append(strength)
        self.errors.append(self.error)

    def skip(self):
        """Draw what a round draws beside the random states of its base estimator."""


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
