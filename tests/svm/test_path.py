"""Paths in C: the same as refits, the same as each other, monotone, and certified."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, solver
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from sklearn_sl.kernels import Gaussian, Normalized, Spectrum
from sklearn_sl.svm import SVC, _solver, svm_path
from sklearn_sl.svm import _path as path_module

CS = np.array([0.01, 0.1, 0.5, 2.0, 10.0, 100.0])
METHODS = ["warm", "exact"]
LOSSES = ["hinge", "squared_hinge"]
methods = pytest.mark.parametrize("method", METHODS)
losses = pytest.mark.parametrize("loss", LOSSES)
intercepts = pytest.mark.parametrize("fit_intercept", [True, False])
kernels = pytest.mark.parametrize("kernel", ["linear", "rbf"])
every_path = pytest.mark.parametrize(
    ("method", "loss"), [("warm", "hinge"), ("warm", "squared_hinge"), ("exact", "hinge")]
)
# Where refits are the standard both are solved to this violation, which leaves this in the values.
TIGHT = {"tol": 1e-10}
CLOSE = {"rtol": 1e-6, "atol": 1e-7}


def samples(rng, n=60, p=3, noise=0.7):
    """Return overlapping samples of two classes."""
    X = rng.normal(size=(n, p))
    y = (X[:, 0] - X[:, 1] ** 2 + noise * rng.normal(size=n) > -0.5).astype(int)
    y[:2] = 0, 1
    return X, y


def gram_of(kernel, X):
    return X @ X.T if kernel == "linear" else rbf_kernel(X, gamma=0.5)


def assert_refits_agree(path, X, y, values, sample_weight=None, **params):
    """Compare the training values of each machine of the path with those of a fit."""
    for C, found, gap in zip(path.Cs, values, path.duality_gap, strict=True):
        model = SVC(C=C, **TIGHT, **params).fit(X, y, sample_weight)
        np.testing.assert_allclose(found, model.decision_function(X), **CLOSE, err_msg=f"C={C}")
        assert -1e-9 * C * len(y) <= gap <= 1e-9 * C * len(y)


# ---------------------------------------------------------------- refits


@every_path
@intercepts
@kernels
def test_path_has_the_machines_of_refits(method, loss, fit_intercept, kernel, rng):
    X, y = samples(rng)
    params = {"kernel": kernel, "gamma": 0.5, "loss": loss, "fit_intercept": fit_intercept}
    path = svm_path(X, y, CS, method=method, **TIGHT, **params)
    values = path.dual_coef @ gram_of(kernel, X) + path.intercept[:, None]
    assert_refits_agree(path, X, y, values, **params)


@every_path
def test_path_has_the_certificates_of_refits(method, loss, rng):
    X, y = samples(rng)
    path = svm_path(X, y, CS, method=method, loss=loss, **TIGHT)
    models = [SVC(C=C, loss=loss, **TIGHT).fit(X, y) for C in CS]
    for name in ("dual_objective", "primal_objective", "margin"):
        refits = [getattr(model, f"{name}_")[0] for model in models]
        np.testing.assert_allclose(getattr(path, name), refits, **ALGEBRA, err_msg=name)
    assert path.kkt_violation.max() < 1e-8
    assert path.converged.all()


@methods
def test_weights_of_samples_and_classes_multiply_the_cost(method, rng):
    X, y = samples(rng)
    weight = rng.integers(0, 3, len(y)).astype(float)
    params = {"class_weight": {0: 1.0, 1: 2.5}, "gamma": 0.5}
    path = svm_path(X, y, CS, sample_weight=weight, method=method, **TIGHT, **params)
    values = path.dual_coef @ rbf_kernel(X, gamma=0.5) + path.intercept[:, None]
    assert_refits_agree(path, X, y, values, weight, **params)
    assert not path.dual_coef[:, weight == 0].any()


@methods
def test_zero_weight_is_a_removed_row(method, rng):
    X, y = samples(rng)
    kept = rng.random(len(y)) < 0.7
    path = svm_path(X, y, CS, sample_weight=kept.astype(float), method=method, **TIGHT)
    removed = svm_path(X[kept], y[kept], CS, method=method, **TIGHT)
    np.testing.assert_allclose(path.dual_coef[:, kept], removed.dual_coef, **CLOSE)
    np.testing.assert_allclose(path.intercept, removed.intercept, **CLOSE)


@pytest.mark.parametrize("cache_size", [1, 20, 200])
@losses
def test_cache_that_is_too_small_does_not_change_the_path(cache_size, loss, rng):
    X, y = samples(rng, n=700)
    path = svm_path(X, y, [0.1, 1.0, 10.0], loss=loss, tol=1e-5, cache_size=cache_size)
    for C, b, intercept in zip(path.Cs, path.dual_coef, path.intercept, strict=True):
        model = SVC(C=C, loss=loss, tol=1e-5).fit(X, y)
        values = model.kernel_(X, X) @ b + intercept
        np.testing.assert_allclose(values, model.decision_function(X), **solver(1e-5))


def test_blocks_in_single_precision_give_true_certificates(rng, monkeypatch):
    # As for thousands of samples: numbers in float32 steer, numbers in float64 certify.
    monkeypatch.setattr(_solver, "EXACT", 100)
    X, y = samples(rng, n=600)
    path = svm_path(X, y, CS, gamma=0.5)
    K, sign = rbf_kernel(X, gamma=0.5), 2 * y - 1
    values = path.dual_coef @ K + path.intercept[:, None]
    norms = np.einsum("ci,ij,cj->c", path.dual_coef, K, path.dual_coef)
    slack = np.maximum(1 - sign * values, 0).sum(axis=1)
    np.testing.assert_allclose(path.primal_objective, norms / 2 + CS * slack, **ALGEBRA)
    dual = path.dual_coef @ sign - norms / 2
    np.testing.assert_allclose(path.dual_objective, dual, **ALGEBRA)
    assert path.kkt_violation.max() <= 1e-3


# ---------------------------------------------------------------- the two methods


@kernels
@intercepts
def test_warm_path_and_exact_path_agree(kernel, fit_intercept, rng):
    X, y = samples(rng)
    params = {"kernel": kernel, "gamma": 0.5, "fit_intercept": fit_intercept}
    warm, exact = (svm_path(X, y, CS, method=method, **TIGHT, **params) for method in METHODS)
    K = gram_of(kernel, X)
    np.testing.assert_allclose(warm.dual_coef @ K, exact.dual_coef @ K, **CLOSE)
    np.testing.assert_allclose(warm.intercept, exact.intercept, **CLOSE)
    np.testing.assert_allclose(warm.dual_objective, exact.dual_objective, **ALGEBRA)


def test_exact_path_is_known_everywhere_between_its_ends(rng):
    X, y = samples(rng)
    path = svm_path(X, y, [0.05, 20.0], method="exact", gamma=0.5)
    assert path.breakpoints[0] == 0.05 and path.breakpoints[-1] == 20.0
    between = np.exp(rng.uniform(np.log(0.05), np.log(20), 15))
    dual_coef, intercept = path.at(between)
    values = dual_coef @ rbf_kernel(X, gamma=0.5) + intercept[:, None]
    for C, found in zip(between, values, strict=True):
        model = SVC(C=C, gamma=0.5, **TIGHT).fit(X, y)
        np.testing.assert_allclose(found, model.decision_function(X), **CLOSE)
    at_the_end, intercept = path.at(20.0)
    np.testing.assert_allclose(at_the_end, path.dual_coef[-1], **ALGEBRA)
    np.testing.assert_allclose(intercept, path.intercept[-1], **ALGEBRA)


@kernels
@pytest.mark.parametrize("seed", range(4))
def test_exact_path_has_the_intercept_of_fits_where_no_vector_is_free(kernel, seed):
    # The middle of an interval, either end of which passes from sample to sample.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 2))
    y = np.where(X[:, 0] + 2 * rng.normal(size=20) > 0, 1, -1)
    path = svm_path(X, y, [0.005, 1.0], method="exact", kernel=kernel, gamma=0.5)
    for C in np.geomspace(0.006, 0.9, 30):
        model = SVC(C=C, kernel=kernel, gamma=0.5, **TIGHT).fit(X, y)
        np.testing.assert_allclose(path.at(C)[1], model.intercept_[0], **CLOSE, err_msg=f"C={C}")


def test_coefficients_are_linear_between_breakpoints(rng):
    X, y = samples(rng)
    path = svm_path(X, y, [0.05, 20.0], method="exact", gamma=0.5)
    left, right = path.breakpoints[:-1], path.breakpoints[1:]
    inner = svm_path(X, y, (left + right) / 2, method="warm", gamma=0.5, **TIGHT)
    middle = (path.at(left)[0] + path.at(right)[0]) / 2
    np.testing.assert_allclose(middle, inner.dual_coef, rtol=1e-5, atol=1e-7)


def test_number_of_steps_counts_the_breakpoints_that_were_passed(rng):
    X, y = samples(rng)
    path = svm_path(X, y, CS, method="exact")
    assert path.n_iter[0] == 1 and path.n_iter[-1] == len(path.breakpoints)
    assert (np.diff(path.n_iter) >= 0).all()


# ---------------------------------------------------------------- theorems


@every_path
@kernels
def test_margin_and_slack_fall_and_the_objective_rises_with_the_cost(method, loss, kernel, rng):
    X, y = samples(rng)
    Cs = np.logspace(-2, 2, 30)
    path = svm_path(X, y, Cs, method=method, loss=loss, kernel=kernel, gamma=0.5, **TIGHT)
    norms = path.margin**-2.0
    slack = (path.primal_objective - norms / 2) / Cs
    assert (np.diff(norms) >= -1e-6 * norms[1:]).all()
    assert (np.diff(slack) <= 1e-6 * slack[1:]).all()
    assert (np.diff(path.dual_objective) >= 0).all()


@losses
def test_objective_is_concave_in_the_cost(loss, rng):
    # The optimum is the least of functions that are linear in C, one for each machine.
    X, y = samples(rng)
    path = svm_path(X, y, np.linspace(0.1, 10, 40), loss=loss, **TIGHT)
    assert (np.diff(path.dual_objective, 2) <= 1e-9 * path.dual_objective[-1]).all()


@methods
def test_path_of_separable_samples_ends_in_the_hard_margin(method, rng):
    X, y = samples(rng, noise=0.0)
    X[y == 1, 2] += 8.0
    path = svm_path(X, y, np.logspace(-3, 4, 15), kernel="linear", method=method, **TIGHT)
    hard = SVC(C=np.inf, kernel="linear", **TIGHT).fit(X, y)
    np.testing.assert_allclose(path.dual_coef[-1] @ X, hard.coef_[0], **CLOSE)
    np.testing.assert_allclose(path.margin[-1], hard.margin_[0], **CLOSE)


@losses
def test_warm_starts_save_steps(loss, rng):
    X, y = samples(rng, n=600, p=10)
    Cs = np.logspace(-2, 2, 17)
    warm = svm_path(X, y, Cs, loss=loss).n_iter[1:].sum()
    assert warm < 0.85 * sum(SVC(C=C, loss=loss).fit(X, y).n_iter_[0] for C in Cs[1:])


# ---------------------------------------------------------------- input


@methods
def test_order_of_the_costs_does_not_matter(method, rng):
    X, y = samples(rng)
    path = svm_path(X, y, CS[::-1], method=method)
    np.testing.assert_array_equal(path.Cs, CS)
    np.testing.assert_array_equal(path.dual_coef, svm_path(X, y, CS, method=method).dual_coef)


def test_default_costs_are_spread_over_six_decades(rng):
    X, y = samples(rng)
    np.testing.assert_allclose(svm_path(X, y).Cs, np.logspace(-3, 3, 13))


@methods
def test_single_cost_is_a_path(method, rng):
    X, y = samples(rng)
    path = svm_path(X, y, 2.0, method=method, **TIGHT)
    model = SVC(C=2.0, **TIGHT).fit(X, y)
    np.testing.assert_allclose(path.dual_objective, model.dual_objective_, **ALGEBRA)


@methods
@pytest.mark.parametrize("labels", [[-1, 1], ["no", "yes"], [3.0, 7.0], [False, True]])
def test_labels_of_any_kind_are_given_back(method, labels, rng):
    X, y = samples(rng)
    path = svm_path(X, np.array(labels)[y], [0.5, 5.0], method=method)
    assert path.classes.tolist() == labels
    np.testing.assert_array_equal(
        path.dual_coef, svm_path(X, y, [0.5, 5.0], method=method).dual_coef
    )


@methods
@pytest.mark.parametrize("kernel", ["csr", "object", "function", "precomputed"])
def test_kernels_and_samples_of_every_kind_give_one_path(method, kernel, rng):
    X, y = samples(rng)
    expected = svm_path(X, y, CS, method=method, gamma=0.5, **TIGHT)
    arguments = {
        "csr": (sp.csr_array(X), {"gamma": 0.5}),
        "object": (X, {"kernel": Gaussian(gamma=0.5)}),
        "function": (X, {"kernel": rbf_kernel, "kernel_params": {"gamma": 0.5}}),
        "precomputed": (rbf_kernel(X, gamma=0.5), {"kernel": "precomputed"}),
    }
    samples_given, params = arguments[kernel]
    path = svm_path(samples_given, y, CS, method=method, **TIGHT, **params)
    np.testing.assert_allclose(path.dual_coef, expected.dual_coef, rtol=1e-5, atol=1e-7)


@methods
def test_path_of_strings(method):
    words, animal = ["cat", "cart", "carat", "dog", "doge", "dodge"], [0, 0, 0, 1, 1, 1]
    kernel = Normalized(Spectrum(p=2))
    path = svm_path(words, animal, [0.1, 1.0, 10.0], kernel=kernel, method=method, **TIGHT)
    for C, objective in zip(path.Cs, path.dual_objective, strict=True):
        model = SVC(C=C, kernel=kernel, **TIGHT).fit(words, animal)
        np.testing.assert_allclose(objective, model.dual_objective_[0], **ALGEBRA)


def test_path_cannot_be_changed(rng):
    path = svm_path(*samples(rng), [1.0])
    with pytest.raises(dataclasses.FrozenInstanceError):
        path.Cs = np.ones(1)


# ---------------------------------------------------------------- errors and warnings


@pytest.mark.parametrize("Cs", [[0.0, 1.0], [-1.0], [1.0, np.inf], [np.nan], [], [[1.0, 2.0]]])
def test_costs_must_be_positive_and_finite(Cs, rng):
    with pytest.raises(ValueError, match="positive finite floats"):
        svm_path(*samples(rng), Cs)


@methods
def test_three_classes_have_no_path(method, rng):
    X, y = samples(rng)
    with pytest.raises(ValueError, match="two classes in svm_path; got 3"):
        svm_path(X, np.where(X[:, 2] > 1, 2, y), method=method)


def test_squared_hinge_has_no_exact_path(rng):
    with pytest.raises(ValueError, match="requires loss='hinge', whose path is piecewise linear"):
        svm_path(*samples(rng), loss="squared_hinge", method="exact")


def test_unknown_method_is_named(rng):
    with pytest.raises(ValueError, match="'warm' or 'exact'; got 'cold'"):
        svm_path(*samples(rng), method="cold")


def test_senseless_parameters_are_named(rng):
    with pytest.raises(ValueError, match="'tol' parameter"):
        svm_path(*samples(rng), tol=0.0)


def test_warm_path_has_no_breakpoints(rng):
    path = svm_path(*samples(rng), [1.0])
    with pytest.raises(AttributeError, match="method='exact'"):
        path.at(1.0)
    assert not hasattr(path, "breakpoints")


def test_exact_path_that_runs_out_of_breakpoints_ends_early(rng):
    X, y = samples(rng)
    with pytest.warns(ConvergenceWarning, match="max_breakpoints"):
        path = svm_path(X, y, CS, method="exact", max_breakpoints=20)
    assert len(path.breakpoints) == 20
    assert 0 < len(path.Cs) == len(path.dual_coef) < len(CS)


def test_too_few_steps_are_a_warning_with_the_gap(rng):
    X, y = samples(rng)
    with pytest.warns(ConvergenceWarning, match=r"2 of 2 values.*duality gap"):
        path = svm_path(X, y, [1.0, 10.0], max_iter=5)
    assert not path.converged.any()
    assert (path.duality_gap > 0).all()


def test_exact_path_that_cannot_fit_is_refused(rng, monkeypatch):
    def refuse(n_bytes, what, advice):
        raise ValueError(f"{what} is too large: {advice}")

    monkeypatch.setattr(path_module, "check_memory", refuse)
    with pytest.raises(ValueError, match="method='warm'"):
        svm_path(*samples(rng), method="exact")
