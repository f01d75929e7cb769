r"""
The training error and its bound
================================

AdaBoost comes with a certificate: after each round the training error is at most the product of
the normalisers :math:`Z_t`, which is also the mean exponential loss. A simpler bound,
:math:`e^{-2 \sum_t \gamma_t^2}`, shows why it falls: every round with an edge :math:`\gamma_t`
over a coin takes its share. All of these are attributes of the fitted model.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, make_hastie_10_2

from sklearn_sl.ensemble import AdaBoostClassifier
from sklearn_sl.theory import adaboost_bound

data = {
    "Breast cancer": load_breast_cancer(return_X_y=True),
    "Sum of ten squares (Hastie)": make_hastie_10_2(n_samples=2000, random_state=0),
}
models = {name: AdaBoostClassifier(n_estimators=300).fit(X, y) for name, (X, y) in data.items()}

# %%
# With stumps, the edges of the first rounds are large and those of the later ones small. As soon as
# the product is below one over the number of samples, no sample can be wrong: that is what
# ``early_stopping="bound"`` waits for. The training error itself is zero well before.

fig, axes = plt.subplots(2, 2, figsize=(12, 7.4), sharex=True, layout="constrained")
for column, (name, model) in zip(axes.T, models.items(), strict=True):
    upper, lower = column
    rounds = np.arange(1, 301)
    bound = adaboost_bound(model.estimator_errors_)
    n_samples = len(model.margins_)
    upper.plot(
        rounds,
        bound.exponential,
        color="#94a4a2",
        linestyle="dashed",
        label=r"exp(-2 $\Sigma\,\gamma_t^2$)",
    )
    upper.plot(
        rounds,
        model.training_bound_,
        color="#3f90da",
        label=r"$Z_1 Z_2 \cdots Z_t$ = mean of $e^{-yf}$",
    )
    positive = np.where(model.training_errors_ > 0, model.training_errors_, np.nan)
    upper.plot(rounds, positive, color="#bd1f01", label="training error")
    upper.axhline(1 / n_samples, color="0.35", linestyle="dotted", label="one sample of all")
    upper.set(yscale="log", ylim=(0.3 / n_samples, 1.3), title=name)
    lower.plot(rounds, model.edge_, color="#832db6", linewidth=1)
    lower.set(xlabel="rounds", ylim=(0, 0.45))
axes[0, 0].set_ylabel("error, bound")
axes[1, 0].set_ylabel(r"edge $\gamma_t = 1/2 - \varepsilon_t$")
axes[0, 0].legend(loc="upper right", fontsize="small")
plt.show()

# %%
# The line of the training error ends where the error is zero. On the right the edges are small, the
# two bounds are one line, and it falls so slowly that 300 rounds do not bring it below one sample:
# for a training error of zero the theorem wants an edge that stays. The bound is far from the error
# there, but it is never below it.

for name, model in models.items():
    done = np.flatnonzero(model.training_errors_ == 0)
    proved = np.flatnonzero(model.training_bound_ < 1 / len(model.margins_))
    print(
        f"{name}: no error from round {done[0] + 1 if len(done) else '-'} on, "
        f"proved by round {proved[0] + 1 if len(proved) else '-'}"
    )
