"""
A real stream under drift
=========================

The digits of scikit-learn were written by thirteen people, one after the other, and the file still
has them in this order: whenever somebody else takes the pen, the images change. Who shuffles them
before a cross-validation does not see this. A learner of streams does, because it is tested by each
image before it learns from it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier

from sklearn_sl.online import (
    OnlineGradientDescentClassifier,
    PassiveAggressiveClassifier,
    Perceptron,
    progressive_predict,
)

X, y = load_digits(return_X_y=True)
X /= 16

# %%
# The data set does not say who wrote what, but each series of some 130 digits begins with
# 0, 1, ..., 9. There are fourteen of them, so somebody may have written two.

ordered = [t for t in range(len(y) - 9) if np.array_equal(y[t : t + 10], np.arange(10))]
starts = np.array([t for t in ordered if not any(t - 100 <= s < t for s in ordered)])
series = np.searchsorted(starts, np.arange(len(y)), side="right") - 1
place = np.arange(len(y)) - starts[series]
print(f"{len(starts)} series begin at {', '.join(map(str, starts))}")

# %%
# Four learners go through the stream once, image by image. They must tell ten classes apart.
# :func:`~sklearn_sl.online.progressive_predict` returns their answers, each given before the class
# was told, for learners of either package.

learners = {
    "perceptron": Perceptron(),
    "gradient descent": OnlineGradientDescentClassifier(eta=0.1),
    "passive-aggressive": PassiveAggressiveClassifier(),
    "scikit-learn's SGDClassifier": SGDClassifier(random_state=0),
}
right = {name: progressive_predict(learner, X, y) == y for name, learner in learners.items()}
for name, answers in right.items():
    print(f"{name}: {answers.mean():.1%} of the answers are right")

# %%
# How would a stream look like in which nothing ever changes? The same images in random orders tell;
# twenty of them, since the learners of this package need a few milliseconds for each.

rng = np.random.default_rng(0)
shuffled = []
for _ in range(20):
    order = rng.permutation(len(y))
    model = PassiveAggressiveClassifier()
    shuffled.append(progressive_predict(model, X[order], y[order]) == y[order])
shuffled = np.mean(shuffled, axis=0)

# %%
# Above is the share of right answers among the last 100. Dotted lines are where a new series
# begins. Below are the answers of all series but the first three, by their place in the series.

WINDOW, BIN = 100, 20
STYLES = {
    "perceptron": ("#94a4a2", "o"),
    "gradient descent": ("#3f90da", "s"),
    "passive-aggressive": ("#bd1f01", "D"),
    "scikit-learn's SGDClassifier": ("#ffa90e", "^"),
}
trials, window = np.arange(WINDOW, len(y) + 1), np.full(WINDOW, 1 / WINDOW)
late, bins = series >= 3, np.arange(0, 120, BIN)
fig, (above, below) = plt.subplots(2, 1, figsize=(11, 9), layout="constrained")
for start in starts[1:]:
    above.axvline(start, color="0.5", linestyle="dotted", linewidth=1)
for name, (colour, mark) in STYLES.items():
    above.plot(trials, np.convolve(right[name], window, "valid"), color=colour, label=name)
    means = [right[name][late & (place // BIN == k)].mean() for k in range(len(bins))]
    below.plot(bins + BIN / 2, means, color=colour, marker=mark, label=name)
dashed = {"color": "#bd1f01", "linestyle": "dashed", "linewidth": 1}
label = "passive-aggressive, shuffled"
above.plot(trials, np.convolve(shuffled, window, "valid"), **dashed, label=label)
means = [shuffled[late & (place // BIN == k)].mean() for k in range(len(bins))]
below.plot(bins + BIN / 2, means, **dashed, label=label)
above.set(xlabel="trials", ylabel="right, of the last 100", xlim=(0, len(y)), ylim=(0.4, 1.0))
above.legend(loc="lower right")
below.set(xlabel="trials since somebody else writes", ylabel="right", ylim=(0.75, 1.0))
below.set_xticks(bins + BIN / 2, [f"{low + 1} to {low + BIN}" for low in bins])
plt.show()

# %%
# The dashed line rises and stays where it is: in a shuffled stream every image is like those
# before. In the true order the learners fall by ten points and more when somebody else begins to
# write, recover within some twenty images, and are better than the dashed line later on, because
# they get used to the hand that writes now. Both facts are lost by shuffling, and an honest
# estimate for a new writer is the leftmost point below, not the mean of all.
#
# The perceptron learns from mistakes alone. The two learners in front learn from every image that
# lacks a margin, too, by short steps. ``SGDClassifier`` would as well, but as it comes its steps
# are so long that a margin of one is next to nothing: it does as the perceptron does. With
# ``learning_rate="constant", eta0=0.1`` it does as gradient descent.

short = SGDClassifier(learning_rate="constant", eta0=0.1, random_state=0)
print(f"SGDClassifier with short steps: {np.mean(progressive_predict(short, X, y) == y):.1%}")
