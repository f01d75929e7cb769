r"""
Regret against its bound
========================

Theorems about experts hold for every sequence, so they must hold for the worst. How far is the
regret below its bound in an ordinary one? :class:`~sklearn_sl.inspection.RegretDisplay` draws both,
for a learner and a stream, or for losses that are already there.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_sl.inspection import RegretDisplay
from sklearn_sl.online import WeightedAverage, hedge
from sklearn_sl.theory import hedge_bound

N_TRIALS, N_EXPERTS = 2000, 20
rng = np.random.default_rng(0)

# %%
# Hedge
# -----
# Three tables of losses for Hedge. In the first one, experts lose 0 or 1 by the toss of a coin. In
# the second one an expert is better than the others. The third is made by an adversary: in every
# trial it lets the expert lose that has lost least so far, which is who the learner trusts most.

coins = rng.integers(0, 2, size=(N_TRIALS, N_EXPERTS)).astype(float)
one_is_good = coins.copy()
one_is_good[:, 0] = rng.random(N_TRIALS) < 0.2
adversary = np.zeros((N_TRIALS, N_EXPERTS))
totals = np.zeros(N_EXPERTS)
for row in adversary:
    row[totals.argmin()] = 1.0
    totals += row
tables = {"coins": coins, "one expert is good": one_is_good, "the best one loses": adversary}

# %%
# The rate of the theorem needs the number of trials; its bound is :math:`\sqrt{2 T \ln n}`. With
# ``eta="adahedge"`` the rate adapts itself, and the bound is what the run says, in the end: twice
# the sum of the differences between the loss of the learner and that of the mixture.

fig, axes = plt.subplots(2, 3, figsize=(12, 6.6), sharex=True, sharey="row", layout="constrained")
for column, (title, losses) in zip(axes.T, tables.items(), strict=True):
    for ax, eta in zip(column, ("horizon", "adahedge"), strict=True):
        run = hedge(losses, eta)
        RegretDisplay.from_losses(run.losses, losses, bound=run.regret_bound, name="regret", ax=ax)
        if eta == "horizon":
            worst = hedge_bound(N_TRIALS, N_EXPERTS)
            ax.axhline(worst, color="0.35", linestyle="dotted", label="worst case")
            ax.set(title=title, xlabel="")
        ax.legend(loc="upper left", fontsize="small")
        ax.set(ylabel="", ylim=(-12, 130))
        print(f"{title}, {eta}: regret {run.regret:.1f}, at most {run.regret_bound:.1f}")
axes[0, 0].set_ylabel("regret, rate of the horizon")
axes[1, 0].set_ylabel("regret, AdaHedge")
plt.show()

# %%
# The regret is against the expert that is the best one in the end, also where it was not yet: among
# coins nobody is better than the others, and this one had luck. The dashed line is the theorem with
# the losses that occurred, :math:`\ln n / \eta + (\eta / 2) \sum_t v_t \cdot \ell_t^2`, the dotted
# line is what it promises before the first trial. If an expert is good, AdaHedge finds it within
# some ten trials, while a rate that is made for the worst takes three hundred. The last table looks
# bad for whoever follows the leader, which loses in every trial; but no expert is much better than
# the mean, and Hedge, which spreads its stakes, loses little more than that.

# %%
# One expert is right, the others guess
# -------------------------------------
# The bounds of the square loss do not grow with the number of trials: :math:`2 \ln n` for the
# weighted average, :math:`\frac12 \ln n` for Vovk's prediction. Of 1024 experts, one is always
# right here, and all others toss coins. Whoever has to find it must pay.

advice = rng.integers(0, 2, size=(200, 1024)).astype(float)
outcomes = np.zeros(len(advice))
advice[:, 0] = outcomes

fig, axes = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True, layout="constrained")
for ax, rule in zip(axes, ("average", "vovk"), strict=True):
    learner = WeightedAverage(prediction=rule, bounds=(0, 1))
    display = RegretDisplay.from_estimator(learner, advice, outcomes, name="regret", ax=ax)
    ax.set(title=f'prediction="{rule}"', xscale="log")
    ax.legend(loc="center left")
    print(f"{rule}: regret {display.regret[-1]:.2f}, at most {float(display.bound):.2f}")
axes[1].set_ylabel("")
plt.show()

# %%
# Vovk's prediction comes close to its bound, and has less than half of the regret of the average.
# Once a learner has found the best expert, it has nothing more to regret.
