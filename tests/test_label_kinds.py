"""Classes come back as they were given, whatever holds them, and missing ones are refused."""

import functools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from _checks import assert_same_outputs, label, outputs, problem, representatives
from conftest import EXACT
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags

for_every_classifier = pytest.mark.parametrize(
    "estimator", [model for model in representatives() if is_classifier(model)], ids=label
)

WORDS = np.array(["ant", "bee", "cow"])
NUMBERS = np.array([-7, 0, 5])  # -1 may stand for no label
HUGE = NUMBERS + 2**62  # too close to each other for floats
TRUTH = np.array([False, True])
# What the three classes are, or the two of truth values, and what holds them.
KINDS = {
    "int8": (NUMBERS, lambda y: y.astype(np.int8)),
    "int64": (HUGE, lambda y: y),
    "big-endian": (NUMBERS, lambda y: y.astype(">i8")),
    "float": (NUMBERS, lambda y: y.astype(float)),
    "bool": (TRUTH, lambda y: y),
    "list of str": (WORDS, list),
    "StringDType": (WORDS, lambda y: y.astype(np.dtypes.StringDType())),
    "object str": (WORDS, lambda y: y.astype(object)),
    "object int": (HUGE, lambda y: y.astype(object)),
    "read-only": (WORDS, lambda y: read_only(y)),
    "pandas str": (WORDS, pd.Series),
    "pandas index": (WORDS, lambda y: pd.Series(y, index=range(len(y), 0, -1))),
    "pandas categorical": (
        WORDS,
        lambda y: pd.Series(pd.Categorical(y, ["cow", "bee", "ant", "?"])),
    ),
    "pandas Int64": (HUGE, lambda y: pd.Series(y, dtype="Int64")),
    "pandas Float64": (NUMBERS, lambda y: pd.Series(y, dtype="Float64")),
    "pandas boolean": (TRUTH, lambda y: pd.Series(y, dtype="boolean")),
    "pandas string": (WORDS, lambda y: pd.Series(y, dtype="string")),
    "pandas string[pyarrow]": (WORDS, lambda y: pd.Series(y, dtype="string[pyarrow]")),
    "pandas int64[pyarrow]": (HUGE, lambda y: pd.Series(y, dtype="int64[pyarrow]")),
    "pandas bool[pyarrow]": (TRUTH, lambda y: pd.Series(y, dtype="bool[pyarrow]")),
    "polars str": (WORDS, lambda y: pl.Series("y", y)),
    "polars categorical": (WORDS, lambda y: pl.Series("y", y, dtype=pl.Categorical)),
    "polars int": (HUGE, lambda y: pl.Series("y", y)),
    "pyarrow": (WORDS, lambda y: pa.chunked_array([y[:7], y[7:]])),
}


def read_only(values):
    values = values.copy()
    values.setflags(write=False)
    return values


@functools.cache
def classes_of_problem(estimator):
    """Return a problem with the numbers of its classes, of which there may be two or three."""
    data = problem(estimator, n_samples=18, n_test=6)
    return data, np.unique(data.y, return_inverse=True)[1]


@functools.cache
def learnt_from_text(estimator, n_classes):
    """Return what an estimator says if its classes are words; "predict" has their numbers."""
    data, codes = classes_of_problem(estimator)
    said = outputs(clone(estimator).fit(data.X, WORDS[codes % n_classes]), data.X_test)
    return {**said, "predict": np.searchsorted(WORDS, said["predict"])}


@for_every_classifier
@pytest.mark.parametrize("kind", KINDS)
def test_classes_come_back_as_they_were_given(estimator, kind):
    names, hold = KINDS[kind]
    data, codes = classes_of_problem(estimator)
    codes = codes % len(names)
    model = clone(estimator).fit(data.X, hold(names[codes]))
    said = outputs(model, data.X_test)
    assert model.classes_.tolist() == names[: codes.max() + 1].tolist()
    expected = learnt_from_text(estimator, len(names))
    assert said.pop("predict").tolist() == names[expected["predict"]].tolist()
    assert_same_outputs(
        said, {name: expected[name] for name in expected if name != "predict"}, **EXACT
    )


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@for_every_classifier
def test_column_of_labels_is_a_vector(estimator):
    data, codes = classes_of_problem(estimator)
    for column in (WORDS[codes][:, None], pd.DataFrame({"y": NUMBERS[codes]})):
        said = clone(estimator).fit(data.X, column).predict(data.X_test)
        assert said.ndim == 1
        assert set(said) <= set(np.ravel(column))


def one_replaced(labels, value):
    labels = np.array(labels, dtype=object)
    labels[3] = value
    return labels


# How a label can be missing, among words or among numbers.
GAPS = {
    "nan": (NUMBERS, lambda y: one_replaced(y, np.nan).astype(float)),
    "object nan": (WORDS, lambda y: one_replaced(y, np.nan)),
    "object None": (WORDS, lambda y: one_replaced(y, None)),
    "object NA": (WORDS, lambda y: one_replaced(y, pd.NA)),
    "object None among numbers": (NUMBERS, lambda y: one_replaced(y, None)),
    "list None": (WORDS, lambda y: one_replaced(y, None).tolist()),
    "list nan": (WORDS, lambda y: one_replaced(y, np.nan).tolist()),
    "pandas Int64": (NUMBERS, lambda y: pd.Series(one_replaced(y, pd.NA), dtype="Int64")),
    "pandas str": (WORDS, lambda y: pd.Series(one_replaced(y, np.nan))),
    "pandas categorical": (WORDS, lambda y: pd.Series(pd.Categorical(one_replaced(y, None)))),
    "pandas string[pyarrow]": (
        WORDS,
        lambda y: pd.Series(one_replaced(y, None), dtype="string[pyarrow]"),
    ),
    "polars": (WORDS, lambda y: pl.Series("y", one_replaced(y, None).tolist())),
    "pyarrow": (WORDS, lambda y: pa.array(one_replaced(y, None))),
}


@for_every_classifier
@pytest.mark.parametrize("kind", GAPS)
def test_missing_label_is_an_error(estimator, kind):
    names, hold = GAPS[kind]
    data, codes = classes_of_problem(estimator)
    with pytest.raises(ValueError, match=r"y contains (NaN|missing labels)"):
        clone(estimator).fit(data.X, hold(names[codes]))


@for_every_classifier
@pytest.mark.parametrize("hold", [np.asarray, np.ndarray.tolist], ids=["array", "list"])
def test_labels_of_several_types_are_an_error(estimator, hold):
    data, codes = classes_of_problem(estimator)
    y = hold(one_replaced(WORDS[codes], 1))
    with pytest.raises(ValueError, match=r"y are of several types \(int, str\)"):
        clone(estimator).fit(data.X, y)


@pytest.mark.parametrize(
    "estimator",
    [
        model
        for model in representatives()
        if is_classifier(model) and get_tags(model).classifier_tags.multi_label
    ],
    ids=label,
)
def test_several_columns_of_classes_come_back_as_they_were_given(estimator):
    data, codes = classes_of_problem(estimator)
    y = pd.DataFrame({"y": HUGE[codes], "z": HUGE[::-1][codes]}, dtype="Int64")
    model = clone(estimator).fit(data.X, y)
    assert [classes.tolist() for classes in model.classes_] == [HUGE.tolist(), HUGE.tolist()]
    assert set(model.predict(data.X_test).ravel()) <= set(HUGE)
