"""Learning curves of a pilot, and the power laws that extend them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.utils import check_random_state

from sklearn_sl.theory._domain import real

N_SIZES = 8
N_RESAMPLES = 200
EXPONENTS = np.linspace(0.05, 2.0, 40)


@dataclass(frozen=True, eq=False)  # arrays have no truth value to compare by
class LearningCurve:
    """The errors of a classifier after training sets of several sizes, and a power law.

    The law ``limit + factor m^(-exponent)``, with both numbers not negative, is fitted to the mean
    errors by least squares; the exponent is one of a grid between 0.05 and 2. It is fitted to
    resampled folds as well, to see how much it depends on them.

    Parameters
    ----------
    sizes : ndarray of shape (n_sizes,)
        The sizes of the training sets.

    errors : ndarray of shape (n_sizes, n_folds)
        The share of errors on each left-out fold.

    random_state : int, default=0
        The seed of the resampling.

    See Also
    --------
    sample_size : Makes plans with it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.theory import LearningCurve
    >>> sizes = np.array([20, 40, 80, 160, 320])
    >>> errors = 0.1 + 1 / sizes
    >>> curve = LearningCurve(sizes, np.column_stack([errors, errors]))
    >>> round(curve.limit, 3), round(curve.factor, 3), round(curve.exponent, 3)
    (0.1, 1.0, 1.0)
    >>> curve.size_for(0.001, excess=True)
    1000.0
    """

    sizes: np.ndarray
    errors: np.ndarray
    random_state: int = 0

    def __post_init__(self):
        sizes, errors = real("sizes", self.sizes, 1.0), real("errors", self.errors, 0.0)
        if errors.ndim != 2 or sizes.shape != errors.shape[:1] or len(sizes) < 3:
            raise ValueError(
                "errors must have a row for each of at least 3 sizes, and a column for each fold; "
                f"got the shapes {sizes.shape} of sizes and {errors.shape} of errors."
            )
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "errors", errors)
        n_folds = errors.shape[1]
        rng = np.random.default_rng(self.random_state)
        folds = rng.integers(n_folds, size=(N_RESAMPLES, n_folds))
        means = np.vstack([errors.mean(axis=1), errors.T[folds].mean(axis=1)])
        object.__setattr__(self, "_laws", fit_power_laws(sizes, means))

    @property
    def limit(self):
        """The error that no training set goes below."""
        return float(self._laws[0, 0])

    @property
    def factor(self):
        """The factor of the power."""
        return float(self._laws[1, 0])

    @property
    def exponent(self):
        """The exponent, positive."""
        return float(self._laws[2, 0])

    @property
    def last(self):
        """The mean error after the largest training sets."""
        return float(self.errors[-1].mean())

    def predict(self, sizes: Any) -> np.ndarray:
        """Return the errors of the power law.

        Parameters
        ----------
        sizes : array-like
            Sizes of training sets.

        Returns
        -------
        errors : ndarray
            The errors.
        """
        return self.limit + self.factor * real("sizes", sizes, 1.0) ** -self.exponent

    def size_for(
        self, epsilon: float, delta: float | None = None, *, excess: bool = False
    ) -> float:
        """Return the size of the training set for an error.

        Parameters
        ----------
        epsilon : float
            The error.

        delta : float, default=None
            Return the size that a share ``delta`` of the laws of resampled folds exceeds; None is
            the law itself.

        excess : bool, default=False
            Measure the error from the limit.

        Returns
        -------
        size : float
            A whole number, or infinite.
        """
        limit, factor, exponent = self._laws
        room = epsilon if excess else epsilon - limit
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            sizes = np.where(factor > 0, (factor / np.maximum(room, 0.0)) ** (1 / exponent), 1.0)
        sizes = np.where((factor == 0) & (np.asarray(room) < 0), np.inf, sizes)
        size = sizes[0]
        if delta is not None:
            size = np.quantile(sizes[1:], 1 - delta, method="higher")
        return float(np.ceil(np.fmax(size, 1.0) * (1 - 1e-12)))

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as a dictionary of plain values.

        Returns
        -------
        curve : dict
            With ``sizes``, mean ``errors``, ``limit``, ``factor`` and ``exponent``.
        """
        return {
            "sizes": self.sizes.tolist(),
            "errors": self.errors.mean(axis=1).tolist(),
            "limit": self.limit,
            "factor": self.factor,
            "exponent": self.exponent,
        }


def fit_power_laws(sizes, errors):
    """Return limits, factors and exponents of ``limit + factor m^-exponent`` by least squares.

    For each exponent of the grid the best limit and factor that are not negative are known in
    closed form: those without bounds, or the best with one of them zero. ``errors`` has a row for
    each curve; the result has a column.
    """
    z = sizes ** -EXPONENTS[:, None]
    mean_z, mean_e = z.mean(axis=1), errors.mean(axis=1)[:, None]
    centred = z - mean_z[:, None]
    slope = (errors @ centred.T) / (centred**2).sum(axis=1)
    slope = np.where(slope > 0, slope, 0.0)
    limit = mean_e - slope * mean_z
    through_origin = np.maximum((errors @ z.T) / (z**2).sum(axis=1), 0.0)
    slope = np.where(limit < 0, through_origin, slope)
    limit = np.maximum(limit, 0.0)
    fitted = limit[..., None] + slope[..., None] * z
    best = ((errors[:, None, :] - fitted) ** 2).sum(axis=2).argmin(axis=1)
    row = np.arange(len(errors))
    return np.vstack([limit[row, best], slope[row, best], EXPONENTS[best]])


def run_pilot(estimator, X, y, cv, random_state, n_jobs):
    """Fit clones to parts of a sample; return their learning curve."""
    if not is_classifier(estimator):
        raise ValueError(
            "estimator must be a classifier, whose errors are shares between 0 and 1; got "
            f"{type(estimator).__name__}."
        )
    y = np.asarray(y)
    seed = check_random_state(random_state).randint(2**31)
    folds = list(StratifiedKFold(cv, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))
    largest = min(len(train) for train, _ in folds)
    least = min(largest, max(10, 2 * len(np.unique(y)), largest // 20))
    sizes = np.unique(np.geomspace(least, largest, N_SIZES).astype(int))
    if len(sizes) < 3:
        raise ValueError(f"A pilot needs more samples than {len(y)}, for a learning curve.")
    rng = np.random.default_rng(seed)
    folds = [(in_proportion(train, y, rng), test) for train, test in folds]
    splits = [(train[:size], test) for size in sizes for train, test in folds]
    scores = cross_val_score(
        estimator, X, y, cv=splits, scoring="accuracy", n_jobs=n_jobs, error_score="raise"
    )
    return LearningCurve(sizes, 1 - scores.reshape(len(sizes), len(folds)), seed)


def in_proportion(train, y, rng):
    """Return the rows of a training set in a random order whose beginnings have all classes.

    The ``r``-th row of a class of ``n`` rows comes at the place ``r / n``: any beginning has about
    the shares of the whole.
    """
    train = rng.permutation(train)
    place = np.empty(len(train))
    for label in np.unique(y[train]):
        rows = np.flatnonzero(y[train] == label)
        place[rows] = np.arange(len(rows)) / len(rows)
    return train[np.argsort(place, kind="stable")]
