"""A picture of the sizes of a tree: errors along the pruning path."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_sl.inspection._pyplot import described, pyplot

CROSS_VALIDATED = {"color": "#3f90da", "linewidth": 1.4, "marker": "o", "markersize": 3.5}
TRAINING = {"color": "#94a4a2", "linewidth": 1.4, "linestyle": "dashed"}
CHOSEN = {"color": "#bd1f01", "marker": "o", "markersize": 9, "markerfacecolor": "none"}
LIMIT = {"color": "#832db6", "linewidth": 1.0, "linestyle": "dotted"}


@described
class PruningPathDisplay:
    """The errors of all subtrees of a tree, as ``plotcp`` of rpart shows them.

    For each subtree of the pruning path the cross-validated error, with a bar of one standard
    error to either side, and the error on the training set; both relative to the error of the
    root alone. A dotted line is one standard error above the least cross-validated error: the
    smallest tree below it is the choice of ``rule="1se"``. A tree that was not cross-validated
    has the risk on the training set only. With a scorer the fitted tree, which is marked, need not
    be one of least error.

    Make it by :meth:`from_estimator`.

    Parameters
    ----------
    n_leaves : ndarray of shape (n_subtrees,)
        The sizes of the subtrees.

    alphas : ndarray of shape (n_subtrees,)
        The price of a leaf from which on each of them is best.

    training_error : ndarray of shape (n_subtrees,)
        Their errors on the training set, relative to the root.

    error, error_std : ndarray of shape (n_subtrees,), default=None
        Their cross-validated errors and the standard errors of these.

    chosen : int, default=None
        The number of leaves of the fitted tree.

    Attributes
    ----------
    {axes}

    training_line_ : matplotlib Line2D
        The errors on the training set.

    errorbar_ : matplotlib ErrorbarContainer or None
        The cross-validated errors.

    limit_line_ : matplotlib Line2D or None
        The line one standard error above the least error.

    chosen_line_ : matplotlib Line2D or None
        The mark of the fitted tree.

    See Also
    --------
    sklearn_sl.tree.DecisionTreeClassifierCV : Chooses the size by cross-validation.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn_sl.inspection import PruningPathDisplay
    >>> from sklearn_sl.tree import DecisionTreeClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = DecisionTreeClassifierCV(rule="1se").fit(X, y)
    >>> display = PruningPathDisplay.from_estimator(model)
    >>> display.chosen
    6
    >>> plt.show()
    """

    ax_: Any
    figure_: Any
    training_line_: Any
    errorbar_: Any
    limit_line_: Any
    chosen_line_: Any

    def __init__(
        self,
        *,
        n_leaves: np.ndarray,
        alphas: np.ndarray,
        training_error: np.ndarray,
        error: np.ndarray | None = None,
        error_std: np.ndarray | None = None,
        chosen: int | None = None,
    ) -> None:
        self.n_leaves = n_leaves
        self.alphas = alphas
        self.training_error = training_error
        self.error = error
        self.error_std = error_std
        self.chosen = chosen

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, x: Literal["leaves", "alpha"] = "leaves", ax: Any = None
    ) -> Self:
        """Plot the path of a fitted tree.

        Parameters
        ----------
        estimator : estimator
            A fitted :class:`~sklearn_sl.tree.DecisionTreeClassifierCV` or
            :class:`~sklearn_sl.tree.DecisionTreeRegressorCV`, or a tree that was not
            cross-validated.

        x : {"leaves", "alpha"}, default="leaves"
            What the horizontal axis shows.

        {ax}

        Returns
        -------
        display : PruningPathDisplay
            The display, plotted.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "ccp_path_"):
            raise ValueError(
                "PruningPathDisplay requires a tree of sklearn_sl.tree; "
                f"got {type(estimator).__name__}, which has no ccp_path_."
            )
        path = estimator.ccp_path_
        arrays = {"n_leaves": path.n_leaves, "alphas": path.alphas}
        if hasattr(estimator, "cp_table_"):
            table = estimator.cp_table_[::-1]
            arrays |= {"training_error": table["rel_error"], "error": table["xerror"]}
            arrays |= {"error_std": table["xstd"], "chosen": estimator.get_n_leaves()}
        else:
            root = path.risks[-1]
            arrays["training_error"] = path.risks / root if root > 0 else path.risks
        return cls(**arrays).plot(x=x, ax=ax)

    def plot(self, *, x: Literal["leaves", "alpha"] = "leaves", ax: Any = None) -> Self:
        """Plot the picture, once more or on other axes.

        Parameters
        ----------
        x : {"leaves", "alpha"}, default="leaves"
            What the horizontal axis shows.

        {ax}

        Returns
        -------
        display : PruningPathDisplay
            The display itself.
        """
        if x not in ("leaves", "alpha"):
            raise ValueError(f'x must be "leaves" or "alpha"; got {x!r}.')
        if ax is None:
            _, ax = pyplot(type(self).__name__).subplots()
        self.ax_, self.figure_ = ax, ax.figure
        across = self.n_leaves if x == "leaves" else self._spread_alphas()
        (self.training_line_,) = ax.plot(
            across, self.training_error, label="training set", **TRAINING
        )
        self.errorbar_ = self.limit_line_ = self.chosen_line_ = None
        if self.error is not None:
            self._plot_errors(across)
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.set_xlabel("leaves" if x == "leaves" else "price of a leaf, alpha")
        ax.set_ylabel("error, relative to the root")
        ax.legend(loc="best", fontsize="small")
        return self

    def _spread_alphas(self):
        """Return the alphas with a positive first one, for a logarithmic axis."""
        positive = self.alphas[self.alphas > 0]
        first = positive[0] / 2 if len(positive) else 1.0
        return np.where(self.alphas > 0, self.alphas, first)

    def _plot_errors(self, across):
        ax = self.ax_
        self.errorbar_ = ax.errorbar(
            across,
            self.error,
            yerr=self.error_std,
            elinewidth=0.7,
            label="cross-validated, ± 1 standard error",
            **CROSS_VALIDATED,
        )
        # Of equal errors the smallest tree counts.
        least = len(self.error) - 1 - int(np.nanargmin(self.error[::-1]))
        self.limit_line_ = ax.axhline(
            self.error[least] + self.error_std[least],
            label="least error + 1 standard error",
            **LIMIT,
        )
        here = np.flatnonzero(self.n_leaves == self.chosen)
        (self.chosen_line_,) = ax.plot(
            across[here], self.error[here], linestyle="none", label="chosen", **CHOSEN
        )
