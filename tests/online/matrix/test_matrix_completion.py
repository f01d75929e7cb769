"""Online matrix completion: the same as with all matrices written out, and within its bounds."""

import copy
import pickle

import numpy as np
import pytest
from conftest import EXACT
from reference import matrix_completion as reference
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import check_random_state

from sklearn_sl.datasets import (
    make_biclustered,
    make_cluster_graph,
    make_similarity_matrix,
    matrix_trials,
)
from sklearn_sl.kernels import Gaussian, Linear, Precomputed
from sklearn_sl.online import MatrixCompletion, progressive_predict
from sklearn_sl.online.matrix._matrix_exponent import exponential_forms
from sklearn_sl.theory import (
    matrix_completion_bound,
    matrix_completion_loss_bound,
    matrix_completion_mistakes,
    max_norm_bound,
    quasi_dimension,
)

# What the twin and the learner may differ by.
TWIN = {"rtol": 0, "atol": 1e-10}


def random_trials(rng, m, n, n_trials):
    """Return pairs, repeats among them, and labels of both signs."""
    X = np.column_stack([rng.integers(m, size=n_trials), rng.integers(n, size=n_trials)])
    y = rng.choice([-1, 1], size=n_trials)
    y[:2] = 1, -1
    return X.astype(float), y


def random_kernel(rng, n, rank):
    root = rng.normal(size=(n, rank))
    return root @ root.T


def losses(scores, y, margin):
    """Return the probabilities of a mistake."""
    right = reference.probability(scores, margin)
    return np.where(y > 0, 1 - right, right)


def state(model):
    """Return all that trials have changed, as plain numbers."""
    rows, cols, entries = model._rows, model._cols, model._entries
    n, p = len(rows), len(cols)
    return {
        "items": (rows.items[:n].tobytes(), cols.items[:p].tobytes()),
        "grams": (rows.gram[:n, :n].tobytes(), cols.gram[:p, :p].tobytes()),
        "radii": (rows.radius, cols.radius),
        "met": (len(rows.met), len(cols.met)),
        "entries": (entries.rows[: len(entries)].tobytes(), entries.cols[: len(entries)].tobytes()),
        "weights": entries.weights[:, : len(entries)].tobytes(),
        "account": (model.n_trials_, model.n_mistakes_, model.cumulative_loss_, model.n_updates_),
        "curve": model.loss_curve_.tobytes(),
        "draws": str(model._rng.bit_generator.state),
    }


# ---------------------------------------------------------------- x' exp(M) x


@pytest.mark.parametrize("spread", [1.0, 1e-3, 1e-6, 1e-9, 0.0])
@pytest.mark.parametrize(
    ("dimension", "n_updates", "step"),
    [(5, 50, 0.3), (50, 50, 0.3), (100, 400, 0.05), (80, 40, 1.0), (3, 300, 0.1), (30, 100, 3.0)],
)
def test_quadratic_forms_of_the_exponential_are_those_of_its_eigenvalues(
    dimension, n_updates, step, spread, rng
):
    """Also if the updates are near copies of one another, and their Gram matrix is singular."""
    centre = rng.normal(size=(dimension, 1))
    vectors = centre + spread * rng.normal(size=(dimension, n_updates))
    vectors /= np.linalg.norm(vectors, axis=0)
    others = rng.normal(size=(dimension, 5))
    x = np.hstack([vectors[:, :5], others / np.linalg.norm(others, axis=0), 0 * others[:, :1]])
    weights = step * rng.choice([-1, 1], size=n_updates)
    forms = exponential_forms(
        lambda W: vectors.T @ (vectors @ W),
        lambda P, columns: weights[:, None] * P,
        vectors.T @ x,
        np.sum(x**2, axis=0),
    )
    values, bases = np.linalg.eigh(vectors * weights @ vectors.T)
    expected = np.sum(np.exp(values)[:, None] * (bases.T @ x) ** 2, axis=0)
    np.testing.assert_allclose(forms, expected, rtol=1e-12, atol=1e-13)


def test_queries_together_are_queries_alone(rng):
    vectors = rng.normal(size=(20, 30)) / 5
    weights, x = rng.normal(size=30), rng.normal(size=(20, 40)) * np.geomspace(1e-6, 1, 40)
    args = (lambda W: vectors.T @ vectors @ W, lambda P, columns: weights[:, None] * P)
    together = exponential_forms(*args, vectors.T @ x, np.sum(x**2, axis=0))
    alone = [
        exponential_forms(*args, vectors.T @ q, np.sum(q**2, axis=0))[0] for q in x.T[:, :, None]
    ]
    np.testing.assert_allclose(together, alone, rtol=1e-12)


# ---------------------------------------------------------------- the twin


@pytest.mark.parametrize("conservative", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_answers_without_side_information_are_those_of_the_full_matrix(seed, conservative):
    rng = np.random.default_rng(seed)
    m, n = 6, 9
    X, y = random_trials(rng, m, n, 150)
    model = MatrixCompletion(0.6, conservative=conservative, keep_losses=True).fit(X, y)
    size = model.n_rows_ + model.n_cols_
    eta = 0.6 if conservative else np.sqrt(np.log(size) * size / (2 * 150))
    assert (size, model.eta_) == (m + n, eta)
    x = reference.embeddings(np.eye(m), np.eye(n))
    scores, updates = reference.full_matrix(
        x, X.astype(int), y, m + n, m + n, 0.6, eta, conservative
    )
    assert model.n_updates_ == updates.sum()
    if conservative:
        expected = y * scores <= 0
    else:
        expected = losses(scores, y, 0.6)
    np.testing.assert_allclose(model.loss_curve_, expected, **TWIN)
    np.testing.assert_allclose(model.expected_mistakes_, expected.sum(), **TWIN)


@pytest.mark.parametrize("rank", [1, 3, 20])
@pytest.mark.parametrize("seed", range(3))
def test_inductive_answers_are_those_of_the_full_matrix_with_the_roots_of_the_kernels(seed, rank):
    rng = np.random.default_rng(seed)
    kernels = random_kernel(rng, 8, rank), random_kernel(rng, 7, rank)
    X, y = random_trials(rng, 8, 7, 120)
    model = MatrixCompletion(
        0.5,
        dimension=4.0,
        row_kernel=Precomputed(kernels[0]),
        col_kernel=Precomputed(kernels[1]),
        keep_losses=True,
    ).fit(X, y)
    scores, updates = reference.full_matrix(
        reference.embeddings(*kernels), X.astype(int), y, 4.0, 15, 0.5, model.eta_
    )
    assert model.n_updates_ == updates.sum()
    np.testing.assert_allclose(model.loss_curve_, losses(scores, y, 0.5), **TWIN)


@pytest.mark.parametrize("eta", [0.05, 0.7, 5.0])
def test_features_are_compared_as_if_all_rows_were_known_beforehand(eta, rng):
    """The distinct rows and columns of the stream are the rows and columns of a matrix."""
    rows, cols = rng.normal(size=(20, 3)), rng.normal(size=(15, 2))
    pairs, y = random_trials(rng, 20, 15, 100)
    i, j = pairs.astype(int).T
    model = MatrixCompletion(
        1.0, 10.0, eta, row_kernel=Gaussian(gamma=0.3), col_kernel="linear", n_row_features=3
    )
    model.set_params(keep_losses=True).fit(np.hstack([rows[i], cols[j]]), y)
    met_rows, met_cols = rows[np.unique(i)], cols[np.unique(j)]
    x = reference.embeddings(rbf_kernel(met_rows, gamma=0.3), met_cols @ met_cols.T)
    places = np.unique(i, return_inverse=True)[1], np.unique(j, return_inverse=True)[1]
    scores, updates = reference.full_matrix(
        x, np.column_stack(places), y, 10.0, len(met_rows) + len(met_cols), 1.0, eta
    )
    assert model.n_updates_ == updates.sum()
    np.testing.assert_allclose(model.loss_curve_, losses(scores, y, 1.0), **TWIN)
    assert (model.row_radius_, model.n_rows_) == (1.0, len(met_rows))
    np.testing.assert_allclose(model.col_radius_, np.sum(met_cols**2, axis=1).max(), **EXACT)


def test_prediction_is_the_answer_of_a_trial_that_is_not_learned_from(rng):
    X, y = random_trials(rng, 6, 6, 80)
    model = MatrixCompletion(keep_losses=True, n_rows=6, n_cols=6, horizon=200)
    model.partial_fit(X[:60], y[:60], classes=[-1, 1])
    asked = X[60:]
    scores, proba = model.decision_function(asked), model.predict_proba(asked)
    np.testing.assert_array_equal(proba[:, 1], reference.probability(scores, 0.5))
    np.testing.assert_array_equal(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(asked), np.where(scores > 0, 1, -1))
    for row, label, share in zip(asked[:, None], y[60:], proba, strict=True):
        told = copy.deepcopy(model).partial_fit(row, [label])
        np.testing.assert_allclose(told.loss_curve_[-1], 1 - share[int(label > 0)], **EXACT)


@pytest.mark.parametrize("block", [1, 2**12])
def test_predictions_of_many_queries_are_those_of_each(block, rng, monkeypatch):
    X, y = random_trials(rng, 30, 30, 200)
    model = MatrixCompletion(row_kernel=Gaussian(gamma=0.1), col_kernel=Linear()).fit(X, y)
    queries = rng.uniform(0, 30, size=(70, 2))
    together = model.decision_function(queries)
    alone = [model.decision_function(query[None])[0] for query in queries]
    np.testing.assert_allclose(together, alone, rtol=1e-11, atol=1e-12)
    monkeypatch.setattr("sklearn_sl.online.matrix._matrix_exponent.BLOCK", block)
    np.testing.assert_allclose(model.decision_function(queries), together, rtol=1e-11, atol=1e-12)


# ---------------------------------------------------------------- order, blocks, symmetry


CONFIGURATIONS = [
    {},
    {"conservative": True, "dimension": 5.0},
    {"row_kernel": "rbf", "col_kernel": "linear"},
    {"row_kernel": Linear() + 0.5, "n_rows": 40, "n_cols": 30, "horizon": 90},
    {"row_kernel": Gaussian(), "col_kernel": Gaussian(), "max_basis": 7},
]


@pytest.mark.parametrize("params", CONFIGURATIONS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_blocks_are_one_pass_bit_for_bit(params, n_classes, rng):
    X = rng.integers(6, size=(90, 4)).astype(float)
    y = rng.integers(n_classes, size=90)
    classes = np.arange(n_classes)

    def learner():
        return MatrixCompletion(keep_losses=True, random_state=0, **params)

    whole = learner().partial_fit(X, y, classes=classes)
    for cuts in ([1], [30, 31, 77], range(1, 90)):
        model = learner()
        for rows in np.split(np.arange(90), list(cuts)):
            model.partial_fit(X[rows], y[rows], classes=classes)
        assert state(model) == state(whole)
        np.testing.assert_array_equal(model.decision_function(X), whole.decision_function(X))
        assert model.eta_ == whole.eta_


@pytest.mark.parametrize("max_iter", [1, 3])
def test_fit_is_passes_of_partial_fit_if_all_is_known_beforehand(max_iter, rng):
    X, y = random_trials(rng, 5, 6, 50)
    known = {"n_rows": 5, "n_cols": 6, "horizon": 150, "row_radius": 50.0, "random_state": 0}
    known |= {"row_kernel": Linear() + 1.0, "keep_losses": True}
    fitted = MatrixCompletion(max_iter=max_iter, **known).fit(X, y)
    model = MatrixCompletion(**known)
    for _ in range(max_iter):
        model.partial_fit(X, y, classes=[-1, 1])
    # All rows of a fit are met before the first trial.
    assert state(model) == state(fitted)
    assert fitted.n_iter_ == max_iter and fitted.regret_bound_ == model.regret_bound_


def test_fit_ends_when_there_are_no_more_updates():
    X, y = matrix_trials(np.ones((2, 2)), random_state=0)
    y[0] = -1
    model = MatrixCompletion(0.1, eta=0.5, max_iter=50).fit(X, y)
    assert model.converged_ and model.n_iter_ < 50
    np.testing.assert_array_equal(model.predict(X), y)
    assert not MatrixCompletion(0.1, eta=0.5).fit(X, y).converged_


def test_drawn_predictions_are_those_of_the_seed(rng):
    X, y = random_trials(rng, 8, 8, 200)
    model = MatrixCompletion(keep_losses=True, random_state=3).fit(X, y)
    seed = check_random_state(3).randint(2**31 - 1)
    draws = np.random.default_rng(seed).random(200)
    # The loss is the probability of a mistake.
    wrong = np.where(y > 0, draws < model.loss_curve_, draws >= 1 - model.loss_curve_)
    assert model.n_mistakes_ == wrong.sum()
    assert MatrixCompletion(random_state=4).fit(X, y).n_mistakes_ != model.n_mistakes_


def test_number_of_mistakes_is_the_expected_one_on_average(rng):
    X, y = random_trials(rng, 4, 4, 40)
    drawn = [MatrixCompletion(random_state=seed).fit(X, y) for seed in range(100)]
    counts = np.array([model.n_mistakes_ for model in drawn])
    error = counts.std() / np.sqrt(len(counts))
    assert abs(counts.mean() - drawn[0].expected_mistakes_) < 4 * error


def test_rows_and_columns_can_be_exchanged_and_renamed(rng):
    X, y = random_trials(rng, 7, 5, 80)
    K = random_kernel(rng, 7, 7)
    model = MatrixCompletion(row_kernel=Precomputed(K), keep_losses=True).fit(X, y)
    swapped = MatrixCompletion(col_kernel=Precomputed(K), keep_losses=True).fit(X[:, ::-1], y)
    np.testing.assert_allclose(swapped.loss_curve_, model.loss_curve_, **TWIN)
    new_row, new_col = rng.permutation(7), rng.normal(size=5)
    back = np.argsort(new_row)
    renamed = np.column_stack([new_row[X[:, 0].astype(int)], new_col[X[:, 1].astype(int)]])
    other = MatrixCompletion(row_kernel=Precomputed(K[np.ix_(back, back)]), keep_losses=True)
    np.testing.assert_allclose(other.fit(renamed, y).loss_curve_, model.loss_curve_, **TWIN)


def test_identity_is_the_kernel_of_a_unit_matrix(rng):
    X, y = random_trials(rng, 7, 5, 80)
    plain = MatrixCompletion(keep_losses=True).fit(X, y)
    unit = MatrixCompletion(
        row_kernel=Precomputed(np.eye(7)), col_kernel=Precomputed(np.eye(5)), keep_losses=True
    ).fit(X, y)
    np.testing.assert_allclose(unit.loss_curve_, plain.loss_curve_, **TWIN)


def test_scale_of_a_kernel_does_not_matter(rng):
    X, y = random_trials(rng, 7, 5, 80)
    scores = [
        MatrixCompletion(row_kernel=scale * Gaussian(gamma=0.1), col_kernel=scale * Linear())
        .fit(X, y)
        .decision_function(X)
        for scale in (1.0, 1e-150, 1e150)
    ]
    np.testing.assert_allclose(scores[1:], np.tile(scores[0], (2, 1)), **TWIN)


def test_minus_zero_is_zero():
    X, y = np.array([[0.0, 1.0], [1.0, 1.0], [-0.0, 1.0]]), [1, -1, 1]
    model = MatrixCompletion().fit(X, y)
    assert (model.n_rows_, len(model._rows)) == (2, 2)


def test_classes_are_learned_against_all_others(rng):
    X = rng.integers(5, size=(100, 2)).astype(float)
    y = np.array(["a", "b", "c"])[rng.integers(3, size=100)]
    model = MatrixCompletion().fit(X, y)
    scores = model.decision_function(X)
    for k, label in enumerate(model.classes_):
        alone = MatrixCompletion().fit(X, y == label)
        np.testing.assert_allclose(scores[:, k], alone.decision_function(X), **TWIN)
    np.testing.assert_array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1, **EXACT)
    np.testing.assert_array_equal(proba.argmax(axis=1), scores.argmax(axis=1))
    assert model.regret_bound_ is model.bound_ is None


def test_samples_of_one_column_have_one_column_of_the_matrix(rng):
    X, y = rng.integers(4, size=(60, 1)).astype(float), rng.choice([-1, 1], 60)
    model = MatrixCompletion(keep_losses=True).fit(X, y)
    assert (model.n_rows_, model.n_cols_) == (len(np.unique(X)), 1)
    two = MatrixCompletion(keep_losses=True).fit(np.hstack([X, np.ones((60, 1))]), y)
    np.testing.assert_array_equal(two.loss_curve_, model.loss_curve_)


def test_progressive_predictions_are_made_before_each_change(rng):
    X, y = random_trials(rng, 6, 6, 60)
    model, asked = MatrixCompletion(), MatrixCompletion()
    said = progressive_predict(model, X, y)
    asked.partial_fit(X[:1], y[:1], classes=[-1, 1])
    for t in range(1, 60):
        assert said[t] == asked.predict(X[t : t + 1])[0]
        asked.partial_fit(X[t : t + 1], y[t : t + 1])


# ---------------------------------------------------------------- theorems


ALL = reference.all_sign_matrices(2, 2)
RANK_ONE = ALL[[np.linalg.matrix_rank(U) == 1 for U in ALL]]


def adversaries(rng, n_trials, n_games):
    """Return ways to choose labels: at random, a matrix with noise, and against the learner."""
    hidden = RANK_ONE[rng.integers(len(RANK_ONE), size=n_games)]
    noise = rng.uniform(size=(n_trials, n_games)) < rng.uniform(0, 0.5, size=n_games)
    coins = rng.choice([-1.0, 1.0], size=(n_trials, n_games))
    stubborn = rng.uniform(size=n_games)

    def at_random(t, scores, pairs):
        return coins[t]

    def hidden_matrix(t, scores, pairs):
        labels = hidden[np.arange(n_games), pairs[t, :, 0], pairs[t, :, 1]]
        return np.where(noise[t], -labels, labels)

    def against(t, scores, pairs):
        return np.where(scores > 0, -1.0, 1.0)

    def sometimes_against(t, scores, pairs):
        hostile = rng.uniform(size=n_games) < stubborn
        return np.where(hostile, against(t, scores, pairs), hidden_matrix(t, scores, pairs))

    return [at_random, hidden_matrix, against, sometimes_against]


@pytest.mark.parametrize(("margin", "matrices"), [(1.0, RANK_ONE), (0.5**0.5, ALL), (0.4, ALL)])
@pytest.mark.parametrize("kind", range(4))
def test_expected_mistakes_never_exceed_the_bounds_in_games_of_a_small_matrix(
    kind, margin, matrices, rng
):
    """12 times 2,000 games of 40 trials, by the twin that plays them all at once.

    Without side information the quasi-dimension is the number of rows and columns.
    """
    n_trials, n_games = 40, 1000  # with two steps each
    pairs = rng.integers(2, size=(n_trials, n_games, 2))
    choose = adversaries(rng, n_trials, n_games)[kind]
    for eta in [np.sqrt(4 * np.log(4) / (2 * n_trials)), 0.6]:
        scores, labels = reference.many_games(
            2, 2, pairs, lambda t, scores: choose(t, scores, pairs), margin, eta
        )
        expected = losses(scores, labels, margin).sum(axis=0)
        errors = reference.fewest_errors(pairs, labels, matrices)
        n_updates = np.sum(labels * scores <= margin, axis=0)
        bound = matrix_completion_loss_bound(errors, n_updates, 4, margin, 4, eta)
        assert np.all(expected <= bound + 1e-9)
        assert np.all(expected - errors <= matrix_completion_bound(n_trials, 4, margin, 4))
    assert np.max(expected / bound) > 0.2  # the sharper bound is not idle


def test_games_of_the_twin_are_those_of_the_learner(rng):
    pairs = rng.integers(2, size=(40, 30, 2))
    choose = adversaries(rng, 40, 30)[3]
    eta = np.sqrt(4 * np.log(4) / 80)
    scores, labels = reference.many_games(
        2, 2, pairs, lambda t, scores: choose(t, scores, pairs), 0.7, eta
    )
    for game in range(30):
        if len(set(labels[:, game])) == 2:
            model = MatrixCompletion(0.7, n_rows=2, n_cols=2, keep_losses=True)
            model.fit(pairs[:, game], labels[:, game])
            expected = losses(scores[:, game], labels[:, game], 0.7)
            np.testing.assert_allclose(model.loss_curve_, expected, **TWIN)


@pytest.mark.parametrize("seed", range(15))
def test_expected_mistakes_never_exceed_the_bounds_with_side_information(seed):
    """A noisy biclustered matrix; the comparator is the one without noise."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(4, 12, size=2)
    U, rows, cols = make_biclustered(*shape, 2, 2, random_state=seed)
    graphs = [make_cluster_graph(z, noise=0.1, random_state=seed) for z in (rows, cols)]
    D = quasi_dimension(rows, cols, *(graph.laplacian for graph in graphs), laplacian=True)
    X, clean = matrix_trials(U, random_state=seed)
    X, clean = np.tile(X, (3, 1)), np.tile(clean, 3)
    y = np.where(rng.uniform(size=len(clean)) < 0.1, -clean, clean)
    margin, eta = 1 / max_norm_bound(U), 0.4
    model = MatrixCompletion(
        margin,
        D,
        eta,
        row_kernel=Precomputed(graphs[0].kernel),
        col_kernel=Precomputed(graphs[1].kernel),
    ).fit(X, y)
    errors, size = int(np.sum(y != clean)), int(shape.sum())
    bound = matrix_completion_loss_bound(errors, model.n_updates_, D, margin, size, eta)
    assert model.expected_mistakes_ <= bound


@pytest.mark.parametrize("margin", [1.0, 0.5**0.5])
def test_conservative_mistakes_never_exceed_the_bound_if_a_matrix_agrees(margin, rng):
    """10,000 games, half of them by an adversary who says the opposite while a matrix agrees."""
    matrices = RANK_ONE if margin == 1 else ALL
    n_trials, n_games = 16, 5000
    pairs = rng.integers(2, size=(n_trials, n_games, 2))
    games = np.arange(n_games)
    possible = np.ones((len(matrices), n_games), dtype=bool)
    hidden = rng.integers(len(matrices), size=n_games)
    hostile = games % 2 == 0

    def choose(t, scores):
        said = matrices[:, pairs[t, :, 0], pairs[t, :, 1]]
        wish = np.where(scores > 0, -1.0, 1.0)
        allowed = np.any(possible & (said == wish), axis=0)
        labels = np.where(hostile, np.where(allowed, wish, -wish), said[hidden, games])
        possible[:] &= said == labels
        return labels

    scores, labels = reference.many_games(2, 2, pairs, choose, margin, margin, conservative=True)
    assert possible.any(axis=0).all()
    mistakes = np.sum(labels * scores <= 0, axis=0)
    assert mistakes.max() <= matrix_completion_mistakes(4, margin, 4)
    assert mistakes.max() >= 3


@pytest.mark.parametrize("seed", range(10))
def test_conservative_learner_keeps_within_its_bound_on_similarity_matrices(seed):
    U, _ = make_similarity_matrix(8, 3, random_state=seed)
    X, y = matrix_trials(U, random_state=seed)
    model = MatrixCompletion(1 / max_norm_bound(U), conservative=True, max_iter=20).fit(X, y)
    assert model.n_mistakes_ == model.expected_mistakes_ == model.n_updates_ <= model.bound_
    assert model.bound_ == matrix_completion_mistakes(16, model.margin, 16)
    assert model.regret_bound_ is None


def test_regret_bound_is_that_of_the_theorem_and_none_where_it_does_not_apply(rng):
    X, y = random_trials(rng, 5, 6, 40)
    model = MatrixCompletion(0.8, 7.0).fit(X, y)
    assert model.regret_bound_ == matrix_completion_bound(40, 7.0, 0.8, 11)
    assert model.eta_ == np.sqrt(7.0 * np.log(11) / 80)
    assert MatrixCompletion(horizon=100).fit(X, y).regret_bound_ is not None
    for params in ({"eta": 0.3}, {"conservative": True}, {"horizon": 20}):
        assert MatrixCompletion(**params).fit(X, y).regret_bound_ is None
    stream = MatrixCompletion().partial_fit(X, y, classes=[-1, 1])
    assert stream.regret_bound_ is None
    # Past the horizon the step is as it was, and nothing is promised.
    assert model.partial_fit(X, y).regret_bound_ is None
    assert model.eta_ == np.sqrt(7.0 * np.log(11) / 80)


# ---------------------------------------------------------------- what the notes have seen


def mistakes_of_the_notes(n, n_trials, seeds):
    """Return the mean expected mistakes without and with the graphs of clusters."""
    margin, found = 3**-0.5, []
    for seed in seeds:
        U, rows, cols = make_biclustered(n, n, 3, 3, random_state=seed)
        graphs = [make_cluster_graph(z, random_state=seed) for z in (rows, cols)]
        D = quasi_dimension(rows, cols, *(graph.laplacian for graph in graphs), laplacian=True)
        X, y = matrix_trials(U, n_trials, random_state=seed)
        kernels = [Precomputed(graph.kernel) for graph in graphs]
        params = {"row_kernel": kernels[0], "col_kernel": kernels[1]}
        plain = MatrixCompletion(margin, n_rows=n, n_cols=n).fit(X, y)
        informed = MatrixCompletion(margin, D, **params, n_rows=n, n_cols=n).fit(X, y)
        found.append((plain.expected_mistakes_, informed.expected_mistakes_))
        # Of so few trials the theorem says nothing.
        assert min(plain.regret_bound_, informed.regret_bound_) > n_trials
    return np.mean(found, axis=0)


def test_side_information_saves_most_mistakes():
    plain, informed = mistakes_of_the_notes(20, 400, range(1, 4))
    assert informed < 60 < 90 < plain < 160


@pytest.mark.slow
def test_side_information_saves_most_mistakes_as_in_the_notes():
    """About 600 and 70 of 2,500 mistakes there, depending on the latent matrix."""
    plain, informed = mistakes_of_the_notes(50, 2500, range(1, 7))
    assert 300 < plain < 800
    assert 40 < informed < 100


# ---------------------------------------------------------------- budget and bad input


def test_updates_that_need_more_than_the_budget_are_skipped(rng):
    X = rng.normal(size=(80, 4))
    y = rng.choice([-1, 1], 80)
    model = MatrixCompletion(row_kernel="rbf", col_kernel="rbf", max_basis=10).fit(X, y)
    assert len(model._rows) == len(model._cols) == model.n_updates_ == 10
    assert model.n_skipped_ > 0
    assert model.regret_bound_ is None
    # What is known can still be updated, and without kernels there is no limit.
    before = model.n_updates_
    model.partial_fit(X[:1], [-model.predict(X[:1])[0]])
    assert model.n_updates_ == before + 1
    assert MatrixCompletion(max_basis=1).fit(X, y).n_skipped_ == 0


def test_failed_trials_leave_the_old_state(rng):
    X, y = random_trials(rng, 5, 5, 30)
    model = MatrixCompletion(eta=0.5, row_kernel=Linear(), keep_losses=True)
    model.partial_fit(X, y, classes=[-1, 1])
    before, scores = state(model), model.decision_function(X)
    for bad in ([[0.0, np.nan]], [[np.inf, 0.0]], [[1e200, 0.0]], [[1.0, 2.0], [np.nan, 1.0]]):
        with pytest.raises(ValueError, match=r"NaN|infinity|overflows"):
            model.partial_fit(bad, [1] * len(bad))
        with pytest.raises(ValueError):
            model.partial_fit(X[:2], [1, 5])
        assert state(model) == before
        np.testing.assert_array_equal(model.decision_function(X), scores)
    model.partial_fit(X, y)
    whole = MatrixCompletion(eta=0.5, row_kernel=Linear(), keep_losses=True)
    whole.partial_fit(X, y, classes=[-1, 1]).partial_fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize("n_rows", [1, 2])
def test_steps_so_long_that_scores_overflow_are_an_error(n_rows):
    X, y = [[0.0, 0.0], [1.0, 1.0]], [1, -1]
    model = MatrixCompletion(eta=1000.0).fit(X, y)
    assert np.isfinite(model.expected_mistakes_)
    before = model.n_trials_
    with pytest.raises(ValueError, match="smaller learning rate"):
        model.partial_fit([[0.0, 0.0], [1.0, 0.0]][:n_rows], [1, 1][:n_rows])
    assert model.n_trials_ == before


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_row_features": 3}, "n_row_features must be <= 2.*; got 3"),
        ({"row_kernel": "sigmoid"}, "row_kernel"),
        ({"margin": 0.0}, "margin"),
        ({"margin": 1.5}, "margin"),
        ({"dimension": 0}, "dimension"),
        ({"eta": "fast"}, "eta"),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        MatrixCompletion(**params).fit([[0, 1], [1, 0]], [0, 1])


def test_indefinite_kernels_are_refused():
    from sklearn_sl.kernels import Sigmoid

    with pytest.raises(ValueError, match="not positive definite"):
        MatrixCompletion(col_kernel=Sigmoid()).fit([[0, 1], [1, 0]], [0, 1])


@pytest.mark.parametrize("params", CONFIGURATIONS, ids=str)
def test_copies_and_pickles_learn_alone(params, rng):
    X, y = rng.integers(6, size=(40, 4)).astype(float), rng.choice([-1, 1], 40)
    model = MatrixCompletion(keep_losses=True, random_state=0, **params)
    model.partial_fit(X[:20], y[:20], classes=[-1, 1])
    before = state(model)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        other.partial_fit(X[20:], y[20:])
        assert state(model) == before
        assert state(other) != before


def test_duplicate_and_constant_rows_are_one_row_each():
    X, y = np.ones((30, 2)), np.tile([1, -1], 15)
    model = MatrixCompletion(row_kernel=Linear()).fit(X, y)
    assert (len(model._rows), len(model._cols), len(model._entries)) == (1, 1, 1)
    assert abs(model.decision_function([[1.0, 1.0]])[0]) < 1


def test_rows_that_are_zero_to_their_kernel_say_nothing():
    X, y = np.zeros((6, 2)), [1, -1, 1, 1, 1, 1]
    model = MatrixCompletion(row_kernel=Linear(), col_kernel=Linear()).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), -1)


@pytest.mark.parametrize("conservative", [False, True])
def test_no_bound_where_sizes_were_not_known_from_the_first_trial_on(conservative, rng):
    X, y = rng.integers(6, size=(60, 2)).astype(float), rng.integers(2, size=60)

    def bound(**params):
        model = MatrixCompletion(horizon=60, conservative=conservative, **params)
        for rows in (slice(0, 5), slice(5, 60)):
            model.partial_fit(X[rows], y[rows], classes=[0, 1])
        return model.bound_ if conservative else model.regret_bound_

    assert bound() is None
    assert bound(n_rows=6) is None
    assert bound(n_rows=6, n_cols=6) > 0
    model = MatrixCompletion(horizon=60, conservative=conservative).fit(X[:5], y[:5])
    assert (model.bound_ or model.regret_bound_) > 0
    model.partial_fit(X[5:], y[5:])  # new rows and columns
    assert model.bound_ is None and model.regret_bound_ is None
