"""The only door to undocumented or experimental names of scikit-learn.

Everything else in the package imports documented scikit-learn names alone (a
lint rule checks it), so that a new scikit-learn release can break this file
and no other.
"""

import contextlib
import functools
import inspect
import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from sklearn import base, get_config
from sklearn.metrics import _scorer
from sklearn.utils import _set_output, validation
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    Options,
    RealNotInt,
    StrOptions,
)

from sklearn_sl._certificates import certificates_of, in_one_line
from sklearn_sl._memory import complain_of_memory
from sklearn_sl._threads import blas_threads_for

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9

    class _SilentContext:
        """A callback context that nobody listens to."""

        def subcontext(self, **kwargs):
            return self

        def call_on_fit_task_begin(self, **kwargs):
            pass

        def call_on_fit_task_end(self, **kwargs):
            return False

    class CallbackSupportMixin:
        """Stand-in for scikit-learn's mixin: no callbacks can be set."""

        def _init_callback_context(self, **kwargs):
            return _SilentContext()

    def with_callbacks(method):
        """Return ``method`` unchanged."""
        return method


__all__ = [
    "CallbackSupportMixin",
    "HasMethods",
    "Interval",
    "Options",
    "Progress",
    "RealNotInt",
    "StrOptions",
    "check_sample_weight",
    "fit_context",
    "make_sklearn_tree",
    "refuse_dataframes",
    "responses_to_score",
    "steps",
    "validate_parameters",
    "validate_params",
    "watched",
    "with_callbacks",
]

_WEIGHT_CHECK_KNOWS_ZEROS = (
    "allow_all_zero_weights" in inspect.signature(validation._check_sample_weight).parameters
)

# What is decorated keeps its type.
F = TypeVar("F", bound=Callable[..., Any])


def fit_context(
    *, prefer_skip_nested_validation: bool, limit_blas: bool = True
) -> Callable[[F], F]:
    """Validate the parameters, run the callbacks, and make ``fit`` all or nothing.

    A fit that raises, Ctrl-C included, leaves the estimator exactly as it was
    before the call: fitted as before, or unfitted. A small one has one BLAS thread, unless it has
    no use for any (``limit_blas=False``), and too little memory is a ``MemoryError``, whoever
    notices it.
    """
    checked = base._fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation)

    def decorate(fit):
        run = checked(with_callbacks(fit))

        @functools.wraps(fit)
        def transaction(self, *args, **kwargs):
            before = dict(vars(self))
            X = args[0] if args else kwargs.get("X")
            try:
                with blas_threads_for(X) if limit_blas else nullcontext():
                    fitted = run(self, *args, **kwargs)
            except BaseException as error:
                vars(self).clear()
                vars(self).update(before)
                complain_of_memory(error)
                raise
            if fit.__name__ == "fit" and vars(self).get("verbose"):
                found = certificates_of(self)
                if found:
                    print(f"[{type(self).__name__}] fitted: {in_one_line(found)}")
            return fitted

        return transaction

    return decorate


def validate_params(self):
    """Validate the parameters, unless values equal to these were found valid before.

    The ``_validate_params`` of every estimator. A search, or a meta-estimator, fits the same
    parameters many times over, and to look through twenty of them takes longer than to grow a
    small tree.
    """
    known = _plain_parameters(self)
    if known is not None and known in _VALID:
        return
    base.BaseEstimator._validate_params(self)
    if known is not None and len(_VALID) < MOST_VALID:
        _VALID.add(known)


# Classes with values of their parameters that are valid.
_VALID: set[Any] = set()
MOST_VALID = 10_000
_PLAIN = {bool, float, int, str, type(None), np.float64, np.int64}


def _plain_parameters(estimator):
    """Return the class and all parameters, with their types; None if one may change by itself."""
    cls = type(estimator)
    values = [getattr(estimator, name, None) for name in _parameter_names(cls)]
    types = tuple(map(type, values))
    return (cls, types, *values) if _PLAIN.issuperset(types) else None


@functools.cache
def _parameter_names(cls):
    return cls._get_param_names()


def validate_parameters(estimator):
    """Validate the parameters of an estimator, unless scikit-learn is told not to."""
    if not get_config()["skip_parameter_validation"]:
        estimator._validate_params()


@contextlib.contextmanager
def Progress(estimator, *, name, total):
    """Tell the steps of a fit to the estimator's callbacks::

        with Progress(estimator, name="pass", total=10) as progress:
            while not (done or progress.stop):
                with progress.step():
                    done = work()

    ``stop`` is true once a callback has asked for the end. To be entered once in
    a fit; an exception passes through without further calls.
    """
    root = estimator._init_callback_context(max_subtasks=total)
    root.call_on_fit_task_begin(estimator=estimator)
    yield Steps(estimator, name, root)
    root.call_on_fit_task_end(estimator=estimator)


@dataclass
class Steps:
    """The steps of the fit that ``root`` is the callback context of."""

    estimator: Any
    name: str
    root: Any
    stop: bool = False

    @contextlib.contextmanager
    def step(self, metadata=None):
        """Surround one step; ``metadata``, a dict, is told at its end."""
        task = self.root.subcontext(task_name=self.name)
        task.call_on_fit_task_begin(estimator=self.estimator)
        yield
        told = task.call_on_fit_task_end(estimator=self.estimator, metadata=metadata)
        self.stop = bool(told)


@dataclass
class Step:
    """One step of a fit; ``last`` is set by whoever wants no more of them."""

    number: int
    last: bool = False


def steps(estimator, *, name, total):
    """Yield the steps of a fit, and tell them to the estimator's callbacks::

        for step in steps(learner, name="pass", total=10):
            step.last = work() < tol

    They end before the total if the last one says so, or if a callback does. Not to be left by
    ``break``; an exception passes through without further calls.
    """
    if not getattr(estimator, "_skl_callbacks", None):  # nobody listens
        for number in range(1, total + 1):
            yield (step := Step(number))
            if step.last:
                break
        return
    root = estimator._init_callback_context(max_subtasks=total)
    root.call_on_fit_task_begin(estimator=estimator)
    for number in range(1, total + 1):
        task = root.subcontext(task_name=name)
        task.call_on_fit_task_begin(estimator=estimator)
        yield (step := Step(number))
        if task.call_on_fit_task_end(estimator=estimator, metadata=None) or step.last:
            break
    root.call_on_fit_task_end(estimator=estimator)


@contextlib.contextmanager
def watched(estimator, *, name, number, verbose):
    """Give a function that tells callbacks, and the user, a number after each slice of work.

    It returns true once a callback has asked for the end. Several threads may call it.
    """
    if not (verbose or getattr(estimator, "_skl_callbacks", None)):
        yield lambda value: False
        return
    lock = threading.Lock()
    with Progress(estimator, name=name, total=None) as progress:

        def watch(value):
            with lock:
                with progress.step({number: value}):
                    pass
                if verbose:
                    print(f"[{type(estimator).__name__}] {number}={value:.3e}")
            return progress.stop

        yield watch


def check_sample_weight(sample_weight, X, dtype=None):
    """Validate non-negative weights, not all zero; ``None`` stays ``None``."""
    if sample_weight is None:
        return None
    weight = validation._check_sample_weight(
        sample_weight, X, dtype=dtype, ensure_non_negative=True
    )
    if not _WEIGHT_CHECK_KNOWS_ZEROS and not weight.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weight


def refuse_dataframes(transformer, what):
    """Complain if data frames are wanted of a transformer that returns ``what``, a sparse one."""
    wanted = _set_output._get_output_config("transform", transformer)["dense"]
    if wanted != "default":
        raise ValueError(
            f"{type(transformer).__name__} cannot return {wanted} data frames: it returns {what}. "
            "The transformer outputs a scipy sparse matrix. Leave it at "
            "set_output(transform='default')."
        )


def responses_to_score(scorer):
    """Return the methods of which a scorer asks the first that there is.

    None of what is no scorer of scikit-learn, such as a function of targets and predictions.
    """
    if not isinstance(scorer, _scorer._BaseScorer):
        return None
    asked = scorer._response_method
    return (asked,) if isinstance(asked, str) else tuple(asked)


def make_sklearn_tree(tree):
    """Return scikit-learn's low-level tree with the arrays of ``tree``."""
    from sklearn.tree._tree import NODE_DTYPE, Tree

    nodes = np.zeros(tree.node_count, dtype=NODE_DTYPE)
    for name, source in {
        "left_child": "children_left",
        "right_child": "children_right",
        **{name: name for name in NODE_DTYPE.names if hasattr(tree, name)},
    }.items():
        nodes[name] = getattr(tree, source)
    made = Tree(tree.n_features, tree.n_classes, tree.n_outputs)
    made.__setstate__(
        {
            "max_depth": tree.max_depth,
            "node_count": tree.node_count,
            "nodes": nodes,
            "values": np.ascontiguousarray(tree.value),
        }
    )
    return made
