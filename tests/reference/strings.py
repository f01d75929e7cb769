"""Slow, readable twins of the set and string kernels."""

from itertools import chain, combinations, product

import numpy as np


def subsets(items):
    """Return all subsets of ``items``."""
    items = list(items)
    sizes = range(len(items) + 1)
    return [frozenset(c) for c in chain.from_iterable(combinations(items, n) for n in sizes)]


def windows(s, width):
    """Return the substrings of ``s`` of length ``width``, in order."""
    return [s[i : i + width] for i in range(len(s) - width + 1)]


def spectrum_features(s, p, alphabet):
    """Return how often each string of length p occurs in s."""
    return np.array([windows(s, p).count("".join(u)) for u in product(alphabet, repeat=p)], float)


def hamming(u, v):
    """Return in how many places two strings of the same length differ."""
    return sum(a != b for a, b in zip(u, v))


def mismatch_features(s, k, m, alphabet):
    """Return how many windows of s are within m letters of each string of length k."""
    return np.array(
        [sum(hamming(u, v) <= m for v in windows(s, k)) for u in product(alphabet, repeat=k)], float
    )


def gap_weighted_features(s, p, decay, alphabet):
    """Return ``sum decay**l(i)`` over the places i of each string of length p in s."""
    position = {u: n for n, u in enumerate(product(alphabet, repeat=p))}
    features = np.zeros(len(position))
    for places in combinations(range(len(s)), p):
        u = tuple(s[i] for i in places)
        features[position[u]] += decay ** (places[-1] - places[0] + 1)
    return features


def gap_weighted(s, t, p, decay):
    """Return the gap-weighted kernel by the recursion of the book, number by number."""
    n, m = len(s), len(t)
    match = np.array([[a == b for b in t] for a in s]).reshape(n, m)
    suffix = decay**2 * match
    for _ in range(p - 1):
        D = np.zeros((n + 1, m + 1))
        for i in range(1, n + 1):
            for j in range(1, m + 1):
                D[i, j] = (
                    suffix[i - 1, j - 1]
                    + decay * (D[i - 1, j] + D[i, j - 1])
                    - decay**2 * D[i - 1, j - 1]
                )
        suffix = decay**2 * match * D[:-1, :-1]
    return suffix.sum()


def gap_weighted_by_rows(s, t, p, decay):
    """Return the same kernel, all columns and all levels of a row at once."""
    s, t = (np.array(list(map(ord, x)), dtype=int) for x in (s, t))
    lag = np.subtract.outer(np.arange(len(t)), np.arange(len(t)))
    spread = np.where(lag.T >= 0, decay ** np.abs(lag), 0.0)
    D = np.zeros((p - 1, len(t)))
    S = np.zeros((p, len(t)))
    total = 0.0
    for letter in s:
        match = t == letter
        S[0] = match
        S[1:, 1:] = D[:, :-1] * match[1:]
        D = decay * D + S[:-1] @ spread
        total += S[-1].sum()
    return decay ** (2 * p) * total
