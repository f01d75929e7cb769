"""Constrained trees are monotonic, pruned ones too, and otherwise those of scikit-learn."""

import numpy as np
import pytest
from conftest import ALGEBRA
from reference.tree_walk import Walk, compare
from sklearn import tree as peer
from sklearn.base import clone, is_classifier

from sklearn_sl import tree
from sklearn_sl.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn_sl.tree import (
    DecisionTreeClassifier,
    DecisionTreeClassifierCV,
    DecisionTreeRegressor,
    DecisionTreeRegressorCV,
)

SIGNS = [1, -1, 0]
MODELS = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier(criterion="entropy"),
    DecisionTreeClassifier(class_weight="balanced"),
    DecisionTreeClassifier(cost_matrix=[[0, 1], [4, 0]]),
    DecisionTreeClassifierCV(),
    DecisionTreeRegressor(),
    DecisionTreeRegressor(criterion="absolute_error"),
    DecisionTreeRegressor(criterion="poisson"),
    DecisionTreeRegressor(max_leaf_nodes=25),
    DecisionTreeRegressor(splitter="random", random_state=0),
    DecisionTreeRegressor(surrogates=2),
    DecisionTreeRegressor(n_jobs=2),
    DecisionTreeRegressorCV(),
    DecisionTreeRegressorCV(criterion="absolute_error"),
    RandomForestClassifier(5, random_state=0),
    RandomForestRegressor(5, criterion="absolute_error", random_state=0),
]
models = pytest.mark.parametrize("model", MODELS, ids=str)


def noise_with_a_trend(rng, model, n=150):
    """Return data whose best unconstrained tree is not monotonic, with ties."""
    X = rng.integers(0, 12, (n, 3)).astype(float)
    signal = 0.2 * X[:, 0] - 0.1 * X[:, 1] + np.sin(2 * X).sum(axis=1) + rng.normal(size=n)
    return X, (signal > 0.5) if is_classifier(model) else np.exp(signal).round(1) + 0.1


def answers(model, X):
    """Return what the constraints are about."""
    return model.predict_proba(X)[:, 1] if is_classifier(model) else model.predict(X)


def assert_monotonic(model, rng):
    """Check predictions along each constrained feature, in steps, and labels with them."""
    X = rng.integers(-1, 14, (200, 3)) + 0.25
    for feature, sign in enumerate(SIGNS):
        X_up = X.copy()
        X_up[:, feature] += rng.integers(1, 6, len(X))
        change = answers(model, X_up) - answers(model, X)
        assert sign == 0 or np.all(sign * change >= 0)
        if sign and is_classifier(model):
            assert np.all(sign * (model.predict(X_up).astype(int) - model.predict(X)) >= 0)


@models
@pytest.mark.parametrize("missing", [False, True])
def test_predictions_are_monotonic(rng, model, missing):
    X, y = noise_with_a_trend(rng, model)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    constrained = clone(model).set_params(monotonic_cst=SIGNS).fit(X, y)
    assert_monotonic(constrained, rng)
    if hasattr(model, "prune"):
        for alpha in np.quantile(constrained.ccp_path_.alphas[:-1], [0.1, 0.5, 0.9]):
            assert_monotonic(constrained.prune(alpha), rng)
    if not missing and not hasattr(model, "cv"):
        with pytest.raises(AssertionError):  # which the data would not be by themselves
            assert_monotonic(clone(model).fit(X, y), rng)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson", "gini"])
@pytest.mark.parametrize("params", [{}, {"max_leaf_nodes": 12}, {"min_samples_leaf": 7}], ids=str)
def test_tree_is_that_of_scikit_learn(rng, criterion, params):
    kind = "Classifier" if criterion == "gini" else "Regressor"
    ours, theirs = (
        getattr(module, f"DecisionTree{kind}")(
            criterion=criterion, max_depth=4, monotonic_cst=SIGNS, **params
        )
        for module in (tree, peer)
    )
    walk = Walk()
    for _ in range(5):
        X = rng.normal(size=(80, 3)).astype(np.float32)
        signal = X[:, 0] + np.sin(4 * X[:, 1]) + 0.5 * rng.normal(size=80)
        y = signal > 0 if criterion == "gini" else np.exp(signal)
        walk += compare(ours.fit(X, y).tree_, theirs.set_params(random_state=0).fit(X, y).tree_)
    assert walk.splits > 15


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson", "gini"])
def test_risk_is_the_loss_of_what_nodes_predict(rng, criterion):
    classify = criterion == "gini"
    model = (DecisionTreeClassifier if classify else DecisionTreeRegressor)(
        criterion=criterion, monotonic_cst=SIGNS
    )
    X, y = noise_with_a_trend(rng, model)
    model.fit(X, y)
    path = model.ccp_path_
    assert len(path.alphas) > 5
    values = np.array([answers(model.prune(alpha), X) for alpha in path.alphas])
    losses = {
        "gini": lambda: 2 * (y - values) ** 2,  # of both classes
        "squared_error": lambda: (y - values) ** 2,
        "absolute_error": lambda: np.abs(y - values),
        "poisson": lambda: y * np.log(y / values) - y + values,
    }[criterion]()
    np.testing.assert_allclose(losses.mean(axis=1), path.risks, **ALGEBRA)
    assert model.tree_.unclipped_value is not None


@pytest.mark.parametrize("cost", [None, [[0, 1], [5, 0]]])
def test_misclassification_is_that_of_the_labels(rng, cost):
    model = DecisionTreeClassifierCV(
        monotonic_cst=SIGNS, risk="misclassification", cost_matrix=cost
    )
    X, y = noise_with_a_trend(rng, model)
    model.fit(X, y)
    cost = 1 - np.eye(2) if cost is None else np.array(cost)
    labels = model.predict_path(X).astype(int)
    losses = cost[y.astype(int), labels].mean(axis=1)
    np.testing.assert_allclose(losses, model.ccp_path_.risks, **ALGEBRA)
    table = model.cp_table_[::-1]["rel_error"]
    np.testing.assert_allclose(losses / losses[-1], table, **ALGEBRA)


def test_constraints_that_the_data_keep_change_nothing(rng):
    X = rng.normal(size=(100, 2))
    y = (X[:, 0] > 0) + 2.0 * (X[:, 1] > 0.5)
    free = DecisionTreeRegressor().fit(X, y)
    constrained = DecisionTreeRegressor(monotonic_cst=[1, 1]).fit(X, y)
    np.testing.assert_array_equal(free.tree_.threshold, constrained.tree_.threshold)
    against = DecisionTreeRegressor(monotonic_cst=[-1]).fit(X[:, 1:], X[:, 1])
    assert against.get_n_leaves() == 1


@pytest.mark.parametrize("Model", [DecisionTreeRegressor, DecisionTreeClassifier])
def test_order_and_repetition_of_rows_do_not_matter(rng, Model):
    X, y = noise_with_a_trend(rng, Model())
    weight, order = rng.integers(0, 4, len(y)), rng.permutation(len(y))
    model = Model(monotonic_cst=SIGNS).fit(X, y, weight)
    other = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    turned = clone(model).fit(X[order], y[order], weight[order])
    for name in ("feature", "threshold"):
        np.testing.assert_array_equal(getattr(model.tree_, name), getattr(other.tree_, name))
        np.testing.assert_array_equal(getattr(model.tree_, name), getattr(turned.tree_, name))


@pytest.mark.parametrize(
    ("Model", "constraints", "y", "message"),
    [
        (DecisionTreeClassifier, [1, 0], [0, 1, 2], "multiclass classification"),
        (RandomForestClassifier, [1, 0], [0, 1, 2], "multiclass classification"),
        (DecisionTreeRegressor, [1, 0], [[0, 1]] * 3, "multiple outputs"),
        (DecisionTreeRegressor, [1], [0, 1, 2], "shape 1 but the input data X has 2 features"),
        (DecisionTreeRegressor, [2, 0], [0, 1, 2], r"array-like of -1, 0 or 1, but got \[0 2\]"),
        (RandomForestRegressor, [0.5, 0], [0, 1, 2], "array-like of -1, 0 or 1"),
    ],
)
def test_constraints_that_make_no_sense_are_an_error(Model, constraints, y, message):
    with pytest.raises(ValueError, match=message):
        Model(monotonic_cst=constraints).fit([[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]], y)


def test_categories_have_no_order(rng):
    X, y = rng.integers(0, 3, (30, 2)), rng.normal(size=30)
    with pytest.raises(ValueError, match="Categorical features cannot have monotonic constraints"):
        DecisionTreeRegressor(monotonic_cst=[1, 1], categorical_features=[1]).fit(X, y)
    DecisionTreeRegressor(monotonic_cst=[1, 0], categorical_features=[1]).fit(X, y)
