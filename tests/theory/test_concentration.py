"""Concentration inequalities: true, inverses of each other, monotone, and defined at the edges."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from scipy import optimize, stats

from sklearn_sl import theory
from sklearn_sl.theory import (
    bernstein_tail,
    binary_kl,
    binary_kl_lower,
    binary_kl_upper,
    binomial_lower,
    binomial_sample_size,
    binomial_tail,
    binomial_upper,
    empirical_bernstein_deviation,
    hoeffding_deviation,
    hoeffding_sample_size,
    hoeffding_tail,
    kl_lower,
    kl_sample_size,
    kl_tail,
    kl_upper,
    mcdiarmid_tail,
    rms_width,
    union_bound,
    union_level,
)

N = 100_000

# ---------------------------------------------------------------- the functions of a statement


def sizes(rng):
    return np.floor(10 ** rng.uniform(0, 6, N))


def levels(rng):
    return 10 ** rng.uniform(-12, -0.001, N)


def scales(rng):
    return 10 ** rng.uniform(-2, 2, N)


def variances(rng):
    return rng.choice([0.0, 1.0], N) * 10 ** rng.uniform(-6, -0.6, N)


def counts(rng):
    return np.floor(10 ** rng.uniform(0, 9, N))


def ends(rng):
    return rng.integers(1, 9, N)


# Each statement: its probability, its accuracy and its sample size, the arguments that all of them
# have besides, and how the accuracy moves with these.
PLAIN = [
    *itertools.product(["hoeffding_{}"], [{"width": scales}], [{"sides": 1}, {"sides": 2}]),
    *itertools.product(["mcdiarmid_{}"], [{"sensitivity": scales}], [{"sides": 1}, {"sides": 2}]),
    *itertools.product(
        ["bernstein_{}", "empirical_bernstein_{}"],
        [{"variance": variances}],
        [{"sides": 1}, {"sides": 2}],
    ),
    ("bernstein_{}", {"variance": variances, "bound": scales}, {}),
    ("empirical_bernstein_{}", {"variance": variances, "width": scales}, {}),
]
FINITE = [
    *itertools.product(["realizable_{}"], [{"n_hypotheses": counts}], [{}, {"sharp": True}]),
    *itertools.product(["uniform_{}"], [{"n_hypotheses": counts}], [{"sides": 1}, {"sides": 2}]),
    ("agnostic_{}", {"n_hypotheses": counts}, {}),
    *itertools.product(["interval_{}"], [{"n_ends": ends}], [{}, {"sharp": True}]),
]
ACCURACY = {
    "realizable": "error",
    "uniform": "deviation",
    "agnostic": "excess",
    "interval": "error",
}


def triple(pattern, ends_of_name):
    return tuple(getattr(theory, pattern.format(end)) for end in ends_of_name)


STATEMENTS = [
    (*triple(pattern, ("tail", "deviation", "sample_size")), arguments, options)
    for pattern, arguments, options in PLAIN
]
STATEMENTS += [
    (*triple(pattern, ("failure", ACCURACY[pattern[:-3]], "sample_size")), arguments, options)
    for pattern, arguments, options in FINITE
]
STATEMENTS += [
    (theory.miss_probability, theory.missed_mass, theory.miss_sample_size, {}, {}),
    (theory.miss_probability, theory.missed_mass, theory.miss_sample_size, {}, {"sharp": False}),
]
for_every_statement = pytest.mark.parametrize(
    ("tail", "accuracy", "size", "arguments", "options"),
    STATEMENTS,
    ids=[f"{s[0].__name__}-{'-'.join(s[3])}-{s[4]}" for s in STATEMENTS],
)


def drawn(arguments, rng):
    return {name: draw(rng) for name, draw in arguments.items()}


def is_probability(accuracy):
    """Say whether the accuracy is a probability, which is 1 at most."""
    return accuracy.__name__ in ("realizable_error", "interval_error", "missed_mass")


@for_every_statement
def test_accuracy_has_the_probability_that_it_was_asked_for(
    tail, accuracy, size, arguments, options, rng
):
    m, delta, given = sizes(rng) + 1, levels(rng), drawn(arguments, rng)
    epsilon = accuracy(n_samples=m, delta=delta, **given, **options)
    inside = np.isfinite(epsilon)
    if is_probability(accuracy):
        # Beyond, the difference of 1 is lost to rounding.
        inside &= epsilon < 1 - 1e-6
    assert inside.mean() > 0.5
    back = tail(n_samples=m, epsilon=epsilon, **given, **options)
    np.testing.assert_allclose(back[inside], delta[inside], rtol=1e-9)


@for_every_statement
def test_sample_size_is_the_smallest_that_suffices(tail, accuracy, size, arguments, options, rng):
    epsilon, delta, given = 10 ** rng.uniform(-3, -0.1, N), levels(rng), drawn(arguments, rng)
    m = size(epsilon=epsilon, delta=delta, **given, **options)
    assert np.all((m >= 1) & (m == np.floor(m)))
    enough = tail(n_samples=m, epsilon=epsilon, **given, **options)
    assert np.all(enough <= delta * (1 + 1e-9))
    more = m > (2 if "empirical" in size.__name__ else 1)
    less = tail(n_samples=np.maximum(m - 1, 0), epsilon=epsilon, **given, **options)
    assert np.all(less[more] > delta[more] * (1 - 1e-9))


@for_every_statement
def test_sample_size_of_an_accuracy_is_the_number_that_it_came_from(
    tail, accuracy, size, arguments, options, rng
):
    m, delta, given = sizes(rng) + 2, levels(rng), drawn(arguments, rng)
    epsilon = accuracy(n_samples=m, delta=delta, **given, **options)
    inside = epsilon < 0.9 if is_probability(accuracy) else np.isfinite(epsilon)
    again = size(epsilon=np.where(inside, epsilon, 0.5), delta=delta, **given, **options)
    np.testing.assert_array_equal(again[inside], m[inside])


@for_every_statement
def test_bounds_are_monotone_in_every_argument(tail, accuracy, size, arguments, options, rng):
    m, delta, given = sizes(rng), levels(rng), drawn(arguments, rng)
    epsilon, factor = 10 ** rng.uniform(-3, -0.5, N), 1 + rng.exponential(size=N)
    slack = 1 + 1e-9
    p, e = (
        tail(n_samples=m, epsilon=epsilon, **given, **options),
        accuracy(n_samples=m, delta=delta, **given, **options),
    )
    n = size(epsilon=epsilon, delta=delta, **given, **options)
    more, looser = np.ceil(m * factor), np.minimum(delta * factor, 1.0)
    assert np.all(tail(n_samples=more, epsilon=epsilon, **given, **options) <= p * slack)
    assert np.all(accuracy(n_samples=more, delta=delta, **given, **options) <= e * slack)
    wider = np.minimum(epsilon * factor, 1.0)
    assert np.all(tail(n_samples=m, epsilon=wider, **given, **options) <= p * slack)
    assert np.all(accuracy(n_samples=m, delta=looser, **given, **options) <= e * slack)
    assert np.all(size(epsilon=wider, delta=delta, **given, **options) <= n)
    assert np.all(size(epsilon=epsilon, delta=looser, **given, **options) <= n)
    for name in arguments:
        harder = {**given, name: np.ceil(given[name] * factor)}
        if name not in ("n_hypotheses", "n_ends"):
            harder[name] = given[name] * factor
        assert np.all(tail(n_samples=m, epsilon=epsilon, **harder, **options) >= p / slack)
        assert np.all(accuracy(n_samples=m, delta=delta, **harder, **options) >= e / slack)
        assert np.all(size(epsilon=epsilon, delta=delta, **harder, **options) >= n)


@for_every_statement
def test_edges_and_scalars(tail, accuracy, size, arguments, options, rng):
    given = {name: float(draw(rng)[0]) for name, draw in arguments.items()}
    rest = {**given, **options}
    nothing = 1.0 if is_probability(accuracy) else math.inf
    assert tail(n_samples=0, epsilon=0.5, **rest) == 1.0
    assert tail(n_samples=10, epsilon=0, **rest) == 1.0
    assert accuracy(n_samples=0, delta=0.5, **rest) == nothing
    assert accuracy(n_samples=10, delta=0, **rest) == nothing
    assert size(epsilon=0.1, delta=0, **rest) == math.inf
    assert size(epsilon=0, delta=0.5, **rest) == math.inf
    assert math.isfinite(accuracy(n_samples=10**9, delta=1, **rest))
    for function, place in ((tail, "epsilon"), (accuracy, "delta")):
        values = np.array([0.2, 0.1])
        many = function(n_samples=[[7], [70]], **{place: values}, **rest)
        assert many.shape == (2, 2)
        one = function(n_samples=70, **{place: 0.1}, **rest)
        assert type(one) is float
        np.testing.assert_allclose(one, many[1, 1], **EXACT)
    assert type(size(epsilon=0.1, delta=0.1, **rest)) is float


@for_every_statement
def test_arguments_outside_their_domain_are_named(tail, accuracy, size, arguments, options, rng):
    rest = {**{name: float(draw(rng)[0]) for name, draw in arguments.items()}, **options}
    for value in (-1, 1.5, "many", np.nan):
        with pytest.raises(ValueError, match="n_samples must be"):
            tail(n_samples=value, epsilon=0.1, **rest)
    for value in (-0.1, np.inf, None):
        with pytest.raises(ValueError, match="epsilon must be"):
            tail(n_samples=10, epsilon=value, **rest)
    for value in (-0.1, 1.1, [0.1, np.nan]):
        with pytest.raises(ValueError, match="delta must be"):
            accuracy(n_samples=10, delta=value, **rest)
        with pytest.raises(ValueError, match="delta must be"):
            size(epsilon=0.1, delta=value, **rest)
    for name in arguments:
        with pytest.raises(ValueError, match=f"{name} must be"):
            size(epsilon=0.1, delta=0.1, **{**rest, name: -1.0})
    if "sides" in options:
        with pytest.raises(ValueError, match="sides must be one of 1, 2"):
            tail(n_samples=10, epsilon=0.1, **{**rest, "sides": 3})


# ---------------------------------------------------------------- the inequalities are true


def test_tails_of_errors_are_below_the_bounds_of_bernstein_chernoff_and_hoeffding(rng):
    m, p = rng.integers(1, 2000, N), rng.uniform(size=N)
    # Deviations of all orders: of a standard deviation, and of everything.
    k = np.ceil(np.minimum(m, m * p + rng.exponential(2, N) * np.sqrt(m * p * (1 - p))))
    exact, epsilon = stats.binom.sf(k - 1, m, p), k / m - p
    keep = epsilon >= 0
    chernoff = kl_tail(m, k / m, p)
    bernstein = bernstein_tail(m, np.maximum(epsilon, 0), p * (1 - p), bound=1 - p)
    hoeffding = hoeffding_tail(m, np.maximum(epsilon, 0))
    assert keep.mean() > 0.9
    for bound in (chernoff, bernstein, hoeffding):
        assert np.all(exact[keep] <= bound[keep] * (1 + 1e-9))
    assert np.all(chernoff[keep] <= hoeffding[keep] * (1 + 1e-9))
    assert np.all(chernoff[keep] <= bernstein[keep] * (1 + 1e-9))
    # Chernoff's bound is right up to a factor, which is known.
    factor = np.sqrt(np.maximum(8 * k * (1 - k / m), 1))
    assert np.all(exact[keep] * factor[keep] >= chernoff[keep] * (1 - 1e-9))


def test_two_sides_are_twice_one_side_and_true(rng):
    m, p = rng.integers(1, 300, N), rng.uniform(size=N)
    epsilon = rng.exponential(size=N) / np.sqrt(m)
    above = stats.binom.sf(np.ceil(m * (p + epsilon) - 1e-9) - 1, m, p)
    below = stats.binom.cdf(np.floor(m * (p - epsilon) + 1e-9), m, p)
    assert np.all(above + below <= hoeffding_tail(m, epsilon, sides=2) * (1 + 1e-6))
    np.testing.assert_allclose(
        hoeffding_tail(m, epsilon, sides=2),
        np.minimum(1, 2 * np.exp(-2 * m * epsilon**2)),
        **EXACT,
    )


def test_variables_of_different_ranges_have_the_width_of_their_mean_square(rng):
    outcomes = np.array(list(itertools.product([0, 1], repeat=10)))
    low = rng.normal(size=(100, 10))
    high = low + rng.exponential(size=(100, 10)) ** 2
    values = np.sort((low[:, None] + outcomes * (high - low)[:, None]).mean(axis=2), axis=1)
    epsilon = values - (low + high).mean(axis=1)[:, None] / 2
    # Fair coins, and each of the 1024 outcomes as the threshold: 102,400 cases.
    exact = np.arange(1024, 0, -1) / 1024
    width = rms_width(low, high)
    bound = hoeffding_tail(10, np.maximum(epsilon, 0), width=width[:, None])
    assert np.all(np.where(epsilon > 0, exact, 0) <= bound)
    np.testing.assert_allclose(width, np.sqrt(((high - low) ** 2).mean(axis=1)), **ALGEBRA)
    np.testing.assert_allclose(rms_width(0, [3e300, 4e300]), 3.5355339059327378e300, rtol=1e-12)
    assert rms_width(1, 3) == 2.0
    with pytest.raises(ValueError, match="low must be <= high"):
        rms_width(1, 0)


def test_bounded_differences_of_the_distance_from_the_middle(rng):
    # f = |mean - 1/2| of m coins: one of them changes it by 1/m at most.
    for m in (5, 20, 100):
        k = np.arange(m + 1)
        f = np.abs(k / m - 0.5)
        p = rng.uniform(size=(500, 1))
        law = stats.binom.pmf(k, m, p)
        mean = law @ f
        exact = (law[:, None, :] * (f >= f[:, None] - 1e-12)).sum(axis=2)
        epsilon = f - mean[:, None]
        bound = mcdiarmid_tail(m, np.maximum(epsilon, 0))
        assert np.all(np.where(epsilon > 0, exact, 0) <= bound * (1 + 1e-9))


@pytest.mark.parametrize("sides", [1, 2])
def test_empirical_bernstein_holds_with_the_probability_that_it_says(sides, rng):
    cases = 0
    for m in (2, 5, 30, 200):
        k = np.arange(m + 1)
        variance = k * (m - k) / (m * (m - 1))
        p = np.concatenate([rng.uniform(size=150), 10 ** rng.uniform(-4, -1, 150)])[:, None]
        for delta in (0.5, 0.05, 1e-3):
            radius = empirical_bernstein_deviation(m, delta, variance, sides=sides)
            off = p - k / m > radius
            if sides == 2:
                off |= k / m - p > radius
            failure = (stats.binom.pmf(k, m, p) * off).sum(axis=1)
            assert np.all(failure <= delta * (1 + 1e-9))
            cases += off.size
    assert cases > N


def test_empirical_bernstein_is_its_formula(rng):
    # The enumeration above does not see a first term that is a little too small.
    m, delta, variance = rng.integers(2, 1000, N), rng.uniform(size=N), rng.uniform(size=N)
    for sides in (1, 2):
        L = np.log(2 * sides / delta)
        formula = np.sqrt(2 * variance * L / m) + 7 * 3.0 * L / (3 * (m - 1))
        radius = empirical_bernstein_deviation(m, delta, variance, width=3.0, sides=sides)
        np.testing.assert_allclose(radius, formula, **EXACT)


def test_union_bound_of_events_that_overlap(rng):
    events = rng.uniform(size=(2000, 6, 50)) < rng.uniform(0, 0.1, size=(2000, 1, 1))
    law = rng.dirichlet(np.ones(50), size=2000)
    single = np.einsum("rek,rk->re", events, law)
    together = (events.any(axis=1) * law).sum(axis=1)
    assert np.all(together <= union_bound(single.sum(axis=1)) + 1e-12)
    assert np.all(together <= union_bound(single.max(axis=1), 6) + 1e-12)
    np.testing.assert_allclose(union_bound(union_level(0.05, [1, 7, 100]), [1, 7, 100]), 0.05)
    assert union_bound(0.4, 3) == 1.0


# ---------------------------------------------------------------- exact binomial


def test_binomial_tail_is_the_sum_of_its_terms():
    for m, numerator in itertools.product(range(8), range(11)):
        p = Fraction(numerator, 10)
        terms = [math.comb(m, i) * p**i * (1 - p) ** (m - i) for i in range(m + 1)]
        sums = [float(sum(terms[: k + 1])) for k in range(m + 1)]
        np.testing.assert_allclose(
            binomial_tail(np.arange(m + 1), m, numerator / 10), sums, **EXACT
        )


def test_binomial_bounds_invert_the_tails(rng):
    m = rng.integers(1, 5000, N)
    k, delta = np.floor(rng.uniform(size=N) * m), 10 ** rng.uniform(-12, -0.01, N)
    upper = binomial_upper(k, m, delta)
    near = upper > 1 - 1e-3  # where the difference of 1 is lost to rounding
    assert near.mean() < 0.01
    np.testing.assert_allclose(binomial_tail(k, m, upper)[~near], delta[~near], rtol=1e-9)
    some = k > 0
    low = binomial_lower(k, m, delta)
    above = stats.binom.sf(k - 1, m, low)
    np.testing.assert_allclose(above[some], delta[some], rtol=1e-8)
    assert np.all(low[~some] == 0)


@pytest.mark.parametrize("m", [1, 2, 10, 50])
def test_exact_interval_covers_every_probability(m, rng):
    k, p = np.arange(m + 1), rng.uniform(size=(3000, 1))
    law = stats.binom.pmf(k, m, p)
    for delta in (0.3, 0.05, 1e-3):
        for missed in (p > binomial_upper(k, m, delta), p < binomial_lower(k, m, delta)):
            assert np.all((law * missed).sum(axis=1) <= delta * (1 + 1e-9))


def test_exact_bound_is_inside_of_chernoffs_which_is_inside_of_hoeffdings(rng):
    m = rng.integers(1, 5000, N)
    k, delta = np.floor(rng.uniform(size=N) * m), 10 ** rng.uniform(-9, -0.01, N)
    q, radius = k / m, hoeffding_deviation(m, delta)
    upper, lower = kl_upper(q, m, delta), kl_lower(q, m, delta)
    assert np.all(binomial_upper(k, m, delta) <= upper + 1e-12)
    assert np.all(upper <= np.minimum(q + radius, 1) + 1e-12)
    assert np.all(binomial_lower(k, m, delta) >= lower - 1e-12)
    assert np.all(lower >= np.maximum(q - radius, 0) - 1e-12)


def test_binomial_sample_size_is_the_smallest(rng):
    epsilon, delta = 10 ** rng.uniform(-5, -0.01, N), 10 ** rng.uniform(-12, -0.01, N)
    k = np.floor(10 ** rng.uniform(0, 3, N)) - 1
    m = binomial_sample_size(epsilon, delta, k)
    assert np.all(m > k)
    assert np.all(binomial_tail(k, m, epsilon) <= delta * (1 + 1e-7))
    before = binomial_tail(np.minimum(k, m - 1), m - 1, epsilon)
    assert np.all(before > delta * (1 - 1e-7))
    none = np.log(delta) / np.log1p(-epsilon)
    np.testing.assert_array_equal(binomial_sample_size(epsilon, delta), np.ceil(none * (1 - 1e-12)))


def test_numbers_and_arrays_have_the_same_inversions(rng):
    epsilon, delta = 10 ** rng.uniform(-9, -0.01, 300), 10 ** rng.uniform(-12, -0.01, 300)
    k, q = rng.integers(0, 100, 300), rng.uniform(size=300)
    sizes = [binomial_sample_size(*map(float, each)) for each in zip(epsilon, delta, k)]
    assert {type(size) for size in sizes} == {float}
    np.testing.assert_array_equal(binomial_sample_size(epsilon, delta, k), sizes)
    upper = [binary_kl_upper(float(each), float(e)) for each, e in zip(q, epsilon)]
    np.testing.assert_allclose(binary_kl_upper(q, epsilon), upper, **EXACT)


def test_binomial_edges():
    assert binomial_tail(0, 0, 0.3) == 1.0
    assert binomial_tail(4, 4, 1.0) == 1.0
    assert binomial_tail(3, 4, 1.0) == 0.0
    assert binomial_upper(0, 0, 0.1) == 1.0
    assert binomial_upper(3, 7, 0) == 1.0
    assert binomial_lower(3, 7, 0) == 0.0
    assert binomial_lower(7, 7, 1) == 1.0
    np.testing.assert_allclose(binomial_upper(0, 10, 0.05), 1 - 0.05**0.1, **EXACT)
    np.testing.assert_allclose(binomial_lower(10, 10, 0.05), 0.05**0.1, **EXACT)
    assert binomial_sample_size(0, 0.1) == binomial_sample_size(0.1, 0) == math.inf
    assert binomial_sample_size(0.1, 1, 3) == 0.0
    assert binomial_sample_size(1, 0.1, 3) == 4.0
    # A Poisson variable of mean 4.74386 is at most one with probability 0.05.
    np.testing.assert_allclose(binomial_sample_size(1e-12, 0.05, 1), 4.743864518e12, rtol=1e-9)
    edges = [(0, 0.1), (0.1, 0), (0.1, 1), (1, 0.1), (0.1, 0.1), (1e-12, 0.05)]
    epsilon, delta = np.transpose(edges)
    one_by_one = [binomial_sample_size(e, d, 3) for e, d in edges]
    np.testing.assert_array_equal(binomial_sample_size(epsilon, delta, 3), one_by_one)
    with pytest.raises(ValueError, match="n_errors must be <= n_samples"):
        binomial_upper(3, 2, 0.1)


# ---------------------------------------------------------------- relative entropy


def test_relative_entropy_is_its_formula_and_above_its_quadratic_bound(rng):
    q, p = rng.uniform(size=(2, N))
    formula = q * np.log(q / p) + (1 - q) * np.log((1 - q) / (1 - p))
    np.testing.assert_allclose(binary_kl(q, p), formula, rtol=1e-9, atol=1e-12)
    assert np.all(binary_kl(q, p) >= 2 * (q - p) ** 2 - 1e-15)
    assert binary_kl(0, 0) == binary_kl(1, 1) == 0.0
    assert binary_kl(0.5, 0) == binary_kl(0.5, 1) == math.inf


def test_inversions_of_relative_entropy_are_inverse(rng):
    q, c = rng.uniform(size=N), 10 ** rng.uniform(-9, 1, N)
    q[: N // 4] = 10 ** rng.uniform(-9, -1, N // 4)
    upper, lower = binary_kl_upper(q, c), binary_kl_lower(q, c)
    assert np.all((lower <= q) & (q <= upper))
    # Within rounding of p itself, which is worst near 1.
    for p in (upper, lower):
        inside = (1e-5 < p) & (p < 1 - 1e-5) & (np.abs(p - q) > 1e-5)
        assert inside.mean() > 0.4
        np.testing.assert_allclose(binary_kl(q, p)[inside], c[inside], rtol=1e-9)


def test_inversion_agrees_with_a_search_for_the_root(rng):
    for q, c in zip(rng.uniform(0, 0.8, 50), 10 ** rng.uniform(-6, 0.5, 50)):

        def excess(p, q=q, c=c):
            return binary_kl(q, p) - c

        root = optimize.brentq(excess, q, 1 - 1e-16, xtol=1e-15)
        np.testing.assert_allclose(binary_kl_upper(q, c), root, rtol=1e-9)
        np.testing.assert_allclose(binary_kl_upper([q], c), [root], rtol=1e-9)


def test_edges_of_the_inversion():
    assert binary_kl_upper(0.3, 0) == binary_kl_lower(0.3, 0) == 0.3
    assert binary_kl_upper(0.3, math.inf) == 1.0
    assert binary_kl_lower(0.3, math.inf) == 0.0
    assert binary_kl_upper(1, 0.2) == 1.0
    np.testing.assert_allclose(binary_kl_upper(0, 0.2), 1 - np.exp(-0.2), **EXACT)
    table = binary_kl_upper([0, 1, 0.3], [[0], [np.inf]])
    np.testing.assert_array_equal(table, [[0, 1, 0.3], [1, 1, 1]])
    assert kl_upper(0.1, 0, 0.05) == 1.0
    assert kl_lower(0.1, 0, 0.05) == 0.0
    assert kl_upper(0.1, 10, 1) == 0.1
    assert kl_tail(0, 0.1, 0.9) == 1.0
    assert kl_sample_size(0, 0.1, 0.2) == math.inf


def test_chernoff_sample_size_is_the_smallest(rng):
    epsilon, delta = rng.uniform(0.001, 0.5, N), 10 ** rng.uniform(-12, -0.01, N)
    rate = rng.uniform(0, 0.99, N) * (1 - epsilon)
    m = kl_sample_size(epsilon, delta, rate)
    assert np.all(kl_tail(m, rate, rate + epsilon) <= delta * (1 + 1e-9))
    assert np.all(kl_tail(np.maximum(m - 1, 0), rate, rate + epsilon) > delta * (1 - 1e-9))
    assert np.all(m <= hoeffding_sample_size(epsilon, delta))


# ---------------------------------------------------------------- numbers of the notes


def test_validation_bounds_of_the_notes():
    np.testing.assert_allclose(
        hoeffding_deviation([100, 1000], 0.05), [0.12239, 0.03870], atol=5e-6
    )
    two = hoeffding_deviation([100, 1000, 10000], 0.05, sides=2)
    np.testing.assert_allclose(two, [0.13581, 0.042947, 0.013581], atol=5e-6)
    ten = hoeffding_deviation([100, 1000, 10000], union_level(0.05, 10), sides=2)
    np.testing.assert_allclose(ten, [0.17308, 0.054733, 0.017308], atol=5e-6)
