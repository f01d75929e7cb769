"""SVC and SVR prove how good they are: duality, optimality, geometry and symmetry."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT
from hypothesis import given
from hypothesis import strategies as st
from reference import svm as reference
from scipy import optimize
from sklearn.metrics.pairwise import linear_kernel, pairwise_kernels, rbf_kernel

from sklearn_sl.svm import SVC, SVR, MulticlassSVC, NotSeparableError

TIGHT = 1e-9
# What a violation of TIGHT leaves in the function, on data of the size of one.
CLOSE = {"rtol": 1e-6, "atol": 1e-6}
CLASSIFICATION = ["hinge", "squared_hinge"]
REGRESSION = ["epsilon_insensitive", "squared_epsilon_insensitive"]
intercepts = pytest.mark.parametrize("fit_intercept", [False, True])
classifier_losses = pytest.mark.parametrize("loss", CLASSIFICATION)
regression_losses = pytest.mark.parametrize("loss", REGRESSION)
kernels = pytest.mark.parametrize("kernel", ["linear", "rbf"])
containers = pytest.mark.parametrize("container", [np.asarray, sp.csr_array])


def two_classes(rng, n=24, p=3, noise=0.7):
    """Return overlapping samples with signs of both kinds."""
    X = rng.normal(size=(n, p))
    sign = np.sign(X[:, 0] - 0.5 * X[:, 1] + noise * rng.normal(size=n))
    sign[:2] = 1, -1
    return X, sign


def apart(rng, n=14, p=2, gap=1.0):
    """Return samples that a hyperplane separates."""
    X = rng.normal(size=(n, p))
    sign = np.where(np.arange(n) % 3 > 0, 1.0, -1.0)
    X[:, 0] = sign * (gap + np.abs(X[:, 0]))
    turn, _ = np.linalg.qr(rng.normal(size=(p, p)))
    return X @ turn + rng.normal(size=p), sign


def response(rng, n=24, p=3):
    """Return samples and a noisy response."""
    X = rng.normal(size=(n, p))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.3 * rng.normal(size=n)


def gram(model, X, Y=None):
    """Return the kernel values that ``model`` works with, for gamma given as a number."""
    if model.kernel == "linear":
        return linear_kernel(X, Y)
    return pairwise_kernels(X, Y, metric=model.kernel, gamma=model.gamma)


def coefficients(model, n):
    """Return the signed coefficient of each training sample of a single machine."""
    beta = np.zeros(n)
    dual_coef = model.dual_coef_
    dual_coef = dual_coef.toarray() if sp.issparse(dual_coef) else dual_coef
    beta[model.support_] = dual_coef.ravel()
    return beta


def programme(model, K, y, weight=1.0):
    """Return the quadratic programme that a machine with these parameters solves."""
    squared = model.loss.startswith("squared")
    if isinstance(model, SVR):
        return reference.regression(K, y, model.C * weight, model.epsilon, squared)
    return reference.classification(K, y, model.C * weight, squared)


def slack(model, f, y):
    if isinstance(model, SVR):
        return reference.epsilon_insensitive(f, y, model.epsilon)
    return reference.hinge(f, y)


def recomputed(model, K, y, weight=1.0):
    """Return the certificates of a fitted machine, from its coefficients and intercept alone."""
    beta = coefficients(model, len(y))
    dual = programme(model, K, y, weight)
    xi = slack(model, K @ beta + model.intercept_[0], y)
    primal = reference.primal_objective(
        K, beta, xi, model.C * weight, model.loss.startswith("squared")
    )
    return {
        "primal_objective_": primal,
        "dual_objective_": reference.dual_objective(dual, beta),
        "kkt_violation_": reference.kkt_violation(dual, beta, model.fit_intercept),
        "margin_": 1 / np.sqrt(beta @ K @ beta),
    }


def assert_certified(model, K, y, weight=1.0):
    """Check that the certificates are what they say they are."""
    desired = recomputed(model, K, y, weight)
    scale = 1e-9 * (1 + abs(desired["primal_objective_"]))
    for name, value in desired.items():
        np.testing.assert_allclose(
            np.ravel(getattr(model, name)), value, rtol=1e-7, atol=scale, err_msg=name
        )
    gap = desired["primal_objective_"] - desired["dual_objective_"]
    np.testing.assert_allclose(np.ravel(model.duality_gap_), gap, rtol=1e-6, atol=scale)
    assert np.all(model.duality_gap_ >= 0)


# ---------------------------------------------------------------- the quadratic programme


def assert_is_the_solution(model, X, y, weight, X_test):
    """Compare a fitted machine with the exact solution of its quadratic programme."""
    K = gram(model, X)
    dual = programme(model, K, y, weight)
    beta, _ = reference.solve(dual, model.fit_intercept)
    said = coefficients(model, len(y))
    assert (said >= dual.lower).all()
    assert (said <= dual.upper).all()
    if model.fit_intercept:
        assert abs(said.sum()) <= 1e-9 * (1 + np.abs(said).sum())
    best = reference.dual_objective(dual, beta)
    np.testing.assert_allclose(reference.dual_objective(dual, said), best, **CLOSE)
    K_test = gram(model, X_test, X)
    np.testing.assert_allclose(K_test @ said, K_test @ beta, **CLOSE)
    if model.fit_intercept:
        low, high = reference.intercepts(dual, beta)
        assert low - 1e-6 <= model.intercept_[0] <= high + 1e-6
    else:
        assert model.intercept_[0] == 0
    assert_certified(model, K, y, weight)


machines = {
    "seed": st.integers(0, 2**31),
    "kernel": st.sampled_from(["linear", "rbf"]),
    "C": st.sampled_from([0.03, 0.5, 1.0, 8.0]),
    "fit_intercept": st.booleans(),
    "weighted": st.booleans(),
}


@given(loss=st.sampled_from(CLASSIFICATION), **machines)
def test_classifier_solves_its_quadratic_programme(seed, weighted, **params):
    rng = np.random.default_rng(seed)
    X, sign = two_classes(rng)
    weight = rng.uniform(0.1, 3, len(sign)) if weighted else np.ones(len(sign))
    model = SVC(gamma=0.4, tol=TIGHT, **params).fit(X, sign, weight)
    assert_is_the_solution(model, X, sign, weight, rng.normal(size=(10, 3)))


@given(loss=st.sampled_from(REGRESSION), epsilon=st.sampled_from([0.0, 0.1, 0.6]), **machines)
def test_regression_solves_its_quadratic_programme(seed, weighted, **params):
    rng = np.random.default_rng(seed)
    X, y = response(rng)
    weight = rng.uniform(0.1, 3, len(y)) if weighted else np.ones(len(y))
    model = SVR(gamma=0.4, tol=TIGHT, **params).fit(X, y, weight)
    assert_is_the_solution(model, X, y, weight, rng.normal(size=(10, 3)))


@classifier_losses
@intercepts
def test_more_features_than_samples(loss, fit_intercept, rng):
    X, sign = two_classes(rng, n=15, p=40)
    model = SVC(kernel="linear", loss=loss, fit_intercept=fit_intercept, tol=TIGHT).fit(X, sign)
    assert_is_the_solution(model, X, sign, np.ones(15), rng.normal(size=(10, 40)))


@classifier_losses
def test_class_weight_multiplies_the_cost(loss, rng):
    X, sign = two_classes(rng)
    model = SVC(gamma=0.4, loss=loss, tol=TIGHT, class_weight={1: 3.0, -1: 0.2}).fit(X, sign)
    weight = np.where(sign > 0, 3.0, 0.2)
    assert_is_the_solution(model, X, sign, weight, rng.normal(size=(10, 3)))


# ---------------------------------------------------------------- certificates


@classifier_losses
@intercepts
@kernels
@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
def test_certificates_of_a_classifier_are_true(loss, fit_intercept, kernel, tol, rng):
    X, sign = two_classes(rng, n=60)
    params = {"kernel": kernel, "gamma": 0.4, "loss": loss, "fit_intercept": fit_intercept}
    model = SVC(C=3.0, tol=tol, **params).fit(X, sign)
    assert_certified(model, gram(model, X), sign)
    assert model.kkt_violation_[0] <= tol
    assert model.converged_


@regression_losses
@intercepts
@kernels
@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
def test_certificates_of_a_regression_are_true(loss, fit_intercept, kernel, tol, rng):
    X, y = response(rng, n=60)
    params = {"kernel": kernel, "gamma": 0.4, "loss": loss, "fit_intercept": fit_intercept}
    model = SVR(C=3.0, tol=tol, **params).fit(X, y)
    assert_certified(model, gram(model, X), y)
    assert model.kkt_violation_ <= tol
    assert model.converged_


@pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-3, 1e-5])
@intercepts
def test_violation_bounds_the_gap(tol, fit_intercept, rng):
    # Each sample adds at most C times its violation to the difference of the objectives.
    C = 5.0
    X, sign = two_classes(rng, n=100)
    model = SVC(C=C, gamma=0.4, tol=tol, fit_intercept=fit_intercept).fit(X, sign)
    assert 0 <= model.duality_gap_[0] <= C * len(sign) * tol
    X, y = response(rng, n=100)
    model = SVR(C=C, gamma=0.4, tol=tol, fit_intercept=fit_intercept).fit(X, y)
    assert 0 <= model.duality_gap_ <= C * len(y) * tol


def test_gap_closes_with_the_tolerance(rng):
    X, sign = two_classes(rng, n=80)
    gaps = [SVC(C=5.0, tol=tol).fit(X, sign).duality_gap_[0] for tol in (1e-1, 1e-4, 1e-8)]
    rounding = 1e-9
    assert gaps[2] <= gaps[1] + rounding <= gaps[0] + 2 * rounding
    assert gaps[2] <= 1e-5


def test_objective_of_any_other_function_is_above_the_dual(rng):
    X, sign = two_classes(rng, n=40)
    K = rbf_kernel(X, gamma=0.4)
    model = SVC(gamma=0.4, C=2.0).fit(X, sign)
    for _ in range(20):
        beta, b = rng.normal(size=len(sign)), rng.normal()
        other = reference.primal_objective(K, beta, reference.hinge(K @ beta + b, sign), 2.0)
        assert other >= model.dual_objective_[0]
    assert model.primal_objective_[0] >= model.dual_objective_[0]


def test_each_pair_of_classes_has_the_certificates_of_its_own_machine(rng):
    X = rng.normal(size=(60, 3))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=60), [-0.7, 0, 0.7])
    model = SVC(gamma=0.4, tol=1e-8).fit(X, y)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    for number, (i, j) in enumerate(pairs):
        rows = np.isin(y, (i, j))
        alone = SVC(gamma=0.4, tol=1e-8).fit(X[rows], y[rows])
        for name in ("primal_objective_", "dual_objective_", "margin_"):
            np.testing.assert_allclose(
                getattr(model, name)[number], getattr(alone, name)[0], **CLOSE
            )
        # For two classes positive means the second, for a pair of many the first.
        np.testing.assert_allclose(model.intercept_[number], -alone.intercept_[0], **CLOSE)
        assert model.kkt_violation_[number] <= 1e-8
        assert 0 <= model.duality_gap_[number] <= 1e-8 * rows.sum()


# ---------------------------------------------------------------- optimality, sample by sample


@kernels
@pytest.mark.parametrize("tol", [1e-2, 1e-6])
def test_samples_are_beyond_on_or_inside_the_margin(kernel, tol, rng):
    C = 2.0
    X, sign = two_classes(rng, n=80)
    model = SVC(C=C, kernel=kernel, tol=tol).fit(X, sign)
    alpha = sign * coefficients(model, len(sign))
    margin = sign * model.decision_function(X)
    assert (alpha >= 0).all()
    assert (alpha <= C).all()
    free = (alpha > 0) & (alpha < C)
    assert free.any()
    assert (alpha == C).any()
    assert (margin[alpha == 0] >= 1 - tol).all()
    assert (np.abs(margin[free] - 1) <= tol).all()
    assert (margin[alpha == C] <= 1 + tol).all()


@kernels
@pytest.mark.parametrize("tol", [1e-2, 1e-6])
def test_samples_are_inside_on_or_outside_the_tube(kernel, tol, rng):
    C, epsilon = 2.0, 0.2
    X, y = response(rng, n=80)
    model = SVR(C=C, epsilon=epsilon, kernel=kernel, tol=tol).fit(X, y)
    beta = coefficients(model, len(y))
    residual = y - model.predict(X)
    free = (beta != 0) & (np.abs(beta) < C)
    at_bound = np.abs(beta) == C
    assert free.any()
    assert at_bound.any()
    assert (np.abs(residual[beta == 0]) <= epsilon + tol).all()
    assert (np.abs(residual[free] - epsilon * np.sign(beta[free])) <= tol).all()
    assert (np.sign(beta[at_bound]) * residual[at_bound] >= epsilon - tol).all()


@intercepts
def test_coefficient_of_a_squared_loss_is_twice_its_slack(fit_intercept, rng):
    weight = rng.uniform(0.1, 3, 40)
    X, sign = two_classes(rng, n=40)
    params = {"C": 0.7, "tol": 1e-8, "fit_intercept": fit_intercept}
    model = SVC(loss="squared_hinge", **params).fit(X, sign, weight)
    xi = reference.hinge(model.decision_function(X), sign)
    np.testing.assert_allclose(sign * coefficients(model, 40), 1.4 * weight * xi, **CLOSE)
    X, y = response(rng, n=40)
    model = SVR(loss="squared_epsilon_insensitive", **params).fit(X, y, weight)
    residual = y - model.predict(X)
    xi = np.sign(residual) * np.maximum(np.abs(residual) - 0.1, 0)
    np.testing.assert_allclose(coefficients(model, 40), 1.4 * weight * xi, **CLOSE)


@kernels
@intercepts
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_squared_norm_and_slack_add_up_to_the_multipliers(kernel, fit_intercept, C, rng):
    X, sign = two_classes(rng, n=50)
    params = {"kernel": kernel, "fit_intercept": fit_intercept, "tol": 1e-8}
    model = SVC(C=C, **params).fit(X, sign)
    xi = reference.hinge(model.decision_function(X), sign)
    multipliers = np.abs(coefficients(model, 50)).sum()
    np.testing.assert_allclose(model.margin_[0] ** -2 + C * xi.sum(), multipliers, **CLOSE)


@kernels
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_slack_bounds_the_number_of_errors(kernel, C, rng):
    X, sign = two_classes(rng, n=80)
    model = SVC(C=C, kernel=kernel).fit(X, sign)
    errors = (model.predict(X) != sign).sum()
    assert errors <= reference.hinge(model.decision_function(X), sign).sum()


@kernels
@classifier_losses
def test_margin_and_slack_fall_as_the_cost_rises(kernel, loss, rng):
    X, sign = two_classes(rng, n=60)
    margins, slacks = [], []
    for C in np.logspace(-2, 2, 9):
        model = SVC(C=C, kernel=kernel, loss=loss, tol=1e-7).fit(X, sign)
        xi = reference.hinge(model.decision_function(X), sign)
        margins.append(model.margin_[0])
        slacks.append(np.sum(xi if loss == "hinge" else xi**2))
    assert (np.diff(margins) <= 1e-6).all()
    assert (np.diff(slacks) <= 1e-5).all()


@pytest.mark.parametrize("n_positive", [10, 20])
def test_intercept_without_free_vectors_minimises_the_hinge_sum(n_positive, rng):
    # The costs are so small, and the same for both classes together, that every multiplier is at
    # its bound; the samples are so far from the origin that the intercept is far from zero.
    sign = np.where(np.arange(n_positive + 10) < n_positive, 1.0, -1.0)
    weight = np.where(sign > 0, 10 / n_positive, 1.0)
    X = rng.normal(size=(len(sign), 2)) + 50
    model = SVC(kernel="linear", C=0.01, tol=1e-8).fit(X, sign, weight)
    beta = coefficients(model, len(sign))
    np.testing.assert_array_equal(beta, 0.01 * weight * sign)
    f = X @ (X.T @ beta)
    assert np.abs(f).min() > 2
    best = reference.best_intercept(lambda b: weight @ reference.hinge(f + b, sign), kinks=sign - f)
    reached = weight @ reference.hinge(f + model.intercept_[0], sign)
    np.testing.assert_allclose(reached, best, **CLOSE)
    np.testing.assert_allclose(model.primal_objective_, model.dual_objective_, **CLOSE)


def test_every_multiplier_at_its_bound_still_closes_the_gap(rng):
    X = rng.normal(size=(20, 2)) + 50
    sign = np.tile([1.0, -1.0], 10)
    model = SVC(kernel="linear", C=0.01).fit(X, sign)
    np.testing.assert_array_equal(np.abs(coefficients(model, 20)), 0.01)
    np.testing.assert_allclose(model.primal_objective_, model.dual_objective_, **CLOSE)


def test_intercept_of_a_regression_without_free_vectors(rng):
    X, y = rng.normal(size=(20, 2)), np.tile([105.0, 95.0], 10)
    model = SVR(kernel="linear", C=0.01).fit(X, y)
    np.testing.assert_array_equal(np.abs(coefficients(model, 20)), 0.01)
    np.testing.assert_allclose(model.primal_objective_, model.dual_objective_, **CLOSE)


# ---------------------------------------------------------------- hard margin


def test_hard_margin_of_the_four_points_of_the_notes():
    X = np.array([[1.0, 1.0], [2.0, 2.0], [-1.0, -1.0], [0.0, -1.0]])
    y = np.array([1, 1, -1, -1])
    model = SVC(kernel="linear", C=np.inf, tol=TIGHT).fit(X, y)
    np.testing.assert_allclose(model.coef_, [[0.4, 0.8]], **CLOSE)
    np.testing.assert_allclose(model.intercept_, [-0.2], **CLOSE)
    np.testing.assert_allclose(y * coefficients(model, 4), [0.4, 0, 0, 0.4], **CLOSE)
    np.testing.assert_allclose(model.margin_, [np.sqrt(5) / 2], **CLOSE)
    np.testing.assert_allclose(model.primal_objective_, [0.4], **CLOSE)
    np.testing.assert_allclose(model.dual_objective_, [0.4], **CLOSE)
    np.testing.assert_array_equal(np.sort(model.support_), [0, 3])


def hull_distance(A, B):
    """Return the distance of two convex hulls, by a general-purpose minimiser."""
    points = np.concatenate([A, -B])
    side = np.concatenate([np.ones(len(A)), np.zeros(len(B))])
    sums = [
        {"type": "eq", "fun": lambda c: c @ side - 1},
        {"type": "eq", "fun": lambda c: c @ (1 - side) - 1},
    ]
    start = np.concatenate([np.full(len(A), 1 / len(A)), np.full(len(B), 1 / len(B))])
    answer = optimize.minimize(
        lambda c: np.sum((c @ points) ** 2),
        start,
        jac=lambda c: 2 * points @ (c @ points),
        bounds=[(0, 1)] * len(points),
        constraints=sums,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return np.sqrt(answer.fun)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("p", [2, 5])
def test_hulls_of_the_classes_are_two_margins_apart(seed, p):
    X, sign = apart(np.random.default_rng(seed), p=p)
    model = SVC(kernel="linear", C=np.inf, tol=1e-8).fit(X, sign)
    distance = hull_distance(X[sign > 0], X[sign < 0])
    np.testing.assert_allclose(2 * model.margin_[0], distance, rtol=1e-5)
    np.testing.assert_allclose(2 / np.linalg.norm(model.coef_), distance, rtol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_nearest_sample_is_one_margin_away(seed):
    X, sign = apart(np.random.default_rng(seed))
    model = SVC(kernel="linear", C=np.inf, tol=1e-8).fit(X, sign)
    distances = sign * model.decision_function(X) / np.linalg.norm(model.coef_)
    np.testing.assert_allclose(distances.min(), model.margin_[0], **CLOSE)


@kernels
@classifier_losses
def test_hard_margin_solves_its_quadratic_programme(kernel, loss, rng):
    X, sign = apart(rng)
    model = SVC(kernel=kernel, gamma=0.4, C=np.inf, loss=loss, tol=TIGHT).fit(X, sign)
    K = gram(model, X)
    beta, b = reference.solve(reference.classification(K, sign, np.inf))
    np.testing.assert_allclose(model.decision_function(X), K @ beta + b, **CLOSE)
    np.testing.assert_allclose(model.dual_objective_, np.abs(beta).sum() / 2, **CLOSE)
    np.testing.assert_allclose(model.primal_objective_, model.dual_objective_, **CLOSE)
    np.testing.assert_allclose(model.margin_, np.abs(beta).sum() ** -0.5, **CLOSE)


def test_large_cost_is_the_hard_margin_of_separable_samples(rng):
    X, sign = apart(rng)
    hard = SVC(kernel="linear", C=np.inf, tol=1e-8).fit(X, sign)
    soft = SVC(kernel="linear", C=2 * np.abs(hard.dual_coef_).max(), tol=1e-8).fit(X, sign)
    np.testing.assert_allclose(soft.coef_, hard.coef_, **CLOSE)
    np.testing.assert_allclose(soft.intercept_, hard.intercept_, **CLOSE)


@pytest.mark.parametrize("seed", range(3))
def test_only_support_vectors_matter(seed):
    rng = np.random.default_rng(seed)
    X, sign = apart(rng)
    model = SVC(kernel="linear", C=np.inf, tol=1e-8)
    model.fit(X, sign)
    support, coef, margin = model.support_, model.coef_, model.margin_[0]
    intercept = model.intercept_
    for i in range(len(sign)):
        model.fit(np.delete(X, i, axis=0), np.delete(sign, i))
        assert model.margin_[0] >= margin - 1e-6
        if i not in support:
            np.testing.assert_allclose(model.coef_, coef, **CLOSE)
            np.testing.assert_allclose(model.intercept_, intercept, **CLOSE)
    model.fit(X[support], sign[support])
    np.testing.assert_allclose(model.coef_, coef, **CLOSE)


@pytest.mark.parametrize("seed", range(3))
def test_support_vectors_bound_the_leave_one_out_error(seed):
    rng = np.random.default_rng(seed)
    X, sign = two_classes(rng, n=30)
    model = SVC(C=1.0, gamma=0.4)
    errors = [
        model.fit(np.delete(X, i, 0), np.delete(sign, i)).predict(X[[i]])[0] != sign[i]
        for i in range(30)
    ]
    assert sum(errors) <= len(model.fit(X, sign).support_)


@kernels
def test_squared_norm_of_a_homogeneous_hard_margin_is_the_sum_of_multipliers(kernel, rng):
    X, sign = apart(rng, gap=0.5)
    X -= X[sign > 0].mean(axis=0) / 2 + X[sign < 0].mean(axis=0) / 2
    model = SVC(kernel=kernel, gamma=0.4, C=np.inf, fit_intercept=False, tol=1e-8).fit(X, sign)
    beta = coefficients(model, len(sign))
    np.testing.assert_allclose(beta @ gram(model, X) @ beta, np.abs(beta).sum(), **CLOSE)
    assert model.intercept_[0] == 0
    np.testing.assert_allclose((sign * model.decision_function(X)).min(), 1, **CLOSE)


OVERLAPS = {
    "a point in both classes": ([[0.0], [0.0]], [1, -1]),
    "a point between two others": ([[0.0], [1.0], [2.0]], [1, -1, 1]),
    "the corners of a square": ([[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, -1, -1]),
}


@pytest.mark.parametrize("case", OVERLAPS)
def test_hard_margin_of_inseparable_samples_is_an_error_with_a_proof(case):
    X, y = OVERLAPS[case]
    with pytest.raises(NotSeparableError, match=r"(?is)separable.*hull") as caught:
        SVC(kernel="linear", C=np.inf).fit(X, y)
    weights, first = caught.value.weights, np.asarray(y) == np.unique(y)[0]
    # Convex weights of both classes, whose points are the same.
    assert np.all(np.where(first, weights, -weights) >= 0)
    np.testing.assert_allclose([weights[first].sum(), -weights[~first].sum()], 1, **ALGEBRA)
    np.testing.assert_allclose(weights @ np.asarray(X), 0, atol=1e-5)


def test_noisy_samples_have_no_hard_margin(rng):
    X, sign = two_classes(rng, n=60)
    with pytest.raises(ValueError, match="separable"):
        SVC(kernel="linear", C=np.inf).fit(X, sign)
    with pytest.raises(ValueError, match="separable"):
        SVC(kernel="linear", C=np.inf, fit_intercept=False).fit(X, sign)


def test_samples_on_one_line_have_no_homogeneous_hard_margin():
    X, y = [[1.0, 1.0], [2.0, 2.0]], [1, -1]
    SVC(kernel="linear", C=np.inf).fit(X, y)
    with pytest.raises(ValueError, match="separable"):
        SVC(kernel="linear", C=np.inf, fit_intercept=False).fit(X, y)


@kernels
def test_infinite_cost_keeps_a_regression_inside_its_tube(kernel, rng):
    X = rng.normal(size=(20, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.05 * rng.uniform(-1, 1, 20)
    model = SVR(kernel=kernel, C=np.inf, epsilon=0.1, tol=1e-6).fit(X, y)
    assert np.abs(y - model.predict(X)).max() <= 0.1 + 1e-5


# ---------------------------------------------------------------- weights, order, labels

SMALL = [{"kernel": "linear"}, {"kernel": "rbf"}, {"kernel": "rbf", "C": 10.0}]
small_machines = pytest.mark.parametrize("params", SMALL, ids=str)


@small_machines
@classifier_losses
@intercepts
@containers
def test_integer_weights_are_repeated_rows(params, loss, fit_intercept, container, rng):
    X, sign = two_classes(rng, n=40)
    times = rng.integers(0, 4, 40)
    rows = np.repeat(np.arange(40), times)
    model = SVC(loss=loss, fit_intercept=fit_intercept, **params)
    weighted = model.fit(container(X), sign, times).decision_function(X)
    repeated = model.fit(container(X[rows]), sign[rows]).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, **ALGEBRA)


@small_machines
@regression_losses
@intercepts
def test_integer_weights_of_a_regression_are_repeated_rows(params, loss, fit_intercept, rng):
    X, y = response(rng, n=40)
    times = rng.integers(0, 4, 40)
    rows = np.repeat(np.arange(40), times)
    model = SVR(loss=loss, fit_intercept=fit_intercept, **params)
    weighted = model.fit(X, y, times).predict(X)
    np.testing.assert_allclose(weighted, model.fit(X[rows], y[rows]).predict(X), **ALGEBRA)


@containers
@classifier_losses
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_zero_weight_is_a_removed_row(container, loss, class_weight, rng):
    X = rng.normal(size=(50, 3))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=50), [-0.5, 0.5])
    weight = rng.uniform(0.5, 2, 50) * (rng.random(50) < 0.7)
    kept = weight > 0
    model = SVC(loss=loss, class_weight=class_weight)
    weighted = model.fit(container(X), y, weight).decision_function(X)
    support = model.support_
    removed = model.fit(container(X[kept]), y[kept], weight[kept]).decision_function(X)
    np.testing.assert_allclose(weighted, removed, **ALGEBRA)
    np.testing.assert_array_equal(support, np.flatnonzero(kept)[model.support_])


@containers
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0, 1: 0.5, 2: 1.0}], ids=str)
@pytest.mark.parametrize("vanishing", [0, 1, 2])
def test_class_without_weight_is_not_there(container, class_weight, vanishing, rng):
    X = rng.normal(size=(60, 3))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=60), [-0.5, 0.5])
    kept = y != vanishing
    if isinstance(class_weight, dict):
        class_weight = {label: value for label, value in class_weight.items() if label != vanishing}
    model = SVC(class_weight=class_weight)
    weighted = model.fit(container(X), y, kept.astype(float)).decision_function(X)
    classes, predicted = model.classes_, model.predict(container(X))
    model.fit(container(X[kept]), y[kept])
    np.testing.assert_array_equal(classes, model.classes_)
    np.testing.assert_allclose(weighted, model.decision_function(X), **ALGEBRA)
    np.testing.assert_array_equal(predicted, model.predict(container(X)))


def test_zero_weight_removes_a_row_and_column_of_a_gram_matrix(rng):
    X, sign = two_classes(rng, n=40)
    K, kept = rbf_kernel(X), rng.random(40) < 0.7
    model = SVC(kernel="precomputed")
    weighted = model.fit(K, sign, kept.astype(float)).decision_function(K)
    model.fit(K[np.ix_(kept, kept)], sign[kept])
    np.testing.assert_allclose(weighted, model.decision_function(K[:, kept]), **ALGEBRA)


@pytest.mark.parametrize("params", SMALL, ids=str)
@intercepts
def test_order_and_repetition_of_rows_do_not_matter(params, fit_intercept, rng):
    X, sign = two_classes(rng, n=40)
    model = SVC(fit_intercept=fit_intercept, **params)
    plain = model.fit(X, sign).decision_function(X)
    rows = rng.permutation(40)
    shuffled = model.fit(X[rows], sign[rows]).decision_function(X)
    np.testing.assert_allclose(shuffled, plain, rtol=1e-6, atol=1e-6)
    twice = np.concatenate([rows, rng.permutation(40)])
    model.set_params(C=model.C / 2)
    repeated = model.fit(X[twice], sign[twice]).decision_function(X)
    np.testing.assert_allclose(repeated, plain, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("params", SMALL, ids=str)
def test_order_of_rows_does_not_matter_to_a_regression(params, rng):
    X, y = response(rng, n=40)
    model = SVR(**params)
    plain = model.fit(X, y).predict(X)
    rows = rng.permutation(40)
    shuffled = model.fit(X[rows], y[rows]).predict(X)
    np.testing.assert_allclose(shuffled, plain, rtol=1e-6, atol=1e-6)


def test_order_of_rows_of_a_hard_problem_matters_within_the_gaps(rng):
    X, sign = two_classes(rng, n=500)
    X_test = rng.normal(size=(50, 3))
    model = SVC(C=1e3, gamma=0.4)
    plain, gap = model.fit(X, sign).decision_function(X_test), model.duality_gap_[0]
    rows = rng.permutation(500)
    model.fit(X[rows], sign[rows])
    # A function with a gap is within sqrt(2 gap) of the best one, in the norm of the kernel; the
    # intercepts are tied to values at common support vectors.
    distance = np.sqrt(2 * gap) + np.sqrt(2 * model.duality_gap_[0])
    difference = np.abs(model.decision_function(X_test) - plain).max()
    assert difference <= 2 * distance + 2 * model.tol
    assert difference <= 100 * model.tol


@small_machines
@classifier_losses
def test_exchanged_labels_change_the_sign(params, loss, rng):
    X, sign = two_classes(rng, n=40)
    model = SVC(loss=loss, tol=1e-8, **params)
    plain = model.fit(X, sign).decision_function(X)
    np.testing.assert_allclose(
        model.fit(X, -sign).decision_function(X), -plain, rtol=1e-6, atol=1e-6
    )


@regression_losses
def test_shifted_responses_shift_the_predictions(loss, rng):
    X, y = response(rng, n=40)
    model = SVR(loss=loss, tol=1e-8)
    plain = model.fit(X, y).predict(X)
    np.testing.assert_allclose(model.fit(X, y + 7).predict(X), plain + 7, **CLOSE)
    np.testing.assert_allclose(model.fit(X, -y).predict(X), -plain, **CLOSE)


@regression_losses
def test_unit_of_the_responses_is_that_of_the_tube(loss, rng):
    X, y = response(rng, n=40)
    model = SVR(C=1.0, epsilon=0.1, loss=loss, tol=1e-8)
    plain = model.fit(X, y).predict(X)
    cost = 8.0 if loss == "epsilon_insensitive" else 1.0
    scaled = model.set_params(C=cost, epsilon=0.8).fit(X, 8 * y).predict(X) / 8
    np.testing.assert_allclose(scaled, plain, **CLOSE)


# ---------------------------------------------------------------- other scalings of the cost


def soft_margin(X, sign, norm_factor, slack_factor):
    """Minimise ``norm_factor ||w||**2 + slack_factor sum(xi)`` over ``w, b, xi`` by SLSQP."""
    n, p = X.shape
    signed = sign[:, None] * np.column_stack([X, np.ones(n)])
    constraint = np.column_stack([signed, np.eye(n)])
    weight = np.concatenate([np.zeros(p + 1), np.full(n, slack_factor)])
    answer = optimize.minimize(
        lambda z: norm_factor * z[:p] @ z[:p] + weight @ z,
        np.concatenate([np.zeros(p + 1), np.ones(n)]),
        jac=lambda z: weight + 2 * norm_factor * np.where(np.arange(n + p + 1) < p, z, 0),
        bounds=[(None, None)] * (p + 1) + [(0, None)] * n,
        constraints={
            "type": "ineq",
            "fun": lambda z: constraint @ z - 1,
            "jac": lambda z: constraint,
        },
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return answer.x[:p], answer.x[p]


SCALINGS = {
    # name: factors of the squared norm and of the slack for (value, m), and the C of ours
    "1/2 ||w||^2 + C sum": (lambda v, m: (0.5, v), lambda v, m: v),
    "lambda ||w||^2 + sum": (lambda v, m: (v, 1.0), lambda v, m: 1 / (2 * v)),
    "1/2 ||w||^2 + C/m sum": (lambda v, m: (0.5, v / m), lambda v, m: v / m),
    "lambda ||w||^2 + mean": (lambda v, m: (v, 1 / m), lambda v, m: 1 / (2 * v * m)),
    "lambda/2 ||w||^2 + mean": (lambda v, m: (v / 2, 1 / m), lambda v, m: 1 / (v * m)),
    "||w||^2 + C sum": (lambda v, m: (1.0, v), lambda v, m: v / 2),
}


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("value", [0.3, 2.0])
def test_cost_of_every_scaling_of_the_notes(scaling, value, rng):
    factors, cost = SCALINGS[scaling]
    X, sign = two_classes(rng, n=11, p=2)
    m = len(sign)
    w, _ = soft_margin(X, sign, *factors(value, m))
    model = SVC(kernel="linear", C=cost(value, m), tol=1e-8).fit(X, sign)
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-4, atol=1e-4)


def test_regularised_form_is_the_objective_over_the_cost(rng):
    C = 3.0
    X, sign = two_classes(rng, n=40)
    model = SVC(kernel="linear", C=C).fit(X, sign)
    xi = reference.hinge(model.decision_function(X), sign)
    regularised = xi.sum() + np.sum(model.coef_**2) / (2 * C)
    np.testing.assert_allclose(C * regularised, model.primal_objective_[0], **ALGEBRA)


def test_risk_is_within_the_stability_bound(rng):
    # E R(w_S) <= R(u) + lambda ||u||^2 + 2 rho^2 / (lambda m) for every u, without an intercept.
    m, lam, rho = 20, 0.1, 1.0

    def sample(n):
        X = rng.normal(size=(n, 3))
        X *= rho * (rng.random((n, 1)) ** (1 / 3)) / np.linalg.norm(X, axis=1, keepdims=True)
        return X, np.sign(X[:, 0] + 0.3 * rng.normal(size=n))

    X_new, new_sign = sample(2000)
    params = {"kernel": "linear", "fit_intercept": False}
    risks = []
    while len(risks) < 40:
        X, sign = sample(m)
        if abs(sign.sum()) == m:
            continue
        model = SVC(C=1 / (2 * lam * m), **params).fit(X, sign)
        risks.append(reference.hinge(model.decision_function(X_new), new_sign).mean())
    best = SVC(C=1 / (2 * lam * 2000), **params).fit(X_new, new_sign)
    best_risk = reference.hinge(best.decision_function(X_new), new_sign).mean()
    u = best.coef_[0]
    assert np.mean(risks) <= best_risk + lam * u @ u + 2 * rho**2 / (lam * m)


def test_same_fit_twice_is_the_same_to_the_last_bit(rng):
    X, sign = two_classes(rng, n=60)
    first, second = (SVC(C=5.0).fit(X, sign).decision_function(X) for _ in range(2))
    np.testing.assert_allclose(first, second, **EXACT)


class TestTolerance:
    """``tol`` rules: it bounds the violation, and a larger one saves steps."""

    @pytest.mark.parametrize("C", [1.0, 30.0])
    @pytest.mark.parametrize("machine", [SVC, SVR, MulticlassSVC])
    def test_a_larger_one_takes_fewer_steps(self, rng, machine, C):
        X, sign = two_classes(rng, n=120)
        y = sign + X[:, 1] if machine is SVR else sign
        fits = [machine(C=C, tol=tol).fit(X, y) for tol in (0.3, 1e-1, 1e-3, 1e-8)]
        violations = [np.max(fit.kkt_violation_) for fit in fits]
        assert 1e-4 < violations[0] <= 0.3
        assert 1e-6 < violations[1] <= 1e-1
        assert violations[2] <= 1e-3 and violations[3] <= 1e-8
        steps = [np.max(fit.n_iter_) for fit in fits]
        assert steps[0] <= steps[1] < steps[2] <= steps[3]

    def test_holds_for_every_pair_of_classes(self, rng):
        X, y = rng.normal(size=(90, 2)), rng.integers(0, 3, size=90)
        for tol in (0.1, 1e-3, 1e-8):
            violation = SVC(tol=tol).fit(X, y).kkt_violation_
            assert ((violation > 1e-4 * tol) & (violation <= tol)).all()

    def test_does_not_limit_exact_leave_one_out(self, rng):
        X, sign = two_classes(rng, n=60)
        errors = [SVC(tol=tol).fit(X, sign).loo_error(X, sign) for tol in (0.3, 1e-3)]
        assert errors[0] == errors[1]
