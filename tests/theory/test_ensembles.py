"""The theorems about votes, resampling and boosting: their formulas, and that they are true."""

import itertools
import math

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from sklearn_sl.theory import (
    adaboost_bound,
    bootstrap_absence,
    chernoff_lower_tail,
    crowd_bound,
    crowd_error,
    margin_bound,
    stump_vc_dimension,
    vote_margin_bound,
)

seeds = given(seed=st.integers(0, 2**16))

# ---------------------------------------------------------------- crowds


@pytest.mark.parametrize("T", [0, 1, 2, 5])
@pytest.mark.parametrize("gamma", [-0.5, -0.2, 0.0, 0.1, 0.5])
def test_error_of_a_crowd_is_the_sum_over_all_its_votes(T, gamma):
    right = 0.5 + gamma
    wrong = sum(
        math.prod(right if vote else 1 - right for vote in votes)
        for votes in itertools.product([0, 1], repeat=2 * T + 1)
        if sum(votes) <= T
    )
    np.testing.assert_allclose(crowd_error(2 * T + 1, gamma), wrong, **EXACT)


@pytest.mark.parametrize(
    ("T", "gamma", "error", "chernoff", "exponential"),
    [(10, 0.1, 0.17438, 0.76471, 0.92312), (50, 0.2, 1.294e-5, 0.04830, 0.20190)],
)
def test_crowds_of_the_notes(T, gamma, error, chernoff, exponential):
    np.testing.assert_allclose(crowd_error(2 * T + 1, gamma), error, rtol=2e-4)
    np.testing.assert_allclose(crowd_bound(2 * T + 1, gamma), [chernoff, exponential], rtol=2e-4)


def test_error_of_a_crowd_is_below_both_bounds():
    n_members = 2 * np.arange(60)[:, None] + 1
    gamma = np.linspace(0, 0.5, 101)
    error, bound = crowd_error(n_members, gamma), crowd_bound(n_members, gamma)
    assert error.shape == bound.chernoff.shape == bound.exponential.shape == (60, 101)
    assert np.all(error <= bound.chernoff)
    assert np.all(bound.chernoff <= bound.exponential)


def test_a_crowd_errs_less_the_larger_it_is_if_its_members_beat_a_coin():
    n_members = 2 * np.arange(200) + 1
    assert np.all(np.diff(crowd_error(n_members, 0.05)) < 0)
    assert np.all(np.diff(crowd_error(n_members, -0.05)) > 0)
    np.testing.assert_allclose(crowd_error(n_members, 0.0), 0.5, **EXACT)
    # Wrong with gamma is right with minus gamma.
    both = crowd_error(n_members, 0.05) + crowd_error(n_members, -0.05)
    np.testing.assert_allclose(both, 1, **ALGEBRA)


@given(means=st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_chernoff_bounds_the_lower_tail_of_any_independent_sum(means):
    # The distribution of a sum of unequal coins is the convolution of theirs.
    distribution = np.ones(1)
    for p in means:
        distribution = np.convolve(distribution, [1 - p, p])
    mu = sum(means)
    k = np.arange(math.floor(mu) + 1)
    assert np.all(np.cumsum(distribution)[k] <= chernoff_lower_tail(mu, k) + 1e-12)


def test_chernoff_bound_is_one_at_the_mean_and_least_at_zero():
    np.testing.assert_allclose(chernoff_lower_tail([0, 1, 7.5], [0, 1, 7.5]), 1, **EXACT)
    np.testing.assert_allclose(chernoff_lower_tail(8.0, 0), np.exp(-4), **EXACT)


# ---------------------------------------------------------------- bootstrap


def test_absence_from_a_resample_rises_to_one_over_e():
    found = bootstrap_absence([10, 100, 1000])
    np.testing.assert_allclose(found, [0.3487, 0.3660, 0.3677], atol=5e-5)
    assert np.all(np.diff(bootstrap_absence(np.arange(1, 500))) > 0)
    np.testing.assert_allclose(bootstrap_absence(10**15), np.exp(-1), **EXACT)


def test_absence_from_a_resample_is_the_power_of_missing_once():
    for m, M in itertools.product([1, 2, 5, 17], [0, 1, 3, 40]):
        np.testing.assert_allclose(bootstrap_absence(m, M), (1 - 1 / m) ** M, **EXACT)


def test_absence_is_the_share_out_of_the_bag_in_simulation(rng):
    m, M, repeats = 20, 30, 4_000
    resamples = rng.integers(m, size=(repeats, M))
    absent = [1 - len(set(resample)) / m for resample in resamples.tolist()]
    error = stats.sem(absent)
    assert abs(np.mean(absent) - bootstrap_absence(m, M)) < 4 * error < 0.01


# ---------------------------------------------------------------- boosting


def boost(rng, alphas=None, m=40, n_rounds=15):
    """Run AdaBoost with random members; return ``y``, ``f`` by rounds, the errors and weights."""
    y = rng.choice([-1, 1], size=m)
    D = np.full(m, 1 / m)
    f, path, errors = np.zeros(m), [], []
    for t in range(n_rounds):
        h = np.where(rng.random(m) < 0.7, y, -y)
        eps = D[h != y].sum()
        alpha = np.log((1 - eps) / eps) / 2 if alphas is None else alphas[t]
        f = f + alpha * h
        D = D * np.exp(-alpha * y * h)
        D /= D.sum()
        path.append(f)
        errors.append(eps)
    return y, np.array(path), np.array(errors), D


@seeds
@pytest.mark.parametrize("own_alphas", [False, True])
def test_product_of_normalisers_is_the_exponential_loss_and_bounds_the_error(own_alphas, seed):
    rng = np.random.default_rng(seed)
    alphas = rng.normal(0.3, 0.5, size=15) if own_alphas else None
    y, f, errors, D = boost(rng, alphas)
    bound = adaboost_bound(errors, alphas)
    np.testing.assert_allclose(bound.product, np.exp(-y * f).mean(axis=1), **ALGEBRA)
    assert np.all(np.mean(y * f <= 0, axis=1) <= bound.product + 1e-12)
    assert np.all(bound.product <= bound.exponential * (1 + 1e-12))
    # The weights of the last round, too.
    np.testing.assert_allclose(D, np.exp(-y * f[-1]) / len(y) / bound.product[-1], **ALGEBRA)


@given(eps=st.floats(1e-6, 1 - 1e-6))
def test_adaboost_has_the_coefficient_of_the_least_normaliser(eps):
    alpha = np.log((1 - eps) / eps) / 2
    least = adaboost_bound([eps]).normalisers[0]
    np.testing.assert_allclose(adaboost_bound([eps], [alpha]).normalisers[0], least, **ALGEBRA)
    np.testing.assert_allclose(least, np.sqrt(1 - 4 * (0.5 - eps) ** 2), **ALGEBRA)
    found = optimize.minimize_scalar(lambda a: adaboost_bound([eps], [a]).normalisers[0])
    np.testing.assert_allclose(found.fun, least, **ALGEBRA)
    assert found.fun >= least * (1 - 1e-12)


@given(eps=st.floats(0, 1), alpha=st.floats(-5, 5))
def test_exponential_bound_is_least_at_twice_the_edge(eps, alpha):
    gamma = 0.5 - eps
    plain = adaboost_bound([eps])
    any_alpha, best = (adaboost_bound([eps], [a]).exponential[0] for a in (alpha, 2 * gamma))
    np.testing.assert_allclose(best, plain.exponential[0], **EXACT)
    np.testing.assert_allclose(best, np.exp(-2 * gamma**2), **EXACT)
    assert any_alpha >= best * (1 - 1e-12)


def test_edges_of_at_least_gamma_drive_the_error_down_exponentially(rng):
    gamma, n_rounds = 0.05, np.arange(1, 101)
    bound = adaboost_bound(0.5 - gamma - 0.4 * rng.random(100))
    assert np.all(bound.exponential <= np.exp(-2 * gamma**2 * n_rounds))


def test_no_error_in_a_round_is_the_end():
    bound = adaboost_bound([0.3, 0.0, 0.3])
    assert bound.normalisers[1] == bound.product[1] == bound.product[2] == 0
    # With an infinite coefficient as well, or the other way round.
    assert adaboost_bound([0.0, 1.0], [np.inf, -np.inf]).normalisers.tolist() == [0, 0]


# ---------------------------------------------------------------- margins


def test_margin_bound_is_the_share_of_small_margins_and_a_term_for_the_class(rng):
    margins = rng.uniform(-0.2, 0.8, size=50).round(1)  # with ties
    theta = np.array([0.05, 0.1, 0.3, 0.8, 2.0])
    for t, bound in zip(theta, margin_bound(margins, theta, 3.0, constant=0.5), strict=True):
        np.testing.assert_allclose(
            bound, np.mean(margins <= t) + 0.5 * np.sqrt(3 / 50) / t, **EXACT
        )
        np.testing.assert_allclose(margin_bound(margins, t, 3.0, constant=0.5), bound, **EXACT)


def test_weights_of_margins_are_repetitions(rng):
    margins, weight = rng.uniform(-1, 1, size=30), rng.integers(0, 4, size=30)
    theta = [0.1, 0.5]
    np.testing.assert_allclose(
        margin_bound(margins, theta, 2.0, sample_weight=weight),
        margin_bound(np.repeat(margins, weight), theta, 2.0),
        **EXACT,
    )


def stump_labels(ranks):
    """Return the labellings by stumps of points whose ranks in each feature are the rows."""
    m = ranks.shape[1]
    below = {tuple(row < z) for row in ranks for z in range(m + 1)}
    return below | {tuple(not label for label in labels) for labels in below}


def most_labels(m, d):
    """Return in how many ways stumps can label ``m`` points in ``d`` dimensions at best."""
    # It depends on the orders of the points alone: try all of them, the first one being 1, ..., m.
    orders = [np.array(order) for order in itertools.permutations(range(m))]
    others = itertools.combinations_with_replacement(orders, d - 1)
    return max(len(stump_labels(np.array([orders[0], *rest]))) for rest in others)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_vc_dimension_of_stumps_is_the_most_points_that_can_have_all_labels(d):
    m = stump_vc_dimension(d)
    assert most_labels(m, d) == 2**m
    if d < 3:
        assert most_labels(m + 1, d) < 2 ** (m + 1)
    else:  # There are too many orders, but too few thresholds.
        assert 2 * m * d + 2 < 2 ** (m + 1)


def test_vc_dimension_of_stumps_is_at_most_two_logarithms_and_two():
    d = np.append(np.arange(1, 5000), 10 ** np.arange(4, 15))
    assert np.all(stump_vc_dimension(d) <= 2 * (np.log2(d) + 1))


# ---------------------------------------------------------------- domains


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: crowd_error(10, 0.1), "n_members must be odd"),
        (lambda: crowd_error(0, 0.1), "n_members must be an integer >= 1"),
        (lambda: crowd_error(2.5, 0.1), "n_members must be an integer"),
        (lambda: crowd_error(np.inf, 0.1), "n_members must be finite"),
        (lambda: crowd_error(11, 0.6), r"gamma must be in \[-0.5, 0.5\]"),
        (lambda: crowd_error(11, np.nan), "gamma must be in"),
        (lambda: crowd_error(11, "much"), "gamma must be a number"),
        (lambda: crowd_bound(11, -0.1), r"gamma must be in \[0, 0.5\]"),
        (lambda: crowd_bound(12, 0.1), "n_members must be odd"),
        (lambda: chernoff_lower_tail(-1, 0), r"k must be in \[0, mu"),
        (lambda: chernoff_lower_tail(2, 3), r"k must be in \[0, mu"),
        (lambda: chernoff_lower_tail(np.inf, 3), "mu must be finite"),
        (lambda: bootstrap_absence(0), "n_samples must be an integer >= 1"),
        (lambda: bootstrap_absence(3, -1), "n_draws must be an integer >= 0"),
        (lambda: adaboost_bound([0.2, 1.1]), r"errors must be in \[0, 1\]"),
        (lambda: adaboost_bound(0.2), "errors must be a non-empty 1-D array"),
        (lambda: adaboost_bound([]), "errors must be a non-empty 1-D array"),
        (lambda: adaboost_bound([0.2], [1.0, 2.0]), "one value for each of 1 errors; got 2"),
        (lambda: adaboost_bound([0.2], [np.nan]), "alphas must"),
        (lambda: margin_bound([0.5, 2.0], 0.1, 2), r"margins must be in \[-1, 1\]"),
        (lambda: margin_bound([0.5], 0.0, 2), "theta must be > 0"),
        (lambda: margin_bound([0.5], 0.1, 0), "vc_dimension must be > 0"),
        (lambda: margin_bound([0.5], 0.1, 2, constant=-1), "constant must be > 0"),
        (lambda: margin_bound([0.5], 0.1, 2, sample_weight=[-1.0]), "weight"),
        (lambda: margin_bound([0.5], 0.1, 2, sample_weight=[0.0]), "weight"),
        (lambda: stump_vc_dimension(0), "n_features must be an integer >= 1"),
    ],
)
def test_what_a_theorem_does_not_speak_of_is_an_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_proved_margin_bound_is_the_least_of_its_sums(rng):
    margins = rng.uniform(-0.1, 1.0, 5_000)
    sums = []
    for k in range(1, 31):
        theta = 2.0 ** (1 - k)
        term = 2 / theta * np.sqrt(2 * 9.0 / 5_000) + np.sqrt(np.log(k * (k + 1) / 0.1) / 10_000)
        sums.append(np.mean(margins <= theta) + term)
    assert vote_margin_bound(margins, 9.0, 0.1) == pytest.approx(min(sums), rel=1e-12)
    assert vote_margin_bound(margins, 9.0, 0.01) > vote_margin_bound(margins, 9.0, 0.1)
    assert vote_margin_bound(margins, 10.0, 0.1) > vote_margin_bound(margins, 9.0, 0.1)


def test_stumps_label_points_in_no_more_ways_than_the_margin_bound_allows(rng):
    # All stumps on m points in d features, by their labellings; points in general position.
    for m, d in ((1, 1), (4, 1), (6, 3), (9, 2)):
        X = rng.normal(size=(m, d))
        cuts = [X[:, j] <= z for j in range(d) for z in np.append(X[:, j], -np.inf)]
        labellings = {tuple(cut) for cut in cuts} | {tuple(~cut) for cut in cuts}
        assert len(labellings) <= 2 * (d * (m - 1) + 1)
        assert d > 1 or len(labellings) == 2 * m


def test_votes_of_stumps_fit_noise_no_better_than_the_complexity_term_says(rng):
    # The correlation with random signs, of the best vote, is that of the best stump.
    for m, d in ((20, 1), (50, 3), (200, 10)):
        X = rng.normal(size=(m, d))
        signs = rng.choice([-1.0, 1.0], size=(2_000, m))
        best = np.abs(signs.sum(axis=1))
        for column in X.T:
            sums = np.cumsum(signs[:, np.argsort(column)], axis=1)
            best = np.maximum(best, np.abs(2 * sums - sums[:, -1:]).max(axis=1))
        mean, spread = np.mean(best) / m, np.std(best) / m / np.sqrt(2_000)
        limit = np.sqrt(2 * np.log(2 * (d * (m - 1) + 1)) / m)
        assert mean + 3 * spread <= limit <= 2 * mean


@pytest.mark.parametrize("bad", [{"delta": 0.0}, {"delta": 2.0}, {"n_margins": 0}])
def test_proved_margin_bound_refuses_what_is_out_of_range(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        vote_margin_bound([0.1], 1.0, **bad)
