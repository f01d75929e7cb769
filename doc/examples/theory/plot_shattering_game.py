r"""
The shattering game in the plane
================================

You choose points, and the enemy labels them in any way. If you can always produce the labels with a
set of your class, the class shatters the points, and its VC dimension is at least their number.
:func:`~sklearn_sl.theory.can_shatter` plays both sides: it shows a set for every labelling, or a
labelling for which there is none.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle, Polygon, Rectangle
from scipy.spatial import ConvexHull

from sklearn_sl.theory import can_shatter

# %%
# Three points that are not on a line, and what each class says to all of their eight labellings.

triangle = np.array([[-0.8, -0.6], [0.9, -0.4], [0.0, 0.8]])
FAMILIES = ["half-spaces", "disks", "rectangles", "convex polygons"]
POSITIVE, NEGATIVE = "#3f90da", "#bd1f01"


def draw(ax, member):
    """Shade a set of a class."""
    style = {"facecolor": POSITIVE, "alpha": 0.25, "edgecolor": POSITIVE, "zorder": 0}
    if "normal" in member:
        x, y = np.meshgrid(np.linspace(-2, 2, 200), np.linspace(-2, 2, 200))
        score = member["normal"][0] * x + member["normal"][1] * y + member["intercept"]
        ax.contourf(x, y, score, levels=[0, np.inf], colors=[POSITIVE], alpha=0.25)
    elif "center" in member:
        ax.add_patch(Circle(member["center"], member["radius"], **style))
    elif "low" in member:
        low, size = member["low"] - 0.2, member["high"] - member["low"] + 0.4
        ax.add_patch(Rectangle(low, *size, **style))
    elif len(member["vertices"]) > 2:
        vertices = member["vertices"]
        ax.add_patch(Polygon(vertices[ConvexHull(vertices).vertices], **style))
    elif len(member["vertices"]):
        ax.plot(*member["vertices"].T, "-o", color=POSITIVE, alpha=0.3, lw=9, ms=14, zorder=0)


def show(ax, points, labels):
    """Draw points with their labels: a filled disc for 1, a ring for -1."""
    ax.scatter(*points[labels > 0].T, s=45, color=POSITIVE, edgecolor="black")
    ax.scatter(*points[labels < 0].T, s=45, color="white", edgecolor=NEGATIVE, linewidth=2)
    ax.set(xlim=(-1.7, 1.7), ylim=(-1.7, 1.7), xticks=[], yticks=[], aspect="equal")


fig, axes = plt.subplots(len(FAMILIES), 8, figsize=(13, 7), layout="constrained")
for row, family in zip(axes, FAMILIES, strict=True):
    game = can_shatter(triangle, family)
    row[0].set_ylabel(family)
    for ax, labels, member in zip(row, game.labellings, game.members, strict=False):
        draw(ax, member)
        show(ax, triangle, labels)
    if not game.shattered:
        show(row[len(game.members)], triangle, game.failing)
        row[len(game.members)].set_title("impossible", color=NEGATIVE)
        for ax in row[len(game.members) + 1 :]:
            ax.set_axis_off()
fig.suptitle("Filled points are to be inside, rings outside")
plt.show()

# %%
# With four points the enemy wins against half-planes and disks, wherever they are. Against
# rectangles it takes five points, against convex polygons no number is enough: on a circle they
# produce every labelling.

angles = 2 * np.pi * np.arange(8) / 8
placements = {
    "square": np.array([[-0.8, -0.8], [0.8, -0.8], [-0.8, 0.8], [0.8, 0.8]]),
    "diamond": np.array([[-1, 0], [1, 0], [0, -1], [0, 1.0]]),
    "octagon": 1.2 * np.column_stack([np.cos(angles), np.sin(angles)]),
}
fig, axes = plt.subplots(3, 4, figsize=(11, 8), layout="constrained")
for row, (name, points) in zip(axes, placements.items(), strict=True):
    row[0].set_ylabel(name)
    for ax, family in zip(row, FAMILIES, strict=True):
        game = can_shatter(points, family)
        if game.shattered:  # any labelling, for example every other point
            wanted = np.where(np.arange(len(points)) % 2, 1, -1)
            place = np.flatnonzero((game.labellings == wanted).all(axis=1))[0]
            draw(ax, game.members[place])
            show(ax, points, wanted)
            ax.set_title(f"{family}: shattered", fontsize=10)
        else:
            show(ax, points, game.failing)
            ax.set_title(f"{family}: impossible", fontsize=10, color=NEGATIVE)
plt.show()
