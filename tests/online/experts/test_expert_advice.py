"""Learners from expert advice: compiled trials, sleeping experts, estimators as experts."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT
from reference import experts as twin
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import MultinomialNB
from sklearn.tree import DecisionTreeClassifier

from sklearn_sl.online import (
    FixedShare,
    Hedge,
    PassiveAggressiveRegressor,
    Perceptron,
    VariableShare,
    WeightedAverage,
    WeightedMajority,
    hedge,
)
from sklearn_sl.online.experts._expert_weights import (
    AdaptiveState,
    DoublingState,
    ExponentialState,
    FixedShareState,
    VariableShareState,
)

REGRESSORS = [
    WeightedAverage(bounds=(0, 1)),
    WeightedAverage(bounds=(0, 1), prediction="vovk", prior=np.arange(1, 8)),
    WeightedAverage(bounds=(0, 1), loss="absolute"),
    WeightedAverage(bounds=(0, 1), loss="entropic", prediction="vovk"),
    FixedShare(bounds=(0, 1)),
    FixedShare(bounds=(0, 1), alpha=0.0, loss="hellinger"),
    VariableShare(bounds=(0, 1), alpha=0.3),
]
CLASSIFIERS = [
    WeightedMajority(),
    WeightedMajority(beta=0.0),
    WeightedMajority(randomized=True, random_state=3),
    Hedge(),
    Hedge(eta="doubling"),
    Hedge(eta="horizon", horizon=50, share=0.01, randomized=True, random_state=0),
    Hedge(eta=0.7),
]


def name_of(model):
    return "".join(repr(model).split())


def play(state, losses, keep=True):
    """Play trials; return the weighted means of the losses and the weights before each trial."""
    answers = np.empty((len(losses), 2))
    history = np.empty(losses.shape) if keep else np.empty((0, 0))
    assert state.play_losses(losses, answers, history, -np.inf) == len(losses)
    return answers, history


# ---------------------------------------------------------------- compiled trials and their twins


@pytest.mark.parametrize("n_experts", [1, 2, 7, 8, 9, 100])
@pytest.mark.parametrize("eta", [1e-3, 0.5, 20.0])
def test_exponential_weights_equal_their_twin(rng, n_experts, eta):
    losses = rng.random((200, n_experts)) * rng.choice([1.0, 30.0], size=n_experts)
    state = ExponentialState(n_experts, eta)
    answers, weights = play(state, losses)
    expected = twin.exponential_weights(losses, eta)
    np.testing.assert_allclose(weights, expected[:-1], **EXACT)
    np.testing.assert_allclose(np.exp(state.log_weights()), expected[-1], **EXACT)
    np.testing.assert_allclose(answers[:, 0], (expected[:-1] * losses).sum(axis=1), **EXACT)
    np.testing.assert_allclose(answers[:, 1], (expected[:-1] * losses**2).sum(axis=1), **EXACT)
    np.testing.assert_allclose(state.expert_losses(), losses.sum(axis=0), **EXACT)


@pytest.mark.parametrize("n_experts", [1, 2, 9, 100])
def test_adaptive_weights_equal_their_twin(rng, n_experts):
    losses = rng.normal(size=(300, n_experts)) ** 3
    state = AdaptiveState(n_experts)
    answers, weights = play(state, losses)
    expected, gap = twin.adahedge(losses)
    np.testing.assert_allclose(weights, expected, **ALGEBRA)
    np.testing.assert_allclose(answers[:, 0], (expected * losses).sum(axis=1), **ALGEBRA)
    np.testing.assert_allclose(state.gap, gap, **ALGEBRA)


@pytest.mark.parametrize("n_experts", [1, 2, 9, 100])
@pytest.mark.parametrize("alpha", [1e-6, 0.1, 1.0])
@pytest.mark.parametrize(
    ("State", "reference"),
    [(FixedShareState, twin.fixed_share), (VariableShareState, twin.variable_share)],
)
def test_sharing_weights_equal_their_twin(rng, State, reference, n_experts, alpha):
    losses = rng.random((200, n_experts)) * (rng.random((200, n_experts)) < 0.7)
    state = State(n_experts, 2.0, alpha)
    answers, weights = play(state, losses)
    expected = reference(losses, 2.0, alpha)
    # To give all away is ill conditioned: what is left is a difference.
    tolerance = ALGEBRA if alpha == 1 else EXACT
    np.testing.assert_allclose(weights, expected[:-1], **tolerance)
    np.testing.assert_allclose(np.exp(state.log_weights()), expected[-1], **tolerance)
    np.testing.assert_allclose(answers[:, 0], (expected[:-1] * losses).sum(axis=1), **tolerance)
    np.testing.assert_allclose(state.expert_losses(), losses.sum(axis=0), **EXACT)


def test_doubling_weights_equal_their_twin(rng):
    losses = rng.random((100, 5))
    state = DoublingState(5, 1.0)
    weights = []
    for row in losses:
        answers, before = play(state, row[None])
        weights.append(before[0])
        state.note(answers[:, 1])
    np.testing.assert_allclose(weights, twin.doubling(losses), **EXACT)
    np.testing.assert_allclose(state.expert_losses(), losses.sum(axis=0), **EXACT)


@pytest.mark.parametrize("keep", [False, True])
def test_keeping_the_weights_changes_nothing(rng, keep):
    losses = rng.random((50, 13))
    for make in (lambda: ExponentialState(13, 0.3), lambda: FixedShareState(13, 0.3, 0.1)):
        state, other = make(), make()
        np.testing.assert_array_equal(play(state, losses, keep)[0], play(other, losses)[0])
        np.testing.assert_array_equal(state.log_weights(), other.log_weights())


def test_losses_of_any_size_are_in_range(rng):
    # The weights of all experts vanish at once, by factors that no number can hold.
    losses = 1e5 * rng.random((30, 4))
    for state, reference in [
        (ExponentialState(4, 3.0), twin.exponential_weights(losses, 3.0)),
        (FixedShareState(4, 3.0, 0.01), None),
        (VariableShareState(4, 3.0, 0.01), None),
    ]:
        answers, weights = play(state, losses)
        assert np.all(np.isfinite(answers))
        np.testing.assert_allclose(weights.sum(axis=1), 1, **EXACT)
        if reference is not None:
            np.testing.assert_allclose(weights, reference[:-1], **ALGEBRA)
        if isinstance(state, FixedShareState):
            # Who loses least in a trial has all but what is shared.
            best = losses[:-1].argmin(axis=1)
            np.testing.assert_allclose(weights[np.arange(1, 30), best], 0.99, **EXACT)


def test_variable_share_remembers_weights_that_no_number_can_hold():
    # The second expert falls to e^-2000 while the first loses nothing and so shares nothing. When
    # the first loses e^-3000 in one trial, the second is ahead of the third, which lost more.
    losses = np.tile([0.0, 1.0, 1.0], (100, 1))
    losses[50:, 2] += 1e-3
    state = VariableShareState(3, 20.0, 1e-9)
    play(state, losses)
    logs = state.log_weights()
    assert logs[1] < -1900
    # Up to what the two share with each other, a part of 1e-9 in each trial.
    assert logs[1] - logs[2] == pytest.approx(50 * 1e-3 * (20 - np.log1p(-1e-9)), rel=1e-7)


def test_weights_are_exact_after_ten_million_trials():
    # Losses are multiples of 1/16, so that their sums are exact.
    block = np.tile([[0.0, 0.0625, 0.5], [0.0625, 0.0, 0.5]], (250_000, 1))
    block[0, 1] = 0.1875
    fine = ExponentialState(3, 0.1)
    shared = FixedShareState(3, 0.1, 1e-3)
    for _ in range(20):
        play(fine, block, keep=False)
        play(shared, block, keep=False)
    assert fine.expert_losses().tolist() == (20 * block.sum(axis=0)).tolist()
    logs, lost = fine.log_weights(), 20 * block.sum(axis=0)
    np.testing.assert_allclose(logs[1:] - logs[0], -0.1 * (lost[1:] - lost[0]), rtol=1e-14)
    weights = np.exp(shared.log_weights())
    period = twin.fixed_share(np.concatenate([block[2:502], block[2:502]]), 0.1, 1e-3)
    np.testing.assert_allclose(weights, period[-1], rtol=1e-3)
    assert weights.sum() == pytest.approx(1, rel=1e-12)


# ---------------------------------------------------------------- blocks are the whole


def account(model):
    """Return all that a learner knows, as it knows it."""
    names = ("n_mistakes_", "expected_mistakes_", "cumulative_loss_", "loss_curve_", "regret_")
    names += ("log_weights_", "weight_curve_", "expert_losses_", "regret_bound_", "bound_")
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def assert_same_account(model, other):
    for name, value in account(other).items():
        np.testing.assert_array_equal(account(model)[name], value, err_msg=name)


def stream(model, n_trials=150, n_experts=7, n_classes=3, asleep=0.1, seed=0):
    """Return advice, some of it NaN, outcomes, and what the first partial_fit needs."""
    rng = np.random.default_rng(seed)
    if isinstance(model, (Hedge, WeightedMajority)):
        X, y = rng.integers(0, n_classes, (n_trials, n_experts)) * 1.0, None
        y = rng.integers(0, n_classes, n_trials)
        y = np.where(rng.random(n_trials) < 0.5, X[:, 2], y).astype(int)
        params = {"classes": np.arange(n_classes)}
    else:
        X, y, params = rng.random((n_trials, n_experts)), rng.random(n_trials), {}
    X[rng.random(X.shape) < asleep] = np.nan
    return X, y, params


@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS], ids=name_of)
@pytest.mark.parametrize("asleep", [0.0, 0.2])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_blocks_of_partial_fit_are_one_pass_bit_for_bit(model, asleep, n_classes, rng):
    if n_classes == 3 and not isinstance(model, (Hedge, WeightedMajority)):
        n_classes = 2
    model = clone(model).set_params(keep_losses=True, keep_weights=True)
    X, y, params = stream(model, n_classes=n_classes, asleep=asleep)
    whole = clone(model).fit(X, y)
    at_once = clone(model).partial_fit(X, y, **params)
    blocks, start = clone(model), 0
    while start < len(y):
        stop = start + int(rng.integers(1, 30))
        blocks.partial_fit(X[start:stop], y[start:stop], **params)
        start, params = stop, {}
    assert_same_account(at_once, whole)
    assert_same_account(blocks, whole)
    assert_same_account(pickle.loads(pickle.dumps(blocks)), whole)


@pytest.mark.parametrize("model", [REGRESSORS[0], REGRESSORS[4], CLASSIFIERS[3]], ids=name_of)
def test_long_streams_are_their_blocks_too(model):
    # Longer than what is computed at once.
    X, y, params = stream(model, n_trials=7000, asleep=0.0)
    whole, rows = clone(model).fit(X, y), clone(model)
    for start in range(0, len(y), 999):
        rows.partial_fit(X[start : start + 999], y[start : start + 999], **params)
    assert_same_account(rows, whole)


@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS], ids=name_of)
def test_prediction_is_the_answer_of_the_next_trial(model):
    X, y, params = stream(model, n_trials=60, asleep=0.2)
    model = clone(model)
    if getattr(model, "randomized", False):
        model.set_params(randomized=False)
    model.partial_fit(X[:1], y[:1], **params)
    for t in range(1, 60):
        said = model.predict(X[t : t + 1])[0]
        answered = model._predict_and_learn(X[t : t + 1], y[t : t + 1])[0]
        assert said == pytest.approx(answered, rel=1e-9)


@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS], ids=name_of)
def test_order_of_the_experts_does_not_matter(model, rng):
    X, y, _ = stream(model, asleep=0.1)
    order = rng.permutation(X.shape[1])
    model = clone(model)
    if hasattr(model, "prior"):
        model.set_params(prior=None)
    first, second = clone(model).fit(X, y), clone(model).fit(X[:, order], y)
    np.testing.assert_allclose(second.log_weights_, first.log_weights_[order], **ALGEBRA)
    np.testing.assert_allclose(second.cumulative_loss_, first.cumulative_loss_, **ALGEBRA)


# ---------------------------------------------------------------- sleeping experts


def test_sleeping_experts_keep_the_ratio_of_their_weight_to_the_others(rng):
    losses = rng.random((100, 6))
    losses[rng.random(losses.shape) < 0.4] = np.nan
    losses[7] = np.nan
    losses[8, 1:] = np.nan
    state = ExponentialState(6, 0.8)
    answers, weights = play(state, losses)
    expected, charges = twin.specialists(losses, 0.8)
    np.testing.assert_allclose(weights, expected, **EXACT)
    awake = ~np.isnan(losses).all(axis=1)
    means = twin.awake_means(expected[awake], losses[awake])
    np.testing.assert_allclose(answers[awake, 0], means, **EXACT)
    assert np.isnan(answers[~awake]).all() and not awake[7]
    np.testing.assert_allclose(state.expert_losses(), np.nansum(losses, axis=0), **EXACT)
    np.testing.assert_allclose(state.charged, np.isnan(losses).T @ charges, **EXACT)


@pytest.mark.parametrize(
    ("State", "part"),
    [
        (FixedShareState, lambda losses: np.full_like(losses, 0.1)),
        (VariableShareState, lambda losses: 1 - 0.9**losses),
    ],
)
def test_sleeping_experts_share_as_others_do(rng, State, part):
    losses = rng.random((100, 6))
    losses[rng.random(losses.shape) < 0.4] = np.nan

    def share(weights, charged):
        given = part(charged) * weights
        return weights - given + (given.sum() - given) / 5

    _, weights = play(State(6, 0.8, 0.1), losses)
    np.testing.assert_allclose(weights, twin.specialists(losses, 0.8, share)[0], **EXACT)


def test_adahedge_charges_sleeping_experts_what_it_loses_itself(rng):
    losses = rng.random((80, 5))
    losses[rng.random(losses.shape) < 0.3] = np.nan
    losses[3] = np.nan
    run = hedge(losses, keep_weights=True)
    assert run.losses[3] == 0
    told = np.where(np.isnan(losses), run.losses[:, None], losses)
    completed = hedge(told, keep_weights=True)
    np.testing.assert_allclose(run.weight_curve, completed.weight_curve, **ALGEBRA)
    np.testing.assert_allclose(run.losses, completed.losses, **ALGEBRA)
    np.testing.assert_allclose(run.regret, completed.regret, **ALGEBRA)
    np.testing.assert_allclose(run.regret_bound, completed.regret_bound, **ALGEBRA)


@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS], ids=name_of)
def test_expert_that_always_sleeps_changes_nothing(model):
    X, y, _ = stream(model, asleep=0.0)
    model = clone(model)
    if hasattr(model, "prior"):
        model.set_params(prior=None)
    if hasattr(model, "alpha") or getattr(model, "share", 0):
        return  # it gives, and is given to
    if isinstance(model, Hedge):
        model.set_params(eta=0.3)  # the others depend on how many there are
    if isinstance(model, WeightedAverage):
        model.set_params(eta=0.3)
    more = np.column_stack([X[:, :3], np.full(len(X), np.nan), X[:, 3:]])
    first, second = clone(model).fit(X, y), clone(model).fit(more, y)
    np.testing.assert_allclose(second.cumulative_loss_, first.cumulative_loss_, **ALGEBRA)
    others = np.delete(second.weights_, 3)
    np.testing.assert_allclose(others / others.sum(), first.weights_, **ALGEBRA)
    if getattr(model, "beta", 1) > 0:
        np.testing.assert_allclose(second.weights_[3], 1 / 8, **ALGEBRA)
    assert second.expert_losses_[3] == pytest.approx(0, abs=1e-9)


def sleepy_runs(rng, n_runs):
    """Return advice, outcomes and the share of NaN of many short runs."""
    for _ in range(n_runs):
        n_trials, n = int(rng.integers(1, 16)), int(rng.integers(1, 12))
        X, y = rng.random((n_trials, n)), rng.random(n_trials)
        if rng.random() < 0.5:
            X, y = np.round(X), np.round(y)
        X[rng.random(X.shape) < rng.random()] = np.nan
        yield X, y


@pytest.mark.parametrize(
    "model",
    [
        WeightedAverage(bounds=(0, 1), prediction="vovk"),
        WeightedAverage(bounds=(0, 1), loss="entropic"),
        WeightedAverage(bounds=(0, 1), eta="anytime", loss="absolute"),
        WeightedAverage(bounds=(0, 1), eta="adahedge"),
        FixedShare(bounds=(0, 1), alpha=0.1),
        VariableShare(bounds=(0, 1), alpha=0.1),
    ],
    ids=name_of,
)
def test_regret_while_awake_is_bounded_against_every_expert(model, rng):
    # A run is a sequence for each of its experts, who sleep in different trials.
    n_sequences = 0
    for X, y in sleepy_runs(rng, 1750):
        model.fit(X, y)
        bounds = model._regret_bounds()
        # Numbers near one are too coarse for entropic losses above twenty.
        assert np.all(model._regrets() <= bounds + (1e-5 if model.loss == "entropic" else 1e-9))
        n_sequences += len(bounds)
    assert n_sequences >= 10_000


@pytest.mark.parametrize("eta", ["adahedge", "doubling", "horizon", 0.5])
def test_regret_of_hedge_while_awake_is_bounded_against_every_expert(eta, rng):
    n_sequences = 0
    for _ in range(4000):
        losses = rng.random((int(rng.integers(1, 16)), int(rng.integers(1, 6))))
        losses = np.round(losses) if rng.random() < 0.5 else losses
        losses[rng.random(losses.shape) < rng.random()] = np.nan
        run = hedge(losses, eta)
        own = np.sum(np.where(np.isnan(losses), 0, run.losses[:, None]), axis=0)
        regrets = own - np.nansum(losses, axis=0)
        assert regrets.max() <= run.regret_bound + 1e-9
        assert regrets.max() == pytest.approx(run.regret, abs=1e-9)
        n_sequences += losses.shape[1]
    assert n_sequences >= 10_000


@pytest.mark.parametrize("n_classes", [2, 3])
def test_mistakes_while_an_expert_is_awake_are_bounded_by_its_own(n_classes, rng):
    n_sequences = 0
    model = WeightedMajority(beta=0.4, keep_losses=True)
    for _ in range(1000):
        n_trials, n = int(rng.integers(n_classes, 20)), int(rng.integers(1, 12))
        X = rng.integers(0, n_classes, (n_trials, n)) * 1.0
        y = rng.permutation(
            np.append(np.arange(n_classes), rng.integers(0, n_classes, n_trials - n_classes))
        )
        X[rng.random(X.shape) < rng.random()] = np.nan
        model.fit(X, y)
        awake = ~np.isnan(X)
        own = awake.T @ model.loss_curve_
        mistakes = np.sum(awake & (X != y[:, None]), axis=0)
        bounds = (mistakes * np.log(1 / 0.4) + np.log(n)) / np.log(2 / 1.4)
        assert np.all(own <= bounds + 1e-9)
        np.testing.assert_allclose(model.expert_losses_, mistakes, atol=1e-9)
        assert model.n_mistakes_ <= model.bound_ + 1e-9
        n_sequences += n
    assert n_sequences >= 5000


def test_answer_if_all_experts_sleep():
    X = np.array([[np.nan, np.nan], [0.2, 0.4], [np.nan, np.nan]])
    model = WeightedAverage(bounds=(-1, 3), keep_losses=True).fit(X, [1.0, 0.5, 2.0])
    assert model.loss_curve_[[0, 2]].tolist() == [0.0, 1.0]
    assert model.predict(X).tolist()[0] == 1.0
    said = Hedge(eta=1.0).fit(X, ["a", "b", "a"])
    assert said.predict_proba(X)[0].tolist() == [0.5, 0.5]
    assert said.predict(X)[0] == "a"
    assert WeightedMajority().fit(X, ["a", "b", "a"]).predict(X)[0] == "b"


# ---------------------------------------------------------------- estimators as experts


@pytest.fixture(scope="module")
def classes():
    return make_classification(300, 6, n_informative=4, random_state=0)


@pytest.fixture(scope="module")
def numbers():
    return make_regression(200, 4, noise=5.0, random_state=0)


def progressive(expert, X, y, block_size=1, **params):
    """Return what an expert says of blocks before it learns from them; at first it abstains."""
    expert, advice = clone(expert), np.full(len(y), np.nan)
    for start in range(0, len(y), block_size):
        rows = slice(start, start + block_size)
        if start:
            advice[rows] = expert.predict(X[rows])
        expert.partial_fit(X[rows], y[rows], **(params if start == 0 else {}))
    return advice


def test_experts_that_learn_advise_before_they_learn(classes):
    X, y = classes
    experts = [SGDClassifier(random_state=0), ("perceptron", Perceptron())]
    model = Hedge(experts).fit(X, y)
    advice = np.column_stack(
        [
            progressive(experts[0], X, y, classes=[0, 1]),
            Perceptron()._predict_and_learn(X, y, classes=[0, 1]),
        ]
    )
    columns = Hedge().fit(advice, y)
    assert_same_account(model, columns)
    assert model.expert_names_.tolist() == ["expert 0", "perceptron"]
    assert model.n_features_in_ == 6
    assert not hasattr(experts[0], "coef_"), "the expert itself is not touched"
    np.testing.assert_array_equal(
        model.predict(X),
        columns.predict(np.column_stack([m.predict(X) for m in model.estimators_])),
    )


def test_numbers_of_experts_that_learn(numbers):
    X, y = numbers
    experts = [SGDRegressor(random_state=0), PassiveAggressiveRegressor()]
    model = WeightedAverage(experts, bounds=(y.min(), y.max())).fit(X, y)
    advice = np.column_stack(
        [progressive(experts[0], X, y), PassiveAggressiveRegressor()._predict_and_learn(X, y)]
    )
    assert_same_account(model, WeightedAverage(bounds=(y.min(), y.max())).fit(advice, y))


@pytest.mark.parametrize("block_size", [1, 7, 1000])
def test_blocks_of_experts_do_not_depend_on_blocks_of_partial_fit(classes, block_size):
    X, y = classes
    experts = [SGDClassifier(random_state=0, alpha=a) for a in (1e-4, 1.0)]
    model = WeightedMajority(experts, block_size=block_size)
    whole, parts, params = clone(model).fit(X, y), clone(model), {"classes": [0, 1]}
    for start, stop in [(0, 5), (5, 6), (6, 30), (30, 100), (100, 300)]:
        parts.partial_fit(X[start:stop], y[start:stop], **params)
        params = {}
    assert_same_account(parts, whole)
    advice = np.column_stack([progressive(e, X, y, block_size, classes=[0, 1]) for e in experts])
    assert_same_account(WeightedMajority().fit(advice, y), whole)


def test_samples_that_wait_for_their_block_are_copies(classes):
    X, y = classes
    model = Hedge([SGDClassifier(random_state=0)], block_size=50)
    whole, parts = clone(model).fit(X, y), clone(model)
    for start in range(0, 300, 30):
        some = X[start : start + 30].copy()
        parts.partial_fit(some, y[start : start + 30], classes=[0, 1])
        some[:] = 7
    assert_same_account(parts, whole)


def test_fitted_experts_only_predict(classes):
    X, y = classes
    labels = np.array(["no", "yes"])[y]
    experts = [DecisionTreeClassifier(max_depth=d).fit(X[:100], labels[:100]) for d in (1, 3)]
    experts.append(LinearRegression().fit(X[:100], y[:100]))
    model = Hedge(experts, prefit=True).fit(X[100:], labels[100:])
    assert model.estimators_[0] is experts[0]
    advice = np.column_stack(
        [experts[0].predict(X) == "yes", experts[1].predict(X) == "yes", experts[2].predict(X)]
    )
    assert_same_account(model, Hedge().fit(advice[100:], labels[100:]))
    np.testing.assert_array_equal(
        model.predict(X), Hedge().fit(advice[100:], labels[100:]).predict(advice)
    )


def test_fitted_experts_are_given_the_frames_they_know(classes):
    X, y = classes
    frame = pd.DataFrame(X, columns=list("abcdef"))
    expert = LogisticRegression().fit(frame[:100], y[:100])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Hedge([expert], prefit=True).fit(frame[100:], y[100:])
        model.partial_fit(frame[:100], y[:100]).predict(frame)
    assert list(model.feature_names_in_) == list("abcdef")


def test_frozen_experts_survive_clones(classes):
    X, y = classes
    expert = FrozenEstimator(LogisticRegression().fit(X, y))
    model = clone(Hedge([expert], prefit=True)).fit(X, y)
    assert model.expert_losses_[0] == np.sum(expert.predict(X) != y)
    fitted = LogisticRegression().fit(X, y)
    other = clone(Hedge([fitted], prefit=True)).fit(X, y)
    assert other.expert_losses_[0] == np.sum(fitted.predict(X) != y)
    with pytest.raises(NotFittedError):
        Hedge([LogisticRegression()], prefit=True).fit(X, y)


def test_average_takes_the_probabilities_of_classifiers(classes):
    X, y = classes
    experts = [LogisticRegression(C=C).fit(X[:100], y[:100]) for C in (0.01, 1.0)]
    model = WeightedAverage(experts, prefit=True, loss="entropic", bounds=(0, 1))
    model.fit(X[100:], y[100:])
    advice = np.column_stack([expert.predict_proba(X[100:])[:, 1] for expert in experts])
    twin = WeightedAverage(loss="entropic", bounds=(0, 1)).fit(advice, y[100:])
    assert_same_account(model, twin)
    learning = WeightedAverage([SGDClassifier(loss="log_loss", random_state=0)], loss="entropic")
    assert np.all(np.isfinite(learning.fit(X, y).predict(X)))


def test_experts_see_sparse_samples(classes):
    X, y = np.abs(classes[0]), classes[1]
    model = Hedge([MultinomialNB(), Perceptron()], block_size=7)
    dense, sparse = clone(model), clone(model)
    for rows in (slice(0, 3), slice(3, 100), slice(100, 300)):
        dense.partial_fit(X[rows], y[rows], classes=[0, 1])
        sparse.partial_fit(sp.csr_array(X[rows]), y[rows], classes=[0, 1])
    np.testing.assert_array_equal(sparse.expert_losses_, dense.expert_losses_)
    advice = sp.csr_array(np.round(np.abs(X)))
    assert_same_account(Hedge().fit(advice, y), Hedge().fit(advice.toarray(), y))


class Moody(ClassifierMixin, BaseEstimator):
    """Learns from so many samples, and then no more."""

    def __init__(self, patience=10):
        self.patience = patience

    def partial_fit(self, X, y, classes=None):
        self.n_seen_ = getattr(self, "n_seen_", 0) + len(y)
        self.classes_ = np.array([0, 1])
        if self.n_seen_ > self.patience:
            raise RuntimeError("no more")
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


@pytest.mark.parametrize("n_rows", [1, 5])
def test_expert_that_fails_leaves_the_old_state(classes, n_rows):
    X, y = classes
    model = Hedge([SGDClassifier(random_state=0), Moody(), Perceptron()])
    model.partial_fit(X[:10], y[:10], classes=[0, 1])
    coef, before = model.estimators_[0].coef_.copy(), account(model)
    with pytest.raises(RuntimeError, match="no more"):
        model.partial_fit(X[10 : 10 + n_rows], y[10 : 10 + n_rows])
    np.testing.assert_array_equal(model.estimators_[0].coef_, coef)
    assert model.estimators_[1].n_seen_ == 10
    assert model.estimators_[2].n_trials_ == model.n_trials_ == 10
    for name, value in before.items():
        np.testing.assert_array_equal(account(model)[name], value)


def test_complaints_about_experts(classes):
    X, y = classes
    with pytest.raises(ValueError, match="no partial_fit"):
        Hedge([DecisionTreeClassifier()]).fit(X, y)
    with pytest.raises(ValueError, match="no predict"):
        Hedge([("nobody", object())]).fit(X, y)
    with pytest.raises(ValueError, match="estimators must contain"):
        WeightedAverage([]).fit(X, y)
    strange = LogisticRegression().fit(X, np.where(y == 1, "x", "y"))
    with pytest.raises(ValueError, match=r"'expert 0' predicts \['x' 'y'\]"):
        Hedge([strange], prefit=True).fit(X, np.where(y == 1, "a", "z"))


# ---------------------------------------------------------------- advice as classes, bad input


def test_numbers_are_classes_by_their_distance_from_the_threshold():
    X = np.array([[-7.0, 0.49, 0.5, 1.49, 1.5, 9.0]]).T
    model = Hedge().fit(X, [0, 1, 2, 0, 1, 2])
    assert model.predict(X).tolist() == [0, 0, 1, 1, 2, 2]
    model = Hedge(threshold=-1).fit(X, [0, 1, 2, 0, 1, 2])
    assert model.predict(X).tolist() == [0, 2, 2, 2, 2, 2]
    model = WeightedMajority(threshold=1.5).fit(X, [0, 1, 1, 0, 1, 1])
    assert model.predict(X).tolist() == [0, 0, 0, 0, 1, 1]


@pytest.mark.parametrize("model", [WeightedAverage(), FixedShare(), Hedge(), WeightedMajority()])
def test_infinite_advice_raises_and_leaves_the_old_state(model, rng):
    X, y = rng.random((30, 3)), np.arange(30) % 2
    model = clone(model).fit(X, y)
    before = account(model)
    for value in (np.inf, -np.inf):
        bad = X.copy()
        bad[17, 1] = value
        for rows in (slice(None), slice(17, 18)):
            with pytest.raises(ValueError, match="infinity"):
                model.partial_fit(bad[rows], y[rows])
            with pytest.raises(ValueError, match="infinity"):
                model.predict(bad[rows])
        bad[17, 0] = np.nan
        with pytest.raises(ValueError, match="infinity"):
            model.partial_fit(bad, y)
    for name, value in before.items():
        np.testing.assert_array_equal(account(model)[name], value)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e150])
def test_scales_of_the_data_do_not_matter(scale, rng):
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    model = WeightedAverage().fit(X, y)
    other = WeightedAverage().fit(scale * X, scale * y)
    np.testing.assert_allclose(other.weights_, model.weights_, rtol=1e-7)
    np.testing.assert_allclose(other.predict(scale * X) / scale, model.predict(X), rtol=1e-7)


def test_huge_numbers_are_no_infinity(rng):
    X, y = np.full((20, 4), 1.5e308), np.arange(20) % 2
    assert Hedge().fit(X, y).predict(X).tolist() == [1] * 20
    model = WeightedAverage(bounds=(0, 1)).fit(X, y)
    assert model.predict(X).tolist() == [1.0] * 20


def test_columns_and_estimators_do_not_take_the_place_of_each_other():
    X, y = make_classification(30, random_state=0)
    learned = Hedge([Perceptron(), Perceptron(average=True)]).fit(X, y)
    advised = Hedge().fit(X, y)
    for model, estimators in ((learned, None), (advised, [Perceptron()])):
        model.set_params(estimators=estimators)
        for call in (lambda: model.partial_fit(X, y), lambda: model.predict(X)):  # noqa: B023
            with pytest.raises(ValueError, match="call fit"):
                call()
        assert len(model.fit(X, y).weights_) == (20 if estimators is None else 1)
        assert hasattr(model, "estimators_") == (estimators is not None)
