"""
Weights that share, when the best expert changes
================================================

Sixty-four experts advise in 800 trials. One of them is ten times better than the others, but after
every 200 trials it is another one. This is the experiment by which fixed share and variable share
became known (Herbster and Warmuth, 1998). Three learners see the same advice, and lose the square
of what they are wrong by.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_sl.datasets import make_switching_experts
from sklearn_sl.online import FixedShare, VariableShare, WeightedAverage, best_shifting_sequence

advice, y, best = make_switching_experts(800, 64, n_shifts=3, random_state=0)
losses = (advice - y[:, None]) ** 2

# %%
# All of them predict by Vovk's rule, with the learning rate 2 that it permits for the square loss.
# The share is 0.024. The best for three shifts in 800 trials, ``alpha="auto"``, would be 3/799; it
# matters little.

options = {"prediction": "vovk", "bounds": (0, 1), "keep_losses": True, "keep_weights": True}
learners = {
    "static": WeightedAverage(**options),
    "fixed share": FixedShare(alpha=0.024, **options),
    "variable share": VariableShare(alpha=0.024, **options),
}
for learner in learners.values():
    learner.fit(advice, y)
sequence = best_shifting_sequence(losses, n_shifts=3)

# %%
# The best sequence of experts with three shifts is found by dynamic programming, in hindsight. The
# theorem of fixed share is about it: the learner loses at most so much more.

regret, bound = learners["fixed share"].shifting_regret(advice, y, n_shifts=3)
print(f"best sequence with 3 shifts: {sequence.loss:.1f}")
print(f"best single expert: {losses.sum(axis=0).min():.1f}")
for name, learner in learners.items():
    print(f"{name}: {learner.cumulative_loss_:.1f}")
print(f"fixed share exceeds the best sequence by {regret:.1f}, and by at most {bound:.1f}")

# %%
# On the left is what has been lost so far, on the right the weights of the four experts that were
# the best ones, before each trial, as a share of all weights.

STYLES = {
    "static": ("#94a4a2", "dashdot"),
    "fixed share": ("#3f90da", "solid"),
    "variable share": ("#bd1f01", "dashed"),
}
FOUR = ("#3f90da", "#ffa90e", "#bd1f01", "#832db6")
trials, starts = np.arange(1, 801), np.flatnonzero(np.diff(best)) + 1
fig = plt.figure(figsize=(12, 6.4), layout="constrained")
grid = fig.add_gridspec(3, 2, width_ratios=(1, 1.15))
left = fig.add_subplot(grid[:, 0])
for start in starts:
    left.axvline(start, color="0.6", linestyle="dotted", linewidth=1)
left.plot(trials, losses.mean(axis=1).cumsum(), color="0.8", label="an expert on average")
for name, (colour, line) in STYLES.items():
    total = learners[name].loss_curve_.cumsum()
    left.plot(trials, total, color=colour, linestyle=line, label=name)
in_hindsight = losses[np.arange(800), sequence.experts].cumsum()
left.plot(trials, in_hindsight, color="black", linewidth=1, label="best sequence, 3 shifts")
left.plot(800, sequence.loss + bound, "v", color="#3f90da", label="bound of fixed share")
left.set(xlabel="trials", ylabel="loss so far", xlim=(0, 810), ylim=(0, 70))
left.legend(loc="upper left", fontsize="small")
for row, (name, learner) in enumerate(learners.items()):
    ax = fig.add_subplot(grid[row, 1])
    for start in starts:
        ax.axvline(start, color="0.6", linestyle="dotted", linewidth=1)
    for expert, colour in zip(best[::200], FOUR, strict=True):
        ax.plot(trials, learner.weight_curve_[:, expert], color=colour, linewidth=1.2)
    ax.set(title=name, ylim=(-0.02, 1.02), xlim=(0, 800), ylabel="weight")
    ax.tick_params(labelbottom=row == 2)
ax.set_xlabel("trials")
plt.show()

# %%
# Without sharing, the weight of an expert falls exponentially with what it has lost. The second
# best expert has to make up for 200 trials in which it was bad before it is heard, and loses its
# place just then. With a share, no weight falls below a small part of the others, and the new one
# takes over after some fifty trials.
#
# Fixed share takes a little of the best expert's weight in every trial, good or bad. Variable share
# takes it only if this expert loses: its weights are smoother in the middle of a stretch, where the
# best one has almost all the weight, and with an expert that never loses there would be no cost at
# all. Where even the best expert loses a little, as here, both end about equal.
