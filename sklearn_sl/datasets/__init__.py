"""Generators of the problems that the theorems are about."""

from sklearn_sl.datasets._adversaries import (
    BisectionAdversary,
    ExpertAdversary,
    Game,
    OpposingAdversary,
    play,
)
from sklearn_sl.datasets._boolean import (
    adversarial_stream,
    make_disjunction,
    make_dnf,
    make_separable,
)
from sklearn_sl.datasets._graphs import (
    adversarial_vertex_order,
    make_clique_chain,
    make_two_cliques,
)
from sklearn_sl.datasets._matrices import (
    make_biclustered,
    make_cluster_graph,
    make_similarity_matrix,
    make_switching_tasks,
    matrix_trials,
)
from sklearn_sl.datasets._shattered import make_shattered_points
from sklearn_sl.datasets._streams import (
    make_bandit_losses,
    make_drifting_losses,
    make_drifting_stream,
    make_multitask_experts,
    make_switching_experts,
)

__all__ = [
    "BisectionAdversary",
    "ExpertAdversary",
    "Game",
    "OpposingAdversary",
    "adversarial_stream",
    "adversarial_vertex_order",
    "make_bandit_losses",
    "make_biclustered",
    "make_clique_chain",
    "make_cluster_graph",
    "make_disjunction",
    "make_dnf",
    "make_drifting_losses",
    "make_drifting_stream",
    "make_multitask_experts",
    "make_separable",
    "make_shattered_points",
    "make_similarity_matrix",
    "make_switching_experts",
    "make_switching_tasks",
    "make_two_cliques",
    "matrix_trials",
    "play",
]
