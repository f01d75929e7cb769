"""The kernel of a timeline: the leaves of a binary tree, near ones alike."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_array

from sklearn_sl.kernels._structured import StructuredKernel, check_whole


class PathTree(StructuredKernel):
    """The path-tree kernel of the positions ``0, ..., n_leaves - 1`` of a path.

    The positions are the first leaves of a complete binary tree of height ``h =
    ceil(log2(n_leaves))``. With the Laplacian ``L`` of the tree and the largest diagonal entry
    ``R`` of its pseudo-inverse, ``K`` is ``L^+ + R 11'`` at the leaves. On a tree the resistance
    between two vertices is the length of the way, so that ::

        K(s, t) = 2 R - height of the least common ancestor of s and t

    which takes one operation on the bits of ``s`` and ``t``. The diagonal is ``2 R <= 2 h``.

    A function of time that rarely changes has a small norm, wherever it changes: for ``f`` with
    values 0 and 1 and ``k`` changes ``||f||^2 max K <= k h^2 + 2``, where the Laplacian of the path
    itself would have ``k`` times the length; see
    :func:`~sklearn_sl.theory.path_tree_norm_bound`.

    Parameters
    ----------
    n_leaves : int
        The number of positions, at least two.

    See Also
    --------
    Min : The kernel of the Brownian motion, for a path without a tree.

    References
    ----------
    .. [1] M. Herbster, S. Pasteris and L. Tse, "Online multitask learning with long-term memory",
       NeurIPS 2020.

    Examples
    --------
    >>> from sklearn_sl.kernels import PathTree
    >>> kernel = PathTree(4)
    >>> (kernel([[0], [1], [2], [3]]) - kernel.diag([[0]])).astype(int)
    array([[ 0, -1, -2, -2],
           [-1,  0, -2, -2],
           [-2, -2,  0, -1],
           [-2, -2, -1,  0]])
    """

    def __init__(self, n_leaves: int) -> None:
        self.n_leaves = n_leaves

    def _inputs(self, X):
        check_whole(self, "n_leaves", 2)
        numbers = check_array(X, dtype=[np.float64, np.float32], ensure_2d=False, input_name="X")
        places = numbers.reshape(-1)
        whole = np.all((places >= 0) & (places < self.n_leaves) & (places == np.floor(places)))
        if numbers.size != len(numbers) or not whole:
            raise ValueError(
                f"X must be one column of integers in [0, {self.n_leaves}), the positions of "
                "leaves, for PathTree."
            )
        return Positions(places)

    def _tiles(self, X, Y):
        own = largest_value(self.n_leaves)

        def fill(rows, cols, out):
            # The height is the number of bits from the first in which the positions differ.
            differing = X.places[rows, None] ^ Y.places[None, cols]
            np.subtract(
                own, np.frexp(differing.astype(np.float64))[1], out=out, casting="same_kind"
            )

        return fill

    def _diagonal(self, X):
        return np.full(len(X.places), largest_value(self.n_leaves))


class Positions:
    """Encoded positions, as whole numbers."""

    def __init__(self, numbers):
        self.places = numbers.astype(np.int64)
        self.shape, self.dtype = (len(numbers),), numbers.dtype


def largest_value(n_leaves):
    """Return ``2 R`` for the tree over so many leaves, the diagonal of the path-tree kernel.

    ``R`` is ``L^+`` at a leaf. As ``-2 L^+`` is the matrix of distances, centred, it is the mean
    distance from a leaf to all vertices minus half the mean distance of two vertices.
    """
    height = int(n_leaves - 1).bit_length()
    sizes = [2 ** (h + 1) - 1 for h in range(height + 1)]  # of complete trees of height h
    depths = [(h - 1) * 2 ** (h + 1) + 2 for h in range(height + 1)]  # their sums of depths
    n = sizes[height]
    # Up the way from the leaf: an ancestor of height h, and what is below its other child.
    from_leaf = sum(h + (h + 1) * sizes[h - 1] + depths[h - 1] for h in range(1, height + 1))
    # An edge above a subtree is on the way of all pairs that it separates.
    of_pairs = sum(2 ** (height - h) * sizes[h] * (n - sizes[h]) for h in range(height))
    return 2 * (from_leaf * n - of_pairs) / n**2
