"""
Completing a matrix, with and without side information
======================================================

Who likes what? Entries of a matrix of signs are asked for in random order, one in each trial. The
learner predicts the sign, and is told it. There are five kinds of rows and five kinds of columns,
and an entry depends on the kinds alone, so that few entries could tell all. But which row is of
which kind? That is not known; or it is hinted at, by a graph in which rows of one kind are mostly
neighbours.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_sl.datasets import make_biclustered, make_cluster_graph, matrix_trials
from sklearn_sl.kernels import Precomputed
from sklearn_sl.online import MatrixCompletion

SIZE, N_KINDS = 40, 5
U, row_kinds, col_kinds = make_biclustered(SIZE, SIZE, N_KINDS, N_KINDS, random_state=0)
X, y = matrix_trials(U, random_state=0)

# %%
# The inverse of the Laplacian of a graph is a kernel, by which the learner compares rows. In the
# graph of the kinds, all rows of a kind are neighbours, and a few more edges make it connected.
# With noise, some of these edges are missing and some pairs of different kinds are joined. The
# margin is one over the root of the number of kinds, as the theory has it.


def side_information(noise):
    """Return what compares rows and columns."""
    rows = make_cluster_graph(row_kinds, noise=noise, random_state=0)
    cols = make_cluster_graph(col_kinds, noise=noise, random_state=1)
    return {"row_kernel": Precomputed(rows.kernel), "col_kernel": Precomputed(cols.kernel)}


options = {"margin": 1 / np.sqrt(N_KINDS), "keep_losses": True, "random_state": 0}
learners = {
    "no side information": MatrixCompletion(**options),
    "graphs, 10 % noise": MatrixCompletion(**options, **side_information(0.1)),
    "graphs, 3 % noise": MatrixCompletion(**options, **side_information(0.03)),
    "graphs of the kinds": MatrixCompletion(**options, **side_information(0.0)),
}
curves = {}
for name, learner in learners.items():
    curves[name] = np.cumsum(learner.fit(X, y).loss_curve_)
    print(f"{name}: {learner.expected_mistakes_:.0f} expected mistakes in {len(y)} trials")
print(f"the most that the theorem allows for: {learner.regret_bound_:.0f}")

# %%
# For so few trials the bound says nothing, and all that can be done is to look. Above, rows and
# columns are sorted by kind; the learners do not know this order. The second picture has the 240
# entries of the first trials, 15 % of all. Beside it are the probabilities of a 1 that two learners
# give for all entries after these trials.

N_SEEN = 240
order = np.ix_(np.argsort(row_kinds, kind="stable"), np.argsort(col_kinds, kind="stable"))
seen = np.full_like(U, np.nan)
places = X[:N_SEEN].astype(int)
seen[tuple(places.T)] = y[:N_SEEN]
everything = np.argwhere(np.isfinite(U))
pictures = {"the matrix": U, f"{N_SEEN} entries": seen}
for name in ("no side information", "graphs of the kinds"):
    early = learners[name].fit(X[:N_SEEN], y[:N_SEEN])
    pictures[name] = 2 * early.predict_proba(everything)[:, 1].reshape(U.shape) - 1

fig = plt.figure(figsize=(12, 7.2), layout="constrained")
grid = fig.add_gridspec(2, 4, height_ratios=(1, 1.15))
for column, (title, values) in enumerate(pictures.items()):
    ax = fig.add_subplot(grid[0, column])
    ax.imshow(values[order], cmap="RdBu", vmin=-1.4, vmax=1.4)
    ax.set(title=title, xticks=[], yticks=[])
ax = fig.add_subplot(grid[1, :])
COLOURS = ("#94a4a2", "#ffa90e", "#832db6", "#3f90da")
for (name, curve), colour in zip(curves.items(), COLOURS, strict=True):
    ax.plot(curve, color=colour, label=name)
ax.axvline(N_SEEN, color="0.5", linestyle="dotted")
ax.set(xlabel="trials", ylabel="expected mistakes", xlim=(0, len(y)), ylim=(0, None))
ax.legend(loc="upper left")
plt.show()

# %%
# Without side information, what is learned about a row says something about another one only by the
# columns that both have been asked for. With graphs of the kinds, 240 entries are nearly enough. A
# graph with noise helps less than one may expect, as each wrong edge ties together two rows that
# differ: with 3 % noise that is one in nine of all edges here, with 10 % more than a quarter.
