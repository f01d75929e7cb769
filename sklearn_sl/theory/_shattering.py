"""The shattering game: which labels of given points a class of sets can produce."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy.optimize import linprog

from sklearn_sl.theory._domain import real

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

# Points that are so close to not being separable, in units of their spread, count as not separable:
# ten times what the solver of linear programs promises.
MARGIN = 1e-6
# There are ``2^n`` labellings.
MOST_POINTS = 20


class Shattering(NamedTuple):
    """How a class of sets labels some points; see :func:`can_shatter`.

    Attributes
    ----------
    shattered : bool
        Whether there is a set for every labelling.

    failing : ndarray of shape (n_points,) or None
        A labelling with -1 and 1 that no set of the class produces, None if every labelling is
        produced.

    labellings : ndarray of shape (n_found, n_points)
        The labellings that were found before: all of them if the points are shattered.

    members : list of dict
        A set of the class for each of these labellings.

    See Also
    --------
    can_shatter : Computes it.

    Examples
    --------
    >>> from sklearn_sl.theory import can_shatter
    >>> game = can_shatter([0.0, 1.0], "thresholds")
    >>> game.shattered, game.failing
    (False, array([ 1, -1]))
    """

    shattered: bool
    failing: np.ndarray | None
    labellings: np.ndarray
    members: list[Any]


def can_shatter(
    points: ArrayLike,
    family: Literal[
        "thresholds",
        "intervals",
        "rectangles",
        "half-spaces",
        "homogeneous half-spaces",
        "disks",
        "convex polygons",
    ],
) -> Any:
    """Play the shattering game: can a class of sets produce every labelling of given points?

    For each labelling the class must have a set that contains exactly the points labelled 1. If it
    always has, the class shatters the points, and its VC dimension is at least their number.

    - ``"thresholds"``: ``x >= t`` on the line; a member is ``{"threshold"}``.
    - ``"intervals"``: ``a <= x <= b`` on the line; ``{"low", "high"}``.
    - ``"rectangles"``: boxes with sides parallel to the axes, in any dimension;
      ``{"low", "high"}``. The smallest box around the positive points must contain no negative one.
    - ``"half-spaces"``: ``w @ x + b >= 0``; ``{"normal", "intercept"}``, by a linear program.
    - ``"homogeneous half-spaces"``: ``w @ x >= 0``; ``{"normal", "intercept"}`` with intercept 0.
    - ``"disks"``: ``|x - c| <= r``, balls in other dimensions than two; ``{"center", "radius"}``.
      In terms of ``x`` and ``|x|^2`` they are the half-spaces
      ``2 c @ x - |x|^2 + r^2 - |c|^2 >= 0``, whose weight of ``|x|^2`` is negative: complements of
      disks are half-spaces as well, but not disks. A half-space of ``x`` alone agrees with a large
      disk on finitely many points.
    - ``"convex polygons"``: hulls of finitely many points, in any dimension; ``{"vertices"}``. The
      hull of the positive points must not contain a negative one.

    Parameters
    ----------
    points : array-like of shape (n_points, n_features) or (n_points,)
        At most 20 points. A 1-D array holds points on the line.

    family : str
        The class of sets, one of the above.

    Returns
    -------
    game : Shattering
        Whether the points are ``shattered``, a ``failing`` labelling if not, and the ``labellings``
        with their ``members`` that were found before it. Labellings are in the order of numbers
        whose bit ``i`` is one where point ``i`` is labelled 1.

    See Also
    --------
    vc_dimension_of : The largest numbers of points that can be shattered.
    vc_dimension : For finite classes.

    Notes
    -----
    Points that can only be separated by less than a millionth of their spread count as not
    separable.

    References
    ----------
    .. [1] V. Vapnik and A. Chervonenkis, "On the uniform convergence of relative frequencies of
       events to their probabilities", Theory of Probability and its Applications 16, 1971.

    Examples
    --------
    Half-planes shatter the corners of a triangle but no four points; convex polygons shatter any
    number of points on a circle:

    >>> import numpy as np
    >>> from sklearn_sl.theory import can_shatter
    >>> can_shatter([[0, 0], [1, 0], [0, 1]], "half-spaces").shattered
    True
    >>> can_shatter([[0, 0], [1, 0], [0, 1], [1, 1]], "half-spaces").failing
    array([-1,  1,  1, -1])
    >>> angles = np.arange(6)
    >>> circle = np.column_stack([np.cos(angles), np.sin(angles)])
    >>> can_shatter(circle, "convex polygons").shattered
    True
    """
    points = _as_points(points, family)
    find, found, members = FAMILIES[family], [], []
    failing = None
    for number in range(2 ** len(points)):
        positive = (number >> np.arange(len(points))) & 1 == 1
        member = find(points, positive)
        if member is None:
            failing = _refused(points, positive, family)
            break
        found.append(positive)
        members.append(member)
    labellings = _labels(np.reshape(found, (len(members), len(points))))
    failing = None if failing is None else _labels(failing)
    return Shattering(failing is None, failing, labellings, members)


def _as_points(points, family):
    """Return points as a matrix, or raise an error unless the class is one of such points."""
    if not isinstance(family, str) or family not in FAMILIES:
        names = ", ".join(repr(name) for name in FAMILIES)
        raise ValueError(f"family must be one of {names}; got {family!r}.")
    points = real("points", points)
    points = points[:, None] if points.ndim == 1 else points
    if points.ndim != 2 or not points.size:
        raise ValueError(
            f"points must be a matrix with a row for each point; got shape {points.shape}."
        )
    if len(points) > MOST_POINTS:
        raise ValueError(
            f"points must be at most {MOST_POINTS}, because {len(points)} points have "
            f"2^{len(points)} labellings."
        )
    if family in ("thresholds", "intervals") and points.shape[1] != 1:
        raise ValueError(
            f'points must be on the line for family="{family}"; got {points.shape[1]} features.'
        )
    return points


def _labels(positive):
    """Return -1 and 1 for booleans."""
    return np.where(positive, 1, -1)


def _refused(points, positive, family):
    """Return the labelling that is not produced: this one, or the opposite.

    The one that was tried is not produced by a plane off the points. If only a point on the plane
    is in the way, then, as those count as positive, the opposite labelling fails.
    """
    on_plane = family == "homogeneous half-spaces" and _separate(points, positive, on_plane=True)
    return ~positive if on_plane else positive


def _threshold(points, positive):
    """Return a threshold from which on points are positive, or None."""
    x = points[:, 0]
    above, below = x[positive].min(initial=np.inf), x[~positive].max(initial=-np.inf)
    if above <= below:
        return None
    if not positive.any():
        return {"threshold": np.nextafter(below, np.inf)}
    return {"threshold": above}


def _box(points, positive):
    """Return the smallest box around the positive points, or None if it has others."""
    if not positive.any():  # a box that contains no point at all
        corner = np.nextafter(points.max(axis=0), np.inf)
        return {"low": corner, "high": corner}
    low, high = points[positive].min(axis=0), points[positive].max(axis=0)
    if np.all((points[~positive] >= low) & (points[~positive] <= high), axis=1).any():
        return None
    return {"low": low, "high": high}


def _interval(points, positive):
    """Return an interval around the positive points, or None."""
    box = _box(points, positive)
    return None if box is None else {side: bound[0] for side, bound in box.items()}


def _half_space(points, positive):
    """Return a half-space with the positive points, or None."""
    centre, scale = _frame(points)
    scaled = (points - centre) / scale
    found = _separate(np.column_stack([scaled, np.ones(len(points))]), positive)
    if found is None:
        return None
    normal = found[:-1] / scale
    return {"normal": normal, "intercept": found[-1] - normal @ centre}


def _homogeneous_half_space(points, positive):
    """Return a half-space with the positive points and the origin on its boundary, or None."""
    scale = np.abs(points).max()
    normal = _separate(points / (scale if scale > 0 else 1.0), positive)
    return None if normal is None else {"normal": normal, "intercept": 0.0}


def _disk(points, positive):
    """Return a ball with the positive points, or None."""
    centre, scale = _frame(points)
    if not positive.any():
        return {"center": points.max(axis=0) + scale, "radius": scale / 2}
    scaled = (points - centre) / scale
    squares = np.sum(scaled**2, axis=1)
    lifted = np.column_stack([scaled, np.ones(len(points)), -squares])
    found = _separate(lifted, positive, last_low=0.0)
    if found is None:
        return None
    # The margin is so large that this much more weight of the squares does no harm.
    margin = np.abs(lifted @ found).min()
    weight = max(found[-1], margin / (2 * squares.max() + 1))
    ball = centre + scale * found[:-2] / (2 * weight)
    distances = np.linalg.norm(points - ball, axis=1)
    inner = distances[positive].max()
    outer = distances[~positive].min(initial=2 * inner + 1)
    return {"center": ball, "radius": (inner + outer) / 2}


def _polygon(points, positive):
    """Return the positive points, whose hull it is, or None if it has others."""
    inside = points[positive]
    for other in points[~positive] if len(inside) else ():
        together = np.vstack([inside, other])
        if _half_space(together, np.arange(len(together)) < len(inside)) is None:
            return None
    return {"vertices": inside}


def _frame(points):
    """Return the middle of the points, and how far they spread."""
    low, high = points.min(axis=0), points.max(axis=0)
    scale = (high - low).max() / 2
    return low / 2 + high / 2, scale if scale > 0 else 1.0


def _separate(rows, positive, last_low=-1.0, on_plane=False):
    """Return weights whose scores have the right signs, by the largest margin, or None.

    The linear program: maximise ``t <= 1`` subject to ``sign_i w @ row_i >= t`` and weights in
    [-1, 1], the last one from ``last_low`` on. If ``on_plane``, positive rows may have a zero.
    """
    signs = np.where(positive, 1.0, -1.0)
    n, n_weights = rows.shape
    margins = np.where(positive & on_plane, 0.0, 1.0)
    found = linprog(
        np.append(np.zeros(n_weights), -1.0),
        A_ub=np.column_stack([-signs[:, None] * rows, margins]),
        b_ub=np.zeros(n),
        bounds=[(-1.0, 1.0)] * (n_weights - 1) + [(last_low, 1.0), (None, 1.0)],
        method="highs",
    )
    return found.x[:-1] if found.success and found.x[-1] > MARGIN else None


FAMILIES = {
    "thresholds": _threshold,
    "intervals": _interval,
    "rectangles": _box,
    "half-spaces": _half_space,
    "homogeneous half-spaces": _homogeneous_half_space,
    "disks": _disk,
    "convex polygons": _polygon,
}
