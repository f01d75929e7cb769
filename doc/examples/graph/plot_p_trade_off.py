"""
From cuts to distances: the exponent of the p-Laplacian
=======================================================

Two labels are extended to all vertices of a graph such that the sum of
:math:`w_{ij} |u_i - u_j|^p` over the edges is least. The exponent :math:`p` says what is trusted.
Near 1 it is the clusters: all the change is put on the few edges of a minimum cut. For large
:math:`p` it is the distance: each large step counts, so the values change evenly along the shortest
ways between the labels.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap

from sklearn_sl.graph import GraphBuilder, PLaplacianClassifier, minimum_cut

# %%
# The graph joins neighbours among points of two discs and a corridor between them.

rng = np.random.default_rng(0)
X = rng.uniform((-2.5, -1), (2.5, 1), size=(1600, 2))
in_discs = np.hypot(np.abs(X[:, 0]) - 1.4, X[:, 1]) < 1
in_corridor = (np.abs(X[:, 0]) < 0.6) & (np.abs(X[:, 1]) < 0.07)
X = X[in_discs | in_corridor]
graph = GraphBuilder(("knn", "mst"), n_neighbors=8, weight="gaussian").fit(X).graph_


def nearest(x, y):
    return int(np.argmin(np.hypot(*(X - (x, y)).T)))


# %%
# One of the labels is at the far left. The other one is at the near end of the right disc, or, in a
# second task, at the same end of the left one: then both are in one cluster.

EXPONENTS = (1.1, 2.0, 10.0)
TASKS = {
    "labels in two clusters": (nearest(-2.2, 0), nearest(0.7, 0)),
    "labels in one cluster": (nearest(-2.2, 0), nearest(-0.6, 0)),
}
for task, (first, second) in TASKS.items():
    cut = minimum_cut(graph, [first], [second])
    print(f"{task}: minimum cut {cut.value:.2f}, {cut.source_side.sum()} vertices on the left")

# %%
# Every fit comes with a bound: the energy is within a millionth of the least one.


def extend(labels, p):
    y = np.full(len(X), -1)
    y[list(labels)] = 0, 1
    model = PLaplacianClassifier(p=p, affinity="precomputed").fit(graph, y)
    print(f"p = {p}: {model.n_iter_} systems, gap {model.duality_gap_ / model.energy_:.0e}")
    return model.label_distributions_[:, 1]


# %%
# The colour of a vertex is its value, and black edges join the two classes that follow from it. On
# the right, the values are drawn against the place from left to right.

COLOURS = LinearSegmentedColormap.from_list("", ["#3f90da", "#e8e8e8", "#bd1f01"])
LINES = {1.1: "#832db6", 2.0: "#ffa90e", 10.0: "#94a4a2"}
rows, cols = graph.nonzero()
segments = np.stack([X[rows], X[cols]], axis=1)
fig = plt.figure(figsize=(13, 4.6), layout="constrained")
grid = fig.add_gridspec(2, 4, width_ratios=(1, 1, 1, 0.8))
for row, (task, labels) in enumerate(TASKS.items()):
    profile = fig.add_subplot(grid[row, 3])
    for column, p in enumerate(EXPONENTS):
        u = extend(labels, p)
        ax = fig.add_subplot(grid[row, column])
        between = (u[rows] > 0.5) != (u[cols] > 0.5)
        ax.add_collection(LineCollection(segments[~between], colors="0.85", linewidths=0.4))
        ax.scatter(*X.T, c=u, cmap=COLOURS, vmin=0, vmax=1, s=9, zorder=2)
        cut = LineCollection(segments[between], colors="black", linewidths=1.3, zorder=3)
        ax.add_collection(cut)
        ax.scatter(
            *X[list(labels)].T,
            c=(0, 1),
            cmap=COLOURS,
            s=190,
            marker="*",
            edgecolor="black",
            zorder=4,
        )
        ax.set(aspect="equal", xticks=[], yticks=[], title=f"$p = {p:g}$" if row == 0 else None)
        ax.set_ylabel(task if column == 0 else "")
        ax.margins(0.02)
        for spine in ax.spines.values():
            spine.set_visible(False)
        profile.plot(X[:, 0], u, ".", color=LINES[p], markersize=2.5)
        profile.plot([], [], "o", color=LINES[p], markersize=4, label=f"$p = {p:g}$")
    profile.axhline(0.5, color="0.6", linestyle="dotted", linewidth=1)
    profile.set(ylabel="value $u$", xlabel="place" if row else None, ylim=(-0.03, 1.03))
    profile.legend(fontsize="small", loc="lower right" if row else "center right")
plt.show()

# %%
# With the labels in two clusters, the minimum cut is across the corridor. At :math:`p = 1.1` nearly
# all of the step is there, wherever in the clusters the labels are. At :math:`p = 10` the boundary
# is half way between the labels, inside the left disc: the second label is nearer to the corridor
# than the first one, and that decides.
#
# With both labels in one cluster there is no thin place between them, and the lightest cuts are
# those around a single vertex. At :math:`p = 1.1` all of the change is on the edges at the labels
# themselves, and the other values are equal: nothing is learned. That is the price of trusting the
# cuts. At :math:`p = 10` the values follow the distance, and the disc behind the second label has
# the value of the place where the corridor begins. At :math:`p = 2`, Laplacian interpolation, there
# is a little of both.
