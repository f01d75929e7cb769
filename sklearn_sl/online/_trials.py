"""The driver of trials: samples in slices, passes over them, and the account of losses.

These are functions of a learner, and ask it by the hooks that ``_protocol.py`` lists.
"""

import copy
from math import prod

import numpy as np
import scipy.sparse as sp
from sklearn.utils import assert_all_finite

from sklearn_sl._sklearn import steps
from sklearn_sl.online._parameters import remember_parameters, stream_context

# Numbers that a slice of a sweep reads, a few hundredths of a second.
SLICE = 2**23
# So few that however many vectors a row meets, all of them are one slice.
FEW = 2**12
# Steps that one row of a run may take, in the mean of a slice.
STEPS_OF_RUN = 8
# Vectors of so many numbers are not copied for a single row.
MANY_FEATURES = 2**15
BEYOND = (
    "The weights of {} times a sample exceed the range of floating point numbers: scale the "
    "features, or choose a smaller learning rate."
)


# ---------------------------------------------------------------- passes


def fit_passes(learner, X, targets, max_iter=None):
    """Start from scratch and pass over the trials until a pass is clean."""
    max_iter = learner.max_iter if max_iter is None else max_iter
    if learner._plan is not None:
        learner._plan(X, targets)
    learner._begin(X)
    begin_account(learner)
    if learner._foresee is not None:
        learner._foresee(X, max_iter)
    before = n_changes(learner)
    for step in steps(learner, name="pass", total=max_iter):
        play_pass(learner, X, targets)
        after = n_changes(learner)
        learner.n_iter_, learner.converged_ = step.number, is_clean(before, after)
        before, step.last = after, learner.converged_
    learner._finish()
    if learner._certify is not None:
        learner._certify(X, targets)


def fit_once(learner, X, targets):
    """Start from scratch and go through the trials once."""
    learner._foreseen = len(targets)
    learner._begin(X)
    begin_account(learner)
    for _ in steps(learner, name="pass", total=1):
        play_pass(learner, X, targets)
    learner._finish()


def n_changes(learner):
    """Return a number that stays the same in a clean pass, or None if no pass is one."""
    if learner._n_changes is not None:
        return learner._n_changes()
    # Most learners change in mistakes alone.
    return learner.n_mistakes_ if learner._counts_mistakes else None


def is_clean(before, after):
    """Return whether a pass changed nothing, so that another one would not change it either."""
    return before is not None and before == after


def begin_stream(learner, X):
    """Start from scratch in ``partial_fit``, which does not know the trials to come."""
    if learner._plan is not None:
        learner._plan(None, None)
    learner._begin(X)
    begin_account(learner)


def begin_account(learner):
    """Begin to count trials, losses and mistakes; remember with which parameters."""
    learner.n_trials_, learner.cumulative_loss_ = 0, 0.0
    learner._loss_parts = []
    if learner._counts_mistakes:
        learner.n_mistakes_ = 0
    forget_certificates(learner)
    remember_parameters(learner)


def forget_certificates(learner):
    """Let no theorem be spoken of, until the learner is compared with one."""
    vars(learner).update(dict.fromkeys(learner._certificates))


def go_on(learner, X, targets, *trials):
    """Go on with some trials; parameters as in ``play_pass``."""
    # A row that fails has changed nothing, if there is one vector. Where a copy of that costs
    # more than all the rest, an interrupt in the middle may leave a trial half accounted for.
    one = len(targets) == 1 and learner._width == 1 and not trials
    if not one or prod(X.shape[1:]) < MANY_FEATURES:
        learner._copy_state()
    play_pass(learner, X, targets, *trials)
    learner._finish()
    forget_certificates(learner)


def copy_state(learner):
    """Let what is changed in place be copies, so that the old ones can return."""
    for name in learner._mutable:
        setattr(learner, name, copied(getattr(learner, name)))


def copied(part):
    """Return a copy that can be changed alone."""
    if isinstance(part, list):
        return [each.copy() for each in part]
    return part.copy() if hasattr(part, "copy") else copy.deepcopy(part)


def play_pass(learner, X, targets, order=None, weight=None, times=None):
    """Play all trials.

    Parameters
    ----------
    learner : estimator
        Has begun already.

    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Samples.

    targets : ndarray of shape (n_trials,)
        The target of each trial.

    order : ndarray of shape (n_trials,), default=None
        Which sample it has; None is one after the other.

    weight : ndarray of shape (n_trials,), default=None
        Weights of trials, for learners whose ``_play`` takes them.

    times : ndarray of shape (n_trials,), default=None
        How often each trial is repeated at once, for learners whose ``_play`` takes that.
    """
    if learner._prepare is not None:
        X = learner._prepare(X, targets)
    take = take_slice if order is None else Presented(X, order)
    each = {"weight": weight, "times": times}
    each = {name: values for name, values in each.items() if values is not None}
    for rows in slices_of_trials(learner, X, len(targets), times is not None):
        part = take(X, rows)
        given, n_played = learner._play(
            part, targets[rows], **{name: values[rows] for name, values in each.items()}
        )
        if n_played < part.shape[0]:
            learner._complain(part, n_played)
        learner._account(given, targets[rows])
        learner.n_trials_ += n_played if times is None else int(times[rows].sum())
        if learner._heard is not None:
            learner._heard.append(given)


def complain(learner, X, row):
    """Raise the error for a row whose answer is not finite."""
    bad = take_slice(X, slice(row, row + 1))
    assert_all_finite(
        bad.data if sp.issparse(bad) else bad,
        estimator_name=type(learner).__name__,
        input_name="X",
    )
    raise ValueError(BEYOND.format(type(learner).__name__))


# ---------------------------------------------------------------- slices of samples


def slices_of_trials(learner, X, n_trials, repeated=False):
    """Return slices of trials with rows like those of ``X``, each a short while."""
    if n_trials * prod(X.shape[1:]) <= FEW:
        return [slice(0, n_trials)]
    # A row that is repeated many times takes several steps.
    return slices(X, learner._width * (STEPS_OF_RUN if repeated else 1), n_trials)


def slices(X, width=1, n_rows=None):
    """Return slices of rows like those of ``X``, short work for a sweep over ``width`` vectors."""
    n_rows = X.shape[0] if n_rows is None else n_rows
    n_numbers = X.nnz / X.shape[0] if sp.issparse(X) else prod(X.shape[1:])
    per_row = n_numbers * width + 16
    step = max(1, int(SLICE / per_row))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def take_slice(X, rows):
    """Return a slice of the rows of ``X``, without copying the entries of a sparse matrix."""
    if not sp.issparse(X):
        return X[rows]
    indptr = X.indptr[rows.start : rows.stop + 1]
    stored = slice(indptr[0], indptr[-1])
    part = sp.csr_array((indptr.size - 1, X.shape[1]), dtype=X.dtype)
    part.data, part.indices, part.indptr = X.data[stored], X.indices[stored], indptr - indptr[0]
    return part


class Presented:
    """Takes slices of rows in another order; what it returns is valid until the next one."""

    def __init__(self, X, order):
        self.order = order
        self.buffer = np.empty((0, X.shape[1]), dtype=X.dtype)

    def __call__(self, X, rows):
        places = self.order[rows]
        if sp.issparse(X):
            return X[places]
        if len(self.buffer) < len(places):
            self.buffer = np.empty((len(places), X.shape[1]), dtype=X.dtype)
        # Indexing would make a new array, which is slow to come by; "clip" is not to look twice.
        return np.take(X, places, axis=0, out=self.buffer[: len(places)], mode="clip")


# ---------------------------------------------------------------- losses


def account(learner, answers, targets):
    """Add up the losses of some trials."""
    if learner._counts_mistakes:
        # Answers that are classes, not scores, are wrong or right.
        codes = answers.ndim == 1
        mistaken = answers != targets if codes else learner._mistaken(answers, targets)
        learner.n_mistakes_ += int(np.count_nonzero(mistaken))
    if learner._losses is None:
        losses = mistaken.astype(np.float64)
    else:
        losses = learner._losses(answers, targets)
    learner.cumulative_loss_ = running_sum(learner.cumulative_loss_, losses)
    if learner.keep_losses:
        learner._loss_parts = with_part(learner._loss_parts, losses)


def running_sum(total, losses):
    """Return a total plus losses, added one after the other: blocks give what the whole gives."""
    if len(losses) == 1:
        return total + float(losses[0])
    losses = losses.copy()
    losses[0] += total
    return float(np.add.accumulate(losses, out=losses)[-1])


@property
def loss_curve(self) -> np.ndarray:
    """The loss of each trial, if it was asked for."""
    self._loss_parts = whole(self, "_loss_parts", "keep_losses")
    return self._loss_parts[0]


def whole(learner, name, option):
    """Return a curve in one part, or say that there is none."""
    parts = getattr(learner, name, [])
    if not parts:
        raise AttributeError(
            f"{type(learner).__name__} keeps this curve only with {option}=True: set it and "
            "fit again."
        )
    return joined(parts)


def with_part(parts, rows):
    """Return parts of a curve, arrays that are never changed, and one more.

    Parts are at least twice as long as the next one, so that there are few of them, and a row is
    copied few times, however many calls there are.
    """
    parts = [*parts, rows]
    while len(parts) > 1 and parts[-2].shape[0] < 2 * parts[-1].shape[0]:
        parts[-2:] = joined(parts[-2:])
    return parts


def joined(parts):
    """Return parts of a curve, or of samples, in one part."""
    if len(parts) < 2:
        return parts
    return [sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)]


# ---------------------------------------------------------------- answers before learning


class Predictions:
    """The predictions that the answers of a learner stand for, while they are in the cache."""

    def __init__(self, learner, n_trials):
        self.learner, self.n_trials = learner, n_trials
        self.values, self.n_heard = None, 0

    def append(self, answers):
        """Hear of more answers."""
        values = self.learner._predictions(answers)
        if self.values is None:
            self.values = np.empty(self.n_trials, dtype=values.dtype)
        self.values[self.n_heard : self.n_heard + len(values)] = values
        self.n_heard += len(values)


@stream_context
def predict_and_learn(self, X, y, **params):
    """Do what ``partial_fit`` does, and return the prediction before each change."""
    if not getattr(self, "average", False):
        return listen(self, X, y, **params)
    # Trials are answered by the last weights, predictions by an average of all.
    predictions = []
    for row in range(len(y)):
        part = X.iloc[row : row + 1] if hasattr(X, "iloc") else X[row : row + 1]
        said = self.predict(part) if hasattr(self, "n_trials_") else None
        heard = listen(self, part, y[row : row + 1], **params)
        predictions.append(heard if said is None else said)
        params = {}
    return np.concatenate(predictions)


def listen(learner, X, y, **params):
    """Do what ``partial_fit`` does, and return what answers stand for."""
    learner._heard = heard = Predictions(learner, len(y))
    learner._go_on(X, y, **params)
    del learner._heard
    return heard.values
