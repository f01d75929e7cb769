"""The perceptron, with the account that its theorem speaks of."""

from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._sklearn import (
    Interval,
    Progress,
    StrOptions,
    check_sample_weight,
    fit_context,
)
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.ensemble._resampling import row_hashes, scramble
from sklearn_sl.online import _sweeps
from sklearn_sl.online._linear import BIAS, RADIUS2, LinearClassifierMixin
from sklearn_sl.online._protocol import NO_FACTORS, take_slice
from sklearn_sl.theory._perceptron import best_perceptron_bound


class Perceptron(EstimatorMixin, LinearClassifierMixin, ClassifierMixin, BaseEstimator):
    """The perceptron, trial by trial, with its mistakes and the bound on them.

    For two classes ``y = -1, 1`` a trial scores a sample by ``s = w.x + b``. If ``y s <= 0``, a
    mistake, ``(w, b)`` becomes ``(w, b) + eta0 y (x, 1)``; otherwise it stays. Weights begin at
    zero, so that the first trial is always a mistake, and ``eta0`` scales scores but changes no
    prediction. ``partial_fit`` goes through its rows once, in their order, and any partition into
    blocks gives the same weights to the last bit. ``fit`` starts afresh and passes over the rows
    until a pass is clean, or no longer pays.

    **The theorem.** For every ``u`` (with the intercept) and its hinge loss ``D`` on the trials,
    the number ``M`` of mistakes satisfies ``M <= D + R ||u|| sqrt(M)``, where ``R`` is the largest
    norm of ``(x, 1)``: Novikoff's ``(R / gamma)^2`` if ``u`` separates the classes. ``bound_`` is
    the least such bound among the multiples of the weights that were found, ``comparator_`` is
    that multiple; :meth:`mistake_bound` computes it for other samples, or another comparator.

    **Multi-class.** ``multi_class="ovr"`` is scikit-learn's: one perceptron for each class against
    all others. "kesler" adds the sample to the weights of its class and subtracts it from those
    of the best other class, which is a perceptron too, on vectors that hold the sample twice.

    **As scikit-learn's.** A change of the import line: parameters and attributes are those of
    ``sklearn.linear_model.Perceptron``, and for dense samples without shuffling so are the
    weights. Different are: ``partial_fit`` never shuffles; the order of a shuffled pass follows
    from what the rows hold, so that an integer ``sample_weight`` is a row that is presented so
    often (a fraction is a shorter step); a clean pass ends the fit; sparse samples have the same
    intercept as dense ones; ``penalty`` must be None.

    Parameters
    ----------
    penalty : None, default=None
        There is none: anything else raises an error. scikit-learn's SGDClassifier has penalties.

    alpha : float, default=0.0001
        Belongs to the penalty.

    l1_ratio : float, default=0.15
        Belongs to the penalty.

    fit_intercept : bool, default=True
        Whether there is an intercept ``b``.

    max_iter : int, default=1000
        The largest number of passes of ``fit``.

    tol : float or None, default=1e-3
        ``fit`` ends when the mean loss ``max(0, -y s)`` of a pass has not been less than the least
        one before minus ``tol`` for ``n_iter_no_change`` passes; None: never for this reason.

    shuffle : bool, default=True
        Whether the passes of ``fit`` go through the rows in random orders.

    verbose : int, default=0
        Positive: print the loss of each pass.

    eta0 : float, default=1.0
        The length of the steps.

    n_jobs : int or None, default=None
        For compatibility: a pass is one thread, as fast as memory is read.

    random_state : int, RandomState instance or None, default=0
        For the orders of the passes and the samples set aside.

    early_stopping : bool, default=False
        Whether to set samples aside and end the fit when their score has not increased by ``tol``
        for ``n_iter_no_change`` passes.

    validation_fraction : float, default=0.1
        The share of the samples that are set aside.

    n_iter_no_change : int, default=5
        How many passes without progress end the fit.

    class_weight : dict, {class_label: weight}, "balanced" or None, default=None
        Factors of the steps along the samples of each class.

    warm_start : bool, default=False
        Whether ``fit`` starts with the weights of the fit before.

    average : bool or "voted", default=False
        What predicts: the last weights; True: the mean of the weights of all trials; "voted": all
        weight vectors that there were, each with as many votes as it survived trials (only with
        "ovr"). It changes predictions, not the trials.

    multi_class : {"ovr", "kesler"}, default="ovr"
        How more than two classes are learned.

    keep_losses : bool, default=False
        Whether to keep ``loss_curve_``.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights.

    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.

    classes_ : ndarray of shape (n_classes,)
        The classes.

    n_mistakes_ : int
        The number of trials, of all passes, in which the true class did not have the largest score.

    cumulative_loss_ : float
        The sum of the losses ``max(0, -y s)`` of all trials, and classes with "ovr".

    loss_curve_ : ndarray of shape (n_trials_,)
        The loss of each trial, if ``keep_losses``.

    n_trials_ : int
        The number of trials.

    n_updates_ : int
        The number of steps; for two classes the number of mistakes.

    radius_ : float
        The largest norm of ``(x, 1)`` among the samples that were stepped along.

    bound_ : float or None
        The theorem's bound on ``n_updates_`` (with "ovr" the sum of the bounds of all classes)
        relative to ``comparator_``. None after ``partial_fit``, which does not keep its samples:
        see :meth:`mistake_bound`.

    comparator_ : ndarray of shape (n_vectors, n_features + 1) or None
        Multiples of the last weights, with the intercept in the last column; zeros where no
        multiple gives less than the number of trials.

    converged_ : bool
        Whether the last pass of ``fit`` was clean.

    n_iter_ : int
        The number of passes of ``fit``.

    t_ : int
        The number of trials plus one, as scikit-learn has it.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during fit, if all of them are strings.

    See Also
    --------
    sklearn_sl.theory.perceptron_bound : The theorem.

    References
    ----------
    .. [1] F. Rosenblatt, "The perceptron: a probabilistic model for information storage and
       organization in the brain", Psychological Review 65, 1958.

    .. [2] Y. Freund and R. Schapire, "Large margin classification using the perceptron
       algorithm", Machine Learning 37, 1999.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_sl.online import Perceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> model = Perceptron(fit_intercept=False, tol=None).fit(X, y == 0)
    >>> model.converged_, model.n_mistakes_ <= model.bound_
    (True, True)
    """

    _parameter_constraints = {
        "penalty": [StrOptions({"l2", "l1", "elasticnet"}), None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "shuffle": ["boolean"],
        "verbose": ["verbose"],
        "eta0": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "warm_start": ["boolean"],
        "average": ["boolean", StrOptions({"voted"})],
        "multi_class": [StrOptions({"ovr", "kesler"})],
        "keep_losses": ["boolean"],
    }

    def __init__(
        self,
        *,
        penalty=None,
        alpha=0.0001,
        l1_ratio=0.15,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        shuffle=True,
        verbose=0,
        eta0=1.0,
        n_jobs=None,
        random_state=0,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        class_weight=None,
        warm_start=False,
        average=False,
        multi_class="ovr",
        keep_losses=False,
    ):
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average
        self.multi_class = multi_class
        self.keep_losses = keep_losses

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # ------------------------------------------------------------ learning

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, coef_init=None, intercept_init=None, sample_weight=None):
        """Start afresh and pass over the samples until a pass is clean or no longer pays.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        y : array-like of shape (n_samples,)
            Classes.

        coef_init : array-like of shape (n_vectors, n_features), default=None
            Weights to begin with; None is zeros. Then ``bound_`` is None: the theorem begins with
            zeros.

        intercept_init : array-like of shape (n_vectors,), default=None
            Intercepts to begin with.

        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample is presented in a pass, time after time; what remains of a weight
            that is not an integer is one more presentation with a step of that share.

        Returns
        -------
        self : object
            The fitted perceptron.
        """
        self._check_options()
        old = self._old_weights(coef_init, intercept_init)
        X, codes = self._read(X, y, reset=True)
        weight = check_sample_weight(sample_weight, X, dtype=np.float64)
        if weight is not None:
            X, codes, weight = self._present(X, codes, weight)
        X, codes, weight, watch = self._set_aside(X, codes, weight)
        self._begin(X)
        self._begin_with(*old)
        self._begin_account()
        self._run_passes(X, codes, weight, watch)
        self._finish()
        self._set_curve()
        self._set_bound(X, codes, weight, started_at_zero=old == (None, None))
        return self

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
            The perceptron.
        """
        self._go_on(X, y, classes, sample_weight)
        return self

    def _go_on(self, X, y, classes=None, sample_weight=None):
        self._check_options()
        if isinstance(self.class_weight, str):
            raise ValueError(
                'class_weight="balanced" is not supported for partial_fit, which does not know '
                "how often the classes will come: pass a dict."
            )
        X, codes = self._read_more(X, y, classes)
        self._step_factors = None
        if sample_weight is not None:
            weight = check_sample_weight(sample_weight, X, dtype=np.float64)
            X, codes, weight = self._present(X, codes, weight)
            order, self._step_factors = presentations(np.arange(len(codes)), weight)
            X, codes = X[order], codes[order]
        self._class_factors = self._factors_of_classes(codes)
        return self._learn(X, codes)

    def _check_options(self):
        if self.penalty is not None:
            raise ValueError(
                f"penalty={self.penalty!r} is not supported: the perceptron of sklearn_sl has no "
                "penalty. Use sklearn.linear_model.SGDClassifier(loss='perceptron')."
            )
        if self.average == "voted" and self.multi_class == "kesler":
            raise ValueError('average="voted" needs multi_class="ovr".')

    def _present(self, X, codes, weight):
        """Return the samples with a positive weight."""
        used = np.flatnonzero(weight > 0)
        missing = set(range(len(self.classes_))) - set(codes[used].tolist())
        if missing and not hasattr(self, "_weights"):
            raise ValueError(
                f"All samples of the class {self.classes_[min(missing)]!r} have the weight zero."
            )
        return X[used], codes[used], weight[used]

    def _set_aside(self, X, codes, weight):
        """Return the samples to learn from, and what watches progress on the others."""
        if not self.early_stopping:
            return X, codes, weight, None
        rows = np.arange(len(codes))
        train, test = train_test_split(
            rows,
            test_size=self.validation_fraction,
            stratify=codes,
            random_state=check_random_state(self.random_state).randint(2**31 - 1),
        )
        train.sort()
        kept = None if weight is None else weight[train]
        return X[train], codes[train], kept, (X[test], codes[test])

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
        return self._weights.copy()

    def standard_intercept(self):
        """Return the last intercepts, which differ from ``intercept_`` if these are an average.

        Returns
        -------
        intercept : ndarray of shape (n_vectors,)
            A copy of the intercepts.
        """
        check_is_fitted(self)
        return self._biases[0].copy() if self._together else self._tails[:, BIAS].copy()

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

    def _begin(self, X):
        super()._begin(X)
        self._resting = np.zeros(self._n_vectors(), dtype=bool)
        self._ancestors = [Ancestors() for _ in range(self._n_vectors() if self._votes else 0)]
        self.bound_ = self.comparator_ = None

    @property
    def _averages(self):
        return self.average is True

    @property
    def _votes(self):
        return self.average == "voted"

    def _rule(self):
        return _sweeps.MistakeRule(self.eta0)

    def _rules(self):
        # A vector whose loss no longer decreases stays as it is, while others go on.
        return [_sweeps.Rule() if rests else self._rule() for rests in self._resting]

    def _factors_of_classes(self, codes):
        """Return the factor of the steps of each class."""
        if self.class_weight is None:
            return None
        seen = np.unique(codes)
        factors = np.ones(len(self.classes_))
        factors[seen] = compute_class_weight(
            self.class_weight, classes=self.classes_[seen], y=self.classes_[codes]
        )
        return factors

    def _factors(self, codes):
        factors = NO_FACTORS
        if self._class_factors is not None:
            factors = self._class_factors[codes]
        if self._step_factors is not None:
            steps = self._step_factors[self._place : self._place + len(codes)]
            factors = steps if factors is NO_FACTORS else factors * steps
        return factors

    def _pass(self, X, codes):
        self._place = 0
        return super()._pass(X, codes)

    def _play(self, X, codes):
        scores, played = super()._play(X, codes)
        if self._votes and played == len(codes):
            factors = self._factors(codes)
            for k, ancestors in enumerate(self._ancestors):
                signs = self._signs(codes, k)
                steps = self.eta0 * signs * (factors if factors.size else 1.0)
                wrong = (signs * scores[:, k] <= 0) & (not self._resting[k])
                ancestors.add(X, wrong, steps)
        self._place += len(codes)
        return scores, played

    def _copy_state(self):
        super()._copy_state()
        self._ancestors = [ancestors.copy() for ancestors in self._ancestors]

    # ------------------------------------------------------------ passes

    def _run_passes(self, X, codes, weight, watch):
        """Pass over the samples until a pass is clean, or no vector makes progress."""
        hashes = row_hashes(X, codes.astype(np.float64)) if self.shuffle else None
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        progress_of = [Patience(self.tol, self.n_iter_no_change) for _ in self._weights]
        with Progress(self, name="pass", total=self.max_iter) as progress:
            for n_iter in range(1, self.max_iter + 1):
                with progress.step():
                    order, self._step_factors = self._order(
                        len(codes), hashes, weight, seed, n_iter
                    )
                    rows = X if order is None else X[order]
                    presented = codes if order is None else codes[order]
                    self._class_factors = self._factors_of_classes(presented)
                    scores = self._pass(rows, presented)
                self.n_iter_, self.converged_ = n_iter, self._is_clean(scores, presented)
                self._rest(scores, presented, progress_of, watch)
                if self.converged_ or self._resting.all() or progress.stop:
                    break
        del self._step_factors

    def _order(self, n_rows, hashes, weight, seed, n_iter):
        """Return in what order the rows are presented, and the factors of their steps."""
        if hashes is not None:
            # Copies of a row are neighbours, wherever they stand.
            salt = scramble(np.array([(seed << 32) + n_iter], dtype=np.uint64))
            order = np.argsort(scramble(hashes + salt), kind="stable")
        elif weight is None:
            return None, None
        else:
            order = np.arange(n_rows)
        return (order, None) if weight is None else presentations(order, weight)

    def _is_clean(self, scores, codes):
        if self._together or scores.shape[1] == 1:
            return super()._is_clean(scores, codes)
        return not any(
            np.any(self._signs(codes, k) * scores[:, k] <= 0) for k in range(scores.shape[1])
        )

    def _rest(self, scores, codes, progress_of, watch):
        """Let the vectors rest that make no progress."""
        if watch is not None:
            self._finish()
            gains = self._validation_scores(*watch)
        else:
            gains = -self._class_losses(scores, codes).mean(axis=0)
        if self.verbose:
            print(f"Pass {self.n_iter_}: mean loss {-gains.sum():.6g}")
        if self._together:
            gains = np.full(len(progress_of), gains.sum())
        for k, (patience, gain) in enumerate(zip(progress_of, gains, strict=True)):
            self._resting[k] |= patience.ends(gain)

    def _validation_scores(self, X, codes):
        """Return the accuracy of each vector on samples that were set aside."""
        scores = self._scores(X)
        if self._together:
            return np.full(scores.shape[1], np.mean(scores.argmax(axis=1) == codes))
        return np.array(
            [
                np.mean((scores[:, k] > 0) == (self._signs(codes, k) > 0))
                for k in range(scores.shape[1])
            ]
        )

    def _class_losses(self, scores, codes):
        """Return the loss of each trial and vector."""
        if self._together:
            rows = np.arange(len(codes))
            others = scores.copy()
            others[rows, codes] = -np.inf
            return np.maximum(0, others.max(axis=1) - scores[rows, codes])[:, None]
        losses = np.stack([self._signs(codes, k) for k in range(scores.shape[1])], axis=1)
        losses *= scores
        return np.negative(np.minimum(losses, 0, out=losses), out=losses)

    def _losses(self, scores, codes):
        losses = self._class_losses(scores, codes)
        return losses[:, 0] if losses.shape[1] == 1 else losses.sum(axis=1)

    def _finish(self):
        super()._finish()
        self.n_updates_ = int(self._tails[:, -1].sum())
        self.radius_ = float(np.sqrt(self._tails[:, RADIUS2].max()))
        self.t_ = self.n_trials_ + 1

    # ------------------------------------------------------------ the theorem

    def _set_bound(self, X, codes, weight, started_at_zero):
        """Set the bound relative to multiples of the last weights."""
        if started_at_zero and self.class_weight is None and weight is None:
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
            weights of this perceptron. The multiple that gives the least bound is taken.

        Returns
        -------
        bound : float
            A perceptron that begins with zeros takes no more steps than this, whatever the order
            of the samples; with "ovr" the sum of all classes.
        """
        check_is_fitted(self)
        X = self._read_query(X)
        return self._mistake_bound(X, self._codes(np.asarray(y)), 1, comparator)[0]

    def _mistake_bound(self, X, codes, repeats, comparator):
        """Return the bound, and the comparator for which it holds."""
        if comparator is None:
            intercepts = self.standard_intercept() if self.fit_intercept else 0.0
            comparator = np.column_stack([self._weights, np.zeros(len(self._weights))])
            comparator[:, -1] = intercepts
        comparator = np.array(comparator, dtype=np.float64, ndmin=2)
        squares = X.multiply(X).sum(axis=1) if sp.issparse(X) else np.einsum("ij,ij->i", X, X)
        radius = np.sqrt(np.max(squares) + self.fit_intercept)
        scores = safe_sparse_dot(X, comparator[:, :-1].T, dense_output=True) + comparator[:, -1]
        if self._together:
            rows = np.arange(len(codes))
            own = scores[rows, codes]
            scores[rows, codes] = -np.inf
            bound, factor = best_perceptron_bound(
                own - scores.max(axis=1), np.sqrt(2) * radius, np.linalg.norm(comparator), repeats
            )
            return bound, factor * comparator
        total = 0.0
        for k, vector in enumerate(comparator):
            margins = self._signs(codes, k) * scores[:, k]
            bound, factor = best_perceptron_bound(margins, radius, np.linalg.norm(vector), repeats)
            total += bound
            comparator[k] *= factor
        return total, comparator

    # ------------------------------------------------------------ predicting by vote

    def _scores(self, X):
        if not self._votes:
            return super()._scores(X)
        return np.stack(
            [ancestors.votes(X, self.fit_intercept) for ancestors in self._ancestors], axis=1
        )


def presentations(order, weight):
    """Return an order of rows with each as often as its weight says, and the factors of steps.

    What remains of a weight that is not an integer is a last presentation with a shorter step;
    the factors are None if there is none.
    """
    weight = weight[order]
    times = np.ceil(weight).astype(np.intp)
    repeated = np.repeat(order, times)
    if np.array_equal(times, weight):
        return repeated, None
    factors = np.ones(len(repeated))
    factors[np.cumsum(times) - 1] = weight - (times - 1)
    return repeated, factors


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


class Ancestors:
    """All weight vectors that there were: the steps between them, and how long each survived.

    Vector ``k`` is the sum of the first ``k`` steps; the vector that is zero has no vote.
    """

    def __init__(self, rows=(), steps=(), ages=(0,)):
        self.rows, self.steps, self.ages = list(rows), list(steps), list(ages)

    def copy(self):
        """Return ancestors that can be added to alone."""
        return Ancestors(self.rows, self.steps, self.ages)

    def add(self, X, wrong, steps):
        """Hear of some trials, which of them were mistakes, and their steps."""
        places = np.flatnonzero(wrong)
        self.rows.append(X[places])
        self.steps.append(steps[places])
        ages = np.diff(np.concatenate([[-1], places, [len(wrong) - 1]]))
        # A vector survives the trials up to its next mistake, which it does not survive.
        ages[:-1] -= 1
        self.ages[-1] += ages[0]
        self.ages.extend(ages[1:].tolist())

    def votes(self, X, intercept):
        """Return the mean vote of all vectors for each row, between -1 and 1."""
        stack = sp.vstack if sp.issparse(self.rows[0]) else np.concatenate
        rows, steps = stack(self.rows), np.concatenate(self.steps)
        ages = np.asarray(self.ages[1:], dtype=np.float64)
        if not ages.sum() > 0:
            ages = np.ones_like(ages)
        votes = np.empty(X.shape[0])
        block = max(1, 2**22 // max(len(steps), 1))
        for start in range(0, X.shape[0], block):
            part = take_slice(X, slice(start, min(start + block, X.shape[0])))
            terms = safe_sparse_dot(part, rows.T, dense_output=True) + float(intercept)
            scores = np.cumsum(terms * steps, axis=1)
            votes[start : start + block] = np.sign(scores) @ ages / ages.sum()
        return votes
