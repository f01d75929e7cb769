"""A pytest plugin: scikit-learn's tests of a class are run on ours, and accounts are kept.

Loaded by ``run.py``. Public attributes such as ``sklearn.svm.SVC`` become our classes when pytest
starts: before the first test module is imported, and after scikit-learn itself is, whose own
estimators go on using its own classes. What ``deviations.toml`` lists has to fail, what it does not
list has to pass. Importing this module alone changes nothing.
"""

import importlib
import inspect

import pytest
import sklearn
from sklearn.base import BaseEstimator
from sklearn.utils.discovery import all_estimators

from drop_in.accounts import Accounts, read_deviations
from sklearn_sl import _discovery
from sklearn_sl.base import EstimatorMixin

# Private modules whose classes the tests reach by the module.
REACHED = {"sklearn.semi_supervised._label_propagation"}


def put_in_place():
    """Let the names of scikit-learn's classes mean ours of the same name; return these."""
    theirs = dict(all_estimators())  # which also imports whatever has an estimator
    ours = [cls for cls in _discovery.all_estimators() if cls.__name__ in theirs]
    for cls in ours:
        for module in homes(theirs[cls.__name__]):
            setattr(importlib.import_module(module), cls.__name__, cls)
    return set(ours)


def homes(cls):
    """Return the modules that tests take a class from: ``sklearn.svm``, say."""
    return {cls.__module__.partition("._")[0]} | ({cls.__module__} & REACHED)


class Census:
    """Whether the test that is being run has made an estimator of ours."""

    def __init__(self):
        self.classes, self.seen = set(), False

    def begin(self, classes):
        """Be told of each instance of these classes from now on."""
        self.classes = classes
        EstimatorMixin.__new__ = lambda cls, *args, **kwargs: self.note(cls)

    def note(self, cls):
        """Make an instance, which is what ``__new__`` is for."""
        self.seen = True
        return object.__new__(cls)

    def concerns(self, item):
        """Say whether a test is about our classes, by what it made and by its parameters."""
        return self.seen or any(map(self.is_ours, parameters(item)))

    def has_ours(self, item):
        """Say whether a parameter of a test is an estimator of ours, or has one as a part."""
        return any(self.is_ours(part) for value in parameters(item) for part in parts(value))

    def is_ours(self, value):
        """Say whether a value is a class of ours or an estimator of one."""
        return (value if inspect.isclass(value) else type(value)) in self.classes


def parameters(item):
    """Return the values of the parameters of a test."""
    callspec = getattr(item, "callspec", None)
    return list(callspec.params.values()) if callspec else []


def parts(value):
    """Return a parameter of a test and, if it is an estimator, its own parameters."""
    is_estimator = isinstance(value, BaseEstimator)
    return [value, *(value.get_params().values() if is_estimator else ())]


census = Census()
deviations = read_deviations()
accounts = Accounts(deviations)


def pytest_configure():
    """Put our classes in place."""
    census.begin(put_in_place())


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Of tests over every estimator leave those of ours; tests that are listed have to fail."""
    ours = [one for one in items if not deviations.is_common(one.nodeid) or census.has_ours(one)]
    config.hook.pytest_deselected(items=list(set(items).difference(ours)))
    items[:] = ours
    for item in items:
        deviation = deviations.of(item.nodeid)
        if deviation:
            item.add_marker(pytest.mark.xfail(reason=str(deviation), strict=True))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Count from here."""
    census.seen = False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Say in the report whether the test is about us: it may go to another process."""
    report = yield
    report.concerns_us = deviations.is_common(item.nodeid) or census.concerns(item)
    return report


def pytest_runtest_logreport(report):
    """Enter a test into the accounts."""
    accounts.enter(report)


def pytest_sessionfinish(session):
    """Fail if too few tests have passed, or if the list is out of date."""
    if not hasattr(session.config, "workerinput"):
        whole = not session.config.option.keyword and not any(map(is_node, session.config.args))
        accounts.close(whole)
        if accounts.complaints and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def is_node(argument):
    """Say whether an argument selects a part of a module."""
    return "::" in argument


def pytest_terminal_summary(terminalreporter):
    """Print the accounts."""
    terminalreporter.write_sep("=", f"scikit-learn {sklearn.__version__}, tests of our classes")
    terminalreporter.write_line(accounts.table())
    for complaint in accounts.complaints:
        terminalreporter.write_line(complaint, red=True)
