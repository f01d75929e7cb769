"""Trees as text, as a graph of Graphviz, and as a picture.

scikit-learn's functions lay out and draw; they know splits by a threshold alone. So they are shown
a tree whose nodes are split by features of their own, and what they print of these is replaced.
"""

from __future__ import annotations

import copy
import html
import re
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from sklearn import tree as peer
from sklearn.utils.validation import check_is_fitted

from sklearn_sl.tree._paragraphs import inserted
from sklearn_sl.tree._tree import LEAF, UNDEFINED

if TYPE_CHECKING:
    from collections.abc import Sequence

MARKED = re.compile("\x02(\\d+)\x03 (<=|&le;|> ) \\S+?(?=$|\\\\n|<br/>)", re.MULTILINE)
# The end of a condition in a picture: a space that has no width of its own to measure.
END = "\N{NO-BREAK SPACE}" * 2
MOST_CATEGORIES = 6  # that a picture names


@dataclass(frozen=True)
class Split:
    """The question that a node asks, in words."""

    left: str
    right: str
    missing: str  # where missing values go, empty if that is not to be told
    categorical: bool


@inserted
def export_text(
    decision_tree: Any,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    max_depth: int = 10,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
    show_missing: bool | None = None,
) -> str:
    """Return a tree as text: subsets of categories, missing values and surrogates included.

    The parameters are those of :func:`sklearn.tree.export_text`, and ``show_missing``.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree.

    {feature_names}

    {class_names}

    max_depth : int, default=10
        The depth below which branches are left out.

    spacing : int, default=3
        The width of an indentation.

    decimals : int, default=2
        The digits after the point.

    show_weights : bool, default=False
        Whether leaves show the weights of the classes.

    {show_missing}

    Returns
    -------
    text : str
        A line for each branch. After a condition stands, in brackets, what decides if the value is
        missing: the surrogate splits, by which samples that meet them go left, and what follows if
        their values are missing too.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.tree import DecisionTreeClassifier, export_text
    >>> X = np.array([[0, 1.0], [1, 2.0], [2, 5.0], [0, np.nan]])
    >>> model = DecisionTreeClassifier(categorical_features=[0]).fit(X, [0, 1, 0, 0])
    >>> print(export_text(model, feature_names=["colour", "size"]))
    |--- colour in {0.0, 2.0} [missing: left]
    |   |--- class: 0
    |--- colour in {1.0}
    |   |--- class: 1
    <BLANKLINE>
    """
    splits = Splits(decision_tree, feature_names, f".{decimals}f", show_missing).of_nodes()
    found = peer.export_text(
        stand_in(decision_tree),
        feature_names=[f"\x02{node}\x03" for node in range(decision_tree.tree_.node_count)],
        class_names=class_names,
        max_depth=max_depth,
        spacing=spacing,
        decimals=decimals,
        show_weights=show_weights,
    )

    def words(match):
        split = splits[int(match[1])]
        if match[2] == "> ":  # in the column of the other side, as in scikit-learn
            return split.right if split.categorical else " >  ".join(split.right.rsplit(" > ", 1))
        return split.left + (f" [missing: {split.missing}]" if split.missing else "")

    return MARKED.sub(words, found)


@inserted
def export_graphviz(
    decision_tree: Any,
    out_file: str | Path | IO[str] | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    show_missing: bool | None = None,
    **options: Any,
) -> str | None:
    r"""Return a tree in the language of Graphviz, with categories, missing values and surrogates.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree.

    out_file : str, path or file, default=None
        Where to write; None returns the text.

    {feature_names}

    {show_missing}

    **options : dict
        The other parameters of :func:`sklearn.tree.export_graphviz`.

    Returns
    -------
    text : str or None
        The graph, if ``out_file`` is None.

    Examples
    --------
    >>> from sklearn_sl.tree import DecisionTreeClassifier, export_graphviz
    >>> model = DecisionTreeClassifier(categorical_features=[0]).fit([[0], [1], [2]], [0, 1, 0])
    >>> text = export_graphviz(model, feature_names=["colour"], impurity=False)
    >>> print(text.splitlines()[3])
    0 [label="colour in {0, 2}\nsamples = 3\nvalue = [2, 1]"] ;
    """
    special = options.get("special_characters", False)
    number = f".{options.get('precision', 3)}f"
    splits = Splits(decision_tree, feature_names, number, show_missing).of_nodes()
    found = peer.export_graphviz(
        stand_in(decision_tree),
        None,
        feature_names=[f"\x02{node}\x03" for node in range(decision_tree.tree_.node_count)],
        **options,
    )

    def words(match):
        lines = lines_of(splits[int(match[1])])
        if special:
            return "<br/>".join(map(html.escape, lines))
        return "\\n".join(line.replace('"', '\\"') for line in lines)

    text = MARKED.sub(words, found)
    if out_file is None:
        return text
    if hasattr(out_file, "write"):
        out_file.write(text)
    else:
        Path(out_file).write_text(text, encoding="utf-8")
    return None


@inserted
def plot_tree(
    decision_tree: Any,
    *,
    feature_names: Sequence[str] | None = None,
    show_missing: bool | None = None,
    **options: Any,
) -> list[Any]:
    """Draw a tree by matplotlib, with categories, missing values and surrogates.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree.

    {feature_names}

    {show_missing}

    **options : dict
        The other parameters of :func:`sklearn.tree.plot_tree`.

    Returns
    -------
    annotations : list of Annotation
        The nodes in the picture.

    Examples
    --------
    >>> from sklearn_sl.tree import DecisionTreeClassifier, plot_tree
    >>> model = DecisionTreeClassifier(categorical_features=[0]).fit([[0], [1], [2]], [0, 1, 0])
    >>> nodes = plot_tree(model, feature_names=["colour"], impurity=False)  # doctest: +SKIP
    """
    number = f".{options.get('precision', 3)}f"
    words = Splits(decision_tree, feature_names, number, show_missing, MOST_CATEGORIES)
    names = [""] * decision_tree.tree_.node_count
    for node, split in words.of_nodes().items():
        names[node] = "\n".join(lines_of(split)) + END
    nodes = peer.plot_tree(stand_in(decision_tree), feature_names=names, **options)
    for node in nodes:
        node.set_text(re.sub(f"{END} <= \\S+", "", node.get_text()))
    return nodes


def lines_of(split):
    """Return the lines about a split in the box of its node."""
    return [split.left, *([f"missing: {split.missing}"] if split.missing else [])]


def stand_in(model):
    """Return a copy of a fitted tree in which the feature of each split is its own node."""
    model, tree = copy.copy(model), copy.copy(model.tree_)
    nodes = np.arange(tree.node_count)
    tree.feature = np.where(tree.children_left == LEAF, UNDEFINED, nodes)
    tree.threshold = np.zeros(tree.node_count)
    tree.n_features = model.n_features_in_ = tree.node_count
    model.tree_ = tree
    return model


class Splits:
    """Puts the splits of a fitted tree into words.

    Parameters
    ----------
    model : estimator
    names : sequence of str or None
        Of the features.
    number : str
        The format of thresholds.
    show_missing : bool or None
    most : int or None
        How many categories are named.
    """

    def __init__(self, model, names, number, show_missing, most=None):
        check_is_fitted(model)
        if not hasattr(model.tree_, "categories_left"):
            raise TypeError(
                f"decision_tree must be a tree of sklearn_sl.tree, got {type(model).__name__}: for "
                "trees of scikit-learn use the function of the same name in sklearn.tree."
            )
        self.tree, self.number, self.most = model.tree_, number, most
        self.names = names_of(model, names)
        self.categories = model.categories_
        if show_missing is None:
            show_missing = len(self.tree.surrogates) > 0 or getattr(model, "_saw_missing", False)
        self.show_missing = show_missing

    def of_nodes(self):
        """Return the :class:`Split` of each node that has one."""
        return {node: self.split_of(node) for node in np.flatnonzero(self.tree.feature >= 0)}

    def split_of(self, node):
        tree = self.tree
        left, right = self.sides(tree.feature[node], tree.threshold[node], tree.subset[node])
        missing = self.missing_at(node) if self.show_missing else ""
        return Split(left, right, missing, categorical=tree.subset[node] >= 0)

    def missing_at(self, node):
        """Return what decides for samples without a value."""
        tree, conditions = self.tree, []
        for surrogate in tree.surrogates[tree.surrogates["node"] == node]:
            sides = self.sides(*(surrogate[name] for name in ("feature", "threshold", "subset")))
            flipped = surrogate["reversed"] and surrogate["subset"] < 0
            conditions.append(sides[1 if flipped else 0])
        side = "left" if tree.missing_go_to_left[node] else "right"
        return "; ".join([*conditions, f"else {side}"]) if conditions else side

    def sides(self, feature, threshold, subset):
        """Return the conditions under which samples go left and right."""
        name = self.names[feature]
        if subset < 0:
            text = format(threshold, self.number)
            return f"{name} <= {text}", f"{name} > {text}"
        labels = self.categories[feature]
        return tuple(
            f"{name} in {{{self.listed([str(labels[code]) for code in codes])}}}"
            for codes in self.tree.sides_of(subset)
        )

    def listed(self, labels):
        more = len(labels) - self.most if self.most else 0
        return ", ".join([*labels[: self.most], *([f"{more} more"] if more > 0 else [])])


def names_of(model, names):
    """Return the names of the features."""
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    if names is None:
        return [f"feature_{place}" for place in range(model.n_features_in_)]
    if len(names) != model.n_features_in_:
        raise ValueError(
            f"feature_names must have one name for each of the {model.n_features_in_} features, "
            f"got {len(names)}."
        )
    return list(names)
