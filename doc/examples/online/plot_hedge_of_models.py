"""
A stream of models, combined by their losses
============================================

Which model is the right one for a stream? One need not know beforehand. Here models of scikit-learn
and of this package are the experts of a learner. In each trial they predict a sample, then learn
from it, and the learner weighs them by what they have lost. It will not be much worse than the best
of them, which is a theorem, and may be better.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes, load_digits
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge, SGDClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsRegressor

from sklearn_sl.online import Hedge, PassiveAggressiveClassifier, Perceptron, WeightedAverage

# %%
# Classes
# -------
# The digits, in the order in which they were written down. Experts of scikit-learn learn in blocks
# of ten samples, which saves most of their time; those of this package learn one by one anyway.
# Hedge reads the class that each of them says.

X, y = load_digits(return_X_y=True)
X /= 16
experts = [
    ("naive Bayes, Gauss", GaussianNB(var_smoothing=0.01)),
    ("naive Bayes, counts", MultinomialNB()),
    ("perceptron", Perceptron()),
    ("SGD, log loss", SGDClassifier(loss="log_loss", alpha=0.001, random_state=0)),
    ("passive-aggressive", PassiveAggressiveClassifier(C=0.1)),
]
options = {"block_size": 10, "keep_losses": True, "keep_weights": True}
plain = Hedge(experts, **options).fit(X, y)
for name, loss in zip(plain.expert_names_, plain.expert_losses_, strict=True):
    print(f"{name}: {loss:.0f} mistakes")
print(f"Hedge: {plain.expected_mistakes_:.0f} expected mistakes, {plain.n_mistakes_} by majority")
print(f"regret {plain.regret_:.1f}, at most {plain.regret_bound_:.1f}")

# %%
# ``expected_mistakes_`` counts what a learner expects that follows one expert, drawn by weight;
# that is what the theorem is about. ``n_mistakes_`` are those of the class with the largest weight.
#
# The digits were written by one person after the other, and the best model changes. A learner that
# shares its weights can follow, and its majority can do what no single model does.

sharing = Hedge(experts, eta=0.5, share=0.01, **options).fit(X, y)
print(f"with a share: {sharing.expected_mistakes_:.0f} expected, {sharing.n_mistakes_} by majority")

# %%
# Above are the mistakes among the last hundred answers, below the weights of Hedge, without and
# with a share.

WINDOW = 100
COLOURS = ("#3f90da", "#ffa90e", "#94a4a2", "#832db6", "#bd1f01")
recent = np.full(WINDOW, 1 / WINDOW)
trials = np.arange(1, len(y) + 1)
# Before they have seen anything, experts sleep.
mistakes = np.nan_to_num(plain.expert_loss_matrix(X, y), nan=1.0)
shapes = {"height_ratios": (2, 1, 1)}
fig, axes = plt.subplots(3, 1, figsize=(11, 9), sharex=True, layout="constrained", **shapes)
for k, colour in enumerate(COLOURS):
    rate = np.convolve(mistakes[:, k], recent, "valid")
    axes[0].plot(trials[WINDOW - 1 :], rate, color=colour, linewidth=1, alpha=0.7)
    for ax, learner in zip(axes[1:], (plain, sharing), strict=True):
        name = plain.expert_names_[k]
        ax.plot(trials, learner.weight_curve_[:, k], color=colour, label=name)
for learner, line, name in ((plain, "dotted", "Hedge"), (sharing, "solid", "Hedge with a share")):
    rate = np.convolve(learner.loss_curve_, recent, "valid")
    style = {"color": "black", "linestyle": line, "linewidth": 1.8}
    axes[0].plot(trials[WINDOW - 1 :], rate, **style, label=name)
axes[0].set(ylabel="mistakes, of the last 100", ylim=(0, 0.3), xlim=(0, len(y)))
axes[0].legend(loc="upper center")
axes[1].set(ylabel="weight", title="Hedge")
axes[2].set(ylabel="weight", title="Hedge with a share", xlabel="trials")
axes[1].legend(loc="center", fontsize="small", ncols=2)
plt.show()

# %%
# Naive Bayes needs few samples, and Hedge follows it from the start. Others overtake it by and by,
# but it takes them until the end to make up for their slow beginning. With a share, the weight goes
# wherever the last hundred or so trials were better.

# %%
# Numbers
# -------
# Models that are fitted already can be experts, too, with ``prefit=True``; then they need not be
# able to learn from a stream. Three very different ones are fitted to the first 150 patients of
# the diabetes data. The learner is the weighted average for the square loss, and sees the others
# one by one.

X, y = load_diabetes(return_X_y=True)
past, future = slice(150), slice(150, None)
models = [
    ("ridge", Ridge(alpha=0.1)),
    ("neighbours", KNeighborsRegressor(20)),
    ("forest", RandomForestRegressor(200, random_state=0)),
]
for _, model in models:
    model.fit(X[past], y[past])

average = WeightedAverage(models, prefit=True, bounds=(0, 400)).fit(X[future], y[future])
n_future = average.n_trials_
for name, loss in zip(average.expert_names_, average.expert_losses_, strict=True):
    print(f"{name}: root mean squared error {np.sqrt(loss / n_future):.1f}")
print(f"weighted average: {np.sqrt(average.cumulative_loss_ / n_future):.1f}")
worst = average.expert_losses_.min() + average.regret_bound_
print(f"what the theorem allows: {np.sqrt(worst / n_future):.1f}")

# %%
# The average of models can be better than each of them, and here it is. The theorem allows for a
# bit more than the best one, and for this it assumes nothing: not that the patients are drawn from
# one distribution, nor that they are like the first 150.
