"""Print, as JSON, how many milliseconds the threads of BLAS run during small fits and predictions.

To be run as a script, in a process without other threads: a thread of BLAS that has been woken once
runs on for a while, in a busy loop.
"""

import json
import os
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from _checks import configurations, label, outputs, problem
from scipy import linalg
from sklearn.base import clone

N_SAMPLES = 150
# Each is an instance of many, and its estimator has no other with the default parameters.
ALSO = {
    "KernelRidge(kernel='precomputed')",
    "KernelRidge(kernel='rbf',random_state=0,solver='nystrom')",
    "LabelPropagation(kernel=<functionrbf_kernel>)",
    "Perceptron(average='voted',max_iter=5,tol=None)",
    "SVC(gamma='median')",
    "SVC(kernel='precomputed')",
    "SVCCV(Cs=[0.1,10.0],cv='loo')",
}
# Their fits are long.
TOO_LONG = {"MatrixCompletion", "SwitchingMultitaskKernel"}


def chosen():
    """Return the first configuration of every estimator, and the others above."""
    seen, models = set(TOO_LONG), []
    for model in configurations(own=True):
        if type(model).__name__ not in seen or label(model) in ALSO:
            seen.add(type(model).__name__)
            models.append(model)
    return models


def run_time(threads):
    """Return the milliseconds for which threads have run since they were started."""
    lines = [Path(f"/proc/self/task/{thread}/schedstat").read_text() for thread in threads]
    return sum(int(line.split()[0]) for line in lines) / 1e6


def wait_for_sleep(threads):
    """Return the run time of threads once they do nothing any more."""
    before, now = -1.0, run_time(threads)
    while now > before:
        time.sleep(0.02)
        before, now = now, run_time(threads)
    return now


def measure():
    """Return by configuration for how long other threads ran during its fit and predictions."""
    linalg.cholesky(np.eye(300) + np.ones((300, 300)) @ np.ones((300, 300)))
    others = [int(name) for name in os.listdir("/proc/self/task")]
    others.remove(threading.get_native_id())
    found = {"a product of large matrices": _product(others)}
    for model in chosen():
        data = problem(model, n_samples=N_SAMPLES, n_features=10, n_test=N_SAMPLES)
        before = wait_for_sleep(others)
        outputs(clone(model).fit(data.X, data.y), data.X_test)
        found[label(model)] = run_time(others) - before
    return found


def _product(others):
    """Return for how long the threads run where they are wanted: the measure measures."""
    before = wait_for_sleep(others)
    np.ones((2000, 1000)) @ np.ones((1000, 2000))
    return run_time(others) - before


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(measure()))
