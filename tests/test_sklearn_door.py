"""Undocumented and experimental scikit-learn enters through ``sklearn_sl/_sklearn.py`` alone."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOOR = ROOT / "sklearn_sl" / "_sklearn.py"
SOURCES = [
    path for folder in ("sklearn_sl", "benchmarks", "doc") for path in (ROOT / folder).rglob("*.py")
]
COMPILED = [
    path for path in (ROOT / "sklearn_sl").rglob("*.p*") if path.suffix in {".pyx", ".pxd", ".pxi"}
]

UNDOCUMENTED = re.compile(
    r"sklearn\.(callback|experimental|externals|utils\.(fixes|deprecation|optimize|stats))(\.|$)"
)
# A component with a leading underscore, other than a name like ``__version__``.
PRIVATE = re.compile(r"sklearn\.(.*\.)?_(?!_\w+__(\.|$))")
IMPORT_IN_CYTHON = re.compile(r"^\s*(from|import|cimport)\s+sklearn\b", re.MULTILINE)


def dotted(node, names):
    """Return the dotted scikit-learn name that an expression stands for, or None."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute) and (owner := dotted(node.value, names)):
        return f"{owner}.{node.attr}"
    return None


def imported(node):
    """Yield ``(local name, what it is bound to, dotted name)`` for each import of a statement."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            full = f"{'.' * node.level}{node.module or ''}.{alias.name}"
            yield alias.asname or alias.name, full, full
        else:
            top = alias.name.split(".")[0]
            yield alias.asname or top, alias.name if alias.asname else top, alias.name


def forbidden_names(source):
    """Return the undocumented scikit-learn names that a Python source uses, sorted."""
    nodes = list(ast.walk(ast.parse(source)))
    imports = [
        item
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        for item in imported(node)
    ]
    names = {local: bound for local, bound, _ in imports if bound.split(".")[0] == "sklearn"}
    used = {full for *_, full in imports}
    used |= {dotted(node, names) or "" for node in nodes if isinstance(node, ast.Attribute)}
    used |= {node.value for node in nodes if is_dotted_string(node)}
    return sorted(name for name in used if UNDOCUMENTED.match(name) or PRIVATE.match(name))


def is_dotted_string(node):
    """Return whether a node is a string that could be given to ``importlib.import_module``."""
    text = node.value if isinstance(node, ast.Constant) else None
    return isinstance(text, str) and re.fullmatch(r"\w+(\.\w+)+", text) is not None


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_source_uses_documented_scikit_learn_only(path):
    if path != DOOR:
        assert forbidden_names(path.read_text()) == []


def test_compiled_code_knows_nothing_of_scikit_learn():
    assert [path for path in COMPILED if IMPORT_IN_CYTHON.search(path.read_text())] == []


def test_the_door_itself_is_found_guilty():
    assert forbidden_names(DOOR.read_text())


@pytest.mark.parametrize(
    "source",
    [
        "from sklearn.utils._param_validation import Interval",
        "from sklearn.base import BaseEstimator, _fit_context",
        "import sklearn.utils._tags",
        "import sklearn.utils._tags as tags",
        "from sklearn import _config",
        "from sklearn.utils import validation\nvalidation._check_sample_weight(w, X)",
        "from sklearn.utils import validation as v\ncheck = v._check_sample_weight",
        "import sklearn.utils.validation\nsklearn.utils.validation._check_y(y)",
        "import sklearn as sk\nsk.utils._indexing",
        "from sklearn.base import BaseEstimator\nBaseEstimator._get_param_names()",
        "def late():\n    from sklearn.callback import ProgressBar",
        "import sklearn.callback",
        "from sklearn import callback",
        "from sklearn.experimental import enable_halving_search_cv",
        "from sklearn.utils.fixes import threadpool_info",
        "import importlib\nimportlib.import_module('sklearn.utils._mask')",
    ],
)
def test_undocumented_name_is_caught(source):
    assert forbidden_names(source)


@pytest.mark.parametrize(
    "source",
    [
        "from sklearn.base import BaseEstimator, clone",
        "import sklearn\nsklearn.__version__",
        "from sklearn import __version__",
        "from sklearn.utils import validation\nvalidation.check_is_fitted(self)",
        "from sklearn_sl._sklearn import fit_context",
        "from sklearn_sl import _sklearn\n_sklearn.fit_context",
        "import numpy._core",
        "self._gram(X)",
        "'sklearn.kernel_ridge.KernelRidge'",
    ],
)
def test_documented_name_is_let_through(source):
    assert forbidden_names(source) == []


@pytest.mark.parametrize(
    ("source", "guilty"),
    [
        ("cimport sklearn.tree", True),
        ("from sklearn.tree._tree cimport Tree", True),
        ("    from sklearn.utils import validation", True),
        ("from sklearn_sl._linalg cimport solve", False),
        ("# scikit-learn's trees do the same: import sklearn", False),
        ("from libc.math cimport exp", False),
    ],
)
def test_import_in_cython_is_caught(source, guilty):
    assert bool(IMPORT_IN_CYTHON.search(source)) == guilty
