"""The base estimators of the ensembles: how they are made, fitted and asked.

A boosting fits its base estimators again and again to the same samples. Its *fitter* has
``fit(estimator, weight, target)``, which fits in place and returns what the estimator answers to
the training samples: codes of classes, or numbers. The target, codes or numbers as well, is that of
the training set unless another one is given. Weak learners of the package share what depends
neither on weights nor on targets, such as sorted columns; any other estimator is fitted anew.

Bagging and forests fit theirs to resampled rows, side by side: trees of the package share one sort
of the columns and are grown by threads, any other estimator is fitted by joblib, in the backend
that the user chose.
"""

import contextlib
import sys
import time
import warnings
from numbers import Integral

import numpy as np
import scipy.sparse as sp
import sklearn
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_array, has_fit_parameter

from sklearn_sl._threads import Helpers, in_order
from sklearn_sl._validation import validate_data
from sklearn_sl.ensemble._paragraphs import inserted
from sklearn_sl.ensemble._resampling import repeated
from sklearn_sl.ensemble._stump import (
    DecisionStump,
    ErrorStumpFitter,
    GiniStumpFitter,
    is_stump,
)
from sklearn_sl.ensemble._substring_stump import SubstringFitter, SubstringStump
from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn_sl.tree._growing import fit_tree
from sklearn_sl.tree._training_set import (
    Target,
    TrainingSet,
    class_target,
    number_target,
    read_numbers,
    read_samples,
    same_categories,
    shared_training_set,
    times,
)

MAX_SEED = np.iinfo(np.int32).max
# Fewer cells are searched by one thread.
MANY = 200_000


def is_tree(estimator):
    """Return whether an estimator is a tree of this package; a subclass may fit otherwise."""
    return type(estimator) in (DecisionTreeClassifier, DecisionTreeRegressor)


def make_base_estimator(template, random):
    """Return an unfitted copy of an estimator whose random states, if it has any, are drawn.

    ``random`` is a generator, which draws them in the order of their names as scikit-learn's
    ensembles do, or a seed: itself the only random state, or that of all of them.
    """
    # The parameters of our own estimators are plain values; clone would be slow for small fits.
    own = is_tree(template) or isinstance(template, DecisionStump)
    names = random_states_of(vars(template) if own else template.get_params(deep=True))
    if not isinstance(random, Integral):
        seeds = [random.randint(MAX_SEED) for _ in names]
    elif names == ["random_state"]:
        seeds = [int(random)]
    else:
        seeds = np.random.RandomState(random).randint(MAX_SEED, size=len(names)).tolist()
    drawn = dict(zip(names, seeds, strict=True))
    if not own:
        made = clone(template)
        return made.set_params(**drawn) if drawn else made
    made = object.__new__(type(template))
    vars(made).update(vars(template), **drawn)
    return made


def random_states_of(names):
    """Return those of some names of parameters that are random states, sorted."""
    return sorted(
        name for name in names if name == "random_state" or name.endswith("__random_state")
    )


# ---------------------------------------------------------------- samples and answers


def read_for(ensemble, estimator, X, *, reset):
    """Return samples as base estimators of this kind take them.

    The ensemble learns or checks the names of the features. For trees these are numbers, with the
    codes of categories: in a fit as the trees will learn them, later as the fitted tree
    ``estimator`` did.
    """
    if is_tree(estimator):
        if reset:
            if not hasattr(X, "shape"):
                X = np.asarray(X)
            validate_data(ensemble, X, reset=True, skip_check_array=True)
            return X
        return checked_samples(ensemble, estimator, X)
    tags = get_tags(estimator).input_tags
    if not tags.two_d_array:  # strings and the like, which the base estimators will look at
        return X
    return validate_data(
        ensemble,
        X,
        reset=reset,
        accept_sparse=["csr", "csc"] if tags.sparse else False,
        allow_nd=not isinstance(estimator, DecisionStump),  # they know best what they take
        dtype=np.float64 if isinstance(estimator, DecisionStump) else None,
        order="C",
        ensure_all_finite="allow-nan" if tags.allow_nan else True,
    )


def checked_samples(ensemble, reader, X):
    """Return samples as a tree reads them; the ensemble complains of other features.

    The tree knows no names of features, or they would be complained of twice.
    """
    if is_table := len(getattr(X, "shape", ())) == 2:
        validate_data(ensemble, X, reset=False, skip_check_array=True)
        X = without_names(X) if hasattr(X, "columns") else X
    numbers = read_samples(reader, X, reset=False)
    if not is_table:  # the tree knows best what is wrong with it
        validate_data(ensemble, X, reset=False, skip_check_array=True)
    return numbers


def without_names(X):
    """Return samples without the names of their features, which are for the ensemble to check."""
    if hasattr(X, "iloc"):
        return X.set_axis(range(X.shape[1]), axis=1)
    return check_array(X, dtype=None, ensure_all_finite=False)


def class_codes(estimator, X, classes):
    """Return the indices into ``classes`` of what a fitted classifier predicts."""
    if is_tree(estimator) or isinstance(estimator, DecisionStump):
        return estimator._codes(X)
    return np.searchsorted(classes, estimator.predict(X))


def predicted_numbers(estimator, X):
    """Return what a fitted regressor predicts."""
    if is_tree(estimator):
        return estimator._answers(estimator.tree_).take(estimator.tree_._leaves(X))
    return np.asarray(estimator.predict(X), dtype=np.float64)


# ---------------------------------------------------------------- trees that share a training set


class SharedTrees:
    """Samples that many trees are grown on, with other weights.

    Parameters
    ----------
    template : DecisionTreeClassifier or DecisionTreeRegressor
        What the trees are copies of, apart from their ``random_state``.

    training_set : TrainingSet
        The samples, in sorted columns.

    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Targets; classes as the trees shall name them.

    classes, codes : ndarray of shape (n_classes,) and of shape (n_samples,), default=None
        The classes of a single output, and those of the samples as indices into them. None if ``y``
        are indices themselves.

    Attributes
    ----------
    y : ndarray of shape (n_samples, n_outputs)
        The targets.

    values : ndarray of shape (n_samples, n_outputs)
        The same as numbers, classes as codes.
    """

    def __init__(self, template, training_set, y, classes=None, codes=None):
        self.training_set, self.X = training_set, training_set.X
        if isinstance(template, DecisionTreeClassifier):
            self.y = y.reshape(len(y), -1)
            self.values = (y if codes is None else codes).reshape(self.y.shape).astype(np.int32)
            self.n_classes = self.values.max(axis=0).astype(np.intp) + 1
            classes = [np.arange(n) for n in self.n_classes] if classes is None else [classes]
            single = len(classes) == 1
            self.learned = {
                "classes_": classes[0] if single else classes,
                "n_classes_": int(self.n_classes[0]) if single else self.n_classes,
                "_cost": None,
            }
        else:
            self.y = self.values = read_numbers(y, self.X.shape[0])
            number_target(template, self.y, None)  # complains if they do not suit the criterion

    def fit(self, tree, weight=None, *, y=None, values=None, factors=None, features=None, **how):
        """Fit a tree in place; rows without weight are as if they were not there.

        ``y`` and ``values`` are other targets, and the same as numbers. ``factors`` are the weights
        of the classes of the rows, of a tree that has none itself. ``features`` are those that the
        tree sees, by default all of them. ``how`` is for :func:`fit_tree`.
        """
        training_set = self.training_set
        if features is not None:
            training_set = training_set.subset(features)
        y = self.y if y is None else y
        target = self._target(tree, y, self.values if values is None else values, weight, factors)
        # As in scikit-learn, min_samples_split=0.1 is a tenth of all rows, drawn or not.
        return fit_tree(tree, training_set, target, n_samples=self.X.shape[0], **how)

    def _target(self, tree, y, values, weight, factors):
        if isinstance(tree, DecisionTreeRegressor):
            return Target(y, weight)
        if tree.class_weight is None and tree.priors is None and tree.cost_matrix is None:
            counted = None if factors is None else times(factors, weight)
            known = {"n_classes": self.n_classes, "learned": self.learned}
            return Target(values, weight, counted=counted, **known)
        return class_target(tree, y, weight)


# ---------------------------------------------------------------- fitting again and again


class AnyFitter:
    """Samples for base estimators that know nothing of each other."""

    def __init__(self, X, y, classes=None):
        self.X, self.y, self.classes = X, y, classes

    def fit(self, estimator, weight, target=None):
        """Fit an estimator; return its answers to the training samples."""
        y = self.y
        if target is not None:
            y = target if self.classes is None else self.classes[target]
        estimator.fit(self.X, y, **({} if weight is None else {"sample_weight": weight}))
        return self.answers(estimator)

    def refit(self, estimator, draws):
        """Fit an estimator to a sample of the rows; return its answers to all of them."""
        rows = draws.rows()
        estimator.fit(rows_of(self.X, rows), self.y[rows])
        return self.answers(estimator)

    def answers(self, estimator):
        """Return what a fitted estimator answers to the training samples."""
        if self.classes is None:
            return predicted_numbers(estimator, self.X)
        return class_codes(estimator, self.X, self.classes)

    def knows(self, estimator):
        """Return whether an estimator of an earlier fit has learned the same features."""
        n_features = getattr(estimator, "n_features_in_", None)
        if n_features is None or getattr(self.X, "ndim", 1) != 2:  # strings and the like
            return True
        return n_features == self.X.shape[1]


class TreeFitter(AnyFitter):
    """Samples for trees of the package."""

    def __init__(self, trees, classes=None, n_threads=1):
        super().__init__(trees.X, trees.y, classes)
        self.trees, self.n_threads = trees, n_threads

    def fit(self, tree, weight, target=None):
        other = {}
        if target is not None and self.classes is None:
            other = {"y": target[:, None]}
        elif target is not None:
            codes = target[:, None].astype(np.int32)
            other = {"y": self.classes[target][:, None], "values": codes}
        self.trees.fit(tree, weight, n_threads=self.n_threads, **other)
        return self.answers(tree)

    def refit(self, tree, draws):
        self.trees.fit(tree, draws.times(), n_threads=self.n_threads, count_weight=True)
        return self.answers(tree)

    def knows(self, tree):
        return super().knows(tree) and same_categories(tree, self.trees.training_set.reader)


@contextlib.contextmanager
def class_fitter(template, X, y, classes, codes, n_jobs=None):
    """Yield what fits the base classifiers of a boosting; at the end its threads are let go."""
    n_threads, training_set, of_stumps = effective_n_jobs(n_jobs), None, None
    if is_tree(template):
        training_set = shared_training_set(template, X, n_threads=n_threads)
        of_stumps = GiniStumpFitter if is_stump(template, training_set) else None
    elif type(template) is DecisionStump:
        training_set, of_stumps = TrainingSet(X, n_threads=n_threads), ErrorStumpFitter
    if of_stumps is not None and len(classes) > 1:
        n_helpers = min(n_threads, X.shape[1]) - 1 if training_set.X.size >= MANY else 0
        with Helpers(n_helpers) if n_helpers else contextlib.nullcontext(()) as helpers:
            yield of_stumps(training_set, classes, codes, helpers)
    elif is_tree(template):
        yield TreeFitter(SharedTrees(template, training_set, y, classes, codes), classes, n_threads)
    elif isinstance(template, SubstringStump):
        yield SubstringFitter(X, classes, codes)
    else:
        yield AnyFitter(X, y, classes)


def number_fitter(template, X, y, n_jobs=None):
    """Return what fits the base regressors of a boosting."""
    if not is_tree(template):
        return AnyFitter(X, y)
    n_threads = effective_n_jobs(n_jobs)
    training_set = shared_training_set(template, X, n_threads=n_threads)
    return TreeFitter(SharedTrees(template, training_set, y), n_threads=n_threads)


# ---------------------------------------------------------------- fitting side by side


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


def shares_memory():
    """Return whether the backend of joblib is threads, as it is unless the user chose another."""
    backend, _ = get_active_backend(prefer="threads")
    return getattr(backend, "supports_sharedmem", False)


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


@inserted
class ResampledTrees:
    """The training set of base estimators that are trees of the package.

    Parameters
    ----------
    template : DecisionTreeClassifier or DecisionTreeRegressor
        The base estimator that the ensemble is made of clones of.

    {X}

    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Targets; classes as codes.

    n_jobs : int or None
        The number of threads.

    verbose : int
        How much to tell.

    factors : ndarray of shape (n_samples,) or callable, default=None
        The weights of the classes of the rows, or a function of the weights of the rows that
        returns them.

    reader : object, default=None
        Who reads the samples.

    random_order : bool, default=False
        Whether chance decides between equal splits.
    """

    def __init__(
        self, template, X, y, *, n_jobs, verbose, factors=None, reader=None, random_order=False
    ):
        self.template, self.verbose, self.factors = template, verbose, factors
        self.random_order, self.n_jobs = random_order, n_jobs
        self.n_threads = effective_n_jobs(n_jobs)
        training_set = shared_training_set(template, X, reader=reader, n_threads=self.n_threads)
        self.trees = SharedTrees(template, training_set, y)
        self.X, self.reader = training_set.X, training_set.reader

    def fit(self, resampling, seeds, features):
        """Yield fitted trees, in the order of their seeds."""
        if not shares_memory():
            yield from self._fit_elsewhere(resampling, seeds, features)
            return
        # Threads that have no tree of their own help with those of others.
        within = max(1, self.n_threads // len(seeds))
        narrator = Narrator(self.verbose, self.n_threads, len(seeds))

        def grow(number, over=None):
            narrator.begin(f"building tree {number + 1} of {len(seeds)}")
            how = {"n_threads": within, "watch": over and (lambda done: over())}
            return self._grow(resampling, seeds[number], features[number], **how)

        if self.n_threads == 1:
            yield from map(grow, range(len(seeds)))
        else:
            yield from in_order(grow, range(len(seeds)), min(self.n_threads, len(seeds)))
        narrator.end(len(seeds))

    def _grow(self, resampling, seed, features, **how):
        """Return a fitted tree."""
        weight = resampling.counts(seed)
        return self.trees.fit(
            make_base_estimator(self.template, seed),
            weight,
            factors=self.factors(weight) if callable(self.factors) else self.factors,
            features=None if is_all(features, self.X) else features,
            random_order=self.random_order,
            **how,
        )

    def _fit_elsewhere(self, resampling, seeds, features):
        """Yield fitted trees, grown by the processes or machines that the user chose."""
        how = {"n_jobs": self.n_jobs, "verbose": self.verbose, "prefer": "threads"}
        items = [(resampling, *pair) for pair in zip(seeds, features, strict=True)]
        return in_turn(self._grow, items, **how)


class ResampledEstimators:
    """The training set of base estimators that know nothing of each other.

    They are handed the distinct rows, in the order of their content, so that it makes no
    difference to them either where a row stands, or whether it is repeated or weighted.

    Parameters
    ----------
    template : estimator
        The base estimator that the ensemble is made of clones of.

    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Samples.

    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Targets; classes as codes.

    n_jobs : int or None
        The number of jobs.

    verbose : int
        How much to tell.

    fit_params : dict
        What else the base estimators are fitted with.
    """

    reader = None

    def __init__(self, template, X, y, *, n_jobs, verbose, fit_params):
        self.template, self.X, self.y = template, X, y
        self.n_jobs, self.verbose, self.fit_params = n_jobs, verbose, fit_params

    def fit(self, resampling, seeds, features):
        """Yield fitted base estimators, in the order of their seeds."""
        X, y, params, gather = self._distinct(resampling)
        takes_weight = consumes_weight(self.template)

        def tasks():
            for number, (seed, columns) in enumerate(zip(seeds, features, strict=True)):
                line = f"Building estimator {number + 1} of {len(seeds)}..."
                estimator = make_base_estimator(self.template, seed)
                weight = gather(resampling.counts(seed))
                columns = None if is_all(columns, X) else columns
                line = line if self.verbose > 1 else None
                yield estimator, X, y, weight, columns, takes_weight, params, line

        yield from in_turn(fit_resampled, tasks(), n_jobs=self.n_jobs, verbose=self.verbose)

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
        X = X[rows].asformat(self.X.format) if sp.issparse(X) else X[rows]
        return X, self.y[rows], params, gather


def is_all(columns, X):
    """Return whether these are all columns of a matrix, in their order."""
    return np.array_equal(columns, np.arange(X.shape[1]))


def features_of(X, columns):
    """Return these columns of a matrix, itself if they are all of them."""
    if is_all(columns, X):
        return X
    return X[:, columns] if sp.issparse(X) else np.ascontiguousarray(X[:, columns])


def rows_of(values, rows):
    """Return some rows of an array, a matrix, a frame or a list."""
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if sp.issparse(values):
        return values.tocsr()[rows].asformat(values.format)
    return values[rows] if hasattr(values, "shape") else [values[row] for row in rows]


def is_per_row(value, n_rows):
    """Return whether a parameter has an entry for each row."""
    return np.ndim(value) > 0 and len(value) == n_rows


def consumes_weight(estimator):
    """Return whether an estimator takes weights; with routing, whether it asks for them."""
    if sklearn.get_config()["enable_metadata_routing"]:
        return bool(get_routing_for_object(estimator).consumes("fit", ("sample_weight",)))
    return has_fit_parameter(estimator, "sample_weight")


def fit_resampled(estimator, X, y, weight, columns, takes_weight, params, line):
    """Fit to some columns of weighted rows, which are repeated if it takes no weights."""
    if line is not None:
        print(line)
    if columns is not None:
        X = X[:, columns]
    if weight is None or takes_weight:
        weighted = {} if weight is None else {"sample_weight": weight}
        estimator.fit(X, y, **weighted, **params)
        return estimator  # its fit may return something else
    if np.any(weight != np.rint(weight)):
        raise ValueError(
            f"sample_weight must be integers if estimator is a {type(estimator).__name__}, whose "
            "fit takes no weights: use bootstrap=True, which draws rows by their weights."
        )
    row_bytes = 0 if sp.issparse(X) else X.itemsize * X.shape[1]
    rows = repeated(np.arange(len(weight)), weight, row_bytes)
    params = {
        name: rows_of(value, rows) if is_per_row(value, len(weight)) else value
        for name, value in params.items()
    }
    estimator.fit(X[rows], y[rows], **params)
    return estimator
