"""Boolean concepts, margins, and the order that lets a learner err."""

import numpy as np
import pytest
from conftest import EXACT
from sklearn.linear_model import SGDClassifier

from sklearn_sl.datasets import adversarial_stream, make_disjunction, make_dnf, make_separable
from sklearn_sl.datasets._boolean import literals_true
from sklearn_sl.online import Perceptron, Winnow
from sklearn_sl.svm import SVC
from sklearn_sl.theory import perceptron_bound


def test_mistakes_of_two_disjunctions_in_the_table():
    X = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 1], [0, 1, 0, 0]])
    y = np.array([0, 1, 0, 1])
    first = literals_true(X, np.array([0, 2])).any(axis=1)
    second = literals_true(X, np.array([2, 3])).any(axis=1)
    np.testing.assert_array_equal(first, [1, 1, 1, 0])
    np.testing.assert_array_equal(second, [0, 1, 1, 0])
    assert (np.count_nonzero(first != y), np.count_nonzero(second != y)) == (3, 2)
    # The same as a linear threshold.
    np.testing.assert_array_equal(X @ [1, 0, 1, 0] - 0.5 > 0, first)


def test_literals_are_attributes_and_their_negations():
    X = np.array([[0, 1], [1, 0]])
    np.testing.assert_array_equal(literals_true(X, np.array([0, ~0, 1])), [[0, 1, 1], [1, 0, 0]])


@pytest.mark.parametrize("negations", [False, True])
@pytest.mark.parametrize("k", [1, 3, 10])
def test_disjunctions_are_what_they_say_and_both_classes_are_as_likely(negations, k):
    X, y, literals = make_disjunction(20_000, 12, k=k, negations=negations, random_state=0)
    assert X.shape == (20_000, 12) and set(np.unique(X)) == {0, 1}
    attributes = np.where(literals < 0, ~literals, literals)
    assert len(set(attributes)) == k and np.all(attributes < 12)
    truth = np.any([X[:, j] == 1 if j >= 0 else X[:, ~j] == 0 for j in literals], axis=0)
    np.testing.assert_array_equal(y, truth)
    assert abs(y.mean() - 0.5) < 0.02
    assert negations or np.all(literals >= 0)


def test_density_and_noise_are_as_told():
    X, y, literals = make_disjunction(50_000, 8, k=2, density=0.3, noise=0.1, random_state=0)
    np.testing.assert_allclose(X.mean(axis=0), 0.3, atol=0.01)
    truth = X[:, literals].any(axis=1)
    np.testing.assert_allclose(np.mean(y != truth), 0.1, atol=0.01)


@pytest.mark.parametrize("negations", [False, True])
def test_normal_forms_are_what_they_say(negations):
    X, y, terms = make_dnf(2000, 9, n_terms=4, term_size=3, negations=negations, random_state=0)
    assert terms.shape == (4, 3)
    truth = np.zeros(2000, dtype=bool)
    for term in terms:
        truth |= np.all([X[:, j] == 1 if j >= 0 else X[:, ~j] == 0 for j in term], axis=0)
    np.testing.assert_array_equal(y, truth)
    assert 0.2 < y.mean() < 0.8
    noisy = make_dnf(2000, 9, n_terms=4, term_size=3, noise=0.2, random_state=0)[1]
    clean = make_dnf(2000, 9, n_terms=4, term_size=3, random_state=0)[1]
    assert 0.15 < np.mean(noisy != clean) < 0.25


@pytest.mark.parametrize("make", [make_disjunction, make_dnf, make_separable])
def test_random_state_repeats_the_draw(make):
    for first, second in zip(make(50, random_state=3), make(50, random_state=3), strict=True):
        np.testing.assert_array_equal(first, second)
    assert not np.array_equal(make(50, random_state=3)[0], make(50, random_state=4)[0])


@pytest.mark.parametrize("n_features", [1, 2, 5, 30])
@pytest.mark.parametrize(("margin", "radius"), [(0.1, 1.0), (0.001, 3.0), (2.0, 2.0)])
def test_margin_and_radius_are_exact(n_features, margin, radius):
    X, y, u = make_separable(60, n_features, margin=margin, radius=radius, random_state=0)
    np.testing.assert_allclose(np.linalg.norm(u), 1, **EXACT)
    np.testing.assert_allclose((y * (X @ u)).min(), margin, **EXACT)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1).max(), radius, **EXACT)
    assert set(y) == {-1, 1}


def test_margin_is_the_largest_one():
    X, y, u = make_separable(80, 3, margin=0.05, random_state=0)
    # A machine without an intercept finds the plane with the largest margin.
    machine = SVC(kernel="linear", C=1e6, fit_intercept=False, tol=1e-8).fit(X, y)
    w = machine.coef_[0]
    np.testing.assert_allclose(1 / np.linalg.norm(w), 0.05, rtol=1e-4)
    np.testing.assert_allclose(w / np.linalg.norm(w), u, atol=1e-3)


def test_perceptron_on_a_margin_keeps_novikoffs_bound():
    X, y, _ = make_separable(200, 4, margin=0.05, random_state=0)
    model = Perceptron(fit_intercept=False, tol=None, shuffle=False).fit(X, y)
    assert model.converged_
    assert model.n_mistakes_ <= perceptron_bound(1.0, 1 / 0.05)


def test_adversary_presents_what_is_wrong_while_something_is():
    X, y, _ = make_disjunction(200, 15, k=2, random_state=0)
    model = Winnow().partial_fit(X[:1], y[:1], classes=[0, 1])
    before = model.n_mistakes_
    rows = adversarial_stream(model, X, y, 1000, random_state=0)
    assert len(rows) == model.n_mistakes_ - before > 0
    np.testing.assert_array_equal(model.predict(X), y)
    # Nothing is left to present.
    assert len(adversarial_stream(model, X, y, 10)) == 0


def test_adversary_ends_after_so_many_rounds_and_plays_with_anyone():
    X, y, _ = make_disjunction(200, 15, k=2, noise=0.3, random_state=0)
    assert len(adversarial_stream(Winnow(), X, y, 20, random_state=0)) == 20
    model = SGDClassifier(random_state=0)
    assert len(adversarial_stream(model, X, y, 5, random_state=0)) == 5
    assert model.t_ == 6


@pytest.mark.parametrize(
    ("make", "params", "error"),
    [
        (make_disjunction, {"n_features": 3, "k": 4}, "at most n_features=3 literals"),
        (make_disjunction, {"k": 0}, "k == 0, must be >= 1"),
        (make_disjunction, {"density": 1.5}, r"density must be in \[0, 1\]; got 1.5"),
        (make_disjunction, {"noise": -0.1}, r"noise must be in \[0, 1\]; got -0.1"),
        (make_dnf, {"n_features": 3, "term_size": 4}, "at most n_features=3 literals"),
        (make_separable, {"n_samples": 1}, "n_samples == 1"),
        (make_separable, {"margin": 2.0}, "margin == 2.0"),
        (make_separable, {"margin": 0.0}, "margin must be > 0"),
        (make_separable, {"radius": 0.0}, "radius must be > 0"),
        (make_separable, {"margin": np.nan}, "margin must be finite"),
        (make_separable, {"radius": np.nan}, "radius must be finite"),
    ],
)
def test_parameters_out_of_range_are_told_of(make, params, error):
    with pytest.raises(ValueError, match=error):
        make(**params)
