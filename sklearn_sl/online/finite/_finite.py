"""Learners of finite classes: they keep the hypotheses that have made no mistake."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_sl._sklearn import Interval, StrOptions
from sklearn_sl._state import check_entries, check_shape
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online._parameters import FREE, check_fixed
from sklearn_sl.online._protocol import FINITE, SAMPLES, OnlineClassifierMixin
from sklearn_sl.online._trials import SLICE, take_slice
from sklearn_sl.online.finite import _version_space
from sklearn_sl.theory._finite_class import consistent_bound, halving_bound

if TYPE_CHECKING:
    from sklearn_sl._typing import MatrixLike

N_LEFT, N_EMPTY, N_PARTIAL, N_SILENT = range(_version_space.TAIL)
WHEN_EMPTY = {
    "raise": _version_space.STOP,
    "restart": _version_space.RESTART,
    "keep": _version_space.KEEP,
}
NO_CODES = np.empty(0, dtype=np.intp)


def dense(X):
    """Return samples as a dense matrix of doubles in C order."""
    return np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


class ClassAnswersMixin(OnlineClassifierMixin):
    """Trials whose answers are places in ``classes_``, and cost one if they are wrong.

    Hooks: ``_trials(X, codes, answers)`` plays a slice of trials, writes the answers, and returns
    how many it played, fewer than all if no hypothesis is left after the next one; without
    ``codes`` it only answers. ``_n_numbers(X)`` is how many numbers a trial makes of a row.
    """

    bound_: float
    n_iter_: int
    converged_: bool

    # Features are answers or truth values: not for any table.
    _compare_grid = None
    _has_scores = False
    _sample_checks = {**SAMPLES, **FINITE}

    def _n_numbers(self, X):
        return X.shape[1]

    def _changed_arrays(self, codes):
        """Return the arrays that trials change; copies if there is nothing to learn."""
        arrays = [getattr(self, name) for name in self._mutable]
        return arrays if codes.size else [array.copy() for array in arrays]

    def _play(self, X, codes):
        return self._answer(X, codes)

    def _answer(self, X, codes=None):
        """Return the answers, and how many; learn from the trials if their classes are told."""
        n_rows, n_played = X.shape[0], 0
        answers = np.empty(n_rows, dtype=np.intp)
        # Short slices, even if rows are sparse and become dense.
        step = max(1, SLICE // (self._n_numbers(X) + 16))
        for start in range(0, n_rows, step):
            rows = slice(start, min(start + step, n_rows))
            told = NO_CODES if codes is None else codes[rows]
            part = X if step >= n_rows else take_slice(X, rows)
            n_played += self._trials(part, told, answers[rows])
            if n_played < rows.stop:
                break
        return answers, n_played

    def _complain(self, X, row):
        raise ValueError(
            f"After trial {self.n_trials_ + row + 1} no hypothesis is left that made no mistake: "
            'choose on_empty="restart" or on_empty="keep".'
        )

    def _predictions(self, answers):
        return self.classes_[answers]

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
        check_is_fitted(self)
        check_fixed(self)
        X = validate_data(self, X, reset=False, **self._sample_checks)
        return self._predictions(self._answer(X)[0])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._sample_checks["ensure_all_finite"] == "allow-nan"
        tags.classifier_tags.poor_score = True
        return tags


class VersionSpaceMixin(ClassAnswersMixin):
    """Hypotheses that are removed when they are wrong; ``_majority``: whether all of them vote."""

    bound_: float
    version_space_: np.ndarray
    n_hypotheses_: int
    n_consistent_: int
    n_contradictions_: int
    realizable_: bool

    _mutable = ("_left", "_tail")
    _fixed = ("hypotheses", "threshold")
    _sample_checks = {**SAMPLES, "ensure_all_finite": "allow-nan"}

    def _n_numbers(self, X):
        return len(self._all)

    @property
    def _free(self):
        # As long as there was no contradiction it makes no difference.
        return FREE if self._tail[N_EMPTY] else FREE | {"on_empty"}

    def _order(self, n_hypotheses):
        """Return the hypotheses in the order in which they are preferred."""
        return np.arange(n_hypotheses)

    def _begin(self, X):
        if self.hypotheses is not None:
            self._check_hypotheses()
        n_hypotheses = X.shape[1] if self.hypotheses is None else len(self.hypotheses)
        self._all = self._order(n_hypotheses).astype(np.intp)
        self._left = self._all.copy()
        self._tail = np.zeros(_version_space.TAIL, dtype=np.intp)
        self._tail[N_LEFT] = n_hypotheses

    def _check_arrays(self):
        n_hypotheses = len(check_shape(self, "_all", (None,), np.intp))
        check_shape(self, "_left", (n_hypotheses,), np.intp)
        for name in ("_all", "_left"):
            check_entries(getattr(self, name), name, 0, n_hypotheses - 1)
        tail = check_shape(self, "_tail", (_version_space.TAIL,), np.intp)
        check_entries(tail[N_LEFT], "_tail", 1, n_hypotheses)

    def _check_hypotheses(self):
        if not self.hypotheses:
            raise ValueError("hypotheses must contain at least one hypothesis; got an empty list.")
        for hypothesis in self.hypotheses:
            if not (callable(hypothesis) or hasattr(hypothesis, "predict")):
                raise ValueError(
                    f"hypotheses must contain callables or fitted estimators; got {hypothesis!r}."
                )

    def _trials(self, X, codes, answers):
        advice = self._advice(X)
        if advice.shape[1] != len(self._all):
            raise ValueError(
                f"hypotheses gave {advice.shape[1]} predictions for a sample, but {len(self._all)} "
                "since the first partial_fit: call fit or use a clone."
            )
        return _version_space.sweep(
            advice,
            codes,
            self.threshold if self.hypotheses is None else 0.5,
            self._majority,
            WHEN_EMPTY[self.on_empty],
            self._all,
            *self._changed_arrays(codes),
            np.empty(len(self._all), dtype=np.intp),
            np.empty(len(self.classes_) + 1, dtype=np.intp),
            answers,
        )

    def _advice(self, X):
        """Return what each hypothesis says about samples, as numbers."""
        if self.hypotheses is None:
            return dense(X)
        advice = np.empty((X.shape[0], len(self.hypotheses)))
        for column, hypothesis in zip(advice.T, self.hypotheses, strict=True):
            said = np.asarray(getattr(hypothesis, "predict", hypothesis)(X))
            if said.shape != column.shape:
                raise ValueError(
                    f"A hypothesis must return {len(column)} labels for {len(column)} samples, but "
                    f"{hypothesis!r} returned an array of shape {said.shape}."
                )
            # A label that is none of the classes is wrong whatever comes.
            column[:] = np.inf
            for code, label in enumerate(self.classes_):
                column[said == label] = code
            if said.dtype.kind == "f":
                column[np.isnan(said)] = np.nan
        return advice

    def _finish(self):
        n_left = self._tail[N_LEFT]
        self.n_hypotheses_, self.n_consistent_ = len(self._all), int(n_left)
        self.version_space_ = np.zeros(len(self._all), dtype=bool)
        self.version_space_[self._left[:n_left]] = True
        self.n_contradictions_ = int(self._tail[N_EMPTY])
        self.realizable_ = self.n_contradictions_ == 0
        self.bound_ = self._bound()

    def _bound(self):
        bound = consistent_bound
        if self._majority and not self._tail[N_PARTIAL]:
            bound = halving_bound
        if self.on_empty == "restart":
            most = bound(self.n_hypotheses_, self.n_contradictions_)
        else:
            most = bound(self.n_hypotheses_) + self.n_contradictions_
        return float(most + self._tail[N_SILENT])


@paragraphs
class Halving(EstimatorMixin, VersionSpaceMixin, ClassifierMixin, BaseEstimator):
    """The halving algorithm: the majority of the hypotheses that have made no mistake.

    In each trial the learner predicts the class that most of the remaining hypotheses predict, and
    then removes all that were wrong, also if its own prediction was right. Each mistake removes at
    least half of the hypotheses. So if one of the ``n`` hypotheses is always right, there are at
    most ``log2 n`` mistakes.

    **Hypotheses** are the columns of ``X``, the advice of experts: a number ``x`` is the class in
    place ``floor(x - threshold) + 1``, for two classes the second one if ``x >= threshold``. NaN
    is an expert that abstains: it has no vote and is not removed. Or hypotheses are functions, see
    below.

    **Ties** are resolved in favour of the larger class, also if all hypotheses abstain.

    **If no hypothesis is left**, none was always right. A restart with all hypotheses keeps a
    guarantee, as each has made a mistake since the last restart: with ``r`` restarts there are at
    most ``(r + 1) (log2 n + 1) - 1`` mistakes, and ``r`` is at most the number of mistakes of the
    best hypothesis.

    Parameters
    ----------
    hypotheses : list of callables or fitted estimators, default=None
        Functions from samples to labels, or estimators whose ``predict`` is such a function; they
        are used as they are. A label that is none of the classes is wrong. None: the columns of
        ``X`` are the hypotheses. (``sklearn.base.clone`` makes fitted estimators unfitted: wrap
        them in ``sklearn.frozen.FrozenEstimator``, or pass their ``predict``, for a search.)

    threshold : float, default=0.5
        Where the classes that columns stand for begin.

    on_empty : {"restart", "keep", "raise"}, default="restart"
        What to do when a trial leaves no hypothesis: "restart" begins again with all, "keep" takes
        the trial for noise and removes none, "raise" raises an error.

    max_iter : int, default=1
        The largest number of passes of ``fit``. A second one makes no mistakes, unless there was a
        contradiction in the first.

    {keep_losses}

    Attributes
    ----------
    {classes}

    version_space_ : ndarray of shape (`n_hypotheses_`,)
        Which hypotheses are left.

    n_hypotheses_ : int
        The number of hypotheses.

    n_consistent_ : int
        How many are left.

    n_contradictions_ : int
        The number of trials that would have left none. With "restart" no hypothesis has made less
        mistakes than this.

    realizable_ : bool
        Whether there was no such trial: the hypotheses that are left have made no mistake at all.

    {n_mistakes}

    bound_ : float
        No more mistakes than these: ``log2 n`` while ``realizable_``, with restarts as above; with
        "keep" one more for each contradiction. If a remaining hypothesis abstained in some
        trial, it is ``n - 1`` in place of ``log2 n``, and one more for each trial in which all of
        them abstained.

    {account_of_mistakes}

    See Also
    --------
    ConsistentLearner : Asks one hypothesis only.
    GridThresholdHalving : The same for thresholds, without a list of them.
    sklearn_sl.theory.halving_bound : The theorem.
    sklearn_sl.datasets.ExpertAdversary : Forces that many mistakes.

    References
    ----------
    .. [1] N. Littlestone, "Learning quickly when irrelevant attributes abound: a new
       linear-threshold algorithm", Machine Learning 2, 1988.

    .. [2] N. Cesa-Bianchi and G. Lugosi, "Prediction, learning, and games", Cambridge University
       Press, 2006.

    Examples
    --------
    Eight experts and three trials. The fourth expert is always right.

    >>> import numpy as np
    >>> from sklearn_sl.online import Halving
    >>> X = [[1, 1, 0, 0, 1, 1, 0, 0], [0, 0, 0, 1, 0, 0, 1, 1], [0, 0, 0, 1, 0, 0, 0, 0]]
    >>> model = Halving().fit(X, [0, 1, 1])
    >>> model.n_mistakes_, model.bound_, np.flatnonzero(model.version_space_)
    (2, 3.0, array([3]))

    Half-spaces whose weights are on a grid, as functions:

    >>> from functools import partial
    >>> from itertools import product
    >>> grid = [np.array(w) for w in product(np.linspace(-1, 1, 9), repeat=3)]
    >>> half_spaces = [partial(lambda w, X: np.sign(X @ w[:2] + w[2] + 1e-9), w) for w in grid]
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = Halving(hypotheses=half_spaces).fit(X, np.sign(X @ [0.75, -0.5] + 0.25))
    >>> model.n_mistakes_, round(model.bound_, 2)
    (3, 9.51)
    """

    _parameter_constraints = {
        "hypotheses": [list, tuple, None],
        "threshold": [Interval(Real, None, None, closed="neither")],
        "on_empty": [StrOptions(set(WHEN_EMPTY))],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "keep_losses": ["boolean"],
    }
    _majority = True

    def __init__(
        self,
        hypotheses: Any = None,
        *,
        threshold: float = 0.5,
        on_empty: Literal["restart", "keep", "raise"] = "restart",
        max_iter: int = 1,
        keep_losses: bool = False,
    ) -> None:
        self.hypotheses = hypotheses
        self.threshold = threshold
        self.on_empty = on_empty
        self.max_iter = max_iter
        self.keep_losses = keep_losses


@paragraphs
class ConsistentLearner(EstimatorMixin, VersionSpaceMixin, ClassifierMixin, BaseEstimator):
    """The first of the hypotheses that have made no mistake.

    In each trial the learner predicts with the first of the remaining hypotheses, and then removes
    all that were wrong. Each mistake removes at least that one: if one of the ``n`` hypotheses is
    always right, there are at most ``n - 1`` mistakes, and an adversary can force that many. In a
    random order, drawn independently of the trials, there are less than ``ln n`` in expectation.

    Hypotheses are specified as for :class:`Halving`. Those that abstain are skipped; if all do, the
    prediction is the last class.

    Parameters
    ----------
    hypotheses : list of callables or fitted estimators, default=None
        Functions from samples to labels, or estimators; None: the columns of ``X``. See
        :class:`Halving`.

    order : {"given", "random"}, default="given"
        In which order hypotheses are preferred: as they stand, or in a random one that is drawn at
        the beginning.

    threshold : float, default=0.5
        Where the classes that columns stand for begin.

    on_empty : {"restart", "keep", "raise"}, default="restart"
        What to do when a trial leaves no hypothesis: "restart" begins again with all, "keep" takes
        the trial for noise and removes none, "raise" raises an error.

    {max_iter}

    random_state : int, RandomState instance or None, default=None
        For the random order.

    {keep_losses}

    Attributes
    ----------
    {classes}

    hypothesis_ : int
        The hypothesis that predicts, unless it abstains.

    version_space_ : ndarray of shape (`n_hypotheses_`,)
        Which hypotheses are left.

    n_hypotheses_ : int
        The number of hypotheses.

    n_consistent_ : int
        How many are left.

    n_contradictions_ : int
        The number of trials that would have left none. With "restart" no hypothesis has made less
        mistakes than this.

    realizable_ : bool
        Whether there was no such trial: the hypotheses that are left have made no mistake at all.

    {n_mistakes}

    bound_ : float
        No more mistakes than these: ``n - 1`` while ``realizable_``, and ``n`` more for each
        restart (with "keep" one more for each contradiction), and one more for each trial in
        which all remaining hypotheses abstained.

    {account_of_mistakes}

    See Also
    --------
    Halving : Asks all hypotheses, and makes less mistakes.
    sklearn_sl.theory.consistent_bound : The theorems.

    References
    ----------
    .. [1] S. Shalev-Shwartz, "Online learning and online convex optimization", Foundations and
       Trends in Machine Learning 4, 2012.

    Examples
    --------
    Experts are wrong one after the other, but for the last one.

    >>> import numpy as np
    >>> from sklearn_sl.online import ConsistentLearner
    >>> X, y = 1 - np.eye(99, 100), np.ones(99)
    >>> model = ConsistentLearner(order="given")
    >>> model.partial_fit(X, y, classes=[0, 1]).n_mistakes_
    99
    >>> model = ConsistentLearner(order="random", random_state=0)
    >>> model.partial_fit(X, y, classes=[0, 1]).n_mistakes_
    4
    """

    hypothesis_: int

    _parameter_constraints = {
        **Halving._parameter_constraints,
        "order": [StrOptions({"given", "random"})],
        "random_state": ["random_state"],
    }
    _majority = False

    def __init__(
        self,
        hypotheses: Any = None,
        *,
        order: Literal["given", "random"] = "given",
        threshold: float = 0.5,
        on_empty: Literal["restart", "keep", "raise"] = "restart",
        max_iter: int = 1,
        random_state: int | np.random.RandomState | None = None,
        keep_losses: bool = False,
    ) -> None:
        self.hypotheses = hypotheses
        self.order = order
        self.threshold = threshold
        self.on_empty = on_empty
        self.max_iter = max_iter
        self.random_state = random_state
        self.keep_losses = keep_losses

    def _order(self, n_hypotheses):
        if self.order == "given":
            return np.arange(n_hypotheses)
        return check_random_state(self.random_state).permutation(n_hypotheses)

    def _finish(self):
        super()._finish()
        self.hypothesis_ = int(self._left[0])
