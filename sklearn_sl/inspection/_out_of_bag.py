"""A picture of the size of an ensemble: out-of-bag losses of its first base estimators."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from sklearn_sl.inspection._pyplot import described, pyplot

CURVE = {"color": "#3f90da", "linewidth": 1.4}
BAND = {"color": "#3f90da", "alpha": 0.25, "linewidth": 0}
LEAST = {"color": "#94a4a2", "marker": "o", "markersize": 6}
CHOSEN = {"color": "#bd1f01", "marker": "o", "markersize": 9, "markerfacecolor": "none"}
LIMIT = {"color": "#832db6", "linewidth": 1.0, "linestyle": "dotted"}


@described
class OutOfBagDisplay:
    """The out-of-bag loss of the first base estimators of an ensemble, by their number.

    A band is one standard error to either side. A dotted line is one standard error above the
    least loss: the smallest ensemble below it is the choice of ``rule="1se"``, and is marked, as is
    the least loss. The beginning of the curve is too pessimistic: there a sample is judged by a few
    base estimators only, those that have not drawn it.

    Make it by :meth:`from_estimator`.

    Parameters
    ----------
    n_estimators : ndarray of shape (n_sizes,)
        The numbers of base estimators.

    loss, standard_error : ndarray of shape (n_sizes,)
        Their losses, and the standard errors of these.

    least, chosen : int
        The numbers of base estimators of the least loss, and by the rule of one standard error.

    loss_name : str, default="loss"
        What the loss is.

    Attributes
    ----------
    {axes}

    line_ : matplotlib Line2D
        The losses.

    band_ : matplotlib PolyCollection
        The standard errors.

    limit_line_ : matplotlib Line2D
        The line one standard error above the least loss.

    least_line_, chosen_line_ : matplotlib Line2D
        The marks.

    See Also
    --------
    sklearn_sl.ensemble.RandomForestClassifier : Has the curve if it is fitted with ``oob_score``.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn_sl.ensemble import RandomForestClassifier
    >>> from sklearn_sl.inspection import OutOfBagDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RandomForestClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> display = OutOfBagDisplay.from_estimator(model)
    >>> display.chosen == model.choose_n_estimators(rule="1se")
    True
    >>> plt.show()
    """

    ax_: Any
    figure_: Any
    line_: Any
    band_: Any
    limit_line_: Any
    least_line_: Any
    chosen_line_: Any

    def __init__(
        self,
        *,
        n_estimators: np.ndarray,
        loss: np.ndarray,
        standard_error: np.ndarray,
        least: int,
        chosen: int,
        loss_name: str = "loss",
    ) -> None:
        self.n_estimators = n_estimators
        self.loss = loss
        self.standard_error = standard_error
        self.least = least
        self.chosen = chosen
        self.loss_name = loss_name

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Plot the curve of a fitted ensemble.

        Parameters
        ----------
        estimator : estimator
            A bagging or a forest of :mod:`sklearn_sl.ensemble` that was fitted with ``oob_score``.

        {ax}

        Returns
        -------
        display : OutOfBagDisplay
            The display, plotted.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "oob_curve_"):
            raise ValueError(
                "OutOfBagDisplay requires a bagging estimator or forest of sklearn_sl.ensemble, "
                f"fitted with oob_score; got {type(estimator).__name__}, which has no oob_curve_."
            )
        curve = estimator.oob_curve_
        display = cls(
            n_estimators=curve.n_estimators,
            loss=curve.loss,
            standard_error=curve.standard_error,
            least=estimator.choose_n_estimators(rule="min"),
            chosen=estimator.choose_n_estimators(rule="1se"),
            loss_name="share of errors" if is_classifier(estimator) else "mean squared error",
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Plot the picture, once more or on other axes.

        Parameters
        ----------
        {ax}

        Returns
        -------
        display : OutOfBagDisplay
            The display itself.
        """
        if ax is None:
            _, ax = pyplot(type(self).__name__).subplots()
        self.ax_, self.figure_ = ax, ax.figure
        across, loss, error = self.n_estimators, self.loss, self.standard_error
        self.band_ = ax.fill_between(across, loss - error, loss + error, **BAND)
        (self.line_,) = ax.plot(across, loss, label="out of bag, ± 1 standard error", **CURVE)
        least = self._place_of(self.least)
        self.limit_line_ = ax.axhline(
            loss[least] + error[least], label="least + 1 standard error", **LIMIT
        )
        self.least_line_ = self._mark(self.least, f"least, {self.least} base estimators", LEAST)
        self.chosen_line_ = self._mark(
            self.chosen, f'rule="1se", {self.chosen} base estimators', CHOSEN
        )
        ax.set(xlabel="base estimators", ylabel=f"out-of-bag {self.loss_name}", xscale="log")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.legend(loc="best", fontsize="small")
        return self

    def _place_of(self, size):
        return int(np.flatnonzero(self.n_estimators == size)[0])

    def _mark(self, size, label, style):
        height = self.loss[self._place_of(size)]
        (mark,) = self.ax_.plot([size], [height], linestyle="none", label=label, **style)
        return mark
