"""
Where single precision fails
============================

A time stamp is a number of seconds since 1970, some 1.7 billion. Single precision has 24 bits, so
that from a billion on it knows multiples of 64 or 128 only: two minutes are one moment. The trees
of scikit-learn round samples to single precision; those of :mod:`sklearn_sl.tree` do not.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.tree import DecisionTreeClassifier as SingleTree
from sklearn.tree import DecisionTreeRegressor as SingleRegressor

from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor

X = np.array([[1e9], [1e9 + 1]])
y = [0, 1]
print("float32 knows the difference:", bool(np.float32(X[0, 0]) != np.float32(X[1, 0])))
print("scikit-learn: ", SingleTree().fit(X, y).predict(X))
print("sklearn_sl:   ", DecisionTreeClassifier().fit(X, y).predict(X))

# %%
# A machine switches between two states every 75 seconds or so, and a sensor is read each second.

rng = np.random.default_rng(0)
start = 1_700_000_000
seconds = start + np.arange(900.0)
state = np.cumsum(rng.random(900) < 1 / 75) % 2
signal = state + 0.15 * rng.normal(size=900)

times = seconds[:, None]
settings = {"min_samples_leaf": 5, "ccp_alpha": 0.002}
single = SingleRegressor(**settings).fit(times, signal)
double = DecisionTreeRegressor(**settings).fit(times, signal)
print(f"distinct times in float32: {len(np.unique(seconds.astype(np.float32)))} of 900")

# %%
# In single precision all seconds of two minutes are one value, and the tree can do no better than
# to average them. In double precision it finds the switches to the second. To subtract the first
# time stamp would help both, but somebody has to think of it; and a tree is often praised because
# it does not ask for a scale.

fig, axes = plt.subplots(2, 1, figsize=(11, 6), sharex=True, sharey=True, layout="constrained")
models = {"scikit-learn, float32": (single, "C3"), "sklearn_sl, float64": (double, "C0")}
edges = np.flatnonzero(np.diff(seconds.astype(np.float32))) + 0.5
for ax, (name, (model, colour)) in zip(axes, models.items(), strict=True):
    error = np.mean((model.predict(times) - state) ** 2)
    ax.plot(seconds - start, signal, ".", color="0.7", markersize=3, label="sensor")
    ax.plot(seconds - start, state, color="black", linewidth=0.9, label="state of the machine")
    ax.plot(seconds - start, model.predict(times), color=colour, linewidth=2, label="tree")
    ax.set(title=f"{name}: {model.get_n_leaves()} leaves, mean squared error {error:.4f}")
    ax.set_ylabel("signal")
for edge in edges:
    axes[0].axvline(edge, color="C3", linestyle=":", linewidth=1)
axes[0].plot([], [], "C3:", linewidth=1, label="steps of float32")
axes[0].set_ylim(-0.6, 2.3)
for ax in axes:
    ax.legend(loc="upper right", ncols=4, fontsize="small")
axes[1].set_xlabel(f"seconds since the time stamp {start}")
plt.show()
