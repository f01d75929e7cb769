"""The shattering game: the members that are shown have the labels, and no one wins unfairly."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from sklearn_sl.theory import can_shatter, sauer_shelah, vc_dimension_of

seeds = given(seed=st.integers(0, 2**16))


def in_hull(vertices, point):
    """Say whether a point is a convex combination of others, by a linear program of its own."""
    if not len(vertices):
        return False
    A = np.vstack([vertices.T, np.ones(len(vertices))])
    return linprog(np.zeros(len(vertices)), A_eq=A, b_eq=np.append(point, 1)).status == 0


def labels_of(member, points):
    """Return the labels that a set gives to points, by its definition."""
    if "threshold" in member:
        positive = points[:, 0] >= member["threshold"]
    elif "low" in member:
        positive = np.all((points >= member["low"]) & (points <= member["high"]), axis=1)
    elif "normal" in member:
        positive = points @ member["normal"] + member["intercept"] >= 0
    elif "center" in member:
        positive = np.sqrt(np.sum((points - member["center"]) ** 2, axis=1)) <= member["radius"]
    else:
        positive = np.array([in_hull(member["vertices"], point) for point in points])
    return np.where(positive, 1, -1)


# For each class: the dimension of the points, and the VC dimension there.
CLASSES = [
    ("thresholds", 1, 1),
    ("intervals", 1, 2),
    ("rectangles", 1, 2),
    ("rectangles", 2, 4),
    ("half-spaces", 1, 2),
    ("half-spaces", 2, 3),
    ("half-spaces", 4, 5),
    ("homogeneous half-spaces", 2, 2),
    ("homogeneous half-spaces", 3, 3),
    ("disks", 1, 2),
    ("disks", 2, 3),
    ("disks", 3, 4),
]


def draw_points(rng, family, n_features, n_points):
    """Return random points anywhere on the scale of numbers."""
    points = rng.normal(size=(n_points, n_features)) * 10.0 ** rng.integers(-4, 5)
    if family != "homogeneous half-spaces":
        points += rng.normal(size=n_features) * np.abs(points).max()
    return points


@pytest.mark.parametrize(("family", "n_features", "dimension"), CLASSES)
def test_as_many_points_as_the_dimension_can_be_shattered_and_no_more(
    family, n_features, dimension, rng
):
    won = False
    for _ in range(4):
        points = draw_points(rng, family, n_features, dimension)
        if family == "rectangles":  # points of which none lies within the box of the others
            points = np.vstack([np.eye(n_features), -np.eye(n_features)]) + points.mean(axis=0)
        game = can_shatter(points, family)
        won |= game.shattered
        for labelling, member in zip(game.labellings, game.members, strict=True):
            np.testing.assert_array_equal(labels_of(member, points), labelling)
        lost = can_shatter(draw_points(rng, family, n_features, dimension + 1), family)
        assert not lost.shattered and lost.failing.shape == (dimension + 1,)
    assert won and len(game.members) == 2**dimension
    known = {} if family in ("thresholds", "intervals") else {"n_features": n_features}
    assert vc_dimension_of(family, **known) == dimension


@seeds
def test_half_spaces_shatter_points_exactly_if_they_are_affinely_independent(seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(-2, 3, size=(rng.integers(1, 5), rng.integers(1, 4))).astype(float)
    extended = np.column_stack([points, np.ones(len(points))])
    free = np.linalg.matrix_rank(extended) == len(points)
    assert can_shatter(points, "half-spaces").shattered == free
    free = np.linalg.matrix_rank(points) == len(points)
    assert can_shatter(points, "homogeneous half-spaces").shattered == free


def n_disk_labellings(points):
    """Return how many labellings disks produce: by all circles through three points or less.

    A disk that contains some points shrinks until it is the smallest one around them; it contains
    no other point exactly if the smallest circle does.
    """
    count = 1
    for size in range(1, len(points) + 1):
        for chosen in itertools.combinations(range(len(points)), size):
            count += is_cut_by_a_disk(points, list(chosen))
    return count


def is_cut_by_a_disk(points, chosen, n_tries=4000):
    """Say whether one of many random centres is nearer to the chosen points than to the others."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(n_tries, 2)) * 10.0 ** rng.uniform(-1, 2.5, size=(n_tries, 1))
    distances = np.linalg.norm(points[:, None] - centres, axis=2)
    others = np.setdiff1d(np.arange(len(points)), chosen)
    inner = distances[chosen].max(axis=0)
    outer = distances[others].min(axis=0) if len(others) else np.full(n_tries, np.inf)
    return bool(np.any(inner < outer))


def test_labellings_by_disks_are_those_that_centres_find(rng):
    # A failing labelling is one that no centre finds, and those found have one.
    for _ in range(6):
        points = rng.normal(size=(4, 2))
        game = can_shatter(points, "disks")
        assert not game.shattered
        assert not is_cut_by_a_disk(points, np.flatnonzero(game.failing == 1))
        assert n_disk_labellings(points) <= 15


def test_complement_of_a_disk_is_not_a_disk():
    # Three of four corners and the middle: the middle alone cannot be left out.
    points = np.array([[0, 2], [-2, -1], [2, -1], [0, 0]], dtype=float)
    game = can_shatter(points, "disks")
    np.testing.assert_array_equal(game.failing, [1, 1, 1, -1])
    # ... but the middle alone is a disk.
    assert is_cut_by_a_disk(points, [3])


@seeds
def test_disks_shatter_three_points_unless_they_are_on_a_line(seed):
    points = np.random.default_rng(seed).integers(-3, 4, size=(3, 2)).astype(float)
    area = np.linalg.det(np.column_stack([points, np.ones(3)]))
    assert can_shatter(points, "disks").shattered == (abs(area) > 0.5)


@pytest.mark.parametrize("n_points", [1, 2, 3, 6])
def test_polygons_shatter_points_on_a_circle(n_points):
    angles = 2 * np.pi * np.arange(n_points) / n_points
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    game = can_shatter(circle, "convex polygons")
    assert game.shattered and len(game.members) == 2**n_points
    for labelling, member in zip(game.labellings, game.members, strict=True):
        np.testing.assert_array_equal(labels_of(member, circle), labelling)
    inside = can_shatter(np.vstack([circle, circle.mean(axis=0)]), "convex polygons")
    assert not inside.shattered  # for one point: two copies of it


@seeds
def test_polygons_and_rectangles_agree_with_their_definition(seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(-2, 3, size=(4, 2)).astype(float)
    for family in ("convex polygons", "rectangles"):
        expected = True
        for positive in itertools.product([False, True], repeat=4):
            inside, outside = points[list(positive)], points[~np.array(positive)]
            if not len(inside):
                continue
            low, high = inside.min(axis=0), inside.max(axis=0)
            for point in outside:
                if family == "rectangles":
                    expected &= not np.all((low <= point) & (point <= high))
                else:
                    expected &= not in_hull(inside, point)
        assert can_shatter(points, family).shattered == expected


def test_counts_are_those_of_the_lecture():
    triangle, line = [[0, 0], [1, 0], [0, 1]], [[0, 0], [1, 1], [2, 2]]
    assert len(can_shatter(triangle, "half-spaces").members) == 8
    assert len(can_shatter(triangle, "disks").members) == 8
    for family in ("half-spaces", "disks"):
        game = can_shatter(line, family)
        # Both refuse the outer points without the middle one, half-spaces the opposite, too.
        expected = [1, -1, 1] if family == "disks" else [-1, 1, -1]
        np.testing.assert_array_equal(game.failing, expected)


def test_points_of_the_game_on_the_line():
    assert can_shatter([0.0], "thresholds").shattered
    np.testing.assert_array_equal(can_shatter([1.0, 0.0], "thresholds").failing, [-1, 1])
    assert can_shatter([0.0, 1.0], "intervals").shattered
    np.testing.assert_array_equal(can_shatter([2.0, 0, 1], "intervals").failing, [1, 1, -1])


def test_origin_is_always_positive_for_homogeneous_half_spaces():
    np.testing.assert_array_equal(
        can_shatter([[0.0, 0.0]], "homogeneous half-spaces").failing, [-1]
    )
    # Opposite points can both lie on the boundary and be positive, but never both negative.
    game = can_shatter([[1.0, 0.0], [-1.0, 0.0]], "homogeneous half-spaces")
    np.testing.assert_array_equal(game.failing, [-1, -1])


@pytest.mark.parametrize("family", ["half-spaces", "disks", "rectangles", "convex polygons"])
def test_copies_of_a_point_cannot_be_shattered(family):
    assert can_shatter([[1.0, 2.0]], family).shattered
    assert not can_shatter([[1.0, 2.0], [1.0, 2.0]], family).shattered


def test_number_of_labellings_by_lines_is_that_of_cover(rng):
    # n points in general position in the plane: 2 sum_{k <= 2} binomial(n - 1, k)
    points = rng.normal(size=(5, 2))
    labellings = set()
    for _ in range(20_000):
        scores = points @ rng.normal(size=2)
        labellings.add(tuple(scores > rng.choice(scores) + rng.choice([-1e-9, 1e-9])))
    assert len(labellings) == 2 * sauer_shelah(4, 2) == 22


@pytest.mark.parametrize(
    ("points", "family", "message"),
    [
        ([[0.0]], "circles", "family must be one of 'thresholds', .* got 'circles'"),
        ([[0.0]], ["disks"], r"family must be one of .* got \['disks'\]"),
        (np.zeros((21, 1)), "intervals", "at most 20, because 21 points have 2.21 labellings"),
        (np.zeros((2, 2)), "thresholds", "points must be on the line .* got 2 features"),
        (np.zeros((0, 2)), "disks", r"points must be a matrix .* got shape \(0, 2\)"),
        ([[np.nan]], "disks", "points must be finite"),
    ],
)
def test_messages(points, family, message):
    with pytest.raises(ValueError, match=message):
        can_shatter(points, family)
