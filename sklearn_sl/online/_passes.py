"""Fits that pass over the samples until that no longer pays, as scikit-learn's do."""

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import r2_score
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._sklearn import Progress, check_sample_weight, fit_context
from sklearn_sl.base import class_factors
from sklearn_sl.ensemble._resampling import row_hashes, scramble
from sklearn_sl.online import _sweeps
from sklearn_sl.online._linear import (
    BIAS,
    LOSS,
    NORM2,
    LinearClassifierMixin,
    LinearRegressorMixin,
    squared_norms,
)


class PassesMixin:
    """``fit`` with shuffled passes, patience, samples set aside, weights and a warm start.

    An integer weight of a sample is a number of presentations, one after the other; what remains
    of a weight that is not an integer is one more presentation with that weight. The order of a
    shuffled pass, and which samples are set aside, follow from what the rows hold: copies of a row
    stay together, wherever they stand.
    """

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, coef_init=None, intercept_init=None, sample_weight=None):
        """Start afresh and pass over the samples until a pass is clean or no longer pays.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        y : array-like of shape (n_samples,)
            Targets.

        coef_init : array-like of the shape of ``coef_``, default=None
            Weights to begin with; None is zeros.

        intercept_init : array-like of the shape of ``intercept_``, default=None
            Intercepts to begin with.

        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample is presented in a pass, time after time; what remains of a weight
            that is not an integer is one more presentation with that weight.

        Returns
        -------
        self : object
            The fitted learner.
        """
        self._check_options()
        old = self._old_weights(coef_init, intercept_init)
        X, targets = self._read(X, y, reset=True)
        weight = check_sample_weight(sample_weight, X, dtype=np.float64)
        X, targets, weight = take_weighty(X, targets, weight)
        if weight is not None:
            self._check_presence(targets)
        self._set_class_factors(targets, weight)
        X, targets, weight, watch = self._set_aside(X, targets, weight)
        self._begin(X)
        self._begin_with(*old)
        self._begin_account()
        self._run_passes(X, targets, weight, watch)
        self._finish()
        self._set_curve()
        began_with_zeros = all(values is None for values in old)
        if began_with_zeros and weight is None and self._class_factors is None:
            self._certify(X, targets)
        return self

    def _go_on(self, X, y, *classes, sample_weight=None):
        self._check_options()
        X, targets = self._read_more(X, y, *classes)
        self._forget_certificate()
        order = shares = None
        if sample_weight is not None:
            weight = check_sample_weight(sample_weight, X, dtype=np.float64)
            X, targets, weight = take_weighty(X, targets, weight)
            order, shares = order_of_pass(len(targets), None, weight)
            targets = targets if order is None else targets[order]
        self._set_class_factors(targets, None)
        self._learn(X, targets, order, shares)

    # ------------------------------------------------------------ hooks

    def _check_options(self):
        """Complain of parameters that do not go together."""

    def _check_presence(self, targets):
        """Complain of classes without a sample that has a weight."""

    def _set_class_factors(self, targets, weight):
        """Set the weights of classes, where there are classes."""
        self._class_factors = None

    def _strata(self, targets):
        """Return the groups, as integers, from each of which some samples are set aside."""
        return np.zeros(len(targets), dtype=np.intp)

    def _certify(self, X, targets):
        """Set the attributes that compare the fit with a theorem."""

    def _forget_certificate(self):
        """Set them to None."""

    # ------------------------------------------------------------ samples

    def _set_aside(self, X, targets, weight):
        """Return the samples to learn from, and those on which progress is watched."""
        if not self.early_stopping:
            return X, targets, weight, None
        # Samples that are set aside are not seen in a sweep.
        assert_all_finite(
            X.data if sp.issparse(X) else X, estimator_name=type(self).__name__, input_name="X"
        )
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        keys = scramble(row_hashes(X, targets.astype(np.float64)) + salt(seed, 0))
        aside = set_aside(keys, self._strata(targets), weight, self.validation_fraction)
        train, test = np.flatnonzero(~aside), np.flatnonzero(aside)
        weights = (None, None) if weight is None else (weight[train], weight[test])
        return X[train], targets[train], weights[0], (X[test], targets[test], weights[1])

    # ------------------------------------------------------------ weights to begin with

    def _old_weights(self, coef_init, intercept_init):
        if self.warm_start and hasattr(self, "_weights"):
            coef_init = self.standard_coef() if coef_init is None else coef_init
            intercept_init = self.standard_intercept() if intercept_init is None else intercept_init
        return coef_init, intercept_init

    def standard_coef(self):
        """Return the last weights, which differ from ``coef_`` if these are an average.

        Returns
        -------
        coef : ndarray of shape (n_vectors, n_features)
            A copy of the weights.
        """
        check_is_fitted(self)
        return self._last_weights()[0].copy()

    def standard_intercept(self):
        """Return the last intercepts, which differ from ``intercept_`` if these are an average.

        Returns
        -------
        intercept : ndarray of shape (n_vectors,)
            A copy of the intercepts.
        """
        check_is_fitted(self)
        return self._last_weights()[1]

    def _begin_with(self, coef, intercept):
        """Let the weights be these ones."""
        if coef is not None:
            coef = np.asarray(coef, dtype=np.float64)
            if coef.size != self._weights.size:
                raise ValueError(
                    f"coef_init has the shape {coef.shape}, but the weights have the shape "
                    f"{self._weights.shape}."
                )
            self._weights[:] = coef.reshape(self._weights.shape)
        if intercept is not None:
            intercept = np.ravel(np.asarray(intercept, dtype=np.float64))
            if intercept.size != len(self._weights):
                raise ValueError(
                    f"intercept_init has {intercept.size} numbers, but there are "
                    f"{len(self._weights)} intercepts."
                )
            self._tails[:, BIAS] = self._biases[0] = intercept
        norms = squared_norms(self._weights) + self._biases[0] ** 2
        self._tails[:, NORM2] = norms.sum() if self._together else norms

    # ------------------------------------------------------------ passes

    def _begin(self, X):
        super()._begin(X)
        self._resting = np.zeros(self._n_vectors(), dtype=bool)
        self._forget_certificate()

    def _rules(self):
        # A vector whose loss no longer decreases stays as it is, while others go on.
        return [_sweeps.Rule() if rests else self._rule() for rests in self._resting]

    def _run_passes(self, X, targets, weight, watch):
        """Pass over the samples until a pass is clean, or no vector makes progress."""
        hashes = row_hashes(X, targets.astype(np.float64)) if self.shuffle else None
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        patience = [Patience(self.tol, self.n_iter_no_change) for _ in self._weights]
        with Progress(self, name="pass", total=self.max_iter) as progress:
            for n_iter in range(1, self.max_iter + 1):
                n_changes, losses = self._n_changes(), self._tails[:, LOSS].copy()
                with progress.step():
                    order, shares = order_of_pass(len(targets), hashes, weight, seed, n_iter)
                    presented = targets if order is None else targets[order]
                    self._pass(X, presented, order, shares)
                self.n_iter_, self.converged_ = n_iter, self._is_clean(n_changes)
                gains = (losses - self._tails[:, LOSS]) / len(presented)
                if self.verbose:
                    print(f"Pass {n_iter}: mean loss {-gains.sum():.6g}")
                if watch is not None:
                    self._finish()
                    gains = self._validation_scores(*watch)
                self._rest(gains, patience)
                if self.converged_ or self._resting.all() or progress.stop:
                    break
        self._resting[:] = False

    def _rest(self, gains, patience):
        """Let the vectors rest that make no progress."""
        if self._together:
            gains = np.full(len(patience), gains[0])
        for k, gain in enumerate(gains):
            self._resting[k] |= patience[k].ends(gain)

    def _finish(self):
        super()._finish()
        self.t_ = self.n_trials_ + 1

    def densify(self):
        """Let ``coef_`` be an array.

        Returns
        -------
        self : object
            The learner.
        """
        check_is_fitted(self)
        if sp.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    def sparsify(self):
        """Let ``coef_`` be a sparse matrix; the next ``partial_fit`` makes it an array again.

        Returns
        -------
        self : object
            The learner.
        """
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(self.coef_)
        return self


class RegressorPassesMixin(PassesMixin, LinearRegressorMixin):
    """Additive learners whose answers are numbers."""

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y, sample_weight=None):
        """Go through more trials, once and in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        y : array-like of shape (n_samples,)
            Targets.

        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample is presented; see :meth:`fit`.

        Returns
        -------
        self : object
            The learner.
        """
        self._go_on(X, y, sample_weight=sample_weight)
        return self

    def _validation_scores(self, X, y, weight):
        """Return the R2 score on samples that were set aside."""
        with np.errstate(over="ignore", invalid="ignore"):
            return [r2_score(y, self._scores(X)[:, 0], sample_weight=weight)]


class ClassifierPassesMixin(PassesMixin, LinearClassifierMixin):
    """Additive learners that classify, with a bound on their mistakes.

    ``_best_bound(margins, norm, norms, repeats)`` returns the least bound among the multiples of a
    vector with these margins and this norm, and the multiple; ``norms`` are the least and the
    largest norm of a sample.
    """

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Go through more trials, once and in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        y : array-like of shape (n_samples,)
            Classes.

        classes : array-like of shape (n_classes,), default=None
            All the classes; needed in the first call.

        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample is presented; see :meth:`fit`.

        Returns
        -------
        self : object
            The learner.
        """
        self._go_on(X, y, classes, sample_weight=sample_weight)
        return self

    def _go_on(self, X, y, classes=None, sample_weight=None):
        if isinstance(self.class_weight, str):
            raise ValueError(
                'class_weight="balanced" is not supported for partial_fit, which does not know '
                "how often the classes will come: pass a dict."
            )
        super()._go_on(X, y, classes, sample_weight=sample_weight)

    def _check_presence(self, codes):
        missing = np.setdiff1d(np.arange(len(self.classes_)), codes)
        if missing.size:
            raise ValueError(
                f"All samples of the class {self.classes_[missing[0]]!r} have the weight zero."
            )

    def _set_class_factors(self, codes, weight):
        self._class_factors = None
        if isinstance(self.class_weight, dict):
            self._class_factors = class_factors(self.class_weight, self.classes_, None)
        elif self.class_weight is not None:
            self._class_factors = np.ones(len(self.classes_))
            self._class_factors[codes] = class_factors(self.class_weight, codes, weight)

    def _trial_weights(self, codes, k, weight):
        if self._class_factors is None:
            return weight
        factors = self._factors_of_trials(codes, k)
        return factors * weight if weight.size else factors

    def _factors_of_trials(self, codes, k):
        """Return what the weights of classes do to the trials of weight vector ``k``."""
        return self._class_factors[codes]

    def _strata(self, codes):
        return codes

    def _validation_scores(self, X, codes, weight):
        """Return the accuracy of each vector on samples that were set aside."""
        scores = self._scores(X)
        if self._together:
            right = (scores.argmax(axis=1) == codes)[:, None]
        else:
            signs = [self._signs(codes, k) for k in range(scores.shape[1])]
            right = (scores > 0) == (np.stack(signs, axis=1) > 0)
        return np.average(right, axis=0, weights=weight)

    # ------------------------------------------------------------ the theorem

    def _forget_certificate(self):
        self.bound_ = self.comparator_ = None

    def _certify(self, X, codes):
        self.bound_, self.comparator_ = self._mistake_bound(X, codes, self.n_iter_, None)

    def mistake_bound(self, X, y, comparator=None):
        """Return the theorem's bound on the mistakes of one pass over some samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples of the trials, in any order.

        y : array-like of shape (n_samples,)
            Their classes.

        comparator : array-like of shape (n_vectors, n_features + 1), default=None
            The weights to compare with, with the intercept in the last column; None is the last
            weights of this learner. The multiple that gives the least bound is taken.

        Returns
        -------
        bound : float
            A learner that begins with zeros makes no more mistakes than this, whatever the order
            of the samples; with "ovr" the sum of all classes.
        """
        check_is_fitted(self)
        X = self._read_query(X)
        codes = self._codes(self._read_targets(X, y))
        return self._mistake_bound(X, codes, 1, comparator)[0]

    def _mistake_bound(self, X, codes, repeats, comparator):
        """Return the bound, and the comparator for which it holds."""
        comparator = self._last_vectors() if comparator is None else comparator
        comparator = np.array(comparator, dtype=np.float64, ndmin=2, order="C")
        squares = (squared_norms(X) + self.fit_intercept) * (2 if self._together else 1)
        norms = np.sqrt(squares.min()), np.sqrt(squares.max())
        with np.errstate(over="ignore", invalid="ignore"):
            scores = safe_sparse_dot(X, comparator[:, :-1].T, dense_output=True) + comparator[:, -1]
        if not np.isfinite(np.append(scores, norms)).all():
            scores, norms, comparator = np.zeros_like(scores), (1.0, 1.0), np.zeros_like(comparator)
        vectors = [comparator.ravel()] if self._together else comparator
        total = 0.0
        for vector, (scored, signs) in zip(vectors, self._views(scores, codes), strict=True):
            norm = np.linalg.norm(vector)
            bound, factor = self._best_bound(signs * scored, norm, norms, repeats)
            total += bound
            vector *= factor
        return total, comparator


# ---------------------------------------------------------------- orders and patience


def salt(seed, number):
    """Return what makes the hashes of one pass different from those of another."""
    return scramble(np.array([(seed << 32) + number], dtype=np.uint64))


def take_weighty(X, targets, weight):
    """Return the samples with a positive weight; no weights if all are one."""
    if weight is None or np.all(weight == 1):
        return X, targets, None
    used = np.flatnonzero(weight > 0)
    return X[used], targets[used], weight[used]


def order_of_pass(n_rows, hashes, weight, seed=0, number=0):
    """Return in what order the rows are presented, and their weights there; None if as they are.

    With ``hashes`` the order is random, but copies of a row are neighbours, wherever they stand.
    """
    if hashes is not None:
        keys = [scramble(hashes + salt(seed, number))]
        order = np.argsort(keys[0]) if weight is None else np.lexsort([weight, *keys])
    elif weight is None:
        return None, None
    else:
        order = np.arange(n_rows)
    return (order, None) if weight is None else presentations(order, weight)


def presentations(order, weight):
    """Return an order of rows with each as often as its weight says, and the weights there.

    What remains of a weight that is not an integer is a last presentation with that weight; the
    weights are None if all of them are one.
    """
    weight = weight[order]
    times = np.ceil(weight).astype(np.intp)
    repeated = np.repeat(order, times)
    if np.array_equal(times, weight):
        return repeated, None
    shares = np.ones(len(repeated))
    shares[np.cumsum(times) - 1] = weight - (times - 1)
    return repeated, shares


def set_aside(keys, strata, weight, share):
    """Return which rows to set aside: about a share of each stratum, copies together.

    The rows of a stratum lie on a line, sorted by their keys, each as long as its weight; copies,
    which have the same key, are one row. A row is set aside if its middle is in the first part of
    the line.
    """
    weight = np.ones(len(keys)) if weight is None else weight
    order = np.lexsort([keys, strata])
    changes = (np.diff(keys[order]) != 0) | (np.diff(strata[order]) != 0)
    row_of = np.concatenate([[0], np.cumsum(changes)])
    lengths = np.bincount(row_of, weights=weight[order])
    stratum_of = strata[order][np.flatnonzero(np.concatenate([[True], changes]))]
    totals = np.bincount(stratum_of, weights=lengths)
    ends = np.cumsum(lengths)
    starts_of_strata = np.cumsum(totals) - totals
    middles = ends - lengths / 2 - starts_of_strata[stratum_of]
    aside = np.empty(len(keys), dtype=bool)
    aside[order] = (middles < share * totals[stratum_of])[row_of]
    if not aside.any() or len(np.unique(strata[~aside])) < len(np.unique(strata)):
        raise ValueError(
            f"validation_fraction={share} leaves no samples to validate with, or none of some "
            "class to learn from: there are too few samples for early_stopping."
        )
    return aside


class Patience:
    """Waits for a gain of at least ``tol``, so many times."""

    def __init__(self, tol, n_times):
        self.tol, self.n_times = tol, n_times
        self.best, self.n_idle = -np.inf, 0

    def ends(self, gain):
        """Return whether there was no progress, after hearing of one more pass."""
        if self.tol is None:
            return False
        idle = gain < self.best + self.tol
        self.n_idle = self.n_idle + 1 if idle else 0
        self.best = max(self.best, gain)
        return self.n_idle >= self.n_times
