"""What the common tests share: the configurations, their data, and scikit-learn's private checks.

Run as a script it prints, as JSON, how scikit-learn's ``check_estimator`` ends on
the configurations that stand for the others; ``SCIPY_ARRAY_API`` must be set before
SciPy is imported, so the common tests run this file in a process of its own.
"""

import collections
import json
import re

import numpy as np
from _contracts import table
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import LeaveOneGroupOut
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.validation import has_fit_parameter

from sklearn_sl._discovery import all_estimators

# These draw samples: with the same random state they keep the promises of all others.
RANDOM = {
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
}
# These shuffle their samples into folds unless they are told otherwise.
SHUFFLE_FOLDS = {"DecisionTreeClassifierCV", "DecisionTreeRegressorCV", "SVCCV", "SVRCV"}
# Every estimator is tested with its default parameters and with each of these.
CONFIGS, OWN_CONFIGS = table("CONFIGS"), table("OWN_CONFIGS")


def configurations(own=False):
    """Return each public estimator in each of its configurations, our own on request."""
    tables = [CONFIGS, OWN_CONFIGS] if own else [CONFIGS]
    models = [
        Estimator(**params)
        for Estimator in all_estimators()
        for params in [{}, *(row for table in tables for row in table.get(Estimator.__name__, []))]
    ]
    # A learner on strings has tests of its own: all data of the checks are numbers.
    return [seeded(model) for model in models if get_tags(model).input_tags.two_d_array]


def seeded(model):
    """Return an ensemble of few members, with a random state if it draws something in any case."""
    if hasattr(model, "n_estimators"):  # scikit-learn does the same in its own tests
        model.set_params(n_estimators=min(model.n_estimators, 10))
    return model.set_params(random_state=0) if type(model).__name__ in RANDOM else model


def representatives():
    """Return one configuration for each estimator and kind of input, by which checks are chosen."""
    kinds = {(type(model), is_pairwise(model)): model for model in reversed(configurations())}
    return list(reversed(kinds.values()))


def label(estimator):
    """Return the name of a configuration in the test report, the same in every process."""
    return re.sub(r"at0x\w+", "", "".join(repr(estimator).split()))


# scikit-learn runs these on its own estimators only, and does not document them. Names that the
# installed version lacks are left out; PRIVATE_CHECKS are in every version from 1.7 to 1.9.
PRIVATE_CHECKS = [
    "check_param_validation",
    "check_dataframe_column_names_consistency",
    "check_inplace_ensure_writeable",
]
PRIVATE_WEIGHT_CHECKS = ["check_all_zero_sample_weights_error"]
PRIVATE_TRANSFORMER_CHECKS = [
    "check_get_feature_names_out_error",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_global_output_transform_pandas",
]


def private_checks(estimator):
    """Return the private checks of scikit-learn that apply to ``estimator``."""
    names = [
        *PRIVATE_CHECKS,
        *(PRIVATE_WEIGHT_CHECKS if takes_weights(estimator) else []),
        *(PRIVATE_TRANSFORMER_CHECKS if hasattr(estimator, "transform") else []),
    ]
    return [getattr(estimator_checks, name) for name in names if hasattr(estimator_checks, name)]


def takes_weights(estimator):
    """Return whether ``fit`` has a ``sample_weight``."""
    return has_fit_parameter(estimator, "sample_weight")


def is_multi_class(estimator):
    """Return whether an estimator takes more than two classes."""
    tags = get_tags(estimator).classifier_tags
    return tags is None or tags.multi_class


def learns_in_order(estimator):
    """Return whether an estimator goes through its samples one by one, in their order."""
    module = type(estimator).__module__
    return module.startswith("sklearn_sl.online.") or module == "sklearn_sl.graph._online"


def answers_by_training_sample(estimator):
    """Return whether the columns of what an estimator says are the training samples."""
    return type(estimator).__name__ == "GraphBuilder"


def is_pairwise(estimator):
    """Return whether ``X`` is a Gram matrix."""
    return get_tags(estimator).input_tags.pairwise


def fewest_checks(estimator):
    """Return how many of scikit-learn's checks must run for the contract to mean something.

    Of scikit-learn 1.9 a machine on Gram matrices meets 58 checks, other regressors
    61, classifiers 64. A transformer without weights meets 47, as scikit-learn's own
    PolynomialFeatures does; older versions have a few less.
    """
    return 50 if is_classifier(estimator) or is_regressor(estimator) else 40


Problem = collections.namedtuple("Problem", "X y X_test")


def problem(estimator, n_samples=40, n_features=4, n_test=15, seed=0):
    """Return a seeded problem that suits the tags of ``estimator``."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n_samples + n_test, n_features))
    if get_tags(estimator).input_tags.positive_only:
        Z = np.abs(Z)
    X, X_test = Z[:n_samples], Z[n_samples:]
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n_samples)
    if get_tags(estimator).target_tags.positive_only:
        y = np.exp(y)
    if not is_regressor(estimator):
        cuts = [0.3, 0.7] if is_multi_class(estimator) else [0.5]
        y = np.array(["low", "middle", "high"])[np.digitize(y, np.quantile(y, cuts))]
    if is_pairwise(estimator):
        X, X_test = rbf_kernel(X), rbf_kernel(X_test, X)
    return Problem(X, y, X_test)


def take(estimator, data, rows):
    """Return the problem with these training rows, in this order, repeats allowed."""
    if is_pairwise(estimator):
        return Problem(data.X[np.ix_(rows, rows)], data.y[rows], data.X_test[:, rows])
    return Problem(data.X[rows], data.y[rows], data.X_test)


def split_by_group(estimator, groups, *, unless):
    """Let a cross-validated estimator leave out one group of rows at a time.

    ``unless`` are the values of ``cv`` that stay as they are, where None is to leave one row out.
    """
    cv = estimator.get_params().get("cv", unless[0])
    if cv not in unless or (cv is None and type(estimator).__name__ in SHUFFLE_FOLDS):
        estimator.set_params(cv=list(LeaveOneGroupOut().split(groups, groups=groups)))
    return estimator


def outputs(estimator, X):
    """Return what a fitted estimator says about ``X``, by method."""
    methods = ("predict", "decision_function", "predict_proba", "transform")
    return {name: getattr(estimator, name)(X) for name in methods if hasattr(estimator, name)}


def choices(estimator):
    """Return what a cross-validated estimator chose, and how well that scored."""
    names = ("alpha_", "C_", "best_score_")
    return {name: np.asarray(vars(estimator)[name]) for name in names if name in vars(estimator)}


def assert_same_outputs(actual, desired, **tolerance):
    """Compare two results of ``outputs`` or ``choices``: labels are equal, numbers are close."""
    assert actual.keys() == desired.keys()
    for name, values in desired.items():
        if values.dtype.kind == "f":
            np.testing.assert_allclose(dense(actual[name]), dense(values), **tolerance)
        else:
            np.testing.assert_array_equal(actual[name], values)


def dense(values):
    """Return an array for an array or a sparse matrix."""
    return values.toarray() if hasattr(values, "toarray") else values


def tally():
    """Return, for each representative, the names of scikit-learn's checks by how they ended."""
    ends = {}
    for estimator in representatives():
        results = estimator_checks.check_estimator(estimator, on_skip=None, on_fail=None)
        ends[label(estimator)] = by_status = collections.defaultdict(list)
        for result in results:
            by_status[result["status"]].append(result["check_name"])
    return ends


if __name__ == "__main__":
    print(json.dumps(tally()))
