"""Winnow: multiplicative weights, few mistakes among many irrelevant attributes."""

from __future__ import annotations

import functools
from fractions import Fraction
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._sklearn import Interval, StrOptions
from sklearn_sl._state import check_shape
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.kernels._feature_maps import literals_of
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online._parameters import at_start, check_fixed
from sklearn_sl.online._protocol import OnlineClassifierMixin
from sklearn_sl.online._trials import account, complain, take_slice
from sklearn_sl.online.linear import _winnow_sweeps
from sklearn_sl.online.linear._linear import as_rows, linear_scores
from sklearn_sl.theory._winnow import balanced_winnow_bound, log_cosh, winnow_bound

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

PROMOTIONS, DEMOTIONS, GIANTS = range(_winnow_sweeps.WINNOW_TAIL)
# More steps than these, one way, are rare for an attribute.
MOST_POWERS = 64
# Literals of a block of samples that are made at a time.
BLOCK = 2**20


@paragraphs
class Winnow(EstimatorMixin, OnlineClassifierMixin, ClassifierMixin, BaseEstimator):
    """Winnow: a linear classifier with multiplicative updates.

    Weights begin at one. A trial says the second class if ``w.x >= threshold``. On a mistake on a
    sample of the second class, a promotion, each weight ``w_i`` is multiplied by ``alpha^x_i``; on
    a mistake on another sample, a demotion, it is divided by it. Other trials change nothing.
    ``partial_fit`` goes through its rows once, in their order, and any partition into blocks gives
    the same weights to the last bit. ``fit`` starts from scratch and passes over the rows until a
    pass is clean.

    **The theorem.** If the second class is a disjunction (or) of ``k`` of ``n`` boolean attributes,
    then with ``alpha=2`` and the threshold ``n`` there are at most ``k (log2(n) + 1)`` promotions,
    ``2 k (log2(n) + 1) + 2`` demotions, and ``3 k (log2(n) + 1) + 2`` mistakes in all, in whatever
    order the samples come, and however often. See :meth:`mistake_bound`. The bound of the
    perceptron is linear in ``n``.

    **Negations.** With ``literals=True`` the attributes are the literals ``x_i`` and ``1 - x_i``,
    and every disjunction of literals is learned; the ``n`` of the theorem is twice as large. A
    conjunction (and) of literals is what a disjunction of their negations leaves over:
    ``concept="conjunction"`` learns the first class as a disjunction.

    **Any sign.** With ``balanced=True`` there are two weights for each feature, ``w+_i`` and
    ``w-_i``. A trial says the second class if ``(w+ - w-).x >= 0``; a promotion multiplies ``w+_i``
    by ``alpha^x_i`` and divides ``w-_i`` by it, a demotion does the reverse. There is no threshold:
    use ``fit_intercept``. Divided by their sum, the weights are those of the conservative
    exponentiated gradient, which makes the same mistakes. For every ``u`` with ``||u||_1 <= 1``,
    the number of mistakes is bounded by the margin and the hinge loss of ``u``, if ``alpha`` is not
    too large: :func:`~sklearn_sl.theory.balanced_winnow_bound`.

    **Multi-class.** ``multi_class="ovr"`` learns each class against all others. With "kesler" the
    class with the largest ``w_k.x`` is predicted; if the true class is not it alone, its weights
    are promoted, and those of the best other class demoted. There is no threshold then, and the
    theorem is that of ``balanced=True``.

    **Ties.** A sample whose ``w.x`` is the threshold is of the second class. Powers of two are
    exact. With another ``alpha`` a ``w.x`` that differs from the threshold by less than 1e-12 of it
    is taken for it.

    **Large and small.** What is kept are the logarithms of the weights, so that they neither
    overflow nor vanish, however many trials there are. ``coef_`` has the weights themselves, up to
    ``2^512``. A sample with a larger weight is scored with weights relative to the largest one, so
    that the decision is right and the score finite.

    Parameters
    ----------
    alpha : float, default=2.0
        The factor of a promotion, above one.

    threshold : float or None, default=None
        What ``w.x`` must reach; None is the number of weights of a class. It must be None if
        ``balanced``, and for three classes or more with "kesler".

    balanced : bool, default=False
        Whether there are weights of both signs. Otherwise samples must not be negative.

    literals : bool, default=False
        Whether features ``x_i``, between 0 and 1, are followed by their negations ``1 - x_i``, as
        in :class:`~sklearn_sl.kernels.LiteralFeatures`. Sparse samples are made dense for this, a
        block at a time.

    concept : {"disjunction", "conjunction"}, default="disjunction"
        What is learned: a disjunction for the second class (for each class if there are more than
        two), or one for its complement, which makes the class a conjunction of negations. It must
        be "disjunction" if ``balanced``, and for three classes or more with "kesler".

    fit_intercept : bool, default=False
        Whether there is one more feature, which is always one.

    {multi_class}

    max_iter : int, default=100
        The largest number of passes of ``fit``.

    {keep_losses}

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_attributes) or (n_classes, n_attributes)
        The weights, or ``w+ - w-``, none above ``2^512``; for a conjunction, their negatives. The
        attributes are the features, or the literals.

    intercept_ : ndarray of shape (1,) or (n_classes,)
        The weight of the feature that is always one minus the threshold.

    log2_weights_ : ndarray of shape (n_vectors, n_weights)
        The binary logarithms of the weights, of ``w+`` if balanced (those of ``w-`` are their
        negatives), with the feature that is always one in the last column.

    {classes}

    n_mistakes_ : int
        The number of trials, of all passes, with a wrong answer; for more than two classes, in
        which the true class did not have the largest score.

    n_promotions_ : int
        The number of promotions.

    n_demotions_ : int
        The number of demotions.

    n_updates_ : int
        Their sum; for two classes the number of mistakes.

    {cumulative_loss}

    loss_curve_ : ndarray of shape (`n_trials_`,)
        One for each mistake and zero for each other trial, if ``keep_losses``.

    {n_trials}

    bound_ : float or None
        The theorem's bound on ``n_updates_`` (with "ovr" the sum of the bounds of all classes; with
        "kesler" on the number of promotions) relative to ``comparator_``. None if samples are not
        boolean, if no disjunction fits them, and after ``partial_fit``, which does not keep its
        samples. With ``balanced`` or "kesler" it is the number of trials where the theorem says no
        more.

    comparator_ : ndarray of shape (n_vectors, n_weights) or None
        For a disjunction, ones for the attributes of a small one that fits, found greedily; with
        ``balanced`` or "kesler" the last weights divided by the sum of all.

    {converged}

    {n_iter}

    {features_in}

    See Also
    --------
    Perceptron : Additive updates.
    ExponentiatedGradientClassifier : Multiplicative updates by the gradients of a loss.
    sklearn_sl.theory.winnow_bound : The theorem.

    References
    ----------
    .. [1] N. Littlestone, "Learning quickly when irrelevant attributes abound: a new
       linear-threshold algorithm", Machine Learning 2, 1988.

    .. [2] I. Dagan, Y. Karov and D. Roth, "Mistake-driven learning in text categorization",
       EMNLP 1997. The balanced version.

    .. [3] A. J. Grove, N. Littlestone and D. Schuurmans, "General convergence results for linear
       discriminant updates", Machine Learning 43, 2001.

    .. [4] C. Mesterharm, "A multi-class linear learning algorithm related to Winnow", NIPS 1999.

    Examples
    --------
    Two relevant attributes among a thousand:

    >>> from sklearn_sl.datasets import make_disjunction
    >>> from sklearn_sl.online import Winnow
    >>> X, y, literals = make_disjunction(2000, 1000, k=2, random_state=0)
    >>> model = Winnow().fit(X, y)
    >>> model.converged_, model.n_mistakes_ <= model.mistake_bound(2)
    (True, True)
    >>> sorted(literals) == sorted(model.coef_[0].argsort()[-2:])
    True
    """

    n_mistakes_: int
    cumulative_loss_: float
    coef_: Any
    intercept_: Any
    n_promotions_: int
    n_demotions_: int
    n_updates_: int
    bound_: float | None
    comparator_: np.ndarray
    converged_: bool
    n_iter_: int

    _parameter_constraints = {
        "alpha": [Interval(Real, 1, None, closed="neither")],
        "threshold": [Interval(Real, 0, None, closed="neither"), None],
        "balanced": ["boolean"],
        "literals": ["boolean"],
        "concept": [StrOptions({"disjunction", "conjunction"})],
        "fit_intercept": ["boolean"],
        "multi_class": [StrOptions({"ovr", "kesler"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "keep_losses": ["boolean"],
    }
    _mutable = ("_sums", "_weights", "_tail")
    _certificates = ("bound_", "comparator_")
    _fixed = (
        "alpha",
        "threshold",
        "balanced",
        "literals",
        "concept",
        "fit_intercept",
        "multi_class",
    )

    def __init__(
        self,
        *,
        alpha: float = 2.0,
        threshold: float | None = None,
        balanced: bool = False,
        literals: bool = False,
        concept: Literal["disjunction", "conjunction"] = "disjunction",
        fit_intercept: bool = False,
        multi_class: Literal["ovr", "kesler"] = "ovr",
        max_iter: int = 100,
        keep_losses: bool = False,
    ) -> None:
        self.alpha = alpha
        self.threshold = threshold
        self.balanced = balanced
        self.literals = literals
        self.concept = concept
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.max_iter = max_iter
        self.keep_losses = keep_losses

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = not self.balanced
        # Only some classes are monotone in all features.
        tags.classifier_tags.poor_score = not self.balanced
        return tags

    # ------------------------------------------------------------ learning

    def _certify(self, X, codes):
        if self._has_threshold:
            self._set_disjunction_bound(X, codes)
        else:
            self._set_margin_bound(X, codes)

    @property
    def _has_threshold(self):
        return not (self.balanced or self._joint)

    @property
    def _joint(self):
        """Whether the vectors take their steps together."""
        return self.multi_class == "kesler" and len(self._sums) > 1

    @property
    def _flipped(self):
        return self.concept == "conjunction"

    @property
    def _width(self):
        return self._n_vectors() * (1 + self.literals)

    def _begin(self, X):
        n_vectors = self._n_vectors()
        has_threshold = not (self.balanced or (self.multi_class == "kesler" and n_vectors > 1))
        if not has_threshold and (self.threshold is not None or self._flipped):
            raise ValueError(
                'balanced=True and multi_class="kesler" require threshold=None and '
                'concept="disjunction".'
            )
        n_weights = (1 + self.literals) * X.shape[1] + self.fit_intercept
        self._sums = np.zeros((n_vectors, n_weights))
        self._weights = np.full_like(self._sums, 0.0 if self.balanced else 1.0)
        self._tail = np.zeros(_winnow_sweeps.WINNOW_TAIL)

    def _check_arrays(self):
        began = self._began_with
        n_weights = (1 + began["literals"]) * self.n_features_in_ + began["fit_intercept"]
        for name in ("_sums", "_weights"):
            check_shape(self, name, (self._n_vectors(), n_weights))
        check_shape(self, "_tail", (_winnow_sweeps.WINNOW_TAIL,))

    @property
    def _theta(self):
        if not self._has_threshold:
            return 0.0
        return float(self._sums.shape[1] if self.threshold is None else self.threshold)

    def _compiled(self, sums, weights, tail):
        """Return the weights as compiled code has them; it changes the arrays in place."""
        buffers = np.empty((2, sums.shape[1]))
        return _winnow_sweeps.Weights(
            sums,
            weights,
            tail,
            buffers,
            np.log2(self.alpha),
            self.balanced,
            self._theta,
            exact_powers(float(self.alpha)),
        )

    def _attributes(self, X):
        """Yield blocks of samples with the attributes that they are learned by."""
        if not self.literals:
            yield X
            return
        step = max(1, BLOCK // X.shape[1])
        for start in range(0, X.shape[0], step):
            part = take_slice(X, slice(start, min(start + step, X.shape[0])))
            yield literals_of(part.toarray() if sp.issparse(part) else part)

    def _play(self, X, codes):
        weights = self._compiled(self._sums, self._weights, self._tail)
        scores, start = np.empty((len(codes), len(self._sums))), 0
        for part in self._attributes(X):
            rows = slice(start, start + part.shape[0])
            start += _winnow_sweeps.sweep_winnow(
                as_rows(part), codes[rows], weights, self._joint, self._flipped, scores[rows]
            )
            if start < rows.stop:
                break
        return scores, start

    def _complain(self, X, row):
        bad = take_slice(X, slice(row, row + 1))
        values = bad.data if sp.issparse(bad) else bad
        if not self.balanced and np.isfinite(values).all():
            if np.any(values < 0):
                raise ValueError(
                    f"Negative values in data passed to {type(self).__name__}, which requires "
                    "features >= 0 unless balanced=True. Set balanced=True for features of any "
                    "sign."
                )
            if self.literals and np.any(values > 1):
                raise ValueError(
                    f"Values above 1 in data passed to {type(self).__name__}: with literals=True "
                    "features must be in [0, 1]. Scale them (MinMaxScaler)."
                )
        complain(self, X, row)

    def _mistaken(self, scores, codes):
        if scores.shape[1] > 1:
            return super()._mistaken(scores, codes)
        return self._says_second(scores[:, 0]) != (codes == 1)

    def _says_second(self, scores):
        # At the threshold the disjunction is true.
        return scores > 0 if self._flipped else scores >= 0

    def _predictions(self, scores):
        if scores.shape[1] > 1:
            return super()._predictions(scores)
        return self.classes_[self._says_second(scores[:, 0]).astype(np.intp)]

    def _account(self, scores, codes):
        if scores.shape[1] > 1 or self.keep_losses:
            account(self, scores, codes)
        else:
            # The sweep has counted them.
            self.n_mistakes_ = self._n_changes()
            self.cumulative_loss_ = float(self.n_mistakes_)

    def _n_changes(self):
        return int(self._tail[PROMOTIONS] + self._tail[DEMOTIONS])

    def _finish(self):
        self.coef_, self.intercept_ = self._weights, np.full(len(self._sums), -self._theta)
        if self.fit_intercept:
            self.coef_ = self._weights[:, :-1]
            self.intercept_ += self._weights[:, -1]
        if self._flipped:
            self.coef_, self.intercept_ = -self.coef_, -self.intercept_
        self.n_promotions_ = int(self._tail[PROMOTIONS])
        self.n_demotions_ = int(self._tail[DEMOTIONS])
        self.n_updates_ = self.n_promotions_ + self.n_demotions_

    @property
    def log2_weights_(self) -> np.ndarray:
        """The binary logarithms of the weights."""
        return np.log2(at_start(self, "alpha")) * self._sums

    def _scores(self, X):
        scores = [self._scores_of(part) for part in self._attributes(X)]
        return scores[0] if len(scores) == 1 else np.concatenate(scores)

    def _scores_of(self, X):
        if not self._tail[GIANTS]:
            scores = linear_scores(X, self.coef_, self.intercept_)
            if exact_powers(float(self.alpha)).size:  # as in a trial
                scores[np.abs(scores) <= _winnow_sweeps.TIE * self._theta] = 0.0
            return scores
        scores = np.empty((X.shape[0], self._n_vectors()))
        # Copies: the arrays of a model may be read-only.
        state = [part.copy() for part in (self._sums, self._weights, self._tail)]
        _winnow_sweeps.score_winnow(as_rows(X), self._compiled(*state), scores)
        return -scores if self._flipped else scores

    # ------------------------------------------------------------ the theorems

    def mistake_bound(self, k: ArrayLike) -> float:
        """Return the theorem's bound on the mistakes if each class is a disjunction.

        Parameters
        ----------
        k : int or array-like of shape (n_classes,)
            The number of literals of the disjunction, or the conjunction; for more than two
            classes that of each class.

        Returns
        -------
        bound : float
            Winnow makes no more mistakes than this, whatever the order of the samples; with "ovr"
            no more updates.
        """
        check_is_fitted(self)
        check_fixed(self)
        if not self._has_threshold:
            raise ValueError(
                'mistake_bound requires balanced=False and multi_class="ovr". See bound_, and '
                "sklearn_sl.theory.balanced_winnow_bound."
            )
        k = np.broadcast_to(k, self._n_vectors())
        return float(winnow_bound(k, self._sums.shape[1], self.alpha, self._theta).mistakes.sum())

    def _set_disjunction_bound(self, X, codes):
        """Set the bound relative to a disjunction that is found, if there is one."""
        if not (self.converged_ and is_boolean(X)):
            return
        found = []
        for k in range(self._n_vectors()):
            attributes = greedy_disjunction(
                X, (self._signs(codes, k) > 0) != self._flipped, self.literals
            )
            if attributes is None:
                return
            found.append(attributes)
        self.comparator_ = np.zeros(self._sums.shape)
        self.comparator_[:, : len(found[0])] = found
        self.bound_ = self.mistake_bound([attributes.sum() for attributes in found])

    def _set_margin_bound(self, X, codes):
        """Set the bound relative to the last weights, if their margins give one."""
        logs, axis = self.log2_weights_, None if self._together else 1
        highest = (np.abs(logs) if self.balanced else logs).max(axis=axis, keepdims=True)
        positive = np.exp2(logs - highest)
        negative = np.exp2(-logs - highest) if self.balanced else np.zeros_like(positive)
        weights = (positive - negative) / (positive + negative).sum(axis=axis, keepdims=True)
        n_weights = self._sums.size if self._together else self._sums.shape[1]
        scores, radius = [], float(self.fit_intercept)
        for part in self._attributes(X):
            values = part.data if sp.issparse(part) else part
            radius = max(radius, np.abs(values).max(initial=0.0))
            attributes = weights[:, :-1] if self.fit_intercept else weights
            constant = weights[:, -1] if self.fit_intercept else 0.0
            scores.append(linear_scores(part, attributes, constant))
        views = self._views(np.concatenate(scores), codes)
        bounds = [
            best_margin_bound(
                margins, radius, n_weights * (1 + self.balanced), self.alpha, self.n_iter_
            )
            for margins in (own * target for own, target in views)
        ]
        self.bound_, self.comparator_ = float(np.sum(bounds)), weights


@functools.lru_cache(maxsize=32)
def exact_powers(alpha):
    """Return powers of a factor, as near as numbers can be, so that ties of weights are ties.

    None are needed for a power of two, whose powers are exact anyhow.
    """
    rate = float(np.log2(alpha))
    if rate.is_integer():
        return np.empty(0)
    most = int(min(MOST_POWERS, _winnow_sweeps.LIMIT // rate))
    exact = Fraction(alpha)
    return np.array([float(exact**power) for power in range(-most, most + 1)])


def is_boolean(X):
    """Return whether all entries are zeros or ones."""
    if sp.issparse(X):
        return bool(np.all((X.data == 1) | (X.data == 0)))
    step = max(1, BLOCK // X.shape[1])
    parts = (X[start : start + step] for start in range(0, X.shape[0], step))
    return all(np.all((part == 0) | (part == 1)) for part in parts)


def greedy_disjunction(X, yes, literals):
    """Return the attributes of a small disjunction that is true of these samples and no others.

    Attributes that are true of another sample are out; of the rest, the one that is true of most
    samples not yet covered comes next.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Zeros and ones.

    yes : ndarray of shape (n_samples,)
        Where the disjunction shall be true.

    literals : bool
        Whether the attributes are all literals, a feature and its negation in turn.

    Returns
    -------
    attributes : ndarray of shape (n_attributes,) or None
        True for those in the disjunction; None if none fits.
    """
    true = column_sums(X, ~yes)
    open_features, open_negations = true == 0, literals & (true == np.count_nonzero(~yes))
    by_column = X.tocsc() if sp.issparse(X) else X
    attributes = np.zeros((X.shape[1], 2), dtype=bool)
    uncovered, ones = yes.copy(), column_sums(X, yes)
    while uncovered.any():
        gains = np.stack(
            [ones * open_features, (np.count_nonzero(uncovered) - ones) * open_negations], axis=1
        )
        feature, negated = divmod(int(gains.argmax()), 2)
        if not gains[feature, negated] > 0:
            return None
        attributes[feature, negated] = True
        column = by_column[:, [feature]]
        column = column.toarray() if sp.issparse(column) else column
        new = uncovered & (column[:, 0] != negated)
        uncovered &= ~new
        ones -= column_sums(X, new)
    return attributes.ravel() if literals else attributes[:, 0]


def column_sums(X, chosen):
    """Return the sums of the columns over some rows."""
    rows = np.flatnonzero(chosen)
    if 4 * len(rows) > len(chosen):
        return X.T @ chosen.astype(np.float64)
    return np.asarray(X[rows].sum(axis=0), dtype=np.float64).ravel()


def best_margin_bound(margins, radius, n_weights, alpha, repeats):
    """Return the least bound on the mistakes of balanced weights, over the margins to ask for.

    It is the number of trials if the theorem says no more.
    """
    trivial = float(len(margins) * repeats)
    if not radius > 0:
        return trivial

    @np.errstate(over="ignore")
    def bound(margin):
        loss = repeats * np.maximum(0.0, 1 - margins / margin).sum()
        return float(balanced_winnow_bound(margin, radius, n_weights, alpha, loss))

    # For smaller margins the bound is infinite, and near this end too, by rounding.
    ends = log_cosh(np.log(alpha) * radius) / np.log(alpha), radius
    if not ends[0] < ends[1]:
        return trivial
    found = minimize_scalar(lambda margin: -1 / bound(margin), bounds=ends, method="bounded").x
    least = margins.min()
    return min(trivial, *(bound(margin) for margin in (found, least) if margin > 0))
