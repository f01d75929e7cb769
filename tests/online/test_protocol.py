"""What online learners have in common: trials in order, blocks, states, and complaints."""

import copy
import pickle
import time

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from _callbacks import Stop
from _checks import configurations, label, outputs
from _checks import problem as common_problem
from conftest import EXACT, needs_callbacks
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags

from sklearn_sl.online import (
    ExponentiatedGradientClassifier,
    ExponentiatedGradientRegressor,
    Hedge,
    OnlineGradientDescentClassifier,
    OnlineGradientDescentRegressor,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Perceptron,
    _trials,
    progressive_predict,
)
from sklearn_sl.online._protocol import ONLINE
from sklearn_sl.online._trials import joined, running_sum, slices, take_slice, with_part
from sklearn_sl.online.linear._linear import as_rows

ADDITIVE = [
    Perceptron(),
    Perceptron(average=7, class_weight={"a": 2.0, "b": 0.5, "c": 1.0}),
    Perceptron(average="voted"),
    Perceptron(multi_class="kesler", average=True, fit_intercept=False),
    OnlineGradientDescentClassifier(radius=0.6, average=True),
    OnlineGradientDescentClassifier("logistic", eta=0.1, multi_class="kesler", radius=1.0),
    OnlineGradientDescentRegressor("absolute", radius=1.0, average=True),
    OnlineGradientDescentRegressor(eta=0.01),
    PassiveAggressiveClassifier(C=0.3, average=True),
    PassiveAggressiveClassifier(loss="squared_hinge", multi_class="kesler"),
    PassiveAggressiveRegressor(average=3),
]
for_every_additive = pytest.mark.parametrize("model", ADDITIVE, ids=label)
# Learners on vectors of numbers with a partial_fit; that on a graph needs the graph for it.
ALL = [
    model
    for model in configurations(own=True)
    if isinstance(model, ONLINE)
    and get_tags(model).input_tags.two_d_array
    and hasattr(model, "partial_fit")
]


def problem(model, n=200, d=5, seed=0):
    """Return samples, many entries of which are zero, and targets for a learner."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[np.abs(X) < 0.4] = 0.0
    scores = X @ rng.normal(size=(d, 3)) + rng.normal(size=(n, 3))
    y = np.array(["a", "b", "c"])[scores.argmax(axis=1)]
    return X, (y if is_classifier(model) else scores[:, 0])


def start(model, y):
    """Return the parameters of the first call of ``partial_fit``."""
    return {"classes": np.unique(y)} if is_classifier(model) else {}


def stream(model, X, y, cuts):
    """Return a clone of a learner that was told some trials in blocks."""
    model, params = clone(model), start(model, y)
    for begin, end in zip([0, *cuts], [*cuts, len(y)], strict=True):
        model.partial_fit(X[begin:end], y[begin:end], **params)
        params = {}
    return model


def state(model):
    """Return the numbers that a learner has gone through trials with, and its answers."""
    names = [name for name, value in vars(model).items() if isinstance(value, np.ndarray | float)]
    names += ["n_trials_", *(["n_mistakes_"] if hasattr(model, "n_mistakes_") else [])]
    return {name: np.array(vars(model)[name], copy=True) for name in names}


def assert_same_bits(first, second):
    """Check that two states are equal to the last bit."""
    assert first.keys() == second.keys()
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name], err_msg=name)


# ---------------------------------------------------------------- blocks


@pytest.mark.parametrize("model", ALL, ids=label)
def test_blocks_of_every_learner_are_one_pass_to_the_last_bit(model, rng):
    data = common_problem(model, n_samples=60)
    # Nothing is to be found in the first block.
    known = {"random_state": 0, "bounds": (-10.0, 10.0), "gamma": 0.5}
    model = clone(model)
    model.set_params(**{name: known[name] for name in known.keys() & model.get_params().keys()})
    whole = stream(model, data.X, data.y, [])
    for cuts in ([1], [30], np.sort(rng.integers(1, 59, 6)), np.arange(1, 60)):
        blocks = stream(model, data.X, data.y, np.unique(cuts))
        for name in ("n_trials_", "n_mistakes_", "cumulative_loss_"):
            assert getattr(blocks, name, None) == getattr(whole, name, None), name
        for name, said in outputs(whole, data.X_test).items():
            np.testing.assert_array_equal(outputs(blocks, data.X_test)[name], said)


FORMS = {
    "dense": np.asarray,
    "single": lambda X: X.astype(np.float32),
    "fortran": np.asfortranarray,
    "csr": sp.csr_array,
    "csr matrix": sp.csr_matrix,
    "csr single": lambda X: sp.csr_array(X.astype(np.float32)),
    "csr wide": lambda X: with_wide_indices(sp.csr_array(X)),
}


def with_wide_indices(X):
    """Return a sparse matrix whose indices have 64 bits."""
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


@for_every_additive
@pytest.mark.parametrize("form", FORMS)
def test_blocks_of_every_form_are_one_pass_to_the_last_bit(model, form, rng):
    X, y = problem(model)
    X = FORMS[form](X)
    whole = state(stream(model, X, y, []))
    for cuts in ([1], [100], np.unique(rng.integers(1, 199, 9)), np.arange(1, 200)):
        assert_same_bits(state(stream(model, X, y, cuts)), whole)


@for_every_additive
def test_slices_are_not_seen_from_outside(model, monkeypatch):
    X, y = problem(model)
    for form in (np.asarray, sp.csr_array):
        plain, fitted = stream(model, form(X), y, []), clone(model).fit(form(X), y)
        with monkeypatch.context() as patch:
            patch.setattr(_trials, "SLICE", 300)
            patch.setattr(_trials, "FEW", 0)
            assert len(slices(form(X))) > 5
            assert_same_bits(state(stream(model, form(X), y, [])), state(plain))
            if model.get_params().get("random_state", 0) is not None:
                again = clone(model).fit(form(X), y)
                np.testing.assert_array_equal(again.coef_, fitted.coef_)


@for_every_additive
def test_sparse_samples_give_what_dense_ones_give(model):
    X, y = problem(model)
    dense = stream(model, X, y, [])
    for form in (sp.csr_array, lambda X: with_wide_indices(sp.csr_array(X)), sp.csc_array):
        sparse = clone(model).partial_fit(form(X), y, **start(model, y))
        np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(sparse.cumulative_loss_, dense.cumulative_loss_, rtol=1e-9)


@for_every_additive
def test_order_and_duplicates_of_sparse_entries_do_not_matter(model, rng):
    X, y = problem(model)
    plain = sp.csr_array(X)
    # Each entry as the sum of two, in random order.
    rows = np.repeat(np.arange(len(X)), np.diff(plain.indptr))
    order = np.lexsort([rng.random(2 * plain.nnz), np.tile(rows, 2)])
    halves = np.concatenate([0.25 * plain.data, 0.75 * plain.data])[order]
    odd = sp.csr_array(
        (halves, np.tile(plain.indices, 2)[order], 2 * plain.indptr), shape=plain.shape
    )
    before = odd.data.copy(), odd.indices.copy()
    assert not odd.has_canonical_format
    np.testing.assert_allclose(odd.toarray(), X)
    first, second = stream(model, odd, y, []), stream(model, plain, y, [])
    np.testing.assert_allclose(first.coef_, second.coef_, **EXACT)
    np.testing.assert_array_equal(odd.data, before[0])  # the user's matrix is left alone
    np.testing.assert_array_equal(odd.indices, before[1])


@for_every_additive
def test_one_row_is_read_the_same_in_every_form(model, tmp_path):
    X, y = problem(model, n=20)
    np.save(tmp_path / "X.npy", X)
    wanted = state(stream(model, X, y, []))
    forms = [
        X.tolist(),
        np.load(tmp_path / "X.npy", mmap_mode="r"),
        np.asfortranarray(X),
        np.repeat(X, 2, axis=0)[::2],
        X.astype(">f8"),
    ]
    for form in forms:
        for targets in (y, y.tolist(), pd.Series(y)):
            by_rows = clone(model).partial_fit(form[:1], targets[:1], **start(model, y))
            for row in range(1, len(y)):
                by_rows.partial_fit(form[row : row + 1], targets[row : row + 1])
            assert_same_bits(state(by_rows), wanted)


@pytest.mark.parametrize("model", ALL, ids=label)
def test_frame_gives_what_the_array_gives_to_the_last_bit(model):
    data = common_problem(model, n_samples=30)
    model = clone(model)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    wanted = outputs(clone(model).fit(data.X, data.y), data.X_test)
    # A frame is kept by columns.
    for form in (np.asfortranarray, lambda X: pd.DataFrame(X).add_prefix("x")):
        found = outputs(clone(model).fit(form(data.X), data.y), form(data.X_test))
        assert_same_bits(found, wanted)


@pytest.mark.parametrize(
    "model",
    [
        *ADDITIVE,
        ExponentiatedGradientClassifier(eta="horizon"),
        ExponentiatedGradientRegressor(eta="horizon"),
        OnlineGradientDescentClassifier(eta="horizon", radius=1.0),
        OnlineGradientDescentRegressor(eta="horizon", radius=1.0),
    ],
    ids=label,
)
@pytest.mark.parametrize("as_matrix", [np.asarray, sp.csr_array])
def test_samples_of_single_precision_are_those_of_double_precision(model, as_matrix):
    X, y = problem(model, n=60)
    single = as_matrix(X.astype(np.float32))
    model = clone(model)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    first, second = (clone(model).fit(Z, y) for Z in (single, single.astype(np.float64)))
    found, wanted = state(first), state(second)
    for name in wanted.keys() - {"classes_"}:
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-9, atol=1e-9, err_msg=name)


# ---------------------------------------------------------------- answers and losses


@for_every_additive
def test_answers_are_those_of_predict_before_each_trial(model):
    X, y = problem(model, n=60)
    answers = progressive_predict(clone(model), X, y)
    by_hand = clone(model).partial_fit(X[:1], y[:1], **start(model, y))
    for row in range(1, len(y)):
        said = by_hand.predict(X[row : row + 1])
        if is_classifier(model):
            assert said[0] == answers[row]
        else:
            np.testing.assert_allclose(said[0], answers[row], **EXACT)
        by_hand.partial_fit(X[row : row + 1], y[row : row + 1])
    assert "_heard" not in vars(by_hand)


@for_every_additive
def test_loss_curve_adds_up_to_the_cumulative_loss(model):
    X, y = problem(model)
    assert not hasattr(stream(model, X, y, [50]), "loss_curve_")
    model = clone(model).set_params(keep_losses=True)
    for learned in (stream(model, X, y, [1, 50, 70]), clone(model).fit(X, y)):
        assert len(learned.loss_curve_) == learned.n_trials_
        np.testing.assert_allclose(learned.loss_curve_.sum(), learned.cumulative_loss_, **EXACT)


def test_running_sum_of_blocks_is_that_of_the_whole(rng):
    values = rng.normal(size=1000) * 10.0 ** rng.integers(-9, 9, 1000)
    whole, total = running_sum(0.0, values), 0.0
    kept = values.copy()
    for block in np.split(values, [1, 2, 500, 999]):
        total = running_sum(total, block)
    assert total == whole
    np.testing.assert_array_equal(values, kept)


# ---------------------------------------------------------------- failures


def spoiled(X, row, value):
    """Return samples, one of which has a bad entry."""
    X = X.copy()
    X[row, 2] = value
    return X


def bad_blocks(model, X, y):
    """Return blocks that must raise, and what is said of them."""
    blocks = [
        ((spoiled(X, 150, np.nan), y), "contains NaN"),
        ((spoiled(X, 150, np.inf), y), "contains infinity"),
        ((sp.csr_array(spoiled(X, 150, np.nan)), y), "contains NaN"),
        ((spoiled(X, 150, 1e200), y), "range of floating point"),
        ((X[:, :-1], y), "features"),
        ((X[:0], y[:0]), "0 sample"),
        ((X, y[:-1]), "inconsistent"),
        ((X, None), "y"),
    ]
    if is_classifier(model):
        blocks.append(((X, np.where(np.arange(len(y)) == 180, "z", y)), "not in classes"))
        blocks.append(((X, y, ["a", "b"]), "not the same"))
    else:
        blocks.append(((X, np.where(np.arange(len(y)) == 180, np.nan, y)), "contains NaN"))
    return blocks


@for_every_additive
def test_failed_block_leaves_the_old_state(model):
    X, y = problem(model)
    model = stream(model, X, y, [])
    attributes, numbers = dict(vars(model)), state(model)
    for block, message in bad_blocks(model, X, y):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(*block)
        assert vars(model).keys() == attributes.keys()
        assert all(vars(model)[name] is value for name, value in attributes.items())
        assert_same_bits(state(model), numbers)
    assert_same_bits(
        state(model.partial_fit(X, y)), state(stream(model, np.vstack([X, X]), np.r_[y, y], []))
    )


@for_every_additive
def test_failed_row_leaves_the_old_state(model):
    X, y = problem(model)
    model = stream(model, X, y, [])
    numbers = state(model)
    for value in (np.nan, -np.inf):
        with pytest.raises(ValueError, match="contains"):
            model.partial_fit(spoiled(X[:1], 0, value), y[:1])
        assert_same_bits(state(model), numbers)
    for value in (1e200, -1e200, 1e308, -1e308):  # a step along it is beyond all numbers
        try:
            model.partial_fit(spoiled(X[:1], 0, value), y[:1])
        except ValueError:
            assert_same_bits(state(model), numbers)
        numbers = state(model)
        assert all(
            np.isfinite(value).all() for value in numbers.values() if value.dtype.kind == "f"
        )


@for_every_additive
def test_failed_first_block_leaves_the_learner_unfitted(model):
    X, y = problem(model)
    model = clone(model)
    attributes = dict(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(spoiled(X, 3, np.nan), y, **start(model, y))
    assert vars(model) == attributes


@for_every_additive
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_interrupted_learner_is_as_before(model, method, monkeypatch):
    X, y = problem(model)
    model = stream(model, X, y, [])
    attributes, numbers = dict(vars(model)), state(model)
    monkeypatch.setattr(_trials, "SLICE", 300)
    monkeypatch.setattr(_trials, "FEW", 0)
    # A fit in shuffled passes counts when a pass is over, unless it keeps something of each trial.
    in_passes = method == "fit" and hasattr(model, "shuffle") and model.average != "voted"
    played, name = 0, "_play_pass" if in_passes else "_account"
    account = getattr(type(model), name)

    def interrupted(self, *args):
        nonlocal played
        played += 1
        if played == (2 if in_passes else 4):
            raise KeyboardInterrupt
        account(self, *args)

    monkeypatch.setattr(type(model), name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        getattr(model, method)(X, y)
    assert all(vars(model)[name] is value for name, value in attributes.items())
    assert_same_bits(state(model), numbers)


@for_every_additive
def test_pickled_learner_goes_on_as_if_nothing_had_happened(model):
    X, y = problem(model)
    half = stream(model, X[:90], y[:90], [40])
    copy = pickle.loads(pickle.dumps(half))
    copy.partial_fit(X[90:], y[90:])
    assert_same_bits(state(copy), state(stream(model, X, y, [])))


@for_every_additive
def test_fit_starts_afresh(model):
    X, y = problem(model)
    model = clone(model)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    fresh = clone(model).fit(X, y)
    used = stream(model, X[:, ::-1], y, []).fit(X, y)
    np.testing.assert_array_equal(used.coef_, fresh.coef_)
    assert used.n_trials_ == fresh.n_trials_
    assert used.cumulative_loss_ == fresh.cumulative_loss_


@for_every_additive
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("factor", [1e-310, 1e-150, 1e-100])
def test_tiny_samples_are_learned_without_a_warning(model, intercept, factor):
    X, y = problem(model, n=60)
    model = clone(model).set_params(fit_intercept=intercept).fit(factor * X, y)
    assert all(
        np.isfinite(value).all() for value in state(model).values() if value.dtype.kind == "f"
    )


@for_every_additive
@pytest.mark.parametrize("factor", [1e60, 1e153, 1e160, 1e200, 1e300])
def test_numbers_out_of_range_are_an_error_and_never_kept(model, factor):
    X, y = problem(model, n=60)
    for samples in (factor * X, np.vstack([X[:-1], factor * X[-1:]])):
        try:
            learned = clone(model).fit(samples, y)
        except ValueError as error:
            assert "range of floating point numbers" in str(error)
        else:
            numbers = [value for value in state(learned).values() if value.dtype.kind == "f"]
            assert all(np.isfinite(value).all() for value in numbers)


@needs_callbacks
@for_every_additive
def test_callback_can_end_the_passes(model):
    X, y = problem(model)
    model = clone(model).set_callbacks(Stop(after=2))
    assert model.fit(X, y).n_iter_ == 2


# ---------------------------------------------------------------- labels


@pytest.mark.parametrize(
    "classes", [[0, 1], [0, 1, 2], [1, 2], [-1, 1], [1.0, 2.0, 3.0], [False, True], ["x", "y"]]
)
@pytest.mark.parametrize("dtype", [None, np.int8, np.uint16, np.int64])
def test_labels_of_all_kinds_are_their_places(classes, dtype, rng):
    classes = np.array(classes)
    codes = rng.integers(0, len(classes), 50)
    y = classes[codes]
    if dtype is not None and classes.dtype.kind == "i" and classes[0] >= 0:
        y = y.astype(dtype)
    X = rng.normal(size=(50, 3))
    for labels in (y, np.repeat(y, 2)[::2], y.tolist()):
        model = Perceptron().partial_fit(X, labels, classes=classes)
        np.testing.assert_array_equal(model._codes(np.asarray(labels)), codes)
        plain = Perceptron().partial_fit(X, codes, classes=range(len(classes)))
        np.testing.assert_array_equal(model.coef_, plain.coef_)


@pytest.mark.parametrize("y", [[0, 1, 5], [0, 1, -1], [0, 1, 0.5], [0.0, 1.0, np.nan]])
def test_labels_that_are_no_classes_are_an_error(y):
    X = np.eye(3)
    model = Perceptron().partial_fit(X, [0, 1, 0], classes=[0, 1])
    with pytest.raises(ValueError, match=r"not in classes|NaN"):
        model.partial_fit(X, np.array(y))


def test_classes_must_be_told_and_be_two():
    X = np.eye(3)
    with pytest.raises(ValueError, match="first call"):
        Perceptron().partial_fit(X, [0, 1, 0])
    with pytest.raises(ValueError, match="one class"):
        Perceptron().partial_fit(X, [0, 0, 0], classes=[0])
    with pytest.raises(ValueError, match="one class"):
        Perceptron().fit(X, [0, 0, 0])


def test_names_of_features_are_asked_for_in_each_block(rng):
    X = pd.DataFrame(rng.normal(size=(10, 2)), columns=["first", "second"])
    y = np.arange(10) % 2
    model = Perceptron().partial_fit(X, y, classes=[0, 1])
    with pytest.warns(UserWarning, match="feature names"):
        model.partial_fit(X.to_numpy(), y)
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(X[["second", "first"]], y)


# ---------------------------------------------------------------- slices and rows


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_slices_cover_all_rows_once(form, monkeypatch, rng):
    X = form(np.where(rng.random((57, 6)) < 0.5, 1.0, 0.0))
    monkeypatch.setattr(_trials, "SLICE", 200)
    parts = [take_slice(X, rows) for rows in slices(X)]
    stack = sp.vstack(parts).toarray() if sp.issparse(X) else np.vstack(parts)
    np.testing.assert_array_equal(stack, X.toarray() if sp.issparse(X) else X)
    assert len(parts) > 3
    assert sum(rows.stop - rows.start for rows in slices(X, 2, 1000)) == 1000


def test_rows_know_their_shape():
    X = np.eye(4)[:, :3]
    for form in (X, sp.csr_array(X), sp.csr_array((4, 3))):
        rows = as_rows(form)
        assert (rows.n_rows, rows.n_features) == (4, 3)


@pytest.mark.parametrize("d", [*range(1, 40), 100, 257])
def test_scores_are_inner_products_for_every_number_of_features(d, rng):
    # The loops behind rows of different lengths are different.
    X, y = rng.normal(size=(30, d)), rng.normal(size=30)
    for form in (X, sp.csr_array(X)):
        model = OnlineGradientDescentRegressor(eta=0.01 / d).partial_fit(form, y)
        answers = progressive_predict(clone(model), form, y)
        w, b = np.zeros(d), 0.0
        for x, target, answer in zip(X, y, answers, strict=True):
            score = w @ x + b
            np.testing.assert_allclose(answer, score, **EXACT)
            w, b = w - 0.02 / d * (score - target) * x, b - 0.02 / d * (score - target)
        np.testing.assert_allclose(model.coef_, w, **EXACT)
        np.testing.assert_allclose(model.radius_**2, np.max(np.sum(X**2, axis=1)) + 1, **EXACT)


def test_empty_rows_of_a_sparse_matrix_are_zeros():
    X = sp.csr_array((5, 3))
    model = Perceptron().partial_fit(X, [0, 1, 1, 0, 1], classes=[0, 1])
    assert not model.coef_.any() and model.n_trials_ == 5


# ---------------------------------------------------------------- long streams, row by row


def test_curves_of_many_short_calls_are_those_of_one(rng):
    X, y = rng.normal(size=(300, 3)), rng.integers(2, size=300)
    for model in (
        OnlineGradientDescentClassifier(keep_losses=True),
        Hedge(keep_losses=True, keep_weights=True),
    ):
        whole, rows = (clone(model) for _ in range(2))
        whole.partial_fit(X, y, classes=[0, 1])
        for t in range(300):
            rows.partial_fit(X[t : t + 1], y[t : t + 1], classes=[0, 1])
            assert len(rows._loss_parts) < 10
            if t in (0, 1, 100):
                earlier = rows.loss_curve_
                np.testing.assert_array_equal(earlier, whole.loss_curve_[: t + 1])
        np.testing.assert_array_equal(rows.loss_curve_, whole.loss_curve_)
        if hasattr(model, "keep_weights"):
            np.testing.assert_array_equal(rows.weight_curve_, whole.weight_curve_)
        # Those of a copy, and those of before, are not touched.
        twin = copy.copy(rows)
        rows.partial_fit(X[:1], y[:1])
        twin.partial_fit(X[5:7], y[5:7])
        assert (len(twin.loss_curve_), len(rows.loss_curve_), len(earlier)) == (302, 301, 101)
    assert not hasattr(Hedge().fit(X, y), "loss_curve_")
    assert not hasattr(Hedge().fit(X, y), "weight_curve_")


def test_parts_of_a_curve_are_few_and_copied_seldom():
    parts, n_copied = [], 0
    for number in range(5000):
        before = {id(part) for part in parts}
        parts = with_part(parts, np.array([number]))
        n_copied += sum(len(part) for part in parts if id(part) not in before)
        assert len(parts) <= 13
    np.testing.assert_array_equal(joined(parts)[0], np.arange(5000))
    assert n_copied < 5000 * 13
    rows = []
    for number in range(9):
        rows = with_part(rows, sp.csr_array([[number, 0.0]]))
    np.testing.assert_array_equal(joined(rows)[0].toarray()[:, 0], np.arange(9))


@pytest.mark.alone
@pytest.mark.parametrize(
    "model",
    [
        OnlineGradientDescentClassifier(keep_losses=True),
        Hedge(eta=0.1, keep_losses=True, keep_weights=True),
        Perceptron(average="voted"),
    ],
    ids=label,
)
def test_a_row_costs_no_more_after_many_rows(model, rng):
    X, y = rng.normal(size=(200_000, 10)), rng.integers(2, size=200_000)
    young = clone(model).partial_fit(X[:50], y[:50], classes=[0, 1])
    old = clone(model).partial_fit(X, y, classes=[0, 1])

    def seconds(learner):
        start = time.perf_counter()
        for t in range(100):
            learner.partial_fit(X[t : t + 1], y[t : t + 1])
        return time.perf_counter() - start

    assert min(seconds(old) for _ in range(5)) < 5 * min(seconds(young) for _ in range(5))
