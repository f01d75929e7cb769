"""Data sets of the comparison: bundled ones by name, or a CSV file."""

import dataclasses
import os

import numpy as np
from sklearn import datasets

from sklearn_sl._compare.table import (
    MAX_CATEGORIES,
    MISSING,
    InputError,
    as_number,
    did_you_mean,
    normal,
    parse_column,
    quoted,
    read_table,
)

BUNDLED = {
    "breast_cancer": datasets.load_breast_cancer,
    "diabetes": datasets.load_diabetes,
    "digits": datasets.load_digits,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
}
DEFAULT = {"classification": "breast_cancer", "regression": "diabetes"}

MIN_ROWS = 20
MAX_ROWS = 5000
MAX_ROWS_QUICK = 1000
MAX_AUTO_CLASSES = 20  # an integer target with more values is taken for a number
SAFE_EXPONENT = 300  # sums of squares of numbers below 2**300 and above 2**-300 are finite, not 0
INNER_FOLDS = 3  # of the grid search inside each training part


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
    class_names: tuple = ()
    feature_names: tuple = ()
    unlabelled: np.ndarray = dataclasses.field(default_factory=lambda: np.empty((0, 0)))

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
        X, y, categorical, labels = read_csv(name, target, task, notes)
    X, y, task = check_target(X, y, labels, task, cv, notes)
    X, categorical = drop_useless_columns(X, categorical, notes)
    if task == "regression":
        y = rescaled(y, "the target", notes)
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


# --- the columns of a file ------------------------------------------------------


def read_csv(path, target, task, notes):
    """Return ``X, y, categorical, labels`` of a CSV file; ``labels`` of a text target."""
    if not os.path.exists(path):
        names, hint = ", ".join(BUNDLED), did_you_mean(path, BUNDLED)
        raise InputError(f"no file {path!r}; bundled data sets: {names}{hint}")
    table = read_table(path)
    where = find_target(path, table.names, target)
    note_header(table.names, notes)
    columns = [parse_column(table, number) for number in range(len(table.names))]
    y, labels = read_target(columns.pop(where), task, notes)
    kept = [column for column in columns if keep(column, notes)]
    X = np.array([feature_values(column, notes) for column in kept]).T.reshape(len(y), -1)
    categorical = tuple(place for place, column in enumerate(kept) if column.labels is not None)
    present = ~np.isnan(y)
    return X[present], y[present], categorical, labels


def find_target(path, names, target):
    """Return the number of the column to predict."""
    if target is None:
        raise InputError(f"--target is needed with a file; columns: {listed(names)}")
    target = normal(target)
    places = [place for place, name in enumerate(names) if name == target]
    if len(places) > 1:
        numbers = " and ".join(str(place + 1) for place in places)
        raise InputError(
            f"several columns named {target!r} in {path}, number {numbers}: rename all but one"
        )
    if not places:
        hint = did_you_mean(target, names) or f"; columns: {listed(names)}"
        raise InputError(f"no column {target!r} in {path}{hint}")
    return places[0]


def listed(names, limit=12):
    """Return names as text, the first ones of many."""
    more = f", ... ({len(names)} in all)" if len(names) > limit else ""
    return ", ".join(name or "(no name)" for name in names[:limit]) + more


def note_header(names, notes):
    """Note what looks wrong in the header."""
    if all(as_number(name) is not None for name in names):
        notes.append(f"the first line is taken for names of columns: {listed(names)}")
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        notes.append(f"several columns have the same name: {listed(twice)}")


def read_target(column, task, notes):
    """Return the target as numbers or codes, NaN where there is none, and the labels of codes."""
    y, labels = column.values, column.labels
    if column.odd and (task == "regression" or labels is None):
        raise InputError(
            f"the target {column.name!r} has numbers, but also {quoted(column.odd[0])}"
            f"{and_more(column.odd)}: put right or empty such fields"
        )
    if labels is None and task != "regression" and len(set(column.numbers)) > n_values(y):
        # Whole numbers that are too long for floats: identifiers, to be told apart as text.
        labels, y = np.unique([text for _, text in column.fields], return_inverse=True)
        y = np.where(np.isnan(column.values), np.nan, y)
    texts = [text for _, text in column.fields]
    if np.isnan(y).all() and not column.n_infinite and len({*texts} - {""}) > 1:
        # Nothing but "none" and "NA", say: these are the classes.
        labels, codes = np.unique(texts, return_inverse=True)
        y = np.where([text == "" for text in texts], np.nan, codes)
    if labels is not None:
        note_odd_classes(column, labels, notes)
    if np.isnan(y).any():
        gap = next(field for field, value in zip(column.fields, y) if np.isnan(value))
        example = f" ({quoted(gap)})" if gap[1] else ""
        notes.append(f"{np.sum(np.isnan(y))} rows without a target left out{example}")
    note_commas(column, notes)
    return y, labels


def note_odd_classes(column, labels, notes):
    """Note the classes that may be meant for something else."""
    if column.odd:
        notes.append(f"the target is text because of {quoted(column.odd[0])}")
    for label in labels:
        if label and label.lower() in MISSING:
            notes.append(f"{str(label)!r} is a class of the target; only an empty field has none")


def n_values(values):
    """Return the number of different values; those missing count as one."""
    return len(np.unique(values))


def and_more(fields):
    return f" and {len(fields) - 1} more" if len(fields) > 1 else ""


def keep(column, notes):
    """Say whether a column can be a feature, and note what will be done with it."""
    name, distinct = column_name(column), column.n_distinct
    if distinct == 0:
        notes.append(f"{name} dropped: {'no finite number' if column.n_infinite else 'empty'}")
        return False
    if column.labels is None:
        return keep_numbers(column, name, notes)
    if column.odd:
        notes.append(f"{name} is text because of {quoted(column.odd[0])}{and_more(column.odd)}")
    if distinct > max(MAX_CATEGORIES, len(column.values) // 2) or distinct == len(column.values):
        example = quoted(column.example)
        notes.append(f"text {name} dropped: {distinct} different values, such as {example}")
        return False
    if distinct > MAX_CATEGORIES:
        notes.append(f"text {name}: the rarest of {distinct} values grouped")
    return True


def column_name(column):
    return f"column {column.name!r}" if column.name else "column without a name"


def keep_numbers(column, name, notes):
    """Say whether a column of numbers can be a feature, and note what is odd in it."""
    if not column.name and np.all(np.diff(column.values) == 1):
        notes.append(f"{name} dropped: it numbers the rows")
        return False
    note_commas(column, notes)
    if column.odd:
        fields = f"{quoted(column.odd[0])}{and_more(column.odd)}"
        notes.append(f"{name}: no number, counted as missing: {fields}")
    if column.n_infinite:
        notes.append(f"{name}: {column.n_infinite} infinite values counted as missing")
    return True


def feature_values(column, notes):
    """Return numbers whose squares are numbers, too, or codes."""
    if column.labels is not None:
        return column.values
    return rescaled(column.values, column_name(column), notes)


def note_commas(column, notes):
    if column.commas:
        notes.append(f"{column_name(column)}: commas in numbers taken for {column.commas}")


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
            raise InputError(f"the target is text ({labels[-1]}): --task regression needs numbers")
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
        regression = ", or --task regression" if labels is None else ""
        raise InputError(f"{problem}: use a smaller --cv or merge classes{regression}")
    notes.append(f"{rare.sum()} rare classes ({counts[rare].sum()} rows) left out: {problem}")
    return np.flatnonzero(~rare[codes])


def drop_useless_columns(X, categorical, notes):
    """Drop the columns that are empty once the rows without a target are gone."""
    empty = np.isnan(X).all(axis=0)
    if X.shape[1] == empty.sum():
        why = notes or ["the target is the only one"]
        raise InputError("; ".join(["no usable feature column", *why]))
    kept = np.flatnonzero(~empty)
    if empty.any():
        notes.append(f"{empty.sum()} columns dropped: empty where the target is known")
    return X[:, kept], tuple(int(place) for place in np.flatnonzero(np.isin(kept, categorical)))


def rescaled(values, what, notes):
    """Return the values times a power of two if their squares are too large or too small.

    That is exact, and neither a standardised feature nor R2 depends on the unit.
    """
    exponent = np.frexp(np.nanmax(np.abs(values)))[1]
    if abs(exponent) <= SAFE_EXPONENT:
        return values
    notes.append(f"{what} scaled by 2**{-exponent}: squares of its values are no floats")
    return np.ldexp(values, -exponent)


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
