"""The steps of a sparse Cholesky factorisation ``A = L L'``, by blocks of columns.

Columns of ``L`` that follow one another and have (nearly) the same pattern make a block. Block
``s`` has the columns ``first[s], ..., first[s + 1] - 1`` and the rows ``rows[start[s]:start[s +
1]]``, sorted; its own columns come first. Its numbers are a dense panel in Fortran order that
begins at ``values[panel[s]]``. All work is done by BLAS on panels, and the entries return after a
budget of arithmetic, to be called again: Ctrl-C is answered in between.
"""

from libc.math cimport sqrt
from scipy.linalg.cython_blas cimport dgemm, dgemv, dtrsm, dtrsv
from scipy.linalg.cython_lapack cimport dpotrf, dpotri


def elimination_tree(const Py_ssize_t[::1] indptr, const Py_ssize_t[::1] indices,
                     Py_ssize_t[::1] parent, Py_ssize_t[::1] ancestor):
    """Write the parent of each column, the first row below the diagonal of ``L``, or -1.

    ``indptr`` and ``indices`` are the pattern of the symmetric matrix; ``ancestor`` is a workspace.
    """
    cdef Py_ssize_t row, place, col, above
    with nogil:
        for row in range(parent.shape[0]):
            parent[row] = ancestor[row] = -1
            for place in range(indptr[row], indptr[row + 1]):
                col = indices[place]
                while col != -1 and col < row:
                    above = ancestor[col]
                    ancestor[col] = row  # a short cut for the next climb
                    if above == -1:
                        parent[col] = row
                    col = above


def postorder(const Py_ssize_t[::1] parent, Py_ssize_t[::1] head, Py_ssize_t[::1] sibling,
              Py_ssize_t[::1] order):
    """Write the columns in an order in which each follows all columns below it in the tree.

    ``head`` and ``sibling`` are workspaces; the columns of a subtree follow one another.
    """
    cdef Py_ssize_t n = parent.shape[0], col, root, done = 0
    with nogil:
        head[:] = -1
        for col in range(n - 1, -1, -1):
            if parent[col] != -1:
                sibling[col] = head[parent[col]]
                head[parent[col]] = col
        for root in range(n):
            if parent[root] != -1:
                continue
            col = root
            while col != -1:
                while head[col] != -1:  # down to a leaf
                    col = head[col]
                order[done] = col
                done += 1
                if parent[col] != -1:
                    head[parent[col]] = sibling[col]
                col = parent[col]


def count_below(const Py_ssize_t[::1] indptr, const Py_ssize_t[::1] indices,
                const Py_ssize_t[::1] parent, Py_ssize_t start, Py_ssize_t budget,
                Py_ssize_t[::1] mark, Py_ssize_t[::1] count):
    """Count the entries of each column of ``L`` below its diagonal, row by row.

    Begins with the row ``start``, and returns the next one after about ``budget`` entries. The
    caller has filled ``mark`` with -1 and ``count`` with zeros.
    """
    cdef Py_ssize_t row = start, place, col
    with nogil:
        while row < parent.shape[0] and budget >= 0:
            mark[row] = row
            for place in range(indptr[row], indptr[row + 1]):
                col = indices[place]
                while col < row and mark[col] != row:
                    mark[col] = row
                    count[col] += 1
                    budget -= 1
                    col = parent[col]
            row += 1
    return row


cdef bint _alike(Py_ssize_t width, double zeros, double size) noexcept nogil:
    """Return whether a block of so many columns may store so many zeros."""
    if width <= 4:
        return True
    if width <= 16:
        return zeros < 0.8 * size
    if width <= 48:
        return zeros < 0.1 * size
    return zeros < 0.05 * size


def group_columns(const Py_ssize_t[::1] parent, const Py_ssize_t[::1] count, Py_ssize_t widest,
                  Py_ssize_t[::1] first):
    """Write where each block of columns begins, from the last block to the first.

    A column joins the block at its right if its parent is in it, and if that adds few zeros.
    Returns the number of blocks.
    """
    cdef Py_ssize_t n = parent.shape[0], col, left, stop = n, width, below, n_blocks = 0
    cdef double zeros = 0, added, size
    with nogil:
        left = n - 1  # where the block under construction begins
        for col in range(n - 2, -1, -1):
            width, below = stop - col, count[stop - 1]
            added = width - 1 + below - count[col]  # what column ``col`` has not itself
            size = width * (width + 1.0) / 2 + <double> width * below
            if (parent[col] != -1 and parent[col] < stop and width <= widest
                    and (zeros + added == 0 or _alike(width, zeros + added, size))):
                zeros += added
            else:
                first[n_blocks] = left
                n_blocks += 1
                stop, zeros = col + 1, 0
            left = col
        first[n_blocks] = left
        n_blocks += 1
    return n_blocks


def block_rows(const Py_ssize_t[::1] indptr, const Py_ssize_t[::1] indices,
               const Py_ssize_t[::1] first, const Py_ssize_t[::1] owner,
               const Py_ssize_t[::1] start, Py_ssize_t[::1] mark, Py_ssize_t[::1] head,
               Py_ssize_t[::1] sibling, Py_ssize_t[::1] rows):
    """Write the rows of each block, its own columns first and the others in no order.

    They are the rows of the matrix and those of the blocks below in the tree. ``owner`` is the
    block of each column; ``mark``, ``head`` and ``sibling`` are workspaces, the first two filled
    with -1.
    """
    cdef Py_ssize_t block, col, row, place, end, child, lowest
    with nogil:
        for block in range(first.shape[0] - 1):
            end = start[block]
            for col in range(first[block], first[block + 1]):
                mark[col] = block
                rows[end] = col
                end += 1
            for col in range(first[block], first[block + 1]):
                for place in range(indptr[col], indptr[col + 1]):
                    row = indices[place]
                    if row > col and mark[row] != block:
                        mark[row] = block
                        rows[end] = row
                        end += 1
            child = head[block]
            while child != -1:
                for place in range(start[child] + first[child + 1] - first[child],
                                   start[child + 1]):
                    row = rows[place]
                    if row > first[block] and mark[row] != block:
                        mark[row] = block
                        rows[end] = row
                        end += 1
                child = sibling[child]
            lowest = first[first.shape[0] - 1]
            for place in range(start[block] + first[block + 1] - first[block], start[block + 1]):
                lowest = min(lowest, rows[place])
            if lowest < first[first.shape[0] - 1]:
                sibling[block] = head[owner[lowest]]
                head[owner[lowest]] = block


cdef void _locate(const Py_ssize_t[::1] rows, Py_ssize_t start, Py_ssize_t stop,
                  Py_ssize_t[::1] where) noexcept nogil:
    """Write the place of each row of a block."""
    cdef Py_ssize_t place
    for place in range(start, stop):
        where[rows[place]] = place - start


def scatter(const Py_ssize_t[::1] indptr, const Py_ssize_t[::1] indices, const double[::1] data,
            const Py_ssize_t[::1] first, const Py_ssize_t[::1] start, const Py_ssize_t[::1] rows,
            const Py_ssize_t[::1] panel, Py_ssize_t block, Py_ssize_t budget,
            Py_ssize_t[::1] where, double[::1] values):
    """Write the lower triangle of the matrix into the panels, which are zero before.

    From ``block`` on, until the panels hold so many numbers: memory that is written to for the
    first time takes its time. Returns the block to go on with.
    """
    cdef Py_ssize_t n_blocks = first.shape[0] - 1, col, place, height
    with nogil:
        while block < n_blocks and budget >= 0:
            height = start[block + 1] - start[block]
            _locate(rows, start[block], start[block + 1], where)
            for col in range(first[block], first[block + 1]):
                for place in range(indptr[col], indptr[col + 1]):
                    if indices[place] >= col:
                        values[panel[block] + (col - first[block]) * height
                               + where[indices[place]]] = data[place]
            budget -= panel[block + 1] - panel[block]
            block += 1
    return block


def factor(const Py_ssize_t[::1] first, const Py_ssize_t[::1] start, const Py_ssize_t[::1] rows,
           const Py_ssize_t[::1] panel, const Py_ssize_t[::1] owner, Py_ssize_t block,
           double budget, Py_ssize_t[::1] head, Py_ssize_t[::1] sibling, Py_ssize_t[::1] place,
           Py_ssize_t[::1] where, double[::1] work, double[::1] slack, double[::1] values):
    """Replace the panels of the matrix by those of ``L``, from ``block`` on.

    ``slack`` is empty, or the sums of the rows of a matrix whose entries beside the diagonal are
    not positive; it becomes ``inv(L)`` times these. Then only numbers of one sign are added, and
    each entry of the factor has a small relative error, however much the entries differ.

    Returns the block to go on with, or minus one minus the block whose pivots are not positive.
    ``head[s]`` begins the list of the blocks that block ``s`` has yet to be updated by, linked by
    ``sibling``; ``place[d]`` is how many rows of block ``d`` have been dealt with.
    """
    cdef Py_ssize_t n_blocks = first.shape[0] - 1
    with nogil:
        while 0 <= block < n_blocks and budget >= 0:
            _locate(rows, start[block], start[block + 1], where)
            while head[block] != -1 and budget >= 0:
                budget -= _update(block, first, start, rows, panel, owner, head, sibling, place,
                                  where, work, values)
            if head[block] != -1:
                break
            if _finish(block, first, start, rows, panel, work, slack, values):
                block = -1 - block
                break
            place[block] = first[block + 1] - first[block]
            _enqueue(block, start, rows, owner, head, sibling, place)
            block += 1
    return block


cdef void _enqueue(Py_ssize_t block, const Py_ssize_t[::1] start, const Py_ssize_t[::1] rows,
                   const Py_ssize_t[::1] owner, Py_ssize_t[::1] head, Py_ssize_t[::1] sibling,
                   const Py_ssize_t[::1] place) noexcept nogil:
    """Put a block into the list of the block that has its next row."""
    cdef Py_ssize_t target
    if start[block] + place[block] < start[block + 1]:
        target = owner[rows[start[block] + place[block]]]
        sibling[block] = head[target]
        head[target] = block


cdef double _update(Py_ssize_t block, const Py_ssize_t[::1] first, const Py_ssize_t[::1] start,
                    const Py_ssize_t[::1] rows, const Py_ssize_t[::1] panel,
                    const Py_ssize_t[::1] owner, Py_ssize_t[::1] head, Py_ssize_t[::1] sibling,
                    Py_ssize_t[::1] place, const Py_ssize_t[::1] where, double[::1] work,
                    double[::1] values) noexcept nogil:
    """Subtract the product of a finished block's rows from the panel; returns the flops."""
    cdef Py_ssize_t done = head[block], begin = place[done], end = begin, i, j
    cdef const Py_ssize_t *theirs = &rows[start[done]]
    cdef int height = start[done + 1] - start[done], width = first[done + 1] - first[done]
    cdef int own_height = start[block + 1] - start[block], n_rows = height - begin, n_cols
    cdef double one = 1, zero = 0
    cdef double *left = &values[panel[done] + begin]
    cdef double *target
    cdef double *product = &work[0]
    head[block] = sibling[done]
    while end < height and theirs[end] < first[block + 1]:
        end += 1
    n_cols = end - begin
    dgemm("N", "T", &n_rows, &n_cols, &width, &one, left, &height, left, &height, &zero, product,
          &n_rows)
    for j in range(n_cols):
        target = &values[panel[block] + (theirs[begin + j] - first[block]) * own_height]
        for i in range(j, n_rows):
            target[where[theirs[begin + i]]] -= product[i]
        product += n_rows
    place[done] = end
    _enqueue(done, start, rows, owner, head, sibling, place)
    return 2.0 * n_rows * n_cols * width


cdef int _finish(Py_ssize_t block, const Py_ssize_t[::1] first, const Py_ssize_t[::1] start,
                 const Py_ssize_t[::1] rows, const Py_ssize_t[::1] panel, double[::1] work,
                 double[::1] slack, double[::1] values) noexcept nogil:
    """Factor the updated panel of a block; returns zero unless a pivot is not positive."""
    cdef int height = start[block + 1] - start[block], width = first[block + 1] - first[block]
    cdef int below = height - width, info = 0, single = 1
    cdef Py_ssize_t i
    cdef double one = 1
    cdef double *own = &values[panel[block]]
    cdef double *sums = NULL
    if slack.shape[0]:
        sums = &slack[first[block]]
        info = _eliminate(width, height, own, sums, &work[0])
    else:
        dpotrf("L", &width, own, &height, &info)
    if info == 0 and below:
        dtrsm("R", "L", "T", "N", &below, &width, &one, own, &height, own + width, &height)
    if info == 0 and slack.shape[0]:
        dtrsv("L", "N", "N", &width, own, &height, sums, &single)
        if below:
            _multiply(b"N", below, width, -1, own + width, height, sums, 0, &work[0])
            for i in range(below):
                slack[rows[start[block] + width + i]] += work[i]
    return info


cdef int _eliminate(int width, int height, double *own, const double *slack, double *rest
                    ) noexcept nogil:
    """Factor the triangle of a panel, with pivots that are sums of the entries beside them.

    ``rest`` becomes the part of these sums from outside of the triangle.
    """
    cdef Py_ssize_t i, j, k
    cdef double pivot, entry
    for k in range(width):
        rest[k] = slack[k]
        for i in range(width, height):
            rest[k] -= own[k * height + i]
    for k in range(width):
        pivot = rest[k]
        for i in range(k + 1, width):
            pivot -= own[k * height + i]
        if not pivot > 0:
            return 1
        pivot = sqrt(pivot)
        own[k * height + k] = pivot
        for i in range(k + 1, width):
            own[k * height + i] /= pivot
        for j in range(k + 1, width):
            entry = own[k * height + j]
            rest[j] -= entry * (rest[k] / pivot)
            for i in range(j + 1, width):
                own[j * height + i] -= entry * own[k * height + i]
    return 0


def solve_lower(const Py_ssize_t[::1] first, const Py_ssize_t[::1] start,
                const Py_ssize_t[::1] rows, const Py_ssize_t[::1] panel,
                const double[::1] values, Py_ssize_t block, double budget, double[::1] work,
                double[:, ::1] X):
    """Replace ``X`` by the solution of ``L Y = X``, from ``block`` on; returns the next block."""
    cdef Py_ssize_t n_blocks = first.shape[0] - 1, i, j, row
    cdef int k = X.shape[1], height, width, below
    cdef double one = 1, zero = 0
    cdef double *own
    cdef double *top
    cdef double *product = &work[0]
    with nogil:
        while block < n_blocks and budget >= 0:
            height, width = start[block + 1] - start[block], first[block + 1] - first[block]
            below = height - width
            own, top = <double *> &values[panel[block]], &X[first[block], 0]
            _triangle(b"N", k, width, own, height, top)
            if below:
                if k == 1:
                    _multiply(b"N", below, width, one, own + width, height, top, zero, product)
                else:
                    dgemm("N", "T", &k, &below, &width, &one, top, &k, own + width, &height, &zero,
                          product, &k)
                for i in range(below):
                    row = rows[start[block] + width + i]
                    for j in range(k):
                        X[row, j] -= product[i * k + j]
            budget -= 2.0 * k * height * width
            block += 1
    return block


def solve_upper(const Py_ssize_t[::1] first, const Py_ssize_t[::1] start,
                const Py_ssize_t[::1] rows, const Py_ssize_t[::1] panel,
                const double[::1] values, Py_ssize_t block, double budget, double[::1] work,
                double[:, ::1] X):
    """Replace ``X`` by the solution of ``L' Y = X``, from ``block`` down; returns the next."""
    cdef Py_ssize_t i, j, row
    cdef int k = X.shape[1], height, width, below
    cdef double one = 1, minus = -1
    cdef double *own
    cdef double *top
    cdef double *known = &work[0]
    with nogil:
        while block >= 0 and budget >= 0:
            height, width = start[block + 1] - start[block], first[block + 1] - first[block]
            below = height - width
            own, top = <double *> &values[panel[block]], &X[first[block], 0]
            if below:
                for i in range(below):
                    row = rows[start[block] + width + i]
                    for j in range(k):
                        known[i * k + j] = X[row, j]
                if k == 1:
                    _multiply(b"T", below, width, minus, own + width, height, known, one, top)
                else:
                    dgemm("N", "N", &k, &width, &below, &minus, known, &k, own + width, &height,
                          &one, top, &k)
            _triangle(b"T", k, width, own, height, top)
            budget -= 2.0 * k * height * width
            block -= 1
    return block


cdef void _triangle(char side, int k, int width, double *own, int height, double *top
                    ) noexcept nogil:
    """Divide ``k`` right-hand sides, the rows of ``top``, by the triangle of a panel."""
    cdef double one = 1
    cdef int single = 1
    cdef char other = b"T" if side == b"N" else b"N"
    if k == 1:
        dtrsv("L", &side, "N", &width, own, &height, top, &single)
    else:
        dtrsm("R", "L", &other, "N", &k, &width, &one, own, &height, top, &k)


cdef void _multiply(char side, int n_rows, int n_cols, double scale, double *matrix, int height,
                    double *x, double keep, double *y) noexcept nogil:
    """Set ``y`` to ``scale matrix x + keep y``, or with the transposed matrix."""
    cdef int single = 1
    dgemv(&side, &n_rows, &n_cols, &scale, matrix, &height, x, &single, &keep, y, &single)


def invert(const Py_ssize_t[::1] first, const Py_ssize_t[::1] start, const Py_ssize_t[::1] rows,
           const Py_ssize_t[::1] panel, const Py_ssize_t[::1] owner, double budget,
           Py_ssize_t[::1] state, Py_ssize_t[::1] where, double[::1] gathered, double[::1] scaled,
           double[::1] product, double[::1] values):
    """Replace the panels of ``L`` by the entries of ``Z = inv(A)`` at the same places.

    For the columns ``J`` of a block and its rows ``R`` below, with ``G = L_RJ inv(L_JJ)``::

        Z_RJ = -Z_RR G        Z_JJ = inv(L_JJ L_JJ') - Z_RJ' G

    where ``Z_RR`` is known from the blocks at the right (Takahashi). ``state`` holds the block and
    the number of its rows that have been multiplied. Returns whether all is done.
    """
    cdef Py_ssize_t height
    with nogil:
        while state[0] >= 0 and budget >= 0:
            height = start[state[0] + 1] - start[state[0]]
            if state[1] == 0:
                _prepare(state[0], first, start, panel, scaled, product, values)
                state[1] = first[state[0] + 1] - first[state[0]]
            while state[1] < height and budget >= 0:
                budget -= _gather(state, first, start, rows, panel, owner, where, gathered, scaled,
                                  product, values)
            if state[1] == height:
                _assign(state[0], first, start, panel, scaled, product, values)
                state[0] -= 1
                state[1] = 0
    return state[0] < 0


cdef void _prepare(Py_ssize_t block, const Py_ssize_t[::1] first, const Py_ssize_t[::1] start,
                   const Py_ssize_t[::1] panel, double[::1] scaled, double[::1] product,
                   double[::1] values) noexcept nogil:
    """Write ``G`` of a block, and zeros for its product with ``Z``."""
    cdef int height = start[block + 1] - start[block], width = first[block + 1] - first[block]
    cdef int below = height - width
    cdef Py_ssize_t i, j
    cdef double one = 1
    cdef double *own = &values[panel[block]]
    if not below:
        return
    for j in range(width):
        for i in range(below):
            scaled[j * below + i] = own[j * height + width + i]
            product[j * below + i] = 0
    dtrsm("R", "L", "N", "N", &below, &width, &one, own, &height, &scaled[0], &below)


cdef double _gather(Py_ssize_t[::1] state, const Py_ssize_t[::1] first,
                    const Py_ssize_t[::1] start, const Py_ssize_t[::1] rows,
                    const Py_ssize_t[::1] panel, const Py_ssize_t[::1] owner,
                    Py_ssize_t[::1] where, double[::1] gathered, double[::1] scaled,
                    double[::1] product, const double[::1] values) noexcept nogil:
    """Add to ``Z_RR G`` what the columns of one block at the right give; returns the flops."""
    cdef Py_ssize_t block = state[0], begin = start[block] + state[1], end = begin, i, j
    cdef Py_ssize_t stop = start[block + 1], right = owner[rows[begin]]
    cdef Py_ssize_t right_height = start[right + 1] - start[right], place = start[right]
    cdef int width = first[block + 1] - first[block], below = stop - start[block] - width
    cdef int n_rows = stop - begin, n_cols, rest
    cdef Py_ssize_t offset = begin - start[block] - width
    cdef double one = 1
    cdef const double *column
    cdef double *square = &gathered[0]
    while end < stop and rows[end] < first[right + 1]:
        end += 1
    n_cols = end - begin
    rest = n_rows - n_cols
    for i in range(n_rows):  # both lists are sorted, and this one is a part of that one
        while rows[place] < rows[begin + i]:
            place += 1
        where[i] = place - start[right]
    for j in range(n_cols):
        column = &values[panel[right] + (rows[begin + j] - first[right]) * right_height]
        for i in range(n_rows):
            square[j * n_rows + i] = column[where[i]]
    dgemm("N", "N", &n_rows, &width, &n_cols, &one, square, &n_rows, &scaled[offset], &below, &one,
          &product[offset], &below)
    if rest:
        dgemm("T", "N", &n_cols, &width, &rest, &one, square + n_cols, &n_rows,
              &scaled[offset + n_cols], &below, &one, &product[offset], &below)
    state[1] += n_cols
    return 2.0 * n_cols * width * (n_rows + rest)


cdef void _assign(Py_ssize_t block, const Py_ssize_t[::1] first, const Py_ssize_t[::1] start,
                  const Py_ssize_t[::1] panel, double[::1] scaled, double[::1] product,
                  double[::1] values) noexcept nogil:
    """Write the entries of ``Z`` into the panel of a block, both triangles of ``Z_JJ``."""
    cdef int height = start[block + 1] - start[block], width = first[block + 1] - first[block]
    cdef int below = height - width, info = 0
    cdef Py_ssize_t i, j
    cdef double one = 1
    cdef double *own = &values[panel[block]]
    dpotri("L", &width, own, &height, &info)
    if below:
        dgemm("T", "N", &width, &width, &below, &one, &product[0], &below, &scaled[0], &below,
              &one, own, &height)
    for j in range(width):
        for i in range(j):
            own[j * height + i] = own[i * height + j]
        for i in range(below):
            own[j * height + width + i] = -product[j * below + i]


def entries(const Py_ssize_t[::1] first, const Py_ssize_t[::1] start, const Py_ssize_t[::1] rows,
            const Py_ssize_t[::1] panel, const Py_ssize_t[::1] owner, const double[::1] values,
            const Py_ssize_t[::1] row, const Py_ssize_t[::1] col, double[::1] out):
    """Write the numbers of the panels at ``(row, col)``, ``row >= col``, places of the pattern."""
    cdef Py_ssize_t k, block, low, high, middle
    with nogil:
        for k in range(row.shape[0]):
            block = owner[col[k]]
            low, high = start[block], start[block + 1] - 1
            while low < high:
                middle = (low + high) // 2
                if rows[middle] < row[k]:
                    low = middle + 1
                else:
                    high = middle
            out[k] = values[panel[block] + (col[k] - first[block])
                            * (start[block + 1] - start[block]) + low - start[block]]
