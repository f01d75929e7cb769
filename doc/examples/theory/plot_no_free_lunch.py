r"""
No free lunch
=============

Draw the labels of :math:`k = 2m` points by a coin, and show a classifier :math:`m` points drawn
from them. Some function makes no error at all. Yet no classifier, however clever, has an expected
error below 1/4, nor an error below 1/8 with a probability above 6/7.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from sklearn_sl.theory import no_free_lunch, rote_learner_error
from sklearn_sl.tree import DecisionTreeClassifier

M, N_REPEATS = 20, 100
classifiers = {
    "tree": DecisionTreeClassifier(random_state=0),
    "nearest neighbour": KNeighborsClassifier(1),
    "forest": RandomForestClassifier(10, random_state=0),
    "Gaussian machine": SVC(gamma=10.0, C=100.0),
    "linear machine": SVC(kernel="linear", C=0.01),
    "naive Bayes": GaussianNB(),
}
results = {
    name: no_free_lunch(model, M, n_repeats=25 if name == "forest" else N_REPEATS, random_state=0)
    for name, model in classifiers.items()
}

# %%
# Left: each dot is one labelling, each bar a mean. The first four remember what they saw and guess
# the rest: they are at the floor, which learning by rote attains. The last two do not even
# remember. Right: where the floor is if the domain is of another size.

fig, (left, right) = plt.subplots(
    1, 2, figsize=(12.5, 5), layout="constrained", width_ratios=[3, 2]
)
rng = np.random.default_rng(0)
for place, found in enumerate(results.values()):
    jitter = place + rng.uniform(-0.25, 0.25, size=len(found.errors))
    left.plot(jitter, found.errors, ".", color="#3f90da", alpha=0.35)
    left.plot([place - 0.35, place + 0.35], [found.mean] * 2, color="black", lw=2)
rote = rote_learner_error(M, 2 * M)
for height, colour, label in [
    (rote, "#ffa90e", f"learning by rote, {rote:.3f}"),
    (1 / 4, "#bd1f01", "1/4: no mean is lower"),
    (1 / 8, "0.5", "1/8: reached with probability >= 1/7"),
]:
    left.axhline(height, color=colour, linestyle="dashed", label=label)
left.set_xticks(range(len(results)), results)
left.tick_params(axis="x", rotation=15)
left.set(ylabel="error on the whole domain", ylim=(0, 0.75), title=f"{M} samples of {2 * M} points")
left.legend(loc="upper left", ncols=2, fontsize=9)

ratio = np.geomspace(0.25, 32, 50)
for m, colour in [(2, "#94a4a2"), (20, "#3f90da"), (2000, "black")]:
    right.plot(ratio, rote_learner_error(m, np.ceil(ratio * m)), color=colour, label=f"m = {m}")
right.axvline(2, color="0.7", linestyle="dotted")
right.axhline(1 / 4, color="#bd1f01", linestyle="dashed")
right.set(
    xscale="log", xlabel="points of the domain per sample", title="The error of learning by rote"
)
right.legend()
plt.show()

# %%
# A lunch is paid for by knowledge: a class of small VC dimension that is right about the problem.

for name, found in results.items():
    print(
        f"{name:20s} mean {found.mean:.3f} +- {found.standard_error:.3f}, "
        f"error >= 1/8 in {found.share:.0%}"
    )
