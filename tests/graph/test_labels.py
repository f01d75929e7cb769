"""Marks of samples without a label, and text that looks like one."""

import numpy as np
import pytest

from sklearn_sl.graph import (
    EigenfunctionClassifier,
    LabelPropagation,
    LabelSpreading,
    LaplacianInterpolationClassifier,
    MinCutClassifier,
    PLaplacianClassifier,
)

X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
MIXED = ["cat", -1, -1, "dog", -1, "dog"]
WITH_MARKS = [
    EigenfunctionClassifier,
    LaplacianInterpolationClassifier,
    MinCutClassifier,
    PLaplacianClassifier,
]
for_every_classifier = pytest.mark.parametrize(
    "Classifier", [LabelPropagation, LabelSpreading, *WITH_MARKS]
)


@for_every_classifier
def test_text_that_looks_like_a_mark_is_warned_of(Classifier):
    # NumPy makes text of the number.
    y = np.array(MIXED)
    with pytest.warns(
        UserWarning, match='the string "-1", which is treated as a class.*dtype=object'
    ):
        model = Classifier().fit(X, y)
    assert model.classes_.tolist() == ["-1", "cat", "dog"]
    with pytest.warns(UserWarning, match='the string "-1"'):
        Classifier().fit(X, np.array([str(label) for label in MIXED], dtype=object))


@for_every_classifier
def test_a_number_beside_text_is_a_mark(Classifier):
    model = Classifier().fit(X, np.array(MIXED, dtype=object))
    assert model.classes_.tolist() == ["cat", "dog"]


@for_every_classifier
def test_text_of_two_signs_is_two_classes(Classifier):
    assert Classifier().fit(X, np.array(["-1", "1"] * 3)).classes_.tolist() == ["-1", "1"]


@pytest.mark.parametrize("Classifier", WITH_MARKS)
def test_a_mark_must_be_of_the_type_of_labels(Classifier):
    for mark, label in ((-1, -1), (np.nan, np.nan)):
        y = np.array(["cat", label, label, "dog", label, "dog"])
        with pytest.raises(ValueError, match=f"y contains the string '{label}', but unlabelled"):
            Classifier(unlabelled=mark).fit(X, y)
        assert Classifier(unlabelled=str(mark)).fit(X, y).classes_.tolist() == ["cat", "dog"]
    # Who says that all samples have labels is believed.
    assert len(Classifier(unlabelled=None).fit(X, np.array(MIXED)).classes_) == 3
