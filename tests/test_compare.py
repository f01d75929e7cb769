"""The command ``python -m sklearn_sl compare``."""

import base64
import csv
import dataclasses
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from _clock import slowness
from _contestants import (
    FORTY,
    SVC,
    AHangs,
    Chatty,
    Dies,
    KernelRidge,
    KernelRidgeCV,
    Majority,
    OwnGrid,
    Raises,
    RidgeCV,
    StaysOut,
    TwoClassesOnly,
    Unscored,
    Wraps,
)
from sklearn import kernel_ridge, linear_model, svm
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_sl import _discovery
from sklearn_sl._compare import candidates, cli, data, plots, pool, race, report


@pytest.fixture
def package(monkeypatch):
    """Return a function that makes the given classes the estimators of the package."""

    def contains(*classes):
        monkeypatch.setattr(_discovery, "all_estimators", lambda: list(classes))

    contains(KernelRidge, KernelRidgeCV, SVC)
    return contains


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def cancer():
    return data.load("breast_cancer", cv=3)


@pytest.fixture(scope="module")
def diabetes():
    return data.load("diabetes", cv=3)


def write_csv(path, header, columns):
    lines = [header, *(",".join(map(str, row)) for row in zip(*columns))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def run(contests, dataset, budget=np.inf, jobs=1):
    """Race on one data set; return the results by library and name."""
    race_ = pool.Race(
        [dataset],
        [(0, *contest) for contest in contests],
        {"cv": 3, "seed": 0},
        jobs=jobs,
        end=time.monotonic() + budget,
        progress=cli.silent,
    )
    return {(result.library, result.name): result for result in race_.run()}


# --- bad input ------------------------------------------------------------------

NUMBERS = range(30)
FILES = {
    "good.csv": ("x,price", [NUMBERS, [number % 7 + 0.5 for number in NUMBERS]]),
    "constant.csv": ("x,price", [NUMBERS, [1.5] * 30]),
    "one_class.csv": ("x,kind", [NUMBERS, ["cat"] * 30]),
    "rare.csv": ("x,kind", [NUMBERS, ["cat"] * 20 + ["dog"] * 5 + ["cow"] * 5]),
    "short.csv": ("x,price", [range(5), range(5)]),
    "words.csv": ("x,kind", [NUMBERS, ["cat", "dog"] * 15]),
    "names.csv": ("name,price", [[f"n{number}" for number in NUMBERS], NUMBERS]),
    "twice.csv": ("price,price", [NUMBERS, NUMBERS]),
    "typo.csv": ("x,price", [NUMBERS, [*(number + 0.5 for number in range(29)), "1.2.3"]]),
    "alone.csv": ("price", [NUMBERS]),
}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--data nowhere.csv --target y", "no file 'nowhere.csv'"),
        ("--data iriss", "did you mean iris?"),
        ("--data good.csv --target prize", "no column 'prize' in good.csv; did you mean price?"),
        ("--data good.csv", "--target is needed with a file; columns: x, price"),
        ("--data good.csv --target PRICE", "no column 'PRICE' in good.csv; did you mean price?"),
        ("--data good.csv --target a", "no column 'a' in good.csv; columns: x, price"),
        (
            "--data twice.csv --target price",
            "several columns named 'price' in twice.csv, number 1 and 2",
        ),
        ("--data twice.csv --target prize", "did you mean price?"),
        ("--data empty.csv --target y", "is empty"),
        ("--data header.csv --target y", "is empty"),
        ("--data ragged.csv --target y", "line 3 has 1 fields, the header has 2"),
        ("--data binary.csv --target y", "is not a CSV file"),
        ("--data zeros.csv --target y", "it has zero bytes"),
        ("--data latin.csv --target y", "is not a CSV file in UTF-8: save it as one"),
        (
            "--data open.csv --target y",
            "line 3 has 1 fields, the header has 2; is a quotation mark",
        ),
        ("--data newline.csv --target y", "line 4 has 1 fields, the header has 2"),
        ("--data . --target y", "cannot read '.'"),
        ("--data constant.csv --target price --task regression", "the target is constant (1.5)"),
        ("--data one_class.csv --target kind", "one class only (cat)"),
        ("--data rare.csv --target kind", "class cow has 5 rows, 6 are needed for 5 folds"),
        ("--data short.csv --target price", "only 5 rows"),
        ("--data words.csv --target kind --task regression", "the target is text (dog): --task"),
        ("--data typo.csv --target price", "has numbers, but also '1.2.3' in line 31: put"),
        ("--data typo.csv --target price --task regression", "but also '1.2.3' in line 31"),
        ("--data names.csv --target name", "use a smaller --cv or merge classes\n"),
        ("--data alone.csv --target price", "no usable feature column; the target is the only one"),
        ("--data names.csv --target price", "no usable feature column; text column 'name'"),
        ("--data diabetes --task classification", "--task regression"),
        ("--data iris --target y", "--target is for a file"),
        ("--target y", "--target needs --data"),
        ("--data good.csv --target price --cv 16", "--cv 16 is too large for 30 rows"),
        ("--cv 1", "argument --cv: '1' is not a number >= 2"),
        ("--cv five", "argument --cv: 'five' is not a number"),
        ("--jobs 0", "argument --jobs"),
        ("--seed -1", "argument --seed"),
        ("--data nowhere.csv --seed 4294967296", "'4294967296' is not a number from 0 to 42949672"),
        ("--budget nan", "argument --budget"),
        ("--task clustering", "argument --task"),
        ("--estimators KernelRigde", "no estimator 'KernelRigde' in sklearn_sl; did you mean"),
        ("--data nowhere.csv --estimators KernelRigde", "no estimator 'KernelRigde'"),
        ("--estimators=", "no estimator ''"),
        ("--data iris --estimators KernelRidge", "no estimator for classification among KernelR"),
        ("--out no/such/folder/report.html", "no directory 'no/such/folder'"),
        ("--out .", "it is a directory"),
        ("--out=", "--out needs the name of a file"),
        (f"--out {'long' * 100}", "cannot write 'longlong"),
        ("--data good.csv --target price --out ./good.csv", "would overwrite the data"),
        ("--data good.csv --target price --out link.csv", "would overwrite the data"),
        ("--colour red", "unrecognized arguments: --colour red"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments, message, package, in_folder, capsys):
    for name, (header, columns) in FILES.items():
        write_csv(in_folder / name, header, columns)
    (in_folder / "empty.csv").write_text("")
    (in_folder / "header.csv").write_text("x,y\n")
    (in_folder / "ragged.csv").write_text("x,y\n1,2\n3\n")
    (in_folder / "binary.csv").write_bytes(b"\xff\xfe\x00\x80")
    (in_folder / "zeros.csv").write_bytes(b"x,y\n1,\x002\n")
    (in_folder / "latin.csv").write_text("x,y\n1,caf\xe9\n", encoding="latin-1")
    (in_folder / "open.csv").write_text('x,y\n1,2\n"3,4\n5,6\n')
    (in_folder / "newline.csv").write_text('x,y\n1,"a\nb"\n3\n')
    (in_folder / "link.csv").symlink_to("good.csv")
    assert cli.main(["compare", *arguments.split()]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("sklearn_sl compare: error: ")
    assert output.err.count("\n") == 1
    assert message in output.err
    assert (in_folder / "good.csv").read_text().startswith("x,price")
    assert not (in_folder / "report.html").exists()


def test_race_that_everyone_loses_has_a_message_and_status_1(package, in_folder, capsys):
    package(Raises)
    assert cli.main(["compare", "--data", "iris"]) == 1
    output = capsys.readouterr()
    assert "report: report.html" in output.out
    assert output.err == (
        "sklearn_sl compare: error: every candidate failed on iris; "
        "Raises: ValueError: no <luck> today\n"
    )


def test_race_that_one_candidate_finishes_has_status_0(package, in_folder, capsys):
    package(Raises, Majority)
    assert cli.main(["compare", "--data", "iris"]) == 0
    assert capsys.readouterr().err == ""


def test_command_line_reports_an_error_through_its_exit_status(tmp_path):
    command = [sys.executable, "-m", "sklearn_sl", "compare", "--data", "nowhere.csv"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("sklearn_sl compare: error: no file 'nowhere.csv'")


def test_help_names_every_option(capsys):
    with pytest.raises(SystemExit) as exit_:
        cli.main(["compare", "--help"])
    assert exit_.value.code == 0
    text = capsys.readouterr().out
    options = ("--data", "--target", "--task", "--estimators", "--cv", "--jobs", "--out")
    for option in (*options, "--quick", "--budget", "--seed", "--quiet"):
        assert option in text


def test_importing_the_package_imports_nothing_of_this():
    check = "import sys, sklearn_sl; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check]).returncode == 0


# --- reading --------------------------------------------------------------------


def test_untidy_file_is_cleaned_and_every_step_is_noted(tmp_path):
    n = 60
    columns = [
        [f"person{row}" for row in range(n)],
        ["red", "green", "?"] * (n // 3),
        ["", *range(1, n)],
        ["NA"] * n,
        [f"town{row % 25}" for row in range(n)],
        ["", *["yes", "no"] * (n // 2)][:n],
    ]
    path = write_csv(tmp_path / "untidy.csv", "id,colour,size,blank,town,label", columns)
    dataset = data.load(path, "label")
    assert dataset.task == "classification"
    assert dataset.n_classes == 2
    assert dataset.X.shape == (n - 1, 3)
    assert dataset.categorical == (0, 2)
    notes = "\n".join(dataset.notes)
    assert "text column 'id' dropped: 60 different values" in notes
    assert "column 'blank' dropped: empty" in notes
    assert "text column 'town': the rarest of 25 values grouped" in notes
    assert "1 rows without a target left out" in notes
    candidate = candidates.candidate(SVC, candidates.OURS, {"C": [0.1, 1.0]}, seed=0)
    result = race.evaluate(candidate, dataset, cv=3, seed=0)
    assert result.error == ""
    assert len(result.scores) == 3


def load_columns(path, header, *columns, target="y", **options):
    return data.load(write_csv(path / "file.csv", header, columns), target, **options)


HALVES = [number + 0.5 for number in NUMBERS]
CLASSES = ["a", "b"] * 15


@pytest.mark.parametrize("word", ["none", "NA", "null", "nan", "?", "N/A"])
def test_word_for_nothing_is_a_class_and_a_category_of_text(tmp_path, word):
    words = [word, "mild", "severe"] * 10
    dataset = load_columns(tmp_path, "x,y", NUMBERS, words)
    assert (dataset.n_classes, len(dataset.y)) == (3, 30)
    assert dataset.notes == (f"{word!r} is a class of the target; only an empty field has none",)
    dataset = load_columns(tmp_path, "x,y", words, CLASSES)
    assert dataset.categorical == (0,)
    assert len(np.unique(dataset.X)) == 3  # NaN would be equal to nothing


def test_words_for_nothing_alone_are_the_classes_of_a_target(tmp_path):
    dataset = load_columns(tmp_path, "x,y", NUMBERS, [*["none", "NA"] * 14, "", ""])
    assert (dataset.task, dataset.n_classes, len(dataset.y)) == ("classification", 2, 28)
    with pytest.raises(data.InputError, match="0 rows with a target"):
        load_columns(tmp_path, "x,y", NUMBERS, ["none"] * 30)


@pytest.mark.parametrize("word", ["", "none", "NA", "null", "nan", "?", "-", "<NA>", "#N/A", "."])
def test_word_for_nothing_is_missing_among_numbers(tmp_path, word):
    dataset = load_columns(tmp_path, "x,y", [*HALVES[1:], word], CLASSES)
    assert np.isnan(dataset.X).sum() == 1
    assert dataset.categorical == ()
    dataset = load_columns(tmp_path, "x,y", NUMBERS, [word, *HALVES[1:]])
    assert (dataset.task, len(dataset.y)) == ("regression", 29)
    assert dataset.notes[0].startswith("1 rows without a target left out")


def test_typo_among_numbers_is_named_and_counted_as_missing(tmp_path):
    dataset = load_columns(tmp_path, "x,y", [*HALVES[1:], "1.2.3"], CLASSES)
    assert np.isnan(dataset.X).sum() == 1
    note = "column 'x': no number, counted as missing: '1.2.3' in line 31"
    assert dataset.notes == (note,)


def test_typo_among_few_values_is_named_and_they_are_categories(tmp_path):
    dataset = load_columns(tmp_path, "x,y", [*(number % 5 for number in range(29)), "1O"], CLASSES)
    assert dataset.categorical == (0,)
    assert dataset.notes == ("column 'x' is text because of '1O' in line 31",)


def test_dropped_text_has_an_example(tmp_path):
    dates = [f"2020-01-{day:02d}" for day in range(1, 31)]
    dataset = load_columns(tmp_path, "x,when,y", NUMBERS, dates, CLASSES)
    (note,) = dataset.notes
    assert note.endswith("'when' dropped: 30 different values, such as '2020-01-01' in line 2")


@pytest.mark.parametrize(
    ("delimiter", "written", "meaning"),
    [
        (";", "{:,}".format, "thousands"),
        (",", '"{:,}"'.format, "thousands"),
        (";", lambda number: str(number / 2).replace(".", ","), "decimals"),
        (",", lambda number: f'"{number / 2}"'.replace(".", ","), "decimals"),
    ],
)
def test_commas_in_numbers_are_understood(tmp_path, delimiter, written, meaning):
    numbers = [1000003 * number for number in NUMBERS]
    rows = [f"{written(number)}{delimiter}{label}" for number, label in zip(numbers, CLASSES)]
    path = tmp_path / "file.csv"
    path.write_text("\n".join([f"x{delimiter}y", *rows]))
    dataset = data.load(str(path), "y")
    expected = np.array(numbers) / (2 if meaning == "decimals" else 1)
    np.testing.assert_array_equal(dataset.X[:, 0], expected)
    assert dataset.notes == (f"column 'x': commas in numbers taken for {meaning}",)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-1.5", -1.5),
        ("\u22121.5", -1.5),
        (" 7 ", 7),
        ("1e3", 1000),
        ("1e400", None),
        ("-inf", None),
    ],
)
def test_number_is_read(tmp_path, text, value):
    dataset = load_columns(tmp_path, "x,y", [*HALVES[1:], text], CLASSES)
    assert dataset.categorical == ()
    np.testing.assert_equal(dataset.X[-1, 0], np.nan if value is None else value)
    infinite = "column 'x': 1 infinite values counted as missing"
    assert dataset.notes == ((infinite,) if value is None else ())


def test_number_of_python_with_underscores_is_text(tmp_path):
    assert load_columns(tmp_path, "x,y", ["1_0", "2_0"] * 15, CLASSES).categorical == (0,)


def test_long_whole_numbers_are_told_apart_as_classes(tmp_path):
    identifiers = [10**18, 10**18 + 1] * 15
    assert load_columns(tmp_path, "x,y", NUMBERS, identifiers).n_classes == 2


def test_numbers_of_the_rows_are_no_feature(tmp_path):
    dataset = load_columns(tmp_path, ",x,y", NUMBERS, HALVES, CLASSES)
    assert dataset.X.shape == (30, 1)
    assert dataset.notes == ("column without a name dropped: it numbers the rows",)


@pytest.mark.parametrize(
    ("header", "note"),
    [
        ("0.5,1,2", "the first line is taken for names of columns: 0.5, 1, 2"),
        ("x,x,2", "several columns have the same name: x"),
    ],
)
def test_odd_header_is_noted(tmp_path, header, note):
    dataset = load_columns(tmp_path, header, NUMBERS, HALVES, CLASSES, target="2")
    assert dataset.notes == (note,)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\n\n") + "  \n\t\n",
        lambda text: "\ufeff" + text,
        lambda text: text.replace(",", ' , "').replace("\n", '"\n').replace('y"', 'y"'),
        lambda text: text.replace(",", "|"),
        lambda text: text.replace("x,", '"x;a;b;c",'),
        lambda text: text.replace("x,", '"x\nx",').replace(",y", ",gro\u0308\xdfe"),
    ],
)
def test_form_of_the_file_does_not_matter(tmp_path, change):
    text = "\n".join(["x,y", *(f"{x},{y}" for x, y in zip(HALVES, CLASSES))]) + "\n"
    path = tmp_path / "file.csv"
    path.write_bytes(change(text).encode())
    dataset = data.load(str(path), "gr\xf6\xdfe" if "gro" in change(text) else " y")
    np.testing.assert_array_equal(dataset.X[:, 0], HALVES)
    assert dataset.n_classes == 2
    assert dataset.notes == ()


def test_long_field_is_read_and_the_limit_of_the_csv_module_is_put_back(tmp_path):
    before = csv.field_size_limit()
    dataset = load_columns(tmp_path, "x,t,y", NUMBERS, ["w" * 200_000, *["v"] * 29], CLASSES)
    assert dataset.categorical == (1,)
    assert csv.field_size_limit() == before


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**1000])
def test_unit_of_feature_and_target_does_not_matter(tmp_path, scale):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 60))
    ridge = candidates.candidate(KernelRidge, candidates.OURS, {"alpha": [1.0]}, seed=0)

    def scores(unit):
        dataset = load_columns(tmp_path, "x,y", x * unit, (x + y) * unit)
        result = race.evaluate(ridge, dataset, cv=3, seed=0)
        assert result.error == ""
        return dataset.notes, result.scores

    (notes, scaled), (_, plain) = scores(scale), scores(1.0)
    assert [note.split(":")[0].split(" by ")[0] for note in notes] == [
        "column 'x' scaled",
        "the target scaled",
    ]
    np.testing.assert_allclose(scaled, plain)
    assert 0 < np.mean(plain) < 0.9


def test_score_that_is_no_number_is_a_failure(cancer):
    candidate = candidates.Candidate("Unscored", candidates.OURS, Unscored())
    result = race.evaluate(candidate, cancer, cv=3, seed=0)
    assert result.error == "FloatingPointError: a score is nan"


def test_few_rows_of_a_rare_class_are_left_out(tmp_path):
    labels = ["a"] * 30 + ["b"] * 30 + ["c"] * 2
    path = write_csv(tmp_path / "rare.csv", "x,label", [range(62), labels])
    dataset = data.load(path, "label", cv=5)
    assert dataset.n_classes == 2
    assert "1 rare classes (2 rows) left out" in dataset.notes[0]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiter_is_found(tmp_path, delimiter):
    path = tmp_path / "file.csv"
    lines = [delimiter.join(["x", "y"]), *(f"{row}{delimiter}{row / 2}" for row in range(30))]
    path.write_text("\n".join(lines), encoding="utf-8-sig")
    assert data.load(str(path), "y").X.shape == (30, 1)


@pytest.mark.parametrize(("name", "task"), [("iris", "classification"), ("diabetes", "regression")])
def test_task_of_bundled_data_is_guessed(name, task):
    assert data.load(name).task == task


def test_sampled_rows_keep_shares_and_rare_classes():
    y = np.repeat([0, 1, 2], [900, 93, 7])
    rows = data.sample_rows(y, 100, "classification", cv=5, seed=0)
    assert np.bincount(y[rows]).tolist() == [90, 9, 6]


def test_quick_draws_rows_from_large_data():
    dataset = data.load("digits", quick=True)
    assert abs(len(dataset.y) - data.MAX_ROWS_QUICK) < 10
    assert "rows, drawn at random" in dataset.notes[0]


# --- who takes part -------------------------------------------------------------


def test_counterpart_has_the_same_settings(package, cancer):
    ((ours, theirs),), _ = candidates.find_contests(cancer, ["SVC"])
    assert (type(ours.estimator), type(theirs.estimator)) == (SVC, svm.SVC)
    assert ours.points == theirs.points
    assert {point["kernel"] for point in ours.points} == {"rbf"}
    assert len(ours.points) == 25
    assert ours.points[0]["C"] == 1.0  # the middle of the grid comes first


def test_class_that_tunes_itself_is_given_the_grid_of_its_base(package, diabetes):
    contests, _ = candidates.find_contests(diabetes)
    (ridge, rival), (ridge_cv, no_rival) = contests
    settings = ridge_cv.estimator.get_params()
    assert settings["kernel"] == "rbf"
    assert set(settings["alphas"]) == {point["alpha"] for point in ridge.points}
    assert set(settings["kernel_grid"]["gamma"]) == {point["gamma"] for point in ridge.points}
    assert ridge_cv.points == ({},)
    # One rival serves both, and is raced once.
    assert ridge.rival == ridge_cv.rival == rival.name == "KernelRidge"
    assert no_rival is None


def test_class_that_tunes_itself_meets_the_scikit_learn_class_of_its_name(package, diabetes):
    package(RidgeCV)
    ((ours, theirs),), _ = candidates.find_contests(diabetes)
    assert type(theirs.estimator) is linear_model.RidgeCV
    assert theirs.tunes_itself
    assert theirs.estimator.alphas == ours.estimator.alphas


def test_class_attribute_replaces_the_grid(package, cancer):
    package(OwnGrid)
    ((ours, _),), _ = candidates.find_contests(cancer)
    assert sorted(point["depth"] for point in ours.points) == [1, 2, 3]
    assert all("alpha" not in point for point in ours.points)


def test_unsuitable_estimators_are_left_out_with_a_reason(package):
    package(Majority, StaysOut, TwoClassesOnly, Wraps, KernelRidge)
    contests, skipped = candidates.find_contests(data.load("iris"))
    assert [ours.name for ours, _ in contests] == ["Majority"]
    assert set(skipped) == {"StaysOut", "TwoClassesOnly", "Wraps"}


# --- scores ---------------------------------------------------------------------


def test_classification_scores_equal_nested_grid_search_by_hand(package, cancer):
    ((ours, _),), _ = candidates.find_contests(cancer, ["SVC"], quick=True)
    result = race.evaluate(ours, cancer, cv=3, seed=7)
    grid = candidates.grid_of(SVC, cancer, quick=True)
    search = GridSearchCV(
        make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), SVC(random_state=0)),
        {f"svc__{name}": values for name, values in grid.items()},
        cv=StratifiedKFold(3, shuffle=True, random_state=7),
    )
    outer = StratifiedKFold(3, shuffle=True, random_state=7)
    by_hand = cross_val_score(search, *load_breast_cancer(return_X_y=True), cv=outer)
    assert result.error == ""
    np.testing.assert_allclose(result.scores, by_hand)
    assert result.score == pytest.approx(by_hand.mean())


def test_regression_scores_equal_nested_grid_search_by_hand(package, diabetes):
    ((ours, _),), _ = candidates.find_contests(diabetes, ["KernelRidge"], quick=True)
    result = race.evaluate(ours, diabetes, cv=3, seed=0)
    model = make_pipeline(StandardScaler(), kernel_ridge.KernelRidge())
    grid = candidates.grid_of(KernelRidge, diabetes, quick=True)
    search = GridSearchCV(
        TransformedTargetRegressor(model, transformer=StandardScaler()),
        {f"regressor__kernelridge__{name}": values for name, values in grid.items()},
        cv=KFold(3, shuffle=True, random_state=0),
    )
    outer = KFold(3, shuffle=True, random_state=0)
    by_hand = cross_val_score(search, *load_diabetes(return_X_y=True), cv=outer)
    np.testing.assert_allclose(result.scores, by_hand)
    assert all(set(chosen) == {"alpha", "gamma", "kernel"} for chosen in result.params)


def test_exception_is_a_result(cancer):
    result = race.evaluate(candidates.Candidate("Raises", "x", Raises()), cancer, cv=3, seed=0)
    assert result.error == "ValueError: no <luck> today"
    assert result.score == -np.inf


def test_short_allowance_shrinks_the_work_but_not_the_test_rows(monkeypatch, cancer):
    # A clock on which every fit of n rows takes n milliseconds.
    now = [0.0]

    class Slow(Majority):
        def fit(self, X, y):
            now[0] += len(X) / 1000
            return super().fit(X, y)

    monkeypatch.setattr(race, "perf_counter", lambda: now[0])
    points = tuple({"depth": depth} for depth in range(9))
    slow = type("SlowGrid", (Slow,), {"__init__": OwnGrid.__init__})
    candidate = candidates.Candidate("Slow", "x", slow(), points)

    def work(allowance):
        result = race.evaluate(candidate, cancer, cv=3, seed=0, allowance=allowance)
        assert result.error == ""
        assert len(result.scores) == 3
        return result.rows, result.points

    assert work(np.inf) == work(1000.0) == (379, 9)
    rows, points_tried = work(30.0)
    assert rows == 379
    assert 1 < points_tried < 9
    rows, points_tried = work(3.0)
    assert rows < 379
    assert points_tried == 1


def test_rival_does_the_same_work():
    contest = (candidates.Candidate("A", "x", Majority()), candidates.Candidate("B", "x", SVC()))
    race_ = pool.Race([None], [(0, *contest)], {}, jobs=1, end=np.inf, progress=cli.silent)
    result = race.Result("A", "x", "data", scores=(1.0,), rows=40, points=2)
    race_.finish(race_.queue.popleft(), result)
    assert race_.queue[0].candidate.name == "B"
    assert race_.queue[0].ceiling == (40, 2)


def test_probe_gives_an_estimator_the_rows_it_needs():
    def probe(rows):
        if rows < 150:
            raise ValueError("more rows are needed")

    assert race.first_rows(probe, 1000) == 200
    with pytest.raises(ValueError, match="more rows"):
        race.first_rows(probe, 140)


@pytest.mark.parametrize("name", ["breast_cancer", "diabetes"])
def test_every_estimator_of_the_package_takes_part(name):
    dataset = data.load(name, cv=2)
    rows = data.sample_rows(dataset.y, 100, dataset.task, cv=2, seed=0)
    small = dataclasses.replace(dataset, X=dataset.X[rows], y=dataset.y[rows])
    for ours, _ in candidates.find_contests(small, quick=True)[0]:
        result = race.evaluate(ours, small, cv=2, seed=0, ceiling=(np.inf, 1))
        assert result.error == "", ours.name


def test_experts_stay_out_and_a_perceptron_has_nothing_to_tune(cancer):
    contests, skipped = candidates.find_contests(cancer, quick=True)
    points = {us.name: us.points for us, _ in contests}
    reason = "not made for any table of independent rows"
    for name in ("Hedge", "Halving", "MatrixCompletion", "MinimalDisjunction"):
        assert skipped[name] == reason
    assert points["Perceptron"] == ({},)
    assert points["ExponentiatedGradientClassifier"][0] == {"radius": 10.0}


# --- workers and the budget -----------------------------------------------------


def as_candidate(cls):
    return candidates.Candidate(cls.__name__, candidates.OURS, cls())


@pytest.mark.alone
def test_hanging_dying_raising_and_noisy_estimators_do_not_stop_the_others(cancer, capfd):
    classes = (AHangs, Chatty, Dies, Majority, Raises)
    contests = [(as_candidate(cls), None) for cls in classes]
    started, budget = time.monotonic(), 9 * slowness()
    results = run(contests, cancer, budget=budget, jobs=2)
    assert time.monotonic() - started < budget + 2 * slowness()
    outcome = {name: result.error for (_, name), result in results.items()}
    assert outcome == {
        "AHangs": pool.STOPPED,
        "Chatty": "",
        "Dies": "the process died (exit code 3)",
        "Majority": "",
        "Raises": "ValueError: no <luck> today",
    }
    assert capfd.readouterr() == ("", "")


@pytest.mark.alone
def test_forty_estimators_that_hang_stay_within_the_budget(cancer):
    names = [dataclasses.replace(as_candidate(AHangs), name=f"Hangs{n}") for n in range(40)]
    started, budget = time.monotonic(), 4 * slowness()
    results = run([(name, None) for name in names], cancer, budget=budget)
    assert time.monotonic() - started < budget + 2 * slowness()
    assert len(results) == 40
    assert {result.error for result in results.values()} <= {pool.STOPPED, pool.NOT_RUN}


@pytest.mark.alone
def test_forty_estimators_are_all_run_and_reported(package, in_folder, capsys):
    package(*FORTY)
    arguments = f"compare --quick --data iris --budget {30 * slowness():.0f} --out forty.html"
    assert cli.main(arguments.split()) == 0
    output = capsys.readouterr()
    assert output.err == ""  # no bar: not a terminal
    for cls in FORTY:
        assert len(re.findall(rf"^{cls.__name__} +sklearn_sl +0\.3", output.out, re.M)) == 1
    assert "report: forty.html" in output.out


@pytest.mark.alone
def test_interrupt_is_one_line_and_status_130(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
        "if __name__ == '__main__':\n"
        "    import test_compare as t\n"
        "    t._discovery.all_estimators = lambda: [t.AHangs]\n"
        "    print('started', flush=True)\n"
        "    sys.exit(t.cli.main(['compare', '--data', 'iris']))\n"
    )
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, script]
    process = subprocess.Popen(command, start_new_session=True, cwd=tmp_path, **pipes)
    assert process.stdout.readline() == "started\n"
    time.sleep(1.0)
    os.killpg(process.pid, signal.SIGINT)  # as the terminal does: parent and workers
    _, errors = process.communicate(timeout=10)
    assert process.returncode == 130
    assert errors == "sklearn_sl compare: interrupted\n"


# --- reports --------------------------------------------------------------------


def made_up(name, library="sklearn_sl", **changes):
    settings = {"scores": (0.8, 0.9), "tune_time": 2.0, "fit_time": 0.01, "predict_time": 1e-4}
    settings |= {"rows": 100, "points": 3, "all_points": 3, "params": ({"alpha": 0.1}, {})}
    return race.Result(name, library, "data", **(settings | changes))


RESULTS = [
    made_up("Low", scores=(0.1, 0.2)),
    race.Result("Fails", "sklearn_sl", "data", error="ValueError: <b>"),
    made_up("Ridge", rival="Ridge"),
    made_up("RidgeCV", tunes_itself=True, rival="Ridge", tune_time=0.1),
    made_up("Ridge", "scikit-learn", fit_time=0.03, notes=("ConvergenceWarning",)),
]


def test_table_is_sorted_by_score_then_time_with_failures_last():
    header, rows = report.table(RESULTS, "classification")
    assert [row[0] for row in rows] == ["RidgeCV", "Ridge", "Ridge", "Low", "Fails"]
    assert rows[0][header.index("accuracy")] == "0.8500"
    assert rows[0][header.index("+- sd")] == "0.0500"
    assert rows[0][header.index("fit")] == "10 ms"
    assert rows[-1][-1] == "ValueError: <b>"


def test_speed_up_compares_like_with_like():
    assert report.speed_up(RESULTS[2], RESULTS) == "3x"
    assert report.speed_up(RESULTS[3], RESULTS) == "20x*"
    assert report.speed_up(RESULTS[0], RESULTS) == ""
    fewer_rows = [made_up("Ridge", "scikit-learn", rows=50)]
    assert report.speed_up(RESULTS[2], fewer_rows) == ""
    fewer_points = [made_up("Ridge", "scikit-learn", points=1)]
    assert report.speed_up(RESULTS[3], fewer_points) == ">20x*"


def page(dataset):
    return report.html_report([(dataset, RESULTS, {"Odd": "a reason"})], "python -m x '<'", 3)


def test_report_is_self_contained_and_escaped(cancer):
    html = page(cancer)
    images = re.findall(r'src="data:image/png;base64,([^"]+)"', html)
    assert len(images) == 2
    assert all(base64.b64decode(image).startswith(b"\x89PNG") for image in images)
    text = re.sub(r"base64,[^\"]+", "", html)
    assert not re.search(r"https?://|<script|<link|@import|url\(", text)
    assert "ValueError: &lt;b&gt;" in text
    assert "alpha=0.1 (1/2); defaults (1/2)" in text
    for piece in ("scikit-learn", "a reason", "569 rows x 30 features", "ConvergenceWarning"):
        assert piece in text


def test_report_without_matplotlib_has_tables_and_says_so(cancer, monkeypatch):
    for module in (plots, report):
        monkeypatch.setattr(module, "has_matplotlib", lambda: False)
    html = page(cancer)
    assert "<img" not in html
    assert "pip install sklearn-sl[plot]" in html
    assert html.count("<table>") == 4


def test_progress_bar_fills_and_is_cleared(capsys):
    cli.show_progress(1, 2, ["KernelRidge"], width=10)
    assert "[#####-----] 1/2 KernelRidge" in capsys.readouterr().err
    cli.show_progress(2, 2, [])
    assert capsys.readouterr().err.strip("\r ") == ""
