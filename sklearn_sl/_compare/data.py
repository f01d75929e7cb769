"""Data sets of the comparison: bundled ones by name, or a file."""

import dataclasses
import os

import numpy as np
from sklearn import datasets

from sklearn_sl._compare.features import Feature, and_more, exponent_of, features_of, note_commas
from sklearn_sl._compare.table import (
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
REGRESSION = {"diabetes"}
DEFAULT = {"classification": "breast_cancer", "regression": "diabetes"}

MIN_ROWS = 20
MAX_ROWS = 5000
MAX_ROWS_QUICK = 1000
MAX_AUTO_CLASSES = 20  # an integer target with more values is taken for a number
MANY_COPIES = 0.01  # the share of rows that are copies from which on it is said
FEW_FEATURES = 4  # with fewer, equal rows need not be the same case
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
    features: tuple = ()
    unlabelled: np.ndarray = dataclasses.field(default_factory=lambda: np.empty((0, 0)))
    target: str = ""  # the column of the file
    exponent: int = 0  # the target was divided by 2**exponent

    @property
    def summary(self):
        classes = f", {self.n_classes} classes" if self.n_classes else ""
        rows, columns = self.X.shape
        return f"{self.name}: {self.task}, {rows} rows x {columns} features{classes}"


def load(
    name,
    target=None,
    task="auto",
    *,
    cv=5,
    quick=False,
    seed=0,
    keep=(),
    drop=(),
    encoding=None,
    stream=False,
):
    """Return the data set ``name``: a bundled one, or the CSV or Parquet file of that path.

    Raises
    ------
    InputError
        With one line that tells the user what to change.
    """
    notes = []
    if name in BUNDLED:
        if target is not None:
            raise InputError(f"--target is for a file; {name} is a bundled data set")
        columns = bundled(name)
    else:
        how = {"keep": keep, "drop": drop, "encoding": encoding}
        columns = read_file(name, target, task, notes, **how)
    known = ~np.isnan(columns.y)
    X, y, task, class_names = check_target(
        columns.X[known], columns.y[known], columns.labels, task, cv, notes
    )
    kept = useful_columns(X, columns.features, notes)
    X, features = X[:, kept], [columns.features[place] for place in kept]
    exponent = exponent_of(y, "the target", notes) if task == "regression" else 0
    y = np.ldexp(y, -exponent) if exponent else y
    note_copies(X, y, notes)
    limit = MAX_ROWS_QUICK if quick else MAX_ROWS
    if len(y) > limit and not stream:
        rows = sample_rows(y, limit, task, cv=cv, seed=seed)
        notes.append(f"{len(rows)} of {len(y)} rows, drawn at random")
        X, y = X[rows], y[rows]
    unlabelled = columns.X[~known][:limit, kept]
    return Dataset(
        name=os.path.basename(name),
        task=task,
        X=X,
        y=y,
        categorical=tuple(n for n, feature in enumerate(features) if feature.kind == "category"),
        n_classes=len(class_names),
        notes=tuple(notes),
        class_names=class_names,
        features=tuple(features),
        unlabelled=unlabelled if task == "classification" else unlabelled[:0],
        target=normal(target or ""),
        exponent=exponent,
    )


def bundled(name):
    """Return the `Columns` of a bundled data set."""
    bunch = BUNDLED[name]()
    features = [Feature(str(name), "number") for name in bunch.feature_names]
    y = np.asarray(bunch.target, dtype=float)
    labels = None if name in REGRESSION else np.asarray(bunch.target_names).astype(str)
    return Columns(np.asarray(bunch.data, dtype=float), y, features, labels)


def note_copies(X, y, notes):
    """Note rows that are copies of others: one may be learnt from and the other tested on."""
    rows = np.column_stack([X, y])
    n_copies = len(rows) - len(np.unique(np.nan_to_num(rows, nan=np.inf), axis=0))
    if X.shape[1] >= FEW_FEATURES and n_copies > MANY_COPIES * len(rows):
        notes.append(
            f"{n_copies} rows are exact copies of others: where one is learnt from and the other "
            "tested on, scores are too good. If they are the same case twice, remove them"
        )


# --- a file ---------------------------------------------------------------------


@dataclasses.dataclass
class Columns:
    """What a file has: features, the target, NaN where there is none, and the labels of codes."""

    X: np.ndarray
    y: np.ndarray
    features: list
    labels: np.ndarray | None


def read_file(path, target, task, notes, *, keep=(), drop=(), encoding=None):
    """Return the `Columns` of a CSV or Parquet file."""
    if not os.path.exists(path):
        names, hint = ", ".join(BUNDLED), did_you_mean(path, BUNDLED)
        raise InputError(f"no file {path!r}; bundled data sets: {names}{hint}")
    table = read_table(path, encoding)
    where = find_column(path, table.names, target)
    notes += table.notes
    note_header(table.names, notes)
    unused = {find_column(path, table.names, name, "--drop") for name in drop}
    for name in keep:
        find_column(path, table.names, name, "--keep")
    y, labels = read_target(parse_column(table, where), task, notes)
    X, features = [], []
    for place in range(len(table.names)):
        if place == where or place in unused:
            continue
        column = parse_column(table, place)
        texts = [text for _, text in column.fields]
        for feature in features_of(column, notes, kept=set(map(normal, keep))):
            features.append(feature)
            X.append(feature.values(texts))
    notes[:] = merged(notes)
    if unused:
        names = listed([table.names[place] for place in sorted(unused)])
        notes.append(f"left out by --drop: {names}")
    return Columns(np.array(X).T.reshape(len(y), -1), y, features, labels)


def merged(notes):
    """Return notes in which several columns of which the same is to be said share one."""
    found = {}
    for note in notes:
        names, colon, rest = note.partition(": ")
        alike = colon and names.startswith("column ") and rest.startswith("commas in numbers")
        found.setdefault(rest if alike else note, []).append(names if alike else None)
    return [
        rest if names[0] is None else f"{all_of(names)}: {rest}" for rest, names in found.items()
    ]


def all_of(names):
    """Return "columns 'a', 'b'" for "column 'a'" and "column 'b'"."""
    if len(names) == 1:
        return names[0]
    return "columns " + ", ".join(name.removeprefix("column ") for name in names)


def find_column(path, names, target, option="--target"):
    """Return the number of the column that an option names."""
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
        if len(names) == 1:
            hint += " (separate columns by a comma, a semicolon, a tab or a bar)"
        raise InputError(f"no column {target!r} in {path}{hint}")
    return places[0]


def listed(names, limit=12):
    """Return names as text, the first ones of many."""
    more = f", ... ({len(names)} in all)" if len(names) > limit else ""
    return ", ".join(name or "(no name)" for name in names[:limit]) + more


def note_header(names, notes):
    """Note what looks wrong in the header."""
    if all(as_number(name) is not None for name in names):
        notes.append(
            f"the first line is taken for names of columns: {listed(names)}; if it is data, put a "
            "line of names before it"
        )
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
        notes.append(f"{np.sum(np.isnan(y))} rows without a target are in no score{example}")
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
        return X, np.asarray(y, dtype=float), task, ()
    if len(values) == 1:
        raise InputError(f"the target has one class only ({class_name(values[0], labels)})")
    rows = rows_of_frequent_classes(y, labels, cv, notes)
    values, codes = np.unique(y[rows], return_inverse=True)
    return X[rows], codes, task, tuple(class_name(value, labels) for value in values)


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
        advice = ["merge it with another class, or remove its rows"]
        if counts.min() >= members_needed(2):
            advice.append(f"use --cv {counts.min()}")
        if labels is None:
            advice.append("use --task regression if the target is a measurement")
        raise InputError(f"{problem}: {', or '.join(advice)}")
    classes = "rare class" if rare.sum() == 1 else "rare classes"
    notes.append(f"{rare.sum()} {classes} ({counts[rare].sum()} rows) left out: {problem}")
    return np.flatnonzero(~rare[codes])


def useful_columns(X, features, notes):
    """Return the places of the columns that have a value where the target is known."""
    empty = np.isnan(X).all(axis=0)
    if X.shape[1] == empty.sum():
        why = notes or ["the target is the only one"]
        raise InputError("; ".join(["no usable feature column", *why]))
    if empty.any():
        names = listed([features[place].name for place in np.flatnonzero(empty)])
        notes.append(f"left out, empty where the target is known: {names}")
    return np.flatnonzero(~empty)


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
