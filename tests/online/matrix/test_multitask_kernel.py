"""Switching tasks of a kernel: the completion of a matrix of inputs and points in time."""

import copy

import numpy as np
import pytest
from conftest import EXACT
from reference import matrix_completion as reference
from sklearn.metrics.pairwise import rbf_kernel

from sklearn_sl.datasets import make_switching_tasks
from sklearn_sl.kernels import Gaussian, Linear, PathTree, Sigmoid
from sklearn_sl.online import MatrixCompletion, SwitchingMultitaskKernel
from sklearn_sl.online.matrix._multitask_kernel import Timelines
from sklearn_sl.theory import multitask_kernel_bound, multitask_kernel_complexity

# What the twin and the learner may differ by.
TWIN = {"rtol": 0, "atol": 1e-10}


def twin_losses(K, leaves, n_leaves, y, n_modes, complexity, eta):
    """Return the probabilities of a mistake, with all matrices written out."""
    T, margin = len(y), n_modes**-0.5
    P = reference.path_tree(n_leaves)
    x = reference.embeddings(K, P)
    pairs = np.column_stack([np.arange(T), leaves])
    scores, _ = reference.full_matrix(x, pairs, y, complexity / n_modes, 2 * T, margin, eta)
    right = reference.probability(scores, margin)
    return np.where(y > 0, 1 - right, right)


def account(model):
    """Return the numbers that trials have changed."""
    entries = model._entries
    return (
        model.n_trials_,
        model.n_mistakes_,
        model.cumulative_loss_,
        model.n_updates_,
        model.n_skipped_,
        model.eta_,
        model.loss_curve_.tobytes(),
        entries.weights[:, : len(entries)].tobytes(),
        model._counts,
    )


@pytest.mark.parametrize("complexity", [20.0, 100.0])
@pytest.mark.parametrize("n_modes", [1, 3])
def test_answers_are_those_of_the_full_matrix(n_modes, complexity):
    X, y, _ = make_switching_tasks(50, random_state=0)
    X = X[:, :-1]
    model = SwitchingMultitaskKernel(
        Gaussian(gamma=0.7), n_modes, complexity=complexity, keep_losses=True
    ).fit(X, y)
    complexity = min(complexity, 100 * n_modes)  # with more nothing is promised
    eta = np.sqrt(complexity * np.log(100) / (2 * 50 * n_modes))
    np.testing.assert_allclose(model.eta_, eta, **EXACT)
    # The timeline has a leaf for each trial and one for the next, padded to a power of two.
    expected = twin_losses(rbf_kernel(X, gamma=0.7), np.arange(50), 64, y, n_modes, complexity, eta)
    np.testing.assert_allclose(model.loss_curve_, expected, **TWIN)
    np.testing.assert_allclose(model.expected_mistakes_, expected.sum(), **TWIN)


def test_tasks_are_laid_end_to_end():
    X, y, _ = make_switching_tasks(60, n_tasks=3, n_shifts=2, random_state=0)
    model = SwitchingMultitaskKernel(
        Gaussian(gamma=0.7), 2, complexity=40.0, task_column=-1, keep_losses=True
    ).fit(X, y)
    # In the order in which they come, with 20 trials each, padded to 32 leaves.
    numbers = {task: k for k, task in enumerate(dict.fromkeys(X[:, -1]))}
    seen, leaves = [0, 0, 0], []
    for task in X[:, -1]:
        number = numbers[task]
        leaves.append(32 * number + seen[number])
        seen[number] += 1
    assert (model.n_tasks_, seen) == (3, [20, 20, 20])
    K = rbf_kernel(X[:, :-1], gamma=0.7)
    expected = twin_losses(K, leaves, 96, y, 2, 40.0, model.eta_)
    np.testing.assert_allclose(model.loss_curve_, expected, **TWIN)


def test_it_is_matrix_completion_with_time_as_columns(rng):
    X, y, _ = make_switching_tasks(80, random_state=1)
    X[:, -1] = np.arange(80)
    model = SwitchingMultitaskKernel("linear", 2, complexity=60.0, keep_losses=True)
    model.fit(X[:, :-1], y)
    matrix = MatrixCompletion(
        2**-0.5,
        30.0,
        model.eta_,
        row_kernel=Linear(),
        col_kernel=PathTree(128),
        n_row_features=2,
        n_rows=80,
        n_cols=80,
        keep_losses=True,
    ).fit(X, y)
    np.testing.assert_allclose(model.loss_curve_, matrix.loss_curve_, **TWIN)


def test_timelines_are_a_path_tree_and_grow_to_powers_of_two(rng):
    timelines = Timelines(1, 1).grown(3, 20)
    assert (timelines.length, timelines.n_leaves) == (32, 96)
    points = np.column_stack([rng.integers(3, size=40), rng.integers(32, size=40)]).astype(float)
    leaves = points @ [32, 1]
    np.testing.assert_array_equal(timelines(points, points), PathTree(96)(leaves))
    np.testing.assert_array_equal(timelines.diag(points), timelines.radius)
    assert timelines.grown(2, 32) is timelines
    assert (timelines.grown(5, 3).n_tasks, timelines.grown(5, 33).length) == (5, 64)


# ---------------------------------------------------------------- time


@pytest.mark.parametrize("n_tasks", [1, 3])
@pytest.mark.parametrize("n_seen", [31, 32, 33])
def test_prediction_is_for_the_next_trial_of_the_task(n_tasks, n_seen):
    """Also if the timeline is full, or the task is new."""
    X, y, _ = make_switching_tasks(64, n_tasks, n_shifts=2, random_state=0)
    model = SwitchingMultitaskKernel(
        complexity=50.0, horizon=64, task_column=-1, keep_losses=True, gamma=1.0
    )
    model.partial_fit(X[:n_seen], y[:n_seen], classes=[-1, 1])
    queries = X[n_seen : n_seen + 9].copy()
    queries[5:, -1] = 77  # a task that nobody has met
    for query, proba in zip(queries, model.predict_proba(queries), strict=True):
        told = copy.deepcopy(model).partial_fit(query[None], [1])
        np.testing.assert_allclose(told.loss_curve_[-1], proba[0], rtol=1e-9, atol=1e-12)


def test_what_was_learned_lately_counts_more_than_the_same_of_long_ago():
    """A constant input whose label changes: the learner follows."""
    X, y = np.ones((200, 1)), np.repeat([1, -1, 1, -1], 50)
    model = SwitchingMultitaskKernel("rbf", 2, 3, keep_losses=True).fit(X, y)
    right = 1 - model.loss_curve_
    for stretch in range(4):
        assert right[50 * stretch + 25 : 50 * (stretch + 1)].mean() > 0.95
    assert model.predict([[1.0]])[0] == -1


def test_tasks_that_share_a_hypothesis_learn_from_each_other():
    X, y, _ = make_switching_tasks(300, 3, n_shifts=0, n_modes=1, random_state=0)
    together = SwitchingMultitaskKernel(n_modes=1, task_column=-1).fit(X, y)
    alone = [
        SwitchingMultitaskKernel(n_modes=1).fit(X[X[:, -1] == k, :-1], y[X[:, -1] == k])
        for k in range(3)
    ]
    assert together.expected_mistakes_ < 0.8 * sum(model.expected_mistakes_ for model in alone)


def alternating(rng, n_features, hypotheses):
    """Return 400 inputs, and labels of one hypothesis after the other."""
    X = rng.uniform(-1, 1, size=(400, n_features))
    modes = np.repeat(np.arange(len(hypotheses)), 400 // len(hypotheses))
    return X, np.where(np.einsum("ij,ij->i", X, hypotheses[modes]) > 0, 1, -1)


def test_a_learner_that_knows_no_time_cannot_follow_opposite_hypotheses(rng):
    h = np.array([1.0, 0.5])
    X, y = alternating(rng, 2, np.array([h, -h] * 4))
    model = SwitchingMultitaskKernel("linear", 2, 7).fit(X, y)
    static = MatrixCompletion(1.0, row_kernel=Linear(), n_row_features=2, eta=model.eta_)
    assert model.expected_mistakes_ < 0.7 * static.fit(X, y).expected_mistakes_


def test_hypotheses_that_come_back_are_remembered(rng):
    """Two of ten features in turns cost less than eight hypotheses one after the other."""
    fresh = rng.normal(size=(8, 10))
    mistakes = []
    for hypotheses in (np.tile(fresh[:2], (4, 1)), fresh):
        X, y = alternating(np.random.default_rng(1), 10, hypotheses)
        mistakes.append(SwitchingMultitaskKernel("linear", 2, 7).fit(X, y).expected_mistakes_)
    assert mistakes[0] < 0.9 * mistakes[1]


# ---------------------------------------------------------------- blocks and bounds


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"kernel": "linear", "task_column": 0},
        {"kernel": Linear() + 1.0, "task_column": -1, "horizon": 80, "radius": 4.0},
        {"task_column": -1, "max_basis": 12},
    ],
    ids=str,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_blocks_are_one_pass_bit_for_bit(params, n_classes, rng):
    X = np.column_stack([rng.integers(3, size=80), rng.normal(size=80), rng.integers(4, size=80)])
    y = rng.integers(n_classes, size=80)
    classes = np.arange(n_classes)

    def learner():
        return SwitchingMultitaskKernel(keep_losses=True, random_state=0, **params)

    whole = learner().partial_fit(X, y, classes=classes)
    for cuts in ([30, 31, 77], range(1, 80)):
        model = learner()
        for rows in np.split(np.arange(80), list(cuts)):
            model.partial_fit(X[rows], y[rows], classes=classes)
        assert account(model) == account(whole)
        np.testing.assert_array_equal(model.decision_function(X), whole.decision_function(X))


def test_fit_is_partial_fit_if_all_is_known_beforehand():
    X, y, _ = make_switching_tasks(60, random_state=0)
    params = {"horizon": 60, "radius": 1.0, "random_state": 0, "keep_losses": True}
    fitted = SwitchingMultitaskKernel(**params).fit(X[:, :-1], y)
    model = SwitchingMultitaskKernel(**params).partial_fit(X[:, :-1], y, classes=[-1, 1])
    assert account(model) == account(fitted)
    assert model.regret_bound_ == fitted.regret_bound_


def test_complexity_and_bound_are_those_of_the_theorem():
    X, y, _ = make_switching_tasks(100, 2, random_state=0)
    model = SwitchingMultitaskKernel(n_modes=3, n_switches=4, task_column=-1).fit(X, y)
    # Two timelines of 64 leaves are a tree of height 7.
    assert model.complexity_ == multitask_kernel_complexity(np.ones(3), 128, 4, 2)
    assert model.regret_bound_ == multitask_kernel_bound(100, model.complexity_)
    assert model.dimension_ == min(model.complexity_ / 3, 200)
    given = SwitchingMultitaskKernel(complexity=33.0).fit(X, y)
    assert (given.complexity_, given.dimension_) == (33.0, 16.5)
    assert given.expected_mistakes_ <= given.regret_bound_
    for params in ({"eta": 0.3}, {"horizon": 50}, {"max_basis": 5}):
        assert SwitchingMultitaskKernel(**params).fit(X, y).regret_bound_ is None
    stream = SwitchingMultitaskKernel().partial_fit(X, y, classes=[-1, 1])
    assert stream.regret_bound_ is None


def test_failed_trials_leave_the_old_state():
    X, y, _ = make_switching_tasks(40, random_state=0)
    model = SwitchingMultitaskKernel(task_column=-1, keep_losses=True, horizon=100)
    model.partial_fit(X, y, classes=[-1, 1])
    before, scores = account(model), model.decision_function(X)
    for bad in ([[np.nan, 0.0, 0.0]], [[0.0, 0.0, 9.0], [0.0, np.inf, 9.0]]):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            model.partial_fit(bad, [1] * len(bad))
        with pytest.raises(ValueError, match="not in classes"):
            model.partial_fit([[0.0, 0.0, 9.0]], [7])
        assert account(model) == before
        np.testing.assert_array_equal(model.decision_function(X), scores)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"task_column": 3}, r"task_column must be in \[-3, 3\).*; got 3"),
        ({"task_column": -4}, r"task_column must be in \[-3, 3\).*; got -4"),
        ({"kernel": Sigmoid()}, "not positive definite"),
        ({"n_modes": 0}, "n_modes"),
        ({"complexity": -1.0}, "complexity"),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(params, message):
    X, y, _ = make_switching_tasks(20, random_state=0)
    with pytest.raises(ValueError, match=message):
        SwitchingMultitaskKernel(**params).fit(X, y)


@pytest.mark.parametrize("huge", [1e160, 1e300])
def test_median_of_huge_distances_gives_finite_scores(huge):
    rng = np.random.default_rng(0)
    X, y = rng.random((20, 3)), rng.integers(2, size=20)
    X[4, 1] = huge
    model = SwitchingMultitaskKernel(gamma="median").fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
