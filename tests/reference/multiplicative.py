"""Multiplicative learners and the ellipsoid from their definitions, slowly."""

import itertools
from fractions import Fraction

import numpy as np


def cube(n):
    """Return all boolean vectors of a length."""
    return np.array(list(itertools.product([0.0, 1.0], repeat=n)))


# ---------------------------------------------------------------- Winnow


def winnow(X, yes, alpha=2.0, threshold=None):
    """Return the scores before each change, the weights, the promotions and the demotions."""
    w = np.ones(X.shape[1])
    threshold = len(w) if threshold is None else threshold
    scores, promotions, demotions = [], 0, 0
    for x, truth in zip(X, yes, strict=True):
        scores.append(w @ x - threshold)
        said = scores[-1] >= 0
        if said != truth:
            w = w * alpha ** ((int(truth) - int(said)) * x)
            promotions, demotions = promotions + int(truth), demotions + int(said)
    return np.array(scores), w, promotions, demotions


def exact_winnow(X, yes, threshold):
    """Return the answers of Winnow with ``alpha=2`` on integers, in exact arithmetic."""
    w = [Fraction(1)] * X.shape[1]
    said = []
    for x, truth in zip(X.astype(int).tolist(), yes.tolist(), strict=True):
        score = sum(weight * entry for weight, entry in zip(w, x, strict=True))
        said.append(score >= threshold)
        if said[-1] != truth:
            sign = 1 if truth else -1
            w = [weight * Fraction(2) ** (sign * e) for weight, e in zip(w, x, strict=True)]
    return np.array(said)


def balanced_winnow(X, yes, alpha):
    """Return the scores before each change, and both vectors of weights."""
    plus, minus = np.ones(X.shape[1]), np.ones(X.shape[1])
    scores = []
    for x, truth in zip(X, yes, strict=True):
        scores.append((plus - minus) @ x)
        if (scores[-1] >= 0) != truth:
            factor = alpha ** (x if truth else -x)
            plus, minus = plus * factor, minus / factor
    return np.array(scores), plus, minus


def exact_balanced_winnow(X, yes):
    """Return the answers of the balanced Winnow with ``alpha=2`` on integers, exactly."""
    sums = [0] * X.shape[1]
    said = []
    for x, truth in zip(X.astype(int).tolist(), yes.tolist(), strict=True):
        score = sum(
            (Fraction(2) ** z - Fraction(2) ** -z) * entry for z, entry in zip(sums, x, strict=True)
        )
        said.append(score >= 0)
        if said[-1] != truth:
            sums = [z + (e if truth else -e) for z, e in zip(sums, x, strict=True)]
    return np.array(said)


def kesler_winnow(X, codes, n_classes, alpha):
    """Return the scores before each change, and the weights of each class."""
    w = np.ones((n_classes, X.shape[1]))
    scores = []
    for x, own in zip(X, codes, strict=True):
        scores.append(w @ x)
        others = np.delete(np.arange(n_classes), own)
        best = others[np.argmax(scores[-1][others])]
        if scores[-1][own] <= scores[-1][best]:
            w[own] *= alpha**x
            w[best] /= alpha**x
    return np.array(scores), w


def mistakes_for_winnow(rng, n, k, n_sequences):
    """Yield sequences of rows of the cube on which Winnow is wrong each time, and their truth.

    The concepts are disjunctions of the first ``k`` attributes; many sequences are made at once.
    Each row is drawn from all those that are wrong.
    """
    rows, truth = cube(n), cube(n)[:, :k].any(axis=1)
    weights = np.ones((n_sequences, n))
    sequences = [[] for _ in range(n_sequences)]
    alive = np.arange(n_sequences)
    while alive.size:
        said = weights[alive] @ rows.T >= n
        wrong = said != truth
        alive = alive[wrong.any(axis=1)]
        wrong = wrong[wrong.any(axis=1)]
        chosen = np.argmax(wrong * rng.random(wrong.shape), axis=1)
        for sequence, row in zip(alive, chosen, strict=True):
            sequences[sequence].append(row)
        weights[alive] *= 2.0 ** (np.where(truth[chosen], 1, -1)[:, None] * rows[chosen])
    for sequence in sequences:
        yield rows[sequence], truth[sequence]


# ---------------------------------------------------------------- exponentiated gradient

LOSSES = {
    "hinge": (lambda s, y: np.maximum(0, 1 - y * s), lambda s, y: -y * (y * s < 1)),
    "logistic": (lambda s, y: np.logaddexp(0, -y * s), lambda s, y: -y / (1 + np.exp(y * s))),
    "square": (lambda s, y: (y - s) ** 2, lambda s, y: 2 * (s - y)),
    "absolute": (lambda s, y: np.abs(y - s), lambda s, y: np.sign(s - y)),
}


def exponentiated_weights(G, eta, radius, signed):
    """Return the weights for the sum of all gradients."""
    logs = np.concatenate([-eta * G, eta * G]) if signed else -eta * G
    p = np.exp(logs - logs.max())
    p *= radius / p.sum()
    return p[: len(G)] - p[len(G) :] if signed else p


def exponentiated_gradient(X, y, loss, eta, radius, signed, conservative=False):
    """Return the scores before each change, the last weights, and the theorem's bound.

    ``eta`` is a number, or None for the learning rate that follows the gradients.
    """
    G, variation, level, rated = np.zeros(X.shape[1]), 0.0, 0.0, 0.0
    log_n = np.log(max(2, len(G) * (1 + signed)))
    rate = 0.0 if eta is None else eta
    scores, last = [], rate
    for x, target in zip(X, y, strict=True):
        score = exponentiated_weights(G, rate, radius, signed) @ x
        scores.append(score)
        g = LOSSES[loss][1](score, target) * x
        if not np.any(g) or (conservative and target * score > 0):
            continue
        G = G + g
        square = np.abs(g).max() ** 2
        variation += square
        if eta is None and level == 0:
            level = 1.25 * variation
            rate = np.sqrt(log_n / level)
        rated, last = rated + rate * square, rate
        if eta is None and variation > level:
            level = 1.25 * variation
            rate = np.sqrt(log_n / level)
    bound = radius * (log_n / last + rated / 2) if last > 0 else 0.0
    return np.array(scores), exponentiated_weights(G, rate, radius, signed), bound


# ---------------------------------------------------------------- ellipsoid


def ellipsoid(X, signs):
    """Return the center and the matrix of the ellipsoid after each trial, as the formulas say."""
    d = X.shape[1]
    w, A = np.zeros(d), np.eye(d)
    states = []
    for x, y in zip(X, signs, strict=True):
        width = x @ A @ x
        if y * (w @ x) <= 0 and width > 0:
            b = A @ x / np.sqrt(width)
            w = w + y / (d + 1) * b
            A = d**2 / (d**2 - 1) * (A - 2 / (d + 1) * np.outer(b, b)) if d > 1 else A / 4
        states.append((w, A))
    return states
