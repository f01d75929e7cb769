"""Build every ``.pyx`` of the package; all metadata lives in pyproject.toml."""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("SKLEARN_SL_DEBUG", "0") == "1"

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "nonecheck": DEBUG,
    "cdivision": True,
    "embedsignature": True,
    "freethreading_compatible": True,
}

# Portable flags only: a wheel must run on any x86-64 or arm64.
FLAGS = ["/O2"] if sys.platform == "win32" else ["-O3"]


def extension(source):
    """Return the extension module of one ``.pyx`` file."""
    name = ".".join(source.with_suffix("").parts)
    headers = [str(header) for header in source.parent.glob("*.h")]
    return Extension(name, [str(source)], extra_compile_args=FLAGS, depends=headers)


setup(
    ext_modules=cythonize(
        [extension(source) for source in sorted(Path("sklearn_sl").rglob("*.pyx"))],
        compiler_directives=DIRECTIVES,
        force=DEBUG,
    )
)
