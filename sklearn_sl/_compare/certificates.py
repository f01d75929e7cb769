"""What a fitted model says about its own quality, in numbers that can be checked.

A certificate is found by the names of the fitted attributes, so that a new estimator joins by
itself.
"""

import dataclasses
import warnings
from collections.abc import Callable

import numpy as np

MAX_ROWS_LOO = 1000  # leaving out each row in turn takes a solve for each


@dataclasses.dataclass(frozen=True)
class Certificate:
    """A number that certifies a fit: its short name, what it means, and how it is read."""

    name: str
    meaning: str
    read: Callable  # (fitted estimator, X, y) -> float; AttributeError or None if there is none


def largest(name):
    """Return a reader of the largest absolute entry of an attribute."""
    return lambda model, X, y: np.max(np.abs(getattr(model, name)))


def relative_gap(model, X, y):
    gap, objective = np.abs(model.duality_gap_), np.abs(model.primal_objective_)
    return np.max(gap / np.maximum(objective, np.finfo(float).tiny))


def share_of(part, whole):
    """Return a reader of a quotient of two attributes, such as a regret and its bound."""

    def read(model, X, y):
        above, below = getattr(model, part), getattr(model, whole)
        if above is None or not below:
            return None
        return max(float(above), 0.0) / float(below)

    return read


def residual(model, X, y):
    return np.max(model.residual_norm_ if hasattr(model, "residual_norm_") else model.residual_)


def training_bound(model, X, y):
    return model.training_bound_[-1]


def left_out_error(model, X, y):
    """Return the leave-one-out error: of classes the share, of numbers the mean absolute error."""
    if hasattr(model, "loo_error"):
        return model.loo_error(X, y) if len(y) <= MAX_ROWS_LOO else None
    if hasattr(model, "leave_one_out"):
        answers = model.leave_one_out() if len(y) <= MAX_ROWS_LOO else None
    else:
        answers = getattr(model, "loo_predictions_", getattr(model, "loo_distributions_", None))
    if answers is None:
        return None
    known = np.isfinite(answers if np.ndim(answers) == 1 else answers[:, 0])
    answers, y = np.asarray(answers)[known], np.asarray(y)[known]
    if not hasattr(model, "classes_"):
        return np.mean(np.abs(answers - y))
    best = answers > 0 if answers.ndim == 1 else np.argmax(answers, axis=1)
    return np.mean(model.classes_[best.astype(int)] != y)


CERTIFICATES = (
    Certificate(
        "gap",
        "Duality gap, relative to the objective: the fit is at most so far from the best possible "
        "value. 1e-3 is a tenth of a percent.",
        relative_gap,
    ),
    Certificate(
        "violation",
        "The largest violation of the optimality conditions, recomputed from the solution: zero "
        "would be the exact optimum.",
        largest("kkt_violation_"),
    ),
    Certificate(
        "residual",
        "What is left over of the equations that the model solves, most of them relative to their "
        "right-hand side: near 1e-15 they are solved as well as numbers allow.",
        residual,
    ),
    Certificate(
        "error bound",
        "No value of the solution on the graph is wrong by more than this.",
        largest("error_bound_"),
    ),
    Certificate(
        "training bound",
        "The theorem's bound on the training error of the boosted vote, a share of the rows: the "
        "true training error is at most this.",
        training_bound,
    ),
    Certificate(
        "leave-one-out",
        "The error on each training row by the model without that row: the share of wrong classes, "
        "or the mean absolute error in standard deviations of the target. An estimate of the "
        "error on new rows that needs no test data.",
        left_out_error,
    ),
    Certificate(
        "regret / bound",
        "Loss beyond that of the best fixed comparator, as a share of what the theorem allows: at "
        "most 1.",
        share_of("regret_", "regret_bound_"),
    ),
    Certificate(
        "mistakes / bound",
        "Mistakes in training, as a share of what the theorem allows: at most 1.",
        share_of("n_mistakes_", "bound_"),
    ),
)


def certificates_of(model, X, y):
    """Return the certificates of a fitted estimator, ``{name: number}``."""
    found = {}
    for certificate in CERTIFICATES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                value = certificate.read(model, X, y)
            except (AttributeError, TypeError, ValueError):
                continue  # the model has it not, or not for this configuration
        if value is not None and np.isfinite(value):
            found[certificate.name] = float(value)
    return found


def worst(all_found):
    """Return the largest of each certificate over the folds."""
    names = dict.fromkeys(name for found in all_found for name in found)
    return {name: max(found[name] for found in all_found if name in found) for name in names}
