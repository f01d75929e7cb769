"""Eigenfunctions of a Gaussian graph: the one-dimensional problems, the labels, and the scale."""

import tracemalloc

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics.pairwise import rbf_kernel

from sklearn_sl.graph import EigenfunctionClassifier, _eigenfunctions
from sklearn_sl.graph._eigenfunctions import eigenfunctions_on_bins, hat_functions

# The part of the mass that is spread is nothing then.
EXACT_DENSITY = 1e-14


def few_labels(y, n_each, seed=0):
    """Return labels of which ``n_each`` of each class are kept, and -1 for the others."""
    rng = np.random.default_rng(seed)
    kept = [rng.choice(np.flatnonzero(y == c), n_each, replace=False) for c in np.unique(y)]
    some = np.full(len(y), -1)
    some[np.concatenate(kept)] = y[np.concatenate(kept)]
    return some


def bins_problem(mass, width, gamma):
    """Return ``D - P W P`` and ``D`` of the bins."""
    at = width * np.arange(len(mass))
    joint = mass[:, None] * np.exp(-gamma * np.subtract.outer(at, at) ** 2) * mass
    D = np.diag(joint.sum(axis=0))
    return D - joint, D


masses = st.lists(st.floats(0.01, 1), min_size=3, max_size=25).map(np.array)


# ---------------------------------------------------------------- one coordinate


@given(masses, st.floats(0.05, 1.4))
def test_functions_solve_the_generalised_eigenproblem_of_the_bins(mass, width):
    sigma, functions = eigenfunctions_on_bins(mass, width, 1.0)
    A, D = bins_problem(mass, width, 1.0)
    np.testing.assert_allclose(A @ functions.T, D @ functions.T * sigma, **ALGEBRA)
    products = functions @ D @ functions.T / D.sum()
    np.testing.assert_allclose(products, np.eye(len(sigma)), **ALGEBRA)
    np.testing.assert_allclose(functions @ D.sum(axis=0), 0, atol=1e-9)


@given(masses, st.floats(0.05, 1.4))
def test_eigenvalues_are_all_of_a_dense_solver_that_are_not_rough(mass, width):
    sigma, _ = eigenfunctions_on_bins(mass, width, 1.0)
    every = linalg.eigh(*bins_problem(mass, width, 1.0), eigvals_only=True)
    np.testing.assert_allclose(sigma, every[1 : 1 + len(sigma)], **ALGEBRA)
    assert np.all(every[1 + len(sigma) :] > _eigenfunctions.ROUGH - 1e-9)


@given(masses)
def test_function_k_changes_its_sign_k_times_and_ends_positive(mass):
    _, functions = eigenfunctions_on_bins(mass, 0.7, 1.0)
    changes = np.count_nonzero(np.diff(np.sign(functions), axis=1), axis=1)
    np.testing.assert_array_equal(changes, np.arange(1, len(functions) + 1))
    assert np.all(functions[:, -1] > 0)


@pytest.mark.parametrize("gamma", [500.0, 2000.0])
def test_functions_of_a_uniform_density_are_cosines(gamma):
    n_bins = 400
    at = np.linspace(0, 1, n_bins)
    sigma, functions = eigenfunctions_on_bins(np.ones(n_bins), at[1], gamma)
    for k in range(1, 5):
        wave = np.sqrt(2) * np.cos(k * np.pi * at) * (-1) ** k
        # Within the reach of the kernel the ends differ.
        np.testing.assert_allclose(functions[k - 1], wave, atol=1.5 * k / np.sqrt(gamma))
        assert sigma[k - 1] == pytest.approx((k * np.pi) ** 2 / (4 * gamma), rel=2 / gamma**0.5)


def test_cosines_are_approached_as_the_kernel_narrows():
    at = np.linspace(0, 1, 800)
    errors = []
    for gamma in (100.0, 400.0, 1600.0, 6400.0):
        _, functions = eigenfunctions_on_bins(np.ones(800), at[1], gamma)
        errors.append(np.abs(functions[0] + np.sqrt(2) * np.cos(np.pi * at)).max())
    ratios = np.array(errors[1:]) / errors[:-1]
    assert np.all(ratios < 0.6)  # halved with the width of the kernel


@pytest.mark.parametrize("a", [0.1, 1.0, 10.0])
def test_eigenvalues_of_a_normal_density_are_powers_of_a_correlation(a):
    # exp(-gamma (s - t)^2) p(s) p(t) is a normal density of the correlation 2 a / (1 + 2 a).
    at = np.linspace(-8, 8, 600)
    sigma, functions = eigenfunctions_on_bins(np.exp(-(at**2) / 2), at[1] - at[0], a)
    correlation = 2 * a / (1 + 2 * a)
    powers = correlation ** np.arange(1, 4)
    kept = powers > 0.002
    np.testing.assert_allclose(sigma[:3][kept], 1 - powers[kept], rtol=1e-6)
    # The first one is linear, as far as there is any mass.
    middle = np.abs(at) < 4
    slope = functions[0][middle] / at[middle]
    np.testing.assert_allclose(slope, slope[0], rtol=1e-4)


def test_kernel_narrower_than_the_bins_is_widened_to_them():
    mass = np.array([1.0, 2.0, 3.0, 2.0])
    narrow = eigenfunctions_on_bins(mass, 1.0, 1e9)
    widened = eigenfunctions_on_bins(mass, 1.0, _eigenfunctions.NEIGHBOURS)
    for one, other in zip(narrow, widened, strict=True):
        np.testing.assert_allclose(one, other, **EXACT)


def test_hat_functions_interpolate_and_count(rng):
    S, low, width = rng.uniform(-1, 3, size=(50, 2)), np.array([-0.5, 0.0]), np.array([0.25, 0.5])
    hats = hat_functions(S, low, width, 7)
    values = rng.normal(size=(2, 7))
    centers = low[:, None] + width[:, None] * np.arange(7)
    by_hand = sum(np.interp(S[:, j], centers[j], values[j]) for j in range(2))
    np.testing.assert_allclose(hats @ values.ravel(), by_hand, **EXACT)
    shares = hats.toarray().reshape(50, 2, 7)
    np.testing.assert_allclose(shares.sum(axis=2), 1, **EXACT)
    means = np.einsum("ijb,jb->ij", shares, centers)
    np.testing.assert_allclose(means, np.clip(S, centers[:, 0], centers[:, -1]), **EXACT)


# ---------------------------------------------------------------- the graph that is not built


def product_grid(rng, n_bins):
    """Return the points of a grid with product weights of exactly diagonal covariance."""
    sides = [np.linspace(-1, 1, n_bins) * reach for reach in (3.0, 1.7)]
    half = [rng.uniform(0.2, 1, size=n_bins) for _ in sides]
    masses = [one + one[::-1] for one in half]  # even: the mean is in the middle
    X = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, 2)
    return X, np.outer(*masses).ravel()


def dense_problem(X, weight, gamma):
    """Return the normalised problem ``D - W``, ``D`` of the complete graph of weighted points."""
    joint = weight[:, None] * rbf_kernel(X, gamma=gamma) * weight
    D = np.diag(joint.sum(axis=0))
    return D - joint, D


def fitted_on_grid(rng, gamma=0.8, n_bins=9, alpha=0.5):
    """Return a model that knows its density exactly, the grid, the weights and the labels."""
    X, weight = product_grid(rng, n_bins)
    y = np.where(rng.random(len(X)) < 0.3, rng.integers(0, 3, len(X)), -1)
    model = EigenfunctionClassifier(
        1000, n_bins=n_bins, gamma=gamma, alpha=alpha, smoothing=EXACT_DENSITY
    )
    return model.fit(X, y, sample_weight=weight), X, weight, y


def test_functions_are_eigenvectors_of_the_complete_graph_if_the_density_is_a_product(rng):
    model, X, weight, _ = fitted_on_grid(rng)
    A, D = dense_problem(X, weight, 0.8)
    U = model.eigenfunctions(X)
    assert U.shape[1] >= 6
    np.testing.assert_allclose(A @ U, D @ U * model.eigenvalues_, rtol=1e-6, atol=1e-9 * D.max())
    np.testing.assert_allclose(U.T @ D @ U / D.sum(), np.eye(U.shape[1]), **ALGEBRA)


def test_smallest_eigenvalue_is_the_second_one_of_the_complete_graph(rng):
    model, X, weight, _ = fitted_on_grid(rng)
    every = linalg.eigh(*dense_problem(X, weight, 0.8), eigvals_only=True)
    assert model.eigenvalues_[0] == pytest.approx(every[1], rel=1e-7)


def test_energy_is_that_of_the_functions_on_the_complete_graph(rng):
    model, X, weight, _ = fitted_on_grid(rng)
    A, D = dense_problem(X, weight, 0.8)
    F = model.eigenfunctions(X) @ model.coef_ + model.intercept_
    assert model.energy_ == pytest.approx(np.trace(F.T @ A @ F) / D.sum(), rel=1e-7)


# ---------------------------------------------------------------- labels


def test_coefficients_solve_the_soft_constraints_as_least_squares_do(rng):
    model, X, weight, y = fitted_on_grid(rng)
    U, labelled = model.eigenfunctions(X), y >= 0
    root = np.sqrt(weight[labelled])[:, None]
    k = U.shape[1]
    rows = np.vstack(
        [
            root * np.column_stack([np.ones(labelled.sum()), U[labelled]]),
            np.column_stack([np.zeros(k), np.diag(np.sqrt(0.5 * model.eigenvalues_))]),
        ]
    )
    targets = np.vstack([root * np.eye(3)[y[labelled]], np.zeros((k, 3))])
    solution = linalg.lstsq(rows, targets)[0]
    np.testing.assert_allclose(model.intercept_, solution[0], **ALGEBRA)
    np.testing.assert_allclose(model.coef_, solution[1:], **ALGEBRA)
    assert model.objective_ == pytest.approx(np.sum((rows @ solution - targets) ** 2), rel=1e-9)
    assert model.residual_norm_ < 1e-12


def test_certificates_are_what_they_say(rng):
    model, X, weight, y = fitted_on_grid(rng)
    labelled = y >= 0
    F = model.eigenfunctions(X[labelled]) @ model.coef_ + model.intercept_
    Y, w = np.eye(3)[y[labelled]], weight[labelled]
    loss = w @ np.sum((F - Y) ** 2, axis=1)
    assert model.energy_ == pytest.approx(model.eigenvalues_ @ np.sum(model.coef_**2, axis=1))
    assert model.objective_ == pytest.approx(loss + 0.5 * model.energy_)
    np.testing.assert_allclose(model.prior_, w @ Y / w.sum(), **EXACT)
    assert model.label_fit_ == pytest.approx(
        1 - loss / (w @ np.sum((Y - model.prior_) ** 2, axis=1))
    )


def test_functions_of_the_classes_add_up_to_one(rng):
    X, y = make_blobs(300, centers=4, n_features=3, random_state=0)
    model = EigenfunctionClassifier(alpha=0.01).fit(X, few_labels(y, 3))
    F = model.eigenfunctions(10 * rng.normal(size=(100, 3))) @ model.coef_ + model.intercept_
    np.testing.assert_allclose(F.sum(axis=1), 1, **ALGEBRA)


def test_probabilities_are_the_positive_parts_of_the_functions(rng):
    X, y = make_blobs(300, centers=4, n_features=3, random_state=0)
    model = EigenfunctionClassifier(alpha=0.01).fit(X, few_labels(y, 3))
    F = np.maximum(model.eigenfunctions(X) @ model.coef_ + model.intercept_, 0)
    assert np.any(F == 0)
    by_hand = F / F.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), by_hand, **ALGEBRA)
    np.testing.assert_allclose(model.label_distributions_, by_hand, **ALGEBRA)
    np.testing.assert_array_equal(model.transduction_, F.argmax(axis=1))
    np.testing.assert_array_equal(model.predict(X), F.argmax(axis=1))


def test_more_alpha_is_less_energy_and_less_fit():
    X, y = make_blobs(300, centers=4, n_features=3, cluster_std=3, random_state=0)
    models = [
        EigenfunctionClassifier(alpha=alpha).fit(X, few_labels(y, 10)) for alpha in (0.1, 10, 1e3)
    ]
    assert np.all(np.diff([model.energy_ for model in models]) < 0)
    assert np.all(np.diff([model.label_fit_ for model in models]) < 0)
    flat = EigenfunctionClassifier(alpha=1e12).fit(X, few_labels(y, 10))
    np.testing.assert_allclose(flat.predict_proba(X), 0.25, atol=1e-6)


def test_unlabelled_samples_tell_where_the_classes_are():
    X, y = make_blobs(2000, centers=[[-4, 0], [0, 0], [4, 0]], random_state=0)
    some = few_labels(y, 1)
    with_all = EigenfunctionClassifier().fit(X, some)
    assert np.mean(with_all.transduction_ == y) > 0.95


def test_digits_are_told_apart_by_ten_labels_each():
    X, y = load_digits(return_X_y=True)
    scores = []
    for seed in range(3):
        some = few_labels(y, 10, seed)
        model = EigenfunctionClassifier().fit(X, some)
        scores.append(np.mean(model.transduction_[some < 0] == y[some < 0]))
    assert np.mean(scores) > 0.84


def test_unlabelled_marks_are_what_the_parameter_says():
    X, y = make_blobs(60, centers=3, random_state=0)
    words = np.array(["a", "b", "c"])[y]
    words[10:] = "?"
    some = np.where(np.arange(60) < 10, y, -1)
    by_word = EigenfunctionClassifier(unlabelled="?").fit(X, words)
    by_number = EigenfunctionClassifier().fit(X, some)
    np.testing.assert_allclose(by_word.predict_proba(X), by_number.predict_proba(X), **EXACT)
    four = EigenfunctionClassifier(unlabelled=None).fit(X, some)
    np.testing.assert_array_equal(four.classes_, [-1, 0, 1, 2])
    with pytest.warns(UserWarning, match="two classes"):
        signs = EigenfunctionClassifier().fit(X, np.where(y > 0, 1, -1))
    np.testing.assert_array_equal(signs.classes_, [-1, 1])


def test_samples_without_any_label_are_an_error():
    with pytest.raises(ValueError, match="unlabelled"):
        EigenfunctionClassifier().fit([[0.0], [1.0]], [-1, -1])


# ---------------------------------------------------------------- symmetries


@pytest.fixture
def some_labels():
    X, y = make_blobs(200, centers=3, n_features=4, cluster_std=2, random_state=1)
    return X, few_labels(y, 10)


def test_integer_weights_are_repeated_rows_with_and_without_labels(some_labels, rng):
    X, y = some_labels
    times = rng.integers(0, 4, len(y))
    rows = rng.permutation(np.repeat(np.arange(len(y)), times))
    weighted = EigenfunctionClassifier().fit(X, y, sample_weight=times)
    repeated = EigenfunctionClassifier().fit(X[rows], y[rows])
    for name in ("eigenvalues_", "eigenfunctions_", "components_", "coef_", "objective_"):
        np.testing.assert_allclose(
            getattr(weighted, name), getattr(repeated, name), err_msg=name, **ALGEBRA
        )
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), **ALGEBRA)


def test_blocks_of_rows_do_not_matter(some_labels, monkeypatch):
    X, y = some_labels
    whole = EigenfunctionClassifier().fit(X, y)
    monkeypatch.setattr(_eigenfunctions, "BLOCK", 30)
    blocks = EigenfunctionClassifier().fit(X, y)
    np.testing.assert_allclose(blocks.coef_, whole.coef_, **ALGEBRA)
    np.testing.assert_allclose(
        blocks.label_distributions_, whole.label_distributions_, rtol=1e-9, atol=1e-11
    )
    np.testing.assert_allclose(blocks.eigenfunctions(X), whole.eigenfunctions(X), **ALGEBRA)


@pytest.mark.parametrize("scale", [1e-100, 1e-3, 1.0, 1e100])
def test_rotation_shift_and_scale_do_not_matter(some_labels, rng, scale):
    X, y = some_labels
    rotation = linalg.qr(rng.normal(size=(4, 4)))[0]
    first = EigenfunctionClassifier().fit(X, y)
    moved = scale * (X @ rotation + rng.normal(size=4))
    second = EigenfunctionClassifier().fit(moved, y)
    np.testing.assert_allclose(second.predict_proba(moved), first.predict_proba(X), **ALGEBRA)
    np.testing.assert_allclose(second.eigenvalues_, first.eigenvalues_, **ALGEBRA)


def test_constant_and_dependent_features_do_not_matter(some_labels):
    X, y = some_labels
    more = np.column_stack([X, np.full(len(X), 0.1), np.zeros(len(X))])
    first, second = (EigenfunctionClassifier().fit(Z, y) for Z in (X, more))
    np.testing.assert_allclose(second.predict_proba(more), first.predict_proba(X), **ALGEBRA)
    twice = EigenfunctionClassifier().fit(np.hstack([X, X]), y)
    np.testing.assert_allclose(
        twice.predict_proba(np.hstack([X, X])), first.predict_proba(X), **ALGEBRA
    )


def test_axes_of_a_square_are_kept_in_any_order_of_its_points(rng):
    X = np.stack(np.meshgrid(np.arange(7) / 7, np.arange(7) / 7), axis=-1).reshape(-1, 2)
    y = np.where(rng.random(49) < 0.3, X[:, 0] > 0.4, -1)
    order = rng.permutation(49)
    first = EigenfunctionClassifier().fit(X, y)
    second = EigenfunctionClassifier().fit(X[order], y[order])
    np.testing.assert_allclose(np.abs(first.components_).max(axis=1), 1, **EXACT)
    np.testing.assert_allclose(first.predict_proba(X), second.predict_proba(X), **ALGEBRA)


# ---------------------------------------------------------------- extremes


@pytest.mark.parametrize("X", [np.full((6, 3), 0.1), np.zeros((6, 2)), np.full((6, 1), 1e300)])
def test_samples_that_are_all_equal_have_the_shares_of_the_labels(X):
    model = EigenfunctionClassifier().fit(X, [0, 0, 1, 0, -1, -1])
    assert len(model.eigenvalues_) == 0
    np.testing.assert_allclose(model.predict_proba(X), [[0.75, 0.25]] * 6, **EXACT)
    assert model.eigenfunctions(X).shape == (6, 0)


def test_a_kernel_that_joins_everything_leaves_the_shares_of_the_labels(some_labels):
    X, y = some_labels
    model = EigenfunctionClassifier(gamma=1e-12).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), 1 / 3, **EXACT)


def test_far_samples_are_at_the_last_bin(some_labels):
    X, y = some_labels
    model = EigenfunctionClassifier().fit(X, y)
    direction = model.components_[0]
    far = [model.mean_ + reach * direction for reach in (1e3, 1e100)]
    near, remote = model.eigenfunctions(far)[:, model.axis_ == 0]
    np.testing.assert_allclose(near, remote, **EXACT)
    huge = model.predict_proba(np.full((1, 4), 1.7e308) * [[1, -1, 1, -1]])
    assert huge.sum() == pytest.approx(1)


def test_an_outlier_changes_little():
    X, y = make_blobs(2000, centers=3, n_features=4, random_state=1)
    some = few_labels(y, 3)
    model = EigenfunctionClassifier().fit(np.vstack([X, np.full((1, 4), 1e3)]), np.append(some, -1))
    assert np.mean(model.transduction_[:-1] == y) > 0.95


@pytest.mark.parametrize(
    "params",
    [
        {"alpha": 1e-300},
        {"alpha": 1e300},
        {"gamma": 1e300},
        {"n_bins": 2},
        {"n_components": 1},
        {"smoothing": 0.999},
        {"smoothing": 1e-300},
    ],
    ids=str,
)
@pytest.mark.parametrize("n_each", [1, 30])
def test_extreme_parameters_give_distributions(params, n_each):
    X, y = make_blobs(200, centers=3, n_features=4, cluster_std=2, random_state=1)
    model = EigenfunctionClassifier(**params).fit(X, few_labels(y, n_each))
    probabilities = model.predict_proba(10 * X)
    assert np.all(probabilities >= 0)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, **EXACT)
    assert np.isfinite(model.objective_)


def test_squares_that_overflow_are_an_error():
    with pytest.raises(ValueError, match="overflow"):
        EigenfunctionClassifier().fit([[1e200], [-1e200]], [0, 1])


def test_one_class_is_certain(some_labels):
    X, _ = some_labels
    model = EigenfunctionClassifier().fit(X, np.where(np.arange(len(X)) < 3, 7, -1))
    np.testing.assert_array_equal(model.predict(X), 7)
    assert model.energy_ < 1e-25
    assert model.label_fit_ == 1


def test_fit_takes_memory_for_the_answers_and_some_blocks_only(rng):
    n = 200_000
    X = rng.normal(size=(n, 20))
    y = np.where(np.arange(n) < 1000, X[:, 0] > 0, -1)
    tracemalloc.start()
    try:
        EigenfunctionClassifier().fit(X, y)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    numbers_of_each_sample = 8  # two probabilities, label, code, weight, and what makes these
    assert most < 8 * n * numbers_of_each_sample + 2**24
    assert most < X.nbytes
