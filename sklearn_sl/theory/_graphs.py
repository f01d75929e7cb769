"""Mistake bounds for predicting the labels of a graph, and resistances within cliques."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sklearn_sl.theory._domain import positive, real, whole

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


def graph_cover_bound(
    n_sets: ArrayLike, resistance: ArrayLike, seminorm: ArrayLike, p: ArrayLike = 2.0
) -> float | np.ndarray:
    """Return an upper bound on the mistakes of minimum p-seminorm interpolation on a graph.

    The learner is asked for labels -1 and 1 of vertices, one by one, and predicts by the function
    that agrees with all labels so far and has the least ``P(u) = sum of w_ij |u_i - u_j|^p over
    the edges ij``. If the vertices are covered by ``N`` sets, none of which has two vertices with a
    p-resistance above ``rho`` between them, and if ``u`` agrees with all labels, there are at most
    ::

        N + (rho P(u))^(2 / p) / (p - 1)

    mistakes, for ``1 < p <= 2``. A labelling ``u`` of all vertices has ``P(u) = 2^p cut(u)``.

    Parameters
    ----------
    n_sets : int or array-like of int
        The number ``N`` of sets.

    resistance : float or array-like
        The largest p-resistance ``rho`` between two vertices of a set.

    seminorm : float or array-like
        ``P(u)`` of a function that agrees with all labels.

    p : float or array-like, default=2.0
        The exponent, above 1 and at most 2.

    Returns
    -------
    bound : float or ndarray
        No more mistakes than this.

    See Also
    --------
    wide_diameter_bound : With the best ``p``, for graphs with many disjoint short paths.
    sklearn_sl.graph.GraphOnlinePredictor : The learner with ``p = 2``.

    References
    ----------
    .. [1] M. Herbster and G. Lever, "Predicting the labelling of a graph via minimum p-seminorm
       interpolation", COLT 2009.

    Examples
    --------
    Two cliques of ten vertices with different labels, joined by one edge:

    >>> from sklearn_sl.theory import clique_resistance_bound, graph_cover_bound
    >>> float(graph_cover_bound(2, clique_resistance_bound(10), seminorm=4.0))
    2.8
    """
    n_sets, rho = whole("n_sets", n_sets, low=0), real("resistance", resistance, low=0)
    seminorm, p = real("seminorm", seminorm, low=0), real("p", p, low=1, high=2)
    if np.any(p == 1):
        raise ValueError("p must be in (1, 2]; got 1.")
    return n_sets + (rho * seminorm) ** (2 / p) / (p - 1)


def wide_diameter_resistance(
    width: ArrayLike, diameter: ArrayLike, p: ArrayLike = 2.0
) -> float | np.ndarray:
    """Return the largest p-resistance between vertices that many disjoint short paths join.

    ``k`` paths that share no edge, each of at most ``D`` edges of weight at least one, have the
    resistance ``D^(p - 1) / k`` at most: a path has ``D^(p - 1)``, by the law of resistances in
    series, and ``k`` of them a ``k``-th of it.

    Parameters
    ----------
    width : int or array-like of int
        The number ``k`` of paths.

    diameter : int or array-like of int
        The largest number ``D`` of edges of a path.

    p : float or array-like, default=2.0
        The exponent, at least one.

    Returns
    -------
    resistance : float or ndarray
        No larger p-resistance than this.

    See Also
    --------
    wide_diameter_bound : What follows for mistakes.

    References
    ----------
    .. [1] M. Herbster and G. Lever, "Predicting the labelling of a graph via minimum p-seminorm
       interpolation", COLT 2009.

    Examples
    --------
    >>> from sklearn_sl.theory import wide_diameter_resistance
    >>> float(wide_diameter_resistance(width=9, diameter=2))
    0.2222222222222222
    """
    width, diameter = whole("width", width, low=1), whole("diameter", diameter, low=1)
    return diameter ** (real("p", p, low=1) - 1) / width


class WideDiameterBound(NamedTuple):
    """Mistakes on a graph with many disjoint short paths; see :func:`wide_diameter_bound`.

    Attributes
    ----------
    mistakes : float or ndarray
        No more mistakes than these.

    p : float or ndarray
        The exponent with which the learner interpolates.

    See Also
    --------
    wide_diameter_bound : Makes it.

    Examples
    --------
    >>> from sklearn_sl.theory import wide_diameter_bound
    >>> float(wide_diameter_bound(n_sets=2, width=9, diameter=2, cut=3).p)
    2.0
    """

    mistakes: np.ndarray
    p: np.ndarray


def wide_diameter_bound(
    n_sets: ArrayLike, width: ArrayLike, diameter: ArrayLike, cut: ArrayLike
) -> Any:
    """Return the mistakes of p-seminorm interpolation with the best ``p``, and that ``p``.

    Vertices are covered by ``N`` sets; between any two of a set there are ``k`` paths without a
    common edge, none longer than ``D``. The labels -1 and 1 cut edges of the total weight ``F``.
    With ``c = ln(k D / F)``, if that is above two, ``p = c / (c - 1)`` gives at most ::

        N + 4 e^2 (F / k)^2 (c - 1)

    mistakes, and else ``p = 2`` gives ``N + 4 F D / k``: what :func:`graph_cover_bound` says of the
    resistance ``D^(p - 1) / k`` and the seminorm ``2^p F``. So the diameter matters by its
    logarithm only, if the cut is small.

    Parameters
    ----------
    n_sets : int or array-like of int
        The number ``N`` of sets.

    width : int or array-like of int
        The number ``k`` of paths.

    diameter : int or array-like of int
        The largest number ``D`` of edges of a path.

    cut : float or array-like
        The weight ``F`` of the edges between vertices of different labels.

    Returns
    -------
    bound : WideDiameterBound
        ``mistakes``, no more than these, and the exponent ``p``. Without a cut it is two.

    See Also
    --------
    graph_cover_bound : With any ``p``.

    References
    ----------
    .. [1] M. Herbster and G. Lever, "Predicting the labelling of a graph via minimum p-seminorm
       interpolation", COLT 2009.

    Examples
    --------
    A long strip of ten parallel paths, of which the labels cut each one once:

    >>> from sklearn_sl.theory import graph_cover_bound, wide_diameter_bound
    >>> bound = wide_diameter_bound(n_sets=1, width=10, diameter=1000, cut=10)
    >>> round(float(bound.mistakes), 1), round(float(bound.p), 3)
    (175.6, 1.169)
    >>> float(graph_cover_bound(1, 1000 / 10, seminorm=4 * 10))
    4001.0
    """
    n_sets, width = whole("n_sets", n_sets, low=0), whole("width", width, low=1)
    diameter, cut = whole("diameter", diameter, low=1), real("cut", cut, low=0)
    some = np.where(cut > 0, cut, width * diameter)
    c = np.maximum(np.log(width) + np.log(diameter) - np.log(some), 2.0)
    far = 4 * np.e**2 * (cut / width) ** 2 * (c - 1)
    near = 4 * cut * diameter / width
    mistakes = n_sets + np.where(c > 2, far, near)
    return WideDiameterBound(mistakes[()], (c / (c - 1))[()])


def clique_chain_bound(n_cliques: ArrayLike, size: ArrayLike, cut: ArrayLike) -> float | np.ndarray:
    """Return an upper bound on the number of mistakes on cliques, each of which has one label.

    Of ``c`` cliques of ``m`` vertices each, between which ``l`` edges join vertices of different
    labels. Two vertices of a clique are joined by ``m - 1`` paths of at most two edges, so that
    :func:`graph_cover_bound` with ``p = 2`` says ``c + 8 l / (m - 1)``: about one mistake for each
    clique, if the cliques are large.

    Parameters
    ----------
    n_cliques : int or array-like of int
        The number ``c`` of cliques.

    size : int or array-like of int
        The number ``m`` of vertices of a clique, at least two.

    cut : int or array-like of int
        The number ``l`` of edges between vertices of different labels.

    Returns
    -------
    bound : float or ndarray
        No more mistakes than this.

    See Also
    --------
    sklearn_sl.datasets.make_clique_chain : Such a graph.

    References
    ----------
    .. [1] M. Herbster and G. Lever, "Predicting the labelling of a graph via minimum p-seminorm
       interpolation", COLT 2009.

    Examples
    --------
    >>> from sklearn_sl.theory import clique_chain_bound
    >>> round(float(clique_chain_bound(n_cliques=4, size=20, cut=6)), 2)
    6.53
    """
    n_cliques, size = whole("n_cliques", n_cliques, low=1), whole("size", size, low=2)
    return n_cliques + 8 * whole("cut", cut, low=0) / (size - 1)


def clique_resistance_bound(size: ArrayLike, resistance: ArrayLike = 1.0) -> float | np.ndarray:
    """Return the largest effective resistance between two vertices of a clique.

    If no edge of a clique of ``m`` vertices has a resistance, one over its weight, above ``d``, it
    is ``2 d / m``; further vertices and edges make it less. It is equal to that if all edges have
    the resistance ``d`` and nothing else is there.

    Parameters
    ----------
    size : int or array-like of int
        The number ``m`` of vertices, at least two.

    resistance : float or array-like, default=1.0
        The largest resistance ``d`` of an edge.

    Returns
    -------
    bound : float or ndarray
        No larger effective resistance than this.

    See Also
    --------
    graph_cover_bound : What follows for mistakes.

    Examples
    --------
    >>> from sklearn_sl.theory import clique_resistance_bound
    >>> float(clique_resistance_bound(10))
    0.2
    """
    return 2 * positive("resistance", resistance) / whole("size", size, low=2)


class CliqueValues(NamedTuple):
    """Values of the interpolant on two cliques; see :func:`harmonic_clique_values`.

    Attributes
    ----------
    ordinary : float or ndarray
        At vertices that have neither a label nor the edge to the other clique.

    bridge : float or ndarray
        At the end of that edge.

    See Also
    --------
    harmonic_clique_values : Makes it.

    Examples
    --------
    >>> from sklearn_sl.theory import harmonic_clique_values
    >>> float(harmonic_clique_values(5).bridge) == 5 / 9
    True
    """

    ordinary: np.ndarray
    bridge: np.ndarray


def harmonic_clique_values(size: ArrayLike) -> Any:
    """Return the interpolant of least energy on two cliques that one edge joins.

    Two cliques of ``m`` vertices have one edge between them. One vertex of the first clique has the
    label -1, one of the second the label 1, neither at an end of that edge. In the second clique
    the interpolant is ``(m + 2) / (m + 4)``, at the end of the edge ``m / (m + 4)``, and in the
    first one minus that. So the two labels are enough, the more the larger the cliques are.

    Parameters
    ----------
    size : int or array-like of int
        The number ``m`` of vertices of a clique, at least two.

    Returns
    -------
    values : CliqueValues
        The values at ``ordinary`` vertices and at the end of the ``bridge``, in the second clique.

    See Also
    --------
    sklearn_sl.datasets.make_two_cliques : The graph.

    Examples
    --------
    >>> from sklearn_sl.theory import harmonic_clique_values
    >>> harmonic_clique_values([5, 100]).ordinary.round(3)
    array([0.778, 0.981])
    """
    size = whole("size", size, low=2)
    return CliqueValues((size + 2) / (size + 4), size / (size + 4))
