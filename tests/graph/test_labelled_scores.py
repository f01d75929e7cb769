"""Scores of semi-supervised classifiers."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_sl.graph import (
    EigenfunctionClassifier,
    LabelPropagation,
    LabelSpreading,
    LaplacianInterpolationClassifier,
    LaplacianInterpolationClassifierCV,
    MinCutClassifier,
    PLaplacianClassifier,
    labelled_scorer,
)

CLASSIFIERS = [
    EigenfunctionClassifier,
    LabelPropagation,
    LabelSpreading,
    LaplacianInterpolationClassifier,
    LaplacianInterpolationClassifierCV,
    MinCutClassifier,
    PLaplacianClassifier,
]


@pytest.fixture
def few(rng):
    """Two overlapping classes, with labels of a half of the samples, and weights."""
    truth = rng.integers(1, 3, 60)
    X = rng.normal(size=(60, 2)) + 2 * truth[:, None]
    y = np.where(np.arange(60) % 2 == 0, truth, -1)
    return X, y, rng.uniform(0.5, 2, 60)


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_unlabelled_samples_are_in_no_score(cls, few):
    X, y, weight = few
    model, known = cls().fit(X, y), y != -1
    predicted = model.predict(X)
    assert model.score(X, y) == accuracy_score(y[known], predicted[known])
    expected = accuracy_score(y[known], predicted[known], sample_weight=weight[known])
    assert model.score(X, y, weight) == expected
    other = labelled_scorer("f1")(model, X, y, sample_weight=weight)
    assert other == f1_score(y[known], predicted[known], sample_weight=weight[known])


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_nothing_to_score_by_is_an_error(cls, few):
    X, y, _ = few
    model = cls().fit(X, y)
    for score in (model.score, lambda X, y: labelled_scorer()(model, X, y)):
        with pytest.raises(ValueError, match="All samples in y are unlabelled"):
            score(X, np.full(len(y), -1))


@pytest.mark.parametrize(
    "mark, y", [("?", ["a", "b", "?"]), (np.nan, [0.0, 1.0, np.nan]), (None, [0, 1, -1])]
)
def test_other_marks(mark, y):
    X, labels = [[0.0], [1.0], [0.1]], np.array(y)
    model = LaplacianInterpolationClassifier(n_neighbors=1, unlabelled=mark).fit(X, labels)
    assert model.score(X, labels) == 1.0
    assert labelled_scorer(unlabelled=mark)(model, X, labels) == 1.0


def test_minus_one_is_a_class_where_the_classes_are_minus_one_and_one():
    X, y = [[0.0], [1.0]], [-1, 1]
    with pytest.warns(UserWarning, match="two classes"):
        model = LaplacianInterpolationClassifier(n_neighbors=1).fit(X, y)
    assert model.score(X, [1, 1]) == 0.5


def test_search_in_a_pipeline_is_by_labelled_samples_alone(few):
    X, y, _ = few
    pipe = make_pipeline(StandardScaler(), LaplacianInterpolationClassifier())
    grid = {"laplacianinterpolationclassifier__n_neighbors": [5, 10]}
    scores = [
        GridSearchCV(pipe, grid, cv=3, scoring=scoring).fit(X, y).cv_results_["mean_test_score"]
        for scoring in (None, labelled_scorer())
    ]
    np.testing.assert_array_equal(*scores)
    assert (scores[0] > 0.5).all()  # half of the samples have a mark, which is never predicted


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_missing_label_comes_with_advice(cls, few):
    X, y, _ = few
    y = y.astype(float)
    y[0] = np.nan
    with pytest.raises(ValueError, match="NaN: to mark samples as unlabelled"):
        cls().fit(X, y)


def test_default_search_has_several_graphs_and_none_has_one(few):
    X, y, _ = few
    params = LaplacianInterpolationClassifierCV().fit(X, y).cv_results_["params"]
    assert [row["n_neighbors"] for row in params] == [5, 10, 20]
    alone = LaplacianInterpolationClassifierCV(graph_grid=None).fit(X, y)
    assert alone.cv_results_["params"] == [{"alpha": 0.0}]
