"""The few protocol mixins that the estimators of the package share."""

from __future__ import annotations

import functools
import importlib.metadata
import inspect
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils.class_weight import compute_sample_weight

from sklearn_sl import __version__
from sklearn_sl._certificates import as_html, certificates_of, read_certificates
from sklearn_sl._discovery import classes_of_models
from sklearn_sl._sklearn import CallbackSupportMixin, validate_params
from sklearn_sl._state import check_state
from sklearn_sl._warnings import warn

__all__ = ["EstimatorMixin", "trusted_types"]

PROBABILITIES = ("predict_proba", "predict_log_proba")


class EstimatorMixin(CallbackSupportMixin):
    """What every estimator of the package has besides ``BaseEstimator``.

    Callbacks (scikit-learn >= 1.9), and a version stamp: a model that was
    pickled by another version of the package says so when it is loaded. A model
    whose state does not hold together raises a ValueError when it is loaded; hook:
    ``_check_state()``. To be placed first among the bases.
    """

    n_features_in_: int
    feature_names_in_: np.ndarray

    _validate_params = validate_params

    # The parameters with which a classifier has probabilities, if it has them with some only.
    _for_probabilities = ""

    # The HTML representation links to the page of a class if there is a site: that of
    # pyproject.toml, or the one that was built in a source tree.
    _doc_link_module = "sklearn_sl"

    @property
    def _doc_link_template(self):
        site = documentation_url()
        return f"{site}/generated/{{estimator_module}}.{{estimator_name}}.html" if site else ""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if issubclass(cls, ClassifierMixin):
            tell_of_probabilities(cls)

    def __sklearn_sl_certificates__(self):
        """Return the certificates of the fit, a list, empty before it."""
        return read_certificates(self)

    @property
    def _repr_html_(self):
        show = super()._repr_html_
        return lambda: show() + as_html(certificates_of(self))

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += as_html(certificates_of(self))
        return bundle

    def __getstate__(self):
        return {**super().__getstate__(), "_sklearn_sl_version": __version__}

    def __setstate__(self, state):
        state = dict(state)
        # A class of somebody else may have a state of its own, without the stamp.
        own = type(self).__module__.startswith("sklearn_sl.")
        pickled = state.pop("_sklearn_sl_version", "unknown" if own else __version__)
        if pickled != __version__:
            warn(
                InconsistentVersionWarning(
                    estimator_name=type(self).__name__,
                    current_sklearn_version=f"sklearn_sl {__version__}",
                    original_sklearn_version=f"sklearn_sl {pickled}",
                ),
            )
        super().__setstate__(state)
        check_state(self)


def tell_of_probabilities(cls):
    """Let a classifier whose probabilities are not there, or not always, say what is instead."""
    for name in PROBABILITIES:
        method = inspect.getattr_static(cls, name, None)
        if inspect.isfunction(method):
            return  # without logarithms, perhaps, but with probabilities
        if not isinstance(method, Probabilities):
            setattr(cls, name, Probabilities(name, method))


class Probabilities:
    """A method that is not there, or not always, and then says what is there instead.

    ``method`` is None, or what :func:`~sklearn.utils.metaestimators.available_if` returns; that
    is also what the class has.
    """

    def __init__(self, name, method):
        self.name, self.method = name, method

    def __get__(self, model, cls):
        if model is None:
            return None if self.method is None else self.method.__get__(None, cls)
        missing = f"{cls.__name__!r} object has no attribute {self.name!r}"
        if self.method is not None:
            try:
                return self.method.__get__(model, cls)
            except AttributeError as error:
                missing = str(error)
        raise AttributeError(f"{missing}. {instead_of_probabilities(model)}")


def instead_of_probabilities(model):
    """Say what a classifier without probabilities has."""
    name = type(model).__name__
    if not hasattr(type(model), "decision_function"):
        return f"{name} predicts classes without probabilities: use predict."
    needs = model._for_probabilities
    return (f"Probabilities require {needs}. " if needs else "") + (
        "Use decision_function, or for probabilities sklearn.calibration.CalibratedClassifierCV("
        f"{name}(...))."
    )


@functools.cache
def documentation_url():
    """Return the address of the documentation that the installed package names, or None.

    In a source tree it is the site that ``make doc`` has built, if it has.
    """
    site = Path(__file__).resolve().parents[1] / "doc" / "_build" / "html"
    local = site.as_uri() if (site / "index.html").is_file() else None
    try:
        urls = importlib.metadata.metadata("sklearn-sl").get_all("Project-URL", [])
    except importlib.metadata.PackageNotFoundError:
        return local
    named = dict(url.split(", ", maxsplit=1) for url in urls)
    return named.get("Documentation", "").rstrip("/") or local


def read_labels(y):
    """Return class labels as an array, each as it was given, after a look for missing ones.

    Nullable, Arrow and object columns of whole numbers or truth values stay what they are, where
    scikit-learn would make them floats or refuse them. What is no sequence of labels is returned
    untouched, for scikit-learn to complain of.
    """
    labels = as_label_array(y)
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "OmM":
        for column in labels.reshape(len(labels), -1).T if labels.ndim else ():
            check_labels(column)
    return labels


def as_label_array(y):
    """Return class labels as an array, each as it was given."""
    if y is None or sp.issparse(y) or (isinstance(y, np.ndarray) and y.dtype.kind not in "OT"):
        return y
    # Of a list NumPy would make text of all numbers and gaps that are beside text.
    listed = isinstance(y, list | tuple)
    labels = np.array(y, dtype=object) if listed else np.asarray(y)
    if labels.dtype.kind == "T":
        labels = labels.astype(object)
    if labels.dtype.kind != "O":
        return labels
    kinds = set(map(type, labels.ravel()))
    if all(issubclass(kind, Real | np.bool_) for kind in kinds):
        return np.array(labels.tolist())
    return np.asarray(y) if listed and all(issubclass(kind, str) for kind in kinds) else labels


def check_labels(labels):
    """Raise if a label is missing, or if some are text and others are not."""
    for label in missing_labels(labels):
        raise ValueError(
            f"Input y contains missing labels ({label}): leave these samples out, or label them."
        )
    kinds = set(map(type, labels))
    if len({issubclass(kind, str) for kind in kinds}) > 1:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(
            f"The labels in y are of several types ({names}): make all of them text, or all of "
            "them numbers."
        )


def missing_labels(labels):
    """Return the missing ones of labels of any type: None, NaN, or those of pandas."""
    if labels.dtype.kind in "mM":
        return labels[np.isnat(labels)]
    # Of most labels the type tells that they are there. The missing value of pandas is named: it
    # can be compared with nothing, and pandas need not be installed.
    kinds = {
        kind
        for kind in set(map(type, labels))
        if issubclass(kind, Real) or kind.__name__ in ("NoneType", "NAType", "NaTType")
    }
    return [
        label
        for label in (labels if kinds else ())
        if type(label) in kinds and not (isinstance(label, Real) and label == label)
    ]


def trusted_types() -> list[Any]:
    """Return the types of this package that a model file may hold, for :func:`skops.io.load`.

    skops loads no type that it does not know, unless it is told to trust it. These are all
    classes that the models of this package consist of. They check what they are loaded
    with: see :ref:`persistence`.

    Returns
    -------
    names : list of str
        The names of the types, sorted.

    Examples
    --------
    >>> from sklearn_sl.base import trusted_types
    >>> "sklearn_sl.tree._tree.Tree" in trusted_types()
    True
    """
    return sorted(f"{cls.__module__}.{cls.__name__}" for cls in classes_of_models())


def class_factors(class_weight, y, weight):
    """Return the weight of each sample's class; "balanced" counts the samples by weight."""
    if class_weight != "balanced" or weight is None:
        return compute_sample_weight(class_weight, y)
    codes = np.unique(y, return_inverse=True)[1]
    totals = np.bincount(codes, weights=weight)
    # As scikit-learn does it for repeated rows, to the last bit.
    portions = np.count_nonzero(totals) * totals
    factors = np.divide(totals.sum(), portions, out=np.zeros_like(totals), where=totals > 0)
    return factors[codes]
