"""The solver of the class-sensitive machine: ascent of its dual, a working set at a time."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from sklearn_sl._kernel_machine import check_symmetric_gram
from sklearn_sl._rows import slices
from sklearn_sl.kernels._base import (
    diagonal,
    encode,
    gram,
    guarded_tiles,
    result_type,
    share_out,
    tile_slices,
)
from sklearn_sl.svm import _crammer_singer
from sklearn_sl.svm._solver import SMALLEST_BLOCK

# The most samples of a working set: its Gram matrix stays in a core's cache. The fewest: with
# less memory than that there is no progress.
WORKING_SET, SMALLEST_SET = 512, 16
# A working set is left when its violation is this part of what it was, or after so many steps
# per sample: its optimum is worth little while the other samples stand still.
INNER_PART = 0.2
INNER_STEPS = 20
# The scores that one call of the compiled loop may visit, some 20 ms.
SLICE_VISITS = 2 * 10**7
# The most free variables of an exact refinement, whose cost is cubic; its most rounds, the steps
# and the passes of each.
FACE_SIZE, REFINEMENTS, REFINING_STEPS, REFINING_PASSES = 400, 5, 100, 5
# With a larger tolerance there is none.
REFINED_TOL = 1e-3
# A large C is approached by factors of STAGE, from where C K_ii is about one; the violation at
# which a stage ends.
STAGE, ROUGH = 10.0, 0.1
# Maximising over the positive shares: the most steps, the most products of each, and samples.
FACE_STEPS, CONJUGATE_STEPS, FACE_SAMPLES = 10, 30, 2048


def kernel_rows(kernel, X, used, cache_size):
    """Return the rows of the Gram matrix of the samples ``used``: resident, if it fits."""
    if kernel is None:
        return ResidentRows(precomputed_gram(X, used))
    X = X if len(used) == X.shape[0] else X[used]
    row_bytes = len(used) * result_type(X).itemsize
    n_rows = int(cache_size * 1e6 / row_bytes)
    if n_rows >= len(used) or len(used) <= SMALLEST_BLOCK:
        return ResidentRows(gram(kernel, X))
    return CachedRows(kernel, X, n_rows)


def precomputed_gram(X, used):
    """Return the Gram matrix of the samples ``used``, or say that it is none."""
    if X.shape[0] != X.shape[1]:
        check_symmetric_gram(X)
    K = X if len(used) == len(X) else X[np.ix_(used, used)]
    check_symmetric_gram(K)
    return np.ascontiguousarray(K)


class ResidentRows:
    """The rows of a Gram matrix in memory."""

    def __init__(self, K):
        self.K = K
        self.n = len(K)
        self.diagonal = K.diagonal().astype(np.float64)
        self.working_set = min(WORKING_SET, self.n)
        self.face_samples = FACE_SAMPLES

    def take(self, samples):
        """Return the rows of some samples."""
        return self.K[samples]

    def block(self, samples):
        """Return the Gram matrix of some samples, or of all."""
        return self.K if len(samples) == self.n else self.K[np.ix_(samples, samples)]


class CachedRows:
    """The rows of a Gram matrix, computed on demand; those used last are kept.

    A quarter of the memory is for the rows that are in use, a quarter for new ones.
    """

    def __init__(self, kernel, X, n_rows):
        self.kernel, self.X, self.n = kernel, X, X.shape[0]
        self._encoded = encode(kernel, X)
        self.diagonal = diagonal(kernel, self._encoded).astype(np.float64)
        self.working_set = min(max(n_rows // 4, SMALLEST_SET), WORKING_SET, self.n)
        self.face_samples = self.working_set
        n_kept = max(n_rows - 2 * self.working_set, self.working_set)
        self._kept = np.empty((n_kept, self.n), dtype=result_type(X))
        self._place = np.full(self.n, -1)
        self._sample = np.full(n_kept, -1)
        self._last_use = np.zeros(n_kept, dtype=np.int64)
        self._clock = 0

    def take(self, samples):
        """Return the rows of some samples, a working set at most."""
        self._clock += 1
        places = self._place[samples]
        self._last_use[places[places >= 0]] = self._clock
        missing = samples[places < 0]
        if len(missing):
            self._keep(missing, self._compute(missing))
        return self._kept[self._place[samples]]

    def block(self, samples):
        """Return the Gram matrix of some samples, a working set at most."""
        return self.take(samples).take(samples, axis=1)

    def _compute(self, samples):
        left = encode(self.kernel, self.X[samples])
        rows = np.empty((len(samples), self.n), dtype=self._kept.dtype)
        fill = guarded_tiles(self.kernel, left, self._encoded)
        share_out(self.kernel, lambda tile: fill(*tile, rows[tile]), tile_slices(*rows.shape))
        rows[np.arange(len(samples)), samples] = self.diagonal[samples]
        return rows

    def _keep(self, samples, rows):
        oldest = np.argsort(self._last_use, kind="stable")[: len(samples)]
        evicted = self._sample[oldest]
        self._place[evicted[evicted >= 0]] = -1
        self._sample[oldest], self._place[samples] = samples, oldest
        self._last_use[oldest] = self._clock
        self._kept[oldest] = rows


class DualAscent:
    """The dual problem in the shares ``eta_ik = C_i 1[k = y_i] - tau_ik`` of the classes.

    ``eta_ik >= 0`` and ``sum_k eta_ik = C_i``: a point of a simplex for each sample. At the
    optimum the shares of a sample are on its largest scores ``s_ik = 1[k != y_i] + f_k(x_i)``.
    The arrays are ``(n_classes, n_samples)``.
    """

    def __init__(self, rows, codes, mass, max_steps):
        self.rows, self.mass, self.n = rows, mass, len(codes)
        self.own_class = np.arange(codes.max() + 1)[:, None] == codes
        self.eta = np.where(self.own_class, mass, 0.0)
        self.score = np.where(self.own_class, 0.0, 1.0)
        # A curvature too large is a shorter step; zero or less would be none.
        largest = rows.diagonal.max(initial=0)
        self.curvature = np.maximum(rows.diagonal, 1e-12 * largest if largest > 0 else 1.0)
        self.steps, self.max_steps = 0, max_steps
        self._visits = 0
        self._working = np.empty(0, dtype=np.intp)
        self._violation = np.empty((2, self.n))

    @property
    def tau(self):
        """The dual coefficients."""
        return np.where(self.own_class, self.mass - self.eta, -self.eta)

    @property
    def violation(self):
        """The violation of each sample."""
        _crammer_singer.violations(self.eta, self.score, self._violation)
        return self._violation[0]

    @property
    def worst(self):
        """The largest violation."""
        return float(self.violation.max())

    def run(self, tol, progress):
        """Ascend until no violation exceeds ``tol``, then refine if that is cheap."""
        self._approach(tol, progress)
        self.ascend(max(tol, self.rounding()), progress)
        if tol <= REFINED_TOL and self.worst <= tol:
            self.refine(progress)

    def _approach(self, tol, progress):
        """Solve roughly for smaller ``C`` first: a large one is slow from a cold start."""
        mass = self.mass
        reach = np.median(mass * self.curvature)
        n_stages = int(np.ceil(np.log10(max(reach, 1.0)) / np.log10(STAGE)))
        self._scale(STAGE**-n_stages)
        for _ in range(n_stages):
            self.ascend(max(tol, ROUGH), progress)
            self._scale(STAGE)
        self.mass = mass
        keep_mass(self.eta, mass)

    def _scale(self, factor):
        """Multiply the masses and the shares; the scores follow."""
        offset = np.where(self.own_class, 0.0, 1.0)
        self.mass = self.mass * factor
        self.eta *= factor
        self.score = offset + factor * (self.score - offset)

    def objectives(self):
        """Return the dual objective, the primal objective, and their difference.

        The difference is a sum of non-negative terms, ``sum_ik eta_ik (max_l s_il - s_ik)``.
        """
        tau, shortfall = self.tau, self.score.max(axis=0) - self.score
        half_norm = np.sum(tau * (self.score - ~self.own_class)) / 2
        dual = tau[self.own_class].sum() - half_norm
        primal = half_norm + self.mass @ shortfall.T[self.own_class.T]
        return float(dual), float(primal), float(np.sum(self.eta * shortfall))

    def rounding(self):
        """Return the order of the rounding errors of the scores."""
        reach = np.abs(self.rows.diagonal).max(initial=0) * np.abs(self.tau).sum()
        return np.finfo(np.float64).eps * max(1.0, reach)

    def refresh(self):
        """Compute the scores from the shares, without the errors of the updates."""
        tau = self.tau
        support = np.flatnonzero(tau.any(axis=0))
        score = np.where(self.own_class, 0.0, 1.0)
        for part in slices(len(support), self.rows.working_set):
            score += tau[:, support[part]] @ self.rows.take(support[part])
        self.score = score

    def ascend(self, tol, progress, max_steps=np.inf):
        """Improve one working set after the other until no violation exceeds ``tol``."""
        max_steps = min(max_steps, self.max_steps)
        fresh = False
        while True:
            worst = self.worst
            out_of_budget = self.steps >= max_steps or progress.stop
            if fresh and (worst <= tol or out_of_budget):
                return
            if worst <= tol or out_of_budget:
                self.refresh()
                fresh = True
                continue
            with progress.step({"kkt_violation": worst}):
                self._improve(self._next_working_set(), worst, tol)
                self._maximise_if_due(tol)
            fresh = False

    def _next_working_set(self):
        """Return the worst samples, and of the last working set the free and the newest ones."""
        size = self.rows.working_set
        if size == self.n:
            return np.arange(self.n)
        half = max(size // 2, 1)
        worst = np.argpartition(self._violation[0], self.n - half)[-half:]
        is_new = np.zeros(self.n, dtype=bool)
        is_new[worst] = True
        last = self._working[~is_new[self._working]]
        bound = np.count_nonzero(self.eta[:, last], axis=0) < 2
        kept = last[np.argsort(bound, kind="stable")][: size - half]
        self._working = np.concatenate([worst, kept])
        return self._working

    def _improve(self, samples, worst, tol):
        """Ascend over some samples only, and let the scores of all follow."""
        eta, score = self.eta.take(samples, axis=1), self.score.take(samples, axis=1)
        whole = len(samples) == self.n
        target = tol if whole else max(INNER_PART * worst, 0.9 * tol)
        self._solve(self.rows.block(samples), samples, eta, score, target)
        if whole:
            self.eta, self.score = eta, score
            return
        change = eta - self.eta.take(samples, axis=1)
        moved = np.flatnonzero(change.any(axis=0))
        self.score -= change[:, moved] @ self.rows.take(samples[moved])
        self.eta[:, samples] = eta

    def _solve(self, K, samples, eta, score, target):
        """Call the compiled loop, a slice at a time."""
        n_classes, size = eta.shape
        work, step = np.empty((2, size)), np.empty((2, n_classes))
        curvature, mass = self.curvature[samples], self.mass[samples]
        left = min(self.max_steps - self.steps, INNER_STEPS * size)
        piece = max(1, SLICE_VISITS // eta.size)
        while left > 0:
            allowed = min(piece, left)
            taken = _crammer_singer.solve(
                K, curvature, mass, target, allowed, eta, score, work, step
            )
            self.steps += taken
            self._visits += taken * eta.size
            left = left - taken if taken == allowed else 0

    def refine(self, progress):
        """Solve a problem of few free shares to the precision of the numbers.

        Ascent finds out which shares are positive; Newton's method says how large they are.
        """
        for _ in range(REFINEMENTS):
            precise = self.rounding()
            face = Face.of(self.eta)
            small = face.size <= FACE_SIZE and face.n_samples < self.rows.face_samples
            if self.worst <= precise or progress.stop or not small:
                return
            self._maximise_on_face(precise, REFINING_STEPS)
            self.refresh()
            # Where two shares are zero at once, Newton's method may stall: a few steps help.
            self.ascend(precise, progress, max_steps=self.steps + REFINING_PASSES * self.n)

    def _maximise_if_due(self, tol):
        """Maximise over the positive shares, as soon as the steps since have cost as much.

        Single steps are slow where the kernel is of low rank and ``C`` is large.
        """
        face = Face.of(self.eta)
        if not 0 < face.n_samples < self.rows.face_samples:
            return
        if face.size <= FACE_SIZE:
            cost = 3 * FACE_STEPS * face.size**3
        else:
            cost = FACE_STEPS * CONJUGATE_STEPS * len(self.eta) * face.n_samples**2
        if self._visits >= cost:
            self._maximise_on_face(tol, FACE_STEPS)
            self._visits = 0

    def _maximise_on_face(self, tol, max_steps):
        """Maximise over the positive shares, by steps that make some of them zero.

        At the maximum the share that gains most joins them, until none would gain more than
        ``tol``: the active-set method.
        """
        entering = None
        for _ in range(max_steps):
            face = Face.of(self.eta, entering)
            if face.n_samples > self.rows.face_samples:
                return
            if face.size and self._step_on_face(face):
                entering = None
                continue
            worst = self.violation.argmax()
            best = self.score[:, worst].argmax()
            if self._violation[0, worst] <= tol or self.eta[best, worst] > 0:
                return
            entering = best, worst

    def _step_on_face(self, face):
        """Take one step; return whether a share became zero, so that another step is due."""
        samples = np.unique(face.samples)
        parts = slices(len(samples), self.rows.working_set)
        K = self.rows.block(samples)
        change, longest = self._direction(face, samples, K)
        eta = self.eta.take(samples, axis=1)
        slope = self.score.take(samples, axis=1)
        moved = best_projected_step(eta, slope, K, change, longest)
        keep_mass(moved, self.mass[samples])
        for part in parts:
            self.score -= (moved - eta)[:, part] @ self.rows.take(samples[part])
        self.eta[:, samples] = moved
        return bool(((moved == 0) & (eta > 0)).any())

    def _direction(self, face, samples, K):
        """Return the change of the samples' shares towards the maximum, and how far to go."""
        places = np.searchsorted(samples, face.samples)
        shape = (len(self.eta), len(samples))
        slope = self.score[face.classes, face.samples] - self.score[face.bases, face.samples]
        if face.size <= FACE_SIZE:
            hessian = face.hessian(K, places)
            direction, longest = newton_direction(hessian, slope, 8 * self.rounding())
            return face.spread(direction, places, shape), longest

        def curve(direction):
            bent = face.spread(direction, places, shape) @ K
            return bent[face.classes, places] - bent[face.bases, places]

        direction, longest = conjugate_direction(curve, slope)
        return face.spread(direction, places, shape), longest


def best_projected_step(eta, slope, K, change, longest):
    """Return the best of a few points along ``change``, each projected to the simplices.

    The first point is where the first share becomes zero: the objective is larger there, so
    that it is at the best point.
    """
    falling = change < 0
    if not falling.any():
        return eta
    room = eta[falling] / -change[falling]
    lengths = np.minimum(np.quantile(room, [0, 0.1, 0.5, 1]), longest)
    best, most = eta, 0.0
    for length in np.unique(lengths):
        moved = projected(eta + length * change, falling & (eta <= -length * change))
        move = moved - eta
        gain = np.sum(move * (slope - move @ K / 2))
        if gain > most:
            best, most = moved, gain
    return best


def projected(eta, zero):
    """Return the points of the simplices next to the columns of ``eta``; ``zero`` shares are 0.

    A column that sums to its mass keeps it: what its negative shares lack is taken evenly from
    the positive ones, until none is negative.
    """
    eta = np.where(zero, np.minimum(eta, 0), eta)
    while (eta < 0).any():
        lack = np.minimum(eta, 0).sum(axis=0)
        eta = np.maximum(eta, 0)
        eta += np.where(eta > 0, lack / np.maximum(np.count_nonzero(eta, axis=0), 1), 0)
    return eta


def keep_mass(eta, mass):
    """Let the largest share of each sample take up the rounding errors of all, in place."""
    largest, samples = eta.argmax(axis=0), np.arange(len(mass))
    eta[largest, samples] = 0
    eta[largest, samples] = mass - eta.sum(axis=0)


@dataclass(frozen=True)
class Face:
    """The free shares: of samples with several positive ones, all but the largest.

    What a free share gains, the largest of its sample, the base, loses.
    """

    classes: np.ndarray
    samples: np.ndarray
    bases: np.ndarray

    @classmethod
    def of(cls, eta, entering=None):
        """Return the free shares of ``eta``, and one more that is to become positive."""
        base = eta.argmax(axis=0)
        free = eta > 0
        if entering is not None:
            free[entering] = True
        free[base, np.arange(eta.shape[1])] = False
        classes, samples = np.nonzero(free)
        return cls(classes, samples, base[samples])

    @property
    def size(self):
        """The number of free shares."""
        return len(self.samples)

    @property
    def n_samples(self):
        """The number of samples with free shares."""
        return len(np.unique(self.samples))

    def hessian(self, K, places):
        """Return minus the second derivatives of the dual; sample ``i`` is ``K[places[i]]``."""
        same = {
            (a, b): getattr(self, a)[:, None] == getattr(self, b)
            for a in ("classes", "bases")
            for b in ("classes", "bases")
        }
        signs = same["classes", "classes"].astype(float) + same["bases", "bases"]
        signs -= same["classes", "bases"]
        signs -= same["bases", "classes"]
        return signs * K[np.ix_(places, places)]

    def spread(self, direction, places, shape):
        """Return the change of all shares of the samples by a change of the free ones."""
        change = np.zeros(shape)
        change[self.classes, places] = direction
        np.subtract.at(change, (self.bases, places), direction)
        return change


def newton_direction(hessian, slope, noise):
    """Return a direction to the maximum of ``slope'v - 1/2 v'Hv``, and how far to go.

    Where ``H`` is singular and the slope along its null space is more than noise, there is no
    maximum: the direction is that slope, to be followed as far as possible.
    """
    curvatures, Q = linalg.eigh(hessian)
    flat = curvatures <= len(slope) * np.finfo(np.float64).eps * np.abs(curvatures).max()
    coefs = Q.T @ slope
    drift = Q[:, flat] @ coefs[flat]
    if np.abs(drift).max() > noise:
        return drift, np.inf
    return Q[:, ~flat] @ (coefs[~flat] / curvatures[~flat]), 1.0


def conjugate_direction(curve, slope):
    """Return what :func:`newton_direction` does, nearly, by a few products ``curve(v) = Hv``."""
    direction = np.zeros_like(slope)
    residual = search = slope
    square = residual @ residual
    enough = 1e-6 * square
    for _ in range(CONJUGATE_STEPS):
        bent = curve(search)
        curvature = search @ bent
        if curvature <= 1e-12 * (search @ search) * np.abs(bent).max():
            return (search, np.inf) if not direction.any() else (direction, 1.0)
        length = square / curvature
        direction = direction + length * search
        residual = residual - length * bent
        square, last = residual @ residual, square
        if square <= enough:
            break
        search = residual + square / last * search
    return direction, 1.0
