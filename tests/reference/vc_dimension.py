"""The VC dimension and the growth function of a sign matrix, by trying all sets of points."""

from itertools import combinations

import numpy as np


def n_patterns(signs, points):
    """Return the number of different rows on some columns."""
    return len(np.unique(signs[:, list(points)], axis=0))


def shattered_sets(signs):
    """Yield the sets of columns on which all patterns occur, small ones first."""
    for size in range(signs.shape[1] + 1):
        for points in combinations(range(signs.shape[1]), size):
            if size == 0 or n_patterns(signs, points) == 2**size:
                yield points


def vc_dimension(signs):
    """Return the size of the largest shattered set."""
    return max(map(len, shattered_sets(signs)))


def growth_function(signs):
    """Return the largest number of patterns on each number of points."""
    n_points = signs.shape[1]
    return [1] + [
        max(n_patterns(signs, points) for points in combinations(range(n_points), size))
        for size in range(1, n_points + 1)
    ]
