"""The bias-variance decomposition: an identity, closed forms, and what it predicts."""

import joblib
import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_sl.theory import BiasVariance, bias_variance

NOISE = 0.3
X_TRAIN = np.linspace(0, 1, 30)[:, None] ** [1, 2, 3]
X_TEST = np.linspace(0.05, 0.95, 12)[:, None] ** [1, 2, 3]


def f(X):
    return np.sin(5 * X[:, 0])


def draw_targets(rng):
    """Return a training set with a fixed design and new noise."""
    return X_TRAIN, f(X_TRAIN) + rng.normal(scale=np.sqrt(NOISE), size=len(X_TRAIN))


def draw_samples(rng):
    """Return a training set with new samples and new noise."""
    X = rng.uniform(size=(30, 1))
    return X, f(X) + rng.normal(scale=np.sqrt(NOISE), size=30)


def smoother(estimator):
    """Return the matrix that turns the targets of the fixed design into predictions."""
    return np.column_stack(
        [estimator.fit(X_TRAIN, unit).predict(X_TEST) for unit in np.eye(len(X_TRAIN))]
    )


# ---------------------------------------------------------------- the identity


@given(seed=st.integers(0, 2**16))
def test_parts_add_up_exactly_to_the_squared_error_of_the_repeats(seed):
    rng = np.random.default_rng(seed)
    predictions, target = rng.normal(size=(rng.integers(3, 9), 5)), rng.normal(size=5)
    noise = rng.random(5)
    parts = BiasVariance(predictions, target, noise)
    error = np.mean((predictions - target) ** 2, axis=0)
    np.testing.assert_allclose(parts.squared_bias + parts.variance, error, **EXACT)
    np.testing.assert_allclose(parts.total, noise + error, **EXACT)
    # So do the plug-in estimates, of which those of the class differ by variance / R.
    plug_in = (target - predictions.mean(axis=0)) ** 2
    np.testing.assert_allclose(plug_in + predictions.var(axis=0), error, **EXACT)
    np.testing.assert_allclose(
        plug_in - parts.squared_bias, parts.variance / len(predictions), **EXACT
    )
    for name, value in parts.mean.items():
        np.testing.assert_allclose(value, np.mean(getattr(parts, name)), **EXACT)


@pytest.mark.parametrize("n_outputs", [None, 3])
def test_standard_errors_are_those_of_the_jackknife(rng, n_outputs):
    shape = (5,) if n_outputs is None else (5, n_outputs)
    predictions, target = rng.normal(size=(8, *shape)), rng.normal(size=shape)
    parts = BiasVariance(predictions, target)
    left_out = [BiasVariance(np.delete(predictions, r, axis=0), target).mean for r in range(8)]
    for name in ("squared_bias", "variance", "total"):
        values = np.array([mean[name] for mean in left_out])
        np.testing.assert_allclose(
            parts.standard_error[name], np.sqrt(7 * np.var(values)), **ALGEBRA
        )


def test_estimates_have_no_bias_of_their_own_and_the_spread_they_say(rng):
    # A prediction with mean 1.5 and variance 4, where f is 1: few repeats, many times.
    runs = [BiasVariance(rng.normal(1.5, 2, size=(20, 1)), np.ones(1)) for _ in range(2_000)]
    means, errors = [run.mean for run in runs], [run.standard_error for run in runs]
    for name, truth in {"squared_bias": 0.25, "variance": 4.0, "total": 4.25}.items():
        found = np.array([mean[name] for mean in means])
        claimed = np.sqrt(np.mean([error[name] ** 2 for error in errors]))
        assert abs(found.mean() - truth) < 4 * found.std() / np.sqrt(len(runs))
        assert 0.9 < claimed / found.std() < 1.25


# ---------------------------------------------------------------- closed forms


@pytest.mark.parametrize(
    "estimator",
    [
        Ridge(alpha=1e-10, fit_intercept=False),
        Ridge(alpha=0.1),
        KNeighborsRegressor(3),
        DummyRegressor(),
    ],
    ids=["least squares", "ridge", "neighbours", "mean"],
)
def test_linear_smoothers_have_the_bias_and_variance_of_their_matrix(estimator):
    S = smoother(estimator)
    parts = bias_variance(
        estimator,
        draw_targets,
        X_TEST,
        f,
        noise_variance=NOISE,
        n_repeats=400,
        random_state=0,
    )
    expected = {
        "squared_bias": np.mean((f(X_TEST) - S @ f(X_TRAIN)) ** 2),
        "variance": NOISE * np.mean(np.sum(S**2, axis=1)),
    }
    expected["total"] = NOISE + sum(expected.values())
    for name, value in expected.items():
        assert abs(parts.mean[name] - value) < 4 * parts.standard_error[name]
        assert parts.standard_error[name] < 0.1 * expected["total"]
    assert parts.mean.noise == pytest.approx(NOISE)


def test_neighbours_average_the_noise_of_k_targets():
    S = smoother(KNeighborsRegressor(5))
    np.testing.assert_allclose(np.sum(S**2, axis=1), 1 / 5, **EXACT)
    parts = bias_variance(
        KNeighborsRegressor(5), draw_targets, X_TEST, f, n_repeats=500, random_state=1
    )
    assert abs(parts.mean.variance - NOISE / 5) < 4 * parts.standard_error.variance


def test_a_constant_has_bias_only():
    parts = bias_variance(
        DummyRegressor(strategy="constant", constant=2.0),
        draw_samples,
        X_TEST[:, :1],
        f,
        n_repeats=3,
    )
    np.testing.assert_allclose(parts.squared_bias, (f(X_TEST) - 2) ** 2, **EXACT)
    assert not parts.variance.any()
    np.testing.assert_allclose(list(parts.standard_error.values()), 0, **EXACT)


# ---------------------------------------------------------------- what it predicts


def test_total_is_the_squared_error_on_new_targets(rng):
    tree, X_test = DecisionTreeRegressor(max_depth=3), X_TEST[:, :1]
    parts = bias_variance(
        tree,
        draw_samples,
        X_test,
        f,
        noise_variance=NOISE,
        n_repeats=300,
        random_state=0,
    )
    losses = []
    for _ in range(600):
        target = f(X_test) + rng.normal(scale=np.sqrt(NOISE), size=len(X_test))
        losses.append(np.mean((target - tree.fit(*draw_samples(rng)).predict(X_test)) ** 2))
    spread = np.hypot(parts.standard_error.total, np.std(losses) / np.sqrt(len(losses)))
    assert abs(np.mean(losses) - parts.mean.total) < 4 * spread < 0.1


def test_total_of_a_classifier_is_four_times_its_error(rng):
    chance = 0.2

    def draw(rng):
        X = rng.uniform(-1, 1, size=(40, 1))
        return X, np.where(rng.random(40) < chance, -1, 1) * np.where(X[:, 0] > 0, 1, -1)

    X_test = np.linspace(-0.9, 0.9, 10)[:, None]
    mean = (1 - 2 * chance) * np.sign(X_test[:, 0])
    parts = bias_variance(
        DecisionTreeClassifier(),
        draw,
        X_test,
        mean,
        noise_variance=1 - mean**2,
        n_repeats=50,
        random_state=0,
    )
    right = np.mean(parts.predictions == np.sign(X_test[:, 0]), axis=0)
    error = right * chance + (1 - right) * (1 - chance)
    np.testing.assert_allclose(parts.total, 4 * error, **EXACT)


def test_deeper_trees_have_less_bias_and_more_variance():
    shallow, deep = (
        bias_variance(
            DecisionTreeRegressor(max_depth=depth),
            draw_samples,
            X_TEST[:, :1],
            f,
            n_repeats=100,
            random_state=0,
        ).mean
        for depth in (1, None)
    )
    assert shallow.squared_bias > 2 * deep.squared_bias
    assert shallow.variance < deep.variance / 2


# ---------------------------------------------------------------- repeats


class Coin(RegressorMixin, BaseEstimator):
    """Predicts a random number that its seed decides."""

    def __init__(self, random_state=0):
        self.random_state = random_state

    def fit(self, X, y):
        self.value_ = np.random.default_rng(self.random_state).random()
        return self

    def predict(self, X):
        return np.full(len(X), self.value_)


@pytest.mark.parametrize("estimator", [Coin(), make_pipeline(StandardScaler(), Coin())])
def test_randomness_of_the_estimator_is_part_of_the_variance(estimator):
    parts = bias_variance(estimator, draw_targets, X_TEST, f, n_repeats=200, random_state=0)
    assert len(np.unique(parts.predictions[:, 0])) == 200
    assert abs(parts.mean.variance - 1 / 12) < 4 * parts.standard_error.variance


def test_a_seed_decides_the_repeats_whatever_their_number_and_the_workers():
    def predictions(n_repeats, n_jobs=None, seed=3):
        return bias_variance(
            DecisionTreeRegressor(max_features=1),
            draw_targets,
            X_TEST,
            f(X_TEST),
            n_repeats=n_repeats,
            random_state=seed,
            n_jobs=n_jobs,
        ).predictions

    first = predictions(6)
    np.testing.assert_array_equal(predictions(4), first[:4])
    with joblib.parallel_config(backend="threading"):
        np.testing.assert_array_equal(predictions(6, n_jobs=2), first)
    assert not np.array_equal(predictions(6, seed=4), first)
    assert len(np.unique(first, axis=0)) == 6


def test_several_outputs_and_noise_of_each(rng):
    W = rng.normal(size=(3, 2))

    def draw(rng):
        return X_TRAIN, X_TRAIN @ W + rng.normal(size=(30, 2)) * [0.1, 0.5]

    parts = bias_variance(
        Ridge(alpha=1e-9, fit_intercept=False),
        draw,
        X_TEST,
        lambda X: X @ W,
        noise_variance=np.tile([0.01, 0.25], (12, 1)),
        n_repeats=200,
        random_state=0,
    )
    assert parts.total.shape == (12, 2)
    assert abs(parts.mean.squared_bias) < 4 * parts.standard_error.squared_bias
    assert parts.variance[:, 1].mean() == pytest.approx(25 * parts.variance[:, 0].mean(), rel=0.5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X_test": X_TEST[:5], "f": f(X_TEST)}, r"f must have the shape \(5,\).*got \(12,\)"),
        ({"n_repeats": 2}, "n_repeats must be an integer >= 3"),
        ({"n_repeats": 4.5}, "n_repeats must be an integer"),
        ({"draw": draw_targets(np.random.default_rng(0))}, "draw must be a function"),
        ({"f": np.zeros(5)}, r"f must have the shape \(12,\).*got \(5,\)"),
        ({"f": np.full(12, np.nan)}, "f must be finite"),
        ({"noise_variance": -1.0}, "noise must be finite and >= 0"),
        ({"noise_variance": np.ones(5)}, r"noise must .* the shape \(12,\) of f; got \(5,\)"),
    ],
)
def test_what_cannot_be_decomposed_is_an_error(change, message):
    arguments = {
        "estimator": DummyRegressor(),
        "draw": draw_targets,
        "X_test": X_TEST,
        "f": f,
        "n_repeats": 3,
    }
    with pytest.raises(ValueError, match=message):
        bias_variance(**(arguments | change))


def test_labels_that_are_no_numbers_are_an_error():
    def draw(rng):
        return X_TRAIN, rng.choice(["no", "yes"], size=len(X_TRAIN))

    with pytest.raises(ValueError, match="predictions must be a number or an array of numbers"):
        bias_variance(DecisionTreeClassifier(), draw, X_TEST, f, n_repeats=3, random_state=0)


def test_predictions_must_be_finite():
    with pytest.raises(ValueError, match="predictions must be finite"):
        BiasVariance(np.full((3, 4), np.inf), np.zeros(4))


def test_fewer_than_three_predictions_are_an_error():
    with pytest.raises(ValueError, match="at least 3 repeats"):
        BiasVariance(np.zeros((2, 4)), np.zeros(4))
