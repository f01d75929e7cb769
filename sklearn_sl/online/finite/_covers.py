"""Set cover: the smallest number of sets that cover all elements."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from sklearn_sl._warnings import warn
from sklearn_sl.online.finite._set_cover import CoverSearch

if TYPE_CHECKING:
    from sklearn_sl._typing import MatrixLike

# Numbers that a slice of a search looks at, and multiplications of a product of matrices: a few
# hundredths of a second.
SEARCH_SLICE, PRODUCT = 2**23, 2**28
# Among more elements than these, those that are covered whenever others are take long to find.
MANY = 4000
METHODS = ("exact", "greedy")


class SetCover(NamedTuple):
    """Some sets that cover all elements; see :func:`set_cover`.

    Attributes
    ----------
    sets : ndarray of shape (n_taken,)
        The sets of the cover, in ascending order.

    lower_bound : int
        No cover has less sets than this.

    optimal : bool
        Whether the cover is a smallest one.

    n_nodes : int
        The number of nodes that the search visited.

    See Also
    --------
    set_cover : Computes it.

    Examples
    --------
    >>> from sklearn_sl.online import set_cover
    >>> set_cover([[1, 0, 0], [0, 1, 1], [0, 1, 0]]).sets
    array([0, 1])
    """

    sets: np.ndarray
    lower_bound: int
    optimal: bool
    n_nodes: int


def set_cover(
    incidence: MatrixLike,
    *,
    method: Literal["exact", "greedy"] = "exact",
    max_nodes: int = 1_000_000,
) -> Any:
    """Return the smallest number of sets that cover all elements.

    This is NP-hard. The exact method drops sets that are part of others and elements that are
    covered whenever others are, and searches by branch and bound, with lower bounds from feasible
    dual solutions; up to some fifty sets take well below a second. The greedy method takes the
    set with the most elements that are not covered yet, the first of several; elements of the same
    sets count once. It is never above ``1 + ln m`` times the smallest cover, if no set has more
    than ``m`` elements.

    Parameters
    ----------
    incidence : {array-like, sparse matrix} of shape (n_elements, n_sets)
        What is not zero is an element of a set.

    method : {"exact", "greedy"}, default="exact"
        How to search.

    max_nodes : int, default=1_000_000
        The largest number of nodes of the exact search. When they do not suffice, the cover is the
        best one that was found, ``optimal`` says so, and there is a warning.

    Returns
    -------
    cover : SetCover
        The ``sets``, a ``lower_bound`` on their number, whether they are ``optimal``, and the
        number ``n_nodes`` of nodes.

    See Also
    --------
    minimal_disjunction : The same problem in other words, with samples that must not be covered.
    cnf_to_set_cover : Why it is hard.
    sklearn_sl.theory.greedy_set_cover_bound : The theorem about the greedy cover.

    References
    ----------
    .. [1] V. Chvatal, "A greedy heuristic for the set-covering problem", Mathematics of Operations
       Research 4, 1979.

    .. [2] E. Balas and A. Ho, "Set covering algorithms using cutting planes, heuristics, and
       subgradient optimization: a computational study", Mathematical Programming Studies 12, 1980.

    Examples
    --------
    The largest set is a trap:

    >>> from sklearn_sl.online import set_cover
    >>> sets = [[0, 1, 2, 3], [0, 1, 4], [2, 3, 5]]
    >>> incidence = [[element in members for members in sets] for element in range(6)]
    >>> set_cover(incidence).sets, set_cover(incidence, method="greedy").sets
    (array([1, 2]), array([0, 1, 2]))
    """
    check_search(method, max_nodes)
    incidence = as_bits(incidence, "incidence")
    lonely = np.flatnonzero(~incidence.any(axis=1))
    if lonely.size:
        raise ValueError(
            f"incidence has no set that contains element {lonely[0]}: no cover exists."
        )
    found = smallest_cover(incidence, method, max_nodes)
    warn_unless_optimal("cover", found, method, max_nodes)
    return found


def warn_unless_optimal(what, found, method, max_nodes):
    """Say that an exact search came to no end; ``found`` is a cover or a disjunction."""
    if method == "exact" and not found.optimal:
        warn(
            f"max_nodes={max_nodes} was reached before the search for the smallest {what} was "
            f"complete: the best one found has size {len(found[0])}, and the lower bound is "
            f'{found.lower_bound}. Increase max_nodes, or use method="greedy".',
            ConvergenceWarning,
        )


def smallest_cover(incidence, method, max_nodes):
    """Return a cover of the rows of a boolean matrix by its columns."""
    rows, columns = _distinct(incidence), np.arange(incidence.shape[1])
    if method == "exact":
        rows, columns = _reduced(rows, columns)
    search = CoverSearch(*_adjacency(rows), _greedy_cover(rows))
    more = search.n_best > search.lower_bound
    per_slice = max(1, SEARCH_SLICE // (rows.size + 100))
    while more and method == "exact" and search.n_nodes < max_nodes:
        more = search.run(min(per_slice, max_nodes - search.n_nodes))
    bound = search.lower_bound if more else search.n_best
    return SetCover(np.sort(columns[search.best]), int(bound), not more, search.n_nodes)


def _distinct(rows):
    """Return the different rows of a boolean matrix, in an order of their own."""
    if not rows.size:
        return rows[:0]
    packed = np.ascontiguousarray(np.packbits(rows, axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]
    return rows[np.unique(keys, return_index=True)[1]]


def _reduced(rows, columns):
    """Return rows and columns whose smallest cover covers all rows, and is as small as any."""
    shape = None
    while rows.shape != shape:
        shape = rows.shape
        kept = _maximal(rows)
        rows, columns = _distinct(rows[:, kept]), columns[kept]
        if len(rows) <= MANY:
            # A row that has all columns of another one, and more, is covered with it.
            rows = rows[_maximal(~rows.T)]
    return rows, columns


def _maximal(members):
    """Return which columns are not part of another one; the first of equal ones is not."""
    sizes, places = members.sum(axis=0), np.arange(members.shape[1])
    numbers = members.astype(np.float32)
    step = max(1, PRODUCT // max(members.size, 1))
    kept = np.ones(len(places), dtype=bool)
    for start in range(0, len(places), step):
        some = places[start : start + step, None]
        included = numbers[:, some[:, 0]].T @ numbers == sizes[some]
        before = (sizes > sizes[some]) | ((sizes == sizes[some]) & (places < some))
        kept[start : start + step] = ~np.any(included & before, axis=1)
    return kept


def _greedy_cover(rows):
    """Return columns that cover all rows: always one that covers the most of what is left."""
    taken, gains = [], rows.sum(axis=0)
    while len(rows):
        taken.append(int(np.argmax(gains)))
        covered = rows[:, taken[-1]]
        gains = gains - rows[covered].sum(axis=0)
        rows = rows[~covered]
    return taken


def _adjacency(rows):
    """Return the columns of each row and the rows of each column, short rows first."""
    rows = rows[np.argsort(rows.sum(axis=1), kind="stable")]
    by_row, by_column = sp.csr_array(rows), sp.csc_array(rows)
    arrays = (by_row.indptr, by_row.indices, by_column.indptr, by_column.indices)
    return [array.astype(np.intp) for array in arrays]


def check_search(method, max_nodes):
    if method not in METHODS:
        raise ValueError(f"method must be one of {METHODS}; got {method!r}.")
    if not isinstance(max_nodes, Integral) or isinstance(max_nodes, bool) or max_nodes < 1:
        raise ValueError(f"max_nodes must be an integer >= 1; got {max_nodes!r}.")


def as_bits(values, name):
    """Return where a matrix, dense or sparse, is not zero."""
    values = check_array(
        values, accept_sparse=True, ensure_min_samples=0, ensure_min_features=0, input_name=name
    )
    return (values.toarray() if sp.issparse(values) else values) != 0
