"""Streams: predict, then learn, for any learner; and what a learner of streams is worth later."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, get_scorer, r2_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from sklearn_sl._scoring import KnownClassifier, KnownRegressor, score_of
from sklearn_sl._sklearn import responses_to_score
from sklearn_sl.online._protocol import ONLINE

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_sl._typing import ArrayLike, MatrixLike

METHODS = ("predict", "predict_proba", "decision_function")


def progressive_predict(
    estimator: Any,
    X: MatrixLike,
    y: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    method: Literal["predict", "predict_proba", "decision_function"] = "predict",
    block_size: int = 1,
    delay: int = 0,
    initial: Any = None,
) -> Any:
    """Predict each sample of a stream before learning from it.

    The estimator goes on from the state that it has, and is changed: afterwards it has learned
    from all samples, just as ``partial_fit`` would have made it. Pass a clone to leave it alone.

    A learner of :mod:`sklearn_sl.online` with ``method="predict"``, ``block_size=1`` and
    ``delay=0`` does this at the speed of ``partial_fit``, because it answers in every trial anyhow,
    unless it predicts by an ``average``. Others are asked and taught block by block, which takes
    some tens of microseconds for each block.

    Parameters
    ----------
    estimator : estimator with ``partial_fit``
        The learner, of this package or of scikit-learn, fitted or not.

    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The stream.

    y : array-like of shape (n_samples,)
        Its targets.

    classes : array-like of shape (n_classes,), default=None
        All classes, for a classifier that has seen nothing; None takes those of ``y``.

    method : {"predict", "predict_proba", "decision_function"}, default="predict"
        How the learner is asked: for classes or numbers, for probabilities, or for scores. It must
        have the method.

    block_size : int, default=1
        How many samples are predicted, and later learned, at a time.

    delay : int, default=0
        How many more samples are predicted before the target of a sample is told: sample ``t`` is
        predicted by a learner that knows samples up to ``t - delay - 1``. The last targets are
        told at the end.

    initial : object, default=None
        The answer of a learner that cannot answer because it has seen nothing. None is the first
        class (for probabilities, each class alike), or zero.

    Returns
    -------
    answers : ndarray of shape (n_samples,) or (n_samples, n_classes)
        The answers, each of them given before its target was told. Probabilities have a column for
        each class, and so have the scores of more than two classes.

    See Also
    --------
    progressive_val_score : A score of these answers.

    References
    ----------
    .. [1] A. Blum, A. Kalai and J. Langford, "Beating the hold-out: bounds for k-fold and
       progressive cross-validation", COLT 1999.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_sl.online import Perceptron, progressive_predict
    >>> X, y = make_classification(1000, random_state=0)
    >>> model = Perceptron()
    >>> answers = progressive_predict(model, X, y)
    >>> int((answers != y).sum()) <= model.n_mistakes_  # a tie is a mistake of the perceptron
    True
    """
    _check_options(estimator, method, block_size, delay)
    _check_method(estimator, method)
    check_consistent_length(X, y)
    X, y = _indexable(X), np.asarray(y)
    params = _first_params(estimator, y, classes)
    if isinstance(estimator, ONLINE) and method == "predict" and block_size == 1 and delay == 0:
        return estimator._predict_and_learn(X, y, **params)
    return _by_blocks(estimator, X, y, params, method, block_size, delay, initial)


def _check_options(estimator, method, block_size, delay):
    if not hasattr(estimator, "partial_fit"):
        raise TypeError(
            f"{type(estimator).__name__} has no partial_fit method: pass an incremental learner."
        )
    if method not in METHODS:
        raise ValueError(f"method must be one of {METHODS}; got {method!r}.")
    for name, value, least in (("block_size", block_size, 1), ("delay", delay, 0)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise ValueError(f"{name} must be an integer >= {least}; got {value!r}.")


def _check_method(estimator, method):
    """Complain of a learner that cannot be asked, before it learns anything."""
    try:
        getattr(estimator, method)
    except AttributeError as error:
        raise AttributeError(
            f'method="{method}" is not available for {type(estimator).__name__}: {error}'
        ) from error


def _indexable(X):
    """Return samples whose rows can be sliced: frames stay frames, lists become arrays."""
    if hasattr(X, "iloc"):
        return X
    if hasattr(X, "tocsr"):
        return X.tocsr()
    return np.asarray(X)


def _rows(X, start, stop):
    return X.iloc[start:stop] if hasattr(X, "iloc") else X[start:stop]


def _first_params(estimator, y, classes):
    """Return what the next call of ``partial_fit`` needs besides samples and targets."""
    if not is_classifier(estimator) or hasattr(estimator, "classes_"):
        return {} if classes is None else {"classes": classes}
    return {"classes": np.unique(y) if classes is None else classes}


def _by_blocks(estimator, X, y, params, method, block_size, delay, initial):
    """Ask and teach block by block."""
    n, answers, n_learned = len(y), [], 0
    labels = params.get("classes", getattr(estimator, "classes_", None))
    for start in range(0, n, block_size):
        stop = min(start + block_size, n)
        # Targets that have been told: of all samples ``delay`` and more before the block.
        n_told = max(start - delay, n_learned)
        params = _teach(estimator, X, y, n_learned, n_told, params)
        n_learned = n_told
        answers.append(
            _ask(estimator, _rows(X, start, stop), stop - start, method, labels, initial)
        )
    _teach(estimator, X, y, n_learned, n, params)
    return np.concatenate(answers)


def _teach(estimator, X, y, start, stop, params):
    if stop <= start:
        return params
    estimator.partial_fit(_rows(X, start, stop), y[start:stop], **params)
    return {}


def _ask(estimator, X, n_rows, method, labels, initial):
    """Return the answers for a block, or initial ones of a learner that has seen nothing."""
    try:
        check_is_fitted(estimator)
        return np.asarray(getattr(estimator, method)(X))
    except NotFittedError:
        pass
    if method == "predict":
        known = 0.0 if labels is None else np.unique(labels)[0]
        return np.full(n_rows, known if initial is None else initial)
    n_classes = len(np.unique(labels))
    if method == "predict_proba":
        answer = np.full(n_classes, 1 / n_classes) if initial is None else initial
        return np.tile(answer, (n_rows, 1))
    answer = 0.0 if initial is None else initial
    return np.full(n_rows if n_classes == 2 else (n_rows, n_classes), answer)


def progressive_val_score(
    estimator: Any,
    X: MatrixLike,
    y: ArrayLike,
    *,
    scoring: str | Callable[..., Any] | None = None,
    classes: Any = None,
    method: Literal["predict", "predict_proba", "decision_function"] | None = None,
    block_size: Any = 1,
    delay: Any = 0,
    initial: Any = None,
    at: ArrayLike | None = None,
) -> float | np.ndarray:
    """Score the predictions that a learner makes of a stream before it learns from it.

    Every sample tests the learner once, before it teaches it: no sample is set aside, and none is
    tested by a learner that has seen it. The learner is changed, see :func:`progressive_predict`.

    Parameters
    ----------
    estimator : estimator with ``partial_fit``
        The learner.

    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The stream.

    y : array-like of shape (n_samples,)
        Its targets.

    scoring : str or callable, default=None
        The name of a scorer of scikit-learn, or one of :func:`sklearn.metrics.make_scorer`, or a
        function ``score(y_true, answers)``. None is the accuracy of classifiers and the R2 score of
        regressors.

    classes : array-like of shape (n_classes,), default=None
        As of :func:`progressive_predict`.

    method : {"predict", "predict_proba", "decision_function"}, default=None
        How the learner is asked. None is what the scorer needs: for "roc_auc" scores, or
        probabilities if there are no scores; for "neg_log_loss" probabilities. For a function it is
        "predict".

    block_size, delay, initial : optional
        As of :func:`progressive_predict`.

    at : array-like of int, default=None
        Numbers of samples: return the score of the first ones, for each number. None is all.

    Returns
    -------
    score : float or ndarray of shape (n_numbers,)
        The score, or those of the beginnings of the stream.

    See Also
    --------
    progressive_predict : The predictions themselves.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn_sl.online import Perceptron, progressive_val_score
    >>> X, y = make_classification(2000, random_state=0)
    >>> ours = progressive_val_score(Perceptron(), X, y)
    >>> theirs = progressive_val_score(SGDClassifier(random_state=0), X, y, block_size=100)
    >>> ours > 0.75 and theirs > 0.75
    True
    >>> progressive_val_score(Perceptron(), X, y, scoring="roc_auc") > 0.75
    True
    """
    method = _method_for(estimator, scoring, method)
    answers = progressive_predict(
        estimator,
        X,
        y,
        classes=classes,
        method=method,
        block_size=block_size,
        delay=delay,
        initial=initial,
    )
    y = np.asarray(y)
    if at is None:
        return _score(estimator, scoring, y, answers, method)
    sizes = np.asarray(at, dtype=int)
    if np.any((sizes < 1) | (sizes > len(y))):
        raise ValueError(f"at must be integers in [1, {len(y)}], the number of samples; got {at}.")
    return np.array([_score(estimator, scoring, y[:k], answers[:k], method) for k in sizes])


def _method_for(estimator, scoring, method):
    """Return how to ask a learner whose answers are scored; complain of what cannot be scored."""
    asked = None if scoring is None else responses_to_score(get_scorer(scoring))
    if asked is None:
        return "predict" if method is None else method
    # Who knows scores or probabilities knows predictions.
    if method is not None and method not in asked and asked != ("predict",):
        raise ValueError(
            f"method={method!r} is not what scoring={scoring!r} needs: set method to "
            f"{' or '.join(map(repr, asked))}, or to None, which chooses among them."
        )
    if method is not None:
        return method
    # What the learner lacks is complained of by name, where it is asked.
    return next((name for name in asked if hasattr(estimator, name)), asked[-1])


def _score(estimator, scoring, y, answers, method):
    scorer = None if scoring is None else get_scorer(scoring)
    if scorer is not None and responses_to_score(scorer) is None:
        return float(scoring(y, answers))
    labels = getattr(estimator, "classes_", None)
    known = KnownRegressor(answers) if labels is None else _known(labels, answers, method)
    if scorer is None:
        measure = accuracy_score if labels is not None else r2_score
        return float(measure(y, known.predictions))
    try:
        return float(score_of(scorer, known, y))
    except ValueError as error:
        if labels is None or np.isin(labels, y).all():
            raise
        raise ValueError(
            f"scoring={scoring!r} failed on {len(y)} samples with the classes {np.unique(y)}, "
            f"while the learner knows {labels}: {error} Pass more samples (larger numbers in at), "
            "or a scorer made with all labels."
        ) from error


def _known(labels, answers, method):
    """Return a stand-in for a classifier that has given these answers."""
    if method == "predict":
        return KnownClassifier(answers, labels)
    codes = answers.argmax(axis=1) if answers.ndim == 2 else (answers > 0).astype(np.intp)
    kind = "probabilities" if method == "predict_proba" else "decisions"
    return KnownClassifier(labels[codes], labels, **{kind: answers})


def online_to_batch(
    estimator: Any,
    X: MatrixLike,
    y: ArrayLike,
    *,
    method: Literal["random", "average", "longest", "last"] = "random",
    classes: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Any:
    """Return a model for new samples, fitted by an online learner.

    If a learner makes at most ``B`` mistakes on any stream, then on ``m`` independent samples of
    one distribution its predictions are wrong at most ``B`` times, so that the mean over all ``t``
    of the error of the learner that has seen ``t`` samples is at most ``B / m``: the one that is
    stopped at random has the expected error ``B / m`` or less.

    Parameters
    ----------
    estimator : estimator with ``partial_fit``
        The learner; a clone of it is trained.

    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Independent samples.

    y : array-like of shape (n_samples,)
        Their targets.

    method : {"random", "average", "longest", "last"}, default="random"
        "random" stops after a number of samples that is drawn evenly from 1 to ``n_samples``, for
        which the bound holds. "average" averages the weights ``coef_`` and ``intercept_`` of all
        trials: the learner's own average if it has a parameter ``average``. "longest" is the
        longest survivor, the state that made the longest run of right predictions (classifiers
        only). "last" has seen all samples.

    classes : array-like of shape (n_classes,), default=None
        All classes; None takes those of ``y``.

    random_state : int, RandomState instance or None, default=None
        For the number of samples.

    Returns
    -------
    estimator : estimator
        A fitted clone.

    See Also
    --------
    sklearn_sl.theory.perceptron_bound : A mistake bound ``B``.

    References
    ----------
    .. [1] N. Littlestone, "From on-line to batch learning", COLT 1989.

    .. [2] S. Gallant, "Perceptron-based learning algorithms", IEEE Transactions on Neural Networks
       1, 1990. The longest survivor.

    .. [3] N. Cesa-Bianchi, A. Conconi and C. Gentile, "On the generalization ability of on-line
       learning algorithms", IEEE Transactions on Information Theory 50, 2004. Averages.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_sl.online import Perceptron, online_to_batch
    >>> X, y = make_classification(1000, random_state=0)
    >>> model = online_to_batch(Perceptron(), X, y, method="average")
    >>> model.score(X, y) > 0.85
    True
    """
    if method not in ("random", "average", "longest", "last"):
        raise ValueError(
            f'method must be one of "random", "average", "longest", "last"; got {method!r}.'
        )
    _check_options(estimator, "predict", 1, 0)
    check_consistent_length(X, y)
    X, y, model = _indexable(X), np.asarray(y), clone(estimator)
    params = _first_params(model, y, classes)
    n_seen = len(y)
    if method == "average":
        return _averaged(model, X, y, params)
    if method == "random":
        n_seen = int(check_random_state(random_state).randint(1, len(y) + 1))
    elif method == "longest":
        n_seen = _longest_survivor(clone(estimator), X, y, params)
    return model.partial_fit(_rows(X, 0, n_seen), y[:n_seen], **params)


def _longest_survivor(model, X, y, params):
    """Return how many samples the state had seen that made the longest run without mistakes."""
    if "classes" not in params:
        raise ValueError('method="longest" requires a classifier, since it counts mistakes.')
    answers = progressive_predict(model, X, y, classes=params["classes"])
    mistakes = np.concatenate([[-1], np.flatnonzero(answers != y), [len(y)]])
    runs = np.diff(mistakes)
    # The run after the first mistakes begins with the state that has learned from the last one.
    return int(max(mistakes[np.argmax(runs)] + 1, 1))


def _averaged(model, X, y, params):
    """Return the learner with the mean weights of all trials."""
    if "average" in model.get_params(deep=False):
        return model.set_params(average=True).partial_fit(X, y, **params)
    totals = None
    for row in range(len(y)):
        model.partial_fit(_rows(X, row, row + 1), y[row : row + 1], **params)
        params = {}
        if not hasattr(model, "coef_"):
            raise ValueError(
                f'method="average" averages weights, but {type(model).__name__} has no coef_: '
                "use another method."
            )
        # Copies: learners change their weights in place.
        state = np.array(model.coef_), np.array(model.intercept_)
        totals = state if totals is None else tuple(map(np.add, totals, state))
    model.coef_, model.intercept_ = (total / len(y) for total in totals)
    return model
