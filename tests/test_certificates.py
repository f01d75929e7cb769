"""Certificates: one protocol for reports, verbose fits, notebooks and ``certify``."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from sklearn_sl import _certificates
from sklearn_sl._certificates import READERS, Certificate, certificates_of
from sklearn_sl._discovery import all_estimators
from sklearn_sl.inspection import certify
from sklearn_sl.online import Perceptron
from sklearn_sl.svm import SVC

X, y = load_iris(return_X_y=True)


def names_of(model):
    return [certificate.name for certificate in certificates_of(model)]


@pytest.mark.parametrize("cls", all_estimators())
def test_every_estimator_speaks_the_protocol(cls):
    assert callable(cls.__sklearn_sl_certificates__)


def test_certificates_are_those_of_the_fit():
    model = SVC()
    assert certificates_of(model) == []
    model.fit(X, y)
    gap, violation = certificates_of(model)
    assert gap.value == np.max(model.duality_gap_ / model.primal_objective_)
    assert violation.value == np.max(model.kkt_violation_)
    assert names_of(Perceptron(max_iter=50, tol=None).fit(X[:100], y[:100])) == ["mistakes / bound"]
    assert certificates_of(LogisticRegression()) == []


class Certified(BaseEstimator):
    """An estimator of somebody else, with a certificate of its own."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def __sklearn_sl_certificates__(self):
        return [Certificate("proof", 0.5, "What was proved."), Certificate("guess", 1, "", True)]


def test_other_estimators_may_speak_it():
    report = certify(Certified().fit(X, y))
    assert (report["proof"].kind, report["guess"].kind) == ("fit", "estimate")
    assert report["proof"].meaning == "What was proved."


def test_notebooks_show_the_certificates_of_a_fit():
    model = SVC()
    assert "<summary>Certificates" not in model._repr_html_()
    model.fit(X, y)
    for page in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert "<summary>Certificates</summary>" in page
        assert f"<td>{certificates_of(model)[0].value:.3g}</td>" in page
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert list(model._repr_mimebundle_()) == ["text/plain"]


def test_names_are_distinct_and_meanings_are_sentences():
    names = [name for name, *_ in READERS]
    assert len(set(names)) == len(names)
    assert all(meaning.endswith(".") for *_, meaning, _ in READERS)
    assert _certificates.as_html([]) == ""
