"""The perceptron: scikit-learn's, Rosenblatt's, and Novikoff's."""

import inspect
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT
from reference import online_linear as twin
from sklearn import linear_model
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError

from sklearn_sl.base import class_factors
from sklearn_sl.online import Perceptron
from sklearn_sl.online.linear import _steps
from sklearn_sl.online.linear._orders import (
    places,
    set_aside,
    shuffled_turns,
    turns_in_order,
)
from sklearn_sl.online.linear._passes import least_mistake_bound, split_off_watch
from sklearn_sl.theory import best_perceptron_bound, perceptron_bound

IN_ORDER = {"shuffle": False, "tol": None}
HINGE = _steps.Hinge(0.0, steep=True)
UNIT = _steps.FixedRate(1.0)


def problem(seed=0, n=120, d=4, n_classes=2):
    """Return samples and noisy classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, n_classes)) + rng.normal(size=(n, n_classes))
    return X, np.array(["a", "b", "c", "d"])[scores.argmax(axis=1)]


def signs_of(y):
    """Return the classes of a problem of two as signs."""
    return np.where(y == "b", 1.0, -1.0)


# ---------------------------------------------------------------- scikit-learn's


def test_signature_is_scikit_learns_and_more():
    ours = inspect.signature(Perceptron).parameters
    theirs = inspect.signature(linear_model.Perceptron).parameters
    assert {name: ours[name].default for name in theirs} == {
        name: item.default for name, item in theirs.items()
    }
    assert all(ours[name].kind == item.kind for name, item in theirs.items())


def test_methods_and_attributes_are_scikit_learns_and_more():
    X, y = problem()
    ours, theirs = Perceptron().fit(X, y), linear_model.Perceptron().fit(X, y)
    public = {name for name in dir(theirs) if not name.startswith("_")}
    # What is left are parameters of stochastic gradient descent, of which theirs is a case.
    assert public - set(dir(ours)) <= {"loss", "loss_functions", "epsilon"} | {
        "learning_rate",
        "power_t",
    }


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"eta0": 0.3},
        {"tol": None, "max_iter": 7},
        {"tol": 1e-2, "n_iter_no_change": 2},
        {"tol": 0.0, "n_iter_no_change": 1},
        {"max_iter": 1},
        {"fit_intercept": False},
        {"class_weight": "balanced"},
        {"class_weight": {"a": 2.0, "b": 0.5}},
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_are_those_of_scikit_learn(params, n_classes, seed):
    X, y = problem(seed, n_classes=n_classes)
    if n_classes == 4 and isinstance(params.get("class_weight"), dict):
        params = {**params, "class_weight": {"a": 2.0, "b": 0.5, "c": 1.0, "d": 3.0}}
    ours = Perceptron(shuffle=False, **params).fit(X, y)
    theirs = linear_model.Perceptron(shuffle=False, **params).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, **EXACT)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, **EXACT)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    assert (ours.n_iter_, ours.t_) == (theirs.n_iter_, theirs.t_)
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), rtol=1e-9, atol=1e-9
    )


def test_clean_pass_ends_the_fit_with_scikit_learns_weights():
    X, y = load_iris(return_X_y=True)
    ours = Perceptron(**IN_ORDER).fit(X, y == 0)
    theirs = linear_model.Perceptron(shuffle=False).fit(X, y == 0)
    assert ours.converged_ and ours.n_iter_ < theirs.n_iter_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, **EXACT)


def test_partial_fit_is_scikit_learns_without_its_shuffling():
    X, y = problem(n_classes=3)
    theirs = linear_model.Perceptron(shuffle=False)
    ours = Perceptron()
    for rows in np.array_split(np.arange(len(X)), 5):
        theirs.partial_fit(X[rows], y[rows], classes=np.unique(y))
        ours.partial_fit(X[rows], y[rows], classes=np.unique(y))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, **EXACT)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, **EXACT)


def test_coef_init_is_scikit_learns(rng):
    X, y = problem(n_classes=3)
    start = rng.normal(size=(3, 4)), rng.normal(size=3)
    ours = Perceptron(**IN_ORDER, max_iter=3).fit(X, y, *start)
    theirs = linear_model.Perceptron(**IN_ORDER, max_iter=3).fit(X, y, *start)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, **EXACT)
    assert ours.bound_ is None and ours.comparator_ is None


def test_real_data_is_learned_as_well_as_by_scikit_learn():
    X, y = load_digits(return_X_y=True)
    ours, theirs = Perceptron().fit(X, y), linear_model.Perceptron().fit(X, y)
    assert ours.score(X, y) > theirs.score(X, y) - 0.03


def test_sparse_coef_predicts_the_same():
    X, y = problem(n_classes=3)
    model = Perceptron().fit(X, y)
    scores = model.decision_function(X)
    assert sp.issparse(model.sparsify().coef_)
    np.testing.assert_allclose(model.decision_function(X), scores, **EXACT)
    assert not sp.issparse(model.densify().coef_)
    np.testing.assert_allclose(model.densify().decision_function(X), scores, **EXACT)


# ---------------------------------------------------------------- its definition


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("eta", [1.0, 0.3])
def test_weights_scores_and_account_are_those_of_the_twin(intercept, eta):
    X, y = problem()
    model = Perceptron(fit_intercept=intercept, eta0=eta, keep_losses=True)
    model.partial_fit(X, y, classes=["a", "b"])
    run = twin.descend(X, signs_of(y), twin.perceptron, twin.fixed(eta), intercept=intercept)
    np.testing.assert_allclose(model.coef_[0], run.last[:-1], **EXACT)
    np.testing.assert_allclose(model.intercept_[0], run.last[-1], **EXACT)
    np.testing.assert_allclose(model.loss_curve_, run.losses, **EXACT)
    np.testing.assert_allclose(model.cumulative_loss_, run.losses.sum(), **EXACT)
    wrong = signs_of(y) * run.scores <= 0
    assert model.n_mistakes_ == model.n_updates_ == wrong.sum()
    assert model.n_trials_ == len(y) and model.t_ == len(y) + 1
    norms = np.linalg.norm(twin.with_one(X, intercept)[wrong], axis=1)
    np.testing.assert_allclose(model.radius_, norms.max(), **EXACT)


def test_many_classes_are_one_against_all_others():
    X, y = problem(n_classes=4)
    model = Perceptron().partial_fit(X, y, classes=["a", "b", "c", "d"])
    runs = [
        twin.descend(X, np.where(y == c, 1.0, -1.0), twin.perceptron, twin.fixed(1.0))
        for c in model.classes_
    ]
    np.testing.assert_allclose(model.coef_, [run.last[:-1] for run in runs], **EXACT)
    np.testing.assert_allclose(model.cumulative_loss_, sum(run.losses.sum() for run in runs))
    scores = np.stack([run.scores for run in runs], axis=1)
    own = scores[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    assert model.n_mistakes_ == np.sum(np.sum(scores >= own[:, None], axis=1) > 1)


@pytest.mark.parametrize("intercept", [True, False])
def test_kesler_steps_the_true_and_the_best_other_class(intercept):
    X, y = problem(n_classes=3)
    codes = np.searchsorted(["a", "b", "c"], y)
    model = Perceptron(multi_class="kesler", fit_intercept=intercept, average=True)
    model.partial_fit(X, y, classes=["a", "b", "c"])
    run = twin.descend_together(X, codes, twin.perceptron, twin.fixed(1.0), intercept=intercept)
    np.testing.assert_allclose(model.standard_coef(), run.last[:, :-1], **EXACT)
    np.testing.assert_allclose(model.standard_intercept(), run.last[:, -1], **EXACT)
    np.testing.assert_allclose(model.coef_, run.weights.mean(axis=0)[:, :-1], **EXACT)
    np.testing.assert_allclose(model.intercept_, run.weights.mean(axis=0)[:, -1], **EXACT)
    np.testing.assert_allclose(model.cumulative_loss_, run.losses.sum(), **EXACT)


def test_kesler_of_two_classes_is_the_perceptron():
    X, y = problem()
    plain = Perceptron(**IN_ORDER, max_iter=3).fit(X, y)
    other = Perceptron(**IN_ORDER, max_iter=3, multi_class="kesler").fit(X, y)
    np.testing.assert_array_equal(plain.coef_, other.coef_)


def test_eta0_changes_no_prediction():
    X, y = problem(n_classes=3)
    models = [Perceptron(eta0=eta).fit(X, y) for eta in (1.0, 0.25, 8.0)]
    for model in models[1:]:
        assert model.n_mistakes_ == models[0].n_mistakes_
        np.testing.assert_array_equal(model.coef_, model.eta0 * models[0].coef_)


def test_flipped_labels_flip_the_weights():
    X, y = problem()
    model = Perceptron().partial_fit(X, y, classes=["a", "b"])
    flipped = Perceptron().partial_fit(X, np.where(y == "a", "b", "a"), classes=["a", "b"])
    np.testing.assert_array_equal(model.coef_, -flipped.coef_)
    assert model.n_mistakes_ == flipped.n_mistakes_


# ---------------------------------------------------------------- averages and votes


@pytest.mark.parametrize("first", [True, 1, 5, 120])
def test_average_is_the_mean_of_the_weights_of_trials(first):
    X, y = problem()
    model = Perceptron(average=first).partial_fit(X, y, classes=["a", "b"])
    run = twin.descend(X, signs_of(y), twin.perceptron, twin.fixed(1.0))
    mean = run.weights[int(first) - 1 :].mean(axis=0)
    np.testing.assert_allclose(model.coef_[0], mean[:-1], **EXACT)
    np.testing.assert_allclose(model.intercept_[0], mean[-1], **EXACT)
    np.testing.assert_allclose(model.standard_coef()[0], run.last[:-1], **EXACT)


def test_average_that_has_not_begun_is_the_last_weights():
    X, y = problem()
    model = Perceptron(average=1000).partial_fit(X, y, classes=["a", "b"])
    np.testing.assert_array_equal(model.coef_, model.standard_coef())


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("n_passes", [1, 3])
def test_votes_are_those_of_all_weight_vectors(intercept, n_passes):
    X, y = problem()
    X_test = problem(1)[0]
    model = Perceptron(
        average="voted", eta0=0.5, fit_intercept=intercept, max_iter=n_passes, **IN_ORDER
    ).fit(X, y)
    votes = twin.voted_perceptron(
        X, signs_of(y), X_test, eta=0.5, n_passes=n_passes, intercept=intercept
    )
    np.testing.assert_allclose(model.decision_function(X_test), votes, **EXACT)
    np.testing.assert_array_equal(model.predict(X_test), np.where(votes > 0, "b", "a"))


def test_votes_do_not_depend_on_blocks_or_sparsity():
    X, y = problem(n_classes=3)
    X[np.abs(X) < 0.5] = 0.0
    whole = Perceptron(average="voted").partial_fit(X, y, classes=["a", "b", "c"])
    blocks = Perceptron(average="voted")
    for rows in np.array_split(np.arange(len(X)), 17):
        blocks.partial_fit(sp.csr_array(X[rows]), y[rows], classes=["a", "b", "c"])
    votes = whole.decision_function(X)
    np.testing.assert_allclose(blocks.decision_function(sp.csr_array(X)), votes, **EXACT)


def test_first_weights_vote_if_they_are_not_zero():
    X, y = problem()
    good = Perceptron(**IN_ORDER).fit(X[:5], y[:5])
    assert good.converged_
    model = Perceptron(average="voted", **IN_ORDER, max_iter=1)
    model.fit(X[:5], y[:5], good.coef_, good.intercept_)
    assert model.n_mistakes_ == 0
    np.testing.assert_array_equal(model.predict(X), good.predict(X))


def test_votes_need_one_against_all_others():
    X, y = problem(n_classes=3)
    with pytest.raises(ValueError, match="voted"):
        Perceptron(average="voted", multi_class="kesler").fit(X, y)


# ---------------------------------------------------------------- weights of samples


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("average", [True, False, "voted"])
def test_integer_weights_are_repeated_rows(rng, shuffle, average):
    X, y = problem(n_classes=3)
    times = rng.integers(0, 4, len(y))
    model = Perceptron(shuffle=shuffle, average=average, max_iter=5)
    weighted = clone(model).fit(X, y, sample_weight=times)
    repeated = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_array_equal(weighted.coef_, repeated.coef_)
    np.testing.assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))
    assert weighted.n_mistakes_ == repeated.n_mistakes_


def test_fraction_of_a_weight_is_a_shorter_step(rng):
    X, y = problem()
    weight = rng.uniform(0, 3, len(y))
    order, shares = turns_in_order(weight).one_by_one()[:2]
    run = twin.descend(
        X[order], signs_of(y)[order], twin.perceptron, twin.fixed(1.0), weight=shares
    )
    model = Perceptron().partial_fit(X, y, classes=["a", "b"], sample_weight=weight)
    np.testing.assert_allclose(model.coef_[0], run.last[:-1], **EXACT)
    assert model.n_trials_ == len(order)
    voted = Perceptron(average="voted", **IN_ORDER, max_iter=1).fit(X, y, sample_weight=weight)
    last = voted._ancestors[0]
    np.testing.assert_allclose(
        np.concatenate(last.steps) @ np.concatenate(last.rows), run.last[:-1], **EXACT
    )


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e9])
def test_turns_add_up_to_the_weights(rng, shuffled, scale):
    weight = np.where(rng.random(50) < 0.5, rng.integers(1, 4, 50), rng.uniform(0.1, 3, 50))
    hashes = rng.permutation(50).astype(np.uint64)
    turns = places(hashes, scale * weight)[0] if shuffled else turns_in_order(scale * weight)
    np.testing.assert_allclose(np.bincount(turns.rows, turns.weights()), scale * weight, **EXACT)
    assert turns.shares.max() == 1 and turns.shares.min() > 0
    assert len(turns.rows) < 4096 + 100


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("average", [False, True, 100])
@pytest.mark.parametrize("multi_class", ["ovr", "kesler"])
def test_many_presentations_in_a_row_are_those_of_repeated_rows(
    rng, n_classes, average, multi_class
):
    # The short rows need hundreds of steps where a long one has pushed their scores away.
    X, y = problem(n=30, n_classes=n_classes)
    X *= 10.0 ** rng.integers(-1, 3, (len(X), 1))
    times = rng.integers(1, 500, len(y))
    model = Perceptron(
        average=average, multi_class=multi_class, max_iter=2, fit_intercept=False, **IN_ORDER
    )
    weighted = clone(model).fit(X, y, sample_weight=times)
    repeated = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert repeated.n_updates_ > 500
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, **ALGEBRA)
    np.testing.assert_allclose(weighted.cumulative_loss_, repeated.cumulative_loss_, **ALGEBRA)
    for name in ("n_trials_", "n_updates_", "n_mistakes_", "radius_"):
        assert getattr(weighted, name) == getattr(repeated, name)
    np.testing.assert_allclose(weighted._state.tails, repeated._state.tails, **ALGEBRA)


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_cost_of_a_weight_does_not_depend_on_its_size(shuffle, n_classes):
    X, y = problem(n_classes=n_classes)
    model = Perceptron(max_iter=3, tol=None, shuffle=shuffle)
    for weight in (1e6, 1e10, 1e13):
        model.fit(X, y, sample_weight=np.full(len(y), weight))
        assert model.n_trials_ == 3 * weight * len(y) and model.n_updates_ < model.n_trials_
        assert model.score(X, y) > 0.4
        model.partial_fit(X, y, sample_weight=np.full(len(y), weight))


@pytest.mark.parametrize(
    ("params", "weight"),
    [
        ({}, 1e19),
        ({"keep_losses": True}, 1e6),
        ({"average": "voted"}, 1e6),
        ({"multi_class": "kesler"}, 2e6),
    ],
)
def test_weights_beyond_the_limit_are_an_error_that_says_what_to_do(params, weight):
    X, y = problem(n_classes=3)
    model = Perceptron(**params).fit(X, y)
    coef = model.coef_.copy()
    for call in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=r"sample_weight is .* most .* Divide the weights"):
            call(X, y, sample_weight=np.full(len(y), weight))
    np.testing.assert_array_equal(model.coef_, coef)


def test_class_without_weight_is_an_error_in_each_fit():
    X, y = problem()
    model = Perceptron()
    for _ in range(2):
        with pytest.raises(ValueError, match="sample_weight is zero"):
            model.fit(X, y, sample_weight=(y == "a").astype(float))
        model.fit(X, y)


def test_balanced_weights_are_only_known_to_fit():
    X, y = problem()
    with pytest.raises(ValueError, match="balanced"):
        Perceptron(class_weight="balanced").partial_fit(X, y, classes=["a", "b"])


def test_balanced_weights_of_repeated_rows_are_those_of_weights():
    # Ties are decided by the last bit of the weights of classes.
    rng, different = np.random.default_rng(0), 0
    for number in range(2000):
        n = rng.integers(3, 8)
        X = rng.integers(-2, 3, (n, 2)).astype(float)
        y, times = np.arange(n) % rng.integers(2, 4), rng.integers(1, 5, n)
        factors = class_factors("balanced", y, times.astype(float))
        np.testing.assert_array_equal(
            np.repeat(factors, times), class_factors("balanced", np.repeat(y, times), None)
        )
        if number >= 100:
            continue
        model = Perceptron(class_weight="balanced", max_iter=3, shuffle=False, tol=None)
        weighted = clone(model).fit(X, y, sample_weight=times)
        repeated = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        different += not np.array_equal(weighted.coef_, repeated.coef_)
    assert different == 0


def test_class_weights_multiply_the_steps():
    X, y = problem()
    model = Perceptron(class_weight={"a": 3.0, "b": 0.5}).partial_fit(X, y, classes=["a", "b"])
    factors = np.where(y == "a", 3.0, 0.5)
    run = twin.descend(X, signs_of(y), twin.perceptron, twin.fixed(1.0), weight=factors)
    np.testing.assert_allclose(model.coef_[0], run.last[:-1], **EXACT)


# ---------------------------------------------------------------- passes


def test_shuffled_fit_does_not_depend_on_the_order_of_the_rows(rng):
    X, y = problem(n_classes=3)
    rows = rng.permutation(len(y))
    for params in ({}, {"early_stopping": True}, {"average": True, "multi_class": "kesler"}):
        model = Perceptron(max_iter=6, **params)
        first, second = clone(model).fit(X, y), clone(model).fit(X[rows], y[rows])
        np.testing.assert_array_equal(first.coef_, second.coef_)


def test_random_state_changes_the_order():
    X, y = problem()
    first, second = (Perceptron(random_state=seed, max_iter=3).fit(X, y) for seed in (0, 1))
    assert not np.array_equal(first.coef_, second.coef_)


def test_warm_start_goes_on_with_the_last_weights():
    X, y = problem(n_classes=3)
    model = Perceptron(warm_start=True, average=True, max_iter=2, **IN_ORDER)
    model.fit(X, y).fit(X, y)
    longer = Perceptron(max_iter=4, **IN_ORDER).fit(X, y)
    np.testing.assert_array_equal(model.standard_coef(), longer.coef_)
    assert model.bound_ is None and model.n_trials_ == 2 * len(y)


def test_partial_fit_goes_on_after_fit_with_all_vectors():
    # The vectors that rested when the fit ended learn again.
    X, y = problem(n_classes=4)
    model = Perceptron(shuffle=False).fit(X, y)
    start = model.coef_.copy(), model.intercept_.copy()
    model.partial_fit(X, y)
    other = Perceptron(**IN_ORDER, max_iter=1).fit(X, y, *start)
    np.testing.assert_array_equal(model.coef_, other.coef_)
    assert model.bound_ is None and model.comparator_ is None


@pytest.mark.parametrize("multi_class", ["ovr", "kesler"])
def test_early_stopping_ends_when_samples_set_aside_are_not_better(multi_class):
    X, y = problem(n=400, n_classes=3)
    model = Perceptron(
        early_stopping=True, n_iter_no_change=2, validation_fraction=0.25, multi_class=multi_class
    ).fit(X, y)
    assert model.n_iter_ < model.max_iter and not model.converged_
    assert 0.2 * len(y) < len(y) - model.n_trials_ / model.n_iter_ < 0.3 * len(y)


def test_copies_are_set_aside_independently_by_strata(rng):
    hashes = np.repeat(np.arange(6, dtype=np.uint64), 50)
    strata = np.repeat([0, 1, 2, 0, 1, 2], 50)
    turns, keys = places(hashes, None)
    aside = set_aside(keys, strata[turns.rows], turns.weights(), 0.2)
    counts = np.bincount(hashes[turns.rows].astype(int), aside)
    np.testing.assert_array_equal(counts[:3] + counts[3:], 20)
    assert 0 < counts.min() and counts.max() < 20
    # Weights are copies.
    turns, keys = places(np.arange(6, dtype=np.uint64), np.full(6, 50.0))
    aside = set_aside(keys, np.array([0, 1, 2] * 2)[turns.rows], turns.weights(), 0.2)
    np.testing.assert_array_equal(np.bincount(turns.rows, aside), counts)


@pytest.mark.parametrize("sizes", [[900, 100], [3] * 100, [997, 2, 1]])
def test_share_that_is_set_aside_is_that_of_all_samples(rng, sizes):
    strata = np.repeat(np.arange(len(sizes)), sizes)
    aside = set_aside(rng.permutation(len(strata)), strata, np.ones(len(strata)), 0.1)
    assert aside.sum() == np.ceil(0.1 * len(strata))
    assert len(np.unique(strata[~aside])) == len(sizes)


def test_samples_with_few_distinct_values_can_stop_early():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (1000, 2)).astype(float)
    y = (rng.random(1000) < np.where(X[:, 0] > 0, 0.9, 0.2)).astype(int)
    model = Perceptron(early_stopping=True, average=True).fit(X, y)
    assert model.n_trials_ == 900 * model.n_iter_
    assert model.score(X, y) > 0.8
    # The samples set aside are as those that are left.
    parts = split_off_watch(model, X, y, None)
    train, test = parts[:2], parts[3][:2]
    for part in (train, test):
        assert abs(np.mean(part[0][part[1] == 1, 0]) - np.mean(X[y == 1, 0])) < 0.1


@pytest.mark.parametrize("early_stopping", [False, True])
def test_weights_are_copies_among_copies(rng, early_stopping):
    # Rows that come several times, with weights that differ.
    X = rng.integers(0, 3, (60, 2)).astype(float)
    y, times = rng.integers(0, 2, 60), rng.integers(0, 4, 60)
    model = Perceptron(max_iter=4, early_stopping=early_stopping, average=True)
    weighted = clone(model).fit(X, y, sample_weight=times)
    rows = rng.permutation(np.repeat(np.arange(60), times))
    repeated = clone(model).fit(X[rows], y[rows])
    np.testing.assert_array_equal(weighted.coef_, repeated.coef_)
    assert weighted.n_mistakes_ == repeated.n_mistakes_


def test_copies_have_independent_places_in_a_shuffled_pass():
    hashes = np.repeat(np.arange(20, dtype=np.uint64), 50)
    turns = next(shuffled_turns(hashes[:, None].astype(float), np.zeros(1000), None, 0))
    neighbours = np.mean(np.diff(hashes[turns.rows].astype(int)) == 0)
    assert neighbours < 0.1  # one in twenty


def test_contradicting_copies_are_learned_as_well_as_by_scikit_learn():
    ours, theirs = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, (500, 2)).astype(float)
        chances = 1 / (1 + np.exp(-2 * (X - X.mean(axis=0)) @ rng.normal(size=2)))
        y = (rng.random(500) < chances).astype(int)
        rows = np.argsort(y, kind="stable")
        sgd = linear_model.SGDClassifier(
            loss="perceptron",
            penalty=None,
            learning_rate="constant",
            eta0=1.0,
            average=True,
            random_state=seed,
        )
        model = Perceptron(random_state=seed, average=True)
        ours.append(model.fit(X[rows], y[rows]).score(X, y))
        theirs.append(sgd.fit(X[rows], y[rows]).score(X, y))
    assert np.mean(ours) > np.mean(theirs) - 0.03


def test_too_few_samples_for_early_stopping():
    with pytest.raises(ValueError, match="early_stopping"):
        Perceptron(early_stopping=True).fit([[0.0], [1.0]], [0, 1])


def test_verbose_prints_the_loss_of_each_pass(capsys):
    X, y = problem()
    model = Perceptron(verbose=1, max_iter=3, tol=None).fit(X, y)
    *lines, last = capsys.readouterr().out.splitlines()
    assert last == f"[Perceptron] fitted: mistakes / bound {model.n_mistakes_ / model.bound_:.3g}"
    assert len(lines) == model.n_iter_ == 3 and lines[0].startswith("Pass 1: mean loss")


@pytest.mark.parametrize("penalty", ["l1", "l2", "elasticnet"])
@pytest.mark.parametrize("alpha", [1e-3, 0.3, 5.0])
@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_penalty_is_that_of_scikit_learns_gradient_descent(penalty, alpha, form):
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))
    X, y = form(np.where(X[rows] > 1, X[rows] - 3, 0)), y[rows]
    # The intercept of sparse samples is not scikit-learn's.
    params = {"penalty": penalty, "alpha": alpha, "l1_ratio": 0.4, "max_iter": 4, **IN_ORDER}
    params["fit_intercept"] = form is np.array
    sgd = linear_model.SGDClassifier("perceptron", learning_rate="constant", eta0=1.0, **params)
    ours, theirs = Perceptron(**params).fit(X, y), sgd.fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-9)
    assert not ours.converged_ and ours.bound_ is None


@pytest.mark.parametrize("penalty", ["l1", "l2", "elasticnet"])
def test_penalised_average_is_the_mean_over_the_trials(penalty):
    X, y = problem()
    params = {"penalty": penalty, "alpha": 0.05, "l1_ratio": 0.5}
    single, weights = Perceptron(**params), []
    for row in range(len(y)):
        single.partial_fit(X[row : row + 1], y[row : row + 1], classes=np.unique(y))
        weights.append(single._state.last_vectors())
    average = Perceptron(average=True, **params).partial_fit(X, y, classes=np.unique(y))
    mean = np.sum(weights[:-1], axis=0) / len(y)
    np.testing.assert_allclose(average.coef_, mean[:, :-1], atol=1e-10)
    np.testing.assert_array_equal(average.standard_coef(), single.coef_)


def test_penalty_is_paid_by_each_copy(rng):
    X, y = problem()
    weight = rng.integers(0, 4, len(y))
    model = Perceptron(penalty="elasticnet", alpha=0.01)
    rows = np.repeat(np.arange(len(y)), weight)
    weighted, repeated = clone(model).fit(X, y, sample_weight=weight), model.fit(X[rows], y[rows])
    np.testing.assert_array_equal(weighted.coef_, repeated.coef_)
    with pytest.raises(ValueError, match="the penalty is paid in each presentation"):
        model.fit(X, y, sample_weight=np.full(len(y), 2.0**24))


@pytest.mark.parametrize("params", [{"multi_class": "kesler"}, {"average": "voted"}])
def test_penalty_with_what_has_none_is_refused(params):
    X, y = problem()
    with pytest.raises(ValueError, match=r"requires .*; got "):
        Perceptron(penalty="l2", **params).fit(X, y)


def test_mistake_bound_is_that_of_no_penalty():
    X, y = problem()
    with pytest.raises(ValueError, match="mistake_bound requires penalty=None; got penalty='l1'"):
        Perceptron(penalty="l1").fit(X, y).mistake_bound(X, y)


@pytest.mark.parametrize(
    ("start", "message"),
    [(([[1.0, 2.0]], None), "coef_init"), ((None, [1.0, 2.0]), "intercept_init")],
)
def test_weights_to_begin_with_must_fit(start, message):
    X, y = problem()
    with pytest.raises(ValueError, match=message):
        Perceptron().fit(X, y, *start)


# ---------------------------------------------------------------- Novikoff's theorem


def test_mistakes_never_exceed_novikoff_bound(rng):
    for _ in range(9000):
        margin, n, d = rng.uniform(0.05, 1), rng.integers(1, 60), rng.integers(2, 9)
        X, signs, _ = twin.separated(rng, margin, n, d)
        rows = rng.integers(0, n, 60)
        trials = twin.play(X[rows], signs[rows], HINGE, UNIT)
        radius = np.linalg.norm(X, axis=1).max()
        assert trials.n_wrong <= perceptron_bound(radius, 1 / margin) * (1 + 1e-9)


def test_mistakes_never_exceed_novikoff_bound_if_an_adversary_chooses_the_order(rng):
    longest = 0.0
    for _ in range(1000):
        margin, n, d = rng.uniform(0.2, 1), rng.integers(1, 20), rng.integers(2, 6)
        X, signs, _ = twin.separated(rng, margin, n, d)
        order, w = [], np.zeros(d)
        bound = perceptron_bound(np.linalg.norm(X, axis=1).max(), 1 / margin)
        while len(order) <= bound and (margins := signs * (X @ w)).min() <= 0:
            order.append(np.argmin(margins))
            w += signs[order[-1]] * X[order[-1]]
        trials = twin.play(X[order], signs[order], HINGE, UNIT)
        assert trials.n_wrong == len(order) <= bound * (1 + 1e-9)
        longest = max(longest, len(order) / bound)
    assert longest > 0.4  # the adversary is one


def test_adversary_of_the_estimator_is_bounded_too(rng):
    for _ in range(20):
        X, signs, _ = twin.separated(rng, 0.3, 30, 4)
        model = Perceptron(fit_intercept=False)
        model.partial_fit(X[:1], signs[:1], classes=[-1, 1])
        while (margins := signs * model.decision_function(X)).min() <= 0:
            worst = [np.argmin(margins)]
            model.partial_fit(X[worst], signs[worst])
        assert model.n_mistakes_ == model.n_trials_
        radius = np.linalg.norm(X, axis=1).max()
        assert model.n_mistakes_ <= perceptron_bound(radius, 1 / 0.3)
        np.testing.assert_array_equal(model.predict(X), signs)


def test_orthogonal_samples_attain_the_bound():
    for n in (1, 5, 50):
        signs = np.where(np.arange(n) % 2, 1.0, -1.0)
        trials = twin.play(3 * np.eye(n), signs, HINGE, UNIT)
        np.testing.assert_allclose(trials.n_wrong, perceptron_bound(3.0, np.sqrt(n) / 3))


def test_mistakes_never_exceed_the_bound_by_hinge_losses(rng):
    for X, signs in twin.sequences(rng, 10_000):
        trials = twin.play(X, signs, HINGE, UNIT, intercept=True)
        Z = twin.with_one(X)
        radius = np.linalg.norm(Z, axis=1).max()
        for u in (trials.weights, 3 * rng.normal(size=Z.shape[1])):
            loss = np.maximum(0, 1 - signs * (Z @ u)).sum()
            bound = perceptron_bound(radius, np.linalg.norm(u), loss)
            assert trials.n_wrong <= bound * (1 + 1e-9)


def test_invariants_of_the_proof(rng):
    # On a mistake the squared norm grows by at most that of the sample, so w^2 <= M R^2.
    for X, signs in twin.sequences(rng, 300):
        run = twin.descend(X, signs, twin.perceptron, twin.fixed(1.0))
        norms = np.sum(np.vstack([run.weights, run.last]) ** 2, axis=1)
        growth = np.sum(twin.with_one(X) ** 2, axis=1) * (signs * run.scores <= 0)
        assert np.all(np.diff(norms) <= growth * (1 + 1e-9))
        model = Perceptron().partial_fit(X, signs, classes=[-1, 1])
        square = np.sum(model.coef_**2) + model.intercept_[0] ** 2
        assert square <= model.n_mistakes_ * model.radius_**2 * (1 + 1e-9)


def test_steps_of_kesler_never_exceed_the_bound(rng):
    # All of a problem's samples are separated by the vector that made their classes.
    for _ in range(10_000):
        n, d, n_classes = rng.integers(2, 40), rng.integers(1, 6), rng.integers(3, 5)
        X, U = rng.normal(size=(n, d)), rng.normal(size=(n_classes, d))
        scores = X @ U.T
        codes = scores.argmax(axis=1)
        gaps = np.sort(scores, axis=1)
        margin = np.min(gaps[:, -1] - gaps[:, -2])
        trials = twin.play_together(X, codes, n_classes, HINGE, UNIT)
        radius = np.sqrt(2) * np.linalg.norm(X, axis=1).max()
        assert trials.n_wrong == trials.n_steps
        assert trials.n_wrong <= perceptron_bound(radius, np.linalg.norm(U) / margin) + 1e-9


@pytest.mark.parametrize("params", [{}, {"average": "voted"}, {"multi_class": "kesler"}], ids=str)
@pytest.mark.parametrize("intercept", [True, False])
def test_bound_of_a_fit_is_kept_and_belongs_to_the_comparator(params, intercept):
    for seed in range(20):
        X, y = problem(seed, n=40, n_classes=3)
        model = Perceptron(fit_intercept=intercept, max_iter=5, tol=None, **params).fit(X, y)
        assert model.n_updates_ <= model.bound_ * (1 + 1e-9)
        assert model.bound_ <= len(y) * model.n_iter_ * len(model._views(np.zeros((1, 3)), [0]))
        again = least_mistake_bound(
            model, X, np.searchsorted(model.classes_, y), model.n_iter_, model.comparator_
        )
        np.testing.assert_allclose(again[0], model.bound_, rtol=1e-6)


def test_bound_relative_to_a_good_comparator_is_that_of_novikoff(rng):
    X, signs, u = twin.separated(rng, 0.5, 200, 3)
    model = Perceptron(fit_intercept=False).fit(X, signs)
    radius = np.linalg.norm(X, axis=1).max()
    bound = model.mistake_bound(X, signs, comparator=[*u, 0.0])
    assert model.n_mistakes_ <= bound <= perceptron_bound(radius, 2.0) * (1 + 1e-9)


def test_bound_needs_a_class_for_each_sample():
    X, y = problem()
    model = Perceptron().fit(X, y)
    with pytest.raises(ValueError, match="inconsistent"):
        model.mistake_bound(X, y[:-1])
    with pytest.raises(ValueError, match="not in classes"):
        model.mistake_bound(X, np.full(len(X), "z"))


def test_best_multiple_is_the_best_of_many(rng):
    for _ in range(200):
        margins = rng.normal(rng.uniform(-1, 2), 1, rng.integers(1, 30))
        radius, norm = rng.uniform(0.1, 3, 2)
        bound, factor = best_perceptron_bound(margins, radius, norm)
        factors = np.exp(np.linspace(-6, 6, 400))
        losses = np.maximum(0, 1 - factors[:, None] * margins).sum(axis=1)
        grid = np.min(perceptron_bound(radius, factors * norm, losses))
        assert bound <= min(grid, len(margins)) * 1.01
        if factor:
            loss = np.maximum(0, 1 - factor * margins).sum()
            np.testing.assert_allclose(perceptron_bound(radius, factor * norm, loss), bound)


def test_best_multiple_of_a_vector_with_tiny_margins_is_none():
    # Those multiples that have no loss are beyond the range of numbers.
    assert best_perceptron_bound([1e-310, -1.0], 1.0, 1.0) == (2.0, 0.0)
    assert best_perceptron_bound([1e-310, 1e-310], 1.0, 1.0, repeats=3) == (6.0, 0.0)


def test_bound_solves_its_quadratic_inequality(rng):
    radius, norm, loss = rng.uniform(0, 5, (3, 100))
    bound = perceptron_bound(radius, norm, loss)
    np.testing.assert_allclose(bound, loss + radius * norm * np.sqrt(bound), **ALGEBRA)


def test_disjunctions_are_learned_with_few_mistakes(rng):
    for _ in range(10_000):
        n, m = rng.integers(2, 12), 60
        k = rng.integers(1, n + 1)
        X = (rng.random((m, n)) < rng.choice([0.1, 0.3, 0.5])).astype(np.float64)
        signs = np.where(X[:, :k].any(axis=1), 1.0, -1.0)
        trials = twin.play(X, signs, HINGE, UNIT, intercept=True)
        assert trials.n_wrong <= (4 * k + 1) * (n + 1)


def test_comparator_of_disjunctions_gives_their_bound(rng):
    n, k = 16, 4
    X = (rng.random((4000, n)) < 0.3).astype(np.float64)
    y = X[:, :k].any(axis=1)
    model = Perceptron().partial_fit(X, y, classes=[False, True])
    u = np.r_[np.full(k, 2.0), np.zeros(n - k), -1.0]
    margins = np.where(y, 1, -1) * (twin.with_one(X) @ u)
    assert margins.min() == 1
    bound = perceptron_bound(np.sqrt(n + 1), np.linalg.norm(u))
    np.testing.assert_allclose(bound, (4 * k + 1) * (n + 1))
    assert model.n_mistakes_ <= model.mistake_bound(X, y, u) <= bound


# ---------------------------------------------------------------- states


def test_unfitted_perceptron_says_so():
    for method in ("predict", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(Perceptron(), method)([[1.0]])
    for method in ("standard_coef", "standard_intercept", "sparsify", "densify"):
        with pytest.raises(NotFittedError):
            getattr(Perceptron(), method)()


def test_pickled_state_is_small():
    X, y = problem()
    model = Perceptron(keep_losses=True).partial_fit(X, y, classes=["a", "b"])
    assert len(pickle.dumps(model)) < 20_000


# ---------------------------------------------------------------- numbers out of range


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("as_matrix", [np.asarray, sp.csr_array])
def test_samples_that_are_set_aside_are_looked_at_too(bad, as_matrix):
    for row in range(0, 120, 7):
        X, y = problem()
        X[row, 1] = bad
        with pytest.raises(ValueError, match="X contains"):
            Perceptron(early_stopping=True, validation_fraction=0.3).fit(as_matrix(X), y)


@pytest.mark.parametrize("average", [False, True, "voted"])
def test_scores_out_of_range_are_an_error_of_predictions(average):
    X, y = problem()
    model = Perceptron(average=average, tol=None, max_iter=3).fit(100 * X, y)
    X[5] = 1e308 * np.sign(model.standard_coef()[0])
    with pytest.raises(ValueError, match="exceed the range"):
        model.predict(X)
