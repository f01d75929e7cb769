"""A closer look at the best candidates: how they learn, where they err, what they promise.

The settings are those that the race chose in each fold; nothing is chosen again, and so nothing
that is seen here can change a score.
"""

import dataclasses
import warnings

import numpy as np
from sklearn.metrics import confusion_matrix

from sklearn_sl._compare.data import sample_rows
from sklearn_sl._compare.metrics import scores_of
from sklearn_sl._compare.race import addressed, model_of, outer_splits, training_part

HOW_MANY = 3  # candidates
SHARES = (0.1, 0.2, 0.4, 0.7, 1.0)  # of the training rows, in a learning curve
BINS = 10
MAX_POINTS = 500  # of a residual plot


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """What the plots of one candidate show; what there is not is None."""

    name: str
    library: str
    sizes: tuple  # numbers of training rows
    curve: tuple  # the score at each of them
    curve_sd: tuple
    confusion: tuple | None = None  # rows are true classes, columns predicted ones
    calibration: tuple | None = None  # (mean prediction, share that came true, rows) of each bin
    residuals: tuple | None = None  # (prediction, target minus prediction)


def diagnose(dataset, candidate, chosen, *, cv, seed, metrics):
    """Return the `Diagnosis` of a candidate; ``chosen`` are the places of its settings."""
    points = addressed(candidate.points, dataset)
    splits = outer_splits(dataset, cv, seed)
    everything = min(len(train) for train, _ in splits)
    sizes = {round(share * everything) for share in SHARES}
    sizes = sorted({size for size in sizes if size >= 10 * dataset.n_classes} | {everything})
    scores, answers, chances = [], np.empty(len(dataset.y)), None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for (train, test), place in zip(splits, chosen):
            model = model_of(candidate.estimator, dataset).set_params(**points[place])
            line = []
            for size in sizes[:-1]:
                part = sample_rows(dataset.y[train], size, dataset.task, cv=cv, seed=seed)
                line.append(learnt(model, candidate, dataset, train[part], test, metrics))
            line.append(learnt(model, candidate, dataset, train, test, metrics))
            scores.append(line)
            answers[test] = model.predict(dataset.X[test])
            if hasattr(model, "predict_proba"):
                found = model.predict_proba(dataset.X[test])
                chances = np.empty((len(answers), found.shape[1])) if chances is None else chances
                chances[test] = found
    scores = np.array(scores)
    parts = {}
    if dataset.task == "classification":
        parts["confusion"] = as_tuples(confusion_matrix(dataset.y, answers.astype(int)))
        parts["calibration"] = None if chances is None else calibration(dataset.y, chances)
    else:
        parts["residuals"] = residuals(dataset.y, answers, seed)
    return Diagnosis(
        candidate.name,
        candidate.library,
        tuple(sizes),
        tuple(np.mean(scores, axis=0).tolist()),
        tuple(np.std(scores, axis=0).tolist()),
        **parts,
    )


def learnt(model, candidate, dataset, train, test, metrics):
    """Return the score on the test rows after learning from the others; NaN if it cannot."""
    try:
        model.fit(*training_part(candidate, dataset, train))
    except ValueError:  # too few rows for this estimator
        return np.nan
    return scores_of(model, dataset.X[test], dataset.y[test], metrics[:1])[0][metrics[0].scorer]


def calibration(y, chances):
    """Return the bins of a reliability diagram, with about equally many rows in each.

    Of two classes, what is predicted is the second; of more, whether the likeliest is right.
    """
    if chances.shape[1] == 2:
        predicted, true = chances[:, 1], y == 1
    else:
        predicted, true = chances.max(axis=1), y == np.argmax(chances, axis=1)
    edges = np.unique(np.quantile(predicted, np.linspace(0, 1, BINS + 1)))
    bins = np.searchsorted(edges[1:-1], predicted, side="right")
    return tuple(
        (float(predicted[bins == b].mean()), float(true[bins == b].mean()), int(sum(bins == b)))
        for b in np.unique(bins)
    )


def residuals(y, answers, seed):
    """Return pairs of a prediction and its residual, of at most `MAX_POINTS` rows."""
    rows = np.arange(len(y))
    if len(y) > MAX_POINTS:
        rows = np.random.default_rng(seed).choice(len(y), MAX_POINTS, replace=False)
    return as_tuples(np.column_stack([answers, y - answers])[np.sort(rows)])


def as_tuples(matrix):
    return tuple(map(tuple, matrix.tolist()))
