"""Random walks that end at labels, in exact arithmetic."""

from fractions import Fraction

import numpy as np


def exact_solution(A, loss, b):
    """Return the solution of ``(D - A) x = b``, ``D_ii = sum_j A_ij + loss_i``, rounded once.

    Gaussian elimination of fractions; the diagonal of ``A`` is left out.
    """
    n = len(A)
    M = [[-Fraction(float(A[i][j])) if i != j else Fraction(0) for j in range(n)] for i in range(n)]
    for i in range(n):
        M[i][i] = Fraction(float(loss[i])) - sum(M[i])
        M[i] += [Fraction(float(value)) for value in b[i]]
    for k in range(n):
        M[k] = [value / M[k][k] for value in M[k]]
        for i in range(n):
            if i != k:
                M[i] = [value - M[i][k] * other for value, other in zip(M[i], M[k], strict=True)]
    return np.array([[float(value) for value in row[n:]] for row in M])


def absorption_probabilities(P, absorbing, n_steps):
    """Return where a walk with the transitions ``P`` is after many steps, by its start.

    Columns are the absorbing states. ``n_steps`` is the number of squarings of ``P``.
    """
    P = P.copy()
    P[absorbing] = np.eye(len(P))[absorbing]
    for _ in range(n_steps):
        P = P @ P
    return P[:, absorbing]
