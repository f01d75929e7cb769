"""Values on a graph that minimise a p-seminorm, and a bound of how far they are from the minimum.

For ``q = p / (p - 1)`` the problem and its dual, with ``d_e`` the difference of ``u`` along the
edge ``e`` and ``f`` a flow that free vertices neither gain nor lose from, are::

    E(u) = sum_e w_e |d_e|^p  >=  (sum_e f_e d_e)^p / (sum_e w_e |f_e / w_e|^q)^(p - 1)

by Hoelder's inequality. The right hand side does not depend on ``u``: ``sum f_e d_e`` is what the
flow brings from label to label. There is equality if ``f_e = w_e |d_e|^(p - 1) sign(d_e)``.

On one of the two sides this is a power above 2 of linear functions: for ``p >= 2`` of the
differences ``z = d``, for ``p < 2`` of ``z = f / w`` with the exponent ``q > 2``. Newton's method
on that side, for the exponent ``r = max(p, q)``, moves ``1 / (r - 1)`` of the way from ``z`` to
the solution for the conductances ``w |z|^(r - 2)``, or ``w / |z|^(r - 2)`` if ``z = f / w``: the
potentials ``v`` of a resistor network and their currents. The currents are a flow, and ``v`` has
the given labels, so each step has bounds from both sides for free.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from sklearn_sl._laplacians._adjacency import edge_list, find_components
from sklearn_sl._warnings import warn
from sklearn_sl.graph._network import Network

# The exponent grows by this factor from problem to problem, from 2 to the one that is asked for,
# and a problem on the way is left when its relative gap is below ON_THE_WAY.
GROWTH, ON_THE_WAY = 1.6, 0.1
# Weights that are lighter, in units of the heaviest one, count as that much.
LIGHTEST = 1e-150
# Edges without a difference keep a conductance, relative to the largest of their island. That of
# edges without a current is bounded, by 1e8 and, where this blurs the energy, up to 1e14.
FAINTEST = 1e-200
STRONG, STRONGER, STRONGEST = 1e8, 10.0, 1e14
# So many evaluations of a line search at most; it ends when the slope has fallen to this share,
# and the sum is not larger than before but for rounding.
SEARCHES, FLAT_ENOUGH, ROUNDING = 40, 0.1, 1e-13
# A flow is repaired until free vertices lose no more than this part of it, or so many times.
TIGHT, REPAIRS = 1e-12, 3
# Halvings of the interval that holds the mean of a new vertex' neighbours.
HALVINGS = 60


@dataclass
class PHarmonic:
    """A minimum of the p-energy, with its certificate.

    Attributes
    ----------
    u : ndarray of shape (n_vertices,)
        The labels, and the values of the free vertices that are joined to one.
    log_energy : float
        The logarithm of the energy of ``u``.
    relative_gap : float
        At most this part of the energy is more than the minimum.
    moved : float
        How far the last step moved a vertex, in units of the range of the labels.
    n_iter : int
        The number of linear systems.
    """

    u: np.ndarray
    log_energy: float
    relative_gap: float
    moved: float
    n_iter: int

    def warn_unless(self, tol):
        """Warn if the energy or the values are not within the tolerance."""
        if self.relative_gap > tol or self.moved**2 > tol:
            warn(
                f"The solver did not converge in {self.n_iter} linear systems: the relative "
                f"duality gap is {self.relative_gap:.2g} and the last step changed a value by "
                f"{self.moved:.2g}, for tol={tol:g}. Increase max_iter or tol, or use a p closer "
                "to 2.",
                ConvergenceWarning,
            )


def p_harmonic(W, values, labelled, p, *, tol=1e-6, max_iter=200):
    """Return ``argmin sum w_ij |u_i - u_j|^p`` among the ``u`` that have the given labels.

    Parameters
    ----------
    W : csr_array of shape (n_vertices, n_vertices)
    values : ndarray of shape (n_vertices,), the labels; other entries do not matter, and stay at
        vertices that no edges join to a label
    labelled : ndarray of bool of shape (n_vertices,)
    p : float above 1
    tol : float, the relative gap to stop at; no vertex may have moved by more than its square root
    max_iter : int, the largest number of linear systems

    Returns
    -------
    solution : PHarmonic
    """
    low, high = values[labelled].min(), values[labelled].max()
    unit = (high - low) or 1.0
    scaled = np.where(labelled, (values - low) / unit, 0.0)
    heaviest = W.data.max(initial=0.0) or 1.0
    W = sp.csr_array(W, copy=True)
    W.data = np.maximum(W.data / heaviest, LIGHTEST)
    log_unit = p * np.log(unit) + np.log(heaviest)
    fixed = _log_energy_between_labels(W, scaled, labelled, p)
    islands = Islands(W, scaled, labelled)
    if not len(islands.free):
        return PHarmonic(values.astype(np.float64), float(fixed + log_unit), 0.0, 0.0, 1)
    u, energy, bound, moved, n_iter = _descend(islands, p, tol, max_iter)
    log_energy = np.logaddexp.reduce(np.append(energy, fixed))
    log_bound = np.logaddexp.reduce(np.append(bound, fixed))
    found = values.astype(np.float64)
    found[islands.free] = low + unit * u[islands.free]
    return PHarmonic(
        found,
        float(log_energy + log_unit),
        float(_relative_gap(log_energy, log_bound)),
        moved,
        n_iter,
    )


def _log_energy_between_labels(W, values, labelled, p):
    """Return the logarithm of the energy that no choice can change."""
    tail, head, weight = edge_list(W)
    size = np.abs(values[tail] - values[head])
    fixed = labelled[tail] & labelled[head] & (size > 0)
    return np.logaddexp.reduce(np.log(weight[fixed]) + p * np.log(size[fixed]), initial=-np.inf)


def _relative_gap(energy, bound):
    """Return ``1 - bound / energy`` from their logarithms; zero where there is no energy."""
    nothing = np.isneginf(energy)
    ratio = np.where(nothing, 0.0, bound - np.where(nothing, 0.0, energy))
    return np.abs(np.expm1(np.minimum(ratio, 0.0)))


def _descend(islands, p, tol, max_iter):
    """Return the minimum on all islands.

    Returns
    -------
    u : ndarray of shape (n_vertices,)
    energy, bound : ndarray of shape (n_islands,), logarithms of the energy and of its lower bound
    moved : float, how far the last step moved a vertex
    n_iter : int
    """
    side = Differences(islands) if p >= 2 else Flows(islands)
    r, last = 2.0, max(p, p / (p - 1))
    u, flow = islands.potentials(islands.weight)
    side.start(u, flow)
    energy, bound = islands.log_power(islands.differences(u), p), islands.log_bound(flow, p)
    best, moved, n_iter = u, 0.0, 1
    on_the_way = 0.0
    while n_iter < max_iter:
        if r == last and moved**2 <= tol and np.all(_relative_gap(energy, bound) <= tol):
            break
        if r < last and on_the_way <= ON_THE_WAY:
            r = min(last, r * GROWTH)
        before = u
        u, flows = side.step(u, r)
        n_iter += 1
        moved = float(np.max(np.abs(u - before)))
        exponent = p if r == last else side.exponent(r)
        energy_now = islands.log_power(islands.differences(u), exponent)
        bound_now = np.max([islands.log_bound(flow, exponent) for flow in flows], axis=0)
        on_the_way = np.max(_relative_gap(energy_now, bound_now))
        if r == last:
            better = side.descends | (energy_now <= energy)
            best = np.where(islands.at_vertices(better), u, best)
            energy = np.where(better, energy_now, energy)
            bound = np.maximum(bound, bound_now)
    return best, energy, bound, moved, n_iter


class Differences:
    """Newton's method on the differences of the values, for an exponent of at least 2."""

    # The energy falls from step to step, and what it is too coarse to tell gets better.
    descends = True

    def __init__(self, islands):
        self.islands = islands

    def start(self, u, flow):
        """Begin with the solution for the exponent 2."""

    def exponent(self, r):
        """Return the exponent of the energy."""
        return r

    def step(self, u, r):
        """Return the next values, and flows for the bound."""
        islands = self.islands
        z = islands.differences(u)
        c = np.maximum(islands.weight * islands.factors(z, r), FAINTEST)
        v, flow = islands.potentials(c, start=u)
        share = islands.line_search(z, islands.differences(v) - z, r)
        return u + islands.at_vertices(share) * (v - u), [flow]


class Flows:
    """Newton's method on the flow, whose exponent is above 2 if that of the energy is below.

    The flow is scaled to bring one unit from label to label; ``z`` is the flow over the weights.
    """

    # It is the bound that grows from step to step.
    descends = False

    def __init__(self, islands):
        self.islands = islands

    def start(self, u, flow):
        """Begin with the solution for the exponent 2."""
        self.z = self.islands.unit_flow(flow)
        self.strong, self.r = STRONG, 2.0

    def exponent(self, r):
        """Return the exponent of the energy."""
        return r / (r - 1)

    def step(self, u, r):
        """Return the next values, and flows for the bound."""
        islands = self.islands
        self.strong = min(self.strong * STRONGER, STRONGEST) if r == self.r else STRONG
        self.r = r
        c = islands.weight / np.maximum(islands.factors(self.z, r), 1 / self.strong)
        v, flow = islands.potentials(c, start=u)
        way = islands.unit_flow(flow) - self.z
        self.z = self.z + islands.line_search(self.z, way, r)[islands.island] * way
        return v, [flow, islands.weight * self.z]


class Islands:
    """The edges at the free vertices, in parts that have no free vertex in common.

    Each part is a problem of its own. All of them are solved at once, but each has its own scale,
    its own steps and its own bounds. ``values`` are the labels, between 0 and 1. Free vertices that
    no edges join to a label are left out.
    """

    def __init__(self, W, values, labelled):
        component = find_components(W)[1]
        reached = np.isin(component, component[labelled])
        self.values, self.is_free = values, reached & ~labelled
        self.free = np.flatnonzero(self.is_free)
        self.home = np.zeros(W.shape[0], dtype=np.intp)
        inner = W[self.free][:, self.free]
        self.home[self.free] = find_components(inner)[1]
        if len(self.free):
            self._list_edges(W)
            self._centre_labels()
            self._build_network()

    def _list_edges(self, W):
        """Set the ends, the weight and the island of each edge, sorted by islands."""
        tail, head, weight = edge_list(W)
        at_free = self.is_free[tail] | self.is_free[head]
        tail, head, weight = tail[at_free], head[at_free], weight[at_free]
        island = self.home[np.where(self.is_free[tail], tail, head)]
        order = np.argsort(island, kind="stable")
        self.tail, self.head, self.weight = tail[order], head[order], weight[order]
        self.island = island[order]
        self.starts = np.flatnonzero(np.diff(self.island, prepend=-1))

    def _centre_labels(self):
        """Set the range of the labels around each island, half its length, and their pull.

        The pull of an edge is the difference of the labels about the middle of their range, with
        zero at free vertices.
        """
        ends, island = np.concatenate([self.tail, self.head]), np.tile(self.island, 2)
        known = ~self.is_free[ends]
        low, high = np.ones(len(self.starts)), np.zeros(len(self.starts))
        np.minimum.at(low, island[known], self.values[ends[known]])
        np.maximum.at(high, island[known], self.values[ends[known]])
        self.low, self.high, self.half = low, high, (high - low) / 2
        centred = np.where(known, self.values[ends] - ((low + high) / 2)[island], 0.0)
        self.pull = centred[: len(self.tail)] - centred[len(self.tail) :]

    def _build_network(self):
        place = np.cumsum(self.is_free) - 1
        tail_free, head_free = self.is_free[self.tail], self.is_free[self.head]
        self._inner = tail_free & head_free
        self._shore = ~self._inner
        ends = np.column_stack([place[self.tail[self._inner]], place[self.head[self._inner]]])
        near = np.where(tail_free, self.tail, self.head)[self._shore]
        self._shore_value = self.values[np.where(tail_free, self.head, self.tail)[self._shore]]
        self._shore_end = place[near]
        self._network = Network(ends, self._shore_end, len(self.free))

    def differences(self, u):
        """Return the differences of values along the edges."""
        return u[self.tail] - u[self.head]

    def total(self, x):
        """Return the sum over the edges of each island."""
        return np.add.reduceat(x, self.starts)

    def largest(self, x):
        """Return for each edge the largest absolute value of its island, or 1 if all are zero."""
        top = np.maximum.reduceat(np.abs(x), self.starts)
        return np.where(top > 0, top, 1.0)[self.island]

    def at_vertices(self, x):
        """Return the number of each vertex' island; zero at the others."""
        found = np.zeros(len(self.is_free), dtype=x.dtype)
        found[self.free] = x[self.home[self.free]]
        return found

    def log_power(self, z, r):
        """Return the logarithm of ``sum w |z|^r`` for each island."""
        top = self.largest(z)
        with np.errstate(divide="ignore", under="ignore"):
            scaled = self.total(self.weight * np.abs(z / top) ** r)
            return r * np.log(top[self.starts]) + np.log(scaled)

    def log_bound(self, flow, p):
        """Return the logarithm of the lower bound that a flow gives on each island's energy.

        What a free vertex gains or loses by the flow, by rounding, counts with the largest
        difference that its value can have from the middle of the labels.
        """
        drop = self.total(flow * self.pull) - self._lost(self._net(flow))
        carried = drop > 0
        size = np.where(carried, self.log_power(flow / self.weight, p / (p - 1)), 0.0)
        bound = p * np.log(np.where(carried, drop, 1.0)) - (p - 1) * size
        return np.where(carried, bound, -np.inf)

    def _net(self, flow):
        """Return what a flow takes away from each free vertex."""
        n = len(self.values)
        away = np.bincount(self.tail, flow, n) - np.bincount(self.head, flow, n)
        return away[self.free]

    def _lost(self, net):
        """Return how much less a leaking flow may bring from label to label, for each island."""
        return self.half * np.bincount(self.home[self.free], np.abs(net), len(self.starts))

    def unit_flow(self, flow):
        """Return the flow over the weights, scaled so that it brings one from label to label."""
        drop = self.total(flow * self.pull)
        return flow / self.weight / np.where(drop > 0, drop, 1.0)[self.island]

    def factors(self, z, r):
        """Return ``|z|^(r - 2)``, with the largest of each island as the unit of ``z``."""
        with np.errstate(under="ignore"):
            return np.abs(z / self.largest(z)) ** (r - 2)

    def potentials(self, c, start=None):
        """Return the potentials for the conductances ``c``, and their currents.

        Where a conductance is large, the rounding of the potentials is a current that leaks from
        free vertices. Potentials for the opposite currents repair that, as they are small.
        """
        self._network.set_conductances(c[self._inner], c[self._shore])
        current = np.bincount(self._shore_end, c[self._shore] * self._shore_value, len(self.free))
        v = self.values.copy()
        guess = None if start is None else start[self.free]
        home = self.home[self.free]
        v[self.free] = np.clip(self._network.solve(current, guess), self.low[home], self.high[home])
        flow = c * self.differences(v)
        return v, self._repaired(flow, c)

    def _repaired(self, flow, c):
        """Return a flow from which free vertices gain and lose as little as possible."""
        net = self._net(flow)
        best, least = flow, self._lost(net)
        for _ in range(REPAIRS):
            if np.all(least <= TIGHT * self.total(best * self.pull)):
                break
            repair = np.zeros(len(self.values))
            repair[self.free] = self._network.solve(-net)
            # Where conductances are too faint, a repair can be worse than the leak.
            with np.errstate(over="ignore", invalid="ignore"):
                flow = flow + c * self.differences(repair)
                net = self._net(flow)
            lost = self._lost(net)
            better = lost < least
            best = np.where(better[self.island], flow, best)
            least = np.where(better, lost, least)
        return best

    def line_search(self, z, way, r):
        """Return for each island the ``t <= 1`` with about the least ``sum w |z + t way|^r``.

        The sum is convex in ``t`` and never larger there than at ``t = 0``, but for rounding.
        """
        top = self.largest(z)
        z, way = z / top, way / top

        def evaluate(t):
            x = z + t[self.island] * way
            with np.errstate(under="ignore", over="ignore", invalid="ignore"):
                slopes = self.weight * np.abs(x) ** (r - 1)
                return self.total(slopes * np.abs(x)), self.total(slopes * np.sign(x) * way)

        t = np.full(len(self.starts), 1 / (r - 1))
        low, high = np.zeros_like(t), np.full_like(t, np.inf)
        before, slope = evaluate(low)
        steepness = -slope
        done = steepness <= ROUNDING * before
        for _ in range(SEARCHES):
            height, slope = evaluate(t)
            not_higher = height <= (1 + ROUNDING) * before
            done |= not_higher & (np.abs(slope) <= FLAT_ENOUGH * steepness)
            downhill = slope < 0
            done |= downhill & (t >= 1)
            if done.all():
                break
            low, high = np.where(downhill, t, low), np.where(downhill, high, t)
            further = np.where(np.isinf(high), np.minimum(2 * t, 1.0), (low + high) / 2)
            t = np.where(done, t, further)
        return np.where(done, t, low)


def p_mean(weights, x, p):
    """Return ``argmin_t sum_j w_j |t - x_j|^p`` for each row of weights; zero for an empty one."""
    if p == 2:
        return weights @ x
    mean = np.zeros(weights.shape[0])
    rows = np.flatnonzero(np.diff(weights.indptr))
    if not len(rows):
        return mean
    starts, lengths = weights.indptr[rows], np.diff(weights.indptr)[rows]
    x = x[weights.indices]
    low, high = np.minimum.reduceat(x, starts), np.maximum.reduceat(x, starts)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        away = np.repeat(middle, lengths) - x
        top = np.maximum.reduceat(np.abs(away), starts)
        with np.errstate(under="ignore"):
            pull = np.abs(away / np.repeat(np.where(top > 0, top, 1.0), lengths)) ** (p - 1)
        slope = np.add.reduceat(weights.data * np.copysign(pull, away), starts)
        low, high = np.where(slope <= 0, middle, low), np.where(slope >= 0, middle, high)
    mean[rows] = (low + high) / 2
    return mean
