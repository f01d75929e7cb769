"""Small fits, where grid searches live: every class with the name of one of scikit-learn's.

Run ``python benchmarks/bench_small.py --size quick|full``.  A run of a candidate is many fits, or
many predictions of 20 rows, one after the other, as in a search: what counts is the time of a call
whose code and data are warm.  Both candidates have their default parameters, but for those that
make them do the same work.  Then searches of the classes that tune themselves, beside
``GridSearchCV`` on the same grid and folds.
"""

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import signature

import numpy as np
from _harness import (
    Bar,
    Candidate,
    Job,
    Split,
    estimator,
    geometric_mean_ratio,
    main,
    require_close,
)
from sklearn.datasets import make_classification, make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.discovery import all_estimators

from sklearn_sl._discovery import all_estimators as our_estimators
from sklearn_sl.kernel_ridge import KernelRidgeCV
from sklearn_sl.svm import SVCCV, SVRCV
from sklearn_sl.tree import DecisionTreeClassifierCV, DecisionTreeRegressorCV

OURS, SKLEARN, SEARCH = "sklearn_sl", "scikit-learn", "GridSearchCV"
N_FEATURES, N_PREDICTED, N_HELD_OUT = 10, 20, 2_000
SIZES = {"quick": (50, 300), "full": (50, 300, 2_000)}
# Fits of a run, at these sizes; predictions are 20 times as many.
CALLS = {50: 16, 300: 8, 2_000: 1}
# Where a fit takes a tenth of a second, or a prediction a hundredth; and where fits take more or
# fewer passes by chance.
SLOW = {50: 2, 300: 1, 2_000: 1}
CHANCE = {50: 16, 300: 16, 2_000: 16}
LIMIT = 1.0
# Samples that searches choose by, and what they may take over GridSearchCV.
SEARCH_SIZES, SEARCH_LIMIT = {"quick": (200,), "full": (200, 500)}, 1 / 5
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
    """A class, the problems that it is tried on, and parameters that both candidates get.

    ``calls`` are the fits of a run at each size.
    """

    problems: dict[str, Callable]
    params: dict = field(default_factory=dict)
    calls: dict[int, int] = field(default_factory=lambda: CALLS)


CONTESTS = {
    "SVC": Contest(BOTH),
    "SVR": Contest(NUMBERS),
    "KernelRidge": Contest(NUMBERS, {"kernel": "rbf"}),
    "DecisionTreeClassifier": Contest(BOTH),
    "DecisionTreeRegressor": Contest(NUMBERS),
    "RandomForestClassifier": Contest(BOTH, calls=SLOW),
    "RandomForestRegressor": Contest(NUMBERS, calls=SLOW),
    "BaggingClassifier": Contest(BOTH, calls=SLOW),
    "BaggingRegressor": Contest(NUMBERS, calls=SLOW),
    "AdaBoostClassifier": Contest(BOTH, calls=SLOW),
    "AdaBoostRegressor": Contest(NUMBERS, calls=SLOW),
    "Perceptron": Contest(BOTH, calls=CHANCE),
    "PassiveAggressiveClassifier": Contest(BOTH, calls=CHANCE),
    "PassiveAggressiveRegressor": Contest(NUMBERS, calls=CHANCE),
    "LabelPropagation": Contest(TRANSDUCTION, {"gamma": 1.0}),
    "LabelSpreading": Contest(TRANSDUCTION, {"gamma": 1.0}),
}


def numbered(cls, params):
    """Return the function that makes an estimator; each number is another random state.

    How many passes a shuffled fit takes is chance, of which a single state says little.
    """
    if "random_state" in signature(cls).parameters:
        return lambda number: cls(**params, random_state=number)
    return lambda number: cls(**params)


def many(make, calls):
    """Return the candidate that fits and predicts often: a run is about as long at every size."""

    def fit(data):
        for number in reversed(range(calls[len(data.X)])):
            model = make(number).fit(data.X, data.y)
        return model

    def predict(model, data):
        few = data.X_test[:N_PREDICTED]
        for _ in range(20 * calls[len(data.y)]):
            prediction = model.predict(few)
        return prediction

    return Candidate(fit, predict)


def scored(model, prediction, data):
    """Quality: the score on the rows held out."""
    return {"score": float(model.score(data.X_test, data.y_test))}


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


# Searches ----------------------------------------------------------------------

ALPHAS, COSTS, GAMMAS = np.logspace(-3, 2, 6), np.logspace(-1, 2, 4), (0.01, 0.1, 1.0)


def path_of(tree, data):
    """Return scikit-learn's search over the alphas at which a tree is pruned."""
    alphas = np.unique(np.maximum(tree.cost_complexity_pruning_path(data.X, data.y).ccp_alphas, 0))
    return tree, {"ccp_alpha": alphas}


def over(model, **grid):
    """Return a search of scikit-learn's whose grid does not depend on the samples."""
    return lambda data: (model, grid)


@dataclass(frozen=True)
class Search:
    """A class that tunes itself, and which search of scikit-learn's does the same.

    ``peer`` returns, for some samples, an estimator and a grid.
    """

    make_data: Callable
    ours: Callable
    params: dict
    peer: Callable
    scoring: str


MACHINE = {"kernel": "rbf", "Cs": COSTS, "kernel_grid": {"gamma": list(GAMMAS)}}
RIDGE = {"kernel": "rbf", "alphas": ALPHAS, "kernel_grid": {"gamma": list(GAMMAS)}}
SQUARES = "neg_mean_squared_error"
SEARCHES = [
    Search(six_classes, SVCCV, MACHINE, over(SVC(), C=COSTS, gamma=GAMMAS), "accuracy"),
    Search(numbers, SVRCV, MACHINE, over(SVR(), C=COSTS, gamma=GAMMAS), "r2"),
    Search(
        numbers,
        KernelRidgeCV,
        RIDGE,
        over(KernelRidge(kernel="rbf"), alpha=ALPHAS, gamma=GAMMAS),
        SQUARES,
    ),
    Search(
        six_classes,
        DecisionTreeClassifierCV,
        {},
        lambda data: path_of(DecisionTreeClassifier(random_state=0), data),
        "accuracy",
    ),
    Search(
        numbers,
        DecisionTreeRegressorCV,
        {},
        lambda data: path_of(DecisionTreeRegressor(random_state=0), data),
        SQUARES,
    ),
]


def search_job(search, sizes):
    """Return the job of a class that tunes itself."""
    folds = (StratifiedKFold if search.make_data is six_classes else KFold)(5)

    def fit(data):
        model, grid = search.peer(data)
        return GridSearchCV(model, grid, cv=folds, scoring=search.scoring).fit(data.X, data.y)

    def equally_good(outcomes, data):
        ours, theirs = (outcomes[name].quality["loss"] for name in (OURS, SEARCH))
        require_close(SEARCH, OURS, ours - theirs, SCORES, "losses")

    def loss(model, prediction, data):
        wrong = prediction != data.y_test
        if search.make_data is numbers:
            wrong = (prediction - data.y_test) ** 2 / data.y_test.var()
        return {"loss": float(np.mean(wrong))}

    return Job(
        f"search of {search.ours.__name__}",
        search.make_data,
        {
            OURS: estimator(lambda: search.ours(cv=folds, **search.params)),
            SEARCH: Candidate(fit, lambda model, data: model.predict(data.X_test)),
        },
        agree=equally_good,
        sizes=sizes,
        repeat=3,
        quality=loss,
        bars=[
            Bar(
                f"search, n = {n}",
                lambda result, n=n: result.ratio(OURS, SEARCH, "fit", n),
                SEARCH_LIMIT,
            )
            for n in sizes
        ],
    )


# The command line --------------------------------------------------------------


def make_jobs(size):
    """Return a job for each class and problem, and the searches."""
    searches = [search_job(search, SEARCH_SIZES[size]) for search in SEARCHES]
    return call_jobs(size) + searches


def call_jobs(size):
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
                OURS: many(numbered(ours[name], contest.params), contest.calls),
                SKLEARN: many(numbered(theirs[name], contest.params), contest.calls),
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
    names = [job.name for job in call_jobs(size)]
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
