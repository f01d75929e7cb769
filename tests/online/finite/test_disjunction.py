"""Smallest disjunctions and set covers, and learners of disjunctions and conjunctions."""

import itertools
import signal
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from _clock import ANSWER_SECONDS, slowness
from conftest import EXACT
from reference import finite as reference
from scipy.optimize import Bounds, LinearConstraint, milp
from sklearn.exceptions import ConvergenceWarning

from sklearn_sl.kernels import LiteralFeatures
from sklearn_sl.online import (
    ConjunctionLearner,
    DisjunctionWeightedMajority,
    MinimalDisjunction,
    cnf_to_set_cover,
    minimal_disjunction,
    progressive_predict,
    set_cover,
    set_cover_to_disjunction,
)
from sklearn_sl.online.finite import _literals
from sklearn_sl.theory import (
    conjunction_bound,
    count_disjunctions,
    disjunction_majority_bound,
    greedy_set_cover_bound,
)

# The matrix of the lecture, as printed: samples are rows, and the attributes P1 to P6 columns.
TWELVE_BY_SIX = np.array(
    [
        [int(bit) for bit in row]
        for row in [
            *("101000", "100100", "100010", "101100", "110100", "110010"),
            *("001100", "010100", "010010", "001001", "000101", "000011"),
        ]
    ]
)


def random_cover_problem(rng, n_elements, n_sets, density):
    incidence = rng.uniform(size=(n_elements, n_sets)) < density
    incidence[np.arange(n_elements), rng.integers(n_sets, size=n_elements)] = True
    return incidence


def random_problems(rng, n_problems, most_elements=14, most_sets=9):
    for _ in range(n_problems):
        n_elements, n_sets = rng.integers(1, most_elements + 1), rng.integers(1, most_sets + 1)
        yield random_cover_problem(rng, n_elements, n_sets, rng.uniform(0, 0.6))


# ---------------------------------------------------------------- set cover


def test_smallest_cover_of_twelve_elements():
    """``P1 v P2 v P4 v P6`` covers them, and ``P3 v P4 v P5`` is the only minimum."""
    assert TWELVE_BY_SIX[:, [0, 1, 3, 5]].any(axis=1).all()
    assert reference.smallest_covers(TWELVE_BY_SIX) == [[2, 3, 4]]
    cover = set_cover(TWELVE_BY_SIX)
    assert cover.sets.tolist() == [2, 3, 4] and cover.optimal and cover.lower_bound == 3
    assert len(set_cover(TWELVE_BY_SIX, method="greedy").sets) == 4


def test_exact_cover_is_as_small_as_brute_force_finds(rng):
    for incidence in random_problems(rng, 500):
        cover = set_cover(incidence)
        assert incidence[:, cover.sets].any(axis=1).all()
        assert cover.sets.tolist() in reference.smallest_covers(incidence)
        assert cover.optimal and cover.lower_bound == len(cover.sets)


@pytest.mark.parametrize(
    ("n_elements", "n_sets", "density"), [(120, 60, 0.06), (80, 40, 0.15), (60, 60, 0.3)]
)
def test_exact_cover_is_as_small_as_that_of_an_integer_program(n_elements, n_sets, density, rng):
    incidence = random_cover_problem(rng, n_elements, n_sets, density)
    program = milp(
        np.ones(n_sets),
        constraints=LinearConstraint(incidence.astype(float), lb=1),
        integrality=np.ones(n_sets),
        bounds=Bounds(0, 1),
    )
    cover = set_cover(incidence)
    assert cover.optimal and cover.n_nodes > 1
    assert len(cover.sets) == round(program.fun)


def test_greedy_cover_keeps_its_guarantee(rng):
    worst = 0.0
    for incidence in random_problems(rng, 1000):
        greedy, exact = set_cover(incidence, method="greedy"), set_cover(incidence)
        assert incidence[:, greedy.sets].any(axis=1).all()
        ratio = len(greedy.sets) / len(exact.sets)
        worst = max(worst, ratio)
        assert ratio <= greedy_set_cover_bound(incidence.sum(axis=0).max())
        assert greedy.lower_bound <= len(exact.sets)
        assert not greedy.optimal or ratio == 1
    assert worst > 1


def test_greedy_cover_can_be_logarithmically_bad():
    # Two rows of 2^k - 1 elements; set j has 2^j elements of each. Sets of one element let no two
    # elements be the same.
    k = 6
    place = np.repeat(np.arange(k), 2 ** np.arange(k))
    columns = [np.tile(place == j, 2) for j in reversed(range(k))]
    upper = np.repeat([True, False], len(place))
    incidence = np.column_stack([*columns, upper, ~upper, np.eye(len(upper), dtype=bool)])
    assert set_cover(incidence).sets.tolist() == [k, k + 1]
    greedy = set_cover(incidence, method="greedy")
    assert greedy.sets.tolist() == list(range(k))
    assert 1.5 < k / 2 <= greedy_set_cover_bound(2**k)


def test_lower_bounds_and_best_covers_hold_when_nodes_run_out(rng):
    for incidence in random_problems(rng, 200, most_elements=40, most_sets=15):
        exact = set_cover(incidence)
        for max_nodes in (1, 3, 10):
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                some = set_cover(incidence, max_nodes=max_nodes)
            assert [warning.category for warning in said] == [ConvergenceWarning] * (
                not some.optimal
            )
            assert some.n_nodes <= max_nodes
            assert incidence[:, some.sets].any(axis=1).all()
            assert some.lower_bound <= len(exact.sets) <= len(some.sets)
            assert not some.optimal or len(some.sets) == len(exact.sets)


def test_a_search_that_came_to_no_end_says_so(rng):
    incidence = (rng.random((60, 40)) < 0.1) | np.eye(60, 40, dtype=bool)
    incidence[40:, :] |= np.eye(20, 40, dtype=bool)
    with pytest.warns(ConvergenceWarning, match="max_nodes=1 was reached .* smallest cover"):
        cover = set_cover(incidence, max_nodes=1)
    assert not cover.optimal
    X, y = set_cover_to_disjunction(incidence)
    with pytest.warns(ConvergenceWarning, match="smallest disjunction .* lower bound"):
        found = minimal_disjunction(X, y, max_nodes=1)
    assert found.lower_bound < len(found.literals)
    # The greedy method promises no smallest one.
    assert not set_cover(incidence, method="greedy").optimal


def test_size_of_the_cover_does_not_depend_on_order_or_repetition(rng):
    for incidence in random_problems(rng, 200):
        size = len(set_cover(incidence).sets)
        rows = rng.permutation(np.repeat(np.arange(len(incidence)), 2))
        columns = rng.permutation(np.repeat(np.arange(incidence.shape[1]), 2))
        assert len(set_cover(incidence[rows][:, columns]).sets) == size
        # The order of elements does not even change which sets are taken.
        again = set_cover(incidence[rng.permutation(len(incidence))])
        assert again.sets.tolist() == set_cover(incidence).sets.tolist()


def test_sparse_incidence_is_dense_incidence(rng):
    incidence = random_cover_problem(rng, 30, 12, 0.1)
    for form in (sp.csr_array(incidence), sp.csc_array(incidence * 2.5), incidence.tolist()):
        assert set_cover(form).sets.tolist() == set_cover(incidence).sets.tolist()
        X, y = set_cover_to_disjunction(form)
        np.testing.assert_array_equal(X, incidence)
        found = minimal_disjunction(form, y).literals
        assert found.tolist() == set_cover(incidence).sets.tolist()


def test_nothing_is_covered_by_nothing():
    for shape in ((0, 0), (0, 3)):
        for method in ("exact", "greedy"):
            cover = set_cover(np.zeros(shape), method=method)
            assert cover.sets.tolist() == [] and cover.optimal and cover.lower_bound == 0


@pytest.mark.parametrize(
    ("args", "params", "message"),
    [
        ([[1, 0], [0, 0]], {}, "no set that contains element 1"),
        ([1, 0], {}, "Expected 2D array"),
        ([[1, np.nan]], {}, "incidence contains NaN"),
        ([[1]], {"method": "best"}, "method must be"),
        ([[1]], {"max_nodes": 0}, "max_nodes must be"),
    ],
)
def test_wrong_covers_are_errors(args, params, message):
    with pytest.raises(ValueError, match=message):
        set_cover(args, **params)


@pytest.mark.alone
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")
def test_long_search_answers_an_interrupt(rng):
    incidence = random_cover_problem(rng, 3000, 400, 0.05)

    def interrupt(signum, frame):
        raise KeyboardInterrupt

    answers = []
    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        for delay in (0.05, 0.3, 0.8):
            due = time.perf_counter() + delay
            signal.setitimer(signal.ITIMER_REAL, delay)
            with pytest.raises(KeyboardInterrupt):
                set_cover(incidence, max_nodes=10**12)
            answers.append(time.perf_counter() - due)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert max(answers) <= ANSWER_SECONDS or max(answers) <= ANSWER_SECONDS * slowness()


# ---------------------------------------------------------------- reductions


def random_formula(rng):
    n_variables = int(rng.integers(1, 5))
    n_clauses = int(rng.integers(1, 12))
    sizes = rng.integers(1, 3, size=n_clauses)
    return [
        [int(i) for i in rng.integers(1, n_variables + 1, size=k) * rng.choice([-1, 1], size=k)]
        for k in sizes
    ], n_variables


def test_formula_is_satisfiable_exactly_if_so_many_sets_cover(rng):
    seen = set()
    for _ in range(400):
        clauses, n_variables = random_formula(rng)
        cover = set_cover(cnf_to_set_cover(clauses, n_variables))
        satisfiable = reference.is_satisfiable(clauses, n_variables)
        seen.add(satisfiable)
        assert (len(cover.sets) == n_variables) == satisfiable
        if satisfiable:
            values = [2 * i in cover.sets for i in range(n_variables)]
            assert reference.satisfies(values, clauses)
    assert seen == {True, False}


def test_formula_of_the_lecture():
    # (x1 or x4 or x7) and x1 and (not x2 or x2 or x5)
    incidence = cnf_to_set_cover([[1, 4, 7], [1], [-2, 2, 5]])
    assert incidence.shape == (3 + 7, 14)
    assert len(set_cover(incidence).sets) == 7
    assert np.flatnonzero(incidence[1]).tolist() == [0]
    assert np.flatnonzero(incidence[2]).tolist() == [2, 3, 8]


@pytest.mark.parametrize("clauses", [[[0]], [[1.5]], [[3]]])
def test_wrong_literals_are_errors(clauses):
    with pytest.raises(ValueError, match="clauses must contain"):
        cnf_to_set_cover(clauses, n_variables=2)


def test_smallest_disjunction_of_all_positive_samples_is_the_smallest_cover(rng):
    for incidence in random_problems(rng, 200):
        X, y = set_cover_to_disjunction(incidence)
        assert minimal_disjunction(X, y).literals.tolist() == set_cover(incidence).sets.tolist()


def test_satisfiability_by_a_smallest_disjunction(rng):
    for _ in range(100):
        clauses, n_variables = random_formula(rng)
        X, y = set_cover_to_disjunction(cnf_to_set_cover(clauses, n_variables))
        found = minimal_disjunction(X, y)
        assert found.n_uncovered == 0
        satisfiable = reference.is_satisfiable(clauses, n_variables)
        assert (len(found.literals) == n_variables) == satisfiable


# ---------------------------------------------------------------- the smallest disjunction


@pytest.mark.parametrize("literals", [False, True])
def test_disjunction_is_as_small_as_brute_force_finds(literals, rng):
    for trial in range(300):
        n = int(rng.integers(1, 5 if literals else 8))
        X = rng.integers(2, size=(int(rng.integers(1, 20)), n))
        bits = reference.literal_values(X) if literals else X
        y = rng.integers(2, size=len(X))
        if trial % 2:  # some disjunction is consistent
            y = bits[:, rng.integers(bits.shape[1], size=2)].any(axis=1).astype(int)
        found = minimal_disjunction(X, y, literals=literals)
        assert (found.n_uncovered, len(found.literals)) == reference.best_disjunction(bits, y)
        says = bits[:, found.literals].any(axis=1)
        assert not np.any(says & (y == 0)) and np.sum(~says & (y == 1)) == found.n_uncovered
        assert trial % 2 == 0 or found.n_uncovered == 0


def test_literals_are_those_of_the_feature_map(rng):
    X = rng.integers(2, size=(60, 6))
    y = X[:, 1] | (1 - X[:, 4])
    mapped = LiteralFeatures().fit_transform(X)
    np.testing.assert_array_equal(reference.literal_values(X), mapped)
    found = minimal_disjunction(X, y, literals=True)
    assert found.literals.tolist() == minimal_disjunction(mapped, y).literals.tolist() == [2, 9]


@pytest.mark.parametrize("literals", [False, True])
def test_classifier_is_the_function_for_each_class(literals, rng):
    X = rng.integers(2, size=(150, 10))
    y = np.where(X[:, 2] | X[:, 3], "b", np.where(X[:, 5] | X[:, 7], "c", "a"))
    model = MinimalDisjunction(literals).fit(X, y)
    for k, label in enumerate(["b", "c"]):
        alone = minimal_disjunction(X, y == label, literals=literals)
        assert model.literals_[k].tolist() == alone.literals.tolist()
        assert model.n_uncovered_[k] == alone.n_uncovered
    assert model.n_uncovered_[0] == 0 and model.n_uncovered_[1] > 0 and not model.consistent_
    wrong = model.predict(X) != y
    # Only samples that no disjunction of their class can cover are wrong, and go to the first one.
    assert np.all(y[wrong] == "c") and np.all(model.predict(X)[wrong] == "a")
    assert wrong.sum() == model.n_uncovered_.sum()


def test_consistent_disjunction_makes_no_mistake_on_its_samples(rng):
    X = rng.integers(2, size=(80, 30)) - 3.0
    y = (X[:, 4] > -2.5) | (X[:, 20] > -2.5)
    for method in ("exact", "greedy"):
        model = MinimalDisjunction(threshold=-2.5, method=method).fit(X, y)
        assert model.consistent_ and model.score(X, y) == 1
        assert model.expressions_ == ["x4 or x20"]


def test_order_and_repetition_of_samples_do_not_matter(rng):
    X = rng.integers(2, size=(40, 12))
    y = X[:, [1, 2, 3, 4]].any(axis=1)
    order = rng.permutation(np.tile(np.arange(40), 2))
    for method in ("exact", "greedy"):
        first = MinimalDisjunction(method=method).fit(X, y)
        second = MinimalDisjunction(method=method).fit(X[order], y[order])
        assert first.literals_[0].tolist() == second.literals_[0].tolist()


def test_nothing_to_say_is_false():
    model = MinimalDisjunction().fit([[1, 1], [1, 1]], [0, 1])
    assert model.expressions_ == ["false"] and model.predict([[1, 1]]).tolist() == [0]
    assert model.n_uncovered_.tolist() == [1]


def test_search_that_ends_too_early_says_so(rng):
    incidence = random_cover_problem(rng, 80, 40, 0.15)
    X = np.vstack([incidence, np.zeros((1, 40))])
    y = np.r_[np.ones(80), 0]
    with pytest.warns(ConvergenceWarning, match="max_nodes=2 was reached"):
        model = MinimalDisjunction(max_nodes=2).fit(X, y)
    assert not model.optimal_[0] and model.consistent_
    assert model.lower_bound_[0] < len(model.literals_[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        greedy = MinimalDisjunction(method="greedy").fit(X, y)
    assert model.lower_bound_[0] <= len(greedy.literals_[0])


def test_minimal_disjunction_needs_rows_and_their_classes():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        minimal_disjunction([[0, 1]], [0, 1])
    with pytest.raises(ValueError, match="method"):
        minimal_disjunction([[0, 1]], [1], method="quick")


# ---------------------------------------------------------------- weighted majority


def test_experts_of_the_lecture_make_three_and_two_mistakes():
    X = [[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 1], [0, 1, 0, 0]]
    model = DisjunctionWeightedMajority(2).fit(X, [0, 1, 0, 1])
    experts = [tuple(expert) for expert in model.experts_]
    mistakes = dict(zip(experts, model.expert_mistakes_[0], strict=True))
    assert mistakes[(0, 2)] == 3 and mistakes[(2, 3)] == 2
    assert len(experts) == 6


@pytest.mark.parametrize("literals", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("beta", [0.1, 1 / np.e, 0.9])
def test_weighted_majority_is_its_twin(literals, n_classes, beta, rng):
    X, y = rng.integers(2, size=(80, 5)), rng.integers(n_classes, size=80)
    model = DisjunctionWeightedMajority(2, beta=beta, literals=literals)
    answers = progressive_predict(model, X, y)
    bits = reference.literal_values(X) if literals else X
    expected, mistakes = reference.majority_run(bits, y, n_classes, model.experts_, beta)
    np.testing.assert_array_equal(answers, expected)
    np.testing.assert_array_equal(model.expert_mistakes_, mistakes)
    assert model.n_mistakes_ == np.sum(answers != y) <= model.bound_
    assert len(model.experts_) == count_disjunctions(5, 2, monotone=not literals)


def test_experts_are_all_disjunctions_once():
    X, y = [[0, 1, 0, 1], [1, 0, 0, 1]], [0, 1]
    for k, literals in itertools.product((1, 2, 3, 4), (False, True)):
        experts = DisjunctionWeightedMajority(k, literals=literals).fit(X, y).experts_
        variables = experts // 2 if literals else experts
        assert len({tuple(expert) for expert in experts}) == len(experts)
        assert all(len(set(row)) == k for row in variables.tolist())


@pytest.mark.parametrize("beta", [1 / np.e, 0.6])
def test_mistakes_of_weighted_majority_never_exceed_the_bound(beta, rng):
    n = 6
    weights = beta ** np.arange(60.0)
    for k in (1, 2, 3):
        experts = np.array(list(itertools.combinations(range(n), k)), dtype=np.int32)
        says = np.empty(len(experts), dtype=np.uint8)
        for trial in range(3500):
            n_trials, n_classes = int(rng.integers(1, 40)), int(rng.choice([2, 2, 3]))
            bits = (rng.uniform(size=(n_trials, n)) < rng.uniform()).astype(np.uint8)
            codes = np.zeros(n_trials, dtype=np.intp)
            for code in range(1, n_classes):
                codes[bits[:, rng.choice(experts)].any(axis=1)] = code
            noise = rng.uniform(size=n_trials) < 0.15 * (trial % 4)
            codes[noise] = rng.integers(n_classes, size=noise.sum())
            mistakes = np.zeros((n_classes - 1, len(experts)), dtype=np.int64)
            answers = np.empty(n_trials, dtype=np.intp)
            _literals.vote(bits, codes, experts, weights, mistakes, says, answers)
            bound = disjunction_majority_bound(n, k, mistakes.min(axis=1), beta).sum()
            assert np.sum(answers != codes) <= bound


def test_mistakes_of_weighted_majority_against_an_adversary_keep_the_bound(rng):
    # The outcome is always the other one.
    for k in (1, 2):
        model = DisjunctionWeightedMajority(k)
        for _ in range(60):
            x = rng.integers(2, size=(1, 6))
            said = model.predict(x)[0] if hasattr(model, "n_trials_") else 1
            model.partial_fit(x, [1 - said], classes=[0, 1])
            assert model.n_mistakes_ <= model.bound_
        assert model.n_mistakes_ == 60


def test_bound_of_the_lecture_is_above_that_of_the_experts(rng):
    # binomial(n, k) <= (n e / k)^k
    for n in range(1, 30):
        for k in range(1, n + 1):
            count = count_disjunctions(n, k, monotone=True)
            assert np.log(count) <= k * np.log(n * np.e / k) + 1e-12
    X = rng.integers(2, size=(200, 8))
    model = DisjunctionWeightedMajority(3).fit(X, rng.integers(2, size=200))
    best = model.expert_mistakes_.min()
    assert model.n_mistakes_ <= model.bound_ <= disjunction_majority_bound(8, 3, best)
    np.testing.assert_allclose(disjunction_majority_bound(8, 8, 1) / 9, 2.63237, atol=1e-4)


def test_blocks_of_disjunctions_and_conjunctions_are_the_whole(rng):
    X, y = rng.integers(2, size=(120, 6)), rng.integers(3, size=120)
    for learner in (DisjunctionWeightedMajority(2, beta=0.97), ConjunctionLearner()):
        params = learner.get_params()
        whole = type(learner)(**params).partial_fit(X, y, classes=range(3))
        blocks = type(learner)(**params)
        answers = [
            progressive_predict(blocks, X[i:j], y[i:j], classes=range(3))
            for i, j in itertools.pairwise([0, 1, 2, 50, 120])
        ]
        other = progressive_predict(type(learner)(**params), X, y)
        np.testing.assert_array_equal(np.concatenate(answers), other)
        for name in learner._mutable:
            np.testing.assert_array_equal(getattr(blocks, name), getattr(whole, name))
        assert blocks.n_mistakes_ == whole.n_mistakes_
        assert blocks.cumulative_loss_ == whole.cumulative_loss_
        assert blocks.bound_ == whole.bound_


def test_weights_do_not_vanish_in_a_long_run():
    # Both experts are wrong a hundred thousand times, then one of them is right.
    X = np.tile([[1, 0], [0, 1]], (100_000, 1))
    y = np.zeros(len(X), dtype=int)
    model = DisjunctionWeightedMajority(1, beta=0.5).partial_fit(X, y, classes=[0, 1])
    assert model.expert_mistakes_.tolist() == [[100_000, 100_000]]
    model.partial_fit([[1, 0]] * 3, [1] * 3)
    assert model.predict([[1, 0], [0, 1]]).tolist() == [1, 0]
    # And with so large a distance that the weight of the other one is zero.
    model.partial_fit([[1, 0]] * 5000, [1] * 5000)
    assert model.predict([[1, 0], [0, 1]]).tolist() == [1, 0]
    assert model.n_mistakes_ <= model.bound_ < np.inf


def test_too_many_experts_are_an_error():
    X, y = np.eye(100), np.arange(100) % 2
    with pytest.raises(ValueError, match=r"75,287,520 disjunctions of n_literals=5"):
        DisjunctionWeightedMajority(5).fit(X, y)
    with pytest.raises(ValueError, match="n_literals must be at most"):
        DisjunctionWeightedMajority(5).fit(X[:, :4], y)


# ---------------------------------------------------------------- conjunctions


@pytest.mark.parametrize("literals", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_conjunctions_are_their_twins(literals, n_classes, rng):
    for _ in range(30):
        X = rng.integers(2, size=(40, int(rng.integers(1, 8))))
        y = rng.integers(n_classes, size=40) * (rng.uniform(size=40) < 0.5)
        model = ConjunctionLearner(literals)
        answers = progressive_predict(model, X, y, classes=range(n_classes))
        expected, kept, n_denied = reference.elimination_run(X, y, n_classes, literals)
        np.testing.assert_array_equal(answers, expected)
        step = 1 if literals else 2
        assert [list(found * step) for found in model.literals_] == [sorted(k) for k in kept]
        assert model.n_contradictions_.tolist() == n_denied
        assert model.n_mistakes_ == np.sum(answers != y) <= model.bound_


def test_what_remains_is_true_on_all_samples_of_the_class(rng):
    X = rng.integers(2, size=(200, 10))
    y = (X[:, 0] == 1) & (X[:, 5] == 0)
    model = ConjunctionLearner().fit(X, y)
    values = reference.literal_values(X)
    assert model.literals_[0].tolist() == np.flatnonzero(values[y].all(axis=0)).tolist()
    assert {0, 11} <= set(model.literals_[0].tolist())
    np.testing.assert_array_equal(model.predict(X[y]), y[y])


@pytest.mark.parametrize("literals", [False, True])
def test_mistakes_on_conjunctions_never_exceed_the_bound(literals, rng):
    most = 0
    for _ in range(10_000):
        n = int(rng.integers(1, 9))
        # Mostly ones: then conjunctions are true often, and mistakes remove little.
        bits = (rng.uniform(size=(25, n)) < rng.uniform(0.3, 1)).astype(np.uint8)
        chosen = rng.uniform(size=n) < rng.uniform()
        signs = rng.integers(2, size=n) if literals else np.ones(n)
        codes = np.all((bits == signs) | ~chosen, axis=1).astype(np.intp)
        kept = np.ones((1, n, 2), dtype=np.uint8)
        kept[:, :, 1] = literals
        n_denied, answers = np.zeros(1, dtype=np.intp), np.empty(25, dtype=np.intp)
        _literals.eliminate(bits, codes, kept, n_denied, answers)
        mistakes = np.sum(answers != codes)
        assert n_denied[0] == 0
        assert mistakes <= conjunction_bound(n) - (not literals)
        most = max(most, mistakes)
    assert most > 4


def test_mistakes_on_any_classes_never_exceed_the_bound_of_conjunctions(rng):
    for _ in range(10_000):
        n, n_classes = int(rng.integers(1, 6)), int(rng.integers(2, 5))
        bits = (rng.uniform(size=(25, n)) < rng.uniform(0.3, 1)).astype(np.uint8)
        codes = rng.integers(n_classes, size=25) * (rng.uniform(size=25) < rng.uniform())
        kept = np.ones((n_classes - 1, n, 2), dtype=np.uint8)
        n_denied, answers = np.zeros(n_classes - 1, np.intp), np.empty(25, dtype=np.intp)
        _literals.eliminate(bits, codes, kept, n_denied, answers)
        bound = (n_classes - 1) * conjunction_bound(n) + n_denied.sum()
        assert np.sum(answers != codes) <= bound


def test_conjunction_learner_can_be_forced_to_its_bound():
    # The true conjunction is empty: first all ones, then one literal less each time.
    n = 7
    X = np.ones((1, n), dtype=int) - np.vstack([np.zeros((1, n), dtype=int), np.eye(n, dtype=int)])
    model = ConjunctionLearner().partial_fit(X, np.ones(n + 1), classes=[0, 1])
    assert model.n_mistakes_ == conjunction_bound(n) == n + 1
    monotone = ConjunctionLearner(literals=False).partial_fit(X, np.ones(n + 1), classes=[0, 1])
    assert monotone.n_mistakes_ == n and monotone.bound_ == n


def test_contradictions_of_conjunctions_are_counted():
    X = [[1, 0], [1, 0], [0, 1]]
    model = ConjunctionLearner().partial_fit(X, [1, 0, 0], classes=[0, 1])
    assert model.n_contradictions_.tolist() == [1] and not model.realizable_
    assert model.bound_ == 4 and model.n_mistakes_ == 2


# ---------------------------------------------------------------- counts; forms of the input


def test_counts_of_disjunctions_are_those_of_a_list():
    for n in range(5):
        # Each variable does not occur, occurs, or occurs negated.
        every = list(itertools.product([0, 1, -1], repeat=n))
        assert count_disjunctions(n) == len(every)
        assert count_disjunctions(n, monotone=True) == sum(-1 not in signs for signs in every)
        for k in range(n + 2):
            some = [signs for signs in every if np.count_nonzero(signs) == k]
            assert count_disjunctions(n, k) == len(some)
            assert count_disjunctions(n, k, monotone=True) == sum(-1 not in s for s in some)
    assert count_disjunctions(1000, 3) == 8 * 166_167_000


def test_wrong_numbers_are_errors():
    for n, k in ((-1, None), (2.5, None), (3, -1), (3, 0.5)):
        with pytest.raises(ValueError, match="must be an integer"):
            count_disjunctions(n, k)
    for args in ((3, 4), (0, 1), (3, 1, -1), (3, 1, 0, 0.0), (3, 1, 0, 1.0)):
        with pytest.raises(ValueError):
            disjunction_majority_bound(*args)
    for bound in (greedy_set_cover_bound, conjunction_bound):
        with pytest.raises(ValueError):
            bound(0)


def test_greedy_bound_is_the_harmonic_number():
    numbers = [sum(1 / k for k in range(1, m + 1)) for m in range(1, 50)]
    np.testing.assert_allclose(greedy_set_cover_bound(np.arange(1, 50)), numbers, **EXACT)
    assert np.all(greedy_set_cover_bound(np.arange(1, 50)) <= 1 + np.log(np.arange(1, 50)) + 1e-12)


@pytest.mark.parametrize(
    "learner", [DisjunctionWeightedMajority(2), ConjunctionLearner()], ids=["disjunction", "and"]
)
def test_sparse_and_other_forms_are_dense(learner, rng):
    X, y = rng.integers(2, size=(70, 9)), rng.integers(2, size=70)
    model = type(learner)(**learner.get_params()).fit(X, y)
    for form in (sp.csr_array(X), sp.csc_array(X), X.astype(np.float32), X.astype(bool), X * 1e300):
        other = type(learner)(**learner.get_params()).fit(form, y)
        assert other.n_mistakes_ == model.n_mistakes_
        np.testing.assert_array_equal(other.predict(form), model.predict(X))


@pytest.mark.parametrize("Learner", [DisjunctionWeightedMajority, ConjunctionLearner])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_samples_must_be_finite(Learner, bad):
    model = Learner().partial_fit([[0.0, 1.0]], [0], classes=[0, 1])
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.partial_fit(np.array([[0.0, bad]]), [0])
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.predict([[0.0, bad]])
    assert model.n_trials_ == 1
