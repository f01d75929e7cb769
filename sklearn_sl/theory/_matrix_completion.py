"""Mistake bounds of matrix exponentiated gradients, and the complexity of a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from sklearn_sl.theory._domain import positive, real, whole

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


def matrix_completion_bound(
    n_trials: ArrayLike, dimension: ArrayLike, margin: ArrayLike, size: ArrayLike
) -> float | np.ndarray:
    """Return an upper bound on the regret of online matrix completion with side information.

    The learner predicts entries of an ``m`` by ``n`` sign matrix, one in each trial, at random with
    the margin ``gamma``. With the step ``sqrt(D log(m + n) / (2 T))`` its expected number of
    mistakes in ``T`` trials, whatever the labels are, exceeds that of a matrix ``U`` by at most ::

        4 sqrt(2 (D / gamma^2) log(m + n) T)

    for every ``U`` whose max norm is at most ``1 / gamma`` and whose quasi-dimension is at most
    ``D``. It says something from about ``T = 32 D log(m + n) / gamma^2`` trials on.

    Parameters
    ----------
    n_trials : int or array-like of int
        The number ``T`` of trials.

    dimension : float or array-like
        The quasi-dimension ``D``; see :func:`quasi_dimension`.

    margin : float or array-like
        The margin ``gamma``, between 0 and 1; see :func:`max_norm_bound`.

    size : int or array-like of int
        The number ``m + n`` of rows and columns.

    Returns
    -------
    bound : float or ndarray
        The expected regret is at most this.

    See Also
    --------
    matrix_completion_loss_bound : A sharper bound, from what has happened.
    matrix_completion_mistakes : The bound on the mistakes of the conservative learner.
    sklearn_sl.online.MatrixCompletion : The learner.

    References
    ----------
    .. [1] M. Herbster, S. Pasteris and L. Tse, "Online matrix completion with side information",
       NeurIPS 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.theory import matrix_completion_bound
    >>> bound = matrix_completion_bound(2500, dimension=100, margin=np.sqrt(1 / 3), size=100)
    >>> print(f"{bound:.0f}")
    10513
    """
    capacity = _capacity(dimension, margin, size)
    return 4 * np.sqrt(2 * capacity * whole("n_trials", n_trials, low=0))


def matrix_completion_loss_bound(
    n_errors: ArrayLike,
    n_updates: ArrayLike,
    dimension: ArrayLike,
    margin: ArrayLike,
    size: ArrayLike,
    eta: ArrayLike,
) -> float | np.ndarray:
    """Return an upper bound on the expected mistakes of online matrix completion with any step.

    With the relative entropy of a matrix ``U`` to the weights as a potential, which is at most
    ``D log(m + n)`` at first, the expected number of mistakes is at most ::

        (errors + (D log(m + n) / eta + eta (1 + gamma) updates) / (2 gamma)) / (1 - eta / 2)

    for every ``U`` of max norm at most ``1 / gamma`` and quasi-dimension at most ``D``, which errs
    so often itself. The number of updates is known after the trials, and at most their number.

    Parameters
    ----------
    n_errors : int or array-like of int
        How many labels differ from ``U``.

    n_updates : int or array-like of int
        The number of updates.

    dimension : float or array-like
        The quasi-dimension ``D``; see :func:`quasi_dimension`.

    margin : float or array-like
        The margin ``gamma``, between 0 and 1.

    size : int or array-like of int
        The number ``m + n`` of rows and columns.

    eta : float or array-like
        The step, at most 1.

    Returns
    -------
    bound : float or ndarray
        The expected number of mistakes is at most this.

    See Also
    --------
    matrix_completion_bound : The regret with the best step.

    References
    ----------
    .. [1] M. Herbster, S. Pasteris and L. Tse, "Online matrix completion with side information",
       NeurIPS 2020.

    Examples
    --------
    >>> from sklearn_sl.theory import matrix_completion_loss_bound
    >>> bound = matrix_completion_loss_bound(
    ...     n_errors=0, n_updates=100, dimension=20, margin=1.0, size=20, eta=0.5
    ... )
    >>> print(f"{bound:.1f}")
    146.6
    """
    capacity = _capacity(dimension, margin, size)
    n_errors, n_updates = whole("n_errors", n_errors, low=0), whole("n_updates", n_updates, low=0)
    margin, eta = np.asarray(margin, dtype=np.float64), positive("eta", eta)
    real("eta", eta, high=1)
    drift = capacity * margin**2 / eta + eta * (1 + margin) * n_updates
    return (n_errors + drift / (2 * margin)) / (1 - eta / 2)


def matrix_completion_mistakes(
    dimension: ArrayLike, margin: ArrayLike, size: ArrayLike, eta: ArrayLike | None = None
) -> float | np.ndarray:
    """Return an upper bound on the number of mistakes of conservative online matrix completion.

    The learner changes its weights in the trials in which it is wrong. A matrix agrees with all
    labels, and has a factorisation into unit vectors whose products are at least ``gamma`` in
    absolute value, and a quasi-dimension of at most ``D``. On a mistake the relative entropy of
    that matrix to the weights, at most ``D log(m + n)`` at first, falls by at least ::

        min(eta (1 + gamma) - e^eta + 1,  1 - e^-eta - eta (1 - gamma))

    which is at least ``(3 - e) gamma^2`` for ``eta = gamma``, so that there are at most ``3.56 (D /
    gamma^2) log(m + n)`` mistakes.

    Parameters
    ----------
    dimension : float or array-like
        The quasi-dimension ``D``; see :func:`quasi_dimension`.

    margin : float or array-like
        The margin ``gamma``, between 0 and 1.

    size : int or array-like of int
        The number ``m + n`` of rows and columns, at least three.

    eta : float or array-like, default=None
        The step; None is ``gamma``.

    Returns
    -------
    bound : float or ndarray
        No more mistakes than this; infinite if the step is so long that the theorem does not apply.

    See Also
    --------
    matrix_completion_bound : The bound on the regret, without a matrix that agrees with all labels.

    References
    ----------
    .. [1] M. Herbster, S. Pasteris and L. Tse, "Online matrix completion with side information",
       NeurIPS 2020.

    Examples
    --------
    >>> from sklearn_sl.theory import matrix_completion_mistakes
    >>> print(f"{matrix_completion_mistakes(dimension=10, margin=0.5, size=100):.0f}")
    455
    """
    _capacity(dimension, margin, size)
    dimension, margin = positive("dimension", dimension), np.asarray(margin, dtype=np.float64)
    eta = margin if eta is None else positive("eta", eta)
    progress = np.minimum(eta * (1 + margin) - np.expm1(eta), -np.expm1(-eta) - eta * (1 - margin))
    entropy = dimension * np.log(whole("size", size, low=3))
    safe = np.where(progress > 0, progress, 1.0)
    return np.where(progress > 0, entropy / safe, np.inf)[()]


def _capacity(dimension, margin, size):
    """Return ``D / gamma^2 log(m + n)``."""
    dimension, margin = positive("dimension", dimension), positive("margin", margin)
    real("margin", margin, high=1)
    return dimension / margin**2 * np.log(whole("size", size, low=2))


def quasi_dimension(
    row_clusters: ArrayLike,
    col_clusters: ArrayLike,
    row_matrix: ArrayLike | None = None,
    col_matrix: ArrayLike | None = None,
    *,
    laplacian: bool = False,
) -> float:
    """Return a bound on the quasi-dimension of a biclustered matrix, given side information.

    Entries of the matrix ``U`` depend on the clusters of their row and their column alone. Side
    information on the rows is a positive definite matrix ``M``, the inverse of a kernel matrix,
    whose largest diagonal entry is ``R_M``; that on the columns is ``N``. The quasi-dimension is
    the least of ``tr(P'MP) R_M + tr(Q'NQ) R_N`` among the factorisations ``PQ' = gamma U`` into
    rows of norm one. Without side information, which is the identity, it is ``m + n``. If ``R``
    and ``C`` tell the clusters of ``k`` kinds of rows and ``l`` kinds of columns, it is at most ::

        k tr(R'MR) R_M + l tr(C'NC) R_N                  positive definite matrices
        2 tr(R'MR) R_M + 2 tr(C'NC) R_N + 2 k + 2 l      graphs

    where a side without side information has its number of rows instead. In the second line ``M``
    and ``N`` are Laplacians of connected graphs, so that ``tr(R'MR)`` is twice the weight of the
    edges between different clusters; the kernel is ``L^+ + R_L 11'``, where ``R_L`` is the largest
    diagonal entry of the pseudo-inverse ``L^+``, and ``R_M = 2 R_L``. It is a dimension of some
    ``k + l`` if the clusters are tight and the edges between them few.

    Parameters
    ----------
    row_clusters : array-like of shape (m,)
        The cluster of each row.

    col_clusters : array-like of shape (n,)
        The cluster of each column.

    row_matrix : array-like of shape (m, m), default=None
        ``M``; None is no side information.

    col_matrix : array-like of shape (n, n), default=None
        ``N``; None is no side information.

    laplacian : bool, default=False
        Whether the matrices are Laplacians of connected graphs.

    Returns
    -------
    dimension : float
        The bound; ``m + n`` if there is no side information.

    See Also
    --------
    factor_dimension : The value of one factorisation.
    sklearn_sl.datasets.make_cluster_graph : A graph of clusters.

    References
    ----------
    .. [1] M. Herbster, S. Pasteris and L. Tse, "Online matrix completion with side information",
       NeurIPS 2020.

    Examples
    --------
    Two pairs of rows, joined by an edge, and the same for the columns:

    >>> import numpy as np
    >>> from sklearn_sl.theory import quasi_dimension
    >>> path = np.diag([1.0, 2.0, 2.0, 1.0]) - np.eye(4, k=1) - np.eye(4, k=-1)
    >>> clusters = [0, 0, 1, 1]
    >>> quasi_dimension(clusters, clusters)
    8.0
    >>> round(quasi_dimension(clusters, clusters, path, path, laplacian=True), 6)
    22.0
    """
    sides = [
        _one_hot("row_clusters", row_clusters, "row_matrix", row_matrix),
        _one_hot("col_clusters", col_clusters, "col_matrix", col_matrix),
    ]
    dimension = _graph_dimension if laplacian else _matrix_dimension
    return float(
        sum(
            len(clusters) if matrix is None else dimension(clusters, matrix)
            for clusters, matrix in sides
        )
    )


def factor_dimension(
    P: ArrayLike,
    Q: ArrayLike,
    row_matrix: ArrayLike | None = None,
    col_matrix: ArrayLike | None = None,
) -> float:
    """Return ``tr(P'MP) R_M + tr(Q'NQ) R_N``, of which the quasi-dimension is the least value.

    With the hypotheses of a switching sequence as the columns of a sign matrix ``H``, ``P = H /
    sqrt(l)`` and the modes of the trials as rows of ones and zeros in ``Q``, it is that of the
    margin ``gamma = 1 / sqrt(l)``: the one by which switching hypotheses are learned.

    Parameters
    ----------
    P : array-like of shape (m, d)
        Factors of the rows, of norm one.

    Q : array-like of shape (n, d)
        Factors of the columns, of norm one.

    row_matrix : array-like of shape (m, m), default=None
        The positive definite matrix ``M``, the inverse of a kernel matrix whose largest diagonal
        entry is ``R_M``; None is the identity.

    col_matrix : array-like of shape (n, n), default=None
        The matrix ``N``, likewise.

    Returns
    -------
    dimension : float
        An upper bound on the quasi-dimension of every sign matrix that is a multiple of ``PQ'``.

    See Also
    --------
    quasi_dimension : A bound that needs no factorisation.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.theory import factor_dimension
    >>> factor_dimension([[1.0], [-1.0]], [[1.0]])
    3.0
    """
    factors = [real("P", P), real("Q", Q)]
    for name, factor in zip("PQ", factors, strict=True):
        if factor.ndim != 2 or not np.allclose(np.einsum("ij,ij->i", factor, factor), 1):
            raise ValueError(f"{name} must be a matrix whose rows have norm 1.")
    if factors[0].shape[1] != factors[1].shape[1]:
        raise ValueError(
            f"P and Q must have the same number of columns; got {factors[0].shape[1]} and "
            f"{factors[1].shape[1]}."
        )
    return float(
        sum(
            len(factor)
            if matrix is None
            else np.trace(factor.T @ real("matrix", matrix) @ factor) * _radius(matrix)
            for factor, matrix in zip(factors, (row_matrix, col_matrix), strict=True)
        )
    )


def _one_hot(name, labels, matrix_name, matrix):
    """Return clusters as columns of zeros and ones, and the matrix that belongs to them."""
    labels = np.asarray(labels)
    if labels.ndim != 1 or not labels.size:
        raise ValueError(
            f"{name} must be a non-empty 1-D array of clusters; got shape {labels.shape}."
        )
    clusters = (labels[:, None] == np.unique(labels)).astype(np.float64)
    if matrix is None:
        return clusters, None
    matrix = real(matrix_name, matrix)
    if matrix.shape != (len(labels), len(labels)) or not np.allclose(matrix, matrix.T):
        raise ValueError(
            f"{matrix_name} must be a symmetric matrix of shape ({len(labels)}, {len(labels)}); "
            f"got shape {matrix.shape}."
        )
    return clusters, matrix


def _matrix_dimension(clusters, matrix):
    return clusters.shape[1] * np.trace(clusters.T @ matrix @ clusters) * _radius(matrix)


def _radius(matrix):
    """Return the largest diagonal entry of the inverse of a positive definite matrix."""
    if linalg.eigvalsh(matrix)[0] <= 0:
        raise ValueError(
            "row_matrix and col_matrix must be positive definite; for Laplacians set "
            "laplacian=True."
        )
    return np.diag(linalg.inv(matrix)).max()


def _graph_dimension(clusters, matrix):
    values = linalg.eigvalsh(matrix)
    scale = max(values[-1], np.finfo(np.float64).tiny)
    connected = len(values) > 1 and values[1] > 1e-10 * scale
    if np.abs(matrix.sum(axis=0)).max() > 1e-10 * scale or not connected:
        raise ValueError(
            "If laplacian=True, row_matrix and col_matrix must be Laplacians of connected graphs."
        )
    radius = 2 * np.diag(linalg.pinvh(matrix)).max()
    return 2 * np.trace(clusters.T @ matrix @ clusters) * radius + 2 * clusters.shape[1]


def max_norm_bound(U: ArrayLike) -> float:
    """Return an upper bound on the max norm of a sign matrix.

    The max norm is the least product of the largest norms of the rows of ``P`` and of ``Q`` among
    all factorisations ``PQ' = U``; it is at least one. It is at most the square root of the rank,
    which is at most the number of distinct rows, and of distinct columns. If ``U`` tells which
    rows and columns are of the same kind, it is twice a matrix of max norm one minus a matrix of
    ones, so that its max norm is at most three, however many kinds there are.

    Parameters
    ----------
    U : array-like of shape (m, n)
        A matrix with the entries -1 and 1.

    Returns
    -------
    bound : float
        The bound; its reciprocal is a margin with which the matrix can be learned.

    See Also
    --------
    matrix_completion_bound : Where the margin matters.

    References
    ----------
    .. [1] M. Herbster, S. Pasteris and L. Tse, "Online matrix completion with side information",
       NeurIPS 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.theory import max_norm_bound
    >>> max_norm_bound([[1, 1, -1], [-1, -1, 1]])
    1.0
    >>> max_norm_bound(2 * np.eye(50) - 1)
    3.0
    """
    U = real("U", U)
    if U.ndim != 2 or not U.size or not np.all(np.abs(U) == 1):
        raise ValueError("U must be a matrix of entries -1 and 1.")
    bound = np.sqrt(np.linalg.matrix_rank(U))
    return float(min(bound, 3.0) if _tells_kinds(U) else bound)


def _tells_kinds(U):
    """Return whether two rows of ``U`` are the same or have no column in common."""
    kinds = np.unique(U > 0, axis=0)
    return bool(np.all(kinds.sum(axis=0) <= 1))


def path_tree_norm_bound(n_switches: ArrayLike, n_leaves: ArrayLike) -> float | np.ndarray:
    """Return a bound on the norm of a function of time that rarely changes.

    For a function ``f`` on ``T`` leaves with the values 0 and 1 and ``k`` changes, and the
    path-tree kernel ``P``, ``f' P^-1 f max_t P(t, t) <= k ceil(log2 T)^2 + 2``.

    Parameters
    ----------
    n_switches : int or array-like of int
        The number ``k`` of places where the function changes.

    n_leaves : int or array-like of int
        The number ``T`` of leaves, at least two.

    Returns
    -------
    bound : float or ndarray
        The squared norm times the largest kernel value is at most this.

    See Also
    --------
    sklearn_sl.kernels.PathTree : The kernel.

    References
    ----------
    .. [1] M. Herbster, S. Pasteris and L. Tse, "Online multitask learning with long-term memory",
       NeurIPS 2020.

    Examples
    --------
    >>> from sklearn_sl.theory import path_tree_norm_bound
    >>> float(path_tree_norm_bound(3, 1000))
    302.0
    """
    return whole("n_switches", n_switches, low=0) * _height(n_leaves) ** 2 + 2


def _height(n_leaves):
    return np.ceil(np.log2(whole("n_leaves", n_leaves, low=2)))


def multitask_kernel_complexity(
    squared_norms: ArrayLike, n_trials: int, n_switches: int = 0, n_tasks: int = 1
) -> float:
    """Return the complexity of a switching sequence of hypotheses of a kernel.

    In each of ``s`` tasks the hypothesis changes, ``k`` times in all, among ``m``
    hypotheses ``h`` with values -1 and 1 that the tasks share. With the largest kernel value
    ``X^2`` the complexity is ::

        C = sum_h ||h||^2 X^2 + 2 (s + k - 1) m ceil(log2 T)^2 + 2 m^2

    Parameters
    ----------
    squared_norms : array-like of shape (m,)
        ``||h||^2 X^2`` of each hypothesis.

    n_trials : int
        The number ``T`` of trials of all tasks, at least two.

    n_switches : int, default=0
        The number ``k`` of changes of the hypothesis within a task.

    n_tasks : int, default=1
        The number ``s`` of tasks.

    Returns
    -------
    complexity : float
        The complexity ``C``.

    See Also
    --------
    multitask_kernel_bound : The bound on the regret.

    References
    ----------
    .. [1] M. Herbster, S. Pasteris and L. Tse, "Online multitask learning with long-term memory",
       NeurIPS 2020.

    Examples
    --------
    >>> from sklearn_sl.theory import multitask_kernel_complexity
    >>> multitask_kernel_complexity([9.0, 4.0], n_trials=1000, n_switches=5)
    2021.0
    """
    norms = np.atleast_1d(real("squared_norms", squared_norms, low=0))
    n_modes = norms.size
    changes = whole("n_tasks", n_tasks, low=1) + whole("n_switches", n_switches, low=0) - 1
    steps = 2 * changes * n_modes * _height(n_trials) ** 2
    return float(norms.sum() + steps + 2 * n_modes**2)


def multitask_kernel_bound(n_trials: ArrayLike, complexity: ArrayLike) -> float | np.ndarray:
    """Return an upper bound on the regret of online learning of switching tasks with a kernel.

    The expected number of mistakes in ``T`` trials exceeds that of a switching sequence of
    hypotheses by at most ``4 sqrt(2 C T log(2 T))``, if its complexity is at most ``C``.

    Parameters
    ----------
    n_trials : int or array-like of int
        The number ``T`` of trials of all tasks.

    complexity : float or array-like
        The complexity ``C``; see :func:`multitask_kernel_complexity`.

    Returns
    -------
    bound : float or ndarray
        The expected regret is at most this.

    See Also
    --------
    sklearn_sl.online.SwitchingMultitaskKernel : The learner.

    References
    ----------
    .. [1] M. Herbster, S. Pasteris and L. Tse, "Online multitask learning with long-term memory",
       NeurIPS 2020.

    Examples
    --------
    >>> from sklearn_sl.theory import multitask_kernel_bound
    >>> print(f"{multitask_kernel_bound(1_000_000, complexity=500.0):.0f}")
    481808
    """
    n_trials = whole("n_trials", n_trials, low=1)
    return 4 * np.sqrt(2 * positive("complexity", complexity) * n_trials * np.log(2 * n_trials))
