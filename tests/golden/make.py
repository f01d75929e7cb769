"""Make the golden model files of this version: one pickle and one skops file for each estimator.

``python tests/golden/make.py`` writes them into a folder of the version, with what the models
answered beside them. Later versions must load them and give the same answers: see
``tests/test_golden.py``. The files of a released version are never made again.
"""

import pickle
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
from skops import io

GOLDEN = Path(__file__).parent
sys.path.insert(0, str(GOLDEN.parent))

from _checks import configurations, dense, outputs, problem  # noqa: E402

import sklearn_sl  # noqa: E402
from sklearn_sl.ensemble import SubstringStump  # noqa: E402

# Few samples and members keep the files small.
N_SAMPLES, N_MEMBERS = 20, 3


def golden_models():
    """Return ``{name: (model, samples)}``: each estimator, fitted, and samples to ask about."""
    models = {}
    for estimator in configurations():
        name = type(estimator).__name__
        if name in models:
            continue
        if hasattr(estimator, "n_estimators"):
            estimator.set_params(n_estimators=N_MEMBERS)
        data = problem(estimator, n_samples=N_SAMPLES, n_test=8)
        models[name] = estimator.fit(data.X, data.y), data.X_test
    strings, kinds = ["abab", "abba", "baab", "bbbb", "bbba", "aab"], [1, 1, 1, 0, 0, 1]
    models["SubstringStump"] = SubstringStump().fit(strings, kinds), np.array(strings)
    return models


def answers(model, X):
    """Return what a model says about samples, as arrays."""
    return {name: np.asarray(dense(said)) for name, said in outputs(model, X).items()}


def make(folder):
    """Write the files of all estimators."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, (model, X) in golden_models().items():
        (folder / f"{name}.pickle").write_bytes(pickle.dumps(model, protocol=4))
        (folder / f"{name}.skops").write_bytes(io.dumps(model, compression=8))
        np.savez_compressed(folder / f"{name}.npz", X=X, **answers(model, X))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    make(GOLDEN / sklearn_sl.__version__)
