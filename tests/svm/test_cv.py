"""SVCCV and SVRCV: the results of a grid search, for less work."""

import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from _callbacks import Stop
from conftest import ALGEBRA, EXACT, needs_callbacks, without_addresses
from sklearn import svm as peer
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import make_scorer, mean_absolute_error, r2_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneOut,
    ParameterGrid,
    ShuffleSplit,
    cross_val_predict,
)

from sklearn_sl import _kernel_search
from sklearn_sl._scoring import KnownRegressor
from sklearn_sl.kernels import Gaussian, Linear
from sklearn_sl.svm import SVC, SVR, _search
from sklearn_sl.svm._cv import SVCCV, SVRCV
from sklearn_sl.svm._gram import MatrixGram
from sklearn_sl.svm._many import best_multiple, solve_in_turn
from sklearn_sl.svm._problem import margin_problem, tube_problem
from sklearn_sl.svm._search import UNCHECKED
from sklearn_sl.svm._solver import solve

CS = [0.05, 1.0, 30.0]
GAMMAS = {"gamma": [0.02, 0.2, 1.0]}


def two_classes(n=120):
    """Return a noisy problem of two classes."""
    return make_classification(n, n_features=5, flip_y=0.1, random_state=0)


def three_classes(n=120):
    """Return a problem of three classes, with names."""
    X, y = make_classification(
        n, n_features=6, n_informative=4, n_classes=3, flip_y=0.05, random_state=1
    )
    return X, np.array(["ape", "bee", "cat"])[y]


def targets(n=100):
    """Return a regression problem."""
    X, y = make_friedman1(n, n_features=5, noise=0.5, random_state=0)
    return X, (y - y.mean()) / y.std()


def assert_same_results(model, grid, **tolerance):
    """Check the whole table of a search, and its choice, against a grid search."""
    assert len(model.cv_results_["params"]) == len(grid.cv_results_["params"])
    for ours, theirs in zip(model.cv_results_["params"], grid.cv_results_["params"], strict=True):
        assert ours == {name: theirs[name] for name in ours}
    names = [f"split{k}_test_score" for k in range(grid.n_splits_)]
    for name in [*names, "mean_test_score", "std_test_score"]:
        np.testing.assert_allclose(model.cv_results_[name], grid.cv_results_[name], **tolerance)
    best = grid.cv_results_["mean_test_score"].max()
    np.testing.assert_allclose(model.best_score_, best, **tolerance)


def first_of_the_best(results):
    """Return the choice of a grid search where scores that differ by rounding errors are equal."""
    scores = results["mean_test_score"]
    return int(np.flatnonzero(scores >= scores.max() - 1e-9)[0])


def assert_same_choice(model, grid):
    assert model.best_index_ == grid.best_index_
    assert model.best_params_ == grid.best_params_
    assert model.C_ == grid.best_params_["C"]


# ---------------------------------------------------------------- the same as a grid search


@pytest.mark.parametrize("data", [two_classes, three_classes])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"loss": "squared_hinge"},
        {"fit_intercept": False},
        {"class_weight": "balanced"},
        {"kernel": "poly", "degree": 2, "coef0": 1.0},
        {"break_ties": True, "shrinking": False},
    ],
    ids=str,
)
def test_search_equals_grid_search_over_svc(data, params):
    X, y = data()
    model = SVCCV(CS, kernel_grid=GAMMAS, cv=4, **params).fit(X, y)
    grid = GridSearchCV(SVC(**params), {"C": CS, **GAMMAS}, cv=4, refit=first_of_the_best).fit(X, y)
    assert_same_results(model, grid, **EXACT)
    assert_same_choice(model, grid)
    np.testing.assert_array_equal(model.decision_function(X), grid.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), grid.predict(X))


@pytest.mark.parametrize(
    "params",
    [{}, {"loss": "squared_epsilon_insensitive"}, {"fit_intercept": False, "epsilon": 0.3}],
    ids=str,
)
def test_search_equals_grid_search_over_svr(params):
    X, y = targets()
    params |= {"tol": 1e-9}  # it bounds the differences of scores
    model = SVRCV(CS, kernel_grid=GAMMAS, cv=4, **params).fit(X, y)
    grid = GridSearchCV(SVR(**params), {"C": CS, **GAMMAS}, cv=4, refit=first_of_the_best).fit(X, y)
    assert_same_results(model, grid, **ALGEBRA)
    assert_same_choice(model, grid)
    np.testing.assert_array_equal(model.predict(X), grid.predict(X))


@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_search_equals_grid_search_over_the_svc_of_scikit_learn(data):
    X, y = data()
    model = SVCCV(CS, kernel_grid=GAMMAS, cv=5, scoring="accuracy").fit(X, y)
    grid = GridSearchCV(peer.SVC(tol=1e-8), {"C": CS, **GAMMAS}, refit=first_of_the_best).fit(X, y)
    assert_same_results(model, grid, **EXACT)
    assert_same_choice(model, grid)


def test_search_equals_grid_search_over_the_svr_of_scikit_learn():
    X, y = targets()
    model = SVRCV(CS, kernel_grid=GAMMAS, cv=5, tol=1e-9).fit(X, y)
    grid = GridSearchCV(peer.SVR(tol=1e-9), {"C": CS, **GAMMAS}, refit=first_of_the_best).fit(X, y)
    assert_same_results(model, grid, rtol=1e-6, atol=1e-6)
    assert_same_choice(model, grid)


@pytest.mark.parametrize("class_weight", [None, "balanced", {"ape": 2.0, "bee": 1.0, "cat": 0.5}])
def test_weights_weigh_in_the_fit_and_in_the_score(class_weight, rng):
    X, y = three_classes()
    weight = rng.uniform(0.2, 3, len(y))
    model = SVCCV(CS, kernel_grid=GAMMAS, cv=3, class_weight=class_weight)
    model.fit(X, y, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=True):
        machine = SVC(class_weight=class_weight)
        machine.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        grid = GridSearchCV(machine, {"C": CS, **GAMMAS}, cv=3, refit=first_of_the_best).fit(
            X, y, sample_weight=weight
        )
    assert_same_results(model, grid, **EXACT)
    assert_same_choice(model, grid)


def test_rows_of_weight_zero_are_neither_trained_on_nor_tested(rng):
    X, y = targets()
    weight = rng.uniform(0, 2, len(y)) * (rng.uniform(size=len(y)) < 0.7)
    rows, groups = np.flatnonzero(weight), np.arange(len(y)) % 3
    models = []
    for part in (np.arange(len(y)), rows):
        folds = [
            (np.flatnonzero(groups[part] != k), np.flatnonzero(groups[part] == k)) for k in range(3)
        ]
        model = SVRCV(CS, gamma=0.2, cv=folds).fit(X[part], y[part], sample_weight=weight[part])
        models.append(model)
    np.testing.assert_allclose(
        models[0].cv_results_["mean_test_score"],
        models[1].cv_results_["mean_test_score"],
        **ALGEBRA,
    )
    np.testing.assert_allclose(models[0].predict(X), models[1].predict(X), **ALGEBRA)


@pytest.mark.parametrize("scoring", ["roc_auc", "f1", "balanced_accuracy", "a function"])
def test_scorers_see_what_the_machine_of_the_fold_says(scoring):
    if scoring == "a function":
        scoring = make_scorer(lambda y, f: -np.mean((y - f) ** 2), response_method="predict")
    X, y = two_classes()
    model = SVCCV(CS, kernel_grid=GAMMAS, cv=5, scoring=scoring).fit(X, y)
    grid = GridSearchCV(SVC(), {"C": CS, **GAMMAS}, scoring=scoring, refit=first_of_the_best).fit(
        X, y
    )
    assert_same_results(model, grid, **EXACT)


@pytest.mark.parametrize("case", ["noise", "constant targets", "perfect"])
@pytest.mark.parametrize("weighted", [False, True])
def test_r2_is_that_of_scikit_learn_without_its_checks(case, weighted, rng):
    y, predicted = rng.normal(size=(2, 30))
    if case == "constant targets":
        y[:] = 1.0
    elif case == "perfect":
        predicted = y.copy()
    weight = rng.uniform(size=30) if weighted else None
    known = KnownRegressor(predicted)
    np.testing.assert_array_equal(
        UNCHECKED["r2"](known, None, y, weight), r2_score(y, predicted, sample_weight=weight)
    )


def test_scorer_without_weights_is_refused_if_there_are_weights():
    X, y = targets()

    def score(estimator, X, y):
        return -mean_absolute_error(y, estimator.predict(X))

    assert SVRCV(2, scoring=score).fit(X, y).best_score_ < 0
    with pytest.raises(ValueError, match="sample_weight was given, but the scorer"):
        SVRCV(2, scoring=score).fit(X, y, sample_weight=np.ones(len(y)))


# ---------------------------------------------------------------- kernels, folds, grids


@pytest.mark.parametrize(
    ("kernel", "kernel_grid"),
    [
        ("rbf", None),
        ("rbf", [{"gamma": [0.1, 1.0]}, {"kernel": ["linear", "poly"], "degree": [2, 3]}]),
        (Gaussian() + Linear(), {"k1__length_scale": [0.5, 2.0]}),
        (lambda X, Y, gamma: rbf_kernel(X, Y, gamma=gamma), GAMMAS),
    ],
    ids=["none", "list", "object", "function"],
)
def test_every_point_of_the_grid_is_the_cross_validation_of_its_machine(kernel, kernel_grid):
    X, y = two_classes(80)
    search = {"kernel": kernel, "kernel_grid": kernel_grid, "cv": KFold(3)}
    model = SVCCV([0.1, 5.0], gamma=0.3, **search).fit(X, y)
    points = [{}] if kernel_grid is None else list(ParameterGrid(kernel_grid))
    assert len(model.cv_results_["params"]) == 2 * len(points)
    for params, score in zip(
        model.cv_results_["params"], model.cv_results_["mean_test_score"], strict=True
    ):
        params = dict(params)
        one = {name: [params[name]] for name in params if name != "C"}
        alone = SVCCV([params["C"]], gamma=0.3, **{**search, "kernel_grid": one or None})
        assert alone.fit(X, y).best_score_ == score


def test_precomputed_and_sparse_samples_give_the_same_search():
    X, y = three_classes()
    dense = SVCCV(CS, gamma=0.2).fit(X, y)
    sparse = SVCCV(CS, gamma=0.2).fit(sp.csr_array(X), y)
    gram = SVCCV(CS, kernel="precomputed").fit(rbf_kernel(X, gamma=0.2), y)
    for other in (sparse, gram):
        np.testing.assert_array_equal(
            other.cv_results_["mean_test_score"], dense.cv_results_["mean_test_score"]
        )
        assert other.C_ == dense.C_


def test_distances_are_computed_once_for_all_folds_and_kernels(monkeypatch):
    calls = []
    original = _kernel_search.negated_squared_distances

    def spy(*args, **kwargs):
        calls.append(args)
        return original(*args, **kwargs)

    monkeypatch.setattr(_kernel_search, "negated_squared_distances", spy)
    SVCCV(CS, kernel_grid=GAMMAS).fit(*two_classes())
    assert len(calls) == 1


def test_gram_matrices_that_do_not_fit_are_evaluated_piece_by_piece(monkeypatch):
    X, y = two_classes(300)
    model = SVCCV(CS, kernel_grid=GAMMAS).fit(X, y)
    monkeypatch.setattr(_search, "fits", lambda n_bytes: False)
    monkeypatch.setattr(_search, "MatrixGram", None)
    pieces = SVCCV(CS, kernel_grid=GAMMAS).fit(X, y)
    np.testing.assert_array_equal(
        pieces.cv_results_["mean_test_score"], model.cv_results_["mean_test_score"]
    )


def test_number_of_costs_asks_for_a_logarithmic_grid():
    model = SVCCV(4, gamma=0.1).fit(*two_classes(60))
    tried = [params["C"] for params in model.cv_results_["params"]]
    np.testing.assert_allclose(tried, [1e-3, 1e-1, 1e1, 1e3])


def test_order_of_the_costs_does_not_matter_but_for_ties():
    X, y = targets()
    up, down = (SVRCV(Cs, kernel_grid=GAMMAS).fit(X, y) for Cs in (CS, CS[::-1]))
    table = up.cv_results_["mean_test_score"].reshape(3, 3)
    np.testing.assert_allclose(
        down.cv_results_["mean_test_score"].reshape(3, 3), table[::-1], **ALGEBRA
    )
    assert up.best_params_ == down.best_params_


def test_of_equal_scores_the_first_is_chosen():
    X, y = np.r_[np.zeros((20, 1)), np.ones((20, 1))], np.repeat([0, 1], 20)
    model = SVCCV([1.0, 5.0, 10.0], kernel_grid={"gamma": [1.0, 2.0]}).fit(X, y)
    assert model.best_index_ == 0
    assert model.best_params_ == {"C": 1.0, "gamma": 1.0}
    assert (model.cv_results_["rank_test_score"] == 1).all()


def test_classes_that_a_fold_lacks_are_not_predicted_there():
    X, y = three_classes(60)
    y[:2] = "dog"
    folds = [(np.arange(2, 60), np.arange(2)), (np.arange(40), np.arange(40, 60))]
    model = SVCCV(CS, gamma=0.2, cv=folds).fit(X, y)
    grid = GridSearchCV(SVC(gamma=0.2), {"C": CS}, cv=folds).fit(X, y)
    assert_same_results(model, grid, **EXACT)
    assert (model.cv_results_["split0_test_score"] == 0).all()
    assert "dog" in model.classes_


@pytest.mark.parametrize("cv", [ShuffleSplit(4, random_state=0), KFold(7)], ids=str)
def test_splitters_and_their_number_of_folds(cv):
    X, y = targets(60)
    model = SVRCV(CS, gamma=0.1, cv=cv, tol=1e-9).fit(X, y)
    grid = GridSearchCV(SVR(gamma=0.1, tol=1e-9), {"C": CS}, cv=cv).fit(X, y)
    assert_same_results(model, grid, **ALGEBRA)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"Cs": [1.0, np.inf]}, "positive finite"),
        ({"Cs": [0.0, 1.0]}, "positive finite"),
        ({"Cs": []}, "positive finite"),
        ({"kernel_grid": {"C": [1.0]}}, "got C"),
        ({"kernel_grid": {"length": [1.0]}}, "got length"),
        ({"kernel": "precomputed", "kernel_grid": GAMMAS}, "no parameters"),
        ({"cv": [(np.arange(5), np.arange(5, 10))]}, "one class only"),
        ({"scoring": lambda *a: np.nan}, "NaN for all"),
    ],
    ids=without_addresses,
)
def test_searches_without_a_meaning_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        SVCCV(**params).fit(np.eye(20), np.repeat([0, 1], 10))


def test_search_that_stops_early_says_so():
    X, y = two_classes()
    with pytest.warns(ConvergenceWarning) as caught:
        SVCCV([1e3], gamma=1e-3, max_iter=5).fit(X, y)
    assert any("fits of the search" in str(warning.message) for warning in caught)


# ---------------------------------------------------------------- leaving out one by one


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_loo_score_is_that_of_refits_without_each_sample(data, loss):
    X, y = data(50)
    model = SVCCV(CS, gamma=0.2, cv="loo", loss=loss).fit(X, y)
    refits = [
        np.mean(cross_val_predict(SVC(C=C, gamma=0.2, loss=loss), X, y, cv=LeaveOneOut()) == y)
        for C in CS
    ]
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], refits, **EXACT)
    np.testing.assert_array_equal(model.cv_results_["std_test_score"], 0.0)
    best = SVC(C=model.C_, gamma=0.2, loss=loss).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), best.decision_function(X))


def test_loo_score_of_a_regression_is_that_of_refits_without_each_sample():
    X, y = targets(40)
    Cs = [1.0, 30.0]
    model = SVRCV(Cs, gamma=0.2, cv="loo").fit(X, y)
    machines = [SVR(C=C, gamma=0.2, tol=1e-9) for C in Cs]
    refits = [r2_score(y, cross_val_predict(one, X, y, cv=LeaveOneOut())) for one in machines]
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], refits, rtol=1e-5)


def test_loo_needs_two_samples():
    with pytest.raises(ValueError, match="n_samples=1"):
        SVRCV(2, cv="loo").fit([[1.0], [2.0]], [1.0, 2.0], sample_weight=[0.0, 1.0])


# ---------------------------------------------------------------- the model after the search


@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_model_has_the_attributes_and_certificates_of_the_best_svc(data):
    X, y = data()
    model = SVCCV(CS, kernel="linear", class_weight="balanced").fit(X, y)
    best = SVC(C=model.C_, kernel="linear", class_weight="balanced").fit(X, y)
    for name in ("support_", "n_support_", "dual_coef_", "intercept_", "coef_", "class_weight_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(best, name))
    for name in ("dual_objective_", "duality_gap_", "kkt_violation_", "margin_", "n_iter_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(best, name))
    assert model.converged_


def test_model_of_a_regression_is_the_best_svr():
    X, y = targets()
    model = SVRCV(CS, kernel_grid=GAMMAS, cv=5).fit(X, y)
    best = SVR(**model.best_params_).fit(X, y)
    np.testing.assert_array_equal(model.dual_coef_, best.dual_coef_)
    assert model.duality_gap_ == best.duality_gap_
    assert model.kernel_ == Gaussian(gamma=model.best_params_["gamma"])


# ---------------------------------------------------------------- threads and interrupts


@pytest.mark.parametrize("cv", [3, "loo"])
def test_threads_find_what_one_finds(cv):
    X, y = three_classes(60)
    one, four = (SVCCV(CS, kernel_grid=GAMMAS, cv=cv, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 4))
    np.testing.assert_array_equal(
        one.cv_results_["mean_test_score"], four.cv_results_["mean_test_score"]
    )
    np.testing.assert_array_equal(one.dual_coef_, four.dual_coef_)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")
def test_interrupt_ends_the_threads_too():
    X, y, threads = *two_classes(800), threading.active_count()
    model = SVCCV(np.logspace(0, 4, 8), kernel_grid={"gamma": [1e-3, 1e-2, 0.1]}, n_jobs=2)

    def interrupt(signum, frame):
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    time.sleep(0.05)
    assert threading.active_count() <= threads
    assert not hasattr(model, "C_")


@needs_callbacks
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_search_that_a_callback_stops_ends_with_the_kernel_at_hand(n_jobs):
    X, y = two_classes()
    model = SVCCV(CS, kernel_grid=GAMMAS, n_jobs=n_jobs).set_callbacks(Stop(after=7)).fit(X, y)
    scores = model.cv_results_["mean_test_score"].reshape(len(CS), 3)
    assert np.isfinite(scores[:, :2]).all()
    assert np.isnan(scores[:, 2]).all()
    assert model.best_params_["gamma"] < 1
    assert (model.cv_results_["rank_test_score"].reshape(len(CS), 3)[:, 2] == 7).all()


def test_verbose_search_tells_of_its_folds(capsys):
    X, y = load_iris(return_X_y=True)
    SVCCV([1.0], kernel_grid={"gamma": [0.1, 1.0]}, cv=3, verbose=True).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6 + 1  # the last one is about the fit
    assert lines[5].startswith("[SVCCV] kernel 2/2 {'gamma': 1.0}, fold 3/3: best score")


def test_clone_keeps_the_grid():
    model = SVCCV(CS, kernel_grid=GAMMAS, cv="loo")
    assert clone(model).get_params() == model.get_params()


# ---------------------------------------------------------------- one problem after the other


def problems(rng, family, squared):
    """Return problems for growing costs, some samples left out, and their Gram matrix."""
    X = rng.normal(size=(60, 3))
    gram = MatrixGram(rbf_kernel(X, gamma=0.3))
    weight = rng.uniform(0.5, 2, 60) * (rng.uniform(size=60) < 0.8)
    noise = 0.5 * rng.normal(size=60)
    if family == "margin":
        sign = np.where(X[:, 0] + noise > 0, 1.0, -1.0)
        return [margin_problem(sign, C * weight, squared=squared) for C in (0.1, 1, 50)], gram
    y = X[:, 0] + noise
    return [tube_problem(y, C * weight, 0.1, squared=squared) for C in (0.1, 1, 50)], gram


@pytest.mark.parametrize("family", ["margin", "tube"])
@pytest.mark.parametrize("squared", [False, True])
def test_problems_in_turn_have_the_solutions_of_each_alone(family, squared, rng):
    some, gram = problems(rng, family, squared)
    for problem, solution in zip(some, solve_in_turn(some, gram, tol=1e-10), strict=True):
        alone = solve(problem, gram, tol=1e-10)
        np.testing.assert_allclose(solution.b, alone.b, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(solution.values, alone.values, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("family", ["margin", "tube"])
@pytest.mark.parametrize("squared", [False, True])
def test_start_is_feasible_and_the_best_of_its_multiples(family, squared, rng):
    (small, large, _), gram = problems(rng, family, squared)
    solution = solve(small, gram, tol=1e-6)
    start = best_multiple(solution, large)
    assert ((start.b >= large.lower) & (start.b <= large.upper)).all()
    exact = large.target - gram.K @ start.b - large.ridge * start.b
    np.testing.assert_allclose(start.v, exact, **ALGEBRA)
    reached = large.dual_objective(start.b, start.v)
    for s in np.linspace(1, 10, 50):
        b = s * solution.b
        v = large.target - gram.K @ b - large.ridge * b
        assert large.dual_objective(b, v) <= reached + 1e-9
