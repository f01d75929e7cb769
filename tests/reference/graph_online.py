"""Interpolation of least energy on a graph, solved from scratch and densely in each trial."""

import itertools

import numpy as np
from scipy.sparse import csgraph


def laplacian(W):
    """Return the Laplacian of a dense adjacency."""
    return np.diag(W.sum(axis=1)) - W


def interpolant(W, labels):
    """Return the function of least energy with the ``labels``, a dictionary; zero if unreached."""
    L, component = laplacian(W), csgraph.connected_components(W)[1]
    u = np.zeros(len(W))
    for number in np.unique(component):
        members = np.flatnonzero(component == number)
        known = [v for v in members if v in labels]
        free = [v for v in members if v not in labels]
        u[known] = [labels[v] for v in known]
        if known and free:
            u[free] = np.linalg.solve(L[np.ix_(free, free)], -L[np.ix_(free, known)] @ u[known])
    return u


def trials(W, vertices, signs):
    """Return the value of each vertex before its label is known; later labels replace others."""
    labels, values = {}, []
    for vertex, sign in zip(vertices, signs, strict=True):
        values.append(interpolant(W, labels)[vertex])
        labels[int(vertex)] = sign
    return np.array(values)


def energy(W, u):
    """Return the sum of ``w_ij (u_i - u_j)^2`` over the edges."""
    return float(u @ laplacian(W) @ u)


def resistances(W):
    """Return all effective resistances, infinite between components."""
    K, component = np.linalg.pinv(laplacian(W)), csgraph.connected_components(W)[1]
    R = np.diag(K)[:, None] + np.diag(K) - 2 * K
    return np.where(component[:, None] == component, R, np.inf)


def partitions(n):
    """Return all partitions of ``n`` things, as a number for each thing."""
    for numbers in itertools.product(*(range(i + 1) for i in range(n))):
        if all(number <= max(numbers[:i], default=-1) + 1 for i, number in enumerate(numbers)):
            yield np.array(numbers)


def least_cover_bound(R, energy):
    """Return the least ``N + rho * energy`` among all partitions into ``N`` sets."""
    best = np.inf
    for part in partitions(len(R)):
        rho = np.where(part[:, None] == part, R, 0.0).max()
        if np.isfinite(rho):
            best = min(best, part.max() + 1 + rho * energy)
    return best
