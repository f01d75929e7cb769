"""The shortcut past scikit-learn's checks gives what the checks give."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import multiclass, validation

from sklearn_sl import _validation
from sklearn_sl._validation import distinct_labels, validate_data
from sklearn_sl.tree import DecisionTreeClassifier

X = np.arange(12.0).reshape(6, 2)
NAMED = pd.DataFrame(X, columns=["a", "b"])
SAMPLES = {
    "float64": X,
    "float32": X.astype(np.float32),
    "float16": X.astype(np.float16),
    "int": X.astype(int),
    "list": X.tolist(),
    "fortran": np.asfortranarray(X),
    "strided": np.repeat(X, 2, axis=0)[::2],
    "masked": np.ma.array(X),
    "frame": NAMED,
    "sparse": sp.csr_array(X),
    "nan": np.where(X == 3, np.nan, X),
    "inf": np.where(X == 3, np.inf, X),
    "huge": np.full((6, 2), 1e308),
    "complex": X + 1j,
    "text": X.astype(str),
    "object": X.astype(object),
    "one dimension": X[:, 0],
    "three dimensions": X[None],
    "no rows": X[:0],
    "no columns": X[:, :0],
    "one column": X[:, :1],
    "one row": X[:1],
}
TARGETS = {
    "int": np.arange(6),
    "float": np.linspace(0, 1, 6),
    "text": np.array(list("aabbab")),
    "bool": np.arange(6) > 2,
    "list": [0, 1, 0, 1, 0, 1],
    "object": np.array([0, 1, 0, 1, 0, 1], dtype=object),
    "objects of text": np.array(list("aabbab"), dtype=object),
    "nan": np.array([0, np.nan, 1, 1, 0, 0]),
    "column": np.arange(6)[:, None],
    "two columns": np.arange(12).reshape(6, 2),
    "short": np.arange(5),
    "none": None,
}
CHECKS = [
    {},
    {"dtype": np.float64, "order": "C"},
    {"dtype": [np.float64, np.float32], "order": "C", "accept_sparse": "csr"},
    {"dtype": np.float32, "order": "F", "ensure_min_samples": 2},
    {"dtype": None, "ensure_all_finite": False},
    {"dtype": np.float64, "order": "C", "ensure_all_finite": "allow-nan"},
]


def outcome(function, *args, **kwargs):
    """Return what a function returns, or the type and text of its error, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            result = type(error), str(error)
    return result, [(warning.category, str(warning.message)) for warning in caught]


def parts(result):
    """Return arrays as what identifies them."""
    result = result if isinstance(result, tuple) else (result,)
    return [
        (type(part), part.dtype, part.shape, part.flags["C_CONTIGUOUS"], part.tolist())
        if isinstance(part, np.ndarray)
        else part.toarray().tolist()
        if sp.issparse(part)
        else part
        for part in result
    ]


def assert_same_outcome(given, checks, first=None, reset=True):
    ours, theirs = BaseEstimator(), BaseEstimator()
    if first is not None:
        validation.validate_data(ours, first)
        validation.validate_data(theirs, first)
    got, got_warnings = outcome(validate_data, ours, *given, reset=reset, **checks)
    expected, expected_warnings = outcome(
        validation.validate_data, theirs, *given, reset=reset, **checks
    )
    np.testing.assert_equal(parts(got), parts(expected))
    assert got_warnings == expected_warnings
    np.testing.assert_equal(vars(ours), vars(theirs))


@pytest.mark.parametrize("checks", CHECKS)
@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_checked_as_by_sklearn(name, checks):
    assert_same_outcome((SAMPLES[name],), checks)
    assert_same_outcome((SAMPLES[name],), checks, first=NAMED)


@pytest.mark.parametrize("first", [X, NAMED])
@pytest.mark.parametrize("name", SAMPLES)
def test_new_samples_are_checked_as_by_sklearn(name, first):
    assert_same_outcome((SAMPLES[name],), {}, first=first, reset=False)
    assert_same_outcome((SAMPLES[name],), {})


@pytest.mark.parametrize("checks", [{}, {"y_numeric": True}, {"multi_output": True}])
@pytest.mark.parametrize("name", TARGETS)
def test_targets_are_checked_as_by_sklearn(name, checks):
    assert_same_outcome((X, TARGETS[name]), checks)


def test_plain_arrays_are_not_checked_by_sklearn(monkeypatch):
    monkeypatch.setattr(_validation.validation, "validate_data", None)
    monkeypatch.setattr(_validation.multiclass, "check_classification_targets", None)
    model = BaseEstimator()
    assert validate_data(model, X, dtype=np.float64, order="C") is X
    assert model.n_features_in_ == 2
    assert validate_data(model, X, TARGETS["float"], y_numeric=True)[1] is TARGETS["float"]
    assert distinct_labels(np.array(["b", "a", "a", "b"])).tolist() == ["a", "b"]


LABELS = {
    **{name: y for name, y in TARGETS.items() if name not in ("none", "nan")},
    "whole floats": np.array([1.0, 2.0, 1.0]),
    "many": np.arange(30),
    "many and some twice": np.arange(30) // 2 * 2.0,
    "bytes": np.array([b"a", b"b", b"a"]),
    "one": np.zeros(5, dtype=int),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_are_checked_as_by_sklearn(name):
    y = LABELS[name]
    _, expected_warnings = expected = outcome(multiclass.check_classification_targets, y)
    got, got_warnings = outcome(distinct_labels, y)
    assert got_warnings == expected_warnings
    if expected[0] is None:
        np.testing.assert_array_equal(got, np.unique(y))
    else:
        assert got == expected[0]


def test_parameters_that_were_valid_are_looked_at_again_once_they_change():
    y = np.array([0, 1, 0, 1, 0, 1])
    model = DecisionTreeClassifier(min_samples_leaf=2).fit(X, y)
    for wrong in (-1, 2.0, "2", 0):  # 2.0 equals what was valid
        with pytest.raises(ValueError, match="'min_samples_leaf' parameter"):
            model.set_params(min_samples_leaf=wrong).fit(X, y)
    weights = {0: 1, 1: 2}
    model.set_params(min_samples_leaf=2, class_weight=weights).fit(X, y)
    with pytest.raises(ValueError, match="'class_weight' parameter"):
        model.set_params(class_weight=7).fit(X, y)


def test_valid_parameters_of_a_class_are_not_those_of_another():
    class Strict(DecisionTreeClassifier):
        _parameter_constraints = {
            **DecisionTreeClassifier._parameter_constraints,
            "max_depth": [None],
        }

    y = np.array([0, 1, 0, 1, 0, 1])
    DecisionTreeClassifier(max_depth=3).fit(X, y)
    with pytest.raises(ValueError, match="'max_depth' parameter"):
        Strict(max_depth=3).fit(X, y)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1.0])
def test_samples_of_trees_may_be_missing_but_not_infinite(value):
    samples = np.where(X == 3, value, X)
    fit = DecisionTreeClassifier().fit
    if np.isinf(value):
        with pytest.raises(ValueError, match="infinity"):
            fit(samples, [0, 1] * 3)
    else:
        fit(samples, [0, 1] * 3).predict(samples)
