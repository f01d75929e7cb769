"""The kernels inside scikit-learn: its machines take them, and give what its own kernels give."""

import pickle

import numpy as np
import pytest
from conftest import ALGEBRA
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.decomposition import KernelPCA
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process import kernels as gp
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KernelCenterer, StandardScaler
from sklearn.svm import SVC, SVR

from sklearn_sl.kernels import (
    Centered,
    Composed,
    Exponential,
    Gaussian,
    KernelPolynomial,
    Linear,
    Matern,
    Normalized,
    Polynomial,
    Precomputed,
    Sigmoid,
)

# The same matrix by another programmer.
NEIGHBOUR = {"rtol": 1e-10, "atol": 1e-10}

NAMED = [
    (Linear(), "linear", {}),
    (Gaussian(gamma=0.3), "rbf", {"gamma": 0.3}),
    (Polynomial(3, 0.3, 0.5), "poly", {"degree": 3, "gamma": 0.3, "coef0": 0.5}),
    (Polynomial(4, 0.3, 0.0), "polynomial", {"degree": 4, "gamma": 0.3, "coef0": 0.0}),
    (Sigmoid(0.3, 0.5), "sigmoid", {"gamma": 0.3, "coef0": 0.5}),
    (Normalized(Linear()), "cosine", {}),
]
OBJECTS = [
    (Gaussian(0.7), gp.RBF(0.7)),
    (Gaussian([0.7, 1.0, 2.0, 3.0]), gp.RBF([0.7, 1.0, 2.0, 3.0])),
    *[(Matern(0.7, nu=nu), gp.Matern(0.7, nu=nu)) for nu in (0.5, 1.5, 2.5, 3.3, np.inf)],
    (Matern([0.7, 1.0, 2.0, 3.0], nu=2.5), gp.Matern([0.7, 1.0, 2.0, 3.0], nu=2.5)),
    (Linear() + 0.49, gp.DotProduct(sigma_0=0.7)),
    (Linear(), gp.DotProduct(sigma_0=0.0, sigma_0_bounds="fixed")),
    ((Linear() + 0.49) ** 2, gp.DotProduct(sigma_0=0.7) ** 2),
    (2.0 * Gaussian() * Matern() + 0.5, 2.0 * gp.RBF() * gp.Matern() + 0.5),
]
COMPOSITES = [
    0.5 * Gaussian() + Linear(),
    Normalized(Polynomial(2)),
    Centered(Gaussian()),
    Composed(Gaussian(), columns=[0, 2]) * Exponential(0.1),
    KernelPolynomial(Gaussian(), [1.0, 0.5]),
    gp.ConstantKernel(2.0) * Gaussian() + gp.WhiteKernel(0.1),
    Gaussian() + gp.RBF(2.0),
]


def name(value):
    return str(value).replace(" ", "") if isinstance(value, gp.Kernel | str) else ""


@pytest.fixture
def labelled():
    X, y = make_classification(60, 4, n_informative=3, n_redundant=0, random_state=0)
    return X[:40], y[:40], X[40:], y[40:]


@pytest.fixture
def regression():
    X, y = make_regression(60, 4, noise=5.0, random_state=0)
    return X[:40], y[:40] / y.std(), X[40:], y[40:] / y.std()


# Equal to scikit-learn's own kernels


@pytest.mark.parametrize("kernel, metric, params", NAMED, ids=name)
def test_named_kernels_of_scikit_learn_have_the_same_matrix(kernel, metric, params, rng):
    X, Y = rng.normal(size=(60, 4)), rng.normal(size=(40, 4))
    twin = pairwise_kernels(X, Y, metric=metric, **params)
    np.testing.assert_allclose(kernel(X, Y), twin, **NEIGHBOUR)
    np.testing.assert_allclose(pairwise_kernels(X, Y, metric=kernel), twin, **NEIGHBOUR)
    np.testing.assert_allclose(pairwise_kernels(X, metric=kernel), kernel(X), **NEIGHBOUR)


@pytest.mark.parametrize("kernel, twin", OBJECTS, ids=name)
def test_kernel_objects_of_scikit_learn_have_the_same_matrix_and_gradient(kernel, twin, rng):
    X, Y = rng.normal(size=(30, 4)), rng.normal(size=(20, 4))
    np.testing.assert_allclose(kernel(X, Y), twin(X, Y), **NEIGHBOUR)
    np.testing.assert_allclose(kernel.diag(X), twin.diag(X), **NEIGHBOUR)
    K, gradient = kernel(X, eval_gradient=True)
    np.testing.assert_allclose(K, twin(X), **NEIGHBOUR)
    assert kernel.is_stationary() == twin.is_stationary()
    if "DotProduct" not in str(twin):  # whose parameter is the root of our constant
        rtol = 1e-4 if getattr(kernel, "nu", None) == 3.3 else 1e-8  # theirs by differences
        np.testing.assert_allclose(gradient, twin(X, eval_gradient=True)[1], rtol=rtol, atol=rtol)


@pytest.mark.parametrize("kernel, metric, params", NAMED, ids=name)
def test_machines_give_the_same_answers_as_with_the_named_kernel(
    kernel, metric, params, labelled, regression
):
    X, y, X_test, _ = labelled
    if metric in ("linear", "rbf", "poly", "sigmoid"):
        ours, theirs = (SVC(kernel=k, **p).fit(X, y) for k, p in ((kernel, {}), (metric, params)))
        np.testing.assert_allclose(
            ours.decision_function(X_test), theirs.decision_function(X_test), rtol=1e-3, atol=1e-3
        )
    X, y, X_test, _ = regression
    if metric != "sigmoid":  # an indefinite system, which scikit-learn's KernelRidge warns of
        ours, theirs = (
            KernelRidge(0.5, kernel=k, **p).fit(X, y) for k, p in ((kernel, {}), (metric, params))
        )
        np.testing.assert_allclose(ours.predict(X_test), theirs.predict(X_test), **ALGEBRA)
    metric = "poly" if metric == "polynomial" else metric  # KernelPCA knows the short name only
    ours, theirs = (
        KernelPCA(3, kernel=k, eigen_solver="dense", **p).fit(X)
        for k, p in ((kernel, {}), (metric, params))
    )
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, **ALGEBRA)
    scores = np.abs(ours.transform(X_test)), np.abs(theirs.transform(X_test))
    np.testing.assert_allclose(*scores, rtol=1e-6, atol=1e-6)


def test_nystroem_with_all_samples_is_exact(regression):
    X, _, X_test, _ = regression
    for kernel in (Gaussian(gamma=0.3), Normalized(Polynomial(2)), Gaussian() + Linear()):
        nystroem = Nystroem(kernel, n_components=len(X), random_state=0).fit(X)
        Z = nystroem.transform(X)
        np.testing.assert_allclose(Z @ Z.T, kernel(X), rtol=1e-6, atol=1e-6)
    ours, theirs = (
        Nystroem(k, n_components=10, random_state=0, **p).fit(X).transform(X_test)
        for k, p in ((Gaussian(gamma=0.3), {}), ("rbf", {"gamma": 0.3}))
    )
    np.testing.assert_allclose(ours, theirs, **ALGEBRA)


# Machines


@pytest.mark.parametrize("kernel", COMPOSITES, ids=name)
def test_kernel_machines_take_composite_kernels(kernel, labelled, regression):
    X, y, X_test, _ = labelled
    K, K_test = kernel(X), kernel(X_test, X)
    with_object = SVC(kernel=kernel).fit(X, y)
    # SVC calls kernel(X, X), where white noise is none: so does this.
    with_matrix = SVC(kernel="precomputed").fit(kernel(X, X), y)
    np.testing.assert_allclose(
        with_object.decision_function(X_test), with_matrix.decision_function(K_test), **ALGEBRA
    )
    X, y, X_test, _ = regression
    K, K_test = kernel(X), kernel(X_test, X)
    alpha = np.linalg.solve(K + 0.5 * np.eye(len(X)), y)
    if "White" not in str(kernel):
        machine = KernelRidge(0.5, kernel=kernel).fit(X, y)
        np.testing.assert_allclose(machine.predict(X_test), K_test @ alpha, **ALGEBRA)
    gaussian = GaussianProcessRegressor(kernel, alpha=0.5, optimizer=None).fit(X, y)
    np.testing.assert_allclose(gaussian.predict(X_test), K_test @ alpha, **ALGEBRA)
    assert np.isfinite(SVR(kernel=kernel).fit(X, y).predict(X_test)).all()


def test_kernel_pca_centres_as_the_centred_kernel(regression):
    X, _, X_test, _ = regression
    K = Centered(Gaussian())(X)
    centerer = KernelCenterer().fit(Gaussian()(X))
    np.testing.assert_allclose(K, centerer.transform(Gaussian()(X)), **ALGEBRA)
    once, twice = (KernelPCA(2, kernel=k).fit(X) for k in (Gaussian(), Centered(Gaussian())))
    np.testing.assert_allclose(once.eigenvalues_, twice.eigenvalues_, **ALGEBRA)
    np.testing.assert_allclose(
        np.abs(once.transform(X_test)), np.abs(twice.transform(X_test)), **ALGEBRA
    )


def test_precomputed_kernel_is_cross_validated_by_row_number(labelled):
    X, y, _, _ = labelled
    rows = np.arange(len(X))[:, None]
    by_row = cross_val_score(SVC(kernel=Precomputed(Gaussian()(X))), rows, y)
    np.testing.assert_array_equal(by_row, cross_val_score(SVC(kernel=Gaussian()), X, y))


@pytest.mark.parametrize(
    "kernel",
    [
        1.0 * Gaussian(3.0) + gp.WhiteKernel(0.5),
        gp.ConstantKernel(1.0) * Gaussian([3.0] * 4) + gp.WhiteKernel(0.5),
        gp.WhiteKernel(0.5) + 1.0 * Matern(3.0, nu=2.5),
        Polynomial(2, 0.1, 0.1) + gp.WhiteKernel(0.5),
        Normalized(Polynomial(2, 0.1, 0.1)) * gp.ConstantKernel(1.0) + gp.WhiteKernel(0.5),
        1.0 * Composed(Gaussian(gamma=0.01), columns=[0, 1]) + Linear() + gp.WhiteKernel(0.5),
        1.0 * KernelPolynomial(Gaussian(3.0), [0.1, 1.0, 0.5]) + gp.WhiteKernel(0.5),
        (0.5 * Gaussian(3.0) + 0.5) ** 2 + gp.WhiteKernel(0.5),
    ],
    ids=name,
)
@pytest.mark.filterwarnings("ignore:The optimal value found")
def test_gaussian_process_climbs_the_marginal_likelihood_by_the_gradient(kernel, regression):
    X, y, X_test, _ = regression
    fixed = GaussianProcessRegressor(kernel, optimizer=None).fit(X, y)
    start, slope = fixed.log_marginal_likelihood(kernel.theta, eval_gradient=True)
    for k in range(kernel.n_dims):
        shift = 1e-5 * np.eye(kernel.n_dims)[k]
        ahead, behind = (fixed.log_marginal_likelihood(kernel.theta + s) for s in (shift, -shift))
        np.testing.assert_allclose(slope[k], (ahead - behind) / 2e-5, rtol=1e-4, atol=1e-4)
    free = GaussianProcessRegressor(kernel).fit(X, y)
    assert free.log_marginal_likelihood_value_ > start
    mean, deviation = free.predict(X_test, return_std=True)
    assert np.isfinite(mean).all() and (deviation > 0).all()


@pytest.mark.filterwarnings("ignore:The optimal value found")
def test_gaussian_process_ends_where_scikit_learns_kernel_does(regression):
    X, y, X_test, _ = regression
    noise = gp.WhiteKernel(0.1)
    pairs = [
        (1.0 * Gaussian(2.0) + noise, 1.0 * gp.RBF(2.0) + noise),
        (1.0 * Matern(2.0, nu=1.5) + noise, 1.0 * gp.Matern(2.0, nu=1.5) + noise),
    ]
    for ours, theirs in pairs:
        ours, theirs = (GaussianProcessRegressor(k).fit(X, y) for k in (ours, theirs))
        np.testing.assert_allclose(ours.kernel_.theta, theirs.kernel_.theta, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(ours.predict(X_test), theirs.predict(X_test), atol=1e-4)


@pytest.mark.filterwarnings("ignore:The optimal value found")
def test_gaussian_process_classifier_takes_the_kernels(labelled):
    X, y, X_test, _ = labelled
    kernel = 1.0 * Gaussian(2.0)
    fitted = GaussianProcessClassifier(kernel).fit(X, y)
    twin = GaussianProcessClassifier(1.0 * gp.RBF(2.0)).fit(X, y)
    np.testing.assert_allclose(fitted.predict_proba(X_test), twin.predict_proba(X_test), atol=1e-3)


# Search, pipelines, pickles


@pytest.mark.parametrize(
    "kernel, grid",
    [
        (Gaussian(gamma=1.0), {"kernel__gamma": [0.01, 0.1, 1.0]}),
        (Normalized(Polynomial()), {"kernel__kernel__degree": [1, 2, 3]}),
        (Linear() + Gaussian(), {"kernel__k2__length_scale": [0.1, 1.0, 10.0]}),
        (
            Normalized(Linear() * Matern() + 0.5),
            {
                "kernel__kernel__k1__k2__nu": [0.5, 1.5],
                "kernel__kernel__k2__constant_value": [0, 1],
            },
        ),
        (Gaussian(), {"kernel": [Linear(), Gaussian(), Polynomial(2)]}),
        (KernelPolynomial(Linear(), [1.0, 1.0]), {"kernel__coefficients": [[1, 1], [0, 0, 1]]}),
    ],
    ids=name,
)
@pytest.mark.parametrize("machine", [KernelRidge(0.1), SVR()], ids=["ridge", "svr"])
def test_grid_search_over_nested_parameters_finds_the_best(machine, kernel, grid, regression):
    X, y, X_test, _ = regression
    machine = clone(machine).set_params(kernel=kernel)
    search = GridSearchCV(machine, grid, cv=3).fit(X, y)
    scores = [
        np.mean(cross_val_score(clone(machine).set_params(**params), X, y, cv=3))
        for params in search.cv_results_["params"]
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], scores, **ALGEBRA)
    assert len(set(np.round(scores, 10))) > 1  # the parameters arrive
    best = clone(machine).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_allclose(search.predict(X_test), best.predict(X_test), **ALGEBRA)


def test_search_leaves_the_kernel_of_the_user_alone(regression):
    X, y, _, _ = regression
    kernel = Normalized(Polynomial(3))
    GridSearchCV(KernelRidge(kernel=kernel), {"kernel__kernel__degree": [1, 2]}, cv=2).fit(X, y)
    GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None).fit(X, y)
    assert kernel == Normalized(Polynomial(3))


@pytest.mark.parametrize("kernel", COMPOSITES, ids=name)
def test_fitted_machines_survive_pickling(kernel, regression):
    X, y, X_test, _ = regression
    for machine in (
        SVR(kernel=kernel),
        KernelRidge(kernel=kernel),
        GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None),
        make_pipeline(StandardScaler(), KernelPCA(2, kernel=kernel), KernelRidge()),
    ):
        fitted = machine.fit(X, y)
        copy = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(copy.predict(X_test), fitted.predict(X_test))
