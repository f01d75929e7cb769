"""From the columns of a file to features, and the same again for a file with new rows."""

import dataclasses
import re
import shlex

import numpy as np

from sklearn_sl._compare import dates
from sklearn_sl._compare.table import (
    FEW,
    MAX_CATEGORIES,
    READINGS,
    as_number,
    is_missing,
    quoted,
    to_float,
    without_sign,
)

SAFE_EXPONENT = 300  # sums of squares of numbers below 2**300 and above 2**-300 are finite, not 0
COUNTING = 0.9  # the share of steps by one from which on a column counts the rows
IDENTIFIER = re.compile(r"(^|[^a-z])(id|ids|uid|uuid|guid|key|index|idx|no|nr|number|row)$", re.I)
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
LONG = 3  # words in a text, on average, from which on it is prose
LEFT_OUT = "left out"


@dataclasses.dataclass(frozen=True)
class Feature:
    """A feature: the column that it comes from, and how its values are read from text."""

    column: str
    kind: str  # "number", "category", or a part of a date
    labels: tuple = ()  # of categories
    commas: str = ""  # what commas in numbers mean
    exponent: int = 0  # numbers are divided by 2**exponent
    style: str = ""  # of dates
    sign: str = ""  # that all numbers have, such as %

    @property
    def name(self):
        return self.column if self.kind in ("number", "category") else f"{self.column}: {self.kind}"

    def values(self, texts):
        """Return the values as floats, NaN where they are missing or unknown."""
        if self.kind == "category":
            codes = {label: code for code, label in enumerate(self.labels)}
            return np.array([codes.get(text, np.nan) for text in texts], dtype=float)
        if self.kind != "number":
            return np.array([dates.part_of(text, self.style, self.kind) for text in texts])
        rewritten = READINGS[self.commas]
        numbers = (as_number(rewritten(without_sign(text, self.sign))) for text in texts)
        values = np.array([np.nan if n is None else to_float(n) for n in numbers])
        return np.ldexp(np.where(np.isfinite(values), values, np.nan), -self.exponent)


def features_of(column, notes, kept=()):
    """Return the features that a column gives, none if it is left out, and note what was done.

    Parameters
    ----------
    column : Column
    notes : list of str
        Is appended to.
    kept : collection of str
        Names of columns that the user wants to keep, whatever they look like.
    """
    name = column_name(column)
    if column.n_distinct == 0:
        notes.append(f"{name} {LEFT_OUT}: {'no finite number' if column.n_infinite else 'empty'}")
        return []
    if column.n_distinct == 1 and not np.isnan(column.values).any():
        notes.append(f"{name} {LEFT_OUT}: it is always {column.example[1]!r}")
        return []
    if column.labels is None:
        return number_features(column, name, notes, kept)
    found = date_features(column, name, notes)
    return text_features(column, name, notes, kept) if found is None else found


def column_name(column):
    return f"column {column.name!r}" if column.name else "column without a name"


def and_more(fields):
    return f" and {len(fields) - 1} more" if len(fields) > 1 else ""


def number_features(column, name, notes, kept):
    reason = "" if column.name in kept else why_no_measurement(column)
    if reason:
        notes.append(f"{name} {LEFT_OUT}: {reason} (--keep {shlex.quote(column.name)} to use it)")
        return []
    note_commas(column, notes)
    if column.odd:
        fields = f"{quoted(column.odd[0])}{and_more(column.odd)}"
        notes.append(f"{name}: no number, counted as missing: {fields}")
    if column.n_infinite:
        notes.append(f"{name}: {column.n_infinite} infinite values counted as missing")
    exponent = exponent_of(column.values, name, notes)
    return [
        Feature(column.name, "number", commas=column.commas, exponent=exponent, sign=column.sign)
    ]


def why_no_measurement(column):
    """Return why a column of numbers looks like row numbers or identifiers; empty if it does not.

    Such numbers say in which order the rows were written, and often, by that, the target.
    """
    values = column.values
    if np.isnan(values).any() or np.any(values != np.round(values)) or column.n_distinct < 2:
        return ""
    steps = np.diff(values)
    if np.all(steps == 1):
        return "it numbers the rows"
    if column.n_distinct > MAX_CATEGORIES and np.mean(steps == 1) >= COUNTING:
        return "it counts the rows"
    if column.n_distinct < len(values):
        return ""
    if np.ptp(values) == len(values) - 1:
        return "it numbers the rows, in another order"
    if is_identifier(column):
        return "by its name, and as no value comes twice, it is an identifier"
    return ""


def is_identifier(column):
    """Say whether a column is an identifier by its name, such as CustomerId."""
    return IDENTIFIER.search(CAMEL.sub(" ", column.name)) is not None


def exponent_of(values, name, notes):
    """Return by which power of two to divide so that squares of the values are floats.

    That is exact, and neither a standardised feature nor R2 depends on the unit.
    """
    exponent = int(np.frexp(np.nanmax(np.abs(values)))[1])
    if abs(exponent) <= SAFE_EXPONENT:
        return 0
    notes.append(f"{name} scaled by 2**{-exponent}: squares of its values are no floats")
    return exponent


def note_commas(column, notes):
    if column.sign:
        notes.append(
            f"{column_name(column)}: all its numbers have the sign {column.sign}, taken off"
        )
    if column.commas:
        notes.append(f"{column_name(column)}: commas in numbers taken for {column.commas}")


def date_features(column, name, notes):
    """Return the numbers that stand for a column of dates; None if it has none."""
    texts = [field[1] for field in column.fields if not is_missing(field)]
    styles = dates.styles_of(texts, FEW)
    if not styles:
        return None
    found = [Feature(column.name, part, style=styles[0]) for part in dates.PARTS]
    texts = [text for _, text in column.fields]
    found = [feature for feature in found if np.nanstd(feature.values(texts)) > 0]
    parts = ", ".join(feature.kind for feature in found)
    which = f" (or {styles[1]}: no date decides)" if len(styles) > 1 else ""
    notes.append(
        f"{name} has dates, {styles[0]}{which}: replaced by {parts}. Folds mix earlier and later "
        "rows: a forecast is to be judged on later rows than those learnt from"
    )
    return found


def text_features(column, name, notes, kept):
    if column.odd:
        notes.append(f"{name} is text because of {quoted(column.odd[0])}{and_more(column.odd)}")
    distinct, n_rows = column.n_distinct, len(column.values)
    many = distinct > max(MAX_CATEGORIES, n_rows // 2) or distinct == n_rows
    if distinct > MAX_CATEGORIES and is_identifier(column):
        many = True
    if many and column.name not in kept:
        words = np.mean([len(text.split()) for _, text in column.fields])
        advice = "; TfidfVectorizer makes features of prose" if words >= LONG else ""
        notes.append(
            f"text {name} {LEFT_OUT}: {distinct} different values, such as "
            f"{quoted(column.example)}{advice}"
        )
        return []
    if distinct > MAX_CATEGORIES:
        notes.append(f"text {name}: the rarest of {distinct} values grouped")
    labels = tuple(str(label) for label in column.labels if label)
    return [Feature(column.name, "category", labels=labels)]
