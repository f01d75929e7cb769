"""A user's script, as type checkers read it: ``make lint`` checks it, nothing runs it.

What is public has types: nothing of it is unknown to an editor.
"""

from typing import assert_type

import numpy as np
import scipy.sparse as sp

from sklearn_sl.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn_sl.graph import GraphBuilder, LaplacianInterpolationClassifier, knn_graph
from sklearn_sl.kernel_ridge import KernelRidge, KernelRidgeCV
from sklearn_sl.kernels import Gaussian, gram
from sklearn_sl.online import Hedge, Perceptron, Winnow
from sklearn_sl.svm import SVC, SVR
from sklearn_sl.theory import perceptron_bound
from sklearn_sl.tree import DecisionTreeClassifierCV

X, y = np.zeros((10, 2)), np.arange(10)

machine = SVC(C=10.0, kernel="rbf").fit(X, y)
assert_type(machine, SVC)
assert_type(machine.predict(X), np.ndarray)
assert_type(machine.duality_gap_, np.ndarray)
assert_type(SVR(epsilon=0.1).fit(sp.csr_array(X), y), SVR)

assert_type(KernelRidge(alpha=0.1).fit([[0.0], [1.0]], [0, 1]), KernelRidge)
assert_type(KernelRidgeCV(alphas=(0.1, 1.0)).fit(X, y), KernelRidgeCV)
assert_type(DecisionTreeClassifierCV(rule="1se").fit(X, y), DecisionTreeClassifierCV)

forest = RandomForestClassifier(10, oob_score=True).fit(X, y, sample_weight=y)
assert_type(forest, RandomForestClassifier)
assert_type(AdaBoostClassifier().fit(X, y).training_bound_, np.ndarray)

stream = Perceptron().partial_fit(X, y, classes=[0, 1])
assert_type(stream, Perceptron)
assert_type(stream.n_mistakes_, int)
assert_type(Winnow(balanced=True).fit(X, y), Winnow)
assert_type(Hedge(eta=0.5).fit(X, y), Hedge)

graph = knn_graph(X, n_neighbors=3)
assert_type(graph, sp.csr_array)
labels = LaplacianInterpolationClassifier(affinity=GraphBuilder(("knn", "mst"))).fit(X, y)
assert_type(labels.transduction_, np.ndarray)

assert_type(gram(Gaussian(gamma=0.5), X), np.ndarray)
assert_type(perceptron_bound(1.0, 2.0), float | np.ndarray)
