"""Growing a tree: its rules as numbers, the compiled workers, and the threads that share the work.

From the top: :func:`fit_alone` and :func:`fit_tree` fit an estimator, :func:`grow` returns a tree,
:func:`grow_nodes` lets compiled workers find its nodes.
"""

import math
import threading
from collections import namedtuple
from contextlib import nullcontext
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state

from sklearn_sl._sklearn import Progress
from sklearn_sl._threads import Helpers
from sklearn_sl.tree import _cart
from sklearn_sl.tree._monotonic import monotonic_signs
from sklearn_sl.tree._training_set import threads_for
from sklearn_sl.tree._tree import make_tree

CRITERIA = {
    "gini": 0,
    "squared_error": 0,
    "entropy": 1,
    "log_loss": 1,
    "poisson": 2,
    "absolute_error": 3,
}
# Cells that a worker looks at before it comes back: some hundredths of a second.
SLICE = 4e6
# Nodes of more cells are shared out by features among threads, ...
SHARED = 5e5
# ... which come back so often, in case another one has run out of nodes.
SHORT_SLICE = 2e5
# What it costs to look at a cell, if it is not a sum alone; more if weights differ much.
CELL_COST = {"poisson": 4, "absolute_error": 20}
UNEVEN = 3
# What it costs to sort a column of a node, in columns that are kept sorted.
SORTING = 6
NO_LIMIT = 2**31 - 1
NO_RANKS, NO_SHORT_RANKS = np.empty((0, 0), np.uint32), np.empty((0, 0), np.uint16)
# Where the mean weight is at most so many times the least one, medians move by few rows at a time.
EVEN = 16
# Integer weights up to so many times their number count as numbers of rows.
MOST_COUNTS = 8
# Integer weights up to this sum are taken as they are: sums of targets stay exact.
MOST_REPETITIONS = 2**40


@dataclass(frozen=True)
class Rules:
    """What decides where a tree is split and where it ends: parameters of a tree, and two more.

    ``monotonic`` are the signs of the constraints of all features, none if there are none.
    ``random_order``: chance decides between equal splits, not the order of the features.
    ``count_weight``: the least numbers of samples count them by their weights, which are integers,
    as where weights stand for samples that were drawn several times.
    """

    criterion: str
    splitter: str
    max_depth: int | None
    min_samples_split: int | float
    min_samples_leaf: int | float
    min_weight_fraction_leaf: float
    max_features: int
    max_leaf_nodes: int | None
    min_impurity_decrease: float
    competitors: int
    surrogates: int
    risk: str
    monotonic: tuple
    random_order: bool
    count_weight: bool

    def sorts_on_demand(self, n_features):
        """Return whether it is faster to sort what a node looks at than to keep all sorted."""
        return not self.surrogates and SORTING * self.max_features < n_features

    def draws(self, n_features):
        """Return whether anything is random."""
        return self.splitter == "random" or self.max_features < n_features or self.random_order

    def limits(self, n_samples, total_weight, n_features):
        """Return the same for a training set of this size, as numbers."""
        if self.count_weight:
            n_samples = total_weight
        min_leaf, min_split = (
            value if isinstance(value, Integral) else math.ceil(value * n_samples)
            for value in (self.min_samples_leaf, self.min_samples_split)
        )
        min_weights = self.min_weight_fraction_leaf * total_weight, 0.0
        if self.count_weight:
            min_weights = max(min_weights[0], float(min_leaf)), float(min_split)
            min_leaf, min_split = 1, 2
        return Limits(
            criterion=CRITERIA[self.criterion],
            random_thresholds=self.splitter == "random",
            random_order=self.random_order,
            best_first=self.max_leaf_nodes is not None,
            max_depth=NO_LIMIT if self.max_depth is None else self.max_depth,
            min_samples_split=max(2, min_split, 2 * min_leaf),
            min_samples_leaf=min_leaf,
            min_weight_leaf=min_weights[0],
            min_weight_split=min_weights[1],
            max_features=min(self.max_features, n_features),
            max_leaf_nodes=self.max_leaf_nodes or 0,
            min_impurity_decrease=self.min_impurity_decrease,
            competitors=self.competitors,
            surrogates=self.surrogates,
            monotonic=np.array(self.monotonic, dtype=np.int8),
        )


def rules_of(tree, training_set, target, *, random_order=False, count_weight=False):
    """Return the rules that the parameters of a tree stand for, with this training set."""
    n_features = training_set.X.shape[1]
    return Rules(
        criterion=tree.criterion,
        splitter=tree.splitter,
        max_depth=tree.max_depth,
        min_samples_split=tree.min_samples_split,
        min_samples_leaf=tree.min_samples_leaf,
        min_weight_fraction_leaf=tree.min_weight_fraction_leaf,
        max_features=count_features(tree.max_features, n_features),
        max_leaf_nodes=tree.max_leaf_nodes,
        min_impurity_decrease=tree.min_impurity_decrease,
        competitors=tree.competitors,
        surrogates=tree.surrogates,
        risk=getattr(tree, "risk", "impurity"),  # which regression trees have no choice of
        monotonic=monotonic_signs(tree, training_set, target),
        random_order=random_order,
        count_weight=count_weight,
    )


def count_features(max_features, n_features):
    """Return how many features a node looks at."""
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return max(1, int(np.sqrt(n_features)))
    if max_features == "log2":
        return max(1, int(np.log2(n_features)))
    if isinstance(max_features, Integral):
        return max_features
    return max(1, int(max_features * n_features))


def draw_seed(rules, random_state, n_features):
    """Return the number that all random choices of a fit follow from, those of folds too."""
    if not rules.draws(n_features):
        return 0
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


# The rules as the compiled workers read them: numbers alone.
Limits = namedtuple(
    "Limits",
    "criterion random_thresholds random_order best_first max_depth min_samples_split "
    "min_samples_leaf min_weight_split min_weight_leaf max_features max_leaf_nodes "
    "min_impurity_decrease competitors surrogates monotonic",
)


# ---------------------------------------------------------------- growing


def fit_alone(estimator, training_set, target):
    """Fit a tree to a training set that nobody needs afterwards."""
    rules = rules_of(estimator, training_set, target)
    seed = draw_seed(rules, estimator.random_state, training_set.X.shape[1])
    tree = grow_with_callbacks(estimator, training_set, target, rules, seed, reuse=True)
    return keep_tree(estimator, training_set, target, tree)


def fit_tree(estimator, training_set, target, *, random_order=False, count_weight=False, **how):
    """Fit a tree to a training set that it shares with others; ``how`` is for :func:`grow`."""
    n_features = training_set.X.shape[1]
    rules = rules_of(
        estimator, training_set, target, random_order=random_order, count_weight=count_weight
    )
    seed = draw_seed(rules, estimator.random_state, n_features)
    tree = grow(training_set, target, rules, seed, **how)
    return keep_tree(estimator, training_set, target, tree)


def keep_tree(estimator, training_set, target, tree):
    """Set the fitted attributes of an estimator: its tree, pruned, and what it has learned."""
    vars(estimator).update(training_set.learned)
    vars(estimator).update(target.learned)
    estimator._saw_missing = bool(training_set.has_missing)
    estimator.max_features_ = count_features(estimator.max_features, tree.n_features)
    price = getattr(estimator, "ccp_alpha", 0.0)
    estimator.tree_ = tree.prune(price) if price > 0 else tree
    return estimator


def grow_with_callbacks(estimator, training_set, target, rules, seed, *, reuse=False):
    """Return a tree, grown by as many threads as the estimator may use, as its callbacks watch."""
    with Progress(estimator, name="slice", total=None) as progress:

        def watch(done):
            with progress.step({"share_of_samples_in_leaves": done}):
                pass
            return progress.stop

        n_threads = threads_for(estimator.n_jobs, np.prod(training_set.X.shape))
        return grow(
            training_set, target, rules, seed, n_threads=n_threads, watch=watch, reuse=reuse
        )


def grow(
    training_set,
    target,
    rules,
    seed=0,
    *,
    times=None,
    n_samples=None,
    n_threads=1,
    watch=None,
    reuse=False,
):
    """Return a tree with its risks.

    Parameters
    ----------
    training_set : TrainingSet
        The samples, in sorted columns.

    target : Target
        Targets, and how the rows count.

    rules : Rules
        Where to split, and where to end.

    seed : int, default=0
        What all random choices follow from.

    times : ndarray of shape (n_samples,), default=None
        How often each row counts; None is once.

    n_samples : int, default=None
        How many samples the shares among the rules are shares of; None is those of positive weight.

    n_threads : int, default=1
        The threads that grow the tree.

    watch : callable, default=None
        ``watch(done)`` is told the share of the rows that have reached their leaf, from time to
        time; if it returns true, the nodes at hand are leaves.

    reuse : bool, default=False
        Whether the cells of the training set may be used up.
    """
    weight, own, share = target.weight, target.own, 1.0
    n_features = training_set.X.shape[1]
    if times is not None:
        weight, own = (times * (1.0 if part is None else part) for part in (weight, own))
        share = np.average(times, weights=target.own)
    ordered = rules.criterion == "absolute_error"
    field = Field(
        training_set,
        target.values,
        target.n_classes,
        weight,
        own_weight=own,
        entropy=CRITERIA[rules.criterion] == CRITERIA["entropy"],
        ordered=ordered,
        cell_cost=CELL_COST.get(rules.criterion, 1),
        reuse=reuse,
        on_demand=rules.sorts_on_demand(n_features),
        whole_columns=rules.surrogates > 0 or ordered or any(rules.monotonic),
    )
    limits = rules.limits(n_samples or len(field.rows), field.total_weight, n_features)
    grown = grow_nodes(field, limits, seed=seed, n_threads=n_threads, watch=watch)
    return make_tree(
        grown,
        field,
        target,
        rules,
        preorder=not limits.best_first,
        mass=share * target.mass,
    )


class Field:
    """The arrays that the workers share, for the rows of positive weight.

    Parameters
    ----------
    columns : TrainingSet
        The features.

    target : ndarray of shape (n_samples, n_outputs)
        Targets, or classes as codes.

    n_classes : ndarray of shape (n_outputs,) or None
        The number of classes of each output; None for a regression.

    weight : ndarray of shape (n_samples,) or None
        Weights of the rows.

    own_weight : ndarray of shape (n_samples,) or None, default=None
        Weights that do not depend on the classes, for surrogates.

    entropy : bool, default=False
        Whether logarithms will be needed.

    ordered : bool, default=False
        Whether the order of the targets will be needed.

    cell_cost : int, default=1
        What it costs to look at a cell, in sums.

    reuse : bool, default=False
        Whether the cells of ``columns`` may be destroyed.

    on_demand : bool, default=False
        Whether nodes sort the columns that they look at, instead of keeping all columns sorted.

    whole_columns : bool, default=False
        Whether the cells of a sparse column must be listed with those of its zeros.
    """

    def __init__(
        self,
        columns,
        target,
        n_classes,
        weight,
        *,
        own_weight=None,
        entropy=False,
        ordered=False,
        cell_cost=1,
        reuse=False,
        on_demand=False,
        whole_columns=False,
    ):
        n_samples, n_features = columns.X.shape
        rows = np.arange(n_samples) if weight is None else np.flatnonzero(weight)
        if not len(rows):
            raise ValueError(
                "The training samples of a tree must have a positive weight, but all of them are "
                "zero: change sample_weight, class_weight or cv."
            )
        self.rows = rows.astype(np.int32)
        self.cells = np.empty((0, 0), dtype=np.uint64)
        self.ranks, self.short_ranks = NO_RANKS, NO_SHORT_RANKS
        self.on_demand = on_demand or columns.entries is not None
        self.X, self.entries = columns.X, columns.entries
        self.needs_whole_columns = whole_columns
        if columns.entries is not None:
            self.X = np.empty((0, n_features))
            self.position = np.full(n_samples, -1, dtype=np.int32)
            self.position[rows] = np.arange(len(rows))
        elif on_demand and columns.ranks.dtype == np.uint16:
            self.short_ranks = columns.ranks
        elif on_demand:
            self.ranks = columns.ranks
        else:
            whole = len(rows) == n_samples
            self.cells = columns.cells if reuse and whole else columns.cells_of(rows)
        self.n_categories = columns.n_categories
        self.weight_unit = 1.0 if weight is None else unit_of(weight)
        self.weight = np.empty(0) if weight is None else weight / self.weight_unit
        self.own_weight = np.empty(0) if own_weight is None else own_weight
        self.n_outputs = target.shape[1]
        self.y, self.codes = np.empty((0, 1)), np.empty((0, 1), dtype=np.int32)
        if n_classes is None:
            self.y = np.ascontiguousarray(target, dtype=np.float64)
            self.first_channel = np.arange(self.n_outputs + 1, dtype=np.int32)
        else:
            self.codes = np.ascontiguousarray(target, dtype=np.int32)
            self.first_channel = np.concatenate([[0], np.cumsum(n_classes)]).astype(np.int32)
        self.n_channels = int(self.first_channel[-1])
        self.total_weight = float(len(rows) if weight is None else self.weight.sum())
        self.y_ranks, self.even, self.cell_cost = NO_RANKS, True, cell_cost
        if ordered:
            self.y_ranks = np.array(
                [np.unique(column, return_inverse=True)[1] for column in self.y.T], dtype=np.uint32
            )
            self.even = weight is None or bool(
                self.total_weight <= EVEN * len(rows) * self.weight[rows].min()
            )
            self.cell_cost *= 1 if self.even else UNEVEN
        integers = weight is None or np.all(self.weight == np.rint(self.weight))
        # Whether the masses of classes are integers, and not much larger than their number.
        self.counted = bool(
            n_classes is not None and integers and self.total_weight <= MOST_COUNTS * len(rows)
        )
        self.x_log_x = np.empty(0)
        if entropy and self.counted:
            x = np.arange(int(self.total_weight) + 1)
            self.x_log_x = x * np.log(np.maximum(x, 1))

    @property
    def column_cost(self):
        """How many cells a column has, on average."""
        n_rows, n_features = len(self.rows), self.X.shape[1]
        if self.entries is None or self.needs_whole_columns:
            return n_rows * self.cell_cost
        return 1 + len(self.entries.cells) / n_features

    def cost(self, n_columns):
        """Return how many cells the work on the root looks at, with so many columns if sorted."""
        if not self.on_demand:
            n_columns = self.X.shape[1]
        return self.column_cost * n_columns


def unit_of(weight):
    """Return the power of two by which weights are divided, so that they are about one.

    Integers, unless they are huge, count repetitions, and have the unit one.
    """
    if np.all(weight == np.rint(weight)) and weight.sum() < MOST_REPETITIONS:
        return 1.0
    return 2.0 ** (np.frexp(weight.max())[1] - 1)


Grown = namedtuple("Grown", "nodes values splits competitors surrogates subsets")


def grow_nodes(field, limits, *, seed=0, n_threads=1, watch=None):
    """Return what the workers found, nodes in the order of their numbers."""
    if field.cost(limits.max_features) < SHARED:
        n_threads = 1
    with Helpers(n_threads - 1) if n_threads > 1 else nullcontext(()) as helpers:
        workers = [_cart.Worker(field, limits, number) for number in range(1 + len(helpers))]
        workers[0].plant(seed)
        crew = Crew(workers, helpers, watch or (lambda done: False), field)
        crew.grow_large(limits.best_first)
        crew.grow_small()
    return gather([worker.results() for worker in workers])


class Crew:
    """Workers, each in a thread: large nodes are shared by features, small ones by subtrees.

    The first worker is the calling thread's, the others are the helpers'.
    """

    def __init__(self, workers, helpers, watch, field):
        self.workers, self.helpers = workers, helpers
        self.watch, self.n_rows, self.over = watch, len(field.rows), False
        self.column_cost = field.column_cost
        self.large = SHARED if len(workers) > 1 else SLICE

    def _tell(self):
        self.over = self.watch(sum(worker.rows_done for worker in self.workers) / self.n_rows)
        return self.over

    def _together(self, work, items):
        """Return ``work(worker, part)`` of all workers on equal parts of the items."""
        if not len(self.helpers):
            return [work(self.workers[0], items)]
        parts = np.array_split(items, len(self.workers))
        others = [
            self.helpers.submit(work, worker, part)
            for worker, part in zip(self.workers[1:], parts[1:], strict=True)
        ]
        return [work(self.workers[0], parts[0]), *(other.result() for other in others)]

    def grow_large(self, everything):
        """Grow while there are nodes worth sharing, or all nodes if ``everything``."""
        first = self.workers[0]
        while everything and not self.over:
            status = first.run(SLICE, self.large)
            if status == 0:
                return
            if status == 2:
                self._grow_one(first.top())
            self._tell()
        while first.n_pending and not self.over:
            if first.raise_largest() <= self.large:
                return
            self._grow_one(first.top())
            self._tell()

    def _grow_one(self, found):
        """Grow one node: look at its features side by side, then partition them side by side."""
        first = self.workers[0]
        if found is None:
            is_open, node, fate, split = first.begin()
        else:
            number, node = found
            splits = self._slices(
                lambda worker, part: worker.consider(number, node, part), first.chosen_features()
            )
            is_open, node, fate, split = first.begin(best_of(splits))
        if not is_open:
            return

        def partition(worker, part):
            if len(part):
                worker.partition(node, split, fate, part[0], part[-1] + 1)

        self._slices(partition, np.arange(first.n_partitioned, dtype=np.int32))
        first.finish(node)

    def _slices(self, work, features):
        """Work on all features, so many at a time that Ctrl-C is heard."""
        answers = []
        at_once = max(1, int(SLICE * len(self.workers) / max(self.column_cost, 1)))
        for begin in range(0, len(features), at_once):
            answers += self._together(work, features[begin : begin + at_once])
        return answers

    def grow_small(self):
        """Grow the subtrees of all pending nodes."""
        first = self.workers[0]
        if self.over or first.n_pending == 0:
            return
        if not len(self.helpers):
            while first.run(SLICE, np.inf) != 0 and not self._tell():
                pass
            return
        queue = Queue(len(self.workers))
        for _ in range(first.n_pending):
            queue.put(first.give())
        others = [self.helpers.submit(queue.work, worker) for worker in self.workers[1:]]
        try:
            queue.work(first, self._tell)
        finally:
            queue.close()
            for other in others:
                other.result()


class Queue:
    """Nodes that wait for a worker."""

    def __init__(self, n_workers):
        self._nodes, self._idle, self._n_workers = [], 0, n_workers
        self._change, self._closed = threading.Condition(), False

    def put(self, node):
        with self._change:
            self._nodes.append(node)
            self._change.notify()

    def close(self):
        """Let the workers stop after the slice that they are at."""
        with self._change:
            self._closed = True
            self._change.notify_all()

    def _next(self):
        """Wait for a node; return None when all workers wait, or nobody shall go on."""
        with self._change:
            self._idle += 1
            while not self._nodes and not self._closed:
                if self._idle == self._n_workers:
                    self._closed = True
                    self._change.notify_all()
                    return None
                self._change.wait(0.1)
            if self._closed:
                return None
            self._idle -= 1
            return self._nodes.pop(0)

    def work(self, worker, tell=None):
        """Grow nodes until there are none; an error lets the other workers stop, too."""
        try:
            self._grow_nodes(worker, tell)
        except BaseException:
            self.close()
            raise

    def _grow_nodes(self, worker, tell):
        while (node := self._next()) is not None:
            worker.take(*node)
            while worker.run(SHORT_SLICE, np.inf) != 0:
                if self._closed:
                    return
                if self._idle and not self._nodes and worker.n_pending > 1:
                    self.put(worker.give())
                if tell and tell():
                    self.close()


def best_of(splits):
    """Return the split that gains most, the first among equals."""
    found = np.concatenate(splits)
    best = int(np.argmax(found["gain"]))
    return found[best : best + 1].copy()


def gather(results):
    """Return the results of all workers as one, with nodes numbered from zero."""
    if len(results) == 1:
        return Grown(*results[0])
    nodes, values, splits, competitors, surrogates, subsets = zip(*results, strict=True)
    offset = np.cumsum([0] + [len(part) for part in nodes])[:-1]
    subset_offset = np.cumsum([0] + [len(part) for part in subsets])[:-1]

    def moved(parts, names):
        copies = [part.copy() for part in parts]
        for copy, start in zip(copies, subset_offset, strict=True):
            copy["subset"] += np.where(copy["subset"] >= 0, start, 0)
        whole = np.concatenate(copies)
        for name in names:
            number = whole[name]
            whole[name] = offset[number >> 40] + (number & (2**40 - 1))
        return whole

    return Grown(
        np.concatenate(nodes),
        np.concatenate(values),
        moved(splits, ("node", "left", "right")),
        moved(competitors, ("node",)),
        moved(surrogates, ("node",)),
        np.concatenate(subsets),
    )
