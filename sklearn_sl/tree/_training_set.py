"""The training set of trees: samples as numbers, in columns sorted once, and targets as numbers.

``read_classification`` and ``read_regression`` turn what a user gave into a :class:`TrainingSet`
and a :class:`Target`, which is all that growing a tree needs.
"""

import threading
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils.validation import check_array, check_consistent_length

from sklearn_sl._rows import slices
from sklearn_sl._sklearn import check_sample_weight
from sklearn_sl._threads import in_order
from sklearn_sl._validation import distinct_labels, is_plain_target, validate_data
from sklearn_sl.base import class_factors, read_labels
from sklearn_sl.tree import _cells
from sklearn_sl.tree._entries import StoredEntries, stored_once

# Rows are numbered by 31 bits of a cell.
MOST_ROWS = 2**31 - 1
# Fewer values are sorted by one thread.
MANY = 500_000
# Fewer values are not worth a look whether they are whole numbers.
MANY_WHOLE = 2**14
# Columns that a thread sorts one after the other: a line of the cache has eight numbers.
AT_ONCE = 8
# Squares of larger numbers overflow, or may when they are summed up.
LARGEST_TARGET = 1e150
NUMBERS = {"dtype": np.float64, "order": "C", "ensure_all_finite": "allow-nan"}
# What is not stored is zero, not missing: so no value is missing in sparse samples.
SPARSE_NUMBERS = {"dtype": np.float64, "accept_sparse": "csr"}
# What a tree learns of its features in a fit, but for their names.
LEARNED = ("n_features_in_", "is_categorical_", "_category_encoder")


# ---------------------------------------------------------------- what the user gave


def read_classification(tree, X, y, sample_weight):
    """Return the training set and the target of a classification tree."""
    X, y, weight = read_rows(tree, X, y, sample_weight, read_classes)
    target = class_target(tree, y, weight)
    return TrainingSet(X, tree, threads_for(tree.n_jobs, X.size)), target


def read_regression(tree, X, y, sample_weight):
    """Return the training set and the target of a regression tree."""
    X, y, weight = read_rows(tree, X, y, sample_weight, read_numbers)
    target = number_target(tree, y, weight)
    return TrainingSet(X, tree, threads_for(tree.n_jobs, X.size)), target


def threads_for(n_jobs, size):
    """Return how many threads may work on samples of so many numbers; few need no more than one."""
    return 1 if n_jobs is None and size < MANY else effective_n_jobs(n_jobs)


def read_rows(tree, X, y, sample_weight, read_targets):
    """Return samples, targets and weights of the rows of positive weight."""
    X = read_samples(tree, X, reset=True)
    if y is None:
        raise ValueError(
            f"This {type(tree).__name__} estimator requires y to be passed, but the target y is "
            "None."
        )
    y = read_targets(y, X.shape[0])
    weight = check_sample_weight(sample_weight, X, dtype=np.float64)
    if weight is None or weight.all():
        return X, y, weight
    used = np.flatnonzero(weight)
    return X[used], y[used], weight[used]


def shared_training_set(tree, X, *, reader=None, n_threads=1):
    """Return the training set of many trees like this one.

    The estimator that reads it is the ``reader``, by default another such tree.
    """
    tree._validate_params()
    reader = clone(tree) if reader is None else reader
    return TrainingSet(read_samples(reader, X, reset=True), reader, n_threads)


# ---------------------------------------------------------------- features


def read_samples(reader, X, *, reset):
    """Return samples as a matrix of numbers, where categories are codes.

    With ``reset`` the estimator ``reader`` learns the names and categories of the features, as its
    parameter ``categorical_features`` says. Missing values and unknown categories are NaN.
    """
    if reset:
        learn_categorical_features(reader, X)
    if sp.issparse(X):
        return read_sparse_samples(reader, X, reset=reset)
    try:
        return read_dense_samples(reader, X, reset=reset)
    except ValueError as error:
        complain_of_text(reader, X, error)
        raise


def read_dense_samples(reader, X, *, reset):
    """Return dense samples as a matrix of numbers, where categories are codes."""
    if reader.is_categorical_ is None:
        return validate_data(reader, X, reset=reset, **NUMBERS)
    validate_data(reader, X, reset=reset, skip_check_array=True)
    if not hasattr(X, "iloc"):
        X = check_array(X, dtype=None, ensure_all_finite=False)
    chosen, others = map(np.flatnonzero, (reader.is_categorical_, ~reader.is_categorical_))
    numbers = np.empty((len(X), len(reader.is_categorical_)))
    if len(others):
        numbers[:, others] = check_array(columns_of(X, others), input_name="X", **NUMBERS)
    categories = columns_of(X, chosen)
    if reset:
        reader._category_encoder = category_encoder().fit(categories)
    numbers[:, chosen] = reader._category_encoder.transform(categories)
    return numbers


def complain_of_text(reader, X, error):
    """Raise an error that names the columns of text among those to be numbers, if there are any."""
    is_table = hasattr(X, "dtypes") or isinstance(X, np.ndarray)
    if "could not convert" not in str(error) or not is_table or len(X.shape) != 2:
        return
    chosen = reader.is_categorical_
    columns = X.iloc if hasattr(X, "iloc") else X
    places = [
        place
        for place in range(X.shape[1])
        if (chosen is None or not chosen[place])
        and any(isinstance(value, str) for value in np.asarray(columns[:, place]).tolist())
    ]
    if not places:
        return
    names = [str(X.columns[place]) if hasattr(X, "columns") else place for place in places]
    listed = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
    advice = f"categorical_features={names[:5]!r}"
    if hasattr(X, "columns"):
        advice = f'X[{names[0]!r}] = X[{names[0]!r}].astype("category")'
        if not isinstance(reader.categorical_features, str):
            advice += ' and categorical_features="from_dtype"'
    raise ValueError(
        f"X has text in the columns {listed}, which are not categorical: {error}. To split them "
        f"by categories use {advice}; or encode them as numbers."
    ) from error


def read_sparse_samples(reader, X, *, reset):
    """Return sparse samples in CSR format, those of a fit with each entry stored once."""
    if reader.is_categorical_ is not None:
        raise ValueError(
            "X must be dense if some features are categorical, got a sparse container: pass "
            "X.toarray(), or encode the categories as numbers and set categorical_features=None."
        )
    X = validate_data(reader, X, reset=reset, **SPARSE_NUMBERS)
    return stored_once(X) if reset else X


def learn_categorical_features(reader, X):
    """Set which features are categorical."""
    reader.is_categorical_ = None
    by_dtype = isinstance(reader.categorical_features, str)
    if hasattr(X, "dtypes") if by_dtype else reader.categorical_features is not None:
        validate_data(reader, X, reset=True, skip_check_array=True)
        names = getattr(reader, "feature_names_in_", None)
        reader.is_categorical_ = categorical_mask(X, reader.categorical_features, names)


def category_encoder(categories="auto"):
    """Return an unfitted encoder, for which unknown and missing categories are NaN."""
    return OrdinalEncoder(
        categories=categories,
        handle_unknown="use_encoded_value",
        unknown_value=np.nan,
        encoded_missing_value=np.nan,
    )


def encoder_of(categories):
    """Return a fitted encoder of columns with these categories."""
    is_text = any(names.dtype.kind not in "biuf" for names in categories)
    # A column whose values are all missing has no category to show.
    row = [[names[0] if len(names) else np.nan for names in categories]]
    encoder = category_encoder(
        [names if len(names) else np.array([np.nan]) for names in categories]
    )
    return encoder.fit(np.array(row, dtype=object if is_text else np.float64))


def categories_of(reader):
    """Return the categories of each feature, in the order of their codes; None for a number."""
    found = [None] * reader.n_features_in_
    if reader.is_categorical_ is not None:
        places = np.flatnonzero(reader.is_categorical_)
        for place, categories in zip(places, reader._category_encoder.categories_, strict=True):
            # A missing value is none of them.
            known = [c is not None and c == c for c in categories]
            found[place] = categories[np.array(known, dtype=bool)]
    return found


def same_categories(*readers):
    """Return whether estimators know the same categories of the same features."""
    first, *others = (
        None
        if reader.is_categorical_ is None
        else [None if names is None else names.tolist() for names in categories_of(reader)]
        for reader in readers
    )
    return all(other == first for other in others)


def columns_of(X, places):
    """Return some of the columns of a frame or an array, without their names."""
    if hasattr(X, "iloc"):
        return X.iloc[:, places].set_axis(range(len(places)), axis=1)
    return X[:, places]


def categorical_mask(X, chosen, names):
    """Return which features are categorical; None if none is."""
    n_features = X.shape[1] if hasattr(X, "shape") and len(X.shape) == 2 else None
    if isinstance(chosen, str):
        if chosen != "from_dtype":
            raise ValueError(
                'categorical_features may be the string "from_dtype" only, or an array; got '
                f"{chosen!r}."
            )
        if not hasattr(X, "dtypes") or n_features is None:
            return None
        mask = np.array([getattr(dtype, "name", "") == "category" for dtype in np.ravel(X.dtypes)])
        return mask if mask.any() else None
    chosen = np.asarray([] if chosen is None else chosen)
    if chosen.size == 0:
        return None
    if n_features is None:
        n_features = np.shape(X)[1]
    mask = np.zeros(n_features, dtype=bool)
    if chosen.dtype.kind == "b":
        if chosen.shape != mask.shape:
            raise ValueError(
                f"categorical_features as a boolean mask must have {n_features} entries, one for "
                f"each feature; got {len(chosen)}."
            )
        return chosen if chosen.any() else None
    if chosen.dtype.kind in "iu":
        if chosen.min() < -n_features or chosen.max() >= n_features:
            raise ValueError(
                f"categorical_features as indices must be in [-{n_features}, {n_features}), got "
                f"{chosen.tolist()}."
            )
        mask[chosen] = True
        return mask
    if names is None:
        raise ValueError(
            "categorical_features has names, but X has no feature names: pass a dataframe whose "
            "column names are strings, or indices."
        )
    unknown = sorted(set(chosen.astype(str)) - set(names))
    if unknown:
        raise ValueError(
            f"categorical_features has names that X does not have: {', '.join(unknown)}."
        )
    return np.isin(names, chosen.astype(str))


# ---------------------------------------------------------------- sorted columns


class TrainingSet:
    """Samples as numbers, and the cells of their columns in the order of their values.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Numbers; NaN is a missing value, and a categorical feature has its codes. Sparse ones are in
        CSR format, with each entry stored once and no zeros.

    reader : estimator, default=None
        What read the samples, and knows their categories; None if all features are numbers.

    n_threads : int, default=1
        The threads that sort.

    Attributes
    ----------
    cells : ndarray of shape (n_features, n_samples)
        For each column ``rank << 32 | row``, sorted; missing values have the rank
        ``_cells.MISSING``, and a categorical value has its code. Sparse samples have none.

    entries : StoredEntries or None
        Instead of cells, the entries of sparse samples.

    n_categories : ndarray of shape (n_features,)
        The number of categories of a feature, zero for a number.

    has_missing : bool
        Whether a value is missing.

    learned : dict
        What a tree that is grown on these samples knows of its features, as attributes.
    """

    def __init__(self, X, reader=None, n_threads=1):
        if X.shape[0] > MOST_ROWS:
            raise ValueError(
                f"X must have at most {MOST_ROWS} samples to grow a tree on, got {X.shape[0]}."
            )
        self._lock, self.entries = threading.Lock(), None
        self.X = X if sp.issparse(X) else np.ascontiguousarray(X)
        self.reader, categories = reader, [None] * X.shape[1]
        self.learned = {}
        if reader is not None:
            categories = categories_of(reader)
            self.learned = {name: vars(reader)[name] for name in LEARNED if name in vars(reader)}
        self.n_categories = np.array(
            [0 if names is None else len(names) for names in categories], dtype=np.int32
        )
        if sp.issparse(X):
            self.entries, self.has_missing = StoredEntries(X, n_threads), False
            return
        self.cells = np.empty(X.shape[::-1], dtype=np.uint64)

        def sort(features, over=None):
            columns = np.ascontiguousarray(self.X[:, features].T)
            _cells.rank_cells(orders_of(columns), columns, self.cells[features])

        if X.size < MANY:
            sort(slice(None))
        else:
            # Numbers of a row that are next to each other are read together.
            for _ in in_order(sort, slices(X.shape[1], AT_ONCE), n_threads):
                pass
        for feature in np.flatnonzero(self.n_categories):
            self._rank_by_code(feature, self.X[:, feature])
        self.has_missing = any_missing(self.cells)

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state):
        vars(self).update(state)
        self._lock = threading.Lock()

    def _rank_by_code(self, feature, column):
        """Let the code of a category be its rank."""
        rows = self.cells[feature] & np.uint64(0xFFFFFFFF)
        codes = column[rows.astype(np.intp)]
        codes = np.where(np.isnan(codes), _cells.MISSING, codes).astype(np.uint64)
        self.cells[feature] = codes << np.uint64(32) | rows

    @property
    def ranks(self):
        """The ranks of the values of each column, row by row; missing values have the highest."""
        with self._lock:  # all threads of a forest ask at once
            return self._ranks

    @cached_property
    def _ranks(self):
        # Two bytes are enough for few values; the rank of a missing one needs four.
        highest = self.cells[:, -1].max() >> np.uint64(32)
        ranks = np.empty(self.cells.shape, np.uint16 if highest < 2**16 else np.uint32)
        _cells.rows_of_ranks(self.cells, ranks)
        return ranks

    def cells_of(self, rows):
        """Return the cells of some rows, which increase, numbered by their place among them."""
        if len(rows) == len(self.X):
            return self.cells.copy()
        place = np.full(len(self.X), -1, dtype=np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
        cells = np.empty((len(self.cells), len(rows)), dtype=np.uint64)
        for feature, column in enumerate(self.cells):
            _cells.select_cells(column, place, cells[feature])
        return cells

    def subset(self, features):
        """Return the same samples with some of the features, in this order."""
        part = object.__new__(TrainingSet)
        part._lock, part.entries = threading.Lock(), None
        part.n_categories, part.reader = self.n_categories[features], self.reader
        if self.entries is not None:
            part.X, part.has_missing = self.X[:, features], False
            part.entries = self.entries.subset(features, part.X)
        else:
            part.X, part.cells = np.ascontiguousarray(self.X[:, features]), self.cells[features]
            part.has_missing = any_missing(part.cells)
        part.learned = {
            **self.learned,
            "n_features_in_": len(features),
            **self._categories_of(features),
        }
        return part

    def _categories_of(self, features):
        """Return what a tree knows of the categories among some features."""
        is_categorical = self.learned["is_categorical_"]
        if is_categorical is None or not is_categorical[features].any():
            return {"is_categorical_": None}
        categories = categories_of(self.reader)
        known = [categories[feature] for feature in features]
        encoder = encoder_of([names for names in known if names is not None])
        return {"is_categorical_": is_categorical[features], "_category_encoder": encoder}


def orders_of(columns):
    """Return what sorts each of some columns, given as lines; many whole numbers by their bytes."""
    if columns.size < MANY_WHOLE:
        return np.argsort(columns)
    low = columns.min(axis=1, keepdims=True)
    with np.errstate(over="ignore", invalid="ignore"):
        reach = (columns.max(axis=1, keepdims=True) - low).max()
    if not reach < 2**16:
        return np.argsort(columns)
    codes = (columns - low).astype(np.uint8 if reach < 2**8 else np.uint16)
    if not (codes + low == columns).all():
        return np.argsort(columns)
    return np.argsort(codes, kind="stable")


def any_missing(cells):
    """Return whether a value of sorted columns is missing."""
    return bool((cells[:, -1] >> np.uint64(32) == _cells.MISSING).any())


# ---------------------------------------------------------------- targets


class Target:
    """Targets as numbers, and how rows count.

    ``values`` are targets, or classes as codes where there are ``n_classes``. A row counts by its
    ``own`` weight, by ``counted`` where its class counts too, and by ``weight`` in the search for
    splits; None is one. ``mass`` is the sum of ``counted``. What a tree knows of its targets, as
    attributes, is ``learned``.
    """

    def __init__(
        self, values, own, *, n_classes=None, counted=None, weight=None, cost=None, learned=None
    ):
        self.values, self.own, self.n_classes, self.cost = values, own, n_classes, cost
        self.learned = {"n_outputs_": values.shape[1], **(learned or {})}
        self.counted = own if counted is None else counted
        self.weight = self.counted if weight is None else weight
        self.mass = float(len(values) if self.counted is None else self.counted.sum())


def read_classes(y, n_samples):
    """Return validated classes, a column for each output."""
    y = read_labels(y)
    plain = is_plain_target(y, n_samples, numbers=False)
    if not plain:
        y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
    if not (plain and are_few_labels(y)):
        distinct_labels(y)  # complains of what are no labels
    y = y.reshape(len(y), -1)
    check_consistent_length(y, np.empty(n_samples))
    return y


def are_few_labels(y):
    """Return whether labels are integers of a range much smaller than their number."""
    return y.dtype.kind in "biu" and int(y.max()) - int(y.min()) < len(y) // 2


def read_numbers(y, n_samples):
    """Return validated numbers, a column for each output."""
    if is_plain_target(y, n_samples, numbers=True):
        y = y.astype(np.float64, copy=False)
    else:
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    y = y.reshape(len(y), -1)
    check_consistent_length(y, np.empty(n_samples))
    if np.abs(y).max() > LARGEST_TARGET:
        raise ValueError(
            f"y must not have values beyond {LARGEST_TARGET:g}, whose squares overflow: scale it."
        )
    return y


def number_target(tree, y, weight):
    """Return the target of a regression, if it suits the criterion."""
    if tree.criterion == "poisson":
        if np.any(y < 0):
            raise ValueError(
                "Some value(s) of y are negative which is not allowed for Poisson regression."
            )
        if not np.all(y.sum(axis=0) > 0):
            raise ValueError("Sum of y is not positive which is necessary for Poisson regression.")
    return Target(y, weight)


def encode_classes(y):
    """Return classes as codes, their numbers, and what a tree knows of them as attributes."""
    found = [np.unique(column, return_inverse=True) for column in y.T]
    classes = [names for names, _ in found]
    codes = np.stack([code for _, code in found], axis=1).astype(np.int32)
    n_classes = np.array([len(names) for names in classes], dtype=np.intp)
    if len(classes) == 1:
        return codes, n_classes, {"classes_": classes[0], "n_classes_": int(n_classes[0])}
    return codes, n_classes, {"classes_": classes, "n_classes_": n_classes}


def class_target(tree, y, weight):
    """Return the target of a classification, with the weights that the splits see."""
    codes, n_classes, learned = encode_classes(y)
    if len(n_classes) > 1 and (tree.priors is not None or tree.cost_matrix is not None):
        raise ValueError(
            f"priors and cost_matrix need a single output, but y has {len(n_classes)}."
        )
    factor = row_factors(tree, y, codes, learned["classes_"], weight)
    counted = weight if factor is None else times(factor, weight)
    cost = learned["_cost"] = read_cost_matrix(tree.cost_matrix, int(n_classes[0]))
    target = {"n_classes": n_classes, "counted": counted, "cost": cost, "learned": learned}
    if cost is None:
        return Target(codes, weight, **target)
    # The altered priors of CART: a class counts by what its mistakes cost.
    price = cost.sum(axis=1)[codes[:, 0]]
    seen = times(price if factor is None else price * factor, weight)
    return Target(codes, weight, weight=seen, **target)


def row_factors(tree, y, codes, classes, weight):
    """Return the factor of each row by class weights or priors; None for ones."""
    if tree.class_weight is not None and tree.priors is not None:
        raise ValueError("class_weight and priors cannot both be given: set one of them to None.")
    if tree.priors is not None:
        return prior_factors(tree.priors, codes[:, 0], classes, weight)
    if tree.class_weight is None:
        return None
    return class_weight_factors(tree.class_weight, y, weight)


def class_weight_factors(class_weight, y, weight):
    """Return the weight of each row by the classes of its outputs, one column of ``y`` for each."""
    n_outputs = y.shape[1]
    if n_outputs > 1 and isinstance(class_weight, dict):
        raise ValueError(
            "class_weight must be a list of dicts, one for each output, if y has several outputs; "
            "got a dict."
        )
    if not isinstance(class_weight, list):
        class_weight = [class_weight] * n_outputs
    if len(class_weight) != n_outputs:
        raise ValueError(
            "The number of elements in class_weight should match number of outputs. Got a list of "
            f"{len(class_weight)} for y of {n_outputs} outputs: give one entry for each output."
        )
    factors = [
        class_factors(entry, column, weight)
        for entry, column in zip(class_weight, y.T, strict=True)
    ]
    return factors[0] if n_outputs == 1 else np.prod(factors, axis=0)


def prior_factors(priors, codes, classes, weight):
    """Return the factors that give each class its prior share of the weight."""
    if isinstance(priors, dict):
        missing = [name for name in classes.tolist() if name not in priors]
        if missing:
            raise ValueError(
                f"priors must have an entry for every class of y, but has none for {missing}."
            )
        priors = [priors[name] for name in classes.tolist()]
    priors = np.asarray(priors, dtype=np.float64)
    if priors.shape != classes.shape or not np.all(priors > 0):
        raise ValueError(
            f"priors must be {len(classes)} positive numbers, one for each class of y; got "
            f"{priors.tolist()}."
        )
    masses = np.bincount(codes, weights=weight, minlength=len(classes))
    factors = np.divide(masses.sum(), masses, out=np.zeros(len(masses)), where=masses > 0)
    return (priors / priors.sum() * factors)[codes]


def read_cost_matrix(cost, n_classes):
    """Return the cost matrix, validated."""
    if cost is None:
        return None
    cost = check_array(cost, dtype=np.float64, input_name="cost_matrix")
    if cost.shape != (n_classes, n_classes):
        raise ValueError(
            f"cost_matrix must have shape {(n_classes, n_classes)}, a row for each true and a "
            f"column for each predicted class; got {cost.shape}."
        )
    if np.any(cost < 0) or np.any(np.diag(cost) != 0) or np.any(cost.sum(axis=1) == 0):
        raise ValueError(
            "cost_matrix must have zeros on its diagonal, no negative entry, and a positive entry "
            "in each row."
        )
    return cost


def times(factor, weight):
    """Return the weights of rows whose class has a factor.

    The factors are rounded, to about twelve digits, so that sums of integer weights times factors
    are exact: a weight is then a number of repetitions, to the last bit.
    """
    total = factor.sum() if weight is None else factor @ weight
    if not total > 0:
        raise ValueError(
            "class_weight and sample_weight leave no sample with a positive weight: give at least "
            "one class of y a positive weight."
        )
    unit = 2.0 ** (50 - np.frexp(total)[1])
    factor = np.where(factor > 0, np.maximum(np.rint(factor * unit), 1) / unit, 0)
    return factor if weight is None else factor * weight
