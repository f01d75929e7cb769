"""Minimum cuts by looking at all of them."""

import itertools

import numpy as np


def weight_between(W, labels):
    """Return the weight of the edges of a dense graph between different labels."""
    return np.sum(W * (labels[:, None] != labels)) / 2


def all_labellings(given, n_classes):
    """Return every labelling that agrees with the given labels; -1 is free."""
    free = np.flatnonzero(given == -1)
    for choice in itertools.product(range(n_classes), repeat=len(free)):
        labels = given.copy()
        labels[free] = choice
        yield labels


def best_labellings(W, given, n_classes, rounding=1e-9):
    """Return the least weight, and all labellings that have it."""
    found = list(all_labellings(given, n_classes))
    weights = np.array([weight_between(W, labels) for labels in found])
    least = weights.min()
    return least, np.array(found)[weights <= least + rounding]
