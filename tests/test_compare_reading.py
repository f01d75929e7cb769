"""How ``python -m sklearn_sl compare`` reads untidy files, and says so."""

import shlex

import numpy as np
import pytest

from sklearn_sl._compare import candidates, data, features, race, table
from sklearn_sl.graph import LabelSpreading

N = 60
RNG = np.random.default_rng(0)
SIZES = RNG.normal(size=N).round(3)
LABELS = ["a", "b"] * (N // 2)


def load(path, columns, target="y", delimiter=",", encoding="utf-8", **options):
    """Return the data set of a file with these columns, and ``x`` and ``y`` if they are missing."""
    columns = {"x": SIZES, **columns}
    columns.setdefault("y", LABELS)
    lines = [columns, *zip(*columns.values())]
    text = "\n".join(delimiter.join(map(str, line)) for line in lines)
    (path / "file.csv").write_bytes(text.encode(encoding))
    return data.load(str(path / "file.csv"), target, **options)


@pytest.mark.parametrize(
    ("name", "numbers", "reason"),
    [
        ("rowid", range(N), "it numbers the rows"),
        ("x2", [*range(1, 31), *range(1, 31)], "it counts the rows"),
        ("shuffled", RNG.permutation(N), "it numbers the rows, in another order"),
        ("PassengerId", RNG.permutation(N) * 3, "by its name, and as no value comes twice, it is"),
        ("sample number", RNG.permutation(N) * 3, "by its name"),
    ],
)
def test_number_of_rows_or_cases_is_left_out_unless_it_is_kept(tmp_path, name, numbers, reason):
    dataset = load(tmp_path, {name: numbers})
    assert dataset.X.shape == (N, 1)
    (note,) = dataset.notes
    assert note.startswith(f"column {name!r} left out: {reason}")
    assert note.endswith(f"(--keep {shlex.quote(name)} to use it)")
    kept = load(tmp_path, {name: numbers}, keep=[name])
    np.testing.assert_array_equal(kept.X[:, 1], list(numbers))
    assert kept.notes == ()


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("humid", RNG.permutation(N) * 3),  # ends in "id"
        ("rooms", RNG.integers(1, 9, N)),
        ("id", RNG.integers(0, 40, N)),  # comes several times: perhaps of a group
        ("year", np.sort(RNG.integers(1990, 2020, N))),
        ("price", RNG.permutation(N) * 1.5),
    ],
)
def test_number_that_measures_something_is_used(tmp_path, name, numbers):
    dataset = load(tmp_path, {name: numbers})
    assert dataset.X.shape == (N, 2)
    assert dataset.notes == ()


def test_identifier_of_text_is_left_out_unless_it_is_kept(tmp_path):
    nests = [f"N{n // 2}" for n in range(N)]
    (note,) = load(tmp_path, {"Individual ID": nests}).notes
    assert note.startswith("text column 'Individual ID' left out: 30 different values, such as")
    (note,) = load(tmp_path, {"Individual ID": nests}, keep=["Individual ID"]).notes
    assert note == "text column 'Individual ID': the rarest of 30 values grouped"


def test_column_is_left_out_on_request(tmp_path):
    dataset = load(tmp_path, {"z": SIZES[::-1]}, drop=["z"])
    assert [feature.name for feature in dataset.features] == ["x"]
    assert dataset.notes == ("left out by --drop: z",)


def test_constant_column_is_left_out(tmp_path):
    dataset = load(tmp_path, {"stage": ["adult"] * N, "one": [1] * N})
    notes = [
        "column 'stage' left out: it is always 'adult'",
        "column 'one' left out: it is always '1'",
    ]
    assert list(dataset.notes) == notes


DAY = [f"{1 + n % 28:02d}" for n in RNG.permutation(N)]
MONTH = [f"{1 + n % 12:02d}" for n in RNG.permutation(N)]


@pytest.mark.parametrize(
    ("pattern", "style"),
    [
        ("2020-{m}-{d}", "ISO 8601"),
        ("2020-{m}-{d}T12:00", "ISO 8601"),
        ("{d}/{m}/2020", "%d/%m/%Y"),
        ("{m}/{d}/2020", "%m/%d/%Y"),
        ("{d}.{m}.2020", "%d.%m.%Y"),
        ("{m}/{d}/20", "%m/%d/%y"),
    ],
)
def test_dates_are_replaced_by_numbers(tmp_path, pattern, style):
    texts = [pattern.format(d=day, m=month) for day, month in zip(DAY, MONTH)]
    dataset = load(tmp_path, {"when": texts})
    names = [feature.name for feature in dataset.features]
    assert names == ["x", "when: days", "when: month", "when: weekday"]
    iso = [f"2020-{month}-{day}" for day, month in zip(DAY, MONTH)]
    days = np.array(iso, dtype="datetime64[D]").astype(float)
    np.testing.assert_array_equal(np.floor(dataset.X[:, 1]), days)
    np.testing.assert_array_equal(dataset.X[:, 2], list(map(float, MONTH)))
    np.testing.assert_array_equal(dataset.X[:, 3], (days + 3) % 7)  # 1970 began on a Thursday
    assert dataset.notes[0].startswith(f"column 'when' has dates, {style}: replaced by days, month")


def test_dates_that_can_be_read_in_two_ways_are_told_of(tmp_path):
    texts = [f"0{1 + n % 9}/0{1 + n % 7}/2020" for n in range(N)]
    (note,) = load(tmp_path, {"when": texts}).notes
    assert "%d/%m/%Y (or %m/%d/%Y: no date decides)" in note


def test_missing_date_and_a_typing_error_are_missing(tmp_path):
    texts = [f"2020-{month}-{day}" for day, month in zip(DAY, MONTH)]
    texts[3], texts[5] = "", "unknown"
    dataset = load(tmp_path, {"when": texts})
    assert np.flatnonzero(np.isnan(dataset.X[:, 1])).tolist() == [3, 5]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encoding_is_found_out(tmp_path, encoding):
    towns = ["Z\xfcrich", "Gen\xe8ve"] * (N // 2)
    dataset = load(tmp_path, {"town": towns}, encoding=encoding)
    assert dataset.features[1].labels == ("Gen\xe8ve", "Z\xfcrich")
    assert (len(dataset.notes) == 1) == (encoding == "cp1252")
    if encoding == "cp1252":
        assert "read as cp1252 (Western European), such as '" in dataset.notes[0]
        assert "--encoding" in dataset.notes[0]
        assert load(tmp_path, {"town": towns}, encoding=encoding, **{}).n_classes == 2
        path = str(tmp_path / "file.csv")
        assert data.load(path, "y", encoding="latin-1").notes == ()


@pytest.mark.parametrize(
    ("fields", "values", "meaning"),
    [
        (["1.234,5", "2,5", "1.000.000,0"], [1234.5, 2.5, 1e6], "decimals after points"),
        (["1,5", "2,25", "-0,5"], [1.5, 2.25, -0.5], "decimals"),
        (["1,234.5", "2", "1,000,000"], [1234.5, 2, 1e6], "thousands"),
    ],
)
def test_commas_and_points_are_understood(tmp_path, fields, values, meaning):
    dataset = load(tmp_path, {"z": fields * (N // 3)}, delimiter=";")
    np.testing.assert_array_equal(dataset.X[:3, 1], values)
    assert dataset.notes == (f"column 'z': commas in numbers taken for {meaning}",)


@pytest.mark.parametrize(("sign", "pattern"), [("%", "{} %"), ("$", "${}"), ("\u20ac", "{}\u20ac")])
def test_sign_of_all_numbers_is_taken_off(tmp_path, sign, pattern):
    dataset = load(tmp_path, {"z": [pattern.format(size) for size in SIZES]})
    np.testing.assert_array_equal(dataset.X[:, 1], SIZES)
    assert dataset.notes == (f"column 'z': all its numbers have the sign {sign}, taken off",)
    np.testing.assert_array_equal(dataset.features[1].values([pattern.format(3), "4"]), [3, 4])


def test_delimiter_is_the_one_that_makes_equal_rows(tmp_path):
    text = "price, net;size, wide;kind\n" + "\n".join(
        f"{x};{n / 7};{y}" for n, (x, y) in enumerate(zip(SIZES, LABELS))
    )
    (tmp_path / "file.csv").write_text(text)
    found = table.read_table(str(tmp_path / "file.csv"))
    assert (found.delimiter, found.names) == (";", ["price, net", "size, wide", "kind"])


def test_parquet_is_read_as_the_same_file_of_text(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(
        {
            "x": SIZES,
            "n": pandas.array([None, *range(N - 1)], dtype="Int64"),
            "kind": pandas.Categorical(["u", "v", "w"] * (N // 3)),
            "when": pandas.date_range("2020-01-01", periods=N, freq="36h"),
            "y": LABELS,
        }
    )
    frame.to_parquet(tmp_path / "file.parquet")
    frame.to_csv(tmp_path / "file.csv", index=False)
    ours, theirs = (data.load(str(tmp_path / name), "y") for name in ("file.parquet", "file.csv"))
    np.testing.assert_array_equal(ours.X, theirs.X)
    np.testing.assert_array_equal(ours.y, theirs.y)
    assert ours.features == theirs.features


def test_features_of_new_rows_are_made_as_those_of_the_first():
    number = features.Feature("a", "number", commas="decimals", exponent=400)
    np.testing.assert_array_equal(
        number.values(["1,5", "", "x"]), [1.5 * 2.0**-400, np.nan, np.nan]
    )
    category = features.Feature("b", "category", labels=("u", "v"))
    np.testing.assert_array_equal(category.values(["v", "w", ""]), [1, np.nan, np.nan])


def test_copies_of_rows_are_told_of(tmp_path):
    more = {name: RNG.normal(size=N).round(3) for name in "abc"}
    assert load(tmp_path, more).notes == ()
    doubled = {
        name: np.repeat(values[: N // 2], 2) for name, values in {"x": SIZES, **more}.items()
    }
    doubled["y"] = np.repeat(LABELS[: N // 2], 2)
    (note,) = load(tmp_path, doubled).notes
    assert note.startswith("30 rows are exact copies of others")


# --- rows without a class -------------------------------------------------------


def test_rows_without_a_class_are_learnt_from_by_those_that_can(tmp_path):
    sizes = np.where(np.arange(N) % 2, 3.0, -3.0) + SIZES
    labels = [label if n < 30 else "" for n, label in enumerate(LABELS)]
    dataset = load(tmp_path, {"x": sizes, "y": labels}, cv=3)
    assert (len(dataset.y), len(dataset.unlabelled)) == (30, 30)
    assert dataset.notes == ("30 rows without a target are in no score",)
    spreading = candidates.candidate(LabelSpreading, candidates.OURS, {"alpha": [0.1, 0.2]}, 0)
    X, y = race.training_part(spreading, dataset, np.arange(20))
    assert (len(X), np.sum(y == -1)) == (50, 30)
    for train, test in race.inner_splits("classification", X, y, seed=0):
        assert np.isin(np.arange(20, 50), train).all()
        assert (y[test] != -1).all()
    from sklearn_sl._compare.metrics import metrics_of

    fold = race.run_fold(dataset, spreading, 0, cv=3, seed=0, metrics=metrics_of(dataset))
    assert fold.scores["accuracy"] == 1.0
    supervised = candidates.baseline("classification")
    assert len(race.training_part(supervised, dataset, np.arange(20))[0]) == 20
