"""Supervised learning with certificates, in the scikit-learn API."""

__version__ = "0.1.0"

__all__ = [
    "__version__",
    "all_estimators",
    "base",
    "datasets",
    "ensemble",
    "graph",
    "inspection",
    "kernel_ridge",
    "kernels",
    "online",
    "show_versions",
    "svm",
    "theory",
    "tree",
]

# Functions that are here for everybody, and where they are defined.
_FUNCTIONS = {"all_estimators": "_about", "show_versions": "_about"}


def __getattr__(name):
    """Import a subpackage, or a function, when it is asked for."""
    from importlib import import_module

    if name in _FUNCTIONS:
        return getattr(import_module(f"{__name__}.{_FUNCTIONS[name]}"), name)
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    missing = f"module {__name__!r} has no attribute {name!r}"  # in Python's own words
    raise AttributeError(missing)


def __dir__():
    return __all__


def _check_compiled():
    """Raise if this is a source tree whose Cython modules have not been compiled."""
    from importlib.machinery import PathFinder

    if PathFinder.find_spec(f"{__name__}._cholesky", __path__) is None:
        raise ImportError(
            "sklearn_sl was imported from a source tree that is not compiled. Run `pip install "
            "--editable .` there, which needs a C compiler and takes about three minutes; or, to "
            "use an installed sklearn_sl, start Python in another directory."
        )


_check_compiled()
