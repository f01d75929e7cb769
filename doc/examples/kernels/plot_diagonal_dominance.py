"""
A Gram matrix that is nearly diagonal
=====================================

If every sample resembles only itself, a kernel machine can reproduce any labels and learns
nothing from them. :func:`~sklearn_sl.kernels.gram_diagnostics` sees this in the Gram matrix
alone, before any label: ``diagonal_dominance`` tends to one and ``effective_rank`` to the
number of samples. Here both are compared with the error on the training set and with the
exact leave-one-out error of kernel ridge regression, over the width of a Gaussian kernel.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale

from sklearn_sl.kernel_ridge import KernelRidgeCV
from sklearn_sl.kernels import Gaussian, gram_diagnostics, median_gamma

X, y = load_diabetes(return_X_y=True)
X, y = scale(X), scale(y)
gammas = np.logspace(-4, 1.5, 23)

dominance, rank, train, left_out = [], [], [], []
for gamma in gammas:
    diagnostics = gram_diagnostics(Gaussian(gamma=gamma), X)
    dominance.append(diagnostics.diagonal_dominance)
    rank.append(diagnostics.effective_rank)
    model = KernelRidgeCV(alphas=[0.1], kernel="rbf", gamma=gamma).fit(X, y)
    train.append(np.mean((y - model.predict(X)) ** 2))
    left_out.append(-model.best_score_)

# %%
# To the right the training error falls to almost nothing and the leave-one-out error rises
# to that of always predicting the mean, which is one. The dotted line is the rule of thumb
# ``gamma="median"``: a start for a search, not the end of one.

fig, (top, bottom) = plt.subplots(2, 1, figsize=(7, 6.5), sharex=True, layout="constrained")
top.semilogx(gammas, dominance, label="diagonal dominance")
top.semilogx(gammas, np.array(rank) / len(X), label="effective rank / n")
top.set_ylabel("of the Gram matrix")
bottom.semilogx(gammas, train, label="training set")
bottom.semilogx(gammas, left_out, label="leave-one-out")
bottom.set(xlabel="gamma", ylabel="mean squared error", ylim=(0, None))
for ax in (top, bottom):
    ax.axvline(median_gamma(X), color="0.3", linestyle=":", label='gamma="median"')
    ax.legend()
top.set_title("A diagonal Gram matrix announces overfitting")
plt.show()
