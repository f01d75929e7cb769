"""Maximum flows with real capacities, by Dinic's algorithm.

The graph is symmetric, in CSR format: arc ``e`` of vertex ``v`` leads to ``indices[e]`` and has the
capacity ``capacity[e]``, as its opposite ``opposite[e]`` has. A flow is stored at both, with
opposite signs. It is kept from zero on, not as what is left of the capacities, so that a small flow
through a wide arc loses no digits; a flow that fills an arc is set to the capacity, so that what is
full is so exactly. That is why the algorithm ends for real capacities as it does for whole numbers:
each path fills an arc, and after each phase the ways that are left are longer.
"""


def find_levels(const Py_ssize_t[::1] indptr, const Py_ssize_t[::1] indices,
                const double[::1] capacity, const double[::1] flow, double direction,
                double slack, Py_ssize_t[::1] level, Py_ssize_t[::1] queue,
                Py_ssize_t[::1] ends, Py_ssize_t budget):
    """Write how many arcs with room each vertex is away from the vertices of level 0.

    Ways lead from these vertices if ``direction`` is 1, to them if it is -1. An arc has room if
    more than the part ``slack`` of its capacity is left. ``queue[ends[0]:ends[1]]`` are the
    vertices to go on from, and all other levels begin as -1. Returns whether all is done; if not,
    the budget of arcs was spent.
    """
    cdef Py_ssize_t v, u, e
    with nogil:
        while ends[0] < ends[1] and budget > 0:
            v = queue[ends[0]]
            ends[0] += 1
            budget -= indptr[v + 1] - indptr[v]
            for e in range(indptr[v], indptr[v + 1]):
                u = indices[e]
                if level[u] == -1 and capacity[e] - direction * flow[e] > slack * capacity[e]:
                    level[u] = level[v] + 1
                    queue[ends[1]] = u
                    ends[1] += 1
    return ends[0] == ends[1]


def augment(const Py_ssize_t[::1] indptr, const Py_ssize_t[::1] indices,
            const Py_ssize_t[::1] opposite, const double[::1] capacity,
            const Py_ssize_t[::1] level, const Py_ssize_t[::1] sources, double[::1] flow,
            Py_ssize_t[::1] arc, Py_ssize_t[::1] path, Py_ssize_t[::1] progress,
            Py_ssize_t budget):
    """Send flow along ways that lead one level down with each arc, until there is none.

    ``level`` is the number of arcs to the nearest sink. ``arc`` holds the arc that each vertex
    tries next; ``path`` the arcs of the way so far, ``progress`` its length and the number of the
    source that it begins at. Returns whether all is done; if not, the budget of arcs was spent.
    """
    cdef Py_ssize_t v, e, depth
    with nogil:
        while progress[1] < sources.shape[0] and budget > 0:
            depth = progress[0]
            v = indices[path[depth - 1]] if depth else sources[progress[1]]
            if level[v] == 0:
                progress[0] = _fill(opposite, capacity, flow, path, depth)
                budget -= depth
                continue
            e = _next_arc(indptr, indices, capacity, flow, level, arc, v, &budget)
            if e != -1:
                path[depth] = e
                progress[0] += 1
            elif depth:  # a dead end: the arc to it is of no use
                progress[0] -= 1
                arc[indices[opposite[path[depth - 1]]]] += 1
            else:
                progress[1] += 1
    return progress[1] == sources.shape[0]


cdef Py_ssize_t _next_arc(const Py_ssize_t[::1] indptr, const Py_ssize_t[::1] indices,
                          const double[::1] capacity, const double[::1] flow,
                          const Py_ssize_t[::1] level, Py_ssize_t[::1] arc, Py_ssize_t v,
                          Py_ssize_t *budget) noexcept nogil:
    """Return the next arc of a vertex with room that leads one level down, or -1."""
    cdef Py_ssize_t e = arc[v]
    if level[v] == -1:
        return -1
    while e < indptr[v + 1]:
        budget[0] -= 1
        if level[indices[e]] == level[v] - 1 and capacity[e] - flow[e] > 0:
            arc[v] = e
            return e
        e += 1
    arc[v] = e
    return -1


cdef Py_ssize_t _fill(const Py_ssize_t[::1] opposite, const double[::1] capacity,
                      double[::1] flow, const Py_ssize_t[::1] path,
                      Py_ssize_t length) noexcept nogil:
    """Send as much as possible along a path; return the length of it up to the first full arc."""
    cdef double most = capacity[path[0]] - flow[path[0]]
    cdef Py_ssize_t i, e, until = length
    for i in range(1, length):
        most = min(most, capacity[path[i]] - flow[path[i]])
    for i in range(length - 1, -1, -1):
        e = path[i]
        if capacity[e] - flow[e] <= most or flow[e] + most >= capacity[e]:
            flow[e] = capacity[e]
            until = i
        else:
            flow[e] += most
        flow[opposite[e]] = -flow[e]
    return until
