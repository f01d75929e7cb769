"""Finite input gives a finite model, or an error that says what to do: never NaN."""

import itertools
import re
import warnings

import numpy as np
import pytest
from conftest import ALGEBRA
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import ConvergenceWarning

from sklearn_sl.kernel_ridge import KernelRidge, KernelRidgeCV

N = 12
CLEAR = re.compile(
    "overflow|zero on all landmarks|score is not finite|is not defined|at least two samples|"
    "training sample of positive weight|singular|samples in the test set|number of splits"
)
DATA = {
    "plain": lambda X, y: (X, y),
    "huge X": lambda X, y: (X * 1e150, y),
    "tiny X": lambda X, y: (X * 1e-150, y),
    "far X": lambda X, y: (X + 1e7, y),
    "huge y": lambda X, y: (X, y * 1e300),
    "tiny y": lambda X, y: (X, y * 1e-300),
    "denormal y": lambda X, y: (X, y * 1e-320),
    "constant y": lambda X, y: (X, np.full(N, 3.0)),
    "zero y": lambda X, y: (X, np.zeros(N)),
    "constant X": lambda X, y: (np.ones_like(X), y),
    "zero X": lambda X, y: (np.zeros_like(X), y),
    "duplicates": lambda X, y: (np.repeat(X[:4], 3, axis=0), y),
    "one row": lambda X, y: (X[:1], y[:1]),
    "two rows": lambda X, y: (X[:2], y[:2]),
    "half precision": lambda X, y: (X.astype(np.float16), y.astype(np.float16)),
    "single precision": lambda X, y: (X.astype(np.float32), y),
    "large single precision": lambda X, y: ((X * 1e15).astype(np.float32), y * 1e35),
    "small single precision": lambda X, y: ((X * 1e-30).astype(np.float32), y),
    "integers": lambda X, y: ((10 * X).astype(int), (10 * y).astype(int)),
    "objects": lambda X, y: (X.astype(object), y.astype(object)),
    "big endian": lambda X, y: (X.astype(">f8"), y.astype(">f8")),
}
WEIGHTS = {
    "none": lambda rng: None,
    "wild": lambda rng: 10.0 ** rng.integers(-12, 13, N),
    "half": lambda rng: (np.arange(N) % 2 == 0).astype(float),
    "one": lambda rng: (np.arange(N) == 0).astype(float),
}
MODELS = [
    *(KernelRidge(solver=solver, max_iter=50, random_state=0) for solver in ("auto", "cholesky")),
    *(KernelRidge(solver=solver, max_iter=50, random_state=0) for solver in ("nystrom", "cg")),
    *(KernelRidgeCV([1.0], cv=cv) for cv in (None, "gcv", 3)),
]


def infinite_attributes(model):
    """Return the names of the fitted numbers that are not finite."""
    numbers = {
        name: np.asarray(value)
        for name, value in vars(model).items()
        # A penalty may have the score minus infinity.
        if name.endswith("_") and name not in ("X_fit_", "score_path_", "kernel_")
    }
    return {
        name
        for name, value in numbers.items()
        if value.dtype.kind == "f" and not np.isfinite(value).all()
    }


# With a step of three each setting meets a third of the inputs, and each input all models.
@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("data", DATA)
def test_finite_input_gives_finite_models(data, weights, step, rng):
    X, y = rng.normal(size=(N, 3)), rng.normal(size=N)
    weight = WEIGHTS[weights](rng)
    X, y = DATA[data](X, y)
    weight = None if weight is None else weight[: len(y)]
    settings = itertools.product(
        MODELS, ("linear", "rbf", "poly"), (1.0, 1e-10, 1e-300, 1e300), (False, True)
    )
    first = (list(DATA).index(data) + list(WEIGHTS).index(weights)) % step
    n_fits = 0
    for model, kernel, alpha, fit_intercept in itertools.islice(settings, first, None, step):
        model.set_params(kernel=kernel, fit_intercept=fit_intercept)
        name = "alphas" if isinstance(model, KernelRidgeCV) else "alpha"
        model.set_params(**{name: [alpha]})
        n_fits += fits_to_something_finite(model, X, y, weight)
    assert n_fits > 0


def fits_to_something_finite(model, X, y, weight):
    """Return whether ``model`` fits; fail unless it is finite or its error is clear."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model.fit(X, y, weight)
        except ValueError as error:
            assert CLEAR.search(str(error)), error
            return False
    # With a penalty next to nothing what the coefficients make of a sample may overflow.
    allowed = {"rkhs_norm_", "loo_predictions_"} if 1e-300 in penalties(model) else set()
    assert infinite_attributes(model) <= allowed
    return True


def penalties(model):
    return model.alphas if isinstance(model, KernelRidgeCV) else model.alpha


@pytest.mark.parametrize("solver", ["auto", "cholesky", "nystrom", "cg"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@given(exponent=st.integers(-1000, 1000), fit_intercept=st.booleans())
def test_unit_of_the_targets_does_not_matter(solver, kernel, exponent, fit_intercept):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(N, 3)), rng.normal(size=(N, 2))
    model = KernelRidge(0.3, kernel=kernel, solver=solver, fit_intercept=fit_intercept, tol=1e-9)
    plain = model.fit(X, Y).predict(X)
    scale = np.ldexp(1.0, exponent)
    np.testing.assert_array_equal(model.fit(X, Y * scale).predict(X) / scale, plain)


@given(exponent=st.integers(-200, 200), fit_intercept=st.booleans())
def test_unit_of_the_features_is_that_of_the_penalty(exponent, fit_intercept):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N, 3)), rng.normal(size=N)
    scale = np.ldexp(1.0, exponent)
    for solver in ("auto", "cholesky"):
        model = KernelRidge(0.3, solver=solver, fit_intercept=fit_intercept)
        plain = model.fit(X, y).predict(X)
        scaled = model.set_params(alpha=0.3 * scale**2).fit(X * scale, y).predict(X * scale)
        np.testing.assert_allclose(scaled, plain, **ALGEBRA)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_weights_over_twelve_orders_keep_leave_one_out_exact(fit_intercept, rng):
    X, y = rng.normal(size=(N, 3)), rng.normal(size=N)
    weight = 10.0 ** rng.integers(-6, 7, N)
    options = {"kernel": "rbf", "fit_intercept": fit_intercept}
    model = KernelRidgeCV([1.0], **options).fit(X, y, weight)
    refits = [
        KernelRidge(1.0, **options)
        .fit(np.delete(X, i, 0), np.delete(y, i), np.delete(weight, i))
        .predict(X[[i]])[0]
        for i in range(N)
    ]
    np.testing.assert_allclose(model.loo_predictions_, refits, rtol=1e-6, atol=1e-6)


def test_zero_kernel_predicts_the_mean(rng):
    y = rng.normal(size=N)
    for model in (
        KernelRidge(fit_intercept=True),
        KernelRidge(fit_intercept=True, solver="cholesky"),
        KernelRidgeCV(fit_intercept=True),
        KernelRidgeCV(fit_intercept=True, cv=3),
        KernelRidgeCV(fit_intercept=True, cv="gcv"),
    ):
        model.fit(np.zeros((N, 2)), y)
        np.testing.assert_allclose(model.predict(np.ones((3, 2))), y.mean(), **ALGEBRA)


def test_coefficients_beyond_the_largest_number_are_an_error(rng):
    X, y = rng.normal(size=(N, 2)), rng.normal(size=N)
    with pytest.raises(ValueError, match="coefficients overflow float64: increase alpha"):
        KernelRidge(1e-300).fit(X, 1e20 * y)


def test_error_beyond_the_largest_number_is_no_score(rng):
    X, y = rng.normal(size=(N, 2)), rng.normal(size=N)
    for cv in (None, 3, "gcv"):
        with pytest.raises(ValueError, match="overflow"):
            KernelRidgeCV(cv=cv).fit(X, 1e200 * y)
    with pytest.raises(ValueError, match="overflows"):
        KernelRidgeCV().fit(X * 1e200, y)
