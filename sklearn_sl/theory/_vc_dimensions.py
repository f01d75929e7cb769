"""The VC dimensions of known classes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_sl.theory._boosting import stump_vc_dimension
from sklearn_sl.theory._domain import log2_count, plain, positive, short, whole

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

# By how much a product of squares may be too small, for rounding errors.
ROUNDING = 4 * np.finfo(np.float64).eps


def vc_dimension_of(
    family: str,
    *,
    n_features: ArrayLike | None = None,
    n_hypotheses: ArrayLike | None = None,
    norm: ArrayLike | None = None,
    radius: ArrayLike | None = None,
    n_edges: ArrayLike | None = None,
    n_nodes: ArrayLike | None = None,
    base: ArrayLike | None = None,
    constant: ArrayLike | None = None,
) -> Any:
    r"""Return the VC dimension of a known class, or a bound on it.

    =============================  ===============================  =========================
    family                         VC dimension                     parameters
    =============================  ===============================  =========================
    ``"thresholds"``               1
    ``"intervals"``                2
    ``"rectangles"``               2 n                              n_features
    ``"half-spaces"``              n + 1                            n_features
    ``"homogeneous half-spaces"``  n                                n_features
    ``"disks"`` (balls)            n + 1                            n_features
    ``"convex polygons"``          infinite (n >= 2)
    ``"stumps"``                   :func:`stump_vc_dimension`       n_features
    ``"finite"``                   at most floor(log2 \|H\|)        n_hypotheses
    ``"margin half-spaces"``       at most floor(norm^2 radius^2)   norm, radius
    ``"threshold network"``        at most 2 (E + N) log(e N)       n_edges, n_nodes, base
    ``"sigmoid network"``          O(V^2 E^2): C V^2 E^2            n_edges, n_nodes, constant
    ``"sigmoid network, lower"``   Omega(E^2): C E^2                n_edges, constant
    =============================  ===============================  =========================

    Those without "at most" are exact. Margin half-spaces have ``|w| <= norm`` and are restricted
    to points with ``|x| <= radius`` and ``|w @ x| >= 1``. A network has ``E`` edges and
    ``N >= 2`` units with a threshold, or ``V`` nodes; the source of its bound has the logarithm to
    base 2, the safe side. The order of growth alone is known for sigmoid networks: ``constant=1``
    is a unit. A class that is part of another one has no larger dimension.

    Parameters
    ----------
    family : str
        The class, one of the above.

    n_features : int or array-like of int, default=None
        The dimension ``n`` of the points.

    n_hypotheses : int or array-like of int, default=None
        The number ``|H|`` of hypotheses, of any size.

    norm, radius : float or array-like, default=None
        The largest norm of the weights, one over the margin, and of the points.

    n_edges, n_nodes : int or array-like of int, default=None
        The edges and nodes of a network.

    base : float or array-like, default=None
        The base of the logarithm for ``"threshold network"``; None stands for 2.

    constant : float or array-like, default=None
        The factor of what is known up to one; None stands for 1.

    Returns
    -------
    dimension : int, float or ndarray
        An integer, or a float where it is infinite or a bound for networks.

    See Also
    --------
    vc_dimension : The exact one of a sign matrix.
    can_shatter : Whether a class shatters given points.

    References
    ----------
    .. [1] S. Shalev-Shwartz and S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press, 2014, chapters 6 and 20.

    .. [2] E. Baum and D. Haussler, "What size net gives valid generalization?", Neural Computation
       1, 1989.

    .. [3] R. Dudley, "Balls in R^k do not cut all subsets of k + 2 points", Advances in
       Mathematics 31, 1979.

    Examples
    --------
    >>> from sklearn_sl.theory import vc_dimension_of
    >>> vc_dimension_of("half-spaces", n_features=20), vc_dimension_of("intervals")
    (21, 2)
    >>> vc_dimension_of("margin half-spaces", norm=2.0, radius=1.5)
    9
    >>> vc_dimension_of("finite", n_hypotheses=3**10_000)
    15849
    >>> round(vc_dimension_of("threshold network", n_edges=10, n_nodes=4), 1)
    96.4
    """
    if not isinstance(family, str) or family not in DIMENSIONS:
        names = ", ".join(repr(name) for name in DIMENSIONS)
        raise ValueError(f"family must be one of {names}; got {family!r}.")
    given = {
        "n_features": n_features,
        "n_hypotheses": n_hypotheses,
        "norm": norm,
        "radius": radius,
        "n_edges": n_edges,
        "n_nodes": n_nodes,
        "base": base,
        "constant": constant,
    }
    given = {name: value for name, value in given.items() if value is not None}
    function, needed, optional = DIMENSIONS[family]
    if not set(needed) <= set(given) <= {*needed, *optional}:
        wanted = ", ".join([*needed, *optional]) or "no parameters"
        raise ValueError(
            f'family="{family}" takes {wanted}; got {", ".join(given) or "no parameters"}.'
        )
    return plain(function(**given))


def _floor(number):
    """Return the largest integer that is not above."""
    return np.floor(number).astype(np.int64)


def _multiple(factor, more):
    """Return the function of ``n_features`` that is a multiple of it and something more."""

    def dimension(n_features):
        return _floor(factor * whole("n_features", n_features, low=1) + more)

    return dimension


def _finite(n_hypotheses):
    """Return a bound for a finite class."""
    counts = np.asarray(n_hypotheses)
    log2_count("n_hypotheses", n_hypotheses)  # which checks them, but rounds
    exact = [int(count).bit_length() - 1 for count in counts.ravel()]
    return np.array(exact, dtype=np.int64).reshape(counts.shape)


def _margin(norm, radius):
    """Return a bound for half-spaces with a margin."""
    product = (positive("norm", norm) * positive("radius", radius)) ** 2
    return _floor(product * (1 + ROUNDING))


def _threshold_network(n_edges, n_nodes, base=2.0):
    """Return a bound for networks of threshold units."""
    edges, nodes = whole("n_edges", n_edges, low=1), whole("n_nodes", n_nodes, low=2)
    base = positive("base", base)
    if not np.all(base > 1):
        raise ValueError(f"base must be > 1; got {short(base)}.")
    return 2 * (edges + nodes) * (1 + np.log(nodes)) / np.log(base)


def _sigmoid_network(n_edges, n_nodes, constant=1.0):
    """Return the order of the largest dimension of networks of sigmoid units."""
    edges, nodes = whole("n_edges", n_edges, low=1), whole("n_nodes", n_nodes, low=1)
    return positive("constant", constant) * (edges * nodes) ** 2


def _sigmoid_network_lower(n_edges, constant=1.0):
    """Return the order of the dimension that some networks of sigmoid units have."""
    return positive("constant", constant) * whole("n_edges", n_edges, low=1) ** 2


# For each class: the function, the parameters that it needs, and those that it may have.
DIMENSIONS = {
    "thresholds": (lambda: 1, (), ()),
    "intervals": (lambda: 2, (), ()),
    "rectangles": (_multiple(2, 0), ("n_features",), ()),
    "half-spaces": (_multiple(1, 1), ("n_features",), ()),
    "homogeneous half-spaces": (_multiple(1, 0), ("n_features",), ()),
    "disks": (_multiple(1, 1), ("n_features",), ()),
    "convex polygons": (lambda: math.inf, (), ()),
    "stumps": (stump_vc_dimension, ("n_features",), ()),
    "finite": (_finite, ("n_hypotheses",), ()),
    "margin half-spaces": (_margin, ("norm", "radius"), ()),
    "threshold network": (_threshold_network, ("n_edges", "n_nodes"), ("base",)),
    "sigmoid network": (_sigmoid_network, ("n_edges", "n_nodes"), ("constant",)),
    "sigmoid network, lower": (_sigmoid_network_lower, ("n_edges",), ("constant",)),
}
