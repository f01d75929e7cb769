"""Trees, tables and surrogates are those of R's rpart, whose answers are in the folder beside.

``rpart/make_fixtures.R`` made the files, ``rpart/SEMANTICS.md`` says what was found out about
rpart on the way. Left out is what we do otherwise on purpose: rates that are shrunken, rows that
stay in the middle of a tree, and the cases where rounding decides between tied splits or where
rpart's complexities are not those of the weakest links.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import ALGEBRA

from sklearn_sl.tree import DecisionTreeClassifierCV, DecisionTreeRegressorCV

FOLDER = Path(__file__).parent / "rpart"


def load(name):
    """Return the case of that name."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def is_ours(case):
    """Return whether we mean the same by the parameters of a case."""
    control = case["control"]
    return (
        control["usesurrogate"] == 2
        and control["surrogatestyle"] == 0
        and control["cp"] == 0
        and control["maxsurrogate"] > 0
        and (case["method"] != "poisson" or case["parms"]["shrink"] == 0)
    )


# What we do otherwise, by intention or because two splits are equally good.
DIFFERENT = {
    "surrogate_kyphosis_holes": "sides of equal weight: rpart leaves rows in the node",
}
DIFFERENT_FOLDS = {
    **DIFFERENT,
    "surrogate_sim_holes": "sides of equal weight: rpart leaves rows in the node",
    "surrogate_sim_categorical_holes": "sides of equal weight: rpart leaves rows in the node",
    "anova_airquality": "sides of equal weight: right is the side of the larger mean in rpart",
    "prior_stagec": "tied splits in a fold",
    "class_iris_full": "tied splits in folds",
    "class_kyphosis_full": "tied splits in folds",
    "class_kyphosis_small": "tied splits in a fold",
    "class_sim_categorical3": "rpart tries all subsets of categories for three classes",
}
CASES = [
    case
    for case in map(load, (FOLDER / "exact_cases.txt").read_text(encoding="utf-8").split())
    if is_ours(case) and case["name"] not in DIFFERENT
]
for_every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
for_every_table = pytest.mark.parametrize(
    "case",
    [case for case in CASES if case["name"] not in DIFFERENT_FOLDS],
    ids=lambda case: case["name"],
)


def samples(case):
    """Return the features as a matrix, categories as codes."""
    columns = [feature["values"] for feature in case["features"]]
    return np.array([[np.nan if v is None else v for v in column] for column in columns]).T


def search(case, **options):
    """Return the tree of a case, fitted with its folds."""
    control, parms = case["control"], case["parms"]
    folds = np.array(case["folds"])
    params = {
        "min_samples_split": control["minsplit"],
        "min_samples_leaf": control["minbucket"],
        "max_depth": control["maxdepth"],
        "surrogates": control["maxsurrogate"],
        "competitors": control["maxcompete"],
        "cv": [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in np.unique(folds)],
        "categorical_features": [feature["type"] == "categorical" for feature in case["features"]],
        **options,
    }
    if case["method"] == "class":
        model = DecisionTreeClassifierCV(risk="misclassification", **params)
        if parms["split"] == "information":
            model.set_params(criterion="entropy")
        if "prior" in parms["given"]:
            model.set_params(priors=parms["prior"])
        if "loss" in parms["given"]:
            model.set_params(cost_matrix=parms["loss"])
    else:
        criterion = "poisson" if case["method"] == "poisson" else "squared_error"
        model = DecisionTreeRegressorCV(criterion=criterion, **params)
    return model.fit(samples(case), np.array(case["y"]), sample_weight=case["weights"])


@for_every_table
def test_table_is_that_of_rpart(case):
    table, theirs = search(case).cp_table_, case["cptable"]
    np.testing.assert_allclose(table["complexity"], theirs["CP"], **ALGEBRA)
    np.testing.assert_array_equal(table["n_splits"], theirs["nsplit"])
    np.testing.assert_allclose(table["rel_error"], theirs["rel_error"], **ALGEBRA)
    np.testing.assert_allclose(table["xerror"], case["rescored"]["xerror"], **ALGEBRA)
    np.testing.assert_allclose(table["xstd"], case["rescored"]["xstd"], **ALGEBRA)


def splits_by_node(case):
    """Return ``{heap number: (primary, competitors, surrogates)}``, rows of rpart's table."""
    frame, splits, found, row = case["frame"], case["splits"], {}, 0
    names = [feature["name"] for feature in case["features"]]
    rows = [
        {
            "feature": names.index(splits["variable"][i]),
            **{k: splits[k][i] for k in ("ncat", "improve", "index", "adj")},
        }
        for i in range(len(splits["variable"]))
    ]
    for place, number in enumerate(frame["node"]):
        if frame["var"][place] == "<leaf>":
            continue
        n_competitors, n_surrogates = frame["ncompete"][place], frame["nsurrogate"][place]
        first = row + 1
        second = first + n_competitors
        row = second + n_surrogates
        found[number] = rows[first - 1], rows[first:second], rows[second:row]
    return found


def walk(model, case):
    """Yield our nodes and rpart's heap numbers from the root on, sons paired by their size."""
    tree, frame = model.prune(0.0).tree_, case["frame"]
    size = dict(zip(frame["node"], frame["n"], strict=True))
    dev = dict(zip(frame["node"], frame["dev"], strict=True))
    pending = [(0, 1)]
    while pending:
        node, number = pending.pop()
        assert tree.n_node_samples[node] == size[number]
        scale = len(case["y"]) if case["weights"] is None else np.sum(case["weights"])
        if case["method"] == "poisson":
            scale = 2 * scale
        np.testing.assert_allclose(scale * tree.risk[node], dev[number], **ALGEBRA)
        assert (tree.children_left[node] < 0) == (2 * number not in size)
        if tree.children_left[node] >= 0:
            yield tree, node, number
            sons = tree.children_left[node], tree.children_right[node]
            if (tree.n_node_samples[sons[0]], round(tree.risk[sons[0]] * scale, 6)) != (
                size[2 * number],
                round(dev[2 * number], 6),
            ):
                sons = sons[::-1]  # rpart sends the smaller mean to the left
            pending += zip(sons, (2 * number, 2 * number + 1), strict=True)


@for_every_case
def test_tree_is_that_of_rpart(case):
    splits = splits_by_node(case)
    for tree, node, number in walk(search(case), case):
        primary = splits[number][0]
        assert tree.feature[node] == primary["feature"]
        if tree.subset[node] < 0:
            np.testing.assert_allclose(tree.threshold[node], primary["index"], **ALGEBRA)


def is_too_good(tree, node, surrogate):
    """Return whether fewer than two rows disagree: rpart leaves out such categorical surrogates."""
    return (
        surrogate["subset"] >= 0 and (1 - surrogate["agreement"]) * tree.n_node_samples[node] < 1.5
    )


@for_every_case
def test_surrogates_are_those_of_rpart(case):
    splits = splits_by_node(case)
    for tree, node, number in walk(search(case), case):
        theirs = splits[number][2]
        ours = tree.surrogates[tree.surrogates["node"] == node]
        ours = ours[[not is_too_good(tree, node, surrogate) for surrogate in ours]]
        np.testing.assert_array_equal(ours["feature"], [row["feature"] for row in theirs])
        np.testing.assert_allclose(ours["agreement"], [row["improve"] for row in theirs], **ALGEBRA)
        np.testing.assert_allclose(ours["adjusted"], [row["adj"] for row in theirs], **ALGEBRA)
        for mine, row in zip(ours, theirs, strict=True):
            if mine["subset"] < 0:
                np.testing.assert_allclose(mine["threshold"], row["index"], **ALGEBRA)


@for_every_case
def test_competitors_are_those_of_rpart(case):
    splits = splits_by_node(case)
    for tree, node, number in walk(search(case), case):
        primary, theirs, _ = splits[number]
        ours = tree.competitors[tree.competitors["node"] == node]
        ours = ours[ours["improvement"] > 1e-12]  # rpart has no splits without gain
        gains = np.array([row["improve"] for row in theirs])
        np.testing.assert_allclose(
            ours["improvement"] / tree.improvement[node], gains / primary["improve"], **ALGEBRA
        )


@for_every_case
def test_importance_is_that_of_rpart(case):
    tree = search(case).prune(0.0).tree_
    # Credit only what rpart keeps.
    kept = [not is_too_good(tree, surrogate["node"], surrogate) for surrogate in tree.surrogates]
    tree.surrogates = tree.surrogates[np.array(kept, dtype=bool)]
    names = [feature["name"] for feature in case["features"]]
    theirs = np.array([case["variable_importance"].get(name, 0.0) for name in names])
    np.testing.assert_allclose(tree.surrogate_importances(), theirs / theirs.sum(), **ALGEBRA)


@for_every_case
def test_predictions_are_those_of_rpart(case):
    X, model = samples(case), search(case).prune(0.0)
    known = ~np.isnan(X).any(axis=1)  # rpart counts otherwise when it sends on the others
    ours = model.predict_proba(X) if case["method"] == "class" else model.predict(X)
    np.testing.assert_allclose(ours[known], np.array(case["predictions"])[known], **ALGEBRA)
