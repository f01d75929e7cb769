"""
Smooth functions of very many samples
=====================================

The smoothest eigenvectors of a graph Laplacian change little inside a cluster. With very many
samples they are functions of the place, and :class:`~sklearn_sl.graph.EigenfunctionClassifier`
finds them from histograms, coordinate by coordinate, without a graph: the cost is linear in the
number of samples. Eight labels suffice for four clusters of 100,000 samples.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_sl.graph import EigenfunctionClassifier

rng = np.random.default_rng(0)
centres = np.array([[-2.0, -1.0], [2.0, -1.0], [-2.0, 1.0], [2.0, 1.0]])
cluster = rng.integers(4, size=100_000)
X = centres[cluster] + 0.45 * rng.standard_normal((len(cluster), 2))
labels = np.full(len(X), -1)
for k in range(4):
    labels[np.flatnonzero(cluster == k)[:2]] = k

model = EigenfunctionClassifier().fit(X, labels)
accuracy = np.mean(model.predict(X) == cluster)

# %%
# Each function depends on one principal coordinate. The first ones are steps between the clusters;
# the next ones are steps inside, and cost more roughness. The classifier is a sum of them.

few = rng.choice(len(X), 4000, replace=False)
places = (X[few] - model.mean_) @ model.components_.T


def on_samples(k):
    # Interpolated linearly between the centres of the bins, as in the model.
    axis = model.axis_[k]
    return np.interp(places[:, axis], model.bin_centers_[axis], model.eigenfunctions_[k])


fig, axes = plt.subplots(1, 4, figsize=(11, 2.9), layout="constrained", sharey=True)
for k, ax in enumerate(axes[:3]):
    ax.scatter(*X[few].T, c=on_samples(k), s=2, cmap="coolwarm")
    ax.set_title(f"eigenvalue {model.eigenvalues_[k]:.3f}")
axes[3].scatter(*X[few].T, c=model.predict(X[few]), s=2, cmap="tab10", vmax=9)
axes[3].scatter(*X[labels >= 0].T, marker="*", s=90, c="k")
axes[3].set_title(f"accuracy {accuracy:.3f}")
for ax in axes:
    ax.set_xticks([])
    ax.set_yticks([])
plt.show()
