"""Trees and forests on sparse samples against scikit-learn: documents as counts of words.

Run ``python benchmarks/bench_sparse_trees.py --size quick|full``.  The words of a document are
drawn by Zipf's law, some of them from those of its topic.  Two forests agree if they are about
equally accurate on held-out documents and their trees have about as many leaves; ours on some of
the documents must also be, to the last bit, the one on the same documents as a dense matrix.
"""

import sys
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from _harness import (
    Bar,
    Disagreement,
    Job,
    Split,
    all_of,
    estimator,
    main,
    require_close,
    same_quality,
)
from sklearn import ensemble as peer_ensemble
from sklearn import tree as peer_tree
from sklearn.metrics import accuracy_score, r2_score

from sklearn_sl.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn_sl.tree import DecisionTreeClassifier

OURS, SKLEARN = "sklearn_sl", "scikit-learn"
# Words of a document, one in two hundred of the vocabulary, and the share that its topic draws.
N_WORDS, WORDS, OF_TOPIC = 20_000, 105, 0.08
N_TOPICS, ZIPF = 4, 20.0
HELD_OUT = 2_000
# The dense matrix that a forest is compared on.
FEW_DOCUMENTS, FEW_WORDS = 300, 1_000
# By how much the numbers of leaves may differ: of equal splits scikit-learn takes a random one.
LEAVES = 0.1


class Sizes(NamedTuple):
    """What ``--size`` decides."""

    repeat: int
    documents: tuple
    n_trees: int
    regression_trees: int


SIZES = {
    "quick": Sizes(3, (2_000,), 20, 4),
    "full": Sizes(5, (2_500, 10_000), 100, 10),
}


# Data ------------------------------------------------------------------------


def documents(n, n_words=N_WORDS):
    """Return logarithms of counts of words, and topics."""
    rng = np.random.default_rng(0)
    share = 1 / (np.arange(n_words) + ZIPF)
    words = rng.choice(n_words, size=(n, WORDS), p=share / share.sum())
    topics, y = [rng.permutation(n_words) for _ in range(N_TOPICS)], rng.integers(N_TOPICS, size=n)
    of_topic = rng.random((n, WORDS)) < OF_TOPIC
    for topic, order in enumerate(topics):
        rows = y == topic
        words[rows] = np.where(of_topic[rows], order[words[rows]], words[rows])
    # scikit-learn takes indices of 32 bits alone, and rounds values to float32.
    indptr = np.arange(0, n * WORDS + 1, WORDS, dtype=np.int32)
    words = words.ravel().astype(np.int32)
    X = sp.csr_array((np.ones(words.size), words, indptr), shape=(n, n_words))
    X.sum_duplicates()
    X.data = np.log1p(X.data).astype(np.float32).astype(np.float64)
    return X, y


def classification_data(n):
    """Return n documents with their topics, and some that are held out."""
    X, y = documents(n + HELD_OUT)
    return Split(X[:n], y[:n], X[n:], y[n:])


def regression_data(n):
    """Return n documents with numbers that some of their words add up to."""
    X, _ = documents(n + HELD_OUT)
    rng = np.random.default_rng(1)
    slope = np.where(np.arange(N_WORDS) < 40, rng.normal(size=N_WORDS), 0.0)
    y = X @ slope + 0.3 * rng.normal(size=X.shape[0])
    return Split(X[:n], y[:n], X[n:], y[n:])


# Agreement -------------------------------------------------------------------


def leaves_of(model):
    """Return the mean number of leaves of a forest or a tree."""
    return np.mean([tree.get_n_leaves() for tree in getattr(model, "estimators_", [model])])


def same_leaves(outcomes, data):
    """Agreement: trees have about as many leaves."""
    ours, theirs = (leaves_of(outcomes[name].model) for name in (OURS, SKLEARN))
    require_close(SKLEARN, OURS, abs(ours / theirs - 1), LEAVES, "numbers of leaves")


def dense_like_sparse(outcomes, data):
    """Agreement: a fit of ours to a dense matrix predicts the same, to the last bit."""
    model = outcomes[OURS].model
    X, y = data.X[:FEW_DOCUMENTS, :FEW_WORDS], data.y[:FEW_DOCUMENTS]
    few = {"n_estimators": 3} if hasattr(model, "estimators_") else {}
    dense, sparse = (
        type(model)(**model.get_params() | few).fit(samples, y).predict(samples)
        for samples in (X.toarray(), X)
    )
    if not np.array_equal(dense, sparse):
        raise Disagreement("ours on dense samples is not ours on the same ones, sparse")


def quality_of(model, prediction, data):
    """Quality: accuracy or R2 on held-out documents, and the size of the trees."""
    if data.y.dtype.kind == "f":
        return {"r2": float(r2_score(data.y_test, prediction)), "leaves": float(leaves_of(model))}
    accuracy = float(accuracy_score(data.y_test, prediction))
    return {"accuracy": accuracy, "leaves": float(leaves_of(model))}


# Jobs ------------------------------------------------------------------------


def job_of(name, data, ours, theirs, sizes, documents_, quality, limits):
    """Return the job of a model of ours and scikit-learn's, with limits of fit and prediction."""
    fit_limit, predict_limit = limits
    return Job(
        name,
        data,
        {OURS: estimator(ours), SKLEARN: estimator(theirs)},
        all_of(same_quality(*quality), same_leaves, dense_like_sparse),
        documents_,
        sizes.repeat,
        quality_of,
        [
            Bar(
                f"{name}: time of fit / {SKLEARN}, n = {n}",
                partial(lambda n, r: r.ratio(OURS, SKLEARN, n=n), n),
                fit_limit,
            )
            for n in documents_
        ]
        + [
            Bar(
                f"{name}: time of prediction / {SKLEARN}, n = {n}",
                partial(lambda n, r: r.ratio(OURS, SKLEARN, "predict", n=n), n),
                predict_limit,
            )
            for n in documents_
        ],
    )


def make_jobs(size):
    """Return the jobs of ``--size``."""
    sizes = SIZES[size]
    forest = {"n_estimators": sizes.n_trees, "random_state": 0, "n_jobs": 1}
    few = forest | {"n_estimators": sizes.regression_trees, "max_features": 0.1}
    return [
        job_of(
            "text-forest",
            classification_data,
            partial(RandomForestClassifier, **forest),
            partial(peer_ensemble.RandomForestClassifier, **forest),
            sizes,
            sizes.documents,
            ("accuracy", 0.03),
            (1.0, 1.5),
        ),
        job_of(
            "text-tree",
            classification_data,
            partial(DecisionTreeClassifier, random_state=0),
            partial(peer_tree.DecisionTreeClassifier, random_state=0),
            sizes,
            sizes.documents,
            ("accuracy", 0.05),
            (0.5, 2.0),
        ),
        job_of(
            "text-regression-forest",
            regression_data,
            partial(RandomForestRegressor, **few),
            partial(peer_ensemble.RandomForestRegressor, **few),
            sizes,
            sizes.documents[:1],
            ("r2", 0.06),
            (1.0, 2.0),
        ),
    ]


if __name__ == "__main__":
    sys.exit(main("sparse_trees", make_jobs, peers=("scikit-learn",)))
