"""Learners whose weights are sums of samples: their state, and how it goes through trials."""

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import safe_sparse_dot

from sklearn_sl._state import CheckedState, check_shape
from sklearn_sl.online._trials import slices, with_part
from sklearn_sl.online.linear import _runs, _steps, _sweeps
from sklearn_sl.online.linear._rows import dense_rows, sparse_rows
from sklearn_sl.online.linear._votes import Ancestors

(
    BIAS,
    SCALE,
    AGE,
    BIAS_SUM,
    NORM2,
    LARGEST2,
    RADIUS2,
    N_STEPS,
    N_WRONG,
    LOSS,
    SQUARES,
) = range(_steps.TAIL)
# The weights of trials whose weight is one, and how often they are repeated if they are not.
NO_WEIGHT = np.empty(0)
ONCE = np.empty(0, dtype=np.int64)
# By what weights are multiplied after each trial, and how far they are then pulled towards zero.
NO_PENALTY = (1.0, 0.0)
# Scores that nobody asks for.
NO_SCORES = np.empty((0, 0))


def as_rows(X):
    """Return samples, dense or in compressed sparse rows, as compiled code reads them."""
    if not sp.issparse(X):
        return dense_rows(np.ascontiguousarray(X, dtype=np.float64))
    data = np.ascontiguousarray(X.data, dtype=np.float64)
    columns = (X.indices, None) if X.indices.dtype == np.int32 else (None, X.indices)
    return sparse_rows(data, *columns, X.indptr.astype(np.int64), X.shape[1])


def squared_norms(X):
    """Return the squared norm of each row in double precision, perhaps infinite."""
    with np.errstate(over="ignore"):
        if sp.issparse(X):
            X = X.astype(np.float64, copy=False)
            return np.asarray(X.multiply(X).sum(axis=1)).ravel()
        return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def look(loss, scores, targets):
    """Return the values and the slopes of a loss at scores.

    A loss that is not compiled has the methods ``loss`` and ``gradient``.
    """
    if not isinstance(loss, _steps.Loss):
        values, slopes = loss.loss(scores, targets), loss.gradient(scores, targets)
        return np.asarray(values, dtype=np.float64), np.asarray(slopes, dtype=np.float64)
    values, slopes = np.empty(len(scores)), np.empty(len(scores))
    _steps.look(loss, scores, targets, values, slopes)
    return values, slopes


def linear_scores(X, coef, intercept):
    """Return ``X @ coef.T + intercept``."""
    scores = safe_sparse_dot(X, coef.T, dense_output=True)
    return np.add(scores, intercept, out=scores)


class LinearState(CheckedState):
    """Weight vectors that are sums of samples, and what compiled trials know of them.

    ``weights`` and ``sums`` have a row for each vector, ``tails`` too; ``biases`` are the
    intercepts and their sums, for vectors that change ``together``. See the compiled sweeps for
    what they hold. The weights stay in a ``ball`` around zero, and count in the average from trial
    ``first_averaged`` on; zero is no average. ``owed`` is what weights have paid of a penalty on
    their absolute values, and in the last column all that is due; None is none.
    """

    owed = None

    def __init__(self, shape, fit_intercept, first_averaged, ball, together):
        n_vectors, n_features = shape
        self.fit_intercept, self.ball, self.together = fit_intercept, ball, together
        self.first_averaged = first_averaged
        self.weights = np.zeros(shape)
        self.sums = np.zeros((n_vectors, n_features if first_averaged else 0))
        self.tails = np.zeros((n_vectors, _steps.TAIL))
        self.tails[:, SCALE] = 1.0
        self.biases = np.zeros((2, n_vectors))

    def _check_state(self):
        n_vectors, n_features = check_shape(self, "weights", (None, None)).shape
        check_shape(self, "sums", (n_vectors, (0, n_features)))
        check_shape(self, "tails", (n_vectors, _steps.TAIL))
        check_shape(self, "biases", (2, n_vectors))
        if self.owed is not None:
            check_shape(self, "owed", (n_vectors, n_features + 1))

    def copy(self):
        """Return a state that can go on alone."""
        twin = object.__new__(LinearState)
        vars(twin).update(
            {
                name: value.copy() if isinstance(value, np.ndarray) else value
                for name, value in vars(self).items()
            }
        )
        return twin

    # ------------------------------------------------------------ trials

    def trials(self, rows, numbers, codes, factors, loss, rule, penalty):
        """Return compiled trials of rows, which change this state."""
        if penalty[1] > 0 and self.owed is None:
            self.owed = np.zeros((len(self.weights), self.weights.shape[1] + 1))
        owed = self.sums[:, :0] if self.owed is None else self.owed
        arrays = self.weights, self.sums, self.tails, self.biases, owed
        return _sweeps.Sweep(
            *(rows, numbers, codes, factors, loss, rule, self.fit_intercept, self.ball),
            *(*penalty, *arrays, np.full(rows.n_rows, -1.0)),
        )

    def play_runs(self, k, rows, targets, weight, times, loss, rule, n_trials, scores):
        """Play trials with vector ``k``, many times each; return how many rows."""
        mine = slice(k, k + 1)
        state = (self.weights[mine], self.sums[mine], self.tails[k], scores, k)
        unheard = self.n_unheard(n_trials, times)
        return _runs.sweep_runs(
            rows, targets, weight, times, loss, rule, self.fit_intercept, unheard, *state
        )

    def n_unheard(self, n_trials, times=ONCE):
        """Return the number of the next rows that do not count in the average.

        A run does, or it does not.
        """
        n_unheard = self.first_averaged - 1 - n_trials
        if not times.size or n_unheard <= 0:
            return n_unheard
        return int(np.searchsorted(np.cumsum(times), n_unheard, side="right"))

    # ------------------------------------------------------------ what is known afterwards

    @property
    def total_loss(self):
        """The sum of all losses, which the sweep has added up."""
        return float(self.tails[:, LOSS].sum())

    @property
    def n_steps(self):
        """The number of steps of all vectors."""
        return int(self.tails[:, N_STEPS].sum())

    @property
    def radius(self):
        """The largest norm of a sample, with its constant, that was stepped along."""
        return float(np.sqrt(self.tails[:, RADIUS2].max()))

    def last_weights(self):
        """Return the weights and the intercepts of the next trial."""
        scale = self.tails[0, SCALE] if self.together else self.tails[:, SCALE, None]
        biases = self.biases[0] if self.together else self.tails[:, BIAS]
        weights = self.weights if (scale == 1).all() else scale * self.weights
        return weights, biases.copy()

    def last_vectors(self):
        """Return the weights of the next trial with the intercepts in the last column."""
        return np.column_stack(self.last_weights())

    def mean_weights(self, n_trials):
        """Return the mean of the weights and the intercepts of trials; None before the first."""
        n_averaged = n_trials - self.first_averaged + 1
        if not self.first_averaged or n_averaged < 1:
            return None
        age = self.tails[0, AGE] if self.together else self.tails[:, AGE, None]
        sums = self.biases[1] if self.together else self.tails[:, BIAS_SUM]
        return (age * self.weights + self.sums) / n_averaged, sums / n_averaged


class LinearMixin:
    """Hooks of the protocol for learners with a ``LinearState``, classifiers and regressors.

    Hooks of their own: ``_loss()`` returns the loss that is stepped down, ``_rule()`` how far it is
    stepped, and ``_check_options()`` complains of parameters that do not go together.
    """

    n_trials_: int
    cumulative_loss_: float
    n_updates_: int
    radius_: float
    comparator_: np.ndarray
    converged_: bool
    n_iter_: int

    _fixed = ("average", "fit_intercept", "multi_class")
    _mutable, _state, _ancestors = ("_state",), None, ()
    # The norm that weights are kept within.
    _ball, _penalty = np.inf, NO_PENALTY
    # Which vectors stay as they are while others go on, and the weights of classes, if there are;
    # and whether a vector knows only that of its own class.
    _resting = _class_factors = None
    _weighs_own_class_only = False

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def _width(self):
        return len(self._state.weights)

    def _check_options(self):
        pass

    def _begin(self, X):
        n_classes = len(self.classes_) if self._counts_mistakes else 1
        n_vectors = n_classes if n_classes > 2 else 1
        together = n_vectors > 1 and self.multi_class == "kesler"
        # The number of the first trial whose weights count in the average; zero: no average.
        first_averaged = 0 if self.average == "voted" else int(self.average)
        self._state = LinearState(
            (n_vectors, X.shape[1]), self.fit_intercept, first_averaged, self._ball, together
        )
        if self.average == "voted":
            self._ancestors = [Ancestors(first) for first in self._state.last_vectors()]

    def _check_arrays(self):
        check_shape(self._state, "weights", (self._n_vectors(), self.n_features_in_))

    # ------------------------------------------------------------ trials

    def _trials(self, X, targets, loss=None):
        """Return compiled trials of samples."""
        numbers, codes = (None, targets) if self._counts_mistakes else (targets, None)
        loss = self._loss() if loss is None else loss
        factors, rule = self._factors_of_vectors(), self._rule()
        return self._state.trials(as_rows(X), numbers, codes, factors, loss, rule, self._penalty)

    def _play_pass(self, trials, X, order, shares):
        """Play trials of ``X`` in this order, of which nothing is kept; see ``play_pass``."""
        state, resting = self._state, self._resting.view(np.uint8)
        for part in slices(X, len(state.weights), len(order)):
            places, weight = order[part], NO_WEIGHT if shares is None else shares[part]
            n_unheard = state.n_unheard(self.n_trials_)
            if state.together:
                now = np.empty(len(state.weights))
                n_played = trials.play_together(places, weight, ONCE, n_unheard, NO_SCORES, now)
            else:
                n_played, n_mistakes = trials.play(places, weight, resting, n_unheard, NO_SCORES)
            if n_played < len(places):
                self._complain(X, places[n_played])
            self.n_trials_ += n_played
            if self._counts_mistakes and len(state.weights) > 1 and not state.together:
                self.n_mistakes_ += n_mistakes
        if self._counts_mistakes and (state.together or len(state.weights) == 1):
            self.n_mistakes_ = int(state.tails[0, N_WRONG])

    def _play(self, X, targets, weight=NO_WEIGHT, times=ONCE, loss=None):
        state, n_vectors = self._state, len(self._state.weights)
        scores = np.empty((len(targets), n_vectors))
        if times.size and not state.together:
            return scores, self._play_runs(X, targets, weight, times, scores)
        trials, n_unheard = self._trials(X, targets, loss), state.n_unheard(self.n_trials_, times)
        if state.together:
            now = np.empty(n_vectors)
            return scores, trials.play_together(None, weight, times, n_unheard, scores, now)
        resting = np.zeros(n_vectors, dtype=bool) if self._resting is None else self._resting
        n_played, _ = trials.play(None, weight, resting.view(np.uint8), n_unheard, scores)
        if self.average == "voted" and n_played == len(targets):
            self._remember_mistakes(X, targets, weight, resting, scores)
        return scores, n_played

    def _remember_mistakes(self, X, codes, weight, resting, scores):
        """Let the voters know of steps; there are no runs among them."""
        for k, ancestors in enumerate(self._ancestors):
            signs, factors = self._signs(codes, k), self._trial_weights(codes, k, weight)
            wrong = (signs * scores[:, k] <= 0) & (not resting[k])
            ancestors.add(X, wrong, self.eta0 * signs * (factors if factors.size else 1.0))

    def _play_runs(self, X, targets, weight, times, scores):
        """Play trials that are repeated many times at once; return how many rows."""
        rows, n_vectors = as_rows(X), scores.shape[1]
        factors = [self._trial_weights(targets, k, weight) for k in range(n_vectors)]
        rests = [False] * n_vectors if self._resting is None else self._resting
        rules = [_steps.Rule() if each else self._rule() for each in rests]
        played = [
            self._state.play_runs(
                k,
                rows,
                self._signs(targets, k),
                factors[k],
                times,
                self._loss(),
                rules[k],
                self.n_trials_,
                scores,
            )
            for k in range(n_vectors)
        ]
        if n_vectors > 1 and min(played) == len(targets):
            factors = [each if each.size else np.ones(len(targets)) for each in factors]
            # The mistakes of the first presentations follow from their scores.
            self.n_mistakes_ += _runs.count_later_mistakes(
                scores,
                targets,
                times,
                squared_norms(X) + self.fit_intercept,
                np.stack(factors, axis=1),
                self._loss(),
                rules,
            )
        return min(played)

    def _factors_of_vectors(self):
        """Return what the weights of classes do to each vector, without columns if nothing."""
        n_vectors = len(self._state.weights)
        if self._class_factors is None:
            return np.empty((n_vectors, 0))
        factors = np.tile(self._class_factors, (n_vectors, 1))
        if self._weighs_own_class_only and n_vectors > 1 and not self._state.together:
            factors[~np.eye(n_vectors, dtype=bool)] = 1.0
        return factors

    def _trial_weights(self, targets, k, weight):
        """Return the weights of trials for weight vector ``k``, given those of their samples."""
        factors = self._factors_of_vectors()[k]
        if not factors.size:
            return weight
        return factors[targets] * weight if weight.size else factors[targets]

    def _losses(self, scores, targets):
        return sum(look(self._loss(), *view)[0] for view in self._views(scores, targets))

    def _account(self, scores, targets):
        self.cumulative_loss_ = self._state.total_loss
        if self.keep_losses:
            self._loss_parts = with_part(self._loss_parts, self._losses(scores, targets))
        if not self._counts_mistakes:
            return
        if scores.shape[1] == 1 or self._state.together:
            self.n_mistakes_ = int(self._state.tails[0, N_WRONG])
        else:
            self.n_mistakes_ += int(np.count_nonzero(self._mistaken(scores, targets)))

    def _n_changes(self):
        return self._state.n_steps

    # ------------------------------------------------------------ what is known afterwards

    def _finish(self):
        """Set the weights and intercepts that predictions are made with."""
        means = self._state.mean_weights(self.n_trials_)
        self.coef_, self.intercept_ = means or self._state.last_weights()
        if not self._counts_mistakes:  # a regressor has one vector
            self.coef_ = self.coef_[0]
        self.cumulative_loss_ = self._state.total_loss
        self.n_updates_ = self._state.n_steps
        self.radius_ = self._state.radius

    def _scores(self, X):
        coef = self.coef_ if sp.issparse(self.coef_) else np.atleast_2d(self.coef_)
        return linear_scores(X, coef, self.intercept_)
