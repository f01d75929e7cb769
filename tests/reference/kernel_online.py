"""Slow, readable twins of the compiled trials of kernel learners, and runs to compare with."""

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from sklearn_sl.online.kernel import _kernel_sweeps, _kernel_trials

RIDGE = 1e-6


def play(K, codes, n_scores, *, margin, length, together=False, budget=None, strategy="removal"):
    """Return the scores, support vectors, coefficients and mean coefficients of some trials.

    ``K[s, t]`` is the kernel value of the samples of trials ``s`` and ``t``. Coefficients have a
    row for each score and a column for each trial; those of the trials are before their steps.
    """
    n = len(codes)
    coef, total = np.zeros((n_scores, n)), np.zeros((n_scores, n))
    scores, support = np.empty((n, n_scores)), []
    for t, code in enumerate(codes):
        scores[t] = coef @ K[:, t]
        total += coef
        steps = length * decide(scores[t], code, margin, together)
        if not steps.any():
            continue
        coef[:, t] = steps
        support.append(t)
        if budget is not None and len(support) > budget:
            lost = support[0] if strategy == "removal" else least_loss(K, support, coef)
            support.remove(lost)
            if strategy == "projection":
                image = projection(K, support, lost)
                coef[:, support] += np.outer(coef[:, lost], image)
                total[:, support] += np.outer(total[:, lost], image)
            coef[:, lost] = total[:, lost] = 0
    return scores, support, coef, total / n


def decide(scores, code, margin, together):
    """Return the signs of the steps of all functions."""
    if together:
        signs = np.zeros(len(scores))
        others = np.where(np.arange(len(scores)) == code, -np.inf, scores)
        if scores[code] - others.max() <= margin:
            signs[code], signs[others.argmax()] = 1, -1
        return signs
    classes = np.array([1]) if len(scores) == 1 else np.arange(len(scores))
    signs = np.where(classes == code, 1.0, -1.0)
    return np.where(signs * scores <= margin, signs, 0.0)


def ridged(K, support):
    """Return the Gram matrix of some samples, its diagonal a little larger."""
    gram = K[np.ix_(support, support)]
    return gram + RIDGE * np.diag(np.diag(gram))


def projection(K, support, lost):
    """Return the coefficients of the projection of a sample on the span of others."""
    return np.linalg.solve(ridged(K, support), K[support, lost])


def least_loss(K, support, coef):
    """Return the sample whose projection on the others changes the functions least."""
    losses = []
    for lost in support:
        others = [s for s in support if s != lost]
        distance = (1 + RIDGE) * K[lost, lost] - K[others, lost] @ projection(K, others, lost)
        losses.append(np.sum(coef[:, lost] ** 2) * distance)
    return support[int(np.argmin(losses))]


def chances(scores):
    """Return the probabilities of the classes, given the scores of one trial."""
    if len(scores) == 1:
        second = min(max((1 + scores[0]) / 2, 0), 1)
        return np.array([1 - second, second])
    parts = np.maximum(0, 1 + scores)
    if not parts.any():
        return np.eye(len(scores))[scores.argmax()]
    return parts / parts.sum()


# ---------------------------------------------------------------- runs of the learners


def learned(model, X, y, blocks=None):
    """Return a clone that went through the trials, in blocks that end at these rows."""
    model, start = clone(model), 0
    for stop in [*(blocks or []), len(y)]:
        model.partial_fit(X[start:stop], y[start:stop], classes=np.unique(y))
        start = stop
    return model


def assert_same_bits(first, second):
    """Check that all numbers of two learners are the same, and all vectors."""
    assert vars(first).keys() == vars(second).keys()
    for name, value in vars(first).items():
        other = vars(second)[name]
        if sp.issparse(value):
            assert (value != other).nnz == 0
        elif isinstance(value, np.random.Generator):
            assert value.bit_generator.state == other.bit_generator.state
        elif isinstance(value, np.ndarray | float | int):
            np.testing.assert_array_equal(value, other, err_msg=name)


def run(K, codes, n_scores=1, *, margin=0.0, length=1.0, together=False):
    """Return the scores and squared norms of a run at compiled speed, given all kernel values."""
    n = len(codes)
    values = np.zeros((n, _kernel_trials.padded(n)))
    values[:, :n] = K
    norms, tail = np.zeros(n_scores), np.zeros(_kernel_sweeps.TAIL)
    none, scores = np.empty((0, 0)), np.empty((n, n_scores))
    functions = _kernel_sweeps.Expansion(
        np.zeros((n_scores, n)), np.empty((n_scores, 0)), 0, -1, none, none, norms, tail, none
    )
    places = np.full((2, n), -1)
    room = np.empty((n_scores, _kernel_sweeps.LANES)), np.empty(n_scores)
    rule = (together, margin, length, 0, 0, n)
    table = values.copy()
    assert n == _kernel_sweeps.sweep(functions, table, values, codes, *rule, *places, *room, scores)
    return scores, norms
