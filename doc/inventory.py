"""Links to scikit-learn's documentation without a network: an inventory of what is installed.

Sphinx usually fetches the inventory of another project from its site. The pages of scikit-learn are
named after the objects, so that the installed package says where each of them is.
"""

import importlib
import inspect
import pkgutil
import zlib

import sklearn

HIDDEN = {"tests", "conftest", "externals"}
HEADER = (
    "# Sphinx inventory version 2\n"
    "# Project: scikit-learn\n"
    f"# Version: {sklearn.__version__}\n"
    "# The remainder of this file is compressed using zlib.\n"
)


def public_names():
    """Yield ``(name, role, page)`` of the public modules of scikit-learn and what they define."""
    for info in pkgutil.walk_packages(sklearn.__path__, prefix="sklearn."):
        parts = info.name.split(".")
        if any(part.startswith("_") or part in HIDDEN for part in parts):
            continue
        module = importlib.import_module(info.name)
        yield info.name, "module", f"api/{info.name}.html"
        for name in getattr(module, "__all__", vars(module)):
            item = getattr(module, name, None)
            own = str(getattr(item, "__module__", "")).startswith("sklearn")
            if own and (inspect.isclass(item) or inspect.isfunction(item)):
                role = "class" if inspect.isclass(item) else "function"
                path = f"{info.name}.{name}"
                yield path, role, f"modules/generated/{path}.html"


def write(path):
    """Write the inventory to a file; return its path as text."""
    lines = [f"{name} py:{role} 1 {page} -\n" for name, role, page in public_names()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(HEADER.encode() + zlib.compress("".join(lines).encode()))
    return str(path)
