"""Weight, impurity and value of a node."""

from libc.math cimport INFINITY, fabs, log
from libc.stdint cimport int32_t
from libc.string cimport memset

from sklearn_sl.tree._cells cimport ABSOLUTE, ENTROPY, POISSON, Node
from sklearn_sl.tree._medians cimport Medians

cdef double LOG2 = 0.6931471805599453


cdef class Impurity:
    """Measures nodes: segments of ``rows`` with targets ``y`` or class ``codes``, and weights.

    The value of a node is the mass of each class, or the mean or median of each target.
    """

    def __init__(self, field, rules):
        self.rows, self.y, self.codes = field.rows, field.y, field.codes
        self.weight, self.first_channel = field.weight, field.first_channel
        self.n_outputs, self.n_channels = field.n_outputs, field.n_channels
        self.classify = field.codes.shape[0] > 0
        self.weighted = field.weight.shape[0] > 0
        self.criterion = rules.criterion
        if self.criterion == ABSOLUTE:
            self.medians = Medians(field)

    cdef bint measure(self, Node* node, double* value) noexcept nogil:
        """Set weight, impurity and value of a node; return whether it is pure.

        A value that leaves the bounds of the node stays as it is, but the node is charged for what
        keeping to them will cost.
        """
        cdef Py_ssize_t m = node.stop - node.start
        cdef const int32_t* rows = &self.rows[node.start]
        cdef bint pure
        if self.classify:
            pure = self._measure_classes(rows, m, node, value)
        elif self.criterion == ABSOLUTE:
            pure = self._measure_medians(rows, m, node, value)
        else:
            pure = self._measure_targets(rows, m, node, value)
        node.excess = 0
        if node.lower > -INFINITY or node.upper < INFINITY:
            node.excess = self._excess(
                rows, m, node, value[1] / node.weight if self.classify else value[0]
            )
        return pure

    cdef bint _measure_classes(
        self, const int32_t* rows, Py_ssize_t m, Node* node, double* value
    ) noexcept nogil:
        """Set the mass of each class; return whether there is one class only, in every output."""
        cdef Py_ssize_t i, k, output
        cdef double share, impurity = 0, of_output, weight = 0
        cdef bint pure
        memset(value, 0, self.n_channels * sizeof(double))
        for output in range(self.n_outputs):
            for i in range(m):
                k = self.first_channel[output] + self.codes[rows[i], output]
                value[k] += self.weight[rows[i]] if self.weighted else 1.0
        for k in range(self.first_channel[0], self.first_channel[1]):
            weight += value[k]
        for output in range(self.n_outputs):
            of_output = 0
            for k in range(self.first_channel[output], self.first_channel[output + 1]):
                share = value[k] / weight
                if share > 0:
                    of_output -= share * (log(share) / LOG2 if self.criterion == ENTROPY else share)
            impurity += of_output + (0 if self.criterion == ENTROPY else 1)
        pure = self._one_class(rows, m)
        node.weight = weight
        node.impurity = 0.0 if pure else impurity / self.n_outputs
        return pure

    cdef bint _one_class(self, const int32_t* rows, Py_ssize_t m) noexcept nogil:
        cdef Py_ssize_t i, output
        for output in range(self.n_outputs):
            for i in range(1, m):
                if self.codes[rows[i], output] != self.codes[rows[0], output]:
                    return False
        return True

    cdef bint _measure_targets(
        self, const int32_t* rows, Py_ssize_t m, Node* node, double* value
    ) noexcept nogil:
        """Set the means; return whether all targets are equal, in every output."""
        cdef Py_ssize_t i, output
        cdef double w = 1.0, weight = 0, loss = 0, target, first, mean, sum_of_output
        cdef bint pure = True, constant
        if not self.weighted:
            weight = <double> m
        else:
            for i in range(m):
                weight += self.weight[rows[i]]
        for output in range(self.n_outputs):
            first, sum_of_output, constant = self.y[rows[0], output], 0, True
            for i in range(m):
                target = self.y[rows[i], output]
                constant = constant and target == first
                if self.weighted:
                    w = self.weight[rows[i]]
                sum_of_output += w * (target - first)
            # Around a target of the node nothing is lost by cancellation, or for equal targets.
            mean = first if constant else first + sum_of_output / weight
            value[output] = mean
            if constant:
                continue
            pure = False
            for i in range(m):
                target = self.y[rows[i], output]
                if self.weighted:
                    w = self.weight[rows[i]]
                if self.criterion != POISSON:
                    loss += w * (target - mean) * (target - mean)
                elif target > 0:
                    loss += w * target * log(target / mean)
        node.weight = weight
        node.impurity = loss / (weight * self.n_outputs)
        return pure

    cdef bint _measure_medians(
        self, const int32_t* rows, Py_ssize_t m, Node* node, double* value
    ) noexcept nogil:
        """Set the medians; return whether all targets are equal, in every output."""
        cdef Py_ssize_t i, output
        cdef double loss = 0
        node.weight = 0 if self.weighted else <double> m
        if self.weighted:
            for i in range(m):
                node.weight += self.weight[rows[i]]
        for output in range(self.n_outputs):
            loss += self.medians.measure(rows, m, output, &value[output])
        node.impurity = loss / (node.weight * self.n_outputs)
        for output in range(self.n_outputs):
            for i in range(1, m):
                if self.y[rows[i], output] != self.y[rows[0], output]:
                    return False
        return True

    cdef double _excess(
        self, const int32_t* rows, Py_ssize_t m, const Node* node, double value
    ) noexcept nogil:
        """Return by how much the loss grows if the value is moved between the bounds.

        The value is the mean or median of a target, or the share of the second of two classes.
        """
        cdef double moved = min(max(value, node.lower), node.upper), excess = 0
        if moved == value:
            return 0
        if self.criterion == ABSOLUTE:
            excess = self._mean_deviation(rows, m, node, moved) - node.impurity
        elif self.criterion == ENTROPY:
            if value > 0:
                excess += value * log(value / moved) / LOG2
            if value < 1:
                excess += (1 - value) * log((1 - value) / (1 - moved)) / LOG2
        elif self.criterion == POISSON:
            excess = value * log(value / moved) - value + moved
        else:
            excess = (value - moved) * (value - moved) * (2 if self.classify else 1)
        return max(excess, 0.0)

    cdef double _mean_deviation(
        self, const int32_t* rows, Py_ssize_t m, const Node* node, double value
    ) noexcept nogil:
        """Return the mean absolute deviation of the first target from a value."""
        cdef Py_ssize_t i
        cdef double w = 1.0, loss = 0
        for i in range(m):
            if self.weighted:
                w = self.weight[rows[i]]
            loss += w * fabs(self.y[rows[i], 0] - value)
        return loss / node.weight
