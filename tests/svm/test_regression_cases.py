"""Inputs on which other solvers hung, crashed or forgot a class; what must hold is in each test.

The numbers in the names are those of scikit-learn's issues.
"""

import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel
from sklearn.model_selection import cross_validate, train_test_split
from sklearn.preprocessing import scale

from sklearn_sl.svm import SVC, SVR

SECONDS = 20  # far more than any of these may take, far less than forever
containers = pytest.mark.parametrize("container", [np.asarray, sp.csr_array])


def fit_in_time(model, X, y, **fit_params):
    """Fit within the time limit; a warning must be the one that carries the gap."""
    start = time.monotonic()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, **fit_params)
    assert time.monotonic() - start < SECONDS
    for warning in caught:
        assert issubclass(warning.category, ConvergenceWarning), warning
        assert "gap" in str(warning.message)
    assert model.converged_ in (True, False)
    assert bool(model.converged_) == (not caught)
    assert_finite(model)
    return model


def assert_finite(model):
    """Check that every fitted number is one."""
    for name in ("dual_coef_", "intercept_", "dual_objective_", "primal_objective_"):
        value = getattr(model, name)
        value = value.data if sp.issparse(value) else value
        assert np.isfinite(value).all(), name
    assert np.all(np.asarray(model.margin_) > 0)  # infinite where the function is constant


# ---------------------------------------------------------------- fits that never returned


@pytest.mark.parametrize("seed", range(3))
def test_30353_one_feature_and_a_steep_polynomial_come_to_an_end(seed):
    # The report's parameters on one scaled feature of 2,100 samples with heavy tails: kernel values
    # over ten orders of magnitude, where float32 values and a float64 diagonal disagree.
    rng = np.random.default_rng(seed)
    x = scale(rng.standard_t(2, size=2100))
    y = (x + 2 * rng.normal(size=2100) > 0).astype(int)
    model = SVC(
        C=100,
        kernel="poly",
        degree=4,
        gamma=0.9597420397825849,
        tol=0.01,
        cache_size=1000,
        class_weight={0: 1.04884106, 1: 0.95550528},
        max_iter=200_000,
    )
    fit_in_time(model, x[:, None], y)
    if model.converged_:
        assert model.kkt_violation_[0] <= 0.01


X_13075 = np.array(
    [
        [0, 0, 0.3, 0, 0, 1, 0.625, 0, 0, 0.31865753, 0, 0, 0],
        [0, 0, 0, 0, 0, 0.33333333, 0.61538462, 0, 0, 0.59230137, 1, 0, 1],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0.31778082, 1, 0, 0],
        [0.66666667, 0, 0, 0.5, 1, 0.8, 0, 1, 0.5625, 0.36430137, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0.33638356, 1, 0, 0],
        [0, 0, 0.3, 0, 0, 1, 0.625, 0, 0, 0.31843836, 0, 0, 0],
    ]
)
Y_13075 = np.array([False, True, True, False, True, False])


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3, np.inf])
@containers
def test_13075_six_nearly_equal_rows_are_fitted_every_time(C, container):
    for tol in (1e-3, 1e-8):
        model = SVC(C=C, coef0=10.0, gamma="auto", kernel="poly", tol=tol)
        for _ in range(10):
            fit_in_time(model, container(X_13075), Y_13075)
            assert model.converged_
    if C >= 1:
        np.testing.assert_array_equal(model.predict(X_13075), Y_13075)


PARAMS_13557 = [
    {"C": 0.6652997139930452, "degree": 7, "gamma": 4178.386000737241},
    {"C": 1.2346990434544882, "degree": 7, "gamma": 4317.581190465473},
    {"C": 0.8156943235551155, "degree": 8, "gamma": 864.1583649816441},
]


@pytest.mark.parametrize("params", PARAMS_13557, ids=lambda params: f"degree {params['degree']}")
def test_13557_polynomials_of_huge_values_are_cross_validated(params):
    X, y = load_iris(return_X_y=True)
    X, _, y, _ = train_test_split(X, y, test_size=0.3, random_state=0)
    start = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVC(kernel="poly", max_iter=100_000, **params)
        results = cross_validate(model, X, y, cv=5, error_score="raise")
        model.fit(X, y)
    assert time.monotonic() - start < SECONDS
    assert_finite(model)
    assert results["test_score"].mean() > 0.85


def test_4648_one_large_feature_is_no_reason_to_hang():
    for size in (9999, 99999, 1e7):
        model = SVC(kernel="poly", degree=2, gamma="auto", max_iter=100_000)
        fit_in_time(model, [[1, size], [2, size]], [0, 1])


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("Estimator", [SVC, SVR])
def test_features_of_very_different_size_come_to_an_end(kernel, Estimator, rng):
    X = rng.normal(size=(80, 5)) * 10.0 ** np.arange(-3, 7, 2)
    y = rng.integers(0, 2, 80) if Estimator is SVC else rng.normal(size=80)
    fit_in_time(Estimator(kernel=kernel, C=1e4, max_iter=50_000), X, y)


def test_indefinite_kernel_comes_to_an_end(rng):
    X = 3 * rng.normal(size=(100, 4))
    y = rng.integers(0, 2, 100)
    for C in (1.0, 1e3):
        model = SVC(kernel="sigmoid", gamma=1.0, coef0=1.0, C=C, max_iter=50_000)
        fit_in_time(model, X, y)


def test_regression_of_huge_responses_comes_to_an_end(rng):
    # thundersvm's report: the iteration limit was not heard in regression.
    X, y = rng.normal(size=(150, 3)), 1e6 * rng.normal(size=150)
    for kernel in ("linear", "rbf", "poly"):
        model = SVR(kernel=kernel, C=1e6, max_iter=20_000)
        fit_in_time(model, X, y)
        assert model.n_iter_ <= 20_000


# ---------------------------------------------------------------- a budget, and what it bought


@pytest.mark.parametrize("max_iter", [1, 7, 50])
def test_iteration_limit_is_kept_and_the_warning_carries_the_gap(max_iter, rng):
    X = rng.normal(size=(300, 4))
    y = rng.integers(0, 2, 300)
    model = SVC(C=100.0, max_iter=max_iter)
    with pytest.warns(ConvergenceWarning, match="gap") as caught:
        model.fit(X, y)
    assert len(caught) == 1
    assert 1 <= model.n_iter_[0] <= max_iter
    assert not model.converged_
    assert model.fit_status_ == 1
    assert model.kkt_violation_[0] > model.tol
    gap = model.primal_objective_[0] - model.dual_objective_[0]
    assert gap > 0
    np.testing.assert_allclose(model.duality_gap_[0], gap)
    assert model.decision_function(X).shape == (300,)


@pytest.mark.parametrize("max_iter", [1, 7, 50])
def test_iteration_limit_of_a_regression_is_kept(max_iter, rng):
    X, y = rng.normal(size=(300, 4)), rng.normal(size=300)
    model = SVR(C=100.0, max_iter=max_iter)
    with pytest.warns(ConvergenceWarning, match="gap") as caught:
        model.fit(X, y)
    assert len(caught) == 1
    assert 1 <= model.n_iter_ <= max_iter
    assert not model.converged_
    assert model.fit_status_ == 1
    assert model.duality_gap_ > 0


def test_every_pair_has_the_iteration_limit_but_one_warning_is_enough(rng):
    X, y = rng.normal(size=(200, 4)), rng.integers(0, 4, 200)
    model = SVC(C=100.0, max_iter=5)
    with pytest.warns(ConvergenceWarning, match="gap") as caught:
        model.fit(X, y)
    assert len(caught) == 1
    assert model.n_iter_.shape == (6,)
    assert (model.n_iter_ <= 5).all()


def test_longer_budgets_leave_smaller_gaps(rng):
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    duals = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for max_iter in (5, 50, 500, 50_000):
            model = SVC(C=10.0, max_iter=max_iter).fit(X, y)
            duals.append(model.dual_objective_[0])
    assert model.converged_
    assert (np.diff(duals) >= 0).all()


def test_tolerance_beyond_the_last_digit_ends_in_an_answer_or_a_warning(rng):
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    for tol in (1e-12, 1e-300):
        params = {"C": 10.0, "tol": tol, "max_iter": 200_000}
        model = fit_in_time(SVC(**params), X, y)
        assert model.kkt_violation_[0] <= 1e-9
        model = fit_in_time(SVR(**params), X, X[:, 0] + rng.normal(size=60))
        assert model.kkt_violation_ <= 1e-9


# ---------------------------------------------------------------- many classes


def test_15008_many_classes_are_fitted_and_predicted(rng):
    # 150 classes of 3 samples are 11,175 machines; scikit-learn counted them in 32 bits.
    n_classes = 150
    centres = 10 * rng.normal(size=(n_classes, 5))
    y = np.repeat(np.arange(n_classes), 3)
    X = centres[y] + 0.1 * rng.normal(size=(len(y), 5))
    model = SVC(kernel="poly", degree=3, C=10, decision_function_shape="ovo")
    fit_in_time(model, X, y)
    n_pairs = n_classes * (n_classes - 1) // 2
    assert model.intercept_.shape == model.n_iter_.shape == (n_pairs,)
    assert model.dual_coef_.shape == (n_classes - 1, len(model.support_))
    assert model.decision_function(X[:4]).shape == (4, n_pairs)
    np.testing.assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_many_samples_have_the_values_that_each_has_alone(kernel, rng):
    # Classes of one to five samples: 300 machines, more than one matrix of coefficients is for.
    y = np.repeat(np.arange(25), np.arange(25) % 5 + 1)
    X, X_test = rng.normal(size=(len(y), 3)), rng.normal(size=(150, 3))
    if kernel == "precomputed":
        X, X_test = (linear_kernel(Z, X) for Z in (X, X_test))
    model = SVC(kernel=kernel, C=10, decision_function_shape="ovo").fit(X, y)
    alone = np.concatenate([model.decision_function(x[None]) for x in X_test])
    np.testing.assert_allclose(model.decision_function(X_test), alone, **ALGEBRA)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_votes_of_many_classes_are_those_of_the_values_of_pairs(kernel, rng):
    # As many samples as have their votes counted class by class, not from all values at once.
    y = np.repeat(np.arange(25), 3)
    X, X_test = rng.normal(size=(len(y), 3)), rng.normal(size=(600, 3))
    if kernel == "precomputed":
        X, X_test = (linear_kernel(Z, X) for Z in (X, X_test))
    model = SVC(kernel=kernel, C=10, decision_function_shape="ovo").fit(X, y)
    first, second = np.triu_indices(25, 1)
    won = model.decision_function(X_test) > 0
    votes = np.stack([(won[:, first == k]).sum(axis=1) for k in range(25)], axis=1)
    votes += np.stack([(~won[:, second == k]).sum(axis=1) for k in range(25)], axis=1)
    np.testing.assert_array_equal(model.predict(X_test), votes.argmax(axis=1))


def test_15008_classes_of_equal_samples_are_fitted():
    n_classes = 60
    model = SVC(kernel="poly", degree=3, decision_function_shape="ovr")
    fit_in_time(model, np.ones((2 * n_classes, 1)), np.repeat(np.arange(n_classes), 2))
    scores = model.decision_function(np.ones((2, 1)))
    assert scores.shape == (2, n_classes)
    assert np.isfinite(scores).all()


def test_class_of_one_sample_is_a_class(rng):
    X = rng.normal(size=(20, 2))
    y = np.array(["a"] * 12 + ["b"] * 7 + ["c"])
    X[-1] = 9, 9
    model = fit_in_time(SVC(C=10), X, y)
    assert model.predict([[9, 9]])[0] == "c"


# ---------------------------------------------------------------- weights that empty a class

X_5150 = np.array(
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]], float
)
Y_5150 = np.array([0, 0, 0, 1, 1, 1, 2, 2])
W_5150 = np.array([1, 1, 1, 1, 1, 1, 0, 0])


@containers
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_5150_class_without_weight_is_a_removed_class(container, class_weight, shape):
    params = {"kernel": "linear", "class_weight": class_weight, "decision_function_shape": shape}
    model = fit_in_time(SVC(**params), container(X_5150), Y_5150, sample_weight=W_5150)
    removed = SVC(**params).fit(container(X_5150[:6]), Y_5150[:6])
    np.testing.assert_array_equal(model.classes_, [0, 1])
    scores = model.decision_function(container(X_5150))
    assert scores.shape == (8,)
    np.testing.assert_allclose(scores, removed.decision_function(X_5150), rtol=1e-7, atol=1e-9)
    assert set(model.predict(container(X_5150))) <= {0, 1}
    assert model.support_.max() < 6
    assert model.n_support_.shape == (2,)


@containers
def test_5150_last_of_four_classes_leaves_three(container, rng):
    X = rng.normal(size=(80, 3))
    y = rng.integers(0, 4, 80)
    model = fit_in_time(SVC(), container(X), y, sample_weight=(y != 1).astype(float))
    np.testing.assert_array_equal(model.classes_, [0, 2, 3])
    assert model.decision_function(X).shape == (80, 3)
    assert model.intercept_.shape == (3,)


@containers
def test_19654_sparse_rows_of_zero_weight_are_removed(container, rng):
    X = rng.normal(size=(40, 4)) * (rng.random((40, 4)) < 0.4)
    y = rng.integers(0, 3, 40)
    for _ in range(5):
        weight = rng.integers(0, 2, 40).astype(float)
        model = fit_in_time(SVC(), container(X), y, sample_weight=weight)
        assert (weight[model.support_] > 0).all()


def test_bagging_survives_bags_that_miss_a_class(rng):
    X = rng.normal(size=(40, 3))
    y = np.array([0] * 19 + [1] * 19 + [2] * 2)
    bag = BaggingClassifier(SVC(), n_estimators=20, max_samples=0.3, random_state=0).fit(X, y)
    assert any(len(member.classes_) == 2 for member in bag.estimators_)
    assert bag.predict(X).shape == (40,)
    assert set(bag.predict(X)) <= {0, 1, 2}


@pytest.mark.parametrize("model", [SVC(), SVR(tol=1e-6), SVC(kernel="linear")], ids=str)
def test_entries_of_sparse_samples_that_are_stored_in_parts_are_added_up(model):
    X, y = load_iris(return_X_y=True)
    parts = sp.csr_array(np.hstack([X, X]) / 2)
    parts = sp.csr_array((parts.data, parts.indices % 4, parts.indptr), shape=X.shape)
    expected = model.fit(X, y).predict(X)
    np.testing.assert_allclose(model.predict(parts), expected, rtol=1e-9)
    np.testing.assert_allclose(model.fit(parts, y).predict(X), expected, rtol=1e-2)
