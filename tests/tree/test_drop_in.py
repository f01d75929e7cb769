"""A tree of ours where scikit-learn expects one of its own."""

import inspect
import io
import pickle
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from conftest import EXACT
from reference.tree_walk import compare
from sklearn import tree as peer
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor, BaggingClassifier
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor

PAIRS = {
    "classifier": (DecisionTreeClassifier, peer.DecisionTreeClassifier),
    "regressor": (DecisionTreeRegressor, peer.DecisionTreeRegressor),
}
pairs = pytest.mark.parametrize(("ours", "theirs"), PAIRS.values(), ids=PAIRS)
classes = pytest.mark.parametrize("cls", [DecisionTreeClassifier, DecisionTreeRegressor])


@pytest.fixture
def data(rng):
    """Return samples that float32 represents, and targets that are classes and numbers."""
    X = rng.permutation(300).reshape(100, 3) / 4
    y = (X[:, 0] > 30).astype(int) + (X[:, 1] + rng.integers(0, 30, size=100) > 50)
    return X, y


@pytest.fixture
def weight(rng):
    """Return weights that leave no ties."""
    return rng.integers(2**10, 2**13, size=100) / 2**10


# ---------------------------------------------------------------- parameters and attributes


@pairs
def test_parameters_and_defaults_of_scikit_learn_are_ours(ours, theirs):
    mine = inspect.signature(ours).parameters
    for name, parameter in inspect.signature(theirs).parameters.items():
        assert mine[name].default == parameter.default, name
        assert mine[name].kind == parameter.kind, name


@pairs
def test_methods_of_scikit_learn_are_ours(ours, theirs, data):
    X, y = data
    one, other = ours().fit(X, y), theirs().fit(X, y)
    public = {name for name in dir(other) if not name.startswith("_")}
    # The base class of scikit-learn has a class_weight even for regression.
    assert public - set(dir(one)) <= {"class_weight"}
    for name, method in inspect.getmembers(theirs, inspect.isfunction):
        if not name.startswith("_") and name in vars(theirs):
            wanted = inspect.signature(method).parameters
            mine = inspect.signature(getattr(ours, name)).parameters
            assert list(wanted) == list(mine)[: len(wanted)], name


@pairs
def test_trees_have_the_attributes_of_scikit_learns(ours, theirs, data, weight):
    X, y = data
    params = {"min_samples_leaf": 8}  # no ties
    one = ours(**params).fit(X, y, sample_weight=weight)
    other = theirs(random_state=0, **params).fit(X, y, sample_weight=weight)
    assert compare(one.tree_, other.tree_).ties == 0
    names = {name for name in dir(other.tree_) if not name.startswith("_")}
    # The recursion of partial dependence goes through the tree that is exported.
    assert names - set(dir(one.tree_)) <= {"compute_partial_dependence"}
    for name in ("node_count", "n_leaves", "max_depth", "n_features", "n_outputs", "max_n_classes"):
        assert getattr(one.tree_, name) == getattr(other.tree_, name), name
    assert list(one.tree_.n_classes) == list(other.tree_.n_classes)
    assert one.tree_.value.shape == other.tree_.value.shape
    assert one.get_depth() == other.get_depth()
    assert one.get_n_leaves() == other.get_n_leaves()
    assert one.n_outputs_ == other.n_outputs_
    np.testing.assert_allclose(one.feature_importances_, other.feature_importances_, **EXACT)
    np.testing.assert_allclose(
        one.tree_.compute_feature_importances(normalize=False),
        other.tree_.compute_feature_importances(normalize=False),
        **EXACT,
    )
    np.testing.assert_array_equal(
        one.tree_.compute_node_depths(), other.tree_.compute_node_depths()
    )
    np.testing.assert_array_equal(one.apply(X), other.apply(X))
    assert one.apply(X).dtype == other.apply(X).dtype
    mine, wanted = one.decision_path(X), other.decision_path(X)
    assert mine.format == wanted.format
    assert mine.shape == wanted.shape
    np.testing.assert_array_equal(mine.toarray(), wanted.toarray())
    np.testing.assert_array_equal(mine.indices, wanted.sorted_indices().indices)
    np.testing.assert_allclose(
        one.tree_.predict(X.astype(np.float32)), other.tree_.predict(X.astype(np.float32)), **EXACT
    )


@classes
def test_low_level_names_do_not_lie_about_a_single_leaf(cls):
    model = cls().fit([[0.0], [1.0]], [1, 1])
    assert model.tree_.compute_feature_importances().tolist() == [0]
    assert model.decision_path([[5.0]]).toarray().tolist() == [[1]]
    assert peer.export_text(model).count("---") == 1


def test_probabilities_are_those_of_scikit_learn(data, weight):
    X, y = data
    ours = DecisionTreeClassifier(min_samples_leaf=8).fit(X, y, sample_weight=weight)
    theirs = peer.DecisionTreeClassifier(min_samples_leaf=8, random_state=0)
    theirs.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), **EXACT)
    with np.errstate(divide="ignore"):
        log_proba = theirs.predict_log_proba(X)
    np.testing.assert_allclose(ours.predict_log_proba(X), log_proba, **EXACT)


def test_several_outputs_have_the_shapes_of_scikit_learn(rng, data):
    X, y = data
    labels = np.column_stack([np.array(["a", "b", "c"])[y], np.array(["u", "v"])[y % 2]])
    ours, theirs = DecisionTreeClassifier().fit(X, labels), peer.DecisionTreeClassifier()
    theirs.fit(X, labels)
    assert [list(c) for c in ours.classes_] == [list(c) for c in theirs.classes_]
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for one, other in zip(ours.predict_proba(X), theirs.predict_proba(X), strict=True):
        np.testing.assert_allclose(one, other, **EXACT)
    column = DecisionTreeRegressor().fit(X, y[:, None])
    assert column.predict(X).shape == (100,)


# ---------------------------------------------------------------- functions of scikit-learn


@pairs
def test_text_and_graph_are_those_of_scikit_learn(ours, theirs, data, weight):
    X, y = data
    params = {"min_samples_leaf": 8}
    one = ours(**params).fit(X, y, sample_weight=weight)
    other = theirs(random_state=0, **params).fit(X, y, sample_weight=weight)
    names = ["length", "width", "height"]
    text = peer.export_text(one, feature_names=names, show_weights=True)
    assert text == peer.export_text(other, feature_names=names, show_weights=True)
    graphs = []
    for model in (one, other):
        stream = io.StringIO()
        peer.export_graphviz(
            model, out_file=stream, feature_names=names, filled=True, node_ids=True, impurity=True
        )
        graphs.append(stream.getvalue())
    assert graphs[0] == graphs[1]
    assert graphs[0].count("->") == one.tree_.node_count - 1


@pairs
def test_the_plot_is_that_of_scikit_learn(ours, theirs, data, weight):
    X, y = data
    params = {"min_samples_leaf": 15}
    one = ours(**params).fit(X, y, sample_weight=weight)
    other = theirs(random_state=0, **params).fit(X, y, sample_weight=weight)
    figure, axes = plt.subplots(ncols=2)
    shown = [
        [note.get_text() for note in peer.plot_tree(model, ax=ax, filled=True)]
        for model, ax in zip((one, other), axes, strict=True)
    ]
    plt.close(figure)
    assert shown[0] == shown[1]
    assert len(shown[0]) >= one.tree_.node_count


@pairs
def test_importances_by_permutation_are_those_of_scikit_learn(ours, theirs, data, weight):
    X, y = data
    params = {"min_samples_leaf": 8}
    found = [
        permutation_importance(model.fit(X, y, sample_weight=weight), X, y, random_state=0)
        for model in (ours(**params), theirs(random_state=0, **params))
    ]
    np.testing.assert_allclose(found[0].importances, found[1].importances, **EXACT)


@pytest.mark.parametrize("params", [{}, {"max_leaf_nodes": 9}, {"ccp_alpha": 0.01}], ids=str)
def test_partial_dependence_by_recursion_is_that_by_brute_force(data, weight, params):
    X, y = data
    # Recursion goes by the weights of the training samples, brute force by the samples given.
    model = DecisionTreeRegressor(max_depth=1, **params).fit(X, y)
    deep = DecisionTreeRegressor(**params).fit(X, y)
    by_method = {
        method: partial_dependence(model, X, [0], method=method, kind="average")["average"]
        for method in ("recursion", "brute")
    }
    np.testing.assert_allclose(by_method["recursion"], by_method["brute"], **EXACT)
    theirs = deep.to_sklearn()
    np.testing.assert_allclose(
        partial_dependence(deep, X, [0, 1], method="recursion")["average"],
        partial_dependence(theirs, X, [0, 1], method="recursion")["average"],
        **EXACT,
    )


# ---------------------------------------------------------------- to_sklearn


@classes
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"max_leaf_nodes": 10},
        {"splitter": "random", "random_state": 0},
        {"ccp_alpha": 0.005},
        {"max_depth": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("holes", [False, True])
def test_the_exported_tree_predicts_the_same(rng, data, cls, params, holes):
    X, y = data
    X = np.where(rng.random(size=X.shape) < 0.2, np.nan, X) if holes else X
    model = cls(**params).fit(X, y)
    made = pickle.loads(pickle.dumps(model.to_sklearn()))
    X_test = rng.permutation(X.ravel()).reshape(X.shape)
    np.testing.assert_array_equal(made.predict(X_test), model.predict(X_test))
    np.testing.assert_array_equal(made.apply(X_test), model.apply(X_test))
    assert compare(model.tree_, made.tree_, sides_of_missing=True).ties == 0
    assert made.get_params().items() <= model.get_params().items()
    np.testing.assert_allclose(made.feature_importances_, model.feature_importances_, **EXACT)


def test_what_scikit_learn_cannot_say_is_not_exported(data):
    X, y = data
    codes = X.astype(int) % 7
    by_subset = DecisionTreeClassifier(categorical_features=[0, 1, 2]).fit(codes, y)
    with pytest.raises(ValueError, match="categories"):
        by_subset.to_sklearn()
    with pytest.raises(ValueError, match="surrogate"):
        DecisionTreeRegressor(surrogates=1).fit(np.c_[X, X[:, 0]], y).to_sklearn()
    with pytest.raises(ValueError, match="cost"):
        costs = 1 - np.eye(3)
        DecisionTreeClassifier(cost_matrix=costs).fit(X, y).to_sklearn()


# ---------------------------------------------------------------- meta-estimators


@pytest.mark.parametrize("params", [{}, {"criterion": "entropy", "max_depth": 3}], ids=str)
def test_ensembles_of_scikit_learn_take_our_trees(data, params):
    X, y = data
    tree = DecisionTreeClassifier(**params)
    bagging = BaggingClassifier(tree, n_estimators=5, random_state=0, oob_score=False).fit(X, y)
    assert bagging.score(X, y) > 0.8
    boosting = AdaBoostClassifier(clone(tree).set_params(max_depth=2), n_estimators=5).fit(X, y)
    assert boosting.score(X, y) > 0.8
    assert isinstance(boosting.estimators_[0], DecisionTreeClassifier)
    regression = AdaBoostRegressor(DecisionTreeRegressor(max_depth=3), n_estimators=5)
    assert regression.fit(X, y).score(X, y) > 0.5


def test_boosting_our_stumps_is_boosting_theirs(data):
    X, y = data
    scores = [
        AdaBoostClassifier(cls(max_depth=1, random_state=0), n_estimators=10, random_state=0)
        .fit(X[:, :1], y > 0)
        .decision_function(X[:, :1])
        for cls in (DecisionTreeClassifier, peer.DecisionTreeClassifier)
    ]
    np.testing.assert_allclose(*scores, rtol=1e-9)


@pairs
def test_a_search_over_scikit_learns_grid_finds_the_same(ours, theirs, data):
    X, y = data
    grid = {
        "max_depth": [1, 3, None],
        "min_samples_leaf": [1, 6, 0.1],
        "ccp_alpha": [0.0, 0.02],
    }
    # One feature with distinct values: nothing for chance to decide.
    found = [
        GridSearchCV(cls(random_state=0), grid, cv=3).fit(X[:, :1], y).cv_results_
        for cls in (ours, theirs)
    ]
    np.testing.assert_allclose(found[0]["mean_test_score"], found[1]["mean_test_score"], rtol=1e-6)


@classes
def test_pipelines_and_cross_validation_work(data, cls):
    X, y = data
    scores = cross_val_score(make_pipeline(StandardScaler(), cls(max_depth=4)), X, y)
    assert scores.mean() > 0.3


@classes
def test_scikit_learn_takes_our_trees_for_its_own(cls):
    model = cls()
    assert isinstance(model, getattr(peer, cls.__name__))
    assert is_classifier(model) == (cls is DecisionTreeClassifier)
    assert is_regressor(model) == (cls is DecisionTreeRegressor)


UNCHANGED = """
from sklearn.utils import all_estimators

theirs = dict(all_estimators())

def state():
    return {
        name: (cls.__mro__, sorted(vars(cls)), [k for k, c in theirs.items() if issubclass(c, cls)])
        for name, cls in theirs.items()
    }

before = state()
from sklearn_sl._discovery import all_estimators as ours
ours = ours()
assert state() == before, "a class of scikit-learn changed"
for cls in ours:
    for peer in theirs.values():
        if issubclass(cls, peer):
            print(cls.__name__, peer.__name__)
"""


def test_registration_changes_no_class_of_scikit_learn():
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", UNCHANGED],
        capture_output=True,
        text=True,
        check=True,
    )
    # Those that plot_tree, export_text or partial_dependence ask for, and no others.
    assert sorted(told.stdout.splitlines()) == [
        "DecisionTreeClassifier DecisionTreeClassifier",
        "DecisionTreeClassifierCV DecisionTreeClassifier",
        "DecisionTreeRegressor DecisionTreeRegressor",
        "DecisionTreeRegressorCV DecisionTreeRegressor",
        "RandomForestRegressor RandomForestRegressor",
    ]


# ---------------------------------------------------------------- copies


@classes
@pytest.mark.parametrize(
    "params",
    [{}, {"surrogates": 2, "competitors": 2}, {"categorical_features": [1]}, {"ccp_alpha": 0.01}],
    ids=str,
)
def test_a_pickle_predicts_and_prunes_the_same(rng, data, cls, params):
    X, y = data
    X = np.where(rng.random(size=X.shape) < 0.1, np.nan, X)
    X[:, 1] //= 10
    model = cls(**params).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    np.testing.assert_array_equal(copy.predict_path(X), model.predict_path(X))
    np.testing.assert_array_equal(
        copy.prune(n_leaves=3).predict(X), model.prune(n_leaves=3).predict(X)
    )
    assert clone(copy).get_params() == model.get_params()
    assert not hasattr(clone(model), "tree_")


@classes
def test_names_of_columns_are_remembered_and_checked(data, cls):
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = cls().fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(model.predict(frame), cls().fit(X, y).predict(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c"]])
    pruned = model.prune(n_leaves=2)
    with pytest.raises(ValueError, match="feature names"):
        pruned.predict(frame[["b", "a", "c"]])


@classes
def test_check_input_false_takes_a_ready_matrix(data, cls):
    X, y = data
    model = cls().fit(X, y, check_input=False)
    np.testing.assert_array_equal(model.predict(X, check_input=False), model.predict(X))
    np.testing.assert_array_equal(model.apply(X, check_input=False), model.apply(X))


@classes
def test_check_input_false_never_reads_beyond_the_samples(data, cls):
    X, y = data
    model = cls().fit(X, y)
    narrow = np.ascontiguousarray(X[:, :2])
    for method in (model.predict, model.apply, model.decision_path):
        with pytest.raises(ValueError, match="2 features"):
            method(narrow, check_input=False)
