"""Bounds by VC dimension: their formulas, their inverses, and that they are true."""

import itertools
import math
import time

import numpy as np
import pytest
from conftest import EXACT
from scipy import optimize, stats

from sklearn_sl.theory import (
    can_shatter,
    double_sample_bound,
    sauer_shelah,
    structural_risk_penalty,
    stump_vc_dimension,
    two_sample_trick,
    vc_accuracy,
    vc_confidence,
    vc_dimension,
    vc_dimension_of,
    vc_generalization_bound,
    vc_sample_size,
)

N_CASES = 100_000
SETTINGS = [
    {"setting": setting, "side": side}
    for setting, side in itertools.product(["realizable", "agnostic"], ["upper", "lower"])
]
every_setting = pytest.mark.parametrize("options", SETTINGS, ids=lambda o: "-".join(o.values()))

# ---------------------------------------------------------------- Sauer and Shelah


def test_sum_of_sauer_and_shelah_is_that_of_binomials():
    sizes, dimensions = [0, 1, 2, 5, 30, 200, 1000, 3000, 10**5], [0, 1, 3, 17, 100, 499, 501, 1500]
    for m, d in itertools.product(sizes, dimensions):
        count = sum(math.comb(m, i) for i in range(min(m, d) + 1))
        expected = math.log(count)
        for found in (sauer_shelah(m, d, log=True), sauer_shelah([m], d, log=True)[0]):
            assert abs(found - expected) <= 1e-12 * max(1, expected) * max(1, m / 1000)
        if count < 2**40:
            assert sauer_shelah(m, d) == count


def test_ratio_to_all_labellings_in_dimension_twenty():
    m = np.array([10, 20, 30, 40, 60])
    shares = sauer_shelah(m, 20) / 2.0**m
    np.testing.assert_allclose(shares, [1, 1, 0.979, 0.563, 0.00674], rtol=1e-3)


def test_power_is_above_the_sum_and_the_sum_below_all_labellings(rng):
    m = np.floor(10 ** rng.uniform(0, 9, N_CASES))
    d = np.floor(np.minimum(m, 1e6) ** rng.uniform(0, 1, N_CASES))
    total, power = sauer_shelah(m, d, log=True), sauer_shelah(m, d, "power", log=True)
    # For d = 1 the power is e m, the sum is m + 1.
    assert np.all(total <= power * (1 + 1e-12)) and np.all(total <= m * math.log(2) * (1 + 1e-15))
    # Where the power is near, by a factor of the root of 2 pi d, a bug in either would show.
    assert np.min((power - total)[(m > d) & (d >= 1)]) < 1
    assert np.all(sauer_shelah(m, d + 1, log=True) >= total)
    assert np.all(sauer_shelah(m + 1, d, log=True) >= total * (1 - 1e-12))


def test_sauer_and_shelah_at_the_edges():
    assert sauer_shelah(0, 0) == sauer_shelah(100, 0) == sauer_shelah(0, 7) == 1
    assert sauer_shelah(0, 3, "power") == 1 and sauer_shelah(3, 3, "power") == pytest.approx(8)
    assert sauer_shelah(5000, 4000) == math.inf and sauer_shelah(5000, 4000, log=True) < 3466
    assert type(sauer_shelah(5, 2)) is float and sauer_shelah([[5], [6]], [1, 2]).shape == (2, 2)
    assert sauer_shelah(10**12, 3, log=True) == pytest.approx(math.log(10**36 / 6), rel=1e-11)


# ---------------------------------------------------------------- the fundamental theorem


def test_sample_sizes_are_the_formulas():
    d, epsilon, delta, C = 7, 0.02, 0.05, 3.0
    logs = math.log(1 / epsilon), math.log(1 / delta)
    expected = [
        C * (d * logs[0] + logs[1]) / epsilon,
        C * (d + logs[1]) / epsilon,
        C * (d + logs[1]) / epsilon**2,
        C * (d + logs[1]) / epsilon**2,
    ]
    found = [vc_sample_size(d, epsilon, delta, constant=C, **options) for options in SETTINGS]
    np.testing.assert_allclose(found, expected, **EXACT)


@every_setting
def test_sizes_accuracies_and_confidences_are_inverse(options, rng):
    d = rng.integers(0, 1000, N_CASES)
    epsilon, delta = 10 ** rng.uniform(-6, 0, (2, N_CASES))
    C = 10 ** rng.uniform(-2, 2, N_CASES)
    m = vc_sample_size(d, epsilon, delta, constant=C, **options)
    np.testing.assert_allclose(vc_accuracy(m, d, delta, constant=C, **options), epsilon, rtol=1e-9)
    exact = d < 100  # the exponent of delta is a difference
    found = vc_confidence(m, d, epsilon, constant=C, **options)
    np.testing.assert_allclose(found[exact], delta[exact], rtol=1e-9)
    np.testing.assert_allclose(found, delta, rtol=1e-7)


@every_setting
def test_sample_sizes_are_monotone(options):
    d, epsilon, delta = np.arange(50)[:, None, None], np.linspace(0.01, 1, 40)[:, None], 0.5**10
    delta = delta ** np.linspace(0, 1, 20)
    m = vc_sample_size(d, epsilon, delta, **options)
    assert m.shape == (50, 40, 20)
    assert np.all(np.diff(m, axis=0) >= 0)
    assert np.all(np.diff(m, axis=1) <= 0) and np.all(np.diff(m, axis=2) >= 0)
    accuracy = vc_accuracy(np.arange(1, 60)[:, None], np.arange(30), 0.1, **options)
    assert np.all(np.diff(accuracy, axis=0) < 0)
    # Where it exceeds one it says nothing.
    assert np.all((np.diff(accuracy, axis=1) > 0) | (accuracy[:, :-1] > 1))
    confidence = vc_confidence(np.arange(1, 3000)[:, None], np.arange(30), 0.1, **options)
    assert np.all(np.diff(confidence, axis=0) <= 0) and np.all(np.diff(confidence, axis=1) >= 0)


def test_fundamental_theorem_at_the_edges():
    assert vc_sample_size(0, 0.5, 1.0) == 0 and vc_sample_size(5, 1.0, 1.0) == 0
    assert vc_confidence(1, 10, 0.1) == 1 and vc_confidence(10**6, 10, 1.0) == 0
    assert vc_accuracy(100, 0, 0.1) == pytest.approx(math.log(10) / 100)


# ---------------------------------------------------------------- bounds with their constants


def test_generalisation_bounds_are_the_formulas():
    m, d, delta = 500, 4, 0.05
    patterns = sum(math.comb(2 * m, i) for i in range(d + 1))
    expected = 0.1 + math.sqrt(8 * (math.log(patterns) + math.log(4 / delta)) / m)
    found = vc_generalization_bound(m, d, delta, training_error=0.1)
    np.testing.assert_allclose(found, expected, **EXACT)
    found = vc_generalization_bound(m, d, delta, training_error=0.1, constant=2.0)
    expected = 0.1 + 2 * math.sqrt((d + math.log(20)) / 1000)
    np.testing.assert_allclose(found, expected, **EXACT)


def test_generalisation_bound_is_where_the_probability_of_the_proof_is_delta(rng):
    m = np.floor(10 ** rng.uniform(0, 7, N_CASES))
    d, delta = rng.integers(0, 200, N_CASES), rng.uniform(1e-6, 1, N_CASES)
    epsilon = vc_generalization_bound(m, d, delta)
    log_probability = np.log(4) + sauer_shelah(2 * m, d, log=True) - m * epsilon**2 / 8
    np.testing.assert_allclose(log_probability, np.log(delta), atol=1e-8)


def test_generalisation_bound_holds_for_all_thresholds_at_once(rng):
    # Labels by a coin of 0.7 for the true threshold: L_D - L_S is greatest at some sample.
    n_repeats, m = N_CASES, 30
    x = np.sort(rng.uniform(size=(n_repeats, m)), axis=1)
    flips = np.where(rng.uniform(size=x.shape) < 0.3, -1, 1) * np.where(x >= 0.5, 1, -1)
    # errors of the threshold just after the first k samples: + among them, - among the others
    wrong = np.cumsum(flips > 0, axis=1) + np.cumsum((flips < 0)[:, ::-1], axis=1)[:, ::-1]
    true = 0.3 + 0.4 * np.abs(x - 0.5)
    excess = np.max(true - wrong / m, axis=1)
    for delta in (0.5, 0.05):
        assert np.mean(excess > vc_generalization_bound(m, 1, delta)) <= delta
    # The square root of m is right: four times the samples halve what is exceeded.
    assert 0.02 < np.mean(excess) < vc_generalization_bound(m, 1, 1.0)


def test_double_sample_bound_is_the_formula_where_it_says_something():
    m, d, epsilon = 2000, 3, 0.1
    patterns = sum(math.comb(2 * m, i) for i in range(d + 1))
    expected = 2 * patterns * math.exp(-epsilon * m / 4)
    np.testing.assert_allclose(double_sample_bound(m, d, epsilon), expected, rtol=1e-10)
    assert double_sample_bound(1, 0, 1.0) == double_sample_bound(79, 0, 0.1) == 1
    assert double_sample_bound(80, 0, 0.1) == pytest.approx(2 * math.exp(-2))
    sizes = double_sample_bound(np.arange(1, 20_000)[:, None], [1, 5, 20], 0.1)
    assert np.all(np.diff(sizes, axis=0) <= 1e-15) and np.all(np.diff(sizes, axis=1) >= 0)


def test_double_sample_bound_holds_for_thresholds(rng):
    # Exactly: no sample in one of the two stretches of probability p beside the true threshold.
    p = rng.uniform(0.01, 0.5, N_CASES)
    m = np.ceil(10 ** rng.uniform(0, 4, N_CASES))
    missed = 2 * (1 - p) ** m - (1 - 2 * p) ** m
    bound = double_sample_bound(m, 1, p)
    assert np.all(missed <= bound)
    # With an exponent of 2 instead of 1/4 it would fail.
    assert np.any(missed > 2 * (2 * m + 1) * np.exp(-2 * p * m))


def test_two_sample_trick_in_simulation():
    places = np.arange(60)
    signs = np.where(places >= np.arange(61)[:, None], 1, -1)
    law = np.full(60, 1 / 60)
    shares = two_sample_trick(
        signs, 30, law, 80, 0.1, n_repeats=N_CASES, random_state=np.random.RandomState(0)
    )
    # Exact: no sample in the six points and more on the one side, or on the other.
    missing = [(1 - 7 / 60) ** 80 * 2 - (1 - 14 / 60) ** 80]
    np.testing.assert_allclose(shares.consistent, missing[0], atol=5e-4)
    assert 0 < shares.split <= shares.consistent <= 2 * shares.split
    # A hypothesis that errs on k / 60 >= 7 / 60 does so in the second sample as well, mostly.
    assert shares.split / shares.consistent > 0.9
    assert shares.bound == 1 or shares.consistent <= shares.bound
    long = two_sample_trick(signs, 30, law, 400, 0.1, n_repeats=1000, random_state=0)
    assert long.bound == pytest.approx(2 * 61 * math.exp(-10)) and long.consistent <= long.bound


def test_penalty_of_structural_risk_is_the_one_of_the_notes():
    np.testing.assert_allclose(structural_risk_penalty(1000, 10, 0.05), 0.2215, atol=5e-5)
    expected = 2 * math.sqrt(10 / 1000 * math.log(100) + math.log(20) / 1000)
    np.testing.assert_allclose(structural_risk_penalty(1000, 10, 0.05, constant=2), expected)
    m, d = np.arange(300, 2000)[:, None], np.arange(0, 100)
    penalty = structural_risk_penalty(m, d, 0.05)
    assert np.all(np.diff(penalty, axis=0) < 0) and np.all(np.diff(penalty, axis=1) > 0)


# ---------------------------------------------------------------- known dimensions


def test_known_dimensions():
    n = np.arange(1, 20)
    for family, expected in {
        "rectangles": 2 * n,
        "half-spaces": n + 1,
        "homogeneous half-spaces": n,
        "disks": n + 1,
        "stumps": stump_vc_dimension(n),
    }.items():
        np.testing.assert_array_equal(vc_dimension_of(family, n_features=n), expected)
        assert type(vc_dimension_of(family, n_features=3)) is int
    assert vc_dimension_of("thresholds") == 1 and vc_dimension_of("intervals") == 2
    assert vc_dimension_of("convex polygons") == math.inf


def test_finite_classes_have_at_most_their_binary_logarithm(rng):
    sizes = [1, 2, 3, 4, 7, 8, 2**60 - 1, 2**60, 2**100, 2**100 - 1]
    expected = [0, 1, 1, 2, 2, 3, 59, 60, 100, 99]
    np.testing.assert_array_equal(vc_dimension_of("finite", n_hypotheses=sizes), expected)
    for n_rows in (1, 5, 16, 31):
        signs = rng.random((n_rows, 12)) < 0.5
        assert vc_dimension(signs).dimension <= vc_dimension_of("finite", n_hypotheses=n_rows)
    # The gap may be as large as one likes: of thresholds there are many, and the dimension is 1.
    assert vc_dimension(np.tri(33, 32, -1)).dimension == 1


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 5])
def test_margin_bound_is_attained_by_orthogonal_points(dimension):
    # R e_1, ..., R e_d with weights sign_i / R: the norm is sqrt(d) / R.
    R = 0.7
    norm = math.sqrt(dimension) / R
    assert vc_dimension_of("margin half-spaces", norm=norm, radius=R) == dimension
    assert vc_dimension_of("margin half-spaces", norm=norm * (1 - 1e-9), radius=R) == dimension - 1


def test_margin_bound_holds_for_random_points(rng):
    # The least norm of weights with margin 1 for the worst labelling, by quadratic programs.
    for _ in range(20):
        points = rng.normal(size=(3, 4))
        worst = 0.0
        for signs in itertools.product([-1, 1], repeat=3):
            rows = np.array(signs)[:, None] * points
            found = optimize.minimize(
                lambda a, K=rows @ rows.T: a @ K @ a / 2 - a.sum(),
                np.ones(3),
                jac=lambda a, K=rows @ rows.T: K @ a - 1,
                bounds=[(0, None)] * 3,
            )
            worst = max(worst, math.sqrt(max(-2 * found.fun, 0)))
        radius = np.linalg.norm(points, axis=1).max()
        assert vc_dimension_of("margin half-spaces", norm=worst * (1 + 1e-4), radius=radius) >= 3


def test_networks_of_the_notes():
    for edges, nodes, natural, binary in [(10, 4, 66.8, 96.4), (21, 5, 135.7, 195.8)]:
        sizes = {"n_edges": edges, "n_nodes": nodes}
        found = vc_dimension_of("threshold network", base=math.e, **sizes)
        np.testing.assert_allclose(found, natural, atol=0.05)
        np.testing.assert_allclose(vc_dimension_of("threshold network", **sizes), binary, atol=0.05)
    assert vc_dimension_of("sigmoid network", n_edges=3, n_nodes=5, constant=2.0) == 2 * 225
    assert vc_dimension_of("sigmoid network, lower", n_edges=3) == 9
    # A single unit with a threshold is a half-space: two nodes are no fewer.
    assert vc_dimension_of("threshold network", n_edges=4, n_nodes=2) >= 4


def test_larger_classes_have_no_smaller_dimension():
    points = [[0.0, 0.1], [1.0, 0.0], [0.3, 1.0]]
    assert can_shatter(points, "half-spaces").shattered and can_shatter(points, "disks").shattered
    n = np.arange(1, 9)
    homogeneous = vc_dimension_of("homogeneous half-spaces", n_features=n)
    assert np.all(homogeneous <= vc_dimension_of("half-spaces", n_features=n))
    signs = np.random.default_rng(0).random((60, 9)) < 0.5
    found = [vc_dimension(signs[:k]).dimension for k in range(1, 61)]
    assert np.all(np.diff(found) >= 0)


# ---------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    "call",
    [
        lambda: sauer_shelah(100, 5),
        lambda: vc_sample_size(10, 0.1, 0.05),
        lambda: vc_accuracy(1000, 10, 0.05),
        lambda: vc_confidence(1000, 10, 0.1),
        lambda: vc_generalization_bound(1000, 10, 0.05),
        lambda: double_sample_bound(1000, 3, 0.1),
        lambda: structural_risk_penalty(1000, 10, 0.05),
        lambda: vc_dimension_of("threshold network", n_edges=10, n_nodes=4),
    ],
)
def test_single_numbers_are_fast_and_those_of_python(call):
    assert type(call()) is float
    times = []
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(50):
            call()
        times.append((time.perf_counter() - start) / 50)
    # 1 to 7 microseconds; the rest is for a machine that is busy
    assert min(times) < 100e-6


def test_arrays_broadcast_and_agree_with_single_numbers(rng):
    m, d = rng.integers(300, 9000, size=(5, 1)), rng.integers(0, 40, size=7)
    epsilon, delta = rng.uniform(0.05, 1, size=(2, 5, 1))
    for function, args in [
        (sauer_shelah, (m // 100, d)),
        (vc_sample_size, (d, epsilon, delta)),
        (vc_accuracy, (m, d, delta)),
        (vc_confidence, (m, d, epsilon)),
        (vc_generalization_bound, (m, d, delta)),
        (double_sample_bound, (m, d, epsilon)),
        (structural_risk_penalty, (m, d, delta)),
    ]:
        found = function(*args)
        columns = [column.ravel() for column in np.broadcast_arrays(*args)]
        single = [function(*(value.item() for value in row)) for row in zip(*columns, strict=True)]
        assert found.shape == (5, 7)
        np.testing.assert_allclose(found.ravel(), single, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sauer_shelah(-1, 2), "n_points must be an integer >= 0; got -1"),
        (lambda: sauer_shelah(1.5, 2), "n_points must be an integer >= 0; got 1.5"),
        (lambda: sauer_shelah(1, 2, "product"), 'form must be "sum" or "power"; got \'product\''),
        (lambda: vc_sample_size(3, 0.0, 0.1), "epsilon must be > 0; got 0.0"),
        (lambda: vc_sample_size(3, 0.1, 1.5), r"delta must be in \(0, 1\]; got 1.5"),
        (lambda: vc_sample_size(3, [0.1, 2], 0.5), r"epsilon must be in \(0, 1\]; got \[0.1, 2\]"),
        (lambda: vc_sample_size(3, 0.1, 0.1, setting="pac"), "setting must be"),
        (lambda: vc_accuracy(9, 3, 0.1, side="both"), "side must be"),
        (lambda: vc_confidence(9, 3, 0.1, constant=0), "constant must be > 0; got 0"),
        (lambda: structural_risk_penalty(5, 5, 0.1), "vc_dimension must be < n_samples=5; got 5"),
        (lambda: vc_dimension_of("trees"), "family must be one of 'thresholds', .*; got 'trees'"),
        (lambda: vc_dimension_of(["disks"]), r"family must be one of .*; got \['disks'\]"),
        (lambda: two_sample_trick([[1]], -1, [1.0], 99, 0.1), "target must be an integer >= 0"),
        (lambda: vc_dimension_of("disks"), 'family="disks" takes n_features; got no parameters'),
        (lambda: vc_dimension_of("intervals", n_features=1), "takes no parameters; got n_features"),
        (
            lambda: vc_dimension_of("threshold network", n_edges=3, n_nodes=3, base=1.0),
            "base must be > 1",
        ),
        (lambda: two_sample_trick([[1, -1]], 0, [0.5, 0.4], 100, 0.1), "must have the sum 1"),
        (lambda: two_sample_trick([[1, -1]], 0, [1.0], 100, 0.1), "one entry for each of 2 points"),
        (lambda: two_sample_trick([[1, -1]], 1, [0.5, 0.5], 100, 0.1), "target must be a row"),
        (lambda: two_sample_trick([[1, -1]], 0, [0.5, 0.5], 10, 0.1), "n_samples must be >= 8"),
    ],
)
def test_messages(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_reference_of_the_binomial_sum_is_that_of_scipy():
    m = np.arange(1, 60)
    np.testing.assert_allclose(sauer_shelah(m, 20) / 2.0**m, stats.binom.cdf(20, m, 0.5), rtol=1e-9)
