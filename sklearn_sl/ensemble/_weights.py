"""Weights of samples in units that make sums exact."""

import numpy as np

from sklearn_sl.ensemble import _rounds

# A total of about one has so many units: sums are exact in float64, also where trees round again.
UNITS = 2.0**49
# Integer weights up to this sum count repetitions, to the last bit.
MOST_REPETITIONS = 2**24


class BoostedWeights:
    """The weights of a boosting: what a sample counts by itself, times what its history adds.

    Samples with the same history have the same factor, and the masses are integers in units of
    ``1 / UNITS``, so that all sums of masses are exact. So nothing depends on the order of the
    samples, or on whether a sample is repeated or has an integer weight.

    Parameters
    ----------
    sample_weight : ndarray of shape (n_samples,) or None
        Positive weights.

    n_samples : int
        The number of samples.

    Attributes
    ----------
    mass : ndarray of shape (n_samples,)
        The weights of this round; they sum up to about one, and none is zero.

    total : float
        The sum of ``mass``.
    """

    def __init__(self, sample_weight, n_samples):
        self.own, own_total = own_weights(sample_weight, n_samples)
        self.factor = np.full(n_samples, 1 / own_total)
        # A sample of vanishing weight is still there, as in scikit-learn.
        self.least = np.finfo(np.float64).eps * n_samples / own_total
        self._set_mass()

    def _set_mass(self):
        self.mass, self.total = masses(self.factor, self.own, fewest=1)

    def share(self, chosen):
        """Return the share of the mass of the samples that a mask chooses."""
        return _rounds.weight_of(self.mass, chosen.view(np.uint8)) / self.total

    def multiply(self, power, strength, error):
        """Multiply weights by ``exp(strength * power)`` and norm them.

        ``power`` is a mask whose weighted mean is ``error``, or numbers between zero and one.
        """
        # Relative to the largest factor, so that nothing overflows.
        if power.dtype == bool:
            low = float(np.exp(-strength))
            high = 1 / (error + (1 - error) * low)
            mask = power.view(np.uint8)
            _rounds.multiply_where(self.factor, mask, high, low * high, self.least)
        else:
            self.factor *= np.exp(strength * (power - 1))
            own = self.factor if self.own is None else self.factor * self.own
            self.factor /= exact_sum(own)
            np.maximum(self.factor, self.least, out=self.factor)
        self._set_mass()


def masses(factor, own, fewest=0):
    """Return weights times factors that sum up to about one, in exact units, and their sum."""
    mass = np.empty(len(factor))
    total = _rounds.set_mass(factor, np.empty(0) if own is None else own, UNITS, fewest, mass)
    return mass, total


def own_weights(sample_weight, n_samples):
    """Return weights and their sum; repetitions as they are, others in units near their mean."""
    if sample_weight is None:
        return None, float(n_samples)
    total = float(sample_weight.sum())
    if total <= MOST_REPETITIONS and np.all(sample_weight == np.rint(sample_weight)):
        return sample_weight, total
    own = sample_weight / np.ldexp(1.0, np.frexp(sample_weight.max())[1])
    return own, exact_sum(own)


def exact_sum(values):
    """Return a sum that is the same in any order: of numbers rounded to units of the largest."""
    exponent = 51 - np.frexp(np.abs(values).max() * len(values))[1]
    return float(np.ldexp(np.rint(np.ldexp(values, exponent)).sum(), -exponent))
