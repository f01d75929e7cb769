"""Sparse Cholesky factors of Laplacians: solves, and the entries of the inverse at the edges."""

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sklearn_sl._laplacians import _sparse_cholesky as compiled
from sklearn_sl._laplacians._ordering import QuotientGraph
from sklearn_sl._memory import check_memory
from sklearn_sl._threads import one_blas_thread

# Blocks of columns are at most so wide.
WIDEST = 128
# One call of compiled code does about this many operations, 50 ms or less.
BUDGET = 5e8
# One call of the ordering, or of the analysis, reads about so many entries, or writes them for the
# first time: 50 ms or less.
READ = 5_000_000
# A vertex with more neighbours than this, times the root of the number of vertices, comes last.
DENSE = 10
TOO_FAR_APART = (
    "The weights of the graph differ by too many orders of magnitude for double precision: remove "
    "the smallest weights, or choose another scale."
)


class TooMuchFill(ValueError):
    """A factor would have more entries, or take more work, than it is worth."""


class Limits:
    """What a factor may cost: numbers that are stored, and multiplications."""

    def __init__(self, n_entries=np.inf, work=np.inf):
        self.n_entries, self.work = n_entries, work

    def check(self, n_entries, work):
        """Raise unless a factor that costs at least so much is within the limits and the memory."""
        if n_entries > self.n_entries or work > self.work:
            raise TooMuchFill("The factor of the Laplacian has too many entries.")
        check_size(int(n_entries))


class Pattern:
    """The pattern of the Cholesky factor of a sparse symmetric matrix, before it is computed.

    Parameters
    ----------
    A : csr_array of shape (n, n)
        The matrix, with a full diagonal.

    limits : Limits, default=None
        What the factor may cost, if that is less than the memory there is. :class:`TooMuchFill` is
        raised as soon as it is known to cost more.

    Attributes
    ----------
    order : ndarray of shape (n,)
        The order of elimination.

    n_entries : int
        How many numbers the factor stores.

    work : float
        About how many multiplications the factorisation takes.
    """

    def __init__(self, A, limits=None):
        self._limits = Limits() if limits is None else limits
        order = least_degree_order(A, self._limits)
        A, parent = _permuted(A, order), np.empty(A.shape[0], dtype=np.intp)
        compiled.elimination_tree(A.indptr, A.indices, parent, np.empty_like(parent))
        post = np.empty_like(parent)
        compiled.postorder(parent, np.empty_like(parent), np.empty_like(parent), post)
        place = np.empty_like(post)
        place[post] = np.arange(len(post))
        self.order = order[post]
        self.matrix = _permuted(A, post)
        parent = np.where(parent[post] < 0, -1, place[parent[post]])
        self._group(parent, self._count(parent))

    def _count(self, parent):
        """Return how many entries each column has below its diagonal."""
        mark, count = np.full_like(parent, -1), np.zeros_like(parent)
        row, pattern = 0, (self.matrix.indptr, self.matrix.indices)
        while row < len(parent):
            row = compiled.count_below(*pattern, parent, row, READ, mark, count)
            self._limits.check(float(count.sum()), float(np.square(count, dtype=float).sum()))
        return count

    def _group(self, parent, count):
        """Find the blocks of columns and their sizes."""
        n = len(parent)
        first = np.empty_like(parent)
        n_blocks = compiled.group_columns(parent, count, WIDEST, first)
        self.first = np.append(first[:n_blocks][::-1], n)
        widths = np.diff(self.first)
        heights = widths + count[self.first[1:] - 1]
        self.owner = np.repeat(np.arange(n_blocks), widths)
        self.start = np.concatenate([[0], np.cumsum(heights)])
        self.panel = np.concatenate([[0], np.cumsum(heights * widths)])
        self.n_entries = int(self.panel[-1])
        self.work = float(np.sum(widths * heights.astype(np.float64) ** 2))
        self.highest = int(heights.max())

    @cached_property
    def rows(self):
        """The rows of all blocks, sorted in each."""
        n_blocks, n = len(self.first) - 1, len(self.owner)
        rows = np.empty(self.start[-1], dtype=np.intp)
        nothing = [np.full(size, -1, dtype=np.intp) for size in (n, n_blocks, n_blocks)]
        compiled.block_rows(
            self.matrix.indptr,
            self.matrix.indices,
            self.first,
            self.owner,
            self.start,
            *nothing,
            rows,
        )
        pattern = np.zeros(len(rows), dtype=np.int8), rows, self.start
        return sp.csr_array(pattern, shape=(n_blocks, n)).sorted_indices().indices.astype(np.intp)


def check_size(n_entries):
    """Raise unless there is memory for so many numbers of a factor."""
    check_memory(
        8 * n_entries,
        "The Cholesky factor of the Laplacian",
        "the graph is too large and too tightly connected for a direct solver.",
    )


def pattern_within(A, limits):
    """Return the :class:`Pattern` of a factor within the limits and the memory, or None."""
    try:
        return Pattern(A, limits)
    except (ValueError, MemoryError):
        return None


def least_degree_order(A, limits):
    """Return an order of elimination with little fill; see ``_ordering.pyx``.

    Parameters
    ----------
    A : csr_array of shape (n, n)
        A symmetric matrix.

    limits : Limits
        What the factor may cost; is asked on the way, as the cost of what is eliminated is known.
    """
    n = A.shape[0]
    indptr, indices = A.indptr.astype(np.intp, copy=False), A.indices.astype(np.intp, copy=False)
    graph = QuotientGraph(indptr, indices, int(DENSE * max(np.sqrt(n), 2)))
    while not graph.eliminate(READ):
        limits.check(graph.n_entries, graph.work)
    limits.check(graph.n_entries, graph.work)
    order = np.empty(n, dtype=np.intp)
    graph.write_order(order)
    return order


def _permuted(A, order):
    """Return a symmetric csr_array with rows and columns in another order."""
    A = sp.csr_array(A[order][:, order])
    A.indptr, A.indices = A.indptr.astype(np.intp), A.indices.astype(np.intp)
    return A


class Factor:
    """The Cholesky factor ``L`` of a sparse positive definite matrix ``A``.

    Parameters
    ----------
    A : csr_array of shape (n, n)
        The matrix, with a full diagonal.

    pattern : Pattern, default=None
        Its pattern, if that is known already.

    slack : ndarray of shape (n,), default=None
        The sums of the rows of a matrix whose entries beside the diagonal are not positive, known
        better than from the matrix. Then the factor has a small relative error in each entry,
        whatever the condition of the matrix is; its diagonal is not looked at.

    Notes
    -----
    BLAS has one thread here: blocks are narrow, so that several gain little on an idle machine, and
    wait for one another in a busy loop on another one, where all takes ten times as long.
    """

    def __init__(self, A, pattern=None, slack=None):
        self.pattern = p = Pattern(A) if pattern is None else pattern
        check_size(p.n_entries)
        n, n_blocks = A.shape[0], len(p.first) - 1
        self._blocks = p.first, p.start, p.rows, p.panel
        self.values = np.zeros(p.n_entries)
        where = np.empty(n, dtype=np.intp)
        matrix, block = (p.matrix.indptr, p.matrix.indices, p.matrix.data), 0
        while block < n_blocks:
            block = compiled.scatter(*matrix, *self._blocks, block, READ, where, self.values)
        lists = [np.full(n_blocks, -1, dtype=np.intp) for _ in range(3)]
        work = np.empty(p.highest * WIDEST)
        slack = np.empty(0) if slack is None else np.array(slack, dtype=np.float64)[p.order]
        block = 0
        with one_blas_thread():
            while 0 <= block < n_blocks:
                block = compiled.factor(
                    *self._blocks, p.owner, block, BUDGET, *lists, where, work, slack, self.values
                )
        if block < 0 or not np.isfinite(self.values).all():
            raise ValueError(TOO_FAR_APART)

    def solve(self, B):
        """Return ``inv(A) B`` for a matrix of columns."""
        X = np.ascontiguousarray(B[self.pattern.order], dtype=np.float64)
        self._solve_upper(self._solve_lower(X))
        solution = np.empty_like(X)
        solution[self.pattern.order] = X
        return solution

    def half_solve(self, B):
        """Return ``inv(L) P B``, whose columns have the inner products ``B' inv(A) B``."""
        return self._solve_lower(np.ascontiguousarray(B[self.pattern.order], dtype=np.float64))

    def _solve_lower(self, X):
        block, work = 0, np.empty(self.pattern.highest * X.shape[1])
        with one_blas_thread():
            while block < len(self.pattern.first) - 1:
                block = compiled.solve_lower(*self._blocks, self.values, block, BUDGET, work, X)
        return X

    def _solve_upper(self, X):
        block = len(self.pattern.first) - 2
        work = np.empty(self.pattern.highest * X.shape[1])
        with one_blas_thread():
            while block >= 0:
                block = compiled.solve_upper(*self._blocks, self.values, block, BUDGET, work, X)
        return X

    @cached_property
    def inverse(self):
        """The entries of ``inv(A)`` at the places of the factor."""
        p = self.pattern
        check_size(p.n_entries)
        values = self.values.copy()
        state = np.array([len(p.first) - 2, 0], dtype=np.intp)
        where = np.empty(len(p.owner), dtype=np.intp)
        work = [np.empty(p.highest * WIDEST) for _ in range(3)]
        arguments = *self._blocks, p.owner, BUDGET, state, where, *work, values
        with one_blas_thread():
            while not compiled.invert(*arguments):
                pass
        return values

    def inverse_at(self, rows, cols):
        """Return entries of ``inv(A)``: of the diagonal, or where ``A`` has entries."""
        place = np.empty_like(self.pattern.order)
        place[self.pattern.order] = np.arange(len(place))
        rows, cols = place[rows], place[cols]
        out = np.empty(len(rows))
        compiled.entries(
            *self._blocks,
            self.pattern.owner,
            self.inverse,
            np.maximum(rows, cols),
            np.minimum(rows, cols),
            out,
        )
        return out
