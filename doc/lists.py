"""Write the lists of public names: doc/api.rst and the table in README.rst.

A plain script, ``python doc/lists.py``, for after a name was added; a test fails until then. What
is public is what the modules export; the headings are the first sentences of their docstrings.
"""

import importlib
import inspect
import re
from pathlib import Path

from sklearn.base import BaseEstimator
from sklearn.gaussian_process.kernels import Kernel

from sklearn_sl._discovery import public_modules

ROOT = Path(__file__).parents[1]
KINDS = {
    "estimators": "Estimators and transformers",
    "kernels": "Kernels",
    "classes": "Other classes",
    "functions": "Functions",
}
# Between these lines stands the table of README.rst.
MARKS = ".. The table is written by doc/lists.py.\n", ".. End of the table.\n"


def title_of(module):
    """Return the first clause of a docstring, without its end: the title of a section."""
    return re.split(r"[:.]( |$)", inspect.getdoc(module).splitlines()[0])[0]


def kind_of(item):
    """Return the kind of a public object, a key of ``KINDS``."""
    if not inspect.isclass(item):
        return "functions"
    if issubclass(item, Kernel):
        return "kernels"
    return "estimators" if issubclass(item, BaseEstimator) and hasattr(item, "fit") else "classes"


def subpackage_of(item, module):
    """Return the subpackage of a module in which an object is defined, or None."""
    below = item.__module__.removeprefix(module.__name__).split(".")[1:-1]
    inside = item.__module__.startswith(f"{module.__name__}.") and below
    return importlib.import_module(f"{module.__name__}.{below[0]}") if inside else None


def groups_of(module):
    """Return the names of a module in groups, ``{heading: names}``: by subpackage, or by kind."""
    groups = {}
    for name in module.__all__:
        item = getattr(module, name)
        subpackage = subpackage_of(item, module)
        heading = title_of(subpackage) if subpackage else KINDS[kind_of(item)]
        groups.setdefault(heading, []).append(name)
    order = list(KINDS.values())
    sort = sorted(groups, key=lambda title: order.index(title) if title in order else -1)
    return {heading: sorted(groups[heading], key=str.lower) for heading in sort}


def underlined(text, line):
    """Return a heading."""
    return f"{text}\n{line * len(text)}\n"


def reference():
    """Return the text of doc/api.rst."""
    parts = [
        f".. Written by doc/lists.py.\n\n.. _api:\n\n{'=' * 13}\nAPI reference\n{'=' * 13}\n",
        "Everything listed here is public. Names with a leading underscore are not.\n",
    ]
    for module in public_modules():
        parts.append(underlined(title_of(module), "="))
        parts.append(f".. currentmodule:: {module.__name__}\n")
        groups = groups_of(module)
        for heading, names in groups.items():
            if len(groups) > 1:
                parts.append(underlined(heading, "-"))
            rows = "".join(f"   {name}\n" for name in names)
            parts.append(f".. autosummary::\n   :toctree: generated/\n\n{rows}")
    return "\n".join(parts)


def table():
    """Return the table of README.rst: estimators and kernels of each module, others counted."""
    lines = [".. list-table::", "   :widths: 25 75", ""]
    for module in public_modules():
        kinds = {name: kind_of(getattr(module, name)) for name in module.__all__}
        named = sorted((n for n in kinds if kinds[n] in ("estimators", "kernels")), key=str.lower)
        n_others = len(kinds) - len(named)
        texts = [", ".join(named)] if named else []
        texts += [f"{n_others} {'other ' * bool(named)}classes and functions"] if n_others else []
        lines += [f"   * - ``{module.__name__}``", f"     - {'; '.join(texts)}"]
    return "\n".join(lines) + "\n"


def with_table(readme):
    """Return the text of README.rst with its table as it should be."""
    before, rest = readme.split(MARKS[0])
    return f"{before}{MARKS[0]}\n{table()}\n{MARKS[1]}{rest.split(MARKS[1])[1]}"


def main():
    """Write both files."""
    (ROOT / "doc" / "api.rst").write_text(reference())
    readme = ROOT / "README.rst"
    readme.write_text(with_table(readme.read_text()))


if __name__ == "__main__":
    main()
