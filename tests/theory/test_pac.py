"""Finite classes, intervals, margins and validation: the theorems hold, with the notes' numbers."""

import itertools
import math
import timeit

import numpy as np
import pytest
from _clock import slowness
from conftest import ALGEBRA, EXACT
from joblib import parallel_config
from scipy import stats

from sklearn_sl.theory import (
    ErrorDecomposition,
    agnostic_excess,
    agnostic_failure,
    agnostic_sample_size,
    binomial_sample_size,
    binomial_upper,
    count_disjunctions,
    empirical_bernstein_deviation,
    erm_excess,
    error_decomposition,
    interval_error,
    interval_failure,
    interval_sample_size,
    kl_upper,
    linear_margin_deviation,
    linear_margin_sample_size,
    log_class_size,
    miss_probability,
    miss_sample_size,
    missed_mass,
    online_to_batch_sample_size,
    realizable_error,
    realizable_failure,
    realizable_sample_size,
    uniform_deviation,
    uniform_failure,
    uniform_sample_size,
    validation_bound,
)
from sklearn_sl.tree import DecisionTreeClassifier

N = 100_000

# ---------------------------------------------------------------- misses


def test_miss_probability_is_the_chance_of_no_success(rng):
    m, epsilon = rng.integers(0, 1000, N), rng.uniform(size=N)
    exact = miss_probability(m, epsilon)
    np.testing.assert_allclose(exact, stats.binom.pmf(0, m, epsilon), rtol=1e-9, atol=1e-300)
    assert np.all(exact <= miss_probability(m, epsilon, sharp=False) * (1 + 1e-12))
    assert np.all(missed_mass(m, 0.05) <= missed_mass(m, 0.05, sharp=False) + 1e-15)
    # The exact statement is that of the exact binomial bound without errors.
    np.testing.assert_allclose(missed_mass(m, epsilon), binomial_upper(0, m, epsilon), **ALGEBRA)
    assert miss_probability(0, 1) == 1.0
    assert miss_probability(3, 1) == 0.0
    assert miss_sample_size(1, 0.1) == interval_sample_size(1, 0.1, sharp=True) == 1.0
    assert realizable_sample_size(7, 1, 0.1, sharp=True) == 1.0


# ---------------------------------------------------------------- finite classes


def test_sample_sizes_of_the_notes():
    cases = [(1000, 0.1, 0.05), (1000, 0.05, 0.01), (10**6, 0.1, 0.05)]
    for case, realizable, uniform, agnostic in zip(
        cases, (100, 231, 169), (530, 2442, 876), (2120, 9765, 3501)
    ):
        assert realizable_sample_size(*case) == realizable
        assert uniform_sample_size(*case) == uniform
        assert agnostic_sample_size(*case) == agnostic
    np.testing.assert_allclose(agnostic_excess(1000, 1000, 0.05), 0.14558, atol=5e-6)
    np.testing.assert_allclose(uniform_deviation(10, 1000, 0.05), 0.054733, atol=5e-7)


def test_simplified_size_for_conjunctions_in_a_lecture_is_no_bound():
    for n, delta, right, simplified in ((10, 0.05, 734, 1845), (2, 0.4, 191, 161)):
        assert uniform_sample_size(3**n, 0.1, delta) == right
        assert math.ceil(n * math.log(2 / delta) / (2 * 0.1**2)) == simplified


@pytest.mark.parametrize(
    ("family", "sizes", "expected"),
    [
        ("boolean functions", [2, 3, 4], [324, 462, 739]),
        ("dnf formulas", [2, 3, 4], [497, 1121, 2992]),
        ("conjunctions", [10, 20], [734, 1284]),
    ],
)
def test_sample_sizes_of_boolean_classes(family, sizes, expected):
    log_size = log_class_size(family, sizes)
    m = uniform_sample_size(None, 0.1, 0.05, log_n_hypotheses=log_size)
    np.testing.assert_array_equal(m, expected)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_class_sizes_count_different_functions(n):
    points = np.array(list(itertools.product([0, 1], repeat=n)))
    terms = itertools.product([None, 0, 1], repeat=n)
    functions = {
        tuple(np.all([points[:, i] == v for i, v in enumerate(term) if v is not None], axis=0))
        if any(v is not None for v in term)
        else (True,) * 2**n
        for term in terms
    }
    counted = {
        "conjunctions": len(functions),
        "conjunctions or false": len(functions | {(False,) * 2**n}),
        "monotone conjunctions": 2**n,
        "boolean functions": 2 ** (2**n),
        "dnf formulas": 2 ** len(functions),
        "programs": sum(2**length for length in range(n + 1)),
        "float64 parameters": (2**64) ** n,
    }
    for family, count in counted.items():
        np.testing.assert_allclose(log_class_size(family, n), math.log(count), **EXACT)
    assert count_disjunctions(n) == counted["conjunctions"]


@pytest.mark.parametrize(
    "bound",
    [
        *(realizable_failure, realizable_error, realizable_sample_size),
        *(uniform_failure, uniform_deviation, uniform_sample_size),
        *(agnostic_failure, agnostic_excess, agnostic_sample_size),
    ],
)
def test_size_of_a_class_may_be_any_integer_or_a_logarithm(bound):
    # For a probability the other arguments are a sample size and an accuracy.
    rest = (20_000, 0.9) if "failure" in bound.__name__ else (1000, 0.05)
    rest = (0.5, 0.05) if "sample_size" in bound.__name__ else rest
    huge, logarithm = 3**10000, 10000 * math.log(3)
    value = bound(huge, *rest)
    assert type(value) is float
    np.testing.assert_allclose(value, bound(None, *rest, log_n_hypotheses=logarithm), rtol=1e-9)
    many = bound(np.array([1, 7, huge], dtype=object), *rest)
    np.testing.assert_allclose(many, [bound(n, *rest) for n in (1, 7, huge)], rtol=1e-9)
    assert bound(1, *rest) == bound(None, *rest, log_n_hypotheses=0)
    for both in ((None, None), (5, 1.0)):
        with pytest.raises(ValueError, match="either n_hypotheses or log_n_hypotheses"):
            bound(both[0], *rest, log_n_hypotheses=both[1])
    with pytest.raises(ValueError, match="n_hypotheses must be an integer >= 1"):
        bound(0, *rest)


def test_hypotheses_without_training_errors_are_rarely_bad(rng):
    # Each hypothesis errs on one atom of its own: whether an atom is not drawn is known exactly
    # for disjoint atoms, by inclusion and exclusion.
    cases = 0
    for n in (1, 2, 5):
        m, epsilon = rng.integers(1, 200, N // 3), rng.uniform(size=N // 3) / n
        exact = np.zeros(N // 3)
        for j in range(1, n + 1):
            some = np.maximum(1 - j * epsilon, 0) ** m
            exact += (-1) ** (j + 1) * math.comb(n, j) * some
        sharp = realizable_failure(n, m, epsilon, sharp=True)
        assert np.all(exact <= sharp * (1 + 1e-9) + 1e-12)
        assert np.all(sharp <= realizable_failure(n, m, epsilon) * (1 + 1e-9))
        cases += len(m)
    assert cases > 0.99 * N


def test_errors_of_a_finite_class_are_uniformly_close(rng):
    # 20,000 samples of 60 points, 40 random classifiers on a domain of 50 atoms.
    atoms, n_repeats, m = rng.dirichlet(np.ones(50)), 20_000, 60
    wrong = rng.uniform(size=(40, 50)) < rng.uniform(size=(40, 1))
    errors = wrong @ atoms
    observed = rng.multinomial(m, atoms, size=n_repeats) @ wrong.T / m
    off = np.abs(observed - errors).max(axis=1)
    parts = erm_excess(observed, errors)
    np.testing.assert_allclose(parts.gap, off, **EXACT)
    assert np.all(parts.estimation <= 2 * parts.gap + 1e-12)
    for epsilon in (0.15, 0.2, 0.25, 0.3):
        for happened, bound in (
            (off > epsilon, uniform_failure(40, m, epsilon)),
            (parts.estimation > epsilon, agnostic_failure(40, m, epsilon)),
        ):
            # Four standard errors of the simulation.
            assert happened.mean() <= bound + 4 * np.sqrt(bound / n_repeats)
    assert (off > 0.15).mean() > 1e-3


def test_representative_samples_make_the_minimiser_nearly_best(rng):
    errors = rng.uniform(size=(N, 6))
    observed = np.round(errors + rng.normal(scale=0.1, size=(N, 6)), 1)  # with ties
    parts = erm_excess(observed, errors)
    assert np.all(parts.estimation <= 2 * parts.gap + 1e-12)
    assert np.all(parts.estimation >= 0)
    tight = parts.estimation > 1.5 * parts.gap
    assert 0 < tight.mean()
    ties = (observed == observed.min(axis=1, keepdims=True)).sum(axis=1) > 1
    for i in np.flatnonzero(ties)[:20]:
        worst = max(errors[i][observed[i] == observed[i].min()])
        assert parts.estimation[i] + parts.approximation[i] == pytest.approx(worst)
    with pytest.raises(ValueError, match="an entry for each hypothesis"):
        erm_excess([0.1, 0.2], [0.1])


# ---------------------------------------------------------------- validation


@pytest.mark.parametrize("method", ["binomial", "kl", "hoeffding"])
@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("m", [1, 20, 300])
def test_validation_interval_contains_the_error(m, sides, method, rng):
    k, p = np.arange(m + 1), rng.uniform(size=(1000, 1))
    law = stats.binom.pmf(k, m, p)
    for delta in (0.4, 0.05):
        lower, observed, upper = validation_bound(k, m, delta, sides=sides, method=method)
        np.testing.assert_array_equal(observed, k / m)
        assert np.all((lower <= observed) & (observed <= upper) & (0 <= lower) & (upper <= 1))
        missed = (law * ((p < lower) | (upper < p))).sum(axis=1)
        assert np.all(missed <= delta * (1 + 1e-9))
        if sides == 1:
            assert np.all(lower == 0)


def test_best_of_several_candidates_is_inside_of_their_interval(rng):
    # Independent candidates that are all coins: the best looks far better than it is.
    observed = rng.binomial(50, 0.5, size=(20_000, 10)).min(axis=1)
    naive = validation_bound(observed, 50, 0.05, sides=1)
    honest = validation_bound(observed, 50, 0.05, n_compared=10, sides=1)
    assert np.mean(naive.upper < 0.5) > 0.2
    assert np.mean(honest.upper < 0.5) <= 0.05


def test_validation_interval_is_that_of_its_bounds():
    assert validation_bound(7, 200, 0.1).upper == binomial_upper(7, 200, 0.05)
    assert validation_bound(7, 200, 0.1, sides=1, n_compared=2, method="kl").upper == kl_upper(
        0.035, 200, 0.05
    )
    interval = validation_bound(50, 100, 0.05, method="hoeffding")
    np.testing.assert_allclose(interval, [0.36419, 0.5, 0.63581], atol=5e-6)
    interval = validation_bound(500, 1000, 0.05, n_compared=10, method="hoeffding")
    np.testing.assert_allclose(interval.upper, 0.554733, atol=5e-7)
    assert all(type(end) is float for end in interval)
    assert validation_bound([[1], [2]], [10, 20], sides=1).lower.shape == (2, 2)
    with pytest.raises(ValueError, match="method must be one of 'binomial', 'kl', 'hoeffding'"):
        validation_bound(1, 10, method="exact")
    with pytest.raises(ValueError, match="n_errors must be <= n_samples"):
        validation_bound(11, 10)
    with pytest.raises(ValueError, match="n_samples must be an integer >= 1"):
        validation_bound(0, 0)


# ---------------------------------------------------------------- intervals and boxes


def test_error_of_intervals_exceeds_epsilon_as_rarely_as_the_bound_says(rng):
    # If all samples are positive, the error is the sum of one or two spacings of uniform ones,
    # which has a beta distribution.
    m, epsilon = rng.integers(2, 500, N), rng.uniform(size=N) ** 2
    for n_ends in (1, 2):
        exact = stats.beta.sf(epsilon, n_ends, m - n_ends + 1)
        sharp = interval_failure(m, epsilon, n_ends, sharp=True)
        assert np.all(exact <= sharp * (1 + 1e-9))
        assert np.all(sharp <= interval_failure(m, epsilon, n_ends) * (1 + 1e-9))
    np.testing.assert_allclose(
        interval_failure(m, epsilon, sharp=True), stats.beta.sf(epsilon, 1, m), rtol=1e-7
    )


def test_smallest_rectangle_around_the_positive_samples(rng):
    m, epsilon, n_repeats = 30, 0.2, 20_000
    samples = rng.uniform(size=(n_repeats, m, 2))
    error = 1 - np.ptp(samples, axis=1).prod(axis=1)
    bound = interval_failure(m, epsilon, 4, sharp=True)
    assert 0.01 < np.mean(error > epsilon) <= bound + 4 * np.sqrt(bound / n_repeats)


def test_interval_sizes_of_the_notes_and_the_one_that_is_too_small():
    assert interval_sample_size(0.1, 0.05) == 30
    assert interval_sample_size(0.1, 0.05, 2) == 74
    np.testing.assert_allclose(interval_failure(30, 0.1, sharp=True), 0.0424, atol=5e-5)
    too_small = math.ceil(math.log(2 / 0.05) / 0.1)
    assert too_small == 37
    np.testing.assert_allclose(stats.beta.sf(0.1, 2, too_small - 1), 0.103, atol=1e-3)
    assert stats.beta.sf(0.1, 2, 74 - 1) < 0.005
    assert interval_error(0, 0.05, 4) == 1.0


# ---------------------------------------------------------------- margins, mistake bounds


def test_margin_bound_of_linear_classifiers(rng):
    # All unit vectors of a fine grid, a distribution of 200 atoms on the unit circle, noisy labels.
    m, margin, delta, n_repeats = 150, 0.7, 0.1, 4000
    angle = rng.uniform(0, 2 * np.pi, 200)
    x = np.column_stack([np.cos(angle), np.sin(angle)])
    y = np.where((x[:, 0] > 0) ^ (rng.uniform(size=200) < 0.3), 1, -1)
    turn = np.linspace(0, 2 * np.pi, 360, endpoint=False)
    margins = y * (np.array([np.cos(turn), np.sin(turn)]).T @ x.T)
    draws = rng.multinomial(m, np.full(200, 1 / 200), size=n_repeats) / m
    excess = (margins <= 0).mean(axis=1) - draws @ (margins < margin).T
    bound = linear_margin_deviation(m, delta, margin)
    assert np.mean(excess.max(axis=1) > bound) <= delta
    assert bound < 1


def test_margin_size_is_the_smallest_and_inverse(rng):
    m, delta = np.floor(10 ** rng.uniform(0, 6, N)) + 1, 10 ** rng.uniform(-12, -0.001, N)
    margin, radius = 10 ** rng.uniform(-3, 1, (2, N))
    epsilon = linear_margin_deviation(m, delta, margin, radius=radius)
    formula = 2 * radius / (margin * np.sqrt(m)) + np.sqrt(np.log(1 / delta) / (2 * m))
    np.testing.assert_allclose(epsilon, formula, **ALGEBRA)
    again = linear_margin_sample_size(epsilon, delta, margin, radius=radius)
    np.testing.assert_array_equal(again, m)
    assert linear_margin_deviation(0, 0.1, 0.5) == math.inf
    assert linear_margin_sample_size(0, 0.1, 0.5) == math.inf
    for name in ("margin", "radius"):
        worse = linear_margin_deviation(m, delta, margin, radius=radius * 2)
        if name == "margin":
            worse = linear_margin_deviation(m, delta, margin / 2, radius=radius)
        assert np.all(worse > epsilon)


def test_learner_with_a_mistake_bound_is_accurate_when_stopped_at_random(rng):
    # Learning by heart errs once on each of B atoms: stopped before a random trial, it errs on
    # those that it has not met.
    B, epsilon, delta = 5, 0.3, 0.4
    m = int(online_to_batch_sample_size(B, epsilon, delta))
    assert m == math.ceil(B / (epsilon * delta))
    draws = rng.integers(B, size=(5000, m))
    stop = rng.integers(m, size=5000)
    seen = np.arange(m) < stop[:, None]
    unknown = np.mean([~np.any(seen & (draws == atom), axis=1) for atom in range(B)], axis=0)
    # The bound is nearly an equation: four standard errors of the simulation.
    assert unknown.mean() <= B / m + 4 * unknown.std() / np.sqrt(5000)
    assert np.mean(unknown > epsilon) <= delta
    assert online_to_batch_sample_size(5, 0, 0.1) == math.inf
    assert online_to_batch_sample_size(5, 0.1, 0) == math.inf


# ---------------------------------------------------------------- error decomposition


def threshold_data(rng, n, noise=0.2):
    X = rng.uniform(size=(n, 1))
    return X, ((np.sin(9 * X[:, 0]) > 0) ^ (rng.uniform(size=n) < noise)).astype(int)


def test_approximation_error_is_the_best_of_the_class(rng):
    X, y = threshold_data(rng, 400)
    # Stumps with Gini's criterion are no empirical risk minimisers: the best is found by hand.
    cuts = np.concatenate([[-1], X[:, 0]])
    above = X[:, 0] > cuts[:, None]
    errors = np.minimum((above != y).mean(axis=1), (above == y).mean(axis=1))
    parts = error_decomposition(
        DecisionTreeClassifier(max_depth=1),
        lambda rng: threshold_data(rng, 20),
        X,
        y,
        best=errors.min(),
        n_repeats=30,
        random_state=0,
    )
    assert parts.approximation == errors.min()
    assert np.all(parts.errors >= errors.min())
    np.testing.assert_allclose(parts.total, parts.approximation + parts.estimation, **EXACT)
    np.testing.assert_allclose(parts.standard_error, stats.sem(parts.errors), **EXACT)
    assert parts.training_errors.mean() < parts.total


def test_more_samples_lower_the_estimation_error_alone():
    rng = np.random.default_rng(1)
    X, y = threshold_data(rng, 3000)
    tree = DecisionTreeClassifier(max_leaf_nodes=6)
    few, many = (
        error_decomposition(
            tree, lambda rng, n=n: threshold_data(rng, n), X, y, n_repeats=30, random_state=0
        )
        for n in (30, 300)
    )
    assert few.approximation == many.approximation
    assert many.estimation < few.estimation - 3 * few.standard_error
    assert few.tail(0.1) >= np.median(few.errors)
    np.testing.assert_allclose(few.tail([0.0, 1.0]), [few.errors.max(), few.errors.min()])


def test_repeats_do_not_depend_on_their_number_or_on_workers(rng):
    X, y = threshold_data(rng, 100)
    tree = DecisionTreeClassifier(max_depth=2, splitter="random")

    def run(n_repeats, **options):
        draw = lambda rng: threshold_data(rng, 20)  # noqa: E731
        return error_decomposition(
            tree, draw, X, y, n_repeats=n_repeats, random_state=3, best=0.0, **options
        ).errors

    np.testing.assert_array_equal(run(4), run(7)[:4])
    assert len(np.unique(run(7))) > 1
    with parallel_config("threading"):
        np.testing.assert_array_equal(run(4), run(4, n_jobs=2))
    own = run(4, loss=lambda y, prediction: 2.0 * (y != prediction))
    np.testing.assert_allclose(own, 2 * run(4), **EXACT)


def test_a_fitted_model_may_be_the_best(rng):
    X, y = threshold_data(rng, 200)
    best = DecisionTreeClassifier(max_depth=3).fit(X, y)
    parts = error_decomposition(
        DecisionTreeClassifier(max_depth=3),
        lambda rng: threshold_data(rng, 20),
        X,
        y,
        best=best,
        n_repeats=2,
    )
    assert parts.approximation == np.mean(best.predict(X) != y)
    with pytest.raises(ValueError, match="n_repeats must be an integer >= 1"):
        error_decomposition(best, lambda rng: None, X, y, n_repeats=0)
    with pytest.raises(ValueError, match="draw must be a function"):
        error_decomposition(best, None, X, y)
    assert math.isnan(ErrorDecomposition([0.1], 0.0).standard_error)


# ---------------------------------------------------------------- speed


@pytest.mark.alone
@pytest.mark.parametrize(
    ("bound", "arguments"),
    [
        (uniform_sample_size, (1000, 0.1, 0.05)),
        (realizable_failure, (3**1000, 1000, 0.1)),
        (interval_error, (100, 0.05, 4)),
        (linear_margin_deviation, (100, 0.05, 0.1)),
        (validation_bound, (7, 200)),
        (binomial_sample_size, (0.1, 0.05, 3)),
        (kl_upper, (0.1, 100, 0.05)),
        (empirical_bernstein_deviation, (100, 0.05, 0.1)),
    ],
)
def test_one_number_takes_microseconds(bound, arguments):
    # 3 to 10 of them on a quiet machine: without the arrays that checks could make.
    seconds = min(timeit.repeat(lambda: bound(*arguments), number=100, repeat=20)) / 100
    assert seconds < 20e-6 * slowness()
