r"""
Winnow against the perceptron
=============================

A class is a disjunction of four out of :math:`n` boolean attributes; all others have no effect.
The perceptron makes at most :math:`(4k + 1)(n + 1)` mistakes with :math:`k = 4`, Winnow at most
:math:`3k(\log_2 n + 1) + 2`, in whatever order the samples come. The first bound grows with the
attributes that do not matter, the second with their logarithm. Do the learners behave like that?
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_sl.datasets import make_disjunction
from sklearn_sl.online import Perceptron, Winnow
from sklearn_sl.theory import disjunction_perceptron_bound, winnow_bound

K, N_TRIALS, N_SEEDS = 4, 10_000, 8
sizes = 2 ** np.arange(4, 11)
learners = {"perceptron": Perceptron, "Winnow": Winnow}
bounds = {
    "perceptron": disjunction_perceptron_bound(K, sizes),
    "Winnow": winnow_bound(K, sizes).mistakes,
}

# %%
# Each learner goes once through 10,000 samples, half of which are of either class, for eight
# disjunctions of each size. ``n_mistakes_`` counts the trials in which it was wrong, or undecided,
# before it was told the class. It does not matter that the samples come in blocks.

blocks = np.unique(np.geomspace(1, N_TRIALS, 200).astype(int))
mistakes = {name: np.empty((len(sizes), N_SEEDS)) for name in learners}
curves = {}
for row, n in enumerate(sizes):
    for seed in range(N_SEEDS):
        X, y, _ = make_disjunction(N_TRIALS, int(n), k=K, random_state=seed)
        for name, learner in learners.items():
            model, curve = learner(), []
            for start, stop in zip([0, *blocks[:-1]], blocks, strict=True):
                model.partial_fit(X[start:stop], y[start:stop], classes=[0, 1])
                curve.append(model.n_mistakes_)
            mistakes[name][row, seed] = model.n_mistakes_
            curves[name] = curve

# %%
# On the left a point is the mean of the eight disjunctions, the band reaches from the least to the
# largest number of mistakes, and the dashed lines are the bounds. On the right are the mistakes in
# the course of the last run, with 1024 attributes.

COLOURS = {"perceptron": "#bd1f01", "Winnow": "#3f90da"}
MARKS = {"perceptron": "s", "Winnow": "o"}
fig, (left, right) = plt.subplots(1, 2, figsize=(12.5, 5), layout="constrained")
for name, colour in COLOURS.items():
    left.plot(sizes, bounds[name], color=colour, linestyle="dashed", label=f"{name}, bound")
    left.plot(
        sizes, mistakes[name].mean(axis=1), color=colour, marker=MARKS[name], label=f"{name}, mean"
    )
    left.fill_between(
        sizes, mistakes[name].min(axis=1), mistakes[name].max(axis=1), color=colour, alpha=0.2
    )
    right.plot(blocks, curves[name], color=colour, label=name)
left.set(xscale="log", yscale="log", ylim=(10, 40_000))
left.set(xlabel="attributes, of which 4 matter", ylabel="mistakes", title="10,000 trials")
left.set_xticks(sizes, [str(n) for n in sizes])
left.minorticks_off()
left.legend(loc="upper left", ncols=2)
right.set(xscale="log", xlabel="trials", ylabel="mistakes so far", title="1024 attributes")
right.legend(loc="upper left")
plt.show()

# %%
# They do. From 16 to 1024 attributes the mistakes of the perceptron grow by a factor of about
# thirty, those of Winnow by less than four, and a doubling costs Winnow about eight more. The
# bounds are not tight on random samples, but they have the right slope.
#
# On the right both learners begin with a mistake in every second trial. Winnow is done after a few
# hundred trials. The perceptron adds up samples most of whose entries are noise, and is not done
# after ten thousand.

for name, found in mistakes.items():
    print(f"{name}: {found[0].mean():.0f} mistakes with 16, {found[-1].mean():.0f} with 1024")
    print(f"  above the bound in {np.sum(found > bounds[name][:, None])} of {found.size} runs")
