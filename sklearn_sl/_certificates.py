"""What a fitted model says about its own quality, in numbers that can be checked.

The protocol: an estimator with certificates has a method ``__sklearn_sl_certificates__()`` that
returns a list of :class:`Certificate`. Estimators of this package have it by their common mixin,
which looks for the fitted attributes below; others may add it.
"""

from dataclasses import dataclass
from html import escape

import numpy as np

MAX_ROWS_LOO = 1000  # leaving out each row in turn takes a solve for each


@dataclass(frozen=True)
class Certificate:
    """A number about a fit: its short name, the number, and what it means.

    Parameters
    ----------
    name : str
        A short name.

    value : float
        The number.

    meaning : str
        One or two sentences.

    estimate : bool, default=False
        Whether it is an estimate of the error on new samples and not a proof about the fit.
    """

    name: str
    value: float
    meaning: str
    estimate: bool = False


def largest(name):
    """Return a reader of the largest absolute entry of an attribute."""
    return lambda model: np.max(np.abs(getattr(model, name)))


def relative_gap(model):
    gap, objective = np.abs(model.duality_gap_), np.abs(model.primal_objective_)
    return np.max(gap / np.maximum(objective, np.finfo(float).tiny))


def share_of(part, whole):
    """Return a reader of a quotient of two attributes, such as a regret and its bound."""

    def read(model):
        above, below = getattr(model, part), getattr(model, whole)
        if above is None or not below:
            return None
        return max(float(above), 0.0) / float(below)

    return read


def residual(model):
    return np.max(model.residual_norm_ if hasattr(model, "residual_norm_") else model.residual_)


# How each certificate is read: its name, the reader, what it means, whether it is an estimate.
READERS = (
    (
        "gap",
        relative_gap,
        "Duality gap, relative to the objective: the fit is at most so far from the best possible "
        "value. 1e-3 is a tenth of a percent.",
        False,
    ),
    (
        "violation",
        largest("kkt_violation_"),
        "The largest violation of the optimality conditions, recomputed from the solution: zero "
        "would be the exact optimum.",
        False,
    ),
    (
        "residual",
        residual,
        "What is left over of the equations that the model solves, most of them relative to their "
        "right-hand side: near 1e-15 they are solved as well as numbers allow.",
        False,
    ),
    (
        "error bound",
        largest("error_bound_"),
        "No value of the solution on the graph is wrong by more than this.",
        False,
    ),
    (
        "training bound",
        lambda model: model.training_bound_[-1],
        "The theorem's bound on the training error of the boosted vote, a share of the rows: the "
        "true training error is at most this.",
        False,
    ),
    (
        "regret / bound",
        share_of("regret_", "regret_bound_"),
        "Loss beyond that of the best fixed comparator, as a share of what the theorem allows: at "
        "most 1.",
        False,
    ),
    (
        "mistakes / bound",
        share_of("n_mistakes_", "bound_"),
        "Mistakes in training, as a share of what the theorem allows: at most 1.",
        False,
    ),
    (
        "out-of-bag score",
        lambda model: model.oob_score_,
        "The score on training rows of the base estimators that did not draw them: an estimate of "
        "the score on new rows.",
        True,
    ),
    (
        "best score",
        lambda model: model.best_score_,
        "The left-out score of the parameters that were chosen: too good on average as an estimate "
        "of the score on new rows, as they were chosen for it.",
        True,
    ),
)


def read_certificates(model):
    """Return the certificates of a fitted model that its attributes have."""
    found = []
    for name, read, meaning, estimate in READERS:
        try:
            value = read(model)
        except (AttributeError, TypeError, ValueError):
            continue  # the model does not have it, or not with these parameters
        if value is not None and np.ndim(value) == 0 and np.isfinite(value):
            found.append(Certificate(name, float(value), meaning, estimate))
    return found


def certificates_of(model):
    """Return the certificates of a fitted model of any package, none if it has no such method."""
    ask = getattr(model, "__sklearn_sl_certificates__", None)
    return [] if ask is None else list(ask())


def left_out_error(model, X, y):
    """Return the leave-one-out error: of classes the share, of numbers the mean absolute error."""
    if hasattr(model, "loo_error"):
        return model.loo_error(X, y) if len(y) <= MAX_ROWS_LOO else None
    if hasattr(model, "leave_one_out"):
        answers = model.leave_one_out() if len(y) <= MAX_ROWS_LOO else None
    else:
        answers = getattr(model, "loo_predictions_", getattr(model, "loo_distributions_", None))
    if answers is None or len(answers) != len(y):  # none, or of other samples
        return None
    known = np.isfinite(answers if np.ndim(answers) == 1 else answers[:, 0])
    answers, y = np.asarray(answers)[known], np.asarray(y)[known]
    if not hasattr(model, "classes_"):
        return np.mean(np.abs(answers - y))
    best = answers > 0 if answers.ndim == 1 else np.argmax(answers, axis=1)
    return np.mean(model.classes_[best.astype(int)] != y)


def in_one_line(found):
    """Return certificates as one line of text."""
    return ", ".join(f"{certificate.name} {certificate.value:.3g}" for certificate in found)


def as_html(found):
    """Return certificates as a table that can be folded, empty if there are none."""
    rows = "".join(
        f'<tr title="{escape(c.meaning)}"><td>{escape(c.name)}</td><td>{c.value:.3g}</td></tr>'
        for c in found
    )
    table = f"<table><tbody>{rows}</tbody></table>"
    return f"<details open><summary>Certificates</summary>{table}</details>" if rows else ""
