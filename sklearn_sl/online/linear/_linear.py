"""Learners whose weights are sums of samples: their state, and how it goes through trials."""

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import safe_sparse_dot

from sklearn_sl._state import CheckedState, check_shape
from sklearn_sl.online._trials import with_part
from sklearn_sl.online.linear import _sweeps
from sklearn_sl.online.linear._rows import dense_rows, sparse_rows

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
) = range(_sweeps.TAIL)
# The weights of trials whose weight is one, and how often they are repeated if they are not.
NO_WEIGHT = np.empty(0)
ONCE = np.empty(0, dtype=np.int64)


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
    if not isinstance(loss, _sweeps.Loss):
        values, slopes = loss.loss(scores, targets), loss.gradient(scores, targets)
        return np.asarray(values, dtype=np.float64), np.asarray(slopes, dtype=np.float64)
    values, slopes = np.empty(len(scores)), np.empty(len(scores))
    _sweeps.look(loss, scores, targets, values, slopes)
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
    ``first_averaged`` on; zero is no average.
    """

    def __init__(self, shape, fit_intercept, first_averaged, ball, together):
        n_vectors, n_features = shape
        self.fit_intercept, self.ball, self.together = fit_intercept, ball, together
        self.first_averaged = first_averaged
        self.weights = np.zeros(shape)
        self.sums = np.zeros((n_vectors, n_features if first_averaged else 0))
        self.tails = np.zeros((n_vectors, _sweeps.TAIL))
        self.tails[:, SCALE] = 1.0
        self.biases = np.zeros((2, n_vectors))

    def _check_state(self):
        n_vectors, n_features = check_shape(self, "weights", (None, None)).shape
        check_shape(self, "sums", (n_vectors, (0, n_features)))
        check_shape(self, "tails", (n_vectors, _sweeps.TAIL))
        check_shape(self, "biases", (2, n_vectors))

    def copy(self):
        """Return a state that can go on alone."""
        twin = object.__new__(LinearState)
        vars(twin).update(vars(self))
        for name in ("weights", "sums", "tails", "biases"):
            setattr(twin, name, getattr(self, name).copy())
        return twin

    # ------------------------------------------------------------ trials

    def play(self, k, rows, targets, weight, times, loss, rule, n_trials, scores):
        """Play trials with vector ``k`` after ``n_trials`` others; return how many rows."""
        mine = slice(k, k + 1)
        state = (self.weights[mine], self.sums[mine], self.tails[k], scores, k)
        unheard = self._n_unheard(n_trials, times)
        if times.size:
            return _sweeps.sweep_runs(
                rows, targets, weight, times, loss, rule, self.fit_intercept, unheard, *state
            )
        return _sweeps.sweep(
            rows, targets, weight, loss, rule, self.fit_intercept, self.ball, unheard, *state
        )

    def play_together(self, rows, codes, weight, times, loss, rule, n_trials, scores):
        """Play trials with all vectors at once; return how many rows."""
        return _sweeps.sweep_classes(
            rows,
            codes,
            weight,
            times,
            loss,
            rule,
            self.fit_intercept,
            self.ball,
            self._n_unheard(n_trials, times),
            self.weights,
            self.sums,
            *self.biases,
            self.tails[0],
            scores,
            np.empty(len(self.weights)),
        )

    def _n_unheard(self, n_trials, times):
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

    _fixed = ("average", "fit_intercept", "multi_class")
    _mutable, _state = ("_state",), None
    # The norm that weights are kept within.
    _ball = np.inf
    # Which vectors stay as they are while others go on, and the weights of classes, if there are.
    _resting = _class_factors = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def _width(self):
        return len(self._state.weights)

    @property
    def _first_averaged(self):
        """The number of the first trial whose weights count in the average; zero: no average."""
        return int(self.average)

    @property
    def _keeps_each(self):
        """Whether something is kept of each trial."""
        return self.keep_losses

    def _check_options(self):
        pass

    def _begin(self, X):
        shape = (self._n_vectors(), X.shape[1])
        self._state = LinearState(
            shape, self.fit_intercept, self._first_averaged, self._ball, self._together
        )

    def _check_arrays(self):
        check_shape(self._state, "weights", (self._n_vectors(), self.n_features_in_))

    # ------------------------------------------------------------ trials

    def _loss_of(self, k):
        """Return the loss that weight vector ``k`` steps down."""
        return self._loss()

    def _rule_of(self, k):
        """Return how far weight vector ``k`` steps."""
        rests = self._resting is not None and self._resting[k]
        return _sweeps.Rule() if rests else self._rule()

    def _play(self, X, targets, weight=NO_WEIGHT, times=ONCE):
        rows, n_vectors = as_rows(X), len(self._state.weights)
        scores = np.empty((len(targets), n_vectors))
        if self._state.together:
            weight = self._trial_weights(targets, None, weight)
            trials = (targets, weight, times, self._loss_of(0), self._rule())
            return scores, self._state.play_together(rows, *trials, self.n_trials_, scores)
        played = [
            self._state.play(
                k,
                rows,
                self._signs(targets, k),
                self._trial_weights(targets, k, weight),
                times,
                self._loss_of(k),
                self._rule_of(k),
                self.n_trials_,
                scores,
            )
            for k in range(n_vectors)
        ]
        if times.size and n_vectors > 1 and min(played) == len(targets):
            self._count_later_mistakes(X, targets, weight, times, scores)
        return scores, min(played)

    def _count_later_mistakes(self, X, codes, weight, times, scores):
        """Count the mistakes of rows that are repeated at once, but for the first time."""
        factors = [self._trial_weights(codes, k, weight) for k in range(scores.shape[1])]
        factors = [each if each.size else np.ones(len(codes)) for each in factors]
        self.n_mistakes_ += _sweeps.count_later_mistakes(
            scores,
            codes,
            times,
            squared_norms(X) + self.fit_intercept,
            np.stack(factors, axis=1),
            self._loss(),
            [self._rule_of(k) for k in range(scores.shape[1])],
        )

    def _trial_weights(self, targets, k, weight):
        """Return the weights of trials for weight vector ``k``, given those of their samples."""
        if self._class_factors is None:
            return weight
        factors = self._factors_of_trials(targets, k)
        return factors * weight if weight.size else factors

    def _factors_of_trials(self, codes, k):
        """Return what the weights of classes do to the trials of weight vector ``k``."""
        return self._class_factors[codes]

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
        self.n_updates_ = self._state.n_steps
        self.radius_ = self._state.radius

    def _scores(self, X):
        coef = self.coef_ if sp.issparse(self.coef_) else np.atleast_2d(self.coef_)
        return linear_scores(X, coef, self.intercept_)
