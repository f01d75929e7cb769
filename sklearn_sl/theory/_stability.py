"""Stability of learners: how much one sample counts, and what follows for the risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.parallel import Parallel, delayed

from sklearn_sl.theory._domain import any_of, plain, positive, probability, real, unwarned, whole
from sklearn_sl.theory._losses import LOSSES, loss_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_sl._typing import ArrayLike


# ---------------------------------------------------------------- of any estimator


@dataclass(frozen=True)
class Stability:
    """Overfitting and replace-one stability of a learner, one value for each training set.

    With ``A(S)`` the model after a random training set ``S`` of ``m`` samples, ``R`` its risk and
    ``R_S`` its mean loss on ``S``, and with ``S^(i)`` the training set with sample ``z_i`` replaced
    by a new one, ``i`` drawn at random::

        E [R(A(S)) - R_S(A(S))]  =  E [L(A(S^(i)), z_i) - L(A(S), z_i)]
             overfitting gap                    instability

    Parameters
    ----------
    gap : ndarray of shape (n_repeats,)
        Mean loss on new samples minus mean loss on the training set.

    instability : ndarray of shape (n_repeats,)
        By how much the loss at a sample rises if the sample is replaced in the training set.

    risk : ndarray of shape (n_repeats,)
        Mean loss on new samples.

    See Also
    --------
    replace_one_stability : Draws the training sets and fits an estimator to them.

    References
    ----------
    .. [1] S. Shalev-Shwartz, O. Shamir, N. Srebro and K. Sridharan, "Learnability, stability and
       uniform convergence", Journal of Machine Learning Research 11, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.theory import Stability
    >>> result = Stability(np.array([0.1, 0.3]), np.array([0.0, 0.4]), np.array([0.5, 0.7]))
    >>> {name: round(value, 2) for name, value in result.mean.items()}
    {'gap': 0.2, 'instability': 0.2, 'risk': 0.6}
    """

    gap: np.ndarray
    instability: np.ndarray
    risk: np.ndarray

    def __post_init__(self):
        for name in ("gap", "instability", "risk"):
            object.__setattr__(self, name, real(name, getattr(self, name)))
        shapes = self.gap.shape, self.instability.shape, self.risk.shape
        if len(set(shapes)) > 1 or self.gap.ndim != 1 or len(self.gap) < 2:
            raise ValueError(
                "gap, instability and risk must be 1-D arrays of one length >= 2; got shapes "
                f"{shapes}."
            )

    @property
    def n_repeats(self):
        """The number of training sets."""
        return len(self.gap)

    @property
    def mean(self):
        """Means over the training sets: ``gap``, ``instability`` and ``risk``."""
        return Bunch(**{name: float(np.mean(value)) for name, value in vars(self).items()})

    @property
    def standard_error(self):
        """Standard errors of the means, and of the ``difference`` of gap and instability."""
        values = {**vars(self), "difference": self.gap - self.instability}
        root = np.sqrt(self.n_repeats)
        return Bunch(**{name: float(np.std(v, ddof=1) / root) for name, v in values.items()})


def replace_one_stability(
    estimator: Any,
    draw: Callable[..., Any],
    loss: str | Callable[..., Any] = "zero_one",
    *,
    n_repeats: int = 100,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> Any:
    """Return the overfitting gap and the replace-one stability of an estimator, by simulation.

    In each repeat two data sets of equal size are drawn. A clone is fitted to the first; the second
    one gives its risk. A random sample of the first is replaced by one of the second, and another
    clone is fitted. Both quantities have the same expectation, whatever the estimator, the loss and
    the law of the data: a learner overfits exactly as much as it is unstable.

    Parameters
    ----------
    estimator : estimator object
        The estimator to fit. Its random states are redrawn for each data set, and are the same for
        both clones.

    draw : callable
        ``draw(rng) -> X, y`` returns a data set of independent samples, drawn by the given
        :class:`numpy.random.Generator`: arrays, always of the same shape.

    loss : str or callable, default="zero_one"
        "zero_one" compares ``predict`` with the target. The other losses of one score, see
        :func:`loss_constants`, are for classes -1 and 1 those of ``decision_function``, and for
        numbers those of ``predict``. A callable ``loss(model, X, y)`` returns the losses of the
        samples.

    n_repeats : int, default=100
        The number of training sets, at least two.

    random_state : int, RandomState instance or None, default=None
        The seed of the data sets and of the estimators.

    n_jobs : int, default=None
        The number of joblib's workers.

    Returns
    -------
    stability : Stability
        ``gap``, ``instability`` and ``risk`` of each repeat, their ``mean`` and
        ``standard_error``.

    See Also
    --------
    rlm_stability_bound : The bound for regularised loss minimisation.
    bias_variance : Another decomposition of the error, by simulation as well.

    References
    ----------
    .. [1] S. Shalev-Shwartz and S. Ben-David, "Understanding machine learning", Cambridge
       University Press, 2014, theorem 13.2.

    Examples
    --------
    A nearest neighbour remembers each sample; more neighbours make it stable:

    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn_sl.theory import replace_one_stability
    >>> def draw(rng):
    ...     X = rng.normal(size=(40, 2))
    ...     return X, np.where(X[:, 0] + rng.normal(size=40) > 0, 1, -1)
    >>> for k in (1, 15):
    ...     knn = KNeighborsClassifier(k)
    ...     result = replace_one_stability(knn, draw, n_repeats=60, random_state=1)
    ...     print(k, {name: round(value, 2) for name, value in result.mean.items()})
    1 {'gap': 0.35, 'instability': 0.35, 'risk': 0.35}
    15 {'gap': 0.06, 'instability': 0.08, 'risk': 0.3}
    """
    if not (isinstance(n_repeats, int | np.integer) and n_repeats >= 2):
        raise ValueError(f"n_repeats must be an integer >= 2; got {n_repeats!r}.")
    if not callable(draw):
        raise ValueError(f"draw must be a function of a random generator; got {draw!r}.")
    losses = loss if callable(loss) else _named_loss(loss)
    entropy = check_random_state(random_state).randint(2**31, size=4, dtype=np.int64)
    seeds = np.random.SeedSequence(entropy.tolist()).spawn(n_repeats)
    values = Parallel(n_jobs=n_jobs)(
        delayed(_replace_once)(estimator, draw, losses, np.random.default_rng(seed))
        for seed in seeds
    )
    return Stability(*np.transpose(values))


def _named_loss(loss):
    """Return the loss of a model by name."""
    if loss not in LOSSES:
        raise ValueError(
            f"loss must be a function of (model, X, y) or one of {sorted(LOSSES)}; got {loss!r}."
        )
    if loss == "zero_one":
        return lambda model, X, y: 1.0 * (model.predict(X) != y)
    method = "decision_function" if LOSSES[loss].labels else "predict"
    return lambda model, X, y: loss_value(loss, y, getattr(model, method)(X))


def _replace_once(estimator, draw, losses, rng):
    """Return the gap, the instability and the risk after one training set."""
    X, y = draw(rng)
    X_new, y_new = draw(rng)
    if np.shape(X) != np.shape(X_new):
        raise ValueError(
            "draw must always return arrays of one shape; got X of shapes "
            f"{np.shape(X)} and {np.shape(X_new)}."
        )
    base = clone(estimator)
    names = [name for name in sorted(base.get_params()) if name.split("__")[-1] == "random_state"]
    base.set_params(**{name: int(rng.integers(2**31)) for name in names})
    i = int(rng.integers(len(y)))
    X_other, y_other = X.copy(), y.copy()
    X_other[i], y_other[i] = X_new[i], y_new[i]
    model = clone(base).fit(X, y)
    other = clone(base).fit(X_other, y_other)
    before, risk = losses(model, X, y), float(np.mean(losses(model, X_new, y_new)))
    after = float(np.squeeze(losses(other, X[[i]], y[[i]])))
    return risk - float(np.mean(before)), after - float(before[i]), risk


# ---------------------------------------------------------------- of regularised losses


@unwarned
def rlm_stability_bound(
    lipschitz: ArrayLike, penalty: ArrayLike, n_samples: ArrayLike
) -> float | np.ndarray:
    """Return an upper bound on the overfitting of regularised loss minimisation.

    The learner minimises ``1/m sum_i L(w, z_i) + lambda ||w||^2``. If the loss is convex and
    ``rho``-Lipschitz in ``w``, the objective is ``2 lambda``-strongly convex, so that replacing
    a sample moves its minimiser by no more than ``2 rho / (lambda m)``, always, and the loss of no
    sample by more than::

        2 rho^2 / (lambda m)

    So the expected risk exceeds the expected training loss by no more than this.

    Parameters
    ----------
    lipschitz : float or array-like
        The Lipschitz constant ``rho`` of the loss in terms of the weights, without the penalty: for
        a linear model that of :func:`loss_constants` times the largest norm of a sample. An
        intercept without penalty is not covered; one with a penalty counts as a feature.

    penalty : float or array-like
        The factor ``lambda`` of ``||w||^2``. That of scikit-learn's ``Ridge(alpha)`` is
        ``alpha / m`` and of its ``SVC(C)`` ``1 / (2 C m)``.

    n_samples : int or array-like
        The number ``m`` of samples.

    Returns
    -------
    bound : float or ndarray
        The bound on the expected gap between risk and training loss.

    See Also
    --------
    rlm_movement_bound : How far the weights move.
    replace_one_stability : Measures it.

    References
    ----------
    .. [1] O. Bousquet and A. Elisseeff, "Stability and generalization", Journal of Machine Learning
       Research 2, 2002.

    Examples
    --------
    >>> from sklearn_sl.theory import rlm_stability_bound
    >>> rlm_stability_bound(lipschitz=1.0, penalty=0.1, n_samples=1000)
    0.02
    """
    rho = real("lipschitz", lipschitz, 0.0)
    return plain(2 * rho * rho / (positive("penalty", penalty) * whole("n_samples", n_samples, 1)))


@unwarned
def rlm_movement_bound(
    lipschitz: ArrayLike, penalty: ArrayLike, n_samples: ArrayLike
) -> float | np.ndarray:
    """Return how far the weights of regularised loss minimisation move if a sample is replaced.

    The minimiser of ``1/m sum_i L(w, z_i) + lambda ||w||^2``, for a convex loss that is
    ``rho``-Lipschitz in ``w``, moves by no more than ``2 rho / (lambda m)`` if any one of the
    samples is replaced by any other. This is the constant of the literature; the strong convexity
    of both objectives together gives half of it, which is reached by the absolute loss.

    Parameters
    ----------
    lipschitz : float or array-like
        The Lipschitz constant ``rho``; see :func:`rlm_stability_bound`.

    penalty : float or array-like
        The factor ``lambda`` of ``||w||^2``.

    n_samples : int or array-like
        The number ``m`` of samples.

    Returns
    -------
    bound : float or ndarray
        The bound on the distance.

    See Also
    --------
    rlm_stability_bound : What that means for the risk.

    Examples
    --------
    >>> from sklearn_sl.theory import rlm_movement_bound
    >>> rlm_movement_bound(lipschitz=1.0, penalty=0.1, n_samples=1000)
    0.02
    """
    rho = real("lipschitz", lipschitz, 0.0)
    return plain(2 * rho / (positive("penalty", penalty) * whole("n_samples", n_samples, 1)))


@unwarned
def rlm_penalty(lipschitz: ArrayLike, norm: ArrayLike, n_samples: ArrayLike) -> float | np.ndarray:
    """Return the penalty that minimises the risk bound of regularised loss minimisation.

    It is ``(rho / B) sqrt(2 / m)``.

    Parameters
    ----------
    lipschitz : float or array-like
        The Lipschitz constant ``rho``; see :func:`rlm_stability_bound`.

    norm : float or array-like
        The norm ``B`` of the weights with which the learner is compared.

    n_samples : int or array-like
        The number ``m`` of samples.

    Returns
    -------
    penalty : float or ndarray
        The factor ``lambda`` of ``||w||^2``, added to the mean loss.

    See Also
    --------
    rlm_excess_bound : The bound.

    Examples
    --------
    >>> from sklearn_sl.theory import rlm_penalty
    >>> rlm_penalty(lipschitz=1.0, norm=2.0, n_samples=200)
    0.05
    """
    rho, B = real("lipschitz", lipschitz, 0.0), positive("norm", norm)
    return plain(rho / B * np.sqrt(2 / whole("n_samples", n_samples, 1)))


@unwarned
def rlm_excess_bound(
    lipschitz: ArrayLike,
    norm: ArrayLike,
    n_samples: ArrayLike,
    penalty: ArrayLike | None = None,
) -> float | np.ndarray:
    """Return an upper bound on the expected excess risk of regularised loss minimisation.

    The learner minimises ``1/m sum_i L(w, z_i) + lambda ||w||^2`` with a convex loss that is
    ``rho``-Lipschitz in ``w``. Its training loss is no larger than the objective at any ``u``, and
    with the bound on overfitting::

        E R(A(S)) <= R(u) + lambda ||u||^2 + 2 rho^2 / (lambda m)

    For the best penalty, :func:`rlm_penalty`, and all ``u`` of norm at most ``B``, the last two
    terms are ``rho B sqrt(8 / m)`` at most.

    Parameters
    ----------
    lipschitz : float or array-like
        The Lipschitz constant ``rho``; see :func:`rlm_stability_bound`.

    norm : float or array-like
        The norm ``||u||``, or the largest one ``B``.

    n_samples : int or array-like
        The number ``m`` of samples.

    penalty : float or array-like, default=None
        The factor ``lambda`` of ``||w||^2``; None is the best one.

    Returns
    -------
    bound : float or ndarray
        The expected risk exceeds that of ``u`` by no more than this.

    See Also
    --------
    rlm_sample_size : How many samples make it small.

    References
    ----------
    .. [1] S. Shalev-Shwartz and S. Ben-David, "Understanding machine learning", Cambridge
       University Press, 2014, corollary 13.9.

    Examples
    --------
    >>> from sklearn_sl.theory import rlm_excess_bound
    >>> round(rlm_excess_bound(lipschitz=2.0, norm=3.0, n_samples=50), 2)
    2.4
    >>> round(rlm_excess_bound(2.0, 3.0, 50, penalty=0.1), 2)
    2.5
    """
    B = real("norm", norm, 0.0)
    if penalty is None:
        rho = real("lipschitz", lipschitz, 0.0)
        return plain(rho * B * np.sqrt(8 / whole("n_samples", n_samples, 1)))
    gap = rlm_stability_bound(lipschitz, penalty, n_samples)
    return plain(real("penalty", penalty) * B * B + gap)


@unwarned
def rlm_sample_size(
    epsilon: ArrayLike,
    lipschitz: ArrayLike,
    norm: ArrayLike,
    delta: ArrayLike | None = None,
) -> float | np.ndarray:
    """Return how many samples make the excess risk of regularised loss minimisation small.

    With the penalty of :func:`rlm_penalty` the *expected* excess risk is at most ``epsilon`` if::

        m >= 8 rho^2 B^2 / epsilon^2

    By Markov's inequality the excess risk is at most ``epsilon`` with probability ``1 - delta`` if
    its expectation is at most ``epsilon delta``.

    Parameters
    ----------
    epsilon : float or array-like
        The excess risk.

    lipschitz : float or array-like
        The Lipschitz constant ``rho``; see :func:`rlm_stability_bound`.

    norm : float or array-like
        The largest norm ``B`` of the weights with which the learner is compared.

    delta : float or array-like, default=None
        The probability of failure; None is a statement about the expectation.

    Returns
    -------
    n_samples : float or ndarray
        The smallest such number, an integer.

    See Also
    --------
    rlm_excess_bound : The excess risk from the number of samples.

    Examples
    --------
    >>> from sklearn_sl.theory import rlm_sample_size
    >>> rlm_sample_size(0.1, lipschitz=1.0, norm=1.0)
    800.0
    >>> rlm_sample_size(0.1, lipschitz=1.0, norm=1.0, delta=0.05)
    320000.0
    """
    return size_for(8.0, epsilon, lipschitz, norm, delta)


def size_for(factor, epsilon, lipschitz, norm, delta):
    """Return ``factor (rho B / epsilon)^2``, a whole number, or that for ``epsilon delta``."""
    rho, B = real("lipschitz", lipschitz, 0.0), real("norm", norm, 0.0)
    epsilon = positive("epsilon", epsilon)
    with np.errstate(over="ignore"):
        ratio = rho * B / epsilon
        if delta is not None:
            ratio = ratio / probability("delta", delta)
        # A rounding error does not count as a step.
        return plain(np.maximum(1.0, np.ceil(factor * ratio * ratio * (1 - 1e-13))))


@unwarned
def markov_excess(expected_excess: ArrayLike, delta: ArrayLike) -> float | np.ndarray:
    """Return an upper bound on the excess risk that holds with high probability.

    If the excess risk, which is never negative, has the expectation ``e``, it exceeds
    ``e / delta`` with probability at most ``delta``, by Markov's inequality. So every guarantee in
    expectation is one of the kind "probably approximately correct".

    Parameters
    ----------
    expected_excess : float or array-like
        The expected excess risk, or a bound on it.

    delta : float or array-like
        The probability of failure, in (0, 1].

    Returns
    -------
    bound : float or ndarray
        The bound on the excess risk, which holds with probability at least ``1 - delta``.

    See Also
    --------
    rlm_sample_size : The inverse, for regularised loss minimisation.
    gradient_descent_steps : The inverse, for stochastic gradient descent.

    Examples
    --------
    >>> from sklearn_sl.theory import markov_excess
    >>> round(markov_excess(0.01, delta=0.05), 9)
    0.2
    """
    excess = real("expected_excess", expected_excess, 0.0)
    return plain(excess / probability("delta", delta))


# ---------------------------------------------------------------- of support vector machines


@unwarned
def soft_svm_bound(
    x_norm: ArrayLike,
    norm: ArrayLike,
    n_samples: ArrayLike,
    penalty: ArrayLike | None = None,
    hinge_risk: ArrayLike = 0.0,
    intercept: bool = False,
) -> float | np.ndarray:
    """Return an upper bound on the expected risk of a soft-margin support vector machine.

    The machine minimises ``1/m sum_i max(0, 1 - y_i <w, x_i>) + lambda ||w||^2``, where
    ``lambda = 1 / (2 C m)`` for the ``C`` of :class:`~sklearn_sl.svm.SVC`. The hinge loss is
    ``||x||``-Lipschitz in ``w``. So for samples of norm at most ``rho``, and any ``u``::

        E R(A(S)) <= R_hinge(u) + lambda ||u||^2 + 2 rho^2 / (lambda m)

    and for the best penalty ``sqrt(2 rho^2 / (B^2 m))`` and all ``u`` of norm at most ``B``::

        E R(A(S)) <= min R_hinge(u) + sqrt(8 rho^2 B^2 / m)

    where ``R`` is the risk of the hinge loss, or the probability of an error, which is no larger.

    Parameters
    ----------
    x_norm : float or array-like
        The largest norm ``rho`` of a sample: of a kernel, the root of the largest ``K(x, x)``.

    norm : float or array-like
        The norm ``||u||`` of the weights to compare with, or the largest one ``B``.

    n_samples : int or array-like
        The number ``m`` of samples.

    penalty : float or array-like, default=None
        The factor ``lambda``; None is the best one.

    hinge_risk : float or array-like, default=0.0
        The risk of ``u`` for the hinge loss.

    intercept : bool, default=False
        Whether there is an intercept, *with* its penalty: the weight of a feature that is always
        one. Then ``rho^2`` is larger by one, and the norm is that of weights and intercept. An
        intercept without penalty is not covered.

    Returns
    -------
    bound : float or ndarray
        The bound on the expected risk.

    See Also
    --------
    rlm_excess_bound : For other losses.
    support_vector_bound : From the number of support vectors.

    References
    ----------
    .. [1] S. Shalev-Shwartz and S. Ben-David, "Understanding machine learning", Cambridge
       University Press, 2014, corollary 15.7.

    Examples
    --------
    >>> from sklearn_sl.theory import soft_svm_bound
    >>> soft_svm_bound(x_norm=1.0, norm=2.0, n_samples=3200)
    0.1
    """
    rho = real("x_norm", x_norm, 0.0)
    if intercept:
        rho = plain(np.hypot(rho, 1.0))
    excess = rlm_excess_bound(rho, norm, n_samples, penalty)
    return plain(real("hinge_risk", hinge_risk, 0.0) + excess)


@unwarned
def support_vector_bound(n_support: ArrayLike, n_samples: ArrayLike) -> float | np.ndarray:
    """Return an upper bound on the expected error of a support vector machine.

    Leaving out a sample that is not a support vector changes nothing, and that sample is on the
    right side. So the leave-one-out error on ``m`` samples is at most the share of support vectors.
    Its expectation is the expected error of a machine fitted to ``m - 1`` samples::

        E[error after m - 1 samples] <= E[number of support vectors of m samples] / m

    This holds for hard and soft margins, and all kernels.

    Parameters
    ----------
    n_support : float or array-like
        The expected number of support vectors. With the number of one fitted machine, the result is
        an estimate of the bound.

    n_samples : int or array-like
        The number ``m`` of samples.

    Returns
    -------
    bound : float or ndarray
        The bound on the expected error.

    See Also
    --------
    compression_bound : A statement that holds with high probability.

    References
    ----------
    .. [1] V. Vapnik, "The nature of statistical learning theory", Springer, 2000, theorem 5.2.

    Examples
    --------
    >>> from sklearn_sl.theory import support_vector_bound
    >>> support_vector_bound(n_support=12, n_samples=200)
    0.06
    """
    support = real("n_support", n_support, 0.0)
    n_samples = whole("n_samples", n_samples, 1)
    if any_of(support > n_samples):
        raise ValueError("n_support must be <= n_samples.")
    return plain(support / n_samples)
