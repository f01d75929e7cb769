"""Kernel ridge regression and the gap-weighted kernel against their peers.

Run ``python benchmarks/bench_kernel_ridge.py --size quick|full``.
"""

import sys
from functools import partial
from typing import NamedTuple

import numpy as np
from _harness import (
    Bar,
    Candidate,
    Disagreement,
    Job,
    Split,
    all_of,
    estimator,
    main,
    optional_peer,
    relative_difference,
    require_close,
    same_predictions,
    same_quality,
)
from scipy import linalg
from sklearn import kernel_ridge as peer
from sklearn.datasets import make_friedman1
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from sklearn_sl.kernel_ridge import KernelRidge, KernelRidgeCV
from sklearn_sl.kernels import GapWeighted

PEERS = ("himalaya", "scikit-learn-intelex")
OURS, SKLEARN = "sklearn_sl", "scikit-learn"
ALPHA, GAMMA = 0.1, 0.02
BLOCK = 512
# Threaded OpenBLAS dies in the Cholesky of scikit-learn's KernelRidge from n = 15,999 on.
SKLEARN_MAX = 15_000
GIGABYTE = 1e9


class Sizes(NamedTuple):
    """What ``--size`` decides."""

    repeat: int
    growth: tuple = (2_000, 4_000, 8_000)
    fit: int = 10_000
    test: int = 10_000
    select: int = 1_500
    leave_one_out: int = 200
    large: tuple = (20_000, 50_000, 100_000, 200_000)
    components: int = 3_000
    strings: int = 500
    length: int = 200
    slow_once: bool = False


SIZES = {
    "quick": Sizes(3, large=(20_000, 50_000, 100_000), slow_once=True),
    "full": Sizes(5),
}


def friedman(n, n_test, seed=0):
    """Return noisy Friedman data with 20 features, 15 of them noise, standardised."""
    X, y = make_friedman1(n + n_test, n_features=20, noise=1.0, random_state=seed)
    X = (X - X[:n].mean(axis=0)) / X[:n].std(axis=0)
    y = (y - y[:n].mean()) / y[:n].std()
    return Split(X[:n], y[:n], X[n:], y[n:])


def held_out(model, prediction, data):
    """Quality: R2 on the test data."""
    return {} if prediction is None else {"r2": float(r2_score(data.y_test, prediction))}


# The exact fit ---------------------------------------------------------------


class BlockedPosv:
    """Reference: the whole Gram matrix by blocks of rows, then LAPACK posv in place."""

    def __init__(self, alpha, gamma):
        self.alpha, self.gamma = alpha, gamma

    def _block(self, X, out):
        """Write ``exp(-gamma |x - z|^2)`` of the rows of ``X`` against the training rows."""
        np.dot(X, self.X.T, out=out)
        out *= 2.0
        out -= np.einsum("ij,ij->i", X, X)[:, None]
        out -= self.norms
        out *= self.gamma
        np.exp(out, out=out)

    def fit(self, X, y):
        """Solve ``(K + alpha I) c = y``."""
        self.X, self.norms = X, np.einsum("ij,ij->i", X, X)
        K = np.empty((len(X), len(X)))
        for start in range(0, len(X), BLOCK):
            self._block(X[start : start + BLOCK], K[start : start + BLOCK])
        K.flat[:: len(X) + 1] += self.alpha
        _, self.dual, info = linalg.lapack.dposv(K.T, y, lower=0, overwrite_a=1)
        if info:
            raise linalg.LinAlgError(f"posv: {info}")
        return self

    def predict(self, X):
        """Return ``K(X, X_fit) c``, by blocks."""
        prediction, K = np.empty(len(X)), np.empty((BLOCK, len(self.X)))
        for start in range(0, len(X), BLOCK):
            rows = X[start : start + BLOCK]
            self._block(rows, K[: len(rows)])
            np.dot(K[: len(rows)], self.dual, out=prediction[start : start + BLOCK])
        return prediction


def himalaya_ridge(module, **options):
    """Return himalaya's exact KernelRidge as a candidate."""
    make = partial(
        module.KernelRidge,
        alpha=ALPHA,
        kernel="rbf",
        kernel_params={"gamma": GAMMA},
        solver="eigenvalues",
    )
    return estimator(make, **options)


def exact_candidates():
    """Ours, scikit-learn's, the reference and the optional peers."""
    options = {"alpha": ALPHA, "kernel": "rbf", "gamma": GAMMA}
    return {
        OURS: estimator(partial(KernelRidge, **options)),
        SKLEARN: estimator(partial(peer.KernelRidge, **options), max_size=SKLEARN_MAX),
        "blocked Gram + posv": estimator(partial(BlockedPosv, ALPHA, GAMMA)),
        "scikit-learn-intelex": optional_peer(
            "sklearnex.kernel_ridge",
            lambda module: estimator(partial(module.KernelRidge, **options), max_size=SKLEARN_MAX),
        ),
    }


def fit_job(sizes):
    """Fit and predict at the size where the Gram matrix rules."""
    return Job(
        "fit",
        lambda n: friedman(n, sizes.test),
        exact_candidates(),
        same_predictions(1e-6),
        [sizes.fit],
        sizes.repeat,
        held_out,
        [
            Bar("fit: time / scikit-learn", lambda r: r.ratio(OURS, SKLEARN), 0.55),
            Bar("fit: peak memory / scikit-learn", lambda r: r.peak_ratio(OURS, SKLEARN), 0.40),
            Bar(
                "fit: time / (blocked Gram + posv)",
                lambda r: r.ratio(OURS, "blocked Gram + posv"),
                1.15,
            ),
            Bar(
                "predict: time / scikit-learn",
                lambda r: r.ratio(OURS, SKLEARN, "predict"),
                0.75,
            ),
        ],
    )


def growth_job(sizes):
    """Growth of the exact fit with n; himalaya, which needs an ``eigh``, up to 4,000."""
    himalaya = optional_peer(
        "himalaya.kernel_ridge", partial(himalaya_ridge, max_size=sizes.growth[1])
    )
    return Job(
        "growth",
        lambda n: friedman(n, 2_000),
        exact_candidates() | {"himalaya": himalaya},
        same_predictions(1e-6),
        sizes.growth,
        sizes.repeat,
        held_out,
    )


# Selection -------------------------------------------------------------------

ALPHAS, GAMMAS = np.logspace(-6, 4, 20), np.logspace(-2.5, 0, 5)


class SelectionData(NamedTuple):
    """A split, and the Gram matrices that the reference decomposes."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    grams: list


def selection_data(n):
    """Return the data of the selection job."""
    split = friedman(n, 2_000)
    return SelectionData(*split, [rbf_kernel(split.X, gamma=gamma) for gamma in GAMMAS])


def decompose(data):
    """Reference: one ``eigh`` for each gamma, without the Gram matrices."""
    for K in data.grams:
        values, _ = linalg.eigh(K, driver="evd")
    return values


def grid_search(n_jobs=1, threads=None, **options):
    """Return scikit-learn's search over the same grid as a candidate."""

    def fit(data):
        grid = {"alpha": ALPHAS, "gamma": GAMMAS}
        search = GridSearchCV(peer.KernelRidge(kernel="rbf"), grid, cv=5, n_jobs=n_jobs)
        with threadpool_limits(threads):
            return search.fit(data.X, data.y)

    return Candidate(fit, lambda model, data: model.predict(data.X_test), **options)


class HimalayaSearch:
    """himalaya's KernelRidgeCV, which selects alpha, once for each gamma."""

    def __init__(self, module):
        self.module = module

    def fit(self, X, y):
        """Keep the model with the best cross-validated score."""
        models = [
            self.module.KernelRidgeCV(
                alphas=ALPHAS, kernel="rbf", kernel_params={"gamma": gamma}, cv=5
            ).fit(X, y)
            for gamma in GAMMAS
        ]
        self.best = max(models, key=lambda model: float(np.max(model.cv_scores_)))
        return self

    def predict(self, X):
        """Predict with the best model."""
        return self.best.predict(X)


def chosen_gamma(model, X, gammas):
    """Return the gamma of the grid whose Gram matrix is that of ``model.kernel_``."""
    rows = X[:50]
    for gamma in gammas:
        if relative_difference(model.kernel_(rows), rbf_kernel(rows, gamma=gamma)) < 1e-9:
            return gamma
    raise Disagreement(f"kernel_ of {OURS!r} is {model.kernel_}, no kernel of the grid")


def leave_one_out_holds(gammas, samples=(0, 1, 2), rtol=1e-6):
    """Agreement: ``loo_predictions_`` are what scikit-learn says when refitted without each."""

    def agree(outcomes, data):
        model = outcomes[OURS].model
        gamma = chosen_gamma(model, data.X, gammas)
        refit = peer.KernelRidge(alpha=model.alpha_, kernel="rbf", gamma=gamma)
        for i in samples:
            rest = np.arange(len(data.X)) != i
            expected = refit.fit(data.X[rest], data.y[rest]).predict(data.X[i : i + 1])
            difference = float(np.max(np.abs(model.loo_predictions_[i] - expected)))
            allowed = rtol * float(np.max(np.abs(data.y)))
            require_close(OURS, f"a refit without sample {i}", difference, allowed, "leave-one-out")

    return agree


def select_job(sizes):
    """Choose alpha and gamma: exact leave-one-out against 5-fold searches."""
    candidates = {
        OURS: estimator(
            partial(KernelRidgeCV, alphas=ALPHAS, kernel="rbf", kernel_grid={"gamma": list(GAMMAS)})
        ),
        "GridSearchCV n_jobs=1": grid_search(once=sizes.slow_once),
        "GridSearchCV n_jobs=1, one BLAS thread": grid_search(threads=1, once=sizes.slow_once),
        "GridSearchCV n_jobs=2": grid_search(n_jobs=2),
        "himalaya": optional_peer(
            "himalaya.kernel_ridge", lambda module: estimator(partial(HimalayaSearch, module))
        ),
        "five eigh": Candidate(decompose),
    }
    return Job(
        "select",
        selection_data,
        candidates,
        all_of(same_quality("r2", 0.02), leave_one_out_holds(GAMMAS)),
        [sizes.select],
        sizes.repeat,
        held_out,
        [
            Bar(
                "select: time / GridSearchCV n_jobs=1",
                lambda r: r.ratio(OURS, "GridSearchCV n_jobs=1"),
                1 / 15,
            ),
            Bar(
                "select: time / GridSearchCV n_jobs=2",
                lambda r: r.ratio(OURS, "GridSearchCV n_jobs=2"),
                1 / 5,
            ),
            Bar("select: time / five eigh", lambda r: r.ratio(OURS, "five eigh"), 1.15),
        ],
    )


def search_leave_one_out(alphas):
    """Return scikit-learn's search by brute leave-one-out."""
    return GridSearchCV(
        peer.KernelRidge(kernel="rbf", gamma=GAMMA),
        {"alpha": alphas},
        cv=LeaveOneOut(),
        scoring="neg_mean_squared_error",
    )


def chosen_alpha(model, prediction, data):
    """Quality: the alpha chosen and its leave-one-out error."""
    if isinstance(model, GridSearchCV):
        return {"alpha": float(model.best_params_["alpha"]), "loo_mse": -float(model.best_score_)}
    residuals = data.y - np.reshape(model.loo_predictions_, data.y.shape)
    return {"alpha": float(model.alpha_), "loo_mse": float(np.mean(residuals**2))}


def leave_one_out_job(sizes):
    """Choose alpha by leave-one-out: closed form against n refits for each alpha."""
    alphas = np.logspace(-4, 2, 10)
    grid = {"gamma": [GAMMA]}
    return Job(
        "leave-one-out",
        lambda n: friedman(n, 200),
        {
            OURS: estimator(partial(KernelRidgeCV, alphas=alphas, kernel="rbf", kernel_grid=grid)),
            "GridSearchCV LeaveOneOut": estimator(partial(search_leave_one_out, alphas)),
        },
        all_of(same_quality("alpha", 0.0), same_quality("loo_mse", 1e-8), same_predictions(1e-6)),
        [sizes.leave_one_out],
        sizes.repeat,
        chosen_alpha,
        [
            Bar(
                "leave-one-out: time / GridSearchCV",
                lambda r: r.ratio(OURS, "GridSearchCV LeaveOneOut"),
                1 / 500,
            )
        ],
    )


# Large n ---------------------------------------------------------------------


def nystroem_pipeline(components):
    """Return scikit-learn's way to the same objective."""
    features = Nystroem(kernel="rbf", gamma=GAMMA, n_components=components, random_state=0)
    return make_pipeline(features, Ridge(alpha=ALPHA, fit_intercept=False))


def large_bars(name, sizes):
    """Growth, accuracy and memory of one solver; the memory bar is set for n = 200,000."""
    first, last = sizes.large[0], sizes.large[-1]
    return [
        Bar(f"{name}: growth exponent of fit", lambda r: r.growth(name), 1.2),
        Bar(
            f"{name}: |R2 - exact R2|, n = {first}",
            lambda r: abs(r.quality("exact", "r2", first) - r.quality(name, "r2", first)),
            0.01,
        ),
        Bar(f"{name}: peak GB, n = {last}", lambda r: r.peak(name, n=last) / GIGABYTE, 2.0),
    ]


def large_job(sizes):
    """Approximate solvers on n where the Gram matrix no longer fits."""
    options = {"alpha": ALPHA, "kernel": "rbf", "gamma": GAMMA}
    approximate = options | {"n_components": sizes.components, "random_state": 0}
    first, once = sizes.large[0], sizes.slow_once
    return Job(
        "large",
        lambda n: friedman(n, 5_000),
        {
            "nystrom": estimator(partial(KernelRidge, solver="nystrom", **approximate), once=once),
            "cg": estimator(partial(KernelRidge, solver="cg", **approximate), once=once),
            "exact": estimator(partial(KernelRidge, **options), once=True, max_size=first),
            "scikit-learn Nystroem + Ridge": estimator(
                partial(nystroem_pipeline, sizes.components), once=once
            ),
        },
        same_quality("r2", 0.05),
        sizes.large,
        sizes.repeat,
        held_out,
        large_bars("nystrom", sizes) + large_bars("cg", sizes),
    )


# The gap-weighted kernel -----------------------------------------------------

LENGTH, DECAY = 3, 0.5
SAMPLE = 8


def gap_weighted_rows(s, t):
    """Sum of ``decay^(spans)`` over the common subsequences of length 3, row by row.

    ``suffix[i, j]`` is the sum over those that end at ``s[i]`` and ``t[j]``.
    ``total[j]`` sums it over all ends up to i and j, each gap paid with ``decay``;
    along a row that is a cumulative sum of values scaled by powers of ``decay``.
    """
    powers = DECAY ** np.arange(len(t))
    suffix = DECAY**2 * (s[:, None] == t)
    for _ in range(LENGTH - 1):
        total, longer = np.zeros(len(t)), np.zeros_like(suffix)
        for i in range(len(s) - 1):
            total = DECAY * total + powers * np.cumsum(suffix[i] / powers)
            longer[i + 1, 1:] = DECAY**2 * (s[i + 1] == t[1:]) * total[:-1]
        suffix = longer
    return suffix.sum()


def gap_weighted_products(gaps, s, t):
    """Same value by matrix products: ``gaps`` holds ``decay^(i - k)`` for k <= i."""
    match = DECAY**2 * (s[:, None] == t)
    suffix = match
    for _ in range(LENGTH - 1):
        total = gaps @ suffix @ gaps.T
        suffix = np.zeros_like(match)
        suffix[1:, 1:] = match[1:, 1:] * total[:-1, :-1]
    return suffix.sum()


def numpy_sample(value, strings):
    """Return the kernel matrix of the first few strings, each pair once."""
    codes = [np.frombuffer(string.encode(), dtype=np.uint8) for string in strings[:SAMPLE]]
    K = np.empty((len(codes), len(codes)))
    for i, s in enumerate(codes):
        for j, t in enumerate(codes[: i + 1]):
            K[i, j] = K[j, i] = value(s, t)
    return K


def products_sample(strings):
    """Return the sample by matrix products, for strings of one length."""
    distance = np.subtract.outer(np.arange(len(strings[0])), np.arange(len(strings[0])))
    gaps = np.where(distance >= 0, DECAY ** np.abs(distance), 0.0)
    return numpy_sample(partial(gap_weighted_products, gaps), strings)


def random_strings(n, length):
    """Return n random strings over four letters."""
    letters = np.random.default_rng(0).choice(list("ACGT"), size=(n, length))
    return ["".join(row) for row in letters]


def same_sample(outcomes, data):
    """Agreement: ours equals the NumPy values on the pairs that NumPy computed."""
    ours = outcomes[OURS].model[:SAMPLE, :SAMPLE]
    for name, outcome in outcomes.items():
        sample = outcome.model[:SAMPLE, :SAMPLE]
        require_close(name, OURS, float(np.max(np.abs(sample / ours - 1))), 1e-8, "kernel values")


def string_job(sizes):
    """Gram matrix of strings; NumPy does a few pairs, scaled to all of them."""

    def pairs(n):
        return n * (n + 1) / 2

    scale = pairs(sizes.strings) / pairs(min(SAMPLE, sizes.strings))
    rows = "NumPy, DP by rows"
    return Job(
        "gap-weighted",
        lambda n: random_strings(n, sizes.length),
        {
            OURS: Candidate(lambda data: GapWeighted(p=LENGTH, decay=DECAY)(data)),
            rows: Candidate(partial(numpy_sample, gap_weighted_rows), scale=scale),
            "NumPy, matrix products": Candidate(products_sample, scale=scale),
        },
        same_sample,
        [sizes.strings],
        sizes.repeat,
        bars=[Bar("gap-weighted: time / NumPy rows", lambda r: r.ratio(OURS, rows), 1 / 100)],
    )


def make_jobs(size):
    """Return the jobs of ``--size``."""
    sizes = SIZES[size]
    makers = (fit_job, growth_job, select_job, leave_one_out_job, large_job, string_job)
    return [make(sizes) for make in makers]


if __name__ == "__main__":
    sys.exit(main("kernel_ridge", make_jobs, peers=PEERS))
