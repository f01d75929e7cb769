"""Data as users have them: repeated, sorted, unbalanced, categorical, few.

Each situation is a function of a random generator and of what is asked for, classes or numbers. It
returns samples and targets for training and, from the same law, for testing.
"""

import collections

import numpy as np

Situation = collections.namedtuple("Situation", "X y X_test y_test")


def outcome(rng, signal, classes):
    """Return what follows from a signal of about unit size: noisy classes, or noisy numbers."""
    if classes:
        return (signal + 0.5 * rng.normal(size=len(signal)) > 0).astype(int)
    return signal + 0.3 * rng.normal(size=len(signal))


def halves(X, y, order=None):
    """Return every second row for training, in a given order if there is one, others for tests."""
    rows = np.arange(0, len(y), 2)
    if order is not None:
        rows = rows[np.argsort(order[rows], kind="stable")]
    return Situation(X[rows], y[rows], X[1::2], y[1::2])


def few_distinct_values(rng, classes):
    """Return three columns of four values: rows repeat, with contradicting targets."""
    X = rng.integers(0, 4, (600, 3)).astype(float)
    return halves(X, outcome(rng, (X @ [1, -1, 0.5] - 0.75) / 1.5, classes).round())


def plain(rng, n=300, p=4):
    """Return samples and a signal in them."""
    X = rng.normal(size=(n, p))
    return X, X[:, 0] + 0.5 * X[:, 1] * X[:, 2]


def sorted_by_target(rng, classes):
    """Return rows in the order of their targets."""
    X, signal = plain(rng)
    y = outcome(rng, signal, classes)
    return halves(X, y, order=y)


def sorted_by_time(rng, classes):
    """Return rows in an order that one of the features has too."""
    X, signal = plain(rng)
    return halves(X, outcome(rng, signal, classes), order=X[:, 0])


def rare_class(rng, classes):
    """Return two classes, one with one row of fifty; or numbers, as many of which are far off."""
    X, signal = plain(rng, 1200)
    rare = np.arange(1200) % 50 == 0
    X[rare] += 2
    y = rare.astype(int) if classes else outcome(rng, signal, classes) + 10 * rare
    first = np.arange(1200) < 300
    return Situation(X[first], y[first], X[~first], y[~first])


def hundred_classes(rng, classes):
    """Return a hundred classes of three rows each; or as many distinct numbers."""
    centre = 10 * rng.normal(size=(100, 5))
    label = np.arange(600) % 100
    X = centre[label] + rng.normal(size=(600, 5))
    y = label if classes else centre[label, 0] / 10
    first = np.arange(600) < 300
    return Situation(X[first], y[first], X[~first], y[~first])


def constant_and_repeated_columns(rng, classes):
    """Return features two of which never change, and one of which is there three times."""
    X, signal = plain(rng)
    X = np.column_stack([X, X[:, 0], X[:, 0], np.zeros(len(X)), np.full(len(X), 7.0)])
    return halves(X, outcome(rng, signal, classes))


def categories(rng, classes):
    """Return one-hot and ordinal codes of categories."""
    colour, size = rng.integers(0, 5, 300), rng.integers(0, 3, 300)
    X = np.column_stack([np.eye(5)[colour], size])
    signal = np.array([1.0, -1.0, 0.5, 0.0, -0.5])[colour] + (size - 1) / 2
    return halves(X, outcome(rng, signal, classes).round())


def large_and_small_units(rng, classes):
    """Return features in units that differ by nine orders of magnitude, far from zero."""
    X, signal = plain(rng)
    return halves(X * [1e-3, 1.0, 1e3, 1e6] + [0, 10, 0, 1e7], outcome(rng, signal, classes))


def thirty_rows(rng, classes):
    """Return a small training set."""
    X, signal = plain(rng, 230)
    y = outcome(rng, signal, classes)
    return Situation(X[:30], y[:30], X[30:], y[30:])


def three_rows(rng, classes):
    """Return the smallest training set of two classes."""
    X, signal = plain(rng, 100)
    y = outcome(rng, signal, classes)
    rows = np.concatenate([np.flatnonzero(y > 0)[:2], np.flatnonzero(y <= 0)[:1]])
    return Situation(X[rows], y[rows], X, y)


SITUATIONS = [
    few_distinct_values,
    sorted_by_target,
    sorted_by_time,
    rare_class,
    hundred_classes,
    constant_and_repeated_columns,
    categories,
    large_and_small_units,
    thirty_rows,
    three_rows,
]
