"""The decomposition of an error into approximation and estimation, by simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from sklearn_sl.theory._bias_variance import fit_once
from sklearn_sl.theory._domain import real, vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_sl._typing import ArrayLike


@dataclass(frozen=True, eq=False)  # arrays have no truth value to compare by
class ErrorDecomposition:
    """The error after many training sets, as approximation and estimation.

    ::

        L_D(h_S)  =  min_{h in H} L_D(h)  +  (L_D(h_S) - min_{h in H} L_D(h))
                  =     approximation     +            estimation

    The approximation error is due to the choice of the class ``H``, and no training set makes it
    smaller. The estimation error is due to the training set.

    Parameters
    ----------
    errors : ndarray of shape (n_repeats,)
        The error after each training set.

    approximation : float
        The error of the best hypothesis of the class.

    training_errors : ndarray of shape (n_repeats,) or None, default=None
        The errors on the training sets themselves.

    See Also
    --------
    error_decomposition : Draws the training sets and fits an estimator to them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.theory import ErrorDecomposition
    >>> parts = ErrorDecomposition(np.array([0.2, 0.25, 0.3]), 0.1)
    >>> round(parts.estimation, 3), round(parts.standard_error, 4)
    (0.15, 0.0289)
    """

    errors: np.ndarray
    approximation: float
    training_errors: np.ndarray | None = None

    def __post_init__(self):
        object.__setattr__(self, "errors", vector("errors", self.errors))
        object.__setattr__(self, "approximation", float(real("approximation", self.approximation)))

    @property
    def estimation(self):
        """The mean estimation error."""
        return self.total - self.approximation

    @property
    def total(self):
        """The mean error."""
        return float(self.errors.mean())

    @property
    def standard_error(self):
        """The standard error of the mean error, and of the estimation error; NaN of one repeat."""
        n = len(self.errors)
        return float(self.errors.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")

    @property
    def mean(self):
        """The parts as a dictionary: ``approximation``, ``estimation`` and ``total``."""
        return {
            "approximation": self.approximation,
            "estimation": self.estimation,
            "total": self.total,
        }

    def tail(self, delta: ArrayLike) -> float | np.ndarray:
        """Return the error that a share ``delta`` of the training sets exceeds.

        Parameters
        ----------
        delta : float or array-like
            The share, between 0 and 1.

        Returns
        -------
        error : float or ndarray
            The quantile ``1 - delta`` of the errors.
        """
        quantile = np.quantile(self.errors, 1 - real("delta", delta, 0.0, 1.0))
        return quantile if np.ndim(quantile) else float(quantile)


def error_decomposition(
    estimator: Any,
    draw: Callable[[np.random.Generator], tuple[Any, Any]],
    X_test: Any,
    y_test: ArrayLike,
    *,
    best: Any = None,
    loss: Callable[[np.ndarray, np.ndarray], ArrayLike] | None = None,
    n_repeats: int = 100,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ErrorDecomposition:
    """Decompose the error of an estimator into approximation and estimation, by simulation.

    The distribution ``D`` is the uniform one on the test samples, so that errors are exact. The
    best hypothesis of the class is the estimator fitted to all test samples: if the estimator is
    empirical risk minimisation for ``loss``, no other hypothesis of its class has a smaller error,
    and the estimation error is not negative. For other estimators, those that regularise or that
    minimise a surrogate, give ``best``.

    Parameters
    ----------
    estimator : estimator
        The estimator to fit. Its random states are redrawn for each training set.

    draw : callable
        ``draw(rng) -> X, y`` returns a training set, drawn by the given
        :class:`numpy.random.Generator`.

    X_test : array-like of shape (n_test, n_features)
        A large test set.

    y_test : array-like of shape (n_test,)
        Their labels or targets.

    best : fitted estimator or float, default=None
        The best hypothesis of the class, or its error. None fits a clone to the test samples.

    loss : callable, default=None
        ``loss(y, prediction)`` returns the loss of each sample. None is the zero-one loss for
        classifiers, and the squared error otherwise.

    n_repeats : int, default=100
        The number of training sets.

    random_state : int, RandomState instance or None, default=None
        The seed of the training sets and of the estimators. For a given one the first training
        sets are the same for every ``n_repeats`` and ``n_jobs``.

    n_jobs : int, default=None
        The number of joblib's workers.

    Returns
    -------
    parts : ErrorDecomposition
        With the ``errors`` after each training set, ``approximation``, ``estimation``, ``total``
        and ``standard_error``.

    See Also
    --------
    bias_variance : The decomposition of the squared error at each test point.
    erm_excess : The same for a list of hypotheses.

    References
    ----------
    .. [1] S. Shalev-Shwartz and S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press, 2014, section 5.2.

    Examples
    --------
    Trees of more leaves: a smaller approximation error, a larger estimation error.

    >>> import numpy as np
    >>> from sklearn_sl.theory import error_decomposition
    >>> from sklearn_sl.tree import DecisionTreeRegressor
    >>> def sample(rng, n):
    ...     X = rng.uniform(size=(n, 1))
    ...     return X, np.sin(9 * X[:, 0]) + rng.normal(scale=0.5, size=n)
    >>> X_test, y_test = sample(np.random.default_rng(0), 5000)
    >>> for leaves in (2, 8, 32):
    ...     tree = DecisionTreeRegressor(max_leaf_nodes=leaves)
    ...     parts = error_decomposition(
    ...         tree, lambda rng: sample(rng, 50), X_test, y_test, random_state=0
    ...     )
    ...     print(leaves, {name: round(value, 2) for name, value in parts.mean.items()})
    2 {'approximation': 0.62, 'estimation': 0.04, 'total': 0.65}
    8 {'approximation': 0.27, 'estimation': 0.11, 'total': 0.38}
    32 {'approximation': 0.24, 'estimation': 0.25, 'total': 0.5}
    """
    if not (isinstance(n_repeats, int | np.integer) and n_repeats >= 1):
        raise ValueError(f"n_repeats must be an integer >= 1; got {n_repeats!r}.")
    if not callable(draw):
        raise ValueError(f"draw must be a function of a random generator; got {draw!r}.")
    if loss is None:
        loss = _zero_one if is_classifier(estimator) else _squared
    y_test = np.asarray(y_test)
    if best is None:
        best = clone(estimator).fit(X_test, y_test)
    if hasattr(best, "predict"):
        best = np.mean(loss(y_test, best.predict(X_test)))
    entropy = check_random_state(random_state).randint(2**31, size=4, dtype=np.int64)
    seeds = np.random.SeedSequence(entropy.tolist()).spawn(n_repeats)
    results = Parallel(n_jobs=n_jobs)(
        delayed(_errors_once)(estimator, draw, X_test, y_test, loss, np.random.default_rng(seed))
        for seed in seeds
    )
    errors, training_errors = np.transpose(results)
    return ErrorDecomposition(errors, best, training_errors)


def _zero_one(y, prediction):
    return np.asarray(y) != prediction


def _squared(y, prediction):
    return (np.asarray(y) - prediction) ** 2


def _errors_once(estimator, draw, X_test, y_test, loss, rng):
    """Fit a clone to a new training set; return its error and its training error."""
    model, X, y = fit_once(estimator, draw, rng)
    return np.mean(loss(y_test, model.predict(X_test))), np.mean(loss(y, model.predict(X)))
