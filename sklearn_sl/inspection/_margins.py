"""A picture of the margins of a vote."""

from __future__ import annotations

import copy
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._sklearn import check_sample_weight
from sklearn_sl.inspection._pyplot import described, pyplot

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike

COLOURS = ["#3f90da", "#ffa90e", "#bd1f01", "#832db6", "#94a4a2", "#a96b59"]
BOUNDARY = {"color": "0.35", "linewidth": 1.0, "linestyle": "dotted"}


@described
class MarginDisplay:
    """The margins of a boosted vote: which share of the samples has at most which margin.

    The margin of a sample is the share of the votes for its class minus that for the best other
    class. It is between -1 and 1, and the sample is misclassified if it is negative (if it is zero,
    the vote is a tie). A line is the cumulative distribution of the margins, so that its height
    left of zero is the error, and the further it is to the right, the larger are the majorities.
    The height at ``theta`` is the first term of :func:`~sklearn_sl.theory.margin_bound`.

    Make it by :meth:`from_estimator` or :meth:`from_margins`.

    Parameters
    ----------
    margins : dict of str to ndarray
        For each line, by its name, the distinct margins in increasing order.

    shares : dict of str to ndarray
        For each line the share of samples with at most these margins.

    Attributes
    ----------
    {axes}

    lines_ : list of matplotlib Line2D
        The distributions.

    boundary_line_ : matplotlib Line2D
        The line at zero, left of which samples are misclassified.

    See Also
    --------
    sklearn_sl.ensemble.AdaBoostClassifier : Has ``margins`` and ``margin_cdf``.
    sklearn_sl.theory.margin_bound : What the margins say about the test error.

    References
    ----------
    .. [1] R. Schapire, Y. Freund, P. Bartlett and W. S. Lee, "Boosting the margin: a new
       explanation for the effectiveness of voting methods", Annals of Statistics 26, 1998.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn_sl.ensemble import AdaBoostClassifier
    >>> from sklearn_sl.inspection import MarginDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=100).fit(X, y)
    >>> display = MarginDisplay.from_estimator(model, X, y, rounds=[5, 100])
    >>> [round(float(margins[0]), 2) for margins in display.margins.values()]  # the smallest
    [-0.35, 0.08]
    >>> plt.show()
    """

    ax_: Any
    figure_: Any
    lines_: list[Any]
    boundary_line_: Any

    def __init__(self, *, margins: dict[Any, Any], shares: dict[Any, Any]) -> None:
        self.margins = margins
        self.shares = shares

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike | None = None,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        rounds: Any = None,
        ax: Any = None,
    ) -> Self:
        """Plot the margins of a fitted booster.

        Parameters
        ----------
        estimator : AdaBoostClassifier
            A fitted :class:`~sklearn_sl.ensemble.AdaBoostClassifier`.

        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features), default=None
            Samples; None stands for the training set, with the weights of the fit.

        y : array-like of shape (n_samples,), default=None
            Their classes.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples ``X``.

        rounds : int or sequence of int, default=None
            Numbers of rounds; a line is drawn for the votes after each of them, for which ``X`` and
            ``y`` are needed. None stands for all rounds.

        {ax}

        Returns
        -------
        display : MarginDisplay
            The display, plotted.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "margin_cdf"):
            raise ValueError(
                "MarginDisplay requires a fitted estimator of the class AdaBoostClassifier of "
                f"sklearn_sl.ensemble; got {type(estimator).__name__}, which has no margin_cdf."
            )
        last = len(estimator.estimators_)
        if X is None:
            if y is not None or sample_weight is not None or rounds is not None:
                raise ValueError("y, sample_weight and rounds require X.")
            margins = np.unique(estimator.margins_[~np.isnan(estimator.margins_)])
            name = name_of(last)
            display = cls(margins={name: margins}, shares={name: estimator.margin_cdf(margins)})
            return display.plot(ax=ax)
        if y is None:
            raise ValueError("y is required if X is given.")
        after = {
            name_of(n_rounds): margins_after(estimator, n_rounds, X, y)
            for n_rounds in check_rounds(rounds, last)
        }
        return cls.from_margins(after, sample_weight=sample_weight, ax=ax)

    @classmethod
    def from_margins(
        cls, margins: ArrayLike, *, sample_weight: ArrayLike | None = None, ax: Any = None
    ) -> Self:
        """Plot margins that are known.

        Parameters
        ----------
        margins : array-like of shape (n_samples,) or dict
            Margins, or several arrays of them by their names; NaN is left out.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        {ax}

        Returns
        -------
        display : MarginDisplay
            The display, plotted.
        """
        lines = margins if isinstance(margins, dict) else {"margins": margins}
        steps = {name: distribution(line, sample_weight) for name, line in lines.items()}
        return cls(
            margins={name: distinct for name, (distinct, _) in steps.items()},
            shares={name: below for name, (_, below) in steps.items()},
        ).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Plot the picture, once more or on other axes.

        Parameters
        ----------
        {ax}

        Returns
        -------
        display : MarginDisplay
            The display itself.
        """
        if ax is None:
            _, ax = pyplot(type(self).__name__).subplots()
        self.ax_, self.figure_, self.lines_ = ax, ax.figure, []
        self.boundary_line_ = ax.axvline(0, zorder=0, **BOUNDARY)
        for place, (name, margins) in enumerate(self.margins.items()):
            (line,) = ax.step(
                np.concatenate([[-1.0], margins, [1.0]]),
                np.concatenate([[0.0], self.shares[name], [1.0]]),
                where="post",
                color=COLOURS[place % len(COLOURS)],
                linewidth=1.6,
                label=name,
            )
            self.lines_.append(line)
        ax.set_xlim(-1, 1)
        ax.set_ylim(0, 1.02)
        ax.set_xlabel("margin: votes for the true class minus votes for the best other")
        ax.set_ylabel("share of samples with at most this margin")
        ax.legend(loc="upper left", fontsize="small")
        return self


def name_of(n_rounds):
    """Return how a line is called in the legend."""
    return f"{n_rounds} round" + "s" * (n_rounds != 1)


def check_rounds(rounds, last):
    """Return numbers of rounds as a list of those that there were."""
    if rounds is None:
        return [last]
    rounds = [rounds] if isinstance(rounds, Integral) else list(rounds)
    if not rounds:
        raise ValueError("rounds must not be empty.")
    for number in rounds:
        if not isinstance(number, Integral) or not 1 <= number <= last:
            raise ValueError(f"rounds must be integers in [1, {last}]; got {number!r}.")
    return rounds


def margins_after(estimator, n_rounds, X, y):
    """Return the margins of samples after the first rounds."""
    shorter = copy.copy(estimator)
    shorter.estimators_ = estimator.estimators_[:n_rounds]
    shorter.estimator_weights_ = estimator.estimator_weights_[:n_rounds]
    return shorter.margins(X, y)


def distribution(margins, sample_weight):
    """Return the distinct margins and the share of the weight of at most each of them."""
    margins = np.asarray(margins, dtype=np.float64)
    if margins.ndim != 1 or not len(margins):
        raise ValueError(f"margins must be a non-empty 1-D array; got shape {margins.shape}.")
    weight = check_sample_weight(sample_weight, margins, dtype=np.float64)
    weight = np.ones(len(margins)) if weight is None else weight
    known = ~np.isnan(margins) & (weight > 0)
    if not known.any():
        raise ValueError(
            "margins must have a number, not NaN, for at least one sample of positive weight."
        )
    distinct, place = np.unique(margins[known], return_inverse=True)
    below = np.cumsum(np.bincount(place, weight[known], len(distinct)))
    return distinct, below / below[-1]
