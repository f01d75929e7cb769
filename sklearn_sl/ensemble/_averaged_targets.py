"""What bagging and forests average: shares of classes or votes, and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from sklearn_sl._rows import as_columns
from sklearn_sl._sklearn import StrOptions
from sklearn_sl._warnings import warn
from sklearn_sl.base import read_labels
from sklearn_sl.tree._tree import node_labels


class AveragedClassesMixin:
    """Classes as targets: answers are shares, or votes."""

    classes_: np.ndarray

    _parameter_constraints = {"voting": [StrOptions({"average", "vote"})]}

    def _encode_targets(self, y, old):
        """Return classes as codes; learn their names, which those of a warm start must be."""
        y = read_targets(read_labels(y))
        if not self._takes_several_outputs:
            y = column_or_1d(y)
        check_classification_targets(y)
        table = y.reshape(len(y), -1)
        found = [np.unique(column, return_inverse=True) for column in table.T]
        self._class_names = [names for names, _ in found]
        single = len(found) == 1
        self.classes_ = self._class_names[0] if single else self._class_names
        counts = [len(names) for names in self._class_names]
        self.n_classes_ = counts[0] if single else counts
        self._check_classes(old)
        codes = np.stack([code for _, code in found], axis=1)
        return codes[:, 0] if y.ndim == 1 else codes

    def _check_classes(self, old):
        """Raise an error for other classes than those that earlier base estimators know."""
        if old:
            before = old["classes_"]
            before = [before] if not isinstance(before, list) else before
            if len(before) != len(self._class_names) or not all(
                map(np.array_equal, before, self._class_names)
            ):
                raise ValueError(
                    "y must have the same classes as in the previous fit when warm_start=True: set "
                    "warm_start=False to fit anew."
                )

    @property
    def _places(self):
        """Where the classes of each output are among the answers."""
        ends = np.cumsum([len(names) for names in self._class_names])
        return [slice(end - len(names), end) for end, names in zip(ends, self._class_names)]

    def _node_answers(self, estimator):
        tree = estimator.tree_
        if self.voting == "average":
            parts = [tree.value[:, output, :n] for output, n in enumerate(tree.n_classes)]
        else:
            labels = node_labels(tree, estimator._cost)
            parts = [np.eye(n)[label] for n, label in zip(tree.n_classes, labels.T)]
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    def _answers(self, estimator, X, predict=None, predict_proba=None):
        """Return the shares of the classes, of a base estimator that may not know all of them."""
        n_classes = self.n_classes_
        if self.voting == "average" and hasattr(estimator, "predict_proba"):
            shares = estimator.predict_proba(X, **(predict_proba or {}))
            if shares.shape[1] == n_classes:
                return shares
            answers = np.zeros((len(shares), n_classes))
            answers[:, estimator.classes_.astype(np.intp)] = shares
            return answers
        codes = np.asarray(estimator.predict(X, **(predict or {}))).astype(np.intp)
        return np.eye(n_classes)[codes]

    def _decode(self, codes):
        """Return classes by their codes."""
        table = as_columns(codes)
        labels = [names.take(code) for names, code in zip(self._class_names, table.T)]
        return labels[0] if codes.ndim == 1 else np.stack(labels, axis=1)

    def _encode_again(self, y):
        """Return classes of the training set as codes; -1 for others."""
        y = np.asarray(y)
        table = as_columns(y)
        if table.shape[1] != len(self._class_names):
            raise ValueError(
                f"y must have {len(self._class_names)} outputs, as in fit; got {table.shape[1]}."
            )
        codes = np.empty(table.shape, dtype=np.intp)
        for output, (names, column) in enumerate(zip(self._class_names, table.T)):
            place = np.minimum(np.searchsorted(names, column), len(names) - 1)
            codes[:, output] = np.where(names[place] == column, place, -1)
        return codes[:, 0] if codes.shape[1] == 1 else codes

    def _labels(self, answers):
        """Return the classes of the largest shares."""
        codes = self._codes(answers)
        labels = [names.take(code) for names, code in zip(self._class_names, codes.T)]
        return labels[0] if len(labels) == 1 else np.stack(labels, axis=1)

    def _codes(self, answers):
        """Return the same as codes, one column for each output."""
        return np.stack([answers[:, place].argmax(axis=1) for place in self._places], axis=1)

    def _losses(self, y, answers):
        """Return the share of the outputs that are wrong."""
        return np.mean(self._codes(answers) != as_columns(y), axis=1)


class AveragedTargetsMixin:
    """Numbers as targets."""

    oob_prediction_: Any

    def _encode_targets(self, y, old):
        """Return targets as numbers; learn how many there are, as many as before a warm start."""
        y = read_targets(y, dtype=np.float64)
        self._n_targets = None if y.ndim == 1 else y.shape[1]
        if old and old["_n_targets"] != self._n_targets:
            raise ValueError(
                "y must have as many outputs as in the previous fit when warm_start=True: set "
                "warm_start=False to fit anew."
            )
        return y

    def _decode(self, y):
        return y

    def _encode_again(self, y):
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y

    def _node_answers(self, estimator):
        return estimator.tree_.value[:, :, 0]

    def _answers(self, estimator, X, predict=None):
        answers = np.asarray(estimator.predict(X, **(predict or {})), dtype=np.float64)
        return as_columns(answers)

    def _labels(self, answers):
        return answers[:, 0] if self._n_targets is None else answers

    def _losses(self, y, answers):
        """Return the mean squares of the errors of the outputs."""
        return np.mean((as_columns(y) - answers) ** 2, axis=1)


def read_targets(y, *, dtype=None):
    """Return validated targets; a single column becomes one dimension, with a warning."""
    y = check_array(y, ensure_2d=False, dtype=dtype, input_name="y")
    if y.ndim == 2 and y.shape[1] == 1:
        warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of "
            "y to (n_samples,), for example using ravel().",
            DataConversionWarning,
        )
        return y[:, 0]
    return y
