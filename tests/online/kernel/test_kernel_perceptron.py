"""The kernel perceptron: explicit features, twins, budgets and the theorem."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT
from reference import kernel_online as reference
from reference.kernel_online import assert_same_bits, learned, run
from sklearn.datasets import make_moons
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.metrics.pairwise import rbf_kernel

from sklearn_sl.kernels import (
    Anova,
    GapWeighted,
    Gaussian,
    Linear,
    LiteralFeatures,
    Matern,
    Normalized,
    SetIntersection,
    Spectrum,
    SubsetFeatures,
)
from sklearn_sl.online import KernelPerceptron, Perceptron, progressive_predict
from sklearn_sl.online.kernel import _kernel_trials
from sklearn_sl.theory import best_perceptron_bound, dnf_perceptron_bound, perceptron_bound

STRATEGIES = ["removal", "projection"]
for_every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)
for_every_way = pytest.mark.parametrize("multi_class", ["ovr", "kesler"])


@pytest.fixture
def rings(rng):
    """Return samples of two classes that no straight line separates."""
    X = rng.normal(size=(300, 3))
    return X, (np.linalg.norm(X, axis=1) + 0.2 * rng.normal(size=300) > 1.5).astype(int)


@pytest.fixture
def regions(rng):
    """Return samples of three classes."""
    X = rng.normal(size=(240, 3))
    return X, np.digitize(np.sin(2 * X[:, 0]) + X[:, 1], [-0.5, 0.5])


def whole_numbers(rng, n_samples, n_features, n_classes):
    """Return samples whose scores are whole numbers, and random classes."""
    X = rng.integers(-3, 4, size=(n_samples, n_features)).astype(float)
    return X, rng.integers(n_classes, size=n_samples)


# ---------------------------------------------------------------- explicit features


@for_every_way
@pytest.mark.parametrize("n_classes", [2, 4])
def test_linear_kernel_is_the_perceptron_trial_by_trial(multi_class, n_classes, rng):
    X, y = whole_numbers(rng, 300, 6, n_classes)
    plain = Perceptron(fit_intercept=False, multi_class=multi_class, keep_losses=True)
    ours = KernelPerceptron(kernel="linear", multi_class=multi_class, keep_losses=True)
    np.testing.assert_array_equal(progressive_predict(ours, X, y), progressive_predict(plain, X, y))
    np.testing.assert_array_equal(ours.loss_curve_, plain.loss_curve_)
    np.testing.assert_array_equal(ours.dual_coef_ @ ours.support_vectors_, plain.coef_)
    for name in ("n_mistakes_", "n_updates_", "cumulative_loss_"):
        assert getattr(ours, name) == getattr(plain, name)


@for_every_way
def test_average_is_that_of_the_perceptron(multi_class, rng):
    X, y = whole_numbers(rng, 200, 5, 3)
    options = {"multi_class": multi_class, "average": True}
    plain = learned(Perceptron(fit_intercept=False, **options), X, y)
    ours = learned(KernelPerceptron(kernel="linear", **options), X, y)
    np.testing.assert_allclose(ours.dual_coef_ @ ours.support_vectors_, plain.coef_, **EXACT)
    assert ours.n_mistakes_ == plain.n_mistakes_


def test_anova_kernel_is_the_perceptron_on_all_monomials(rng):
    X = rng.integers(2, size=(400, 7)).astype(float)
    y = rng.integers(2, size=400)
    monomials = SubsetFeatures(order=None).fit_transform(X)
    plain = Perceptron(fit_intercept=False, keep_losses=True).partial_fit(
        monomials, y, classes=[0, 1]
    )
    ours = KernelPerceptron(kernel=Anova(), keep_losses=True).partial_fit(X, y, classes=[0, 1])
    np.testing.assert_array_equal(ours.loss_curve_, plain.loss_curve_)
    assert ours.n_mistakes_ == plain.n_mistakes_


def test_first_trial_is_a_mistake_and_coefficients_are_signs(rings):
    model = learned(KernelPerceptron(), *rings)
    assert model.support_[0] == 0
    assert set(np.abs(model.dual_coef_).ravel()) == {1.0}
    np.testing.assert_array_equal(model.dual_coef_[0] > 0, rings[1][model.support_] == 1)
    assert model.n_mistakes_ == model.n_updates_ == len(model.support_)


# ---------------------------------------------------------------- twins


@for_every_way
@pytest.mark.parametrize("average", [False, True])
def test_trials_are_those_of_the_twin(multi_class, average, regions):
    X, y = regions
    model = KernelPerceptron(gamma=0.7, multi_class=multi_class, average=average, keep_losses=True)
    model.partial_fit(X, y, classes=[0, 1, 2])
    K = rbf_kernel(X, gamma=0.7)
    together = multi_class == "kesler"
    scores, support, coef, mean = reference.play(K, y, 3, margin=0.0, length=1.0, together=together)
    np.testing.assert_array_equal(model.support_, support)
    np.testing.assert_allclose(model.dual_coef_, (mean if average else coef)[:, support], **EXACT)
    own = scores[np.arange(len(y)), y]
    others = np.where(np.arange(3) == y[:, None], -np.inf, scores).max(axis=1)
    assert model.n_mistakes_ == np.sum(own <= others)
    signs = np.where(np.arange(3) == y[:, None], 1, -1)
    losses = np.maximum(0, others - own) if together else np.maximum(0, -signs * scores).sum(axis=1)
    np.testing.assert_allclose(model.loss_curve_, losses, **ALGEBRA)


@for_every_strategy
@for_every_way
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("budget", [1, 2, 17])
def test_budget_is_that_of_the_twin(strategy, multi_class, average, budget, regions):
    X, y = regions
    K = rbf_kernel(X, gamma=0.7)
    model = KernelPerceptron(
        gamma=0.7,
        multi_class=multi_class,
        average=average,
        budget=budget,
        budget_strategy=strategy,
    )
    model.partial_fit(X, y, classes=[0, 1, 2])
    _, support, coef, mean = reference.play(
        K, y, 3, margin=0.0, length=1.0, together=multi_class == "kesler", budget=budget,
        strategy=strategy,
    )  # fmt: skip
    assert sorted(model.support_) == support
    expected = (mean if average else coef)[:, model.support_]
    np.testing.assert_allclose(model.dual_coef_, expected, rtol=1e-5, atol=1e-6)


# ---------------------------------------------------------------- blocks and the whole

STREAMS = {
    "gaussian": {"gamma": 0.6},
    "averaged": {"gamma": 0.6, "average": True},
    "kesler": {"kernel": "poly", "degree": 2, "multi_class": "kesler", "average": True},
    "removal": {"gamma": 0.6, "budget": 11, "budget_strategy": "removal", "average": True},
    "projection": {"gamma": 0.6, "budget": 11, "average": True},
    "composed": {"kernel": Normalized(Linear() + 1.0) * Matern(nu=0.5), "budget": 9},
    "cosine": {"kernel": "cosine"},
    "laplacian": {"kernel": "laplacian"},
}
DENSE_STREAMS = {
    "anova": {"kernel": Anova()},
    "function": {"kernel": lambda x, t: np.exp(-np.abs(x - t).sum())},
    "scikit-learn": {"kernel": ConstantKernel(2.0) * RBF(1.5) + WhiteKernel(0.1)},
}
for_every_stream = pytest.mark.parametrize(
    "options", [*STREAMS.values(), *DENSE_STREAMS.values()], ids=[*STREAMS, *DENSE_STREAMS]
)


def assert_blocks_are_the_whole(X, y, **options):
    model = KernelPerceptron(keep_losses=True, **options)
    whole = learned(model, X, y)
    assert_same_bits(learned(model, X, y, range(1, len(y))), whole)
    assert_same_bits(learned(model, X, y, [1, 8, 9, 137, 200]), whole)


@for_every_stream
def test_blocks_are_the_whole_bit_for_bit(options, regions):
    assert_blocks_are_the_whole(*regions, **options)


@pytest.mark.parametrize("options", STREAMS.values(), ids=STREAMS)
def test_blocks_of_sparse_samples_are_the_whole_bit_for_bit(options, regions):
    X, y = regions
    assert_blocks_are_the_whole(sp.csr_array(X * (np.abs(X) > 0.5)), y, **options)


def test_blocks_of_a_precomputed_kernel_are_the_whole_bit_for_bit(regions):
    X, y = regions
    assert_blocks_are_the_whole(rbf_kernel(X), y, kernel="precomputed", budget=30)


@pytest.mark.parametrize("kernel", [Spectrum(p=2), GapWeighted(p=2, decay=0.6)], ids=str)
def test_blocks_of_strings_are_the_whole_bit_for_bit(kernel, rng):
    words = ["".join(rng.choice(list("abc"), size=rng.integers(12))) for _ in range(220)]
    y = np.array([word.count("ab") > word.count("ba") for word in words])
    assert_blocks_are_the_whole(words, y, kernel=kernel)


@for_every_stream
def test_one_pass_of_fit_is_partial_fit_bit_for_bit(options, regions):
    X, y = regions
    fitted = KernelPerceptron(max_iter=1, **options).fit(X, y)
    gone_through = learned(KernelPerceptron(**options), X, y)
    for name in ("support_", "support_vectors_", "dual_coef_", "n_mistakes_", "cumulative_loss_"):
        np.testing.assert_array_equal(getattr(fitted, name), getattr(gone_through, name))


# ---------------------------------------------------------------- passes


@for_every_way
def test_passes_are_repeated_trials(multi_class, regions):
    X, y = regions
    model = KernelPerceptron(gamma=0.2, multi_class=multi_class, max_iter=4).fit(X, y)
    again = learned(
        KernelPerceptron(gamma=0.2, multi_class=multi_class), np.tile(X, (4, 1)), np.tile(y, 4)
    )
    assert (model.n_iter_, model.n_trials_) == (4, 960)
    assert (model.n_mistakes_, model.n_updates_) == (again.n_mistakes_, again.n_updates_)
    np.testing.assert_allclose(model.decision_function(X), again.decision_function(X), **ALGEBRA)
    # A row has one coefficient, however often it was a mistake.
    assert len(set(model.support_)) == len(model.support_) < len(again.support_)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])


@pytest.mark.parametrize("options", STREAMS.values(), ids=STREAMS)
@pytest.mark.parametrize("sparse", [False, True])
def test_table_of_kernel_values_changes_no_bit(options, sparse, regions, monkeypatch):
    X, y = regions
    X = sp.csr_array(X) if sparse else X
    model = KernelPerceptron(**options).fit(X, y)
    assert model.n_iter_ > 1
    monkeypatch.setattr(_kernel_trials, "TABLE", 0)
    assert_same_bits(KernelPerceptron(**options).fit(X, y), model)


def test_fit_ends_with_a_clean_pass(rng):
    X = rng.normal(size=(200, 2))
    y = np.hypot(*X.T) > 1
    model = KernelPerceptron(gamma=2.0, max_iter=200).fit(X, y)
    assert model.converged_ and model.n_iter_ < 200
    assert model.score(X, y) == 1.0
    last = KernelPerceptron(gamma=2.0, max_iter=model.n_iter_ - 1).fit(X, y)
    assert not last.converged_
    assert (last.n_mistakes_, last.score(X, y)) == (model.n_mistakes_, 1.0)


def test_precomputed_kernel_is_the_kernel(regions):
    X, y = regions
    K = rbf_kernel(X, gamma=0.4)
    for options in ({}, {"budget": 20}, {"multi_class": "kesler", "average": True}):
        ours = KernelPerceptron(gamma=0.4, max_iter=3, **options).fit(X, y)
        table = KernelPerceptron(kernel="precomputed", max_iter=3, **options).fit(K, y)
        np.testing.assert_array_equal(table.support_, ours.support_)
        np.testing.assert_allclose(table.dual_coef_, ours.dual_coef_, **ALGEBRA)
        np.testing.assert_array_equal(table.predict(K[:40]), ours.predict(X[:40]))
        assert table.n_mistakes_ == ours.n_mistakes_


def test_columns_of_a_precomputed_kernel_begin_again_after_the_last(rings):
    X, y = rings
    K = rbf_kernel(X)
    twice = KernelPerceptron(kernel="precomputed")
    for rows in (slice(0, 200), slice(200, 300), slice(0, 300)):
        twice.partial_fit(K[rows], y[rows], classes=[0, 1])
    fitted = KernelPerceptron(kernel="precomputed", max_iter=2).fit(K, y)
    assert twice.n_mistakes_ == fitted.n_mistakes_
    np.testing.assert_allclose(twice.decision_function(K), fitted.decision_function(K), **ALGEBRA)
    assert twice.support_.max() < 300


def test_sparse_samples_are_dense_ones(regions):
    X, y = regions
    X = np.where(np.arange(3) == np.arange(len(X))[:, None] % 3, 0.0, X)
    dense = KernelPerceptron(budget=25, max_iter=2).fit(X, y)
    for convert in (sp.csr_matrix, sp.csc_array, sp.coo_array):
        model = KernelPerceptron(budget=25, max_iter=2).fit(convert(X), y)
        np.testing.assert_array_equal(model.support_, dense.support_)
        np.testing.assert_allclose(model.dual_coef_, dense.dual_coef_, **ALGEBRA)
        np.testing.assert_array_equal(model.predict(convert(X)), dense.predict(X))


def test_strings_and_sets_are_learned(rng):
    words = ["".join(rng.choice(list("abcd"), size=9)) for _ in range(150)]
    for samples, kernel, y in [
        (words, Spectrum(p=1), [word.count("a") > 2 for word in words]),
        ([set(word) for word in words], SetIntersection(), ["a" in word for word in words]),
    ]:
        model = KernelPerceptron(kernel=kernel, max_iter=300).fit(samples, y)
        assert model.converged_ and model.n_updates_ <= model.bound_
        np.testing.assert_array_equal(model.predict(samples), y)
        np.testing.assert_array_equal(
            model.support_vectors_, [samples[row] for row in model.support_]
        )
        model.partial_fit(samples[:3], y[:3])
        assert model.bound_ is None


# ---------------------------------------------------------------- budgets


@for_every_strategy
def test_budget_is_never_exceeded_and_a_large_one_changes_nothing(strategy, regions):
    X, y = regions
    free = learned(KernelPerceptron(average=True), X, y)
    for budget in (1, 5, len(free.support_) - 1, len(free.support_), 10**6):
        options = {"budget": budget, "budget_strategy": strategy, "average": True}
        model = KernelPerceptron(**options)
        for start in range(0, len(y), 10):
            rows = slice(start, start + 10)
            model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
            assert len(model.support_) == len(model.support_vectors_) <= budget
        assert model.dual_coef_.shape == (3, len(model.support_))
        assert (model.n_removed_ == 0) == (budget >= len(free.support_))
        if not model.n_removed_:
            np.testing.assert_array_equal(model.support_, free.support_)
            np.testing.assert_array_equal(model.dual_coef_, free.dual_coef_)


def test_removal_keeps_the_last_mistakes(rings):
    X, y = rings
    wrong = []
    model = KernelPerceptron(budget=7, budget_strategy="removal")
    for row in range(len(y)):
        n_before = getattr(model, "n_mistakes_", 0)
        model.partial_fit(X[[row]], y[[row]], classes=[0, 1])
        wrong += [row] * (model.n_mistakes_ - n_before)
        assert sorted(model.support_) == wrong[-7:]
    assert model.n_removed_ == len(wrong) - 7 > 20


def test_projection_in_few_dimensions_loses_nothing(rng):
    X, y = rng.normal(size=(400, 4)), rng.integers(2, size=400)
    free = learned(KernelPerceptron(kernel="linear"), X, y)
    tight = learned(KernelPerceptron(kernel="linear", budget=4), X, y)
    assert tight.n_removed_ > 100 and len(tight.support_) == 4
    assert tight.n_mistakes_ == free.n_mistakes_
    weights = [model.dual_coef_ @ model.support_vectors_ for model in (tight, free)]
    # Each of some 200 projections is shrunk by the ridge, a millionth.
    np.testing.assert_allclose(*weights, rtol=1e-3, atol=1e-3)


def test_projection_forgets_less_than_removal(rings):
    X, y = rings
    by_strategy = {
        strategy: learned(KernelPerceptron(budget=15, budget_strategy=strategy), X, y)
        for strategy in STRATEGIES
    }
    assert by_strategy["projection"].n_mistakes_ < 0.8 * by_strategy["removal"].n_mistakes_


def test_inverse_of_the_gram_matrix_stays_one(rng):
    X, y = rng.normal(size=(4000, 3)), rng.integers(2, size=4000)
    model = learned(KernelPerceptron(gamma=0.05, budget=40), X, y)
    assert model.n_removed_ > 1000
    K = rbf_kernel(model.support_vectors_, gamma=0.05) + 1e-6 * np.eye(40)
    np.testing.assert_allclose(model._gram, K, **EXACT)
    np.testing.assert_allclose(model._inverse @ K, np.eye(40), atol=1e-3)


@for_every_strategy
def test_budget_survives_copies_and_zeros(strategy, rng):
    X = np.repeat(rng.integers(-1, 2, size=(30, 2)), 10, axis=0).astype(float)
    y = rng.integers(2, size=300)
    for kernel in ("linear", "rbf"):
        model = learned(KernelPerceptron(kernel=kernel, budget=5, budget_strategy=strategy), X, y)
        assert np.isfinite(model.dual_coef_).all()
        assert model.n_removed_ > 50
    zeros = learned(KernelPerceptron(kernel="linear", budget=3), np.zeros((20, 2)), y[:20])
    assert zeros.n_mistakes_ == 20 and np.isfinite(zeros.dual_coef_).all()


def test_projection_needs_a_positive_definite_kernel(rng):
    X, y = rng.normal(size=(100, 3)), rng.integers(2, size=100)
    options = {"kernel": "sigmoid", "gamma": 2.0, "coef0": -1.0, "budget": 30}
    with pytest.raises(ValueError, match="positive definite"):
        learned(KernelPerceptron(**options), X, y)
    assert learned(KernelPerceptron(budget_strategy="removal", **options), X, y).n_removed_ > 0


def test_budget_and_average_of_the_first_call_stay(rings):
    X, y = rings
    for first, later in [
        ({"budget": 9}, {"budget": 3, "budget_strategy": "removal", "average": True}),
        ({}, {"budget": 2}),
        ({"average": True, "budget": 5, "budget_strategy": "removal"}, {"budget": None}),
    ]:
        model = KernelPerceptron(**first).partial_fit(X[:100], y[:100], classes=[0, 1])
        with pytest.raises(ValueError, match="call fit"):
            model.set_params(**later).partial_fit(X[100:], y[100:])
        assert len(model.fit(X, y).support_) <= (model.budget or 300)


def test_budget_of_several_passes_keeps_rows_apart(regions):
    X, y = regions
    for strategy in STRATEGIES:
        model = KernelPerceptron(budget=12, budget_strategy=strategy, max_iter=5).fit(X, y)
        assert len(set(model.support_)) == len(model.support_) == 12
        np.testing.assert_array_equal(model.support_vectors_, X[model.support_])


# ---------------------------------------------------------------- the theorem


def gram_matrices(rng, n_runs, n_trials):
    """Return Gram matrices of random points, of several kernels."""
    X = rng.normal(size=(n_runs, n_trials, 2)) * rng.uniform(0.2, 3, size=(n_runs, 1, 1))
    products = X @ X.transpose(0, 2, 1)
    squares = np.einsum("rtt->rt", products)
    gaussian = np.exp(products - (squares[:, :, None] + squares[:, None]) / 2)
    kinds = np.arange(n_runs)[:, None, None] % 3
    return np.select([kinds == 0, kinds == 1], [gaussian, (products + 1) ** 2], products)


def adversarial_signs(K, margin=0.0, length=1.0):
    """Return labels that contradict the learner in every trial, for many runs at once."""
    n_runs, n_trials, _ = K.shape
    signs, coef = np.empty((n_runs, n_trials)), np.zeros((n_runs, n_trials))
    for t in range(n_trials):
        scores = np.einsum("rs,rs->r", coef, K[:, :, t])
        signs[:, t] = np.where(scores > 0, -1, 1)
        coef[:, t] = length * signs[:, t]
    return signs


def test_mistakes_never_exceed_the_bound_of_any_function(rng):
    n_runs, n_trials = 12_000, 12
    K = gram_matrices(rng, n_runs, n_trials)
    signs = rng.choice([-1.0, 1.0], size=(n_runs, n_trials))
    signs[::2] = adversarial_signs(K[::2])
    separable = np.arange(n_runs) % 4 == 3
    u = rng.normal(size=(n_runs, n_trials)) * rng.choice([0.1, 1.0, 5.0], size=(n_runs, 1))
    values = np.einsum("rst,rs->rt", K, u)
    signs[separable] = np.where(values[separable] > 0, 1, -1)
    norms = np.sqrt(np.maximum(np.einsum("rt,rt->r", u, values), 0))
    radii = np.sqrt(np.einsum("rtt->rt", K).max(axis=1))
    losses = np.maximum(0, 1 - signs * values).sum(axis=1)
    bounds = perceptron_bound(radii, norms, losses)
    n_mistakes = np.array(
        [
            np.sum(signs[r] * run(K[r], (signs[r] > 0).astype(np.intp))[0][:, 0] <= 0)
            for r in range(n_runs)
        ]
    )
    assert np.all(n_mistakes[::4] == n_trials)  # the adversary
    assert np.all(n_mistakes <= bounds * (1 + 1e-12))
    assert np.max(n_mistakes / bounds) > 0.9


def test_steps_of_kesler_never_exceed_the_bound(rng):
    n_runs, n_trials = 10_000, 10
    K = gram_matrices(rng, n_runs, n_trials)
    u = rng.normal(size=(n_runs, 3, n_trials))
    values = np.einsum("rst,rks->rkt", K, u)
    norms = np.sqrt(np.maximum(np.einsum("rkt,rkt->r", u, values), 0))
    codes = np.where(
        rng.uniform(size=(n_runs, 1)) < 0.5,
        values.argmax(axis=1),
        rng.integers(3, size=(n_runs, n_trials)),
    )
    radii = np.sqrt(2 * np.einsum("rtt->rt", K).max(axis=1))
    for r in range(n_runs):
        scores, _ = run(K[r], codes[r], 3, together=True)
        here = np.arange(n_trials)
        own, margins = scores[here, codes[r]], values[r, codes[r], here]
        rest = np.arange(3) != codes[r][:, None]
        n_steps = np.sum(own <= np.where(rest, scores, -np.inf).max(axis=1))
        margins = margins - np.where(rest, values[r].T, -np.inf).max(axis=1)
        loss = np.maximum(0, 1 - margins).sum()
        assert n_steps <= perceptron_bound(radii[r], norms[r], loss) * (1 + 1e-12)


@for_every_way
def test_certificate_holds_for_the_fit(multi_class, regions):
    X, y = regions
    model = KernelPerceptron(gamma=0.5, multi_class=multi_class, max_iter=3).fit(X, y)
    assert model.n_mistakes_ <= model.n_updates_ <= model.bound_
    K = rbf_kernel(model.support_vectors_, gamma=0.5)
    norms = np.einsum("ks,st,kt->k", model.dual_coef_, K, model.dual_coef_)
    np.testing.assert_allclose(model._norms, norms, **ALGEBRA)
    assert model.radius_ == 1.0
    # The comparator is a multiple of the function, and the bound that of the theorem for it.
    factors = model.comparator_[:, 0] / model.dual_coef_[:, 0]
    np.testing.assert_allclose(model.comparator_, factors[:, None] * model.dual_coef_, **EXACT)
    scores = factors * model.decision_function(X)
    own = scores[np.arange(len(y)), y]
    if multi_class == "kesler":
        others = np.where(np.arange(3) == y[:, None], -np.inf, scores).max(axis=1)
        loss = 3 * np.maximum(0, 1 - own + others).sum()
        bound = perceptron_bound(np.sqrt(2), factors[0] * np.sqrt(norms.sum()), loss)
    else:
        signs = np.where(np.arange(3) == y[:, None], 1, -1)
        losses = 3 * np.maximum(0, 1 - signs * scores).sum(axis=0)
        bound = perceptron_bound(1.0, factors * np.sqrt(norms), losses).sum()
    np.testing.assert_allclose(model.bound_, bound, **ALGEBRA)
    np.testing.assert_allclose(
        KernelPerceptron(gamma=0.5, multi_class=multi_class, max_iter=1).fit(X, y).bound_,
        learned(KernelPerceptron(gamma=0.5, multi_class=multi_class), X, y).mistake_bound(X, y),
        **ALGEBRA,
    )


def test_bound_of_a_clean_pass_is_that_of_its_scores(rng):
    X = rng.normal(size=(100, 2))
    y = X[:, 0] * X[:, 1] > 0
    model = KernelPerceptron(gamma=5.0, max_iter=100).fit(X, y)
    assert model.converged_
    values = model.decision_function(X)
    norm = np.sqrt(model.dual_coef_[0] @ values[model.support_])
    bound, factor = best_perceptron_bound(np.where(y, 1, -1) * values, 1.0, norm, model.n_iter_)
    np.testing.assert_allclose(model.bound_, bound, **ALGEBRA)
    np.testing.assert_allclose(model.comparator_, factor * model.dual_coef_, rtol=1e-5)
    assert model.n_updates_ <= model.bound_ <= model.n_trials_


def test_there_is_no_bound_where_the_theorem_does_not_speak(rings):
    X, y = rings
    assert KernelPerceptron(budget=5).fit(X, y).bound_ is None
    assert KernelPerceptron(kernel="sigmoid", max_iter=1).fit(X, y).bound_ is None
    model = KernelPerceptron(max_iter=1).fit(X, y)
    assert model.bound_ is not None
    model.partial_fit(X[:1], y[:1])
    assert model.bound_ is None and model.comparator_ is None
    table = KernelPerceptron(kernel="precomputed").fit(rbf_kernel(X), y)
    assert table.n_updates_ <= table.bound_
    assert KernelPerceptron(kernel="precomputed", max_iter=1).fit(-np.eye(300), y).bound_ is None
    with pytest.raises(ValueError, match="precomputed"):
        table.mistake_bound(rbf_kernel(X), y)


# ---------------------------------------------------------------- formulas


def random_formula(rng, n_literals, n_terms):
    """Return the terms of a formula: which literals each of them wants."""
    return rng.uniform(size=(n_terms, n_literals)) < rng.choice([0.2, 0.5])


def holds(terms, literals):
    """Return for which rows of literals some term holds."""
    return np.any([literals[:, term].all(axis=1) for term in terms], axis=0)


@pytest.mark.parametrize("negations", [False, True])
def test_mistakes_on_a_formula_never_exceed_the_bound(negations, rng):
    n = 4
    points = np.array(list(itertools.product([0.0, 1.0], repeat=n)))
    literals = LiteralFeatures().fit_transform(points) if negations else points
    K = Anova()(literals)
    assert K.max() == np.diag(K).max() == 2**n
    most = 0.0
    for _ in range(6000):
        n_terms = int(rng.integers(1, 5))
        codes = holds(random_formula(rng, literals.shape[1], n_terms), literals == 1)
        order = np.tile(rng.permutation(2**n)[: rng.integers(2, 17)], 10)
        scores, _ = run(K[np.ix_(order, order)], codes[order].astype(np.intp))
        n_mistakes = np.sum(np.where(codes[order], 1, -1) * scores[:, 0] <= 0)
        bound = dnf_perceptron_bound(n_terms, n)
        assert n_mistakes <= bound
        most = max(most, n_mistakes / bound)
    assert most > 0.05


def test_exclusive_or_is_learned_as_a_formula_with_negations():
    points = np.array(list(itertools.product([0.0, 1.0], repeat=6)))
    y = points[:, 0] != points[:, 3]
    literals = LiteralFeatures().fit_transform(points)
    model = KernelPerceptron(kernel=Anova(), max_iter=1000).fit(literals, y)
    assert model.converged_ and model.score(literals, y) == 1.0
    assert model.radius_**2 == 2**6
    assert model.n_mistakes_ <= min(model.bound_, dnf_perceptron_bound(2, 6))


def test_formula_bound_is_checked():
    np.testing.assert_array_equal(dnf_perceptron_bound([1, 2], [3, 10]), [40.0, 9216.0])
    assert dnf_perceptron_bound(1, 5000) == np.inf
    with pytest.raises(ValueError, match="n_terms"):
        dnf_perceptron_bound(0.5, 3)
    with pytest.raises(ValueError, match="n_variables"):
        dnf_perceptron_bound(1, 0)


# ---------------------------------------------------------------- symmetries and bad input


def test_classes_exchanged_is_the_function_negated(rings):
    X, y = rings
    model, flipped = (learned(KernelPerceptron(), X, labels) for labels in (y, 1 - y))
    np.testing.assert_array_equal(model.dual_coef_, -flipped.dual_coef_)
    assert model.n_mistakes_ == flipped.n_mistakes_


def test_predictions_before_learning_are_those_of_the_trials(rings):
    X, y = rings
    by_rows = KernelPerceptron()
    answers = [progressive_predict(by_rows, X[[t]], y[[t]], classes=[0, 1])[0] for t in range(300)]
    at_once = KernelPerceptron()
    np.testing.assert_array_equal(progressive_predict(at_once, X, y), answers)
    assert_same_bits(at_once, by_rows)
    # A score of zero predicts the first class, and is a mistake in any case.
    assert np.sum(answers != y) <= at_once.n_mistakes_


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_that_are_not_finite_change_nothing(value, rings):
    X, y = rings
    model = learned(KernelPerceptron(budget=9), X, y)
    before = {name: np.copy(part) for name, part in vars(model).items() if name != "kernel"}
    spoiled = X.copy()
    spoiled[250, 1] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.partial_fit(spoiled, y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.partial_fit(spoiled[[250]], y[[250]])
    for name, part in before.items():
        if part.dtype != object:
            np.testing.assert_array_equal(getattr(model, name), part)


def test_overflow_is_explained_and_changes_nothing(rng):
    X, y = rng.normal(size=(50, 3)), rng.integers(2, size=50)
    model = learned(KernelPerceptron(kernel="poly", degree=5), X, y)
    coef = model.dual_coef_.copy()
    for rows in (X * 1e70, X[:1] * 1e70):
        with pytest.raises(ValueError, match="overflows"):
            model.partial_fit(rows, y[: len(rows)])
    np.testing.assert_array_equal(model.dual_coef_, coef)


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e150])
def test_scales_of_samples_do_not_matter(scale, regions):
    X, y = regions
    model = learned(KernelPerceptron(gamma=0.5), X, y)
    scaled = learned(KernelPerceptron(gamma=0.5 / scale**2), scale * X, y)
    assert scaled.n_mistakes_ == model.n_mistakes_
    extreme = learned(KernelPerceptron(gamma=0.5), scale * X, y)
    assert np.isfinite(extreme.decision_function(scale * X)).all()


def test_bad_input_is_refused(rings):
    X, y = rings
    model = KernelPerceptron().fit(X, y)
    with pytest.raises(ValueError, match="only one class"):
        KernelPerceptron().fit(X, np.zeros(300))
    with pytest.raises(ValueError, match="0 sample"):
        KernelPerceptron().fit(X[:0], y[:0])
    with pytest.raises(ValueError, match="labels"):
        model.partial_fit(X[:2], [0, 7])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :2], y)
    with pytest.raises(ValueError, match="budget"):
        KernelPerceptron(budget=0).fit(X, y)
    with pytest.raises(ValueError, match="square"):
        KernelPerceptron(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="Negative"):
        KernelPerceptron(kernel="chi2").fit(X, y)
    with pytest.raises(TypeError, match="string kernels"):
        KernelPerceptron(kernel=Spectrum(p=2)).fit([1, 2], [0, 1])
    with pytest.raises((TypeError, ValueError)):
        KernelPerceptron(kernel=Gaussian(gamma=1.0)).fit(["a", "b"], [0, 1])


@pytest.mark.parametrize("budget", [20, 60, 100])
@pytest.mark.parametrize("gamma", [0.01, 0.5, 2.0])
def test_projections_stay_sane_where_the_gram_matrix_is_nearly_singular(budget, gamma):
    X, y = make_moons(2000, noise=0.3, random_state=0)
    all_of_them = KernelPerceptron(gamma=gamma).partial_fit(X, y, classes=[0, 1])
    few = KernelPerceptron(gamma=gamma, budget=budget).partial_fit(X, y, classes=[0, 1])
    # So smooth functions live in a space of few dimensions: nothing that matters is forgotten.
    assert abs(few.n_mistakes_ - all_of_them.n_mistakes_) <= 0.1 * all_of_them.n_mistakes_
    assert np.abs(few.dual_coef_).max() < 100
