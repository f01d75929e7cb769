"""Data sets of the comparison: bundled ones by name, or a CSV file."""

import csv
import dataclasses
import difflib
import os

import numpy as np
from sklearn import datasets

BUNDLED = {
    "breast_cancer": datasets.load_breast_cancer,
    "diabetes": datasets.load_diabetes,
    "digits": datasets.load_digits,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
}
DEFAULT = {"classification": "breast_cancer", "regression": "diabetes"}

MISSING = {"", "?", "na", "n/a", "nan", "none", "null"}
MIN_ROWS = 20
MAX_ROWS = 5000
MAX_ROWS_QUICK = 1000
MAX_CATEGORIES = 20  # of a one-hot encoded column; the rarest share one
MAX_AUTO_CLASSES = 20  # an integer target with more values is taken for a number
INNER_FOLDS = 3  # of the grid search inside each training part


class InputError(Exception):
    """Something in the user's input that the user can put right."""


@dataclasses.dataclass(frozen=True)
class Dataset:
    """A checked data set.

    ``X`` is a float matrix with NaN for missing; the columns in ``categorical``
    hold category codes. ``y`` is float for regression, class codes otherwise.
    """

    name: str
    task: str
    X: np.ndarray
    y: np.ndarray
    categorical: tuple = ()
    n_classes: int = 0
    notes: tuple = ()

    @property
    def summary(self):
        classes = f", {self.n_classes} classes" if self.n_classes else ""
        rows, columns = self.X.shape
        return f"{self.name}: {self.task}, {rows} rows x {columns} features{classes}"


def load(name, target=None, task="auto", *, cv=5, quick=False, seed=0):
    """Return the data set ``name``: a bundled one, or the CSV file of that path.

    Raises
    ------
    InputError
        With one line that tells the user what to change.
    """
    notes = []
    if name in BUNDLED:
        if target is not None:
            raise InputError(f"--target is for a file; {name} is a bundled data set")
        X, y = BUNDLED[name](return_X_y=True)
        categorical, labels = (), None
    else:
        X, y, categorical, labels = read_csv(name, target, notes)
    X, y, task = check_target(X, y, labels, task, cv, notes)
    X, categorical = drop_useless_columns(X, categorical, notes)
    limit = MAX_ROWS_QUICK if quick else MAX_ROWS
    if len(y) > limit:
        rows = sample_rows(y, limit, task, cv=cv, seed=seed)
        notes.append(f"{len(rows)} of {len(y)} rows, drawn at random")
        X, y = X[rows], y[rows]
    return Dataset(
        name=os.path.basename(name),
        task=task,
        X=X,
        y=y,
        categorical=categorical,
        n_classes=len(np.unique(y)) if task == "classification" else 0,
        notes=tuple(notes),
    )


def did_you_mean(word, choices):
    """Return a hint with the closest of ``choices``, or nothing."""
    close = difflib.get_close_matches(word, choices, n=2, cutoff=0.6)
    return f"; did you mean {' or '.join(close)}?" if close else ""


# --- reading a file -------------------------------------------------------------


def read_csv(path, target, notes):
    """Return ``X, y, categorical, labels`` of a CSV file; ``labels`` of a text target."""
    header, rows = read_cells(path)
    if target is None:
        raise InputError(f"--target is needed with a file; columns: {', '.join(header)}")
    if header.count(target) != 1:
        problem = "several columns named" if target in header else "no column"
        raise InputError(f"{problem} {target!r} in {path}{did_you_mean(target, header)}")
    where = header.index(target)
    columns = [parse_column(cells) for cells in zip(*rows)]
    y, labels = columns.pop(where)
    header.pop(where)
    kept = [number for number, column in enumerate(columns) if keep(header[number], column, notes)]
    X = np.array([columns[number][0] for number in kept]).T.reshape(len(y), -1)
    categorical = tuple(
        place for place, number in enumerate(kept) if columns[number][1] is not None
    )
    present = ~np.isnan(y)
    if not present.all():
        notes.append(f"{np.sum(~present)} rows without a target left out")
    return X[present], y[present], categorical, labels


def read_cells(path):
    """Return the header and the rows of strings of a delimited text file."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            first = file.readline()
            file.seek(0)
            lines = list(csv.reader(file, delimiter=max(",;\t", key=first.count)))
    except FileNotFoundError:
        names = ", ".join(BUNDLED)
        hint = did_you_mean(path, BUNDLED)
        raise InputError(f"no file {path!r}; bundled data sets: {names}{hint}") from None
    except OSError as error:
        raise InputError(f"cannot read {path!r}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error):
        raise InputError(f"{path!r} is not a CSV file in UTF-8") from None
    rows = [(number, line) for number, line in enumerate(lines, start=1) if line]
    if len(rows) < 2:
        raise InputError(f"{path!r} is empty: a header line and rows are needed")
    header = [name.strip() for name in rows[0][1]]
    for number, line in rows[1:]:
        if len(line) != len(header):
            raise InputError(
                f"{path!r} line {number} has {len(line)} fields, the header has {len(header)}"
            )
    return header, [line for _, line in rows[1:]]


def parse_column(cells):
    """Return ``numbers, None``, or for a text column ``codes, labels``; NaN if missing."""
    cells = [cell.strip() for cell in cells]
    missing = np.array([cell.lower() in MISSING for cell in cells])
    try:
        numbers = np.array([np.nan if gone else float(cell) for cell, gone in zip(cells, missing)])
        return np.where(np.isfinite(numbers), numbers, np.nan), None
    except ValueError:
        labels, codes = np.unique(cells, return_inverse=True)
        return np.where(missing, np.nan, codes), labels


def keep(name, column, notes):
    """Say whether a column can be a feature, and note what will be done with it."""
    values, labels = column
    distinct = len(np.unique(values[~np.isnan(values)]))
    if distinct == 0:
        notes.append(f"column {name!r} dropped: empty")
        return False
    if labels is None:
        return True
    if distinct > max(MAX_CATEGORIES, len(values) // 2) or distinct == len(values):
        notes.append(f"text column {name!r} dropped: {distinct} different values")
        return False
    if distinct > MAX_CATEGORIES:
        notes.append(f"text column {name!r}: the rarest of {distinct} values grouped")
    return True


# --- checking -------------------------------------------------------------------


def check_target(X, y, labels, task, cv, notes):
    """Settle the task, and check that the target can be learnt and split."""
    if len(y) < MIN_ROWS:
        raise InputError(f"only {len(y)} rows with a target; at least {MIN_ROWS} are needed")
    if cv > len(y) // 2:
        raise InputError(f"--cv {cv} is too large for {len(y)} rows")
    values = np.unique(y)
    if task == "auto":
        task = guess_task(values, labels)
    if task == "regression":
        if labels is not None:
            raise InputError("the target is text: --task regression needs numbers")
        if len(values) == 1:
            raise InputError(f"the target is constant ({values[0]:g}): nothing to learn")
        return X, np.asarray(y, dtype=float), task
    if len(values) == 1:
        raise InputError(f"the target has one class only ({class_name(values[0], labels)})")
    rows = rows_of_frequent_classes(y, labels, cv, notes)
    return X[rows], np.unique(y[rows], return_inverse=True)[1], task


def guess_task(values, labels):
    """Text and a few whole numbers are classes, other numbers are a regression target."""
    few = len(values) <= MAX_AUTO_CLASSES and np.all(values == np.round(values))
    return "classification" if labels is not None or few else "regression"


def class_name(code, labels):
    return f"{code:g}" if labels is None else str(labels[int(code)])


def members_needed(cv):
    """Rows that a class needs to be in every fold, the inner ones included."""
    return max(cv, 2 * INNER_FOLDS)


def rows_of_frequent_classes(y, labels, cv, notes):
    """Leave out classes too rare to be split; refuse where that would be most of the data."""
    values, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    needed = members_needed(cv)
    rare = counts < needed
    if not rare.any():
        return np.arange(len(y))
    smallest = class_name(values[np.argmin(counts)], labels)
    problem = f"class {smallest} has {counts.min()} rows, {needed} are needed for {cv} folds"
    if counts[rare].sum() > len(y) / 10 or np.sum(~rare) < 2:
        raise InputError(f"{problem}: use a smaller --cv, merge classes, or --task regression")
    notes.append(f"{rare.sum()} rare classes ({counts[rare].sum()} rows) left out: {problem}")
    return np.flatnonzero(~rare[codes])


def drop_useless_columns(X, categorical, notes):
    """Drop the columns that are empty once the rows without a target are gone."""
    empty = np.isnan(X).all(axis=0)
    if X.shape[1] == empty.sum():
        raise InputError("; ".join(["no usable feature column", *notes]))
    kept = np.flatnonzero(~empty)
    if empty.any():
        notes.append(f"{empty.sum()} columns dropped: empty where the target is known")
    return X[:, kept], tuple(int(place) for place in np.flatnonzero(np.isin(kept, categorical)))


def sample_rows(y, size, task, *, cv, seed):
    """Return about ``size`` random rows in ascending order.

    Every class keeps its share, and at least the members that the folds need.
    """
    rng = np.random.default_rng(seed)
    if task == "regression":
        return np.sort(rng.choice(len(y), min(size, len(y)), replace=False))
    rows = []
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        share = round(size * len(members) / len(y))
        take = min(max(share, members_needed(cv)), len(members))
        rows.append(rng.choice(members, take, replace=False))
    return np.sort(np.concatenate(rows))
