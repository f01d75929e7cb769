"""Labels that follow the smoothest eigenfunctions of a Gaussian graph that is never built.

The weights ``exp(-gamma ||x - x'||^2)`` are a product over any orthogonal coordinates. If so is the
density of the samples, the eigenfunctions of the graph's Laplacian in the limit of many samples are
products of functions of one coordinate each, and the smoothest of them are functions of a single
coordinate. So the density of each principal coordinate is estimated by a histogram, and what is
left is an eigenproblem of the order of the number of bins for each coordinate.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from scipy import linalg
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._memory import check_memory
from sklearn_sl._sklearn import (
    Interval,
    Progress,
    StrOptions,
    check_sample_weight,
    fit_context,
)
from sklearn_sl._state import check_entries
from sklearn_sl._threads import for_each, one_blas_thread
from sklearn_sl._validation import validate_data
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.graph._labelled_scores import accuracy_of_labelled
from sklearn_sl.graph._paragraphs import described
from sklearn_sl.graph._vertices import check_target, label_codes, label_column

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

# Numbers of a block of rows: what is made of them stays near the processor.
BLOCK = 2**17
# The bins of a coordinate end this many standard deviations from the mean; outliers are clipped.
REACH = 4.0
# A direction of less than this part of the largest deviation, or of the mean, is rounding.
FLAT, ROUNDING = 1e-6, 1e-12
# The width of the kernel, squared, is this part of the mean variance of a direction.
WIDTH = 1 / 16
# Neighbouring bins have at least the affinity exp(-NEIGHBOURS): they cannot resolve less.
NEIGHBOURS = 2.0
# The eigenvalue of a function that varies as much as one can. Up to it they are well determined.
ROUGH = 0.999
# Beyond this a sum of squares overflows; whatever is there is an outlier. One over it is nothing.
HUGE = np.float64(1e150)  # no float of Python, which would be cast to float32 beside such samples
OVERFLOW = "The squares of the features overflow: scale them (StandardScaler)."
# Passes over the samples, as callbacks are told.
PASSES = 5


def row_blocks(n_rows, n_columns):
    """Return slices of some rows each, which together are all rows."""
    step = max(1, BLOCK // max(n_columns, 1))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


# The density of each coordinate ----------------------------------------------------


def principal_axes(X, weight):
    """Return the mean, the directions and the variances of weighted samples, in blocks of rows.

    Directions without variance are left out. The largest entry of a direction is positive.
    """
    n_samples, n_features = X.shape
    check_memory(
        24 * n_features**2,
        f"The covariance of {n_features} features",
        "reduce their number first, for example by TruncatedSVD.",
    )
    blocks = row_blocks(n_samples, n_features)
    total = weight.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        mean = sum(weight[rows] @ X[rows].astype(np.float64) for rows in blocks) / total
        covariance = np.zeros((n_features, n_features))
        for rows in blocks:
            centred = X[rows] - mean
            covariance += (centred * weight[rows, None]).T @ centred
        covariance /= total
    if not np.isfinite(covariance).all():
        raise ValueError(OVERFLOW)
    # Features that are uncorrelated but for rounding keep their axes, also if they vary as much.
    spread = np.sqrt(covariance.diagonal())
    covariance[np.abs(covariance) <= ROUNDING * np.outer(spread, spread)] = 0
    variance, axes = linalg.eigh(covariance)
    variance, axes = variance[::-1], axes[:, ::-1].T
    deviation = np.sqrt(np.maximum(variance, 0))
    kept = deviation > max(FLAT * deviation[0], ROUNDING * linalg.norm(mean), 1 / HUGE)
    if kept.any() and any(np.any(np.abs(X[rows])[weight[rows] > 0] > HUGE) for rows in blocks):
        raise ValueError(OVERFLOW)  # clipped samples could all be equal
    variance, axes = variance[kept], axes[kept]
    largest = np.abs(axes).argmax(axis=1)
    return mean, axes * np.sign(axes[np.arange(len(axes)), largest])[:, None], variance


def coordinates(X, mean, axes):
    """Return a block of samples in the rotated coordinates."""
    return (np.clip(X.astype(np.float64), -HUGE, HUGE) - mean) @ axes.T


def bin_ranges(X, weight, mean, axes, variance):
    """Return the first and the last bin centre of each coordinate."""
    low, high = np.full(len(axes), np.inf), np.full(len(axes), -np.inf)
    for rows in row_blocks(*X.shape):
        S = coordinates(X[rows], mean, axes)[weight[rows] > 0]
        low = np.minimum(low, S.min(axis=0, initial=np.inf))
        high = np.maximum(high, S.max(axis=0, initial=-np.inf))
    reach = REACH * np.sqrt(variance)
    return np.maximum(low, -reach), np.minimum(high, reach)


def hat_functions(S, low, width, n_bins):
    """Return the shares of each coordinate's two neighbouring bin centres, sparse.

    Row ``i`` has the shares of all coordinates of sample ``i``: those of coordinate ``j`` are in
    the columns ``j * n_bins`` to ``(j + 1) * n_bins``. The matrix times values at the bin centres
    is linear interpolation; its column sums are a histogram that is continuous in the samples, so
    that rounding moves no sample to another bin.
    """
    n_samples, n_axes = S.shape
    shape = (n_samples, n_axes * n_bins)
    if not n_axes:
        return sp.csr_array(shape)
    position = np.clip((S - low) / width, 0, n_bins - 1)
    left = np.minimum(position.astype(np.int32), n_bins - 2)
    shares = np.empty((n_samples, n_axes, 2))
    np.subtract(position, left, out=shares[..., 1])
    np.subtract(1, shares[..., 1], out=shares[..., 0])
    left += n_bins * np.arange(n_axes, dtype=np.int32)
    columns = np.stack([left, left + 1], axis=-1)
    starts = np.arange(0, 2 * n_samples * n_axes + 1, 2 * n_axes, dtype=np.int32)
    return sp.csr_array((shares.ravel(), columns.ravel(), starts), shape=shape)


def histograms(X, weight, mean, axes, low, width, n_bins):
    """Return the share of the mass in each bin of each coordinate."""
    mass = np.zeros(len(axes) * n_bins)
    for rows in row_blocks(*X.shape):
        hats = hat_functions(coordinates(X[rows], mean, axes), low, width, n_bins)
        mass += hats.T @ weight[rows]
    return mass.reshape(len(axes), n_bins) / weight.sum()


# The eigenfunctions of a coordinate ------------------------------------------------


def eigenfunctions_on_bins(mass, width, gamma):
    """Return the eigenvalues and eigenfunctions of one coordinate, the smoothest first.

    With ``P = diag(mass)``, ``W`` the affinities ``exp(-gamma (s - s')^2)`` of the bin centres and
    ``D`` the column sums of ``P W P``, these are the solutions of::

        (D - P W P) g = sigma D g,    0 = sigma_0 < sigma_1 < ... < 1

    without the constant ``g_0``: the eigenfunctions of the normalised Laplacian of the bins. They
    have the mean square one under ``D``. ``W`` is totally positive, hence no eigenvalue is double,
    and ``g_k`` changes its sign ``k`` times; it is positive at the last bin.

    Parameters
    ----------
    mass : ndarray of shape (n_bins,)
        The mass of each bin, positive.

    width : float
        The distance of two bin centres.

    gamma : float
        The factor of the squared distance.

    Returns
    -------
    sigma : ndarray of shape (n_functions,)
        The eigenvalues, in ascending order, below ``ROUGH``.

    functions : ndarray of shape (n_functions, n_bins)
        The values of the eigenfunctions at the bin centres.
    """
    steps = np.arange(len(mass))
    W = np.exp(-min(gamma * width**2, NEIGHBOURS) * np.subtract.outer(steps, steps) ** 2)
    degree = W @ mass
    scale = np.sqrt(mass / degree)
    smoothness, Q = linalg.eigh(scale[:, None] * W * scale)
    smoothness, Q = smoothness[-2::-1], Q[:, -2::-1]
    kept = smoothness > 1 - ROUGH
    D = mass * degree
    functions = Q[:, kept].T / np.sqrt(D / D.sum())
    functions *= np.where(functions[:, -1:] < 0, -1, 1)
    return np.maximum(1 - smoothness[kept], 0), functions


def smoothest(mass, width, gamma, n_components):
    """Return the smoothest eigenfunctions of all coordinates: eigenvalues, axes, values on bins."""
    found = [eigenfunctions_on_bins(*axis, gamma) for axis in zip(mass, width, strict=True)]
    eigenvalues = np.concatenate([np.empty(0), *(sigma for sigma, _ in found)])
    axis = np.repeat(np.arange(len(found)), [len(sigma) for sigma, _ in found])
    values = np.concatenate([np.empty((0, mass.shape[1])), *(g for _, g in found)])
    order = np.argsort(eigenvalues, kind="stable")[:n_components]
    return eigenvalues[order], axis[order], values[order]


def default_gamma(variance):
    """Return ``gamma = 1 / (2 h^2)``, ``h`` a quarter of the typical deviation of a direction.

    The mean of the variances is one over the variance itself: directions in which nothing happens
    do not count.
    """
    if not len(variance):
        return 1.0
    share = variance / variance[0]
    return float(share.sum() / (2 * WIDTH * (share @ share)) / variance[0])


# The labels ------------------------------------------------------------------------


class LabelSystem:
    """The sums over labelled samples from which the coefficients of the eigenfunctions follow.

    The minimiser of ``sum_i w_i (f(x_i) - y_i)^2 + alpha sum_k sigma_k a_k^2`` over
    ``f = b + sum_k a_k g_k``, for each class. The intercept ``b``, the constant eigenfunction,
    costs nothing; centring the functions and the targets takes it out, and what is left is
    ``(G + alpha Sigma) a = H``.
    """

    def __init__(self, n_functions, n_classes):
        self.total = 0.0
        self.sums = np.zeros(n_functions)
        self.class_sums = np.zeros(n_classes)
        self.products = np.zeros((n_functions, n_functions))
        self.targets = np.zeros((n_functions, n_classes))

    def add(self, U, codes, weight):
        """Add samples: the values of the functions, the numbers of the classes, the weights."""
        weighted = U * weight[:, None]
        Y = np.eye(len(self.class_sums))[codes]
        self.total += weight.sum()
        self.sums += weighted.sum(axis=0)
        self.class_sums += weight @ Y
        self.products += weighted.T @ U
        self.targets += weighted.T @ Y

    def solve(self, eigenvalues, alpha):
        """Return the coefficients, the intercepts and the certificates, a dict."""
        mean, prior = self.sums / self.total, self.class_sums / self.total
        G = self.products - self.total * np.outer(mean, mean)
        H = self.targets - self.total * np.outer(mean, prior)
        sigma = np.maximum(eigenvalues, np.finfo(np.float64).eps)
        coef = _solve_ridge(G, H, sigma, alpha)
        energy = float(sigma @ np.sum(coef**2, axis=1))
        spread = self.total * float(1 - prior @ prior)
        loss = spread - float(np.sum(coef * (2 * H - G @ coef)))
        residual = linalg.norm(G @ coef + alpha * sigma[:, None] * coef - H)
        size = linalg.norm(H)
        certificates = {
            "energy_": energy,
            "objective_": max(loss, 0.0) + alpha * energy,
            "label_fit_": 1 - max(loss, 0.0) / spread if spread else 1.0,
            "residual_norm_": float(residual / size) if size else 0.0,
        }
        return coef, prior - mean @ coef, certificates


def _solve_ridge(G, H, sigma, alpha):
    """Solve ``(G + alpha diag(sigma)) a = H`` for a ``G`` that may be singular."""
    root = np.sqrt(sigma)[:, None]
    if not len(root):
        return np.zeros_like(H)
    s, Q = linalg.eigh(G / (root * root.T))
    # Where the labels say nothing there is nothing on the right side either, but rounding.
    known = s > len(s) * np.finfo(np.float64).eps * s[-1]
    shrink = np.divide(1, s + alpha, out=np.zeros_like(s), where=known)
    return Q @ (shrink[:, None] * (Q.T @ (H / root))) / root


# The estimator ---------------------------------------------------------------------


@described
class EigenfunctionClassifier(EstimatorMixin, ClassifierMixin, BaseEstimator):
    r"""Semi-supervised classification in the span of smooth eigenfunctions, linear in ``n``.

    All samples, labelled or not, are the vertices of a complete graph with the weights
    :math:`w_{ij} = e^{-\gamma\|x_i - x_j\|^2}`, which is never built. In the limit of many samples
    the eigenvectors of its normalised Laplacian are functions of the place. If the density is a
    product over the principal coordinates, the smoothest of them are functions of one coordinate
    each [1]_. For each coordinate these are found from a histogram: with the masses :math:`P` and
    the affinities :math:`W` of the bins, and :math:`D` the column sums of :math:`P W P`,

    .. math::

        (D - P W P)\, g = \sigma D g .

    Of all coordinates together the :math:`k` functions of the smallest :math:`\sigma` are kept, and
    interpolated linearly between the bins. The function of each class, with targets :math:`y_i` of
    one for its labelled samples and zero for the others, is the minimiser of

    .. math::

        \sum_{i \text{ labelled}} w_i (f(x_i) - y_i)^2 + \alpha \sum_k \sigma_k a_k^2 ,
        \qquad f = b + \sum_k a_k g_k .

    The functions of the classes add up to one everywhere. Their positive parts, divided by their
    sum, are the probabilities.

    Parameters
    ----------
    n_components : int, default=64
        The largest number :math:`k` of eigenfunctions. Those with an eigenvalue above 0.999, which
        are as rough as noise, are never used.

    n_bins : int, default=50
        The number of bins of each coordinate. They end four standard deviations from the mean, or
        at the outermost sample; samples beyond count as at the end.

    gamma : float or "scale", default="scale"
        The factor of the squared distance. "scale" is :math:`1 / (2 h^2)`, where :math:`h` is a
        quarter of the standard deviation of a direction, with the mean over directions weighted by
        their variances. In a coordinate whose bins are further apart the kernel is widened, so that
        neighbouring bins have an affinity of at least :math:`e^{-2}`.

    alpha : float, default=30
        How much roughness costs, against the squared errors of the labels.

    smoothing : float, default=0.01
        The part of the mass that is spread evenly over the bins of each coordinate, so that none is
        empty.

    unlabelled : object, default="auto"
        The mark of unlabelled samples in ``y``; None if all samples are labelled. "auto" is -1,
        unless the labels are -1 and 1 alone, which are two classes then, with a warning.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.

    prior_ : ndarray of shape (n_classes,)
        The shares of the classes among the labels.

    eigenvalues_ : ndarray of shape (n_functions,)
        The eigenvalues of the functions in use, in ascending order.

    axis_ : ndarray of shape (n_functions,)
        The principal coordinate, a row of ``components_``, that each function depends on.

    eigenfunctions_ : ndarray of shape (n_functions, n_bins)
        The values of each function at the bin centres.

    coef_ : ndarray of shape (n_functions, n_classes)
        The coefficients :math:`a` of the classes.

    intercept_ : ndarray of shape (n_classes,)
        The intercepts :math:`b` of the classes.

    mean_ : ndarray of shape (n_features,)
        The mean of the samples.

    components_ : ndarray of shape (n_axes, n_features)
        The principal directions that the functions depend on.

    bin_centers_ : ndarray of shape (n_axes, n_bins)
        The bin centres of each coordinate.

    gamma_ : float
        The factor in use.

    label_distributions_ : ndarray of shape (n_samples, n_classes)
        The probabilities of the classes at the training samples.

    transduction_ : ndarray of shape (n_samples,)
        The most likely class of each training sample.

    residual_norm_ : float
        Certificate: the norm of the residual of the linear system, relative to its right-hand side.

    objective_ : float
        The least value of the objective, summed over the classes.

    energy_ : float
        The roughness :math:`\sum_k \sigma_k a_k^2`, summed over the classes.

    label_fit_ : float
        The share of the variance of the labels that the functions explain: one if they go through
        all labels, zero if they are constant.

    {features_seen}

    See Also
    --------
    SpectralBisection : The second eigenvector of a graph that is built.

    References
    ----------
    .. [1] R. Fergus, Y. Weiss and A. Torralba (2009). Semi-supervised learning in gigantic image
       collections. Advances in Neural Information Processing Systems 22.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from sklearn_sl.graph import EigenfunctionClassifier
    >>> X, y = make_blobs(10_000, centers=3, n_features=5, random_state=0)
    >>> some = np.where(np.arange(10_000) < 10, y, -1)  # ten labels
    >>> model = EigenfunctionClassifier().fit(X, some)
    >>> round(float(np.mean(model.transduction_ == y)), 2)
    1.0
    """

    classes_: np.ndarray
    prior_: np.ndarray
    eigenvalues_: np.ndarray
    axis_: np.ndarray
    eigenfunctions_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray
    mean_: np.ndarray
    components_: np.ndarray
    bin_centers_: np.ndarray
    gamma_: float
    label_distributions_: np.ndarray
    transduction_: np.ndarray
    residual_norm_: float
    objective_: float
    energy_: float
    label_fit_: float

    _parameter_constraints = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_bins": [Interval(Integral, 2, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="neither"), StrOptions({"scale"})],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "smoothing": [Interval(Real, 0, 1, closed="neither")],
        "unlabelled": "no_validation",
    }

    def __init__(
        self,
        n_components: int = 64,
        *,
        n_bins: int = 50,
        gamma: float | str = "scale",
        alpha: float = 30,
        smoothing: float = 0.01,
        unlabelled: Any = "auto",
    ) -> None:
        self.n_components = n_components
        self.n_bins = n_bins
        self.gamma = gamma
        self.alpha = alpha
        self.smoothing = smoothing
        self.unlabelled = unlabelled

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All samples, labelled or not.

        y : array-like of shape (n_samples,)
            Class labels; -1, or what ``unlabelled`` says, where there is none.

        sample_weight : float or array-like of shape (n_samples,), default=None
            Weights: an integer weight is the same as repeated rows, a weight of zero the same as a
            removed row.

        Returns
        -------
        self : EigenfunctionClassifier
            The fitted estimator.
        """
        X, codes, weight = self._labelled_data(X, y, sample_weight)
        # Blocks are too small for several BLAS threads, which would only wait for one another.
        with Progress(self, name="pass", total=PASSES) as progress, one_blas_thread():
            self._find_functions(X, weight, progress)
            with progress.step():
                self._fit_labels(X, codes, weight)
            with progress.step():
                self._transduce(X)
        return self

    def _labelled_data(self, X, y, sample_weight):
        """Return the samples, the numbers of their classes, -1 for none, and the weights."""
        check_target(self, y)
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        y = label_column(y, X)
        weight = check_sample_weight(sample_weight, X, dtype=np.float64)
        weight = np.ones(len(X)) if weight is None else weight
        present = weight > 0
        codes = np.full(len(y), -1)
        self.classes_, codes[present] = label_codes(y[present], self.unlabelled)
        return X, codes, weight

    def _find_functions(self, X, weight, progress):
        """Set the eigenfunctions, and the principal coordinates that they depend on."""
        with progress.step():
            mean, axes, variance = principal_axes(X, weight)
        with progress.step():
            low, high = bin_ranges(X, weight, mean, axes, variance)
        width = (high - low) / (self.n_bins - 1)
        with progress.step():
            mass = histograms(X, weight, mean, axes, low, width, self.n_bins)
        mass = (1 - self.smoothing) * mass + self.smoothing / self.n_bins
        self.gamma_ = default_gamma(variance) if self.gamma == "scale" else float(self.gamma)
        found = smoothest(mass, width, self.gamma_, self.n_components)
        self.eigenvalues_, axis, self.eigenfunctions_ = found
        used, self.axis_ = np.unique(axis, return_inverse=True)
        self.mean_, self.components_ = mean, axes[used]
        self.bin_centers_ = low[used, None] + width[used, None] * np.arange(self.n_bins)

    def _fit_labels(self, X, codes, weight):
        """Set the coefficients, from the labelled samples, and the certificates."""
        table = self._table(np.eye(len(self.eigenvalues_)))
        system = LabelSystem(len(self.eigenvalues_), len(self.classes_))
        labelled = np.flatnonzero(codes >= 0)
        for block in row_blocks(len(labelled), X.shape[1]):
            rows = labelled[block]
            system.add(self._hats(X[rows]) @ table, codes[rows], weight[rows])
        self.prior_ = system.class_sums / system.total
        self.coef_, self.intercept_, certificates = system.solve(self.eigenvalues_, self.alpha)
        vars(self).update(certificates)

    def _transduce(self, X):
        """Set the probabilities of the training samples."""
        self.label_distributions_ = self._probabilities(X)
        self.transduction_ = self.classes_[self.label_distributions_.argmax(axis=1)]

    def _check_state(self):
        if "bin_centers_" not in vars(self):
            return
        largest = np.finfo(np.float64).max
        for name in ("mean_", "components_", "bin_centers_"):
            check_entries(getattr(self, name), name, -largest, largest)
        if not (np.diff(self.bin_centers_[:, :2]) > 0).all():
            raise ValueError("The state bin_centers_ must be strictly increasing.")

    def _hats(self, X):
        """Return the shares of the bin centres at a block of samples."""
        low, width = self.bin_centers_[:, 0], np.diff(self.bin_centers_[:, :2]).ravel()
        S = coordinates(X, self.mean_, self.components_)
        return hat_functions(S, low, width, self.eigenfunctions_.shape[1])

    def _table(self, coef):
        """Return the values at all bin centres of linear combinations of the eigenfunctions."""
        n_axes, n_bins = self.bin_centers_.shape
        table = np.zeros((n_axes, n_bins, coef.shape[1]))
        np.add.at(table, self.axis_, self.eigenfunctions_[:, :, None] * coef[:, None, :])
        return table.reshape(n_axes * n_bins, coef.shape[1])

    def _values(self, X, table):
        """Return values at samples from those at the bin centres."""
        values = np.empty((X.shape[0], table.shape[1]))

        def fill(rows):
            values[rows] = self._hats(X[rows]) @ table

        for_each(fill, row_blocks(*X.shape))
        return values

    def _probabilities(self, X):
        # A sum of functions of one coordinate each: their number does not matter here.
        F = self._values(X, self._table(self.coef_))
        F += self.intercept_
        np.maximum(F, 0, out=F)
        F /= F.sum(axis=1, keepdims=True)
        return F

    def eigenfunctions(self, X: ArrayLike) -> np.ndarray:
        """Return the values of the eigenfunctions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        values : ndarray of shape (n_samples, n_functions)
            The values; functions in the order of ``eigenvalues_``.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return self._values(X, self._table(np.eye(len(self.eigenvalues_))))

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the probabilities of the classes at samples, new or not.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Rows add up to one.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return self._probabilities(X)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the most likely class of samples, new or not.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The classes.
        """
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on the samples that have a label.

        Samples that are marked as unlabelled are left out: their label is unknown, not wrong. For
        other scores see :func:`sklearn_sl.graph.labelled_scorer`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        y : array-like of shape (n_samples,)
            The labels.

        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the samples.

        Returns
        -------
        score : float
            The share of the labels that are predicted.
        """
        return accuracy_of_labelled(self, X, y, sample_weight)
