"""Whoever knows scikit-learn's trees can work with ours, by ``tree_`` and by ``to_sklearn``."""

import io
import pickle

import joblib
import numpy as np
import pytest
from conftest import ALGEBRA
from sklearn import ensemble as peer_ensemble
from sklearn import tree as peer
from sklearn.base import is_classifier
from sklearn.datasets import load_diabetes, load_iris

from sklearn_sl.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor

MODELS = [
    DecisionTreeClassifier(max_depth=4),
    DecisionTreeRegressor(max_depth=4),
    DecisionTreeRegressor(criterion="absolute_error", max_depth=4, monotonic_cst=[1] + [0] * 9),
    RandomForestClassifier(4, max_depth=4, random_state=0),
    RandomForestRegressor(4, max_depth=4, random_state=0),
]
models = pytest.mark.parametrize("model", MODELS, ids=str)


def fitted(model):
    """Return a fitted model and samples that float32 represents."""
    X, y = (load_iris if is_classifier(model) else load_diabetes)(return_X_y=True)
    X = X.astype(np.float32)
    return model.fit(X, y), X


@pytest.mark.parametrize("model", MODELS[:3], ids=str)
def test_descents_take_samples_of_any_layout(model):
    model, X = fitted(model)
    leaves, values = model.apply(X), model.tree_.predict(X)
    paths = model.decision_path(X).toarray()
    frozen = X.astype(np.float64)
    frozen.setflags(write=False)
    kinds = [X, X.astype(np.float64), np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], frozen]
    for samples in (*kinds, X.astype(">f4"), X.tolist()):
        np.testing.assert_array_equal(model.tree_.apply(samples), leaves)
        np.testing.assert_array_equal(model.tree_.predict(samples), values)
        np.testing.assert_array_equal(model.tree_.decision_path(samples).toarray(), paths)
    assert model.tree_.max_depth == 4
    with pytest.raises(ValueError, match="features"):
        model.tree_.apply(X[:, 1:])


@pytest.mark.parametrize("with_joblib", [False, True])
@models
def test_pickles_of_another_byte_order_are_the_same_model(model, with_joblib):
    model, X = fitted(model)

    class Foreign(joblib.numpy_pickle.NumpyPickler if with_joblib else pickle.Pickler):
        def turned(self, array):
            return array.byteswap().view(array.dtype.newbyteorder())

        def reducer_override(self, part):
            if isinstance(part, np.ndarray) and part.dtype.kind != "O" and not with_joblib:
                return self.turned(part).__reduce__()
            return NotImplemented

        def save(self, part, *more):
            if isinstance(part, np.ndarray) and part.dtype.kind != "O":
                part = self.turned(part)
            super().save(part, *more)

    file = io.BytesIO()
    Foreign(file).dump(model)
    file.seek(0)
    loaded = (joblib if with_joblib else pickle).load(file)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


@models
def test_model_of_scikit_learn_predicts_the_same(model):
    model, X = fitted(model)
    other = model.to_sklearn()
    module = peer if hasattr(model, "tree_") else peer_ensemble
    assert type(other) is getattr(module, type(model).__name__)
    np.testing.assert_allclose(other.predict(X), model.predict(X), **ALGEBRA)
    if is_classifier(model):
        np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(X), **ALGEBRA)
    assert other.get_params()["max_depth"] == 4


def test_forest_with_categories_has_no_counterpart(rng):
    X, y = rng.integers(0, 3, (40, 2)), rng.integers(0, 2, 40)
    forest = RandomForestClassifier(2, categorical_features=[0, 1], random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="without categorical splits"):
        forest.to_sklearn()


@models
def test_shap_explains_our_models(model):
    shap = pytest.importorskip("shap", exc_type=ImportError)
    model, X = fitted(model)
    explainer = shap.TreeExplainer(model.to_sklearn())
    answers = model.predict_proba(X[::9]) if is_classifier(model) else model.predict(X[::9])
    total = explainer.shap_values(X[::9]).sum(axis=1) + explainer.expected_value
    np.testing.assert_allclose(total, answers, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("children_left", lambda part: part[:0], "at least one node, but children_left is empty"),
        ("children_left", lambda part: part * 0 + 1, "the child of exactly one other node"),
        ("children_right", lambda part: part[::-1].copy(), "child of exactly one|two children"),
        ("depth", lambda part: part + 1, "depth must be 0 for the root"),
        ("feature", lambda part: part + 9, "entries of feature must lie between 0 and 3"),
        ("impurity", lambda part: part[1:], r"float64 with the shape \(\d+,\)"),
        ("impurity", lambda part: part.astype(int), "of float64 with .* is one of int64"),
        ("surrogates", lambda part: np.zeros(1), "array of records of node, feature"),
        ("n_categories", lambda part: part[1:], r"each of the 4 features, but its shape is \(3,\)"),
    ],
)
def test_damage_of_a_tree_is_told_in_words(name, change, message):
    tree = fitted(DecisionTreeClassifier(max_depth=3))[0].tree_
    state = tree.__getstate__()
    state[name] = change(state[name])
    with pytest.raises(ValueError, match=f"model is damaged.*({message})"):
        type(tree).__new__(type(tree)).__setstate__(state)
