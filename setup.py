"""Build every ``.pyx`` of the package; all metadata lives in pyproject.toml.

Environment variables, each off unless it is 1:

``SKLEARN_SL_DEBUG``
    Bounds checks in the compiled code, and debug symbols.
``SKLEARN_SL_STRICT``
    A warning of the compiler is an error.
``SKLEARN_SL_SANITIZE``
    Address and undefined-behaviour sanitizers, and the canary that they must catch;
    see tests/sanitize.py.

An optimisation level in ``CFLAGS`` wins over the ``-O3`` of a release.
"""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup


def wanted(name):
    """Say whether the environment asks for this kind of build."""
    return os.environ.get(f"SKLEARN_SL_{name}", "0") == "1"


DEBUG, STRICT, SANITIZE = wanted("DEBUG"), wanted("STRICT"), wanted("SANITIZE")
CORES = os.cpu_count() or 1

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "cdivision": True,
    "embedsignature": True,
    "freethreading_compatible": True,
}


def compiler_flags():
    """Return flags that are portable: a wheel must run on any x86-64 or arm64."""
    if sys.platform == "win32":
        return ["/O2"] + ["/WX"] * STRICT
    optimisation = [] if "-O" in os.environ.get("CFLAGS", "") else ["-O3"]
    # Debug symbols are three quarters of a wheel, and of use to those only who build one.
    symbols = ["-g"] if DEBUG or SANITIZE else ["-g0"]
    strict = ["-Wall", "-Werror"] if STRICT else []
    return [*optimisation, *symbols, *strict, *sanitizer_flags()]


def linker_flags():
    """Return what strips a module of all names that nothing links to, or adds the sanitizers."""
    strip = sys.platform == "linux" and not (DEBUG or SANITIZE)
    return ["-Wl,--strip-all"] if strip else sanitizer_flags()


def sanitizer_flags():
    """Return the flags of the sanitizers, for the compiler and for the linker."""
    if not SANITIZE:
        return []
    return ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]


def extension(source):
    """Return the extension module of one ``.pyx`` file."""
    # Only the canary is outside of the package: a module of its own.
    parts = source.with_suffix("").parts
    # A header is found from its own folder and from those below it.
    folders = list(source.parents)[:-1]
    return Extension(
        ".".join(parts if parts[0] == "sklearn_sl" else parts[-1:]),
        [str(source)],
        extra_compile_args=compiler_flags(),
        extra_link_args=linker_flags(),
        include_dirs=[str(folder) for folder in folders],
        depends=[str(header) for folder in folders for header in folder.glob("*.h")],
    )


# Processes that Cython spawns to translate several files at a time import this file, too.
if __name__ == "__main__":
    sources = sorted(Path("sklearn_sl").rglob("*.pyx"))
    if SANITIZE:
        sources.append(Path("tests/_canary.pyx"))
    setup(
        ext_modules=cythonize(
            [extension(source) for source in sources],
            compiler_directives=DIRECTIVES,
            force=DEBUG,
            nthreads=CORES,
        ),
        options={"build_ext": {"parallel": CORES}},
    )
