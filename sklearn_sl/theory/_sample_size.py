"""How much data is needed: all bounds that apply to a class, and what a pilot says."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_sl.theory._binomial import binomial_sample_size
from sklearn_sl.theory._compression import compression_bound
from sklearn_sl.theory._domain import log_size_of, positive, real, whole
from sklearn_sl.theory._intervals import interval_sample_size, miss_sample_size
from sklearn_sl.theory._pac import (
    agnostic_sample_size,
    linear_margin_sample_size,
    online_to_batch_sample_size,
    realizable_sample_size,
    uniform_sample_size,
)
from sklearn_sl.theory._perceptron import perceptron_bound
from sklearn_sl.theory._pilot import LearningCurve, run_pilot
from sklearn_sl.theory._relative_entropy import kl_sample_size
from sklearn_sl.theory._stability import rlm_sample_size
from sklearn_sl.theory._vc import double_sample_bound, vc_generalization_bound, vc_sample_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sklearn_sl._typing import ArrayLike, MatrixLike

TRAIN, ORDER, EXTRAPOLATED, TEST = "train", "order", "extrapolated", "test"
TITLES = {
    TRAIN: "Training samples, guaranteed",
    ORDER: "Training samples up to an unknown constant, here 1: no guarantee",
    EXTRAPOLATED: "Training samples, extrapolated from the pilot: no guarantee",
    TEST: "Test samples, independent of the training",
}


@dataclass(frozen=True)
class PlannedSize:
    """One row of a :class:`SamplePlan`: how many samples a statement requires.

    Parameters
    ----------
    statement : str
        The name of the statement.

    n_samples : float
        The number of samples, a whole number or infinite.

    guarantee : str
        What these samples give, with the probability that the plan is for.

    assumption : str
        What is assumed.

    purpose : {"train", "order", "extrapolated", "test"}
        What the samples are for: training; training according to a theorem whose constant is not
        known, or to a learning curve, both without a guarantee; or testing a classifier that was
        fitted before.

    function : str, default=""
        The function of :mod:`sklearn_sl.theory` that computes the number, or the bound that is
        solved for it.

    See Also
    --------
    sample_size : Makes plans.

    Examples
    --------
    >>> from sklearn_sl.theory import sample_size
    >>> row = sample_size(0.1, n_hypotheses=1000).rows[0]
    >>> row.statement, row.n_samples
    ('finite class, agnostic', 2120.0)
    """

    statement: str
    n_samples: float
    guarantee: str
    assumption: str
    purpose: str
    function: str = ""


@dataclass(frozen=True, repr=False)
class SamplePlan:
    """All applicable answers to "how much data do I need", from the loosest to the tightest.

    Shown or printed, it is a table; in a notebook as well.

    Parameters
    ----------
    epsilon : float
        The accuracy.

    delta : float
        The probability with which a statement may fail.

    rows : tuple of PlannedSize
        The statements by purpose, those with most samples first.

    curve : LearningCurve or None, default=None
        The learning curve of the pilot, if there is one.

    See Also
    --------
    sample_size : Makes it.
    sklearn_sl.inspection.SampleSizeDisplay : A picture of it.

    Examples
    --------
    >>> from sklearn_sl.theory import sample_size
    >>> plan = sample_size(0.1, n_hypotheses=1000)
    >>> plan.n_samples("train"), plan.n_samples("test")
    (94.0, 29.0)
    >>> [row["n_samples"] for row in plan.to_dict()["rows"]]
    [2120.0, 530.0, 100.0, 94.0, 185.0, 29.0]
    """

    epsilon: float
    delta: float
    rows: tuple[PlannedSize, ...]
    curve: LearningCurve | None = None

    def n_samples(self, purpose: str = TRAIN) -> float:
        """Return the smallest number of samples for a purpose.

        Parameters
        ----------
        purpose : {"train", "order", "extrapolated", "test"}, default="train"
            See :class:`PlannedSize`.

        Returns
        -------
        n_samples : float
            The number of the tightest statement; mind its assumption.
        """
        sizes = [row.n_samples for row in self.rows if row.purpose == purpose]
        if not sizes:
            known = ", ".join(sorted({repr(row.purpose) for row in self.rows}))
            raise ValueError(f"purpose must be one of {known} in this plan; got {purpose!r}.")
        return min(sizes)

    def by_purpose(self) -> dict[str, list[PlannedSize]]:
        """Return the rows of each purpose.

        Returns
        -------
        groups : dict of str to list of PlannedSize
            The rows, those with most samples first.
        """
        return {
            purpose: rows
            for purpose in TITLES
            if (rows := [row for row in self.rows if row.purpose == purpose])
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as a dictionary of plain values, for JSON.

        Returns
        -------
        plan : dict
            With ``epsilon``, ``delta``, ``rows`` and ``curve``; an infinite number is None.
        """
        rows = [asdict(row) for row in self.rows]
        for row in rows:
            row["n_samples"] = row["n_samples"] if math.isfinite(row["n_samples"]) else None
        curve = None if self.curve is None else self.curve.to_dict()
        return {"epsilon": self.epsilon, "delta": self.delta, "rows": rows, "curve": curve}

    def to_frame(self) -> Any:
        """Return the rows as a data frame of pandas.

        Returns
        -------
        frame : pandas.DataFrame
            One row for each statement.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas.") from error
        return pd.DataFrame([asdict(row) for row in self.rows])

    @property
    def _title(self):
        return f"Samples for accuracy {self.epsilon:g} at confidence {1 - self.delta:g}"

    def __repr__(self):
        cells = [(number(row.n_samples), row.statement, row.guarantee) for row in self.rows]
        wide, name, gives = (max(map(len, column)) for column in zip(*cells))
        lines = [self._title]
        for purpose, rows in self.by_purpose().items():
            lines += ["", TITLES[purpose]]
            lines += [
                f"  {number(row.n_samples):>{wide}}  {row.statement:{name}}  "
                f"{row.guarantee:{gives}}  if {row.assumption}"
                for row in rows
            ]
        return "\n".join(lines)

    def _repr_html_(self):
        head = "".join(f"<th>{name}</th>" for name in ("samples", "statement", "gives", "if"))
        parts = [f"<table><caption>{escape(self._title)}</caption><thead><tr>{head}</tr></thead>"]
        for purpose, rows in self.by_purpose().items():
            parts.append(f'<tbody><tr><th colspan="4">{escape(TITLES[purpose])}</th></tr>')
            for row in rows:
                cells = (number(row.n_samples), row.statement, row.guarantee, row.assumption)
                cells = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
                parts.append(f"<tr>{cells}</tr>")
            parts.append("</tbody>")
        return "".join([*parts, "</table>"])


def number(size):
    """Return the text of a number of samples."""
    if not math.isfinite(size):
        return "unreachable"
    return f"{size:,.0f}" if size < 1e12 else f"{size:.2e}"


# ---------------------------------------------------------------- the statements


@dataclass(frozen=True)
class Question:
    """What is asked: the arguments of :func:`sample_size` after checks; None where not given."""

    epsilon: float
    delta: float
    log_size: float | None = None
    n_ends: float | None = None
    vc_dimension: float | None = None
    n_kept: float | None = None
    lipschitz: float | None = None
    norm: float | None = None
    margin: float | None = None
    radius: float = 1.0
    error: float | None = None
    n_compared: float = 1.0
    curve: LearningCurve | None = None

    @property
    def excess(self):
        return f"error <= best + {self.epsilon:g}"

    @property
    def small(self):
        return f"error <= {self.epsilon:g}"


def finite_class(asked):
    """Statements about a finite class."""
    if asked.log_size is None:
        return
    given = {"log_n_hypotheses": asked.log_size}
    anything = "independent samples; any distribution"
    perfect = "some hypothesis never errs"
    size = uniform_sample_size(None, asked.epsilon, asked.delta, **given)
    guarantee = f"|training error - error| <= {asked.epsilon:g}, every hypothesis"
    yield PlannedSize(
        "finite class, uniform", size, guarantee, anything, TRAIN, "uniform_sample_size"
    )
    size = agnostic_sample_size(None, asked.epsilon, asked.delta, **given)
    yield PlannedSize(
        "finite class, agnostic", size, asked.excess, anything, TRAIN, "agnostic_sample_size"
    )
    for name, sharp in (
        ("finite class, realizable", False),
        ("finite class, realizable, sharp", True),
    ):
        size = realizable_sample_size(None, asked.epsilon, asked.delta, sharp=sharp, **given)
        yield PlannedSize(name, size, asked.small, perfect, TRAIN, "realizable_sample_size")


def intervals(asked):
    """Statements about intervals and boxes."""
    if asked.n_ends is None:
        return
    for sharp in (False, True):
        name = "interval or box" + ", sharp" * sharp
        size = interval_sample_size(asked.epsilon, asked.delta, asked.n_ends, sharp=sharp)
        assumption = "a box has the positive samples alone, and the smallest one is fitted"
        yield PlannedSize(name, size, asked.small, assumption, TRAIN, "interval_sample_size")


def margins(asked):
    """Statements about linear classifiers with a margin."""
    if asked.margin is None:
        return
    epsilon, delta, margin, radius = asked.epsilon, asked.delta, asked.margin, asked.radius
    size = linear_margin_sample_size(epsilon, delta, margin, radius=radius)
    guarantee = f"error <= share of margins below {margin:g}, + {epsilon:g}"
    assumption = f"no sample is longer than {radius:g}"
    yield PlannedSize(
        "linear, margin", size, guarantee, assumption, TRAIN, "linear_margin_sample_size"
    )
    mistakes = float(perceptron_bound(radius, 1 / margin))
    size = online_to_batch_sample_size(mistakes, epsilon, delta)
    assumption += f", and all have the margin {margin:g}"
    yield PlannedSize(
        "perceptron, stopped at random",
        size,
        asked.small,
        assumption,
        TRAIN,
        "online_to_batch_sample_size",
    )


def vc_classes(asked):
    """Statements about a class of finite VC dimension."""
    d, epsilon, delta = asked.vc_dimension, asked.epsilon, asked.delta
    if d is None:
        return
    possible = epsilon > 0 and delta > 0
    size = guaranteed_size(lambda m: vc_generalization_bound(m, d, delta) <= epsilon, possible)
    guarantee = f"error <= training error + {epsilon:g}, every hypothesis"
    anything = "independent samples; any distribution"
    yield PlannedSize(
        "VC dimension, uniform", size, guarantee, anything, TRAIN, "vc_generalization_bound"
    )
    size = guaranteed_size(lambda m: double_sample_bound(m, d, epsilon) <= delta, possible)
    perfect = "some hypothesis never errs"
    yield PlannedSize(
        "VC dimension, realizable", size, asked.small, perfect, TRAIN, "double_sample_bound"
    )
    for setting, guarantee, assumption in (
        ("agnostic", asked.excess, anything),
        ("realizable", asked.small, perfect),
    ):
        size = vc_sample_size(d, epsilon, delta, setting=setting) if possible else math.inf
        name = f"fundamental theorem, {setting}"
        yield PlannedSize(
            name, float(np.ceil(size)), guarantee, assumption, ORDER, "vc_sample_size"
        )


def guaranteed_size(enough, possible, least=1):
    """Return the smallest number of samples from ``least`` on that is enough.

    Once a number is enough, all larger ones have to be. Infinite if none is possible.
    """
    if not possible:
        return math.inf
    low, high = least - 1, least
    while not enough(float(high)):
        low, high = high, 2 * high
        if high > 1e300:
            return math.inf
    while high - low > max(1, high >> 52):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(float(middle)) else (middle, high)
    return float(high)


def compressed(asked):
    """The statement about a classifier that a few of its samples determine."""
    k, epsilon, delta = asked.n_kept, asked.epsilon, asked.delta
    if k is None:
        return
    size = guaranteed_size(
        lambda m: compression_bound(m, k, 0, delta) <= epsilon,
        epsilon > 0 and delta > 0,
        int(k) + 1,
    )
    assumption = f"{k:g} of the samples determine the classifier, which is right on the others"
    yield PlannedSize("compression", size, asked.small, assumption, TRAIN, "compression_bound")


def stable(asked):
    """The statement about a learner that minimises a loss and a penalty."""
    rho, B, epsilon, delta = asked.lipschitz, asked.norm, asked.epsilon, asked.delta
    if rho is None:
        return
    size = math.inf
    if epsilon > 0 and delta > 0:
        size = rlm_sample_size(epsilon, rho, B, delta)
    guarantee = f"loss <= best + {epsilon:g}, of weights up to norm {B:g}"
    assumption = (
        f"the loss is convex and {rho:g}-Lipschitz, no weights of a larger norm do better, and the "
        "penalty is that of rlm_penalty"
    )
    yield PlannedSize("penalty, stability", size, guarantee, assumption, TRAIN, "rlm_sample_size")


def pilots(asked):
    """What the learning curve of a pilot says."""
    curve = asked.curve
    if curve is None:
        return
    law = "errors follow a power law, at its pessimistic end"
    for name, guarantee, target in (
        ("learning curve, excess", f"expected error <= its limit + {asked.epsilon:g}", None),
        ("learning curve, error", f"expected error <= {asked.epsilon:g}", asked.epsilon),
    ):
        size = curve.size_for(asked.epsilon, asked.delta, excess=target is None)
        yield PlannedSize(name, size, guarantee, law, EXTRAPOLATED)


def held_out(asked):
    """Statements about testing a classifier, or the best of several."""
    epsilon, r, error = asked.epsilon, asked.n_compared, asked.error
    level = asked.delta / r
    fixed = "the classifier is" if r == 1 else f"the {r:g} classifiers are"
    fixed += " fitted without the test samples"
    size = uniform_sample_size(int(r), epsilon, asked.delta)
    guarantee = f"|test error - error| <= {epsilon:g}"
    yield PlannedSize("Hoeffding", size, guarantee, fixed, TEST, "uniform_sample_size")
    size = miss_sample_size(epsilon, level)
    assumption = f"no test sample is wrong, and {fixed}"
    yield PlannedSize(
        "exact binomial, no errors", size, asked.small, assumption, TEST, "miss_sample_size"
    )
    if error is None:
        return
    guarantee = f"error <= test error + {epsilon:g}"
    assumption = f"the test error is {error:.4g}, and {fixed}"
    size = kl_sample_size(epsilon, level, error)
    yield PlannedSize("relative entropy", size, guarantee, assumption, TEST, "kl_sample_size")
    size = exact_test_size(epsilon, level, error)
    yield PlannedSize("exact binomial", size, guarantee, assumption, TEST, "binomial_sample_size")


def exact_test_size(epsilon, delta, error):
    """Return how many samples bring the exact bound to at most ``epsilon`` above ``error``.

    With ``k`` errors it takes ``m(k)`` samples. The share ``k / m(k)`` grows in ``k``, but for the
    rounding of ``m(k)``; the search ends at a ``k`` whose share reaches ``error``.
    """
    p = min(error + epsilon, 1.0)
    if not (p < 1 and epsilon > 0 and delta > 0) or error == 0:
        return binomial_sample_size(p, delta) if epsilon > 0 else math.inf
    low, high = -1, 1
    while high < error * binomial_sample_size(p, delta, high):
        low, high = high, 2 * high
    while high - low > 1:
        k = (low + high) // 2
        low, high = (k, high) if k < error * binomial_sample_size(p, delta, k) else (low, k)
    return binomial_sample_size(p, delta, high)


# A statement is a function of the question that yields rows, none if it does not apply. Statements
# about other classes are added here.
STATEMENTS: list[Callable[[Question], Iterator[PlannedSize]]] = [
    finite_class,
    intervals,
    margins,
    vc_classes,
    compressed,
    stable,
    pilots,
    held_out,
]


def sample_size(
    epsilon: float,
    delta: float = 0.05,
    *,
    n_hypotheses: int | None = None,
    log_n_hypotheses: float | None = None,
    n_ends: int | None = None,
    margin: float | None = None,
    radius: float = 1.0,
    vc_dimension: int | None = None,
    n_kept: int | None = None,
    lipschitz: float | None = None,
    norm: float | None = None,
    error: float | None = None,
    n_compared: int = 1,
    estimator: Any = None,
    X: MatrixLike | None = None,
    y: ArrayLike | None = None,
    cv: int = 10,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> SamplePlan:
    """Return how many samples are needed for an accuracy, by every bound that applies.

    Say what is known: the size of a finite class, its VC dimension, that it is intervals or boxes,
    a margin, a penalty, a few samples that determine the classifier, or a classifier and a pilot
    sample. Each statement that applies is a row of the plan, with its
    assumption and with what it guarantees with probability at least ``1 - delta``. How many test
    samples are needed does not depend on the class.

    The numbers of the theory hold for every distribution, and are often far larger than a given
    problem requires. A pilot is the opposite: the classifier is fitted to parts of the sample, and
    a power law ``limit + factor m^(-exponent)`` is fitted to its errors on held-out folds and
    extrapolated. That guarantees nothing.

    Parameters
    ----------
    epsilon : float
        The accuracy, between 0 and 1.

    delta : float, default=0.05
        The probability with which a statement may fail, between 0 and 1.

    n_hypotheses : int, default=None
        The number of hypotheses of a finite class, of any size.

    log_n_hypotheses : float, default=None
        Its natural logarithm, instead; see :func:`log_class_size`.

    n_ends : int, default=None
        The number of ends of intervals or boxes: 1 for ``[0, b]``, 2 for an interval, ``2 d`` for a
        box in ``d`` dimensions.

    margin : float, default=None
        The margin of a linear classifier with weights of norm 1.

    radius : float, default=1.0
        The length of the longest sample; for the margin.

    vc_dimension : int, default=None
        The VC dimension of a class; see :func:`vc_dimension_of`. Two bounds are solved for the
        number of samples, and two rows tell the order of the fundamental theorem, whose constant
        is not known.

    n_kept : int, default=None
        The number of samples that will determine the classifier, such as support vectors; see
        :func:`compression_bound`.

    lipschitz : float, default=None
        The Lipschitz constant of the loss of a learner with a penalty, in terms of the weights; see
        :func:`rlm_sample_size`. It takes ``norm``, too.

    norm : float, default=None
        The largest norm of the weights with which that learner is compared.

    error : float, default=None
        The test error that is expected; None is that of the pilot, if there is one. The number of
        test samples depends on it.

    n_compared : int, default=1
        How many classifiers will be compared on the test samples.

    estimator : classifier, default=None
        The classifier of the pilot.

    X : array-like of shape (n_samples, n_features), default=None
        The samples of the pilot.

    y : array-like of shape (n_samples,), default=None
        The labels of the pilot.

    cv : int, default=10
        The number of folds of the pilot; each is left out once, for each of several sizes of the
        training set.

    random_state : int, RandomState instance or None, default=0
        The seed of the folds.

    n_jobs : int, default=None
        The number of joblib's workers for the pilot.

    Returns
    -------
    plan : SamplePlan
        The rows, which print as a table.

    See Also
    --------
    validation_bound : What a given test set says.
    sklearn_sl.inspection.SampleSizeDisplay : A picture of the plan.

    Examples
    --------
    Conjunctions of 20 variables:

    >>> from sklearn_sl.theory import log_class_size, sample_size
    >>> plan = sample_size(0.1, log_n_hypotheses=log_class_size("conjunctions", 20), error=0.05)
    >>> for row in plan.rows:
    ...     print(f"{row.n_samples:6.0f} {row.purpose:5} {row.statement}")
      5133 train finite class, agnostic
      1284 train finite class, uniform
       250 train finite class, realizable
       237 train finite class, realizable, sharp
       185 test  Hoeffding
        60 test  relative entropy
        40 test  exact binomial
        29 test  exact binomial, no errors
    """
    log_size = None
    if n_hypotheses is not None or log_n_hypotheses is not None:
        log_size = _scalar(log_size_of(n_hypotheses, log_n_hypotheses), "n_hypotheses")
    curve = None
    if not (estimator is None and X is None and y is None):
        if estimator is None or X is None or y is None:
            raise ValueError("A pilot needs all of estimator, X and y.")
        curve = run_pilot(estimator, X, y, cv, random_state, n_jobs)
        error = curve.last if error is None else error
    if (lipschitz is None) != (norm is None):
        raise ValueError(
            "Pass both lipschitz and norm, or neither; got "
            f"lipschitz={lipschitz!r} and norm={norm!r}."
        )
    asked = Question(
        epsilon=_scalar(real("epsilon", epsilon, 0.0, 1.0), "epsilon"),
        delta=_scalar(real("delta", delta, 0.0, 1.0), "delta"),
        log_size=log_size,
        n_ends=_known("n_ends", n_ends, whole, 1),
        vc_dimension=_known("vc_dimension", vc_dimension, whole),
        n_kept=_known("n_kept", n_kept, whole),
        lipschitz=_known("lipschitz", lipschitz, real, 0.0),
        norm=_known("norm", norm, real, 0.0),
        margin=_known("margin", margin, positive),
        radius=_scalar(positive("radius", radius), "radius"),
        error=_known("error", error, real, 0.0, 1.0),
        n_compared=_scalar(whole("n_compared", n_compared, 1), "n_compared"),
        curve=curve,
    )
    rows = [row for statement in STATEMENTS for row in statement(asked)]
    purposes = list(TITLES)
    rows.sort(key=lambda row: (purposes.index(row.purpose), -row.n_samples))
    return SamplePlan(asked.epsilon, asked.delta, tuple(rows), curve)


def _known(name, value, check, *domain):
    """Return a number of Python after a check, or None."""
    return None if value is None else _scalar(check(name, value, *domain), name)


def _scalar(value, name):
    """Return a number of Python, or raise a ValueError for an array."""
    if np.ndim(value):
        raise ValueError(f"{name} must be a number; got an array of shape {np.shape(value)}.")
    return float(value)
