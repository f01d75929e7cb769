"""Models that ``compare --save`` leaves, and ``predict``, which applies them."""

import csv
import os

import joblib
import numpy as np
import pytest

from sklearn_sl._compare import candidates, cli, data, metrics, race, report, saved
from sklearn_sl.kernel_ridge import KernelRidge
from sklearn_sl.tree import DecisionTreeClassifier

N = 60
RNG = np.random.default_rng(0)
KINDS = ["u", "v", "w"] * (N // 3)
SIZES = RNG.normal(size=N).round(3)
RED = ["red" if size > 0 else "blue" for size in SIZES]
WEIGHTS = 2e200 * (SIZES + 3.0)  # measured in a small unit


def write(path, **columns):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([columns, *zip(*columns.values())])
    return str(path)


def save(path, folder, estimator, target, **options):
    """Save a model as ``compare`` does; return what it predicts from."""
    written = write(folder / "data.csv", kind=KINDS, size=SIZES, y=target)
    dataset = data.load(written, "y", cv=3, **options)
    candidate = candidates.candidate(estimator, candidates.OURS, {}, seed=0)
    ruling = metrics.metrics_of(dataset)
    found = []
    for each in (candidates.baseline(dataset.task), candidate):
        folds = [race.run_fold(dataset, each, n, cv=3, seed=0, metrics=ruling) for n in range(3)]
        found.append(race.Result.of(each, dataset, ruling[0].scorer, folds))
    section = report.Section(dataset, ruling, found, 3)
    known = {(candidate.library, candidate.name): candidate}
    name = saved.save_winner(str(path), section, known, seed=0)
    assert name == f"{estimator.__name__} of sklearn_sl"
    return dataset


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def predicted(capsys, *arguments):
    """Return the rows that ``predict`` prints, and what it says."""
    assert cli.main(["predict", *arguments]) == 0
    output = capsys.readouterr()
    return list(csv.DictReader(output.out.splitlines())), output.err


@pytest.mark.parametrize("end", ["skops", "joblib"])
def test_classes_are_predicted_from_a_file(end, in_folder, capsys):
    if end == "skops":
        pytest.importorskip("skops")
    model = f"best.{end}"
    save(model, in_folder, DecisionTreeClassifier, RED)
    rows, said = predicted(capsys, model, "data.csv")
    assert [row["predicted y"] for row in rows] == RED
    assert all(float(row[f"probability of {row['y']}"]) == 1.0 for row in rows)
    assert said == "accuracy on 60 rows with a target, if the model did not learn from them: 1\n"
    # Other columns, in another order, and a category that was never seen.
    write("new.csv", more=[1, 2], size=[1.0, -1.0], kind=["new", "u"])
    rows, said = predicted(capsys, model, "new.csv")
    assert [row["predicted y"] for row in rows] == ["red", "blue"]
    assert "column 'kind': 1 values that the model does not know, such as 'new'" in said


def test_numbers_are_predicted_in_their_unit(in_folder, capsys):
    dataset = save("best.joblib", in_folder, KernelRidge, WEIGHTS)
    assert dataset.exponent > 0
    assert cli.main(["predict", "best.joblib", "data.csv", "--out", "out.csv"]) == 0
    with open("out.csv", newline="") as file:
        answers = [float(row["predicted y"]) for row in csv.DictReader(file)]
    # Without squares, which overflow.
    assert np.median(np.abs(np.divide(answers, WEIGHTS) - 1)) < 0.2
    assert "R2 on 60 rows" in capsys.readouterr().err


def test_card_says_what_the_model_is_and_how_good(in_folder):
    save("best.joblib", in_folder, DecisionTreeClassifier, RED)
    card = (in_folder / "best.md").read_text()
    for piece in (
        "# DecisionTreeClassifier for data.csv",
        "Predicts `y` (classification)",
        "- accuracy: ",
        "without looking at the features: 0.",
        "Features: `kind`, `size`",
        "scikit-learn 1.",
    ):
        assert piece in card


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("nothing.skops data.csv", "no file 'nothing.skops': save a model with compare --save"),
        ("data.csv data.csv", "'data.csv' is not a model saved by compare --save"),
        ("other.joblib data.csv", "'other.joblib' is not a model saved by compare --save"),
        ("best.joblib few.csv", "'few.csv' has no column 'size', which the model needs; did you"),
        ("best.joblib twice.csv", "'twice.csv' has several columns named 'size': rename all but"),
        ("best.joblib nothing.csv", "cannot read 'nothing.csv'"),
    ],
)
def test_what_cannot_be_predicted_is_one_line_and_status_2(arguments, message, in_folder, capsys):
    save("best.joblib", in_folder, DecisionTreeClassifier, RED)
    joblib.dump([1, 2], "other.joblib")
    (in_folder / "twice.csv").write_text("kind,size,size\nu,1,2\n")
    write("few.csv", kind=["u"], sizes=[1.0])
    assert cli.main(["predict", *arguments.split()]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith("sklearn_sl predict: error: ")
    assert errors.count("\n") == 1
    assert message in errors


def test_skops_file_with_foreign_objects_is_refused(in_folder, capsys):
    skops_io = pytest.importorskip("skops.io")
    skops_io.dump({"format": 1, "model": os.path.join}, "odd.skops")
    assert cli.main(["predict", "odd.skops", "data.csv"]) == 2
    assert "which a model saved by compare does not have" in capsys.readouterr().err


@pytest.mark.parametrize("path", ["nowhere/best.skops", "report.html", "report.md", "."])
def test_place_where_no_model_can_be_saved_is_refused_before_the_race(path, in_folder, capsys):
    arguments = ["compare", "iris", "--save", path, "--out", "report.html"]
    if path == "report.md":
        arguments[-1] = "report.md"
    assert cli.main(arguments) == 2
    assert "--save" in capsys.readouterr().err
