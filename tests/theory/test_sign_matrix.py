"""The VC dimension and the growth function of sign matrices."""

import itertools
import signal
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import vc_dimension as slow
from sklearn.exceptions import ConvergenceWarning

from sklearn_sl.theory import _sign_matrix as module
from sklearn_sl.theory import growth_function, sauer_shelah, shatter_coefficient, vc_dimension

# The two matrices of the lecture differ in one sign.
FIRST = """
    + + - + - + - - +
    - - + + + + - + +
    - - - - + - - - -
    + + - - + + - + -
    - - - + - + - + +
    - - + + - + - - -
    + - + - - + + + +
    - - + + + + - - -
"""


def matrix_of(text):
    """Return a matrix of -1 and 1."""
    rows = text.strip().splitlines()
    return np.array([[1 if sign == "+" else -1 for sign in row.split()] for row in rows])


def second_matrix():
    """Return the matrix in which one sign of the third hypothesis is the other one."""
    signs = matrix_of(FIRST)
    signs[2, 2] = 1
    return signs


def random_signs(rng, most_rows=40, most_columns=8):
    """Return a random boolean matrix, from nearly constant to balanced."""
    shape = rng.integers(1, most_rows), rng.integers(0, most_columns)
    return rng.random(shape) < rng.random()


def test_matrices_of_the_lecture_have_the_dimensions_three_and_two():
    first, second = vc_dimension(matrix_of(FIRST)), vc_dimension(second_matrix())
    assert (first.dimension, first.upper_bound) == (3, 3)
    # x_3, x_5 and x_8 are the only three points that are shattered
    np.testing.assert_array_equal(first.points, [2, 4, 7])
    assert [s for s in slow.shattered_sets(matrix_of(FIRST)) if len(s) == 3] == [(2, 4, 7)]
    assert (second.dimension, second.upper_bound) == (2, 2)
    np.testing.assert_array_equal(growth_function(second_matrix(), range(5)), [1, 2, 4, 7, 8])


@pytest.mark.parametrize("share", [0.0, np.inf], ids=["projections", "partitions"])
def test_dimension_is_that_of_all_sets_and_the_rows_show_it(monkeypatch, share):
    monkeypatch.setattr(module, "TABLE_SHARE", share)
    for seed in range(150):
        signs = random_signs(np.random.default_rng(seed))
        found = vc_dimension(signs)
        assert found.dimension == found.upper_bound == slow.vc_dimension(signs)
        patterns = signs[np.ix_(found.hypotheses, found.points)]
        numbers = patterns @ (1 << np.arange(found.dimension))
        np.testing.assert_array_equal(numbers, np.arange(2**found.dimension))


def test_growth_function_is_that_of_all_sets_of_points():
    for seed in range(100):
        signs = random_signs(np.random.default_rng(seed), 30, 8)
        np.testing.assert_array_equal(growth_function(signs), slow.growth_function(signs))


@given(seed=st.integers(0, 2**16))
def test_growth_function_obeys_sauer_and_shelah(seed):
    signs = random_signs(np.random.default_rng(seed), 200, 10)
    m, d = np.arange(signs.shape[1] + 1), vc_dimension(signs).dimension
    growth = growth_function(signs)
    assert np.all(growth <= sauer_shelah(m, d))
    np.testing.assert_array_equal(growth[: d + 1], 2.0 ** m[: d + 1])
    assert np.all(growth[d + 1 :] < 2.0 ** m[d + 1 :])
    assert np.all(np.diff(growth) >= 0)


def test_sets_of_at_most_d_points_attain_sauer_and_shelah():
    signs = np.array(list(itertools.product([False, True], repeat=9)))
    for d in range(10):
        few = signs[signs.sum(axis=1) <= d]
        assert vc_dimension(few).dimension == d
        np.testing.assert_array_equal(growth_function(few), sauer_shelah(np.arange(10), d))


@given(seed=st.integers(0, 2**16))
def test_there_are_as_many_shattered_sets_as_hypotheses(seed):
    # Pajor's form of the lemma, from which the search knows a size to begin with
    signs = random_signs(np.random.default_rng(seed))
    n_rows = len(np.unique(signs, axis=0)) if signs.shape[1] else 1
    assert len(list(slow.shattered_sets(signs))) >= n_rows
    if n_rows > 1:
        assert module._pajor(n_rows, signs.shape[1]) <= slow.vc_dimension(signs)


def test_shatter_coefficient_counts_patterns(rng):
    for _ in range(50):
        signs = random_signs(rng, 60, 12)
        points = rng.permutation(signs.shape[1])[: rng.integers(signs.shape[1] + 1)]
        expected = slow.n_patterns(signs, points) if len(points) else 1
        assert shatter_coefficient(signs, points) == expected
    assert shatter_coefficient(np.eye(5, dtype=bool)) == 5


def test_order_signs_and_copies_do_not_matter(rng):
    signs = rng.random((60, 9)) < 0.4
    dimension, growth = vc_dimension(signs).dimension, growth_function(signs)
    shuffled = signs[rng.permutation(60)][:, rng.permutation(9)]
    opposite = signs ^ (rng.random(9) < 0.5)
    for other in (shuffled, opposite, np.tile(signs, (2, 1)), np.where(signs, 1, -1), signs + 0.0):
        assert vc_dimension(other).dimension == dimension
        np.testing.assert_array_equal(growth_function(other), growth)
    assert vc_dimension(np.tile(signs, 2)).dimension == dimension


def test_known_classes_on_finite_domains():
    places = np.arange(12)
    cuts = np.arange(13)
    thresholds = places >= cuts[:, None]
    intervals = [(a <= places) & (places < b) for a in cuts for b in cuts]
    assert vc_dimension(thresholds).dimension == 1
    np.testing.assert_array_equal(growth_function(thresholds), np.arange(13) + 1)
    assert vc_dimension(intervals).dimension == 2
    m = np.arange(13)
    np.testing.assert_array_equal(growth_function(intervals), 1 + m * (m + 1) // 2)
    grid = np.array(list(itertools.product(range(5), repeat=2)))
    boxes = [
        np.all((grid >= low) & (grid <= high), axis=1)
        for low in grid
        for high in grid
        if np.all(low <= high)
    ]
    assert vc_dimension([*boxes, np.zeros(25, dtype=bool)]).dimension == 4


@pytest.mark.parametrize("rows_are", ["hypotheses", "points"])
def test_twenty_by_a_hundred_thousand(rows_are):
    signs = np.random.default_rng(0).random((20, 100_000)) < 0.5
    start = time.process_time()
    found = vc_dimension(signs if rows_are == "hypotheses" else signs.T)
    assert time.process_time() - start < 30
    # 20 hypotheses shatter at most four points; 2^14 patterns need more than 10^5 rows
    assert found.dimension == found.upper_bound == (4 if rows_are == "hypotheses" else 13)


def test_empty_and_constant_matrices():
    for signs in (np.zeros((1, 0)), np.ones((3, 4)), np.zeros((1, 4)), np.ones((5, 0))):
        found = vc_dimension(signs)
        assert (found.dimension, found.upper_bound, len(found.points)) == (0, 0, 0)
        np.testing.assert_array_equal(growth_function(signs), np.ones(signs.shape[1] + 1))
    assert growth_function(np.eye(4), 2) == 3 and isinstance(growth_function(np.eye(4), 2), int)


def test_too_few_sets_give_bounds_and_a_warning():
    signs = np.random.default_rng(0).random((200, 60)) < 0.5
    with pytest.warns(ConvergenceWarning, match="max_sets=50 did not suffice"):
        found = vc_dimension(signs, max_sets=50)
    assert found.n_sets <= 50 and found.dimension < found.upper_bound <= 7
    with pytest.warns(ConvergenceWarning, match="at 8 points"):
        least = growth_function(signs[:, :20], 8, max_sets=1000)
    assert least <= growth_function(signs[:, :20], 8)


def test_ctrl_c_is_heard():
    signs = np.random.default_rng(0).random((1000, 40)) < 0.5

    def interrupt(signum, frame):
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    due = time.perf_counter() + 0.3
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            vc_dimension(signs)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert time.perf_counter() - due < 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vc_dimension([[1, 2]]), "signs must be -1 and 1, or 0 and 1; got array"),
        (lambda: vc_dimension([[-1, 0, 1]]), "signs must be -1 and 1, or 0 and 1; got array"),
        (lambda: vc_dimension([1, -1]), r"signs must be a matrix .* got shape \(2,\)"),
        (lambda: vc_dimension(np.zeros((0, 2))), r"at least one, .* got shape \(0, 2\)"),
        (lambda: vc_dimension([[1, -1]], max_sets=0), "max_sets must be an integer >= 1; got 0"),
        (lambda: growth_function([[1, -1]], 3), "n_points must be at most 2, the columns"),
        (lambda: shatter_coefficient([[1, -1]], [2]), "points must be columns of signs"),
    ],
)
def test_messages(call, message):
    with pytest.raises(ValueError, match=message):
        call()
