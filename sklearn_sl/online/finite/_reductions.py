"""Boolean formulas and disjunctions as problems of set cover, and the way back."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d

from sklearn_sl.online.finite._covers import (
    as_bits,
    check_search,
    smallest_cover,
    warn_unless_optimal,
)

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike


def cnf_to_set_cover(clauses: list[Any], n_variables: int | None = None) -> np.ndarray:
    """Return sets of which ``n_variables`` cover all elements exactly if a formula is satisfiable.

    The formula is a conjunction of clauses, which are disjunctions of literals. The elements are
    its clauses and its variables. Variable ``x_i`` has two sets: those clauses that ``x_i``
    makes true, and those that its negation makes true, both with the element ``x_i`` itself. A
    cover needs one of them for each variable; one of ``n_variables`` sets chooses the values of
    the variables, and makes all clauses true.

    Parameters
    ----------
    clauses : list of lists of int
        The literals of each clause: ``i`` for the variable ``x_i``, ``-i`` for its negation,
        with ``i`` from 1 on.

    n_variables : int, default=None
        The number of variables; None is the largest one that occurs.

    Returns
    -------
    incidence : ndarray of shape (n_clauses + n_variables, 2 * n_variables)
        Clauses and variables in rows. In columns the sets: those of ``x_1``, of its negation, of
        ``x_2``, and so on.

    See Also
    --------
    set_cover : Finds the smallest cover.
    set_cover_to_disjunction : The next reduction.

    References
    ----------
    .. [1] R. Karp, "Reducibility among combinatorial problems", in: Complexity of Computer
       Computations, Plenum, 1972.

    Examples
    --------
    ``(x1 or x2) and (not x1 or x2) and (not x2 or x3)``:

    >>> from sklearn_sl.online import cnf_to_set_cover, set_cover
    >>> cover = set_cover(cnf_to_set_cover([[1, 2], [-1, 2], [-2, 3]]))
    >>> len(cover.sets)  # as many as variables: satisfiable
    3
    >>> [2 * i in cover.sets for i in range(3)]  # x1, x2, x3
    [True, True, True]
    """
    clauses = [list(clause) for clause in clauses]
    used = [abs(literal) for clause in clauses for literal in clause]
    n_variables = max(used, default=0) if n_variables is None else n_variables
    if any(not isinstance(i, Integral) or not 1 <= i <= n_variables for i in used):
        raise ValueError(
            f"clauses must contain integers from 1 to {n_variables} or their negatives."
        )
    incidence = np.zeros((len(clauses) + n_variables, 2 * n_variables), dtype=bool)
    for row, clause in enumerate(clauses):
        incidence[row, [2 * abs(literal) - 2 + (literal < 0) for literal in clause]] = True
    for i in range(n_variables):
        incidence[len(clauses) + i, [2 * i, 2 * i + 1]] = True
    return incidence


def set_cover_to_disjunction(incidence: MatrixLike) -> tuple[np.ndarray, np.ndarray]:
    """Return samples whose smallest consistent disjunction is a smallest set cover.

    Sets are variables, and elements are positive samples: a disjunction of variables is true on a
    sample exactly if one of its sets has the element.

    Parameters
    ----------
    incidence : {array-like, sparse matrix} of shape (n_elements, n_sets)
        What is not zero is an element of a set.

    Returns
    -------
    X : ndarray of shape (n_elements, n_sets)
        Samples.

    y : ndarray of shape (n_elements,)
        Their classes, all ones.

    See Also
    --------
    minimal_disjunction : Finds the disjunction.
    cnf_to_set_cover : The reduction before.

    Examples
    --------
    >>> from sklearn_sl.online import minimal_disjunction, set_cover_to_disjunction
    >>> X, y = set_cover_to_disjunction([[1, 0, 0], [0, 1, 1], [0, 1, 0]])
    >>> minimal_disjunction(X, y).literals
    array([0, 1])
    """
    X = as_bits(incidence, "incidence").astype(np.int64)
    return X, np.ones(len(X), dtype=np.int64)


class Disjunction(NamedTuple):
    """A disjunction of literals; see :func:`minimal_disjunction`.

    Attributes
    ----------
    literals : ndarray of shape (n_literals,)
        The variables of a monotone disjunction; of another one ``2 i`` for variable ``i`` and
        ``2 i + 1`` for its negation.

    n_uncovered : int
        The number of positive samples on which it is false: zero if it is consistent.

    lower_bound : int
        No disjunction that is true on the others has less literals than this.

    optimal : bool
        Whether it is a smallest one.

    n_nodes : int
        The number of nodes that the search visited.

    See Also
    --------
    minimal_disjunction : Computes it.

    Examples
    --------
    >>> from sklearn_sl.online import minimal_disjunction
    >>> minimal_disjunction([[1, 0], [0, 1], [0, 0]], [1, 0, 0]).literals
    array([0])
    """

    literals: np.ndarray
    n_uncovered: int
    lower_bound: int
    optimal: bool
    n_nodes: int


def minimal_disjunction(
    X: MatrixLike,
    y: ArrayLike,
    *,
    literals: bool = False,
    method: Literal["exact", "greedy"] = "exact",
    max_nodes: int = 1_000_000,
) -> Any:
    """Return the smallest disjunction that is true on positive samples and false on all others.

    Literals that are true on a negative sample are out of the question. What remains is a set
    cover: each literal covers the positive samples on which it is true. Positive samples without
    such a literal are given up, as no consistent disjunction is true on them. Deciding whether
    there is a disjunction of ``k`` literals is NP-complete.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_variables)
        Samples; what is not zero is true.

    y : array-like of shape (n_samples,)
        What is not zero is positive.

    literals : bool, default=False
        Whether negations of variables can be used too.

    method : {"exact", "greedy"}, default="exact"
        How the cover is found, see :func:`set_cover`.

    max_nodes : int, default=1_000_000
        The largest number of nodes of the exact search; there is a warning if they do not suffice.

    Returns
    -------
    disjunction : Disjunction
        Its ``literals``, how many positive samples are given up, ``n_uncovered``, a
        ``lower_bound`` on the number of literals, whether it is ``optimal``, and the number
        ``n_nodes`` of nodes of the search.

    See Also
    --------
    MinimalDisjunction : The classifier.
    set_cover : The problem without negative samples.

    References
    ----------
    .. [1] D. Haussler, "Quantifying inductive bias: AI learning algorithms and Valiant's learning
       framework", Artificial Intelligence 36, 1988.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.online import minimal_disjunction
    >>> X = np.random.default_rng(0).integers(2, size=(200, 12))
    >>> minimal_disjunction(X, X[:, 3] | X[:, 7]).literals
    array([3, 7])
    >>> minimal_disjunction(X, X[:, 3] | (1 - X[:, 7]), literals=True).literals
    array([ 6, 15])
    """
    check_search(method, max_nodes)
    X, y = as_bits(X, "X"), column_or_1d(y) != 0
    check_consistent_length(X, y)
    found = smallest_consistent(literal_bits(X) if literals else X, y, method, max_nodes)
    warn_unless_optimal("disjunction", found, method, max_nodes)
    return found


def literal_bits(bits):
    """Return the values of variables and their negations, one after the other."""
    return np.stack([bits, ~bits], axis=2).reshape(len(bits), -1)


def smallest_consistent(bits, positive, method, max_nodes):
    """Return the smallest disjunction of the columns of a boolean matrix."""
    allowed = np.flatnonzero(~bits[~positive].any(axis=0))
    wanted = bits[positive][:, allowed]
    covered = wanted.any(axis=1)
    found = smallest_cover(wanted[covered], method, max_nodes)
    return Disjunction(allowed[found.sets], int(np.sum(~covered)), *found[1:])
