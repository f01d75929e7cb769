"""Configuration of the documentation; ``make doc`` builds it, without a network."""

import inspect
import re
import sys
import warnings
from pathlib import Path

import matplotlib
import threadpoolctl
from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx_gallery.sorting import ExplicitOrder

import sklearn_sl

sys.path.insert(0, str(Path(__file__).parent))
import inventory
import thumbnails

matplotlib.use("agg")
# The examples are small: threads of BLAS on a busy machine cost them more than they give.
threadpoolctl.threadpool_limits(limits=1)

project = "sklearn_sl"
author = "The sklearn_sl developers"
copyright = "The sklearn_sl developers"
version = release = sklearn_sl.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "examples", "gallery/**/*.ipynb", "sg_execution_times.rst"]
templates_path = ["_templates"]
default_role = "literal"

autosummary_generate = True


def chapters():
    """Return ``{object: page of the guide that mentions it most often}``."""
    mentions = {}
    for page in sorted((Path(__file__).parent / "guide").glob("*.rst")):
        for name in re.findall(r"`~?(?:[a-z_]+\.)*([A-Za-z]\w+)(?:\(\))?`", page.read_text()):
            counts = mentions.setdefault(name, {})
            counts[page.stem] = counts.get(page.stem, 0) + (page.stem not in GENERAL_PAGES)
    return {name: max(counts, key=counts.get) for name, counts in mentions.items()}


# Pages that name everything.
GENERAL_PAGES = {"quickstart", "choose", "migration", "compare", "index"}
autosummary_context = {"chapters": chapters()}
autodoc_default_options = {"members": True, "inherited-members": True}
autodoc_typehints = "none"
numpydoc_show_class_members = False

intersphinx_mapping = {
    "sklearn": (
        "https://scikit-learn.org/stable/",
        inventory.write(Path(__file__).parent / "_build" / "scikit-learn.inv"),
    )
}

html_theme = "pydata_sphinx_theme"
html_title = f"sklearn_sl {release}"
html_show_sourcelink = False
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}
# Pages without neighbours, and one with a wide table.
html_sidebars = {
    page: []
    for page in (
        "index",
        "install",
        "benchmarks",
        "design",
        "theory",
        "changelog",
        "glossary",
        "guide/choose",
        "guide/kernels",
        "guide/quickstart",
    )
}

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "image_scrapers": ("thumbnails",),
    "thumbnail_size": thumbnails.SIZE,
    "subsection_order": ExplicitOrder(
        [
            "examples/kernels",
            "examples/kernel_ridge",
            "examples/svm",
            "examples/tree",
            "examples/ensemble",
            "examples/online",
            "examples/graph",
            "examples/theory",
        ]
    ),
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("sklearn_sl",),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "reset_modules": ("matplotlib",),
    "min_reported_time": 1e9,
}

warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")


def skip_foreign_members(app, what, name, item, skip, options):
    """Leave out what scikit-learn's base classes add: its own documentation has them."""
    function = inspect.unwrap(item) if callable(item) else getattr(item, "fget", None)
    module = getattr(function, "__module__", None) or ""
    return True if module.split(".")[0] != "sklearn_sl" else None


# An index below an accent, as docutils writes \\hat y_t: (what is below, index, accent).
ACCENT = re.compile(
    r"<munderover>(\s*<(m[a-z]+)>[^<]*</\2>)(\s*<(m[a-z]+)>.*?</\4>)"
    r'(\s*<mo stretchy="false">[^<]*</mo>)\s*</munderover>',
    re.DOTALL,
)


def mathml(tex, as_block):
    """Return a formula as MathML, where the index of an accented letter is a subscript."""
    code = tex2mathml(tex, as_block=as_block)
    return ACCENT.sub(r"<msub><mover>\1\5</mover>\3</msub>", code)


def write_mathml(translator, node):
    """Write a formula as MathML: browsers show it as it is, without a script from the network."""
    translator.body.append(mathml(node.astext(), node.tagname == "math_block"))
    raise nodes.SkipNode


def setup(app):
    """Connect the hooks."""
    app.connect("builder-inited", thumbnails.put_panels, priority=900)
    app.connect("autodoc-skip-member", skip_foreign_members)
    app.add_html_math_renderer("mathml", (write_mathml, None), (write_mathml, None))
