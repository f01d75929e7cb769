"""Intervals by the jackknife+: their left-out fits are refits, and they cover what they promise."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor as PeerForest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_sl.ensemble import BaggingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn_sl.inspection import prediction_interval
from sklearn_sl.kernel_ridge import KernelRidge, KernelRidgeCV
from sklearn_sl.kernels import Gaussian, Spectrum

RIDGES = {
    "rbf": KernelRidge(0.3, kernel="rbf", gamma=0.4),
    "intercept": KernelRidge(0.3, kernel="rbf", gamma=0.4, fit_intercept=True),
    "linear": KernelRidge(0.7, kernel="linear"),
    "linear, intercept": KernelRidge(0.7, kernel="linear", fit_intercept=True),
    "linear, dual": KernelRidge(0.7, kernel="linear", solver="cholesky", fit_intercept=True),
}


def data(rng, n=37, n_new=9, n_features=3):
    X = rng.normal(size=(n + n_new, n_features))
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=n + n_new) + 5
    return X[:n], y[:n], X[n:], y[n:]


def by_refitting(model, X, y, new, coverage):
    """Return the intervals as they are defined."""
    n, ends = len(y), []
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        fit = clone(model).fit(X[rest], y[rest])
        spread = abs(y[i] - fit.predict(X[[i]])[0])
        ends.append(fit.predict(new)[:, None] + [-spread, spread])
    lower, upper = np.sort(np.array(ends), axis=0).transpose(2, 0, 1)
    rank = int(np.ceil(round(coverage * (n + 1), 9)))
    return np.column_stack([lower[n - rank], upper[rank - 1]])


@pytest.mark.parametrize("name", RIDGES)
@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_intervals_are_those_of_refitting_without_each_sample(rng, name, coverage):
    X, y, new, _ = data(rng)
    expected = by_refitting(RIDGES[name], X, y, new, coverage)
    intervals = prediction_interval(clone(RIDGES[name]).fit(X, y), new, coverage=coverage)
    np.testing.assert_allclose(intervals, expected, **ALGEBRA)


def test_intervals_are_those_of_mapie():
    mapie = pytest.importorskip("mapie.regression", reason="MAPIE is not installed")
    X, y = load_diabetes(return_X_y=True)
    X, y, new = StandardScaler().fit_transform(X)[:60], y[:60], X[60:70]
    model = RIDGES["intercept"]
    theirs = mapie.CrossConformalRegressor(model, confidence_level=0.8, method="plus", cv=-1)
    expected = theirs.fit_conformalize(X, y).predict_interval(new)[1][:, :, 0]
    ours = prediction_interval(clone(model).fit(X, y), new, coverage=0.8)
    np.testing.assert_allclose(ours, expected, **ALGEBRA)


def test_searched_model_has_the_intervals_of_its_choice(rng):
    X, y, new, _ = data(rng)
    search = KernelRidgeCV([0.1, 1.0], kernel="rbf", gamma=0.4, fit_intercept=True).fit(X, y)
    fixed = KernelRidge(search.alpha_, kernel="rbf", gamma=0.4, fit_intercept=True).fit(X, y)
    np.testing.assert_allclose(
        prediction_interval(search, new), prediction_interval(fixed, new), **ALGEBRA
    )


def test_each_target_has_its_own_interval(rng):
    X, y, new, _ = data(rng)
    both = KernelRidge([0.1, 2.0], kernel="rbf", gamma=0.4).fit(X, np.column_stack([y, -(y**2)]))
    intervals = prediction_interval(both, new)
    assert intervals.shape == (len(new), 2, 2)
    for target, alpha in enumerate((0.1, 2.0)):
        one = KernelRidge(alpha, kernel="rbf", gamma=0.4).fit(X, [y, -(y**2)][target])
        np.testing.assert_allclose(
            intervals[:, :, target], prediction_interval(one, new), **ALGEBRA
        )


@pytest.mark.parametrize("weight", [None, 3.0])
def test_weightless_samples_are_removed_and_equal_weights_scale_alpha(rng, weight):
    X, y, new, _ = data(rng)
    weights = np.where(np.arange(len(y)) % 5 == 0, 0.0, weight or 1.0)
    kept = weights > 0
    whole = KernelRidge(0.3, kernel="rbf", gamma=0.4).fit(X, y, sample_weight=weights)
    part = KernelRidge(0.3 / (weight or 1.0), kernel="rbf", gamma=0.4).fit(X[kept], y[kept])
    np.testing.assert_allclose(
        prediction_interval(whole, new), prediction_interval(part, new), **ALGEBRA
    )


def test_samples_of_any_kind_have_intervals(rng):
    X, y, new, _ = data(rng)
    dense = prediction_interval(RIDGES["linear"].fit(X, y), new)
    sparse = KernelRidge(0.7, kernel="linear").fit(sp.csr_array(X), y)
    np.testing.assert_allclose(prediction_interval(sparse, sp.csr_array(new)), dense, **ALGEBRA)
    kernel = Gaussian(gamma=0.4)
    given = KernelRidge(0.3, kernel="precomputed").fit(kernel(X), y)
    np.testing.assert_allclose(
        prediction_interval(given, kernel(new, X)),
        prediction_interval(clone(RIDGES["rbf"]).fit(X, y), new),
        **ALGEBRA,
    )
    words = ["".join(rng.choice(list("ab"), 8)) for _ in range(30)]
    model = KernelRidge(0.3, kernel=Spectrum(2)).fit(words, [word.count("a") for word in words])
    assert np.all(np.isfinite(prediction_interval(model, words[:4])))


@pytest.mark.parametrize(
    "forest",
    [
        RandomForestRegressor(60, random_state=0),
        BaggingRegressor(n_estimators=60, max_features=2, random_state=0),
        PeerForest(60, random_state=0),
    ],
)
def test_left_out_fits_of_an_ensemble_are_the_trees_that_did_not_draw_the_sample(rng, forest):
    X, y, new, _ = data(rng, n=25)
    forest = clone(forest).fit(X, y)
    intervals = prediction_interval(forest, new, X_train=X, y_train=y, coverage=0.8)
    columns = getattr(forest, "estimators_features_", [slice(None)] * 60)
    trees = list(zip(forest.estimators_, columns, forest.estimators_samples_))
    ends = []
    for i in range(len(y)):
        others = [(tree, own) for tree, own, drawn in trees if i not in drawn]
        mean = lambda rows: np.mean([t.predict(rows[:, own]) for t, own in others], axis=0)  # noqa: B023, E731
        spread = abs(y[i] - mean(X[[i]])[0])
        ends.append(mean(new)[:, None] + [-spread, spread])
    lower, upper = np.sort(np.array(ends), axis=0).transpose(2, 0, 1)
    rank = int(np.ceil(0.8 * 26))
    np.testing.assert_allclose(
        intervals, np.column_stack([lower[25 - rank], upper[rank - 1]]), **ALGEBRA
    )


def test_frames_are_taken_as_arrays(rng):
    X, y, new, _ = data(rng)
    names = ["a", "b", "c"]
    forest = PeerForest(40, random_state=0).fit(pd.DataFrame(X, columns=names), y)
    frames = {"X_train": pd.DataFrame(X, columns=names), "y_train": pd.Series(y)}
    np.testing.assert_array_equal(
        prediction_interval(forest, pd.DataFrame(new, columns=names), **frames),
        prediction_interval(PeerForest(40, random_state=0).fit(X, y), new, X_train=X, y_train=y),
    )


def test_intervals_pass_through_a_pipeline(rng):
    X, y, new, _ = data(rng)
    scaler = StandardScaler().fit(X)
    line = make_pipeline(StandardScaler(), RIDGES["rbf"]).fit(X, y)
    alone = clone(RIDGES["rbf"]).fit(scaler.transform(X), y)
    np.testing.assert_allclose(
        prediction_interval(line, new), prediction_interval(alone, scaler.transform(new)), **ALGEBRA
    )


def hits(fit, rng, n_repeats, coverage, **train):
    """Return the share of new targets that are covered, over many training sets."""
    covered = 0
    for _ in range(n_repeats):
        X, y, new, answer = data(rng, n=20, n_new=1, n_features=1)
        known = {"X_train": X, "y_train": y} if train else {}
        (interval,) = prediction_interval(fit(X, y), new, coverage=coverage, **known)
        covered += interval[0] <= answer[0] <= interval[1]
    return covered / n_repeats


@pytest.mark.slow
def test_coverage_of_ridges_is_at_least_the_nominal_one(rng):
    # Three standard errors of a share of .8 in 2,000.
    share = hits(KernelRidge(0.1, kernel="rbf", gamma=1.0).fit, rng, 2_000, 0.8)
    assert 0.8 - 0.027 <= share <= 0.9


@pytest.mark.slow
def test_coverage_of_forests_is_at_least_the_nominal_one(rng):
    share = hits(RandomForestRegressor(60, random_state=0).fit, rng, 2_000, 0.8, train=True)
    assert 0.8 - 0.027 <= share <= 0.93


def test_more_coverage_than_samples_is_the_whole_line(rng):
    X, y, new, _ = data(rng, n=5)
    intervals = prediction_interval(RIDGES["rbf"].fit(X, y), new, coverage=0.9)
    np.testing.assert_array_equal(intervals, np.tile([-np.inf, np.inf], (len(new), 1)))


def test_intervals_grow_with_coverage(rng):
    X, y, new, _ = data(rng)
    model = RIDGES["rbf"].fit(X, y)
    small, large = (prediction_interval(model, new, coverage=c) for c in (0.6, 0.9))
    assert np.all(large[:, 0] <= small[:, 0])
    assert np.all(small[:, 1] <= large[:, 1])


def test_what_has_no_interval_says_why(rng):
    X, y, new, _ = data(rng)
    fitted = RIDGES["rbf"].fit(X, y)
    for coverage in (0.0, 1.0, -0.5, 90, np.nan):
        with pytest.raises(ValueError, match="coverage must be"):
            prediction_interval(fitted, new, coverage=coverage)
    with pytest.raises(NotFittedError):
        prediction_interval(KernelRidge(), new)
    with pytest.raises(ValueError, match=r"LinearRegression.*CrossConformalRegressor"):
        prediction_interval(LinearRegression().fit(X, y), new)
    classes = RandomForestClassifier(5).fit(X, y > 5)
    with pytest.raises(ValueError, match="RandomForestClassifier"):
        prediction_interval(classes, new, X_train=X, y_train=y > 5)
    two = RandomForestRegressor(30, random_state=0).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="one target"):
        prediction_interval(two, new, X_train=X, y_train=y)
    with pytest.raises(ValueError, match="X_train and y_train must be given"):
        prediction_interval(RandomForestRegressor(5).fit(X, y), new)
    with pytest.raises(ValueError, match="use more estimators"):
        prediction_interval(RandomForestRegressor(1).fit(X, y), new, X_train=X, y_train=y)
    with pytest.raises(ValueError, match="equal weight"):
        prediction_interval(fitted.fit(X, y, sample_weight=np.arange(1, len(y) + 1)), new)
    with pytest.raises(ValueError, match='solver="cholesky"'):
        prediction_interval(
            KernelRidge(kernel="rbf", solver="nystrom", n_components=9).fit(X, y), new
        )
    with pytest.raises(ValueError, match="alpha > 0"):
        prediction_interval(KernelRidge(0.0, kernel="rbf").fit(X, y), new)
