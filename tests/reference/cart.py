"""Slow, readable twins of the trees: exhaustive search for splits, and for pruned subtrees."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import log, log2

import numpy as np


@dataclass
class Node:
    """A node of a tree: its rows, its impurity, and its split if it has one."""

    rows: list
    weight: object
    impurity: object
    feature: int = -2
    threshold: float = -2.0
    left: "Node" = None
    right: "Node" = None

    def preorder(self):
        """Return the node and all below it, left ones first."""
        if self.left is None:
            return [self]
        return [self, *self.left.preorder(), *self.right.preorder()]


# ---------------------------------------------------------------- impurities


def shares(y, weight):
    """Return the share of each class in the weight."""
    return [
        sum(w for label, w in zip(y, weight) if label == one) / sum(weight)
        for one in sorted(set(y))
    ]


def gini(y, weight):
    """Return ``1 - sum p**2``."""
    return 1 - sum(p * p for p in shares(y, weight))


def entropy(y, weight):
    """Return the entropy of the classes in bits."""
    return -sum(p * log2(p) for p in shares(y, weight))


def mean(y, weight):
    """Return the weighted mean."""
    return sum(w * target for target, w in zip(y, weight)) / sum(weight)


def squared_error(y, weight):
    """Return the mean squared distance from the mean."""
    middle = mean(y, weight)
    return sum(w * (target - middle) ** 2 for target, w in zip(y, weight)) / sum(weight)


def poisson(y, weight):
    """Return half the mean Poisson deviance from the mean; infinity if all targets are zero.

    A mean of zero is no parameter of a Poisson distribution, so that no split may lead to it.
    """
    middle = mean(y, weight)
    if middle == 0:
        return float("inf")
    terms = (w * target * log(target / middle) for target, w in zip(y, weight) if target > 0)
    return sum(terms) / float(sum(weight))


def median(y, weight):
    """Return the weighted median, the middle of the gap if a half of the weight is on a side."""
    below = 0
    pairs = sorted(zip(y, weight))
    for (target, w), (above, _) in zip(pairs, [*pairs[1:], pairs[-1]]):
        below += w
        if 2 * below >= sum(weight):
            return (target + above) / 2 if 2 * below == sum(weight) else target


def absolute_error(y, weight):
    """Return the mean distance from the median."""
    middle = median(y, weight)
    return sum(w * abs(target - middle) for target, w in zip(y, weight)) / sum(weight)


IMPURITY = {
    "gini": gini,
    "entropy": entropy,
    "log_loss": entropy,
    "squared_error": squared_error,
    "poisson": poisson,
    "absolute_error": absolute_error,
}


# ---------------------------------------------------------------- growing


def exact(numbers):
    """Return numbers as fractions."""
    return [Fraction(float(number)) for number in numbers]


def grow(
    X,
    y,
    weight=None,
    *,
    criterion,
    max_depth=np.inf,
    min_samples_split=2,
    min_samples_leaf=1,
    min_weight_leaf=0,
    min_impurity_decrease=0,
):
    """Return the root of a tree grown by looking at every split of every node.

    Gini, squared and absolute error are compared as fractions, so that ties are ties; among these
    the first feature and the lowest threshold win.
    """
    X, y = np.asarray(X, dtype=np.float64), exact(y)
    weight = exact(np.ones(len(y)) if weight is None else weight)
    impurity_of = IMPURITY[criterion]

    def make(rows):
        part = [y[i] for i in rows], [weight[i] for i in rows]
        return Node(rows, sum(part[1]), impurity_of(*part))

    def allowed(node):
        return len(node.rows) >= min_samples_leaf and node.weight >= min_weight_leaf

    def search(node):
        best = None
        for feature, threshold in thresholds(X, node.rows):
            left, right = (make(side) for side in sides(X, node.rows, feature, threshold))
            if not (allowed(left) and allowed(right)):
                continue
            loss = left.weight * left.impurity + right.weight * right.impurity
            gain = node.weight * node.impurity - loss
            if loss != float("inf") and (best is None or gain > best[0]):
                best = gain, feature, threshold, left, right
        return best

    def split(node, depth):
        if (
            depth >= max_depth
            or len(node.rows) < max(min_samples_split, 2 * min_samples_leaf)
            or len({y[i] for i in node.rows}) == 1
        ):
            return node
        best = search(node)
        if best is None or best[0] / root.weight < min_impurity_decrease:
            return node
        _, node.feature, node.threshold, left, right = best
        node.left, node.right = split(left, depth + 1), split(right, depth + 1)
        return node

    root = make(list(range(len(y))))
    return split(root, 0)


def thresholds(X, rows):
    """Return all features and middles between neighbouring values."""
    for feature in range(X.shape[1]):
        values = np.unique(X[rows, feature])
        for low, high in pairwise(values):
            yield feature, low / 2 + high / 2


def sides(X, rows, feature, threshold):
    """Return the rows on the left and on the right of a threshold."""
    left = [i for i in rows if X[i, feature] <= threshold]
    return left, [i for i in rows if X[i, feature] > threshold]


def loss_of_sides(criterion, y, weight, left):
    """Return the impurities times the weights of a division of the rows, summed."""
    return sum(
        weight[side].sum() * IMPURITY[criterion](y[side].tolist(), weight[side].tolist())
        for side in (left, ~left)
    )


def best_subset_loss(codes, y, weight, criterion):
    """Return the least loss over all divisions of the categories in two, NaN being one of them."""
    codes = np.where(np.isnan(codes), -1, codes)
    present = np.unique(codes)
    divisions = (
        np.isin(codes, (present[0], *chosen))
        for size in range(len(present) - 1)
        for chosen in combinations(present[1:], size)
    )
    return min(loss_of_sides(criterion, y, weight, left) for left in divisions)


# ---------------------------------------------------------------- pruning


def pruned_subtrees(tree, node=0):
    """Return the leaves of every pruned subtree of a node, as sets of nodes."""
    found = [frozenset([node])]
    if tree.children_left[node] >= 0:
        below = (
            pruned_subtrees(tree, tree.children_left[node]),
            pruned_subtrees(tree, tree.children_right[node]),
        )
        found += [left | right for left, right in product(*below)]
    return found


def smallest_minimiser(tree, alpha, slack=1e-12):
    """Return the leaves of the smallest subtree that minimises risk plus ``alpha`` a leaf."""
    candidates = [
        (sum(tree.risk[list(leaves)]) + alpha * len(leaves), leaves)
        for leaves in pruned_subtrees(tree)
    ]
    least = min(cost for cost, _ in candidates)
    return min((leaves for cost, leaves in candidates if cost <= least + slack), key=len)
