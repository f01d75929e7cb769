"""Scores of semi-supervised classifiers: by the samples that have a label, and by no others."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import accuracy_score, get_scorer
from sklearn.utils.validation import column_or_1d

from sklearn_sl.base import as_label_array

if TYPE_CHECKING:
    from collections.abc import Callable


MARK = -1  # of samples without a label, in scikit-learn


def labelled_scorer(
    scoring: str | Callable[..., float] = "accuracy", *, unlabelled: Any = -1
) -> Any:
    """Return a scorer that leaves out the samples without a label.

    For searches and cross-validation of semi-supervised classifiers, whose ``y`` has the mark
    of samples without a label: any other scorer takes the mark for a class that is never
    predicted. The method ``score`` of the classifiers of this module does the same for accuracy.

    Parameters
    ----------
    scoring : str or callable, default="accuracy"
        What is asked of the other samples: a name of scikit-learn's, or a scorer.

    unlabelled : object, default=-1
        The mark of samples without a label. If it is one of the classes of the fitted classifier,
        it marks nothing.

    Returns
    -------
    scorer : callable
        Called as ``scorer(estimator, X, y, sample_weight=None)``. It raises a ValueError if no
        sample has a label.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn_sl.graph import LabelSpreading, labelled_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> few = np.where(np.arange(len(y)) % 5 == 0, y, -1)
    >>> search = GridSearchCV(
    ...     LabelSpreading(), {"gamma": [0.1, 1.0]}, scoring=labelled_scorer("balanced_accuracy")
    ... )
    >>> round(float(search.fit(X, few).best_score_), 2)
    1.0
    """
    return LabelledScorer(get_scorer(scoring), unlabelled)


@dataclass(frozen=True)
class LabelledScorer:
    """A scorer of the labelled samples; see :func:`labelled_scorer`."""

    scorer: Any
    unlabelled: Any

    def __call__(self, estimator, X, y, sample_weight=None):
        rows = labelled_rows(y, self.unlabelled, estimator.classes_)
        kwargs = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)[rows]}
        return self.scorer(estimator, rows_of(X, rows), np.asarray(y)[rows], **kwargs)


def accuracy_of_labelled(model, X, y, sample_weight):
    """Return the accuracy of a classifier on the samples that have a label."""
    mark = getattr(model, "unlabelled", MARK)
    automatic = isinstance(mark, str) and mark == "auto"
    rows = labelled_rows(y, MARK if automatic else mark, model.classes_)
    # All are predicted: of a given graph, rows are what there is of a sample.
    predicted = model.predict(X)[rows]
    weight = None if sample_weight is None else np.asarray(sample_weight)[rows]
    return float(accuracy_score(np.asarray(y)[rows], predicted, sample_weight=weight))


def labelled_rows(y, mark, classes):
    """Return the places of the samples with a label; raise if there are none."""
    y = column_or_1d(as_label_array(y), warn=True)
    if mark is None or mark in classes.tolist():
        return np.arange(len(y))
    if isinstance(mark, Real) and np.isnan(mark):
        marked = np.array([isinstance(label, Real) and np.isnan(label) for label in y])
    elif isinstance(mark, str) == (y.dtype.kind in "US") or y.dtype.kind == "O":
        marked = np.asarray(y == mark, dtype=bool)
    else:
        marked = np.zeros(len(y), dtype=bool)
    if marked.all():
        raise ValueError(
            f"All samples in y are unlabelled, marked by {mark!r}: there is nothing to score by. "
            "Pass the labels of the samples to be scored."
        )
    return np.flatnonzero(~marked)


def rows_of(X, rows):
    """Return rows of a matrix, a frame or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]
