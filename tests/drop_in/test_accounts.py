"""The list of deviations from scikit-learn's tests, and the accounts of a run."""

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from drop_in.accounts import REASONS, Accounts, Deviations, read_deviations

HERE = Path(__file__).parent
MODULE = "svm/tests/test_svm.py"


def deviations(floor=0.0, modules=(MODULE,), **tests):
    """Return a list with tests of one module, by reason."""
    listed = {reason: dict.fromkeys(names, "because") for reason, names in tests.items()}
    return Deviations(
        {"scikit-learn": "1.9", "floor": floor, "modules": modules, "tests": {MODULE: listed}}
    )


def report(name, outcome="passed", **attributes):
    """Return a report of pytest about a test that has made an estimator of ours."""
    return SimpleNamespace(
        **{
            "nodeid": f"sklearn/{MODULE}::{name}",
            "when": "call",
            "outcome": outcome,
            "concerns_us": True,
            **attributes,
        }
    )


def accounts_of(deviations, *reports):
    """Return the accounts of these reports, closed."""
    accounts = Accounts(deviations)
    for one in reports:
        accounts.enter(one)
    accounts.close(whole=True)
    return accounts


@pytest.mark.parametrize(
    ("name", "test", "covered"),
    [
        ("test_fit", "test_fit", True),
        ("test_fit", "test_fit[a-b]", True),
        ("test_fit", "test_fit_twice", False),
        ("test_fit[a-b]", "test_fit[a-b]", True),
        ("test_fit[a-b]", "test_fit[a-c]", False),
        ("test_fit[a-*]", "test_fit[a-c]", True),
        ("test_fit[a.b]", "test_fit[a-b]", False),
    ],
)
def test_an_entry_stands_for_a_test_or_for_its_parametrisations(name, test, covered):
    listed = deviations(message=[name])
    assert (listed.of(f"sklearn/{MODULE}::{test}") is not None) == covered
    assert listed.of(f"sklearn/tree/tests/test_tree.py::{test}") is None


def test_share_leaves_private_tests_out():
    listed = deviations(private=["test_a"], message=["test_b"])
    accounts = accounts_of(
        listed,
        report("test_a", "skipped", wasxfail="private"),
        report("test_b", "skipped", wasxfail="message"),
        report("test_c"),
        report("test_d"),
        report("test_e", "failed"),
        report("test_f", "skipped"),
        report("test_g", concerns_us=False),
    )
    assert accounts.count() == {"private": 1, "message": 1, "passed": 2, "failed": 1}
    assert accounts.table().splitlines()[-2].split()[-1] == "50.0%"


def test_a_share_below_the_floor_is_complained_of():
    reports = [report("test_a"), report("test_b", "failed")]
    assert accounts_of(deviations(floor=0.5), *reports).complaints == []
    assert len(accounts_of(deviations(floor=0.51), *reports).complaints) == 1


def test_an_entry_without_a_test_is_complained_of():
    accounts = accounts_of(deviations(message=["test_gone"]), report("test_a"))
    assert accounts.complaints == [
        f"{MODULE}::test_gone is on the list, but there is no such test."
    ]


def test_the_list_gives_a_known_reason_and_a_sentence_for_each_test():
    listed = read_deviations()
    assert {entry.reason for entry in listed.entries} <= REASONS.keys()
    assert {entry.module for entry in listed.entries} <= set(listed.modules)
    assert all(entry.why for entry in listed.entries)


# scikit-learn's tests as they could be: one that passes, one that fails, and one that we fail.
TESTS = """
from sklearn import svm
from sklearn.ensemble import BaggingClassifier
from sklearn.svm import SVC

def test_class_is_ours_by_name_and_by_module():
    assert svm.SVC is SVC and SVC.__module__.startswith("sklearn_sl")

def test_scikit_learn_itself_keeps_its_classes():
    from sklearn.svm._classes import SVC as theirs
    assert theirs is not SVC and isinstance(SVC(), SVC)

def test_that_fails():
    assert SVC().C == 2
"""

# A test of every estimator: of ours, of one that holds one of ours, and of others, which fails.
COMMON = """
import pytest
from sklearn.ensemble import StackingRegressor
from sklearn.linear_model import Ridge
from sklearn.svm import SVR

@pytest.mark.parametrize("estimator", [SVR(), StackingRegressor([("svr", SVR())]), Ridge()])
def test_estimator(estimator):
    assert not isinstance(estimator, Ridge)
"""


@pytest.mark.parametrize(
    ("listed", "status"),
    [
        ([], 1),
        (["test_that_fails"], 0),
        (["test_that_fails", "test_scikit_learn_itself_keeps_its_classes"], 1),
    ],
)
def test_a_new_failure_and_a_listed_test_that_passes_fail_the_run(tmp_path, listed, status):
    (tmp_path / "sklearn").mkdir()
    (tmp_path / "sklearn" / "test_it.py").write_text(TESTS)
    (tmp_path / "sklearn" / "test_common.py").write_text(COMMON)
    lines = ["scikit-learn = '1'", "floor = 0.1", "modules = []", "common = ['test_common.py']"]
    lines += ["[tests.'test_it.py'.message]"]
    (tmp_path / "list.toml").write_text("\n".join([*lines, *(f"{name} = ''" for name in listed)]))
    program = (
        "import sys, pytest; from pathlib import Path; from drop_in import accounts; "
        f"accounts.LIST = Path({str(tmp_path / 'list.toml')!r}); "
        "sys.exit(pytest.main(['-c', 'none.ini', '-p', 'drop_in.plugin', '--rootdir=.', '.']))"
    )
    (tmp_path / "none.ini").write_text("[pytest]\n")
    path = f"{HERE.parent}:{HERE.parents[1]}"
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": path},
    )
    assert run.returncode == status, run.stdout + run.stderr
    assert "tests of our classes" in run.stdout
    assert "1 deselected" in run.stdout
    assert re.search(r"test_common\.py +2 +2 ", run.stdout), run.stdout
