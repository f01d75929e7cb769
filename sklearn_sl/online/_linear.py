"""What the learners share whose weights are sums of samples."""

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from sklearn_sl.online import _sweeps
from sklearn_sl.online._protocol import (
    NO_FACTORS,
    OnlineClassifierMixin,
    OnlineRegressorMixin,
    as_rows,
)

BIAS, SCALE, AGE, BIAS_SUM, NORM2, RADIUS2, STEPS2, N_STEPS = range(_sweeps.TAIL)


class AdditiveMixin:
    """The state of additive learners and their trials.

    ``_rule()`` returns the rule of the steps. ``_weights`` and ``_sums`` have a row for each
    weight vector, ``_tails`` too; see the compiled sweeps for what they hold.
    """

    _mutable = ("_weights", "_sums", "_tails", "_biases")
    # The norm that weights are kept within.
    _ball = np.inf

    @property
    def _averages(self):
        return False

    def _n_vectors(self):
        return 1

    def _begin(self, X):
        n_vectors, n_features = self._n_vectors(), X.shape[1]
        self._weights = np.zeros((n_vectors, n_features))
        self._sums = np.zeros((n_vectors, n_features if self._averages else 0))
        self._tails = np.zeros((n_vectors, _sweeps.TAIL))
        self._tails[:, SCALE] = 1.0
        # Intercepts and their sums, for the sweep that changes all vectors at once.
        self._biases = np.zeros((2, n_vectors))

    @property
    def _width(self):
        return self._n_vectors()

    def _play_one(self, rows, targets, factors, rule, k, scores):
        """Play trials with weight vector ``k``; return how many."""
        mine = slice(k, k + 1)
        return _sweeps.sweep(
            rows,
            targets,
            factors,
            rule,
            self.fit_intercept,
            self._ball,
            self.n_trials_,
            self._weights[mine],
            self._sums[mine],
            self._tails[k],
            scores,
            k,
        )

    def _play_together(self, rows, codes, factors, rule, scores):
        """Play trials with all weight vectors at once; return how many."""
        return _sweeps.sweep_classes(
            rows,
            codes,
            factors,
            rule,
            self.fit_intercept,
            self._ball,
            self.n_trials_,
            self._weights,
            self._sums,
            *self._biases,
            self._tails[0],
            scores,
        )

    def _finish(self):
        """Set the weights and intercepts that predictions are made with."""
        together = self._together
        scale = self._tails[0, SCALE] if together else self._tails[:, SCALE, None]
        self.intercept_ = self._biases[0].copy() if together else self._tails[:, BIAS].copy()
        self.coef_ = self._weights if np.all(scale == 1) else scale * self._weights
        if self._averages and self.n_trials_:
            age = self._tails[0, AGE] if together else self._tails[:, AGE, None]
            self.coef_ = (age * self._weights + self._sums) / self.n_trials_
            sums = self._biases[1] if together else self._tails[:, BIAS_SUM]
            self.intercept_ = sums / self.n_trials_

    _together = False

    def _scores(self, X):
        scores = safe_sparse_dot(X, np.atleast_2d(self.coef_).T, dense_output=True)
        return np.add(scores, self.intercept_, out=scores)


class LinearClassifierMixin(AdditiveMixin, OnlineClassifierMixin):
    """Additive learners that classify: one weight vector for two classes, else one for each.

    With ``multi_class="ovr"`` each vector learns its class against all others. With "kesler" the
    vector of the true class and that of the best other class take a step together.
    """

    @property
    def _together(self):
        return self._n_vectors() > 1 and self.multi_class == "kesler"

    def _n_vectors(self):
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _factors(self, codes):
        """Return by what the steps of trials are multiplied; nothing if by one."""
        return NO_FACTORS

    def _play(self, X, codes):
        rows, factors = as_rows(X), self._factors(codes)
        scores = np.empty((len(codes), self._n_vectors()))
        if self._together:
            return scores, self._play_together(rows, codes, factors, self._rule(), scores)
        played = [
            self._play_one(rows, self._signs(codes, k), factors, rule, k, scores)
            for k, rule in enumerate(self._rules())
        ]
        return scores, min(played)

    def _rules(self):
        """Return the rule of each weight vector."""
        return [self._rule()] * self._n_vectors()

    def _signs(self, codes, k):
        """Return the targets of weight vector ``k``, one for its class and else minus one."""
        signs = (codes == (1 if self._n_vectors() == 1 else k)) * 2.0
        signs -= 1.0
        return signs

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
        check_is_fitted(self)
        scores = self._scores(self._read_query(X))
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
        check_is_fitted(self)
        return self._predictions(self._scores(self._read_query(X)))


class LinearRegressorMixin(AdditiveMixin, OnlineRegressorMixin):
    """Additive learners whose answers are numbers."""

    def _play(self, X, y):
        scores = np.empty((len(y), 1))
        played = self._play_one(as_rows(X), y, NO_FACTORS, self._rule(), 0, scores)
        return scores, played

    def _finish(self):
        super()._finish()
        self.coef_ = self.coef_[0]

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
        check_is_fitted(self)
        return self._scores(self._read_query(X))[:, 0]
