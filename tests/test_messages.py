"""What errors and warnings say: the part of good English that a program can check."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import sklearn_sl
from sklearn_sl._discovery import public_objects

ROOT = Path(sklearn_sl.__file__).parent
# Calls that make a message for the user, by the name of what is called.
SPEAKERS = {
    "ValueError",
    "TypeError",
    "NotImplementedError",
    "AttributeError",
    "ProblemTooLargeError",
    "NotSeparableError",
    "warn",
}
# Words for the input that are no parameters.
INPUT = {
    "X", "y", "sample", "samples", "label", "labels", "class", "classes", "target", "targets",
    "feature", "features", "weight", "weights", "kernel", "kernels", "matrix", "graph", "Gram",
    "edge", "edges", "vertex", "vertices", "fold", "folds", "split", "splits", "scorer", "metric",
    "expert", "experts", "loss", "losses", "arm", "arms", "estimator", "model", "tree", "file",
    "columns", "column", "row", "rows", "state", "memory", "string", "strings", "sets",
    "entries", "vectors", "children", "Children", "keyword",
}  # fmt: skip
# Ends of texts of scikit-learn, which users look for: they have no full stop.
SKLEARNS = (
    "warm_start==True",
    "feature_names_in_",
    "'ovo'",
    "kernel",
    "estimator",
    "probability=False",
    "SVC(probability=True)`",
    "SVR(probability=True)`",
)
# Idiom of this project and not of its field, with what the field says.
IDIOM = {
    r"\bduels?\b": "pairwise votes",
    r"\bafresh\b": "call fit, or use a clone",
    r"\basleep\b|\bsleep(s|ing)?\b|\bawake\b": "unavailable",
    r"\b(is|are|be) no numbers?\b|\bno number\b": "NaN, not finite, out of range",
    r"\bnothing special\b": "say what is required",
    r"\bmembers?\b": "base estimators",
    r"\btrials so far\b": "since the first partial_fit",
    r"\bheat\b": "numerically constant",
    r"\b(I|we|us|our|ours|my)\b": "no first person",
    r"\bis a matter of\b": "say what is required",
    r"\bhas to do with\b": "say what is required",
}


def messages(path):
    """Yield the line and the text of each message in a source file; ``{}`` is what is filled in."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and node.args:
            name = getattr(node.func, "id", getattr(node.func, "attr", None))
            text = text_of(node.args[0])
            if name in SPEAKERS and text is not None:
                yield node.lineno, text


def text_of(node):
    """Return the text of a string, an f-string or a sum of them; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) or "{}" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [text_of(node.left), text_of(node.right)]
        return None if parts == [None, None] else "".join(part or "{}" for part in parts)
    return None


ALL = {
    f"{path.relative_to(ROOT)}:{line}": text
    for path in sorted(ROOT.rglob("*.py"))
    for line, text in messages(path)
}


def parameters():
    """Return the names of the parameters of everything public, methods included."""
    names = set()
    for item in public_objects().values():
        methods = [getattr(item, name) for name in vars(item) if not name.startswith("_")]
        for each in [item, *filter(inspect.isroutine, methods)]:
            names |= set(inspect.signature(each).parameters)
    return names - {"self", "args", "kwargs"}


def report(faults):
    """Return a list of faults, one a line."""
    return "\n".join(f"{place}: {fault}" for place, fault in sorted(faults.items()))


def test_messages_are_found():
    assert len(ALL) > 300
    assert any("{}" in text for text in ALL.values())


def test_messages_name_a_parameter_or_the_input():
    known = parameters() | INPUT
    faults = {
        place: text
        for place, text in ALL.items()
        if not text.startswith(("{}", "The {}"))
        # A word with an underscore is a name, too.
        and not re.search(r"[A-Za-z]_", text)
        and not known & set(re.findall(r"[A-Za-z]+", text))
    }
    assert not faults, report(faults)


@pytest.mark.parametrize("idiom", IDIOM)
def test_messages_are_in_the_words_of_the_field(idiom):
    faults = {place: text for place, text in ALL.items() if re.search(idiom, text)}
    assert not faults, f"better: {IDIOM[idiom]}\n{report(faults)}"


def test_messages_are_sentences():
    faults = {
        place: text
        for place, text in ALL.items()
        # Some of scikit-learn's own texts, which users look for, have no full stop.
        if not text.endswith((".", "{}", ")", "?", *SKLEARNS))
    }
    assert not faults, report(faults)


def test_texts_are_found_in_any_form_of_string():
    source = 'raise ValueError("a " f"{b} c" + d)\nwarn(text)\nwarn("e")'
    tree = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    assert sorted(text_of(call.args[0]) or "" for call in tree) == ["", "a {} c{}", "e"]
