"""The bias-variance decomposition of the squared error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.parallel import Parallel, delayed

from sklearn_sl.theory._domain import real

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_sl._typing import ArrayLike


@dataclass(frozen=True)
class BiasVariance:
    """The bias-variance decomposition of predictions after many training sets.

    At a test point ``x`` let ``A`` be the prediction after a random training set, and let
    ``y' = f(x) + noise`` be a new target, independent of it. Then::

        E (y' - A)^2  =  E (y' - f(x))^2  +  (f(x) - E A)^2  +  E (A - E A)^2
            total     =       noise       +   squared bias   +     variance

    The estimates from ``R`` training sets are unbiased. For the variance that is the usual one,
    which divides by ``R - 1``. The plug-in estimate of the squared bias, ``(f - mean A)^2``, is too
    large by ``variance / R``, which is subtracted; where there is little bias the result can be
    negative. What the one loses the other gains, so the identity stays exact: ``squared_bias`` and
    ``variance`` add up to the mean of ``(f - A)^2`` over the training sets.

    Parameters
    ----------
    predictions : ndarray of shape (n_repeats, n_test) or (n_repeats, n_test, n_outputs)
        What was predicted after each training set; at least three of them.

    f : ndarray of shape (n_test,) or (n_test, n_outputs)
        The regression function ``f(x) = E[y | x]`` at the test points.

    noise : float or ndarray of the shape of f, default=0.0
        The variance of ``y`` at the test points.

    See Also
    --------
    bias_variance : Draws the training sets and fits an estimator to them.

    References
    ----------
    .. [1] S. Geman, E. Bienenstock and R. Doursat, "Neural networks and the bias/variance
       dilemma", Neural Computation 4, 1992.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.theory import BiasVariance
    >>> parts = BiasVariance(np.array([[1.0, 2.0], [2.0, 2.0], [3.0, 2.0]]), np.array([2.0, 1.0]))
    >>> parts.variance, parts.squared_bias, parts.total
    (array([1., 0.]), array([-0.33333333,  1.        ]), array([0.66666667, 1.        ]))
    """

    predictions: np.ndarray
    f: np.ndarray
    noise: float | np.ndarray = 0.0

    def __post_init__(self):
        predictions, f = real("predictions", self.predictions), real("f", self.f)
        noise = real("noise", self.noise, 0.0)
        if predictions.ndim < 2 or f.shape != predictions.shape[1:]:
            raise ValueError(
                f"f must have the shape {predictions.shape[1:]} of the predictions of one training "
                f"set; got {f.shape}."
            )
        if len(predictions) < 3:
            raise ValueError(f"predictions must have at least 3 repeats; got {len(predictions)}.")
        if noise.ndim and noise.shape != f.shape:
            raise ValueError(
                f"noise must be a number or have the shape {f.shape} of f; got {noise.shape}."
            )
        noise = np.broadcast_to(noise, f.shape)
        for name, value in {"predictions": predictions, "f": f, "noise": noise}.items():
            object.__setattr__(self, name, value)

    @property
    def n_repeats(self):
        """The number of training sets."""
        return len(self.predictions)

    @property
    def variance(self):
        """The variance at each test point."""
        return self.predictions.var(axis=0, ddof=1)

    @property
    def squared_bias(self):
        """The squared bias at each test point, without bias of its own."""
        return (self.f - self.predictions.mean(axis=0)) ** 2 - self.variance / self.n_repeats

    @property
    def total(self):
        """The expected squared error at each test point: noise, squared bias and variance."""
        return self.noise + self.squared_bias + self.variance

    @property
    def mean(self):
        """Means over the test points: ``noise``, ``squared_bias``, ``variance`` and ``total``."""
        names = "noise", "squared_bias", "variance", "total"
        return Bunch(**{name: float(getattr(self, name).mean()) for name in names})

    @property
    def standard_error(self):
        """Standard errors of the means, over training sets: those of the jackknife.

        The test points and the noise are taken as given.
        """
        R = self.n_repeats
        points = tuple(range(1, self.predictions.ndim))
        error = np.mean((self.predictions - self.f) ** 2, axis=points)
        spread = np.mean((self.predictions - self.predictions.mean(axis=0)) ** 2, axis=points)
        # The pseudo-values of the jackknife, but for a constant.
        pseudo = {"variance": R / (R - 2) * spread, "total": error}
        pseudo["squared_bias"] = pseudo["total"] - pseudo["variance"]
        errors = {name: float(np.std(pseudo[name], ddof=1) / np.sqrt(R)) for name in pseudo}
        return Bunch(noise=0.0, **errors)


def bias_variance(
    estimator: Any,
    draw: Callable[..., Any],
    X_test: ArrayLike,
    f: Callable[..., Any] | ArrayLike,
    *,
    noise_variance: ArrayLike = 0.0,
    n_repeats: int = 100,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> Any:
    """Return the bias-variance decomposition of an estimator, by simulation.

    Clones of ``estimator`` are fitted to ``n_repeats`` independent training sets. What they predict
    for the test points is decomposed, for the squared error::

        E (y' - A)^2 = noise + (f(x) - E A)^2 + E (A - E A)^2

    with the prediction ``A`` at ``x`` and a new target ``y' = f(x) + noise``. For a classifier
    that predicts -1 and 1 the labels are taken as numbers: then ``f(x) = P(1 | x) - P(-1 | x)``,
    the noise is ``1 - f(x)^2``, and the total is four times the probability of an error.

    Parameters
    ----------
    estimator : estimator object
        What to fit. Its own random states, those of its parts included, are drawn anew for each
        training set, so that its randomness is part of the variance.

    draw : callable
        ``draw(rng) -> X, y`` returns a training set, drawn by the given
        :class:`numpy.random.Generator`.

    X_test : array-like of shape (n_test, n_features)
        The test points.

    f : callable or array-like of shape (n_test,)
        The regression function ``f(x) = E[y | x]``, or its values at the test points. A callable
        is called with ``X_test``.

    noise_variance : float or array-like of shape (n_test,), default=0.0
        The variance of ``y`` at the test points.

    n_repeats : int, default=100
        The number of training sets, at least three.

    random_state : int, RandomState instance or None, default=None
        The seed of the training sets and of the estimators. For a given one the first training
        sets are the same for every ``n_repeats`` and ``n_jobs``.

    n_jobs : int, default=None
        The number of joblib's workers.

    Returns
    -------
    parts : BiasVariance
        With ``noise``, ``squared_bias``, ``variance`` and their sum ``total`` at each test point,
        ``mean`` and ``standard_error`` of them all, and the ``predictions``.

    References
    ----------
    .. [1] S. Geman, E. Bienenstock and R. Doursat, "Neural networks and the bias/variance
       dilemma", Neural Computation 4, 1992.

    Examples
    --------
    More neighbours: less variance, more bias.

    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from sklearn_sl.theory import bias_variance
    >>> def f(X):
    ...     return np.sin(4 * X[:, 0])
    >>> def draw(rng):
    ...     X = rng.uniform(size=(50, 1))
    ...     return X, f(X) + rng.normal(scale=0.5, size=50)
    >>> X_test = np.linspace(0, 1, 21)[:, None]
    >>> for k in (1, 5, 25):
    ...     knn = KNeighborsRegressor(k)
    ...     parts = bias_variance(knn, draw, X_test, f, noise_variance=0.25, random_state=0)
    ...     print(k, {name: round(value, 2) for name, value in parts.mean.items()})
    1 {'noise': 0.25, 'squared_bias': 0.0, 'variance': 0.25, 'total': 0.5}
    5 {'noise': 0.25, 'squared_bias': 0.0, 'variance': 0.06, 'total': 0.31}
    25 {'noise': 0.25, 'squared_bias': 0.14, 'variance': 0.02, 'total': 0.41}
    """
    if not (isinstance(n_repeats, int | np.integer) and n_repeats >= 3):
        raise ValueError(f"n_repeats must be an integer >= 3; got {n_repeats!r}.")
    if not callable(draw):
        raise ValueError(f"draw must be a function of a random generator; got {draw!r}.")
    entropy = check_random_state(random_state).randint(2**31, size=4, dtype=np.int64)
    seeds = np.random.SeedSequence(entropy.tolist()).spawn(n_repeats)
    predictions = Parallel(n_jobs=n_jobs)(
        delayed(_predict_once)(estimator, draw, X_test, np.random.default_rng(seed))
        for seed in seeds
    )
    return BiasVariance(predictions, f(X_test) if callable(f) else f, noise_variance)


def _predict_once(estimator, draw, X_test, rng):
    """Fit a clone to a new training set and return what it predicts for the test points."""
    return fit_once(estimator, draw, rng)[0].predict(X_test)


def fit_once(estimator, draw, rng):
    """Fit a clone to a new training set, with random states drawn anew; return it and the set."""
    X, y = draw(rng)
    model = clone(estimator)
    names = [name for name in sorted(model.get_params()) if name.split("__")[-1] == "random_state"]
    model.set_params(**{name: int(rng.integers(2**31)) for name in names})
    return model.fit(X, y), X, y
