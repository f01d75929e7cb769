"""Eigenfunctions of a Gaussian graph of a million samples: part of bench_graph.py.

The peer is the same method in plain NumPy, on whole arrays: all rotated samples and the values of
all eigenfunctions at once.  Both must give the same probabilities.
"""

from typing import NamedTuple

import numpy as np
from _harness import Bar, Candidate, Job, require_close
from scipy import linalg

from sklearn_sl.graph import EigenfunctionClassifier

OURS, WHOLE = "sklearn_sl", "NumPy, whole arrays"
EIGEN_SIZES = {"quick": (20_000, 100_000), "full": (100_000, 1_000_000)}
# Time is linear in the number of samples; memory is that of the answers and some blocks.
GROWTH_LIMIT, WHOLE_LIMIT, WHOLE_MEMORY_LIMIT = 1.1, 0.5, 0.3
EIGEN_AGREEMENT = 1e-8
N_FUNCTIONS, N_BINS, ALPHA, SMOOTHING = 64, 50, 30.0, 0.01


class FewLabels(NamedTuple):
    """Samples, their classes, and the labels that are told."""

    X: np.ndarray
    classes: np.ndarray
    y: np.ndarray


def clusters_with_few_labels(n, n_features=20, n_classes=10, n_labels=1000, seed=0):
    """Return overlapping clusters with labels for some samples."""
    rng = np.random.default_rng(seed)
    centers = 2 * rng.normal(size=(n_classes, n_features))
    classes = rng.integers(n_classes, size=n)
    X = rng.normal(size=(n, n_features)) + centers[classes]
    return FewLabels(X, classes, np.where(np.arange(n) < n_labels, classes, -1))


def axis_functions(mass, width, gamma):
    """Return the eigenvalues and the eigenfunctions of one coordinate."""
    at = width * np.arange(len(mass))
    gamma = min(gamma, 2 / width**2)
    joint = mass[:, None] * np.exp(-gamma * np.subtract.outer(at, at) ** 2) * mass
    D = joint.sum(axis=0)
    sigma, G = linalg.eigh(np.diag(D) - joint, np.diag(D))
    kept = np.flatnonzero(sigma < 0.999)[1:]
    return sigma[kept], G[:, kept].T * np.sqrt(D.sum())


def whole_arrays(data):
    """Return the probabilities by the same method in plain NumPy."""
    X, labelled = data.X, data.y >= 0
    variance, axes = linalg.eigh(np.cov(X.T, bias=True))
    S = (X - X.mean(axis=0)) @ axes
    gamma = 8 * variance.sum() / (variance @ variance)
    reach = 4 * np.sqrt(variance)
    low, high = np.maximum(S.min(axis=0), -reach), np.minimum(S.max(axis=0), reach)
    found = []
    for j in range(S.shape[1]):
        centers = np.linspace(low[j], high[j], N_BINS)
        width = centers[1] - centers[0]
        place = np.clip((S[:, j] - low[j]) / width, 0, N_BINS - 1)
        left = np.minimum(place.astype(int), N_BINS - 2)
        mass = np.bincount(left, 1 - (place - left), N_BINS)
        mass += np.bincount(left + 1, place - left, N_BINS)
        mass = (1 - SMOOTHING) * mass / len(X) + SMOOTHING / N_BINS
        sigma, G = axis_functions(mass, width, gamma)
        found += [(s, j, centers, g) for s, g in zip(sigma, G, strict=True)]
    found = sorted(found, key=lambda function: function[0])[:N_FUNCTIONS]
    values = [np.interp(S[:, j], centers, g) for _, j, centers, g in found]
    U = np.column_stack([np.ones(len(X)), *values])
    penalty = np.diag([0.0, *(ALPHA * s for s, *_ in found)])
    Y = np.eye(data.y.max() + 1)[data.y[labelled]]
    coef = linalg.solve(U[labelled].T @ U[labelled] + penalty, U[labelled].T @ Y, assume_a="pos")
    F = np.maximum(U @ coef, 0)
    return F / F.sum(axis=1, keepdims=True)


def eigen_probabilities(model):
    """Return the probabilities at the training samples."""
    return model if isinstance(model, np.ndarray) else model.label_distributions_


def eigen_quality(model, prediction, data):
    """Return the share of right labels."""
    right = eigen_probabilities(model).argmax(axis=1) == data.classes
    return {"accuracy": float(right.mean())}


def same_probabilities(outcomes, data):
    """Agreement: the same probabilities at all samples."""
    ours, theirs = (eigen_probabilities(outcomes[name].model) for name in (OURS, WHOLE))
    difference = float(np.abs(ours - theirs).max())
    require_close(WHOLE, OURS, difference, EIGEN_AGREEMENT, "probabilities")


def eigenfunction_job(size, repeat=3):
    """Return the job: fit to a thousand labels, and the probabilities of all samples."""

    def ours(data):
        model = EigenfunctionClassifier(
            N_FUNCTIONS, n_bins=N_BINS, alpha=ALPHA, smoothing=SMOOTHING
        )
        return model.fit(data.X, data.y)

    return Job(
        "eigenfunctions",
        clusters_with_few_labels,
        {OURS: Candidate(fit=ours), WHOLE: Candidate(fit=whole_arrays)},
        same_probabilities,
        EIGEN_SIZES[size],
        repeat,
        eigen_quality,
        [
            Bar("eigenfunctions: exponent of fit", lambda r: r.growth(OURS), GROWTH_LIMIT),
            Bar("eigenfunctions: over whole arrays", lambda r: r.ratio(OURS, WHOLE), WHOLE_LIMIT),
            Bar(
                "eigenfunctions: memory over whole arrays",
                lambda r: r.peak_ratio(OURS, WHOLE),
                WHOLE_MEMORY_LIMIT,
            ),
        ],
    )
