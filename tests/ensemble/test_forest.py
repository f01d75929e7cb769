"""Random forests: the mean of their trees, scikit-learn's results, and what trees can do."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from conftest import ALGEBRA, EXACT
from sklearn import datasets
from sklearn import ensemble as peer
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.inspection import partial_dependence
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import ShuffleSplit
from sklearn.utils.class_weight import compute_sample_weight

from sklearn_sl.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn_sl.tree import DecisionTreeClassifier, DecisionTreeRegressor

IRIS = datasets.load_iris(return_X_y=True)
DIABETES = datasets.load_diabetes(return_X_y=True)


def continuous(n=300, seed=0):
    """Return a problem whose nodes have one best split each: no two splits are equal."""
    return datasets.make_friedman1(n, noise=1.0, random_state=seed)


# ---------------------------------------------------------------- the mean of trees


def test_forest_is_the_mean_of_its_trees():
    X, y = IRIS
    forest = RandomForestClassifier(12, max_depth=3, random_state=0).fit(X, y)
    shares = [tree.predict_proba(X) for tree in forest]
    np.testing.assert_allclose(forest.predict_proba(X), np.mean(shares, axis=0), **EXACT)
    np.testing.assert_array_equal(forest.predict(X), np.mean(shares, axis=0).argmax(axis=1))
    X, y = DIABETES
    forest = RandomForestRegressor(12, random_state=0).fit(X, y)
    answers = [tree.predict(X) for tree in forest]
    np.testing.assert_allclose(forest.predict(X), np.mean(answers, axis=0), **EXACT)


def test_forest_without_chance_is_the_tree():
    X, y = continuous()
    how = {"max_features": None, "max_depth": 4}
    forest = RandomForestRegressor(3, bootstrap=False, random_state=0, **how).fit(X, y)
    tree = DecisionTreeRegressor(**how).fit(X, y)
    np.testing.assert_allclose(forest.predict(X), tree.predict(X), **EXACT)


def test_tree_of_a_forest_is_the_tree_of_its_counts():
    X, y = continuous()
    forest = RandomForestRegressor(3, max_depth=4, random_state=0).fit(X, y)
    for member, rows in zip(forest, forest.estimators_samples_, strict=True):
        counts = np.bincount(rows, minlength=len(y))
        tree = DecisionTreeRegressor(max_depth=4).fit(X, y, sample_weight=counts)
        # Chance decides between splits that part the rows in the same way, but other rows not.
        np.testing.assert_allclose(member.predict(X[rows]), tree.predict(X[rows]), **EXACT)


def test_vote_is_the_share_of_trees():
    X, y = IRIS
    forest = RandomForestClassifier(9, max_depth=2, voting="vote", random_state=0).fit(X, y)
    votes = [np.eye(3)[tree.predict(X)] for tree in forest]
    np.testing.assert_allclose(forest.predict_proba(X), np.mean(votes, axis=0), **EXACT)


def test_vote_and_average_of_pure_leaves_are_the_same():
    X, y = IRIS
    X = X + 1e-6 * np.arange(len(X))[:, None]  # so that every leaf is pure
    forests = [
        RandomForestClassifier(9, voting=voting, random_state=0).fit(X, y)
        for voting in ("average", "vote")
    ]
    shares = [forest.predict_proba(X) for forest in forests]
    np.testing.assert_allclose(shares[0], shares[1], **EXACT)


@pytest.mark.parametrize("n_samples", [1, 7, 8, 9, 1000, 20_000])
def test_packed_trees_answer_as_single_ones(rng, n_samples):
    X, y = continuous()
    X[rng.uniform(size=X.shape) < 0.05] = np.nan
    forest = RandomForestRegressor(10, random_state=0).fit(X, y)
    Z = rng.uniform(size=(n_samples, 10))
    for missing in (False, True):
        if missing:
            Z[rng.uniform(size=Z.shape) < 0.2] = np.nan
        total = np.zeros(n_samples)
        for tree in forest:
            total += tree.predict(Z)
        np.testing.assert_array_equal(forest.predict(Z), total / 10)


def test_changed_list_of_trees_is_heard():
    X, y = IRIS
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    forest.estimators_ = forest.estimators_[3:6]
    wanted = np.mean([tree.predict_proba(X) for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(forest.predict_proba(X), wanted, **EXACT)


def test_importances_leaves_and_paths_are_those_of_the_trees():
    X, y = IRIS
    forest = RandomForestClassifier(6, random_state=0).fit(X, y)
    importances = np.mean([tree.feature_importances_ for tree in forest], axis=0)
    np.testing.assert_allclose(forest.feature_importances_, importances, **EXACT)
    np.testing.assert_allclose(forest.feature_importances_.sum(), 1, **EXACT)
    leaves = forest.apply(X)
    paths, ends = forest.decision_path(X)
    assert leaves.shape == (150, 6) and paths.shape == (150, ends[-1])
    for number, tree in enumerate(forest):
        np.testing.assert_array_equal(leaves[:, number], tree.apply(X))
        own = paths[:, ends[number] : ends[number + 1]]
        assert (own != tree.decision_path(X)).nnz == 0


def test_forest_of_roots_has_no_importances():
    forest = RandomForestRegressor(3, random_state=0).fit(np.ones((9, 2)), np.arange(9.0))
    np.testing.assert_array_equal(forest.feature_importances_, 0)


# ---------------------------------------------------------------- several outputs


def test_several_classes_at_once(rng):
    X, _ = IRIS
    Y = np.column_stack([X[:, 0] > 5.8, np.digitize(X[:, 2], [2, 4]), X[:, 3] > 1])
    Y = Y.astype(int).astype(str)
    forest = RandomForestClassifier(10, random_state=0).fit(X, Y)
    theirs = peer.RandomForestClassifier(10, random_state=0).fit(X, Y.astype(int))
    assert forest.n_outputs_ == 3 and forest.n_classes_ == theirs.n_classes_ == [2, 3, 2]
    shares = forest.predict_proba(X)
    for output in range(3):
        single = [tree.predict_proba(X)[output] for tree in forest]
        np.testing.assert_allclose(shares[output], np.mean(single, axis=0), **EXACT)
    labels = np.column_stack(
        [names[part.argmax(axis=1)] for names, part in zip(forest.classes_, shares, strict=True)]
    )
    np.testing.assert_array_equal(forest.predict(X), labels)
    assert np.mean(forest.predict(X) == Y) > 0.98


def test_several_targets_at_once():
    X, y = DIABETES
    forest = RandomForestRegressor(5, random_state=0).fit(X, np.column_stack([y, 3 * y]))
    predictions = forest.predict(X)
    np.testing.assert_allclose(predictions[:, 1], 3 * predictions[:, 0], **ALGEBRA)


def test_column_of_targets_is_one_target():
    X, y = DIABETES
    for Forest in (RandomForestRegressor, peer.RandomForestRegressor):
        with pytest.warns(DataConversionWarning):
            forest = Forest(2).fit(X, y[:, None])
        assert forest.predict(X).shape == y.shape


# ---------------------------------------------------------------- weights of classes


def unbalanced(rng):
    X = rng.normal(size=(300, 3))
    return X, np.where(X[:, 0] + rng.normal(size=300) > 1.5, "rare", "common")


@pytest.mark.parametrize("class_weight", ["balanced", {"rare": 5.0, "common": 1.0}])
def test_class_weights_multiply_the_counts(rng, class_weight):
    X, y = unbalanced(rng)
    forest = RandomForestClassifier(
        4, max_depth=3, max_features=None, class_weight=class_weight, random_state=0
    ).fit(X, y)
    factors = compute_sample_weight(class_weight, y)
    for member, rows in zip(forest, forest.estimators_samples_, strict=True):
        counts = np.bincount(rows, minlength=len(y))
        tree = DecisionTreeClassifier(max_depth=3).fit(X, y, sample_weight=counts * factors)
        np.testing.assert_allclose(member.predict_proba(X), tree.predict_proba(X), **ALGEBRA)


def test_balanced_subsample_balances_what_was_drawn(rng):
    X, y = unbalanced(rng)
    forest = RandomForestClassifier(5, class_weight="balanced_subsample", random_state=0).fit(X, y)
    for tree in forest:
        np.testing.assert_allclose(tree.tree_.value[0, 0], [0.5, 0.5], **ALGEBRA)


def test_class_weights_do_not_change_the_draws(rng):
    X, y = unbalanced(rng)
    draws = [
        RandomForestClassifier(3, class_weight=w, random_state=0).fit(X, y).estimators_samples_
        for w in (None, "balanced", "balanced_subsample")
    ]
    for first, second, third in zip(*draws, strict=True):
        np.testing.assert_array_equal(first, second)
        np.testing.assert_array_equal(first, third)


def test_class_weights_of_several_outputs(rng):
    X, y = unbalanced(rng)
    Y = np.column_stack([y, np.where(X[:, 1] > 0, "up", "down")])
    weights = [{"rare": 5.0, "common": 1.0}, {"up": 1.0, "down": 1.0}]
    RandomForestClassifier(3, class_weight=weights, random_state=0).fit(X, Y)
    RandomForestClassifier(3, class_weight="balanced", random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="list of dicts"):
        RandomForestClassifier(3, class_weight=weights[0]).fit(X, Y)
    with pytest.raises(ValueError, match="one entry for each"):
        RandomForestClassifier(3, class_weight=weights[:1]).fit(X, Y)


# ---------------------------------------------------------------- missing values, categories


def test_missing_values_go_where_the_trees_send_them(rng):
    X, y = continuous()
    X[rng.uniform(size=X.shape) < 0.2] = np.nan
    forest = RandomForestRegressor(20, random_state=0).fit(X, y)
    theirs = peer.RandomForestRegressor(20, random_state=0).fit(X, y)
    assert forest.score(X, y) > theirs.score(X, y) - 0.05


def test_categories_are_split_by_subsets(rng):
    colours = np.array(["red", "green", "blue", "white", "black"])
    frame = pd.DataFrame(
        {"noise": rng.normal(size=300), "colour": pd.Categorical(rng.choice(colours, 300))}
    )
    y = np.isin(frame["colour"], ["red", "white"])
    forest = RandomForestClassifier(10, max_depth=1, max_features=None, random_state=0)
    forest.fit(frame, y)
    assert forest.score(frame, y) == 1  # one split by a subset
    np.testing.assert_array_equal(forest.is_categorical_, [False, True])
    assert list(forest.categories_[1]) == sorted(colours)
    unknown = frame.head(3).assign(colour=pd.Categorical(["pink", None, "red"]))
    assert forest.predict(unknown).shape == (3,)
    copy = pickle.loads(pickle.dumps(forest))
    np.testing.assert_array_equal(copy.predict_proba(frame), forest.predict_proba(frame))


def test_categories_seen_without_weight_are_not_there(rng):
    frame = pd.DataFrame({"colour": pd.Categorical(["a", "b", "c", "d"] * 20)})
    y, weight = rng.normal(size=80), np.tile([0, 1, 2, 1], 20)
    weighted = RandomForestRegressor(5, random_state=0).fit(frame, y, sample_weight=weight)
    rows = np.repeat(np.arange(80), weight)
    repeated = RandomForestRegressor(5, random_state=0).fit(frame.iloc[rows], y[rows])
    np.testing.assert_allclose(weighted.predict(frame), repeated.predict(frame), **EXACT)


# ---------------------------------------------------------------- jobs, warm start, parameters


@pytest.mark.parametrize("Forest", [RandomForestClassifier, RandomForestRegressor])
def test_every_number_of_jobs_gives_the_same_forest(Forest):
    X, y = IRIS
    forest = Forest(7, oob_score=r2_score, random_state=0, max_features=2)
    forest.set_params(n_estimators=30)
    wanted = forest.fit(X, y)
    for n_jobs in (2, 3, 40):
        other = clone(forest).set_params(n_jobs=n_jobs).fit(X, y)
        np.testing.assert_array_equal(other.predict(X), wanted.predict(X))
        assert other.oob_score_ == wanted.oob_score_
        np.testing.assert_array_equal(other.oob_curve_.loss, wanted.oob_curve_.loss)


@pytest.mark.parametrize("class_weight", [None, "balanced", "balanced_subsample"])
def test_trees_are_grown_where_the_user_wants(class_weight):
    X, y = IRIS
    forest = RandomForestClassifier(10, class_weight=class_weight, random_state=0)
    wanted = clone(forest).fit(X, y).predict_proba(X)
    for backend in ("loky", "multiprocessing"):
        with joblib.parallel_config(backend, n_jobs=2):
            np.testing.assert_array_equal(forest.fit(X, y).predict_proba(X), wanted)


@pytest.mark.parametrize("name", ["min_samples_split", "min_samples_leaf"])
def test_shares_of_samples_are_shares_of_all(name):
    X, y = IRIS
    share, number = (
        RandomForestClassifier(10, random_state=0, **{name: least}).fit(X, y) for least in (0.2, 30)
    )
    np.testing.assert_array_equal(share.predict_proba(X), number.predict_proba(X))


def test_estimator_is_an_unfitted_tree():
    assert isinstance(RandomForestClassifier().estimator, DecisionTreeClassifier)
    assert isinstance(RandomForestRegressor().estimator, DecisionTreeRegressor)


def test_threads_predict_large_sets_as_one_does(rng):
    X, y = continuous()
    forest = RandomForestRegressor(20, random_state=0).fit(X, y)
    Z = rng.uniform(size=(50_001, 10))
    wanted = forest.predict(Z)
    for n_jobs in (2, 3):
        np.testing.assert_array_equal(forest.set_params(n_jobs=n_jobs).predict(Z), wanted)


def test_warm_start_is_a_cold_start_with_as_many_trees():
    X, y = DIABETES
    warm = RandomForestRegressor(30, warm_start=True, oob_score=True, random_state=0).fit(X, y)
    warm.set_params(n_estimators=40).fit(X, y)
    cold = RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(warm.predict(X), cold.predict(X))
    assert warm.oob_score_ == cold.oob_score_
    np.testing.assert_array_equal(warm.oob_curve_.loss, cold.oob_curve_.loss)


def test_warm_start_on_the_same_rows_in_another_order(rng):
    X, y = DIABETES
    rows = rng.permutation(len(y))
    warm = RandomForestRegressor(30, warm_start=True, oob_score=True, random_state=0).fit(X, y)
    warm.set_params(n_estimators=40).fit(X[rows], y[rows])
    cold = RandomForestRegressor(40, oob_score=True, random_state=0).fit(X[rows], y[rows])
    np.testing.assert_allclose(warm.oob_prediction_, cold.oob_prediction_, **EXACT)


def test_warm_start_on_other_rows_has_no_out_of_bag_score():
    X, y = DIABETES
    warm = RandomForestRegressor(30, warm_start=True, random_state=0).fit(X, y)
    warm.set_params(n_estimators=40).fit(X[:300], y[:300])
    assert [max(rows) < 300 for rows in warm.estimators_samples_] == 30 * [False] + 10 * [True]
    warm.set_params(n_estimators=41, oob_score=True)
    with pytest.raises(ValueError, match="those of the previous fit"):
        warm.fit(X, y)
    assert len(warm) == 40


@pytest.mark.parametrize("preset", ["balanced", "balanced_subsample"])
def test_classes_balanced_by_other_rows_are_warned_of(preset):
    X, y = IRIS
    warm = RandomForestClassifier(2, class_weight=preset, warm_start=True, random_state=0)
    warm.fit(X, y).set_params(n_estimators=4).fit(X, y)
    with pytest.warns(UserWarning, match="not recommended for warm_start"):
        warm.set_params(n_estimators=6).fit(X[:120], y[:120])
    with pytest.warns(UserWarning, match="not recommended for warm_start"):
        warm.set_params(n_estimators=8).fit(X, y)
    warm.set_params(n_estimators=10, class_weight={0: 1, 1: 2, 2: 3}).fit(X[:120], y[:120])


def test_verbose_tells_of_trees(capsys):
    X, y = IRIS
    forest = RandomForestClassifier(3, verbose=2, random_state=0).fit(X, y)
    told = capsys.readouterr()
    assert "building tree 2 of 3" in told.out
    assert "Done   3 out of   3" in told.err
    forest.predict(X)
    assert "Done   3 out of   3" in capsys.readouterr().err


def test_what_is_not_supported_is_told():
    X, y = IRIS
    with pytest.raises(ValueError, match="monotonic_cst"):
        RandomForestRegressor(monotonic_cst=[1, 0, 0]).fit(X, y)
    with pytest.raises(ValueError, match="sparse multilabel"):
        RandomForestClassifier().fit(X, sp.csr_array(np.eye(150)))
    with pytest.raises(ValueError, match="weight"):
        RandomForestClassifier().fit(X, y, sample_weight=np.zeros(150))
    with pytest.raises(ValueError, match="criterion"):
        RandomForestRegressor(criterion="quantile").fit(X, y)
    with pytest.raises(ValueError, match="negative"):
        RandomForestRegressor(criterion="poisson").fit(X, y - 1)
    with pytest.raises(ValueError, match="infinity"):
        RandomForestRegressor().fit(np.where(X > 7, np.inf, X), y)


def test_one_class_is_fine():
    forest = RandomForestClassifier(3).fit(np.eye(4), ["a"] * 4)
    np.testing.assert_array_equal(forest.predict_proba(np.eye(4)), 1)


def test_subsampling_without_replacement_in_a_forest():
    X, y = IRIS
    forest = RandomForestClassifier(20, bootstrap=False, max_samples=0.5, oob_score=True).fit(X, y)
    assert all(len(np.unique(rows)) == 75 for rows in forest.estimators_samples_)
    assert 0.85 < forest.oob_score_ < 1


def test_ccp_alpha_prunes_the_trees():
    X, y = IRIS
    whole, pruned = (
        RandomForestClassifier(5, ccp_alpha=alpha, random_state=0).fit(X, y)
        for alpha in (0.0, 0.02)
    )
    for tree, small in zip(whole, pruned, strict=True):
        assert small.get_n_leaves() == tree.prune(0.02).get_n_leaves() < tree.get_n_leaves()


def test_signature_is_that_of_the_peer_and_more():
    for ours, theirs in (
        (RandomForestClassifier, peer.RandomForestClassifier),
        (RandomForestRegressor, peer.RandomForestRegressor),
    ):
        params = ours().get_params()
        assert {**params, **theirs().get_params()} == params


def test_partial_dependence_by_recursion_is_that_by_brute_force():
    X, y = continuous(150)
    forest = RandomForestRegressor(5, bootstrap=False, max_features=3, random_state=0).fit(X, y)
    by_method = [
        partial_dependence(forest, X, [0], method=method, kind="average", grid_resolution=10)
        for method in ("recursion", "brute")
    ]
    np.testing.assert_allclose(
        by_method[0]["average"], by_method[1]["average"], rtol=0.05, atol=0.05
    )


# ---------------------------------------------------------------- beside scikit-learn


PROBLEMS = {
    "iris": lambda: IRIS,
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "moons": lambda: datasets.make_moons(400, noise=0.3, random_state=0),
    "classification": lambda: datasets.make_classification(
        600, 20, n_informative=8, n_classes=3, flip_y=0.1, random_state=0
    ),
    "quantiles": lambda: datasets.make_gaussian_quantiles(
        n_samples=500, n_features=6, n_classes=3, random_state=0
    ),
    "diabetes": lambda: DIABETES,
    "friedman1": lambda: datasets.make_friedman1(400, noise=1.0, random_state=0),
    "friedman2": lambda: datasets.make_friedman2(400, noise=50.0, random_state=0),
}


def differences(name, n_splits, n_trees):
    """Return our score minus scikit-learn's on splits of one problem."""
    X, y = PROBLEMS[name]()
    classes = y.dtype.kind in "iu"
    pair = [
        (RandomForestClassifier if classes else RandomForestRegressor),
        (peer.RandomForestClassifier if classes else peer.RandomForestRegressor),
    ]
    metric = accuracy_score if classes else r2_score
    found = []
    for seed, (train, test) in enumerate(
        ShuffleSplit(n_splits, test_size=0.4, random_state=0).split(X)
    ):
        ours, theirs = (
            metric(
                y[test],
                Forest(n_trees, random_state=seed).fit(X[train], y[train]).predict(X[test]),
            )
            for Forest in pair
        )
        found.append(ours - theirs)
    return np.array(found)


def assert_as_good(found):
    """Check by a paired test that forests are as good: the mean is within its noise."""
    spread = max(np.std(found, ddof=1) / np.sqrt(len(found)), 1e-3)
    assert abs(np.mean(found)) < 4 * spread


@pytest.mark.parametrize("name", ["wine", "moons", "diabetes"])
def test_forest_is_as_good_as_the_peers(name):
    # Fewer splits say little of the noise, which is .025 of one split of the diabetes data.
    assert_as_good(differences(name, n_splits=24, n_trees=30))


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_forest_is_as_good_as_the_peers_on_ten_problems(name):
    assert_as_good(differences(name, n_splits=40, n_trees=100))
