"""Decision trees against scikit-learn: growing, predicting, choosing how far to prune.

Run ``python benchmarks/bench_tree.py --size quick|full``.  scikit-learn breaks ties between
features at random, and at the bottom of a full-depth tree nearly every node is tied.  So two
trees agree if, walked together from the root, they differ for the first time only at splits
that gain the same; and one thread must give exactly the tree of two.
"""

import sys
from functools import partial
from typing import NamedTuple

import numpy as np
from _harness import (
    Bar,
    Candidate,
    Disagreement,
    Job,
    NotMeasured,
    Split,
    all_of,
    estimator,
    growth_exponent,
    main,
    require_close,
    same_quality,
)
from sklearn import tree as peer
from sklearn.datasets import make_classification, make_friedman1
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV

from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeClassifierCV, DecisionTreeRegressor

OURS, ALONE, SKLEARN = "sklearn_sl", "sklearn_sl, 1 thread", "scikit-learn"
SEARCH = "GridSearchCV n_jobs=1"
N_FEATURES, FLOAT64 = 20, 8
LEAF = -1
# The tree of this many rows predicts a million.
PREDICTING, MANY_ROWS, SOME_ROWS = 100_000, 1_000_000, 20_000
# Of more rows, where it takes half a minute, scikit-learn grows one tree only.
SLOW = 100_000
# The largest times over scikit-learn's, with two threads and with one.
FIT_LIMITS = {
    "classification": {10_000: (0.15, 0.20), 100_000: (0.10, 0.15), 500_000: (0.12, 0.18)},
    "regression": {10_000: (0.20, 0.30), 100_000: (0.15, 0.20), 500_000: (0.15, 0.20)},
}
PREDICT_LIMITS = (0.60, 1.0)
GROWTH_LIMIT = 1.15
# Rounding, over the impurity of the root.
ROUNDING = 1e-9
TOP, TIED_AT_TOP = 5, 0.1
RANDOM_STATES = 6


class Sizes(NamedTuple):
    """What ``--size`` decides."""

    repeat: int
    fit: tuple = (10_000, 100_000)
    weighted: int = 100_000
    other: int = 20_000
    search: int = 2_000


SIZES = {"quick": Sizes(3), "full": Sizes(5, fit=(10_000, 100_000, 500_000))}


# Data ------------------------------------------------------------------------


class WeightedSplit(NamedTuple):
    """Training and test data, with weights of the training rows."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    weight: np.ndarray


class SearchData(NamedTuple):
    """Training and test data, and the alphas of scikit-learn's pruning path."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    alphas: np.ndarray


def rounded(X):
    """Return values on a grid, the same in float32, to which scikit-learn rounds.

    It also takes values closer than 1e-7 for equal, and does not split between them.
    """
    return (np.rint(X * 2**20) / 2**20).astype(np.float32).astype(np.float64)


def first_rows(X, y, n):
    """Return n training rows, the rest held out."""
    X = rounded(X)
    return Split(X[:n], y[:n], X[n:], y[n:])


def held_out_rows(n):
    """Return how many rows are predicted beside a fit of n rows."""
    return MANY_ROWS if n == PREDICTING else SOME_ROWS


def clusters(n, n_test=None, n_classes=2):
    """Return classes of three clusters each, 5 % of the labels random."""
    X, y = make_classification(
        n + (n_test or held_out_rows(n)),
        N_FEATURES,
        n_informative=10,
        n_redundant=5,
        n_classes=n_classes,
        n_clusters_per_class=3,
        flip_y=0.05,
        random_state=0,
    )
    return first_rows(X, y, n)


def friedman(n):
    """Return noisy Friedman data, 15 of the features noise, all of them in [0, 10]."""
    X, y = make_friedman1(n + held_out_rows(n), N_FEATURES, noise=1.0, random_state=0)
    return first_rows(10 * X, y, n)


def random_weights(n):
    """Return weights that let no two splits tie that part the rows differently."""
    return np.random.default_rng(0).uniform(0.5, 1.5, n)


def weighted_clusters(n):
    """Return two classes and random weights."""
    return WeightedSplit(*clusters(n, SOME_ROWS), random_weights(n))


def search_data(n):
    """Return two classes, and what the grid of the search is made of."""
    data = clusters(n)
    return SearchData(*data, peer_alphas(data.X, data.y))


# Agreement of trees ------------------------------------------------------------


def gains(tree, nodes):
    """Return by how much the splits of nodes reduce the weighted impurity; zero for leaves."""
    loss = tree.weighted_n_node_samples * tree.impurity
    left, right = tree.children_left[nodes], tree.children_right[nodes]
    return np.where(left == LEAF, 0.0, loss[nodes] - loss[left] - loss[right])


def same_splits(one, other, ours, theirs):
    """Return at which pairs of nodes the same is done; a leaf has the feature -2."""
    close = np.isclose(one.threshold[ours], other.threshold[theirs], rtol=1e-12, atol=0)
    return close & (one.feature[ours] == other.feature[theirs])


def levels(one, other):
    """Yield, level by level, the nodes that the same splits lead to in two trees.

    With them goes whether they are split in the same way; below the others nobody looks.
    """
    ours = theirs = np.zeros(1, dtype=np.intp)
    while len(ours):
        same = same_splits(one, other, ours, theirs)
        yield ours, theirs, same
        split = same & (one.children_left[ours] != LEAF)
        ours, theirs = (
            np.concatenate([tree.children_left[nodes[split]], tree.children_right[nodes[split]]])
            for tree, nodes in ((one, ours), (other, theirs))
        )


def require_same_tree(one, other):
    """Raise :class:`Disagreement` unless two trees are the same up to splits that tie.

    Few rows may meet a tie near the root.
    """
    tied, root = 0, one.impurity[0]
    for depth, (ours, theirs, same) in enumerate(levels(one, other)):
        impurity = np.max(np.abs(one.impurity[ours] - other.impurity[theirs])) / root
        require_close(SKLEARN, OURS, impurity, ROUNDING, f"impurities at depth {depth}")
        loss = gains(one, ours) - gains(other, theirs)
        gain = np.max(np.abs(loss) / one.weighted_n_node_samples[ours]) / root
        require_close(SKLEARN, OURS, gain, ROUNDING, f"gains at depth {depth}")
        if depth <= TOP:  # a pure node has nothing to tie, but see `shape`
            tied += one.n_node_samples[ours[~same & (one.impurity[ours] > 0)]].sum()
    share = tied / one.n_node_samples[0]
    require_close(SKLEARN, OURS, share, TIED_AT_TOP, f"splits of depth <= {TOP}, in rows,")


def same_tree(outcomes, data):
    """Agreement: scikit-learn's tree is ours, up to ties."""
    require_same_tree(outcomes[OURS].model.tree_, outcomes[SKLEARN].model.tree_)


def same_number_of_leaves(rtol):
    """Agreement: the trees have equally many leaves, to ``rtol``."""

    def agree(outcomes, data):
        leaves = outcomes[OURS].quality["leaves"]
        same_quality("leaves", rtol * leaves)(outcomes, data)

    return agree


def require_equal(arrays, others, names):
    """Raise :class:`Disagreement` unless the attributes ``names`` are equal, to the bit."""
    for name in names:
        if not np.array_equal(getattr(arrays, name), getattr(others, name)):
            raise Disagreement(f"{name} of {ALONE!r} is not that of {OURS!r}")


def same_for_one_thread(outcomes, data):
    """Agreement: the number of threads changes nothing."""
    names = ("children_left", "children_right", "feature", "threshold", "impurity", "value")
    require_equal(outcomes[OURS].model.tree_, outcomes[ALONE].model.tree_, names)


def no_training_error(outcomes, data):
    """Agreement: a full-depth tree knows its training rows."""
    for name, outcome in outcomes.items():
        error = np.mean(outcome.model.predict(data.X) != data.y)
        require_close(name, "the training labels", error, 0.0)


def same_training_predictions(outcomes, data):
    """Agreement: 99.9 % of the training predictions are scikit-learn's, to rounding."""
    ours, theirs = (outcomes[name].model.predict(data.X) for name in (OURS, SKLEARN))
    different = np.mean(~np.isclose(ours, theirs, rtol=1e-9, atol=0))
    require_close(SKLEARN, OURS, different, 1e-3, "shares of training predictions")


# Quality -----------------------------------------------------------------------


def shape(tree):
    """Return leaves and depth.

    With weights, rounding lets scikit-learn split pure nodes: these splits do not count.
    """
    split = (tree.children_left != LEAF) & (tree.impurity > ROUNDING * tree.impurity[0])
    return {"leaves": 1 + int(np.count_nonzero(split)), "depth": int(tree.max_depth)}


def classified(model, prediction, data):
    """Quality: accuracy on the test data, and the shape of the tree."""
    return {"accuracy": float(accuracy_score(data.y_test, prediction))} | shape(model.tree_)


def regressed(model, prediction, data):
    """Quality: R2 on the test data, and the shape of the tree."""
    return {"r2": float(r2_score(data.y_test, prediction))} | shape(model.tree_)


# Fit and predict -----------------------------------------------------------------


def trees(ours, theirs, as_candidate=estimator, once=False, **options):
    """Return ours with two threads and with one, and scikit-learn's, with the same options."""
    return {
        OURS: as_candidate(partial(ours, n_jobs=2, **options)),
        ALONE: as_candidate(partial(ours, n_jobs=1, **options)),
        SKLEARN: as_candidate(partial(theirs, random_state=0, **options), once=once),
    }


def weighted_estimator(make, **options):
    """Return the candidate that fits the estimator ``make()`` with weights."""
    return Candidate(
        fit=lambda data: make().fit(data.X, data.y, sample_weight=data.weight),
        predict=lambda model, data: model.predict(data.X_test),
        **options,
    )


same_full_tree = all_of(
    same_for_one_thread,
    same_tree,
    no_training_error,
    same_number_of_leaves(0.01),
    same_quality("depth", 5),
    same_quality("accuracy", 0.02),
)
same_regression_tree = all_of(
    same_for_one_thread,
    same_tree,
    same_training_predictions,
    same_number_of_leaves(0.001),
    same_quality("depth", 5),
    same_quality("r2", 0.01),
)


def time_bars(name, phase, limits):
    """Return the bars on the time of a phase over scikit-learn's, two threads and one."""
    return [
        Bar(f"{name}: {phase} of {mine}", lambda r, mine=mine: r.ratio(mine, SKLEARN, phase), limit)
        for mine, limit in zip((OURS, ALONE), limits)
    ]


def memory_bars(name):
    """No more memory than three times the samples."""

    def measure(result, mine):
        row = result.row(mine)
        return result.peak(mine) / (row.n * N_FEATURES * FLOAT64)

    return [
        Bar(f"{name}: peak memory of {mine} / X", partial(measure, mine=mine), 3.0)
        for mine in (OURS, ALONE)
    ]


def fit_job(kind, make_data, candidates, agree, quality, n, repeat):
    """Return the job that grows trees of n rows."""
    name = job_name(kind, n)
    bars = time_bars(name, "fit", FIT_LIMITS[kind][n])
    if n == PREDICTING:
        bars += time_bars(name, "predict", PREDICT_LIMITS)
    if n > SLOW:
        bars += memory_bars(name)
    repeat = min(repeat, 3) if n > SLOW else repeat
    return Job(name, make_data, candidates, agree, [n], repeat, quality, bars)


def job_name(kind, n):
    """Return the name of the fit job of one size."""
    return f"{kind}-n{n}"


def classification_job(sizes, n):
    """Full depth, two classes."""
    candidates = trees(DecisionTreeClassifier, peer.DecisionTreeClassifier, once=n > SLOW)
    return fit_job(
        "classification", clusters, candidates, same_full_tree, classified, n, sizes.repeat
    )


def regression_job(sizes, n):
    """Leaves of five rows at least, where ties are rare."""
    candidates = trees(
        DecisionTreeRegressor, peer.DecisionTreeRegressor, once=n > SLOW, min_samples_leaf=5
    )
    return fit_job(
        "regression", friedman, candidates, same_regression_tree, regressed, n, sizes.repeat
    )


def informative_job(name, make_data, n, sizes, as_candidate=estimator, **options):
    """Return another full-depth classification, without bars."""
    candidates = trees(DecisionTreeClassifier, peer.DecisionTreeClassifier, as_candidate, **options)
    return Job(name, make_data, candidates, same_full_tree, [n], sizes.repeat, classified)


def informative_jobs(sizes):
    """Random weights, ten classes, and another criterion."""
    ten_classes = partial(clusters, n_classes=10)
    return [
        informative_job(
            "weights", weighted_clusters, sizes.weighted, sizes, as_candidate=weighted_estimator
        ),
        informative_job("many-classes", ten_classes, sizes.other, sizes),
        informative_job("entropy", clusters, sizes.other, sizes, criterion="entropy"),
    ]


# The choice of a pruned tree -------------------------------------------------------


def peer_alphas(X, y, sample_weight=None, random_state=0):
    """Return the alphas of scikit-learn's pruning path, each of them once."""
    tree = peer.DecisionTreeClassifier(random_state=random_state)
    return distinct(tree.cost_complexity_pruning_path(X, y, sample_weight).ccp_alphas)


def distinct(alphas):
    """Return the alphas in order, those that differ by rounding once."""
    alphas = np.sort(np.where(alphas < 1e-12, 0.0, alphas))
    return alphas[np.append(True, alphas[1:] > alphas[:-1] * (1 + ROUNDING))]


def grid_search(data):
    """Return scikit-learn's search over the alphas of the path."""
    tree = peer.DecisionTreeClassifier(random_state=0)
    return GridSearchCV(tree, {"ccp_alpha": data.alphas}, cv=5, n_jobs=1).fit(data.X, data.y)


def same_weighted_path(outcomes, data):
    """Agreement: with random weights, where chance decides nothing, the paths are the same."""
    weight = random_weights(len(data.X))
    ours = DecisionTreeClassifier().fit(data.X, data.y, sample_weight=weight).ccp_path_.alphas
    theirs = peer_alphas(data.X, data.y, weight)
    if len(ours) != len(theirs):
        raise Disagreement(f"a path of {len(ours)} alphas against {len(theirs)} of {SKLEARN!r}")
    difference = np.max(np.abs(ours - theirs)) / theirs[-1]
    require_close(SKLEARN, OURS, difference, ROUNDING, "alphas of the weighted path")


def share_missed(alphas, others):
    """Return the share of the alphas that are not among the others."""
    found = np.isclose(alphas[:, None], others, rtol=ROUNDING, atol=1e-12).any(axis=1)
    return float(np.mean(~found))


def mostly_same_path(outcomes, data):
    """Agreement: without weights, our path is nearly that of one of several random states.

    These break ties differently: among themselves they miss a tenth of the alphas.
    """
    alphas = outcomes[OURS].model.ccp_path_.alphas
    states = [peer_alphas(data.X, data.y, random_state=state) for state in range(RANDOM_STATES)]
    missed = min(share_missed(alphas, others) for others in states)
    require_close(SKLEARN, OURS, missed, 0.05, "shares of alphas of the path")


def same_search_for_one_thread(outcomes, data):
    """Agreement: the number of threads changes nothing."""
    require_equal(outcomes[OURS].model, outcomes[ALONE].model, ("alpha_", "cp_table_"))


def chosen(model, prediction, data):
    """Quality: number and choice of alphas, its accuracy by folds and on the test data.

    The score of ours is the share of mistakes, negative.
    """
    ours = isinstance(model, DecisionTreeClassifierCV)
    return {
        "alphas": len(model.ccp_path_.alphas if ours else data.alphas),
        "alpha": float(model.alpha_ if ours else model.best_params_["ccp_alpha"]),
        "cv_accuracy": float(1.0 + model.best_score_ if ours else model.best_score_),
        "accuracy": float(accuracy_score(data.y_test, prediction)),
    }


def search_job(sizes):
    """All subtrees by 5 folds: six trees in all, against six for each alpha."""
    return Job(
        "pruning-search",
        search_data,
        {
            OURS: estimator(partial(DecisionTreeClassifierCV, cv=5, n_jobs=2)),
            ALONE: estimator(partial(DecisionTreeClassifierCV, cv=5, n_jobs=1)),
            SEARCH: Candidate(
                grid_search, lambda model, data: model.predict(data.X_test), once=True
            ),
        },
        all_of(
            same_search_for_one_thread,
            same_weighted_path,
            mostly_same_path,
            same_quality("cv_accuracy", 0.01),
        ),
        [sizes.search],
        sizes.repeat,
        chosen,
        [Bar(f"pruning-search: time / {SEARCH}", lambda r: r.ratio(OURS, SEARCH), 1 / 200)],
    )


# The command line ------------------------------------------------------------


def make_jobs(size):
    """Return the jobs of ``--size``."""
    sizes = SIZES[size]
    return [
        *(classification_job(sizes, n) for n in sizes.fit),
        *(regression_job(sizes, n) for n in sizes.fit),
        *informative_jobs(sizes),
        search_job(sizes),
    ]


def growth(entries, kind, sizes, candidate):
    """Return the growth exponent of a candidate's fit over the jobs of one kind."""
    jobs = [entries[name] for n in sizes if (name := job_name(kind, n)) in entries]
    rows = [row for job in jobs for row in job["rows"] if row["candidate"] == candidate]
    if len(rows) < len(sizes):
        raise NotMeasured(f"{kind} at all sizes")
    return growth_exponent([row["n"] for row in rows], [row["fit"]["median_s"] for row in rows])


def growth_bars(kind, sizes):
    """Return the bars on the growth of the fit with n."""
    exponent = partial(growth, kind=kind, sizes=sizes)
    name = f"{kind}: growth exponent of fit, n = {sizes[0]} to {sizes[-1]}, {{}}"
    bars = [
        Bar(name.format(mine), partial(exponent, candidate=mine), GROWTH_LIMIT)
        for mine in (OURS, ALONE)
    ]

    def more_than_peer(entries):
        return exponent(entries, candidate=ALONE) - exponent(entries, candidate=SKLEARN)

    return [*bars, Bar(name.format(f"{ALONE}, less scikit-learn's"), more_than_peer, 0.0)]


def make_overall(size):
    """Return the bars over the fit jobs of ``--size``."""
    return [bar for kind in FIT_LIMITS for bar in growth_bars(kind, SIZES[size].fit)]


if __name__ == "__main__":
    sys.exit(main("tree", make_jobs, make_overall=make_overall))
