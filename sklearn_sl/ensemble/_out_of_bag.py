"""What the rows that a base estimator did not draw say about an ensemble, at no further fit."""

from numbers import Integral

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.base import (
    is_classifier,
)
from sklearn.metrics import accuracy_score, get_scorer, r2_score
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_consistent_length, column_or_1d

from sklearn_sl._rows import row_hashes
from sklearn_sl._scoring import KnownClassifier, KnownRegressor, score_of
from sklearn_sl._threads import in_order
from sklearn_sl._warnings import warn
from sklearn_sl.ensemble._base_estimators import features_of, is_tree
from sklearn_sl.ensemble._resampling import Resampling

# ---------------------------------------------------------------- at the end of a fit


def check_out_of_bag(ensemble, resampling, y):
    """Raise an error, before the base estimators are fitted, if there will be no score."""
    if not resampling.resamples:
        raise ValueError(
            "Out of bag estimation only available if bootstrap=True, or if max_samples leaves "
            "rows out: set oob_score=False, or one of these."
        )
    resampling.check_copies()
    kind = type_of_target(y)
    if (
        is_classifier(ensemble)
        and kind == "multiclass-multioutput"
        and not callable(ensemble.oob_score)
    ):
        raise ValueError(
            f"The type of target cannot be used to compute OOB estimates. Got {kind} while "
            "only the following are supported: binary, multiclass, multilabel-indicator. A "
            "callable oob_score may support it."
        )


def set_out_of_bag(ensemble, resampling, X, y):
    """Set the answers, the score and the curve of the rows that are out of bag."""
    rows, weight = resampling.copy_rows(), resampling.copy_weight()
    tally = Tally(ensemble, y[rows], weight, resampling.size)
    for copies, answers in out_of_bag_answers(ensemble, resampling, X, rows):
        tally.add(copies, answers)
    ensemble.oob_curve_ = tally.curve()
    known = np.flatnonzero(tally.n_answers)
    if len(known) < len(rows):
        warn(
            "Some inputs do not have OOB scores. This probably means too few "
            f"{ensemble._what_is_fitted} were used to compute any reliable oob estimates.",
        )
    means = tally.total[known] / tally.n_answers[known, None]
    ensemble._set_out_of_bag_answers(answers_of_rows(resampling, rows[known], means))
    ensemble.oob_score_ = np.nan
    if len(known):
        known_weight = None if weight is None else weight[known]
        ensemble.oob_score_ = out_of_bag_score(ensemble, y[rows[known]], means, known_weight)


def out_of_bag_answers(ensemble, resampling, X, copy_rows):
    """Yield the copies that are out of bag and the answers to them, for each base estimator."""
    same = {id(resampling): resampling}
    for other in ensemble._resamplings:
        if other.fingerprint != resampling.fingerprint:
            raise ValueError(
                "X, y and sample_weight must be those of the previous fit when warm_start=True and "
                "oob_score is set: set oob_score=False, or warm_start=False to fit anew."
            )
        if id(other) not in same:
            same[id(other)] = resampling.drawing_like(other)

    def ask(number):
        copies = same[id(ensemble._resamplings[number])].out_of_bag(ensemble._seeds[number])
        rows, place = np.unique(copy_rows[copies], return_inverse=True)
        estimator, columns = ensemble.estimators_[number], ensemble._estimator_columns()[number]
        return copies, answers_of(ensemble, estimator, features_of(X[rows], columns))[place]

    return for_each_estimator(ensemble, ask)


def for_each_estimator(ensemble, work):
    """Yield ``work(number)`` of all base estimators in their order, worked on by threads."""
    n_threads = min(effective_n_jobs(ensemble.n_jobs), len(ensemble.estimators_))
    return in_order(lambda number, over: work(number), range(len(ensemble.estimators_)), n_threads)


def answers_of(ensemble, estimator, X):
    """Return the answers of one base estimator of any kind."""
    if is_tree(estimator):
        return ensemble._node_answers(estimator).take(estimator.tree_._leaves(X), axis=0)
    return ensemble._answers(estimator, X)


def out_of_bag_score(ensemble, y, answers, weight):
    y, predictions = ensemble._decode(y), ensemble._labels(answers)
    if callable(ensemble.oob_score):
        return ensemble.oob_score(y, predictions)
    if isinstance(ensemble.oob_score, str):
        known = KnownRegressor(predictions)
        if is_classifier(ensemble):
            known = KnownClassifier(predictions, ensemble.classes_, probabilities=answers)
        return score_of(get_scorer(ensemble.oob_score), known, y, weight)
    metric = accuracy_score if is_classifier(ensemble) else r2_score
    return metric(y, predictions, sample_weight=weight)


# ---------------------------------------------------------------- permutation importance


def permutation_importance(ensemble, X, y, sample_weight, oob_groups, n_repeats, random_state):
    """Return by how much each base estimator errs more if a feature is permuted."""
    if not isinstance(n_repeats, Integral) or n_repeats < 1:
        raise ValueError(f"n_repeats must be an int >= 1, got {n_repeats!r}.")
    X, y, resampling = training_set_again(ensemble, X, y, sample_weight, oob_groups)
    copy_rows, weight = resampling.copy_rows(), resampling.copy_weight()
    base = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    same = {id(own): resampling.drawing_like(own) for own in ensemble._resamplings}

    def ask(number):
        copies = same[id(ensemble._resamplings[number])].out_of_bag(ensemble._seeds[number])
        rows, rng = copy_rows[copies], np.random.default_rng([base, number])
        rows_weight = None if weight is None else weight[copies]
        return importances_of(
            ensemble,
            ensemble.estimators_[number],
            ensemble._estimator_columns()[number],
            X[rows],
            y[rows],
            rows_weight,
            [rng.permutation(len(rows)) for _ in range(n_repeats)],
        )

    importances = np.stack(list(for_each_estimator(ensemble, ask)), axis=1)
    if np.all(np.isnan(importances)):
        raise ValueError(
            "oob_permutation_importance needs rows out of bag, and there is none: use more "
            "estimators."
        )
    return Bunch(
        importances=importances,
        importances_mean=np.nanmean(importances, axis=1),
        importances_std=np.nanstd(importances, axis=1),
    )


def training_set_again(ensemble, X, y, sample_weight, oob_groups):
    """Return the training set and its resampling, if it is the one of the fit."""
    if not all(own.resamples for own in ensemble._resamplings):
        raise ValueError(
            "oob_permutation_importance needs rows out of bag: fit with bootstrap=True, or with "
            "max_samples that leaves rows out."
        )
    groups = None if oob_groups is None else read_groups(oob_groups, y)
    X, y, weight, used = ensemble._remove_weightless(X, y, sample_weight)
    X = ensemble._read_query(X)
    y = ensemble._encode_again(y)
    groups = None if groups is None else group_codes(groups, X, used)
    resampling = Resampling(row_hashes(X, y), weight, groups=groups)
    resampling.check_copies()
    if any(own.fingerprint != resampling.fingerprint for own in ensemble._resamplings):
        raise ValueError(
            "X, y and sample_weight must be those of fit: out-of-bag predictions exist only for "
            "the training set."
        )
    return X, y, resampling


def importances_of(ensemble, estimator, columns, X, y, weight, orders):
    """Return the increase of the loss of a base estimator by the permutation of each feature."""
    importances = np.zeros(ensemble.n_features_in_)
    if not len(y):
        return np.full(ensemble.n_features_in_, np.nan)

    def loss(samples):
        answers = answers_of(ensemble, estimator, features_of(samples, columns))
        return np.average(ensemble._losses(y, answers), weights=weight)

    before = loss(X)
    for feature in used_features(estimator, columns):
        losses = [loss(permuted(X, feature, order)) for order in orders]
        importances[feature] = np.mean(losses) - before
    return importances


def read_groups(groups, y):
    """Return validated groups: "duplicates", or the group of each row as a code."""
    if isinstance(groups, str) and groups == "duplicates":
        return groups
    if isinstance(groups, str):
        raise ValueError(f'oob_groups must be an array or "duplicates", got {groups!r}.')
    groups = column_or_1d(groups)
    check_consistent_length(groups, y)
    return np.unique(groups, return_inverse=True)[1]


def group_codes(groups, X, used):
    """Return the groups of the rows that are used; duplicates are rows with equal features."""
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


def used_features(estimator, columns):
    """Return the features that the answers of a base estimator can depend on."""
    if is_tree(estimator):
        tree = estimator.tree_
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
    """Sums of the out-of-bag answers to copies, base estimator by base estimator, and the losses of
    their means.

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
        """Add the answers of the next base estimator to some copies."""
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
        """Return the losses of the first base estimators, for each number of them."""
        loss, error, coverage = np.array(self.steps).T
        return Bunch(
            n_estimators=np.arange(1, len(loss) + 1),
            loss=loss,
            standard_error=error,
            coverage=coverage,
        )
