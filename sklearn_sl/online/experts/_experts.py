"""What learners share that combine the advice of experts: columns of ``X``, or estimators."""

from __future__ import annotations

import copy
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_sl._sklearn import Interval
from sklearn_sl.online._parameters import check_certified, check_fixed
from sklearn_sl.online._protocol import (
    ONLINE,
    SAMPLES,
    OnlineClassifierMixin,
    OnlineRegressorMixin,
    read_samples,
)
from sklearn_sl.online._trials import (
    copy_state,
    fit_once,
    running_sum,
    take_slice,
    whole,
    with_part,
)
from sklearn_sl.online.experts import _aggregating
from sklearn_sl.online.experts._expert_weights import NO_HISTORY, WeightState
from sklearn_sl.online.experts._mixable import LARGEST_RATE, LOSSES
from sklearn_sl.online.finite._finite import dense

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike

# Numbers whose losses are computed at once, within the cache.
BLOCK = 2**15
# But not fewer trials than these, as each block takes a while.
FEWEST_ROWS = 16
ANYTHING = {"skip_check_array": True}
NO_TABLES = np.empty((0, 0, 0))


def is_dense(X):
    """Return whether rows of ``X`` are as compiled code reads them."""
    return type(X) is np.ndarray and X.dtype == np.float64 and X.flags.c_contiguous


class ExpertsMixin:
    """Trials in which the row ``X[t]`` is the advice of experts.

    NaN is an expert that abstains. Hooks:

    - ``_new_state(n_experts)`` returns the weights to begin with;
    - ``_tables(advice, abstaining)`` returns what is averaged by weight, an array of tables;
      ``abstaining`` is whether there is NaN;
    - ``_judge(advice, targets, abstaining)`` returns such tables for trials, and the losses of the
      experts; without tables the losses themselves, and their squares, are averaged;
    - ``_respond(means, answers, targets)`` makes answers of the weighted means, in trials, or in
      predictions if there are no targets;
    - ``_regret_bounds()`` returns bounds on the regret against each expert, for losses without a
      unit; None if there are none.
    """

    weights_: np.ndarray
    log_weights_: np.ndarray
    expert_losses_: np.ndarray
    best_expert_: int
    regret_: float
    estimators_: list[Any]
    expert_names_: np.ndarray

    _fixed = ("estimators", "prefit")
    _mutable = ("_state",)
    # Whether the only table has classes, whose weights are added up.
    _votes = False
    _fit_trials = fit_once
    # Whether the weights have a learning rate that users may want to know.
    _shows_rate = False
    # Features are advice.
    _compare_grid = None
    _has_scores = False

    def _known_horizon(self, reason):
        """Return the number of trials, which a parameter or ``fit`` tells."""
        horizon = self._foreseen if self.horizon is None else self.horizon
        if horizon is None:
            raise ValueError(
                f"{reason} requires horizon, the number of trials, to be set when partial_fit "
                "is used."
            )
        return horizon

    def _begin(self, X):
        for name in ("estimators_", "expert_names_"):
            vars(self).pop(name, None)
        if self.estimators is None:
            n_experts = X.shape[1]
        else:
            self._set_experts()
            n_experts = len(self.estimators_)
        self._state = self._new_state(n_experts)
        self._weight_parts = []

    def _check_arrays(self):
        experts = getattr(self, "estimators_", None)
        n_experts = self.n_features_in_ if experts is None else len(experts)
        if not isinstance(self._state, WeightState) or self._state.n_experts != n_experts:
            raise ValueError(f"There must be weights for {n_experts} experts.")

    def _copy_state(self):
        copy_state(self)
        if self._experts_learn:
            self.estimators_ = copy.deepcopy(self.estimators_)
            self._pending = list(self._pending)

    @property
    def _width(self):
        # Of experts that learn a copy is made even for a single row: the last one might fail.
        return 2 if self._experts_learn else 1

    # ------------------------------------------------------------ trials

    def _prepare(self, X, targets):
        return self._consult(X, targets)

    def _play(self, X, targets):
        answers = np.empty((X.shape[0], self._n_answers()))
        step, start = max(FEWEST_ROWS, BLOCK // X.shape[1]), 0
        while start < X.shape[0]:
            n_rows = min(step, X.shape[0] - start, self._state.trials_left)
            rows = slice(start, start + n_rows)
            part = X[rows] if is_dense(X) else dense(take_slice(X, rows))
            self._play_block(part, targets[rows], answers[rows])
            start = rows.stop
        return answers, X.shape[0]

    def _play_block(self, advice, targets, answers):
        abstaining = self._some_abstain(advice)
        tables, losses = self._judge(advice, targets, abstaining)
        means = np.empty((len(advice), self._n_means(tables)))
        history = np.empty(advice.shape) if self.keep_weights else NO_HISTORY
        n_played = self._state.play(losses, tables, means, self._votes, history)
        if n_played < len(advice):
            raise ValueError(
                f"The losses of the experts in trial {self.n_trials_ + n_played + 1} exceed the "
                "range of floating point numbers: scale the advice and the targets."
            )
        if self.keep_weights:
            self._weight_parts = with_part(self._weight_parts, history)
        self._respond(means, answers, targets)
        self._hear(answers, targets)
        if abstaining:
            absent = self._state.absent
            _aggregating.add_absent(losses, self._absent_losses(answers, targets), absent)

    def _hear(self, answers, targets):
        """Take note of what came of some trials."""

    def _absent_losses(self, answers, targets):
        """Return the losses of trials that are no regret against experts that abstained."""
        return self._losses(answers, targets)

    def _n_means(self, tables):
        """Return how many means there are; without tables, those of losses and their squares."""
        return len(tables) or 2

    def _some_abstain(self, advice):
        """Return whether there is NaN; complain if there is infinity."""
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(advice.sum()):
                return False
        assert_all_finite(
            advice, allow_nan=True, estimator_name=type(self).__name__, input_name="X"
        )
        return bool(np.isnan(advice).any())

    # ------------------------------------------------------------ what is known afterwards

    def _finish(self):
        self.log_weights_, losses, rate = self._state.summary()
        self.weights_ = np.exp(self.log_weights_)
        self.expert_losses_ = self._unit * losses
        if self._shows_rate:
            self.eta_ = rate
        self._certify()

    @property
    def weight_curve_(self) -> np.ndarray:
        """The weights before each trial, if they were asked for."""
        self._weight_parts = whole(self, "_weight_parts", "keep_weights")
        return self._weight_parts[0]

    # The unit in which losses are reported.
    _unit = 1.0

    def _regrets(self):
        """Return the regret against each expert in the trials in which it did not abstain."""
        return self.cumulative_loss_ - self._state.absent - self.expert_losses_

    def _regret_bounds(self):
        return np.full(self._state.n_experts, self._state.hedge_bound())

    def _certify(self):
        regrets = self._regrets()
        self.best_expert_ = int(regrets.argmax())
        self.regret_ = float(regrets[self.best_expert_])
        bounds = self._regret_bounds()
        if bounds is not None:
            bounds = float(self._unit * bounds[self.best_expert_])
        self.regret_bound_ = bounds

    def expert_loss_matrix(self, X: MatrixLike, y: ArrayLike) -> np.ndarray:
        """Return what each expert loses in each trial of a stream.

        Experts that learn start from scratch and learn from the stream, as in ``fit``; the learner
        and its own experts do not change.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The advice of the experts; NaN where they abstain. With ``estimators``, samples.

        y : array-like of shape (n_samples,)
            What happened.

        Returns
        -------
        losses : ndarray of shape (n_samples, n_experts)
            The losses, NaN where an expert abstains. After ``fit`` with the same samples their sums
            are ``expert_losses_``.
        """
        check_is_fitted(self)
        return self._unit * self._losses_of_advice(X, y)

    def _losses_of_advice(self, X, y):
        """Return what each expert loses in each trial, in the units of the weights."""
        check_certified(self)
        X, targets = self._read(X, y, reset=False)
        twin = copy.copy(self)
        if self._experts_learn:
            twin._set_experts()
        advice = dense(twin._consult(X, targets))
        _, losses = twin._judge(advice, targets, self._some_abstain(advice))
        return losses

    def _fit_and_hear(self, X, y):
        """Do what ``fit`` does, and return what the regret is the sum of, trial by trial."""
        self._heard = heard = []
        self.fit(X, y)
        del self._heard
        return self._absent_losses(np.concatenate(heard), self._read(X, y, reset=False)[1])

    # ------------------------------------------------------------ estimators as experts

    def __sklearn_clone__(self):
        # A clone of a fitted expert would be none.
        twin = super().__sklearn_clone__()
        return twin.set_params(estimators=self.estimators) if self.prefit else twin

    @property
    def _experts_learn(self):
        return self.estimators is not None and not self.prefit

    def _set_experts(self):
        """Set ``estimators_`` and ``expert_names_``."""
        named = [
            expert if isinstance(expert, tuple) else (f"expert {k}", expert)
            for k, expert in enumerate(self.estimators)
        ]
        if not named:
            raise ValueError("estimators must contain at least one expert; got an empty list.")
        for name, expert in named:
            if not hasattr(expert, "predict"):
                raise ValueError(
                    f"The expert {name!r} in estimators has no predict method: {expert!r}."
                )
            if self._experts_learn and not hasattr(expert, "partial_fit"):
                raise ValueError(
                    f"The expert {name!r} in estimators has no partial_fit method. "
                    "Fit it before and set prefit=True."
                )
        self.expert_names_ = np.array([name for name, _ in named], dtype=object)
        self.estimators_ = [clone(expert) if self._experts_learn else expert for _, expert in named]
        # Samples and targets that experts have advised on but not learned from.
        self._pending = []

    @property
    def _sample_checks(self):
        # Experts that were fitted before may know frames, or anything else.
        return ANYTHING if self.estimators is not None and self.prefit else SAMPLES

    def _read_query(self, X):
        if self.estimators is not None:
            return read_samples(self, X, reset=False)
        checks = {**self._sample_checks, "ensure_all_finite": "allow-nan"}
        return validate_data(self, X, reset=False, **checks)

    def _consult(self, X, targets=None):
        """Return the advice of all experts on samples; with targets, let those learn who do."""
        if self.estimators is None:
            return X
        advice = np.empty((X.shape[0], len(self.estimators_)))
        others = []
        for k, expert in enumerate(self.estimators_):
            if targets is None or self.prefit:
                advice[:, k] = self._said(k, self._ask(expert, X))
            elif isinstance(expert, ONLINE):
                known = self._known_to(expert)
                advice[:, k] = self._said(
                    k, expert._predict_and_learn(X, self._told(targets), **known)
                )
            else:
                others.append(k)
        if others:
            self._consult_blocks(X, targets, others, advice)
        return advice

    def _consult_blocks(self, X, targets, experts, advice):
        """Let experts advise on blocks before they learn from them."""
        told = self._told(targets)
        start, n_pending = 0, sum(len(y) for _, y in self._pending)
        while start < X.shape[0]:
            rows = slice(start, min(start + self.block_size - n_pending, X.shape[0]))
            part = X[rows]
            for k in experts:
                advice[rows, k] = self._said(k, self._ask(self.estimators_[k], part))
            self._pending.append((part, told[rows]))
            n_pending += rows.stop - start
            if n_pending == self.block_size:
                self._teach(experts)
                n_pending = 0
            start = rows.stop
        if self._pending:  # what is kept for later belongs to nobody else
            self._pending.append(tuple(part.copy() for part in self._pending.pop()))

    def _teach(self, experts):
        parts, targets = zip(*self._pending, strict=True)
        self._pending = []
        stack = sp.vstack if sp.issparse(parts[0]) else np.concatenate
        X, y = (
            (parts[0], targets[0]) if len(parts) == 1 else (stack(parts), np.concatenate(targets))
        )
        for k in experts:
            expert = self.estimators_[k]
            expert.partial_fit(X, y, **self._known_to(expert))

    def _ask(self, expert, X):
        """Return what an expert predicts, None if it has seen nothing yet."""
        try:
            return self._opinion(expert, X)
        except NotFittedError:
            if self.prefit:
                raise
            return None

    def _known_to(self, expert):
        """Return what an expert has to be told when it learns for the first time."""
        if is_classifier(expert) and not hasattr(expert, "classes_"):
            return {"classes": self._labels()}
        return {}

    def _opinion(self, expert, X):
        return expert.predict(X)

    def _said(self, k, opinion):
        """Return opinions as numbers; an expert that has none abstains."""
        return np.nan if opinion is None else np.asarray(opinion, dtype=np.float64)

    def _told(self, targets):
        """Return what experts learn."""
        return targets

    # ------------------------------------------------------------ answers without learning

    def _weighted_means(self, advice):
        """Return the weighted means of tables, or the weights of classes, row by row."""
        abstaining = np.isnan(advice)
        some_abstain = bool(abstaining.any())
        tables = self._tables(advice, some_abstain)
        n_means = self._n_means(tables)
        means = np.empty((len(advice), n_means))
        if not some_abstain:
            for k in range(n_means):
                means[:, k] = (tables[0] == k if self._votes else tables[k]) @ self.weights_
            return means
        weights = self._state.available_weights(abstaining)
        for k in range(n_means):
            table = tables[0] == k if self._votes else np.where(abstaining, 0, tables[k])
            means[:, k] = np.einsum("ij,ij->i", weights, table)
        return means

    def _answers(self, X):
        """Return the answers for samples, as in a trial, but without learning."""
        check_is_fitted(self)
        check_fixed(self)
        advice = self._consult(self._read_query(X))
        answers = np.empty((advice.shape[0], self._n_answers()))
        step = max(FEWEST_ROWS, BLOCK // advice.shape[1])
        for start in range(0, advice.shape[0], step):
            rows = slice(start, min(start + step, advice.shape[0]))
            part = dense(take_slice(advice, rows))
            self._respond(self._weighted_means(part), answers[rows])
        return answers

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.estimators is None
        for own in (tags.classifier_tags, tags.regressor_tags):
            if own is not None:
                own.poor_score = True
        return tags


# What all learners of this kind have among their parameters.
EXPERT_CONSTRAINTS = {
    "estimators": [list, tuple, None],
    "prefit": ["boolean"],
    "block_size": [Interval(Integral, 1, None, closed="left")],
    "keep_losses": ["boolean"],
    "keep_weights": ["boolean"],
}


class ExpertsClassifierMixin(ExpertsMixin, OnlineClassifierMixin):
    """Experts whose advice are classes; answers have the weights of all classes and a choice.

    A number ``x`` is the class in place ``floor(x - threshold) + 1``.
    """

    expected_mistakes_: float

    # How near to the largest weight the last of several classes is preferred; None: the first one.
    _tie = None

    _fixed = (*ExpertsMixin._fixed, "threshold")
    _mutable = ("_state", "_rng")

    def _begin(self, X):
        super()._begin(X)
        seed = check_random_state(self.random_state).randint(2**31 - 1) if self.randomized else 0
        self._rng = np.random.default_rng(seed)
        self.expected_mistakes_ = 0.0

    @property
    def _votes(self):
        return len(self.classes_) > 2

    def _n_means(self, tables):
        return len(self.classes_) if self._votes else super()._n_means(tables)

    def _n_answers(self):
        return len(self.classes_) + 1

    def _tables(self, advice, abstaining):
        if len(self.classes_) == 2:
            codes = (advice >= self.threshold).astype(np.float64)
            if abstaining:
                codes[np.isnan(advice)] = np.nan
        else:
            codes = np.floor(advice - self.threshold)
            codes += 1
            np.clip(codes, 0, len(self.classes_) - 1, out=codes)
        return codes[None]

    def _judge(self, advice, codes, abstaining):
        if self._votes:
            tables = self._tables(advice, abstaining)
            wrong = tables[0] != codes[:, None].astype(np.float64)
        else:
            # Of two classes the weight of the wrong one is the mean of the losses.
            tables = NO_TABLES
            wrong = (advice >= self.threshold) != codes[:, None].astype(bool)
        losses = wrong.astype(np.float64)
        if abstaining:
            losses[np.isnan(advice)] = np.nan
        return tables, losses

    def _respond(self, means, answers, codes=None):
        shares, n_classes = answers[:, :-1], len(self.classes_)
        if self._votes:
            shares[:] = means
        else:
            second = means[:, 0] if codes is None else np.abs(codes - means[:, 0])
            shares[:, 0], shares[:, 1] = 1 - second, second
        # If all experts abstain, every class has the same weight.
        shares[np.isnan(means[:, 0])] = 1 / n_classes
        if codes is not None and self.randomized:
            draws = self._rng.random(len(means))
            passed = np.cumsum(shares, axis=1)[:, :-1] <= draws[:, None]
            answers[:, -1] = np.count_nonzero(passed, axis=1)
        else:
            answers[:, -1] = self._choose(shares)

    def _choose(self, shares):
        """Return the class with the largest weight in each row."""
        if self._tie is None:
            return shares.argmax(axis=1)
        tied = shares >= shares.max(axis=1, keepdims=True) - self._tie
        return shares.shape[1] - 1 - tied[:, ::-1].argmax(axis=1)

    def _hear(self, answers, codes):
        losses = self._expected_losses(answers, codes)
        if self._losses is None:
            self.expected_mistakes_ = running_sum(self.expected_mistakes_, losses)
        else:
            # Losses that are zero or one are their own squares.
            self._state.note(losses)

    def _finish(self):
        if self._losses is not None:
            self.expected_mistakes_ = self.cumulative_loss_
        super()._finish()

    def _mistaken(self, answers, codes):
        return answers[:, -1] != codes

    def _expected_losses(self, answers, codes):
        """Return the weights of all classes but the true one."""
        return 1 - answers[np.arange(len(codes)), codes]

    def _predictions(self, answers):
        return self.classes_[answers[:, -1].astype(np.intp)]

    # ------------------------------------------------------------ estimators as experts

    def _labels(self):
        return self.classes_

    def _told(self, codes):
        return self.classes_[codes]

    def _said(self, k, opinion):
        if opinion is None or not is_classifier(self.estimators_[k]):
            return super()._said(k, opinion)
        places = np.minimum(np.searchsorted(self.classes_, opinion), len(self.classes_) - 1)
        strange = self.classes_[places] != opinion
        if strange.any():
            raise ValueError(
                f"The expert {self.expert_names_[k]!r} predicts {np.unique(opinion[strange])}, "
                f"which is not in classes_={self.classes_}: pass all classes to the first call of "
                "partial_fit."
            )
        # In the middle of the interval that stands for the class.
        return places - 0.5 + self.threshold

    # ------------------------------------------------------------ predictions

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict by the class with the largest weight.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The advice of the experts; NaN where they abstain. With ``estimators``, samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes.
        """
        return self._predictions(self._answers(X))


class ExpertsRegressorMixin(ExpertsMixin, OnlineRegressorMixin):
    """Experts whose advice are numbers, of which a loss function says how good they are.

    Outcomes and advice are mapped from ``bounds_`` to the interval from zero to one, in which
    losses and predictions are computed.
    """

    regret_bound_: float | None
    eta_: float
    bounds_: tuple[Any, ...]

    _fixed = (*ExpertsMixin._fixed, "loss", "prediction")

    def _read(self, X, y, reset):
        X, y = super()._read(X, y, reset)
        if reset:
            bounds = (y.min(), y.max()) if self.bounds is None else self.bounds
            self.bounds_ = float(bounds[0]), float(bounds[1])
            if not -np.inf < self.bounds_[0] <= self.bounds_[1] < np.inf:
                raise ValueError(
                    f"bounds must be two finite numbers (low, high) with low <= high; got {bounds}."
                )
            if not np.isfinite(self._unit):
                raise ValueError(f"bounds={bounds} is too wide for this loss: scale the targets.")
        low, high = self.bounds_
        if y.min() < low or y.max() > high:
            raise ValueError(
                f"y must be within bounds={self.bounds_}; got values between {y.min():g} and "
                f"{y.max():g}. Set bounds to a range that contains all targets."
            )
        return X, y

    def _begin(self, X):
        self._check_options()
        # Whether all outcomes were at the bounds.
        self._extreme = True
        super()._begin(X)

    @property
    def _loss(self):
        return LOSSES[self.loss] if isinstance(self.loss, str) else self.loss

    @property
    def _range(self):
        return (self.bounds_[1] - self.bounds_[0]) or 1.0

    @property
    def _unit(self):
        with np.errstate(over="ignore"):
            return float(np.float64(self._range) ** self._loss.power)

    def _scaled(self, values, closest=0.0):
        """Return numbers between the bounds as numbers from zero to one, or not so far."""
        values = values - self.bounds_[0]
        values /= self._range
        highest = 1 - closest if self.bounds_[0] < self.bounds_[1] else closest
        return np.clip(values, closest, highest, out=values)

    def _check_options(self):
        """Set ``eta_``, None for a rate that adapts itself; complain of options that do not fit."""
        most = self._loss._rate(self.prediction)
        if self.eta != "auto":
            self.eta_ = float(self.eta)
        elif most is not None:
            self.eta_ = float(most)
        elif self.prediction == "vovk" and self._loss._constant("vovk", 1.0) is not None:
            self.eta_ = 1.0
        elif self.prediction == "average" and self._loss.convex:
            self.eta_ = self._rate_of_last_resort()
        else:
            raise ValueError(
                'eta="auto" is not available for this loss and prediction: set eta to a '
                "positive float."
            )
        if self.prediction == "vovk" and (
            self._loss._constant("vovk", self.eta_) is None or self.eta_ > LARGEST_RATE
        ):
            most = LARGEST_RATE if most is None else most
            raise ValueError(
                f'prediction="vovk" requires eta <= {most:g} for this loss; got {self.eta_:g}.'
            )

    # ------------------------------------------------------------ trials

    def _n_answers(self):
        return 1

    def _tables(self, advice, abstaining):
        advice = self._scaled(advice, self._loss.closest)
        if self.prediction == "average":
            return advice[None]
        tables = np.empty((2, *advice.shape))
        for outcome, table in zip((0.0, 1.0), tables, strict=True):
            np.exp(-self.eta_ * self._loss(np.full((1, 1), outcome), advice), out=table)
        return tables

    def _judge(self, advice, targets, abstaining):
        tables, outcomes = self._tables(advice, abstaining), self._scaled(targets)
        vovk = self.prediction == "vovk"
        scaled = self._scaled(advice, self._loss.closest) if vovk else tables[0]
        self._extreme = self._extreme and bool(np.all((outcomes == 0) | (outcomes == 1)))
        return tables, self._loss(outcomes[:, None], scaled)

    def _respond(self, means, answers, targets=None):
        scaled = means[:, 0]
        if self.prediction == "vovk":
            constant = self._loss._constant("vovk", self.eta_)
            scaled = self._loss._substitute(*(-constant * np.log(means.T)))
        # If all experts abstain, the middle.
        scaled = np.where(np.isnan(scaled), 0.5, scaled)
        low, high = self.bounds_
        answers[:, 0] = low + (high - low) * scaled

    def _losses(self, answers, targets):
        answers = self._scaled(answers[:, 0], self._loss.closest)
        return self._unit * self._loss(self._scaled(targets), answers)

    # ------------------------------------------------------------ the theorems

    def _loss_bounds(self, losses, complexities):
        """Return bounds on the loss of the learner, None if there are none.

        Parameters
        ----------
        losses : float or ndarray
            Losses of experts, or of sequences of them, for outcomes from zero to one.

        complexities : float or ndarray
            The logarithms of one over what they had of all weights to begin with.
        """
        if self.prediction == "vovk" and self._loss.extremes_only and not self._extreme:
            return None
        constant, slack = self._loss._constant(self.prediction, self.eta_), 0.0
        if constant is None:
            constant, slack = 1 / self.eta_, self._loss._slack(self.eta_)
            if slack is None:
                return None
        mixed = self.eta_ * losses + complexities
        return constant * mixed + slack * self.n_trials_

    # ------------------------------------------------------------ estimators as experts

    def _labels(self):
        return np.array(self.bounds_)

    def _opinion(self, expert, X):
        if is_classifier(expert) and hasattr(expert, "predict_proba"):
            probabilities = expert.predict_proba(X)
            if probabilities.shape[1] == 2:
                return self.bounds_[0] + self._range * probabilities[:, 1]
        return expert.predict(X)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the outcomes of trials.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The advice of the experts; NaN where they abstain. With ``estimators``, samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Numbers between the bounds.
        """
        return self._answers(X)[:, 0]
