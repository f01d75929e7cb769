"""The law from which a class cannot be learned with few samples."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from sklearn_sl.datasets._streams import at_least, between


def make_shattered_points(
    n_samples: int = 100,
    dimension: int = 10,
    *,
    epsilon: float = 0.1,
    labels: np.ndarray | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make samples of the law that proves how many samples a class of VC dimension ``d`` needs.

    It lives on a set of ``d`` points that the class shatters. The first point has probability
    ``1 - 4 epsilon`` and each other one ``4 epsilon / (d - 1)``; the labels are drawn by a fair
    coin, and as the class shatters the points, one of its hypotheses makes no error. Few samples
    are of the rare points: of ``m < (d - 1) / (8 epsilon)`` samples at least half of the rare
    points are expected to be missing, and whoever has to guess their labels has an expected error
    of at least ``epsilon``. With ``p = 4 epsilon / (d - 1)`` it is, over labels and samples::

        2 epsilon (1 - p)^m + (1 - 4 epsilon)(4 epsilon)^m / 2

    for the best learner, one by rote.

    Parameters
    ----------
    n_samples : int, default=100
        The number ``m`` of samples.

    dimension : int, default=10
        The VC dimension ``d``, at least two.

    epsilon : float, default=0.1
        The error below which no learner is to come; at most 1/4.

    labels : array-like of shape (dimension,), default=None
        The labels 0 and 1 of the points. None: drawn.

    random_state : int, RandomState instance or None, default=None
        For the draws.

    Returns
    -------
    X : ndarray of shape (n_samples, dimension)
        The samples: a one in the column of the point, zeros elsewhere. Linear functions shatter
        these points.

    y : ndarray of shape (n_samples,)
        The classes 0 and 1.

    labels : ndarray of shape (dimension,)
        The class of each point; row ``j`` of the identity matrix is point ``j``.

    See Also
    --------
    sklearn_sl.theory.vc_sample_size : The theorem.
    sklearn_sl.theory.no_free_lunch : The same idea for all points alike.

    References
    ----------
    .. [1] A. Ehrenfeucht, D. Haussler, M. Kearns and L. Valiant, "A general lower bound on the
       number of examples needed for learning", Information and Computation 82, 1989.

    Examples
    --------
    >>> from sklearn_sl.datasets import make_shattered_points
    >>> X, y, labels = make_shattered_points(1000, 5, epsilon=0.1, random_state=0)
    >>> X.mean(axis=0), labels
    (array([0.594, 0.11 , 0.1  , 0.095, 0.101]), array([0, 1, 1, 0, 1]))
    """
    at_least(1, n_samples=n_samples)
    at_least(2, dimension=dimension)
    between(0, 0.25, epsilon=epsilon)
    rng = check_random_state(random_state)
    if labels is None:
        labels = rng.randint(2, size=dimension)
    labels = np.asarray(labels)
    if labels.shape != (dimension,) or not np.isin(labels, (0, 1)).all():
        raise ValueError(f"labels must be dimension={dimension} numbers 0 or 1; got {labels!r}.")
    probabilities = np.full(dimension, 4 * epsilon / (dimension - 1))
    probabilities[0] = 1 - 4 * epsilon
    drawn = rng.choice(dimension, size=n_samples, p=probabilities)
    return np.eye(dimension)[drawn], labels[drawn], labels
