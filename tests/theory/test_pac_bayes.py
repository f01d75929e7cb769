"""Bounds for votes: their inversion, the lemma they rest on, and how often they fail."""

import itertools

import numpy as np
import pytest
from scipy.special import gammaln, rel_entr, xlogy
from sklearn.ensemble import RandomForestClassifier as TheirForest

from sklearn_sl.ensemble import BaggingClassifier
from sklearn_sl.theory import (
    c_bound,
    pac_bayes_bound,
    vote_bound,
)
from sklearn_sl.theory._relative_entropy import largest_coin
from sklearn_sl.tree import DecisionTreeClassifier

N = 100_000


# ---------------------------------------------------------------- the divergence


def divergence(q, p):
    return rel_entr(q, p) + rel_entr(1 - q, 1 - p)


def test_inverse_of_the_divergence_gives_it_back(rng):
    q = np.concatenate([rng.uniform(size=N), 10 ** rng.uniform(-12, 0, size=N)])
    c = 10 ** rng.uniform(-9, 1, size=2 * N)
    p = largest_coin(q, c)
    assert np.all(p >= q)
    inner = (p < 1 - 1e-6) & (q < 1 - 1e-6) & (q > 1e-9) & (c > 1e-6)
    assert inner.mean() > 0.4
    q, p, c = q[inner], p[inner], c[inner]
    np.testing.assert_allclose(divergence(q, p), c, rtol=1e-8)
    # To twelve digits: a little less is within, a little more is beyond.
    assert np.all(divergence(q, p - 1e-12) <= c * (1 + 1e-9))
    assert np.all(divergence(q, p + 1e-12) >= c * (1 - 1e-9))


def test_inverse_of_one_number_is_that_of_an_array(rng):
    q, c = rng.uniform(size=500), 10 ** rng.uniform(-14, 2, size=500)
    q[:3] = 0.0, 1.0, 0.5
    c[3] = 0.0
    alone = [largest_coin(float(a), float(b)) for a, b in zip(q, c, strict=True)]
    assert {type(p) for p in alone} == {float}
    np.testing.assert_allclose(alone, largest_coin(q, c), rtol=1e-14)
    assert alone[1] == 1 and alone[3] == q[3]
    assert alone[0] == pytest.approx(1 - np.exp(-c[0]))


def test_round_trip_from_the_probability(rng):
    q, p = np.sort(rng.uniform(0.001, 0.999, size=(2, N)), axis=0)
    # The divergence of near coins has few digits itself.
    apart = p - q > 1e-3
    np.testing.assert_allclose(largest_coin(q, divergence(q, p))[apart], p[apart], atol=1e-9)


# ---------------------------------------------------------------- the theorem


def test_moment_of_the_divergence_is_at_most_two_roots():
    """``E exp(m kl(K / m || p)) <= 2 sqrt(m)``, the lemma of Maurer; it does not depend on p."""
    for m in [*range(1, 60), 100, 1000]:
        k = np.arange(m + 1)
        log_choices = gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1)
        moment = np.exp(log_choices + xlogy(k, k / m) + xlogy(m - k, 1 - k / m)).sum()
        assert np.sqrt(m) <= moment <= 2 * np.sqrt(m)
        # The same by its definition, for one coin.
        if m <= 60:
            p = 0.3
            chance = np.exp(log_choices + k * np.log(p) + (m - k) * np.log1p(-p))
            np.testing.assert_allclose(chance @ np.exp(m * divergence(k / m, p)), moment)


def worst_weights(errors, sizes, prior, truth, grid):
    """Return the weights, of a family that looks at the errors, that break the bound most."""
    tilted = prior * np.exp(-grid[:, None, None] * errors)
    tilted /= tilted.sum(axis=-1, keepdims=True)
    gibbs, risk = (tilted * errors).sum(axis=-1), (tilted * truth).sum(axis=-1)
    divergence = np.maximum(0.0, rel_entr(tilted, prior).sum(axis=-1))
    return gibbs, risk, divergence


@pytest.mark.parametrize("own_samples", [False, True])
def test_bound_fails_no_more_often_than_it_may(own_samples, rng):
    """For weights chosen by the sample, 10^5 samples; members err together or on their own."""
    truth = np.array([0.1, 0.15, 0.2, 0.3, 0.4])
    prior, delta, n = np.full(5, 0.2), 0.2, 20
    if own_samples:
        sizes = np.array([20, 25, 30, 22, 40])
        errors = rng.binomial(sizes, truth, size=(N, 5)) / sizes
    else:
        # Comonotone: the same uniform number decides for all members.
        u = np.sort(rng.uniform(size=(N // 4, n)), axis=1)
        errors = np.stack([np.mean(u < p, axis=1) for p in truth], axis=1)
        sizes = np.full(5, n)
    grid = np.array([-50.0, -5.0, 0.0, 5.0, 50.0])
    gibbs, risk, divergence = worst_weights(errors, sizes, prior, truth, grid)
    bound = pac_bayes_bound(gibbs, n, divergence, delta)
    failed = (risk > bound).any(axis=0)
    assert failed.mean() <= delta
    assert failed.mean() > 1e-4
    # Weights and errors as the function for votes takes them.
    weights = prior * np.exp(5.0 * -errors[0])
    result = vote_bound(errors[0], sizes, weights, prior, delta)
    assert result.gibbs_bound == pytest.approx(bound[3, 0])
    assert result.bound == min(1.0, 2 * result.gibbs_bound)


def test_vote_errs_at_most_twice_as_often_as_its_members_and_the_c_bound_holds(rng):
    """On 10^5 random weights, with any dependence: few samples, the mistakes drawn at will."""
    n_members, n_samples = 5, 6
    wrong = rng.uniform(size=(N, n_members, n_samples)) < rng.uniform(size=(N, 1, 1))
    law = rng.dirichlet(np.ones(n_samples), size=N)
    weights = rng.dirichlet(np.ones(n_members), size=N)
    share = np.einsum("bi,bij->bj", weights, wrong)
    gibbs, vote = np.sum(law * share, axis=1), np.sum(law * (share >= 0.5), axis=1)
    assert np.all(vote <= 2 * gibbs + 1e-12)
    assert np.max(vote[gibbs > 0.1] / gibbs[gibbs > 0.1]) > 1.8
    disagreement = np.sum(law * 2 * share * (1 - share), axis=1)
    able = gibbs < 0.499
    bound = c_bound(gibbs[able], disagreement[able])
    assert np.all(vote[able] <= bound + 1e-9)
    margin = 1 - 2 * share
    mean, square = np.sum(law * margin, axis=1), np.sum(law * margin**2, axis=1)
    np.testing.assert_allclose(bound, 1 - (mean**2 / square)[able], atol=1e-9)
    # It is a better bound than twice the error where it is below one half, and sharp at times.
    assert np.min((bound - vote[able])[vote[able] > 0]) < 1e-3


def test_bound_solves_its_inequality(rng):
    """``m kl(e_S || e) = KL + ln(2 sqrt(m) / delta)``, wherever that is possible."""
    error, m = rng.uniform(0, 0.9, size=N), rng.integers(1, 10**6, size=N)
    kl, delta = rng.exponential(size=N) * 5, rng.uniform(1e-6, 1, size=N)
    bound = pac_bayes_bound(error, m, kl, delta)
    inner = bound < 1 - 1e-9
    wanted = kl + np.log(2 / delta) + 0.5 * np.log(m)
    np.testing.assert_allclose((m * divergence(error, bound))[inner], wanted[inner], rtol=1e-6)
    assert inner.mean() > 0.9


def test_more_samples_and_less_divergence_make_the_bound_smaller(rng):
    error, m = rng.uniform(0, 0.6, size=1000), rng.integers(5, 10**5, size=1000)
    kl, delta = rng.exponential(size=1000), rng.uniform(0.01, 0.9, size=1000)
    bound = pac_bayes_bound(error, m, kl, delta)
    assert np.all(pac_bayes_bound(error, 2 * m, kl, delta) < bound)
    assert np.all(pac_bayes_bound(error + 0.01, m, kl, delta) > bound)
    assert np.all(pac_bayes_bound(error, m, kl + 1, delta) > bound)
    assert np.all(pac_bayes_bound(error, m, kl, delta / 2) > bound)
    # McAllester's square root is looser.
    root = error + np.sqrt((kl + np.log(2 * np.sqrt(m) / delta)) / (2 * m))
    assert np.all(bound <= root + 1e-12)
    assert type(pac_bayes_bound(0.1, 100)) is float
    disagreement = np.linspace(0, 0.4, 9)
    assert np.all(np.diff(c_bound(0.3, disagreement)) < 0)


def test_weights_on_one_member_cost_the_logarithm_of_their_number():
    result = vote_bound([0.1, 0.2, 0.3, 0.4], 50, weights=[3.0, 0, 0, 0])
    assert result.divergence == pytest.approx(np.log(4))
    assert result.gibbs_error == 0.1
    with pytest.raises(ValueError, match="prior must be > 0 where weights are"):
        vote_bound([0.1, 0.2], 50, prior=[0.0, 1.0])


@pytest.mark.parametrize("ours", [True, False])
def test_forest_errs_no_more_than_the_bound_of_its_trees_out_of_the_bag(ours, rng):
    X = rng.normal(size=(2400, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=2400) > 0, "yes", "no")
    seen, new = slice(0, 400), slice(400, None)
    base = DecisionTreeClassifier(max_depth=6)
    forest = (
        BaggingClassifier(base, 20, random_state=0) if ours else TheirForest(20, random_state=0)
    )
    forest.fit(X[seen], y[seen])
    errors, sizes = [], []
    for tree, bag in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(400), bag)
        predicted = forest.classes_[np.asarray(tree.predict(X[out])).astype(int)]
        errors.append(np.mean(predicted != y[out]))
        sizes.append(len(out))
    result = vote_bound(errors, sizes)
    assert np.mean(forest.predict(X[new]) != y[new]) <= result.bound < 1
    assert result.divergence == 0
    assert result.gibbs_error == pytest.approx(np.mean(errors))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pac_bayes_bound(1.5, 10), "gibbs_error must be in"),
        (lambda: pac_bayes_bound(0.5, 10, -1.0), "divergence must be"),
        (lambda: pac_bayes_bound(0.1, 0), "n_samples must be an integer >= 1"),
        (lambda: pac_bayes_bound(0.1, 10, delta=0.0), "delta must be > 0"),
        (lambda: vote_bound([0.1, 0.2], [10]), "n_validation must be a number or"),
        (lambda: vote_bound([0.1, 0.2], 10, weights=[0.0, 0.0]), "weights must be 2 numbers"),
        (lambda: c_bound(0.5, 0.1), "gibbs_error must be < 0.5"),
        (lambda: c_bound(0.1, 0.3), "disagreement must be <="),
    ],
)
def test_wrong_arguments_are_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_edges():
    assert pac_bayes_bound(1.0, 10) == 1.0
    assert 0 < pac_bayes_bound(0.0, 10**9, delta=1.0) < 2e-8
    assert pac_bayes_bound(0.2, 1, divergence=1e6) == 1.0
    for q, c in itertools.product([0.0, 1e-300, 0.5, 1 - 1e-16, 1.0], [0.0, 1e-300, 1e-16, 1e300]):
        assert q <= largest_coin(q, c) <= 1
