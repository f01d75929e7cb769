"""Prediction with expert advice as the theory writes it: slow, and in plain numbers."""

from itertools import product

import numpy as np
from scipy.special import logsumexp, softmax


def exponential_weights(losses, eta, prior=None):
    """Return the weights before each trial and after the last: ``prior * exp(-eta L)``."""
    totals = np.vstack([np.zeros(losses.shape[1]), np.cumsum(losses, axis=0)])
    logs = 0.0 if prior is None else np.log(prior)
    return softmax(logs - eta * totals, axis=1)


def adahedge(losses):
    """Return the weights before each trial, and the sum of all mixability gaps.

    The programme in de Rooij, van Erven, Grunwald and Koolen (2014), figure 1.
    """

    def mix(eta, totals):
        least = totals.min()
        weights = (
            (totals == least).astype(float) if np.isinf(eta) else np.exp(-eta * (totals - least))
        )
        mass = weights.sum()
        return weights / mass, least - np.log(mass / n) / eta

    n = losses.shape[1]
    totals, gap, curve = np.zeros(n), 0.0, []
    for row in losses:
        eta = np.log(n) / gap if gap > 0 and n > 1 else np.inf
        weights, before = mix(eta, totals)
        curve.append(weights)
        totals = totals + row
        after = mix(eta, totals)[1]
        gap += max(0.0, weights @ row - (after - before))
    return np.array(curve), gap


def doubling(losses, scale=1.0):
    """Return the weights before each trial if Hedge begins anew after 1, 2, 4, ... trials."""
    n_trials, n = losses.shape
    parts, start, length = [], 0, 1
    while start < n_trials:
        eta = np.sqrt(2 * np.log(n) / length) / scale
        parts.append(exponential_weights(losses[start : start + length], eta)[:-1])
        start, length = start + length, 2 * length
    return np.concatenate(parts)


def fixed_share(losses, eta, alpha):
    """Return the weights before each trial and after the last."""
    n = losses.shape[1]
    weights = [np.full(n, 1 / n)]
    for row in losses:
        after = weights[-1] * np.exp(-eta * row)
        pool = alpha * after.sum()
        shared = (1 - alpha) * after + (pool - alpha * after) / (n - 1) if n > 1 else after
        weights.append(shared / shared.sum())
    return np.array(weights)


def variable_share(losses, eta, alpha):
    """Return the weights before each trial and after the last."""
    n = losses.shape[1]
    weights = [np.full(n, 1 / n)]
    for row in losses:
        after = weights[-1] * np.exp(-eta * row)
        given = (-np.expm1(row * np.log1p(-alpha)) if alpha < 1 else row > 0) * after
        shared = after - given + (given.sum() - given) / (n - 1) if n > 1 else after
        weights.append(shared / shared.sum())
    return np.array(weights)


def sequence_prior(n_trials, n, alpha):
    """Return all sequences of experts, and their prior weights."""
    sequences = np.array(list(product(range(n), repeat=n_trials)))
    shifts = np.count_nonzero(np.diff(sequences, axis=1), axis=1)
    others = max(n - 1, 1)
    return sequences, (1 - alpha) ** (n_trials - 1 - shifts) * (alpha / others) ** shifts / n


def sequence_mixture(losses, eta, alpha):
    """Return the weights before each trial if every sequence of experts has a weight."""
    n_trials, n = losses.shape
    sequences, prior = sequence_prior(n_trials, n, alpha)
    lost = np.zeros(len(sequences))
    weights = np.empty((n_trials, n))
    for t, row in enumerate(losses):
        posterior = prior * np.exp(-eta * lost)
        weights[t] = np.bincount(sequences[:, t], weights=posterior, minlength=n)
        lost += row[sequences[:, t]]
    return weights / weights.sum(axis=1, keepdims=True)


def specialists(losses, eta, share=None):
    """Return the weights before each trial, and what sleeping experts are charged in each.

    The awake experts divide their weight anew; the others keep theirs. ``share(weights, losses)``
    returns what follows, if something does.
    """
    n = losses.shape[1]
    weights, charges = [np.full(n, 1 / n)], []
    for row in losses:
        awake = ~np.isnan(row)
        now = weights[-1].copy()
        charges.append(0.0)
        if awake.any():
            mass = now[awake].sum()
            now[awake] *= np.exp(-eta * row[awake])
            charges[-1] = -np.log(now[awake].sum() / mass) / eta
            now[awake] *= mass / now[awake].sum()
        if share is not None:
            now = share(now, np.where(awake, row, charges[-1]))
        weights.append(now)
    return np.array(weights[:-1]), np.array(charges)


def awake_means(weights, table):
    """Return the weighted mean of a table in each row, over the experts that are awake."""
    awake = ~np.isnan(table)
    return np.sum(np.where(awake, weights * np.nan_to_num(table), 0), axis=1) / np.sum(
        weights * awake, axis=1
    )


def relative_entropy(u, v):
    """Return ``sum_i u_i ln(u_i / v_i)``."""
    used = u > 0
    return float(np.sum(u[used] * np.log(u[used] / v[used])))


def mixed_losses(weights, losses, eta):
    """Return the losses of the mixture, ``-(1 / eta) ln(sum_i v_i exp(-eta l_i))``."""
    with np.errstate(divide="ignore"):
        return -logsumexp(np.log(weights) - eta * losses, axis=1) / eta


def weighted_majority(advice, y, beta, n_classes=2):
    """Return the answers of the weighted majority; ties go to the larger class."""
    weights, answers = np.ones(advice.shape[1]), []
    for row, outcome in zip(advice, y, strict=True):
        votes = [round(weights[row == code].sum(), 12) for code in range(n_classes)]
        answers.append(max(range(n_classes), key=lambda code: (votes[code], code)))
        weights = np.where(row == outcome, weights, beta * weights)
        weights = weights / weights.max() if weights.max() > 0 else np.ones_like(weights)
    return np.array(answers)


# ---------------------------------------------------------------- adversaries


def majority_adversary(rng, n_runs, n_trials, n_experts, n_classes, beta):
    """Return advice at random, and outcomes that the weighted majority does not say.

    Parameters
    ----------
    rng : Generator
        The dice.

    n_runs, n_trials, n_experts, n_classes : int
        How many.

    beta : float
        The factor of the majority, positive.

    Returns
    -------
    advice : ndarray of shape (n_runs, n_trials, n_experts)
        Classes.

    y : ndarray of shape (n_runs, n_trials)
        The class with the second largest weight.
    """
    advice = rng.integers(0, n_classes, (n_runs, n_trials, n_experts))
    y, mistakes = np.empty((n_runs, n_trials), dtype=int), np.zeros((n_runs, n_experts))
    for t in range(n_trials):
        weights = beta ** (mistakes - mistakes.min(axis=1, keepdims=True))
        votes = np.stack(
            [(weights * (advice[:, t] == code)).sum(axis=1) for code in range(n_classes)], axis=1
        )
        y[:, t] = votes.argsort(axis=1, kind="stable")[:, -2]
        mistakes += advice[:, t] != y[:, [t]]
    return advice, y


def average_adversary(rng, n_runs, n_trials, n_experts, eta, loss):
    """Return advice, of which half are zeros and ones, and outcomes far from their average.

    ``loss(y, x)`` is that of the experts; shapes are as those of :func:`majority_adversary`. There
    may be a learning rate ``eta`` for each trial.
    """
    advice, eta = rng.random((n_runs, n_trials, n_experts)), np.broadcast_to(eta, n_trials)
    advice[::2] = np.round(advice[::2])
    y, lost = np.empty((n_runs, n_trials)), np.zeros((n_runs, n_experts))
    for t in range(n_trials):
        means = (softmax(-eta[t] * lost, axis=1) * advice[:, t]).sum(axis=1)
        y[:, t] = means < 0.5
        lost += loss(y[:, [t]], advice[:, t])
    return advice, y


def leader_adversary(rng, n_runs, n_trials, n_experts):
    """Return losses of one for the experts that have lost least, zero or at random for others."""
    losses = np.zeros((n_runs, n_trials, n_experts))
    noise = rng.random((n_runs, 1)) * (rng.random((n_runs, 1)) < 0.5)
    lost = np.zeros((n_runs, n_experts))
    for t in range(n_trials):
        # One of them, by a small preference that stays.
        leader = (lost + 1e-6 * np.arange(n_experts)).argmin(axis=1)
        losses[:, t] = rng.random((n_runs, n_experts)) < noise
        losses[np.arange(n_runs), t, leader] = 1.0
        lost += losses[:, t]
    return losses


def regret_curves(own, expert_losses):
    """Return the regret against the best expert after each trial."""
    return np.cumsum(own) - np.cumsum(expert_losses, axis=0).min(axis=1)
