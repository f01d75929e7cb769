"""The pruned trees of a tree: which there are, and what they risk."""

from dataclasses import dataclass

import numpy as np

from sklearn_sl.tree import _tree

# Steps of the path closer than this to each other, relatively, are one.
SAME = 1e-10


@dataclass(frozen=True)
class PruningPath:
    """The subtrees that weakest-link pruning goes through, the largest first.

    The subtree ``k`` is the smallest minimiser of ``risk + alpha * leaves`` for every ``alpha``
    with ``alphas[k] <= alpha < alphas[k + 1]``.

    Attributes
    ----------
    alphas : ndarray of shape (n_subtrees,)
        Where each of them begins, increasing from zero.

    n_leaves : ndarray of shape (n_subtrees,)
        Their numbers of leaves, decreasing to one.

    risks : ndarray of shape (n_subtrees,)
        Their risks, increasing.
    """

    alphas: np.ndarray
    n_leaves: np.ndarray
    risks: np.ndarray

    @property
    def midpoints(self):
        """Typical values of ``alpha``: geometric means of the intervals, infinity for the last."""
        return np.append(np.sqrt(self.alphas[:-1] * self.alphas[1:]), np.inf)


def pruning_path(tree):
    """Return the :class:`PruningPath` of a tree."""
    collapse, risk_gain, leaf_gain = _tree.links(tree)
    events = np.flatnonzero(
        (tree.children_left != _tree.LEAF) & (collapse < reached(tree, collapse))
    )
    events = events[np.argsort(collapse[events], kind="stable")]
    alpha = collapse[events]
    leaf = tree.children_left == _tree.LEAF
    risk = tree.risk[leaf].sum() + np.cumsum(risk_gain[events])
    leaves = np.count_nonzero(leaf) - np.cumsum(leaf_gain[events])
    # The last event of each step; what happens at zero has happened before the path begins.
    step = np.maximum(alpha, 0)
    last = np.append(step[1:] > step[:-1] * (1 + SAME), True) if len(events) else np.zeros(0, bool)
    starts = step[last]
    alphas, n_leaves, risks = starts, leaves[last], risk[last]
    if not len(starts) or starts[0] > 0:
        alphas = np.append(0.0, alphas)
        n_leaves = np.append(np.count_nonzero(leaf), n_leaves)
        risks = np.append(tree.risk[leaf].sum(), risks)
    return PruningPath(alphas, n_leaves, np.maximum(risks, 0))


def reached(tree, collapse):
    """Return from which ``alpha`` on each node is gone, the least ``collapse`` above it."""
    above = np.full(tree.node_count, np.inf)
    parent = tree.parent
    order = np.argsort(tree.depth, kind="stable")
    ends = np.flatnonzero(np.diff(tree.depth[order])) + 1
    for nodes in np.split(order, ends)[1:]:  # level by level
        above[nodes] = np.minimum(above[parent[nodes]], collapse[parent[nodes]])
    return above
