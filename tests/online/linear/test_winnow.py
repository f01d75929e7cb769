"""Winnow in all its forms against its definition, its theorems and exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT
from reference import multiplicative as reference

from sklearn_sl.datasets import adversarial_stream, make_disjunction
from sklearn_sl.kernels import LiteralFeatures
from sklearn_sl.online import (
    ExponentiatedGradientClassifier,
    Perceptron,
    Winnow,
    progressive_predict,
)
from sklearn_sl.online.linear import _winnow_sweeps
from sklearn_sl.online.linear._linear import as_rows
from sklearn_sl.online.linear._winnow import DEMOTIONS, PROMOTIONS, exact_powers
from sklearn_sl.theory import (
    balanced_winnow_bound,
    disjunction_perceptron_bound,
    perceptron_bound,
    winnow_bound,
)
from sklearn_sl.theory._winnow import log_cosh

CONFIGS = [
    {},
    {"alpha": 1.5, "threshold": 3.0, "fit_intercept": True},
    {"balanced": True, "alpha": 1.3, "fit_intercept": True},
    {"literals": True, "concept": "conjunction"},
    {"multi_class": "kesler", "alpha": 1.7},
    {"balanced": True, "multi_class": "kesler", "alpha": 1.2},
]
for_every_configuration = pytest.mark.parametrize("params", CONFIGS, ids=str)


def bits_and_classes(seed=0, n_samples=300, n_features=7, n_classes=2):
    """Return random bits and classes with little relation to them."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n_samples, n_features)) < 0.4).astype(float)
    return X, (X[:, 0] + X[:, 1] + (rng.random(n_samples) < 0.2)).astype(int) % n_classes


def fractions_and_classes(seed=0, n_samples=300, n_features=7, n_classes=2):
    """Return numbers between zero and one and classes with some relation to them."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_samples, n_features))
    return X, (X[:, 0] + X[:, 1] + 0.3 * rng.random(n_samples) > 1).astype(int) % n_classes


def play(X, codes, alpha=2.0, balanced=False, threshold=None, n_vectors=1, together=False):
    """Return the numbers of promotions and demotions of a run at compiled speed."""
    n = X.shape[1]
    sums, tail = np.zeros((n_vectors, n)), np.zeros(_winnow_sweeps.WINNOW_TAIL)
    theta = (0.0 if balanced or together else n) if threshold is None else threshold
    weights = _winnow_sweeps.Weights(
        sums,
        np.full_like(sums, 0.0 if balanced else 1.0),
        tail,
        np.empty((2, n)),
        np.log2(alpha),
        balanced,
        theta,
        exact_powers(float(alpha)),
    )
    scores = np.empty((len(codes), n_vectors))
    played = _winnow_sweeps.sweep_winnow(
        as_rows(X), codes.astype(np.intp), weights, together, False, scores
    )
    assert played == len(codes)
    return int(tail[PROMOTIONS]), int(tail[DEMOTIONS])


# ---------------------------------------------------------------- the definition


def test_weights_of_a_run_by_hand():
    # The threshold is 4. Promote at 1 + 1, and at 1 + 2; demote at 2 + 4; right at 2 + 2 + 1 and at
    # 1 + 1; promote at 2.
    X = np.array(
        [[1, 0, 1, 0], [0, 1, 1, 0], [0, 1, 1, 0], [1, 0, 1, 1], [0, 1, 0, 1], [1, 0, 0, 0]]
    )
    y = np.array([1, 1, 0, 1, 0, 1])
    model = Winnow(keep_losses=True).partial_fit(X, y, classes=[0, 1])
    np.testing.assert_array_equal(model.coef_, [[4.0, 1.0, 2.0, 1.0]])
    np.testing.assert_array_equal(model.loss_curve_, [1, 1, 1, 0, 0, 1])
    assert (model.n_promotions_, model.n_demotions_, model.n_mistakes_) == (3, 1, 4)
    assert model.cumulative_loss_ == 4.0
    np.testing.assert_array_equal(model.intercept_, [-4.0])
    np.testing.assert_array_equal(model.decision_function([[1, 0, 0, 0], [0, 1, 1, 0]]), [0, -1])
    # At the threshold the answer is yes.
    np.testing.assert_array_equal(model.predict([[1, 0, 0, 0], [0, 1, 1, 0]]), [1, 0])


@pytest.mark.parametrize("alpha", [2.0, 1.5, 4.0])
@pytest.mark.parametrize("data", [bits_and_classes, fractions_and_classes])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_winnow_does_what_its_definition_says(alpha, data, form):
    X, y = data()
    scores, weights, promotions, demotions = reference.winnow(X, y == 1, alpha, threshold=3.0)
    model = Winnow(alpha=alpha, threshold=3.0).partial_fit(form(X), y, classes=[0, 1])
    np.testing.assert_allclose(model.coef_[0], weights, **EXACT)
    np.testing.assert_allclose(2**model.log2_weights_, model.coef_, **EXACT)
    assert (model.n_promotions_, model.n_demotions_) == (promotions, demotions)
    assert promotions > 10 and demotions > 10
    said = progressive_predict(Winnow(alpha=alpha, threshold=3.0), form(X), y, classes=[0, 1])
    np.testing.assert_array_equal(said, scores >= 0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_balanced_winnow_does_what_its_definition_says(form, rng):
    X = rng.normal(size=(300, 6))
    y = (X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=300) > 0).astype(int)
    scores, plus, minus = reference.balanced_winnow(X, y == 1, 1.3)
    model = Winnow(alpha=1.3, balanced=True).partial_fit(form(X), y, classes=[0, 1])
    np.testing.assert_allclose(model.coef_[0], plus - minus, **ALGEBRA)
    np.testing.assert_allclose(2 ** model.log2_weights_[0], plus, **ALGEBRA)
    assert model.n_mistakes_ == np.count_nonzero((scores >= 0) != y)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_classes_together_do_what_their_definition_says(form):
    X, y = fractions_and_classes(n_classes=3)
    y = y + (X[:, 2] > 0.7)
    scores, weights = reference.kesler_winnow(X, y, 3, 1.4)
    model = Winnow(alpha=1.4, multi_class="kesler").partial_fit(form(X), y, classes=[0, 1, 2])
    np.testing.assert_allclose(model.coef_, weights, **ALGEBRA)
    rows = np.arange(len(y))
    own = scores[rows, y]
    scores[rows, y] = -np.inf
    assert model.n_mistakes_ == np.count_nonzero(own <= scores.max(axis=1)) > 20
    assert model.n_promotions_ == model.n_demotions_ == model.n_mistakes_


def test_one_against_all_others_is_a_winnow_for_each_class():
    X, y = bits_and_classes(n_classes=3)
    model = Winnow(threshold=3.0).partial_fit(X, y, classes=[0, 1, 2])
    for k in range(3):
        alone = Winnow(threshold=3.0).partial_fit(X, y == k, classes=[False, True])
        np.testing.assert_array_equal(model.coef_[k], alone.coef_[0])
        np.testing.assert_array_equal(model.decision_function(X)[:, k], alone.decision_function(X))


# ---------------------------------------------------------------- identities


def test_literals_are_those_of_the_feature_map():
    X, y = fractions_and_classes()
    model = Winnow(literals=True, alpha=1.3).fit(X, y)
    literals = LiteralFeatures().fit_transform(X)
    mapped = Winnow(alpha=1.3).fit(literals, y)
    np.testing.assert_array_equal(model.coef_, mapped.coef_)
    assert model.n_mistakes_ == mapped.n_mistakes_
    np.testing.assert_allclose(
        model.decision_function(X), mapped.decision_function(literals), **EXACT
    )
    sparse = Winnow(literals=True, alpha=1.3).fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(sparse.coef_, model.coef_)


def test_intercept_is_a_feature_that_is_always_one():
    X, y = fractions_and_classes()
    for params in ({"alpha": 1.5}, {"balanced": True, "alpha": 1.2}):
        model = Winnow(fit_intercept=True, **params).fit(X, y)
        by_hand = Winnow(**params).fit(np.column_stack([X, np.ones(len(X))]), y)
        np.testing.assert_allclose(model.coef_[0], by_hand.coef_[0, :-1], **EXACT)
        np.testing.assert_allclose(
            model.intercept_, by_hand.coef_[:, -1] + by_hand.intercept_, **EXACT
        )


def test_conjunction_is_the_complement_of_a_disjunction_of_negations(rng):
    X = (rng.random((400, 10)) < 0.6).astype(float)
    y = X[:, [1, 4]].all(axis=1)
    model = Winnow(literals=True, concept="conjunction").fit(X, y)
    other = Winnow(literals=True).fit(X, ~y)
    assert model.converged_
    assert model.n_mistakes_ == other.n_mistakes_
    np.testing.assert_array_equal(model.decision_function(X), -other.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), y)
    # It is true if neither "not x1" nor "not x4" is.
    np.testing.assert_array_equal(np.flatnonzero(model.comparator_[0]), [3, 9])
    assert model.n_mistakes_ <= model.bound_ == winnow_bound(2, 20).mistakes


def test_balanced_winnow_errs_where_the_conservative_exponentiated_gradient_does(rng):
    X = rng.normal(size=(500, 8))
    y = (X[:, 0] + 0.5 * X[:, 3] + 0.3 * rng.normal(size=500) > 0).astype(int)
    y[0] = 0  # at the first tie both err
    winnow = Winnow(alpha=np.exp(0.2), balanced=True).partial_fit(X, y, classes=[0, 1])
    gradient = ExponentiatedGradientClassifier(
        eta=0.2, conservative=True, fit_intercept=False, radius=3.0
    ).partial_fit(X, y, classes=[0, 1])
    assert winnow.n_mistakes_ == gradient.n_mistakes_ > 50
    logs = winnow.log2_weights_[0] * np.log(2)
    np.testing.assert_allclose(
        gradient.coef_[0], 3 * winnow.coef_[0] / (2 * np.cosh(logs).sum()), **ALGEBRA
    )


# ---------------------------------------------------------------- symmetries


def in_blocks(model, X, y, sizes, classes):
    """Return a learner after the trials in blocks."""
    for rows in np.split(np.arange(len(y)), np.cumsum(sizes)):
        if rows.size:
            model.partial_fit(X[rows], y[rows], classes=classes)
    return model


@for_every_configuration
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_blocks_give_what_the_whole_gives_bit_for_bit(params, form, n_classes):
    if n_classes == 3 and params.get("concept"):
        params = {"literals": True}
    X, y = fractions_and_classes(n_classes=n_classes)
    y = y + (n_classes == 3) * (X[:, 2] > 0.7)
    X, classes = form(X), np.arange(n_classes)
    whole = Winnow(**params, keep_losses=True).partial_fit(X, y, classes=classes)
    parts = in_blocks(Winnow(**params, keep_losses=True), X, y, [1, 1, 50, 3, 100], classes)
    for name in ("_sums", "_weights", "_tail", "coef_", "intercept_", "loss_curve_"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    assert parts.n_mistakes_ == whole.n_mistakes_ > 0
    assert parts.cumulative_loss_ == whole.cumulative_loss_ == whole.loss_curve_.sum()
    assert parts.n_trials_ == whole.n_trials_ == len(y)


def test_sparse_bits_give_what_dense_ones_give_bit_for_bit():
    X, y = bits_and_classes(n_features=40)
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    dense = Winnow(max_iter=3).fit(X, y)
    for form in (sp.csr_array(X), wide, X.astype(np.float32), X.astype(int), X.astype(bool)):
        other = Winnow(max_iter=3).fit(form, y)
        np.testing.assert_array_equal(other.coef_, dense.coef_)
        assert other.n_mistakes_ == dense.n_mistakes_


def test_fit_is_the_passes_one_after_the_other():
    X, y = bits_and_classes()
    model = Winnow(max_iter=4, threshold=3.0).fit(X, y)
    passes = Winnow(threshold=3.0)
    for _ in range(4):
        passes.partial_fit(X, y, classes=[0, 1])
    assert (model.n_iter_, model.converged_) == (4, False)
    np.testing.assert_array_equal(model.coef_, passes.coef_)
    assert model.n_mistakes_ == passes.n_mistakes_


def test_order_of_the_features_does_not_matter():
    X, y = bits_and_classes()
    order = np.random.default_rng(0).permutation(X.shape[1])
    first, second = Winnow().fit(X, y), Winnow().fit(X[:, order], y)
    np.testing.assert_array_equal(second.coef_, first.coef_[:, order])


def test_balanced_weights_change_sign_with_a_feature(rng):
    X = rng.normal(size=(200, 5))
    y = X[:, 0] > X[:, 1]
    signs = np.array([1, -1, 1, -1, -1])
    first, second = (Winnow(balanced=True, alpha=1.1).fit(Z, y) for Z in (X, X * signs))
    np.testing.assert_array_equal(second.coef_, first.coef_ * signs)


# ---------------------------------------------------------------- theorems


def test_mistakes_on_disjunctions_never_exceed_their_bounds_in_random_order(rng):
    n_sequences = 0
    while n_sequences < 10_000:
        n, length = int(rng.integers(2, 24)), int(rng.integers(5, 80))
        k = int(rng.integers(1, min(n, 5) + 1))
        X = (rng.random((20, length, n)) < rng.uniform(0.05, 0.9, size=(20, 1, 1))).astype(float)
        bound = winnow_bound(k, n)
        for rows in X:
            promotions, demotions = play(rows, rows[:, :k].any(axis=1))
            assert promotions <= bound.promotions
            assert demotions <= bound.demotions
            assert promotions + demotions <= bound.mistakes
            assert demotions <= 2 * promotions + 2
        n_sequences += len(X)


def test_mistakes_on_disjunctions_never_exceed_their_bounds_against_an_adversary(rng):
    n_sequences, most = 0, 0.0
    for n, k in [(3, 1), (4, 2), (5, 1), (5, 3), (6, 2), (6, 5), (7, 1), (7, 3)]:
        bound = winnow_bound(k, n)
        for rows, truth in reference.mistakes_for_winnow(rng, n, k, 1300):
            promotions, demotions = play(rows, truth)
            # The learner is wrong each time.
            assert promotions + demotions == len(rows)
            assert promotions <= bound.promotions
            assert demotions <= bound.demotions
            most = max(most, len(rows) / bound.mistakes)
            n_sequences += 1
    assert n_sequences >= 10_000
    assert most > 0.5  # the adversary is one


@pytest.mark.parametrize(("alpha", "threshold"), [(1.5, 4.0), (3.0, 10.0), (2.0, 1.0)])
def test_bounds_hold_for_other_factors_and_thresholds(alpha, threshold, rng):
    for _ in range(1000):
        n = int(rng.integers(2, 16))
        k = int(rng.integers(1, min(n, 4) + 1))
        X = (rng.random((60, n)) < rng.uniform(0.1, 0.9)).astype(float)
        promotions, demotions = play(X, X[:, :k].any(axis=1), alpha, threshold=threshold)
        bound = winnow_bound(k, n, alpha, threshold)
        assert promotions <= bound.promotions
        assert demotions <= bound.demotions


def test_balanced_mistakes_never_exceed_their_bound(rng):
    n_sequences = 0
    while n_sequences < 10_000:
        n, length = int(rng.integers(1, 9)), int(rng.integers(5, 60))
        u = rng.laplace(size=(20, n))
        u /= np.abs(u).sum(axis=1, keepdims=True)
        X = rng.uniform(-1, 1, size=(20, length, n))
        alphas = np.exp(rng.uniform(0.01, 0.7, size=20))
        for rows, vector, alpha in zip(X, u, alphas, strict=True):
            signs = np.where(rng.random(length) < 0.1, -1, 1) * np.sign(rows @ vector)
            mistakes = sum(play(rows, signs > 0, alpha, balanced=True))
            for margin in (0.05, 0.2, 0.6):
                loss = np.maximum(0, 1 - signs * (rows @ vector) / margin).sum()
                radius = np.abs(rows).max()
                assert mistakes <= balanced_winnow_bound(margin, radius, 2 * n, alpha, loss)
        n_sequences += len(X)


def test_mistakes_on_separated_samples_never_exceed_the_tuned_bound(rng):
    for _ in range(2000):
        n, margin = int(rng.integers(2, 9)), rng.uniform(0.1, 0.5)
        X = rng.choice([-1.0, 1.0], size=(200, n))
        u = rng.laplace(size=n)
        u /= np.abs(u).sum()
        X = X[np.abs(X @ u) >= margin]
        mistakes = sum(
            play(
                np.tile(X, (5, 1)), np.tile(X @ u > 0, 5), np.exp(np.arctanh(margin)), balanced=True
            )
        )
        assert mistakes <= 2 * np.log(2 * n) / margin**2


def test_mistakes_of_classes_together_never_exceed_their_bound(rng):
    n_sequences = 0
    while n_sequences < 10_000:
        n, length, n_classes = rng.integers([2, 5, 2], [9, 60, 5])
        X = rng.random((20, length, n))
        u = rng.exponential(size=(20, n_classes, n)) ** 3
        u /= u.sum(axis=(1, 2), keepdims=True)
        alphas = np.exp(rng.uniform(0.01, 0.5, size=20))
        for rows, vectors, alpha in zip(X, u, alphas, strict=True):
            scores = rows @ vectors.T
            codes = scores.argmax(axis=1)
            order = np.sort(scores, axis=1)
            gaps = order[:, -1] - order[:, -2]
            promotions, demotions = play(rows, codes, alpha, n_vectors=n_classes, together=True)
            assert promotions == demotions
            for margin in (0.02, 0.1, 0.3):
                loss = np.maximum(0, 1 - gaps / margin).sum()
                bound = balanced_winnow_bound(margin, 1.0, n * n_classes, alpha, loss)
                assert promotions <= bound
        n_sequences += len(X)


@pytest.mark.parametrize("params", [{"alpha": 1.05}, {"alpha": 1.02, "fit_intercept": True}])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("multi_class", ["ovr", "kesler"])
def test_mistakes_never_exceed_the_bound_that_a_balanced_fit_gives(
    params, n_classes, multi_class, rng
):
    X = rng.uniform(-1, 1, size=(200, 6))
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1], [0.0] if n_classes == 2 else [-0.3, 0.3])
    model = Winnow(balanced=True, multi_class=multi_class, max_iter=20, **params).fit(X, y)
    steps = model.n_promotions_ if multi_class == "kesler" and n_classes > 2 else model.n_updates_
    assert steps <= model.bound_
    sums = np.abs(model.comparator_).sum(axis=1)
    assert np.all(sums <= 1) and np.any(sums > 0)


@pytest.mark.parametrize("literals", [False, True])
def test_fit_finds_a_disjunction_and_its_bound(literals):
    X, y, found = make_disjunction(500, 20, k=3, negations=literals, random_state=1)
    for form in (np.asarray, sp.csr_array):
        model = Winnow(literals=literals).fit(form(X), y)
        assert model.converged_
        assert model.n_mistakes_ <= model.bound_ == model.mistake_bound(3)
        expected = [2 * j if j >= 0 else 2 * ~j + 1 for j in found] if literals else found
        np.testing.assert_array_equal(np.flatnonzero(model.comparator_[0]), sorted(expected))
        np.testing.assert_array_equal(model.predict(form(X)), y)


def test_bound_of_several_classes_is_the_sum_of_theirs():
    X = reference.cube(5)[1:]
    X = X[X[:, :3].sum(axis=1) == 1]
    y = X[:, :3].argmax(axis=1)
    model = Winnow().fit(X, y)
    assert model.converged_
    assert model.n_updates_ <= model.bound_ == model.mistake_bound([1, 1, 1])
    np.testing.assert_array_equal(model.comparator_, np.eye(3, 5))


def test_bound_is_none_where_no_disjunction_fits_or_is_known():
    X = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    assert Winnow().fit(X, [1, 0, 0]).bound_ is None  # a conjunction
    assert Winnow().fit(X / 2, [1, 1, 0]).bound_ is None  # no bits
    assert Winnow().partial_fit(X, [1, 0, 0], classes=[0, 1]).bound_ is None
    model = Winnow().fit(X, [1, 1, 0])
    assert model.bound_ is not None
    assert model.partial_fit(X, [1, 1, 0]).bound_ is None


def test_bound_of_balanced_weights_is_no_more_than_the_number_of_trials():
    X = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    model = Winnow(balanced=True, alpha=10.0).fit(X, [1, 0, 0])
    assert model.n_mistakes_ <= model.bound_ == 3 * model.n_iter_
    assert Winnow(balanced=True, max_iter=5).fit(0 * X, [1, 0, 0]).bound_ == 15


def test_mistakes_of_winnow_grow_like_the_logarithm_and_those_of_the_perceptron_do_not():
    sizes, winnows, perceptrons = [16, 64, 256, 1024], [], []
    for n in sizes:
        X, y, _ = make_disjunction(4000, n, k=4, random_state=0)
        winnows.append(Winnow().partial_fit(X, y, classes=[0, 1]).n_mistakes_)
        perceptrons.append(Perceptron().partial_fit(X, y, classes=[0, 1]).n_mistakes_)
    assert np.all(winnows <= winnow_bound(4, sizes).mistakes)
    assert np.all(perceptrons <= disjunction_perceptron_bound(4, sizes))
    np.testing.assert_array_equal(winnow_bound(4, sizes).mistakes, [62, 86, 110, 134])
    np.testing.assert_array_equal(disjunction_perceptron_bound(4, sizes), [289, 1105, 4369, 17425])
    # From 16 to 1024 attributes.
    assert winnows[-1] < 5 * winnows[0]
    assert perceptrons[-1] > 10 * perceptrons[0]
    assert perceptrons[-1] > 5 * winnows[-1]


def test_perceptron_bound_on_disjunctions_is_novikoffs():
    for k, n in [(1, 1), (3, 10), (10, 1000)]:
        u = np.append(np.repeat([2.0, 0.0], [k, n - k]), -1.0)
        X = np.column_stack([np.eye(n), np.ones(n)])
        margins = np.where(np.arange(n) < k, 1, -1) * (X @ u)
        assert margins.min() == 1
        np.testing.assert_allclose(
            disjunction_perceptron_bound(k, n),
            perceptron_bound(np.sqrt(n + 1), np.linalg.norm(u)),
            **EXACT,
        )


def test_best_factor_of_the_balanced_bound_is_the_best():
    margins = np.array([0.01, 0.1, 0.5, 0.9])
    best = balanced_winnow_bound(margins, 1.0, 100, np.exp(np.arctanh(margins)))
    for factor in (0.5, 0.9, 1.1, 1.5):
        alphas = np.exp(factor * np.arctanh(margins))
        assert np.all(balanced_winnow_bound(margins, 1.0, 100, alphas) > best)
    assert np.all(best <= 2 * np.log(100) / margins**2)
    # No overflow where the hyperbolic cosine has one.
    assert balanced_winnow_bound(1000.0, 1000.0, 10, 4.0) < 4
    assert balanced_winnow_bound(1.0, 1e300, 10, 4.0) == np.inf


@pytest.mark.parametrize(
    ("function", "args", "match"),
    [
        (winnow_bound, (1.5, 3), "k must be an integer"),
        (winnow_bound, (1, 0), "n must be an integer >= 1"),
        (winnow_bound, (1, 3, 1.0), "alpha must be > 1"),
        (winnow_bound, (1, 3, 2.0, 0.0), "threshold must be > 0"),
        (balanced_winnow_bound, (0.0, 1.0, 3), "margin must be > 0"),
        (balanced_winnow_bound, (0.1, 1.0, 3, 0.5), "alpha must be > 1"),
        (balanced_winnow_bound, (0.1, 1.0, 3, 2.0, -1.0), "hinge_loss must be finite and >= 0"),
        (disjunction_perceptron_bound, (-1, 3), "k must be an integer"),
    ],
)
def test_bounds_know_their_domains(function, args, match):
    with pytest.raises(ValueError, match=match):
        function(*args)


# ---------------------------------------------------------------- the adversary


def test_adversary_hands_winnow_its_mistakes():
    X, y, _ = make_disjunction(300, 30, k=3, random_state=0)
    model = Winnow()
    rows = adversarial_stream(model, X, y, 1000, random_state=0)
    np.testing.assert_array_equal(model.predict(X), y)
    # The first one is drawn from all samples.
    assert len(rows) - 1 <= model.n_mistakes_ <= min(len(rows), model.mistake_bound(3))


# ---------------------------------------------------------------- large and small


def test_weights_beyond_all_doubles_decide_as_in_exact_arithmetic(rng):
    X = rng.integers(0, 3, size=(150, 4)) * rng.choice([1, 40, 700], size=(150, 4))
    y = rng.random(150) < 0.5
    for form in (np.asarray, sp.csr_array):
        said = progressive_predict(
            Winnow(threshold=6.0), form(X.astype(float)), y, classes=[False, True]
        )
        np.testing.assert_array_equal(said, reference.exact_winnow(X, y, 6))
    model = Winnow(threshold=6.0).partial_fit(X, y, classes=[False, True])
    assert model.log2_weights_.min() < -2000
    assert np.isfinite(model.coef_).all()


def test_balanced_weights_beyond_all_doubles_decide_as_in_exact_arithmetic(rng):
    X = rng.integers(-2, 3, size=(150, 4)) * rng.choice([1, 40, 1500], size=(150, 4))
    X *= rng.random(X.shape) < 0.5
    y = rng.random(150) < 0.5
    model = Winnow(balanced=True).partial_fit(X, y, classes=[False, True])
    assert np.abs(model.log2_weights_).max() > 2000
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.decision_function(X)).all()
    exact = reference.exact_balanced_winnow(X, y)
    for form in (np.asarray, sp.csr_array):
        learner = Winnow(balanced=True)
        said = progressive_predict(learner, form(X.astype(float)), y, classes=[False, True])
        np.testing.assert_array_equal(said, exact)
    # What a learner would say of the next sample, it says when asked.
    for t in (20, 70, 149):
        learner = Winnow(balanced=True).partial_fit(X[:t], y[:t], classes=[False, True])
        assert learner.predict(X[t : t + 1])[0] == exact[t]


def test_ten_million_trials_leave_finite_weights():
    rng = np.random.default_rng(0)
    X = np.ascontiguousarray(rng.integers(0, 2, size=(10**6, 3)).astype(float))
    y = rng.integers(0, 2, size=10**6)
    model = Winnow(threshold=2.0)
    for _ in range(10):
        model.partial_fit(X, y, classes=[0, 1])
    assert model.n_trials_ == 10**7
    assert model.n_mistakes_ > 10**6
    assert np.isfinite(model.coef_).all()
    np.testing.assert_allclose(model.coef_, 2.0**model.log2_weights_, rtol=0)
    # As if the same had happened in integers.
    assert np.all(model.log2_weights_ == np.round(model.log2_weights_))


def test_vanished_weights_come_back():
    # Demoted a thousand and a hundred times by two, and promoted as often.
    x = np.array([[1100.0, 0.0], [0.0, 1.0]])
    model = Winnow(threshold=1.0).partial_fit(x[:1], [0], classes=[0, 1])
    assert model.coef_[0, 0] == 0 and model.log2_weights_[0, 0] == -1100
    model.partial_fit(x[:1], [1])
    np.testing.assert_array_equal(model.coef_, [[1.0, 1.0]])


@pytest.mark.parametrize("scale", [1e-200, 1e-5, 1e5, 1e150])
@pytest.mark.parametrize("balanced", [False, True])
def test_all_numbers_are_finite_at_any_scale(scale, balanced):
    X, y = fractions_and_classes()
    model = Winnow(balanced=balanced, max_iter=3).fit(X * scale, y)
    for values in (model.coef_, model.intercept_, model.log2_weights_):
        assert np.isfinite(values).all()
    assert np.isfinite(model.decision_function(X * scale)).all()


def test_samples_beyond_all_doubles_are_told_of_and_change_nothing():
    for params in ({"threshold": 1e305}, {"balanced": True}):
        model = Winnow(**params).partial_fit([[1.0, 0.5]], [0], classes=[0, 1])
        before = model.log2_weights_.copy()
        with pytest.raises(ValueError, match="exceed the range"):
            model.partial_fit([[1e300, 0.0]], [1])
        np.testing.assert_array_equal(model.log2_weights_, before)


# ---------------------------------------------------------------- bad input


def test_negative_samples_are_told_of():
    X, y = bits_and_classes()
    for form in (np.asarray, sp.csr_array):
        bad = X.copy()
        bad[200, 3] = -0.5
        model = Winnow().fit(X, y)
        before = model.coef_.copy()
        with pytest.raises(ValueError, match="Negative values in data passed to Winnow"):
            model.partial_fit(form(bad), y)
        np.testing.assert_array_equal(model.coef_, before)
        assert model.n_trials_ == model.n_iter_ * len(y)
        Winnow(balanced=True).fit(form(bad), y)
    # Minus zero is not negative.
    Winnow().fit(np.where(X == 0, -0.0, X), y)


def test_literals_are_between_zero_and_one():
    X, y = bits_and_classes()
    with pytest.raises(ValueError, match="Values above 1 in data passed to Winnow"):
        Winnow(literals=True).fit(2 * X, y)
    with pytest.raises(ValueError, match="Negative values"):
        Winnow(literals=True).fit(-X, y)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("params", [{}, {"balanced": True}, {"literals": True}])
def test_samples_that_are_not_finite_are_told_of(bad, params):
    X, y = bits_and_classes()
    X[250, 2] = bad
    for form in (np.asarray, sp.csr_array):
        with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
            Winnow(**params).fit(form(X), y)


@pytest.mark.parametrize(
    "params",
    [
        {"balanced": True, "threshold": 1.0},
        {"balanced": True, "concept": "conjunction"},
        {"multi_class": "kesler", "threshold": 2.0},
        {"multi_class": "kesler", "concept": "conjunction"},
    ],
)
def test_options_that_contradict_each_other_are_told_of(params):
    X, y = bits_and_classes(n_classes=3)
    with pytest.raises(ValueError, match="require threshold=None"):
        Winnow(**params).fit(X, y)


def test_bound_on_disjunctions_is_about_a_threshold():
    X, y = bits_and_classes()
    with pytest.raises(ValueError, match="requires balanced=False"):
        Winnow(balanced=True).fit(X, y).mistake_bound(1)


@pytest.mark.parametrize("X", [np.ones((6, 3)), np.zeros((6, 3)), sp.csr_array((6, 3))])
@pytest.mark.parametrize("params", CONFIGS, ids=str)
def test_samples_that_are_all_the_same_are_learned_without_fuss(X, params):
    for y in ([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2]):
        if len(set(y)) == 3 and params.get("concept"):
            continue
        model = Winnow(**params).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("scale", [1e-310, 1e-300, 1e-9, 1e9, 1e150])
@pytest.mark.parametrize("alpha", [1.0001, 2.0, 100.0])
@pytest.mark.parametrize("multi_class", ["ovr", "kesler"])
def test_bounds_of_balanced_weights_hold_for_samples_of_any_scale(scale, alpha, multi_class):
    rng = np.random.default_rng(0)
    X, y = scale * rng.normal(size=(30, 4)), rng.integers(3, size=30)
    model = Winnow(balanced=True, alpha=alpha, multi_class=multi_class, max_iter=3).fit(X, y)
    n_counted = model.n_promotions_ if multi_class == "kesler" else model.n_updates_
    assert n_counted <= model.bound_
    assert np.isfinite(model.comparator_).all()


def test_logarithm_of_the_hyperbolic_cosine_is_exact_for_small_numbers():
    a = np.array([1e-300, 1e-100, 1e-9, 1e-3])
    np.testing.assert_allclose(log_cosh(a), a**2 / 2 - a**4 / 12, rtol=1e-12)
    np.testing.assert_allclose(log_cosh(np.array([0.9, 1.1])), np.log(np.cosh([0.9, 1.1])))


# ---------------------------------------------------------------- ties


def exact_winnow(X, y, alpha, threshold):
    """Return the answers of Winnow in rational numbers."""
    weights, said = [Fraction(1)] * X.shape[1], []
    for x, wanted in zip(X, y, strict=True):
        said.append(sum(w for w, value in zip(weights, x, strict=True) if value) >= threshold)
        step = Fraction(alpha) ** (int(wanted) - int(said[-1]))
        weights = [w * step if value else w for w, value in zip(weights, x, strict=True)]
    return np.array(said).astype(int)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("alpha", [2.0, 3.0, 5.0, 6.0, 7.0, 10.0, 1.5])
def test_ties_of_whole_promotions_are_ties(rng, form, alpha):
    n_ties = 0
    for n, threshold in ((4, None), (6, None), (12, None), (5, alpha), (7, 1 / 2)):
        X, y = rng.integers(2, size=(150, n)).astype(float), rng.integers(2, size=150)
        model = Winnow(alpha=alpha, threshold=threshold)
        expected = exact_winnow(X, y, alpha, n if threshold is None else Fraction(threshold))
        said = progressive_predict(model, form(X), y)
        np.testing.assert_array_equal(said, expected)
        scores = model.decision_function(form(X))
        n_ties += np.count_nonzero(scores == 0)
        np.testing.assert_array_equal(model.predict(form(X)), scores >= 0)
    assert n_ties > 0 or alpha > 3
