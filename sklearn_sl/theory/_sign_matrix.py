"""The VC dimension and the growth function of finitely many hypotheses on finitely many points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sklearn_sl._warnings import warn
from sklearn_sl.theory._domain import integer, short, whole
from sklearn_sl.theory._vc_matrix import GrowthSearch, ProjectionSearch, ShatteringSearch

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

# How many signs a slice of a search reads: about a twentieth of a second.
SEARCH_SLICE = 20_000_000
# Up to so many points there may be a table of all patterns. It pays if there are so many
# hypotheses for each of its entries.
TABLE_POINTS, TABLE_SHARE = 22, 1 / 64


class VCDimension(NamedTuple):
    """The VC dimension of a sign matrix; see :func:`vc_dimension`.

    Attributes
    ----------
    dimension : int
        The number of points of the largest set that was found to be shattered.

    points : ndarray of shape (dimension,)
        Such a set, as columns of the matrix.

    hypotheses : ndarray of shape (2 ** dimension,)
        The rows that show it: row ``hypotheses[k]`` has the sign + at ``points[i]`` exactly if
        bit ``i`` of ``k`` is one.

    upper_bound : int
        No larger set is shattered. Equal to ``dimension`` if the search was completed.

    n_sets : int
        How many sets of points were tried.

    See Also
    --------
    vc_dimension : Computes it.

    Examples
    --------
    >>> from sklearn_sl.theory import vc_dimension
    >>> found = vc_dimension([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    >>> found.dimension, found.points, found.hypotheses
    (2, array([0, 1]), array([3, 1, 2, 0]))
    """

    dimension: int
    points: np.ndarray
    hypotheses: np.ndarray
    upper_bound: int
    n_sets: int


def vc_dimension(signs: ArrayLike, *, max_sets: int = 100_000_000) -> VCDimension:
    """Return the VC dimension of a finite class, with a set of points that it shatters.

    A class shatters a set of points if it labels them in every way, and its VC dimension is the
    size of the largest set that it shatters. Here the hypotheses are the rows of a matrix and the
    points its columns.

    The search is exact: depth first over sets of points, one size after the other. After ``k`` of
    ``d`` points each of the ``2^k`` patterns must occur in at least ``2^(d - k)`` rows. Columns
    that are equal or opposite count once. For few points and many rows the search is over the
    points that are left out, in a table of all patterns. In general no algorithm is known that
    takes less than about ``n_points^log2(n_hypotheses)`` steps.

    Parameters
    ----------
    signs : array-like of shape (n_hypotheses, n_points)
        The labels, either -1 and 1, or 0 and 1, or booleans.

    max_sets : int, default=100_000_000
        The largest number of sets to try. If they do not suffice, there is a warning and
        ``upper_bound`` exceeds ``dimension``.

    Returns
    -------
    found : VCDimension
        The ``dimension``, the shattered ``points``, the ``hypotheses`` that show it, an
        ``upper_bound`` on the dimension, and the number ``n_sets`` of sets that were tried.

    See Also
    --------
    growth_function : The largest number of patterns on points.
    vc_dimension_of : Known dimensions of infinite classes.
    can_shatter : Whether an infinite class shatters given points.

    References
    ----------
    .. [1] C. Papadimitriou and M. Yannakakis, "On limited nondeterminism and the complexity of
       the V-C dimension", Journal of Computer and System Sciences 53, 1996.

    .. [2] S. Shalev-Shwartz and S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press, 2014, chapter 6.

    Examples
    --------
    Intervals on ten points: of three points the outer ones alone are no interval.

    >>> import numpy as np
    >>> from sklearn_sl.theory import vc_dimension
    >>> places = np.arange(10)
    >>> intervals = [(a <= places) & (places < b) for a in range(11) for b in range(a, 11)]
    >>> vc_dimension(intervals).dimension
    2
    """
    signs = as_signs(signs)
    integer("max_sets", max_sets, low=1)
    best, upper, n_tried = _largest_shattered(signs, *_distinct(signs), max_sets)
    if len(best) < upper:
        warn(
            f"max_sets={max_sets} did not suffice to find the VC dimension: it is at least "
            f"{len(best)} and at most {upper}. Allow for more sets.",
            ConvergenceWarning,
        )
    return VCDimension(len(best), best, _witnesses(signs, best), upper, n_tried)


def _largest_shattered(signs, rows, columns, max_sets):
    """Return a shattered set, a bound on the size of any other, and how many sets were tried."""
    table = _table(signs[np.ix_(rows, columns)])
    size, n_tried, best = _pajor(len(rows), len(columns)), 0, np.zeros(0, dtype=np.intp)
    upper = min(len(rows).bit_length() - 1, len(columns))
    while size <= upper and n_tried < max_sets:
        points, n_new, more = _shattered(signs, rows, columns, table, size, max_sets - n_tried)
        n_tried += n_new
        if points is None and not more:
            upper = size - 1
        elif points is not None:
            best, size = points, size + 1
    if not len(best) and upper:  # the first search had too few sets
        best = columns[:1]
    return best, upper, n_tried


def _pajor(n_hypotheses, n_points):
    """Return a size that is certainly shattered, at least one: there are too many hypotheses."""
    size, smaller = 0, 0  # ``smaller`` is the number of sets with fewer points than ``size``
    term = 1
    while size <= n_points and n_hypotheses > smaller:
        smaller += term
        term = term * (n_points - size) // (size + 1)
        size += 1
    return max(size - 1, 1)


def _shattered(signs, rows, columns, table, size, max_sets):
    """Return a shattered set of so many points or None, how many were tried, and if more are."""
    if table is not None:
        names, search = columns, ProjectionSearch(table, size)
    else:
        names, few = _viable(signs, rows, columns, size)
        if len(names) < size:
            return None, 0, False
        search = ShatteringSearch(few, size)
    more = True
    while more and search.n_sets < max_sets:
        more = search.run(max_sets - search.n_sets, SEARCH_SLICE)
    return (names[search.points] if search.found else None), search.n_sets, more


def _table(signs):
    """Return which of all patterns occur, or None if there are too many for the hypotheses."""
    n_hypotheses, n_points = signs.shape
    if n_points > TABLE_POINTS or n_hypotheses < TABLE_SHARE * 2**n_points:
        return None
    present = np.zeros(2**n_points, dtype=np.uint8)
    present[signs @ (1 << np.arange(n_points))] = 1
    return present


def _viable(signs, rows, columns, size):
    """Return the points that may be in a shattered set of a size, and the signs of each.

    The balanced ones come first. Both signs of a point must occur with all patterns of the others.
    """
    while True:
        few = signs[np.ix_(rows, columns)]
        rarer = np.minimum(few.sum(axis=0), (~few).sum(axis=0))
        kept = rarer >= 2 ** (size - 1)
        if kept.all():
            break
        columns = columns[kept]
        rows = rows[_firsts(signs[np.ix_(rows, columns)])]
    order = np.argsort(-rarer, kind="stable")
    return columns[order], np.ascontiguousarray(few[:, order].T).view(np.uint8)


def _distinct(signs):
    """Return the first of equal rows, and of columns that are equal, opposite or constant."""
    # With + in the first row a column and its opposite are the same.
    columns = _firsts((signs == signs[:1]).T)
    varied = signs.any(axis=0) & ~signs.all(axis=0)
    return _firsts(signs), columns[varied[columns]]


def _firsts(rows):
    """Return the first of equal rows of a boolean matrix, in their order."""
    if not rows.shape[1]:
        return np.arange(min(len(rows), 1))
    packed = np.ascontiguousarray(np.packbits(rows, axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]
    return np.sort(np.unique(keys, return_index=True)[1])


def _witnesses(signs, points):
    """Return a row for each pattern on the points, in the order of their numbers."""
    numbers = signs[:, points] @ (1 << np.arange(len(points)))
    return np.unique(numbers, return_index=True)[1]


def shatter_coefficient(signs: ArrayLike, points: ArrayLike | None = None) -> int:
    """Return how many patterns a finite class has on some points.

    Parameters
    ----------
    signs : array-like of shape (n_hypotheses, n_points)
        The labels, either -1 and 1, or 0 and 1, or booleans.

    points : array-like of int, default=None
        Columns of the matrix; all of them if None.

    Returns
    -------
    n_patterns : int
        The number of different rows on these columns. The points are shattered if it is
        ``2 ** len(points)``.

    See Also
    --------
    growth_function : The largest number for any set of that size.

    Examples
    --------
    >>> from sklearn_sl.theory import shatter_coefficient
    >>> thresholds = [[1, 1, 1], [-1, 1, 1], [-1, -1, 1], [-1, -1, -1]]
    >>> shatter_coefficient(thresholds), shatter_coefficient(thresholds, [0, 2])
    (4, 3)
    """
    signs = as_signs(signs)
    if points is not None:
        points = whole("points", points, low=0).astype(np.intp)
        if points.ndim != 1 or (points.size and points.max() >= signs.shape[1]):
            raise ValueError(
                f"points must be columns of signs, which has {signs.shape[1]}; got {short(points)}."
            )
        signs = signs[:, points]
    return len(_firsts(signs))


def growth_function(
    signs: ArrayLike, n_points: ArrayLike | None = None, *, max_sets: int = 100_000_000
) -> Any:
    """Return the growth function of a finite class: the largest number of patterns on ``m`` points.

    ``Pi(m)`` is the largest :func:`shatter_coefficient` of ``m`` points. It is ``2^m`` up to the
    VC dimension, and above it at most the sum of :func:`sauer_shelah`.

    The search is exact, by branch and bound over sets of points: each further point at most
    doubles the number of patterns. It ends early where the bound of Sauer and Shelah, or the number
    of all different rows, is attained. Otherwise it may try all sets of that size.

    Parameters
    ----------
    signs : array-like of shape (n_hypotheses, n_points)
        The labels, either -1 and 1, or 0 and 1, or booleans.

    n_points : int or array-like of int, default=None
        The numbers ``m`` of points, at most that of the matrix; all from zero on if None.

    max_sets : int, default=100_000_000
        The largest number of sets to try for each ``m``. When they do not suffice, the value
        is a lower bound, and there is a warning.

    Returns
    -------
    n_patterns : int or ndarray of int
        ``Pi(m)`` for each ``m``.

    See Also
    --------
    vc_dimension : The largest ``m`` with ``Pi(m) = 2^m``.
    sauer_shelah : A bound on it.

    References
    ----------
    .. [1] N. Sauer, "On the density of families of sets", Journal of Combinatorial Theory A 13,
       1972.

    Examples
    --------
    Of ``m`` ordered points an interval contains some that are next to each other, or none:

    >>> import numpy as np
    >>> from sklearn_sl.theory import growth_function
    >>> places = np.arange(6)
    >>> intervals = [(a <= places) & (places < b) for a in range(7) for b in range(a, 7)]
    >>> growth_function(intervals)
    array([ 1,  2,  4,  7, 11, 16, 22])
    """
    signs = as_signs(signs)
    integer("max_sets", max_sets, low=1)
    sizes = np.arange(signs.shape[1] + 1) if n_points is None else n_points
    sizes = whole("n_points", sizes, low=0).astype(np.intp)
    if sizes.size and sizes.max() > signs.shape[1]:
        raise ValueError(
            f"n_points must be at most {signs.shape[1]}, the columns of signs; got "
            f"{short(n_points)}."
        )
    rows, columns = _distinct(signs)
    few = np.ascontiguousarray(signs[np.ix_(rows, columns)].T).view(np.uint8)
    shattered, upper, _ = _largest_shattered(signs, rows, columns, max_sets)
    values = {
        m: 2**m if m <= len(shattered) else _most_patterns(few, m, upper, max_sets)
        for m in np.unique(sizes).tolist()
    }
    if sizes.ndim == 0:
        return values[int(sizes)]
    return np.array([values[int(m)] for m in sizes.ravel()], dtype=np.int64).reshape(sizes.shape)


def _most_patterns(columns, size, upper, max_sets):
    """Return the largest number of patterns on so many points, given a bound on the dimension."""
    n_points, n_rows = columns.shape
    # Some n - 1 points are enough to tell n different rows apart (Bondy).
    if size >= min(n_points, n_rows - 1):
        return n_rows
    search = GrowthSearch(columns, size, 1, min(n_rows, _sauer(size, upper)))
    more = True
    while more and search.n_sets < max_sets:
        more = search.run(max_sets - search.n_sets, SEARCH_SLICE)
    if more:
        warn(
            f"max_sets={max_sets} did not suffice to find the growth function at {size} points: it "
            f"is at least {search.best}. Allow for more sets.",
            ConvergenceWarning,
        )
    return int(search.best)


def _sauer(m, d):
    """Return the number of subsets of ``m`` points with at most ``d`` points."""
    total, term = 0, 1
    for i in range(min(m, d) + 1):
        total += term
        term = term * (m - i) // (i + 1)
    return total


def as_signs(signs):
    """Return a sign matrix as booleans, or raise an error."""
    given = np.asarray(signs)
    if given.ndim != 2 or not len(given):
        raise ValueError(
            "signs must be a matrix with a row for each hypothesis, at least one, and a column for "
            f"each point; got shape {given.shape}."
        )
    positive = given == 1
    if given.dtype == bool or (positive | (given == 0)).all() or (positive | (given == -1)).all():
        return positive
    raise ValueError(f"signs must be -1 and 1, or 0 and 1; got {short(np.unique(given))}.")
