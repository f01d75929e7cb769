"""Compression bounds: exact tails, how often they fail, and what our learners keep."""

import itertools
from math import comb, log

import numpy as np
import pytest
from conftest import EXACT
from scipy.stats import binom

from sklearn_sl.online import Perceptron
from sklearn_sl.svm import SVC
from sklearn_sl.theory import compression_bound
from sklearn_sl.theory._binomial import _log_rest, upper_at

N = 100_000


def random_problems(rng, size=N):
    m = rng.integers(2, 400, size=size)
    k = rng.integers(0, m)
    errors = np.minimum(rng.geometric(0.3, size=size) - 1, m - k)
    return m, k, errors, rng.uniform(0.001, 1, size=size)


def test_bound_is_the_largest_error_that_the_tail_allows(rng):
    """``P(Binomial(n, p) <= e) = delta / (binomial(m, k) (m + 1))`` at the bound."""
    m, k, errors, delta = random_problems(rng, 20_000)
    p = compression_bound(m, k, errors, delta)
    full = errors == m - k
    assert np.all(p[full] == 1)
    some = ~full & (p < 1 - 1e-9)
    choices = np.array([comb(int(a), int(b)) * (int(a) + 1) for a, b in zip(m, k, strict=True)])
    log_tail = np.log(delta) - np.array([float(np.log(float(c))) for c in choices])
    log_cdf = binom.logcdf(errors, m - k, p)
    near = some & (log_tail > -650)
    np.testing.assert_allclose(log_cdf[near], log_tail[near], rtol=1e-6, atol=1e-8)


def test_bound_without_errors_has_a_closed_form(rng):
    m, k, _, delta = random_problems(rng)
    tail = delta / (m + 1)
    for any_size in (True, False):
        p = compression_bound(m, np.zeros_like(m), 0, delta, any_size=any_size)
        np.testing.assert_allclose(p, 1 - (tail if any_size else delta) ** (1 / m), **EXACT)
    # The statement of Littlestone and Warmuth is looser.
    choices = np.array([float(comb(int(a), int(b))) for a, b in zip(m, k, strict=True)])
    loose = np.log(choices * (m + 1) / delta) / (m - k)
    assert np.all(compression_bound(m, k, 0, delta) <= loose + 1e-12)


def test_chernoff_form_is_never_below_the_exact_one(rng):
    m, k, errors, delta = random_problems(rng)
    exact = compression_bound(m, k, errors, delta)
    closed = compression_bound(m, k, errors, delta, closed_form=True)
    assert np.all(closed >= exact - 1e-12)
    assert np.mean(closed - exact) < 0.1


def test_probabilities_below_all_numbers_are_computed_by_their_logarithms():
    """There the inverse of the incomplete beta function fails: the tail is that of the sum."""
    for m, k, errors in [(3000, 150, 20), (5000, 160, 300), (2000, 200, 1)]:
        for log_messages in (0.0, 300.0, 3000.0):
            p = compression_bound(m, k, errors, log_messages=log_messages)
            n = m - k
            wanted = np.log(0.05 / (m + 1)) - log_messages - log(comb(m, k))
            j = np.arange(errors + 1)
            log_choose = np.array([log(comb(n, int(i))) for i in j])
            tail = np.logaddexp.reduce(log_choose + j * np.log(p) + (n - j) * np.log1p(-p))
            if p < 1 - 1e-9:
                assert tail == pytest.approx(wanted, rel=1e-7)
    # No step where the one way ends and the other begins.
    messages = np.arange(50.0, 250.0)
    steps = np.diff(compression_bound(10**5, 40, 7, log_messages=messages))
    assert np.all(steps > 0) and np.ptp(steps) < 0.05 * steps[0]


def test_both_ways_to_invert_the_tail_agree(rng):
    n = np.floor(10 ** rng.uniform(0.5, 6, size=N // 50))
    errors = np.floor(n * 10 ** rng.uniform(-4, -0.02, size=len(n)))
    some = (errors > 0) & (errors < n)
    n, errors, log_delta = n[some], errors[some], -rng.uniform(20, 500, size=some.sum())
    far = -np.expm1(_log_rest(errors, n, log_delta))
    np.testing.assert_allclose(upper_at(errors, n, log_delta), far, rtol=1e-8)


@pytest.mark.parametrize("kept", ["set", "sequence"])
def test_bound_fails_no_more_often_than_it_may(kept, rng):
    """The learner picks the worst of all thresholds at samples: ``k = 1``, by cheating.

    The point of a threshold is one of the samples; the errors on the others are as drawn.
    """
    m, delta, noise = 12, 0.3, 0.25
    X = rng.uniform(size=(N // 4, m))
    y = (X > 0.3) ^ (rng.uniform(size=X.shape) < noise)
    failed = np.zeros(len(X), dtype=bool)
    for i in range(m):
        theta = X[:, [i]]
        wrong = (X > theta) != y
        wrong[:, i] = False
        risk = noise + (1 - 2 * noise) * np.abs(theta[:, 0] - 0.3)
        bound = compression_bound(m, 1, wrong.sum(axis=1), delta, kept=kept, any_size=False)
        failed |= risk > bound
    assert 1e-4 < failed.mean() <= delta


def test_support_vectors_alone_give_the_machine_and_all_errors_are_among_them(rng):
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1, -1)
    machine = SVC(kernel="linear", C=1.0, tol=1e-9).fit(X, y)
    again = SVC(kernel="linear", C=1.0, tol=1e-9).fit(X[machine.support_], y[machine.support_])
    new = rng.normal(size=(500, 2))
    np.testing.assert_allclose(
        machine.decision_function(new), again.decision_function(new), atol=1e-5
    )
    others = np.setdiff1d(np.arange(60), machine.support_)
    assert np.all(machine.predict(X[others]) == y[others])


def test_mistakes_alone_give_the_perceptron(rng):
    """In one pass the order is that of the samples; in several, samples are repeated."""
    X = rng.normal(size=(80, 3))
    y = np.where(X @ [1.0, -1.0, 0.5] > 0, 1, -1)
    weights, mistakes = np.zeros(3), []
    for _ in range(2):
        for i in range(80):
            if y[i] * (weights @ X[i]) <= 0:
                weights += y[i] * X[i]
                mistakes.append(i)
    again = np.zeros(3)
    for i in mistakes:
        assert y[i] * (again @ X[i]) <= 0
        again += y[i] * X[i]
    np.testing.assert_array_equal(again, weights)
    learner = Perceptron(max_iter=1, fit_intercept=False, shuffle=False, tol=None)
    learner.partial_fit(X, y, classes=[-1, 1])
    assert compression_bound(80, learner.n_mistakes_, 0) < 1
    assert compression_bound(80, len(mistakes), 0, kept="sequence") > compression_bound(
        80, len(mistakes), 0
    )


def test_condensed_neighbours_give_the_rule_of_all_samples(rng):
    """Hart's rule keeps what the nearest kept sample gets wrong, until nothing is."""
    X = rng.uniform(size=(100, 1))
    y = (X[:, 0] > 0.5).astype(int)
    kept = [0]
    while True:
        nearest = np.abs(X - X[kept].T).argmin(axis=1)
        wrong = np.flatnonzero(y[kept][nearest] != y)
        if not wrong.size:
            break
        kept.append(int(wrong[0]))
    assert len(kept) < 10
    new = rng.uniform(size=(20_000, 1))
    error = np.mean(y[kept][np.abs(new - X[kept].T).argmin(axis=1)] != (new[:, 0] > 0.5))
    assert error <= compression_bound(100, len(kept)) < 1


def test_bound_is_monotone_in_each_argument(rng):
    m, k, _, delta = random_problems(rng, 5000)
    less = np.minimum(k, (m - 1) // 4)
    bound = compression_bound(m, less, 0, delta)
    assert np.all(compression_bound(m + 50, less, 0, delta) < bound)
    assert np.all(compression_bound(m, less + 1, 0, delta) > bound)
    assert np.all(compression_bound(m, less, 1, delta) > bound)
    assert np.all(compression_bound(m, less, 0, delta / 2) > bound)
    assert np.all(compression_bound(m, less, 0, delta, log_messages=1.0) > bound)
    assert np.all(compression_bound(m, less, 0, delta, any_size=False) < bound)


def test_one_number_gives_that_of_an_array(rng):
    m, k, errors, delta = random_problems(rng, 300)
    for options in ({}, {"closed_form": True}, {"kept": "sequence"}):
        together = compression_bound(m, k, errors, delta, **options)
        alone = [
            compression_bound(int(a), int(b), int(c), float(d), **options)
            for a, b, c, d in zip(m, k, errors, delta, strict=True)
        ]
        assert {type(p) for p in alone} == {float}
        np.testing.assert_allclose(alone, together, rtol=1e-12)


def test_edges():
    assert compression_bound(10, 10) == compression_bound(1, 0, 1) == 1.0
    assert compression_bound(1, 0, delta=1.0, any_size=False) == 0.0
    assert compression_bound(5, 12, kept="sequence") == 1.0
    assert compression_bound(10, 10, closed_form=True) == 1.0
    assert 0 < compression_bound(10**12, 3) < 1e-9 * 200
    assert compression_bound(5, 0, 1, log_messages=450.0) == 1.0
    assert compression_bound([5, 5], 0, 1, log_messages=450.0).tolist() == [1.0, 1.0]
    for k, closed in itertools.product([0, 500_000], [False, True]):
        assert 0 < compression_bound(10**6, k, 0, 1e-300, closed_form=closed) <= 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compression_bound(10, 11), "n_kept must be <="),
        (lambda: compression_bound(10, 5, 6), "n_errors must be <="),
        (lambda: compression_bound(10, 5, kept="list"), "kept must be"),
        (lambda: compression_bound(0, 0), "n_samples must be an integer >= 1"),
        (lambda: compression_bound(10, 5, delta=0), "delta must be > 0"),
    ],
)
def test_wrong_arguments_are_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
