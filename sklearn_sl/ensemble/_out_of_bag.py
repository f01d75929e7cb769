"""What the rows that a member did not draw say about an ensemble, at no further fit."""

import warnings
from numbers import Integral

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
    clone,
    is_classifier,
)
from sklearn.metrics import accuracy_score, get_scorer, get_scorer_names, r2_score
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from sklearn_sl._rows import row_hashes
from sklearn_sl._search import call_scorer
from sklearn_sl._sklearn import StrOptions
from sklearn_sl._threads import in_order
from sklearn_sl.ensemble._packed_trees import features_of
from sklearn_sl.ensemble._resampling import Resampling
from sklearn_sl.ensemble._shared_trees import shares_columns


class OutOfBagMixin:
    """The parameter ``oob_score``, and what can be learned from the rows that were not drawn.

    A row of integer weight is so many copies, each of which is in the bag of a member or out of it.
    """

    _parameter_constraints = {
        "oob_score": ["boolean", callable, StrOptions(set(get_scorer_names()))],
    }
    _out_of_bag_names = ("oob_score_", "oob_decision_function_", "oob_prediction_", "oob_curve_")

    # ------------------------------------------------------------ at the end of a fit

    def _check_out_of_bag(self, resampling, y):
        """Complain, before the members are fitted, if there will be no score."""
        if not self.oob_score:
            return
        if not resampling.resamples:
            raise ValueError(
                "Out of bag estimation only available if bootstrap=True, or if max_samples leaves "
                "rows out."
            )
        resampling.check_copies()
        kind = type_of_target(y)
        if (
            is_classifier(self)
            and kind == "multiclass-multioutput"
            and not callable(self.oob_score)
        ):
            raise ValueError(
                f"The type of target cannot be used to compute OOB estimates. Got {kind} while "
                "only the following are supported: binary, multiclass, multilabel-indicator. A "
                "callable oob_score may support it."
            )

    def _set_out_of_bag(self, resampling, X, y):
        """Set the answers, the score and the curve of the rows that are out of bag."""
        rows, weight = resampling.copy_rows(), resampling.copy_weight()
        tally = Tally(self, y[rows], weight, resampling.size)
        for copies, answers in self._out_of_bag_answers(resampling, X, rows):
            tally.add(copies, answers)
        self.oob_curve_ = tally.curve()
        known = np.flatnonzero(tally.n_answers)
        if len(known) < len(rows):
            warnings.warn(
                "Some inputs do not have OOB scores. This probably means too few estimators were "
                "used to compute any reliable OOB estimates.",
                stacklevel=5,
            )
        means = tally.total[known] / tally.n_answers[known, None]
        self._set_out_of_bag_answers(answers_of_rows(resampling, rows[known], means))
        self.oob_score_ = np.nan
        if len(known):
            known_weight = None if weight is None else weight[known]
            self.oob_score_ = self._out_of_bag_score(y[rows[known]], means, known_weight)

    def _out_of_bag_answers(self, resampling, X, copy_rows):
        """Yield the copies that are out of bag and the answers to them, for each member."""
        same = {id(resampling): resampling}
        for other in self._resamplings:
            if other.fingerprint != resampling.fingerprint:
                raise ValueError(
                    "oob_score needs members that were all fitted to the same training set, but "
                    "warm_start changed it."
                )
            if id(other) not in same:
                same[id(other)] = resampling.drawing_like(other)

        def ask(number):
            copies = same[id(self._resamplings[number])].out_of_bag(self._seeds[number])
            rows, place = np.unique(copy_rows[copies], return_inverse=True)
            member, columns = self.estimators_[number], self._member_columns()[number]
            return copies, self._answers_of(member, features_of(X[rows], columns))[place]

        return self._for_members(ask)

    def _for_members(self, work):
        """Yield ``work(number)`` of all members in their order, worked on by threads."""
        n_threads = min(effective_n_jobs(self.n_jobs), len(self.estimators_))
        return in_order(lambda number, over: work(number), range(len(self.estimators_)), n_threads)

    def _answers_of(self, member, X):
        """Return the answers of one member of any kind."""
        if shares_columns(member):
            return self._node_answers(member).take(member.tree_._leaves(X), axis=0)
        return self._answers(member, X)

    def _out_of_bag_score(self, y, answers, weight):
        y, predictions = self._decode(y), self._labels(answers)
        if callable(self.oob_score):
            return self.oob_score(y, predictions)
        if isinstance(self.oob_score, str):
            kind = ClassifierAnswers if is_classifier(self) else RegressorAnswers
            known = kind(predictions, answers, getattr(self, "classes_", None))
            return call_scorer(get_scorer(self.oob_score), known, y, weight)
        metric = accuracy_score if is_classifier(self) else r2_score
        return metric(y, predictions, sample_weight=weight)

    # ------------------------------------------------------------ how many members

    def choose_n_estimators(self, rule="1se"):
        """Return how many members suffice, by the out-of-bag losses of the first ones.

        Parameters
        ----------
        rule : {"1se", "min"}, default="1se"
            "min" is the smallest number of members of the least loss, "1se" the smallest number
            whose loss is at most one standard error above the least.

        Returns
        -------
        n_estimators : int
            The number of members, for :meth:`truncate`.
        """
        check_is_fitted(self)
        if rule not in ("1se", "min"):
            raise ValueError(f'rule must be "1se" or "min", got {rule!r}.')
        if not hasattr(self, "oob_curve_"):
            raise ValueError("choose_n_estimators needs a fit with oob_score.")
        curve = self.oob_curve_
        if np.all(np.isnan(curve.loss)):
            raise ValueError("No row is out of bag.")
        best = int(np.nanargmin(curve.loss))
        limit = curve.loss[best] + (curve.standard_error[best] if rule == "1se" else 0.0)
        return int(curve.n_estimators[np.flatnonzero(curve.loss <= limit)[0]])

    def truncate(self, n_estimators):
        """Return the ensemble of the first members, without fitting anything.

        Parameters
        ----------
        n_estimators : int
            The number of members to keep.

        Returns
        -------
        ensemble : estimator
            A new fitted ensemble, which shares its members with this one; this one stays as it
            is. It has the beginning of ``oob_curve_``, but neither ``oob_score_`` nor the
            out-of-bag answers, which are those of all members.
        """
        check_is_fitted(self)
        n_members = len(self.estimators_)
        if not isinstance(n_estimators, Integral) or not 1 <= n_estimators <= n_members:
            raise ValueError(
                f"n_estimators must be an integer from 1 to {n_members}, got {n_estimators!r}."
            )
        shorter = clone(self).set_params(n_estimators=int(n_estimators))
        fitted = {name: value for name, value in vars(self).items() if name not in vars(shorter)}
        if n_estimators < n_members:
            for name in self._out_of_bag_names[:-1]:
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

    # ------------------------------------------------------------ permutation importance

    def oob_permutation_importance(
        self, X, y, sample_weight=None, *, oob_groups=None, n_repeats=1, random_state=None
    ):
        """Return by how much the members err more if a feature is permuted.

        The values of a feature are permuted among the rows that are out of bag for a member;
        Breiman's importance is the increase of the member's loss on them, the share of wrong
        classes or the mean squared error, averaged over the members [1]_. Unlike the impurity
        importance it does not favour features with many values, because it is measured on rows
        that the member has not seen; and it costs no further fit.

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
            The number of permutations of each feature for each member.

        random_state : int, RandomState instance or None, default=None
            The seed of the permutations.

        Returns
        -------
        result : :class:`~sklearn.utils.Bunch`
            ``importances`` of shape (n_features, n_estimators), NaN for a member that has no rows
            out of bag, ``importances_mean`` and ``importances_std`` over the members.

        References
        ----------
        .. [1] L. Breiman, "Random forests", Machine Learning, 45(1), 5-32, 2001.
        """
        check_is_fitted(self)
        if not isinstance(n_repeats, Integral) or n_repeats < 1:
            raise ValueError(f"n_repeats must be a positive integer, got {n_repeats!r}.")
        X, y, resampling = self._training_set_again(X, y, sample_weight, oob_groups)
        copy_rows, weight = resampling.copy_rows(), resampling.copy_weight()
        base = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        same = {id(own): resampling.drawing_like(own) for own in self._resamplings}

        def ask(number):
            copies = same[id(self._resamplings[number])].out_of_bag(self._seeds[number])
            rows, rng = copy_rows[copies], np.random.default_rng([base, number])
            rows_weight = None if weight is None else weight[copies]
            return self._importances_of(
                self.estimators_[number],
                self._member_columns()[number],
                X[rows],
                y[rows],
                rows_weight,
                [rng.permutation(len(rows)) for _ in range(n_repeats)],
            )

        importances = np.stack(list(self._for_members(ask)), axis=1)
        if np.all(np.isnan(importances)):
            raise ValueError("No row is out of bag.")
        return Bunch(
            importances=importances,
            importances_mean=np.nanmean(importances, axis=1),
            importances_std=np.nanstd(importances, axis=1),
        )

    def _training_set_again(self, X, y, sample_weight, oob_groups):
        """Return the training set and its resampling, if it is the one of the fit."""
        if not all(own.resamples for own in self._resamplings):
            raise ValueError("There are no rows out of bag without resampling.")
        groups = read_groups(oob_groups, y)
        X, y, weight, used = self._remove_weightless(X, y, sample_weight)
        X = self._read_query(X)
        y = self._encode_again(y)
        resampling = Resampling(row_hashes(X, y), weight, groups=group_codes(groups, X, used))
        resampling.check_copies()
        if any(own.fingerprint != resampling.fingerprint for own in self._resamplings):
            raise ValueError(
                "X, y and sample_weight are not those of the fit: out of bag is a matter of the "
                "training set."
            )
        return X, y, resampling

    def _importances_of(self, member, columns, X, y, weight, orders):
        """Return the increase of the loss of a member by the permutation of each feature."""
        importances = np.zeros(self.n_features_in_)
        if not len(y):
            return np.full(self.n_features_in_, np.nan)

        def loss(samples):
            answers = self._answers_of(member, features_of(samples, columns))
            return np.average(self._losses(y, answers), weights=weight)

        before = loss(X)
        for feature in used_features(member, columns):
            losses = [loss(permuted(X, feature, order)) for order in orders]
            importances[feature] = np.mean(losses) - before
        return importances


def read_groups(groups, y):
    """Return validated groups: None, "duplicates", or the group of each row as a code."""
    if groups is None or (isinstance(groups, str) and groups == "duplicates"):
        return groups
    if isinstance(groups, str):
        raise ValueError(f'oob_groups must be an array or "duplicates", got {groups!r}.')
    groups = column_or_1d(groups)
    check_consistent_length(groups, y)
    return np.unique(groups, return_inverse=True)[1]


def group_codes(groups, X, used):
    """Return the groups of the rows that are used; duplicates are rows with equal features."""
    if groups is None:
        return None
    if isinstance(groups, str):
        groups = row_hashes(X)
    elif used is not None:
        groups = groups[used]
    return np.unique(groups, return_inverse=True)[1]


def answers_of_rows(resampling, rows, answers):
    """Return the mean answer of each row that was given over its copies; NaN where none has one.

    ``rows`` are those that the answers belong to.
    """
    n_given = resampling.n_given
    places = rows if resampling.used is None else resampling.used[rows]
    total = [np.bincount(places, weights=column, minlength=n_given) for column in answers.T]
    n_copies = np.bincount(places, minlength=n_given)
    return np.stack(total, axis=1) / np.where(n_copies > 0, n_copies, np.nan)[:, None]


def used_features(member, columns):
    """Return the features that the answers of a member can depend on."""
    if shares_columns(member):
        tree = member.tree_
        split = tree.feature[tree.children_left >= 0]
        columns = columns[np.union1d(split, tree.surrogates["feature"])]
    return np.unique(columns)


def permuted(X, feature, order):
    """Return samples with the values of one feature in another order."""
    if sp.issparse(X):
        X = X.tocsc()
        parts = [X[:, :feature], X[:, [feature]].tocsr()[order], X[:, feature + 1 :]]
        return sp.hstack(parts, format="csr")
    X = X.copy()
    X[:, feature] = X[order, feature]
    return X


class Tally:
    """Sums of the out-of-bag answers to copies, member by member, and the losses of their means.

    ``size`` is what the weights of all copies sum up to: weights of any unit are scaled to it.
    """

    def __init__(self, ensemble, y, weight, size):
        self.losses_of, self.y = ensemble._losses, y
        self.weight = np.ones(len(y)) if weight is None else weight * (size / weight.sum())
        self.n_answers = np.zeros(len(y), dtype=np.int64)
        self.losses = np.zeros(len(y))
        self.total = None
        self.steps = []

    def add(self, copies, answers):
        """Add the answers of the next member to some copies."""
        if self.total is None:
            self.total = np.zeros((len(self.y), answers.shape[1]))
        self.total[copies] += answers
        self.n_answers[copies] += 1
        means = self.total[copies] / self.n_answers[copies, None]
        self.losses[copies] = self.losses_of(self.y[copies], means)
        known = self.n_answers > 0
        weight, losses = self.weight[known], self.losses[known]
        mass = weight.sum()
        if not mass:
            self.steps.append((np.nan, np.nan, 0.0))
            return
        mean = weight @ losses / mass
        variance = weight @ (losses - mean) ** 2 / mass
        self.steps.append((mean, np.sqrt(variance / mass), mass / self.weight.sum()))

    def curve(self):
        """Return the losses of the first members, for each number of them."""
        loss, error, coverage = np.array(self.steps).T
        return Bunch(
            n_estimators=np.arange(1, len(loss) + 1),
            loss=loss,
            standard_error=error,
            coverage=coverage,
        )


class OutOfBagAnswers(BaseEstimator):
    """Stands in for a fitted estimator before a scorer: it knows its answers."""

    def __init__(self, predictions, answers, classes):
        self.predictions, self.answers, self.classes = predictions, answers, classes

    def predict(self, X):
        """Return the predictions, whatever ``X`` is."""
        return self.predictions


class RegressorAnswers(RegressorMixin, OutOfBagAnswers):
    """The answers of a regressor."""


class ClassifierAnswers(ClassifierMixin, OutOfBagAnswers):
    """The answers of a classifier."""

    @property
    def classes_(self):
        return self.classes

    def predict_proba(self, X):
        """Return the shares, whatever ``X`` is."""
        return self.answers
