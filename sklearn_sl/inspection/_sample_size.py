"""A picture of a plan: how many samples each statement requires."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sklearn_sl.inspection._pyplot import described, pyplot
from sklearn_sl.theory import sample_size

if TYPE_CHECKING:
    from sklearn_sl.theory import SamplePlan

COLORS = {
    "train": "#3f90da",
    "order": "#a96b59",
    "extrapolated": "#832db6",
    "test": "#bd1f01",
}
LABELS = {
    "train": "training, guaranteed",
    "order": "training, constant unknown",
    "extrapolated": "training, extrapolated",
    "test": "testing",
}
UNREACHABLE = {"marker": ">", "linestyle": "none", "markersize": 7, "clip_on": False}
REACHED = {"marker": "o", "linestyle": "none", "markersize": 6}


@described
class SampleSizeDisplay:
    """The numbers of samples that the statements of a plan require, loosest first.

    Each statement is a line up to its number of samples, on a logarithmic axis. An arrow at the
    right edge is an infinite number.

    Make it by :meth:`from_plan`, or by :meth:`from_question`.

    Parameters
    ----------
    plan : SamplePlan
        What :func:`sklearn_sl.theory.sample_size` returns.

    Attributes
    ----------
    {axes}

    lines_ : matplotlib LineCollection
        The lines, one for each row of the plan.

    points_ : dict of str to matplotlib Line2D
        The ends of the lines, by purpose: ``"train"``, ``"order"``,
        ``"extrapolated"``, ``"test"``.

    See Also
    --------
    sklearn_sl.theory.sample_size : Makes plans.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_sl.inspection import SampleSizeDisplay
    >>> from sklearn_sl.theory import sample_size
    >>> plan = sample_size(0.1, n_hypotheses=3**20, margin=0.2, error=0.05)
    >>> display = SampleSizeDisplay.from_plan(plan)
    >>> sorted(display.points_)
    ['test', 'train']
    >>> plt.show()
    """

    ax_: Any
    figure_: Any
    lines_: Any
    points_: dict[str, Any]

    def __init__(self, *, plan: SamplePlan) -> None:
        self.plan = plan

    @classmethod
    def from_plan(cls, plan: SamplePlan, *, ax: Any = None) -> Self:
        """Plot a plan.

        Parameters
        ----------
        plan : SamplePlan
            What :func:`sklearn_sl.theory.sample_size` returns.

        {ax}

        Returns
        -------
        display : SampleSizeDisplay
            The display, plotted.
        """
        if not hasattr(plan, "by_purpose"):
            raise ValueError(
                f"plan must be a SamplePlan, which sample_size returns; got {type(plan).__name__}."
            )
        return cls(plan=plan).plot(ax=ax)

    @classmethod
    def from_question(
        cls, epsilon: float, delta: float = 0.05, *, ax: Any = None, **known: Any
    ) -> Self:
        """Make a plan and plot it.

        Parameters
        ----------
        epsilon : float
            The accuracy.

        delta : float, default=0.05
            The probability with which a statement may fail.

        {ax}

        **known : dict
            What else is known, as arguments of :func:`sklearn_sl.theory.sample_size`.

        Returns
        -------
        display : SampleSizeDisplay
            The display, plotted; ``display.plan`` is the plan.
        """
        return cls.from_plan(sample_size(epsilon, delta, **known), ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Plot the picture, once more or on other axes.

        Parameters
        ----------
        {ax}

        Returns
        -------
        display : SampleSizeDisplay
            The display itself.
        """
        rows = self.plan.rows
        if ax is None:
            height = 1.4 + 0.3 * len(rows)
            _, ax = pyplot(type(self).__name__).subplots(figsize=(7.5, height), layout="tight")
        self.ax_, self.figure_ = ax, ax.figure
        sizes = np.array([row.n_samples for row in rows])
        finite = sizes[np.isfinite(sizes) & (sizes > 0)]
        left = 10 ** math.floor(math.log10(finite.min())) if len(finite) else 1.0
        right = 20 * finite.max() if len(finite) else 1e3
        places = np.arange(len(rows))
        ends = np.where(np.isfinite(sizes), sizes, right)
        colors = [COLORS[row.purpose] for row in rows]
        self.lines_ = ax.hlines(places, left, ends, colors=colors, linewidth=2.0, alpha=0.5)
        self.points_ = {
            purpose: self._mark(purpose, sizes, right) for purpose in self.plan.by_purpose()
        }
        for place, size in zip(places, sizes):
            if np.isfinite(size):
                ax.text(max(size, left), place, f"   {size:,.0f}", va="center", fontsize="small")
        ax.set_yticks(places, [row.statement for row in rows])
        ax.set(xscale="log", xlim=(left, right), ylim=(len(rows) - 0.5, -0.5), xlabel="samples")
        ax.set_title(
            f"accuracy {self.plan.epsilon:g} at confidence {1 - self.plan.delta:g}",
            fontsize="medium",
        )
        ax.legend(loc="lower right", fontsize="small")
        return self

    def _mark(self, purpose, sizes, right):
        """Mark the ends of the lines of a purpose; return the marks of the finite ones."""
        mine = np.array([row.purpose == purpose for row in self.plan.rows])
        color, ax = COLORS[purpose], self.ax_
        never = np.flatnonzero(mine & ~np.isfinite(sizes))
        ax.plot(np.full(len(never), right), never, color=color, **UNREACHABLE)
        some = np.flatnonzero(mine & np.isfinite(sizes))
        (points,) = ax.plot(sizes[some], some, color=color, label=LABELS[purpose], **REACHED)
        return points
