"""What online learners share whose answers are scores, linear in the sample."""

from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from sklearn_sl.online._protocol import OnlineClassifierMixin, OnlineRegressorMixin


def linear_scores(X, coef, intercept):
    """Return ``X @ coef.T + intercept``."""
    scores = safe_sparse_dot(X, coef.T, dense_output=True)
    scores += intercept
    return scores


class ScoringClassifierMixin(OnlineClassifierMixin):
    """Classifiers with one weight vector for two classes, else one for each.

    ``_scores(X)`` returns a column of scores for each weight vector.
    """

    def _n_vectors(self):
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _signs(self, codes, k):
        """Return the targets of weight vector ``k``, one for its class and else minus one."""
        signs = (codes == (1 if self._n_vectors() == 1 else k)) * 2.0
        signs -= 1.0
        return signs

    def _scores(self, X):
        return linear_scores(X, self.coef_, self.intercept_)

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


class ScoringRegressorMixin(OnlineRegressorMixin):
    """Regressors with one weight vector."""

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
        return linear_scores(self._read_query(X), self.coef_[None], self.intercept_)[:, 0]
