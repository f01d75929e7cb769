"""How far a reader walks to follow one ``fit``, and how much code there is to walk through.

A plain script, not a benchmark of time: ``python benchmarks/navigation.py``. The first table
counts, for one ``fit`` of 60 rows, the functions of the package that are called, the files that
hold them and the calls that lead from one file into another, beside the same for scikit-learn's
class of that name. The second counts classes, bases and lines of the package.
"""

import ast
import importlib
import inspect
import subprocess
import sys
import threading
import tokenize
from pathlib import Path
from statistics import median

import numpy as np
import sklearn
from sklearn.datasets import make_classification

import sklearn_sl
from sklearn_sl._discovery import all_estimators

ROOT = Path(sklearn_sl.__file__).parent
# One estimator of each family, and scikit-learn's class of that name, if there is one.
FITS = {
    "sklearn_sl.svm.SVC": "sklearn.svm.SVC",
    "sklearn_sl.kernel_ridge.KernelRidge": "sklearn.kernel_ridge.KernelRidge",
    "sklearn_sl.tree.DecisionTreeClassifier": "sklearn.tree.DecisionTreeClassifier",
    "sklearn_sl.ensemble.AdaBoostClassifier": "sklearn.ensemble.AdaBoostClassifier",
    "sklearn_sl.ensemble.RandomForestClassifier": "sklearn.ensemble.RandomForestClassifier",
    "sklearn_sl.online.Perceptron": "sklearn.linear_model.Perceptron",
    "sklearn_sl.online.Winnow": None,
    "sklearn_sl.online.KernelPerceptron": None,
    "sklearn_sl.online.Hedge": None,
    "sklearn_sl.online.Halving": None,
    "sklearn_sl.graph.LaplacianInterpolationClassifier": None,
    "sklearn_sl.graph.LabelPropagation": "sklearn.semi_supervised.LabelPropagation",
}


def load(name):
    """Return the object of a qualified name."""
    module, _, name = name.rpartition(".")
    return getattr(importlib.import_module(module), name)


class Walk:
    """The functions below ``root`` that are called in this thread and the threads that it starts.

    A switch is a function of one file that calls, directly or through other packages, a function of
    another file; a pair of functions counts once, however often one calls the other.
    """

    def __init__(self, root, passing=()):
        self.root, self.passing = f"{root}/", tuple(f"{root}/{name}" for name in passing)
        self.functions, self.switches = set(), set()

    def __call__(self, frame, event, _):
        if event != "call" or not self._counts(frame.f_code):
            return
        called, frame = frame.f_code, frame.f_back
        while frame is not None and not self._counts(frame.f_code):
            frame = frame.f_back
        self.functions.add(called)
        if frame is not None and frame.f_code.co_filename != called.co_filename:
            self.switches.add((frame.f_code, called))

    def _counts(self, code):
        """Say whether this is a function of the package; comprehensions are part of theirs."""
        file = code.co_filename
        ours = file.startswith(self.root) and not file.startswith(self.passing)
        return ours and not code.co_name.startswith("<")

    def of(self, work):
        """Do the work; return the numbers of functions, files and switches between files."""
        sys.setprofile(self)
        threading.setprofile(self)
        try:
            work()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        files = {code.co_filename for code in self.functions}
        return len(self.functions), len(files), len(self.switches)


def walk_of_fit(name):
    """Return functions, files and switches of one fit."""
    X, y = make_classification(60, 5, random_state=0)
    if name.endswith(("Winnow", "Hedge", "Halving")):
        X = (X > 0).astype(float)
    make = load(name)
    few = {"n_estimators": 10} if "n_estimators" in inspect.signature(make).parameters else {}
    make(**few).fit(X, y)  # caches are filled
    model = make(**few)
    theirs = Path(sklearn.__file__).parent, ("base.py", "utils/", "callback/", "_config.py")
    walk = Walk(*theirs) if name.startswith("sklearn.") else Walk(ROOT)
    return walk.of(lambda: model.fit(X, y))


def own_bases(cls):
    """Return the bases of a class, at any distance, that are of this package."""
    return [base for base in cls.__mro__[1:] if base.__module__.startswith("sklearn_sl.")]


def lines_of(path):
    """Return the lines of code and of docstrings of a source file, without blanks and comments."""
    with tokenize.open(path) as file:
        tokens = list(tokenize.generate_tokens(file.readline))
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    code = {
        line
        for token in tokens
        if token.type not in skipped and token.type != tokenize.ENDMARKER
        for line in range(token.start[0], token.end[0] + 1)
    }
    holders = ast.Module | ast.ClassDef | ast.FunctionDef
    docs = {
        line
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, holders) and ast.get_docstring(node)
        for line in range(node.body[0].lineno, node.body[0].end_lineno + 1)
    }
    return len(code - docs), len(docs)


def classes_of(tree):
    """Yield the class definitions of a parsed file."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def defines(node, *names):
    """Say whether the body of a class binds one of these names."""
    bound = {getattr(part, "name", None) for part in node.body}
    bound |= {
        target.id
        for part in node.body
        if isinstance(part, ast.Assign)
        for target in part.targets
        if isinstance(target, ast.Name)
    }
    return bool(bound & set(names))


def milliseconds_to_import(name):
    """Return the median time of a first import, less that of what it needs of others."""
    needs = "import numpy, scipy.sparse, scipy.linalg, sklearn.base, sklearn.utils.validation; "
    code = f"{needs}import time; t = time.perf_counter(); import {name}; "
    code += "print(1e3 * (time.perf_counter() - t))"
    runs = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
        for _ in range(5)
    ]
    return median(runs)


def package_table():
    """Yield the rows of the table of the whole package."""
    bases = {cls: own_bases(cls) for cls in all_estimators()}
    mixins = {base for each in bases.values() for base in each} - set(bases)
    paths = sorted(ROOT.rglob("*.py"))
    trees = {path: ast.parse(path.read_text()) for path in paths}
    nodes = {node.name: node for tree in trees.values() for node in classes_of(tree)}
    mixin_nodes = [nodes[mixin.__name__] for mixin in mixins]
    counts = [len(each) for each in bases.values()]
    most = max(bases, key=lambda cls: len(bases[cls]))
    supers = {
        path: sum(
            isinstance(node, ast.Call) and getattr(node.func, "id", None) == "super"
            for node in ast.walk(tree)
        )
        for path, tree in trees.items()
    }
    code, docs = np.sum([lines_of(path) for path in paths], axis=0)
    yield "estimators", len(bases)
    yield "own bases, median", f"{median(counts):g}"
    yield "own bases, most", f"{max(counts)} ({most.__name__})"
    yield "estimators with more than 4", sum(count > 4 for count in counts)
    yield "mixins", len(mixins)
    yield (
        "mixins with a table of parameters",
        sum(defines(node, "_parameter_constraints") for node in mixin_nodes),
    )
    yield "mixins that define fit", sum(defines(node, "fit") for node in mixin_nodes)
    yield "calls of super()", sum(supers.values())
    yield "... in online", sum(n for path, n in supers.items() if "online" in path.parts)
    yield "lines of Python code", int(code)
    yield "lines of docstrings", int(docs)
    pyx = [path for end in ("pyx", "pxd", "h") for path in ROOT.rglob(f"*.{end}")]
    yield "lines of Cython and C", sum(len(path.read_text().splitlines()) for path in pyx)
    for name in ("sklearn_sl.tree", "sklearn_sl.svm", "sklearn_sl.online"):
        yield f"import {name}, ms", f"{milliseconds_to_import(name):.0f}"


def main():
    """Print both tables."""
    print(f"{'one fit of 60 rows':52}{'functions / files / switches':>30}{'scikit-learn':>16}")
    for ours, theirs in FITS.items():
        walks = [walk_of_fit(name) for name in (ours, theirs) if name]
        print(
            f"{ours:52}",
            *(f"{'/'.join(map(str, walk)):>{30 - 8 * i}}" for i, walk in enumerate(walks)),
        )
    print()
    for what, value in package_table():
        print(f"{what:52}{value!s:>30}")


if __name__ == "__main__":
    main()
