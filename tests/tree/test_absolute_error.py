"""Trees of the absolute error predict medians, and their splits are the best ones."""

import warnings

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT, scikit_learn_before
from reference import cart as reference
from reference.tree_walk import Walk, compare
from sklearn import ensemble as peer_ensemble
from sklearn import tree as peer
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.tree._criterion import MAE

from sklearn_sl.ensemble import RandomForestRegressor
from sklearn_sl.tree import DecisionTreeRegressor, DecisionTreeRegressorCV

WEIGHTS = ["none", "counts", "uniform", "many orders"]


def draw_weights(rng, kind, n):
    """Return weights that are alike or that differ much: medians are found in two ways."""
    if kind == "none":
        return None
    if kind == "counts":
        return rng.integers(1, 4, n).astype(float)
    return rng.random(n) + 1 if kind == "uniform" else 10.0 ** rng.integers(-3, 4, n)


def skip_where_scikit_learn_differs(kind, params, missing):
    """Skip what older versions of scikit-learn do not do, do wrongly, or do as well otherwise."""
    if missing and scikit_learn_before("1.9"):
        pytest.skip("scikit-learn < 1.9 takes no missing values with the absolute error")
    if kind != "none" and scikit_learn_before("1.8"):
        pytest.skip("scikit-learn < 1.8 gets weighted absolute errors wrong")
    # After another split that is as good, other nodes are the best of the next ones.
    if "max_leaf_nodes" in params and scikit_learn_before("1.8"):
        pytest.skip("scikit-learn < 1.8 chooses among equal splits by other sums")


def absolute(**params):
    return DecisionTreeRegressor(criterion="absolute_error", **params)


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("targets", ["few", "many"])
def test_tree_is_that_of_an_exhaustive_search(rng, kind, targets):
    rules = {"min_samples_leaf": 2, "criterion": "absolute_error"}
    for _ in range(8):
        X = rng.integers(0, 5, (14, 2)).astype(float)
        y = rng.integers(0, 4, 14) if targets == "few" else rng.normal(size=14)
        weight = draw_weights(rng, kind, 14)
        found = DecisionTreeRegressor(max_depth=3, **rules).fit(X, y, weight).tree_
        wanted = reference.grow(X, y, weight, max_depth=3, **rules).preorder()
        if kind in ("uniform", "many orders"):  # products with the targets are rounded
            assert found.impurity[0] == pytest.approx(float(wanted[0].impurity))
            if found.node_count > 1:
                loss = found.impurity * found.weighted_n_node_samples
                best = sum(float(n.weight * n.impurity) for n in (wanted[0].left, wanted[0].right))
                assert loss[1] + loss[found.children_right[0]] == pytest.approx(best)
            continue
        assert found.feature.tolist() == [node.feature for node in wanted]
        assert found.threshold.tolist() == [node.threshold for node in wanted]
        impurity = [float(node.impurity) for node in wanted]
        np.testing.assert_allclose(found.impurity, impurity, **ALGEBRA)


@pytest.mark.parametrize("kind", WEIGHTS[:3])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"min_samples_leaf": 4},
        {"max_leaf_nodes": 9},
        {"min_weight_fraction_leaf": 0.1},
        {"min_impurity_decrease": 0.02},
    ],
    ids=str,
)
@pytest.mark.parametrize("missing", [False, True])
def test_tree_is_that_of_scikit_learn(rng, kind, params, missing):
    skip_where_scikit_learn_differs(kind, params, missing)
    walk = Walk()
    for n_outputs in (1, 2):
        X = rng.integers(0, 20, (60, 3)).astype(np.float32)
        if missing:
            X[rng.random(X.shape) < 0.2] = np.nan
        y = np.nan_to_num(X[:, :n_outputs]) + rng.standard_cauchy((60, n_outputs))
        weight = draw_weights(rng, kind, 60)
        how = {"criterion": "absolute_error", "max_depth": 5, **params}
        theirs = peer.DecisionTreeRegressor(random_state=0, **how).fit(X, y, weight)
        walk += compare(DecisionTreeRegressor(**how).fit(X, y, weight).tree_, theirs.tree_)
    assert walk.splits > 2


@pytest.mark.parametrize("kind", WEIGHTS)
def test_nodes_predict_the_weighted_median(rng, kind):
    y, weight = rng.integers(0, 9, 25).astype(float), draw_weights(rng, kind, 25)
    model = absolute(max_depth=1, min_samples_leaf=13).fit(rng.normal(size=(25, 2)), y, weight)
    expected = reference.median(y, [1] * 25 if weight is None else weight)
    assert model.predict([[0, 0]])[0] == expected


@pytest.mark.parametrize("splitter", ["best", "random"])
def test_weights_are_repetitions_and_order_does_not_matter(rng, splitter):
    X, y = rng.integers(0, 6, (50, 3)).astype(float), rng.integers(0, 5, 50).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    weight, order = rng.integers(0, 4, 50), rng.permutation(50)
    model = absolute(splitter=splitter, random_state=0).fit(X, y, weight)
    other = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    turned = clone(model).fit(X[order], y[order], weight[order])
    for name in ("feature", "threshold", "value"):
        np.testing.assert_array_equal(getattr(model.tree_, name), getattr(other.tree_, name))
        np.testing.assert_array_equal(getattr(model.tree_, name), getattr(turned.tree_, name))


@pytest.mark.parametrize("unit", [1e-100, 1e-3, 1e100])
def test_unit_of_the_target_does_not_matter(rng, unit):
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 1000, 40)
    model, other = absolute().fit(X, y), absolute().fit(X, y * unit)
    np.testing.assert_array_equal(model.tree_.feature, other.tree_.feature)
    np.testing.assert_allclose(model.predict(X) * unit, other.predict(X), **EXACT)


def test_categories_go_by_their_medians(rng):
    codes = rng.integers(0, 4, 80)
    y = np.array([0.0, 5.0, 1.0, 6.0])[codes] + 0.1 * rng.normal(size=80)
    y[:3] = 1e6  # by their means the categories of these would come last
    model = absolute(max_depth=1, categorical_features=[0]).fit(codes[:, None], y)
    left, right = model.tree_.categories_left(0)
    assert {frozenset(left.tolist()), frozenset(right.tolist())} == {
        frozenset({0, 2}),
        frozenset({1, 3}),
    }


def test_losses_and_pruning_go_by_the_absolute_error():
    X, y = load_diabetes(return_X_y=True)
    model = absolute(min_samples_leaf=5).fit(X, y)
    path = model.ccp_path_
    losses = np.abs(y - model.predict_path(X, path.alphas)).mean(axis=1)
    np.testing.assert_allclose(losses, path.risks, **ALGEBRA)
    search = DecisionTreeRegressorCV(criterion="absolute_error", min_samples_leaf=5).fit(X, y)
    scored = clone(search).set_params(scoring="neg_mean_absolute_error").fit(X, y)
    np.testing.assert_allclose(search.cv_scores_, scored.cv_scores_, **ALGEBRA)


def test_trees_withstand_outliers(rng):
    X = rng.uniform(-3, 3, (400, 1))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=400)
    wrong = rng.random(400) < 0.1
    y[wrong] += 1000
    errors = {}
    for criterion in ("absolute_error", "squared_error"):
        model = DecisionTreeRegressor(criterion=criterion, min_samples_leaf=15).fit(X, y)
        errors[criterion] = np.abs(model.predict(X) - np.sin(X[:, 0])).mean()
    assert errors["absolute_error"] < 0.2 < errors["squared_error"]


def test_forest_of_medians_is_as_good_as_that_of_scikit_learn(rng):
    X, y = load_diabetes(return_X_y=True)
    order = rng.permutation(len(y))
    train, test = order[:300], order[300:]
    how = {"n_estimators": 30, "criterion": "absolute_error", "min_samples_leaf": 3}
    ours, theirs = (
        np.abs(C(random_state=0, **how).fit(X[train], y[train]).predict(X[test]) - y[test]).mean()
        for C in (RandomForestRegressor, peer_ensemble.RandomForestRegressor)
    )
    assert ours < 1.05 * theirs


@pytest.mark.parametrize("Model", [DecisionTreeRegressor, RandomForestRegressor])
def test_friedman_mse_is_the_squared_error_with_a_warning(Model):
    with pytest.warns(FutureWarning, match="squared_error") as caught:
        model = Model(criterion="friedman_mse")
    assert caught[0].filename == __file__
    assert model.criterion == "squared_error"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(model)


@pytest.mark.parametrize("Model", [DecisionTreeRegressor, RandomForestRegressor])
def test_criterion_objects_are_refused(Model):
    with pytest.raises(ValueError, match=r"'criterion' parameter .* must be a str among"):
        Model(criterion=MAE(1, 3)).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])


@pytest.mark.parametrize("kind", ["counts", "many orders"])
def test_threads_do_not_change_the_tree(rng, kind):
    X, y = rng.normal(size=(4000, 12)), rng.integers(0, 50, 4000)
    weight = draw_weights(rng, kind, 4000)
    one, two = (absolute(max_depth=6, n_jobs=n).fit(X, y, weight).tree_ for n in (1, 2))
    for name in ("feature", "threshold", "value", "improvement"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
