"""What online learners share whose functions are sums of kernels at some of the samples."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy import linalg

from sklearn_sl._kernel_machine import KernelMachineMixin, as_objects, check_symmetric_gram
from sklearn_sl._sklearn import Interval, StrOptions
from sklearn_sl._state import check_entries, check_number, check_shape
from sklearn_sl._threads import blas_threads_for
from sklearn_sl.kernels._base import (
    encode_checked,
    finite_or_explain,
    gram_product,
    pair_gram,
    pair_values,
)
from sklearn_sl.online._protocol import OnlineClassifierMixin, read_samples
from sklearn_sl.online._trials import take_slice
from sklearn_sl.online.kernel import _kernel_sweeps

if TYPE_CHECKING:
    from sklearn_sl._typing import SparseLike

RADIUS2, STEPS2, N_STEPS, N_LOST, N_FRESH = range(_kernel_sweeps.TAIL)
# How many trials get their kernel values at once: rows of so many numbers do not fall on the same
# lines of a cache. And the most kernel values of a block, as far as a few trials allow.
BLOCK, VALUES = 15 * _kernel_sweeps.LANES, 2**21
# How many additions a sweep makes before it returns, a few hundredths of a second.
ADDITIONS = 2**25
# Numbers up to this are counted exactly.
LARGEST_COUNT = 2**53
# The most kernel values that the passes of a fit share.
TABLE = 2**22


class KernelTrialsMixin(KernelMachineMixin, OnlineClassifierMixin):
    """Trials of functions ``f_k = sum_s coef[k, s] K(v_s, .)`` over vectors that they share.

    ``_margin`` and ``_length`` say when a function takes a step and how far, and
    ``_set_bound(codes, scores)`` sets what a theorem says of a fit in which it holds, if there is
    one; ``scores`` are those of the last functions. The kernel values of
    a block of trials come at once, each as if its pair were the only one, and the compiled sweep
    adds them up in the order of the vectors: how trials are cut into blocks changes no bit.

    ``_coef`` and ``_sums`` have a column for each vector, ``_ids`` are the places of the vectors
    among all rows; these arrays, and ``_vectors``, are replaced and never changed. In a fit
    ``_slot_of`` says which column a row has, and ``_table`` holds the kernel values of all pairs
    if there are not too many.
    """

    kernel_: Any | None
    support_: np.ndarray
    support_vectors_: np.ndarray | SparseLike
    dual_coef_: Any
    n_updates_: int
    n_removed_: int
    radius_: float
    converged_: bool
    n_iter_: int

    _budget_constraints = {
        "budget": [Interval(Integral, 1, None, closed="left"), None],
        "budget_strategy": [StrOptions({"removal", "projection"})],
    }
    _fixed = ("kernel",)
    _mutable = ("_norms", "_tail", "_gram", "_inverse")
    _slot_of = _table = _set_bound = None

    # ------------------------------------------------------------ samples

    _sample_checks = KernelMachineMixin._input_checks

    def _read_samples(self, X, reset):
        return as_objects(X) if self._is_structured(X) else read_samples(self, X, reset)

    def _read_query(self, X):
        return self._validate_query(X)

    # ------------------------------------------------------------ passes

    def _begin(self, X):
        n_scores = self._n_vectors()
        self.kernel_ = self._kernel_object(X)
        # As the kernel, these stay what they are until the learner starts from scratch.
        self._budget = -1 if self.budget is None else self.budget
        self._projects = self.budget is not None and self.budget_strategy == "projection"
        self._averages = getattr(self, "average", False)
        self._vectors, self._ids = X[:0], np.empty(0, dtype=np.intp)
        self._coef, self._sums = np.zeros((n_scores, 0)), np.zeros((n_scores, 0))
        self._norms, self._tail = np.zeros(n_scores), np.zeros(_kernel_sweeps.TAIL)
        self._gram = self._inverse = np.zeros((0, 0))
        self._place = 0

    def _check_arrays(self):
        n_scores, n_vectors = self._n_vectors(), len(check_shape(self, "_ids", (None,), np.intp))
        check_shape(self, "_coef", (n_scores, n_vectors))
        check_shape(self, "_sums", (n_scores, n_vectors if self._averages else 0))
        check_shape(self, "_norms", (n_scores,))
        check_shape(self, "_tail", (_kernel_sweeps.TAIL,))
        check_entries(self._tail[N_LOST:], "_tail", 0, LARGEST_COUNT)
        check_number(self, "_place", 0)
        if self._budget != -1:
            check_number(self, "_budget", max(n_vectors, 1))
        for name in ("_gram", "_inverse"):
            size = len(getattr(self, name)) if self._projects else 0
            check_shape(self, name, (size, size))
        if self.kernel_ is not None and self._vectors.shape[0] != n_vectors:
            raise ValueError(f"There must be {n_vectors} vectors.")
        if self.kernel_ is None:
            check_entries(self._ids, "_ids", 0, self.n_features_in_ - 1)

    def _plan(self, X, codes):
        if X is None:  # partial_fit
            return
        if self._precomputed:
            check_symmetric_gram(X)
        self._slot_of = np.full(X.shape[0], -1, dtype=np.intp)

    def _foresee(self, X, n_passes):
        if n_passes > 1 and X.shape[0] ** 2 <= TABLE:
            kernel = self.kernel_
            self._table = X if kernel is None else pair_gram(kernel, as_doubles(X), BLOCK)

    def _prepare(self, X, codes):
        if self._slot_of is not None:
            self._place, self._heard = 0, []
        return X if self._table is None else self._table

    def _certify(self, X, codes):
        if self._table is not None and self.kernel_ is not None:
            self._vectors = self.support_vectors_ = as_doubles(X[self._ids])
        if self._set_bound is not None and self._obeys_theorems():
            self._set_bound(codes, self._last_scores(X))
        for name in ("_slot_of", "_heard", "_table"):
            vars(self).pop(name, None)

    def _last_scores(self, X):
        """Return the values of the last functions at the samples of a fit."""
        return np.concatenate(self._heard) if self.converged_ else self._evaluate(X, self._coef)

    def _n_changes(self):
        return int(self._tail[N_STEPS])

    def _finish(self):
        self.support_, self.dual_coef_ = self._ids, self._coef
        if self._averages:
            self.dual_coef_ = self._coef + self._sums / self.n_trials_
        if self.kernel_ is not None:
            self.support_vectors_ = self._vectors
        self.n_updates_ = self._n_changes()
        self.n_removed_ = int(self._tail[N_LOST])
        self.radius_ = float(np.sqrt(self._tail[RADIUS2]))

    def _obeys_theorems(self):
        """Return whether nothing was lost, and the kernel is positive definite for all we know."""
        positive = getattr(self.kernel_, "positive_definite", True) and self._norms.min() >= 0
        return positive and not self._tail[N_LOST]

    # ------------------------------------------------------------ trials

    @np.errstate(all="ignore")
    def _play(self, X, codes):
        scores = np.empty((len(codes), len(self._norms)))
        buffer, stop = np.empty(0), 0
        while stop < len(codes):
            rows = slice(stop, min(stop + self._block_length(), len(codes)))
            stop = rows.stop
            part = X if rows.stop - rows.start == X.shape[0] else take_slice(X, rows)
            n_room = self._n_room(part)
            size = n_room * padded(part.shape[0])
            if buffer.size < size:
                buffer = np.empty(2 * size)
            K = buffer[:size].reshape(n_room, -1)
            played = self._play_block(part, codes[rows], rows.start, K, scores[rows])
            if played < part.shape[0]:
                return scores, rows.start + played
        return scores, len(codes)

    def _block_length(self):
        """Return how many trials get their kernel values at once; it changes no result."""
        return max(_kernel_sweeps.LANES, min(BLOCK, VALUES // max(len(self._ids), 1)))

    def _n_room(self, X):
        """Return how many vectors there may be after the trials of a block."""
        n_most = len(self._ids) + X.shape[0]
        return n_most if self._budget < 0 else min(n_most, self._budget)

    def _play_block(self, X, codes, before, K, scores):
        """Play the trials of a block, ``before`` of the slice come before; return how many."""
        n_rows, ids = len(codes), self._place + np.arange(len(codes))
        if self.kernel_ is None:  # after the last column comes the first
            ids %= self.n_features_in_
        X = X if self._has_values else as_doubles(X)
        own = self._fill_values(X, ids, K)
        functions = self._functions(len(K))
        known = np.full(n_rows, -1, np.intp) if self._slot_of is None else self._slot_of[ids]
        owner = np.full(len(K), -1, dtype=np.intp)
        room = np.empty((len(self._norms), _kernel_sweeps.LANES)), np.empty(len(self._norms))
        step = self._joint, self._margin, self._length, self.n_trials_ + before
        # What a trial costs at most: all scores of a few rows, and the update of an inverse.
        n_additions = K.shape[0] * _kernel_sweeps.LANES * len(self._norms) + 3 * self._gram.size
        row = 0
        while row < n_rows:
            stop = min(row + max(1, ADDITIONS // n_additions), n_rows)
            row = _kernel_sweeps.sweep(
                functions, K, own, codes, *step, row, stop, known, owner, *room, scores
            )
            if row < stop and not np.isfinite(scores[row]).all():
                finite_or_explain(K[: functions.n_slots], self.kernel_)
                break
            if row < stop:
                self._invert()
        self._keep(functions, X, ids, owner)
        self._place += row
        return row

    @property
    def _joint(self):
        """Whether the functions take their steps together."""
        return getattr(self, "multi_class", "ovr") == "kesler" and len(self._norms) > 1

    @property
    def _has_values(self):
        """Whether samples are rows of kernel values."""
        return self.kernel_ is None or self._table is not None

    def _fill_values(self, X, ids, K):
        """Write the kernel values of vectors and trials; return those of trials and trials."""
        n_vectors, n_rows = len(self._ids), len(ids)
        own = np.zeros((n_rows, K.shape[1]))
        K[:, n_rows:] = 0.0
        if self._has_values:
            K[:n_vectors, :n_rows] = X[:, self._ids].T
            own[:, :n_rows] = X[:, ids].T
            return own
        block = encode_checked(self.kernel_, X)
        if n_vectors:
            vectors = encode_checked(self.kernel_, self._vectors)
            pair_values(self.kernel_, vectors, block, K[:n_vectors, :n_rows])
        # Another view of the same samples, as of samples that are equal by chance.
        pair_values(self.kernel_, encode_checked(self.kernel_, X[:]), block, own[:, :n_rows])
        finite_or_explain(own, self.kernel_)
        return own

    def _functions(self, n_room):
        """Return the functions with room for more vectors, as the sweep changes them."""
        n_scores, n_vectors = self._coef.shape
        coef = np.zeros((n_scores, n_room))
        coef[:, :n_vectors] = self._coef
        sums = np.zeros((n_scores, n_room if self._averages else 0))
        sums[:, :n_vectors] = self._sums
        if self._projects:
            self._gram = widened(self._gram, n_room, self._budget)
        if self._projects and n_room == self._budget:
            self._inverse = widened(self._inverse, n_room, n_room)
        return _kernel_sweeps.Expansion(
            coef,
            sums,
            n_vectors,
            self._budget,
            self._gram,
            self._inverse,
            self._norms,
            self._tail,
            np.empty((4, n_room)),
        )

    def _invert(self):
        """Compute the inverse of the Gram matrix of a full budget anew."""
        gram = self._gram.copy()
        diagonal = np.einsum("ii->i", gram)
        diagonal[...] = np.maximum(diagonal, _kernel_sweeps.RIDGE * (diagonal.max() or 1.0))
        try:
            factor = linalg.cho_factor(gram, lower=True)
        except linalg.LinAlgError as error:
            raise ValueError(
                'budget_strategy="projection" requires a positive definite kernel: use "removal".'
            ) from error
        self._inverse[...] = linalg.cho_solve(factor, np.eye(len(gram)))
        self._tail[N_FRESH] = len(gram)

    def _keep(self, functions, X, ids, owner):
        """Take over what the sweep did to the functions, and the vectors that came in."""
        n_vectors = functions.n_slots
        self._coef = np.ascontiguousarray(np.asarray(functions.coef)[:, :n_vectors])
        self._sums = np.ascontiguousarray(np.asarray(functions.sums)[:, :n_vectors])
        slots = np.flatnonzero(owner >= 0)
        if not slots.size:
            return
        rows = owner[slots]
        if self._slot_of is not None:
            self._slot_of[self._ids[slots[slots < len(self._ids)]]] = -1
            self._slot_of[ids[rows]] = slots
        if not self._has_values:
            self._vectors = with_rows(self._vectors, slots, X[rows])
        self._ids = with_rows(self._ids, slots, ids[rows])

    # ------------------------------------------------------------ losses and answers

    def _losses(self, scores, codes):
        views = self._views(scores, codes)
        return sum(np.maximum(0, self._margin - signs * scored) for scored, signs in views)

    def _scores(self, X):
        return self._evaluate(X, self.dual_coef_)

    def _evaluate(self, X, coef):
        """Return the values at samples of functions with these coefficients."""
        if self.kernel_ is None:
            with blas_threads_for(X):
                return X[:, self._ids] @ coef.T
        X, vectors = (encode_checked(self.kernel_, Z) for Z in (X, self._vectors))
        return gram_product(self.kernel_, X, vectors, coef.T, encoded=True)


def padded(n_rows):
    """Return a number of rows as a multiple of those that are scored side by side."""
    return -(-n_rows // _kernel_sweeps.LANES) * _kernel_sweeps.LANES


def as_doubles(X):
    """Return samples in double precision; what is no number stays as it is."""
    return X.astype(np.float64) if X.dtype == np.float32 else X


def widened(square, n_room, largest):
    """Return a matrix with at least so many rows and columns, some more to spare."""
    if len(square) >= n_room:
        return square
    wider = np.zeros((min(largest, max(n_room, 2 * len(square))),) * 2)
    wider[: len(square), : len(square)] = square
    return wider


def with_rows(old, slots, rows):
    """Return rows of which some, in ascending slots, are replaced or added at the end."""
    stack = sp.vstack if sp.issparse(rows) else np.concatenate
    together = stack([old, rows])
    order = np.arange(max(old.shape[0], slots[-1] + 1))
    order[slots] = old.shape[0] + np.arange(len(slots))
    return together[order]
