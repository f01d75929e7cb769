"""The ellipsoid learner: all weights that may still be right, in an ellipsoid that shrinks."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from sklearn_sl._sklearn import Interval
from sklearn_sl._state import check_shape
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online._protocol import SAMPLES, OnlineClassifierMixin
from sklearn_sl.online.linear import _ellipsoid_sweeps
from sklearn_sl.online.linear._linear import as_rows, linear_scores
from sklearn_sl.theory._winnow import ellipsoid_bound, ellipsoid_volume_ratio

LOG_VOLUME, FACTOR_SCALE, N_UPDATES, EXHAUSTED = range(_ellipsoid_sweeps.ELLIPSOID_TAIL)
# The finest grid whose squared distances doubles tell apart.
FINEST = 2**26


@paragraphs
class EllipsoidClassifier(
    EstimatorMixin,
    OnlineClassifierMixin,
    ClassifierMixin,
    BaseEstimator,
):
    """Linear classification by the ellipsoid method.

    The weights that are sought are in the ellipsoid ``{v : (v - w)' A^-1 (v - w) <= 1}``, at first
    the unit ball. A trial scores a sample by ``w.x``, with the center ``w``. On a mistake,
    ``y w.x <= 0`` for the targets ``y = -1, 1``, the weights are in the half with
    ``y v.x > y w.x``; the least ellipsoid around it has in ``d`` dimensions::

        w <- w + y / (d + 1)  A x / sqrt(x' A x)
        A <- d^2 / (d^2 - 1)  (A - 2 / (d + 1)  A x x' A / (x' A x))

    For ``d = 1`` the interval becomes one half of it. The first trial is always a mistake. Only the
    directions of samples matter, not their lengths. ``partial_fit`` goes through its rows once, in
    their order, and any partition into blocks gives the same ellipsoid to the last bit. ``fit``
    starts from scratch and passes over the rows until a pass changes nothing.

    **The theorem.** Each update makes the volume smaller by a factor of at most
    ``exp(-1 / (2 d + 2))``. If there are weights, and samples, on a grid of the fineness ``1 / n``
    that classify without mistakes, the volume never falls below ``n^(-2 d)`` times the first one.
    So there are at most ``2 d (2 d + 2) ln(n)`` mistakes. An update that would make the volume less
    than that is left out: then no weights on the grid are right, ``exhausted_`` says so, and the
    number of updates stays within the bound whatever the samples are.

    **Numbers.** Kept is a factor ``B`` with ``A = B B'``, which a mistake changes by a matrix of
    rank one: ``A`` is positive semidefinite whatever rounding does. A mistake on a sample along
    which the ellipsoid is flat to rounding changes nothing.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is one more feature, which is always one, in the ellipsoid as all others.

    n_grid : float, default=2**26
        The fineness ``n`` of the grid, between 2 and ``2**26``.

    max_iter : int, default=100
        The largest number of passes of ``fit``.

    {keep_losses}

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The center; for more than two classes those of the ellipsoids of each class against all
        others.

    intercept_ : ndarray of shape (1,) or (n_classes,)
        Its entry for the feature that is always one.

    shape_ : ndarray of shape (n_vectors, d, d)
        The matrices ``A``, with the feature that is always one in the last row and column.

    log_volume_ : ndarray of shape (1,) or (n_classes,)
        The logarithm of the volume relative to the unit ball, ``1/2 ln det A``.

    {classes}

    {n_mistakes_of_passes}

    n_updates_ : int
        The number of updates; for two classes the number of mistakes but for those that were left
        out.

    bound_ : float
        The theorem's bound on ``n_updates_``; for more than two classes on the sum of all.

    exhausted_ : bool
        Whether an update was left out because the volume would have become too small.

    {cumulative_loss}

    loss_curve_ : ndarray of shape (`n_trials_`,)
        One for each mistake and zero for each other trial, if ``keep_losses``.

    {n_trials}

    converged_ : bool
        Whether the last pass of ``fit`` changed nothing: because it was clean, or because updates
        were left out.

    {n_iter}

    {features_in}

    See Also
    --------
    Perceptron : Its bound depends on the margin, not on the dimension.
    sklearn_sl.theory.ellipsoid_bound : The theorem.

    References
    ----------
    .. [1] M. Grötschel, L. Lovász and A. Schrijver, "The ellipsoid method and its consequences in
       combinatorial optimization", Combinatorica 1, 1981.

    .. [2] S. Shalev-Shwartz and S. Ben-David, "Understanding machine learning", Cambridge
       University Press, 2014, chapter 21.

    Examples
    --------
    >>> from sklearn_sl.online import EllipsoidClassifier
    >>> model = EllipsoidClassifier(fit_intercept=False)
    >>> model = model.partial_fit([[1.0, 0.0]], [1], classes=[-1, 1])
    >>> model.coef_.round(3), model.shape_.round(3)
    (array([[0.333, 0. ]]), array([[[0.444, 0. ], [0. , 1.333]]]))
    """

    coef_: Any
    intercept_: Any
    log_volume_: Any
    n_updates_: int
    bound_: float
    exhausted_: bool
    converged_: bool
    n_iter_: int

    _parameter_constraints = {
        "fit_intercept": ["boolean"],
        "n_grid": [Interval(Real, 2, FINEST, closed="both")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "keep_losses": ["boolean"],
    }
    _mutable = ("_centers", "_factors", "_tails")
    _fixed = ("fit_intercept", "n_grid")
    _together = False
    _sample_checks = {**SAMPLES, "accept_sparse": False}

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        n_grid: float = 2**26,
        max_iter: int = 100,
        keep_losses: bool = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.n_grid = n_grid
        self.max_iter = max_iter
        self.keep_losses = keep_losses

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # Of classes that no plane separates the center says little.
        tags.classifier_tags.poor_score = True
        return tags

    @property
    def _width(self):
        # An update costs much more than a score.
        return self._n_vectors() * (1 + self._centers.shape[1] // 8)

    def _begin(self, X):
        n_vectors, d = self._n_vectors(), X.shape[1] + self.fit_intercept
        self._centers = np.zeros((n_vectors, d))
        self._factors = np.tile(np.eye(d), (n_vectors, 1, 1))
        self._tails = np.zeros((n_vectors, _ellipsoid_sweeps.ELLIPSOID_TAIL))
        self._tails[:, FACTOR_SCALE] = 1.0

    def _check_arrays(self):
        n_vectors, d = self._n_vectors(), self.n_features_in_ + self._began_with["fit_intercept"]
        check_shape(self, "_centers", (n_vectors, d))
        check_shape(self, "_factors", (n_vectors, d, d))
        check_shape(self, "_tails", (n_vectors, _ellipsoid_sweeps.ELLIPSOID_TAIL))

    def _play(self, X, codes):
        d = self._centers.shape[1]
        least, ratio = -2 * d * np.log(self.n_grid), np.log(ellipsoid_volume_ratio(d).ratio)
        rows, buffers = as_rows(X), np.empty((2, d))
        scores = np.empty((len(codes), self._n_vectors()))
        played = [
            _ellipsoid_sweeps.sweep_ellipsoid(
                rows, self._signs(codes, k), least, ratio, *ellipsoid, buffers, scores, k
            )
            for k, ellipsoid in enumerate(
                zip(self._centers, self._factors, self._tails, strict=True)
            )
        ]
        return scores, min(played)

    def _n_changes(self):
        return int(self._tails[:, N_UPDATES].sum())

    def _finish(self):
        n_features, d = self.n_features_in_, self._centers.shape[1]
        self.coef_ = self._centers[:, :n_features].copy()
        self.intercept_ = self._centers[:, n_features:].sum(axis=1)
        self.log_volume_ = self._tails[:, LOG_VOLUME].copy()
        self.n_updates_ = self._n_changes()
        self.exhausted_ = bool(self._tails[:, EXHAUSTED].any())
        self.bound_ = float(len(self._tails) * ellipsoid_bound(d, self.n_grid))

    def _scores(self, X):
        return linear_scores(X, self.coef_, self.intercept_)

    @property
    def shape_(self) -> np.ndarray:
        """The matrices of the ellipsoids."""
        factors = self._tails[:, FACTOR_SCALE, None, None] * self._factors
        return factors @ factors.transpose(0, 2, 1)
