"""What learners remember of their parameters, so that no change in a stream goes unnoticed."""

import functools
import reprlib

import numpy as np
import scipy.sparse as sp

from sklearn_sl._sklearn import fit_context, validate_parameters

# How values are shown in a complaint.
SHOWN = reprlib.Repr()
SHOWN.maxother = SHOWN.maxstring = 100
CHANGED = (
    "{} was {} in the trials so far and is {} now, which the state and the guarantees of this "
    "learner are not made for: set it back, or start afresh, with fit or with a clone."
)


class ParametersMixin:
    """One rule for parameters that ``set_params`` changes in the middle of a stream.

    The parameters are remembered when a stream begins. Later calls validate those that have
    changed. The ones in ``_free`` take effect from then on, or matter in ``fit`` only; any other
    change is an error, since the state was made for the old value. ``_fixed`` names those that
    predictions depend on, too.
    """

    _fixed = ()
    _free = frozenset({"max_iter", "n_jobs", "verbose"})

    def _remember_parameters(self):
        params = self.get_params(deep=True)
        outer_first = sorted(params, key=lambda name: name.count("__"))
        self._began_with = {name: frozen(params[name]) for name in outer_first}

    def _at_start(self, name):
        """Return the value of a parameter that the state was made for."""
        return getattr(self, "_began_with", {}).get(name, getattr(self, name))

    def _may_change(self, name):
        """Return whether a parameter may have another value in the next trials."""
        return name in self._free

    def _check_parameters(self):
        """Validate the parameters that have changed, and complain of those that must not."""
        changed = self._changed_parameters()
        if not changed:
            return
        validate_parameters(self)
        for name in changed:
            if not self._may_change(name.split("__")[0]):
                self._complain_of_change(name)
        now = {name: frozen(parameter(self, name)) for name in changed}
        self._began_with = {**self._began_with, **now}

    def _check_fixed(self):
        """Complain of other parameters than the state was made for, if predictions need them."""
        for name in self._changed_parameters(self._fixed):
            self._complain_of_change(name)

    def _check_certified(self):
        """Complain of other parameters than those that a guarantee is about."""
        for name in self._changed_parameters():
            if not self._may_change(name.split("__")[0]):
                self._complain_of_change(name)

    def _changed_parameters(self, names=None):
        """Return which parameters, of all or of these ones, have changed; outer ones first."""
        return [
            name
            for name, value in getattr(self, "_began_with", {}).items()
            if (names is None or name.split("__")[0] in names)
            and not is_same(parameter(self, name), value)
        ]

    def _complain_of_change(self, name):
        values = self._began_with[name], parameter(self, name)
        raise ValueError(CHANGED.format(name, *map(SHOWN.repr, values)))


def stream_context(method):
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
            self._check_parameters()
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
