"""``python -m sklearn_sl plan``: the planner of sample sizes from the shell."""

import json

import pytest

from sklearn_sl._compare import cli
from sklearn_sl.theory import log_class_size, sample_size


def told(arguments, capsys):
    """Return what the command prints."""
    assert cli.main(["plan", *arguments.split()]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "known"),
    [
        ("--epsilon 0.1 --hypotheses 1000", {"n_hypotheses": 1000}),
        ("--epsilon 0.1 --delta 0.01 --hypotheses 3**500", {"n_hypotheses": 3**500}),
        ("--epsilon 0.1 --hypotheses 2^9 --error 0.05", {"n_hypotheses": 512, "error": 0.05}),
        (
            "--epsilon 0.1 --family conjunctions 20 --compared 7",
            {"log_n_hypotheses": log_class_size("conjunctions", 20), "n_compared": 7},
        ),
        ("--epsilon 0.1 --margin 0.2 --radius 3", {"margin": 0.2, "radius": 3.0}),
        ("--epsilon 0.1 --ends 4", {"n_ends": 4}),
        ("--epsilon 0.1 --vc-dimension 3 --kept 20", {"vc_dimension": 3, "n_kept": 20}),
        ("--epsilon 0.1 --lipschitz 2 --norm 0.5", {"lipschitz": 2.0, "norm": 0.5}),
    ],
)
def test_plan_is_that_of_the_function(arguments, known, capsys):
    delta = 0.01 if "--delta" in arguments else 0.05
    expected = sample_size(0.1, delta, **known)
    assert told(arguments, capsys) == f"{expected}\n"
    assert json.loads(told(f"{arguments} --json", capsys)) == expected.to_dict()


def test_pilot_of_a_bundled_data_set(capsys, tmp_path):
    pilot = "iris --estimator DecisionTreeClassifier --cv 3 --json"
    plan = json.loads(told(f"--epsilon 0.05 {pilot}", capsys))
    assert {row["purpose"] for row in plan["rows"]} == {"extrapolated", "test"}
    assert plan["curve"]["sizes"][-1] == 100
    assert max(plan["curve"]["errors"]) < 0.8


def test_pilot_of_a_file(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i % 17},{i % 5},{'yes' if i % 17 > 8 else 'no'}\n" for i in range(90))
    (tmp_path / "pilot.csv").write_text("a,b,label\n" + rows)
    text = told("--epsilon 0.05 pilot.csv --target label --cv 3", capsys)
    assert "Training samples, extrapolated from the pilot" in text


def test_picture_is_saved(tmp_path, capsys):
    path = tmp_path / "plan.png"
    told(f"--epsilon 0.1 --hypotheses 10 --picture {path}", capsys)
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "required: --epsilon"),
        ("--epsilon 2", "'2' is not a number from 0 to 1"),
        ("--epsilon 0.1 --hypotheses 0", "'0' is not a number >= 1, or a power"),
        ("--epsilon 0.1 --hypotheses lots", "'lots' is not a number >= 1"),
        ("--epsilon 0.1 --hypotheses 5 --family conjunctions 3", "give one"),
        ("--epsilon 0.1 --family conjunction 3", "did you mean"),
        ("--epsilon 0.1 --family conjunctions x", "whole number of variables"),
        ("--epsilon 0.1 --margin 0", "margin must be > 0"),
        ("--epsilon 0.1 --norm 1", "both lipschitz and norm"),
        ("--epsilon 0.1 --estimator SVC", "name its FILE"),
        ("--epsilon 0.1 iris --estimator SVM", "no estimator 'SVM'"),
        ("--epsilon 0.1 diabetes", "a plan is for a classification"),
        ("--epsilon 0.1 iris --estimator SVR", "estimator must be a classifier"),
        ("--epsilon 0.1 --picture plan.nothing", "no picture 'plan.nothing'"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments, message, capsys):
    assert cli.main(["plan", *arguments.split()]) == 2
    error = capsys.readouterr().err
    assert error.startswith("sklearn_sl plan: error: ")
    assert error.count("\n") == 1
    assert message in error
