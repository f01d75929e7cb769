"""Leave-one-out errors of fitted machines: exact, or bounded from the solution alone."""

from itertools import combinations

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from sklearn_sl._memory import check_memory
from sklearn_sl._rows import slices
from sklearn_sl._sklearn import check_sample_weight
from sklearn_sl._threads import one_blas_thread
from sklearn_sl.svm._gram import SubGram, gram_of, whole_matrix
from sklearn_sl.svm._left_out import TOL, Resident
from sklearn_sl.svm._pivoting import DEPENDENT, exchange_matrix
from sklearn_sl.svm._problem import DualSolution, margin_problem

METHODS = ("exact", "xi-alpha", "span", "n_sv")
# Columns of the Gram matrix that the bounds look at in one go.
TILE = 512


def support_suspects(problem, gram, solution):
    """Return which samples are support vectors: without any other the solution is the same."""
    return solution.b != 0


def xi_alpha_suspects(problem, gram, solution):
    """Return which samples may be errors when left out: ``alpha_i D_i**2 + xi_i >= 1``.

    As the coefficient of the sample falls from ``alpha_i`` to zero, the other ones staying
    optimal, its margin ``y_i f(x_i)`` falls at the rate of the squared distance from the sample to
    an affine hull of free vectors, in feature space. The distance to any of them is longer, so
    ``D_i**2 = max_k ||phi_i - phi_k||**2`` bounds the rate, and so does ``2 R**2`` of Joachims
    with ``R**2 = max_i K_ii - min_ij K_ij``. Without an intercept the hull is a subspace, and the
    rate at most ``K_ii``. The ridge of a squared loss belongs to ``K``.
    """
    _need_free_vector(problem, solution.b, "xi-alpha")
    support = np.flatnonzero(solution.b)
    diagonal = gram.diagonal + problem.ridge
    rate = np.zeros(gram.n)
    rate[support] = diagonal[support]
    if problem.intercept:
        for tile in slices(len(support), TILE):
            rows = support[tile]
            K = gram.product(rows, np.eye(len(rows)))  # the columns of these rows
            far = diagonal[:, None] - 2 * K
            far[rows, np.arange(len(rows))] = -np.inf
            rate[rows] += far.max(axis=0)
    margin = problem.target * (problem.target - solution.v + solution.intercept)
    return np.abs(solution.b) * rate >= margin


def span_suspects(problem, gram, solution):
    """Return which samples are errors when left out if no other changes its state.

    That is the span rule of Vapnik and Chapelle, ``alpha_i S_i**2 >= y_i f(x_i)``, where ``S_i``
    is the distance, in feature space, from the sample to the affine hull of the other free
    vectors; without an intercept, to their span.
    """
    _need_free_vector(problem, solution.b, "span")
    support = np.flatnonzero(solution.b)
    free = problem.free(solution.b)[support]
    support, p = support[np.argsort(~free, kind="stable")], np.count_nonzero(free)
    check_memory(16 * len(support) ** 2, "The span rule", 'use method="xi-alpha" or "n_sv".')
    Q = np.empty((len(support), len(support)))
    gram.fill_square(support, Q)
    np.fill_diagonal(Q, (gram.diagonal + problem.ridge)[support])
    response = exchange_matrix(Q, p, problem.intercept)
    if response is None:  # dependent vectors: their spans are nearly zero, as they should be
        Q[np.diag_indices(p)] += 4 * DEPENDENT * Q.diagonal().max()
        response = exchange_matrix(Q, p, problem.intercept)
    reply = response.diagonal()
    squared_span = np.zeros(gram.n)
    # No other vector can take the place of the only free one: there is no hull to be near to.
    alone = problem.intercept and p == 1
    inner = np.full(1, np.inf) if alone else 1 / reply[:p]
    squared_span[support] = np.concatenate([inner, -reply[p:]])
    margin = problem.target * (problem.target - solution.v + solution.intercept)
    return np.abs(solution.b) * squared_span >= margin


def _need_free_vector(problem, b, method):
    if problem.intercept and not problem.free(b).any():
        raise ValueError(
            f'method="{method}" requires a support vector with 0 < alpha < C, but all are '
            'at C, so that the intercept is not unique. Use method="exact" or "n_sv", or '
            "fit with another C."
        )


@one_blas_thread()
def classifier_loo_error(model, X, y, sample_weight, method):
    """Return the leave-one-out error of a fitted classifier; see :meth:`SVC.loo_error`."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {METHODS}; got {method!r}.")
    check_is_fitted(model)
    gram, codes, pairs = _fitted_pairs(model, X, y, sample_weight)
    n_classes = len(model.classes_)
    # Without its only sample a class is unknown.
    errors = np.bincount(codes)[codes] == 1
    if method == "exact":
        values = _values_without_each(model, gram, pairs)
        winners = model._winners(-values if n_classes == 2 else values, n_classes)
        return float(np.mean(errors | (winners != codes)))
    suspects = {"xi-alpha": xi_alpha_suspects, "span": span_suspects, "n_sv": support_suspects}
    for members, problem, b in pairs:
        part = SubGram(gram, members)
        errors[members] |= suspects[method](problem, part, _solution(model, problem, part, b))
    return float(np.mean(errors))


@one_blas_thread()
def regressor_loo_error(model, X, y, sample_weight, method):
    """Return the leave-one-out error of a fitted regression; see :meth:`SVR.loo_error`."""
    if method != "exact":
        raise ValueError(
            'method must be "exact" for a regression, as the others count classification '
            f"errors; got {method!r}."
        )
    check_is_fitted(model)
    X, y, weight = _training_set(model, X, y, sample_weight)
    used = np.flatnonzero(weight)
    y = y[used].astype(np.float64)
    b = np.zeros(len(weight))
    b[model.support_] = _dense(model.dual_coef_)[0]
    problem = model._tube(y, model.C * weight[used])
    gram = gram_of(model.kernel_, X, used)
    machine = _resident(model, problem, gram, b[used])
    return float(np.mean(np.abs(y - machine.values_without(machine.support))))


def _training_set(model, X, y, sample_weight):
    """Return validated samples, targets and weights, or raise if their number has changed."""
    X, y = model._validate_query(X), column_or_1d(y)
    check_consistent_length(X, y)
    if X.shape[0] != model.shape_fit_[0]:
        raise _not_the_training_set(
            f"X has {X.shape[0]} samples, but the estimator was fitted on {model.shape_fit_[0]}"
        )
    weight = check_sample_weight(sample_weight, X, dtype=np.float64)
    return X, y, np.ones(len(y)) if weight is None else weight


def _not_the_training_set(reason):
    return ValueError(f"{reason}: pass the X, y and sample_weight that were used in fit.")


def _fitted_pairs(model, X, y, sample_weight):
    """Return the Gram matrix and the classes of the samples used, and the machines of all pairs.

    A machine is its samples, problem and coefficients. The samples come class by class.
    """
    X, y, weight = _training_set(model, X, y, sample_weight)
    known = np.isin(y, model.classes_)
    if model.class_weight is None and not known[weight > 0].all():
        raise _not_the_training_set(f"y has labels other than classes_={model.classes_}")
    codes = np.searchsorted(model.classes_, np.where(known, y, model.classes_[0]))
    used = np.flatnonzero(known & (weight > 0))
    used = used[np.argsort(codes[used], kind="stable")]
    codes = codes[used]
    cost = model.C * weight[used] * model.class_weight_[codes]
    dual = np.zeros((len(model.classes_) - 1, len(weight)))
    dual[:, model.support_] = _dense(model.dual_coef_)
    dual = -dual[:, used] if len(dual) == 1 else dual[:, used]
    pairs = []
    for first, second in combinations(range(len(model.classes_)), 2):
        members = np.flatnonzero((codes == first) | (codes == second))
        ours = codes[members] == first
        problem = margin_problem(
            np.where(ours, 1.0, -1.0),
            cost[members],
            squared=model.loss == "squared_hinge",
            intercept=model.fit_intercept,
        )
        b = np.where(ours, dual[second - 1, members], dual[first, members])
        pairs.append((members, problem, b))
    return gram_of(model.kernel_, X, used), codes, pairs


def _dense(coef):
    return coef.toarray() if sp.issparse(coef) else coef


def _values_without_each(model, gram, pairs):
    """Return the value of each pair's machine at each sample, trained without it, or just its sign.

    The values matter only where they break ties.
    """
    shared = None
    if len(pairs) > 1 and 8 * gram.n**2 <= 0.8e6 * model.cache_size:
        shared = whole_matrix(gram, np.float64)
    at_all = np.empty((gram.n, len(pairs)))
    for column, (members, problem, b) in enumerate(pairs):
        part = gram if len(pairs) == 1 else SubGram(gram, members, shared)
        machine = _resident(model, problem, part, b)
        if model.break_ties and len(pairs) > 1:
            at_all[members, column] = machine.values_without(machine.support)
        else:
            at_all[members, column] = machine.decided_values()
        others = np.setdiff1d(np.arange(gram.n), members)
        if len(others):
            support = np.flatnonzero(machine.support)
            values = gram.product(members[support], machine.coef[support], at=others)
            at_all[others, column] = values + machine.intercept
    return at_all


def _resident(model, problem, gram, b):
    """Return the machine of a fitted model in memory, or raise if it is not that of these data."""
    b = problem.settled(b)
    machine = Resident(problem, gram, b, min(model.tol, TOL))
    _check_distance(model, problem, b, machine.distance)
    return machine.settled()


def _solution(model, problem, gram, b):
    """Return the solution of a fitted model, or raise if it is not that of these data."""
    b = problem.settled(b)
    support = np.flatnonzero(b)
    v = problem.target - problem.ridge * b
    if len(support):
        v = v - gram.product(support, b[support])
    violation = problem.violation(b, v)
    _check_distance(model, problem, b, violation)
    return DualSolution(problem, b, v, 0, violation, True)


def _check_distance(model, problem, b, violation):
    """Raise if coefficients violate more than they did when the model was fitted."""
    feasible = (b >= problem.lower).all() and (b <= problem.upper).all()
    before = np.max(model.kkt_violation_)
    if not feasible or not violation <= 1.5 * before + 1e-7 * (1 + np.abs(problem.target).max()):
        raise _not_the_training_set(
            f"The optimality conditions are violated by {violation:.1e} on this X, y and "
            f"sample_weight, but were by {before:.1e} after fit"
        )
