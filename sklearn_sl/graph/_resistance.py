"""Effective resistances: the graph as a network of resistors ``1 / w``, and as a random walk."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Literal

import numpy as np
import scipy.sparse as sp
from scipy.stats import chi2
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from sklearn_sl._laplacians._adjacency import as_graph, degrees, edge_list, find_components
from sklearn_sl._laplacians._inverse import LOST, WIDTH, LaplacianInverse, settled_solution
from sklearn_sl._memory import check_memory
from sklearn_sl._warnings import warn
from sklearn_sl.graph._paragraphs import described

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, SparseLike

# The probability with which any resistance of a sketch has an error larger than was asked for.
FAILURE = 0.01
# How many times larger weights of a sketched graph can be than others.
SPREAD = 1e12
# So many resistances that are lost in rounding errors are computed one by one in any case.
MOST_LOST = 20_000
# The part of the error of a sketch that is left to the linear solver.
SOLVER_SHARE = 0.05


@described
def effective_resistance(
    graph: SparseLike | ArrayLike,
    pairs: Literal["edges", "all"] | ArrayLike = "edges",
    *,
    method: Literal["auto", "exact", "sketch"] = "auto",
    error: float = 0.3,
    random_state: int | np.random.RandomState | None = None,
) -> sp.csr_array | np.ndarray:
    """Return the effective resistance between vertices.

    An edge of weight ``w`` is a resistor of ``1 / w``. The resistance between ``p`` and ``q`` is ::

        r(p, q) = L^+_pp + L^+_qq - 2 L^+_pq = 1 / min {u'Lu : u_p = 1, u_q = 0}

    for the Laplacian ``L``, and infinite between two components. It is a metric. It is small if
    many short ways join ``p`` and ``q``, and at most the length of the shortest.

    Parameters
    ----------
    {graph}

    pairs : {"edges", "all"} or array-like of shape (n_pairs, 2), default="edges"
        Which resistances: of the edges, of all pairs of vertices (an n x n matrix), or of these
        pairs.

    method : {"auto", "exact", "sketch"}, default="auto"
        "exact" factorises the Laplacian. All edges together cost about two factorisations, as the
        inverse is computed at the places of the factor only; pairs cost a solve each. "sketch"
        solves for random projections by conjugate gradients, and needs no factor. "auto" is
        "exact" for up to 10,000 vertices and for graphs whose factor is sparse, as those of points
        near a surface, and "sketch" otherwise. A sketch takes weights that differ by a factor of
        1e12 at the most.

    error : float, default=0.3
        The relative error of a sketch, in (0, 1): with a probability of at least 0.99 over the
        random numbers, every resistance that is asked for lies between ``1 - error`` and ``1 +
        error`` times the exact one. The cost grows as ``1 / error**2``. Where a solve for each
        pair is cheaper, that is done, and the result is as good as exact.

    random_state : int, RandomState instance or None, default=None
        The random numbers of a sketch.

    Returns
    -------
    resistance : csr_array, ndarray of shape (n_vertices, n_vertices) or ndarray of shape (n_pairs,)
        For "edges" a symmetric sparse matrix with the resistance at the place of each edge, for
        "all" a matrix, and otherwise the resistance of each pair.

    See Also
    --------
    commute_time : The same as the duration of a random walk.
    vertex_resistance : The sum of the resistances to all vertices.

    Notes
    -----
    The sum of ``w r`` over the edges is the number of vertices minus that of the components.

    The factorisation has pivots that are sums of positive numbers, so that weights may differ by a
    hundred orders of magnitude and more. Exact resistances have at least seven correct digits:
    those that are small differences of large numbers are computed again without a difference, each
    by a solve or by a factorisation of its own. Where these would be too many there is a warning.

    References
    ----------
    .. [1] D. J. Klein and M. Randic, "Resistance distance", Journal of Mathematical Chemistry,
       1993.

    .. [2] D. A. Spielman and N. Srivastava, "Graph sparsification by effective resistances",
       SIAM Journal on Computing, 2011.

    .. [3] K. Takahashi, J. Fagan and M.-S. Chen, "Formation of a sparse bus impedance matrix and
       its application to short circuit study", PICA 1973.

    Examples
    --------
    >>> from sklearn_sl.graph import effective_resistance, graph_from_edges
    >>> circle = graph_from_edges([[0, 1], [1, 2], [2, 3], [3, 0]])
    >>> effective_resistance(circle, [[0, 1], [0, 2]])
    array([0.75, 1.  ])
    >>> float(round(effective_resistance(circle).sum() / 2, 6))
    3.0
    """
    W = as_graph(graph)
    if method not in ("auto", "exact", "sketch"):
        raise ValueError(f"method must be 'auto', 'exact' or 'sketch'; got {method!r}.")
    if not isinstance(error, numbers.Real) or not 0 < error < 1:
        raise ValueError(f"error must be a number in (0, 1); got {error!r}.")
    inverse = LaplacianInverse(W, direct=_is_direct(W, method))
    if isinstance(pairs, str) and pairs == "all":
        return _of_all(inverse, error, random_state)
    if isinstance(pairs, str) and pairs == "edges":
        rows, cols, weights = edge_list(W)
        values = _of_edges(inverse, rows, cols, weights, error, random_state)
        upper = sp.csr_array((values, (rows, cols)), shape=W.shape)
        return sp.csr_array(upper + upper.T)
    rows, cols = check_pairs(pairs, W.shape[0])
    return _of_pairs(inverse, rows, cols, error, random_state)


def _is_direct(W, method):
    """Return whether the Laplacian is factorised; None if its size decides."""
    close = not W.nnz or W.data.max() / SPREAD <= W.data.min()
    if method == "sketch" and not close:
        raise ValueError(
            "The weights of the graph differ by too many orders of magnitude for method='sketch': "
            "use method='exact', or remove the smallest weights."
        )
    return {"auto": None if close else True, "exact": True, "sketch": False}[method]


def check_pairs(pairs, n_vertices):
    """Return the two columns of an array of pairs of vertices, or say what is wrong."""
    if isinstance(pairs, str):
        raise ValueError(
            f"pairs must be 'edges', 'all' or an array of shape (n_pairs, 2); got {pairs!r}."
        )
    pairs = check_array(pairs, dtype=None, ensure_min_samples=0, input_name="pairs")
    whole = pairs.dtype.kind in "iu" or (pairs.dtype.kind == "f" and np.all(pairs % 1 == 0))
    if pairs.shape[1] != 2 or not whole:
        raise ValueError("pairs must be an integer array of shape (n_pairs, 2).")
    if pairs.size and (pairs.min() < 0 or pairs.max() >= n_vertices):
        raise ValueError(f"pairs must be vertices in [0, {n_vertices}).")
    return pairs.astype(np.intp).T


def _of_edges(inverse, rows, cols, weights, error, random_state):
    """Return the resistances of the edges."""
    if inverse.direct:
        values = inverse.resistances_of_edges(rows, cols)
    else:
        values = _sketched(inverse, rows, cols, error, random_state)
    # Rounding errors cannot take them out of their bounds: the edge alone is a way, and all ways
    # lead over the edges of one vertex.
    degree = inverse.degree * inverse.unit
    return np.clip(values, 1 / np.minimum(degree[rows], degree[cols]), 1 / weights)


def _of_pairs(inverse, rows, cols, error, random_state):
    """Return the resistances of any pairs."""
    values = np.where(inverse.component[rows] == inverse.component[cols], 0.0, np.inf)
    ask = np.flatnonzero((values == 0) & (rows != cols))
    rows, cols = rows[ask], cols[ask]
    if not inverse.direct:
        values[ask] = _sketched(inverse, rows, cols, error, random_state)
    elif len(ask) <= 2 * len(np.unique(rows)):
        values[ask] = inverse.resistances_of_pairs(rows, cols)
    else:
        values[ask] = _from_columns(inverse, rows, cols)
    return values


def _from_columns(inverse, rows, cols):
    """Return the resistances of pairs many of which have the same first vertex."""
    order = np.argsort(rows, kind="stable")
    vertices, begins = np.unique(rows[order], return_index=True)
    ends = np.append(begins[1:], len(rows))
    own = inverse.diagonal(np.arange(inverse.n_vertices))
    values = np.empty(len(rows))
    for places, X in inverse.blocks(vertices):
        block = order[begins[places][0] : ends[places][-1]]
        number = np.searchsorted(vertices[places], rows[block])
        values[block] = own[rows[block]] + own[cols[block]] - 2 * X[cols[block], number]
    lost = np.flatnonzero(values < LOST * np.maximum(own[rows], own[cols]))
    values[lost] = _of_lost(inverse, rows[lost], cols[lost], values[lost])
    return values


def _of_lost(inverse, rows, cols, values):
    """Return the resistances of pairs that are differences of far larger numbers."""
    if len(rows) <= max(MOST_LOST, 10 * inverse.n_vertices):
        return inverse.resistances_of_pairs(rows, cols)
    warn(
        f"{len(rows)} resistances are inaccurate: rounding errors of much larger resistances in "
        "the same component exceed them. Use pairs='edges', or fewer pairs.",
    )
    return np.maximum(values, 0)


def _of_all(inverse, error, random_state):
    """Return the matrix of all resistances."""
    n = inverse.n_vertices
    check_memory(8 * n**2, "The matrix of all resistances", "ask for pairs of vertices.")
    K = np.zeros((n, n))
    if inverse.direct:
        for places, X in inverse.blocks(np.arange(n)):
            K[places] = X.T
    else:
        for Y in _projections(inverse, n * (n - 1) // 2, error, random_state):
            K += Y @ Y.T
    return _distances(inverse, K)


def _distances(inverse, K):
    """Turn a kernel matrix of all vertices into resistances, in place."""
    own, lost = np.diag(K).copy(), []
    for row in range(len(K)):  # both triangles alike, to the last bit
        K[row, row + 1 :] = own[row] + own[row + 1 :] - K[row, row + 1 :] - K[row + 1 :, row]
        K[row, row] = 0
        if inverse.direct:
            small = K[row, row + 1 :] < LOST * np.maximum(own[row], own[row + 1 :])
            small &= inverse.component[row + 1 :] == inverse.component[row]
            lost += [(row, row + 1 + other) for other in np.flatnonzero(small)]
        np.maximum(K[row], 0, out=K[row], where=np.arange(len(K)) > row)
        K[row, inverse.component != inverse.component[row]] = np.inf
        K[row + 1 :, row] = K[row, row + 1 :]
    if lost:
        rows, cols = np.array(lost).T
        K[rows, cols] = K[cols, rows] = _of_lost(inverse, rows, cols, K[rows, cols])
    return K


def n_projections(error, n_pairs):
    """Return how many random projections keep all of so many distances within an error.

    With ``k`` Gaussian projections the squared distance of a pair is estimated by that times
    ``chi2_k / k``; the probabilities that a pair is wrong by more than ``error`` add up to at
    most 0.01.
    """
    low, high = 0, 1
    while _failure(high, error, n_pairs) > FAILURE:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _failure(middle, error, n_pairs) <= FAILURE else (middle, high)
    return high


def _failure(k, error, n_pairs):
    return n_pairs * (chi2.cdf((1 - error) * k, k) + chi2.sf((1 + error) * k, k))


def _sketched(inverse, rows, cols, error, random_state):
    """Return estimates of the resistances of pairs, or nearly exact ones if that is cheaper."""
    if len(rows) <= n_projections(error * (1 - SOLVER_SHARE), max(len(rows), 1)):
        return inverse.resistances_of_pairs(rows, cols)
    values = np.zeros(len(rows))
    for Y in _projections(inverse, len(rows), error, random_state):
        for begin in range(0, len(rows), 2**16):
            part = slice(begin, begin + 2**16)
            values[part] += np.sum((Y[rows[part]] - Y[cols[part]]) ** 2, axis=1)
    return values


def _projections(inverse, n_pairs, error, random_state):
    """Iterate over blocks of columns ``Y``, whose squared distances add up to resistances.

    With the edges ``B`` (rows ``e_i - e_j``) and ``k`` Gaussian columns ``Q`` they are ``L^+ B'
    sqrt(w) Q / sqrt(k)``. If the solver is wrong by ``e`` in the norm of the energy for all columns
    together, where the squared norm of the exact ones is the rank of ``L``, then distances are
    wrong by at most ``e`` of their size, and their squares by ``2 e`` plus ``e**2``.
    """
    rng = check_random_state(random_state)
    k = n_projections(error * (1 - SOLVER_SHARE), n_pairs)
    rows, cols, weights = edge_list(inverse.W)
    rank = inverse.n_vertices - inverse.n_components
    tol = SOLVER_SHARE * error / 3 / math.sqrt(max(rank, 1))
    incidence = sp.csr_array(
        (
            np.concatenate([np.sqrt(weights), -np.sqrt(weights)]),
            (np.concatenate([rows, cols]), np.tile(np.arange(len(rows)), 2)),
        ),
        shape=(inverse.n_vertices, len(rows)),
    )
    for begin in range(0, k, WIDTH):
        Q = rng.standard_normal((len(rows), min(WIDTH, k - begin)))
        Q /= math.sqrt(k * inverse.unit)
        yield settled_solution(inverse.scaled, incidence @ Q, tol)


@described
def commute_time(
    graph: SparseLike | ArrayLike,
    pairs: Literal["edges", "all"] | ArrayLike = "edges",
    *,
    method: Literal["auto", "exact", "sketch"] = "auto",
    error: float = 0.3,
    random_state: int | np.random.RandomState | None = None,
) -> sp.csr_array | np.ndarray:
    """Return the expected time of a random walk from one vertex to another and back.

    The walk goes from ``i`` to ``j`` with the probability ``w_ij / d_i``. Between vertices of one
    component the time is the resistance times the sum of the degrees of that component (twice the
    weight of its edges), and infinite otherwise.

    Parameters
    ----------
    {graph}

    pairs : {"edges", "all"} or array-like of shape (n_pairs, 2), default="edges"
        Which times, as in :func:`effective_resistance`.

    method : {"auto", "exact", "sketch"}, default="auto"
        How the resistances are computed.

    error : float, default=0.3
        The relative error of a sketch.

    random_state : int, RandomState instance or None, default=None
        The random numbers of a sketch.

    Returns
    -------
    time : csr_array, ndarray of shape (n_vertices, n_vertices) or ndarray of shape (n_pairs,)
        The number of steps, in the form of :func:`effective_resistance`.

    See Also
    --------
    effective_resistance : The resistances.

    References
    ----------
    .. [1] A. K. Chandra, P. Raghavan, W. L. Ruzzo, R. Smolensky and P. Tiwari, "The electrical
       resistance of a graph captures its commute and cover times", STOC 1989.

    Examples
    --------
    >>> from sklearn_sl.graph import commute_time, graph_from_edges
    >>> commute_time(graph_from_edges([[0, 1], [1, 2]]), [[0, 1], [0, 2]])
    array([4., 8.])
    """
    W = as_graph(graph)
    times = effective_resistance(W, pairs, method=method, error=error, random_state=random_state)
    component = find_components(W)[1]
    volume = np.bincount(component, degrees(W))[component]
    if sp.issparse(times):
        times.data *= np.repeat(volume, np.diff(times.indptr))
        return times
    if times.ndim == 2:
        times *= np.where(volume > 0, volume, 1)[:, None]
        return times
    first = check_pairs(pairs, W.shape[0])[0]
    return times * np.where(volume > 0, volume, 1)[first]


@described
def vertex_resistance(graph: SparseLike | ArrayLike) -> np.ndarray:
    """Return the sum of the resistances from each vertex to all vertices of its component.

    With ``R(v) = sum_i r(v, i)``, and ``R_tot`` the sum over the pairs of the component, of ``n``
    vertices, ``L^+_vv = R(v) / n - R_tot / n^2``: central vertices have small sums. All sums
    together cost about two factorisations of the Laplacian.

    Parameters
    ----------
    {graph}

    Returns
    -------
    resistance : ndarray of shape (n_vertices,)
        The sum for each vertex.

    See Also
    --------
    kirchhoff_index : Half the sum of all of them.

    Examples
    --------
    >>> from sklearn_sl.graph import graph_from_edges, vertex_resistance
    >>> vertex_resistance(graph_from_edges([[0, 1], [1, 2]])).round(6)
    array([3., 2., 3.])
    """
    inverse = LaplacianInverse(as_graph(graph), direct=True)
    own = inverse.diagonal(np.arange(inverse.n_vertices))
    trace = np.bincount(inverse.component, own)[inverse.component]
    return np.where(inverse.size > 1, np.maximum(inverse.size * own + trace, 0), 0.0)


@described
def kirchhoff_index(graph: SparseLike | ArrayLike) -> float:
    """Return the sum of the resistances of all pairs of vertices, ``n`` times the trace of ``L^+``.

    Parameters
    ----------
    {graph}

    Returns
    -------
    index : float
        The sum; infinite if the graph is not connected.

    See Also
    --------
    vertex_resistance : The sums for each vertex.

    Examples
    --------
    >>> from sklearn_sl.graph import graph_from_edges, kirchhoff_index
    >>> round(kirchhoff_index(graph_from_edges([[0, 1], [1, 2]])), 6)
    4.0
    """
    W = as_graph(graph)
    if find_components(W)[0] > 1:
        return math.inf
    return float(vertex_resistance(W).sum() / 2)


@described
def resistance_diameter(graph: SparseLike | ArrayLike) -> float:
    """Return the largest resistance between two vertices, exactly.

    No matrix of all pairs is made: a column of ``L^+`` gives all resistances of one vertex ``v``,
    the largest of them ``e(v)``, and by the triangle inequality no vertex ``q`` has a larger one
    than ``r(v, q) + e(v)``. So vertices are looked at, a linear system for each, until none of the
    others can exceed the largest resistance found. On long graphs that is after a small part of
    them, on tightly connected ones after nearly all.

    Parameters
    ----------
    {graph}

    Returns
    -------
    diameter : float
        The largest resistance; infinite if the graph is not connected.

    See Also
    --------
    resistance_cover : Sets of vertices of a given diameter.

    Examples
    --------
    >>> from sklearn_sl.graph import graph_from_edges, resistance_diameter
    >>> round(resistance_diameter(graph_from_edges([[0, 1], [1, 2], [2, 3], [3, 0]])), 6)
    1.0
    """
    inverse = LaplacianInverse(as_graph(graph), direct=True)
    if inverse.n_components > 1:
        return math.inf
    own = inverse.diagonal(np.arange(inverse.n_vertices))
    largest, bound = 0.0, np.full(len(own), np.inf)
    centre, outside = np.argsort(own)[:1], np.argsort(-own)[: WIDTH // 8]
    asked = np.unique(np.concatenate([centre, outside]))
    while len(asked):
        R = own[:, None] + own[asked] - 2 * inverse.columns(asked)
        reach = R.max(axis=0)
        largest = max(largest, float(reach.max()))
        bound = np.minimum(bound, np.min(R + reach, axis=1))
        bound[asked] = 0
        # A bound that only rounding errors raise over the largest is not worth a look.
        open_ = np.flatnonzero(bound > largest * (1 + 1e-12))
        asked = open_[np.argsort(-bound[open_])[:WIDTH]]
    return largest


@described
def resistance_cover(graph: SparseLike | ArrayLike, diameter: float) -> np.ndarray:
    """Return a cover of the vertices by sets with resistances of at most ``diameter`` in them.

    The sets are disjoint and found greedily: the outermost vertex that is left, with the largest
    ``L^+_vv``, starts a set, and the others join it from near to far if they are within the
    diameter of all its vertices. Their number is an upper bound of the covering number ``N_rho``,
    the least number of sets with a resistance diameter of at most ``rho = diameter``, and so valid
    in mistake bounds; it need not be the least. At most one linear system is solved for each
    vertex.

    Parameters
    ----------
    {graph}

    diameter : float
        The largest resistance within a set, not negative.

    Returns
    -------
    cover : ndarray of shape (n_vertices,)
        The number of each vertex's set, from 0.

    See Also
    --------
    resistance_diameter : The diameter that one set is enough for.

    References
    ----------
    .. [1] M. Herbster, M. Pontil and L. Wainer, "Online learning over graphs", ICML 2005.

    Examples
    --------
    >>> from sklearn_sl.graph import graph_from_edges, resistance_cover
    >>> path = graph_from_edges([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])
    >>> resistance_cover(path, 2.0)
    array([0, 0, 0, 1, 1, 1])
    """
    if not isinstance(diameter, numbers.Real) or not diameter >= 0:
        raise ValueError(f"diameter must be a number >= 0; got {diameter!r}.")
    inverse = LaplacianInverse(as_graph(graph), direct=True)
    own = inverse.diagonal(np.arange(inverse.n_vertices))
    # What differs from the diameter by rounding only is within it.
    diameter = diameter * (1 + 1e-9) + 1e-12 * own.max()
    cover, n_sets = np.full(len(own), -1), 0
    # Vertices that are equal but for rounding are taken in their order.
    outermost = np.argsort(-np.round(own / (own.max() or 1), 9), kind="stable")
    for seed in outermost:
        if cover[seed] < 0:
            cover[_members(inverse, own, seed, cover < 0, diameter)] = n_sets
            n_sets += 1
    return cover


def _members(inverse, own, seed, left, diameter):
    """Return a set of vertices that are left, around one of them and within the diameter."""

    def distances(vertex):
        values = own + own[vertex] - 2 * inverse.columns([vertex])[:, 0]
        return np.where(inverse.component == inverse.component[vertex], values, np.inf)

    far = distances(seed)
    far[seed] = 0
    candidates = np.flatnonzero(left & (far <= diameter))
    candidates = candidates[np.argsort(far[candidates], kind="stable")]
    members = []
    while len(candidates):
        vertex, candidates = candidates[0], candidates[1:]
        members.append(vertex)
        # Near the seed the triangle inequality answers for all others.
        if len(candidates) and far[vertex] + far[candidates[-1]] > diameter:
            candidates = candidates[distances(vertex)[candidates] <= diameter]
    return np.array(members)
