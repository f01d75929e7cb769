"""The best weights in hindsight: whom the regret of a linear learner is measured against."""

import numpy as np
from scipy.optimize import minimize
from sklearn.utils.extmath import safe_sparse_dot

from sklearn_sl._threads import one_blas_thread
from sklearn_sl.online._trials import slices, take_slice
from sklearn_sl.online.linear import _steps
from sklearn_sl.online.linear._linear import look

# How often all samples are looked at, at most.
N_LOOKS = 100
# The share of the mean loss by which kinks are rounded.
ROUNDING = 0.01


class Hindsight:
    """All trials of a linear learner, and what weights would have lost in them.

    Parameters
    ----------
    learner : estimator
        Knows how scores become losses.

    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Samples.

    targets : ndarray of shape (n_samples,)
        Their targets, as the learner reads them.

    repeats : int
        How often the learner went through them.
    """

    def __init__(self, learner, X, targets, repeats):
        self.learner, self.X, self.targets, self.repeats = learner, X, targets, repeats
        self.shape = learner._n_vectors(), X.shape[1] + 1
        self.n_groups = 1 if learner._together else self.shape[0]

    def groups(self, vectors):
        """Return vectors with a row for each one that has a norm, and a loss, of its own."""
        return np.reshape(vectors, (self.n_groups, -1))

    def norms(self, vectors):
        """Return their norms."""
        return np.linalg.norm(self.groups(vectors), axis=1)

    def look(self, loss, vectors):
        """Return the losses of vectors, and the slopes of their sum."""
        vectors = np.reshape(vectors, self.shape)
        losses, slopes = np.zeros(self.n_groups), np.zeros(self.shape)
        for rows in slices(self.X, self.shape[0]):
            part, targets = take_slice(self.X, rows), self.targets[rows]
            scores = safe_sparse_dot(part, vectors[:, :-1].T, dense_output=True) + vectors[:, -1]
            seen = [look(loss, *view) for view in self.learner._views(scores, targets)]
            losses += [np.sum(values) for values, _ in seen]
            pull = self.learner._pull(scores, targets, [slope for _, slope in seen])
            slopes[:, :-1] += safe_sparse_dot(part.T, pull, dense_output=True).T
            slopes[:, -1] += pull.sum(axis=0)
        if not self.learner.fit_intercept:
            slopes[:, -1] = 0.0
        return self.repeats * losses, self.repeats * slopes

    @np.errstate(over="ignore", invalid="ignore")
    def losses(self, vectors):
        """Return the losses of vectors."""
        return self.look(self.learner._loss(), vectors)[0]

    @np.errstate(over="ignore", invalid="ignore")
    def best(self, starts, radius, ridge):
        """Return the best vectors in hindsight, as far as a search finds them.

        It minimises the sum of the losses plus ``ridge / 2`` times the squared norm over the ball
        of a radius, by L-BFGS from one of the starts, with kinks rounded, and returns the best of
        what it found, the starts, and zero.

        Parameters
        ----------
        starts : list of ndarray of shape (n_vectors, n_features + 1)
            Where to begin; all of them in the ball.

        radius : float
            The radius, perhaps infinite.

        ridge : ndarray of shape (n_groups,)
            The weights of the squared norms.

        Returns
        -------
        vectors : ndarray of shape (n_vectors, n_features + 1)
            The best ones.
        """
        zero = np.zeros(self.shape)
        candidates = [zero, *starts]
        costs = [self._costs(vectors, ridge) for vectors in candidates]
        start = candidates[int(np.argmin(np.sum(costs, axis=1)))]
        loss = self.learner._loss()
        width = ROUNDING * np.mean(costs[0]) / (self.repeats * len(self.targets))
        if type(loss) in (_steps.Hinge, _steps.Insensitive) and width > 0:
            loss = _steps.Rounded(loss, width)

        def objective(flat):
            return self._objective(loss, self.groups(flat), radius, ridge)

        with one_blas_thread():  # several would wait for one another: products of slices are small
            found = minimize(
                objective, start.ravel(), jac=True, method="L-BFGS-B", options={"maxfun": N_LOOKS}
            ).x
        candidates.append(np.reshape(self._inside(self.groups(found), radius)[0], self.shape))
        costs.append(self._costs(candidates[-1], ridge))
        chosen = [
            self.groups(candidates[which])[group]
            for group, which in enumerate(np.argmin(costs, axis=0))
        ]
        return np.reshape(chosen, self.shape)

    def _costs(self, vectors, ridge):
        costs = self.losses(vectors) + ridge / 2 * self.norms(vectors) ** 2
        return np.where(np.isnan(costs), np.inf, costs)

    def _inside(self, groups, radius):
        """Return the projections to the ball, and by which factors they are shorter."""
        norms = np.linalg.norm(groups, axis=1)
        factors = np.divide(radius, norms, out=np.ones_like(norms), where=norms > radius)
        return groups * factors[:, None], factors

    def _objective(self, loss, groups, radius, ridge):
        """Return the cost of the projections to the ball, and its slopes."""
        inside, factors = self._inside(groups, radius)
        losses, slopes = self.look(loss, inside)
        slopes = self.groups(slopes) + ridge[:, None] * inside
        cost = np.sum(losses + ridge / 2 * np.sum(inside**2, axis=1))
        outside = factors < 1
        # Beyond the ball the cost changes along the sphere alone.
        along = np.sum(slopes * inside, axis=1) / np.maximum(np.sum(inside**2, axis=1), 1e-300)
        slopes[outside] -= along[outside, None] * inside[outside]
        return cost, np.ravel(slopes * factors[:, None])
