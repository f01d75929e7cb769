"""
Margins grow after the training error is zero
=============================================

Boosting often goes on to improve when there is no training error left to reduce. The margins tell
why: the share of the votes by which the true class is ahead. They go on growing, and the theorem of
Schapire, Freund, Bartlett and Lee bounds the test error by the share of small margins. Here are odd
against even digits, once with their true labels and once with noise.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from sklearn_sl.ensemble import AdaBoostClassifier
from sklearn_sl.inspection import MarginDisplay
from sklearn_sl.tree import DecisionTreeClassifier

X, digit = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, digit % 2, test_size=0.5, random_state=0)
flipped = np.random.default_rng(0).random(len(y)) < 0.2
labels = {"True labels": y, "20 % of the training labels flipped": np.where(flipped, 1 - y, y)}

# %%
# The members are trees of depth three. On the left are the errors after each round, on the right
# the distributions of the margins of the training samples.

fig, rows = plt.subplots(2, 2, figsize=(12.5, 9), layout="constrained")
for (left, right), (name, target) in zip(rows, labels.items(), strict=True):
    member = DecisionTreeClassifier(max_depth=3)
    model = AdaBoostClassifier(member, n_estimators=1000).fit(X, target)
    rounds = np.arange(1, len(model.estimators_) + 1)
    errors = [np.mean(predicted != y_test) for predicted in model.staged_predict(X_test)]
    first = int(np.flatnonzero(model.training_errors_ == 0)[0]) + 1
    left.plot(rounds, model.training_errors_, color="#94a4a2", label="training")
    left.plot(rounds, errors, color="#bd1f01", label="test")
    left.axvline(first, color="0.35", linestyle="dotted", label="training error is zero")
    left.set(xscale="log", xlim=(1, 1000), ylim=(0, 0.32), title=name, ylabel="error")
    left.xaxis.set_major_formatter("{x:g}")
    left.legend(loc="upper right")
    MarginDisplay.from_estimator(model, X, target, rounds=[5, 100, 1000], ax=right)
    right.set(title=name, xlabel="", ylabel="share of samples")
    for n_rounds in (first, 100, 1000):
        print(f"{name}, {n_rounds:4} rounds: test error {errors[n_rounds - 1]:.1%}")
rows[1, 0].set_xlabel("rounds")
rows[1, 1].set_xlabel("margin of a training sample")
plt.show()

# %%
# With the true labels the training error is zero after 13 rounds. More than half of the test error
# that is left then goes away later, and meanwhile the smallest margins rise: in the end every
# sample is ahead by about a third of the votes. The largest margins fall. Boosting cares for those
# that are in doubt, at the cost of those that are safe.
#
# With flipped labels the smallest margins rise as well, and there is no error on the training set
# in the end either, but the test error hardly moves. The theorem is about labels as they come,
# noise included. Boosting works hard for every sample, wrong ones too. If many labels are wrong,
# bagging and forests suffer less, and so do losses that grow less steeply than the exponential one
# (:class:`~sklearn_sl.ensemble.ForwardStagewiseClassifier` with ``loss="logistic"``).
