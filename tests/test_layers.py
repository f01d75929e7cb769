"""Parts of the package import those below them only, in the order of doc/design.rst.

And estimators are near to what they do: they have few bases, and a ``fit`` of their own.
"""

import ast
from pathlib import Path

import pytest

from sklearn_sl._discovery import all_estimators

# The source tree: an installed package has neither Cython sources nor the documentation beside it.
ROOT = Path(__file__).parents[1] / "sklearn_sl"
# From the bottom to the top; the parts of one line know nothing of each other.
LAYERS = [
    {"__init__"},
    {"_hashes"},
    {
        "_certificates",
        "_docstrings",
        "_memory",
        "_rows",
        "_scoring",
        "_state",
        "_typing",
        "_validation",
        "_warnings",
    },
    {"_discovery", "_threads"},
    {"_sklearn"},
    {"_cholesky", "base", "theory"},
    {"_folds", "_linalg"},
    {"_spectrum"},
    {"_laplacians"},
    {"kernels"},
    {"_kernel_machine"},
    {"_kernel_search", "online", "tree"},
    {"ensemble", "graph", "kernel_ridge", "svm"},
    {"datasets", "inspection"},
    {"_about", "_compare"},
    {"__main__"},
]
LEVEL = {part: level for level, layer in enumerate(LAYERS) for part in layer}
SOURCES = sorted(path for end in ("py", "pyx", "pxd") for path in ROOT.rglob(f"*.{end}"))


def part_of(path):
    """Return the part of the package that a source file belongs to."""
    return path.relative_to(ROOT).parts[0].partition(".")[0]


def imported_parts(path):
    """Yield the part and the line of each import of this package in a source file."""
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        words = line.split()
        if words[:1] != ["from"] and words[:1] != ["import"] and words[:1] != ["cimport"]:
            continue
        name = words[1] if len(words) > 1 else ""
        if name == "sklearn_sl":
            # ``from sklearn_sl import a, b``: modules, but for the version.
            names = line.partition(" import ")[2].replace("(", "").replace(",", " ").split()
            yield from ((name, number) for name in names if (ROOT / f"{name}.py").exists())
        elif name.startswith("sklearn_sl."):
            yield name.split(".")[1], number


def lines_outside_of_docstrings(path):
    """Return the numbers of the lines of a Python file that are no part of a docstring."""
    text = path.read_text()
    numbers = set(range(1, len(text.splitlines()) + 1))
    if path.suffix != ".py":
        return numbers
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            numbers -= set(range(node.lineno, node.end_lineno + 1))
    return numbers


def test_every_part_has_a_layer():
    assert {part_of(path) for path in SOURCES} == set(LEVEL)


@pytest.mark.parametrize("part", sorted(LEVEL))
def test_part_imports_only_what_is_below(part):
    above = [
        f"{path.relative_to(ROOT)}:{number} imports {other}"
        for path in SOURCES
        if part_of(path) == part
        for other, number in imported_parts(path)
        if number in lines_outside_of_docstrings(path)
        if other != part and LEVEL[other] >= LEVEL[part]
    ]
    assert not above, "\n".join(above)


def test_design_shows_the_order():
    design = (ROOT.parent / "doc" / "design.rst").read_text()
    rows = ["  ".join(sorted(layer)) for layer in reversed(LAYERS[1:])]
    assert "\n".join(f"    {row}" for row in rows) in design


# A base of this package is one place more in which to look for a method.
MOST_BASES = 4
# The protocol of online learners, whose hooks are listed at the top of its module.
PROTOCOL = {"OnlineClassifierMixin", "OnlineRegressorMixin"}


def own_bases(cls):
    """Return the bases of a class, at any distance, that are of this package."""
    ours = [base for base in cls.__mro__[1:] if base.__module__.startswith("sklearn_sl.")]
    # Before scikit-learn 1.9 this package has a stand-in for the base that listens to callbacks.
    return [base for base in ours if base.__name__ != "CallbackSupportMixin"]


@pytest.mark.parametrize("estimator", all_estimators(), ids=lambda cls: cls.__name__)
def test_estimators_have_few_bases_and_inherit_from_no_estimator(estimator):
    bases = own_bases(estimator)
    assert len(bases) <= MOST_BASES, [base.__name__ for base in bases]
    assert not set(bases) & set(all_estimators())


@pytest.mark.parametrize("estimator", all_estimators(), ids=lambda cls: cls.__name__)
def test_only_the_online_protocol_defines_fit_in_a_base(estimator):
    fitting = {base.__name__ for base in own_bases(estimator) if "fit" in vars(base)}
    assert fitting <= PROTOCOL


def test_the_protocol_says_what_its_hooks_are():
    from sklearn_sl.online import _protocol

    defaults = {
        name
        for mixin in (_protocol.OnlineClassifierMixin, _protocol.OnlineRegressorMixin)
        for name, value in vars(mixin).items()
        if value is None and not name.startswith("__")
    }
    # States of a pass, not hooks.
    hooks = defaults - {"_heard", "_foreseen"}
    assert hooks
    assert not [name for name in hooks if f"``{name}" not in _protocol.__doc__]
