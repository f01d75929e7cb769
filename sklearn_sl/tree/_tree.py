"""A grown tree: arrays under the names that scikit-learn gives them, and what follows from them."""

import numpy as np
import scipy.sparse as sp

from sklearn_sl._state import CheckedState, check_entries, check_number, check_shape
from sklearn_sl._threads import in_order
from sklearn_sl.tree import _descend, _prune
from sklearn_sl.tree._entries import as_numbers, dense_blocks

# Samples that a thread sends down the tree before it looks up.
BLOCK = 16_384
LEAF = -1
UNDEFINED = -2

surrogate_dtype = np.dtype(
    [
        ("node", np.intp),
        ("feature", np.intp),
        ("threshold", np.float64),
        ("reversed", np.bool_),
        ("agreement", np.float64),
        ("adjusted", np.float64),
        ("subset", np.int64),
    ]
)
competitor_dtype = np.dtype(
    [
        ("node", np.intp),
        ("feature", np.intp),
        ("threshold", np.float64),
        ("improvement", np.float64),
    ]
)
RIVALS = {"surrogates": surrogate_dtype, "competitors": competitor_dtype}


class Tree(CheckedState):
    """A binary tree as parallel arrays, one entry per node; node 0 is the root.

    The arrays have the names and meanings of scikit-learn's trees, so that its functions for
    trees work on it, and there are more.

    Attributes
    ----------
    children_left, children_right : ndarray of shape (node_count,)
        The children of a node; -1 for a leaf.

    feature : ndarray of shape (node_count,)
        The feature that a node looks at; -2 for a leaf.

    threshold : ndarray of shape (node_count,)
        Values up to the threshold go left; -2 for a leaf, NaN for a subset of categories.

    missing_go_to_left : ndarray of shape (node_count,)
        Whether missing values go left, after all surrogates.

    depth, impurity, n_node_samples, weighted_n_node_samples : ndarray of shape (node_count,)
        The depth of a node, zero for the root, its impurity, the number of its training samples
        and their weight.

    value : ndarray of shape (node_count, n_outputs, max_n_classes)
        The shares of the classes, or the mean targets.

    unclipped_value : ndarray of shape (node_count, n_outputs, max_n_classes) or None
        The shares or targets before they were moved between the bounds that monotonicity
        constraints set; None without constraints. The impurity is that of these.

    mass : ndarray of shape (node_count,)
        The weight of the training samples, where ``weighted_n_node_samples`` may count classes by
        the cost of their mistakes.

    improvement : ndarray of shape (node_count,)
        By how much the split of a node reduces the impurity of the tree, among the samples whose
        value is known; zero for a leaf.

    risk : ndarray of shape (node_count,)
        What a node contributes to the risk of a tree of which it is a leaf.

    collapse : ndarray of shape (node_count,)
        The ``alpha`` from which on a node of the pruned tree is a leaf.

    subset, subsets : ndarray of int
        Where the subset of a node begins in ``subsets``, -1 if it has a threshold; see
        :meth:`categories_left`.

    surrogates, competitors : structured ndarray
        The surrogate and competitor splits, sorted by node, the best first.
    """

    unclipped_value = None

    def __init__(self, **arrays):
        for name, array in arrays.items():
            setattr(self, name, array)
        self._pack()

    def __getstate__(self):
        # What follows from the rest is left out.
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state):
        super().__setstate__(state)
        self._pack()

    def _check_state(self):
        """Raise an error unless a descent stays within the arrays, and comes to an end."""
        check_number(self, "n_features", 1)
        check_number(self, "n_outputs", 1)
        self._check_shapes()
        split = np.flatnonzero(self.children_left != LEAF)
        self._check_children(split)
        check_entries(self.feature[split], "feature", 0, self.n_features - 1)
        self._check_subsets(self.subset, "subset")
        for name in ("surrogates", "competitors"):
            self._check_rivals(name)
        self._check_subsets(self.surrogates["subset"], 'surrogates["subset"]')

    def _check_shapes(self):
        if np.shape(self.n_categories) != (self.n_features,):
            raise ValueError(
                f"n_categories must have one entry for each of the {self.n_features} features, but "
                f"its shape is {np.shape(self.n_categories)}."
            )
        n = check_shape(self, "children_left", (None,), np.int64).size
        if n == 0:
            raise ValueError("A tree must have at least one node, but children_left is empty.")
        for name in ("children_right", "feature", "depth", "n_node_samples", "subset"):
            check_shape(self, name, (n,), np.int64)
        for name in NODE_FLOATS:
            check_shape(self, name, (n,))
        check_shape(self, "missing_go_to_left", (n,), np.uint8)
        check_shape(self, "subsets", (None,), np.int32)
        n_classes = check_shape(self, "n_classes", (self.n_outputs,), np.intp)
        check_entries(n_classes, "n_classes", 1, np.inf)
        check_shape(self, "value", (n, self.n_outputs, n_classes.max()))
        if self.unclipped_value is not None:
            check_shape(self, "unclipped_value", self.value.shape)

    def _check_children(self, split):
        """Raise an error unless each node but the root is the child of one node before it."""
        left, right = self.children_left[split], self.children_right[split]
        children = np.sort(np.concatenate([left, right]))
        if not np.array_equal(children, np.arange(1, self.node_count)):
            raise ValueError(
                "Each node but the root must be the child of exactly one other node, but "
                "children_left and children_right name some of them never, or twice."
            )
        if np.count_nonzero(self.children_right != LEAF) != len(split):
            raise ValueError(
                "A node must have two children or none, but some have one alone: children_left and "
                "children_right must be -1 at the same nodes."
            )
        if (np.minimum(left, right) <= split).any():
            raise ValueError(
                "A child must have a larger number than its parent, but in children_left and "
                "children_right some do not."
            )
        deeper = self.depth[split] + 1
        if (
            self.depth[0]
            or (self.depth[left] != deeper).any()
            or (self.depth[right] != deeper).any()
        ):
            raise ValueError(
                "depth must be 0 for the root, and one more than that of the parent for each other "
                "node, but for some it is not."
            )

    def _check_subsets(self, subset, name):
        """Raise an error for subsets that begin, or end, outside of ``subsets``."""
        check_entries(subset, name, -1, len(self.subsets) - 1)
        begin = subset[subset >= 0]
        counts = self.subsets[begin].astype(np.int64)
        check_entries(counts, "subsets that are numbers of categories", 0, len(self.subsets))
        last = len(self.subsets) - 1
        check_entries(begin + counts, f"{name} with their numbers of categories added", 0, last)

    def _check_rivals(self, name):
        rivals = check_shape(self, name, (None,), RIVALS[name])
        check_entries(rivals["node"], f'{name}["node"]', 0, self.node_count - 1)
        check_entries(rivals["feature"], f'{name}["feature"]', 0, self.n_features - 1)
        if (np.diff(rivals["node"]) < 0).any():
            raise ValueError(
                f'{name} must be sorted by node, but {name}["node"] decreases somewhere.'
            )

    def _pack(self):
        """Lay out the nodes for the descent."""
        nodes = np.zeros(self.node_count, dtype=_descend.node_dtype)
        nodes["threshold"], nodes["feature"] = self.threshold, self.feature
        nodes["left"], nodes["right"] = self.children_left, self.children_right
        nodes["missing_left"] = self.missing_go_to_left
        self._nodes = nodes
        packed = np.zeros(len(self.surrogates), dtype=_descend.surrogate_dtype)
        first = np.zeros(self.node_count + 1, dtype=np.int64)
        if len(packed):
            for name in ("threshold", "feature", "subset"):
                packed[name] = self.surrogates[name]
            packed["flipped"] = self.surrogates["reversed"]
            first[:] = np.searchsorted(self.surrogates["node"], np.arange(self.node_count + 1))
        self._unknowns = _descend.Unknowns(self.subset, self.subsets, first, packed)
        # Without categories and surrogates a comparison is all there is to a node.
        self._simple = not (len(self.surrogates) or (self.subset >= 0).any())

    # ------------------------------------------------------------ numbers

    @property
    def node_count(self):
        """The number of nodes."""
        return len(self.children_left)

    @property
    def capacity(self):
        """The number of nodes there is room for, which is the number of nodes."""
        return self.node_count

    @property
    def n_leaves(self):
        """The number of leaves."""
        return int(np.count_nonzero(self.children_left == LEAF))

    @property
    def max_n_classes(self):
        """The largest number of classes of an output."""
        return int(self.n_classes.max())

    @property
    def max_depth(self):
        """The depth of the deepest leaf."""
        return int(self.depth.max())

    @property
    def parent(self):
        """The parent of each node; -1 for the root."""
        parent = np.full(self.node_count, -1, dtype=np.int32)
        split = np.flatnonzero(self.children_left != LEAF)
        parent[self.children_left[split]] = split
        parent[self.children_right[split]] = split
        return parent

    def compute_node_depths(self):
        """Return the depth of each node, one for the root."""
        return self.depth + 1

    def compute_feature_importances(self, normalize=True):
        """Return by how much the splits of each feature reduce the impurity of the tree."""
        left, right, mass = self.children_left, self.children_right, self.weighted_n_node_samples
        loss, split = mass * self.impurity, np.flatnonzero(left != LEAF)
        decrease = loss[split] - loss[left[split]] - loss[right[split]]
        importances = np.bincount(self.feature[split], decrease, self.n_features) / mass[0]
        return normalized(importances) if normalize else importances

    def surrogate_importances(self):
        """Return the improvements of each feature, as a surrogate in parts, as shares of one."""
        split = np.flatnonzero(self.children_left != LEAF)
        total = np.bincount(self.feature[split], self.improvement[split], self.n_features)
        other = self.surrogates
        total += np.bincount(
            other["feature"], other["adjusted"] * self.improvement[other["node"]], self.n_features
        )
        return normalized(total)

    def categories_left(self, node):
        """Return the codes of the categories that go left at a node, and of those that go right.

        Others, which the node has not seen, go where missing values go.
        """
        begin = self.subset[node]
        if begin < 0:
            raise ValueError(
                f"node must be one that is split by categories (subset >= 0), got {node}."
            )
        return self.sides_of(begin)

    def sides_of(self, begin):
        """Return the codes that go left and right by the subset that begins there."""
        entries = self.subsets[begin + 1 : begin + 1 + self.subsets[begin]]
        return entries[entries & 1 == 1] >> 1, entries[entries & 1 == 0] >> 1

    # ------------------------------------------------------------ descent

    def apply(self, X, n_threads=1):
        """Return the leaf of each sample."""
        return self._leaves(X, n_threads).astype(np.intp)

    def _leaves(self, X, n_threads=1):
        X = as_numbers(X)
        self._check_width(X)
        n = X.shape[0]
        leaf = np.empty(n, dtype=np.int32)

        nodes, used = self._nodes, None
        if sp.issparse(X) and self._simple:
            nodes, used = self._nodes_of_used_features()

        def send(rows, over):
            for some, dense in dense_blocks(X, rows, used):
                if self._simple:
                    _descend.apply(dense, nodes, leaf[some])
                else:
                    _descend.apply_unknown(dense, nodes, self._unknowns, leaf[some])

        blocks = [slice(start, start + BLOCK) for start in range(0, n, BLOCK)]
        for _ in in_order(send, blocks, min(n_threads, len(blocks))):
            pass
        return leaf

    def _nodes_of_used_features(self):
        """Return the nodes with the features that they use numbered anew, and these features."""
        nodes, split = self._nodes.copy(), self.children_left != LEAF
        used, nodes["feature"][split] = np.unique(self.feature[split], return_inverse=True)
        return nodes, used

    def _check_width(self, X):
        if X.shape[1] != self.n_features:
            raise ValueError(
                f"X has {X.shape[1]} features, but the tree was grown on {self.n_features}."
            )

    def apply_path(self, X, alphas):
        """Return where each sample ends in the trees pruned at ``alphas``, which increase."""
        self._check_width(X)
        leaf = np.empty((X.shape[0], len(alphas)), dtype=np.int32)
        for some, dense in dense_blocks(X, slice(None)):
            _descend.apply_path(
                dense, self._nodes, self._unknowns, self.collapse, alphas, leaf[some]
            )
        return leaf

    def predict(self, X):
        """Return the value of the leaf of each sample."""
        values = self.value.take(self._leaves(X), axis=0)
        return values[:, 0] if self.n_outputs == 1 else values

    def decision_path(self, X, n_threads=1):
        """Return which nodes each sample passes, as a CSR matrix."""
        leaf = self._leaves(X, n_threads)
        indptr = np.concatenate([[0], np.cumsum(self.depth[leaf] + 1)])
        indices = np.empty(indptr[-1], dtype=np.int32)
        _descend.paths(leaf, self.parent, indptr, indices)
        ones = np.ones(len(indices), dtype=np.intp)
        return sp.csr_matrix((ones, indices, indptr), shape=(len(leaf), self.node_count))

    # ------------------------------------------------------------ pruning

    def prune(self, alpha):
        """Return the tree that ends at the first nodes with ``collapse <= alpha``."""
        place = np.empty(self.node_count, dtype=np.int64)
        n_kept = _prune.keep_nodes(
            self.children_left, self.children_right, self.collapse, alpha, place
        )
        if n_kept == self.node_count:
            return self
        kept = np.flatnonzero(place >= 0)
        arrays = self.__getstate__()
        for name in NODE_ARRAYS:
            if arrays.get(name) is not None:
                arrays[name] = arrays[name][kept]
        leaf = (arrays["children_left"] == LEAF) | (arrays["collapse"] <= alpha)
        for name in ("children_left", "children_right"):
            arrays[name] = np.where(leaf, LEAF, place[arrays[name]])
        arrays["feature"] = np.where(leaf, UNDEFINED, arrays["feature"])
        arrays["threshold"] = np.where(leaf, UNDEFINED, arrays["threshold"])
        arrays["subset"] = np.where(leaf, -1, arrays["subset"])
        arrays["missing_go_to_left"] = arrays["missing_go_to_left"] & ~leaf
        for name in ("improvement", "collapse"):
            arrays[name] = np.where(leaf, 0.0, arrays[name])
        for name in ("surrogates", "competitors"):
            rivals = arrays[name][place[arrays[name]["node"]] >= 0]
            rivals["node"] = place[rivals["node"]]
            arrays[name] = rivals[~leaf[rivals["node"]]]
        return Tree(**arrays)


NODE_FLOATS = (
    "mass",
    "threshold",
    "impurity",
    "weighted_n_node_samples",
    "improvement",
    "risk",
    "collapse",
)
NODE_ARRAYS = (
    *NODE_FLOATS,
    "depth",
    "children_left",
    "children_right",
    "feature",
    "missing_go_to_left",
    "n_node_samples",
    "value",
    "unclipped_value",
    "subset",
)


def normalized(importances):
    """Return shares of one, or zeros."""
    total = importances.sum()
    return importances / total if total > 0 else importances


def make_tree(grown, field, target, rules, *, preorder, mass):
    """Return the tree of what was grown, whose risks are relative to ``mass``."""
    n_classes = target.n_classes
    left = np.full(len(grown.nodes), LEAF, dtype=np.int64)
    right = left.copy()
    splits = grown.splits
    left[splits["node"]], right[splits["node"]] = splits["left"], splits["right"]
    order = np.arange(len(left))
    if preorder:
        _prune.number_nodes(left, right, order)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))

    split = place[splits["node"]]

    def at_splits(name, other, dtype):
        values = np.full(len(left), other, dtype=dtype)
        values[split] = splits[name]
        return values

    weight = grown.nodes["weight"][order] * field.weight_unit
    subset = at_splits("subset", -1, np.int64)
    threshold = at_splits("threshold", UNDEFINED, np.float64)
    threshold[subset >= 0] = np.nan
    tree = Tree(
        n_features=field.X.shape[1],
        n_outputs=field.n_outputs,
        n_classes=np.ones(field.n_outputs, dtype=np.intp) if n_classes is None else n_classes,
        n_categories=field.n_categories,
        children_left=np.where(left[order] == LEAF, LEAF, place[left[order]]),
        children_right=np.where(right[order] == LEAF, LEAF, place[right[order]]),
        feature=at_splits("feature", UNDEFINED, np.int64),
        threshold=threshold,
        missing_go_to_left=at_splits("missing_left", 0, np.uint8),
        depth=grown.nodes["depth"][order],
        impurity=grown.nodes["impurity"][order],
        n_node_samples=(grown.nodes["stop"] - grown.nodes["start"])[order],
        weighted_n_node_samples=weight,
        mass=weight.copy(),
        value=values_of(grown.values[order], field.first_channel, n_classes),
        improvement=at_splits("gain", 0, np.float64) / field.n_outputs / field.total_weight,
        risk=np.zeros(len(left)),
        collapse=np.zeros(len(left)),
        subset=subset,
        subsets=grown.subsets.copy(),
        surrogates=surrogates_of(grown.surrogates, place, left),
        competitors=competitors_of(grown, place, left, field, rules.competitors),
    )
    if target.cost is not None:
        restore_shares(tree, target.cost)
    excess = 0.0
    if rules.monotonic:
        nodes = grown.nodes[order]
        excess = nodes["excess"]
        clip_values(tree, nodes, None if target.cost is None else target.cost.sum(axis=1))
    set_risk(tree, node_losses(tree, target, rules.risk, excess) / mass)
    return tree


def clip_values(tree, nodes, cost=None):
    """Move the values between the bounds that constraints set.

    The bounds of the shares of two classes are those of the second one, as the splits see them:
    times what its mistakes ``cost``.
    """
    tree.unclipped_value = tree.value
    lower, upper = nodes["lower"], nodes["upper"]
    if tree.max_n_classes == 1:
        tree.value = np.clip(tree.value, lower[:, None, None], upper[:, None, None])
        return
    if cost is not None:
        bounds = np.clip([lower, upper], 0, 1)
        lower, upper = bounds * cost[0] / (bounds * cost[0] + (1 - bounds) * cost[1])
    second = np.clip(tree.value[:, 0, 1], lower, upper)
    tree.value = np.stack([1 - second, second], axis=1)[:, None]


def values_of(values, first_channel, n_classes):
    """Return the masses of the classes as shares, padded with zeros, or the means.

    ``values`` may be used up.
    """
    if n_classes is None:
        return values[:, :, None].copy()
    if len(n_classes) == 1:
        table = values[:, None, :]
    else:
        table = np.zeros((len(values), len(n_classes), n_classes.max()))
        for output, n in enumerate(n_classes):
            table[:, output, :n] = values[:, first_channel[output] : first_channel[output + 1]]
    table /= table[:, :1].sum(axis=2, keepdims=True)
    return table


def surrogates_of(found, place, left):
    """Return the surrogates of the nodes that were split."""
    if not len(found):
        return np.zeros(0, dtype=surrogate_dtype)
    found = found[left[found["node"]] != LEAF]
    surrogates = np.zeros(len(found), dtype=surrogate_dtype)
    surrogates["node"] = place[found["node"]]
    for name in ("feature", "threshold", "adjusted", "subset"):
        surrogates[name] = found[name]
    surrogates["reversed"], surrogates["agreement"] = found["flipped"], found["gain"]
    surrogates["threshold"][found["subset"] >= 0] = np.nan
    return surrogates[np.argsort(surrogates["node"], kind="stable")]


def competitors_of(grown, place, left, field, most):
    """Return the competitors of the nodes that were split, at most so many for each."""
    if not most:
        return np.zeros(0, dtype=competitor_dtype)
    taken = np.full(len(left), UNDEFINED)
    taken[grown.splits["node"]] = grown.splits["feature"]
    found = grown.competitors[left[grown.competitors["node"]] != LEAF]
    found = found[found["feature"] != taken[found["node"]]]
    competitors = np.zeros(len(found), dtype=competitor_dtype)
    competitors["node"] = place[found["node"]]
    for name in ("feature", "threshold"):
        competitors[name] = found[name]
    competitors["threshold"][field.n_categories[found["feature"]] > 0] = np.nan
    competitors["improvement"] = found["gain"] / field.n_outputs / field.total_weight
    order = np.lexsort([found["feature"], -found["gain"], competitors["node"]])
    competitors = competitors[order]
    first = np.searchsorted(competitors["node"], competitors["node"])
    return competitors[np.arange(len(competitors)) - first < most]


def set_risk(tree, risk):
    """Set the risk of the nodes, and when they become leaves by it."""
    tree.risk, tree.collapse = np.ascontiguousarray(risk), np.empty(tree.node_count)
    _prune.weakest_links(tree.children_left, tree.children_right, tree.risk, tree.collapse)


def tree_of_one_split(stump, target, n_features, risk):
    """Return the tree of a stump: a root and two leaves, or a root alone without a feature.

    ``stump`` has ``feature`` and ``threshold``, and for all rows and those on the left the masses
    of the classes, ``total`` and ``left``, and their number ``n_left``.
    """
    n_rows = len(target.values)
    masses = np.array([stump.total, stump.left, stump.total - stump.left])
    sizes = np.array([n_rows, stump.n_left, n_rows - stump.n_left])
    used = 3 if stump.feature >= 0 else 1
    masses, sizes = masses[:used], sizes[:used]
    mass = masses.sum(axis=1)
    shares = masses / mass[:, None]
    impurity = 1 - np.sum(shares**2, axis=1)
    is_root = np.arange(used) == (0 if used == 3 else -1)
    gain = impurity[0] - impurity[1:] @ mass[1:] / mass[0] if used == 3 else 0.0
    tree = Tree(
        n_features=n_features,
        n_outputs=1,
        n_classes=target.n_classes,
        n_categories=np.zeros(n_features, dtype=np.int32),
        children_left=np.where(is_root, 1, LEAF),
        children_right=np.where(is_root, 2, LEAF),
        feature=np.where(is_root, stump.feature, UNDEFINED),
        threshold=np.where(is_root, stump.threshold, UNDEFINED),
        missing_go_to_left=(is_root & (2 * mass[1:2].sum() > mass[0])).astype(np.uint8),
        depth=(np.arange(used) > 0).astype(np.int64),
        impurity=impurity,
        n_node_samples=sizes,
        weighted_n_node_samples=mass,
        mass=mass.copy(),
        value=shares[:, None],
        improvement=np.where(is_root, gain, 0.0),
        risk=np.zeros(used),
        collapse=np.zeros(used),
        subset=np.full(used, -1),
        subsets=np.empty(0, dtype=np.int32),
        surrogates=np.empty(0, dtype=surrogate_dtype),
        competitors=np.empty(0, dtype=competitor_dtype),
    )
    set_risk(tree, node_losses(tree, target, risk) / target.mass)
    return tree


# ---------------------------------------------------------------- what nodes predict, and lose


def node_labels(tree, cost):
    """Return the class that each node predicts, for each output, the first among equals."""
    if cost is None:
        return tree.value.argmax(axis=2)
    return (tree.value[:, 0] @ cost).argmin(axis=1)[:, None]


def node_losses(tree, target, risk="impurity", excess=0.0):
    """Return what each node would add to the risk, times the mass of all samples, as a leaf.

    ``excess`` is by how much the impurity of what it predicts is larger than its own.
    """
    if risk == "misclassification":
        return training_losses(tree, target)
    losses = (tree.impurity + excess) * tree.weighted_n_node_samples
    # The impurity may be that of classes that count by their cost.
    return losses if target.cost is None else losses * (target.mass / target.weight.sum())


def training_losses(tree, target):
    """Return the mass, or the cost, of the training samples that each node gets wrong.

    Of numbers it is the risk.
    """
    if target.n_classes is None:
        return tree.risk * target.mass
    shares = tree.value if tree.unclipped_value is None else tree.unclipped_value
    labels = node_labels(tree, target.cost)
    if target.cost is not None:
        return tree.mass * (shares[:, 0] @ target.cost)[np.arange(len(labels)), labels[:, 0]]
    right = np.take_along_axis(shares, labels[:, :, None], axis=2)
    return tree.mass * np.maximum(1 - right, 0).mean(axis=(1, 2))


def restore_shares(tree, cost):
    """Let values and masses be those of the classes, not what the splits saw of them."""
    masses = tree.value[:, 0] * tree.mass[:, None] / cost.sum(axis=1)
    tree.mass = masses.sum(axis=1)
    tree.value = (masses / tree.mass[:, None])[:, None]
