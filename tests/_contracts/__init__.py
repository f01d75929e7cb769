"""Which parameters each estimator has in the common tests, one module for each subpackage.

``CONFIGS``
    Besides the default parameters, those that every common test runs with.
``OWN_CONFIGS``
    Further ones, which keep the promises of this package, but not what scikit-learn's checks expect
    of their data: a comment says why.
``LONG_FITS``
    ``(parameters, n_samples, n_features)`` of fits that last long enough to be interrupted, and
    whose longest call of a library is short.
"""

import importlib
import pkgutil


def table(name):
    """Return the tables of this name of all modules as one."""
    modules = [
        importlib.import_module(f"_contracts.{m.name}") for m in pkgutil.iter_modules(__path__)
    ]
    return {key: rows for module in modules for key, rows in getattr(module, name, {}).items()}
