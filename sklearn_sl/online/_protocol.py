"""What online learners share: trials in order, in slices, and the account of their losses."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from sklearn_sl._rows import added_up
from sklearn_sl._sklearn import Progress, fit_context
from sklearn_sl._state import check_number
from sklearn_sl.base import read_labels
from sklearn_sl.online._parameters import FREE, check_fixed, remember_parameters, stream_context

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike

# Numbers that a slice of a sweep reads, a few hundredths of a second.
SLICE = 2**23
# Steps that one row of a run may take, in the mean of a slice.
STEPS_OF_RUN = 8
# Vectors of so many numbers are not copied for a single row.
MANY_FEATURES = 2**15
# What a learner does to its samples. Whether they are finite is seen in the sweep, where they
# are read anyhow.
SAMPLES = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    # How an inner product is rounded depends on the order: a frame is to give what an array gives.
    "order": "C",
    "ensure_all_finite": False,
}
FINITE = {"ensure_all_finite": True}
BEYOND = (
    "The weights of {} times a sample exceed the range of floating point numbers: scale the "
    "features, or take smaller steps."
)
NO_TARGET = "{} requires y to be passed, but the target y is None."


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


def running_sum(total, losses):
    """Return a total plus losses, added one after the other: blocks give what the whole gives."""
    if len(losses) == 1:
        return total + float(losses[0])
    losses = losses.copy()
    losses[0] += total
    return float(np.add.accumulate(losses, out=losses)[-1])


def is_plain_vector(y):
    """Return whether ``y`` is a vector of finite numbers."""
    return (
        type(y) is np.ndarray
        and y.ndim == 1
        and (y.dtype.kind in "biu" or (y.dtype.kind == "f" and bool(np.isfinite(y).all())))
    )


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


def scores_of_query(learner, X):
    """Return the scores of samples that a fitted learner is asked about; all of them are finite."""
    check_is_fitted(learner)
    check_fixed(learner)
    X = learner._read_query(X)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = learner._scores(X)
    if not np.isfinite(scores).all():
        raise ValueError(BEYOND.format(type(learner).__name__))
    return scores


class OnlineMixin:
    """``fit`` and ``partial_fit`` of a learner that goes through trials one by one.

    In a trial the learner answers, is told the target, and changes its state. Hooks:

    - ``_read(X, y, reset)`` returns validated samples and targets as numbers;
    - ``_plan(X, targets)`` chooses, before anything else, what depends on the trials to come, such
      as a rate; ``partial_fit`` does not know them, and passes None;
    - ``_fit_trials(X, targets)`` says how often ``fit`` goes through the trials: in passes, by
      ``_fit_passes``, unless a learner goes through them once;
    - ``_begin(X)`` sets the state of a learner that has seen nothing;
    - ``_foresee(X, n_passes)`` tells a learner in ``fit`` what it will go through, and how often;
    - ``_play(X, targets)`` goes through a slice of trials, changes the state in place, and returns
      the answers before each change, and how many trials it played: fewer than all if the next
      row is not finite or overflows;
    - ``_losses(answers, targets)`` returns the loss of each trial;
    - ``_mistaken(answers, targets)`` returns which trials were mistakes, if there is such a thing;
    - ``_n_changes()`` returns a number that stays the same in a pass that changed nothing, or None
      if there is no such pass;
    - ``_finish()`` sets the attributes that follow from the state;
    - ``_forget_certificate()`` and, after all passes of ``fit``, ``_certify(X, targets)`` set the
      attributes that compare the learner with a theorem;
    - ``_predictions(answers)`` returns what ``predict`` would have said;
    - ``_check_arrays()`` complains of a state that compiled trials cannot go on with.

    What ``_play`` changes in place is ``_state``, an object with ``copy()``, or the arrays that
    ``_mutable`` names; if a trial fails the old ones return. ``_width`` is the number of
    weight vectors that a row meets, by which the length of slices is chosen.
    """

    _mutable = ()
    _width = 1
    # Parameters that predictions depend on, and those that may change between trials.
    _fixed = ()
    _free = FREE
    # The state that goes through trials, if it is an object of its own.
    _state = None
    # Whether a trial can be a mistake.
    _counts_mistakes = True
    # Answers, where somebody asked for them.
    _heard = None

    def _check_state(self):
        if "n_trials_" in vars(self):
            check_number(self, "n_trials_", 0)
            self._check_arrays()

    def _check_arrays(self):
        pass

    def _begin_account(self):
        self.n_trials_, self.cumulative_loss_ = 0, 0.0
        self._loss_parts = []
        if self._counts_mistakes:
            self.n_mistakes_ = 0
        remember_parameters(self)

    def _copy_state(self):
        """Let what is changed in place be copies, so that the old ones can return."""
        if self._state is not None:
            self._state = self._state.copy()
        for name in self._mutable:
            setattr(self, name, getattr(self, name).copy())

    def _pass(self, X, targets, order=None, weight=None, times=None):
        """Play all trials.

        Parameters
        ----------
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
        take = take_slice if order is None else Presented(X, order)
        width = self._width if times is None else self._width * STEPS_OF_RUN
        each = {"weight": weight, "times": times}
        each = {name: values for name, values in each.items() if values is not None}
        for rows in slices(X, width, len(targets)):
            part = take(X, rows)
            given, n_played = self._play(
                part, targets[rows], **{name: values[rows] for name, values in each.items()}
            )
            if n_played < part.shape[0]:
                self._complain(part, n_played)
            self._account(given, targets[rows])
            self.n_trials_ += n_played if times is None else int(times[rows].sum())
            if self._heard is not None:
                self._heard.append(given)

    def _account(self, answers, targets):
        """Add up the losses of some trials."""
        losses = self._losses(answers, targets)
        self.cumulative_loss_ = running_sum(self.cumulative_loss_, losses)
        if self._counts_mistakes:
            self.n_mistakes_ += int(np.count_nonzero(self._mistaken(answers, targets)))
        if self.keep_losses:
            self._loss_parts = with_part(self._loss_parts, losses)

    @property
    def loss_curve_(self) -> np.ndarray:
        """The loss of each trial, if it was asked for."""
        self._loss_parts = self._whole("_loss_parts", "keep_losses")
        return self._loss_parts[0]

    def _whole(self, name, option):
        """Return a curve in one part, or say that there is none."""
        parts = getattr(self, name, [])
        if not parts:
            raise AttributeError(
                f"{type(self).__name__} keeps this curve only with {option}=True: set it and "
                "fit again."
            )
        return joined(parts)

    def _complain(self, X, row):
        """Raise the error for a row whose answer is not finite."""
        bad = take_slice(X, slice(row, row + 1))
        assert_all_finite(
            bad.data if sp.issparse(bad) else bad,
            estimator_name=type(self).__name__,
            input_name="X",
        )
        raise ValueError(BEYOND.format(type(self).__name__))

    def _fit_trials(self, X, targets):
        """Fit to the trials; learners that go through them once say so here."""
        self._fit_passes(X, targets, self.max_iter)

    def _fit_passes(self, X, targets, max_iter):
        """Start from scratch and pass over the trials until a pass is clean."""
        self._plan(X, targets)
        self._begin(X)
        self._begin_account()
        self._foresee(X, max_iter)
        with Progress(self, name="pass", total=max_iter) as progress:
            for n_iter in range(1, max_iter + 1):
                before = self._n_changes()
                with progress.step():
                    self._pass(X, targets)
                self.n_iter_, self.converged_ = n_iter, self._is_clean(before)
                if self.converged_ or progress.stop:
                    break
        self._finish()
        self._forget_certificate()
        self._certify(X, targets)

    def _plan(self, X, targets):
        pass

    def _foresee(self, X, n_passes):
        pass

    def _forget_certificate(self):
        pass

    def _certify(self, X, targets):
        pass

    def _n_changes(self):
        return self.n_mistakes_ if self._counts_mistakes else None

    def _is_clean(self, n_changes):
        """Return whether nothing changed since, so that another pass would not change it either."""
        return n_changes is not None and self._n_changes() == n_changes

    def _learn(self, X, targets, *trials):
        """Go on with some trials; parameters as in ``_pass``."""
        # A row that fails has changed nothing, if there is one vector. Where a copy of that costs
        # more than all the rest, an interrupt in the middle may leave a trial half accounted for.
        one = len(targets) == 1 and self._width == 1 and not trials
        if not one or prod(X.shape[1:]) < MANY_FEATURES:
            self._copy_state()
        self._pass(X, targets, *trials)
        self._finish()
        self._forget_certificate()

    @stream_context
    def _predict_and_learn(self, X, y, **params):
        """Do what ``partial_fit`` does, and return the prediction before each change."""
        if not getattr(self, "average", False):
            return self._listen(X, y, **params)
        # Trials are answered by the last weights, predictions by an average of all.
        predictions = []
        for row in range(len(y)):
            part = X.iloc[row : row + 1] if hasattr(X, "iloc") else X[row : row + 1]
            said = self.predict(part) if hasattr(self, "n_trials_") else None
            heard = self._listen(part, y[row : row + 1], **params)
            predictions.append(heard if said is None else said)
            params = {}
        return np.concatenate(predictions)

    def _listen(self, X, y, **params):
        """Do what ``partial_fit`` does, and return what answers stand for."""
        self._heard = heard = Predictions(self, len(y))
        self._go_on(X, y, **params)
        del self._heard
        return heard.values

    # ------------------------------------------------------------ validation

    def _read_samples(self, X, reset):
        """Return validated samples; those that need no look at are not looked at."""
        if not reset and self._is_plain(X):
            return X
        X = validate_data(self, X, reset=reset, **self._sample_checks)
        return added_up(X)

    def _read_targets(self, X, y):
        """Return one finite target for each sample."""
        if y is None:
            raise ValueError(NO_TARGET.format(type(self).__name__))
        if not is_plain_vector(y):
            y = column_or_1d(y, warn=True)
            assert_all_finite(y, input_name="y", estimator_name=type(self).__name__)
        if len(y) != X.shape[0]:
            check_consistent_length(X, y)
        return y

    def _read_query(self, X):
        """Return validated samples of a prediction."""
        return validate_data(self, X, reset=False, **{**self._sample_checks, **FINITE})

    @property
    def _sample_checks(self):
        return SAMPLES

    def _is_plain(self, X):
        """Return whether ``X`` is a matrix of doubles of the right width, without names."""
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and X.shape[1] == self.n_features_in_
            and X.shape[0] > 0
            and not hasattr(self, "feature_names_in_")
        )


class OnlineRegressorMixin(OnlineMixin):
    """Trials whose targets are numbers.

    Unless a learner says otherwise its answer is one score, which is the prediction. Hook:
    ``_scores(X)``, a matrix of one column.
    """

    _counts_mistakes = False
    _together = False

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Start from scratch and pass over the trials, at most ``max_iter`` times.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        y : array-like of shape (n_samples,)
            Targets.

        Returns
        -------
        self : object
            The fitted learner.
        """
        self._fit_trials(*self._read(X, y, reset=True))
        return self

    @stream_context
    def partial_fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Go through more trials, once and in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        y : array-like of shape (n_samples,)
            Targets.

        Returns
        -------
        self : object
            The learner.
        """
        self._go_on(X, y)
        return self

    def _go_on(self, X, y):
        self._learn(*self._read_more(X, y))

    def _read_more(self, X, y):
        """Return validated trials of ``partial_fit``."""
        first = not hasattr(self, "n_trials_")
        X, y = self._read(X, y, reset=first)
        if first:
            self._plan(None, None)
            self._begin(X)
            self._begin_account()
        return X, y

    def _views(self, scores, y):
        return [(scores[:, 0], y)]

    def _n_vectors(self):
        return 1

    def _signs(self, y, k):
        """Return the targets of weight vector ``k``, the only one."""
        return y

    def _pull(self, scores, y, slopes):
        """Return the slopes by scores, given those of the views."""
        return slopes[0][:, None]

    def predict(self, X: MatrixLike) -> np.ndarray:
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

    def _predictions(self, answers):
        return answers[:, 0]

    def _read(self, X, y, reset):
        X = self._read_samples(X, reset)
        return X, np.ascontiguousarray(self._read_targets(X, y), dtype=np.float64)


class OnlineClassifierMixin(OnlineMixin):
    """Trials whose targets are classes: places in ``classes_``.

    Unless a learner says otherwise, with ``_has_scores = False``, its answers are one score for two
    classes, else one for each; a vector or a function stands behind each. With
    ``multi_class="ovr"`` each vector learns its class against all others. With "kesler" the vector
    of the true class and that of the best other class take a step together. Hook: ``_scores(X)``, a
    column for each score.
    """

    _has_scores = True

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Start from scratch and pass over the trials until a pass is clean.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        y : array-like of shape (n_samples,)
            Classes.

        Returns
        -------
        self : object
            The fitted learner.
        """
        self._fit_trials(*self._read(X, y, reset=True))
        return self

    @stream_context
    def partial_fit(self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Go through more trials, once and in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        y : array-like of shape (n_samples,)
            Classes.

        classes : array-like of shape (n_classes,), default=None
            All the classes; needed in the first call.

        Returns
        -------
        self : object
            The learner.
        """
        self._go_on(X, y, classes)
        return self

    def _go_on(self, X, y, classes=None):
        self._learn(*self._read_more(X, y, classes))

    def _read(self, X, y, reset):
        X = self._read_samples(X, reset)
        y = self._read_targets(X, y)
        if reset:
            check_classification_targets(y)
            self.classes_ = np.unique(y)
            self._check_classes()
        return X, self._codes(y)

    def _read_targets(self, X, y):
        return super()._read_targets(X, read_labels(y))

    def _check_classes(self):
        """Complain of a single class."""
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes, but the data has only "
                f"one class: {self.classes_[0]!r}."
            )

    def _codes(self, y):
        """Return the places of labels in ``classes_``, or raise for a label that is not there."""
        n_classes = len(self.classes_)
        if len(y) > n_classes and y.dtype.kind in "iu":
            # Classes 0, 1, ... are their own places: no need for a copy of a long vector.
            codes = np.ascontiguousarray(y, dtype=np.intp)
            known = 0 <= codes.min() and codes.max() < n_classes
            if known and np.array_equal(self.classes_, np.arange(n_classes)):
                return codes
        if n_classes == 2:
            second = y == self.classes_[1]
            codes, known = second.astype(np.intp), second | (y == self.classes_[0])
        else:
            codes = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
            known = self.classes_[codes] == y
        if not np.all(known):
            unknown = np.unique(np.asarray(y)[~known])
            raise ValueError(
                f"y contains the labels {unknown}, which are not in classes={self.classes_}."
            )
        return codes

    def _read_more(self, X, y, classes):
        """Return validated trials of ``partial_fit``; on the first call learn the classes."""
        first = not hasattr(self, "classes_")
        if first:
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            self.classes_ = unique_labels(read_labels(classes))
            self._check_classes()
        elif not self._are_classes(classes):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on the last call to partial_fit, "
                f"{self.classes_!r}."
            )
        X = self._read_samples(X, reset=first)
        y = self._read_targets(X, y)
        if first:
            self._plan(None, None)
            self._begin(X)
            self._begin_account()
        return X, self._codes(y)

    def _are_classes(self, classes):
        """Return whether these are the known classes, or None; the usual case costs little."""
        if classes is None or np.array_equal(classes, self.classes_):
            return True
        return np.array_equal(unique_labels(classes), self.classes_)

    def _mistaken(self, answers, codes):
        """Return where the score of the true class is not above those of all others.

        A tie is a mistake: a learner that has seen nothing learns from its first trial.
        """
        if answers.shape[1] == 1:
            scores, second = answers[:, 0], codes == 1
            return ((scores <= 0) & second) | ((scores >= 0) & ~second)
        rows = np.arange(len(codes))
        others = answers.copy()
        others[rows, codes] = -np.inf
        return answers[rows, codes] <= others.max(axis=1)

    def _predictions(self, answers):
        """Return the classes that answers stand for."""
        if answers.shape[1] == 1:
            return self.classes_.take(answers[:, 0] > 0)
        return self.classes_.take(answers.argmax(axis=1))

    # ------------------------------------------------------------ scores

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

    @available_if(lambda learner: learner._has_scores)
    def decision_function(self, X: MatrixLike) -> Any:
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

    def predict(self, X: MatrixLike) -> np.ndarray:
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
