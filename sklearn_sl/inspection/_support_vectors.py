"""A picture of a support vector machine: regions, margins and support vectors."""

from __future__ import annotations

import copy
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d

from sklearn_sl.inspection._pyplot import described, pyplot

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

# The colours of up to ten classes, chosen by M. Petroff to be told apart by everyone.
COLORS = (
    "#3f90da",
    "#ffa90e",
    "#bd1f01",
    "#94a4a2",
    "#832db6",
    "#a96b59",
    "#e76300",
    "#b9ac70",
    "#717581",
    "#92dadd",
)
MANY_COLORS = "gist_rainbow"
# A sample that misses its margin by less is on it, as far as solvers and eyes can tell.
ON_THE_MARGIN = 1e-3
# How strongly the regions are coloured: inside the margin, and beyond it.
PALE, STRONG = 0.15, 0.4
POINTS = {"s": 28, "linewidths": 0.5, "edgecolors": "white", "zorder": 2}
ON_MARGIN = {"s": 90, "linewidths": 1.6, "edgecolors": "black", "zorder": 3}
VIOLATING = {"s": 55, "linewidths": 0.9, "edgecolors": "0.25", "marker": "s", "zorder": 3}
LINES = {"colors": "black", "linewidths": 1.2, "zorder": 1.5}


@described
class SupportVectorDisplay:
    """A picture of a support vector machine: regions, margins and support vectors.

    A classifier of two features is shown by its regions. Two classes have three lines, ``f = -1``,
    ``0`` and ``1``, with the margin between the outer ones; several classes have the boundaries
    of their regions. A regression of one feature is shown by the prediction and the tube of
    ``epsilon`` around it. Support vectors on the margin, or on the rim of the tube, are circled;
    those that violate it are framed by squares. With the hinge loss these are the bounded ones,
    ``alpha = C``. With one machine per pair of classes, to violate one margin is enough.

    Make it by :meth:`from_estimator`.

    Parameters
    ----------
    X : ndarray of shape (n_samples, 2) or (n_samples, 1)
        The training samples.

    y : ndarray of shape (n_samples,)
        The targets; for a classifier the classes as numbers from zero.

    grid : tuple of ndarray
        The coordinates of the grid: two arrays of shape (grid_resolution, grid_resolution), or
        one of shape (grid_resolution,) for a regression.

    response : ndarray
        On the grid: the values ``f`` for two classes, the predicted classes as numbers for more,
        the predictions for a regression.

    support : ndarray of shape (n_SV,)
        The rows of the support vectors.

    violating : ndarray of shape (n_SV,)
        Whether the support vector misses its margin or its tube.

    classes : ndarray of shape (n_classes,), default=None
        The labels; None for a regression.

    epsilon : float, default=None
        Half the width of the tube; None for a classifier.

    labels : tuple of str, default=("", "")
        The labels of the axes.

    Attributes
    ----------
    {axes}

    surface_ : matplotlib ContourSet, or collection for the tube of a regression
        The coloured regions.

    lines_ : matplotlib ContourSet, or list of lines for a regression
        The margins or boundaries; prediction and tube.

    points_ : list of matplotlib PathCollection
        The samples, class by class.

    support_ : matplotlib PathCollection
        The circles around the support vectors on the margin.

    violating_ : matplotlib PathCollection
        The squares around the support vectors that violate the margin.

    See Also
    --------
    sklearn.inspection.DecisionBoundaryDisplay : The regions of any classifier.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_blobs
    >>> from sklearn_sl.inspection import SupportVectorDisplay
    >>> from sklearn_sl.svm import SVC
    >>> X, y = make_blobs(40, centers=2, random_state=6)
    >>> model = SVC(kernel="linear").fit(X, y)
    >>> display = SupportVectorDisplay.from_estimator(model, X, y)
    >>> len(display.support_.get_offsets())  # on the margin
    3
    >>> plt.show()
    """

    ax_: Any
    figure_: Any
    surface_: Any
    lines_: Any
    points_: list[Any]
    support_: Any
    violating_: Any

    def __init__(
        self,
        *,
        X: Any,
        y: np.ndarray,
        grid: tuple[Any, ...],
        response: np.ndarray,
        support: np.ndarray,
        violating: np.ndarray,
        classes: np.ndarray | None = None,
        epsilon: float | None = None,
        labels: tuple[Any, ...] = ("", ""),
    ) -> None:
        self.X = X
        self.y = y
        self.grid = grid
        self.response = response
        self.support = support
        self.violating = violating
        self.classes = classes
        self.epsilon = epsilon
        self.labels = labels

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        grid_resolution: int = 200,
        eps: float = 0.1,
        ax: Any = None,
        colors: list[Any] | None = None,
        legend: bool = True,
    ) -> Self:
        """Plot a fitted machine with the samples that it was fitted on.

        Parameters
        ----------
        estimator : estimator
            A fitted :class:`~sklearn_sl.svm.SVC`, :class:`~sklearn_sl.svm.MulticlassSVC`,
            :class:`~sklearn_sl.svm.SVR` or a machine of scikit-learn with the same attributes; a
            pipeline that ends with it, or a search that found it.

        X : {array-like, dataframe} of shape (n_samples, 2) or (n_samples, 1)
            The samples it was fitted on, two features for a classifier and one for a regression.

        y : array-like of shape (n_samples,)
            Their targets.

        grid_resolution : int, default=200
            The number of grid points along each axis.

        eps : float, default=0.1
            The space around the samples, in units of their range.

        {ax}

        colors : list of matplotlib colors, default=None
            The colour of each class, or that of a regression.

        legend : bool, default=True
            Whether to explain the symbols.

        Returns
        -------
        display : SupportVectorDisplay
            The display, plotted.
        """
        estimator = getattr(estimator, "best_estimator_", estimator)
        check_is_fitted(estimator)
        before, machine = _split(estimator)
        regression = is_regressor(machine)
        features = _check_features(X, 1 if regression else 2, machine)
        transformed = before.transform(X) if before is not None else X
        _check_training_set(machine, transformed)
        target, classes = _encode(machine, y, regression)
        grid = _grid(features, grid_resolution, eps)
        slack = _slack(machine, transformed, target, regression)
        display = cls(
            X=features,
            y=target,
            grid=grid,
            response=_response(estimator, machine, X, grid),
            support=machine.support_,
            violating=slack[machine.support_] > ON_THE_MARGIN * _unit(machine, regression),
            classes=classes,
            epsilon=machine.epsilon if regression else None,
            labels=_labels(X, regression),
        )
        return display.plot(ax=ax, colors=colors, legend=legend)

    def plot(self, *, ax: Any = None, colors: list[Any] | None = None, legend: bool = True) -> Self:
        """Plot the picture, once more or on other axes.

        Parameters
        ----------
        {ax}

        colors : list of matplotlib colors, default=None
            The colour of each class, or that of a regression.

        legend : bool, default=True
            Whether to explain the symbols.

        Returns
        -------
        display : SupportVectorDisplay
            The display itself.
        """
        plt = pyplot("SupportVectorDisplay")
        if ax is None:
            _, ax = plt.subplots()
        self.ax_, self.figure_ = ax, ax.figure
        if self.classes is None:
            self._plot_tube(_class_colors(colors, 1)[0])
        else:
            self._plot_regions(_class_colors(colors, len(self.classes)))
        self._mark_support()
        ax.set(xlabel=self.labels[0], ylabel=self.labels[1])
        if legend:
            ax.legend(loc="best", fontsize="x-small")
        return self

    def _plot_tube(self, color):
        ax, (x,), f = self.ax_, self.grid, self.response
        low, high = f - self.epsilon, f + self.epsilon
        self.surface_ = ax.fill_between(x, low, high, color=color, alpha=PALE, linewidth=0)
        self.lines_ = [
            *ax.plot(x, f, color="black", linewidth=1.4, label="prediction"),
            *ax.plot(x, low, "k--", linewidth=0.9, label=r"$\pm\,\epsilon$"),
            *ax.plot(x, high, "k--", linewidth=0.9),
        ]
        self.points_ = [ax.scatter(self.X[:, 0], self.y, color=color, **POINTS)]
        ax.set_xlim(x[0], x[-1])

    def _plot_regions(self, colors):
        ax, binary = self.ax_, len(colors) == 2
        if binary:
            levels, lines = [-np.inf, -1, 0, 1, np.inf], [-1, 0, 1]
            strengths = (STRONG, PALE, PALE, STRONG)
            shades = [(colors[c], strength) for c, strength in zip((0, 0, 1, 1), strengths)]
        else:
            levels = np.arange(len(colors) + 1) - 0.5
            lines, shades = levels[1:-1], [(color, STRONG) for color in colors]
        self.surface_ = ax.contourf(*self.grid, self.response, levels=levels, colors=shades)
        styles = ["dashed", "solid", "dashed"] if binary else "solid"
        self.lines_ = ax.contour(
            *self.grid, self.response, levels=lines, linestyles=styles, **LINES
        )
        self.points_ = [
            ax.scatter(*self.X[self.y == c].T, color=color, label=str(label), **POINTS)
            for c, (color, label) in enumerate(zip(colors, self.classes, strict=True))
        ]

    def _mark_support(self):
        if self.classes is None:
            where, names = np.column_stack([self.X, self.y]), ("on the rim", "outside the tube")
        else:
            where, names = self.X, ("on the margin", "short of the margin")
        groups = self.support[~self.violating], self.support[self.violating]
        self.support_, self.violating_ = (
            self.ax_.scatter(
                *where[rows].T,
                facecolors="none",
                # A symbol that is not in the picture needs no explanation.
                label=f"support vector {name}" if len(rows) else None,
                **style,
            )
            for rows, name, style in zip(groups, names, (ON_MARGIN, VIOLATING), strict=True)
        )


def _class_colors(colors, n):
    """Return the colours of ``n`` classes."""
    if colors is None and n <= len(COLORS):
        return list(COLORS[:n])
    if colors is None:
        return list(
            pyplot("SupportVectorDisplay").get_cmap(MANY_COLORS)(np.linspace(0, 1, n))[:, :3]
        )
    if len(colors) != n:
        raise ValueError(f"colors must have {n} entries, one for each class; got {len(colors)}.")
    return list(colors)


# ---------------------------------------------------------------- what is to be seen


def _split(estimator):
    """Return what comes before the machine, or None, and the machine."""
    if isinstance(estimator, Pipeline):
        return (estimator[:-1] if len(estimator) > 1 else None), estimator[-1]
    return None, estimator


def _check_features(X, n_features, machine):
    """Return the samples as a matrix of one or two columns."""
    if not hasattr(machine, "support_"):
        raise ValueError(
            "SupportVectorDisplay requires a support vector machine; got "
            f"{type(machine).__name__}, which has no support_."
        )
    features = check_array(X, dtype=np.float64, input_name="X")
    if features.shape[1] != n_features or getattr(machine, "kernel", "") == "precomputed":
        raise ValueError(
            "SupportVectorDisplay needs exactly "
            f"{'one feature' if n_features == 1 else 'two features'} and a kernel of features; got "
            f"{features.shape[1]} and kernel={getattr(machine, 'kernel', None)!r}."
        )
    return features


def _check_training_set(machine, X):
    """Raise unless the support vectors are the rows of ``X`` that they should be."""
    support = machine.support_
    X = np.asarray(X)
    if not len(support):
        return
    inside = len(support) and support.max() < len(X)
    vectors = machine.support_vectors_
    if not inside or not np.allclose(X[support], np.asarray(vectors), rtol=1e-5, atol=1e-8):
        raise ValueError(
            "X must be the training set, in the same order: X[support_] differs from the support "
            "vectors of the estimator."
        )


def _encode(machine, y, regression):
    """Return the targets as numbers, and the classes."""
    y = column_or_1d(y)
    if regression:
        return y.astype(np.float64), None
    classes = machine.classes_
    if not np.isin(y, classes).all():
        raise ValueError("y contains labels that were not seen in fit.")
    return np.searchsorted(classes, y), classes


def _grid(X, resolution, eps):
    """Return the coordinates of a grid over the samples and some space around them."""
    low, high = X.min(axis=0), X.max(axis=0)
    space = eps * np.where(high > low, high - low, 1.0)
    axes = [np.linspace(*ends, resolution) for ends in zip(low - space, high + space)]
    return tuple(np.meshgrid(*axes))


def _response(estimator, machine, X, grid):
    """Return what is drawn at the points of the grid."""
    points = np.column_stack([coordinate.ravel() for coordinate in grid])
    if hasattr(X, "iloc"):  # a data frame knows its columns, and so does the estimator
        points = type(X)(points, columns=X.columns)
    if is_regressor(machine):
        return estimator.predict(points)
    if len(machine.classes_) == 2:
        f = estimator.decision_function(points)
        f = f if f.ndim == 1 else f[:, 1] - f[:, 0]
    else:
        f = np.searchsorted(machine.classes_, estimator.predict(points))
    return f.reshape(grid[0].shape)


def _slack(machine, X, y, regression):
    """Return by how much each sample misses its margin or its tube."""
    if regression:
        return np.maximum(np.abs(y - machine.predict(X)) - machine.epsilon, 0)
    n_classes = len(machine.classes_)
    if n_classes > 2 and hasattr(machine, "decision_function_shape"):
        return _slack_of_pairs(machine, X, y)
    f = machine.decision_function(X)
    if f.ndim == 1:
        return np.maximum(1 - np.where(y == 1, f, -f), 0)
    own = np.take_along_axis(f, y[:, None], axis=1)[:, 0]
    others = np.where(np.arange(n_classes) == y[:, None], -np.inf, f).max(axis=1)
    return np.maximum(1 - own + others, 0)


def _slack_of_pairs(machine, X, y):
    """Return by how much each sample misses the margin of one of its pairs of classes at least."""
    pairs = copy.copy(machine)
    pairs.decision_function_shape = "ovo"
    slack = np.zeros(len(y))
    for (first, second), f in zip(
        combinations(range(len(machine.classes_)), 2), pairs.decision_function(X).T, strict=True
    ):
        sign = np.where(y == first, 1.0, np.where(y == second, -1.0, np.nan))
        slack = np.fmax(slack, 1 - sign * f)
    return slack


def _unit(machine, regression):
    """Return the unit in which a slack is small."""
    return max(machine.epsilon, ON_THE_MARGIN) if regression else 1.0


def _labels(X, regression):
    """Return the labels of the axes: the columns of a data frame, or the feature numbers."""
    names = [str(name) for name in getattr(X, "columns", ["feature 0", "feature 1"])]
    return (names[0], "y") if regression else tuple(names[:2])
