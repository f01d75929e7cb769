"""Warnings name the line of the user who can do something about them."""

import ast
import contextlib
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sklearn_sl
from sklearn_sl._warnings import warn
from sklearn_sl.ensemble import BaggingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn_sl.graph import LabelPropagation, PLaplacianClassifier
from sklearn_sl.kernel_ridge import KernelRidge
from sklearn_sl.online import set_cover
from sklearn_sl.svm import SVC, SVR, MulticlassSVC, svm_path

X, y = make_classification(60, 5, flip_y=0.3, random_state=0)
few = np.where(np.arange(60) < 20, y, -1)
INCIDENCE = np.random.default_rng(0).random((40, 30)) < 0.2


class Wrapper(ClassifierMixin, BaseEstimator):
    """A user's estimator, whose line is that of ``fit``."""

    def fit(self, X, y):
        """Fit a machine that stops early."""
        self.classes_ = np.unique(y)
        SVC(C=1e6, max_iter=2).fit(X, y)
        return self

    def predict(self, X):
        """Predict the first class."""
        return np.full(len(X), self.classes_[0])


WARNING_CALLS = {
    "SVC": (ConvergenceWarning, lambda: SVC(C=1e6, max_iter=2).fit(X, y)),
    "SVR": (ConvergenceWarning, lambda: SVR(C=1e6, max_iter=2).fit(X, y)),
    "MulticlassSVC": (ConvergenceWarning, lambda: MulticlassSVC(C=1e6, max_iter=2).fit(X, y)),
    "svm_path": (ConvergenceWarning, lambda: svm_path(X, y, Cs=[1e6], max_iter=2)),
    "pipeline": (
        ConvergenceWarning,
        lambda: make_pipeline(StandardScaler(), SVC(C=1e6, max_iter=2)).fit(X, y),
    ),
    "grid search": (
        ConvergenceWarning,
        lambda: GridSearchCV(SVC(C=1e6, max_iter=2), {"gamma": [1]}, cv=2).fit(X, y),
    ),
    "KernelRidge": (None, lambda: KernelRidge(kernel="sigmoid", coef0=-9, alpha=1e-9).fit(X, y)),
    "column of labels": (
        DataConversionWarning,
        lambda: RandomForestClassifier(3).fit(X, y[:, None]),
    ),
    "column of numbers": (
        DataConversionWarning,
        lambda: RandomForestRegressor(3).fit(X, y[:, None]),
    ),
    "bagging": (
        DataConversionWarning,
        lambda: BaggingClassifier(n_estimators=3).fit(X, y[:, None]),
    ),
    "out of bag": (None, lambda: RandomForestClassifier(1, oob_score=True).fit(X, y)),
    "text mark": (
        None,
        lambda: LabelPropagation().fit(X, np.where(few < 0, "-1", few.astype(str))),
    ),
    "p-Laplacian": (ConvergenceWarning, lambda: PLaplacianClassifier(1.5, max_iter=1).fit(X, few)),
    "set cover": (
        None,
        lambda: set_cover(INCIDENCE, max_nodes=1),
    ),
}


@pytest.mark.parametrize("name", WARNING_CALLS)
def test_warning_points_at_the_line_of_the_user(name):
    category, call = WARNING_CALLS[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert caught
    assert all(warning.filename == __file__ for warning in caught)
    assert category is None or any(issubclass(warning.category, category) for warning in caught)


def test_warning_in_a_user_class_points_at_that_class():
    line = Wrapper.fit.__code__.co_firstlineno + 3
    with pytest.warns(ConvergenceWarning) as caught:
        cross_val_predict(Wrapper(), X, y, cv=2)
    assert {(warning.filename, warning.lineno) for warning in caught} == {(__file__, line)}


def test_context_managers_are_passed_over():
    source = "@contextmanager\ndef context():\n    yield\n    warn('at the end')"
    names = {"contextmanager": contextlib.contextmanager, "warn": warn}
    exec(compile(source, Path(sklearn_sl.__file__).with_name("invented.py"), "exec"), names)
    with pytest.warns(UserWarning, match="at the end") as caught, names["context"]():
        pass
    assert caught[0].filename == __file__


def test_warning_in_a_thread_has_a_line():
    fit = SVC(C=1e6, max_iter=2).fit
    with pytest.warns(ConvergenceWarning):
        thread = threading.Thread(target=fit, args=(X, y))
        thread.start()
        thread.join()


def test_warnings_go_through_one_function():
    for path in Path(sklearn_sl.__file__).parent.rglob("*.py"):
        if path.name == "_warnings.py":
            continue
        calls = [
            node.lineno
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "warnings.warn"
        ]
        assert not calls, f"{path}: use sklearn_sl._warnings.warn in lines {calls}"
