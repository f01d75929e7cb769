"""Kernel ridge classifiers: regressions of the class indicators, in both the fit and the search."""

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

from sklearn_sl.kernel_ridge import (
    KernelRidge,
    KernelRidgeClassifier,
    KernelRidgeClassifierCV,
    KernelRidgeCV,
)
from sklearn_sl.kernels import Gaussian, Spectrum

ALPHAS = [0.01, 0.3, 5.0]
intercepts = pytest.mark.parametrize("fit_intercept", [False, True])
both = pytest.mark.parametrize("Model", [KernelRidgeClassifier, KernelRidgeClassifierCV])


def classification(rng, n=45, n_classes=3):
    X, X_test = rng.normal(size=(n, 3)), rng.normal(size=(25, 3))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=n), np.linspace(-0.7, 0.7, n_classes + 1)[1:-1])
    return X, np.array(["one", "two", "three", "four"])[y], X_test


# ---------------------------------------------------------------- two classes


@given(seed=st.integers(0, 2**32 - 1), fit_intercept=st.booleans())
def test_largest_of_two_indicators_is_the_sign_of_one_regression(seed, fit_intercept):
    rng = np.random.default_rng(seed)
    X, y, X_test = classification(rng, n_classes=2)
    weight = rng.uniform(0.1, 2, len(y))
    options = {"kernel": "rbf", "fit_intercept": fit_intercept}
    model = KernelRidgeClassifier(0.3, **options).fit(X, y, weight)
    indicators = (y[:, None] == model.classes_).astype(float)
    each = KernelRidge(0.3, **options).fit(X, indicators, weight).predict(X_test)
    scores = model.decision_function(X_test)
    # The target 1 and -1 is the difference of the indicators, and the model is linear in it.
    np.testing.assert_allclose(scores, each[:, 1] - each[:, 0], **ALGEBRA)
    np.testing.assert_array_equal(model.predict(X_test), model.classes_[each.argmax(axis=1)])
    np.testing.assert_array_equal(model.predict(X_test), model.classes_[(scores > 0).astype(int)])


@intercepts
def test_linear_kernel_is_scikit_learns_ridge_classifier(fit_intercept, rng):
    for n_classes in (2, 3):
        X, y, X_test = classification(rng, n_classes=n_classes)
        ours = KernelRidgeClassifier(0.3, fit_intercept=fit_intercept).fit(X, y)
        theirs = RidgeClassifier(0.3, fit_intercept=fit_intercept).fit(X, y)
        np.testing.assert_array_equal(ours.predict(X_test), theirs.predict(X_test))
    # scikit-learn regresses -1 and 1 for more classes too: twice the indicator, less one.
    if fit_intercept:
        twice = 2 * ours.decision_function(X_test) - 1
        np.testing.assert_allclose(twice, theirs.decision_function(X_test), **ALGEBRA)


# ---------------------------------------------------------------- more classes


@intercepts
@pytest.mark.parametrize("solver", ["auto", "cholesky", "nystrom"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_classifier_is_the_regression_of_indicators(fit_intercept, solver, kernel, rng):
    X, y, X_test = classification(rng, n_classes=4)
    options = {"kernel": kernel, "fit_intercept": fit_intercept, "solver": solver}
    model = KernelRidgeClassifier(0.3, random_state=0, **options).fit(X, y)
    targets = (y[:, None] == model.classes_).astype(float)
    regressor = KernelRidge(0.3, random_state=0, **options).fit(X, targets)
    scores = model.decision_function(X_test)
    assert scores.shape == (25, 4)
    np.testing.assert_allclose(scores, regressor.predict(X_test), **EXACT)
    np.testing.assert_array_equal(model.predict(X_test), model.classes_[scores.argmax(axis=1)])
    np.testing.assert_allclose(model.dof_, regressor.dof_, **EXACT)


def test_scores_of_all_classes_sum_to_one_with_an_intercept(rng):
    X, y, X_test = classification(rng)
    model = KernelRidgeClassifier(0.3, kernel="rbf").fit(X, y)
    np.testing.assert_allclose(model.decision_function(X_test).sum(axis=1), 1, **ALGEBRA)


def test_each_class_may_have_its_own_penalty(rng):
    X, y, X_test = classification(rng)
    model = KernelRidgeClassifier([0.1, 1, 10], kernel="rbf").fit(X, y)
    targets = (y[:, None] == model.classes_).astype(float)
    regressor = KernelRidge([0.1, 1, 10], kernel="rbf", fit_intercept=True).fit(X, targets)
    np.testing.assert_allclose(model.decision_function(X_test), regressor.predict(X_test), **EXACT)


@both
def test_names_of_the_classes_do_not_matter(Model, rng):
    X, y, X_test = classification(rng)
    names, codes = np.unique(y, return_inverse=True)
    by_name = Model(kernel="rbf").fit(X, y)
    for other in (codes, codes * 10 - 7, codes.astype(np.int8), list(y), y.astype(object)):
        model = Model(kernel="rbf").fit(X, other)
        np.testing.assert_array_equal(
            np.searchsorted(model.classes_, model.predict(X_test)),
            np.searchsorted(names, by_name.predict(X_test)),
        )
    assert by_name.predict(X_test).dtype == names.dtype
    logical = Model(kernel="rbf").fit(X, codes > 0)
    assert logical.predict(X_test).dtype == bool


@both
def test_swapped_classes_change_the_sign(Model, rng):
    X, y, X_test = classification(rng, n_classes=2)
    first = Model(kernel="rbf").fit(X, y == "one")
    second = Model(kernel="rbf").fit(X, y != "one")
    np.testing.assert_allclose(
        first.decision_function(X_test), -second.decision_function(X_test), **ALGEBRA
    )


# ---------------------------------------------------------------- weights


@both
@pytest.mark.parametrize("n_classes", [2, 3])
def test_class_weights_are_sample_weights(Model, n_classes, rng):
    X, y, X_test = classification(rng, n_classes=n_classes)
    class_weight = {"one": 0.2, "two": 3.0}
    weight = rng.uniform(0.1, 2, len(y))
    for own in (None, weight):
        by_class = Model(kernel="rbf", class_weight=class_weight).fit(X, y, own)
        factors = compute_sample_weight(class_weight, y) * (1 if own is None else own)
        model = KernelRidgeClassifier(getattr(by_class, "alpha_", 1), kernel="rbf").fit(
            X, y, factors
        )
        np.testing.assert_allclose(
            by_class.decision_function(X_test), model.decision_function(X_test), **ALGEBRA
        )


def test_balanced_is_scikit_learns_balance(rng):
    X, y, X_test = classification(rng)
    balanced = KernelRidgeClassifier(kernel="rbf", class_weight="balanced").fit(X, y)
    weight = compute_sample_weight("balanced", y)
    by_hand = KernelRidgeClassifier(kernel="rbf").fit(X, y, weight)
    np.testing.assert_allclose(
        balanced.decision_function(X_test), by_hand.decision_function(X_test), **EXACT
    )


@given(seed=st.integers(0, 2**32 - 1))
def test_balanced_weights_are_those_of_repeated_rows(seed):
    rng = np.random.default_rng(seed)
    X, y, X_test = classification(rng)
    times = rng.integers(0, 4, len(y))
    times[[np.flatnonzero(y == name)[0] for name in np.unique(y)]] = 1
    model = KernelRidgeClassifier(kernel="rbf", class_weight="balanced")
    weighted = model.fit(X, y, times).decision_function(X_test)
    repeated = model.fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted, repeated.decision_function(X_test), **ALGEBRA)


@both
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_class_without_weight_is_not_there(Model, class_weight, rng):
    X, y, X_test = classification(rng)
    weight = np.where(y == "two", 0.0, rng.uniform(0.5, 2, len(y)))
    model = Model(kernel="rbf", class_weight=class_weight).fit(X, y, weight)
    kept = y != "two"
    without = Model(kernel="rbf", class_weight=class_weight).fit(X[kept], y[kept], weight[kept])
    np.testing.assert_array_equal(model.classes_, ["one", "three"])
    np.testing.assert_allclose(
        model.decision_function(X_test), without.decision_function(X_test), **ALGEBRA
    )


@both
def test_class_of_weight_zero_is_not_there(Model, rng):
    X, y, X_test = classification(rng)
    model = Model(kernel="rbf", class_weight={"two": 0.0}).fit(X, y)
    assert "two" not in model.predict(X_test)


@both
def test_one_class_is_an_error(Model, rng):
    X, y, _ = classification(rng)
    with pytest.raises(ValueError, match="at least 2 classes"):
        Model().fit(X, np.full(len(y), "one"))
    with pytest.raises(ValueError, match="at least 2 classes"):
        Model().fit(X, y, (y == "one").astype(float))


@both
def test_numbers_are_no_classes(Model, rng):
    X, y, _ = classification(rng)
    with pytest.raises(ValueError, match="label type"):
        Model().fit(X, rng.normal(size=len(y)))


# ---------------------------------------------------------------- the search


@intercepts
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_left_out_decisions_are_those_of_refits(fit_intercept, n_classes, weighted, rng):
    X, y, _ = classification(rng, n=25, n_classes=n_classes)
    weight = rng.uniform(0.1, 2, len(y)) if weighted else None
    options = {"kernel": "rbf", "fit_intercept": fit_intercept}
    model = KernelRidgeClassifierCV([0.3], **options).fit(X, y, weight)

    def refit(i):
        rest = np.arange(len(y)) != i
        own = None if weight is None else weight[rest]
        fitted = KernelRidgeClassifier(0.3, **options).fit(X[rest], y[rest], own)
        assert len(fitted.classes_) == n_classes
        return fitted.decision_function(X[[i]])[0]

    refits = np.array([refit(i) for i in range(len(y))])
    np.testing.assert_allclose(model.loo_predictions_, refits, rtol=1e-8, atol=1e-8)
    winners = refits > 0 if n_classes == 2 else refits.argmax(axis=1)
    accuracy = accuracy_score(y, model.classes_[winners.astype(int)], sample_weight=weight)
    np.testing.assert_allclose(model.best_score_, accuracy, **EXACT)


@pytest.mark.parametrize("scoring", [None, "accuracy", "balanced_accuracy", "f1_macro"])
@pytest.mark.parametrize("cv", [3, StratifiedKFold(4, shuffle=True, random_state=0)])
def test_scores_of_folds_are_those_of_a_grid_search(scoring, cv, rng):
    X, y, X_test = classification(rng)
    model = KernelRidgeClassifierCV(ALPHAS, kernel="rbf", cv=cv, scoring=scoring).fit(X, y)
    search = GridSearchCV(
        KernelRidgeClassifier(kernel="rbf"), {"alpha": ALPHAS}, cv=cv, scoring=scoring
    ).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    np.testing.assert_allclose(model.score_path_[0], scores, **ALGEBRA)
    assert model.alpha_ == search.best_params_["alpha"]
    np.testing.assert_array_equal(model.predict(X_test), search.predict(X_test))


def test_area_under_the_curve_is_of_left_out_decisions(rng):
    X, y, _ = classification(rng, n_classes=2)
    model = KernelRidgeClassifierCV(ALPHAS, kernel="rbf", scoring="roc_auc").fit(X, y)
    area = roc_auc_score(y, model.loo_predictions_)
    np.testing.assert_allclose(model.best_score_, area, **EXACT)
    folds = KernelRidgeClassifierCV(ALPHAS, kernel="rbf", scoring="roc_auc", cv=3).fit(X, y)
    search = GridSearchCV(
        KernelRidgeClassifier(kernel="rbf"), {"alpha": ALPHAS}, cv=3, scoring="roc_auc"
    ).fit(X, y)
    np.testing.assert_allclose(
        folds.score_path_[0], search.cv_results_["mean_test_score"], **ALGEBRA
    )


def test_class_weights_are_not_in_the_score(rng):
    X, y, _ = classification(rng)
    model = KernelRidgeClassifierCV(
        ALPHAS, kernel="rbf", class_weight="balanced", scoring="balanced_accuracy"
    ).fit(X, y)
    winners = model.classes_[model.loo_predictions_.argmax(axis=1)]
    np.testing.assert_allclose(model.best_score_, balanced_accuracy_score(y, winners), **EXACT)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_chosen_classifier_is_the_fit_of_its_parameters(n_classes, rng):
    X, y, X_test = classification(rng, n_classes=n_classes)
    weight = rng.uniform(0.1, 2, len(y))
    grid = {"gamma": [0.1, 1.0]}
    model = KernelRidgeClassifierCV(ALPHAS, kernel="rbf", kernel_grid=grid).fit(X, y, weight)
    refit = KernelRidgeClassifier(model.alpha_, kernel="rbf", **model.best_kernel_params_)
    refit.fit(X, y, weight)
    np.testing.assert_allclose(model.dual_coef_, refit.dual_coef_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(
        model.decision_function(X_test), refit.decision_function(X_test), rtol=1e-8, atol=1e-8
    )
    np.testing.assert_array_equal(model.predict(X_test), refit.predict(X_test))


def test_search_of_a_classifier_is_that_of_its_regression(rng):
    X, y, _ = classification(rng, n_classes=2)
    model = KernelRidgeClassifierCV([0.3], kernel="rbf").fit(X, y)
    regressor = KernelRidgeCV([0.3], kernel="rbf", fit_intercept=True)
    regressor.fit(X, np.where(y == model.classes_[1], 1.0, -1.0))
    np.testing.assert_allclose(model.loo_predictions_, regressor.loo_predictions_, **EXACT)


def test_generalised_score_is_for_regression(rng):
    X, y, _ = classification(rng)
    with pytest.raises(ValueError, match="cv"):
        KernelRidgeClassifierCV(cv="gcv").fit(X, y)


# ---------------------------------------------------------------- at home in scikit-learn


def test_grid_search_and_pipeline(rng):
    X, y, X_test = classification(rng)
    pipeline = make_pipeline(StandardScaler(), KernelRidgeClassifier(kernel=Gaussian()))
    grid = {"kernelridgeclassifier__kernel__gamma": [0.1, 1.0]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert set(search.predict(X_test)) <= set(y)
    assert search.best_score_ > 0.6


@both
def test_strings_are_classified(Model):
    words = ["aab", "aba", "baa", "aaa", "ccd", "cdc", "dcc", "ccc"]
    y = np.repeat(["ab", "cd"], 4)
    model = Model(kernel=Spectrum(p=1)).fit(words, y)
    np.testing.assert_array_equal(model.predict(["abab", "dcdc"]), ["ab", "cd"])
