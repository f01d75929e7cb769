"""Stand-ins for the estimators of the package, which take part in comparisons.

In a module of their own: worker processes import them by its name, and ``tests.test_compare`` may
be hidden there by a package ``tests`` that something else has installed.
"""

import os
import time

import numpy as np
from sklearn import kernel_ridge, linear_model, svm
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


class KernelRidge(kernel_ridge.KernelRidge):
    """Has a counterpart of its name."""


class SVC(svm.SVC):
    """Has a counterpart of its name."""


class RidgeCV(linear_model.RidgeCV):
    """Tunes itself."""


class KernelRidgeCV(RegressorMixin, BaseEstimator):
    """Tunes itself; scikit-learn has the class without CV only."""

    def __init__(self, alphas=(1.0,), kernel="linear", kernel_grid=None, gamma=None):
        self.alphas = alphas
        self.kernel = kernel
        self.kernel_grid = kernel_grid
        self.gamma = gamma

    def fit(self, X, y):
        self.alpha_ = self.alphas[0]
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


class Majority(ClassifierMixin, BaseEstimator):
    """The simplest classifier."""

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.most_ = self.classes_[np.argmax(counts)]
        return self

    def predict(self, X):
        return np.full(len(X), self.most_)


class Unscored(Majority):
    def score(self, X, y, sample_weight=None):
        return np.nan


class Raises(Majority):
    def fit(self, X, y):
        raise ValueError("no <luck> today\nand a second line")


class Dies(Majority):
    def fit(self, X, y):
        os._exit(3)


class AHangs(Majority):
    """Named to come first."""

    def fit(self, X, y):
        while True:
            time.sleep(60)


class Chatty(Majority):
    def fit(self, X, y):
        print("noise of an estimator", flush=True)
        return super().fit(X, y)


class TwoClassesOnly(Majority):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class Wraps(Majority):
    def __init__(self, estimator):
        self.estimator = estimator


class StaysOut(Majority):
    _compare_grid = None


class OwnGrid(Majority):
    _compare_grid = {"depth": [1, 2, 3]}

    def __init__(self, depth=1, alpha=1.0):
        self.depth = depth
        self.alpha = alpha


FORTY = [type(f"Fake{number:02d}", (Majority,), {"__module__": __name__}) for number in range(40)]
globals().update({cls.__name__: cls for cls in FORTY})
