"""The algebra of kernels: sums, products, powers, and what is made of one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels as gp

from sklearn_sl._rows import n_rows
from sklearn_sl.kernels._base import (
    Kernel,
    check_vectors,
    diagonal,
    encode,
    flush,
    gram_and_gradient,
    input_kind,
    raise_to,
    result_type,
    tiles,
)


class _Operator(Kernel):
    """An operator on kernels that shares the input rules of its operands."""

    @property
    def _operands(self):
        return (self.k1, self.k2)

    @property
    def input_kind(self):
        kinds = {input_kind(k) for k in self._operands} - {"anything"}
        if len(kinds) > 1:
            raise TypeError(
                f"{self} combines kernels of different inputs ({', '.join(sorted(kinds))}): all "
                "must take the same X."
            )
        return kinds.pop() if kinds else "anything"

    @property
    def accepts_sparse(self):
        return all(
            getattr(k, "accepts_sparse", input_kind(k) == "anything") for k in self._operands
        )

    @property
    def positive_definite(self):
        return all(
            getattr(k, "positive_definite", getattr(k, "constant_value", 1) >= 0)
            for k in self._operands
        )

    @property
    def concurrent(self):
        return all(getattr(k, "concurrent", False) for k in self._operands)

    @property
    def nonnegative_input(self):
        return any(getattr(k, "nonnegative_input", False) for k in self._operands)


class _Pair:
    """The encoded input of two kernels, each of which may see the data in its own way."""

    def __init__(self, parts):
        self.parts = parts

    @property
    def dtype(self):
        return result_type(*self.parts)

    def __len__(self):
        return n_rows(self.parts[0])


class _Binary(_Operator, gp.KernelOperator):
    """Two kernels joined number by number."""

    __eq__ = gp.KernelOperator.__eq__  # a + b is b + a

    def _inputs(self, X):
        if self.requires_vector_input:  # validated, and copied if need be, once
            X = check_vectors(X, self)
        return _Pair([encode(k, X) for k in self._operands])

    def _tiles(self, X, Y):
        fills = [tiles(k, x, y) for k, x, y in zip(self._operands, X.parts, Y.parts)]

        def fill(rows, cols, out):
            fills[0](rows, cols, out)
            other = np.empty_like(out)
            fills[1](rows, cols, other)
            self._join(out, other, out=out)

        return fill

    def _diagonal(self, X):
        return self._join(*(diagonal(k, x) for k, x in zip(self._operands, X.parts)))

    def _operand_gradients(self, X):
        return [gram_and_gradient(k, x) for k, x in zip(self._operands, X.parts)]

    def is_stationary(self) -> bool:
        """Return whether both kernels depend on ``x - t`` alone."""
        return all(k.is_stationary() for k in self._operands)


class Sum(_Binary):
    """The sum ``K1(x, t) + K2(x, t)``; written ``k1 + k2``.

    Parameters
    ----------
    k1, k2 : sklearn.gaussian_process.kernels.Kernel
        The two kernels.

    Examples
    --------
    >>> from sklearn_sl.kernels import Gaussian, Linear
    >>> Linear() + 0.5 * Gaussian(gamma=2.0)
    Linear() + 0.707**2 * Gaussian(gamma=2)
    """

    _join = staticmethod(np.add)

    def _gradient(self, X, K):
        return np.dstack([gradient for _, gradient in self._operand_gradients(X)])

    def __repr__(self):
        return f"{self.k1} + {self.k2}"


def _factor(kernel):
    """Return the text of a factor, a sum in brackets."""
    return f"({kernel})" if isinstance(kernel, Sum | gp.Sum) else str(kernel)


class Product(_Binary):
    """The product ``K1(x, t) K2(x, t)``; written ``k1 * k2``.

    Parameters
    ----------
    k1, k2 : sklearn.gaussian_process.kernels.Kernel
        The two kernels.

    Examples
    --------
    >>> from sklearn_sl.kernels import Gaussian, Linear
    >>> Linear() * Gaussian(gamma=2.0)
    Linear() * Gaussian(gamma=2)
    """

    @staticmethod
    def _join(a, b, out=None):
        product = np.multiply(a, b, out=out)
        flush(product)
        return product

    def _gradient(self, X, K):
        (K1, dK1), (K2, dK2) = self._operand_gradients(X)
        return np.dstack([dK1 * K2[:, :, None], dK2 * K1[:, :, None]])

    def __repr__(self):
        return f"{_factor(self.k1)} * {_factor(self.k2)}"


class UnaryKernel(_Operator):
    """A kernel made of one kernel, called ``kernel``, which it shares its ``theta`` with."""

    @property
    def _operands(self):
        return (self.kernel,)

    def _inputs(self, X):
        return encode(self.kernel, X)

    def get_params(self, deep: bool = True) -> dict[Any, Any]:
        """Return the parameters, those of the inner kernel as ``kernel__<name>``.

        Parameters
        ----------
        deep : bool, default=True
            Whether to return the inner kernel's parameters too.

        Returns
        -------
        params : dict
            Parameter names and values.
        """
        params = super().get_params(deep=False)
        if deep:
            params.update(("kernel__" + k, v) for k, v in self.kernel.get_params().items())
        return params

    @property
    def hyperparameters(self):
        """The hyper-parameters of the inner kernel, as ``kernel__<name>``, then its own."""
        inner = [
            gp.Hyperparameter("kernel__" + h.name, h.value_type, h.bounds, h.n_elements)
            for h in self.kernel.hyperparameters
        ]
        return inner + super().hyperparameters

    @property
    def theta(self):
        """The logarithms of the free hyper-parameters, the inner kernel's first."""
        return np.append(self.kernel.theta, self._own_theta)

    @theta.setter
    def theta(self, theta):
        n_inner = self.kernel.n_dims
        self.kernel.theta = theta[:n_inner]
        self._set_own_theta(theta[n_inner:])

    @property
    def bounds(self):
        """The bounds of ``theta``."""
        own = [h.bounds for h in self._own_free]
        inner = self.kernel.bounds
        return np.vstack([inner.reshape(-1, 2), np.log(np.vstack(own))]) if own else inner

    @property
    def _own_free(self):
        return [h for h in super().hyperparameters if not h.fixed]

    @property
    def _own_theta(self):
        values = [np.atleast_1d(getattr(self, h.name)) for h in self._own_free]
        return np.log(np.concatenate(values)) if values else np.empty(0)

    def _set_own_theta(self, theta):
        start = 0
        for h in self._own_free:
            value = np.exp(theta[start : start + h.n_elements])
            setattr(self, h.name, value if h.n_elements > 1 else float(value[0]))
            start += h.n_elements

    def is_stationary(self) -> bool:
        """Return whether the inner kernel depends on ``x - t`` alone."""
        return self.kernel.is_stationary()


class Power(UnaryKernel):
    """The power ``K(x, t)**exponent``; written ``kernel ** exponent``.

    It is a kernel for every whole exponent; with another one a negative
    ``K(x, t)`` raises.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        The kernel.

    exponent : float
        The exponent.

    Examples
    --------
    >>> from sklearn_sl.kernels import Linear
    >>> (Linear() ** 2)([[1.0, 2.0]], [[3.0, 1.0]])
    array([[25.]])
    """

    def __init__(self, kernel: Any, exponent: float) -> None:
        self.kernel = kernel
        self.exponent = exponent

    @property
    def positive_definite(self):
        """Whether the kernel is positive semi-definite for every data set."""
        natural = self.exponent >= 0 and float(self.exponent).is_integer()
        return natural and super().positive_definite

    def _tiles(self, X, Y):
        inner = tiles(self.kernel, X, Y)

        def fill(rows, cols, out):
            inner(rows, cols, out)
            raise_to(out, self.exponent)
            flush(out)

        return fill

    def _diagonal(self, X):
        return diagonal(self.kernel, X) ** self.exponent

    def _gradient(self, X, K):
        inner, gradient = gram_and_gradient(self.kernel, X)
        if self.exponent == 0:
            return np.zeros_like(gradient)
        return self.exponent * (inner ** (self.exponent - 1))[:, :, None] * gradient

    def __repr__(self):
        compound = isinstance(self.kernel, gp.KernelOperator | gp.ConstantKernel)
        base = f"({self.kernel})" if compound else str(self.kernel)
        return f"{base} ** {self.exponent}"
