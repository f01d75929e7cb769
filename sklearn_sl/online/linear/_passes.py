"""Fits that pass over the samples until that no longer pays, as scikit-learn's do."""

from __future__ import annotations

from itertools import repeat
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import r2_score
from sklearn.utils import assert_all_finite
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._docstrings import inserter
from sklearn_sl._rows import row_hashes, scramble
from sklearn_sl._sklearn import Interval, StrOptions, check_sample_weight, fit_context, steps
from sklearn_sl.base import class_factors
from sklearn_sl.online import _trials
from sklearn_sl.online._parameters import FREE, stream_context
from sklearn_sl.online._protocol import read_classes
from sklearn_sl.online.linear._linear import (
    BIAS,
    LOSS,
    N_STEPS,
    NO_PENALTY,
    NORM2,
    squared_norms,
)
from sklearn_sl.online.linear._orders import (
    Turns,
    places,
    salt,
    seed_of_orders,
    set_aside,
    shuffled_turns,
    take_turns,
    turns_in_order,
)

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, Estimator, MatrixLike

# The largest number of presentations in a pass: if they are counted, or if each leaves something;
# and of one row if all vectors take their steps together.
MOST_COUNTED = 2**53
MOST_KEPT = 2**24
MOST_TOGETHER = 2**20
# As in scikit-learn ``partial_fit`` takes these parameters as they are: those of the steps take
# effect from then on, and those of passes matter in ``fit`` only.
FREE_IN_PASSES = FREE | {
    "class_weight",
    "early_stopping",
    "n_iter_no_change",
    "random_state",
    "shuffle",
    "tol",
    "validation_fraction",
    "warm_start",
}
# The parameters of all learners with such fits, and those of classifiers.
CONSTRAINTS = {
    "fit_intercept": ["boolean"],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left"), None],
    "early_stopping": ["boolean"],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
    "shuffle": ["boolean"],
    "verbose": ["verbose"],
    "random_state": ["random_state"],
    "warm_start": ["boolean"],
    "average": ["boolean", Interval(Integral, 1, None, closed="left")],
    "keep_losses": ["boolean"],
}
CLASSIFIER_CONSTRAINTS = {
    **CONSTRAINTS,
    "n_jobs": [Integral, None],
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "multi_class": [StrOptions({"ovr", "kesler"})],
}
# The docstrings of methods that learners with such fits share.
paragraphs = inserter(
    fit_parameters="""
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        y : array-like of shape (n_samples,)
            Targets.

        coef_init : array-like of the shape of ``coef_``, default=None
            Weights to begin with; None is zeros.

        intercept_init : array-like of the shape of ``intercept_``, default=None
            Intercepts to begin with.

        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample is presented in a pass; what remains of a weight that is not an
            integer is one more presentation with that weight. Without ``shuffle`` these are one
            after the other, with it at random places. If the sum of the weights exceeds both 4096
            and ten times the number of samples, runs of presentations one after the other have
            random places, not more than that. The cost does not depend on how large weights are;
            their sum may be up to ``2**53``, or ``2**24`` where something is kept of each
            presentation.

        Returns
        -------
        self : object
            The fitted learner.
        """,
    partial_fit_weight="""
        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample is presented; see :meth:`fit`.

        Returns
        -------
        self : object
            The learner.
        """,
)


# ---------------------------------------------------------------- fit and partial_fit


@fit_context(prefer_skip_nested_validation=True)
@paragraphs
def fit(
    self: Estimator,
    X: MatrixLike,
    y: ArrayLike,
    coef_init: ArrayLike | None = None,
    intercept_init: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Estimator:
    """Pass over the samples until a pass is clean or no longer pays.

    Parameters
    ----------
    {fit_parameters}
    """
    self._check_options()
    first_weights = old_weights(self, coef_init, intercept_init)
    X, targets = self._read(X, y, reset=True)
    X, targets, weight = take_weighty(self, X, targets, sample_weight)
    if weight is not None and self._counts_mistakes:
        check_presence(self.classes_, targets)
    self._class_factors = factors_of_classes(self, targets, weight)
    X, targets, weight, watch = split_off_watch(self, X, targets, weight)
    self._begin(X)
    begin_with(self._state, *first_weights)
    if self.average == "voted":
        for ancestors, first in zip(self._ancestors, self._state.last_vectors()):
            ancestors.first = first
    _trials.begin_account(self)
    run_passes(self, X, targets, weight, watch)
    self._finish()
    from_zeros = all(values is None for values in first_weights)
    plain = weight is None and self._class_factors is None and self._penalty == NO_PENALTY
    if from_zeros and plain:
        self._certify(X, targets)
    return self


def run_passes(learner, X, targets, weight, watch):
    """Pass over the samples until a pass is clean, or no vector makes progress.

    An integer weight of a sample is a number of presentations; what remains of a weight that is
    not an integer is one more presentation with that weight. In order they follow one another. In
    a shuffled pass each has a place of its own, as copies of the row have.
    """
    state, n_vectors = learner._state, len(learner._state.weights)
    trials, turns_of_passes = learner._trials(X, targets), turns(learner, X, targets, weight)
    patience = [Patience(learner.tol, learner.n_iter_no_change) for _ in range(n_vectors)]
    learner._resting = np.zeros(n_vectors, dtype=bool)
    n_steps, _, losses = state.tails[:, N_STEPS : LOSS + 1].T.tolist()
    for step in steps(learner, name="pass", total=learner.max_iter):
        n_before, n_steps_before, losses_before = learner.n_trials_, n_steps, losses
        now = next(turns_of_passes)
        if keeps_each(learner) or now.times is not None:
            play_kept_pass(learner, X, targets, now)
        else:
            learner._play_pass(trials, X, now.rows, now.shares)
        n_steps, _, losses = state.tails[:, N_STEPS : LOSS + 1].T.tolist()
        # A penalty changes weights without a step.
        clean = n_steps == n_steps_before and learner._penalty == NO_PENALTY
        learner.n_iter_, learner.converged_ = step.number, clean
        n_trials = learner.n_trials_ - n_before
        gains = [(old - new) / n_trials for old, new in zip(losses_before, losses)]
        if learner.verbose:
            print(f"Pass {step.number}: mean loss {-sum(gains):.6g}")
        if watch is not None:
            learner._finish()
            gains = validation_scores(learner, *watch)
        for k, each in enumerate(patience):
            # A vector whose loss no longer decreases stays as it is, while others go on.
            if each.ends(gains[0 if state.together else k]):
                learner._resting[k] = True
        step.last = learner.converged_ or all(learner._resting.tolist())
    learner._resting = None


def keeps_each(learner):
    """Return whether something is kept of each trial."""
    return learner.keep_losses or learner.average == "voted"


def turns(learner, X, targets, weight):
    """Return an iterator of the turns of the first pass, of the second, and so on."""
    if learner.shuffle:
        return shuffled_turns(X, targets, weight, learner.random_state)
    seed_of_orders(learner.random_state)  # a random state goes on as in a shuffled fit
    return repeat(Turns(np.arange(len(targets))) if weight is None else turns_in_order(weight))


def turns_now(learner, turns):
    """Return turns as they are played from the next trial on."""
    if turns.times is None:
        return turns
    if keeps_each(learner) or learner._penalty != NO_PENALTY:
        return turns.one_by_one()
    # A run counts in the average, or it does not.
    return turns.cut_after(learner._state.n_unheard(learner.n_trials_))


def play_kept_pass(learner, X, targets, turns):
    """Play a pass of which something is kept, or with rows that have many turns at once."""
    turns = turns_now(learner, turns)
    _trials.play_pass(learner, X, targets[turns.rows], *turns)


@stream_context
@paragraphs
def partial_fit(
    self: Estimator,
    X: MatrixLike,
    y: ArrayLike,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Estimator:
    """Go through more trials, once and in their order.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples.

    y : array-like of shape (n_samples,)
        Classes.

    classes : array-like of shape (n_classes,), default=None
        All the classes; needed in the first call.

    {partial_fit_weight}
    """
    self._go_on(X, y, classes, sample_weight)
    return self


def go_on(self, X, y, classes=None, sample_weight=None):
    """Do what ``partial_fit`` does."""
    if isinstance(self.class_weight, str):
        raise ValueError(
            'class_weight="balanced" is not supported for partial_fit, which does not know '
            "the frequencies of the classes: pass a dict."
        )
    self._check_options()
    learn_weighted(self, *self._read_more(X, y, classes), sample_weight)


def learn_weighted(learner, X, targets, sample_weight):
    """Go on with some trials, each as often as its weight says."""
    X, targets, weight = take_weighty(learner, X, targets, sample_weight)
    learner._class_factors = factors_of_classes(learner, targets, None)
    if weight is None:
        _trials.go_on(learner, X, targets)
        return
    turns = turns_now(learner, turns_in_order(weight))
    _trials.go_on(learner, X, targets[turns.rows], *turns)


# ---------------------------------------------------------------- samples and weights


def take_weighty(learner, X, targets, sample_weight):
    """Return the samples with a positive weight; no weights if all are one."""
    if sample_weight is None:
        return X, targets, None
    weight = check_sample_weight(sample_weight, X, dtype=np.float64)
    if np.all(weight == 1):
        return X, targets, None
    used = np.flatnonzero(weight > 0)
    weight = weight[used]
    check_weights(learner, weight)
    return X[used], targets[used], weight


def check_weights(learner, weight):
    """Complain of more presentations than can be counted, or kept."""
    most, reason = MOST_COUNTED, "the presentations of a pass are counted up to that number"
    if keeps_each(learner):
        most, reason = MOST_KEPT, "something is kept of each presentation"
    if learner._penalty != NO_PENALTY:
        most, reason = MOST_KEPT, "the penalty is paid in each presentation"
    total = np.ceil(weight).sum()
    if total > most:
        raise ValueError(
            f"The sum of sample_weight is {total:.6g}, but may be at most {most}: a weight is "
            f"a number of presentations, and {reason}. Divide the weights by a constant."
        )
    if learner._together and weight.max() > MOST_TOGETHER:
        raise ValueError(
            f'The largest sample_weight is {weight.max():.6g}, but with multi_class="kesler" '
            f"it may be at most {MOST_TOGETHER}: a weight is a number of presentations. Divide "
            "the weights by a constant."
        )


def check_presence(classes, codes):
    """Complain of classes without a sample that has a weight."""
    missing = np.setdiff1d(np.arange(len(classes)), codes)
    if missing.size:
        raise ValueError(f"sample_weight is zero for all samples of class {classes[missing[0]]!r}.")


def factors_of_classes(learner, codes, weight):
    """Return the weights of classes, None if there are none."""
    class_weight = getattr(learner, "class_weight", None)
    if class_weight is None:
        return None
    if isinstance(class_weight, dict):
        return class_factors(class_weight, learner.classes_, None)
    factors = np.ones(len(learner.classes_))
    factors[codes] = class_factors(class_weight, codes, weight)
    return factors


def split_off_watch(learner, X, targets, weight):
    """Return the samples to learn from, and those on which progress is watched."""
    if not learner.early_stopping:
        return X, targets, weight, None
    # Samples that are set aside are not seen in a sweep.
    assert_all_finite(
        X.data if sp.issparse(X) else X, estimator_name=type(learner).__name__, input_name="X"
    )
    seed = seed_of_orders(learner.random_state)
    each, keys = places(row_hashes(X, targets.astype(np.float64)), weight)
    keys = scramble(keys + salt(seed, 0))
    # Of each class about the same share is set aside.
    strata = targets if learner._counts_mistakes else np.zeros(len(targets), dtype=np.intp)
    aside = set_aside(keys, strata[each.rows], each.weights(), learner.validation_fraction)
    train, test = (
        take_turns(X, targets, each.take(part), weight is None)
        for part in (np.flatnonzero(~aside), np.flatnonzero(aside))
    )
    return *train, test


def validation_scores(learner, X, targets, weight):
    """Return the scores on samples that were set aside: the accuracy of each vector, or R2."""
    with np.errstate(over="ignore", invalid="ignore"):
        scores = learner._scores(X)
        if not learner._counts_mistakes:
            return [r2_score(targets, scores[:, 0], sample_weight=weight)]
    if learner._together:
        right = (scores.argmax(axis=1) == targets)[:, None]
    else:
        signs = [learner._signs(targets, k) for k in range(scores.shape[1])]
        right = (scores > 0) == (np.stack(signs, axis=1) > 0)
    return np.average(right, axis=0, weights=weight)


# ---------------------------------------------------------------- weights to begin with


def old_weights(learner, coef_init, intercept_init):
    """Return the weights and the intercepts to begin with; None are zeros."""
    if learner.warm_start and learner._state is not None:
        coef, intercept = learner._state.last_weights()
        coef_init = coef.copy() if coef_init is None else coef_init
        intercept_init = intercept if intercept_init is None else intercept_init
    return coef_init, intercept_init


def begin_with(state, coef, intercept):
    """Let the weights be these ones."""
    if coef is None and intercept is None:
        return
    if coef is not None:
        coef = np.asarray(coef, dtype=np.float64)
        if coef.size != state.weights.size:
            raise ValueError(
                f"coef_init has shape {coef.shape}, but the expected shape is "
                f"{state.weights.shape}."
            )
        state.weights[:] = coef.reshape(state.weights.shape)
    if intercept is not None:
        intercept = np.ravel(np.asarray(intercept, dtype=np.float64))
        if intercept.size != len(state.weights):
            raise ValueError(
                f"intercept_init has {intercept.size} entries, but the expected number is "
                f"{len(state.weights)}."
            )
        state.tails[:, BIAS] = state.biases[0] = intercept
    norms = squared_norms(state.weights) + state.biases[0] ** 2
    state.tails[:, NORM2] = norms.sum() if state.together else norms


# ---------------------------------------------------------------- what is known afterwards


@property
def t_(self) -> int:
    """The number of trials plus one, as scikit-learn has it."""
    return self.n_trials_ + 1


def standard_coef(self) -> np.ndarray:
    """Return the last weights, which differ from ``coef_`` if these are an average.

    Returns
    -------
    coef : ndarray of shape (n_vectors, n_features)
        A copy of the weights.
    """
    check_is_fitted(self)
    return self._state.last_weights()[0].copy()


def standard_intercept(self) -> np.ndarray:
    """Return the last intercepts, which differ from ``intercept_`` if these are an average.

    Returns
    -------
    intercept : ndarray of shape (n_vectors,)
        A copy of the intercepts.
    """
    check_is_fitted(self)
    return self._state.last_weights()[1]


def densify(self: Estimator) -> Estimator:
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


def sparsify(self: Estimator) -> Estimator:
    """Let ``coef_`` be a sparse matrix; the next ``partial_fit`` makes it an array again.

    Returns
    -------
    self : object
        The learner.
    """
    check_is_fitted(self)
    self.coef_ = sp.csr_matrix(self.coef_)
    return self


def mistake_bound(self, X: MatrixLike, y: ArrayLike, comparator: ArrayLike | None = None) -> float:
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
    if self._penalty != NO_PENALTY:
        raise ValueError(
            f"mistake_bound requires penalty=None; got penalty={self.penalty!r}: the theorem is "
            "about the perceptron without a penalty."
        )
    X = self._read_query(X)
    codes = self._codes(read_classes(self, X, y))
    return least_mistake_bound(self, X, codes, 1, comparator)[0]


def certify_mistakes(learner, X, codes):
    """Compare a fit that began with zeros with the theorem."""
    learner.bound_, learner.comparator_ = least_mistake_bound(
        learner, X, codes, learner.n_iter_, None
    )


def least_mistake_bound(learner, X, codes, repeats, comparator):
    """Return the bound, and the comparator for which it holds.

    Hook: ``_best_bound(margins, norm, norms, repeats)`` returns the least bound among the multiples
    of a vector with these margins and this norm, and the multiple; ``norms`` are the least and the
    largest norm of a sample.
    """
    comparator = learner._state.last_vectors() if comparator is None else comparator
    comparator = np.array(comparator, dtype=np.float64, ndmin=2, order="C")
    together = learner._state.together
    squares = (squared_norms(X) + learner.fit_intercept) * (2 if together else 1)
    norms = np.sqrt(squares.min()), np.sqrt(squares.max())
    with np.errstate(over="ignore", invalid="ignore"):
        scores = safe_sparse_dot(X, comparator[:, :-1].T, dense_output=True) + comparator[:, -1]
    if not np.isfinite(np.append(scores, norms)).all():
        scores, norms, comparator = np.zeros_like(scores), (1.0, 1.0), np.zeros_like(comparator)
    vectors = [comparator.ravel()] if together else comparator
    total = 0.0
    for vector, (scored, signs) in zip(vectors, learner._views(scores, codes), strict=True):
        norm = np.linalg.norm(vector)
        bound, factor = learner._best_bound(signs * scored, norm, norms, repeats)
        total += bound
        vector *= factor
    return total, comparator


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
