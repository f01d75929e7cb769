"""Trials of learners of boolean functions: one function for each class but the first.

Function ``k`` says whether a sample is of class ``k + 1``. The answer is the last class whose
function says so, or the first class, number zero.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t


def eliminate(
    const uint8_t[:, ::1] bits,
    const Py_ssize_t[::1] codes,
    uint8_t[:, :, ::1] kept,
    Py_ssize_t[::1] n_denied,
    Py_ssize_t[::1] answers,
):
    """Play one trial per row with a conjunction for each class.

    A conjunction is false on a sample of its own class: the literals that are false on the sample
    are removed from it.

    Parameters
    ----------
    bits : ndarray of shape (n_rows, n_variables)
        The samples.

    codes : ndarray of shape (n_rows,)
        The classes; none at all: only answer.

    kept : ndarray of shape (n_classes - 1, n_variables, 2)
        Which literals each conjunction has: variables and their negations; changed in place.

    n_denied : ndarray of shape (n_classes - 1,)
        How often each conjunction was true on a sample of another class, changed in place.

    answers : ndarray of shape (n_rows,)
        The answers before the changes are written here.

    Returns
    -------
    n_played : int
        The number of trials.
    """
    cdef Py_ssize_t row, k, i, n_variables = bits.shape[1]
    cdef bint holds, learns = codes.shape[0] > 0
    with nogil:
        for row in range(bits.shape[0]):
            answers[row] = 0
            for k in range(kept.shape[0]):
                # A variable that is one makes its negation false, and the other way round.
                holds = True
                for i in range(n_variables):
                    if kept[k, i, bits[row, i]]:
                        holds = False
                        break
                if holds:
                    answers[row] = k + 1
                if not learns:
                    continue
                if holds and codes[row] != k + 1:
                    n_denied[k] += 1
                elif not holds and codes[row] == k + 1:
                    for i in range(n_variables):
                        kept[k, i, bits[row, i]] = 0
    return bits.shape[0]


def vote(
    const uint8_t[:, ::1] bits,
    const Py_ssize_t[::1] codes,
    const int32_t[:, ::1] experts,
    const double[::1] weights,
    int64_t[:, ::1] mistakes,
    uint8_t[::1] says,
    Py_ssize_t[::1] answers,
):
    """Play one trial per row with a weighted majority of disjunctions for each class.

    Parameters
    ----------
    bits : ndarray of shape (n_rows, n_literals)
        The values of all literals.

    codes : ndarray of shape (n_rows,)
        The classes; none at all: only answer.

    experts : ndarray of shape (n_experts, n_members)
        The literals of each disjunction.

    weights : ndarray of shape (n_weights,)
        The weight of an expert with so many mistakes more than the best one; with more than these
        it has the last weight.

    mistakes : ndarray of shape (n_classes - 1, n_experts)
        The mistakes of each expert about each class, changed in place.

    says : ndarray of shape (n_experts,)
        Memory to work with.

    answers : ndarray of shape (n_rows,)
        The answers before the changes are written here.

    Returns
    -------
    n_played : int
        The number of trials.
    """
    cdef Py_ssize_t row, k, e, j, last = weights.shape[0] - 1
    cdef int64_t least
    cdef double yes, no, weight
    cdef bint learns = codes.shape[0] > 0, wanted
    with nogil:
        for row in range(bits.shape[0]):
            for e in range(experts.shape[0]):
                says[e] = 0
                for j in range(experts.shape[1]):
                    says[e] |= bits[row, experts[e, j]]
            answers[row] = 0
            for k in range(mistakes.shape[0]):
                least = mistakes[k, 0]
                for e in range(1, experts.shape[0]):
                    least = min(least, mistakes[k, e])
                yes = no = 0.0
                for e in range(experts.shape[0]):
                    weight = weights[min(mistakes[k, e] - least, last)]
                    if says[e]:
                        yes += weight
                    else:
                        no += weight
                if yes >= no:
                    answers[row] = k + 1
                if learns:
                    wanted = codes[row] == k + 1
                    for e in range(experts.shape[0]):
                        mistakes[k, e] += says[e] != wanted
    return bits.shape[0]
