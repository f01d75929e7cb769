"""Learners whose weights are the exponential of a matrix, known by its products alone.

A trial is a vector ``x = (row, column)``, the two halves in the feature spaces of two kernels. The
weights are ``exp(M)`` with ``M = sum_s a_s x_s x_s'``, a sum over the updates, and are never
formed: with the distinct rows and columns of the updates as a basis ``Phi`` everything is said by
their kernel values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._state import CheckedState, check_entries, check_shape
from sklearn_sl._threads import blas_threads_for
from sklearn_sl.kernels._base import diagonal, encode_checked, pair_values
from sklearn_sl.online._parameters import check_fixed
from sklearn_sl.online._protocol import FINITE, SAMPLES, OnlineClassifierMixin

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

EPS = np.finfo(np.float64).eps
# What an answer may be wrong by, relative to it.
TOLERANCE = 1e-15
# How many numbers a block of queries has.
BLOCK = 2**19
# How many places there are to begin with.
ROOM = 16


def exponential_forms(gram, weigh, k, squares):
    """Return ``x' exp(M) x`` for many vectors ``x``, where ``M = Phi B Phi'`` may differ in ``B``.

    By the Lanczos process, which needs a few products with ``Phi'Phi`` and ``B`` where an
    eigendecomposition would take the cube of their order. A vector of the process is ``v = a x +
    Phi w``, kept as the number ``a``, the coefficients ``w`` and the products ``p = Phi'v``; then
    ``M v`` has the coefficients ``B p``. In the basis of these vectors ``M`` is a tridiagonal
    ``T``, and the first entry of ``exp(T)`` rises to the answer over ``x'x``. The part of
    ``exp(M / 2) x`` outside of the basis is about the length ``beta`` of the next vector times the
    last entry of the first row of ``exp(T / 2)``; its square is what is missing. Nothing is
    inverted, so that vectors which depend on one another do no harm.

    Parameters
    ----------
    gram : callable
        Maps ``W`` to ``Phi'Phi W``.

    weigh : callable
        Maps ``P`` to ``B P``, column by column with the symmetric ``B`` of that query; its second
        argument tells which queries the columns belong to.

    k : ndarray of shape (n_basis, n_queries)
        ``Phi'x`` for each ``x``.

    squares : ndarray of shape (n_queries,)
        ``x'x`` for each ``x``.

    Returns
    -------
    forms : ndarray of shape (n_queries,)
        The answers; infinite or NaN where they overflow.
    """
    if not len(k) or not squares.any():
        return squares
    with blas_threads_for(k):
        return _lanczos_forms(gram, weigh, k, squares)


def _lanczos_forms(gram, weigh, k, squares):
    """Return the forms by the steps of the process, each for all queries that need it."""
    forms = np.zeros(len(squares))
    rest = np.flatnonzero(squares > 0)
    k, squares = k[:, rest], squares[rest]
    norms = np.sqrt(squares)
    a, w, p = 1 / norms, np.zeros_like(k), k / norms
    a_before, w_before, beta = np.zeros_like(a), w, np.zeros_like(a)
    diagonal, beside = [], []
    for step in range(1, len(k) + 3):
        # The next vector, before it is normalised: M v, orthogonal to the last two.
        w_next = weigh(p, rest)
        alpha = _products(p, w_next)
        w_next -= alpha * w
        w_next -= beta * w_before
        a_next = -alpha * a - beta * a_before
        p_next = a_next * k + gram(w_next)
        square = a_next * (a_next * squares + _products(k, w_next)) + _products(w_next, p_next)
        rounding = 4 * EPS * (np.abs(a_next) * norms + np.abs(w_next).sum(axis=0)) ** 2
        ended = ~(square > rounding) | (step == len(k) + 2)
        beta_next = np.sqrt(np.where(ended, 0.0, square))
        diagonal.append(alpha)
        if (step % 2 and step > 1) or ended.any():
            corner, far = _exponential_corner(np.array(diagonal), np.array(beside))
            ended |= ~((far * beta_next) ** 2 > TOLERANCE * corner)
        if ended.any():
            forms[rest[ended]] = (squares * corner)[ended]
            go_on = ~ended
            rest = rest[go_on]
            if not rest.size:
                break
            k, w, w_next, p_next = (each[:, go_on] for each in (k, w, w_next, p_next))
            squares, norms, a, a_next, beta_next = (
                each[go_on] for each in (squares, norms, a, a_next, beta_next)
            )
            diagonal = [each[go_on] for each in diagonal]
            beside = [each[go_on] for each in beside]
        beta = beta_next
        beside.append(beta)
        a_before, a = a, a_next / beta
        w_before, w = w, w_next / beta
        p = p_next / beta
    return forms


def _products(A, B):
    """Return the inner products of the columns of two matrices."""
    return np.einsum("ij,ij->j", A, B)


def _exponential_corner(diagonal, beside):
    """Return the first entry of ``exp(T)``, and the last one of the first row of ``exp(T / 2)``.

    The columns of ``diagonal`` and ``beside`` are the diagonals of one tridiagonal matrix each.
    """
    order, n_matrices = diagonal.shape
    places = np.arange(order)
    T = np.zeros((n_matrices, order, order))
    T[:, places, places] = diagonal.T
    if order > 1:
        T[:, places[1:], places[:-1]] = beside.T
    finite = np.isfinite(diagonal).all(axis=0) & np.isfinite(beside).all(axis=0)
    T[~finite] = 0.0
    values, vectors = np.linalg.eigh(T)
    first = vectors[:, 0] * np.exp(values / 2)
    corner = np.where(finite, np.einsum("ij,ij->i", first, first), np.nan)
    return corner, np.einsum("ij,ij->i", first, vectors[:, -1])


class Side(CheckedState):
    """The rows that updates have met, or the columns, with their kernel values.

    Parameters
    ----------
    kernel : kernel or None
        What compares two of them; None is the identity, which tells whether they are the same.

    n_features : int
        The number of features of one of them.

    radius : float or None
        The largest value of the kernel; None is the largest one that was met.

    most : int
        How many of them there may be, if there is a kernel.

    counts : bool
        Whether to count how many are met.

    Attributes
    ----------
    items, gram : ndarray
        Those of the updates and their kernel values: the first ``len(self)`` places.

    index : dict
        The places of the items, by their bytes.

    met : set
        The bytes of all that were met, in updates or not, if they are counted.
    """

    def __init__(self, kernel, n_features, radius, most, counts):
        self.kernel, self.counts = kernel, counts
        self.most = most if kernel is not None else np.inf
        self.fixed = radius is not None or kernel is None
        self.radius = 1.0 if kernel is None else float(radius or 0.0)
        self.items = np.empty((ROOM, n_features))
        self.gram = np.empty((ROOM, ROOM) if kernel is not None else (0, 0))
        self.index = {}
        self.met = set()

    def __getstate__(self):
        # Arrays alone, without the room for more; what was met is the same in any order.
        n, n_features = len(self), self.items.shape[1]
        met = np.frombuffer(b"".join(sorted(self.met))).reshape(len(self.met), n_features)
        state = {**vars(self), "items": self.items[:n], "gram": self.gram[:n, :n], "met": met}
        del state["index"]
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        self.index = {bytes(item): place for place, item in enumerate(self.items)}
        self.met = set(map(bytes, self.met))

    def _check_state(self):
        n, n_features = check_shape(self, "items", (None, None)).shape
        check_shape(self, "gram", (0, 0) if self.kernel is None else (n, n))
        check_shape(self, "met", (None, n_features))

    def copy(self):
        """Return a side that can grow alone."""
        return copy_of(self, ("items", "gram", "index", "met"))

    def __len__(self):
        return len(self.index)

    def meet(self, items, own):
        """Hear of items and their kernel values: how many there are, and how large, matters."""
        if self.counts:
            self.met.update(map(bytes, items))
        if not self.fixed:
            self.radius = max(self.radius, float(np.max(own)))

    @property
    def factor(self):
        """What kernel values are multiplied by, so that a row and a column make a unit vector."""
        return 0.5 / self.radius if self.radius > 0 else 0.0

    def look(self, items):
        """Return the kernel values of items with those of the updates, and with themselves."""
        n = len(self)
        places = np.array([self.index.get(bytes(item), -1) for item in items])
        known = np.flatnonzero(places >= 0)
        if self.kernel is None:
            values = np.zeros((n, len(items)))
            values[places[known], known] = 1.0
            return values, self.own(items)
        if len(known) == len(items):
            return self.gram[:n, places], self.gram[places, places]
        own, values, places = self.own(items), self._compare(items).T, places[known]
        values[:, known], own[known] = self.gram[:n, places], self.gram[places, places]
        return values, own

    def own(self, items):
        """Return the kernel values of items with themselves."""
        if self.kernel is None:
            return np.ones(len(items))
        return diagonal(self.kernel, encode_checked(self.kernel, items))

    def _compare(self, items):
        """Return the kernel values of items with those of the updates."""
        values = np.empty((len(items), len(self)))
        if values.size:
            encoded = [encode_checked(self.kernel, X) for X in (items, self.items[: len(self)])]
            pair_values(self.kernel, *encoded, values)
        return values

    def multiply(self, W):
        """Return the Gram matrix times ``W``."""
        if self.kernel is None:
            return 0.5 * W
        product = self.gram[: len(self), : len(self)] @ W
        product *= self.factor
        return product

    def has_room_for(self, item):
        """Return whether an item is there, or can be added."""
        return len(self) < self.most or bytes(item) in self.index

    def add(self, item, values, own):
        """Return the place of an item, which is added if it is new."""
        n = len(self)
        place = self.index.setdefault(bytes(item), n)
        if place == n:
            self.items = _with_room(self.items, n, 1)
            self.items[n] = item
            if self.kernel is not None:
                self.gram = _with_room(self.gram, n, 2)
                self.gram[n, :n] = self.gram[:n, n] = values
                self.gram[n, n] = own
        return place

    def change_kernel(self, kernel, radius):
        """Compare the items by another kernel from now on."""
        self.kernel, self.radius, n = kernel, radius, len(self)
        self.gram = np.empty((len(self.items),) * 2)
        self.gram[:n, :n] = self._compare(self.items[:n])


class Entries(CheckedState):
    """The entries of the matrix that were updated: ``B`` as a list, for each weight matrix.

    ``rows`` and ``cols`` are places of the sides, ``weights[v]`` the sums of the steps of weight
    matrix ``v``.
    """

    def __init__(self, n_vectors):
        self.rows, self.cols = np.empty((2, ROOM), dtype=np.intp)
        self.weights = np.empty((n_vectors, ROOM))
        self.index = {}

    def __getstate__(self):
        n = len(self)
        return {"rows": self.rows[:n], "cols": self.cols[:n], "weights": self.weights[:, :n]}

    def __setstate__(self, state):
        super().__setstate__(state)
        pairs = zip(self.rows.tolist(), self.cols.tolist(), strict=True)
        self.index = {pair: place for place, pair in enumerate(pairs)}

    def _check_state(self):
        n = len(check_shape(self, "rows", (None,), np.intp))
        check_shape(self, "cols", (n,), np.intp)
        check_shape(self, "weights", (None, n))

    def copy(self):
        """Return entries that can be added to alone."""
        return copy_of(self, ("rows", "cols", "weights", "index"))

    def __len__(self):
        return len(self.index)

    def add(self, row, col, steps):
        """Add the steps of all weight matrices at an entry."""
        n = len(self)
        place = self.index.setdefault((row, col), n)
        if place == n:
            self.rows, self.cols = _with_room(self.rows, n, 1), _with_room(self.cols, n, 1)
            self.rows[n], self.cols[n] = row, col
            self.weights = _with_room(self.weights.T, n, 1).T
            self.weights[:, n] = 0.0
        self.weights[:, place] += steps

    def product(self, n_rows, n_cols, n_queries):
        """Return the function ``P -> B P``, rows above columns.

        Columns of ``P`` belong to so many queries of the first weight matrix, of the second one
        and so on.
        """
        n, order = len(self), n_rows + n_cols
        weights = self.weights[:, :n].T
        above, below = self.rows[:n], n_rows + self.cols[:n]
        ends = np.concatenate([above, below])

        def weigh(P, columns):
            width = P.shape[1]
            steps = P[above] + P[below]
            steps *= weights if len(self.weights) == 1 else weights[:, columns // n_queries]
            cells = ends if width == 1 else (ends[:, None] * width + np.arange(width)).ravel()
            both = np.concatenate([steps, steps]).ravel()
            return np.bincount(cells, both, order * width).reshape(order, width)

        return weigh


def _with_room(array, n, n_axes):
    """Return an array with a place ``n`` along its first axes: a longer copy if there is none."""
    if n < len(array):
        return array
    shape = [max(ROOM, 2 * size) for size in array.shape[:n_axes]] + [*array.shape[n_axes:]]
    longer = np.empty(shape, dtype=array.dtype)
    longer[tuple(slice(size) for size in array.shape)] = array
    return longer


def copy_of(original, names):
    """Return a copy whose attributes of these names are copies, too."""
    other = object.__new__(type(original))
    vars(other).update(vars(original))
    for name in names:
        setattr(other, name, getattr(original, name).copy())
    return other


class MatrixExponentMixin(OnlineClassifierMixin):
    """Trials of learners with the weights ``exp(M)``, one matrix for each class if not two.

    Hooks:

    - ``_make_sides(X)`` returns the two sides of the basis;
    - ``_items(X)`` returns the row and the column of each trial, as features;
    - ``_tuning(trial)`` returns the factor of the weights before all updates, and the step;
    - ``_margin_`` is the margin ``gamma``.
    """

    expected_mistakes_: float
    n_updates_: int
    n_skipped_: int
    eta_: float
    dimension_: float
    regret_bound_: float | None
    converged_: bool
    n_iter_: int

    conservative = False
    _mutable = ("_rows", "_cols", "_entries", "_rng")
    _sample_checks = {**SAMPLES, **FINITE, "accept_sparse": False, "dtype": np.float64}
    # Samples are places in a matrix, or have an order in time.
    _compare_grid = None

    def _begin(self, X):
        self._rows, self._cols = self._make_sides(X)
        self._entries = Entries(self._n_vectors())
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        self._rng = np.random.default_rng(seed)
        self.n_updates_ = self.n_skipped_ = 0

    def _check_arrays(self):
        check_shape(self._entries, "weights", (self._n_vectors(), None))
        check_entries(self._entries.rows, "rows", 0, len(self._rows) - 1)
        check_entries(self._entries.cols, "cols", 0, len(self._cols) - 1)

    @property
    def _width(self):
        return 1 + self._n_vectors()

    def _n_changes(self):
        return self.n_updates_

    # ------------------------------------------------------------ trials

    def _play(self, X, codes):
        rows, cols = self._items(X)
        signs, answers = self._signs(codes), np.empty((len(codes), self._n_vectors() + 1))
        for i in range(len(codes)):
            scores = answers[i, :-1]
            self._trial(rows[i : i + 1], cols[i : i + 1], signs[i], self.n_trials_ + i + 1, scores)
            if not np.isfinite(scores).all():
                return answers, i
        # What chooses the predictions, were they to be made.
        answers[:, -1] = self._rng.random(len(codes))
        return answers, len(codes)

    def _trial(self, row, col, signs, trial, scores):
        """Write the scores of one trial, and learn from it."""
        rows, cols = self._rows, self._cols
        looks = values_row, own_row, values_col, own_col = (*rows.look(row), *cols.look(col))
        rows.meet(row, own_row)
        cols.meet(col, own_col)
        start, step = self._tuning(trial)
        scores[:] = self._scores_of(rows, cols, looks, start)
        steps = np.where(signs * scores <= self._threshold, step * signs, 0.0)
        if not (steps.any() and np.isfinite(scores).all()):
            return
        if not (rows.has_room_for(row[0]) and cols.has_room_for(col[0])):
            self.n_skipped_ += 1
            return
        place = rows.add(row[0], values_row[:, 0], own_row[0])
        self._entries.add(place, cols.add(col[0], values_col[:, 0], own_col[0]), steps)
        self.n_updates_ += 1

    @property
    def _threshold(self):
        return 0.0 if self.conservative else self._margin_

    def _scores_of(self, rows, cols, looks, start):
        """Return ``start x' exp(M) x - 1`` for some vectors and all weight matrices."""
        values_row, own_row, values_col, own_col = looks
        k = np.concatenate([rows.factor * values_row, cols.factor * values_col])
        squares = rows.factor * own_row + cols.factor * own_col
        n_rows = len(rows)

        def gram(W):
            return np.concatenate([rows.multiply(W[:n_rows]), cols.multiply(W[n_rows:])])

        n_queries, n_vectors = len(squares), self._n_vectors()
        weigh = self._entries.product(n_rows, len(cols), n_queries)
        with np.errstate(over="ignore", invalid="ignore"):
            forms = exponential_forms(
                gram, weigh, np.tile(k, n_vectors), np.tile(squares, n_vectors)
            )
            return start * forms.reshape(n_vectors, n_queries).T - 1

    def _signs(self, codes):
        """Return the targets of each weight matrix: one for its class and else minus one."""
        ours = [1] if self._n_vectors() == 1 else np.arange(self._n_vectors())
        return np.where(codes[:, None] == ours, 1.0, -1.0)

    # ------------------------------------------------------------ account

    def _losses(self, answers, codes):
        if self.conservative:
            return self._mistaken(answers, codes).astype(np.float64)
        return 1 - self._probabilities(answers[:, :-1])[np.arange(len(codes)), codes]

    def _mistaken(self, answers, codes):
        if self.conservative:
            return super()._mistaken(answers[:, :-1], codes)
        shares = np.cumsum(self._probabilities(answers[:, :-1]), axis=1)
        return np.sum(answers[:, -1:] >= shares[:, :-1], axis=1) != codes

    def _predictions(self, answers):
        return super()._predictions(answers[:, :-1])

    def _probabilities(self, scores):
        """Return with which probability each class would be predicted."""
        margin = self._margin_
        if scores.shape[1] == 1:
            second = np.clip((scores + margin) / (2 * margin), 0, 1)
            return np.concatenate([1 - second, second], axis=1)
        best = scores.max(axis=1, keepdims=True)
        shares = np.maximum(1 - (best - scores) / (2 * margin), 0)
        return shares / shares.sum(axis=1, keepdims=True)

    def _finish(self):
        self.expected_mistakes_ = self.cumulative_loss_

    # ------------------------------------------------------------ samples and predictions

    def _scores(self, X):
        return self._query(*self._items(X), self._cols)

    def _query(self, rows, cols, side):
        """Return the scores of rows and columns, of which the latter belong to a given side."""
        start = self._tuning(max(self.n_trials_, 1))[0]
        scores = np.empty((len(rows), self._n_vectors()))
        order = len(self._rows) + len(side) + len(self._entries) + 1
        step = max(1, BLOCK // (order * self._n_vectors()))
        for begin in range(0, len(rows), step):
            part = slice(begin, begin + step)
            looks = (*self._rows.look(rows[part]), *side.look(cols[part]))
            scores[part] = self._scores_of(self._rows, side, looks, start)
        return scores

    def _scores_of_query(self, X):
        check_is_fitted(self)
        check_fixed(self)
        return self._scores(self._read_query(X))

    def decision_function(self, X: ArrayLike) -> Any:
        """Return the scores of trials.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Trials.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes the scores of the second one, positive where it is predicted; else a
            column for each class.
        """
        scores = self._scores_of_query(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the classes of trials, the more probable ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Trials.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes.
        """
        return super()._predictions(self._scores_of_query(X))

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return with which probability the randomised learner would predict each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Trials.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            For two classes ``clip((score + margin) / (2 margin), 0, 1)`` is that of the second
            one. For more classes they are in proportion to ``max(0, 1 - gap / (2 margin))``, where
            the gap is that to the best score.
        """
        return self._probabilities(self._scores_of_query(X))
