"""The weak learner for strings: exact searches, the theorem of weak universality, symmetries."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags

from sklearn_sl.ensemble import _substring_stump
from sklearn_sl.ensemble._substring_stump import (
    SubstringOrder,
    SubstringStump,
    containment,
    maximum_closure,
    occur_in,
)

for_both_searches = pytest.mark.parametrize("search", ["samples", "closures"])

STRING = st.text("ab", max_size=4)
STRINGS = st.lists(STRING, min_size=1, max_size=8)
WEIGHT = st.integers(1, 9) | st.floats(0.001, 10.0)


@st.composite
def problems(draw, n_classes=2, strings=STRINGS, contradictions=True):
    """Return strings, classes as numbers and positive weights."""
    X = draw(strings)
    X = X if contradictions else sorted(set(X))
    y = draw(st.lists(st.integers(0, n_classes - 1), min_size=len(X), max_size=len(X)))
    weight = draw(st.lists(WEIGHT, min_size=len(X), max_size=len(X)))
    return X, np.array(y), np.array(weight, dtype=float)


def random_strings(rng, n, alphabet="ACGT", shortest=1, longest=8):
    lengths = rng.integers(shortest, longest + 1, n)
    return ["".join(rng.choice(list(alphabet), length)) for length in lengths]


def fitted_state(stump):
    """Return what a fit found."""
    return stump.parts_, stump.inside_, stump.outside_, stump.error_, stump.edge_


# -------------------------------------------------------------------- by the definition


def errors_of(z, X, y, weight):
    """Return the weighted errors of all pairs of classes for the substrings of z and the others."""
    inside = np.array([x in z for x in X])
    for pair in itertools.product(np.unique(y), repeat=2):
        yield np.sum(weight[np.where(inside, *pair) != y]) / weight.sum()


def least_error(X, y, weight, search):
    """Return the least error by trying every z: one string, or any number of them joined."""
    distinct = sorted(set(X))
    largest = 1 if search == "samples" else len(distinct)
    choices = (c for r in range(1, largest + 1) for c in itertools.combinations(distinct, r))
    candidates = ["|".join(chosen) for chosen in choices] + ["|".join(distinct)]
    return min(error for z in candidates for error in errors_of(z, X, y, weight))


@for_both_searches
@given(data=problems())
def test_error_is_the_least_of_all_z(search, data):
    stump = SubstringStump(search=search).fit(*data)
    np.testing.assert_allclose(stump.error_, least_error(*data, search), **EXACT)


@for_both_searches
@given(data=problems(n_classes=4))
def test_error_is_the_least_of_all_z_and_pairs_of_classes(search, data):
    stump = SubstringStump(search=search).fit(*data)
    np.testing.assert_allclose(stump.error_, least_error(*data, search), **EXACT)


@given(data=problems(n_classes=3, strings=st.lists(STRING, min_size=1, max_size=7)))
def test_no_string_at_all_is_better_than_the_closures(data):
    # All z up to four letters, whether or not they are made of training strings.
    X, y, weight = data
    every = ("".join(z) for n in range(5) for z in itertools.product("ab|", repeat=n))
    best = min(error for z in every for error in errors_of(z, X, y, weight))
    assert SubstringStump(search="closures").fit(*data).error_ <= best + 1e-12


@for_both_searches
@given(data=problems(n_classes=3))
def test_error_and_edge_are_those_of_the_predictions(search, data):
    X, y, weight = data
    stump = SubstringStump(search=search).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(stump.error_, 1 - stump.score(X, y, sample_weight=weight), **EXACT)
    np.testing.assert_allclose(stump.edge_ + stump.error_, 1 - 1 / len(stump.classes_), **EXACT)


@for_both_searches
@given(data=problems(n_classes=3), queries=st.lists(st.text("ab\0|", max_size=5), min_size=1))
def test_predictions_follow_from_the_parts(search, data, queries):
    stump = SubstringStump(search=search).fit(*data)
    inside = [any(query in part for part in stump.parts_) for query in queries]
    expected = np.where(inside, stump.inside_, stump.outside_)
    np.testing.assert_array_equal(stump.predict(queries), expected)
    z = "\n".join(stump.parts_)
    if stump.parts_:
        assert [query in z for query in queries] == inside


@for_both_searches
@given(data=problems(n_classes=3))
def test_parts_are_training_strings_and_none_is_in_another(search, data):
    stump = SubstringStump(search=search).fit(*data)
    assert set(stump.parts_) <= set(data[0])
    assert not any(a in b for a, b in itertools.permutations(stump.parts_, 2))
    assert list(stump.parts_) == sorted(stump.parts_, key=lambda part: (len(part), part))
    assert bool(stump.parts_) == (stump.inside_ != stump.outside_)


# -------------------------------------------------------------------- the order


@given(strings=st.lists(st.text("ab\0", max_size=6), min_size=1, max_size=15))
def test_containment_is_that_of_python(strings):
    order = SubstringOrder(strings)
    assert [order.strings[row] for row in order.rows] == strings
    expected = [[x in z for x in order.strings] for z in order.strings]
    np.testing.assert_array_equal(order.contains.toarray(), expected)
    assert sp.issparse(containment(order.strings))


@given(strings=st.lists(st.text("ab", max_size=6), min_size=1, max_size=15))
def test_covers_are_the_pairs_with_nothing_between(strings):
    order = SubstringOrder(strings)
    strict = order.contains.toarray() - np.eye(len(order.strings))
    between = strict @ strict
    expected = np.argwhere((strict > 0) & (between == 0))
    np.testing.assert_array_equal(sorted(zip(*order.covers)), expected.reshape(-1, 2).tolist())


@st.composite
def valued_orders(draw):
    """Return values of up to 50 bits, and pairs of an order, not all of them."""
    n = draw(st.integers(1, 8))
    size = draw(st.sampled_from([3, 2**20, 2**50 // n]))
    value = draw(st.lists(st.integers(-size, size), min_size=n, max_size=n))
    pairs = [(z, x) for z in range(n) for x in range(z)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    above, below = np.array(chosen, dtype=np.intp).reshape(-1, 2).T
    return np.array(value, dtype=np.int64), above, below


@given(data=valued_orders(), flow_bits=st.sampled_from([5, 8, 31]))
def test_maximum_closure_is_the_smallest_of_the_best(data, flow_bits):
    value, above, below = data
    if not value.any():
        return
    sets = np.array(list(itertools.product([False, True], repeat=len(value))))
    sets = sets[~np.any(sets[:, above] & ~sets[:, below], axis=1)]
    totals = sets @ value
    best = sets[totals == totals.max()]
    with pytest.MonkeyPatch.context() as patch:  # fewer bits for a flow are more stages
        patch.setattr(_substring_stump, "FLOW_BITS", flow_bits)
        found = maximum_closure(value, above, below)
    np.testing.assert_array_equal(found, best.all(axis=0))


@pytest.mark.parametrize(("sign", "parts"), [(1, ("a", "xyz")), (-1, ("x", "abc"))])
def test_closures_are_exact_beyond_the_precision_of_one_flow(sign, parts):
    # In each chain either the first string or all get the class 1; the third decides which, by
    # less than 31 bits of the total can tell.
    X, y = ["a", "ab", "abc", "x", "xy", "xyz"], [1, 0, 1, 1, 0, 1]
    tiny = sign * 2.0**-40
    weight = np.array([2, 1, 1 - tiny, 2, 1, 1 + tiny])
    stump = SubstringStump(search="closures").fit(X, y, sample_weight=weight)
    assert (stump.parts_, stump.inside_) == (parts, 1)
    assert stump.error_ == (2 - abs(tiny)) / 8


def test_closures_reach_the_minimum_of_the_linear_program(rng):
    # The constraints "x with z" are totally unimodular: the program has an integer solution.
    X = random_strings(rng, 400, "abc", longest=7)
    y, weight = rng.integers(0, 2, 400), rng.exponential(size=400)
    order = SubstringOrder(X)
    above, below = order.contains.nonzero()
    pairs, ones = np.arange(len(above)), np.ones(len(above))
    with_others = sp.coo_array((ones, (pairs, above))) - sp.coo_array((ones, (pairs, below)))
    value = np.bincount(order.rows, weights=np.where(y == 1, weight, -weight))
    gains = [
        weight[y == outside].sum()
        - linprog(sign * value, A_ub=with_others, b_ub=0 * ones, bounds=(0, 1)).fun
        for outside, sign in [(0, -1), (1, 1)]
    ]
    stump = SubstringStump(search="closures").fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(1 - stump.error_, max(gains) / weight.sum(), **ALGEBRA)
    assert 1 < len(stump.parts_)


def test_closures_remember_all_strings_if_none_contains_another(rng):
    X = sorted(set(random_strings(rng, 200, shortest=20, longest=20)))
    y = rng.integers(0, 2, len(X))
    stump = SubstringStump(search="closures").fit(X, y)
    assert stump.error_ == 0
    assert set(stump.parts_) in ({x for x, c in zip(X, y) if c == k} for k in (0, 1))


# -------------------------------------------------------------------- weak universality


@for_both_searches
@given(data=problems(contradictions=False))
def test_error_is_less_than_one_half_without_contradictions(search, data):
    stump = SubstringStump(search=search).fit(*data)
    assert stump.error_ < 0.5
    assert stump.edge_ > 0 or len(stump.classes_) == 1


@for_both_searches
@given(data=problems(n_classes=4, contradictions=False))
def test_error_is_less_than_that_of_a_guess_among_several_classes(search, data):
    stump = SubstringStump(search=search).fit(*data)
    assert stump.edge_ > 0 or len(stump.classes_) == 1


@for_both_searches
def test_weights_adjusted_against_a_stump_leave_another_one(search, rng):
    # The hardest weights for boosting: the last stump is as bad as a guess.
    X = sorted(set(random_strings(rng, 30, "ab", longest=5)))
    y = rng.integers(0, 2, len(X))
    weight = np.ones(len(X))
    for _ in range(50):
        stump = SubstringStump(search=search).fit(X, y, sample_weight=weight)
        assert stump.edge_ > 0
        wrong = stump.predict(X) != y
        if not wrong.any():
            break
        weight = np.where(wrong, weight / weight[wrong].sum(), weight / weight[~wrong].sum())


@for_both_searches
def test_balanced_contradictions_leave_a_constant(search):
    X, y = ["a", "a", "ab", "ab"], [0, 1, 1, 0]
    stump = SubstringStump(search=search).fit(X, y)
    assert stump.error_ == 0.5
    assert stump.edge_ == 0
    assert stump.parts_ == ()


def boosted_scores(X, sign, search, n_rounds):
    """Return the scores of AdaBoost's vote on the training strings, and its bound on the error."""
    shared, codes, classes = SubstringOrder(X), (sign > 0).astype(int), np.array([-1, 1])
    weight = np.full(len(X), 1 / len(X))
    score, bound = np.zeros(len(X)), 1.0
    for _ in range(n_rounds):
        stump = SubstringStump(search=search)._fit_shared(shared, classes, codes, weight)
        said = classes[stump._codes_on(shared)]
        error = weight[said != sign].sum() / weight.sum()
        np.testing.assert_allclose(stump.error_, error, **EXACT)
        if error < 1e-12:
            return said, 0.0
        bound *= 2 * np.sqrt(error * (1 - error))
        alpha = 0.5 * np.log((1 - error) / error)
        score += alpha * said
        weight = np.exp(-sign * score)
        weight /= weight.sum()
        if bound * len(X) < 1:
            break
    return score, bound


@for_both_searches
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("n", "alphabet", "longest"), [(25, "ab", 5), (40, "ACGT", 6), (20, "ACGT", 20)]
)
def test_boosting_drives_the_training_error_to_zero(search, seed, n, alphabet, longest):
    rng = np.random.default_rng(seed)
    X = sorted(set(random_strings(rng, n, alphabet, longest=longest)))
    sign = rng.choice([-1, 1], len(X))
    score, bound = boosted_scores(X, sign, search, n_rounds=5000)
    assert bound * len(X) < 1  # the theorem: then no mistake is left
    assert np.all(score * sign > 0)


# -------------------------------------------------------------------- symmetries


@for_both_searches
@given(data=problems(n_classes=3), dice=st.randoms())
def test_order_of_the_rows_does_not_matter(search, data, dice):
    X, y, weight = data
    rows = list(range(len(X)))
    dice.shuffle(rows)
    stump = SubstringStump(search=search)
    first = fitted_state(stump.fit(X, y, sample_weight=weight))
    again = stump.fit([X[row] for row in rows], y[rows], sample_weight=weight[rows])
    assert fitted_state(again) == first


@for_both_searches
@given(data=problems(n_classes=3), times=st.lists(st.integers(0, 4), min_size=8, max_size=8))
def test_integer_weight_is_repetition_and_zero_is_removal(search, data, times):
    X, y, _ = data
    times = np.array(times[: len(X)])
    if not times.any():
        return
    stump = SubstringStump(search=search)
    weighted = fitted_state(stump.fit(X, y, sample_weight=times))
    rows = np.repeat(np.arange(len(X)), times)
    assert fitted_state(stump.fit([X[row] for row in rows], y[rows])) == weighted


@for_both_searches
@given(data=problems(n_classes=2), times=st.lists(st.integers(0, 4), min_size=8, max_size=8))
def test_strings_of_weight_zero_in_a_shared_order_are_as_if_removed(search, data, times):
    X, y, _ = data
    times = np.array(times[: len(X)], dtype=float)
    rows = np.flatnonzero(times)
    if len(np.unique(y[rows])) < 2:
        return
    classes, shared = np.array([0, 1]), SubstringOrder(X)
    member = SubstringStump(search=search)._fit_shared(shared, classes, y, times)
    removed = SubstringStump(search=search).fit([X[row] for row in rows], y[rows], times[rows])
    assert fitted_state(member) == fitted_state(removed)
    np.testing.assert_array_equal(classes[member._codes_on(shared)], removed.predict(X))


@for_both_searches
@given(data=problems(contradictions=False))
def test_flipped_labels_give_the_flipped_stump(search, data):
    X, y, weight = data
    if len(np.unique(y)) < 2:
        return
    stump = SubstringStump(search=search).fit(X, y, sample_weight=weight)
    flipped = SubstringStump(search=search).fit(X, 1 - y, sample_weight=weight)
    assert flipped.parts_ == stump.parts_
    assert (flipped.inside_, flipped.outside_) == (1 - stump.inside_, 1 - stump.outside_)
    assert flipped.error_ == stump.error_


@for_both_searches
@given(data=problems(n_classes=3))
def test_scale_of_the_weights_does_not_matter(search, data):
    X, y, weight = data
    stump = SubstringStump(search=search)
    state = fitted_state(stump.fit(X, y, sample_weight=weight))
    for scale in (2.0**-1000, 2.0**1019):
        assert fitted_state(stump.fit(X, y, sample_weight=weight * scale)) == state


@for_both_searches
@given(data=problems(n_classes=3, strings=st.lists(st.text("ab", max_size=4), min_size=1)))
def test_reversed_and_renamed_letters_change_nothing_but_names(search, data):
    X, y, weight = data
    names = {"a": "\0", "b": "\U0010ffff"}
    renamed = ["".join(names[letter] for letter in reversed(x)) for x in X]
    stump = SubstringStump(search=search)
    error = stump.fit(X, y, sample_weight=weight).error_
    assert stump.fit(renamed, y, sample_weight=weight).error_ == error


def test_ties_go_to_short_strings_in_alphabetical_order(rng):
    # None contains another: all single strings are equally good, and so are both classes.
    X, y = np.array(["fff", "c", "ggg", "bb", "ba", "hhh"]), np.array([1, 0, 1, 0, 0, 1])
    for _ in range(5):
        rows = rng.permutation(6)
        X, y = X[rows], y[rows]
        assert SubstringStump().fit(X, y).parts_ == ("c",)
        rest = ~np.isin(X, ["c", "hhh"])
        assert SubstringStump().fit(X[rest], y[rest]).parts_ == ("ba",)
        for labels in (y, 1 - y):
            stump = SubstringStump(search="closures").fit(X, labels)
            assert stump.parts_ == ("c", "ba", "bb")


# -------------------------------------------------------------------- special cases


@for_both_searches
def test_one_class_is_a_constant(search):
    stump = SubstringStump(search=search).fit(["a", "ab", ""], ["only"] * 3)
    assert stump.parts_ == ()
    assert stump.inside_ == stump.outside_ == "only"
    assert (stump.error_, stump.edge_) == (0, 0)
    assert stump.predict(["", "a", "zzz"]).tolist() == ["only"] * 3


@for_both_searches
def test_empty_string_is_in_every_string(search):
    X, y = ["", "a", "ab"], [1, 0, 0]
    stump = SubstringStump(search=search).fit(X, y)
    assert stump.parts_ == ("",)
    assert stump.predict(["", "a", "x"]).tolist() == [1, 0, 0]
    assert SubstringStump(search=search).fit([""], [3]).predict(["", "b"]).tolist() == [3, 3]


@for_both_searches
def test_class_without_weight_is_not_there(search):
    stump = SubstringStump(search=search)
    stump.fit(["a", "b", "c"], ["x", "y", "z"], sample_weight=[1, 0, 2])
    assert stump.classes_.tolist() == ["x", "z"]


def test_several_classes_share_a_z():
    X = ["a", "ab", "b", "c", "cd", "e"]
    y = ["ab", "ab", "ab", "cd", "cd", "rest"]
    stump = SubstringStump().fit(X, y)
    assert (stump.parts_, stump.inside_, stump.outside_) == (("ab",), "ab", "cd")
    assert stump.error_ == pytest.approx(1 / 6)


def test_query_with_the_joining_letter_is_in_no_part():
    parts = ("ab", "cd")
    joined = [f"b{chr(code)}c" for code in range(200)]
    assert not occur_in([*joined, "bc", "abcd"], parts).any()
    assert occur_in(["", "a", "cd"], parts).all()


# -------------------------------------------------------------------- forms of the input

TEXTS, LABELS = ["he", "her", "here", "is", "this", "his"], ["e", "e", "e", "i", "i", "i"]


@pytest.mark.parametrize(
    "form",
    [
        list,
        tuple,
        np.array,
        lambda texts: np.array(texts, dtype=object),
        lambda texts: np.array(texts)[:, None],
        lambda texts: np.array(texts, dtype=object)[:, None],
        lambda texts: pd.Series(texts, index=range(10, 10 + len(texts))),
        lambda texts: pd.Series(texts, dtype="string"),
        lambda texts: pd.DataFrame({"text": texts}),
        lambda texts: [np.str_(text) for text in texts],
    ],
)
def test_every_sequence_of_strings_is_read(form):
    stump = SubstringStump().fit(form(TEXTS), LABELS)
    assert stump.parts_ == ("here",)
    assert all(type(part) is str for part in stump.parts_)
    assert stump.predict(form(["re", "hiss"])).tolist() == ["e", "i"]


def test_text_of_a_subclass_is_its_value():
    class Word(str):
        def __str__(self):
            return "another text"

    stump = SubstringStump().fit([Word("a"), "x", "y"], [0, 1, 1])
    assert stump.parts_ == ("a",)
    assert type(stump.parts_[0]) is str
    assert stump.predict([Word("ba"), Word("a")]).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ("abc", TypeError, "single str"),
        ([], ValueError, "0 samples"),
        (["a", None, "b"], TypeError, r"X\[1\] is None"),
        (["a", "b", np.nan], TypeError, r"X\[2\] is nan"),
        ([b"a", b"b", b"c"], TypeError, "decode"),
        ([1, 2, 3], TypeError, r"X\[0\] is 1"),
        (np.eye(3), ValueError, r"shape \(3, 3\)"),
        (np.array([["a", "b"]] * 3), ValueError, r"shape \(3, 2\)"),
        ({"a", "b", "c"}, TypeError, "set"),
        (iter("abc"), TypeError, "must be a sequence"),
        (sp.eye_array(3, format="csr"), TypeError, "must be a sequence"),
        (pd.Series(["a", None, "b"]), TypeError, r"X\[1\]"),
    ],
)
def test_anything_but_strings_is_refused(X, error, message):
    with pytest.raises(error, match=message):
        SubstringStump().fit(X, [0, 1, 1])
    stump = SubstringStump().fit(TEXTS, LABELS)
    with pytest.raises(error, match=message):
        stump.predict(X)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a", "b"], [0, 1, 1]), "inconsistent"),
        ((["a", "b"], None), "y"),
        ((["a", "b"], [0.5, 1.5]), "continuous"),
        ((["a", "b"], [[0, 1], [1, 0]]), "1d"),
        ((["a", "b"], [0, np.nan]), "NaN"),
        ((["a", "b"], [0, 1], [0, 0]), "weight"),
        ((["a", "b"], [0, 1], [1, -1]), "[Nn]egative"),
        ((["a", "b"], [0, 1], [1, np.inf]), "inf"),
        ((["a", "b"], [0, 1], [1, 1, 1]), "sample_weight"),
    ],
)
def test_bad_targets_and_weights_are_refused_and_leave_the_old_model(arguments, message):
    with pytest.raises(ValueError, match=message):
        SubstringStump().fit(*arguments)
    stump = SubstringStump().fit(TEXTS, LABELS)
    before = dict(vars(stump))
    with pytest.raises(ValueError, match=message):
        stump.fit(*arguments)
    assert all(vars(stump)[name] is value for name, value in before.items())
    assert vars(stump).keys() == before.keys()


def test_bad_search_is_refused():
    with pytest.raises(ValueError, match="'search' parameter of SubstringStump"):
        SubstringStump(search="all").fit(TEXTS, LABELS)


def test_weights_of_a_shared_fit_must_not_all_be_zero():
    with pytest.raises(ValueError, match="sample_weight must have a positive entry"):
        SubstringStump()._fit_shared(
            SubstringOrder(["a", "b"]), np.array([0, 1]), np.array([0, 1]), np.zeros(2)
        )


# -------------------------------------------------------------------- in the ecosystem


@for_both_searches
def test_pickle_and_clone_predict_the_same(search):
    stump = SubstringStump(search=search).fit(TEXTS, LABELS)
    copy = pickle.loads(pickle.dumps(stump))
    assert fitted_state(copy) == fitted_state(stump)
    assert copy.predict(TEXTS).tolist() == stump.predict(TEXTS).tolist()
    twin = clone(stump)
    assert twin.search == search
    with pytest.raises(NotFittedError):
        twin.predict(TEXTS)
    assert fitted_state(twin.fit(TEXTS, LABELS)) == fitted_state(stump)


def test_tags_say_that_samples_are_strings():
    tags = get_tags(SubstringStump())
    assert tags.estimator_type == "classifier"
    assert tags.input_tags.string
    assert tags.input_tags.one_d_array
    assert not tags.input_tags.two_d_array


def test_lives_in_pipelines_and_searches(rng):
    X = random_strings(rng, 40, "ab", longest=4)
    y = rng.integers(0, 2, 40)
    lower = FunctionTransformer(lambda strings: [string.upper() for string in strings])
    model = make_pipeline(lower, SubstringStump())
    assert cross_val_score(model, X, y, cv=3).shape == (3,)
    grid = GridSearchCV(SubstringStump(), {"search": ["samples", "closures"]}, cv=3)
    grid.fit(np.array(X), y, sample_weight=np.arange(1, 41))
    assert grid.best_params_["search"] in ("samples", "closures")


def test_shared_order_serves_many_fits(rng):
    X = random_strings(rng, 60, "ab", longest=6)
    y = rng.integers(0, 3, 60)
    shared, classes = SubstringOrder(X), np.arange(3)
    for _ in range(5):
        weight = rng.exponential(size=60)
        for search in ("samples", "closures"):
            member = SubstringStump(search=search)._fit_shared(shared, classes, y, weight)
            alone = SubstringStump(search=search).fit(X, y, sample_weight=weight)
            assert fitted_state(member) == fitted_state(alone)
            np.testing.assert_array_equal(classes[member._codes_on(shared)], alone.predict(X))
