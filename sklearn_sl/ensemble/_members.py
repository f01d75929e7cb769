"""How the members of a bagging or a forest are fitted, and asked, side by side.

Trees of the package share one sort of the columns and are grown by threads. Any other estimator is
fitted by joblib, in the backend that the user chose.
"""

import copy
import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp
import sklearn
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from sklearn_sl._threads import in_order
from sklearn_sl.ensemble._packed_trees import is_all
from sklearn_sl.ensemble._resampling import repeated
from sklearn_sl.ensemble._shared_trees import TreeSet, shares_columns


def make_member(template, seed):
    """Return an unfitted member whose random states, if it has any, follow from a seed."""
    if shares_columns(template):  # whose parameters are plain values: a clone would be slow
        member = copy.copy(template)
        member.random_state = int(seed)
        return member
    member = clone(template)
    names = [
        name
        for name in sorted(member.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    ]
    if names == ["random_state"]:
        return member.set_params(random_state=int(seed))
    draws = np.random.RandomState(seed).randint(np.iinfo(np.int32).max, size=len(names))
    return member.set_params(**dict(zip(names, draws.tolist(), strict=True)))


def in_turn(work, items, *, n_jobs, verbose=0, **how):
    """Yield ``work(*item)`` of all items in their order, worked on by joblib.

    Closing the generator ends the work.
    """
    tasks = (delayed(work)(*item) for item in items)
    options = {"n_jobs": n_jobs, "verbose": verbose, **how}
    try:
        results = Parallel(**options, return_as="generator")(tasks)
    except ValueError as error:
        if "return_as" not in str(error):
            raise
        yield from Parallel(**options)(tasks)  # multiprocessing returns them all at once
        return
    try:
        for result in results:  # noqa: UP028  (closes it by itself, with a warning)
            yield result
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of work that was begun and is not wanted any more
            results.close()


class Narrator:
    """Tells what joblib would tell of its progress, for work that threads do."""

    def __init__(self, verbose, n_threads, n_tasks):
        self.verbose, self.n_threads, self.n_tasks = verbose, n_threads, n_tasks
        self.start = time.perf_counter()

    def begin(self, line):
        """Tell of the begin of a task, to those who want to know much."""
        if self.verbose > 1:
            print(line)

    def end(self, n_done):
        """Tell how many tasks are done, and how long they took."""
        if self.verbose:
            seconds = time.perf_counter() - self.start
            print(
                f"[Parallel(n_jobs={self.n_threads})]: Done {n_done:3d} out of {self.n_tasks:3d} | "
                f"elapsed: {seconds:6.1f}s finished",
                file=sys.stderr,
            )


class TreeMembers:
    """The training set of members that are trees of the package.

    Parameters
    ----------
    template : DecisionTreeClassifier or DecisionTreeRegressor
        What the members are clones of.

    X : {array-like, dataframe} of shape (n_samples, n_features)
        Samples.

    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Targets; classes as codes.

    n_jobs : int or None
        The number of threads.

    verbose : int
        How much to tell.

    factors : callable, default=None
        Returns the weights of the classes of the rows, for given weights of the rows.

    reader : object, default=None
        Who reads the samples.

    random_order : bool, default=False
        Whether chance decides between equal splits.
    """

    def __init__(
        self, template, X, y, *, n_jobs, verbose, factors=None, reader=None, random_order=False
    ):
        self.template, self.verbose, self.factors = template, verbose, factors
        self.random_order = random_order
        self.n_threads = effective_n_jobs(n_jobs)
        self.trees = TreeSet(template, X, y, n_threads=self.n_threads, reader=reader)
        self.X = self.trees.X
        self.reader = self.trees.reader

    def fit(self, resampling, seeds, features):
        """Yield fitted trees, in the order of their seeds."""
        # Threads that have no tree of their own help with those of others.
        within = max(1, self.n_threads // len(seeds))
        narrator = Narrator(self.verbose, self.n_threads, len(seeds))

        def grow(number, over):
            narrator.begin(f"building tree {number + 1} of {len(seeds)}")
            weight = resampling.counts(seeds[number])
            trees = self.trees
            if not is_all(features[number], self.X):
                trees = trees.subset(features[number])
            return trees.fit(
                make_member(self.template, seeds[number]),
                weight,
                factors=None if self.factors is None else self.factors(weight),
                n_threads=within,
                random_order=self.random_order,
                watch=lambda done: over(),
            )

        yield from in_order(grow, range(len(seeds)), min(self.n_threads, len(seeds)))
        narrator.end(len(seeds))


class OtherMembers:
    """The training set of members that know nothing of each other.

    They are handed the distinct rows, in the order of their content, so that it makes no
    difference to them either where a row stands, or whether it is repeated or weighted.

    Parameters
    ----------
    template : estimator
        What the members are clones of.

    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Samples.

    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Targets; classes as codes.

    n_jobs : int or None
        The number of jobs.

    verbose : int
        How much to tell.

    fit_params : dict
        What else the members are fitted with.
    """

    reader = None

    def __init__(self, template, X, y, *, n_jobs, verbose, fit_params):
        self.template, self.X, self.y = template, X, y
        self.n_jobs, self.verbose, self.fit_params = n_jobs, verbose, fit_params

    def fit(self, resampling, seeds, features):
        """Yield fitted members, in the order of their seeds."""
        X, y, params, gather = self._distinct(resampling)
        takes_weight = consumes_weight(self.template)

        def tasks():
            for number, (seed, columns) in enumerate(zip(seeds, features, strict=True)):
                line = f"Building estimator {number + 1} of {len(seeds)}..."
                member = make_member(self.template, seed)
                weight = gather(resampling.counts(seed))
                columns = None if is_all(columns, X) else columns
                line = line if self.verbose > 1 else None
                yield member, X, y, weight, columns, takes_weight, params, line

        yield from in_turn(fit_member, tasks(), n_jobs=self.n_jobs, verbose=self.verbose)

    def _distinct(self, resampling):
        """Return samples, targets and parameters, and what brings counts into their order."""
        X = self.X.tocsr() if sp.issparse(self.X) else self.X
        merge, rows = resampling.sum_over_copies, resampling.representatives()
        if self.fit_params:  # which copies of a row need not have in common
            rows = resampling.order.astype(np.intp)

            def merge(counts):
                return counts[rows]

        def gather(counts):
            weight = merge(np.ones(resampling.n_rows) if counts is None else counts)
            return None if not resampling.resamples and np.all(weight == 1) else weight

        params = {
            name: rows_of(value, rows) if is_per_row(value, resampling.n_rows) else value
            for name, value in self.fit_params.items()
        }
        return X[rows], self.y[rows], params, gather


def rows_of(values, rows):
    """Return some rows of an array, a matrix, a frame or a list."""
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if sp.issparse(values):
        return values.tocsr()[rows]
    return values[rows] if hasattr(values, "shape") else [values[row] for row in rows]


def is_per_row(value, n_rows):
    """Return whether a parameter has an entry for each row."""
    return np.ndim(value) > 0 and len(value) == n_rows


def consumes_weight(estimator):
    """Return whether an estimator takes weights; with routing, whether it asks for them."""
    if sklearn.get_config()["enable_metadata_routing"]:
        return bool(get_routing_for_object(estimator).consumes("fit", ("sample_weight",)))
    return has_fit_parameter(estimator, "sample_weight")


def fit_member(member, X, y, weight, columns, takes_weight, params, line):
    """Fit a member to some columns of weighted rows, which are repeated if it takes no weights."""
    if line is not None:
        print(line)
    if columns is not None:
        X = X[:, columns]
    if weight is None:
        return member.fit(X, y, **params)
    if takes_weight:
        return member.fit(X, y, sample_weight=weight, **params)
    if np.any(weight != np.rint(weight)):
        raise ValueError(
            f"{type(member).__name__} takes no sample_weight: use bootstrap=True, which draws rows "
            "by their weights, or integer weights."
        )
    row_bytes = 0 if sp.issparse(X) else X.itemsize * X.shape[1]
    rows = repeated(np.arange(len(weight)), weight, row_bytes)
    params = {
        name: rows_of(value, rows) if is_per_row(value, len(weight)) else value
        for name, value in params.items()
    }
    return member.fit(X[rows], y[rows], **params)
