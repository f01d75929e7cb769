"""Conjugate gradients on the matrix of a graph, the same ones for every solver of the package."""

import numpy as np
import scipy.sparse as sp

from sklearn_sl._laplacians import _sweeps
from sklearn_sl._threads import for_each

# Multiplications of one compiled call, some 30 ms.
CALL = 3e7
# Steps between two looks at what is gained.
LOOK = 8
TINY = np.finfo(np.float64).tiny


class ScaledMatrix:
    """The matrix ``diag(a) - W`` of a graph, scaled to a unit diagonal.

    It is ``I - S`` with ``S = a^-1/2 W a^-1/2``. Vertices with ``a = 0`` have no edges; whatever
    their value is, it stays.

    Parameters
    ----------
    W : csr_array of shape (n, n)
        Symmetric weights, none negative.

    a : ndarray of shape (n,)
        The diagonal: at least the sums of the rows of ``W``.
    """

    def __init__(self, W, a):
        root = np.sqrt(np.where(a > 0, a, 1))
        S = sp.csr_array(W, copy=True)
        S.sort_indices()
        S.data /= np.repeat(root, np.diff(S.indptr))
        S.data /= root[S.indices]
        # In units of the largest entry no square of a residual overflows or vanishes.
        self.unit = np.max(a, initial=TINY)
        self.root = np.where(a > 0, root / np.sqrt(self.unit), 1)
        self.matrix = S
        indptr, indices = S.indptr.astype(np.int64), S.indices.astype(np.int32)
        middle = np.empty(len(a), dtype=np.int64)
        _sweeps.find_middle(indptr, indices, middle)
        self.parts = indptr, middle, indices, S.data

    def solve(self, b, x, tols, max_iter):
        """Solve until the residual is ``tols`` times what it is for ``x = 0``, or at the start.

        Returns the solution, the number of steps, and whether they were enough. ``x`` is where the
        search begins. All columns of ``b`` are solved for, some of them at once, by threads.
        """
        return self._by_groups(b, x, max_iter, lambda run, cols: run.to_residual(tols[cols]))

    def settle(self, b, tol, max_iter):
        """Solve until the error is about ``tol`` of the solution, both in the norm of the energy.

        Each step lowers the squared error by a number that is known (Hestenes and Stiefel); what
        the last quarter of the steps has gained estimates, from above as soon as the steps
        converge, what is left. The matrix may be singular, if ``b`` is in its range.
        """
        return self._by_groups(b, np.zeros(b.shape), max_iter, lambda run, cols: run.to_error(tol))

    def _by_groups(self, b, x, max_iter, finish):
        n_sides = b.shape[1]
        groups = np.array_split(np.arange(n_sides), -(-n_sides // _sweeps.MOST_SIDES))
        found, outcomes = np.empty(b.shape), {}

        def work(group):
            columns = groups[group]
            run = _Run(self, b[:, columns] / self.unit, x[:, columns], max_iter)
            converged = finish(run, columns)
            found[:, columns] = run.solution()
            outcomes[group] = run.n_steps, converged

        for_each(work, range(len(groups)))
        n_steps, converged = zip(*outcomes.values())
        return found, max(n_steps), all(converged)


class _Run:
    """The state of conjugate gradients for a few right-hand sides."""

    def __init__(self, scaled, b, x, max_iter):
        self.parts, self.root, self.max_iter = scaled.parts, scaled.root[:, None], max_iter
        self.begin = np.multiply(x, self.root, order="C")
        b = np.divide(b, self.root, order="C")
        n, n_sides = b.shape
        zeros = np.zeros(b.shape)
        self.p, self.t, self.s, self.y, self.r = (np.zeros(b.shape) for _ in range(5))
        _sweeps.solve_lower(*self.parts, b, zeros, self.s)
        self.size = np.einsum("ij,ij->j", self.s, self.s)
        rest = np.ascontiguousarray(b - self.begin + scaled.matrix @ self.begin)
        _sweeps.solve_lower(*self.parts, rest, zeros, self.r)
        self.norm = np.einsum("ij,ij->j", self.r, self.r)
        self.beta, self.gain = np.zeros(n_sides), np.zeros(n_sides)
        self.n_steps = 0
        self.call = max(1, int(CALL / (n_sides * (len(scaled.matrix.data) + 8 * n) + 1)))

    def advance(self, target, n_steps):
        """Take steps, no more than that and the budget; return whether the targets are met."""
        asked = min(n_steps, self.max_iter - self.n_steps)
        taken = _sweeps.conjugate_gradients(
            *self.parts,
            target,
            asked,
            self.p,
            self.t,
            self.s,
            self.r,
            self.y,
            self.beta,
            self.norm,
            self.gain,
        )
        self.n_steps += taken
        return bool(np.all(self.norm <= target))

    def to_residual(self, tols):
        """Go on until the residual is small; return whether it became so."""
        target = tols**2 * np.maximum(self.size, self.norm)
        while self.n_steps < self.max_iter:
            before = self.n_steps
            if self.advance(target, self.call):
                return True
            if self.n_steps == before:  # what is left is no number
                break
        return False

    def to_error(self, tol):
        """Go on until nothing is gained any more; return whether that came to pass."""
        rounding = np.finfo(np.float64).eps ** 2 * self.norm
        gains = []
        while self.n_steps < self.max_iter:
            self.gain[:], before = 0, self.n_steps
            done = self.advance(rounding, min(LOOK, self.call))
            if not done and self.n_steps == before:  # what is left is no number
                break
            gains.append(self.gain.copy())
            last = max(1, len(gains) // 4)
            left, all_of_it = np.sum(gains[-last:], axis=0), np.sum(gains, axis=0)
            if done or (len(gains) > last and np.all(left <= tol**2 * all_of_it)):
                return True
        return False

    def solution(self):
        """Return the solution so far."""
        _sweeps.solve_upper(*self.parts, self.y, self.s, self.t)
        return (self.t + self.begin) / self.root
