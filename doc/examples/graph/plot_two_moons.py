"""
Two moons and two labels
========================

Two labels are not enough to learn a curved boundary, unless the samples without a label help. They
do if each class is one connected region: then its label can spread along the edges of a graph of
neighbours. Laplacian interpolation makes each vertex the mean of its neighbours, which is the
probability that a random walk from there meets the label of a class first.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from sklearn.datasets import make_moons
from sklearn.neighbors import KNeighborsClassifier

from sklearn_sl.graph import LaplacianInterpolationClassifier, cut_weight

# %%
# There are 400 samples. The leftmost and the rightmost one have a label; -1 stands for no label.
# Who knows these two samples only can do no better than to take the nearer one.

X, y = make_moons(400, noise=0.08, random_state=0)
known = np.array([X[:, 0].argmin(), X[:, 0].argmax()])
few = np.full(len(y), -1)
few[known] = y[known]

nearer = KNeighborsClassifier(1).fit(X[known], y[known])
model = LaplacianInterpolationClassifier(n_neighbors=8).fit(X, few)
print(f"right by the nearer label: {np.mean(nearer.predict(X) == y):.1%}")
print(f"right by the graph: {np.mean(model.transduction_ == y):.1%}")

# %%
# The graph is better, but far from perfect: it has a few edges from moon to moon, and walks take
# them. ``vertex_`` has the vertex of each sample, in which the rows of the graph are found.

graph = model.graph_[model.vertex_][:, model.vertex_]
left = model.label_distributions_[:, 0]
between, total = cut_weight(graph, y), graph.sum() / 2
print(f"edges between the moons: {between:.2f} of the weight {total:.0f}")
print(f"least probability of the left label in its own moon: {left[y == 0].min():.3f}")
print(f"largest probability of the left label in the other moon: {left[y == 1].max():.3f}")

# %%
# Who knows that there are as many samples in either moon can say so: ``class_mass`` scales the
# classes to these shares.

even = LaplacianInterpolationClassifier(n_neighbors=8, class_mass=[0.5, 0.5]).fit(X, few)
print(f"right by the graph and the shares: {np.mean(even.transduction_ == y):.1%}")

# %%
# Rings are the samples with a label. The last picture has the number of steps that a walk takes on
# average until it meets a label.

BLUE, ORANGE = "#3f90da", "#e76300"
shades = LinearSegmentedColormap.from_list("shades", [ORANGE, "0.87", BLUE])
pairs = np.column_stack(graph.nonzero())
bridge = y[pairs[:, 0]] != y[pairs[:, 1]]
steps = np.maximum(model.hitting_time_, 100)

fig, axes = plt.subplots(2, 2, figsize=(11, 6.2), layout="constrained", sharex=True, sharey=True)
shaded = {"cmap": shades, "vmin": 0, "vmax": 1}
pictures = {
    "the nearer label": (nearer.predict_proba(X)[:, 0], shaded),
    "the graph": (left, shaded),
    "the graph and the shares of the classes": (even.label_distributions_[:, 0], shaded),
    "steps to a label": (steps, {"cmap": "cividis_r", "norm": LogNorm()}),
}
for ax, (title, (values, style)) in zip(axes.flat, pictures.items(), strict=True):
    if ax is not axes[0, 0]:
        ax.add_collection(LineCollection(X[pairs[~bridge]], color="0.85", linewidth=0.5))
        ax.add_collection(LineCollection(X[pairs[bridge]], color="black", linewidth=1))
    points = ax.scatter(*X.T, c=values, s=14, zorder=2, **style)
    ax.scatter(*X[known].T, s=110, facecolor="none", edgecolor="black", linewidth=1.6, zorder=3)
    if style is shaded:
        title = f"{title}: {np.mean((values < 0.5) == y):.1%} right"
    ax.set(title=title, aspect="equal")
    if ax is axes[0, 1]:
        fig.colorbar(points, ax=ax, label="probability of the left label")
fig.colorbar(points, ax=axes[1, 1], label="steps")
axes[0, 1].plot([], [], color="black", linewidth=1, label="edges between the moons")
axes[0, 1].legend(loc="upper right", fontsize="small")
for ax in axes[1]:
    ax.set_xlabel("first feature")
for ax in axes[:, 0]:
    ax.set_ylabel("second feature")
plt.show()

# %%
# The bridge is light, but the label of the right moon is far away: most walks from the inner end of
# that moon cross the bridge and meet the other label first. All the same every sample of the left
# moon is bluer than any of the right one. So the order of the samples is right, and the border at
# one half is wrong. The shares move it closer to the gap between the moons, though not into it.
#
# The number of steps says where the model knows little. It is a certificate as well: the residual
# of the linear system times the longest walk bounds the error of all probabilities.

print(f"steps to a label: {np.median(model.hitting_time_):.0f} on the median", end=", ")
print(f"{model.hitting_time_.max():.0f} at most")
print(f"no probability is wrong by more than {model.error_bound_:.0e}")

# %%
# A new sample is joined with its neighbours and gets the mean of what they say. However far it is,
# only the ratios of weights count, so that this is a distribution and never 0 / 0.

for sample in ([0.5, 100.0], [0.5, -1e6], [1e9, 0.0]):
    print(f"at {sample}: {model.predict_proba([sample])[0].round(3)}")
