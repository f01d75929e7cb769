"""The winner as a file, with a model card beside it, and predictions for the rows of a file."""

import csv
import dataclasses
import importlib.util
import os
import sys
import warnings

import joblib
import numpy as np
import scipy
from sklearn.metrics import accuracy_score, r2_score
from sklearn.tree import DecisionTreeClassifier

from sklearn_sl import _discovery
from sklearn_sl._compare import report
from sklearn_sl._compare.candidates import BASELINE
from sklearn_sl._compare.features import Feature
from sklearn_sl._compare.race import in_words, self_chosen, training_part, tuned
from sklearn_sl._compare.table import (
    InputError,
    as_number,
    did_you_mean,
    is_missing,
    parse_column,
    read_table,
)

SKOPS = ".skops"
FORMAT = 1


# --- saving ---------------------------------------------------------------------


def check_model_path(path, report_path):
    """Refuse a name under which no model can be saved, before the race and not after it."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder) or os.path.isdir(path):
        raise InputError(f"--save {path!r} is not the name of a file in a folder that exists")
    if card_path(path) in (path, report_path) or path == report_path:
        raise InputError(f"--save {path!r}: this name is taken by the report or the model card")
    if path.endswith(SKOPS) and importlib.util.find_spec("skops") is None:
        raise InputError(f"--save {path!r} needs skops (pip install skops); or save a .joblib file")


def card_path(path):
    return f"{os.path.splitext(path)[0]}.md"


def save_winner(path, section, candidates, seed):
    """Fit the best candidate on all rows, save it with its card, and return its name.

    Parameters
    ----------
    path : str
        Ends in ".skops", or joblib is used.
    section : Section
    candidates : dict
        By library and name.
    seed : int
        Of the folds in which its parameters are chosen again, now from all rows.
    """
    best = next((result for result in section.ran if result.library != BASELINE), None)
    if best is None:
        return None
    dataset, candidate = section.dataset, candidates[best.library, best.name]
    X, y = training_part(candidate, dataset, np.arange(len(dataset.y)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are in the report
        model, chosen = tuned(candidate, dataset, X, y, seed, section.metrics[0])
    parts = {
        "format": FORMAT,
        "model": model,
        "features": [dataclasses.asdict(feature) for feature in dataset.features],
        "target": dataset.target,
        "classes": list(dataset.class_names),
        "exponent": dataset.exponent,
    }
    try:
        dump(parts, path)
        with open(card_path(path), "w", encoding="utf-8") as file:
            file.write(model_card(section, best, settings_of(candidate, model, chosen), path))
    except OSError as error:
        raise InputError(f"cannot write {path!r}: {error.strerror}") from None
    return f"{best.name} of {best.library}"


def settings_of(candidate, model, chosen):
    steps = getattr(model, "regressor_", model)
    return in_words(candidate.points[chosen] or self_chosen(steps[-1]))


def dump(parts, path):
    if path.endswith(SKOPS):
        import skops.io

        skops.io.dump(parts, path)
    else:
        joblib.dump(parts, path)


def model_card(section, result, settings, path):
    """Return what must be known about a model by those who use it, in Markdown."""
    dataset, metric = section.dataset, section.metrics[0]
    base = next((other for other in section.ran if other.library == BASELINE), None)
    against = f" (without looking at the features: {report.shown(base, metric)})" if base else ""
    scores = [
        f"- {m.label}: {report.shown(result, m)}{against if m is metric else ''}"
        for m in section.metrics
        if np.isfinite(np.mean(result.scores(m.scorer)))
    ]
    lines = [
        f"# {result.name} for {dataset.name}",
        "",
        f"Predicts `{dataset.target or 'the target'}` ({dataset.task}). Made by "
        f"`sklearn_sl compare`; `python -m sklearn_sl predict {path} FILE` applies it.",
        "",
        "## Model",
        "",
        f"- estimator: {result.name} of {result.library}, {settings}",
        *(f"- {name}: {value:.2g}" for name, value in result.certificates.items()),
        "",
        "## Scores",
        "",
        f"Means over {section.cv} folds of rows that were not learnt from; the saved model was "
        "then fitted on all rows. The best of many candidates is a little less good than its score "
        "says.",
        "",
        *scores,
        "",
        "## Data",
        "",
        f"- {dataset.summary}",
        *(f"- {step}" for step in (*dataset.notes, *report.preprocessing_steps(dataset))),
        *(f"- warning: {warning}" for warning in report.warnings_of(section)),
        "",
        "Features: " + ", ".join(f"`{feature.name}`" for feature in dataset.features),
        "",
        "## Limits",
        "",
        "The scores hold for rows that are drawn as those of the data were. They say nothing about "
        "other times, places or groups, and nothing about causes.",
        "",
        "## Versions",
        "",
        *(f"- {name} {version}" for name, version in report.versions()),
        "",
    ]
    return "\n".join(lines)


# --- predicting -----------------------------------------------------------------


def predict(options, argv):
    """The command ``predict``; return the exit status."""
    parts = load(options.model)
    features = [Feature(**feature) for feature in parts["features"]]
    table = read_table(options.file, options.encoding)
    for note in table.notes:
        print(f"note: {note}", file=sys.stderr)
    X = feature_matrix(options.file, table, features)
    model, names = parts["model"], np.array(parts["classes"])
    answers = model.predict(X)
    header, columns = [f"predicted {parts['target']}".strip()], []
    if len(names):
        answers = names[np.asarray(answers, dtype=int)]
        if hasattr(model, "predict_proba"):
            header += [f"probability of {name}" for name in names]
            columns = [[f"{chance:.4g}" for chance in line] for line in model.predict_proba(X).T]
        columns = [answers.tolist(), *columns]
    else:
        answers = np.ldexp(answers, parts["exponent"])
        columns = [[f"{answer:.6g}" for answer in answers]]
    write_rows(
        options.out,
        [table.names + header, *([*row, *more] for row, more in zip(table.rows, zip(*columns)))],
    )
    tell_score(table, parts, answers)
    return 0


def load(path):
    """Return the parts of a saved model."""
    if not os.path.isfile(path):
        raise InputError(f"no file {path!r}: save a model with compare --save {path}")
    try:
        parts = load_skops(path) if path.endswith(SKOPS) else joblib.load(path)
        known = parts["format"] == FORMAT
    except InputError:
        raise
    except Exception as error:  # whatever a file that is something else may lead to
        raise InputError(f"{path!r} is not a model saved by compare --save ({error})") from None
    if not known:
        raise InputError(f"{path!r} was saved by another version: save it again")
    return parts


def load_skops(path):
    """Return what a skops file holds, if that is nothing but objects of the known packages."""
    try:
        import skops.io
    except ImportError:
        raise InputError(f"{path!r} needs skops: pip install skops") from None
    types = skops.io.get_untrusted_types(file=path)
    odd = sorted(set(types) - trusted_types())
    if odd:
        raise InputError(
            f"{path!r} was not loaded: it holds {', '.join(odd)}, which a model saved by "
            "compare does not have"
        )
    return skops.io.load(path, trusted=types)


def trusted_types():
    """Return the names of what models consist of, beside what skops trusts by itself."""
    classes = _discovery.classes_of_models() | {np.dtype, scipy.sparse.csr_array}
    classes.add(type(DecisionTreeClassifier().fit([[0], [1]], [0, 1]).tree_))  # of scikit-learn
    return {f"{cls.__module__}.{cls.__qualname__}" for cls in classes}


def feature_matrix(path, table, features):
    """Return the features of new rows; complain of columns that are not there."""
    missing = [f.column for f in features if f.column not in table.names]
    if missing:
        hint = did_you_mean(missing[0], table.names)
        raise InputError(f"{path!r} has no column {missing[0]!r}, which the model needs{hint}")
    twice = [f.column for f in features if table.names.count(f.column) > 1]
    if twice:
        raise InputError(f"{path!r} has several columns named {twice[0]!r}: rename all but one")
    columns = []
    for feature in features:
        place = table.names.index(feature.column)
        texts = [row[place] for row in table.rows]
        values = feature.values(texts)
        odd = [
            text
            for text, value in zip(texts, values)
            if np.isnan(value) and text and not is_missing((0, text))
        ]
        if odd:
            print(
                f"note: column {feature.column!r}: {len(odd)} values that the model does not know, "
                f"such as {odd[0][:30]!r}, count as missing",
                file=sys.stderr,
            )
        columns.append(values)
    return np.column_stack(columns)


def write_rows(path, rows):
    """Write a CSV file, or to the terminal if there is no path."""
    if path is None:
        csv.writer(sys.stdout, lineterminator="\n").writerows(rows)
        return
    try:
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
    except OSError as error:
        raise InputError(f"cannot write {path!r}: {error.strerror}") from None
    print(f"{len(rows) - 1} predictions: {path}", file=sys.stderr)


def tell_score(table, parts, answers):
    """If the file has the target, say how well it was predicted."""
    if parts["target"] not in table.names:
        return
    column = parse_column(table, table.names.index(parts["target"]))
    texts = np.array([text for _, text in column.fields])
    known = texts != ""
    if parts["classes"]:
        if column.labels is None:
            texts = np.array(
                [f"{as_number(t):g}" if as_number(t) is not None else t for t in texts]
            )
        score, label = accuracy_score(texts[known], answers[known]), "accuracy"
    else:
        known = ~np.isnan(column.values)
        if known.sum() < 2:
            return
        # In the unit of the fit: squares of these may be no floats.
        true, found = (np.ldexp(v[known], -parts["exponent"]) for v in (column.values, answers))
        score, label = r2_score(true, found), "R2"
    rows = f"{known.sum()} rows with a target, if the model did not learn from them"
    print(f"{label} on {rows}: {score:.4g}", file=sys.stderr)
