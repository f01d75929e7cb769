"""Newton steps on a face of the box."""

import numpy as np
from scipy.linalg import lapack


def newton_step(K, slope, balanced):
    """Return ``d`` with ``slope - Kd`` constant and ``sum(d) = 0``, or zero if not balanced."""
    if balanced:  # the same problem for every d with sum zero, and a smaller matrix
        K = K - K.mean(axis=0)
        K -= K.mean(axis=1)[:, None]
        K += np.abs(K.diagonal()).max() / len(K)
    jitter = 1e-13 * np.abs(K.diagonal()).max()
    sides = np.column_stack([slope, np.ones(len(K))])
    for _ in range(4):
        shifted = K.copy()
        shifted.flat[:: len(K) + 1] += jitter
        _, solved, failed = lapack.dposv(shifted, sides, lower=1)
        if not failed:
            break
        jitter *= 1e3
    else:
        return np.zeros(len(K))
    if not balanced:
        return solved[:, 0]
    step = solved[:, 0] - solved[:, 0].sum() / solved[:, 1].sum() * solved[:, 1]
    return step - step.mean()


def stepped(b, step, low, high):
    """Return ``b`` after as much of the step as the box allows; it lands on bounds exactly."""
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(step > 0, (high - b) / step, np.where(step < 0, (low - b) / step, np.inf))
    part = min(1.0, room.min())
    ends = np.where(step > 0, high, low)
    return np.where(room <= part, ends, b + part * step)
