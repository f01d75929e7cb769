"""Trees as text, graphs and pictures."""

import io
import re

import matplotlib
import numpy as np
import pytest
from sklearn import tree as peer

from sklearn_sl.tree import (
    DecisionTreeClassifier,
    DecisionTreeClassifierCV,
    DecisionTreeRegressor,
    export_graphviz,
    export_text,
    plot_tree,
)


@pytest.fixture
def numbers(rng):
    X = rng.normal(size=(80, 3))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


@pytest.fixture
def mixed(rng):
    """Categories and numbers, some of them missing."""
    pd = pytest.importorskip("pandas")
    colour = rng.choice(["red", "green", "blue"], 120)
    size = rng.normal(size=120)
    weight = size + 0.3 * rng.normal(size=120)
    y = ((colour == "red") ^ (size > 0.3)).astype(int)
    size[::9] = np.nan
    X = pd.DataFrame({"colour": pd.Categorical(colour), "size": size, "weight": weight})
    return X, y


@pytest.mark.parametrize("cls", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_plain_trees_are_shown_as_scikit_learn_shows_them(cls, numbers):
    X, y = numbers
    model, names = cls(max_depth=3).fit(X, y), ["a", "b", "c"]
    for options in ({}, {"max_depth": 1}, {"decimals": 4, "spacing": 2}):
        expected = peer.export_text(model, feature_names=names, **options)
        assert export_text(model, feature_names=names, **options) == expected
    assert export_text(model).splitlines() == peer.export_text(model).splitlines()
    found = export_graphviz(model, feature_names=names, filled=True)
    assert re.sub(r"\d+\.\d+", "", found) == re.sub(
        r"\d+\.\d+", "", peer.export_graphviz(model, feature_names=names, filled=True)
    )


@pytest.mark.parametrize("surrogates", [0, 2])
def test_text_sends_each_sample_where_the_tree_does(mixed, surrogates):
    X, y = mixed
    model = DecisionTreeClassifierCV(surrogates=surrogates, random_state=0).fit(X, y)
    text = export_text(model, decimals=12)
    assert "nan" not in text
    assert ("else" in text) == (surrogates > 0)
    root = parse(text)
    told = [follow(root, sample) for sample in X.to_dict("records")]
    np.testing.assert_array_equal(told, model.predict(X))


def parse(text):
    """Return the tree that a text describes: (condition, missing, left, right), or a class."""
    lines = [(line.index("---"), line.split("--- ")[1]) for line in text.splitlines() if line]

    def read():
        depth, content = lines.pop(0)
        if content.startswith("class:"):
            return int(content.split()[1])
        condition, _, missing = content.partition(" [missing: ")
        left = read()
        assert lines.pop(0)[0] == depth
        return condition, missing.rstrip("]"), left, read()

    return read()


def met(condition, sample):
    """Say whether a sample meets a condition, None if it has no value."""
    name, sign, bound = re.split(r" (<=|>|in) ", condition)
    value = sample[name]
    if value != value:
        return None
    if sign == "in":
        return value in bound.strip("{}").split(", ")
    return value <= float(bound) if sign == "<=" else value > float(bound)


def follow(node, sample):
    while isinstance(node, tuple):
        condition, missing, left, right = node
        *surrogates, last = missing.split("; ")
        answers = [met(question, sample) for question in (condition, *surrogates)]
        known = [answer for answer in answers if answer is not None]
        goes_left = known[0] if known else last.endswith("left")
        node = left if goes_left else right
    return node


def test_missing_values_are_told_of_where_there_were_some_or_on_request(numbers, mixed):
    plain = DecisionTreeClassifier().fit(*numbers)
    assert "missing" not in export_text(plain)
    assert "[missing: " in export_text(plain, show_missing=True)
    gaps = DecisionTreeClassifier().fit(*mixed)
    assert "[missing: " in export_text(gaps)
    assert "missing" not in export_text(gaps, show_missing=False)


@pytest.mark.parametrize("special", [False, True])
def test_graph_names_categories_and_is_escaped(mixed, special, tmp_path):
    X, y = mixed
    model = DecisionTreeClassifier(max_depth=2, surrogates=1).fit(X, y)
    options = {"feature_names": ['"<c>"', "size", "weight"], "special_characters": special}
    text = export_graphviz(model, **options)
    assert not re.search("nan|\x02|\x03", text)
    assert ("&lt;c&gt;" if special else '\\"<c>\\"') in text
    assert "missing: " in text
    export_graphviz(model, tmp_path / "tree.dot", **options)
    assert (tmp_path / "tree.dot").read_text(encoding="utf-8") == text
    file = io.StringIO()
    assert export_graphviz(model, file, **options) is None
    assert file.getvalue() == text


def test_picture_names_categories_and_few_of_many(mixed, rng):
    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    X, y = mixed
    nodes = plot_tree(DecisionTreeClassifier(max_depth=2).fit(X, y))
    texts = [node.get_text() for node in nodes]
    assert not any("nan" in text or "\xa0" in text for text in texts)
    assert any("colour in {" in text for text in texts)
    codes = np.arange(40.0)[:, None]
    many = DecisionTreeClassifier(categorical_features=[0], max_depth=1).fit(codes, codes % 2 > 0)
    assert "14 more}" in plot_tree(many)[0].get_text()
    plt.close("all")


def test_what_cannot_be_shown_is_an_error(numbers):
    X, y = numbers
    for function in (export_text, export_graphviz, plot_tree):
        with pytest.raises(ValueError, match="one name for each of the 3 features, got 1"):
            function(DecisionTreeClassifier().fit(X, y), feature_names=["a"])
        with pytest.raises(TypeError, match=r"sklearn_sl\.tree.*scikit-learn"):
            function(peer.DecisionTreeClassifier().fit(X, y))


def test_text_among_numbers_is_named_with_the_way_out(mixed):
    X, y = mixed
    words = X.assign(colour=X["colour"].astype(str), shape="round")
    with pytest.raises(ValueError, match=r"columns 'colour', 'shape'.*astype\(\"category\"\)"):
        DecisionTreeClassifier().fit(words, y)
    with pytest.raises(ValueError, match=r"columns 0, which .*categorical_features=\[0\]"):
        DecisionTreeClassifier().fit(words[["colour"]].to_numpy(object), y)


def test_table_of_complexities_prints_its_columns_and_is_a_frame(numbers):
    pytest.importorskip("pandas")
    table = DecisionTreeClassifierCV(random_state=0).fit(*numbers).cp_table_
    first, *rows = repr(table).splitlines()
    assert first.split() == ["complexity", "n_splits", "rel_error", "xerror", "xstd"]
    assert len(rows) == len(table) == len(str(table).splitlines()) - 1
    frame = table.to_frame()
    for name in table.dtype.names:
        np.testing.assert_array_equal(frame[name], table[name])
    assert repr(table["xerror"]).startswith("array(")
