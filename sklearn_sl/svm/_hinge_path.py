"""The exact path of the hinge-loss machine in ``C``.

The signed dual ``beta = y * alpha`` maximises

    ``sum_i y_i beta_i - beta'K beta / 2``

with ``y_i beta_i`` in ``[0, C w_i]`` and, if there is an intercept ``b``, with
``sum_i beta_i = 0``. Let ``r = y - K beta - b`` be the residual. A point is
optimal exactly if

- ``r_i <= 0`` where ``beta_i`` is at the lower end of its interval,
- ``r_i >= 0`` where it is at the upper end,
- ``r_i = 0`` on the rest, the elbow ``E``.

As long as no index enters or leaves the elbow these are linear equations with a
right-hand side linear in ``C``, and so is their solution. The path is followed
from event to event: someone in the elbow reaches an end of its interval, or the
residual of someone else reaches zero; each event moves one index.

Events that coincide are moves of length zero. They solve the linear
complementarity problem of the next direction by principal pivots; with the
least index first these end after finitely many steps if the matrix is positive
definite [2]_, and it is made so by a diagonal term of the size of the rounding
errors (``RIDGE``), which costs ``RIDGE * C * max_i K_ii`` in the residual.

With an intercept the elbow is never empty. Where theory has it empty, one index
stays that moves along with its bound and anchors ``b`` at an end of the interval of
the optimal intercepts; the path reports the middle of that interval, and has a
breakpoint where the other end passes from one sample to another.

The solution at the first ``C`` comes from the same walk in another direction: the
targets ``y`` are bent until some feasible point is optimal, and then bent back.

References
----------
.. [1] T. Hastie, S. Rosset, R. Tibshirani, J. Zhu (2004). The entire regularization
   path for the support vector machine. JMLR 5, 1391-1415.
.. [2] K. G. Murty (1974). Note on a Bard-type scheme for solving the complementarity
   problem. Opsearch 11, 123-130.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_consistent_length

from sklearn_sl._threads import one_blas_thread
from sklearn_sl._warnings import warn

# Added to the diagonal, in units of the largest diagonal entry of the centred matrix.
RIDGE = 1e-14
# Rounding error of a speed, in units of the sum of the moduli that were added up.
NOISE = 8 * np.finfo(float).eps
# Events closer together than this, in units of the parameter, are one event.
TOGETHER = 1e-13
# How often an index may move at one place before it is taken for rounding noise.
PATIENCE = 8
# So many moves between two computations from scratch.
REFRESH = 50
# The moves that may be spent: for each breakpoint, and to find the first solution per sample.
MOVES_PER_BREAKPOINT = 10
MOVES_PER_SAMPLE = 100
# Residuals of the wrong sign beyond this are repaired.
DRIFT = 1e-10
# A violation of the optimality conditions that goes without a warning.
ACCEPTABLE = 1e-6
# A dual coefficient this close to its bound, in units of the bound, is at the bound.
AT_BOUND = 1e-11


@dataclass
class HingePath:
    """The solutions of the hinge-loss machine for all ``C`` of an interval.

    Attributes
    ----------
    breakpoints : ndarray of shape (n_breakpoints,)
        The values of ``C`` between which the solution is linear in ``C``, ascending.

    dual_coef : ndarray of shape (n_breakpoints, n_samples)
        The signed dual coefficients ``y * alpha`` at the breakpoints.

    intercept : ndarray of shape (n_breakpoints,)
        The intercepts at the breakpoints.

    kkt_violation : ndarray of shape (n_breakpoints,)
        The largest violation of the optimality conditions at the breakpoints, in
        units of the decision function, computed from the matrix as it was given.
    """

    breakpoints: np.ndarray
    dual_coef: np.ndarray
    intercept: np.ndarray
    kkt_violation: np.ndarray

    def at(self, C):
        """Return the solution at ``C``.

        Parameters
        ----------
        C : float or array-like
            Between the first and the last breakpoint.

        Returns
        -------
        dual_coef : ndarray of shape (n_samples,), or (len(C), n_samples)
            The signed dual coefficients.

        intercept : float, or ndarray of shape (len(C),)
            The intercept.
        """
        C = np.asarray(C, dtype=float)
        first, last = self.breakpoints[[0, -1]]
        if not np.all((first <= C) & (last >= C)):
            raise ValueError(f"C must be in [{first:g}, {last:g}], the range of the path.")
        right = np.searchsorted(self.breakpoints, C)
        left = np.maximum(right - 1, 0)
        width = self.breakpoints[right] - self.breakpoints[left]
        share = np.divide(C - self.breakpoints[left], width, out=np.ones_like(C), where=width > 0)
        beta = _between(self.dual_coef[left], self.dual_coef[right], share[..., None])
        return beta, _between(self.intercept[left], self.intercept[right], share)


def _between(left, right, share):
    return (1 - share) * left + share * right


def hinge_path(
    K,
    y,
    *,
    C_min,
    C_max,
    weight=None,
    start=None,
    max_breakpoints=10_000,
    fit_intercept=True,
):
    """Follow the solution of the hinge-loss machine from ``C_min`` to ``C_max``.

    The machine minimises ``||f||**2 / 2 + C sum_i w_i max(0, 1 - y_i (f(x_i) + b))``
    over functions ``f = sum_i beta_i K(x_i, .)`` and intercepts ``b``. Its solution is
    linear in ``C`` between finitely many breakpoints [1]_.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples)
        The Gram matrix, positive semi-definite, perhaps singular.

    y : array-like of shape (n_samples,)
        The labels, -1 or 1.

    C_min, C_max : float
        The ends of the path, ``0 < C_min <= C_max``, both finite.

    weight : array-like of shape (n_samples,), default=None
        The multiples of ``C`` of the samples, none negative. A sample of weight zero
        has no part in the problem.

    start : array-like of shape (n_samples,), default=None
        Signed dual coefficients near the solution at ``C_min``, to begin from.

    max_breakpoints : int, default=10_000
        The path ends here, with a warning, if it has not reached ``C_max``. Each
        breakpoint costs ``n_samples`` numbers of memory.

    fit_intercept : bool, default=True
        Whether there is an intercept; else ``b = 0``.

    Returns
    -------
    path : HingePath
        The breakpoints and the solutions there.

    References
    ----------
    .. [1] T. Hastie, S. Rosset, R. Tibshirani, J. Zhu (2004). The entire regularization
       path for the support vector machine. JMLR 5, 1391-1415.

    Examples
    --------
    The hard margin of four points is reached at ``C = 0.4``:

    >>> import numpy as np
    >>> from sklearn_sl.svm._hinge_path import hinge_path
    >>> X = np.array([[1.0, 1], [2, 2], [-1, -1], [0, -1]])
    >>> path = hinge_path(X @ X.T, [1, 1, -1, -1], C_min=0.01, C_max=10)
    >>> beta, intercept = path.at(5.0)
    >>> (X.T @ beta).round(6), round(float(intercept), 6)
    (array([0.4, 0.8]), -0.2)
    """
    K, y, weight, start = _check_problem(K, y, weight, start)
    if not 0 < C_min <= C_max < np.inf:
        raise ValueError(
            f"C_min and C_max must satisfy 0 < C_min <= C_max < inf; got C_min={C_min} and "
            f"C_max={C_max}."
        )
    if max_breakpoints < 2:
        raise ValueError(f"max_breakpoints must be at least 2; got {max_breakpoints}.")
    used = np.flatnonzero(weight)
    if fit_intercept and abs(y[used].sum()) == len(used):
        return _one_class(y, used, C_min, C_max)
    problem = _Scaled(K[np.ix_(used, used)], fit_intercept)
    walk = _Walk(problem.K, y[used], weight[used], fit_intercept)
    points = _Points(problem, max_breakpoints)
    # Several threads gain nothing here: those of NumPy's BLAS and of SciPy's wait for each other.
    with one_blas_thread():
        walk.begin(C_min * problem.scale, None if start is None else start[used] * problem.scale)
        _follow(walk, points, C_max * problem.scale)
    breakpoints, beta, intercept = points.arrays()
    if breakpoints[-1] < C_max:
        warn(
            (
                f"The path ends at C={breakpoints[-1]:g} instead of C_max={C_max:g}, after "
                f"{len(breakpoints)} breakpoints. Increase max_breakpoints."
            ),
            ConvergenceWarning,
        )
    dual_coef = np.zeros((len(breakpoints), len(y)))
    dual_coef[:, used] = beta
    violation = kkt_violation(K, y, dual_coef, intercept, breakpoints[:, None] * weight)
    if violation.max() > ACCEPTABLE:
        warn(
            f"The optimality conditions are violated by up to {violation.max():.1e} on the path: "
            "C times the matrix is too large for double precision, or the matrix is not positive "
            "semi-definite. Decrease C_max or scale the features.",
            ConvergenceWarning,
        )
    return HingePath(breakpoints, dual_coef, intercept, violation)


def kkt_violation(K, y, beta, intercept, upper):
    """Return the largest violation of the optimality conditions of each row of ``beta``.

    The number is the largest ``|1 - y_i f_i|`` of those on the wrong side of the
    margin: with ``alpha_i < upper_i`` and ``y_i f_i < 1``, or with ``alpha_i > 0`` and
    ``y_i f_i > 1``. Where ``upper_i`` is zero there is no condition.
    """
    alpha = y * beta
    slack = 1 - y * (beta @ K + np.reshape(intercept, (-1, 1)))
    short = np.where(alpha < (1 - AT_BOUND) * upper, slack, 0)
    excess = np.where(alpha > AT_BOUND * upper, -slack, 0)
    return np.maximum(np.max(short, axis=1, initial=0), np.max(excess, axis=1, initial=0))


def _check_problem(K, y, weight, start):
    K = check_array(K, dtype=np.float64, input_name="K")
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"K must be a square Gram matrix; got shape {K.shape}.")
    y = np.asarray(y, dtype=float)
    check_consistent_length(K, y, weight, start)
    if y.ndim != 1 or not np.isin(y, (-1, 1)).all():
        raise ValueError("y must be a vector of labels -1 and 1.")
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    if not (np.isfinite(weight).all() and weight.min() >= 0 and weight.any()):
        raise ValueError("weight must be finite and non-negative, with at least one non-zero.")
    if start is not None:
        start = check_array(start, dtype=np.float64, ensure_2d=False, input_name="start")
    return K, y, weight, start


def _one_class(y, used, C_min, C_max):
    """Return the path of one class: the constant that classifies it."""
    breakpoints = np.array([C_min, C_max], dtype=float)
    return HingePath(breakpoints, np.zeros((2, len(y))), np.full(2, y[used[0]]), np.zeros(2))


class _Scaled:
    """An equivalent problem whose matrix is positive definite with entries around one.

    With ``sum(beta) = 0`` the rows and columns may be centred, which moves the
    intercept alone, and a constant may be added to all entries, which moves nothing
    and makes the elbow system solvable without a border. Dividing the matrix by
    ``scale`` multiplies ``C`` and ``beta`` by it; a power of two does so exactly.
    """

    def __init__(self, K, fit_intercept):
        self.column_means = K.mean(axis=0) if fit_intercept else np.zeros(len(K))
        if fit_intercept:
            K = K - self.column_means - self.column_means[:, None] + self.column_means.mean()
        largest = np.max(np.diagonal(K), initial=0.0)
        self.scale = 2.0 ** np.round(np.log2(largest)) if largest > 0 else 1.0
        self.K = K / self.scale + (1.0 if fit_intercept else 0.0)
        self.K[np.diag_indices_from(K)] += RIDGE

    def original(self, C, beta, b):
        """Return ``C``, ``beta`` and ``b`` in terms of the matrix that was given."""
        beta = beta / self.scale
        return C / self.scale, beta, b - self.column_means @ beta


class _Points:
    """The points that the path has passed."""

    def __init__(self, problem, capacity):
        self.problem = problem
        self.capacity = capacity
        self.rows = []

    @property
    def full(self):
        return len(self.rows) >= self.capacity

    def add(self, walk):
        self.last = walk.position, walk.beta.copy()
        self.rows.append(self.problem.original(walk.position, *walk.solution()))

    def is_new(self, walk):
        """Return whether the walk is away from the last point by more than rounding."""
        position, beta = self.last
        if walk.position - position > TOGETHER * position:
            return True
        return np.abs(walk.beta - beta).max() > AT_BOUND * position

    def arrays(self):
        return tuple(np.array(column) for column in zip(*self.rows))


def _follow(walk, points, C_max):
    """Walk from the present ``C`` to ``C_max`` and note the points where the path bends."""
    walk.turn_to_growing_bounds()
    points.add(walk)
    repaired = walk.position
    budget = MOVES_PER_BREAKPOINT * points.capacity + MOVES_PER_SAMPLE * len(walk.y)
    while walk.position < C_max and not points.full and budget > 0:
        before = walk.moves
        walk.move(C_max)
        if walk.position == C_max or points.is_new(walk):
            points.add(walk)
        if repaired < walk.position < C_max and walk.has_drifted():
            repaired = walk.position
            walk.begin(walk.position, walk.beta)
            walk.turn_to_growing_bounds()
            if points.is_new(walk):
                points.add(walk)
        budget -= walk.moves - before


class _Line:
    """A vector that is linear in the parameter of the walk."""

    def __init__(self, base, rate):
        self.base = base
        self.rate = np.broadcast_to(rate, np.shape(base))

    def at(self, position):
        return self.base + position * self.rate


class _Walk:
    """A solution of the signed dual that follows its targets and bounds.

    ``side`` is -1 where ``beta`` is at its lower bound, 1 at its upper, 0 in the elbow.
    """

    def __init__(self, K, y, weight, fit_intercept):
        self.K = K
        self.y = y
        self.reach = np.minimum(y, 0) * weight, np.maximum(y, 0) * weight
        self.fit_intercept = fit_intercept
        self.elbow = _Elbow(K, fit_intercept)
        self.crossings = np.zeros(len(y), dtype=int)
        self.moves = 0
        self.growing = False

    # ------------------------------------------------------------ the three journeys

    def begin(self, C, guess=None):
        """Find the solution at ``C``, from a guess if there is one."""
        self.growing = False
        lower, upper = (C * reach for reach in self.reach)
        self.beta = self._feasible(lower, upper, guess)
        self.side = np.where(self.beta == upper, 1, np.where(self.beta == lower, -1, 0))
        self.lower, self.upper = _Line(lower, 0.0), _Line(upper, 0.0)
        bent = self._bend_targets()
        self.target = _Line(bent, self.y - bent)
        self.position = 0.0
        self.crossings[:] = 0
        self.refresh()
        last = self.moves + MOVES_PER_SAMPLE * len(self.y)
        while self.position < 1 and self.moves < last:
            self.move(1.0)
        if self.position < 1:
            warn(
                (
                    "The exact solution at the first C was not found in "
                    f"{MOVES_PER_SAMPLE * len(self.y)} moves: the path starts at an approximate "
                    "one (see kkt_violation). Scale the features, or start at another C."
                ),
                ConvergenceWarning,
            )
        self.position = C

    def turn_to_growing_bounds(self):
        """Make ``C`` the parameter."""
        self.growing = True
        self.target = _Line(self.y, 0.0)
        zeros = np.zeros_like(self.y)
        self.lower, self.upper = (_Line(zeros, reach) for reach in self.reach)
        self.crossings[:] = 0
        self.refresh()

    def bounds(self):
        """Return the bounds of ``beta`` now."""
        return self.lower.at(self.position), self.upper.at(self.position)

    def _feasible(self, lower, upper, guess):
        if guess is None:
            guess = lower + upper
            order = self._worst_fit_last(guess)
        else:
            margin = AT_BOUND * (upper - lower)
            guess = np.where(guess > upper - margin, upper, guess)
            guess = np.where(guess < lower + margin, lower, guess)
            # Those between their bounds take the difference first: few, and near zero residual.
            order = np.argsort((guess == upper) | (guess == lower), kind="stable")
        if not self.fit_intercept:
            return guess
        return _balanced(guess, lower, upper, order)

    def _worst_fit_last(self, guess):
        """Order the samples by their margin in the direction between the class means."""
        positive = self.y > 0
        total = np.where(positive, guess[positive].sum(), -guess[~positive].sum())
        return np.argsort(-self.y * (self.K @ (guess / total)), kind="stable")

    def _bend_targets(self):
        """Return targets for which ``beta`` is optimal, and set an intercept to go with it."""
        offset = self.y - self.K @ self.beta
        free = self.side == 0
        self.b = 0.0
        if self.fit_intercept:
            if not free.any():
                low, high = _intercept_bounds(offset, self.side)
                anchor = np.argmin(np.abs(offset - (low + high) / 2))
                self.side[anchor] = 0
                free[anchor] = True
            self.b = np.median(offset[free])
        residual = offset - self.b
        self.elbow.restart(np.flatnonzero(free))
        wrong = (self.side * residual < 0) & ~free
        # Equal residuals for all: the worst is the first to reach zero on the way back.
        size = np.abs(residual[wrong]).max(initial=0.0)
        wanted = np.where(wrong, self.side * size, np.where(free, 0.0, residual))
        return self.y + wanted - residual

    # ------------------------------------------------------------ one move

    def move(self, end):
        """Go to the next event, or to ``end`` if there is none before."""
        self.moves += 1
        if self.moves % REFRESH == 0:
            self.refresh()
        velocity = self._velocity()
        if self.growing and self.fit_intercept and len(self.elbow.members) == 1:
            end = min(end, self.position + self._bend(velocity))
        step, limit = self._events(velocity)
        event = self._first(step, limit, end)
        if event is None:
            self._advance(end - self.position, velocity)
            self.position = end
            return
        self._advance(step[event], velocity)
        self._cross(event)

    def _velocity(self):
        """Return the speeds of ``beta``, ``b`` and the residual."""
        beta = np.where(self.side > 0, self.upper.rate, self.lower.rate)
        members = self.elbow.members
        beta[members] = 0
        pull = self.target.rate - self.pull
        rows = self.K[members]
        total = -beta.sum()
        beta[members], b = self.elbow.solve(pull[members], total)
        residual = pull - beta[members] @ rows - b
        # The factor is updated from move to move; its errors are seen here, and mended.
        if np.abs(residual[members]).max(initial=0.0) > NOISE * np.abs(beta).sum():
            more, more_b = self.elbow.solve(residual[members], total - beta[members].sum())
            beta[members] += more
            b += more_b
            residual = pull - beta[members] @ rows - b
        return beta, b, residual

    def _events(self, velocity):
        """Return how far away each event is, and where it would be late beyond rounding."""
        beta_speed, _, residual_speed = velocity
        total = np.abs(beta_speed).sum() + np.abs(self.target.rate).max()
        speed = -self.side * residual_speed
        slack = self.side * self.residual
        noise = np.full(len(speed), NOISE * total)
        late = np.full(len(speed), TOGETHER)
        members = self.elbow.members
        if len(members) > 1 or not self.fit_intercept:
            lower, upper = self.bounds()
            slack[members], speed[members] = self._room(beta_speed, lower, upper)
            noise[members] = TOGETHER * np.abs(beta_speed).max()
            late[members] = TOGETHER * (upper - lower)[members]
        approaching = (speed > noise) & (self.crossings < PATIENCE)
        step = np.full(len(speed), np.inf)
        step[approaching] = np.maximum(slack[approaching], 0) / speed[approaching]
        limit = step.copy()
        limit[approaching] += late[approaching] / speed[approaching]
        return step, limit

    def _bend(self, velocity):
        """Return how far an end of the interval of the intercepts is that of the same sample.

        The anchor is on its bound, and stays there, if there is such an interval.
        """
        beta_speed, b_speed, residual_speed = velocity
        lower, upper = self.bounds()
        anchor, side = self.elbow.members[0], self.side.copy()
        above, below = (upper - self.beta)[anchor], (self.beta - lower)[anchor]
        side[anchor] = 1 if above < below else -1
        bound_speed = (self.upper if above < below else self.lower).rate[anchor]
        noise = NOISE * np.abs(beta_speed).sum()
        if abs(beta_speed[anchor] - bound_speed) > noise:
            return np.inf
        # Either end is the least of these numbers of one side. Those that are equal here part
        # further on.
        further = 2 * TOGETHER * self.position
        speed = side * (residual_speed + b_speed)
        number = side * (self.residual + self.b) + further * speed
        return further + min(
            _first_change(number[group], speed[group], noise) for group in (side < 0, side > 0)
        )

    def _room(self, beta_speed, lower, upper):
        """Return the room to the bound ahead in the elbow, and the speed towards it."""
        members = self.elbow.members
        to_upper = (beta_speed - self.upper.rate)[members]
        to_lower = (self.lower.rate - beta_speed)[members]
        above, below = (upper - self.beta)[members], (self.beta - lower)[members]
        never = np.full(len(members), np.inf)
        upper_first = np.divide(above, to_upper, out=never.copy(), where=to_upper > 0) <= np.divide(
            below, to_lower, out=never, where=to_lower > 0
        )
        return np.where(upper_first, above, below), np.where(upper_first, to_upper, to_lower)

    def _first(self, step, limit, end):
        """Return the event to come next, or None if ``end`` comes before all events.

        Of several at once it is the one with the least index, which prevents cycles.
        """
        event = np.flatnonzero(step <= limit.min())[0]
        return event if step[event] <= end - self.position else None

    def _advance(self, step, velocity):
        if step > TOGETHER * self.position:
            self.crossings[:] = 0
        beta_speed, b_speed, residual_speed = velocity
        self.position += step
        self.b += step * b_speed
        self.residual += step * residual_speed
        self.beta += step * beta_speed
        self._put_on_bounds()

    def _put_on_bounds(self):
        lower, upper = self.bounds()
        self.beta = np.where(self.side == 0, self.beta, np.where(self.side > 0, upper, lower))

    def _cross(self, event):
        """Move an index into the elbow or out of it."""
        self.crossings[event] += 1
        if self.side[event]:
            self.pull -= self.K[event] * self._bound_rate(event)
            self.side[event] = 0
            self.elbow.add(event)
            return
        lower, upper = self.bounds()
        self.elbow.drop(event)
        nearer_upper = upper[event] - self.beta[event] < self.beta[event] - lower[event]
        self.side[event] = 1 if nearer_upper else -1
        self.beta[event] = upper[event] if nearer_upper else lower[event]
        self.pull += self.K[event] * self._bound_rate(event)

    def _bound_rate(self, sample):
        return (self.upper if self.side[sample] > 0 else self.lower).rate[sample]

    # ------------------------------------------------------------ against rounding errors

    def refresh(self):
        """Compute all that is carried along from move to move from scratch."""
        self._put_on_bounds()
        self.elbow.restart(self.elbow.members)
        rate = np.where(self.side > 0, self.upper.rate, self.lower.rate)
        self.pull = self.K @ np.where(self.side == 0, 0.0, rate)
        self.residual = self.target.at(self.position) - self.K @ self.beta - self.b

    def has_drifted(self):
        """Return whether a fresh residual has the wrong sign somewhere, beyond rounding."""
        if self.moves % REFRESH:
            return False
        wrong = np.where(self.side == 0, np.abs(self.residual), -self.side * self.residual)
        return wrong.max() > DRIFT + NOISE * np.abs(self.beta).sum()

    def solution(self):
        """Return ``beta`` and ``b``, in the middle of its interval if there is one."""
        lower, upper = self.bounds()
        beta = np.clip(self.beta, lower, upper)
        if not self.fit_intercept or len(self.elbow.members) > 2:
            return beta, self.b
        margin = AT_BOUND * (upper - lower)
        side = np.where(beta > upper - margin, 1, np.where(beta < lower + margin, -1, 0))
        low, high = _intercept_bounds(self.residual + self.b, side)
        if not side.all() or low > high:
            return beta, self.b
        return np.where(side > 0, upper, lower), (low + high) / 2


def _balanced(beta, lower, upper, order):
    """Return ``beta`` changed to sum to zero, the first in ``order`` as far as they can go."""
    excess = beta.sum()
    bound = lower if excess > 0 else upper
    room = np.abs(beta - bound)[order]
    take = np.clip(np.abs(excess) - (np.cumsum(room) - room), 0, room)
    balanced = beta.copy()
    balanced[order] = np.where(take == room, bound[order], beta[order] - np.sign(excess) * take)
    return balanced


def _intercept_bounds(offset, side):
    """Return between which numbers the intercept must be: not so if they are out of order."""
    low = np.max(offset[side < 0], initial=-np.inf)
    high = np.min(offset[side > 0], initial=np.inf)
    return low, high


def _first_change(number, speed, noise):
    """Return when the least of some numbers, which change at some speeds, is another one."""
    if not len(number):
        return np.inf
    least = np.lexsort((speed, number))[0]
    catching_up = speed[least] - speed
    others = catching_up > noise
    return ((number - number[least])[others] / catching_up[others]).min(initial=np.inf)


class _Elbow:
    """The samples at the margin and the triangular factor ``R'R`` of their matrix.

    The factor is changed in time quadratic in the number of members.
    """

    def __init__(self, K, bordered):
        self.K = K
        self.bordered = bordered
        self.restart(np.empty(0, dtype=int))

    def restart(self, members):
        """Factor the matrix of ``members`` from scratch."""
        self.members = np.asarray(members)
        try:
            self.R = linalg.cholesky(self.K[np.ix_(members, members)], check_finite=False)
        except linalg.LinAlgError:
            self.members, self.R = self.members[:0], np.empty((0, 0))
            for sample in members:
                self.add(sample)

    def add(self, sample):
        """Take a sample into the elbow."""
        n = len(self.members)
        R = np.zeros((n + 1, n + 1), order="F")
        R[:n, :n] = self.R
        column = self.K[self.members, sample]
        if n:
            column = linalg.solve_triangular(self.R, column, trans="T", check_finite=False)
        R[:n, n] = column
        # Not below what the matrix has by construction, whatever rounding says.
        R[n, n] = np.sqrt(max(self.K[sample, sample] - column @ column, RIDGE))
        self.members, self.R = np.append(self.members, sample), R

    def drop(self, sample):
        """Remove a sample from the elbow."""
        place = int(np.flatnonzero(self.members == sample)[0])
        # Without one column R is triangular but for the part below, which rotations restore.
        tail = self.R[place:, place:]
        _, rotated = linalg.qr_delete(np.eye(len(tail)), tail, 0, which="col", check_finite=False)
        R = np.delete(np.delete(self.R, place, axis=0), place, axis=1)
        R[place:, place:] = rotated[:-1]
        self.members, self.R = np.delete(self.members, place), R

    def solve(self, side, total):
        """Return ``x`` and ``b`` with ``K x + b = side`` and ``sum(x) = total``.

        Without a border ``b`` is zero and the sum is free.
        """
        if not len(self.members):
            return side, 0.0
        sides = np.column_stack([side, np.ones(len(side))])
        x, one = linalg.cho_solve((self.R, False), sides, check_finite=False).T
        if not self.bordered:
            return x, 0.0
        b = (x.sum() - total) / one.sum()
        return x - b * one, b
