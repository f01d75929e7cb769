"""The pruned trees of a tree: which there are, and what they risk."""

from dataclasses import dataclass

import numpy as np

from sklearn_sl.tree._tree import LEAF

# Steps of the path closer than this to each other, relatively, are one.
SAME = 1e-10


@dataclass(frozen=True)
class PruningPath:
    """The subtrees that weakest-link pruning goes through, the largest first.

    The subtree ``k`` is the smallest minimiser of ``risk + alpha * leaves`` for every ``alpha``
    with ``alphas[k] <= alpha < alphas[k + 1]``. The first one may be smaller than the grown tree:
    it lacks the splits that do not reduce the risk.

    Parameters
    ----------
    alphas : ndarray of shape (n_subtrees,)
        Where each of them begins, increasing from zero.

    n_leaves : ndarray of shape (n_subtrees,)
        Their numbers of leaves, decreasing to one.

    risks : ndarray of shape (n_subtrees,)
        Their risks, increasing.

    Examples
    --------
    >>> from sklearn_sl.tree import DecisionTreeRegressor
    >>> X, y = [[1, 1], [1, 2], [1, 3], [2, 2], [2, 3]], [9, -4, 2, 4, 2]
    >>> path = DecisionTreeRegressor().fit(X, y).ccp_path_
    >>> path.n_leaves
    array([5, 4, 2, 1])
    >>> 5 * path.risks, 5 * path.alphas  # sums of squares over the five samples
    (array([ 0. ,  2. , 36. , 87.2]), array([ 0. ,  2. , 17. , 51.2]))
    """

    alphas: np.ndarray
    n_leaves: np.ndarray
    risks: np.ndarray

    @property
    def midpoints(self):
        """Typical values of ``alpha``: geometric means of the intervals, infinity for the last."""
        return np.append(np.sqrt(self.alphas[:-1]) * np.sqrt(self.alphas[1:]), np.inf)


def pruning_path(tree):
    """Return the :class:`PruningPath` of a tree."""
    begin, end = leaf_intervals(tree)
    steps = np.unique(begin[begin < end])
    # Of steps that differ by rounding errors only the last one counts.
    steps = steps[np.append(steps[1:] > steps[:-1] * (1 + SAME), True)]
    alphas = steps if steps[0] == 0 else np.append(0.0, steps)
    return PruningPath(
        alphas,
        sum_over_leaves(tree, alphas, np.ones(tree.node_count, dtype=np.int64)),
        sum_over_leaves(tree, alphas, tree.risk),
    )


def sum_over_leaves(tree, alphas, values):
    """Return the sum of ``values`` over the leaves of the tree pruned at each of ``alphas``."""
    begin, end = leaf_intervals(tree)
    some = begin < end
    change = np.zeros(len(alphas) + 1, dtype=values.dtype)
    np.add.at(change, np.searchsorted(alphas, begin[some]), values[some])
    np.subtract.at(change, np.searchsorted(alphas, end[some]), values[some])
    return np.cumsum(change)[:-1]


def leaf_intervals(tree):
    """Return from which ``alpha`` on, and until which, each node is a leaf of the pruned tree."""
    end = np.full(tree.node_count, np.inf)
    begin = np.where(tree.children_left == LEAF, 0.0, tree.collapse)
    parent = tree.parent
    order = np.argsort(tree.depth, kind="stable")
    levels = np.split(order, np.flatnonzero(np.diff(tree.depth[order])) + 1)
    for nodes in levels[1:]:
        # A node is gone when one above it has become a leaf.
        end[nodes] = np.minimum(end[parent[nodes]], tree.collapse[parent[nodes]])
    return begin, end
