"""Boosting from its definitions, slowly."""

import itertools

import numpy as np


def all_stumps(X):
    """Yield ``(feature, threshold, sides)`` of every signed stump, and of both constants."""
    for sign in (-1, 1):
        yield -1, np.inf, np.full(len(X), sign)
    for feature, column in enumerate(np.asarray(X, dtype=float).T):
        values = np.unique(column)
        for low, high in itertools.pairwise(values):
            threshold = low / 2 + high / 2
            sides = np.where(column <= threshold, 1, -1)
            yield feature, threshold, sides
            yield feature, threshold, -sides


def best_stump(X, y, weight):
    """Return the least weighted error of a stump, and the answers of the first that has it."""
    errors = [(weight @ (sides != y), sides) for *_, sides in all_stumps(X)]
    least = min(error for error, _ in errors)
    return least, next(sides for error, sides in errors if error <= least + 1e-15)


def adaboost(X, y, n_rounds, weight=None):
    """Return errors, coefficients and normalisers, and the answers and weights of each round.

    The discrete AdaBoost of two classes -1 and +1 with ``alpha = 1/2 log((1 - eps) / eps)``.
    """
    D = np.full(len(y), 1 / len(y)) if weight is None else weight / weight.sum()
    rounds = []
    for _ in range(n_rounds):
        error, answers = best_stump(X, y, D)
        alpha = 0.5 * np.log((1 - error) / error)
        after = D * np.exp(-alpha * y * answers)
        rounds.append((error, alpha, after.sum(), answers, D))
        D = after / after.sum()
    return rounds


def gini_gain(y, sides, weight):
    """Return by how much a split reduces the Gini impurity times the weight, classes -1 and +1."""

    def loss(chosen):
        total = weight[chosen].sum()
        positive = weight[chosen & (y == 1)].sum()
        return 0.0 if total == 0 else 2 * positive * (total - positive) / total

    everything = np.ones(len(y), dtype=bool)
    return loss(everything) - loss(sides == 1) - loss(sides == -1)
