"""Model files that are damaged, or made to do harm: an error or a wrong answer, but no crash."""

import copy
import functools
import io
import itertools
import pickle
import zlib

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from _checks import configurations, label, problem
from _damage import FAR, Case, Crashes, cases, damaged, numbers_of, outcomes
from skops import io as skops_io

from sklearn_sl._discovery import all_estimators
from sklearn_sl.datasets import make_bandit_losses
from sklearn_sl.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    SubstringStump,
)
from sklearn_sl.online import (
    UCB1,
    Exp3,
    Exp3IX,
    Halving,
    KernelPerceptron,
    MixingPastPosteriors,
    SwitchingMultitaskKernel,
)
from sklearn_sl.svm import SVC
from sklearn_sl.tree import DecisionTreeClassifier

# Changes of each model that the suite tries; the slow test tries all of them.
FEW = 12


def fitted(estimator):
    """Return a configuration fitted to a few samples, more samples, and their targets."""
    data = problem(estimator, n_samples=20, n_test=8)
    return estimator.fit(data.X, data.y), data.X_test, data.y[:8]


def table_with_categories():
    """Return samples with a column of categories and missing values, and classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X[:, 1] = rng.integers(6, size=40)
    y = ((X[:, 0] > 0) ^ (X[:, 1] % 2 == 0)).astype(int)
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    return X, y


def more_models():
    """Return ``{name: (model, X, y)}`` of models that the configurations do not have."""
    X, y = table_with_categories()
    options = {"categorical_features": [1], "surrogates": 2, "competitors": 2}
    tree = DecisionTreeClassifier(**options)
    sparse, labels = sp.random_array((30, 5), density=0.5, rng=0, format="csr"), np.arange(30) % 3
    strings, kinds = ["abab", "abba", "baab", "bbbb", "bbba", "aab"], [1, 1, 1, 0, 0, 1]
    advice, outcomes = np.random.default_rng(0).integers(2, size=(2, 30, 4)), np.arange(30) % 2
    models = {
        "tree with categories": (tree.fit(X, y), X, y),
        "forest with categories": (RandomForestClassifier(3, **options).fit(X, y), X, y),
        "bagged trees": (BaggingClassifier(tree, 3, max_features=2).fit(X, y), X, y),
        "boosted trees": (AdaBoostClassifier(tree, n_estimators=3).fit(X, y), X, y),
        "sparse vectors": (SVC().fit(sparse, labels), sparse, labels),
        "sparse trials": (KernelPerceptron().fit(sparse, labels), sparse, labels),
        "substrings": (SubstringStump().fit(strings, kinds), strings, kinds),
        "experts": (Halving().fit(advice[0], outcomes), advice[1], outcomes),
    }
    losses = make_bandit_losses(20, n_arms=3, random_state=0)
    for Bandit in (Exp3, Exp3IX, UCB1):
        models[Bandit.__name__] = (Bandit(3).replay(losses), losses, None)
    return models


def all_cases(estimators):
    """Return an iterator over the damaged versions of fitted configurations and of more models."""
    models = itertools.chain(
        ((label(estimator), fitted(estimator)) for estimator in estimators),
        more_models().items(),
    )
    for name, (model, X, y) in models:
        yield name, list(cases(name, model, X, y))


def crash_free(batch):
    """Return the cases that ended otherwise than by an answer or an error."""
    ends = outcomes(batch)
    assert len(ends) == len(batch)
    return {
        name: end
        for name, end in ends.items()
        if end != "loaded" and not end.startswith("refused")
    }


def one_of_each():
    """Return the first configuration of each estimator."""
    first = {type(estimator): estimator for estimator in reversed(configurations())}
    assert {*first, SubstringStump} == {*all_estimators()}
    return list(first.values())


def test_damaged_models_neither_crash_nor_hang():
    batch = []
    for name, found in all_cases(one_of_each()):
        # The same ones in every run, spread over all numbers and ways.
        found.sort(key=lambda case: zlib.crc32(case.name.encode()))
        batch += found[:FEW]
    assert len(batch) > 10 * len(all_estimators())
    assert crash_free(batch) == {}


@pytest.mark.slow
def test_no_damage_to_any_number_of_any_configuration_crashes_or_hangs():
    batch = [case for _, found in all_cases(configurations(own=True)) for case in found]
    assert len(batch) > 10_000
    assert crash_free(batch) == {}


def test_crashes_hangs_and_want_of_memory_are_noticed():
    bad = {"a crash": 1, "a hang": 2, "no memory": 3, "nothing": 0}
    batch = []
    for name, how in bad.items():
        model = Crashes()
        model.how = how
        batch.append(Case(name, pickle.dumps(model), np.zeros((1, 1)), None))
    ends = outcomes(batch, seconds=1)
    assert ends.keys() == bad.keys() and ends["nothing"] == "loaded"
    assert "Segmentation fault" in ends["a crash"]
    assert "Timeout" in ends["a hang"]
    assert "MemoryError" in ends["no memory"]
