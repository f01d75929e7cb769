"""Label propagation and label spreading as scikit-learn has them, solved instead of iterated."""

from __future__ import annotations

from math import sqrt
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._memory import check_memory
from sklearn_sl._rows import added_up
from sklearn_sl._sklearn import Interval, Progress, StrOptions, fit_context
from sklearn_sl._threads import blas_threads_for
from sklearn_sl._validation import validate_data
from sklearn_sl._warnings import warn
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.graph._absorption import harmonic, normalised, spreading
from sklearn_sl.graph._labelled_scores import accuracy_of_labelled
from sklearn_sl.graph._nearest import nearest_samples, nearest_search
from sklearn_sl.graph._paragraphs import described
from sklearn_sl.graph._vertices import propagation_codes
from sklearn_sl.kernels._base import TILE_SIDE, flush, gram, row_blocks
from sklearn_sl.kernels._radial import Gaussian, gaussian_map, negated_squared_distances

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_sl._typing import ArrayLike, MatrixLike, SparseLike


class PropagationMixin:
    """The affinities between samples, and what follows from distributions of labels."""

    X_: np.ndarray | SparseLike
    classes_: np.ndarray
    label_distributions_: np.ndarray
    transduction_: np.ndarray
    prior_: np.ndarray
    component_without_label_: np.ndarray
    residual_: float
    n_iter_: int

    _parameter_constraints = {
        "kernel": [StrOptions({"knn", "rbf"}), callable],
        "gamma": [Interval(Real, 0, None, closed="left")],
        "n_neighbors": [Interval(Integral, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [None, Integral],
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _training_labels(self, X, y):
        """Return the samples, which of them are labelled, and the indicators of the classes."""
        X = validate_data(self, X, accept_sparse="csr")
        X = added_up(X) if sp.issparse(X) else X
        self.classes_, codes = propagation_codes(self, X, y)
        labelled = codes >= 0
        Y = np.zeros((len(codes), len(self.classes_)))
        Y[labelled, codes[labelled]] = 1
        self.prior_ = Y[labelled].mean(axis=0)
        return X, labelled, Y

    def _keep(self, X, found):
        """Set what follows from a solution, and warn if it has not converged."""
        self.X_ = X
        self._set_distributions(found.F)
        self.residual_, self.n_iter_ = found.residual, found.n_iter
        if not found.converged:
            warn(
                f"max_iter={self.max_iter} was reached without convergence: the residual is "
                f"{found.residual:.1e}, above tol={self.tol:.1e}. Increase max_iter or tol.",
                ConvergenceWarning,
            )
        return self

    def _set_distributions(self, F):
        """Keep the distributions; those without one get the prior, and a warning counts them."""
        self.component_without_label_ = ~F.any(axis=1)
        F[self.component_without_label_] = self.prior_
        self.label_distributions_ = F
        self.transduction_ = self.classes_[np.argmax(F, axis=1)]
        n_without = np.count_nonzero(self.component_without_label_)
        if n_without:
            warn(
                f"{n_without} samples are not connected to any labelled sample: their distribution "
                "is that of the labels (see component_without_label_). Decrease gamma or increase "
                "n_neighbors to connect them.",
                UserWarning,
            )

    def _affinities(self, X):
        """Return the affinities of the training samples, with a diagonal of zeros."""
        if self.kernel == "knn":
            return self._neighbour_graph(X)
        n = X.shape[0]
        if n > TILE_SIDE:
            check_memory(
                24 * n**2,
                f"The affinity matrix of {n} samples, with its factor,",
                'use kernel="knn", or LaplacianInterpolationClassifier.',
            )
        if self.kernel != "rbf":
            A = check_affinities(self.kernel(X, X), (n, n))
        elif self.gamma:
            A = _gaussian_affinities(_as_float(X), self.gamma)
        else:
            A = np.ones((n, n))
        return _without_diagonal(A)

    def _neighbour_graph(self, X):
        """Return the graph of an edge from each sample to each of its neighbours."""
        self._search = nearest_search(X, self.n_neighbors, self.n_jobs)
        numbers = np.concatenate([numbers for _, numbers in nearest_samples(self._search, X)])
        starts = np.arange(len(numbers) + 1) * numbers.shape[1]
        shape = (X.shape[0], X.shape[0])
        ones = np.ones(numbers.size)
        return _without_diagonal(sp.csr_array((ones, numbers.ravel(), starts), shape=shape))

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Return the distribution of the label of each sample.

        The average of the distributions of the training samples, weighted by their affinities to
        the sample (an average of the ``n_neighbors`` nearest if the kernel is "knn"). For the
        kernel "rbf" the affinities are relative to the largest, so that they are numbers however
        far the sample is. Training samples that are tied to no label do not count; where no other
        has an affinity, the answer is ``prior_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            A probability for each class, in the order of ``classes_``.
        """
        check_is_fitted(self)
        X = added_up(validate_data(self, X, accept_sparse="csr", reset=False))
        with blas_threads_for(X):
            F = normalised(self._averages(X))
        F[~F.any(axis=1)] = self.prior_
        return F

    def _averages(self, X):
        """Return the sums of the distributions of the training samples, weighted by affinity."""
        # A sample that is tied to no label tells nothing about others.
        votes = np.where(self.component_without_label_[:, None], 0, self.label_distributions_)
        if self.kernel == "knn":
            F = np.empty((X.shape[0], len(self.classes_)))
            for rows, numbers in nearest_samples(self._search, X):
                F[rows] = votes[numbers].sum(axis=1)
            return F
        if self.kernel == "rbf":
            return self._gaussian_averages(_as_float(X), votes)
        shape = (self.X_.shape[0], X.shape[0])
        return np.asarray(check_affinities(self.kernel(self.X_, X), shape).T @ votes)

    @np.errstate(all="ignore")
    def _gaussian_averages(self, X, votes):
        """Return sums of ``votes`` with the weights ``exp(-gamma d**2)``, relative to the largest.

        The largest is that of a sample which has a vote.
        """
        voting = votes.any(axis=1)
        training, votes = _as_float(self.X_)[voting], votes[voting]
        n, F = training.shape[0], np.empty((X.shape[0], votes.shape[1]))
        exponents = negated_squared_distances(X, training, sqrt(self.gamma))
        for rows in row_blocks(X.shape[0], n):
            weights = exponents(rows, slice(0, n), np.empty((rows.stop - rows.start, n)))
            weights -= weights.max(axis=1, keepdims=True)
            np.exp(weights, out=weights)
            flush(weights)
            F[rows] = weights @ votes
        return F

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Return the most probable class of each sample.

        Of a training sample that need not be its ``transduction_``, as a training sample is looked
        at like any other.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The classes.
        """
        most_probable = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[most_probable]

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on the samples that have a label.

        Samples that are marked as unlabelled are left out: their label is unknown, not wrong. For
        other scores see :func:`sklearn_sl.graph.labelled_scorer`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
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


def _gaussian_affinities(X, gamma):
    """Return ``exp(-gamma d**2)`` of all pairs of samples, exactly symmetric."""
    n = X.shape[0]
    if n > TILE_SIDE:
        return gram(Gaussian(gamma=gamma), X, encoded=True)
    with np.errstate(all="ignore"):
        every = slice(0, n)
        A = negated_squared_distances(X, X, sqrt(gamma))(every, every, np.empty((n, n)))
        gaussian_map(A)
    np.copyto(A, A.T.copy(), where=np.tri(n, k=-1, dtype=bool))
    return A


def _as_float(X):
    """Return samples as the kernels take them: float64, in rows."""
    if sp.issparse(X):
        return added_up(sp.csr_array(X, dtype=np.float64))
    return np.ascontiguousarray(X, dtype=np.float64)


def _without_diagonal(A):
    """Return affinities without their diagonal; a sparse matrix without stored zeros."""
    if sp.issparse(A):
        A = A.tocoo()
        kept = (A.row != A.col) & (A.data != 0)
        return sp.csr_array((A.data[kept], (A.row[kept], A.col[kept])), shape=A.shape)
    np.fill_diagonal(A, 0)
    return A


def check_affinities(weights, shape):
    """Return what a callable kernel gave, of the size of one; or say why it is no affinity."""
    if sp.issparse(weights):
        weights = sp.csr_array(weights, dtype=np.float64, copy=True)
        stored = weights.data
    else:
        stored = weights = np.array(weights, dtype=np.float64, order="C")
    if weights.shape != shape:
        raise ValueError(
            f"kernel must return a matrix of shape {shape}, one affinity for each pair of samples; "
            f"got shape {weights.shape}."
        )
    if not np.isfinite(stored).all():
        raise ValueError(
            "kernel returned affinities that are infinite or NaN: scale the features, or choose "
            "another kernel."
        )
    if stored.size and stored.min() < 0:
        raise ValueError(
            "kernel returned a negative affinity. Affinities must be >= 0: use a kernel such as "
            "rbf_kernel, or clip its values at 0."
        )
    # Only ratios matter; sums must not overflow, and denormal numbers are slow.
    stored /= stored.max(initial=0) or 1
    flush(stored)
    return weights


@described
class LabelPropagation(EstimatorMixin, PropagationMixin, ClassifierMixin, BaseEstimator):
    """Label propagation classifier.

    From a sample ``i`` the walk goes to ``j`` with a probability in proportion to the affinity
    ``A_ij``, until it meets a labelled sample. The distribution of the label there solves::

        u_i = y_i                                  for labelled i
        u_i = sum_j A_ij u_j / sum_j A_ij          for all others

    with ``j`` over the samples that are tied to a label. This is the limit of the iteration of
    :class:`sklearn.semi_supervised.LabelPropagation`, whose parameters and results these are; here
    the linear system is solved. See the :ref:`user guide <graph_propagation>`.

    Parameters
    ----------
    {affinities}

    max_iter : int, default=1000
        The most steps of the iterative solver of large systems, beyond the number of edges between
        a sample and its nearest label. Small systems are solved directly.

    tol : float, default=1e-3
        The largest ``residual_``: as in scikit-learn, the sum of the changes of all probabilities
        in one more step of the iteration. The iterative solver aims at a thousandth of it.

    n_jobs : int, default=None
        The number of parallel jobs of the search of neighbours.

    Attributes
    ----------
    {propagated}

    component_without_label_ : ndarray of shape (n_samples,)
        Whether a training sample is tied to no label; such samples get ``prior_``.

    residual_ : float
        Certificate: the sum of ``|u - P u|`` over all samples and classes, where ``P`` is the walk.

    n_iter_ : int
        The steps taken, 1 for the direct solver.

    {features_seen}

    See Also
    --------
    LabelSpreading : The same with labels that may be wrong.

    References
    ----------
    X. Zhu and Z. Ghahramani. Learning from labeled and unlabeled data with label propagation.
    Technical report CMU-CALD-02-107, 2002.

    W. K. Grassmann, M. I. Taksar and D. P. Heyman. Regenerative analysis and steady state
    distributions for Markov chains. Operations Research 33, 1985.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_sl.graph import LabelPropagation
    >>> X, y = load_iris(return_X_y=True)
    >>> labels = np.full(len(y), -1)
    >>> labels[::10] = y[::10]
    >>> model = LabelPropagation().fit(X, labels)
    >>> print(f"{np.mean(model.transduction_ == y):.2f}")
    0.90
    >>> bool(model.residual_ < 1e-10)
    True
    """

    def __init__(
        self,
        kernel: Literal["knn", "rbf"] | Callable[..., Any] = "rbf",
        *,
        gamma: float = 20,
        n_neighbors: int = 7,
        max_iter: int = 1000,
        tol: float = 1e-3,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Fit the model to labelled and unlabelled samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All samples, labelled or not.

        y : array-like of shape (n_samples,)
            Class labels; -1 marks the samples without one.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, labelled, Y = self._training_labels(X, y)
        A = self._affinities(X)
        with Progress(self, name="step", total=None) as progress:
            found = harmonic(A, labelled, Y, self.tol, self.max_iter, progress)
        return self._keep(X, found)


@described
class LabelSpreading(EstimatorMixin, PropagationMixin, ClassifierMixin, BaseEstimator):
    """Label spreading classifier.

    Solves ``F = alpha S F + (1 - alpha) Y``, where ``Y`` are the indicators of the labels, zero for
    unlabelled samples, ``S_ij = A_ij / sqrt(d_i d_j)`` without its diagonal, and ``d_j = sum_i
    A_ij``; the rows of ``F`` are normalised. For symmetric affinities ``A`` this ``F`` minimises::

        sum_ij A_ij ||F_i / sqrt(d_i) - F_j / sqrt(d_j)||**2 / 2
            + (1 / alpha - 1) sum_i ||F_i - Y_i||**2

    The parameters and results are those of :class:`sklearn.semi_supervised.LabelSpreading`. See
    the :ref:`user guide <graph_propagation>`.

    Parameters
    ----------
    {affinities}

    alpha : float, default=0.2
        The weight of the neighbours, between 0 (each sample keeps its label) and 1 (labels do not
        count), both excluded.

    max_iter : int, default=30
        The most steps of an iterative solver, beyond the number of edges between a sample and its
        nearest label. Where these would not do, small symmetric systems are solved directly.

    tol : float, default=1e-3
        The largest ``residual_``: all changes in one more step of scikit-learn's iteration, those
        of a sample relative to the sum of its row.

    n_jobs : int, default=None
        The number of parallel jobs of the search of neighbours.

    Attributes
    ----------
    {propagated}

    component_without_label_ : ndarray of shape (n_samples,)
        Whether a training sample is tied to no label, or by so many edges that its row of ``F``
        underflows; such samples get ``prior_``.

    residual_ : float
        Certificate: the sum over the samples of ``|F - alpha S F - (1 - alpha) Y|``, each relative
        to ``|F|`` (sums over the classes), as ``F`` may be tiny far from the labels.

    n_iter_ : int
        The steps taken, 1 for the direct solver.

    {features_seen}

    See Also
    --------
    LabelPropagation : The same with labels that are certain.

    References
    ----------
    D. Zhou, O. Bousquet, T. N. Lal, J. Weston and B. Schoelkopf. Learning with local and global
    consistency. Advances in Neural Information Processing Systems 16, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_sl.graph import LabelSpreading
    >>> X, y = load_iris(return_X_y=True)
    >>> labels = np.full(len(y), -1)
    >>> labels[::10] = y[::10]
    >>> model = LabelSpreading(gamma=5, alpha=0.9).fit(X, labels)
    >>> print(f"{np.mean(model.transduction_ == y):.2f}")
    0.93
    """

    _compare_grid = {"gamma": [0.01, 0.1, 1.0], "alpha": [0.05, 0.2, 0.8]}
    _parameter_constraints = {
        **PropagationMixin._parameter_constraints,
        "alpha": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        kernel: Literal["knn", "rbf"] | Callable[..., Any] = "rbf",
        *,
        gamma: float = 20,
        n_neighbors: int = 7,
        alpha: float = 0.2,
        max_iter: int = 30,
        tol: float = 1e-3,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Fit the model to labelled and unlabelled samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All samples, labelled or not.

        y : array-like of shape (n_samples,)
            Class labels; -1 marks the samples without one.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, _, Y = self._training_labels(X, y)
        A = self._affinities(X)
        with Progress(self, name="step", total=None) as progress:
            found = spreading(A, Y, self.alpha, self.tol, self.max_iter, progress)
        return self._keep(X, found)
