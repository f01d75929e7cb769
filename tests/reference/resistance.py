"""Resistances and kernels of a graph from dense matrices, and the random walk step by step."""

import numpy as np
from scipy import linalg


def dense_laplacian(W):
    """Return ``D - W`` as an array."""
    A = W.toarray()
    return np.diag(A.sum(axis=1)) - A


def pseudo_inverse(W):
    """Return ``L^+`` from the eigenvectors of ``L``."""
    values, vectors = linalg.eigh(dense_laplacian(W))
    keep = values > 1e-9 * max(values.max(), 1e-300)
    return (vectors[:, keep] / values[keep]) @ vectors[:, keep].T


def components(W):
    """Return the component of each vertex, by passing the smallest number along the edges."""
    number, joined = np.arange(W.shape[0]), W.toarray() > 0
    np.fill_diagonal(joined, True)
    while True:
        smallest = np.where(joined, number, W.shape[0]).min(axis=1)
        if np.array_equal(smallest, number):
            return number
        number = smallest


def resistances(W):
    """Return the matrix of all resistances."""
    K, number = pseudo_inverse(W), components(W)
    R = np.diag(K)[:, None] + np.diag(K) - 2 * K
    R[number[:, None] != number] = np.inf
    np.fill_diagonal(R, 0)
    return R


def commute_steps(W, start, goal, n_walks, rng):
    """Return how many steps random walks take from one vertex to another and back."""
    jumps = np.cumsum(W.toarray(), axis=1)
    place, back = np.full(n_walks, start), np.zeros(n_walks, dtype=bool)
    steps, walking = np.zeros(n_walks, dtype=int), np.arange(n_walks)
    while len(walking):
        at = jumps[place[walking]]
        place[walking] = np.argmax(at > rng.uniform(size=(len(walking), 1)) * at[:, -1:], axis=1)
        steps[walking] += 1
        arrived = back[walking] & (place[walking] == start)
        back[walking] |= place[walking] == goal
        walking = walking[~arrived]
    return steps
