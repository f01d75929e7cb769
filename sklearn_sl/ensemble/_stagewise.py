"""Forward stagewise additive models."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_regressor
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._rows import n_rows
from sklearn_sl._sklearn import HasMethods, Interval, Progress, StrOptions, fit_context
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.ensemble._base_estimators import (
    class_codes,
    class_fitter,
    make_base_estimator,
    number_fitter,
    predicted_numbers,
    read_for,
)
from sklearn_sl.ensemble._boosting import BoostedInputMixin
from sklearn_sl.ensemble._losses import LOSSES, kink_of_least_loss
from sklearn_sl.ensemble._paragraphs import inserted
from sklearn_sl.ensemble._weights import exact_sum, masses, own_weights
from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sklearn_sl._typing import ArrayLike, MatrixLike

SIGNS = np.array([-1, 1])


class Stages:
    """An additive model that grows: its base estimators, coefficients and mean losses."""

    def __init__(self, values):
        self.estimators, self.coefficients, self.losses = [], [], []
        self.values = values  # of the model, at the training samples
        self.reason = "n_estimators"

    def add(self, estimator, coefficient, answers, loss):
        self.estimators.append(estimator)
        self.coefficients.append(coefficient)
        self.values = self.values + coefficient * answers
        self.losses.append(loss)


class StagewiseMixin(BoostedInputMixin):
    """The parameters of an additive model."""

    _parameter_constraints = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def _step(self, stages, step, unbounded):
        """Return the coefficient for a step of the line search; the last one if it is infinite."""
        if np.isinf(step):
            stages.reason = "perfect"
            return unbounded
        return float(self.learning_rate * step)

    def _accept(self, stages, estimator, coefficient, answers, loss, before):
        """Add a base estimator unless it brings nothing; return whether to go on."""
        if stages.estimators and not before - loss > self.tol * before:
            stages.reason = "tol"
            return False
        stages.add(estimator, coefficient, answers, loss)
        if loss == 0:
            stages.reason = "perfect"
        return stages.reason == "n_estimators"


@inserted
class ForwardStagewiseClassifier(EstimatorMixin, StagewiseMixin, ClassifierMixin, BaseEstimator):
    """Additive model for classification, fitted stage by stage to a loss of the margin.

    With classes ``y`` = -1 and +1 the model is ``f = sum_t alpha_t h_t``. Stage ``t`` adds the
    ``(alpha_t, h_t)`` that decrease ``sum_i w_i V(y_i f(x_i))`` most, the coefficients before it
    stay as they are. The losses ``V(m)`` of the margin ``m = y f(x)`` are

    - "exponential", ``exp(-m)``: this is AdaBoost, ``alpha_t = 1/2 log((1 - eps_t) / eps_t)``,
    - "logistic", ``log(1 + exp(-m))``,
    - "hinge", ``max(0, 1 - m)``,
    - "square", ``(1 - m)**2 = (y - f(x))**2``.

    The base estimator is fitted to the signs of ``-y V'(m)``, with their sizes as weights: for base
    estimators with answers -1 and 1, and for the exponential and the square loss, that is the exact
    minimiser over the base estimator; for the other two it is the direction of steepest descent.
    The coefficient is the exact minimiser for all of them: in closed form, by the root of the
    derivative ("logistic"), or by a walk over the kinks ("hinge"). So no stage increases the loss,
    see ``losses_``. A regressor as base estimator is fitted to ``-y V'(m)`` itself.

    With the hinge loss and base estimators that answer -1 and 1, steps end on its kinks, where soon
    no single base estimator helps any more; a smaller ``learning_rate`` only comes there more
    slowly. Use a regressor as base estimator.

    More than two classes are fitted one against the rest; the largest ``f`` wins.

    Parameters
    ----------
    estimator : estimator, default=None
        The weak learner, a classifier or a regressor that takes ``sample_weight``; None is a
        :class:`~sklearn_sl.tree.DecisionTreeClassifier` with one split.

    loss : {"exponential", "logistic", "hinge", "square"}, default="exponential"
        The loss of the margin.

    {stages}

    n_jobs : int, default=None
        The threads that share the features among them, for base estimators of this package.

    Attributes
    ----------
    {estimator}

    estimators_ : list of lists of estimators
        The base estimators for each class against the rest, one list for two classes. Classifiers
        answer -1 and 1.

    estimator_weights_ : list of ndarray
        Their coefficients ``alpha_t``.

    losses_ : list of ndarray
        The weighted mean loss after each stage.

    stop_reasons_ : list of str
        What ended the fit for each class: "n_estimators", "perfect" (the loss is zero, or its
        minimum is at an infinite coefficient), "weak" (the base estimator is no better than
        chance), "tol" or "callback".

    {classes_attribute}

    {boosted_features_in}

    See Also
    --------
    AdaBoostClassifier : The exponential loss, with its certificates.
    sklearn.ensemble.GradientBoostingClassifier : Gradient boosting of regression trees, which sets
        every leaf by itself.

    References
    ----------
    .. [1] J. Friedman, T. Hastie and R. Tibshirani, "Additive logistic regression: a statistical
       view of boosting", Annals of Statistics 28, 2000.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn_sl.ensemble import AdaBoostClassifier, ForwardStagewiseClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ForwardStagewiseClassifier(loss="exponential", n_estimators=20).fit(X, y)
    >>> boosted = AdaBoostClassifier(n_estimators=20).fit(X, y)
    >>> bool(abs(2 * model.estimator_weights_[0] - boosted.estimator_weights_).max() < 1e-9)
    True
    >>> model.losses_[0][-1].round(4), boosted.training_bound_[-1].round(4)
    (np.float64(0.0545), np.float64(0.0545))
    """

    estimators_: list[Any]
    estimator_weights_: list[Any]
    losses_: list[Any]
    stop_reasons_: list[Any]
    classes_: np.ndarray

    _default_estimator = partial(DecisionTreeClassifier, max_depth=1)
    _parameter_constraints = {
        **StagewiseMixin._parameter_constraints,
        "loss": [StrOptions(set(LOSSES))],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        loss: Literal["exponential", "logistic", "hinge", "square"] = "exponential",
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        tol: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Add base estimators stage by stage.

        Parameters
        ----------
        {training_any_X}

        {class_y}

        {sample_weight}

        Returns
        -------
        {fitted}
        """
        X, y, weight, _ = self._read_training_set(X, y, sample_weight)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        own, total = own_weights(weight, len(y))
        rng = check_random_state(self.random_state)
        positives = range(1, 2) if len(self.classes_) == 2 else range(len(self.classes_))
        with (
            self._fitter(X, codes == positives[0]) as fitter,
            Progress(self, name="stage", total=None) as progress,
        ):
            fits = [
                self._fit_signs(fitter, codes == k, own, total, rng, progress) for k in positives
            ]
        self.estimators_ = [stages.estimators for stages in fits]
        self.estimator_weights_ = [np.array(stages.coefficients) for stages in fits]
        self.losses_ = [np.array(stages.losses) for stages in fits]
        self.stop_reasons_ = [stages.reason for stages in fits]
        return self

    def _fitter(self, X, is_positive):
        """Return a context with what fits the base estimators to signs."""
        if is_regressor(self.estimator_):
            y = np.where(is_positive, 1.0, -1.0)
            return nullcontext(number_fitter(self.estimator_, X, y, self.n_jobs))
        codes = is_positive.astype(np.intp)
        return class_fitter(self.estimator_, X, SIGNS[codes], SIGNS, codes, self.n_jobs)

    def _fit_signs(self, fitter, is_positive, own, total, rng, progress):
        """Return the additive model of one class against the rest."""
        signs = np.where(is_positive, 1.0, -1.0)
        weight = np.full(len(signs), 1 / total) if own is None else own / total
        stages = Stages(np.zeros(len(signs)))
        while len(stages.estimators) < self.n_estimators and stages.reason == "n_estimators":
            if progress.stop:
                stages.reason = "callback"
                break
            with progress.step():
                self._stage(stages, fitter, signs, own, weight, rng)
        return stages

    def _stage(self, stages, fitter, signs, own, weight, rng):
        """Add a base estimator, or find a reason to stop."""
        loss = LOSSES[self.loss]
        margins = signs * stages.values
        pull = -signs * loss.slope(margins)  # where f should go, and how much
        if not pull.any():
            stages.reason = "perfect"
            return
        size = np.abs(pull)
        scale = exact_sum(size if own is None else size * own)
        estimator = make_base_estimator(self.estimator_, rng)
        if is_regressor(self.estimator_):
            answers = fitter.fit(estimator, own, pull)
        else:
            mass, _ = masses(size / scale, own, fewest=1 if self.loss == "exponential" else 0)
            codes = fitter.fit(estimator, mass, (pull > 0).astype(np.intp))
            answers = SIGNS[codes].astype(np.float64)
        step = 0.0
        if exact_sum(weight * pull * answers) > 0:
            step = loss.best_step(loss, margins, signs * answers, weight)
        if not step > 0:
            stages.reason = "weak"
            if not stages.estimators:
                raise ValueError(
                    f"The first base estimator of {type(self).__name__} is not better than chance: "
                    "no multiple of it decreases the loss. Use a stronger estimator."
                )
            return
        # No less than the others together, and 1/2 as in AdaBoost if it is alone.
        coefficient = self._step(stages, step, 0.5 + sum(stages.coefficients))
        after = exact_sum(weight * loss.value(margins + coefficient * signs * answers))
        before = exact_sum(weight * loss.value(margins))
        self._accept(stages, estimator, coefficient, answers, after, before)

    # ------------------------------------------------------------ predictions

    def _staged_values(self, X):
        """Yield the values of the models after each stage, in a column for each."""
        X = self._prepare(X)
        values = np.zeros((n_rows(X), len(self.estimators_)))
        for stage in range(max(map(len, self.estimators_))):
            for k, estimators in enumerate(self.estimators_):
                if stage < len(estimators):
                    answers = self._answers(estimators[stage], X)
                    values[:, k] += self.estimator_weights_[k][stage] * answers
            yield values

    def _prepare(self, X):
        check_is_fitted(self)
        return read_for(self, self.estimators_[0][0], X, reset=False)

    def _answers(self, estimator, X):
        if is_regressor(estimator):
            return predicted_numbers(estimator, X)
        return SIGNS[class_codes(estimator, X, SIGNS)]

    def _decision(self, values):
        return values[:, 0].copy() if len(self.classes_) == 2 else values.copy()

    def staged_decision_function(self, X: MatrixLike) -> Iterator[Any]:
        """Yield the values of ``f`` after each stage.

        Parameters
        ----------
        {any_X}

        Yields
        ------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
            As :meth:`decision_function` with the base estimators so far.
        """
        for values in self._staged_values(X):
            yield self._decision(values)

    def decision_function(self, X: MatrixLike) -> Any:
        """Return the values of ``f``.

        Parameters
        ----------
        {any_X}

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
            ``f`` for the second of two classes, otherwise for each class against the rest.
        """
        *_, values = self._staged_values(X)
        return self._decision(values)

    def _classes_of(self, decision):
        codes = decision > 0 if decision.ndim == 1 else decision.argmax(axis=1)
        return self.classes_.take(codes)

    def staged_predict(self, X: MatrixLike) -> Iterator[np.ndarray]:
        """Yield the predictions after each stage.

        Parameters
        ----------
        {any_X}

        Yields
        ------
        {returned_classes}
        """
        for decision in self.staged_decision_function(X):
            yield self._classes_of(decision)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the classes of samples.

        Parameters
        ----------
        {any_X}

        Returns
        -------
        {returned_classes}
        """
        return self._classes_of(self.decision_function(X))

    @available_if(lambda self: LOSSES[self.loss].proba is not None)
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Return the probabilities of the classes that minimise the expected loss at ``f(x)``.

        The hinge loss does not tell them. One-against-the-rest probabilities are normed.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            Probabilities, classes in the order of ``classes_``.
        """
        decision = self.decision_function(X)
        share = LOSSES[self.loss].proba(decision)
        if decision.ndim == 1:
            return np.stack([1 - share, share], axis=1)
        total = share.sum(axis=1, keepdims=True)
        # Where no class claims anything, the scores decide.
        return np.where(total > 0, share / np.where(total > 0, total, 1), softmax(decision, axis=1))


@inserted
class ForwardStagewiseRegressor(EstimatorMixin, StagewiseMixin, RegressorMixin, BaseEstimator):
    """Additive model for regression, fitted stage by stage.

    The model is ``f = intercept + sum_t alpha_t h_t``, where the intercept is the best constant.
    Stage ``t`` fits ``h_t`` to the residuals ``r_i = y_i - f(x_i)`` ("square"), or to their signs
    ("absolute"), and ``alpha_t`` minimises ``sum_i w_i V(r_i - alpha h_t(x_i))`` exactly; the
    coefficients before it stay as they are. No stage increases the loss, see ``losses_``.

    Parameters
    ----------
    estimator : estimator, default=None
        The weak learner, a regressor that takes ``sample_weight``; None is a
        :class:`~sklearn_sl.tree.DecisionTreeRegressor` with one split.

    loss : {"square", "absolute"}, default="square"
        The loss of a residual.

    {stages}

    n_jobs : int, default=None
        The threads that grow a tree of this package.

    Attributes
    ----------
    {estimator}

    estimators_ : list of regressors
        The base estimators.

    estimator_weights_ : ndarray of shape (n_stages,)
        Their coefficients ``alpha_t``.

    intercept_ : float
        The best constant: the weighted mean, or a weighted median.

    losses_ : ndarray of shape (n_stages,)
        The weighted mean loss after each stage.

    stop_reason_ : str
        What ended the fit: "n_estimators", "perfect", "weak", "tol" or "callback".

    {boosted_features_in}

    See Also
    --------
    AdaBoostRegressor : A weighted median of base estimators.
    sklearn.ensemble.GradientBoostingRegressor : Gradient boosting of regression trees.

    References
    ----------
    .. [1] J. Friedman, "Greedy function approximation: a gradient boosting machine", Annals of
       Statistics 29, 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_sl.ensemble import ForwardStagewiseRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ForwardStagewiseRegressor(learning_rate=0.3).fit(X, y)
    >>> bool((model.losses_[1:] <= model.losses_[:-1]).all()), round(model.score(X, y), 2)
    (True, 0.6)
    """

    estimators_: list[Any]
    estimator_weights_: np.ndarray
    intercept_: float
    losses_: np.ndarray
    stop_reason_: str

    _default_estimator = partial(DecisionTreeRegressor, max_depth=1)
    _parameter_constraints = {
        **StagewiseMixin._parameter_constraints,
        "loss": [StrOptions({"square", "absolute"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        loss: Literal["square", "absolute"] = "square",
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        tol: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Add base estimators stage by stage.

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
        X, y, weight, _ = self._read_training_set(X, y, sample_weight)
        y = y.astype(np.float64)
        own, total = own_weights(weight, len(y))
        share = np.full(len(y), 1 / total) if own is None else own / total
        if self.loss == "square":
            self.intercept_ = float(exact_sum(share * (y - y[0])) + y[0])
        else:
            self.intercept_ = kink_of_least_loss(y, share)
        fitter = number_fitter(self.estimator_, X, y, self.n_jobs)
        rng = check_random_state(self.random_state)
        stages = Stages(np.full(len(y), self.intercept_))
        with Progress(self, name="stage", total=self.n_estimators) as progress:
            while len(stages.estimators) < self.n_estimators and stages.reason == "n_estimators":
                if progress.stop:
                    stages.reason = "callback"
                    break
                with progress.step():
                    self._stage(stages, fitter, y, own, share, rng)
        self.estimators_, self.stop_reason_ = stages.estimators, stages.reason
        self.estimator_weights_ = np.array(stages.coefficients)
        self.losses_ = np.array(stages.losses)
        return self

    def _loss(self, residuals, weight):
        sizes = residuals**2 if self.loss == "square" else np.abs(residuals)
        return exact_sum(weight * sizes)

    def _stage(self, stages, fitter, y, own, weight, rng):
        """Add a base estimator, or find a reason to stop."""
        residuals = y - stages.values
        pull = residuals if self.loss == "square" else np.sign(residuals)
        estimator = make_base_estimator(self.estimator_, rng)
        answers = fitter.fit(estimator, own, pull)
        if not exact_sum(weight * pull * answers) > 0:
            stages.reason = "weak" if residuals.any() else "perfect"
            if not stages.estimators:  # a base estimator must be there, if only to say nothing
                stages.add(estimator, 0.0, answers, self._loss(residuals, weight))
            return
        if self.loss == "square":
            step = exact_sum(weight * residuals * answers) / exact_sum(weight * answers**2)
        else:
            moving = answers != 0
            step = kink_of_least_loss(
                residuals[moving] / answers[moving], (weight * np.abs(answers))[moving]
            )
        coefficient = self._step(stages, step, 1.0)
        after = self._loss(residuals - coefficient * answers, weight)
        before = self._loss(residuals, weight)
        self._accept(stages, estimator, coefficient, answers, after, before)

    def _prepare(self, X):
        check_is_fitted(self)
        return read_for(self, self.estimators_[0], X, reset=False)

    def staged_predict(self, X: MatrixLike) -> Iterator[np.ndarray]:
        """Yield the predictions after each stage.

        Parameters
        ----------
        {any_X}

        Yields
        ------
        y : ndarray of shape (n_samples,)
            Targets.
        """
        X = self._prepare(X)
        values = np.full(n_rows(X), self.intercept_)
        for estimator, coefficient in zip(self.estimators_, self.estimator_weights_, strict=True):
            values += coefficient * predicted_numbers(estimator, X)
            yield values.copy()

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the targets of samples.

        Parameters
        ----------
        {any_X}

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Targets.
        """
        *_, values = self.staged_predict(X)
        return values
