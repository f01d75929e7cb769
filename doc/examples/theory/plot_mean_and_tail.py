r"""
The mean of an error, and its tail
==================================

The error of a classifier depends on the training set that was drawn, and has a distribution. Its
mean says how good the classifier is on average; but only one training set is drawn. Bounds that
hold with probability :math:`1 - \delta` are about the tail.

The classifier is the simplest one that there is. Its weights are the difference of the means of the
two classes, :math:`w = m_+ - m_-`, and its threshold is half way between them: a sample belongs to
the class whose mean is nearer, as in scikit-learn's ``NearestCentroid``. It is fitted to 2000
random training sets of each size, on the breast cancer data, and tested on the samples that were
left out. A training set without one of the classes is drawn again.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from sklearn_sl.theory import validation_bound

X, y = load_breast_cancer(return_X_y=True)
y = y == 1
X = (X - X.mean(axis=0)) / X.std(axis=0)
sizes = [342, 273, 205, 137, 68, 34, 27, 20, 14, 7]
rng = np.random.default_rng(0)


def error_of_a_training_set(size):
    """Draw a training set with both classes, and return the error on all other samples."""
    while True:
        order = rng.permutation(len(y))
        train, test = order[:size], order[size:]
        if 0 < y[train].sum() < size:
            break
    above, below = X[train][y[train]].mean(axis=0), X[train][~y[train]].mean(axis=0)
    score = (X[test] - (above + below) / 2) @ (above - below)
    return np.mean((score > 0) != y[test])


errors = {size: [error_of_a_training_set(size) for _ in range(2000)] for size in sizes}

# %%
# From 342 training samples down to 20, the mean error hardly moves. The error that one training set
# in twenty exceeds, and the one that one in a hundred exceeds, move much more: who has few samples
# is probably fine, and may be misled. (At the right end the tails rise a little. That is the test
# set, which becomes small: 227 samples estimate an error of 0.07 with a standard error of 0.017.)

mean = np.array([np.mean(errors[size]) for size in sizes])
tail, far = (np.array([np.quantile(errors[size], 1 - d) for size in sizes]) for d in (0.05, 0.01))
for size, *row in zip(sizes, mean, tail, far):
    print(f"{size:4} samples: mean {row[0]:.3f}, 5 % above {row[1]:.3f}, 1 % above {row[2]:.3f}")

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
bins = np.linspace(0, 0.4, 61)
for size, color in zip((342, 68, 20, 7), ("#3f90da", "#94a4a2", "#832db6", "#bd1f01")):
    left.hist(
        np.clip(errors[size], 0, 0.4),
        bins,
        density=True,
        histtype="step",
        linewidth=1.4,
        color=color,
        label=f"{size} training samples",
    )
left.set(xlabel="test error", ylabel="density", title="after 2000 training sets of each size")
left.legend(fontsize="small")
right.plot(sizes, mean, "o-", color="#3f90da", label="mean")
right.plot(sizes, tail, "s--", color="#bd1f01", label="exceeded by 5 %")
right.plot(sizes, far, "^:", color="#832db6", label="exceeded by 1 %")
right.set(xscale="log", xlabel="training samples", ylabel="test error", ylim=(0, None))
right.set_xticks(sizes[::3], sizes[::3])
right.minorticks_off()
right.legend(fontsize="small")
plt.show()

# %%
# The test error of one such classifier is an estimate, too. How far the error itself may be from it
# depends on the number of test samples, here 227 for the largest training sets:

n_test = len(y) - sizes[0]
n_errors = round(errors[342][0] * n_test)
interval = validation_bound(n_errors, n_test)
print(
    f"{n_errors} errors on {n_test} samples: between {interval.lower:.3f} and {interval.upper:.3f}"
)
