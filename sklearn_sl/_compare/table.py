"""A CSV or Parquet file as named columns of numbers or of categories."""

import codecs
import contextlib
import csv
import dataclasses
import difflib
import io
import re
import unicodedata
from itertools import islice

import numpy as np

DELIMITERS = ",;\t|"
MAX_CATEGORIES = 20  # of a one-hot encoded column; the rarest share one
FALLBACK = "cp1252"  # Latin-1 as Windows has it
SAMPLE = 20  # records that choose the delimiter
FIELD_LIMIT = 2**31 - 1  # characters; the limit of the csv module, 131,072, is for lines gone wrong
# What stands for a missing number. In a column of text they are text: "none" may be a category.
MISSING = {"", "?", "-", ".", "na", "n/a", "nan", "none", "null", "<na>", "#n/a", "-nan"}
FEW = 0.1  # of the fields: so many may be no numbers in a column that is meant to have numbers
NOT_ASCII = re.compile(r"\w*[^\x00-\x7f]\w*")
SIGNS = "%$\u20ac\u00a3\u00a5"
GROUPED = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d*)?")


class InputError(Exception):
    """Something in the user's input that the user can put right."""


@dataclasses.dataclass
class Table:
    """The fields of a file as text: ``rows`` of equal length and the line of each."""

    names: list
    rows: list
    lines: list
    delimiter: str
    notes: tuple = ()


@dataclasses.dataclass
class Column:
    """One column: numbers, or the codes of categories where there are ``labels``.

    Missing values are NaN. Fields are pairs of a line and the text found there.
    """

    name: str
    fields: list
    values: np.ndarray
    labels: np.ndarray | None = None
    numbers: list | None = None  # whole ones without rounding, None if missing
    odd: tuple = ()  # the few fields that are no numbers where nearly all are
    commas: str = ""  # what commas in the numbers were taken for
    sign: str = ""  # of a currency or of percent, in all fields
    n_infinite: int = 0  # numbers that are infinite, or too large to be told from that

    @property
    def n_distinct(self):
        return len(np.unique(self.values[~np.isnan(self.values)]))

    @property
    def example(self):
        """The first field that is not missing."""
        return next(field for field in self.fields if not is_missing(field))


def quoted(field, width=30):
    """Return a field and where it is, in words."""
    line, text = field
    text = text if len(text) <= width else f"{text[: width - 3]}..."
    return f"{text!r} in line {line}"


def did_you_mean(word, choices):
    """Return a hint with the closest of ``choices``, or nothing."""
    choices = {choice.casefold(): choice for choice in choices}
    close = difflib.get_close_matches(word.casefold(), choices, n=2, cutoff=0.6)
    if word.casefold() in choices:
        close = [word.casefold()]
    return f"; did you mean {' or '.join(choices[name] for name in close)}?" if close else ""


# --- the file -------------------------------------------------------------------


def read_table(path, encoding=None):
    """Return the `Table` of a delimited text file with a header, or of a Parquet file."""
    if path.lower().endswith((".parquet", ".pq")):
        return read_parquet(path)
    text, notes = read_text(path, encoding)
    limit = csv.field_size_limit(FIELD_LIMIT)
    try:
        delimiter = find_delimiter(text)
        records = list(read_records(text, delimiter))
    except csv.Error as error:
        raise InputError(f"{path!r} is not a CSV file: {error}") from None
    finally:
        csv.field_size_limit(limit)
    if any("\0" in cell for _, cells in records for cell in cells):
        raise InputError(f"{path!r} is not a CSV file: it has zero bytes")
    if len(records) < 2:
        raise InputError(f"{path!r} is empty: a header line and rows are needed")
    check_lengths(path, records)
    (_, names), *rows = records
    lines = [line for line, _ in rows]
    cells = [cells for _, cells in rows]
    return Table([normal(name) for name in names], cells, lines, delimiter, notes)


def read_text(path, encoding=None):
    """Return the text of a file, and notes about its encoding."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise InputError(f"cannot read {path!r}: {error.strerror}") from None
    if encoding is not None:
        return decoded(path, content, encoding), ()
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return decoded(path, content, "utf-16"), ()
    with contextlib.suppress(UnicodeDecodeError):
        # "utf-8-sig" is UTF-8 with or without the mark that some programs put first.
        return content.decode("utf-8-sig"), ()
    text = decoded(path, content, FALLBACK)
    word = NOT_ASCII.search(text)[0]
    note = f"not UTF-8: read as {FALLBACK} (Western European), such as {word[:30]!r}; if that looks"
    return text, (f"{note} wrong, name the right one with --encoding",)


def decoded(path, content, encoding):
    try:
        return content.decode(encoding)
    except LookupError:
        raise InputError(f"--encoding {encoding}: no such encoding") from None
    except UnicodeDecodeError:
        raise InputError(
            f"{path!r} is not a CSV file in {encoding}: name its encoding with --encoding, or "
            "leave it to be found out"
        ) from None


def read_parquet(path):
    """Return the `Table` of a Parquet file, as text; pandas reads it."""
    try:
        import pandas
    except ImportError:
        raise InputError("a Parquet file needs pandas: pip install pandas pyarrow") from None
    try:
        frame = pandas.read_parquet(path)
    except ImportError as error:
        raise InputError(f"pandas cannot read {path!r}: {str(error).splitlines()[0]}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path!r} is not a Parquet file: {str(error).splitlines()[0]}") from None
    if frame.empty:
        raise InputError(f"{path!r} is empty: columns and rows are needed")
    missing = frame.isna().to_numpy()
    rows = [
        ["" if gap else str(item).strip() for item, gap in zip(items, gaps)]
        for items, gaps in zip(frame.itertuples(index=False, name=None), missing)
    ]
    names = [normal(str(name)) for name in frame.columns]
    return Table(names, rows, list(range(1, len(rows) + 1)), ",")


def find_delimiter(text):
    """Return the delimiter that makes the most fields, as many in all of the first lines."""

    def fields(delimiter):
        first = [cells for _, cells in islice(read_records(text, delimiter), SAMPLE)]
        counts = [len(cells) for cells in first] or [1]
        return counts[0] > 1 and min(counts) == max(counts), counts[0]

    return max(DELIMITERS, key=fields)


def read_records(text, delimiter):
    """Yield the line on which a record starts and its fields; blank lines are passed over."""
    file = io.StringIO(text, newline="")
    reader, line = csv.reader(file, delimiter=delimiter, skipinitialspace=True), 1
    for cells in reader:
        cells = [cell.strip() for cell in cells]
        if cells not in ([], [""]):
            yield line, cells
        line = reader.line_num + 1


def check_lengths(path, records):
    """Refuse records that have not as many fields as the header."""
    (_, header), *rows = records
    for line, cells in rows:
        if len(cells) != len(header):
            unclosed = any("\n" in cell for cell in cells)
            raise InputError(
                f"{path!r} line {line} has {len(cells)} fields, the header has {len(header)}"
                + ("; is a quotation mark not closed?" if unclosed else "")
            )


def normal(name):
    """Return a name as it is compared: letters with accents have several encodings."""
    return unicodedata.normalize("NFC", name).strip()


# --- a column -------------------------------------------------------------------


def parse_column(table, place):
    """Return the `Column` at that place: of numbers if nearly all fields are, else of text.

    Where a few fields are no numbers, the others are taken for numbers if they are too
    many to be categories.
    """
    fields = [(line, cells[place]) for line, cells in zip(table.lines, table.rows)]
    sign = common_sign(fields)
    signless = [(line, without_sign(text, sign)) for line, text in fields]
    commas, numbers, odd = read_numbers(signless, table.delimiter)
    few_odd = tuple(odd) if len(odd) <= FEW * sum(not is_missing(field) for field in fields) else ()
    column = Column(table.names[place], fields, None, odd=few_odd)
    if odd and not (few_odd and len(set(numbers)) > MAX_CATEGORIES):
        texts = [text for _, text in fields]
        column.labels, codes = np.unique(texts, return_inverse=True)
        column.values = np.where([text == "" for text in texts], np.nan, codes)
    else:
        values = np.array([np.nan if number is None else to_float(number) for number in numbers])
        column.values = np.where(np.isfinite(values), values, np.nan)
        column.n_infinite = int(np.sum(np.isinf(values)))
        column.numbers, column.commas, column.sign = numbers, commas, sign
    return column


def common_sign(fields):
    """Return the sign, such as that of a currency, that all fields have; empty if there is none."""
    texts = [text for line, text in fields if not is_missing((line, text))]
    return next((sign for sign in SIGNS if texts and all(sign in text for text in texts)), "")


def without_sign(text, sign):
    return text.replace(sign, "").strip() if sign else text


def is_missing(field):
    return field[1].lower() in MISSING


def read_numbers(fields, delimiter):
    """Return what commas are taken for, the numbers, and the fields that are none.

    A comma is tried as what it mostly is in such a file: a decimal comma where columns are
    separated by semicolons, elsewhere a mark between thousands.
    """
    meanings = [""]
    if any("," in text for _, text in fields):
        common = ["thousands", "decimals"]
        meanings += [*(reversed(common) if delimiter == ";" else common), "decimals after points"]
    found = []
    for commas in meanings:
        numbers = [as_number(READINGS[commas](text)) for _, text in fields]
        odd = [
            field
            for field, number in zip(fields, numbers)
            if number is None and not is_missing(field)
        ]
        found.append((commas, numbers, odd))
    return min(found, key=lambda reading: len(reading[2]))


def ungrouped(text):
    """Remove the commas from a number such as 1,234,567.8."""
    return text.replace(",", "") if GROUPED.fullmatch(text) else text


def with_decimal_point(text):
    return text.replace(",", ".") if text.count(",") == 1 and "." not in text else text


def without_points(text):
    """Rewrite a number such as 1.234.567,8."""
    swapped = text.translate(SWAP)
    return ungrouped(swapped) if swapped.count(".") <= 1 else text


SWAP = str.maketrans(",.", ".,")
# How a number is rewritten, by what its commas mean.
READINGS = {
    "": str,
    "thousands": ungrouped,
    "decimals": with_decimal_point,
    "decimals after points": without_points,
}


def as_number(text):
    """Return the number that a field is, a whole one without rounding; None if it is none."""
    if "_" in text or is_missing((0, text)):  # Python's own numbers may have underscores
        return None
    text = text.replace("\N{MINUS SIGN}", "-")
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return None


def to_float(number):
    try:
        return float(number)
    except OverflowError:
        return np.inf
