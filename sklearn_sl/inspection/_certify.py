"""All that is certain of a fitted model, in one table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import binom
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from sklearn_sl._certificates import certificates_of, left_out_error
from sklearn_sl.base import missing_labels
from sklearn_sl.theory import (
    compression_bound,
    support_vector_bound,
    validation_bound,
    vote_bound,
    vote_margin_bound,
)
from sklearn_sl.theory._domain import real, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sklearn_sl._typing import ArrayLike

# The kinds of statements, in the order of the table, and their titles.
TITLES = {
    "fit": "About the fit",
    "error": "About the error on new samples",
    "estimate": "Estimates, without a guarantee",
}
# The shares of new samples of which the absolute error is bounded.
SHARES = (0.5, 0.9)
# The bounds of an error rate.
BOUNDS = {"binomial": "exact binomial bound", "hoeffding": "Hoeffding's bound"}


@dataclass(frozen=True)
class Statement:
    """One statement about a fitted model; see :func:`certify`.

    Parameters
    ----------
    name : str
        What the statement is about.

    kind : {"fit", "error", "estimate"}
        Whether it is about the solution on the training set, a bound that holds on new samples with
        the given confidence, or an estimate without a guarantee.

    value : float
        The number.

    meaning : str
        What the number says.

    assumptions : str, default=""
        What has to be true for it.

    confidence : float, default=1.0
        The probability, over the draw of the samples, with which the statement holds.

    vacuous : bool, default=False
        Whether the statement says nothing that was not known without it.

    See Also
    --------
    certify : Makes them.

    Examples
    --------
    >>> from sklearn_sl.inspection import Statement
    >>> Statement("gap", "fit", 1e-6, "The fit is at most so far from the optimum.").confidence
    1.0
    """

    name: str
    kind: str
    value: float
    meaning: str
    assumptions: str = ""
    confidence: float = 1.0
    vacuous: bool = False


@dataclass(frozen=True)
class Certification:
    """The statements that hold for a fitted model; see :func:`certify`.

    Printed, it is a table; in a notebook as well. ``certification["name"]`` is the statement of
    that name.

    Parameters
    ----------
    model : str
        The class of the model.

    statements : tuple of Statement
        The statements.

    omitted : dict of str to str
        Statements that could not be made, and why.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_sl.inspection import certify
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression().fit(X[::2], y[::2])
    >>> report = certify(model, X[1::2], y[1::2])
    >>> round(report["error rate, exact binomial bound"].value, 3)
    0.1
    """

    model: str
    statements: tuple[Statement, ...]
    omitted: dict[str, str]

    def __getitem__(self, name: str) -> Statement:
        for statement in self.statements:
            if statement.name == name:
                return statement
        known = ", ".join(repr(statement.name) for statement in self.statements)
        reason = f": {self.omitted[name]}" if name in self.omitted else ""
        raise KeyError(f"no statement {name!r}{reason}; there are {known}")

    def __iter__(self) -> Iterator[Statement]:
        return iter(self.statements)

    def __len__(self) -> int:
        return len(self.statements)

    def by_kind(self) -> dict[str, list[Statement]]:
        """Return the statements of each kind.

        Returns
        -------
        groups : dict of str to list of Statement
            The statements of "fit", "error" and "estimate", those that there are.
        """
        groups = {kind: [s for s in self.statements if s.kind == kind] for kind in TITLES}
        return {kind: statements for kind, statements in groups.items() if statements}

    def to_dict(self) -> dict[str, Any]:
        """Return the statements as a dictionary of plain values, for JSON.

        Returns
        -------
        report : dict
            With ``model``, ``statements`` and ``omitted``; an infinite number is None.
        """
        rows = [asdict(statement) for statement in self.statements]
        for row in rows:
            row["value"] = row["value"] if np.isfinite(row["value"]) else None
        return {"model": self.model, "statements": rows, "omitted": dict(self.omitted)}

    def to_frame(self) -> Any:
        """Return the statements as a data frame of pandas.

        Returns
        -------
        frame : pandas.DataFrame
            One row for each statement.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas.") from error
        return pd.DataFrame([asdict(statement) for statement in self.statements])

    def __str__(self):
        lines = [f"Certificates of {self.model}"]
        for kind, statements in self.by_kind().items():
            lines += ["", TITLES[kind]]
            for s in statements:
                notes = f" ({remark(s)})" if remark(s) else ""
                lines.append(f"  {s.name}: {number(s.value)}{notes}")
                text = s.meaning + (f" Assumption: {s.assumptions}" if s.assumptions else "")
                lines += wrap(text, 96, initial_indent=" " * 6, subsequent_indent=" " * 6)
        if self.omitted:
            lines += ["", "Not stated"]
            lines += [f"  {name}: {reason}" for name, reason in self.omitted.items()]
        return "\n".join(lines)

    def _repr_html_(self):
        head = "".join(f"<th>{h}</th>" for h in ("statement", "value", "confidence", "meaning"))
        parts = [f"<table><caption>Certificates of {escape(self.model)}</caption>"]
        parts.append(f"<thead><tr>{head}</tr></thead>")
        for kind, statements in self.by_kind().items():
            parts.append(f'<tbody><tr><th colspan="4">{escape(TITLES[kind])}</th></tr>')
            for s in statements:
                meaning = f"{escape(s.meaning)} <small>{escape(s.assumptions)}</small>"
                cells = (escape(s.name), number(s.value), remark(s), meaning)
                parts.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
            parts.append("</tbody>")
        notes = "".join(f"<li>{escape(n)}: {escape(r)}</li>" for n, r in self.omitted.items())
        return "".join([*parts, "</table>", f"<p>Not stated:</p><ul>{notes}</ul>" * bool(notes)])


def number(value):
    """Return the text of a value."""
    return f"{value:.3g}"


def remark(statement):
    """Return the confidence of a statement, and whether it says nothing."""
    certain = statement.kind == "fit" or statement.confidence == 1.0
    words = [] if certain else [f"confidence {statement.confidence:g}"]
    return ", ".join(words + ["vacuous"] * statement.vacuous)


def certify(
    estimator: Any,
    X_val: Any = None,
    y_val: ArrayLike | None = None,
    *,
    X_train: Any = None,
    y_train: ArrayLike | None = None,
    delta: float = 0.05,
    n_compared: int = 1,
) -> Certification:
    """Return every statement that holds for a fitted model, with its assumptions.

    Without data these are the certificates that the model carries itself: duality gaps, residuals,
    bounds of training errors, regrets (for estimators of this package). A validation set adds
    bounds of the error on new samples that assume nothing about the model; the training set adds
    what leaving out, compression and out-of-bag samples tell. A bound that is true but says nothing
    is marked as vacuous. Each statement holds with probability ``1 - delta`` by itself; all
    of ``k`` hold together with probability ``1 - k delta`` at least.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier or regressor of any package, a pipeline, or a search such as
        :class:`~sklearn.model_selection.GridSearchCV`, whose best estimator is meant.

    X_val : {array-like, sparse matrix} of shape (n_val, n_features), default=None
        Validation samples: independent, from the distribution of the new samples, and not
        used in fitting.

    y_val : array-like of shape (n_val,), default=None
        Their targets.

    X_train : {array-like, sparse matrix} of shape (n_train, n_features), default=None
        The training samples of the estimator, independent and from the same distribution.

    y_train : array-like of shape (n_train,), default=None
        Their targets.

    delta : float, default=0.05
        The probability with which a statement about new samples may fail.

    n_compared : int, default=1
        The number of models that were compared on the validation set, if this one is the best of
        them. For a search both cases are listed: that the validation set is new, and that the
        candidates, fitted without it, were compared on it.

    Returns
    -------
    certification : Certification
        The statements, as a table, dictionary or data frame.

    See Also
    --------
    prediction_interval : Intervals that cover new targets.
    sklearn_sl.theory.validation_bound : The bound of a validation set.
    sklearn_sl.theory.sample_size : How many samples it takes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn_sl.inspection import certify
    >>> from sklearn_sl.svm import SVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = SVC(gamma=0.02).fit(X[:400], y[:400])
    >>> report = certify(model, X[400:], y[400:], X_train=X[:400], y_train=y[:400])
    >>> for statement in report.by_kind()["error"]:
    ...     print(f"{statement.name}: {statement.value:.3f}")
    error rate, exact binomial bound: 0.045
    error rate, Hoeffding's bound: 0.112
    error rate, by the support vectors: 0.504
    """
    check_is_fitted(estimator)
    delta = float(real("delta", delta, 0.0, 1.0))
    if delta in (0.0, 1.0):
        raise ValueError(f"delta must be between 0 and 1, both excluded; got {delta}.")
    n_compared = int(whole("n_compared", n_compared, 1))
    for name, X, y in (("val", X_val, y_val), ("train", X_train, y_train)):
        if (X is None) != (y is None):
            raise ValueError(f"X_{name} and y_{name} must be given together.")
        if X is not None:
            check_consistent_length(X, y)
            check_targets(f"y_{name}", y)
    page = Page(delta, n_candidates(estimator))
    model, inner, X_inner = unwrapped(estimator, X_train)
    carried(page, inner)
    if X_val is not None:
        validation(page, model, X_val, one_target(y_val), counts(estimator, n_compared))
    if X_train is not None:
        trained(page, inner, X_inner, one_target(y_train))
    searched(page, estimator)
    return Certification(type(inner).__name__, tuple(page.statements), page.omitted)


def check_targets(name, y):
    """Raise if there is no target, or if one is missing."""
    y = np.asarray(y).ravel()
    missing = missing_labels(y) if y.dtype.kind not in "biuf" else y[np.isnan(y)]
    if len(missing):
        raise ValueError(f"{name} must have no missing values; got {missing[0]}.")
    if not np.size(y):
        raise ValueError(f"{name} must have at least one sample; got none.")


def one_target(y):
    """Return targets as an array; a single column is one target."""
    y = np.asarray(y)
    return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y


class Page:
    """Statements as they are collected, and the probability with which each may fail.

    A statement about the training set holds for all ``n_candidates`` of a search at once, as one of
    them was chosen by the same samples: each may fail with probability ``level``.
    """

    def __init__(self, delta, n_candidates):
        self.delta, self.level = delta, delta / n_candidates
        self.statements, self.omitted = [], {}

    def add(self, name, kind, value, meaning, assumptions="", vacuous=False):
        confidence = 1 - self.delta if kind == "error" else 1.0
        self.statements.append(
            Statement(name, kind, float(value), meaning, assumptions, confidence, bool(vacuous))
        )


def unwrapped(estimator, X_train):
    """Return the model that predicts, its last step, and the training samples as that step saw."""
    model = getattr(estimator, "best_estimator_", estimator)
    inner = model
    while isinstance(inner, Pipeline):
        X_train = X_train if X_train is None else inner[:-1].transform(X_train)
        inner = inner[-1]
    return model, inner, X_train


def n_candidates(estimator):
    """Return how many candidates a search compared, 1 for other estimators."""
    if hasattr(estimator, "n_candidates_"):  # successive halving lists each in several rounds
        return int(np.max(estimator.n_candidates_))
    results = getattr(estimator, "cv_results_", None)
    return len(results["params"]) if isinstance(results, dict) and "params" in results else 1


def counts(estimator, n_compared):
    """Return the numbers of models to allow for, and what each assumes."""
    new = "the validation samples are independent and were used for nothing else."
    best = "fitted without the validation samples and compared on them."
    if n_compared > 1:
        return {n_compared: f"this is one of {n_compared} models, {best}"}
    candidates = n_candidates(estimator)
    more = {candidates: f"this is the best of the {candidates} candidates of the search, {best}"}
    return {1: new} | (more if candidates > 1 else {})


def carried(page, model):
    """Add the certificates that the model has itself."""
    for certificate in certificates_of(model):
        kind = "estimate" if certificate.estimate else "fit"
        page.add(certificate.name, kind, certificate.value, certificate.meaning)


# ---------------------------------------------------------------- validation sets


def validation(page, model, X, y, compared):
    """Add the bounds of a validation set."""
    if y.ndim > 1:
        page.omitted["validation"] = "the model has several targets; ask for one at a time"
    elif is_classifier(model):
        validated_classes(page, np.asarray(model.predict(X)) != y, y, compared)
    elif is_regressor(model):
        validated_numbers(page, np.abs(np.asarray(model.predict(X)).reshape(y.shape) - y), compared)
    else:
        page.omitted["validation"] = "the estimator is neither a classifier nor a regressor"


def validated_classes(page, wrong, y, compared):
    n, k = len(wrong), int(np.sum(wrong))
    constant = error_of_commonest(y)
    for r, assumption in compared.items():
        for method, label in (
            ("binomial", "exact binomial bound"),
            ("hoeffding", "Hoeffding's bound"),
        ):
            bound = validation_bound(k, n, page.delta, n_compared=r, sides=1, method=method).upper
            idle = bound >= constant
            page.add(
                f"error rate, {label}" + (f", best of {r}" if r > 1 else ""),
                "error",
                bound,
                f"At most this share of new samples is misclassified; {k} of {n} were."
                + f" Always the commonest class errs on {constant:.3g}." * bool(idle),
                assumption,
                vacuous=idle,
            )


def error_of_commonest(y):
    """Return the share of errors of a classifier that always answers the commonest class."""
    return 1 - np.max(np.unique(y, return_counts=True)[1]) / len(y)


def validated_numbers(page, errors, compared):
    """Add bounds on quantiles of the absolute error, which assume nothing about its distribution.

    Below the ``k``-th smallest of ``n`` errors lies a share of at least ``q`` of the distribution
    unless ``k`` or more of the ``n`` are below its quantile.
    """
    n, ordered = len(errors), np.sort(errors)
    page.omitted["mean squared error"] = (
        "errors without a known limit have no bound of their mean that holds for any distribution"
    )
    for r, assumption in compared.items():
        for share in SHARES:
            rank = int(binom.isf(page.delta / r, n, share)) + 1
            page.add(
                f"absolute error of {share:.0%}" + (f", best of {r}" if r > 1 else ""),
                "error",
                ordered[rank - 1] if rank <= n else np.inf,
                f"At least {share:.0%} of new samples have at most this absolute error.",
                assumption,
                vacuous=rank > n,
            )


# ---------------------------------------------------------------- training sets


def trained(page, model, X, y):
    """Add what the training set tells of new samples."""
    if y.ndim > 1:
        return
    left_out(page, model, X, y)
    if not is_classifier(model):
        return
    if hasattr(model, "margins_"):
        by_margins(page, model, X, y)
    if hasattr(model, "support_") and hasattr(model, "dual_coef_"):
        by_support_vectors(page, model, y)
    if hasattr(model, "estimators_samples_"):
        by_members(page, model, X, y)


def left_out(page, model, X, y):
    """Add the leave-one-out error of models that have it in closed form."""
    try:
        error = left_out_error(model, X, y)
    except (AttributeError, TypeError, ValueError):
        return  # not with these parameters
    if error is not None and np.isfinite(error):
        what = "share of wrong classes" if is_classifier(model) else "mean absolute error"
        page.add(
            "leave-one-out error",
            "estimate",
            error,
            f"The {what} on each training sample by the model without it: on average over training "
            "sets, the error after one sample less.",
        )


def by_margins(page, model, X, y):
    """Add the bound of boosted stumps by their margins."""
    name = "error rate, by the margins"
    stumps = all(
        hasattr(tree, "get_n_leaves") and tree.get_n_leaves() <= 2 for tree in model.estimators_
    )
    categories = any(np.any(getattr(tree, "is_categorical_", 0)) for tree in model.estimators_)
    if len(model.classes_) > 2 or not stumps or categories:
        page.omitted[name] = "the bound is for two classes and stumps on numeric features"
        return
    margins, m = model.margins(X, y), len(y)
    bound = vote_margin_bound(margins, np.log(2 * (model.n_features_in_ * (m - 1) + 1)), page.level)
    page.add(
        name,
        "error",
        bound,
        "At most this share of new samples is misclassified, by the shares of small margins on the "
        "training set.",
        "the training samples are independent and of equal weight, and no value is missing.",
        vacuous=bound >= error_of_commonest(y),
    )


def by_support_vectors(page, model, y):
    """Add the bounds of a machine that its support vectors alone determine."""
    name = "error rate, by the support vectors"
    n, kept = len(y), len(model.support_)
    page.omitted["error rate, by the margin"] = (
        "the bound needs a limit of the weights and of the intercept that was fixed before"
    )
    page.add(
        "share of support vectors",
        "estimate",
        support_vector_bound(kept, n),
        "On average over training sets, the error rate is at most the mean of this.",
    )
    if hasattr(model, "best_score_"):
        page.omitted[name] = "C and the kernel were chosen by the same samples"
        return
    named = isinstance(model.kernel, str) and model.kernel not in ("linear", "precomputed")
    if named and model.gamma in ("scale", "median"):
        page.omitted[name] = f"the kernel depends on all samples by gamma={model.gamma!r}"
        return
    if getattr(model, "class_weight", None) == "balanced":
        page.omitted[name] = 'the weights depend on all samples by class_weight="balanced"'
        return
    bound = compression_bound(n, kept, delta=page.level)
    page.add(
        name,
        "error",
        bound,
        f"At most this share of new samples is misclassified: {kept} of {n} samples determine the "
        "machine.",
        "the training samples are independent and of equal weight, C and the kernel, or the "
        "candidates of the search, were fixed before.",
        vacuous=bound >= error_of_commonest(y),
    )


def by_members(page, model, X, y):
    """Add the PAC-Bayes bound of a majority vote, by the samples that its members did not draw."""
    name = "error rate, PAC-Bayes by out-of-bag samples"
    try:
        X = check_array(X, accept_sparse="csr", ensure_all_finite="allow-nan")
    except ValueError:
        page.omitted[name] = "it needs features that are numbers"
        return
    errors, sizes = out_of_bag_errors(model, X, y)
    if np.min(sizes) == 0:
        page.omitted[name] = "a base estimator drew all samples"
        return
    bound = vote_bound(errors, sizes, delta=page.level).bound
    page.add(
        name,
        "error",
        bound,
        "At most this share of new samples is misclassified by the majority vote of the base "
        f"estimators, whose mean error out of bag is {np.mean(errors):.3g}.",
        "the training samples are independent; where probabilities are averaged, each base "
        "estimator is certain of its class, as fully grown trees are.",
        vacuous=bound >= error_of_commonest(y),
    )


def out_of_bag_errors(model, X, y):
    """Return the errors of the base estimators on samples that they did not draw, and how many."""
    members = model.estimators_
    seen = np.unique(np.concatenate([member.classes_ for member in members]))
    if not np.array_equal(seen, model.classes_):  # they know the classes by their numbers
        y = np.searchsorted(model.classes_, y)
    columns = getattr(model, "estimators_features_", None) or [slice(None)] * len(members)
    errors, sizes = [], []
    for member, own, drawn in zip(members, columns, model.estimators_samples_, strict=True):
        left = np.setdiff1d(np.arange(len(y)), drawn)
        sizes.append(len(left))
        errors.append(np.mean(member.predict(X[left][:, own]) != y[left]) if len(left) else 0.0)
    return np.array(errors), np.array(sizes)


def searched(page, estimator):
    """Add what a search says of its best candidate, and that it is optimistic."""
    r = n_candidates(estimator)
    if r > 1 and hasattr(estimator, "best_score_"):
        page.add(
            f"mean score, best of {r}",
            "estimate",
            estimator.best_score_,
            "The cross-validated score of the best candidate: too good on average, as it was the "
            "reason of the choice.",
        )
