"""What the learners share whose weights are sums of samples."""

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._state import check_shape
from sklearn_sl.online._protocol import (
    BEYOND,
    OnlineClassifierMixin,
    OnlineRegressorMixin,
    with_part,
)
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


def scores_of_query(learner, X):
    """Return the scores of samples that a fitted learner is asked about; all of them are finite."""
    check_is_fitted(learner)
    learner._check_fixed()
    X = learner._read_query(X)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = learner._scores(X)
    if not np.isfinite(scores).all():
        raise ValueError(BEYOND.format(type(learner).__name__))
    return scores


class LinearScoresMixin:
    """Scores that are linear in the sample."""

    def _scores(self, X):
        coef = self.coef_ if sp.issparse(self.coef_) else np.atleast_2d(self.coef_)
        return linear_scores(X, coef, self.intercept_)


class AdditiveMixin(LinearScoresMixin):
    """The state of additive learners and their trials.

    ``_loss()`` returns the loss that is stepped down, ``_rule()`` how far it is stepped.
    ``_weights`` and ``_sums`` have a row for each weight vector, ``_tails`` too; see the compiled
    sweeps for what they hold.
    """

    _mutable = ("_weights", "_sums", "_tails", "_biases")
    _fixed = ("average", "fit_intercept")
    # The norm that weights are kept within.
    _ball = np.inf
    # Whether all weight vectors change together.
    _together = False

    def _n_vectors(self):
        return 1

    @property
    def _width(self):
        return self._n_vectors()

    @property
    def _first_averaged(self):
        """The number of the first trial whose weights count in the average; zero: no average."""
        return int(self.average)

    def _loss_of(self, k):
        """Return the loss that weight vector ``k`` steps down."""
        return self._loss()

    def _rules(self):
        """Return the rule of each weight vector."""
        return [self._rule()] * self._n_vectors()

    def _begin(self, X):
        n_vectors, n_features = self._n_vectors(), X.shape[1]
        self._weights = np.zeros((n_vectors, n_features))
        self._sums = np.zeros((n_vectors, n_features if self._first_averaged else 0))
        self._tails = np.zeros((n_vectors, _sweeps.TAIL))
        self._tails[:, SCALE] = 1.0
        # Intercepts and their sums, for the sweep that changes all vectors at once.
        self._biases = np.zeros((2, n_vectors))

    def _check_arrays(self):
        n_vectors, n_features = self._n_vectors(), self.n_features_in_
        check_shape(self, "_weights", (n_vectors, n_features))
        check_shape(self, "_sums", (n_vectors, (0, n_features)))
        check_shape(self, "_tails", (n_vectors, _sweeps.TAIL))
        check_shape(self, "_biases", (2, n_vectors))

    def _play_one(self, rows, targets, weight, times, loss, rule, k, scores):
        """Play trials with weight vector ``k``; return how many rows."""
        mine = slice(k, k + 1)
        state = (self._weights[mine], self._sums[mine], self._tails[k], scores, k)
        unheard = self._n_unheard(times)
        if times.size:
            return _sweeps.sweep_runs(
                rows, targets, weight, times, loss, rule, self.fit_intercept, unheard, *state
            )
        return _sweeps.sweep(
            rows, targets, weight, loss, rule, self.fit_intercept, self._ball, unheard, *state
        )

    def _play_together(self, rows, codes, weight, times, loss, rule, scores):
        """Play trials with all weight vectors at once; return how many rows."""
        return _sweeps.sweep_classes(
            rows,
            codes,
            weight,
            times,
            loss,
            rule,
            self.fit_intercept,
            self._ball,
            self._n_unheard(times),
            self._weights,
            self._sums,
            *self._biases,
            self._tails[0],
            scores,
            np.empty(len(self._weights)),
        )

    def _n_unheard(self, times):
        """Return the number of the next rows that do not count in the average.

        A run does, or it does not.
        """
        n_unheard = self._first_averaged - 1 - self.n_trials_
        if not times.size or n_unheard <= 0:
            return n_unheard
        return int(np.searchsorted(np.cumsum(times), n_unheard, side="right"))

    def _account(self, answers, targets):
        # The sweep has added up the losses.
        self.cumulative_loss_ = float(self._tails[:, LOSS].sum())
        if self.keep_losses:
            self._loss_parts = with_part(self._loss_parts, self._losses(answers, targets))

    def _n_changes(self):
        return int(self._tails[:, N_STEPS].sum())

    def _last_weights(self):
        """Return the weights and the intercepts of the next trial."""
        scale = self._tails[0, SCALE] if self._together else self._tails[:, SCALE, None]
        biases = self._biases[0] if self._together else self._tails[:, BIAS]
        weights = self._weights if (scale == 1).all() else scale * self._weights
        return weights, biases.copy()

    def _last_vectors(self):
        """Return the weights of the next trial with the intercepts in the last column."""
        return np.column_stack(self._last_weights())

    def _mean_weights(self):
        """Return the mean of the weights and the intercepts of trials; None before the first."""
        n_averaged = self.n_trials_ - self._first_averaged + 1
        if not self._first_averaged or n_averaged < 1:
            return None
        age = self._tails[0, AGE] if self._together else self._tails[:, AGE, None]
        sums = self._biases[1] if self._together else self._tails[:, BIAS_SUM]
        return (age * self._weights + self._sums) / n_averaged, sums / n_averaged

    def _finish(self):
        """Set the weights and intercepts that predictions are made with."""
        self.coef_, self.intercept_ = self._mean_weights() or self._last_weights()
        self.n_updates_ = self._n_changes()
        self.radius_ = float(np.sqrt(self._tails[:, RADIUS2].max()))


class ClassScoresMixin:
    """One score for two classes, else one for each; a vector or a function stands behind each.

    With ``multi_class="ovr"`` each vector learns its class against all others. With "kesler" the
    vector of the true class and that of the best other class take a step together. The hook is
    ``_scores(X)``, a column for each score.
    """

    @property
    def _together(self):
        return self.multi_class == "kesler" and self._n_vectors() > 1

    def _n_vectors(self):
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _signs(self, codes, k):
        """Return the targets of weight vector ``k``, one for its class and else minus one."""
        signs = (codes == (1 if self._n_vectors() == 1 else k)) * 2.0
        signs -= 1.0
        return signs

    def _views(self, scores, codes):
        """Return scores and targets as losses see them: for each vector, or for all together."""
        if not self._together:
            return [(scores[:, k], self._signs(codes, k)) for k in range(scores.shape[1])]
        rows, others = np.arange(len(codes)), scores.copy()
        others[rows, codes] = -np.inf
        return [(scores[rows, codes] - others.max(axis=1), np.ones(len(codes)))]

    def _pull(self, scores, codes, slopes):
        """Return the slopes by scores, given those of the views."""
        if not self._together:
            return np.stack(slopes, axis=1)
        rows, others, pull = np.arange(len(codes)), scores.copy(), np.zeros_like(scores)
        others[rows, codes] = -np.inf
        pull[rows, codes], pull[rows, others.argmax(axis=1)] = slopes[0], -slopes[0]
        return pull

    def decision_function(self, X):
        """Return the scores of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes the scores of the second one, positive where it is predicted; else a
            column for each class.
        """
        scores = scores_of_query(self, X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X):
        """Predict the classes of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes.
        """
        return self._predictions(scores_of_query(self, X))


class LinearClassifierMixin(ClassScoresMixin, AdditiveMixin, OnlineClassifierMixin):
    """Additive learners that classify."""

    _fixed = (*AdditiveMixin._fixed, "multi_class")

    def _play(self, X, codes, weight=NO_WEIGHT, times=ONCE):
        rows = as_rows(X)
        scores = np.empty((len(codes), self._n_vectors()))
        if self._together:
            weight, loss = self._trial_weights(codes, None, weight), self._loss_of(0)
            played = self._play_together(rows, codes, weight, times, loss, self._rule(), scores)
            return scores, played
        played = [
            self._play_one(
                rows,
                self._signs(codes, k),
                self._trial_weights(codes, k, weight),
                times,
                self._loss_of(k),
                rule,
                k,
                scores,
            )
            for k, rule in enumerate(self._rules())
        ]
        return scores, min(played)

    def _trial_weights(self, codes, k, weight):
        """Return the weights of trials for weight vector ``k``, given those of their samples."""
        return weight

    def _losses(self, scores, codes):
        return sum(look(self._loss(), *view)[0] for view in self._views(scores, codes))

    def _account(self, scores, codes):
        super()._account(scores, codes)
        if scores.shape[1] == 1 or self._together:
            self.n_mistakes_ = int(self._tails[0, N_WRONG])
        else:
            self.n_mistakes_ += int(np.count_nonzero(self._mistaken(scores, codes)))


class NumberScoresMixin:
    """One score, which is the prediction. The hook is ``_scores(X)``, a matrix of one column."""

    def _views(self, scores, y):
        return [(scores[:, 0], y)]

    def predict(self, X):
        """Predict the targets of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Numbers.
        """
        return scores_of_query(self, X)[:, 0]


class LinearRegressorMixin(NumberScoresMixin, AdditiveMixin, OnlineRegressorMixin):
    """Additive learners whose answers are numbers."""

    def _play(self, X, y, weight=NO_WEIGHT, times=ONCE):
        scores = np.empty((len(y), 1))
        loss, rule = self._loss_of(0), self._rules()[0]
        return scores, self._play_one(as_rows(X), y, weight, times, loss, rule, 0, scores)

    def _pull(self, scores, y, slopes):
        return slopes[0][:, None]

    def _losses(self, scores, y):
        return look(self._loss(), scores[:, 0], y)[0]

    def _finish(self):
        super()._finish()
        self.coef_ = self.coef_[0]
