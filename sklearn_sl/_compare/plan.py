"""The command ``plan``: how much data is needed."""

import argparse
import json
import math
import re

from sklearn_sl import _discovery
from sklearn_sl._compare.candidates import OURS, candidate, check_names
from sklearn_sl._compare.data import load
from sklearn_sl._compare.race import model_of
from sklearn_sl._compare.table import InputError, did_you_mean
from sklearn_sl.theory import log_class_size, sample_size
from sklearn_sl.theory._pac import FAMILIES

POWER = re.compile(r"([0-9]+)(?:(?:\*\*|\^)([0-9]+))?")


def log_of_count(text):
    """Return the natural logarithm of a count such as ``1000``, ``3**20`` or ``2^64``."""
    parts = POWER.fullmatch(text.replace("_", "").replace(",", ""))
    base = int(parts[1]) if parts else 0
    if base < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number >= 1, or a power such as 3**20")
    return float(parts[2] or 1) * math.log(base)


def plan(options, argv):
    """Print the plan; return the exit status."""
    known = {
        "log_n_hypotheses": size_of_class(options),
        "n_ends": options.ends,
        "margin": options.margin,
        "radius": options.radius,
        "vc_dimension": options.vc_dimension,
        "n_kept": options.kept,
        "lipschitz": options.lipschitz,
        "norm": options.norm,
        "error": options.error,
        "n_compared": options.compared,
    }
    if options.data is not None:
        known.update(pilot(options))
    elif options.estimator is not None or options.target is not None:
        raise InputError("--estimator and --target are for a pilot: name its FILE, too")
    try:
        answer = sample_size(options.epsilon, options.delta, **known)
    except ValueError as error:
        raise InputError(" ".join(str(error).split())) from error
    print(json.dumps(answer.to_dict(), indent=2) if options.json else answer)
    if options.picture is not None:
        save_picture(answer, options.picture)
    return 0


def size_of_class(options):
    """Return the logarithm of the size of a finite class, or None."""
    if options.family is None:
        return options.hypotheses
    if options.hypotheses is not None:
        raise InputError("--hypotheses and --family both say the size of a class: give one")
    name, size = options.family
    if name not in FAMILIES:
        hint = did_you_mean(name, FAMILIES) or f"; there are {', '.join(FAMILIES)}"
        raise InputError(f"no family {name!r}{hint}")
    if not (size.isascii() and size.isdigit()):
        raise InputError(f"--family {name!r} needs a whole number of variables; got {size!r}")
    return log_class_size(name, int(size))


def pilot(options):
    """Return the classifier and the samples of a pilot, as arguments of ``sample_size``."""
    name = options.estimator or "SVC"
    check_names([name])
    dataset = load(options.data, options.target, cv=options.cv)
    if dataset.task != "classification":
        raise InputError(f"a plan is for a classification; the target of {options.data} has values")
    (cls,) = (cls for cls in _discovery.all_estimators() if cls.__name__ == name)
    estimator = model_of(candidate(cls, OURS, {}, options.seed).estimator, dataset)
    return {
        "estimator": estimator,
        "X": dataset.X,
        "y": dataset.y,
        "cv": options.cv,
        "random_state": options.seed,
        "n_jobs": options.jobs,
    }


def save_picture(answer, path):
    """Save the picture of a plan."""
    # Imported here: without a picture no matplotlib is needed.
    from sklearn_sl.inspection import SampleSizeDisplay

    try:
        SampleSizeDisplay.from_plan(answer).figure_.savefig(path)
    except (ImportError, OSError, ValueError) as error:
        raise InputError(f"no picture {path!r}: {error}") from error
