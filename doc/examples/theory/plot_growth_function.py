r"""
How many labellings half-spaces have
====================================

A class that can label :math:`m` points in all :math:`2^m` ways learns nothing from them: whatever
the labels are, some hypothesis fits. The growth function :math:`\Pi(m)` counts the ways.
Half-spaces through the origin in dimension 20 have VC dimension 20. Up to there :math:`\Pi(m) =
2^m`, and after that :math:`\Pi` grows like a polynomial only. This is what makes learning possible.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_sl.theory import growth_function, sauer_shelah, vc_dimension

DIMENSION = 20
m = np.arange(1, 101)

# %%
# The bound of Sauer and Shelah holds for every class of this VC dimension. For half-spaces the
# number is known: points in general position are labelled in :math:`2 \sum_{k < n} \binom{m-1}{k}`
# ways (Cover 1965), which is twice the sum of Sauer and Shelah for one point and one dimension
# less.

bound = sauer_shelah(m, DIMENSION, log=True)
power = np.where(m > DIMENSION, sauer_shelah(m, DIMENSION, "power", log=True), np.nan)
exact = np.log(2) + sauer_shelah(m - 1, DIMENSION - 1, log=True)
everything = m * np.log(2)

fig, (left, right) = plt.subplots(1, 2, figsize=(12.5, 5), layout="constrained")
left.plot(m, np.exp(bound - everything), color="#ffa90e", label="Sauer and Shelah")
left.plot(m, np.exp(exact - everything), color="#3f90da", label="half-spaces, exact")
left.axvline(DIMENSION, color="0.7", linestyle="dotted")
left.axvline(2 * DIMENSION, color="0.7", linestyle="dotted")
left.text(DIMENSION, 0.03, " d", color="0.4")
left.text(2 * DIMENSION, 0.03, " 2 d", color="0.4")
left.set(
    xlabel="points m",
    ylabel="share of all labellings",
    title="A sudden fall at twice the dimension",
)
left.legend()
for values, colour, style, label in [
    (everything, "0.35", "dashed", "all labellings, 2^m"),
    (power, "#bd1f01", "solid", "(e m / d)^d"),
    (bound, "#ffa90e", "solid", "Sauer and Shelah"),
    (exact, "#3f90da", "solid", "half-spaces, exact"),
]:
    right.plot(m, values / np.log(10), color=colour, linestyle=style, label=label)
right.set(xlabel="points m", ylabel="decimal digits", title="From exponential to polynomial")
right.legend()
plt.show()

# %%
# At twice the dimension exactly one half of all labellings are left, and at three times next to
# nothing.

for points in (20, 40, 60):
    print(f"{points} points: {np.exp(exact - everything)[points - 1]:.4f} of all labellings")

# %%
# For finitely many hypotheses on finitely many points all of this is computed exactly. Here are 300
# random half-planes through the origin and 12 random points: the VC dimension is 2, and 12 points
# have 24 labellings if all of them are met.

rng = np.random.default_rng(0)
signs = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 12)) >= 0
found = vc_dimension(signs)
print(f"VC dimension {found.dimension}, by the points {found.points.tolist()}")
print("growth function:", growth_function(signs).tolist())
