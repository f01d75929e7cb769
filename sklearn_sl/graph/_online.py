"""Labels of vertices learned one by one: interpolation of least energy, trial by trial."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from scipy.cluster.hierarchy import linkage
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._laplacians._adjacency import as_graph, degrees, edge_list, find_components
from sklearn_sl._laplacians._conjugate_gradients import ScaledMatrix
from sklearn_sl._laplacians._factor import Factor, Limits, pattern_within
from sklearn_sl._sklearn import HasMethods, StrOptions, fit_context
from sklearn_sl._state import CheckedState, check_entries, check_number, check_shape, check_sparse
from sklearn_sl._validation import validate_data
from sklearn_sl._warnings import warn
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.graph._build import GraphBuilder, read_samples
from sklearn_sl.graph._vertices import GraphMixin
from sklearn_sl.online._parameters import stream_context
from sklearn_sl.online._protocol import OnlineClassifierMixin
from sklearn_sl.online._trials import fit_once
from sklearn_sl.theory._graphs import graph_cover_bound

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike

# Labels that are kept as equations; then the system of the vertices without a label is made anew.
BLOCK = 96
# Decimals of the interpolant that decide; rounding errors are in later ones.
DIGITS = 10
# Systems of so many vertices are factored in a moment, whatever the graph.
FEW_VERTICES = 2000
# So are those with hardly more ends of edges than a tree has, two for each vertex.
TREE_ENDS = 2.5
# Others are looked at if they have no more ends of edges than these, and factored if it takes no
# more multiplications: less than a second.
MANY_ENDS, MUCH_WORK = 200_000, 2e10
# What is lost when degrees are rounded, added to the diagonal: no system is singular.
ROUNDING = 2.0**-50
# More than this is added by no means.
MOST_LEAK = 1e-6
# A variance that is so much less than without the block has lost digits: the block is settled.
LOST = 1e-6
# Residual of a column by conjugate gradients, relative to the first one.
RESIDUAL = np.array([1e-13])
# More vertices than these are not certified by ``fit``: their resistances take long.
MANY_ASKED = 1000
# Resistances may be wrong by so many times what the addition to the diagonal does to them.
SLACK = 8
# Weights are no smaller relative to the largest one, so that nothing falls apart by underflow.
LIGHTEST = 1e-250
# Stands for resistances that are too large to be found, and limits the others.
ENDLESS = 1e150
NEW, SETTLED = -1, -2


# ---------------------------------------------------------------- systems


def relative_weights(W):
    """Return the weights of a graph relative to the largest one: only ratios matter."""
    relative = sp.csr_array(W, copy=True)
    relative.data = np.maximum(W.data / W.data.max(initial=0.0), LIGHTEST)
    return relative


class Grounded(CheckedState):
    """The equations ``L x = b`` at the ``free`` vertices of a graph, zero at all others.

    ``solver`` is "lu", "cg", or "auto", which becomes one of these. Factors are made when they are
    needed, and not pickled.
    """

    def __init__(self, W, free, solver):
        self.free = free
        self.within = W if len(free) == W.shape[0] else W[free][:, free]
        self.degree = degrees(W)[free]
        self.solver, self.leak, self._factor = solver, ROUNDING, None
        if solver == "auto":
            self.solver = "lu" if self._is_easy() else "cg"

    def __getstate__(self):
        return {**vars(self), "_factor": None}

    def _check_state(self):
        n = len(check_shape(self, "free", (None,), np.intp))
        check_sparse(self, "within", (n, n))
        check_shape(self, "degree", (n,))

    def _is_easy(self):
        """Return whether a factor is had in a moment."""
        n, n_ends = len(self.free), self.within.nnz
        if n <= FEW_VERTICES or n_ends <= TREE_ENDS * n:
            return True
        return n_ends <= MANY_ENDS and bool(pattern_within(self._matrix(), Limits(work=MUCH_WORK)))

    def _matrix(self):
        return sp.csr_array(sp.diags_array(self.degree * (1 + self.leak)) - self.within)

    def solve(self, b):
        """Return the solution for the right-hand sides in the columns of ``b``, at all vertices."""
        x = np.zeros_like(b)
        if not len(self.free):
            return x
        if self._factor is None:
            self._factor = self._factored() if self.solver == "lu" else self._scaled()
        b = np.ascontiguousarray(b[self.free])
        x[self.free] = self._factor.solve(b) if self.solver == "lu" else self._iterate(b)
        return x

    def _factored(self):
        """Return the Cholesky factor, with as little on the diagonal as rounding asks for."""
        while True:
            try:
                return Factor(self._matrix())
            except ValueError:
                if self.leak > MOST_LEAK:
                    raise
                self.leak *= 16

    def _scaled(self):
        return ScaledMatrix(self.within, self.degree * (1 + self.leak))

    def _iterate(self, b):
        """Return the solution by conjugate gradients."""
        x = np.empty_like(b)
        for k in range(b.shape[1]):
            side = b[:, [k]]
            found, _, converged = self._factor.solve(
                side, np.zeros_like(side), RESIDUAL, 10 * len(b) + 100
            )
            x[:, k] = found[:, 0]
            if not converged:
                warn(
                    "Conjugate gradients did not converge: the edge weights of the graph differ "
                    'too much. Use solver="lu".',
                    ConvergenceWarning,
                )
        return x


# ---------------------------------------------------------------- the interpolant


class Component(CheckedState):
    """The interpolant on a connected graph, from its first label on.

    Labels that are settled are boundary values: ``base`` is the interpolant of these alone, and
    ``system`` the equations at all other vertices. For the vertices of a later label, the block,
    with the Green's function ``G`` of the system, the rows of ``whiten`` are the inverse of the
    Cholesky factor of ``G`` among them: a new vertex ``v`` with ``c = whiten G(block, v)`` has the
    value ``base(v) + c.coef``, and the variance ``G(v, v) - c.c`` given the block. A full block is
    settled.
    """

    def __init__(self, W, solver, vertex, label):
        self.W = relative_weights(W)
        self.degree = degrees(self.W)
        self.solver = solver
        self.base = np.tile(label, (W.shape[0], 1))
        self.place = np.full(W.shape[0], NEW)
        self.place[vertex] = SETTLED
        self.consistent = True
        self._begin_block()

    def _begin_block(self):
        free = np.flatnonzero(self.place != SETTLED)
        self.system = Grounded(self.W, free, self.solver)
        self.solver = self.system.solver  # looked at once
        # Digits that iterations lack would be lost in a block, and nothing is gained by it.
        room = min(BLOCK if self.solver == "lu" else 1, len(free))
        self.size = 0
        self.block = np.empty(room, dtype=np.intp)
        self.labels = np.empty((room, self.base.shape[1]))
        self.coef = np.empty_like(self.labels)
        self.whiten = np.zeros((room, room))

    def _check_state(self):
        n = self.W.shape[0]
        check_sparse(self, "W", (n, n))
        check_shape(self, "place", (n,), np.int64)
        check_entries(self.system.free, "free", 0, n - 1)
        size = check_number(self, "size", 0, len(self.block))
        check_entries(self.block[:size], "block", 0, n - 1)

    def copy(self):
        """Return a copy; what never changes is shared."""
        other = object.__new__(Component)
        vars(other).update(vars(self))
        for name in ("base", "place", "block", "labels", "coef", "whiten"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def trial(self, vertex, label):
        """Return the value of a vertex, and learn its label."""
        place = self.place[vertex]
        if place == NEW:
            return self._meet(vertex, label)
        known = self.base[vertex] if place == SETTLED else self.labels[place]
        answer = known.copy()
        if np.any(answer != label):
            self._change(vertex, label)
        return answer

    def _meet(self, vertex, label):
        """Return the value of a new vertex, and add it to the block."""
        green = self._green(vertex)
        c = self.whiten[: self.size, : self.size] @ green[self.block[: self.size]]
        if green[vertex] - c @ c < LOST * green[vertex]:
            self._settle()
            green, c = self._green(vertex), np.empty(0)
        size = self.size
        value = np.clip(self.base[vertex] + c @ self.coef[:size], -1.0, 1.0)
        # Given all other vertices the variance is one over the degree, given some it is larger.
        pivot = np.sqrt(max(green[vertex] - c @ c, 1 / self.degree[vertex]))
        self.whiten[size, :size] = (c @ self.whiten[:size, :size]) / -pivot
        self.whiten[size, size] = 1 / pivot
        self.block[size], self.labels[size] = vertex, label
        self.coef[size] = (label - value) / pivot
        self.place[vertex] = size
        self.size += 1
        if self.size == len(self.block):
            self._settle(green if size == 0 else None)
        return value

    def _green(self, vertex):
        """Return the Green's function of the system between a vertex and all others."""
        unit = np.zeros((len(self.place), 1))
        unit[vertex] = 1.0
        return self.system.solve(unit)[:, 0]

    def _settle(self, green=None):
        """Let the labels of the block be boundary values, and begin a new one.

        ``green`` is the Green's function of the only vertex in the block, if it is known.
        """
        self.base = self.values(green)
        self.place[self.block[: self.size]] = SETTLED
        self._begin_block()

    def _change(self, vertex, label):
        """Let a vertex have another label than before."""
        self.consistent = False
        if self.place[vertex] == SETTLED:
            column = self.W[[vertex]].toarray().T
            share = self.system.solve(column)
            self.base += share * (label - self.base[vertex])
            self.base[vertex] = label
        else:
            self.labels[self.place[vertex]] = label
        size = self.size
        rest = self.labels[:size] - self.base[self.block[:size]]
        self.coef[:size] = self.whiten[:size, :size] @ rest

    def values(self, green=None):
        """Return the interpolant at all vertices; ``green`` as in ``_settle``."""
        if not self.size:
            return self.base.copy()
        block = self.block[: self.size]
        currents = self.whiten[: self.size, : self.size].T @ self.coef[: self.size]
        if green is None:
            sides = np.zeros_like(self.base)
            sides[block] = currents
            change = self.system.solve(sides)
        else:
            change = green[:, None] * currents
        values = np.clip(self.base + change, -1.0, 1.0)
        values[block] = self.labels[: self.size]
        return values

    def asked(self):
        """Return the vertices that have a label."""
        return np.flatnonzero(self.place != NEW)


def with_ties(values):
    """Return values between -1 and 1 without the digits that rounding errors may have changed."""
    return np.round(values, DIGITS) + 0.0  # no negative zero


class Interpolant(CheckedState):
    """The interpolant on any graph: zero where no label has been met in the component."""

    def __init__(self, W, n_columns, solver):
        self.W, self.n_columns, self.solver = W, n_columns, solver
        self.component = find_components(W)[1]
        self.order = np.argsort(self.component, kind="stable")
        self.start = np.append(0, np.cumsum(np.bincount(self.component)))
        self.local = np.empty_like(self.order)
        self.local[self.order] = np.arange(len(self.order))
        self.local -= self.start[self.component]
        self.parts = {}
        self.fresh = set()

    def _check_state(self):
        n = self.W.shape[0]
        check_sparse(self, "W", (n, n))
        for name in ("order", "local", "component"):
            check_entries(getattr(self, name), name, 0, n - 1)

    def copy(self):
        """Return a copy; components are copied when they are to be changed."""
        other = object.__new__(Interpolant)
        vars(other).update(vars(self), parts=dict(self.parts), fresh=set())
        return other

    def trial(self, vertex, label):
        """Return the value of a vertex, and learn its label."""
        number, local = int(self.component[vertex]), self.local[vertex]
        if number not in self.parts:
            self.parts[number] = Component(self.within(number), self.solver, local, label)
            self.fresh.add(number)
            return np.zeros(self.n_columns)
        if number not in self.fresh:
            self.parts[number] = self.parts[number].copy()
            self.fresh.add(number)
        return self.parts[number].trial(local, label)

    def members(self, number):
        """Return the vertices of a component."""
        return self.order[self.start[number] : self.start[number + 1]]

    def within(self, number):
        """Return the graph of a component."""
        members = self.members(number)
        return self.W if len(members) == self.W.shape[0] else self.W[members][:, members]

    def values(self):
        """Return the interpolant at all vertices."""
        values = np.zeros((self.W.shape[0], self.n_columns))
        for number, part in self.parts.items():
            values[self.members(number)] = part.values()
        return values

    def energy(self):
        """Return the energy of the interpolant, relative to the largest weight."""
        rows, cols, weights = edge_list(self.W)
        values = self.values()
        relative = weights / weights.max(initial=0.0)
        return float(relative @ np.sum((values[rows] - values[cols]) ** 2, axis=1))

    def is_consistent(self):
        """Return whether no vertex has had two different labels."""
        return all(part.consistent for part in self.parts.values())

    def diameters(self):
        """Return the number of vertices with a label, and the diameters at which they merge.

        Of all vertices with a label those sets are united whose union has the least diameter by
        effective resistance (complete linkage): so many sets as there are vertices less diameters
        up to ``rho`` cover them all, and none has a diameter above ``rho``. Diameters are relative
        to the resistance of the heaviest edge; those that are too large to be known are left out.
        """
        n_asked, heights = 0, [np.empty(0)]
        for number, part in self.parts.items():
            asked = part.asked()
            n_asked += len(asked)
            if len(asked) > 1:
                W = self.within(number)
                with np.errstate(over="ignore", divide="ignore"):
                    unit = self.W.data.max() / W.data.max()
                    # Iterations lack digits that a bound needs: a factor, if one is had easily.
                    resistances = unit * _resistances(W, asked, "auto")
                heights.append(linkage(np.minimum(resistances, ENDLESS), "complete")[:, 2])
        heights = np.sort(np.concatenate(heights))
        return n_asked, heights[heights < ENDLESS]


def _resistances(W, vertices, solver):
    """Return upper bounds on the effective resistances between vertices, condensed.

    They are relative to the resistance of the heaviest edge. The conductance ``g`` that the
    diagonal has too much of changes the energy of a function with values between 0 and 1 by at most
    ``g``, so that the true resistance is at most ``r / (1 - g r)`` if ``r`` is found.
    """
    W = relative_weights(W)
    system = Grounded(W, np.flatnonzero(np.arange(W.shape[0]) != vertices[0]), solver)
    green = np.zeros((len(vertices), len(vertices)))
    for place, vertex in enumerate(vertices[1:], start=1):
        unit = np.zeros((W.shape[0], 1))
        unit[vertex] = 1.0
        green[place] = system.solve(unit)[vertices, 0]
    first, second = np.triu_indices(len(vertices), k=1)
    own = np.diag(green)
    found = np.maximum(own[first] + own[second] - 2 * green[first, second], 0.0)
    rest = 1 - SLACK * system.leak * W.sum() * found
    return np.divide(found, rest, out=np.full_like(found, ENDLESS), where=rest > 0)


# ---------------------------------------------------------------- the learner


def _has_graph(learner):
    """Return whether a graph is given, and samples are numbers of its vertices."""
    return learner.graph is not None and not isinstance(learner.graph, GraphBuilder)


class GraphOnlinePredictor(
    EstimatorMixin,
    OnlineClassifierMixin,
    GraphMixin,
    ClassifierMixin,
    BaseEstimator,
):
    """Predicts the labels of vertices one by one, by the interpolation of least energy.

    In a trial the learner is asked for the class, -1 or 1, of a vertex ``v`` of a graph with the
    weights ``w``. It predicts the sign of ``u(v)``, where ``u`` minimises the energy ::

        sum of w_ij (u_i - u_j)^2 over the edges ij

    among all functions on the vertices that have the labels of the trials so far. Then it is told
    the label of ``v``. Before the first label of a connected component ``u`` is zero there, and
    predicts nothing: the first trial of each component counts as a mistake. So does every tie;
    values are rounded to ten digits, so that it is no rounding error that decides one.

    **The theorem.** If a set of vertices is covered by ``N`` sets, none of which has two vertices
    with an effective resistance above ``rho`` between them, then with labels that agree with a
    function ``u`` there are at most ``N + rho * energy(u)`` mistakes in trials with vertices of
    the set, whatever their order. ``bound_`` is the least of this among covers of the vertices that
    were asked for, with the last interpolant as ``u``, which of all has the least energy.

    **Cost.** A trial takes the solution of one sparse system, and the product of a triangular
    matrix with a vector, by which the labels since the system was made are taken into account. No
    matrix of all vertices is made, and no interpolant is computed from scratch: after every 96
    labels a new and smaller system is made for the vertices without a label.

    **A vertex that is asked for again** is predicted by its label. If it is told another label than
    before, the last one counts; then there is no function that agrees with all trials, and no
    bound. **Several classes** have one interpolant each, of that class against the others, and the
    largest one is predicted; the theorem says nothing of them.

    **Samples.** With a ``graph``, ``X`` is one column of vertex numbers. Without, ``fit`` makes the
    graph of its samples: the vertices are the distinct rows of ``X``, known beforehand, and the
    trials go through the rows in their order. Then there is no ``partial_fit``, as the graph could
    not be known in the first call, and new samples are predicted by the mean of ``u`` over their
    neighbours in the graph.

    Parameters
    ----------
    graph : sparse matrix, array-like, networkx.Graph, GraphBuilder or None, default=None
        The weights of the edges, of shape (n_vertices, n_vertices); see
        :func:`~sklearn_sl.graph.as_graph`. Or how the graph is made of the samples; None is
        ``GraphBuilder()``, the ten nearest neighbours.

    solver : {"auto", "lu", "cg"}, default="auto"
        How systems are solved: by a sparse factor, best for graphs that could be drawn in the plane
        and for trees; or by conjugate gradients. "auto" factors a component if that takes less than
        a second.

    keep_losses : bool, default=False
        Whether to keep ``loss_curve_``.

    Attributes
    ----------
    graph_ : csr_array of shape (n_vertices, n_vertices)
        The weights of the edges.

    vertex_ : ndarray of shape (n_samples,)
        The vertex of each sample of ``fit``, if the graph was made of the samples.

    classes_ : ndarray of shape (n_classes,)
        The classes; the second of two is the label 1.

    n_mistakes_ : int
        The number of trials in which the true class did not have the largest score.

    n_trials_ : int
        The number of trials.

    cumulative_loss_ : float
        The sum of the losses of all trials, one for a mistake.

    loss_curve_ : ndarray of shape (`n_trials_`,)
        The loss of each trial, if ``keep_losses``.

    consistent_ : bool
        Whether no vertex was told two different labels.

    bound_ : float or None
        The theorem's bound on ``n_mistakes_``. None after ``partial_fit``, and if more than 1000
        vertices were asked for: see :meth:`mistake_bound`. None also for more than two classes, or
        if the labels were not ``consistent_``.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during fit, if all of them are strings.

    See Also
    --------
    sklearn_sl.theory.graph_cover_bound : The theorem.
    sklearn_sl.datasets.adversarial_vertex_order : Trials that are hard for it.

    References
    ----------
    .. [1] M. Herbster and G. Lever, "Predicting the labelling of a graph via minimum p-seminorm
       interpolation", COLT 2009.

    .. [2] M. Herbster, M. Pontil and L. Wainer, "Online learning over graphs", ICML 2005.

    Examples
    --------
    Four cliques of ten vertices in a chain, with other labels in each one than in the next:

    >>> import numpy as np
    >>> from sklearn_sl.datasets import make_clique_chain
    >>> from sklearn_sl.graph import GraphOnlinePredictor
    >>> graph, clique = make_clique_chain(n_cliques=4, size=10)
    >>> y = np.where(clique % 2, 1, -1)
    >>> vertices = np.random.default_rng(0).permutation(40)
    >>> learner = GraphOnlinePredictor(graph).fit(vertices[:, None], y[vertices])
    >>> learner.n_mistakes_, round(learner.bound_, 2)
    (4, 6.4)
    """

    graph_: sp.csr_array
    vertex_: np.ndarray
    consistent_: bool
    bound_: float | None

    # With all labels given, there is nothing to spread.
    _compare_grid = None
    _parameter_constraints = {
        "graph": [
            "sparse matrix",
            "array-like",
            HasMethods(["adjacency", "is_directed"]),
            GraphBuilder,
            None,
        ],
        "solver": [StrOptions({"auto", "lu", "cg"})],
        "keep_losses": ["boolean"],
    }
    _fixed = ("graph", "solver")
    _mutable = ("_interpolant",)
    # Scores where no vertex is near.
    _default = 0.0

    def __init__(
        self,
        graph: Any = None,
        *,
        solver: Literal["auto", "lu", "cg"] = "auto",
        keep_losses: bool = False,
    ) -> None:
        self.graph = graph
        self.solver = solver
        self.keep_losses = keep_losses

    @property
    def affinity(self):
        """How the graph is made of samples."""
        return GraphBuilder() if self.graph is None else self.graph

    @property
    def _precomputed(self):
        return False

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not _has_graph(self)
        return tags

    # ------------------------------------------------------------ samples and vertices

    def _read_samples(self, X, reset):
        """Return a column with the vertex of each sample."""
        if _has_graph(self):
            return self._read_vertices(X, reset)
        vertices = self._graph_vertices(X)
        self.graph_, self.vertex_ = vertices.W, vertices.vertex
        self._mass, self._builder = vertices.mass, vertices.builder
        return vertices.vertex[:, None]

    def _read_vertices(self, X, reset):
        if reset:
            self.graph_ = as_graph(self.graph)
            for name in ("vertex_", "_mass", "_builder", "_values"):
                vars(self).pop(name, None)
        X = validate_data(self, X, reset=reset, dtype=np.float64)
        n_vertices = self.graph_.shape[0]
        if X.shape[1] != 1 or not np.all((X >= 0) & (X < n_vertices) & (X == np.floor(X))):
            raise ValueError(
                f"X must be one column of vertices of the graph, integers in [0, {n_vertices}). To "
                "build the graph from samples, set graph=None."
            )
        return X.astype(np.intp)

    def _begin(self, X):
        self._interpolant = Interpolant(self.graph_, self._n_vectors(), self.solver)

    # ------------------------------------------------------------ trials

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Reset the learner and go through the trials, once and in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            A column of vertices of the ``graph``; samples, if none is given.

        y : array-like of shape (n_samples,)
            Classes.

        Returns
        -------
        self : object
            The fitted learner.
        """
        vertices, codes = self._read(X, y, reset=True)
        fit_once(self, vertices, codes)
        if not _has_graph(self):
            self._values = self._interpolant.values()
        if self._obeys_theorem() and len(np.unique(vertices)) <= MANY_ASKED:
            self.bound_ = self._least_bound()
        return self

    @available_if(_has_graph)
    @stream_context
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Go through more trials, once and in their order.

        Parameters
        ----------
        X : array-like of shape (n_samples, 1)
            Vertices of the ``graph``.

        y : array-like of shape (n_samples,)
            Classes.

        classes : array-like of shape (n_classes,), default=None
            All the classes; needed in the first call.

        Returns
        -------
        self : object
            The learner.
        """
        self._go_on(X, y, classes)
        return self

    def _play(self, X, codes):
        signs = np.stack([self._signs(codes, k) for k in range(self._n_vectors())], axis=1)
        answers = np.empty_like(signs)
        for row, vertex in enumerate(X[:, 0]):
            answers[row] = self._interpolant.trial(vertex, signs[row])
        return with_ties(answers), len(codes)

    def _finish(self):
        self.consistent_ = self._interpolant.is_consistent()
        self.bound_ = None

    # ------------------------------------------------------------ predictions

    def _scores(self, X):
        if _has_graph(self):
            return with_ties(self._interpolant.values()[X[:, 0]])
        return with_ties(self._at_queries(X))

    def _read_query(self, X):
        if _has_graph(self):
            return self._read_vertices(X, reset=False)
        return read_samples(self, X, reset=False)

    # ------------------------------------------------------------ the theorem

    def _obeys_theorem(self):
        return len(self.classes_) == 2 and self.consistent_

    def mistake_bound(self) -> float:
        """Return the theorem's bound on the mistakes of the trials so far, in any order.

        The time grows with the square of the number of vertices that were asked for, and with one
        sparse system for each of them.

        Returns
        -------
        bound : float
            ``N + rho * energy`` for the cover by ``N`` sets with resistances of at most ``rho``
            that gives the least, among those found by complete linkage.
        """
        check_is_fitted(self)
        if not self._obeys_theorem():
            raise ValueError(
                "The bound requires two classes, and the same label of a vertex in all trials."
            )
        return self._least_bound()

    def _least_bound(self):
        n_asked, diameters = self._interpolant.diameters()
        n_sets = n_asked - np.arange(len(diameters) + 1)
        bounds = graph_cover_bound(n_sets, np.append(0.0, diameters), self._interpolant.energy())
        return float(bounds.min())
