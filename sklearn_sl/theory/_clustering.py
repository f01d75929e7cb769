"""What the seeding of k-means promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_sl.theory._domain import plain, unwarned, whole

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


@unwarned
def kmeans_plus_plus_bound(n_clusters: ArrayLike) -> float | np.ndarray:
    """Return the factor by which the seeding of k-means++ may miss the best clustering.

    The first centre is a random sample. Each further one is drawn with a probability proportional
    to the squared distance from the nearest centre so far. The expected sum of squared distances
    from ``k`` such centres is at most ``8 (ln(k) + 2)`` times that from the best ``k`` centres, on
    all data; and Lloyd's iterations afterwards never increase it.

    Parameters
    ----------
    n_clusters : int or array-like of int
        The number ``k`` of clusters.

    Returns
    -------
    factor : float or ndarray
        The expected cost is no larger than this many times the least one.

    See Also
    --------
    sklearn.cluster.kmeans_plusplus : The seeding, with ``n_local_trials=1``.

    References
    ----------
    .. [1] D. Arthur and S. Vassilvitskii, "k-means++: the advantages of careful seeding", SODA
       2007.

    Examples
    --------
    >>> from sklearn_sl.theory import kmeans_plus_plus_bound
    >>> kmeans_plus_plus_bound([1, 10]).round(1)
    array([16. , 34.4])
    """
    return plain(8 * (np.log(whole("n_clusters", n_clusters, 1)) + 2))
