"""Trees of an ensemble, packed for predictions."""

import operator

import numpy as np
import scipy.sparse as sp

from sklearn_sl._threads import in_order
from sklearn_sl.ensemble import _descents
from sklearn_sl.ensemble._base_estimators import features_of
from sklearn_sl.tree._entries import dense_blocks

# Descents of a sample in a tree that a thread makes before it looks up: some hundredths of a
# second.
SLICE = 2_000_000
# Samples that go down one tree after the other: the nodes of a tree are in the cache for so long.
BLOCK = 16_384
# Fewer descents are made by one thread: they are over before another one has begun.
MANY = 100_000


class PackedTrees:
    """Trees whose answers to samples are summed up.

    Parameters
    ----------
    trees : list of Tree
        Grown trees.

    tables : list of ndarray of shape (node_count, n_answers)
        What each node of a tree answers as a leaf.

    columns : list of ndarray
        Which features of the samples each tree was grown on.

    kind : str or None, default=None
        The kind of the answers.
    """

    def __init__(self, trees, tables, columns, kind=None):
        self.trees, self.columns, self.kind = trees, columns, kind
        self.n_answers = tables[0].shape[1]
        self.n_features = 1 + max(last_column(*pair) for pair in zip(trees, columns, strict=True))
        # Categories and surrogates need more than a comparison.
        self.tables = None
        if not all(tree._simple for tree in trees):
            self.tables = tables
            return
        sizes = np.array([len(tree.children_left) for tree in trees])
        # A node more for each tree, so that siblings begin at even places.
        self.roots = np.concatenate([[0], np.cumsum(sizes + 1)[:-1]])
        # Each inner node has two children.
        self.first_leaves = np.concatenate([[0], np.cumsum((sizes + 1) // 2)[:-1]])
        self.nodes = np.zeros(np.sum(sizes + 1), dtype=_descents.node_dtype)
        self.answers = np.empty((np.sum((sizes + 1) // 2), self.n_answers))
        for number, (tree, table) in enumerate(zip(trees, tables, strict=True)):
            self._pack(number, tree, table)

    def _pack(self, number, tree, table):
        n_nodes = len(tree.children_left)
        leaf_nodes = np.empty((n_nodes + 1) // 2, dtype=np.int32)
        begin, first = self.roots[number], self.first_leaves[number]
        n_leaves = _descents.pack(
            *(
                np.ascontiguousarray(nodes, dtype=np.int64)
                for nodes in (tree.children_left, tree.children_right, tree.feature)
            ),
            tree.threshold,
            np.ascontiguousarray(tree.missing_go_to_left, dtype=np.uint8),
            np.ascontiguousarray(self.columns[number], dtype=np.int64),
            self.nodes[begin : begin + n_nodes + 1],
            leaf_nodes,
            np.empty((n_nodes + 1, 2), dtype=np.int64),
        )
        answers = self.answers[first : first + n_leaves]
        np.take(table, leaf_nodes, axis=0, out=answers, mode="clip")

    def packs(self, trees, kind):
        """Return whether these are the trees, and answers of this kind."""
        return (
            kind == self.kind
            and len(trees) == len(self.trees)
            and all(map(operator.is_, trees, self.trees))
        )

    def sums(self, X, n_threads=1):
        """Return the sums over the trees of the answers to samples, in the order of the trees."""
        if X.shape[1] < self.n_features:
            raise ValueError(
                f"X has {X.shape[1]} features, but the trees were fitted on {self.n_features}."
            )
        n = X.shape[0]
        total = np.zeros((n, self.n_answers))

        complete = sp.issparse(X) and not np.isnan(X.data).any()

        def add(rows, over):
            if self.tables is not None:
                self._add_one_by_one(X[rows], total[rows])
                return
            for some, dense in dense_blocks(X, rows):
                for trees in slices(len(self.trees), max(1, SLICE // BLOCK)):
                    _descents.add_answers(
                        dense,
                        self.nodes,
                        self.roots[trees],
                        self.answers,
                        self.first_leaves[trees],
                        total[some],
                        complete,
                    )

        if n * len(self.trees) < MANY:
            n_threads = 1
        # Blocks for all threads, even if the samples are less than a block for each.
        blocks = slices(n, min(BLOCK, -(-n // n_threads)))
        for _ in in_order(add, blocks, min(n_threads, len(blocks))):
            pass
        return total

    def _add_one_by_one(self, X, total):
        for tree, table, columns in zip(self.trees, self.tables, self.columns, strict=True):
            total += table.take(tree._leaves(features_of(X, columns)), axis=0)


def last_column(tree, columns):
    """Return the last of the columns that a tree looks at, if they are as many as it knows."""
    if len(columns) != tree.n_features or np.min(columns) < 0:
        raise ValueError(
            f"estimators_features_ must have {tree.n_features} entries for a tree that was fitted "
            f"on {tree.n_features} features; got {columns}."
        )
    return int(np.max(columns))


def slices(n, step):
    """Return the slices of so many things, ``step`` at a time."""
    return [slice(start, start + step) for start in range(0, n, max(step, 1))]
