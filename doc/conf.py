"""Configuration of the documentation; ``make doc`` builds it, without a network."""

import inspect
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
        "guide/kernels",
    )
}

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "subsection_order": ExplicitOrder(
        [
            "examples/kernels",
            "examples/kernel_ridge",
            "examples/svm",
            "examples/tree",
            "examples/ensemble",
            "examples/online",
            "examples/graph",
        ]
    ),
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": None,
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


def write_mathml(translator, node):
    """Write a formula as MathML: browsers show it as it is, without a script from the network."""
    translator.body.append(tex2mathml(node.astext(), as_block=node.tagname == "math_block"))
    raise nodes.SkipNode


def setup(app):
    """Connect the hooks."""
    app.connect("autodoc-skip-member", skip_foreign_members)
    app.add_html_math_renderer("mathml", (write_mathml, None), (write_mathml, None))
