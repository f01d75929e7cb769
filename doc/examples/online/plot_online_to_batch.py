r"""
From a stream to a classifier
=============================

A perceptron that has gone through a stream once is a classifier, but which of all the perceptrons
that it has been? If there are at most :math:`B` mistakes in :math:`m` independent samples, the one
that was stopped at random has an expected error of at most :math:`B / m`. That is the theorem of
:func:`~sklearn_sl.online.online_to_batch`; the other choices are the last one, the longest survivor
without a mistake, and the average of all weights.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

from sklearn_sl.datasets import make_separable
from sklearn_sl.online import Perceptron, online_to_batch
from sklearn_sl.theory import perceptron_bound

MARGIN, N_SEEDS, N_TEST = 0.05, 20, 5_000
sizes = np.geomspace(100, 10_000, 7).astype(int)
problems = {
    "Two classes with a margin of 0.05": make_separable(60_000, 20, margin=MARGIN, random_state=0)[
        :2
    ],
    "Classes that overlap": make_classification(
        60_000, 20, n_informative=10, flip_y=0.1, random_state=0
    ),
}
methods = ("random", "last", "longest", "average")

# %%
# Each stream is drawn from a large pool, and tested on samples of the pool that it never meets.

errors = {}
for name, (X, y) in problems.items():
    X_test, y_test = X[-N_TEST:], y[-N_TEST:]
    for method in methods:
        found = np.empty((len(sizes), N_SEEDS))
        for row, m in enumerate(sizes):
            for seed in range(N_SEEDS):
                drawn = np.random.default_rng(seed).choice(len(y) - N_TEST, m, replace=False)
                model = online_to_batch(
                    Perceptron(fit_intercept=False),
                    X[drawn],
                    y[drawn],
                    method=method,
                    random_state=seed,
                )
                found[row, seed] = 1 - model.score(X_test, y_test)
        errors[name, method] = found

# %%
# Points are means of twenty streams. The samples on the left have norms up to one, so that
# :math:`B = (R / \gamma)^2 = 400`.

STYLES = {
    "random": ("#94a4a2", "o"),
    "last": ("#ffa90e", "s"),
    "longest": ("#3f90da", "^"),
    "average": ("#bd1f01", "D"),
}
fig, axes = plt.subplots(1, 2, figsize=(12.5, 5), layout="constrained")
for ax, name in zip(axes, problems, strict=True):
    for method, (colour, mark) in STYLES.items():
        means = errors[name, method].mean(axis=1)
        ax.plot(sizes, means, color=colour, marker=mark, label=method)
    ax.set(xscale="log", title=name, xlabel="samples of the stream")
bound = perceptron_bound(radius=1.0, norm=1 / MARGIN)
axes[0].plot(sizes, bound / sizes, color="0.35", linestyle="dashed", label="bound on random, B / m")
axes[0].set(yscale="log", ylim=(2e-5, 1.0), ylabel="error")
axes[0].legend(loc="lower left")
plt.show()

# %%
# Where there is a margin, all choices get better, and the random one keeps its bound with ease.
# Where classes overlap, the perceptron never comes to rest: its weights are as good or bad as the
# last mistakes left them, and more samples do not help the random, the last, or even the longest
# survivor much. The average does not mind, since the restlessness cancels. It costs nothing:
# ``Perceptron(average=True)`` keeps it in any pass.

for name in problems:
    last = ", ".join(f"{method} {errors[name, method][-1].mean():.3f}" for method in methods)
    print(f"{name}, {sizes[-1]} samples: {last}")
