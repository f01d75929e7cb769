"""KernelRidgeCV: its closed forms equal explicit refits, and its scores those of a grid search."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT, SINGLE
from hypothesis import given
from hypothesis import strategies as st
from reference import kernel_ridge as reference
from scipy.linalg import LinAlgWarning
from sklearn.kernel_ridge import KernelRidge as Neighbour
from sklearn.linear_model import RidgeCV
from sklearn.metrics import (
    make_scorer,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
)
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    ParameterGrid,
    ShuffleSplit,
    TimeSeriesSplit,
)

from sklearn_sl import _kernel_search, _memory
from sklearn_sl.kernel_ridge import KernelRidge, KernelRidgeCV
from sklearn_sl.kernels import Gaussian, Linear, Matern, Polynomial, SetIntersection, Spectrum

ALPHAS = [0.01, 0.3, 5.0]
LEFT_OUT = {"rtol": 1e-8, "atol": 1e-8}
intercepts = pytest.mark.parametrize("fit_intercept", [False, True])
weights = pytest.mark.parametrize("weighted", [False, True])


def regression(rng, n=30, p=3, n_targets=None):
    X, X_test = rng.normal(size=(n, p)), rng.normal(size=(9, p))
    shape = n if n_targets is None else (n, n_targets)
    y = np.sin(X[:, 0]).reshape(-1, *[1] * (len(np.shape(shape)) and 1)) + rng.normal(size=shape)
    return X, y + 1, X_test


def weight_of(rng, n, weighted):
    return rng.uniform(0.1, 3, n) if weighted else None


# How the same regression reaches the estimator, and its Gram matrix.
ROADS = {
    "rbf": lambda X: ({"kernel": "rbf", "gamma": 0.5}, X, rbf_kernel(X, gamma=0.5)),
    "object": lambda X: ({"kernel": Gaussian(gamma=0.5)}, X, rbf_kernel(X, gamma=0.5)),
    "laplacian": lambda X: (
        {"kernel": "laplacian", "gamma": 0.5},
        X,
        laplacian_kernel(X, gamma=0.5),
    ),
    "precomputed": lambda X: (
        {"kernel": "precomputed"},
        rbf_kernel(X, gamma=0.5),
        rbf_kernel(X, gamma=0.5),
    ),
    "linear": lambda X: ({}, X, X @ X.T),
    "wide linear": lambda X: ({}, X[:4], X[:4] @ X[:4].T),
    "sparse linear": lambda X: ({}, sp.csr_array(X), X @ X.T),
    "sparse rbf": lambda X: (
        {"kernel": "rbf", "gamma": 0.5},
        sp.csr_array(X),
        rbf_kernel(X, gamma=0.5),
    ),
}
every_road = pytest.mark.parametrize("road", ROADS)


# ---------------------------------------------------------------- leaving out


@every_road
@intercepts
@weights
def test_leave_one_out_predictions_are_those_of_refits(road, fit_intercept, weighted, rng):
    X, Y, _ = regression(rng, n_targets=2, p=6)
    params, X, K = ROADS[road](X)
    Y = Y[: len(K)]
    weight = weight_of(rng, len(K), weighted)
    for alpha in ALPHAS:
        model = KernelRidgeCV([alpha], fit_intercept=fit_intercept, **params).fit(X, Y, weight)
        refits = reference.leave_one_out(K, Y, alpha, weight, fit_intercept)
        np.testing.assert_allclose(model.loo_predictions_, refits, **LEFT_OUT)
        score = -np.mean(np.average((Y - refits) ** 2, axis=0, weights=weight))
        np.testing.assert_allclose(model.best_score_, score, **LEFT_OUT)


def test_leave_one_out_predictions_are_those_of_our_own_refits(rng):
    X, y, _ = regression(rng)
    model = KernelRidgeCV([0.3], kernel="rbf", fit_intercept=True).fit(X, y)
    refits = [
        KernelRidge(0.3, kernel="rbf", fit_intercept=True)
        .fit(np.delete(X, i, axis=0), np.delete(y, i))
        .predict(X[[i]])[0]
        for i in range(len(y))
    ]
    np.testing.assert_allclose(model.loo_predictions_, refits, **LEFT_OUT)


@intercepts
@weights
def test_targets_with_their_own_penalty_are_separate_searches(fit_intercept, weighted, rng):
    X, Y, X_test = regression(rng, n_targets=3)
    Y[:, 1] = rng.normal(size=len(Y))
    weight = weight_of(rng, len(Y), weighted)
    params = {"alphas": ALPHAS, "kernel": "rbf", "fit_intercept": fit_intercept}
    for cv in (None, 5, "gcv"):
        model = KernelRidgeCV(cv=cv, alpha_per_target=True, **params).fit(X, Y, weight)
        assert model.score_path_.shape == (1, 3, 3)
        for target in range(3):
            alone = KernelRidgeCV(cv=cv, **params).fit(X, Y[:, target], weight)
            assert alone.score_path_.shape == (1, 3)
            assert model.alpha_[target] == alone.alpha_
            pairs = [
                (model.score_path_[0, :, target], alone.score_path_[0]),
                (model.best_score_[target], alone.best_score_),
                (model.dof_[target], alone.dof_),
                (model.loo_predictions_[:, target], alone.loo_predictions_),
                (model.predict(X_test)[:, target], alone.predict(X_test)),
            ]
            for actual, desired in pairs:
                np.testing.assert_allclose(actual, desired, **ALGEBRA)


def test_one_penalty_has_the_best_mean_score_of_all_targets(rng):
    X, Y, _ = regression(rng, n_targets=3)
    for cv in (None, 5, "gcv"):
        params = {"alphas": ALPHAS, "kernel": "rbf", "cv": cv}
        shared = KernelRidgeCV(**params).fit(X, Y)
        each = KernelRidgeCV(alpha_per_target=True, **params).fit(X, Y)
        assert shared.score_path_.shape == (1, 3)
        np.testing.assert_allclose(shared.score_path_, each.score_path_.mean(axis=2), **EXACT)
        assert (
            np.shape(shared.alpha_) == np.shape(shared.dof_) == np.shape(shared.best_score_) == ()
        )


SPLITS = {
    "KFold": lambda rng: KFold(5),
    "shuffled": lambda rng: KFold(3, shuffle=True, random_state=0),
    "ShuffleSplit": lambda rng: ShuffleSplit(4, test_size=0.3, train_size=0.5, random_state=0),
    "TimeSeriesSplit": lambda rng: TimeSeriesSplit(4),
    "iterable": lambda rng: [(np.arange(12), np.arange(15, 20)), (np.arange(20, 30), [3, 1])],
    "masks": lambda rng: [(np.arange(30) < 12, np.arange(30) >= 20)],
    "groups": lambda rng: list(GroupKFold(3).split(np.zeros(30), groups=rng.integers(0, 6, 30))),
}


@pytest.mark.parametrize("splits", SPLITS)
@pytest.mark.parametrize("road", ["rbf", "precomputed", "linear"])
@intercepts
@weights
def test_fold_scores_are_those_of_refits(splits, road, fit_intercept, weighted, rng):
    X, Y, _ = regression(rng, n_targets=2)
    params, X, K = ROADS[road](X)
    weight = weight_of(rng, 30, weighted)
    cv = SPLITS[splits](rng)
    folds = list(cv.split(X)) if hasattr(cv, "split") else cv
    folds = [(np.arange(30)[train], np.arange(30)[test]) for train, test in folds]
    model = KernelRidgeCV(ALPHAS, fit_intercept=fit_intercept, cv=cv, **params)
    model.fit(X, Y, weight)
    for alpha, score in zip(ALPHAS, model.score_path_[0], strict=True):
        errors = [
            mean_squared_error(
                Y[test],
                reference.left_out(K, Y, alpha, train, test, weight, fit_intercept),
                sample_weight=None if weight is None else weight[test],
            )
            for train, test in folds
        ]
        np.testing.assert_allclose(score, -np.mean(errors), **LEFT_OUT)


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_squared_error", "neg_median_absolute_error"])
@pytest.mark.parametrize("road", ["rbf", "precomputed", "linear", "sparse rbf"])
@intercepts
def test_scores_of_folds_are_those_of_a_grid_search(scoring, road, fit_intercept, rng):
    X, y, _ = regression(rng)
    params, X, _ = ROADS[road](X)
    model = KernelRidgeCV(ALPHAS, cv=5, scoring=scoring, fit_intercept=fit_intercept, **params)
    model.fit(X, y)
    search = GridSearchCV(
        KernelRidge(fit_intercept=fit_intercept, **params),
        {"alpha": ALPHAS},
        scoring=scoring,
        cv=5,
    ).fit(X, y)
    np.testing.assert_allclose(
        model.score_path_[0], search.cv_results_["mean_test_score"], **LEFT_OUT
    )
    assert model.alpha_ == search.best_params_["alpha"]
    np.testing.assert_allclose(model.best_score_, search.best_score_, **LEFT_OUT)


def test_search_over_kernels_is_a_grid_search(rng):
    X, y, X_test = regression(rng)
    grid = {"gamma": [0.05, 0.5, 5.0], "kernel": ["rbf", "laplacian"]}
    model = KernelRidgeCV(ALPHAS, kernel="rbf", kernel_grid=grid, cv=4).fit(X, y)
    scoring = "neg_mean_squared_error"
    search = GridSearchCV(Neighbour(), {"alpha": ALPHAS, **grid}, cv=4, scoring=scoring).fit(X, y)
    scores = {
        (params["kernel"], params["gamma"], params["alpha"]): score
        for params, score in zip(
            search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
        )
    }
    for point, path in zip(ParameterGrid(grid), model.score_path_, strict=True):
        expected = [scores[point["kernel"], point["gamma"], alpha] for alpha in ALPHAS]
        np.testing.assert_allclose(path, expected, **LEFT_OUT)
    assert {"alpha": model.alpha_, **model.best_kernel_params_} == search.best_params_
    np.testing.assert_allclose(model.predict(X_test), search.predict(X_test), **LEFT_OUT)


@pytest.mark.parametrize(
    ("scoring", "metric"),
    [("r2", r2_score), ("neg_mean_absolute_error", lambda *a: -mean_absolute_error(*a))],
)
def test_leave_one_out_scores_all_predictions_together(scoring, metric, rng):
    X, Y, _ = regression(rng, n_targets=2)
    model = KernelRidgeCV(ALPHAS, kernel="rbf", scoring=scoring).fit(X, Y)
    for alpha, score in zip(ALPHAS, model.score_path_[0], strict=True):
        refits = reference.leave_one_out(rbf_kernel(X), Y, alpha)
        np.testing.assert_allclose(score, metric(Y, refits), **LEFT_OUT)


@intercepts
@pytest.mark.parametrize("p", [3, 50])
def test_linear_kernel_is_scikit_learns_ridge_cv(fit_intercept, p, rng):
    X, Y, X_test = regression(rng, p=p, n_targets=2)
    ours = KernelRidgeCV(ALPHAS, fit_intercept=fit_intercept, alpha_per_target=True).fit(X, Y)
    theirs = RidgeCV(
        ALPHAS, fit_intercept=fit_intercept, alpha_per_target=True, store_cv_results=True
    ).fit(X, Y)
    errors = np.mean(theirs.cv_results_, axis=0).T
    np.testing.assert_allclose(ours.score_path_[0], -errors, **LEFT_OUT)
    np.testing.assert_array_equal(ours.alpha_, theirs.alpha_)
    np.testing.assert_allclose(ours.predict(X_test), theirs.predict(X_test), **LEFT_OUT)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, **LEFT_OUT)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, **LEFT_OUT)


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_origin_of_the_features_does_not_matter_with_an_intercept(offset, rng):
    X, y, X_test = regression(rng)
    for cv in (None, 5, "gcv"):
        near = KernelRidgeCV(ALPHAS, fit_intercept=True, cv=cv).fit(X, y)
        far = KernelRidgeCV(ALPHAS, fit_intercept=True, cv=cv).fit(X + offset, y)
        np.testing.assert_allclose(far.score_path_, near.score_path_, rtol=1e-7)
        said = far.predict(X_test + offset)
        np.testing.assert_allclose(said, near.predict(X_test), atol=1e-13 * offset)


# ---------------------------------------------------------------- generalised cross-validation


@intercepts
@weights
def test_generalised_score_is_its_formula(fit_intercept, weighted, rng):
    X, Y, _ = regression(rng, n_targets=2)
    K = rbf_kernel(X)
    weight = rng.uniform(0.5, 3, len(Y)) if weighted else np.ones(len(Y))
    model = KernelRidgeCV(ALPHAS, kernel="rbf", cv="gcv", fit_intercept=fit_intercept)
    model.fit(X, Y, weight if weighted else None)
    total = weight.sum()
    for alpha, score in zip(ALPHAS, model.score_path_[0], strict=True):
        H = reference.smoother(K, alpha, weight, fit_intercept)
        squares = weight @ (Y - H @ Y) ** 2 / total
        np.testing.assert_allclose(
            score, -np.mean(squares / (1 - np.trace(H) / total) ** 2), **LEFT_OUT
        )


@given(seed=st.integers(0, 2**32 - 1), fit_intercept=st.booleans())
def test_generalised_score_takes_weights_for_repeats(seed, fit_intercept):
    rng = np.random.default_rng(seed)
    X, y, X_test = regression(rng, n=15)
    times = rng.integers(0, 4, 15)
    times[:2] = 2
    params = {"alphas": ALPHAS, "kernel": "rbf", "cv": "gcv", "fit_intercept": fit_intercept}
    weighted = KernelRidgeCV(**params).fit(X, y, times)
    repeated = KernelRidgeCV(**params).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.score_path_, repeated.score_path_, **ALGEBRA)
    np.testing.assert_allclose(weighted.predict(X_test), repeated.predict(X_test), **ALGEBRA)


def test_generalised_score_has_no_scorer(rng):
    X, y, _ = regression(rng)
    with pytest.raises(ValueError, match="requires scoring=None"):
        KernelRidgeCV(cv="gcv", scoring="r2").fit(X, y)


def test_generalised_score_needs_residual_degrees_of_freedom(rng):
    X, y, _ = regression(rng)
    tiny_weights = np.full(len(y), 1e-3)
    with pytest.raises(ValueError, match="degrees of freedom"):
        KernelRidgeCV([1e-9], kernel="rbf", cv="gcv").fit(X, y, tiny_weights)
    # A penalty without a score is no reason not to choose another one.
    for per_target in (False, True):
        model = KernelRidgeCV([1e-9, 1.0], kernel="rbf", cv="gcv", alpha_per_target=per_target)
        model.fit(X, np.column_stack([y, y]), tiny_weights)
        assert np.all(model.alpha_ == 1.0)
        assert np.all(model.score_path_[0, 0] == -np.inf)


# ---------------------------------------------------------------- weights


@given(seed=st.integers(0, 2**32 - 1), fit_intercept=st.booleans())
def test_weights_are_repeats_when_groups_are_left_out(seed, fit_intercept):
    rng = np.random.default_rng(seed)
    X, y, X_test = regression(rng, n=20)
    times, groups = rng.integers(0, 4, 20), np.arange(20) % 4
    times[:4] = 1
    rows = np.repeat(np.arange(20), times)
    params = {"alphas": ALPHAS, "kernel": "rbf", "fit_intercept": fit_intercept}

    def folds(groups):
        return list(LeaveOneGroupOut().split(groups, groups=groups))

    weighted = KernelRidgeCV(cv=folds(groups), **params).fit(X, y, times)
    repeated = KernelRidgeCV(cv=folds(groups[rows]), **params).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.score_path_, repeated.score_path_, **ALGEBRA)
    np.testing.assert_allclose(weighted.predict(X_test), repeated.predict(X_test), **ALGEBRA)


@pytest.mark.parametrize("road", ["rbf", "precomputed", "linear", "sparse linear"])
@intercepts
def test_rows_of_weight_zero_are_predicted_by_the_model(road, fit_intercept, rng):
    X, y, _ = regression(rng)
    params, X, _ = ROADS[road](X)
    weight = rng.uniform(1, 2, len(y))
    weight[[0, 7]] = 0
    model = KernelRidgeCV(ALPHAS, fit_intercept=fit_intercept, **params).fit(X, y, weight)
    np.testing.assert_allclose(model.loo_predictions_[[0, 7]], model.predict(X)[[0, 7]], **ALGEBRA)
    assert not model.dual_coef_[[0, 7]].any()
    y[[0, 7]] = 1e5
    again = KernelRidgeCV(ALPHAS, fit_intercept=fit_intercept, **params).fit(X, y, weight)
    np.testing.assert_array_equal(again.score_path_, model.score_path_)


def test_fold_without_weight_is_no_fold(rng):
    X, y, _ = regression(rng)
    weight = np.where(np.arange(30) < 10, 0.0, 1.0)
    folds = list(KFold(3).split(X))
    model = KernelRidgeCV(ALPHAS, kernel="rbf", cv=folds).fit(X, y, weight)
    fewer = KernelRidgeCV(ALPHAS, kernel="rbf", cv=2).fit(X[10:], y[10:])
    np.testing.assert_allclose(model.score_path_, fewer.score_path_, **ALGEBRA)
    with pytest.raises(ValueError, match="a split with a test sample of positive weight"):
        KernelRidgeCV(ALPHAS, kernel="rbf", cv=folds[:1]).fit(X, y, weight)


# ---------------------------------------------------------------- scorers


def minus_largest_error(estimator, X, y):
    return -np.abs(y - estimator.predict(X)).max()


def minus_weighted_error(estimator, X, y, sample_weight=None):
    return -mean_absolute_error(y, estimator.predict(X), sample_weight=sample_weight)


@pytest.mark.parametrize("cv", [None, 4])
def test_scorers_are_names_scorer_objects_or_functions(cv, rng):
    X, y, _ = regression(rng)
    weight = rng.uniform(0.1, 2, len(y))
    scorers = [
        "neg_mean_absolute_error",
        make_scorer(mean_absolute_error, greater_is_better=False),
        minus_weighted_error,
    ]
    paths = [
        KernelRidgeCV(ALPHAS, kernel="rbf", cv=cv, scoring=scorer).fit(X, y, weight).score_path_
        for scorer in scorers
    ]
    np.testing.assert_allclose(paths[1:], [paths[0]] * 2, **EXACT)


def test_function_scores_without_weights(rng):
    X, y, _ = regression(rng)
    model = KernelRidgeCV(ALPHAS, kernel="rbf", scoring=minus_largest_error).fit(X, y)
    worst = np.abs(y - model.loo_predictions_).max()
    np.testing.assert_allclose(model.best_score_, -worst, **EXACT)
    with pytest.raises(ValueError, match="the scorer does not accept it"):
        model.fit(X, y, np.ones(len(y)))


def test_scorer_of_each_target(rng):
    X, Y, _ = regression(rng, n_targets=2)
    params = {"alphas": ALPHAS, "kernel": "rbf", "scoring": "r2"}
    model = KernelRidgeCV(alpha_per_target=True, **params).fit(X, Y)
    for target in range(2):
        alone = KernelRidgeCV(**params).fit(X, Y[:, target])
        np.testing.assert_allclose(model.score_path_[0, :, target], alone.score_path_[0], **ALGEBRA)


def test_scores_that_are_all_nan_are_an_error(rng):
    X, y, _ = regression(rng)
    with pytest.raises(ValueError, match="score is not finite"):
        KernelRidgeCV(scoring=lambda *args: np.nan).fit(X, y)


# ---------------------------------------------------------------- the chosen model


@every_road
@intercepts
@weights
def test_chosen_model_is_the_fit_of_its_parameters(road, fit_intercept, weighted, rng):
    X, Y, _ = regression(rng, n_targets=2, p=6)
    params, X, _ = ROADS[road](X)
    Y = Y[: X.shape[0]]
    weight = weight_of(rng, len(Y), weighted)
    options = {"fit_intercept": fit_intercept, **params}
    model = KernelRidgeCV(ALPHAS, alpha_per_target=True, **options).fit(X, Y, weight)
    refit = KernelRidge(model.alpha_, **options).fit(X, Y, weight)
    np.testing.assert_allclose(model.dual_coef_, refit.dual_coef_, **LEFT_OUT)
    np.testing.assert_allclose(model.intercept_, refit.intercept_, **LEFT_OUT)
    np.testing.assert_allclose(model.predict(X), refit.predict(X), **LEFT_OUT)
    np.testing.assert_allclose(model.dof_, refit.dof_, **LEFT_OUT)
    assert model.kernel_ == refit.kernel_


@pytest.mark.parametrize("gamma", [None, "median", 0.3])
def test_kernel_parameters_mean_what_they_mean_for_the_model(gamma, rng):
    X, y, _ = regression(rng)
    weight = rng.uniform(0.1, 2, len(y))
    for kernel in ("rbf", Gaussian(gamma="median")):
        options = {"kernel": kernel, "gamma": gamma}
        model = KernelRidgeCV([0.3], **options).fit(X, y, weight)
        refit = KernelRidge(0.3, **options).fit(X, y, weight)
        assert model.kernel_ == refit.kernel_
        np.testing.assert_allclose(model.dual_coef_, refit.dual_coef_, **LEFT_OUT)


def scaled_minimum(x, t, scale=1.0):
    return scale * np.minimum(np.abs(x), np.abs(t)).sum()


@pytest.mark.parametrize(
    ("params", "grid", "kernels"),
    [
        ({"kernel": "rbf"}, {"gamma": [0.1, 1]}, [Gaussian(gamma=0.1), Gaussian(gamma=1.0)]),
        (
            {"kernel": "poly", "gamma": 1.0},
            [{"degree": [1]}, {"coef0": [0, 2], "degree": [2]}],
            [Polynomial(1, 1.0, 1), Polynomial(2, 1.0, 0), Polynomial(2, 1.0, 2)],
        ),
        ({"kernel": "rbf", "gamma": 0.2}, {"kernel": ["linear"]}, [Linear()]),
        ({"kernel": Gaussian()}, {"gamma": [0.1, 2.0]}, [Gaussian(gamma=0.1), Gaussian(gamma=2.0)]),
        (
            {"kernel": 2 * Matern()},
            {"k2__nu": [0.5, 2.5]},
            [2 * Matern(nu=0.5), 2 * Matern(nu=2.5)],
        ),
    ],
    ids=["name", "dicts", "names", "object", "nested"],
)
def test_grid_is_of_kernel_parameters(params, grid, kernels, rng):
    X, y, _ = regression(rng)
    model = KernelRidgeCV(ALPHAS, kernel_grid=grid, **params).fit(X, y)
    paths = [KernelRidgeCV(ALPHAS, kernel=kernel).fit(X, y).score_path_[0] for kernel in kernels]
    np.testing.assert_allclose(model.score_path_, paths, **LEFT_OUT)
    best = np.argmax(np.max(paths, axis=1))
    assert model.kernel_ == kernels[best]
    assert model.best_kernel_params_ == list(ParameterGrid(grid))[best]
    assert model.best_score_ == model.score_path_.max()


def test_grid_is_of_the_arguments_of_a_function(rng):
    X, y, _ = regression(rng, n=12)
    params = {"kernel": scaled_minimum, "kernel_grid": {"scale": [0.5, 2.0]}}
    model = KernelRidgeCV(ALPHAS, **params).fit(X, y)
    # A scaled kernel is a scaled penalty.
    twice = KernelRidgeCV(np.divide(ALPHAS, 2), kernel=scaled_minimum).fit(X, y)
    np.testing.assert_allclose(model.score_path_[1], twice.score_path_[0], **LEFT_OUT)


def test_grid_leaves_the_kernel_of_the_user_alone(rng):
    X, y, _ = regression(rng)
    kernel = Gaussian(gamma=3.0)
    KernelRidgeCV(ALPHAS, kernel=kernel, kernel_grid={"gamma": [0.1, 1.0]}).fit(X, y)
    assert kernel == Gaussian(gamma=3.0)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"kernel": "rbf", "kernel_grid": {"length": [1]}}, "got length"),
        ({"kernel": Gaussian(), "kernel_grid": {"length": [1]}}, "length"),
        ({"kernel": "precomputed", "kernel_grid": {"gamma": [1]}}, "no parameters"),
    ],
)
def test_unknown_parameters_in_the_grid_are_refused(params, message, rng):
    with pytest.raises(ValueError, match=message):
        KernelRidgeCV(**params).fit(np.eye(5), np.arange(5.0))


def test_distances_are_computed_once_for_all_radial_kernels(rng, monkeypatch):
    X, y, _ = regression(rng)
    calls = []
    original = _kernel_search.negated_squared_distances

    def spy(*args, **kwargs):
        calls.append(args)
        return original(*args, **kwargs)

    monkeypatch.setattr(_kernel_search, "negated_squared_distances", spy)
    grid = {"gamma": [0.1, 0.5, 1.0, 5.0]}
    model = KernelRidgeCV(ALPHAS, kernel="rbf", kernel_grid=grid).fit(X, y)
    assert len(calls) == 1
    paths = [
        KernelRidgeCV(ALPHAS, kernel="rbf", gamma=gamma).fit(X, y).score_path_[0]
        for gamma in grid["gamma"]
    ]
    np.testing.assert_allclose(model.score_path_, paths, **LEFT_OUT)


def test_indefinite_kernel_warns_and_equals_refits(rng):
    K = rng.normal(size=(15, 15))
    K, y = K + K.T, rng.normal(size=15)
    for cv in (None, 5):
        with pytest.warns(LinAlgWarning, match="not positive"):
            model = KernelRidgeCV([0.3], kernel="precomputed", cv=cv).fit(K, y)
        refits = reference.leave_one_out(K, y, 0.3)
        np.testing.assert_allclose(model.loo_predictions_, refits, **LEFT_OUT)
        np.testing.assert_allclose(model.dual_coef_, reference.solve(K, y, 0.3)[0], **LEFT_OUT)


def test_singular_penalty_is_passed_over():
    model = KernelRidgeCV([2.0, 3.0], kernel="precomputed").fit(np.diag([1.0, -2.0]), [1.0, 2.0])
    assert model.alpha_ == 3.0
    assert model.score_path_[0, 0] == -np.inf


# ---------------------------------------------------------------- bad input and small input


@pytest.mark.parametrize("alphas", [[], [0.0, 1.0], [-1.0], [np.nan], [np.inf]])
def test_bad_penalties_are_refused(alphas):
    with pytest.raises(ValueError, match="alphas must be positive"):
        KernelRidgeCV(alphas).fit(np.eye(3), np.ones(3))


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (([0, 1, 1], [2]), "repeat a sample"),
        (([0, 1, 2], [2, 3]), "in the test set"),
        (([], [2, 3]), "training sample of positive weight"),
        (([0, 1], []), "a test sample of positive weight"),
    ],
)
def test_bad_splits_are_refused(split, message, rng):
    train, test = (np.array(rows, dtype=int) for rows in split)
    with pytest.raises(ValueError, match=message):
        KernelRidgeCV(kernel="rbf", cv=[(train, test)]).fit(rng.normal(size=(6, 2)), np.ones(6))


def test_asymmetric_matrix_is_refused(rng):
    with pytest.raises(ValueError, match="not symmetric"):
        KernelRidgeCV(kernel="precomputed").fit(rng.normal(size=(5, 5)), np.ones(5))


def test_one_sample():
    with pytest.raises(ValueError, match="n_samples=1"):
        KernelRidgeCV(fit_intercept=True).fit([[1.0]], [2.0])
    model = KernelRidgeCV([1.0]).fit([[1.0]], [2.0])
    np.testing.assert_allclose(model.loo_predictions_, [0], atol=1e-12)
    np.testing.assert_allclose(model.predict([[1.0]]), [1.0], **ALGEBRA)


def test_two_samples_with_an_intercept_predict_one_another():
    model = KernelRidgeCV([1.0], kernel="rbf", fit_intercept=True).fit([[0.0], [1.0]], [2.0, 5.0])
    np.testing.assert_allclose(model.loo_predictions_, [5.0, 2.0], **ALGEBRA)


def test_matrix_without_room_is_refused_with_advice(rng, monkeypatch):
    X, y, _ = regression(rng, n=2000)
    monkeypatch.setattr(_memory, "available_memory", lambda: 2000 * 2000 * 8)
    with pytest.raises(ValueError, match=r'2000 samples needs .*solver="nystrom"'):
        KernelRidgeCV(kernel="rbf").fit(X, y)
    KernelRidgeCV().fit(X, y)


@pytest.mark.parametrize("road", ["rbf", "linear"])
@intercepts
def test_single_precision_is_kept(road, fit_intercept, rng):
    X, y, X_test = regression(rng)
    params, X, _ = ROADS[road](X)
    options = {"alphas": [0.3, 5.0], "fit_intercept": fit_intercept, **params}
    single = KernelRidgeCV(**options).fit(X.astype(np.float32), y)
    double = KernelRidgeCV(**options).fit(X, y)
    said = single.predict(X_test.astype(np.float32))
    assert single.dual_coef_.dtype == single.loo_predictions_.dtype == said.dtype == np.float32
    np.testing.assert_allclose(single.score_path_, double.score_path_, **SINGLE)
    np.testing.assert_allclose(said, double.predict(X_test), **SINGLE)


@intercepts
@pytest.mark.parametrize("cv", [None, 4])
def test_strings_are_left_out(fit_intercept, cv):
    words = ["cat", "cart", "car", "dog", "doge", "dodge", "tac", "god"]
    y = np.array([3.0, 4, 3, 3, 4, 5, 3, 3])
    model = KernelRidgeCV(
        [0.3], kernel=Spectrum(p=1), kernel_grid={"p": [1, 2]}, fit_intercept=fit_intercept, cv=cv
    ).fit(words, y)
    K = model.kernel_(words)
    refits = reference.leave_one_out(K, y, 0.3, fit_intercept=fit_intercept)
    np.testing.assert_allclose(model.loo_predictions_, refits, **LEFT_OUT)
    assert model.predict(["cards"]).shape == (1,)


def test_sets_are_left_out():
    sets, y = [{1, 2}, {2, 3, 4}, {5}, {1, 5}], np.array([2.0, 3.0, 1.0, 2.0])
    model = KernelRidgeCV([0.3], kernel=SetIntersection()).fit(sets, y)
    refits = reference.leave_one_out(SetIntersection()(sets), y, 0.3)
    np.testing.assert_allclose(model.loo_predictions_, refits, **LEFT_OUT)
