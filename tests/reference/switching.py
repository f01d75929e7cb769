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
