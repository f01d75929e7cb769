r"""
What it costs to see one loss only
==================================

Hedge sees the losses of all experts in each round. A bandit sees the loss of the arm that it chose,
and nothing else. The theorems put a price on this: :math:`\sqrt{2 m \ln n}` becomes
:math:`\sqrt{2 m n \ln n}`, a factor of :math:`\sqrt n`. Here they play on the same losses.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_sl.datasets import make_bandit_losses
from sklearn_sl.online import UCB1, Exp3, Exp3IX, hedge
from sklearn_sl.theory import exp3_bound, hedge_bound

N_ROUNDS, N_ARMS, N_RUNS = 5000, 10, 200

# %%
# Three tables of losses, fixed beforehand. In the first one losses are 0 or 1 by chance; one arm
# has the mean 0.4, the others 0.5. The second one is a trap for UCB1, which is deterministic: in
# each round the arm that it is going to choose loses 1, the others 0. In the third one there are
# two arms; the better one becomes the worse one after half of the rounds.

independent = make_bandit_losses(N_ROUNDS, N_ARMS, gap=0.1, random_state=0)
trap, fooled = np.zeros((N_ROUNDS, N_ARMS)), UCB1(N_ARMS)
for row in trap:
    arm = fooled.select()
    row[arm] = 1.0
    fooled.update(arm, 1.0)
turning = np.zeros((N_ROUNDS, 2))
turning[: N_ROUNDS // 2, 1] = 0.25
turning[N_ROUNDS // 2 :, 0] = 1.0
tables = {
    "one of ten arms is better": independent,
    "a trap for UCB1": trap,
    "the better one of two arms turns bad": turning,
}


# %%
# Hedge and UCB1 draw nothing. The others do, so that there are 200 runs of each. ``replay`` plays
# all rounds, and ``arms_`` has the arms that were chosen.


def regrets(losses, arms):
    """Return the regret after each round against the arm that is the best one in the end."""
    own = losses[np.arange(len(losses)), arms]
    return np.cumsum(own - losses[:, losses.sum(axis=0).argmin()])


def runs_of(bandit, losses):
    """Return the regrets of many runs."""
    seeds = range(N_RUNS)
    return np.array(
        [regrets(losses, bandit.replay(losses, random_state=seed).arms_) for seed in seeds]
    )


rounds = np.arange(1, N_ROUNDS + 1)
fig, axes = plt.subplots(1, 3, figsize=(13, 4.8), layout="constrained")
for ax, (title, losses) in zip(axes, tables.items(), strict=True):
    print(title)
    informed = hedge(losses, "horizon")
    best = losses[:, informed.best_expert]
    ax.plot(rounds, np.cumsum(informed.losses - best), color="black", linewidth=1, label="Hedge")
    print(f"  Hedge: {informed.regret:.0f}")
    for name, bandit, colour in (
        ("Exp3", Exp3(horizon=N_ROUNDS), "#3f90da"),
        ("Exp3IX", Exp3IX(horizon=N_ROUNDS), "#bd1f01"),
    ):
        curves = runs_of(bandit, losses)
        low, high = np.quantile(curves, [0.05, 0.95], axis=0)
        ax.plot(rounds, curves.mean(axis=0), color=colour, label=f"{name}, mean and 90 % of runs")
        ax.fill_between(rounds, low, high, color=colour, alpha=0.2, linewidth=0)
        last = curves[:, -1]
        print(f"  {name}: {last.mean():.0f} on average, {last.max():.0f} at worst")
    ucb1 = regrets(losses, UCB1().replay(losses).arms_)
    ax.plot(rounds, ucb1, color="#ffa90e", linestyle="dashed", label="UCB1")
    print(f"  UCB1: {ucb1[-1]:.0f}")
    bounds = exp3_bound(N_ROUNDS, losses.shape[1]), hedge_bound(N_ROUNDS, losses.shape[1])
    ax.axhline(bounds[0], color="#3f90da", linestyle="dotted", label="bound of the mean, Exp3")
    ax.axhline(bounds[1], color="0.4", linestyle="dotted", label="bound, Hedge")
    ax.axhline(0, color="0.7", linewidth=0.8)
    ax.set(title=title, xlabel="rounds", xlim=(0, N_ROUNDS), ylim=(-250, 640))
axes[2].set_ylim(-620, 420)
axes[0].set_ylabel("regret")
axes[0].legend(loc="lower right", fontsize="small")
plt.show()

# %%
# On the left, Hedge knows the best arm after a thousand rounds, and regrets nothing more. The
# bandits still try the others after five thousand. UCB1, which is made for such losses, will be the
# best of them in the long run: its regret grows like the logarithm of the number of rounds. In the
# middle it regrets nearly every round. An adversary that knows what the learner is going to do is
# harmless to those who toss coins.
#
# The bound of Exp3 is about the mean of all runs, and says nothing about a single one. On the right
# the second arm has faded when the first one turns bad. A run of Exp3 either happens to choose it
# soon, or goes on with the first one for hundreds of rounds: so the band is wide. Exp3IX has a
# bound that holds with high probability, and no run that goes so wrong. UCB1 changes arms at once
# here, but nothing promises that it will.
