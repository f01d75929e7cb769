"""The kernels for sets and strings: inner products of explicit features."""

import _thread
import pickle
import threading
import time

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from _clock import ANSWER_SECONDS, slowness
from conftest import ALGEBRA, EXACT
from hypothesis import given
from hypothesis import strategies as st
from reference import strings as reference
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from sklearn_sl.kernels import (
    GapWeighted,
    Mismatch,
    SetIntersection,
    Spectrum,
    _strings,
    _structured,
    _subsequences,
    _substrings,
)
from sklearn_sl.kernels._base import gram, gram_blocks

STRING_KERNELS = [
    Spectrum(p=1),
    Spectrum(p=3),
    Mismatch(k=3, m=1, alphabet_size=5),
    Mismatch(k=2, m=2, alphabet_size=5),
    GapWeighted(p=1, decay=0.7),
    GapWeighted(p=2),
    GapWeighted(p=3, decay=0.9),
    GapWeighted(p=4, decay=1.0),
    GapWeighted(p=5, decay=0.6),
    GapWeighted(p=7, decay=0.8),
]
SHORT = st.text("abc", max_size=8)
every_string_kernel = pytest.mark.parametrize("kernel", STRING_KERNELS, ids=repr)


def random_strings(rng, n, alphabet="ACGT", longest=30):
    lengths = rng.integers(0, longest + 1, n)
    return ["".join(rng.choice(list(alphabet), length)) for length in lengths]


def random_sets(rng, n, n_elements=9):
    return [frozenset(np.flatnonzero(rng.random(n_elements) < 0.4).tolist()) for _ in range(n)]


# -------------------------------------------------------------------- explicit features


@given(s=SHORT, t=SHORT, p=st.integers(1, 4))
def test_spectrum_is_the_inner_product_of_substring_counts(s, t, p):
    features = [reference.spectrum_features(x, p, "abc") for x in (s, t)]
    assert Spectrum(p)([s], [t]) == features[0] @ features[1]


def test_spectrum_of_the_book_examples():
    assert Spectrum(p=2)(["ACGT"], ["CGTA"]) == 2
    assert Spectrum(p=3)(["AGTAGT"], ["AGT"]) == 2


@given(s=SHORT, t=SHORT, k=st.integers(1, 4), m=st.integers(0, 4), extra=st.integers(0, 2))
def test_mismatch_is_the_inner_product_over_all_kmers_of_the_alphabet(s, t, k, m, extra):
    m = min(m, k)
    alphabet = "abcde"[: 3 + extra]
    features = [reference.mismatch_features(x, k, m, alphabet) for x in (s, t)]
    K = Mismatch(k, m, len(alphabet))([s], [t])
    np.testing.assert_allclose(K, features[0] @ features[1], **EXACT)


@pytest.mark.parametrize("k, m, size", [(1, 0, 1), (1, 1, 2), (3, 1, 2), (4, 2, 3), (5, 3, 2)])
@pytest.mark.parametrize("few_windows", [0, 10**9])
def test_mismatch_by_counts_and_by_diagonals_equal_the_enumeration(
    monkeypatch, rng, k, m, size, few_windows
):
    monkeypatch.setattr(_substrings, "FEW_WINDOWS", few_windows)
    alphabet = "abc"[:size]
    X = random_strings(rng, 12, alphabet, longest=40)
    features = np.array([reference.mismatch_features(s, k, m, alphabet) for s in X])
    np.testing.assert_allclose(Mismatch(k, m, size)(X), features @ features.T, **EXACT)
    np.testing.assert_allclose(Mismatch(k, m, size)(X[:5], X), features[:5] @ features.T, **EXACT)


def test_mismatch_without_mismatches_is_the_spectrum(rng):
    X = random_strings(rng, 10)
    np.testing.assert_array_equal(Mismatch(k=4, m=0)(X), Spectrum(p=4)(X))


@given(s=SHORT, t=SHORT, p=st.integers(1, 6), decay=st.sampled_from([0.01, 0.3, 0.5, 1.0]))
def test_gap_weighted_is_the_inner_product_over_subsequences(s, t, p, decay):
    features = [reference.gap_weighted_features(x, p, decay, "abc") for x in (s, t)]
    K = GapWeighted(p, decay)([s], [t])
    np.testing.assert_allclose(K[0, 0], features[0] @ features[1], rtol=1e-12, atol=0)


@pytest.mark.parametrize("p", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("decay", [0.2, 0.8, 1.0])
def test_gap_weighted_equals_its_twins(rng, p, decay):
    X, Y = random_strings(rng, 5), random_strings(rng, 11)
    K = GapWeighted(p, decay)(X, Y)
    for twin in (reference.gap_weighted, reference.gap_weighted_by_rows):
        np.testing.assert_allclose(K, [[twin(s, t, p, decay) for t in Y] for s in X], **ALGEBRA)


def test_gap_weighted_of_the_book_example():
    decay = 0.3
    K = GapWeighted(p=2, decay=decay)(["cat"], ["cat", "car", "bat", "dog"])
    expected = [2 * decay**4 + decay**6, decay**4, decay**4, 0]
    np.testing.assert_allclose(K[0], expected, **EXACT)


@pytest.mark.parametrize("slope", [False, True])
@pytest.mark.parametrize("p", [1, 2, 3, 4, 5, 6])
def test_every_instruction_set_gives_the_same_sums(monkeypatch, rng, p, slope):
    X = random_strings(rng, 21)
    sets = range(1, _strings.instruction_sets() + 1)
    results = []
    for instruction_set in sets:
        monkeypatch.setattr(
            _subsequences, "instruction_sets", lambda chosen=instruction_set: chosen
        )
        results.append(GapWeighted(p, 0.7)(X, eval_gradient=slope))
    for result in results[1:]:
        for values, expected in zip(result, results[0]):
            np.testing.assert_allclose(values, expected, **EXACT)


@pytest.mark.parametrize("slice_steps", [1, 1000])
@every_string_kernel
def test_small_slices_equal_large_ones(monkeypatch, rng, kernel, slice_steps):
    X = random_strings(rng, 13, longest=15)
    whole, gradient = kernel(X, eval_gradient=True)
    diagonal = kernel.diag(X)
    monkeypatch.setattr(_structured, "SLICE_STEPS", slice_steps)
    sliced, sliced_gradient = kernel(X, eval_gradient=True)
    np.testing.assert_array_equal(sliced, whole)
    np.testing.assert_array_equal(sliced_gradient, gradient)
    np.testing.assert_array_equal(kernel.diag(X), diagonal)


@pytest.mark.parametrize("base", [1.0, 1.5, 2.0, 3.0])
def test_set_intersection_counts_common_subsets_weighted_by_size(rng, base):
    A = random_sets(rng, 6)
    K = SetIntersection(base)(A)
    common = [[sum((base - 1) ** len(C) for C in reference.subsets(a & b)) for b in A] for a in A]
    np.testing.assert_allclose(K, common, **EXACT)


def test_set_intersection_is_the_inner_product_of_subset_indicators(rng):
    A = random_sets(rng, 8, n_elements=6)
    features = np.array([[C <= a for C in reference.subsets(range(6))] for a in A], float)
    np.testing.assert_array_equal(SetIntersection()(A), features @ features.T)
    members = np.array([[e in a for e in range(6)] for a in A], float)
    np.testing.assert_array_equal(SetIntersection(base=None)(A), members @ members.T)


def test_all_subsets_of_three_elements_have_the_spectrum_of_a_threefold_product():
    values = np.linalg.eigvalsh(SetIntersection()(reference.subsets("abc")))
    # The Gram matrix is the third Kronecker power of [[1, 1], [1, 2]].
    small, large = np.linalg.eigvalsh([[1, 1], [1, 2]])
    powers = [small**3] + 3 * [small**2 * large] + 3 * [small * large**2] + [large**3]
    np.testing.assert_allclose(values, powers, **ALGEBRA)
    np.testing.assert_allclose(
        values, [0.0557] + 3 * [0.382] + 3 * [2.618] + [17.944], rtol=1e-3, atol=0
    )


@pytest.mark.parametrize("n_elements", [5, 3000])
@pytest.mark.parametrize("dense_features", [0, 10**6])
def test_sparse_and_dense_products_count_the_same(monkeypatch, rng, n_elements, dense_features):
    monkeypatch.setattr(_structured, "DENSE_FEATURES", dense_features)
    A = random_sets(rng, 20, n_elements)
    K = SetIntersection(base=None)(A, A[:7])
    np.testing.assert_array_equal(K, [[len(a & b) for b in A[:7]] for a in A])


# -------------------------------------------------------------------- Gram matrices


@every_string_kernel
def test_gram_matrices_of_strings_are_positive_semidefinite(rng, kernel):
    K = kernel(random_strings(rng, 40))
    np.testing.assert_array_equal(K, K.T)
    values = np.linalg.eigvalsh(K)
    assert values[0] >= -1e-10 * values[-1]


@every_string_kernel
def test_blocks_equal_the_matrix_of_the_union_of_strings(rng, kernel):
    X, Y = random_strings(rng, 19), random_strings(rng, 10)
    whole = kernel(X + Y)
    np.testing.assert_allclose(kernel(X, Y), whole[:19, 19:], **EXACT)
    np.testing.assert_allclose(kernel(Y, X), whole[19:, :19], **EXACT)
    np.testing.assert_allclose(kernel(X), whole[:19, :19], **EXACT)
    np.testing.assert_allclose(kernel.diag(X + Y), np.diag(whole), **EXACT)


@every_string_kernel
def test_large_matrices_are_assembled_from_tiles(rng, kernel):
    X = random_strings(rng, 530, longest=6)
    K = gram(kernel, X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(K[500:], kernel(X[500:], X), **EXACT)
    for rows, block in gram_blocks(kernel, X, X):
        np.testing.assert_allclose(block, K[rows], **EXACT)


@pytest.mark.parametrize("base", [None, 2.0, 1.3])
def test_blocks_equal_the_matrix_of_the_union_of_sets(rng, base):
    kernel = SetIntersection(base)
    A, B = random_sets(rng, 12), [*random_sets(rng, 5, n_elements=15), frozenset()]
    whole = kernel(A + B)
    np.testing.assert_array_equal(kernel(A, B), whole[:12, 12:])
    np.testing.assert_array_equal(kernel(B, A), whole[12:, :12])
    np.testing.assert_array_equal(kernel.diag(A + B), np.diag(whole))
    assert np.linalg.eigvalsh(whole)[0] >= -1e-9


@every_string_kernel
def test_empty_and_short_strings_are_similar_to_nothing_longer(kernel):
    K = kernel(["", "a", "abcabcabc"])
    assert K[0, 0] == K[0, 1] == K[0, 2] == 0
    assert K[2, 2] > 0
    np.testing.assert_array_equal(kernel(["", ""]), np.zeros((2, 2)))
    np.testing.assert_array_equal(kernel(["", ""], ["abcabcabc"]), np.zeros((2, 1)))
    np.testing.assert_array_equal(kernel.diag(["", "abcabcabc"]), [0, K[2, 2]])


@every_string_kernel
def test_letters_are_code_points_of_any_plane(kernel):
    plain = ["aabbab", "abcab", "bca"]
    astral = [s.translate({97: 0x1F600, 98: 0x10FFFF, 99: 0xE9}) for s in plain]
    np.testing.assert_array_equal(kernel(astral), kernel(plain))
    surrogate = [s.replace("a", "\ud800") for s in plain]
    np.testing.assert_array_equal(kernel(surrogate), kernel(plain))
    np.testing.assert_array_equal(kernel([s.encode() for s in plain]), kernel(plain))


def test_windows_longer_than_a_machine_word_are_told_apart(rng):
    long = "".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), 100))
    X = [long, "z" + long[1:], long[:-1] + "é", long + long]
    np.testing.assert_array_equal(Spectrum(p=100)(X)[0], [1, float(long[0] == "z"), 0, 2])
    np.testing.assert_array_equal(Spectrum(p=99)(X)[0, :3], [2, 1 + (long[0] == "z"), 1])


@every_string_kernel
def test_containers_of_strings_are_all_the_same(kernel):
    X = ["aabb", "abab", "bbcab"]
    K = kernel(X)
    column = np.array(X, dtype=object)[:, None]
    containers = [
        tuple(X),
        np.array(X),
        np.array(X, dtype=object),
        np.array(X, dtype=np.dtypes.StringDType()),
        np.array(X, dtype="S"),
        pd.Series(X, index=[7, 8, 9]),
        pd.Series(X, dtype="string"),
        column,
        column.astype(str),
        pd.DataFrame({"text": X}),
    ]
    for container in containers:
        np.testing.assert_array_equal(kernel(container), K)


def test_containers_of_sets_are_all_the_same():
    A = [{1, 2, 3}, {2}, {3, 4}]
    K = SetIntersection()(A)
    boxed = np.empty(3, dtype=object)
    boxed[:] = A
    for container in (
        [frozenset(a) for a in A],
        tuple(A),
        boxed,
        boxed[:, None],
        pd.Series(A),
        [[1, 2, 3, 3, 1], (2,), iter([4, 3])],
    ):
        np.testing.assert_array_equal(SetIntersection()(container), K)


# -------------------------------------------------------------------- hyper-parameters


@pytest.mark.parametrize(
    "kernel",
    [*(GapWeighted(p, 0.6) for p in (1, 2, 3, 5, 6)), GapWeighted(2) * Spectrum(1)],
    ids=repr,
)
def test_gradient_in_log_decay_is_the_limit_of_differences(rng, kernel):
    assert_gradient_is_the_limit_of_differences(kernel, random_strings(rng, 11, longest=12))


@pytest.mark.parametrize("base", [1.2, 2.0, 5.0])
def test_gradient_in_log_base_is_the_limit_of_differences(rng, base):
    assert_gradient_is_the_limit_of_differences(SetIntersection(base), random_sets(rng, 9))


def assert_gradient_is_the_limit_of_differences(kernel, X):
    _, gradient = kernel(X, eval_gradient=True)
    assert gradient.shape == (len(X), len(X), 1)
    step = 1e-5
    above, below = (kernel.clone_with_theta(kernel.theta + h)(X) for h in (step, -step))
    differences = (above - below) / (2 * step)
    scale = np.abs(differences).max()
    np.testing.assert_allclose(gradient[:, :, 0], differences, rtol=1e-6, atol=1e-8 * scale)


def test_theta_is_the_logarithm_of_the_free_parameters():
    assert GapWeighted(decay=0.25).theta == np.log(0.25)
    assert SetIntersection(base=3.0).theta == np.log(3)
    fixed = [
        Spectrum(),
        Mismatch(),
        SetIntersection(base=None),
        SetIntersection(base_bounds="fixed"),
        GapWeighted(decay_bounds="fixed"),
    ]
    for kernel in fixed:
        assert kernel.n_dims == 0
    assert fixed[2]([{1}], eval_gradient=True)[1].shape == (1, 1, 0)
    assert fixed[4](["ab"], eval_gradient=True)[1].shape == (1, 1, 0)


@pytest.mark.parametrize(
    "kernel", [*STRING_KERNELS, SetIntersection(), SetIntersection(base=None)], ids=repr
)
def test_kernels_survive_clone_and_pickle_and_compare_by_parameters(kernel):
    assert clone(kernel) == kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert type(kernel)() == type(kernel)()
    assert not kernel.requires_vector_input
    assert not kernel.is_stationary()


def test_kernels_write_themselves_as_they_are_made():
    assert repr(GapWeighted(3, 0.25)) == "GapWeighted(p=3, decay=0.25)"
    assert repr(SetIntersection(base=None)) == "SetIntersection(base=None)"
    assert repr(Mismatch()) == "Mismatch(k=3, m=1, alphabet_size=4)"


# -------------------------------------------------------------------- in scikit-learn


@pytest.fixture
def genes(rng):
    """Return strings, half of which hide the motif GATTACA."""
    X = random_strings(rng, 40, longest=25)
    y = np.arange(40) % 2
    return [s + "GATTACA" * label for s, label in zip(X, y)], y


@pytest.mark.parametrize("container", [list, np.array, pd.Series])
def test_svc_takes_a_string_kernel(genes, container):
    X, y = genes
    X = container(X)
    machine = SVC(kernel=Spectrum(p=4)).fit(X, y)
    table = SVC(kernel="precomputed").fit(Spectrum(p=4)(X), y)
    np.testing.assert_allclose(
        machine.decision_function(X), table.decision_function(Spectrum(p=4)(X)), **ALGEBRA
    )
    assert machine.score(X, y) > 0.9


def test_grid_search_tunes_a_string_kernel(genes):
    X, y = genes
    grid = {"kernel__p": [1, 4], "C": [0.01, 1.0]}
    search = GridSearchCV(SVC(kernel=Spectrum()), grid, cv=4).fit(X, y)
    assert search.best_params_["kernel__p"] == 4
    assert search.predict(X).shape == (40,)


def test_svc_takes_a_set_kernel(rng):
    A = random_sets(rng, 40)
    y = [3 in a for a in A]
    assert SVC(kernel=SetIntersection(), C=10).fit(A, y).score(A, y) == 1


def test_kernel_ridge_takes_the_gram_matrix_of_strings(genes):
    X, y = genes
    K = GapWeighted(p=3)(X)
    ridge = KernelRidge(alpha=1e-3, kernel="precomputed").fit(K, y)
    coef = np.linalg.solve(K + 1e-3 * np.eye(40), y)
    np.testing.assert_allclose(ridge.predict(K), K @ coef, **ALGEBRA)


def test_gaussian_process_learns_the_decay_of_strings(rng):
    X = random_strings(rng, 25, longest=8)
    # Targets drawn from the process itself, with decay 0.2; the start is elsewhere.
    K = GapWeighted(p=1, decay=0.2)(X)
    y = np.linalg.cholesky(K + 1e-6 * np.eye(25)) @ rng.normal(size=25)
    start = GapWeighted(p=1, decay=0.9)
    process = GaussianProcessRegressor(start, alpha=1e-6).fit(X, y)
    assert process.log_marginal_likelihood_value_ > process.log_marginal_likelihood(start.theta)
    assert process.kernel_.decay != 0.9
    mean, deviation = process.predict(X[:5], return_std=True)
    assert mean.shape == deviation.shape == (5,)


def test_gaussian_process_learns_the_base_of_sets(rng):
    A = random_sets(rng, 20)
    y = [float(len(a)) for a in A]
    process = GaussianProcessRegressor(1.0 * SetIntersection(), alpha=0.1).fit(A, y)
    np.testing.assert_allclose(process.predict(A), y, atol=1.0)


# -------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "X, error, message",
    [
        ("ACGT", TypeError, r"X is a single str: pass a list of strings, such as \[X\]"),
        (b"ACGT", TypeError, "X is a single bytes"),
        (3.0, TypeError, "X must be a sequence of strings, got float"),
        ({"a"}, TypeError, "X must be a sequence of strings, got set"),
        (sp.eye_array(3), TypeError, "X must be a sequence of strings"),
        ([], ValueError, "X has 0 samples"),
        (["a", "b", "c", np.nan], TypeError, r"X\[3\] must be a str for string kernels; got nan"),
        (["a", None], TypeError, r"X\[1\] must be a str .*; got None .* impute missing values"),
        (pd.Series(["a", None], dtype="string"), TypeError, r"X\[1\] must be a str .*; got <NA>"),
        ([1, 2], TypeError, r"X\[0\] must be a str for string kernels; got 1 of type int"),
        ([["a"], ["b"]], TypeError, r"X\[0\] must be a str .*; got \['a'\] of type list"),
        (["a", b"b"], TypeError, r"all str or all bytes; got X\[1\] of type bytes"),
        ([b"a", "b"], TypeError, r"all str or all bytes; got X\[1\] of type str"),
        (np.array([["a", "b"]]), ValueError, r"X has the shape \(1, 2\): .* one column"),
        (np.array("a"), ValueError, r"X has the shape \(\)"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("kernel", [Spectrum(), Mismatch(), GapWeighted()], ids=repr)
def test_what_is_not_a_sequence_of_strings_is_refused_by_name(kernel, X, error, message):
    for evaluate in (kernel, kernel.diag, lambda X: kernel(["a"], X)):
        with pytest.raises(error, match=message):
            evaluate(X)


@every_string_kernel
def test_str_and_bytes_are_not_compared(kernel):
    with pytest.raises(TypeError, match="X and Y must be all str or all bytes"):
        kernel(["ab"], [b"ab"])


@pytest.mark.parametrize(
    "X, error, message",
    [
        ("abc", TypeError, "X is a single str: pass a list of sets"),
        ({1, 2}, TypeError, "X must be a sequence of sets, got set"),
        ([{1}, "ab"], TypeError, r"X\[1\] must be a set; got str. For strings use Spectrum"),
        ([{1}, np.nan], TypeError, r"X\[1\] must be a set of hashable elements; got nan"),
        ([{1}, None], TypeError, r"X\[1\] must be a set of hashable elements; got None"),
        ([[1], [[2]]], TypeError, r"X\[1\] must be a set of hashable elements; got \[\[2\]\]"),
        ([{1}, {np.nan}], ValueError, "contain nan"),
        ([], ValueError, "X has 0 samples"),
        (np.eye(3), ValueError, r"X has the shape \(3, 3\): pass a sequence of sets"),
    ],
    ids=repr,
)
def test_what_is_not_a_sequence_of_sets_is_refused_by_name(X, error, message):
    for evaluate in (SetIntersection(), SetIntersection().diag):
        with pytest.raises(error, match=message):
            evaluate(X)


@pytest.mark.parametrize(
    "kernel, message",
    [
        (Spectrum(p=0), "p of Spectrum must be an integer >= 1; got 0"),
        (Spectrum(p=2.0), "p of Spectrum must be an integer"),
        (Spectrum(p=True), "p of Spectrum must be an integer"),
        (Mismatch(k=0), "k of Mismatch must be an integer >= 1"),
        (Mismatch(m=-1), "m of Mismatch must be an integer >= 0"),
        (Mismatch(k=2, m=3), "m must be at most k in Mismatch; got m=3 and k=2"),
        (Mismatch(alphabet_size=0), "alphabet_size of Mismatch must be an integer >= 1"),
        (
            Mismatch(alphabet_size=2),
            "alphabet_size of Mismatch must be at least 3, the number of distinct letters",
        ),
        (GapWeighted(p=0), "p of GapWeighted must be an integer >= 1"),
        (GapWeighted(decay=0.0), r"decay of GapWeighted must be a float in \(0, 1\]; got 0.0"),
        (GapWeighted(decay=1.5), r"decay of GapWeighted must be a float in \(0, 1\]"),
        (GapWeighted(decay=float("nan")), r"decay of GapWeighted must be a float in \(0, 1\]"),
        (GapWeighted(decay="fast"), r"decay of GapWeighted must be a float in \(0, 1\]"),
    ],
    ids=repr,
)
def test_wrong_parameters_of_string_kernels_are_named(kernel, message):
    for evaluate in (kernel, kernel.diag, lambda X: kernel(X, ["a"])):
        with pytest.raises(ValueError, match=message):
            evaluate(["abc"])


@pytest.mark.parametrize("base", [0.5, -1.0, float("nan"), float("inf"), "two"])
def test_base_below_one_is_refused(base):
    for evaluate in (SetIntersection(base), SetIntersection(base).diag):
        with pytest.raises(
            ValueError, match=r"base of SetIntersection must be a float in \[1, inf\) or None"
        ):
            evaluate([{1}])


def test_overflowing_intersection_is_explained():
    A = [set(range(1024))]
    message = r"share 1024 elements, and base\*\*1024 overflows. Choose a base nearer to 1"
    for evaluate in (SetIntersection(), SetIntersection().diag):
        with pytest.raises(ValueError, match=message):
            evaluate(A)
    assert SetIntersection()([set(range(1023))]) == 2.0**1023
    assert SetIntersection(base=1.5)(A) == 1.5**1024
    assert SetIntersection(base=None)(A) == 1024


# -------------------------------------------------------------------- interruption


@pytest.mark.parametrize(
    "kernel, n, length",
    [
        (GapWeighted(p=3), 600, 400),
        (GapWeighted(p=3), 2, 100_000),
        (GapWeighted(p=9), 600, 400),
        (Mismatch(k=12, m=1, alphabet_size=26), 600, 1000),
        (Mismatch(k=12, m=1, alphabet_size=26), 2, 200_000),
    ],
    ids=repr,
)
@pytest.mark.alone
def test_ctrl_c_is_answered_at_once(rng, kernel, n, length):
    X = [bytes(row) for row in rng.integers(65, 91, (n, length)).astype(np.uint8)]
    pressed = []

    def press():
        pressed.append(time.perf_counter())
        _thread.interrupt_main()

    timer = threading.Timer(0.3, press)
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        kernel(X)
    assert time.perf_counter() - pressed[0] < ANSWER_SECONDS * slowness()
