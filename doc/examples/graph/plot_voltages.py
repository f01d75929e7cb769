"""
Voltages, currents and random walks
===================================

Let each edge of a graph be a resistor of ``1 / weight``, and let a battery hold one labelled vertex
at 1 volt and another one at 0. The voltages of the others are what Laplacian interpolation
predicts, and the power that the network takes is its energy. A voltage is a probability as well:
that a random walk from there meets the label 1 before the label 0.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

from sklearn_sl.datasets import make_two_cliques
from sklearn_sl.graph import (
    LaplacianInterpolationRegressor,
    effective_resistance,
    graph_from_edges,
)

# %%
# There are two networks, all edges of which have the weight one: two cliques of six vertices that
# one edge joins, and a grid with a wall in the middle that has a door. The battery is at the
# outermost vertices of the cliques, and at the lower corners of the grid.

SIZE, ROWS, COLUMNS, DOOR = 6, 7, 12, 5

cliques, _ = make_two_cliques(SIZE)
# Around a circle, the first vertex on the left and the last one on the right.
angles = np.pi - 2 * np.pi * np.array([0, 1, 2, 4, 5, 3]) / SIZE
circle = np.column_stack([np.cos(angles), np.sin(angles)])
clique_places = np.concatenate([circle - [1.7, 0], [1.7, 0] - circle[::-1]])

places = np.array([(x, y) for y in range(ROWS) for x in range(COLUMNS)])
number = np.arange(len(places)).reshape(ROWS, COLUMNS)
right = [
    (number[y, x], number[y, x + 1])
    for y in range(ROWS)
    for x in range(COLUMNS - 1)
    if x + 1 != COLUMNS // 2 or y == DOOR
]
up = np.column_stack([number[:-1].ravel(), number[1:].ravel()])
grid = graph_from_edges(np.concatenate([right, up]))

networks = {
    "two cliques": (cliques, clique_places, [0, 2 * SIZE - 1]),
    "a grid with a door": (grid, places, [0, COLUMNS - 1]),
}

# %%
# NaN stands for no target. The current from one pole to the other is 1 volt / resistance. The
# energy is voltage times current, which is the same number. At all other vertices as much current
# flows in as flows out.

voltages = {}
for name, (graph, _, poles) in networks.items():
    target = np.full(graph.shape[0], np.nan)
    target[poles] = 1.0, 0.0
    model = LaplacianInterpolationRegressor(affinity="precomputed").fit(graph, target)
    voltages[name] = u = model.transduction_
    flow = u * graph.sum(axis=1) - graph @ u
    resistance = effective_resistance(graph, [poles])[0]
    print(f"{name}: current {flow[poles[0]]:.4f}, 1 / resistance {1 / resistance:.4f}", end=", ")
    print(f"energy {model.energy_:.4f}, lost elsewhere {np.abs(np.delete(flow, poles)).max():.0e}")

# %%
# Walks know nothing of this. A thousand of them begin at each vertex and go to neighbours by
# chance, until they meet a pole.

N_WALKS = 1000


def walk(graph, poles, rng):
    """Return the share of walks from each vertex that end at the first pole, and all lengths."""
    degree = np.diff(graph.indptr)
    at = np.repeat(np.arange(graph.shape[0]), N_WALKS)
    lengths, walking = np.zeros(len(at)), np.flatnonzero(~np.isin(at, poles))
    while len(walking):
        here = at[walking]
        way = rng.integers(degree[here])
        at[walking] = graph.indices[graph.indptr[here] + way]
        lengths[walking] += 1
        walking = walking[~np.isin(at[walking], poles)]
    return np.mean((at == poles[0]).reshape(-1, N_WALKS), axis=1), lengths


rng = np.random.default_rng(0)
shares = {}
for name, (graph, _, poles) in networks.items():
    shares[name], lengths = walk(graph, poles, rng)
    difference = np.abs(shares[name] - voltages[name])
    print(f"{name}: {lengths.mean():.0f} steps on average", end=", ")
    print(f"largest difference of share and voltage {difference.max():.3f}")

# %%
# Vertices are coloured by voltage, and edges are as wide as their currents. Squares are the poles.

COLOURS = {"two cliques": "#bd1f01", "a grid with a door": "#3f90da"}
fig, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained", width_ratios=(3, 3, 2.2))
for ax, (name, (graph, at, poles)) in zip(axes, networks.items(), strict=False):
    u = voltages[name]
    pairs = np.column_stack(graph.nonzero())
    current = np.abs(u[pairs[:, 0]] - u[pairs[:, 1]])
    widths = 0.4 + 8 * current / current.max()
    ax.add_collection(LineCollection(at[pairs], linewidths=widths, color="0.6", zorder=1))
    style = {"c": u, "cmap": "cividis", "vmin": 0, "vmax": 1, "edgecolor": "black", "zorder": 2}
    points = ax.scatter(*at.T, s=90, **style)
    ax.scatter(*at[poles].T, s=220, marker="s", **(style | {"c": [1, 0]}))
    ax.set(title=name, aspect="equal", xticks=[], yticks=[])
    ax.margins(0.08)
    ax.set_frame_on(False)
fig.colorbar(points, ax=axes[:2], label="voltage", location="bottom", shrink=0.5, aspect=40)
axes[2].axline((0, 0), slope=1, color="0.6", linewidth=1)
for name, colour in COLOURS.items():
    axes[2].plot(voltages[name], shares[name], "o", color=colour, markersize=4, label=name)
axes[2].set(xlabel="voltage", ylabel="share of walks that end at 1 volt")
axes[2].set(title="voltages and walks")
axes[2].legend(loc="upper left", fontsize="small")
plt.show()

# %%
# In the cliques all current has to pass the bridge, where 0.6 of the volt is lost. Within a clique
# it spreads over many ways, so that voltages differ little: they are what one wants of labels. No
# current flows between the vertices that have the same voltage. In the grid a fifth of the volt is
# lost at the door, the rest on the way there and near the poles, which have two edges each.
#
# Shares of walks are voltages but for chance. A share of a thousand walks has a standard deviation
# of up to 0.016, and the largest difference of many is some two times that. Three digits more would
# take a million times as many walks; the linear system has fifteen at once.
