"""
Categories against codes
========================

A feature with many categories can be given to a tree in three ways: as one-hot columns, as ordinal
codes, or as what it is. A split by a subset of categories may put any of them on either side. For a
single target the best of all subsets is found by sorting the categories by their means, so that it
costs no more than a threshold.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from sklearn_sl.tree import DecisionTreeRegressor

# %%
# Sixty towns, in alphabetical order, are of five kinds that their names do not tell. The price of a
# house depends on the kind of its town and on its size.

rng = np.random.default_rng(0)
names = [f"town {k:02d}" for k in range(60)]
level = rng.choice([1.0, 1.6, 2.2, 3.0, 4.0], size=60)


def houses(n):
    """Return a data frame of towns and sizes, and prices."""
    town, size = rng.integers(60, size=n), rng.uniform(0.5, 2.0, n)
    price = level[town] * np.where(size > 1.2, 1.5, 1.0) + 0.5 * rng.normal(size=n)
    frame = pd.DataFrame({"town": pd.Categorical.from_codes(town, names), "size": size})
    return frame, price


X, y = houses(3000)
X_test, y_test = houses(10_000)

# %%
# Each tree is grown once, and its path has the trees of all sizes. A column of the dtype "category"
# needs no encoder.

encoders = {
    "one-hot columns": OneHotEncoder(sparse_output=False),
    "ordinal codes": OrdinalEncoder(),
    "categories": None,
}


def coded(frame, encoder):
    """Return the frame with its towns as codes."""
    if encoder is None:
        return frame
    return np.column_stack([encoder.transform(frame[["town"]]), frame["size"]])


styles = {"one-hot columns": "C1--", "ordinal codes": "C2-.", "categories": "C0-"}
fig, (errors, means) = plt.subplots(1, 2, figsize=(13, 4.8), layout="constrained")
for name, encoder in encoders.items():
    if encoder is not None:
        encoder.fit(X[["town"]])
    model = DecisionTreeRegressor(min_samples_leaf=5).fit(coded(X, encoder), y)
    path = model.ccp_path_
    small = path.alphas[path.n_leaves <= 300]
    predicted = model.predict_path(coded(X_test, encoder), small)
    mse = np.mean((predicted - y_test) ** 2, axis=1)
    leaves = path.n_leaves[path.n_leaves <= 300]
    errors.plot(leaves, mse, styles[name], label=f"{name}, least at {leaves[mse.argmin()]} leaves")
    print(f"{name:16} least error {mse.min():.3f} with {leaves[mse.argmin()]} leaves")
    if encoder is None:
        chosen = model.prune(n_leaves=10)

# %%
# Left, the test error of the trees of all sizes. A one-hot column tells one town from all the
# others, an ordinal code only the beginning of the alphabet from its end: both need many leaves
# for what five kinds of towns and two kinds of sizes say in ten. Right, what the tree of ten
# leaves predicts for a house of size 1 in each of the towns: it has found the kinds.

errors.axhline(0.25, color="0.4", linestyle=":", label="noise")
errors.set(xscale="log", xlabel="leaves", ylabel="mean squared error, test set")
errors.set(title="Error against size", ylim=(0, None))
errors.legend()

order = np.argsort(level, kind="stable")
towns = pd.DataFrame({"town": pd.Categorical(names), "size": 1.0})
means.step(range(60), level[order], where="mid", color="0.4", label="true price")
means.plot(range(60), chosen.predict(towns)[order], "C0o", markersize=4, label="ten leaves")
means.set(xlabel="towns, sorted by their price", ylabel="price of a house of size 1")
means.set(title="The kinds of towns")
means.legend()
plt.show()
