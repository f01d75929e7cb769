"""SVC and SVR are scikit-learn's: the same parameters, attributes, layouts and results."""

import inspect

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT, SINGLE, without_addresses
from sklearn import svm as neighbour
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_sl.kernels import Gaussian, Linear
from sklearn_sl.svm import SVC, SVR

TOL = 1e-6
# scikit-learn keeps kernel values in single precision, so its answer is exact to no more digits.
NEIGHBOUR = {"rtol": 1e-4, "atol": 1e-4}
KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.3},
    {"kernel": "poly"},
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": "auto"},
    {"kernel": "rbf", "gamma": 0.2},
    {"kernel": "sigmoid", "gamma": 0.02, "coef0": 0.1},
]
every_kernel = pytest.mark.parametrize(
    "params", KERNELS, ids=lambda params: "-".join(map(str, params.values()))
)
every_count = pytest.mark.parametrize("n_classes", [2, 3, 5])
shapes = pytest.mark.parametrize("shape", ["ovr", "ovo"])


def labelled(rng, n=90, p=4, n_classes=2):
    """Return samples of overlapping classes with names out of order, and new points."""
    X, X_test = rng.normal(size=(n, p)), rng.normal(size=(25, p))
    score = X[:, 0] + X[:, 1] ** 2 + 0.4 * rng.normal(size=n)
    bins = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    return X, np.array(["pear", "fig", "apple", "lime", "date"])[bins], X_test


def thinned(X):
    """Return ``X`` with many zeros, but no equal rows: these could exchange coefficients."""
    return X * ((X > 0) | (np.arange(X.shape[1]) == 0))


def measured(rng, n=80, p=4):
    """Return samples, a noisy response, and new points."""
    X, X_test = rng.normal(size=(n, p)), rng.normal(size=(25, p))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.2 * rng.normal(size=n), X_test


def pair(ours, theirs, **params):
    """Return our estimator and scikit-learn's with the same parameters, solved closely."""
    return ours(tol=TOL / 100, **params), theirs(tol=TOL, **params)


def dense(values):
    return values.toarray() if sp.issparse(values) else values


def assert_same_expansion(model, other):
    """Compare every fitted attribute that says which samples count, and for how much."""
    np.testing.assert_array_equal(model.support_, other.support_)
    np.testing.assert_array_equal(model.n_support_, other.n_support_)
    assert model.n_support_.shape == other.n_support_.shape
    np.testing.assert_array_equal(dense(model.support_vectors_), dense(other.support_vectors_))
    assert model.dual_coef_.shape == other.dual_coef_.shape
    np.testing.assert_allclose(dense(model.dual_coef_), dense(other.dual_coef_), **NEIGHBOUR)
    assert model.intercept_.shape == other.intercept_.shape
    np.testing.assert_allclose(model.intercept_, other.intercept_, **NEIGHBOUR)
    assert model.shape_fit_ == other.shape_fit_
    assert model.fit_status_ == other.fit_status_ == 0


def assert_same_classifier(model, other, X_test):
    np.testing.assert_array_equal(model.classes_, other.classes_)
    np.testing.assert_allclose(model.class_weight_, other.class_weight_, **EXACT)
    assert_same_expansion(model, other)
    said, desired = model.decision_function(X_test), other.decision_function(X_test)
    assert said.shape == desired.shape
    np.testing.assert_allclose(said, desired, **NEIGHBOUR)
    np.testing.assert_array_equal(model.predict(X_test), other.predict(X_test))


# ---------------------------------------------------------------- the parameters


@pytest.mark.parametrize(("ours", "theirs"), [(SVC, neighbour.SVC), (SVR, neighbour.SVR)])
def test_every_parameter_of_scikit_learn_is_there_with_its_default(ours, theirs):
    mine, wanted = (inspect.signature(cls).parameters for cls in (ours, theirs))
    assert wanted.keys() <= mine.keys()
    for name, parameter in wanted.items():
        # Deprecated in 1.9: both values of the default mean no probabilities.
        if name == "probability":
            assert mine[name].default in (False, "deprecated")
        else:
            assert mine[name].default == parameter.default, name
        assert mine[name].kind == parameter.kind, name


@pytest.mark.parametrize(("ours", "theirs"), [(SVC, neighbour.SVC), (SVR, neighbour.SVR)])
def test_fit_takes_the_arguments_of_scikit_learns(ours, theirs):
    assert list(inspect.signature(ours.fit).parameters) == list(
        inspect.signature(theirs.fit).parameters
    )


def test_new_parameters_default_to_scikit_learns_machine():
    for Estimator, loss in ((SVC, "hinge"), (SVR, "epsilon_insensitive")):
        params = Estimator().get_params()
        assert params["loss"] == loss
        assert params["fit_intercept"] is True
        assert params.get("n_jobs") is None
        assert params["kernel_params"] is None


def test_parameters_are_set_and_cloned():
    grid = {"C": 3.0, "kernel": "poly", "degree": 2, "class_weight": {0: 2}, "cache_size": 10}
    copy = clone(SVC().set_params(**grid))
    assert {name: copy.get_params()[name] for name in grid} == grid


# ---------------------------------------------------------------- classification


@every_kernel
@every_count
def test_classifier_is_scikit_learns(params, n_classes, rng):
    X, y, X_test = labelled(rng, n_classes=n_classes)
    model, other = pair(SVC, neighbour.SVC, **params)
    assert_same_classifier(model.fit(X, y), other.fit(X, y), X_test)


@every_count
@shapes
@pytest.mark.parametrize("C", [0.1, 20.0])
def test_decision_function_has_scikit_learns_shape_and_values(n_classes, shape, C, rng):
    X, y, X_test = labelled(rng, n_classes=n_classes)
    model, other = pair(SVC, neighbour.SVC, C=C, decision_function_shape=shape)
    assert_same_classifier(model.fit(X, y), other.fit(X, y), X_test)


@every_count
def test_coefficients_are_laid_out_as_libsvm_does(n_classes, rng):
    X, y, X_test = labelled(rng, n_classes=n_classes)
    model = SVC(tol=TOL, decision_function_shape="ovo", gamma=0.3).fit(X, y)
    first = np.concatenate([[0], np.cumsum(model.n_support_)])
    K = rbf_kernel(X_test, model.support_vectors_, gamma=0.3)
    scores = []
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            of_i, of_j = slice(first[i], first[i + 1]), slice(first[j], first[j + 1])
            score = K[:, of_i] @ model.dual_coef_[j - 1, of_i]
            scores.append(score + K[:, of_j] @ model.dual_coef_[i, of_j])
    scores = np.array(scores).T + model.intercept_
    scores = scores.ravel() if n_classes == 2 else scores
    np.testing.assert_allclose(model.decision_function(X_test), scores, **ALGEBRA)


@every_count
def test_support_is_grouped_by_class_and_sorted_within(n_classes, rng):
    X, y, _ = labelled(rng, n_classes=n_classes)
    model = SVC().fit(X, y)
    groups = np.split(model.support_, np.cumsum(model.n_support_)[:-1])
    for label, rows in zip(model.classes_, groups, strict=True):
        assert (y[rows] == label).all()
        assert (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    assert model.n_support_.sum() == len(model.support_) == model.dual_coef_.shape[1]


@every_count
def test_one_iteration_count_and_certificate_per_pair(n_classes, rng):
    X, y, _ = labelled(rng, n_classes=n_classes)
    model = SVC().fit(X, y)
    n_pairs = n_classes * (n_classes - 1) // 2
    for name in ("n_iter_", "dual_objective_", "primal_objective_", "duality_gap_"):
        assert getattr(model, name).shape == (n_pairs,), name
    for name in ("kkt_violation_", "margin_", "intercept_"):
        assert getattr(model, name).shape == (n_pairs,), name
    assert model.n_iter_.dtype.kind == "i"
    assert (model.n_iter_ >= 1).all()
    assert model.converged_ in (True, np.True_)


def test_linear_classifier_has_scikit_learns_weights(rng):
    for n_classes in (2, 3, 5):
        X, y, _ = labelled(rng, n_classes=n_classes)
        model, other = pair(SVC, neighbour.SVC, kernel="linear")
        coef, desired = model.fit(X, y).coef_, other.fit(X, y).coef_
        assert coef.shape == desired.shape
        np.testing.assert_allclose(coef, desired, **NEIGHBOUR)


def test_weights_of_features_are_of_the_linear_kernel_only(rng):
    X, y, _ = labelled(rng)
    assert not hasattr(SVC(kernel="rbf").fit(X, y), "coef_")
    assert not hasattr(SVR(kernel="rbf").fit(X, X[:, 0]), "coef_")


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
def test_sparse_classifier_is_scikit_learns(kernel, container, rng):
    X, y, X_test = labelled(rng, n_classes=3)
    X, X_test = thinned(X), thinned(X_test)
    params = {"kernel": kernel, "gamma": 0.05 if kernel == "sigmoid" else "scale"}
    model, other = pair(SVC, neighbour.SVC, **params)
    model.fit(container(X), y), other.fit(container(X), y)
    assert_same_classifier(model, other, container(X_test))
    for name in ("dual_coef_", "support_vectors_"):
        assert sp.issparse(getattr(model, name)), name
        assert getattr(model, name).format == "csr"
    if kernel == "linear":
        assert sp.issparse(model.coef_)
        np.testing.assert_allclose(dense(model.coef_), dense(other.coef_), **NEIGHBOUR)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_sparse_and_dense_input_give_the_same_classifier(kernel, rng):
    X, y, X_test = labelled(rng, n_classes=3)
    X, X_test = thinned(X), thinned(X_test)
    model = SVC(kernel=kernel, tol=TOL)
    from_dense = model.fit(X, y).decision_function(X_test)
    from_sparse = model.fit(sp.csr_array(X), y).decision_function(sp.csr_array(X_test))
    np.testing.assert_allclose(from_sparse, from_dense, rtol=20 * TOL, atol=20 * TOL)


@every_count
@pytest.mark.parametrize("shape", ["ovr"])
def test_ties_are_broken_by_the_scores(n_classes, shape, rng):
    X, y, _ = labelled(rng, n_classes=n_classes)
    grid = 4 * rng.normal(size=(500, X.shape[1]))
    params = {"break_ties": True, "decision_function_shape": shape, "gamma": 0.5}
    model, other = pair(SVC, neighbour.SVC, **params)
    model.fit(X, y), other.fit(X, y)
    np.testing.assert_array_equal(model.predict(grid), other.predict(grid))
    if n_classes > 2:
        winners = model.classes_[model.decision_function(grid).argmax(axis=1)]
        np.testing.assert_array_equal(model.predict(grid), winners)


def test_votes_decide_where_ties_are_not_broken(rng):
    X, y, _ = labelled(rng, n_classes=5)
    grid = 4 * rng.normal(size=(500, X.shape[1]))
    model, other = pair(SVC, neighbour.SVC, gamma=0.5)
    np.testing.assert_array_equal(model.fit(X, y).predict(grid), other.fit(X, y).predict(grid))


def test_ties_of_pairwise_scores_cannot_be_broken(rng):
    X, y, X_test = labelled(rng, n_classes=3)
    model = SVC(break_ties=True, decision_function_shape="ovo")
    with pytest.raises(ValueError, match="break_ties"):
        model.fit(X, y).predict(X_test)


@every_count
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("class_weight", [{"pear": 3.0, "fig": 0.4}, "balanced"], ids=str)
def test_class_weight_is_scikit_learns(n_classes, sparse, class_weight, rng):
    X, y, X_test = labelled(rng, n_classes=n_classes)
    keep = (y != "fig") | (rng.random(len(y)) < 0.5)
    X, y = (sp.csr_array(X[keep]) if sparse else X[keep]), y[keep]
    model, other = pair(SVC, neighbour.SVC, class_weight=class_weight)
    assert_same_classifier(model.fit(X, y), other.fit(X, y), X_test)


@every_count
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("class_weight", [None, {"pear": 3.0}], ids=str)
def test_sample_weight_is_scikit_learns(n_classes, sparse, class_weight, rng):
    X, y, X_test = labelled(rng, n_classes=n_classes)
    weight = rng.uniform(0.1, 3, len(y))
    X = sp.csr_array(X) if sparse else X
    # The variance in gamma="scale" is weighted in ours: a weight is a number of rows.
    model, other = pair(SVC, neighbour.SVC, gamma=0.3, class_weight=class_weight)
    assert_same_classifier(model.fit(X, y, weight), other.fit(X, y, weight), X_test)


def test_balanced_classes_count_weights_as_rows(rng):
    X, y, X_test = labelled(rng, n_classes=3)
    times = rng.integers(1, 4, len(y))
    model = SVC(class_weight="balanced", tol=TOL)
    weighted = model.fit(X, y, times).decision_function(X_test)
    rows = np.repeat(np.arange(len(y)), times)
    repeated = model.fit(X[rows], y[rows]).decision_function(X_test)
    np.testing.assert_allclose(weighted, repeated, rtol=20 * TOL, atol=20 * TOL)


@pytest.mark.parametrize("labels", [[0, 1], [-1, 1], [7, 3], [False, True], [1.0, 2.0]], ids=str)
def test_labels_of_any_kind_are_given_back(labels, rng):
    X, y, X_test = labelled(rng)
    y = np.array(labels)[(y == "fig").astype(int)]
    model, other = pair(SVC, neighbour.SVC)
    assert_same_classifier(model.fit(X, y), other.fit(X, y), X_test)
    assert model.predict(X_test).dtype == y.dtype


# ---------------------------------------------------------------- regression


@every_kernel
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_regression_is_scikit_learns(params, epsilon, rng):
    X, y, X_test = measured(rng)
    model, other = pair(SVR, neighbour.SVR, epsilon=epsilon, **params)
    model.fit(X, y), other.fit(X, y)
    np.testing.assert_allclose(model.predict(X_test), other.predict(X_test), **NEIGHBOUR)
    if epsilon:
        assert_same_expansion(model, other)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("C", [0.2, 30.0])
def test_weighted_regression_is_scikit_learns(sparse, C, rng):
    X, y, X_test = measured(rng)
    weight = rng.uniform(0.1, 3, len(y))
    X = sp.csr_array(X) if sparse else X
    model, other = pair(SVR, neighbour.SVR, C=C, gamma=0.3)
    assert_same_expansion(model.fit(X, y, weight), other.fit(X, y, weight))
    np.testing.assert_allclose(model.predict(X_test), other.predict(X_test), **NEIGHBOUR)


@pytest.mark.parametrize("sparse", [False, True])
def test_linear_regression_has_scikit_learns_weights(sparse, rng):
    X, y, _ = measured(rng)
    X = sp.csr_array(X) if sparse else X
    model, other = pair(SVR, neighbour.SVR, kernel="linear")
    coef, desired = model.fit(X, y).coef_, other.fit(X, y).coef_
    assert sp.issparse(coef) == sparse
    assert coef.shape == desired.shape
    np.testing.assert_allclose(dense(coef), dense(desired), **NEIGHBOUR)


def test_certificates_of_a_regression_are_numbers(rng):
    X, y, _ = measured(rng)
    model = SVR().fit(X, y)
    for name in ("dual_objective_", "primal_objective_", "duality_gap_", "kkt_violation_"):
        assert np.ndim(getattr(model, name)) == 0, name
    assert np.ndim(model.margin_) == 0
    assert np.ndim(model.n_iter_) == 0
    assert model.n_iter_ >= 1
    assert model.converged_ in (True, np.True_)


def test_constant_response_needs_no_support(rng):
    X, y, X_test = measured(rng)
    model = SVR().fit(X, np.full_like(y, 3.0))
    assert len(model.support_) == 0
    assert model.dual_coef_.shape == (1, 0)
    np.testing.assert_allclose(model.predict(X_test), 3.0, atol=0.1)


# ---------------------------------------------------------------- kernels


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.37])
@pytest.mark.parametrize("sparse", [False, True])
def test_width_of_the_kernel_is_scikit_learns(gamma, sparse, rng):
    X, y, X_test = labelled(rng)
    X, X_test = 3 * X + 1, 3 * X_test + 1
    X = sp.csr_array(X) if sparse else X
    model, other = pair(SVC, neighbour.SVC, gamma=gamma)
    assert_same_classifier(model.fit(X, y), other.fit(X, y), X_test)


def test_scale_of_constant_features_is_one(rng):
    X, y, _ = labelled(rng)
    said = SVC().fit(np.ones_like(X), y).decision_function(np.zeros((1, X.shape[1])))
    desired = SVC(gamma=1.0).fit(np.ones_like(X), y).decision_function(np.zeros((1, X.shape[1])))
    np.testing.assert_array_equal(said, desired)


@every_count
def test_precomputed_matrix_gives_the_model_of_its_kernel(n_classes, rng):
    X, y, X_test = labelled(rng, n_classes=n_classes)
    K, K_test = rbf_kernel(X, gamma=0.3), rbf_kernel(X_test, X, gamma=0.3)
    model, other = pair(SVC, neighbour.SVC, kernel="precomputed")
    model.fit(K, y), other.fit(K, y)
    assert model.support_vectors_.size == 0
    assert model.shape_fit_ == other.shape_fit_
    np.testing.assert_array_equal(model.support_, other.support_)
    np.testing.assert_allclose(
        model.decision_function(K_test), other.decision_function(K_test), **NEIGHBOUR
    )
    direct = SVC(gamma=0.3, tol=TOL).fit(X, y).decision_function(X_test)
    np.testing.assert_allclose(
        model.decision_function(K_test), direct, rtol=20 * TOL, atol=20 * TOL
    )


def test_precomputed_regression_is_that_of_its_kernel(rng):
    X, y, X_test = measured(rng)
    model = SVR(kernel="precomputed", tol=TOL).fit(rbf_kernel(X, gamma=0.3), y)
    direct = SVR(gamma=0.3, tol=TOL).fit(X, y)
    said = model.predict(rbf_kernel(X_test, X, gamma=0.3))
    np.testing.assert_allclose(said, direct.predict(X_test), rtol=20 * TOL, atol=20 * TOL)


@pytest.mark.parametrize(
    "kernel",
    [linear_kernel, Gaussian(gamma=0.3), RBF(1.5), 0.5 * Linear() + Gaussian()],
    ids=without_addresses,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_functions_and_objects_make_whole_matrices(kernel, n_classes, rng):
    X, y, X_test = labelled(rng, n_classes=n_classes)
    model, other = pair(SVC, neighbour.SVC, kernel=kernel)
    model.fit(X, y), other.fit(X, y)
    np.testing.assert_array_equal(model.support_, other.support_)
    np.testing.assert_allclose(
        model.decision_function(X_test), other.decision_function(X_test), **NEIGHBOUR
    )
    np.testing.assert_array_equal(model.predict(X_test), other.predict(X_test))


def test_kernel_params_go_to_the_function(rng):
    X, y, X_test = measured(rng)
    given = SVR(kernel=rbf_kernel, kernel_params={"gamma": 0.3}, tol=TOL).fit(X, y)
    named = SVR(kernel="rbf", gamma=0.3, tol=TOL).fit(X, y)
    np.testing.assert_allclose(
        given.predict(X_test), named.predict(X_test), rtol=20 * TOL, atol=20 * TOL
    )


# ---------------------------------------------------------------- precision and options


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("sparse", [False, True])
def test_single_precision_gives_nearly_the_same_classifier(kernel, sparse, rng):
    X, y, X_test = labelled(rng, n_classes=3)
    single = sp.csr_array(X.astype(np.float32)) if sparse else X.astype(np.float32)
    model = SVC(kernel=kernel, tol=1e-4)
    double = model.fit(X, y).decision_function(X_test)
    said = model.fit(single, y).decision_function(X_test.astype(np.float32))
    np.testing.assert_allclose(said, double, **SINGLE)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_single_precision_gives_nearly_the_same_regression(kernel, rng):
    X, y, X_test = measured(rng)
    model = SVR(kernel=kernel, tol=1e-4)
    double = model.fit(X, y).predict(X_test)
    said = model.fit(X.astype(np.float32), y).predict(X_test.astype(np.float32))
    np.testing.assert_allclose(said, double, **SINGLE)


@pytest.mark.parametrize(
    "options", [{"shrinking": False}, {"cache_size": 0.01}, {"n_jobs": 2}, {"random_state": 3}]
)
def test_options_of_the_solver_do_not_change_the_answer(options, rng):
    X, y, X_test = labelled(rng, n=150, n_classes=3)
    model = SVC(tol=TOL).fit(X, y)
    other = SVC(tol=TOL, **options).fit(X, y)
    np.testing.assert_allclose(
        other.decision_function(X_test),
        model.decision_function(X_test),
        rtol=20 * TOL,
        atol=20 * TOL,
    )


def test_data_frames_keep_their_column_names(rng):
    X, y, X_test = labelled(rng)
    columns = ["a", "b", "c", "d"]
    model = SVC().fit(pd.DataFrame(X, columns=columns), y)
    assert list(model.feature_names_in_) == columns
    np.testing.assert_array_equal(
        model.predict(pd.DataFrame(X_test, columns=columns)), SVC().fit(X, y).predict(X_test)
    )


# ---------------------------------------------------------------- in scikit-learn's company


def test_grid_search_over_a_pipeline_finds_what_scikit_learn_finds(rng):
    X, y, X_test = labelled(rng, n_classes=3)
    grid = {"svc__C": [0.1, 1, 10], "svc__gamma": [0.03, 0.3], "svc__kernel": ["rbf", "linear"]}
    ours, theirs = (
        GridSearchCV(make_pipeline(StandardScaler(), machine), grid, cv=3).fit(X, y)
        for machine in pair(SVC, neighbour.SVC)
    )
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], **ALGEBRA
    )
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_array_equal(ours.predict(X_test), theirs.predict(X_test))


def test_grid_search_splits_a_precomputed_matrix_both_ways(rng):
    X, y, _ = labelled(rng)
    ours, theirs = (
        GridSearchCV(machine, {"C": [0.1, 1, 10]}, cv=3).fit(rbf_kernel(X), y)
        for machine in pair(SVC, neighbour.SVC, kernel="precomputed")
    )
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], **ALGEBRA
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_calibration_gives_the_probabilities(n_classes, rng):
    X, y, X_test = labelled(rng, n_classes=n_classes)
    model = CalibratedClassifierCV(SVC(), ensemble=False).fit(X, y)
    probabilities = model.predict_proba(X_test)
    assert probabilities.shape == (len(X_test), n_classes)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, **EXACT)


@pytest.mark.filterwarnings("ignore:The `probability` parameter:FutureWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_those_of_a_calibrated_machine(n_classes, rng):
    X, y, X_test = labelled(rng, n_classes=n_classes)
    model = SVC(probability=True).fit(X, y)
    calibrated = CalibratedClassifierCV(SVC(), ensemble=False).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X_test), calibrated.predict_proba(X_test))
    np.testing.assert_allclose(
        np.exp(model.predict_log_proba(X_test)), model.predict_proba(X_test), **EXACT
    )
    np.testing.assert_array_equal(model.predict(X_test), SVC().fit(X, y).predict(X_test))
    with pytest.warns(FutureWarning, match="probA_"):
        assert model.probA_.shape == (1 if n_classes == 2 else 3,)
    model.set_params(probability=False).fit(X, y)
    assert not hasattr(model, "predict_proba")
    model.set_params(probability=True)
    with pytest.raises(NotFittedError, match="fitted with probability=False"):
        model.predict_proba(X_test)


def test_probability_is_deprecated(rng):
    X, y, _ = labelled(rng)
    with pytest.warns(FutureWarning, match="`probability` parameter was deprecated"):
        SVC(probability=False).fit(X, y)
    assert not hasattr(SVC().fit(X, y), "predict_proba")


@pytest.mark.filterwarnings("ignore:The `probability` parameter:FutureWarning")
def test_probabilities_of_a_class_with_one_sample():
    X, y = np.array([[0.0], [1.0], [2.0], [8.0]]), [0, 0, 0, 1]
    probabilities = SVC(probability=True).fit(X, y).predict_proba(X)
    assert probabilities[3, 1] > probabilities[:3, 1].max()


def test_negative_weights_remove_samples(rng):
    X, y, X_test = labelled(rng)
    weight = rng.normal(size=len(y))
    weighted = SVC().fit(X, y, weight).decision_function(X_test)
    kept = weight > 0
    removed = SVC().fit(X[kept], y[kept], weight[kept]).decision_function(X_test)
    np.testing.assert_array_equal(weighted, removed)
    assert SVR().fit(X, X[:, 0], weight).support_.max() < len(y)
    for model in (SVC(), SVR()):
        with pytest.raises(ValueError, match="all samples have zero or negative weights"):
            model.fit(X, y, -np.ones(len(y)))


def test_weights_of_features_cannot_be_changed(rng):
    X, y, _ = labelled(rng)
    for model, data in ((SVC(kernel="linear"), X), (SVR(kernel="linear"), sp.csr_array(X))):
        coef = model.fit(data, y if isinstance(model, SVC) else X[:, 0]).coef_
        with pytest.raises(ValueError, match="read-only"):
            coef[0, 0] = 1.0


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    "params",
    [
        {"C": 0.0},
        {"C": -1.0},
        {"gamma": -0.1},
        {"gamma": "median deviation"},
        {"tol": -1e-3},
        {"kernel": "no such kernel"},
        {"degree": -1},
        {"cache_size": -1},
        {"max_iter": -2},
        {"loss": "log"},
        {"fit_intercept": "yes"},
    ],
    ids=str,
)
@pytest.mark.parametrize("Estimator", [SVC, SVR])
def test_senseless_parameters_are_named(Estimator, params, rng):
    X, y, _ = labelled(rng)
    (name,) = params
    with pytest.raises(ValueError, match=name):
        Estimator(**params).fit(X, y if Estimator is SVC else X[:, 0])


def test_senseless_parameters_of_one_estimator_are_named(rng):
    X, y, _ = labelled(rng)
    with pytest.raises(ValueError, match="decision_function_shape"):
        SVC(decision_function_shape="ovx").fit(X, y)
    with pytest.raises(ValueError, match="class_weight"):
        SVC(class_weight="heavy").fit(X, y)
    with pytest.raises(ValueError, match="epsilon"):
        SVR(epsilon=-0.1).fit(X, X[:, 0])


@pytest.mark.parametrize("Estimator", [SVC, SVR])
@pytest.mark.parametrize("hole", [np.nan, np.inf])
def test_holes_in_the_data_are_errors(Estimator, hole, rng):
    X, y, _ = labelled(rng)
    y = y if Estimator is SVC else X[:, 0].copy()
    X[3, 2] = hole
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        Estimator().fit(X, y)


def test_one_class_is_an_error(rng):
    X, y, _ = labelled(rng)
    with pytest.raises(ValueError, match="class"):
        SVC().fit(X, np.full(len(y), "pear"))
    with pytest.raises(ValueError, match="class"):
        SVC().fit(X, y, sample_weight=(y == "pear").astype(float))


def test_continuous_labels_are_an_error(rng):
    X, _, _ = labelled(rng)
    with pytest.raises(ValueError, match="continuous"):
        SVC().fit(X, X[:, 0])


@pytest.mark.parametrize("Estimator", [SVC, SVR])
def test_precomputed_matrix_must_be_square(Estimator, rng):
    X, y, _ = labelled(rng)
    y = y if Estimator is SVC else X[:, 0]
    with pytest.raises(ValueError, match="square"):
        Estimator(kernel="precomputed").fit(X, y)


@pytest.mark.parametrize("Estimator", [SVC, SVR])
def test_weights_must_weigh_something(Estimator, rng):
    X, y, _ = labelled(rng)
    y = y if Estimator is SVC else X[:, 0]
    with pytest.raises(ValueError, match=r"[Ww]eight"):
        Estimator().fit(X, y, np.zeros(len(y)))
    with pytest.raises(ValueError, match=r"[Ww]eight"):
        Estimator().fit(X, y, np.full(len(y), -1.0))
    with pytest.raises(ValueError, match=r"[Ww]eight"):
        Estimator().fit(X, y, np.ones(len(y) - 1))


@pytest.mark.parametrize("Estimator", [SVC, SVR])
def test_prediction_needs_a_fit_and_as_many_features(Estimator, rng):
    X, y, X_test = labelled(rng)
    y = y if Estimator is SVC else X[:, 0]
    with pytest.raises(NotFittedError):
        Estimator().predict(X_test)
    with pytest.raises(ValueError, match="features"):
        Estimator().fit(X, y).predict(X_test[:, :2])
    gram = Estimator(kernel="precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match=r"features|columns|samples"):
        gram.predict(X_test @ X[:-1].T)
