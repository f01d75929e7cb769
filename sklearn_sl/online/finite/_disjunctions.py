"""Learners of disjunctions and conjunctions."""

from __future__ import annotations

import itertools
import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_sl._sklearn import Interval, StrOptions, fit_context
from sklearn_sl._state import check_entries, check_number, check_shape
from sklearn_sl._warnings import warn
from sklearn_sl.base import EstimatorMixin, read_labels
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online._parameters import check_fixed
from sklearn_sl.online.finite import _literals
from sklearn_sl.online.finite._covers import (
    METHODS,
)
from sklearn_sl.online.finite._finite import ClassAnswersMixin, dense
from sklearn_sl.online.finite._reductions import (
    literal_bits,
    smallest_consistent,
)
from sklearn_sl.theory._experts import weighted_majority_bound
from sklearn_sl.theory._finite_class import conjunction_bound, count_disjunctions

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

# The factor of weights for which both factors of the bound on mistakes are the same.
BETA = 1 / math.e


@paragraphs
class MinimalDisjunction(EstimatorMixin, ClassifierMixin, BaseEstimator):
    """The smallest disjunction that is consistent with the samples.

    A sample is of the second class if one of a few variables is true: ``x2 or x5``. Variables are
    the features, true from a ``threshold`` on. Of all disjunctions that are true on the samples
    of the second class and false on the others the shortest is found, by branch and bound; the
    problem is NP-hard, but some fifty variables take well below a second. A greedy search is
    quick on any number of them.

    If no disjunction is consistent, the one that is found is still false on all samples of the
    first class, and true on all samples of the second one that such a disjunction can be true on.
    (To make as few mistakes as possible is harder still.)

    **Multi-class.** Each class but the first has a disjunction, that is false on the samples of
    all other classes. The last class whose disjunction is true is predicted, or the first class.

    Parameters
    ----------
    literals : bool, default=False
        Whether negations of variables can be used too.

    {threshold}

    method : {"exact", "greedy"}, default="exact"
        Whether to find the smallest disjunction, or by the greedy algorithm one that is at most
        ``1 + ln m`` times as long, for ``m`` samples of the class.

    max_nodes : int, default=1_000_000
        The largest number of nodes of the exact search, for each class. When they do not suffice,
        there is a warning, and the disjunction is the best one that was found.

    Attributes
    ----------
    {classes}

    literals_ : list of ndarray
        The literals of each class but the first: the numbers of features. With ``literals`` they
        are ``2 i`` for feature ``i`` and ``2 i + 1`` for its negation.

    expressions_ : list of str
        The same in words.

    lower_bound_ : ndarray of shape (n_classes - 1,)
        No disjunction that covers these samples has less literals.

    optimal_ : ndarray of shape (n_classes - 1,)
        Whether the disjunctions are the smallest ones.

    n_uncovered_ : ndarray of shape (n_classes - 1,)
        The number of samples of each class but the first on which its disjunction is false.

    consistent_ : bool
        Whether there are none: all training samples are predicted right.

    n_nodes_ : ndarray of shape (n_classes - 1,)
        The number of nodes that the searches visited.

    {features_in}

    See Also
    --------
    minimal_disjunction : The same as a function.
    DisjunctionWeightedMajority : Learns from a stream, and forgives mistakes.
    ConjunctionLearner : Learns conjunctions from a stream.

    References
    ----------
    .. [1] D. Haussler, "Quantifying inductive bias: AI learning algorithms and Valiant's learning
       framework", Artificial Intelligence 36, 1988.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.online import MinimalDisjunction
    >>> X = np.random.default_rng(0).integers(2, size=(100, 20))
    >>> model = MinimalDisjunction(literals=True).fit(X, (X[:, 4] == 1) | (X[:, 9] == 0))
    >>> model.expressions_, model.consistent_
    (['x4 or not x9'], True)
    """

    classes_: np.ndarray
    literals_: list[Any]
    expressions_: list[Any]
    lower_bound_: np.ndarray
    optimal_: np.ndarray
    n_uncovered_: np.ndarray
    consistent_: bool
    n_nodes_: np.ndarray

    _parameter_constraints = {
        "literals": ["boolean"],
        "threshold": [Interval(Real, None, None, closed="neither")],
        "method": [StrOptions(set(METHODS))],
        "max_nodes": [Interval(Integral, 1, None, closed="left")],
    }
    # Features are truth values.
    _compare_grid = None

    def __init__(
        self,
        literals: bool = False,
        *,
        threshold: float = 0.5,
        method: Literal["exact", "greedy"] = "exact",
        max_nodes: int = 1_000_000,
    ) -> None:
        self.literals = literals
        self.threshold = threshold
        self.method = method
        self.max_nodes = max_nodes

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Find the disjunctions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        y : array-like of shape (n_samples,)
            Classes.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        X, y = validate_data(self, X, read_labels(y), dtype="numeric")
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(
                "MinimalDisjunction needs samples of at least 2 classes, but the data has only "
                f"one class: {self.classes_[0]!r}."
            )
        bits = self._bits(X)
        found = [
            smallest_consistent(bits, y == label, self.method, self.max_nodes)
            for label in self.classes_[1:]
        ]
        self.literals_ = [disjunction.literals for disjunction in found]
        self.expressions_ = [self._expression(literals) for literals in self.literals_]
        self.n_uncovered_ = np.array([disjunction.n_uncovered for disjunction in found])
        self.lower_bound_ = np.array([disjunction.lower_bound for disjunction in found])
        self.optimal_ = np.array([disjunction.optimal for disjunction in found])
        self.n_nodes_ = np.array([disjunction.n_nodes for disjunction in found])
        self.consistent_ = not self.n_uncovered_.any()
        if self.method == "exact" and not self.optimal_.all():
            warn(
                f"max_nodes={self.max_nodes} was reached before the search for the smallest "
                f"disjunction was complete: those found have "
                f"{[len(literals) for literals in self.literals_]} literals, and the lower bounds "
                f'are {self.lower_bound_}. Increase max_nodes, or use method="greedy".',
                ConvergenceWarning,
            )
        return self

    def _bits(self, X):
        bits = X >= np.float64(self.threshold)
        return literal_bits(bits) if self.literals else bits

    def _expression(self, literals):
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])
        if self.literals:
            names = [word + name for name in names for word in ("", "not ")]
        return " or ".join(names[literal] for literal in literals) or "false"

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the classes of samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes.
        """
        check_is_fitted(self)
        bits = self._bits(validate_data(self, X, reset=False, dtype="numeric"))
        codes = np.zeros(len(bits), dtype=np.intp)
        for code, literals in enumerate(self.literals_, start=1):
            codes[bits[:, literals].any(axis=1)] = code
        return self.classes_[codes]


@paragraphs
class DisjunctionWeightedMajority(
    EstimatorMixin, ClassAnswersMixin, ClassifierMixin, BaseEstimator
):
    """Weighted majority over all disjunctions of ``k`` variables.

    The experts are the ``binomial(n, k)`` monotone disjunctions of ``k`` out of ``n`` variables,
    the features, which are true from a ``threshold`` on. An expert with ``m`` mistakes has the
    weight ``beta^m``. A trial answers what more than half of the weight says; a tie is the second
    class. If the best expert makes ``M*`` mistakes, there are at most
    ``2.63 M* + 2.63 k ln(n e / k)`` for ``beta = 1 / e``: the number of variables that do not
    matter counts by its logarithm only. But time and memory grow with the number of experts;
    Winnow needs neither.

    **Multi-class.** There is a majority for each class but the first, that says whether a sample
    is of this class. The answer is the last class whose majority says so, or the first class, and
    the bound adds up.

    Parameters
    ----------
    n_literals : int, default=2
        The number ``k`` of literals.

    beta : float, default=1/e
        By what the weight of an expert is multiplied when it is wrong.

    literals : bool, default=False
        Whether negations of variables can be used too: ``2^k`` times as many experts.

    {threshold}

    max_experts : int, default=1_000_000
        More experts than these are an error.

    {max_iter}

    {keep_losses}

    Attributes
    ----------
    {classes}

    experts_ : ndarray of shape (n_experts, n_literals)
        The features in each disjunction. With ``literals`` they are ``2 i`` for feature ``i`` and
        ``2 i + 1`` for its negation.

    expert_mistakes_ : ndarray of shape (n_classes - 1, n_experts)
        The number of mistakes of each expert about each class but the first.

    best_expert_ : ndarray of shape (n_classes - 1,)
        The expert with the fewest mistakes about each class but the first.

    {n_mistakes}

    bound_ : float
        No more mistakes than these, relative to ``best_expert_``: the sum over classes of
        ``(ln(1 / beta) M* + ln n_experts) / ln(2 / (1 + beta))``.

    {account_of_mistakes}

    See Also
    --------
    MinimalDisjunction : The smallest disjunction that makes no mistake at all.
    sklearn_sl.theory.disjunction_majority_bound : The theorem.

    References
    ----------
    .. [1] N. Littlestone and M. Warmuth, "The weighted majority algorithm", Information and
       Computation 108, 1994.

    Examples
    --------
    One label in ten is wrong.

    >>> import numpy as np
    >>> from sklearn_sl.online import DisjunctionWeightedMajority
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(2, size=(1000, 30))
    >>> y = (X[:, 4] | X[:, 9]) ^ (rng.uniform(size=1000) < 0.1)
    >>> model = DisjunctionWeightedMajority(n_literals=2).fit(X, y)
    >>> model.experts_[model.best_expert_]
    array([[4, 9]], dtype=int32)
    >>> model.n_mistakes_, int(model.expert_mistakes_.min()), round(model.bound_)
    (108, 102, 284)
    """

    bound_: float
    experts_: np.ndarray
    expert_mistakes_: np.ndarray
    best_expert_: np.ndarray

    _parameter_constraints = {
        "n_literals": [Interval(Integral, 1, None, closed="left")],
        "beta": [Interval(Real, 0, 1, closed="neither")],
        "literals": ["boolean"],
        "threshold": [Interval(Real, None, None, closed="neither")],
        "max_experts": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "keep_losses": ["boolean"],
    }
    _mutable = ("_mistakes",)
    _fixed = ("n_literals", "literals", "threshold")

    def __init__(
        self,
        n_literals: int = 2,
        *,
        beta: float = BETA,
        literals: bool = False,
        threshold: float = 0.5,
        max_experts: int = 1_000_000,
        max_iter: int = 1,
        keep_losses: bool = False,
    ) -> None:
        self.n_literals = n_literals
        self.beta = beta
        self.literals = literals
        self.threshold = threshold
        self.max_experts = max_experts
        self.max_iter = max_iter
        self.keep_losses = keep_losses

    def _begin(self, X):
        n, k = X.shape[1], int(self.n_literals)
        n_experts = count_disjunctions(n, k, monotone=not self.literals)
        if n_experts == 0:
            raise ValueError(f"n_literals must be at most n_features={n}; got {k}.")
        if n_experts > self.max_experts:
            raise ValueError(
                f"There are {n_experts:,} disjunctions of n_literals={k} out of n_features={n}, "
                f"more than max_experts={self.max_experts:,}. Decrease n_literals, or use Winnow."
            )
        self.experts_ = self._all_experts(n, k)
        self._mistakes = np.zeros((len(self.classes_) - 1, n_experts), dtype=np.int64)

    def _check_arrays(self):
        began = self._began_with
        check_shape(self, "experts_", (None, began["n_literals"]), np.int32)
        n_experts = check_number(self.experts_, "size", 1) // self.experts_.shape[1]
        n_literals = (1 + began["literals"]) * self.n_features_in_
        check_entries(self.experts_, "experts_", 0, n_literals - 1)
        check_shape(self, "_mistakes", (len(self.classes_) - 1, n_experts), np.int64)
        check_entries(self._mistakes, "_mistakes", 0, self.n_trials_)

    def _all_experts(self, n, k):
        """Return the literals of all disjunctions."""
        choices = itertools.chain.from_iterable(itertools.combinations(range(n), k))
        variables = np.fromiter(choices, dtype=np.int32, count=math.comb(n, k) * k).reshape(-1, k)
        if not self.literals:
            return variables
        signs = np.array(list(itertools.product([0, 1], repeat=k)), dtype=np.int32)
        return (2 * variables[:, None] + signs).reshape(-1, k)

    def _n_numbers(self, X):
        return self.experts_.size + 2 * self._mistakes.size

    def _trials(self, X, codes, answers):
        check_fixed(self)
        bits = dense(X) >= self.threshold
        return _literals.vote(
            (literal_bits(bits) if self.literals else bits).view(np.uint8),
            codes,
            self.experts_,
            self._weights(len(bits)),
            *self._changed_arrays(codes),
            np.empty(len(self.experts_), dtype=np.uint8),
            answers,
        )

    def _weights(self, n_more):
        """Return the weights by mistakes more than the best expert, as many as can be needed."""
        vanishing = int(np.ceil(750 / -np.log(self.beta)))
        weights = np.full(min(self.n_trials_ + n_more, vanishing) + 1, float(self.beta))
        weights[0] = 1.0
        # One after the other: so many more trials change none of them.
        return np.multiply.accumulate(weights)

    def _finish(self):
        self.expert_mistakes_ = self._mistakes
        self.best_expert_ = self._mistakes.argmin(axis=1)
        bounds = weighted_majority_bound(self._mistakes.min(axis=1), len(self.experts_), self.beta)
        self.bound_ = float(bounds.sum())


@paragraphs
class ConjunctionLearner(EstimatorMixin, ClassAnswersMixin, ClassifierMixin, BaseEstimator):
    """A conjunction of literals, learned by elimination.

    A sample is of the second class if all of some literals are true: ``x2 and not x5``. Variables
    are the features, true from a ``threshold`` on. The learner begins with all ``2 n`` literals,
    whose conjunction is always false, and answers what the conjunction says. When it says no on a
    sample of the second class, the literals that are false there go. What remains are the
    literals that were true on all samples of the second class. If there is a conjunction that is
    always right, its literals stay, and there are at most ``n + 1`` mistakes, whatever the number
    of its literals.

    **Multi-class.** Each class but the first has a conjunction. The answer is the last class whose
    conjunction is true, or the first class, and the bound adds up.

    Parameters
    ----------
    literals : bool, default=True
        Whether there are negations of variables; if not, there are at most ``n`` mistakes.

    {threshold}

    {max_iter}

    {keep_losses}

    Attributes
    ----------
    {classes}

    literals_ : list of ndarray
        The literals of each class but the first: the numbers of features. With ``literals`` they
        are ``2 i`` for feature ``i`` and ``2 i + 1`` for its negation.

    n_contradictions_ : ndarray of shape (n_classes - 1,)
        How often each conjunction was true on a sample of another class: then no conjunction is
        always right.

    realizable_ : bool
        Whether there was no such trial.

    {n_mistakes}

    bound_ : float
        No more mistakes than these: ``n + 1``, or ``n`` without negations, for each class but the
        first, and one more for each contradiction.

    {account_of_mistakes}

    See Also
    --------
    MinimalDisjunction : The smallest disjunction that makes no mistake.
    sklearn_sl.theory.conjunction_bound : The theorem.

    References
    ----------
    .. [1] L. Valiant, "A theory of the learnable", Communications of the ACM 27, 1984.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.online import ConjunctionLearner
    >>> X = np.random.default_rng(0).integers(2, size=(1000, 20))
    >>> model = ConjunctionLearner().fit(X, (X[:, 4] == 1) & (X[:, 9] == 0))
    >>> model.literals_  # x4 and not x9
    [array([ 8, 19])]
    >>> model.n_mistakes_, model.bound_
    (6, 21.0)
    """

    bound_: float
    literals_: list[Any]
    n_contradictions_: np.ndarray
    realizable_: bool

    _parameter_constraints = {
        "literals": ["boolean"],
        "threshold": [Interval(Real, None, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "keep_losses": ["boolean"],
    }
    _mutable = ("_kept", "_n_denied")
    _fixed = ("literals", "threshold")

    def __init__(
        self,
        literals: bool = True,
        *,
        threshold: float = 0.5,
        max_iter: int = 1,
        keep_losses: bool = False,
    ) -> None:
        self.literals = literals
        self.threshold = threshold
        self.max_iter = max_iter
        self.keep_losses = keep_losses

    def _begin(self, X):
        n_conjunctions = len(self.classes_) - 1
        self._kept = np.ones((n_conjunctions, X.shape[1], 2), dtype=np.uint8)
        self._kept[:, :, 1] = self.literals
        self._n_denied = np.zeros(n_conjunctions, dtype=np.intp)

    def _check_arrays(self):
        n_conjunctions = len(self.classes_) - 1
        check_shape(self, "_kept", (n_conjunctions, self.n_features_in_, 2), np.uint8)
        check_shape(self, "_n_denied", (n_conjunctions,), np.intp)

    def _trials(self, X, codes, answers):
        bits = dense(X) >= self.threshold
        return _literals.eliminate(
            bits.view(np.uint8), codes, *self._changed_arrays(codes), answers
        )

    def _finish(self):
        step = 1 if self.literals else 2
        self.literals_ = [np.flatnonzero(kept.ravel()[::step]) for kept in self._kept]
        self.n_contradictions_ = self._n_denied.copy()
        self.realizable_ = not self._n_denied.any()
        most = conjunction_bound(self.n_features_in_) - (not self.literals)
        self.bound_ = float(most * len(self._kept) + self._n_denied.sum())
