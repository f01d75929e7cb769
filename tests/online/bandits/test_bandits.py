"""Bandits: the learners against their definitions, their estimates, and their bounds."""

import pickle

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from reference import bandits as twin
from sklearn.base import clone
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils._param_validation import InvalidParameterError

import sklearn_sl.base
from sklearn_sl.datasets import make_bandit_losses
from sklearn_sl.online import UCB1, Exp3, Exp3IX, importance_weighted_loss
from sklearn_sl.theory import exp3_bound, exp3ix_bound, german_tank_estimate, ucb1_bound

LEARNERS = [
    Exp3(random_state=0),
    Exp3(eta=0.3, random_state=1),
    Exp3(horizon=300, low=-1.0, high=3.0, random_state=2),
    Exp3IX(random_state=3),
    Exp3IX(eta=0.2, gamma=0.05, random_state=4),
    Exp3IX(horizon=300, random_state=5),
    UCB1(),
    UCB1(low=-2.0, high=5.0),
]
for_every_learner = pytest.mark.parametrize("learner", LEARNERS, ids=repr)
ARRAYS = ["probabilities_", "n_pulls_"]
NUMBERS = ["n_rounds_", "cumulative_loss_"]


def losses_for(learner, n_rounds=300, n_arms=5, seed=0):
    """Return losses in the range of a learner."""
    losses = np.random.default_rng(seed).uniform(size=(n_rounds, n_arms))
    losses[:, 2] **= 2
    return learner.low + (learner.high - learner.low) * losses


def by_hand(learner, losses):
    """Play one round after the other; return the arms."""
    arms = []
    for row in losses:
        arms.append(learner.select())
        learner.update(arms[-1], row[arms[-1]])
    return np.array(arms)


def assert_same_bits(learner, other):
    """Check that two learners are in the same state."""
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(learner, name), getattr(other, name))
    for name in NUMBERS:
        assert getattr(learner, name) == getattr(other, name)
    if hasattr(learner, "_estimates"):
        np.testing.assert_array_equal(learner._estimates, other._estimates)
        assert learner.path_bound_ == other.path_bound_
        assert learner._rng.random() == other._rng.random()


# ---------------------------------------------------------------- one round, many rounds


@for_every_learner
def test_replay_is_select_and_update_to_the_last_bit(learner):
    losses = losses_for(learner)
    replayed = clone(learner).replay(losses)
    played = clone(learner).set_params(n_arms=5)
    np.testing.assert_array_equal(by_hand(played, losses), replayed.arms_)
    assert_same_bits(played, replayed)


@for_every_learner
def test_replay_in_blocks_is_the_whole_to_the_last_bit(learner):
    losses = losses_for(learner)
    whole = clone(learner).replay(losses)
    parts = clone(learner)
    for block in np.split(losses, [1, 2, 50, 211]):
        parts.replay(block, resume=True)
    assert (whole.regret_, whole.best_arm_) == (parts.regret_, parts.best_arm_)
    assert_same_bits(parts, whole)


@for_every_learner
def test_slices_of_a_replay_leave_no_trace(learner, monkeypatch):
    losses = losses_for(learner)
    whole = clone(learner).replay(losses)
    monkeypatch.setattr("sklearn_sl.online.bandits._bandit.SLICE", 100)
    assert_same_bits(clone(learner).replay(losses), whole)


@for_every_learner
def test_replay_starts_afresh_unless_told_to_resume(learner):
    losses = losses_for(learner)
    again = clone(learner).replay(losses[:100]).replay(losses)
    assert_same_bits(again, clone(learner).replay(losses))


def test_random_state_of_a_replay_stands_in_for_the_parameter():
    losses = make_bandit_losses(100, random_state=0)
    other = Exp3(random_state=1).replay(losses, random_state=7)
    np.testing.assert_array_equal(other.arms_, Exp3(random_state=7).replay(losses).arms_)
    assert np.any(other.arms_ != Exp3(random_state=1).replay(losses).arms_)


@for_every_learner
def test_account_is_that_of_the_chosen_arms(learner):
    losses = losses_for(learner)
    played = clone(learner).replay(losses)
    chosen = losses[np.arange(len(losses)), played.arms_]
    np.testing.assert_array_equal(played.n_pulls_, np.bincount(played.arms_, minlength=5))
    np.testing.assert_allclose(played.cumulative_loss_, chosen.sum(), **EXACT)
    regret = chosen.sum() - losses.sum(axis=0).min()
    np.testing.assert_allclose(played.regret_, regret, **EXACT)
    assert played.best_arm_ == losses.sum(axis=0).argmin()
    assert played.n_rounds_ == len(losses)
    np.testing.assert_allclose(played.probabilities_.sum(), 1, **EXACT)


@for_every_learner
def test_regret_is_unknown_once_a_single_loss_was_told(learner):
    losses = losses_for(learner)
    played = clone(learner).replay(losses[:10])
    by_hand(played, losses[10:11])
    assert played.regret_ is None
    assert played.best_arm_ is None
    assert played.replay(losses[11:], resume=True).regret_ is None
    assert_same_bits(played, clone(learner).replay(losses))


# ---------------------------------------------------------------- twins


@pytest.mark.parametrize("gamma", [0.0, 0.05])
def test_exponential_weights_equal_the_twin(gamma, rng):
    losses = rng.uniform(size=(200, 6))
    learner = Exp3(eta=0.1) if gamma == 0 else Exp3IX(eta=0.1, gamma=gamma)
    learner.replay(losses, random_state=3)
    fresh = clone(learner)
    fresh._begin(6, 3)
    arms, estimates = twin.exp3(losses, fresh._rng.random(200), np.full(200, 0.1), [gamma] * 200)
    np.testing.assert_array_equal(learner.arms_, arms)
    np.testing.assert_allclose(learner.estimated_losses_, estimates.sum(axis=0), **ALGEBRA)
    v = twin.softmax(-0.1 * estimates.sum(axis=0))
    np.testing.assert_allclose(learner.probabilities_, v, **ALGEBRA)


def test_anytime_rates_equal_the_twin(rng):
    losses = rng.uniform(size=(150, 4))
    learner = Exp3IX().replay(losses, random_state=5)
    fresh = Exp3IX()
    fresh._begin(4, 5)
    etas = np.sqrt(np.log(4) / (4 * np.arange(1, 151)))
    arms, estimates = twin.exp3(losses, fresh._rng.random(150), etas, etas / 2)
    np.testing.assert_array_equal(learner.arms_, arms)
    np.testing.assert_allclose(learner.estimated_losses_, estimates.sum(axis=0), **ALGEBRA)
    np.testing.assert_allclose(learner.eta_, np.sqrt(np.log(4) / (4 * 151)), **EXACT)


def test_ucb1_equals_the_twin(rng):
    losses = (rng.uniform(size=(400, 5)) < [0.2, 0.4, 0.4, 0.5, 0.9]).astype(float)
    learner = UCB1().replay(losses)
    np.testing.assert_array_equal(learner.arms_, twin.ucb1(losses))
    means = [losses[learner.arms_ == arm, arm].mean() for arm in range(5)]
    np.testing.assert_allclose(learner.mean_losses_, means, **ALGEBRA)


def test_ucb1_tries_each_arm_once_and_takes_the_first_of_equals():
    arms = UCB1().replay(np.zeros((8, 3))).arms_
    np.testing.assert_array_equal(arms, [0, 1, 2, 0, 1, 2, 0, 1])


@for_every_learner
def test_range_of_the_losses_is_a_unit(learner):
    losses = losses_for(Exp3())
    unit = clone(learner).set_params(low=0.0, high=1.0).replay(losses)
    wide = clone(learner).set_params(low=-2.0, high=2.0).replay(4 * losses - 2)
    np.testing.assert_array_equal(wide.arms_, unit.arms_)
    np.testing.assert_allclose(wide.regret_, 4 * unit.regret_, **ALGEBRA)
    np.testing.assert_allclose(wide.regret_bound_, 4 * unit.regret_bound_, **ALGEBRA)
    if hasattr(unit, "path_bound_"):
        np.testing.assert_allclose(wide.path_bound_, 4 * unit.path_bound_, **ALGEBRA)
        np.testing.assert_allclose(wide.estimated_regret_, 4 * unit.estimated_regret_, **ALGEBRA)


# ---------------------------------------------------------------- estimates


def test_importance_weighted_losses_are_right_on_average(rng):
    v, losses = rng.dirichlet(np.ones(7)), rng.uniform(size=7)
    estimates = importance_weighted_loss(losses, np.arange(7), v)
    np.testing.assert_allclose(v @ estimates, losses, **EXACT)
    np.testing.assert_allclose(v @ estimates**2, losses**2 / v, **EXACT)
    for arm in range(7):
        one = importance_weighted_loss(losses[arm], arm, v)
        np.testing.assert_array_equal(one, estimates[arm])


def test_importance_weighted_losses_are_what_exp3_adds_up(rng):
    losses = rng.uniform(size=(50, 4))
    learner, estimates = Exp3(4, eta=0.2, random_state=0), np.zeros(4)
    for row in losses:
        arm = learner.select()
        estimates += importance_weighted_loss(row[arm], arm, learner.probabilities_)
        learner.update(arm, row[arm])
    np.testing.assert_allclose(learner.estimated_losses_, estimates, **EXACT)


def test_importance_weights_of_many_rounds_are_those_of_each(rng):
    v = rng.dirichlet(np.ones(3), size=5)
    arms, losses = rng.integers(3, size=5), rng.uniform(size=5)
    together = importance_weighted_loss(losses, arms, v)
    each = [importance_weighted_loss(*row) for row in zip(losses, arms, v, strict=True)]
    np.testing.assert_array_equal(together, each)


@pytest.mark.parametrize(("arm", "chances"), [(2, [0.5, 0.5]), (-1, [0.5, 0.5]), (0.0, [1.0])])
def test_importance_weights_of_no_arm_are_refused(arm, chances):
    with pytest.raises(ValueError, match="arm must be in"):
        importance_weighted_loss(1.0, arm, chances)


def test_importance_weight_of_an_impossible_draw_is_refused():
    with pytest.raises(ValueError, match="probabilities must be in"):
        importance_weighted_loss(1.0, 0, [0.0, 1.0])


@pytest.mark.parametrize("n_tanks", [1, 2, 17, 1000])
def test_german_tank_estimate_is_right_on_average_and_the_likeliest_number_is_not(n_tanks):
    serials = np.arange(1, n_tanks + 1)
    assert german_tank_estimate(serials).mean() == n_tanks
    assert serials.mean() == (n_tanks + 1) / 2


# ---------------------------------------------------------------- theorems


def sequences(rng, n_sequences, n_rounds, n_arms):
    """Return random sequences, and adversarial ones of zeros and ones."""
    losses = rng.uniform(size=(n_sequences, n_rounds, n_arms))
    sharp = rng.uniform(size=(n_sequences, 1, n_arms))
    half = n_sequences // 2
    losses[:half] = losses[:half] < sharp[:half]
    return losses


@pytest.mark.parametrize(("n_arms", "n_rounds"), [(2, 8), (3, 5)])
def test_expected_regret_of_exp3_never_exceeds_its_bound(n_arms, n_rounds, rng):
    losses = sequences(rng, 6000, n_rounds, n_arms)
    best = losses.sum(axis=1).min(axis=1)
    tuned = np.full(6000, np.sqrt(2 * np.log(n_arms) / (n_rounds * n_arms)))
    anytime = np.sqrt(np.log(n_arms) / (n_arms * np.arange(1, n_rounds + 1)))
    for etas, bound in [
        (np.tile(tuned[:, None], n_rounds), exp3_bound(n_rounds, n_arms)),
        (np.tile(anytime, (6000, 1)), exp3_bound(n_rounds, n_arms, anytime=True)),
    ]:
        regrets = twin.expected_losses_of_exp3(losses, etas) - best
        assert np.all(regrets <= bound)
    eta = np.exp(rng.uniform(-3, 2, size=6000))
    regrets = twin.expected_losses_of_exp3(losses, np.tile(eta[:, None], n_rounds)) - best
    assert np.all(regrets <= exp3_bound(n_rounds, n_arms, eta))


def test_estimated_regret_never_exceeds_the_bound_of_its_path(rng):
    # The lemma of exponential weights holds in every run, whatever is drawn.
    for seed, losses in enumerate(sequences(rng, 10_000, 25, 3)):
        eta = [0.05, 1.0, 4.0, "auto"][seed % 4]
        learner = Exp3(eta=eta) if seed % 8 < 4 else Exp3IX(eta=eta)
        learner.replay(losses, random_state=seed)
        assert learner.estimated_regret_ <= learner.path_bound_ + 1e-9


def test_mean_regret_of_exp3_is_that_of_the_notes():
    losses = make_bandit_losses(5000, 10, gap=0.2, random_state=0)
    learner = Exp3(horizon=5000)
    regrets = [learner.replay(losses, random_state=seed).regret_ for seed in range(50)]
    np.testing.assert_allclose(learner.regret_bound_, 479.9, atol=0.05)
    # 304.6 with a standard deviation of 46 over the runs.
    assert abs(np.mean(regrets) - 304.6) < 3 * 46 / np.sqrt(50)
    assert 30 < np.std(regrets) < 60


def test_sampled_mean_of_exp3_is_its_expectation(rng):
    losses = sequences(rng, 1, 6, 3)
    exact = twin.expected_losses_of_exp3(losses, np.full((1, 6), 0.5))[0]
    learner = Exp3(eta=0.5)
    totals = [learner.replay(losses[0], random_state=seed).cumulative_loss_ for seed in range(4000)]
    assert abs(np.mean(totals) - exact) < 4 * np.std(totals) / np.sqrt(4000)


@pytest.mark.parametrize("horizon", [40, None])
def test_regret_of_exp3ix_exceeds_its_bound_as_seldom_as_it_promises(horizon, rng):
    learner = Exp3IX(horizon=horizon, delta=0.2)
    failed = 0
    for seed, losses in enumerate(sequences(rng, 6000, 40, 3)):
        failed += learner.replay(losses, random_state=seed).regret_ > learner.regret_bound_
    assert failed <= 0.2 * 6000


def test_implicit_exploration_prevents_disasters():
    # An arm that was the best one for long becomes the worst one, and the other has faded.
    losses = np.zeros((20_000, 2))
    losses[:10_000, 1], losses[10_000:, 0] = 0.25, 1.0
    regrets = {
        Learner: [
            Learner(horizon=20_000).replay(losses, random_state=seed).regret_ for seed in range(60)
        ]
        for Learner in (Exp3, Exp3IX)
    }
    assert np.max(regrets[Exp3]) > exp3ix_bound(20_000, 2) > 0 > np.max(regrets[Exp3IX])
    assert np.std(regrets[Exp3]) > 5 * np.std(regrets[Exp3IX])


def test_mean_pseudo_regret_of_ucb1_never_exceeds_its_bounds(rng):
    for seed in range(250):
        means = rng.uniform(size=rng.integers(2, 5))
        learner, regrets, pulls = UCB1(), [], np.zeros(len(means))
        for _ in range(40):
            learner.replay((rng.uniform(size=(60, len(means))) < means).astype(float))
            regrets.append(learner.pseudo_regret(means))
            pulls += learner.n_pulls_ / 40
        gaps = means - means.min()
        assert np.mean(regrets) <= ucb1_bound(60, gaps), seed
        assert np.mean(regrets) <= learner.regret_bound_
        others = gaps > 0
        assert np.all(pulls[others] <= 8 * np.log(60) / gaps[others] ** 2 + 1 + np.pi**2 / 3)


def test_ucb1_finds_the_best_arm_and_an_adversary_fools_it():
    losses = make_bandit_losses(5000, means=[0.5, 0.3, 0.5], random_state=0)
    learner = UCB1().replay(losses)
    assert learner.n_pulls_[1] > 4000
    # It plays in turns as long as the arms look the same, and so can be met by a loss each time.
    arms = UCB1().replay(np.zeros((500, 2))).arms_
    trap = np.zeros((500, 2))
    fooled = UCB1(2)
    for t in range(500):
        arm = fooled.select()
        trap[t, arm] = 1
        fooled.update(arm, 1.0)
    assert UCB1().replay(trap).regret_ >= 245
    assert len(np.unique(arms)) == 2


# ---------------------------------------------------------------- the bounds as functions


def test_best_rate_of_exp3_minimises_the_bound():
    best = np.sqrt(2 * np.log(10) / (5000 * 10))
    np.testing.assert_allclose(exp3_bound(5000, 10, best), exp3_bound(5000, 10), **ALGEBRA)
    others = best * np.exp(np.linspace(-1, 1, 21))
    assert np.all(exp3_bound(5000, 10, others) >= exp3_bound(5000, 10) - 1e-9)


def test_anytime_bounds_are_above_what_the_rates_add_up_to():
    n, m = 7, 1000
    etas = np.sqrt(np.log(n) / (n * np.arange(1, m + 1)))
    sums = np.log(n) / etas[-1] + n * etas.sum() / 2
    assert sums <= exp3_bound(m, n, anytime=True) <= 1.05 * sums
    log = np.log(2 / 0.1)
    sums = (2 * np.log(n) + log) / etas[-1] + n * etas.sum() + log
    assert sums <= exp3ix_bound(m, n, 0.1, anytime=True) <= 1.05 * sums


def test_bound_of_exp3ix_has_its_closed_form():
    m, n, log = 5000, 10, np.log(2 / 0.01)
    closed = 2 * np.sqrt(2 * m * n * np.log(n)) + (np.sqrt(m * n / (2 * np.log(n))) + 1) * log
    np.testing.assert_allclose(exp3ix_bound(m, n, 0.01), closed, **ALGEBRA)
    eta = np.sqrt(2 * np.log(n) / (m * n))
    np.testing.assert_allclose(exp3ix_bound(m, n, 0.01, eta, eta / 2), closed, **ALGEBRA)
    assert exp3ix_bound(m, n, 0.01, eta, eta / 8) > closed


def test_bound_of_ucb1_for_any_gaps_is_above_that_of_each(rng):
    anything = ucb1_bound(500, n_arms=4)
    for gap in rng.uniform(size=200):
        # The regret is at most the gap in each round, too.
        assert min(ucb1_bound(500, [0, gap, gap, gap]), 500 * gap) <= anything


def test_one_arm_has_no_regret():
    for learner in (Exp3(), Exp3IX(), Exp3(horizon=9), Exp3IX(horizon=9), UCB1()):
        learner.replay(np.full((9, 1), 0.5), random_state=0)
        assert (learner.regret_, learner.n_pulls_.tolist()) == (0.0, [9])
        assert learner.regret_bound_ == 0
        np.testing.assert_array_equal(learner.probabilities_, [1.0])


@pytest.mark.parametrize(
    "call",
    [
        lambda: exp3_bound(-1, 3),
        lambda: exp3_bound(10, 0),
        lambda: exp3_bound(10, 3, eta=0.0),
        lambda: exp3ix_bound(10, 3, delta=0.0),
        lambda: exp3ix_bound(10, 3, delta=1.5),
        lambda: ucb1_bound(0, [0.1]),
        lambda: ucb1_bound(10, [-0.1]),
        lambda: ucb1_bound(10),
        lambda: german_tank_estimate(0),
    ],
)
def test_bounds_refuse_what_their_theorems_do_not_speak_of(call):
    with pytest.raises(ValueError):
        call()


# ---------------------------------------------------------------- long games, copies


@pytest.mark.parametrize("learner", [Exp3(eta=0.5), Exp3(), Exp3IX(eta=0.5)], ids=repr)
def test_weights_neither_vanish_nor_overflow_in_long_games(learner):
    losses = np.ones((1_000_000, 3))
    losses[::2, 1] = 0
    learner.replay(losses, random_state=0)
    assert learner.best_arm_ == learner.n_pulls_.argmax() == 1
    assert np.all(np.isfinite(learner.estimated_losses_))
    assert np.isfinite(learner.path_bound_)
    np.testing.assert_allclose(learner.probabilities_.sum(), 1, **EXACT)


def test_extreme_rates_stay_finite():
    losses = np.random.default_rng(0).uniform(size=(2000, 4))
    for eta in (1e-300, 1e6, 1e300):
        learner = Exp3(eta=eta).replay(losses, random_state=0)
        assert np.all(np.isfinite(learner.probabilities_))
        assert np.all(np.isfinite(learner.estimated_losses_))


@for_every_learner
def test_pickled_learner_goes_on_as_the_original(learner):
    losses = losses_for(learner)
    played = clone(learner).replay(losses[:100])
    arm = played.select()
    copy = pickle.loads(pickle.dumps(played))
    for one in (played, copy):
        one.update(arm, losses[100, arm])
        one.replay(losses[101:], resume=True)
    assert_same_bits(copy, played)


def test_learner_pickled_by_another_version_says_so(monkeypatch):
    with monkeypatch.context() as past:
        past.setattr(sklearn_sl.base, "__version__", "0.0.0")
        old = pickle.dumps(Exp3(3))
    with pytest.warns(InconsistentVersionWarning):
        pickle.loads(old)


def test_learners_are_configured_as_estimators_are():
    learner = Exp3IX(5, gamma=0.1)
    assert repr(learner) == "Exp3IX(gamma=0.1, n_arms=5)"
    assert clone(learner).get_params() == learner.get_params()
    assert "Exp3IX" in learner._repr_html_()


@for_every_learner
def test_interrupted_replay_leaves_the_old_state(learner, monkeypatch):
    losses = losses_for(learner)
    played = clone(learner).replay(losses[:100])
    before = dict(vars(played))
    expected = pickle.loads(pickle.dumps(played)).replay(losses[100:], resume=True)
    monkeypatch.setattr("sklearn_sl.online.bandits._bandit.SLICE", 300)
    original = type(played)._replay

    def interrupt(self, part, arms):
        original(self, part, arms)
        if self.n_rounds_ > 150:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(type(played), "_replay", interrupt)
        with pytest.raises(KeyboardInterrupt):
            played.replay(losses[100:], resume=True)
    assert all(vars(played)[name] is value for name, value in before.items())
    assert_same_bits(played.replay(losses[100:], resume=True), expected)


def test_memory_maps_lists_and_integers_are_read(tmp_path):
    losses = np.random.default_rng(0).integers(0, 2, size=(60, 3))
    expected = Exp3(random_state=0).replay(losses.astype(float)).arms_
    np.save(tmp_path / "losses.npy", losses.astype(float))
    mapped = np.load(tmp_path / "losses.npy", mmap_mode="r")
    for given in (losses, losses.tolist(), mapped, np.asfortranarray(losses), losses > 0):
        np.testing.assert_array_equal(Exp3(random_state=0).replay(given).arms_, expected)


# ---------------------------------------------------------------- bad input


@for_every_learner
def test_rounds_have_an_order(learner):
    learner = clone(learner).set_params(n_arms=5)
    with pytest.raises(RuntimeError, match="before select"):
        learner.update(0, 0.5)
    arm = learner.select()
    with pytest.raises(RuntimeError, match="update has not been called"):
        learner.select()
    with pytest.raises(RuntimeError, match="call update before replay"):
        learner.replay(losses_for(learner), resume=True)
    with pytest.raises(ValueError, match="was selected"):
        learner.update((arm + 1) % 5, 0.5)
    learner.update(arm, 0.5)
    with pytest.raises(RuntimeError, match="before select"):
        learner.update(arm, 0.5)


@for_every_learner
@pytest.mark.parametrize("loss", [np.nan, np.inf, -9.0, 9.0, "1", None])
def test_impossible_losses_are_refused_and_change_nothing(learner, loss):
    learner = clone(learner).set_params(n_arms=5)
    arm = learner.select()
    with pytest.raises(ValueError, match="must be in"):
        learner.update(arm, loss)
    learner.update(arm, 0.5)
    assert learner.n_rounds_ == 1


@pytest.mark.parametrize(
    ("losses", "message"),
    [
        ([[0.5, np.nan]], "NaN"),
        ([[0.5, np.inf]], "infinity"),
        ([[0.5, 1.5]], "losses must be in"),
        ([[0.5, -0.5]], "losses must be in"),
        (np.empty((0, 2)), "minimum of 1"),
        ([0.5, 0.5], "2D"),
    ],
)
def test_impossible_games_are_refused(losses, message):
    for learner in (Exp3(), Exp3IX(), UCB1()):
        with pytest.raises(ValueError, match=message):
            learner.replay(losses)
        assert not hasattr(learner, "n_rounds_")


def test_number_of_arms_must_be_known_and_kept():
    with pytest.raises(ValueError, match="set n_arms"):
        Exp3().select()
    with pytest.raises(ValueError, match="3 columns, one for each arm; got 2"):
        Exp3(3).replay(np.zeros((5, 2)))
    with pytest.raises(ValueError, match="2 columns, one for each arm; got 3"):
        UCB1().replay(np.zeros((5, 2))).replay(np.zeros((5, 3)), resume=True)


@pytest.mark.parametrize(
    ("Learner", "params"),
    [
        (Exp3, {"eta": 0.0}),
        (Exp3, {"eta": "best"}),
        (Exp3, {"horizon": 0}),
        (Exp3, {"n_arms": 0}),
        (Exp3, {"low": np.inf}),
        (Exp3IX, {"gamma": 0.0}),
        (Exp3IX, {"delta": 1.0}),
        (UCB1, {"high": "one"}),
    ],
)
def test_impossible_parameters_are_refused(Learner, params):
    with pytest.raises(InvalidParameterError):
        Learner(**params).replay(np.zeros((2, 2)))
    with pytest.raises(InvalidParameterError):
        Learner(**{"n_arms": 2, **params}).select()


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (2.0, 1.0), (-1e308, 1e308)])
def test_range_of_losses_must_be_a_range(low, high):
    with pytest.raises(ValueError, match="low must be less than high"):
        UCB1(2, low=low, high=high).select()
