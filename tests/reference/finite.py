"""Slow twins of the learners of finite classes, and brute force for what is hard."""

import functools
import itertools

import numpy as np


def class_of(advice, threshold, n_classes):
    """Return the class that a number stands for; None while asleep."""
    if np.isnan(advice):
        return None
    return int(np.clip(np.floor(advice - threshold) + 1, 0, n_classes - 1))


def version_space_run(
    advice, codes, n_classes, *, majority=True, on_empty="restart", order=None, threshold=0.5
):
    """Return the answers, the hypotheses left, and the number of contradictions."""
    order = list(range(advice.shape[1])) if order is None else list(order)
    left, answers, n_contradictions = list(order), [], 0
    for row, code in zip(advice, codes, strict=True):
        said = {i: class_of(row[i], threshold, n_classes) for i in left}
        awake = [said[i] for i in left if said[i] is not None]
        if majority:
            votes = [awake.count(k) for k in range(n_classes)]
            answers.append(max(k for k in range(n_classes) if votes[k] == max(votes)))
        else:
            answers.append(awake[0] if awake else n_classes - 1)
        right = [i for i in left if said[i] in (None, code)]
        if right:
            left = right
        else:
            n_contradictions += 1
            if on_empty == "restart":
                left = list(order)
    return answers, left, n_contradictions


def grid_advice(places, n_steps):
    """Return what each of the ``n_steps + 2`` thresholds between grid points says, as 0 or 1."""
    thresholds = np.arange(n_steps + 2) - 0.5
    return (np.asarray(places)[:, None] >= thresholds).astype(float)


def worst_case_on_grid(n_steps):
    """Return how many mistakes halving on a grid can be forced to make."""

    @functools.cache
    def worst(low, high):
        # Outside of the interval all thresholds agree, and nothing changes.
        most = 0
        for x in range(low + 1, high, 2):
            says_above = 2 * x >= low + high
            most = max(most, (not says_above) + worst(low, x - 1), says_above + worst(x + 1, high))
        return most

    return worst(-1, 2 * n_steps + 1)


# ---------------------------------------------------------------- covers and formulas


def smallest_covers(incidence):
    """Return all smallest covers of the rows by columns; none at all if there is no cover."""
    incidence = np.asarray(incidence, dtype=bool)
    for size in range(incidence.shape[1] + 1):
        covers = [
            list(columns)
            for columns in itertools.combinations(range(incidence.shape[1]), size)
            if incidence[:, list(columns)].any(axis=1).all()
        ]
        if covers:
            return covers
    return []


def satisfies(assignment, clauses):
    """Return whether truth values, of ``x_1`` first, make all clauses true."""
    return all(any(assignment[abs(i) - 1] == (i > 0) for i in clause) for clause in clauses)


def is_satisfiable(clauses, n_variables):
    """Return whether any truth values make all clauses true."""
    values = itertools.product([False, True], repeat=n_variables)
    return any(satisfies(assignment, clauses) for assignment in values)


def literal_values(bits):
    """Return the values of ``x_1, not x_1, x_2, ...`` of each row."""
    return np.array([[value ^ flip for value in row for flip in (0, 1)] for row in bits], int)


def best_disjunction(bits, y):
    """Return the fewest positives that are missed without a false alarm, and the least size."""
    found = []
    for size in range(bits.shape[1] + 1):
        for columns in itertools.combinations(range(bits.shape[1]), size):
            says = bits[:, list(columns)].any(axis=1)
            if not np.any(says & (y == 0)):
                found.append((int(np.sum(~says & (y == 1))), size))
    return min(found)


def majority_run(bits, codes, n_classes, experts, beta):
    """Return the answers of weighted majority over disjunctions, and all mistakes."""
    mistakes = np.zeros((n_classes - 1, len(experts)), dtype=int)
    answers = []
    for row, code in zip(bits, codes, strict=True):
        says = np.array([any(row[i] for i in expert) for expert in experts])
        answer = 0
        for k in range(n_classes - 1):
            weights = beta ** (mistakes[k] - mistakes[k].min()).astype(float)
            if weights[says].sum() >= weights[~says].sum():
                answer = k + 1
            mistakes[k] += says != (code == k + 1)
        answers.append(answer)
    return answers, mistakes


def elimination_run(bits, codes, n_classes, literals=True):
    """Return the answers of conjunctions, their literals, and how often each was denied."""
    values = literal_values(bits)
    width = range(0, values.shape[1], 1 if literals else 2)
    kept = [set(width) for _ in range(n_classes - 1)]
    answers, n_denied = [], [0] * (n_classes - 1)
    for row, code in zip(values, codes, strict=True):
        true = [all(row[i] for i in conjunction) for conjunction in kept]
        answers.append(max((k + 1 for k in range(n_classes - 1) if true[k]), default=0))
        for k in range(n_classes - 1):
            if true[k] and code != k + 1:
                n_denied[k] += 1
            if code == k + 1:
                kept[k] = {i for i in kept[k] if row[i]}
    return answers, kept, n_denied
