"""Non-stationary streams: experts and arms whose quality changes, and concept drift."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit
from sklearn.utils import check_random_state, check_scalar

from sklearn_sl.theory._domain import real

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


def at_least(low, **sizes):
    """Raise an error unless all sizes are integers that are at least ``low``."""
    for name, size in sizes.items():
        check_scalar(size, name, Integral, min_val=low)


def between(low, high, **numbers):
    """Raise an error unless all numbers are in [low, high]."""
    for name, number in numbers.items():
        check_scalar(number, name, Real)
        real(name, number, low, high)


def stretches(n_trials, n_shifts, names=("n_shifts", "n_trials")):
    """Return the stretch that each trial belongs to, all of nearly the same length."""
    if n_shifts >= n_trials:
        raise ValueError(f"{names[0]} must be < {names[1]}={n_trials}; got {n_shifts}.")
    return np.arange(n_trials) * (n_shifts + 1) // n_trials


def walk(rng, n_steps, n_states):
    """Return states of which each differs from the one before, and all occur if there is time."""
    if n_states == 1:
        if n_steps > 1:
            raise ValueError(
                "Shifts need at least two experts or modes: increase n_experts or n_modes."
            )
        return np.zeros(1, dtype=np.intp)
    states = np.empty(n_steps, dtype=np.intp)
    fresh = list(rng.permutation(n_states))
    for step in range(n_steps):
        if fresh:
            states[step] = fresh.pop()
        else:
            states[step] = (states[step - 1] + rng.randint(1, n_states)) % n_states
    return states


def make_switching_experts(
    n_trials: int = 800,
    n_experts: int = 64,
    n_shifts: int = 3,
    *,
    n_modes: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make the advice of experts, where the best expert changes from time to time.

    All outcomes are zero. The advice of an expert is uniform in [0, 1/2], so that its square loss
    is 1/12 on average; that of the best one is uniform in ``[0, sqrt(1/40)]``, with a loss of
    1/120. The trials are divided into stretches of equal lengths, each with a best expert.

    Parameters
    ----------
    n_trials : int, default=800
        The number of trials.

    n_experts : int, default=64
        The number of experts.

    n_shifts : int, default=3
        How often another expert becomes the best one.

    n_modes : int or None, default=None
        How many experts take turns in being the best one: from a small pool, an expert returns
        that has been good before. None is all experts.

    random_state : int, RandomState instance or None, default=None
        For the draws.

    Returns
    -------
    advice : ndarray of shape (n_trials, n_experts)
        What the experts say.

    y : ndarray of shape (n_trials,)
        Zeros.

    best : ndarray of shape (n_trials,)
        The best expert.

    See Also
    --------
    sklearn_sl.online.best_shifting_sequence : The best sequence of experts in hindsight.
    make_multitask_experts : Several tasks that share their experts.

    References
    ----------
    .. [1] M. Herbster and M. Warmuth, "Tracking the best expert", Machine Learning 32, 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.datasets import make_switching_experts
    >>> advice, y, best = make_switching_experts(random_state=0)
    >>> advice.shape, int(np.count_nonzero(np.diff(best)))
    ((800, 64), 3)
    """
    n_modes = n_experts if n_modes is None else n_modes
    at_least(1, n_trials=n_trials, n_experts=n_experts, n_modes=n_modes)
    at_least(0, n_shifts=n_shifts)
    rng = check_random_state(random_state)
    if n_modes > n_experts:
        raise ValueError(f"n_modes must be <= n_experts={n_experts}; got {n_modes}.")
    pool = rng.permutation(n_experts)[:n_modes]
    best = pool[walk(rng, n_shifts + 1, n_modes)][stretches(n_trials, n_shifts)]
    advice = rng.uniform(0, 0.5, size=(n_trials, n_experts))
    advice[np.arange(n_trials), best] = rng.uniform(0, np.sqrt(1 / 40), size=n_trials)
    return advice, np.zeros(n_trials), best


def make_drifting_losses(
    n_trials: int = 1000,
    n_experts: int = 10,
    *,
    step: float = 0.02,
    noise: float = 0.1,
    random_state: int | np.random.RandomState | None = None,
) -> np.ndarray:
    """Make losses of experts whose quality drifts gradually.

    The mean loss of each expert walks at random in [0, 1], by normal steps, and is reflected at
    the ends. In each trial a loss is uniform around its mean, or as near as [0, 1] allows.

    Parameters
    ----------
    n_trials : int, default=1000
        The number of trials.

    n_experts : int, default=10
        The number of experts.

    step : float, default=0.02
        The standard deviation of the steps; zero is no drift.

    noise : float, default=0.1
        By how much a loss can differ from its mean.

    random_state : int, RandomState instance or None, default=None
        For the draws.

    Returns
    -------
    losses : ndarray of shape (n_trials, n_experts)
        The losses, between 0 and 1.

    See Also
    --------
    make_switching_experts : The best expert changes at once.

    Examples
    --------
    >>> from sklearn_sl.datasets import make_drifting_losses
    >>> losses = make_drifting_losses(5000, random_state=0)
    >>> losses.shape, len(set(losses.argmin(axis=1)))
    ((5000, 10), 10)
    """
    at_least(1, n_trials=n_trials, n_experts=n_experts)
    between(0, 1, step=step, noise=noise)
    rng = check_random_state(random_state)
    steps = step * rng.standard_normal((n_trials, n_experts))
    steps[0] = rng.uniform(size=n_experts)
    # A walk that is reflected at both ends is a free walk, folded.
    means = 1 - np.abs(1 - np.cumsum(steps, axis=0) % 2)
    return np.clip(means + noise * rng.uniform(-1, 1, size=means.shape), 0, 1)


def make_bandit_losses(
    n_rounds: int = 1000,
    n_arms: int = 10,
    *,
    means: ArrayLike | None = None,
    gap: float = 0.1,
    n_switches: int = 0,
    random_state: int | np.random.RandomState | None = None,
) -> np.ndarray:
    """Make losses of the arms of a bandit, all of them fixed before the game.

    A loss is 1 or 0, and 1 with a probability that is the mean of its arm. One arm has the mean
    ``1/2 - gap``, the others have 1/2. With switches, another arm becomes the good one from time to
    time, which no theory of independent draws allows for: the losses are those of an oblivious
    adversary.

    Parameters
    ----------
    n_rounds : int, default=1000
        The number of rounds.

    n_arms : int, default=10
        The number of arms.

    means : array-like of shape (n_arms,), default=None
        The means, in place of ``n_arms`` and ``gap``. At each switch the arms exchange them.

    gap : float, default=0.1
        How much better the good arm is, at most 1/2.

    n_switches : int, default=0
        How often another arm becomes the good one, at equal distances.

    random_state : int, RandomState instance or None, default=None
        For the draws.

    Returns
    -------
    losses : ndarray of shape (n_rounds, n_arms)
        The losses, 0.0 or 1.0.

    See Also
    --------
    sklearn_sl.online.Exp3 : Learns against any sequence of losses.
    sklearn_sl.online.UCB1 : Learns from independent draws.

    Examples
    --------
    >>> from sklearn_sl.datasets import make_bandit_losses
    >>> losses = make_bandit_losses(10_000, means=[0.3, 0.5, 0.5], random_state=0)
    >>> losses.mean(axis=0).round(1)
    array([0.3, 0.5, 0.5])
    """
    at_least(1, n_rounds=n_rounds, n_arms=n_arms)
    at_least(0, n_switches=n_switches)
    between(0, 0.5, gap=gap)
    rng = check_random_state(random_state)
    if means is None:
        means = np.full(n_arms, 0.5)
        means[rng.randint(n_arms)] -= gap
    means = np.asarray(means, dtype=np.float64)
    if means.ndim != 1 or not len(means) or not np.all((means >= 0) & (means <= 1)):
        raise ValueError(
            f"means must be a 1-D array of numbers in [0, 1], one for each arm; got {means}."
        )
    turns = walk(rng, n_switches + 1, len(means)) if n_switches else np.zeros(1, dtype=np.intp)
    turned = turns[stretches(n_rounds, n_switches, ("n_switches", "n_rounds")), None] + np.arange(
        len(means)
    )
    return (rng.uniform(size=turned.shape) < means[turned % len(means)]).astype(np.float64)


def make_multitask_experts(
    n_trials: int = 3000,
    n_experts: int = 200,
    n_tasks: int = 3,
    n_modes: int = 3,
    n_switches: int = 12,
    *,
    noise: float = 0.05,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make several tasks whose best experts switch within one small pool.

    The experts answer 0 or 1, uniformly at random. In each trial a task is drawn, and the outcome
    is the answer of the expert that is in charge of this task at this time, or its contrary with
    probability ``noise``. Only ``n_modes`` experts are ever in charge. The tasks switch between
    them ``n_switches`` times in all.

    Parameters
    ----------
    n_trials : int, default=3000
        The number of trials.

    n_experts : int, default=200
        The number of experts.

    n_tasks : int, default=3
        The number of tasks.

    n_modes : int, default=3
        The number of experts that are in charge of something at some time.

    n_switches : int, default=12
        How often another expert takes charge of a task.

    noise : float, default=0.05
        The probability that the outcome is not what the expert in charge said.

    random_state : int, RandomState instance or None, default=None
        For the draws.

    Returns
    -------
    X : ndarray of shape (n_trials, 1 + n_experts)
        The task, and the advice.

    y : ndarray of shape (n_trials,)
        The outcomes, 0 or 1.

    best : ndarray of shape (n_trials,)
        The expert in charge.

    See Also
    --------
    sklearn_sl.online.SwitchingMultitaskExperts : Learns in these tasks.
    make_switching_experts : A single task.

    References
    ----------
    .. [1] M. Herbster, S. Pasteris and L. Tse, "Online multitask learning with long-term memory",
       NeurIPS 2020.

    Examples
    --------
    >>> from sklearn_sl.datasets import make_multitask_experts
    >>> X, y, best = make_multitask_experts(random_state=0)
    >>> X.shape, len(set(best))
    ((3000, 201), 3)
    """
    at_least(1, n_trials=n_trials, n_experts=n_experts, n_tasks=n_tasks, n_modes=n_modes)
    at_least(0, n_switches=n_switches)
    between(0, 1, noise=noise)
    if n_modes > n_experts:
        raise ValueError(f"n_modes must be <= n_experts={n_experts}; got {n_modes}.")
    if n_modes == 1 and n_switches:
        raise ValueError(f"n_switches must be 0 if n_modes=1; got {n_switches}.")
    if n_modes > n_tasks + n_switches:
        raise ValueError(
            f"n_modes must be <= n_tasks + n_switches={n_tasks + n_switches}; got {n_modes}."
        )
    rng = check_random_state(random_state)
    tasks = rng.randint(n_tasks, size=n_trials)
    pool = rng.permutation(n_experts)[:n_modes]
    best = pool[_modes_of_tasks(rng, tasks, n_tasks, n_modes, n_switches)]
    advice = rng.randint(2, size=(n_trials, n_experts))
    flipped = rng.uniform(size=n_trials) < noise
    y = advice[np.arange(n_trials), best] ^ flipped
    return np.column_stack([tasks, advice]).astype(np.float64), y, best


def _modes_of_tasks(rng, tasks, n_tasks, n_modes, n_switches):
    """Return the mode of each trial; the tasks switch so many times in all."""
    order = np.argsort(tasks, kind="stable")  # one task after the other
    inner = np.flatnonzero(np.diff(tasks[order]) == 0) + 1  # where a task goes on
    if n_switches > len(inner):
        raise ValueError(
            f"n_switches must be <= {len(inner)}, the number of trials in which a task goes on; "
            f"got {n_switches}. Increase n_trials or decrease n_switches."
        )
    switches = np.sort(rng.permutation(inner)[:n_switches])
    starts = np.flatnonzero(np.diff(tasks[order])) + 1
    cuts = np.sort(np.concatenate([switches, starts]))
    stays = np.isin(cuts, starts)  # a new task may begin in the mode where the last one ended
    unseen, modes = list(rng.permutation(n_modes)), []
    for new_task in [True, *stays]:
        if unseen:
            modes.append(unseen.pop())
        elif new_task:
            modes.append(rng.randint(n_modes))
        else:
            modes.append((modes[-1] + rng.randint(1, n_modes)) % n_modes)
    of_trial = np.empty(len(tasks), dtype=np.intp)
    of_trial[order] = np.repeat(modes, np.diff([0, *cuts, len(tasks)]))
    return of_trial


def make_drifting_stream(
    n_samples: int = 10_000,
    n_features: int = 10,
    n_drifts: int = 3,
    *,
    width: float = 0.0,
    noise: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make a stream of samples of two classes whose concept drifts.

    Features are normal. A concept is a hyperplane through the origin, and the class of a sample is
    its side. From one concept to the next the stream changes at once, or gradually: with
    ``width > 0`` a sample ``t`` belongs to the new concept with probability
    ``1 / (1 + exp(-4 (t - t_0) / width))`` around the drift at ``t_0``.

    Parameters
    ----------
    n_samples : int, default=10_000
        The number of samples.

    n_features : int, default=10
        The number of features.

    n_drifts : int, default=3
        How often the concept changes, at equal distances.

    width : float, default=0.0
        How many samples a change takes; zero is abrupt.

    noise : float, default=0.0
        The share of the samples that get the other class.

    random_state : int, RandomState instance or None, default=None
        For the draws.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Samples, in order.

    y : ndarray of shape (n_samples,)
        Classes, 0 or 1.

    concept : ndarray of shape (n_samples,)
        The number of the concept of each sample.

    See Also
    --------
    sklearn_sl.online.progressive_val_score : Predict, then learn.

    Examples
    --------
    >>> from sklearn_sl.datasets import make_drifting_stream
    >>> X, y, concept = make_drifting_stream(n_drifts=1, random_state=0)
    >>> X.shape, concept[[4999, 5000]]
    ((10000, 10), array([0, 1]))
    """
    at_least(1, n_samples=n_samples, n_features=n_features)
    at_least(0, n_drifts=n_drifts)
    between(0, 1, noise=noise)
    between(0, np.inf, width=width)
    rng = check_random_state(random_state)
    planes = rng.standard_normal((n_drifts + 1, n_features))
    planes /= np.linalg.norm(planes, axis=1, keepdims=True)
    concept = stretches(n_samples, n_drifts, ("n_drifts", "n_samples"))
    if width > 0:
        drifts = np.flatnonzero(np.diff(concept)) + 1
        ahead = np.subtract.outer(np.arange(n_samples), drifts)
        concept = np.sum(rng.uniform(size=ahead.shape) < expit(4 * ahead / width), axis=1)
    X = rng.standard_normal((n_samples, n_features))
    flipped = rng.uniform(size=n_samples) < noise
    y = (np.einsum("ij,ij->i", X, planes[concept]) > 0) ^ flipped
    return X, y.astype(np.intp), concept
