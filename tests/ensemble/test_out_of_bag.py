"""Out of bag: answers equal to a slow loop, scores near cross-validation, sizes, importances."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import EXACT
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_friedman1
from sklearn.ensemble import RandomForestClassifier as PeerForest
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    log_loss,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
)
from sklearn.model_selection import KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier

from sklearn_sl.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn_sl.theory import bootstrap_absence

IRIS = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)

CLASSIFIERS = [
    RandomForestClassifier(30, max_depth=4),
    RandomForestClassifier(30, max_depth=4, voting="vote"),
    RandomForestClassifier(30, class_weight="balanced_subsample"),
    BaggingClassifier(n_estimators=30, max_features=0.5),
    BaggingClassifier(GaussianNB(), n_estimators=30, max_features=0.5),
    BaggingClassifier(KNeighborsClassifier(), n_estimators=30, voting="vote"),
    BaggingClassifier(n_estimators=30, bootstrap=False, max_samples=0.5),
]
REGRESSORS = [
    RandomForestRegressor(30),
    BaggingRegressor(n_estimators=30, max_samples=0.5),
    BaggingRegressor(Ridge(), n_estimators=30, max_features=0.5),
]


def columns_of(model):
    """Return the features of each member."""
    every = [np.arange(model.n_features_in_)] * len(model)
    return getattr(model, "estimators_features_", every)


def slow_sums(model, X, y, answer):
    """Yield the mean answers of the first members to the rows that they did not draw."""
    total, n_answers = 0, np.zeros(len(y))
    drawn = zip(model, model.estimators_samples_, columns_of(model), strict=True)
    for member, rows, columns in drawn:
        out = ~np.isin(np.arange(len(y)), rows)
        answers = answer(member, X[:, columns])
        total = total + np.where(out[:, None], answers, 0)
        n_answers += out
        yield total / np.where(n_answers > 0, n_answers, np.nan)[:, None]


def shares(voting, n_classes):
    """Return what gives the answers of a classifier."""

    def answer(member, X):
        if voting == "vote":
            return np.eye(n_classes)[member.predict(X)]
        return member.predict_proba(X)

    return answer


# ---------------------------------------------------------------- answers and scores


@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_answers_and_curve_of_classifiers_equal_a_slow_loop(model):
    X, y = IRIS
    model = clone(model).set_params(oob_score=True, random_state=0).fit(X, y)
    means = list(slow_sums(model, X, y, shares(model.voting, 3)))
    np.testing.assert_allclose(model.oob_decision_function_, means[-1], **EXACT)
    assert model.oob_score_ == accuracy_score(y, means[-1].argmax(axis=1))
    for t in (1, 2, 5, 30):
        known = ~np.isnan(means[t - 1][:, 0])
        wrong = means[t - 1][known].argmax(axis=1) != y[known]
        curve = {name: values[t - 1] for name, values in model.oob_curve_.items()}
        assert curve["n_estimators"] == t
        np.testing.assert_allclose(curve["loss"], wrong.mean(), **EXACT)
        np.testing.assert_allclose(
            curve["standard_error"], wrong.std() / np.sqrt(known.sum()), **EXACT
        )
        np.testing.assert_allclose(curve["coverage"], known.mean(), **EXACT)


@pytest.mark.parametrize("model", REGRESSORS, ids=str)
def test_answers_and_curve_of_regressors_equal_a_slow_loop(model):
    X, y = DIABETES
    model = clone(model).set_params(oob_score=True, random_state=0).fit(X, y)
    means = list(slow_sums(model, X, y, lambda member, Z: member.predict(Z)[:, None]))
    np.testing.assert_allclose(model.oob_prediction_, means[-1][:, 0], **EXACT)
    np.testing.assert_allclose(model.oob_score_, r2_score(y, means[-1][:, 0]), **EXACT)
    np.testing.assert_allclose(
        model.oob_curve_.loss,
        [np.nanmean((mean[:, 0] - y) ** 2) for mean in means],
        **EXACT,
    )


def test_coverage_is_that_of_the_theorem(rng):
    X, y = rng.normal(size=(400, 2)), rng.integers(0, 2, 400)
    model = RandomForestClassifier(200, max_depth=1, oob_score=True, random_state=0).fit(X, y)
    absent = bootstrap_absence(400)
    wanted = 1 - (1 - absent) ** np.arange(1, 201)
    np.testing.assert_allclose(model.oob_curve_.coverage, wanted, atol=0.06)


def test_weights_are_repetitions_out_of_bag_too(rng):
    X, y = IRIS
    times = rng.integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    model = RandomForestClassifier(200, oob_score=True, random_state=0)
    weighted = clone(model).fit(X, y, sample_weight=times)
    repeated = clone(model).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.oob_score_, repeated.oob_score_, **EXACT)
    for name in ("loss", "standard_error", "coverage"):
        np.testing.assert_allclose(weighted.oob_curve_[name], repeated.oob_curve_[name], **EXACT)
    # The answer to a row is the mean over its copies, some of which may have none.
    shares = repeated.oob_decision_function_
    for row in np.flatnonzero(times):
        wanted = shares[(X[rows] == X[row]).all(axis=1)].mean(axis=0)
        equal = np.flatnonzero((X == X[row]).all(axis=1) & (times > 0))
        found = np.average(weighted.oob_decision_function_[equal], axis=0, weights=times[equal])
        np.testing.assert_allclose(found, wanted, **EXACT)
    assert np.isnan(weighted.oob_decision_function_[times == 0]).all()


def test_unit_of_the_weights_does_not_matter(rng):
    X, y = IRIS
    weight = rng.uniform(0.5, 2, len(y))
    model = RandomForestClassifier(40, oob_score=True, random_state=0)
    first = clone(model).fit(X, y, sample_weight=weight).oob_curve_
    second = clone(model).fit(X, y, sample_weight=weight / 1024).oob_curve_
    for name in first:
        np.testing.assert_allclose(first[name], second[name], **EXACT)


def test_nobody_can_predict_a_coin(rng):
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 2, 300)
    for model in (RandomForestClassifier(150), BaggingClassifier(n_estimators=150)):
        model.set_params(oob_score=True, random_state=0).fit(X, y)
        # 300 different coins, though correlated by the trees
        assert abs(model.oob_score_ - 0.5) < 4 * 0.5 / np.sqrt(300)


# ---------------------------------------------------------------- rows that repeat


def survivors():
    """Return class, sex and age of all aboard the Titanic, whether they survived, and how many.

    These are the 24 cells of R's table ``Titanic`` that are not empty.
    """
    cells = [
        # class (crew is 4), woman, child, survived, count
        *[(1, 0, 1, 1, 5), (2, 0, 1, 1, 11), (3, 0, 1, 0, 35), (3, 0, 1, 1, 13)],
        *[(1, 1, 1, 1, 1), (2, 1, 1, 1, 13), (3, 1, 1, 0, 17), (3, 1, 1, 1, 14)],
        *[(1, 0, 0, 0, 118), (1, 0, 0, 1, 57), (2, 0, 0, 0, 154), (2, 0, 0, 1, 14)],
        *[(3, 0, 0, 0, 387), (3, 0, 0, 1, 75), (4, 0, 0, 0, 670), (4, 0, 0, 1, 192)],
        *[(1, 1, 0, 0, 4), (1, 1, 0, 1, 140), (2, 1, 0, 0, 13), (2, 1, 0, 1, 80)],
        *[(3, 1, 0, 0, 89), (3, 1, 0, 1, 76), (4, 1, 0, 0, 3), (4, 1, 0, 1, 20)],
    ]
    table = np.array(cells)
    assert table[:, -1].sum() == 2201
    return table[:, :3].astype(float), table[:, 3], table[:, 4]


def coarse(rng, n=1500):
    """Return samples of few distinct values, a probability for each, and outcomes."""
    X = rng.integers(0, 4, (n, 3)).astype(float)
    p = 1 / (1 + np.exp(-1.2 * (X @ [1, -1, 0.5] - 0.5)))
    return X, p, rng.random(n) < p


def shuffled_score(model, X, y, **how):
    """Return the mean score of cross-validation with shuffled folds."""
    cv = KFold(5, shuffle=True, random_state=0)
    return cross_val_score(clone(model).set_params(oob_score=False), X, y, cv=cv, **how).mean()


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(50),
        RandomForestClassifier(50, max_samples=0.5),
        RandomForestClassifier(50, bootstrap=False, max_samples=0.6),
        BaggingClassifier(n_estimators=50),
        BaggingClassifier(GaussianNB(), n_estimators=30),
        BaggingClassifier(KNeighborsClassifier(30), n_estimators=30),
    ],
    ids=str,
)
def test_score_of_classifiers_is_near_cross_validation_though_rows_repeat(rng, model):
    X, _, y = coarse(rng)
    model = clone(model).set_params(random_state=0, oob_score=True).fit(X, y)
    assert abs(model.oob_score_ - shuffled_score(model, X, y)) < 0.03
    np.testing.assert_allclose(model.oob_curve_.loss[-1], 1 - model.oob_score_, **EXACT)


@pytest.mark.parametrize(
    "model", [RandomForestRegressor(50), BaggingRegressor(n_estimators=50)], ids=str
)
def test_score_of_regressors_is_near_cross_validation_though_rows_repeat(rng, model):
    X, p, _ = coarse(rng)
    y = (p + rng.normal(size=len(p)) / 3).round(1)
    model = clone(model).set_params(random_state=0, oob_score=True).fit(X, y)
    assert abs(model.oob_score_ - shuffled_score(model, X, y)) < 0.03
    # The noise has variance 1/9, and there are some 23 rows in each of 64 cells.
    np.testing.assert_allclose(model.oob_curve_.loss[-1], 1 / 9, rtol=0.1)


def test_probabilities_out_of_bag_are_calibrated_though_rows_repeat(rng):
    X, p, y = coarse(rng, 3000)
    model = RandomForestClassifier(100, oob_score="neg_log_loss", random_state=0).fit(X, y)
    assert np.mean((model.oob_decision_function_[:, 1] - p) ** 2) < 0.005
    found = shuffled_score(model, X, y, scoring="neg_log_loss")
    assert abs(model.oob_score_ - found) < 0.02


def test_survivors_of_the_titanic_as_people_and_as_a_table_of_counts():
    cells, survived, count = survivors()
    X, y = np.repeat(cells, count, axis=0), np.repeat(survived, count)
    model = RandomForestClassifier(100, oob_score=True, random_state=0)
    people, table = clone(model).fit(X, y), clone(model).fit(cells, survived, sample_weight=count)
    assert abs(people.oob_score_ - PeerForest(100, oob_score=True).fit(X, y).oob_score_) < 0.01
    assert abs(people.oob_score_ - shuffled_score(model, X, y)) < 0.01
    np.testing.assert_allclose(table.oob_score_, people.oob_score_, **EXACT)
    np.testing.assert_array_equal(table.predict_proba(cells), people.predict_proba(cells))
    chosen = people.choose_n_estimators()
    assert people.oob_curve_.loss[chosen - 1] < 0.24  # all perish: 0.32


def test_importance_is_that_on_new_rows_though_rows_repeat(rng):
    X, _, y = coarse(rng, 3000)
    model = RandomForestClassifier(100, oob_score=True, random_state=0).fit(X[:1500], y[:1500])
    found = model.oob_permutation_importance(X[:1500], y[:1500], random_state=0)
    wanted = [
        permutation_importance(tree, X[1500:], y[1500:].astype(int), random_state=0)
        for tree in model.estimators_[:30]
    ]
    wanted = np.mean([tree.importances_mean for tree in wanted], axis=0)
    np.testing.assert_allclose(found.importances_mean, wanted, atol=0.03)
    assert wanted.min() > 0.02


# ---------------------------------------------------------------- groups


@pytest.mark.parametrize("model", [RandomForestClassifier(150), BaggingClassifier()], ids=str)
def test_groups_keep_copies_out_of_a_bag_together(rng, model):
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 2, 300)
    rows = rng.permutation(np.repeat(np.arange(300), 3))
    X, y = X[rows], y[rows]
    model.set_params(n_estimators=150, oob_score=True, random_state=0)
    assert model.fit(X, y).oob_score_ > 0.95  # a member has seen copies of what it is asked
    by_group = model.fit(X, y, oob_groups=rows)
    assert abs(by_group.oob_score_ - 0.5) < 4 * 0.5 / np.sqrt(300)
    answers = by_group.oob_decision_function_
    np.testing.assert_array_equal(
        model.fit(X, y, oob_groups="duplicates").oob_decision_function_, answers
    )
    names = np.char.add("patient ", rows.astype(str))
    by_name = model.fit(X, y, oob_groups=names).oob_decision_function_
    np.testing.assert_array_equal(by_name, answers)


def test_duplicates_are_equal_features_whatever_the_target(rng):
    X, y = np.repeat(rng.normal(size=(100, 3)), 2, axis=0), np.tile([0, 1], 100)
    model = RandomForestClassifier(100, oob_score=True, random_state=0)
    # If one of two rows of equal features but other classes is in the bag, the other is wrong.
    assert model.fit(X, y).oob_score_ < 0.1
    assert 0.3 < model.fit(X, y, oob_groups="duplicates").oob_score_ < 0.7


def test_importance_takes_groups(rng):
    X, y = rng.normal(size=(100, 3)), rng.integers(0, 2, 100)
    rows = np.repeat(np.arange(100), 3)
    model = RandomForestClassifier(100, random_state=0).fit(X[rows], y[rows])
    alone = model.oob_permutation_importance(X[rows], y[rows], random_state=0)
    together = model.oob_permutation_importance(X[rows], y[rows], oob_groups=rows, random_state=0)
    assert alone.importances_mean.min() > 0.15
    assert np.abs(together.importances_mean).max() < 0.06


def test_groups_without_weight_and_in_any_order(rng):
    X, y = IRIS
    groups, weight = np.arange(150) // 2, rng.integers(0, 3, 150)
    model = RandomForestClassifier(60, max_samples=0.4, oob_score=True, random_state=0)
    first = clone(model).fit(X, y, sample_weight=weight, oob_groups=groups)
    rows = np.flatnonzero(weight)[::-1]
    second = clone(model).fit(X[rows], y[rows], sample_weight=weight[rows], oob_groups=groups[rows])
    np.testing.assert_allclose(first.oob_score_, second.oob_score_, **EXACT)
    np.testing.assert_allclose(
        first.oob_decision_function_[rows], second.oob_decision_function_, **EXACT
    )


def test_groups_are_validated():
    X, y = IRIS
    model = RandomForestClassifier(5)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y, oob_groups=np.arange(10))
    with pytest.raises(ValueError, match='an array or "duplicates"'):
        model.fit(X, y, oob_groups="copies")


def test_too_many_copies_are_refused_before_anything_is_fitted():
    X, y = IRIS
    model = RandomForestClassifier(10**6, oob_score=True)
    with pytest.raises(ValueError, match="got 150000000"):
        model.fit(X, y, sample_weight=np.full(150, 10**6))
    assert not hasattr(model, "estimators_")


# ---------------------------------------------------------------- scores


def test_score_may_be_a_metric_of_labels():
    X, y = IRIS
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = RandomForestClassifier(40, oob_score=balanced_accuracy_score, random_state=0)
    model.fit(X, names)
    labels = model.classes_[model.oob_decision_function_.argmax(axis=1)]
    assert model.oob_score_ == balanced_accuracy_score(names, labels)
    X, y = DIABETES
    model = BaggingRegressor(n_estimators=40, oob_score=mean_absolute_error, random_state=0)
    model.fit(X, y)
    expected = mean_absolute_error(y, model.oob_prediction_)
    np.testing.assert_allclose(model.oob_score_, expected, **EXACT)


def test_score_may_be_the_name_of_a_scorer(rng):
    X, y = CANCER
    weight = rng.uniform(0.5, 2, len(y))
    names = np.array(["malignant", "benign"])[y]
    how = {"n_estimators": 40, "random_state": 0}
    model = RandomForestClassifier(oob_score="roc_auc", **how).fit(X, names, sample_weight=weight)
    second = names == model.classes_[1]
    shares = model.oob_decision_function_
    np.testing.assert_allclose(
        model.oob_score_, roc_auc_score(second, shares[:, 1], sample_weight=weight), **EXACT
    )
    model = BaggingClassifier(LogisticRegression(C=0.01, max_iter=10_000), **how)
    model.set_params(oob_score="neg_log_loss").fit(X / X.std(axis=0), y)
    np.testing.assert_allclose(
        model.oob_score_, -log_loss(y, model.oob_decision_function_), **EXACT
    )
    X, y = DIABETES
    model = RandomForestRegressor(oob_score="neg_mean_absolute_error", **how).fit(X, y)
    expected = -mean_absolute_error(y, model.oob_prediction_)
    np.testing.assert_allclose(model.oob_score_, expected, **EXACT)
    with pytest.raises(ValueError, match="oob_score"):
        RandomForestRegressor(oob_score="no such score").fit(X, y)


def test_rows_that_are_never_out_of_bag_are_left_out():
    X, y = IRIS
    model = RandomForestClassifier(3, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="do not have OOB scores"):
        model.fit(X, y)
    known = ~np.isnan(model.oob_decision_function_[:, 0])
    assert 0 < known.sum() < len(y)
    assert model.oob_score_ == accuracy_score(
        y[known], model.oob_decision_function_[known].argmax(axis=1)
    )


def test_no_row_out_of_bag_is_no_score():
    with pytest.warns(UserWarning, match="do not have OOB scores"):
        model = BaggingRegressor(n_estimators=2, max_samples=1000, oob_score=True)
        model.fit(np.arange(9)[:, None], np.arange(9))
    assert np.isnan(model.oob_score_)
    with pytest.raises(ValueError, match="no row is out of bag"):
        model.choose_n_estimators()


def test_out_of_bag_needs_rows_that_were_left_out():
    X, y = IRIS
    for model in (RandomForestClassifier(), BaggingClassifier()):
        with pytest.raises(ValueError, match="bootstrap=True"):
            model.set_params(bootstrap=False, oob_score=True).fit(X, y)


def test_several_labels():
    X, y = IRIS
    Y = np.eye(3, dtype=int)[y]
    model = RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, Y)
    assert model.oob_decision_function_.shape == (150, 2, 3)
    predictions = model.oob_decision_function_.argmax(axis=1)
    assert model.oob_score_ == accuracy_score(Y, predictions)
    np.testing.assert_allclose(model.oob_curve_.loss[-1], np.mean(predictions != Y), **EXACT)


def test_several_classes_need_a_metric():
    X, y = IRIS
    Y = np.column_stack([y, X[:, 0] > 5.8])
    with pytest.raises(ValueError, match="type of target"):
        RandomForestClassifier(40, oob_score=True).fit(X, Y)

    def share(truth, prediction):
        return np.mean(truth == prediction)

    model = RandomForestClassifier(40, oob_score=share, random_state=0).fit(X, Y)
    assert [part.shape for part in model.oob_decision_function_] == [(150, 3), (150, 2)]
    assert model.oob_score_ > 0.9


def test_several_targets():
    X, y = DIABETES
    Y = np.column_stack([y, X[:, 2]])
    for model in (RandomForestRegressor(40), BaggingRegressor(n_estimators=40)):
        model.set_params(oob_score=True, random_state=0).fit(X, Y)
        assert model.oob_prediction_.shape == Y.shape
        np.testing.assert_allclose(model.oob_score_, r2_score(Y, model.oob_prediction_), **EXACT)


def test_refit_without_score_forgets_it():
    X, y = IRIS
    model = RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, y)
    model.set_params(oob_score=False).fit(X, y)
    for name in ("oob_score_", "oob_curve_", "oob_decision_function_"):
        assert not hasattr(model, name)


# ---------------------------------------------------------------- how many members


def test_choice_of_the_number_of_members():
    X, y = CANCER
    model = RandomForestClassifier(100, oob_score=True, random_state=0).fit(X, y)
    curve = model.oob_curve_
    least = model.choose_n_estimators(rule="min")
    assert least == curve.n_estimators[np.argmin(curve.loss)]
    limit = curve.loss[least - 1] + curve.standard_error[least - 1]
    chosen = model.choose_n_estimators()
    assert chosen <= least
    assert curve.loss[chosen - 1] <= limit
    assert np.all(curve.loss[: chosen - 1] > limit)
    with pytest.raises(ValueError, match="rule"):
        model.choose_n_estimators(rule="best")
    with pytest.raises(ValueError, match="oob_score"):
        clone(model).set_params(oob_score=False).fit(X, y).choose_n_estimators()


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(40),
        BaggingClassifier(n_estimators=40, max_features=0.5),
        BaggingClassifier(GaussianNB(), n_estimators=40, max_features=0.5),
    ],
    ids=str,
)
def test_truncated_ensemble_is_that_of_the_first_members(model):
    X, y = IRIS
    model = clone(model).set_params(oob_score=True, random_state=0).fit(X, y)
    before = model.predict_proba(X)
    short = model.truncate(33)
    fresh = clone(model).set_params(n_estimators=33).fit(X, y)
    np.testing.assert_array_equal(short.predict_proba(X), fresh.predict_proba(X))
    np.testing.assert_array_equal(short.oob_curve_.loss, fresh.oob_curve_.loss)
    assert len(short) == short.n_estimators == len(short.estimators_samples_) == 33
    assert not hasattr(short, "oob_score_")
    assert all(a is b for a, b in zip(short, model, strict=False))
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert len(model) == 40 and model.truncate(40).oob_score_ == model.oob_score_
    grown = short.set_params(n_estimators=40, warm_start=True).fit(X, y)
    np.testing.assert_array_equal(grown.predict_proba(X), before)
    for wrong in (0, 41, 2.5):
        with pytest.raises(ValueError, match="n_estimators"):
            model.truncate(wrong)


# ---------------------------------------------------------------- permutation importance


def test_importance_finds_what_matters_and_ignores_noise_of_many_values(rng):
    n = 400
    signal = rng.integers(0, 2, n)
    X = np.column_stack([signal, rng.normal(size=n), rng.integers(0, 2, n)])
    y = np.where(rng.uniform(size=n) < 0.2, 1 - signal, signal)
    model = RandomForestClassifier(100, max_features=None, random_state=0).fit(X, y)
    found = model.oob_permutation_importance(X, y, random_state=0)
    assert found.importances.shape == (3, 100)
    np.testing.assert_allclose(found.importances_mean, found.importances.mean(axis=1), **EXACT)
    np.testing.assert_allclose(found.importances_std, found.importances.std(axis=1), **EXACT)
    assert found.importances_mean[0] > 0.15
    assert np.all(np.abs(found.importances_mean[1:]) < 0.04)
    assert model.feature_importances_[1] > 0.25  # which the impurity takes for a signal


def test_importance_is_the_increase_of_the_loss_of_each_member():
    X, y = make_friedman1(200, random_state=0)
    model = BaggingRegressor(n_estimators=5, random_state=0).fit(X, y)
    found = model.oob_permutation_importance(X, y, random_state=0)
    wanted = np.empty((10, 5))
    base = np.random.RandomState(0).randint(np.iinfo(np.int32).max)
    for number, (member, rows) in enumerate(zip(model, model.estimators_samples_, strict=True)):
        order = model._resamplings[0].order
        out = order[~np.isin(order, rows)]
        permutation = np.random.default_rng([base, number]).permutation(len(out))
        before = np.mean((member.predict(X[out]) - y[out]) ** 2)
        for feature in range(10):
            Z = X[out].copy()
            Z[:, feature] = Z[permutation, feature]
            wanted[feature, number] = np.mean((member.predict(Z) - y[out]) ** 2) - before
    np.testing.assert_allclose(found.importances, wanted, **EXACT)


def test_importance_does_not_depend_on_the_order_of_the_rows(rng):
    X, y = IRIS
    model = RandomForestClassifier(20, random_state=0).fit(X, y)
    rows = rng.permutation(len(y))
    first = model.oob_permutation_importance(X, y, random_state=0, n_repeats=3)
    second = model.oob_permutation_importance(X[rows], y[rows], random_state=0, n_repeats=3)
    np.testing.assert_allclose(first.importances, second.importances, **EXACT)


def test_features_that_no_split_uses_have_no_importance(rng):
    X, y = IRIS
    X = np.column_stack([X, np.ones(len(X))])
    model = RandomForestClassifier(10, random_state=0, max_depth=2).fit(X, y)
    found = model.oob_permutation_importance(X, y, random_state=0).importances
    for number, tree in enumerate(model):
        unused = np.setdiff1d(np.arange(5), tree.tree_.feature)
        assert np.all(found[unused, number] == 0)
    assert np.all(found[4] == 0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_importance_for_members_of_any_kind(form):
    X, y = IRIS
    model = BaggingClassifier(MultinomialNB(), n_estimators=10, max_features=2, random_state=0)
    model.fit(form(X), y, sample_weight=np.arange(150) % 3)
    found = model.oob_permutation_importance(
        form(X), y, sample_weight=np.arange(150) % 3, random_state=0
    )
    for number, columns in enumerate(model.estimators_features_):
        unused = np.setdiff1d(np.arange(4), columns)
        assert np.all(found.importances[unused, number] == 0)
    assert found.importances_mean[2:].min() > found.importances_mean[:2].max()


def test_importance_needs_the_training_set():
    X, y = IRIS
    model = RandomForestClassifier(10, random_state=0).fit(X, y)
    wrong = X.copy()
    wrong[17, 2] += 1e-9
    others = [(wrong, y, None), (X[1:], y[1:], None), (X, y[::-1], None)]
    others.append((X, y, np.arange(150) % 2 + 1))
    others.append((X, y + 5, None))
    for samples, targets, weight in others:
        with pytest.raises(ValueError, match="must be those of fit"):
            model.oob_permutation_importance(samples, targets, weight)
    with pytest.raises(ValueError, match="n_repeats"):
        model.oob_permutation_importance(X, y, n_repeats=0)
    model = RandomForestClassifier(10, bootstrap=False).fit(X, y)
    with pytest.raises(ValueError, match="needs rows out of bag"):
        model.oob_permutation_importance(X, y)
