"""Sequences of experts from their definitions, slowly: all of them."""

import itertools

import numpy as np


def all_sequences(n_experts, n_trials):
    """Return every sequence of experts, one in each row."""
    return np.array(list(itertools.product(range(n_experts), repeat=n_trials)))


def count_shifts(sequences):
    """Return how often each sequence shifts."""
    return np.count_nonzero(np.diff(sequences, axis=-1), axis=-1)


def count_modes(sequences):
    """Return how many different experts each sequence has."""
    return np.array([len(set(sequence)) for sequence in sequences.tolist()])


def sequence_losses(losses, sequences):
    """Return the loss of each sequence."""
    return losses[np.arange(len(losses)), sequences].sum(axis=-1)


def circadian_specialists(wrong, tasks, n_modes, theta, phi, eta):
    """Return the shares of the experts in each trial, and the last trust and awake weights.

    The algorithm as it is written down; ``wrong`` is a matrix of zeros and ones.
    """
    n = wrong.shape[1]
    pi = np.full(n, 1 / n)
    w = {task: np.full(n, 1 / n_modes) for task in tasks}
    shares = []
    for t, task in enumerate(tasks):
        v = pi * w[task] / (pi @ w[task])
        shares.append(v)
        delta = w[task] * np.exp(-eta * wrong[t])
        beta = (pi @ w[task]) / (pi @ delta)
        epsilon = 1 - w[task] + beta * delta
        pi = pi * epsilon
        w[task] = (phi * (1 - w[task]) + theta * beta * delta) / epsilon
    return np.array(shares), pi, w


def all_specialists(wrong, tasks, n_modes, theta, phi, eta):
    """Return the shares of the experts in each trial, by all specialists there are.

    A specialist is an expert and the trials in which it is awake. Those that are awake share in
    proportion to their weights, and are multiplied by ``exp(-eta)`` if they are wrong, and then
    so that the sum of their weights is what it was before.
    """
    n_trials, n = wrong.shape
    hours = np.array(list(itertools.product([0, 1], repeat=n_trials)))
    prior = np.ones(len(hours))
    for task in set(tasks):
        mine = hours[:, np.asarray(tasks) == task]
        prior *= np.where(mine[:, 0] == 1, 1 / n_modes, 1 - 1 / n_modes)
        for before, after in zip(mine.T[:-1], mine.T[1:], strict=True):
            wakes = np.where(before == 1, theta, phi)
            prior *= np.where(after == 1, wakes, 1 - wakes)
    weights = np.tile(prior / n, (n, 1))
    shares = []
    for t in range(n_trials):
        awake = hours[:, t] == 1
        mass = weights[:, awake].sum()
        shares.append(weights[:, awake].sum(axis=1) / mass)
        weights[:, awake] *= np.exp(-eta * wrong[t])[:, None]
        weights[:, awake] *= mass / weights[:, awake].sum()
    return np.array(shares)


def hedge(losses, eta):
    """Return the shares of the experts in each trial."""
    before = np.vstack([np.zeros(losses.shape[1]), np.cumsum(losses, axis=0)[:-1]])
    weights = np.exp(-eta * (before - before.min(axis=1, keepdims=True)))
    return weights / weights.sum(axis=1, keepdims=True)


def fixed_share(losses, eta, alpha):
    """Return the shares of the experts in each trial, by the weights of the notes."""
    n = losses.shape[1]
    w, shares = np.full(n, 1 / n), []
    for row in losses:
        shares.append(w / w.sum())
        lost = shares[-1] * np.exp(-eta * row)
        w = (1 - alpha) * lost + (alpha * lost.sum() - alpha * lost) / (n - 1)
    return np.array(shares)


def blocks_of_the_past(n_past):
    """Return the sizes of blocks, the oldest first, that grew together one after the other."""
    sizes = []
    for _ in range(n_past):
        sizes.append(1)
        size = 1
        while sizes.count(size) == 3:
            first = sizes.index(size)
            sizes[first : first + 2] = [2 * size]
            size *= 2
    return sizes


def parts_of_the_past(n_past, past, decay):
    """Return the part of each posterior of the past, the oldest first."""
    if past == "start":
        return np.eye(n_past)[0]
    if past == "uniform":
        return np.full(n_past, 1 / n_past)
    masses = np.arange(n_past, 0, -1.0) ** -decay
    ends = np.cumsum(blocks_of_the_past(n_past))
    alike = [np.full(len(block), block.mean()) for block in np.split(masses, ends[:-1])]
    return np.concatenate(alike) / masses.sum()


def past_posteriors(losses, eta, alpha, past, decay=1.0):
    """Return the weights before each trial, by all posteriors that there were."""
    n = losses.shape[1]
    posteriors, weights = [np.full(n, 1 / n)], []
    for row in losses:
        *before, last = posteriors
        if before:
            mixture = parts_of_the_past(len(before), past, decay) @ np.array(before)
            last = (1 - alpha) * last + alpha * mixture
        weights.append(last)
        lost = last * np.exp(-eta * row)
        posteriors.append(lost / lost.sum())
    return np.array(weights)


def past_posterior_complexity(sequence, n_experts, alpha, past, decay=1.0):
    """Return what a sequence costs, from the parts of all posteriors."""
    cost = np.log(n_experts)
    last = {sequence[0]: 1}  # the posterior after the last trial of each expert
    for t in range(1, len(sequence)):
        expert = sequence[t]
        if expert == sequence[t - 1]:
            cost -= np.log(1 - alpha)
        else:
            which = 0 if past == "start" else last.get(expert, 0)
            cost -= np.log(alpha * parts_of_the_past(t, past, decay)[which])
            cost += np.log(n_experts) if which == 0 else 0.0
        last[expert] = t + 1
    return cost
