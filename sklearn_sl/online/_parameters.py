"""What learners remember of their parameters, so that no change in a stream goes unnoticed."""

import functools
import reprlib

import numpy as np
import scipy.sparse as sp

from sklearn_sl._sklearn import F, fit_context, validate_parameters

# How values are shown in a complaint.
SHOWN = reprlib.Repr()
SHOWN.maxother = SHOWN.maxstring = 100
CHANGED = (
    "{} changed from {} to {} since the first call to partial_fit, but the state and the bounds of "
    "the learner hold for the first value only: set it back, call fit, or use a clone."
)


# Parameters that take effect in any trial, or matter in ``fit`` only, whatever the learner is.
FREE = frozenset({"max_iter", "n_jobs", "verbose"})

# One rule for parameters that ``set_params`` changes in the middle of a stream. They are remembered
# when a stream begins. Later calls validate those that have changed. The ones in ``_free`` of the
# learner take effect from then on, or matter in ``fit`` only; any other change is an error, since
# the state was made for the old value. ``_fixed`` names those that predictions depend on, too.


def remember_parameters(learner):
    """Remember the parameters that a stream begins with."""
    params = {name: getattr(learner, name) for name in sorted(learner._parameter_constraints)}
    if any(hasattr(value, "get_params") for value in params.values()):
        params = learner.get_params(deep=True)
    outer_first = sorted(params, key=lambda name: name.count("__"))
    learner._began_with = {name: frozen(params[name]) for name in outer_first}


def at_start(learner, name):
    """Return the value of a parameter that the state was made for."""
    return getattr(learner, "_began_with", {}).get(name, getattr(learner, name))


def check_parameters(learner):
    """Validate the parameters that have changed, and complain of those that must not."""
    changed = changed_parameters(learner)
    if not changed:
        return
    validate_parameters(learner)
    complain_unless_free(learner, changed)
    now = {name: frozen(parameter(learner, name)) for name in changed}
    learner._began_with = {**learner._began_with, **now}


def check_fixed(learner):
    """Complain of other parameters than the state was made for, if predictions need them."""
    for name in changed_parameters(learner, learner._fixed):
        complain_of_change(learner, name)


def check_certified(learner):
    """Complain of other parameters than those that a guarantee is about."""
    complain_unless_free(learner, changed_parameters(learner))


def complain_unless_free(learner, names):
    """Complain of a parameter that must not have another value in the next trials."""
    for name in names:
        if name.split("__")[0] not in learner._free:
            complain_of_change(learner, name)


def changed_parameters(learner, names=None):
    """Return which parameters, of all or of these ones, have changed; outer ones first."""
    return [
        name
        for name, value in getattr(learner, "_began_with", {}).items()
        if (names is None or name.split("__")[0] in names)
        and not is_same(parameter(learner, name), value)
    ]


def complain_of_change(learner, name):
    """Raise the error for a parameter that must not change."""
    values = learner._began_with[name], parameter(learner, name)
    raise ValueError(CHANGED.format(name, *map(SHOWN.repr, values)))


def stream_context(method: F) -> F:
    """Make a call of ``partial_fit`` all or nothing, with parameters that are valid in the stream.

    scikit-learn validates them in the first call only.
    """
    run = fit_context(prefer_skip_nested_validation=True)(method)

    @functools.wraps(method)
    def checked(self, *args, **kwargs):
        if not hasattr(self, "_began_with"):
            return run(self, *args, **kwargs)
        before = self._began_with
        try:
            check_parameters(self)
            return run(self, *args, **kwargs)
        except BaseException:
            self._began_with = before
            raise

    return checked


def parameter(estimator, name):
    """Return the value of a parameter, ``None`` if an object that had it is gone."""
    if "__" not in name:
        return getattr(estimator, name, None)
    outer, inner = name.split("__", 1)
    return parameter(getattr(estimator, outer, None), inner)


def frozen(value):
    """Return a value that stays as it is when the list or dictionary of the user changes."""
    return value.copy() if isinstance(value, list | dict | set) else value


def is_same(value, other):
    """Return whether two values of a parameter are the same."""
    if value is other:
        return True
    if sp.issparse(value) and sp.issparse(other):
        return value.shape == other.shape and (value != other).nnz == 0
    try:
        if isinstance(value, np.ndarray) or isinstance(other, np.ndarray):
            return np.array_equal(value, other)
        return bool(value == other)
    except (TypeError, ValueError):  # no truth value: elements of a list that are arrays
        return False
