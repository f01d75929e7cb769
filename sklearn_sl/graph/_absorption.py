"""Random walks that end at labels: who reaches one, and which one with which probability.

The systems are ``(D - A) x = b`` with ``A >= 0``, ``b >= 0`` and a diagonal ``D`` that is at least
the sum of each row of ``A``. Large ones are iterated. Small ones, and those on which the iteration
fails, are eliminated without a single subtraction (Grassmann, Taksar and Heyman): every number of
the solution has full relative accuracy, however weak the ties to the labels are.
"""

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from sklearn_sl._laplacians._factor import Limits, Pattern, TooMuchFill
from sklearn_sl._rows import slices
from sklearn_sl._threads import for_each, one_blas_thread
from sklearn_sl.graph import _dense_elimination

# Columns that are eliminated at once, and rows of an update, which threads share.
PANEL, ROWS = 64, 512
# The side of a square of a matrix that stays in the cache.
TILE = 256
# Work of one call, in multiplications: some 50 ms, so that Ctrl-C is heard.
CALL = 5e8
# Up to these orders elimination is about as fast as iteration.
DIRECT_DENSE, DIRECT_SPARSE = 3000, 500
# Up to this order a sparse matrix is made dense if the iteration fails.
LARGEST_ELIMINATED = 5000
# A residual is much less than the error of a long walk: the iteration goes on to this part of tol.
AIM = 1e-3
# Rounding errors of the residual of one row.
ROUNDING = 1e-13
# Smaller sums are no sums: what is left of them is of few digits.
TINY = 1e-290
# The walk between groups of vertices preconditions that between vertices.
GROUP_SIZE, MAX_GROUPS = 10, 2500
# SuperLU does about so many multiplications in 0.1 s.
QUICK = 3e8


@dataclass
class Propagated:
    """Label distributions, zero where no label is reached, and how they were obtained."""

    F: np.ndarray
    residual: float
    n_iter: int
    converged: bool


# ---------------------------------------------------------------- who reaches a label


def hops_to(A, targets):
    """Return the least number of edges from each vertex to a target; -1 if there is no way.

    An edge leads from ``i`` to ``j`` where ``A[i, j] > 0``.
    """
    hops = np.where(targets, 0, -1)
    into = A.T.tocsr() if sp.issparse(A) else None
    frontier, n_hops = np.flatnonzero(targets), 0
    while len(frontier):
        n_hops += 1
        if into is None:
            rows = np.flatnonzero(hops < 0)
            frontier = rows[_any_edge(A, rows, frontier)]
        else:
            rows = into[frontier].indices
            frontier = _distinct(rows[hops[rows] < 0], into.shape[0])
        hops[frontier] = n_hops
    return hops


def _distinct(numbers, n):
    """Return each of the numbers below ``n`` once, without sorting."""
    place = np.empty(n, dtype=np.intp)
    place[numbers] = np.arange(len(numbers))
    return numbers[place[numbers] == np.arange(len(numbers))]


def _any_edge(A, rows, cols):
    """Return whether each of the rows of a dense matrix has an edge to one of the columns."""
    found = np.zeros(len(rows), dtype=bool)
    for start in range(0, len(cols), PANEL):
        # Most rows have an edge to one of the first columns.
        without = np.flatnonzero(~found)
        if not len(without):
            break
        some = cols[start : start + PANEL]
        found[without] = (A[np.ix_(rows[without], some)] > 0).any(axis=1)
    return found


def _row_blocks(n_rows, work, multiple=1):
    """Return slices of rows that make a bounded call each, of ``work`` multiplications a row."""
    step = max(1, int(CALL / max(work, 1) / multiple)) * multiple
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


# ---------------------------------------------------------------- two systems


def harmonic(A, labelled, Y, tol, max_iter, progress):
    """Return the distribution of the label at which a random walk on ``A`` ends, by its start.

    ``u = Y`` at the labelled vertices, and ``u_i = sum_j A_ij u_j / sum_j A_ij`` at the others,
    ``j`` over the vertices that can reach a label; a row of zeros where no label can be reached.
    The diagonal of ``A`` must be zero.
    """
    hops = hops_to(A, labelled)
    inner, outer = np.flatnonzero(hops > 0), np.flatnonzero(labelled)
    F = Y.copy()
    if not len(inner):
        return Propagated(normalised(F), 0.0, 1, True)
    among = _submatrix(A, inner, inner)
    b = _submatrix(A, inner, outer) @ Y[outer]
    loss = b.sum(axis=1)
    degree = _row_sums(among) + loss
    walk = Walk(among, 1 / degree, np.ones(len(inner)), b / degree[:, None])
    goal = max(tol, ROUNDING * len(inner))
    u, n_iter, converged = None, 1, False
    if _is_large(among):
        precondition = _coarse_correction(walk) if sp.issparse(A) else None
        # More steps with a dense matrix would take longer than its elimination.
        budget = max_iter + hops.max() if sp.issparse(A) else min(max_iter, len(inner) // 100)
        u, n_iter, change = bicgstab(walk, AIM * tol, budget, progress, precondition)
        # The probabilities sum to one: an error that the residual does not tell shows there.
        converged = change <= goal and np.abs(_sums(u) - 1).max() <= goal
    if u is None or (_can_eliminate(among) and not (converged or progress.stop)):
        u, converged = eliminate(among, loss, b), True
    F[inner] = normalised(u)
    return Propagated(normalised(F), walk.change(F[inner]), n_iter, converged)


def spreading(A, Y, alpha, tol, max_iter, progress):
    """Return the solution of ``F = alpha S F + (1 - alpha) Y``, its rows divided by their sums.

    ``S = D^-1/2 A D^-1/2`` with the sums of the columns of ``A`` in ``D``, or one where they
    vanish. The diagonal of ``A`` must be zero.
    """
    degree = _row_sums(A.T)
    root = np.sqrt(np.where(degree > 0, degree, 1))
    walk = Walk(A, alpha / root, 1 / root, (1 - alpha) * Y)
    goal = max(tol, ROUNDING * len(Y))
    # A step goes one edge further, and after that the changes shrink by alpha.
    budget = max_iter + hops_to(A, Y.any(axis=1)).max()
    if math.log(goal / len(Y)) / math.log(alpha) <= max_iter:
        F, n_iter, change = fixed_point(walk, walk.b, tol, budget, progress)
    else:
        F, n_iter, change = bicgstab(walk, tol, budget, progress)
    if change > goal and not progress.stop:
        if _can_eliminate(A) and is_symmetric(A):
            odds = 1 / alpha - 1
            loss = np.where(degree > 0, odds * degree, 1 / alpha)
            F = root[:, None] * eliminate(A, loss, odds * root[:, None] * Y)
            change = walk.change(F)
        else:
            # What is tiny beside other samples is noise so far; these steps subtract nothing.
            F, more, change = fixed_point(walk, np.maximum(F, 0), tol, budget, progress)
            n_iter += more
    return Propagated(normalised(F), change, n_iter, change <= goal)


def _is_large(A):
    return A.shape[0] > (DIRECT_SPARSE if sp.issparse(A) else DIRECT_DENSE)


def _can_eliminate(A):
    return not sp.issparse(A) or A.shape[0] <= LARGEST_ELIMINATED


def _submatrix(A, rows, cols):
    if sp.issparse(A):
        return A[rows][:, cols]
    part = np.empty((len(rows), len(cols)))
    for some in slices(len(rows), PANEL):
        np.take(A[rows[some]], cols, axis=1, out=part[some], mode="clip")
    return part


def _row_sums(A):
    return np.asarray(A.sum(axis=1)).ravel()


def is_symmetric(A):
    """Return whether a matrix equals its transpose, entry by entry."""
    if sp.issparse(A):
        return (A != A.T).nnz == 0
    parts = slices(len(A), TILE)
    return all(np.array_equal(A[i, j], A[j, i].T) for k, i in enumerate(parts) for j in parts[k:])


def normalised(F):
    """Return non-negative rows of sum one; a row without a positive number becomes zero."""
    F = np.maximum(F, 0)
    total = F.sum(axis=1, keepdims=True)
    return np.divide(F, total, out=np.zeros_like(F), where=total > TINY)


# ---------------------------------------------------------------- iteration


@dataclass
class Walk:
    """The equation ``x = left * (A @ (right * x)) + b``."""

    A: np.ndarray | sp.csr_array
    left: np.ndarray
    right: np.ndarray
    b: np.ndarray

    def move(self, x):
        """Return ``left * (A @ (right * x))``."""
        x = self.right[:, None] * x
        n_stored = self.A.nnz / len(x) if sp.issparse(self.A) else len(x)
        blocks = _row_blocks(len(x), 4 * n_stored * x.shape[1])
        if len(blocks) == 1:
            return self.left[:, None] * (self.A @ x)
        return self.left[:, None] * np.concatenate([self.A[part] @ x for part in blocks])

    def step(self, x):
        """Return the right-hand side of the equation."""
        return self.move(x) + self.b

    def change(self, x):
        """Return the sum over the rows of what a step changes, relative to the sum of the row."""
        return relative_change(self.step(x) - x, x)


def relative_change(change, x):
    """Return ``sum_i |change_i| / |x_i|`` in the norm of sums; one for what was nothing."""
    change, total = _sums(np.abs(change)), _sums(np.abs(x))
    ratio = np.divide(change, total, out=np.ones_like(change), where=total > TINY)
    return float(np.sum(ratio, where=change > TINY))


def fixed_point(walk, x, tol, max_iter, progress):
    """Iterate ``x = walk.step(x)``, which subtracts nothing.

    Returns ``x``, the number of steps, and the change by one more.
    """
    goal, n_iter, new = max(tol, ROUNDING * len(x)), 0, walk.step(x)
    while (change := relative_change(new - x, x)) > goal and n_iter < max_iter:
        if progress.stop:
            break
        with progress.step():
            x, new, n_iter = new, walk.step(new), n_iter + 1
    return x, max(n_iter, 1), change


@np.errstate(over="ignore", invalid="ignore")
def bicgstab(walk, tol, max_iter, progress, precondition=None):
    """Solve ``x = walk.step(x)`` by stabilised biconjugate gradients, one system per column.

    Starts again from where it is if rounding has made its account of the residual wrong. Returns
    ``x``, the number of steps, and the change by one step of the walk.
    """
    x, n_iter, goal = np.zeros_like(walk.b), 0, max(tol, ROUNDING * len(walk.b))
    residual, precondition = walk.b, precondition or (lambda z: z)
    while relative_change(residual, x) > goal and n_iter < max_iter:
        x, more = _bicgstab_run(walk, x, residual, goal, max_iter - n_iter, progress, precondition)
        n_iter += more
        residual = walk.step(x) - x
        if progress.stop:
            break
    return x, n_iter, relative_change(residual, x)


def _bicgstab_run(walk, x, residual, goal, max_iter, progress, precondition):
    """Return where stabilised biconjugate gradients lead from ``x``, and the number of steps."""
    shadow = direction = residual
    rho, n_iter = _inner(shadow, residual), 0
    while n_iter < max_iter and not progress.stop:
        with progress.step():
            n_iter += 1
            p = precondition(direction)
            v = p - walk.move(p)
            a = _ratio(rho, _inner(shadow, v))
            half = residual - a * v
            s = precondition(half)
            t = s - walk.move(s)
            w = _ratio(_inner(t, half), _inner(t, t))
            residual = half - w * t
            if not np.isfinite(residual).all():
                break
            x = x + a * p + w * s
        before, rho = rho, _inner(shadow, residual)
        if relative_change(residual, x) <= goal or not rho.any():
            break
        direction = residual + _ratio(rho, before) * _ratio(a, w) * (direction - w * v)
    return x, n_iter


def _sums(x):
    """Return the sums of short rows; a product is much faster than ``x.sum(axis=1)``."""
    return x @ np.ones(x.shape[1])


def _inner(a, b):
    """Return the inner products of the columns."""
    return np.ones(len(a)) @ (a * b)


def _ratio(a, b):
    """Return ``a / b``, and zero where ``b`` is zero (a column that is solved already)."""
    return np.divide(a, b, out=np.zeros_like(a), where=b != 0)


def _coarse_correction(walk):
    """Return the preconditioner of a sparse walk: the walk between groups, then one step."""
    groups = _groups(walk.A)
    by_group = groups.T.tocsr()
    coarse = sp.csr_array(by_group @ (groups - sp.diags_array(walk.left) @ (walk.A @ groups)))
    try:
        solve = _coarse_solver(coarse)
    except (RuntimeError, np.linalg.LinAlgError):  # all weights of a group may have underflowed
        return None

    def precondition(residual):
        z = groups @ solve(by_group @ residual)
        return residual + walk.move(z)

    return precondition


def _coarse_solver(C):
    """Return the function that solves with the matrix of the walk between groups.

    SuperLU keeps other threads, and Ctrl-C, waiting: it gets what it is done with in a moment, in
    an order whose fill is known. Other matrices are nearly full anyway, and factored in blocks.
    """
    n = C.shape[0]
    pattern = sp.csr_array(abs(C) + abs(C.T) + sp.eye_array(n))
    try:
        order = Pattern(pattern, Limits(work=QUICK)).order
    except TooMuchFill:
        return BlockFactor(C.toarray()).solve
    permuted = sp.csc_array(C[order][:, order])
    factor = splu(permuted, "NATURAL", diag_pivot_thresh=0, options={"SymmetricMode": True})

    def solve(b):
        x = np.empty_like(b)
        x[order] = factor.solve(b[order])
        return x

    return solve


class BlockFactor:
    """The factors of a diagonally dominant matrix, which needs no pivoting, by blocks of columns.

    ``M`` is overwritten: below the blocks of the diagonal by ``L``, whose own blocks there are
    unit matrices, above them by ``U``. No call takes long, so that Ctrl-C is heard.
    """

    def __init__(self, M):
        n = len(M)
        self._M, self._inverses = M, []
        self._blocks = [slice(start, min(start + PANEL, n)) for start in range(0, n, PANEL)]
        for block in self._blocks:
            below, right = M[block.stop :, block], M[block, block.stop :]
            self._inverses.append(np.linalg.inv(M[block, block]))
            below[:] = below @ self._inverses[-1]
            for rows in _row_blocks(n - block.stop, PANEL * (n - block.stop)):
                M[block.stop :][rows, block.stop :] -= below[rows] @ right

    def solve(self, b):
        """Return ``inv(M) b``."""
        x = np.array(b)
        for block in self._blocks:
            x[block.stop :] -= self._M[block.stop :, block] @ x[block]
        for block, inverse in zip(reversed(self._blocks), reversed(self._inverses)):
            x[block] = inverse @ (x[block] - self._M[block, block.stop :] @ x[block.stop :])
        return x


def _groups(A):
    """Return which group each vertex of a sparse graph is in: those with a common nearest seed."""
    n = A.shape[0]
    seeds = np.linspace(0, n - 1, min(n // GROUP_SIZE, MAX_GROUPS)).astype(np.intp)
    group = np.full(n, -1)
    group[seeds] = np.arange(len(seeds))
    edges = (A + A.T).tocoo()
    while True:
        joins = (group[edges.row] < 0) & (group[edges.col] >= 0)
        if not joins.any():
            break
        rows, of_neighbour = edges.row[joins], group[edges.col[joins]]
        group[rows] = of_neighbour
    alone = np.flatnonzero(group < 0)
    group[alone] = len(seeds)
    return sp.csr_array((np.ones(n), (np.arange(n), group)), shape=(n, group.max() + 1))


# ---------------------------------------------------------------- elimination


def eliminate(A, loss, b):
    """Solve ``(D - A) x = b`` for ``D_ii = sum_j A_ij + loss_i`` without a subtraction.

    Vertex after vertex is taken out of the walk on ``A``; what was led through it is added to the
    direct ways. A pivot is the sum of all ways out of a vertex, never a difference. Then
    ``D - A = L U`` with a unit upper triangle ``U``. A vertex without a way out has ``x = 0``.

    Parameters
    ----------
    A : {ndarray, sparse matrix} of shape (n, n)
        The weights, none negative; the diagonal is not looked at.

    loss : ndarray of shape (n,)
        The weights of the ways that end the walk.

    b : ndarray of shape (n, n_sides)
        The right-hand sides, none negative.

    Returns
    -------
    x : ndarray of shape (n, n_sides)
        The solutions.
    """
    n, symmetric = len(b), is_symmetric(A)
    M = np.empty((n, n + 1 + b.shape[1]))
    A = A.toarray() if sp.issparse(A) else A
    for rows in _row_blocks(n, 20 * n):
        np.negative(A[rows], out=M[rows, :n])
    M[:, n], M[:, n + 1 :] = -loss, -b
    tiles = [(tile.start, tile.stop) for tile in slices(n, PANEL)]
    with one_blas_thread():
        for start, stop in tiles:
            outside = -M[start:stop, stop : n + 1].sum(axis=1)
            _dense_elimination.factor_rows(M, outside, start, stop)
            _dense_elimination.factor_columns(M, start, stop, symmetric)

            def update(row, start=start, stop=stop):
                # Of a symmetric matrix the upper triangle is enough.
                first_column = row if symmetric else stop
                _dense_elimination.update(M, start, stop, row, min(row + ROWS, n), first_column)

            if stop < n:
                for_each(update, range(stop, n, ROWS))
        x = -M[:, n + 1 :]
        for start, stop in reversed(tiles):
            _dense_elimination.substitute(M, start, stop, x)
    return x
