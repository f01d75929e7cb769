"""Bandits from their definitions, slowly."""

import numpy as np

# Whatever happens after a draw of such a probability is of no consequence.
TINY = 1e-200


def softmax(scores):
    """Return exponentials that sum to one along the last axis."""
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def exp3(losses, uniforms, etas, gammas):
    """Return the arms of Exp3 and Exp3-IX, and the estimated loss of each arm in each round."""
    estimates, arms = np.zeros_like(losses), []
    for t, row in enumerate(losses):
        v = softmax(-etas[t] * estimates[:t].sum(axis=0))
        arm = int(np.searchsorted(np.cumsum(v), uniforms[t], side="right"))
        estimates[t, arm] = row[arm] / (v[arm] + gammas[t])
        arms.append(arm)
    return np.array(arms), estimates


def ucb1(losses):
    """Return the arms of UCB1, in terms of rewards."""
    rewards, arms = 1 - losses, []
    n_arms = losses.shape[1]
    for t in range(len(losses)):
        if t < n_arms:
            arms.append(t)
            continue
        chosen = np.array(arms)
        limits = []
        for arm in range(n_arms):
            seen = rewards[:t][chosen == arm, arm]
            limits.append(seen.mean() + np.sqrt(2 * np.log(t) / len(seen)))
        arms.append(int(np.argmax(limits)))
    return np.array(arms)


def expected_losses_of_exp3(losses, etas, gamma=0.0):
    """Return the expected loss of Exp3 on each sequence, over all sequences of arms.

    ``losses`` has the shape (n_sequences, n_rounds, n_arms); ``etas`` is (n_sequences, n_rounds).
    """
    n_sequences, n_rounds, n_arms = losses.shape
    chances = np.ones((n_sequences, 1))  # of each history
    estimates = np.zeros((n_sequences, 1, n_arms))
    expected = np.zeros(n_sequences)
    for t in range(n_rounds):
        v = softmax(-etas[:, t, None, None] * estimates)
        expected += np.einsum("sh,shi,si->s", chances, v, losses[:, t])
        made_up = np.divide(losses[:, t, None, :], v + gamma, out=np.zeros_like(v), where=v > TINY)
        # Each history goes on with each arm.
        estimates = estimates[:, :, None, :] + made_up[:, :, :, None] * np.eye(n_arms)
        estimates = estimates.reshape(n_sequences, -1, n_arms)
        chances = (chances[:, :, None] * v).reshape(n_sequences, -1)
    return expected
