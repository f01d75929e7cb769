"""Sparse Cholesky factors of Laplacians: solves, and the entries of the inverse at the edges."""

import threading
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spilu

from sklearn_sl._memory import check_memory
from sklearn_sl.graph import _sparse_cholesky as compiled

# Blocks of columns are at most so wide.
WIDEST = 128
# One call of compiled code does about this many operations, 50 ms or less.
BUDGET = 5e8
TOO_FAR_APART = (
    "The weights of the graph differ by too many orders of magnitude for double precision: drop "
    "the lightest edges, or choose another scale of the weights."
)


class Pattern:
    """The pattern of the Cholesky factor of a sparse symmetric matrix, before it is computed.

    Parameters
    ----------
    A : csr_array of shape (n, n)
        The matrix, with a full diagonal.

    order : ndarray of shape (n,), default=None
        An order of elimination, if a good one is known; else one of minimum degree.

    Attributes
    ----------
    order : ndarray of shape (n,)
        The order of elimination.

    n_entries : int
        How many numbers the factor stores.

    work : float
        About how many multiplications the factorisation takes.
    """

    def __init__(self, A, order=None):
        order = _least_degree(A) if order is None else order
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
            row = compiled.count_below(*pattern, parent, row, 10**7, mark, count)
            check_size(int(count.sum()))
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


def _least_degree(A):
    """Return an order of elimination with little fill: the minimum degree one of SuperLU.

    An incomplete factorisation that drops all it can is little more than the ordering.
    """
    if A.shape[0] == 1:
        return np.zeros(1, dtype=np.intp)
    pattern = sp.csc_array((np.ones(A.nnz), A.indices.astype(np.intc), A.indptr.astype(np.intc)))
    pattern.setdiag(2.0 * np.diff(A.indptr))
    incomplete = _in_background(
        lambda: spilu(
            pattern,
            drop_tol=1e10,
            fill_factor=1,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0,
            options={"SymmetricMode": True},
        )
    )
    return np.argsort(incomplete.perm_c).astype(np.intp)


def _in_background(work):
    """Return the result of a function, without which Ctrl-C would have to wait for its end."""
    outcome = []

    def note():
        try:
            outcome.append((work(), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=note, daemon=True)
    thread.start()
    thread.join()
    result, error = outcome[0]
    if error is not None:
        raise error
    return result


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
    """

    def __init__(self, A, pattern=None, slack=None):
        self.pattern = p = Pattern(A) if pattern is None else pattern
        check_size(p.n_entries)
        n, n_blocks = A.shape[0], len(p.first) - 1
        self._blocks = p.first, p.start, p.rows, p.panel
        self.values = np.zeros(p.n_entries)
        where = np.empty(n, dtype=np.intp)
        M = p.matrix
        compiled.scatter(M.indptr, M.indices, M.data, *self._blocks, where, self.values)
        lists = [np.full(n_blocks, -1, dtype=np.intp) for _ in range(3)]
        work = np.empty(p.highest * WIDEST)
        slack = np.empty(0) if slack is None else np.array(slack, dtype=np.float64)[p.order]
        block = 0
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
        while block < len(self.pattern.first) - 1:
            block = compiled.solve_lower(*self._blocks, self.values, block, BUDGET, work, X)
        return X

    def _solve_upper(self, X):
        block = len(self.pattern.first) - 2
        work = np.empty(self.pattern.highest * X.shape[1])
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
        while not compiled.invert(*self._blocks, p.owner, BUDGET, state, where, *work, values):
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
