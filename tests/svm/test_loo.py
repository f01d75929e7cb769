"""Leave-one-out equals refitting without each sample, and the bounds lie above it."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm as neighbour
from conftest import ALGEBRA
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel

from sklearn_sl.svm import SVC, SVCCV, SVR, _left_out, _loo
from sklearn_sl.svm._gram import MatrixGram, SubGram
from sklearn_sl.svm._left_out import Resident, loo_signs, loo_values
from sklearn_sl.svm._problem import margin_problem, tube_problem
from sklearn_sl.svm._solver import Search, solve

TIGHT = 1e-10
# What a violation of a millionth leaves in the value at a sample.
CLOSE = {"rtol": 1e-5, "atol": 1e-5}
KERNELS = {
    "linear": linear_kernel,
    "poly": lambda X: polynomial_kernel(X, degree=2),
    "rbf": lambda X: rbf_kernel(X, gamma=0.5),
}
kernels = pytest.mark.parametrize("kernel", list(KERNELS))
costs = pytest.mark.parametrize("C", [0.02, 1.0, 50.0])
squares = pytest.mark.parametrize("squared", [False, True])
intercepts = pytest.mark.parametrize("intercept", [False, True])


def two_classes(rng, n=36, p=3, noise=0.7):
    """Return overlapping samples with signs of both kinds."""
    X = rng.normal(size=(n, p))
    sign = np.sign(X[:, 0] - 0.5 * X[:, 1] + noise * rng.normal(size=n))
    sign[:4] = 1, 1, -1, -1
    return X, sign


def apart(rng, n=24, gap=0.3):
    """Return samples that a hyperplane separates."""
    X = rng.normal(size=(n, 2))
    sign = np.where(np.arange(n) % 3 > 0, 1.0, -1.0)
    X[:, 0] = sign * (gap + np.abs(X[:, 0]))
    return X, sign


def response(rng, n=36, p=2):
    """Return samples and a noisy response."""
    X = rng.normal(size=(n, p))
    return X, np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=n)


def solved(problem, gram):
    return solve(problem, gram, tol=TIGHT, polish=True)


def values_of_refits(problem, gram):
    """Return the value at each sample of the machine trained without it, one by one."""
    return np.array([solved(_left_out.without(problem, i), gram).values[i] for i in range(gram.n)])


def errors_of_refits(model, X, y, weight=None):
    """Return which samples are errors of a fit without them."""
    kept = np.arange(len(y)) if weight is None else np.flatnonzero(weight)
    errors = []
    for i in kept:
        rest = kept[kept != i]
        own = None if weight is None else weight[rest]
        model.fit(X[rest], y[rest], sample_weight=own)
        errors.append(model.predict(X[[i]])[0] != y[i])
    return np.array(errors)


class TestValues:
    @kernels
    @costs
    @squares
    @intercepts
    def test_of_a_classifier_are_those_of_refits(self, rng, kernel, C, squared, intercept):
        X, sign = two_classes(rng)
        gram = MatrixGram(KERNELS[kernel](X))
        cost = C * rng.uniform(0.5, 1.5, size=len(sign))
        problem = margin_problem(sign, cost, squared=squared, intercept=intercept)
        values = loo_values(problem, gram, solved(problem, gram))
        np.testing.assert_allclose(values, values_of_refits(problem, gram), **CLOSE)

    @kernels
    @costs
    @squares
    @pytest.mark.parametrize("epsilon", [0.0, 0.2])
    def test_of_a_regression_are_those_of_refits(self, rng, kernel, C, squared, epsilon):
        X, y = response(rng)
        gram = MatrixGram(KERNELS[kernel](X))
        cost = C * rng.uniform(0.5, 1.5, size=len(y))
        problem = tube_problem(y, cost, epsilon, squared=squared)
        values = loo_values(problem, gram, solved(problem, gram))
        np.testing.assert_allclose(values, values_of_refits(problem, gram), **CLOSE)

    def test_of_a_hard_margin_are_those_of_refits(self, rng):
        X, sign = apart(rng)
        gram = MatrixGram(linear_kernel(X))
        problem = margin_problem(sign, np.full(len(sign), np.inf))
        values = loo_values(problem, gram, solved(problem, gram))
        np.testing.assert_allclose(values, values_of_refits(problem, gram), **CLOSE)

    def test_survive_repeated_samples(self, rng):
        X, sign = two_classes(rng)
        gram = MatrixGram(rbf_kernel(np.vstack([X, X]), gamma=0.5))
        problem = margin_problem(np.tile(sign, 2), rng.uniform(0.5, 1.5, size=2 * len(sign)))
        values = loo_values(problem, gram, solved(problem, gram))
        np.testing.assert_allclose(values, values_of_refits(problem, gram), **CLOSE)

    @kernels
    @intercepts
    def test_are_exact_though_the_given_solution_is_not(self, rng, kernel, intercept):
        X, sign = two_classes(rng, n=60)
        gram = MatrixGram(KERNELS[kernel](X))
        problem = margin_problem(sign, np.full(60, 3.0), intercept=intercept)
        rough = loo_values(problem, gram, solve(problem, gram, tol=0.05))
        exact = loo_values(problem, gram, solved(problem, gram))
        np.testing.assert_allclose(rough, exact, **CLOSE)

    def test_of_many_samples_need_no_retraining(self):
        X, y = make_classification(600, 20, n_informative=10, flip_y=0.05, random_state=0)
        gram = MatrixGram(rbf_kernel(X, gamma=0.02))
        problem = margin_problem(2.0 * y - 1, np.full(600, 10.0))
        machine = Resident(problem, gram, solve(problem, gram, tol=1e-3).b).settled()
        values = machine.values_without(machine.support)
        assert not machine.retrained
        assert np.count_nonzero(machine.support) > 150
        for i in np.flatnonzero(machine.support)[::20]:
            refit = solved(_left_out.without(problem, i), gram)
            np.testing.assert_allclose(values[i], refit.values[i], **CLOSE)

    def test_of_many_samples_in_few_dimensions_are_those_of_refits(self):
        X, y = make_classification(560, 20, n_informative=10, flip_y=0.05, random_state=0)
        gram = MatrixGram(linear_kernel(X))
        problem = margin_problem(2.0 * y - 1, np.full(560, 0.1))
        machine = Resident(problem, gram, solve(problem, gram, tol=1e-3).b).settled()
        rows = np.flatnonzero(machine.support)[::25]
        values = machine.values_without(np.isin(np.arange(560), rows))
        for i in rows:
            refit = solved(_left_out.without(problem, i), gram)
            np.testing.assert_allclose(values[i], refit.values[i], **CLOSE)

    def test_keep_those_of_samples_that_are_not_in_the_problem(self, rng):
        X, sign = two_classes(rng)
        gram = MatrixGram(rbf_kernel(X))
        problem = margin_problem(sign, np.where(np.arange(len(sign)) < 30, 1.0, 0.0))
        solution = solved(problem, gram)
        values = loo_values(problem, gram, solution)
        np.testing.assert_allclose(values[30:], solution.values[30:], **ALGEBRA)

    def test_have_the_signs_of_the_faster_way(self, rng):
        X, sign = two_classes(rng, n=80)
        gram = MatrixGram(rbf_kernel(X))
        problem = margin_problem(sign, np.full(80, 2.0))
        solution = solved(problem, gram)
        values = loo_values(problem, gram, solution)
        np.testing.assert_array_equal(loo_signs(problem, gram, solution), np.sign(values))

    def test_move_the_intercept_that_no_free_vector_fixes(self, rng):
        # Two samples of either class, all at their bounds or not in use: the intercept is in the
        # middle of an interval, one end of which belongs to a sample that is no support vector.
        x = np.array([-3.0, -0.5, 0.5, 4.0])
        gram = MatrixGram(np.outer(x, x))
        problem = margin_problem(np.array([-1.0, -1.0, 1.0, 1.0]), np.full(4, 0.3))
        solution = solved(problem, gram)
        values = loo_values(problem, gram, solution)
        np.testing.assert_allclose(values, values_of_refits(problem, gram), **CLOSE)

    def test_agree_with_retraining_all_support_vectors(self, rng, monkeypatch):
        X, sign = two_classes(rng)
        gram = MatrixGram(rbf_kernel(X))
        problem = margin_problem(sign, np.full(len(sign), 2.0))
        solution = solved(problem, gram)
        exchanged = loo_values(problem, gram, solution)
        monkeypatch.setattr(_left_out, "exchange_matrix", lambda *_: None)
        machine = Resident(problem, gram, solution.b).settled()
        retrained = machine.values_without(machine.support)
        assert machine.retrained == np.count_nonzero(solution.b)
        np.testing.assert_allclose(exchanged, retrained, **CLOSE)


class TestTheory:
    @squares
    @intercepts
    def test_margins_of_left_out_support_vectors_only_fall(self, rng, squared, intercept):
        X, sign = two_classes(rng, n=60)
        gram = MatrixGram(rbf_kernel(X))
        problem = margin_problem(sign, np.full(60, 1.0), squared=squared, intercept=intercept)
        solution = solved(problem, gram)
        values = loo_values(problem, gram, solution)
        support = solution.b != 0
        assert (sign * values <= sign * solution.values + 1e-7)[support].all()
        np.testing.assert_allclose(values[~support], solution.values[~support], **ALGEBRA)

    def test_samples_that_are_no_support_vectors_have_their_margin(self, rng):
        X, sign = two_classes(rng, n=80)
        model = SVC(C=1.0, tol=TIGHT).fit(X, sign)
        others = np.setdiff1d(np.arange(80), model.support_)
        assert (sign * model.decision_function(X) >= 1 - 1e-7)[others].all()

    @pytest.mark.parametrize("C", [0.3, 3.0, 30.0])
    @pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
    @pytest.mark.parametrize("fit_intercept", [False, True])
    def test_the_bounds_lie_above_the_error(self, rng, C, loss, fit_intercept):
        X, sign = two_classes(rng, n=80)
        model = SVC(C=C, loss=loss, fit_intercept=fit_intercept).fit(X, sign)
        exact, xi_alpha, n_sv = (
            model.loo_error(X, sign, method=method) for method in ("exact", "xi-alpha", "n_sv")
        )
        assert exact <= xi_alpha <= n_sv == len(model.support_) / 80

    @intercepts
    @squares
    def test_xi_alpha_bounds_each_margin(self, rng, intercept, squared):
        X, sign = two_classes(rng, n=60)
        K = rbf_kernel(X)
        gram, cost = MatrixGram(K), np.full(60, 0.4)
        problem = margin_problem(sign, cost, squared=squared, intercept=intercept)
        solution = solved(problem, gram)
        whole = SubGram(gram, np.arange(60))
        safe = ~_loo.xi_alpha_suspects(problem, whole, solution)
        assert (sign * loo_values(problem, gram, solution))[safe].min() > 0
        assert np.count_nonzero(safe & (solution.b != 0)) > 3

    def test_xi_alpha_counts_no_more_than_joachims(self, rng):
        X, sign = two_classes(rng, n=80)
        model = SVC(C=0.5, gamma=0.2).fit(X, sign)
        K = rbf_kernel(X, gamma=0.2)
        alpha = np.zeros(80)
        alpha[model.support_] = np.abs(model.dual_coef_[0])
        slack = np.maximum(0, 1 - sign * model.decision_function(X))
        suspects = 2 * alpha * (K.diagonal().max() - K.min()) + slack >= 1
        assert model.loo_error(X, sign, method="xi-alpha") <= np.mean(suspects)

    @pytest.mark.parametrize("C", [0.5, 5.0])
    def test_the_span_rule_is_near_the_error_on_average(self, C):
        exact, span = [], []
        for seed in range(8):
            X, sign = two_classes(np.random.default_rng(seed), n=80)
            model = SVC(C=C).fit(X, sign)
            exact.append(model.loo_error(X, sign))
            span.append(model.loo_error(X, sign, method="span"))
        assert abs(np.mean(span) - np.mean(exact)) < 0.03
        assert np.abs(np.subtract(span, exact)).max() < 0.08

    def test_the_span_rule_is_exact_where_no_other_sample_changes_its_state(self, rng):
        # The squared hinge at a small C: all samples are free and stay so.
        X, sign = two_classes(rng)
        model = SVC(C=1e-3, loss="squared_hinge").fit(X, sign)
        assert len(model.support_) == len(sign)
        assert model.loo_error(X, sign, method="span") == model.loo_error(X, sign)


class TestClassifier:
    @pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
    @costs
    def test_error_is_that_of_refits(self, rng, kernel, C):
        X, sign = two_classes(rng, n=50)
        model = SVC(C=C, kernel=kernel, gamma=0.3, degree=2, tol=1e-9).fit(X, sign)
        error = model.loo_error(X, sign)
        assert error == errors_of_refits(model, X, sign).mean()

    @pytest.mark.parametrize("params", [{"loss": "squared_hinge"}, {"fit_intercept": False}])
    def test_error_of_variants_is_that_of_refits(self, rng, params):
        X, sign = two_classes(rng, n=50)
        model = SVC(C=2.0, gamma=0.3, tol=1e-9, **params).fit(X, sign)
        error = model.loo_error(X, sign)
        assert error == errors_of_refits(model, X, sign).mean()

    def test_error_of_weighted_samples_is_that_of_refits(self, rng):
        X, sign = two_classes(rng, n=50)
        weight = rng.choice([0.0, 0.5, 1.3, 2.0], size=50)
        model = SVC(C=2.0, gamma=0.3, tol=1e-9, class_weight={1.0: 2.0})
        error = model.fit(X, sign, sample_weight=weight).loo_error(X, sign, weight)
        assert error == errors_of_refits(model, X, sign, weight).mean()

    def test_error_of_a_hard_margin_is_that_of_refits(self, rng):
        X, sign = apart(rng, gap=0.05)
        model = SVC(C=np.inf, kernel="linear", tol=1e-9).fit(X, sign)
        error, bounds = (
            model.loo_error(X, sign),
            [model.loo_error(X, sign, method=method) for method in ("xi-alpha", "n_sv")],
        )
        assert error == errors_of_refits(model, X, sign).mean() <= min(bounds)

    @pytest.mark.parametrize("break_ties", [False, True])
    def test_error_of_many_classes_is_that_of_refits(self, rng, break_ties):
        X, y = load_iris(return_X_y=True)
        rows = rng.permutation(len(y))[:60]
        X, y = X[rows, :2], y[rows]
        model = SVC(C=5.0, gamma=0.5, tol=1e-9, break_ties=break_ties).fit(X, y)
        error = model.loo_error(X, y)
        bounds = [model.loo_error(X, y, method=method) for method in ("xi-alpha", "n_sv")]
        assert error == errors_of_refits(model, X, y).mean()
        assert error <= bounds[0] <= bounds[1] == len(model.support_) / 60

    @pytest.mark.parametrize("method", _loo.METHODS)
    def test_error_is_that_of_other_containers(self, rng, method):
        X, sign = two_classes(rng, n=50)
        model = SVC(C=2.0, gamma=0.3).fit(X, sign)
        error = model.loo_error(X, sign, method=method)
        sparse = SVC(C=2.0, gamma=0.3).fit(sp.csr_array(X), sign)
        assert sparse.loo_error(sp.csr_array(X), sign, method=method) == error
        K = rbf_kernel(X, gamma=0.3)
        precomputed = SVC(C=2.0, kernel="precomputed").fit(K, sign)
        assert precomputed.loo_error(K, sign, method=method) == error

    def test_error_does_not_depend_on_the_order_or_names_of_classes(self, rng):
        X, sign = two_classes(rng, n=50)
        error = SVC().fit(X, sign).loo_error(X, sign)
        names, order = np.where(sign > 0, "a", "b"), rng.permutation(50)
        assert SVC().fit(X[order], names[order]).loo_error(X[order], names[order]) == error

    def test_the_only_sample_of_a_class_is_an_error(self, rng):
        X = np.vstack([rng.normal(size=(10, 2)), [[9.0, 9.0]]])
        y = np.r_[np.zeros(10), 1]
        model = SVC(kernel="linear", C=10.0).fit(X, y)
        assert [model.loo_error(X, y, method=m) >= 1 / 11 for m in _loo.METHODS] == [True] * 4
        assert model.loo_error(X, y) == 1 / 11

    def test_the_model_stays_as_it_is(self, rng):
        X, sign = two_classes(rng)
        model = SVC().fit(X, sign)
        before = {name: np.copy(value) for name, value in vars(model).items()}
        model.loo_error(X, sign)
        assert list(before) == list(vars(model))
        np.testing.assert_array_equal(before["dual_coef_"], model.dual_coef_)


class TestRegression:
    @pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
    @intercepts
    def test_error_is_that_of_refits(self, rng, loss, intercept):
        X, y = response(rng)
        weight = rng.choice([0.0, 0.7, 1.5], size=len(y))
        model = SVR(C=3.0, gamma=0.5, loss=loss, fit_intercept=intercept, tol=1e-9)
        error = model.fit(X, y, sample_weight=weight).loo_error(X, y, weight)
        residuals = []
        for i in np.flatnonzero(weight):
            rest = np.where(np.arange(len(y)) == i, 0, weight)
            residuals.append(y[i] - model.fit(X, y, sample_weight=rest).predict(X[[i]])[0])
        np.testing.assert_allclose(error, np.mean(np.abs(residuals)), **CLOSE)

    def test_error_within_the_tube_is_that_of_training(self, rng):
        X, y = response(rng)
        model = SVR(epsilon=5.0).fit(X, y)
        assert not len(model.support_)
        # The function is constant: the middle between the ends of an interval that both targets
        # at the ends of the data decide.
        rest = [np.delete(y, i) for i in range(len(y))]
        middles = np.array([(r.min() + r.max()) / 2 for r in rest])
        np.testing.assert_allclose(model.loo_error(X, y), np.abs(y - middles).mean(), **ALGEBRA)

    @pytest.mark.parametrize("method", ["xi-alpha", "span", "n_sv", "jackknife"])
    def test_other_methods_are_refused(self, rng, method):
        X, y = response(rng)
        with pytest.raises(ValueError, match='method must be "exact" for a regression'):
            SVR().fit(X, y).loo_error(X, y, method=method)


class TestErrors:
    def test_of_an_unknown_method(self, rng):
        X, sign = two_classes(rng)
        with pytest.raises(ValueError, match="method must be one of"):
            SVC().fit(X, sign).loo_error(X, sign, method="jackknife")

    @pytest.mark.parametrize("method", _loo.METHODS)
    def test_of_data_that_the_model_was_not_fitted_to(self, rng, method):
        X, sign = two_classes(rng)
        model = SVC().fit(X, sign)
        others = [
            (X[:-1], sign[:-1], None),
            (X + 1e-2 * rng.normal(size=X.shape), sign, None),
            (X, -sign, None),
            (X, np.where(np.arange(len(sign)) == 7, 3.0, sign), None),
            (X, sign, np.linspace(0.5, 2, len(sign))),
        ]
        for data, y, weight in others:
            with pytest.raises(ValueError, match="that were used in fit"):
                model.loo_error(data, y, weight, method=method)

    def test_of_a_regression_on_other_targets(self, rng):
        X, y = response(rng)
        with pytest.raises(ValueError, match="that were used in fit"):
            SVR().fit(X, y).loo_error(X, 2 * y)

    @pytest.mark.parametrize("method", ["xi-alpha", "span"])
    def test_of_bounds_where_no_vector_is_free(self, method):
        X, y = [[-1.0], [-0.5], [0.5], [1.0]], [0, 0, 1, 1]
        model = SVC(C=0.01, kernel="linear").fit(X, y)
        with pytest.raises(ValueError, match="requires a support vector with 0 < alpha < C"):
            model.loo_error(X, y, method=method)

    def test_of_too_little_memory(self, rng, monkeypatch):
        X, sign = two_classes(rng)
        model = SVC().fit(X, sign)

        def refuse(n_bytes, what, advice):
            raise ValueError(f"{what} needs more: {advice}")

        monkeypatch.setattr(_left_out, "check_memory", refuse)
        with pytest.raises(ValueError, match=r'Exact leave-one-out of 36 .* "n_sv"'):
            model.loo_error(X, sign)

    def test_of_too_few_steps_is_a_warning(self, rng, monkeypatch):
        X, sign = two_classes(rng)
        gram = MatrixGram(rbf_kernel(X))
        problem = margin_problem(sign, np.full(len(sign), 10.0))
        solution = solved(problem, gram)
        monkeypatch.setattr(_left_out, "exchange_matrix", lambda *_: None)
        with pytest.warns(UserWarning, match="left-out samples, whose values are approximate"):
            loo_values(problem, gram, solution, max_iter=1)


@st.composite
def few_values(draw):
    """Draw samples of few values, some of them equal, and costs that add up to each other."""
    n, p = draw(st.integers(5, 14)), draw(st.integers(1, 2))
    value = draw(st.sampled_from([st.integers(-2, 2), st.integers(0, 1), st.floats(-2, 2)]))
    X = draw(st.lists(st.lists(value, min_size=p, max_size=p), min_size=n, max_size=n))
    weights = st.sampled_from([0.1, 0.2, 0.3, 1.0] if draw(st.booleans()) else [1.0])
    weight = draw(arrays(np.float64, n, elements=weights))
    return np.array(X, dtype=float), weight, draw(st.sampled_from([0.05, 0.2, 0.3, 1.0, 10.0]))


@st.composite
def labelled(draw, classes=(-1.0, 1.0)):
    """Draw such samples with labels that may contradict each other, two of each at least."""
    X, weight, C = draw(few_values())
    y = draw(arrays(np.float64, len(X), elements=st.sampled_from(classes)))
    y[: 2 * len(classes)] = np.repeat(classes, 2)[: len(X)]
    return X, y, weight, C


@st.composite
def with_targets(draw):
    """Draw such samples with targets of few values."""
    X, weight, C = draw(few_values())
    noise = draw(arrays(np.int64, len(X), elements=st.integers(-1, 1)))
    return X, X[:, 0] + noise, weight, C


forms = st.fixed_dictionaries(
    {
        "squared": st.sampled_from([False, False, True]),
        "intercept": st.sampled_from([True, True, True, False]),
    }
)
rough = st.sampled_from([1e-1, 1e-3, 1e-7])
some_kernel = st.sampled_from(["linear", "rbf"])


def refits_of(model, X, y, weight):
    """Yield fits without each sample, and the sample."""
    rows = np.arange(len(y))
    for i in rows:
        rest = rows[rows != i]
        yield model.fit(X[rest], y[rest], sample_weight=weight[rest]), X[[i]], y[i]


def clear_decision(model, x):
    """Return whether no duel and no class wins by a rounding error."""
    duels = model._pair_values(x)[0]
    scores = np.sort(np.ravel(model.decision_function(x)))
    return np.abs(duels).min() > 1e-6 and (len(scores) < 2 or scores[-1] - scores[-2] > 1e-6)


def assert_error_is_that_of_refits(error, model, X, y, weight):
    """Check the number of errors, which decisions that are not clear may add to."""
    cases = [
        (clear_decision(refit, x), refit.predict(x)[0] != label)
        for refit, x, label in refits_of(model, X, y, weight)
    ]
    clear, wrong = np.array(cases).T
    least, most = np.count_nonzero(clear & wrong), np.count_nonzero(~clear | wrong)
    assert least - 1e-9 <= error * len(y) <= most + 1e-9


class TestDegenerateProblems:
    """Few distinct rows, contradicting labels, no free vector: the intercept is an interval."""

    @settings(max_examples=60)
    @given(labelled(), some_kernel, forms, rough)
    def test_values_of_a_classifier_are_those_of_refits(self, case, kernel, form, tol):
        X, sign, weight, C = case
        gram = MatrixGram(KERNELS[kernel](X))
        problem = margin_problem(sign, C * weight, **form)
        solution = solve(problem, gram, tol=tol)
        refits = values_of_refits(problem, gram)
        np.testing.assert_allclose(loo_values(problem, gram, solution), refits, **CLOSE)
        clear = np.abs(refits) > 1e-6
        signs = loo_signs(problem, gram, solution)
        np.testing.assert_array_equal(signs[clear], np.sign(refits[clear]))

    @settings(max_examples=60)
    @given(with_targets(), st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0]), some_kernel, forms, rough)
    def test_values_of_a_regression_are_those_of_refits(self, case, epsilon, kernel, form, tol):
        X, y, weight, C = case
        gram = MatrixGram(KERNELS[kernel](X))
        problem = tube_problem(y, C * weight, epsilon, **form)
        solution = solve(problem, gram, tol=tol)
        refits = values_of_refits(problem, gram)
        np.testing.assert_allclose(loo_values(problem, gram, solution), refits, **CLOSE)

    @settings(max_examples=20)
    @given(labelled(), some_kernel)
    def test_error_of_two_classes_is_that_of_refits(self, case, kernel):
        X, y, weight, C = case
        model = SVC(C=C, kernel=kernel, gamma=0.5, tol=1e-8)
        error = model.fit(X, y, weight).loo_error(X, y, weight)
        assert_error_is_that_of_refits(error, model, X, y, weight)

    @settings(max_examples=15)
    @given(labelled(classes=(0.0, 1.0, 2.0)), some_kernel, st.booleans())
    def test_error_of_several_classes_is_that_of_refits(self, case, kernel, break_ties):
        X, y, weight, C = case
        model = SVC(C=C, kernel=kernel, gamma=0.5, break_ties=break_ties, tol=1e-8)
        error = model.fit(X, y, weight).loo_error(X, y, weight)
        assert_error_is_that_of_refits(error, model, X, y, weight)

    @settings(max_examples=15)
    @given(labelled(), some_kernel)
    def test_the_search_leaves_out_as_refits_do(self, case, kernel):
        X, y, _, C = case
        search = SVCCV([C], kernel=kernel, gamma=0.5, cv="loo").fit(X, y)
        model = SVC(C=C, kernel=kernel, gamma=0.5, tol=1e-8)
        error = 1 - search.best_score_
        assert_error_is_that_of_refits(error, model, X, y, np.ones(len(y)))

    @settings(max_examples=20)
    @given(with_targets(), st.sampled_from([0.1, 0.5, 1.0, 3.0]), some_kernel)
    def test_error_of_a_regression_is_that_of_refits(self, case, epsilon, kernel):
        X, y, weight, C = case
        model = SVR(C=C, kernel=kernel, gamma=0.5, epsilon=epsilon, tol=1e-8)
        error = model.fit(X, y, weight).loo_error(X, y, weight)
        residuals = [label - m.predict(x)[0] for m, x, label in refits_of(model, X, y, weight)]
        np.testing.assert_allclose(error, np.mean(np.abs(residuals)), **CLOSE)

    @pytest.mark.parametrize(
        ("x", "y", "cost"),
        [
            ([-2, 1, 0, 0], [1, 1, -2, 0], [0.1, 0.2, 0.3, 0.2]),
            ([-2, 1, 2, 1], [1, 1, -2, 0], [0.1, 0.1, 0.2, 0.2]),
            ([2, 1, -2, 1], [2, 2, 2, -2], [0.3, 0.2, 0.2, 0.2]),
        ],
    )
    def test_no_support_vector_may_be_left(self, x, y, cost):
        # Without some sample all coefficients are zero, but for errors of those that they were.
        gram = MatrixGram(np.outer(x, x).astype(float))
        problem = tube_problem(np.array(y, dtype=float), np.array(cost), 1.0)
        values = loo_values(problem, gram, solved(problem, gram))
        np.testing.assert_allclose(values, values_of_refits(problem, gram), **CLOSE)

    def test_span_of_the_only_free_vector_is_infinite(self):
        # All but 0.8 are at C: nothing can take its place.
        X, y = np.array([[-1.0], [-0.9], [0.8], [0.5]]), np.array([0, 0, 1, 1])
        weight = np.array([1.0, 2.0, 2.5, 1.0])
        model = SVC(C=0.2, kernel="linear").fit(X, y, weight)
        free = np.abs(model.dual_coef_[0]) < 0.2 * weight[model.support_] - 1e-9
        assert X[model.support_[free]].tolist() == [[0.8]]
        errors = [model.loo_error(X, y, weight, method=method) for method in ("exact", "span")]
        assert errors[0] <= errors[1] == 0.5

    @pytest.mark.parametrize("kernel", ["linear", "rbf"])
    @pytest.mark.parametrize("C", [0.05, 0.2])
    def test_error_of_overlapping_classes_is_that_of_scikit_learn(self, kernel, C):
        for seed in range(5):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(20 + seed, 1 + seed % 2))
            y = np.where(X[:, 0] + 2 * rng.normal(size=len(X)) > 0, 1, -1)
            error = SVC(C=C, kernel=kernel, gamma=0.5).fit(X, y).loo_error(X, y)
            peer = neighbour.SVC(C=C, kernel=kernel, gamma=0.5, tol=1e-5)
            wrong = [m.predict(x)[0] != label for m, x, label in refits_of(peer, X, y, 1.0 + 0 * y)]
            assert error == np.mean(wrong)


def test_search_for_another_left_out_sample_has_its_own_matrix(rng):
    # The block that it takes over has as many variables, but not the same ones.
    X, sign = two_classes(rng)
    gram = MatrixGram(rbf_kernel(X))
    problem = margin_problem(sign, np.full(len(sign), 1.0))
    first, second = (
        Search(part, gram, tol=TIGHT, polish=True, start=solved(part, gram).b)
        for part in (_left_out.without(problem, 0), _left_out.without(problem, 1))
    )
    first.block.choose(first.used)
    second.take_over(first)
    expected = gram.K[np.ix_(second.used, second.used)]
    np.testing.assert_array_equal(second._exact_matrix(second.used), expected)
