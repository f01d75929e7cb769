"""No free lunch: what no learner is below, and that real ones are not."""

import itertools

import numpy as np
import pytest
from conftest import EXACT
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from sklearn_sl.theory import (
    no_free_lunch,
    no_free_lunch_domain,
    reverse_markov,
    rote_learner_error,
)

N_CASES = 100_000


@pytest.mark.parametrize(
    "estimator",
    [
        DecisionTreeClassifier(random_state=0),
        KNeighborsClassifier(1),
        LogisticRegression(),
        GaussianNB(),
        DummyClassifier(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_no_classifier_is_better_than_rote(estimator):
    found = no_free_lunch(estimator, 15, n_repeats=60, random_state=0)
    assert found.mean >= found.rote - 4 * found.standard_error
    assert found.mean >= 1 / 4 - 4 * found.standard_error and found.share >= 1 / 7
    assert found.mean == pytest.approx(np.mean(found.errors))
    assert found.share == np.mean(found.errors >= 1 / 8)


def test_trees_and_neighbours_are_learners_by_rote():
    # They remember each sample and know nothing of the others.
    for estimator in (DecisionTreeClassifier(random_state=0), KNeighborsClassifier(1)):
        found = no_free_lunch(estimator, 10, n_repeats=400, random_state=1)
        assert abs(found.mean - found.rote) < 4 * found.standard_error < 0.025


def test_error_by_rote_is_that_of_all_labellings_and_samples():
    for m, k in [(1, 1), (1, 2), (2, 3), (3, 4), (2, 5)]:
        errors = [
            sum(label for point, label in enumerate(labels) if point not in sample) / k
            for labels in itertools.product([0, 1], repeat=k)
            for sample in itertools.product(range(k), repeat=m)
        ]  # who guesses zero where nothing is known
        np.testing.assert_allclose(rote_learner_error(m, k), np.mean(errors), **EXACT)


def test_error_by_rote_is_at_least_a_quarter_on_twice_as_many_points():
    m = np.arange(1, N_CASES)
    error = rote_learner_error(m, 2 * m)
    assert np.all(error >= 1 / 4) and np.all(np.diff(error) > -1e-14)
    np.testing.assert_allclose(error[-1], np.exp(-0.5) / 2, rtol=1e-5)
    sizes = rote_learner_error(np.arange(50)[:, None], np.arange(1, 60))
    assert np.all(np.diff(sizes, axis=0) <= 0) and np.all(np.diff(sizes, axis=1) >= 0)


def test_any_learner_is_a_function_and_none_is_below_rote():
    # All learners on two points with one sample: a prediction for what is seen and what is not.
    for rule in itertools.product([0, 1], repeat=4):  # by the seen label and whether it is seen
        errors = [
            np.mean([rule[2 * labels[seen] + (point == seen)] != labels[point] for point in (0, 1)])
            for labels in itertools.product([0, 1], repeat=2)
            for seen in (0, 1)
        ]
        assert np.mean(errors) >= rote_learner_error(1, 2)


def test_reverse_markov_holds_for_random_laws_and_is_attained(rng):
    values = rng.uniform(size=(N_CASES, 4)) ** rng.uniform(0.1, 4, (N_CASES, 1))
    law = rng.dirichlet(np.ones(4) / 2, size=N_CASES)
    a = rng.uniform(0, 0.99, N_CASES)
    mean = np.minimum(np.sum(law * values, axis=1), 1)
    large = np.sum(law * (values >= a[:, None]), axis=1)
    assert np.all(large >= reverse_markov(mean, a) - 1e-12)
    # A variable that is just below a, or one: the bound is what is left.
    p = rng.uniform(size=N_CASES)
    np.testing.assert_allclose(reverse_markov(p + (1 - p) * a, a), p, atol=1e-12)
    assert reverse_markov(1 / 4, 1 / 8) == pytest.approx(1 / 7, rel=1e-15)
    assert reverse_markov(0.1, 0.5) == 0
    means, thresholds = np.linspace(0, 1, 50)[:, None], np.linspace(0, 0.99, 50)
    found = reverse_markov(means, thresholds)
    assert np.all(np.diff(found, axis=0) >= 0) and np.all(np.diff(found, axis=1) <= 0)


def test_domain_of_the_second_form_makes_a_coin_fail_often_enough(rng):
    for m, epsilon, delta in [(0, 0.2, 0.9), (10, 1 / 8, 1 / 7), (50, 0.4, 0.9), (20, 0.45, 0.99)]:
        k = no_free_lunch_domain(m, epsilon, delta)
        assert type(k) is int and stats.binom.sf(np.ceil(epsilon * k) - 1, k - m, 0.5) >= delta
        # The most that can be known: m different points.
        wrong = rng.binomial(k - m, 0.5, size=20_000) / k
        assert np.mean(wrong >= epsilon) >= delta - 0.015
    with pytest.raises(ValueError, match="epsilon must be < 1/2 and delta < 1"):
        no_free_lunch_domain(10, 0.5, 0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: no_free_lunch_domain([1, 2], 0.1, 0.5), r"n_samples must be .*; got \[1, 2\]"),
        (lambda: no_free_lunch_domain(1, [0.1], 0.5), r"epsilon must be a number in \(0, 1\]"),
        (lambda: no_free_lunch(None, 0), "n_samples must be an integer >= 1; got 0"),
        (lambda: no_free_lunch(None, 5, 0), "domain_size must be an integer >= 1; got 0"),
        (lambda: no_free_lunch(None, 5, n_repeats=1), "n_repeats must be an integer >= 2; got 1"),
        (lambda: reverse_markov(0.5, 1.0), "threshold must be < 1; got 1"),
    ],
)
def test_messages(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_seeds_and_sizes():
    first = no_free_lunch(GaussianNB(), 8, 30, n_repeats=5, random_state=3)
    again = no_free_lunch(GaussianNB(), 8, 30, n_repeats=5, random_state=3)
    np.testing.assert_array_equal(first.errors, again.errors)
    assert np.all(first.errors * 30 % 1 < 1e-9)
    # One sample: always one class, and no classifier is asked.
    alone = no_free_lunch(None, 1, 2, n_repeats=300, random_state=0)
    assert alone.mean == pytest.approx(0.25, abs=0.05)
