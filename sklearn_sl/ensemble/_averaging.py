"""What bagging and forests share: estimators fitted to resampled rows, and averaged."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.metrics import get_scorer_names
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from sklearn_sl._rows import row_hashes
from sklearn_sl._sklearn import Interval, Progress, StrOptions, check_sample_weight
from sklearn_sl._warnings import warn
from sklearn_sl.ensemble._base_estimators import (
    MAX_SEED,
    Narrator,
    features_of,
    in_turn,
    rows_of,
)
from sklearn_sl.ensemble._out_of_bag import (
    check_out_of_bag,
    group_codes,
    permutation_importance,
    read_groups,
    set_out_of_bag,
)
from sklearn_sl.ensemble._packed_trees import PackedTrees
from sklearn_sl.ensemble._resampling import Resampling

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

OUT_OF_BAG = ("oob_score_", "oob_decision_function_", "oob_prediction_", "oob_curve_")


def check_balance(ensemble, before, resampling):
    """Warn if classes are balanced by the rows of this fit, and in earlier ones by others."""
    chosen = getattr(ensemble, "class_weight", None)
    entries = chosen if isinstance(chosen, list) else [chosen]
    is_balanced = any(isinstance(entry, str) for entry in entries)
    if is_balanced and any(other.fingerprint != resampling.fingerprint for other in before[-1:]):
        warn(
            'class_weight presets "balanced" or "balanced_subsample" are not recommended for '
            "warm_start if the fitted data differs from the full dataset: the new base estimators "
            "count the classes of other samples. Compute the weights of the classes from a large "
            'enough sample of y by compute_class_weight("balanced", classes=classes, y=y), and '
            "pass them as the class_weight parameter."
        )


class AveragingMixin:
    """Base estimators fitted to resampled rows, whose answers are averaged.

    An answer of a base estimator to a sample is a row of numbers: the targets, or the shares of the
    classes, one output after the other.

    Hooks: ``_encode_targets(y, old)`` returns targets as numbers, ``_gather(X, y, weight, used,
    fit_params)`` sets ``estimator_`` and returns the training set of its copies, ``_read_query(X)``
    samples as they take them, ``_sample_reader()`` who reads these, ``_node_answers(estimator)``
    what each node of a tree answers, and ``_answers(estimator, X)`` what any other one does.
    """

    estimator_: Any
    estimators_: list[Any]
    oob_score_: float
    oob_curve_: Any

    _what_is_fitted = "estimators"

    _parameter_constraints = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "bootstrap": ["boolean"],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "oob_score": ["boolean", callable, StrOptions(set(get_scorer_names()))],
    }

    # ------------------------------------------------------------ a list of base estimators

    def __len__(self):
        """Return the number of base estimators."""
        return len(self.estimators_)

    def __getitem__(self, index):
        """Return a base estimator."""
        return self.estimators_[index]

    def __iter__(self):
        """Return an iterator over the base estimators."""
        return iter(self.estimators_)

    def __getstate__(self):
        # What follows from the base estimators is left out.
        return {name: v for name, v in super().__getstate__().items() if name != "_packed"}

    def _check_state(self):
        if "estimators_" not in vars(self):
            return
        if not hasattr(self, "estimators_features_"):
            n_features = {estimator.n_features_in_ for estimator in self.estimators_}
            if n_features != {self.n_features_in_}:
                raise ValueError(
                    f"estimators_ were fitted on {n_features} features, but n_features_in_ is "
                    f"{self.n_features_in_}."
                )
        # This fails if base estimators do not go together.
        self._packed = self._pack()

    # ------------------------------------------------------------ fitting

    def _fit_resampled(self, X, y, sample_weight, oob_groups, fit_params=None):
        """Fit the base estimators, those that are missing if there are some, and the rest."""
        old = self._begin()
        groups = None if oob_groups is None else read_groups(oob_groups, y)
        X, y, weight, used = self._remove_weightless(X, y, sample_weight)
        self._n_given = np.shape(sample_weight)[0] if used is not None else None
        y = self._encode_targets(y, old)
        group = self._gather(X, y, weight, used, fit_params or {})
        self._check_features(old)
        resampling = Resampling(
            row_hashes(group.X, y),
            weight,
            bootstrap=self.bootstrap,
            max_samples=self.max_samples,
            used=used,
            n_given=self._n_given,
            groups=None if groups is None else group_codes(groups, group.X, used),
        )
        if self.oob_score:
            check_out_of_bag(self, resampling, y)
        seeds = self._draw_seeds(old)
        if len(seeds):
            check_balance(self, old.get("_resamplings", []), resampling)
        columns = self._draw_columns(seeds)
        estimators = self._grow(group, resampling, seeds, columns) if len(seeds) else []
        self.estimators_ = old.get("estimators_", []) + estimators
        self._seeds = np.append(old.get("_seeds", []), seeds[: len(estimators)]).astype(np.int64)
        self._resamplings = old.get("_resamplings", []) + [resampling] * len(estimators)
        self._keep_columns(old, columns[: len(estimators)])
        self._packed = self._pack()
        if self.oob_score:
            set_out_of_bag(self, resampling, group.X, y)
        return self

    def _begin(self):
        """Forget the previous fit; return what it left if this one goes on with it, or nothing."""
        names = (
            "estimators_",
            "estimators_features_",
            "_seeds",
            "_resamplings",
            "n_features_in_",
            "classes_",
            "_n_targets",
        )
        old = {name: vars(self)[name] for name in names if name in vars(self)}
        if "estimators_" in old:
            old["categories"] = self._known_categories()
        for name in (*OUT_OF_BAG, "_category_encoder"):
            vars(self).pop(name, None)
        if not self.warm_start or "estimators_" not in old:
            return {}
        n_more = self.n_estimators - len(old["estimators_"])
        if n_more < 0:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={len(old['estimators_'])} when warm_start==True"
            )
        if n_more == 0:
            warn(
                "Warm-start fitting without increasing n_estimators does not fit new "
                f"{self._what_is_fitted}.",
            )
        return old

    def _remove_weightless(self, X, y, sample_weight):
        """Return the rows of positive weight, and which they are: None is all of them."""
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        if sp.issparse(y):
            raise ValueError(
                "sparse multilabel-indicator for y is not supported: pass y.toarray()."
            )
        check_consistent_length(X, y)
        if sample_weight is None:
            return X, y, None, None
        weight = check_sample_weight(sample_weight, X, dtype=np.float64)
        if weight.all():
            return X, y, weight, None
        used = np.flatnonzero(weight)
        return rows_of(X, used), rows_of(y, used), weight[used], used

    def _known_categories(self):
        """Return the categories of the features, None if there are none."""
        reader = self._sample_reader()
        if reader is None or reader.is_categorical_ is None:
            return None
        return [None if names is None else names.tolist() for names in reader.categories_]

    def _check_features(self, old):
        """Raise an error for other features than those that earlier base estimators know."""
        if old and old["n_features_in_"] != self.n_features_in_:
            raise ValueError(
                f"X has {self.n_features_in_} features, but the previous fit had "
                f"{old['n_features_in_']}: set warm_start=False to fit anew."
            )
        if old and old["categories"] != self._known_categories():
            raise ValueError(
                "X must have the same categories as in the previous fit when warm_start=True: set "
                "warm_start=False to fit anew."
            )

    def _draw_seeds(self, old):
        """Return the seeds of the base estimators to be fitted.

        They are drawn one after the other, so that those of more base estimators begin with those
        of less.
        """
        n_old = len(old.get("estimators_", []))
        rng = check_random_state(self.random_state)
        if isinstance(self.random_state, Integral):
            return rng.randint(MAX_SEED, size=self.n_estimators)[n_old:]
        return rng.randint(MAX_SEED, size=self.n_estimators - n_old)

    def _draw_columns(self, seeds):
        """Return the features of base estimators."""
        return [np.arange(self.n_features_in_)] * len(seeds)

    def _keep_columns(self, old, columns):
        """Remember the features of new base estimators."""

    def _estimator_columns(self):
        """Return the features of all base estimators."""
        return self._draw_columns(self.estimators_)

    def _grow(self, group, resampling, seeds, columns):
        """Return fitted base estimators, as many as the callbacks want."""
        estimators, growing = [], group.fit(resampling, seeds, columns)
        with Progress(self, name="member", total=len(seeds)) as progress:
            try:
                while len(estimators) < len(seeds) and not progress.stop:
                    with progress.step({"n_members": len(estimators) + 1}):
                        estimators.append(next(growing))
                if len(estimators) == len(seeds):
                    next(growing, None)  # lets it tell that it is done
            finally:
                growing.close()
        return estimators

    def _pack(self):
        """Return the trees packed for predictions; None if base estimators are of another kind."""
        if any(type(estimator) is not self._tree_class for estimator in self.estimators_):
            return None  # a subclass may predict otherwise
        return PackedTrees(
            [estimator.tree_ for estimator in self.estimators_],
            [self._node_answers(estimator) for estimator in self.estimators_],
            self._estimator_columns(),
            kind=getattr(self, "voting", None),
        )

    # ------------------------------------------------------------ predicting

    @property
    def estimators_samples_(self) -> list[Any]:
        """The rows that each base estimator drew, as often as it did; computed at each call."""
        check_is_fitted(self)
        return [
            resampling.draw(seed)
            for seed, resampling in zip(self._seeds, self._resamplings, strict=True)
        ]

    def _mean_answers(self, X, **params):
        """Return the mean of the base estimators' answers to samples as they take them.

        The sum is over the base estimators in their order, so that it is the same for any
        ``n_jobs``.
        """
        packed = self._current_pack()
        if packed is not None:
            n_threads = effective_n_jobs(self.n_jobs)
            narrator = Narrator(self.verbose, n_threads, len(self.estimators_))
            total = packed.sums(X, n_threads)
            narrator.end(len(self.estimators_))
            return total / len(self.estimators_)

        def answers(estimator, columns):
            return self._answers(estimator, features_of(X, columns), **params)

        return sum(self._ask(answers)) / len(self.estimators_)

    def _current_pack(self):
        """Return the packed trees, packed again if somebody changed the list of base estimators."""
        if self._packed is None:
            return None
        trees = [getattr(estimator, "tree_", None) for estimator in self.estimators_]
        if self._packed.packs(trees, getattr(self, "voting", None)):
            return self._packed
        return self._pack()

    def _ask(self, question):
        """Yield ``question(estimator, columns)`` of all base estimators."""
        return in_turn(
            question,
            zip(self.estimators_, self._estimator_columns()),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            require="sharedmem",  # base estimators need not travel to other processes and back
        )

    # ------------------------------------------------------------ out of bag

    def choose_n_estimators(self, rule: Literal["1se", "min"] = "1se") -> int:
        """Return how many base estimators suffice, by the out-of-bag losses of the first ones.

        Parameters
        ----------
        rule : {"1se", "min"}, default="1se"
            "min" is the smallest number of base estimators of the least loss, "1se" the smallest
            number whose loss is at most one standard error above the least.

        Returns
        -------
        n_estimators : int
            The number of base estimators, for :meth:`truncate`.
        """
        check_is_fitted(self)
        if rule not in ("1se", "min"):
            raise ValueError(f'rule must be "1se" or "min", got {rule!r}.')
        if not hasattr(self, "oob_curve_"):
            raise ValueError("choose_n_estimators needs oob_curve_: fit with oob_score=True.")
        curve = self.oob_curve_
        if np.all(np.isnan(curve.loss)):
            raise ValueError(
                "oob_curve_ has no loss, because no row is out of bag: use more estimators."
            )
        best = int(np.nanargmin(curve.loss))
        limit = curve.loss[best] + (curve.standard_error[best] if rule == "1se" else 0.0)
        return int(curve.n_estimators[np.flatnonzero(curve.loss <= limit)[0]])

    def truncate(self, n_estimators: int) -> Any:
        """Return the ensemble of the first base estimators, without fitting anything.

        Parameters
        ----------
        n_estimators : int
            The number of base estimators to keep.

        Returns
        -------
        ensemble : estimator
            A new fitted ensemble, which shares its base estimators with this one; this one stays as
            it is. It has the beginning of ``oob_curve_``, but neither ``oob_score_`` nor the
            out-of-bag answers, which are those of all base estimators.
        """
        check_is_fitted(self)
        n_fitted = len(self.estimators_)
        if not isinstance(n_estimators, Integral) or not 1 <= n_estimators <= n_fitted:
            raise ValueError(
                f"n_estimators must be an int in [1, {n_fitted}], got {n_estimators!r}."
            )
        shorter = clone(self).set_params(n_estimators=int(n_estimators))
        fitted = {name: value for name, value in vars(self).items() if name not in vars(shorter)}
        if n_estimators < n_fitted:
            for name in OUT_OF_BAG[:-1]:
                fitted.pop(name, None)
        for name in ("estimators_", "estimators_features_", "_seeds", "_resamplings"):
            if name in fitted:
                fitted[name] = fitted[name][:n_estimators]
        if "oob_curve_" in fitted:
            fitted["oob_curve_"] = Bunch(
                **{name: values[:n_estimators] for name, values in self.oob_curve_.items()}
            )
        vars(shorter).update(fitted)
        shorter._packed = shorter._pack()
        return shorter

    def oob_permutation_importance(
        self,
        X: ArrayLike,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        oob_groups: str | None = None,
        n_repeats: int = 1,
        random_state: int | np.random.RandomState | None = None,
    ) -> Any:
        """Return by how much the base estimators err more if a feature is permuted.

        The values of a feature are permuted among the rows that are out of bag for a base
        estimator; Breiman's importance is the increase of the base estimator's loss on them, the
        share of wrong classes or the mean squared error, averaged over the base estimators [1]_.
        Unlike the impurity importance it does not favour features with many values, because it is
        measured on rows that the base estimator has not seen; and it costs no further fit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples of the fit, in any order.

        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets.

        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        oob_groups : array-like of shape (n_samples,) or "duplicates", default=None
            The groups of the samples, as in :meth:`fit`.

        n_repeats : int, default=1
            The number of permutations of each feature for each base estimator.

        random_state : int, RandomState instance or None, default=None
            The seed of the permutations.

        Returns
        -------
        result : :class:`~sklearn.utils.Bunch`
            ``importances`` of shape (n_features, n_estimators), NaN for a base estimator that has
            no rows out of bag, ``importances_mean`` and ``importances_std`` over the base
            estimators.

        References
        ----------
        .. [1] L. Breiman, "Random forests", Machine Learning, 45(1), 5-32, 2001.
        """
        check_is_fitted(self)
        return permutation_importance(
            self, X, y, sample_weight, oob_groups, n_repeats, random_state
        )
