"""Parameters that change in the middle of a stream: they take effect, or there is an error."""

import pickle

import numpy as np
import pytest
from _checks import configurations
from _checks import problem as common_problem
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils._param_validation import InvalidParameterError

from sklearn_sl.graph import GraphOnlinePredictor
from sklearn_sl.kernels import Gaussian
from sklearn_sl.online import (
    UCB1,
    Exp3,
    Exp3IX,
    FixedShare,
    GridThresholdHalving,
    Halving,
    Hedge,
    KernelPerceptron,
    MatrixCompletion,
    OnlineGradientDescentClassifier,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Perceptron,
    SwitchingMultitaskExperts,
    WeightedAverage,
    WeightedMajority,
    Winnow,
)
from sklearn_sl.online._parameters import is_same
from sklearn_sl.online._protocol import ONLINE

PATH = np.diag(np.ones(9), 1) + np.diag(np.ones(9), -1)
# One of each kind.
LEARNERS = {
    type(model).__name__: model
    for model in configurations(own=True)
    if isinstance(model, ONLINE)
    and get_tags(model).input_tags.two_d_array
    and hasattr(model, "partial_fit")
} | {"GraphOnlinePredictor": GraphOnlinePredictor(PATH)}
PAIRS = [(kind, name) for kind, model in LEARNERS.items() for name in model.get_params(deep=False)]
# What the steps of learners that scikit-learn has, too, read in each call.
OF_STEPS = {"C", "eta0", "loss", "epsilon", "class_weight", "penalty"}
OTHERS = (0.3, 0.7, 2, 3, 5, 1.5, 1, 0, None, (-30.0, 30.0), [0.2, 0.8], Gaussian(0.7))


def problem(kind):
    """Return a learner, the trials of a stream, and the parameters of its first call."""
    model = clone(LEARNERS[kind])
    known = {"random_state": 0, "bounds": (-10.0, 10.0), "gamma": 0.5}
    model.set_params(**{name: known[name] for name in known.keys() & model.get_params().keys()})
    if kind == "GraphOnlinePredictor":
        X, y = np.arange(10)[:, None], np.arange(10) // 5
    else:
        X, y = common_problem(model)[:2]
    return model, X, y, {"classes": np.unique(y)} if is_classifier(model) else {}


def is_valid(model, name, value):
    """Return whether a parameter may have a value, for all that is known before the data."""
    try:
        clone(model).set_params(**{name: value})._validate_params()
    except InvalidParameterError:
        return False
    return True


def another_value(model, name, y):
    """Return another valid value of a parameter."""
    value = getattr(model, name)
    if name == "graph":
        return PATH / 2
    if name == "class_weight":
        return dict.fromkeys(np.unique(y).tolist(), 7.0)
    if isinstance(value, bool):
        return not value
    options = [
        option
        for constraint in model._parameter_constraints[name]
        for option in sorted(getattr(constraint, "options", ()))
    ]
    for other in (*options, *OTHERS, [Perceptron()], [np.sign], {}):
        if not is_same(value, other) and is_valid(model, name, other):
            return other
    raise AssertionError(f"No other value for {name} is known.")


def as_bytes(model):
    return pickle.dumps({name: value for name, value in vars(model).items() if name != "_table"})


def assert_same_state(model, twin):
    for name, value in vars(twin).items():
        if isinstance(value, np.ndarray | float | int):
            np.testing.assert_array_equal(getattr(model, name), value, err_msg=name)


@pytest.mark.parametrize(("kind", "name"), PAIRS)
def test_a_changed_parameter_takes_effect_or_raises(kind, name):
    model, X, y, first = problem(kind)
    twin = clone(model).partial_fit(X, y, **first).partial_fit(X, y)
    model.partial_fit(X, y, **first)
    value, other = getattr(model, name), another_value(model, name, y)
    model.set_params(**{name: other})
    before = as_bytes(model)
    if name not in model._free:
        with pytest.raises(ValueError, match=f"{name} changed from .* to .* call fit"):
            model.partial_fit(X, y)
        assert as_bytes(model) == before
        model.set_params(**{name: value}).partial_fit(X, y)
        assert_same_state(model, twin)
    else:
        model.partial_fit(X, y)
        assert getattr(model, "bound_", None) is None or name in ("max_iter", "on_empty")
        if name not in OF_STEPS:
            model.set_params(**{name: value})
            assert_same_state(model, twin)
        elif name not in ("epsilon", "eta0"):
            assert not np.array_equal(model.coef_, twin.coef_)
    # Whatever happened, a fit starts afresh with the parameters that there are.
    fresh = clone(model).fit(X, y)
    assert is_same(fresh._began_with[name], getattr(fresh, name))


@pytest.mark.parametrize(("kind", "name"), PAIRS)
def test_parameters_are_validated_in_every_call(kind, name):
    model, X, y, first = problem(kind)
    model.partial_fit(X, y, **first)
    model.set_params(**{name: object()})
    n_trials = model.n_trials_
    with pytest.raises(InvalidParameterError, match=name):
        model.partial_fit(X, y)
    assert model.n_trials_ == n_trials


@pytest.mark.parametrize("kind", LEARNERS)
def test_equal_values_are_no_change_and_pickles_go_on(kind):
    model, X, y, first = problem(kind)
    twin = clone(model).partial_fit(X, y, **first).partial_fit(X, y)
    model.partial_fit(X, y, **first)
    copies = pickle.loads(pickle.dumps(model.get_params(deep=False)))
    copies.pop("estimators", None)  # a copy of an expert is another expert
    model.set_params(**copies)
    assert_same_state(pickle.loads(pickle.dumps(model)).partial_fit(X, y), twin)
    assert not hasattr(clone(model), "_began_with")


def test_parameters_of_steps_take_effect_from_then_on(rng):
    X, y = rng.normal(size=(60, 3)), rng.integers(2, size=60)
    model = PassiveAggressiveClassifier(C=1.0).partial_fit(X, y, classes=[0, 1])
    model.set_params(C=1e-9).partial_fit(X, y)
    unmoved = PassiveAggressiveClassifier(C=1.0).partial_fit(X, y, classes=[0, 1])
    np.testing.assert_allclose(model.coef_, unmoved.coef_, atol=1e-6)
    assert model.bound_ is None
    model = PassiveAggressiveRegressor().partial_fit(X, X[:, 0])
    steps = model.n_updates_
    assert model.set_params(epsilon=100.0).partial_fit(X, X[:, 0]).n_updates_ == steps
    # Steps of another length after the first mistakes are not a multiple of the same weights.
    model = Perceptron(eta0=1.0).partial_fit(X, y, classes=[0, 1])
    coef = model.set_params(eta0=100.0).partial_fit(X, y).coef_
    assert np.abs(coef).max() > 10 * np.abs(unmoved.coef_).max()


def test_invalid_values_that_were_taken_before_are_refused(rng):
    X, y = rng.random((30, 4)), rng.integers(2, size=30)
    for model, other in [
        (WeightedAverage(bounds=(0, 1)), {"eta": -7.0}),
        (Winnow(), {"alpha": 0.5}),
        (PassiveAggressiveClassifier(), {"loss": "nonsense"}),
    ]:
        first = {"classes": [0, 1]} if is_classifier(model) else {}
        model.partial_fit(X, y, **first)
        with pytest.raises(InvalidParameterError, match=next(iter(other))):
            model.set_params(**other).partial_fit(X, y)


def test_kernels_and_lists_that_change_in_place_are_seen(rng):
    X, y = rng.normal(size=(30, 2)), rng.integers(2, size=30)
    for model, name in [
        (KernelPerceptron(kernel=Gaussian(gamma=0.5)), "kernel"),
        (MatrixCompletion(row_kernel=Gaussian(gamma=0.5)), "row_kernel"),
    ]:
        model.partial_fit(X, y, classes=[0, 1]).set_params(**{f"{name}__gamma": 3.0})
        with pytest.raises(ValueError, match=rf"{name}__gamma changed from 0\.5 to 3\.0"):
            model.partial_fit(X, y)
    hypotheses = [lambda X: X[:, 0] > 0, lambda X: X[:, 1] > 0]
    model = Halving(hypotheses).partial_fit(X, y > 0, classes=[False, True])
    hypotheses.append(lambda X: X[:, 0] > 1)
    with pytest.raises(ValueError, match="hypotheses changed"):
        model.partial_fit(X, y > 0)
    with pytest.raises(ValueError, match="hypotheses changed"):
        model.predict(X)


@pytest.mark.parametrize("learner", [Halving(), GridThresholdHalving()], ids=str)
def test_what_to_do_when_none_is_left_may_change_before_that(learner):
    X, y = np.array([[0.0], [1.0]]), [0, 1]
    model = clone(learner).set_params(on_empty="raise").partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="no hypothesis is left"):
        model.partial_fit(X, [1, 0])
    model.set_params(on_empty="keep").partial_fit(X, [1, 0])
    assert model.n_mistakes_ <= model.bound_
    with pytest.raises(ValueError, match=r"on_empty changed from .keep. to .restart."):
        model.set_params(on_empty="restart").partial_fit(X, y)


def test_predictions_need_the_parameters_they_are_made_with(rng):
    X, y = rng.integers(2, size=(40, 4)).astype(float), rng.integers(2, size=40)
    for model, change in [
        (WeightedMajority(), {"threshold": 0.1}),
        (Hedge(), {"threshold": 0.1}),
        (Halving(), {"threshold": 0.1}),
        (SwitchingMultitaskExperts(), {"threshold": 0.1}),
        (Winnow(), {"threshold": 0.1}),
        (MatrixCompletion(), {"n_row_features": 1}),
    ]:
        model.fit(X, y)
        with pytest.raises(ValueError, match=f"{next(iter(change))} changed"):
            model.set_params(**change).predict(X)
    # Others are for the next fit.
    said = WeightedMajority(beta=0.5).fit(X, y)
    np.testing.assert_array_equal(said.predict(X), said.set_params(beta=0.9).predict(X))


def test_regrets_are_those_of_the_parameters_of_the_trials(rng):
    X, y = rng.random((40, 4)), rng.integers(2, size=40)
    model = OnlineGradientDescentClassifier().fit(X, y)
    with pytest.raises(ValueError, match="loss changed from 'hinge'"):
        model.set_params(loss="logistic").regret(X, y)
    model = FixedShare(bounds=(0, 1)).fit(X, y)
    with pytest.raises(ValueError, match=r"alpha changed from 0\.01"):
        model.set_params(alpha=0.5).shifting_regret(X, y, 2)
    model = SwitchingMultitaskExperts(n_switches=2, horizon=40).fit(X.round(), y)
    bound = model.regret_bound_
    assert model.set_params(n_switches=20).regret_bound_ == bound
    prior = np.array([0.1, 0.2, 0.3, 0.4])
    model = WeightedAverage(prior=prior, bounds=(0, 1)).partial_fit(X, y)
    prior[:] = 0.25
    twin = WeightedAverage(prior=[0.1, 0.2, 0.3, 0.4], bounds=(0, 1)).fit(X, y)
    np.testing.assert_array_equal(model._regret_bounds(), twin._regret_bounds())


BANDITS = [Exp3(3, random_state=0), Exp3IX(3, random_state=0), UCB1(3)]


@pytest.mark.parametrize("learner", BANDITS, ids=str)
def test_bandits_keep_to_the_parameters_of_the_game(learner, rng):
    losses = rng.random((50, 3))
    others = {"n_arms": 4, "eta": 0.3, "gamma": 0.2, "horizon": 9, "low": -1.0, "high": 2.0}
    model = clone(learner).replay(losses)
    names = [name for name in vars(type(model)) if name.endswith("_")] + ["path_bound_", "eta_"]
    told = {name: getattr(model, name, None) for name in names if not name.startswith("_")}
    for name in others.keys() & model.get_params().keys():
        value = getattr(model, name)
        model.set_params(**{name: others[name]})
        for known, number in told.items():
            np.testing.assert_array_equal(getattr(model, known, None), number)
        for call in (model.select, lambda: model.replay(losses, resume=True)):
            with pytest.raises(ValueError, match=f"{name} changed .* call fit"):
                call()
        model.set_params(**{name: value})
        arm = model.select()
        model.set_params(**{name: others[name]})
        with pytest.raises(ValueError, match=f"{name} changed"):
            model.update(arm, 0.5)
        model.set_params(**{name: value}).update(arm, 0.5)
        model.replay(losses, random_state=0)
    assert model.set_params(high=3.0).replay(losses).n_rounds_ == 50
    with pytest.raises(InvalidParameterError, match="low"):
        model.set_params(low="nothing").select()


def test_the_chance_of_failure_of_a_bound_may_change(rng):
    model = Exp3IX(3, delta=0.5, random_state=0).replay(rng.random((50, 3)))
    bound = model.regret_bound_
    model.set_params(delta=0.01).update(model.select(), 0.5)
    assert model.regret_bound_ > bound
    with pytest.raises(NotFittedError):
        clone(LEARNERS["Winnow"]).predict([[0.0]])
