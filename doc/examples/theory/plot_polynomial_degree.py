r"""
Training error and expected error by the degree of a polynomial
===============================================================

Polynomials of degree :math:`r` contain all those of lower degrees, so that the training error of
least squares never rises with :math:`r`. The expected error falls at first, with the bias, and
rises later, with the variance. Here it is known, as the data come from a cubic function with noise,
and five ways to choose the degree from one training set are compared with it: a validation set, two
kinds of cross-validation, the training error itself, and structural risk minimisation, which adds a
penalty for the size of the class to the training error.
"""

import matplotlib.pyplot as plt
import numpy as np
from numpy.polynomial.legendre import legvander
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit

DEGREES = np.arange(6)
SIGMA = 0.3
N_SAMPLES, N_REPEATS = 20, 100


def f(x):
    return 4 * x**3 - 2 * x


def draw(rng, size):
    """Return samples of the cubic function with noise."""
    x = rng.uniform(-1, 1, size=size)
    return x, f(x) + SIGMA * rng.normal(size=size)


def predict(degree, x, y, new):
    """Return the predictions of least squares on the polynomials up to a degree."""
    return legvander(new, degree) @ np.linalg.lstsq(legvander(x, degree), y, rcond=None)[0]


def validate(x, y, splits):
    """Return the mean squared error on the left-out parts, for each degree."""
    errors = [
        [np.mean((predict(r, x[a], y[a], x[b]) - y[b]) ** 2) for a, b in splits] for r in DEGREES
    ]
    return np.mean(errors, axis=1)


def penalised(training_error, m):
    """Return Vapnik's estimate of the risk for degree ``r``, that is of dimension ``r + 1``."""
    share = (DEGREES + 1) / m
    penalty = np.sqrt(share - share * np.log(share) + np.log(m) / (2 * m))
    return training_error / np.maximum(1e-12, 1 - penalty)


# %%
# The errors are those of many training sets of 20 samples. That of new samples is computed on a
# grid: the squared distance from the cubic function, and the variance of the noise.

grid = np.linspace(-1, 1, 201)
rng = np.random.default_rng(0)
SPLITS = {
    "hold-out": ShuffleSplit(1, test_size=0.3, random_state=0),
    "5 folds": KFold(5),
    "leave-one-out": LeaveOneOut(),
}
SPLITS = {name: list(cv.split(np.zeros(N_SAMPLES))) for name, cv in SPLITS.items()}
training, expected = [], []
estimates = {name: [] for name in [*SPLITS, "structural risk", "training error"]}
for _ in range(N_REPEATS):
    x, y = draw(rng, N_SAMPLES)
    training.append([np.mean((predict(r, x, y, x) - y) ** 2) for r in DEGREES])
    miss = [np.mean((predict(r, x, y, grid) - f(grid)) ** 2) for r in DEGREES]
    expected.append(SIGMA**2 + np.array(miss))
    for name, splits in SPLITS.items():
        estimates[name].append(validate(x, y, splits))
    estimates["structural risk"].append(penalised(training[-1], N_SAMPLES))
training, expected = np.array(training), np.array(expected)
estimates["training error"] = training

# %%
# To the left: the median curves. To the right: how often each way chooses which degree, and by how
# much the expected error of its choice is larger than that of the best degree for that training
# set, in the mean. The training error always chooses the largest degree. A validation set of six
# samples misses the right one half of the time. The estimate of structural risk
# minimisation, which has the form of a bound for all laws of the data, is several times the error,
# but it is least at the right degree.

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
left.plot(DEGREES, np.median(training, axis=0), "o--", color="0.5", label="training error")
left.plot(DEGREES, np.median(expected, axis=0), "ko-", linewidth=2, label="expected error")
for name in ("hold-out", "5 folds", "leave-one-out", "structural risk"):
    left.plot(DEGREES, np.median(estimates[name], axis=0), ".-", linewidth=1, label=name)
left.axhline(SIGMA**2, color="0.7", linestyle=":", label="noise")
left.set(xlabel="degree", ylabel="mean squared error", yscale="log", title="Errors (medians)")
left.legend(fontsize="small", ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.17))

bottom = np.zeros(len(estimates))
choices = {name: np.argmin(values, axis=1) for name, values in estimates.items()}
for r in DEGREES:
    share = np.array([np.mean(chosen == r) for chosen in choices.values()])
    right.barh(list(choices), share, left=bottom, color=plt.cm.viridis(r / 5), label=str(r))
    bottom += share
runs = np.arange(len(expected))
for row, chosen in enumerate(choices.values()):
    worse = np.mean(expected[runs, chosen] / expected.min(axis=1)) - 1
    right.text(1.02, row, f"+{100 * worse:.0f} %", va="center")
right.set(xlabel="share of training sets", xlim=(0, 1.25), title="Degree that is chosen")
right.legend(
    title="degree", ncols=6, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.16)
)
plt.show()
