"""The choice of a subtree by cross-validation is that of refits, folds and rules by hand."""

import numpy as np
import pytest
from _callbacks import Stop
from conftest import ALGEBRA, EXACT, needs_callbacks
from sklearn import tree as peer
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_regression
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedKFold,
    StratifiedKFold,
    cross_val_predict,
)

from sklearn_sl.tree import (
    DecisionTreeClassifier,
    DecisionTreeClassifierCV,
    DecisionTreeRegressor,
    DecisionTreeRegressorCV,
)

SINGLE = {
    DecisionTreeClassifierCV: DecisionTreeClassifier,
    DecisionTreeRegressorCV: DecisionTreeRegressor,
}


def flowers(rng, n=120):
    """Return three classes that overlap."""
    X, y = load_iris(return_X_y=True)
    rows = rng.permutation(len(y))[:n]
    return X[rows] + 0.5 * rng.normal(size=(n, 4)), y[rows]


def numbers(rng, n=120):
    """Return positive targets with noise."""
    X = rng.normal(size=(n, 3))
    return X, np.exp(np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.5 * rng.normal(size=n))


SEARCHES = [
    pytest.param(DecisionTreeClassifierCV(), flowers, id="gini"),
    pytest.param(
        DecisionTreeClassifierCV(criterion="entropy", risk="misclassification"),
        flowers,
        id="misclassification",
    ),
    pytest.param(DecisionTreeRegressorCV(min_samples_leaf=3), numbers, id="squared error"),
    pytest.param(DecisionTreeRegressorCV(criterion="poisson"), numbers, id="poisson"),
    pytest.param(DecisionTreeRegressorCV(max_leaf_nodes=9), numbers, id="best first"),
]
for_every_search = pytest.mark.parametrize(("search", "data"), SEARCHES)


def single(search, **params):
    """Return the tree without a search, with the same parameters."""
    cls = SINGLE[type(search)]
    known = cls().get_params()
    shared = {k: v for k, v in search.get_params().items() if k in known}
    return cls(**{**shared, **params})


def losses(search, y, predictions):
    """Return the loss of each prediction."""
    if isinstance(search, DecisionTreeClassifierCV):
        return (predictions != y).astype(float)
    if search.criterion == "poisson":
        return y * np.log(y / predictions) - y + predictions
    return (y - predictions) ** 2


@for_every_search
def test_table_is_that_of_refits_at_the_geometric_means(rng, search, data):
    X, y = data(rng)
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    model = clone(search).set_params(cv=folds).fit(X, y)
    path, table = model.ccp_path_, model.cp_table_[::-1]
    root = losses(search, y, model.prune(n_leaves=1).predict(X)).sum()
    assert len(table) > 3
    for k, alpha in enumerate(path.alphas):
        middle = np.sqrt(alpha * path.alphas[k + 1]) if k + 1 < len(path.alphas) else 1e9
        refit = single(search, ccp_alpha=middle)
        held_out = losses(search, y, cross_val_predict(refit, X, y, cv=folds))
        if middle == 0:  # no pruning, for a single tree
            held_out = losses(search, y, unpruned_predictions(search, X, y, folds))
        np.testing.assert_allclose(table["xerror"][k], held_out.sum() / root, **ALGEBRA)
        spread = np.sqrt(np.sum(held_out**2) - held_out.sum() ** 2 / len(y))
        np.testing.assert_allclose(table["xstd"][k], spread / root, **ALGEBRA)
        trained = losses(search, y, model.prune(alpha).predict(X)).sum()
        np.testing.assert_allclose(table["rel_error"][k], trained / root, **ALGEBRA)
        np.testing.assert_allclose(table["complexity"][k], alpha / path.risks[-1], **ALGEBRA)
        assert table["n_splits"][k] == model.prune(alpha).get_n_leaves() - 1


def unpruned_predictions(search, X, y, folds):
    """Return held-out predictions of trees without the splits that do not reduce the risk."""
    predictions = np.empty(len(y))
    for train, test in folds:
        predictions[test] = single(search).fit(X[train], y[train]).prune(0.0).predict(X[test])
    return predictions


@for_every_search
def test_fitted_tree_is_the_best_of_the_table(rng, search, data):
    X, y = data(rng)
    model = clone(search).fit(X, y)
    table = model.cp_table_
    best = np.flatnonzero(table["xerror"] <= table["xerror"].min() * (1 + 1e-9))[0]
    assert model.get_n_leaves() == table["n_splits"][best] + 1
    same = single(search).fit(X, y).prune(model.alpha_)
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    within = table["xerror"] <= table["xerror"][best] + table["xstd"][best]
    modest = clone(search).set_params(rule="1se").fit(X, y)
    assert modest.get_n_leaves() == table["n_splits"][np.flatnonzero(within)[0]] + 1
    assert modest.get_n_leaves() <= model.get_n_leaves()


@pytest.mark.parametrize(
    ("search", "data", "scoring"),
    [
        (DecisionTreeClassifierCV(), flowers, "balanced_accuracy"),
        (DecisionTreeClassifierCV(), flowers, "roc_auc_ovr"),
        (DecisionTreeRegressorCV(), numbers, "neg_mean_absolute_error"),
        (DecisionTreeRegressorCV(), numbers, get_scorer("r2")),
    ],
    ids=["balanced accuracy", "area under the curve", "absolute error", "a scorer"],
)
def test_scores_are_those_of_a_grid_search(rng, search, data, scoring):
    X, y = data(rng)
    search = clone(search).set_params(scoring=scoring, cv=3).fit(X, y)
    middles = search.ccp_path_.midpoints[1:-1]
    grid = GridSearchCV(single(search), {"ccp_alpha": middles}, scoring=scoring, cv=3).fit(X, y)
    np.testing.assert_allclose(
        search.cv_scores_[1:-1].mean(axis=1), grid.cv_results_["mean_test_score"], **ALGEBRA
    )
    assert search.best_score_ >= grid.best_score_ - 1e-9


def test_choice_is_that_of_scikit_learns_trees_in_a_grid_search(rng):
    # Leaves of several samples have no ties, which scikit-learn breaks at random.
    X, y = make_regression(300, 5, noise=20.0, random_state=0)
    X = np.round(X * 256) / 256
    ours = DecisionTreeRegressorCV(cv=5, min_samples_leaf=5, scoring="r2").fit(X, y)
    theirs = GridSearchCV(
        peer.DecisionTreeRegressor(min_samples_leaf=5, random_state=0),
        {"ccp_alpha": np.append(ours.ccp_path_.midpoints[:-1], 1e9)},
    ).fit(X, y)
    np.testing.assert_allclose(
        ours.cv_scores_.mean(axis=1), theirs.cv_results_["mean_test_score"], **ALGEBRA
    )
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, **ALGEBRA)


def test_score_without_a_scorer_is_the_mean_loss(rng):
    X, y = flowers(rng)
    model = DecisionTreeClassifierCV(cv=KFold(7)).fit(X, y)
    root = np.mean(y != model.prune(n_leaves=1).predict(X))
    np.testing.assert_allclose(
        -model.best_score_, model.cp_table_["xerror"].min() * root, **ALGEBRA
    )


def test_groups_stay_together(rng):
    X, y = numbers(rng)
    groups = rng.integers(0, 12, len(y))
    grouped = DecisionTreeRegressorCV(cv=GroupKFold(4)).fit(X, y, groups=groups)
    folds = list(GroupKFold(4).split(X, y, groups))
    by_hand = DecisionTreeRegressorCV(cv=folds).fit(X, y)
    np.testing.assert_array_equal(grouped.cp_table_, by_hand.cp_table_)
    with pytest.raises(ValueError, match="groups"):
        DecisionTreeRegressorCV(cv=GroupKFold(4)).fit(X, y)


def test_classes_are_stratified_by_default(rng):
    X, y = flowers(rng)
    shuffled = StratifiedKFold(5, shuffle=True, random_state=0)
    for cv, splitter in [(5, StratifiedKFold(5)), (None, shuffled)]:
        folds = list(splitter.split(X, y))
        found = DecisionTreeClassifierCV(cv=cv).fit(X, y).cp_table_
        np.testing.assert_array_equal(found, DecisionTreeClassifierCV(cv=folds).fit(X, y).cp_table_)


def test_default_folds_are_safe_on_sorted_rows(rng):
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + 0.5 * rng.normal(size=200)
    order = np.argsort(y)
    sorted_rows = DecisionTreeRegressorCV().fit(X[order], y[order])
    shuffled = DecisionTreeRegressorCV().fit(X, y)
    assert abs(sorted_rows.cp_table_["xerror"].min() - shuffled.cp_table_["xerror"].min()) < 0.1
    # Folds of neighbours ask each tree for targets that it has never seen.
    assert DecisionTreeRegressorCV(cv=5).fit(X[order], y[order]).cp_table_["xerror"].min() > 0.6


def test_default_folds_are_fewer_if_classes_are_small(rng):
    X = np.repeat(10 * rng.normal(size=(30, 2)), 3, axis=0) + rng.normal(size=(90, 2))
    model = DecisionTreeClassifierCV().fit(X, np.repeat(np.arange(30), 3))
    assert model.cv_scores_.shape[1] == 3
    assert DecisionTreeRegressorCV().fit(X[:3], X[:3, 0]).cv_scores_.shape[1] == 3


@pytest.mark.parametrize("scoring", [None, "accuracy"])
@pytest.mark.parametrize("rule", ["min", "1se"])
def test_folds_may_be_one_repeated_or_overlapping(rng, scoring, rule):
    X, y = flowers(rng)
    for cv in ([(np.arange(80), np.arange(80, 120))], RepeatedKFold(n_splits=3, n_repeats=2)):
        model = DecisionTreeClassifierCV(cv=cv, scoring=scoring, rule=rule).fit(X, y)
        assert np.isfinite(model.best_score_)


def test_training_rows_that_are_drawn_twice_count_twice(rng):
    X, y = numbers(rng)
    drawn = rng.integers(0, 90, 90)
    test = np.arange(90, 120)
    model = DecisionTreeRegressorCV(cv=[(drawn, test)]).fit(X, y)
    middle = model.ccp_path_.midpoints[3]
    refit = DecisionTreeRegressor(ccp_alpha=middle).fit(X[drawn], y[drawn])
    expected = np.mean((y[test] - refit.predict(X[test])) ** 2)
    np.testing.assert_allclose(-model.cv_scores_[3, 0], expected, **ALGEBRA)


def test_threads_do_not_change_the_search(rng):
    X, y = flowers(rng)
    tables = [DecisionTreeClassifierCV(n_jobs=n).fit(X, y).cp_table_ for n in (1, 2)]
    np.testing.assert_array_equal(*tables)


def test_costs_decide_labels_and_errors():
    X, y = load_breast_cancer(return_X_y=True)
    cost = np.array([[0.0, 5.0], [1.0, 0.0]])
    model = DecisionTreeClassifierCV(cost_matrix=cost, risk="misclassification").fit(X, y)
    plain = DecisionTreeClassifierCV(risk="misclassification").fit(X, y)
    shares = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict(X), np.argmin(shares @ cost, axis=1))
    # The risk of the root is the least cost of one answer for all.
    np.testing.assert_allclose(
        model.ccp_path_.risks[-1], (np.bincount(y) / len(y) @ cost).min(), **EXACT
    )
    mistakes = [np.sum((y == 0) & (m.predict(X) == 1)) for m in (model, plain)]
    assert mistakes[0] <= mistakes[1]


def test_priors_are_the_shares_of_the_root(rng):
    X, y = flowers(rng)
    model = DecisionTreeClassifier(priors=[0.2, 0.5, 0.3]).fit(X, y)
    np.testing.assert_allclose(model.tree_.value[0, 0], [0.2, 0.5, 0.3], **ALGEBRA)
    named = DecisionTreeClassifier(priors={0: 2, 1: 5, 2: 3}).fit(X, y)
    np.testing.assert_array_equal(named.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"priors": [0.5, 0.5]}, "3 positive"),
        ({"priors": [0.5, 0.5, 0.0]}, "3 positive"),
        ({"priors": {0: 1.0, 1: 1.0}}, "an entry for every class"),
        ({"priors": [0.2, 0.5, 0.3], "class_weight": "balanced"}, "cannot both be given"),
        ({"cost_matrix": [[0, 1], [1, 0]]}, r"\(3, 3\)"),
        ({"cost_matrix": np.ones((3, 3))}, "diagonal"),
        ({"cost_matrix": [[0, 1, 1], [0, 0, 0], [1, 1, 0]]}, "each row"),
        ({"cost_matrix": [[0, -1, 1], [1, 0, 1], [1, 1, 0]]}, "negative"),
    ],
)
def test_priors_and_costs_that_make_no_sense_are_an_error(rng, params, message):
    X, y = flowers(rng)
    with pytest.raises(ValueError, match=message):
        DecisionTreeClassifier(**params).fit(X, y)


def test_fold_without_weight_is_an_error(rng):
    X, y = flowers(rng)
    first = np.flatnonzero(y == 0)
    search = DecisionTreeClassifierCV(class_weight={0: 0, 1: 1, 2: 1}, cv=[(first, [5, 6])])
    with pytest.raises(ValueError, match="must have a positive weight"):
        search.fit(X, y)


def test_several_outputs_are_searched_together(rng):
    X, y = numbers(rng)
    model = DecisionTreeRegressorCV().fit(X, np.column_stack([y, -y]))
    alone = DecisionTreeRegressorCV().fit(X, y)
    np.testing.assert_allclose(model.cp_table_["xerror"], alone.cp_table_["xerror"], **ALGEBRA)
    np.testing.assert_allclose(model.predict(X)[:, 1], -alone.predict(X), **ALGEBRA)


def test_one_class_is_a_single_leaf(rng):
    X = rng.normal(size=(30, 2))
    model = DecisionTreeClassifierCV().fit(X, np.ones(30))
    assert model.get_n_leaves() == 1
    assert model.best_score_ == 0


def test_pruning_a_search_refers_to_the_whole_tree_and_its_scores():
    X, y = load_diabetes(return_X_y=True)
    model = DecisionTreeRegressorCV().fit(X, y)
    path = model.ccp_path_
    assert path.n_leaves[0] > model.get_n_leaves()
    k = 5
    other = model.prune(path.alphas[-k])
    assert other.get_n_leaves() == path.n_leaves[-k]
    assert other.alpha_ == path.alphas[-k]
    np.testing.assert_allclose(
        -other.best_score_ / path.risks[-1], model.cp_table_["xerror"][k - 1], **ALGEBRA
    )
    assert other.best_score_ < model.best_score_


@needs_callbacks
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_growth_that_a_callback_stops_is_a_smaller_tree(rng, n_jobs):
    X, y = rng.normal(size=(60_000, 20)), rng.integers(0, 2, 60_000)
    stopped = DecisionTreeClassifier(n_jobs=n_jobs).set_callbacks(Stop()).fit(X, y)
    whole = DecisionTreeClassifier(n_jobs=n_jobs).fit(X, y)
    assert 1 <= stopped.get_n_leaves() < whole.get_n_leaves()
    np.testing.assert_array_equal(np.bincount(stopped.apply(X)).sum(), len(y))
