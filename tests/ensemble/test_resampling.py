"""Bootstrap samples: independent draws of copies, whatever the order of rows, weights or copies."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from sklearn_sl._rows import entry_hashes, row_hashes
from sklearn_sl.ensemble._resampling import Resampling, draw_features
from sklearn_sl.theory import bootstrap_absence

SETTINGS = [
    {"bootstrap": True, "max_samples": None},
    {"bootstrap": True, "max_samples": 0.5},
    {"bootstrap": True, "max_samples": 7},
    {"bootstrap": False, "max_samples": 0.5},
    {"bootstrap": False, "max_samples": 7},
    {"bootstrap": False, "max_samples": None},
]


def problem(rng, n=60):
    """Return rows some of which are copies."""
    X = rng.normal(size=(n, 3)).round(1)
    X[n // 2 :: 3] = X[: len(X[n // 2 :: 3])]
    y = rng.integers(0, 2, n).astype(float)
    y[n // 2 :: 3] = y[: len(y[n // 2 :: 3])]
    return X, y


def totals(resampling, X, y, seed):
    """Return how often each content was drawn, by its hash."""
    counts = resampling.counts(seed)
    counts = np.ones(len(X)) if counts is None else counts
    hashes = row_hashes(X, y)
    return {h: counts[hashes == h].sum() for h in np.unique(hashes) if counts[hashes == h].sum()}


# ---------------------------------------------------------------- hashes


def test_equal_rows_have_equal_hashes_and_others_do_not(rng):
    X, y = problem(rng)
    content = [(*row, target) for row, target in zip(X.tolist(), y.tolist(), strict=True)]
    same_content = np.array([[a == b for b in content] for a in content])
    hashes = row_hashes(X, y)
    np.testing.assert_array_equal(hashes[:, None] == hashes, same_content)


def test_hash_knows_the_column_of_a_value():
    assert np.unique(row_hashes(np.eye(5), np.zeros(5))).size == 5
    assert row_hashes(np.array([[1.0, 2.0]]), np.zeros(1)) != row_hashes(
        np.array([[2.0, 1.0]]), np.zeros(1)
    )


def test_hash_knows_the_target_from_the_features():
    first = row_hashes(np.array([[1.0, 0.0]]), np.array([2.0]))
    second = row_hashes(np.array([[2.0, 0.0]]), np.array([1.0]))
    assert first != second


def test_zeros_of_both_signs_and_all_missing_values_are_the_same():
    other_nan = np.array([0x7FF8000000000123], dtype=np.uint64).view(np.float64)[0]
    y = np.zeros(1)
    assert row_hashes(np.array([[0.0, np.nan]]), y) == row_hashes(np.array([[-0.0, other_nan]]), y)


def test_sparse_rows_have_the_hashes_of_dense_ones(rng):
    X, y = problem(rng)
    X[X < 0.3] = 0
    with_zeros = sp.csr_array(X)
    with_zeros.data[::5] = 0  # explicit ones
    for matrix in (sp.csr_array(X), sp.csc_array(X), with_zeros):
        np.testing.assert_array_equal(row_hashes(matrix, y), row_hashes(matrix.toarray(), y))


def test_dtype_does_not_matter_where_the_values_are_the_same(rng):
    X, y = rng.integers(0, 100, (20, 3)), rng.integers(0, 2, 20)
    wanted = row_hashes(X.astype(float), y.astype(float))
    for dtype in (np.int8, np.uint32, np.float32, object):
        np.testing.assert_array_equal(row_hashes(X.astype(dtype), y), wanted)


def test_words_are_told_apart():
    X = np.array([["red", 1.0], ["blue", 1.0], ["red", 1.0]], dtype=object)
    hashes = row_hashes(X, np.zeros(3))
    assert hashes[0] == hashes[2] != hashes[1]


def test_several_targets_count(rng):
    X, y = np.zeros((2, 2)), np.array([[1.0, 2.0], [2.0, 1.0]])
    assert np.unique(row_hashes(X, y)).size == 2


def test_hashes_of_numbers_are_spread_evenly():
    hashes = entry_hashes(np.arange(1.0, 20_001.0), np.zeros(1, dtype=int))
    ones = np.unpackbits(hashes.view(np.uint8).reshape(-1, 8), axis=1).mean(axis=0)
    np.testing.assert_allclose(ones, 0.5, atol=5 * 0.5 / np.sqrt(20_000))


# ---------------------------------------------------------------- symmetries


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_weights_are_repetitions_in_any_order(rng, settings):
    X, y = problem(rng)
    times = rng.integers(0, 4, len(y))
    used = np.flatnonzero(times)
    rows = rng.permutation(np.repeat(np.arange(len(y)), times))
    weighted = Resampling(row_hashes(X[used], y[used]), times[used].astype(float), **settings)
    repeated = Resampling(row_hashes(X[rows], y[rows]), **settings)
    assert weighted.size == repeated.size == times.sum()
    assert weighted.fingerprint == repeated.fingerprint
    for seed in range(3):
        if weighted.resamples:
            first = totals(weighted, X[used], y[used], seed)
            assert first == totals(repeated, X[rows], y[rows], seed)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_fractional_weights_in_any_order(rng, settings):
    X, y = problem(rng)
    weight, rows = rng.uniform(0.1, 3, len(y)), rng.permutation(len(y))
    first = Resampling(row_hashes(X, y), weight, **settings)
    second = Resampling(row_hashes(X[rows], y[rows]), weight[rows], **settings)
    assert first.fingerprint == second.fingerprint
    for seed in range(3):
        if first.resamples:
            drawn = totals(first, X, y, seed)
            assert drawn == totals(second, X[rows], y[rows], seed)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=20), st.integers(0, 2**31 - 1))
def test_a_weight_is_so_many_slots(times, seed):
    times = np.array(times)
    X, y = np.arange(len(times), dtype=float)[:, None], np.zeros(len(times))
    weighted = Resampling(row_hashes(X, y), times.astype(float))
    rows = np.repeat(np.arange(len(times)), times)
    repeated = Resampling(row_hashes(X[rows], y[rows]))
    counts = np.bincount(rows[repeated.draw(seed)], minlength=len(times))
    np.testing.assert_array_equal(weighted.counts(seed), counts)


def test_weights_of_one_are_none(rng):
    hashes = row_hashes(*problem(rng))
    plain, ones = Resampling(hashes), Resampling(hashes, np.ones(len(hashes)))
    np.testing.assert_array_equal(plain.draw(5), ones.draw(5))


# ---------------------------------------------------------------- draws


@pytest.mark.parametrize("unit", [1.0, 0.1])
def test_row_is_drawn_as_often_as_its_weight_says(rng, unit):
    weight = unit * np.array([1.0, 2.0, 3.0, 4.0, 10.0])
    resampling = Resampling(row_hashes(rng.normal(size=(5, 2)), np.zeros(5)), weight)
    n_draws = 200 * resampling.n_draws
    for first in range(0, 1000, 200):  # the seeds of several ensembles
        counts = sum(resampling.counts(seed) for seed in range(first, first + 200))
        share = weight / weight.sum()
        scores = (counts / n_draws - share) / np.sqrt(share * (1 - share) / n_draws)
        assert np.abs(scores).max() < 4


def test_draws_without_replacement_draw_no_slot_twice(rng):
    X, y = rng.normal(size=(30, 2)), np.zeros(30)
    weight = rng.integers(1, 4, 30).astype(float)
    counts = Resampling(
        row_hashes(X, y), weight, bootstrap=False, max_samples=int(weight.sum()) - 1
    ).counts(0)
    assert np.all(counts <= weight)
    assert counts.sum() == weight.sum() - 1
    counts = Resampling(row_hashes(X, y), weight / 7, bootstrap=False, max_samples=20).counts(0)
    assert counts.max() == 1 and counts.sum() == 20


def test_first_row_of_a_race_is_drawn_by_its_weight(rng):
    X, y, weight = rng.normal(size=(4, 2)), np.zeros(4), np.array([0.5, 1.0, 1.5, 3.0])
    resampling = Resampling(row_hashes(X, y), weight, bootstrap=False, max_samples=1)
    drawn = np.bincount([resampling.draw(seed)[0] for seed in range(4000)], minlength=4)
    np.testing.assert_allclose(drawn / 4000, weight / 6, atol=4 * 0.5 / np.sqrt(4000))


@pytest.mark.parametrize(
    ("weight", "max_samples", "n_draws"),
    [
        (None, None, 10),
        (None, 0.55, 5),
        (None, 3, 3),
        (None, 1e-9, 1),
        (2.0, None, 20),
        (2.0, 0.5, 10),
        (0.5, None, 10),
        (0.5, 0.5, 5),
    ],
)
def test_number_of_draws(rng, weight, max_samples, n_draws):
    hashes = row_hashes(rng.normal(size=(10, 2)), np.zeros(10))
    weight = None if weight is None else np.full(10, weight)
    resampling = Resampling(hashes, weight, max_samples=max_samples)
    assert resampling.n_draws == n_draws == len(resampling.draw(0))


def test_more_draws_than_rows_need_replacement(rng):
    hashes = row_hashes(rng.normal(size=(10, 2)), np.zeros(10))
    assert Resampling(hashes, max_samples=25).n_draws == 25
    with pytest.raises(ValueError, match="without replacement"):
        Resampling(hashes, bootstrap=False, max_samples=11)


def test_all_rows_without_replacement_are_not_resampled(rng):
    hashes = row_hashes(rng.normal(size=(10, 2)), np.zeros(10))
    weight = rng.uniform(1, 2, 10)
    for max_samples in (None, 1.0, 10):
        resampling = Resampling(hashes, weight, bootstrap=False, max_samples=max_samples)
        assert not resampling.resamples
        assert resampling.counts(0) is resampling.weight


def test_features_are_drawn_with_or_without_replacement():
    for seed in range(20):
        few = draw_features(seed, 10, 4, replace=False)
        assert len(np.unique(few)) == 4 and np.all(np.diff(few) > 0)
    assert any(len(np.unique(draw_features(seed, 10, 8, replace=True))) < 8 for seed in range(5))
    np.testing.assert_array_equal(draw_features(0, 10, 10, replace=False), np.arange(10))


# ---------------------------------------------------------------- out of bag


# Rows with few copies, with many, and weighted ones: draws are counted in another way for each.
FEW, MANY = np.arange(60) % 20, np.arange(60) % 2


def resampled(contents, weight=None, **settings):
    """Return a resampling of rows with given contents."""
    return Resampling(row_hashes(contents[:, None].astype(float), np.zeros(len(contents))), weight)


@pytest.mark.parametrize("contents", [np.arange(60), FEW, MANY], ids=["none", "few", "many"])
def test_share_out_of_bag_is_that_of_the_theorem(contents):
    resampling, m = resampled(contents), 60
    shares = [len(resampling.out_of_bag(seed)) / m for seed in range(2000)]
    np.testing.assert_allclose(
        np.mean(shares), bootstrap_absence(m), atol=4 * np.std(shares) / np.sqrt(2000)
    )


@pytest.mark.parametrize("contents", [FEW, MANY], ids=["few", "many"])
def test_copies_of_a_row_are_drawn_independently(contents):
    resampling, m, n_seeds = resampled(contents), 60, 4000
    rows = resampling.copy_rows()
    absent = np.zeros((n_seeds, m), dtype=bool)
    for seed in range(n_seeds):
        absent[seed, rows[resampling.out_of_bag(seed)]] = True
    first, second = np.flatnonzero(contents == 0)[:2]
    # The bootstrap misses two given rows with probability (1 - 2/m)^m, copies or not.
    for pair in [(first, second), (first, first + 1)]:
        both = (1 - 2 / m) ** m
        share = absent[:, pair].all(axis=1).mean()
        assert abs(share - both) < 4 * np.sqrt(both * (1 - both) / n_seeds)


@pytest.mark.parametrize("settings", SETTINGS[:-1], ids=str)
@pytest.mark.parametrize("largest", [3, 60])
def test_out_of_bag_copies_of_weighted_rows_are_those_of_repeated_ones(rng, settings, largest):
    X, y = problem(rng)
    times = rng.integers(0, largest + 1, len(y))
    used = np.flatnonzero(times)
    rows = rng.permutation(np.repeat(np.arange(len(y)), times))
    weighted = Resampling(row_hashes(X[used], y[used]), times[used].astype(float), **settings)
    repeated = Resampling(row_hashes(X[rows], y[rows]), **settings)
    for seed in range(5):
        copies = weighted.out_of_bag(seed)
        np.testing.assert_array_equal(copies, repeated.out_of_bag(seed))
        first, second = used[weighted.copy_rows()[copies]], rows[repeated.copy_rows()[copies]]
        np.testing.assert_array_equal(X[first], X[second])
        np.testing.assert_array_equal(y[first], y[second])


@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.parametrize("contents", [np.arange(60), FEW, MANY], ids=["none", "few", "many"])
def test_out_of_bag_are_the_rows_that_were_not_drawn(contents, bootstrap):
    hashes = row_hashes(contents[:, None].astype(float), np.zeros(60))
    resampling = Resampling(hashes, bootstrap=bootstrap, max_samples=None if bootstrap else 40)
    for seed in range(5):
        out = resampling.copy_rows()[resampling.out_of_bag(seed)]
        assert sorted(out) == np.flatnonzero(resampling.counts(seed) == 0).tolist()
        assert len(resampling.draw(seed)) == resampling.n_draws
        if not bootstrap:
            assert resampling.counts(seed).max() == 1


@pytest.mark.parametrize("bootstrap", [True, False])
def test_cost_does_not_grow_with_the_weights(rng, bootstrap):
    n = 30
    hashes = row_hashes(np.arange(n)[:, None] % 25.0, np.zeros(n))
    weight = rng.integers(1, 10, n) * (1e13 if bootstrap else 1e6)
    resampling = Resampling(
        hashes, weight, bootstrap=bootstrap, max_samples=None if bootstrap else 0.5
    )
    counts = resampling.counts(0)
    assert counts.sum() == resampling.n_draws
    share = resampling.n_draws / resampling.size
    np.testing.assert_allclose(counts, share * weight, rtol=0.01)
    with pytest.raises(ValueError, match="divide it by a common factor"):
        resampling.check_copies()


def test_too_large_weights_are_not_drawn_without_replacement():
    hashes = row_hashes(np.arange(3.0)[:, None], np.zeros(3))
    with pytest.raises(ValueError, match="less than 10\\^9"):
        Resampling(hashes, np.full(3, 1e9), bootstrap=False, max_samples=0.5)


def test_draws_of_equal_rows_are_divided_by_their_weights():
    hashes, weight = row_hashes(np.zeros((4, 1)), np.zeros(4)), np.array([1000.0, 1, 500, 99])
    resampling = Resampling(hashes, weight, max_samples=7)
    counts = sum(resampling.counts(seed) for seed in range(4000)) / 4000
    assert resampling.counts(0).sum() == 7
    wanted = 7 * weight / weight.sum()
    np.testing.assert_allclose(counts, wanted, atol=4 * np.sqrt(wanted.max() / 4000))


@pytest.mark.parametrize("weight", [None, np.arange(60) % 4 + 1.0, np.arange(60) % 7 + 0.5])
def test_row_is_out_of_bag_if_no_row_of_its_group_was_drawn(rng, weight):
    groups = rng.integers(0, 30, 60)
    hashes = row_hashes(FEW[:, None].astype(float), np.zeros(60))
    resampling = Resampling(hashes, weight, groups=groups, max_samples=20)
    for seed in range(5):
        drawn = np.unique(groups[resampling.counts(seed) > 0])
        rows = resampling.copy_rows()[resampling.out_of_bag(seed)]
        wanted = np.flatnonzero(~np.isin(groups, drawn))
        np.testing.assert_array_equal(np.unique(rows), wanted)
        if weight is not None and resampling.integral:
            np.testing.assert_array_equal(np.bincount(rows, minlength=60)[wanted], weight[wanted])


def test_representatives_and_sums_have_one_entry_for_each_content(rng):
    X, y = problem(rng)
    resampling = Resampling(row_hashes(X, y))
    rows, counts = resampling.representatives(), resampling.counts(3)
    hashes = row_hashes(X, y)
    assert len(rows) == len(np.unique(hashes)) < len(y)
    wanted = [counts[hashes == hashes[row]].sum() for row in rows]
    np.testing.assert_array_equal(resampling.sum_over_copies(counts), wanted)


def test_fingerprint_notices_any_change(rng):
    X, y = problem(rng)
    weight = rng.integers(1, 4, len(y)).astype(float)
    prints = {Resampling(row_hashes(X, y), w).fingerprint for w in (None, weight, weight / 2)}
    for change in ("X", "y", "row"):
        Z, t = X.copy(), y.copy()
        if change == "X":
            Z[3, 1] += 1e-12
        elif change == "y":
            t[3] = 1 - t[3]
        else:
            Z, t = Z[1:], t[1:]
        prints.add(Resampling(row_hashes(Z, t)).fingerprint)
    assert len(prints) == 6


def test_pickle_holds_a_few_numbers_for_each_row(rng):
    n = 10_000
    hashes = row_hashes(rng.normal(size=(n, 3)), np.zeros(n))
    assert len(pickle.dumps(Resampling(hashes))) < 3 * n
    assert len(pickle.dumps(Resampling(hashes, rng.uniform(size=n)))) < 11 * n
