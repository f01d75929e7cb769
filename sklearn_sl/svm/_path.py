"""The solutions of a support vector classifier for many values of ``C``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sklearn_sl._kernel_machine import weighted_classes
from sklearn_sl._memory import check_memory
from sklearn_sl._warnings import warn
from sklearn_sl.svm._base import document
from sklearn_sl.svm._classify import SVC
from sklearn_sl.svm._gram import gram_of, whole_matrix
from sklearn_sl.svm._hinge_path import AT_BOUND, HingePath, hinge_path
from sklearn_sl.svm._many import solve_in_turn
from sklearn_sl.svm._problem import DualSolution, margin_problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_sl._typing import ArrayLike

DEFAULT_CS = np.logspace(-3, 3, 13)


@dataclass(frozen=True)
class SVMPath:
    """The solutions of a support vector classifier for several ``C``; see :func:`svm_path`.

    Parameters
    ----------
    classes : ndarray of shape (2,)
        The labels; the machines are positive for the second.

    Cs : ndarray of shape (n_Cs,)
        The values of ``C``, ascending.

    dual_coef : ndarray of shape (n_Cs, n_samples)
        The coefficients ``y_i alpha_i`` of all samples, zero for those that support nothing: the
        machines are ``K(X_new, X) @ dual_coef.T + intercept``.

    intercept : ndarray of shape (n_Cs,)
        The intercepts.

    dual_objective : ndarray of shape (n_Cs,)
        Certificate: the dual objectives, below the optima.

    primal_objective : ndarray of shape (n_Cs,)
        Certificate: the primal objectives, above the optima.

    kkt_violation : ndarray of shape (n_Cs,)
        Certificate: the violations of the optimality conditions, in float64.

    margin : ndarray of shape (n_Cs,)
        ``1 / ||f||``.

    n_iter : ndarray of shape (n_Cs,)
        The steps that the solver took from the solution before; for the exact path the
        breakpoints that were passed.

    converged : ndarray of shape (n_Cs,)
        Whether the violations are at most ``tol``.

    exact : HingePath, default=None
        The exact path, if that was asked for.

    See Also
    --------
    svm_path : Computes it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from sklearn_sl.svm import svm_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = svm_path(scale(X), y, [0.1, 1.0, 10.0])
    >>> path.dual_coef.shape, path.classes
    ((3, 569), array([0, 1]))
    >>> bool((path.duality_gap < 0.01 * path.primal_objective).all())
    True
    """

    classes: np.ndarray
    Cs: np.ndarray
    dual_coef: np.ndarray
    intercept: np.ndarray
    dual_objective: np.ndarray
    primal_objective: np.ndarray
    kkt_violation: np.ndarray
    margin: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray
    exact: HingePath | None = field(default=None, repr=False)

    @property
    def duality_gap(self):
        """The differences of the two objectives: what is missing to the optima at most."""
        return self.primal_objective - self.dual_objective

    @property
    def breakpoints(self):
        """The values of ``C`` between which the exact path is linear, intercept included."""
        return self._require_exact("breakpoints").breakpoints

    def at(self, C: ArrayLike) -> tuple[Any, float | np.ndarray]:
        """Return the solution at any ``C`` between the least and the largest of ``Cs``.

        Parameters
        ----------
        C : float or array-like of shape (n_Cs,)
            The value or the values of ``C``.

        Returns
        -------
        dual_coef : ndarray of shape (n_samples,) or (n_Cs, n_samples)
            The coefficients ``y_i alpha_i``.

        intercept : float or ndarray of shape (n_Cs,)
            The intercept.
        """
        return self._require_exact("at").at(C)

    def _require_exact(self, name):
        if self.exact is None:
            raise AttributeError(
                f"{name} is available for the exact path only: call svm_path with method='exact'."
            )
        return self.exact


@document
def svm_path(
    X: Any,
    y: ArrayLike,
    Cs: ArrayLike | None = None,
    *,
    kernel: str | Any | Callable[..., Any] = "rbf",
    degree: float = 3,
    gamma: Literal["scale", "auto", "median"] | float = "scale",
    coef0: float = 0.0,
    kernel_params: dict[Any, Any] | None = None,
    sample_weight: ArrayLike | None = None,
    class_weight: dict[Any, Any] | str | None = None,
    loss: Literal["hinge", "squared_hinge"] = "hinge",
    fit_intercept: bool = True,
    method: Literal["warm", "exact"] = "warm",
    tol: float = 1e-3,
    max_iter: int = -1,
    cache_size: float = 200,
    max_breakpoints: int = 10_000,
) -> Any:
    """Fit a support vector classifier of two classes for many values of ``C``.

    ``method="warm"`` solves for one ``C`` after the other, the least first. A solver that starts
    from the best multiple of the solution before has little left to do, and the Gram matrix is
    computed once if it fits into ``cache_size``. ``method="exact"`` follows the solution of the
    hinge loss, which is linear in ``C`` between finitely many breakpoints, from the least ``C`` to
    the largest: it has the solution of every ``C`` between them, to rounding errors.

    Parameters
    ----------
    {training_samples}

    y : array-like of shape (n_samples,)
        Labels of two classes.

    Cs : array-like of shape (n_Cs,), default=None
        The values of ``C``, positive and finite; they are sorted. None is thirteen values from
        0.001 to 1000.

    {svm_kernel}

    {degree}

    gamma : {"scale", "auto", "median"} or float, default="scale"
        The ``gamma`` of the named kernels, as in :class:`SVC`.

    {svm_coef0}

    {kernel_params}

    sample_weight : float or array-like of shape (n_samples,), default=None
        Weights, by which ``C`` is multiplied.

    class_weight : dict or "balanced", default=None
        Weights of the classes, by which the ``C`` of their samples is multiplied.

    loss : {"hinge", "squared_hinge"}, default="hinge"
        The loss. The exact path is that of "hinge".

    fit_intercept : bool, default=True
        Whether to fit the intercept.

    method : {"warm", "exact"}, default="warm"
        How to compute the path. "exact" holds the Gram matrix in float64, and one solution per
        breakpoint; there are about as many of these as samples, or a few times as many.

    tol : float, default=1e-3
        The violation of the optimality conditions at which "warm" stops.

    max_iter : int, default=-1
        The maximum number of steps of "warm" for each ``C``. -1 is ten million, or a hundred per
        sample if that is more.

    cache_size : float, default=200
        The maximum memory for kernel values of "warm", in MB.

    max_breakpoints : int, default=10_000
        The maximum number of breakpoints of "exact". If they do not suffice the path ends early,
        with a warning, and has no solutions for larger ``C``.

    Returns
    -------
    path : SVMPath
        The solutions and their certificates.

    See Also
    --------
    SVC : The classifier for one ``C``, and for more classes.

    References
    ----------
    T. Hastie, S. Rosset, R. Tibshirani and J. Zhu, "The entire regularization path for the support
    vector machine", Journal of Machine Learning Research 5, 2004.

    Examples
    --------
    The four points reach their hard margin at ``C = 0.4``, and nothing changes from there on:

    >>> from sklearn_sl.svm import svm_path
    >>> X = [[1.0, 1.0], [2.0, 2.0], [-1.0, -1.0], [0.0, -1.0]]
    >>> path = svm_path(X, [1, 1, -1, -1], [0.1, 1.0, 10.0], kernel="linear", method="exact")
    >>> path.dual_coef.round(2) + 0.0
    array([[ 0.1 ,  0.06, -0.06, -0.1 ],
           [ 0.4 ,  0.  ,  0.  , -0.4 ],
           [ 0.4 ,  0.  ,  0.  , -0.4 ]])
    >>> path.breakpoints.round(3)
    array([ 0.1  ,  0.222,  0.25 ,  0.333,  0.4  , 10.   ])
    >>> coefficients, intercept = path.at(0.4)
    >>> coefficients @ X, round(float(intercept), 3)
    (array([0.4, 0.8]), -0.2)
    """
    machine = SVC(
        kernel=kernel,
        degree=degree,
        gamma=gamma,
        coef0=coef0,
        kernel_params=kernel_params,
        class_weight=class_weight,
        loss=loss,
        fit_intercept=fit_intercept,
        tol=tol,
        max_iter=max_iter,
        cache_size=cache_size,
    )
    machine._validate_params()
    Cs = _check_costs(Cs)
    _check_method(method, loss)
    problem_at, gram = _problem_family(machine, X, y, sample_weight)
    exact = None
    if method == "exact":
        exact = _exact_path(problem_at(1.0), gram, Cs[0], Cs[-1], max_breakpoints)
        Cs = Cs[Cs <= exact.breakpoints[-1]]
        solutions = _solutions_on(exact, problem_at, gram, Cs, tol)
    else:
        solutions = _warm_path(problem_at, gram, Cs, machine)
    return _collect(machine.classes_, Cs, solutions, exact)


def _check_costs(Cs):
    """Return the values of ``C`` in ascending order."""
    Cs = DEFAULT_CS.copy() if Cs is None else np.sort(np.atleast_1d(np.asarray(Cs, dtype=float)))
    if Cs.ndim != 1 or not Cs.size or not (Cs[0] > 0 and np.isfinite(Cs[-1])):
        raise ValueError(
            f"Cs must be an array-like of positive finite floats; got {Cs}. For a hard "
            "margin, fit SVC(C=np.inf)."
        )
    return Cs


def _check_method(method, loss):
    if method not in ("warm", "exact"):
        raise ValueError(f"method must be 'warm' or 'exact'; got {method!r}.")
    if method == "exact" and loss != "hinge":
        raise ValueError(
            "method='exact' requires loss='hinge', whose path is piecewise linear in C; "
            f"got loss={loss!r}. Use method='warm'."
        )


def _problem_family(machine, X, y, sample_weight):
    """Return the function that gives the problem for a ``C``, and the Gram matrix of them all.

    A sample of weight zero stays, and has a coefficient that cannot move.
    """
    X, y, weight, own_weight = weighted_classes(machine, X, y, sample_weight)
    if len(machine.classes_) > 2:
        raise ValueError(
            f"y must have two classes in svm_path; got {len(machine.classes_)}. Call it for "
            "each pair of classes, or fit SVC for each C."
        )
    sign = np.where(y == machine.classes_[1], 1.0, -1.0)
    form = {"squared": machine.loss == "squared_hinge", "intercept": machine.fit_intercept}
    gram = gram_of(machine._kernel_object(X, own_weight), X, np.arange(len(y)))
    return lambda C: margin_problem(sign, C * weight, **form), gram


def _warm_path(problem_at, gram, Cs, machine):
    """Return the solutions of all ``C``, each started from the one before."""
    solutions = list(solve_in_turn(map(problem_at, Cs), gram, **machine._solver_options))
    _warn_of_unsolved(Cs, solutions, machine)
    return solutions


def _warn_of_unsolved(Cs, solutions, machine):
    unsolved = [(C, s) for C, s in zip(Cs, solutions, strict=True) if not s.converged]
    if not unsolved:
        return
    C, worst = max(unsolved, key=lambda pair: pair[1].violation)
    warn(
        f"SMO stopped before the end for {len(unsolved)} of {len(Cs)} values of C "
        f"(max_iter={machine.max_iter}). At C={C:g} the KKT violation is {worst.violation:.2e}, "
        f"above tol={machine.tol:.2e}, and the duality gap "
        f"{worst.primal_objective - worst.dual_objective:.2e}. Scale the features "
        "(StandardScaler), leave out the largest C, or increase max_iter.",
        ConvergenceWarning,
    )


def _exact_path(unit, gram, C_min, C_max, max_breakpoints):
    """Return the exact path of the problems whose costs are multiples of those of ``unit``."""
    check_memory(
        5 * 8 * gram.n**2,
        f"The exact path of {gram.n} samples, with its Gram matrix and factors,",
        "choose method='warm', or fewer samples.",
    )
    return hinge_path(
        whole_matrix(gram, np.float64),
        unit.target,
        C_min=C_min,
        C_max=C_max,
        weight=unit.cost,
        max_breakpoints=max_breakpoints,
        fit_intercept=unit.intercept,
    )


def _solutions_on(exact, problem_at, gram, Cs, tol):
    """Return the points of an exact path with the certificates of solutions."""
    passed = np.searchsorted(exact.breakpoints, Cs, side="right")
    points = zip(Cs, exact.at(Cs)[0], passed, strict=True)
    return [_certified(problem_at(C), gram, b, n, tol) for C, b, n in points]


def _certified(problem, gram, b, n_iter, tol):
    b = _at_bounds(b, problem)
    support = np.flatnonzero(b)
    v = problem.target - (gram.product(support, b[support]) if len(support) else 0.0)
    violation = problem.violation(b, v)
    return DualSolution(problem, b, v, int(n_iter), violation, bool(violation <= tol))


def _at_bounds(b, problem):
    """Return coefficients that are at a bound, not next to it by a rounding error."""
    rounding = AT_BOUND * problem.cost
    b = np.where(np.abs(b) <= rounding, 0.0, b)
    b = np.where(b >= problem.upper - rounding, problem.upper, b)
    return np.where(b <= problem.lower + rounding, problem.lower, b)


def _collect(classes, Cs, solutions, exact):
    """Return the path that consists of these solutions."""

    def each(name, dtype=np.float64):
        return np.array([getattr(s, name) for s in solutions], dtype=dtype)

    with np.errstate(divide="ignore"):
        margin = 1 / np.sqrt(each("squared_norm"))
    return SVMPath(
        classes=classes,
        Cs=Cs,
        dual_coef=each("b"),
        intercept=each("intercept"),
        dual_objective=each("dual_objective"),
        primal_objective=each("primal_objective"),
        kkt_violation=each("violation"),
        margin=margin,
        n_iter=each("n_iter", np.int64),
        converged=each("converged", bool),
        exact=exact,
    )
