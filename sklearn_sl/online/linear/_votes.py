"""Predicting by the votes of all weight vectors that there were."""

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from sklearn_sl._state import CheckedState, check_indices
from sklearn_sl.online._trials import joined, take_slice, with_part


class Ancestors(CheckedState):
    """All weight vectors that there were: the first one, the steps, and the age of each.

    A vector is as old as the trials that it was right in, plus one for the mistake that made it.
    Rows, steps, and the ages of vectors that were replaced, come in few parts; see ``with_part``.
    """

    def __init__(self, first):
        self.first, self.age = first, 0
        self.rows, self.steps, self.ages = [], [], []

    def _check_state(self):
        parts = (self.rows, self.steps, self.ages)
        if len({sum(part.shape[0] for part in each) for each in parts}) > 1:
            raise ValueError("There must be as many rows, steps and ages.")
        for part in self.rows:
            if hasattr(part, "indptr"):
                check_indices(part, "rows")

    def copy(self):
        """Return ancestors that can be added to alone."""
        other = object.__new__(Ancestors)
        vars(other).update(vars(self))
        return other

    def add(self, X, wrong, steps):
        """Hear of some trials, which of them were mistakes, and their steps."""
        places = np.flatnonzero(wrong)
        # A vector that is made in one trial is as old as the next mistake is away.
        ages = np.diff(np.concatenate([[-self.age], places, [len(wrong)]]))
        self.age = int(ages[-1])
        if places.size or not self.rows:
            self.rows = with_part(self.rows, X[places])
            self.steps = with_part(self.steps, steps[places])
            self.ages = with_part(self.ages, ages[:-1])

    def join(self):
        """Let all parts be one, as the next query finds them, and return rows, steps and ages."""
        self.rows, self.steps, self.ages = map(joined, (self.rows, self.steps, self.ages))
        return self.rows[0], self.steps[0], np.append(self.ages[0], self.age).astype(np.float64)

    def votes(self, X, intercept):
        """Return the mean vote of all vectors for each row, between -1 and 1."""
        rows, steps, ages = self.join()
        votes = np.empty(X.shape[0])
        block = max(1, 2**22 // len(ages))
        for start in range(0, X.shape[0], block):
            part = take_slice(X, slice(start, min(start + block, X.shape[0])))
            scores = np.empty((part.shape[0], len(ages)))
            scores[:, 0] = part @ self.first[:-1] + self.first[-1]
            terms = safe_sparse_dot(part, rows.T, dense_output=True) + float(intercept)
            np.multiply(terms, steps, out=scores[:, 1:])
            np.cumsum(scores, axis=1, out=scores)
            votes[start : start + block] = np.sign(scores) @ ages / ages.sum()
        return votes
