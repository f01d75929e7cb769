"""Who takes part in a comparison, and with which parameter grid.

Everything goes by name, so that a new estimator joins by itself: its grid comes
from the names of its parameters, its counterpart is the scikit-learn class of
the same name. A class with other needs has the attribute ``_compare_grid``: a
dict of value lists that replaces the grid, or None to stay out.
"""

import dataclasses
import warnings
from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import ParameterGrid
from sklearn.utils import discovery, get_tags

from sklearn_sl import _discovery
from sklearn_sl._compare.table import InputError, did_you_mean

OURS, THEIRS, BASELINE = "sklearn_sl", "scikit-learn", "baseline"
KIND = {"classification": "classifier", "regression": "regressor"}
MIXIN = {"classification": ClassifierMixin, "regression": RegressorMixin}
MAX_POINTS = 50


@dataclasses.dataclass(frozen=True)
class Candidate:
    """An estimator and the parameter settings it may choose from, the safest first."""

    name: str
    library: str
    estimator: BaseEstimator
    points: tuple = ({},)
    tunes_itself: bool = False
    rival: str = ""  # name of the scikit-learn class to be compared with

    @property
    def takes_unlabelled(self):
        """Whether it also learns from rows without a class, marked by -1."""
        return "unlabelled" in self.estimator.get_params(deep=False) or self.name in (
            "LabelPropagation",
            "LabelSpreading",
        )


def grid_values(n_features):
    """Return the values to try for each known parameter name.

    They are meant for standardised features and targets. The middle of each
    list is the safest choice; a quick run tries every other value.
    """
    return {
        "alpha": [0.001, 0.01, 0.1, 1.0, 10.0],
        "C": [0.01, 0.1, 1.0, 10.0, 100.0],
        "kernel": ["rbf"],
        "gamma": [factor / n_features for factor in (0.03, 0.1, 0.3, 1.0, 3.0)],
        "n_neighbors": [1, 3, 7, 15, 31],
        "max_depth": [2, 4, 8, 16, None],
        "learning_rate": [0.01, 0.03, 0.1, 0.3, 1.0],
    }


def check_names(names):
    """Refuse names that no estimator of the package has."""
    ours = [cls.__name__ for cls in _discovery.all_estimators()]
    for name in names:
        if name not in ours:
            hint = did_you_mean(name, ours)
            if name in dict(discovery.all_estimators()):
                hint = ": scikit-learn's take part as counterparts of ours only"
            raise InputError(f"no estimator {name!r} in sklearn_sl{hint}")


def baseline(task):
    """Return the candidate that does not look at the features: what a score must exceed."""
    classes = task == "classification"
    dummy = DummyClassifier(strategy="prior") if classes else DummyRegressor()
    return Candidate(type(dummy).__name__, BASELINE, dummy)


def find_contests(dataset, names=None, *, exclude=(), quick=False, seed=0, scoring=None):
    """Return the contests on a data set, and why other estimators stay out.

    Parameters
    ----------
    dataset : Dataset
    names : list of str, default=None
        The estimators to choose from; None is all of the package.
    exclude : list of str
        Estimators that the user wants to leave out.
    quick : bool
        Take every other value of each grid.
    seed : int
    scoring : str, default=None
        The scorer that estimators which tune themselves are told to use; None leaves them theirs.

    Returns
    -------
    contests : list of (Candidate, Candidate or None)
        An estimator of the package and its counterpart. A counterpart of two,
        such as KernelRidge of KernelRidge and KernelRidgeCV, is raced once.
    skipped : dict of str to str
        The reasons, for estimators of the right kind.
    """
    ours = {cls.__name__: cls for cls in _discovery.all_estimators()}
    theirs = dict(discovery.all_estimators())
    contests, skipped, rivals = [], {}, set()
    for name in names or ours:
        fits, reason = suitable(ours[name], dataset)
        if fits and name in exclude:
            fits, reason = False, "excluded"
        if fits:
            us, rival = contest(name, ours, theirs, dataset, quick, seed, scoring)
            contests.append((us, None if us.rival in rivals else rival))
            rivals.add(us.rival)
        elif reason:
            skipped[name] = reason
    return contests, skipped


def suitable(cls, dataset):
    """Return whether the class can take part, and the reason if it nearly could."""
    try:
        tags = get_tags(cls())
    except (TypeError, AttributeError):
        # It wraps another estimator, and has no tags without it.
        return False, "needs arguments" if issubclass(cls, MIXIN[dataset.task]) else ""
    if tags.estimator_type != KIND[dataset.task]:
        return False, ""
    if getattr(cls, "_compare_grid", {}) is None:
        return False, "not made for any table of independent rows"
    if tags.input_tags.pairwise or not tags.input_tags.two_d_array:
        return False, "does not take feature vectors"
    if tags.input_tags.positive_only:
        return False, "takes positive features only"
    if dataset.n_classes > 2 and not tags.classifier_tags.multi_class:
        return False, "takes two classes only"
    return True, ""


def contest(name, ours, theirs, dataset, quick, seed, scoring=None):
    """Return our candidate and its counterpart: the same name, the same grid.

    A class that tunes itself has the grid of the class without "CV", and where
    scikit-learn has no class of its name, the grid search of that class as rival.
    """
    cls, base = ours[name], name.removesuffix("CV")
    has_own_grid = getattr(cls, "_compare_grid", None) is not None
    grid = grid_of(cls if has_own_grid else ours.get(base, cls), dataset, quick)
    us = candidate(cls, OURS, grid, seed, scoring)
    rival = theirs.get(name, theirs.get(base))
    if rival is None:
        return us, None
    them = candidate(rival, THEIRS, grid, seed, scoring)
    return dataclasses.replace(us, rival=rival.__name__), them


def grid_of(cls, dataset, quick):
    """Return the grid of a class: its own, or by the names of its parameters."""
    own = getattr(cls, "_compare_grid", None)
    if own is not None:
        return thin(own, quick)
    defaults = cls().get_params(deep=False)
    values = grid_values(dataset.X.shape[1])
    return thin({name: values[name] for name in values if applies(name, defaults)}, quick)


def applies(name, defaults):
    """Say whether the parameter has the meaning that the table of values supposes."""
    if name not in defaults:
        return False
    if name in ("kernel", "gamma"):
        return isinstance(defaults.get("kernel"), str)
    return defaults[name] is None or isinstance(defaults[name], Real)


def thin(grid, quick):
    return {name: values[::2] if quick else values for name, values in grid.items()}


def candidate(cls, library, grid, seed, scoring=None):
    """Return a candidate with as much of the grid as the class has parameters for."""
    with warnings.catch_warnings():
        # Classes that scikit-learn is about to remove say so; in the race it becomes a note.
        warnings.simplefilter("ignore", FutureWarning)
        estimator = cls()
    known = estimator.get_params(deep=False)
    if "random_state" in known:
        estimator.set_params(random_state=seed)
    if cls.__name__.endswith("CV"):
        estimator.set_params(**self_tuning(known, grid))
        if scoring is not None and accepts_scoring(cls, known, scoring):
            estimator.set_params(scoring=scoring)
        return Candidate(cls.__name__, library, estimator, tunes_itself=True)
    grid = {name: values for name, values in grid.items() if name in known}
    return Candidate(cls.__name__, library, estimator, safest_first(grid))


def accepts_scoring(cls, known, scoring):
    """Say whether a class that tunes itself can do so by a scorer; some know a few of them only."""
    rules = getattr(cls, "_parameter_constraints", {}).get("scoring", [])
    names = [rule.options for rule in rules if hasattr(rule, "options")]
    return "scoring" in known and (not names or scoring in set().union(*names))


def self_tuning(known, grid):
    """Translate a grid into the parameters of a class that tunes itself.

    ``alpha`` becomes ``alphas``, parameters of the kernel go to
    ``kernel_grid``, a single value is set as it is.
    """
    settings = {}
    for name, values in grid.items():
        if f"{name}s" in known:
            settings[f"{name}s"] = tuple(values)
        elif name in known and len(values) == 1:
            settings[name] = values[0]
        elif name in known and "kernel_grid" in known:
            settings.setdefault("kernel_grid", {})[name] = list(values)
    return settings


def safest_first(grid):
    """Return the points of the grid, from its middle outwards, at most MAX_POINTS."""

    def distance_from_middle(point):
        return sum(
            abs(values.index(point[name]) - (len(values) - 1) / 2) for name, values in grid.items()
        )

    points = list(ParameterGrid(grid))
    order = np.argsort([distance_from_middle(point) for point in points], kind="stable")
    return tuple(points[place] for place in order[:MAX_POINTS])
