"""Every statement of the courses has a row in doc/theory.rst, or a reason why not."""

import importlib.util
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DATA = tomllib.loads((ROOT / "doc" / "statements.toml").read_text())
THEORY = (ROOT / "doc" / "theory.rst").read_text()
STATEMENTS = DATA["statement"]
# What statements may wait for, and the module that they no longer wait for once it is there.
PARTS = {
    "Gaussian processes": "sklearn_sl.gaussian_process",
    "nearest neighbours": "sklearn_sl.neighbors",
    "neural networks": "sklearn_sl.neural_network",
    "online learning on graphs with other exponents": None,
    "stochastic gradient methods": "sklearn_sl.linear_model",
}


def name_of(statement):
    return f"{statement['course']} {statement['place']}: {statement['text']}"


def named_in_rows():
    """Return the tests that rows of the tables name."""
    rows = THEORY.split("\n   * - ")[1:]
    return {
        f"{p}::{n}" for row in rows for p, n in re.findall(r"``(tests/[\w/]+\.py)::(\w+)``", row)
    }


def test_no_statement_is_missing_or_listed_twice():
    assert Counter(each["course"] for each in STATEMENTS) == DATA["counts"]
    assert set(DATA["counts"]) == set(DATA["courses"])
    assert len({name_of(each) for each in STATEMENTS}) == len(STATEMENTS)


def test_every_statement_has_rows_or_waits_or_is_no_software():
    rows = named_in_rows()
    assert rows
    for each in STATEMENTS:
        assert set(each) <= {"course", "place", "text", "tests", "waits", "none"}, name_of(each)
        assert re.fullmatch(r"\d+(-\d+)?(, \d+(-\d+)?)*", each["place"]), name_of(each)
        assert {"tests", "waits", "none"} & set(each), name_of(each)
        assert set(each.get("tests", ())) <= rows, name_of(each)


def test_what_is_no_software_is_told_to_the_reader():
    text = " ".join(THEORY.split())
    reasons = [each["none"] for each in STATEMENTS if "none" in each]
    assert reasons and all(f"{reason} " in f"{text} " for reason in reasons)


@pytest.mark.parametrize("part", PARTS)
def test_statements_wait_for_parts_that_are_not_there(part):
    assert {each["waits"] for each in STATEMENTS if "waits" in each} <= set(PARTS)
    waiting = [name_of(each) for each in STATEMENTS if each.get("waits") == part]
    there = PARTS[part] is not None and importlib.util.find_spec(PARTS[part]) is not None
    assert not (there and waiting)
