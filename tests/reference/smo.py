"""Slow, readable twin of the compiled SMO steps."""

import numpy as np


def smo(K, target, lower, upper, *, width=0.0, tol=1e-3, max_steps=10_000):
    """Return coefficients, negative gradient and steps of SMO with second-order selection.

    Minimises ``1/2 b'Kb - target'b + width ||b||_1`` over ``lower <= b <= upper`` with the sum of
    ``b`` as it is at zero, two variables at a time.
    """
    b, v = np.zeros(len(K)), target.astype(np.float64)
    for step in range(max_steps):
        up = np.where(b < upper, v - np.where(b >= 0, width, -width), -np.inf)
        down = np.where(b > lower, v - np.where(b > 0, width, -width), np.inf)
        i = int(np.argmax(up))
        if up[i] - down.min() <= tol:
            return b, v, step
        curvature = np.maximum(K[i, i] + K.diagonal() - 2 * K[i], 1e-12)
        j = int(np.argmax(np.maximum(up[i] - down, 0) ** 2 / curvature))
        length = (up[i] - down[j]) / curvature[j]
        length = min(length, _room(b[i], upper[i], width), _room(b[j], lower[j], width))
        b[i], b[j] = _moved(b[i], length, upper[i]), _moved(b[j], -length, lower[j])
        v -= length * (K[i] - K[j])
    return b, v, max_steps


def _room(b, bound, width):
    """Return the way from ``b`` to the bound, or to the kink at zero if that comes first."""
    return abs(b) if width and b * bound < 0 else abs(bound - b)


def _moved(b, way, bound):
    """Return where a move ends: on the bound or on zero, if it is within rounding of them."""
    moved = b + way
    for end in (bound, 0.0):
        if abs(moved - end) <= 1e-15 * max(abs(b), abs(end)):
            return end
    return moved
