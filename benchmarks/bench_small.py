"""Small fits, where grid searches live: every class with the name of one of scikit-learn's.

Run ``python benchmarks/bench_small.py --size quick|full``.  A run of a candidate is many fits, or
many predictions of 20 rows, one after the other, as in a search: what counts is the time of a call
whose code and data are warm.  Both candidates have their default parameters, but for those that
make them do the same work.
"""

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from _harness import (
    Bar,
    Candidate,
    Job,
    Split,
    geometric_mean_ratio,
    main,
    require_close,
)
from sklearn.datasets import make_classification, make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.discovery import all_estimators

from sklearn_sl._discovery import all_estimators as our_estimators

OURS, SKLEARN = "sklearn_sl", "scikit-learn"
N_FEATURES, N_PREDICTED, N_HELD_OUT = 10, 20, 2_000
SIZES = {"quick": (50, 300), "full": (50, 300, 2_000)}
# Fits of a run, at these sizes; predictions are 20 times as many.
CALLS = {50: 16, 300: 8, 2_000: 1}
LIMIT = 1.0
# What scores of classifiers (shares) and of regressors (R2) may differ by: half of it is chance.
SCORES = 0.12


def two_classes(n):
    """Return two classes, of which a twentieth is wrong."""
    return classes(n, 2)


def six_classes(n):
    """Return six classes, of which a twentieth is wrong."""
    return classes(n, 6)


def classes(n, n_classes):
    """Return a problem of classification, with rows held out."""
    X, y = make_classification(
        n + N_HELD_OUT,
        N_FEATURES,
        n_informative=6,
        n_classes=n_classes,
        class_sep=1.5,
        flip_y=0.05,
        random_state=0,
    )
    return Split(X[:n], y[:n], X[n:], y[n:])


def half_labelled(make):
    """Return the maker of the same problem, where every second label is unknown."""

    def make_data(n):
        data = make(n)
        return data._replace(y=np.where(np.arange(n) % 2, -1, data.y))

    return make_data


def numbers(n):
    """Return a problem of regression, with rows held out."""
    X, y = make_friedman1(n + N_HELD_OUT, N_FEATURES, noise=1.0, random_state=0)
    return Split(X[:n], y[:n], X[n:], y[n:])


BOTH = {"2 classes": two_classes, "6 classes": six_classes}
TRANSDUCTION = {name: half_labelled(make) for name, make in BOTH.items()}
NUMBERS = {"numbers": numbers}


@dataclass(frozen=True)
class Contest:
    """A class, the problems that it is tried on, and parameters that both candidates get."""

    problems: dict[str, Callable]
    params: dict = field(default_factory=dict)


CONTESTS = {
    "SVC": Contest(BOTH),
    "SVR": Contest(NUMBERS),
    "KernelRidge": Contest(NUMBERS, {"kernel": "rbf"}),
    "DecisionTreeClassifier": Contest(BOTH),
    "DecisionTreeRegressor": Contest(NUMBERS),
    "RandomForestClassifier": Contest(BOTH),
    "RandomForestRegressor": Contest(NUMBERS),
    "BaggingClassifier": Contest(BOTH),
    "BaggingRegressor": Contest(NUMBERS),
    "AdaBoostClassifier": Contest(BOTH),
    "AdaBoostRegressor": Contest(NUMBERS),
    "Perceptron": Contest(BOTH),
    "PassiveAggressiveClassifier": Contest(BOTH),
    "PassiveAggressiveRegressor": Contest(NUMBERS),
    "LabelPropagation": Contest(TRANSDUCTION, {"gamma": 1.0, "max_iter": 10_000}),
    "LabelSpreading": Contest(TRANSDUCTION, {"gamma": 1.0}),
}


def many(make):
    """Return the candidate that fits and predicts often: a run is about as long at every size."""

    def fit(data):
        for _ in range(CALLS[len(data.X)]):
            model = make().fit(data.X, data.y)
        return model, CALLS[len(data.X)]

    def predict(fitted, data):
        model, calls = fitted
        few = data.X_test[:N_PREDICTED]
        for _ in range(20 * calls):
            prediction = model.predict(few)
        return prediction

    return Candidate(fit, predict)


def scored(fitted, prediction, data):
    """Quality: the score on the rows held out."""
    return {"score": float(fitted[0].score(data.X_test, data.y_test))}


def same_score(outcomes, data):
    """Agreement: both do the same job about equally well, up to chance in small samples."""
    ours, theirs = (outcomes[name].quality["score"] for name in (OURS, SKLEARN))
    # Online learners of few rows have scores that say nothing: R2 far below zero.
    require_close(SKLEARN, OURS, theirs - max(ours, 0), SCORES, "scores")


def bars(sizes):
    """Return the bars of a job: neither fits nor predictions are slower than scikit-learn's."""
    return [
        Bar(
            f"{phase}, n = {n}",
            lambda result, phase=phase, n=n: result.ratio(OURS, SKLEARN, phase, n),
            LIMIT,
        )
        for n in sizes
        for phase in ("fit", "predict")
    ]


def make_jobs(size):
    """Return a job for each class and problem."""
    ours = {cls.__name__: cls for cls in our_estimators()}
    theirs = dict(all_estimators())
    missing = sorted(set(ours) & set(theirs) - set(CONTESTS))
    if missing:
        raise LookupError(f"no contest for {', '.join(missing)}")
    return [
        Job(
            f"{name}, {problem}",
            make_data,
            {
                OURS: many(lambda cls=ours[name], params=contest.params: cls(**params)),
                SKLEARN: many(lambda cls=theirs[name], params=contest.params: cls(**params)),
            },
            agree=same_score,
            sizes=SIZES[size],
            repeat=7 if size == "full" else 3,
            quality=scored,
            bars=bars(SIZES[size]),
        )
        for name, contest in CONTESTS.items()
        for problem, make_data in contest.problems.items()
    ]


def summary(size):
    """Return the bars over all jobs: the geometric means of fits and of predictions."""
    names = [job.name for job in make_jobs(size)]
    return [
        Bar(
            f"all classes: {phase}, geometric mean",
            lambda entries, phase=phase: geometric_mean_ratio(entries, names, SKLEARN, phase),
            LIMIT,
        )
        for phase in ("fit", "predict")
    ]


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    sys.exit(main("small", make_jobs, make_overall=summary))
