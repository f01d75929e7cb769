"""All bounds of one table: monotone in each argument, the same for numbers and arrays; edges."""

import math

import numpy as np
import pytest

from sklearn_sl import theory

N = 3000
SIZE = 3**10000  # of a class: no float64 is so large


def between(low, high):
    """Return a function that draws numbers by a log-uniform law."""
    return lambda rng: np.exp(rng.uniform(np.log(low), np.log(high), N))


def integers(low, high):
    """Return a function that draws whole numbers by a log-uniform law."""
    return lambda rng: np.round(np.exp(rng.uniform(np.log(low), np.log(high), N)))


m, d, size = integers(600, 1e6), integers(1, 50), integers(1, 1e9)
eps, delta, rate = between(1e-3, 0.9), between(1e-12, 0.9), between(1e-3, 0.9)
scale, errors = between(0.1, 10), integers(1, 300)
# For each function the arguments in their order, and whether the result rises or falls with each;
# 0 where it does neither.
TABLE = {
    "agnostic_excess": [(size, 1), (m, -1), (delta, -1)],
    "agnostic_failure": [(size, 1), (m, -1), (eps, -1)],
    "agnostic_sample_size": [(size, 1), (eps, -1), (delta, -1)],
    "bernstein_deviation": [(m, -1), (delta, -1), (rate, 1)],
    "bernstein_sample_size": [(eps, -1), (delta, -1), (rate, 1)],
    "bernstein_tail": [(m, -1), (eps, -1), (rate, 1)],
    "binary_kl_lower": [(rate, 1), (scale, -1)],
    "binary_kl_upper": [(rate, 1), (scale, 1)],
    "binomial_lower": [(errors, 1), (m, -1), (delta, 1)],
    "binomial_sample_size": [(eps, -1), (delta, -1), (errors, 1)],
    "binomial_tail": [(errors, 1), (m, -1), (rate, -1)],
    "binomial_upper": [(errors, 1), (m, -1), (delta, -1)],
    "compression_bound": [(m, -1), (d, 1), (errors, 1), (delta, -1)],
    "cover_hart_bound": [(between(1e-3, 0.5), 1), (integers(2, 50), 1)],
    "double_sample_bound": [(m, -1), (d, 1), (eps, -1)],
    "empirical_bernstein_deviation": [(m, -1), (delta, -1), (rate, 1)],
    "empirical_bernstein_sample_size": [(eps, -1), (delta, -1), (rate, 1)],
    "empirical_bernstein_tail": [(m, -1), (eps, -1), (rate, 1)],
    "gradient_descent_bound": [(m, -1), (scale, 1), (scale, 1)],
    "gradient_descent_rate": [(m, -1), (scale, -1), (scale, 1)],
    "gradient_descent_steps": [(eps, -1), (scale, 1), (scale, 1), (delta, -1)],
    "hoeffding_deviation": [(m, -1), (delta, -1)],
    "hoeffding_sample_size": [(eps, -1), (delta, -1)],
    "hoeffding_tail": [(m, -1), (eps, -1)],
    "interval_error": [(m, -1), (delta, -1), (d, 1)],
    "interval_failure": [(m, -1), (eps, -1), (d, 1)],
    "interval_sample_size": [(eps, -1), (delta, -1), (d, 1)],
    "kl_lower": [(rate, 1), (m, 1), (delta, 1)],
    "kl_sample_size": [(eps, -1), (delta, -1), (between(1e-3, 0.3), 0)],
    "kl_upper": [(rate, 1), (m, -1), (delta, -1)],
    "kmeans_plus_plus_bound": [(d, 1)],
    "linear_margin_deviation": [(m, -1), (delta, -1), (eps, -1)],
    "linear_margin_sample_size": [(eps, -1), (delta, -1), (eps, -1)],
    "markov_excess": [(eps, 1), (delta, -1)],
    "mcdiarmid_deviation": [(m, -1), (delta, -1)],
    "mcdiarmid_sample_size": [(eps, -1), (delta, -1)],
    "mcdiarmid_tail": [(m, -1), (eps, -1)],
    "miss_probability": [(m, -1), (eps, -1)],
    "miss_sample_size": [(eps, -1), (delta, -1)],
    "missed_mass": [(m, -1), (delta, -1)],
    "online_to_batch_sample_size": [(errors, 1), (eps, -1), (delta, -1)],
    "pac_bayes_bound": [(rate, 1), (m, -1), (scale, 1), (delta, -1)],
    "realizable_error": [(size, 1), (m, -1), (delta, -1)],
    "realizable_failure": [(size, 1), (m, -1), (eps, -1)],
    "realizable_sample_size": [(size, 1), (eps, -1), (delta, -1)],
    "reverse_markov": [(rate, 1), (rate, -1)],
    "rlm_excess_bound": [(scale, 1), (scale, 1), (m, -1)],
    "rlm_movement_bound": [(scale, 1), (scale, -1), (m, -1)],
    "rlm_penalty": [(scale, 1), (scale, -1), (m, -1)],
    "rlm_sample_size": [(eps, -1), (scale, 1), (scale, 1), (delta, -1)],
    "rlm_stability_bound": [(scale, 1), (scale, -1), (m, -1)],
    "rote_learner_error": [(m, -1), (size, 1)],
    "sauer_shelah": [(integers(1, 1000), 1), (d, 1)],
    "soft_svm_bound": [(scale, 1), (scale, 1), (m, -1)],
    "strongly_convex_descent_bound": [(m, -1), (scale, 1), (scale, -1)],
    "structural_risk_penalty": [(m, -1), (d, 1), (delta, -1)],
    "support_vector_bound": [(errors, 1), (m, -1)],
    "two_regret_bound": [(size, 1), (errors, 1)],
    "uniform_deviation": [(size, 1), (m, -1), (delta, -1)],
    "uniform_failure": [(size, 1), (m, -1), (eps, -1)],
    "uniform_sample_size": [(size, 1), (eps, -1), (delta, -1)],
    "union_bound": [(delta, 1), (d, 1)],
    "union_level": [(delta, 1), (d, -1)],
    "vc_accuracy": [(m, -1), (d, 1), (delta, -1)],
    "vc_confidence": [(m, -1), (d, 1), (eps, -1)],
    "vc_generalization_bound": [(m, -1), (d, 1), (delta, -1)],
    "vc_sample_size": [(d, 1), (eps, -1), (delta, -1)],
}


@pytest.mark.parametrize("name", TABLE)
def test_bounds_are_monotone_in_each_argument(name, rng):
    function = getattr(theory, name)
    draws, signs = zip(*TABLE[name])
    arguments = [draw(rng) for draw in draws]
    result = function(*arguments)
    assert result.shape == (N,) and not np.any(np.isnan(result))
    for i, (draw, sign) in enumerate(zip(draws, signs)):
        others = list(arguments)
        others[i] = draw(rng)
        up = np.where(others[i] >= arguments[i], sign, -sign)
        change = up * (function(*others) - result)
        assert np.all(change >= -1e-11 * np.abs(result) - 1e-15), f"argument {i}"
        assert np.any(change > 0) or sign == 0
    for row in range(5):
        single = function(*(argument[row].item() for argument in arguments))
        assert isinstance(single, float)
        np.testing.assert_allclose(single, result[row], rtol=1e-11)


@pytest.mark.parametrize(
    ("there", "back"),
    [
        (
            lambda a, b, e: theory.vc_sample_size(a, e, b),
            lambda a, b, y: theory.vc_accuracy(y, a, b),
        ),
        (
            lambda a, b, e: theory.vc_sample_size(a, b, e),
            lambda a, b, y: theory.vc_confidence(y, a, b),
        ),
        (lambda a, b, e: theory.markov_excess(b, e), lambda a, b, y: b / y),
        (
            lambda a, b, e: theory.binomial_tail(a, 60 + 10 * a, 0.3 + 0.6 * e),
            lambda a, b, y: (theory.binomial_upper(a, 60 + 10 * a, y) - 0.3) / 0.6,
        ),
    ],
)
def test_inverses_give_the_argument_back(there, back, rng):
    a, b, e = d(rng), between(1e-4, 0.5)(rng), between(1e-3, 0.8)(rng)
    np.testing.assert_allclose(back(a, b, there(a, b, e)), e, rtol=1e-9)


@pytest.mark.parametrize(
    ("size_of", "bound"),
    [
        (theory.rlm_sample_size, lambda n, a, b: theory.rlm_excess_bound(a, b, n)),
        (theory.gradient_descent_steps, lambda n, a, b: theory.gradient_descent_bound(n, a, b)),
    ],
)
def test_sizes_are_the_smallest_for_their_bounds(size_of, bound, rng):
    a, b, e = scale(rng), scale(rng), eps(rng)
    n = size_of(e, a, b)
    assert np.all(bound(n, a, b) <= e * (1 + 1e-9))
    more = n > 1
    assert np.all(bound(n[more] - 1, a[more], b[more]) >= e[more] * (1 - 1e-9))
    least = size_of(e, a, b, 0.1)
    assert np.all(theory.markov_excess(bound(least, a, b), 0.1) <= e * (1 + 1e-9))


def test_pac_bayes_bound_has_the_divergence_of_the_theorem(rng):
    q, n, c, level = between(1e-3, 0.3)(rng), m(rng), scale(rng), delta(rng)
    p = theory.pac_bayes_bound(q, n, c, level)
    right = (c + np.log(2 * np.sqrt(n) / level)) / n
    np.testing.assert_allclose(theory.binary_kl(q, p), right, rtol=1e-9)


EDGES = [
    # No samples, no errors, a probability of 0 or 1.
    (theory.compression_bound, (5, 5), 1.0),
    (theory.compression_bound, (10, 0, 0, 1.0), 1 - (1 / 11) ** (1 / 10)),
    (theory.compression_bound, (10, 3, 7), 1.0),
    (theory.pac_bayes_bound, (0.0, 1, 0.0, 1.0), 0.5),
    (theory.pac_bayes_bound, (1.0, 5), 1.0),
    (theory.pac_bayes_bound, (0.1, 100, 1e9), 1.0),
    (theory.c_bound, (0.0, 0.0), 0.0),
    (theory.sauer_shelah, (0, 0), 1.0),
    (theory.sauer_shelah, (0, 5), 1.0),
    (theory.sauer_shelah, (7, 0), 1.0),
    (theory.sauer_shelah, (5, 10**6), 32.0),
    (theory.vc_sample_size, (0, 1.0, 1.0), 0.0),
    (theory.vc_sample_size, (5, 1e-300, 0.1), 5 * math.log(1e300) * 1e300 + math.log(10) * 1e300),
    (theory.vc_accuracy, (100, 0, 1.0), 0.0),
    (theory.vc_confidence, (1e-300, 3, 0.5), 1.0),
    (theory.double_sample_bound, (1, 0, 1e-300), 1.0),
    (theory.structural_risk_penalty, (1, 0, 1.0), 0.0),
    (theory.rlm_excess_bound, (0.0, 1.0, 1), 0.0),
    (theory.rlm_sample_size, (0.1, 0.0, 1.0), 1.0),
    (theory.rlm_sample_size, (1e-300, 1.0, 1.0), math.inf),
    (theory.rlm_stability_bound, (1.0, 1.0, 10**300), 2e-300),
    (theory.markov_excess, (0.0, 1e-300), 0.0),
    (theory.support_vector_bound, (0, 1), 0.0),
    (theory.support_vector_bound, (7, 7), 1.0),
    (theory.gradient_descent_bound, (1, 0.0, 1.0), 0.0),
    # One hypothesis, and more than there are numbers.
    (theory.realizable_sample_size, (1, 0.1, 1.0), 0.0),
    (theory.realizable_failure, (1, 0, 0.1), 1.0),
    (theory.realizable_failure, (SIZE, 0, 0.1), 1.0),
    (theory.agnostic_excess, (SIZE, 0, 0.1), math.inf),
    (theory.two_regret_bound, (SIZE, 0), 8 * 10000 * math.log(3)),
    (theory.two_regret_bound, (1, 50), 0.0),
]


@pytest.mark.parametrize(("function", "arguments", "expected"), EDGES)
def test_edges(function, arguments, expected):
    found = function(*arguments)
    assert isinstance(found, float)
    assert found == pytest.approx(expected, rel=1e-9, abs=0)


def test_classes_of_any_size_have_a_dimension_and_a_bound():
    assert theory.vc_dimension_of("finite", n_hypotheses=SIZE) == 15849
    assert theory.vc_dimension_of("finite", n_hypotheses=1) == 0
    expected = (10000 * math.log(3) + math.log(20)) / 0.1
    assert theory.realizable_sample_size(SIZE, 0.1, 0.05) == math.ceil(expected)


@pytest.mark.parametrize("n_errors", [0, 1, 3, 40])
@pytest.mark.parametrize("n_samples", [1, 2, 4, 41, 1000])
@pytest.mark.parametrize("n_compared", [1, 10**6, 10**300, 10**3000])
def test_exact_bounds_are_right_for_levels_below_all_numbers(n_errors, n_samples, n_compared):
    """The logarithm of the tail, term by term, is the level: to the digits of the bound."""
    if n_errors >= n_samples:
        n_errors = n_samples - 1
    for delta in (0.05, 1e-300):
        level = math.log(delta) - math.log(n_compared)
        upper = theory.validation_bound(
            n_errors, n_samples, delta, n_compared=n_compared, sides=1
        ).upper
        if upper < 1 - 1e-6:
            log_p, log_q = math.log(upper), math.log1p(-upper)
            assert _log_tail(n_errors, n_samples, log_p, log_q) == pytest.approx(level, rel=1e-8)
        else:  # the last number below one, or its neighbours
            log_q = math.log(1e-6)
            tail = _log_tail(n_errors, n_samples, math.log1p(-1e-6), log_q)
            assert tail >= level
        lower = theory.validation_bound(
            n_samples - n_errors, n_samples, delta, n_compared=n_compared
        ).lower
        # Of the other samples: one minus the bound, with its own digits.
        if lower > 1e-300:
            log_p = math.log1p(-lower)
            tail = _log_tail(n_errors, n_samples, log_p, math.log(lower))
            assert tail == pytest.approx(level - math.log(2), rel=1e-8)


def _log_tail(k, m, log_p, log_q):
    """Return the logarithm of the probability of at most ``k`` errors."""
    terms = [math.log(math.comb(m, i)) + i * log_p + (m - i) * log_q for i in range(k + 1)]
    return float(np.logaddexp.reduce(terms))
