"""Model files of this version and of all releases before it are loaded, and answer as they did."""

import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from _checks import assert_same_outputs, dense, outputs
from conftest import ALGEBRA
from sklearn.exceptions import InconsistentVersionWarning
from skops import io

import sklearn_sl
from sklearn_sl._discovery import all_estimators
from sklearn_sl.base import trusted_types

GOLDEN = Path(__file__).parent / "golden"
VERSIONS = sorted(folder.name for folder in GOLDEN.iterdir() if folder.name[0].isdigit())
FILES = sorted(GOLDEN.glob("*/*.npz"))
# What scikit-learn and SciPy have in models of ours, and skops does not know.
FOREIGN = [
    "scipy.sparse._csr.csr_array",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.neighbors._kd_tree.KDTree",
]


def load_pickle(path):
    return pickle.loads(path.with_suffix(".pickle").read_bytes())


def load_skops(path):
    return io.load(path.with_suffix(".skops"), trusted=[*trusted_types(), *FOREIGN])


@pytest.mark.parametrize("load", [load_pickle, load_skops])
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_golden_file_answers_as_it_did(path, load):
    with np.load(path) as stored:
        expected = dict(stored)
    X = expected.pop("X")
    with warnings.catch_warnings():
        # A newer version of the package or of scikit-learn says so, which is right.
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        model = load(path)
    assert type(model).__name__ == path.stem
    said = {name: np.asarray(dense(answer)) for name, answer in outputs(model, X).items()}
    assert_same_outputs(said, expected, **ALGEBRA)


def test_there_are_golden_files_of_every_estimator_of_this_version():
    assert sklearn_sl.__version__ in VERSIONS, "python tests/golden/make.py makes them"
    names = {Estimator.__name__ for Estimator in all_estimators()}
    for kind in ("npz", "pickle", "skops"):
        found = {path.stem for path in (GOLDEN / sklearn_sl.__version__).glob(f"*.{kind}")}
        assert found == names


def test_golden_files_are_small():
    assert sum(path.stat().st_size for path in GOLDEN.glob("*/*")) < len(VERSIONS) * 2 * 2**20
