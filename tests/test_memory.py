"""Too little memory is a MemoryError that leaves the estimator as it was, in finite time."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from _scripts import script_environment

from sklearn_sl import _memory
from sklearn_sl._memory import address_space_left, available_memory, check_memory, memory_errors

linux = pytest.mark.skipif(sys.platform != "linux", reason="address space is limited on Linux")


def ends_of_fits(n_samples, limits, *names):
    """Return how fits of estimators end under limits, by a description of each."""
    script = Path(__file__).with_name("_little_memory.py")
    environment = script_environment(OPENBLAS_NUM_THREADS="2", OMP_NUM_THREADS="2")
    run = subprocess.run(
        [sys.executable, script, str(n_samples), limits, *names],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(run.stdout)


def unexpected(ends):
    """Return the ends that are neither a fit nor a MemoryError after which nothing is changed."""
    return {case: end for case, end in ends.items() if end not in ("fitted", "MemoryError")}


@linux
def test_fits_by_several_threads_end_with_little_memory():
    names = ("DecisionTreeClassifierCV", "AdaBoostClassifier")
    ends = ends_of_fits(20_000, "2,15,80,110", *names)
    assert unexpected(ends) == {}
    assert set(ends.values()) == {"fitted", "MemoryError"}


@linux
@pytest.mark.slow
@pytest.mark.parametrize("n_samples", [600, 3000])
def test_every_fit_ends_with_little_memory(n_samples):
    assert unexpected(ends_of_fits(n_samples, "1,8,30,80,150")) == {}


@pytest.mark.parametrize(
    "error",
    [RuntimeError("can't start new thread"), RuntimeError("SUPERLU_MALLOC fails"), OSError(12, "")],
    ids=repr,
)
def test_what_other_libraries_say_of_memory_is_a_memory_error(error):
    with pytest.raises(MemoryError, match="too little memory"), memory_errors():
        raise error


@pytest.mark.parametrize("error", [RuntimeError("generator raised"), OSError(2, "")], ids=repr)
def test_other_errors_stay_what_they_are(error):
    with pytest.raises(type(error)) as caught, memory_errors():
        raise error
    assert caught.value is error


def test_refusal_of_an_array_is_a_memory_error_and_a_value_error():
    for kind in (MemoryError, ValueError):
        with pytest.raises(kind, match=r"The table needs .* use less"):
            check_memory(2**60, "The table", "use less.")


def test_limit_of_the_process_counts(monkeypatch):
    monkeypatch.setattr(_memory, "address_space_left", lambda: 1234)
    assert available_memory() == 1234
    monkeypatch.undo()
    assert address_space_left() is None or address_space_left() >= 0
