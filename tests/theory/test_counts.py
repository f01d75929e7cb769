"""Formulas, switches, clusters and networks: statements that are checked by counting."""

import itertools

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from sklearn.cluster import KMeans, kmeans_plusplus

from sklearn_sl.datasets import make_dnf
from sklearn_sl.kernels import Anova, LiteralFeatures, SubsetFeatures
from sklearn_sl.online import KernelPerceptron, Winnow
from sklearn_sl.theory import (
    dnf_perceptron_bound,
    gradient_gain,
    kernel_ogd_bound,
    kmeans_plus_plus_bound,
    network_symmetries,
    switching_kernel_bound,
    two_regret_beta,
    two_regret_bound,
    weighted_majority_bound,
    winnow_bound,
    winnow_dnf_bound,
)

N = 100_000

# ---------------------------------------------------------------- formulas


def test_winnow_on_all_monomials_is_within_its_bound(rng):
    for seed in range(6):
        X, y, _ = make_dnf(400, 6, n_terms=2, term_size=2, random_state=seed)
        monomials = SubsetFeatures(order=None).fit_transform(X)
        assert monomials.shape[1] == 2**6
        model = Winnow(threshold=2.0**6).partial_fit(monomials, y, classes=[0, 1])
        bound = winnow_dnf_bound(n_terms=2, n_variables=6)
        assert model.n_mistakes_ <= bound == winnow_bound(2, 2**6).mistakes
        assert bound < dnf_perceptron_bound(2, 6)
    np.testing.assert_array_equal(winnow_dnf_bound([1, 3], 5000), [15005.0, 45011.0])


CAT = ["IsHousePet", "Purrs", "HasTail", "Furry", "TaperedEars", "RoundEyes"]
CAT += ["NamedSylvester", "ChasesTweetyBird"]


def is_cat(animal):
    a = dict(zip(CAT, animal, strict=True))
    return (
        (a["IsHousePet"] and a["Purrs"] and a["HasTail"])
        or (not a["HasTail"] and a["Furry"] and a["TaperedEars"] and a["RoundEyes"])
        or (a["NamedSylvester"] and a["ChasesTweetyBird"])
    )


def printed_formula(x):
    return (x[0] and x[3] and x[6]) or (x[0] and not x[1]) or (x[1] and x[4])


@pytest.mark.parametrize(("formula", "n"), [(is_cat, 8), (printed_formula, 7)], ids=["cat", "x"])
def test_formulas_of_three_terms_are_learned_within_both_bounds(formula, n, rng):
    """The cat, and ``x1 x4 x7 v x1 not-x2 v x2 x5``, on all assignments in a random order."""
    X = np.array(list(itertools.product([0.0, 1.0], repeat=n)))
    y = np.array([int(bool(formula(x.astype(bool)))) for x in X])
    order = rng.permutation(len(X))
    X, y = X[order], y[order]
    literals = LiteralFeatures().fit_transform(X)
    learner = KernelPerceptron(kernel=Anova()).partial_fit(literals, y, classes=[0, 1])
    assert learner.n_mistakes_ <= dnf_perceptron_bound(3, n)
    # For Winnow, the conjunctions of up to four literals.
    conjunctions = SubsetFeatures(order=4).fit_transform(literals)
    winnow = Winnow().partial_fit(conjunctions, y, classes=[0, 1])
    assert winnow.n_mistakes_ <= winnow_bound(3, conjunctions.shape[1]).mistakes
    assert winnow.n_mistakes_ <= winnow_dnf_bound(3, 2 * n)
    again = Winnow(max_iter=100).fit(conjunctions, y)
    assert again.score(conjunctions, y) == 1
    assert again.n_mistakes_ <= winnow_bound(3, conjunctions.shape[1]).mistakes


# ---------------------------------------------------------------- experts and switches


def test_two_regret_bound_is_no_less_than_that_of_the_factor(rng):
    n, most = rng.integers(2, 10**6, size=N), rng.integers(1, 10**6, size=N)
    beta = two_regret_beta(n, most)
    assert np.all((beta >= 0.5) & (beta < 1))
    for mistakes in (most, most // 2, np.zeros_like(most)):
        regret = weighted_majority_bound(mistakes, n, beta) - 2 * mistakes
        assert np.all(regret <= two_regret_bound(n, most) * (1 + 1e-12))
    assert np.all(two_regret_bound(n, 4 * most) <= 2 * two_regret_bound(n, most) * (1 + 1e-12))
    assert type(two_regret_bound(10**400, 5)) is type(two_regret_beta(3, 0)) is float


def sequences(n_trials, n_modes, n_switches):
    """Return all sequences of colours with so many switches, up to the names of the colours."""
    found = set()
    for colours in itertools.product(range(n_modes), repeat=n_trials):
        if np.count_nonzero(np.diff(colours)) == n_switches:
            names = {}
            found.add(tuple(names.setdefault(c, len(names)) for c in colours))
    return found


def test_switching_bound_counts_all_sequences_of_colours():
    """With no functions to learn, what is left is Hedge on all colourings."""
    for T, m, k in [(5, 2, 1), (6, 3, 2), (6, 2, 4), (5, 3, 0)]:
        number = len(sequences(T, m, k))
        bound = switching_kernel_bound(np.zeros(m), 1.0, T, k)
        assert np.sqrt(2 * T * np.log(number)) <= bound + 1e-12
        assert bound <= np.sqrt(2 * T * (np.log(number) + (k + 1) * np.log(m))) + 1e-9


def test_switching_bound_is_at_least_the_sum_of_its_instances(rng):
    """Cauchy's inequality: whatever share of the trials each function has."""
    for m in (1, 2, 4):
        squares = rng.exponential(size=m) * 10
        shares = np.floor(rng.dirichlet(np.ones(m), size=N // 4) * 1000)
        each = kernel_ogd_bound(np.sqrt(squares), 2.0, shares).sum(axis=1)
        bound = switching_kernel_bound(squares, 2.0, 1000, 0)
        assert np.all(each <= bound + 1e-9)
        assert each.max() > 0.95 * bound
        # The form of the notes, with a constant.
        for k in (1, 5, 50):
            log_terms = k * np.log(m) + k * np.log(1000 / k) + k
            wanted = np.sqrt((squares.sum() * 4 / 2 + 4 * log_terms) * 1000)
            assert switching_kernel_bound(squares, 2.0, 1000, k) <= wanted


# ---------------------------------------------------------------- clusters


def cost(X, centres):
    return np.min(np.sum((X[:, None] - centres) ** 2, axis=2), axis=1).sum()


def expected_cost(X, chosen, chance, k):
    """Return the expected cost of the seeding by going through all its draws."""
    if len(chosen) == k:
        return chance * cost(X, X[chosen])
    far = np.min(np.sum((X[:, None] - X[chosen]) ** 2, axis=2), axis=1)
    return sum(
        expected_cost(X, [*chosen, i], chance * far[i] / far.sum(), k) for i in np.flatnonzero(far)
    )


def best_cost(X, k):
    """Return the least cost over all partitions."""
    costs = []
    for labels in itertools.product(range(k), repeat=len(X)):
        groups = [X[np.array(labels) == j] for j in range(k)]
        costs.append(sum(np.sum((g - g.mean(axis=0)) ** 2) for g in groups if len(g)))
    return min(costs)


def test_seeding_of_k_means_is_within_its_factor_of_the_best(rng):
    """The expectation is exact, by enumeration of all draws; the best, of all partitions."""
    for k, scale in [(1, 1.0), (2, 10.0), (3, 30.0), (3, 1.0)]:
        X = rng.normal(size=(6, 2)) + scale * rng.integers(2, size=(6, 1))
        mean = np.mean([expected_cost(X, [i], 1.0, k) for i in range(6)])
        best = best_cost(X, k)
        assert best <= mean <= kmeans_plus_plus_bound(k) * best
    # One centre at a random sample costs twice the least, exactly.
    mean = np.mean([expected_cost(X, [i], 1.0, 1) for i in range(6)])
    np.testing.assert_allclose(mean, 2 * best_cost(X, 1), **EXACT)
    seeds = kmeans_plusplus(X, 3, n_local_trials=1, random_state=0)[0]
    assert cost(X, seeds) >= best_cost(X, 3)


def test_the_mean_is_the_best_centre_and_lloyd_never_goes_up(rng):
    X = rng.normal(size=(60, 2))
    start = X[:4]
    costs = [cost(X, start)]
    centres = start
    for n_iter in range(1, 12):
        model = KMeans(4, init=start, n_init=1, max_iter=n_iter, algorithm="lloyd", tol=0)
        with np.errstate(all="ignore"):
            costs.append(cost(X, model.fit(X).cluster_centers_))
        labels = np.argmin(np.sum((X[:, None] - centres) ** 2, axis=2), axis=1)
        centres = np.array([X[labels == j].mean(axis=0) for j in range(4)])
        np.testing.assert_allclose(costs[-1], cost(X, centres), **ALGEBRA)
    assert np.all(np.diff(costs) <= 1e-12) and costs[-1] < costs[0]
    others = rng.normal(size=(10_000, 2))
    about = np.sum((X[None] - others[:, None]) ** 2, axis=(1, 2))
    assert np.all(about >= np.sum((X - X.mean(axis=0)) ** 2))


# ---------------------------------------------------------------- networks


def test_symmetries_of_a_hidden_layer_are_counted_one_by_one(rng):
    """Signs and orders of three units of tanh give 48 different weights of one function."""
    W, v, X = rng.normal(size=(3, 2)), rng.normal(size=3), rng.normal(size=(20, 2))
    outputs, weights = [], set()
    for order in itertools.permutations(range(3)):
        for signs in itertools.product([-1, 1], repeat=3):
            V, u = np.array(signs)[:, None] * W[list(order)], signs * v[list(order)]
            outputs.append(np.tanh(X @ V.T) @ u)
            weights.add(tuple(np.concatenate([V.ravel(), u]).round(12)))
    assert len(weights) == network_symmetries(3) == 48
    np.testing.assert_allclose(outputs, np.broadcast_to(outputs[0], np.shape(outputs)), **EXACT)
    assert network_symmetries([3, 2]) == 48 * 8
    assert network_symmetries(10) == 2**10 * 3628800
    assert network_symmetries(1000) == np.inf


@pytest.mark.parametrize("activation", ["logistic", "tanh", "relu", "identity"])
def test_gradients_grow_no_more_than_norms_and_slopes_allow(activation, rng):
    """On 20,000 random networks of depth four; with logistic units they vanish."""
    slope = {
        "logistic": lambda a: np.exp(-a) / (1 + np.exp(-a)) ** 2,
        "tanh": lambda a: 1 - np.tanh(a) ** 2,
        "relu": lambda a: 1.0 * (a > 0),
        "identity": np.ones_like,
    }[activation]
    n_networks = 20_000
    delta = rng.normal(size=(n_networks, 2))
    start = np.linalg.norm(delta, axis=1)
    norms = []
    for _ in range(4):
        W = rng.normal(size=(n_networks, 2, 2))
        norms.append(np.linalg.norm(W, ord=2, axis=(1, 2)))
        inputs = 0.3 * rng.normal(size=(n_networks, 2))
        delta = slope(inputs) * np.einsum("bij,bj->bi", W, delta)
    gain = np.linalg.norm(delta, axis=1) / start
    largest = {"logistic": 0.25}.get(activation, 1.0)
    bound = np.prod(norms, axis=0) * largest**4
    assert np.all(gain <= bound * (1 + 1e-12))
    assert np.max(gain / bound) > 0.8
    for i in range(3):
        wanted = gradient_gain([n[i] for n in norms], activation)
        assert bound[i] == pytest.approx(wanted)
        assert gradient_gain([n[i] for n in norms], slope=largest) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: winnow_dnf_bound(0.5, 3), "n_terms must be an integer"),
        (lambda: switching_kernel_bound([1.0], 1.0, 5, 5), "n_switches must be < n_trials"),
        (lambda: switching_kernel_bound([], 1.0, 5, 1), "squared_norms must be a non-empty"),
        (lambda: two_regret_bound(0, 5), "n_experts must be"),
        (lambda: kmeans_plus_plus_bound(0), "n_clusters must be an integer >= 1"),
        (lambda: network_symmetries(0), "n_units must be an integer >= 1"),
        (lambda: gradient_gain([1.0], "sine"), "activation must be one of"),
    ],
)
def test_wrong_arguments_are_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
