"""Thumbnails of the gallery that can be read: one panel of a figure in place of all of them.

An example chooses the panel by a comment, ``# sphinx_gallery_thumbnail_panel = 2``; the first panel
of the first figure is taken otherwise.
"""

import re
from pathlib import Path

import matplotlib.pyplot as plt
from sphinx_gallery.scrapers import matplotlib_scraper
from sphinx_gallery.utils import scale_image

CHOICE = r"^# sphinx_gallery_thumbnail_{} = (\d+)"
SIZE = (480, 336)
MARGIN = 0.06  # inches


def scraper(block, block_vars, gallery_conf):
    """Save the panel of the thumbnail, then all figures as usual."""
    source = Path(block_vars["src_file"])
    images = block_vars["image_path_iterator"]
    figures, wanted = plt.get_fignums(), chosen(source, "number") - len(images) - 1
    if 0 <= wanted < len(figures):
        folder = Path(str(images.image_path)).parent
        save_panel(plt.figure(figures[wanted]), chosen(source, "panel"), folder, source.stem)
    return matplotlib_scraper(block, block_vars, gallery_conf)


def _get_sg_image_scraper():
    """Return the scraper; the gallery asks for it by this name."""
    return scraper


def chosen(source, what):
    """Return the number that an example chooses, counted from one."""
    found = re.search(CHOICE.format(what), source.read_text(), re.MULTILINE)
    return int(found[1]) if found else 1


def save_panel(figure, panel, folder, name):
    """Save one of the axes of a figure, with its labels."""
    figure.canvas.draw()
    axes = figure.axes[panel - 1]
    box = axes.get_tightbbox().transformed(figure.dpi_scale_trans.inverted()).padded(MARGIN)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"panel_{name}.png", bbox_inches=box, dpi=120)


def put_panels(app):
    """Replace the thumbnails by the panels that were saved."""
    for panel in Path(app.srcdir, "gallery").glob("*/images/panel_*.png"):
        name = panel.stem.removeprefix("panel_")
        thumbnail = panel.parent / "thumb" / f"sphx_glr_{name}_thumb.png"
        scale_image(panel, thumbnail, *SIZE)
