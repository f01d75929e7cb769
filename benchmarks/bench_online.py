"""Online learners against scikit-learn, river, and plain loops.

Run ``python benchmarks/bench_online.py --size quick|full``.  A plain loop is the textbook's,
compiled by numba without any check of its input: what a learner costs beyond it is the price of
validation, of the account of losses and mistakes, and of being interruptible.  Learners that go
through the same trials in the same order must make the same mistakes and end with the same
weights; those that shuffle, or fit other models, must be about as accurate.  The limits are for
the full size.
"""

import sys
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from _harness import (
    Bar,
    Candidate,
    Disagreement,
    Job,
    all_of,
    main,
    optional_import,
    relative_difference,
    require_close,
    same_quality,
)
from sklearn import linear_model as peer
from sklearn.metrics import accuracy_score
from sklearn.metrics.pairwise import rbf_kernel

from sklearn_sl.online import (
    Hedge,
    HedgeRun,
    KernelPerceptron,
    OnlineGradientDescentClassifier,
    OnlineGradientDescentRegressor,
    Perceptron,
    WeightedAverage,
    Winnow,
    progressive_predict,
)

OURS, SKLEARN, IN_ORDER, PLAIN = "sklearn_sl", "scikit-learn", "scikit-learn in order", "plain loop"
NUMPY, RIVER = "NumPy loop", "river"
PEERS = ("river", "numba")
CLASSES = np.array([0, 1])
# The largest times over those of the peers.
SHUFFLED_LIMIT, ORDERED_LIMIT, PLAIN_LIMIT = 0.15, 0.35, 1.3
SPARSE_LIMIT, ROW_LIMIT, PROGRESSIVE_LIMIT = 0.35, 0.25, 1.2
HEDGE_LIMITS, SHARE_LIMIT = {100: 0.10, 10_000: 0.50}, 1.3
RIVER_LIMIT, RIVER_EXPERTS_LIMIT = 1 / 50, 1 / 500
KERNEL_LIMIT = 0.7
# Sums of a million products, added up in another order.
ROUNDING = 1e-9
ETA, SHARE, GAMMA = 0.01, 0.01, 0.05


class Sizes(NamedTuple):
    """How large the jobs are."""

    dense: tuple
    sparse: tuple
    n_rows: int
    n_rounds: int
    n_steps: int
    n_kernel: int
    repeat: int


SIZES = {
    "quick": Sizes((20_000, 100_000), (20_000, 10_000), 500, 1_000, 500, 2_000, 3),
    "full": Sizes((100_000, 1_000_000), (200_000, 100_000), 5_000, 10_000, 5_000, 10_000, 5),
}


class Stream(NamedTuple):
    """Trials, and what the plain loops are handed."""

    X: Any
    y: np.ndarray
    signs: np.ndarray


# Streams ---------------------------------------------------------------------------


def noisy_halfspace(n, n_features=100, seed=0):
    """Return samples of a halfspace with some wrong labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    y = (X @ rng.normal(size=n_features) + 2 * rng.normal(size=n) > 0).astype(np.int64)
    return Stream(X, y, 2.0 * y - 1.0)


def noisy_disjunction(n, n_features=100, n_literals=5, seed=0):
    """Return bits of which a few say yes, and some labels are wrong."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, n_features)) < 0.2).astype(np.float64)
    y = X[:, :n_literals].any(axis=1) ^ (rng.random(n) < 0.02)
    return Stream(X, y.astype(np.int64), 2.0 * y - 1.0)


def sparse_halfspace(n, n_features, n_stored=50, seed=0):
    """Return sparse samples of a halfspace."""
    rng = np.random.default_rng(seed)
    columns = np.sort(rng.integers(n_features, size=(n, n_stored)), axis=1).astype(np.int32)
    starts = np.arange(0, n * n_stored + 1, n_stored, dtype=np.int32)
    X = sp.csr_array(
        (rng.normal(size=n * n_stored), columns.ravel(), starts), shape=(n, n_features)
    )
    X.sum_duplicates()
    y = (X @ rng.normal(size=n_features) > 0).astype(np.int64)
    return Stream(X, y, 2.0 * y - 1.0)


# Plain loops -----------------------------------------------------------------------


def compiled(function):
    """Return a function compiled by numba; without numba a Missing, which is false."""
    numba = optional_import("numba")
    return numba.njit(function) if numba else numba


def perceptron_loop(X, signs):
    """Return weights, intercept and mistakes of the perceptron."""
    w, b, n_mistakes = np.zeros(X.shape[1]), 0.0, 0
    for t in range(X.shape[0]):
        score = b
        for j in range(X.shape[1]):
            score += w[j] * X[t, j]
        if signs[t] * score <= 0:
            n_mistakes += 1
            b += signs[t]
            for j in range(X.shape[1]):
                w[j] += signs[t] * X[t, j]
    return w, b, n_mistakes


def gradient_loop(X, signs, eta):
    """Return weights, intercept and mistakes of online gradient descent on the hinge loss."""
    w, b, n_mistakes = np.zeros(X.shape[1]), 0.0, 0
    for t in range(X.shape[0]):
        score = b
        for j in range(X.shape[1]):
            score += w[j] * X[t, j]
        if signs[t] * score <= 0:
            n_mistakes += 1
        if signs[t] * score < 1:
            b += eta * signs[t]
            for j in range(X.shape[1]):
                w[j] += eta * signs[t] * X[t, j]
    return w, b, n_mistakes


def winnow_loop(X, signs):
    """Return weights and mistakes of Winnow on bits."""
    n_features = X.shape[1]
    w, n_mistakes = np.ones(n_features), 0
    for t in range(X.shape[0]):
        score = 0.0
        for j in range(n_features):
            score += w[j] * X[t, j]
        if (score >= n_features) != (signs[t] > 0):
            n_mistakes += 1
            factor = 2.0 if signs[t] > 0 else 0.5
            for j in range(n_features):
                if X[t, j] > 0:
                    w[j] *= factor
    return w, 0.0, n_mistakes


def sparse_perceptron_loop(data, indices, indptr, n_features, signs):
    """Return weights, intercept and mistakes of the perceptron on sparse samples."""
    w, b, n_mistakes = np.zeros(n_features), 0.0, 0
    for t in range(len(signs)):
        score = b
        for k in range(indptr[t], indptr[t + 1]):
            score += data[k] * w[indices[k]]
        if signs[t] * score <= 0:
            n_mistakes += 1
            b += signs[t]
            for k in range(indptr[t], indptr[t + 1]):
                w[indices[k]] += signs[t] * data[k]
    return w, b, n_mistakes


def plain(function, arguments):
    """Return the candidate that runs a compiled loop; it compiles before it is timed."""
    loop = compiled(function)
    return Candidate(fit=lambda data: loop(*arguments(data))) if loop else loop


# Linear learners ---------------------------------------------------------------


def play(make):
    """Return the candidate that goes through the stream once."""
    return Candidate(fit=lambda data: make().partial_fit(data.X, data.y, classes=CLASSES))


def linear_quality(model, prediction, data):
    """Return mistakes and weights of a learner, or of a plain loop."""
    if isinstance(model, tuple):
        w, b, n_mistakes = model
        return {"accuracy": accuracy_score(data.y, data.X @ w + b > 0), "mistakes": n_mistakes}
    found = {"accuracy": accuracy_score(data.y, model.predict(data.X))}
    if hasattr(model, "n_mistakes_"):
        found["mistakes"] = model.n_mistakes_
    return found


def weights_of(model):
    """Return the weights and the intercept of a learner or a plain loop."""
    if isinstance(model, tuple):
        return np.append(model[0], model[1])
    return np.append(model.coef_, model.intercept_)


def same_trials(outcomes, data):
    """Agreement: those that keep the order make the same mistakes and have the same weights."""
    mine = outcomes[OURS]
    for name in (IN_ORDER, PLAIN):
        if name in outcomes:
            theirs = outcomes[name]
            difference = relative_difference(weights_of(theirs.model), weights_of(mine.model))
            require_close(name, OURS, difference, ROUNDING, "weights")
            if "mistakes" in theirs.quality:
                require_close(
                    name,
                    OURS,
                    abs(theirs.quality["mistakes"] - mine.quality["mistakes"]),
                    0,
                    "mistakes",
                )


def same_mistakes(outcomes, data):
    """Agreement: the plain loop makes the same mistakes."""
    if PLAIN in outcomes:
        mine, theirs = (outcomes[name].quality["mistakes"] for name in (OURS, PLAIN))
        require_close(PLAIN, OURS, abs(mine - theirs), 0, "mistakes")


def about_as_accurate(outcomes, data, share=0.1):
    """Agreement: nobody is much better than we are."""
    mine = outcomes[OURS].quality["accuracy"]
    for name, outcome in outcomes.items():
        if outcome.quality["accuracy"] > mine + share:
            raise Disagreement(f"{name!r} is more accurate: {outcome.quality['accuracy']:.3f}")


def time_bars(name, peers):
    """Return the limits of our time over that of others."""
    return [
        Bar(f"{name}: over {other}", lambda r, other=other: r.ratio(OURS, other), limit)
        for other, limit in peers.items()
    ]


def perceptron_job(sizes):
    """One pass of the perceptron over dense samples."""
    return Job(
        "perceptron-dense",
        noisy_halfspace,
        {
            OURS: play(Perceptron),
            SKLEARN: play(peer.Perceptron),
            IN_ORDER: play(lambda: peer.Perceptron(shuffle=False)),
            PLAIN: plain(perceptron_loop, lambda data: (data.X, data.signs)),
        },
        all_of(same_trials, about_as_accurate),
        sizes.dense,
        sizes.repeat,
        linear_quality,
        time_bars(
            "perceptron-dense",
            {SKLEARN: SHUFFLED_LIMIT, IN_ORDER: ORDERED_LIMIT, PLAIN: PLAIN_LIMIT},
        ),
    )


def gradient_job(sizes):
    """One pass of online gradient descent on the hinge loss over dense samples."""

    def theirs(shuffle):
        return peer.SGDClassifier(
            loss="hinge", penalty=None, learning_rate="constant", eta0=ETA, shuffle=shuffle
        )

    return Job(
        "gradient-dense",
        noisy_halfspace,
        {
            OURS: play(lambda: OnlineGradientDescentClassifier(eta=ETA, radius=None)),
            SKLEARN: play(lambda: theirs(True)),
            IN_ORDER: play(lambda: theirs(False)),
            PLAIN: plain(gradient_loop, lambda data: (data.X, data.signs, ETA)),
        },
        all_of(same_trials, about_as_accurate),
        sizes.dense,
        sizes.repeat,
        linear_quality,
        time_bars(
            "gradient-dense",
            {SKLEARN: SHUFFLED_LIMIT, IN_ORDER: ORDERED_LIMIT, PLAIN: PLAIN_LIMIT},
        ),
    )


def winnow_job(sizes):
    """One pass of Winnow over dense bits; scikit-learn has only the perceptron for them."""
    return Job(
        "winnow-dense",
        noisy_disjunction,
        {
            OURS: play(Winnow),
            SKLEARN: play(peer.Perceptron),
            IN_ORDER: play(lambda: peer.Perceptron(shuffle=False)),
            PLAIN: plain(winnow_loop, lambda data: (data.X, data.signs)),
        },
        same_mistakes,
        sizes.dense,
        sizes.repeat,
        winnow_quality,
        time_bars(
            "winnow-dense", {SKLEARN: SHUFFLED_LIMIT, IN_ORDER: ORDERED_LIMIT, PLAIN: PLAIN_LIMIT}
        ),
    )


def winnow_quality(model, prediction, data):
    """Return the mistakes of Winnow."""
    if isinstance(model, tuple):
        return {"mistakes": model[2]}
    return {"mistakes": model.n_mistakes_} if hasattr(model, "n_mistakes_") else {}


def sparse_job(sizes):
    """One pass of the perceptron over sparse samples.

    The intercept of scikit-learn's moves a hundred times less on sparse samples.
    """
    n, n_features = sizes.sparse

    def arguments(data):
        X = data.X
        return X.data, X.indices, X.indptr, X.shape[1], data.signs

    return Job(
        "perceptron-sparse",
        lambda n: sparse_halfspace(n, n_features),
        {
            OURS: play(Perceptron),
            SKLEARN: play(peer.Perceptron),
            IN_ORDER: play(lambda: peer.Perceptron(shuffle=False)),
            PLAIN: plain(sparse_perceptron_loop, arguments),
        },
        all_of(same_mistakes, about_as_accurate),
        [n],
        sizes.repeat,
        linear_quality,
        time_bars("perceptron-sparse", {SKLEARN: SPARSE_LIMIT}),
    )


def single_rows(make):
    """Return the candidate that is handed one row after the other."""

    def run(data):
        model = make()
        for t in range(len(data.y)):
            model.partial_fit(data.X[t : t + 1], data.y[t : t + 1], classes=CLASSES)
        return model

    return Candidate(fit=run)


def rows_job(sizes):
    """Calls of ``partial_fit`` with one row each."""
    return Job(
        "perceptron-rows",
        noisy_halfspace,
        {
            OURS: single_rows(Perceptron),
            IN_ORDER: single_rows(lambda: peer.Perceptron(shuffle=False)),
        },
        same_trials,
        [sizes.n_rows],
        sizes.repeat,
        linear_quality,
        time_bars("perceptron-rows", {IN_ORDER: ROW_LIMIT}),
    )


def progressive_job(sizes):
    """Predictions before learning, beside learning alone."""

    def progressive(data):
        model = Perceptron()
        model.answers = progressive_predict(model, data.X, data.y, classes=CLASSES)
        return model

    def same_state(outcomes, data):
        first, second = (outcomes[name].model for name in (OURS, "partial_fit"))
        if not np.array_equal(first.coef_, second.coef_):
            raise Disagreement("progressive validation ends with other weights")
        wrong = np.count_nonzero(first.answers != data.y)
        require_close(OURS, "partial_fit", abs(wrong - second.n_mistakes_), 1, "mistakes")

    return Job(
        "progressive",
        noisy_halfspace,
        {OURS: Candidate(fit=progressive), "partial_fit": play(Perceptron)},
        same_state,
        [sizes.dense[-1]],
        sizes.repeat,
        linear_quality,
        time_bars("progressive", {"partial_fit": PROGRESSIVE_LIMIT}),
    )


# Experts ---------------------------------------------------------------------------


class Rounds(NamedTuple):
    """The losses of experts, and a learning rate."""

    losses: np.ndarray
    eta: float


def random_losses(n_rounds, n_experts, seed=0):
    """Return losses between zero and one, of which some experts have a little less."""
    rng = np.random.default_rng(seed)
    losses = rng.random((n_rounds, n_experts)) * np.linspace(0.9, 1.0, n_experts)
    return Rounds(losses, float(np.sqrt(2 * np.log(n_experts) / n_rounds)))


def numpy_hedge(data):
    """Return what Hedge loses, round by round in NumPy."""
    n_experts = data.losses.shape[1]
    v, total = np.full(n_experts, 1 / n_experts), 0.0
    for losses in data.losses:
        total += v @ losses
        v = v * np.exp(-data.eta * losses)
        v /= v.sum()
    return total


def numpy_share(data, alpha=SHARE):
    """Return what Hedge with fixed share loses, round by round in NumPy."""
    n_experts = data.losses.shape[1]
    v, total = np.full(n_experts, 1 / n_experts), 0.0
    for losses in data.losses:
        total += v @ losses
        v = v * np.exp(-data.eta * losses)
        v /= v.sum()
        v = (1 - alpha) * v + alpha * (1 - v) / (n_experts - 1)
    return total


def hedge_candidate(**params):
    """Return the candidate that replays the losses by our Hedge."""
    return Candidate(fit=lambda data: Hedge(eta=data.eta, **params).replay(data.losses))


def lost(model, prediction, data):
    """Return what was lost in all rounds."""
    return {"loss": float(np.sum(model.losses)) if isinstance(model, HedgeRun) else model}


def hedge_job(n_experts):
    """Return the maker of the job: weights of experts, round by round."""

    def make(sizes):
        name = f"hedge-{n_experts}"
        limit = HEDGE_LIMITS[n_experts]
        return Job(
            name,
            lambda n: random_losses(n, n_experts),
            {OURS: hedge_candidate(), NUMPY: Candidate(fit=numpy_hedge)},
            same_quality("loss", 1e-6),
            [sizes.n_rounds],
            sizes.repeat,
            lost,
            [Bar(f"{name}: over {NUMPY}", lambda r: r.ratio(OURS, NUMPY), limit)],
        )

    return make


def share_job(n_experts):
    """Return the maker of the job: weights that are shared, beside weights that are not."""

    def make(sizes):
        name = f"share-{n_experts}"

        def agree(outcomes, data):
            same_quality("loss", 1e-6)({who: outcomes[who] for who in (OURS, "NumPy share")}, data)

        return Job(
            name,
            lambda n: random_losses(n, n_experts),
            {
                OURS: hedge_candidate(share=SHARE),
                "Hedge": hedge_candidate(),
                "NumPy share": Candidate(fit=numpy_share),
            },
            agree,
            [sizes.n_rounds],
            sizes.repeat,
            lost,
            [Bar(f"{name}: over Hedge", lambda r: r.ratio(OURS, "Hedge"), SHARE_LIMIT)],
        )

    return make


# River -----------------------------------------------------------------------------


class Steps(NamedTuple):
    """Trials, also as river takes them, and the experts that it averages."""

    X: np.ndarray
    y: np.ndarray
    dicts: list


def steps(n, n_features=20, seed=0):
    """Return a stream of a halfspace."""
    stream = noisy_halfspace(n, n_features, seed)
    return Steps(stream.X, stream.y, [dict(enumerate(row)) for row in stream.X.tolist()])


def river_perceptron(river):
    """Return the candidate that predicts and learns step by step."""

    def run(data):
        model, right = river.linear_model.Perceptron(), 0
        for x, y in zip(data.dicts, data.y.tolist(), strict=True):
            right += model.predict_one(x) == y
            model.learn_one(x, y)
        return right

    return Candidate(fit=run)


def river_perceptron_job(sizes):
    """Steps of a perceptron: predict, then learn."""

    def ours(data):
        answers = progressive_predict(Perceptron(), data.X, data.y, classes=CLASSES)
        return int(np.count_nonzero(answers == data.y))

    river = river_with("linear_model")
    return Job(
        "river-perceptron",
        steps,
        {OURS: Candidate(fit=ours), RIVER: river_perceptron(river) if river else river},
        same_quality("share right", 0.02),
        [20 * sizes.n_steps],
        sizes.repeat,
        lambda model, prediction, data: {"share right": model / len(data.y)},
        [Bar("river-perceptron: over river", lambda r: r.ratio(OURS, RIVER), RIVER_LIMIT)],
    )


N_EXPERTS = 100
RATES = np.geomspace(1e-5, 0.01, N_EXPERTS)


def numbers(n, n_features=20, seed=0):
    """Return a stream of a linear function with noise, within zero and one."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    y = X @ rng.normal(size=n_features) + rng.normal(size=n)
    y = (y - y.min()) / (y.max() - y.min())
    return Steps(X, y, [dict(enumerate(row)) for row in X.tolist()])


def mean_squared_error(answers, y):
    """Return the mean squared error of answers within zero and one."""
    return float(np.mean((np.clip(answers, 0, 1) - y) ** 2))


def river_advice(river):
    """Return the candidate that averages columns by exponential weights."""

    class Column(river.base.Regressor):
        """An expert that says what one feature says, and learns nothing."""

        def __init__(self, place):
            self.place = place

        def predict_one(self, x):
            """Return the feature."""
            return x[self.place]

        def learn_one(self, x, y):
            """Learn nothing."""

    def run(data):
        columns = [Column(place) for place in range(data.X.shape[1])]
        model = river.ensemble.EWARegressor(columns, learning_rate=0.5)
        answers = []
        for x, y in zip(data.dicts, data.y.tolist(), strict=True):
            answers.append(model.predict_one(x))
            model.learn_one(x, y)
        return np.array(answers)

    return Candidate(fit=run)


def advice(n, n_experts=N_EXPERTS, seed=0):
    """Return numbers within zero and one, and experts that know them more or less."""
    rng = np.random.default_rng(seed)
    y = rng.random(n)
    noise = rng.normal(size=(n, n_experts)) * np.linspace(0.05, 0.5, n_experts)
    X = np.clip(y[:, None] + noise, 0, 1)
    return Steps(X, y, [dict(enumerate(row)) for row in X.tolist()])


def river_advice_job(sizes):
    """The advice of a hundred experts, averaged by exponential weights.

    The first answer of river is the sum of its experts', not their mean: it is left out.
    """

    def ours(data):
        model = WeightedAverage(loss="square", eta=0.5, bounds=(0, 1))
        return progressive_predict(model, data.X, data.y)

    def agree(outcomes, data):
        if RIVER in outcomes:
            mine, theirs = (outcomes[name].model[1:] for name in (OURS, RIVER))
            require_close(RIVER, OURS, relative_difference(theirs, mine), ROUNDING)

    river = river_with("ensemble", "base")
    return Job(
        "river-advice",
        advice,
        {OURS: Candidate(fit=ours), RIVER: river_advice(river) if river else river},
        agree,
        [sizes.n_steps],
        sizes.repeat,
        None,
        [Bar("river-advice: over river", lambda r: r.ratio(OURS, RIVER), RIVER_EXPERTS_LIMIT)],
    )


def river_with(*names):
    """Return river with these parts of it imported, or why there is none."""
    modules = [optional_import(f"river.{name}") for name in names]
    return optional_import("river") if all(modules) else modules[0]


def river_experts(river):
    """Return the candidate that averages linear regressions by exponential weights."""

    def run(data):
        models = [
            river.linear_model.LinearRegression(optimizer=river.optim.SGD(rate), intercept_lr=rate)
            for rate in RATES
        ]
        model = river.ensemble.EWARegressor(models, learning_rate=0.5)
        answers = []
        for x, y in zip(data.dicts, data.y.tolist(), strict=True):
            answers.append(model.predict_one(x))
            model.learn_one(x, y)
        return np.array(answers)

    return Candidate(fit=run, once=True)


def river_experts_job(sizes):
    """A hundred learning regressions, averaged by exponential weights.

    River normalises its weights only after the first step, so its early answers are left out.
    """

    def ours(data):
        experts = [OnlineGradientDescentRegressor(loss="square", eta=rate) for rate in RATES]
        model = WeightedAverage(experts, loss="square", bounds=(0, 1))
        return progressive_predict(model, data.X, data.y)

    river = river_with("linear_model", "ensemble", "optim")
    return Job(
        "river-experts",
        numbers,
        {OURS: Candidate(fit=ours), RIVER: river_experts(river) if river else river},
        same_quality("error", 0.01),
        [sizes.n_steps],
        sizes.repeat,
        lambda answers, prediction, data: {
            "error": mean_squared_error(answers[len(data.y) // 2 :], data.y[len(data.y) // 2 :])
        },
        [Bar("river-experts: over river", lambda r: r.ratio(OURS, RIVER), RIVER_EXPERTS_LIMIT)],
    )


# Kernels ---------------------------------------------------------------------------


def rings(n, n_features=20, seed=0):
    """Return samples whose classes no halfspace separates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    radius = (X**2).sum(axis=1)
    y = (radius > np.median(radius)).astype(np.int64)
    return Stream(X, y, 2.0 * y - 1.0)


def numpy_kernel_perceptron(data, block=512):
    """Return the mistakes of a kernel perceptron on blocks of a Gram matrix."""
    support, steps, n_mistakes = np.empty((0, data.X.shape[1])), np.empty(0), 0
    for start in range(0, len(data.y), block):
        X, signs = data.X[start : start + block], data.signs[start : start + block]
        scores = rbf_kernel(X, support, gamma=GAMMA) @ steps if len(support) else np.zeros(len(X))
        own, new = rbf_kernel(X, gamma=GAMMA), []
        for t, sign in enumerate(signs):
            if sign * scores[t] <= 0:
                new.append(t)
                scores += sign * own[t]
        n_mistakes += len(new)
        support, steps = np.vstack([support, X[new]]), np.append(steps, signs[new])
    return n_mistakes


def kernel_job(sizes):
    """One pass of the kernel perceptron."""

    def ours(data):
        model = KernelPerceptron(kernel="rbf", gamma=GAMMA)
        return model.partial_fit(data.X, data.y, classes=CLASSES).n_mistakes_

    return Job(
        "kernel-perceptron",
        rings,
        {OURS: Candidate(fit=ours), "NumPy blocks": Candidate(fit=numpy_kernel_perceptron)},
        same_quality("mistakes", 0),
        [sizes.n_kernel],
        sizes.repeat,
        lambda model, prediction, data: {"mistakes": model},
        [
            Bar(
                "kernel-perceptron: over NumPy blocks",
                lambda r: r.ratio(OURS, "NumPy blocks"),
                KERNEL_LIMIT,
            )
        ],
    )


# The command line ------------------------------------------------------------


def make_jobs(size):
    """Return the jobs of ``--size``."""
    make = (
        perceptron_job,
        gradient_job,
        winnow_job,
        sparse_job,
        rows_job,
        progressive_job,
        *(hedge_job(n) for n in HEDGE_LIMITS),
        *(share_job(n) for n in HEDGE_LIMITS),
        river_perceptron_job,
        river_advice_job,
        river_experts_job,
        kernel_job,
    )
    return [job(SIZES[size]) for job in make]


if __name__ == "__main__":
    sys.exit(main("online", make_jobs, peers=PEERS))
