"""Classification and regression trees, with cost-complexity pruning."""

from sklearn_sl.tree._classify import DecisionTreeClassifier
from sklearn_sl.tree._cv import DecisionTreeClassifierCV, DecisionTreeRegressorCV
from sklearn_sl.tree._export import export_graphviz, export_text, plot_tree
from sklearn_sl.tree._path import PruningPath
from sklearn_sl.tree._regress import DecisionTreeRegressor

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeClassifierCV",
    "DecisionTreeRegressor",
    "DecisionTreeRegressorCV",
    "PruningPath",
    "export_graphviz",
    "export_text",
    "plot_tree",
]
