"""The ellipsoid learner against its formulas, its volume and its theorem."""

import numpy as np
import pytest
from conftest import ALGEBRA, EXACT
from reference import multiplicative as reference

from sklearn_sl.online import EllipsoidClassifier
from sklearn_sl.online.linear import _ellipsoid_sweeps
from sklearn_sl.online.linear._ellipsoid import EXHAUSTED, LOG_VOLUME, N_UPDATES
from sklearn_sl.online.linear._linear import as_rows
from sklearn_sl.theory import ellipsoid_bound, ellipsoid_volume_ratio


def separated(seed=0, n_samples=200, n_features=4):
    """Return samples and the sides of a plane through the origin that they are on."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    return X, np.sign(X @ rng.normal(size=n_features)).astype(int)


def plain(**params):
    return EllipsoidClassifier(fit_intercept=False, **params)


def run(X, signs, n_grid=2.0**26):
    """Return center, factor and tail of a run at compiled speed."""
    d = X.shape[1]
    center, factor = np.zeros(d), np.eye(d)
    tail = np.zeros(_ellipsoid_sweeps.ELLIPSOID_TAIL)
    tail[1] = 1.0
    ratio = np.log(ellipsoid_volume_ratio(d).ratio)
    scores = np.empty((len(X), 1))
    least = -2 * d * np.log(n_grid)
    _ellipsoid_sweeps.sweep_ellipsoid(
        as_rows(X), signs, least, ratio, center, factor, tail, np.empty((2, d)), scores, 0
    )
    return center, tail[1] * factor, tail


# ---------------------------------------------------------------- the definition


def test_first_mistake_of_the_worked_example():
    model = plain().partial_fit([[1.0, 0.0]], [1], classes=[-1, 1])
    np.testing.assert_allclose(model.coef_, [[1 / 3, 0]], **EXACT)
    np.testing.assert_allclose(model.shape_, [[[4 / 9, 0], [0, 4 / 3]]], **EXACT)
    assert (model.n_mistakes_, model.n_updates_) == (1, 1)


@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_trials_are_those_of_the_formulas(d):
    X, y = separated(n_features=d)
    model = plain().partial_fit(X, y, classes=[-1, 1])
    w, A = reference.ellipsoid(X, y)[-1]
    np.testing.assert_allclose(model.coef_[0], w, **ALGEBRA)
    np.testing.assert_allclose(model.shape_[0], A, **ALGEBRA)
    assert model.n_updates_ == model.n_mistakes_ >= d


def test_interval_of_one_dimension_is_halved():
    # The weights are between -1 and 1: between 0 and 1 after the first mistake, and so on.
    model = plain().partial_fit([[2.0]], [1], classes=[-1, 1])
    assert (model.coef_[0, 0], model.shape_[0, 0, 0]) == (0.5, 0.25)
    model.partial_fit([[-1.0]], [1])
    assert (model.coef_[0, 0], model.shape_[0, 0, 0]) == (0.25, 0.0625)
    np.testing.assert_allclose(model.log_volume_, [np.log(0.25)], **EXACT)


def test_intercept_is_a_feature_that_is_always_one():
    X, y = separated()
    model = EllipsoidClassifier().fit(X, y)
    by_hand = plain().fit(np.column_stack([X, np.ones(len(X))]), y)
    np.testing.assert_allclose(model.coef_[0], by_hand.coef_[0, :-1], **EXACT)
    np.testing.assert_allclose(model.intercept_, by_hand.coef_[:, -1], **EXACT)
    np.testing.assert_allclose(model.shape_, by_hand.shape_, **EXACT)
    assert model.bound_ == by_hand.bound_


def test_classes_have_an_ellipsoid_each():
    X, _ = separated()
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = EllipsoidClassifier().fit(X, y)
    for k in range(3):
        alone = EllipsoidClassifier(max_iter=model.n_iter_).fit(X, y == k)
        np.testing.assert_array_equal(model.coef_[k], alone.coef_[0])
        np.testing.assert_array_equal(model.shape_[k], alone.shape_[0])
        assert model.log_volume_[k] == alone.log_volume_[0]
    np.testing.assert_allclose(model.bound_, 3 * ellipsoid_bound(5, 2**26), **EXACT)


# ---------------------------------------------------------------- volume and containment


@pytest.mark.parametrize("d", [1, 2, 3, 5, 10, 50])
def test_volume_shrinks_by_exactly_the_ratio(d):
    X, y = separated(n_features=d, n_samples=40)
    ratio, bound = ellipsoid_volume_ratio(d)
    model = plain()
    for t in range(len(y)):
        model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
        _, logdet = np.linalg.slogdet(model.shape_[0])
        np.testing.assert_allclose(model.log_volume_, [logdet / 2], **ALGEBRA)
        np.testing.assert_allclose(model.log_volume_, [model.n_updates_ * np.log(ratio)], **ALGEBRA)
    assert ratio < bound < 1


def test_both_forms_of_the_ratio_agree():
    d = np.arange(2, 200)
    ratio, bound = ellipsoid_volume_ratio(d)
    other = (d**2 / (d**2 - 1)) ** (d / 2) * np.sqrt(1 - 2 / (d + 1))
    np.testing.assert_allclose(ratio, other, **EXACT)
    assert np.all(ratio <= bound)
    np.testing.assert_allclose(
        ellipsoid_volume_ratio([2, 3, 5, 10, 50]).bound,
        [0.846482, 0.882497, 0.920044, 0.955563, 0.990244],
        atol=5e-7,
    )


def test_ellipsoid_contains_the_half_that_is_left(rng):
    for _ in range(300):
        d = int(rng.integers(1, 6))
        states = reference.ellipsoid(rng.normal(size=(6, d)), rng.choice([-1.0, 1.0], size=6))
        w, A = states[int(rng.integers(6))]
        # Points of the ellipsoid, and one more mistake of the compiled learner.
        v = rng.normal(size=(200, d))
        v *= rng.uniform(0, 1, size=(200, 1)) ** (1 / d) / np.linalg.norm(v, axis=1, keepdims=True)
        points = w + v @ np.linalg.cholesky(A).T
        x = rng.normal(size=(1, d))
        y = -1.0 if x[0] @ w > 0 else 1.0
        center, factor = w.copy(), np.ascontiguousarray(np.linalg.cholesky(A))
        tail = np.zeros(_ellipsoid_sweeps.ELLIPSOID_TAIL)
        tail[1] = 1.0
        _ellipsoid_sweeps.sweep_ellipsoid(
            as_rows(x), np.array([y]), -np.inf, -0.1, center, factor, tail, np.empty((2, d)),
            np.empty((1, 1)), 0,
        )  # fmt: skip
        assert tail[N_UPDATES] == 1
        half = points[y * (points @ x[0]) >= y * (w @ x[0])]
        inside = np.linalg.solve(tail[1] * factor, (half - center).T)
        assert np.all((inside**2).sum(axis=0) <= 1 + 1e-9)


# ---------------------------------------------------------------- the theorem


def grid_problem(rng, d, n, n_samples):
    """Return weights and samples on a grid, as the theorem wants them."""
    while True:
        w = rng.integers(-n, n + 1, size=d)
        if 0 < np.linalg.norm(w / n) <= 1 - 1 / n**2:
            break
    # In integers: a product that is zero is no small number.
    X = rng.integers(-n, n + 1, size=(4 * n_samples, d))
    X = X[(np.sum(X**2, axis=1) <= n**2) & (X @ w != 0)]
    # Those near the plane are the hard ones.
    X = X[np.argsort(np.abs(X @ w))][:n_samples]
    X = X[rng.permutation(len(X))]
    return w / n, X / n, np.sign(X @ w).astype(float)


def test_mistakes_on_a_grid_never_exceed_their_bound(rng):
    n_sequences, most = 0, 0
    while n_sequences < 10_000:
        d, n = int(rng.integers(1, 5)), int(rng.integers(2, 12))
        w, X, signs = grid_problem(rng, d, n, 30)
        if not len(X):
            continue
        bound, least = ellipsoid_bound(d, n), -2 * d * np.log(n)
        for _ in range(20):
            # Several passes in random orders.
            rows = np.concatenate([rng.permutation(len(X)) for _ in range(4)])
            center, factor, tail = run(X[rows], signs[rows], n)
            assert tail[N_UPDATES] <= bound
            assert tail[LOG_VOLUME] >= least and not tail[EXHAUSTED]
            # The weights that are sought are always inside.
            assert np.linalg.norm(np.linalg.solve(factor, w - center)) <= 1 + 1e-9
            most = max(most, tail[N_UPDATES])
            n_sequences += 1
    assert most > 15


def test_adversary_is_held_to_the_bound(rng):
    for d, n in [(2, 5), (2, 20), (3, 5), (3, 20), (5, 10)]:
        w, X, signs = grid_problem(rng, d, n, 5000)
        model, margins = plain(n_grid=n), np.abs(X @ w)
        model.partial_fit(X[:1], signs[:1], classes=[-1, 1])
        for _ in range(int(model.bound_) + 1):
            wrong = np.flatnonzero(model.predict(X) != signs)
            if not wrong.size:
                break
            row = wrong[margins[wrong].argmin()]
            model.partial_fit(X[row : row + 1], signs[row : row + 1])
        assert not wrong.size
        assert model.n_mistakes_ == model.n_updates_ <= model.bound_ == ellipsoid_bound(d, n)
        assert not model.exhausted_


def test_contradictions_exhaust_the_ellipsoid_within_the_bound(rng):
    for d in (1, 2, 5, 20):
        X = rng.normal(size=(300, d))
        y = rng.choice([-1, 1], size=300)
        for model in (plain(), plain(n_grid=10)):
            model.set_params(max_iter=1000).fit(X, y)
            assert model.exhausted_ and model.converged_
            assert model.n_updates_ <= model.bound_
            assert model.log_volume_[0] >= -2 * d * np.log(model.n_grid)
            for values in (model.coef_, model.shape_, model.log_volume_):
                assert np.isfinite(values).all()
            values = np.linalg.eigvalsh(model.shape_[0])
            assert values.min() >= -1e-14 * values.max()
            # Nothing changes any more.
            before = model.coef_.copy()
            model.partial_fit(X, y)
            np.testing.assert_array_equal(model.coef_, before)
            assert model.n_mistakes_ > model.n_updates_


def test_the_same_sample_with_both_signs_changes_nothing_in_the_end():
    X = np.tile([[3.0, 1.0, 2.0]], (4000, 1))
    model = plain().partial_fit(X, np.tile([1, -1], 2000), classes=[-1, 1])
    assert np.isfinite(model.shape_).all() and np.isfinite(model.coef_).all()
    assert model.n_updates_ < 4000
    values = np.linalg.eigvalsh(model.shape_[0])
    assert values.min() >= -1e-14 * values.max()


def test_separable_classes_are_separated():
    for d in (1, 2, 5, 15):
        X, y = separated(n_features=d)
        model = plain(max_iter=200).fit(X, y)
        assert model.converged_ and not model.exhausted_
        np.testing.assert_array_equal(model.predict(X), y)
        assert model.n_mistakes_ == model.n_updates_ <= model.bound_


@pytest.mark.parametrize(
    ("function", "args", "match"),
    [
        (ellipsoid_bound, (0, 3), "d must be an integer"),
        (ellipsoid_bound, (2, 0.5), "n must be finite and >= 1"),
        (ellipsoid_volume_ratio, (0.5,), "d must be an integer"),
    ],
)
def test_bounds_know_their_domains(function, args, match):
    with pytest.raises(ValueError, match=match):
        function(*args)


def test_bounds_of_the_table():
    np.testing.assert_allclose(
        ellipsoid_bound([2, 2, 3, 3, 5, 8], [5, 20, 5, 20, 10, 20]),
        [38.6, 71.9, 77.3, 143.8, 276.3, 862.8],
        atol=0.06,
    )


# ---------------------------------------------------------------- symmetries


@pytest.mark.parametrize("n_classes", [2, 3])
def test_blocks_give_what_the_whole_gives_bit_for_bit(n_classes, rng):
    X = rng.normal(size=(300, 4))
    y = rng.integers(0, n_classes, size=300)
    whole = EllipsoidClassifier(keep_losses=True).partial_fit(X, y, classes=np.arange(n_classes))
    parts = EllipsoidClassifier(keep_losses=True)
    for rows in np.split(np.arange(300), [1, 2, 50, 53]):
        parts.partial_fit(X[rows], y[rows], classes=np.arange(n_classes))
    for name in ("_centers", "_factors", "_tails", "loss_curve_", "shape_"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    assert parts.n_mistakes_ == whole.n_mistakes_
    assert parts.cumulative_loss_ == whole.cumulative_loss_ == whole.n_mistakes_


def test_lengths_of_samples_do_not_matter(rng):
    X, y = separated()
    model = plain().fit(X, y)
    other = plain().fit(X * np.exp(rng.uniform(-5, 5, size=(len(X), 1))), y)
    np.testing.assert_allclose(other.coef_, model.coef_, **ALGEBRA)


def test_rotations_rotate_the_ellipsoid(rng):
    X, y = separated()
    Q = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    model, other = plain().fit(X, y), plain().fit(X @ Q, y)
    np.testing.assert_allclose(other.coef_, model.coef_ @ Q, **ALGEBRA)
    np.testing.assert_allclose(other.shape_[0], Q.T @ model.shape_[0] @ Q, **ALGEBRA)


def test_center_changes_sign_with_the_classes():
    X, y = separated()
    model, other = EllipsoidClassifier().fit(X, y), EllipsoidClassifier().fit(X, -y)
    np.testing.assert_array_equal(other.coef_, -model.coef_)
    np.testing.assert_array_equal(other.shape_, model.shape_)


# ---------------------------------------------------------------- large, small, bad


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e100, 1e300])
def test_scale_does_not_matter(scale):
    X, y = separated()
    np.testing.assert_allclose(plain().fit(scale * X, y).coef_, plain().fit(X, y).coef_, **ALGEBRA)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_samples_that_are_not_finite_are_told_of(bad):
    X, y = separated()
    X[150, 2] = bad
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        EllipsoidClassifier().fit(X, y)


def test_samples_of_zeros_change_nothing():
    model = plain().fit(np.zeros((4, 2)), [0, 1, 0, 1])
    assert (model.n_updates_, model.n_iter_, model.n_mistakes_) == (0, 1, 4)
    np.testing.assert_array_equal(model.predict(np.zeros((2, 2))), [0, 0])
