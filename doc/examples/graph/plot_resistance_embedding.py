"""
A club that split, as a network of resistors
============================================

While W. W. Zachary watched a karate club, its instructor and its president fell out, and the
club split in two. The 78 friendships among its 34 members are a graph. If each is a resistor, the
effective resistance between two members is small where many short ways lead from one to the other.
It is a squared distance between points in space, which the pseudo-inverse of the Laplacian is the
kernel of. Here is the club in these coordinates.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from scipy.sparse.csgraph import shortest_path

from sklearn_sl.graph import (
    LaplacianInterpolationClassifier,
    SpectralBisection,
    effective_resistance,
    graph_from_edges,
)
from sklearn_sl.kernels import LaplacianKernel

# %%
# The data are those of W. W. Zachary, "An information flow model for conflict and fission in small
# groups", Journal of Anthropological Research, 1977. The instructor is 1 and the president 34.
# Each friendship is listed at the smaller number.

FRIENDS = {
    1: [2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 18, 20, 22, 32],
    2: [3, 4, 8, 14, 18, 20, 22, 31],
    3: [4, 8, 9, 10, 14, 28, 29, 33],
    4: [8, 13, 14],
    5: [7, 11],
    6: [7, 11, 17],
    7: [17],
    9: [31, 33, 34],
    10: [34],
    14: [34],
    15: [33, 34],
    16: [33, 34],
    19: [33, 34],
    20: [34],
    21: [33, 34],
    23: [33, 34],
    24: [26, 28, 30, 33, 34],
    25: [26, 28, 32],
    26: [32],
    27: [30, 34],
    28: [34],
    29: [32, 34],
    30: [33, 34],
    31: [33, 34],
    32: [33, 34],
    33: [34],
}
WITH_INSTRUCTOR = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 17, 18, 20, 22]

edges = np.array([(a, b) for a, others in FRIENDS.items() for b in others]) - 1
graph = graph_from_edges(edges)
members = np.arange(1, 35)
faction = np.where(np.isin(members, WITH_INSTRUCTOR), 0, 1)

# %%
# The eigenvectors of the kernel matrix, scaled by the roots of its eigenvalues, are coordinates of
# the members. The squared distances of these points are the resistances.

K = LaplacianKernel(graph)(members[:, None] - 1)
eigenvalues, vectors = np.linalg.eigh(K)
points = vectors * np.sqrt(np.maximum(eigenvalues, 0))
resistance = effective_resistance(graph, "all")
squared = np.sum((points[:, None] - points[None]) ** 2, axis=2)
print(f"resistances and squared distances differ by {np.abs(squared - resistance).max():.0e}")

# %%
# They lie in 33 dimensions, and a picture has two. Principal components are the directions that
# keep most of the squared distances. With all members alike these would be the ways to the few who
# have hardly any friends; here members count by the number of their friends.

degree = graph.sum(axis=1)
centred = points - degree @ points / degree.sum()
_, spread, axes = np.linalg.svd(np.sqrt(degree)[:, None] * centred)
plane = centred @ axes[:2].T
# The instructor is on the left, and above.
plane *= np.sign(plane[0]) * [-1, 1]
print(f"two components keep {np.sum(spread[:2] ** 2) / np.sum(spread**2):.0%}")

# %%
# The resistance of an edge times its weight is the share of all spanning trees of the graph that it
# is in. An edge without a way around it is in all of them. The shares add up to 33, the number of
# edges of a tree.

share = resistance[edges[:, 0], edges[:, 1]]
print(f"sum of the shares: {share.sum():.6f}")
for place in (share.argmax(), share.argmin()):
    print(f"friends {edges[place] + 1}: in {share[place]:.0%} of the spanning trees")

# %%
# Does the graph know who went with whom? Two answers: a cut that is light for the degrees on its
# sides, for which nobody need be asked; and the walks that meet the instructor or the president
# first.

cut = SpectralBisection(affinity="precomputed", normalization="symmetric").fit(graph)
sides = np.where(cut.labels_ == cut.labels_[0], 0, 1)
few = np.full(34, -1)
few[[0, 33]] = 0, 1
walks = LaplacianInterpolationClassifier(affinity="precomputed").fit(graph, few)
print(f"wrong by the cut: {members[sides != faction]}")
print(f"wrong by the walks: {members[walks.transduction_ != faction]}")

# %%
# On the left is the club, with edges as wide as their shares of the spanning trees. The first
# component is the eigenvector that the cut is made of, so that the cut is a line. On the right are
# all pairs of members, by the resistance and by the number of friendships between them.

scale = plane[:, 0] @ cut.fiedler_vector_ / (cut.fiedler_vector_ @ cut.fiedler_vector_)
print(f"component and eigenvector: {np.abs(plane[:, 0] - scale * cut.fiedler_vector_).max():.0e}")

fig, (club, pairs) = plt.subplots(
    1, 2, figsize=(13, 5.8), layout="constrained", width_ratios=(1.3, 1)
)
lines = {"linewidths": 0.3 + 5 * share, "color": "0.78", "zorder": 1}
club.add_collection(LineCollection(plane[edges], **lines))
factions = {"with the instructor": "#e76300", "with the president": "#3f90da"}
for side, (name, colour) in enumerate(factions.items()):
    dots = {"s": 70, "color": colour, "edgecolor": "white", "zorder": 2}
    club.scatter(*plane[faction == side].T, **dots, label=name)
club.axvline(scale * cut.threshold_, color="black", linestyle="dashed", linewidth=1, label="cut")
TEXTS = {
    1: ("1, instructor", (-10, -10), "right"),
    34: ("34, president", (8, 8), "left"),
    9: ("9", (-2, -16), "right"),
    12: ("12", (-8, 0), "right"),
    17: ("17", (9, -4), "left"),
    33: ("33", (9, 0), "left"),
}
for member, (text, shift, side) in TEXTS.items():
    where = {"xytext": shift, "textcoords": "offset points", "ha": side}
    club.annotate(text, plane[member - 1], **where)
club.set(xlabel="first component", ylabel="second component", aspect="equal")
club.set(xlim=(-0.6, 0.45), ylim=(-0.46, 0.3))
club.legend(loc="lower right")

steps = shortest_path(graph, unweighted=True)
first, second = np.triu_indices(34, 1)
same = faction[first] == faction[second]
between = resistance[first, second]
ways = steps[first, second]
jitter = np.random.default_rng(0).uniform(-0.16, 0.16, len(first))
for group, shift, colour, name in (
    (same, -0.2, "#717581", "of one faction"),
    (~same, 0.2, "#bd1f01", "of both factions"),
):
    x = ways[group] + shift + jitter[group]
    pairs.plot(x, between[group], ".", color=colour, label=name, alpha=0.6)
pairs.hlines([1, 2], [0.6, 1.6], [1.4, 2.4], color="black", label="this way alone")
pairs.set(xlabel="length of the shortest way", ylabel="effective resistance", ylim=(0, 2.1))
pairs.legend(loc="lower right")
plt.show()

# %%
# The graph alone tells apart who went with whom, but for member 9: three of his five friends are on
# the other side, yet he went with the instructor.
#
# A resistance is never more than that of the shortest way, and most are far less. Member 12 has one
# friend, so that there is one way only, and this edge is in all spanning trees. The five members on
# the lower left, at three places, have no friends but each other and the instructor.
#
# One should not read too much into a single resistance. At the same length of the way, pairs of one
# faction are no nearer to each other than others. Much of a resistance is at its two ends, where
# all current has to pass through the few edges of a member, as the degrees tell:

local = 1 / degree[first] + 1 / degree[second]
for name, other in (("the length of the shortest way", ways), ("1 / degree at both ends", local)):
    print(f"correlation of the resistance and {name}: {np.corrcoef(between, other)[0, 1]:.2f}")
