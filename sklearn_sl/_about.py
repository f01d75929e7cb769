"""What users ask of the package as a whole: its estimators, and the versions it runs with."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from collections.abc import Iterable

import threadpoolctl
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClusterMixin,
    RegressorMixin,
    TransformerMixin,
)

from sklearn_sl import __version__, _discovery

__all__ = ["all_estimators", "show_versions"]

KINDS = {
    "classifier": ClassifierMixin,
    "cluster": ClusterMixin,
    "regressor": RegressorMixin,
    "transformer": TransformerMixin,
}
# What bug reports need to name; those that are not installed are shown as None.
PACKAGES = ("scikit-learn", "numpy", "scipy", "joblib", "threadpoolctl", "pandas", "matplotlib")


def all_estimators(
    type_filter: str | Iterable[str] | None = None,
) -> list[tuple[str, type[BaseEstimator]]]:
    """Return all estimators of the package, like :func:`sklearn.utils.discovery.all_estimators`.

    Parameters
    ----------
    type_filter : str, list of str or None, default=None
        Which kinds of estimators to return: "classifier", "cluster", "regressor", "transformer", or
        a list of them. None stands for all of them, also for those that
        are of no such kind.

    Returns
    -------
    estimators : list of tuples
        Names and classes, sorted by name.

    Examples
    --------
    >>> import sklearn_sl
    >>> [name for name, _ in sklearn_sl.all_estimators("regressor")][:3]
    ['AdaBoostRegressor', 'BaggingRegressor', 'DecisionTreeRegressor']
    """
    wanted = [type_filter] if isinstance(type_filter, str) else type_filter
    unknown = sorted(set(wanted or ()) - set(KINDS))
    if unknown:
        raise ValueError(
            f"type_filter must be None or made of {', '.join(map(repr, KINDS))}; got {unknown}"
        )
    bases = (BaseEstimator,) if wanted is None else tuple(KINDS[kind] for kind in wanted)
    return [(cls.__name__, cls) for cls in _discovery.all_estimators() if issubclass(cls, bases)]


def show_versions() -> None:
    """Print the versions of the package and of all that it depends on, for reports of problems.

    Examples
    --------
    >>> import sklearn_sl
    >>> sklearn_sl.show_versions()  # doctest: +ELLIPSIS
    <BLANKLINE>
    System:
    ...
    """
    print_section("System", {"python": sys.version, "machine": platform.platform()})
    print_section("Packages", {"sklearn_sl": __version__} | {p: version(p) for p in PACKAGES})
    for pool in threadpoolctl.threadpool_info():
        print_section("Threads", pool)


def version(name):
    """Return the version of an installed distribution, or None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def print_section(title, rows):
    """Print a table of two columns."""
    print(f"\n{title}:")
    for name, value in rows.items():
        print(f"{name:>15}: {str(value).replace(chr(10), ' ')}")
