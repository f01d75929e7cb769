"""Slow twins of interpolation on graphs: dense solves, relaxation and random walks."""

import numpy as np


def dense_laplacian(W):
    """Return ``D - W``."""
    return np.diag(W.sum(axis=1)) - W


def harmonic(W, Y, labelled):
    """Return the values that are means of their neighbours, and ``Y`` where there are labels."""
    L = dense_laplacian(W)
    U = np.array(Y, dtype=float)
    free = ~labelled
    U[free] = np.linalg.solve(L[np.ix_(free, free)], W[np.ix_(free, labelled)] @ Y[labelled])
    return U


def tikhonov(W, Y, mass, alpha):
    """Return the minimiser of ``sum c_i |U_i - Y_i|^2 + alpha trace(U'LU)``."""
    return np.linalg.solve(np.diag(mass) + alpha * dense_laplacian(W), mass[:, None] * Y)


def relax_once(W, Y, labelled, U, order):
    """Return ``U`` after the vertices of ``order`` took the means of their neighbours."""
    U = U.copy()
    for vertex in order:
        if not labelled[vertex]:
            U[vertex] = W[vertex] @ U / W[vertex].sum()
    return U


def leave_one_out(W, Y, mass, alpha):
    """Return the values of labelled vertices in fits without their labels; one fit for each."""
    labelled = np.flatnonzero(mass > 0)
    found = []
    for vertex in labelled:
        less = mass.copy()
        less[vertex] = 0
        if alpha == 0:
            found.append(harmonic(W, Y, less > 0)[vertex])
        else:
            found.append(tikhonov(W, Y, less, alpha)[vertex])
    return np.array(found)


def absorb(W, held, start, rng):
    """Return the first held vertex on a random walk, and how many steps it took."""
    vertex, n_steps = start, 0
    while not held[vertex]:
        vertex = rng.choice(len(W), p=W[vertex] / W[vertex].sum())
        n_steps += 1
    return vertex, n_steps


def minimum_spanning_tree_length(distances):
    """Return the length of the minimum spanning tree, by Prim."""
    n = len(distances)
    outside, total = set(range(1, n)), 0.0
    best = distances[0].copy()
    while outside:
        nearest = min(outside, key=lambda v: best[v])
        total += best[nearest]
        outside.remove(nearest)
        best = np.minimum(best, distances[nearest])
    return total
