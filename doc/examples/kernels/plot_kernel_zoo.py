r"""
The kernels of one variable
===========================

A kernel machine predicts with a sum of sections :math:`K(x_i, \cdot)`, so the shape of a
section is the shape of what can be learnt. The upper row of each pair shows the section at
:math:`x = 0.6`; the lower row shows functions drawn from the Gaussian process with that
covariance, typical members of what the kernel holds for plausible.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_sl.kernels import (
    Anova,
    Exponential,
    Gaussian,
    Linear,
    Matern,
    Min,
    Normalized,
    Polynomial,
    Spline,
)

kernels = {
    "Linear": Linear(),
    "Polynomial, degree 3": Polynomial(degree=3),
    "Exponential, a = 3": Exponential(a=3.0),
    "Gaussian, length 0.15": Gaussian(0.15),
    "Matern 1/2, length 0.3": Matern(0.3, nu=0.5),
    "Matern 3/2, length 0.3": Matern(0.3, nu=1.5),
    "Min (Brownian motion)": Min(),
    "Spline, order 1": Spline(),
    "Normalized spline": Normalized(Spline()),
    "Sum: Linear + Gaussian": Linear() + 0.1 * Gaussian(0.08),
    "Product: Linear x Gaussian": Linear() * Gaussian(0.1),
    "Anova (1 + x t)": Anova(),
}

# %%
# A draw is :math:`Q \sqrt{s}\, z` with the eigendecomposition :math:`K = Q\,
# \mathrm{diag}(s)\, Q^\top` of the Gram matrix and a vector :math:`z` of standard normal
# numbers. The number above each section is the effective rank of that Gram matrix: 1 for a
# kernel with a single feature, large for one that can follow every wiggle.

# sphinx_gallery_thumbnail_panel = 8
rng = np.random.default_rng(0)
x = np.linspace(0, 1, 201)[:, None]
fig, axes = plt.subplots(6, 4, figsize=(11, 12), sharex=True, layout="constrained")
for number, (name, kernel) in enumerate(kernels.items()):
    upper, lower = axes[2 * (number // 4) : 2 * (number // 4) + 2, number % 4]
    K = kernel(x)
    s, Q = np.linalg.eigh(K)
    upper.plot(x, kernel(x, [[0.6]]), color="C0")
    upper.axvline(0.6, color="0.8", linewidth=1, zorder=0)
    upper.set_title(f"{name}\neffective rank {s.sum() ** 2 / (s**2).sum():.1f}", fontsize=10)
    lower.plot(x, (Q * np.sqrt(np.maximum(s, 0))) @ rng.standard_normal((201, 3)), linewidth=1)
    for ax in (upper, lower):
        ax.tick_params(labelsize=8)
for row in range(6):
    axes[row, 0].set_ylabel("draws" if row % 2 else "K(x, 0.6)")
for ax in axes[-1]:
    ax.set_xlabel("x")
plt.show()
