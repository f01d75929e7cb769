"""A block of the Gram matrix in memory, and SMO steps on its variables."""

import numpy as np

from sklearn_sl.svm import _smo

# Numbers that a slice of compiled work reads: a few hundredths of a second.
SLICE = 30_000_000


class Block:
    """A square block of the Gram matrix, and the SMO steps on its variables.

    One buffer holds the block; a new choice of rows keeps what it shares with the last one. A
    problem without an intercept has a variable more, in the first place, whose kernel is zero:
    every other variable can move against it, so that the sum is free.
    """

    def __init__(self, problem, gram, dtype, largest):
        self.problem = problem
        self.gram = gram
        self.extra = 0 if problem.intercept else 1
        self.rows = np.empty(0, dtype=np.intp)
        self.diagonal = gram.diagonal + problem.ridge
        padded = _padded(largest + self.extra)
        self.buffer = np.empty((largest + self.extra) * padded, dtype=dtype)
        self.flat = flattest(gram, dtype)

    def choose(self, rows):
        """Make the block that of ``rows``; kept rows come first."""
        place = np.full(self.gram.n, -1)
        place[self.rows] = np.arange(len(self.rows))
        known = place[rows] >= 0
        kept = np.sort(place[rows[known]])
        if known.all() and len(kept) == len(self.rows):
            return
        self._compact(kept, len(rows))
        self.rows = np.concatenate([self.rows[kept], rows[~known]])
        e, n, K = self.extra, len(rows), self.K(len(rows))
        inner = K[e:, e : e + n]
        self.gram.fill_square(self.rows, inner, len(kept))
        np.fill_diagonal(inner, self.diagonal[self.rows])
        K[:e], K[:, :e], K[:, e + n :] = 0, 0, 0

    def turn_to(self, problem):
        """Serve another problem on the same Gram matrix; the ridge may differ."""
        self.problem, self.diagonal = problem, self.gram.diagonal + problem.ridge
        e, n = self.extra, len(self.rows)
        np.fill_diagonal(self.K(n)[e:, e : e + n], self.diagonal[self.rows])

    @property
    def exact(self):
        """Whether the values are in float64."""
        return self.buffer.dtype == np.float64

    def matrix(self, rows):
        """Return the Gram matrix, with the ridge, of some rows of the block."""
        place = np.empty(self.gram.n, dtype=np.intp)
        place[self.rows] = np.arange(len(self.rows)) + self.extra
        return self.K(len(self.rows))[np.ix_(place[rows], place[rows])]

    def product(self, b):
        """Return ``(K + ridge) b`` at the rows of the block."""
        e, n = self.extra, len(self.rows)
        return self.K(n)[e:, e : e + n] @ b[self.rows]

    def K(self, n):
        """Return the block of ``n`` rows as a matrix with padded rows."""
        n += self.extra
        return self.buffer[: n * _padded(n)].reshape(n, _padded(n))

    def _compact(self, kept, n):
        """Move the kept rows and columns to the front, in place: they come from behind."""
        e, old, new = self.extra, self.K(len(self.rows)), self.K(n)
        if len(kept) == len(self.rows) and old.shape[1] == new.shape[1]:
            return
        shared = min(old.shape[1], new.shape[1])
        if len(kept):
            _smo.compact(self.buffer, kept, e, old.shape[1], shared)
        if shared < new.shape[1]:  # rows move apart, the last one first
            for i in range(e + len(kept) - 1, e, -1):
                new[i, e : e + len(kept)] = old[i, e : e + len(kept)]

    def state(self, b, v):
        """Return the state of the variables of the block for the compiled steps."""
        e, n, problem = self.extra, len(self.rows), self.problem
        state = np.zeros((8, _padded(n + e)))
        inner = self.inner(state)
        inner[0], inner[1] = b[self.rows], v[self.rows]
        inner[2], inner[3] = problem.lower[self.rows], problem.upper[self.rows]
        inner[4] = problem.width
        inner[5] = self.diagonal[self.rows]
        if e:
            state[2, 0], state[3, 0] = -np.inf, np.inf
        return state

    def inner(self, state):
        """Return the part of a state that belongs to samples."""
        return state[:, self.extra : self.extra + len(self.rows)]

    def steps(self, state, tol, shrinking, max_steps, watch):
        """Take steps until the violation within the block is at most ``tol``."""
        violation, taken = np.empty(1), 0
        K = self.K(len(self.rows))
        while taken < max_steps:
            steps = _smo.solve(
                K, state, tol, self.flat, shrinking, max_steps - taken, SLICE, violation
            )
            taken += steps
            if watch(violation[0]) or not violation[0] > tol or not steps:
                break
        return taken


def _padded(n):
    return -(-n // _smo.PADDING) * _smo.PADDING


def flattest(gram, dtype):
    """Return the least curvature that is not a rounding error."""
    size = np.abs(gram.diagonal).max(initial=0) or 1.0
    return max(1e-12, 4 * np.finfo(dtype).eps) * size
