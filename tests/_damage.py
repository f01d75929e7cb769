"""Damaged model files: what a fitted model becomes if a number or an array of its pickle changes.

A damaged model may raise an error or answer wrongly, but must not crash the interpreter, hang, or
ask for memory without end. Run as a script, this file loads damaged models one after the other in a
child process, asks them all that a model can be asked, and says how each of them ended.
"""

import collections
import ctypes
import faulthandler
import io
import itertools
import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zlib

import numpy as np
import scipy.sparse as sp
from _scripts import script_environment
from sklearn.base import BaseEstimator

from sklearn_sl._discovery import public_modules

FAR = 10**8
MOST_MEMORY = 3 * 2**30
# What no damage may lead to; a crash and a hang end the process.
FORBIDDEN = (MemoryError, SystemError, RecursionError)
# Numbers that say how much work is wanted, as parameters do: a large one takes its time.
AMOUNTS = {"n_draws", "n_modes", "n_jobs"}
# The module is named: as a script it has another name.
Case = collections.namedtuple("Case", "name pickled X y", module="_damage")


# ---------------------------------------------------------------- damage


class Damager(pickle._Pickler):
    """Pickles a model and lists its numbers and arrays, one of which may be changed.

    What belongs to scikit-learn, or to the random generators of NumPy, stays as it is: it is not
    ours to check.

    Parameters
    ----------
    file : file
        Where to write.

    place : int, default=None
        The place of the number or array that is changed, in the order of the pickle.

    change : callable, default=None
        What is made of it.

    Attributes
    ----------
    found : list of (str, object)
        The numbers and arrays, each with the last name before it.
    """

    def __init__(self, file, place=None, change=None):
        super().__init__(file, protocol=4)
        self.place, self.change = place, change
        self.found, self._name, self._foreign = [], "", False

    def save(self, obj, save_persistent_id=True):
        if self._foreign:
            super().save(obj, save_persistent_id)
            return
        if isinstance(obj, str):
            self._name = obj
        if is_number_or_array(obj):
            self.found.append((self._name, obj))
            if len(self.found) - 1 == self.place:
                obj = self.change(obj)
        self._foreign = is_foreign(obj)
        super().save(obj, save_persistent_id)
        self._foreign = False


def is_number_or_array(obj):
    """Return whether something can be damaged: an array, an integer or a float."""
    return isinstance(obj, np.ndarray | np.integer | int | float) and not isinstance(obj, bool)


def is_foreign(obj):
    """Return whether an object is pickled in a way that is not ours."""
    if isinstance(obj, np.ndarray | np.generic | np.dtype):
        return True
    return type(obj).__module__.startswith(("sklearn.", "numpy.random"))


def numbers_of(model):
    """Return the numbers and arrays of a model, with their names."""
    damager = Damager(io.BytesIO())
    damager.dump(model)
    return damager.found


def damaged(model, place, change):
    """Return the pickle of a model with one of its numbers or arrays changed."""
    file = io.BytesIO()
    Damager(file, place, change).dump(model)
    return file.getvalue()


def changes(value):
    """Return ``{name: function}`` of the ways to damage a number or an array."""
    if not isinstance(value, np.ndarray):
        others = [FAR, -FAR, -1, 0, value + 1]
        return {f"is {other}": lambda _, other=other: type(value)(other) for other in others}
    if value.size == 0:
        return {"is longer": lambda array: np.zeros((2, *array.shape[1:]), array.dtype)}
    ways = {
        "is of another type": other_type,
        "has another shape": lambda array: array[None] if array.ndim < 2 else array.ravel(),
        **({} if value.ndim == 0 else LENGTHS),
    }
    for field in value.dtype.names or [None]:
        dtype = value.dtype if field is None else value.dtype[field]
        numbers = NUMBERS.get(dtype.kind, ())
        for place, number in itertools.product(places(value.size), numbers):
            number = value.size if number is None else number
            of = "" if field is None else f" of {field}"
            ways[f"has {number} in place {place}{of}"] = entry_changer(field, place, number)
    return ways


LENGTHS = {
    "is empty": lambda array: array[:0].copy(),
    "is shorter": lambda array: array[:-1].copy(),
    "is longer": lambda array: np.concatenate([array, array]),
}
# None is the number of entries.
NUMBERS = {
    "i": (FAR, -FAR, -1, 0, None),
    "u": (FAR, 0, None),
    "f": (np.nan, np.inf, float(FAR), -float(FAR), -1.0),
}


def places(size):
    """Return the first place, the last, and one between."""
    return sorted({0, size // 2, size - 1})


def entry_changer(field, place, number):
    """Return a function that puts a number into a place of an array, or of a field of it."""

    def change(array):
        array = np.array(array)
        flat = array.reshape(-1)
        entries = flat if field is None else flat[field]
        entries[place] = np.asarray(number).astype(entries.dtype)
        return array

    return change


def other_type(array):
    """Return the numbers of an array in another type."""
    if array.dtype.names:
        return array[array.dtype.names[0]].copy()
    others = {"i": np.int16, "u": np.int64, "f": np.float32, "b": np.int64}
    return array.astype(others.get(array.dtype.kind, object))


def cases(name, model, X, y, most=None):
    """Return damaged versions of a model: all of them, or so many, the same ones in every run."""
    ways = [
        (f"{name}: {of} ({place}) {way}", place, change)
        for place, (of, value) in enumerate(numbers_of(model))
        for way, change in changes(value).items()
        if of not in AMOUNTS
    ]
    if most is not None:
        ways = sorted(ways, key=lambda way: zlib.crc32(way[0].encode()))[:most]
    return [Case(title, damaged(model, place, change), X, y) for title, place, change in ways]


# ---------------------------------------------------------------- questions

QUESTIONS = (
    "predict",
    "decision_function",
    "predict_proba",
    "transform",
    "apply",
    "decision_path",
    "predict_path",
    "staged_predict",
)


def ask(model, X, y):
    """Ask a model whatever a model can be asked; an error ends one question, not the others."""
    for name in QUESTIONS:
        attempt(lambda name=name: consume(getattr(model, name)(as_told(model, X))))
    for name in dir(type(model)):
        if name.endswith("_") and not name.startswith("_"):
            attempt(lambda name=name: getattr(model, name))
    if hasattr(type(model), "partial_fit"):
        attempt(lambda: model.partial_fit(as_told(model, X), y))
        attempt(lambda: model.predict(as_told(model, X)))
    if hasattr(type(model), "replay"):
        attempt(lambda: model.replay(X, resume=True))
        attempt(lambda: model.update(model.select(), 0.5))


def consume(answer):
    """Run an iterator to its end."""
    return list(answer) if hasattr(answer, "__next__") else answer


def attempt(question):
    """Allow a question to fail, but not in one of the ways that are forbidden."""
    try:
        question()
    except FORBIDDEN:
        raise
    except Exception as error:
        if "allocate" in str(error):  # turned into another error on its way
            raise MemoryError(str(error)) from error


def as_told(model, X):
    """Return the samples with as many features as the model says it knows."""
    told = getattr(model, "n_features_in_", None)
    has_columns = isinstance(X, np.ndarray) or sp.issparse(X)
    if isinstance(told, int) and has_columns and 0 < told < X.shape[1]:
        return X[:, :told]
    return X


def load_and_ask(case):
    """Return how it went: "loaded", or "refused" with the message."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = pickle.loads(case.pickled)
        except ValueError as error:
            return f"refused: {error}"
        ask(model, case.X, case.y)
    return "loaded"


class Crashes(BaseEstimator):
    """Breaks all rules of this file, so that it can be seen to notice."""

    how = 0

    def predict(self, X):
        if self.how == 1:
            ctypes.string_at(0)
        if self.how == 2:
            time.sleep(3600)
        if self.how == 3:
            raise MemoryError
        return X


# ---------------------------------------------------------------- processes


def outcomes(batch, *, seconds=20):
    """Return ``{name: outcome}`` of cases that are loaded in processes of their own.

    The outcome is "loaded", "refused" with a message, or what went wrong. No case may take more
    than so many ``seconds``.
    """
    run = subprocess.run(
        [sys.executable, __file__],
        input=pickle.dumps((seconds, batch)),
        stdout=subprocess.PIPE,
        check=True,
        env=script_environment(),
    )
    return json.loads(run.stdout)


def serve(seconds, batch):
    """Go through the cases in a child; after a crash go on with the next one in another child."""
    found = {}
    while len(found) < len(batch):
        left = batch[len(found) :]
        said, errors, status = in_child(lambda left=left: go_through(left, seconds))
        found.update(zip((case.name for case in left), said))
        if len(said) < len(left):
            found[left[len(said)].name] = f"ended with status {status}: {errors}"
    return found


def in_child(work):
    """Return the lines that a forked process writes, its errors, and the status of its end."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        child = os.fork()
        if not child:
            os.dup2(out.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            work()
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        errors.seek(0)
        return [json.loads(line) for line in out], errors.read(), status


def go_through(batch, seconds):
    """Write a line for each case."""
    faulthandler.enable()
    for case in batch:
        # Interrupts compiled loops, too.
        faulthandler.dump_traceback_later(seconds, exit=True)
        try:
            outcome = load_and_ask(case)
        except BaseException as error:
            outcome = "".join(traceback.format_exception(error))
        os.write(1, json.dumps(outcome).encode() + b"\n")


if __name__ == "__main__":
    public_modules()  # imports them all, once
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print(json.dumps(serve(*pickle.load(sys.stdin.buffer))))
