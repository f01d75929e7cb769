"""Score one candidate by nested cross-validation, one fold at a time.

The outer folds give the scores; the grid search sees the training part of a fold
only, so that no test row has a say in the choice of the parameters. All
candidates have the same folds, and do all of their work: time may stop a
candidate between two folds or within one, but never changes a score.
"""

import collections
import dataclasses
import re
import warnings
from time import perf_counter

import numpy as np
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.exceptions import FitFailedWarning
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sklearn_sl._compare.candidates import grid_values
from sklearn_sl._compare.certificates import certificates_of, worst
from sklearn_sl._compare.data import INNER_FOLDS
from sklearn_sl._compare.metrics import NO_CHANCES, lacks_chances, scores_of
from sklearn_sl._compare.table import MAX_CATEGORIES

REPEATS, REPEAT_FOR = 7, 0.05  # a time is the best of so many runs, or of so many seconds
UNLABELLED = -1  # the code of a row without a class, as in scikit-learn


class NoScore(Exception):
    """A candidate that can be fitted, but not be asked for what the score needs."""


@dataclasses.dataclass(frozen=True)
class Fold:
    """What is known of one candidate on one outer fold."""

    scores: dict  # by scorer
    tune_time: float  # all of the search: choosing the parameters and fitting
    fit_time: float  # the estimator alone, with the chosen parameters
    predict_time: float
    chosen: int  # the place of the chosen settings among those of the candidate
    settings: str  # the same in words
    certificates: dict
    warnings: tuple = ()


@dataclasses.dataclass
class Result:
    """What is known of one candidate on one data set."""

    name: str
    library: str
    dataset: str
    error: str = ""  # why there is no score
    folds: tuple = ()
    metric: str = ""  # the scorer that rules
    tunes_itself: bool = False
    rival: str = ""
    n_settings: int = 1

    @classmethod
    def of(cls, candidate, dataset, metric, folds=(), error=""):
        return cls(
            candidate.name,
            candidate.library,
            dataset.name,
            error,
            tuple(folds),
            metric,
            candidate.tunes_itself,
            candidate.rival,
            len(candidate.points),
        )

    @property
    def ran(self):
        return not self.error

    def scores(self, scorer=None):
        """Return the scores of the folds, by default of the metric that rules."""
        return [fold.scores.get(scorer or self.metric, np.nan) for fold in self.folds]

    @property
    def score(self):
        return float(np.mean(self.scores())) if self.ran else -np.inf

    @property
    def sd(self):
        return float(np.std(self.scores())) if self.ran else np.nan

    def median(self, time):
        """Return the median over the folds of ``tune_time``, ``fit_time`` or ``predict_time``."""
        return float(np.median([getattr(fold, time) for fold in self.folds]))

    @property
    def certificates(self):
        return worst([fold.certificates for fold in self.folds])

    @property
    def warnings(self):
        """The texts of the warnings, and in how many folds each came."""
        return collections.Counter(text for fold in self.folds for text in fold.warnings)

    @property
    def settings(self):
        """The chosen settings, and in how many folds each was chosen."""
        return collections.Counter(fold.settings for fold in self.folds)


def folds(task, n_splits, seed):
    kind = StratifiedKFold if task == "classification" else KFold
    return kind(n_splits, shuffle=True, random_state=seed)


def outer_splits(dataset, cv, seed):
    return list(folds(dataset.task, cv, seed).split(dataset.X, dataset.y))


def run_fold(dataset, candidate, number, *, cv, seed, metrics):
    """Return the `Fold` of that number, or the text of what went wrong."""
    train, test = outer_splits(dataset, cv, seed)[number]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fold = evaluate(candidate, dataset, train, test, seed, metrics)
        except NoScore as error:
            return str(error)
        except Exception as error:
            if lacks_chances(error):  # in a search of its own
                return f"{metrics[0].label} cannot be computed: {NO_CHANCES}"
            return one_line(error)
    return dataclasses.replace(fold, warnings=tuple(different_texts(caught)))


def different_texts(caught):
    """Return the texts of warnings; of those that differ in numbers only, the first."""
    texts = [one_line(warning.message) for warning in caught]
    return sorted({re.sub(r"\d[\d.e+-]*", "#", text): text for text in reversed(texts)}.values())


def evaluate(candidate, dataset, train, test, seed, metrics):
    """Tune on ``train``, score on ``test``."""
    X, y = training_part(candidate, dataset, train)
    started = perf_counter()
    best, chosen = tuned(candidate, dataset, X, y, seed, metrics[0])
    tune_time = perf_counter() - started
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a score that cannot be computed is not shown
        scores, reason = scores_of(best, dataset.X[test], dataset.y[test], metrics)
    if not np.isfinite(scores[metrics[0].scorer]):
        raise NoScore(f"{metrics[0].label} cannot be computed{reason and f': {reason}'}")
    estimator, X, y = last_step(best, X, y)
    X_test = pipeline_of(best)[:-1].transform(dataset.X[test])
    fit_time = shortest(lambda: estimator.fit(X, y))
    return Fold(
        scores,
        tune_time,
        fit_time,
        shortest(lambda: estimator.predict(X_test)),
        chosen,
        in_words(candidate.points[chosen] or self_chosen(estimator)),
        certificates_of(estimator, X, y),
    )


def training_part(candidate, dataset, train):
    """Return the rows to learn from: those without a class, too, where they can be used."""
    X, y = dataset.X[train], dataset.y[train]
    if not candidate.takes_unlabelled or not len(dataset.unlabelled):
        return X, y
    unknown = np.full(len(dataset.unlabelled), UNLABELLED)
    return np.concatenate([X, dataset.unlabelled]), np.concatenate([y, unknown])


def tuned(candidate, dataset, X, y, seed, metric):
    """Return the model with its best settings, fitted, and their place in the list."""
    model = model_of(candidate.estimator, dataset)
    points = addressed(candidate.points, dataset)
    if len(points) == 1:
        return model.set_params(**points[0]).fit(X, y), 0
    grid = [{name: [value] for name, value in point.items()} for point in points]
    search = GridSearchCV(
        model, grid, scoring=metric.scorer, cv=list(inner_splits(dataset.task, X, y, seed))
    )
    with warnings.catch_warnings():
        # A setting that cannot be fitted is no news: others are chosen.
        warnings.simplefilter("ignore", FitFailedWarning)
        warnings.filterwarnings("ignore", "One or more of the test scores are non-finite")
        try:
            search.fit(X, y)
        except ValueError:
            clone(model).set_params(**points[0]).fit(X, y)  # its own exception, not the search's
            raise
    return search.best_estimator_, int(search.best_index_)


def inner_splits(task, X, y, seed):
    """Yield the splits of the search; rows without a class are learnt from, never tested."""
    known = np.flatnonzero(y != UNLABELLED) if task == "classification" else np.arange(len(y))
    unknown = np.setdiff1d(np.arange(len(y)), known)
    for train, test in folds(task, INNER_FOLDS, seed).split(X[known], y[known]):
        yield np.concatenate([known[train], unknown]), known[test]


def one_line(message):
    """Return the type and the first line of an exception or a warning."""
    text = str(message).strip().split("\n")[0]
    return f"{type(message).__name__}: {text}" if text else type(message).__name__


def in_words(settings):
    """Return settings as text."""
    return ", ".join(f"{name}={show(value)}" for name, value in settings.items()) or "defaults"


def show(value):
    return f"{value:.3g}" if isinstance(value, (float, np.floating)) else str(value)


# --- the model ------------------------------------------------------------------


def preprocessing(dataset):
    """Return steps that fill gaps, scale numbers, and make text columns one-hot."""
    numbers = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    )
    if not dataset.categorical:
        return numbers
    numeric = [place for place in range(dataset.X.shape[1]) if place not in dataset.categorical]
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MAX_CATEGORIES, sparse_output=False
    )
    return make_column_transformer((numbers, numeric), (one_hot, list(dataset.categorical)))


def model_of(estimator, dataset):
    """Return the estimator after the preprocessing; a regression target is scaled too."""
    pipeline = Pipeline([("prepare", preprocessing(dataset)), ("model", clone(estimator))])
    if dataset.task == "classification":
        return pipeline
    # Else a machine without an intercept would be judged by the mean of the target.
    return TransformedTargetRegressor(pipeline, transformer=StandardScaler(), check_inverse=False)


def addressed(points, dataset):
    """Return the settings with the parameter names as the whole model knows them."""
    prefix = "model__" if dataset.task == "classification" else "regressor__model__"
    return [{f"{prefix}{name}": value for name, value in point.items()} for point in points]


def pipeline_of(model):
    """Return the fitted steps of a model, without what scales the target."""
    return getattr(model, "regressor_", model)


def last_step(model, X, y):
    """Return the estimator without its preprocessing, unfitted, and the data as it sees them."""
    pipeline = pipeline_of(model)
    if pipeline is not model:
        y = model.transformer_.transform(y[:, None]).ravel()
    return clone(pipeline[-1]), pipeline[:-1].transform(X), y


def shortest(work):
    """Return the shortest time of a few runs: the one that the machine disturbed least."""
    times = []
    while not times or (len(times) < REPEATS and sum(times) < REPEAT_FOR):
        started = perf_counter()
        work()
        times.append(perf_counter() - started)
    return min(times)


def self_chosen(estimator):
    """Return what an estimator that tunes itself says it has chosen."""
    if hasattr(estimator, "best_params_"):
        return dict(estimator.best_params_)
    names = [name for name in grid_values(1) if hasattr(estimator, f"{name}_")]
    return {name: getattr(estimator, f"{name}_") for name in names}
