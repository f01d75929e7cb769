"""AdaBoost for regression (AdaBoost.R2)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state

from sklearn_sl._rows import first_of_equal, row_hashes
from sklearn_sl._sklearn import Options, StrOptions, fit_context
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.ensemble._base_estimators import number_fitter, predicted_numbers, read_for
from sklearn_sl.ensemble._boosting import BoostingMixin, Rounds, Validation
from sklearn_sl.ensemble._paragraphs import inserted
from sklearn_sl.ensemble._resampling import MANY_COPIES, repeated
from sklearn_sl.ensemble._weights import BoostedWeights, exact_sum
from sklearn_sl.tree import DecisionTreeRegressor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sklearn_sl._typing import ArrayLike, MatrixLike

# Numbers that a weighted median sorts at a time.
MEDIAN_BLOCK = 2_000_000


@inserted
class AdaBoostRegressor(EstimatorMixin, BoostingMixin, RegressorMixin, BaseEstimator):
    """AdaBoost.R2 for regression, on columns that are sorted once.

    Round ``t`` fits a base estimator to a sample that is drawn with the weights as probabilities.
    With the residuals ``r_i`` of all samples and their largest ``R``, the losses are ``l_i = r_i /
    R`` ("linear"), its square, or ``1 - exp(-r_i / R)`` ("exponential"), and their weighted mean
    ``eps_t`` gives the base estimator the weight ``a_t = learning_rate * log((1 - eps_t) /
    eps_t)``. The weights of the samples are multiplied by ``exp(-a_t (1 - l_i))``. The prediction
    is the weighted median of the base estimators.

    A base estimator without a residual ends the fit, with a weight that outweighs all others; so
    does one of ``eps_t >= 1/2``, which is dropped unless it is the only one. ``stop_reason_``
    tells.

    **The draws.** With ``bootstrap="content"``, the default, the samples are put into an order that
    follows from their values before they are drawn, so that integer weights are exactly repeated
    samples and the order of the samples does not matter; the number of draws is the sum of the
    weights if they are integers, otherwise the number of samples. ``bootstrap="rows"`` draws from
    the samples in their given order, one draw for each: with the same ``random_state`` these are
    the draws of :class:`sklearn.ensemble.AdaBoostRegressor`, and ties apart the same base
    estimators. ``bootstrap=False`` draws nothing and fits the base estimators with the weights.

    Parameters
    ----------
    estimator : estimator, default=None
        The base estimator to be boosted; None is a :class:`~sklearn_sl.tree.DecisionTreeRegressor`
        of depth three.

    {rounds}

    loss : {"linear", "square", "exponential"}, default="linear"
        The loss of a residual.

    random_state : int, RandomState instance or None, default=None
        For the draws, for base estimators that are random, and for the samples that are set aside.

    bootstrap : {"content", "rows"} or False, default="content"
        How samples are drawn for a base estimator.

    early_stopping : {"validation"} or None, default=None
        "validation" sets samples aside and stops when their mean squared error has not decreased
        for ``n_iter_no_change`` rounds; the base estimators up to the best round are kept.

    validation_fraction : float, default=0.1
        The share of the samples that are set aside.

    {patience}

    retries : int, default=0
        How many base estimators in a row may have ``eps_t >= 1/2``, before the fit ends.

    {boosting_warm_start}

    n_jobs : int, default=None
        The threads that grow a tree of this package. None is one unless in a
        :obj:`joblib.parallel_backend` context.
        The result does not depend on it.

    Attributes
    ----------
    {estimator}

    estimators_ : list of regressors
        The base estimators.

    estimator_weights_ : ndarray of shape (n_rounds,)
        Their weights ``a_t``.

    estimator_errors_ : ndarray of shape (n_rounds,)
        Their weighted mean losses ``eps_t``.

    {validation_errors}

    stop_reason_ : str
        "n_estimators", "perfect", "weak", "validation" or "callback".

    {boosted_importances}

    {boosted_features_in}

    See Also
    --------
    sklearn.ensemble.AdaBoostRegressor : Copies and sorts the samples again in every round.
    ForwardStagewiseRegressor : Boosts residuals.

    References
    ----------
    .. [1] H. Drucker, "Improving regressors using boosting techniques", Proc. 14th International
       Conference on Machine Learning, 1997.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_sl.ensemble import AdaBoostRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AdaBoostRegressor(random_state=0).fit(X, y)
    >>> round(model.score(X, y), 1), model.stop_reason_
    (0.6, 'n_estimators')
    """

    _default_estimator = partial(DecisionTreeRegressor, max_depth=3)
    _parameter_constraints = {
        **BoostingMixin._parameter_constraints,
        "loss": [StrOptions({"linear", "square", "exponential"})],
        "bootstrap": [StrOptions({"content", "rows"}), Options(bool, {False})],
        "early_stopping": [StrOptions({"validation"}), None],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: Literal["linear", "square", "exponential"] = "linear",
        random_state: int | np.random.RandomState | None = None,
        bootstrap: Literal["content", "rows"] | bool = "content",
        early_stopping: Literal["validation"] | None = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 0.0,
        retries: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.random_state = random_state
        self.bootstrap = bootstrap
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.retries = retries
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Boost the base estimators.

        Parameters
        ----------
        {training_any_X}

        y : array-like of shape (n_samples,)
            Targets.

        {sample_weight}

        Returns
        -------
        {fitted}
        """
        X, y, weight, _ = self._read_training_set(X, y, sample_weight, weighted=not self.bootstrap)
        y = y.astype(np.float64)
        rng, held_out = check_random_state(self.random_state), None
        if self.early_stopping == "validation":
            (X, y, weight), held_out, _ = self._set_aside(X, y, weight, rng, stratify=None)
        fitter = number_fitter(self.estimator_, X, y, self.n_jobs)
        weights = BoostedWeights(weight, len(y))
        contents = Contents(fitter.X, y) if self.bootstrap == "content" else None
        state = NumberRounds(fitter, weights, rng, y, contents, draws=bool(self.bootstrap))
        self._boost(state, self._watcher(held_out))
        return self

    def _answers(self, state, estimator):
        if self.bootstrap:
            return state.fitter.refit(estimator, state.draw())
        return state.fitter.fit(estimator, state.weights.mass)

    def _weigh(self, state, answers, strength):
        losses = self._losses(np.abs(answers - state.y))
        mass = state.weights.mass
        state.error = error = min(exact_sum(mass * losses) / state.weights.total, 1.0)
        if error <= 0:
            # No less than the others together, and one as in scikit-learn if it is alone.
            return 1.0 + sum(state.strengths) if strength is None else strength, "perfect"
        if error >= 0.5:
            return None, "weak"
        if strength is None:
            strength = float(self.learning_rate * np.log((1 - error) / error))
        state.weights.multiply(losses, strength, error)
        return strength, None

    def _begin_weakly(self, state, estimator):
        state.add(estimator, 1.0)

    def _losses(self, residuals):
        """Return the losses of residuals, between zero and one."""
        largest = residuals.max()
        if largest == 0:
            return residuals
        losses = residuals / largest
        if self.loss == "square":
            return losses**2
        return losses if self.loss == "linear" else -np.expm1(-losses)

    def _watcher(self, held_out):
        if self.early_stopping is None:
            return None
        X, y, weight = held_out
        columns = []

        def error_after(state):
            for estimator in state.estimators[len(columns) :]:
                prepared = read_for(self, estimator, X, reset=False)
                columns.append(predicted_numbers(estimator, prepared))
            table = np.stack(columns, axis=1)
            predicted = weighted_median(table, np.array(state.strengths))
            return np.average((predicted - y) ** 2, weights=weight)

        return Validation(error_after, self.n_iter_no_change, self.tol)

    def staged_predict(self, X: MatrixLike) -> Iterator[np.ndarray]:
        """Yield the predictions after each round.

        Parameters
        ----------
        {any_X}

        Yields
        ------
        y : ndarray of shape (n_samples,)
            Weighted medians of the base estimators so far.
        """
        table = self._table(X)
        for last in range(1, len(self.estimators_) + 1):
            yield weighted_median(table[:, :last], self.estimator_weights_[:last])

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the targets of samples.

        Parameters
        ----------
        {any_X}

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Weighted medians of what the base estimators predict.
        """
        return weighted_median(self._table(X), self.estimator_weights_)

    def _table(self, X):
        """Return what the base estimators predict, a column for each."""
        X = self._prepare(X)
        return np.stack([predicted_numbers(estimator, X) for estimator in self.estimators_], axis=1)


def weighted_median(table, weight):
    """Return the least number of each row that has half of the weight up to it."""
    medians = np.empty(len(table))
    step = max(1, MEDIAN_BLOCK // table.shape[1])
    for start in range(0, len(table), step):
        rows = table[start : start + step]
        order = np.argsort(rows, axis=1)
        below = np.cumsum(weight[order], axis=1)
        place = (below >= 0.5 * below[:, -1:]).argmax(axis=1)[:, None]
        medians[start : start + step] = np.take_along_axis(
            rows, np.take_along_axis(order, place, axis=1), axis=1
        )[:, 0]
    return medians


class Contents:
    """An order of the samples that follows from what they are; equal ones are neighbours.

    ``order`` are the rows in this order, ``starts`` the places in it of the first of equal ones.
    """

    def __init__(self, X, y):
        if getattr(X, "ndim", 1) != 2:
            X = np.asarray(X, dtype=object).reshape(len(y), -1)
        hashes = row_hashes(X, y)
        self.order = np.argsort(hashes, kind="stable")
        self.starts = first_of_equal(hashes[self.order])


class NumberRounds(Rounds):
    """The rounds of a regressor, which draws samples."""

    def __init__(self, fitter, weights, rng, y, contents, draws):
        super().__init__(fitter, weights, rng)
        self.y, self.contents, self.draws = y, contents, draws
        self.n_draws = len(y) if contents is None else self._size()

    def _size(self):
        """Return the sum of integer weights, or the number of samples."""
        own = self.weights.own
        counts = own is not None and np.all(own == np.rint(own))
        return int(own.sum()) if counts else len(self.y)

    def skip(self):
        if self.draws:
            self.draw()

    def draw(self):
        """Draw rows with the weights of this round."""
        mass, contents = self.weights.mass, self.contents
        if contents is None:
            return Draws(mass, None, self.rng.random_sample(self.n_draws))
        if self.n_draws <= MANY_COPIES * len(contents.starts):
            return Draws(mass, contents.order, self.rng.random_sample(self.n_draws))
        share = np.add.reduceat(mass[contents.order], contents.starts)
        counts = self.rng.multinomial(self.n_draws, share / share.sum())
        return CountedDraws(counts, contents.order[contents.starts], len(mass))


class Draws:
    """Rows that uniform numbers draw, with probabilities in the proportion of masses.

    ``order`` is that in which the masses are summed up, None for that of the rows.
    """

    def __init__(self, mass, order, uniform):
        below = np.cumsum(mass if order is None else mass[order])
        self.below, self.order, self.uniform = below / below[-1], order, uniform

    def rows(self):
        """Return the row of each draw."""
        places = np.searchsorted(self.below, self.uniform, side="right")
        return places if self.order is None else self.order[places]

    def times(self):
        """Return how often each row was drawn, which takes less time."""
        times = np.empty(len(self.below))
        ends = np.searchsorted(np.sort(self.uniform), self.below, side="left")
        times[slice(None) if self.order is None else self.order] = np.diff(ends, prepend=0)
        return times


class CountedDraws:
    """How often each of some rows, of different content, was drawn; other rows were not."""

    def __init__(self, counts, drawn, n_rows):
        self.counts, self.drawn, self.n_rows = counts, drawn, n_rows

    def rows(self):
        """Return the row of each draw."""
        return repeated(self.drawn, self.counts)

    def times(self):
        """Return how often each row was drawn."""
        times = np.zeros(self.n_rows)
        times[self.drawn] = self.counts
        return times
