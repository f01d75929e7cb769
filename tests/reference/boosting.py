"""Boosting from its definitions, slowly, and problems to boost on."""

import itertools

import numpy as np

# Ten points on which three stumps suffice.
TOY = np.array([[1, 5], [2, 3], [3, 2], [4, 6], [4, 7], [5, 9], [6, 5], [6, 7], [8, 5], [8, 8]])
TOY_SIGNS = np.array([1, 1, -1, -1, 1, 1, -1, 1, -1, -1])


def two_moons_or_so(seed=0, n_samples=300, n_features=4):
    """Return samples that single precision represents, and noisy classes -1 and 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features)).astype(np.float32).astype(float)
    noise = rng.normal(size=n_samples)
    return X, np.where(np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + noise / 2 > 0, 1, -1)


def random_strings(rng, n):
    """Return so many different strings, none of a single length."""
    found = set()
    while len(found) < n:
        found.add("".join(rng.choice(list("ACGT"), rng.integers(3, 9))))
    return sorted(found)


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
