"""Label propagation and spreading against scikit-learn: part of bench_graph.py.

scikit-learn takes part twice: as it comes, where it stops long before the limit (the table shows
how far it is from it), and with the tolerance at which its answer is as good as ours.
"""

import warnings
from typing import NamedTuple

import numpy as np
from _harness import Bar, Candidate, Job, require_close
from sklearn import semi_supervised as peer
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from sklearn_sl.graph import LabelPropagation, LabelSpreading

OURS, CONVERGED, AS_IT_COMES = "sklearn_sl", "scikit-learn converged", "scikit-learn as it comes"
# The largest time of propagation over those of the peers. Spreading is a few steps for both, and
# over neighbours mostly the search of these, which is scikit-learn's: nothing is promised.
LIMIT = 0.5
# How far apart two probabilities of the same class may be.
AGREEMENT = 1e-3
PROPAGATION_SIZES = {"quick": {"knn": 4_000, "rbf": 1_000}, "full": {"knn": 10_000, "rbf": 2_000}}


class Labels(NamedTuple):
    """Samples, their classes, and the labels that are told."""

    X: np.ndarray
    classes: np.ndarray
    y: np.ndarray
    X_test: np.ndarray


def blobs_with_few_labels(n, n_features=5, share=0.02, seed=0):
    """Return overlapping clusters of which a few samples are labelled."""
    X, classes = make_blobs(n + 1000, n_features, centers=4, cluster_std=2.0, random_state=seed)
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < share, classes[:n], -1)
    return Labels(X[:n], classes[:n], y, X[n:])


def propagate(make, **options):
    """Return the candidate that fits ``make()`` and predicts, without warnings."""

    def fit(data):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", message=".*tied to no label")
            return make().fit(data.X, data.y)

    return Candidate(
        fit=fit, predict=lambda model, data: model.predict_proba(data.X_test), **options
    )


def propagation_quality(model, prediction, data):
    """Return the share of right labels, and the number of steps."""
    right = np.mean(model.transduction_ == data.classes)
    return {"accuracy": float(right), "steps": float(model.n_iter_)}


def same_distributions(outcomes, data):
    """Agreement: the distributions are those of scikit-learn's limit, where it has one."""
    ours, theirs = (outcomes[name].model.label_distributions_ for name in (OURS, CONVERGED))
    tied = ~outcomes[OURS].model.component_without_label_
    require_close(
        CONVERGED, OURS, np.abs(ours - theirs)[tied].max(), AGREEMENT, "label distributions"
    )
    early = outcomes[AS_IT_COMES].quality
    early["distance to the limit"] = float(
        np.abs(outcomes[AS_IT_COMES].model.label_distributions_ - ours)[tied].max()
    )


def propagation_job(name, Ours, Theirs, n, repeat, **params):
    """Return the job: fit to few labels, predict 1000 samples."""
    candidates = {
        OURS: propagate(lambda: Ours(**params)),
        AS_IT_COMES: propagate(lambda: Theirs(**params)),
        CONVERGED: propagate(lambda: Theirs(**params, max_iter=10**6, tol=1e-5), once=True),
    }
    bars = [
        Bar(f"{name}: over {other}", lambda r, other=other: r.ratio(OURS, other), LIMIT)
        for other in (CONVERGED, AS_IT_COMES)
        if name.startswith("propagation")
    ]
    return Job(
        name,
        blobs_with_few_labels,
        candidates,
        same_distributions,
        [n],
        repeat,
        propagation_quality,
        bars,
    )


def propagation_jobs(size):
    """Return the jobs of label propagation and spreading."""
    n, repeat = PROPAGATION_SIZES[size], 3
    propagation, spreading = (
        (LabelPropagation, peer.LabelPropagation),
        (LabelSpreading, peer.LabelSpreading),
    )
    return [
        propagation_job("propagation-knn", *propagation, n["knn"], repeat, kernel="knn"),
        propagation_job("propagation-rbf", *propagation, n["rbf"], repeat, gamma=0.2),
        propagation_job("spreading-knn", *spreading, n["knn"], repeat, kernel="knn", alpha=0.8),
        propagation_job("spreading-rbf", *spreading, n["rbf"], repeat, gamma=0.2, alpha=0.8),
    ]
