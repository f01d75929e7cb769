"""Matrix exponentiated gradients with all matrices written out, and the graphs they compare by."""

import numpy as np
from scipy import linalg


def square_root(K):
    """Return the symmetric square root of a positive semi-definite matrix."""
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T


def embeddings(row_kernel, col_kernel, radii=None):
    """Return the vectors ``x`` of all entries: an array of shape (m, n, m + n)."""
    m, n = len(row_kernel), len(col_kernel)
    R_M, R_N = radii or (np.diag(row_kernel).max(), np.diag(col_kernel).max())
    x = np.zeros((m, n, m + n))
    x[:, :, :m] = square_root(row_kernel)[:, None] / np.sqrt(2 * R_M)
    x[:, :, m:] = square_root(col_kernel)[None] / np.sqrt(2 * R_N)
    return x


def full_matrix(x, pairs, labels, dimension, size, margin, eta, conservative=False):
    """Return the scores of trials and which of them were updates, by a matrix exponential each."""
    order = x.shape[2]
    exponent = np.log(dimension / size) * np.eye(order)
    scores, updates = np.empty(len(labels)), np.zeros(len(labels), dtype=bool)
    for t, ((i, j), y) in enumerate(zip(pairs, labels, strict=True)):
        values, vectors = np.linalg.eigh(exponent)
        scores[t] = tied(np.exp(values) @ (vectors.T @ x[i, j]) ** 2 - 1)
        updates[t] = y * scores[t] <= (0.0 if conservative else margin)
        if updates[t]:
            exponent += eta * y * np.outer(x[i, j], x[i, j])
    return scores, updates


def tied(scores):
    """Return scores with those that are zero up to rounding as zeros."""
    return np.where(np.abs(scores) < 1e-13, 0.0, scores)


def probability(scores, margin):
    """Return the probability of the prediction 1."""
    return np.clip((scores + margin) / (2 * margin), 0, 1)


def many_games(m, n, pairs, choose, margin, eta, conservative=False):
    """Play many games without side information at once.

    Parameters
    ----------
    m, n : int
        The shape of the matrix.

    pairs : ndarray of shape (n_trials, n_games, 2)
        The entries.

    choose : callable
        ``choose(t, scores)`` returns the labels of trial ``t``.

    margin, eta : float
        The margin and the step.

    conservative : bool
        Whether updates are made on mistakes only.

    Returns
    -------
    scores, labels : ndarray of shape (n_trials, n_games)
        The scores and the labels of the games.
    """
    n_trials, n_games, _ = pairs.shape
    x = embeddings(np.eye(m), np.eye(n))
    exponents = np.zeros((n_games, m + n, m + n))
    scores, labels = np.empty((2, n_trials, n_games))
    for t, (rows, cols) in enumerate(pairs.transpose(0, 2, 1)):
        vectors = x[rows, cols]
        values, bases = np.linalg.eigh(exponents)
        parts = np.einsum("gik,gi->gk", bases, vectors)
        scores[t] = tied(np.einsum("gk,gk,gk->g", np.exp(values), parts, parts) - 1)
        labels[t] = choose(t, scores[t])
        wrong = labels[t] * scores[t] <= (0.0 if conservative else margin)
        steps = eta * labels[t] * wrong
        exponents += steps[:, None, None] * vectors[:, :, None] * vectors[:, None, :]
    return scores, labels


def all_sign_matrices(m, n):
    """Return all matrices of signs: an array of shape (2^(mn), m, n)."""
    codes = np.arange(2 ** (m * n))[:, None] >> np.arange(m * n) & 1
    return (2.0 * codes - 1).reshape(-1, m, n)


def fewest_errors(pairs, labels, matrices):
    """Return the least number of labels of each game that differ from one of the matrices."""
    said = matrices[:, pairs[:, :, 0], pairs[:, :, 1]]
    return np.min(np.sum(said != labels, axis=1), axis=0)


def positive_definite_laplacian(L):
    """Return the Laplacian plus ``11' / (m^2 R)``, where ``R`` is the largest entry of ``L^+``."""
    R = np.diag(linalg.pinvh(L)).max()
    return L + 1 / (len(L) ** 2 * R)


def tree_laplacian(height):
    """Return the Laplacian of the complete binary tree, its vertices level by level."""
    n_vertices = 2 ** (height + 1) - 1
    children = np.arange(1, n_vertices)
    adjacency = np.zeros((n_vertices, n_vertices))
    adjacency[children, (children - 1) // 2] = 1
    adjacency += adjacency.T
    return np.diag(adjacency.sum(axis=0)) - adjacency


def path_tree(n_leaves):
    """Return the path-tree kernel matrix by the pseudo-inverse of the Laplacian of the tree."""
    height = int(np.ceil(np.log2(n_leaves)))
    inverse = linalg.pinvh(tree_laplacian(height))
    leaves = slice(2**height - 1, 2**height - 1 + n_leaves)
    return inverse[leaves, leaves] + np.diag(inverse).max()
