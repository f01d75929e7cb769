"""The scores of a comparison: the one that rules, and the others beside it."""

import dataclasses
import warnings

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import get_scorer, get_scorer_names

from sklearn_sl._compare.table import InputError, did_you_mean

LABELS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "f1_macro": "F1 (macro)",
    "roc_auc": "ROC AUC",
    "roc_auc_ovr": "ROC AUC",
    "neg_log_loss": "log loss",
    "r2": "R2",
    "neg_mean_absolute_error": "MAE",
    "neg_root_mean_squared_error": "RMSE",
}

NO_CHANCES = "it gives no probabilities"


@dataclasses.dataclass(frozen=True)
class Metric:
    """A scorer of scikit-learn; one that begins with "neg_" is printed without its sign."""

    scorer: str

    @property
    def label(self):
        return LABELS.get(self.scorer, self.scorer.removeprefix("neg_"))

    @property
    def sign(self):
        return -1 if self.scorer.startswith("neg_") else 1

    @property
    def direction(self):
        return "smaller is better" if self.sign < 0 else "larger is better"

    def shown(self, score):
        """Return a score of the scorer as it is printed."""
        return self.sign * score


def metrics_of(dataset, scoring=None):
    """Return the metrics, the one that rules first.

    Raises
    ------
    InputError
        If ``scoring`` is no scorer of scikit-learn, or none for this data set.
    """
    if dataset.task == "classification":
        auc = "roc_auc" if dataset.n_classes == 2 else "roc_auc_ovr"
        names = ["accuracy", "balanced_accuracy", "f1_macro", auc, "neg_log_loss"]
    else:
        names = ["r2", "neg_mean_absolute_error", "neg_root_mean_squared_error"]
    if scoring is not None:
        check_name(scoring)
        names = [scoring, *(name for name in names if name != scoring)]
    metrics = tuple(map(Metric, names))
    if scoring is not None:
        try_out(metrics[0], dataset)
    return metrics


def check_name(scoring):
    """Refuse what is no scorer of scikit-learn."""
    names = get_scorer_names()
    if scoring not in names:
        raise InputError(
            f"--scoring {scoring}: no scorer of scikit-learn{did_you_mean(scoring, names)}"
        )


def try_out(metric, dataset):
    """Refuse a scorer that has nothing to say about such targets, before the race."""
    classes = dataset.task == "classification"
    dummy = DummyClassifier(strategy="prior") if classes else DummyRegressor()
    reason = trouble(metric, dummy, dataset.X, dataset.y)
    if classes and not reason:
        # A score of numbers does not mind codes of classes: it does mind their names.
        found = trouble(metric, dummy, dataset.X, np.char.add("class ", dataset.y.astype(str)))
        reason = "it is a score of numbers" if "numeric" in found or "convert" in found else ""
    if reason:
        kinds = f"{dataset.n_classes} classes" if classes else "numbers"
        raise InputError(f"--scoring {metric.scorer} does not suit a target of {kinds}: {reason}")


def trouble(metric, dummy, X, y):
    """Return why a score of the simplest predictions is no number; empty if it is one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            score = get_scorer(metric.scorer)(dummy.fit(X, y), X, y)
        except (ValueError, TypeError) as error:
            several = "; roc_auc_ovr does" if metric.scorer == "roc_auc" else ""
            return str(error).split("\n")[0] + several
    return "" if np.isfinite(score) else f"it is {score} for a constant prediction"


def lacks_chances(error):
    """Say whether an exception is about probabilities that an estimator does not give."""
    return isinstance(error, AttributeError) and "predict_proba" in str(error)


def scores_of(model, X, y, metrics):
    """Return ``{scorer: score}``, NaN where a model cannot be asked, and why the first is NaN."""
    scores, reasons = {}, []
    for metric in metrics:
        try:
            scores[metric.scorer] = float(get_scorer(metric.scorer)(model, X, y))
            reasons.append("")
        except (AttributeError, TypeError, ValueError) as error:  # no probabilities, say
            scores[metric.scorer] = np.nan
            reasons.append(NO_CHANCES if lacks_chances(error) else str(error).split("\n")[0])
    return scores, reasons[0]
