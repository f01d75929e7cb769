"""
Bounds against reality on a learning curve
==========================================

A bound of learning theory holds for every distribution. For that reason it is far above the error
on an ordinary one. How far? Here is a finite class in which everything can be computed:
conjunctions of 10 boolean variables and their negations, of which there are :math:`3^{10}`.
Empirical risk minimisation goes through all of them.

Samples are uniform on the 1024 points of the cube. The true concept is a conjunction of three
literals; then some labels are flipped, so that no hypothesis is perfect.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np

from sklearn_sl.inspection import SampleSizeDisplay
from sklearn_sl.theory import agnostic_excess, erm_excess, realizable_error, uniform_deviation

n, delta, n_repeats = 10, 0.05, 60
points = np.array(list(itertools.product([0, 1], repeat=n)))
# A term has for each variable: absent, positive, negated.
terms = np.array(list(itertools.product([0, 1, 2], repeat=n)), dtype=np.int8)
# It is true where no variable contradicts it: a product of the tables of its variables.
truth = np.ones((1, 1), dtype=bool)
for _ in range(n):
    literal = np.array([[True, True], [False, True], [True, False]])
    truth = (truth[:, None, :, None] & literal[:, None, :]).reshape(3 * len(truth), -1)
concept = truth[
    np.flatnonzero((terms[:, :3] == [1, 2, 1]).all(axis=1) & ~terms[:, 3:].any(axis=1))[0]
]
sizes = np.array([20, 50, 100, 200, 500, 1000, 2000, 5000])
rng = np.random.default_rng(0)


def curves(noise):
    """Return the errors of all hypotheses, and what happened to samples of each size."""
    errors = noise + (1 - 2 * noise) * (truth != concept).mean(axis=1)
    tables = truth.astype(np.float32)
    results = []
    for size in sizes:
        counts = rng.multinomial(size, np.full(2**n, 2.0**-n), size=n_repeats)
        flipped = rng.binomial(counts, noise)
        ones = np.where(concept, counts - flipped, flipped)
        # Errors on the sample: positives that are missed, and negatives that are hit.
        observed = (ones.sum(axis=1) + tables @ (counts - 2 * ones).T.astype(np.float32)).T / size
        results.append(erm_excess(observed, errors))
    return errors, results


# %%
# With noise, the bound is on the excess over the best hypothesis. The largest deviation of an
# observed error from the error itself is below its bound, and not by much: all the loss is in the
# step from there to the choice of a hypothesis, which need not be the one that deviates most.
# Without noise, the bound on the error falls as :math:`1 / m`, not as :math:`1 / \sqrt m`. In both
# cases there is a size from which on the right conjunction is found: on this distribution no other
# conjunction is nearly as good, which a bound for all distributions cannot know.

fig, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
for ax, noise in zip(axes, (0.2, 0.0)):
    errors, results = curves(noise)
    excess = np.array([np.quantile(parts.estimation, 1 - delta) for parts in results])
    gap = np.array([np.quantile(parts.gap, 1 - delta) for parts in results])
    mean = np.array([np.mean(parts.estimation) for parts in results])
    if noise:
        bound, name = agnostic_excess(3**n, sizes, delta), "bound on the excess"
        ax.plot(sizes, uniform_deviation(3**n, sizes, delta), "--", color="#832db6",
                label="bound on the largest deviation")  # fmt: skip
        ax.plot(sizes, gap, "o-", color="#832db6", label="largest deviation, 95 %")
    else:
        bound, name = realizable_error(3**n, sizes, delta), "bound on the error"
    ax.plot(sizes, bound, "--", color="#bd1f01", label=name)
    ax.plot(sizes, np.maximum(excess, 1e-4), "s-", color="#bd1f01", label="excess, 95 %")
    ax.plot(sizes, np.maximum(mean, 1e-4), "^-", color="#3f90da", label="excess, mean")
    ax.set(xscale="log", yscale="log", xlabel="training samples", ylim=(1e-4, 2))
    ax.set_title(f"{noise:.0%} of the labels flipped")
    ax.legend(fontsize="small", loc="lower left")
    for size, real, most in zip(sizes[2::2], excess[2::2], bound[2::2]):
        print(f"noise {noise:.1f}, {size:4} samples: excess {real:.4f}, bound {most:.3f}")
axes[0].set_ylabel("error (points at 0.0001 are zero)")
plt.show()

# %%
# How many samples does theory ask for? For an excess of 0.05 with noise, 11,741. On this
# distribution 500 are enough, as the pictures above show. To *test* the result takes far fewer
# samples than to guarantee the training, and the exact binomial bound is the one to use.

display = SampleSizeDisplay.from_question(0.05, n_hypotheses=3**n, error=0.2)
plt.show()
