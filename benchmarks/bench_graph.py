"""Learning on graphs: interpolation, resistances and eigenfunctions against their peers.

Run ``python benchmarks/bench_graph.py --size quick|full``.
"""

import sys
import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from _graph_eigenfunctions import eigenfunction_job
from _graph_propagation import propagation_jobs
from _harness import (
    Bar,
    Candidate,
    Disagreement,
    Job,
    main,
    optional_peer,
    require_close,
)
from scipy.sparse import csgraph
from scipy.sparse.linalg import cg, splu
from sklearn import semi_supervised as peer
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import kneighbors_graph

from sklearn_sl.graph import LaplacianInterpolationClassifier, effective_resistance, knn_graph

PEERS = ("graphlearning", "pyamg")
OURS, LU, CG = "sklearn_sl", "scipy splu", "scipy cg"
GRAPHLEARNING, PROPAGATION = "graphlearning", "scikit-learn LabelPropagation"
SEARCH = "scikit-learn kneighbors_graph"
N_CLASSES, N_NEIGHBORS, SHARE = 10, 10, 0.01
# Draws of the labels over which accuracies are averaged.
N_DRAWS = 5
# The relative residual of all iterative solvers.
TOL = 1e-6
# How far apart two probabilities may be, given that residual.
AGREEMENT = 1e-3
GIGABYTE = 1e9
LU_OPTIONS = {
    "permc_spec": "MMD_AT_PLUS_A",
    "diag_pivot_thresh": 0.0,
    "options": {"SymmetricMode": True},
}


class Sizes(NamedTuple):
    """How large the jobs are."""

    given: int
    growth: tuple
    repeat: int


SIZES = {
    "quick": Sizes(3_000, (5_000, 20_000), 3),
    "full": Sizes(10_000, (20_000, 200_000), 5),
}


class Labelled(NamedTuple):
    """Samples of which one in a hundred has a label, and their graph."""

    X: np.ndarray
    classes: np.ndarray
    y: np.ndarray
    W: Any


def few_labels(classes, seed=0):
    """Return the labels of some samples of each class, -1 for the others."""
    rng, y = np.random.default_rng(seed), np.full(len(classes), -1)
    for label in range(N_CLASSES):
        members = np.flatnonzero(classes == label)
        chosen = rng.choice(members, max(int(SHARE * len(members)), 1), replace=False)
        y[chosen] = label
    return y


def embedded(X, n_features=20, seed=0):
    """Return the same samples in a space of more dimensions."""
    turned = np.random.default_rng(seed).normal(size=(n_features, X.shape[1]))
    return X @ np.linalg.qr(turned)[0].T


def moons(n, n_features=20):
    """Return five pairs of moons, a plane in more dimensions: a graph that is nearly flat."""
    pairs = [make_moons(n // 5, noise=0.08, random_state=pair) for pair in range(5)]
    X = np.vstack([points + [4.0 * pair, 0.0] for pair, (points, _) in enumerate(pairs)])
    classes = np.concatenate([half + 2 * pair for pair, (_, half) in enumerate(pairs)])
    return labelled(embedded(X, n_features) if n_features > 2 else X, classes)


def blobs(n, n_dimensions=10, seed=0):
    """Return ten clusters of ten dimensions, in twenty."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(N_CLASSES, size=n)
    centers = 1.3 * rng.normal(size=(N_CLASSES, n_dimensions))
    return labelled(embedded(centers[classes] + rng.normal(size=(n, n_dimensions))), classes)


def labelled(X, classes):
    """Return samples with their graph and few labels."""
    return Labelled(X, classes, few_labels(classes), knn_graph(X, N_NEIGHBORS))


# The graph is given ------------------------------------------------------------


def harmonic_system(data):
    """Return the matrix of the unlabelled vertices, what the labels drive in, and the degrees."""
    known = data.y >= 0
    free, held = np.flatnonzero(~known), np.flatnonzero(known)
    degree, rows = np.asarray(data.W.sum(axis=1)).ravel()[free], data.W[free]
    B = rows[:, held] @ np.eye(N_CLASSES)[data.y[held]]
    return sp.csr_array(sp.diags_array(degree) - rows[:, free]), B, degree


def all_distributions(data, U):
    """Return the distributions of all vertices from those of the unlabelled ones."""
    F = np.eye(N_CLASSES)[np.maximum(data.y, 0)]
    F[data.y < 0] = U
    return F


def by_splu(data):
    """Solve by a sparse factorisation."""
    A, B, _ = harmonic_system(data)
    return all_distributions(data, splu(A.tocsc(), **LU_OPTIONS).solve(B))


def by_cg(data):
    """Solve by conjugate gradients with the diagonal, class by class."""
    A, B, degree = harmonic_system(data)
    M = sp.diags_array(1 / degree)
    return all_distributions(data, np.column_stack([cg(A, b, rtol=TOL, M=M)[0] for b in B.T]))


def by_graphlearning(module):
    """Return the candidate of graphlearning, whose graph is a matrix of the older kind."""

    def fit(data):
        known = np.flatnonzero(data.y >= 0)
        return module.ssl.laplace(sp.csr_matrix(data.W)).fit(known, data.y[known])

    return Candidate(fit=fit)


def interpolate(data):
    """Fit ours to the given graph."""
    return LaplacianInterpolationClassifier(affinity="precomputed", tol=TOL).fit(data.W, data.y)


def distributions_of(model):
    """Return the distributions of a model, or of a function."""
    return getattr(model, "label_distributions_", model)


def accuracy(model, prediction, data):
    """Return the share of right labels among the samples without a label."""
    free = data.y < 0
    found = distributions_of(model)[free].argmax(axis=1)
    quality = {"accuracy": float(np.mean(found == data.classes[free]))}
    if hasattr(model, "error_bound_"):
        quality |= {"error bound": model.error_bound_, "iterations": model.n_iter_}
    return quality


def same_distributions(outcomes, data):
    """Agreement: all probabilities."""
    ours = distributions_of(outcomes[OURS].model)
    for name, outcome in outcomes.items():
        difference = float(np.abs(distributions_of(outcome.model) - ours).max())
        require_close(name, OURS, difference, AGREEMENT, "distributions")


def given_job(name, make_data, sizes, lu):
    """Return the job on a given graph; the factor of blobs is too large to be repeated."""
    candidates = {
        OURS: Candidate(fit=interpolate),
        LU: lu,
        CG: Candidate(fit=by_cg),
        GRAPHLEARNING: optional_peer("graphlearning", by_graphlearning),
    }
    bars = [
        Bar(
            f"{name}: over the better of splu and cg",
            lambda r: max(r.ratio(OURS, LU), r.ratio(OURS, CG)),
            1.2,
        ),
        Bar(f"{name}: over graphlearning", lambda r: r.ratio(OURS, GRAPHLEARNING), 0.7),
    ]
    return Job(
        name, make_data, candidates, same_distributions, [sizes.given], sizes.repeat, accuracy, bars
    )


# From samples --------------------------------------------------------------------


def from_samples(data):
    """Fit ours to the samples, graph included."""
    return LaplacianInterpolationClassifier(n_neighbors=N_NEIGHBORS, tol=TOL).fit(data.X, data.y)


def propagate(data):
    """Fit scikit-learn's model on nearest neighbours, which does not converge as it comes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = peer.LabelPropagation(kernel="knn", n_neighbors=N_NEIGHBORS)
        return model.fit(data.X, data.y)


def as_accurate(outcomes, data):
    """Agreement: over draws of the labels ours is as accurate; the graphs differ."""
    draws = [data._replace(y=few_labels(data.classes, seed)) for seed in range(1, N_DRAWS)]
    means = {}
    for name, fit in ((OURS, from_samples), (PROPAGATION, propagate)):
        others = [accuracy(fit(draw), None, draw)["accuracy"] for draw in draws]
        means[name] = float(np.mean([outcomes[name].quality["accuracy"], *others]))
        outcomes[name].quality["mean accuracy"] = means[name]
    if means[OURS] < means[PROPAGATION] - 0.002:
        raise Disagreement(
            f"accuracy {means[OURS]:.4f}, but {means[PROPAGATION]:.4f} by {PROPAGATION}"
        )


def samples_job(name, make_data, sizes):
    """Return the job from samples to labels."""

    def quality(model, prediction, data):
        return {} if sp.issparse(model) else accuracy(model, prediction, data)

    candidates = {
        OURS: Candidate(fit=from_samples),
        SEARCH: Candidate(fit=lambda data: kneighbors_graph(data.X, N_NEIGHBORS, mode="distance")),
        PROPAGATION: Candidate(fit=propagate),
    }
    bars = [
        Bar(f"{name}: over the search of neighbours", lambda r: r.ratio(OURS, SEARCH), 1.5),
        Bar(f"{name}: over LabelPropagation", lambda r: r.ratio(OURS, PROPAGATION), 0.3),
    ]
    return Job(name, make_data, candidates, as_accurate, [sizes.given], sizes.repeat, quality, bars)


# Large graphs ----------------------------------------------------------------------


def small_residual(outcomes, data):
    """Agreement: every vertex is the mean of its neighbours."""
    F, free = outcomes[OURS].model.label_distributions_, data.y < 0
    degree = np.asarray(data.W.sum(axis=1)).ravel()
    violation = np.abs(F - data.W @ F / degree[:, None])[free].max()
    require_close(OURS, "the mean of neighbours", float(violation), 1e-5, "harmonic values")


def growth_job(name, make_data, sizes):
    """Return the job on graphs that grow."""
    bars = [
        Bar(f"{name}: exponent of the solve", lambda r: r.growth(OURS), 1.3),
        Bar(f"{name}: memory in GB", lambda r: r.peak(OURS) / GIGABYTE, 1.5),
    ]
    return Job(
        name,
        make_data,
        {OURS: Candidate(fit=interpolate), CG: Candidate(fit=by_cg, max_size=sizes.growth[0])},
        small_residual,
        sizes.growth,
        3,
        accuracy,
        bars,
    )


def space(n):
    """Return clusters of three dimensions, whose graph has no narrow band."""
    rng = np.random.default_rng(0)
    classes = rng.integers(N_CLASSES, size=n)
    centers = 3.0 * rng.normal(size=(N_CLASSES, 3))
    return labelled(centers[classes] + rng.normal(size=(n, 3)), classes)


# Resistances ------------------------------------------------------------------------


def grounded_factor(data):
    """Factorise the Laplacian without one vertex of each component: the work that is the unit."""
    W = data.W
    component = csgraph.connected_components(W, directed=False)[1]
    free = np.setdiff1d(np.arange(W.shape[0]), np.unique(component, return_index=True)[1])
    L = sp.csc_array(sp.diags_array(np.asarray(W.sum(axis=1)).ravel()) - W)
    return free, splu(L[free][:, free], **LU_OPTIONS)


def true_resistances(outcomes, data):
    """Agreement: the law of Foster, and a few edges by solves with the factor."""
    upper = sp.triu(data.W, k=1, format="coo")
    n = data.W.shape[0]
    r = np.asarray(outcomes[OURS].model[upper.row, upper.col]).ravel()
    n_components = csgraph.connected_components(data.W, directed=False)[0]
    total = float(upper.data @ r)
    require_close(OURS, "n - components", abs(total / (n - n_components) - 1), 1e-9, "sums of w r")
    free, factor = outcomes["one " + LU].model
    for edge in range(0, upper.nnz, max(upper.nnz // 20, 1)):
        b = np.zeros(n)
        b[[upper.row[edge], upper.col[edge]]] = 1.0, -1.0
        expected = b[free] @ factor.solve(b[free])
        require_close(OURS, LU, abs(r[edge] / expected - 1), 1e-7, "resistances")


def resistance_job(name, make_data, sizes, once=False):
    """Return the job: the resistances of all edges."""
    unit = "one " + LU
    return Job(
        name,
        make_data,
        {
            OURS: Candidate(
                fit=lambda data: effective_resistance(data.W, "edges", method="exact"), once=once
            ),
            unit: Candidate(fit=grounded_factor, once=once),
        },
        true_resistances,
        [sizes.given],
        sizes.repeat,
        None,
        [Bar(f"{name}: over one factorisation", lambda r: r.ratio(OURS, unit), 10)],
    )


# The command line --------------------------------------------------------------------


def make_jobs(size):
    """Return the jobs of ``--size``."""
    sizes = SIZES[size]
    return [
        given_job("given-moons", moons, sizes, Candidate(fit=by_splu)),
        given_job("given-blobs", blobs, sizes, Candidate(fit=by_splu, once=True)),
        samples_job("samples-moons", moons, sizes),
        samples_job("samples-blobs", blobs, sizes),
        growth_job("growth-moons", lambda n: moons(n, 2), sizes),
        growth_job("growth-space", space, sizes),
        resistance_job("resistance-moons", moons, sizes),
        resistance_job("resistance-blobs", blobs, sizes, once=True),
        eigenfunction_job(size),
        *propagation_jobs(size),
    ]


if __name__ == "__main__":
    sys.exit(main("graph", make_jobs, peers=PEERS))
