"""Find the public classes and functions of the package by themselves."""

import importlib
import inspect
import pkgutil

from sklearn.base import BaseEstimator
from sklearn.gaussian_process.kernels import Kernel

import sklearn_sl
from sklearn_sl._state import CheckedState


def public_modules():
    """Return the public modules and sub-packages that declare ``__all__``."""
    names = [
        info.name
        for info in pkgutil.walk_packages(sklearn_sl.__path__, prefix="sklearn_sl.")
        if not any(part.startswith("_") for part in info.name.split("."))
    ]
    modules = [importlib.import_module(name) for name in sorted(names)]
    return [module for module in modules if hasattr(module, "__all__")]


def public_objects():
    """Return ``{qualified name: object}`` of every public class and function."""
    return {
        f"{module.__name__}.{name}": getattr(module, name)
        for module in public_modules()
        for name in module.__all__
    }


def all_estimators():
    """Return the public estimator classes of the package, by name: whatever has a ``fit``."""
    return sorted(
        {
            item
            for item in public_objects().values()
            if inspect.isclass(item) and issubclass(item, BaseEstimator) and hasattr(item, "fit")
        },
        key=lambda item: item.__name__,
    )


# The subpackages whose objects models consist of.
MODELS = ("ensemble", "graph", "kernel_ridge", "kernels", "online", "svm", "tree")


def classes_of_models():
    """Return the classes that models may consist of: estimators, kernels, trees, states."""
    packages = [importlib.import_module(f"sklearn_sl.{name}") for name in MODELS]
    modules = [
        importlib.import_module(info.name)
        for package in packages
        for info in pkgutil.walk_packages(package.__path__, prefix=f"{package.__name__}.")
    ]
    kinds = (BaseEstimator, Kernel, CheckedState)
    return {
        item
        for module in modules
        for item in vars(module).values()
        if inspect.isclass(item) and issubclass(item, kinds) and item.__module__ == module.__name__
    }
