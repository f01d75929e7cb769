"""Damaged model files: what a fitted model becomes if a number or an array of its pickle changes.

A damaged model may answer wrongly or raise an error, but must not crash the interpreter, hang, or
ask for memory without end. Run as a script, this file loads the damaged models of a file one by
one and asks them all that a model can be asked; it says which one it is about to load, so that the
process that started it knows whom to blame.
"""

import collections
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
import traceback
import warnings

import numpy as np

from sklearn_sl._discovery import public_modules

FAR = 10**8
MOST_MEMORY = 3 * 2**30
Case = collections.namedtuple("Case", "name pickled X y", module="_damage")


# ---------------------------------------------------------------- damage


class Damager(pickle._Pickler):
    """Pickles a model with one of its numbers or arrays, that of this ``number``, changed.

    ``change`` is a function of the number or array. What belongs to scikit-learn, or to the random
    generators of NumPy, stays as it is: it is not ours to check.
    """

    def __init__(self, file, number=None, change=None):
        super().__init__(file, protocol=4)
        self.number, self.change = number, change
        self.found, self.key, self.foreign = [], None, False

    def save(self, obj, save_persistent_id=True):
        if self.foreign:
            return super().save(obj, save_persistent_id)
        if isinstance(obj, np.ndarray | int | np.integer) and not isinstance(obj, bool):
            if len(self.found) == self.number:
                obj = self.change(obj)
            self.found.append((self.key, obj))
        elif isinstance(obj, str):
            self.key = obj
        self.foreign = is_foreign(obj)
        try:
            super().save(obj, save_persistent_id)
        finally:
            self.foreign = False


def is_foreign(obj):
    """Return whether an object says itself how it is pickled, or belongs to another package."""
    if isinstance(obj, np.ndarray | np.generic | np.dtype):
        return True
    return type(obj).__module__.startswith(("sklearn.", "numpy.random"))


def numbers_of(model):
    """Return the numbers and arrays of a model, in the order of its pickle."""
    damager = Damager(io.BytesIO())
    damager.dump(model)
    return damager.found


def damaged(model, number, change):
    """Return the pickle of a model with one of its numbers or arrays changed."""
    file = io.BytesIO()
    Damager(file, number, change).dump(model)
    return file.getvalue()


def put(place, value, field=None):
    """Return a function that changes one entry of an array."""

    def change(array):
        array = array.copy()
        entries = (array if field is None else array[field]).reshape(-1)
        part = np.asarray(value).astype(entries.dtype)
        if field is None:
            flat = array.reshape(-1)
            flat[place] = part
            return flat.reshape(array.shape)
        flat = array.reshape(-1)
        flat[field][place] = part
        return flat.reshape(array.shape)

    return change


def changes(value):
    """Return ``{name: function}`` of the ways to damage a number or an array."""
    if not isinstance(value, np.ndarray):
        return {f"is {n}": (lambda _, n=n: n) for n in (FAR, -FAR, -1, 0, value + 1)}
    ways = {
        "is empty": lambda a: a[:0].copy(),
        "is shorter": lambda a: a[:-1].copy(),
        "is longer": lambda a: np.concatenate([a, a]),
        "is flat": lambda a: a.reshape(-1) if a.ndim > 1 else a.reshape(1, -1),
        "is of another type": other_type,
        "is strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    }
    if value.ndim == 0:
        return {"is of another type": ways["is of another type"]}
    if not value.size:
        return {"is longer": lambda a: np.zeros((2, *a.shape[1:]), a.dtype)}
    for field in value.dtype.names or [None]:
        kind = (value.dtype if field is None else value.dtype[field]).kind
        for place, number in itertools.product(places(value.size), NUMBERS.get(kind, [])):
            number = len(value) if number is None else number
            of = "" if field is None else f" of {field}"
            ways[f"has {number} in place {place}{of}"] = put(place, number, field)
    return ways


NUMBERS = {
    "i": [FAR, -FAR, -1, 0, None],
    "u": [FAR, 0, None],
    "b": [True, False],
    "f": [float("nan"), float("inf"), 1e8, -1e8, -1.0],
}


def places(size):
    """Return the first, the last, and one place between."""
    return sorted({0, size // 2, size - 1})


def other_type(array):
    """Return the numbers in another type."""
    if array.dtype.names:
        return array[array.dtype.names[0]].copy()
    others = {"i": np.int16, "u": np.int64, "f": np.float32, "b": np.int64}
    return array.astype(others.get(array.dtype.kind, object))


def cases(model, name, X, y):
    """Return an iterator over all damaged versions of a model."""
    for number, (key, value) in enumerate(numbers_of(model)):
        for way, change in changes(value).items():
            yield Case(
                f"{name}: number {number}, {key}, {way}", damaged(model, number, change), X, y
            )


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
    "kneighbors",
)


def ask(model, X, y):
    """Ask a model whatever a model can be asked; an error ends the question, not the others."""
    for name in QUESTIONS:
        if hasattr(type(model), name):
            attempt(lambda name=name: consume(getattr(model, name)(as_told(model, X))))
    for name in dir(type(model)):
        if name.endswith("_") and not name.startswith("_"):
            attempt(lambda name=name: getattr(model, name))
    if hasattr(type(model), "partial_fit"):
        attempt(lambda: model.partial_fit(as_told(model, X), y))
        attempt(lambda: model.predict(as_told(model, X)))


def consume(answer):
    """Run a generator to its end."""
    return list(answer) if hasattr(answer, "__next__") else answer


def attempt(question):
    """Allow a question to fail, but for want of memory or by a fault of the interpreter."""
    try:
        question()
    except (MemoryError, SystemError, RecursionError):
        raise
    except Exception as error:
        if "allocate" in str(error):
            raise MemoryError(str(error)) from error


def as_told(model, X):
    """Return the samples with as many features as the model says it knows."""
    told = getattr(model, "n_features_in_", None)
    if isinstance(told, int) and hasattr(X, "shape") and 0 < told < X.shape[1]:
        return X[:, :told]
    return X


def load_and_ask(case):
    """Return how it went: "loaded", or the error of loading."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = pickle.loads(case.pickled)
        except ValueError as error:
            return f"refused {error}"
        ask(model, case.X, case.y)
    return "loaded"


# ---------------------------------------------------------------- processes


def outcomes(batch, *, seconds=10):
    """Return ``{name: outcome}`` of cases that are loaded in processes of their own.

    The outcome is "loaded", "refused" with a message, or what went wrong. No case may take more
    than so many ``seconds``.
    """
    run = subprocess.run(
        [sys.executable, __file__],
        input=pickle.dumps((seconds, batch)),
        stdout=subprocess.PIPE,
        check=True,
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
            found[left[len(said)].name] = f"ends with status {status}: {errors}"
    return found


def in_child(work):
    """Return the lines that a forked process prints, its errors, and how it ends."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        child = os.fork()
        if not child:
            os.dup2(out.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            work()
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0), errors.seek(0)
        return [json.loads(line) for line in out], errors.read(), status


def go_through(batch, seconds):
    """Print one line for each case."""
    faulthandler.enable()
    for case in batch:
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
