"""The command ``python -m sklearn_sl compare``."""

import csv
import dataclasses
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

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
    Wraps,
)
from sklearn import kernel_ridge, linear_model, svm
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sklearn_sl
from sklearn_sl import _discovery
from sklearn_sl._compare import candidates, cli, data, metrics, pool, progress, race, state
from sklearn_sl._compare import run as run_

# For processes that do not start in the folder of the sources.
THIS_TREE = os.environ | {"PYTHONPATH": str(Path(sklearn_sl.__file__).parent.parent)}


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


def run(candidates_, dataset, budget=np.inf, jobs=1):
    """Race on one data set; return the results by name."""
    race_ = pool.Race(
        [dataset],
        [(0, candidate) for candidate in candidates_],
        [metrics.metrics_of(dataset)],
        cv=3,
        seed=0,
        jobs=jobs,
        end=time.monotonic() + budget,
        progress=progress.Silent(),
    )
    results = race_.run()
    if race_.spare is not None:
        race_.spare.kill()
    return {result.name: result for result in results}


def evaluate(candidate, dataset, cv=3, seed=0):
    """Return the result of a candidate, in this process."""
    ruling = metrics.metrics_of(dataset)
    done = []
    for number in range(cv):
        fold = race.run_fold(dataset, candidate, number, cv=cv, seed=seed, metrics=ruling)
        if isinstance(fold, str):
            return race.Result.of(candidate, dataset, ruling[0].scorer, done, fold)
        done.append(fold)
    return race.Result.of(candidate, dataset, ruling[0].scorer, done)


# --- bad input ------------------------------------------------------------------

NUMBERS = [14 * number % 60 for number in range(30)]  # no numbers of rows

FILES = {
    "good.csv": ("x,price", [NUMBERS, [number % 7 + 0.5 for number in range(30)]]),
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
        ("latin.csv --target y --encoding utf-8", "is not a CSV file in utf-8: name its"),
        ("latin.csv --target y --encoding klingon", "--encoding klingon: no such encoding"),
        ("binary.parquet --target y", "'binary.parquet' is not a Parquet file"),
        ("spaces.csv --target y", "columns: x y (separate columns by a comma, a semicolon, a tab"),
        ("good.csv --target price --drop prise", "no column 'prise' in good.csv; did you mean pri"),
        ("good.csv --target price --keep y", "no column 'y' in good.csv; columns: x, price"),
        (
            "--data open.csv --target y",
            "line 3 has 1 fields, the header has 2; is a quotation mark",
        ),
        ("--data newline.csv --target y", "line 4 has 1 fields, the header has 2"),
        ("--data . --target y", "cannot read '.'"),
        ("--data constant.csv --target price --task regression", "the target is constant (1.5)"),
        ("--data one_class.csv --target kind", "one class only (cat)"),
        (
            "--data rare.csv --target kind",
            "class cow has 5 rows, 6 are needed for 5 folds: merge it with another class, or "
            "remove its rows\n",
        ),
        ("--data short.csv --target price", "only 5 rows"),
        ("--data words.csv --target kind --task regression", "the target is text (dog): --task"),
        ("--data typo.csv --target price", "has numbers, but also '1.2.3' in line 31: put"),
        ("--data typo.csv --target price --task regression", "but also '1.2.3' in line 31"),
        (
            "--data names.csv --target name",
            "class n0 has 1 rows, 6 are needed for 5 folds: merge it",
        ),
        ("--data alone.csv --target price", "no usable feature column; the target is the only one"),
        ("--data names.csv --target price", "no usable feature column; text column 'name'"),
        ("--data diabetes --task classification", "--task regression"),
        ("--data iris --target y", "--target is for a file"),
        ("--target y", "--target needs a file: compare FILE --target COLUMN"),
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
        ("good.csv --data good.csv", "two data sets: good.csv and good.csv"),
        ("good.csv", "--target is needed with a file; columns: x, price"),
        ("iris --estimators svc", "no estimator 'svc' in sklearn_sl; did you mean SVC?"),
        (
            "iris --estimators Lasso",
            "no estimator 'Lasso' in sklearn_sl: scikit-learn's take part as",
        ),
        ("iris --exclude svcc", "no estimator 'svcc' in sklearn_sl; did you mean SVC?"),
        ("iris --exclude SVC", "no estimator for classification (SVC excluded)"),
        ("iris --scoring acuracy", "--scoring acuracy: no scorer of scikit-learn; did you mean ac"),
        ("iris --scoring r2", "--scoring r2 does not suit a target of 3 classes"),
        ("iris --scoring roc_auc", "multi_class must be in ('ovo', 'ovr'); roc_auc_ovr does"),
        ("diabetes --scoring accuracy", "--scoring accuracy does not suit a target of numbers"),
        ("iris --resume --out good.csv", "--resume: 'good.csv' is not a report of this version"),
        ("--colour red", "unrecognized arguments: --colour"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments, message, package, in_folder, capsys):
    for name, (header, columns) in FILES.items():
        write_csv(in_folder / name, header, columns)
    (in_folder / "empty.csv").write_text("")
    (in_folder / "header.csv").write_text("x,y\n")
    (in_folder / "ragged.csv").write_text("x,y\n1,2\n3\n")
    (in_folder / "binary.csv").write_bytes(b"\x7fELF\x81\x00\x80")
    (in_folder / "binary.parquet").write_bytes(b"PAR1")
    (in_folder / "zeros.csv").write_bytes(b"x,y\n1,\x002\n")
    (in_folder / "latin.csv").write_text("x,y\n1,caf\xe9\n", encoding="latin-1")
    (in_folder / "open.csv").write_text('x,y\n1,2\n"3,4\n5,6\n')
    (in_folder / "newline.csv").write_text('x,y\n1,"a\nb"\n3\n')
    (in_folder / "spaces.csv").write_text("x y\n1 2\n")
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
    assert cli.main(["compare", "iris", "--quiet"]) == 1
    output = capsys.readouterr()
    assert "report: report.html" in output.out
    assert output.err == (
        "sklearn_sl compare: error: every candidate failed on iris; "
        "Raises: ValueError: no <luck> today\n"
    )


def test_race_that_one_candidate_finishes_has_status_0(package, in_folder, capsys, monkeypatch):
    written = []

    def write(path, page):
        written.append(page)
        (in_folder / path).write_text(page)

    monkeypatch.setattr(run_, "SAVE_EVERY", -1.0)  # after each candidate
    monkeypatch.setattr(run_, "write_report", write)
    package(Raises, Majority)
    assert cli.main(["compare", "iris", "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    empty, first, second, last = written
    assert empty == ""  # to see whether it can be written
    assert all("This report was written during the run" in page for page in (first, second))
    assert "This was written" not in last
    assert last.count("no &lt;luck&gt; today") == 1


def test_command_line_reports_an_error_through_its_exit_status(tmp_path):
    command = [sys.executable, "-m", "sklearn_sl", "compare", "--data", "nowhere.csv"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=THIS_TREE)
    assert done.returncode == 2
    assert done.stderr.startswith("sklearn_sl compare: error: no file 'nowhere.csv'")


def test_help_names_every_option(capsys):
    with pytest.raises(SystemExit) as exit_:
        cli.main(["compare", "--help"])
    assert exit_.value.code == 0
    text = capsys.readouterr().out
    options = ("--data", "--target", "--task", "--estimators", "--cv", "--jobs", "--out")
    for option in (*options, "--quick", "--budget", "--seed", "--quiet", "--scoring", "--resume"):
        assert option in text


def test_no_command_shows_what_there_is(capsys):
    assert cli.main([]) == 2
    text = capsys.readouterr().out
    assert all(command in text for command in ("compare", "predict", "plan", "bench"))


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
    assert "text column 'id' left out: 60 different values" in notes
    assert "column 'blank' left out: empty" in notes
    assert "text column 'town': the rarest of 25 values grouped" in notes
    assert "1 rows without a target are in no score" in notes
    candidate = candidates.candidate(SVC, candidates.OURS, {"C": [0.1, 1.0]}, seed=0)
    result = evaluate(candidate, dataset)
    assert result.error == ""
    assert len(result.scores()) == 3


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
    assert dataset.notes[0].startswith("1 rows without a target are in no score")


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
    names = [f"person {number}" for number in NUMBERS]
    dataset = load_columns(tmp_path, "x,who,y", NUMBERS, names, CLASSES)
    (note,) = dataset.notes
    assert note.endswith("'who' left out: 30 different values, such as 'person 0' in line 2")
    prose = [f"he said {number} times so" for number in NUMBERS]
    dataset = load_columns(tmp_path, "x,what,y", NUMBERS, prose, CLASSES)
    assert dataset.notes[0].endswith("TfidfVectorizer makes features of prose")


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
    dataset = load_columns(tmp_path, ",x,y", range(30), HALVES, CLASSES)
    assert dataset.X.shape == (30, 1)
    note = "column without a name left out: it numbers the rows (--keep '' to use it)"
    assert dataset.notes == (note,)


@pytest.mark.parametrize(
    ("header", "note"),
    [
        (
            "0.5,1,2",
            "the first line is taken for names of columns: 0.5, 1, 2; if "
            "it is data, put a line of names before it",
        ),
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
        result = evaluate(ridge, dataset)
        assert result.error == ""
        return dataset.notes, result.scores()

    (notes, scaled), (_, plain) = scores(scale), scores(1.0)
    assert [note.split(":")[0].split(" by ")[0] for note in notes] == [
        "column 'x' scaled",
        "the target scaled",
    ]
    np.testing.assert_allclose(scaled, plain)
    assert 0 < np.mean(plain) < 0.9


def test_few_rows_of_a_rare_class_are_left_out(tmp_path):
    labels = ["a"] * 30 + ["b"] * 30 + ["c"] * 2
    path = write_csv(tmp_path / "rare.csv", "x,label", [np.arange(62) / 2, labels])
    dataset = data.load(path, "label", cv=5)
    assert dataset.n_classes == 2
    assert "1 rare class (2 rows) left out" in dataset.notes[0]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiter_is_found(tmp_path, delimiter):
    path = tmp_path / "file.csv"
    lines = [delimiter.join(["x", "y"]), *(f"{row / 2}{delimiter}{row / 4}" for row in range(30))]
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
    result = evaluate(ours, cancer, seed=7)
    grid = candidates.grid_of(SVC, cancer, quick=True)
    search = GridSearchCV(
        make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), SVC(random_state=0)),
        {f"svc__{name}": values for name, values in grid.items()},
        cv=StratifiedKFold(3, shuffle=True, random_state=7),
    )
    outer = StratifiedKFold(3, shuffle=True, random_state=7)
    by_hand = cross_val_score(search, *load_breast_cancer(return_X_y=True), cv=outer)
    assert result.error == ""
    np.testing.assert_allclose(result.scores(), by_hand)
    assert result.score == pytest.approx(by_hand.mean())


def test_regression_scores_equal_nested_grid_search_by_hand(package, diabetes):
    ((ours, _),), _ = candidates.find_contests(diabetes, ["KernelRidge"], quick=True)
    result = evaluate(ours, diabetes)
    model = make_pipeline(StandardScaler(), kernel_ridge.KernelRidge())
    grid = candidates.grid_of(KernelRidge, diabetes, quick=True)
    search = GridSearchCV(
        TransformedTargetRegressor(model, transformer=StandardScaler()),
        {f"regressor__kernelridge__{name}": values for name, values in grid.items()},
        cv=KFold(3, shuffle=True, random_state=0),
    )
    outer = KFold(3, shuffle=True, random_state=0)
    by_hand = cross_val_score(search, *load_diabetes(return_X_y=True), cv=outer)
    np.testing.assert_allclose(result.scores(), by_hand)
    assert all(text.startswith("alpha=") and "gamma=" in text for text in result.settings)


def test_exception_is_a_result(cancer):
    result = evaluate(candidates.Candidate("Raises", "x", Raises()), cancer)
    assert result.error == "ValueError: no <luck> today"
    assert result.score == -np.inf


@pytest.mark.parametrize("name", ["breast_cancer", "diabetes"])
def test_every_estimator_of_the_package_takes_part(name):
    dataset = data.load(name, cv=2)
    rows = data.sample_rows(dataset.y, 100, dataset.task, cv=2, seed=0)
    small = dataclasses.replace(dataset, X=dataset.X[rows], y=dataset.y[rows])
    for ours, _ in candidates.find_contests(small, quick=True)[0]:
        result = evaluate(dataclasses.replace(ours, points=ours.points[:1]), small, cv=2)
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
    contests = [as_candidate(cls) for cls in classes]
    started, budget = time.monotonic(), 14 * slowness()
    results = run(contests, cancer, budget=budget, jobs=2)
    assert time.monotonic() - started < budget + 2 * slowness()
    outcome = {name: result.error for name, result in results.items()}
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
    results = run(names, cancer, budget=budget)
    assert time.monotonic() - started < budget + 2 * slowness()
    assert len(results) == 40
    assert {result.error for result in results.values()} <= {pool.STOPPED, pool.NOT_RUN}


@pytest.mark.alone
def test_forty_estimators_are_all_run_and_reported(package, in_folder, capsys):
    package(*FORTY)
    arguments = f"compare --quick --data iris --budget {30 * slowness():.0f} --out forty.html"
    assert cli.main(arguments.split()) == 0
    output = capsys.readouterr()
    assert output.err.count("\n") == 1 + 1 + 41 + 3  # lines: not a terminal
    for cls in FORTY:
        assert len(re.findall(rf"^{cls.__name__} +sklearn_sl +0\.3", output.out, re.M)) == 1
    assert "report: forty.html" in output.out


@pytest.mark.alone
def test_interrupt_leaves_a_report_to_go_on_from(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
        "if __name__ == '__main__':\n"
        "    import test_compare as t\n"
        "    t._discovery.all_estimators = lambda: [t.Majority, t.AHangs]\n"
        "    sys.exit(t.cli.main(['compare', 'iris', '--cv', '3']))\n"
    )
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": THIS_TREE}
    command = [sys.executable, script]
    process = subprocess.Popen(command, start_new_session=True, cwd=tmp_path, **how)
    lines = [process.stderr.readline() for _ in range(4)]
    assert "Majority (sklearn_sl)" in lines[-1]
    os.killpg(process.pid, signal.SIGINT)  # as the terminal does: parent and workers
    output, errors = process.communicate(timeout=20 * slowness())
    assert process.returncode == 130
    assert errors.startswith("sklearn_sl compare: interrupted; the report has the results so far")
    assert "not run: 1 estimator (interrupted; --resume continues with them): AHangs" in output
    text = (tmp_path / "report.html").read_text()
    assert "The run was interrupted" in text
    known = state.load(tmp_path / "report.html").values()
    assert {(result.name, len(result.folds)) for result in known} == {
        ("DummyClassifier", 3),
        ("Majority", 3),
    }


def test_resumed_run_repeats_nothing_but_what_has_changed(package, in_folder, capsys):
    package(Majority, Raises)
    command = ["compare", "iris", "--cv", "3", "--resume"]
    assert cli.main(command) == 0
    assert "3 candidates;" in capsys.readouterr().err
    page = (in_folder / "report.html").read_text()
    assert cli.main(command) == 0
    errors = capsys.readouterr().err
    assert "3 candidates, 2 of them known from report.html" in errors
    assert "Majority (sklearn_sl)" not in errors.split("looking")[0]
    assert "Raises (sklearn_sl): ValueError" in errors  # what failed is tried again
    assert (in_folder / "report.html").read_text() == page


def test_what_a_score_depends_on_changes_its_key(cancer):
    svc = candidates.candidate(SVC, candidates.OURS, {"C": [1.0]}, seed=0)
    ruling = metrics.metrics_of(cancer)
    other = dataclasses.replace(cancer, y=1 - cancer.y)
    keys = [
        state.key_of(cancer, svc, ruling, 3, 0),
        state.key_of(cancer, svc, ruling, 3, 1),
        state.key_of(cancer, svc, ruling, 4, 0),
        state.key_of(cancer, svc, metrics.metrics_of(cancer, "roc_auc"), 3, 0),
        state.key_of(cancer, dataclasses.replace(svc, points=({"C": 2.0},)), ruling, 3, 0),
        state.key_of(other, svc, ruling, 3, 0),
        state.key_of(dataclasses.replace(cancer, name="other"), svc, ruling, 3, 0),
    ]
    assert len(set(keys)) == len(keys)
    assert state.key_of(data.load("breast_cancer", cv=3), svc, ruling, 3, 0) == keys[0]


def test_stopped_candidate_goes_on_from_the_folds_it_has_done(cancer):
    class Worker:
        def __init__(self, datasets):
            self.ready, self.entry, self.sent = True, None, []

        def send(self, task, dataset, candidate, number, **options):
            self.sent.append((candidate.name, number))

        def kill(self):
            pass

    class Race(pool.Race):
        def replace(self, worker):
            self.workers.remove(worker)

    two = [as_candidate(AHangs), as_candidate(Majority)]
    ruling = [metrics.metrics_of(cancer)]
    race_ = Race([cancer], [(0, c) for c in two], ruling, cv=3, seed=0, progress=progress.Silent())
    race_.workers.append(Worker([cancer]))
    race_.assign()
    worker = race_.workers[0]
    worker.receive = lambda: race.run_fold(
        cancer, two[1], 0, cv=3, seed=0, metrics=ruling[0]
    )  # an answer like that of any fold
    race_.hear(worker, worker.entry)
    assert worker.sent == [("AHangs", 0), ("AHangs", 1)]
    race_.stop(worker)
    assert (len(race_.queue), len(race_.stopped), race_.results) == (1, 1, [])
    race_.queue.popleft()
    race_.workers.append(Worker([cancer]))
    race_.assign()
    assert race_.workers[0].sent == [("AHangs", 1)]
    race_.stop(race_.workers[0])
    assert [(r.error, len(r.folds)) for r in race_.results] == [(pool.STOPPED, 1)]
