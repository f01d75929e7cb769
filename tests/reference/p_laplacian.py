"""Slow and readable twins of the p-Laplacian: dense, and exact where fractions are."""

from fractions import Fraction

import numpy as np
from scipy.optimize import minimize


def energy(W, u, p):
    """Return ``sum of w_ij |u_i - u_j|^p`` over the edges of a dense graph."""
    return np.sum(W * np.abs(u[:, None] - u) ** p) / 2


def net_current(W, u, p):
    """Return the sum of the currents out of each vertex."""
    d = u[:, None] - u
    return np.sum(W * np.abs(d) ** (p - 1) * np.sign(d), axis=1)


def least_energy(W, values, labelled, p):
    """Return the least energy that a general method of descent finds."""
    u = values.astype(float)

    def at(x):
        u[~labelled] = x
        return energy(W, u, p), p * net_current(W, u, p)[~labelled]

    start = np.full(np.count_nonzero(~labelled), values[labelled].mean())
    return minimize(at, start, jac=True, method="BFGS", options={"gtol": 1e-10}).fun


def potentials(A, ground, current):
    """Return the potentials of a network in fractions: Gauss-Jordan elimination."""
    n = len(ground)
    rows = [[Fraction(0)] * (n + 1) for _ in range(n)]
    for i in range(n):
        for j in range(n):
            if i != j:
                rows[i][j] -= Fraction(A[i, j])
                rows[i][i] += Fraction(A[i, j])
        rows[i][i] += Fraction(ground[i])
        rows[i][n] = Fraction(current[i])
    for k in range(n):
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in set(range(n)) - {k}:
            rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return np.array([float(row[n]) for row in rows])
