"""
Digits with one label of each
=============================

The 1797 digits of scikit-learn, of which ten have a label: how many of the others are found? The
images without a label say which ways lead from one image to the next. Laplacian interpolation walks
along these ways until it meets a label. How long that takes says where it knows little.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelPropagation

from sklearn_sl.graph import (
    GraphBuilder,
    LaplacianInterpolationClassifier,
    LaplacianInterpolationClassifierCV,
)

X, y = load_digits(return_X_y=True)

# %%
# The graph joins each image with its nearest ones, and has the edges of the minimum spanning tree
# as well, so that a label is reached from everywhere. ``LaplacianInterpolationClassifierCV``
# chooses the number of neighbours by leaving out one label after the other, in closed form. The
# peers are scikit-learn's ``LabelPropagation`` on neighbours as it comes, whose thousand iterations
# are not enough for few labels, as it warns; and the nearest label.

connected = GraphBuilder(("knn", "mst"))
models = {
    "interpolation, 10 neighbours": LaplacianInterpolationClassifier(affinity=connected),
    "interpolation, neighbours by leave-one-out": LaplacianInterpolationClassifierCV(
        affinity=connected, graph_grid={"n_neighbors": [3, 5, 10, 20]}
    ),
    "scikit-learn's LabelPropagation": LabelPropagation(kernel="knn"),
}
NEAREST = "the nearest label"
SIZES, N_DRAWS = (1, 2, 5), 5


def few_labels(size, rng):
    """Return the classes, with -1 for all but a few images of each digit."""
    drawn = [rng.choice(np.flatnonzero(y == digit), size, replace=False) for digit in range(10)]
    few = np.full(len(y), -1)
    few[np.concatenate(drawn)] = y[np.concatenate(drawn)]
    return few


rng = np.random.default_rng(0)
found = {name: np.empty((len(SIZES), N_DRAWS)) for name in (*models, NEAREST)}
chosen = np.empty((len(SIZES), N_DRAWS), dtype=int)
for place in np.ndindex(len(SIZES), N_DRAWS):
    few = few_labels(SIZES[place[0]], rng)
    known = few >= 0
    for name, model in models.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, few)
        found[name][place] = np.mean(model.transduction_[~known] == y[~known])
    nearest = KNeighborsClassifier(1).fit(X[known], y[known])
    found[NEAREST][place] = nearest.score(X[~known], y[~known])
    chosen[place] = models["interpolation, neighbours by leave-one-out"].best_params_["n_neighbors"]

for row, size in enumerate(SIZES):
    print(f"{10 * size} labels; leave-one-out chose {', '.join(map(str, chosen[row]))} neighbours")
    for name, shares in found.items():
        print(f"  {name}: {shares[row].mean():.1%}, between {shares[row].min():.1%}", end=" ")
        print(f"and {shares[row].max():.1%}")

# %%
# Lines are means, and marks are the draws of labels.

STYLES = {
    "interpolation, 10 neighbours": ("#3f90da", "o"),
    "interpolation, neighbours by leave-one-out": ("#bd1f01", "D"),
    "scikit-learn's LabelPropagation": ("#ffa90e", "s"),
    NEAREST: ("#717581", "^"),
}
fig, ax = plt.subplots(figsize=(9, 5), layout="constrained")
for shift, (name, (colour, mark)) in zip((-0.06, -0.02, 0.02, 0.06), STYLES.items(), strict=True):
    places = np.arange(len(SIZES)) + shift
    ax.plot(places, found[name].mean(axis=1), color=colour, marker=mark, label=name)
    ax.plot(places, found[name], mark, color=colour, markersize=4, alpha=0.5)
ax.set_xticks(range(len(SIZES)), [f"{10 * size}" for size in SIZES])
ax.set(xlabel="labels, as many of each digit", ylabel="right, of the images without a label")
ax.legend(loc="lower right")
plt.show()

# %%
# On average the graph finds far more than the nearest label does, and more than the peer. How many
# neighbours are best, leave-one-out can say from two labels of each digit on. With one label it
# cannot: no label of the digit that is left out remains, the right answer is impossible, and the
# least wrong one is to be vague, as graphs with many edges are. So it chose twenty neighbours
# there, and did worse than ten.

# %%
# Where the model knows little
# ----------------------------
# The first draw of ten labels once more. Which images have the longest way to a label?

few = few_labels(1, np.random.default_rng(0))
model = LaplacianInterpolationClassifier(affinity=connected).fit(X, few)
right, steps = model.transduction_ == y, model.hitting_time_
order = np.argsort(steps, kind="stable")
labelled, others = np.split(order, [10])  # there is no way to go from a labelled one
labelled = labelled[y[labelled].argsort()]
tenths = np.array([right[part].mean() for part in np.array_split(others, 10)])
print(f"steps: {steps[others[0]]:.0f} at least, {steps[others[-1]]:.0f} at most")
print("right, by tenths of the images:", ", ".join(f"{share:.0%}" for share in tenths))
last = others[-100:]
for digit in np.unique(y[last]):
    those = last[y[last] == digit]
    print(f"the hundred longest ways: {len(those)} of digit {digit}", end=", ")
    print(f"{right[those].sum()} of them right")

fig, (images, shares) = plt.subplots(
    1, 2, figsize=(13, 3.9), layout="constrained", width_ratios=(2.2, 1)
)
rows = {"labelled": labelled, "shortest": others[:10], "longest": others[-10:]}
tiles = np.zeros((3 * 11, 10 * 10))
for (row, column), sample in np.ndenumerate(np.array(list(rows.values()))):
    top, left = 11 * row, 10 * column + 1
    tiles[top : top + 8, left : left + 8] = X[sample].reshape(8, 8)
    answer = f"says {model.transduction_[sample]}"
    images.text(left + 3.5, top + 9.2, answer, ha="center", va="center", fontsize="small")
images.imshow(tiles, cmap="gray_r")
images.set_yticks([11 * row + 3.5 for row in range(3)], rows)
images.set_xticks([])
images.tick_params(length=0)
images.set_frame_on(False)
images.set_title("labelled images, and those with the shortest and the longest ways")
shares.plot(range(1, 11), tenths, "o-", color="#3f90da")
shares.set(xlabel="tenths of the images, from short to long ways", ylabel="right")
shares.set_xticks(range(1, 11))
plt.show()

# %%
# The ten longest ways are those of ones with a base line, which the labelled one does not have. All
# of them are taken for a two. Of the tenth of the images with the longest ways a quarter is wrong,
# of the shortest tenth hardly any, and nobody had to know their labels to see which they are. A
# long way is a warning and not a mistake: the sevens among them are far from their label and still
# right. But if somebody can be asked for one more label, these are the images to ask about.
