"""A picture of regret: how much more a learner has lost than the best in hindsight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone

from sklearn_sl.inspection._pyplot import described, pyplot

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

REGRET = {"color": "#3f90da", "linewidth": 1.4}
BOUND = {"color": "#bd1f01", "linewidth": 1.2, "linestyle": "dashed"}
ZERO = {"color": "#94a4a2", "linewidth": 0.8}


@described
class RegretDisplay:
    """The regret of a learner after each trial, beside the bound on it.

    The regret after ``t`` trials is what the learner has lost in these minus what the comparator
    has lost. It ends, after all trials, with the regret that the theorem speaks of.

    Make it by :meth:`from_losses`, or by :meth:`from_estimator` for a learner with experts.

    Parameters
    ----------
    regret : ndarray of shape (n_trials,)
        The regret after each trial.

    bound : float, ndarray of shape (n_trials,) or None, default=None
        The bound on the last regret, or after each trial.

    name : str, default=None
        The name of the learner in the legend.

    Attributes
    ----------
    {axes}

    line_ : matplotlib Line2D
        The regret.

    bound_line_ : matplotlib Line2D or None
        The bound.

    See Also
    --------
    sklearn_sl.online.progressive_predict : Answers before learning, from which losses follow.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from sklearn_sl.inspection import RegretDisplay
    >>> rng = np.random.default_rng(0)
    >>> experts = rng.uniform(size=(1000, 5))
    >>> display = RegretDisplay.from_losses(experts.mean(axis=1), experts, bound=40.0)
    >>> display.regret.shape
    (1000,)
    >>> plt.show()
    """

    ax_: Any
    figure_: Any
    line_: Any
    bound_line_: Any

    def __init__(
        self,
        *,
        regret: np.ndarray,
        bound: float | np.ndarray | None = None,
        name: str | None = None,
    ) -> None:
        self.regret = regret
        self.bound = bound
        self.name = name

    @classmethod
    def from_losses(
        cls,
        losses: ArrayLike,
        comparator_losses: Any = 0.0,
        *,
        bound: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot the regret of a learner whose losses are known.

        Parameters
        ----------
        losses : array-like of shape (n_trials,)
            What the learner lost in each trial.

        comparator_losses : float or array-like of shape (n_trials,) or (n_trials, n_comparators)
            The losses of the comparator; NaN where it is unavailable, which adds no regret. Of
            several columns the one against which the final regret is largest is taken: if none is
            ever unavailable, the one of the smallest loss.

        bound : float or array-like of shape (n_trials,), default=None
            The bound on the regret, at the end or after each trial.

        name : str, default=None
            The name of the learner in the legend.

        {ax}

        Returns
        -------
        display : RegretDisplay
            The display, plotted.
        """
        losses = np.asarray(losses, dtype=np.float64)
        others = np.asarray(comparator_losses, dtype=np.float64)
        if losses.ndim != 1 or others.ndim > 2 or (others.ndim and len(others) != len(losses)):
            raise ValueError(
                "losses and comparator_losses must have the same number of trials; got shapes "
                f"{losses.shape} and {np.shape(comparator_losses)}."
            )
        if not (np.isfinite(losses).all() and np.isfinite(others[~np.isnan(others)]).all()):
            raise ValueError(
                "losses must be finite, and comparator_losses finite or, where a comparator is "
                "unavailable, NaN."
            )
        columns = others if others.ndim == 2 else others.reshape(-1, 1)
        # Where a comparator is unavailable, there is no regret.
        columns = np.where(np.isnan(columns), losses[:, None], columns)
        others = columns[:, columns.sum(axis=0).argmin()]
        bound = None if bound is None else np.asarray(bound, dtype=np.float64)
        if bound is not None and bound.ndim and bound.shape != losses.shape:
            raise ValueError(
                f"bound must be a number or have the shape ({len(losses)},); got {bound.shape}."
            )
        return cls(regret=np.cumsum(losses - others), bound=bound, name=name).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, y: ArrayLike, *, name: str | None = None, ax: Any = None
    ) -> Self:
        """Plot the regret of a learner with experts on a stream, against its ``best_expert_``.

        Trials in which this expert is unavailable add nothing. The last regret is ``regret_``,
        which is the expected one for a learner that draws experts.

        Parameters
        ----------
        estimator : estimator
            A learner of :mod:`sklearn_sl.online` that has ``expert_loss_matrix``; a clone of it
            goes through the stream.

        X : array-like of shape (n_trials, n_features)
            The advice of the experts, or samples for them.

        y : array-like of shape (n_trials,)
            The outcomes.

        name : str, default=None
            The name in the legend; None is that of the class.

        {ax}

        Returns
        -------
        display : RegretDisplay
            The display, plotted; the bound is the estimator's ``regret_bound_``.
        """
        if not hasattr(estimator, "expert_loss_matrix"):
            raise ValueError(
                "RegretDisplay.from_estimator requires a learner with experts; got "
                f"{type(estimator).__name__}. Use RegretDisplay.from_losses."
            )
        model = clone(estimator)
        losses = model._fit_and_hear(X, y)
        return cls.from_losses(
            losses,
            model.expert_loss_matrix(X, y)[:, model.best_expert_],
            bound=getattr(model, "regret_bound_", None),
            name=type(model).__name__ if name is None else name,
            ax=ax,
        )

    def plot(self, *, ax: Any = None) -> Self:
        """Plot the picture, once more or on other axes.

        Parameters
        ----------
        {ax}

        Returns
        -------
        display : RegretDisplay
            The display itself.
        """
        if ax is None:
            _, ax = pyplot(type(self).__name__).subplots()
        self.ax_, self.figure_ = ax, ax.figure
        trials = np.arange(1, len(self.regret) + 1)
        ax.axhline(0, **ZERO)
        (self.line_,) = ax.plot(trials, self.regret, label=self.name or "regret", **REGRET)
        self.bound_line_ = None
        if self.bound is not None:
            bound = np.broadcast_to(self.bound, trials.shape)
            (self.bound_line_,) = ax.plot(trials, bound, label="bound", **BOUND)
        ax.set(xlabel="trials", ylabel="regret")
        ax.legend(loc="best", fontsize="small")
        return self
