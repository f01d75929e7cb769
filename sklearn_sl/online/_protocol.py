"""The protocol of online learners: two mixins, and the hooks that a learner fills in.

In a trial a learner answers, is told the target, and changes its state. ``fit`` starts from scratch
and passes over the trials, ``partial_fit`` goes through more of them; how, is in ``_trials.py``. A
learner says what it is by these hooks, of which most have a default; None is nothing to do:

- ``_read(X, y, reset)`` returns validated samples and targets as numbers; ``_read_samples(X,
  reset)`` and ``_read_query(X)``, for predictions, do the part of the samples, by the
  ``_sample_checks`` of scikit-learn's ``validate_data``;
- ``_plan(X, targets)`` chooses, before anything else, what depends on the trials to come, such
  as a rate; ``partial_fit`` does not know them, and passes None;
- ``_fit_trials(X, targets)`` says how often ``fit`` goes through the trials: ``fit_passes`` or
  ``fit_once``;
- ``_begin(X)`` sets the state of a learner that has seen nothing;
- ``_foresee(X, n_passes)`` tells a learner in ``fit`` what it will go through, and how often;
- ``_prepare(X, targets)`` returns what a pass reads in the place of the samples;
- ``_play(X, targets)`` goes through a slice of trials, changes the state in place, and returns
  the answers before each change, and how many trials it played: fewer than all if the next
  row is not finite or overflows; then ``_complain(X, row)`` raises the error;
- ``_account(answers, targets)`` adds up the mistakes, ``_mistaken(answers, targets)``, if there is
  such a thing and answers are not classes themselves, and the losses of each trial,
  ``_losses(answers, targets)``; None is one for a mistake;
- ``_n_changes()`` returns a number that stays the same in a pass that changed nothing, or None
  if there is no such pass; by default it is the number of mistakes;
- ``_finish()`` sets the attributes that follow from the state;
- ``_certify(X, targets)``, after all passes of ``fit``, sets the attributes that compare the
  learner with a theorem; they are named by ``_certificates``, and None after ``partial_fit``;
- ``_predictions(answers)`` returns what ``predict`` would have said;
- ``_check_arrays()`` complains of a state that compiled trials cannot go on with.

What ``_play`` changes in place is named by ``_mutable``, arrays and objects with ``copy()``: if a
trial fails the old ones return. ``_width`` is the number of weight vectors that a row meets, by
which the length of slices is chosen. Predictions depend on the parameters ``_fixed``; those that
are ``_free`` may change between trials.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from sklearn_sl._rows import added_up
from sklearn_sl._sklearn import fit_context
from sklearn_sl._state import check_number
from sklearn_sl._validation import distinct_labels
from sklearn_sl.base import read_labels
from sklearn_sl.online import _trials
from sklearn_sl.online._parameters import FREE, check_fixed, stream_context

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike

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
NO_TARGET = "This {} estimator requires y to be passed, but the target y is None."


# ---------------------------------------------------------------- validation


def read_samples(learner, X, reset):
    """Return validated samples; those that need no look at are not looked at."""
    if is_plain(learner, X, reset):
        learner.n_features_in_ = X.shape[1]
        return X
    X = validate_data(learner, X, reset=reset, **learner._sample_checks)
    return added_up(X) if hasattr(X, "shape") else np.asarray(X)


def is_plain(learner, X, reset):
    """Return whether ``X`` is a matrix of doubles as validation would return it, without names."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and X.size > 0
        and X.flags.c_contiguous
        and "feature_names_in_" not in vars(learner)
        and (reset or X.shape[1] == learner.n_features_in_)
        # What is not finite is not plain where that matters, so that it is looked at and found.
        and (not learner._sample_checks.get("ensure_all_finite", True) or np.isfinite(X).all())
    )


def read_targets(learner, X, y):
    """Return one finite target for each sample."""
    if y is None:
        raise ValueError(NO_TARGET.format(type(learner).__name__))
    if not is_plain_vector(y):
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y", estimator_name=type(learner).__name__)
    if len(y) != X.shape[0]:
        check_consistent_length(X, y)
    return y


def read_classes(learner, X, y):
    """Return the class of each sample, as it was given."""
    return read_targets(learner, X, y if is_plain_vector(y) else read_labels(y))


def is_plain_vector(y):
    """Return whether ``y`` is a vector of finite numbers."""
    return (
        type(y) is np.ndarray
        and y.ndim == 1
        and (y.dtype.kind in "biu" or (y.dtype.kind == "f" and bool(np.isfinite(y).all())))
    )


def read_query(learner, X):
    """Return validated samples of a prediction."""
    if is_plain(learner, X, reset=False) and np.isfinite(X).all():
        return X
    return validate_data(learner, X, reset=False, **{**learner._sample_checks, **FINITE})


def scores_of_query(learner, X):
    """Return the scores of samples that a fitted learner is asked about; all of them are finite."""
    check_is_fitted(learner)
    check_fixed(learner)
    X = learner._read_query(X)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = learner._scores(X)
    if not np.isfinite(scores).all():
        raise ValueError(_trials.BEYOND.format(type(learner).__name__))
    return scores


def check_trials(self):
    """Complain of an account, or a state, that trials cannot go on with."""
    if "n_trials_" in vars(self):
        check_number(self, "n_trials_", 0)
        if self._check_arrays is not None:
            self._check_arrays()


class OnlineRegressorMixin:
    """Trials whose targets are numbers.

    Unless a learner says otherwise its answer is one score, which is the prediction. Hook:
    ``_scores(X)``, a matrix of one column.
    """

    cumulative_loss_: float
    n_trials_: int

    _counts_mistakes = _together = False
    _mutable = _fixed = _certificates = ()
    _free, _width, _sample_checks = FREE, 1, SAMPLES
    # Answers, where somebody asked for them.
    _heard = _losses = None
    # Hooks of learners that have something to do there, and what ``fit_once`` foresees.
    _plan = _foresee = _certify = _check_arrays = _prepare = _n_changes = _foreseen = None
    _fit_trials = _trials.fit_passes
    _copy_state, _account, _complain = _trials.copy_state, _trials.account, _trials.complain
    _read_samples, _read_query, _check_state = read_samples, read_query, check_trials
    _predict_and_learn, loss_curve_ = _trials.predict_and_learn, _trials.loss_curve

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
        _trials.go_on(self, *self._read_more(X, y))

    def _read_more(self, X, y):
        """Return validated trials of ``partial_fit``."""
        first = not hasattr(self, "n_trials_")
        X, y = self._read(X, y, reset=first)
        if first:
            _trials.begin_stream(self, X)
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
        return X, np.ascontiguousarray(read_targets(self, X, y), dtype=np.float64)


class OnlineClassifierMixin:
    """Trials whose targets are classes: places in ``classes_``.

    Unless a learner says otherwise, with ``_has_scores = False``, its answers are one score for two
    classes, else one for each; a vector or a function stands behind each. With
    ``multi_class="ovr"`` each vector learns its class against all others. With "kesler" the vector
    of the true class and that of the best other class take a step together. Hook: ``_scores(X)``, a
    column for each score.
    """

    classes_: np.ndarray
    n_mistakes_: int
    n_trials_: int
    cumulative_loss_: float

    _counts_mistakes = _has_scores = True
    _mutable = _fixed = _certificates = ()
    _free, _width, _sample_checks = FREE, 1, SAMPLES
    # Answers, where somebody asked for them.
    _heard = _losses = None
    # Hooks of learners that have something to do there, and what ``fit_once`` foresees.
    _plan = _foresee = _certify = _check_arrays = _prepare = _n_changes = _foreseen = None
    _fit_trials = _trials.fit_passes
    _copy_state, _account, _complain = _trials.copy_state, _trials.account, _trials.complain
    _read_samples, _read_query, _check_state = read_samples, read_query, check_trials
    _predict_and_learn, loss_curve_ = _trials.predict_and_learn, _trials.loss_curve

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
        _trials.go_on(self, *self._read_more(X, y, classes))

    def _read(self, X, y, reset):
        X = self._read_samples(X, reset)
        y = read_classes(self, X, y)
        if reset:
            self.classes_ = distinct_labels(y)
            self._check_classes()
        return X, self._codes(y)

    def _check_classes(self):
        """Complain of a single class."""
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes, but the data has only "
                f"one class: {self.classes_.tolist()[0]!r}."
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
        y = read_classes(self, X, y)
        if first:
            _trials.begin_stream(self, X)
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


# What ``isinstance`` asks for.
ONLINE = OnlineClassifierMixin | OnlineRegressorMixin
