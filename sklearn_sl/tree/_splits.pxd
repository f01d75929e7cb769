cimport cython
from libc.stdint cimport int8_t, int32_t, int64_t, uint32_t, uint64_t

from sklearn_sl.tree._cells cimport Found, Node, Rival, Split
from sklearn_sl.tree._columns cimport Columns
from sklearn_sl.tree._medians cimport Medians


@cython.final
cdef class SplitSearch:
    cdef Columns columns
    cdef Medians medians
    # targets or classes, and how rows count
    cdef const double[:, ::1] y
    cdef const int32_t[:, ::1] codes
    cdef const int32_t[::1] first_channel
    cdef const double[::1] weight
    cdef bint classify, weighted
    cdef int criterion
    cdef Py_ssize_t n_outputs, n_channels
    cdef const double[::1] x_log_x
    cdef bint simple, counted, random_thresholds, use_surrogates
    cdef Py_ssize_t min_leaf, n_competitors
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

    cdef void prepare(self, const Node* node) noexcept nogil
    cdef void _prepare_masses(
        self, const int32_t* rows, Py_ssize_t m, double weight,
    ) noexcept nogil
    cdef void _prepare_classes(self, const int32_t* rows, Py_ssize_t m) noexcept nogil
    cdef void _prepare_targets(
        self, const int32_t* rows, Py_ssize_t m, double weight,
    ) noexcept nogil
    cdef void find(
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
    cdef bint _matters(self, const Split* found) noexcept nogil
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
    cdef void _best_threshold_of_stored(
        self, const Node* node, Py_ssize_t feature, Split* found,
    ) noexcept nogil
    cdef bint _is_plain(self, Py_ssize_t feature) noexcept nogil
    cdef double _gain_at(self, Py_ssize_t i, double mass, double all_mass) noexcept nogil
    cdef bint _in_order(
        self, const Node* node, Py_ssize_t feature, Py_ssize_t i, double mass, double all_mass,
        double* middle,
    ) noexcept nogil
    cdef bint _skips_least(self, Py_ssize_t feature, Py_ssize_t m) noexcept nogil
    cdef void _best_threshold_above_least(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, Split* found,
    ) noexcept nogil
    cdef void _scan_above(
        self, const Node* node, Py_ssize_t feature, const uint64_t* above, Py_ssize_t n_above,
        bint before, Found* best,
    ) noexcept nogil
    cdef double _sums_without(self, const uint64_t* cells, Py_ssize_t n) noexcept nogil
    cdef Found _scan(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, Py_ssize_t n,
        const double* before, Py_ssize_t n_before, double mass_before, double all_mass,
        Py_ssize_t all_rows,
    ) noexcept nogil
    cdef double _least_score(self, Py_ssize_t feature) noexcept nogil
    cdef double _gain_of(
        self, Py_ssize_t feature, double score, double all_mass,
    ) noexcept nogil
    cdef double _score(self, double mass, double all_mass) noexcept nogil
    cdef double _gain(self, double mass, double all_mass) noexcept nogil
    cdef double _score_of_counts(self, double mass, double rest) noexcept nogil
    cdef double _score_of_node(self, double all_mass) noexcept nogil
    cdef void _random_split(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, Py_ssize_t n,
        Py_ssize_t n_missing, double missing_mass, double all_mass, Split* found,
    ) noexcept nogil
    cdef void _random_split_of_stored(
        self, const Node* node, Py_ssize_t feature, Split* found,
    ) noexcept nogil
    cdef uint64_t _draw_of(self, const Node* node, Py_ssize_t feature) noexcept nogil
    cdef Py_ssize_t _count_up_to(
        self, const Node* node, Py_ssize_t feature, const uint64_t* cells, Py_ssize_t n,
        double threshold,
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
