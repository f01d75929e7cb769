"""Model files that are damaged, or made to do harm: an error or a wrong answer, but no crash."""

import copy
import pickle

import joblib
import numpy as np
import pytest
from _checks import configurations, label, problem
from _damage import FAR, Case, Crashes, cases, outcomes
from conftest import random_sparse
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
)
from sklearn_sl.svm import SVC
from sklearn_sl.tree import DecisionTreeClassifier

# Changes of each model that the suite tries; the slow test tries all of them.
FEW = 12


def fitted(estimator):
    """Return a configuration fitted to a few samples, more samples, and their targets."""
    data = problem(estimator, n_samples=20, n_test=8)
    if hasattr(estimator, "n_estimators"):
        estimator.set_params(n_estimators=2)
    return estimator.fit(data.X, data.y), data.X_test, data.y[:8]


def table_with_categories():
    """Return samples with a column of categories and missing values, and classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X[:, 1] = rng.integers(6, size=40)
    y = ((X[:, 0] > 0) ^ (X[:, 1] % 2 == 0)).astype(int)
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    return X, y


def bagged(tree):
    """Return few trees on some of the features."""
    return BaggingClassifier(tree, 3, max_features=0.7, random_state=0)


def more_models():
    """Return ``{name: (model, X, y)}`` of models that the configurations do not have."""
    X, y = table_with_categories()
    options = {"categorical_features": [1], "surrogates": 2, "competitors": 2}
    tree = DecisionTreeClassifier(**options)
    sparse = random_sparse(np.random.default_rng(0), (30, 5), 0.5)
    labels = np.arange(30) % 3
    strings, kinds = ["abab", "abba", "baab", "bbbb", "bbba", "aab"], [1, 1, 1, 0, 0, 1]
    advice, outcomes = np.random.default_rng(0).integers(2, size=(2, 30, 4)), np.arange(30) % 2
    models = {
        "tree with categories": (tree.fit(X, y), X, y),
        "forest": (RandomForestClassifier(3, random_state=0).fit(X, y), X, y),
        "bagged trees": (bagged(tree).fit(X, y), X, y),
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


def all_cases(estimators, most=None):
    """Return damaged versions of fitted configurations and of more models; see ``cases``."""
    models = {label(estimator): fitted(estimator) for estimator in estimators} | more_models()
    return [case for name, made in models.items() for case in cases(name, *made, most=most)]


def crashes(batch):
    """Return the cases that ended otherwise than by an answer or an error."""
    ends = outcomes(batch)
    assert len(ends) == len(batch)
    return {
        name: end for name, end in ends.items() if end != "loaded" and not end.startswith("refused")
    }


def one_of_each():
    """Return the first configuration of each estimator."""
    first = {type(estimator): estimator for estimator in reversed(configurations())}
    assert {*first, SubstringStump} == {*all_estimators()}
    return list(first.values())


def test_damaged_models_neither_crash_nor_hang():
    batch = all_cases(one_of_each(), most=FEW)
    assert len(batch) > 10 * len(all_estimators())
    assert crashes(batch) == {}


@pytest.mark.slow
def test_no_damage_to_any_number_of_any_configuration_crashes_or_hangs():
    batch = all_cases(configurations(own=True))
    assert len(batch) > 10_000
    assert crashes(batch) == {}


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


# ---------------------------------------------------------------- what is looked at, by all ways


def fitted_tree():
    X, y = table_with_categories()
    return DecisionTreeClassifier(categorical_features=[1], surrogates=2).fit(X, y)


def fitted_forest():
    X, y = table_with_categories()
    return RandomForestClassifier(3).fit(X, y)


def fitted_halving():
    return Halving().fit(np.eye(6), np.arange(6) % 2)


def fitted_past():
    return MixingPastPosteriors().fit(np.eye(6), np.linspace(0, 1, 6))


def put(array, place, number):
    """Return an array with another number in one place."""
    array = array.copy()
    array[place] = number
    return array


# Who is fitted, which part of it is damaged, and how.
DAMAGES = {
    "a child far away": (fitted_tree, "tree_", "children_left", lambda a: put(a, 0, FAR)),
    "a child before its parent": (fitted_tree, "tree_", "children_right", lambda a: put(a, 0, 0)),
    "a child that is missing": (fitted_tree, "tree_", "children_right", lambda a: put(a, 0, -1)),
    "a feature far away": (fitted_tree, "tree_", "feature", lambda a: put(a, 0, FAR)),
    "a negative feature": (fitted_tree, "tree_", "feature", lambda a: put(a, 0, -1)),
    "a subset far away": (fitted_tree, "tree_", "subset", lambda a: put(a, 0, FAR)),
    "a subset without end": (fitted_tree, "tree_", "subsets", lambda a: put(a, 0, FAR)),
    "few thresholds": (fitted_tree, "tree_", "threshold", lambda a: a[:-1]),
    "wrong depths": (fitted_tree, "tree_", "depth", lambda a: put(a, 1, FAR)),
    "few values": (fitted_tree, "tree_", "value", lambda a: a[:-1]),
    "no nodes": (fitted_tree, "tree_", "children_left", lambda a: a[:0]),
    "integers of another size": (fitted_tree, "tree_", "feature", lambda a: a.astype(np.int32)),
    "no feature at all": (fitted_tree, "tree_", "feature", lambda a: None),
    "a surrogate far away": (fitted_tree, "tree_", "surrogates", lambda a: surrogate_of(a, FAR)),
    "a forest with less features": (fitted_forest, None, "n_features_in_", lambda n: n - 1),
    "a hypothesis far away": (fitted_halving, None, "_all", lambda a: put(a, 0, FAR)),
    "a negative hypothesis": (fitted_halving, None, "_left", lambda a: put(a, 0, -1)),
    "many hypotheses": (fitted_halving, None, "_tail", lambda a: put(a, 0, FAR)),
    "large blocks": (fitted_past, "_state", "sizes", lambda a: put(a, 0, FAR)),
    "a long past": (fitted_past, "_state", "counts", lambda a: put(a, 0, FAR)),
    "many blocks": (fitted_past, "_state", "counts", lambda a: put(a, 1, FAR)),
}


def surrogate_of(surrogates, feature):
    surrogates = surrogates.copy()
    surrogates["feature"][-1] = feature
    return surrogates


def by_pickle(model, path):
    return pickle.loads(pickle.dumps(model))


def by_joblib(model, path):
    joblib.dump(model, path)
    return joblib.load(path)


def by_mapped_joblib(model, path):
    joblib.dump(model, path)
    return joblib.load(path, mmap_mode="r")


def by_skops(model, path):
    stored = skops_io.dumps(model)
    return skops_io.loads(stored, trusted=skops_io.get_untrusted_types(data=stored))


def by_copy(model, path):
    return copy.deepcopy(model)


WAYS = [by_pickle, by_joblib, by_mapped_joblib, by_skops, by_copy]
in_every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)


@in_every_way
@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_told_when_a_model_is_loaded(damage, way, tmp_path):
    make, part, name, change = DAMAGES[damage]
    model = make()
    owner = model if part is None else getattr(model, part)
    setattr(owner, name, change(getattr(owner, name)))
    with pytest.raises(ValueError, match=r"The model is damaged.*Load an intact copy"):
        way(model, tmp_path / "model")


@in_every_way
@pytest.mark.parametrize("make", [fitted_tree, fitted_forest, fitted_halving, fitted_past])
def test_intact_models_are_loaded_and_go_on(make, way, tmp_path):
    model = make()
    again = way(model, tmp_path / "model")
    X = np.random.default_rng(1).integers(2, size=(9, model.n_features_in_)).astype(float)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    if hasattr(model, "partial_fit"):
        y = X[:, 0] if make is fitted_past else X[:, 0].astype(int)
        one, other = (each.partial_fit(X, y).predict(X) for each in (model, again))
        np.testing.assert_array_equal(one, other)
