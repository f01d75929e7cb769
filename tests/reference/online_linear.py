"""Additive online learners from their definitions, slowly, and sequences for them."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from sklearn_sl.online.linear import _steps, _sweeps
from sklearn_sl.online.linear._linear import BIAS, LOSS, N_STEPS, N_WRONG, SCALE, SQUARES, as_rows

# ---------------------------------------------------------------- losses: value and slope


def hinge(s, y, margin=1.0):
    return max(0.0, margin - y * s), -y if y * s < margin else 0.0


def perceptron(s, y):
    return max(0.0, -y * s), -y if y * s <= 0 else 0.0


def squared_hinge(s, y):
    return max(0.0, 1 - y * s) ** 2, -2 * y * max(0.0, 1 - y * s)


def logistic(s, y):
    return np.logaddexp(0, -y * s), -y * expit(-y * s)


def insensitive(width):
    def loss(s, y):
        excess = max(0.0, abs(s - y) - width)
        return excess, np.sign(s - y) * (excess > 0)

    return loss


def squared_insensitive(width):
    def loss(s, y):
        excess = max(0.0, abs(s - y) - width)
        return excess**2, 2 * np.sign(s - y) * excess

    return loss


def huber(width):
    def loss(s, y):
        r = s - y
        if abs(r) <= width:
            return r**2 / 2, r
        return width * (abs(r) - width / 2), width * np.sign(r)

    return loss


CLASS_LOSSES = {
    "hinge": hinge,
    "perceptron": perceptron,
    "squared_hinge": squared_hinge,
    "logistic": logistic,
}
NUMBER_LOSSES = {
    "square": squared_insensitive(0.0),
    "absolute": insensitive(0.0),
    "epsilon_insensitive": insensitive(0.1),
    "squared_epsilon_insensitive": squared_insensitive(0.1),
    "huber": huber(0.1),
}


# ---------------------------------------------------------------- steps


def fixed(eta):
    """Return steps against the slope."""
    return lambda slope, loss, square, weight: -eta * weight * slope


def falling(constant):
    """Return steps whose rate falls with the sum of the squared gradients."""
    total = 0.0

    def step(slope, loss, square, weight):
        nonlocal total
        total += slope**2 * square
        return -constant / np.sqrt(total) * weight * slope

    return step


def aggressive(C, squared=False):
    """Return passive-aggressive steps."""

    def step(slope, loss, square, weight):
        length = loss / (square + 0.5 / (C * weight)) if squared else min(C * weight, loss / square)
        return -slope * length

    return step


# ---------------------------------------------------------------- learners


class Run(NamedTuple):
    """Scores and losses of all trials, and the weights, with the intercept, before each of them."""

    scores: np.ndarray
    losses: np.ndarray
    weights: np.ndarray
    last: np.ndarray


def with_one(X, intercept=True):
    """Return samples with a last feature that is one, or zero without an intercept."""
    return np.column_stack([X, np.full(len(X), float(intercept))])


def descend(
    X, targets, loss, step, *, intercept=True, radius=np.inf, conservative=False, weight=None
):
    """Return the run of an additive learner with one weight vector."""
    Z = with_one(X, intercept)
    w, weight = np.zeros(Z.shape[1]), np.ones(len(Z)) if weight is None else weight
    scores, losses, weights = [], [], []
    for z, y, factor in zip(Z, targets, weight, strict=True):
        score = w @ z
        value, slope = loss(score, y)
        scores.append(score), losses.append(value), weights.append(w)
        if slope != 0 and not (conservative and y * score > 0):
            w = shrunk(w + step(slope, value, z @ z, factor) * z, radius)
    return Run(np.array(scores), np.array(losses), np.array(weights), w)


def descend_together(X, codes, loss, step, *, intercept=True, radius=np.inf):
    """Return the run of Kesler's construction: one long vector, with a part for each class."""
    Z, n_classes = with_one(X, intercept), codes.max() + 1
    w = np.zeros((n_classes, Z.shape[1]))
    scores, losses, weights = [], [], []
    for z, own in zip(Z, codes, strict=True):
        each = w @ z
        other = max((k for k in range(n_classes) if k != own), key=lambda k: (each[k], -k))
        long = np.zeros_like(w)
        long[own], long[other] = z, -z
        value, slope = loss(np.sum(w * long), 1.0)
        scores.append(each), losses.append(value), weights.append(w)
        if slope != 0:
            w = shrunk(w + step(slope, value, np.sum(long**2), 1.0) * long, radius)
    return Run(np.array(scores), np.array(losses), np.array(weights), w)


def shrunk(w, radius):
    """Return the nearest vector in the ball of a radius."""
    return w * min(1.0, radius / max(np.linalg.norm(w), 1e-300))


def voted_perceptron(X, signs, X_test, *, eta=1.0, n_passes=1, intercept=True):
    """Return the mean votes of all weight vectors, by Freund and Schapire's algorithm."""
    Z, vectors, ages = with_one(X, intercept), [np.zeros(X.shape[1] + 1)], [0]
    for _ in range(n_passes):
        for z, y in zip(Z, signs, strict=True):
            if y * (vectors[-1] @ z) > 0:
                ages[-1] += 1
            else:
                vectors.append(vectors[-1] + eta * y * z)
                ages.append(1)
    votes = np.sign(with_one(X_test, intercept) @ np.transpose(vectors))
    return votes @ ages / np.sum(ages)


# ---------------------------------------------------------------- compiled trials, and sequences


class Trials(NamedTuple):
    """What compiled trials have led to."""

    scores: np.ndarray
    weights: np.ndarray
    loss: float
    n_steps: int
    n_wrong: int
    squares: float


def begun(n_vectors, n_features):
    """Return weights and tails of vectors that begin with zeros, as a compiled sweep has them."""
    v, tails = np.zeros((n_vectors, n_features)), np.zeros((n_vectors, _steps.TAIL))
    tails[:, SCALE] = 1.0
    return v, v[:, :0], tails, np.zeros((2, n_vectors)), v[:, :0]


def play(X, targets, loss, rule, *, intercept=False, radius=np.inf):
    """Play trials by the compiled sweep of one vector that begins with zeros."""
    scores, state = np.empty((len(X), 1)), begun(1, X.shape[1])
    sweep = _sweeps.Sweep(
        *(as_rows(X), targets, None, np.empty((1, 0)), loss, rule, intercept, radius, 1.0, 0.0),
        *(*state, np.full(len(X), -1.0)),
    )
    played, _ = sweep.play(None, np.empty(0), np.zeros(1, dtype=np.uint8), 0, scores)
    assert played == len(X)
    v, _, (tail,), *_ = state
    return Trials(
        scores[:, 0],
        np.append(tail[SCALE] * v[0], tail[BIAS]),
        tail[LOSS],
        int(tail[N_STEPS]),
        int(tail[N_WRONG]),
        tail[SQUARES],
    )


def play_together(X, codes, n_classes, loss, rule, *, radius=np.inf):
    """Play trials by the compiled sweep of all classes, which begin with zeros."""
    scores, state = np.empty((len(X), n_classes)), begun(n_classes, X.shape[1])
    sweep = _sweeps.Sweep(
        *(as_rows(X), None, codes, np.empty((n_classes, 0)), loss, rule, False, radius, 1.0, 0.0),
        *(*state, np.full(len(X), -1.0)),
    )
    once, now = np.empty(0, dtype=np.int64), np.empty(n_classes)
    assert sweep.play_together(None, np.empty(0), once, 0, scores, now) == len(X)
    v, _, (tail, *_), *_ = state
    return Trials(
        scores,
        tail[SCALE] * v,
        tail[LOSS],
        int(tail[N_STEPS]),
        int(tail[N_WRONG]),
        tail[SQUARES],
    )


def sequences(rng, n_sequences, longest=40, widest=8):
    """Yield random samples and signs: Gaussian, boolean, heavy-tailed, sparse, or repeated."""
    for number in range(n_sequences):
        n, d = rng.integers(1, longest + 1), rng.integers(1, widest + 1)
        X = rng.normal(size=(n, d))
        kind = number % 5
        if kind == 1:
            X = np.sign(X)
        elif kind == 2:
            X *= np.exp(3 * rng.normal(size=(n, 1)))
        elif kind == 3:
            X[X < 0.5] = 0.0
        elif kind == 4:
            X = X[rng.integers(0, n, n)]
        yield X, np.where(rng.random(n) < 0.5, -1.0, 1.0)


def separated(rng, margin, n, d):
    """Return samples whose margin to a unit vector is exact, their signs, and the vector."""
    u = rng.normal(size=d)
    u /= np.linalg.norm(u)
    signs = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    X = rng.normal(size=(n, d))
    X -= np.outer(X @ u, u)
    distances = margin * np.where(rng.random(n) < 0.5, 1.0, 1 + rng.exponential(size=n))
    return X + np.outer(signs * distances, u), signs, u
