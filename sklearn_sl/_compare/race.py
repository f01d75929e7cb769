"""Score one candidate by nested cross-validation, within a time allowance.

The outer folds give the score; the grid search sees the training part of a fold
only, so that no test row has a say in the choice of the parameters. All
candidates have the same folds. Where time is short a candidate tries fewer
parameter settings, and then learns from fewer of the training rows; the test
rows stay the same, so that scores remain comparable.
"""

import dataclasses
import warnings
from time import perf_counter

import numpy as np
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sklearn_sl._compare.candidates import grid_values
from sklearn_sl._compare.data import INNER_FOLDS, MAX_CATEGORIES, sample_rows

FIRST_PROBE = 50  # rows
PLANNED_SHARE = 0.8  # of the allowance: a prediction of the cost can be wrong
REPEATS, REPEAT_FOR = 7, 0.05  # a time is the best of so many runs, or of so many seconds
EVERYTHING = (np.inf, np.inf)


@dataclasses.dataclass
class Result:
    """What is known of one candidate on one data set; times are medians over the folds."""

    name: str
    library: str
    dataset: str
    error: str = ""
    scores: tuple = ()
    tune_time: float = np.nan  # all of the search: choosing the parameters and fitting
    fit_time: float = np.nan  # the estimator alone, with the chosen parameters
    predict_time: float = np.nan
    tunes_itself: bool = False
    rival: str = ""
    params: tuple = ()  # chosen, one dict per fold
    rows: int = 0  # learnt from, in each fold
    points: int = 0  # parameter settings tried
    all_points: int = 0  # parameter settings there are
    notes: tuple = ()

    @classmethod
    def of(cls, candidate, dataset, error=""):
        return cls(
            candidate.name,
            candidate.library,
            dataset.name,
            error,
            tunes_itself=candidate.tunes_itself,
            rival=candidate.rival,
            all_points=len(candidate.points),
        )

    @property
    def score(self):
        return float(np.mean(self.scores)) if len(self.scores) else -np.inf

    @property
    def sd(self):
        return float(np.std(self.scores)) if len(self.scores) else np.nan


def evaluate(candidate, dataset, *, cv, seed, allowance=np.inf, ceiling=EVERYTHING):
    """Return the `Result` of a candidate; an exception becomes its error.

    Parameters
    ----------
    candidate : Candidate
    dataset : Dataset
    cv, seed : int
        Number and randomness of the outer folds.
    allowance : float
        Seconds to stay within.
    ceiling : (rows, points)
        At most so much work: what the rival did.
    """
    result = Result.of(candidate, dataset)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            _evaluate(result, candidate, dataset, cv, seed, allowance, ceiling)
        except Exception as error:
            result.error = one_line(error)
    result.notes += tuple(sorted({warning.category.__name__ for warning in caught}))
    return result


def _evaluate(result, candidate, dataset, cv, seed, allowance, ceiling):
    splits = list(folds(dataset.task, cv, seed).split(dataset.X, dataset.y))
    everything = min(len(train) for train, _ in splits)
    result.rows, result.points = affordable(
        candidate, dataset, splits[0][0], cv, seed, allowance, ceiling
    )
    if result.rows < everything:
        result.notes += (f"learnt from {result.rows} of {everything} rows",)
    if result.points < result.all_points:
        result.notes += (f"{result.points} of {result.all_points} settings tried",)
    done = []
    for train, test in splits:
        if result.rows < everything:
            train = train[sample(dataset, train, result.rows, cv, seed)]
        done.append(run_fold(candidate, dataset, train, test, result.points, seed))
    scores, tune, fit, predict, result.params = zip(*done)
    if not np.all(np.isfinite(scores)):
        raise FloatingPointError(f"a score is {scores[np.argmin(np.isfinite(scores))]}")
    result.scores = tuple(float(score) for score in scores)
    result.tune_time, result.fit_time, result.predict_time = np.median([tune, fit, predict], axis=1)


def one_line(error):
    """Return the type and the first line of the message of an exception."""
    message = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def folds(task, n_splits, seed):
    kind = StratifiedKFold if task == "classification" else KFold
    return kind(n_splits, shuffle=True, random_state=seed)


def sample(dataset, train, size, cv, seed):
    return sample_rows(dataset.y[train], size, dataset.task, cv=cv, seed=seed)


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


# --- one fold -------------------------------------------------------------------


def run_fold(candidate, dataset, train, test, n_points, seed):
    """Tune on ``train``, score on ``test``; return score, three times and parameters."""
    model = model_of(candidate.estimator, dataset)
    points = addressed(candidate.points[:n_points], dataset)
    X, y = dataset.X[train], dataset.y[train]
    started = perf_counter()
    if len(points) == 1:
        best, chosen = model.set_params(**points[0]).fit(X, y), points[0]
    else:
        grid = [{name: [value] for name, value in point.items()} for point in points]
        search = GridSearchCV(model, grid, cv=folds(dataset.task, INNER_FOLDS, seed)).fit(X, y)
        best, chosen = search.best_estimator_, search.best_params_
    tune_time = perf_counter() - started
    score = best.score(dataset.X[test], dataset.y[test])
    fit_time, predict_time = final_step_times(best, dataset, train, test)
    chosen = {name.rpartition("__")[2]: value for name, value in chosen.items()}
    return score, tune_time, fit_time, predict_time, chosen or self_chosen(best)


def final_step_times(best, dataset, train, test):
    """Time the fit and the prediction of the estimator without its preprocessing."""
    y = dataset.y[train]
    if dataset.task == "regression":
        y = best.transformer_.transform(y[:, None]).ravel()
    pipeline = getattr(best, "regressor_", best)
    X, X_test = (pipeline[:-1].transform(dataset.X[rows]) for rows in (train, test))
    estimator = clone(pipeline[-1])
    return shortest(lambda: estimator.fit(X, y)), shortest(lambda: estimator.predict(X_test))


def shortest(work):
    """Return the shortest time of a few runs: the one that the machine disturbed least."""
    times = []
    while not times or (len(times) < REPEATS and sum(times) < REPEAT_FOR):
        started = perf_counter()
        work()
        times.append(perf_counter() - started)
    return min(times)


def self_chosen(best):
    """Return what an estimator that tunes itself says it has chosen."""
    estimator = getattr(best, "regressor_", best)[-1]
    if hasattr(estimator, "best_params_"):
        return dict(estimator.best_params_)
    names = [name for name in grid_values(1) if hasattr(estimator, f"{name}_")]
    return {name: getattr(estimator, f"{name}_") for name in names}


# --- the allowance --------------------------------------------------------------


def affordable(candidate, dataset, train, cv, seed, allowance, ceiling):
    """Return how many rows and settings the candidate can afford.

    It is timed at its first setting on a number of rows that doubles until all
    rows are reached, or the next doubling would cost too much with a single
    setting. What is left of the allowance then pays for more settings.

    Without a limit the first probe still has a use: it warms up, and it shows an
    exception as it is, not wrapped by the grid search.
    """
    all_rows = min(len(train), ceiling[0])
    all_points = min(len(candidate.points), ceiling[1])
    # A rival takes the whole allowance before it does less than it is compared with.
    planned = allowance * (PLANNED_SHARE if ceiling == EVERYTHING else 1.0)
    end = perf_counter() + planned
    probe = prober(candidate, dataset, train, cv, seed)
    rows = first_rows(probe, all_rows)
    if np.isinf(allowance):
        return all_rows, all_points
    single = 2 * cv  # fits of a single setting: the model, and once more to be timed
    seconds, growth = probe(rows), 2.0
    while rows < all_rows and seconds * growth * single < end - perf_counter():
        rows = min(2 * rows, all_rows)
        before, seconds = seconds, probe(rows)
        growth = np.clip(seconds / before, 1.0, 8.0)
    searched = int(((end - perf_counter()) / seconds - single) / (INNER_FOLDS * cv))
    return rows, int(np.clip(searched, 1, all_points))


def prober(candidate, dataset, train, cv, seed):
    """Return a function that times a fit and a prediction on a number of rows."""
    model = model_of(candidate.estimator, dataset)
    model.set_params(**addressed(candidate.points[:1], dataset)[0])

    def probe(rows):
        chosen = train[sample(dataset, train, rows, cv, seed)]
        X, y = dataset.X[chosen], dataset.y[chosen]
        started = perf_counter()
        model.fit(X, y).score(X, y)
        return perf_counter() - started

    return probe


def first_rows(probe, all_rows):
    """Return a small number of rows on which the probe succeeds; raise if none does."""
    rows = min(FIRST_PROBE, all_rows)
    while rows < all_rows:
        try:
            probe(rows)
            return rows
        except Exception:  # some estimators need more rows than features
            rows = min(2 * rows, all_rows)
    probe(all_rows)
    return all_rows
