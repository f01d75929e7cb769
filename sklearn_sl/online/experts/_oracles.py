"""What would have been best in hindsight: an expert, a mixture, a sequence with few shifts."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy import linalg, optimize, special
from sklearn.utils import check_array, check_consistent_length, check_scalar, column_or_1d

from sklearn_sl.online.experts import _oracles_dp

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

# Numbers that a slice of the dynamic programme computes.
SLICE = 2**23
# Trials times shifts whose tables, of two integers each, are kept at once.
ROOM = 2**25
# A mixture is good enough if its certified excess is this share of the loss, or of what the loss
# is a difference of.
TOL = 1e-12
# No step of Newton's method is shorter.
SHORTEST = 1e-10


class BestExpert(NamedTuple):
    """The expert with the least loss; see :func:`best_expert`.

    Attributes
    ----------
    expert : int
        The expert.

    loss : float
        Its loss in all trials.

    See Also
    --------
    best_expert : Finds it.

    Examples
    --------
    >>> from sklearn_sl.online import best_expert
    >>> best_expert([[0.0, 1.0], [0.5, 0.0]])
    BestExpert(expert=0, loss=0.5)
    """

    expert: int
    loss: float


class ConvexCombination(NamedTuple):
    """The mixture of experts with the least loss; see :func:`best_convex_combination`.

    Attributes
    ----------
    weights : ndarray of shape (n_experts,)
        Non-negative weights that sum to one.

    loss : float
        The loss of the mixture in all trials.

    gap : float
        No mixture has a loss below ``loss - gap``.

    See Also
    --------
    best_convex_combination : Finds it.

    Examples
    --------
    >>> from sklearn_sl.online import best_convex_combination
    >>> best = best_convex_combination([[0.0, 1.0], [1.0, 0.0]], [0.5, 0.5])
    >>> best.weights.round(6), round(best.loss, 6), round(best.gap, 6)
    (array([0.5, 0.5]), 0.0, 0.0)
    """

    weights: np.ndarray
    loss: float
    gap: float


class ShiftingSequence(NamedTuple):
    """The sequence of experts with the least loss; see :func:`best_shifting_sequence`.

    Attributes
    ----------
    experts : ndarray of shape (n_trials,)
        The expert of each trial.

    loss : float
        The loss of the sequence.

    losses : ndarray of shape (n_shifts + 1,)
        The least losses with at most 0, 1, 2, ... shifts.

    See Also
    --------
    best_shifting_sequence : Finds it.

    Examples
    --------
    >>> from sklearn_sl.online import best_shifting_sequence
    >>> best_shifting_sequence([[0, 1], [0, 1], [1, 0]], n_shifts=1).experts
    array([0, 0, 1])
    """

    experts: np.ndarray
    loss: float
    losses: np.ndarray


def best_expert(losses: ArrayLike) -> Any:
    """Return the expert with the least loss in all trials; of several, the first.

    Parameters
    ----------
    losses : array-like of shape (n_trials, n_experts)
        The loss of each expert in each trial.

    Returns
    -------
    best : BestExpert
        The ``expert`` and its ``loss``.

    See Also
    --------
    best_convex_combination : The best mixture of experts.
    best_shifting_sequence : The best expert for each stretch of trials.

    Examples
    --------
    >>> from sklearn_sl.datasets import make_switching_experts
    >>> from sklearn_sl.online import best_expert
    >>> advice, y, _ = make_switching_experts(random_state=0)
    >>> expert, loss = best_expert((advice - y[:, None]) ** 2)
    >>> round(loss, 2)
    50.48
    """
    totals = _read_losses(losses).sum(axis=0)
    expert = int(totals.argmin())
    return BestExpert(expert, float(totals[expert]))


def best_convex_combination(
    advice: ArrayLike, y: ArrayLike, loss: Literal["square", "absolute", "entropic"] = "square"
) -> Any:
    """Return the mixture of experts, the same in all trials, with the least loss.

    Let ``x_t`` be the advice in trial ``t``. The mixture with the weights ``w`` says ``w.x_t``.
    Minimised is, over all non-negative ``w`` that sum to one:

    - "square": ``sum_t (y_t - w.x_t)^2``, by an active set method: the point of least norm in a
      polytope;
    - "absolute": ``sum_t |y_t - w.x_t|``, a linear programme;
    - "entropic": ``sum_t y_t ln(y_t / w.x_t) + (1 - y_t) ln((1 - y_t) / (1 - w.x_t))`` for advice
      and outcomes in [0, 1], by Newton's method, whose steps are problems of the first kind.

    Each comes with a certificate: by convexity no weights have a loss below ``loss - gap``.

    Parameters
    ----------
    advice : array-like of shape (n_trials, n_experts)
        What the experts said.

    y : array-like of shape (n_trials,)
        The outcomes.

    loss : {"square", "absolute", "entropic"}, default="square"
        The loss.

    Returns
    -------
    best : ConvexCombination
        The ``weights``, their ``loss``, and the ``gap``.

    See Also
    --------
    best_expert : The best one alone.

    References
    ----------
    .. [1] P. Wolfe, "Finding the nearest point in a polytope", Mathematical Programming 11, 1976.

    .. [2] Y. Kim, P. Carbonetto, M. Stephens and M. Anitescu, "A fast algorithm for maximum
       likelihood estimation of mixture proportions using sequential quadratic programming",
       Journal of Computational and Graphical Statistics 29, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.online import best_convex_combination
    >>> rng = np.random.default_rng(0)
    >>> advice = rng.uniform(size=(100, 3))
    >>> y = advice @ [0.7, 0.3, 0.0]
    >>> best_convex_combination(advice, y).weights.round(6)
    array([0.7, 0.3, 0. ])
    """
    X = check_array(advice, dtype=np.float64, input_name="advice")
    y = check_array(column_or_1d(y, dtype=np.float64), ensure_2d=False, input_name="y")
    check_consistent_length(X, y)
    solvers = {"square": _mix_square, "absolute": _mix_absolute, "entropic": _mix_entropic}
    if loss not in solvers:
        raise ValueError(f"loss must be one of {sorted(solvers)}; got {loss!r}.")
    return solvers[loss](X, y)


def best_shifting_sequence(losses: ArrayLike, n_shifts: int) -> Any:
    """Return the sequence of experts with at most so many shifts that has the least loss.

    A sequence has an expert for each trial; it shifts where the expert changes. By dynamic
    programming over trials, experts and shifts, in time proportional to their product. Memory is
    for the trials times the shifts, unless that is too much: then for the shifts times the root of
    trials times experts, in twice the time.

    Parameters
    ----------
    losses : array-like of shape (n_trials, n_experts)
        The loss of each expert in each trial.

    n_shifts : int
        The largest number of shifts.

    Returns
    -------
    best : ShiftingSequence
        The ``experts`` of all trials, their ``loss``, and the least ``losses`` for fewer shifts.
        Of several sequences the one is taken that shifts later.

    See Also
    --------
    best_expert : Without shifts.
    sklearn_sl.datasets.make_switching_experts : Experts of which the best one changes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.datasets import make_switching_experts
    >>> from sklearn_sl.online import best_shifting_sequence
    >>> advice, y, best = make_switching_experts(random_state=0)
    >>> sequence = best_shifting_sequence((advice - y[:, None]) ** 2, n_shifts=3)
    >>> sequence.losses.round(2)
    array([50.48, 34.58, 19.23,  6.55])
    >>> round(float(np.mean(sequence.experts == best)), 2)
    1.0
    """
    losses = _read_losses(losses)
    check_scalar(n_shifts, "n_shifts", Integral, min_val=0)
    n_trials, n_experts = losses.shape
    levels = min(n_shifts, n_trials - 1) + 1
    state = [np.zeros((levels, n_experts)), np.zeros((levels, n_experts), dtype=np.intp)]
    state.append(np.zeros(levels))
    cuts = _cuts(n_trials, n_experts, levels)
    before = []
    for part in cuts:
        before.append([array.copy() for array in state] if len(cuts) > 1 else None)
        ends = _ends(losses, part, state)
    experts = np.empty(n_trials, dtype=np.intp)
    stop, level = n_trials, levels - 1
    for part, state_before in zip(cuts[::-1], before[::-1], strict=True):
        if part is not cuts[-1]:
            ends = _ends(losses, part, state_before)
        while stop > part.start:
            expert, start = ends[:, stop - 1 - part.start, level]
            experts[start:stop] = expert
            stop, level = start, level - 1
    least = state[-1]
    # More shifts than there is room for are of no use.
    least = np.pad(least, (0, n_shifts + 1 - levels), mode="edge")
    return ShiftingSequence(experts, float(least[-1]), least)


def _cuts(n_trials, n_experts, levels):
    """Return slices of trials whose tables are kept at a time: all, if there is room.

    Otherwise the state before each slice is kept, and tables are computed once more on the way
    back. Slices of this length need the least memory for both.
    """
    length = n_trials if n_trials * levels <= ROOM else max(1, int(np.sqrt(n_trials * n_experts)))
    return [slice(start, min(start + length, n_trials)) for start in range(0, n_trials, length)]


def _ends(losses, part, state):
    """Go through a slice of trials, and return the best expert and its start, level by level."""
    totals, starts, least = state
    ends = np.empty((2, part.stop - part.start, len(least)), dtype=np.intp)
    step = max(1, SLICE // totals.size)
    for start in range(part.start, part.stop, step):
        rows = slice(start, min(start + step, part.stop))
        own = slice(rows.start - part.start, rows.stop - part.start)
        _oracles_dp.extend(losses[rows], start, totals, starts, least, *ends[:, own])
    return ends


def _read_losses(losses):
    return check_array(losses, dtype=np.float64, order="C", input_name="losses")


# ---------------------------------------------------------------- mixtures


def _mix_square(X, y):
    errors = X - y[:, None]
    weights = _nearest_point(errors)
    mixed = errors @ weights
    gap = 2 * (mixed @ mixed - (mixed @ errors).min())
    return ConvexCombination(weights, float(mixed @ mixed), max(float(gap), 0.0))


def _nearest_point(Z):
    """Return the weights of the point of least norm in the convex hull of the columns of ``Z``.

    Wolfe's method: the columns with positive weights are affinely independent, and their mixture
    is the point of least norm in their affine hull. The column that promises most joins them;
    those whose weights would become negative leave.
    """
    n_rows, n = Z.shape
    Z = Z / (np.abs(Z).max() or 1.0)
    if n_rows > n:
        Z = linalg.qr(Z, mode="r", check_finite=False)[0][:n]
    squares = np.einsum("ij,ij->j", Z, Z)
    support, weights = [int(squares.argmin())], np.ones(1)
    slack, best = TOL * squares.max(), np.inf
    while True:
        support, weights = _minor_cycles(Z, support, weights)
        point = Z[:, support] @ weights
        square, slopes = point @ point, point @ Z
        joining = int(slopes.argmin())
        # Progress ends with the precision of the numbers, if not before.
        if square - slopes[joining] <= slack or joining in support or square >= best:
            break
        support, weights, best = [*support, joining], np.append(weights, 0.0), square
    mixture = np.zeros(n)
    mixture[support] = weights
    return mixture


def _minor_cycles(Z, support, weights):
    """Go to the point of least norm in an affine hull, and stop at its convex part's border."""
    while True:
        goal = _affine_weights(Z[:, support])
        outside = goal <= 0
        if not outside.any():
            return support, goal
        step = np.min(weights[outside] / (weights[outside] - goal[outside]))
        weights = weights + step * (goal - weights)
        stays = ~(outside & (weights <= weights[outside].min()))
        support = [column for column, stay in zip(support, stays, strict=True) if stay]
        weights = np.maximum(weights[stays], 0.0)
        weights /= weights.sum()


def _affine_weights(Z):
    """Return the weights, of any sign and with the sum one, of the least norm of ``Z w``.

    They are those that minimise ``||Z w||^2 + (sum(w) - 1)^2``, divided by their sum.
    """
    n = Z.shape[1]
    system = np.vstack([Z, np.ones(n)])
    target = np.zeros(len(system))
    target[-1] = 1.0
    weights = linalg.lstsq(system, target, check_finite=False, lapack_driver="gelsy")[0]
    return weights / weights.sum()


def _mix_absolute(X, y):
    # The dual: max over z in [-1, 1]^T of min_j (X'z)_j - y'z. It has a constraint for each expert
    # and a bounded variable for each trial, and its multipliers are the weights.
    n_trials, n = X.shape
    scale = max(np.abs(X).max(), np.abs(y).max()) or 1.0
    found = optimize.linprog(
        np.append(y, -scale) / scale,
        A_ub=np.column_stack([-X.T / scale, np.ones(n)]),
        b_ub=np.zeros(n),
        bounds=[(-1, 1)] * n_trials + [(None, None)],
        method="highs",
    )
    if found.status:
        raise RuntimeError(f"The linear program was not solved: {found.message}")
    weights = np.maximum(-found.ineqlin.marginals, 0.0)
    weights /= weights.sum()
    z = np.clip(found.x[:-1], -1, 1)
    loss = float(np.abs(X @ weights - y).sum())
    return ConvexCombination(weights, loss, max(loss - float((z @ X).min() - z @ y), 0.0))


def _mix_entropic(X, y):
    for name, values in (("advice", X), ("y", y)):
        if values.min() < 0 or values.max() > 1:
            raise ValueError(f'{name} must be in [0, 1] for loss="entropic".')
    # Minimise the sum of -c ln(a.w) over the rows a of A.
    ones, zeros = np.flatnonzero(y > 0), np.flatnonzero(y < 1)
    A, c = np.vstack([X[ones], 1 - X[zeros]]), np.concatenate([y[ones], 1 - y[zeros]])
    hopeless = np.flatnonzero(A.max(axis=1) == 0)
    if hopeless.size:
        trial = np.concatenate([ones, zeros])[hopeless[0]]
        raise ValueError(
            f"In trial {trial} every mixture has an infinite entropic loss, because all experts "
            "exclude the outcome: clip the advice away from 0 and 1."
        )
    weights, gap = _newton_mixture(A, c)
    entropy = special.xlogy(y, y).sum() + special.xlogy(1 - y, 1 - y).sum()
    loss = float(entropy - c @ np.log(A @ weights))
    return ConvexCombination(weights, loss, max(float(gap), 0.0))


def _newton_mixture(A, c):
    """Return the weights of the least sum of ``-c ln(a.w)``, and how far it is from the least."""
    root = np.sqrt(c)[:, None]
    weights = np.full(A.shape[1], 1 / A.shape[1])
    while True:
        mixed = A @ weights
        ratios = A / mixed[:, None]
        gains = c @ ratios
        gap = gains.max() - gains @ weights
        if gap <= TOL * c.sum():
            return weights, gap
        # The second order model of -ln(r) at r = 1 is (r - 2)^2 / 2, but for a constant.
        direction = _nearest_point(root * (ratios - 2)) - weights
        change, step = A @ direction / mixed, 1.0
        while not _falls(c, 1 + step * change, step * (gains @ direction)):
            step /= 2
            if step < SHORTEST:  # as good as the numbers are
                return weights, gap
        weights = weights + step * direction


def _falls(c, ratios, promised):
    """Return whether a step keeps a quarter of what its slope promised."""
    return ratios.min() > 0 and c @ np.log(ratios) >= promised / 4
