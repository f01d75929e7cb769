"""Write doc/api.rst, doc/guide/migration.rst and the table in README.rst.

A plain script, ``python doc/lists.py``, for after a name was added; a test fails until then. What
is public is what the modules export; the headings are the first sentences of their docstrings.
The tables about scikit-learn's classes are written from doc/migration.toml.
"""

import importlib
import inspect
import re
import tomllib
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
MARKS = ".. Written from doc/migration.toml.\n", ".. End of what is written.\n"


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
        underlined("The package as a whole", "="),
        ".. currentmodule:: sklearn_sl\n",
        ".. autosummary::\n   :toctree: generated/\n\n   all_estimators\n   show_versions\n",
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


def migration_groups():
    """Return the entries of doc/migration.toml, classes that differ from scikit-learn's alike."""
    return tomllib.loads((ROOT / "doc" / "migration.toml").read_text())["group"]


def migration_table():
    """Return the table of README.rst about scikit-learn's classes, in a few words each."""
    lines = [".. list-table::", "   :widths: 38 62", ""]
    for group in migration_groups():
        names = ", ".join(f"``{name}``" for name in group["names"])
        lines += [f"   * - {names}", f"     - {group['short']}"]
    return "\n".join(lines) + "\n"


MIGRATION = """\
.. Written by doc/lists.py from doc/migration.toml.

.. _migration:

========================
Coming from scikit-learn
========================

A class with the name of one of scikit-learn's takes its parameters, with the same meaning and
defaults, and has its methods and fitted attributes. Change the import line; parameter grids,
pipelines, sample weights, sparse input, data frames and pickling work as before. scikit-learn's own
tests are run on these classes, and ``tests/drop_in/deviations.toml`` lists every test that may
fail, with the reason.

.. image:: ../_static/speed.svg
   :alt: Bars of the speed of fits relative to scikit-learn, from the fastest to the slowest
   :class: wide dark-light
   :target: ../benchmarks.html

Where a grid search is the slow part, there is a class that needs none:

.. list-table::
   :header-rows: 1
   :widths: 50 50

   * - instead of
     - use
   * - a grid search over ``alpha`` and ``gamma`` of ``KernelRidge``
     - :class:`~sklearn_sl.kernel_ridge.KernelRidgeCV`, by exact leave-one-out
   * - a grid search over ``C`` and ``gamma`` of ``SVC``
     - :class:`~sklearn_sl.svm.SVCCV`; :func:`~sklearn_sl.svm.svm_path` for all ``C``
   * - a grid search over ``ccp_alpha`` or ``max_depth`` of a tree
     - :class:`~sklearn_sl.tree.DecisionTreeClassifierCV`, with the one-standard-error rule; its
       default folds are shuffled and stratified, those of ``cv=5`` are scikit-learn's
   * - a grid search over ``n_estimators`` of a forest
     - one forest, ``choose_n_estimators()`` and ``truncate()``
"""


def migration_page():
    """Return the text of doc/guide/migration.rst."""
    return "\n".join([MIGRATION, *map(migration_section, migration_groups())])


def migration_section(group):
    """Return the section of the classes that differ from scikit-learn's alike."""
    lines = [
        underlined(" and ".join(group["names"]), "="),
        ".. code-block:: diff\n",
        *(f"   -from {group['from']} import {name}" for name in group["names"]),
        *(f"   +from {group['to']} import {name}" for name in group["names"]),
        "",
        "You gain:\n",
        *(f"- {gain}" for gain in group["gains"]),
        "\nWhat differs:\n",
        *(f"- {difference}" for difference in group["differs"]),
        f"\nEverything about these classes: :doc:`{group['chapter']}`.\n",
    ]
    return "\n".join(lines)


def with_table(readme):
    """Return the text of README.rst with its table as it should be."""
    before, rest = readme.split(MARKS[0])
    return f"{before}{MARKS[0]}\n{migration_table()}\n{MARKS[1]}{rest.split(MARKS[1])[1]}"


def main():
    """Write all of them."""
    (ROOT / "doc" / "api.rst").write_text(reference())
    (ROOT / "doc" / "guide" / "migration.rst").write_text(migration_page())
    readme = ROOT / "README.rst"
    readme.write_text(with_table(readme.read_text()))


if __name__ == "__main__":
    main()
