"""The law from which a class of some VC dimension cannot be learned with few samples."""

import numpy as np
import pytest

from sklearn_sl.datasets import make_shattered_points
from sklearn_sl.theory import can_shatter
from sklearn_sl.tree import DecisionTreeClassifier


def test_samples_are_the_points_with_their_probabilities_and_labels():
    X, y, labels = make_shattered_points(40_000, 6, epsilon=0.2, random_state=0)
    assert X.shape == (40_000, 6) and set(np.unique(X)) == {0, 1} and np.all(X.sum(axis=1) == 1)
    np.testing.assert_array_equal(y, labels[X.argmax(axis=1)])
    np.testing.assert_allclose(X.mean(axis=0), [0.2, *[0.8 / 5] * 5], atol=0.01)
    assert can_shatter(np.eye(6), "homogeneous half-spaces").shattered


def error_by_rote(m, d, epsilon):
    """Return the expected error of the best learner, over labels and samples."""
    rare = 4 * epsilon / (d - 1)
    return 2 * epsilon * (1 - rare) ** m + (1 - 4 * epsilon) * (4 * epsilon) ** m / 2


def test_few_samples_leave_an_error_of_epsilon():
    for d in range(2, 40):
        for epsilon in (0.01, 0.1, 0.25):
            few = np.arange(int((d - 1) / (8 * epsilon)) + 1)
            assert np.all(error_by_rote(few, d, epsilon) >= epsilon)


@pytest.mark.parametrize(("d", "epsilon"), [(21, 0.1), (41, 0.05)])
def test_error_of_a_learner_is_what_the_theorem_says(d, epsilon):
    m = int((d - 1) / (8 * epsilon))
    probabilities = np.full(d, 4 * epsilon / (d - 1))
    probabilities[0] = 1 - 4 * epsilon
    errors = []
    for seed in range(300):
        X, y, labels = make_shattered_points(m, d, epsilon=epsilon, random_state=seed)
        predicted = np.full(d, y[0])
        if np.ptp(y):
            predicted = DecisionTreeClassifier(random_state=0).fit(X, y).predict(np.eye(d))
        errors.append(probabilities @ (predicted != labels))
    spread = np.std(errors) / np.sqrt(len(errors))
    assert abs(np.mean(errors) - error_by_rote(m, d, epsilon)) < 4 * spread
    assert np.mean(errors) >= epsilon


def test_labels_may_be_given():
    X, y, labels = make_shattered_points(50, 3, labels=[0, 1, 1], random_state=0)
    np.testing.assert_array_equal(labels, [0, 1, 1])
    np.testing.assert_array_equal(y, labels[X.argmax(axis=1)])
    with pytest.raises(ValueError, match="labels must be dimension=3 numbers 0 or 1"):
        make_shattered_points(50, 3, labels=[0, 2, 1])
    with pytest.raises(ValueError, match="epsilon"):
        make_shattered_points(50, 3, epsilon=0.3)
    with pytest.raises(ValueError, match="dimension == 1, must be >= 2"):
        make_shattered_points(50, 1)
