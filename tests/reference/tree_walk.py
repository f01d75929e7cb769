"""Compare two trees node by node, as far as they had no choice."""

from dataclasses import dataclass

import numpy as np

# Both sum up in another order.
CLOSE = {"rtol": 1e-9, "atol": 1e-11}
# Gains are differences of losses of the size of the root's.
SAME_GAIN = 1e-10


@dataclass
class Walk:
    """What was compared: nodes, splits that are the same, and splits as good as each other."""

    nodes: int = 0
    splits: int = 0
    ties: int = 0

    def __add__(self, other):
        return Walk(self.nodes + other.nodes, self.splits + other.splits, self.ties + other.ties)


def compare(ours, theirs, sides_of_missing=False):
    """Walk down both trees; where they differ the splits must gain the same, and it ends there.

    ``sides_of_missing`` demands the same side for missing values where there are none, too.
    """
    walk, pairs = Walk(), [(0, 0)]
    scale = max(theirs.impurity[0] * theirs.weighted_n_node_samples[0], 1e-300)
    while pairs:
        one, other = pairs.pop()
        assert_same_node(ours, theirs, one, other)
        walk.nodes += 1
        is_leaf = ours.children_left[one] < 0
        if is_leaf and ours.impurity[one] == 0:
            # Weights such as 1/3 leave scikit-learn a rest of impurity to split pure nodes by.
            continue
        if theirs.children_left[other] < 0 and not is_leaf and gain(ours, one) <= SAME_GAIN * scale:
            # Rounding told scikit-learn that a split that gains nothing loses.
            walk.ties += 1
            continue
        assert is_leaf == (theirs.children_left[other] < 0), "one tree ends before the other"
        if is_leaf:
            continue
        if same_split(ours, theirs, one, other):
            walk.splits += 1
            if sides_of_missing:
                assert ours.missing_go_to_left[one] == theirs.missing_go_to_left[other]
            pairs.append((ours.children_left[one], theirs.children_left[other]))
            pairs.append((ours.children_right[one], theirs.children_right[other]))
            continue
        difference = gain(ours, one) - gain(theirs, other)
        assert abs(difference) <= SAME_GAIN * scale, f"gains differ by {difference}"
        walk.ties += 1
    return walk


def assert_same_node(ours, theirs, one, other):
    """Check samples, weight, impurity and value of a node."""
    assert ours.n_node_samples[one] == theirs.n_node_samples[other]
    for name in ("weighted_n_node_samples", "impurity", "value"):
        np.testing.assert_allclose(
            getattr(ours, name)[one], getattr(theirs, name)[other], **CLOSE, err_msg=name
        )


def same_split(ours, theirs, one, other):
    """Return whether two nodes send the samples the same way."""
    return (
        ours.feature[one] == theirs.feature[other]
        and ours.threshold[one] == theirs.threshold[other]
        # Missing values may go to different sides.
        and ours.n_node_samples[ours.children_left[one]]
        == theirs.n_node_samples[theirs.children_left[other]]
    )


def gain(tree, node):
    """Return the loss of a node that its split saves."""
    loss = tree.impurity * tree.weighted_n_node_samples
    return loss[node] - loss[tree.children_left[node]] - loss[tree.children_right[node]]
