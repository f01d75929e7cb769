"""Label propagation and label spreading: solved, and else as scikit-learn has them."""

import inspect
import pickle
import signal
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from _clock import ANSWER_SECONDS, slowness
from conftest import ALGEBRA, EXACT, random_sparse, solver, without_addresses
from hypothesis import given
from hypothesis import strategies as st
from reference.absorption import absorption_probabilities, exact_solution
from sklearn import semi_supervised as peer
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_circles
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from sklearn_sl import _memory
from sklearn_sl.graph import LabelPropagation, LabelSpreading, _absorption
from sklearn_sl.graph._nearest import TreeSearch, nearest_samples, nearest_search

PAIRS = [(LabelPropagation, peer.LabelPropagation), (LabelSpreading, peer.LabelSpreading)]
for_both = pytest.mark.parametrize("Estimator", [LabelPropagation, LabelSpreading])
for_both_pairs = pytest.mark.parametrize(("Ours", "Theirs"), PAIRS)
# What scikit-learn does with samples that are tied to no label, and far from all others.
ignore_theirs = pytest.mark.filterwarnings("ignore:invalid value encountered")


def wide_kernel(X, Y):
    """Return affinities that are not symmetric."""
    return rbf_kernel(X, Y, gamma=0.5) * (1 + (X[:, :1] > Y[:, 0]))


def sparse_kernel(X, Y):
    """Return the same, sparse."""
    K = wide_kernel(X, Y)
    return sp.csr_matrix(np.where(K > 0.05, K, 0))


KERNELS = [
    {"gamma": 1.0},
    {"gamma": 3.0},
    {"kernel": "knn"},
    {"kernel": "knn", "n_neighbors": 12},
    {"kernel": wide_kernel},
    {"kernel": sparse_kernel},
]
for_every_kernel = pytest.mark.parametrize("params", KERNELS, ids=without_addresses)


def some_labels(rng, n_samples=150, n_classes=3, share=0.15):
    """Return samples of several classes and labels of some of them."""
    X, y = make_blobs(n_samples, 2, centers=n_classes, cluster_std=1.0, random_state=0)
    X /= 3
    labels = np.where(rng.random(n_samples) < share, y, -1)
    labels[:n_classes] = np.arange(n_classes)
    return X, labels


def without_warning(model, X, y):
    """Return the fitted model, whoever is tied to no label."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*not connected to any labelled")
        return model.fit(X, y)


class Silent:
    """A progress that nobody looks at."""

    stop = False

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def step(self):
        return self


# ---------------------------------------------------------------- the same as scikit-learn


@for_both_pairs
def test_signature_is_that_of_scikit_learn(Ours, Theirs):
    parameters = [
        [(p.name, p.kind, p.default) for p in inspect.signature(cls).parameters.values()]
        for cls in (Ours, Theirs)
    ]
    assert parameters[0] == parameters[1]
    assert Ours().get_params() == Theirs().get_params()


@for_both_pairs
def test_fitted_attributes_and_methods_are_those_of_scikit_learn(Ours, Theirs, rng):
    X, y = some_labels(rng)
    ours, theirs = Ours(gamma=1.0).fit(X, y), Theirs(gamma=1.0).fit(X, y)
    assert {name for name in vars(theirs) if name.endswith("_")} <= set(vars(ours))
    methods = {name for name, _ in inspect.getmembers(Theirs, callable) if name[0] != "_"}
    assert methods <= set(dir(ours))


@for_every_kernel
@pytest.mark.parametrize("n_classes", [2, 4])
def test_propagation_is_what_scikit_learn_converges_to(params, n_classes, rng):
    X, y = some_labels(rng, n_classes=n_classes)
    ours = without_warning(LabelPropagation(**params), X, y)
    theirs = peer.LabelPropagation(**params, max_iter=10**6, tol=1e-12).fit(X, y)
    tied = ~ours.component_without_label_
    np.testing.assert_array_equal(tied, theirs.label_distributions_.any(axis=1))
    F, desired = ours.label_distributions_[tied], theirs.label_distributions_[tied]
    np.testing.assert_allclose(F, desired, **ALGEBRA)
    clear = np.ptp(np.sort(desired, axis=1)[:, -2:], axis=1) > 1e-6
    np.testing.assert_array_equal(
        ours.transduction_[tied][clear], theirs.transduction_[tied][clear]
    )


@for_every_kernel
@pytest.mark.parametrize("alpha", [0.2, 0.9, 0.99])
def test_spreading_is_what_scikit_learn_converges_to(params, alpha, rng):
    X, y = some_labels(rng)
    ours = LabelSpreading(**params, alpha=alpha, tol=1e-11, max_iter=2000)
    ours = without_warning(ours, X, y)
    theirs = peer.LabelSpreading(**params, alpha=alpha, max_iter=10**6, tol=1e-14).fit(X, y)
    tied = ~ours.component_without_label_
    np.testing.assert_array_equal(tied, theirs.label_distributions_.any(axis=1))
    F, desired = ours.label_distributions_[tied], theirs.label_distributions_[tied]
    np.testing.assert_allclose(F, desired, **ALGEBRA)


@ignore_theirs
@for_both_pairs
@for_every_kernel
def test_predictions_are_those_of_scikit_learn_where_it_has_any(Ours, Theirs, params, rng):
    X, y = some_labels(rng)
    X_test = rng.uniform(-6, 6, size=(200, 2))
    ours = without_warning(Ours(**params), X, y)
    theirs = Theirs(**params).fit(X, y)
    tied = ~ours.component_without_label_[:, None]
    theirs.label_distributions_ = np.where(tied, ours.label_distributions_, 0)
    desired = theirs.predict_proba(X_test)
    finite = np.isfinite(desired).all(axis=1)
    assert finite.any()
    np.testing.assert_allclose(ours.predict_proba(X_test)[finite], desired[finite], **ALGEBRA)
    assert np.isfinite(ours.predict_proba(X_test)).all()


@for_both
def test_sparse_samples_are_the_same_as_dense_ones(Estimator, rng):
    X, y = some_labels(rng)
    for kernel in ("rbf", "knn"):
        dense = without_warning(Estimator(kernel, gamma=2.0), X, y)
        for container in (sp.csr_matrix, sp.csc_array):
            sparse = without_warning(Estimator(kernel, gamma=2.0), container(X), y)
            np.testing.assert_allclose(
                sparse.predict_proba(container(X)), dense.predict_proba(X), **ALGEBRA
            )


@pytest.mark.parametrize("kernel", ["rbf", "knn", rbf_kernel], ids=["rbf", "knn", "callable"])
@for_both
def test_entries_of_sparse_samples_that_are_stored_twice_are_added_up(Estimator, kernel, rng):
    X, y = rng.normal(size=(20, 3)), np.arange(20) % 3 - 1
    once = sp.csr_array(X)
    parts = np.repeat(once.data / 2, 2), np.repeat(once.indices, 2), 2 * once.indptr
    twice = sp.csr_array(parts, shape=X.shape)
    model = Estimator(kernel=kernel, gamma=1.0, n_neighbors=3)
    dense = model.fit(X, y).predict_proba(X)
    np.testing.assert_allclose(model.fit(twice, y).predict_proba(twice), dense, **ALGEBRA)


# ---------------------------------------------------------------- the equations


def dense_affinities(model, X):
    """Return the affinities of a model without their diagonal."""
    A = model._affinities(X)
    return A.toarray() if sp.issparse(A) else A


@pytest.mark.parametrize("params", [{"gamma": 1.0}, {"kernel": "knn", "n_neighbors": 12}], ids=str)
def test_propagation_is_the_label_at_which_a_random_walk_ends(params, rng):
    X, y = some_labels(rng, n_samples=60)
    model = LabelPropagation(**params).fit(X, y)
    A = dense_affinities(model, X)
    labelled = np.flatnonzero(y >= 0)
    ends = absorption_probabilities(A / A.sum(axis=1, keepdims=True), labelled, n_steps=40)
    desired = ends @ np.eye(3)[y[labelled]]
    np.testing.assert_allclose(model.label_distributions_, desired, **ALGEBRA)


@pytest.mark.parametrize("gamma", [0.3, 20.0])
def test_propagation_is_harmonic_and_keeps_the_labels(gamma, rng):
    X, y = some_labels(rng)
    model = LabelPropagation(gamma=gamma).fit(X, y)
    A, F = dense_affinities(model, X), model.label_distributions_
    labelled = y >= 0
    np.testing.assert_array_equal(F[labelled], np.eye(3)[y[labelled]])
    averages = A @ F / A.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(F[~labelled], averages[~labelled], **ALGEBRA)
    change = np.abs(F - averages)[~labelled].sum()
    np.testing.assert_allclose(model.residual_, change, rtol=0, atol=1e-12)


def test_spreading_minimises_disagreement_with_neighbours_and_labels(rng):
    X, y = some_labels(rng, n_samples=60)
    alpha = 0.7
    model = LabelSpreading(gamma=1.0, alpha=alpha, tol=1e-12).fit(X, y)
    A = dense_affinities(model, X)
    root = np.sqrt(A.sum(axis=0))
    Y = np.where(y[:, None] == np.arange(3), 1.0, 0.0)
    # The gradient of the objective vanishes at F = inv(I - alpha S) (1 - alpha) Y.
    F = np.linalg.solve(np.eye(60) - alpha * A / np.outer(root, root), (1 - alpha) * Y)
    np.testing.assert_allclose(
        model.label_distributions_, F / F.sum(axis=1, keepdims=True), **ALGEBRA
    )

    def objective(F):
        scaled = F / root[:, None]
        pairs = ((scaled[:, None] - scaled) ** 2).sum(axis=2)
        return np.sum(A * pairs) / 2 + (1 / alpha - 1) * np.sum((F - Y) ** 2)

    others = [F + 1e-3 * rng.normal(size=F.shape) for _ in range(20)]
    assert objective(F) < min(objective(other) for other in others)


def random_walk(rng, n, n_sides, symmetric, exponent):
    """Return weights of many sizes, ways out, and right-hand sides."""
    A = rng.random((n, n)) * 10.0 ** -rng.integers(0, exponent + 1, size=(n, n))
    A *= rng.random((n, n)) < 0.6
    A = A + A.T if symmetric else A
    np.fill_diagonal(A, 0)
    # A chain to the only certain way out, so that nobody is caught.
    A[np.arange(n - 1), np.arange(1, n)] += 1e-9
    if symmetric:
        A = np.maximum(A, A.T)
    b = rng.random((n, n_sides)) * (rng.random((n, 1)) < 0.2)
    b[-1] = 10.0**-exponent
    return A, b


@given(st.integers(0, 10**6), st.integers(1, 9), st.booleans(), st.sampled_from([0, 8, 40]))
def test_elimination_has_full_relative_accuracy_however_weak_the_ties(seed, n, symmetric, exponent):
    rng = np.random.default_rng(seed)
    A, b = random_walk(rng, n, 2, symmetric, exponent)
    loss = b.sum(axis=1)
    x = _absorption.eliminate(A, loss, b)
    np.testing.assert_allclose(x, exact_solution(A, loss, b), rtol=1e-13)
    np.testing.assert_allclose(x.sum(axis=1), 1, rtol=1e-13)


@pytest.mark.parametrize("n", [63, 64, 65, 300])
@pytest.mark.parametrize("symmetric", [True, False])
def test_elimination_by_panels_solves_the_system(n, symmetric, rng):
    A, b = random_walk(rng, n, 3, symmetric, 2)
    loss = b.sum(axis=1) + rng.random(n)
    desired = np.linalg.solve(np.diag(A.sum(axis=1) + loss) - A, b)
    np.testing.assert_allclose(_absorption.eliminate(A, loss, b), desired, **ALGEBRA)
    sparse = _absorption.eliminate(sp.csr_array(A), loss, b)
    np.testing.assert_allclose(sparse, desired, **ALGEBRA)


def test_elimination_rounds_products_below_all_numbers_to_zero():
    # A chain to the label, all other ties so weak that two of them multiply to nothing.
    n = 80
    A = np.full((n, n), 1e-200)
    A[np.arange(n - 1), np.arange(1, n)] = 1
    np.fill_diagonal(A, 0)
    b = np.zeros((n, 1))
    b[-1] = 1
    x = _absorption.eliminate(A, b[:, 0], b)
    np.testing.assert_allclose(x, 1, rtol=1e-12)
    assert np.float64(1e-310) * 1.0 > 0  # the mode of the processor is what it was


def test_elimination_does_not_depend_on_the_number_of_threads(rng):
    A, b = random_walk(rng, 1200, 2, True, 2)
    loss = b.sum(axis=1) + rng.random(1200)
    with threadpool_limits(1):
        alone = _absorption.eliminate(A, loss, b)
    np.testing.assert_array_equal(_absorption.eliminate(A, loss, b), alone)


# ---------------------------------------------------------------- nearest samples


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_tree_finds_the_nearest_samples_that_scikit_learn_finds(dtype, n_jobs, rng):
    X = (100 * rng.normal(size=(300, 4))).astype(dtype)
    Q = (100 * rng.normal(size=(50, 4))).astype(dtype)
    search = nearest_search(X, 5, n_jobs)
    assert isinstance(search, TreeSearch)
    peers = NearestNeighbors(n_neighbors=5).fit(X)
    for queries in (X, Q):
        distances, _ = peers.kneighbors(queries)
        found = np.concatenate([numbers for _, numbers in nearest_samples(search, queries)])
        lengths = np.linalg.norm(queries[:, None] - X[found].astype(np.float64), axis=2)
        np.testing.assert_allclose(lengths, distances, **EXACT)


@pytest.mark.parametrize("shape", [(40, 16), (4, 2)])
def test_many_features_and_too_few_samples_are_left_to_scikit_learn(shape, rng):
    assert isinstance(nearest_search(rng.normal(size=shape), 5, None), NearestNeighbors)


def test_one_nearest_sample_among_duplicates_is_one_of_them():
    X = np.array([[0.0], [0.0], [5.0]])
    (_, numbers), *_ = nearest_samples(nearest_search(X, 1, None), X)
    assert numbers.shape == (3, 1)
    np.testing.assert_array_equal(X[numbers[:, 0]], X)


def test_model_file_has_no_tree_and_a_damaged_one_is_refused(rng):
    model = LabelPropagation("knn").fit(*some_labels(rng))
    model.predict(model.X_)
    loaded = pickle.loads(pickle.dumps(model))
    assert "_tree" in vars(model._search)
    assert "_tree" not in vars(loaded._search)
    np.testing.assert_array_equal(loaded.predict(model.X_), model.predict(model.X_))
    model._search.n_neighbors = len(model.X_) + 1
    with pytest.raises(ValueError, match="n_neighbors must be an integer between 1 and"):
        pickle.loads(pickle.dumps(model))


def test_cluster_that_is_nearly_cut_off_gets_the_labels_at_its_border():
    # The right cluster is tied to the label 1 by e^-90 and to the label 0 by much less.
    X = np.array([0.0, 0.1, 2.0, 2.1, 5.0, 5.1, 5.2])[:, None]
    y = np.array([0, -1, -1, 1, -1, -1, -1])
    model = LabelPropagation(gamma=10.0).fit(X, y)
    A = dense_affinities(model, X)
    inner, outer = y < 0, y >= 0
    exact = exact_solution(
        A[np.ix_(inner, inner)],
        A[np.ix_(inner, outer)].sum(axis=1),
        A[np.ix_(inner, outer)] @ np.eye(2)[y[outer]],
    )
    np.testing.assert_allclose(model.label_distributions_[inner], exact, rtol=1e-12)
    assert (model.transduction_[4:] == 1).all()


@pytest.mark.parametrize("direct", ["DIRECT_DENSE", "DIRECT_SPARSE"])
def test_iteration_finds_what_elimination_finds(direct, rng, monkeypatch):
    kernel = "rbf" if direct == "DIRECT_DENSE" else "knn"
    X, y = some_labels(rng, n_samples=500, share=0.2)
    model = LabelPropagation(kernel, gamma=0.1, tol=1e-4)
    eliminated = without_warning(clone(model), X, y)
    monkeypatch.setattr(_absorption, direct, 10)
    iterated = without_warning(clone(model), X, y)
    assert eliminated.n_iter_ == 1 < iterated.n_iter_
    assert 1e-13 < iterated.residual_ <= 1e-4
    np.testing.assert_allclose(
        iterated.label_distributions_, eliminated.label_distributions_, **solver(1e-4)
    )


def test_iteration_that_fails_is_followed_by_elimination(rng, monkeypatch):
    X, y = some_labels(rng)
    exact = LabelPropagation(gamma=20.0).fit(X, y)
    monkeypatch.setattr(_absorption, "DIRECT_DENSE", 10)
    model = LabelPropagation(gamma=20.0).fit(X, y)
    np.testing.assert_allclose(model.label_distributions_, exact.label_distributions_, **EXACT)


def test_budget_that_is_spent_gives_a_warning_and_distributions(rng, monkeypatch):
    X, y = some_labels(rng)
    monkeypatch.setattr(_absorption, "DIRECT_SPARSE", 10)
    monkeypatch.setattr(_absorption, "LARGEST_ELIMINATED", 10)
    model = LabelPropagation("knn", n_neighbors=12, max_iter=1, tol=1e-10)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 was reached without convergence"):
        model.fit(X, y)
    assert model.residual_ > 1e-10
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1, **EXACT)


def test_spreading_warns_when_its_budget_is_spent(rng):
    X, y = some_labels(rng)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 was reached without convergence"):
        LabelSpreading("knn", n_neighbors=12, alpha=0.99, max_iter=1).fit(X, y)


def test_labels_spread_along_a_chain_that_is_longer_than_max_iter():
    # One edge a step: scikit-learn stops with rows of zeros, which it takes for the first class.
    X = np.arange(100.0)[:, None] ** 1.001
    y = np.full(100, -1)
    y[0], y[-1] = 1, 0
    model = LabelSpreading("knn", n_neighbors=3, tol=1e-10).fit(X, y)
    assert not model.component_without_label_.any()
    assert (model.transduction_[:40] == 1).all()
    assert (model.transduction_[60:] == 0).all()


# ---------------------------------------------------------------- issues of scikit-learn


@for_both
def test_samples_without_affinity_get_the_shares_of_the_classes(Estimator):
    # Issue 34351: rows of zeros, and classes out of nothing.
    X = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [50.0], [90.0], [90.1]])
    y = np.array([0, -1, 0, 1, -1, -1, -1, -1])
    with pytest.warns(UserWarning, match="3 samples are not connected to any labelled sample"):
        model = Estimator().fit(X, y)
    np.testing.assert_array_equal(model.component_without_label_, X[:, 0] > 2)
    np.testing.assert_allclose(model.label_distributions_[5:], [[2 / 3, 1 / 3]] * 3, **EXACT)
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1, **EXACT)
    assert (model.transduction_[5:] == 0).all()


def test_loops_of_the_neighbour_graph_do_not_matter(rng):
    # Issue 11784: a sample is its own neighbour.
    X, y = some_labels(rng)

    def other_neighbours(X, Y):
        squares = ((X[:, None] - Y) ** 2).sum(axis=2)
        A = np.zeros_like(squares)
        np.put_along_axis(A, np.argsort(squares, axis=1)[:, 1:12], 1, axis=1)
        return A

    for Estimator in (LabelPropagation, LabelSpreading):
        with_loops = Estimator("knn", n_neighbors=12, tol=1e-11).fit(X, y)
        without = Estimator(other_neighbours, tol=1e-11).fit(X, y)
        np.testing.assert_allclose(
            with_loops.label_distributions_, without.label_distributions_, **ALGEBRA
        )


@for_both
def test_too_many_samples_for_a_matrix_are_refused_at_once(Estimator, monkeypatch):
    # Issue 6555: a frozen machine.
    monkeypatch.setattr(_memory, "available_memory", lambda: 16 * 2**30)
    X = np.zeros((697_000, 1))
    y = np.zeros(len(X), dtype=int)
    with pytest.raises(ValueError, match='GiB of memory are available: use kernel="knn"'):
        Estimator().fit(X, y)


@pytest.mark.slow
@for_both
def test_many_samples_are_no_problem_for_neighbours(Estimator, rng):
    # Issue 6555 again.
    X, y = make_blobs(50_000, 5, centers=4, random_state=0)
    labels = np.where(rng.random(len(y)) < 0.01, y, -1)
    model = Estimator("knn").fit(X, labels)
    assert np.mean(model.transduction_ == y) > 0.99
    assert np.isfinite(model.predict_proba(X[:1000])).all()


@for_both
def test_negative_affinities_are_errors(Estimator, rng):
    # Issue 9722: they gave invalid distributions.
    X, y = some_labels(rng)
    with pytest.raises(ValueError, match="negative affinity"):
        Estimator(lambda X, Y: X @ Y.T).fit(X, y)
    model = Estimator(lambda X, Y: np.exp(X[:, :1] - Y[:, 0]) if len(X) == len(Y) else -X @ Y.T)
    model.fit(X, y)
    with pytest.raises(ValueError, match="negative affinity"):
        model.predict_proba(X[:5])


# ---------------------------------------------------------------- edges of the domain


@for_both
@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda X, Y: np.ones(len(X)), r"shape \(150, 150\)"),
        (lambda X, Y: np.ones((len(X), 2)), r"shape \(150, 150\)"),
        (lambda X, Y: np.full((len(X), len(Y)), np.nan), "infinite or NaN"),
        (lambda X, Y: sp.csr_array((len(X), 3)), r"shape \(150, 150\)"),
    ],
)
def test_kernels_that_return_no_affinities_are_errors(Estimator, kernel, message, rng):
    X, y = some_labels(rng)
    with pytest.raises(ValueError, match=message):
        Estimator(kernel).fit(X, y)


@for_both
def test_labels_are_needed(Estimator, rng):
    X, y = some_labels(rng)
    with pytest.raises(ValueError, match="All samples in y are unlabelled"):
        Estimator().fit(X, np.full_like(y, -1))


@for_both
@pytest.mark.parametrize(
    "params",
    [
        {"kernel": "linear"},
        {"gamma": -1.0},
        {"gamma": "scale"},
        {"n_neighbors": 0},
        {"max_iter": 0},
        {"tol": -1.0},
        {"n_jobs": 1.5},
    ],
    ids=str,
)
def test_wrong_parameters_are_errors(Estimator, params, rng):
    with pytest.raises(ValueError, match=f"The '{next(iter(params))}' parameter"):
        Estimator(**params).fit(*some_labels(rng))


@pytest.mark.parametrize("alpha", [0.0, 1.0, None])
def test_alpha_is_between_zero_and_one(alpha, rng):
    with pytest.raises(ValueError, match="The 'alpha' parameter"):
        LabelSpreading(alpha=alpha).fit(*some_labels(rng))


@for_both
@pytest.mark.parametrize("distance", [1e2, 1e6, 1e150, 1e200])
def test_far_samples_have_probabilities(Estimator, distance, rng):
    X, y = some_labels(rng)
    model = Estimator().fit(X, y)
    far = distance * rng.normal(size=(20, 2))
    proba = model.predict_proba(far)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1, **EXACT)


def test_far_samples_follow_the_nearest_ones():
    X = np.array([[0.0], [1.0]])
    model = LabelPropagation().fit(X, [3, 5])
    np.testing.assert_array_equal(model.predict([[-1000.0], [1000.0]]), [3, 5])
    np.testing.assert_allclose(model.predict_proba([[1000.0]]), [[0, 1]], **EXACT)


@for_both
def test_duplicates_of_a_label_have_its_label(Estimator, rng):
    X, y = some_labels(rng)
    duplicates = np.flatnonzero(y >= 0)
    X = np.vstack([X, X[duplicates]])
    labels = np.append(y, np.full(len(duplicates), -1))
    model = without_warning(Estimator(gamma=1e6), X, labels)
    np.testing.assert_array_equal(model.transduction_[150:], y[duplicates])


@for_both
@pytest.mark.parametrize("params", [{}, {"kernel": "knn"}], ids=str)
def test_all_samples_equal_share_the_label_distribution(Estimator, params):
    X = np.ones((9, 2))
    y = np.array([0, 0, 1, -1, -1, -1, -1, -1, -1])
    model = without_warning(Estimator(**params), X, y)
    assert np.isfinite(model.label_distributions_).all()
    if not params:
        unlabelled = model.label_distributions_[3:]
        np.testing.assert_allclose(unlabelled, [[2 / 3, 1 / 3]] * 6, **solver(1e-3))


@for_both
@pytest.mark.parametrize("kernel", ["rbf", "knn"])
def test_one_class_is_certain(Estimator, kernel, rng):
    X, y = some_labels(rng)
    model = without_warning(Estimator(kernel, n_neighbors=12), X, np.where(y == 1, 1, -1))
    np.testing.assert_array_equal(model.classes_, [1])
    np.testing.assert_allclose(model.label_distributions_, 1.0, **EXACT)
    np.testing.assert_allclose(model.predict_proba(X), 1.0, **EXACT)


@pytest.mark.parametrize("kernel", ["rbf", "knn"])
def test_all_labelled_is_a_nearest_neighbour_rule(kernel, rng):
    X, y = make_blobs(60, 2, centers=3, random_state=0)
    model = LabelPropagation(kernel).fit(X, y)
    np.testing.assert_array_equal(model.transduction_, y)
    np.testing.assert_array_equal(model.label_distributions_, np.eye(3)[y])
    assert (model.n_iter_, model.residual_) == (1, 0.0)


@pytest.mark.filterwarnings("ignore:y contains the string")
@for_both_pairs
def test_labels_of_text_are_all_labels(Ours, Theirs, rng):
    X, y = make_blobs(60, 2, centers=3, random_state=0)
    names = np.array(["a", "b", "-1"])[y]
    ours, theirs = Ours(gamma=1.0).fit(X, names), Theirs(gamma=1.0).fit(X, names)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    np.testing.assert_array_equal(ours.transduction_, theirs.transduction_)


def test_callable_affinities_of_any_size_give_the_same_model(rng):
    X, y = some_labels(rng)
    for Estimator in (LabelPropagation, LabelSpreading):
        plain = Estimator(wide_kernel).fit(X, y)
        for factor in (1e-300, 1e305):
            scaled = Estimator(lambda X, Y, factor=factor: factor * wide_kernel(X, Y)).fit(X, y)
            np.testing.assert_allclose(scaled.predict_proba(X), plain.predict_proba(X), **ALGEBRA)


def test_gamma_of_zero_makes_all_samples_neighbours(rng):
    X, y = some_labels(rng)
    model = LabelPropagation(gamma=0).fit(X, y)
    np.testing.assert_allclose(
        model.label_distributions_[y < 0], np.tile(model.prior_, (sum(y < 0), 1)), **ALGEBRA
    )
    np.testing.assert_allclose(model.predict_proba(X[:1]), model.prior_[None], **ALGEBRA)


# ---------------------------------------------------------------- at home in scikit-learn


def test_circles_are_told_apart_from_one_label_each():
    X, y = make_circles(200, noise=0.01, factor=0.5, random_state=0)
    labels = np.full(200, -1)
    for label in (0, 1):
        labels[np.flatnonzero(y == label)[0]] = label
    for model in (LabelPropagation(gamma=200.0), LabelSpreading(gamma=200.0, alpha=0.9)):
        assert np.mean(model.fit(X, labels).transduction_ == y) == 1.0


@for_both
def test_pipeline_and_grid_search_find_their_way(Estimator, rng):
    X, y = make_blobs(90, 2, centers=3, random_state=0)
    model = make_pipeline(StandardScaler(), Estimator())
    grid = {f"{Estimator.__name__.lower()}__gamma": [0.1, 1.0, 10.0]}
    search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.8


@for_both
def test_copies_predict_the_same(Estimator, rng):
    X, y = some_labels(rng)
    model = without_warning(Estimator("knn", n_neighbors=5), X, y)
    said = model.predict_proba(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), said)
    np.testing.assert_array_equal(without_warning(clone(model), X, y).predict_proba(X), said)


@pytest.mark.parametrize("quick", [0, 10**9])
def test_coarse_walks_are_solved_by_either_factor(quick, rng, monkeypatch):
    monkeypatch.setattr(_absorption, "QUICK", quick)
    A = random_sparse(rng, (150, 150), 0.05)
    C = sp.csr_array(sp.diags_array(A.sum(axis=1) + 0.1) - A)
    B = rng.normal(size=(150, 3))
    found = _absorption._coarse_solver(C)(B)
    np.testing.assert_allclose(found, np.linalg.solve(C.toarray(), B), **ALGEBRA)
    calls = []
    monkeypatch.setattr(_absorption, "splu", lambda *args, **options: calls.append(args))
    _absorption._coarse_solver(C)
    assert len(calls) == (quick > 0)


@pytest.mark.alone
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")
@pytest.mark.parametrize("direct", [10**6, 10])
def test_solvers_answer_an_interrupt(direct, rng, monkeypatch):
    # The fits of the common tests have labels only, so that there is no system to solve.
    monkeypatch.setattr(_absorption, "DIRECT_DENSE", direct)
    A = rng.random((3500, 3500)) ** 20
    np.fill_diagonal(A, 0)
    labelled = np.arange(3500) < 10
    Y = np.zeros((3500, 2))
    Y[:10, 0], Y[:5, 1] = 1, 1
    Y /= np.maximum(Y.sum(axis=1, keepdims=True), 1)

    def interrupt(signum, frame):
        raise KeyboardInterrupt

    answers = []
    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        for delay in (0.1, 0.25):
            due = time.perf_counter() + delay
            signal.setitimer(signal.ITIMER_REAL, delay)
            with pytest.raises(KeyboardInterrupt):
                while True:
                    _absorption.harmonic(A, labelled, Y, 0.0, 10**6, Silent())
            answers.append(time.perf_counter() - due)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert max(answers) <= ANSWER_SECONDS or max(answers) <= ANSWER_SECONDS * slowness()
