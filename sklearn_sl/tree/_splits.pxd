from libc.stdint cimport int8_t, int32_t, int64_t, uint32_t, uint64_t

from sklearn_sl.tree._cells cimport Found, Node, Rival, Split
from sklearn_sl.tree._impurity cimport Impurity


cdef class SplitSearch(Impurity):
    cdef const double[:, ::1] X
    cdef uint64_t[:, ::1] cells
    # instead of cells that are kept sorted: ranks, and cells that are sorted on demand
    cdef bint on_demand
    cdef const uint32_t[:, ::1] ranks
    cdef uint64_t[::1] gathered, spare
    cdef const int32_t[::1] n_categories
    cdef const double[::1] x_log_x
    cdef bint simple, counted, random_thresholds, random_order, use_surrogates
    cdef Py_ssize_t n_features, min_leaf, max_features, n_competitors
    cdef double min_weight
    # the order of the children of a split by a feature: -1, 0 or 1
    cdef const int8_t[::1] monotonic
    cdef bint constrained
    # one entry a row
    cdef double[::1] amount, mass, level
    cdef int32_t[::1] channel
    # of the node at hand
    cdef double[::1] total, left, right, missing_sum
    cdef double total_mass, unit_score, unit, centre
    cdef int32_t[::1] chosen
    cdef Split best
    # of its categories
    cdef double[:, ::1] group_sum
    cdef double[::1] group_mass, group_key
    cdef int64_t[::1] group_count
    cdef int32_t[::1] group_code, group_order, group_merged
    cdef int64_t[::1] group_begin
    # for medians: the category of each row, and the cells in the order of the categories
    cdef int32_t[::1] group_of
    cdef double[::1] group_seen
    cdef uint64_t[::1] grouped
    # the best splits of other features, and those of all nodes
    cdef Rival[::1] best_rivals
    cdef Py_ssize_t n_best_rivals
    cdef Rival[::1] competitors
    cdef readonly Py_ssize_t n_competing

    cdef Py_ssize_t n_chosen(self) noexcept nogil
    cdef void choose(self, const Node* node) noexcept nogil
    cdef bint is_constant(self, const Node* node, Py_ssize_t feature) noexcept nogil
    cdef uint64_t* column(self, const Node* node, Py_ssize_t feature) noexcept nogil
    cdef void prepare(self, const Node* node) noexcept nogil
    cdef void _prepare_masses(
        self, const int32_t* rows, Py_ssize_t m, double weight,
    ) noexcept nogil
    cdef void _prepare_classes(self, const int32_t* rows, Py_ssize_t m) noexcept nogil
    cdef void _prepare_targets(
        self, const int32_t* rows, Py_ssize_t m, double weight,
    ) noexcept nogil
    cdef void search(
        self, const Node* node, Py_ssize_t n_chosen, int64_t number,
    ) noexcept nogil
    cdef Py_ssize_t n_missing(self, const uint64_t* cells, Py_ssize_t m) noexcept nogil
    cdef double _sum(self, const uint64_t* cells, Py_ssize_t n, double* sums) noexcept nogil
    cdef void _best_of_feature(
        self, const Node* node, Py_ssize_t feature, Split* found,
    ) noexcept nogil
    cdef bint _accept(
        self, Split* found, Py_ssize_t feature, double gain, Py_ssize_t n_first, bint missing_left,
    ) noexcept nogil
    cdef void _best_threshold(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, Py_ssize_t n,
        Py_ssize_t n_missing, double missing_mass, double all_mass, Split* found,
    ) noexcept nogil
    cdef void _missing_against_the_rest(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, Py_ssize_t n,
        Py_ssize_t n_missing, double missing_mass, double all_mass, Split* found,
    ) noexcept nogil
    cdef void _set_threshold(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, Py_ssize_t n,
        Split* found,
    ) noexcept nogil
    cdef Found _scan(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, bint missing_left,
        double missing_mass, double all_mass, Py_ssize_t first, Py_ssize_t last,
    ) noexcept nogil
    cdef double _gain_at(
        self, Py_ssize_t i, double mass, double all_mass,
    ) noexcept nogil
    cdef bint _in_order(
        self, const Node* node, Py_ssize_t feature, Py_ssize_t i, double mass, double all_mass,
        double* middle,
    ) noexcept nogil
    cdef double _gain(self, double mass, double all_mass) noexcept nogil
    cdef double _score_of_counts(self, double mass, double rest) noexcept nogil
    cdef double _score_of_node(self, double all_mass) noexcept nogil
    cdef void _random_split(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, Py_ssize_t n,
        Py_ssize_t n_missing, double missing_mass, double all_mass, Split* found,
    ) noexcept nogil
    cdef Py_ssize_t group(self, const uint64_t* cells, Py_ssize_t n) noexcept nogil
    cdef void _best_subset(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, Py_ssize_t n,
        Py_ssize_t n_missing, double missing_mass, double all_mass, Split* found,
    ) noexcept nogil
    cdef void order_groups(self, Py_ssize_t n_groups, Py_ssize_t pivot) noexcept nogil
    cdef void _set_keys(self, Py_ssize_t n_groups, Py_ssize_t pivot) noexcept nogil
    cdef void _set_median_keys(self, Py_ssize_t n_groups, Py_ssize_t output) noexcept nogil
    cdef void _gather_groups(
        self, const uint64_t* cells, Py_ssize_t n_groups, Py_ssize_t n,
    ) noexcept nogil
    cdef void _merge_groups(
        self, Py_ssize_t begin, Py_ssize_t middle, Py_ssize_t end,
    ) noexcept nogil
    cdef void _keep_competitor(self, const Split* found) noexcept nogil
    cdef void _store_competitors(self, int64_t number) noexcept nogil
    cdef Py_ssize_t rank_rival(self, Py_ssize_t most, const Rival* rival) noexcept nogil
