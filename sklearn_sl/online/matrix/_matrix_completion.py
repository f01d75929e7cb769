"""Online completion of a sign matrix, with side information about its rows and columns."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from sklearn_sl._sklearn import Interval, StrOptions
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.kernels._compose import Precomputed
from sklearn_sl.kernels._named import KERNEL_NAMES, as_kernel
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online.matrix._matrix_exponent import MatrixExponentMixin, Side
from sklearn_sl.theory._matrix_completion import (
    matrix_completion_bound,
    matrix_completion_mistakes,
)

if TYPE_CHECKING:
    from collections.abc import Callable

# The names of kernels that are positive definite.
NAMES = set(KERNEL_NAMES) - {"sigmoid", "additive_chi2"}


@paragraphs
class MatrixCompletion(EstimatorMixin, MatrixExponentMixin, ClassifierMixin, BaseEstimator):
    """Online matrix completion with side information, by matrix exponentiated gradients.

    In a trial the learner is asked for the sign of an entry ``(i, j)`` of a matrix. The entry is a
    unit vector ``x``, half of whose square belongs to the row and half to the column, in the
    feature spaces of two kernels: ``<x, x'> = K_M(i, i') / (2 R_M) + K_N(j, j') / (2 R_N)``, with
    the largest kernel values ``R_M`` and ``R_N``. The weights are a matrix ::

        W = (D / (m + n)) exp(sum_s eta y_s x_s x_s')

    over the updates ``s`` so far, and the score is ``x'Wx - 1``. The prediction is random, 1 with
    the probability ``clip((score + gamma) / (2 gamma), 0, 1)``. There is an update whenever ``y *
    score <= gamma``.

    **The theorem.** With the step ``eta = sqrt(D log(m + n) / (2 T))`` the expected number of
    mistakes, ``expected_mistakes_``, exceeds the number of labels that differ from a matrix ``U``
    by at most ``regret_bound_``, for every ``U`` of max norm at most ``1 / gamma`` and
    quasi-dimension at most ``D``, whatever the labels and their order are: see
    :func:`~sklearn_sl.theory.matrix_completion_bound`. It takes many trials until that says
    something. No ``U`` is looked for.

    **Rows and columns.** By default the samples are pairs ``(i, j)``, and what is learned about a
    row says nothing about other rows by itself. A kernel says which rows are alike:
    :class:`~sklearn_sl.kernels.Precomputed` has a kernel matrix for known rows and columns
    (:func:`~sklearn_sl.datasets.make_cluster_graph` makes one); any other kernel compares their
    features, and then rows and columns can be new in every trial. The first ``n_row_features``
    columns of X belong to the row, the others to the column.

    **What is not known beforehand.** ``fit`` looks through its samples for the number of trials,
    of distinct rows and of distinct columns, and for the largest kernel values. ``partial_fit``
    takes what it has met so far, with the step for the trials so far, at least ``(m + n) / 2``.
    Parameters fix these.

    **Cost.** ``W`` is not formed, and no large matrix is decomposed: an answer takes some ten
    products with the kernel matrices of the distinct rows and columns of the updates, so that ``T``
    trials take at most ``O(T^3)`` operations with a kernel, and ``O(T^2)`` without. There are at
    most ``max_basis`` distinct rows and columns; an update that needs more is skipped.

    **Multi-class.** There is one weight matrix for each class against all others, and the theorem
    says nothing. See :meth:`predict_proba` for how predictions are made at random.

    Parameters
    ----------
    margin : float, default=0.5
        The margin ``gamma``, between 0 and 1. A biclustered matrix with ``k`` kinds of rows and
        ``l`` of columns has ``1 / sqrt(min(k, l))``.

    dimension : float or None, default=None
        The quasi-dimension ``D``, see :func:`~sklearn_sl.theory.quasi_dimension`; None is ``m +
        n``, which it is without side information.

    eta : float or "auto", default="auto"
        The step; "auto" is that of the theorem. With ``conservative`` it is the margin.

    row_kernel : str, kernel object, callable or None, default=None
        What compares rows: a name such as "rbf" or "linear", a kernel of
        :mod:`sklearn_sl.kernels` or scikit-learn, or a function of two rows. None is the identity:
        rows are the same or have nothing in common.

    col_kernel : str, kernel object, callable or None, default=None
        What compares columns.

    n_row_features : int or None, default=None
        How many columns of X describe the row; None is the first half of them.

    n_rows : int or None, default=None
        The number ``m`` of rows; None counts them.

    n_cols : int or None, default=None
        The number ``n`` of columns; None counts them.

    row_radius : float or None, default=None
        The largest value ``R_M`` of the kernel of the rows; None is the largest one that is met, or
        the largest one of :class:`~sklearn_sl.kernels.Precomputed`.

    col_radius : float or None, default=None
        The largest value ``R_N`` of the kernel of the columns.

    horizon : int or None, default=None
        The number ``T`` of trials. None is that of ``fit``; in ``partial_fit`` the number of trials
        so far.

    conservative : bool, default=False
        Whether updates are made on mistakes only. Then predictions are the signs of the scores, a
        tie is a mistake, and if a matrix agrees with all labels there is a bound on the number of
        mistakes: see :func:`~sklearn_sl.theory.matrix_completion_mistakes`.

    max_basis : int, default=2000
        The largest number of distinct rows, and of distinct columns, with a kernel.

    max_iter : int, default=1
        The largest number of passes of ``fit``; a pass without updates is the last.

    {keep_losses}

    random_state : int, RandomState instance or None, default=None
        For the predictions that ``n_mistakes_`` counts; nothing else is random.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes; the second of two is the sign 1.

    expected_mistakes_ : float
        The expected number of mistakes of all trials, exactly.

    n_mistakes_ : int
        The number of mistakes of predictions drawn at random.

    cumulative_loss_ : float
        The sum of the losses of all trials, their probabilities of a mistake; the same as
        ``expected_mistakes_``.

    {loss_curve}

    {n_trials}

    n_updates_ : int
        The number of trials with an update.

    n_skipped_ : int
        The number of updates that were not made for lack of ``max_basis``.

    eta_ : float
        The last step.

    dimension_ : float
        The quasi-dimension ``D``.

    n_rows_ : int
        The number ``m`` of rows.

    n_cols_ : int
        The number ``n`` of columns.

    row_radius_ : float
        The largest value of the kernel of the rows.

    col_radius_ : float
        The largest value of the kernel of the columns.

    regret_bound_ : float or None
        The theorem's bound on ``expected_mistakes_`` minus the mistakes of a matrix ``U``. None if
        it does not apply: more than two classes, another step, an unknown horizon or a past one,
        sizes or radii that were not known from the first trial on, skipped updates, or
        ``conservative``.

    bound_ : float or None
        The bound on the mistakes of the conservative learner, if a matrix agrees with all labels.
        None if not ``conservative``, for more than two classes, if sizes or radii were not known
        from the first trial on, and after skipped updates.

    converged_ : bool
        Whether the last pass of ``fit`` was without updates.

    {n_iter}

    {features_in}

    See Also
    --------
    SwitchingMultitaskKernel : Inputs as rows and time as columns.
    sklearn_sl.datasets.matrix_trials : The entries of a matrix as samples.

    References
    ----------
    .. [1] M. Herbster, S. Pasteris and L. Tse, "Online matrix completion with side information",
       NeurIPS 2020.

    .. [2] K. Tsuda, G. Rätsch and M. Warmuth, "Matrix exponentiated gradient updates for on-line
       learning and Bregman projection", Journal of Machine Learning Research 6, 2005.

    Examples
    --------
    Three kinds of rows and of columns, not known at first, and then as neighbours in a graph:

    >>> from sklearn_sl.datasets import make_biclustered, make_cluster_graph, matrix_trials
    >>> from sklearn_sl.kernels import Precomputed
    >>> from sklearn_sl.online import MatrixCompletion
    >>> U, row_clusters, col_clusters = make_biclustered(20, 20, 3, 3, random_state=1)
    >>> X, y = matrix_trials(U, random_state=0)
    >>> plain = MatrixCompletion().fit(X, y)
    >>> informed = MatrixCompletion(
    ...     dimension=40,
    ...     row_kernel=Precomputed(make_cluster_graph(row_clusters, random_state=0).kernel),
    ...     col_kernel=Precomputed(make_cluster_graph(col_clusters, random_state=0).kernel),
    ... ).fit(X, y)
    >>> print(f"{plain.expected_mistakes_:.0f} or {informed.expected_mistakes_:.0f} of {len(y)}")
    91 or 29 of 400
    """

    regret_bound_: float | None
    dimension_: float
    eta_: float
    n_rows_: int
    n_cols_: int
    row_radius_: float
    col_radius_: float
    bound_: float | None

    _parameter_constraints = {
        "margin": [Interval(Real, 0, 1, closed="right")],
        "dimension": [Interval(Real, 0, None, closed="neither"), None],
        "eta": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "row_kernel": [StrOptions(NAMES), callable, None],
        "col_kernel": [StrOptions(NAMES), callable, None],
        "n_row_features": [Interval(Integral, 0, None, closed="left"), None],
        "n_rows": [Interval(Integral, 1, None, closed="left"), None],
        "n_cols": [Interval(Integral, 1, None, closed="left"), None],
        "row_radius": [Interval(Real, 0, None, closed="neither"), None],
        "col_radius": [Interval(Real, 0, None, closed="neither"), None],
        "horizon": [Interval(Integral, 1, None, closed="left"), None],
        "conservative": ["boolean"],
        "max_basis": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "keep_losses": ["boolean"],
        "random_state": ["random_state"],
    }

    _fixed = (
        "margin",
        "dimension",
        "row_kernel",
        "col_kernel",
        "n_row_features",
        "n_rows",
        "n_cols",
    )

    def __init__(
        self,
        margin: float = 0.5,
        dimension: float | None = None,
        eta: float | str = "auto",
        *,
        row_kernel: str | Any | Callable[..., Any] | None = None,
        col_kernel: str | Any | Callable[..., Any] | None = None,
        n_row_features: int | None = None,
        n_rows: int | None = None,
        n_cols: int | None = None,
        row_radius: float | None = None,
        col_radius: float | None = None,
        horizon: int | None = None,
        conservative: bool = False,
        max_basis: int = 2000,
        max_iter: int = 1,
        keep_losses: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.margin = margin
        self.dimension = dimension
        self.eta = eta
        self.row_kernel = row_kernel
        self.col_kernel = col_kernel
        self.n_row_features = n_row_features
        self.n_rows = n_rows
        self.n_cols = n_cols
        self.row_radius = row_radius
        self.col_radius = col_radius
        self.horizon = horizon
        self.conservative = conservative
        self.max_basis = max_basis
        self.max_iter = max_iter
        self.keep_losses = keep_losses
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = any(map(needs_nonnegative, self._kernels()))
        return tags

    def _kernels(self):
        return self.row_kernel, self.col_kernel

    @property
    def _margin_(self):
        return self.margin

    # ------------------------------------------------------------ rows and columns

    def _cut(self, n_features):
        """Return how many features belong to the row."""
        if self.n_row_features is None:
            return (n_features + 1) // 2
        if self.n_row_features > n_features:
            raise ValueError(
                f"n_row_features must be <= {n_features}, the number of features of X; got "
                f"{self.n_row_features}."
            )
        return self.n_row_features

    def _items(self, X):
        X = X + 0.0  # minus zero is zero
        cut = self._cut(X.shape[1])
        return np.ascontiguousarray(X[:, :cut]), np.ascontiguousarray(X[:, cut:])

    def _make_sides(self, X):
        radii = self.row_radius, self.col_radius
        counts = self.n_rows is None, self.n_cols is None
        return tuple(
            make_side(kernel, items, radius, self.max_basis, counts=count)
            for kernel, items, radius, count in zip(
                self._kernels(), self._items(X), radii, counts, strict=True
            )
        )

    def _begin(self, X):
        super()._begin(X)
        self._horizon = self.horizon
        # The sizes and radii of all trials, once they are known; the theorems need them to stay.
        self._settled = None

    def _foresee(self, X, n_passes):
        if self._horizon is None:
            self._horizon = X.shape[0] * n_passes
        for side, items in zip((self._rows, self._cols), self._items(X), strict=True):
            side.meet(items, side.own(items))
        self._settled = self._sizes()

    # ------------------------------------------------------------ parameters of the theorem

    def _shape(self):
        """Return the numbers of rows and columns."""
        counts = len(self._rows.met), len(self._cols.met)
        return [
            known or count for known, count in zip((self.n_rows, self.n_cols), counts, strict=True)
        ]

    def _sizes(self):
        """Return the numbers of rows and columns, and the radii of their kernels."""
        return *self._shape(), self._rows.radius, self._cols.radius

    def _all_told(self):
        """Return whether sizes and radii are parameters; those of no kernel are known."""
        radii = self.row_radius, self.col_radius
        return None not in (self.n_rows, self.n_cols) and all(
            kernel is None or radius is not None
            for kernel, radius in zip(self._kernels(), radii, strict=True)
        )

    def _tuning(self, trial):
        size = sum(self._shape())
        dimension = size if self.dimension is None else self.dimension
        if self.eta != "auto":
            step = self.eta
        elif self.conservative:
            step = self.margin
        else:
            step = theorem_step(dimension, size, self._horizon or max(trial, size / 2))
        return dimension / size, step

    def _finish(self):
        super()._finish()
        self.n_rows_, self.n_cols_ = self._shape()
        size = self.n_rows_ + self.n_cols_
        start, self.eta_ = self._tuning(self.n_trials_)
        self.dimension_ = start * size
        self.row_radius_, self.col_radius_ = self._rows.radius, self._cols.radius
        self.regret_bound_ = self.bound_ = None
        if self._settled is None and self._all_told():
            self._settled = self._sizes()
        if len(self.classes_) > 2 or self.n_skipped_ or self._settled != self._sizes():
            return
        known = self._horizon is not None and self.n_trials_ <= self._horizon
        if self.conservative and size > 2:
            self.bound_ = float(
                matrix_completion_mistakes(self.dimension_, self.margin, size, self.eta_)
            )
        elif self.eta == "auto" and known and not self.conservative:
            self.regret_bound_ = float(
                matrix_completion_bound(self._horizon, self.dimension_, self.margin, size)
            )


def theorem_step(dimension, size, n_trials):
    """Return the step of the theorem."""
    return float(np.sqrt(dimension * np.log(size) / (2 * n_trials)))


def make_side(kernel, items, radius, most, *, counts, **params):
    """Return the side of rows or columns that a kernel compares."""
    if kernel is None:
        return Side(None, items.shape[1], None, most, counts)
    with np.errstate(all="ignore"):  # distances may exceed the range of numbers
        kernel = as_kernel(kernel, items, **params)
    if not getattr(kernel, "positive_definite", True):
        raise ValueError(
            f"The kernel {kernel} is not positive definite: choose another kernel of rows or "
            "columns."
        )
    if radius is None and isinstance(kernel, Precomputed):
        radius = float(np.max(np.diagonal(kernel.gram)))
    return Side(kernel, items.shape[1], radius, most, counts)


def needs_nonnegative(kernel):
    """Return whether a kernel, an object or a name, compares non-negative features."""
    return getattr(kernel, "nonnegative_input", isinstance(kernel, str) and kernel == "chi2")
