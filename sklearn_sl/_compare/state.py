"""The results of a run inside its report, from where a later run goes on."""

import dataclasses
import hashlib
import json
import math
import re

import sklearn

from sklearn_sl import __version__
from sklearn_sl._compare.race import Fold, Result
from sklearn_sl._compare.table import InputError

BLOCK = re.compile(r'<script type="application/json" id="state">(.*?)</script>', re.DOTALL)


def key_of(dataset, candidate, metrics, cv, seed):
    """Return a text that changes with whatever a score depends on."""
    digest = hashlib.sha256()
    for array in (dataset.X, dataset.y, dataset.unlabelled):
        digest.update(array.tobytes())
    about = (dataset.name, dataset.X.shape, dataset.categorical, metrics, cv, seed, __version__)
    about += (sklearn.__version__, candidate.library, candidate.estimator, candidate.points)
    digest.update(repr(about).encode())
    return digest.hexdigest()[:32]


def dump(results):
    """Return results, a dict by key, as text that can be part of a page."""
    known = {key: dataclasses.asdict(result) for key, result in results.items() if result.ran}
    return json.dumps(without_nan(known), separators=(",", ":")).replace("<", "\\u003c")


def without_nan(item):
    """Return the item with None where there are numbers that JSON has not."""
    if isinstance(item, dict):
        return {key: without_nan(value) for key, value in item.items()}
    if isinstance(item, (list, tuple)):
        return [without_nan(value) for value in item]
    return None if isinstance(item, float) and not math.isfinite(item) else item


def load(path):
    """Return the results in a report by key; none if there is no report.

    Raises
    ------
    InputError
        If the file is something else.
    """
    try:
        with open(path, encoding="utf-8") as file:
            found = BLOCK.search(file.read())
        known = json.loads(found[1])
        return {key: result_of(**parts) for key, parts in known.items()}
    except FileNotFoundError:
        return {}
    except (TypeError, ValueError):  # no such block, or none of this version; or no text at all
        raise InputError(
            f"--resume: {path!r} is not a report of this version that can be continued"
        ) from None
    except OSError as error:
        raise InputError(f"--resume: cannot read {path!r}: {error.strerror}") from None


def result_of(folds, **parts):
    return Result(folds=tuple(fold_of(**fold) for fold in folds), **parts)


def fold_of(scores, warnings, **parts):
    scores = {name: math.nan if score is None else score for name, score in scores.items()}
    return Fold(scores=scores, warnings=tuple(warnings), **parts)
