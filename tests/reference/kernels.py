"""Kernels one pair at a time, by the formula of the definition, and their explicit features."""

from itertools import chain, combinations, product
from math import comb, exp, factorial, gamma, sqrt, tanh

import numpy as np
from scipy.integrate import quad
from scipy.special import kv


def matrix(function, X, Y=None):
    """Return ``function(x, t)`` of all pairs of rows."""
    return np.array([[function(x, t) for t in (X if Y is None else Y)] for x in X])


def polynomial(x, t, degree=3, gamma=1.0, coef0=1.0):
    return (gamma * np.dot(x, t) + coef0) ** degree


def truncated_exponential(x, t, a=1.0, degree=3):
    return sum((a * np.dot(x, t)) ** i / factorial(i) for i in range(degree + 1))


def exponential(x, t, a=1.0):
    return exp(a * np.dot(x, t))


def sigmoid(x, t, gamma=1.0, coef0=1.0):
    return tanh(gamma * np.dot(x, t) + coef0)


def gaussian(x, t, length_scale=1.0):
    return exp(-0.5 * np.sum(((x - t) / length_scale) ** 2))


def matern(x, t, length_scale=1.0, nu=1.5):
    z = sqrt(2 * nu) * np.linalg.norm((x - t) / length_scale)
    return 2 ** (1 - nu) / gamma(nu) * z**nu * kv(nu, z) if z else 1.0


def anova(x, t, degree=None):
    """The sum over the subsets of the features, one by one."""
    return np.dot(subset_features(x, degree), subset_features(t, degree))


def minimum(x, t):
    """``int_0^inf [tau < x] [tau < t] dtau``, by quadrature up to the largest argument."""
    top = max(x, t, 1.0)
    return quad(lambda tau: float(tau < x) * float(tau < t), 0, top, points=[x, t], limit=200)[0]


def spline(x, t, order=1):
    """The powers up to ``order``, and one feature ``(x - tau)_+**order`` for each knot."""
    powers = sum((x * t) ** r for r in range(order + 1))
    knots = quad(lambda tau: ((x - tau) * (t - tau)) ** order, 0, min(x, t))[0]
    return powers + knots


def ordered_monomials(x, degree):
    """All ``n**degree`` products ``x_i1 ... x_ir``, order of the factors counted."""
    return np.array(
        [np.prod([x[i] for i in index]) for index in product(range(len(x)), repeat=degree)]
    )


def inhomogeneous_features(x, degree, gamma, coef0):
    """The features of ``(gamma x't + coef0)**degree``, powers 0 to ``degree``."""
    return np.concatenate(
        [
            sqrt(comb(degree, r) * gamma**r * coef0 ** (degree - r)) * ordered_monomials(x, r)
            for r in range(degree + 1)
        ]
    )


def exponential_features(x, a, terms):
    """The features ``sqrt(a**i / i!) x**i`` of ``exp(a x t)`` for a number ``x``."""
    return np.array([sqrt(a**i / factorial(i)) * x**i for i in range(terms)])


def gaussian_features(x, gamma, terms):
    """The features of ``exp(-gamma (x - t)**2)`` for a number ``x``."""
    return exp(-gamma * x**2) * exponential_features(x, 2 * gamma, terms)


def subset_features(x, degree=None):
    """The products of the features over every subset, or over those of one size."""
    sizes = range(len(x) + 1) if degree is None else [degree]
    subsets = chain.from_iterable(combinations(range(len(x)), size) for size in sizes)
    return np.array([np.prod([x[i] for i in subset]) for subset in subsets])


def gradient(kernel, X, step=1e-6):
    """The central differences of ``kernel(X)`` in each entry of ``theta``."""
    slices = []
    for k in range(kernel.n_dims):
        shift = np.zeros(kernel.n_dims)
        shift[k] = step
        ahead, behind = (kernel.clone_with_theta(kernel.theta + s)(X) for s in (shift, -shift))
        slices.append((ahead - behind) / (2 * step))
    return np.dstack(slices)
