"""Biclustered sign matrices, and side information on their rows and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg
from scipy.sparse import csgraph
from sklearn.utils import Bunch, check_array, check_random_state

from sklearn_sl.datasets._streams import at_least, between, stretches, walk

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


def make_biclustered(
    n_rows: int = 50,
    n_cols: int = 50,
    n_row_clusters: int = 3,
    n_col_clusters: int = 3,
    *,
    noise: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make a sign matrix whose entries depend on the clusters of their row and column.

    The entry of row ``i`` and column ``j`` is that of the latent matrix at the cluster of ``i`` and
    the cluster of ``j``. Signs of the latent matrix are drawn by a fair coin, and clusters
    uniformly, none of them empty.

    Parameters
    ----------
    n_rows : int, default=50
        The number of rows.

    n_cols : int, default=50
        The number of columns.

    n_row_clusters : int, default=3
        The number of clusters of rows, at most ``n_rows``.

    n_col_clusters : int, default=3
        The number of clusters of columns, at most ``n_cols``.

    noise : float, default=0.0
        The probability with which an entry has the other sign.

    random_state : int, RandomState instance or None, default=None
        For the draws.

    Returns
    -------
    U : ndarray of shape (n_rows, n_cols)
        Numbers -1 and 1.

    row_clusters : ndarray of shape (n_rows,)
        The cluster of each row.

    col_clusters : ndarray of shape (n_cols,)
        The cluster of each column.

    See Also
    --------
    make_cluster_graph : Side information about clusters.
    matrix_trials : The entries in random order.

    References
    ----------
    .. [1] M. Herbster, S. Pasteris and L. Tse, "Online matrix completion with side information",
       NeurIPS 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.datasets import make_biclustered
    >>> U, row_clusters, col_clusters = make_biclustered(50, 50, 9, 9, random_state=0)
    >>> U.shape, len(np.unique(U, axis=0))
    ((50, 50), 9)
    """
    at_least(1, n_row_clusters=n_row_clusters, n_col_clusters=n_col_clusters)
    at_least(n_row_clusters, n_rows=n_rows)
    at_least(n_col_clusters, n_cols=n_cols)
    between(0, 1, noise=noise)
    rng = check_random_state(random_state)
    latent = rng.choice([-1.0, 1.0], size=(n_row_clusters, n_col_clusters))
    row_clusters = _clusters(rng, n_rows, n_row_clusters)
    col_clusters = _clusters(rng, n_cols, n_col_clusters)
    U = latent[np.ix_(row_clusters, col_clusters)]
    return _flipped(rng, U, noise), row_clusters, col_clusters


def make_similarity_matrix(
    n_rows: int = 50,
    n_clusters: int = 7,
    *,
    noise: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Make a sign matrix that says which of its rows belong to the same cluster.

    Parameters
    ----------
    n_rows : int, default=50
        The number of rows, and of columns.

    n_clusters : int, default=7
        The number of kinds, at most ``n_rows``.

    noise : float, default=0.0
        The probability with which an entry has the other sign.

    random_state : int, RandomState instance or None, default=None
        For the draws.

    Returns
    -------
    U : ndarray of shape (n_rows, n_rows)
        One for two rows of the same kind and minus one for others.

    clusters : ndarray of shape (n_rows,)
        The kind of each row.

    See Also
    --------
    make_biclustered : Rows and columns with clusters of their own.

    Examples
    --------
    >>> from sklearn_sl.datasets import make_similarity_matrix
    >>> U, clusters = make_similarity_matrix(6, 2, random_state=0)
    >>> bool(U[0, 1] == 1) == bool(clusters[0] == clusters[1])
    True
    """
    at_least(1, n_clusters=n_clusters)
    at_least(n_clusters, n_rows=n_rows)
    between(0, 1, noise=noise)
    rng = check_random_state(random_state)
    clusters = _clusters(rng, n_rows, n_clusters)
    U = np.where(clusters[:, None] == clusters, 1.0, -1.0)
    return _flipped(rng, U, noise), clusters


def _clusters(rng, n_items, n_clusters):
    """Return a cluster for each item, none of them empty."""
    return rng.permutation(
        np.concatenate([np.arange(n_clusters), rng.randint(n_clusters, size=n_items - n_clusters)])
    )


def _flipped(rng, U, noise):
    """Return a matrix some of whose signs are changed."""
    return np.where(rng.uniform(size=U.shape) < noise, -U, U)


def make_cluster_graph(
    clusters: ArrayLike,
    *,
    noise: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> Any:
    """Make a graph in which vertices of a cluster are neighbours, and its kernel.

    Two vertices of a cluster are joined by an edge with the probability ``1 - noise``, two others
    with the probability ``noise``. What is not connected then is: an edge goes from a vertex of the
    first component to one of each other component.

    The kernel is the inverse of the Laplacian made positive definite, ``L^+ + R 11'``, where ``R``
    is the largest diagonal entry of the pseudo-inverse ``L^+`` of the Laplacian.

    Parameters
    ----------
    clusters : array-like of shape (n_vertices,)
        The cluster of each vertex; at least two vertices.

    noise : float, default=0.0
        The probability of what should not be, between 0 and 1.

    random_state : int, RandomState instance or None, default=None
        For the draws.

    Returns
    -------
    graph : :class:`~sklearn.utils.Bunch`
        With these attributes.

        adjacency : ndarray of shape (n_vertices, n_vertices)
            Ones for edges and zeros.

        laplacian : ndarray of shape (n_vertices, n_vertices)
            The Laplacian.

        kernel : ndarray of shape (n_vertices, n_vertices)
            The kernel, as a matrix for :class:`~sklearn_sl.kernels.Precomputed`.

    See Also
    --------
    sklearn_sl.theory.quasi_dimension : What the graph is worth.

    References
    ----------
    .. [1] M. Herbster, S. Pasteris and L. Tse, "Online matrix completion with side information",
       NeurIPS 2020.

    Examples
    --------
    >>> from sklearn_sl.datasets import make_cluster_graph
    >>> make_cluster_graph(["a", "a", "b"], random_state=0).adjacency
    array([[0., 1., 1.],
           [1., 0., 0.],
           [1., 0., 0.]])
    """
    clusters = np.asarray(clusters)
    if clusters.ndim != 1 or len(clusters) < 2:
        raise ValueError(f"clusters must be a 1-D array of at least two entries; got {clusters!r}.")
    between(0, 1, noise=noise)
    rng = check_random_state(random_state)
    same = clusters[:, None] == clusters
    likely = np.where(same, 1.0 - noise, noise)
    upper = np.triu(rng.uniform(size=same.shape) < likely, k=1)
    adjacency = (upper | upper.T).astype(np.float64)
    n_parts, parts = csgraph.connected_components(adjacency, directed=False)
    centre = rng.choice(np.flatnonzero(parts == parts[0]))
    for part in range(n_parts):
        if part != parts[0]:
            other = rng.choice(np.flatnonzero(parts == part))
            adjacency[centre, other] = adjacency[other, centre] = 1.0
    laplacian = csgraph.laplacian(adjacency)
    inverse = linalg.pinvh(laplacian)
    return Bunch(adjacency=adjacency, laplacian=laplacian, kernel=inverse + np.diag(inverse).max())


def matrix_trials(
    U: ArrayLike,
    n_trials: int | None = None,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return entries of a matrix in random order, as samples and targets.

    Parameters
    ----------
    U : array-like of shape (n_rows, n_cols)
        The matrix; NaN is an entry that is not known.

    n_trials : int or None, default=None
        How many of the known entries; None is all of them.

    random_state : int, RandomState instance or None, default=None
        For the order.

    Returns
    -------
    X : ndarray of shape (n_trials, 2)
        The row and the column of each entry.

    y : ndarray of shape (n_trials,)
        The entries.

    See Also
    --------
    sklearn_sl.online.MatrixCompletion : Learns from such trials.

    Examples
    --------
    >>> from sklearn_sl.datasets import matrix_trials
    >>> X, y = matrix_trials([[1, -1], [-1, 1]], random_state=0)
    >>> X.astype(int).tolist(), y.astype(int).tolist()
    ([[1, 0], [1, 1], [0, 1], [0, 0]], [-1, 1, -1, 1])
    """
    U = check_array(U, dtype=np.float64, ensure_all_finite="allow-nan", input_name="U")
    known = np.argwhere(~np.isnan(U))
    n_trials = len(known) if n_trials is None else n_trials
    at_least(1, n_trials=n_trials)
    if n_trials > len(known):
        raise ValueError(
            f"n_trials must be <= {len(known)}, the number of known entries; got {n_trials}."
        )
    places = check_random_state(random_state).permutation(known)[:n_trials]
    return places.astype(np.float64), U[tuple(places.T)]


def make_switching_tasks(
    n_trials: int = 500,
    n_tasks: int = 1,
    *,
    n_features: int = 2,
    n_modes: int = 2,
    n_shifts: int = 4,
    noise: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make trials of tasks that switch between a few hypotheses.

    A hypothesis says on which side of a hyperplane through the origin a sample is. Tasks take turns
    at random. In each task the trials are divided into stretches of equal length, each with one of
    the hypotheses, which all tasks share.

    Parameters
    ----------
    n_trials : int, default=500
        The number of trials of all tasks.

    n_tasks : int, default=1
        The number of tasks.

    n_features : int, default=2
        The number of features of a sample, uniform in [-1, 1].

    n_modes : int, default=2
        The number of hypotheses.

    n_shifts : int, default=4
        How often the hypothesis changes in each task.

    noise : float, default=0.0
        The probability with which a label is the other one.

    random_state : int, RandomState instance or None, default=None
        For the draws.

    Returns
    -------
    X : ndarray of shape (n_trials, n_features + 1)
        The samples; the last column is the task.

    y : ndarray of shape (n_trials,)
        The labels -1 and 1.

    modes : ndarray of shape (n_trials,)
        The hypothesis of each trial.

    See Also
    --------
    make_multitask_experts : The same with experts.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.datasets import make_switching_tasks
    >>> X, y, modes = make_switching_tasks(300, random_state=0)
    >>> X.shape, int(np.count_nonzero(np.diff(modes)))
    ((300, 3), 4)
    """
    at_least(1, n_trials=n_trials, n_tasks=n_tasks, n_features=n_features, n_modes=n_modes)
    at_least(0, n_shifts=n_shifts)
    between(0, 1, noise=noise)
    rng = check_random_state(random_state)
    tasks = rng.permutation(np.arange(n_trials) % n_tasks)
    modes = np.empty(n_trials, dtype=np.intp)
    for task in range(min(n_tasks, n_trials)):
        mine = np.flatnonzero(tasks == task)
        turns = rng.permutation(n_modes)[walk(rng, n_shifts + 1, n_modes)]
        modes[mine] = turns[stretches(len(mine), n_shifts)]
    samples = rng.uniform(-1, 1, size=(n_trials, n_features))
    hypotheses = rng.normal(size=(n_modes, n_features))
    y = np.where(np.einsum("ij,ij->i", samples, hypotheses[modes]) > 0, 1.0, -1.0)
    return np.column_stack([samples, tasks]), _flipped(rng, y, noise), modes
