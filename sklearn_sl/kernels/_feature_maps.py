"""Explicit feature maps: literals, products over subsets, second-order correlations."""

from __future__ import annotations

from math import comb
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_sl._docstrings import inserter
from sklearn_sl._sklearn import Interval, fit_context
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.kernels._base import added_up

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike, SparseLike

FLOATS = {"dtype": [np.float64, np.float32]}
# A row of more numbers, or a dense matrix of more, is a mistake and not a wish.
WIDEST = 2**24
LARGEST = 2**33

document = inserter(
    monomials_of="""
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data.

    y : None
        Ignored.
    """,
)


def literals_of(X):
    """Return each feature of a matrix, followed by its negation."""
    literals = np.empty((X.shape[0], 2 * X.shape[1]), dtype=X.dtype)
    literals[:, ::2] = X
    np.subtract(1, X, out=literals[:, 1::2])
    return literals


class LiteralFeatures(EstimatorMixin, TransformerMixin, BaseEstimator):
    """The literals ``(x_1, 1 - x_1, ..., x_n, 1 - x_n)``.

    Every conjunction or disjunction of boolean variables and their negations is
    a monotone one of the literals, so a learner of monotone concepts (Winnow)
    learns all of them. For features in [0, 1] the new ones are in [0, 1] too;
    other numbers are transformed in the same way.

    Attributes
    ----------
    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features seen during fit, if all of them are strings.

    Examples
    --------
    >>> from sklearn_sl.kernels import LiteralFeatures
    >>> literals = LiteralFeatures().fit([[0, 1]])
    >>> literals.transform([[0, 1]])
    array([[0., 1., 1., 0.]])
    >>> literals.get_feature_names_out()
    array(['x0', 'not_x0', 'x1', 'not_x1'], dtype=object)
    """

    _parameter_constraints = {}

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Learn the number and the names of the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data.

        y : None
            Ignored.

        Returns
        -------
        self : LiteralFeatures
            The fitted transformer.
        """
        validate_data(self, X, **FLOATS)
        return self

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the literals of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data.

        Returns
        -------
        literals : ndarray of shape (n_samples, 2 * n_features)
            Each feature, followed by its negation.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **FLOATS)
        return literals_of(X)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """Return the names of the literals.

        Parameters
        ----------
        input_features : array-like of str, default=None
            The names of the features; those seen during fit, or "x0", "x1", ...

        Returns
        -------
        names : ndarray of str
            Each name, followed by that of the negation, ``"not_"`` and the name.
        """
        check_is_fitted(self)
        names = _input_names(self, input_features)
        return np.array([literal for x in names for literal in (x, f"not_{x}")], dtype=object)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "n_features_in_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class _MonomialsMixin(TransformerMixin):
    """A transformer whose features are those of a fitted ``PolynomialFeatures``.

    ``fit`` chooses it and calls ``_keep_monomials``; hook: ``_weighted(features)``.
    """

    monomials_: Any
    n_features_out_: int

    def _keep_monomials(self, X, monomials, n_features_out):
        """Set the fitted attributes, or raise if there would be too many features."""
        if n_features_out > WIDEST:
            raise ValueError(
                f"{type(self).__name__} would make more than {WIDEST} features of the "
                f"{X.shape[1]} of X: lower the order, select features, or use the kernel instead."
            )
        # The outermost transformer alone answers to set_output.
        self.monomials_ = monomials.set_output(transform="default").fit(X)
        self.n_features_out_ = n_features_out

    def transform(self, X: MatrixLike) -> np.ndarray | SparseLike:
        """Return the monomials of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The data.

        Returns
        -------
        features : {ndarray, sparse matrix} of shape (n_samples, `n_features_out_`)
            The monomials; sparse if ``X`` is.
        """
        check_is_fitted(self)
        # The products of a sparse row are made of its entries in their order.
        X = added_up(validate_data(self, X, reset=False, accept_sparse="csr", **FLOATS))
        if not sp.issparse(X) and X.shape[0] * self.n_features_out_ > LARGEST:
            raise ValueError(
                f"{type(self).__name__} would make a matrix of {X.shape[0]} x "
                f"{self.n_features_out_} numbers: transform fewer rows at a time, lower the "
                "order, or use the kernel instead."
            )
        return self._weighted(self.monomials_.transform(X))

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """Return the names of the monomials.

        Parameters
        ----------
        input_features : array-like of str, default=None
            The names of the features; those seen during fit, or "x0", "x1", ...

        Returns
        -------
        names : ndarray of str
            The names, such as "1", "x0", "x0 x1".
        """
        check_is_fitted(self)
        return self.monomials_.get_feature_names_out(_input_names(self, input_features))

    def _weighted(self, features):
        return features

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@document
class SubsetFeatures(EstimatorMixin, _MonomialsMixin, BaseEstimator):
    """The products of the features over all subsets of at most ``order`` of them.

    ``phi_A(x) = prod_{i in A} x_i``. With ``order=None`` and the empty subset
    the inner product of the features is ``prod_i (1 + x_i t_i)``.

    Parameters
    ----------
    order : int or None, default=2
        The size of the largest subsets; ``None`` means all ``2**n`` subsets.

    include_bias : bool, default=True
        Whether the empty subset, the feature 1, is included.

    Attributes
    ----------
    monomials_ : sklearn.preprocessing.PolynomialFeatures
        The transformer that computes the products.

    n_features_out_ : int
        The number of subsets.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features seen during fit, if all of them are strings.

    Examples
    --------
    >>> from sklearn_sl.kernels import SubsetFeatures
    >>> SubsetFeatures(order=None).fit_transform([[2.0, 3.0, 5.0]])
    array([[ 1.,  2.,  3.,  5.,  6., 10., 15., 30.]])
    """

    _parameter_constraints = {
        "order": [Interval(Integral, 1, None, closed="left"), None],
        "include_bias": ["boolean"],
    }

    def __init__(self, order: int | None = 2, include_bias: bool = True) -> None:
        self.order = order
        self.include_bias = include_bias

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: None = None) -> Self:
        """Choose the monomials.

        Parameters
        ----------
        {monomials_of}

        Returns
        -------
        self : object
            The fitted transformer.
        """
        X = validate_data(self, X, accept_sparse="csr", **FLOATS)
        order = X.shape[1] if self.order is None else min(self.order, X.shape[1])
        n_subsets = 0
        for size in range(not self.include_bias, order + 1):
            n_subsets += comb(X.shape[1], size)
            if n_subsets > WIDEST:  # no need to know by how much
                break
        monomials = PolynomialFeatures(
            degree=order, interaction_only=True, include_bias=self.include_bias
        )
        self._keep_monomials(X, monomials, n_subsets)
        return self


@document
class CorrelationFeatures(EstimatorMixin, _MonomialsMixin, BaseEstimator):
    """The features and their second-order correlations, ``(x_i, x_i x_j for i <= j)``.

    ``n`` features become ``(n**2 + 3 n) / 2``. Scaled, the inner product of the
    new features is ``x't + (x't)**2``.

    Parameters
    ----------
    scaled : bool, default=False
        Whether to multiply ``x_i x_j`` by ``sqrt(2)`` for i < j.

    Attributes
    ----------
    monomials_ : sklearn.preprocessing.PolynomialFeatures
        The transformer that computes the products.

    n_features_out_ : int
        The number of new features.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features seen during fit, if all of them are strings.

    Examples
    --------
    >>> from sklearn_sl.kernels import CorrelationFeatures
    >>> CorrelationFeatures().fit_transform([[2.0, 3.0]])
    array([[2., 3., 4., 6., 9.]])
    """

    _parameter_constraints = {"scaled": ["boolean"]}

    def __init__(self, scaled: bool = False) -> None:
        self.scaled = scaled

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: None = None) -> Self:
        """Choose the monomials.

        Parameters
        ----------
        {monomials_of}

        Returns
        -------
        self : object
            The fitted transformer.
        """
        X = validate_data(self, X, accept_sparse="csr", **FLOATS)
        monomials = PolynomialFeatures(degree=2, include_bias=False)
        self._keep_monomials(X, monomials, X.shape[1] * (X.shape[1] + 3) // 2)
        return self

    def _weighted(self, features):
        if not self.scaled:
            return features
        first, second = np.triu_indices(self.n_features_in_)
        scales = np.ones(self.n_features_out_, dtype=features.dtype)
        scales[self.n_features_in_ :][first < second] = np.sqrt(2)
        if sp.issparse(features):
            features.data *= scales[features.indices]
        else:
            features *= scales
        return features


def _input_names(estimator, input_features):
    """Return the names of the features, given, seen during fit or made up."""
    names = getattr(estimator, "feature_names_in_", None)
    if input_features is None:
        made_up = [f"x{i}" for i in range(estimator.n_features_in_)]
        return np.asarray(made_up if names is None else names, dtype=object)
    given = np.asarray(input_features, dtype=object)
    if names is not None and not np.array_equal(names, given):
        raise ValueError("input_features is not equal to feature_names_in_")
    if len(given) != estimator.n_features_in_:
        raise ValueError(
            "input_features should have length equal to number of features "
            f"({estimator.n_features_in_}), got {len(given)}"
        )
    return given
