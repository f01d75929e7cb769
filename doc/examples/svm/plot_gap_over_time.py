"""
The certificate closes
======================

The dual objective of a support vector machine is a lower bound of its primal objective. A solver
that knows both knows how much is missing at most, at any time and without knowing the optimum.
:class:`~sklearn_sl.svm.SVC` leaves them as ``primal_objective_`` and ``dual_objective_``, computed
in float64 from the answer itself.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from sklearn_sl.svm import SVC

X, y = make_classification(1500, 10, flip_y=0.05, random_state=0)
settings = {"C": 10.0, "gamma": 0.1}
best = SVC(**settings, tol=1e-9).fit(X, y)
print(f"to the end: {best.n_iter_[0]} steps, gap {best.duality_gap_[0]:.1e}")

# %%
# The solver takes the same steps each time, so to stop it after more and more of them is to
# watch it. Each fit that stops early warns, and tells its gap.

steps = np.unique(np.geomspace(10, best.n_iter_[0], 40).astype(int))
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)
    models = [SVC(**settings, tol=1e-9, max_iter=n).fit(X, y) for n in steps]

gap = np.array([model.duality_gap_[0] for model in models])
violation = np.array([model.kkt_violation_[0] for model in models])
missing = best.dual_objective_[0] - [model.dual_objective_[0] for model in models]
wrong = [np.mean(model.predict(X) != best.predict(X)) for model in models]

# %%
# Left, the two objectives close in on the optimum from either side. Middle, the gap is an upper
# bound of what is missing, and the violation of the optimality conditions, by which the solver
# decides when to stop, falls along with it: the dotted line is the default ``tol``. Right, what
# it means for the classifier: long before the last digits are right, so are the predictions.

fig, (both, bound, effect) = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
primal = [model.primal_objective_[0] for model in models]
dual = [model.dual_objective_[0] for model in models]
both.fill_between(steps, dual, primal, alpha=0.2, label="the gap")
both.semilogx(steps, primal, label="primal objective")
both.semilogx(steps, dual, label="dual objective")
optimum = best.dual_objective_[0]
both.axhline(optimum, color="0.4", linestyle=":", label="optimum")
both.set(ylim=(0, 3 * optimum), xlabel="steps", ylabel="objective", title="From either side")
both.legend()

bound.loglog(steps, gap, label="duality gap")
bound.loglog(steps, np.maximum(missing, 1e-12), label="missing to the optimum")
bound.loglog(steps, violation, label="KKT violation")
bound.axhline(1e-3, color="0.4", linestyle=":", label="default tol")
bound.set(xlabel="steps", title="What the solver knows")
bound.set_ylim(bottom=1e-9)
bound.legend()

effect.semilogx(steps, 100 * np.array(wrong), color="C3")
effect.axvline(
    steps[np.argmax(violation <= 1e-3)], color="0.4", linestyle=":", label="default tol reached"
)
effect.set(xlabel="steps", ylabel="predictions that will change, %", title="What it means")
effect.legend()
plt.show()
