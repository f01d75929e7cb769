"""Boolean concepts, classes with a margin, and adversarial orders of samples."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import check_consistent_length

from sklearn_sl.datasets._streams import at_least, between
from sklearn_sl.theory._domain import positive

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


def make_disjunction(
    n_samples: int = 100,
    n_features: int = 20,
    *,
    k: int = 3,
    negations: bool = False,
    density: float | None = None,
    noise: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make samples of a disjunction of some of many boolean attributes.

    Parameters
    ----------
    n_samples : int, default=100
        The number of samples.

    n_features : int, default=20
        The number of attributes.

    k : int, default=3
        The number of literals, of different attributes.

    negations : bool, default=False
        Whether each literal is an attribute or its negation with equal probability; otherwise the
        disjunction is monotone.

    density : float or None, default=None
        The probability that an attribute is one. None: a literal is true with the probability
        ``1 - 2^(-1/k)``, so that both classes are equally likely, and attributes that do not matter
        are one with that probability.

    noise : float, default=0.0
        The probability that a class is the wrong one.

    random_state : int, RandomState instance or None, default=None
        For the draws.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Zeros and ones.

    y : ndarray of shape (n_samples,)
        The classes 0 and 1.

    literals : ndarray of shape (k,)
        The attributes of the disjunction: ``j`` is attribute ``j``, and ``~j``, which is
        ``-1 - j``, is its negation.

    See Also
    --------
    make_dnf : Disjunctions of conjunctions.
    sklearn_sl.online.Winnow : Learns them.

    Examples
    --------
    >>> from sklearn_sl.datasets import make_disjunction
    >>> X, y, literals = make_disjunction(1000, 50, k=2, random_state=0)
    >>> literals
    array([28, 11])
    >>> bool((X[:, literals].any(axis=1) == y).all()), float(y.mean())
    (True, 0.497)
    """
    at_least(1, n_samples=n_samples, n_features=n_features, k=k)
    rng = check_random_state(random_state)
    terms = _draw_terms(rng, n_features, 1, k, negations)
    truth = 1 - 0.5 ** (1 / k)
    X = _draw_bits(rng, n_samples, n_features, terms, density, truth)
    return X, _add_noise(rng, literals_true(X, terms[0]).any(axis=1), noise), terms[0]


def make_dnf(
    n_samples: int = 100,
    n_features: int = 20,
    *,
    n_terms: int = 3,
    term_size: int = 2,
    negations: bool = False,
    density: float | None = None,
    noise: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make samples of a disjunctive normal form: a disjunction of conjunctions.

    Parameters
    ----------
    n_samples : int, default=100
        The number of samples.

    n_features : int, default=20
        The number of attributes.

    n_terms : int, default=3
        The number of conjunctions. They may share attributes, and may even be the same.

    term_size : int, default=2
        The number of literals in each of them, of different attributes.

    negations : bool, default=False
        Whether each literal is an attribute or its negation with equal probability; otherwise the
        form is monotone.

    density : float or None, default=None
        The probability that an attribute is one. None: such that both classes would be equally
        likely if the terms had no attributes in common; one half with negations.

    noise : float, default=0.0
        The probability that a class is the wrong one.

    random_state : int, RandomState instance or None, default=None
        For the draws.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Zeros and ones.

    y : ndarray of shape (n_samples,)
        The classes 0 and 1.

    terms : ndarray of shape (n_terms, term_size)
        The literals of the terms: ``j`` is attribute ``j``, and ``~j``, which is ``-1 - j``, is its
        negation.

    See Also
    --------
    make_disjunction : Terms of one literal.
    sklearn_sl.kernels.Anova : A kernel in whose space they are linear.

    Examples
    --------
    >>> from sklearn_sl.datasets import make_dnf
    >>> X, y, terms = make_dnf(1000, 10, random_state=0)
    >>> bool((X[:, terms].all(axis=2).any(axis=1) == y).all()), float(y.mean())
    (True, 0.417)
    """
    at_least(1, n_samples=n_samples, n_features=n_features, n_terms=n_terms, term_size=term_size)
    rng = check_random_state(random_state)
    terms = _draw_terms(rng, n_features, n_terms, term_size, negations)
    if density is None:
        # An attribute and its negation may both occur: there is no density for all literals.
        density = 0.5 if negations else (1 - 0.5 ** (1 / n_terms)) ** (1 / term_size)
    X = _draw_bits(rng, n_samples, n_features, terms, density, None)
    y = np.any([literals_true(X, term).all(axis=1) for term in terms], axis=0)
    return X, _add_noise(rng, y, noise), terms


def _draw_terms(rng, n_features, n_terms, size, negations):
    """Return terms of so many literals, no attribute twice in one."""
    if size > n_features:
        raise ValueError(f"A term must have at most n_features={n_features} literals; got {size}.")
    terms = np.array([rng.permutation(n_features)[:size] for _ in range(n_terms)])
    return np.where(rng.uniform(size=terms.shape) < 0.5, ~terms, terms) if negations else terms


def _draw_bits(rng, n_samples, n_features, terms, density, truth):
    """Return attributes of a density, or such that literals are true with a probability."""
    if density is None:
        density = np.full(n_features, truth)
        density[~terms[terms < 0]] = 1 - truth
    else:
        between(0, 1, density=density)
    return (rng.uniform(size=(n_samples, n_features)) < density).astype(np.float64)


def literals_true(X, literals):
    """Return which literals are true of each sample."""
    negated = literals < 0
    return (X[:, np.where(negated, ~literals, literals)] == 1) != negated


def _add_noise(rng, truth, noise):
    """Return classes of which some are wrong."""
    between(0, 1, noise=noise)
    return (truth ^ (rng.uniform(size=len(truth)) < noise)).astype(np.int64)


def make_separable(
    n_samples: int = 100,
    n_features: int = 2,
    *,
    margin: float = 0.1,
    radius: float = 1.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make two classes with a given margin, in a ball of a given radius.

    With a unit vector ``u``, drawn at random, all samples have ``y u.x >= margin`` and
    ``||x|| <= radius``. Both are attained, and no unit vector has a larger margin: the first two
    samples, before they are shuffled, are mirror images of one another on the margin. Novikoff's
    bound ``(radius / margin)^2`` cannot be less for any other vector.

    Parameters
    ----------
    n_samples : int, default=100
        The number of samples, at least two.

    n_features : int, default=2
        The number of features.

    margin : float, default=0.1
        The largest margin of a plane through the origin, positive and not above ``radius``.

    radius : float, default=1.0
        The largest norm of a sample.

    random_state : int, RandomState instance or None, default=None
        For the draws.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Samples. Along ``u`` they are uniform beyond the margin, and uniform in what remains of the
        ball across.

    y : ndarray of shape (n_samples,)
        The classes -1 and 1.

    u : ndarray of shape (n_features,)
        The unit vector with the largest margin.

    See Also
    --------
    sklearn_sl.theory.perceptron_bound : What follows for the perceptron.

    Examples
    --------
    >>> from sklearn_sl.datasets import make_separable
    >>> X, y, u = make_separable(200, 5, margin=0.05, random_state=0)
    >>> round(float((y * (X @ u)).min()), 12)
    0.05
    """
    at_least(2, n_samples=n_samples)
    at_least(1, n_features=n_features)
    positive("radius", check_scalar(radius, "radius", Real))
    positive("margin", check_scalar(margin, "margin", Real, max_val=radius))
    rng = check_random_state(random_state)
    u = rng.normal(size=n_features)
    u /= np.linalg.norm(u)
    along = rng.uniform(margin, radius, size=n_samples)
    along[:2] = margin, margin if n_features > 1 else radius
    across = rng.normal(size=(n_samples, n_features))
    across[1] = -across[0]
    across -= np.outer(across @ u, u)
    room = np.sqrt(np.maximum(0.0, radius**2 - along**2))
    share = rng.uniform(size=n_samples) ** (1 / max(1, n_features - 1))
    share[:2] = 1.0
    norms = np.linalg.norm(across, axis=1)
    across *= (room * share / np.where((n_features > 1) & (norms > 0), norms, np.inf))[:, None]
    y = np.where(rng.uniform(size=n_samples) < 0.5, -1, 1)
    y[:2] = 1, -1
    order = rng.permutation(n_samples)
    return (y[:, None] * (np.outer(along, u) + across))[order], y[order], u


def adversarial_stream(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    n_rounds: int,
    *,
    classes: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> np.ndarray:
    """Present a learner with a sample that it gets wrong in each round, while there is one.

    The estimator learns from each sample before the next one is chosen. For learners with a
    mistake bound this is the worst that the samples can do, or nearly so.

    Parameters
    ----------
    estimator : estimator with ``partial_fit`` and ``predict``
        The learner, which goes on from the state that it has. If it has seen nothing, the first
        sample is drawn from all.

    X : array-like of shape (n_samples, n_features)
        The samples to choose from, again and again.

    y : array-like of shape (n_samples,)
        Their classes.

    n_rounds : int
        The largest number of rounds. There are fewer if the learner gets everything right.

    classes : array-like of shape (n_classes,), default=None
        All classes; None is those of ``y``.

    random_state : int, RandomState instance or None, default=None
        For the choice among samples that are wrong.

    Returns
    -------
    rows : ndarray of shape (n_played,)
        The samples that were presented, in order.

    See Also
    --------
    play : Adversaries that make up samples of their own.

    Examples
    --------
    >>> from sklearn_sl.datasets import adversarial_stream, make_disjunction
    >>> from sklearn_sl.online import Winnow
    >>> X, y, _ = make_disjunction(2000, 100, k=3, random_state=0)
    >>> model = Winnow()
    >>> rows = adversarial_stream(model, X, y, n_rounds=1000, random_state=0)
    >>> bool((model.predict(X) == y).all()), len(rows) <= model.mistake_bound(3)
    (True, True)
    """
    at_least(0, n_rounds=n_rounds)
    X, y = np.asarray(X), np.asarray(y)
    check_consistent_length(X, y)
    classes = np.unique(y) if classes is None else classes
    rng = check_random_state(random_state)
    rows, wrong = [], np.arange(len(y))
    if hasattr(estimator, "classes_"):
        wrong = np.flatnonzero(estimator.predict(X) != y)
    while len(rows) < n_rounds and wrong.size:
        rows.append(int(rng.choice(wrong)))
        estimator.partial_fit(X[rows[-1:]], y[rows[-1:]], classes=classes)
        wrong = np.flatnonzero(estimator.predict(X) != y)
    return np.array(rows, dtype=np.intp)
