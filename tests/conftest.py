"""Tolerances, seeds and settings that every test shares."""

import gc
import os
import re

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import settings
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version
from threadpoolctl import threadpool_limits

os.environ["MPLBACKEND"] = "Agg"
# A script that is read by type checkers only.
collect_ignore = ["typing/usage.py"]

# The tolerances of the suite, to be spread into ``numpy.testing.assert_allclose``.
# EXACT: the same arithmetic; only the order of a sum may differ.
EXACT = {"rtol": 1e-12, "atol": 1e-12}
# ALGEBRA: the same quantity by another formula, as well conditioned as the test data.
ALGEBRA = {"rtol": 1e-7, "atol": 1e-9}
# SINGLE: the same quantity from data in single precision.
SINGLE = {"rtol": 1e-3, "atol": 1e-3}


def solver(tol):
    """Return the tolerance for the answer of an iterative solver that stops at ``tol``."""
    return {"rtol": 10 * tol, "atol": 10 * tol}


# The same examples on every run: a red build is a change of the code, not of the dice.
settings.register_profile("suite", deadline=None, derandomize=True, max_examples=25)
# The same code again, for builds in which each example is slow.
settings.register_profile("few", settings.get_profile("suite"), max_examples=3)
settings.load_profile("suite")


def without_addresses(value):
    """Return the name of a parameter, the same in every process."""
    return re.sub(r" ?at ?0x[0-9a-f]+", "", str(value))


def every_check_of(estimators):
    """Return the decorator of a test that runs each of scikit-learn's checks on each estimator.

    scikit-learn < 1.9 hands pytest a generator, which pytest 9 deprecates.
    """
    checks = parametrize_with_checks(estimators)
    names, pairs = checks.args
    name_of = checks.kwargs["ids"]
    return pytest.mark.parametrize(
        names, list(pairs), ids=lambda part: without_addresses(name_of(part))
    )


def pytest_collection_finish(session):
    """Let the garbage collector pass over the tests themselves: there are tens of thousands."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def one_blas_thread():
    """Keep BLAS to one thread: on small matrices several only wait for one another.

    On a busy machine of two cores the common tests are ten times faster.
    """
    with threadpool_limits(1):
        yield


@pytest.fixture
def rng():
    """Return the random generator of the test, the same on every run."""
    return np.random.default_rng(0)


def random_sparse(rng, shape, density, format="csr"):
    """Return a sparse array with uniform entries at random places.

    SciPy's own ``random_array`` takes its generator by another name before 1.15.
    """
    size = shape[0] * shape[1]
    places = rng.choice(size, round(density * size), replace=False)
    entries = rng.random(len(places)), np.unravel_index(places, shape)
    return sp.coo_array(entries, shape=shape).asformat(format)


def scikit_learn_before(version):
    """Say whether scikit-learn is older than this version."""
    return parse_version(sklearn.__version__) < parse_version(version)


needs_callbacks = pytest.mark.skipif(scikit_learn_before("1.9"), reason="no callbacks before 1.9")
